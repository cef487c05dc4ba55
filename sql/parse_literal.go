package sql

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
)

// stringChain reads a character string with the parts that continue it on later lines, and UESCAPE.
func (p *parser) stringChain() *Literal {
	t := p.tok()
	p.next()
	lit := &Literal{Kind: StringLit}
	raw := p.text(t)
	switch t.kind {
	case tCharset:
		n := strings.IndexByte(raw, '\'')
		lit.Charset, raw = p.charset(t, raw[:n]), raw[n:]
	case tUnicode:
		raw = raw[2:]
	}
	lit.Text = unquote(raw)
	if p.tok().kind == tString {
		lit.Text += p.continuation(t)
	}
	if t.kind == tUnicode {
		esc := '\\'
		if p.accept("UESCAPE") {
			e := p.plainString()
			r := []rune(e.Text)
			if len(r) != 1 || r[0] > 0x7f || strings.ContainsRune("+'\" \t\n\r0123456789abcdefABCDEF", r[0]) {
				p.fail(e.Span, ClassCalcite, "UESCAPE '"+e.Text+"' must be exactly one character")
			}
			esc = r[0]
		}
		lit.Text = p.unescape(t, lit.Text, byte(esc))
	}
	lit.Span = p.span(t.from)
	return lit
}

// continuation reads the strings that continue the literal t, each of which has to begin on a line of its own.
func (p *parser) continuation(t *token) string {
	var b strings.Builder
	last := t
	for p.tok().kind == tString {
		c := p.tok()
		if c.from.Line == last.to.Line && p.late == nil {
			p.late = &Error{Class: ClassSQL, Msg: "String literal continued on same line", Span: Span{c.from, c.to}, Token: p.text(c),
				Help: []string{"put = or || between the strings, or a comma; a single quote inside a string is written twice"}}
		}
		b.WriteString(unquote(p.text(c)))
		last = c
		p.next()
	}
	return b.String()
}

// charsets are the character sets that a string may name.
var charsets = map[string]bool{
	"UTF8": true, "UTF-8": true, "UTF16": true, "UTF-16": true, "UTF-16LE": true, "UTF-16BE": true, "UTF32": true, "UTF-32": true,
	"LATIN1": true, "ISO-8859-1": true, "ISO_8859_1": true, "US-ASCII": true, "ASCII": true, "GBK": true, "BIG5": true,
}

// charset checks the prefix of a string and returns the character set in upper case.
func (p *parser) charset(t *token, prefix string) string {
	if prefix[0] != '_' {
		return "N"
	}
	name := strings.ToUpper(prefix[1:])
	if !charsets[name] {
		p.fail(Span{t.from, t.to}, ClassCalcite, fmt.Sprintf("Unknown character set '%s'", prefix[1:]))
	}
	return name
}

// unescape replaces the escapes of a U& string.
func (p *parser) unescape(t *token, s string, esc byte) string {
	if strings.IndexByte(s, esc) < 0 {
		return s
	}
	var units []uint16
	chars := 0
	for i := 0; i < len(s); {
		if s[i] != esc {
			n := strings.IndexByte(s[i:], esc)
			if n < 0 {
				n = len(s) - i
			}
			part := utf16.Encode([]rune(s[i : i+n]))
			units = append(units, part...)
			chars += len(part)
			i += n
			continue
		}
		if i+1 < len(s) && s[i+1] == esc {
			units = append(units, uint16(esc))
			i, chars = i+2, chars+2
			continue
		}
		v, err := strconv.ParseInt(s[i+1:min(i+5, len(s))], 16, 32) // a sign may be one of the four, as in Flink
		if err != nil || i+5 > len(s) {
			p.fail(Span{t.from, t.to}, ClassSQL,
				fmt.Sprintf("Unicode escape sequence starting at character %d is not exactly four hex digits", chars))
		}
		units = append(units, uint16(v))
		i, chars = i+5, chars+5
	}
	return string(utf16.Decode(units))
}

// binaryChain reads X'0AFF' with the parts that continue it on later lines.
func (p *parser) binaryChain() Expr {
	t := p.tok()
	p.next()
	text := unquote(p.text(t)[1:])
	if p.tok().kind == tString {
		text += p.continuation(t)
	}
	for i := 0; i < len(text); i++ {
		if c := text[i] | 0x20; !isDigit(text[i]) && (c < 'a' || c > 'f') {
			p.fail(p.span(t.from), ClassSQL, "Binary literal string must contain only characters '0' - '9', 'A' - 'F'")
		}
	}
	if len(text)%2 != 0 {
		p.fail(p.span(t.from), ClassSQL, "Binary literal string must contain an even number of hexits")
	}
	return &Literal{Span: p.span(t.from), Kind: BinaryLit, Text: text}
}

