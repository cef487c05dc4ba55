package op

import (
	"fmt"
	"math"
	"math/big"

	"runnel/expr"
	"runnel/state"
	"runnel/types"
)

// overKey are the rows of one key in their order: in memory, or in a run.
type overKey struct {
	n    int
	cols []*types.Column
	from int // the first one in cols, which have all rows
	all  int
	run  *rowRun
}

// overCursor reads rows of a key by their number. One that moves on reads each block of a run once, and holds one.
type overCursor struct {
	key   *overKey
	cols  []*types.Column // where the row that at gave is
	len   int             // rows in cols
	first int             // of a run: number of the first row in cols
	in    runReader
	buf   collected
}

func (c *overCursor) begin(key *overKey) {
	c.key, c.cols, c.first, c.len = key, key.cols, 0, key.all
	if key.run != nil {
		c.cols, c.len, c.in = c.buf.cols, 0, runReader{run: key.run}
	}
}

// at gives the place of a row in cols.
func (c *overCursor) at(row int) (int32, error) {
	if c.key.run == nil {
		return int32(c.key.from + row), nil
	}
	if row >= c.first && row < c.first+c.len {
		return int32(row - c.first), nil
	}
	var err error
	c.buf.reset()
	c.first = c.in.seek(row)
	c.len, err = c.in.readBlock(c.buf.cols)
	return int32(row - c.first), err
}

// overFrames computes the functions of a BatchOver for the rows of a key. Bounds of frames only move on from row to row:
// each is a cursor, and so is what else looks at other rows than the current one.
type overFrames struct {
	ctx   *Context
	spec  *BatchOvering
	order ordering
	space *spillSpace
	aggs  *aggregates
	plain []int // positions in Aggs of the ordinary aggregates
	cols  []*types.Column
	reach [2]overReach
	peers bool // there are functions that count rows of equal order
	out   output
	one   types.Batch

	key           *overKey
	cur, ends     overCursor // the row, the last of its peers
	lower, upper  overCursor // where the frame begins, and behind it
	enter, leave  overCursor // rows on their way into the accumulators and out of them
	shift         []overCursor
	group         group
	begins, stops int // the frame
	in, gone      int // rows gone..in-1 are in the accumulators
	first, last   int // of the row's peers
	dense         int64
	row           int32 // place of the current row
}

func newOverFrames(ctx *Context, spec *BatchOvering, space *spillSpace) (*overFrames, error) {
	f := &overFrames{ctx: ctx, spec: spec, order: spec.Order, space: space, out: newOutput(ctx.Out, spec.Out),
		shift: make([]overCursor, len(spec.Aggs))}
	var calls []expr.AggCall
	for i, a := range spec.Aggs {
		if !a.Func.Window {
			f.plain, calls = append(f.plain, i), append(calls, a)
			f.cols = append(f.cols, f.out.Cols[len(spec.In)+i])
		}
		switch a.Func.Name {
		case "RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST":
			f.peers = true
		}
	}
	for _, c := range f.cursors() {
		c.buf = newCollected(spec.In)
	}
	if len(spec.Order) == 1 {
		t := spec.In[spec.Order[0].Column].Type
		f.reach = [2]overReach{newOverReach(spec.Before, spec.BeforeBy, t, spec.Ahead), newOverReach(spec.After, spec.AfterBy, t, spec.Short)}
	}
	var err error
	f.aggs, err = newAggregates(calls, spec.In, spec.Before >= 0, ctx.Env)
	return f, err
}

func (f *overFrames) cursors() []*overCursor {
	all := []*overCursor{&f.cur, &f.ends, &f.lower, &f.upper, &f.enter, &f.leave}
	for i := range f.shift {
		all = append(all, &f.shift[i])
	}
	return all
}

// give gives the rows of a key with the functions.
func (f *overFrames) give(key *overKey) error {
	f.key = key
	for _, c := range f.cursors() {
		c.begin(key)
	}
	f.begins, f.stops, f.in, f.gone, f.first, f.last, f.dense = 0, 0, 0, 0, 0, -1, 0
	if len(f.plain) > 0 {
		m := state.NewMap(f.aggs.values)
		f.group = group{m: m}
		f.group.ref, _ = m.Upsert(state.Key{})
		f.group.words = m.Touch(f.group.ref)
	}
	for i := range key.n {
		if err := f.giveRow(i); err != nil {
			return err
		}
	}
	return nil
}

func (f *overFrames) giveRow(i int) error {
	var err error
	if f.row, err = f.cur.at(i); err != nil {
		return err
	}
	if f.peers {
		if err := f.findPeers(i); err != nil {
			return err
		}
	}
	for j, c := range f.cur.cols {
		f.out.Cols[j].AppendFrom(c, f.row)
	}
	for at, a := range f.spec.Aggs {
		if a.Func.Window {
			if err := f.number(f.out.Cols[len(f.cur.cols)+at], at, i); err != nil {
				return err
			}
		}
	}
	if len(f.plain) > 0 {
		if err := f.aggregate(i); err != nil {
			return err
		}
	}
	return f.out.pushed(types.Insert)
}

