package plan

import (
	"slices"

	"runnel/expr"
	"runnel/types"
)

// removeAggregates replaces an aggregation whose groups are single rows, since their keys hold a unique key of the input, by
// a projection (Flink's rule FlinkAggregateRemoveRule): DISTINCT, and MIN, MAX and SUM without FILTER. Updates of a row then
// pass as they come.
func removeAggregates(root Node) Node {
	keys := newBoundKeys()
	return pure(root, func(n Node) Node {
		g, ok := n.(*GroupAggregate)
		if !ok || len(g.Keys) == 0 || g.Part != "" || !g.single(keys) {
			return n
		}
		c := projection(g)
		if c == nil {
			return n
		}
		return mergeCalcs(c)
	})
}

// single reports whether the groups are single rows.
func (g *GroupAggregate) single(keys *keyTable) bool {
	return containsKey(keys.unique(g.Inputs[0]), g.Keys)
}

// projection gives what an aggregation of single rows computes; nil if that takes more than one of its columns.
func projection(g *GroupAggregate) Node {
	in := g.Inputs[0]
	var exprs []expr.Expr
	add := func(column int, t types.Type) bool {
		e := expr.Expr(expr.NewCol(fieldsIn(in), column))
		if !e.Type().SameIgnoringNull(t) || e.Type().IsTimeAttr() {
			var err error
			if e, err = expr.NewCast(e, t, false, expr.Pos{}); err != nil {
				return false
			}
		}
		exprs = append(exprs, e)
		return true
	}
	for i, k := range g.Keys {
		if !add(k, g.Fields[i].Type) {
			return nil
		}
	}
	for _, a := range g.Aggs {
		if !slices.Contains([]string{"MIN", "MAX", "SUM"}, a.Func.Name) || a.Filter >= 0 || len(a.Args) != 1 || !add(a.Args[0], a.T) {
			return nil
		}
	}
	c := newCalc(in, exprs, fieldNames(g.Fields), nil)
	c.Pos = g.Pos
	for i := range c.Fields {
		c.Fields[i].Type = g.Fields[i].Type
	}
	return c
}
