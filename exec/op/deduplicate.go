package op

import (
	"time"

	"runnel/state"
	"runnel/types"
)

// Deduplication is what a Deduplicate does; its input is append-only.
type Deduplication struct {
	In           []types.Field
	Keys         []int
	Time         int // the event-time column; unused in processing time
	Rowtime      bool
	Last         bool // keep the last row of a key, else the first
	UpdateBefore bool // -U is wanted in front of +U
	TTL          time.Duration
	MiniBatch    MiniBatch
	Compact      bool // bundles count by event time too: only what one has changed comes out
}

// Deduplicate keeps the first or the last row of each key. By processing time the first row is final; the last is
// replaced by every later row that differs. By event time a row that comes later but belongs in the kept one's place
// replaces it with -U and +U: the first row by an earlier one, the last by one that is not earlier. It does not wait for
// watermarks.
type Deduplicate struct {
	keyedRows
	spec Deduplication
}

// Values of a key's record.
const (
	dedupRow = iota
	dedupTime
)

// NewDeduplicate makes the operator.
func NewDeduplicate(spec Deduplication) *Deduplicate {
	return &Deduplicate{keyedRows: keyedRows{in: spec.In, key: spec.Keys, ttl: spec.TTL}, spec: spec}
}

// Open registers the state.
func (d *Deduplicate) Open(ctx *Context) error {
	bundled := d.spec.MiniBatch.enabled() && (d.spec.Last && !d.spec.Rowtime || d.spec.Compact && d.spec.Rowtime)
	if bundled { // the row of each key that is to be kept so far
		b := newBundle(ctx, d.spec.MiniBatch, []state.Value{dedupRow: {Kind: state.Bytes}, dedupTime: {}})
		d.bundle = &b
	} else if d.spec.TTL == 0 {
		d.block = &keyBlock{}
	}
	switch {
	case d.spec.Rowtime && bundled:
		return d.open(ctx, []state.Value{dedupRow: keptRow, dedupTime: {}}, d.hold)
	case d.spec.Rowtime:
		return d.open(ctx, []state.Value{dedupRow: keptRow, dedupTime: {}}, d.byRowtime)
	case bundled:
		return d.open(ctx, []state.Value{dedupRow: keptRow}, d.hold)
	case d.spec.Last:
		return d.open(ctx, []state.Value{dedupRow: keptRow}, d.last)
	}
	return d.open(ctx, nil, d.first)
}

func (d *Deduplicate) first(b *types.Batch, k int, i int32) error {
	if _, _, fresh := d.record(k); !fresh {
		return nil
	}
	return d.give(b, i, types.Insert)
}

func (d *Deduplicate) last(b *types.Batch, k int, i int32) error {
	m, r, fresh := d.record(k)
	row := d.rows.of(b, i)
	if !fresh && d.ttl == 0 {
		if kept, _ := m.Bytes(r, dedupRow); kept == row {
			return nil
		}
	}
	return d.replace(m, r, fresh, row, b, i)
}

// hold puts a row into the bundle.
func (d *Deduplicate) hold(b *types.Batch, k int, i int32) error {
	at := int64(0)
	if d.spec.Rowtime {
		if b.Cols[d.spec.Time].Null(i) {
			return d.noTime(b, i)
		}
		at = millis(b.Cols[d.spec.Time], i)
	}
	r, fresh := d.bundle.seen.Upsert(d.keys.at(k))
	if fresh || d.better(at, int64(d.bundle.seen.Get(r)[dedupTime])) {
		d.bundle.seen.PutBytes(r, dedupRow, d.rows.of(b, i))
		d.bundle.seen.Touch(r)[dedupTime] = uint64(at)
	}
	if d.bundle.full() {
		return d.Flush()
	}
	return nil
}

// better reports whether a later row at a time takes the place of one that is kept.
func (d *Deduplicate) better(at, kept int64) bool {
	if d.spec.Last {
		return at >= kept
	}
	return at < kept
}

// Flush gives what the bundle has changed.
func (d *Deduplicate) Flush() error {
	if d.bundle == nil {
		return nil
	}
	for x := d.bundle.seen.First(); x != 0; x = d.bundle.seen.Next(x) {
		if err := d.changed(x); err != nil {
			return err
		}
	}
	return d.bundled()
}

// changed gives what the bundle has changed for one key.
func (d *Deduplicate) changed(x state.Ref) error {
	key := d.bundle.key(x)
	row, _ := d.bundle.seen.Bytes(x, dedupRow)
	m := d.table.Of(key.Group)
	r, fresh := m.Upsert(key)
	kept, _ := m.Bytes(r, dedupRow)
	if d.spec.Rowtime {
		at := d.bundle.seen.Get(x)[dedupTime]
		if !fresh && !d.better(int64(at), int64(m.Get(r)[dedupTime])) {
			return nil
		}
		m.Touch(r)[dedupTime] = at
	} else if !fresh && d.ttl == 0 && kept == row {
		return nil
	}
	kind := types.Insert
	if !fresh {
		kind = types.UpdateAfter
		if d.spec.UpdateBefore {
			if err := d.giveKept(key.Words, kept, types.UpdateBefore); err != nil {
				return err
			}
		}
	}
	m.PutBytes(r, dedupRow, row)
	return d.giveKept(key.Words, row, kind)
}

// OnTime ends a bundle.
func (d *Deduplicate) OnTime(ms int64) error {
	if d.bundle == nil {
		return nil
	}
	d.bundle.tick(ms)
	return d.Flush()
}

func (d *Deduplicate) byRowtime(b *types.Batch, k int, i int32) error {
	c := b.Cols[d.spec.Time]
	if c.Null(i) {
		return d.noTime(b, i)
	}
	m, r, fresh := d.record(k)
	at := millis(c, i)
	if !fresh && !d.better(at, int64(m.Get(r)[dedupTime])) {
		return nil
	}
	m.Touch(r)[dedupTime] = uint64(at)
	return d.replace(m, r, fresh, d.rows.of(b, i), b, i)
}

// noTime sends what there is and refuses a row without a time.
func (d *Deduplicate) noTime(b *types.Batch, i int32) error {
	if err := d.Flush(); err != nil {
		return err
	}
	if err := d.out.flush(); err != nil {
		return err
	}
	return dataError(d.ctx, &types.RowError{Row: i, Err: errNullRowtime}, d.in, b)
}

// replace puts row i of b in the place of what is kept for its key.
func (d *Deduplicate) replace(m *state.Map, r state.Ref, fresh bool, row string, b *types.Batch, i int32) error {
	if !fresh && d.spec.UpdateBefore {
		kept, _ := m.Bytes(r, dedupRow)
		if err := d.giveKept(m.Key(r), kept, types.UpdateBefore); err != nil {
			return err
		}
	}
	m.PutBytes(r, dedupRow, row)
	if fresh {
		return d.give(b, i, types.Insert)
	}
	return d.give(b, i, types.UpdateAfter)
}
