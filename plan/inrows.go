package plan

import (
	"runnel/expr"
	"runnel/sql"
	"runnel/types"
)

// Under OR in a condition (x, y) IN (query) need not tell FALSE from NULL: it is TRUE, or the row has to come by another way.

// isRowIn reports whether e is an IN of rows over a query, without NOT.
func isRowIn(e sql.Expr) bool {
	in, ok := e.(*sql.In)
	return ok && in.Query != nil && !in.Not && isRow(in.X)
}

// isRow reports whether e is a row of several values.
func isRow(e sql.Expr) bool {
	row, ok := e.(*sql.Constructor)
	return ok && (row.Kind == sql.RowImplicit || row.Kind == sql.RowExplicit) && len(row.Items) > 1
}

// junctionOf gives the sides of AND or OR, nil for anything else.
func junctionOf(e sql.Expr) *sql.Binary {
	if b, ok := e.(*sql.Binary); ok && (b.Op == sql.OpAnd || b.Op == sql.OpOr) {
		return b
	}
	return nil
}

// under reports whether f holds for e or for what stands in it under AND and OR alone.
func under(e sql.Expr, f func(sql.Expr) bool) bool {
	if b := junctionOf(e); b != nil {
		return under(b.L, f) || under(b.R, f)
	}
	return f(e)
}

// alternatives binds a condition with an IN of rows under AND and OR.
func (b *selecting) alternatives(c sql.Expr, clause string) (expr.Expr, error) {
	if isRowIn(c) {
		return b.rowFound(c.(*sql.In))
	}
	j := junctionOf(c)
	if j == nil {
		return b.values(clause).condition(c)
	}
	l, err := b.alternatives(j.L, clause)
	if err != nil {
		return nil, err
	}
	r, err := b.alternatives(j.R, clause)
	if err != nil {
		return nil, err
	}
	return newCall(c, binaryNames[j.Op], l, r)
}

// rowFound is TRUE where a row is among those of a query, and FALSE elsewhere.
func (b *selecting) rowFound(e *sql.In) (expr.Expr, error) {
	left, n, conds, err := b.compared(e.X, e.Query, e)
	if err != nil {
		return nil, err
	}
	if len(conds) > 0 {
		return nil, refuse(tableError, e, "unexpected correlate variable $cor0 in the plan").Cure("IN of rows under OR wants a query of its own.")
	}
	f := plainFields(fieldsIn(n))
	marked := newCalc(distinct(n), append(columnExprs(f), expr.NewBool(true)), append(fieldNames(f), "i"), nil)
	nl := b.leftWidth()
	var terms []expr.Expr
	for i, l := range left {
		eq, err := newCall(e, "=", l, shiftedCol(n, i, nl))
		if err != nil {
			return nil, err
		}
		terms = append(terms, eq)
	}
	b.joinQuery(Left, marked, expr.NewAnd(terms...), e)
	return newCall(e, "IS NOT NULL", &expr.Col{Index: nl + len(f), Name: "i", T: types.Of(types.Boolean)})
}
