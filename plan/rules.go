package plan

import (
	"slices"

	"runnel/expr"
)

// The rules work on trees that belong to one statement alone, so they change nodes in place. They run in this order, each
// over the whole tree: conditions go down, Calcs are merged, joins are recognised, unread columns go, exchanges come in.

// bottomUp replaces every node by f of it, inputs first.
func bottomUp(n Node, f func(Node) (Node, error)) (Node, error) {
	in := n.Base().Inputs
	for i := range in {
		m, err := bottomUp(in[i], f)
		if err != nil {
			return nil, err
		}
		in[i] = m
	}
	return f(n)
}

// pure is bottomUp for rules that refuse nothing.
func pure(n Node, f func(Node) Node) Node {
	out, _ := bottomUp(n, func(n Node) (Node, error) { return f(n), nil })
	return out
}

// pushConditions moves conjuncts of filters towards the sources: into joins and through them, into the parts of a union,
// and below an aggregation where they read keys only.
func pushConditions(n Node) Node {
	if c, ok := n.(*Calc); ok && c.Cond != nil {
		if in, rest := pushInto(c.Inputs[0], expr.Conjuncts(c.Cond)); in != nil {
			c.Inputs[0], c.Cond = in, expr.NewAnd(rest...)
		}
	}
	in := n.Base().Inputs
	for i := range in {
		in[i] = pushConditions(in[i])
	}
	return n
}

// pushInto tries to move conditions below a node; rest are those that have to stay above. in is nil when nothing moved.
func pushInto(n Node, conds []expr.Expr) (in Node, rest []expr.Expr) {
	var movable []expr.Expr
	for _, c := range conds {
		if expr.Deterministic(c) {
			movable = append(movable, c)
		} else {
			rest = append(rest, c)
		}
	}
	if len(movable) == 0 {
		return nil, nil
	}
	switch n := n.(type) {
	case *Calc:
		// Only below plain columns: a computed one would be computed twice.
		var down []expr.Expr
		for _, c := range movable {
			if slices.ContainsFunc(expr.Refs(c), func(i int) bool { _, ok := n.Exprs[i].(*expr.Col); return !ok }) {
				rest = append(rest, c)
				continue
			}
			down = append(down, expr.ReplaceColumns(c, n.Exprs))
		}
		if len(down) == 0 {
			return nil, nil
		}
		n.Cond = expr.NewAnd(append(expr.Conjuncts(n.Cond), down...)...)
		return n, rest
	case *Union:
		for i := range n.Inputs {
			n.Inputs[i] = newFilter(n.Inputs[i], expr.NewAnd(movable...))
		}
		return n, rest
	case *Join:
		return pushIntoJoin(n, movable, rest)
	case *GroupAggregate:
		if _, sets := n.Inputs[0].(*Expand); sets || len(n.Keys) == 0 {
			return nil, nil
		}
		var down []expr.Expr
		for _, c := range movable {
			if refs := expr.Refs(c); len(refs) == 0 || refs[len(refs)-1] >= len(n.Keys) {
				rest = append(rest, c)
				continue
			}
			down = append(down, expr.MapColumns(c, func(i int) int { return n.Keys[i] }))
		}
		if len(down) == 0 {
			return nil, nil
		}
		n.Inputs[0] = newFilter(n.Inputs[0], expr.NewAnd(down...))
		return n, rest
	}
	return nil, nil
}

// pushIntoJoin puts conditions over a join where they belong: into its inputs, or, for an inner join, into its condition.
func pushIntoJoin(j *Join, conds, rest []expr.Expr) (Node, []expr.Expr) {
	nl := len(fieldsIn(j.Inputs[0]))
	if j.temporal != nil {
		return pushIntoTemporal(j, conds, rest)
	}
	for _, c := range conds {
		j.Join = withoutPadding(j.Join, rejectsNulls(c, func(i int) bool { return i < nl }), rejectsNulls(c, func(i int) bool { return i >= nl }))
	}
	var left, right, both []expr.Expr
	moved := false
	for _, c := range conds {
		switch side := sideOf(c, nl); {
		case side == leftSide && j.Join != Right && j.Join != Full:
			left = append(left, c)
		case side == rightSide && (j.Join == Inner || j.Join == Right):
			right = append(right, expr.MapColumns(c, func(i int) int { return i - nl }))
		case j.Join == Inner:
			both = append(both, c)
		default:
			rest = append(rest, c)
			continue
		}
		moved = true
	}
	if !moved {
		return nil, nil
	}
	j.Inputs[0] = newFilter(j.Inputs[0], expr.NewAnd(left...))
	j.Inputs[1] = newFilter(j.Inputs[1], expr.NewAnd(right...))
	j.Cond = expr.NewAnd(append(expr.Conjuncts(j.Cond), both...)...)
	return j, rest
}

