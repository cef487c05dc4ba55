package plan

import (
	"slices"

	"runnel/expr"
	"runnel/sql"
	"runnel/types"
)

// Queries inside expressions become joins. A query that reads columns of the query around it is turned inside out first:
// the conditions that do so are pulled up into the join's.

// queryCondition binds a conjunct of WHERE or HAVING that holds queries. It gives what is left of the condition, nil for nothing.
func (b *selecting) queryCondition(c sql.Expr, clause string) (expr.Expr, error) {
	negated := false
	x := c
	for {
		u, ok := x.(*sql.Unary)
		if !ok || u.Op != sql.OpNot {
			break
		}
		x, negated = u.X, !negated
	}
	switch x := x.(type) {
	case *sql.Exists:
		return nil, b.existsJoin(x.Query, negated)
	case *sql.In:
		if x.Query != nil && !contains(x.X, isQuery) {
			return nil, b.inJoin(x, negated != x.Not)
		}
	case *sql.Quantified:
		if x.Query != nil && !negated && !contains(x.X, isQuery) {
			return nil, b.quantifiedJoin(x)
		}
	}
	if under(c, isRowIn) {
		return b.alternatives(c, clause)
	}
	return b.values(clause).condition(c)
}

// inner binds a query inside an expression of b.
func (b *selecting) inner(q *sql.Query) (Node, error) {
	env := *b.env
	env.outer = b.sc
	r, err := b.p.query(q, &env)
	if err != nil {
		return nil, err
	}
	return r.node, nil
}

// existsJoin keeps the rows for which a query gives something, or nothing.
func (b *selecting) existsJoin(q *sql.Query, negated bool) error {
	n, err := b.inner(q)
	if err != nil {
		return err
	}
	n, conds, err := pullUp(n, q)
	if err != nil {
		return err
	}
	return b.semi(n, conds, nil, negated, q)
}

// semi joins b's rows with a query's: conds are over the query's columns and, beyond outerBase, b's; more is over b's
// columns followed by the query's.
func (b *selecting) semi(n Node, conds []expr.Expr, more []expr.Expr, negated bool, at sql.Node) error {
	terms, err := b.joinTerms(conds, at)
	if err != nil {
		return err
	}
	terms = append(terms, more...)
	kind := Semi
	if negated {
		kind = Anti
	}
	b.joinQuery(kind, n, expr.NewAnd(terms...), at)
	return nil
}

// joinTerms puts pulled-up conditions over the columns of a join with nl left columns.
func joinTerms(conds []expr.Expr, nl int) []expr.Expr {
	var terms []expr.Expr
	for _, c := range conds {
		terms = append(terms, expr.MapColumns(c, func(i int) int {
			if i >= outerBase {
				return i - outerBase
			}
			return nl + i
		}))
	}
	return terms
}

// inJoin is x [NOT] IN (query).
func (b *selecting) inJoin(e *sql.In, negated bool) error {
	left, n, conds, err := b.compared(e.X, e.Query, e)
	if err != nil {
		return err
	}
	nl := b.leftWidth()
	var terms []expr.Expr
	for i, l := range left {
		eq, err := newCall(e, "=", l, shiftedCol(n, i, nl))
		if err != nil {
			return err
		}
		if negated { // a comparison with NULL keeps the row out
			eq = orNull(eq, l, shiftedCol(n, i, nl))
		}
		terms = append(terms, eq)
	}
	return b.semi(n, conds, terms, negated, e)
}

// orNull adds that one of the operands is NULL.
func orNull(eq expr.Expr, operands ...expr.Expr) expr.Expr {
	var alts []expr.Expr
	for _, o := range operands {
		if !o.Type().NotNull {
			if x, err := expr.NewCall("IS NULL", []expr.Expr{o}, expr.Pos{}); err == nil {
				alts = append(alts, x)
			}
		}
	}
	return expr.NewOr(append(alts, eq)...)
}

