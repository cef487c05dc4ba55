package op

import "runnel/types"

// WindowTableFunction copies each row once per window that holds it, with window_start, window_end and window_time behind
// its columns. It gives rows at once, whatever the watermark; a row without a time is dropped in silence.
type WindowTableFunction struct {
	single
	window Window
	wall   wall
	fields []types.Field

	rows  []int32 // of the input, one per output row
	spans []int64 // scratch of assign
	own   [3]*types.Column
	cols  []*types.Column // gathered columns; of TUMBLE unused
	kinds []types.RowKind
	marks []types.Mark
	out   types.Batch
}

// NewWindowTableFunction makes the operator for TUMBLE, HOP and CUMULATE; fields are those of its output.
func NewWindowTableFunction(fields []types.Field, w Window) *WindowTableFunction {
	return &WindowTableFunction{fields: fields, window: w}
}

// Open takes the zone.
func (w *WindowTableFunction) Open(ctx *Context) error {
	w.ctx = ctx
	if w.window.Zoned || !w.window.Rowtime {
		w.wall = newWall(ctx.Env.Zone)
	}
	n := len(w.fields) - len(w.own)
	w.cols = make([]*types.Column, n)
	for i := range w.cols {
		w.cols[i] = types.NewColumn(w.fields[i].Type, types.BatchRows)
	}
	for i := range w.own {
		w.own[i] = types.NewColumn(w.fields[n+i].Type, types.BatchRows)
	}
	return nil
}

// Process gives every row with its windows.
func (w *WindowTableFunction) Process(_ int, b *types.Batch) error {
	times := b.Cols[w.window.Column]
	now := int64(0)
	if !w.window.Rowtime {
		now = w.ctx.Now().UnixMilli()
	}
	marks := b.Marks
	w.begin()
	for k := range b.Rows() {
		i := b.Row(k)
		for len(marks) > 0 && marks[0].Pos <= i {
			w.mark(marks[0].Time)
			marks = marks[1:]
		}
		ms := now
		if w.window.Rowtime {
			if times.Null(i) {
				continue
			}
			ms = millis(times, i)
		}
		w.spans = w.window.assign(w.wall.local(ms), w.spans[:0])
		for s := 0; s < len(w.spans); s += 2 {
			start, end := w.spans[s], w.spans[s+1]
			w.rows = append(w.rows, i)
			w.own[0].AppendInt(start * 1000)
			w.own[1].AppendInt(end * 1000)
			w.own[2].AppendInt(w.wall.epoch(end-1) * 1000)
			if len(w.rows) == types.BatchRows {
				if err := w.send(b); err != nil {
					return err
				}
			}
		}
	}
	for _, m := range marks {
		w.mark(m.Time)
	}
	return w.send(b)
}

func (w *WindowTableFunction) begin() {
	w.rows, w.marks, w.kinds = w.rows[:0], w.marks[:0], w.kinds[:0]
	for _, c := range w.own {
		c.Reset()
	}
}

func (w *WindowTableFunction) mark(ms int64) {
	w.marks = append(w.marks, types.Mark{Pos: int32(len(w.rows)), Time: ms})
}

// send gives the rows gathered so far.
func (w *WindowTableFunction) send(b *types.Batch) error {
	defer w.begin()
	if len(w.rows) == 0 {
		if n := len(w.marks); n > 0 {
			return w.ctx.Out.Watermark(w.marks[n-1].Time)
		}
		return nil
	}
	w.out = types.Batch{Len: len(w.rows), Marks: w.marks, Cols: w.out.Cols[:0]}
	if b.Kinds != nil {
		for _, i := range w.rows {
			w.kinds = append(w.kinds, b.Kinds[i])
		}
		w.out.Kinds = w.kinds
	}
	whole := len(w.rows) == b.Len && w.window.Kind == Tumble
	for j, c := range b.Cols {
		if !whole {
			w.cols[j].Reset()
			w.cols[j].Gather(c, w.rows, b.Len)
			c = w.cols[j]
		}
		w.out.Cols = append(w.out.Cols, c)
	}
	w.out.Cols = append(w.out.Cols, w.own[0], w.own[1], w.own[2])
	return w.ctx.Out.Emit(&w.out)
}
