package op

import (
	"fmt"
	"math"
	"slices"

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
	at       sessionPlace
	popped   []uint64 // the key whose windows fire
	out      output

	rowsOf func(*types.Batch) error
	markOf func(int64) error
}

// sessionPlace is where a row went. The next one often has the same key, and goes there too.
type sessionPlace struct {
	live   int // which live row
	set    state.Collection
	elem   state.Ref // the window
	before int64     // the start of the window behind it
	group
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
	s.windows.Stage(s.keys.Hash, s.keys.group)
	s.at.live = -1
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
	p := &s.at
	if k == 0 || p.live != k-1 || t+s.spec.Window.Size >= p.before ||
		!slices.Equal(s.keys.Key(k), s.keys.Key(k-1)) || !s.fits(p.set, p.elem, t) {
		key := s.keys.at(k)
		number, ok, err := s.place(key, t)
		if err != nil {
			return err
		}
		if !ok {
			s.late.Add(1)
			return nil
		}
		p.m = s.accs.Of(key.Group)
		p.ref, _ = p.m.Upsert(s.accKey(key, number))
	}
	p.live, p.words = k, p.m.Touch(p.ref)
	if s.rows != nil {
		s.rows.add(&p.group, b, i)
		return nil
	}
	if b.Kind(i).Retract() {
		return s.aggs.take(&p.group, b, k, i)
	}
	return s.aggs.add(&p.group, b, k, i)
}

// fits reports whether a row at t needs no more of a window than a later end, which it gets. No window behind it begins
// by then.
func (s *SessionAggregate) fits(set state.Collection, e state.Ref, t int64) bool {
	end := int64(set.Get(e)[sessionEnd])
	if t < s.start(set, e) || t > end {
		return false
	}
	if t+s.spec.Window.Size > end {
		set.Touch(e)[sessionEnd] = uint64(t + s.spec.Window.Size)
	}
	return true
}

// accKey is the key of a window's accumulators, valid until the next call.
func (s *SessionAggregate) accKey(key state.Key, number uint64) state.Key {
	s.words = append(append(s.words[:0], key.Words...), number)
	return state.Key{Words: s.words, Hash: types.HashKey(s.words), Group: key.Group}
}

// place finds or makes the window of a row at t, joining others as need be, and gives its number; false: late.
func (s *SessionAggregate) place(key state.Key, t int64) (number uint64, ok bool, err error) {
	m := s.windows.Of(key.Group)
	owner := m.Find(key)
	start, end := t, t+s.spec.Window.Size
	if owner == 0 {
		if s.wall.timer(end-1) <= s.progress {
			return 0, false, nil
		}
		owner, _ = m.Upsert(key)
	}
	set := m.Collection(0)
	e := set.Last(owner)
	s.at.before = math.MaxInt64
	for e != 0 && s.start(set, e) > end {
		s.at.before = s.start(set, e)
		e = set.Prev(e)
	}
	s.at.set, s.at.elem = set, e
	if e != 0 && s.fits(set, e, t) { // the commonest case
		return set.Get(e)[sessionNumber], true, nil
	}
	number, joined := uint64(t), false
	for e != 0 && int64(set.Get(e)[sessionEnd]) >= t {
		before := set.Prev(e)
		other := set.Get(e)[sessionNumber]
		start, end = min(start, s.start(set, e)), max(end, int64(set.Get(e)[sessionEnd]))
		if joined {
			if err := s.join(key, number, other); err != nil {
				return 0, false, err
			}
		} else {
			number, joined = other, true
		}
		set.Remove(owner, e)
		e = before
	}
	if !joined && s.wall.timer(end-1) <= s.progress {
		if set.Len(owner) == 0 {
			m.Delete(owner)
		}
		return 0, false, nil
	}
	e, _ = set.Add(owner, []uint64{state.OrderedInt(start)})
	s.at.elem = e
	v := set.Touch(e)
	v[sessionEnd], v[sessionNumber] = uint64(end), number
	if !joined {
		s.timers.Add(s.wall.timer(end-1), key)
	}
	return number, true, nil
}

func (s *SessionAggregate) start(set state.Collection, e state.Ref) int64 {
	return state.IntOf(set.Elem(e)[0])
}

// join merges the accumulators of one window into those of another.
func (s *SessionAggregate) join(key state.Key, into, from uint64) error {
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
