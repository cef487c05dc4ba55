package format

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
	"unsafe"

	"runnel/connectors"
	"runnel/types"
)

// csvDecoder reads the first line of each message.
type csvDecoder struct {
	csvForm
	comments bool
	ignore   bool
	cells    []string
	texts    types.Arena
}

func newCSVDecoder(r connectors.FormatRequest) (connectors.Decoder, error) {
	form, err := newCSVForm(r)
	if err != nil {
		return nil, err
	}
	d := &csvDecoder{csvForm: form}
	err = readFlags(r.Options, flag{&d.comments, optComments}, flag{&d.ignore, optIgnoreErrors}, flag{new(bool), optScientific})
	return d, err
}

// Decode implements connectors.Decoder.
func (d *csvDecoder) Decode(msg []byte, out *types.Batch) error {
	if msg == nil {
		return nil
	}
	at := out.Len
	err := d.line(unsafe.String(unsafe.SliceData(msg), len(msg)), out)
	if err == nil {
		return nil
	}
	out.Truncate(at)
	if d.ignore {
		return nil
	}
	return fmt.Errorf("Failed to deserialize CSV row '%s'.: %w", clip(msg), err)
}

var errNoContent = errors.New("No content to map due to end-of-input")

func (d *csvDecoder) line(s string, out *types.Batch) error {
	s = strings.TrimPrefix(s, "\ufeff")
	for d.comments {
		rest := strings.TrimLeft(s, " \t")
		if !strings.HasPrefix(rest, "#") {
			break
		}
		end := strings.IndexAny(rest, "\r\n")
		if end < 0 {
			return errNoContent
		}
		if s = rest[end+1:]; rest[end] == '\r' {
			s = strings.TrimPrefix(s, "\n")
		}
	}
	if s == "" {
		return errNoContent
	}
	if !utf8.ValidString(s) {
		s = string(types.AppendUTF8(nil, s))
	}
	if err := d.split(s); err != nil {
		return err
	}
	cells, n := d.cells, len(d.fields)
	if len(cells) == n+1 && cells[n] == "" {
		cells = cells[:n] // a delimiter at the end
	}
	switch {
	case len(cells) > n:
		return fmt.Errorf("Too many entries: expected at most %d (value #%d (%d chars) %q)", n, n, len(cells[n]), cells[n])
	case len(cells) < n && !d.ignore:
		return fmt.Errorf("Row length mismatch. %d fields expected but was %d.", n, len(cells))
	}
	for k := range d.fields {
		f, col := &d.fields[k], out.Cols[k]
		if k >= len(cells) {
			col.AppendNull()
			continue
		}
		if err := d.into(f, cells[k], col); err != nil {
			return fmt.Errorf("Fail to deserialize at field: %s.: %w", f.name, err)
		}
	}
	out.Push(types.Insert)
	return nil
}

// split cuts the first line into cells. Cells are parts of s unless they hold escapes or doubled quotes.
func (d *csvDecoder) split(s string) error {
	d.cells = d.cells[:0]
	for {
		var cell string
		var err error
		if d.quote != "" && strings.HasPrefix(s, d.quote) {
			cell, s, err = d.quoted(s[len(d.quote):])
			if err != nil {
				return err
			}
		} else if end := d.plainEnd(s); end == len(s) || d.escape == "" || !strings.HasPrefix(s[end:], d.escape) {
			cell, s = s[:end], s[end:]
		} else {
			cell, s, err = d.escaped(s)
			if err != nil {
				return err
			}
		}
		d.cells = append(d.cells, cell)
		if !strings.HasPrefix(s, d.sep) {
			return nil
		}
		s = s[len(d.sep):]
	}
}

// plainEnd finds the first delimiter, line break or escape.
func (d *csvDecoder) plainEnd(s string) int {
	if len(d.sep) == 1 && d.escape == "" {
		sep := d.sep[0]
		for i := range len(s) {
			if b := s[i]; b == sep || b == '\n' || b == '\r' {
				return i
			}
		}
		return len(s)
	}
	if i := strings.IndexAny(s, d.sep+"\r\n"+d.escape); i >= 0 {
		return i
	}
	return len(s)
}

