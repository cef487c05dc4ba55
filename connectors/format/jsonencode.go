package format

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf8"

	"runnel/connectors"
	"runnel/types"
)

// jsonEncoder writes rows as JSON objects with the columns in order.
type jsonEncoder struct {
	root        jsonNode
	keys        []string // {"name": or ,"name": of each column
	iso         bool
	plain       bool // DECIMAL without exponent
	ignoreNulls bool
	nullKey     nullKeyMode
	literal     string
}

// nullKeyMode is map-null-key.mode.
type nullKeyMode uint8

const (
	nullKeyFail nullKeyMode = iota
	nullKeyDrop
	nullKeyLiteral
)

func newJSONEncoder(r connectors.FormatRequest) (connectors.Encoder, error) {
	e := &jsonEncoder{literal: r.Options.Get(optNullKeyLiteral)}
	err := readFlags(r.Options, flag{&e.plain, optPlainDecimal}, flag{&e.ignoreNulls, optIgnoreNulls})
	if err != nil {
		return nil, err
	}
	if e.iso, err = isoTimestamps(r); err != nil {
		return nil, err
	}
	switch v := r.Options.Get(optNullKeyMode); strings.ToUpper(v) {
	case "FAIL":
	case "DROP":
		e.nullKey = nullKeyDrop
	case "LITERAL":
		e.nullKey = nullKeyLiteral
	default:
		return nil, fmt.Errorf("Unsupported value '%s' for option %s. Supported values are [FAIL, DROP, LITERAL].", v, optNullKeyMode.Key)
	}
	if err := jsonFieldsError(r.Fields); err != nil {
		return nil, err
	}
	e.root = newJSONNode("", types.RowOf(r.Fields...))
	for i, f := range r.Fields {
		key := []byte{','}
		if i == 0 {
			key[0] = '{'
		}
		e.keys = append(e.keys, string(append(appendJSONString(key, f.Name), ':')))
	}
	return e, nil
}

// Encode implements connectors.Encoder.
func (e *jsonEncoder) Encode(dst []byte, rows *types.Batch, i int32) ([]byte, error) {
	start := len(dst)
	var err error
	for k := range e.root.fields {
		n, c := &e.root.fields[k], rows.Cols[k]
		if c.Valid != nil && !c.Valid.Has(i) {
			if !e.ignoreNulls {
				dst = append(append(dst, e.keys[k]...), "null"...)
			}
			continue
		}
		if len(dst) > start || k == 0 {
			dst = append(dst, e.keys[k]...)
		} else {
			dst = append(append(dst, '{'), e.keys[k][1:]...)
		}
		switch n.kind {
		case jsonInt, jsonBigInt:
			dst = strconv.AppendInt(dst, c.Int[i], 10)
		case jsonString:
			dst = appendJSONString(dst, c.Str[i])
		case jsonDouble:
			dst = appendJSONFloat(dst, c.Flt[i], false)
		case jsonTimestamp, jsonLTZ:
			us, ns := int64(0), 0
			if c.Phys() == types.PhysInt {
				us = c.Int[i]
			} else {
				us, ns = c.Wide[i].Hi, int(c.Wide[i].Lo)
			}
			dst = append(appendStamp(append(dst, '"'), us, ns, e.iso, n.kind == jsonLTZ), '"')
		default:
			d := c.At(i)
			if dst, err = e.value(dst, n, &d); err != nil {
				return dst[:start], fmt.Errorf("column %s: %w", n.name, err)
			}
		}
	}
	if len(dst) == start {
		dst = append(dst, '{')
	}
	return append(dst, '}'), nil
}

// value appends a value.
func (e *jsonEncoder) value(dst []byte, n *jsonNode, d *types.Datum) ([]byte, error) {
	if d.Null {
		return append(dst, "null"...), nil
	}
	switch n.kind {
	case jsonBool:
		return strconv.AppendBool(dst, d.I != 0), nil
	case jsonTiny, jsonSmall, jsonInt, jsonBigInt:
		return strconv.AppendInt(dst, d.I, 10), nil
	case jsonFloat, jsonDouble:
		return appendJSONFloat(dst, d.Float(), n.kind == jsonFloat), nil
	case jsonDecimal:
		return e.decimal(dst, &n.t, d), nil
	case jsonString:
		return appendJSONString(dst, d.S), nil
	case jsonBytes:
		dst = base64.StdEncoding.AppendEncode(append(dst, '"'), []byte(d.S))
		return append(dst, '"'), nil
	case jsonDate:
		return append(appendYearDate(append(dst, '"'), d.I), '"'), nil
	case jsonTime:
		dst = types.AppendClock(append(dst, '"'), int(d.I/1000))
		return append(appendNanos(dst, int(d.I%1000)*1_000_000), '"'), nil
	case jsonTimestamp, jsonLTZ:
		ns := 0
		if n.t.Precision > 6 {
			ns = int(d.Lo)
		}
		return append(appendStamp(append(dst, '"'), d.I, ns, e.iso, n.kind == jsonLTZ), '"'), nil
	case jsonArray:
		return e.list(dst, n, d.A.(*types.List))
	case jsonMap:
		return e.mapValue(dst, n, d.A.(*types.MapValue))
	case jsonRow:
		return e.tuple(dst, n, d.A.(*types.Tuple))
	}
	return append(dst, "null"...), nil
}

func appendJSONFloat(dst []byte, f float64, single bool) []byte {
	odd := math.IsNaN(f) || math.IsInf(f, 0)
	if odd {
		dst = append(dst, '"')
	}
	if single {
		dst = types.AppendFloat(dst, f)
	} else {
		dst = types.AppendDouble(dst, f)
	}
	if odd {
		dst = append(dst, '"')
	}
	return dst
}

