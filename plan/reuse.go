package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"runnel/expr"
	"runnel/types"
)

// reuse shares equal parts of the trees of a statement.
type reuse struct {
	p    *planning
	seen map[string]Node
}

// share gives the node that stands for n and all its equals.
func (r *reuse) share(n Node) Node {
	b := n.Base()
	for i, in := range b.Inputs {
		b.Inputs[i] = r.share(in)
	}
	if !r.allowed(n) {
		return n
	}
	key := digestNode(n)
	if same, ok := r.seen[key]; ok {
		return same
	}
	r.seen[key] = n
	return n
}

func (r *reuse) allowed(n Node) bool {
	switch n := n.(type) {
	case *Sink, *Collect:
		return false
	case *Scan:
		return r.p.Config.Bool("table.optimizer.reuse-source-enabled") && r.p.Config.Bool("table.optimizer.reuse-sub-plan-enabled")
	case *Calc:
		return r.p.Config.Bool("table.optimizer.reuse-sub-plan-enabled") && deterministic(n)
	}
	return r.p.Config.Bool("table.optimizer.reuse-sub-plan-enabled")
}

// number gives the nodes their ids, inputs first.
func number(g *Graph) {
	done := map[Node]bool{}
	var visit func(n Node)
	visit = func(n Node) {
		if done[n] {
			return
		}
		done[n] = true
		for _, in := range n.Base().Inputs {
			visit(in)
		}
		g.Nodes = append(g.Nodes, n)
		n.Base().ID = len(g.Nodes)
		n.Base().Desc = describe(n) // the names below may be those of another reader
	}
	for _, s := range g.Sinks {
		visit(s)
	}
}

// nameless describes a node without the names of its columns.
func nameless(n Node) string {
	b, aggs := n.Base(), calls(n)
	fields, named := b.Fields, slices.Clone(aggs)
	b.Fields = slices.Clone(fields)
	for i := range b.Fields {
		b.Fields[i].Name = itoa(i)
	}
	for i := range aggs {
		aggs[i].Name = ""
	}
	text := describe(n)
	b.Fields = fields
	copy(aggs, named)
	return text
}

// digestNode is the same for nodes that do the same to the same inputs.
func digestNode(n Node) string {
	var b strings.Builder
	info := n.Base()
	fmt.Fprintf(&b, "%s|%s|%d|%v", nameless(n), info.Mode, info.Parallelism, info.TTL)
	for _, in := range info.Inputs {
		fmt.Fprintf(&b, "|%p", in)
	}
	for _, f := range info.Fields {
		b.WriteString("|" + f.Type.String() + itoa(int(f.Type.Attr)))
	}
	switch n := n.(type) {
	case *Calc:
		for _, e := range n.Exprs {
			b.WriteString("|" + expr.Digest(e))
		}
		if n.Cond != nil {
			b.WriteString("|where " + expr.Digest(n.Cond))
		}
	case *Scan:
		fmt.Fprintf(&b, "|%v|%v|%v|%d", n.Columns, n.Paths, n.Table.Options, n.limit)
		if n.filter != nil {
			b.WriteString("|where " + expr.Digest(n.filter))
		}
	case *Values:
		for _, r := range n.Rows {
			for _, e := range r {
				b.WriteString("|" + expr.Digest(e))
			}
		}
	case *GroupAggregate:
		fmt.Fprintf(&b, "|%v|%s", n.Keys, aggDigest(n.Aggs))
	case *LocalGroupAggregate:
		fmt.Fprintf(&b, "|%v|%s", n.Keys, aggDigest(n.Aggs))
	case *IncrementalGroupAggregate:
		fmt.Fprintf(&b, "|%v|%s|%v|%s", n.Keys, aggDigest(n.Aggs), n.FinalKeys, aggDigest(n.FinalAggs))
	case *WindowAggregate:
		fmt.Fprintf(&b, "|%v|%s|%+v", n.Keys, aggDigest(n.Aggs), n.Window)
	case *LocalWindowAggregate:
		fmt.Fprintf(&b, "|%v|%s|%+v|%d|%d", n.Keys, aggDigest(n.Aggs), n.Window, n.StartCol, n.EndCol)
	case *GroupWindowAggregate:
		fmt.Fprintf(&b, "|%v|%s|%+v|%d", n.Keys, aggDigest(n.Aggs), n.Window, n.Lateness)
	case *TemporalJoin:
		fmt.Fprintf(&b, "|%v|%v|%d|%d", n.LeftKeys, n.RightKeys, n.LeftTime, n.RightTime)
	case *WindowJoin:
		fmt.Fprintf(&b, "|%v|%v|%d|%d", n.LeftKeys, n.RightKeys, n.LeftStart, n.RightStart)
	case *LookupJoin:
		fmt.Fprintf(&b, "|%v|%v|%v|%v|%v", n.Columns, n.Keys, n.LeftKeys, n.Consts, n.Table.Options)
	case *Correlate:
		fmt.Fprintf(&b, "|%t", n.Ordinality)
		for _, a := range n.Args {
			b.WriteString("|" + expr.Digest(a))
		}
	case *Join:
		fmt.Fprintf(&b, "|%v|%v|%v|%v", n.LeftKeys, n.RightKeys, n.LeftTTL, n.RightTTL)
	case *IntervalJoin:
		fmt.Fprintf(&b, "|%v|%v", n.LeftKeys, n.RightKeys)
	case *Rank:
		fmt.Fprintf(&b, "|%v|%v|%d|%v", n.Keys, n.Order, n.ToColumn, n.Key)
	case *Deduplicate:
		fmt.Fprintf(&b, "|%v|%d", n.Keys, n.Time)
	case *WindowRank:
		fmt.Fprintf(&b, "|%v|%v|%d|%d", n.Keys, n.Order, n.StartCol, n.EndCol)
	case *WindowDeduplicate:
		fmt.Fprintf(&b, "|%v|%d|%d|%d", n.Keys, n.Time, n.StartCol, n.EndCol)
	case *OverAggregate:
		fmt.Fprintf(&b, "|%v|%v|%s", n.Keys, n.Order, aggDigest(n.Aggs))
	case *WindowTableFunction:
		fmt.Fprintf(&b, "|%+v", n.Window)
	case *Exchange:
		fmt.Fprintf(&b, "|%v", n.Keys)
	case *ChangelogNormalize:
		fmt.Fprintf(&b, "|%v", n.Keys)
	case *SortLimit:
		fmt.Fprintf(&b, "|%v", n.Keys)
	}
	if j, ok := n.(interface{ condition() expr.Expr }); ok && j.condition() != nil {
		b.WriteString("|on " + expr.Digest(j.condition()))
	}
	return b.String()
}

