package types

import (
	"encoding/binary"
	"fmt"
	"math"
	"unsafe"
)

// KeyCodecVersion is the version of the encoding below; stored beside keyed state.
const KeyCodecVersion = 1

// KeyCodec turns key columns into words of 8 bytes and back. Two keys have equal words just when GROUP BY calls them
// equal: NULL equals NULL, floating values are equal bit by bit, maps are equal whatever the order of their entries. It
// is not safe for concurrent use.
//
// Version 1. A key is the words of its columns in order. BIGINT, DOUBLE and INTERVAL SECOND leave no value free to stand
// for NULL: if one of them is NULL, a word of NULL bits for every 64 columns (bit k of word k/64: column k) comes behind.
// So keys do not depend on what columns may be NULL; both sides of a join and the exchanges below it agree.
//
//	PhysInt        the value; NULL is the smallest int64 (0 with a NULL bit)
//	FLOAT, DOUBLE  the bits of the value as a DOUBLE; NULL of a FLOAT is 1, which no widened FLOAT has (0 with a NULL bit)
//	PhysWide       Hi, Lo; NULL is the smallest Hi and 0
//	PhysStr        length in bytes, then the bytes, the last word filled with zeros; NULL is the greatest length
//	nested         like PhysStr, over the row codec's bytes with map entries in the order of their bytes
//
// The commonest keys, one INT or one BIGINT, are one word.
type KeyCodec struct {
	types   []Type
	forms   []keyForm
	full    []int // key columns that need NULL bits
	bits    int   // words of NULL bits
	width   int   // words of a key without NULL bits, 0 when that differs
	scratch []byte
	copies  Arena
}

type keyForm uint8

const (
	keyInt    keyForm = iota // NULL is nullWord
	keyFull                  // an int64 without a free value
	keyFloat                 // NULL is nullFloat
	keyDouble                // without a free value
	keyWide
	keyStr
	keyNested
)

const (
	nullWord  = 1 << 63
	nullFloat = 1
)

// NewKeyCodec makes a codec for keys of the given types.
func NewKeyCodec(ts []Type) *KeyCodec {
	c := &KeyCodec{types: ts, forms: make([]keyForm, len(ts)), width: len(ts)}
	fixed := true
	for i, t := range ts {
		f := keyFormOf(t)
		c.forms[i] = f
		switch f {
		case keyWide:
			c.width++
		case keyStr, keyNested:
			fixed = false
		case keyFull, keyDouble:
			c.full = append(c.full, i)
			c.bits = (len(ts) + 63) / 64
		}
	}
	if !fixed {
		c.width = 0
	}
	return c
}

func keyFormOf(t Type) keyForm {
	switch t.Phys() {
	case PhysFloat:
		if t.Kind == Float {
			return keyFloat
		}
		return keyDouble
	case PhysWide:
		return keyWide
	case PhysStr:
		return keyStr
	case PhysAny:
		return keyNested
	}
	if t.Kind == BigInt || t.Kind == IntervalMillis {
		return keyFull
	}
	return keyInt
}

// Types gives the key's schema.
func (c *KeyCodec) Types() []Type { return c.types }

// Width is the number of words of every key, or 0 when keys may differ in length.
func (c *KeyCodec) Width() int {
	if len(c.full) > 0 {
		return 0
	}
	return c.width
}

// Keys holds the encoded keys of a batch's live rows, in their order, with their hashes. It is reused from batch to batch.
type Keys struct {
	Words []uint64
	Off   []uint32 // key k is Words[Off[k]:Off[k+1]]
	Hash  []uint64 // HashKey of each
}

// Len is the number of keys.
func (k *Keys) Len() int { return len(k.Hash) }

// Key gives the words of the i-th key.
func (k *Keys) Key(i int) []uint64 { return k.Words[k.Off[i]:k.Off[i+1]] }

// Encode encodes the key of every live row of a batch; cols are the positions of the key columns.
func (c *KeyCodec) Encode(b *Batch, cols []int, k *Keys) {
	sel := b.Live()
	if c.width > 0 && !c.needBits(b, cols) {
		c.encodeFixed(b, cols, sel, k)
		return
	}
	k.Words, k.Off, k.Hash = k.Words[:0], append(k.Off[:0], 0), k.Hash[:0]
	for _, i := range sel {
		at := len(k.Words)
		k.Words = c.Append(k.Words, b.Cols, cols, i)
		k.Off = append(k.Off, uint32(len(k.Words)))
		k.Hash = append(k.Hash, HashKey(k.Words[at:]))
	}
}

