package format

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"

	"runnel/connectors"
	"runnel/types"
)

// jsonDecoder reads JSON objects into columns, directed by the schema: keys are expected in the order of the columns, and
// text points into the message. Everything else (another order, escapes, nested values, errors) takes longer ways.
type jsonDecoder struct {
	scanner
	root        jsonNode
	failMissing bool
	ignore      bool
	iso         bool
	seen        []uint32
	row         uint32
}

// jsonNode is a column or nested value of the schema.
type jsonNode struct {
	kind   jsonKind
	t      types.Type
	name   string
	quoted string // "name" as it usually stands in a message
	fields []jsonNode
	byName map[string]int
	key    *jsonNode
	elem   *jsonNode
}

func newJSONDecoder(r connectors.FormatRequest) (connectors.Decoder, error) {
	d := &jsonDecoder{seen: make([]uint32, len(r.Fields))}
	var parser bool
	err := readFlags(r.Options, flag{&d.failMissing, optFailOnMissing}, flag{&d.ignore, optIgnoreErrors}, flag{&parser, optParser})
	if err != nil {
		return nil, err
	}
	d.tree = !parser
	if d.failMissing && d.ignore {
		return nil, fmt.Errorf("%s and %s shouldn't both be true.", optFailOnMissing.Key, optIgnoreErrors.Key)
	}
	if d.iso, err = isoTimestamps(r); err != nil {
		return nil, err
	}
	if err := jsonFieldsError(r.Fields); err != nil {
		return nil, err
	}
	d.root = newJSONNode("", types.RowOf(r.Fields...))
	return d, nil
}

func newJSONNode(name string, t types.Type) jsonNode {
	n := jsonNode{kind: jsonKindOf(t), t: t, name: name, quoted: `"` + name + `"`}
	switch t.Kind {
	case types.Row:
		n.byName = make(map[string]int, len(t.Fields))
		for i, f := range t.Fields {
			n.fields = append(n.fields, newJSONNode(f.Name, f.Type))
			n.byName[f.Name] = i
		}
	case types.Array:
		elem := newJSONNode("", *t.Elem)
		n.elem = &elem
	case types.Map, types.Multiset:
		key, elem := t.Key, t.Elem
		if t.Kind == types.Multiset {
			count := types.Of(types.Int).Required()
			key, elem = t.Elem, &count
		}
		k, e := newJSONNode("", *key), newJSONNode("", *elem)
		n.key, n.elem = &k, &e
	}
	return n
}

// Decode implements connectors.Decoder.
func (d *jsonDecoder) Decode(msg []byte, out *types.Batch) error {
	if len(msg) == 0 {
		return nil
	}
	at := out.Len
	d.s = d.inUTF8(msg)
	d.at, d.depth = 0, 0
	o := d.message(out)
	if o == good {
		if d.depth == 0 {
			return nil
		}
		panic("format: unbalanced nesting")
	}
	out.Truncate(at)
	if d.ignore {
		return nil
	}
	return d.fault(msg)
}

// fault makes the error of a message that cannot be read.
func (d *jsonDecoder) fault(msg []byte) error {
	return fmt.Errorf("Failed to deserialize JSON '%s'.: %s at byte %d", clip(msg), d.why, d.whyAt)
}

// clip gives the beginning of a message for an error.
func clip(msg []byte) string {
	const most = 200
	if len(msg) <= most {
		return string(msg)
	}
	return string(msg[:most]) + ".."
}

// message reads one message; trailing text is not looked at.
func (d *jsonDecoder) message(out *types.Batch) outcome {
	if d.space() != '{' {
		if d.tree && (d.at >= len(d.s) || d.word("null") == good) {
			return good
		}
		return d.fail(badSyntax, "the message is no JSON object")
	}
	if o := d.columns(out); o != good {
		return o
	}
	out.Push(types.Insert)
	return good
}

// columns reads the members of the message's object into the columns of out.
func (d *jsonDecoder) columns(out *types.Batch) outcome {
	if d.row++; d.row == 0 { // the stamps have run out
		clear(d.seen)
		d.row = 1
	}
	fields := d.root.fields
	left := len(fields) // the reader looks at no more members than there are columns, equal keys included
	d.at++
	next := 0
	if d.space() == '}' {
		d.at++
	} else {
		for more := true; more; {
			f, o := d.column(next)
			if o != good {
				return o
			}
			if f < 0 || left == 0 {
				o = d.skip()
			} else {
				if !d.tree {
					left--
				}
				next = f + 1
				o = d.value(&fields[f], out.Cols[f], out.Len, f)
			}
			if o != good {
				return o
			}
			switch d.space() {
			case ',':
				d.at++
			case '}':
				d.at++
				more = false
			default:
				return d.fail(badSyntax, "expected a comma or the end of the object")
			}
		}
	}
	for f := range fields {
		if d.seen[f] == d.row {
			continue
		}
		if d.failMissing && (left > 0) {
			return d.fail(badValue, fmt.Sprintf("field %s is missing", fields[f].name))
		}
		out.Cols[f].AppendNull()
	}
	return good
}

