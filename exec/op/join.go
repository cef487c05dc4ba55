package op

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"runnel/expr"
	"runnel/state"
	"runnel/types"
)

// JoinSide describes one input of a Join.
type JoinSide struct {
	Fields []types.Field
	Keys   []int // of the equality
	// Unique is a key of the rows, nil for none. Replaces: rows of the same unique key replace each other without a -U.
	Unique   []int
	Replaces bool
	TTL      time.Duration
}

// Joining is what a Join does. Its rows are the left columns, then the right ones; of Semi and Anti the left ones.
type Joining struct {
	Kind        JoinKind
	Left, Right JoinSide
	Cond        expr.Expr // over left columns followed by right ones; nil for none
	NullSafe    []bool    // per key: NULL equals NULL; nil for none
	MiniBatch   MiniBatch // not of semi and anti joins
}

// Join joins all rows of two inputs that have come and were not taken back. Inner joins pass on the kind of the row that
// makes or breaks a pair; outer joins give +I and -D: a row without partner is padded with NULLs, and what is padded
// is taken back when the first partner comes. Only a -U of a side that is not padded breaks its pairs with -U. A semi join
// gives a left row once it has a partner, an anti join as long as it has none. Rows are kept in a log per side; those of
// sides that are padded (or given alone) carry the number of their partners.
type Join struct {
	timed
	spec   Joining
	fields []types.Field // of a pair
	sides  [2]*regularSide
	cond   expr.Filter
	cand   *types.Batch // pairs of one row that wait for the condition
	passed []int32
	ahead  joinAhead
	rows   []state.Row // matches of the current row, oldest first
	out    output

	bundle *joinBundle // nil without mini-batches

	rowsOf [2]func(*types.Batch) error
	markOf [2]func(int64) error
}

// regularSide is one input.
type regularSide struct {
	JoinSide
	first   int // its first column in a pair
	keys    batchKeys
	strict  []int // key columns in which NULL equals nothing
	log     *state.Log
	outer   bool
	counted bool // rows carry the number of their partners
}

// NewJoin makes the operator.
func NewJoin(spec Joining) *Join { return &Join{timed: timed{clock: NewClock(2)}, spec: spec} }

// Open registers the logs.
func (j *Join) Open(ctx *Context) error {
	j.ctx = ctx
	k := j.spec.Kind
	j.sides[0] = &regularSide{JoinSide: j.spec.Left, outer: k == Left || k == Full}
	j.sides[0].counted = j.sides[0].outer || k == Semi || k == Anti
	j.sides[1] = &regularSide{JoinSide: j.spec.Right, outer: k == Right || k == Full, first: len(j.spec.Left.Fields)}
	j.sides[1].counted = j.sides[1].outer
	if j.spec.MiniBatch.enabled() && k != Semi && k != Anti {
		j.bundle = newJoinBundle(ctx, j.spec.MiniBatch, j.spec.Left, j.spec.Right)
	}
	for i, name := range [2]string{"left", "right"} {
		s := j.sides[i]
		s.keys = newBatchKeys(s.Fields, s.Keys, ctx.MaxParallelism)
		for n, c := range s.Keys {
			if j.spec.NullSafe == nil || !j.spec.NullSafe[n] {
				s.strict = append(s.strict, c)
			}
		}
		if err := s.open(ctx, name); err != nil {
			return err
		}
		j.rowsOf[i] = func(b *types.Batch) error { return j.apply(i, b) }
		if j.bundle != nil {
			j.rowsOf[i] = func(b *types.Batch) error { return j.bundled(i, b) }
		}
		j.markOf[i] = func(ms int64) error { return j.advance(i, ms) }
	}
	j.fields = slices.Concat(j.spec.Left.Fields, j.spec.Right.Fields)
	if j.spec.Cond != nil {
		var err error
		if j.cond, err = expr.CompileFilter(j.spec.Cond, j.fields, ctx.Env); err != nil {
			return fmt.Errorf("join condition %s: %w", j.spec.Cond, err)
		}
		j.cand = types.NewBatch(j.fields)
	}
	j.ahead = newJoinAhead(j.spec.Cond, j.fields)
	out := j.fields
	if k == Semi || k == Anti {
		out = j.spec.Left.Fields
	}
	j.out = newOutput(ctx.Out, out)
	return nil
}

