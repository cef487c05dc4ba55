package sql

// query reads a query without the parentheses around it.
func (p *parser) query() *Query {
	start := p.pos()
	q := &Query{}
	if p.accept("WITH") {
		q.With = list(p, p.cte)
	}
	q.Body = p.setOps(p.queryTerm(), 0)
	p.limits(q)
	q.Span = p.span(start)
	return q.flat()
}

// queryFrom goes on with a query whose first operand, in parentheses since start, has been read.
func (p *parser) queryFrom(first *Query, start Pos) *Query {
	q := &Query{Body: p.setOps(first.unwrap(), 0)}
	p.limits(q)
	q.Span = p.span(start)
	return q.flat()
}

// unwrap returns the body of a query that has nothing besides, else the query.
func (q *Query) unwrap() QueryBody {
	if len(q.With) == 0 && len(q.OrderBy) == 0 && q.Limit == nil && q.Offset == nil {
		return q.Body
	}
	return q
}

// flat returns the query in parentheses that q is, when q adds nothing to it, else q.
func (q *Query) flat() *Query {
	if inner, ok := q.unwrap().(*Query); ok && inner != q {
		return inner
	}
	return q
}

// cte reads name [(columns)] AS (query).
func (p *parser) cte() *CTE {
	start := p.pos()
	c := &CTE{Name: p.ident()}
	if p.isOp(tLParen) {
		c.Columns = p.idents()
	}
	p.expect("AS")
	p.expectOp(tLParen)
	c.Query = p.query()
	p.expectOp(tRParen)
	c.Span = p.span(start)
	return c
}

// queryTerm reads an operand of the set operators.
func (p *parser) queryTerm() QueryBody {
	p.enter()
	defer p.leave()
	p.note(aQuery)
	t := p.tok()
	switch {
	case t.is("SELECT"):
		return p.selectBody()
	case t.is("VALUES"):
		return p.values()
	case t.is("TABLE"):
		p.next()
		q := &TableQuery{Name: p.name()}
		q.Span = p.span(t.from)
		return q
	case t.kind == tLParen:
		p.next()
		q := p.query()
		p.expectOp(tRParen)
		return q.unwrap()
	case p.startsExpr():
		p.nonQuery(queryWords)
	}
	p.unexpected()
	return nil
}

// queryWords are the words that a query may begin with.
var queryWords = []string{"SELECT", "VALUES", "WITH", "TABLE"}

// setOps reads the set operators behind left that bind more tightly than above: INTERSECT before the others, each from left to right.
func (p *parser) setOps(left QueryBody, above int) QueryBody {
	for n := 0; ; n++ {
		p.chain(n)
		op := &SetOp{L: left, OpPos: p.pos()}
		prec := 1
		switch {
		case p.is("UNION"):
			op.Kind = Union
		case p.is("EXCEPT"):
			op.Kind = Except
		case p.is("INTERSECT"):
			op.Kind, prec = Intersect, 2
		case p.tok().is("MINUS"):
			t := p.tok()
			p.fail(Span{t.from, t.to}, ClassCalcite, "MINUS is not allowed under the current SQL conformance level", "write EXCEPT in its place")
		default:
			return left
		}
		if prec <= above {
			return left
		}
		p.next()
		if p.accept("ALL") {
			op.All = true
		} else {
			p.accept("DISTINCT")
		}
		op.R = p.setOps(p.queryTerm(), prec)
		op.Span = p.span(left.Pos())
		left = op
	}
}

// limits reads ORDER BY, LIMIT, OFFSET and FETCH.
func (p *parser) limits(q *Query) {
	if p.accept("ORDER") {
		q.OrderBy = p.orderBy()
	}
	if p.accept("LIMIT") {
		if !p.accept("ALL") {
			q.Limit = p.count()
		}
		if t := p.tok(); t.kind == tComma {
			p.fail(Span{t.from, t.to}, ClassCalcite, "'LIMIT start, count' is not allowed under the current SQL conformance level",
				"write LIMIT count OFFSET start")
		}
	}
	if p.accept("OFFSET") {
		q.Offset = p.count()
		if !p.accept("ROW") {
			p.accept("ROWS")
		}
		if t := p.tok(); t.is("LIMIT") && q.Limit == nil {
			p.fail(Span{t.from, t.to}, ClassCalcite, "'OFFSET start LIMIT count' is not allowed under the current SQL conformance level",
				"write LIMIT count OFFSET start")
		}
	}
	if q.Limit == nil && p.accept("FETCH") {
		if !p.accept("FIRST") {
			p.expect("NEXT")
		}
		q.Limit = p.count()
		if !p.accept("ROW") {
			p.expect("ROWS")
		}
		p.expect("ONLY")
	}
}

// count reads the number of LIMIT, OFFSET and FETCH.
func (p *parser) count() Expr {
	p.note(aNumber)
	t := p.tok()
	switch t.kind {
	case tInteger, tQuestion:
		return p.primary()
	}
	p.unexpected()
	return nil
}

// orderBy reads the rest of ORDER BY.
func (p *parser) orderBy() []*OrderItem {
	p.expect("BY")
	return exprList(p, p.orderItem)
}

func (p *parser) orderItem() *OrderItem {
	start := p.pos()
	o := &OrderItem{Expr: p.expr()}
	if p.accept("DESC") {
		o.Desc = true
	} else {
		p.accept("ASC")
	}
	if p.accept("NULLS") {
		if p.accept("FIRST") {
			o.Nulls = NullsFirst
		} else {
			p.expect("LAST")
			o.Nulls = NullsLast
		}
	}
	o.Span = p.span(start)
	return o
}