// datetime reads DATE, TIME or TIMESTAMP and the string behind it.
func (p *parser) datetime(kind LiteralKind) Expr {
	t := p.tok()
	if p.at(1).kind != tString {
		p.unexpectedAs(p.i, 2, anExpr)
	}
	p.next()
	s := p.plainString()
	return &Literal{Span: p.span(t.from), Kind: kind, Text: s.Text}
}

// escape reads the JDBC escapes {d '..'}, {t '..'}, {ts '..'} and {fn name(..)}.
func (p *parser) escape() Expr {
	start := p.pos()
	t := p.at(1)
	var x Expr
	switch strings.ToLower(p.text(t)) {
	case "d":
		x = p.escapeLiteral(DateLit)
	case "t":
		x = p.escapeLiteral(TimeLit)
	case "ts":
		x = p.escapeLiteral(TimestampLit)
	case "fn":
		p.i += 2
		x = p.escapeCall()
	default:
		p.unexpected()
	}
	p.expectOp(tRBrace)
	switch x := x.(type) {
	case *Literal:
		x.Span = p.span(start)
	case *FuncCall:
		x.Span = p.span(start)
	}
	return x
}

func (p *parser) escapeLiteral(kind LiteralKind) Expr {
	p.i += 2
	s := p.plainString()
	return &Literal{Kind: kind, Text: s.Text}
}

// escapeCall reads the call of {fn name(..)}; the name may be any word.
func (p *parser) escapeCall() Expr {
	p.note(aName)
	t := p.tok()
	if t.kind != tIdent {
		p.unexpected()
	}
	if t.word() != nil && t.word().form {
		if c, ok := p.formCall(t.word().name).(*FuncCall); ok {
			c.JDBC = true
			return c
		}
		p.fail(Span{t.from, t.to}, ClassParse, fmt.Sprintf("%s is no function of {fn ..} at %s.", t.word().name, t.from))
	}
	p.next()
	id := Ident{Span: Span{t.from, t.to}, Name: p.text(t)}
	c := &FuncCall{Name: nameOf(id), JDBC: true}
	p.expectOp(tLParen)
	if !p.isOp(tRParen) {
		c.Args = list(p, p.expr)
	}
	p.expectOp(tRParen)
	return c
}

// intervalUnits are the units of intervals in both numbers.
var intervalUnits = map[string]TimeUnit{
	"YEAR": "YEAR", "YEARS": "YEAR", "MONTH": "MONTH", "MONTHS": "MONTH", "DAY": "DAY", "DAYS": "DAY", "HOUR": "HOUR", "HOURS": "HOUR",
	"MINUTE": "MINUTE", "MINUTES": "MINUTE", "SECOND": "SECOND", "SECONDS": "SECOND",
}

// interval reads an interval: of a string, or of a number, a name or an expression in parentheses.
func (p *parser) interval() Expr {
	start := p.pos()
	if !p.startsInterval(1) {
		p.unexpectedAs(p.i, 2, anExpr)
	}
	p.expect("INTERVAL")
	negative := false
	if t := p.tok(); (t.kind == tMinus || t.kind == tPlus) && p.at(1).kind == tString {
		negative = t.kind == tMinus
		p.next()
	}
	if p.tok().kind == tString {
		x := &IntervalLit{Negative: negative, Text: p.oneString().Text}
		x.Qualifier = p.intervalQualifier()
		x.Span = p.span(start)
		if x.Text == "" {
			text := p.src[x.Span.From.Offset+int32(len("INTERVAL ''")) : x.Span.To.Offset]
			p.fail(x.Span, ClassCalcite, fmt.Sprintf("Illegal INTERVAL literal %s; at %s", text, start))
		}
		return x
	}
	x := &IntervalExpr{}
	p.note(aString)
	switch t := p.tok(); {
	case t.kind == tLParen:
		p.next()
		x.Amount = p.expr()
		p.expectOp(tRParen)
	case t.kind == tInteger || t.kind == tDecimal || t.kind == tDouble:
		x.Amount = p.primary()
	default:
		x.Amount = p.name()
	}
	x.Qualifier = p.intervalQualifier()
	x.Span = p.span(start)
	return x
}

// startsInterval tells whether the token n behind the current one may follow the word INTERVAL.
func (p *parser) startsInterval(n int) bool {
	switch t := p.at(n); t.kind {
	case tString, tLParen, tInteger, tDecimal, tDouble, tQuoted:
		return true
	case tMinus, tPlus:
		return p.at(n+1).kind == tString
	case tIdent:
		return t.word() == nil || !t.word().reserved
	}
	return false
}

