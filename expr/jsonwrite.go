package expr

import (
	"encoding/base64"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"runnel/types"
)

// appendJSONString writes a text as JSON does: quotes, backslashes and control characters are escaped.
func appendJSONString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from := 0
	for i := range len(s) {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, `\n`...)
		case '\r':
			dst = append(dst, `\r`...)
		case '\t':
			dst = append(dst, `\t`...)
		case '\b':
			dst = append(dst, `\b`...)
		case '\f':
			dst = append(dst, `\f`...)
		default:
			dst = append(dst, `\u00`...)
			dst = append(dst, upperHex[c>>4], upperHex[c&15])
		}
	}
	return append(append(dst, s[from:]...), '"')
}

// appendNode writes a parsed value without blanks.
func appendNode(dst []byte, n *jsonNode) []byte {
	switch n.kind {
	case jsonNull:
		return append(dst, "null"...)
	case jsonString:
		return appendJSONString(dst, n.text)
	case jsonArray:
		dst = append(dst, '[')
		for i, e := range n.elems {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendNode(dst, e)
		}
		return append(dst, ']')
	case jsonObject:
		dst = append(dst, '{')
		for i, e := range n.elems {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendJSONString(dst, n.keys[i]), ':')
			dst = appendNode(dst, e)
		}
		return append(dst, '}')
	}
	return append(dst, n.text...)
}

// appendCompact writes the value that p is at as appendNode writes it, without building it. It gives up on an object with
// two equal keys; keys is scratch memory for those of the open objects. The value has been checked.
func (p *jsonScanner) appendCompact(dst []byte, keys *[]string) ([]byte, bool) {
	switch c := p.peek(); c {
	case '{', '[':
		p.at++
		dst = append(dst, c)
		own := len(*keys)
		for first := true; p.peek() != c+2; first = false {
			if !first {
				p.at++
				dst = append(dst, ',')
			}
			if c == '{' {
				p.peek()
				key, err := p.key()
				if err != nil || slices.Contains((*keys)[own:], key) {
					return dst, false
				}
				*keys = append(*keys, key)
				dst = append(appendJSONString(dst, key), ':')
			}
			var ok bool
			if dst, ok = p.appendCompact(dst, keys); !ok {
				return dst, false
			}
		}
		p.at++
		*keys = (*keys)[:own]
		return append(dst, c+2), true
	case '"':
		raw, escaped, _ := p.span()
		if escaped {
			return appendJSONString(dst, unescapeJSON(raw)), true
		}
		return append(append(append(dst, '"'), raw...), '"'), true
	case 't', 'f', 'n':
		word, _ := p.word()
		return append(dst, word...), true
	}
	text, float, _ := p.number()
	if float {
		return appendJavaNumber(dst, text), true
	}
	return append(dst, javaNumber(text, false)...), true
}

// jsonWritable says in Flink's words why a type has no JSON form; "" when it has one.
func jsonWritable(t types.Type) string {
	switch t.Kind {
	case types.Date, types.Time, types.IntervalMonths, types.IntervalMillis, types.Raw:
		return "Type '" + t.String() + "' is not scalar or cannot be converted into JSON."
	case types.Null:
		return "Type is not supported: ANY"
	case types.Array:
		if t.Elem.Kind == types.Null {
			return ""
		}
		return jsonWritable(*t.Elem)
	case types.Map, types.Multiset:
		if k := keyType(t); !k.IsString() {
			return "Type '" + k.String() + "' is not supported for JSON conversion. The key type must be a character string."
		}
		return jsonWritable(valueType(t))
	case types.Row:
		for _, f := range t.Fields {
			if msg := jsonWritable(f.Type); msg != "" {
				return msg
			}
		}
	}
	return ""
}

