package expr

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"runnel/types"
)

// patternFunctions match text against LIKE patterns and regular expressions.
func patternFunctions() []Function {
	like := func(name, doc string, kernel func(*compiler, *Call) (Eval, error)) Function {
		return Function{Name: name, Doc: doc, Operator: true, forms: "'LIKE(<STRING>, <STRING>, <STRING>)'",
			bind: takes("CHARACTER, CHARACTER, [CHARACTER]").to(giveKind(types.Boolean)), kernel: kernel}
	}
	boolOf := giveKind(types.Boolean)
	return []Function{
		like("LIKE", "text LIKE pattern [ESCAPE c]: % stands for any text, _ for one character.", likeKernel(true)),
		like("NOT LIKE", "the opposite of LIKE.", likeKernel(false)),
		like("SIMILAR TO", "text SIMILAR TO pattern [ESCAPE c]: LIKE with the operators of regular expressions.", similarKernel(true)),
		like("NOT SIMILAR TO", "the opposite of SIMILAR TO.", similarKernel(false)),
		{Name: "REGEXP", Doc: "REGEXP(text, pattern): whether the regular expression matches somewhere; FALSE for a wrong one.",
			bind: takes("CHARACTER, CHARACTER").to(boolOf), kernel: regexKernel(func(re *javaRegexp, s string) (types.Datum, error) {
				ok, err := re.found(s)
				return types.BoolDatum(ok), err
			}, types.BoolDatum(false), true)},
		{Name: "REGEXP_REPLACE", Doc: "REGEXP_REPLACE(text, pattern, new): with every match replaced by the text new.",
			bind: takes("CHARACTER, CHARACTER, CHARACTER").to(giveText), kernel: regexReplaceKernel},
		{Name: "REGEXP_EXTRACT", Doc: "REGEXP_EXTRACT(text, pattern [, group]): the first match, or a group of it; NULL without one.",
			bind: takes("CHARACTER, CHARACTER, [INTEGER]").toMaybe(giveText), kernel: regexExtractKernel},
		{Name: "REGEXP_EXTRACT_ALL", Doc: "REGEXP_EXTRACT_ALL(text, pattern [, group]): a group, the first by default, of every match.",
			bind: takes("CHARACTER, CHARACTER, [INTEGER]").toMaybe(give(types.ArrayOf(types.String()))), kernel: regexExtractAllKernel},
		{Name: "REGEXP_COUNT", Doc: "REGEXP_COUNT(text, pattern): the number of matches.",
			bind: takes("CHARACTER, CHARACTER").toMaybe(giveKind(types.Int)), kernel: regexKernel(func(re *javaRegexp, s string) (types.Datum, error) {
				n := int64(0)
				err := re.each(s, func([]int) { n++ })
				return types.IntDatum(n), err
			}, types.NullDatum(), false)},
		{Name: "REGEXP_INSTR", Doc: "REGEXP_INSTR(text, pattern): the position of the first match, 0 without one.",
			bind: takes("CHARACTER, CHARACTER").toMaybe(giveKind(types.Int)), kernel: regexKernel(func(re *javaRegexp, s string) (types.Datum, error) {
				loc, err := re.match(s, 0)
				if err != nil || loc == nil {
					return types.IntDatum(0), err
				}
				return types.IntDatum(int64(runes(s[:loc[0]]) + 1)), nil
			}, types.NullDatum(), false)},
		{Name: "REGEXP_SUBSTR", Doc: "REGEXP_SUBSTR(text, pattern): the first match, NULL without one.",
			bind: takes("CHARACTER, CHARACTER").toMaybe(giveText), kernel: regexKernel(func(re *javaRegexp, s string) (types.Datum, error) {
				loc, err := re.match(s, 0)
				if err != nil || loc == nil {
					return types.NullDatum(), err
				}
				return types.StrDatum(s[loc[0]:loc[1]]), nil
			}, types.NullDatum(), false)},
	}
}

// regexKernel makes the kernel of a function of a text and a pattern; wrong is the result for a pattern that does not
// compile, and, with empty set, for an empty one.
func regexKernel(f func(*javaRegexp, string) (types.Datum, error), wrong types.Datum, empty bool) func(*compiler, *Call) (Eval, error) {
	return func(c *compiler, call *Call) (Eval, error) {
		args, err := c.args(call)
		if err != nil {
			return nil, err
		}
		var cache regexCache
		return datums(call.T, args, func(row []types.Datum) (types.Datum, error) {
			if row[0].Null || row[1].Null {
				return types.NullDatum(), nil
			}
			re, err := cache.get(row[1].S)
			if err != nil || empty && row[1].S == "" {
				return wrong, nil
			}
			return f(re, row[0].S)
		}), nil
	}
}

