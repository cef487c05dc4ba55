package sql

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// The classes of errors: the Java class that Flink's client prints before the message.
const (
	ClassParse    = "org.apache.flink.sql.parser.impl.ParseException"
	ClassLexical  = "org.apache.flink.sql.parser.impl.TokenMgrError"
	ClassValidate = "org.apache.flink.sql.parser.error.SqlValidateException"
	ClassCalcite  = "org.apache.calcite.runtime.CalciteException"
	ClassSQL      = "org.apache.calcite.sql.validate.SqlValidatorException"
	ClassArgument = "java.lang.IllegalArgumentException"
)

// Error is an error of syntax.
type Error struct {
	// Class is one of the classes above.
	Class string
	// Msg is the message in one line; where Flink has one for the case, it is Flink's.
	Msg string
	// Span is the offending text, which is empty at the end of the text.
	Span Span
	// Token is the offending text as written, empty at the end of the text.
	Token string
	// Expected says in words what might have stood there; it may be empty.
	Expected []string
	// Help are sentences about cause and cure; it may be empty.
	Help []string
	// Incomplete tells that the text ended where more of it was needed.
	Incomplete bool
}

// Error returns the message.
func (e *Error) Error() string { return e.Msg }

// Detail explains the error in lines that begin with two blanks: the line of src with a caret below the place, what was expected,
// and the help. src is the text that was parsed.
func (e *Error) Detail(src string) []string {
	lines := Caret(src, e.Span)
	if len(e.Expected) > 0 {
		what := "the end of the text"
		if e.Token != "" {
			what = e.Token
			if n := strings.IndexAny(what, "\r\n"); n >= 0 {
				what = what[:n]
			}
		}
		lines = append(lines, "  expected "+joinOr(condense(e.Expected))+", found "+what)
	}
	for _, h := range e.Help {
		lines = append(lines, "  "+h)
	}
	return lines
}

// condensed are words that follow each other in the grammar, with what a message says for several of them.
var condensed = []struct {
	words []string
	short string
}{
	{[]string{"NATURAL", "LEFT", "RIGHT", "FULL", "CROSS", "INNER", "JOIN"}, "JOIN"},
	{[]string{"TABLESAMPLE", "MATCH_RECOGNIZE", "PIVOT", "UNPIVOT"}, ""},
	{[]string{"WHERE", "GROUP", "HAVING", "WINDOW", "QUALIFY"}, "WHERE, GROUP BY"},
	{[]string{"UNION", "EXCEPT", "INTERSECT"}, "UNION"},
	{[]string{"ORDER", "LIMIT", "OFFSET", "FETCH"}, "ORDER BY, LIMIT"},
	{[]string{"RESPECT NULLS", "IGNORE NULLS", "WITHIN", "FILTER", "OVER"}, "FILTER, OVER"},
}

// condense shortens a list of expectations for the eye: words of one kind become one, and what may follow any name is left out.
func condense(expected []string) []string {
	if slices.Contains(expected, aTableRef) {
		expected = slices.DeleteFunc(slices.Clone(expected), func(s string) bool { return s == aName })
	}
	if len(expected) < 5 {
		return expected
	}
	group := map[string]int{}
	for i, c := range condensed {
		present := 0
		for _, w := range c.words {
			if slices.Contains(expected, w) {
				present++
			}
		}
		for _, w := range c.words {
			if present > 2 || c.short == "" && present > 1 {
				group[w] = i + 1
			}
		}
	}
	var out []string
	seen := map[int]bool{}
	operator := slices.Contains(expected, anOperator)
	for _, s := range expected {
		g := group[s]
		switch {
		case g > 0 && !seen[g]:
			seen[g] = true
			if short := condensed[g-1].short; short != "" {
				out = append(out, short)
			}
		case g > 0, s == `"."`, operator && (s == `"("` || s == `"["`):
		default:
			out = append(out, s)
		}
	}
	return out
}

// joinOr joins words with commas and a last "or".
func joinOr(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + " or " + list[len(list)-1]
}