// intervalUnit reads a unit of an interval.
func (p *parser) intervalUnit() TimeUnit {
	t := p.tok()
	if t.word() != nil {
		if u, ok := intervalUnits[t.word().name]; ok {
			p.next()
			return u
		}
	}
	for _, u := range []string{"YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"} {
		p.note(u)
	}
	p.unexpected()
	return ""
}

// intervalQualifier reads unit[(precision[, fraction])] [TO unit[(fraction)]].
func (p *parser) intervalQualifier() IntervalQualifier {
	start := p.pos()
	q := IntervalQualifier{Precision: -1, Fraction: -1}
	q.First = p.intervalUnit()
	if p.acceptOp(tLParen) {
		q.Precision = p.unsigned()
		if q.First == "SECOND" && p.acceptOp(tComma) {
			q.Fraction = p.unsigned()
		}
		p.expectOp(tRParen)
	}
	if q.First != "SECOND" && q.First != "MONTH" && p.accept("TO") {
		at := p.tok()
		q.Last = p.intervalUnit()
		if !unitContains(q.First, q.Last) {
			p.fail(Span{at.from, at.to}, ClassParse, fmt.Sprintf("Encountered \"%s\" at %s.", escapeImage(p.text(at)), at.from),
				fmt.Sprintf("an interval cannot go from %s to %s", q.First, q.Last))
		}
		if q.Last == "SECOND" && p.acceptOp(tLParen) {
			q.Fraction = p.unsigned()
			p.expectOp(tRParen)
		}
	}
	q.Span = p.span(start)
	return q
}

// unitContains tells whether an interval may go from one unit to the other.
func unitContains(from, to TimeUnit) bool {
	const dayTime = "DAY HOUR MINUTE SECOND"
	if from == "YEAR" {
		return to == "MONTH"
	}
	i, j := strings.Index(dayTime, string(from)), strings.Index(dayTime, string(to))
	return i >= 0 && j > i
}

// units are the units of EXTRACT, FLOOR and CEIL.
var units = map[string]bool{
	"NANOSECOND": true, "MICROSECOND": true, "MILLISECOND": true, "SECOND": true, "MINUTE": true, "HOUR": true, "DAY": true, "DOW": true,
	"DOY": true, "ISODOW": true, "ISOYEAR": true, "WEEK": true, "MONTH": true, "QUARTER": true, "YEAR": true, "EPOCH": true,
	"DECADE": true, "CENTURY": true, "MILLENNIUM": true,
}

// unit reads a unit of EXTRACT, FLOOR and CEIL.
func (p *parser) unit() *Symbol {
	t := p.tok()
	p.note(aTimeUnit)
	if t.word() != nil && units[t.word().name] {
		p.next()
		return &Symbol{Span: Span{t.from, t.to}, Word: t.word().name}
	}
	if p.isIdent() {
		id := p.ident()
		p.fail(id.Span, ClassCalcite, fmt.Sprintf("'%s' is not a valid datetime format", id.Name),
			"units are NANOSECOND, MICROSECOND, MILLISECOND, SECOND, MINUTE, HOUR, DAY, DOW, DOY, WEEK, MONTH, QUARTER, YEAR, EPOCH, DECADE, CENTURY and MILLENNIUM")
	}
	p.unexpected()
	return nil
}

// addUnits are the units of TIMESTAMPADD and TIMESTAMPDIFF with what they mean.
var addUnits = map[string]string{
	"NANOSECOND": "NANOSECOND", "MICROSECOND": "MICROSECOND", "SECOND": "SECOND", "MINUTE": "MINUTE", "HOUR": "HOUR", "DAY": "DAY",
	"WEEK": "WEEK", "MONTH": "MONTH", "QUARTER": "QUARTER", "YEAR": "YEAR", "SQL_TSI_FRAC_SECOND": "NANOSECOND",
	"SQL_TSI_MICROSECOND": "MICROSECOND", "SQL_TSI_SECOND": "SECOND", "SQL_TSI_MINUTE": "MINUTE", "SQL_TSI_HOUR": "HOUR",
	"SQL_TSI_DAY": "DAY", "SQL_TSI_WEEK": "WEEK", "SQL_TSI_MONTH": "MONTH", "SQL_TSI_QUARTER": "QUARTER", "SQL_TSI_YEAR": "YEAR",
}

// addUnit reads a unit of TIMESTAMPADD and TIMESTAMPDIFF.
func (p *parser) addUnit() *Symbol {
	t := p.tok()
	if t.word() != nil {
		if u, ok := addUnits[t.word().name]; ok {
			p.next()
			return &Symbol{Span: Span{t.from, t.to}, Word: u}
		}
	}
	for _, u := range []string{"NANOSECOND", "MICROSECOND", "SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR"} {
		p.note(u)
	}
	p.unexpected()
	return nil
}
