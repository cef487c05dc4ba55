package op

import (
	"fmt"
	"math"

	"runnel/state"
	"runnel/types"
)

// SessionAggregate aggregates by key over SESSION windows: a row at t makes the window [t, t+gap], which joins every open
// one of its key that it overlaps or touches. A window's result comes out once, as +I, when the watermark passes its end.
// A row is late (dropped and counted in numLateRecordsDropped) if the window that it would be part of has ended.
//
// A key's open windows are a sorted set of starts, each with its end and a number that names its accumulators. A window
// has a timer at or before its end: a timer that comes too early is set anew, so that rows which extend a window touch no
// timer.
type SessionAggregate struct {
	timed
	spec     Windowing
	wall     wall
	aggs     *aggregates
	rows     *sessionRows // nil for an aggregate
	keys     batchKeys
	windows  *state.Table
	accs     *state.Table
	timers   *state.Timers
	late     *Counter
	progress int64    // the watermark, or the processing time - 1
	words    []uint64 // of accKey
	open     openSessions
	runs     *sessionRuns // nil where rows are added one by one
	popped   []uint64     // the key whose windows fire
	out      output

	rowsOf func(*types.Batch) error
	markOf func(int64) error
}

// Values of an element of a key's windows: [OrderedInt(start)] -> end, number.
const (
	sessionEnd = iota
	sessionNumber
	sessionValues
)

func newSessionAggregate(spec Windowing) *SessionAggregate {
	return &SessionAggregate{timed: timed{clock: NewClock(1)}, spec: spec}
}

// Open compiles the aggregates.
func (s *SessionAggregate) Open(ctx *Context) error {
	s.ctx = ctx
	var err error
	if s.aggs, err = newAggregates(s.spec.Aggs, s.spec.In, s.spec.Retract, ctx.Env); err != nil {
		return err
	}
	if !s.aggs.mergeable() {
		return fmt.Errorf("an aggregate of %s cannot be merged, as session windows need it", ctx.Name)
	}
	if s.spec.Window.Zoned || !s.spec.Window.Rowtime {
		s.wall = newWall(ctx.Env.Zone)
	}
	s.keys = newBatchKeys(s.spec.In, s.spec.Keys, ctx.MaxParallelism)
	if err := s.register(ctx.State); err != nil {
		return err
	}
	s.late = ctx.Counter("numLateRecordsDropped")
	s.out = newOutput(ctx.Out, s.spec.Out)
	s.progress = s.clock.Now()
	s.rowsOf, s.markOf = s.apply, s.advance
	if s.rows == nil && s.aggs.foldable() {
		s.runs = new(sessionRuns)
	}
	s.wake()
	return nil
}

func (s *SessionAggregate) register(k *state.Keyed) error {
	d := state.Descriptor{Format: 1, Name: "windows", Key: keyColumns(s.spec.In, s.spec.Keys), Window: s.spec.Window.text(s.spec.In)}
	if s.wall.loc != nil {
		d.Zone = s.wall.loc.String()
	}
	var err error
	s.windows, err = k.Table(d, state.TableSpec{Values: []state.Value{{Kind: state.Sorted, Elem: state.Words(sessionValues), Short: true}}})
	if err != nil {
		return err
	}
	d.Name = "timers"
	if s.timers, err = k.Timers(d); err != nil {
		return err
	}
	if s.rows != nil {
		d.Name, d.Format, d.Values = "rows", types.RowCodecVersion, rowInfos(s.spec.In)
		s.accs, err = k.Table(d, state.TableSpec{Values: s.rows.values()})
		return err
	}
	d.Name = "accumulators"
	d.Values = s.aggs.infos()
	s.accs, err = k.Table(d, state.TableSpec{Values: s.aggs.values})
	return err
}

// Process adds rows to their windows.
func (s *SessionAggregate) Process(_ int, b *types.Batch) error {
	if err := b.Segments(s.rowsOf, s.markOf); err != nil {
		return err
	}
	return s.out.flush()
}

func (s *SessionAggregate) apply(b *types.Batch) error {
	s.keys.encode(b)
	s.aggs.begin(b)
	if s.windows.Len() > 16*maxOpenSessions {
		s.windows.Stage(s.keys.Hash, s.keys.group)
	}
	times := b.Cols[s.spec.Window.Column]
	now := s.ctx.Now().UnixMilli()
	for k, i := range b.Live() {
		ms := now
		if s.spec.Window.Rowtime {
			if times.Null(i) {
				return s.fail(errNullRowtime, b, i)
			}
			ms = floorDiv(times.Int[i], 1000)
		}
		if err := s.row(b, k, i, s.wall.local(ms)); err != nil {
			return s.fail(err, b, i)
		}
	}
	if s.runs != nil {
		s.runs.fold(s, b)
	}
	s.wake()
	return nil
}

