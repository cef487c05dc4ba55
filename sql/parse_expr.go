package sql

import "strings"

// Precedences, lowest first. Those of MULTISET operators, of IS and of the arithmetic ones follow Calcite's operator table.
const (
	precMultiset = iota + 1
	precMultisetIntersect
	precOr
	precAnd
	precNot
	precIs
	precCompare
	precBetween // BETWEEN, IN, LIKE
	precAdd
	precMul // * / % ||
	precUnary
)

// expr reads an expression.
func (p *parser) expr() Expr { return p.exprAbove(0) }

// exprAbove reads an expression whose operators all bind at least as tightly as minPrec.
func (p *parser) exprAbove(minPrec int) Expr {
	p.enter()
	x := p.infix(p.unary(), minPrec)
	p.leave()
	return x
}

// unary reads an operand with the operators before it.
func (p *parser) unary() Expr {
	start := p.pos()
	p.note(anExpr)
	op, prec := UnaryOp(0), precUnary
	switch t := p.tok(); {
	case t.kind == tMinus:
		op = OpNeg
	case t.kind == tPlus:
		op = OpPos
	case t.is("NOT"):
		op, prec = OpNot, precNot
	default:
		return p.postfix(p.primary())
	}
	p.next()
	var x Expr
	if op == OpNot {
		x = p.exprAbove(prec)
	} else {
		p.enter()
		x = p.unary()
		p.leave()
	}
	return &Unary{Span: p.span(start), Op: op, X: x}
}

// binaryOps are the operators that stand between two plain operands.
var binaryOps = [...]struct {
	op   BinaryOp
	prec int
}{
	tEq: {OpEq, precCompare}, tNe: {OpNe, precCompare}, tLt: {OpLt, precCompare}, tLe: {OpLe, precCompare},
	tGt: {OpGt, precCompare}, tGe: {OpGe, precCompare}, tPlus: {OpAdd, precAdd}, tMinus: {OpSub, precAdd},
	tStar: {OpMul, precMul}, tSlash: {OpDiv, precMul}, tPercent: {OpMod, precMul}, tConcat: {OpConcat, precMul},
	tTooLong: {},
}

// infix reads the operators behind left that bind at least as tightly as minPrec.
func (p *parser) infix(left Expr, minPrec int) Expr {
	for n := 0; ; n++ {
		p.chain(n)
		t := p.tok()
		if b := binaryOps[min(int(t.kind), int(tTooLong))]; b.op != 0 {
			if b.prec < minPrec {
				return left
			}
			left = p.binary(left, b.op, b.prec)
			continue
		}
		if t.kind == tBang && precCompare >= minPrec {
			p.fail(Span{t.from, t.to}, ClassCalcite, "Bang equal '!=' is not allowed under the current SQL conformance level",
				"write <> in its place")
		}
		if t.word() == nil || !t.word().reserved {
			p.note(anOperator)
			return left
		}
		x := p.wordInfix(left, t.word().name, minPrec)
		if x == nil {
			p.note(anOperator)
			return left
		}
		left = x
	}
}

// binary reads the operator at the current token and its right operand. Where a comparison allows it, the operand may be SOME or ALL
// of a list or query.
func (p *parser) binary(left Expr, op BinaryOp, prec int) Expr {
	at := p.i
	p.next()
	if prec == precCompare {
		if t := p.tok(); (t.is("SOME") || t.is("ANY") || t.is("ALL")) && p.at(1).kind == tLParen {
			return p.quantified(left, op)
		}
	}
	return p.rightOperand(left, op, prec, at)
}

// rightOperand reads the right operand of the operator op, which begins at the token of index at.
func (p *parser) rightOperand(left Expr, op BinaryOp, prec, at int) Expr {
	if n := p.badOperand(); n > 0 {
		p.unexpectedAs(at, p.i-at+n, anExpr)
	}
	right := p.exprAbove(prec + 1)
	return &Binary{Span: p.span(left.Pos()), Op: op, L: left, R: right, OpPos: p.toks[at].from}
}