// caretWidth bounds the columns of the line that Caret shows, so that a terminal of 80 columns does not break it.
const caretWidth = 72

// Caret returns the line of src in which s begins and below it a line with carets under s, both behind two blanks; a line that is
// too long is cut around the place. It returns nil when s is no place of src.
func Caret(src string, s Span) []string {
	at := int(s.From.Offset)
	if !s.From.IsValid() || at > len(src) {
		return nil
	}
	start := strings.LastIndexAny(src[:at], "\r\n") + 1
	end := len(src)
	if n := strings.IndexAny(src[at:], "\r\n"); n >= 0 {
		end = at + n
	}
	prefix, suffix := "", ""
	if from := at - caretWidth*2/3; start < from && end-start > caretWidth {
		for from < at && !utf8.RuneStart(src[from]) {
			from++
		}
		start, prefix = from, "..."
	}
	if to := start + caretWidth; to < end {
		for to > at && !utf8.RuneStart(src[to]) {
			to--
		}
		end, suffix = to, "..."
	}
	stop := min(max(int(s.To.Offset), at), end)
	var under strings.Builder
	under.WriteString("  " + strings.Repeat(" ", len(prefix)))
	for _, r := range src[start:at] {
		switch {
		case r == '\t':
			under.WriteByte('\t')
		default:
			under.WriteString(strings.Repeat(" ", columns(r)))
		}
	}
	n := 0
	for _, r := range src[at:stop] {
		n += columns(r)
	}
	under.WriteString(strings.Repeat("^", max(n, 1)))
	return []string{"  " + prefix + src[start:end] + suffix, under.String()}
}

// columns is how many columns of a terminal r takes, near enough to put a caret under it.
func columns(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case r <= 0x36f, 0x200b <= r && r <= 0x200d, 0xfe00 <= r && r <= 0xfe0f:
		return 0
	case 0x1100 <= r && r <= 0x115f, 0x2e80 <= r && r <= 0xa4cf, 0xac00 <= r && r <= 0xd7a3, 0xf900 <= r && r <= 0xfaff,
		0xfe30 <= r && r <= 0xfe6f, 0xff00 <= r && r <= 0xff60, 0x1f300 <= r && r <= 0x1faff, 0x20000 <= r && r <= 0x3fffd:
		return 2
	}
	return 1
}

// escapeImage writes a token as the messages of Flink's parser do.
func escapeImage(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch r {
		case '\b':
			b.WriteString(`\b`)
		case '\t':
			b.WriteString(`\t`)
		case '\n':
			b.WriteString(`\n`)
		case '\f':
			b.WriteString(`\f`)
		case '\r':
			b.WriteString(`\r`)
		case '"', '\'', '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		default:
			switch {
			case r >= 0x10000:
				r -= 0x10000
				fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
			case r < 0x20 || r > 0x7e:
				fmt.Fprintf(&b, `\u%04x`, r)
			default:
				b.WriteRune(r)
			}
		}
	}
	return b.String()
}

// The phrases of Expected that mean that a name may stand there.
const (
	aName       = "a name"
	anExpr      = "an expression"
	aType       = "a type"
	aString     = "a string in single quotes"
	aNumber     = "a number"
	anAlias     = "an alias"
	anOperator  = "an operator"
	aQuery      = "a query"
	endOfText   = "the end of the statement"
	aTimeUnit   = "a unit of time"
	aStatement  = "a statement"
	aTableRef   = "a table"
	aTableAlias = "a table alias"
)

// allowsName tells whether a list of expectations has one that a name would fulfil.
func allowsName(expected []string) bool {
	return slices.ContainsFunc(expected, func(s string) bool {
		switch s {
		case aName, anExpr, aType, anAlias, aQuery, aStatement, aTableRef, aTableAlias:
			return true
		}
		return false
	})
}

