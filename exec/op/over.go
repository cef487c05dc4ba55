package op

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"runnel/expr"
	"runnel/state"
	"runnel/types"
)

// Overing is what an Over does. Its rows are those of the input with the aggregates behind them.
type Overing struct {
	In      []types.Field
	Out     []types.Field
	Keys    []int
	Time    int // the time attribute
	Rowtime bool
	Rows    bool  // the frame counts rows, else milliseconds
	Before  int64 // how far the frame reaches back from the current row; -1 for all
	Aggs    []expr.AggCall
	TTL     time.Duration // of frames that are not bounded by time
}

// Over gives every row of an append-only input with aggregates over the rows of its key before it, itself included. By
// event time rows come out when the watermark reaches them, in the order of their times; rows of one time share their
// result unless the frame counts rows. Late rows are dropped and counted (numLateRecordsDropped): behind the watermark
// where the frame reaches back to the beginning, at or behind the last row given out for the key where it does not.
type Over struct {
	timed
	spec    Overing
	calc    *overCalc
	keys    batchKeys
	pending *state.Log    // rows that wait for their time; nil if none do
	timers  *state.Timers // for cleaning
	retain  *retention    // of frames that are not bounded by time; nil without a TTL
	late    *Counter
	popped  []uint64
	ready   *types.Batch // rows whose time has come, in order of time
	times   []int64      // of them
	rows    []int32      // scratch: rows of one time, those of a key next to each other
	groups  [][]int32    // scratch: the parts of rows
	out     output

	rowsOf func(*types.Batch) error
	markOf func(int64) error
}

// NewOver makes the operator.
func NewOver(spec Overing) *Over { return &Over{timed: timed{clock: NewClock(1)}, spec: spec} }

// waits reports whether rows wait for their time.
func (o *Over) waits() bool { return o.spec.Rowtime || !o.spec.Rows && o.spec.Before >= 0 }

// bounded reports whether the frame reaches back by a time, which then bounds the state of a key.
func (o *Over) bounded() bool { return !o.spec.Rows && o.spec.Before >= 0 }

// Open compiles the aggregates.
func (o *Over) Open(ctx *Context) error {
	o.ctx = ctx
	o.keys = newBatchKeys(o.spec.In, o.spec.Keys, ctx.MaxParallelism)
	o.late = ctx.Counter("numLateRecordsDropped")
	o.out = newOutput(ctx.Out, o.spec.Out)
	o.rowsOf, o.markOf = o.apply, o.advance
	var err error
	if o.calc, err = newOverCalc(ctx, &o.spec); err != nil {
		return err
	}
	d := state.Descriptor{
		Format: types.RowCodecVersion, Name: "pending", Key: keyColumns(o.spec.In, o.spec.Keys), Values: rowInfos(o.spec.In),
		Bounds: o.spec.text(),
	}
	if !o.bounded() {
		if o.retain, err = newRetention(ctx, d, o.spec.TTL, o.forget); err != nil {
			return err
		}
	}
	if !o.waits() {
		return nil
	}
	o.ready = types.NewBatch(o.spec.In)
	o.pending, err = ctx.State.Log(d, state.LogSpec{Columns: allTypes(o.spec.In), Key: o.spec.Keys, Ordered: true, Unkeyed: true})
	if err != nil {
		return err
	}
	if o.bounded() {
		if o.timers, err = ctx.State.Timers(state.Descriptor{Format: 1, Name: "timers", Key: d.Key}); err != nil {
			return err
		}
	}
	o.wake()
	return nil
}

// text describes the frame in a state's descriptor.
func (s *Overing) text() string {
	unit := "ms"
	if s.Rows {
		unit = "rows"
	}
	return fmt.Sprintf("%d %s", s.Before, unit)
}

// Process takes rows in.
func (o *Over) Process(_ int, b *types.Batch) error {
	o.retain.before()
	if err := b.Segments(o.rowsOf, o.markOf); err != nil {
		return err
	}
	return o.out.flush()
}

func (o *Over) apply(b *types.Batch) error {
	o.keys.encode(b)
	if !o.waits() {
		return o.giveNow(b)
	}
	if o.bounded() || o.retain != nil {
		o.calc.table.Stage(o.keys.Hash, o.keys.group)
	}
	now := o.ctx.Now().UnixMilli()
	for k, i := range b.Live() {
		t := now
		if o.spec.Rowtime {
			if b.Cols[o.spec.Time].Null(i) {
				return o.fail(errNullRowtime, b, i)
			}
			t = millis(b.Cols[o.spec.Time], i)
		}
		key := o.keys.at(k)
		if o.keep(key, t) {
			o.pending.Append(key, t, b.Cols, i)
		}
	}
	o.retain.wake()
	o.wake()
	return nil
}

// giveNow gives rows that wait for nothing.
func (o *Over) giveNow(b *types.Batch) error {
	now := o.ctx.Now().UnixMilli()
	o.calc.begin(b, &o.keys)
	for k, i := range b.Live() {
		key := o.keys.at(k)
		o.retain.seen(key)
		o.rows = append(o.rows[:0], int32(k))
		if err := o.calc.group(key, b, o.rows, now, &o.out); err != nil {
			return o.fail(err, b, i)
		}
	}
	o.retain.wake()
	return nil
}

func (o *Over) fail(err error, b *types.Batch, i int32) error {
	if e := o.out.flush(); e != nil {
		return e
	}
	return dataError(o.ctx, &types.RowError{Row: i, Err: err}, o.spec.In, b)
}