// findPeers finds the first and the last row whose order is that of row i.
func (f *overFrames) findPeers(i int) error {
	if i <= f.last {
		return nil
	}
	f.first = i
	f.dense++
	for f.last = i; f.last+1 < f.key.n; f.last++ {
		x, err := f.ends.at(f.last + 1)
		if err != nil {
			return err
		}
		if f.order.compare(f.cur.cols, f.row, f.ends.cols, x) != 0 {
			break
		}
	}
	return nil
}

// number appends the value of a numbering function for row i.
func (f *overFrames) number(out *types.Column, at, i int) error {
	a, n := &f.spec.Aggs[at], f.key.n
	switch a.Func.Name {
	case "ROW_NUMBER":
		out.AppendInt(int64(i) + 1)
	case "RANK":
		out.AppendInt(int64(f.first) + 1)
	case "DENSE_RANK":
		out.AppendInt(f.dense)
	case "PERCENT_RANK":
		if n == 1 {
			out.AppendFloat(0)
		} else {
			out.AppendFloat(float64(f.first) / float64(n-1))
		}
	case "CUME_DIST":
		out.AppendFloat(float64(f.last+1) / float64(n))
	case "NTILE":
		c := f.cur.cols[a.Args[0]]
		if c.Null(f.row) || c.Int[f.row] <= 0 {
			return f.failed(&f.cur, f.row, fmt.Errorf("the number of NTILE's parts must be positive"))
		}
		out.AppendInt(ntile(int64(i), int64(n), c.Int[f.row]))
	case "LAG":
		return f.other(out, at, i, -1)
	case "LEAD":
		return f.other(out, at, i, 1)
	default:
		return fmt.Errorf("window function %s is not supported", a.Func.Name)
	}
	return nil
}

// ntile gives the part, from 1, of the i-th of n rows when they are cut into parts; the first ones are the larger.
func ntile(i, n, parts int64) int64 {
	size, larger := n/parts, n%parts
	if i < larger*(size+1) {
		return i/(size+1) + 1
	}
	return larger + (i-larger*(size+1))/size + 1
}

// other appends the value of LAG or LEAD. Their third argument also stands for a value that is NULL, as in Flink's batch mode.
func (f *overFrames) other(out *types.Column, at, i, way int) error {
	a, n, dist := &f.spec.Aggs[at], f.key.n, 1
	if len(a.Args) > 1 {
		if c := f.cur.cols[a.Args[1]]; !c.Null(f.row) {
			dist = int(min(max(c.Int[f.row], int64(-n)), int64(n)))
		}
	}
	if to := i + way*dist; to >= 0 && to < n {
		c := &f.shift[at]
		x, err := c.at(to)
		if err != nil {
			return err
		}
		if v := c.cols[a.Args[0]]; len(a.Args) < 3 || !v.Null(x) {
			out.AppendFrom(v, x)
			return nil
		}
	}
	if len(a.Args) > 2 {
		out.AppendFrom(f.cur.cols[a.Args[2]], f.row)
	} else {
		out.AppendNull()
	}
	return nil
}

// aggregate moves the frame on to row i and appends the values of the ordinary aggregates.
func (f *overFrames) aggregate(i int) error {
	if err := f.move(i); err != nil {
		return err
	}
	for ; f.in < f.stops; f.in++ {
		if err := f.apply(&f.enter, f.in, f.aggs.add); err != nil {
			return err
		}
		if err := f.space.tooLarge("the frame of one key", int64(f.group.m.Memory())); err != nil {
			return err
		}
	}
	for ; f.gone < f.begins && f.gone < f.in; f.gone++ {
		if err := f.apply(&f.leave, f.gone, f.aggs.take); err != nil {
			return err
		}
	}
	if f.gone = max(f.gone, f.begins); f.in < f.gone {
		f.in = f.gone // an empty frame ahead of the rows
	}
	return f.aggs.value(&f.group, f.cols)
}

// apply adds a row to the accumulators, or takes it from them.
func (f *overFrames) apply(c *overCursor, i int, do func(*group, *types.Batch, int, int32) error) error {
	x, err := c.at(i)
	if err != nil {
		return err
	}
	f.one = types.Batch{Len: c.len, Cols: c.cols, Sel: append(f.one.Sel[:0], x)}
	f.aggs.begin(&f.one)
	if err := do(&f.group, &f.one, 0, x); err != nil {
		return f.failed(c, x, err)
	}
	return nil
}

// failed names the row of an error.
func (f *overFrames) failed(c *overCursor, row int32, err error) error {
	return dataError(f.ctx, &types.RowError{Row: row, Err: err}, f.spec.In, &types.Batch{Len: c.len, Cols: c.cols})
}