// encountered makes the error for the token at index i of p.toks, of which n tokens are shown.
func (p *parser) encountered(i, n int, expected []string) *Error {
	t := &p.toks[i]
	image, at := p.text(t), t.from
	e := &Error{Class: ClassParse, Span: Span{t.from, t.to}, Token: image, Expected: expected}
	switch t.kind {
	case tEOF:
		image, at = "<EOF>", p.endPlace()
		e.Incomplete = true
	case tBadChar:
		return p.lexical(e, t)
	case tOpenString:
		e.Incomplete = true
		e.Expected = nil
		e.Help = append(e.Help, "the string that begins here is not closed; a single quote inside a string is written twice")
		image = image[:strings.IndexByte(image, '\'')+1]
		e.Token = image
	case tOpenQuoted:
		e.Class, e.Expected = ClassLexical, nil
		e.Msg = fmt.Sprintf("Lexical error at %s.  Encountered: <EOF> after : \"%s\"", t.to, escapeImage(image))
		e.Help = append(e.Help, "the name that begins here is not closed by a back-tick on the same line")
		return e
	case tOpenComment:
		e.Class, e.Expected = ClassLexical, nil
		e.Incomplete = true
		e.Msg = fmt.Sprintf("Lexical error at %s.  Encountered: <EOF> after : \"\"", t.to)
		e.Span.To = e.Span.From
		e.Help = append(e.Help, "the comment that begins here is not closed by */")
		return e
	case tTooLong:
		e.Expected = nil
		e.Msg = fmt.Sprintf("Literal at %s has %d bytes, more than the limit of %d.", t.from, t.to.Offset-t.from.Offset, MaxLiteral)
		e.Span.To, e.Token = e.Span.From, image[:16]
		return e
	case tDoubleQuote:
		e.Help = append(e.Help, "double quotes mean nothing here: names are quoted with back-ticks (`name`), strings with single quotes ('text')")
	case tSemicolon:
		e.Incomplete = i+1 < len(p.toks) && p.toks[i+1].kind == tEOF
	}
	word := image
	image = escapeImage(image) + p.lookahead(e, i, n)
	if w := t.word(); w != nil && w.reserved && allowsName(expected) {
		if help := p.reservedHelp(i, expected); help != "" {
			e.Help = append(e.Help, help)
		}
		if word == w.name { // Flink knows its keywords in upper case only
			e.Msg = fmt.Sprintf("Incorrect syntax near the keyword '%s' at %s.", word, at)
			return e
		}
	}
	e.Msg = fmt.Sprintf("Encountered \"%s\" at %s.", image, at)
	return e
}

// lookahead returns the n-1 tokens behind the one of index i as a message shows them, and extends e to the last of them.
func (p *parser) lookahead(e *Error, i, n int) string {
	s := ""
	for k := i + 1; k < i+n && k < len(p.toks); k++ {
		t := &p.toks[k]
		e.Token, e.Span.To = p.text(t), t.to
		switch t.kind {
		case tEOF:
			s += " <EOF>"
			e.Incomplete = true
		case tOpenString:
			s += ` \'`
			e.Incomplete = true
		case tSemicolon:
			s += " ;"
			e.Incomplete = k+1 < len(p.toks) && p.toks[k+1].kind == tEOF
		default:
			s += " " + escapeImage(e.Token)
		}
	}
	return s
}

// lexical completes e for a character that begins no token.
func (p *parser) lexical(e *Error, t *token) *Error {
	r, _ := utf8.DecodeRuneInString(p.src[t.from.Offset:])
	if r > 0xffff {
		r = 0xd800 + (r-0x10000)>>10
	}
	e.Class, e.Expected = ClassLexical, nil
	e.Msg = fmt.Sprintf("Lexical error at %s.  Encountered: \"%s\" (%d), after : \"\"", t.from, escapeImage(p.text(t)), r)
	switch e.Token {
	case "``":
		e.Help = append(e.Help, "a name in back-ticks cannot be empty")
	case "#":
		e.Help = append(e.Help, "comments begin with -- or stand between /* and */")
	case "\u2018", "\u2019", "\u201c", "\u201d":
		e.Help = append(e.Help, "this is a typographic quote; strings have plain single quotes (')")
	case "\u00a0":
		e.Help = append(e.Help, "this is a no-break space; put a plain space in its place")
	}
	return e
}
