package sql

// call reads the argument list of a plain call and what follows it.
func (p *parser) call(name *Name) Expr {
	p.enter()
	defer p.leave()
	c := &FuncCall{Name: name}
	p.expectOp(tLParen)
	switch {
	case p.acceptOp(tRParen):
		return p.callTail(c)
	case p.tok().kind == tStar:
		t := p.tok()
		p.next()
		c.Args = []Expr{&Star{Span: Span{t.from, t.to}}}
	case len(name.Parts) == 1 && !name.Parts[0].Quoted && isRounding(name.Last()):
		c.Args = []Expr{p.expr()}
		if p.accept("TO") {
			c.Args = append(c.Args, p.unit())
		}
	default:
		if p.accept("DISTINCT") {
			c.Quantifier = Distinct
		} else if p.accept("ALL") {
			c.Quantifier = All
		}
		c.Args = list(p, p.arg)
		p.nullTreatment(c)
		if p.accept("ORDER") {
			c.OrderBy = p.orderBy()
		}
	}
	p.expectOp(tRParen)
	return p.callTail(c)
}

// isRounding tells the functions that round to a unit of time too.
func isRounding(name string) bool {
	w := lookupWord(name)
	return w != nil && (w.name == "FLOOR" || w.name == "CEIL" || w.name == "CEILING")
}

// nullTreatment reads RESPECT NULLS or IGNORE NULLS, if it is there.
func (p *parser) nullTreatment(c *FuncCall) {
	switch {
	case p.acceptAll("RESPECT", "NULLS"):
		c.Nulls = RespectNulls
	case p.acceptAll("IGNORE", "NULLS"):
		c.Nulls = IgnoreNulls
	}
}

// callTail reads what may follow the closing parenthesis of a call.
func (p *parser) callTail(c *FuncCall) Expr {
	p.nullTreatment(c)
	if p.accept("WITHIN") {
		p.expect("GROUP")
		p.expectOp(tLParen)
		p.expect("ORDER")
		c.WithinGroup = p.orderBy()
		p.expectOp(tRParen)
	}
	if p.accept("FILTER") {
		p.expectOp(tLParen)
		p.expect("WHERE")
		c.Filter = p.expr()
		p.expectOp(tRParen)
	}
	if p.accept("OVER") {
		c.Over = p.over()
	}
	c.Span = p.span(c.Name.Pos())
	return c
}

// arg reads an argument of a plain call.
func (p *parser) arg() Expr {
	if p.isIdent() && p.at(1).kind == tArrow {
		start := p.pos()
		id := p.ident()
		p.next()
		a := &NamedArg{Name: id, Value: p.argValue()}
		a.Span = p.span(start)
		return a
	}
	return p.argValue()
}

func (p *parser) argValue() Expr {
	t := p.tok()
	switch {
	case t.is("TABLE"):
		return p.tableArg()
	case t.is("MODEL") && (p.at(1).kind == tIdent || p.at(1).kind == tQuoted):
		p.next()
		m := &ModelArg{Model: p.name()}
		m.Span = p.span(t.from)
		return m
	}
	n := p.queryOrExpr()
	q, isQuery := n.(*Query)
	if !isQuery {
		if s, ok := n.(*Subquery); ok && (p.isOrderedArg()) {
			q, isQuery = s.Query, true
		}
	}
	if isQuery && p.isOrderedArg() {
		a := &TableArg{Query: q}
		return p.partitioned(a, t.from)
	}
	return p.asExpr(n)
}

// isOrderedArg tells whether PARTITION BY or ORDER BY follows a table argument.
func (p *parser) isOrderedArg() bool {
	return p.tok().is("PARTITION") || p.tok().is("ORDER")
}

// tableArg reads TABLE name [hints] [PARTITION BY ..] [ORDER BY ..].
func (p *parser) tableArg() Expr {
	start := p.pos()
	p.expect("TABLE")
	a := &TableArg{}
	if p.tok().kind == tLParen && !p.queryFollows(1) { // TABLE(name)
		p.next()
		a.Table = p.name()
		p.expectOp(tRParen)
	} else if p.tok().kind == tLParen {
		p.next()
		a.Query = p.query()
		p.expectOp(tRParen)
	} else {
		a.Table = p.name()
		a.Hints = p.hints()
	}
	return p.partitioned(a, start)
}

// partitioned reads the clauses behind a table argument. Without any a query is just a subquery.
func (p *parser) partitioned(a *TableArg, start Pos) Expr {
	if p.accept("PARTITION") {
		p.expect("BY")
		a.PartitionBy = p.flatKeys()
	}
	if p.acceptAll("ORDER", "BY") {
		if p.tok().kind == tLParen {
			p.next()
			a.OrderBy = list(p, p.orderItem)
			p.expectOp(tRParen)
		} else {
			a.OrderBy = []*OrderItem{p.orderItem()}
		}
	}
	a.Span = p.span(start)
	if a.Query != nil && a.PartitionBy == nil && a.OrderBy == nil {
		return &Subquery{Span: a.Span, Query: a.Query}
	}
	return a
}