// quoted reads a cell behind its opening quote.
func (d *csvDecoder) quoted(s string) (cell, rest string, err error) {
	var buf []byte
	plain := true
	from := 0
	for i := 0; i < len(s); {
		if d.escape == "" { // nothing but a quote matters
			n := strings.Index(s[i:], d.quote)
			if n < 0 {
				break
			}
			i += n
		}
		switch {
		case strings.HasPrefix(s[i:], d.quote):
			next := i + len(d.quote)
			if !strings.HasPrefix(s[next:], d.quote) {
				if cell = s[from:i]; !plain {
					cell = d.texts.Copy(append(buf, cell...))
				}
				rest = s[next:]
				for rest != "" && (rest[0] == ' ' || rest[0] == '\t') && !strings.HasPrefix(rest, d.sep) {
					rest = rest[1:]
				}
				if rest != "" && !strings.HasPrefix(rest, d.sep) && rest[0] != '\r' && rest[0] != '\n' {
					r, _ := utf8.DecodeRuneInString(rest)
					return "", "", fmt.Errorf("Unexpected character (%q): Expected column separator character (%q) or end-of-line", r, d.sep)
				}
				return cell, rest, nil
			}
			buf = append(buf, s[from:next]...)
			plain = false
			i = next + len(d.quote)
			from = i
		case d.escape != "" && strings.HasPrefix(s[i:], d.escape):
			buf = append(buf, s[from:i]...)
			plain = false
			n := 0
			if buf, n, err = unescapeCSV(buf, s[i+len(d.escape):]); err != nil {
				return "", "", err
			}
			i += len(d.escape) + n
			from = i
		default:
			i++
		}
	}
	return "", "", errors.New("Missing closing quote for value")
}

// escaped reads a cell without quotes that holds escapes.
func (d *csvDecoder) escaped(s string) (cell, rest string, err error) {
	var buf []byte
	for s != "" && !strings.HasPrefix(s, d.sep) && s[0] != '\r' && s[0] != '\n' {
		if !strings.HasPrefix(s, d.escape) {
			buf = append(buf, s[0])
			s = s[1:]
			continue
		}
		n := 0
		if buf, n, err = unescapeCSV(buf, s[len(d.escape):]); err != nil {
			return "", "", err
		}
		s = s[len(d.escape)+n:]
	}
	return d.texts.Copy(buf), s, nil
}

// unescapeCSV appends what an escape and the character behind it, at the start of s, stand for.
func unescapeCSV(dst []byte, s string) ([]byte, int, error) {
	if s == "" {
		return dst, 0, errors.New("Unexpected EOF in escaped character")
	}
	switch s[0] {
	case '0':
		return append(dst, 0), 1, nil
	case 'n':
		return append(dst, '\n'), 1, nil
	case 'r':
		return append(dst, '\r'), 1, nil
	case 't':
		return append(dst, '\t'), 1, nil
	}
	_, n := utf8.DecodeRuneInString(s)
	return append(dst, s[:n]...), n, nil
}

// into converts a cell and appends it.
func (d *csvDecoder) into(f *csvField, s string, col *types.Column) error {
	if d.hasNull && s == d.null {
		switch {
		case f.kind == jsonArray: // read as an array of one element
		case f.kind == jsonRow:
		default:
			col.AppendNull()
			return nil
		}
	}
	switch f.kind {
	case jsonString:
		col.AppendStr(s)
		return nil
	case jsonInt, jsonBigInt:
		if v, err := csvInteger(s, f.kind); err == nil {
			col.AppendInt(v)
			return nil
		}
	}
	v, err := d.datum(f, s)
	if err != nil {
		if !d.ignore {
			return err
		}
		v = types.NullDatum()
	}
	col.Append(v)
	return nil
}

