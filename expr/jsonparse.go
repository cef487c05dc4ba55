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
	if p.at < len(p.s) && p.s[p.at] > ' ' {
		return p.s[p.at]
	}
	return p.blanks()
}

func (p *jsonScanner) blanks() byte {
	for ; p.at < len(p.s); p.at++ {
		if c := p.s[p.at]; c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return c
		}
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
	var buf [32]byte
	return string(appendJavaNumber(buf[:0], text))
}

// appendJavaNumber appends a number with a fraction or an exponent as Java prints the double.
func appendJavaNumber(dst []byte, text string) []byte {
	if plainNumber(text) {
		return append(dst, text...)
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil && f == 0 {
		return append(dst, text...)
	}
	return types.AppendDouble(dst, f)
}

// plainNumber reports whether a number with a fraction or an exponent is written as Java prints it: up to seven digits
// without an exponent, at least 0.001, and with no 0 at the end but the one of x.0.
func plainNumber(text string) bool {
	text = strings.TrimPrefix(text, "-")
	point := strings.IndexByte(text, '.')
	if point < 0 || len(text) > 8 {
		return false
	}
	for _, c := range []byte(text) {
		if c|0x20 == 'e' {
			return false
		}
	}
	fraction := text[point+1:]
	return (fraction == "0" || fraction[len(fraction)-1] != '0') && (text[0] != '0' || fraction == "0" || text >= "0.001")
}

func (p *jsonScanner) enter() error {
	if p.depth++; p.depth > maxJSONDepth {
		return errors.New("JSON is nested too deeply")
	}
	p.at++
	return nil
}

// leave moves behind the end of an array or object.
func (p *jsonScanner) leave() {
	p.at++
	p.depth--
}

// end wants the end of an array or object.
func (p *jsonScanner) end(c byte) error {
	if p.peek() != c {
		return errJSON
	}
	p.leave()
	return nil
}

// key reads the name of an entry and the colon behind it.
func (p *jsonScanner) key() (string, error) {
	if p.peek() != '"' {
		return "", errJSON
	}
	key, escaped, err := p.span()
	if err != nil {
		return "", err
	}
	if escaped {
		key = unescapeJSON(key)
	}
	if p.peek() != ':' {
		return "", errJSON
	}
	p.at++
	return key, nil
}

func (p *jsonScanner) object() (*jsonNode, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	n := &jsonNode{kind: jsonObject}
	if p.peek() == '}' {
		p.leave()
		return n, nil
	}
	for {
		key, err := p.key()
		if err != nil {
			return nil, err
		}
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		n.put(key, v)
		if p.peek() == ',' {
			p.at++
			continue
		}
		return n, p.end('}')
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
		p.leave()
		return n, nil
	}
	for {
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		n.elems = append(n.elems, v)
		if p.peek() == ',' {
			p.at++
			continue
		}
		return n, p.end(']')
	}
}

// word reads true, false or null.
func (p *jsonScanner) word() (string, error) {
	w := "null"
	switch p.s[p.at] {
	case 't':
		w = "true"
	case 'f':
		w = "false"
	}
	if !strings.HasPrefix(p.s[p.at:], w) {
		return "", errJSON
	}
	end := p.at + len(w)
	if end < len(p.s) && (p.s[end] == '_' || p.s[end]|0x20 >= 'a' && p.s[end]|0x20 <= 'z' || digit(p.s[end])) {
		return "", errJSON
	}
	p.at = end
	return w, nil
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

// plainJSON tells the bytes of a string that stand for themselves.
var plainJSON = func() (plain [256]bool) {
	for c := range plain {
		plain[c] = c >= 0x20 && c != '"' && c != '\\'
	}
	return plain
}()

// span moves behind a string, whose escapes it checks, and gives its raw content; escaped says that it holds some.
func (p *jsonScanner) span() (raw string, escaped bool, err error) {
	s, i := p.s, p.at+1
	for {
		for i < len(s) && plainJSON[s[i]] {
			i++
		}
		switch {
		case i >= len(s):
			return "", false, errJSON
		case s[i] == '"':
			raw = s[p.at+1 : i]
			p.at = i + 1
			return raw, escaped, nil
		case s[i] != '\\':
			return "", false, errJSON
		}
		n := escapeLength(s[i:])
		if n == 0 {
			return "", false, errJSON
		}
		i += n
		escaped = true
	}
}

// escapeLength is the length of the escape at the beginning of s, 0 for a wrong one.
func escapeLength(s string) int {
	if len(s) < 2 {
		return 0
	}
	switch s[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(s) >= 6 {
			if _, err := strconv.ParseUint(s[2:6], 16, 32); err == nil {
				return 6
			}
		}
	}
	return 0
}

func (p *jsonScanner) str() (string, error) {
	raw, escaped, err := p.span()
	if err != nil || !escaped {
		return raw, err
	}
	return unescapeJSON(raw), nil
}

// unescapeJSON undoes the escapes of a string's content, which have been checked.
func unescapeJSON(raw string) string {
	return string(appendUnescaped(make([]byte, 0, len(raw)), raw))
}

func appendUnescaped(b []byte, raw string) []byte {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			b = append(b, raw[i])
			continue
		}
		i++
		switch raw[i] {
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
			r, n := unicodeJSON(raw[i+1:])
			b = utf8.AppendRune(b, r)
			i += n
		default:
			b = append(b, raw[i])
		}
	}
	return b
}

// unicodeJSON reads the digits behind \u, and a second escape that completes a surrogate pair.
func unicodeJSON(s string) (rune, int) {
	v, _ := strconv.ParseUint(s[:4], 16, 32)
	r := rune(v)
	if r >= 0xd800 && r < 0xdc00 && len(s) >= 10 && s[4] == '\\' && s[5] == 'u' {
		if low, err := strconv.ParseUint(s[6:10], 16, 32); err == nil && low >= 0xdc00 && low < 0xe000 {
			return (r-0xd800)<<10 + (rune(low) - 0xdc00) + 0x10000, 10
		}
	}
	if r >= 0xd800 && r < 0xe000 {
		r = '?'
	}
	return r, 4
}

// skip checks a value and moves behind it without building anything.
func (p *jsonScanner) skip() error {
	var err error
	switch c := p.peek(); c {
	case '{', '[':
		return p.skipNested(c)
	case '"':
		_, _, err = p.span()
	case 't', 'f', 'n':
		_, err = p.word()
	default:
		_, _, err = p.number()
	}
	return err
}

func (p *jsonScanner) skipNested(open byte) error {
	if err := p.enter(); err != nil {
		return err
	}
	end := open + 2 // ] behind [, } behind {
	if p.peek() == end {
		p.leave()
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
		if p.peek() == ',' {
			p.at++
			continue
		}
		return p.end(end)
	}
}
