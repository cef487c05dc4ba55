package plan

import (
	"slices"

	"runnel/expr"
	"runnel/types"
)

// rankFuncs are the functions that number rows.
var rankFuncs = map[string]RankFunc{"ROW_NUMBER": RowNumber, "RANK": RankWithGaps, "DENSE_RANK": DenseRank}

// rankBounds are what a condition says of the rank.
type rankBounds struct {
	from, to int64
	toColumn int
	hasTo    bool
	rest     []expr.Expr
	found    bool
}

// recognizeRank turns a filter on the number of a ROW_NUMBER() into a top-N, a deduplication, or their like over windows
// (semantics.md 6.12 to 6.15).
func (p *planning) recognizeRank(c *Calc) (Node, error) {
	over, ok := c.Inputs[0].(*OverAggregate)
	if !ok || c.Cond == nil || len(over.Aggs) != 1 {
		return c, nil
	}
	fn, ok := rankFuncs[over.Aggs[0].Func.Name]
	if !ok {
		return c, nil
	}
	rank := len(over.Fields) - 1
	b := boundsOf(expr.Conjuncts(c.Cond), rank)
	if !b.found {
		return c, nil
	}
	if p.batch && fn == RowNumber && !b.hasTo {
		return c, nil
	}
	if !b.hasTo {
		return nil, refuseAt(over, "Rank end is not specified. Currently rank only support TopN, which means the rank end must be specified.").
			Cure("Add an upper bound: rn <= n.")
	}
	used := slices.Contains(expr.Refs(append(slices.Clone(c.Exprs), b.rest...)...), rank)
	if b.from == b.to && b.toColumn < 0 && fn == RowNumber && !p.batch {
		used = false // the one rank is a constant, so rows change without it
	}
	r := &ranking{p: p, over: over, fn: fn, bounds: b, number: used}
	node, err := r.node()
	if err != nil {
		return nil, err
	}
	c.Inputs[0], c.Cond = node, expr.NewAnd(b.rest...)
	return mergeCalcs(c), nil
}

// boundsOf reads the comparisons of the rank in a condition.
func boundsOf(conds []expr.Expr, rank int) *rankBounds {
	b := &rankBounds{from: 1, toColumn: -1}
	end := func(n int64) {
		if !b.hasTo || n < b.to {
			b.to, b.hasTo = n, true
		}
	}
	for _, c := range conds {
		op, n, col, ok := rankCondition(c, rank)
		if !ok {
			b.rest = append(b.rest, c)
			continue
		}
		b.found = true
		switch {
		case col >= 0 && (op == "<=" || op == "<"):
			if b.hasTo || op == "<" {
				b.rest = append(b.rest, c)
				continue
			}
			b.to, b.toColumn, b.hasTo = -1, col, true
		case col >= 0:
			b.rest = append(b.rest, c)
		case op == "<=":
			end(n)
		case op == "<":
			end(n - 1)
		case op == "=":
			b.from = max(b.from, n)
			end(n)
		case op == ">":
			b.from = max(b.from, n+1)
		case op == ">=":
			b.from = max(b.from, n)
		}
	}
	return b
}

// rankCondition reads rank op constant, or rank op column.
func rankCondition(c expr.Expr, rank int) (op string, n int64, col int, ok bool) {
	call, isCall := c.(*expr.Call)
	if !isCall || len(call.Args) != 2 {
		return "", 0, 0, false
	}
	op = call.Func.Name
	if _, known := mirrored[op]; !known {
		return "", 0, 0, false
	}
	x, y := uncast(call.Args[0]), uncast(call.Args[1])
	if k, isCol := y.(*expr.Col); isCol && k.Index == rank {
		x, y, op = y, x, mirrored[op]
	}
	k, isCol := x.(*expr.Col)
	if !isCol || k.Index != rank {
		return "", 0, 0, false
	}
	switch y := y.(type) {
	case *expr.Const:
		if y.Value.Null || !y.T.IsInteger() {
			return "", 0, 0, false
		}
		return op, y.Value.I, -1, true
	case *expr.Col:
		return op, 0, y.Index, y.T.IsInteger()
	}
	return "", 0, 0, false
}

