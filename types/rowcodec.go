package types

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"unsafe"
)

// RowCodecVersion is the version of the encoding below. State and savepoints store it beside their rows; a reader that
// meets another one refuses.
const RowCodecVersion = 2

// ValueCodecVersion is the version of the encoding of single values, see AppendDatum.
const ValueCodecVersion = 1

// RowCodec turns rows of one schema into bytes and back. It is not safe for concurrent use.
//
// Version 2, everything little endian. A row is a bitmap of (columns+7)/8 bytes, a set bit meaning NULL, then the sizes of
// its integers, then the values of the columns that are not NULL, in order:
//
//	BOOLEAN, TINYINT                                  1 byte
//	SMALLINT                                          2 bytes
//	INT, DATE, TIME, INTERVAL MONTH, BIGINT,
//	INTERVAL SECOND, TIMESTAMP(0..6),
//	DECIMAL up to 18 digits                           an integer: the bytes up to the last one that is not 0, of the value
//	                                                  times two, or minus that and minus one if it is negative
//	FLOAT, DOUBLE                                     4 and 8 bytes, as IEEE
//	TIMESTAMP(7..9), DECIMAL over 18 digits           16 bytes, Lo then Hi
//	CHAR, VARCHAR, BINARY, VARBINARY, RAW             length as uvarint, bytes
//	ARRAY                                             count as uvarint, then the elements like a row of count columns
//	MAP, MULTISET                                     count as uvarint, keys like a row, values like a row
//	ROW                                               like a row
//
// The size of an integer takes half a byte, the low one first, for every such column, NULL or not. In ARRAY, MAP, MULTISET and ROW
// there are no sizes: integers take 4 bytes (INT, DATE, TIME, INTERVAL MONTH) or 8.
//
// Nothing tells the types: whoever decodes knows the schema.
type RowCodec struct {
	// Share lets decoded strings point into the source, which must then never change. Otherwise they are copied.
	Share bool

	types  []Type
	forms  []form
	nulls  int // bytes of the NULL bitmap
	head   int // and with the sizes of integers
	copies Arena
}

// form is how a value is laid out.
type form uint8

const (
	formNone form = iota // NULL: no value exists
	form1
	form2
	form4
	form8
	formFloat
	formDouble
	formWide
	formStr
	formNested
	formInt // form4 or form8 as a column
)

func formOf(k Kind, p Phys) form {
	switch p {
	case PhysFloat:
		if k == Float {
			return formFloat
		}
		return formDouble
	case PhysWide:
		return formWide
	case PhysStr:
		return formStr
	case PhysAny:
		return formNested
	}
	switch k {
	case Null, Descriptor:
		return formNone
	case Boolean, TinyInt:
		return form1
	case SmallInt:
		return form2
	case Int, Date, Time, IntervalMonths:
		return form4
	}
	return form8
}

// NewRowCodec makes a codec for rows with columns of the given types.
func NewRowCodec(ts []Type) *RowCodec {
	c := &RowCodec{types: ts, forms: make([]form, len(ts)), nulls: (len(ts) + 7) / 8}
	ints := 0
	for i, t := range ts {
		c.forms[i] = formOf(t.Kind, t.Phys())
		if f := c.forms[i]; f == form4 || f == form8 {
			c.forms[i] = formInt
			ints++
		}
	}
	c.head = c.nulls + (ints+1)/2
	return c
}

// Types gives the schema.
func (c *RowCodec) Types() []Type { return c.types }

