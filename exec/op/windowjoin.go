package op

import (
	"errors"
	"fmt"
	"slices"

	"runnel/expr"
	"runnel/state"
	"runnel/types"
)

// WindowJoining is what a WindowJoin does: the rows of both sides carry their window in columns. Its own rows are the left
// columns, then the right ones; of Semi and Anti the left ones.
type WindowJoining struct {
	Kind        JoinKind
	Left, Right WindowSide
	Zoned       bool // the window's columns show the wall clock of the session's zone
	Cond        expr.Expr
	NullSafe    []bool // per key: NULL equals NULL; nil for none
}

// WindowSide is one input of a WindowJoin.
type WindowSide struct {
	Fields   []types.Field
	Keys     []int // without the window's columns
	StartCol int
	EndCol   int
}

// WindowJoin joins the rows of two append-only inputs that are in the same window and have equal keys, when the watermark
// passes the window's end. Rows of a window that has passed are dropped and counted (leftNumLateRecordsDropped,
// rightNumLateRecordsDropped).
type WindowJoin struct {
	timed
	spec   WindowJoining
	fields []types.Field // of a pair
	wall   wall
	sides  [2]*windowSide
	cond   expr.Filter
	pair   *types.Batch // pairs that wait for the condition
	pairOf [2][]int32   // their rows of either side
	passed []int32
	left   int32  // the left row whose partners are being given
	found  int    // how many it has
	hit    []bool // of the right rows of a key: has a partner
	out    output

	rowsOf [2]func(*types.Batch) error
	markOf [2]func(int64) error
}

type windowSide struct {
	WindowSide
	keys    batchKeys
	strict  []int // key columns in which NULL equals nothing
	rows    rowBytes
	windows *state.Slices // by end on the wall clock; a key has the list of its rows
	late    *Counter
	batch   *types.Batch // the rows of one key while they are joined
}

// NewWindowJoin makes the operator.
func NewWindowJoin(spec WindowJoining) *WindowJoin {
	return &WindowJoin{timed: timed{clock: NewClock(2)}, spec: spec}
}

// Open registers the state.
func (j *WindowJoin) Open(ctx *Context) error {
	j.ctx = ctx
	if j.spec.Zoned {
		j.wall = newWall(ctx.Env.Zone)
	}
	for i, side := range [2]WindowSide{j.spec.Left, j.spec.Right} {
		s := &windowSide{WindowSide: side}
		name := [2]string{"left", "right"}[i]
		for n, c := range s.Keys {
			if j.spec.NullSafe == nil || !j.spec.NullSafe[n] {
				s.strict = append(s.strict, c)
			}
		}
		s.keys = newOwnedKeys(s.Fields, s.Keys, ctx.MaxParallelism, s.StartCol)
		s.rows = newRowBytes(s.Fields)
		s.late = ctx.Counter(name + "NumLateRecordsDropped")
		s.batch = types.NewBatch(s.Fields)
		d := state.Descriptor{Format: types.RowCodecVersion, Name: name, Key: keyColumns(s.Fields, s.keys.cols), Values: rowInfos(s.Fields)}
		if j.wall.loc != nil {
			d.Zone = j.wall.loc.String()
		}
		var err error
		values := []state.Value{{Kind: state.List, Elem: []state.Value{{Kind: state.Bytes}}, Short: true}}
		if s.windows, err = ctx.State.Slices(d, state.SlicesSpec{Values: values}); err != nil {
			return err
		}
		j.sides[i] = s
		j.rowsOf[i] = func(b *types.Batch) error { return j.apply(i, b) }
		j.markOf[i] = func(ms int64) error { return j.advance(i, ms) }
	}
	j.fields = slices.Concat(j.spec.Left.Fields, j.spec.Right.Fields)
	out := j.fields
	if j.spec.Kind == Semi || j.spec.Kind == Anti {
		out = j.spec.Left.Fields
	}
	j.out = newOutput(ctx.Out, out)
	if j.spec.Cond == nil {
		return nil
	}
	j.pair = types.NewBatch(j.fields)
	var err error
	if j.cond, err = expr.CompileFilter(j.spec.Cond, j.fields, ctx.Env); err != nil {
		return fmt.Errorf("join condition %s: %w", j.spec.Cond, err)
	}
	return nil
}