// uncast looks through implicit casts between whole numbers.
func uncast(e expr.Expr) expr.Expr {
	c, ok := e.(*expr.Cast)
	if !ok || !c.Implicit || !c.T.IsInteger() || !c.Arg.Type().IsInteger() {
		return e
	}
	return c.Arg
}

// ranking chooses the operator of a top-N.
type ranking struct {
	p      *planning
	over   *OverAggregate
	fn     RankFunc
	bounds *rankBounds
	number bool // the rank is read above
}

// node gives the operator, with the columns of the OverAggregate that it replaces.
func (r *ranking) node() (Node, error) {
	in := r.over.Inputs[0]
	if w := propsOf(in); w != nil && !r.p.batch && slices.Contains(r.over.Keys, w.start) && slices.Contains(r.over.Keys, w.end) {
		return r.overWindow(w)
	}
	if r.fn != RowNumber && !r.p.batch {
		return nil, refuseAt(r.over, "%s() on streaming table is not supported currently", r.over.Aggs[0].Func.Name)
	}
	b := r.bounds
	if r.deduplicates() {
		order := r.over.Order[0]
		d := &Deduplicate{Keys: r.over.Keys, Time: order.Column, Last: order.Desc}
		d.Info = r.info("Deduplicate")
		d.Rowtime = fieldsIn(in)[order.Column].Type.Attr == types.Rowtime
		return r.ranked(d), nil
	}
	n := &Rank{Func: r.fn, Keys: r.over.Keys, Order: r.over.Order, From: b.from, To: b.to, ToColumn: b.toColumn, Number: r.number}
	n.Info = r.info("Rank")
	if r.number {
		n.Fields = r.over.Fields
		return n, nil
	}
	return r.ranked(n), nil
}

// deduplicates reports whether the first rank by time alone of an insert-only input is asked for.
func (r *ranking) deduplicates() bool {
	if r.p.batch || r.fn != RowNumber || r.bounds.from != 1 || r.bounds.to != 1 || len(r.over.Order) != 1 {
		return false
	}
	in := r.over.Inputs[0]
	return fieldsIn(in)[r.over.Order[0].Column].Type.IsTimeAttr() && r.p.changesOf(in) == inserts
}

// info is that of a node in place of the OverAggregate, without the rank.
func (r *ranking) info(kind string) Info {
	fields := r.over.Fields
	return Info{Kind: kind, Inputs: []Node{r.over.Inputs[0]}, Fields: fields[: len(fields)-1 : len(fields)-1], Pos: r.over.Base().Pos}
}

// ranked puts a constant rank behind a node that gives none: the only one, or one that nobody reads. The columns are then those
// that the Calc above reads.
func (r *ranking) ranked(n Node) Node {
	f := fieldsIn(n)
	rank := r.over.Fields[len(r.over.Fields)-1]
	return newCalc(n, append(columnExprs(f), expr.NewConst(types.IntDatum(r.bounds.from), rank.Type)), append(fieldNames(f), rank.Name), nil)
}