// column reads a key and gives its column, -1 for one that is not wanted. next is the column that is expected.
func (d *jsonDecoder) column(next int) (int, outcome) {
	d.space()
	if next < len(d.root.fields) {
		q := d.root.fields[next].quoted
		if end := d.at + len(q); end < len(d.s) && d.s[d.at:end] == q && d.s[end] == ':' {
			d.at = end + 1
			d.space()
			return next, good
		}
	}
	key, o := d.key()
	if o != good {
		return 0, o
	}
	if f, ok := d.root.byName[key]; ok {
		return f, good
	}
	return -1, good
}

// value reads the value of a column. A value that cannot be read becomes NULL if errors are ignored.
func (d *jsonDecoder) value(n *jsonNode, col *types.Column, row, f int) outcome {
	if d.seen[f] == d.row {
		col.Truncate(row) // an equal key: the later value counts
	}
	d.seen[f] = d.row
	start, depth := d.at, d.depth
	o := d.into(n, col)
	if o == good {
		return good
	}
	if o == badValue && d.ignore {
		if o := d.skipBad(start, depth); o != good {
			return o
		}
		col.AppendNull()
		return good
	}
	if o == badValue {
		d.why = "field " + n.name + ": " + d.why
	}
	return o
}

// skipBad goes back to the start of a value that could not be read and skips it.
func (d *jsonDecoder) skipBad(start, depth int) outcome {
	d.at, d.depth, d.again = start, depth, true
	o := d.skip()
	d.again = false
	return o
}

// into reads a value and appends it; nothing is appended unless the outcome is good.
func (d *jsonDecoder) into(n *jsonNode, col *types.Column) outcome {
	if d.at < len(d.s) && d.s[d.at] == 'n' {
		if o := d.word("null"); o != good {
			return o
		}
		col.AppendNull()
		return good
	}
	switch n.kind {
	case jsonInt, jsonBigInt:
		v, o := d.integer(n.kind)
		if o == good {
			col.AppendInt(v)
		}
		return o
	case jsonString:
		v, o := d.anyText()
		if o == good {
			col.AppendStr(v)
		}
		return o
	case jsonFloat, jsonDouble:
		v, o := d.float(n.kind == jsonFloat)
		if o == good {
			col.AppendFloat(v)
		}
		return o
	case jsonTimestamp, jsonLTZ:
		if n.t.Precision <= 6 {
			us, _, o := d.timestamp(n.kind == jsonLTZ)
			if o == good {
				col.AppendInt(us)
			}
			return o
		}
	}
	v, o := d.datum(n)
	if o == good {
		col.Append(v)
	}
	return o
}

// inUTF8 gives the message as a text, without a byte order mark, in UTF-8 whatever it came in.
func (d *jsonDecoder) inUTF8(msg []byte) string {
	if msg[0] > ' ' && msg[0] < 0x80 && (len(msg) < 2 || msg[1] != 0) {
		return unsafe.String(unsafe.SliceData(msg), len(msg))
	}
	width, big, skip := encoding(msg)
	if width == 1 {
		return unsafe.String(unsafe.SliceData(msg), len(msg))[skip:]
	}
	msg = msg[skip:]
	var units []uint16
	buf := make([]byte, 0, len(msg))
	for ; len(msg) >= width; msg = msg[width:] {
		var u uint32
		for i := range width {
			b := uint32(msg[i])
			if big {
				u = u<<8 | b
			} else {
				u |= b << (8 * i)
			}
		}
		if width == 4 {
			buf = utf8.AppendRune(buf, rune(u))
		} else {
			units = append(units, uint16(u))
		}
	}
	for _, r := range utf16.Decode(units) {
		buf = utf8.AppendRune(buf, r)
	}
	return string(buf)
}

// encoding finds the width of a code unit, whether it is big endian, and the length of the byte order mark: by the mark, or
// by where the zero bytes of the first character lie.
func encoding(msg []byte) (width int, big bool, skip int) {
	var b [4]byte
	copy(b[:], msg)
	has := func(mark string) bool { return strings.HasPrefix(string(b[:min(len(msg), 4)]), mark) }
	switch {
	case has("\x00\x00\xfe\xff"):
		return 4, true, 4
	case has("\xff\xfe\x00\x00"):
		return 4, false, 4
	case has("\xef\xbb\xbf"):
		return 1, false, 3
	case has("\xfe\xff"):
		return 2, true, 2
	case has("\xff\xfe"):
		return 2, false, 2
	case len(msg) >= 4 && b[0] == 0 && b[1] == 0 && b[2] == 0:
		return 4, true, 0
	case len(msg) >= 4 && b[1] == 0 && b[2] == 0 && b[3] == 0:
		return 4, false, 0
	case len(msg) >= 2 && b[0] == 0:
		return 2, true, 0
	case len(msg) >= 2 && b[1] == 0:
		return 2, false, 0
	}
	return 1, false, 0
}
