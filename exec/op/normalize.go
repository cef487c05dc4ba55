package op

import (
	"time"

	"runnel/state"
	"runnel/types"
)

// ChangelogNormalize makes a whole changelog out of upserts and repeated events: it keeps the last row of each key, gives
// +I for a new key, -U and +U for a changed one, and -D with the row that goes. An insert of the row that is there gives
// nothing (unless a TTL is set); an update of it does, as Flink compares row kinds too.
//
// With mini-batches the last change of each key in a bundle counts alone.
type ChangelogNormalize struct {
	keyedRows
	before bool // -U is wanted
	mini   MiniBatch
	last   *types.Batch // a change of the bundle, which has the last one of each key
}

// Values of a key in the bundle.
const (
	normalizeRow = iota
	normalizeKind
)

// NewChangelogNormalize makes the operator for a key of the rows; before: -U is wanted in front of +U.
func NewChangelogNormalize(in []types.Field, key []int, before bool, ttl time.Duration, mini MiniBatch) *ChangelogNormalize {
	return &ChangelogNormalize{keyedRows: keyedRows{in: in, key: key, ttl: ttl}, before: before, mini: mini}
}

// Open registers the state.
func (c *ChangelogNormalize) Open(ctx *Context) error {
	apply := func(b *types.Batch, k int, i int32) error { return c.change(c.keys.at(k), b, i, b.Kind(i)) }
	if c.mini.enabled() {
		b := newBundle(ctx, c.mini, []state.Value{normalizeRow: {Kind: state.Bytes}, normalizeKind: {}})
		c.bundle, c.last = &b, types.NewBatch(c.in)
		apply = c.hold
	}
	return c.open(ctx, []state.Value{keptRow}, apply)
}

// hold puts a change into the bundle.
func (c *ChangelogNormalize) hold(b *types.Batch, k int, i int32) error {
	r, _ := c.bundle.seen.Upsert(c.keys.at(k))
	c.bundle.seen.PutBytes(r, normalizeRow, c.rows.of(b, i))
	c.bundle.seen.Touch(r)[normalizeKind] = uint64(b.Kind(i))
	if c.bundle.full() {
		return c.Flush()
	}
	return nil
}

// Flush gives what the bundle has changed.
func (c *ChangelogNormalize) Flush() error {
	if c.bundle == nil {
		return nil
	}
	for x := c.bundle.seen.First(); x != 0; x = c.bundle.seen.Next(x) {
		row, _ := c.bundle.seen.Bytes(x, normalizeRow)
		key := c.bundle.key(x)
		c.last.Reset()
		if err := c.rows.decode(key.Words, row, c.last.Cols); err != nil {
			return err
		}
		c.last.Push(types.Insert)
		if err := c.change(key, c.last, 0, types.RowKind(c.bundle.seen.Get(x)[normalizeKind])); err != nil {
			return err
		}
	}
	return c.bundled()
}

// OnTime ends a bundle.
func (c *ChangelogNormalize) OnTime(ms int64) error {
	if c.bundle == nil {
		return nil
	}
	c.bundle.tick(ms)
	return c.Flush()
}

// change applies a change of a key: row i of b.
func (c *ChangelogNormalize) change(key state.Key, b *types.Batch, i int32, kind types.RowKind) error {
	m := c.table.Of(key.Group)
	if kind.Retract() {
		r := m.Find(key)
		if r == 0 {
			return nil
		}
		kept, _ := m.Bytes(r, 0)
		err := c.giveKept(key.Words, kept, types.Delete)
		m.Delete(r)
		return err
	}
	row := c.rows.of(b, i)
	r, fresh := m.Upsert(key)
	if fresh {
		m.PutBytes(r, 0, row)
		return c.give(b, i, types.Insert)
	}
	kept, _ := m.Bytes(r, 0)
	if kind == types.Insert && kept == row && c.ttl == 0 {
		return nil
	}
	if c.before {
		if err := c.giveKept(key.Words, kept, types.UpdateBefore); err != nil {
			return err
		}
	}
	m.PutBytes(r, 0, row)
	return c.give(b, i, types.UpdateAfter)
}