func (n *Join) condition() expr.Expr { return n.Cond }

func (n *IntervalJoin) condition() expr.Expr { return n.Cond }

func (n *WindowJoin) condition() expr.Expr { return n.Cond }

func (n *TemporalJoin) condition() expr.Expr { return n.Cond }

func (n *LookupJoin) condition() expr.Expr { return n.Cond }

func (n *Correlate) condition() expr.Expr { return n.Cond }

func aggDigest(aggs []expr.AggCall) string {
	var b strings.Builder
	for _, a := range aggs {
		fmt.Fprintf(&b, "%s%v%t%d%d%s;", a.Func.Name, a.Args, a.Distinct, a.Filter, a.Nulls, a.T)
	}
	return b.String()
}

// deterministic reports whether a Calc gives the same rows whenever it sees the same.
func deterministic(n *Calc) bool {
	for _, e := range n.Exprs {
		if !expr.Deterministic(e) {
			return false
		}
	}
	return n.Cond == nil || expr.Deterministic(n.Cond)
}

// shareScans lets the scans of a table read the same columns, so that it is read once: those that any of them wants. Calcs
// on top give each reader its own.
func shareScans(roots []Node) {
	same := map[string][]*Scan{}
	for _, r := range roots {
		pure(r, func(n Node) Node {
			if s, ok := n.(*Scan); ok && s.plan != nil {
				key := s.identity()
				same[key] = append(same[key], s)
			}
			return n
		})
	}
	for i, r := range roots {
		roots[i] = pure(pure(r, func(n Node) Node {
			switch n := n.(type) {
			case *Scan:
				if n.plan != nil {
					return n.widened(same[n.identity()])
				}
			case *WatermarkAssigner:
				return n.lowered()
			}
			return n
		}), mergeCalcs)
	}
}

// widened gives a scan that reads what all of scans read, and on it the columns of this one.
func (n *Scan) widened(scans []*Scan) Node {
	fields := map[int]types.Field{}
	for _, s := range scans {
		for i, c := range s.Columns {
			fields[c] = s.Fields[i]
		}
	}
	if len(fields) == len(n.Columns) {
		return n
	}
	wide := *n
	wide.Columns, wide.Fields = slices.Sorted(maps.Keys(fields)), nil
	for _, c := range wide.Columns {
		wide.Fields = append(wide.Fields, fields[c])
	}
	at := make(moves, len(n.Columns))
	for i, c := range n.Columns {
		at[i] = slices.Index(wide.Columns, c)
	}
	if n.Mark != nil {
		m := *n.Mark
		if m.Column >= 0 {
			m.Column = at[m.Column]
		}
		m.Expr = at.expr(m.Expr)
		wide.Mark = &m
	}
	exprs := make([]expr.Expr, len(at))
	for i, c := range at {
		exprs[i] = expr.NewCol(wide.Fields, c)
	}
	return newCalc(&wide, exprs, fieldNames(n.Fields), nil)
}

// lowered puts a WatermarkAssigner below a projection, next to the scan, so that it is shared with it.
func (n *WatermarkAssigner) lowered() Node {
	c, ok := n.Inputs[0].(*Calc)
	if !ok || c.Cond != nil {
		return n
	}
	from := make(moves, len(c.Exprs))
	for i, e := range c.Exprs {
		col, ok := e.(*expr.Col)
		if !ok {
			return n
		}
		from[i] = col.Index
	}
	low, m := *n, *n.Mark
	m.Column, m.Expr = from[m.Column], from.expr(m.Expr)
	low.Mark, low.Inputs, low.Fields = &m, c.Inputs, slices.Clone(fieldsIn(c.Inputs[0]))
	low.Fields[m.Column] = n.Fields[n.Mark.Column]
	exprs := make([]expr.Expr, len(from))
	for i, k := range from {
		exprs[i] = expr.NewCol(low.Fields, k)
	}
	return newCalc(&low, exprs, fieldNames(n.Fields), nil)
}
