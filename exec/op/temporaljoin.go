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
	rows   [2]rowBytes
	table  *state.Table
	timers *state.Timers
	retain *retention // nil without a TTL
	cond   expr.Filter
	pair   *types.Batch // one pair, waiting for the condition
	passed []int32
	popped []uint64
	out    output

	rowsOf [2]func(*types.Batch) error
	markOf [2]func(int64) error
}

// Values of a key's record: the left rows that wait, in order of arrival; the versions by time; the time of the key's
// timer, with a flag that there is one.
const (
	temporalLeft = iota
	temporalVersions
	temporalTimer
	temporalTimed
)

// Values of a left row or a version.
const (
	temporalRow = iota
	temporalKind
	temporalAt // of a left row
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
	j.rows = [2]rowBytes{newRowBytes(s.Left), newRowBytes(s.Right)}
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
	row := []state.Value{temporalRow: {Kind: state.Bytes}, temporalKind: {}}
	d := state.Descriptor{
		Format: types.RowCodecVersion, Name: "rows", Key: keyColumns(s.Left, s.LeftKeys), Values: append(rowInfos(s.Left), rowInfos(s.Right)...),
	}
	var err error
	j.table, err = ctx.State.Table(d, state.TableSpec{Values: []state.Value{
		temporalLeft:     {Kind: state.List, Elem: append(row[:2:2], state.Value{})},
		temporalVersions: {Kind: state.Sorted, Elem: row},
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
	for k, i := range b.Live() {
		if b.Cols[j.spec.LeftTime].Null(i) {
			return j.fail(j.spec.Left, b, i)
		}
		t := millis(b.Cols[j.spec.LeftTime], i)
		key := j.keys[0].at(k)
		j.retain.seen(key)
		m := j.table.Of(key.Group)
		owner, _ := m.Upsert(key)
		m.Touch(owner)
		rows := m.Collection(temporalLeft)
		e, _ := rows.Add(owner, nil)
		v := rows.Touch(e)
		v[temporalKind], v[temporalAt] = uint64(b.Kind(i)), uint64(t)
		rows.PutBytes(e, temporalRow, j.rows[0].of(b, i))
		j.timer(m, owner, key, t)
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
		versions.PutBytes(e, temporalRow, j.rows[1].of(b, i))
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

// fire joins and cleans the keys whose timers the watermark has reached.
func (j *TemporalJoin) fire() error {
	wm := j.clock.Now()
	for {
		_, key, ok := j.timers.Pop(wm)
		if !ok {
			return nil
		}
		j.popped = append(j.popped[:0], key.Words...) // the timers' own words live until the next call
		key.Words = j.popped
		m := j.table.Of(key.Group)
		owner := m.Find(key)
		if owner == 0 {
			continue
		}
		m.Touch(owner)[temporalTimed] = 0
		if err := j.joinKey(m, owner, wm); err != nil {
			return err
		}
		j.clean(m, owner, key, wm)
	}
}

// joinKey gives the left rows of a key up to the watermark.
func (j *TemporalJoin) joinKey(m *state.Map, owner state.Ref, wm int64) error {
	rows, versions := m.Collection(temporalLeft), m.Collection(temporalVersions)
	for e := rows.First(owner); e != 0; {
		next := rows.Next(e)
		v := rows.Get(e)
		if at := int64(v[temporalAt]); at <= wm {
			kind := types.RowKind(v[temporalKind])
			row, _ := rows.Bytes(e, temporalRow)
			x := version(versions, owner, at)
			if x != 0 && types.RowKind(versions.Get(x)[temporalKind]).Retract() {
				x = 0
			}
			right := ""
			if x != 0 {
				right, _ = versions.Bytes(x, temporalRow)
			}
			if err := j.give(row, right, x != 0, kind); err != nil {
				return err
			}
			rows.Remove(owner, e)
		}
		e = next
	}
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
	rows, versions := m.Collection(temporalLeft), m.Collection(temporalVersions)
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
	for e := rows.First(owner); e != 0; e = rows.Next(e) {
		j.timer(m, owner, key, int64(rows.Get(e)[temporalAt]))
	}
	if rows.Len(owner) == 0 && versions.Len(owner) == 0 {
		m.Delete(owner)
		j.retain.forget(key)
		return
	}
	j.retain.seen(key)
}

// give puts a left row out, with its version if it has one that passes the condition.
func (j *TemporalJoin) give(left, right string, found bool, kind types.RowKind) error {
	n := len(j.spec.Left)
	if found && j.cond != nil {
		j.pair.Reset()
		if err := errors.Join(j.rows[0].decode(left, j.pair.Cols[:n]), j.rows[1].decode(right, j.pair.Cols[n:])); err != nil {
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
	if err := j.rows[0].decode(left, j.out.Cols[:n]); err != nil {
		return err
	}
	if found {
		if err := j.rows[1].decode(right, j.out.Cols[n:]); err != nil {
			return err
		}
	} else {
		for _, c := range j.out.Cols[n:] {
			c.AppendNull()
		}
	}
	return j.out.pushed(kind)
}
