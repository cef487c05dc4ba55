package plan

import (
	"runnel/expr"
	"runnel/sql"
)

// Queries in the select list and HAVING of a SELECT that groups are joined to what the aggregation gives. It is built when
// everything is bound; until then the joins wait, and columns from queryBase on stand for those that they add.

// queryBase is above all other columns that stand for something while a select list is bound, and below outerBase.
const queryBase = 3 << 18

// waitingJoin is a join behind an aggregation that is not there yet.
type waitingJoin struct {
	kind  JoinKind
	right Node
	cond  expr.Expr
	at    sql.Node
}

// leftWidth is where the columns of the next joined query begin.
func (b *selecting) leftWidth() int {
	if b.after != nil {
		return queryBase + b.after.width
	}
	return len(fieldsIn(b.in))
}

// joinQuery joins a query to what has been bound so far.
func (b *selecting) joinQuery(kind JoinKind, right Node, cond expr.Expr, at sql.Node) {
	if b.after == nil {
		b.in = newJoin(kind, b.in, right, cond, at)
		return
	}
	b.after.joins = append(b.after.joins, waitingJoin{kind, right, cond, at})
	if kind != Semi && kind != Anti {
		b.after.width += len(fieldsIn(right))
	}
}

// values binds expressions that stand beside a query, as the left side of IN.
func (b *selecting) values(clause string) *binder {
	if b.after != nil {
		return b.after.binder(clause)
	}
	return b.binder(clause)
}

// joinTerms puts conditions that were pulled out of a query over the columns of its join. Behind an aggregation columns of
// the query around it are keys.
func (b *selecting) joinTerms(conds []expr.Expr, at sql.Node) ([]expr.Expr, error) {
	terms := joinTerms(conds, b.leftWidth())
	if b.after == nil {
		return terms, nil
	}
	var failed error
	for i, t := range terms {
		terms[i] = expr.Rewrite(t, func(x expr.Expr) expr.Expr {
			col, ok := x.(*expr.Col)
			if !ok || col.Index >= queryBase {
				return x
			}
			key, err := b.after.column(col, at)
			if err != nil {
				failed = err
				return x
			}
			return key
		})
	}
	return terms, failed
}

// binder binds expressions over the keys and aggregates.
func (g *grouping) binder(clause string) *binder {
	x := g.b.binder(clause)
	x.hook, x.column = g.hook, g.column
	return x
}

// condition binds HAVING; conjuncts that hold queries become joins behind the aggregation.
func (g *grouping) condition(e sql.Expr) (expr.Expr, error) {
	if !contains(e, isQuery) {
		return g.binder("HAVING clause").condition(e)
	}
	var plain []expr.Expr
	all := conjuncts(e)
	for i, c := range all {
		var x expr.Expr
		var err error
		if contains(c, isQuery) {
			x, err = g.b.queryCondition(c, "HAVING clause")
		} else {
			x, err = g.binder("HAVING clause").conjunct(c, i, len(all))
		}
		if err != nil {
			return nil, err
		}
		if x != nil {
			plain = append(plain, x)
		}
	}
	return expr.NewAnd(plain...), nil
}

// join puts the waiting joins behind the aggregation. remap then does for their columns too what it does for its own.
func (g *grouping) join(node Node, remap func(expr.Expr) expr.Expr) (Node, func(expr.Expr) expr.Expr) {
	if len(g.joins) == 0 {
		return node, remap
	}
	n := len(fieldsIn(node))
	all := func(e expr.Expr) expr.Expr {
		return expr.MapColumns(remap(e), func(i int) int {
			if i >= queryBase && i < outerBase {
				return n + i - queryBase
			}
			return i
		})
	}
	for _, j := range g.joins {
		cond := j.cond
		if cond != nil {
			cond = all(cond)
		}
		node = newJoin(j.kind, node, j.right, cond, j.at)
	}
	return node, all
}
