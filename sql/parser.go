package sql

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Parse reads one statement. A semicolon may end it. The error is an [*Error].
func Parse(text string) (Stmt, error) {
	return run(text, func(p *parser) Stmt {
		s := p.statement()
		p.end()
		return s
	})
}

// ParseQuery reads a query, such as the text of a view. The error is an [*Error].
func ParseQuery(text string) (*Query, error) {
	return run(text, func(p *parser) *Query {
		q := p.query()
		p.end()
		return q
	})
}

// ParseExpr reads an expression, such as that of a computed column. The error is an [*Error].
func ParseExpr(text string) (Expr, error) {
	return run(text, func(p *parser) Expr {
		x := p.expr()
		p.end()
		return x
	})
}

// ParseType reads a type as it is written in CREATE TABLE. The error is an [*Error].
func ParseType(text string) (*TypeName, error) {
	return run(text, func(p *parser) *TypeName {
		t := p.columnType()
		p.end()
		return t
	})
}

// ParseName reads a dotted name. The error is an [*Error].
func ParseName(text string) (*Name, error) {
	return run(text, func(p *parser) *Name {
		n := p.name()
		p.end()
		return n
	})
}

// parser reads a syntax tree from tokens. It is a plain recursive descent; an error unwinds it by a panic with an *Error or a bail,
// which never leaves the package.
//
// What was expected at the place of an error is found by reading the text a second time: the first time nothing but the index of
// the offending token is remembered, so that a text without errors pays nothing for good messages.
type parser struct {
	src   string
	toks  []token
	i     int // index of the current token
	depth int
	// inMatch counts the MATCH_RECOGNIZE clauses around the current token.
	inMatch int

	// noteAt is the index of the token for which expectations are collected, -1 the first time.
	noteAt   int
	expected []string
	// bareAt is the index of the token behind the first column without a type in a CREATE TABLE, or 0.
	bareAt int
	// late is an error that counts only when the whole text can be read.
	late *Error
}

// bail unwinds the parser at the first reading: the token at index at was not expected.
type bail struct{ at int }

// run parses text with f.
func run[T any](text string, f func(*parser) T) (node T, err error) {
	if len(text) > MaxText {
		return node, &Error{Class: ClassParse, Msg: fmt.Sprintf("The text has %d bytes, more than the limit of %d.", len(text), MaxText)}
	}
	if n := invalidUTF8(text); n >= 0 {
		return node, badUTF8(text, n)
	}
	p := &parser{src: text, toks: tokenize(text), noteAt: -1}
	node, at, err := attempt(p, f)
	if at < 0 {
		return node, err
	}
	*p = parser{src: p.src, toks: p.toks, noteAt: at}
	_, _, err = attempt(p, f)
	return node, err
}

// attempt runs f once. It returns the index of an offending token, or -1 with the result or an error.
func attempt[T any](p *parser, f func(*parser) T) (node T, at int, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case bail:
			at = r.at
		case *Error:
			var none T
			node, at, err = none, -1, r
		default:
			panic(r)
		}
	}()
	return f(p), -1, nil
}

// invalidUTF8 returns the offset of the first byte that is no UTF-8, or -1.
func invalidUTF8(s string) int {
	if utf8.ValidString(s) {
		return -1
	}
	for i, r := range s {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
				return i
			}
		}
	}
	return -1
}

func badUTF8(text string, n int) *Error {
	l := newLexer(text)
	l.advance(n)
	at := l.pos()
	return &Error{
		Class: ClassLexical,
		Msg:   fmt.Sprintf("Lexical error at %s.  Byte 0x%02x is not part of a UTF-8 character.", at, text[n]),
		Span:  Span{at, at},
		Help:  []string{"the text has to be encoded in UTF-8"},
	}
}

// tokenize cuts a whole text; the last token is tEOF.
func tokenize(text string) []token {
	l := newLexer(text)
	toks := make([]token, 0, len(text)/4+8)
	for {
		t := l.next()
		toks = append(toks, t)
		if t.kind == tEOF {
			return toks
		}
	}
}