// shiftedCol is column i of the right side of a join with nl left columns.
func shiftedCol(n Node, i, nl int) expr.Expr {
	f := fieldsIn(n)[i]
	return &expr.Col{Index: nl + i, Name: f.Name, T: f.Type.Plain()}
}

// compared binds the two sides of IN, ANY and ALL: the expressions on the left and the query.
func (b *selecting) compared(x sql.Expr, q *sql.Query, at sql.Node) ([]expr.Expr, Node, []expr.Expr, error) {
	items := []sql.Expr{x}
	if row, ok := x.(*sql.Constructor); ok && (row.Kind == sql.RowImplicit || row.Kind == sql.RowExplicit) {
		items = row.Items
	}
	left, err := b.values("WHERE clause").exprs(items)
	if err != nil {
		return nil, nil, nil, err
	}
	n, err := b.inner(q)
	if err != nil {
		return nil, nil, nil, err
	}
	if len(fieldsIn(n)) != len(left) {
		return nil, nil, nil, refuse(nameError, at, "Values passed to IN operator must have compatible types").
			Cure("The query has %d columns, %d are compared.", len(fieldsIn(n)), len(left))
	}
	n, conds, err := pullUp(n, q)
	return left, n, conds, err
}

// quantifiedJoin is x op ANY (query), a semi join, or x op ALL (query): no row for which the comparison is not TRUE.
func (b *selecting) quantifiedJoin(e *sql.Quantified) error {
	left, n, conds, err := b.compared(e.X, e.Query, e)
	if err != nil {
		return err
	}
	if len(left) != 1 {
		return unsupported(e, "A comparison of rows with ANY or ALL is")
	}
	cmp, err := newCall(e, binaryNames[e.Op], left[0], shiftedCol(n, 0, b.leftWidth()))
	if err != nil {
		return err
	}
	if e.All {
		if cmp, err = newCall(e, "IS NOT TRUE", cmp); err != nil {
			return err
		}
	}
	return b.semi(n, conds, []expr.Expr{cmp}, e.All, e)
}

// scalarQuery binds a query as a value: its one row is joined to every row of b.
func (b *selecting) scalarQuery(s *sql.Subquery) (expr.Expr, error) {
	n, err := b.inner(s.Query)
	if err != nil {
		return nil, err
	}
	if len(fieldsIn(n)) != 1 {
		return nil, refuse(nameError, s, "Cannot apply '$SCALAR_QUERY' to arguments of type '$SCALAR_QUERY(<RECORDTYPE(%s)>)'. Supported form(s): '$SCALAR_QUERY(<RECORDTYPE(SINGLE FIELD)>)'",
			names(fieldsIn(n)))
	}
	n, conds, err := b.scalarRow(n, s)
	if err != nil {
		return nil, err
	}
	terms, err := b.joinTerms(conds, s)
	if err != nil {
		return nil, err
	}
	nl := b.leftWidth()
	f := fieldsIn(n)[0]
	count := isCount(n)
	b.joinQuery(Left, n, expr.NewAnd(terms...), s)
	col := &expr.Col{Index: nl, Name: f.Name, T: f.Type.Plain().Optional()}
	if count && len(conds) > 0 { // no row is a count of 0
		return newCall(s, "COALESCE", col, expr.NewConst(types.IntDatum(0), types.Of(types.BigInt)))
	}
	return col, nil
}

// scalarRow makes sure that a query gives one row at most, for each value of what it is correlated by.
func (b *selecting) scalarRow(n Node, at *sql.Subquery) (Node, []expr.Expr, error) {
	if !correlated(n) {
		if oneRow(n) {
			return n, nil, nil
		}
		return singleValue(n, at), nil, nil
	}
	if out, conds, ok := correlatedAggregate(n); ok {
		return out, conds, nil
	}
	return nil, nil, refuse(tableError, at, "unexpected correlate variable $cor0 in the plan").
		Cure("A query as a value that reads columns of the query around it has to be one aggregate with equalities to them in WHERE.")
}

