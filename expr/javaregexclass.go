package expr

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// classEscapes are the escapes that mean a set of characters, as what stands inside brackets.
var classEscapes = map[byte]string{
	'd': `0-9`, 's': `\t\n\x{b}\f\r\x{20}`, 'w': `a-zA-Z_0-9`,
	'h': `\x{20}\t\x{a0}\x{1680}\x{180e}\x{2000}-\x{200a}\x{202f}\x{205f}\x{3000}`, 'v': `\n\x{b}\f\r\x{85}\x{2028}\x{2029}`,
}

// unicodeEscapes replace some of them under (?U).
var unicodeEscapes = map[byte]string{'d': `\p{Nd}`, 's': `\s\x{85}\p{Z}`, 'w': `\p{L}\p{M}\p{Nd}\p{Pc}`}

// posixClasses are Java's \p{..} names that the engines do not know, as what stands inside brackets.
var posixClasses = map[string]string{
	"Lower": `a-z`, "Upper": `A-Z`, "ASCII": `\x{0}-\x{7f}`, "Alpha": `a-zA-Z`, "Digit": `0-9`, "Alnum": `a-zA-Z0-9`,
	"Punct": `!-/:-@\[-` + "`" + `\{-~`, "Graph": `!-~`, "Print": `\x{20}-~`, "Blank": `\x{20}\t`, "Cntrl": `\x{0}-\x{1f}\x{7f}`,
	"XDigit": `0-9a-fA-F`, "Space": `\t\n\x{b}\f\r\x{20}`,
	"IsAlphabetic": `\p{L}\p{Nl}`, "IsLetter": `\p{L}`, "IsDigit": `\p{Nd}`, "IsLowercase": `\p{Ll}`, "IsUppercase": `\p{Lu}`,
	"IsPunctuation": `\p{P}`, "IsWhite_Space": `\s\x{85}\p{Z}`, "javaLowerCase": `\p{Ll}`, "javaUpperCase": `\p{Lu}`,
	"IsIdeographic": `\p{Han}`,
}

// escape reads a backslash sequence outside brackets.
func (p *regexParser) escape() (bool, error) {
	if p.at+1 >= len(p.in) {
		p.at++
		return false, p.fail("Unexpected internal error")
	}
	c := p.in[p.at+1]
	switch c {
	case 'Q':
		p.at += 2
		end := strings.Index(p.in[p.at:], `\E`)
		text, next := p.in[p.at:], len(p.in)
		if end >= 0 {
			text, next = p.in[p.at:p.at+end], p.at+end+2
		}
		for _, r := range text {
			p.out = appendLiteral(p.out, r)
		}
		p.at = next
		return text != "", nil
	case 'A', 'z', 'b', 'B':
		p.at += 2
		p.out = append(p.out, '\\', c)
		return true, nil
	case 'Z':
		p.at += 2
		p.anchored = true
		p.out = append(p.out, dollar...)
		return true, nil
	case 'G':
		p.at += 2
		p.backtrack = true
		p.out = append(p.out, `\G`...)
		return true, nil
	case 'R':
		p.at += 2
		p.out = append(p.out, `(?:\r\n|[\n\x{b}\f\r\x{85}\x{2028}\x{2029}])`...)
		return true, nil
	case 'k':
		return false, p.fail("named back references are not supported")
	}
	if c >= '1' && c <= '9' {
		p.at += 2
		if int(c-'0') > p.groups { // a group that is not there matches nothing
			p.out = append(p.out, `[^\s\S]`...)
			return true, nil
		}
		p.backtrack = true
		p.out = append(p.out, '\\', c)
		if p.more() && p.in[p.at] >= '0' && p.in[p.at] <= '9' {
			p.out = append(p.out, "(?:)"...) // Java reads one more digit only when there are so many groups
		}
		return true, nil
	}
	set, negated, r, err := p.escapeSet()
	if err != nil {
		return false, err
	}
	switch {
	case set == "":
		p.out = appendLiteral(p.out, r)
	case negated:
		p.out = append(append(append(p.out, "[^"...), set...), ']')
	default:
		p.out = append(append(append(p.out, '['), set...), ']')
	}
	return true, nil
}