func (p *parser) tok() *token { return &p.toks[p.i] }

// at returns the token n behind the current one, or the last one.
func (p *parser) at(n int) *token { return &p.toks[min(p.i+n, len(p.toks)-1)] }

func (p *parser) text(t *token) string { return p.src[t.from.Offset:t.to.Offset] }

func (p *parser) pos() Pos { return p.toks[p.i].from }

// span returns the stretch from start to the end of the last token read.
func (p *parser) span(start Pos) Span {
	if p.i == 0 || p.toks[p.i-1].to.Offset < start.Offset {
		return Span{start, start}
	}
	return Span{start, p.toks[p.i-1].to}
}

func (p *parser) next() {
	if p.i < len(p.toks)-1 {
		p.i++
	}
}

// note remembers that what would have been right at the current token.
func (p *parser) note(what string) {
	if p.noteAt == p.i && !slices.Contains(p.expected, what) {
		p.expected = append(p.expected, what)
	}
}

// unexpected gives up at the current token, with what was noted there.
func (p *parser) unexpected() {
	if p.noteAt < 0 {
		panic(bail{p.i})
	}
	var expected []string
	if p.noteAt == p.i {
		expected = p.expected
	}
	p.unexpectedAs(p.i, 1, expected...)
}

// unexpectedAs gives up at the token of index i, where expected would have been right. The message names n tokens from there on:
// Flink's parser looks ahead in places, and then names what it looked at, not the token that is wrong.
func (p *parser) unexpectedAs(i, n int, expected ...string) {
	for k := i + 1; k < i+n && k < len(p.toks); k++ {
		switch p.toks[k].kind {
		case tBadChar, tOpenQuoted, tOpenComment, tTooLong:
			i, n = k, 1
		}
	}
	e := p.encountered(i, n, expected)
	p.advise(i, e)
	panic(e)
}

// endPlace is where Flink's messages see the end of the text: at its last character.
func (p *parser) endPlace() Pos {
	l := newLexer(p.src)
	_, size := utf8.DecodeLastRuneInString(p.src)
	l.advance(len(p.src) - size)
	return l.pos()
}

// fail gives up with a message of its own for a stretch of text.
func (p *parser) fail(s Span, class, msg string, help ...string) {
	panic(&Error{Class: class, Msg: msg, Span: s, Token: p.src[s.From.Offset:s.To.Offset], Help: help})
}

// is tells whether the current token is the word w.
func (p *parser) is(w string) bool {
	if p.toks[p.i].is(w) {
		return true
	}
	if p.noteAt == p.i {
		p.note(w)
	}
	return false
}

// accept passes the word w, if it is there.
func (p *parser) accept(w string) bool {
	if p.is(w) {
		p.next()
		return true
	}
	return false
}

// acceptAll passes the words ws, if all of them are there.
func (p *parser) acceptAll(ws ...string) bool {
	for n, w := range ws {
		if !p.at(n).is(w) {
			if n == 0 && p.noteAt == p.i {
				p.note(strings.Join(ws, " "))
			}
			return false
		}
	}
	p.i += len(ws)
	return true
}

// expect passes the words ws or gives up.
func (p *parser) expect(ws ...string) {
	for _, w := range ws {
		if !p.accept(w) {
			p.unexpected()
		}
	}
}

// opNames are the operators that messages name.
var opNames = map[tokenKind]string{
	tLParen: `"("`, tRParen: `")"`, tLBracket: `"["`, tRBracket: `"]"`, tLBrace: `"{"`, tRBrace: `"}"`, tComma: `","`, tDot: `"."`,
	tSemicolon: `";"`, tStar: `"*"`, tEq: `"="`, tLt: `"<"`, tGt: `">"`, tArrow: `"=>"`, tMinus: `"-"`, tHintEnd: `"*/"`,
	tColon: `":"`, tPlus: `"+"`, tHintBegin: `"/*+"`, tNe: `"<>"`, tPipe: `"|"`, tCaret: `"^"`,
}

