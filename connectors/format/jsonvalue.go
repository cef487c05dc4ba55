package format

import (
	"encoding/base64"
	"math"
	"strconv"
	"strings"

	"runnel/types"
)

// jsonKind is how a value of a type is read.
type jsonKind uint8

const (
	jsonNull jsonKind = iota
	jsonBool
	jsonTiny
	jsonSmall
	jsonInt
	jsonBigInt
	jsonFloat
	jsonDouble
	jsonDecimal
	jsonString
	jsonBytes
	jsonDate
	jsonTime
	jsonTimestamp
	jsonLTZ
	jsonArray
	jsonMap
	jsonRow
)

func jsonKindOf(t types.Type) jsonKind {
	switch t.Kind {
	case types.Boolean:
		return jsonBool
	case types.TinyInt:
		return jsonTiny
	case types.SmallInt:
		return jsonSmall
	case types.Int, types.IntervalMonths:
		return jsonInt
	case types.BigInt, types.IntervalMillis:
		return jsonBigInt
	case types.Float:
		return jsonFloat
	case types.Double:
		return jsonDouble
	case types.Decimal:
		return jsonDecimal
	case types.Char, types.Varchar:
		return jsonString
	case types.Binary, types.Varbinary:
		return jsonBytes
	case types.Date:
		return jsonDate
	case types.Time:
		return jsonTime
	case types.Timestamp:
		return jsonTimestamp
	case types.TimestampLTZ:
		return jsonLTZ
	case types.Array:
		return jsonArray
	case types.Map, types.Multiset:
		return jsonMap
	case types.Row:
		return jsonRow
	}
	return jsonNull
}

// datum reads a value that is not null. Nested values may hold NULLs for what cannot be read if errors are ignored.
func (d *jsonDecoder) datum(n *jsonNode) (types.Datum, outcome) {
	switch n.kind {
	case jsonBool:
		v, o := d.boolean()
		return types.BoolDatum(v), o
	case jsonTiny, jsonSmall, jsonInt, jsonBigInt:
		v, o := d.integer(n.kind)
		return types.IntDatum(v), o
	case jsonFloat, jsonDouble:
		v, o := d.float(n.kind == jsonFloat)
		return types.FloatDatum(v), o
	case jsonDecimal:
		return d.decimal(&n.t)
	case jsonString:
		v, o := d.anyText()
		return types.StrDatum(v), o
	case jsonBytes:
		return d.bytes()
	case jsonDate:
		v, o := temporal(d, "DATE", parseISODate)
		return types.IntDatum(v), o
	case jsonTime:
		v, o := temporal(d, "TIME", parseJSONTime)
		return types.IntDatum(v), o
	case jsonTimestamp, jsonLTZ:
		us, ns, o := d.timestamp(n.kind == jsonLTZ)
		if n.t.Precision <= 6 {
			return types.IntDatum(us), o
		}
		return types.WideDatum(types.Int128{Hi: us, Lo: uint64(ns)}), o
	case jsonArray:
		return d.list(n)
	case jsonMap:
		return d.mapValue(n)
	case jsonRow:
		return d.tuple(n)
	}
	return types.NullDatum(), d.skip()
}

// token is the kind of the value at hand by its first byte.
func (d *jsonDecoder) token() byte {
	if d.at < len(d.s) {
		return d.s[d.at]
	}
	return 0
}

// wrongKind is the outcome of a value of a kind that the type does not take, provided that it is JSON at all.
func (d *jsonDecoder) wrongKind(why string) outcome {
	start := d.at
	if o := d.skip(); o != good {
		return o
	}
	d.at = start
	return d.fail(badValue, why)
}

// boolean reads true and false; of everything else only the text true in any letter case is TRUE.
func (d *jsonDecoder) boolean() (bool, outcome) {
	switch d.token() {
	case 't':
		return true, d.word("true")
	case 'f':
		return false, d.word("false")
	case '"':
		s, o := d.text()
		return strings.EqualFold(trim(s), "true"), o
	default:
		return false, d.skip()
	}
}

// trim takes blanks and control characters off both ends, as Java's String.trim.
func trim(s string) string {
	for len(s) > 0 && s[0] <= ' ' {
		s = s[1:]
	}
	for len(s) > 0 && s[len(s)-1] <= ' ' {
		s = s[:len(s)-1]
	}
	return s
}

// integer reads a whole number: a number (INT and BIGINT cut a fraction off) or a text.
func (d *jsonDecoder) integer(kind jsonKind) (int64, outcome) {
	// The usual case: up to 18 digits with a delimiter behind them.
	s, p := d.s, d.at
	neg := p < len(s) && s[p] == '-'
	if neg {
		p++
	}
	first := p
	v := int64(0)
	for p < len(s) && s[p]-'0' <= 9 {
		v = v*10 + int64(s[p]-'0')
		p++
	}
	if n := p - first; n == 0 || n > 18 || p == len(s) || s[p] == '.' || s[p]|0x20 == 'e' || s[first] == '0' && n > 1 {
		return d.oddInteger(kind)
	}
	if neg {
		v = -v
	}
	if !inRange(v, kind) {
		return 0, d.fail(badValue, s[d.at:p]+" is out of range")
	}
	d.at = p
	return v, good
}

func inRange(v int64, kind jsonKind) bool {
	switch kind {
	case jsonTiny:
		return v == int64(int8(v))
	case jsonSmall:
		return v == int64(int16(v))
	case jsonInt:
		return v == int64(int32(v))
	}
	return true
}

