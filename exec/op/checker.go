package op

import (
	"fmt"

	"runnel/types"
)

// Check says what an operator has promised of its output.
type Check struct {
	Fields []types.Field
	Mode   types.ChangelogMode // 0: not checked
	// Pairs: every -U is followed at once by its +U. Only direct outputs of aggregates, keep-last deduplicates,
	// ChangelogNormalize and ranked top-N hold to it; filters, joins and exchanges cut pairs.
	Pairs bool
}

// Checker stands between an operator and its Out in test builds and verifies what passes: schema, row kinds within the
// declared changelog mode, watermarks and marks that never go back, no watermark from an idle operator, and pairs.
type Checker struct {
	to   Out
	want Check
	at   int64
	idle bool
	open bool // the last row was a -U
}

// NewChecker makes a checker in front of to.
func NewChecker(to Out, want Check) *Checker {
	return &Checker{to: to, want: want, at: types.MinWatermark}
}

// Emit checks a batch and passes it on.
func (c *Checker) Emit(b *types.Batch) error {
	if c.idle {
		return fmt.Errorf("check: rows from an idle operator")
	}
	if err := c.columns(b); err != nil {
		return err
	}
	if err := c.rows(b); err != nil {
		return err
	}
	pos := int32(0)
	for _, m := range b.Marks {
		if m.Pos < pos || int(m.Pos) > b.Len {
			return fmt.Errorf("check: mark at %d of %d rows, behind one at %d", m.Pos, b.Len, pos)
		}
		pos = m.Pos
		if err := c.watermark(m.Time); err != nil {
			return err
		}
	}
	return c.to.Emit(b)
}

func (c *Checker) columns(b *types.Batch) error {
	if len(b.Cols) != len(c.want.Fields) {
		return fmt.Errorf("check: %d columns, %d promised", len(b.Cols), len(c.want.Fields))
	}
	if b.Kinds != nil && len(b.Kinds) != b.Len {
		return fmt.Errorf("check: %d row kinds for %d rows", len(b.Kinds), b.Len)
	}
	for i, col := range b.Cols {
		f := c.want.Fields[i]
		if col.Phys() != f.Type.Phys() {
			return fmt.Errorf("check: column %s is of type %s, %s promised", f.Name, col.Type, f.Type)
		}
		if n := b.Rows(); n > 0 && col.Len() <= int(b.Row(n-1)) {
			return fmt.Errorf("check: column %s has %d of %d rows", f.Name, col.Len(), b.Len)
		}
		if !f.Type.NotNull || col.Valid == nil {
			continue
		}
		for k := range b.Rows() {
			if col.Null(b.Row(k)) {
				return fmt.Errorf("check: NULL in column %s, which is %s", f.Name, f.Type)
			}
		}
	}
	return nil
}

func (c *Checker) rows(b *types.Batch) error {
	last := int32(-1)
	for k := range b.Rows() {
		i := b.Row(k)
		if i <= last || int(i) >= b.Len {
			return fmt.Errorf("check: row %d selected behind row %d of %d", i, last, b.Len)
		}
		last = i
		kind := b.Kind(i)
		if c.want.Mode != 0 && !c.want.Mode.Has(kind) {
			return fmt.Errorf("check: a row of kind %s, only %s promised", kind, c.want.Mode)
		}
		if c.want.Pairs && c.open != (kind == types.UpdateAfter) && c.want.Mode.Has(types.UpdateBefore) {
			return fmt.Errorf("check: row kind %s does not pair with the one before", kind)
		}
		c.open = kind == types.UpdateBefore
	}
	return nil
}

// Watermark checks a watermark and passes it on.
func (c *Checker) Watermark(ms int64) error {
	if err := c.watermark(ms); err != nil {
		return err
	}
	return c.to.Watermark(ms)
}

func (c *Checker) watermark(ms int64) error {
	if c.idle {
		return fmt.Errorf("check: watermark %d from an idle operator", ms)
	}
	if ms < c.at {
		return fmt.Errorf("check: watermark %d behind %d", ms, c.at)
	}
	c.at = ms
	return nil
}

// Idle checks that idleness changes and passes it on.
func (c *Checker) Idle(idle bool) error {
	if idle == c.idle {
		return fmt.Errorf("check: idle %t twice", idle)
	}
	c.idle = idle
	return c.to.Idle(idle)
}

// Spoil overwrites a batch with junk, as the next owner of its memory may do: who has kept something borrowed is found
// out in test builds.
func Spoil(b *types.Batch) {
	for _, c := range b.Cols {
		for i := range c.Int {
			c.Int[i] = -0x5a5a5a5a5a5a
		}
		for i := range c.Flt {
			c.Flt[i] = -5.5e55
		}
		for i := range c.Wide {
			c.Wide[i] = types.Int128{Hi: -0x5a5a, Lo: 0x5a5a}
		}
		for i := range c.Str {
			c.Str[i] = "spoilt"
		}
		clear(c.Any)
		for i := range c.Valid {
			c.Valid[i] = 0xa5a5a5a5a5a5a5a5
		}
	}
	for i := range b.Kinds {
		b.Kinds[i] = types.RowKind(i & 3)
	}
	for i := range b.Marks {
		b.Marks[i] = types.Mark{Pos: -1, Time: types.MinWatermark}
	}
	b.Len, b.Sel = 0, nil
}