// isOp tells whether the current token is the operator k.
func (p *parser) isOp(k tokenKind) bool {
	if p.toks[p.i].kind == k {
		return true
	}
	if p.noteAt == p.i {
		p.note(opNames[k])
	}
	return false
}

func (p *parser) acceptOp(k tokenKind) bool {
	if p.isOp(k) {
		p.next()
		return true
	}
	return false
}

func (p *parser) expectOp(k tokenKind) {
	if !p.acceptOp(k) {
		p.unexpected()
	}
}

// end passes the end of the statement: semicolons and the end of the text.
func (p *parser) end() {
	if p.isOp(tSemicolon) {
		for p.tok().kind == tSemicolon {
			p.next()
		}
		if t := p.tok(); t.kind != tEOF {
			p.statement() // what is wrong with it comes first, as in Flink
			p.fail(Span{t.from, t.to}, ClassArgument, "only single statement supported", "another statement begins here")
		}
	}
	p.note(endOfText)
	if p.tok().kind != tEOF {
		p.unexpected()
	}
	if p.late != nil {
		panic(p.late)
	}
}

// enter counts one level of nesting; leave has to follow.
func (p *parser) enter() {
	if p.depth++; p.depth > MaxDepth {
		p.tooDeep(p.tok())
	}
}

func (p *parser) tooDeep(t *token) {
	p.fail(Span{t.from, t.to}, ClassParse, fmt.Sprintf("The text nests deeper than %d levels at %s.", MaxDepth, t.from))
}

func (p *parser) leave() { p.depth-- }

// chain checks the length of a chain of operators.
func (p *parser) chain(n int) {
	if n > MaxChain {
		t := p.tok()
		p.fail(Span{t.from, t.to}, ClassParse, fmt.Sprintf("More than %d operators follow each other at %s.", MaxChain, t.from))
	}
}

// list reads elements between commas.
func list[T any](p *parser, element func() T) []T {
	xs := []T{element()}
	for p.acceptOp(tComma) {
		xs = append(xs, element())
	}
	return xs
}

// exprList is list for elements that begin with an expression; Flink's parser looks behind the comma for one.
func exprList[T any](p *parser, element func() T) []T {
	xs := []T{element()}
	for p.isOp(tComma) {
		at := p.i
		p.next()
		if t := p.tok(); !p.startsExpr() && !t.is("ROLLUP") && !t.is("CUBE") {
			p.unexpectedAs(at, 2, anExpr)
		}
		xs = append(xs, element())
	}
	return xs
}

// parens reads elements between commas in parentheses.
func parens[T any](p *parser, element func() T) []T {
	p.expectOp(tLParen)
	xs := list(p, element)
	p.expectOp(tRParen)
	return xs
}

// Names and simple literals.

// isIdent tells whether the current token is a name.
func (p *parser) isIdent() bool {
	t := p.tok()
	return t.kind == tQuoted || t.kind == tIdent && (t.word() == nil || !t.word().reserved)
}

// ident reads one name.
func (p *parser) ident() Ident { return p.identAs(aName) }

// identAs reads one name; what says for the message what it names.
func (p *parser) identAs(what string) Ident {
	p.note(what)
	t := p.tok()
	if !p.isIdent() {
		p.unexpected()
	}
	id := Ident{Span: Span{t.from, t.to}, Name: p.text(t)}
	if t.kind == tQuoted {
		id.Quoted = true
		id.Name = strings.ReplaceAll(id.Name[1:len(id.Name)-1], "``", "`")
	}
	if len(id.Name) > MaxIdent && utf16Len(id.Name) > MaxIdent {
		p.fail(id.Span, ClassCalcite, fmt.Sprintf("Length of identifier '%s' must be less than or equal to %d characters", id.Name, MaxIdent))
	}
	p.next()
	return id
}

// utf16Len counts the UTF-16 code units of s.
func utf16Len(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}

// name reads a dotted name.
func (p *parser) name() *Name {
	start := p.pos()
	n := nameOf(p.ident())
	for p.isOp(tDot) {
		p.dot()
		n.Parts = append(n.Parts, p.ident())
	}
	n.Span = p.span(start)
	return n
}