// Append appends physical row i of the columns, which have the codec's types.
func (c *RowCodec) Append(dst []byte, cols []*Column, i int32) []byte {
	at, ints := len(dst), 2*c.nulls // ints counts halves of bytes
	for range c.head {
		dst = append(dst, 0)
	}
	for k, f := range c.forms {
		col := cols[k]
		if col.Valid != nil && !col.Valid.Has(i) || f == formNone {
			dst[at+k>>3] |= 1 << (k & 7)
			if f == formInt {
				ints++
			}
			continue
		}
		switch f {
		case form1:
			dst = append(dst, byte(col.Int[i]))
		case form2:
			dst = binary.LittleEndian.AppendUint16(dst, uint16(col.Int[i]))
		case formInt:
			v := uint64(col.Int[i]<<1) ^ uint64(col.Int[i]>>63)
			n := (bits.Len64(v) + 7) / 8
			dst[at+ints>>1] |= byte(n) << (ints & 1 * 4)
			ints++
			dst = binary.LittleEndian.AppendUint64(dst, v)
			dst = dst[:len(dst)-8+n]
		case formFloat:
			dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(float32(col.Flt[i])))
		case formDouble:
			dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(col.Flt[i]))
		case formWide:
			dst = binary.LittleEndian.AppendUint64(dst, col.Wide[i].Lo)
			dst = binary.LittleEndian.AppendUint64(dst, uint64(col.Wide[i].Hi))
		case formStr:
			dst = binary.AppendUvarint(dst, uint64(len(col.Str[i])))
			dst = append(dst, col.Str[i]...)
		case formNested:
			dst = appendNested(dst, &c.types[k], col.Any[i], false)
		}
	}
	return dst
}

// errDamaged is the cause of every decoding error.
type errDamaged struct{ what string }

func (e errDamaged) Error() string { return "damaged row: " + e.what }

// Decode appends the row at the start of src to the columns and gives the bytes behind it. After an error, which any
// damaged input gives, the columns are as before.
func (c *RowCodec) Decode(src []byte, cols []*Column) ([]byte, error) {
	at := 0
	if len(cols) > 0 {
		at = cols[0].Len()
	}
	rest, k, err := c.decode(src, cols)
	if err != nil {
		for _, col := range cols[:k] {
			col.Truncate(at)
		}
		return src, fmt.Errorf("column %d, %s: %w", k+1, c.types[min(k, len(c.types)-1)].Name(), err)
	}
	return rest, nil
}

// decode gives the number of columns done beside the rest.
func (c *RowCodec) decode(src []byte, cols []*Column) ([]byte, int, error) {
	if len(src) < c.head {
		return nil, 0, errDamaged{"no room for the NULL bitmap"}
	}
	head, ints := src[:c.head], 2*c.nulls // ints counts halves of bytes
	src = src[c.head:]
	for k, f := range c.forms {
		col := cols[k]
		if head[k>>3]&(1<<(k&7)) != 0 {
			col.AppendNull()
			if f == formInt {
				ints++
			}
			continue
		}
		if size := formSize[f]; len(src) < size {
			return nil, k, errDamaged{"value cut short"}
		}
		switch f {
		case form1:
			col.AppendInt(int64(int8(src[0])))
		case form2:
			col.AppendInt(int64(int16(binary.LittleEndian.Uint16(src))))
		case formInt:
			n := int(head[ints>>1] >> (ints & 1 * 4) & 15)
			ints++
			if n > 8 || n > len(src) {
				return nil, k, errDamaged{"value cut short"}
			}
			v := shortInt(src, n)
			col.AppendInt(int64(v>>1) ^ -int64(v&1))
			src = src[n:]
		case formFloat:
			col.AppendFloat(float64(math.Float32frombits(binary.LittleEndian.Uint32(src))))
		case formDouble:
			col.AppendFloat(math.Float64frombits(binary.LittleEndian.Uint64(src)))
		case formWide:
			col.AppendWide(Int128{Lo: binary.LittleEndian.Uint64(src), Hi: int64(binary.LittleEndian.Uint64(src[8:]))})
		case formStr:
			s, rest, err := c.str(src)
			if err != nil {
				return nil, k, err
			}
			col.AppendStr(s)
			src = rest
		case formNested:
			v, rest, err := c.nested(src, &c.types[k])
			if err != nil {
				return nil, k, err
			}
			col.AppendAny(v)
			src = rest
		default:
			return nil, k, errDamaged{"a value of a type that has none"}
		}
		src = src[formSize[f]:]
	}
	return src, len(cols), nil
}

// formSize is the size of values of a fixed size.
var formSize = [...]int{form1: 1, form2: 2, form4: 4, form8: 8, formFloat: 4, formDouble: 8, formWide: 16, formStr: 0, formNested: 0, formInt: 0}