func (s *regularSide) open(ctx *Context, name string) error {
	spec := state.LogSpec{TTL: s.TTL, Timeless: true, Key: s.Keys}
	for _, f := range s.Fields {
		spec.Columns = append(spec.Columns, f.Type)
	}
	if s.counted {
		spec.Side = 1
	}
	d := state.Descriptor{Format: 1, Name: name, Key: keyColumns(s.Fields, s.Keys), Values: rowInfos(s.Fields)}
	var err error
	s.log, err = ctx.State.Log(d, spec)
	return err
}

// Process joins the rows of an input one by one.
func (j *Join) Process(input int, b *types.Batch) error {
	j.sweep()
	if err := b.Segments(j.rowsOf[input], j.markOf[input]); err != nil {
		return err
	}
	return j.out.flush()
}

// sweep drops rows whose time to live is over.
func (j *Join) sweep() {
	if ttl := j.sides[0].TTL + j.sides[1].TTL; ttl > 0 {
		j.ctx.State.StartBatch()
		j.sides[0].log.Sweep(sweepRows)
		j.sides[1].log.Sweep(sweepRows)
	}
}

func (j *Join) apply(input int, b *types.Batch) error {
	my, other := j.sides[input], j.sides[1-input]
	my.keys.encode(b)
	appends := j.spec.Kind == Inner && !my.Replaces && !slices.ContainsFunc(b.Kinds, types.RowKind.Retract)
	for from, n := 0, len(b.Live()); from < n; from += state.FindRows {
		if err := j.applySome(my, other, b, from, min(from+state.FindRows, n), appends); err != nil {
			return err
		}
	}
	return nil
}

// applySome joins the live rows from..to. If appends is set, rows only come, and nothing of their own side changes by that.
func (j *Join) applySome(my, other *regularSide, b *types.Batch, from, to int, appends bool) error {
	a, live := &j.ahead, b.Live()
	// What the rows of a batch do changes nothing in the log of the other side but counts.
	other.log.Newests(&my.keys.Keys, my.keys.group, from, a.newest[:to-from])
	if !appends {
		my.log.Stage(my.keys.Hash[from:to], my.keys.group[from:to])
	}
	newest := a.newest[:to-from]
	for from < to {
		n, known := j.lookAhead(my, other, b, from, newest)
		newest = newest[n:]
		if known && appends {
			if err := j.joinAll(my, other, b, from, n); err != nil {
				return err
			}
			from += n
			continue
		}
		for k := from; k < from+n; k++ {
			i := live[k]
			r := joinRow{b: b, i: i, kind: b.Kind(i), key: my.keys.at(k)}
			if known {
				r.nullKey, j.rows = my.nullKey(b, i), a.of(k-from)
			} else if err := j.match(my, other, &r); err != nil {
				return err
			}
			if err := j.meet(my, other, &r); err != nil {
				return err
			}
		}
		from += n
	}
	return nil
}

// stage prepares the look-ups of a batch in both logs.
func (j *Join) stage(my, other *regularSide, b *types.Batch) {
	my.keys.encode(b)
	other.log.Stage(my.keys.Hash, my.keys.group)
	my.log.Stage(my.keys.Hash, my.keys.group)
}

// meet joins a row with its partners, which are in j.rows.
func (j *Join) meet(my, other *regularSide, r *joinRow) error {
	switch {
	case j.spec.Kind == Semi || j.spec.Kind == Anti:
		return j.exists(my, other, r)
	case r.kind.Retract():
		return j.take(my, other, r)
	}
	return j.add(my, other, r)
}

// joinRow is the input row being joined.
type joinRow struct {
	b       *types.Batch
	i       int32
	kind    types.RowKind
	key     state.Key
	nullKey bool
}

