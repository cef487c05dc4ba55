package sql

// from reads the tables of a FROM clause. Commas bind less tightly than JOIN.
func (p *parser) from() TableRef {
	left := p.joined(p.tableRef())
	for n := 0; p.acceptOp(tComma); n++ {
		p.chain(n)
		right := p.joined(p.tableRef())
		left = &Join{Span: p.span(left.Pos()), Kind: CommaJoin, L: left, R: right}
	}
	return left
}

// joined reads the joins behind left.
func (p *parser) joined(left TableRef) TableRef {
	for n := 0; ; n++ {
		p.chain(n)
		j := &Join{L: left}
		at := p.i
		if !p.joinKind(j) {
			return left
		}
		if !p.startsTable() && p.i == at+1 {
			p.unexpectedAs(at, 2, aTableAlias)
		}
		j.R = p.tableRef()
		switch {
		case p.accept("ON"):
			j.On = p.expr()
		case p.accept("USING"):
			j.Using = p.idents()
		}
		j.Span = p.span(left.Pos())
		left = j
	}
}

// joinKind reads the words of a join up to JOIN into j, or returns false when there is none.
func (p *parser) joinKind(j *Join) bool {
	t, next := p.tok(), p.at(1)
	switch {
	case !t.is("NATURAL") && !t.is("CROSS") && !t.is("INNER") && !t.is("LEFT") && !t.is("RIGHT") && !t.is("FULL"):
	case !p.isJoin() && !next.is("APPLY"):
		p.unexpectedAs(p.i, 2, aTableAlias)
	}
	if (t.is("CROSS") || t.is("OUTER")) && next.is("APPLY") {
		p.fail(Span{t.from, next.to}, ClassCalcite, "APPLY operator is not allowed under the current SQL conformance level",
			"write CROSS JOIN LATERAL, or LEFT JOIN LATERAL .. ON TRUE")
	}
	j.Natural = p.accept("NATURAL")
	outer := true
	switch {
	case p.accept("LEFT"):
		j.Kind = LeftJoin
	case p.accept("RIGHT"):
		j.Kind = RightJoin
	case p.accept("FULL"):
		j.Kind = FullJoin
	case p.accept("CROSS"):
		j.Kind, outer = CrossJoin, false
	case p.accept("INNER"):
		j.Kind, outer = InnerJoin, false
	case j.Natural || p.is("JOIN"):
		j.Kind, outer = InnerJoin, false
	default:
		return false
	}
	if outer {
		p.accept("OUTER")
	}
	p.expect("JOIN")
	return true
}

// startsTable tells whether the current token may begin a table.
func (p *parser) startsTable() bool { return p.startsTableAt(0) }

func (p *parser) startsTableAt(n int) bool {
	t := p.at(n)
	return t.kind == tQuoted || t.kind == tIdent && (t.word() == nil || !t.word().reserved) || t.kind == tLParen ||
		t.is("LATERAL") || t.is("UNNEST") || t.is("TABLE")
}

// isJoin tells whether a join begins at the current token: JOIN may follow some words, and Flink's parser looks for it.
func (p *parser) isJoin() bool {
	n := 0
	if p.at(n).is("NATURAL") {
		n++
	}
	switch t := p.at(n); {
	case t.is("LEFT"), t.is("RIGHT"), t.is("FULL"):
		if n++; p.at(n).is("OUTER") {
			n++
		}
	case t.is("CROSS"), t.is("INNER"):
		n++
	}
	return p.at(n).is("JOIN")
}