// wordInfix reads an operator that begins with the reserved word w, or returns nil when w is none, or none that binds tightly enough.
func (p *parser) wordInfix(left Expr, w string, minPrec int) Expr {
	plain := func(op BinaryOp, prec, tokens int) Expr {
		if prec < minPrec {
			return nil
		}
		at := p.i
		p.i += tokens
		return p.rightOperand(left, op, prec, at)
	}
	next := p.at(1)
	switch w {
	case "OR":
		return plain(OpOr, precOr, 1)
	case "AND":
		return plain(OpAnd, precAnd, 1)
	case "IS":
		if precIs < minPrec {
			return nil
		}
		return p.isTest(left)
	case "NOT", "BETWEEN", "IN", "LIKE", "ILIKE", "RLIKE", "SIMILAR":
		if precBetween < minPrec {
			return nil
		}
		return p.notInfix(left)
	case "MEMBER":
		if next.is("OF") {
			return plain(OpMemberOf, precCompare, 2)
		}
	case "SUBMULTISET":
		if next.is("OF") {
			return plain(OpSubmultisetOf, precCompare, 2)
		}
	case "CONTAINS":
		return plain(OpContains, precCompare, 1)
	case "OVERLAPS":
		return plain(OpOverlaps, precCompare, 1)
	case "EQUALS":
		return plain(OpEquals, precCompare, 1)
	case "PRECEDES":
		return plain(OpPrecedes, precCompare, 1)
	case "SUCCEEDS":
		return plain(OpSucceeds, precCompare, 1)
	case "MULTISET":
		return p.multisetInfix(left, minPrec)
	}
	return nil
}

// multisetInfix reads MULTISET UNION|INTERSECT|EXCEPT [ALL|DISTINCT].
func (p *parser) multisetInfix(left Expr, minPrec int) Expr {
	var op BinaryOp
	prec := precMultiset
	switch t := p.at(1); {
	case t.is("UNION"):
		op = OpMultisetUnion
	case t.is("INTERSECT"):
		op, prec = OpMultisetIntersect, precMultisetIntersect
	case t.is("EXCEPT"):
		op = OpMultisetExcept
	default:
		return nil
	}
	if prec < minPrec {
		return nil
	}
	at := p.i
	p.i += 2
	if p.accept("DISTINCT") {
		op++
	} else {
		p.accept("ALL")
	}
	return p.rightOperand(left, op, prec, at)
}

// isTest reads IS [NOT] and what is tested.
func (p *parser) isTest(left Expr) Expr {
	start := p.i
	p.next()
	x := &Is{X: left}
	if p.tok().is("NOT") {
		x.Not = true
		p.next()
	}
	if p.acceptAll("DISTINCT", "FROM") {
		op := OpIsDistinct
		if x.Not {
			op = OpIsNotDistinct
		}
		return p.rightOperand(left, op, precCompare, start)
	}
	switch {
	case p.accept("NULL"):
		x.Test = IsNull
	case p.accept("TRUE"):
		x.Test = IsTrue
	case p.accept("FALSE"):
		x.Test = IsFalse
	case p.accept("UNKNOWN"):
		x.Test = IsUnknown
	case strings.EqualFold(p.text(p.tok()), "A") && p.at(1).is("SET"):
		p.i += 2
		x.Test = IsASet
	case p.accept("EMPTY"):
		x.Test = IsEmpty
	case p.accept("JSON"):
		x.Test = IsJSON
		switch {
		case p.accept("VALUE"):
		case p.accept("OBJECT"):
			x.Test = IsJSONObject
		case p.accept("ARRAY"):
			x.Test = IsJSONArray
		case p.accept("SCALAR"):
			x.Test = IsJSONScalar
		}
	case x.Not:
		p.unexpected()
	default:
		p.unexpectedIs(start)
	}
	x.Span = p.span(left.Pos())
	return x
}