// nullKey reports whether row i of b has a NULL in its key that equals nothing.
func (s *regularSide) nullKey(b *types.Batch, i int32) bool {
	for _, c := range s.strict {
		if b.Cols[c].Null(i) {
			return true
		}
	}
	return false
}

// candidates appends the kept rows of a key, oldest first.
func (s *regularSide) candidates(dst []state.Row, key state.Key) []state.Row {
	return s.chain(dst, s.log.Newest(key))
}

// chain appends the kept rows of a key by the newest of them, oldest first.
func (s *regularSide) chain(dst []state.Row, newest state.Row) []state.Row {
	from := len(dst)
	for x := newest; x != 0; x = s.log.Prev(x) {
		dst = append(dst, x)
	}
	slices.Reverse(dst[from:])
	return dst
}

// match puts the partners of a row into j.rows, in order of arrival.
func (j *Join) match(my, other *regularSide, r *joinRow) error {
	j.rows = j.rows[:0]
	if r.nullKey = my.nullKey(r.b, r.i); r.nullKey {
		return nil
	}
	j.rows = other.candidates(j.rows, r.key)
	if j.cond == nil || len(j.rows) == 0 {
		return nil
	}
	kept := 0
	for from := 0; from < len(j.rows); from += types.BatchRows {
		part := j.rows[from:min(from+types.BatchRows, len(j.rows))]
		j.cand.Reset()
		for _, x := range part {
			appendPair(j.cand, my, other, r, x)
			j.cand.Push(types.Insert)
		}
		passed, err := j.cond(j.cand, types.All(j.cand.Len), j.passed[:0])
		if err != nil {
			return j.fail(err)
		}
		j.passed = passed
		for _, n := range passed {
			j.rows[kept] = part[n]
			kept++
		}
	}
	j.rows = j.rows[:kept]
	return nil
}

// appendPair appends the columns of a pair.
func appendPair(dst *types.Batch, my, other *regularSide, r *joinRow, x state.Row) {
	for c, col := range r.b.Cols {
		dst.Cols[my.first+c].AppendFrom(col, r.i)
	}
	other.log.Emit(x, dst.Cols[other.first:other.first+len(other.Fields)])
}

// fail sends what there is and gives the error of a pair whose condition failed.
func (j *Join) fail(err error) error {
	failed, err := rowError(err)
	if err == nil {
		err = dataError(j.ctx, failed, j.fields, j.cand)
	}
	return errors.Join(j.out.flush(), err)
}

// add joins a row that comes.
func (j *Join) add(my, other *regularSide, r *joinRow) error {
	if !r.nullKey || my.outer {
		j.keep(my, r, len(j.rows))
	}
	if len(j.rows) == 0 {
		if my.outer {
			return j.pad(my, r, types.Insert)
		}
		return nil
	}
	kind := types.Insert
	if !my.outer && !other.outer {
		kind = r.kind
	}
	if other.outer {
		for _, x := range j.rows {
			n := other.log.Touch(x)
			if n[0]++; n[0] == 1 {
				if err := j.padKept(other, x, types.Delete); err != nil {
					return err
				}
			}
		}
	}
	return j.pairs(my, other, r, kind)
}

// take joins a row that is taken back.
func (j *Join) take(my, other *regularSide, r *joinRow) error {
	j.forget(my, r)
	if len(j.rows) == 0 {
		if my.outer {
			return j.pad(my, r, types.Delete)
		}
		return nil
	}
	kind := r.kind
	if my.outer {
		kind = types.Delete
	}
	if err := j.pairs(my, other, r, kind); err != nil || !other.outer {
		return err
	}
	for _, x := range j.rows {
		n := other.log.Touch(x)
		if n[0]--; n[0] == 0 {
			if err := j.padKept(other, x, types.Insert); err != nil {
				return err
			}
		}
	}
	return nil
}

