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

// jsonResult is what a path finds: a value, nothing (lax mode), or an error. A simple path gives a span of the document.
type jsonResult struct {
	found  bool
	node   *jsonNode
	span   jsonSpan
	doc    string // of the span; empty when there is a node
	strict bool
	err    error
}

// scalar reports whether a scalar was found.
func (r *jsonResult) scalar() bool {
	if r.node != nil {
		return r.node.scalar()
	}
	return r.span.scalar()
}

// nested reports whether an array or an object of the document's text was found.
func (r *jsonResult) nested() bool { return r.found && r.node == nil && !r.span.scalar() }

// tree gives what was found as a node.
func (r *jsonResult) tree() *jsonNode {
	if r.node == nil {
		r.node, _ = r.span.node(r.doc) // the scan has checked it
	}
	return r.node
}

var errStrictNull = errors.New("Strict jsonpath mode requires a non empty returned value, but is null")

// find follows a path in a document and puts what it finds into r. JSON's null counts as nothing.
func (c *jsonContext) find(doc, path string, r *jsonResult) {
	e := c.path(path)
	*r = jsonResult{strict: e.path.strict, err: e.err}
	if e.err != nil {
		return
	}
	var err error
	null := false
	if e.path.simple {
		r.doc = doc
		err = e.path.scan(doc, &r.span)
		null = r.span.kind == jsonNull
	} else {
		var root *jsonNode
		if root, err = parseJSON(doc); err == nil {
			if root.kind == jsonNull {
				r.err = errNullDoc
				return
			}
			if r.node, err = e.path.find(root); err == nil {
				null = r.node.kind == jsonNull
			}
		}
	}
	switch {
	case err != nil && (r.strict || err == errNullDoc || err == errTooMany):
		r.err = err
	case err != nil:
	case null && r.strict:
		r.err = errStrictNull
	default:
		r.found = !null
	}
}

var errNullDoc = errors.New("json can not be null or empty")

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

// value says what JSON_VALUE makes of the result.
func (r *jsonResult) value() (jsonCase, error) {
	switch {
	case r.err != nil:
		return jsonFailed, r.err
	case !r.found || !r.strict && !r.scalar():
		return jsonEmpty, errEmptyValue
	case !r.scalar():
		return jsonFailed, errNotScalar(r.tree())
	}
	return jsonFound, nil
}

// query gives what JSON_QUERY makes of the result.
func (r *jsonResult) query(w JSONWrapper) (*jsonNode, jsonCase, error) {
	if r.err != nil {
		return nil, jsonFailed, r.err
	}
	if !r.found {
		return nil, jsonEmpty, errEmptyQuery
	}
	n := r.tree()
	if w == WithWrapper || w == WithConditionalWrapper && n.kind != jsonArray {
		n = &jsonNode{kind: jsonArray, elems: []*jsonNode{n}}
	}
	switch {
	case !r.strict && n.scalar():
		return nil, jsonEmpty, errEmptyQuery
	case n.scalar():
		return nil, jsonFailed, errNotNested(n)
	}
	return n, jsonFound, nil
}

// jsonCase is the outcome of looking for a path.
type jsonCase uint8

const (
	jsonFound jsonCase = iota
	jsonEmpty
	jsonFailed
)

// convert gives the scalar that was found as a value of t. Numbers and truth values are not converted: another kind is an
// error.
func (r *jsonResult) convert(t types.Type, arena *types.Arena) (types.Datum, error) {
	kind, float, text := r.span.kind, r.span.float, ""
	if r.node != nil {
		kind, float, text = r.node.kind, r.node.float, r.node.text
	} else {
		text = r.span.text(r.doc, arena)
	}
	switch t.Kind {
	case types.Boolean:
		if kind == jsonBool {
			return types.BoolDatum(text == "true"), nil
		}
	case types.Int:
		if kind == jsonNumber && !float {
			if v, ok := types.ParseInt(text, -1<<31, 1<<31-1); ok {
				return types.IntDatum(v), nil
			}
		}
	case types.Double:
		if kind == jsonNumber && float {
			if v, ok := types.ParseDouble(text); ok {
				return types.FloatDatum(v), nil
			}
		}
	default:
		return types.StrDatum(text), nil
	}
	return types.Datum{}, fmt.Errorf("the JSON value %s is no %s", appendNode(nil, r.tree()), t.Name())
}
