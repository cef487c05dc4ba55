package types

import (
	"strconv"
	"time"
	"unicode/utf8"
)

// Three ways of writing values: CAST to STRING (AppendText), the client's tables (AppendShown), the print sink
// (AppendPrinted). They share the walk through nested values.

// AppendText appends a value as CAST to STRING gives it; d must not be NULL. TIMESTAMP_LTZ is shown in the zone loc. Bytes
// are taken as UTF-8, what is not becomes U+FFFD.
func AppendText(dst []byte, t *Type, d Datum, loc *time.Location) []byte {
	w := writer{loc: loc}
	return w.value(dst, t, &d)
}

// AppendLegacyText is AppendText as table.exec.legacy-cast-behaviour has it: true and null in lower case, the fields of a
// ROW without blanks between them.
func AppendLegacyText(dst []byte, t *Type, d Datum, loc *time.Location) []byte {
	w := writer{loc: loc, legacy: true}
	return w.value(dst, t, &d)
}

// AppendCell is AppendText for row i of a column; NULL gives the text "NULL", as within nested values.
func AppendCell(dst []byte, c *Column, i int32, loc *time.Location) []byte {
	w := writer{loc: loc}
	return w.cell(dst, c, i, "NULL")
}

// AppendShown appends row i of a column as the client's result tables show it: <NULL>, bytes as x'0aff', the rest as CAST
// to STRING.
func AppendShown(dst []byte, c *Column, i int32, loc *time.Location) []byte {
	w := writer{loc: loc, hex: true}
	return w.cell(dst, c, i, "<NULL>")
}

// AppendPrinted appends row i of a column as the print sink writes it: null, true, 2024-06-03T07:08:09.120, [1, -1] for
// bytes, +I[1, x] for a ROW.
func AppendPrinted(dst []byte, c *Column, i int32) []byte {
	w := writer{java: true}
	return w.cell(dst, c, i, "null")
}

// AppendPrintedRow appends a whole row as the print sink writes it, e.g. -U[1, a, null].
func AppendPrintedRow(dst []byte, b *Batch, i int32) []byte {
	dst = append(append(dst, b.Kind(i).String()...), '[')
	for k, c := range b.Cols {
		if k > 0 {
			dst = append(dst, ", "...)
		}
		dst = AppendPrinted(dst, c, i)
	}
	return append(dst, ']')
}

// writer is a way of writing values.
type writer struct {
	loc    *time.Location
	hex    bool // bytes as x'..'
	java   bool // as Java's toString
	legacy bool // as casts were before Flink 1.15
}

func (w *writer) cell(dst []byte, c *Column, i int32, null string) []byte {
	if c.Null(i) {
		return append(dst, null...)
	}
	d := c.At(i)
	return w.value(dst, &c.Type, &d)
}

func (w *writer) nested(dst []byte, t *Type, d *Datum) []byte {
	if !d.Null {
		return w.value(dst, t, d)
	}
	if w.java || w.legacy {
		return append(dst, "null"...)
	}
	return append(dst, "NULL"...)
}

func (w *writer) value(dst []byte, t *Type, d *Datum) []byte {
	switch t.Kind {
	case Boolean:
		return w.boolean(dst, d.I != 0)
	case TinyInt, SmallInt, Int, BigInt:
		return strconv.AppendInt(dst, d.I, 10)
	case Float:
		return AppendFloat(dst, d.Float())
	case Double:
		return AppendDouble(dst, d.Float())
	case Decimal:
		v := d.Wide()
		if t.Precision <= 18 {
			v = Int128Of(d.I)
		}
		if w.java {
			return AppendBigDecimal(dst, v, t.Scale)
		}
		return AppendDecimal(dst, v, t.Scale)
	case Char, Varchar:
		return append(dst, d.S...)
	case Binary, Varbinary, Raw:
		return w.bytes(dst, d.S)
	case Date, Time, Timestamp, TimestampLTZ, IntervalMonths, IntervalMillis:
		return w.temporal(dst, t, d)
	case Array, Map, Multiset, Row:
		return w.container(dst, t, d.A)
	}
	return append(dst, "NULL"...)
}

func (w *writer) boolean(dst []byte, v bool) []byte {
	switch {
	case w.java || w.legacy:
		return strconv.AppendBool(dst, v)
	case v:
		return append(dst, "TRUE"...)
	default:
		return append(dst, "FALSE"...)
	}
}

func (w *writer) temporal(dst []byte, t *Type, d *Datum) []byte {
	ns := 0
	if t.Precision > 6 {
		ns = int(d.Lo)
	}
	switch t.Kind {
	case Date:
		if w.java {
			return isoDate(dst, d.I)
		}
		return AppendDate(dst, d.I)
	case Time:
		if w.java {
			ms := int(mod(d.I, MillisPerDay))
			return isoClock(dst, ms/1000, ms%1000*1_000_000, false)
		}
		return AppendTime(dst, d.I, t.Precision)
	case Timestamp:
		if w.java {
			return isoTimestamp(dst, d.I, ns, false)
		}
		return AppendTimestamp(dst, d.I, ns, t.Precision)
	case TimestampLTZ:
		if w.java {
			return isoTimestamp(dst, d.I, ns, true)
		}
		return AppendTimestamp(dst, ToLocal(d.I, w.loc), ns, t.Precision)
	case IntervalMonths:
		if w.java {
			return javaPeriod(dst, d.I)
		}
		return AppendIntervalMonths(dst, d.I)
	default:
		if w.java {
			return javaDuration(dst, d.I)
		}
		return AppendIntervalMillis(dst, d.I)
	}
}

