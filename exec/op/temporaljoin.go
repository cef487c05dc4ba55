package op

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"runnel/expr"
	"runnel/state"
	"runnel/types"
)

// TemporalJoining is what a TemporalJoin does. Its rows are the left columns, then the right ones.
type TemporalJoining struct {
	Outer               bool // left rows without a version come out padded with NULLs
	Left, Right         []types.Field
	LeftKeys, RightKeys []int
	LeftTime, RightTime int       // event-time columns
	Cond                expr.Expr // over the joined row; nil for none
	// TTL is how long, in processing time, the rows of a key are kept at least behind its last row of either side; 0: for ever.
	TTL time.Duration
}

// TemporalJoin joins every left row with the version of the right row of its key that was valid at the left row's time:
// the one with the greatest time that is not later. Left rows wait until the watermark has reached their time and then
// come out in order of arrival within their key, with their kinds; versions arriving until then count, also late ones.
// Of two versions of one time the later arrival wins; a deletion is a version without a row.
type TemporalJoin struct {
	timed
	spec   TemporalJoining
	fields []types.Field
	keys   [2]batchKeys
	// waiting has the left rows that wait, with their kinds in a column behind the others.
	waiting *state.Log
	kinds   *types.Column
	cols    []*types.Column // scratch: the columns of left rows, and kinds
	ready   *types.Batch    // left rows whose time has come
	leaving []temporalLeaving
	rows    rowBytes      // of right rows
	table   *state.Table  // their versions
	timers  *state.Timers // of keys with versions
	retain  *retention    // nil without a TTL
	cond    expr.Filter
	pair    *types.Batch // one pair, waiting for the condition
	passed  []int32
	popped  []uint64
	out     output

	rowsOf [2]func(*types.Batch) error
	markOf [2]func(int64) error
}

// Values of a key's record: the versions by time; the time of the key's timer, with a flag that there is one.
const (
	temporalVersions = iota
	temporalTimer
	temporalTimed
)

// Values of a version.
const (
	temporalRow = iota
	temporalKind
)

// NewTemporalJoin makes the operator.
func NewTemporalJoin(spec TemporalJoining) *TemporalJoin {
	return &TemporalJoin{timed: timed{clock: NewClock(2)}, spec: spec}
}

// Open registers the state.
func (j *TemporalJoin) Open(ctx *Context) error {
	j.ctx = ctx
	s := &j.spec
	j.fields = slices.Concat(s.Left, s.Right)
	j.out = newOutput(ctx.Out, j.fields)
	j.keys = [2]batchKeys{newBatchKeys(s.Left, s.LeftKeys, ctx.MaxParallelism), newBatchKeys(s.Right, s.RightKeys, ctx.MaxParallelism)}
	j.rows = newRowBytes(s.Right)
	j.ready, j.kinds = types.NewBatch(s.Left), types.NewColumn(types.Of(types.TinyInt), types.BatchRows)
	j.rowsOf = [2]func(*types.Batch) error{j.left, j.right}
	for i := range 2 {
		j.markOf[i] = func(ms int64) error { return j.advance(i, ms) }
	}
	if s.Cond != nil {
		var err error
		if j.cond, err = expr.CompileFilter(s.Cond, j.fields, ctx.Env); err != nil {
			return fmt.Errorf("join condition %s: %w", s.Cond, err)
		}
		j.pair = types.NewBatch(j.fields)
	}
	d := state.Descriptor{Format: types.RowCodecVersion, Name: "left", Key: keyColumns(s.Left, s.LeftKeys), Values: rowInfos(s.Left)}
	// A TTL takes the rows of a key out.
	spec := state.LogSpec{Columns: append(allTypes(s.Left), j.kinds.Type), Key: s.LeftKeys, Ordered: true, Unkeyed: s.TTL <= 0}
	var err error
	if j.waiting, err = ctx.State.Log(d, spec); err != nil {
		return err
	}
	d.Name, d.Values = "versions", rowInfos(s.Right)
	j.table, err = ctx.State.Table(d, state.TableSpec{Values: []state.Value{
		temporalVersions: {Kind: state.Sorted, Elem: []state.Value{temporalRow: {Kind: state.Bytes}, temporalKind: {}}},
		temporalTimer:    {},
		temporalTimed:    {},
	}})
	if err != nil {
		return err
	}
	if j.timers, err = ctx.State.Timers(state.Descriptor{Format: 1, Name: "timers", Key: d.Key}); err != nil {
		return err
	}
	j.retain, err = newRetention(ctx, d, s.TTL, j.forget)
	return err
}

