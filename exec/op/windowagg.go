package op

import (
	"fmt"
	"math"
	"time"

	"runnel/expr"
	"runnel/state"
	"runnel/types"
)

// WindowProp is a window column that an aggregate gives.
type WindowProp uint8

const (
	WindowStart WindowProp = iota // TIMESTAMP(3), on the wall clock
	WindowEnd                     // TIMESTAMP(3), on the wall clock
	WindowTime                    // the last millisecond of the window, of the time column's type
)

// Windowing is what a window aggregate does.
type Windowing struct {
	In      []types.Field
	Out     []types.Field // keys, aggregates, Props
	Window  Window
	Keys    []int
	Aggs    []expr.AggCall
	Props   []WindowProp
	Retract bool // the input may take rows back
	// Attached: the rows carry their window in the columns StartCol and EndCol; of Window only Rowtime and Zoned count.
	Attached         bool
	StartCol, EndCol int
	// Merge: what comes in is what a LocalWindowAggregate gives, whose input has the columns In.
	Merge bool
}

// WindowAggregate aggregates by key and window over TUMBLE, HOP and CUMULATE, and gives each result once, as +I, when
// the watermark passes the window's end; windows leave in the order of their ends. A row all of whose windows have gone
// is dropped and counted (numLateRecordsDropped). A window whose rows have all been taken back gives nothing.
//
// Rows are aggregated once, in slices that the windows are made of (the slide of HOP, the step of CUMULATE): HOP merges
// the slices of a window when it fires, CUMULATE adds slice by slice to the first one. Slices are named by their ends on
// the wall clock. Where an aggregate cannot be merged, every window is a slice of its own.
type WindowAggregate struct {
	timed
	spec   Windowing
	wall   wall
	aggs   *aggregates
	keys   batchKeys
	slices *state.Slices
	late   *Counter
	shared bool // windows share slices

	separate bool     // no sharing of slices although the aggregates could be merged
	partial  bool     // in a LocalWindowAggregate
	merging  *merging // nil where rows come in

	progress int64 // windows that end by then have fired: the watermark, or the processing time - 1
	done     int64 // while windows fire: the end of the last that did
	cur      openSlice
	merged   *state.Map // a HOP window put together
	out      output
	run      *windowRun // nil where rows are added one by one
	seen     int        // live rows of the batch in the segments so far

	rowsOf func(*types.Batch) error
	markOf func(int64) error
}

// openSlice is the slice of the last row; a run of rows often stays in it.
type openSlice struct {
	from, to int64 // wall-clock ms, to exclusive; from == to: none
	late     bool
	m        *state.Map
}

// NewWindowAggregate makes the operator: a WindowAggregate, or a SessionAggregate.
func NewWindowAggregate(spec Windowing) Operator {
	if spec.Window.Kind == Session && !spec.Attached {
		return newSessionAggregate(spec)
	}
	return newWindowAggregate(spec)
}

func newWindowAggregate(spec Windowing) *WindowAggregate {
	return &WindowAggregate{timed: timed{clock: NewClock(1)}, spec: spec}
}

// Open compiles the aggregates and finds the open slices of a restored operator.
func (w *WindowAggregate) Open(ctx *Context) error {
	w.ctx = ctx
	var err error
	if w.aggs, err = compileAggregates(w.spec.Aggs, w.spec.In, w.spec.Retract, w.partial, ctx.Env); err != nil {
		return err
	}
	if w.spec.Window.Zoned || !w.spec.Window.Rowtime {
		w.wall = newWall(ctx.Env.Zone)
	}
	w.shared = !w.spec.Attached && w.spec.Window.Kind != Tumble && w.spec.Window.Size%w.spec.Window.Slide == 0 &&
		w.aggs.mergeable() && !w.separate
	w.keys = newBatchKeys(w.spec.In, w.spec.Keys, ctx.MaxParallelism)
	if w.spec.Attached { // windows that end together may have begun apart
		w.keys = newOwnedKeys(w.spec.In, w.spec.Keys, ctx.MaxParallelism, w.spec.StartCol)
	}
	if w.slices, err = ctx.State.Slices(w.descriptor(), state.SlicesSpec{Values: w.aggs.values}); err != nil {
		return err
	}
	w.late = ctx.Counter("numLateRecordsDropped")
	w.out = newOutput(ctx.Out, w.spec.Out)
	w.progress, w.done = w.clock.Now(), math.MinInt64
	w.rowsOf, w.markOf = w.apply, w.advance
	if w.spec.Merge {
		if err := w.merge(); err != nil {
			return err
		}
	} else if w.aggs.foldable() && (w.shared || w.spec.Window.Kind == Tumble || w.spec.Attached) {
		w.run = new(windowRun)
	}
	w.wake()
	return nil
}

