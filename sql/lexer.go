package sql

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// tokenKind is the kind of a token.
type tokenKind uint8

const (
	tEOF     tokenKind = iota
	tIdent             // a word without quotes; token.word gives it when it is a word of the grammar
	tQuoted            // `name`
	tString            // 'text'
	tCharset           // _X'text' or N'text'
	tBinary            // X'0AFF'
	tUnicode           // U&'text'
	tInteger
	tDecimal
	tDouble
	tHintBegin // /*+
	tHintEnd   // */ of a hint
	tLParen
	tRParen
	tLBracket
	tRBracket
	tLBrace
	tRBrace
	tComma
	tDot
	tSemicolon
	tStar
	tPlus
	tMinus
	tSlash
	tPercent
	tConcat // ||
	tPipe   // |
	tEq
	tNe   // <>
	tBang // !=
	tLt
	tLe
	tGt
	tGe
	tArrow // =>
	tColon
	tQuestion
	tCaret
	tDoubleQuote
	// The kinds below are errors that the parser reports when it gets there.
	tBadChar
	tOpenString  // a string without end
	tOpenQuoted  // a back-tick without its pair on the line
	tOpenComment // a comment without end
	tTooLong     // a literal longer than MaxLiteral
)

// token is one token of a text. It holds no pointer, so that the tokens of a long text cost the collector nothing.
type token struct {
	kind     tokenKind
	id       uint16 // index in wordTable of a word of the grammar, else 0
	from, to Pos
}

// word returns the word of the grammar that the token is, unquoted, or nil.
func (t *token) word() *word {
	if t.id == 0 {
		return nil
	}
	return &wordTable[t.id]
}

// is tells whether the token is the given word of the grammar, unquoted.
func (t *token) is(w string) bool { return wordTable[t.id].name == w }

// lexer cuts a text into tokens. It never fails: what it cannot read becomes a token of an error kind.
type lexer struct {
	src     string
	off     int
	line    int
	lineOff int // offset of the first byte of the line
	adj     int // bytes less UTF-16 units on the line before off
	inHint  bool
	// slashes tells that "//" begins a comment. Only unquoted values of SET are read without.
	slashes bool
}

func newLexer(src string) *lexer { return &lexer{src: src, line: 1, slashes: true} }

// pos returns the current place.
func (l *lexer) pos() Pos {
	return Pos{Offset: int32(l.off), Line: int32(l.line), Column: int32(l.off - l.lineOff - l.adj + 1)}
}

// advance moves to offset end, keeping count of lines and columns.
func (l *lexer) advance(end int) {
	for l.off < end {
		c := l.src[l.off]
		switch {
		case c == '\n', c == '\r' && (l.off+1 >= len(l.src) || l.src[l.off+1] != '\n'):
			l.off++
			l.line++
			l.lineOff, l.adj = l.off, 0
		case c < utf8.RuneSelf:
			l.off++
		default:
			r, size := utf8.DecodeRuneInString(l.src[l.off:])
			units := 1
			if r > 0xffff {
				units = 2
			}
			l.off += size
			l.adj += size - units
		}
	}
}

// skip passes white space and comments; it returns false at a comment without end, where it stops.
func (l *lexer) skip() bool {
	for l.off < len(l.src) {
		rest := l.src[l.off:]
		switch c := rest[0]; {
		case c == ' ' || c == '\t' || c == '\f':
			l.off++
		case c == '\n' || c == '\r':
			l.advance(l.off + 1)
		case strings.HasPrefix(rest, "--"), l.slashes && strings.HasPrefix(rest, "//"):
			n := strings.IndexAny(rest, "\r\n")
			if n < 0 {
				n = len(rest)
			}
			l.advance(l.off + n)
		case strings.HasPrefix(rest, "/*") && !strings.HasPrefix(rest, "/*+"):
			n := strings.Index(rest[2:], "*/")
			if n < 0 {
				return false
			}
			l.advance(l.off + n + 4)
		default:
			return true
		}
	}
	return true
}

// next returns the next token; at the end of the text it is tEOF, again and again.
func (l *lexer) next() token {
	if !l.skip() {
		from := l.pos()
		l.advance(len(l.src))
		return token{kind: tOpenComment, from: from, to: l.pos()}
	}
	from := l.pos()
	if l.off >= len(l.src) {
		return token{kind: tEOF, from: from, to: from}
	}
	kind := l.scan()
	t := token{kind: kind, from: from, to: l.pos()}
	if kind == tIdent {
		t.id = wordIndex(l.src[from.Offset:t.to.Offset])
	}
	return t
}

// scan reads one token and returns its kind.
func (l *lexer) scan() tokenKind {
	c := l.src[l.off]
	switch {
	case isDigit(c), c == '.' && isDigit(l.peek(1)):
		return l.number()
	case c == '\'':
		return l.quotedString(tString, l.off+1)
	case c == '`':
		return l.quotedIdent()
	case isIdentStart(c):
		return l.identOrPrefixed()
	case c >= utf8.RuneSelf:
		if r, _ := utf8.DecodeRuneInString(l.src[l.off:]); isLetter(r) {
			return l.ident()
		}
	default:
		if kind, size := l.operator(c); size > 0 {
			l.off += size
			return kind
		}
	}
	_, size := utf8.DecodeRuneInString(l.src[l.off:])
	l.advance(l.off + size)
	return tBadChar
}

// peek returns the byte n behind the current one, or 0.
func (l *lexer) peek(n int) byte {
	if l.off+n < len(l.src) {
		return l.src[l.off+n]
	}
	return 0
}

