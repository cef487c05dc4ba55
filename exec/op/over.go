package op

import (
	"fmt"
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
	rows    rowBytes
	copies  rowBytes      // for rows that are in no state: what it decodes does not share their bytes
	pending *state.Table  // rows that wait for their time; nil if none do
	timers  *state.Timers // of the times of pending rows, and for cleaning
	retain  *retention    // of frames that are not bounded by time; nil without a TTL
	late    *Counter
	popped  []uint64
	words   []uint64
	out     output

	rowsOf func(*types.Batch) error
	markOf func(int64) error
}

// Values of a key's record of pending rows: the rows by time and arrival; arrivals; the last time given out, with a flag
// that there is one; the time at which everything of the key goes.
const (
	overRows = iota
	overArrivals
	overLast
	overGiven
	overClean
)

// NewOver makes the operator.
func NewOver(spec Overing) *Over { return &Over{timed: timed{clock: NewClock(1)}, spec: spec} }

// waits reports whether rows wait for their time.
func (o *Over) waits() bool { return o.spec.Rowtime || !o.spec.Rows && o.spec.Before >= 0 }

// Open compiles the aggregates.
func (o *Over) Open(ctx *Context) error {
	o.ctx = ctx
	o.keys = newBatchKeys(o.spec.In, o.spec.Keys, ctx.MaxParallelism)
	o.rows, o.copies = newRowBytes(o.spec.In), newRowBytes(o.spec.In)
	o.copies.codec.Share = false
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
	if o.spec.Rows || o.spec.Before < 0 { // else the frame itself bounds it
		if o.retain, err = newRetention(ctx, d, o.spec.TTL, o.forget); err != nil {
			return err
		}
	}
	if !o.waits() {
		return nil
	}
	o.pending, err = ctx.State.Table(d, state.TableSpec{Values: []state.Value{
		overRows:     {Kind: state.Sorted, Elem: []state.Value{{Kind: state.Bytes}}},
		overArrivals: {}, overLast: {}, overGiven: {}, overClean: {},
	}})
	if err != nil {
		return err
	}
	if o.timers, err = ctx.State.Timers(state.Descriptor{Format: 1, Name: "timers", Key: d.Key}); err != nil {
		return err
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
	now := o.ctx.Now().UnixMilli()
	for k, i := range b.Live() {
		key := o.keys.at(k)
		o.retain.seen(key)
		if !o.waits() {
			if err := o.calc.group(key, []string{o.rows.of(b, i)}, now, &o.out, &o.copies); err != nil {
				return o.fail(err, b, i)
			}
			continue
		}
		t := now
		if o.spec.Rowtime {
			if b.Cols[o.spec.Time].Null(i) {
				return o.fail(errNullRowtime, b, i)
			}
			t = millis(b.Cols[o.spec.Time], i)
		}
		o.keep(key, t, o.rows.of(b, i))
	}
	o.retain.wake()
	o.wake()
	return nil
}

func (o *Over) fail(err error, b *types.Batch, i int32) error {
	if e := o.out.flush(); e != nil {
		return e
	}
	return dataError(o.ctx, &types.RowError{Row: i, Err: err}, o.spec.In, b)
}

// keep stores a row until its time, unless it is late.
func (o *Over) keep(key state.Key, t int64, row string) {
	if o.spec.Rowtime && o.spec.Before < 0 && t <= o.clock.Now() {
		o.late.Add(1)
		return
	}
	m := o.pending.Of(key.Group)
	owner, _ := m.Upsert(key)
	v := m.Touch(owner)
	if o.spec.Rowtime && o.spec.Before >= 0 && v[overGiven] != 0 && t <= int64(v[overLast]) {
		o.late.Add(1)
		return
	}
	v[overArrivals]++
	rows := m.Collection(overRows)
	o.words = append(o.words[:0], state.OrderedInt(t), v[overArrivals])
	e, _ := rows.Add(owner, o.words)
	rows.PutBytes(e, 0, row)
	o.timers.Add(t, key)
	if o.spec.Rows || o.spec.Before < 0 {
		return
	}
	// What the frame has left behind goes at a time between once and one and a half times its length later.
	if v := m.Touch(owner); int64(v[overClean]) <= add(t, o.spec.Before) {
		at := add(t, o.spec.Before+o.spec.Before/2) + 1
		v[overClean] = uint64(at)
		o.timers.Add(at, key)
	}
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
	if o.spec.Rowtime || o.timers == nil {
		return nil
	}
	if err := o.fire(ms - 1); err != nil {
		return err
	}
	o.wake()
	return o.out.flush()
}

func (o *Over) wake() {
	if o.spec.Rowtime || o.timers == nil {
		return
	}
	if t := o.timers.Next(); t != state.NoTimer {
		o.ctx.WakeAt(t + 1)
	}
}

// fire gives the rows whose time is at most to, in order of time.
func (o *Over) fire(to int64) error {
	for {
		t, key, ok := o.timers.Pop(to)
		if !ok {
			return nil
		}
		o.popped = append(o.popped[:0], key.Words...) // the timers' own words live until the next call
		key.Words = o.popped
		if err := o.fireKey(key, t); err != nil {
			return err
		}
	}
}

// forget drops a key, unless rows of it wait.
func (o *Over) forget(key state.Key) bool {
	if o.pending != nil {
		m := o.pending.Of(key.Group)
		if owner := m.Find(key); owner != 0 {
			if m.Collection(overRows).Len(owner) > 0 {
				return false
			}
			m.Delete(owner)
		}
	}
	o.calc.drop(key)
	return true
}

// fireKey gives the rows of a key that have time t, or drops the key when its end has come.
func (o *Over) fireKey(key state.Key, t int64) error {
	m := o.pending.Of(key.Group)
	owner := m.Find(key)
	if owner == 0 {
		return nil
	}
	rows := m.Collection(overRows)
	var group []string
	for e := rows.First(owner); e != 0; e = rows.First(owner) {
		if state.IntOf(rows.Elem(e)[0]) > t {
			break
		}
		row, _ := rows.Bytes(e, 0)
		group = append(group, row)
		rows.Remove(owner, e)
	}
	v := m.Touch(owner)
	if len(group) > 0 {
		v[overLast], v[overGiven] = uint64(t), 1
		if err := o.calc.group(key, group, t, &o.out, &o.rows); err != nil {
			return err
		}
		o.retain.seen(key)
	}
	switch {
	case v[overClean] != 0 && int64(v[overClean]) <= t && rows.Len(owner) == 0:
		o.calc.drop(key)
		m.Delete(owner)
	case o.spec.Before < 0 && rows.Len(owner) == 0:
		m.Delete(owner) // what is late is told by the watermark
	}
	return nil
}