// fail sends what there is and gives the error of a row.
func (s *SessionAggregate) fail(err error, b *types.Batch, i int32) error {
	if e := s.out.flush(); e != nil {
		return e
	}
	return dataError(s.ctx, &types.RowError{Row: i, Err: err}, s.spec.In, b)
}

// row adds a row at a wall-clock time.
func (s *SessionAggregate) row(b *types.Batch, k int, i int32, t int64) error {
	key := s.keys.at(k)
	o := s.open.of(key)
	if !o.is(key) || !s.fits(o, key.Group, t) {
		if ok, err := s.place(o, key, t, b); err != nil || !ok {
			if err == nil {
				s.late.Add(1)
			}
			return err
		}
	}
	m := s.accs.Of(key.Group)
	if o.acc == 0 || o.accMoves != m.Moves() {
		if s.runs != nil && m.Cramped() {
			s.runs.fold(s, b)
		}
		o.acc, _ = m.Upsert(s.accKey(key, o.number))
		o.accMoves = m.Moves()
	}
	if s.runs != nil {
		s.runs.take(s, m, o.acc, b, i)
		return nil
	}
	g := group{m, o.acc, m.Touch(o.acc)}
	if s.rows != nil {
		s.rows.add(&g, b, i)
		return nil
	}
	if b.Kind(i).Retract() {
		return s.aggs.take(&g, b, k, i)
	}
	return s.aggs.add(&g, b, k, i)
}

// fits reports whether a row at t needs no more of an open session than a later end, which it gets.
func (s *SessionAggregate) fits(o *openSession, group int32, t int64) bool {
	end := t + s.spec.Window.Size
	if t < o.start || t > o.end || end >= o.before {
		return false
	}
	if end <= o.end {
		return true
	}
	set := s.windows.Of(group).Collection(0)
	if o.moves != set.Moves() {
		return false
	}
	set.Touch(o.elem)[sessionEnd] = uint64(end)
	o.end = end
	return true
}

// accKey is the key of a window's accumulators, valid until the next call.
func (s *SessionAggregate) accKey(key state.Key, number uint64) state.Key {
	s.words = append(append(s.words[:0], key.Words...), number)
	return state.Key{Words: s.words, Hash: types.HashKey(s.words), Group: key.Group}
}

// place finds or makes the session of a row at t, joining others as need be, and makes it the open one o; false: late. Rows
// of b may wait for accumulators.
func (s *SessionAggregate) place(o *openSession, key state.Key, t int64, b *types.Batch) (ok bool, err error) {
	m := s.windows.Of(key.Group)
	owner := m.Find(key)
	start, end := t, t+s.spec.Window.Size
	if owner == 0 {
		if s.wall.timer(end-1) <= s.progress {
			return false, nil
		}
		owner, _ = m.Upsert(key)
	}
	set := m.Collection(0)
	before := int64(math.MaxInt64)
	e := set.Last(owner)
	for e != 0 && s.start(set, e) > end {
		before = s.start(set, e)
		e = set.Prev(e)
	}
	number, joined := uint64(t), false
	for e != 0 && int64(set.Get(e)[sessionEnd]) >= t {
		other, from, to := set.Get(e)[sessionNumber], s.start(set, e), int64(set.Get(e)[sessionEnd])
		if !joined && from <= t { // the commonest case: no more than a later end, at most
			if end > to {
				set.Touch(e)[sessionEnd] = uint64(end)
			}
			o.set(key, set, e, before, other)
			return true, nil
		}
		start, end = min(start, from), max(end, to)
		if joined {
			if err := s.join(key, number, other, b); err != nil {
				return false, err
			}
		} else {
			number, joined = other, true
		}
		last := set.Prev(e)
		set.Remove(owner, e)
		e = last
	}
	if !joined && s.wall.timer(end-1) <= s.progress {
		if set.Len(owner) == 0 {
			m.Delete(owner)
		}
		return false, nil
	}
	e, _ = set.Add(owner, []uint64{state.OrderedInt(start)})
	v := set.Touch(e)
	v[sessionEnd], v[sessionNumber] = uint64(end), number
	if !joined {
		s.timers.Add(s.wall.timer(end-1), key)
	}
	o.set(key, set, e, before, number)
	return true, nil
}

func (s *SessionAggregate) start(set state.Collection, e state.Ref) int64 {
	return state.IntOf(set.Elem(e)[0])
}