// tableRef reads one table with all that belongs to it.
func (p *parser) tableRef() TableRef {
	p.enter()
	defer p.leave()
	p.note(aTableRef)
	start := p.pos()
	lateral := p.accept("LATERAL")
	t := p.tok()
	switch {
	case t.kind == tLParen:
		r := p.parenTable(start, lateral)
		if q, ok := r.(*Query); ok {
			return p.tableTail(&DerivedTable{Lateral: lateral, Query: q}, start)
		}
		if lateral {
			p.fail(Span{start, t.to}, ClassParse, "Encountered \"LATERAL (\" at "+start.String()+".", "LATERAL stands before a query or TABLE(..), not before joined tables")
		}
		return p.tableTail(r.(TableRef), start)
	case t.is("UNNEST"):
		p.next()
		u := &Unnest{Lateral: lateral, Exprs: parens(p, p.expr)}
		u.Ordinality = p.acceptAll("WITH", "ORDINALITY")
		return p.tableTail(u, start)
	case t.is("TABLE"):
		return p.tableFunc(start, lateral)
	}
	if lateral && !(p.isIdent() && p.at(1).kind == tLParen) {
		p.note(`"("`)
		p.note("TABLE")
		p.unexpected()
	}
	n := p.name()
	if p.tok().kind == tLParen {
		c, ok := p.call(n).(*FuncCall)
		if !ok {
			p.unexpected()
		}
		return p.tableTail(&TableFunc{Lateral: lateral, Call: c}, start)
	}
	r := &TableName{Name: n, Hints: p.hints()}
	if p.accept("FOR") {
		p.expect("SYSTEM_TIME", "AS", "OF")
		r.AsOf = p.expr()
	}
	return p.tableTail(r, start)
}

// tableFunc reads TABLE(f(..)), and TABLE(name), which is the table of that name.
func (p *parser) tableFunc(start Pos, lateral bool) TableRef {
	p.expect("TABLE")
	p.expectOp(tLParen)
	at := p.tok()
	f := &TableFunc{Lateral: lateral, Wrapped: true}
	switch {
	case at.word() != nil && at.word().callable:
		f.Call = p.primary().(*FuncCall)
	default:
		n := p.name()
		if p.isOp(tRParen) {
			p.next()
			return p.tableTail(&TableName{Name: n}, start)
		}
		c, ok := p.call(n).(*FuncCall)
		if !ok {
			p.unexpected()
		}
		f.Call = c
	}
	p.expectOp(tRParen)
	return p.tableTail(f, start)
}

// parenTable reads what begins with a parenthesis in FROM: a query, or joined tables.
func (p *parser) parenTable(start Pos, lateral bool) Node {
	p.enter()
	defer p.leave()
	if !p.startsTableAt(1) && !p.queryFollows(1) {
		p.unexpectedAs(p.i, 2, aTableRef)
	}
	p.expectOp(tLParen)
	if p.startsQuery() && !p.isTableFunc() {
		q := p.query()
		p.expectOp(tRParen)
		return q
	}
	if p.tok().kind == tLParen && p.queryFollows(1) {
		inner := p.pos()
		n := p.parenTable(inner, false)
		q, ok := n.(*Query)
		switch {
		case ok && p.continuesQuery():
			q = p.queryFrom(q, inner)
			p.expectOp(tRParen)
			return q
		case ok && p.acceptOp(tRParen):
			return q
		}
		first, _ := n.(TableRef)
		if ok {
			first = &DerivedTable{Query: q}
		}
		return p.parenJoin(p.tableTail(first, inner))
	}
	return p.parenJoin(p.tableRef())
}

// isTableFunc tells whether TABLE here begins TABLE(f(..)) and no query.
func (p *parser) isTableFunc() bool { return p.tok().is("TABLE") && p.at(1).kind == tLParen }

// parenJoin reads the joins behind left and the closing parenthesis.
func (p *parser) parenJoin(left TableRef) TableRef {
	left = p.joined(left)
	for p.acceptOp(tComma) {
		right := p.joined(p.tableRef())
		left = &Join{Span: p.span(left.Pos()), Kind: CommaJoin, L: left, R: right}
	}
	p.expectOp(tRParen)
	return left
}

// tableTail reads what may follow any table: MATCH_RECOGNIZE, PIVOT, UNPIVOT, an alias and TABLESAMPLE.
func (p *parser) tableTail(r TableRef, start Pos) TableRef {
	for n := 0; ; n++ {
		p.chain(n)
		alias := p.tableAlias()
		if alias != nil {
			p.setAlias(r, alias)
		}
		if p.accept("TABLESAMPLE") {
			p.sample(r)
		}
		setSpan(r, p.span(start))
		switch {
		case p.is("MATCH_RECOGNIZE"):
			r = p.matchRecognize(r)
		case alias == nil && p.is("PIVOT"): // an alias stands behind it
			r = p.pivot(r)
		case alias == nil && p.is("UNPIVOT"):
			r = p.unpivot(r)
		default:
			return r
		}
	}
}

