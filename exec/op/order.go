package op

import (
	"encoding/binary"
	"math"

	"runnel/state"
	"runnel/types"
)

// SortKey is one key of an ordering.
type SortKey struct {
	Column    int
	Desc      bool
	NullsLast bool
}

// ordering compares rows by sort keys.
type ordering []SortKey

// compare compares row i of a with row j of b; rows with equal keys give 0.
func (o ordering) compare(a []*types.Column, i int32, b []*types.Column, j int32) int {
	for _, k := range o {
		x, y := a[k.Column], b[k.Column]
		if xn, yn := x.Null(i), y.Null(j); xn || yn {
			if xn == yn {
				continue
			}
			if xn == k.NullsLast {
				return 1
			}
			return -1
		}
		if c := types.CompareCells(x, i, y, j); c != 0 {
			if k.Desc {
				return -c
			}
			return c
		}
	}
	return 0
}

// prefix gives a word for a row that decides most comparisons: if one row's is smaller, that row comes first.
func (o ordering) prefix(cols []*types.Column, i int32) uint64 {
	if len(o) == 0 {
		return 0
	}
	k := o[0]
	c, w := cols[k.Column], uint64(0)
	switch null := c.Null(i); {
	case null && k.NullsLast:
		return 1 << 63
	case null:
		return 0
	}
	switch c.Phys() {
	case types.PhysInt:
		w = state.OrderedInt(c.Int[i]) >> 1
	case types.PhysWide:
		w = state.OrderedInt(c.Wide[i].Hi) >> 1
	case types.PhysStr:
		var b [8]byte
		copy(b[:], c.Str[i])
		w = binary.BigEndian.Uint64(b[:]) >> 1
	}
	if k.Desc {
		w = 1<<63 - 1 - w
	}
	if !k.NullsLast {
		w |= 1 << 63
	}
	return w
}

// words appends the sort keys of a row as words whose unsigned order is the ordering, for a sorted set of state.
func (o ordering) words(dst []uint64, cols []*types.Column, i int32) []uint64 {
	for _, k := range o {
		c := cols[k.Column]
		switch {
		case c.Null(i) && k.NullsLast:
			dst = append(dst, 2)
			continue
		case c.Null(i):
			dst = append(dst, 0)
			continue
		}
		dst = append(dst, 1)
		at := len(dst)
		switch c.Phys() {
		case types.PhysInt:
			dst = append(dst, state.OrderedInt(c.Int[i]))
		case types.PhysFloat:
			f := c.Flt[i]
			if f != f {
				f = math.NaN() // all are equal
			}
			dst = append(dst, state.OrderedFloat(f))
		case types.PhysWide:
			dst = append(dst, state.OrderedInt(c.Wide[i].Hi), c.Wide[i].Lo)
		case types.PhysStr:
			dst = state.AppendOrdered(dst, c.Str[i])
		}
		if k.Desc {
			for n := range dst[at:] {
				dst[at+n] = ^dst[at+n]
			}
		}
	}
	return dst
}
