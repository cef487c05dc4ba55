package expr

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"runnel/types"
)

// jsonKind is what a JSON value is.
type jsonKind uint8

const (
	jsonNull jsonKind = iota
	jsonBool
	jsonNumber
	jsonString
	jsonArray
	jsonObject
)

// jsonNode is a parsed JSON value. Objects keep the order of their keys; of equal keys the last value counts.
type jsonNode struct {
	kind  jsonKind
	text  string // of a number as Java prints it, of a string its content; "true" or "false"
	float bool   // a number with a fraction or an exponent
	keys  []string
	elems []*jsonNode
}

var errJSON = errors.New("invalid JSON")

// maxJSONDepth bounds the nesting of a document.
const maxJSONDepth = 1000

// jsonScanner reads JSON text. What follows the first value is not looked at, as in Flink.
type jsonScanner struct {
	s     string
	at    int
	depth int
}

func parseJSON(s string) (*jsonNode, error) {
	p := &jsonScanner{s: s}
	return p.value()
}

// peek gives the next byte behind blanks, 0 at the end.
func (p *jsonScanner) peek() byte {
	for p.at < len(p.s) {
		c := p.s[p.at]
		if c > ' ' {
			return c
		}
		if c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return c
		}
		p.at++
	}
	return 0
}

func (p *jsonScanner) value() (*jsonNode, error) {
	switch c := p.peek(); c {
	case '{':
		return p.object()
	case '[':
		return p.array()
	case '"':
		s, err := p.str()
		return &jsonNode{kind: jsonString, text: s}, err
	case 't', 'f', 'n':
		word, err := p.word()
		if err != nil {
			return nil, err
		}
		if word == "null" {
			return &jsonNode{}, nil
		}
		return &jsonNode{kind: jsonBool, text: word}, nil
	}
	text, float, err := p.number()
	if err != nil {
		return nil, err
	}
	return &jsonNode{kind: jsonNumber, text: javaNumber(text, float), float: float}, nil
}

// javaNumber prints a number as Java would after reading it: those with a fraction are doubles.
func javaNumber(text string, float bool) string {
	if !float {
		if text == "-0" {
			return "0"
		}
		return text
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil && f == 0 {
		return text
	}
	return string(types.AppendDouble(nil, f))
}

func (p *jsonScanner) enter() error {
	if p.depth++; p.depth > maxJSONDepth {
		return errors.New("JSON is nested too deeply")
	}
	p.at++
	return nil
}

func (p *jsonScanner) object() (*jsonNode, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	n := &jsonNode{kind: jsonObject}
	if p.peek() == '}' {
		p.at++
		p.depth--
		return n, nil
	}
	for {
		if p.peek() != '"' {
			return nil, errJSON
		}
		key, err := p.str()
		if err != nil {
			return nil, err
		}
		if p.peek() != ':' {
			return nil, errJSON
		}
		p.at++
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		n.put(key, v)
		switch p.peek() {
		case ',':
			p.at++
		case '}':
			p.at++
			p.depth--
			return n, nil
		default:
			return nil, errJSON
		}
	}
}

func (n *jsonNode) put(key string, v *jsonNode) {
	for i, k := range n.keys {
		if k == key {
			n.elems[i] = v
			return
		}
	}
	n.keys, n.elems = append(n.keys, key), append(n.elems, v)
}

// get gives the value of a key, nil when there is none.
func (n *jsonNode) get(key string) *jsonNode {
	for i, k := range n.keys {
		if k == key {
			return n.elems[i]
		}
	}
	return nil
}

func (p *jsonScanner) array() (*jsonNode, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	n := &jsonNode{kind: jsonArray}
	if p.peek() == ']' {
		p.at++
		p.depth--
		return n, nil
	}
	for {
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		n.elems = append(n.elems, v)
		switch p.peek() {
		case ',':
			p.at++
		case ']':
			p.at++
			p.depth--
			return n, nil
		default:
			return nil, errJSON
		}
	}
}

// word reads true, false or null.
func (p *jsonScanner) word() (string, error) {
	for _, w := range [...]string{"true", "false", "null"} {
		if strings.HasPrefix(p.s[p.at:], w) {
			end := p.at + len(w)
			if end < len(p.s) && (p.s[end] == '_' || p.s[end]|0x20 >= 'a' && p.s[end]|0x20 <= 'z' || digit(p.s[end])) {
				return "", errJSON
			}
			p.at = end
			return w, nil
		}
	}
	return "", errJSON
}

func digit(c byte) bool { return c-'0' < 10 }

// digits gives the place behind the digits at i.
func digits(s string, i int) int {
	for i < len(s) && digit(s[i]) {
		i++
	}
	return i
}

// number reads a number and says whether it has a fraction or an exponent.
func (p *jsonScanner) number() (text string, float bool, err error) {
	s, i := p.s, p.at
	if i < len(s) && s[i] == '-' {
		i++
	}
	lead := i
	i = digits(s, i)
	if i == lead || i > lead+1 && s[lead] == '0' {
		return "", false, errJSON
	}
	if i < len(s) && s[i] == '.' {
		float = true
		from := i + 1
		if i = digits(s, from); i == from {
			return "", false, errJSON
		}
	}
	if i < len(s) && s[i]|0x20 == 'e' {
		float = true
		from := i + 1
		if from < len(s) && (s[from] == '+' || s[from] == '-') {
			from++
		}
		if i = digits(s, from); i == from {
			return "", false, errJSON
		}
	}
	if i < len(s) {
		switch s[i] {
		case ' ', '\t', '\n', '\r', ',', ']', '}', '/':
		default:
			return "", false, errJSON
		}
	}
	text = s[p.at:i]
	p.at = i
	return text, float, nil
}

// span moves behind a string and gives its raw content; escaped says that it holds backslashes.
func (p *jsonScanner) span() (raw string, escaped bool, err error) {
	s := p.s
	start := p.at + 1
	for i := start; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			p.at = i + 1
			return s[start:i], escaped, nil
		case c == '\\':
			escaped = true
			i++
		case c < 0x20:
			return "", false, errJSON
		}
	}
	return "", false, errJSON
}