// values reads VALUES row, ..
func (p *parser) values() *Values {
	start := p.pos()
	p.expect("VALUES")
	v := &Values{Rows: exprList(p, p.expr)}
	v.Span = p.span(start)
	return v
}

// selectBody reads SELECT up to QUALIFY.
func (p *parser) selectBody() *Select {
	start := p.pos()
	p.expect("SELECT")
	s := &Select{Hints: p.hints(), Stream: p.accept("STREAM")}
	if p.accept("DISTINCT") {
		s.Quantifier = Distinct
	} else if p.accept("ALL") {
		s.Quantifier = All
	}
	s.Items = list(p, p.selectItem)
	if p.accept("FROM") {
		s.From = p.from()
		p.selectClauses(s)
	}
	s.Span = p.span(start)
	return s
}

// selectClauses reads the clauses behind FROM.
func (p *parser) selectClauses(s *Select) {
	if p.accept("WHERE") {
		s.Where = p.expr()
	}
	if p.is("GROUP") {
		s.GroupBy = p.groupBy()
	}
	if p.accept("HAVING") {
		s.Having = p.expr()
	}
	if p.accept("WINDOW") {
		s.Windows = list(p, p.namedWindow)
	}
	if p.accept("QUALIFY") {
		s.Qualify = p.expr()
	}
}

func (p *parser) selectItem() *SelectItem {
	start := p.pos()
	it := &SelectItem{}
	if t := p.tok(); t.kind == tStar {
		p.next()
		it.Expr = &Star{Span: Span{t.from, t.to}}
		it.Span = it.Expr.(*Star).Span
		p.note(anAlias)
		return it
	}
	it.Expr = p.expr()
	it.Alias = p.alias(it.Expr)
	it.Span = p.span(start)
	return it
}

// alias reads [AS] name behind an expression, if it is there.
func (p *parser) alias(x Expr) *Ident {
	if _, ok := x.(*Star); ok {
		p.note(anAlias)
		return nil
	}
	switch {
	case p.accept("AS"):
	case p.isString():
		t := p.tok()
		p.fail(Span{t.from, t.to}, ClassSQL, "Expecting alias, found character literal", "aliases are names: write them plain or in back-ticks")
	case p.isIdent():
	default:
		p.note(anAlias)
		return nil
	}
	if p.isString() {
		t := p.tok()
		p.fail(Span{t.from, t.to}, ClassSQL, "Expecting alias, found character literal", "aliases are names: write them plain or in back-ticks")
	}
	id := p.identAs(anAlias)
	return &id
}

func (p *parser) groupBy() *GroupBy {
	start := p.pos()
	p.expect("GROUP", "BY")
	g := &GroupBy{}
	if p.accept("DISTINCT") {
		g.Quantifier = Distinct
	} else if p.accept("ALL") {
		g.Quantifier = All
	}
	g.Items = exprList(p, p.groupItem)
	g.Span = p.span(start)
	return g
}

// groupItem reads an element of GROUP BY or of GROUPING SETS.
func (p *parser) groupItem() Expr {
	t, next := p.tok(), p.at(1)
	g := &GroupingSet{}
	switch {
	case t.kind == tLParen && next.kind == tRParen:
		p.i += 2
		g.Kind = EmptyGroup
		g.Span = p.span(t.from)
		return g
	case t.is("ROLLUP"):
		p.next()
		g.Kind = Rollup
	case t.is("CUBE"):
		p.next()
		g.Kind = Cube
	case t.is("GROUPING") && next.is("SETS"):
		p.i += 2
		g.Kind = GroupingSets
	default:
		return p.expr()
	}
	p.enter()
	g.Items = parens(p, p.groupItem)
	p.leave()
	g.Span = p.span(t.from)
	return g
}

func (p *parser) namedWindow() *NamedWindow {
	start := p.pos()
	w := &NamedWindow{Name: p.ident()}
	p.expect("AS")
	w.Spec = p.windowSpec()
	w.Span = p.span(start)
	return w
}

// hints reads a block of hints, if one begins here.
func (p *parser) hints() []*Hint {
	if !p.acceptOp(tHintBegin) {
		return nil
	}
	hs := []*Hint{p.hint()}
	for p.tok().kind != tHintEnd {
		p.acceptOp(tComma)
		hs = append(hs, p.hint())
	}
	p.expectOp(tHintEnd)
	return hs
}

// hint reads name [(arguments)].
func (p *parser) hint() *Hint {
	start := p.pos()
	h := &Hint{Name: p.ident()}
	if p.acceptOp(tLParen) {
		if !p.isOp(tRParen) {
			h.Args = list(p, p.hintArg)
		}
		p.expectOp(tRParen)
	}
	h.Span = p.span(start)
	return h
}

// hintArg reads a name, a literal, or key = value.
func (p *parser) hintArg() *HintArg {
	start := p.pos()
	value := func() Expr {
		switch t := p.tok(); {
		case p.isString():
			return p.stringLit()
		case t.kind == tInteger || t.kind == tDecimal || t.kind == tDouble || t.is("TRUE") || t.is("FALSE"):
			return p.primary()
		case t.kind == tMinus:
			p.next()
			return &Unary{Span: Span{t.from, p.tok().to}, Op: OpNeg, X: p.primary()}
		}
		p.note(aString)
		return p.name()
	}
	a := &HintArg{Value: value()}
	if p.acceptOp(tEq) {
		a.Key, a.Value = a.Value, value()
	}
	a.Span = p.span(start)
	return a
}
