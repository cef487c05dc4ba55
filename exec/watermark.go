package exec

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"sync/atomic"

	"runnel/expr"
	"runnel/plan"
	"runnel/types"
)

// watermarks makes the event time of a source subtask: one generator per split, combined to the lowest of those that are
// not idle (semantics.md 7.1). It also decides which splits rest for the sake of watermark alignment.
type watermarks struct {
	s      *sourceLoop
	mark   *plan.Watermark // nil: the source makes none, only idleness
	eval   expr.Eval
	splits map[string]*splitTime
	told   int64 // the last watermark emitted
	idle   bool
	knows  bool // the enumerator has dealt what it found

	nextEmit  int64 // processing time in ms of the next periodic watermark, MaxWatermark when nothing has changed
	nextIdle  int64
	nextAlign int64
	began     int64 // processing time in ms at which the rows in hand came
	out       types.Batch
	group     *alignGroup
	resting   bool
	rest      []string
}

// splitTime is the event time of one split.
type splitTime struct {
	id      string
	wm      int64
	idle    bool
	lastRow int64 // processing time in ms; time under back pressure does not count as silence
	resting bool
	since   int          // rows since the last on-event watermark
	shown   atomic.Int64 // wm, for whoever looks at metrics
}

// splitMetric is the name of a split's watermark among the metrics.
func splitMetric(id string) string { return "split." + id + ".watermark.currentWatermark" }

func newWatermarks(s *sourceLoop, mark *plan.Watermark) *watermarks {
	return &watermarks{
		s: s, mark: mark, splits: map[string]*splitTime{}, told: types.MinWatermark,
		nextEmit: types.MaxWatermark, nextIdle: types.MaxWatermark, nextAlign: types.MaxWatermark,
	}
}

func (w *watermarks) open() error {
	if w.mark == nil {
		return nil
	}
	eval, err := expr.Compile(w.mark.Expr, w.s.n.spec.fields, w.s.t.run.exprEnv(w.s.n))
	if err != nil {
		return fmt.Errorf("watermark expression: %w", err)
	}
	w.eval = eval
	if a := w.mark.Alignment; a != nil {
		w.group = w.s.t.run.alignment(a.Group)
	}
	return nil
}

func (w *watermarks) nowMS() int64 { return w.s.t.run.clock.Now().UnixMilli() }

// add takes a split in, with the watermark it had in a snapshot.
func (w *watermarks) add(id string, wm int64) error {
	sp := &splitTime{id: id, wm: wm, lastRow: w.nowMS()}
	w.splits[id] = sp
	if w.mark != nil {
		sp.shown.Store(wm)
		w.s.n.metrics.gauge(splitMetric(id), sp.shown.Load)
	}
	if err := w.setIdle(false); err != nil {
		return err
	}
	w.armEmit()
	w.armIdle(w.nowMS())
	if w.group != nil && w.nextAlign == types.MaxWatermark {
		w.nextAlign = w.nowMS()
		w.arm(w.nextAlign)
	}
	return nil
}

func (w *watermarks) live() int { return len(w.splits) }

func (w *watermarks) of(id string) int64 {
	if sp := w.splits[id]; sp != nil {
		return sp.wm
	}
	return types.MinWatermark
}

// endSplit takes a split out: it no longer holds the others back.
func (w *watermarks) endSplit(id string) {
	delete(w.splits, id)
	w.s.n.metrics.drop(splitMetric(id))
	w.armEmit()
}