func (p *jsonScanner) str() (string, error) {
	raw, escaped, err := p.span()
	if err != nil || !escaped {
		return raw, err
	}
	return unescapeJSON(raw)
}

// unescapeJSON undoes the escapes of a string's content.
func unescapeJSON(raw string) (string, error) {
	b := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			b = append(b, raw[i])
			continue
		}
		i++
		switch raw[i] {
		case '"', '\\', '/':
			b = append(b, raw[i])
		case 'b':
			b = append(b, '\b')
		case 'f':
			b = append(b, '\f')
		case 'n':
			b = append(b, '\n')
		case 'r':
			b = append(b, '\r')
		case 't':
			b = append(b, '\t')
		case 'u':
			r, n, err := unicodeJSON(raw[i+1:])
			if err != nil {
				return "", err
			}
			b = utf8.AppendRune(b, r)
			i += n
		default:
			return "", errJSON
		}
	}
	return string(b), nil
}

// unicodeJSON reads the digits behind \u, and a second escape that completes a surrogate pair.
func unicodeJSON(s string) (rune, int, error) {
	if len(s) < 4 {
		return 0, 0, errJSON
	}
	v, err := strconv.ParseUint(s[:4], 16, 32)
	if err != nil {
		return 0, 0, errJSON
	}
	r := rune(v)
	if r >= 0xd800 && r < 0xdc00 && len(s) >= 10 && s[4] == '\\' && s[5] == 'u' {
		if low, err := strconv.ParseUint(s[6:10], 16, 32); err == nil && low >= 0xdc00 && low < 0xe000 {
			return (r-0xd800)<<10 + (rune(low) - 0xdc00) + 0x10000, 10, nil
		}
	}
	if r >= 0xd800 && r < 0xe000 {
		r = '?'
	}
	return r, 4, nil
}

// skip checks a value and moves behind it without building anything.
func (p *jsonScanner) skip() error {
	switch c := p.peek(); c {
	case '{', '[':
		return p.skipNested(c)
	case '"':
		raw, escaped, err := p.span()
		if err == nil && escaped {
			_, err = unescapeJSON(raw)
		}
		return err
	case 't', 'f', 'n':
		_, err := p.word()
		return err
	}
	_, _, err := p.number()
	return err
}

func (p *jsonScanner) skipNested(open byte) error {
	if err := p.enter(); err != nil {
		return err
	}
	end := open + 2 // ] behind [, } behind {
	if p.peek() == end {
		p.at++
		p.depth--
		return nil
	}
	for {
		if open == '{' {
			if p.peek() != '"' {
				return errJSON
			}
			if _, _, err := p.span(); err != nil {
				return err
			}
			if p.peek() != ':' {
				return errJSON
			}
			p.at++
		}
		if err := p.skip(); err != nil {
			return err
		}
		switch p.peek() {
		case ',':
			p.at++
		case end:
			p.at++
			p.depth--
			return nil
		default:
			return errJSON
		}
	}
}