// merge prepares for the rows of a LocalWindowAggregate.
func (w *WindowAggregate) merge() (err error) {
	n := len(w.keys.cols)
	w.keys.cols = firstColumns(n)
	if w.keys.owner != nil {
		w.keys.owner.cols = firstColumns(n - 1)
	}
	w.rowsOf = w.mergePartials
	if w.merging, err = newMerging(w.spec.Aggs, w.spec.In, w.spec.Retract, w.ctx.Env, n+2); err == nil && w.merging.codec.plain {
		w.run = new(windowRun)
	}
	return err
}

func (w *WindowAggregate) descriptor() state.Descriptor {
	d := state.Descriptor{Format: 1, Name: "accumulators", Key: keyColumns(w.spec.In, w.keys.cols), Values: w.aggs.infos()}
	if w.spec.Attached {
		d.Window = "attached"
	} else if d.Window = w.spec.Window.text(w.spec.In); w.spec.Window.Kind != Tumble && !w.shared {
		d.Window += ", unshared"
	}
	if w.wall.loc != nil {
		d.Zone = w.wall.loc.String()
	}
	return d
}

// Process adds rows to their slices.
func (w *WindowAggregate) Process(_ int, b *types.Batch) error {
	w.keys.encode(b)
	if w.merging == nil {
		w.aggs.begin(b)
	}
	w.seen = 0
	if w.run != nil {
		w.run.begin(b)
	}
	if err := b.Segments(w.rowsOf, w.markOf); err != nil {
		return err
	}
	if w.run != nil {
		w.run.fold(w)
		if err := w.run.err; err != nil {
			return w.fail(err, b, 0)
		}
	}
	w.wake()
	return w.out.flush()
}

func (w *WindowAggregate) apply(b *types.Batch) error {
	col := w.spec.Window.Column
	if w.spec.Attached {
		col = w.spec.EndCol
	}
	times := b.Cols[col]
	now := int64(0)
	if !w.spec.Window.Rowtime && !w.spec.Attached {
		now = w.wall.local(w.ctx.Now().UnixMilli())
	}
	for _, i := range b.Live() {
		k, local := w.seen, now
		w.seen++
		switch {
		case w.spec.Attached:
			local = floorDiv(times.Int[i], 1000) - 1
		case w.spec.Window.Rowtime:
			if times.Null(i) {
				return w.fail(errNullRowtime, b, i) // what waits in a run is lost with the job
			}
			local = w.wall.local(floorDiv(times.Int[i], 1000))
		}
		if local < w.cur.from || local >= w.cur.to {
			w.locate(local)
		}
		if w.cur.m == nil && !w.cur.late {
			if err := w.addUnshared(local, b, k, i); err != nil {
				return w.fail(err, b, i)
			}
			continue
		}
		if w.cur.late {
			w.late.Add(1)
			continue
		}
		if w.run != nil {
			w.run.take(w, k, i)
			continue
		}
		if err := w.add(w.cur.m, b, k, i); err != nil {
			return w.fail(err, b, i)
		}
	}
	return nil
}

// fail sends what has fired and gives the error of a row.
func (w *WindowAggregate) fail(err error, b *types.Batch, i int32) error {
	if e := w.out.flush(); e != nil {
		return e
	}
	in := w.spec.In
	if w.merging != nil {
		in = pick(in, w.spec.Keys)
	}
	return dataError(w.ctx, &types.RowError{Row: i, Err: err}, in, b)
}

// add accumulates a row in a slice.
func (w *WindowAggregate) add(m *state.Map, b *types.Batch, k int, i int32) error {
	g := group{m: m}
	g.ref, _ = m.Upsert(w.keys.at(k))
	g.words = m.Touch(g.ref)
	if b.Kinds != nil && b.Kinds[i].Retract() {
		return w.aggs.take(&g, b, k, i)
	}
	return w.aggs.add(&g, b, k, i)
}

// addUnshared accumulates a row in every window that is still to fire.
func (w *WindowAggregate) addUnshared(local int64, b *types.Batch, k int, i int32) error {
	var buf [64]int64
	spans := w.spec.Window.assign(local, buf[:0])
	taken := false
	for s := 1; s < len(spans); s += 2 {
		if end := spans[s]; !w.fired(end) {
			taken = true
			if err := w.add(w.slices.Open(end), b, k, i); err != nil {
				return err
			}
		}
	}
	if !taken {
		w.late.Add(1)
	}
	return nil
}

