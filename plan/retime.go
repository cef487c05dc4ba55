package plan

import (
	"slices"

	"runnel/expr"
	"runnel/types"
)

// retime settles the time attributes of a node after those of its inputs have been settled. Binding takes them further
// than they reach: a view over a regular join shows its columns as time attributes, as in Flink, but nothing can use them.
func (p *planning) retime(n Node) error {
	b := n.Base()
	if len(b.Inputs) == 0 {
		return nil
	}
	if p.batch {
		if m, ok := n.(*Match); ok {
			return p.checkMatch(m)
		}
		return nil
	}
	in := fieldsIn(b.Inputs[0])
	set := func(i int, attr types.TimeAttr) {
		if b.Fields[i].Type.Attr == attr {
			return
		}
		b.Fields = slices.Clone(b.Fields)
		b.Fields[i].Type.Attr = attr
	}
	switch n := n.(type) {
	case *Calc:
		for i, e := range n.Exprs {
			if c, ok := e.(*expr.Col); ok {
				set(i, in[c.Index].Type.Attr)
			}
		}
	case *Sort, *TemporalSort, *SortLimit, *Limit, *Rank, *Deduplicate, *WindowRank, *WindowDeduplicate, *OverAggregate, *Correlate:
		for i := range in {
			set(i, in[i].Type.Attr)
		}
	case *Join:
		for i := range in {
			set(i, in[i].Type.Attr)
		}
		if n.Join != Semi && n.Join != Anti {
			for i, f := range fieldsIn(b.Inputs[1]) {
				set(len(in)+i, f.Type.Attr)
			}
		}
	case *Union:
		for i := range b.Fields {
			attr := in[i].Type.Attr
			for _, other := range b.Inputs[1:] {
				if fieldsIn(other)[i].Type.Attr != attr {
					attr = types.NoAttr
				}
			}
			set(i, attr)
		}
	case *GroupAggregate:
		for i := range b.Fields {
			set(i, types.NoAttr)
		}
	case *WindowTableFunction:
		for i := range in {
			set(i, in[i].Type.Attr)
		}
		set(n.Window.Column, types.NoAttr)
		return p.wantTime(n, in[n.Window.Column].Type)
	case *Match:
		for i, k := range n.Keys {
			set(i, in[k].Type.Attr)
		}
		for i, e := range n.Measures {
			if c, ok := e.(*expr.Col); ok && n.Columns[c.Index].Kind == expr.MatchField {
				set(len(n.Keys)+i, in[n.Columns[c.Index].Column].Type.Attr)
			}
		}
		return p.checkMatch(n)
	case *WindowAggregate:
		if !n.Attached {
			return p.wantTime(n, in[n.Window.Column].Type)
		}
	case *GroupWindowAggregate:
		if t := in[n.Window.Column].Type; !t.IsTimeAttr() {
			return refuseAt(n, "Window aggregate can only be defined over a time attribute column, but %s encountered.", t.Name())
		}
	}
	return p.retimeSort(n, in)
}

func (p *planning) wantTime(n Node, t types.Type) error {
	if t.IsTimeAttr() {
		return nil
	}
	e := refuseAt(n, "The window function requires the timecol is a time attribute type, but is %s.", t.Name()).
		Cure("A join, an aggregate or an expression below has made a plain timestamp of it.")
	e.Class = validation
	return e
}

// retimeSort refuses a sort by a column that is no time attribute any more.
func (p *planning) retimeSort(n Node, in []types.Field) error {
	s, ok := n.(*TemporalSort)
	if ok && !in[s.Keys[0].Column].Type.IsTimeAttr() {
		return refuseAt(n, "Sort on a non-time-attribute field is not supported.").
			Cure("A join, an aggregate or an expression below has made a plain timestamp of it.")
	}
	return nil
}
