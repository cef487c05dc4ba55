package op

import "runnel/types"

// single is the part that operators with one input and no interest in time share: watermarks and idleness pass through.
type single struct{ ctx *Context }

// Open keeps the context.
func (s *single) Open(ctx *Context) error { s.ctx = ctx; return nil }

// Watermark passes the watermark on.
func (s *single) Watermark(_ int, ms int64) error { return s.ctx.Out.Watermark(ms) }

// Idle passes idleness on.
func (s *single) Idle(_ int, idle bool) error { return s.ctx.Out.Idle(idle) }

// Close has nothing to release.
func (s *single) Close() error { return nil }

// timed is the part that operators share that use event time: the clock of their inputs, saved in snapshots.
type timed struct {
	ctx   *Context
	clock *Clock
}

// Snapshot saves the watermarks.
func (t *timed) Snapshot() ([]byte, error) { return t.clock.Snapshot(), nil }

// Restore takes the smallest of the saved watermarks.
func (t *timed) Restore(snapshots [][]byte) error { return t.clock.Restore(snapshots) }

// Close has nothing to release.
func (t *timed) Close() error { return nil }

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

// output is a batch that an operator fills row by row; it goes out when it is full and at the end of every call. Watermarks
// between rows become marks, so that sparse rows do not make small batches.
type output struct {
	to Out
	*types.Batch
}

func newOutput(to Out, fields []types.Field) output {
	return output{to: to, Batch: types.NewBatch(fields)}
}

// pushed counts a row that was appended to every column, and sends the batch when it is full.
func (o *output) pushed(kind types.RowKind) error {
	o.Push(kind)
	if o.Full() {
		return o.flush()
	}
	return nil
}

// mark puts a watermark behind the rows so far.
func (o *output) mark(ms int64) {
	if n := len(o.Marks); n > 0 && int(o.Marks[n-1].Pos) == o.Len {
		o.Marks[n-1].Time = ms
		return
	}
	o.Marks = append(o.Marks, types.Mark{Pos: int32(o.Len), Time: ms})
}

// flush sends what is there.
func (o *output) flush() error {
	var err error
	switch {
	case o.Rows() > 0:
		err = o.to.Emit(o.Batch)
	case len(o.Marks) > 0:
		err = o.to.Watermark(o.Marks[len(o.Marks)-1].Time)
	case o.Len == 0:
		return nil
	}
	o.Reset()
	return err
}
