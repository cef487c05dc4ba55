package expr

import (
	"bytes"
	"encoding/binary"

	"runnel/types"
)

// A text is a value of any length in a chain of blocks. A block begins with the reference of the next one (8 bytes) and
// the number of bytes that it holds (4); the head of a text has all of MaxBlock's capacity or just what was needed.
const textHeader = 12

var order = binary.LittleEndian

// textPart is what a block of a text or log holds.
func textPart(block []byte) []byte {
	return block[textHeader : textHeader+int(order.Uint32(block[8:]))]
}

// newText stores s and gives its reference; it is never 0, not even for an empty text.
func newText[T string | []byte](h Heap, s T) uint64 {
	first, last := uint64(0), uint64(0)
	for first == 0 || len(s) > 0 {
		n := min(len(s), MaxBlock-textHeader)
		ref := h.Alloc(textHeader + n)
		block := h.Bytes(ref, true)
		order.PutUint32(block[8:], uint32(n))
		copy(block[textHeader:], s[:n])
		if first == 0 {
			first = ref
		} else {
			order.PutUint64(h.Bytes(last, true), ref)
		}
		last, s = ref, s[n:]
	}
	return first
}

// setText replaces the text of ref (0: none yet) by s, in place where it fits.
func setText[T string | []byte](h Heap, ref uint64, s T) uint64 {
	if ref != 0 {
		block := h.Bytes(ref, false)
		if order.Uint64(block) == 0 && len(s) <= len(block)-textHeader && len(block)-textHeader <= 2*len(s)+16 {
			block = h.Bytes(ref, true)
			order.PutUint32(block[8:], uint32(len(s)))
			copy(block[textHeader:], s)
			return ref
		}
		freeText(h, ref)
	}
	return newText(h, s)
}

// appendText appends the text of ref to dst.
func appendText(dst []byte, h Heap, ref uint64) []byte {
	for ref != 0 {
		block := h.Bytes(ref, false)
		dst = append(dst, textPart(block)...)
		ref = order.Uint64(block)
	}
	return dst
}

// compareText is bytes.Compare of the text of ref and s.
func compareText(h Heap, ref uint64, s string) int {
	for {
		block := h.Bytes(ref, false)
		part := textPart(block)
		n := min(len(part), len(s))
		if c := bytes.Compare(part[:n], []byte(s[:n])); c != 0 {
			return c
		}
		ref = order.Uint64(block)
		if n < len(part) {
			return 1
		}
		s = s[n:]
		if ref == 0 {
			if len(s) > 0 {
				return -1
			}
			return 0
		}
	}
}

func freeText(h Heap, ref uint64) {
	for ref != 0 {
		next := order.Uint64(h.Bytes(ref, false))
		h.Free(ref)
		ref = next
	}
}

// A log is a text that grows at its end. Its state is three words: the first block, the last block, the total length.
const logWords = 3

// appendLog appends s to the log in acc. Blocks double in size up to MaxBlock.
func appendLog[T string | []byte](acc []uint64, h Heap, s T) {
	acc[2] += uint64(len(s))
	for len(s) > 0 {
		size := 64
		if last := acc[1]; last != 0 {
			block := h.Bytes(last, false)
			used := int(order.Uint32(block[8:]))
			if n := min(len(block)-textHeader-used, len(s)); n > 0 {
				block = h.Bytes(last, true)
				copy(block[textHeader+used:], s[:n])
				order.PutUint32(block[8:], uint32(used+n))
				s = s[n:]
				continue
			}
			size = min(2*len(block), MaxBlock)
		}
		ref := h.Alloc(max(size, min(len(s)+textHeader, MaxBlock)))
		if acc[0] == 0 {
			acc[0] = ref
		} else {
			order.PutUint64(h.Bytes(acc[1], true), ref)
		}
		acc[1] = ref
	}
}

// appendSortable appends a form of a value that is not NULL whose bytes are ordered as the values are; equal values have
// equal bytes. Nested values have no order; they get some.
func appendSortable(dst []byte, t types.Type, d types.Datum) []byte {
	switch t.Phys() {
	case types.PhysInt:
		return binary.BigEndian.AppendUint64(dst, uint64(d.I)^1<<63)
	case types.PhysFloat:
		bits := uint64(d.I)
		if bits>>63 != 0 {
			bits = ^bits
		} else {
			bits |= 1 << 63
		}
		return binary.BigEndian.AppendUint64(dst, bits)
	case types.PhysWide:
		dst = binary.BigEndian.AppendUint64(dst, uint64(d.I)^1<<63)
		return binary.BigEndian.AppendUint64(dst, d.Lo)
	case types.PhysStr:
		return append(dst, d.S...)
	}
	return types.AppendDatum(dst, t, d)
}

// decodeSortable reads what appendSortable wrote.
func decodeSortable(src []byte, t types.Type) (types.Datum, error) {
	switch t.Phys() {
	case types.PhysInt:
		return types.IntDatum(int64(binary.BigEndian.Uint64(src) ^ 1<<63)), nil
	case types.PhysFloat:
		bits := binary.BigEndian.Uint64(src)
		if bits>>63 != 0 {
			bits &^= 1 << 63
		} else {
			bits = ^bits
		}
		return types.Datum{I: int64(bits)}, nil
	case types.PhysWide:
		return types.Datum{I: int64(binary.BigEndian.Uint64(src) ^ 1<<63), Lo: binary.BigEndian.Uint64(src[8:])}, nil
	case types.PhysStr:
		return types.StrDatum(string(src)), nil
	}
	d, _, err := types.DecodeDatum(src, t)
	return d, err
}
