package plan

import (
	"slices"

	"runnel/expr"
	"runnel/types"
)

// nameApart gives the columns of a node names that differ, as Flink's plans have them: a join of two tables with an id
// gives id and id0. Names mean nothing once a query is bound; expressions are written with those of their input.
func nameApart(n Node) Node {
	b := n.Base()
	switch n := n.(type) {
	case *Sink, *Collect:
		return n
	case *Scan, *Values, *Calc, *Expand:
	case *GroupAggregate:
		b.Fields = keysNamed(b, n.Keys)
	case *WindowAggregate:
		b.Fields = keysNamed(b, n.Keys)
	case *GroupWindowAggregate:
		b.Fields = keysNamed(b, n.Keys)
	case *Match:
		b.Fields = keysNamed(b, n.Keys)
	default:
		b.Fields = namedLike(b.Fields, read(n))
	}
	b.Fields = unique(b.Fields)
	return n
}

// keysNamed gives the fields of an aggregate, its keys called as in the input.
func keysNamed(b *Info, keys []int) []types.Field {
	out := slices.Clone(b.Fields)
	for i, k := range keys {
		out[i].Name = fieldsIn(b.Inputs[0])[k].Name
	}
	return out
}

// namedLike gives fields with the names of other ones, as far as those go.
func namedLike(fields, like []types.Field) []types.Field {
	out := slices.Clone(fields)
	for i := range min(len(out), len(like)) {
		out[i].Name = like[i].Name
	}
	return out
}

// read are the columns over which the expressions of a node stand.
func read(n Node) []types.Field {
	b := n.Base()
	switch n.(type) {
	case *Scan, *Values:
		return b.Fields
	case *LookupJoin, *Correlate:
		return namedLike(b.Fields, fieldsIn(b.Inputs[0]))
	}
	if len(b.Inputs) == 2 {
		if _, ok := n.(*Union); !ok {
			return unique(slices.Concat(fieldsIn(b.Inputs[0]), fieldsIn(b.Inputs[1])))
		}
	}
	return fieldsIn(b.Inputs[0])
}

// renamedBy gives an expression whose columns are called as fields are.
func renamedBy(e expr.Expr, fields []types.Field) expr.Expr {
	return expr.Rewrite(e, func(x expr.Expr) expr.Expr {
		if c, ok := x.(*expr.Col); ok && c.Index < len(fields) {
			return &expr.Col{Index: c.Index, Name: fields[c.Index].Name, T: c.T}
		}
		return x
	})
}
