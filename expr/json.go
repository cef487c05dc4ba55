package expr

import (
	"fmt"
	"strings"

	"runnel/types"
)

// JSONBehavior is what a JSON function gives ON EMPTY or ON ERROR.
type JSONBehavior uint8

const (
	JSONUnset JSONBehavior = iota // not written
	JSONError
	JSONNull
	JSONTrue
	JSONFalse
	JSONUnknown
	JSONEmptyArray
	JSONEmptyObject
	JSONDefault // DEFAULT value
)

// JSONOn is a behaviour with the value of DEFAULT.
type JSONOn struct {
	Behavior JSONBehavior
	Default  Expr
}

// JSONWrapper is the wrapper clause of JSON_QUERY.
type JSONWrapper uint8

const (
	WithoutWrapper JSONWrapper = iota
	WithWrapper                // WITH [UNCONDITIONAL] WRAPPER
	WithConditionalWrapper
)

// JSONClauses are the clauses that a JSON function may have behind its arguments.
type JSONClauses struct {
	Returning *types.Type
	Wrapper   JSONWrapper
	OnEmpty   JSONOn
	OnError   JSONOn
	Nulls     NullTreatment // NULL ON NULL, ABSENT ON NULL
}

// NewJSONCall binds JSON_EXISTS, JSON_VALUE, JSON_QUERY, JSON_OBJECT (keys and values alternating) or JSON_ARRAY with
// their clauses. The error is a *TypeError.
func NewJSONCall(name string, args []Expr, c JSONClauses, pos Pos) (Expr, error) {
	b := &binding{name: name, pos: pos, args: args}
	for _, on := range [...]*JSONOn{&c.OnEmpty, &c.OnError} {
		if on.Behavior == JSONDefault {
			if _, ok := constOf(on.Default); !ok {
				return nil, b.errorf("The value of DEFAULT in %s must be a literal", name)
			}
		}
	}
	clauses := &jsonClauses{JSONClauses: c}
	f := Lookup(name)
	if f == nil {
		return nil, unknown(name, args, pos)
	}
	call, err := NewCall(name, append(append([]Expr(nil), args...), &Const{Value: types.AnyDatum(clauses), T: clausesType}), pos)
	if err != nil {
		return nil, err
	}
	return call, nil
}

// jsonClauses stand as the last argument of a call, a constant of their own type.
type jsonClauses struct {
	JSONClauses
	made []bool // of JSON_OBJECT and JSON_ARRAY: which arguments are JSON made by a nested constructor
}

// String prints the clauses as plans do.
func (c *jsonClauses) String() string {
	returning := ""
	if c.Returning != nil {
		returning = c.Returning.String()
	}
	return fmt.Sprintf("FLAG(%s %d %s %s %d %v)", returning, c.Wrapper, c.OnEmpty, c.OnError, c.Nulls, c.made)
}

// String prints the behaviour.
func (o JSONOn) String() string {
	word := [...]string{"", "ERROR", "NULL", "TRUE", "FALSE", "UNKNOWN", "EMPTY ARRAY", "EMPTY OBJECT", "DEFAULT"}[o.Behavior]
	if o.Default != nil {
		word += " " + o.Default.String()
	}
	return word
}

var clausesType = types.Type{Kind: types.Raw, Class: "JSON CLAUSES", NotNull: true}

// jsonFunctionTable are the functions of JSON.
func jsonFunctionTable() []Function {
	test := func(name, doc string, want bool, begins string) Function {
		return Function{Name: name, Doc: doc, Operator: true, safe: true, form: asPostfix, forms: "'<CHARACTER> " + name + "'",
			bind: takes("CHARACTER").toSure(giveKind(types.Boolean)), kernel: isJSONKernel(want, begins)}
	}
	const scalars = `"tfn-0123456789`
	fs := []Function{
		{Name: "JSON_EXISTS", Doc: "JSON_EXISTS(json, path [{TRUE | FALSE | UNKNOWN | ERROR} ON ERROR]): whether the path finds something.",
			bind: bindJSONPath, kernel: jsonExistsKernel},
		{Name: "JSON_VALUE", Doc: "JSON_VALUE(json, path [RETURNING type] [.. ON EMPTY] [.. ON ERROR]): the scalar that the path finds.",
			bind: bindJSONPath, kernel: jsonValueKernel},
		{Name: "JSON_QUERY", Doc: "JSON_QUERY(json, path [.. WRAPPER] [.. ON EMPTY] [.. ON ERROR]): the array or object that the path finds, as JSON.",
			bind: bindJSONPath, kernel: jsonQueryKernel},
		{Name: "JSON_STRING", Doc: "JSON_STRING(a): the value as JSON.", bind: bindJSONString, kernel: jsonStringKernel,
			rewrite: func(b *binding, t types.Type) (Expr, error) {
				if jsonMade(b.args[0]) {
					return b.args[0], nil
				}
				return &Call{Func: b.fn, Args: b.args, T: t, Pos: b.pos}, nil
			}},
		{Name: "JSON_OBJECT", Doc: "JSON_OBJECT([[KEY] key VALUE value, ...] [{NULL | ABSENT} ON NULL]): an object as JSON.",
			bind: bindJSONObject, kernel: jsonObjectKernel},
		{Name: "JSON_ARRAY", Doc: "JSON_ARRAY([value, ...] [{NULL | ABSENT} ON NULL]): an array as JSON.", bind: bindJSONArray, kernel: jsonArrayKernel},
		{Name: "JSON_QUOTE", Doc: "JSON_QUOTE(text): as a JSON string.", safe: true, bind: takes("CHARACTER").to(giveText),
			kernel: pure1(quoteJSON)},
		{Name: "JSON_UNQUOTE", Doc: "JSON_UNQUOTE(text): the content of a JSON string.", safe: true, bind: takes("CHARACTER").to(giveText),
			kernel: pure1(unquoteJSON)},
	}
	for not, want := range map[string]bool{"": true, "NOT ": false} {
		fs = append(fs,
			test("IS "+not+"JSON VALUE", "whether a text is JSON.", want, scalars+"[{"),
			test("IS "+not+"JSON SCALAR", "whether a text is a JSON scalar.", want, scalars),
			test("IS "+not+"JSON ARRAY", "whether a text is a JSON array.", want, "["),
			test("IS "+not+"JSON OBJECT", "whether a text is a JSON object.", want, "{"))
	}
	return fs
}