// Process keeps the rows of an input.
func (j *WindowJoin) Process(input int, b *types.Batch) error {
	if err := b.Segments(j.rowsOf[input], j.markOf[input]); err != nil {
		return err
	}
	return j.out.flush()
}

func (j *WindowJoin) apply(input int, b *types.Batch) error {
	s := j.sides[input]
	s.keys.encode(b)
	ends := b.Cols[s.EndCol]
	var m *state.Map
	var owner state.Ref
	at, last := int64(0), 0 // of the row before
	for k, i := range b.Live() {
		end := millis(ends, i)
		if j.wall.timer(end-1) <= j.clock.Now() {
			s.late.Add(1)
			continue
		}
		if m == nil || end != at || !slices.Equal(s.keys.Key(k), s.keys.Key(last)) {
			m = s.windows.Open(end)
			owner, _ = m.Upsert(s.keys.at(k))
		}
		at, last = end, k
		e, _ := m.Collection(0).Add(owner, nil)
		m.Collection(0).PutBytes(e, 0, s.rows.of(b, i))
	}
	return nil
}

// Watermark joins the rows of windows.
func (j *WindowJoin) Watermark(input int, ms int64) error {
	if err := j.advance(input, ms); err != nil {
		return err
	}
	return j.out.flush()
}

// Idle passes on that both inputs are idle, or no longer are.
func (j *WindowJoin) Idle(input int, idle bool) error {
	moved, changed := j.clock.Idle(input, idle)
	if moved {
		if err := j.fireAll(); err != nil {
			return err
		}
		if err := j.out.flush(); err != nil {
			return err
		}
	}
	return tellTime(j.ctx.Out, j.clock, moved, changed)
}

func (j *WindowJoin) advance(input int, ms int64) error {
	if !j.clock.Watermark(input, ms) {
		return nil
	}
	if err := j.fireAll(); err != nil {
		return err
	}
	j.out.mark(j.clock.Now())
	return nil
}

// fireAll joins the windows that have passed, in the order of their ends.
func (j *WindowJoin) fireAll() error {
	for {
		end, ok := int64(0), false
		for _, s := range j.sides {
			if t := s.windows.Times(); len(t) > 0 && (!ok || t[0] < end) {
				end, ok = t[0], true
			}
		}
		if !ok || j.wall.timer(end-1) > j.clock.Now() {
			return nil
		}
		if err := j.fire(j.sides[0].windows.Of(end), j.sides[1].windows.Of(end)); err != nil {
			return err
		}
		for _, s := range j.sides {
			s.windows.Drop(end)
		}
	}
}

// fire joins a window; the map of a side without rows is nil.
func (j *WindowJoin) fire(left, right *state.Map) error {
	if left != nil {
		for l := left.First(); l != 0; l = left.Next(l) {
			r := state.Ref(0)
			if right != nil {
				key := left.Key(l)
				r = right.Find(state.Key{Words: key, Hash: types.HashKey(key), Group: left.Group(l)})
			}
			if err := j.join(left, l, right, r); err != nil {
				return err
			}
		}
	}
	if right == nil || j.spec.Kind != Right && j.spec.Kind != Full {
		return nil
	}
	for r := right.First(); r != 0; r = right.Next(r) {
		if left != nil {
			key := right.Key(r)
			if left.Find(state.Key{Words: key, Hash: types.HashKey(key), Group: right.Group(r)}) != 0 {
				continue
			}
		}
		if err := j.join(left, 0, right, r); err != nil {
			return err
		}
	}
	return nil
}

// load fills the side's batch with the rows of a key.
func (s *windowSide) load(m *state.Map, owner state.Ref) error {
	s.batch.Reset()
	if owner == 0 {
		return nil
	}
	rows := m.Collection(0)
	for e := rows.First(owner); e != 0; e = rows.Next(e) {
		row, _ := rows.Bytes(e, 0)
		if err := s.rows.decode(row, s.batch.Cols); err != nil {
			return err
		}
		s.batch.Push(types.Insert)
	}
	return nil
}