// exists handles a row of a semi or anti join.
func (j *Join) exists(my, other *regularSide, r *joinRow) error {
	anti := j.spec.Kind == Anti
	if my == j.sides[0] {
		if r.kind.Retract() {
			j.forget(my, r)
		} else if !r.nullKey {
			j.keep(my, r, len(j.rows))
		}
		if (len(j.rows) > 0) == anti {
			return nil
		}
		return j.give(r, r.kind)
	}
	from, step, kind := uint64(0), uint64(1), r.kind // the number of partners at which a left row changes
	if anti {
		kind = types.Delete
	}
	if r.kind.Retract() {
		j.forget(my, r)
		from, step = 1, ^uint64(0)
		if anti {
			kind = types.Insert
		}
	} else if !r.nullKey {
		j.keep(my, r, 0)
	}
	for _, x := range j.rows {
		n := other.log.Touch(x)
		was := n[0]
		if n[0] += step; was != from {
			continue
		}
		other.log.Emit(x, j.out.Cols)
		if err := j.out.pushed(kind); err != nil {
			return err
		}
	}
	return nil
}

// keep stores a row with the number of its partners.
func (j *Join) keep(s *regularSide, r *joinRow, partners int) {
	if s.Replaces && s.Unique != nil {
		for x := s.log.Newest(r.key); x != 0; x = s.log.Prev(x) {
			if s.log.EqualIn(x, s.Unique, r.b.Cols, r.i) {
				s.log.Delete(x)
				break
			}
		}
	}
	x := s.log.Append(r.key, 0, r.b.Cols, r.i)
	if s.counted {
		s.log.Touch(x)[0] = uint64(partners)
	}
}

// forget takes a row out; one that is not there has expired.
func (j *Join) forget(s *regularSide, r *joinRow) {
	oldest := state.Row(0)
	for x := s.log.Newest(r.key); x != 0; x = s.log.Prev(x) {
		if s.Unique != nil && s.log.EqualIn(x, s.Unique, r.b.Cols, r.i) {
			oldest = x
			break
		}
		if s.Unique == nil && s.log.Equal(x, r.b.Cols, r.i) {
			oldest = x
		}
	}
	if oldest != 0 {
		s.log.Delete(oldest)
	}
}

// pairs gives the current row with each of its partners.
func (j *Join) pairs(my, other *regularSide, r *joinRow, kind types.RowKind) error {
	for _, x := range j.rows {
		appendPair(j.out.Batch, my, other, r, x)
		if err := j.out.pushed(kind); err != nil {
			return err
		}
	}
	return nil
}

// give puts the current row out as it is.
func (j *Join) give(r *joinRow, kind types.RowKind) error {
	for c, col := range r.b.Cols {
		j.out.Cols[c].AppendFrom(col, r.i)
	}
	return j.out.pushed(kind)
}

// pad gives the current row with NULLs for the other side.
func (j *Join) pad(my *regularSide, r *joinRow, kind types.RowKind) error {
	for c, col := range r.b.Cols {
		j.out.Cols[my.first+c].AppendFrom(col, r.i)
	}
	return j.padded(my, kind)
}

// padKept gives a kept row with NULLs for the other side.
func (j *Join) padKept(s *regularSide, x state.Row, kind types.RowKind) error {
	s.log.Emit(x, j.out.Cols[s.first:s.first+len(s.Fields)])
	return j.padded(s, kind)
}

func (j *Join) padded(s *regularSide, kind types.RowKind) error {
	for c, col := range j.out.Cols {
		if c < s.first || c >= s.first+len(s.Fields) {
			col.AppendNull()
		}
	}
	return j.out.pushed(kind)
}

// Watermark passes the smaller of both watermarks on.
func (j *Join) Watermark(input int, ms int64) error {
	if err := j.advance(input, ms); err != nil {
		return err
	}
	return j.out.flush()
}

func (j *Join) advance(input int, ms int64) error {
	if j.clock.Watermark(input, ms) {
		j.out.mark(j.clock.Now())
	}
	return nil
}

// Idle passes on that both inputs are idle, or no longer are.
func (j *Join) Idle(input int, idle bool) error {
	moved, changed := j.clock.Idle(input, idle)
	return tellTime(j.ctx.Out, j.clock, moved, changed)
}