// flatKeys reads one expression, or several in parentheses.
func (p *parser) flatKeys() []Expr {
	x := p.expr()
	if row, ok := x.(*Constructor); ok && row.Kind == RowImplicit {
		return row.Items
	}
	return []Expr{x}
}

// descriptor reads the rest of DESCRIPTOR(name [type], ..).
func (p *parser) descriptor(start Pos) Expr {
	d := &Descriptor{}
	typed := false
	p.expectOp(tLParen)
	for more := true; more; more = p.acceptOp(tComma) {
		d.Columns = append(d.Columns, p.name())
		var typ *TypeName
		if k := p.tok().kind; k != tComma && k != tRParen {
			typ, typed = p.columnType(), true
		}
		d.Types = append(d.Types, typ)
	}
	if !typed {
		d.Types = nil
	}
	p.expectOp(tRParen)
	d.Span = p.span(start)
	return d
}

// over reads what follows OVER.
func (p *parser) over() *WindowSpec {
	if p.isOp(tLParen) {
		return p.windowSpec()
	}
	id := p.ident()
	return &WindowSpec{Span: id.Span, Ref: &id, Bare: true}
}

// windowSpec reads ([name] [PARTITION BY ..] [ORDER BY ..] [frame]).
func (p *parser) windowSpec() *WindowSpec {
	start := p.pos()
	w := &WindowSpec{}
	p.expectOp(tLParen)
	p.note(aName)
	if p.isIdent() {
		id := p.ident()
		w.Ref = &id
	}
	if p.accept("PARTITION") {
		p.expect("BY")
		w.PartitionBy = list(p, p.expr)
	}
	if p.accept("ORDER") {
		w.OrderBy = p.orderBy()
	}
	if p.is("ROWS") || p.is("RANGE") {
		w.Frame = p.frame()
	}
	p.expectOp(tRParen)
	w.Span = p.span(start)
	return w
}

// frame reads ROWS|RANGE and its bounds.
func (p *parser) frame() *Frame {
	start := p.pos()
	f := &Frame{Range: p.tok().is("RANGE")}
	p.next()
	if p.accept("BETWEEN") {
		f.Lower = p.bound()
		p.expect("AND")
		f.Upper = p.bound()
	} else {
		f.Lower = p.bound()
	}
	f.Span = p.span(start)
	return f
}

func (p *parser) bound() *FrameBound {
	start := p.pos()
	b := &FrameBound{}
	switch {
	case p.acceptAll("CURRENT", "ROW"):
		b.Kind = CurrentRow
	case p.accept("UNBOUNDED"):
		b.Kind = UnboundedPreceding
		if !p.accept("PRECEDING") {
			p.expect("FOLLOWING")
			b.Kind = UnboundedFollowing
		}
	default:
		b.Kind = Preceding
		b.Expr = p.exprAbove(precBetween)
		if !p.accept("PRECEDING") {
			p.expect("FOLLOWING")
			b.Kind = Following
		}
	}
	b.Span = p.span(start)
	return b
}

// patternMode reads RUNNING or FINAL and the call behind it.
func (p *parser) patternMode() Expr {
	start := p.pos()
	m := &PatternMode{Final: p.tok().is("FINAL")}
	p.next()
	m.X = p.postfix(p.primary())
	m.Span = p.span(start)
	return m
}

// exists reads EXISTS (query) and UNIQUE (query).
func (p *parser) exists() Expr {
	start := p.pos()
	unique := p.tok().is("UNIQUE")
	p.next()
	p.note(aQuery)
	p.expectOp(tLParen)
	q := p.query()
	p.expectOp(tRParen)
	if unique {
		return &UniqueExpr{Span: p.span(start), Query: q}
	}
	return &Exists{Span: p.span(start), Query: q}
}

// caseExpr reads CASE .. END.
func (p *parser) caseExpr() Expr {
	start := p.pos()
	p.expect("CASE")
	c := &Case{}
	if !p.is("WHEN") {
		c.Operand = p.expr()
	}
	for first := true; first || p.is("WHEN"); first = false {
		at := p.pos()
		p.expect("WHEN")
		w := &When{Conds: []Expr{p.expr()}}
		for c.Operand != nil && p.acceptOp(tComma) {
			w.Conds = append(w.Conds, p.expr())
		}
		p.expect("THEN")
		w.Then = p.expr()
		w.Span = p.span(at)
		c.Whens = append(c.Whens, w)
	}
	if p.accept("ELSE") {
		c.Else = p.expr()
	}
	p.expect("END")
	c.Span = p.span(start)
	return c
}