// singles are the operators of one byte.
var singles = [128]tokenKind{
	'(': tLParen, ')': tRParen, '[': tLBracket, ']': tRBracket, '{': tLBrace, '}': tRBrace, ',': tComma, '.': tDot, ';': tSemicolon,
	'*': tStar, '+': tPlus, '-': tMinus, '/': tSlash, '%': tPercent, '|': tPipe, '=': tEq, '<': tLt, '>': tGt, ':': tColon,
	'?': tQuestion, '^': tCaret, '"': tDoubleQuote,
}

// operator returns the kind and length of the operator at the current place; length 0 is none.
func (l *lexer) operator(c byte) (tokenKind, int) {
	switch d := l.peek(1); {
	case c == '|' && d == '|':
		return tConcat, 2
	case c == '<' && d == '>':
		return tNe, 2
	case c == '<' && d == '=':
		return tLe, 2
	case c == '>' && d == '=':
		return tGe, 2
	case c == '!' && d == '=':
		return tBang, 2
	case c == '=' && d == '>':
		return tArrow, 2
	case c == '/' && d == '*' && l.peek(2) == '+':
		l.inHint = true
		return tHintBegin, 3
	case c == '*' && d == '/' && l.inHint:
		l.inHint = false
		return tHintEnd, 2
	}
	if k := singles[c]; k != 0 {
		return k, 1
	}
	return 0, 0
}

// number reads digits, a fraction and an exponent as far as they go.
func (l *lexer) number() tokenKind {
	kind := tInteger
	i := l.off
	for i < len(l.src) && isDigit(l.src[i]) {
		i++
	}
	if i < len(l.src) && l.src[i] == '.' {
		kind = tDecimal
		for i++; i < len(l.src) && isDigit(l.src[i]); i++ {
		}
	}
	if i < len(l.src) && (l.src[i] == 'e' || l.src[i] == 'E') {
		j := i + 1
		if j < len(l.src) && (l.src[j] == '+' || l.src[j] == '-') {
			j++
		}
		if j < len(l.src) && isDigit(l.src[j]) {
			kind = tDouble
			for i = j; i < len(l.src) && isDigit(l.src[i]); i++ {
			}
		}
	}
	if i-l.off > MaxLiteral {
		kind = tTooLong
	}
	l.off = i
	return kind
}

// quotedString reads a string whose content begins at offset body.
func (l *lexer) quotedString(kind tokenKind, body int) tokenKind {
	i := body
	for {
		n := strings.IndexByte(l.src[i:], '\'')
		if n < 0 {
			l.advance(len(l.src))
			return tOpenString
		}
		i += n + 1
		if i >= len(l.src) || l.src[i] != '\'' {
			break
		}
		i++
	}
	if i-body > MaxLiteral {
		kind = tTooLong
	}
	l.advance(i)
	return kind
}

// quotedIdent reads a name in back-ticks, which has to end on its line.
func (l *lexer) quotedIdent() tokenKind {
	i := l.off + 1
	for i < len(l.src) {
		switch l.src[i] {
		case '\n', '\r':
			l.advance(i)
			return tOpenQuoted
		case '`':
			if i+1 >= len(l.src) || l.src[i+1] != '`' {
				if i == l.off+1 { // ``: nothing between the back-ticks
					l.advance(i + 1)
					return tBadChar
				}
				l.advance(i + 1)
				return tQuoted
			}
			i++
		}
		i++
	}
	l.advance(i)
	return tOpenQuoted
}

// identOrPrefixed reads a word, or a string with a prefix.
func (l *lexer) identOrPrefixed() tokenKind {
	switch c := l.src[l.off]; c {
	case 'n', 'N', 'x', 'X':
		if l.peek(1) == '\'' {
			if c|0x20 == 'n' {
				return l.quotedString(tCharset, l.off+2)
			}
			return l.quotedString(tBinary, l.off+2)
		}
	case 'u', 'U':
		if l.peek(1) == '&' && l.peek(2) == '\'' {
			return l.quotedString(tUnicode, l.off+3)
		}
	case '_':
		i := l.off + 1
		for i < len(l.src) && (isIdentStart(l.src[i]) || isDigit(l.src[i]) || strings.IndexByte("-.:", l.src[i]) >= 0) {
			i++
		}
		if i > l.off+1 && i < len(l.src) && l.src[i] == '\'' {
			return l.quotedString(tCharset, i+1)
		}
	}
	return l.ident()
}

// ident reads a word.
func (l *lexer) ident() tokenKind {
	i := l.off
	for i < len(l.src) && (isIdentStart(l.src[i]) || isDigit(l.src[i])) {
		i++
	}
	if i >= len(l.src) || l.src[i] < utf8.RuneSelf {
		l.off = i
		return tIdent
	}
	for i < len(l.src) {
		r, size := utf8.DecodeRuneInString(l.src[i:])
		if !isLetter(r) && !unicode.IsDigit(r) {
			break
		}
		i += size
	}
	l.advance(i)
	return tIdent
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isIdentStart(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c == '$'
}

// isLetter tells the letters of names: those of ASCII, and the ranges of Calcite's lexer.
func isLetter(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return isIdentStart(byte(r))
	case r == utf8.RuneError:
		return false
	case r <= 0xff:
		return r >= 0xc0 && r != 0xd7 && r != 0xf7
	}
	return r <= 0x1fff || 0x3040 <= r && r <= 0x318f || 0x3300 <= r && r <= 0x337f || 0x3400 <= r && r <= 0x3d2d ||
		0x4e00 <= r && r <= 0x9fff || 0xf900 <= r && r <= 0xfaff
}

// isPlainIdent tells whether s has the characters of a name without back-ticks.
func isPlainIdent(s string) bool {
	for i, r := range s {
		if !isLetter(r) && (i == 0 || !unicode.IsDigit(r)) {
			return false
		}
	}
	return s != ""
}
