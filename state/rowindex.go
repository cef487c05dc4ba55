package state

import "math/bits"

// rowIndex finds the newest row of every key of one key group of a log. A slot is the hash's tag and the low half of
// the row; the key is that of the row. All rows of a log lie within 2^32 numbers, so the low half is enough.
type rowIndex struct {
	slots []uint64
	n     int
	shift uint8
}

// find gives the slot and the newest row of a key; the row is 0 if there is none.
func (l *Log) find(k Key) (x *rowIndex, slot uint32, r Row) {
	x = &l.index[k.Group-l.first]
	if len(x.slots) == 0 {
		return x, 0, 0
	}
	tag, mask := tagOf(k.Hash), uint32(len(x.slots)-1)
	for p := tag >> (x.shift & 31); ; p++ {
		p &= mask
		s := x.slots[p]
		if s == 0 {
			return x, p, 0
		}
		if uint32(s>>32) == tag {
			r := l.whole(uint32(s))
			if c, rec := l.row(r); rec != nil && c.sameKey(rec, k.Words) {
				return x, p, r
			}
		}
	}
}

// whole gives the row with the given low half; 0 stands for no row.
func (l *Log) whole(low uint32) Row {
	if low == 0 {
		return 0
	}
	first := l.base<<chunkBits + 1
	return Row(first + uint64(low-uint32(first)))
}

// slotOf is the content of the slot of a row.
func slotOf(tag uint32, r Row) uint64 { return uint64(tag)<<32 | uint64(uint32(r)) }

// crowded reports whether another key would make too many.
func (x *rowIndex) crowded() bool { return x.n*4 >= len(x.slots)*3 }

// put makes r the newest row of a key that has none.
func (x *rowIndex) put(tag uint32, r Row) {
	if x.crowded() {
		x.grow()
	}
	mask := uint32(len(x.slots) - 1)
	p := tag >> (x.shift & 31)
	for x.slots[p&mask] != 0 {
		p++
	}
	x.slots[p&mask] = slotOf(tag, r)
	x.n++
}

func (x *rowIndex) grow() {
	old := x.slots
	n := max(16, 2*len(old))
	x.slots, x.shift, x.n = allocWords(n), uint8(32-bits.Len(uint(n-1))), 0
	mask := uint32(n - 1)
	for _, s := range old {
		if s == 0 {
			continue
		}
		p := uint32(s>>32) >> x.shift
		for x.slots[p&mask] != 0 {
			p++
		}
		x.slots[p&mask] = s
		x.n++
	}
}

// slot gives the slot that names a row, which is the newest of its key.
func (x *rowIndex) slot(tag uint32, r Row) (slot uint32, ok bool) {
	if len(x.slots) == 0 {
		return 0, false
	}
	mask, want := uint32(len(x.slots)-1), slotOf(tag, r)
	for p := tag >> (x.shift & 31); ; p++ {
		p &= mask
		switch x.slots[p] {
		case want:
			return p, true
		case 0:
			return 0, false
		}
	}
}

// remove empties a slot and shifts the ones behind it back towards their homes.
func (x *rowIndex) remove(p uint32) {
	mask := uint32(len(x.slots) - 1)
	for q := (p + 1) & mask; ; q = (q + 1) & mask {
		s := x.slots[q]
		if s == 0 {
			break
		}
		home := uint32(s>>32) >> x.shift
		if (q-home)&mask >= (q-p)&mask {
			x.slots[p] = s
			p = q
		}
	}
	x.slots[p] = 0
	x.n--
}

// renew puts the newest row of a key in the place of another; 0: the key has no row any more.
func (l *Log) renew(c *chunk, rec []uint64, i int, r, newest Row) {
	x := &l.index[int32(c.groups[i])-l.first]
	tag := uint32(rec[rowHead] >> 32)
	slot, ok := x.slot(tag, r)
	switch {
	case !ok:
	case newest == 0:
		x.remove(slot)
	default:
		x.slots[slot] = slotOf(tag, newest)
	}
}