// dot passes a dot, which a name has to follow.
func (p *parser) dot() {
	at := p.i
	p.next()
	if !p.isIdent() {
		p.unexpectedAs(at, 2, aName)
	}
}

// simpleName reads a name of one segment as a Name.
func (p *parser) simpleName() *Name {
	return nameOf(p.ident())
}

// idents reads names in parentheses.
func (p *parser) idents() []Ident { return parens(p, p.ident) }

// isString tells whether a character string begins here.
func (p *parser) isString() bool {
	switch p.tok().kind {
	case tString, tCharset, tUnicode:
		return true
	}
	return false
}

// stringLit reads a character string.
func (p *parser) stringLit() *Literal {
	p.note(aString)
	if !p.isString() {
		p.unexpected()
	}
	return p.stringChain()
}

// plainString reads a 'text' as messages and options have it.
func (p *parser) plainString() *Literal {
	p.note(aString)
	t := p.tok()
	if t.kind != tString {
		p.unexpected()
	}
	p.next()
	l := &Literal{Kind: StringLit, Text: unquote(p.text(t))}
	if p.tok().kind == tString {
		l.Text += p.continuation(t)
	}
	l.Span = p.span(t.from)
	return l
}

// unsigned reads a number without sign that fits an int.
func (p *parser) unsigned() int {
	p.note(aNumber)
	t := p.tok()
	if t.kind != tInteger {
		p.unexpected()
	}
	n, err := strconv.ParseInt(p.text(t), 10, 32)
	if err != nil {
		p.fail(Span{t.from, t.to}, ClassCalcite, fmt.Sprintf("Numeric literal '%s' out of range", p.text(t)))
	}
	p.next()
	return int(n)
}

// unquote returns the content of a string in single quotes.
func unquote(s string) string {
	return strings.ReplaceAll(s[1:len(s)-1], "''", "'")
}

// oneString reads a single 'text', which no other string may continue.
func (p *parser) oneString() *Literal {
	t := p.tok()
	if t.kind != tString {
		p.unexpected()
	}
	p.next()
	return &Literal{Span: Span{t.from, t.to}, Kind: StringLit, Text: unquote(p.text(t))}
}

// property reads 'key' = 'value'.
func (p *parser) property() *Property {
	start := p.pos()
	key := p.plainString()
	p.expectOp(tEq)
	value := p.plainString()
	return &Property{Span: p.span(start), Key: key, Value: value}
}

// properties reads ('key' = 'value', ..), which may be empty.
func (p *parser) properties() *Properties {
	start := p.pos()
	p.expectOp(tLParen)
	ps := &Properties{}
	if !p.isOp(tRParen) {
		ps.List = list(p, p.property)
	}
	p.expectOp(tRParen)
	ps.Span = p.span(start)
	return ps
}

// with reads WITH (..) if it is there.
func (p *parser) with() *Properties {
	if !p.accept("WITH") {
		return nil
	}
	return p.properties()
}

// keys reads ('key', ..), which may be empty.
func (p *parser) keys() []*Literal {
	p.expectOp(tLParen)
	var ks []*Literal
	if !p.isOp(tRParen) {
		ks = list(p, p.plainString)
	}
	p.expectOp(tRParen)
	return ks
}

// comment reads COMMENT 'text' if it is there.
func (p *parser) comment() *Literal {
	if !p.accept("COMMENT") {
		return nil
	}
	return p.stringLit()
}

// partition reads PARTITION (column [= value], ..).
func (p *parser) partition() *PartitionSpec {
	start := p.pos()
	p.expect("PARTITION")
	items := parens(p, func() *PartitionItem {
		at := p.pos()
		it := &PartitionItem{Column: p.ident()}
		if p.acceptOp(tEq) {
			it.Value = p.expr()
		}
		it.Span = p.span(at)
		return it
	})
	return &PartitionSpec{Span: p.span(start), Items: items}
}

func (p *parser) ifExists() bool    { return p.acceptAll("IF", "EXISTS") }
func (p *parser) ifNotExists() bool { return p.acceptAll("IF", "NOT", "EXISTS") }
