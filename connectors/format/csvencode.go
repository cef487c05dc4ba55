package format

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"unicode/utf8"

	"runnel/connectors"
	"runnel/types"
)

// csvEncoder writes rows as lines without line breaks.
type csvEncoder struct {
	csvForm
	scientific            bool
	safe                  rune // characters above need no quotes
	quoteRune, escapeRune rune // -1 for none
	buf                   []byte
}

// maxQuoteCheck is the number of UTF-16 units from which a text is quoted without a look at its characters.
const maxQuoteCheck = 24

func newCSVEncoder(r connectors.FormatRequest) (connectors.Encoder, error) {
	form, err := newCSVForm(r)
	if err != nil {
		return nil, err
	}
	e := &csvEncoder{csvForm: form}
	sep, _ := utf8.DecodeRuneInString(e.sep)
	e.quoteRune, e.escapeRune = firstRune(e.quote), firstRune(e.escape)
	e.safe = max(sep, e.quoteRune)
	err = readFlags(r.Options, flag{&e.scientific, optScientific}, flag{new(bool), optIgnoreErrors})
	return e, err
}

// firstRune gives the character of s, -1 if it is empty.
func firstRune(s string) rune {
	if s == "" {
		return -1
	}
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// Encode implements connectors.Encoder.
func (e *csvEncoder) Encode(dst []byte, rows *types.Batch, i int32) ([]byte, error) {
	for k := range e.fields {
		if k > 0 {
			dst = append(dst, e.sep...)
		}
		f, c := &e.fields[k], rows.Cols[k]
		if c.Null(i) {
			dst = append(dst, e.null...)
			continue
		}
		d := c.At(i)
		switch f.kind {
		case jsonBool, jsonTiny, jsonSmall, jsonInt, jsonBigInt, jsonFloat, jsonDouble:
			dst = e.plainValue(dst, f, &d)
		case jsonString:
			dst = e.appendCell(dst, d.S)
		case jsonDecimal:
			v, scale := stripZeros(decimalOf(&f.t, &d), f.t.Scale)
			if e.scientific {
				e.buf = types.AppendBigDecimal(e.buf[:0], v, scale)
			} else {
				e.buf = appendPlain(e.buf[:0], v, scale)
			}
			dst = e.appendCell(dst, string(e.buf))
		case jsonArray:
			e.buf = e.buf[:0]
			elems := d.A.(*types.List).Elems
			for j := range elems {
				e.element(j, &f.elems[0], &elems[j])
			}
			dst = e.appendCell(dst, string(e.buf))
		case jsonRow:
			e.buf = e.buf[:0]
			fields := d.A.(*types.Tuple).Fields
			for j := range fields {
				e.element(j, &f.elems[j], &fields[j])
			}
			dst = e.appendCell(dst, string(e.buf))
		default:
			e.buf = e.plainValue(e.buf[:0], f, &d)
			dst = e.appendCell(dst, string(e.buf))
		}
	}
	return dst, nil
}

// element appends the j-th part of a cell to buf.
func (e *csvEncoder) element(j int, f *csvField, d *types.Datum) {
	if j > 0 {
		e.buf = append(e.buf, e.elemSep...)
	}
	if d.Null {
		e.buf = append(e.buf, e.null...)
	} else {
		e.buf = e.plainValue(e.buf, f, d)
	}
}

// plainValue appends a value without quotes.
func (e *csvEncoder) plainValue(dst []byte, f *csvField, d *types.Datum) []byte {
	switch f.kind {
	case jsonBool:
		return strconv.AppendBool(dst, d.I != 0)
	case jsonTiny, jsonSmall, jsonInt, jsonBigInt:
		return strconv.AppendInt(dst, d.I, 10)
	case jsonFloat:
		return types.AppendFloat(dst, d.Float())
	case jsonDouble:
		return types.AppendDouble(dst, d.Float())
	case jsonDecimal:
		v, scale := stripZeros(decimalOf(&f.t, d), f.t.Scale)
		return types.AppendBigDecimal(dst, v, scale)
	case jsonBytes:
		return base64.StdEncoding.AppendEncode(dst, []byte(d.S))
	case jsonDate:
		return appendYearDate(dst, d.I)
	case jsonTime:
		dst = types.AppendClock(dst, int(d.I/1000))
		if ms := d.I % 1000; ms > 0 {
			dst = fmt.Appendf(dst, ".%03d", ms)
		}
		return dst
	case jsonTimestamp, jsonLTZ:
		ns := 0
		if f.t.Precision > 6 {
			ns = int(d.Lo)
		}
		return appendStamp(dst, d.I, ns, false, f.kind == jsonLTZ)
	default:
		return append(dst, d.S...)
	}
}

// appendCell appends a text, in quotes where a reader might need them: Flink quotes generously. Within quotes, quotes and
// escape characters are doubled.
func (e *csvEncoder) appendCell(dst []byte, s string) []byte {
	if e.quote == "" || !e.needsQuotes(s) {
		return append(dst, s...)
	}
	dst = append(dst, e.quote...)
	for i, r := range s {
		if r == e.quoteRune || r == e.escapeRune {
			dst = utf8.AppendRune(dst, r)
		}
		if r == utf8.RuneError {
			dst = append(dst, s[i])
			continue
		}
		dst = utf8.AppendRune(dst, r)
	}
	return append(dst, e.quote...)
}

func (e *csvEncoder) needsQuotes(s string) bool {
	units := 0
	for _, r := range s {
		if units++; r > 0xffff {
			units++
		}
		if r <= e.safe || r == '\\' || r == e.escapeRune {
			return true
		}
	}
	return units > maxQuoteCheck
}
