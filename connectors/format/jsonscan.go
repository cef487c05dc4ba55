package format

import (
	"encoding/binary"
	"math/bits"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"

	"runnel/types"
)

// outcome is what became of reading something.
type outcome uint8

const (
	good      outcome = iota
	badValue          // the text is JSON, but no value of the type: the field fails
	badSyntax         // the text is no JSON: the message fails
)

// maxDepth bounds how deep values may be nested.
const maxDepth = 1000

// scanner reads one JSON text. Its methods move at behind what they read. After an outcome that is not good, why and
// whyAt say what was wrong.
type scanner struct {
	s     string
	at    int
	depth int
	why   string
	whyAt int
	tree  bool        // decode.json-parser.enabled = false
	again bool        // skipping a value whose error is known: cut UTF-8 in it does not end the message
	texts types.Arena // strings with escapes
}

func (c *scanner) fail(o outcome, why string) outcome {
	c.why, c.whyAt = why, c.at
	return o
}

// space skips white space and gives the byte behind it, 0 at the end (a NUL is never legal).
func (c *scanner) space() byte {
	for c.at < len(c.s) {
		b := c.s[c.at]
		if b > ' ' {
			return b
		}
		if b != ' ' && b != '\n' && b != '\t' && b != '\r' {
			return 0
		}
		c.at++
	}
	return 0
}

// word reads a literal such as null.
func (c *scanner) word(w string) outcome {
	if !strings.HasPrefix(c.s[c.at:], w) {
		return c.fail(badSyntax, "unrecognized token")
	}
	c.at += len(w)
	return good
}

const ones, highs = 0x0101010101010101, 0x8080808080808080

// hasByte has the high bit of each byte of w that equals b; bits above the lowest such byte may be wrong.
func hasByte(w uint64, b byte) uint64 {
	x := w ^ ones*uint64(b)
	return (x - ones) &^ x & highs
}

func load64(s string, at int) uint64 {
	return binary.LittleEndian.Uint64(unsafe.Slice(unsafe.StringData(s), len(s))[at:])
}

// raw reads a string whose opening quote is at at, and gives the bytes between the quotes and whether they hold escapes.
// What is not UTF-8 is an error.
func (c *scanner) raw() (text string, escaped bool, o outcome) {
	s := c.s
	start := c.at + 1
	p := start
	var high uint64
	for p+8 <= len(s) {
		w := load64(s, p)
		if m := hasByte(w, '"') | hasByte(w, '\\'); m != 0 {
			n := bits.TrailingZeros64(m) / 8
			high |= w & (1<<(8*n) - 1)
			p += n
			if s[p] == '"' {
				return c.endRaw(start, p, high, escaped)
			}
			escaped = true
			p += 2
			continue
		}
		high |= w
		p += 8
	}
	for p < len(s) {
		switch b := s[p]; {
		case b == '"':
			return c.endRaw(start, p, high, escaped)
		case b == '\\':
			escaped = true
			p++
		default:
			high |= uint64(b)
		}
		p++
	}
	c.at = len(s)
	return "", false, c.fail(badSyntax, "the text ends within a string")
}

func (c *scanner) endRaw(start, end int, high uint64, escaped bool) (string, bool, outcome) {
	text := c.s[start:end]
	c.at = end + 1
	if high&highs != 0 && !utf8.ValidString(text) {
		return "", escaped, c.invalidUTF8(start, end)
	}
	return text, escaped, good
}

// invalidUTF8 tells a byte that begins no character, which ends the message, from a character that is cut short.
func (c *scanner) invalidUTF8(start, end int) outcome {
	o := badValue
	i := start
	for i < end {
		r, n := utf8.DecodeRuneInString(c.s[i:end])
		if r == utf8.RuneError && n == 1 {
			if b := c.s[i]; b < 0xc0 || b > 0xf7 || c.tree {
				o = badSyntax
			}
			break
		}
		i += n
	}
	c.why, c.whyAt = "invalid UTF-8", i
	return o
}

// text reads a string.
func (c *scanner) text() (string, outcome) {
	start := c.at
	s, escaped, o := c.raw()
	if o != good || !escaped {
		return s, o
	}
	buf, bad := unescape(c.texts.Buf(), s)
	if bad >= 0 {
		end := c.at
		c.at = start + 1 + bad
		if s[bad+1] == 'u' {
			o = c.fail(badValue, "\\u without four hexadecimal digits")
		} else {
			o = c.fail(badSyntax, "unknown escape in a string")
		}
		c.at = end
		return "", o
	}
	return c.texts.Take(buf), good
}

// checkEscapes checks the escapes of a string that nobody wants.
func (c *scanner) checkEscapes(s string) outcome {
	if _, bad := unescape(c.texts.Buf(), s); bad >= 0 {
		return c.fail(badSyntax, "wrong escape in a string")
	}
	return good
}

