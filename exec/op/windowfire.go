package op

import (
	"fmt"
	"math"
	"time"

	"runnel/state"
	"runnel/types"
)

// Firing is when a window gives results beside the one at its end.
type Firing struct {
	Early *time.Duration // before the end: so long after the window's first row and then as often, 0 after every row; nil: never
	Late  *time.Duration // behind the end, the same; nil as well: after every row
	// Lateness is how long a window is kept behind its end.
	Lateness     time.Duration
	UpdateBefore bool // -U is wanted in front of +U
}

// FiringAggregate aggregates by key and window over TUMBLE and HOP and gives a window's result more than once: before its
// end, at its end, and behind it for late rows. The first result is +I; one that differs from the last comes as -U and +U,
// one that does not is not given; when all rows have been taken back, -D. A row whose windows are not kept any more is
// dropped and counted (numLateRecordsDropped).
//
// Every window is a record of its own, [key, end]: with early results its value is wanted again and again. A row fires its
// windows the latest first. A window that a late row makes, and which therefore never had its end, fires after every row.
type FiringAggregate struct {
	timed
	spec   Windowing
	firing Firing
	wall   wall
	aggs   *aggregates
	keys   batchKeys
	table  *state.Table
	ends   *state.Timers // by the time of spec.Window: a window's end, and where its lateness is over
	dues   *state.Timers // by processing time: delayed results
	late   *Counter

	progress int64 // windows that end by then have fired: the watermark, or the processing time - 1
	words    []uint64
	popped   []uint64
	spans    []int64
	results  rowBytes        // of the aggregates' values
	was, now []*types.Column // the last and the current values
	row      types.Batch     // now, as results wants it
	out      output

	rowsOf func(*types.Batch) error
	markOf func(int64) error
}

// What a window's record holds behind the accumulators.
const (
	firingWas   = iota // bytes: the values last given
	firingFlags        // firingGiven, firingEnded
	firingEarly        // when the next delayed result is due, 0: none is
	firingLate
	firingValues
)

const (
	firingGiven = 1 << iota // a result stands
	firingEnded             // the result of the end was given
)

// NewFiringAggregate makes the operator.
func NewFiringAggregate(spec Windowing, f Firing) *FiringAggregate {
	return &FiringAggregate{timed: timed{clock: NewClock(1)}, spec: spec, firing: f}
}

// Open compiles the aggregates and registers the state.
func (f *FiringAggregate) Open(ctx *Context) error {
	f.ctx = ctx
	var err error
	if f.aggs, err = newAggregates(f.spec.Aggs, f.spec.In, f.spec.Retract, ctx.Env); err != nil {
		return err
	}
	if f.spec.Window.Zoned || !f.spec.Window.Rowtime {
		f.wall = newWall(ctx.Env.Zone)
	}
	f.keys = newBatchKeys(f.spec.In, f.spec.Keys, ctx.MaxParallelism)
	if err := f.register(ctx.State); err != nil {
		return err
	}
	nk, na := len(f.spec.Keys), len(f.spec.Aggs)
	fields := f.spec.Out[nk : nk+na]
	f.results = newRowBytes(fields)
	for _, x := range fields {
		f.was, f.now = append(f.was, types.NewColumn(x.Type, 1)), append(f.now, types.NewColumn(x.Type, 1))
	}
	f.row = types.Batch{Cols: f.now, Len: 1}
	f.late = ctx.Counter("numLateRecordsDropped")
	f.out = newOutput(ctx.Out, f.spec.Out)
	f.progress = f.clock.Now()
	f.rowsOf, f.markOf = f.apply, f.advance
	f.wake()
	return nil
}

func (f *FiringAggregate) register(k *state.Keyed) error {
	d := state.Descriptor{Format: types.RowCodecVersion, Name: "windows", Key: keyColumns(f.spec.In, f.spec.Keys), Window: f.spec.Window.text(f.spec.In)}
	if f.wall.loc != nil {
		d.Zone = f.wall.loc.String()
	}
	var err error
	if f.ends, err = k.Timers(named(d, "ends")); err != nil {
		return err
	}
	if f.dues, err = k.Timers(named(d, "dues")); err != nil {
		return err
	}
	d.Values = f.aggs.infos()
	values := append(f.aggs.values[:len(f.aggs.values):len(f.aggs.values)], make([]state.Value, firingValues)...)
	values[len(f.aggs.values)+firingWas].Kind = state.Bytes
	f.table, err = k.Table(d, state.TableSpec{Values: values})
	return err
}

func named(d state.Descriptor, name string) state.Descriptor {
	d.Name = name
	return d
}

// Process adds rows to their windows.
func (f *FiringAggregate) Process(_ int, b *types.Batch) error {
	if err := b.Segments(f.rowsOf, f.markOf); err != nil {
		return err
	}
	f.wake()
	return f.out.flush()
}

