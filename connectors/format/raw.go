package format

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"

	"runnel/connectors"
	"runnel/types"
)

// Options of raw.
var (
	optCharset = connectors.Option{Key: "charset", Default: "UTF-8",
		Doc: "Encoding of text: UTF-8, US-ASCII, ISO-8859-1, windows-1252, UTF-16, UTF-16LE, UTF-16BE."}
	optEndianness = connectors.Option{Key: "endianness", Kind: connectors.EnumOption, Default: "big-endian",
		Values: []string{"big-endian", "little-endian"}, Doc: "Byte order of numbers."}
)

// Raw is the format "raw".
func Raw() connectors.Format {
	return connectors.Format{
		Name:    "raw",
		Doc:     "The message as it is, in the one column of the table.",
		Options: []connectors.Option{optCharset, optEndianness},
		Mode:    types.InsertOnly,
		Decoder: func(r connectors.FormatRequest) (connectors.Decoder, error) {
			c, err := newRawCodec(r)
			return c, err
		},
		Encoder: func(r connectors.FormatRequest) (connectors.Encoder, error) {
			c, err := newRawCodec(r)
			return c, err
		},
	}
}

// rawCodec reads and writes the bytes of one value.
type rawCodec struct {
	kind   types.Kind
	name   string
	size   int // of a value, 0 for text and bytes
	little bool
	text   charset
}

// charset is an encoding of text.
type charset uint8

const (
	utf8Text charset = iota
	asciiText
	latin1Text
	utf16Text // reads a byte order mark, writes big endian with one
	utf16BEText
	utf16LEText
	windowsText
)

var charsets = map[string]charset{
	"utf-8": utf8Text, "utf8": utf8Text, "us-ascii": asciiText, "ascii": asciiText, "iso646-us": asciiText, "iso-8859-1": latin1Text,
	"iso8859_1": latin1Text, "latin1": latin1Text, "l1": latin1Text, "iso_8859-1": latin1Text, "utf-16": utf16Text, "utf_16": utf16Text,
	"utf16": utf16Text, "utf-16be": utf16BEText, "utf-16le": utf16LEText,
	"windows-1252": windowsText, "cp1252": windowsText,
}

// windows1252 holds what the bytes 0x80..0x9f of windows-1252 stand for; the others are those of ISO-8859-1.
var windows1252 = [32]rune{
	'€', utf8.RuneError, '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', utf8.RuneError, 'Ž', utf8.RuneError,
	utf8.RuneError, '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', utf8.RuneError, 'ž', 'Ÿ',
}

func newRawCodec(r connectors.FormatRequest) (*rawCodec, error) {
	if len(r.Fields) != 1 {
		var cols []string
		for _, f := range r.Fields {
			cols = append(cols, "`"+f.Name+"` "+f.Type.String())
		}
		return nil, fmt.Errorf("The 'raw' format only supports single physical column. However the defined schema contains multiple "+
			"physical columns: [%s]", strings.Join(cols, ", "))
	}
	t := r.Fields[0].Type
	sizes := map[types.Kind]int{types.Boolean: 1, types.TinyInt: 1, types.SmallInt: 2, types.Int: 4, types.BigInt: 8, types.Float: 4,
		types.Double: 8, types.Char: 0, types.Varchar: 0, types.Binary: 0, types.Varbinary: 0, types.Raw: 0}
	size, ok := sizes[t.Kind]
	if !ok {
		return nil, fmt.Errorf("The 'raw' format doesn't supports '%s' as column type.", t.Name())
	}
	order, err := r.Options.Enum(optEndianness)
	if err != nil {
		return nil, fmt.Errorf("Unsupported endianness name: %s. Supported values are [big-endian, little-endian].", r.Options.Get(optEndianness))
	}
	name := r.Options.Get(optCharset)
	text, ok := charsets[strings.ToLower(name)]
	if !ok {
		return nil, fmt.Errorf("Unsupported 'raw.charset' name: %s.", name)
	}
	return &rawCodec{kind: t.Kind, name: t.Name(), size: size, little: order == "little-endian", text: text}, nil
}

// Decode implements connectors.Decoder. A null message is a row with NULL.
func (c *rawCodec) Decode(msg []byte, out *types.Batch) error {
	col := out.Cols[0]
	if msg == nil {
		col.AppendNull()
		out.Push(types.Insert)
		return nil
	}
	if c.size > 0 && len(msg) != c.size {
		return fmt.Errorf("Size of data received for deserializing %s type is not %d.", c.name, c.size)
	}
	switch c.kind {
	case types.Boolean:
		col.AppendBool(msg[0] != 0)
	case types.TinyInt:
		col.AppendInt(int64(int8(msg[0])))
	case types.SmallInt:
		col.AppendInt(int64(int16(c.bits(msg))))
	case types.Int:
		col.AppendInt(int64(int32(c.bits(msg))))
	case types.BigInt:
		col.AppendInt(int64(c.bits(msg)))
	case types.Float:
		col.AppendFloat(float64(math.Float32frombits(uint32(c.bits(msg)))))
	case types.Double:
		col.AppendFloat(math.Float64frombits(c.bits(msg)))
	case types.Char, types.Varchar:
		col.AppendStr(c.decodeText(msg))
	default:
		col.AppendStr(unsafe.String(unsafe.SliceData(msg), len(msg)))
	}
	out.Push(types.Insert)
	return nil
}

