package sql

import (
	"fmt"
	"slices"
	"strings"
)

// advise adds to e what is known of common slips at the token of index i.
func (p *parser) advise(i int, e *Error) {
	if first := &p.toks[0]; i > 0 && first.kind == tIdent && !slices.Contains(statementWords, strings.ToUpper(p.text(first))) {
		// SELCT * FROM t: its first word was read as the beginning of an expression.
		if near := nearest(strings.ToUpper(p.text(first)), statementWords); near != "" {
			e.Help = []string{"no statement begins with " + p.text(first) + "; did you mean " + near + "?"}
			return
		}
	}
	if help := p.slip(i, e); help != "" {
		e.Help = []string{help}
		return
	}
	t := &p.toks[i]
	if i > 0 && p.adviseWord(&p.toks[i-1], e, " in place of "+p.text(&p.toks[i-1])) {
		return // SELECT a FORM t: the error is at t, the slip before it
	}
	p.adviseWord(t, e, "")
}

// slip recognises slips by the tokens around the one of index i.
func (p *parser) slip(i int, e *Error) string {
	t := &p.toks[i]
	var next, prev token
	if i+1 < len(p.toks) {
		next = p.toks[i+1]
	}
	if i > 0 {
		prev = p.toks[i-1]
	}
	reserved := t.word() != nil && t.word().reserved
	switch {
	case i > 1 && prev.kind == tString && p.toks[i-2].kind == tString && slices.Contains(e.Expected, `"="`):
		return fmt.Sprintf("= is missing between %s and %s", p.text(&p.toks[i-2]), p.text(&prev))
	case t.kind == tIdent && slices.Contains(e.Expected, aString) && (next.kind == tEq || prev.kind == tEq || next.kind == tDot || next.kind == tMinus):
		return "keys and values of options stand in single quotes: 'key' = 'value'"
	case i > 1 && prev.kind == tString && p.toks[i-2].kind == tString && t.kind == tEq:
		return fmt.Sprintf("a comma is missing before %s", p.text(&prev))
	case t.kind == tColon && next.kind == tColon:
		return "a cast is written CAST(value AS type)"
	case t.kind == tEq && next.kind == tEq:
		return "equality is written with one ="
	case t.kind == tLe && next.kind == tGt:
		return "equality of values that may be NULL is written a IS NOT DISTINCT FROM b"
	case t.kind == tStar && next.kind == tStar:
		return "a power is written POWER(a, b)"
	case t.kind == tMinus && next.kind == tGt:
		return "there are no lambda functions in this dialect"
	case prev.kind == tComma && (t.kind == tRParen || t.is("FROM")):
		return "there is a comma too many before it"
	case (t.kind == tSemicolon || t.kind == tEOF || reserved) && slices.Contains(e.Expected, `")"`):
		if open := p.openParen(i); open != nil {
			return fmt.Sprintf("the parenthesis at %s is not closed", open.from)
		}
	case t.kind == tIdent && !reserved && next.kind == tIdent && slices.Contains(e.Expected, `","`) &&
		(prev.kind == tIdent || prev.kind == tRParen || prev.kind == tGt):
		return fmt.Sprintf("a comma may be missing before %s", p.text(t))
	}
	return ""
}

// clauseWords are the reserved words that seldom are meant as names.
var clauseWords = map[string]bool{
	"FROM": true, "WHERE": true, "HAVING": true, "LIMIT": true, "FETCH": true, "UNION": true, "INTERSECT": true, "EXCEPT": true, "ON": true,
	"USING": true, "JOIN": true, "INNER": true, "CROSS": true, "AS": true, "AND": true, "OR": true, "THEN": true, "WHEN": true, "ELSE": true,
	"END": true, "BY": true, "INTO": true, "IS": true, "IN": true, "BETWEEN": true, "LIKE": true, "SELECT": true, "INSERT": true,
	"CREATE": true, "WITH": true, "VALUES": true,
}

