package op

import (
	"math"
	"slices"

	"runnel/state"
	"runnel/types"
)

// TemporalSort gives the rows of an append-only input in the order of their times, and of further keys among equal times,
// when the watermark (or the clock) has passed them. A row at or behind the time of the last row given out is dropped in
// silence: it comes too late for its place. It runs as one subtask.
type TemporalSort struct {
	timed
	in      []types.Field
	rowtime bool
	column  int // of the time
	order   ordering
	rows    *state.Log
	table   *state.Table
	ready   *types.Batch // rows of one time that are being given out, if there are further keys
	places  []int32      // of its rows
	out     output

	rowsOf func(*types.Batch) error
	markOf func(int64) error
}

// NewTemporalSort makes the operator; the first key is the time attribute, ascending.
func NewTemporalSort(in []types.Field, keys []SortKey) *TemporalSort {
	t := in[keys[0].Column].Type
	return &TemporalSort{timed: timed{clock: NewClock(1)}, in: in, column: keys[0].Column, rowtime: t.Attr != types.Proctime, order: keys[1:]}
}

// Open registers the state.
func (s *TemporalSort) Open(ctx *Context) error {
	s.ctx = ctx
	s.out = newOutput(ctx.Out, s.in)
	s.ready = types.NewBatch(s.in)
	s.rowsOf, s.markOf = s.apply, s.advance
	d := state.Descriptor{Format: types.RowCodecVersion, Name: "rows", Values: rowInfos(s.in), Bounds: s.in[s.column].Source() + "; "}
	for _, k := range s.order {
		d.Bounds += sortKeyText(s.in, k) + "; "
	}
	var err error
	if s.rows, err = ctx.State.Log(d, state.LogSpec{Columns: allTypes(s.in), Ordered: true, Unkeyed: true}); err != nil {
		return err
	}
	// The time of the last row given out.
	s.table, err = ctx.State.Table(state.Descriptor{Format: 1, Name: "last", Bounds: d.Bounds}, state.TableSpec{Values: state.Words(1)})
	if !s.rowtime {
		s.wake()
	}
	return err
}

// key is that of all rows.
func (s *TemporalSort) key() state.Key {
	key := state.Key{Hash: types.HashKey(nil)}
	key.Group = int32(types.KeyGroup(key.Hash, s.ctx.MaxParallelism))
	return key
}

// last gives the time of the last row given out.
func (s *TemporalSort) last() int64 {
	key := s.key()
	m := s.table.Of(key.Group)
	if r := m.Find(key); r != 0 {
		return int64(m.Get(r)[0])
	}
	return math.MinInt64
}

// Process keeps the rows.
func (s *TemporalSort) Process(_ int, b *types.Batch) error {
	if err := b.Segments(s.rowsOf, s.markOf); err != nil {
		return err
	}
	return s.out.flush()
}

func (s *TemporalSort) apply(b *types.Batch) error {
	now, last, key := s.ctx.Now().UnixMilli(), s.last(), s.key()
	for _, i := range b.Live() {
		t := now
		if s.rowtime {
			if b.Cols[s.column].Null(i) {
				if err := s.out.flush(); err != nil {
					return err
				}
				return dataError(s.ctx, &types.RowError{Row: i, Err: errNullRowtime}, s.in, b)
			}
			t = millis(b.Cols[s.column], i)
		}
		if !s.rowtime || t > last {
			s.rows.Append(key, t, b.Cols, i)
		}
	}
	if !s.rowtime {
		s.ctx.WakeAt(now + 1)
	}
	return nil
}

// Watermark gives the rows that it has passed.
func (s *TemporalSort) Watermark(_ int, ms int64) error {
	if err := s.advance(ms); err != nil {
		return err
	}
	return s.out.flush()
}

// Idle passes idleness on.
func (s *TemporalSort) Idle(_ int, idle bool) error {
	s.clock.Idle(0, idle)
	return s.ctx.Out.Idle(idle)
}

func (s *TemporalSort) advance(ms int64) error {
	if !s.clock.Watermark(0, ms) {
		return nil
	}
	if s.rowtime {
		if err := s.giveUpTo(ms); err != nil {
			return err
		}
	}
	s.out.mark(ms)
	return nil
}

// OnTime gives the rows of past milliseconds.
func (s *TemporalSort) OnTime(ms int64) error {
	if s.rowtime {
		return nil
	}
	if err := s.giveUpTo(ms - 1); err != nil {
		return err
	}
	s.wake()
	return s.out.flush()
}

// wake sets the timer for rows of processing time that wait.
func (s *TemporalSort) wake() {
	if t := s.rows.Next(); t != math.MaxInt64 {
		s.ctx.WakeAt(t + 1)
	}
}

// giveUpTo gives the rows whose time is at most t.
func (s *TemporalSort) giveUpTo(t int64) error {
	var failed error
	last := s.last()
	was := last
	s.rows.Leave(t, func(r state.Row) {
		if failed != nil {
			return
		}
		at := s.rows.Time(r)
		if len(s.order) == 0 {
			s.rows.Emit(r, s.out.Cols)
			failed = s.out.pushed(types.Insert)
		} else {
			if at != last {
				failed = s.giveReady()
			}
			s.rows.Emit(r, s.ready.Cols)
			s.ready.Push(types.Insert)
		}
		last = at
	})
	if failed == nil {
		failed = s.giveReady()
	}
	if last != was {
		key := s.key()
		m := s.table.Of(key.Group)
		r, _ := m.Upsert(key)
		m.Touch(r)[0] = uint64(last)
	}
	return failed
}

// giveReady gives the rows of one time by the further keys, then in the order in which they came.
func (s *TemporalSort) giveReady() error {
	s.places = s.places[:0]
	for i := range s.ready.Len {
		s.places = append(s.places, int32(i))
	}
	slices.SortStableFunc(s.places, func(a, b int32) int { return s.order.compare(s.ready.Cols, a, s.ready.Cols, b) })
	for _, i := range s.places {
		for j, c := range s.ready.Cols {
			s.out.Cols[j].AppendFrom(c, i)
		}
		if err := s.out.pushed(types.Insert); err != nil {
			return err
		}
	}
	s.ready.Reset()
	return nil
}
