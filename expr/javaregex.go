package expr

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// regexSource is a pattern of java.util.regex in the syntax of Go's regexp package and of regexp2, which agree on what
// is used here. It differs from Java's where those two differ from it: the dot, the end anchor, escapes and classes.
type regexSource struct {
	text string
	// backtrack says that only regexp2 can run it: look-around, back references, atomic groups, possessive quantifiers.
	backtrack bool
	// anchored says that it uses $, which in Java also stands before a line break at the end of the text.
	anchored bool
}

// regexError says where a pattern is wrong.
type regexError struct {
	what string
	at   int // characters from the start
}

func (e *regexError) Error() string { return fmt.Sprintf("%s near index %d", e.what, e.at) }

// regexParser translates a pattern from left to right. It finds out where atoms begin, so that possessive quantifiers can
// be written as atomic groups.
type regexParser struct {
	in        string
	at        int
	out       []byte
	backtrack bool
	anchored  bool
	dotAll    bool
	multiline bool
	comments  bool
	unicode   bool // (?U): classes are those of Unicode
	groups    int  // opened so far
	depth     int
}

// maxRegexDepth bounds the nesting of groups and classes.
const maxRegexDepth = 200

// translateRegex turns a Java pattern into one for the engines.
func translateRegex(pattern string) (regexSource, error) {
	p := &regexParser{in: pattern}
	if err := p.alternatives(); err != nil {
		return regexSource{}, err
	}
	if p.at < len(p.in) {
		return regexSource{}, p.fail("Unmatched closing ')'")
	}
	return regexSource{text: string(p.out), backtrack: p.backtrack, anchored: p.anchored}, nil
}

func (p *regexParser) fail(what string) error {
	return &regexError{what, utf8.RuneCountInString(p.in[:min(p.at, len(p.in))])}
}

func (p *regexParser) more() bool { return p.at < len(p.in) }

// alternatives reads up to a closing parenthesis or the end. Flags set inside a group end with it.
func (p *regexParser) alternatives() error {
	dotAll, multiline, comments := p.dotAll, p.multiline, p.comments
	defer func() { p.dotAll, p.multiline, p.comments = dotAll, multiline, comments }()
	if p.depth++; p.depth > maxRegexDepth {
		return p.fail("Pattern is nested too deeply")
	}
	defer func() { p.depth-- }()
	for p.more() {
		switch c := p.in[p.at]; {
		case c == ')':
			return nil
		case c == '|':
			p.out = append(p.out, '|')
			p.at++
		case p.comments && (c == ' ' || c >= '\t' && c <= '\r'):
			p.at++
		case p.comments && c == '#':
			for p.more() && p.in[p.at] != '\n' {
				p.at++
			}
		default:
			if err := p.piece(); err != nil {
				return err
			}
		}
	}
	return nil
}

// piece reads an atom with its quantifiers.
func (p *regexParser) piece() error {
	start := len(p.out)
	quantifiable, err := p.atom()
	if err != nil {
		return err
	}
	for p.more() {
		q, ok, err := p.quantifier()
		if err != nil || !ok {
			return err
		}
		if !quantifiable {
			return p.fail("Dangling meta character '" + q[:1] + "'")
		}
		switch {
		case p.more() && p.in[p.at] == '+': // possessive
			p.at++
			p.backtrack = true
			atom := string(p.out[start:])
			p.out = append(append(append(append(p.out[:start], "(?>"...), atom...), q...), ')')
		case p.more() && p.in[p.at] == '?':
			p.at++
			p.out = append(append(p.out, q...), '?')
		default:
			p.out = append(p.out, q...)
		}
		// A second quantifier applies to the whole.
		if p.more() && strings.IndexByte("*+?{", p.in[p.at]) >= 0 {
			whole := string(p.out[start:])
			p.out = append(append(append(p.out[:start], "(?:"...), whole...), ')')
		}
	}
	return nil
}

// quantifier reads *, +, ?, {n}, {n,} or {n,m} without what may follow.
func (p *regexParser) quantifier() (string, bool, error) {
	switch c := p.in[p.at]; c {
	case '*', '+', '?':
		p.at++
		return string(c), true, nil
	case '{':
		end := strings.IndexByte(p.in[p.at:], '}')
		if end < 0 {
			return "", false, p.fail("Unclosed counted closure")
		}
		body := p.in[p.at+1 : p.at+end]
		lo, hi, ranged := strings.Cut(body, ",")
		n, err := strconv.Atoi(lo)
		if err != nil || n < 0 {
			return "", false, p.fail("Illegal repetition")
		}
		if ranged && hi != "" {
			if m, err := strconv.Atoi(hi); err != nil || m < n {
				return "", false, p.fail("Illegal repetition range")
			}
		}
		p.at += end + 1
		if n > 1000 { // more than RE2 allows
			p.backtrack = true
		}
		return "{" + body + "}", true, nil
	}
	return "", false, nil
}

// dollar is how the end anchor is written, so that it can be told from the end of the text.
const dollar = `(?:\z)`

