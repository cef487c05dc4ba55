package expr

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// jsonPath is a compiled path in the dialect of Jayway JsonPath: $.a.b[0], ['a b'], ["a"], [*], .*, ..a, [0,2], [0:2],
// [-1], ['a','b'], [?(@.e == 'f')], and functions like .length() at the end. The $ may be left out.
type jsonPath struct {
	strict bool
	steps  []jsonStep
	// simple paths have only names and indexes that are not negative: they are followed in the text, without parsing it.
	simple bool
	// missing is the error of a simple path when nothing is there for a step.
	missing []error
}

// stepKind is what a step of a path does.
type stepKind uint8

const (
	stepName stepKind = iota
	stepNames
	stepIndex
	stepIndexes
	stepSlice
	stepAll
	stepDeep // ..: everything below, itself included; the next step follows
	stepFilter
	stepFunction
)

type jsonStep struct {
	kind     stepKind
	name     string
	names    []string
	indexes  []int
	from, to *int
	filter   jsonFilter
}

// definite reports whether a step gives at most one value.
func (s jsonStep) definite() bool {
	return s.kind == stepName || s.kind == stepIndex || s.kind == stepFunction
}

// compileJSONPath reads a path with its mode. Without one the mode is strict.
func compileJSONPath(text string) (*jsonPath, error) {
	p := &jsonPath{strict: true}
	rest := strings.TrimLeft(text, " \t\n")
	word, after, ok := strings.Cut(rest, " ")
	if ok && strings.TrimLeft(after, " ") != "" {
		switch strings.ToLower(word) {
		case "lax":
			p.strict, text = false, strings.TrimLeft(after, " ")
		case "strict":
			text = strings.TrimLeft(after, " ")
		}
	}
	r := &pathReader{s: strings.TrimSpace(text)}
	steps, err := r.read()
	if err != nil {
		return p, err
	}
	p.steps = steps
	p.simple = true
	for i, s := range steps {
		if s.kind != stepName && (s.kind != stepIndex || s.indexes[0] < 0) {
			p.simple = false
		}
		p.missing = append(p.missing, errNoPath(steps[:i+1]))
	}
	return p, nil
}

// pathReader reads the text of a path.
type pathReader struct {
	s  string
	at int
}

func (r *pathReader) fail(what string) error {
	return fmt.Errorf("%s in JSON path %q at %d", what, r.s, r.at+1)
}

func (r *pathReader) read() ([]jsonStep, error) {
	if r.s == "" {
		return nil, errors.New("path can not be null or empty")
	}
	var steps []jsonStep
	switch r.s[0] {
	case '$', '@':
		r.at++
		if r.at < len(r.s) && r.s[r.at] != '.' && r.s[r.at] != '[' {
			return nil, r.fail("a . or [ is expected")
		}
	case '[':
	default:
		if err := r.name(&steps); err != nil {
			return nil, err
		}
	}
	for r.at < len(r.s) {
		var err error
		switch r.s[r.at] {
		case '.':
			r.at++
			if strings.HasPrefix(r.s[r.at:], ".") {
				r.at++
				steps = append(steps, jsonStep{kind: stepDeep})
				if r.at < len(r.s) && r.s[r.at] == '[' {
					continue
				}
			}
			err = r.name(&steps)
		case '[':
			err = r.bracket(&steps)
		default:
			err = r.fail("a . or [ is expected")
		}
		if err != nil {
			return nil, err
		}
	}
	return steps, nil
}

// name reads a name, a star or a function behind a point.
func (r *pathReader) name(steps *[]jsonStep) error {
	start := r.at
	for r.at < len(r.s) && !strings.ContainsRune(".[( ", rune(r.s[r.at])) {
		r.at++
	}
	name := r.s[start:r.at]
	if r.at < len(r.s) && r.s[r.at] == ' ' {
		return r.fail("a name with blanks needs ['..']")
	}
	if r.at < len(r.s) && r.s[r.at] == '(' {
		if !strings.HasPrefix(r.s[r.at:], "()") {
			return r.fail("functions with arguments are not supported")
		}
		r.at += 2
		if !jsonFunctions[name] {
			return r.fail("function " + name + " does not exist")
		}
		*steps = append(*steps, jsonStep{kind: stepFunction, name: name})
		return nil
	}
	switch name {
	case "":
		return r.fail("a name is expected")
	case "*":
		*steps = append(*steps, jsonStep{kind: stepAll})
	default:
		*steps = append(*steps, jsonStep{kind: stepName, name: name})
	}
	return nil
}

