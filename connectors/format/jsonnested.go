package format

import (
	"math"
	"strconv"
	"unicode/utf8"

	"runnel/types"
)

// nested reads an element of a nested value, null included. What cannot be read becomes NULL if errors are ignored.
func (d *jsonDecoder) nested(n *jsonNode) (types.Datum, outcome) {
	if d.token() == 'n' {
		return types.NullDatum(), d.word("null")
	}
	start, depth := d.at, d.depth
	v, o := d.datum(n)
	if o == badValue && d.ignore {
		return types.NullDatum(), d.skipBad(start, depth)
	}
	return v, o
}

func (d *jsonDecoder) list(n *jsonNode) (types.Datum, outcome) {
	if d.token() != '[' {
		return types.Datum{}, d.wrongKind("expected an array")
	}
	l := &types.List{Elems: []types.Datum{}}
	o := d.array(func() outcome {
		v, o := d.nested(n.elem)
		l.Elems = append(l.Elems, v)
		return o
	})
	return types.AnyDatum(l), o
}

func (d *jsonDecoder) mapValue(n *jsonNode) (types.Datum, outcome) {
	if d.token() != '{' {
		if d.tree {
			return types.AnyDatum(&types.MapValue{}), d.skip()
		}
		return types.Datum{}, d.wrongKind("expected an object")
	}
	m := &types.MapValue{}
	at := map[string]int{}
	o := d.object(func(key string) outcome {
		v, o := d.nested(n.elem)
		if i, ok := at[key]; ok {
			m.Vals[i] = v // the last of equal keys counts
			return o
		}
		at[key] = len(m.Keys)
		m.Keys = append(m.Keys, types.StrDatum(key))
		m.Vals = append(m.Vals, v)
		return o
	})
	return types.AnyDatum(m), o
}

func (d *jsonDecoder) tuple(n *jsonNode) (types.Datum, outcome) {
	if d.token() != '{' {
		return types.Datum{}, d.wrongKind("expected an object")
	}
	t := &types.Tuple{Fields: make([]types.Datum, len(n.fields))}
	for i := range t.Fields {
		t.Fields[i].Null = true
	}
	seen := make([]bool, len(n.fields))
	left := len(n.fields)
	o := d.object(func(key string) outcome {
		f, ok := n.byName[key]
		if !ok || left == 0 {
			return d.skip()
		}
		if !d.tree {
			left--
		}
		seen[f] = true
		v, o := d.nested(&n.fields[f])
		t.Fields[f] = v
		if o == badValue {
			d.why = "field " + n.fields[f].name + ": " + d.why
		}
		return o
	})
	if o == good && d.failMissing && left > 0 {
		for f := range seen {
			if !seen[f] {
				return types.Datum{}, d.fail(badValue, "field "+n.fields[f].name+" is missing")
			}
		}
	}
	return types.AnyDatum(t), o
}

// anyText reads a value of any kind as a text: strings as they are, numbers and booleans as they are written, objects and
// arrays as JSON without white space.
func (d *jsonDecoder) anyText() (string, outcome) {
	start := d.at
	switch b := d.token(); b {
	case '"':
		return d.text()
	case '{', '[':
		out, o := d.compact(make([]byte, 0, 64))
		if o != good {
			return "", o
		}
		return string(out), good
	case 't', 'f':
		o := d.skip()
		return d.s[start:d.at], o
	default:
		text, float, o := d.number()
		if o == good && d.tree {
			return string(appendTreeNumber(nil, text, float)), good
		}
		return text, o
	}
}

// compact reads a value and appends it as Jackson writes its tree: no white space, numbers with a fraction or exponent as
// Java doubles, of equal keys the last value.
func (d *jsonDecoder) compact(dst []byte) ([]byte, outcome) {
	switch d.token() {
	case '"':
		s, o := d.text()
		return appendTreeString(dst, s), o
	case '[':
		dst = append(dst, '[')
		first := true
		o := d.array(func() (o outcome) {
			if !first {
				dst = append(dst, ',')
			}
			first = false
			dst, o = d.compact(dst)
			return o
		})
		return append(dst, ']'), o
	case '{':
		return d.compactObject(dst)
	case 't', 'f', 'n':
		start := d.at
		o := d.skip()
		return append(dst, d.s[start:d.at]...), o
	default:
		text, float, o := d.number()
		return appendTreeNumber(dst, text, float), o
	}
}

func (d *jsonDecoder) compactObject(dst []byte) ([]byte, outcome) {
	type member struct{ key, value []byte }
	var members []member
	at := map[string]int{}
	o := d.object(func(key string) outcome {
		v, o := d.compact(nil)
		if i, ok := at[key]; ok {
			members[i].value = v
			return o
		}
		at[key] = len(members)
		members = append(members, member{appendTreeString(nil, key), v})
		return o
	})
	dst = append(dst, '{')
	for i, m := range members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, m.key...), ':'), m.value...)
	}
	return append(dst, '}'), o
}

// appendTreeNumber appends a number as Jackson's tree prints it.
func appendTreeNumber(dst []byte, text string, float bool) []byte {
	if !float {
		if text == "-0" {
			text = "0"
		}
		return append(dst, text...)
	}
	f, _ := strconv.ParseFloat(text, 64)
	if math.IsInf(f, 0) {
		dst = append(dst, '"')
		return append(types.AppendDouble(dst, f), '"')
	}
	return types.AppendDouble(dst, f)
}

// appendTreeString appends a string in quotes, characters beyond U+FFFF as they are.
func appendTreeString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r < 0x20 || r == '"' || r == '\\' {
			dst = appendEscape(dst, byte(r))
		} else {
			dst = append(dst, s[i:i+n]...)
		}
		i += n
	}
	return append(dst, '"')
}
