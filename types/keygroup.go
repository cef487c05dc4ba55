package types

import (
	"math"
	"math/bits"
	"slices"
)

// HashKey is the one hash of a key: of the words that a KeyCodec makes. It deals rows to subtasks and picks table slots,
// and both are stored, so it never changes. All 64 bits are usable.
func HashKey(key []uint64) uint64 {
	h := uint64(len(key)) * 0xE7037ED1A0B428DB
	for _, w := range key {
		hi, lo := bits.Mul64(w^h^0x9E3779B97F4A7C15, 0xA0761D6478BD642F)
		h = hi ^ lo
	}
	return h
}

// HashWord is HashKey of a key of one word.
func HashWord(w uint64) uint64 {
	hi, lo := bits.Mul64(w^(0xE7037ED1A0B428DB^0x9E3779B97F4A7C15), 0xA0761D6478BD642F)
	return hi ^ lo
}

// Bounds of pipeline.max-parallelism.
const (
	MinMaxParallelism = 1 << 7
	MaxMaxParallelism = 1 << 15
)

// DefaultMaxParallelism is the number of key groups of a job of the given parallelism that does not set
// pipeline.max-parallelism: half as much again, rounded up to a power of two, within 128..32768.
func DefaultMaxParallelism(parallelism int) int {
	n := parallelism + parallelism/2
	return min(max(1<<bits.Len(uint(max(n, 1)-1)), MinMaxParallelism), MaxMaxParallelism)
}

// Murmur is Flink's scrambling of a 32-bit hash, the murmur3 of its four bytes made non-negative.
func Murmur(code int32) int32 {
	c := uint32(code)
	c *= 0xcc9e2d51
	c = bits.RotateLeft32(c, 15)
	c *= 0x1b873593
	c = bits.RotateLeft32(c, 13)
	c = c*5 + 0xe6546b64
	c ^= 4
	c ^= c >> 16
	c *= 0x85ebca6b
	c ^= c >> 13
	c *= 0xc2b2ae35
	c ^= c >> 16
	n, sign := int32(c), int32(c)>>31
	return (n ^ sign - sign) & math.MaxInt32 // the least int becomes 0
}

// KeyGroup gives the key group of a key with the given hash, in 0..maxParallelism-1.
func KeyGroup(hash uint64, maxParallelism int) int {
	return int(Murmur(int32(hash^hash>>32))) % maxParallelism
}

// KeyGroups appends the key group of every hash to dst.
func KeyGroups(dst []int32, hashes []uint64, maxParallelism int) []int32 {
	at := len(dst)
	dst = slices.Grow(dst, len(hashes))[:at+len(hashes)]
	if m := int32(maxParallelism); m&(m-1) == 0 {
		for i, h := range hashes {
			dst[at+i] = Murmur(int32(h^h>>32)) & (m - 1)
		}
		return dst
	}
	for i, h := range hashes {
		dst[at+i] = int32(KeyGroup(h, maxParallelism))
	}
	return dst
}

// SubtaskOf gives the subtask, of parallelism many, that owns a key group.
func SubtaskOf(keyGroup, parallelism, maxParallelism int) int {
	return keyGroup * parallelism / maxParallelism
}

// KeyGroupRange gives the first and the last key group of a subtask; last < first when it has none.
func KeyGroupRange(subtask, parallelism, maxParallelism int) (first, last int) {
	return (subtask*maxParallelism + parallelism - 1) / parallelism, ((subtask+1)*maxParallelism - 1) / parallelism
}