func (d *jsonDecoder) oddInteger(kind jsonKind) (int64, outcome) {
	start := d.at
	switch b := d.token(); {
	case b == '"':
		s, o := d.text()
		if o != good {
			return 0, o
		}
		v, err := strconv.ParseInt(trim(s), 10, 64)
		if err != nil || !inRange(v, kind) || strings.HasPrefix(trim(s), "+-") {
			d.at = start
			return 0, d.fail(badValue, strconv.Quote(s)+" is no whole number in range")
		}
		return v, good
	case b == '-' || b-'0' <= 9:
		text, float, o := d.number()
		if o != good {
			return 0, o
		}
		if !float {
			if v, err := strconv.ParseInt(text, 10, 64); err == nil && inRange(v, kind) {
				return v, good
			}
		} else if kind == jsonInt || kind == jsonBigInt {
			if v, ok := cut(text, kind); ok {
				return v, good
			}
		}
		d.at = start
		return 0, d.fail(badValue, text+" is no whole number in range")
	}
	return 0, d.wrongKind("expected a number or a text")
}

// cut gives the whole part of a number with a fraction or an exponent, by way of DOUBLE.
func cut(text string, kind jsonKind) (int64, bool) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil && !math.IsInf(f, 0) {
		return 0, false
	}
	if kind == jsonInt {
		return int64(f), f > math.MinInt32-1 && f < math.MaxInt32+1
	}
	return int64(f), f >= math.MinInt64 && f < math.MaxInt64
}

// float reads a number or a text.
func (d *jsonDecoder) float(single bool) (float64, outcome) {
	start := d.at
	switch b := d.token(); {
	case b == '"':
		s, o := d.text()
		if o != good {
			return 0, o
		}
		parse := types.ParseDouble
		if single {
			parse = types.ParseFloat
		}
		f, ok := parse(s)
		if !ok {
			d.at = start
			return 0, d.fail(badValue, strconv.Quote(s)+" is no number")
		}
		return f, good
	case b == '-' || b-'0' <= 9:
		text, _, o := d.number()
		if o != good {
			return 0, o
		}
		f, _ := strconv.ParseFloat(text, 64) // too large is infinite
		if single {
			f = float64(float32(f))
		}
		return f, good
	}
	return 0, d.wrongKind("expected a number or a text")
}

func (d *jsonDecoder) decimal(t *types.Type) (types.Datum, outcome) {
	start := d.at
	var s string
	var o outcome
	switch b := d.token(); {
	case b == '"':
		if s, o = d.text(); !d.tree {
			s = trim(s)
		}
	case b == '-' || b-'0' <= 9:
		var float bool
		s, float, o = d.number()
		if f, _ := strconv.ParseFloat(s, 64); o == good && d.tree && float && math.IsInf(f, 0) {
			d.at = start
			return types.Datum{}, d.fail(badValue, s+" is out of range")
		}
	default:
		return types.Datum{}, d.wrongKind("expected a number or a text")
	}
	if o != good {
		return types.Datum{}, o
	}
	v, st := types.ParseDecimal(s, t.Precision, t.Scale)
	switch st {
	case types.DecimalSyntax:
		d.at = start
		return types.Datum{}, d.fail(badValue, strconv.Quote(s)+" is no number")
	case types.DecimalOverflow:
		return types.NullDatum(), good
	}
	return decimalDatum(v, t), good
}

// decimalDatum gives an unscaled value in the physical form of t.
func decimalDatum(v types.Int128, t *types.Type) types.Datum {
	if t.Precision > 18 {
		return types.WideDatum(v)
	}
	return types.IntDatum(int64(v.Lo))
}

func (d *jsonDecoder) bytes() (types.Datum, outcome) {
	start := d.at
	if d.token() != '"' {
		if d.tree {
			return types.NullDatum(), d.skip()
		}
		return types.Datum{}, d.wrongKind("expected base64 in a text")
	}
	s, o := d.text()
	if o != good {
		return types.Datum{}, o
	}
	b, err := base64.StdEncoding.AppendDecode(d.texts.Buf(), base64Text(s))
	if err != nil {
		d.at = start
		return types.Datum{}, d.fail(badValue, strconv.Quote(s)+" is no base64")
	}
	return types.StrDatum(d.texts.Take(b)), good
}

// base64Text gives the characters of s to decode: white space is legal in front of each group of four only.
func base64Text(s string) []byte {
	b := make([]byte, 0, len(s))
	for i := range len(s) {
		switch {
		case s[i] > ' ':
			b = append(b, s[i])
		case len(b)%4 != 0:
			b = append(b, '!') // no character of base64
		}
	}
	return b
}

// temporal reads a text by a parser.
func temporal(d *jsonDecoder, name string, parse func(string) (int64, bool)) (int64, outcome) {
	start := d.at
	if d.token() != '"' {
		return 0, d.wrongKind("expected a " + name + " in a text")
	}
	s, o := d.text()
	if o != good {
		return 0, o
	}
	v, ok := parse(s)
	if !ok {
		d.at = start
		return 0, d.fail(badValue, strconv.Quote(s)+" is no "+name)
	}
	return v, good
}

func (d *jsonDecoder) timestamp(zoned bool) (us int64, ns int, o outcome) {
	start := d.at
	if d.token() != '"' {
		return 0, 0, d.wrongKind("expected a timestamp in a text")
	}
	s, o := d.text()
	if o != good {
		return 0, 0, o
	}
	us, ns, ok := parseStamp(s, d.iso, zoned)
	if !ok {
		d.at = start
		return 0, 0, d.fail(badValue, strconv.Quote(s)+" is no timestamp of the form "+stampForm(d.iso, zoned))
	}
	return us, ns, good
}