// appendJSON writes a value of a type that is writable. Keys of objects are sorted.
func appendJSON(dst []byte, t types.Type, d types.Datum) ([]byte, error) {
	if d.Null {
		return append(dst, "null"...), nil
	}
	switch t.Kind {
	case types.Boolean:
		return strconv.AppendBool(dst, d.Bool()), nil
	case types.Char, types.Varchar:
		return appendJSONString(dst, d.S), nil
	case types.Binary, types.Varbinary:
		dst = append(dst, '"')
		dst = base64.StdEncoding.AppendEncode(dst, []byte(d.S))
		return append(dst, '"'), nil
	case types.Float, types.Double:
		f := d.Float()
		special := math.IsNaN(f) || math.IsInf(f, 0)
		if special {
			dst = append(dst, '"')
		}
		if t.Kind == types.Float {
			dst = types.AppendFloat(dst, f)
		} else {
			dst = types.AppendDouble(dst, f)
		}
		if special {
			dst = append(dst, '"')
		}
		return dst, nil
	case types.Decimal:
		v := types.Int128Of(d.I)
		if t.Phys() == types.PhysWide {
			v = d.Wide()
		}
		return appendStripped(dst, v, t.Scale), nil
	case types.Timestamp, types.TimestampLTZ:
		return appendJSONTime(dst, t, d), nil
	case types.Array:
		return appendJSONList(dst, *t.Elem, d.A.(*types.List).Elems)
	case types.Map, types.Multiset:
		m := d.A.(*types.MapValue)
		keys := make([]string, len(m.Keys))
		for i, k := range m.Keys {
			if k.Null {
				return dst, fmt.Errorf("Key of map must not be NULL in JSON")
			}
			keys[i] = k.S
		}
		return appendJSONObject(dst, keys, m.Vals, func(int) types.Type { return valueType(t) })
	case types.Row:
		keys := make([]string, len(t.Fields))
		for i, f := range t.Fields {
			keys[i] = f.Name
		}
		return appendJSONObject(dst, keys, d.A.(*types.Tuple).Fields, func(i int) types.Type { return t.Fields[i].Type })
	}
	return strconv.AppendInt(dst, d.I, 10), nil
}

func appendJSONList(dst []byte, t types.Type, elems []types.Datum) (_ []byte, err error) {
	dst = append(dst, '[')
	for i, e := range elems {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = appendJSON(dst, t, e); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), nil
}

func appendJSONObject(dst []byte, keys []string, vals []types.Datum, t func(int) types.Type) (_ []byte, err error) {
	index := make([]int, len(keys))
	for i := range index {
		index[i] = i
	}
	slices.SortFunc(index, func(a, b int) int { return strings.Compare(keys[a], keys[b]) })
	dst = append(dst, '{')
	for n, i := range index {
		if n > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendJSONString(dst, keys[i]), ':')
		if dst, err = appendJSON(dst, t(i), vals[i]); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

// appendStripped writes a decimal without trailing zeros, as BigDecimal.toString does after stripTrailingZeros: with an
// exponent where the scale became negative.
func appendStripped(dst []byte, v types.Int128, scale int) []byte {
	if v.Sign() == 0 {
		return append(dst, '0')
	}
	for {
		q := cutDigits(v, 1)
		back, _ := q.Mul(types.Int128Of(10))
		if back != v {
			break
		}
		v = q
		scale--
	}
	return types.AppendBigDecimal(dst, v, scale)
}

// appendJSONTime writes ISO 8601 with the digits of the fraction that are needed; an instant in UTC with a Z.
func appendJSONTime(dst []byte, t types.Type, d types.Datum) []byte {
	us, ns := d.I, 0
	if t.Phys() == types.PhysWide {
		us, ns = d.Wide().Hi, int(d.Wide().Lo)
	}
	dst = append(dst, '"')
	from := len(dst)
	dst = types.AppendTimestamp(dst, us, ns, 0) // as many digits as are needed
	if at := slices.Index(dst[from:], ' '); at >= 0 {
		dst[from+at] = 'T'
	}
	if t.Kind == types.TimestampLTZ {
		dst = append(dst, 'Z')
	}
	return append(dst, '"')
}
