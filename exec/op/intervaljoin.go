package op

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"runnel/expr"
	"runnel/state"
	"runnel/types"
)

// JoinKind is the kind of a join.
type JoinKind uint8

const (
	Inner JoinKind = iota
	Left
	Right
	Full
	Semi
	Anti
)

// IntervalJoining is what an IntervalJoin does. Its rows are the left columns, then the right ones.
type IntervalJoining struct {
	Kind                JoinKind // Inner, Left, Right or Full
	Left, Right         []types.Field
	LeftKeys, RightKeys []int
	LeftTime, RightTime int // of event time; unused in processing time
	// Lower and Upper bound the time of the right row relative to that of the left row, in ms, both inclusive.
	Lower, Upper int64
	Rowtime      bool
	Cond         expr.Expr // over the joined row; nil for none
	NullSafe     []bool    // per key: NULL equals NULL; nil for none
}

// IntervalJoin joins rows of two append-only inputs whose keys are equal and whose times lie within bounds of each other.
// A pair comes out when its second row arrives; a row of an outer side without partner comes out, padded with NULLs, when
// event time leaves no chance of one, in the order of the rows' times. Late rows are not dropped: they join what is still
// there. Rows are kept in a log per side, just as long as a partner may come.
//
// The watermark is held back by the greater bound, so that both rows' times stay ahead of it.
type IntervalJoin struct {
	timed
	spec   IntervalJoining
	fields []types.Field
	sides  [2]*joinSide
	delay  int64 // of the watermark, in ms
	empty  bool  // the bounds leave no time at all
	out    output

	cond    expr.Filter
	cand    *types.Batch // rows that wait for the condition
	pairs   []joinPair   // of the rows in cand
	passed  []int32      // scratch of the condition
	passes  int          // rows for which the condition was true
	matches []state.Row  // scratch of a probe, newest first
	newest  [state.FindRows]state.Row
	times   [state.FindRows]int64
	skip    [state.FindRows]bool // they are not kept
	apart   bool                 // rows are kept one by one, because their names are needed or they are few
	seen    int                  // live rows of the batch in the segments so far

	rowsOf [2]func(*types.Batch) error
	markOf [2]func(int64) error
}

// fewRows is the number of rows below which it does not pay to keep them together.
const fewRows = 4

// joinSide is one input.
type joinSide struct {
	fields []types.Field
	first  int // its first column in the output
	keys   batchKeys
	time   int
	strict []int // key columns in which NULL equals nothing
	log    *state.Log
	keep   int64 // a row is kept until the time is more than keep ahead of it, in ms
	outer  bool

	lower, upper int64 // where partners lie relative to a row, in ms
}

// joinPair is a candidate: rows of which it must be known whether they have a partner, 0 for none.
type joinPair struct{ mine, other state.Row }

// NewIntervalJoin makes the operator.
func NewIntervalJoin(spec IntervalJoining) *IntervalJoin {
	return &IntervalJoin{timed: timed{clock: NewClock(2)}, spec: spec}
}

// Open registers the logs.
func (j *IntervalJoin) Open(ctx *Context) error {
	j.ctx = ctx
	s := &j.spec
	if s.Kind > Full {
		return fmt.Errorf("interval join of kind %d is not supported", s.Kind)
	}
	j.empty = s.Lower > s.Upper
	if s.Rowtime && !j.empty {
		j.delay = max(s.Upper, -s.Lower)
	}
	j.sides[0] = &joinSide{fields: s.Left, time: s.LeftTime, keep: s.Upper, lower: s.Lower, upper: s.Upper,
		outer: s.Kind == Left || s.Kind == Full, keys: newBatchKeys(s.Left, s.LeftKeys, ctx.MaxParallelism)}
	j.sides[1] = &joinSide{fields: s.Right, time: s.RightTime, keep: -s.Lower, lower: -s.Upper, upper: -s.Lower,
		outer: s.Kind == Right || s.Kind == Full, keys: newBatchKeys(s.Right, s.RightKeys, ctx.MaxParallelism),
		first: len(s.Left)}
	for i, name := range [2]string{"left", "right"} {
		side := j.sides[i]
		for k, c := range side.keys.cols {
			if s.NullSafe == nil || !s.NullSafe[k] {
				side.strict = append(side.strict, c)
			}
		}
		if err := side.open(ctx, j.descriptor(name, side), s.Upper-s.Lower); err != nil {
			return err
		}
		j.rowsOf[i] = func(b *types.Batch) error { return j.apply(i, b) }
		j.markOf[i] = func(ms int64) error { return j.advance(i, ms) }
	}
	j.fields = slices.Concat(s.Left, s.Right)
	if s.Cond != nil {
		var err error
		if j.cond, err = expr.CompileFilter(s.Cond, j.fields, ctx.Env); err != nil {
			return fmt.Errorf("join condition %s: %w", s.Cond, err)
		}
		j.cand = types.NewBatch(j.fields)
	}
	j.out = newOutput(ctx.Out, j.fields)
	j.wake()
	return nil
}