// withoutPadding is the kind of a join whose padded rows a filter drops: those with nulls on the left, on the right.
func withoutPadding(kind JoinKind, left, right bool) JoinKind {
	switch {
	case kind == Left && right, kind == Right && left, kind == Full && left && right:
		return Inner
	case kind == Full && left:
		return Left
	case kind == Full && right:
		return Right
	}
	return kind
}

// strict are functions that give NULL when an operand is NULL.
var strict = map[string]bool{
	"=": true, "<>": true, "<": true, "<=": true, ">": true, ">=": true, "+": true, "-": true, "*": true, "/": true, "%": true,
	"LIKE": true, "NOT LIKE": true, "UPPER": true, "LOWER": true, "ABS": true, "CHAR_LENGTH": true, "MOD": true, "NOT": true,
}

// rejectsNulls reports whether a condition is not TRUE for rows in which the columns are NULL.
func rejectsNulls(cond expr.Expr, column func(int) bool) bool {
	if e, ok := cond.(*expr.Call); ok {
		switch e.Func.Name {
		case "AND":
			return slices.ContainsFunc(e.Args, func(a expr.Expr) bool { return rejectsNulls(a, column) })
		case "IS NOT NULL":
			return nullWith(e.Args[0], column)
		case "IS TRUE":
			return rejectsNulls(e.Args[0], column)
		case "NOT", "IS NOT TRUE", "IS FALSE":
			if is, ok := e.Args[0].(*expr.Call); ok && is.Func.Name == "IS NULL" {
				return nullWith(is.Args[0], column)
			}
		}
	}
	return nullWith(cond, column)
}

// nullWith reports whether an expression is NULL for rows in which the columns are: FALSE is not enough, NOT makes it TRUE.
func nullWith(e expr.Expr, column func(int) bool) bool {
	switch e := e.(type) {
	case *expr.Col:
		return column(e.Index)
	case *expr.Cast:
		return nullWith(e.Arg, column)
	case *expr.Call:
		return strict[e.Func.Name] && slices.ContainsFunc(e.Args, func(a expr.Expr) bool { return nullWith(a, column) })
	}
	return false
}

// pushIntoTemporal moves conditions to the left of a temporal join: to its right they would hide versions.
func pushIntoTemporal(j *Join, conds, rest []expr.Expr) (Node, []expr.Expr) {
	nl := len(fieldsIn(j.Inputs[0]))
	var left []expr.Expr
	for _, c := range conds {
		j.Join = withoutPadding(j.Join, false, rejectsNulls(c, func(i int) bool { return i >= nl }))
		if sideOf(c, nl) == leftSide {
			left = append(left, c)
		} else {
			rest = append(rest, c)
		}
	}
	if len(left) == 0 {
		return nil, nil
	}
	j.Inputs[0] = newFilter(j.Inputs[0], expr.NewAnd(left...))
	return j, rest
}

type side uint8

const (
	noSide side = iota
	leftSide
	rightSide
	bothSides
)

// sideOf says which inputs of a join with nl left columns an expression reads.
func sideOf(e expr.Expr, nl int) side {
	refs := expr.Refs(e)
	switch {
	case len(refs) == 0:
		return noSide
	case refs[len(refs)-1] < nl:
		return leftSide
	case refs[0] >= nl:
		return rightSide
	}
	return bothSides
}

