package expr

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dlclark/regexp2"
)

// regexTimeout bounds one match by the backtracking engine.
const regexTimeout = time.Second

var errRegexTime = errors.New("a regular expression took more than a second on one text; simplify it, or avoid nested repetition")

// javaRegexp is a compiled pattern of java.util.regex. Most run on Go's engine, in linear time; those with look-around,
// back references and the like, and texts that end in a line break under $, on a backtracking one with a time limit.
type javaRegexp struct {
	re       *regexp.Regexp  // nil when the pattern needs the other one
	back     *regexp2.Regexp // made when it is first needed
	quick    *quickRegex     // decides first, nil for what it does not take
	literal  string          // every match contains it
	groups   int
	empty    bool // it matches no text: Java gives other sequences of matches then
	anchored bool
	pattern  regexSource
}

func compileRegex(pattern string) (*javaRegexp, error) {
	src, err := translateRegex(pattern)
	if err != nil {
		return nil, err
	}
	r := &javaRegexp{anchored: src.anchored, pattern: src}
	if !src.backtrack {
		if re, err := regexp.Compile(src.text); err == nil {
			r.re, r.groups, r.empty = re, re.NumSubexp(), re.MatchString("")
			if tree, err := syntax.Parse(src.text, syntax.Perl); err == nil {
				tree = tree.Simplify()
				r.literal = requiredLiteral(tree)
				r.quick = newQuickRegex(tree, r.literal)
			}
			return r, nil
		}
	}
	if r.back, err = r.backtracker(); err != nil {
		return nil, err
	}
	r.groups = len(r.back.GetGroupNumbers()) - 1
	return r, nil
}

func (r *javaRegexp) backtracker() (*regexp2.Regexp, error) {
	text := r.pattern.text
	if r.anchored {
		text = strings.ReplaceAll(text, dollar, `(?=(?:\r\n|[\n\r\x{85}\x{2028}\x{2029}])?\z)`)
	}
	back, err := regexp2.Compile(braceless(text), regexp2.RE2)
	if err != nil {
		return nil, err
	}
	back.MatchTimeout = regexTimeout
	return back, nil
}

// braceless writes \x{..} as \u.... where it fits, which both options of regexp2 understand; others stay literal.
func braceless(text string) string {
	var b strings.Builder
	for {
		at := strings.Index(text, `\x{`)
		if at < 0 {
			break
		}
		end := at + strings.IndexByte(text[at:], '}')
		hex := text[at+3 : end]
		b.WriteString(text[:at])
		if len(hex) <= 4 {
			b.WriteString(`\u` + strings.Repeat("0", 4-len(hex)) + hex)
		} else {
			var r rune
			for _, c := range hex {
				r = r<<4 + rune(strings.IndexRune("0123456789abcdef", c))
			}
			b.WriteRune(r)
		}
		text = text[end+1:]
	}
	return b.String() + text
}

// requiredLiteral gives the longest text that every match contains.
func requiredLiteral(re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 {
			return string(re.Rune)
		}
	case syntax.OpCapture, syntax.OpPlus:
		return requiredLiteral(re.Sub[0])
	case syntax.OpConcat:
		best := ""
		for _, sub := range re.Sub {
			if l := requiredLiteral(sub); len(l) > len(best) {
				best = l
			}
		}
		return best
	}
	return ""
}

// linear reports whether Go's engine decides about s.
func (r *javaRegexp) linear(s string) bool {
	return r.re != nil && (!r.anchored || !endsInBreak(s))
}

func endsInBreak(s string) bool {
	if s == "" {
		return false
	}
	switch c := s[len(s)-1]; {
	case c == '\n' || c == '\r':
		return true
	case c < utf8.RuneSelf:
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(s)
	return last == 0x85 || last == 0x2028 || last == 0x2029
}

// match gives the first match from byte at: begin and end of the match and its groups in bytes, -1 for a group without
// part; nil for no match. It is valid until the next call.
func (r *javaRegexp) match(s string, at int) ([]int, error) {
	if at == 0 && r.linear(s) {
		if r.quick != nil {
			if loc, ok := r.quick.find(s); ok {
				return loc, nil
			}
		}
		if r.literal != "" && !strings.Contains(s, r.literal) {
			return nil, nil
		}
		return r.re.FindStringSubmatchIndex(s), nil
	}
	if r.back == nil {
		var err error
		if r.back, err = r.backtracker(); err != nil {
			return nil, err
		}
	}
	runes := []rune(s)
	m, err := r.back.FindRunesMatchStartingAt(runes, utf8.RuneCountInString(s[:at]))
	if err != nil {
		return nil, errRegexTime
	}
	if m == nil {
		return nil, nil
	}
	return byteGroups(s, m), nil
}

// byteGroups turns positions in runes into positions in bytes.
func byteGroups(s string, m *regexp2.Match) []int {
	var loc []int
	pos := func(n int) int {
		if ascii(s) {
			return n
		}
		return offset(s, n)
	}
	for _, g := range m.Groups() {
		if len(g.Captures) == 0 {
			loc = append(loc, -1, -1)
			continue
		}
		loc = append(loc, pos(g.Index), pos(g.Index+g.Length))
	}
	return loc
}

// found reports whether there is a match.
func (r *javaRegexp) found(s string) (bool, error) {
	if r.linear(s) {
		if r.quick != nil {
			if loc, ok := r.quick.find(s); ok {
				return loc != nil, nil
			}
		}
		if r.literal != "" && !strings.Contains(s, r.literal) {
			return false, nil
		}
		return r.re.MatchString(s), nil
	}
	loc, err := r.match(s, 0)
	return loc != nil, err
}

// each calls f for every match from left to right, as Matcher.find does: behind an empty match the search goes on one
// character later.
func (r *javaRegexp) each(s string, f func(loc []int)) error {
	if r.linear(s) && !r.empty {
		if r.literal != "" && !strings.Contains(s, r.literal) {
			return nil
		}
		for _, loc := range r.re.FindAllStringSubmatchIndex(s, -1) {
			f(loc)
		}
		return nil
	}
	for at := 0; at <= len(s); {
		loc, err := r.match(s, at)
		if err != nil || loc == nil {
			return err
		}
		f(loc)
		at = loc[1]
		if loc[0] == loc[1] {
			_, size := utf8.DecodeRuneInString(s[at:])
			at += max(size, 1)
		}
	}
	return nil
}

// regexCache keeps compiled patterns that come from a column. A nil entry is a pattern that does not compile.
type regexCache struct {
	last    string
	lastRE  *javaRegexp
	lastErr error
	seen    bool
	all     map[string]*javaRegexp
	errs    map[string]error
}

// maxRegexCache bounds a cache; a full one is emptied.
const maxRegexCache = 256

func (c *regexCache) get(pattern string) (*javaRegexp, error) {
	if c.seen && c.last == pattern {
		return c.lastRE, c.lastErr
	}
	re, ok := c.all[pattern]
	err := c.errs[pattern]
	if !ok {
		re, err = compileRegex(pattern)
		if len(c.all) >= maxRegexCache || c.all == nil {
			c.all, c.errs = map[string]*javaRegexp{}, map[string]error{}
		}
		c.all[pattern] = re
		if err != nil {
			c.errs[pattern] = err
		}
	}
	c.last, c.lastRE, c.lastErr, c.seen = pattern, re, err, true
	return re, err
}
