package sql

import (
	"fmt"
	"strings"
)

// advise adds to e what is known of common slips at the token of index i.
func (p *parser) advise(i int, e *Error) {
	t := &p.toks[i]
	var next, prev token
	if i+1 < len(p.toks) {
		next = p.toks[i+1]
	}
	if i > 0 {
		prev = p.toks[i-1]
	}
	help := ""
	switch {
	case t.kind == tColon && next.kind == tColon:
		help = "a cast is written CAST(value AS type)"
	case t.kind == tEq && next.kind == tEq:
		help = "equality is written with one ="
	case t.kind == tLe && next.kind == tGt:
		help = "equality of values that may be NULL is written a IS NOT DISTINCT FROM b"
	case t.kind == tStar && next.kind == tStar:
		help = "a power is written POWER(a, b)"
	case t.kind == tMinus && next.kind == tGt:
		help = "there are no lambda functions in this dialect"
	case t.kind == tRParen && prev.kind == tComma, t.is("FROM") && prev.kind == tComma:
		help = "there is a comma too many before it"
	case t.kind == tIdent && (prev.kind == tIdent || prev.kind == tRParen || prev.kind == tGt) && hasWord(e.Expected, `","`) &&
		next.kind == tIdent:
		help = fmt.Sprintf("a comma may be missing before %s", p.text(t))
	case t.kind == tSemicolon && p.openParen(i) != nil:
		help = fmt.Sprintf("the parenthesis at %s is not closed", p.openParen(i).from)
	case t.kind == tEOF && p.openParen(i) != nil:
		help = fmt.Sprintf("the parenthesis at %s is not closed", p.openParen(i).from)
	}
	if help != "" {
		e.Help = append(e.Help, help)
		return
	}
	p.adviseWord(t, e)
}

// adviseWord adds the nearest of the expected words when t looks like a slip of one.
func (p *parser) adviseWord(t *token, e *Error) {
	if t.kind != tIdent || t.word != nil && t.word.reserved {
		return
	}
	var candidates []string
	for _, s := range e.Expected {
		if w, _, _ := strings.Cut(s, " "); w == strings.ToUpper(w) && words[w] != nil {
			candidates = append(candidates, w)
		}
	}
	if near := nearest(strings.ToUpper(p.text(t)), candidates); near != "" {
		e.Help = append(e.Help, "did you mean "+near+"?")
	}
}

func hasWord(list []string, w string) bool {
	for _, s := range list {
		if s == w {
			return true
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