// unexpectedIs gives up at the word IS of index at, which something wrong follows.
func (p *parser) unexpectedIs(at int) {
	p.unexpectedOp(at, 2, "NULL", "TRUE", "FALSE", "UNKNOWN", "DISTINCT FROM", "JSON", "EMPTY")
}

// unexpectedOp gives up at the operator of index at, which is no operator for what follows it; it might be an alias instead, were it
// no reserved word.
func (p *parser) unexpectedOp(at, n int, expected ...string) {
	bad := &p.toks[min(at+n, len(p.toks))-1]
	if bad.kind == tBadChar || bad.kind == tOpenQuoted || bad.kind == tOpenComment || bad.kind == tTooLong {
		p.unexpectedAs(at, n)
	}
	var alias []string
	if p.aliasAllowed(at) {
		alias = []string{anAlias}
	}
	e := p.encountered(at, n, alias)
	e.Help = nil
	e.Span = Span{p.toks[at].from, bad.to}
	e.Expected = expected
	e.Token = p.text(bad)
	panic(e)
}

// notInfix reads [NOT] BETWEEN, IN, LIKE and their kin, and NOT MEMBER OF. It returns nil when something else follows NOT.
func (p *parser) notInfix(left Expr) Expr {
	at := p.i
	not := p.accept("NOT")
	switch t := p.tok(); {
	case t.is("BETWEEN"):
		p.next()
		return p.between(left, not)
	case t.is("IN"):
		p.next()
		return p.in(left, not)
	case t.is("LIKE"):
		p.next()
		return p.like(left, not, Like)
	case t.is("ILIKE"):
		p.next()
		return p.like(left, not, ILike)
	case t.is("RLIKE"):
		p.next()
		return p.like(left, not, RLike)
	case t.is("SIMILAR"):
		p.next()
		p.expect("TO")
		return p.like(left, not, SimilarTo)
	case t.is("MEMBER") && p.at(1).is("OF"):
		p.i += 2
		return p.rightOperand(left, OpNotMemberOf, precCompare, at)
	case t.is("SUBMULTISET") && p.at(1).is("OF"):
		p.i += 2
		return p.rightOperand(left, OpNotSubmultisetOf, precCompare, at)
	}
	p.unexpectedOp(at, 2, "BETWEEN", "IN", "LIKE", "ILIKE", "SIMILAR TO")
	return nil
}

func (p *parser) between(left Expr, not bool) Expr {
	at := p.tok()
	x := &Between{X: left, Not: not, Symmetric: p.accept("SYMMETRIC")}
	if !x.Symmetric {
		p.accept("ASYMMETRIC")
	}
	x.Low = p.exprAbove(precBetween + 1)
	if t := p.tok(); !t.is("AND") && t.kind < tBadChar {
		p.fail(Span{at.from, t.to}, ClassSQL, "BETWEEN operator has no terminating AND", "BETWEEN is written a BETWEEN low AND high")
	}
	p.expect("AND")
	x.High = p.exprAbove(precBetween + 1)
	x.Span = p.span(left.Pos())
	return x
}

func (p *parser) in(left Expr, not bool) Expr {
	if p.tok().kind != tLParen {
		p.unexpectedOp(p.i-1, 2, `"("`)
	}
	x := &In{X: left, Not: not}
	x.List, x.Query = p.listOrQuery()
	x.Span = p.span(left.Pos())
	return x
}

// listOrQuery reads expressions or a query in parentheses.
func (p *parser) listOrQuery() ([]Expr, *Query) {
	p.expectOp(tLParen)
	first := p.queryOrExpr()
	if q, ok := first.(*Query); ok && p.acceptOp(tRParen) {
		return nil, q
	}
	xs := []Expr{p.asExpr(first)}
	for p.acceptOp(tComma) {
		xs = append(xs, p.expr())
	}
	p.expectOp(tRParen)
	return xs, nil
}

