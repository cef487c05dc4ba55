package expr

import (
	"errors"
	"fmt"
	"strings"

	"runnel/types"
)

// jsonContext finds a path in documents; it belongs to one kernel.
type jsonContext struct {
	cache map[string]*jsonPathEntry
	last  string
	entry *jsonPathEntry
}

type jsonPathEntry struct {
	path *jsonPath
	err  error
}

const maxPathCache = 256

func (c *jsonContext) path(text string) *jsonPathEntry {
	if c.entry != nil && c.last == text {
		return c.entry
	}
	e := c.cache[text]
	if e == nil {
		p, err := compileJSONPath(text)
		e = &jsonPathEntry{p, err}
		if c.cache == nil || len(c.cache) >= maxPathCache {
			c.cache = map[string]*jsonPathEntry{}
		}
		c.cache[text] = e
	}
	c.last, c.entry = text, e
	return e
}

// jsonResult is what a path finds: a value, nothing (lax mode), or an error.
type jsonResult struct {
	node   *jsonNode
	strict bool
	err    error
}

var errStrictNull = errors.New("Strict jsonpath mode requires a non empty returned value, but is null")

// find follows a path in a document. JSON's null counts as nothing.
func (c *jsonContext) find(doc, path string) jsonResult {
	e := c.path(path)
	if e.err != nil {
		return jsonResult{strict: e.path.strict, err: e.err}
	}
	r := jsonResult{strict: e.path.strict}
	var err error
	if e.path.simple {
		r.node, err = e.path.scan(doc)
	} else {
		var root *jsonNode
		if root, err = parseJSON(doc); err == nil {
			if root.kind == jsonNull {
				return jsonResult{strict: r.strict, err: errors.New("json can not be null or empty")}
			}
			r.node, err = e.path.find(root)
		}
	}
	switch {
	case err == errNullDoc:
		r.err = err
	case err != nil && r.strict:
		r.err = err
	case err != nil:
		r.node = nil
	case r.node.kind == jsonNull:
		r.node = nil
		if r.strict {
			r.err = errStrictNull
		}
	}
	return r
}

var errNullDoc = errors.New("json can not be null or empty")

// scan follows a simple path in the text of a document, building only what it finds. The whole document is checked.
func (p *jsonPath) scan(doc string) (*jsonNode, error) {
	s := &jsonScanner{s: doc}
	if s.peek() == 'n' && len(p.steps) > 0 || s.peek() == 'n' {
		if w, err := s.word(); err != nil || w == "null" {
			if err == nil {
				err = errNullDoc
			}
			return nil, err
		}
	}
	n, depth, err := s.follow(p.steps, 0)
	if err != nil {
		return nil, err
	}
	if n == nil {
		return nil, errNoPath(p.steps[:min(depth+1, len(p.steps))])
	}
	return n, nil
}

// follow moves behind the next value and gives what the steps lead to within it, nil for nothing; depth is how far.
func (s *jsonScanner) follow(steps []jsonStep, depth int) (*jsonNode, int, error) {
	if depth == len(steps) {
		n, err := s.value()
		return n, depth, err
	}
	step := steps[depth]
	c := s.peek()
	if c == '{' && step.kind == stepName || c == '[' && step.kind == stepIndex {
		return s.followInto(steps, depth, c)
	}
	return nil, depth, s.skip()
}

func (s *jsonScanner) followInto(steps []jsonStep, depth int, open byte) (found *jsonNode, reached int, err error) {
	if err := s.enter(); err != nil {
		return nil, depth, err
	}
	step, end := steps[depth], open+2
	reached = depth
	if s.peek() == end {
		s.at++
		s.depth--
		return nil, depth, nil
	}
	for i := 0; ; i++ {
		hit := i == -1
		if open == '{' {
			if s.peek() != '"' {
				return nil, depth, errJSON
			}
			raw, escaped, err := s.span()
			if err != nil {
				return nil, depth, err
			}
			if escaped {
				if raw, err = unescapeJSON(raw); err != nil {
					return nil, depth, err
				}
			}
			hit = raw == step.name
			if s.peek() != ':' {
				return nil, depth, errJSON
			}
			s.at++
		} else {
			hit = i == step.indexes[0]
		}
		if hit {
			found, reached, err = s.follow(steps, depth+1)
		} else {
			err = s.skip()
		}
		if err != nil {
			return nil, depth, err
		}
		switch s.peek() {
		case ',':
			s.at++
		case end:
			s.at++
			s.depth--
			return found, reached, nil
		default:
			return nil, depth, errJSON
		}
	}
}