// forget drops everything of a key, left rows that wait too.
func (j *TemporalJoin) forget(key state.Key) bool {
	m := j.table.Of(key.Group)
	if owner := m.Find(key); owner != 0 {
		if v := m.Get(owner); v[temporalTimed] != 0 {
			j.timers.Delete(int64(v[temporalTimer]), key)
		}
		m.Delete(owner)
	}
	for r := j.waiting.Newest(key); r != 0; r = j.waiting.Newest(key) {
		j.waiting.Delete(r)
	}
	return true
}

// OnTime drops the keys that have not been seen for long.
func (j *TemporalJoin) OnTime(ms int64) error {
	j.retain.run(ms)
	return nil
}

// Process keeps the rows of an input.
func (j *TemporalJoin) Process(input int, b *types.Batch) error {
	j.retain.before()
	if err := b.Segments(j.rowsOf[input], j.markOf[input]); err != nil {
		return err
	}
	j.retain.wake()
	return j.out.flush()
}

func (j *TemporalJoin) left(b *types.Batch) error {
	j.keys[0].encode(b)
	j.begin(b.Cols)
	j.kinds.Int = slices.Grow(j.kinds.Int[:0], b.Len)[:b.Len]
	for k, i := range b.Live() {
		if b.Cols[j.spec.LeftTime].Null(i) {
			return j.fail(j.spec.Left, b, i)
		}
		key := j.keys[0].at(k)
		j.retain.seen(key)
		j.kinds.Int[i] = int64(b.Kind(i))
		j.waiting.Append(key, millis(b.Cols[j.spec.LeftTime], i), j.cols, i)
	}
	return nil
}

func (j *TemporalJoin) right(b *types.Batch) error {
	j.keys[1].encode(b)
next:
	for k, i := range b.Live() {
		if b.Cols[j.spec.RightTime].Null(i) {
			return j.fail(j.spec.Right, b, i)
		}
		for _, c := range j.spec.RightKeys {
			if b.Cols[c].Null(i) {
				continue next // equal to nothing
			}
		}
		t := millis(b.Cols[j.spec.RightTime], i)
		key := j.keys[1].at(k)
		j.retain.seen(key)
		m := j.table.Of(key.Group)
		owner, _ := m.Upsert(key)
		m.Touch(owner)
		versions := m.Collection(temporalVersions)
		e, _ := versions.Add(owner, []uint64{state.OrderedInt(t)})
		versions.Touch(e)[temporalKind] = uint64(b.Kind(i))
		versions.PutBytes(e, temporalRow, j.rows.of(b, i))
		j.timer(m, owner, key, t)
	}
	return nil
}

func (j *TemporalJoin) fail(fields []types.Field, b *types.Batch, i int32) error {
	if err := j.out.flush(); err != nil {
		return err
	}
	return dataError(j.ctx, &types.RowError{Row: i, Err: errNullRowtime}, fields, b)
}

// timer sets the key's timer to t if it has none or a later one.
func (j *TemporalJoin) timer(m *state.Map, owner state.Ref, key state.Key, t int64) {
	v := m.Get(owner)
	if v[temporalTimed] != 0 {
		if int64(v[temporalTimer]) <= t {
			return
		}
		j.timers.Delete(int64(v[temporalTimer]), key)
	}
	v = m.Touch(owner)
	v[temporalTimer], v[temporalTimed] = uint64(t), 1
	j.timers.Add(t, key)
}