// keep notes that a row will wait for its time, unless it is late.
func (o *Over) keep(key state.Key, t int64) bool {
	o.retain.seen(key)
	if o.spec.Rowtime && o.spec.Before < 0 && t <= o.clock.Now() {
		o.late.Add(1)
		return false
	}
	if o.retain == nil && o.spec.Before < 0 {
		return true
	}
	m, r := o.calc.record(key)
	if o.spec.Rowtime && o.spec.Before >= 0 && o.calc.given(m, r, t) {
		o.late.Add(1)
		return false
	}
	if o.retain == nil && !o.bounded() {
		return true
	}
	if r == 0 {
		r, _ = m.Upsert(key)
	}
	own := m.Touch(r)[o.calc.base:]
	own[overWaiting]++
	// What the frame has left behind goes at a time between once and one and a half times its length later.
	if o.bounded() && int64(own[overClean]) <= add(t, o.spec.Before) {
		at := add(t, o.spec.Before+o.spec.Before/2) + 1
		own[overClean] = uint64(at)
		o.timers.Add(at, key)
	}
	return true
}

// Watermark gives the rows that it has reached.
func (o *Over) Watermark(_ int, ms int64) error {
	if err := o.advance(ms); err != nil {
		return err
	}
	return o.out.flush()
}

// Idle passes idleness on.
func (o *Over) Idle(_ int, idle bool) error {
	o.clock.Idle(0, idle)
	return o.ctx.Out.Idle(idle)
}

func (o *Over) advance(ms int64) error {
	if !o.clock.Watermark(0, ms) {
		return nil
	}
	if o.spec.Rowtime {
		if err := o.fire(ms); err != nil {
			return err
		}
	}
	o.out.mark(ms)
	return nil
}

// OnTime drops what has not been seen for long and gives the rows of past milliseconds of processing time.
func (o *Over) OnTime(ms int64) error {
	o.retain.run(ms)
	if o.spec.Rowtime || o.pending == nil {
		return nil
	}
	if err := o.fire(ms - 1); err != nil {
		return err
	}
	o.wake()
	return o.out.flush()
}

func (o *Over) wake() {
	if o.spec.Rowtime || o.pending == nil {
		return
	}
	t := o.pending.Next()
	if o.timers != nil {
		t = min(t, o.timers.Next())
	}
	if t != state.NoTimer {
		o.ctx.WakeAt(t + 1)
	}
}

// fire gives the rows whose time is at most to, in order of time, and drops the keys whose end has come.
func (o *Over) fire(to int64) error {
	var failed error
	o.pending.Leave(to, func(r state.Row) {
		t := o.pending.Time(r)
		if n := len(o.times); failed == nil && n >= types.BatchRows && t != o.times[n-1] {
			failed = o.giveReady()
		}
		if failed == nil {
			o.pending.Emit(r, o.ready.Cols)
			o.ready.Push(types.Insert)
			o.times = append(o.times, t)
		}
	})
	if failed == nil {
		failed = o.giveReady()
	}
	if failed != nil || o.timers == nil {
		return failed
	}
	for {
		t, key, ok := o.timers.Pop(to)
		if !ok {
			return nil
		}
		o.popped = append(o.popped[:0], key.Words...) // the timers' own words live until the next call
		key.Words = o.popped
		if m, r := o.calc.record(key); r != 0 && int64(m.Get(r)[o.calc.base+overClean]) <= t {
			m.Delete(r)
		}
	}
}

// giveReady gives the rows that are ready: all of some times.
func (o *Over) giveReady() error {
	b := o.ready
	o.keys.encode(b)
	o.calc.begin(b, &o.keys)
	for from, to := 0, 0; from < b.Len; from = to {
		t := o.times[from]
		for to = from + 1; to < b.Len && o.times[to] == t; to++ {
		}
		for _, rows := range o.grouped(from, to) {
			key := o.keys.at(int(rows[0]))
			if err := o.calc.group(key, b, rows, t, &o.out); err != nil {
				return err
			}
			o.retain.seen(key)
		}
	}
	b.Reset()
	o.times = o.times[:0]
	return nil
}

// grouped gives the rows from..to-1, which have one time: where that makes a difference those of a key together, the keys in
// the order in which they come first.
func (o *Over) grouped(from, to int) [][]int32 {
	o.rows, o.groups = o.rows[:0], o.groups[:0]
	for k := from; k < to; k++ {
		o.rows = append(o.rows, int32(k))
	}
	same := func(a, b int32) int {
		return cmp.Or(cmp.Compare(o.keys.Hash[a], o.keys.Hash[b]), slices.Compare(o.keys.Key(int(a)), o.keys.Key(int(b))))
	}
	if !o.spec.Rows && to-from > 1 {
		slices.SortFunc(o.rows, func(a, b int32) int { return cmp.Or(same(a, b), cmp.Compare(a, b)) })
	}
	for n, start := 1, 0; n <= len(o.rows); n++ {
		if n == len(o.rows) || o.spec.Rows || same(o.rows[n-1], o.rows[n]) != 0 {
			o.groups, start = append(o.groups, o.rows[start:n]), n
		}
	}
	if !o.spec.Rows {
		slices.SortFunc(o.groups, func(a, b []int32) int { return cmp.Compare(a[0], b[0]) })
	}
	return o.groups
}

// forget drops a key, unless rows of it wait.
func (o *Over) forget(key state.Key) bool {
	m, r := o.calc.record(key)
	if r == 0 {
		return true
	}
	if m.Get(r)[o.calc.base+overWaiting] > 0 {
		return false
	}
	m.Delete(r)
	return true
}