func regexReplaceKernel(c *compiler, call *Call) (Eval, error) {
	var cache regexCache
	arena := &types.Arena{}
	return rows3(func(s, pattern, with string) (string, error) {
		re, err := cache.get(pattern)
		if err != nil {
			return "", errNull
		}
		if re.linear(s) {
			if ok, _ := re.found(s); !ok {
				return s, nil
			}
		}
		buf, at := arena.Buf(), 0
		err = re.each(s, func(loc []int) {
			buf = append(append(buf, s[at:loc[0]]...), with...)
			at = loc[1]
		})
		if err != nil {
			return "", err
		}
		return arena.Take(append(buf, s[at:]...)), nil
	})(c, call)
}

func regexExtractKernel(c *compiler, call *Call) (Eval, error) {
	args, err := c.args(call)
	if err != nil {
		return nil, err
	}
	var cache regexCache
	extract := func(s, pattern string, group int64) (string, error) {
		re, err := cache.get(pattern)
		if err != nil || group < 0 || group > int64(re.groups) {
			return "", errNull
		}
		loc, err := re.match(s, 0)
		if err != nil {
			return "", err
		}
		if loc == nil || loc[2*group] < 0 {
			return "", errNull
		}
		return s[loc[2*group]:loc[2*group+1]], nil
	}
	if len(args) == 2 {
		return binaryRow(call.T, args, func(s, pattern string) (string, error) { return extract(s, pattern, 0) }), nil
	}
	return ternaryRow(call.T, args, extract), nil
}

func regexExtractAllKernel(c *compiler, call *Call) (Eval, error) {
	args, err := c.args(call)
	if err != nil {
		return nil, err
	}
	var cache regexCache
	return datums(call.T, args, func(row []types.Datum) (types.Datum, error) {
		group := int64(1)
		for _, d := range row {
			if d.Null {
				return d, nil
			}
		}
		if len(row) == 3 {
			group = row[2].I
		}
		re, err := cache.get(row[1].S)
		if err != nil || group < 0 || group > int64(re.groups) {
			return types.NullDatum(), nil
		}
		list := &types.List{}
		s := row[0].S
		err = re.each(s, func(loc []int) {
			d := types.NullDatum()
			if loc[2*group] >= 0 {
				d = types.StrDatum(s[loc[2*group]:loc[2*group+1]])
			}
			list.Elems = append(list.Elems, d)
		})
		return types.AnyDatum(list), err
	}), nil
}

// escapeOf reads the ESCAPE argument: one character, or none.
func escapeOf(s string) (rune, error) {
	if s == "" {
		return -1, nil
	}
	r, size := utf8.DecodeRuneInString(s)
	if size != len(s) || r > 0xffff {
		return 0, fmt.Errorf("Invalid escape character '%s'", s)
	}
	return r, nil
}

// likePattern is a compiled LIKE pattern: pieces between the percent signs, of which the first is at the start unless
// the pattern begins with a percent sign, and the last at the end likewise.
type likePattern struct {
	pieces     []likePiece
	head, tail bool // the pattern begins, ends with %
	wild       bool // there is a %
}

// likePiece is text that may hold places for any one character.
type likePiece struct {
	text string
	any  bool // text has such places, written as the byte 0xff, which UTF-8 never has
}

const anyChar = "\xff"

// compileLike reads a pattern; escape is -1 for none.
func compileLike(pattern string, escape rune) (*likePattern, error) {
	p := &likePattern{}
	var piece likePiece
	flush := func() {
		if piece.text != "" {
			p.pieces = append(p.pieces, piece)
		}
		piece = likePiece{}
	}
	rest := pattern
	for rest != "" {
		r, size := utf8.DecodeRuneInString(rest)
		char := rest[:size]
		rest = rest[size:]
		switch {
		case r == escape:
			next, size := utf8.DecodeRuneInString(rest)
			if rest == "" || next != '%' && next != '_' && next != escape {
				return nil, fmt.Errorf("Invalid escape sequence '%s', %d", pattern, utf16Len(pattern[:len(pattern)-len(rest)])-1)
			}
			piece.text += rest[:size]
			rest = rest[size:]
		case r == '%':
			p.head = p.head || len(p.pieces) == 0 && piece.text == ""
			flush()
			p.wild, p.tail = true, true
			continue
		case r == '_':
			piece.text += anyChar
			piece.any = true
		default:
			piece.text += char
		}
		p.tail = false
	}
	flush()
	return p, nil
}

