package plan

import (
	"runnel/expr"
	"runnel/types"
)

// fieldsIn gives the columns of a node.
func fieldsIn(n Node) []types.Field { return n.Base().Fields }

// newCalc makes a Calc; names and types of its columns come from the expressions, time attributes included.
func newCalc(in Node, exprs []expr.Expr, names []string, cond expr.Expr) *Calc {
	c := &Calc{Exprs: exprs, Cond: cond}
	c.Kind, c.Inputs = "Calc", []Node{in}
	c.Fields = make([]types.Field, len(exprs))
	for i, e := range exprs {
		c.Fields[i] = types.Field{Name: names[i], Type: e.Type()}
	}
	return c
}

// columnExprs reads all columns of fields.
func columnExprs(fields []types.Field) []expr.Expr {
	es := make([]expr.Expr, len(fields))
	for i := range fields {
		es[i] = expr.NewCol(fields, i)
	}
	return es
}

// newFilter keeps the rows of in for which cond is TRUE; a nil condition gives in itself.
func newFilter(in Node, cond expr.Expr) Node {
	if cond == nil {
		return in
	}
	f := fieldsIn(in)
	return newCalc(in, columnExprs(f), fieldNames(f), cond)
}

// renamed gives in with other names for its columns; in itself when it has them.
func renamed(in Node, names []string) Node {
	f := fieldsIn(in)
	same := true
	for i := range f {
		same = same && f[i].Name == names[i]
	}
	if same {
		return in
	}
	return newCalc(in, columnExprs(f), names, nil)
}

// unique makes names different from one another, as joins and nested rows want them: a second id becomes id0.
func unique(fields []types.Field) []types.Field {
	seen := make(map[string]bool, len(fields))
	for _, f := range fields {
		seen[f.Name] = true
	}
	used := map[string]bool{}
	out := make([]types.Field, len(fields))
	for i, f := range fields {
		name := f.Name
		for n := 0; used[name]; n++ {
			if name = f.Name + itoa(n); seen[name] {
				name = f.Name
				continue
			}
		}
		used[name] = true
		f.Name = name
		out[i] = f
	}
	return out
}