// Watermark joins the left rows whose time it has reached.
func (j *TemporalJoin) Watermark(input int, ms int64) error {
	if err := j.advance(input, ms); err != nil {
		return err
	}
	return j.out.flush()
}

// Idle passes on that both inputs are idle, or no longer are.
func (j *TemporalJoin) Idle(input int, idle bool) error {
	moved, changed := j.clock.Idle(input, idle)
	if moved {
		if err := j.fire(); err != nil {
			return err
		}
		if err := j.out.flush(); err != nil {
			return err
		}
	}
	return tellTime(j.ctx.Out, j.clock, moved, changed)
}

func (j *TemporalJoin) advance(input int, ms int64) error {
	if !j.clock.Watermark(input, ms) {
		return nil
	}
	if err := j.fire(); err != nil {
		return err
	}
	j.out.mark(j.clock.Now())
	return nil
}

// fire joins the left rows that the watermark has reached, key by key, and cleans the keys whose timers it has reached.
func (j *TemporalJoin) fire() error {
	wm := j.clock.Now()
	var failed error
	j.waiting.LeaveTogether(wm, func(rows []state.Leaving) {
		j.arrange(rows)
		j.begin(j.ready.Cols)
		for _, x := range j.leaving {
			j.waiting.Emit(x.row, j.cols)
			j.ready.Push(types.RowKind(j.kinds.Int[j.ready.Len]))
			if j.ready.Full() {
				if failed = j.joinReady(); failed != nil {
					return
				}
			}
		}
		failed = j.joinReady()
	})
	for failed == nil {
		_, key, ok := j.timers.Pop(wm)
		if !ok {
			break
		}
		j.popped = append(j.popped[:0], key.Words...) // the timers' own words live until the next call
		key.Words = j.popped
		m := j.table.Of(key.Group)
		if owner := m.Find(key); owner != 0 {
			m.Touch(owner)[temporalTimed] = 0
			j.clean(m, owner, key, wm)
		}
	}
	return failed
}

// begin makes cols, the columns of left rows, and an empty column of kinds those of the log.
func (j *TemporalJoin) begin(cols []*types.Column) {
	j.kinds.Reset()
	j.cols = append(append(j.cols[:0], cols...), j.kinds)
}

// temporalLeaving is a left row whose time has come.
type temporalLeaving struct {
	hash  uint64 // of its key
	turn  int64  // the time of the first row of either side for which the key has a timer
	first int    // the place among all rows of the key's earliest one
	row   state.Row
}

// arrange puts rows, which are in the order of their times, into the order in which they come out: key by key, as the keys'
// timers go off, and those of a key in the order in which they came. Keys of equal hash are taken for one, which does no harm.
func (j *TemporalJoin) arrange(rows []state.Leaving) {
	j.leaving = j.leaving[:0]
	only := make([]*types.Column, len(j.spec.Left)+1)
	for _, c := range j.spec.LeftKeys {
		only[c] = j.ready.Cols[c]
	}
	for from := 0; from < len(rows); from += types.BatchRows {
		block := rows[from:min(from+types.BatchRows, len(rows))]
		for _, x := range block {
			j.waiting.Emit(x.Row, only)
			j.ready.Len++
		}
		j.keys[0].encode(j.ready)
		j.table.Stage(j.keys[0].Hash, j.keys[0].group)
		for k, x := range block {
			l := temporalLeaving{j.keys[0].Hash[k], x.Time, from + k, x.Row}
			m := j.table.Of(j.keys[0].group[k])
			if owner := m.Find(j.keys[0].at(k)); owner != 0 {
				if v := m.Get(owner); v[temporalTimed] != 0 {
					l.turn = min(l.turn, int64(v[temporalTimer]))
				}
			}
			j.leaving = append(j.leaving, l)
		}
		j.ready.Reset()
	}
	slices.SortFunc(j.leaving, func(a, b temporalLeaving) int {
		return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.first, b.first))
	})
	for i := range j.leaving[min(1, len(j.leaving)):] {
		if was, x := &j.leaving[i], &j.leaving[i+1]; was.hash == x.hash {
			x.turn, x.first = was.turn, was.first
		}
	}
	slices.SortFunc(j.leaving, func(a, b temporalLeaving) int {
		return cmp.Or(cmp.Compare(a.turn, b.turn), cmp.Compare(a.first, b.first), cmp.Compare(a.row, b.row))
	})
}