// isJSONKernel says whether a text is JSON that begins with one of the given bytes.
func isJSONKernel(want bool, begins string) func(*compiler, *Call) (Eval, error) {
	return func(c *compiler, call *Call) (Eval, error) {
		args, err := c.args(call)
		if err != nil {
			return nil, err
		}
		out := newOutput(call.T)
		return func(b *types.Batch, sel []int32) (*types.Column, error) {
			var fail error
			x, sel := run(args[0], b, sel, &fail)
			out.start(b.Len)
			for _, i := range sel {
				ok := false
				if !x.Null(i) {
					s := jsonScanner{s: x.Str[i]}
					ok = strings.IndexByte(begins, s.peek()) >= 0 && s.skip() == nil
				}
				out.Int[i] = types.BoolDatum(ok == want).I
			}
			return out.Column, fail
		}, nil
	}
}

// clauses takes the clauses off the arguments; calls that were made without NewJSONCall have none.
func (b *binding) clauses() (*jsonClauses, []Expr) {
	if n := len(b.args); n > 0 {
		if c := clausesOf(b.args[n-1]); c != nil {
			return c, b.args[:n-1]
		}
	}
	c := &jsonClauses{}
	b.args = append(b.args, &Const{Value: types.AnyDatum(c), T: clausesType})
	return c, b.args[:len(b.args)-1]
}

func clausesOf(e Expr) *jsonClauses {
	if k, ok := e.(*Const); ok && k.T.Class == clausesType.Class {
		if c, ok := k.Value.A.(*jsonClauses); ok {
			return c
		}
	}
	return nil
}

func bindJSONPath(b *binding) (types.Type, error) {
	c, args := b.clauses()
	sub := &binding{fn: b.fn, name: b.name, args: args, pos: b.pos}
	if err := takes("CHARACTER, CHARACTER").check(sub); err != nil {
		return types.Type{}, err
	}
	if b.fn.Name == "JSON_EXISTS" {
		return types.Of(types.Boolean), nil
	}
	t := types.String()
	if c.Returning == nil {
		return t, nil
	}
	r := *c.Returning
	if b.fn.Name == "JSON_VALUE" {
		switch r.Kind {
		case types.Varchar, types.Boolean, types.Int, types.Double:
			return r.Optional(), nil
		}
		return types.Type{}, b.errorf("Unsupported type '%s' for RETURNING in JSON_VALUE().", r.Optional())
	}
	switch {
	case r.Kind == types.Varchar:
		return r.Optional(), nil
	case r.Kind == types.Array && r.Elem.Kind == types.Varchar:
		for _, on := range [...]struct {
			word string
			on   JSONOn
		}{{"empty", c.OnEmpty}, {"error", c.OnError}} {
			if on.on.Behavior == JSONEmptyObject {
				return types.Type{}, b.errorf("Illegal on %s behavior 'EMPTY OBJECT' for return type: VARCHAR(%d) ARRAY", on.word, r.Elem.Precision)
			}
		}
		return r.Optional(), nil
	case r.Kind == types.Array:
		return types.Type{}, b.errorf("Unsupported array element type '%s' for RETURNING ARRAY in JSON_QUERY().", typeWord(*r.Elem))
	}
	return types.Type{}, b.errorf("Unsupported type '%s' for RETURNING in JSON_QUERY().", typeWord(r))
}