// join joins the rows of one key of a window; 0: a side has none.
func (j *WindowJoin) join(left *state.Map, l state.Ref, right *state.Map, r state.Ref) error {
	ls, rs := j.sides[0], j.sides[1]
	if err := errors.Join(ls.load(left, l), rs.load(right, r)); err != nil {
		return err
	}
	j.hit = append(j.hit[:0], make([]bool, rs.batch.Len)...)
	j.left, j.found = 0, 0
	for i := range int32(ls.batch.Len) {
		if rs.batch.Len == 0 || j.unequal(i) {
			continue
		}
		for x := range int32(rs.batch.Len) {
			if err := j.meet(i, x); err != nil {
				return err
			}
		}
	}
	if err := errors.Join(j.filter(), j.leftUpTo(int32(ls.batch.Len))); err != nil {
		return err
	}
	if j.spec.Kind != Right && j.spec.Kind != Full {
		return nil
	}
	for i, hit := range j.hit {
		if !hit {
			if err := j.give(-1, int32(i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// unequal reports whether left row i has a NULL that equals nothing.
func (j *WindowJoin) unequal(i int32) bool {
	return slices.ContainsFunc(j.sides[0].strict, func(c int) bool { return j.sides[0].batch.Cols[c].Null(i) })
}

// meet lets two rows meet, which are partners if the condition holds. Rows meet in order.
func (j *WindowJoin) meet(l, r int32) error {
	if j.cond == nil {
		return j.partners(l, r)
	}
	j.pairOf[0], j.pairOf[1] = append(j.pairOf[0], l), append(j.pairOf[1], r)
	if len(j.pairOf[0]) < types.BatchRows {
		return nil
	}
	return j.filter()
}

// filter gives those of the pairs that wait for which the condition is true.
func (j *WindowJoin) filter() error {
	n := len(j.pairOf[0])
	if n == 0 {
		return nil
	}
	j.pair.Reset()
	at := 0
	for i, s := range j.sides {
		for _, col := range s.batch.Cols {
			j.pair.Cols[at].Gather(col, j.pairOf[i], s.batch.Len)
			at++
		}
	}
	j.pair.Len = n
	var fail error
	at = 0
	passed, err := j.cond(j.pair, types.All(n), j.passed[:0])
	if err != nil {
		passed, at, fail = j.failed(err)
	}
	for _, p := range passed {
		if err := j.partners(j.pairOf[0][p], j.pairOf[1][p]); err != nil {
			return err
		}
	}
	if fail != nil {
		return errors.Join(j.leftUpTo(j.pairOf[0][at]), j.out.flush(), fail)
	}
	j.passed, j.pairOf[0], j.pairOf[1] = passed, j.pairOf[0][:0], j.pairOf[1][:0]
	return nil
}

// failed gives the pairs that have passed of left rows before the one for which the condition has failed, the number of
// pairs before that one's, and the error.
func (j *WindowJoin) failed(err error) (passed []int32, before int, fail error) {
	row, err := rowError(err)
	if err != nil {
		return nil, 0, err
	}
	fail = dataError(j.ctx, row, j.fields, j.pair)
	before = slices.Index(j.pairOf[0], j.pairOf[0][row.Row])
	passed, err = j.cond(j.pair, types.All(before), j.passed[:0])
	return passed, before, errors.Join(err, fail)
}

// partners gives a pair that fits, or only counts it for a semi or anti join.
func (j *WindowJoin) partners(l, r int32) error {
	if err := j.leftUpTo(l); err != nil {
		return err
	}
	j.found++
	j.hit[r] = true
	if j.spec.Kind == Semi || j.spec.Kind == Anti {
		return nil
	}
	return j.give(l, r)
}

// leftUpTo gives what left rows before l give whose partners have all been given.
func (j *WindowJoin) leftUpTo(l int32) error {
	for ; j.left < l; j.left++ {
		alone := j.found == 0
		j.found = 0
		var err error
		switch j.spec.Kind {
		case Semi:
			if !alone {
				err = j.give(j.left, -1)
			}
		case Anti, Left, Full:
			if alone {
				err = j.give(j.left, -1)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// give puts a row out: left row l and right row r, -1 for NULLs (or for nothing, of a semi or anti join).
func (j *WindowJoin) give(l, r int32) error {
	n := len(j.spec.Left.Fields)
	for c, col := range j.out.Cols {
		switch {
		case c < n && l >= 0:
			col.AppendFrom(j.sides[0].batch.Cols[c], l)
		case c >= n && r >= 0:
			col.AppendFrom(j.sides[1].batch.Cols[c-n], r)
		default:
			col.AppendNull()
		}
	}
	return j.out.pushed(types.Insert)
}