// locate finds the slice of a wall-clock time: late if its last window has fired; without a map if windows share none.
func (w *WindowAggregate) locate(local int64) {
	win := &w.spec.Window
	switch {
	case w.spec.Attached:
		w.cur = openSlice{from: local, to: local + 1}
	case win.Kind == Tumble:
		start := types.WindowStart(local, win.Offset, win.Size)
		w.cur = openSlice{from: start, to: start + win.Size}
	default:
		start := types.WindowStart(local, win.Offset, win.Slide)
		w.cur = openSlice{from: start, to: start + win.Slide}
		if !w.shared {
			return
		}
	}
	end := w.cur.to
	if w.fired(w.lastEnd(end)) {
		w.cur.late = true
		return
	}
	if win.Kind == Cumulate && w.shared && w.fired(end) {
		end = w.firstEnd(end)
	}
	w.cur.m = w.slices.Open(end)
}

// lastEnd gives the end of the last window that a slice is part of.
func (w *WindowAggregate) lastEnd(slice int64) int64 {
	win := &w.spec.Window
	if w.shared && win.Kind == Hop {
		return slice + win.Size - win.Slide
	}
	if w.shared && win.Kind == Cumulate {
		return types.WindowStart(slice-1, win.Offset, win.Size) + win.Size
	}
	return slice
}

// firstEnd gives the end of the first slice of the CUMULATE window that holds a slice: the one that the others join.
func (w *WindowAggregate) firstEnd(slice int64) int64 {
	win := &w.spec.Window
	return types.WindowStart(slice-1, win.Offset, win.Size) + win.Slide
}

// fired reports whether the window with the given end has fired.
func (w *WindowAggregate) fired(end int64) bool {
	return end <= w.done || w.wall.timer(end-1) <= w.progress
}

// Watermark fires windows.
func (w *WindowAggregate) Watermark(_ int, ms int64) error {
	if err := w.advance(ms); err != nil {
		return err
	}
	return w.out.flush()
}

// Idle passes idleness on.
func (w *WindowAggregate) Idle(_ int, idle bool) error {
	w.clock.Idle(0, idle)
	return w.ctx.Out.Idle(idle)
}

// advance moves the clock, fires what ends by then and passes the watermark on behind it.
func (w *WindowAggregate) advance(ms int64) error {
	if !w.clock.Watermark(0, ms) {
		return nil
	}
	if w.spec.Window.Rowtime {
		if err := w.fireUpTo(ms); err != nil {
			return err
		}
	}
	w.out.mark(ms)
	return nil
}

// OnTime fires processing-time windows.
func (w *WindowAggregate) OnTime(ms int64) error {
	if w.spec.Window.Rowtime {
		return nil
	}
	if err := w.fireUpTo(ms - 1); err != nil {
		return err
	}
	w.wake()
	return w.out.flush()
}

// wake sets the timer of the next processing-time window.
func (w *WindowAggregate) wake() {
	if w.spec.Window.Rowtime {
		return
	}
	if end, ok := w.next(); ok {
		w.ctx.WakeAt(w.wall.timer(end-1) + 1)
	}
}

// next gives the end of the next window to fire.
func (w *WindowAggregate) next() (end int64, ok bool) {
	times := w.slices.Times()
	if len(times) == 0 {
		return 0, false
	}
	end = times[0]
	if !w.shared {
		return end, true
	}
	// The first end from the slice on that has not fired. Zones make fired windows hard to count: begin a day before.
	near := w.done
	if w.progress > math.MinInt64/2 && w.progress < math.MaxInt64/2 {
		near = max(near, w.wall.local(w.progress)-24*hour)
	}
	if slide := w.spec.Window.Slide; near > end {
		end += (near - end) / slide * slide
	}
	for w.fired(end) {
		end += w.spec.Window.Slide
	}
	return end, true
}

// fireUpTo fires, in the order of their ends, all windows whose last millisecond is at or before progress.
func (w *WindowAggregate) fireUpTo(progress int64) error {
	for {
		end, ok := w.next()
		if !ok || w.wall.timer(end-1) > progress {
			break
		}
		if w.run != nil {
			w.run.fold(w)
		}
		w.done = end
		if err := w.fire(end); err != nil {
			return err
		}
		w.cur = openSlice{} // while nothing fires, an open slice stays open, and what is late stays late
	}
	w.progress, w.done = progress, math.MinInt64
	return nil
}