// oneRow reports whether a node gives one row at most.
func oneRow(n Node) bool {
	switch n := n.(type) {
	case *Calc:
		return oneRow(n.Inputs[0])
	case *GroupAggregate:
		return len(n.Keys) == 0
	case *Values:
		return len(n.Rows) == 1
	case *Limit:
		return n.Limit == 1
	case *SortLimit:
		return n.Limit == 1
	}
	return false
}

// isCount reports whether the first column is a plain count.
func isCount(n Node) bool {
	switch n := n.(type) {
	case *Calc:
		c, ok := n.Exprs[0].(*expr.Col)
		if !ok {
			return false
		}
		g, ok := n.Inputs[0].(*GroupAggregate)
		return ok && c.Index >= len(g.Keys) && g.Aggs[c.Index-len(g.Keys)].Func.Name == "COUNT"
	}
	return false
}

// singleValue fails when a query gives a second row.
func singleValue(n Node, at sql.Node) Node {
	f := fieldsIn(n)[0]
	c := expr.AggCall{Func: expr.LookupAggregate("SINGLE_VALUE"), Args: []int{0}, Filter: -1, Name: f.Name, T: f.Type.Plain().Optional()}
	c.Text = callText(c, fieldsIn(n), false)
	g := &GroupAggregate{Aggs: []expr.AggCall{c}}
	g.Kind, g.Inputs, g.Pos = "GroupAggregate", []Node{n}, pos(at)
	g.Fields = []types.Field{{Name: f.Name, Type: c.T}}
	return g
}

// correlated reports whether an expression below n reads a column of an outer query.
func correlated(n Node) bool {
	found := false
	visitExprs(n, func(e expr.Expr) { found = found || isOuter(e) })
	return found
}

// isOuter reports whether an expression reads a column of an outer query.
func isOuter(e expr.Expr) bool {
	refs := expr.Refs(e)
	return len(refs) > 0 && refs[len(refs)-1] >= outerBase
}

// visitExprs calls f for all expressions below n.
func visitExprs(n Node, f func(expr.Expr)) {
	switch n := n.(type) {
	case *Calc:
		for _, e := range n.Exprs {
			f(e)
		}
		if n.Cond != nil {
			f(n.Cond)
		}
	case *Join:
		if n.Cond != nil {
			f(n.Cond)
		}
	case *Values:
		for _, r := range n.Rows {
			for _, e := range r {
				f(e)
			}
		}
	case *Correlate:
		for _, e := range n.Args {
			f(e)
		}
	}
	for _, in := range n.Base().Inputs {
		visitExprs(in, f)
	}
}

// pullUp takes the conditions that read outer columns out of a query. The query's own columns stay the first ones of the
// node that it gives; columns that the conditions need stand behind them.
func pullUp(n Node, at sql.Node) (Node, []expr.Expr, error) {
	if !correlated(n) {
		return n, nil, nil
	}
	out, conds, ok := pull(n)
	if !ok || correlated(out) {
		return nil, nil, refuse(tableError, at, "unexpected correlate variable $cor0 in the plan").
			Cure("Columns of the query around it may be read in the WHERE of a query in an expression, below no aggregate and no LIMIT.")
	}
	return out, conds, nil
}