// setAlias gives a table its alias; joined tables have none, and no table has two.
func (p *parser) setAlias(r TableRef, alias *TableAlias) {
	at := aliasOf(r)
	switch {
	case at == nil:
		p.fail(alias.Span, ClassParse, "Joined tables in parentheses cannot have an alias at "+alias.From.String()+".", "put a SELECT around them")
	case *at != nil:
		p.fail(alias.Span, ClassParse, "The table has an alias already at "+alias.From.String()+".")
	}
	*at = alias
}

// aliasOf returns the place of a table's alias, nil for a join.
func aliasOf(r TableRef) **TableAlias {
	switch r := r.(type) {
	case *TableName:
		return &r.Alias
	case *DerivedTable:
		return &r.Alias
	case *Unnest:
		return &r.Alias
	case *TableFunc:
		return &r.Alias
	case *MatchRecognize:
		return &r.Alias
	case *Pivot:
		return &r.Alias
	case *Unpivot:
		return &r.Alias
	}
	return nil
}

// setSpan gives a table its place; a join has its own already.
func setSpan(r TableRef, s Span) {
	switch r := r.(type) {
	case *TableName:
		r.Span = s
	case *DerivedTable:
		r.Span = s
	case *Unnest:
		r.Span = s
	case *TableFunc:
		r.Span = s
	case *MatchRecognize:
		r.Span = s
	case *Pivot:
		r.Span = s
	case *Unpivot:
		r.Span = s
	}
}

// tableAlias reads [AS] name [(column, ..)], if it is there.
func (p *parser) tableAlias() *TableAlias {
	start := p.pos()
	switch {
	case p.accept("AS"):
	case p.isIdent() && !p.qualifies():
	default:
		p.note(aTableAlias)
		return nil
	}
	a := &TableAlias{Name: p.identAs(aTableAlias)}
	if p.isOp(tLParen) {
		a.Columns = p.idents()
	}
	a.Span = p.span(start)
	return a
}

// qualifies tells whether the current token is the word QUALIFY as the beginning of its clause. Flink 1.20 knows no such clause, so
// that the word may be an alias there; nothing but an alias can be followed by what ends or continues a table.
func (p *parser) qualifies() bool {
	if !p.tok().is("QUALIFY") {
		return false
	}
	switch t := p.at(1); t.kind {
	case tEOF, tSemicolon, tComma, tRParen:
		return false
	case tIdent:
		w := t.word()
		return w == nil || !w.reserved || w.callable && p.at(2).kind == tLParen || exprWords[w.name] || w.form || w.noParen
	}
	return true
}

// sample reads the rest of TABLESAMPLE into r.
func (p *parser) sample(r TableRef) {
	start := p.pos()
	s := &Sample{}
	switch {
	case p.accept("BERNOULLI"):
		s.Method = "BERNOULLI"
	case p.accept("SYSTEM"):
		s.Method = "SYSTEM"
	default:
		p.expect("SUBSTITUTE")
		s.Method = "SUBSTITUTE"
	}
	p.expectOp(tLParen)
	s.Arg = p.expr()
	p.expectOp(tRParen)
	if p.accept("REPEATABLE") {
		p.expectOp(tLParen)
		s.Repeatable = p.expr()
		p.expectOp(tRParen)
	}
	s.Span = p.span(start)
	switch r := r.(type) {
	case *TableName:
		r.Sample = s
	case *DerivedTable:
		r.Sample = s
	case *Unnest:
		r.Sample = s
	case *TableFunc:
		r.Sample = s
	case *MatchRecognize:
		r.Sample = s
	default:
		p.fail(s.Span, ClassParse, "TABLESAMPLE cannot follow this table at "+start.String()+".")
	}
}

// measure reads expr [AS] name.
func (p *parser) measure() *SelectItem {
	start := p.pos()
	it := &SelectItem{Expr: p.expr()}
	it.Alias = p.alias(it.Expr)
	it.Span = p.span(start)
	return it
}