func (j *IntervalJoin) descriptor(name string, side *joinSide) state.Descriptor {
	d := state.Descriptor{Format: 1, Name: name, Key: keyColumns(side.fields, side.keys.cols), Values: rowInfos(side.fields)}
	d.Bounds = fmt.Sprintf("%d ms .. %d ms", j.spec.Lower, j.spec.Upper)
	return d
}

func (s *joinSide) open(ctx *Context, d state.Descriptor, size int64) error {
	spec := state.LogSpec{Columns: allTypes(s.fields), Key: s.keys.cols, Ordered: s.outer, Span: max(size/4, 1)}
	if s.outer {
		spec.Side = 1
	}
	var err error
	s.log, err = ctx.State.Log(d, spec)
	return err
}

// Process joins rows of an input.
func (j *IntervalJoin) Process(input int, b *types.Batch) error {
	j.sides[input].keys.encode(b)
	j.seen = 0
	if err := b.Segments(j.rowsOf[input], j.markOf[input]); err != nil {
		return err
	}
	if err := j.settle(); err != nil {
		return err
	}
	return j.out.flush()
}

func (j *IntervalJoin) apply(input int, b *types.Batch) error {
	my, other := j.sides[input], j.sides[1-input]
	if j.empty && !my.outer {
		return nil
	}
	now := j.clock.Now()
	if !j.spec.Rowtime {
		now = j.ctx.Now().UnixMilli()
	}
	for live := b.Live(); len(live) > 0; {
		n := min(len(live), state.FindRows)
		if err := j.applySome(my, other, b, live[:n], now); err != nil {
			return err
		}
		live = live[n:]
	}
	return nil
}

// applySome joins some rows, at most state.FindRows.
func (j *IntervalJoin) applySome(my, other *joinSide, b *types.Batch, rows []int32, now int64) error {
	// No row of the other side comes or goes meanwhile.
	newest, keys := j.newest[:len(rows)], &my.keys
	from := j.seen
	j.seen += len(rows)
	other.log.Newests(&keys.Keys, keys.group, from, newest)
	j.apart = my.outer || len(rows) < fewRows
	if j.apart {
		my.log.Stage(keys.Hash[from:j.seen], keys.group[from:j.seen])
	}
	times := b.Cols[my.time]
	for k, i := range rows {
		t := now
		if j.spec.Rowtime {
			if times.Null(i) {
				return j.fail(errNullRowtime, my, b, i)
			}
			t = floorDiv(times.Int[i], 1000)
		}
		if !j.apart {
			j.times[k], j.skip[k] = t, my.nullKey(b, i) || now >= add(t, my.keep)
		}
		if err := j.row(my, other, b, from+k, i, t, now, newest[k]); err != nil {
			return err
		}
	}
	if !j.apart {
		my.log.AppendAll(&keys.Keys, keys.group, from, rows, j.times[:], b.Cols, j.skip[:])
	}
	return nil
}