// rows looks at the rows of a split before they go on, and gives them with the watermarks of the on-event strategy. When
// the watermark of a row cannot be computed, the rows before it are given together with the error.
func (w *watermarks) rows(id string, b *types.Batch) (*types.Batch, error) {
	sp := w.splits[id]
	if sp == nil {
		return nil, fmt.Errorf("rows of split %q, which was never assigned", id)
	}
	if sp.idle {
		sp.idle = false
	}
	if err := w.setIdle(false); err != nil {
		return nil, err
	}
	if w.mark == nil {
		return b, nil
	}
	if w.mark.Idle > 0 {
		w.began = w.nowMS()
	}
	sel := b.Sel
	if sel == nil {
		sel = types.All(b.Len)
	}
	col, err := w.eval(b, sel)
	if err != nil {
		if sel, err = w.cutAt(sel, err); col == nil || len(sel) == 0 {
			return nil, err
		}
		b = &types.Batch{Len: b.Len, Sel: sel, Kinds: b.Kinds, Cols: b.Cols}
	}
	if !w.mark.OnEvent {
		for _, i := range sel {
			if !col.Null(i) {
				sp.wm = max(sp.wm, floorMillis(col.Int[i]))
			}
		}
		return b, err
	}
	return w.onEvent(sp, b, sel, col), err
}

// cutAt gives the rows of sel before the one that failed, and the failure as an error of the data.
func (w *watermarks) cutAt(sel []int32, err error) ([]int32, error) {
	var row *types.RowError
	if !errors.As(err, &row) {
		return nil, err
	}
	n, _ := slices.BinarySearch(sel, row.Row)
	return sel[:n], expr.DataError(w.mark.Expr, err)
}

// onEvent puts a mark behind every Gap-th row of the split, if it advances the combined watermark.
func (w *watermarks) onEvent(sp *splitTime, b *types.Batch, sel []int32, col *types.Column) *types.Batch {
	w.out = types.Batch{Len: b.Len, Sel: b.Sel, Kinds: b.Kinds, Cols: b.Cols, Marks: w.out.Marks[:0]}
	others := w.lowest(sp)
	for _, i := range sel {
		if !col.Null(i) {
			sp.wm = max(sp.wm, floorMillis(col.Int[i]))
		}
		if sp.since++; sp.since < w.mark.Gap {
			continue
		}
		sp.since = 0
		if low := min(sp.wm, others); low > w.told {
			w.told = low
			w.out.Marks = append(w.out.Marks, types.Mark{Pos: i + 1, Time: low})
		}
	}
	return &w.out
}

// floorMillis turns microseconds into milliseconds, downwards also before 1970.
func floorMillis(us int64) int64 {
	ms := us / 1000
	if us%1000 < 0 {
		ms--
	}
	return ms
}

// emitted is called when the rows have gone through: time spent in there, perhaps under back pressure, is no silence of
// the other splits.
func (w *watermarks) emitted(id string) error {
	if w.mark == nil {
		return nil
	}
	if sp := w.splits[id]; sp != nil {
		sp.shown.Store(sp.wm)
	}
	w.armEmit()
	if w.mark.Idle > 0 {
		now := w.nowMS()
		for _, sp := range w.splits {
			if sp.lastRow += now - w.began; sp.id == id {
				sp.lastRow = now
			}
		}
		w.armIdle(now)
	}
	return nil
}

// lowest gives the lowest watermark of the splits that are not idle, but for one; MaxWatermark if there is none.
func (w *watermarks) lowest(but *splitTime) int64 {
	low := types.MaxWatermark
	for _, sp := range w.splits {
		if sp != but && !sp.idle {
			low = min(low, sp.wm)
		}
	}
	return low
}

// tell emits the combined watermark if it has advanced.
func (w *watermarks) tell() error {
	low := w.lowest(nil)
	if low == types.MaxWatermark || low <= w.told {
		return nil
	}
	w.told = low
	return w.s.n.Watermark(low)
}

func (w *watermarks) setIdle(idle bool) error {
	if w.idle == idle {
		return nil
	}
	w.idle = idle
	return w.s.n.Idle(idle)
}

// checkIdle makes the subtask idle when no split is left that could say anything.
func (w *watermarks) checkIdle() error {
	if !w.knows || w.s.ended {
		return nil
	}
	for _, sp := range w.splits {
		if !sp.idle {
			return nil
		}
	}
	if err := w.tellIdleTop(); err != nil {
		return err
	}
	return w.setIdle(true)
}