// fire gives the results of the window with the given end, and drops the slices that no later window needs.
func (w *WindowAggregate) fire(end int64) error {
	win := &w.spec.Window
	switch {
	case !w.shared:
		err := w.emit(w.slices.Of(end), end)
		w.slices.Drop(end)
		return err
	case win.Kind == Hop:
		return w.fireHop(end)
	}
	return w.fireCumulate(end)
}

func (w *WindowAggregate) fireHop(end int64) error {
	win := &w.spec.Window
	var only *state.Map
	n := 0
	for _, t := range w.slices.Times() {
		if t > end {
			break
		}
		if n++; n == 1 {
			only = w.slices.Of(t)
		}
	}
	var err error
	if n == 1 {
		err = w.emit(only, end)
	} else if err = w.mergeHop(end); err == nil {
		err = w.emit(w.merged, end)
	}
	for t := w.slices.Times(); len(t) > 0 && t[0] <= end-win.Size+win.Slide; t = w.slices.Times() {
		w.slices.Drop(t[0])
	}
	return err
}

// mergeHop puts the slices of a window together.
func (w *WindowAggregate) mergeHop(end int64) error {
	if w.merged == nil {
		w.merged = state.NewMap(w.aggs.values)
	}
	w.merged.Reset()
	for _, t := range w.slices.Times() {
		if t > end {
			break
		}
		if err := w.aggs.mergeAll(w.merged, w.slices.Of(t)); err != nil {
			return err
		}
	}
	return nil
}

func (w *WindowAggregate) fireCumulate(end int64) error {
	first := w.firstEnd(end)
	target := w.slices.Open(first)
	if m := w.slices.Of(end); end != first && m != nil {
		if err := w.aggs.mergeAll(target, m); err != nil {
			return err
		}
		w.slices.Drop(end)
	}
	err := w.emit(target, end)
	if end == w.lastEnd(end) {
		w.slices.Drop(first)
	}
	return err
}

// emit gives a row for every group of a window.
func (w *WindowAggregate) emit(m *state.Map, end int64) error {
	nk, na := len(w.spec.Keys), len(w.spec.Aggs)
	keyCols := w.out.Cols[:nk:nk]
	var start *types.Column
	if w.spec.Attached {
		start = types.NewColumn(types.TimestampOf(3), 1)
		keyCols = append(keyCols, start)
	}
	from, last := w.spec.Window.startOf(end)*1000, w.wall.epoch(end-1)*1000
	g := group{m: m}
	for g.ref = m.First(); g.ref != 0; g.ref = m.Next(g.ref) {
		g.words = m.Get(g.ref)
		if w.aggs.counted && g.words[0] == 0 {
			continue
		}
		if start != nil {
			start.Reset()
		}
		if err := w.keys.codec.Decode(m.Key(g.ref), keyCols); err != nil {
			return fmt.Errorf("%s: %w", w.ctx.Name, err)
		}
		if err := w.aggs.value(&g, w.out.Cols[nk:nk+na]); err != nil {
			return err
		}
		if w.spec.Attached {
			from = start.Int[0]
		}
		for p, prop := range w.spec.Props {
			c := w.out.Cols[nk+na+p]
			switch prop {
			case WindowStart:
				c.AppendInt(from)
			case WindowEnd:
				c.AppendInt(end * 1000)
			default:
				c.AppendInt(last)
			}
		}
		if err := w.out.pushed(types.Insert); err != nil {
			return err
		}
	}
	return nil
}

// text describes the window in a state's descriptor.
func (w *Window) text(in []types.Field) string {
	column := "PROCTIME()"
	if w.Rowtime {
		column = in[w.Column].Source()
	}
	ms := func(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
	s := ""
	switch w.Kind {
	case Tumble:
		s = fmt.Sprintf("TUMBLE(%s, %s", column, ms(w.Size))
	case Hop:
		s = fmt.Sprintf("HOP(%s, %s, %s", column, ms(w.Slide), ms(w.Size))
	case Cumulate:
		s = fmt.Sprintf("CUMULATE(%s, %s, %s", column, ms(w.Slide), ms(w.Size))
	default:
		s = fmt.Sprintf("SESSION(%s, %s", column, ms(w.Size))
	}
	if w.Offset != 0 {
		s += fmt.Sprintf(", %s", ms(w.Offset))
	}
	return s + ")"
}

// startOf gives the start of the window with the given end.
func (w *Window) startOf(end int64) int64 {
	if w.Kind == Cumulate {
		return types.WindowStart(end-1, w.Offset, w.Size)
	}
	return end - w.Size
}