func (d *csvDecoder) datum(f *csvField, s string) (types.Datum, error) {
	bad := func(ok bool, v int64) (types.Datum, error) {
		if !ok {
			return types.Datum{}, fmt.Errorf("%q is no %s", s, f.t.Name())
		}
		return types.IntDatum(v), nil
	}
	switch f.kind {
	case jsonBool:
		return types.BoolDatum(strings.EqualFold(trim(s), "true")), nil
	case jsonTiny, jsonSmall, jsonInt, jsonBigInt:
		v, err := csvInteger(s, f.kind)
		return types.IntDatum(v), err
	case jsonFloat, jsonDouble:
		parse := types.ParseDouble
		if f.kind == jsonFloat {
			parse = types.ParseFloat
		}
		v, ok := parse(s)
		if !ok {
			return bad(false, 0)
		}
		return types.FloatDatum(v), nil
	case jsonDecimal:
		v, st := types.ParseDecimal(s, f.t.Precision, f.t.Scale)
		switch st {
		case types.DecimalSyntax:
			return bad(false, 0)
		case types.DecimalOverflow:
			return types.NullDatum(), nil
		}
		return decimalDatum(v, &f.t), nil
	case jsonString:
		return types.StrDatum(s), nil
	case jsonBytes:
		b, err := base64.StdEncoding.AppendDecode(nil, []byte(trim(s)))
		if err != nil || strings.ContainsAny(trim(s), "\r\n") {
			return bad(false, 0)
		}
		return types.StrDatum(d.texts.Copy(b)), nil
	case jsonDate:
		v, ok := types.ParseLegacyDate(s)
		return bad(ok, v)
	case jsonTime:
		v, ok := parseCSVTime(s)
		return bad(ok, v)
	case jsonTimestamp, jsonLTZ:
		us, ns, ok := parseStamp(trim(s), false, f.kind == jsonLTZ)
		if f.t.Precision <= 6 || !ok {
			return bad(ok, us)
		}
		return types.WideDatum(types.Int128{Hi: us, Lo: uint64(ns)}), nil
	case jsonArray:
		return d.array(f, s)
	default:
		return d.row(f, s)
	}
}

func csvInteger(s string, kind jsonKind) (int64, error) {
	t := trim(s)
	v, err := strconv.ParseInt(t, 10, 64)
	if err != nil || !inRange(v, kind) || strings.HasPrefix(t, "+-") {
		return 0, fmt.Errorf("For input string: %q", s)
	}
	return v, nil
}

// element converts a part of a cell.
func (d *csvDecoder) element(f *csvField, s string) (types.Datum, error) {
	if d.hasNull && s == d.null {
		return types.NullDatum(), nil
	}
	v, err := d.datum(f, s)
	if err != nil && d.ignore {
		return types.NullDatum(), nil
	}
	return v, err
}

func (d *csvDecoder) array(f *csvField, s string) (types.Datum, error) {
	l := &types.List{Elems: []types.Datum{}}
	if s == "" {
		return types.AnyDatum(l), nil
	}
	for part := range strings.SplitSeq(s, d.elemSep) {
		v, err := d.element(&f.elems[0], part)
		if err != nil {
			return v, err
		}
		l.Elems = append(l.Elems, v)
	}
	return types.AnyDatum(l), nil
}

func (d *csvDecoder) row(f *csvField, s string) (types.Datum, error) {
	if s == "" {
		return types.NullDatum(), nil
	}
	parts := strings.Split(s, d.elemSep)
	if len(parts) < len(f.elems) && !d.ignore {
		return types.Datum{}, fmt.Errorf("Row length mismatch. %d fields expected but was %d.", len(f.elems), len(parts))
	}
	t := &types.Tuple{Fields: make([]types.Datum, len(f.elems))}
	for i := range f.elems {
		if i >= len(parts) {
			t.Fields[i].Null = true
			continue
		}
		v, err := d.element(&f.elems[i], parts[i])
		if err != nil {
			return v, err
		}
		t.Fields[i] = v
	}
	return types.AnyDatum(t), nil
}