// move finds the frame of row i: the rows begins..stops-1.
func (f *overFrames) move(i int) error {
	s := f.spec
	if s.Rows {
		f.begins, f.stops = s.rowFrame(i, f.key.n)
		return nil
	}
	for s.Before >= 0 && f.begins < f.key.n {
		x, err := f.lower.at(f.begins)
		if err != nil {
			return err
		}
		if !f.tooEarly(f.lower.cols, x) {
			break
		}
		f.begins++
	}
	if s.After < 0 {
		f.stops = f.key.n
	}
	for f.stops < f.key.n {
		x, err := f.upper.at(f.stops)
		if err != nil {
			return err
		}
		if f.tooLate(f.upper.cols, x) {
			break
		}
		f.stops++
	}
	f.stops = max(f.begins, f.stops)
	return nil
}

// rowFrame gives the frame of the i-th of n rows, which counts rows, as lo..hi-1.
func (s *BatchOvering) rowFrame(i, n int) (lo, hi int) {
	before, after := int(min(s.Before, int64(n))), int(min(s.After, int64(n)))
	if s.Ahead {
		before = -before
	}
	if s.Short {
		after = -after
	}
	lo, hi = 0, n
	if s.Before >= 0 {
		lo = min(max(i-before, 0), n)
	}
	if s.After >= 0 {
		hi = min(max(i+after+1, 0), n)
	}
	return lo, max(lo, hi)
}

// tooEarly reports whether a row lies in front of the frame by distance of the current row.
func (f *overFrames) tooEarly(cols []*types.Column, x int32) bool {
	c := f.order.compare(cols, x, f.cur.cols, f.row)
	if f.spec.Ahead {
		return c <= 0 || f.within(cols, x, &f.reach[0], true)
	}
	return c < 0 && (f.spec.Before == 0 || !f.within(cols, x, &f.reach[0], false))
}

// tooLate reports whether a row lies behind the frame by distance of the current row.
func (f *overFrames) tooLate(cols []*types.Column, x int32) bool {
	c := f.order.compare(cols, x, f.cur.cols, f.row)
	if f.spec.Short {
		return c >= 0 || f.within(cols, x, &f.reach[1], true)
	}
	return c > 0 && (f.spec.After == 0 || !f.within(cols, x, &f.reach[1], false))
}

// overReach is the distance of a bound in the units of the order's column.
type overReach struct {
	n     int64 // ms of a time
	wide  types.Int128
	float float64
}

// newOverReach converts a distance. less: rows must be less apart than it. Numbers are whole multiples of their unit, so that
// a part of one is left out; or it makes a whole one where they must be less apart.
func newOverReach(ms int64, by Distance, t types.Type, less bool) overReach {
	r := overReach{n: ms, float: types.DecimalToFloat(by.Unscaled, types.MaxDecimal, by.Scale)}
	x, unit := by.Unscaled.Big(), big.NewInt(1)
	scale := 0
	if t.Kind == types.Decimal {
		scale = t.Scale
	}
	x.Mul(x, unit.Exp(big.NewInt(10), big.NewInt(int64(scale)), nil))
	x, rest := x.QuoRem(x, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(by.Scale)), nil), new(big.Int))
	if less && rest.Sign() > 0 {
		x.Add(x, big.NewInt(1))
	}
	var fits bool
	if r.wide, fits = types.Int128FromBig(x); !fits {
		r.wide = types.Int128{Hi: math.MaxInt64, Lo: math.MaxUint64}
	}
	return r
}

// within reports whether the order's column of a row differs by at most a distance from that of the current row, or by less;
// NULL is near NULL only.
func (f *overFrames) within(cols []*types.Column, x int32, by *overReach, less bool) bool {
	k := f.order[0].Column
	a, b, y := cols[k], f.cur.cols[k], f.row
	if a.Null(x) || b.Null(y) {
		return a.Null(x) && b.Null(y)
	}
	var p, q types.Int128
	switch {
	case a.Phys() == types.PhysFloat:
		d := math.Abs(a.Flt[x] - b.Flt[y])
		return d < by.float || !less && d == by.float
	case a.Type.Kind == types.Timestamp || a.Type.Kind == types.TimestampLTZ:
		return near(millis(a, x), millis(b, y), by.n, less)
	case a.Type.Kind == types.Date:
		return near(a.Int[x]*24*hour, b.Int[y]*24*hour, by.n, less)
	case a.Phys() == types.PhysWide:
		p, q = a.Wide[x], b.Wide[y]
	case a.Type.IsNumeric():
		p, q = types.Int128Of(a.Int[x]), types.Int128Of(b.Int[y])
	default:
		return near(a.Int[x], b.Int[y], by.n, less)
	}
	if p.Cmp(q) < 0 {
		p, q = q, p
	}
	d, fits := p.Sub(q)
	if !fits {
		return false
	}
	c := d.Cmp(by.wide)
	return c < 0 || !less && c == 0
}

// near reports whether two numbers differ by at most dist, or by less.
func near(p, q, dist int64, less bool) bool {
	if less {
		dist--
	}
	return max(p, q) <= add(min(p, q), dist)
}