// reservedHelp explains a reserved word at the token of index i, where a name would have been right.
func (p *parser) reservedHelp(i int, expected []string) string {
	t := &p.toks[i]
	w := t.word().name
	by := i+1 < len(p.toks) && p.toks[i+1].is("BY")
	switch {
	case i == 0 && (slices.Contains(statementWords, w) || t.word().callable):
		return ""
	case i == 0:
		help := "no statement begins with " + p.text(t)
		if near := nearest(w, statementWords); near != "" {
			help += "; did you mean " + near + "?"
		}
		return help
	case (w == "WHERE" || by && w == "GROUP" || w == "HAVING") && slices.Contains(expected, "FROM"):
		return w + " needs a FROM clause before it"
	case clauseWords[w] && (!slices.Contains(expected, aName) || slices.Contains(expected, aTableRef)) || by:
		return "something is missing before " + w
	case slices.Contains(expected, aQuery) && slices.Contains(statementWords, w):
		return "a query is needed here; " + w + " is another statement"
	}
	return fmt.Sprintf("%s is a reserved word; as a name it is written %s", w, Quote(p.text(t)))
}

// adviseWord adds the nearest of the expected words when t looks like a slip of one; what follows the word in the sentence is said
// by tail. It tells whether it found one.
func (p *parser) adviseWord(t *token, e *Error, tail string) bool {
	if t.kind != tIdent || t.word() != nil && t.word().reserved {
		return false
	}
	var candidates []string
	for _, s := range e.Expected {
		switch s {
		case aQuery:
			candidates = append(candidates, "SELECT", "VALUES", "WITH", "TABLE")
		case aStatement:
			candidates = append(candidates, statementWords...)
		}
		if w, _, _ := strings.Cut(s, " "); words[w] != 0 {
			candidates = append(candidates, w)
		}
	}
	near := nearest(strings.ToUpper(p.text(t)), candidates)
	if near != "" {
		e.Help = append(e.Help, "did you mean "+near+tail+"?")
	}
	return near != ""
}

// aliasAllowed tells whether an expression that ends before the token of index i may have an alias there: an item of SELECT may.
func (p *parser) aliasAllowed(i int) bool {
	depth, cases := 0, 0
	for k := i - 1; k >= 0; k-- {
		t := &p.toks[k]
		switch t.kind {
		case tRParen, tRBracket:
			depth++
		case tLParen, tLBracket:
			if depth--; depth < 0 {
				return false
			}
		}
		if depth > 0 || t.word() == nil {
			continue
		}
		switch t.word().name {
		case "END":
			cases++
		case "CASE":
			if cases--; cases < 0 {
				return false
			}
		case "SELECT":
			return true
		case "FROM", "WHERE", "ON", "HAVING", "BY", "VALUES", "LIMIT", "OFFSET", "QUALIFY":
			return false
		}
	}
	return false
}

// openParen returns the innermost parenthesis that is open at the token of index i, or nil.
func (p *parser) openParen(i int) *token {
	depth := 0
	for k := i - 1; k >= 0; k-- {
		switch p.toks[k].kind {
		case tRParen:
			depth++
		case tLParen:
			if depth == 0 {
				return &p.toks[k]
			}
			depth--
		}
	}
	return nil
}

// nearest returns the candidate that is a slip or two away from s, or "".
func nearest(s string, candidates []string) string {
	best, bestDist := "", 3
	for _, c := range candidates {
		limit := min(bestDist, len(s)/3+1, len(c)/3+1)
		if d := editDistance(s, c); d <= limit && d < bestDist && d > 0 {
			best, bestDist = c, d
		}
	}
	return best
}

// editDistance counts insertions, deletions, replacements and swaps of neighbours between two short words.
func editDistance(a, b string) int {
	if len(a) > 32 || len(b) > 32 || len(a)-len(b) > 2 || len(b)-len(a) > 2 {
		return 99
	}
	var rows [3][33]int
	prev2, prev, cur := &rows[0], &rows[1], &rows[2]
	for j := range len(b) + 1 {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return prev[len(b)]
}
