package expr

import (
	"encoding/binary"
	"errors"

	"runnel/types"
)

// wordCode turns values of one type into words and back, for the elements of collections. The words of two values are
// equal just when the values are, and the unsigned order of words is that of the values; nested values have no order
// and get some. NULL, where it is kept, is below all others.
//
// Version 1: with NULLs a first word of 0 for NULL, alone, or 1. Then one word for PhysInt (sign bit flipped), one for
// PhysFloat (flipped so that the order is that of numbers), two for PhysWide (the first flipped), and for bytes words
// of seven bytes, high to low, with the number of bytes used in the lowest byte, or 8 when more follow. Nested values
// are bytes in the form of types.AppendDatum.
type wordCode struct {
	t     types.Type
	nulls bool
	words []uint64
	bytes []byte
	arena types.Arena
}

func newWordCode(t types.Type) *wordCode { return &wordCode{t: t} }

// encode gives the words of row i of a column, valid until the next call.
func (w *wordCode) encode(c *types.Column, i int32) []uint64 {
	w.words = w.words[:0]
	if w.nulls {
		if c.Null(i) {
			w.words = append(w.words, 0)
			return w.words
		}
		w.words = append(w.words, 1)
	}
	switch c.Phys() {
	case types.PhysInt:
		w.words = append(w.words, uint64(c.Int[i])^1<<63)
	case types.PhysFloat:
		w.words = append(w.words, floatWord(uint64(types.FloatDatum(c.Flt[i]).I)))
	case types.PhysWide:
		w.words = append(w.words, uint64(c.Wide[i].Hi)^1<<63, c.Wide[i].Lo)
	case types.PhysStr:
		w.text(c.Str[i])
	default:
		w.bytes = types.AppendDatum(w.bytes[:0], w.t, c.At(i))
		w.text(string(w.bytes))
	}
	return w.words
}

func (w *wordCode) text(s string) {
	for len(s) > 7 {
		w.words = append(w.words, uint64(s[0])<<56|uint64(s[1])<<48|uint64(s[2])<<40|uint64(s[3])<<32|
			uint64(s[4])<<24|uint64(s[5])<<16|uint64(s[6])<<8|8)
		s = s[7:]
	}
	last := uint64(len(s))
	for k := range len(s) {
		last |= uint64(s[k]) << (56 - 8*k)
	}
	w.words = append(w.words, last)
}

// floatWord makes the bits of a float comparable as an unsigned number.
func floatWord(bits uint64) uint64 {
	if bits>>63 != 0 {
		return ^bits
	}
	return bits | 1<<63
}

var errWords = errors.New("damaged element of an accumulator")

// decode appends the value of some words to a column of the type.
func (w *wordCode) decode(words []uint64, out *types.Column) error {
	if w.nulls {
		if len(words) == 0 {
			return errWords
		}
		if words[0] == 0 {
			out.AppendNull()
			return nil
		}
		words = words[1:]
	}
	n := 1
	if out.Phys() == types.PhysWide {
		n = 2
	}
	if len(words) < n {
		return errWords
	}
	switch out.Phys() {
	case types.PhysInt:
		out.AppendInt(int64(words[0] ^ 1<<63))
	case types.PhysFloat:
		bits := words[0]
		if bits>>63 != 0 {
			bits &^= 1 << 63
		} else {
			bits = ^bits
		}
		out.AppendFloat(types.Datum{I: int64(bits)}.Float())
	case types.PhysWide:
		out.AppendWide(types.Int128{Hi: int64(words[0] ^ 1<<63), Lo: words[1]})
	case types.PhysStr:
		out.AppendStr(w.arena.Take(appendWordText(w.arena.Buf(), words)))
	default:
		w.bytes = appendWordText(w.bytes[:0], words)
		d, _, err := types.DecodeDatum(w.bytes, w.t)
		if err != nil {
			return err
		}
		out.Append(d)
	}
	return nil
}

// appendWordText appends the bytes that text has packed.
func appendWordText(dst []byte, words []uint64) []byte {
	for _, w := range words {
		n := int(min(w&0xFF, 7))
		var b [8]byte
		binary.BigEndian.PutUint64(b[:], w)
		dst = append(dst, b[:n]...)
	}
	return dst
}