func (p *parser) like(left Expr, not bool, kind LikeKind) Expr {
	x := &LikeExpr{X: left, Not: not, Kind: kind}
	if !p.startsExpr() {
		p.unexpectedOp(p.i-1, 2, anExpr)
	}
	x.Pattern = p.exprAbove(precBetween + 1)
	if p.accept("ESCAPE") {
		x.Escape = p.exprAbove(precBetween + 1)
	}
	x.Span = p.span(left.Pos())
	return x
}

// quantified reads SOME|ANY|ALL (list or query) behind a comparison.
func (p *parser) quantified(left Expr, op BinaryOp) Expr {
	x := &Quantified{X: left, Op: op, All: p.tok().is("ALL")}
	p.next()
	x.List, x.Query = p.listOrQuery()
	x.Span = p.span(left.Pos())
	return x
}

// badOperand returns 0 when an operand may begin at the current token, else the number of tokens that show that none does.
func (p *parser) badOperand() int {
	t := p.tok()
	switch {
	case !p.startsExpr():
		return 1
	case t.kind == tLParen && !p.startsExprAt(1) && !p.queryFollows(1), t.is("INTERVAL") && !p.startsInterval(1):
		return 2
	}
	return 0
}

// startsExpr tells whether the current token may begin an expression.
func (p *parser) startsExpr() bool { return p.startsExprAt(0) }

// startsExprAt tells whether the token n behind the current one may begin an expression.
func (p *parser) startsExprAt(n int) bool {
	t := p.at(n)
	switch t.kind {
	case tQuoted, tString, tCharset, tBinary, tUnicode, tInteger, tDecimal, tDouble, tLParen, tPlus, tMinus, tQuestion, tLBrace:
		return true
	case tOpenQuoted, tOpenComment, tBadChar, tTooLong:
		return true // primary reports them
	case tIdent:
		w := t.word()
		return w == nil || !w.reserved || w.callable || w.form || w.noParen || exprWords[w.name]
	}
	return false
}

// exprWords are the reserved words besides the names of functions that begin an expression. Those that begin a query are among them.
var exprWords = map[string]bool{
	"NOT": true, "NULL": true, "TRUE": true, "FALSE": true, "UNKNOWN": true, "DATE": true, "TIME": true, "TIMESTAMP": true,
	"INTERVAL": true, "CASE": true, "EXISTS": true, "UNIQUE": true, "ROW": true, "ARRAY": true, "MULTISET": true, "PERIOD": true,
	"RUNNING": true,
}

// postfix reads element accesses and fields behind x.
func (p *parser) postfix(x Expr) Expr {
	for n := 0; ; n++ {
		p.chain(n)
		switch p.tok().kind {
		case tLBracket:
			p.next()
			i := p.expr()
			p.expectOp(tRBracket)
			x = &Index{Span: p.span(x.Pos()), X: x, Index: i}
		case tDot:
			p.next()
			f := p.ident()
			x = &Field{Span: p.span(x.Pos()), X: x, Name: f}
		default:
			if p.noteAt == p.i {
				p.note(anOperator)
			}
			return x
		}
	}
}

// primary reads an operand without operators.
func (p *parser) primary() Expr {
	t := p.tok()
	switch t.kind {
	case tInteger, tDecimal, tDouble:
		p.next()
		kind := IntegerLit + LiteralKind(t.kind-tInteger)
		text := p.text(t)
		if kind == DecimalLit && text[len(text)-1] == '.' { // 5. is the integer 5
			kind, text = IntegerLit, text[:len(text)-1]
		}
		return &Literal{Span: Span{t.from, t.to}, Kind: kind, Text: text}
	case tString, tCharset, tUnicode:
		return p.stringChain()
	case tBinary:
		return p.binaryChain()
	case tLParen:
		return p.paren()
	case tQuestion:
		p.next()
		return &Param{Span{t.from, t.to}}
	case tLBrace:
		return p.escape()
	case tQuoted:
		return p.nameExpr()
	case tIdent:
		if t.word() != nil {
			return p.wordExpr(t.word())
		}
		return p.nameExpr()
	}
	p.unexpected()
	return nil
}