// aggregateMeasure reads f(..) [[AS] name]: what PIVOT takes as an aggregate.
func (p *parser) aggregateMeasure() *SelectItem {
	start := p.pos()
	it := &SelectItem{Expr: p.primary()}
	if _, ok := it.Expr.(*FuncCall); !ok {
		p.expectOp(tLParen)
	}
	it.Alias = p.alias(it.Expr)
	it.Span = p.span(start)
	return it
}

// pivot reads PIVOT (aggregates FOR columns IN (values)).
func (p *parser) pivot(r TableRef) TableRef {
	p.expect("PIVOT")
	v := &Pivot{Input: r}
	p.expectOp(tLParen)
	v.Aggs = list(p, p.aggregateMeasure)
	p.expect("FOR")
	v.Axes = p.nameOrNames()
	p.expect("IN")
	v.In = parens(p, p.measure)
	p.expectOp(tRParen)
	v.Span = p.span(r.Pos())
	return v
}

// nameOrNames reads a name, or several in parentheses.
func (p *parser) nameOrNames() []*Name {
	if p.isOp(tLParen) {
		return parens(p, p.name)
	}
	return []*Name{p.name()}
}

// identOrIdents reads a name of one segment, or several in parentheses.
func (p *parser) identOrIdents() []Ident {
	if p.isOp(tLParen) {
		return p.idents()
	}
	return []Ident{p.ident()}
}

// unpivot reads UNPIVOT [INCLUDE|EXCLUDE NULLS] (measures FOR axes IN (..)).
func (p *parser) unpivot(r TableRef) TableRef {
	p.expect("UNPIVOT")
	v := &Unpivot{Input: r}
	switch {
	case p.acceptAll("INCLUDE", "NULLS"):
		v.IncludeNulls = true
	case p.acceptAll("EXCLUDE", "NULLS"):
	}
	p.expectOp(tLParen)
	v.Measures = p.identOrIdents()
	p.expect("FOR")
	v.Axes = p.identOrIdents()
	p.expect("IN")
	v.In = parens(p, func() *UnpivotItem {
		start := p.pos()
		it := &UnpivotItem{Columns: p.nameOrNames()}
		if p.accept("AS") {
			it.As = p.expr()
		}
		it.Span = p.span(start)
		return it
	})
	p.expectOp(tRParen)
	v.Span = p.span(r.Pos())
	return v
}

// matchRecognize reads MATCH_RECOGNIZE (..) behind its input.
func (p *parser) matchRecognize(input TableRef) TableRef {
	p.expect("MATCH_RECOGNIZE")
	m := &MatchRecognize{Input: input}
	p.inMatch++
	p.expectOp(tLParen)
	if p.accept("PARTITION") {
		p.expect("BY")
		m.PartitionBy = list(p, p.expr)
	}
	if p.accept("ORDER") {
		m.OrderBy = p.orderBy()
	}
	if p.accept("MEASURES") {
		m.Measures = list(p, p.measure)
	}
	switch {
	case p.acceptAll("ONE", "ROW", "PER", "MATCH"):
		m.Rows = OneRow
	case p.acceptAll("ALL", "ROWS", "PER", "MATCH"):
		m.Rows = AllRows
	}
	if p.accept("AFTER") {
		p.expect("MATCH", "SKIP")
		p.skipTo(m)
	}
	p.pattern(m)
	if p.accept("WITHIN") {
		m.Within = p.expr()
	}
	if p.accept("SUBSET") {
		m.Subsets = list(p, p.subset)
	}
	p.expect("DEFINE")
	m.Defines = list(p, p.define)
	p.expectOp(tRParen)
	p.inMatch--
	m.Span = p.span(input.Pos())
	return m
}

// skipTo reads what follows AFTER MATCH SKIP.
func (p *parser) skipTo(m *MatchRecognize) {
	if p.accept("PAST") {
		p.expect("LAST", "ROW")
		m.Skip = SkipPastLastRow
		return
	}
	p.expect("TO")
	switch {
	case p.accept("NEXT"):
		p.expect("ROW")
		m.Skip = SkipToNextRow
		return
	case p.tok().is("FIRST") && p.at(1).kind != tRParen && !p.at(1).is("PATTERN"):
		p.next()
		m.Skip = SkipToFirst
	case p.tok().is("LAST") && !p.at(1).is("PATTERN"):
		p.next()
		m.Skip = SkipToLast
	default:
		m.Skip = SkipToVar
	}
	v := p.ident()
	m.SkipVar = &v
}