// pull is pullUp without its check.
func pull(n Node) (Node, []expr.Expr, bool) {
	if !correlated(n) {
		return n, nil, true
	}
	switch n := n.(type) {
	case *Calc:
		return pullCalc(n)
	case *SortLimit:
		return pullLimit(n)
	case *Join:
		if n.Join != Inner && n.Join != Semi {
			break
		}
		left, lc, ok1 := pull(n.Inputs[0])
		right, rc, ok2 := pull(n.Inputs[1])
		if !ok1 || !ok2 || len(fieldsIn(left)) != len(fieldsIn(n.Inputs[0])) || n.Join == Semi && len(rc) > 0 {
			break
		}
		nl := len(fieldsIn(left))
		conds := lc
		for _, c := range rc {
			conds = append(conds, shiftInner(c, nl))
		}
		var own []expr.Expr
		for _, c := range expr.Conjuncts(n.Cond) {
			if !isOuter(c) {
				own = append(own, c)
			} else if n.Join == Inner {
				conds = append(conds, c)
			} else {
				return nil, nil, false
			}
		}
		j := *n
		j.Inputs = []Node{left, right}
		j.Cond = expr.NewAnd(own...)
		j.Fields = joinFields(j.Join, fieldsIn(left), fieldsIn(right))
		return &j, conds, true
	}
	return nil, nil, false
}

// pullLimit turns the first rows of a correlated query into the first rows for each value of what it is correlated by.
func pullLimit(n *SortLimit) (Node, []expr.Expr, bool) {
	in, conds, ok := pull(n.Inputs[0])
	if !ok || correlated(in) || n.Limit < 0 {
		return nil, nil, false
	}
	r := &Rank{Order: n.Keys, From: n.Offset + 1, To: n.Offset + n.Limit, ToColumn: -1}
	r.Kind, r.Inputs, r.Fields, r.Pos = "Rank", []Node{in}, fieldsIn(in), n.Pos
	for _, c := range conds {
		call, isCall := c.(*expr.Call)
		if !isCall || call.Func.Name != "=" || len(call.Args) != 2 {
			return nil, nil, false
		}
		a, b := call.Args[0], call.Args[1]
		if isOuter(a) {
			a, b = b, a
		}
		col, isCol := a.(*expr.Col)
		if !isCol || isOuter(a) || !onlyOuter(b) {
			return nil, nil, false
		}
		r.Keys = append(r.Keys, col.Index)
	}
	return r, conds, true
}

// shiftInner moves the inner columns of a condition, not the outer ones.
func shiftInner(c expr.Expr, by int) expr.Expr {
	return expr.MapColumns(c, func(i int) int {
		if i >= outerBase {
			return i
		}
		return i + by
	})
}

// pullCalc pulls conditions through a Calc: columns that they read and that it does not give are put behind its own.
func pullCalc(n *Calc) (Node, []expr.Expr, bool) {
	in, conds, ok := pull(n.Inputs[0])
	if !ok {
		return nil, nil, false
	}
	c := *n
	c.Info.Inputs = []Node{in}
	c.Exprs, c.Fields = slices.Clone(n.Exprs), slices.Clone(n.Fields)
	// EXISTS (SELECT o.x ..) keeps its outer column: nobody reads it, or the check refuses it.
	var own []expr.Expr
	for _, k := range expr.Conjuncts(n.Cond) {
		if isOuter(k) {
			conds = append(conds, k)
		} else {
			own = append(own, k)
		}
	}
	c.Cond = expr.NewAnd(own...)
	f := fieldsIn(in)
	out := make([]expr.Expr, len(conds))
	for i, k := range conds {
		out[i] = expr.MapColumns(k, func(col int) int {
			if col >= outerBase {
				return col
			}
			for at, e := range c.Exprs {
				if x, ok := e.(*expr.Col); ok && x.Index == col {
					return at
				}
			}
			c.Exprs = append(c.Exprs, expr.NewCol(f, col))
			c.Fields = append(c.Fields, f[col])
			return len(c.Exprs) - 1
		})
	}
	return &c, out, true
}

