package op

import (
	"fmt"
	"math"
	"slices"

	"runnel/expr"
	"runnel/state"
	"runnel/types"
)

// BatchOvering is what a BatchOver does. Its rows are those of the input with the functions behind them.
type BatchOvering struct {
	In, Out []types.Field
	Keys    []int
	Order   []SortKey
	Rows    bool // the frame counts rows, else by the distance of the order's column
	// Before and After are how far the frame reaches: rows, or units of the order's column (ms of a time); -1 for all.
	Before, After int64
	// Ahead: the frame begins behind the current row, by Before. Short: it ends in front of it, by After.
	Ahead, Short bool
	Aggs         []expr.AggCall
}

// BatchOver computes window functions over a bounded input when it ends: all of SQL's, over any order and frame. It gives
// the rows in the order of keys and sort keys. Rows are sorted on disk where they do not fit into memory; those of one key
// are in memory while they are worked on.
type BatchOver struct {
	single
	spec   BatchOvering
	keys   ordering
	sorted *sorter
	rows   collected // a part of the order: whole keys, when it is worked on
	start  int       // where the last key of rows begins
	perm   []int32
	aggs   *aggregates
	agg    []int // positions in Aggs of the ordinary aggregates
	vals   []*types.Column
}

// overPart is the number of rows from which on the keys that are complete are worked on.
const overPart = 4 * types.BatchRows

// NewBatchOver makes the operator.
func NewBatchOver(spec BatchOvering) *BatchOver { return &BatchOver{spec: spec} }

// Open compiles the aggregates.
func (o *BatchOver) Open(ctx *Context) error {
	o.ctx = ctx
	o.keys = keyOrder(o.spec.Keys)
	o.rows = newCollected(o.spec.In)
	o.sorted = newSorter(ctx, o.spec.In, append(keyOrder(o.spec.Keys), o.spec.Order...), math.MaxInt64)
	var calls []expr.AggCall
	for i, a := range o.spec.Aggs {
		o.vals = append(o.vals, types.NewColumn(o.spec.Out[len(o.spec.In)+i].Type, 0))
		if !a.Func.Window {
			o.agg, calls = append(o.agg, i), append(calls, a)
		}
	}
	var err error
	o.aggs, err = newAggregates(calls, o.spec.In, o.spec.Before >= 0, ctx.Env)
	return err
}

// Process keeps the rows.
func (o *BatchOver) Process(_ int, b *types.Batch) error { return o.sorted.add(b) }

// Close removes what is on disk.
func (o *BatchOver) Close() error { return o.sorted.close() }

// EndInput computes and gives the rows.
func (o *BatchOver) EndInput(int) error {
	err := o.sorted.each(func(b *types.Batch) error {
		from := o.rows.n
		o.rows.add(b)
		for i := max(from, 1); i < o.rows.n; i++ {
			if o.keys.compare(o.rows.cols, int32(i-1), o.rows.cols, int32(i)) != 0 {
				o.start = i
			}
		}
		if o.start < overPart {
			return nil
		}
		return o.work(o.start)
	})
	if err != nil {
		return err
	}
	o.sorted.rows = collected{}
	return o.work(o.rows.n)
}

// work computes the functions for the first n rows, whose keys are complete, and gives them.
func (o *BatchOver) work(n int) error {
	for o.perm = o.perm[:0]; len(o.perm) < o.rows.n; {
		o.perm = append(o.perm, int32(len(o.perm)))
	}
	all := types.Batch{Len: o.rows.n, Cols: o.rows.cols, Sel: o.perm[:n]}
	o.aggs.begin(&all)
	for from := 0; from < n; {
		to := from + 1
		for to < n && o.same(o.keys, from, to) {
			to++
		}
		if err := o.partition(&all, from, to); err != nil {
			return err
		}
		from = to
	}
	whole := collected{cols: slices.Concat(o.rows.cols, o.vals), n: n}
	if err := whole.each(o.spec.Out, o.perm[:n], o.ctx.Out.Emit); err != nil {
		return err
	}
	for _, c := range o.vals {
		c.Reset()
	}
	rest := newCollected(o.spec.In)
	rest.add(&types.Batch{Len: o.rows.n, Cols: o.rows.cols, Sel: o.perm[n:]})
	o.rows, o.start = rest, 0
	return nil
}