// escapeSet reads an escape that may stand within brackets too: a set of characters, perhaps negated, or one character.
func (p *regexParser) escapeSet() (set string, negated bool, r rune, err error) {
	c := p.in[p.at+1]
	p.at += 2
	lower := c | 0x20
	if s, ok := unicodeEscapes[lower]; ok && p.unicode {
		return s, c < 'a', 0, nil
	}
	if s, ok := classEscapes[lower]; ok {
		return s, c < 'a', 0, nil
	}
	switch c {
	case 'p', 'P':
		return p.property(c == 'P')
	case 't':
		return "", false, '\t', nil
	case 'n':
		return "", false, '\n', nil
	case 'r':
		return "", false, '\r', nil
	case 'f':
		return "", false, '\f', nil
	case 'a':
		return "", false, '\a', nil
	case 'e':
		return "", false, 0x1b, nil
	case 'c':
		if !p.more() {
			return "", false, 0, p.fail("Illegal control escape sequence")
		}
		p.at++
		return "", false, rune(p.in[p.at-1]) ^ 64, nil
	case '0':
		return p.number(8, 3)
	case 'x':
		return p.hexEscape()
	case 'u':
		return p.unicodeEscape()
	case 'N':
		return p.named()
	}
	if lower >= 'a' && lower <= 'z' {
		return "", false, 0, p.fail("Illegal/unsupported escape sequence")
	}
	p.at--
	r, size := utf8.DecodeRuneInString(p.in[p.at:])
	p.at += size
	return "", false, r, nil
}

func (p *regexParser) number(base, most int) (string, bool, rune, error) {
	n := 0
	v := 0
	for n < most && p.more() {
		d, err := strconv.ParseInt(p.in[p.at:p.at+1], base, 32)
		if err != nil || v*base+int(d) > 0o377 && base == 8 {
			break
		}
		v = v*base + int(d)
		p.at++
		n++
	}
	if n == 0 {
		return "", false, 0, p.fail("Illegal octal escape sequence")
	}
	return "", false, rune(v), nil
}

func (p *regexParser) hexEscape() (string, bool, rune, error) {
	body := ""
	if rest := p.in[p.at:]; strings.HasPrefix(rest, "{") {
		if end := strings.IndexByte(rest, '}'); end > 0 {
			body = rest[1:end]
			p.at += end + 1
		}
	} else if len(rest) >= 2 {
		body = rest[:2]
		p.at += 2
	}
	v, err := strconv.ParseUint(body, 16, 32)
	if err != nil || v > utf8.MaxRune {
		return "", false, 0, p.fail("Illegal hexadecimal escape sequence")
	}
	return "", false, rune(v), nil
}

func (p *regexParser) unicodeEscape() (string, bool, rune, error) {
	unit := func() (rune, bool) {
		if len(p.in)-p.at < 4 {
			return 0, false
		}
		v, err := strconv.ParseUint(p.in[p.at:p.at+4], 16, 32)
		p.at += 4
		return rune(v), err == nil
	}
	r, ok := unit()
	if ok && r >= 0xd800 && r < 0xdc00 && strings.HasPrefix(p.in[p.at:], `\u`) {
		p.at += 2
		var low rune
		if low, ok = unit(); ok {
			r = (r-0xd800)<<10 + (low - 0xdc00) + 0x10000
		}
	}
	if !ok {
		return "", false, 0, p.fail("Illegal Unicode escape sequence")
	}
	return "", false, r, nil
}

// named reads \N{NAME} for the few letters whose names follow a rule.
func (p *regexParser) named() (string, bool, rune, error) {
	rest := p.in[p.at:]
	end := strings.IndexByte(rest, '}')
	if !strings.HasPrefix(rest, "{") || end < 0 {
		return "", false, 0, p.fail("Illegal character name escape sequence")
	}
	name := rest[1:end]
	p.at += end + 1
	if l, ok := strings.CutPrefix(name, "LATIN SMALL LETTER "); ok && len(l) == 1 {
		return "", false, rune(l[0] | 0x20), nil
	}
	if l, ok := strings.CutPrefix(name, "LATIN CAPITAL LETTER "); ok && len(l) == 1 {
		return "", false, rune(l[0]), nil
	}
	return "", false, 0, p.fail("Unknown character name [" + name + "]")
}

// property reads what follows \p or \P.
func (p *regexParser) property(negated bool) (string, bool, rune, error) {
	rest := p.in[p.at:]
	name := ""
	switch {
	case strings.HasPrefix(rest, "{"):
		end := strings.IndexByte(rest, '}')
		if end < 0 {
			return "", false, 0, p.fail("Unclosed character family")
		}
		name = rest[1:end]
		p.at += end + 1
	case rest != "":
		name = rest[:1]
		p.at++
	}
	if s, ok := posixClasses[name]; ok {
		return s, negated, 0, nil
	}
	for _, prefix := range []string{"Is", "script=", "sc=", "general_category=", "gc=", "IsScript="} {
		if n, ok := strings.CutPrefix(name, prefix); ok && n != "" {
			name = n
			break
		}
	}
	if !knownProperty(name) {
		return "", false, 0, p.fail("Unknown character property name {" + name + "}")
	}
	return `\p{` + name + `}`, negated, 0, nil
}