func (n *jsonNode) scalar() bool { return n.kind != jsonArray && n.kind != jsonObject }

// javaText prints a value as Java's toString does, for messages.
func (n *jsonNode) javaText() string {
	switch n.kind {
	case jsonNull:
		return "null"
	case jsonArray:
		parts := make([]string, len(n.elems))
		for i, e := range n.elems {
			parts[i] = e.javaText()
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case jsonObject:
		parts := make([]string, len(n.elems))
		for i, e := range n.elems {
			parts[i] = n.keys[i] + "=" + e.javaText()
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return n.text
}

func errNotScalar(n *jsonNode) error {
	return fmt.Errorf("Strict jsonpath mode requires scalar value, and the actual value is: ''%s''", n.javaText())
}

func errNotNested(n *jsonNode) error {
	return fmt.Errorf("Strict jsonpath mode requires array or object value, and the actual value is: ''%s''", n.javaText())
}

var (
	errEmptyValue = errors.New("Empty result of JSON_VALUE function is not allowed")
	errEmptyQuery = errors.New("Empty result of JSON_QUERY function is not allowed")
)

// jsonPick is the value that JSON_VALUE or JSON_QUERY takes from a result: a node, or what to do instead.
func (r jsonResult) value() (*jsonNode, JSONCase, error) {
	switch {
	case r.err != nil:
		return nil, jsonFailed, r.err
	case r.node == nil || !r.strict && !r.node.scalar():
		return nil, jsonEmpty, errEmptyValue
	case !r.node.scalar():
		return nil, jsonFailed, errNotScalar(r.node)
	}
	return r.node, jsonFound, nil
}

func (r jsonResult) query(w JSONWrapper) (*jsonNode, JSONCase, error) {
	if r.err != nil {
		return nil, jsonFailed, r.err
	}
	n := r.node
	if n != nil && (w == WithWrapper || w == WithConditionalWrapper && n.kind != jsonArray) {
		n = &jsonNode{kind: jsonArray, elems: []*jsonNode{n}}
	}
	switch {
	case n == nil || !r.strict && n.scalar():
		return nil, jsonEmpty, errEmptyQuery
	case n.scalar():
		return nil, jsonFailed, errNotNested(n)
	}
	return n, jsonFound, nil
}

// JSONCase is the outcome of looking for a path.
type JSONCase uint8

const (
	jsonFound JSONCase = iota
	jsonEmpty
	jsonFailed
)

// convertJSON gives a scalar as a value of t. Numbers and truth values are not converted: another kind is an error.
func convertJSON(n *jsonNode, t types.Type) (types.Datum, error) {
	switch t.Kind {
	case types.Boolean:
		if n.kind == jsonBool {
			return types.BoolDatum(n.text == "true"), nil
		}
	case types.Int:
		if n.kind == jsonNumber && !n.float {
			if v, ok := types.ParseInt(n.text, -1<<31, 1<<31-1); ok {
				return types.IntDatum(v), nil
			}
		}
	case types.Double:
		if n.kind == jsonNumber && n.float {
			if v, ok := types.ParseDouble(n.text); ok {
				return types.FloatDatum(v), nil
			}
		}
	default:
		return types.StrDatum(n.text), nil
	}
	return types.Datum{}, fmt.Errorf("the JSON value %s is no %s", appendNode(nil, n), t.Name())
}