// bits reads 2, 4 or 8 bytes in the order of the option.
func (c *rawCodec) bits(b []byte) uint64 {
	var v uint64
	for i := range b {
		if c.little {
			v |= uint64(b[i]) << (8 * i)
		} else {
			v = v<<8 | uint64(b[i])
		}
	}
	return v
}

// Null implements connectors.NullEncoder: NULL is a null message.
func (c *rawCodec) Null(rows *types.Batch, i int32) bool { return rows.Cols[0].Null(i) }

// Encode implements connectors.Encoder.
func (c *rawCodec) Encode(dst []byte, rows *types.Batch, i int32) ([]byte, error) {
	col := rows.Cols[0]
	if col.Null(i) {
		return dst, nil
	}
	var v uint64
	switch c.kind {
	case types.Float:
		v = uint64(math.Float32bits(float32(col.Flt[i])))
	case types.Double:
		v = math.Float64bits(col.Flt[i])
	case types.Char, types.Varchar:
		return c.encodeText(dst, col.Str[i]), nil
	case types.Binary, types.Varbinary, types.Raw:
		return append(dst, col.Str[i]...), nil
	default:
		v = uint64(col.Int[i])
	}
	var b [8]byte
	if c.little {
		binary.LittleEndian.PutUint64(b[:], v)
		return append(dst, b[:c.size]...), nil
	}
	binary.BigEndian.PutUint64(b[:], v)
	return append(dst, b[8-c.size:]...), nil
}

func (c *rawCodec) decodeText(msg []byte) string {
	switch c.text {
	case asciiText, latin1Text, windowsText:
		buf := make([]byte, 0, len(msg))
		for _, b := range msg {
			r := rune(b)
			switch {
			case c.text == asciiText && b >= utf8.RuneSelf:
				r = utf8.RuneError
			case c.text == windowsText && b >= 0x80 && b < 0xa0:
				r = windows1252[b-0x80]
			}
			buf = utf8.AppendRune(buf, r)
		}
		return string(buf)
	case utf16Text, utf16BEText, utf16LEText:
		return c.decode16(msg)
	}
	s := unsafe.String(unsafe.SliceData(msg), len(msg))
	if utf8.ValidString(s) {
		return s
	}
	return string(types.AppendUTF8(nil, s))
}

func (c *rawCodec) decode16(msg []byte) string {
	little := c.text == utf16LEText
	if c.text == utf16Text && len(msg) >= 2 {
		switch {
		case msg[0] == 0xfe && msg[1] == 0xff:
			msg = msg[2:]
		case msg[0] == 0xff && msg[1] == 0xfe:
			msg, little = msg[2:], true
		}
	}
	var units []uint16
	for ; len(msg) >= 2; msg = msg[2:] {
		u := binary.BigEndian.Uint16(msg)
		if little {
			u = binary.LittleEndian.Uint16(msg)
		}
		units = append(units, u)
	}
	s := string(utf16.Decode(units))
	if len(msg) > 0 {
		s += string(utf8.RuneError) // half a unit
	}
	return s
}

// byteOf gives the byte of a character, a question mark if it has none.
func (c *rawCodec) byteOf(r rune) byte {
	if c.text == windowsText {
		if i := slices.Index(windows1252[:], r); i >= 0 && r != utf8.RuneError {
			return byte(0x80 + i)
		}
		if r >= 0x80 && r < 0xa0 {
			return '?'
		}
	}
	if r < 0x80 || r <= 0xff && c.text != asciiText {
		return byte(r)
	}
	return '?'
}

func (c *rawCodec) encodeText(dst []byte, s string) []byte {
	switch c.text {
	case utf8Text:
		return append(dst, s...)
	case asciiText, latin1Text, windowsText:
		for _, r := range s {
			dst = append(dst, c.byteOf(r))
		}
		return dst
	}
	if c.text == utf16Text {
		dst = append(dst, 0xfe, 0xff)
	}
	for _, u := range utf16.Encode([]rune(s)) {
		if c.text == utf16LEText {
			dst = binary.LittleEndian.AppendUint16(dst, u)
		} else {
			dst = binary.BigEndian.AppendUint16(dst, u)
		}
	}
	return dst
}