func (f *FiringAggregate) apply(b *types.Batch) error {
	f.keys.encode(b)
	f.aggs.begin(b)
	now := f.ctx.Now().UnixMilli()
	if !f.spec.Window.Rowtime {
		f.progress = max(f.progress, now-1)
	}
	times := b.Cols[f.spec.Window.Column]
	for k, i := range b.Live() {
		ms := now
		if f.spec.Window.Rowtime {
			if times.Null(i) {
				return f.fail(errNullRowtime, b, i)
			}
			ms = millis(times, i)
		}
		if err := f.add(b, k, i, f.wall.local(ms)); err != nil {
			return f.fail(err, b, i)
		}
	}
	return nil
}

// fail sends what there is and gives the error of a row.
func (f *FiringAggregate) fail(err error, b *types.Batch, i int32) error {
	if e := f.out.flush(); e != nil {
		return e
	}
	return dataError(f.ctx, &types.RowError{Row: i, Err: err}, f.spec.In, b)
}

// add accumulates a row in the windows that hold its wall-clock time and are still kept.
func (f *FiringAggregate) add(b *types.Batch, k int, i int32, local int64) error {
	key := f.keys.at(k)
	taken := false
	f.spans = f.spec.Window.assign(local, f.spans[:0])
	for s := 1; s < len(f.spans); s += 2 {
		end := f.spans[s]
		if f.cleanup(end) <= f.progress {
			continue
		}
		taken = true
		at := f.keyOf(key, end)
		g := group{m: f.table.Of(key.Group)}
		g.ref, _ = g.m.Upsert(at)
		g.words = g.m.Touch(g.ref)
		var err error
		if b.Kind(i).Retract() {
			err = f.aggs.take(&g, b, k, i)
		} else {
			err = f.aggs.add(&g, b, k, i)
		}
		if err != nil {
			return err
		}
		if err := f.arrived(&g, at, end); err != nil {
			return err
		}
	}
	if !taken {
		f.late.Add(1)
	}
	return nil
}

// keyOf names a key's window, valid until the next call.
func (f *FiringAggregate) keyOf(key state.Key, end int64) state.Key {
	f.words = append(append(f.words[:0], key.Words...), uint64(end))
	return state.Key{Words: f.words, Hash: types.HashKey(f.words), Group: key.Group}
}

// cleanup gives the time by which a window is forgotten.
func (f *FiringAggregate) cleanup(end int64) int64 {
	return f.wall.timer(end-1) + f.firing.Lateness.Milliseconds()
}

// arrived fires a window that got a row, or sees to it that it will fire.
func (f *FiringAggregate) arrived(g *group, key state.Key, end int64) error {
	f.ends.Add(f.cleanup(end), key)
	at := f.wall.timer(end - 1)
	if at > f.progress {
		f.ends.Add(at, key)
		return f.fireOrWait(g, key, end, f.firing.Early, firingEarly)
	}
	if late := f.firing.Late; late != nil && f.word(g, firingFlags)&firingEnded != 0 {
		return f.fireOrWait(g, key, end, late, firingLate)
	}
	return f.fire(g, key, end)
}

// fireOrWait fires now or sets the timer of a delayed result.
func (f *FiringAggregate) fireOrWait(g *group, key state.Key, end int64, delay *time.Duration, which int) error {
	if delay == nil {
		return nil
	}
	if *delay == 0 {
		return f.fire(g, key, end)
	}
	if due := f.due(g, which); *due == 0 {
		*due = uint64(f.ctx.Now().Add(*delay).UnixMilli())
		f.dues.Add(int64(*due), key)
	}
	return nil
}

// due gives the time of the next early or late result. Periods of equal length are one.
func (f *FiringAggregate) due(g *group, which int) *uint64 {
	if e, l := f.firing.Early, f.firing.Late; e != nil && l != nil && *e == *l {
		which = firingEarly
	}
	return &g.words[len(f.aggs.values)+which]
}

func (f *FiringAggregate) word(g *group, which int) uint64 { return g.words[len(f.aggs.values)+which] }

// fire gives a window's result, if it is another than the last.
func (f *FiringAggregate) fire(g *group, key state.Key, end int64) error {
	flags := &g.words[len(f.aggs.values)+firingFlags]
	given := *flags&firingGiven != 0
	for n := range f.now {
		f.was[n].Reset()
		f.now[n].Reset()
	}
	if given {
		was, _ := g.m.Bytes(g.ref, len(f.aggs.values)+firingWas)
		if err := f.results.decode(was, f.was); err != nil {
			return fmt.Errorf("%s: %w", f.ctx.Name, err)
		}
	}
	if f.aggs.counted && g.words[0] == 0 {
		if !given {
			return nil
		}
		*flags &^= firingGiven
		return f.give(key, end, f.was, types.Delete)
	}
	if err := f.aggs.value(g, f.now); err != nil {
		return err
	}
	kind := types.Insert
	if given {
		if types.EqualRows(f.was, 0, f.now, 0) {
			return nil
		}
		if f.firing.UpdateBefore {
			if err := f.give(key, end, f.was, types.UpdateBefore); err != nil {
				return err
			}
		}
		kind = types.UpdateAfter
	}
	*flags |= firingGiven
	g.m.PutBytes(g.ref, len(f.aggs.values)+firingWas, f.results.of(&f.row, 0))
	return f.give(key, end, f.now, kind)
}