// join merges the accumulators of one window into those of another, behind the rows of b that wait for them.
func (s *SessionAggregate) join(key state.Key, into, from uint64, b *types.Batch) error {
	if s.runs != nil {
		s.runs.fold(s, b)
	}
	m := s.accs.Of(key.Group)
	dst, src := group{m: m}, group{m: m}
	dst.ref, _ = m.Upsert(s.accKey(key, into))
	if src.ref = m.Find(s.accKey(key, from)); src.ref == 0 {
		return nil
	}
	dst.words, src.words = m.Touch(dst.ref), m.Get(src.ref)
	if s.rows != nil {
		s.rows.move(&dst, &src)
	} else if err := s.aggs.merge(&dst, &src); err != nil {
		return err
	}
	m.Delete(src.ref)
	return nil
}

// Watermark gives the results of windows.
func (s *SessionAggregate) Watermark(_ int, ms int64) error {
	if err := s.advance(ms); err != nil {
		return err
	}
	return s.out.flush()
}

// Idle passes idleness on.
func (s *SessionAggregate) Idle(_ int, idle bool) error {
	s.clock.Idle(0, idle)
	return s.ctx.Out.Idle(idle)
}

func (s *SessionAggregate) advance(ms int64) error {
	if !s.clock.Watermark(0, ms) {
		return nil
	}
	if s.spec.Window.Rowtime {
		if err := s.fireUpTo(ms); err != nil {
			return err
		}
	}
	s.out.mark(ms)
	return nil
}

// OnTime fires processing-time windows.
func (s *SessionAggregate) OnTime(ms int64) error {
	if s.spec.Window.Rowtime {
		return nil
	}
	if err := s.fireUpTo(ms - 1); err != nil {
		return err
	}
	s.wake()
	return s.out.flush()
}

// wake sets the timer of the next processing-time window.
func (s *SessionAggregate) wake() {
	if t := s.timers.Next(); !s.spec.Window.Rowtime && t != state.NoTimer {
		s.ctx.WakeAt(t + 1)
	}
}

// fireUpTo gives the results of all windows whose last millisecond is at or before progress, in the order of their ends.
func (s *SessionAggregate) fireUpTo(progress int64) error {
	s.progress = progress
	for {
		t, key, ok := s.timers.Pop(progress)
		if !ok {
			return nil
		}
		s.popped = append(s.popped[:0], key.Words...) // the timers' own words live until the next call
		key.Words = s.popped
		if err := s.fire(t, key); err != nil {
			return err
		}
	}
}

// fire gives the result of the window of a key whose timer is t. Windows that have grown since get a new timer.
func (s *SessionAggregate) fire(t int64, key state.Key) error {
	m := s.windows.Of(key.Group)
	owner := m.Find(key)
	if owner == 0 {
		return nil
	}
	s.open.of(key).close(key)
	set := m.Collection(0)
	for e := set.First(owner); e != 0; {
		next := set.Next(e)
		end := int64(set.Get(e)[sessionEnd])
		if at := s.wall.timer(end - 1); at > t {
			s.timers.Add(at, key)
		} else {
			if err := s.emit(key, s.start(set, e), end, set.Get(e)[sessionNumber]); err != nil {
				return err
			}
			set.Remove(owner, e)
		}
		e = next
	}
	if set.Len(owner) == 0 {
		m.Delete(owner)
	}
	return nil
}

// emit gives a window's result and drops its accumulators.
func (s *SessionAggregate) emit(key state.Key, start, end int64, number uint64) error {
	nk, na := len(s.spec.Keys), len(s.spec.Aggs)
	g := group{m: s.accs.Of(key.Group)}
	if g.ref = g.m.Find(s.accKey(key, number)); g.ref == 0 {
		return nil
	}
	g.words = g.m.Get(g.ref)
	if s.rows != nil {
		err := s.rows.give(s, &g, start, end)
		g.m.Delete(g.ref)
		return err
	}
	if s.aggs.counted && g.words[0] == 0 {
		g.m.Delete(g.ref)
		return nil
	}
	if err := s.keys.codec.Decode(key.Words, s.out.Cols[:nk]); err != nil {
		return fmt.Errorf("%s: %w", s.ctx.Name, err)
	}
	if err := s.aggs.value(&g, s.out.Cols[nk:nk+na]); err != nil {
		return err
	}
	g.m.Delete(g.ref)
	appendProps(s.out.Cols[nk+na:], s.spec.Props, start, end, &s.wall)
	return s.out.pushed(types.Insert)
}

// appendProps appends a window's columns; start and end are wall-clock ms.
func appendProps(cols []*types.Column, props []WindowProp, start, end int64, w *wall) {
	for p, prop := range props {
		switch prop {
		case WindowStart:
			cols[p].AppendInt(start * 1000)
		case WindowEnd:
			cols[p].AppendInt(end * 1000)
		default:
			cols[p].AppendInt(w.epoch(end-1) * 1000)
		}
	}
}