// pushJoinConditions moves conjuncts of a join's own condition that read one side only into that side, where that does not
// change who is padded.
func pushJoinConditions(n Node) Node {
	j, ok := n.(*Join)
	if !ok || j.Cond == nil || j.temporal != nil {
		return n
	}
	nl := len(fieldsIn(j.Inputs[0]))
	var left, right, rest []expr.Expr
	for _, c := range expr.Conjuncts(j.Cond) {
		s := sideOf(c, nl)
		switch {
		case !expr.Deterministic(c):
			rest = append(rest, c)
		case s == leftSide && (j.Join == Inner || j.Join == Right || j.Join == Semi):
			left = append(left, c)
		case s == rightSide && j.Join != Right && j.Join != Full:
			right = append(right, expr.MapColumns(c, func(i int) int { return i - nl }))
		default:
			rest = append(rest, c)
		}
	}
	j.Inputs[0] = newFilter(j.Inputs[0], expr.NewAnd(left...))
	j.Inputs[1] = newFilter(j.Inputs[1], expr.NewAnd(right...))
	j.Cond = expr.NewAnd(rest...)
	return j
}

// mergeCalcs makes one Calc of two that stand on each other, and drops a Calc that changes nothing but names.
func mergeCalcs(n Node) Node {
	c, ok := n.(*Calc)
	if !ok {
		return n
	}
	if in, ok := c.Inputs[0].(*Calc); ok && mergeable(c, in) {
		m := *c
		m.Info.Inputs = in.Inputs
		m.Exprs = make([]expr.Expr, len(c.Exprs))
		for i, e := range c.Exprs {
			m.Exprs[i] = expr.ReplaceColumns(e, in.Exprs)
		}
		conds := expr.Conjuncts(in.Cond)
		if c.Cond != nil {
			conds = append(conds, expr.Conjuncts(expr.ReplaceColumns(c.Cond, in.Exprs))...)
		}
		m.Cond = expr.NewAnd(conds...)
		return mergeCalcs(&m)
	}
	if isIdentity(c) {
		return c.Inputs[0]
	}
	return c
}

// mergeable reports whether merging computes nothing twice: every computed column of the inner Calc is read once at most.
// Functions that give another value each time stay where they are.
func mergeable(outer, inner *Calc) bool {
	reads := make([]int, len(inner.Exprs))
	count := func(e expr.Expr) {
		expr.Walk(e, func(e expr.Expr) bool {
			if c, ok := e.(*expr.Col); ok {
				reads[c.Index]++
			}
			return true
		})
	}
	for _, e := range outer.Exprs {
		count(e)
	}
	if outer.Cond != nil {
		count(outer.Cond)
	}
	for i, e := range inner.Exprs {
		switch e.(type) {
		case *expr.Col, *expr.Const:
			continue
		}
		if reads[i] > 1 || reads[i] == 1 && !expr.Deterministic(e) && outer.Cond != nil {
			return false
		}
	}
	return true
}

// isIdentity reports whether a Calc passes its input on as it is, names aside.
func isIdentity(c *Calc) bool {
	in := fieldsIn(c.Inputs[0])
	if c.Cond != nil || len(c.Exprs) != len(in) {
		return false
	}
	for i, e := range c.Exprs {
		col, ok := e.(*expr.Col)
		if !ok || col.Index != i || c.Fields[i].Type.Attr != in[i].Type.Attr {
			return false
		}
	}
	return true
}

// fold evaluates the constant parts of an expression. What fails stays: it fails when it is run, if it is.
func (p *planning) fold(e expr.Expr) expr.Expr {
	if p.Unfolded {
		return e
	}
	if f, err := expr.Fold(e, p.env()); err == nil {
		return f
	}
	return e
}

// foldConstants folds in all expressions of a node, and drops a condition that is always TRUE.
func (p *planning) foldConstants(n Node) Node {
	switch n := n.(type) {
	case *Calc:
		for i := range n.Exprs {
			n.Exprs[i] = p.fold(n.Exprs[i])
		}
		n.Cond = p.foldCondition(n.Cond)
	case *Join:
		n.Cond = p.foldCondition(n.Cond)
	case *WatermarkAssigner:
		n.Mark.Expr = p.fold(n.Mark.Expr)
	case *Scan:
		if n.Mark != nil {
			n.Mark.Expr = p.fold(n.Mark.Expr)
		}
	case *Values:
		for _, row := range n.Rows {
			for i := range row {
				row[i] = p.fold(row[i])
			}
		}
	}
	return n
}

func (p *planning) foldCondition(cond expr.Expr) expr.Expr {
	var keep []expr.Expr
	for _, c := range expr.Conjuncts(cond) {
		c = p.fold(c)
		if k, ok := c.(*expr.Const); ok && !k.Value.Null && k.Value.Bool() {
			continue
		}
		keep = append(keep, c)
	}
	return expr.NewAnd(keep...)
}