// unescape appends s without its escapes. bad is the place of the first wrong one, -1 if there is none. Half of a
// surrogate pair becomes a question mark, as Java writes it.
func unescape(dst []byte, s string) (_ []byte, bad int) {
	for i := 0; i < len(s); i++ {
		n := strings.IndexByte(s[i:], '\\')
		if n < 0 {
			return append(dst, s[i:]...), -1
		}
		dst = append(dst, s[i:i+n]...)
		i += n + 1
		switch b := s[i]; b {
		case '"', '\\', '/':
			dst = append(dst, b)
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'u':
			r, ok := hex4(s[i+1:])
			if !ok {
				return dst, i - 1
			}
			i += 4
			if utf16.IsSurrogate(r) {
				low := rune(-1)
				if strings.HasPrefix(s[i+1:], `\u`) {
					low, _ = hex4(s[i+3:])
				}
				if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
					dst = append(dst, '?')
					continue
				}
				i += 6
			}
			dst = utf8.AppendRune(dst, r)
		default:
			return dst, i - 1
		}
	}
	return dst, -1
}

func hex4(s string) (rune, bool) {
	if len(s) < 4 {
		return -1, false
	}
	var r rune
	for i := range 4 {
		switch b := s[i]; {
		case b-'0' <= 9:
			r = r<<4 | rune(b-'0')
		case (b|0x20)-'a' <= 5:
			r = r<<4 | rune((b|0x20)-'a'+10)
		default:
			return -1, false
		}
	}
	return r, true
}

// number reads a number and tells whether it has a fraction or an exponent.
func (c *scanner) number() (text string, float bool, o outcome) {
	s, start := c.s, c.at
	p := start
	if p < len(s) && s[p] == '-' {
		p++
	}
	digits := func() bool {
		from := p
		for p < len(s) && s[p]-'0' <= 9 {
			p++
		}
		return p > from
	}
	first := p
	if !digits() {
		return "", false, c.fail(badSyntax, "expected a value")
	}
	if s[first] == '0' && p > first+1 {
		return "", false, c.fail(badSyntax, "leading zeros are not allowed in numbers")
	}
	if p < len(s) && s[p] == '.' {
		float = true
		if p++; !digits() {
			c.at = p
			return "", false, c.fail(badSyntax, "expected a digit behind the decimal point")
		}
	}
	if p < len(s) && s[p]|0x20 == 'e' {
		float = true
		if p++; p < len(s) && (s[p] == '+' || s[p] == '-') {
			p++
		}
		if !digits() {
			c.at = p
			return "", false, c.fail(badSyntax, "expected a digit in the exponent")
		}
	}
	c.at = p
	return s[start:p], float, good
}

// skip reads a value of any kind and checks that it is JSON.
func (c *scanner) skip() outcome {
	switch b := c.space(); b {
	case '"':
		s, escaped, o := c.raw()
		switch {
		case o == badValue && !c.again:
			o = badSyntax
		case o == badValue:
			o = good
		case escaped && !c.again:
			return c.checkEscapes(s)
		}
		return o
	case '{':
		return c.object(func(string) outcome { return c.skip() })
	case '[':
		return c.array(func() outcome { return c.skip() })
	case 't':
		return c.word("true")
	case 'f':
		return c.word("false")
	case 'n':
		return c.word("null")
	default:
		_, _, o := c.number()
		return o
	}
}

// array reads an array; element is called at the start of each element and reads it.
func (c *scanner) array(element func() outcome) outcome {
	if c.depth++; c.depth > maxDepth {
		return c.fail(badSyntax, "nested too deep")
	}
	defer func() { c.depth-- }()
	c.at++
	if c.space() == ']' {
		c.at++
		return good
	}
	for {
		c.space()
		if o := element(); o != good {
			return o
		}
		switch c.space() {
		case ',':
			c.at++
		case ']':
			c.at++
			return good
		default:
			return c.fail(badSyntax, "expected a comma or the end of the array")
		}
	}
}

// object reads an object; member is called with each key, at the start of its value, and reads the value.
func (c *scanner) object(member func(key string) outcome) outcome {
	if c.depth++; c.depth > maxDepth {
		return c.fail(badSyntax, "nested too deep")
	}
	defer func() { c.depth-- }()
	c.at++
	if c.space() == '}' {
		c.at++
		return good
	}
	for {
		key, o := c.key()
		if o != good {
			return o
		}
		if o := member(key); o != good {
			return o
		}
		switch c.space() {
		case ',':
			c.at++
		case '}':
			c.at++
			return good
		default:
			return c.fail(badSyntax, "expected a comma or the end of the object")
		}
	}
}

// key reads a key and the colon and stops at the value.
func (c *scanner) key() (string, outcome) {
	if c.space() != '"' {
		return "", c.fail(badSyntax, "expected a key in double quotes")
	}
	key, o := c.text()
	if o != good {
		return "", c.fail(badSyntax, c.why)
	}
	if c.space() != ':' {
		return "", c.fail(badSyntax, "expected a colon behind the key")
	}
	c.at++
	c.space()
	return key, good
}