// jsonPathKernel compiles the two arguments and calls f with document and path of each row.
func (c *compiler) jsonPathKernel(call *Call, f func(*jsonResult) (types.Datum, error)) (Eval, error) {
	args, err := c.args(&Call{Func: call.Func, Args: call.Args[:2], T: call.T})
	if err != nil {
		return nil, err
	}
	var ctx jsonContext
	var r jsonResult
	out := newOutput(call.T)
	return func(b *types.Batch, sel []int32) (*types.Column, error) {
		var fail error
		x, sel := run(args[0], b, sel, &fail)
		y, sel := run(args[1], b, sel, &fail)
		out.start(b.Len)
		for _, i := range sel {
			if x.Null(i) || y.Null(i) {
				out.null(i)
				continue
			}
			ctx.find(x.Str[i], y.Str[i], &r)
			d, err := f(&r)
			if err != nil {
				return out.Column, at(i, err)
			}
			if d.Null {
				out.null(i)
				continue
			}
			put(out.Column, i, d)
		}
		return out.Column, fail
	}, nil
}

func jsonExistsKernel(c *compiler, call *Call) (Eval, error) {
	on := clausesOf(call.Args[2]).OnError.Behavior
	return c.jsonPathKernel(call, func(r *jsonResult) (types.Datum, error) {
		if r.err == nil {
			return types.BoolDatum(r.found), nil
		}
		switch on {
		case JSONTrue:
			return types.BoolDatum(true), nil
		case JSONUnknown:
			return types.NullDatum(), nil
		case JSONError:
			return types.Datum{}, r.err
		}
		return types.BoolDatum(false), nil
	})
}

func jsonValueKernel(c *compiler, call *Call) (Eval, error) {
	cl := clausesOf(call.Args[2])
	empty, emptyErr := jsonDefault(cl.OnEmpty, call.T)
	failed, failedErr := jsonDefault(cl.OnError, call.T)
	t, arena := call.T, &types.Arena{}
	return c.jsonPathKernel(call, func(r *jsonResult) (types.Datum, error) {
		outcome, err := r.value()
		if outcome == jsonFound {
			return r.convert(t, arena)
		}
		on, d, bad := cl.OnError.Behavior, failed, failedErr
		if outcome == jsonEmpty {
			on, d, bad = cl.OnEmpty.Behavior, empty, emptyErr
		}
		switch on {
		case JSONError:
			return types.Datum{}, err
		case JSONDefault:
			return d, bad
		}
		return types.NullDatum(), nil
	})
}

// jsonDefault gives the value of DEFAULT in the type of the call.
func jsonDefault(on JSONOn, t types.Type) (types.Datum, error) {
	if on.Behavior != JSONDefault {
		return types.NullDatum(), nil
	}
	e, err := NewCast(on.Default, t, false, Pos{})
	if err != nil {
		return types.Datum{}, err
	}
	return Evaluate(e, nil)
}

func jsonQueryKernel(c *compiler, call *Call) (Eval, error) {
	cl := clausesOf(call.Args[2])
	array := call.T.Kind == types.Array
	var keys []string
	arena := &types.Arena{}
	give := func(n *jsonNode) types.Datum {
		if array {
			return jsonTexts(n)
		}
		return types.StrDatum(string(appendNode(nil, n)))
	}
	return c.jsonPathKernel(call, func(r *jsonResult) (types.Datum, error) {
		if !array && r.nested() && (cl.Wrapper == WithoutWrapper || cl.Wrapper == WithConditionalWrapper && r.span.kind == jsonArray) {
			p := jsonScanner{s: r.doc, at: r.span.start}
			text, ok := p.appendCompact(arena.Buf(), &keys)
			if keys = keys[:0]; ok {
				return types.StrDatum(arena.Take(text)), nil
			}
		}
		n, outcome, err := r.query(cl.Wrapper)
		if outcome == jsonFound && (!array || n.kind == jsonArray) {
			return give(n), nil
		}
		on := cl.OnError.Behavior
		if outcome == jsonEmpty {
			on = cl.OnEmpty.Behavior
		}
		if outcome == jsonFound {
			err = errNotNested(n)
		}
		switch on {
		case JSONError:
			return types.Datum{}, err
		case JSONEmptyArray:
			return give(&jsonNode{kind: jsonArray}), nil
		case JSONEmptyObject:
			return give(&jsonNode{kind: jsonObject}), nil
		}
		return types.NullDatum(), nil
	})
}

// jsonTexts gives the elements of an array as texts: scalars as they are, nested values as JSON.
func jsonTexts(n *jsonNode) types.Datum {
	list := &types.List{}
	for _, e := range n.elems {
		switch {
		case e.kind == jsonNull:
			list.Elems = append(list.Elems, types.NullDatum())
		case e.scalar():
			list.Elems = append(list.Elems, types.StrDatum(e.text))
		default:
			list.Elems = append(list.Elems, types.StrDatum(string(appendNode(nil, e))))
		}
	}
	return types.AnyDatum(list)
}