// give puts out a row of a window.
func (f *FiringAggregate) give(key state.Key, end int64, values []*types.Column, kind types.RowKind) error {
	nk, na := len(f.spec.Keys), len(f.spec.Aggs)
	if err := f.keys.codec.Decode(key.Words[:len(key.Words)-1], f.out.Cols[:nk]); err != nil {
		return fmt.Errorf("%s: %w", f.ctx.Name, err)
	}
	for n, c := range values {
		f.out.Cols[nk+n].AppendFrom(c, 0)
	}
	appendProps(f.out.Cols[nk+na:], f.spec.Props, f.spec.Window.startOf(end), end, &f.wall)
	return f.out.pushed(kind)
}

// Watermark fires windows.
func (f *FiringAggregate) Watermark(_ int, ms int64) error {
	if err := f.advance(ms); err != nil {
		return err
	}
	f.wake()
	return f.out.flush()
}

// Idle passes idleness on.
func (f *FiringAggregate) Idle(_ int, idle bool) error {
	f.clock.Idle(0, idle)
	return f.ctx.Out.Idle(idle)
}

func (f *FiringAggregate) advance(ms int64) error {
	if !f.clock.Watermark(0, ms) {
		return nil
	}
	if f.spec.Window.Rowtime {
		f.progress = ms
		if err := f.endUpTo(ms); err != nil {
			return err
		}
	}
	f.out.mark(ms)
	return nil
}

// OnTime gives delayed results, and those of processing-time windows.
func (f *FiringAggregate) OnTime(ms int64) error {
	for {
		end := int64(math.MaxInt64)
		if t := f.ends.Next(); !f.spec.Window.Rowtime && t != state.NoTimer {
			end = t + 1
		}
		var err error
		switch due := f.dues.Next(); {
		case end <= min(ms, due):
			f.progress = max(f.progress, end-1)
			err = f.endUpTo(end - 1)
		case due <= ms:
			err = f.fireDue(due, ms)
		default:
			f.wake()
			return f.out.flush()
		}
		if err != nil {
			return err
		}
	}
}

// wake asks for the next call of OnTime.
func (f *FiringAggregate) wake() {
	if t := f.dues.Next(); t != state.NoTimer {
		f.ctx.WakeAt(t)
	}
	if t := f.ends.Next(); !f.spec.Window.Rowtime && t != state.NoTimer {
		f.ctx.WakeAt(t + 1)
	}
}

// pop takes out the next timer with its window's record; a record that is gone has ref 0.
func (f *FiringAggregate) pop(timers *state.Timers, to int64) (t int64, key state.Key, g group, ok bool) {
	if t, key, ok = timers.Pop(to); !ok {
		return t, key, g, false
	}
	f.popped = append(f.popped[:0], key.Words...) // the timers' own words live until the next call
	key.Words = f.popped
	g = group{m: f.table.Of(key.Group)}
	if g.ref = g.m.Find(key); g.ref != 0 {
		g.words = g.m.Touch(g.ref)
	}
	return t, key, g, true
}

func endOf(key state.Key) int64 { return int64(key.Words[len(key.Words)-1]) }

// endUpTo fires the windows that end by then and forgets those that are kept no longer.
func (f *FiringAggregate) endUpTo(to int64) error {
	for {
		t, key, g, ok := f.pop(f.ends, to)
		if !ok {
			return nil
		}
		if g.ref == 0 {
			continue
		}
		end := endOf(key)
		if t == f.wall.timer(end-1) {
			g.words[len(f.aggs.values)+firingFlags] |= firingEnded
			if err := f.fire(&g, key, end); err != nil {
				return err
			}
		}
		if t < f.cleanup(end) {
			continue
		}
		for _, which := range []int{firingEarly, firingLate} {
			if due := f.word(&g, which); due != 0 {
				f.dues.Delete(int64(due), key)
			}
		}
		g.m.Delete(g.ref)
	}
}

// fireDue gives one delayed result and sets the time of the next one, behind now.
func (f *FiringAggregate) fireDue(to, now int64) error {
	t, key, g, ok := f.pop(f.dues, to)
	if !ok || g.ref == 0 {
		return nil
	}
	delay, which := f.firing.Early, firingEarly
	if f.firing.Late != nil && *f.firing.Late > 0 && f.word(&g, firingFlags)&firingEnded != 0 {
		delay, which = f.firing.Late, firingLate
	}
	due := f.due(&g, which)
	if delay == nil || int64(*due) != t { // that of early results, behind the end
		return nil
	}
	period := delay.Milliseconds()
	next := t + max(period, (now-t+period)/period*period)
	*due = uint64(next)
	f.dues.Add(next, key)
	return f.fire(&g, key, endOf(key))
}