// decimal appends a number without trailing zeros, with an exponent where Java's BigDecimal has one unless it must be plain.
func (e *jsonEncoder) decimal(dst []byte, t *types.Type, d *types.Datum) []byte {
	v, scale := stripZeros(decimalOf(t, d), t.Scale)
	if e.plain {
		return appendPlain(dst, v, scale)
	}
	return types.AppendBigDecimal(dst, v, scale)
}

// decimalOf gives the unscaled value of a DECIMAL.
func decimalOf(t *types.Type, d *types.Datum) types.Int128 {
	if t.Precision > 18 {
		return d.Wide()
	}
	return types.Int128Of(d.I)
}

// stripZeros takes trailing zeros off, also those before the point: the scale may become negative. Zero has scale 0.
func stripZeros(v types.Int128, scale int) (types.Int128, int) {
	if v.Sign() == 0 {
		return v, 0
	}
	ten := types.Int128Of(10)
	for types.DecimalMod(v, 0, ten, 0).Sign() == 0 {
		v, _ = v.Rescale(1, 0, types.MaxDecimal)
		scale--
	}
	return v, scale
}

// appendPlain appends a number without an exponent.
func appendPlain(dst []byte, v types.Int128, scale int) []byte {
	dst = types.AppendDecimal(dst, v, max(scale, 0))
	for ; scale < 0; scale++ {
		dst = append(dst, '0')
	}
	return dst
}

func (e *jsonEncoder) list(dst []byte, n *jsonNode, l *types.List) ([]byte, error) {
	dst = append(dst, '[')
	var err error
	for i := range l.Elems {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = e.value(dst, n.elem, &l.Elems[i]); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), nil
}

var errNullKey = errors.New("JSON format doesn't support to serialize map data with null keys. You can drop null key entries or encode " +
	"null in literals by specifying map-null-key.mode option.")

func (e *jsonEncoder) mapValue(dst []byte, n *jsonNode, m *types.MapValue) ([]byte, error) {
	dst = append(dst, '{')
	first := true
	var err error
	for i := range m.Keys {
		key := m.Keys[i].S
		if m.Keys[i].Null {
			switch {
			case e.nullKey == nullKeyFail:
				return dst, errNullKey
			case e.nullKey == nullKeyDrop || hasKey(m, e.literal):
				continue
			}
			key = e.literal
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(appendJSONString(dst, key), ':')
		if dst, err = e.value(dst, n.elem, &m.Vals[i]); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

// hasKey reports whether the map has the key itself: it goes before a NULL key that would be written the same.
func hasKey(m *types.MapValue, key string) bool {
	for i := range m.Keys {
		if !m.Keys[i].Null && m.Keys[i].S == key {
			return true
		}
	}
	return false
}

func (e *jsonEncoder) tuple(dst []byte, n *jsonNode, t *types.Tuple) ([]byte, error) {
	dst = append(dst, '{')
	first := true
	var err error
	for i := range n.fields {
		if t.Fields[i].Null && e.ignoreNulls {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(appendJSONString(dst, n.fields[i].name), ':')
		if dst, err = e.value(dst, &n.fields[i], &t.Fields[i]); err != nil {
			return dst, fmt.Errorf("field %s: %w", n.fields[i].name, err)
		}
	}
	return append(dst, '}'), nil
}

// appendJSONString appends s in quotes: control characters, quotes and backslashes escaped, characters beyond U+FFFF as a
// pair of escapes, everything else as it is. What is not UTF-8 becomes U+FFFD.
func appendJSONString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	i := 0
	for i+8 <= len(s) { // eight plain ASCII characters at a time
		w := load64(s, i)
		ctl := (w - ones*0x20) &^ w & highs
		if m := ctl | hasByte(w, '"') | hasByte(w, '\\') | w&highs; m != 0 {
			i += bits.TrailingZeros64(m) / 8
			return appendOddString(dst, s, i)
		}
		i += 8
	}
	for ; i < len(s); i++ {
		if b := s[i]; b < 0x20 || b == '"' || b == '\\' || b >= utf8.RuneSelf {
			return appendOddString(dst, s, i)
		}
	}
	return append(append(dst, s...), '"')
}

// appendOddString goes on at the first character that may need an escape.
func appendOddString(dst []byte, s string, i int) []byte {
	from := 0
	for i < len(s) {
		b := s[i]
		if b >= 0x20 && b < utf8.RuneSelf && b != '"' && b != '\\' {
			i++
			continue
		}
		if b < utf8.RuneSelf {
			dst = appendEscape(append(dst, s[from:i]...), b)
			i++
			from = i
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			dst = append(append(dst, s[from:i]...), "\ufffd"...)
			from = i + n
		case r > 0xffff:
			r -= 0x10000
			dst = append(dst, s[from:i]...)
			dst = appendUnicode(appendUnicode(dst, 0xd800+r>>10), 0xdc00+r&0x3ff)
			from = i + n
		}
		i += n
	}
	return append(append(dst, s[from:]...), '"')
}

// appendEscape appends the escape of an ASCII character.
func appendEscape(dst []byte, b byte) []byte {
	switch b {
	case '"', '\\':
		return append(dst, '\\', b)
	case '\b':
		return append(dst, `\b`...)
	case '\f':
		return append(dst, `\f`...)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	}
	return appendUnicode(dst, rune(b))
}

func appendUnicode(dst []byte, r rune) []byte {
	const hex = "0123456789ABCDEF"
	return append(dst, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
}