// match decides about a text.
func (p *likePattern) match(s string) bool {
	pieces := p.pieces
	if !p.wild {
		if len(pieces) == 0 {
			return s == ""
		}
		n, ok := pieces[0].prefix(s)
		return ok && n == len(s)
	}
	if len(pieces) == 0 {
		return true
	}
	if !p.head {
		n, ok := pieces[0].prefix(s)
		if !ok {
			return false
		}
		s, pieces = s[n:], pieces[1:]
	}
	var last *likePiece
	if !p.tail && len(pieces) > 0 {
		last, pieces = &pieces[len(pieces)-1], pieces[:len(pieces)-1]
	}
	for i := range pieces {
		at := pieces[i].find(s)
		if at < 0 {
			return false
		}
		s = s[at:]
	}
	return last == nil || last.suffix(s)
}

// prefix gives the length of the piece at the start of s.
func (l *likePiece) prefix(s string) (int, bool) {
	if !l.any {
		return len(l.text), strings.HasPrefix(s, l.text)
	}
	at := 0
	for i := range len(l.text) {
		if at >= len(s) {
			return 0, false
		}
		if l.text[i] == anyChar[0] {
			r, size := utf8.DecodeRuneInString(s[at:])
			if lineBreak(r) {
				return 0, false
			}
			at += size
			continue
		}
		if s[at] != l.text[i] {
			return 0, false
		}
		at++
	}
	return at, true
}

func lineBreak(r rune) bool {
	return r == '\n' || r == '\r' || r == 0x85 || r == 0x2028 || r == 0x2029
}

// find gives the position behind the first occurrence in s, -1 for none.
func (l *likePiece) find(s string) int {
	if !l.any {
		at := strings.Index(s, l.text)
		if at < 0 {
			return at
		}
		return at + len(l.text)
	}
	for at := range s {
		if n, ok := l.prefix(s[at:]); ok {
			return at + n
		}
	}
	return -1
}

// suffix reports whether s ends with the piece.
func (l *likePiece) suffix(s string) bool {
	if !l.any {
		return strings.HasSuffix(s, l.text)
	}
	n := utf8.RuneCountInString(l.text) // each byte 0xff counts as one
	start := len(s)
	for ; n > 0; n-- {
		if start == 0 {
			return false
		}
		_, size := utf8.DecodeLastRuneInString(s[:start])
		start -= size
	}
	m, ok := l.prefix(s[start:])
	return ok && start+m == len(s)
}

// matcherCache makes a matcher for a pattern and an escape and keeps the last one.
type matcherCache[M any] struct {
	pattern, escape string
	m               M
	ok              bool
	make            func(pattern string, escape rune) (M, error)
}

func (c *matcherCache[M]) get(pattern, escape string) (M, error) {
	if c.ok && c.pattern == pattern && c.escape == escape {
		return c.m, nil
	}
	esc, err := escapeOf(escape)
	if err != nil {
		return c.m, err
	}
	m, err := c.make(pattern, esc)
	if err != nil {
		return m, err
	}
	c.pattern, c.escape, c.m, c.ok = pattern, escape, m, true
	return m, nil
}

func likeKernel(want bool) func(*compiler, *Call) (Eval, error) {
	return func(c *compiler, call *Call) (Eval, error) {
		args, err := c.args(call)
		if err != nil {
			return nil, err
		}
		cache := matcherCache[*likePattern]{make: compileLike}
		match := func(s, pattern, escape string) (int64, error) {
			p, err := cache.get(pattern, escape)
			if err != nil {
				return 0, err
			}
			return toInt(p.match(s) == want), nil
		}
		if len(args) == 3 {
			return ternaryRow(call.T, args, match), nil
		}
		if k, ok := constOf(call.Args[1]); ok && !k.Null {
			p, err := compileLike(k.S, -1)
			if err != nil {
				return nil, err
			}
			return castSure(func(s string) int64 { return toInt(p.match(s) == want) }).eval(call.T, args[0]), nil
		}
		return binaryRow(call.T, args, func(s, pattern string) (int64, error) { return match(s, pattern, "") }), nil
	}
}

func similarKernel(want bool) func(*compiler, *Call) (Eval, error) {
	return func(c *compiler, call *Call) (Eval, error) {
		args, err := c.args(call)
		if err != nil {
			return nil, err
		}
		cache := matcherCache[*javaRegexp]{make: func(pattern string, escape rune) (*javaRegexp, error) {
			text, err := similarToRegex(pattern, escape)
			if err != nil {
				return nil, err
			}
			return compileRegex(`\A(?:` + text + `)\z`)
		}}
		match := func(s, pattern, escape string) (int64, error) {
			re, err := cache.get(pattern, escape)
			if err != nil {
				return 0, err
			}
			ok, err := re.found(s)
			return toInt(ok == want), err
		}
		if len(args) == 3 {
			return ternaryRow(call.T, args, match), nil
		}
		return binaryRow(call.T, args, func(s, pattern string) (int64, error) { return match(s, pattern, "") }), nil
	}
}
