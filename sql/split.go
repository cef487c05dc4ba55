package sql

import "strings"

// Piece is one statement of a script.
type Piece struct {
	// Text is the statement without the semicolon that ends it and without the comments around it, as it stands in the script.
	Text string
	// At is the place of Text in the script.
	At Pos
}

// Split cuts a script into its statements at the semicolons that stand outside of quotes, comments and hints. EXECUTE STATEMENT SET
// BEGIN .. END is one statement, with or without EXPLAIN or COMPILE PLAN before it. White space, comments and further semicolons
// between statements belong to none of them.
//
// rest is what follows the last complete statement, when it is more than white space and comments: a statement that still lacks its
// semicolon, or a string, name or comment that is not closed. A shell reads on while there is a rest; at the end of a file the rest
// is the last statement, see [SplitAll].
func Split(script string) (pieces []Piece, rest *Piece) {
	s := splitter{lex: newLexer(script), src: script}
	for {
		p, complete := s.next()
		switch {
		case p == nil:
			return pieces, nil
		case !complete:
			return pieces, p
		}
		pieces = append(pieces, *p)
	}
}

// SplitAll cuts a whole script, the last statement of which may lack its semicolon.
func SplitAll(script string) []Piece {
	pieces, rest := Split(script)
	if rest != nil {
		pieces = append(pieces, *rest)
	}
	return pieces
}

// splitter walks through a script.
type splitter struct {
	lex *lexer
	src string
}

// next returns the next statement and whether it is complete, or nil at the end of the script.
func (s *splitter) next() (*Piece, bool) {
	t := s.skipEmpty()
	if t.kind == tEOF {
		return nil, true
	}
	from, last := t.from, t
	if t.kind == tOpenComment {
		return s.piece(from, t.to), false
	}
	option := t.is("SET") || t.is("RESET")
	block := blockFinder{}
	for {
		switch {
		case t.kind == tEOF:
			return s.piece(from, last.to), false
		case t.kind == tOpenComment || t.kind == tOpenString || t.kind == tOpenQuoted && t.to.Offset == int32(len(s.src)):
			return s.piece(from, t.to), false
		case t.kind == tSemicolon && !block.open:
			return s.piece(from, last.to), true
		}
		block.see(&t)
		last = t
		if option { // the value of SET key = value may hold what is a comment elsewhere
			s.lex.slashes = false
		}
		t = s.lex.next()
		s.lex.slashes = true
	}
}

// skipEmpty passes the semicolons before a statement and returns its first token.
func (s *splitter) skipEmpty() token {
	for {
		if t := s.lex.next(); t.kind != tSemicolon {
			return t
		}
	}
}

func (s *splitter) piece(from, to Pos) *Piece {
	return &Piece{Text: strings.TrimRight(s.src[from.Offset:to.Offset], " \t\r\n\f"), At: from}
}

// blockFinder finds the STATEMENT SET BEGIN .. END of a statement. BEGIN STATEMENT SET is none: its inserts are statements of their
// own.
type blockFinder struct {
	seen int // how many words of STATEMENT SET BEGIN were just seen
	open bool
	// atStart tells that the current token follows BEGIN or a semicolon, where END closes the block.
	atStart bool
}

var blockWords = [...]string{"STATEMENT", "SET", "BEGIN"}

// see takes notice of the next token.
func (b *blockFinder) see(t *token) {
	if b.open {
		if b.atStart && t.is("END") {
			*b = blockFinder{seen: -1}
			return
		}
		b.atStart = t.kind == tSemicolon
		return
	}
	if b.seen < 0 {
		return
	}
	if !t.is(blockWords[b.seen]) {
		b.seen = 0
		return
	}
	if b.seen++; b.seen == len(blockWords) {
		b.open, b.atStart = true, true
	}
}

// Offset moves the places of an error that was found in a piece of a script to where they are in the script.
func (p Piece) Offset(e *Error) *Error {
	moved := *e
	moved.Span = Span{p.At.plus(e.Span.From), p.At.plus(e.Span.To)}
	return &moved
}

// plus returns the place q of a text that begins at p.
func (p Pos) plus(q Pos) Pos {
	if !q.IsValid() {
		return q
	}
	r := Pos{Offset: p.Offset + q.Offset, Line: p.Line + q.Line - 1, Column: q.Column}
	if q.Line == 1 {
		r.Column += p.Column - 1
	}
	return r
}
