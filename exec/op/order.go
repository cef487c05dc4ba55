package op

import (
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