// subset reads name = (var, ..).
func (p *parser) subset() *PatternSubset {
	start := p.pos()
	s := &PatternSubset{Name: p.ident()}
	p.expectOp(tEq)
	s.Vars = p.idents()
	s.Span = p.span(start)
	return s
}

// define reads var AS condition.
func (p *parser) define() *PatternDefine {
	start := p.pos()
	d := &PatternDefine{Var: p.ident()}
	p.expect("AS")
	d.Cond = p.expr()
	d.Span = p.span(start)
	return d
}

// pattern reads PATTERN (..).
func (p *parser) pattern(m *MatchRecognize) {
	p.expect("PATTERN")
	p.expectOp(tLParen)
	m.AnchorStart = p.acceptOp(tCaret)
	m.Pattern = p.patternAlt()
	if p.isDollar() {
		p.next()
		m.AnchorEnd = true
	}
	p.expectOp(tRParen)
}

// isDollar tells whether the current token is the anchor $, which the lexer takes for a name.
func (p *parser) isDollar() bool {
	t := p.tok()
	return t.kind == tIdent && p.text(t) == "$"
}

// patternAlt reads sequences between bars.
func (p *parser) patternAlt() Pattern {
	p.enter()
	defer p.leave()
	start := p.pos()
	items := []Pattern{p.patternSeq()}
	for p.acceptOp(tPipe) {
		items = append(items, p.patternSeq())
	}
	if len(items) == 1 {
		return items[0]
	}
	return &PatternAlt{Span: p.span(start), Items: items}
}

// patternSeq reads factors one after another.
func (p *parser) patternSeq() Pattern {
	start := p.pos()
	items := []Pattern{p.patternFactor()}
	for p.startsFactor() {
		items = append(items, p.patternFactor())
	}
	if len(items) == 1 {
		return items[0]
	}
	return &PatternSeq{Span: p.span(start), Items: items}
}

func (p *parser) startsFactor() bool {
	t := p.tok()
	return p.isIdent() && !p.isDollar() || t.kind == tLParen || t.is("PERMUTE") || t.kind == tLBrace && p.at(1).kind == tMinus
}

// patternFactor reads a variable or a group, with its quantifier.
func (p *parser) patternFactor() Pattern {
	start := p.pos()
	x := p.patternPrimary()
	r := &PatternRepeat{Item: x, Max: -1}
	switch t := p.tok(); {
	case t.kind == tStar:
		p.next()
	case t.kind == tPlus:
		p.next()
		r.Min = 1
	case t.kind == tQuestion:
		p.next()
		r.Max = 1
	case t.kind == tLBrace && p.at(1).kind != tMinus:
		p.next()
		p.bounds(r)
	default:
		return x
	}
	if p.tok().kind == tQuestion {
		p.next()
		r.Reluctant = true
	}
	r.Span = p.span(start)
	return r
}

// bounds reads n}, n,}, ,m} or n,m}.
func (p *parser) bounds(r *PatternRepeat) {
	if p.tok().kind == tInteger {
		r.Min = p.unsigned()
		r.Max = r.Min
	}
	if p.acceptOp(tComma) {
		r.Max = -1
		if p.tok().kind == tInteger {
			r.Max = p.unsigned()
		}
	}
	p.expectOp(tRBrace)
}

// patternPrimary reads a variable, a group in parentheses, {- .. -} or PERMUTE(..).
func (p *parser) patternPrimary() Pattern {
	start := p.pos()
	switch t := p.tok(); {
	case t.kind == tLParen:
		p.next()
		x := p.patternAlt()
		p.expectOp(tRParen)
		return x
	case t.kind == tLBrace && p.at(1).kind == tMinus:
		p.i += 2
		x := &PatternExclude{Item: p.patternAlt()}
		p.expectOp(tMinus)
		p.expectOp(tRBrace)
		x.Span = p.span(start)
		return x
	case t.is("PERMUTE"):
		p.next()
		x := &PatternPermute{Items: parens(p, p.patternAlt)}
		x.Span = p.span(start)
		return x
	}
	id := p.identAs("a pattern variable")
	return &PatternVar{Span: id.Span, Name: id}
}