// keyOrder orders rows by key columns.
func keyOrder(keys []int) ordering {
	o := make(ordering, len(keys))
	for i, k := range keys {
		o[i].Column = k
	}
	return o
}

// same reports whether the rows at two places of the order are equal by some keys.
func (o *BatchOver) same(by ordering, a, b int) bool {
	return by.compare(o.rows.cols, o.perm[a], o.rows.cols, o.perm[b]) == 0
}

// partition computes the functions for the rows from..to of the order, which have one key.
func (o *BatchOver) partition(all *types.Batch, from, to int) error {
	n := to - from
	first := make([]int, n) // of each row's peers
	last := make([]int, n)
	dense := make([]int64, n)
	for i := 0; i < n; {
		j := i + 1
		for j < n && o.same(o.spec.Order, from+i, from+j) {
			j++
		}
		for k := i; k < j; k++ {
			first[k], last[k] = i, j-1
			dense[k] = 1
			if i > 0 {
				dense[k] = dense[i-1] + 1
			}
		}
		i = j
	}
	for at, a := range o.spec.Aggs {
		if !a.Func.Window {
			continue
		}
		for i := range n {
			if err := o.number(o.vals[at], a, from, i, n, first[i], last[i], dense[i]); err != nil {
				return err
			}
		}
	}
	if len(o.agg) == 0 {
		return nil
	}
	return o.aggregate(all, from, n, first, last)
}