// tellIdleTop emits what the splits had reached when the last of them fell silent.
func (w *watermarks) tellIdleTop() error {
	top := types.MinWatermark
	for _, sp := range w.splits {
		top = max(top, sp.wm)
	}
	if w.mark == nil || top <= w.told {
		return nil
	}
	w.told = top
	return w.s.n.Watermark(top)
}

func (w *watermarks) arm(ms int64) { w.s.t.wakeAt(ms) }

// armEmit sets the next periodic emission.
func (w *watermarks) armEmit() {
	if w.mark == nil || w.mark.OnEvent || w.mark.Interval <= 0 || w.nextEmit != types.MaxWatermark {
		return
	}
	w.nextEmit = w.nowMS() + w.mark.Interval.Milliseconds()
	w.arm(w.nextEmit)
}

func (w *watermarks) armIdle(now int64) {
	if w.mark == nil || w.mark.Idle <= 0 || w.nextIdle != types.MaxWatermark {
		return
	}
	w.nextIdle = now + max(1, w.mark.Idle.Milliseconds())
	w.arm(w.nextIdle)
}

// onTime does what is due. The task has forgotten its timer: what is still to come is set again.
func (w *watermarks) onTime(now int64) error {
	if w.nextEmit <= now {
		w.nextEmit = types.MaxWatermark
		if err := w.tell(); err != nil {
			return err
		}
	}
	if w.nextIdle <= now {
		if err := w.silence(now); err != nil {
			return err
		}
	}
	if w.nextAlign <= now {
		if err := w.alignNow(now); err != nil {
			return err
		}
	}
	if next := min(w.nextEmit, w.nextIdle, w.nextAlign); next != types.MaxWatermark {
		w.arm(next)
	}
	return nil
}

// silence finds the splits that have given nothing for the idle timeout.
func (w *watermarks) silence(now int64) error {
	w.nextIdle = types.MaxWatermark
	limit := w.mark.Idle.Milliseconds()
	changed := false
	for _, sp := range w.splits {
		if sp.idle {
			continue
		}
		if sp.resting || w.s.held {
			sp.lastRow = now
		}
		if now-sp.lastRow >= limit {
			sp.idle, changed = true, true
			continue
		}
		w.nextIdle = min(w.nextIdle, sp.lastRow+limit)
	}
	if !changed {
		return nil
	}
	if err := w.tell(); err != nil {
		return err
	}
	return w.checkIdle()
}

// paused reports whether the reader as a whole rests for alignment.
func (w *watermarks) paused() bool { return w.resting }

// leave takes the subtask out of its alignment group.
func (w *watermarks) leave() {
	if w.group != nil {
		w.group.leave(w)
	}
	w.nextEmit, w.nextIdle, w.nextAlign = types.MaxWatermark, types.MaxWatermark, types.MaxWatermark
	w.resting = false
}

// alignNow reports the subtask's watermark to its group and lets those splits rest that are too far ahead of it.
func (w *watermarks) alignNow(now int64) error {
	a := w.mark.Alignment
	w.nextAlign = now + max(1, a.Interval.Milliseconds())
	limit := w.group.report(w, w.lowest(nil), a.MaxDrift)
	pauser, ok := w.s.reader.(SplitPauser)
	if !ok {
		low := w.lowest(nil)
		w.resting = low != types.MaxWatermark && low > limit
		for _, sp := range w.splits {
			sp.resting = w.resting
		}
		return nil
	}
	rest := []string{}
	for _, sp := range w.splits {
		if sp.resting = sp.wm > limit; sp.resting {
			rest = append(rest, sp.id)
		}
	}
	sort.Strings(rest)
	if slices.Equal(rest, w.rest) {
		return nil
	}
	w.rest = rest
	return pauser.Pause(rest)
}