// shortInt reads the n bytes of an integer at the front of src.
func shortInt(src []byte, n int) uint64 {
	if len(src) >= 8 {
		return binary.LittleEndian.Uint64(src) & (1<<(8*n) - 1)
	}
	v := uint64(0)
	for i := n - 1; i >= 0; i-- {
		v = v<<8 | uint64(src[i])
	}
	return v
}

func (c *RowCodec) str(src []byte) (string, []byte, error) {
	n, w := binary.Uvarint(src)
	if w <= 0 || n > uint64(len(src)-w) {
		return "", nil, errDamaged{"text longer than the row"}
	}
	b := src[w : w+int(n)]
	if c.Share {
		return unsafe.String(unsafe.SliceData(b), len(b)), src[w+int(n):], nil
	}
	return c.copies.Copy(b), src[w+int(n):], nil
}

// AppendDatum appends one value of type t as the row codec has it within an ARRAY, without a NULL bit: d must not be NULL.
func AppendDatum(dst []byte, t Type, d Datum) []byte { return appendValue(dst, &t, d, false) }

// appendValue is AppendDatum; canonical puts the entries of maps in the order of their bytes.
func appendValue(dst []byte, t *Type, d Datum, canonical bool) []byte {
	switch formOf(t.Kind, t.Phys()) {
	case form1:
		return append(dst, byte(d.I))
	case form2:
		return binary.LittleEndian.AppendUint16(dst, uint16(d.I))
	case form4:
		return binary.LittleEndian.AppendUint32(dst, uint32(d.I))
	case form8, formDouble:
		return binary.LittleEndian.AppendUint64(dst, uint64(d.I))
	case formFloat:
		return binary.LittleEndian.AppendUint32(dst, math.Float32bits(float32(d.Float())))
	case formWide:
		return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(dst, d.Lo), uint64(d.I))
	case formStr:
		return append(binary.AppendUvarint(dst, uint64(len(d.S))), d.S...)
	case formNested:
		return appendNested(dst, t, d.A, canonical)
	}
	return dst
}

func appendNested(dst []byte, t *Type, v any, canonical bool) []byte {
	switch v := v.(type) {
	case *List:
		dst = binary.AppendUvarint(dst, uint64(len(v.Elems)))
		return appendMany(dst, v.Elems, func(int) *Type { return t.Elem }, canonical)
	case *MapValue:
		key, val := mapTypes(t)
		if canonical && len(v.Keys) > 1 {
			return appendSorted(dst, key, val, v)
		}
		dst = binary.AppendUvarint(dst, uint64(len(v.Keys)))
		dst = appendMany(dst, v.Keys, func(int) *Type { return key }, canonical)
		return appendMany(dst, v.Vals, func(int) *Type { return val }, canonical)
	case *Tuple:
		return appendMany(dst, v.Fields, func(i int) *Type { return &t.Fields[i].Type }, canonical)
	}
	panic(fmt.Sprintf("types: a %T in a %s column", v, t.Name()))
}

// mapTypes gives the types of the keys and values of a MAP or MULTISET.
func mapTypes(t *Type) (key, val *Type) {
	if t.Kind == Multiset {
		return t.Elem, &countType
	}
	return t.Key, t.Elem
}

// countType is the type of a MULTISET's counts.
var countType = Type{Kind: Int, NotNull: true}

func appendMany(dst []byte, ds []Datum, typ func(int) *Type, canonical bool) []byte {
	at := len(dst)
	for range (len(ds) + 7) / 8 {
		dst = append(dst, 0)
	}
	for i := range ds {
		if ds[i].Null {
			dst[at+i>>3] |= 1 << (i & 7)
		} else {
			dst = appendValue(dst, typ(i), ds[i], canonical)
		}
	}
	return dst
}