// number appends the value of a numbering function for the i-th of n rows.
func (o *BatchOver) number(out *types.Column, a expr.AggCall, from, i, n, first, last int, dense int64) error {
	row := o.perm[from+i]
	switch a.Func.Name {
	case "ROW_NUMBER":
		out.AppendInt(int64(i) + 1)
	case "RANK":
		out.AppendInt(int64(first) + 1)
	case "DENSE_RANK":
		out.AppendInt(dense)
	case "PERCENT_RANK":
		if n == 1 {
			out.AppendFloat(0)
		} else {
			out.AppendFloat(float64(first) / float64(n-1))
		}
	case "CUME_DIST":
		out.AppendFloat(float64(last+1) / float64(n))
	case "NTILE":
		c := o.rows.cols[a.Args[0]]
		if c.Null(row) || c.Int[row] <= 0 {
			return dataError(o.ctx, &types.RowError{Row: row, Err: fmt.Errorf("the number of NTILE's parts must be positive")}, o.spec.In,
				&types.Batch{Len: o.rows.n, Cols: o.rows.cols})
		}
		out.AppendInt(ntile(int64(i), int64(n), c.Int[row]))
	case "LAG":
		o.shift(out, a, from, i, n, -1)
	case "LEAD":
		o.shift(out, a, from, i, n, 1)
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

// shift appends the value of LAG or LEAD.
func (o *BatchOver) shift(out *types.Column, a expr.AggCall, from, i, n, way int) {
	row, dist := o.perm[from+i], 1
	if len(a.Args) > 1 {
		if c := o.rows.cols[a.Args[1]]; !c.Null(row) {
			dist = int(min(max(c.Int[row], int64(-n)), int64(n)))
		}
	}
	switch at := i + way*dist; {
	case at >= 0 && at < n:
		out.AppendFrom(o.rows.cols[a.Args[0]], o.perm[from+at])
	case len(a.Args) > 2:
		out.AppendFrom(o.rows.cols[a.Args[2]], row)
	default:
		out.AppendNull()
	}
}

// aggregate appends the values of the ordinary aggregates: the frame moves on from row to row.
func (o *BatchOver) aggregate(all *types.Batch, from, n int, first, last []int) error {
	m := state.NewMap(o.aggs.values)
	g := group{m: m}
	g.ref, _ = m.Upsert(state.Key{})
	g.words = m.Touch(g.ref)
	cols := make([]*types.Column, len(o.agg))
	for k, at := range o.agg {
		cols[k] = o.vals[at]
	}
	lo, hi := 0, 0 // the frame is lo..hi-1
	for i := range n {
		wantLo, wantHi := o.frame(from, i, n, first, last)
		for ; hi < wantHi; hi++ {
			if err := o.step(o.aggs.add(&g, all, from+hi, o.perm[from+hi]), from+hi); err != nil {
				return err
			}
		}
		for ; lo < wantLo && lo < hi; lo++ {
			if err := o.step(o.aggs.take(&g, all, from+lo, o.perm[from+lo]), from+lo); err != nil {
				return err
			}
		}
		if lo = max(lo, wantLo); hi < lo {
			hi = lo // an empty frame ahead of the rows
		}
		if err := o.aggs.value(&g, cols); err != nil {
			return err
		}
	}
	return nil
}

// step names the row of an error.
func (o *BatchOver) step(err error, at int) error {
	if err == nil {
		return nil
	}
	return dataError(o.ctx, &types.RowError{Row: o.perm[at], Err: err}, o.spec.In, &types.Batch{Len: o.rows.n, Cols: o.rows.cols})
}

// frame gives the frame of the i-th of n rows as lo..hi-1.
func (o *BatchOver) frame(from, i, n int, first, last []int) (lo, hi int) {
	if o.spec.Rows {
		lo, hi = o.rowFrame(i, n)
	} else {
		lo, hi = o.lower(from, i, n, first, last), o.upper(from, i, n, first, last)
	}
	return lo, max(lo, hi)
}

func (o *BatchOver) rowFrame(i, n int) (lo, hi int) {
	s := &o.spec
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
	return lo, hi
}

// lower gives where a frame by distance begins.
func (o *BatchOver) lower(from, i, n int, first, last []int) int {
	s, at := &o.spec, 0
	switch {
	case s.Ahead:
		for at = last[i] + 1; at < n && o.within(from+i, from+at, s.Before, true); at++ {
		}
	case s.Before >= 0:
		at = first[i]
		for s.Before > 0 && at > 0 && o.within(from+i, from+at-1, s.Before, false) {
			at--
		}
	}
	return at
}

// upper gives where a frame by distance ends.
func (o *BatchOver) upper(from, i, n int, first, last []int) int {
	s, at := &o.spec, n
	switch {
	case s.Short:
		for at = first[i]; at > 0 && o.within(from+i, from+at-1, s.After, true); at-- {
		}
	case s.After >= 0:
		at = last[i] + 1
		for s.After > 0 && at < n && o.within(from+i, from+at, s.After, false) {
			at++
		}
	}
	return at
}

// within reports whether the order's column differs by at most dist between two rows, or by less; NULL is near NULL only.
func (o *BatchOver) within(a, b int, dist int64, less bool) bool {
	c := o.rows.cols[o.spec.Order[0].Column]
	x, y := o.perm[a], o.perm[b]
	if c.Null(x) || c.Null(y) {
		return c.Null(x) && c.Null(y)
	}
	if c.Phys() == types.PhysFloat {
		d := math.Abs(c.Flt[x] - c.Flt[y])
		return d < float64(dist) || !less && d == float64(dist)
	}
	var p, q int64
	switch c.Type.Kind {
	case types.Timestamp, types.TimestampLTZ:
		p, q = millis(c, x), millis(c, y)
	case types.Date:
		p, q = c.Int[x]*24*hour, c.Int[y]*24*hour
	case types.Decimal:
		p, q = c.Int[x], c.Int[y]
		if one := int64(types.Pow10(c.Type.Scale).Lo); dist > math.MaxInt64/one {
			dist = math.MaxInt64
		} else {
			dist *= one
		}
	default:
		p, q = c.Int[x], c.Int[y]
	}
	if less {
		dist--
	}
	return max(p, q) <= add(min(p, q), dist)
}