// correlatedAggregate turns a correlated aggregate without GROUP BY into one that groups by what it is correlated by:
// (SELECT MAX(x) FROM t WHERE t.k = o.k) is the row for o.k of SELECT MAX(x), k FROM t GROUP BY k.
func correlatedAggregate(n Node) (Node, []expr.Expr, bool) {
	var top *Calc
	g, ok := n.(*GroupAggregate)
	if c, isCalc := n.(*Calc); isCalc {
		if g, ok = c.Inputs[0].(*GroupAggregate); ok {
			top = c
		}
	}
	if !ok || len(g.Keys) > 0 || top != nil && (top.Cond != nil || slices.ContainsFunc(top.Exprs, isOuter)) {
		return nil, nil, false
	}
	in, conds, ok := pull(g.Inputs[0])
	if !ok || correlated(in) {
		return nil, nil, false
	}
	var keys []int
	outer := make([]expr.Expr, 0, len(conds))
	inner := inputColumns{in: in}
	for _, c := range conds { // inner expression = outer expression
		call, isCall := c.(*expr.Call)
		if !isCall || call.Func.Name != "=" || len(call.Args) != 2 {
			return nil, nil, false
		}
		a, b := call.Args[0], call.Args[1]
		if isOuter(a) {
			a, b = b, a
		}
		if isOuter(a) || !onlyOuter(b) {
			return nil, nil, false
		}
		keys, outer = append(keys, inner.column(a)), append(outer, b)
	}
	in = inner.node()
	agg := *g
	agg.Inputs, agg.Keys, agg.Fields = []Node{in}, keys, nil
	f := fieldsIn(in)
	for _, k := range keys {
		key := f[k]
		key.Type = key.Type.Plain()
		agg.Fields = append(agg.Fields, key)
	}
	agg.Fields = append(agg.Fields, g.Fields...)
	nk := len(keys)
	exprs := []expr.Expr{expr.NewCol(agg.Fields, nk)}
	names := []string{agg.Fields[nk].Name}
	if top != nil {
		exprs = []expr.Expr{expr.MapColumns(top.Exprs[0], func(i int) int { return i + nk })}
		names = []string{top.Fields[0].Name}
	}
	var terms []expr.Expr
	for i, k := range keys {
		exprs, names = append(exprs, expr.NewCol(agg.Fields, i)), append(names, f[k].Name)
		eq, err := expr.NewCall("=", []expr.Expr{&expr.Col{Index: 1 + i, Name: f[k].Name, T: f[k].Type.Plain()}, outer[i]}, expr.Pos{})
		if err != nil {
			return nil, nil, false
		}
		terms = append(terms, eq)
	}
	return newCalc(&agg, exprs, names, nil), terms, true
}

// onlyOuter reports whether an expression reads outer columns only.
func onlyOuter(e expr.Expr) bool {
	refs := expr.Refs(e)
	return len(refs) > 0 && refs[0] >= outerBase
}

// inValue binds x IN (query) as a value, with three-valued logic: the query's values are counted and looked up.
func (b *selecting) inValue(e *sql.In) (expr.Expr, error) {
	x, err := b.values("an expression").expr(e.X)
	if err != nil {
		return nil, err
	}
	n, err := b.inner(e.Query)
	if err != nil {
		return nil, err
	}
	if isRow(e.X) {
		return nil, refuse(tableError, e, "We now only support the count of one field.").Cure("IN of rows stands in WHERE or HAVING, under AND and OR.")
	}
	if len(fieldsIn(n)) != 1 {
		return nil, refuse(nameError, e, "Values passed to IN operator must have compatible types")
	}
	if correlated(n) {
		return nil, refuse(tableError, e, "unexpected correlate variable $cor0 in the plan").Cure("IN as a value wants a query of its own.")
	}
	again, err := b.inner(e.Query)
	if err != nil {
		return nil, err
	}
	// c rows of which ck are no NULL; m is TRUE where x is among them.
	nl := b.leftWidth()
	b.joinQuery(Inner, countsOf(n, e), nil, e)
	f := fieldsIn(again)
	marked := newCalc(distinct(again), append(columnExprs(plainFields(f)), expr.NewBool(true)), []string{f[0].Name, "i"}, nil)
	key := &expr.Col{Index: nl + 2, Name: f[0].Name, T: f[0].Type.Plain()}
	eq, err := newCall(e, "=", x, key)
	if err != nil {
		return nil, err
	}
	b.joinQuery(Left, marked, eq, e)
	big := types.Of(types.BigInt).Required()
	c, ck := &expr.Col{Index: nl, Name: "c", T: big}, &expr.Col{Index: nl + 1, Name: "ck", T: big}
	m := &expr.Col{Index: nl + 3, Name: "i", T: types.Of(types.Boolean)}
	return threeValued(e, x, c, ck, m)
}

