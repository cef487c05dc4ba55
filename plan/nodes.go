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
	used := map[string]bool{}
	out := make([]types.Field, len(fields))
	for i, f := range fields {
		f.Name = unused(f.Name, used)
		out[i] = f
	}
	return out
}

// unused gives name, or the first of name0, name1 .. that is not used yet, and marks it as used.
func unused(name string, used map[string]bool) string {
	out := name
	for n := 0; used[out]; n++ {
		out = name + itoa(n)
	}
	used[out] = true
	return out
}