// atom reads one group, class, escape or character.
func (p *regexParser) atom() (quantifiable bool, err error) {
	c := p.in[p.at]
	switch c {
	case '(':
		return p.group()
	case '[':
		class, err := p.class()
		if err != nil {
			return false, err
		}
		p.out = append(p.out, class...)
		return true, nil
	case '\\':
		return p.escape()
	case '.':
		p.at++
		if p.dotAll {
			p.out = append(p.out, `[\s\S]`...)
		} else {
			p.out = append(p.out, `[^\n\r\x{85}\x{2028}\x{2029}]`...)
		}
		return true, nil
	case '^':
		p.at++
		if p.multiline {
			p.out = append(p.out, `(?m:^)`...)
		} else {
			p.out = append(p.out, `\A`...)
		}
		return true, nil
	case '$':
		p.at++
		if p.multiline {
			p.out = append(p.out, `(?m:$)`...)
		} else {
			p.anchored = true
			p.out = append(p.out, dollar...)
		}
		return true, nil
	case '*', '+', '?':
		return false, p.fail("Dangling meta character '" + string(c) + "'")
	case '{':
		return false, p.fail("Illegal repetition")
	}
	r, size := utf8.DecodeRuneInString(p.in[p.at:])
	p.at += size
	p.out = appendLiteral(p.out, r)
	return true, nil
}

// appendLiteral writes a character that means itself.
func appendLiteral(dst []byte, r rune) []byte {
	switch {
	case strings.ContainsRune(`\.+*?()|[]{}^$-&~# `, r):
		return append(dst, '\\', byte(r))
	case r < 0x20 || r == 0x7f || r > 0x7e:
		return fmt.Appendf(dst, `\x{%x}`, r)
	}
	return append(dst, byte(r))
}

// group reads a parenthesis of any kind.
func (p *regexParser) group() (bool, error) {
	p.at++
	open := "("
	if strings.HasPrefix(p.in[p.at:], "?") {
		rest := p.in[p.at+1:]
		switch {
		case strings.HasPrefix(rest, ":"):
			open, p.at = "(?:", p.at+2
		case strings.HasPrefix(rest, "="), strings.HasPrefix(rest, "!"), strings.HasPrefix(rest, ">"):
			p.backtrack = true
			open, p.at = "(?"+rest[:1], p.at+2
		case strings.HasPrefix(rest, "<="), strings.HasPrefix(rest, "<!"):
			p.backtrack = true
			open, p.at = "(?"+rest[:2], p.at+3
		case strings.HasPrefix(rest, "<"):
			end := strings.IndexByte(rest, '>')
			if end < 2 || !groupName(rest[1:end]) {
				return false, p.fail("Unknown look-behind group")
			}
			// Names number their groups as plain ones do in Java; regexp2 would number them last.
			open, p.at = "(", p.at+end+2
			p.groups++
		default:
			return p.flags()
		}
	} else {
		p.groups++
	}
	p.out = append(p.out, open...)
	if err := p.alternatives(); err != nil {
		return false, err
	}
	if !p.more() {
		return false, p.fail("Unclosed group")
	}
	p.at++
	p.out = append(p.out, ')')
	return true, nil
}

func groupName(s string) bool {
	for i, c := range s {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

// flags reads (?i), (?i-s) or (?i:...). The dot, anchors and comments are translated here; the case is left to the engine.
func (p *regexParser) flags() (bool, error) {
	p.at++
	on := true
	engine := map[bool]string{}
	dotAll, multiline, comments := p.dotAll, p.multiline, p.comments
	for ; p.more() && p.in[p.at] != ')' && p.in[p.at] != ':'; p.at++ {
		switch p.in[p.at] {
		case '-':
			on = false
		case 'i':
			engine[on] = "i"
		case 's':
			dotAll = on
		case 'm':
			multiline = on
		case 'x':
			comments = on
		case 'U':
			p.unicode = on
		case 'u', 'd':
		default:
			return false, p.fail("Unknown inline modifier")
		}
	}
	if !p.more() {
		return false, p.fail("Unclosed group")
	}
	words := engine[true]
	if engine[false] != "" {
		words += "-" + engine[false]
	}
	scoped := p.in[p.at] == ':'
	p.at++
	if !scoped {
		p.dotAll, p.multiline, p.comments = dotAll, multiline, comments
		if words != "" {
			p.out = append(append(append(p.out, "(?"...), words...), ')')
		}
		return false, nil
	}
	saved := [...]bool{p.dotAll, p.multiline, p.comments}
	p.dotAll, p.multiline, p.comments = dotAll, multiline, comments
	p.out = append(append(append(p.out, "(?"...), words...), ':')
	if err := p.alternatives(); err != nil {
		return false, err
	}
	p.dotAll, p.multiline, p.comments = saved[0], saved[1], saved[2]
	if !p.more() {
		return false, p.fail("Unclosed group")
	}
	p.at++
	p.out = append(p.out, ')')
	return true, nil
}
