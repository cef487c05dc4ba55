package op

import "runnel/types"

// Union forwards the rows of all inputs in the order of their arrival. Its watermark is the smallest of its inputs'.
type Union struct {
	timed
	out types.Batch
}

// NewUnion makes a union of n inputs.
func NewUnion(n int) *Union { return &Union{timed: timed{clock: NewClock(n)}} }

// Open keeps the context.
func (u *Union) Open(ctx *Context) error { u.ctx = ctx; return nil }

// Process forwards the rows. Marks of the input become marks of the combined watermark.
func (u *Union) Process(input int, b *types.Batch) error {
	if len(b.Marks) == 0 {
		return u.ctx.Out.Emit(b)
	}
	marks := u.out.Marks[:0]
	for _, m := range b.Marks {
		if u.clock.Watermark(input, m.Time) {
			marks = append(marks, types.Mark{Pos: m.Pos, Time: u.clock.Now()})
		}
	}
	if b.Rows() == 0 && len(marks) == 0 {
		return nil
	}
	u.out = types.Batch{Len: b.Len, Sel: b.Sel, Kinds: b.Kinds, Cols: b.Cols, Marks: marks}
	return u.ctx.Out.Emit(&u.out)
}

// Watermark passes the combined watermark on when it moves.
func (u *Union) Watermark(input int, ms int64) error {
	if u.clock.Watermark(input, ms) {
		return u.ctx.Out.Watermark(u.clock.Now())
	}
	return nil
}

// Idle passes on that all inputs are idle, or no longer are.
func (u *Union) Idle(input int, idle bool) error {
	moved, changed := u.clock.Idle(input, idle)
	return tellTime(u.ctx.Out, u.clock, moved, changed)
}

// tellTime passes on what a change of an input's idleness did to the clock.
func tellTime(out Out, c *Clock, moved, changed bool) error {
	if changed && !c.AllIdle() {
		if err := out.Idle(false); err != nil {
			return err
		}
	}
	if moved {
		if err := out.Watermark(c.Now()); err != nil {
			return err
		}
	}
	if changed && c.AllIdle() {
		return out.Idle(true)
	}
	return nil
}
