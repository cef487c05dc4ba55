package op

import (
	"time"

	"runnel/state"
	"runnel/types"
)

// ChangelogNormalize makes a whole changelog out of upserts and repeated events: it keeps the last row of each key, gives
// +I for a new key, -U and +U for a changed one, and -D with the row that goes. An insert of the row that is there gives
// nothing (unless a TTL is set); an update of it does, as Flink compares row kinds too.
type ChangelogNormalize struct {
	keyedRows
	before bool // -U is wanted
}

// NewChangelogNormalize makes the operator for a key of the rows; before: -U is wanted in front of +U.
func NewChangelogNormalize(in []types.Field, key []int, before bool, ttl time.Duration) *ChangelogNormalize {
	return &ChangelogNormalize{keyedRows: keyedRows{in: in, key: key, ttl: ttl}, before: before}
}

// Open registers the state.
func (c *ChangelogNormalize) Open(ctx *Context) error {
	return c.open(ctx, []state.Value{{Kind: state.Bytes}}, c.row)
}

func (c *ChangelogNormalize) row(b *types.Batch, k int, i int32) error {
	m := c.table.Of(c.keys.group[k])
	kind := b.Kind(i)
	if kind.Retract() {
		r := m.Find(c.keys.at(k))
		if r == 0 {
			return nil
		}
		kept, _ := m.Bytes(r, 0)
		err := c.giveKept(kept, types.Delete)
		m.Delete(r)
		return err
	}
	row := c.rows.of(b, i)
	r, fresh := m.Upsert(c.keys.at(k))
	if fresh {
		m.PutBytes(r, 0, row)
		return c.give(b, i, types.Insert)
	}
	kept, _ := m.Bytes(r, 0)
	if kind == types.Insert && kept == row && c.ttl == 0 {
		return nil
	}
	if c.before {
		if err := c.giveKept(kept, types.UpdateBefore); err != nil {
			return err
		}
	}
	m.PutBytes(r, 0, row)
	return c.give(b, i, types.UpdateAfter)
}