// row joins one row, the k-th live and i-th physical one of b, with time t. newest is the newest row of its key on the
// other side.
func (j *IntervalJoin) row(my, other *joinSide, b *types.Batch, k int, i int32, t, now int64, newest state.Row) error {
	if j.empty {
		return j.pad(my, b, i)
	}
	matchable := !my.nullKey(b, i)
	j.matches = j.matches[:0]
	if matchable && newest != 0 {
		j.matches = other.probe(j.matches, newest, add(t, my.lower), add(t, my.upper), now)
	}
	kept := state.Row(0)
	if (matchable || my.outer) && now < add(t, my.keep) {
		if j.apart {
			kept = my.log.Append(my.keys.at(k), t, b.Cols, i)
		}
		j.wakeFor(my, t)
	}
	if kept != 0 || !my.outer {
		return j.pairAll(my, other, b, i, kept)
	}
	// A late row of an outer side: whether it has a partner must be known at once.
	if err := j.settle(); err != nil {
		return err
	}
	before := j.passes
	if err := j.pairAll(my, other, b, i, 0); err != nil {
		return err
	}
	if err := j.settle(); err != nil {
		return err
	}
	if j.passes > before {
		return nil
	}
	return j.pad(my, b, i)
}

// probe appends the rows of the side from the given one on in the chain of its key that have a time within bounds, newest
// first. What time has left behind is no longer there, though the log may still hold it.
func (s *joinSide) probe(dst []state.Row, r state.Row, lower, upper, now int64) []state.Row {
	lower = max(lower, sub(now, s.keep))
	for ; r != 0; r = s.log.Prev(r) {
		if t := s.log.Time(r); t >= lower && t <= upper {
			dst = append(dst, r)
		}
	}
	return dst
}

// pairAll gives row i of b, kept as the given row of its log (0: not kept), with each of the matches, oldest first.
func (j *IntervalJoin) pairAll(my, other *joinSide, b *types.Batch, i int32, kept state.Row) error {
	for n := len(j.matches) - 1; n >= 0; n-- {
		match := j.matches[n]
		dst := j.out.Batch
		if j.cond != nil {
			dst = j.cand
		}
		for c, col := range b.Cols {
			dst.Cols[my.first+c].AppendFrom(col, i)
		}
		other.log.Emit(match, dst.Cols[other.first:other.first+len(other.fields)])
		p := joinPair{kept, match}
		if !my.outer {
			p.mine = 0
		}
		if !other.outer {
			p.other = 0
		}
		if j.cond == nil {
			j.matched(my, other, p)
			if err := j.out.pushed(types.Insert); err != nil {
				return err
			}
			continue
		}
		dst.Push(types.Insert)
		if my == j.sides[1] {
			p.mine, p.other = p.other, p.mine // as left and right
		}
		if j.pairs = append(j.pairs, p); dst.Full() {
			if err := j.settle(); err != nil {
				return err
			}
		}
	}
	return nil
}

// matched notes that rows of outer sides have a partner.
func (j *IntervalJoin) matched(my, other *joinSide, p joinPair) {
	j.passes++
	if p.mine != 0 && my.log.Side(p.mine)[0] == 0 {
		my.log.Touch(p.mine)[0] = 1
	}
	if p.other != 0 && other.log.Side(p.other)[0] == 0 {
		other.log.Touch(p.other)[0] = 1
	}
}

// settle puts the candidates to the condition; those for which it is true go to the output.
func (j *IntervalJoin) settle() error {
	if j.cond == nil || j.cand.Len == 0 {
		return nil
	}
	passed, err := j.cond(j.cand, types.All(j.cand.Len), j.passed[:0])
	j.passed = passed
	for _, i := range passed {
		j.matched(j.sides[0], j.sides[1], j.pairs[i])
		for c, col := range j.out.Cols {
			col.AppendFrom(j.cand.Cols[c], i)
		}
		if err := j.out.pushed(types.Insert); err != nil {
			return err
		}
	}
	if err != nil {
		failed, err := rowError(err)
		if err == nil {
			err = dataError(j.ctx, failed, j.fields, j.cand)
		}
		return errors.Join(j.out.flush(), err)
	}
	j.cand.Reset()
	j.pairs = j.pairs[:0]
	return nil
}