// appendSorted appends a map with its entries in the order of their encoded keys and values, NULL first, so that equal
// maps have equal bytes.
func appendSorted(dst []byte, key, val *Type, m *MapValue) []byte {
	type entry struct {
		i     int
		bytes []byte
	}
	entries := make([]entry, len(m.Keys))
	for i := range entries {
		one := func(d []Datum, t *Type, b []byte) []byte {
			return appendMany(b, d[i:i+1], func(int) *Type { return t }, true)
		}
		entries[i] = entry{i, one(m.Vals, val, one(m.Keys, key, nil))}
	}
	slices.SortFunc(entries, func(a, b entry) int { return bytes.Compare(a.bytes, b.bytes) })
	sorted := MapValue{Keys: make([]Datum, len(entries)), Vals: make([]Datum, len(entries))}
	for k, e := range entries {
		sorted.Keys[k], sorted.Vals[k] = m.Keys[e.i], m.Vals[e.i]
	}
	dst = binary.AppendUvarint(dst, uint64(len(entries)))
	dst = appendMany(dst, sorted.Keys, func(int) *Type { return key }, true)
	return appendMany(dst, sorted.Vals, func(int) *Type { return val }, true)
}

// DecodeDatum reads a value of type t that AppendDatum wrote and gives the bytes behind it. Text is copied.
func DecodeDatum(src []byte, t Type) (Datum, []byte, error) {
	var c RowCodec
	return c.value(src, &t)
}

func (c *RowCodec) value(src []byte, t *Type) (Datum, []byte, error) {
	f := formOf(t.Kind, t.Phys())
	n := formSize[f]
	if len(src) < n {
		return Datum{}, nil, errDamaged{"value cut short"}
	}
	var d Datum
	var err error
	switch f {
	case form1:
		d.I = int64(int8(src[0]))
	case form2:
		d.I = int64(int16(binary.LittleEndian.Uint16(src)))
	case form4:
		d.I = int64(int32(binary.LittleEndian.Uint32(src)))
	case form8, formDouble:
		d.I = int64(binary.LittleEndian.Uint64(src))
	case formFloat:
		d = FloatDatum(float64(math.Float32frombits(binary.LittleEndian.Uint32(src))))
	case formWide:
		d = Datum{Lo: binary.LittleEndian.Uint64(src), I: int64(binary.LittleEndian.Uint64(src[8:]))}
	case formStr:
		d.S, src, err = c.str(src)
	case formNested:
		d.A, src, err = c.nested(src, t)
	default:
		err = errDamaged{"a value of a type that has none"}
	}
	if err != nil {
		return Datum{}, nil, err
	}
	return d, src[n:], nil
}

func (c *RowCodec) nested(src []byte, t *Type) (any, []byte, error) {
	if t.Kind == Row {
		ds, rest, err := c.many(src, len(t.Fields), func(i int) *Type { return &t.Fields[i].Type })
		return &Tuple{Fields: ds}, rest, err
	}
	n, w := binary.Uvarint(src)
	if w <= 0 || n > 8*uint64(len(src)-w) {
		return nil, nil, errDamaged{"more elements than the row has room for"}
	}
	src = src[w:]
	if t.Kind == Array {
		ds, rest, err := c.many(src, int(n), func(int) *Type { return t.Elem })
		return &List{Elems: ds}, rest, err
	}
	key, val := mapTypes(t)
	m := &MapValue{}
	var err error
	if m.Keys, src, err = c.many(src, int(n), func(int) *Type { return key }); err != nil {
		return nil, nil, err
	}
	m.Vals, src, err = c.many(src, int(n), func(int) *Type { return val })
	return m, src, err
}

func (c *RowCodec) many(src []byte, n int, typ func(int) *Type) ([]Datum, []byte, error) {
	w := (n + 7) / 8
	if len(src) < w {
		return nil, nil, errDamaged{"no room for the NULL bitmap"}
	}
	nulls := src[:w]
	src = src[w:]
	set := 0
	for _, b := range nulls {
		set += bits.OnesCount8(b)
	}
	if n-set > len(src) && n > 0 && formOf(typ(0).Kind, typ(0).Phys()) != formNested {
		return nil, nil, errDamaged{"more elements than the row has room for"}
	}
	ds := make([]Datum, n)
	var err error
	for i := range ds {
		if nulls[i>>3]&(1<<(i&7)) != 0 {
			ds[i].Null = true
			continue
		}
		if ds[i], src, err = c.value(src, typ(i)); err != nil {
			return nil, nil, err
		}
	}
	return ds, src, nil
}