// overWindow gives a top-N or deduplication per window.
func (r *ranking) overWindow(w *windowProps) (Node, error) {
	in := r.over.Inputs[0]
	keys := slices.DeleteFunc(slices.Clone(r.over.Keys), func(k int) bool { return k == w.start || k == w.end || k == w.time })
	first := r.bounds.from == 1 && r.bounds.to == 1 && r.bounds.toColumn < 0
	if first && r.fn == RowNumber && len(r.over.Order) == 1 && orderedByTime(in, r.over.Order[0].Column) {
		if !w.window.Rowtime {
			return nil, refuseAt(r.over, "Processing time Window Deduplication is not supported yet.")
		}
		d := &WindowDeduplicate{Window: w.window, StartCol: w.start, EndCol: w.end, Keys: keys, Time: r.over.Order[0].Column, Last: r.over.Order[0].Desc}
		d.Info = r.info("WindowDeduplicate")
		return r.ranked(d), nil
	}
	if !w.window.Rowtime {
		return nil, refuseAt(r.over, "Processing time Window TopN is not supported yet.")
	}
	if r.fn != RowNumber {
		return nil, refuseAt(r.over, "%s() function is not supported on Window TopN currently, only ROW_NUMBER() is supported.", r.over.Aggs[0].Func.Name)
	}
	if r.bounds.toColumn >= 0 {
		return nil, refuseAt(r.over, "A window top-N whose end is a column is not supported.")
	}
	n := &WindowRank{Window: w.window, StartCol: w.start, EndCol: w.end, Keys: keys, Order: r.over.Order, From: r.bounds.from, To: r.bounds.to, Number: r.number}
	n.Info = r.info("WindowRank")
	if r.number {
		n.Fields = r.over.Fields
		return n, nil
	}
	return r.ranked(n), nil
}

// orderedByTime reports whether a column is the time by which the windows below were made: it has lost its attribute by
// the table function, but it is still the time.
func orderedByTime(n Node, col int) bool {
	if fieldsIn(n)[col].Type.IsTimeAttr() {
		return true
	}
	switch n := n.(type) {
	case *WindowTableFunction:
		return col == n.Window.Column
	case *Calc:
		c, ok := n.Exprs[col].(*expr.Col)
		return ok && orderedByTime(n.Inputs[0], c.Index)
	}
	return false
}

// changesOf gives the modifications of a subtree, whoever may take them.
func (p *planning) changesOf(n Node) changes {
	m := &modes{p: p, got: map[Node]changes{}, keys: newKeyTable()}
	return m.all(n)
}

// all is flow without refusals.
func (m *modes) all(n Node) changes {
	var in []changes
	for _, i := range n.Base().Inputs {
		in = append(in, m.all(i))
	}
	m.got[n] = m.gives(n, in)
	return m.got[n]
}

// trend is how the values of a column change when its row is updated.
type trend uint8

const (
	wandering trend = iota
	steady
	rising
	falling
)

// trendsOf gives the trend of each column, nil when rows may be deleted or nothing is known.
func (m *modes) trendsOf(n Node) []trend {
	in := n.Base().Inputs
	out := make([]trend, len(fieldsIn(n)))
	switch n := n.(type) {
	case *Scan:
		if n.Source == nil || n.Source.Mode != types.InsertOnly {
			return nil
		}
		return fillTrend(out, steady)
	case *Values:
		return fillTrend(out, steady)
	case *Calc:
		below := m.trendsOf(in[0])
		if below == nil {
			return nil
		}
		for i, e := range n.Exprs {
			if e, ok := e.(*expr.Cast); ok { // a cast between numbers keeps the order
				if c, ok := e.Arg.(*expr.Col); ok && e.T.IsNumeric() && c.T.IsNumeric() {
					out[i] = below[c.Index]
				}
				continue
			}
			if c, ok := e.(*expr.Col); ok {
				out[i] = below[c.Index]
			} else if expr.IsConst(e) {
				out[i] = steady
			}
		}
		return out
	case *Exchange, *WatermarkAssigner, *Union:
		below := m.trendsOf(in[0])
		for _, i := range in[1:] {
			t := m.trendsOf(i)
			for k := range below {
				if t == nil || t[k] != below[k] {
					return nil
				}
			}
		}
		return below
	case *GroupAggregate:
		if m.got[in[0]] != inserts {
			return nil
		}
		for i := range n.Keys {
			out[i] = steady
		}
		for i, a := range n.Aggs {
			switch a.Func.Name {
			case "COUNT", "MAX":
				out[len(n.Keys)+i] = rising
			case "MIN":
				out[len(n.Keys)+i] = falling
			}
		}
		return out
	}
	if m.got[n] == inserts {
		return fillTrend(out, steady)
	}
	return nil
}

func fillTrend(out []trend, t trend) []trend {
	for i := range out {
		out[i] = t
	}
	return out
}