// wordExpr reads an operand that begins with a word of the grammar.
func (p *parser) wordExpr(w *word) Expr {
	next := p.at(1)
	switch w.name {
	case "NULL":
		return p.wordLiteral(NullLit)
	case "TRUE":
		return p.wordLiteral(TrueLit)
	case "FALSE":
		return p.wordLiteral(FalseLit)
	case "UNKNOWN":
		return p.wordLiteral(UnknownLit)
	case "DATE":
		return p.datetime(DateLit)
	case "TIME":
		return p.datetime(TimeLit)
	case "TIMESTAMP":
		return p.datetime(TimestampLit)
	case "INTERVAL":
		return p.interval()
	case "CASE":
		return p.caseExpr()
	case "EXISTS", "UNIQUE":
		return p.exists()
	case "ROW", "ARRAY", "MULTISET", "PERIOD":
		return p.constructor()
	case "MAP":
		if next.kind == tLBracket || next.kind == tLParen && p.queryFollows(2) {
			return p.constructor()
		}
	case "RUNNING":
		return p.patternMode()
	case "FINAL":
		if p.inMatch > 0 && next.kind == tIdent && p.at(2).kind == tLParen {
			return p.patternMode()
		}
	}
	switch {
	case w.form && next.kind == tLParen:
		return p.formCall(w.name)
	case w.neverPar, w.noParen && next.kind != tLParen:
		return p.noParenCall(w)
	case w.callable && next.kind == tLParen:
		t := p.tok()
		p.next()
		id := Ident{Span: Span{t.from, t.to}, Name: p.text(t)}
		return p.call(nameOf(id))
	case w.callable || w.form && w.reserved:
		p.unexpectedAs(p.i, 2, anExpr)
	}
	return p.nameExpr()
}

func (p *parser) wordLiteral(kind LiteralKind) Expr {
	t := p.tok()
	p.next()
	return &Literal{Span: Span{t.from, t.to}, Kind: kind}
}

// noParenCall reads CURRENT_DATE and its kin.
func (p *parser) noParenCall(*word) Expr {
	t := p.tok()
	p.next()
	id := Ident{Span: Span{t.from, t.to}, Name: p.text(t)}
	return &FuncCall{Span: id.Span, Name: nameOf(id), NoParens: true}
}

// nameExpr reads a dotted name, a call of a function of that name, or name.*.
func (p *parser) nameExpr() Expr {
	start := p.pos()
	n := nameOf(p.identAs(anExpr))
	for p.isOp(tDot) {
		if p.at(1).kind == tStar {
			n.Span = p.span(start)
			p.i += 2
			return &Star{Span: p.span(start), Qualifier: n}
		}
		p.dot()
		n.Parts = append(n.Parts, p.ident())
	}
	n.Span = p.span(start)
	if p.isOp(tLParen) {
		if d := &n.Parts[0]; len(n.Parts) == 1 && !d.Quoted && isWord(d.Name, "DESCRIPTOR") {
			return p.descriptor(start)
		}
		return p.call(n)
	}
	return n
}

// isWord tells whether name is the word w in any case.
func isWord(name, w string) bool {
	k := lookupWord(name)
	return k != nil && k.name == w
}

// paren reads what begins with a parenthesis: an expression, a row, or a query.
func (p *parser) paren() Expr {
	start := p.pos()
	p.expectOp(tLParen)
	first := p.queryOrExpr()
	if q, ok := first.(*Query); ok && p.acceptOp(tRParen) {
		return &Subquery{Span: p.span(start), Query: q}
	}
	x := p.asExpr(first)
	if p.isOp(tComma) {
		row := &Constructor{Kind: RowImplicit, Items: []Expr{x}}
		for p.acceptOp(tComma) {
			row.Items = append(row.Items, p.rowItem())
		}
		p.expectOp(tRParen)
		row.Span = p.span(start)
		return row
	}
	p.expectOp(tRParen)
	return p.parenTail(x, start)
}

