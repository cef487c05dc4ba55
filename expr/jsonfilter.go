package expr

import (
	"strconv"
	"strings"
)

// jsonFilter is a condition within [?(..)].
type jsonFilter interface{ match(n *jsonNode) bool }

// filterAny holds when one of its parts does, filterAll when all do.
type (
	filterAny []jsonFilter
	filterAll []jsonFilter
	filterNot struct{ f jsonFilter }
)

func (f filterAny) match(n *jsonNode) bool {
	for _, p := range f {
		if p.match(n) {
			return true
		}
	}
	return false
}

func (f filterAll) match(n *jsonNode) bool {
	for _, p := range f {
		if !p.match(n) {
			return false
		}
	}
	return true
}

func (f filterNot) match(n *jsonNode) bool { return !f.f.match(n) }

// filterTest compares two operands; without an operator it asks whether the left one exists.
type filterTest struct {
	l, r jsonOperand
	op   string
}

// jsonOperand is a literal or a path from the current element.
type jsonOperand struct {
	path    *jsonPath
	literal *jsonNode
}

func (o jsonOperand) value(n *jsonNode) *jsonNode {
	if o.path == nil {
		return o.literal
	}
	v, err := o.path.find(n)
	if err != nil {
		return nil
	}
	return v
}

func (f filterTest) match(n *jsonNode) bool {
	l := f.l.value(n)
	if f.op == "" {
		return l != nil
	}
	r := f.r.value(n)
	if l == nil || r == nil {
		return f.op == "!=" && (l != nil || r != nil)
	}
	switch f.op {
	case "==":
		return equalNodes(l, r)
	case "!=":
		return !equalNodes(l, r)
	}
	c, ok := compareNodes(l, r)
	if !ok {
		return false
	}
	switch f.op {
	case "<":
		return c < 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	}
	return c >= 0
}

func equalNodes(a, b *jsonNode) bool {
	if a.kind != b.kind {
		return false
	}
	if c, ok := compareNodes(a, b); ok {
		return c == 0
	}
	return string(appendNode(nil, a)) == string(appendNode(nil, b))
}

// compareNodes orders numbers and texts.
func compareNodes(a, b *jsonNode) (int, bool) {
	if a.kind != b.kind {
		return 0, false
	}
	switch a.kind {
	case jsonString:
		return strings.Compare(a.text, b.text), true
	case jsonNumber:
		x, _ := strconv.ParseFloat(a.text, 64)
		y, _ := strconv.ParseFloat(b.text, 64)
		return compareFloat(x, y), true
	}
	return 0, false
}

// maxFilterDepth bounds the nesting of a filter.
const maxFilterDepth = 50

// filter reads ?(..).
func (r *pathReader) filter() (jsonFilter, error) {
	r.at++
	r.blanks()
	if r.at >= len(r.s) || r.s[r.at] != '(' {
		return nil, r.fail("a ( is expected")
	}
	r.at++
	f, err := r.filterOr(0)
	if err != nil {
		return nil, err
	}
	r.blanks()
	if r.at >= len(r.s) || r.s[r.at] != ')' {
		return nil, r.fail("a ) is expected")
	}
	r.at++
	return f, nil
}

func (r *pathReader) take(token string) bool {
	r.blanks()
	if strings.HasPrefix(r.s[r.at:], token) {
		r.at += len(token)
		return true
	}
	return false
}

func (r *pathReader) filterOr(depth int) (jsonFilter, error) {
	var parts filterAny
	for {
		f, err := r.filterAnd(depth)
		if err != nil {
			return nil, err
		}
		parts = append(parts, f)
		if !r.take("||") {
			return parts, nil
		}
	}
}

func (r *pathReader) filterAnd(depth int) (jsonFilter, error) {
	var parts filterAll
	for {
		f, err := r.filterTerm(depth)
		if err != nil {
			return nil, err
		}
		parts = append(parts, f)
		if !r.take("&&") {
			return parts, nil
		}
	}
}

func (r *pathReader) filterTerm(depth int) (jsonFilter, error) {
	if depth > maxFilterDepth {
		return nil, r.fail("the filter is nested too deeply")
	}
	if r.take("!") {
		f, err := r.filterTerm(depth + 1)
		return filterNot{f}, err
	}
	if r.take("(") {
		f, err := r.filterOr(depth + 1)
		if err == nil && !r.take(")") {
			err = r.fail("a ) is expected")
		}
		return f, err
	}
	l, err := r.operand()
	if err != nil {
		return nil, err
	}
	for _, op := range []string{"==", "!=", "<=", ">=", "<", ">"} {
		if r.take(op) {
			right, err := r.operand()
			return filterTest{l, right, op}, err
		}
	}
	return filterTest{l: l}, nil
}

func (r *pathReader) operand() (jsonOperand, error) {
	r.blanks()
	if r.at >= len(r.s) {
		return jsonOperand{}, r.fail("an operand is expected")
	}
	switch c := r.s[r.at]; {
	case c == '@' || c == '$':
		return r.operandPath()
	case c == '\'' || c == '"':
		s, err := r.quoted()
		return jsonOperand{literal: &jsonNode{kind: jsonString, text: s}}, err
	}
	start := r.at
	for r.at < len(r.s) && !strings.ContainsRune(" )=!<>&|", rune(r.s[r.at])) {
		r.at++
	}
	n, err := parseJSON(r.s[start:r.at])
	if err != nil {
		return jsonOperand{}, r.fail("an operand is expected")
	}
	return jsonOperand{literal: n}, nil
}

// operandPath reads a path up to a blank, an operator or a closing parenthesis outside of brackets.
func (r *pathReader) operandPath() (jsonOperand, error) {
	start, depth := r.at, 0
	for ; r.at < len(r.s); r.at++ {
		c := r.s[r.at]
		switch {
		case c == '[':
			depth++
		case c == ']':
			depth--
		case c == '(' && strings.HasPrefix(r.s[r.at:], "()"):
			r.at++
			continue
		}
		if depth < 0 || depth == 0 && strings.ContainsRune(" )=!<>&|", rune(c)) {
			break
		}
	}
	sub := &pathReader{s: r.s[start:r.at]}
	steps, err := sub.read()
	return jsonOperand{path: &jsonPath{steps: steps}}, err
}
