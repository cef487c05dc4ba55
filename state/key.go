package state

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"runnel/types"
)

// Key is the encoded key of one row: the words of a types.KeyCodec, their types.HashKey, and the key group.
type Key struct {
	Words []uint64
	Hash  uint64
	Group int32
}

// KeyAt gives the key of live row i of a batch, encoded by a types.KeyCodec and dealt by types.KeyGroups.
func KeyAt(k *types.Keys, groups []int32, i int) Key { return Key{k.Key(i), k.Hash[i], groups[i]} }

// maxGroups is the greatest number of key groups.
const maxGroups = types.MaxMaxParallelism

// Range is a range of key groups, both ends included.
type Range struct {
	First int32 `json:"first"`
	Last  int32 `json:"last"`
}

// Has reports whether g lies in the range.
func (r Range) Has(g int32) bool { return r.First <= g && g <= r.Last }

// Overlaps reports whether the ranges have a group in common.
func (r Range) Overlaps(o Range) bool { return r.First <= o.Last && o.First <= r.Last }

// Len is the number of groups.
func (r Range) Len() int { return int(r.Last-r.First) + 1 }

// String prints the range as 0-63.
func (r Range) String() string { return fmt.Sprintf("%d-%d", r.First, r.Last) }

// RangeOf gives the key groups of one subtask.
func RangeOf(subtask, parallelism, maxParallelism int) Range {
	first, last := types.KeyGroupRange(subtask, parallelism, maxParallelism)
	return Range{int32(first), int32(last)}
}

// tagOf is the part of a hash that tables keep. Its high bits are the home slot.
func tagOf(hash uint64) uint32 { return uint32(hash >> 32) }

// hashElem is the hash of an element of a collection: the owner's number and the element's words. It is stored in
// checkpoints as part of the record and must never change.
func hashElem(owner uint64, words []uint64) uint64 {
	hi, lo := bits.Mul64(owner^0x9E3779B97F4A7C15, 0xA0761D6478BD642F)
	h := hi ^ lo
	for _, w := range words {
		hi, lo = bits.Mul64(w^h, 0xE7037ED1A0B428DB)
		h = hi ^ lo
	}
	return h ^ h>>29
}

// CompareWords compares words one by one, as sorted sets are ordered.
func CompareWords(a, b []uint64) int {
	i, n := 0, min(len(a), len(b))
	for i < n && a[i] == b[i] {
		i++
	}
	switch {
	case i == n:
		return len(a) - len(b)
	case a[i] < b[i]:
		return -1
	}
	return 1
}

// OrderedInt encodes v as a word whose unsigned order is that of v, for the elements of sorted sets.
func OrderedInt(v int64) uint64 { return uint64(v) ^ 1<<63 }

// IntOf undoes OrderedInt.
func IntOf(w uint64) int64 { return int64(w ^ 1<<63) }

// OrderedFloat encodes v as a word whose unsigned order is that of v (-0 below 0, NaN above everything).
func OrderedFloat(v float64) uint64 {
	w := math.Float64bits(v)
	if w>>63 != 0 {
		return ^w
	}
	return w | 1<<63
}

// FloatOf undoes OrderedFloat.
func FloatOf(w uint64) float64 {
	if w>>63 != 0 {
		return math.Float64frombits(w &^ (1 << 63))
	}
	return math.Float64frombits(^w)
}

// AppendOrdered appends s as words whose order as unsigned sequences is that of the bytes of s, and which say
// themselves where they end: seven bytes a word, the eighth tells how many of them count (8: more words follow).
func AppendOrdered(dst []uint64, s string) []uint64 {
	for {
		var b [8]byte
		n := copy(b[:7], s)
		s = s[n:]
		b[7] = byte(n)
		if len(s) > 0 {
			b[7] = 8
		}
		dst = append(dst, binary.BigEndian.Uint64(b[:]))
		if len(s) == 0 {
			return dst
		}
	}
}

// OrderedBytes reads what AppendOrdered wrote at the front of words: the bytes appended to dst, and the words behind.
func OrderedBytes(dst []byte, words []uint64) (b []byte, rest []uint64) {
	for len(words) > 0 {
		var w [8]byte
		binary.BigEndian.PutUint64(w[:], words[0])
		words = words[1:]
		if w[7] != 8 {
			return append(dst, w[:min(w[7], 7)]...), words
		}
		dst = append(dst, w[:7]...)
	}
	return dst, words
}

// AppendBytes appends s as words, the length first. It is shorter than AppendOrdered and has no order.
func AppendBytes(dst []uint64, s string) []uint64 {
	dst = append(dst, uint64(len(s)))
	return appendPadded(dst, s)
}

func appendPadded(dst []uint64, s string) []uint64 {
	for len(s) >= 8 {
		dst = append(dst, uint64(s[0])|uint64(s[1])<<8|uint64(s[2])<<16|uint64(s[3])<<24|
			uint64(s[4])<<32|uint64(s[5])<<40|uint64(s[6])<<48|uint64(s[7])<<56)
		s = s[8:]
	}
	if len(s) > 0 {
		var b [8]byte
		copy(b[:], s)
		dst = append(dst, binary.LittleEndian.Uint64(b[:]))
	}
	return dst
}

// BytesOf reads what AppendBytes wrote at the front of words: the bytes appended to dst, and the words behind.
func BytesOf(dst []byte, words []uint64) (b []byte, rest []uint64) {
	if len(words) == 0 {
		return dst, nil
	}
	n := int(min(words[0], uint64(len(words)-1)*8))
	words = words[1:]
	for ; n >= 8; n -= 8 {
		dst = binary.LittleEndian.AppendUint64(dst, words[0])
		words = words[1:]
	}
	if n > 0 {
		var w [8]byte
		binary.LittleEndian.PutUint64(w[:], words[0])
		dst = append(dst, w[:n]...)
		words = words[1:]
	}
	return dst, words
}