// joinReady joins the left rows that are ready.
func (j *TemporalJoin) joinReady() error {
	b := j.ready
	j.keys[0].encode(b)
	j.table.Stage(j.keys[0].Hash, j.keys[0].group)
	for k, i := range b.Live() {
		key := j.keys[0].at(k)
		m := j.table.Of(key.Group)
		owner := m.Find(key)
		right, found := "", false
		if owner != 0 {
			versions := m.Collection(temporalVersions)
			x := version(versions, owner, millis(b.Cols[j.spec.LeftTime], i))
			if x != 0 && !types.RowKind(versions.Get(x)[temporalKind]).Retract() {
				right, _ = versions.Bytes(x, temporalRow)
				found = true
			}
			j.retain.seen(key)
		}
		if err := j.give(b, i, right, found); err != nil {
			return err
		}
	}
	b.Reset()
	j.kinds.Reset()
	return nil
}

// version gives the newest version that is not later than t, 0 if there is none.
func version(versions state.Collection, owner state.Ref, t int64) state.Ref {
	if t == types.MaxWatermark {
		return versions.Last(owner)
	}
	if after := versions.Seek(owner, []uint64{state.OrderedInt(t + 1)}); after != 0 {
		return versions.Prev(after)
	}
	return versions.Last(owner)
}

// clean drops the versions that no left row can ask for any more, and sets the timer of what is left.
func (j *TemporalJoin) clean(m *state.Map, owner state.Ref, key state.Key, wm int64) {
	versions := m.Collection(temporalVersions)
	if newest := version(versions, owner, wm); newest != 0 {
		for e := versions.First(owner); e != newest; e = versions.First(owner) {
			versions.Remove(owner, e)
		}
		if after := versions.Next(newest); after != 0 {
			j.timer(m, owner, key, state.IntOf(versions.Elem(after)[0]))
		}
	} else if first := versions.First(owner); first != 0 {
		j.timer(m, owner, key, state.IntOf(versions.Elem(first)[0]))
	}
	j.retain.seen(key)
}

// give puts row i of b, left rows, out with its version if it has one that passes the condition.
func (j *TemporalJoin) give(b *types.Batch, i int32, right string, found bool) error {
	n, kind := len(j.spec.Left), b.Kind(i)
	if found && j.cond != nil {
		j.pair.Reset()
		for c, col := range b.Cols {
			j.pair.Cols[c].AppendFrom(col, i)
		}
		if err := j.rows.decode(right, j.pair.Cols[n:]); err != nil {
			return err
		}
		j.pair.Push(kind)
		var err error
		if j.passed, err = j.cond(j.pair, types.All(1), j.passed[:0]); err != nil {
			failed, err := rowError(err)
			if err == nil {
				err = dataError(j.ctx, failed, j.fields, j.pair)
			}
			return errors.Join(j.out.flush(), err)
		}
		found = len(j.passed) > 0
	}
	if !found && !j.spec.Outer {
		return nil
	}
	for c, col := range b.Cols {
		j.out.Cols[c].AppendFrom(col, i)
	}
	if found {
		if err := j.rows.decode(right, j.out.Cols[n:]); err != nil {
			return err
		}
	} else {
		for _, c := range j.out.Cols[n:] {
			c.AppendNull()
		}
	}
	return j.out.pushed(kind)
}
