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
	MiniBatch    MiniBatch // only the last row by processing time is kept in bundles
}

// Deduplicate keeps the first or the last row of each key. By processing time the first row is final; the last is
// replaced by every later row that differs. By event time a row that comes later but belongs in the kept one's place
// replaces it with -U and +U: the first row by an earlier one, the last by one that is not earlier. It does not wait for
// watermarks.
type Deduplicate struct {
	keyedRows
	spec   Deduplication
	bundle *bundle // the last row of each key so far; nil without mini-batches
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
	switch {
	case d.spec.Rowtime:
		return d.open(ctx, []state.Value{dedupRow: {Kind: state.Bytes}, dedupTime: {}}, d.byRowtime)
	case d.spec.Last && d.spec.MiniBatch.enabled():
		b := newBundle(ctx, d.spec.MiniBatch, []state.Value{{Kind: state.Bytes}})
		d.bundle = &b
		return d.open(ctx, []state.Value{dedupRow: {Kind: state.Bytes}}, d.bundled)
	case d.spec.Last:
		return d.open(ctx, []state.Value{dedupRow: {Kind: state.Bytes}}, d.last)
	}
	return d.open(ctx, nil, d.first)
}

func (d *Deduplicate) first(b *types.Batch, k int, i int32) error {
	if _, fresh := d.table.Of(d.keys.group[k]).Upsert(d.keys.at(k)); !fresh {
		return nil
	}
	return d.give(b, i, types.Insert)
}

func (d *Deduplicate) last(b *types.Batch, k int, i int32) error {
	m := d.table.Of(d.keys.group[k])
	r, fresh := m.Upsert(d.keys.at(k))
	row := d.rows.of(b, i)
	if !fresh && d.ttl == 0 {
		if kept, _ := m.Bytes(r, dedupRow); kept == row {
			return nil
		}
	}
	return d.replace(m, r, fresh, row, b, i)
}

// bundled puts a row into the bundle.
func (d *Deduplicate) bundled(b *types.Batch, k int, i int32) error {
	r, _ := d.bundle.seen.Upsert(d.keys.at(k))
	d.bundle.seen.PutBytes(r, 0, d.rows.of(b, i))
	if d.bundle.full() {
		return d.Flush()
	}
	return nil
}

// Flush gives what the bundle has changed.
func (d *Deduplicate) Flush() error {
	if d.bundle == nil {
		return nil
	}
	for x := d.bundle.seen.First(); x != 0; x = d.bundle.seen.Next(x) {
		key := d.bundle.key(x)
		row, _ := d.bundle.seen.Bytes(x, 0)
		m := d.table.Of(key.Group)
		r, fresh := m.Upsert(key)
		kept, _ := m.Bytes(r, dedupRow)
		if !fresh && d.ttl == 0 && kept == row {
			continue
		}
		kind := types.Insert
		if !fresh {
			kind = types.UpdateAfter
		}
		if !fresh && d.spec.UpdateBefore {
			if err := d.giveKept(kept, types.UpdateBefore); err != nil {
				return err
			}
		}
		m.PutBytes(r, dedupRow, row)
		if err := d.giveKept(row, kind); err != nil {
			return err
		}
	}
	d.bundle.reset()
	return d.out.flush()
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
		if err := d.out.flush(); err != nil {
			return err
		}
		return dataError(d.ctx, &types.RowError{Row: i, Err: errNullRowtime}, d.in, b)
	}
	m := d.table.Of(d.keys.group[k])
	r, fresh := m.Upsert(d.keys.at(k))
	at := millis(c, i)
	if kept := int64(m.Get(r)[dedupTime]); !fresh && (d.spec.Last && at < kept || !d.spec.Last && at >= kept) {
		return nil
	}
	m.Touch(r)[dedupTime] = uint64(at)
	return d.replace(m, r, fresh, d.rows.of(b, i), b, i)
}

// replace puts row i of b in the place of what is kept for its key.
func (d *Deduplicate) replace(m *state.Map, r state.Ref, fresh bool, row string, b *types.Batch, i int32) error {
	if !fresh && d.spec.UpdateBefore {
		kept, _ := m.Bytes(r, dedupRow)
		if err := d.giveKept(kept, types.UpdateBefore); err != nil {
			return err
		}
	}
	m.PutBytes(r, dedupRow, row)
	if fresh {
		return d.give(b, i, types.Insert)
	}
	return d.give(b, i, types.UpdateAfter)
}