// parenTail reads what only an expression in parentheses may have behind it: the unit of (a - b) DAY, and the field of (a).b, which is
// not the name a.b.
func (p *parser) parenTail(x Expr, start Pos) Expr {
	if w := p.tok().word(); w != nil && intervalUnits[w.name] != "" {
		b, ok := x.(*Binary)
		switch {
		case ok && b.Op == OpSub:
			d := &TimeDiff{L: b.L, R: b.R, Qualifier: p.intervalQualifier()}
			d.Span = p.span(start)
			return d
		case w.reserved:
			p.fail(p.span(start), ClassCalcite, "Illegal expression. Was expecting '(DATETIME - DATETIME) INTERVALQUALIFIER'",
				"a unit of time may follow a difference in parentheses only; a constant interval is written INTERVAL '1' "+w.name)
		}
	}
	n, ok := x.(*Name)
	if !ok || p.tok().kind != tDot {
		return x
	}
	p.next()
	f := p.ident()
	return &Field{Span: p.span(start), X: n, Name: f}
}

// rowItem reads an item of a row, where DEFAULT may stand too.
func (p *parser) rowItem() Expr {
	if t := p.tok(); t.is("DEFAULT") {
		p.next()
		return &DefaultExpr{Span{t.from, t.to}}
	}
	return p.expr()
}

// queryOrExpr reads a query or an expression where either may stand. A query in parentheses of its own is an expression as soon as an
// operator or another bracket follows it.
func (p *parser) queryOrExpr() Node {
	if p.startsQuery() {
		return p.query()
	}
	if p.tok().kind != tLParen || !p.queryFollows(1) {
		return p.rowItem()
	}
	p.enter()
	defer p.leave()
	start := p.pos()
	p.next()
	inner := p.queryOrExpr()
	q, isQuery := inner.(*Query)
	switch {
	case isQuery && p.acceptOp(tRParen):
		if p.continuesQuery() {
			return p.queryFrom(q, start)
		}
		if p.tok().kind == tRParen || p.tok().kind == tComma {
			return q
		}
		sub := &Subquery{Span: p.span(start), Query: q}
		return p.infix(p.postfix(sub), 0)
	default:
		x := p.asExpr(inner)
		if p.isOp(tComma) {
			row := &Constructor{Kind: RowImplicit, Items: []Expr{x}}
			for p.acceptOp(tComma) {
				row.Items = append(row.Items, p.rowItem())
			}
			x = row
		}
		p.expectOp(tRParen)
		if row, ok := x.(*Constructor); ok && row.Kind == RowImplicit && !row.Span.From.IsValid() {
			row.Span = p.span(start)
		}
		return p.infix(p.postfix(p.parenTail(x, start)), 0)
	}
}

// asExpr makes an expression of what queryOrExpr read.
func (p *parser) asExpr(n Node) Expr {
	if q, ok := n.(*Query); ok {
		return &Subquery{Span: q.Span, Query: q}
	}
	return n.(Expr)
}

// startsQuery tells whether a query without parentheses begins here.
func (p *parser) startsQuery() bool {
	t := p.tok()
	return t.is("SELECT") || t.is("VALUES") || t.is("WITH") || t.is("TABLE")
}

// queryFollows tells whether the first token from n on that is no "(" begins a query.
func (p *parser) queryFollows(n int) bool {
	for end := n + MaxDepth; n < end && p.at(n).kind == tLParen; {
		n++
	}
	t := p.at(n)
	return t.is("SELECT") || t.is("VALUES") || t.is("WITH") || t.is("TABLE")
}

// continuesQuery tells whether what follows a query in parentheses makes it part of a greater one.
func (p *parser) continuesQuery() bool {
	t := p.tok()
	switch {
	case t.word() == nil || !t.word().reserved:
		return false
	case t.is("UNION"), t.is("INTERSECT"), t.is("EXCEPT"), t.is("MINUS"), t.is("ORDER"), t.is("LIMIT"), t.is("OFFSET"), t.is("FETCH"):
		return true
	}
	return false
}