// constructor reads ROW(..), ARRAY[..], MAP[..], MULTISET[..], PERIOD(..), and the last four of a query.
func (p *parser) constructor() Expr {
	start := p.pos()
	c := &Constructor{}
	w := p.tok().word().name
	p.next()
	switch w {
	case "ROW":
		c.Kind = RowExplicit
		c.Items = parens(p, p.rowItem)
		c.Span = p.span(start)
		return c
	case "PERIOD":
		c.Kind = PeriodCons
		p.expectOp(tLParen)
		c.Items = list(p, p.expr)
		p.expectOp(tRParen)
		c.Span = p.span(start)
		return c
	case "ARRAY":
		c.Kind = ArrayCons
	case "MAP":
		c.Kind = MapCons
	case "MULTISET":
		c.Kind = MultisetCons
	}
	if p.acceptOp(tLParen) {
		c.Query = p.query()
		p.expectOp(tRParen)
		c.Span = p.span(start)
		return c
	}
	p.expectOp(tLBracket)
	if !p.isOp(tRBracket) {
		c.Items = list(p, p.expr)
	}
	p.expectOp(tRBracket)
	c.Span = p.span(start)
	if c.Kind == MapCons && len(c.Items)%2 != 0 {
		p.fail(c.Span, ClassSQL, "Map requires an even number of arguments")
	}
	return c
}

// formCall reads a call with a syntax of its own, see [FuncCall].
func (p *parser) formCall(w string) Expr {
	p.enter()
	defer p.leave()
	t := p.tok()
	id := Ident{Span: Span{t.from, t.to}, Name: p.text(t)}
	c := &FuncCall{Name: nameOf(id)}
	p.next()
	p.expectOp(tLParen)
	switch w {
	case "CAST", "TRY_CAST":
		return p.cast(t.from, w == "TRY_CAST")
	case "EXTRACT":
		c.Args = append(c.Args, p.unit())
		p.expect("FROM")
		c.Args = append(c.Args, p.expr())
	case "POSITION":
		c.Args = append(c.Args, p.exprAbove(precBetween+1))
		p.expect("IN")
		c.Args = append(c.Args, p.expr())
		if p.accept("FROM") {
			c.Args = append(c.Args, p.expr())
		}
	case "OVERLAY":
		c.Args = append(c.Args, p.expr())
		p.expect("PLACING")
		c.Args = append(c.Args, p.expr())
		p.expect("FROM")
		c.Args = append(c.Args, p.expr())
		if p.accept("FOR") {
			c.Args = append(c.Args, p.expr())
		}
	case "SUBSTRING":
		p.substring(c)
	case "TRIM":
		p.trim(c)
	case "CONVERT", "TRANSLATE":
		c.Args = append(c.Args, p.expr())
		if w == "TRANSLATE" && p.acceptOp(tComma) {
			c.Args = append(c.Args, list(p, p.expr)...)
			break
		}
		p.expect("USING")
		cs := p.ident()
		c.Args = append(c.Args, &Symbol{Span: cs.Span, Word: cs.Name})
	case "TIMESTAMPADD", "TIMESTAMPDIFF":
		c.Args = append(c.Args, p.addUnit())
		p.expectOp(tComma)
		c.Args = append(c.Args, p.expr())
		p.expectOp(tComma)
		c.Args = append(c.Args, p.expr())
	default:
		p.jsonCall(c, w)
	}
	p.expectOp(tRParen)
	return p.callTail(c)
}

// cast reads the rest of CAST( and TRY_CAST(.
func (p *parser) cast(start Pos, try bool) Expr {
	c := &Cast{X: p.expr(), Try: try}
	p.expect("AS")
	c.Type = p.castType()
	p.expectOp(tRParen)
	c.Span = p.span(start)
	return c
}

// substring reads the arguments of SUBSTRING in both forms.
func (p *parser) substring(c *FuncCall) {
	c.Args = append(c.Args, p.expr())
	if p.acceptOp(tComma) {
		c.Args = append(c.Args, p.expr())
		if p.acceptOp(tComma) {
			c.Args = append(c.Args, p.expr())
		}
		return
	}
	p.expect("FROM")
	c.Args = append(c.Args, p.expr())
	if p.accept("FOR") {
		c.Args = append(c.Args, p.expr())
	}
}

