package op

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"runnel/expr"
	"runnel/types"
)

// Watermarks is a WATERMARK clause as an operator sees it.
type Watermarks struct {
	Column   int           // the rowtime column of the rows
	Expr     expr.Expr     // over the same rows; TIMESTAMP or TIMESTAMP_LTZ of precision 3
	Interval time.Duration // pipeline.auto-watermark-interval
	Idle     time.Duration // without rows for longer, the split or subtask is idle; 0 for never
	OnEvent  bool          // per split only: a watermark with every Gap-th row instead of every Interval
	Gap      int
}

// tick is the time between two looks at the clock in ms, 0 for none.
func (w *Watermarks) tick() int64 {
	iv, idle := w.Interval.Milliseconds(), w.Idle.Milliseconds()
	if iv <= 0 || (idle > 0 && idle < iv) {
		return max(idle, 0)
	}
	return iv
}

var errNullRowtime = errors.New("RowTime field should not be null, please convert it to a non-null long value.")

// WatermarkAssigner makes watermarks from rows, and swallows those from upstream but the last. A watermark leaves as a
// mark behind the row that moved event time on by more than the interval, and at the latest after the interval of
// processing time (the rule of Flink's operator; its first watermark must be above 0).
type WatermarkAssigner struct {
	ctx    *Context
	spec   Watermarks
	fields []types.Field
	eval   expr.Eval

	current, sent int64 // the greatest watermark seen and sent, in ms
	lastRow       int64 // processing time of the last rows in ms
	quiet         bool  // no rows for longer than the idle timeout
	upstreamIdle  bool
	idle          bool // as told downstream
	out           types.Batch
	marks         []types.Mark
}

// NewWatermarkAssigner makes the operator over rows of the given fields.
func NewWatermarkAssigner(fields []types.Field, spec Watermarks) *WatermarkAssigner {
	return &WatermarkAssigner{fields: fields, spec: spec}
}

// Open compiles the watermark expression and sets the first timer.
func (w *WatermarkAssigner) Open(ctx *Context) error {
	w.ctx = ctx
	var err error
	if w.eval, err = expr.Compile(w.spec.Expr, w.fields, ctx.Env); err != nil {
		return fmt.Errorf("watermark expression %s: %w", w.spec.Expr, err)
	}
	w.lastRow = ctx.Now().UnixMilli()
	if t := w.spec.tick(); t > 0 {
		ctx.WakeAt(w.lastRow + t)
	}
	return nil
}

// Process forwards the rows with marks between them.
func (w *WatermarkAssigner) Process(_ int, b *types.Batch) error {
	sel := b.Sel
	if sel == nil {
		sel = types.All(b.Len)
	}
	if len(sel) == 0 {
		return nil
	}
	if w.spec.Idle > 0 {
		w.lastRow = w.ctx.Now().UnixMilli()
	}
	w.quiet = false
	if err := w.tellIdle(); err != nil {
		return err
	}
	failed := nullRowtime(b.Cols[w.spec.Column], sel)
	if failed != nil {
		sel = before(sel, failed.Row)
	}
	times, err := w.eval(b, sel)
	if err != nil {
		if failed, err = rowError(err); err != nil {
			return err
		}
		sel = before(sel, failed.Row)
	}
	w.assign(times, sel)
	w.out = types.Batch{Len: b.Len, Sel: sel, Kinds: b.Kinds, Cols: b.Cols, Marks: w.marks}
	if len(sel) == b.Len {
		w.out.Sel = nil
	}
	if len(sel) > 0 {
		if err := w.ctx.Out.Emit(&w.out); err != nil {
			return err
		}
	}
	if failed != nil {
		return dataError(w.ctx, failed, w.fields, b)
	}
	return nil
}

// assign fills marks from the rows' watermarks.
func (w *WatermarkAssigner) assign(times *types.Column, sel []int32) {
	w.marks = w.marks[:0]
	interval := w.spec.Interval.Milliseconds()
	for _, i := range sel {
		if times.Null(i) {
			continue
		}
		ms := floorDiv(times.Int[i], 1000)
		if ms <= w.current {
			continue
		}
		w.current = ms
		if ms-w.sent > interval {
			w.sent = ms
			w.marks = append(w.marks, types.Mark{Pos: i + 1, Time: ms})
		}
	}
}

// nullRowtime finds the first row of sel whose time is NULL.
func nullRowtime(c *types.Column, sel []int32) *types.RowError {
	if c.Valid == nil {
		return nil
	}
	for _, i := range sel {
		if !c.Valid.Has(i) {
			return &types.RowError{Row: i, Err: errNullRowtime}
		}
	}
	return nil
}

// OnTime sends the watermark that has gathered, and looks for idleness.
func (w *WatermarkAssigner) OnTime(ms int64) error {
	if t := w.spec.tick(); t > 0 {
		w.ctx.WakeAt(ms + t)
	}
	if w.current > w.sent {
		w.sent = w.current
		if err := w.ctx.Out.Watermark(w.sent); err != nil {
			return err
		}
	}
	if w.spec.Idle > 0 && ms-w.lastRow > w.spec.Idle.Milliseconds() {
		w.quiet = true
	}
	return w.tellIdle()
}

func (w *WatermarkAssigner) tellIdle() error {
	idle := w.quiet || w.upstreamIdle
	if idle == w.idle {
		return nil
	}
	w.idle = idle
	return w.ctx.Out.Idle(idle)
}

// Watermark swallows watermarks but the last.
func (w *WatermarkAssigner) Watermark(_ int, ms int64) error {
	if ms != types.MaxWatermark {
		return nil
	}
	w.quiet, w.upstreamIdle = false, false
	if err := w.tellIdle(); err != nil {
		return err
	}
	w.current, w.sent = ms, ms
	return w.ctx.Out.Watermark(ms)
}

// Idle notes that no rows will come from upstream for a while: a source subtask without splits.
func (w *WatermarkAssigner) Idle(_ int, idle bool) error {
	w.upstreamIdle = idle
	if !idle {
		w.quiet = false
		w.lastRow = w.ctx.Now().UnixMilli()
	}
	return w.tellIdle()
}

// Close has nothing to release.
func (w *WatermarkAssigner) Close() error { return nil }

// Snapshot saves the watermark reached and the one sent.
func (w *WatermarkAssigner) Snapshot() ([]byte, error) {
	b := binary.AppendVarint([]byte{clockVersion}, w.current)
	return binary.AppendVarint(b, w.sent), nil
}

var errAssignerSnapshot = errors.New("snapshot of a watermark assigner: unknown form")

// Restore goes on from the smallest watermark of the former subtasks.
func (w *WatermarkAssigner) Restore(snapshots [][]byte) error {
	for k, b := range snapshots {
		if len(b) == 0 || b[0] != clockVersion {
			return errAssignerSnapshot
		}
		current, n := binary.Varint(b[1:])
		if n <= 0 {
			return errAssignerSnapshot
		}
		sent, m := binary.Varint(b[1+n:])
		if m <= 0 {
			return errAssignerSnapshot
		}
		if k == 0 || current < w.current {
			w.current = current
		}
		if k == 0 || sent < w.sent {
			w.sent = sent
		}
	}
	return nil
}
