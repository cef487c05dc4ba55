package plan

import (
	"strings"

	"runnel/expr"
	"runnel/sql"
)

// operands gives the direct operands of a node of the syntax tree; queries inside are not looked into.
func operands(e sql.Expr) []sql.Expr {
	switch e := e.(type) {
	case *sql.IntervalExpr:
		return []sql.Expr{e.Amount}
	case *sql.TimeDiff:
		return []sql.Expr{e.L, e.R}
	case *sql.Unary:
		return []sql.Expr{e.X}
	case *sql.Binary:
		return []sql.Expr{e.L, e.R}
	case *sql.Is:
		return []sql.Expr{e.X}
	case *sql.Between:
		return []sql.Expr{e.X, e.Low, e.High}
	case *sql.In:
		return append([]sql.Expr{e.X}, e.List...)
	case *sql.LikeExpr:
		if e.Escape != nil {
			return []sql.Expr{e.X, e.Pattern, e.Escape}
		}
		return []sql.Expr{e.X, e.Pattern}
	case *sql.Quantified:
		return append([]sql.Expr{e.X}, e.List...)
	case *sql.Case:
		var es []sql.Expr
		if e.Operand != nil {
			es = append(es, e.Operand)
		}
		for _, w := range e.Whens {
			es = append(append(es, w.Conds...), w.Then)
		}
		if e.Else != nil {
			es = append(es, e.Else)
		}
		return es
	case *sql.Cast:
		return []sql.Expr{e.X}
	case *sql.Constructor:
		return e.Items
	case *sql.Index:
		return []sql.Expr{e.X, e.Index}
	case *sql.Field:
		return []sql.Expr{e.X}
	case *sql.FuncCall:
		return e.Args
	case *sql.NamedArg:
		return []sql.Expr{e.Value}
	case *sql.PatternMode:
		return []sql.Expr{e.X}
	}
	return nil
}

// contains reports whether f holds for e or a node below it.
func contains(e sql.Expr, f func(sql.Expr) bool) bool {
	if e == nil {
		return false
	}
	if f(e) {
		return true
	}
	for _, o := range operands(e) {
		if contains(o, f) {
			return true
		}
	}
	return false
}

// isAggregate reports whether e is a call of an aggregate that is no OVER window.
func isAggregate(e sql.Expr) bool {
	c, ok := e.(*sql.FuncCall)
	if !ok || c.Over != nil || len(c.Name.Parts) > 1 {
		return false
	}
	a := expr.LookupAggregate(c.Name.Last())
	return a != nil && !a.Window && expr.Lookup(c.Name.Last()) == nil
}

// isOver reports whether e is a call with an OVER window.
func isOver(e sql.Expr) bool {
	c, ok := e.(*sql.FuncCall)
	return ok && c.Over != nil
}

// isQuery reports whether e is or holds a query as a condition or value.
func isQuery(e sql.Expr) bool {
	switch e := e.(type) {
	case *sql.Exists, *sql.Subquery, *sql.UniqueExpr:
		return true
	case *sql.In:
		return e.Query != nil
	case *sql.Quantified:
		return e.Query != nil
	}
	return false
}

// conjuncts splits a condition at its ANDs, in order.
func conjuncts(e sql.Expr) []sql.Expr {
	if e == nil {
		return nil
	}
	var terms []sql.Expr
	for {
		b, ok := e.(*sql.Binary)
		if !ok || b.Op != sql.OpAnd {
			break
		}
		terms = append(terms, conjuncts(b.R)...)
		e = b.L
	}
	// The loop went from right to left; the right sides themselves are in order.
	out := []sql.Expr{e}
	for i := len(terms) - 1; i >= 0; i-- {
		out = append(out, terms[i])
	}
	return out
}

// callName gives the name of a call in upper case.
func callName(c *sql.FuncCall) string { return strings.ToUpper(c.Name.Last()) }

func equalFold(a, b string) bool { return strings.EqualFold(a, b) }

// hintText gives the text of a key or value of a hint.
func hintText(e sql.Expr) string {
	switch e := e.(type) {
	case *sql.Literal:
		return e.Text
	case *sql.Name:
		return e.Dotted()
	}
	return ""
}

// catalogList splits the value of a list option.
func catalogList(v string) []string {
	var out []string
	for _, s := range strings.Split(v, ";") {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}