// needBits reports whether a key of a live row needs NULL bits.
func (c *KeyCodec) needBits(b *Batch, cols []int) bool {
	for _, j := range c.full {
		valid := b.Cols[cols[j]].Valid
		if valid == nil {
			continue
		}
		for _, i := range b.Live() {
			if !valid.Has(i) {
				return true
			}
		}
	}
	return false
}

// encodeFixed goes column by column over keys of one width.
func (c *KeyCodec) encodeFixed(b *Batch, cols []int, sel []int32, k *Keys) {
	n, w := len(sel), c.width
	k.Words, k.Hash, k.Off = grow(k.Words[:0], n*w), grow(k.Hash[:0], n), grow(k.Off[:0], n+1)
	for i := range k.Off {
		k.Off[i] = uint32(i * w)
	}
	if n == 0 {
		return
	}
	if w == 1 {
		c.encodeWord(b.Cols[cols[0]], sel, k.Words)
		for i, x := range k.Words {
			k.Hash[i] = HashWord(x)
		}
		return
	}
	at := 0
	for j, pos := range cols {
		col := b.Cols[pos]
		words := k.Words[at:]
		switch c.forms[j] {
		case keyInt, keyFull:
			for r, i := range sel {
				words[r*w] = uint64(col.Int[i])
			}
			at++
		case keyFloat, keyDouble:
			for r, i := range sel {
				words[r*w] = math.Float64bits(col.Flt[i])
			}
			at++
		case keyWide:
			for r, i := range sel {
				words[r*w], words[r*w+1] = uint64(col.Wide[i].Hi), col.Wide[i].Lo
			}
			at += 2
		}
		if col.Valid != nil {
			c.markNulls(j, col, sel, words)
		}
	}
	for i := range k.Hash {
		k.Hash[i] = HashKey(k.Words[i*w : i*w+w])
	}
}

// encodeWord fills in keys of one column and one word.
func (c *KeyCodec) encodeWord(col *Column, sel []int32, words []uint64) {
	switch c.forms[0] {
	case keyInt, keyFull:
		for r, i := range sel {
			words[r] = uint64(col.Int[i])
		}
	default:
		for r, i := range sel {
			words[r] = math.Float64bits(col.Flt[i])
		}
	}
	if col.Valid != nil {
		c.markNulls(0, col, sel, words)
	}
}

// markNulls overwrites the words of NULLs in key column j; words begin at its word of the first key.
func (c *KeyCodec) markNulls(j int, col *Column, sel []int32, words []uint64) {
	for r, i := range sel {
		if col.Valid.Has(i) {
			continue
		}
		at := r * c.width
		words[at] = c.nullOf(j)
		if c.forms[j] == keyWide {
			words[at+1] = 0
		}
	}
}

// nullOf is the first word of a NULL in key column j.
func (c *KeyCodec) nullOf(j int) uint64 {
	switch f := c.forms[j]; {
	case f == keyFull || f == keyDouble:
		return 0
	case f == keyFloat:
		return nullFloat
	default:
		return nullWord
	}
}

// Append appends the key of physical row i; cols are the positions of the key columns in from.
func (c *KeyCodec) Append(dst []uint64, from []*Column, cols []int, i int32) []uint64 {
	bits := false
	for j, pos := range cols {
		col := from[pos]
		if col.Valid != nil && !col.Valid.Has(i) {
			bits = bits || c.forms[j] == keyFull || c.forms[j] == keyDouble
			dst = append(dst, c.nullOf(j))
			if c.forms[j] == keyWide {
				dst = append(dst, 0)
			}
			continue
		}
		switch c.forms[j] {
		case keyInt, keyFull:
			dst = append(dst, uint64(col.Int[i]))
		case keyFloat, keyDouble:
			dst = append(dst, math.Float64bits(col.Flt[i]))
		case keyWide:
			dst = append(dst, uint64(col.Wide[i].Hi), col.Wide[i].Lo)
		case keyStr:
			dst = appendWords(dst, col.Str[i])
		case keyNested:
			c.scratch = appendNested(c.scratch[:0], &c.types[j], col.Any[i], true)
			dst = appendWords(dst, unsafe.String(unsafe.SliceData(c.scratch), len(c.scratch)))
		}
	}
	if !bits {
		return dst
	}
	at := len(dst)
	for range c.bits {
		dst = append(dst, 0)
	}
	for _, j := range c.full {
		if from[cols[j]].Null(i) {
			dst[at+j>>6] |= 1 << (j & 63)
		}
	}
	return dst
}

