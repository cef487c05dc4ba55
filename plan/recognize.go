package plan

import (
	"runnel/catalog"
	"runnel/expr"
)

// recognize finds the special cases of joins and ranks.
func (p *planning) recognize(n Node) (Node, error) {
	if err := p.retime(n); err != nil {
		return nil, err
	}
	switch n := n.(type) {
	case *Join:
		return p.recognizeJoin(n)
	case *Calc:
		return p.recognizeRank(n)
	case *GroupAggregate:
		if !p.batch {
			return recognizeWindow(n), nil
		}
	}
	return n, nil
}

// recognizeWindow makes an aggregate per window of one whose keys hold the bounds of windows that were not known when it was
// bound: those of a window join, a window top-N or a window deduplication, and of DISTINCT.
func recognizeWindow(g *GroupAggregate) Node {
	w := propsOf(g.Inputs[0])
	if !w.groups(g.Keys) || len(g.Aggs) == 0 && g.single(newBoundKeys()) || w.window.Kind == Session && (w.tvf != nil || len(groupColumns(g.Keys, w)) != len(w.window.Partition)) {
		return g
	}
	a, place := newWindowAggregate(g.Inputs[0], g.Keys, g.Aggs, w)
	a.Pos = g.Pos
	exprs := make([]expr.Expr, len(g.Fields))
	for i := range exprs {
		at := len(a.Keys) + i - len(g.Keys)
		if i < len(g.Keys) {
			at = place[i]
			a.Fields[at].Type = a.Fields[at].Type.Plain()
		}
		exprs[i] = expr.NewCol(a.Fields, at)
	}
	return newCalc(a, exprs, fieldNames(g.Fields), nil)
}

// refuseRest refuses what is left after the rules and cannot be run: OVER windows that no top-N was made of and that a
// stream cannot have, windows of uneven steps.
func (p *planning) refuseRest(n Node) (Node, error) {
	switch n := n.(type) {
	case *OverAggregate:
		return n, p.checkOver(n)
	case *WindowTableFunction:
		if w := n.Window; w.Kind == Cumulate && w.Size%w.Slide != 0 {
			e := refuseAt(n, "CumulativeWindowAssigner requires size must be an integral multiple of step.")
			e.Class = catalog.ArgumentError
			return nil, e
		}
	}
	return n, nil
}