// trim reads the arguments of TRIM.
func (p *parser) trim(c *FuncCall) {
	start := p.pos()
	side := &Symbol{Span: Span{start, start}, Word: "BOTH"}
	for _, w := range []string{"BOTH", "LEADING", "TRAILING"} {
		if p.accept(w) {
			side.Word, side.Span = w, p.span(start)
			break
		}
	}
	explicit := side.To.Offset > start.Offset
	blank := &Literal{Span: Span{start, start}, Kind: StringLit, Text: " "}
	if explicit && p.accept("FROM") {
		c.Args = []Expr{side, blank, p.expr()}
		return
	}
	x := p.expr()
	switch {
	case p.accept("FROM"):
		c.Args = []Expr{side, x, p.expr()}
	case explicit:
		c.Args = []Expr{side, blank, x}
	default:
		c.Args = []Expr{x}
		for p.acceptOp(tComma) {
			c.Args = append(c.Args, p.expr())
		}
	}
}

// jsonCall reads the arguments of the JSON functions.
func (p *parser) jsonCall(c *FuncCall, w string) {
	j := &JSONClauses{}
	switch w {
	case "JSON_EXISTS", "JSON_VALUE", "JSON_QUERY":
		c.Args = append(c.Args, p.expr())
		p.expectOp(tComma)
		c.Args = append(c.Args, p.expr())
		if w != "JSON_EXISTS" && p.accept("RETURNING") {
			j.Returning = p.castType()
		}
		if w == "JSON_QUERY" {
			j.Wrapper = p.jsonWrapper()
		}
		p.jsonBehaviors(j)
	case "JSON_OBJECT":
		if !p.isOp(tRParen) {
			for more := true; more; more = p.acceptOp(tComma) {
				p.jsonPair(c)
			}
			j.OnNull = p.jsonNulls()
		}
	case "JSON_OBJECTAGG":
		p.jsonPair(c)
		j.OnNull = p.jsonNulls()
	case "JSON_ARRAY":
		if !p.isOp(tRParen) {
			c.Args = list(p, p.expr)
			j.OnNull = p.jsonNulls()
		}
	case "JSON_ARRAYAGG":
		c.Args = []Expr{p.expr()}
		if p.accept("ORDER") {
			c.OrderBy = p.orderBy()
		}
		j.OnNull = p.jsonNulls()
	}
	if *j != (JSONClauses{}) {
		c.JSON = j
	}
}

// jsonPair reads [KEY] key VALUE value, or key : value.
func (p *parser) jsonPair(c *FuncCall) {
	at := p.i
	if p.tok().is("KEY") && p.at(1).kind != tComma && p.at(1).kind != tRParen && !p.at(1).is("VALUE") && p.at(1).kind != tDot {
		p.next()
	}
	key := p.expr()
	if !p.accept("VALUE") && !p.acceptOp(tColon) {
		p.unexpectedAs(at, p.i-at+1, "KEY .. VALUE ..")
	}
	c.Args = append(c.Args, key, p.expr())
}

func (p *parser) jsonNulls() JSONNulls {
	switch {
	case p.accept("NULL"):
		p.expect("ON", "NULL")
		return NullOnNull
	case p.accept("ABSENT"):
		p.expect("ON", "NULL")
		return AbsentOnNull
	}
	return NoJSONNulls
}

func (p *parser) jsonWrapper() JSONWrapper {
	w := NoJSONWrapper
	switch {
	case p.accept("WITHOUT"):
		w = WithoutWrapper
	case p.accept("WITH"):
		w = WithWrapper
		if p.accept("CONDITIONAL") {
			w = WithConditionalWrapper
		} else {
			p.accept("UNCONDITIONAL")
		}
	default:
		return w
	}
	p.accept("ARRAY")
	p.expect("WRAPPER")
	return w
}

// jsonBehaviors reads any number of behaviours ON EMPTY and ON ERROR; of two for the same case the last one counts.
func (p *parser) jsonBehaviors(j *JSONClauses) {
	for {
		var on JSONOn
		switch {
		case p.accept("ERROR"):
			on.Behavior = JSONError
		case p.accept("NULL"):
			on.Behavior = JSONNull
		case p.accept("TRUE"):
			on.Behavior = JSONTrue
		case p.accept("FALSE"):
			on.Behavior = JSONFalse
		case p.accept("UNKNOWN"):
			on.Behavior = JSONUnknown
		case p.acceptAll("EMPTY", "ARRAY"):
			on.Behavior = JSONEmptyArray
		case p.acceptAll("EMPTY", "OBJECT"):
			on.Behavior = JSONEmptyObject
		case p.accept("DEFAULT"):
			on.Behavior = JSONDefault
			on.Default = p.expr()
		default:
			return
		}
		p.expect("ON")
		if p.accept("EMPTY") {
			j.OnEmpty = on
		} else {
			p.expect("ERROR")
			j.OnError = on
		}
	}
}
