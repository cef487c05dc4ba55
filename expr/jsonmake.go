package expr

import (
	"strings"
	"unicode/utf16"

	"runnel/types"
)

func bindJSONString(b *binding) (types.Type, error) {
	if len(b.args) != 1 {
		return types.Type{}, b.wrongCount(1)
	}
	t := b.args[0].Type()
	if msg := jsonWritable(t); msg != "" {
		return types.Type{}, b.errorf("%s", msg)
	}
	return types.String().Nullable(!t.NotNull), nil
}

func jsonStringKernel(c *compiler, call *Call) (Eval, error) {
	t := call.Args[0].Type()
	return boxed(false, func(*Call) func([]types.Datum) (types.Datum, error) {
		var buf []byte
		return func(row []types.Datum) (types.Datum, error) {
			var err error
			buf, err = appendJSON(buf[:0], t, row[0])
			return types.StrDatum(string(buf)), err
		}
	})(c, call)
}

// note keeps which arguments are JSON, before they are folded to texts.
func (c *jsonClauses) note(args []Expr) {
	c.made = make([]bool, len(args))
	for i, a := range args {
		c.made[i] = jsonMade(a)
	}
}

// MadeJSON reports whether an expression is JSON that JSON_OBJECT or JSON_ARRAY makes: within another JSON constructor or
// aggregate it is no text but a part.
func MadeJSON(e Expr) bool { return jsonMade(e) }

// jsonMade reports whether an argument is JSON that a nested constructor makes: it goes in as it is.
func jsonMade(e Expr) bool {
	for {
		switch n := e.(type) {
		case *Cast:
			if !n.Implicit {
				return false
			}
			e = n.Arg
		case *Call:
			return n.Func.Name == "JSON_OBJECT" || n.Func.Name == "JSON_ARRAY"
		default:
			return false
		}
	}
}

func bindJSONObject(b *binding) (types.Type, error) {
	c, args := b.clauses()
	c.note(args)
	if len(args)%2 != 0 {
		return types.Type{}, b.wrongCount(2)
	}
	for i, a := range args {
		t := a.Type()
		if i%2 == 0 {
			if !t.IsString() {
				return types.Type{}, b.errorf("Expected a character type")
			}
			if k, ok := constOf(a); !ok || k.Null {
				return types.Type{}, b.errorf("The keys of JSON_OBJECT must be string literals")
			}
			continue
		}
		if msg := jsonWritable(t); msg != "" {
			return types.Type{}, b.errorf("%s", msg)
		}
	}
	return types.String().Required(), nil
}

// jsonObjectKernel writes the keys in order; of equal keys the last value counts. NULL is kept unless it is to be absent.
func jsonObjectKernel(c *compiler, call *Call) (Eval, error) {
	cl, args := splitClauses(call)
	absent := cl.Nulls == NullsSkipped
	type member struct {
		key  string
		at   int
		made bool
	}
	var members []member
	for i := 0; i < len(args); i += 2 {
		k, _ := constOf(args[i])
		m := member{k.S, i + 1, cl.made[i+1]}
		at := 0
		for at < len(members) && members[at].key < m.key {
			at++
		}
		if at < len(members) && members[at].key == m.key {
			members[at] = m
			continue
		}
		members = append(members[:at], append([]member{m}, members[at:]...)...)
	}
	ts := typesOf(args)
	return c.jsonWriter(call, args, func(dst []byte, row []types.Datum) ([]byte, error) {
		dst = append(dst, '{')
		first := true
		for _, m := range members {
			if row[m.at].Null && absent {
				continue
			}
			if !first {
				dst = append(dst, ',')
			}
			first = false
			dst = append(appendJSONString(dst, m.key), ':')
			var err error
			if dst, err = appendMember(dst, ts[m.at], row[m.at], m.made); err != nil {
				return dst, err
			}
		}
		return append(dst, '}'), nil
	})
}

func appendMember(dst []byte, t types.Type, d types.Datum, made bool) ([]byte, error) {
	if made && !d.Null {
		return append(dst, d.S...), nil
	}
	return appendJSON(dst, t, d)
}

// splitClauses parts the clauses of a call from its arguments.
func splitClauses(call *Call) (*jsonClauses, []Expr) {
	n := len(call.Args) - 1
	return clausesOf(call.Args[n]), call.Args[:n]
}

// jsonWriter makes the kernel of a function that writes JSON from its arguments.
func (c *compiler) jsonWriter(call *Call, args []Expr, f func([]byte, []types.Datum) ([]byte, error)) (Eval, error) {
	evals, err := c.args(&Call{Func: call.Func, Args: args, T: call.T})
	if err != nil {
		return nil, err
	}
	arena := &types.Arena{}
	return datums(call.T, evals, func(row []types.Datum) (types.Datum, error) {
		buf, err := f(arena.Buf(), row)
		if err != nil {
			return types.Datum{}, err
		}
		return types.StrDatum(arena.Take(buf)), nil
	}), nil
}

func bindJSONArray(b *binding) (types.Type, error) {
	c, args := b.clauses()
	c.note(args)
	for _, a := range args {
		if msg := jsonWritable(a.Type()); msg != "" {
			return types.Type{}, b.errorf("%s", msg)
		}
	}
	return types.String().Required(), nil
}

// jsonArrayKernel leaves NULL out unless it is to be kept.
func jsonArrayKernel(c *compiler, call *Call) (Eval, error) {
	cl, args := splitClauses(call)
	keep := cl.Nulls == NullsKept
	ts := typesOf(args)
	return c.jsonWriter(call, args, func(dst []byte, row []types.Datum) ([]byte, error) {
		dst = append(dst, '[')
		first := true
		for i, d := range row {
			if d.Null && !keep {
				continue
			}
			if !first {
				dst = append(dst, ',')
			}
			first = false
			var err error
			if dst, err = appendMember(dst, ts[i], d, cl.made[i]); err != nil {
				return dst, err
			}
		}
		return append(dst, ']'), nil
	})
}

// quoteJSON escapes slashes and everything beyond ASCII too.
func quoteJSON(s string) string {
	var b []byte
	for _, c := range string(appendJSONString(nil, s)) {
		switch {
		case c == '/':
			b = append(b, `\/`...)
		case c < 0x7f:
			b = append(b, byte(c))
		default:
			for _, u := range utf16.Encode([]rune{c}) {
				b = append(b, '\\', 'u')
				for shift := 12; shift >= 0; shift -= 4 {
					b = append(b, "0123456789abcdef"[u>>shift&15])
				}
			}
		}
	}
	return string(b)
}

// unquoteJSON leaves what is no JSON string as it is.
func unquoteJSON(s string) string {
	if len(s) < 2 || !strings.HasPrefix(s, `"`) || !strings.HasSuffix(s, `"`) {
		return s
	}
	p := &jsonScanner{s: s}
	text, err := p.str()
	if err != nil || p.at != len(s) {
		return s
	}
	return text
}