var jsonFunctions = map[string]bool{"length": true, "size": true, "min": true, "max": true, "avg": true, "sum": true, "keys": true, "first": true, "last": true}

// bracket reads [..].
func (r *pathReader) bracket(steps *[]jsonStep) error {
	r.at++
	r.blanks()
	rest := r.s[r.at:]
	switch {
	case strings.HasPrefix(rest, "*"):
		r.at++
		*steps = append(*steps, jsonStep{kind: stepAll})
	case strings.HasPrefix(rest, "?"):
		f, err := r.filter()
		if err != nil {
			return err
		}
		*steps = append(*steps, jsonStep{kind: stepFilter, filter: f})
	case strings.HasPrefix(rest, "'"), strings.HasPrefix(rest, `"`):
		names, err := r.quotedNames()
		if err != nil {
			return err
		}
		step := jsonStep{kind: stepName, name: names[0]}
		if len(names) > 1 {
			step = jsonStep{kind: stepNames, names: names}
		}
		*steps = append(*steps, step)
	default:
		step, err := r.numbers()
		if err != nil {
			return err
		}
		*steps = append(*steps, step)
	}
	r.blanks()
	if r.at >= len(r.s) || r.s[r.at] != ']' {
		return r.fail("a ] is expected")
	}
	r.at++
	return nil
}

func (r *pathReader) blanks() {
	for r.at < len(r.s) && r.s[r.at] == ' ' {
		r.at++
	}
}

// quoted reads a text in single or double quotes, with backslash escapes.
func (r *pathReader) quoted() (string, error) {
	q := r.s[r.at]
	r.at++
	var b strings.Builder
	for r.at < len(r.s) {
		c := r.s[r.at]
		r.at++
		switch {
		case c == q:
			return b.String(), nil
		case c == '\\' && r.at < len(r.s):
			b.WriteByte(r.s[r.at])
			r.at++
		default:
			b.WriteByte(c)
		}
	}
	return "", r.fail("the quote is not closed")
}

func (r *pathReader) quotedNames() ([]string, error) {
	var names []string
	for {
		r.blanks()
		if r.at >= len(r.s) || r.s[r.at] != '\'' && r.s[r.at] != '"' {
			return nil, r.fail("a quoted name is expected")
		}
		n, err := r.quoted()
		if err != nil {
			return nil, err
		}
		names = append(names, n)
		r.blanks()
		if r.at >= len(r.s) || r.s[r.at] != ',' {
			return names, nil
		}
		r.at++
	}
}

// numbers reads indexes or a slice.
func (r *pathReader) numbers() (jsonStep, error) {
	end := strings.IndexByte(r.s[r.at:], ']')
	if end < 0 {
		return jsonStep{}, r.fail("a ] is expected")
	}
	body := r.s[r.at : r.at+end]
	number := func(s string) (*int, error) {
		if s = strings.TrimSpace(s); s == "" {
			return nil, nil
		}
		n, err := strconv.Atoi(s)
		if err != nil {
			return nil, r.fail(fmt.Sprintf("%q is no index", s))
		}
		return &n, nil
	}
	if lo, hi, ok := strings.Cut(body, ":"); ok {
		from, err := number(lo)
		if err != nil {
			return jsonStep{}, err
		}
		to, err := number(hi)
		if err != nil {
			return jsonStep{}, err
		}
		r.at += end
		return jsonStep{kind: stepSlice, from: from, to: to}, nil
	}
	step := jsonStep{kind: stepIndex}
	for part := range strings.SplitSeq(body, ",") {
		n, err := number(part)
		if err != nil {
			return step, err
		}
		if n == nil {
			return step, r.fail("an index is expected")
		}
		step.indexes = append(step.indexes, *n)
	}
	if len(step.indexes) > 1 {
		step.kind = stepIndexes
	}
	r.at += end
	return step, nil
}

// errNoPath is the message of a definite path that leads nowhere.
func errNoPath(steps []jsonStep) error {
	var b strings.Builder
	b.WriteByte('$')
	for _, s := range steps {
		switch s.kind {
		case stepName:
			b.WriteString("['" + s.name + "']")
		case stepIndex:
			fmt.Fprintf(&b, "[%d]", s.indexes[0])
		}
	}
	return errors.New("No results for path: " + b.String())
}

// maxFound bounds what a path may find on the way: each .. multiplies it.
const maxFound = 100_000

var errTooMany = errors.New("a JSON path finds more than 100000 values")

