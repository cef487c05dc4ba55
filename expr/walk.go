package expr

import (
	"fmt"
	"slices"
	"strings"

	"runnel/types"
)

// Children gives the direct operands of e, in order of evaluation.
func Children(e Expr) []Expr {
	switch e := e.(type) {
	case *Call:
		return e.Args
	case *Cast:
		return []Expr{e.Arg}
	case *Case:
		var cs []Expr
		for _, w := range e.Whens {
			cs = append(cs, w.Cond, w.Then)
		}
		return append(cs, e.Else)
	case *Field:
		return []Expr{e.Arg}
	}
	return nil
}

// Walk calls f for e and everything below it, parents first; f returns false to leave the operands of a node out.
func Walk(e Expr, f func(Expr) bool) {
	if !f(e) {
		return
	}
	for _, c := range Children(e) {
		Walk(c, f)
	}
}

// Rewrite rebuilds e from the bottom up: f gets every node with its operands already rewritten and gives its replacement.
// Nodes under which nothing changes stay the same.
func Rewrite(e Expr, f func(Expr) Expr) Expr {
	switch n := e.(type) {
	case *Call:
		if args, changed := rewriteAll(n.Args, f); changed {
			c := *n
			c.Args = args
			e = &c
		}
	case *Cast:
		if a := Rewrite(n.Arg, f); a != n.Arg {
			c := *n
			c.Arg = a
			e = &c
		}
	case *Case:
		e = rewriteCase(n, f)
	case *Field:
		if a := Rewrite(n.Arg, f); a != n.Arg {
			c := *n
			c.Arg = a
			e = &c
		}
	}
	return f(e)
}

func rewriteAll(es []Expr, f func(Expr) Expr) ([]Expr, bool) {
	out, changed := make([]Expr, len(es)), false
	for i, e := range es {
		out[i] = Rewrite(e, f)
		changed = changed || out[i] != e
	}
	return out, changed
}

func rewriteCase(n *Case, f func(Expr) Expr) Expr {
	c := Case{Whens: make([]When, len(n.Whens)), T: n.T}
	changed := false
	for i, w := range n.Whens {
		c.Whens[i] = When{Rewrite(w.Cond, f), Rewrite(w.Then, f)}
		changed = changed || c.Whens[i] != w
	}
	c.Else = Rewrite(n.Else, f)
	if !changed && c.Else == n.Else {
		return n
	}
	return &c
}

// MapColumns renumbers the columns of e: column i becomes f(i). A negative result is a bug of the caller and panics.
func MapColumns(e Expr, f func(int) int) Expr {
	return Rewrite(e, func(e Expr) Expr {
		c, ok := e.(*Col)
		if !ok {
			return e
		}
		i := f(c.Index)
		if i < 0 {
			panic(fmt.Sprintf("expr: column %d (%s) is not mapped", c.Index, c.Name))
		}
		if i == c.Index {
			return e
		}
		return &Col{Index: i, Name: c.Name, T: c.T}
	})
}

// ReplaceColumns puts the i-th of es where e reads column i: the way to merge two projections.
func ReplaceColumns(e Expr, es []Expr) Expr {
	return Rewrite(e, func(e Expr) Expr {
		if c, ok := e.(*Col); ok {
			return es[c.Index]
		}
		return e
	})
}

// Refs gives the columns that the expressions read, ascending, each once.
func Refs(es ...Expr) []int {
	var refs []int
	for _, e := range es {
		Walk(e, func(e Expr) bool {
			if c, ok := e.(*Col); ok {
				refs = append(refs, c.Index)
			}
			return true
		})
	}
	slices.Sort(refs)
	return slices.Compact(refs)
}

// IsConst reports whether e reads no column and gives the same value whenever it is evaluated.
func IsConst(e Expr) bool { return len(Refs(e)) == 0 && Deterministic(e) }

// Deterministic reports whether e gives the same value for the same row whenever it is evaluated.
func Deterministic(e Expr) bool {
	ok := true
	Walk(e, func(e Expr) bool {
		if c, is := e.(*Call); is && (c.Func.Nondeterministic || c.Func.Dynamic) {
			ok = false
		}
		return ok
	})
	return ok
}

// Equal reports whether a and b are the same expression: the same functions of the same columns and constants, types
// included; names of columns and positions do not count.
func Equal(a, b Expr) bool { return a == b || Digest(a) == Digest(b) }

// Digest gives a text that is the same for two expressions exactly when they are Equal.
func Digest(e Expr) string {
	var b strings.Builder
	digest(&b, e)
	return b.String()
}

func digest(b *strings.Builder, e Expr) {
	switch e := e.(type) {
	case *Col:
		fmt.Fprintf(b, "$%d", e.Index)
	case *Const:
		fmt.Fprintf(b, "%s:%s", digestDatum(e.Value), e.T)
	case *Call:
		fmt.Fprintf(b, "%s:%s", e.Func.Name, e.T)
	case *Cast:
		fmt.Fprintf(b, "cast:%s:%t", e.T, e.Try)
	case *Case:
		fmt.Fprintf(b, "case:%s", e.T)
	case *Field:
		fmt.Fprintf(b, "field:%d", e.Index)
	}
	cs := Children(e)
	if len(cs) == 0 {
		return
	}
	b.WriteByte('(')
	for i, c := range cs {
		if i > 0 {
			b.WriteByte(',')
		}
		digest(b, c)
	}
	b.WriteByte(')')
}

func digestDatum(d types.Datum) string {
	switch v := d.A.(type) {
	case *types.List:
		return "[" + digestDatums(v.Elems) + "]"
	case *types.MapValue:
		return "{" + digestDatums(v.Keys) + "=" + digestDatums(v.Vals) + "}"
	case *types.Tuple:
		return "(" + digestDatums(v.Fields) + ")"
	case fmt.Stringer:
		return v.String()
	}
	if d.Null {
		return "null"
	}
	return fmt.Sprintf("%d/%d/%q", d.I, d.Lo, d.S)
}

func digestDatums(ds []types.Datum) string {
	parts := make([]string, len(ds))
	for i, d := range ds {
		parts[i] = digestDatum(d)
	}
	return strings.Join(parts, ",")
}
