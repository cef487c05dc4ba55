package op

import (
	"math"

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
	rows    rowBytes
	table   *state.Table
	words   []uint64
	out     output

	rowsOf func(*types.Batch) error
	markOf func(int64) error
}

// Values of the one record: the rows in their order, the number of arrivals, the time of the last row given out.
const (
	sortRows = iota
	sortArrivals
	sortLast
)

// NewTemporalSort makes the operator; the first key is the time attribute, ascending.
func NewTemporalSort(in []types.Field, keys []SortKey) *TemporalSort {
	t := in[keys[0].Column].Type
	return &TemporalSort{timed: timed{clock: NewClock(1)}, in: in, column: keys[0].Column, rowtime: t.Attr != types.Proctime, order: keys[1:]}
}

// Open registers the state.
func (s *TemporalSort) Open(ctx *Context) error {
	s.ctx = ctx
	s.rows = newRowBytes(s.in)
	s.out = newOutput(ctx.Out, s.in)
	s.rowsOf, s.markOf = s.apply, s.advance
	d := state.Descriptor{Format: types.RowCodecVersion, Name: "rows", Values: rowInfos(s.in), Bounds: s.in[s.column].Source() + "; "}
	for _, k := range s.order {
		d.Bounds += sortKeyText(s.in, k) + "; "
	}
	var err error
	s.table, err = ctx.State.Table(d, state.TableSpec{Values: []state.Value{
		sortRows:     {Kind: state.Sorted, Elem: []state.Value{{Kind: state.Bytes}}},
		sortArrivals: {},
		sortLast:     {},
	}})
	if !s.rowtime {
		s.wake()
	}
	return err
}

// record gives the one record, or none.
func (s *TemporalSort) record(create bool) (*state.Map, state.Ref) {
	key := state.Key{Hash: types.HashKey(nil)}
	key.Group = int32(types.KeyGroup(key.Hash, s.ctx.MaxParallelism))
	m := s.table.Of(key.Group)
	if !create {
		return m, m.Find(key)
	}
	owner, fresh := m.Upsert(key)
	if fresh {
		last := int64(math.MinInt64)
		m.Touch(owner)[sortLast] = uint64(last)
	}
	return m, owner
}

// Process keeps the rows.
func (s *TemporalSort) Process(_ int, b *types.Batch) error {
	if err := b.Segments(s.rowsOf, s.markOf); err != nil {
		return err
	}
	return s.out.flush()
}

func (s *TemporalSort) apply(b *types.Batch) error {
	m, owner := s.record(true)
	rows := m.Collection(sortRows)
	now := s.ctx.Now().UnixMilli()
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
		values := m.Touch(owner)
		if s.rowtime && t <= int64(values[sortLast]) {
			continue
		}
		values[sortArrivals]++
		s.words = s.order.words(append(s.words[:0], state.OrderedInt(t)), b.Cols, i)
		s.words = append(s.words, values[sortArrivals])
		e, _ := rows.Add(owner, s.words)
		rows.PutBytes(e, 0, s.rows.of(b, i))
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
	if m, owner := s.record(false); owner != 0 && m.Collection(sortRows).Len(owner) > 0 {
		rows := m.Collection(sortRows)
		s.ctx.WakeAt(state.IntOf(rows.Elem(rows.First(owner))[0]) + 1)
	}
}

// giveUpTo gives the rows whose time is at most t.
func (s *TemporalSort) giveUpTo(t int64) error {
	m, owner := s.record(false)
	if owner == 0 {
		return nil
	}
	rows := m.Collection(sortRows)
	for e := rows.First(owner); e != 0; e = rows.First(owner) {
		at := state.IntOf(rows.Elem(e)[0])
		if at > t {
			return nil
		}
		row, _ := rows.Bytes(e, 0)
		if err := s.rows.decode(row, s.out.Cols); err != nil {
			return err
		}
		m.Touch(owner)[sortLast] = uint64(at)
		rows.Remove(owner, e)
		if err := s.out.pushed(types.Insert); err != nil {
			return err
		}
	}
	return nil
}