func (w *writer) bytes(dst []byte, s string) []byte {
	switch {
	case w.java:
		dst = append(dst, '[')
		for i := range len(s) {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = strconv.AppendInt(dst, int64(int8(s[i])), 10)
		}
		return append(dst, ']')
	case w.hex:
		dst = append(dst, "x'"...)
		for i := range len(s) {
			dst = append(dst, hexDigits[s[i]>>4], hexDigits[s[i]&15])
		}
		return append(dst, '\'')
	default:
		return AppendUTF8(dst, s)
	}
}

const hexDigits = "0123456789abcdef"

// AppendUTF8 appends s with every byte that is no valid UTF-8 replaced by U+FFFD, as Java's decoder does: one for each
// maximal broken sequence.
func AppendUTF8(dst []byte, s string) []byte {
	if utf8.ValidString(s) {
		return append(dst, s...)
	}
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 {
			n = brokenLength(s)
		}
		dst = utf8.AppendRune(dst, r)
		s = s[n:]
	}
	return dst
}

// brokenLength is the length of the maximal part of a well-formed sequence at the start of s, which is not well-formed.
func brokenLength(s string) int {
	need := 0
	lo, hi := byte(0x80), byte(0xbf)
	switch c := s[0]; {
	case c >= 0xc2 && c <= 0xdf:
		need = 1
	case c >= 0xe0 && c <= 0xef:
		need = 2
		if c == 0xe0 {
			lo = 0xa0
		} else if c == 0xed {
			hi = 0x9f
		}
	case c >= 0xf0 && c <= 0xf4:
		need = 3
		if c == 0xf0 {
			lo = 0x90
		} else if c == 0xf4 {
			hi = 0x8f
		}
	}
	n := 1
	for n <= need && n < len(s) && s[n] >= lo && s[n] <= hi {
		n++
		lo, hi = 0x80, 0xbf
	}
	return n
}

func (w *writer) container(dst []byte, t *Type, v any) []byte {
	switch v := v.(type) {
	case *List:
		dst = append(dst, '[')
		for i := range v.Elems {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = w.nested(dst, t.Elem, &v.Elems[i])
		}
		return append(dst, ']')
	case *MapValue:
		key, val := mapTypes(t)
		dst = append(dst, '{')
		for i := range v.Keys {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = append(w.nested(dst, key, &v.Keys[i]), '=')
			dst = w.nested(dst, val, &v.Vals[i])
		}
		return append(dst, '}')
	case *Tuple:
		open, comma, shut := "(", ", ", byte(')')
		switch {
		case w.java:
			open, shut = "+I[", ']'
		case w.legacy:
			comma = ","
		}
		dst = append(dst, open...)
		for i := range v.Fields {
			if i > 0 {
				dst = append(dst, comma...)
			}
			dst = w.nested(dst, &t.Fields[i].Type, &v.Fields[i])
		}
		return append(dst, shut)
	}
	return append(dst, "NULL"...)
}

// AppendBigDecimal appends an unscaled value as Java's BigDecimal.toString: with an exponent when there are more than six
// zeros behind the point.
func AppendBigDecimal(dst []byte, v Int128, scale int) []byte {
	var buf [48]byte
	digits := AppendDecimal(buf[:0], v, 0)
	neg := digits[0] == '-'
	if neg {
		digits = digits[1:]
	}
	exp := len(digits) - 1 - scale // of the first digit
	if exp >= -6 && scale >= 0 {
		return AppendDecimal(dst, v, scale)
	}
	if neg {
		dst = append(dst, '-')
	}
	dst = append(dst, digits[0])
	if len(digits) > 1 {
		dst = append(append(dst, '.'), digits[1:]...)
	}
	dst = append(dst, 'E')
	if exp > 0 {
		dst = append(dst, '+')
	}
	return strconv.AppendInt(dst, int64(exp), 10)
}

// javaPeriod appends months as java.time.Period of years and months prints: P1Y2M.
func javaPeriod(dst []byte, months int64) []byte {
	dst = append(dst, 'P')
	if y := months / 12; y != 0 {
		dst = append(strconv.AppendInt(dst, y, 10), 'Y')
	}
	if m := months % 12; m != 0 {
		dst = append(strconv.AppendInt(dst, m, 10), 'M')
	}
	if months == 0 {
		dst = append(dst, "0D"...)
	}
	return dst
}

// javaDuration appends milliseconds as java.time.Duration prints: PT26H3M4.567S.
func javaDuration(dst []byte, ms int64) []byte {
	dst = append(dst, "PT"...)
	if ms == 0 {
		return append(dst, "0S"...)
	}
	if h := ms / 3_600_000; h != 0 {
		dst = append(strconv.AppendInt(dst, h, 10), 'H')
	}
	if m := ms % 3_600_000 / 60_000; m != 0 {
		dst = append(strconv.AppendInt(dst, m, 10), 'M')
	}
	rest := ms % 60_000
	if rest == 0 {
		return dst
	}
	if rest < 0 {
		dst = append(dst, '-')
		rest = -rest
	}
	dst = strconv.AppendInt(dst, rest/1000, 10)
	return append(appendFraction(dst, int(rest%1000)*1_000_000, 0), 'S')
}