// appendWords appends the length of s and its bytes, filled up with zeros.
func appendWords(dst []uint64, s string) []uint64 {
	dst = append(dst, uint64(len(s)))
	b := unsafe.Slice(unsafe.StringData(s), len(s))
	n := len(b)
	for len(b) >= 8 {
		dst = append(dst, binary.LittleEndian.Uint64(b))
		b = b[8:]
	}
	rest := len(b)
	switch {
	case rest == 0:
		return dst
	case n >= 8: // the last eight bytes, less those that are there already
		whole := unsafe.Slice(unsafe.StringData(s), n)
		return append(dst, binary.LittleEndian.Uint64(whole[n-8:])>>(8*(8-rest)))
	case rest >= 4:
		return append(dst, uint64(binary.LittleEndian.Uint32(b))|uint64(binary.LittleEndian.Uint32(b[rest-4:]))<<(8*(rest-4)))
	}
	w := uint64(b[0])
	if rest > 1 {
		w |= uint64(b[rest-1])<<(8*(rest-1)) | uint64(b[1])<<8
	}
	return append(dst, w)
}

// Decode appends the key's values to one column per key column. After an error, which any damaged key gives, the columns
// are as before.
func (c *KeyCodec) Decode(key []uint64, cols []*Column) error {
	done, err := c.decode(key, cols)
	if err == nil && done < len(c.forms) {
		err = errDamaged{"key cut short"}
	}
	if err != nil {
		for _, col := range cols[:done] {
			col.Truncate(col.Len() - 1)
		}
		return fmt.Errorf("key column %d: %w", done+1, err)
	}
	return nil
}

// decode gives the number of columns done.
func (c *KeyCodec) decode(key []uint64, cols []*Column) (int, error) {
	for j, f := range c.forms {
		n := 1
		if f == keyWide {
			n = 2
		}
		if len(key) < n {
			return j, nil
		}
		w := key[0]
		if f != keyFull && f != keyDouble && w == c.nullOf(j) {
			cols[j].AppendNull()
			key = key[n:]
			continue
		}
		switch f {
		case keyInt, keyFull:
			cols[j].AppendInt(int64(w))
		case keyFloat, keyDouble:
			cols[j].AppendFloat(math.Float64frombits(w))
		case keyWide:
			cols[j].AppendWide(Int128{Hi: int64(w), Lo: key[1]})
		default:
			if w > 8*uint64(len(key)-1) {
				return j, errDamaged{"text longer than the key"}
			}
			n += (int(w) + 7) / 8
			if err := c.decodeBytes(key[1:n], int(w), j, cols[j]); err != nil {
				return j, err
			}
		}
		key = key[n:]
	}
	return len(c.forms), c.decodeBits(key, cols)
}

// decodeBits makes the values NULL whose bits are set in what is left of a key.
func (c *KeyCodec) decodeBits(bits []uint64, cols []*Column) error {
	if len(bits) == 0 {
		return nil
	}
	if len(bits) != c.bits {
		return errDamaged{"words behind the key"}
	}
	none := true
	for _, j := range c.full {
		if bits[j>>6]&(1<<(j&63)) != 0 {
			none = false
			cols[j].SetNull(int32(cols[j].Len() - 1))
		}
	}
	if none {
		return errDamaged{"no NULL among the NULL bits"}
	}
	return nil
}

func (c *KeyCodec) decodeBytes(words []uint64, n, j int, col *Column) error {
	b := c.scratch[:0]
	for _, w := range words {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	c.scratch = b
	b = b[:n]
	if c.forms[j] == keyStr {
		col.AppendStr(c.copies.Copy(b))
		return nil
	}
	v, rest, err := new(RowCodec).nested(b, &c.types[j])
	if err == nil && len(rest) > 0 {
		err = errDamaged{"bytes behind the value"}
	}
	if err != nil {
		return err
	}
	col.AppendAny(v)
	return nil
}