// find follows the path. A definite path gives its value or an error when it leads nowhere; another one gives an array
// of all that it finds.
func (p *jsonPath) find(root *jsonNode) (*jsonNode, error) {
	found := []*jsonNode{root}
	definite := true
	for i, s := range p.steps {
		if s.kind == stepFunction {
			n := found[0]
			if !definite {
				n = &jsonNode{kind: jsonArray, elems: found}
			}
			v, err := s.function(n)
			if err != nil {
				return nil, err
			}
			found, definite = []*jsonNode{v}, true
			continue
		}
		if definite && found[0].kind != jsonArray && (s.kind == stepSlice || s.kind == stepIndexes) {
			return nil, errNoPath(p.steps[:i])
		}
		definite = definite && s.definite()
		var next []*jsonNode
		for _, n := range found {
			if next = s.follow(n, next); len(next) > maxFound {
				return nil, errTooMany
			}
		}
		if definite && len(next) == 0 {
			return nil, errNoPath(p.steps[:i+1])
		}
		found = next
	}
	if definite {
		return found[0], nil
	}
	return &jsonNode{kind: jsonArray, elems: found}, nil
}

// follow appends what the step finds in n.
func (s jsonStep) follow(n *jsonNode, out []*jsonNode) []*jsonNode {
	switch s.kind {
	case stepName:
		if n.kind == jsonObject {
			if v := n.get(s.name); v != nil {
				return append(out, v)
			}
		}
	case stepNames:
		if n.kind == jsonObject {
			o := &jsonNode{kind: jsonObject}
			for _, name := range s.names {
				if v := n.get(name); v != nil {
					o.put(name, v)
				}
			}
			return append(out, o)
		}
	case stepIndex, stepIndexes:
		if n.kind == jsonArray {
			for _, i := range s.indexes {
				if i < 0 {
					i += len(n.elems)
				}
				if i >= 0 && i < len(n.elems) {
					out = append(out, n.elems[i])
				}
			}
		}
	case stepSlice:
		if n.kind == jsonArray {
			from, to := s.bounds(len(n.elems))
			if from < to {
				out = append(out, n.elems[from:to]...)
			}
		}
	case stepAll:
		return append(out, n.elems...)
	case stepDeep:
		out = append(out, n)
		for _, e := range n.elems {
			out = s.follow(e, out)
		}
	case stepFilter:
		if n.kind == jsonArray {
			for _, e := range n.elems {
				if s.filter.match(e) {
					out = append(out, e)
				}
			}
		} else if n.kind == jsonObject && s.filter.match(n) {
			out = append(out, n)
		}
	}
	return out
}

// bounds gives the part of a slice step in a list of n.
func (s jsonStep) bounds(n int) (int, int) {
	place := func(p *int, missing int) int {
		if p == nil {
			return missing
		}
		if *p < 0 {
			return max(n+*p, 0)
		}
		return min(*p, n)
	}
	return place(s.from, 0), place(s.to, n)
}

// function applies a function that stands at the end of a path.
func (s jsonStep) function(n *jsonNode) (*jsonNode, error) {
	switch s.name {
	case "length", "size":
		switch n.kind {
		case jsonArray, jsonObject:
			return jsonInt(len(n.elems)), nil
		case jsonString:
			return jsonInt(units(n.text)), nil
		}
		return &jsonNode{}, nil
	case "keys":
		keys := &jsonNode{kind: jsonArray}
		for _, k := range n.keys {
			keys.elems = append(keys.elems, &jsonNode{kind: jsonString, text: k})
		}
		return keys, nil
	case "first", "last":
		if n.kind != jsonArray || len(n.elems) == 0 {
			return &jsonNode{}, nil
		}
		if s.name == "first" {
			return n.elems[0], nil
		}
		return n.elems[len(n.elems)-1], nil
	}
	var numbers []float64
	for _, e := range n.elems {
		if e.kind == jsonNumber {
			f, _ := strconv.ParseFloat(e.text, 64)
			numbers = append(numbers, f)
		}
	}
	if len(numbers) == 0 {
		return nil, errors.New("Aggregation function attempted to calculate value using empty array")
	}
	best, sum := numbers[0], 0.0
	for _, f := range numbers {
		sum += f
		if s.name == "min" && f < best || s.name == "max" && f > best {
			best = f
		}
	}
	switch s.name {
	case "sum":
		best = sum
	case "avg":
		best = sum / float64(len(numbers))
	}
	return &jsonNode{kind: jsonNumber, float: true, text: javaNumber(strconv.FormatFloat(best, 'g', -1, 64), true)}, nil
}

func jsonInt(n int) *jsonNode { return &jsonNode{kind: jsonNumber, text: strconv.Itoa(n)} }