// fail sends what there is and gives the error of a row.
func (j *IntervalJoin) fail(err error, my *joinSide, b *types.Batch, i int32) error {
	if err := j.settle(); err != nil {
		return err
	}
	if err := j.out.flush(); err != nil {
		return err
	}
	return dataError(j.ctx, &types.RowError{Row: i, Err: err}, my.fields, b)
}

// pad gives row i of b with NULLs for the other side.
func (j *IntervalJoin) pad(my *joinSide, b *types.Batch, i int32) error {
	for c, col := range b.Cols {
		j.out.Cols[my.first+c].AppendFrom(col, i)
	}
	return j.padded(my)
}

// padded fills the columns of the side that is not my with NULLs and counts the row.
func (j *IntervalJoin) padded(my *joinSide) error {
	for c, col := range j.out.Cols {
		if c < my.first || c >= my.first+len(my.fields) {
			col.AppendNull()
		}
	}
	return j.out.pushed(types.Insert)
}

// Watermark lets rows go that can find no partner any more.
func (j *IntervalJoin) Watermark(input int, ms int64) error {
	if err := j.advance(input, ms); err != nil {
		return err
	}
	return j.out.flush()
}

// Idle passes on that both inputs are idle, or no longer are.
func (j *IntervalJoin) Idle(input int, idle bool) error {
	moved, changed := j.clock.Idle(input, idle)
	if changed && !idle {
		if err := j.ctx.Out.Idle(false); err != nil {
			return err
		}
	}
	if moved {
		if err := j.moved(); err != nil {
			return err
		}
		if err := j.out.flush(); err != nil {
			return err
		}
	}
	if changed && idle {
		return j.ctx.Out.Idle(true)
	}
	return nil
}

func (j *IntervalJoin) advance(input int, ms int64) error {
	if !j.clock.Watermark(input, ms) {
		return nil
	}
	return j.moved()
}

// moved lets rows go after the clock has moved, and passes the watermark on.
func (j *IntervalJoin) moved() error {
	if err := j.settle(); err != nil {
		return err
	}
	wm := j.clock.Now()
	if j.spec.Rowtime {
		if err := j.clean(wm); err != nil {
			return err
		}
	}
	if wm != types.MaxWatermark {
		wm = sub(wm, j.delay)
	}
	j.out.mark(wm)
	return nil
}

// clean lets the rows go that time has left behind; those of an outer side without partner come out.
func (j *IntervalJoin) clean(now int64) error {
	for _, side := range j.sides {
		bound := sub(now, side.keep) - 1
		if now == types.MaxWatermark {
			bound = now
		}
		if !side.outer {
			side.log.Clean(bound)
			continue
		}
		var err error
		side.log.Leave(bound, func(r state.Row) {
			if err == nil && side.log.Side(r)[0] == 0 {
				side.log.Emit(r, j.out.Cols[side.first:side.first+len(side.fields)])
				err = j.padded(side)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// wakeFor sets the timer for a row of processing time.
func (j *IntervalJoin) wakeFor(s *joinSide, t int64) {
	if !j.spec.Rowtime {
		j.ctx.WakeAt(add(t, s.keep) + 1)
	}
}

// OnTime lets rows of processing time go.
func (j *IntervalJoin) OnTime(ms int64) error {
	if j.spec.Rowtime {
		return nil
	}
	if err := j.clean(ms); err != nil {
		return err
	}
	j.wake()
	return j.out.flush()
}

// wake sets the timer for the row of processing time that goes next.
func (j *IntervalJoin) wake() {
	for _, s := range j.sides {
		if t := s.log.Next(); t != math.MaxInt64 {
			j.wakeFor(s, t)
		}
	}
}

// nullKey reports whether a key column in which NULL equals nothing is NULL.
func (s *joinSide) nullKey(b *types.Batch, i int32) bool {
	for _, c := range s.strict {
		if b.Cols[c].Null(i) {
			return true
		}
	}
	return false
}

// add and sub stay within int64: times may be types.MaxWatermark.
func add(t, d int64) int64 {
	if d > 0 && t > math.MaxInt64-d {
		return math.MaxInt64
	}
	if d < 0 && t < math.MinInt64-d {
		return math.MinInt64
	}
	return t + d
}

func sub(t, d int64) int64 { return add(t, -d) }