// countsOf counts the rows of a query and those that are no NULL.
func countsOf(n Node, at sql.Node) Node {
	count := expr.LookupAggregate("COUNT")
	big := types.Of(types.BigInt).Required()
	all := expr.AggCall{Func: count, Filter: -1, Name: "c", T: big}
	some := expr.AggCall{Func: count, Args: []int{0}, Filter: -1, Name: "ck", T: big}
	for _, c := range []*expr.AggCall{&all, &some} {
		c.Text = callText(*c, fieldsIn(n), false)
	}
	g := &GroupAggregate{Aggs: []expr.AggCall{all, some}}
	g.Kind, g.Inputs, g.Pos = "GroupAggregate", []Node{n}, pos(at)
	g.Fields = []types.Field{{Name: "c", Type: big}, {Name: "ck", Type: big}}
	return g
}

func threeValued(e *sql.In, x, c, ck, m expr.Expr) (expr.Expr, error) {
	zero := expr.NewConst(types.IntDatum(0), types.Of(types.BigInt))
	empty, err := newCall(e, "=", c, zero)
	if err != nil {
		return nil, err
	}
	found, err := newCall(e, "IS NOT NULL", m)
	if err != nil {
		return nil, err
	}
	null, err := newCall(e, "IS NULL", x)
	if err != nil {
		return nil, err
	}
	holes, err := newCall(e, "<", ck, c)
	if err != nil {
		return nil, err
	}
	unknown := expr.NewConst(types.NullDatum(), types.Of(types.Boolean))
	v, err := expr.NewCase([]expr.When{{Cond: empty, Then: expr.NewBool(false)}, {Cond: found, Then: expr.NewBool(true)},
		{Cond: null, Then: unknown}, {Cond: holes, Then: unknown}}, expr.NewBool(false), pos(e))
	if err != nil {
		return nil, typeError(err, e)
	}
	if e.Not {
		v = expr.NewNot(v)
	}
	return v, nil
}

// existsValue binds EXISTS (query) as a value: whether the count of its rows is above zero.
func (b *selecting) existsValue(e *sql.Exists) (expr.Expr, error) {
	n, err := b.inner(e.Query)
	if err != nil {
		return nil, err
	}
	one := newCalc(n, []expr.Expr{expr.NewInt(1)}, []string{"$f0"}, nil)
	g := countsOf(one, e).(*GroupAggregate)
	g.Aggs, g.Fields = g.Aggs[:1], g.Fields[:1]
	nl := b.leftWidth()
	var conds []expr.Expr
	var row Node = g
	if correlated(n) {
		out, terms, ok := correlatedAggregate(g)
		if !ok {
			return nil, refuse(tableError, e, "unexpected correlate variable $cor0 in the plan").
				Cure("EXISTS as a value may be tied to the query around it by equalities only.")
		}
		row = out
		if conds, err = b.joinTerms(terms, e); err != nil {
			return nil, err
		}
	}
	b.joinQuery(Left, row, expr.NewAnd(conds...), e)
	col := &expr.Col{Index: nl, Name: "c", T: types.Of(types.BigInt)}
	n0, err := newCall(e, "COALESCE", col, expr.NewConst(types.IntDatum(0), types.Of(types.BigInt)))
	if err != nil {
		return nil, err
	}
	return newCall(e, ">", n0, expr.NewConst(types.IntDatum(0), types.Of(types.BigInt)))
}
