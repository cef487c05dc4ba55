package op

import (
	"cmp"
	"math"
	"strings"

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
		if c := compareValues(x, i, y, j); c != 0 {
			if k.Desc {
				return -c
			}
			return c
		}
	}
	return 0
}

// compareValues orders two values that are not NULL. -0.0 is below 0.0 and NaN above everything, as in Java; texts go by
// their bytes.
func compareValues(x *types.Column, i int32, y *types.Column, j int32) int {
	switch x.Phys() {
	case types.PhysInt:
		return cmp.Compare(x.Int[i], y.Int[j])
	case types.PhysFloat:
		return compareFloats(x.Flt[i], y.Flt[j])
	case types.PhysWide:
		return x.Wide[i].Cmp(y.Wide[j])
	case types.PhysStr:
		return strings.Compare(x.Str[i], y.Str[j])
	}
	return 0 // nested values have no order; the planner refuses them as sort keys
}

func compareFloats(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	aNaN, bNaN := a != a, b != b
	switch {
	case aNaN && bNaN:
		return 0
	case aNaN:
		return 1
	case bNaN:
		return -1
	}
	return cmp.Compare(signRank(a), signRank(b))
}

func signRank(f float64) int {
	if math.Signbit(f) {
		return -1
	}
	return 0
}

// sameValue compares two values bit by bit; NULL is NULL.
func sameValue(x *types.Column, i int32, y *types.Column, j int32) bool {
	if xn, yn := x.Null(i), y.Null(j); xn || yn {
		return xn && yn
	}
	switch x.Phys() {
	case types.PhysInt:
		return x.Int[i] == y.Int[j]
	case types.PhysFloat:
		return math.Float64bits(x.Flt[i]) == math.Float64bits(y.Flt[j])
	case types.PhysWide:
		return x.Wide[i] == y.Wide[j]
	case types.PhysStr:
		return x.Str[i] == y.Str[j]
	}
	return x.Any[i] == y.Any[j] || string(types.AppendDatum(nil, x.Type, x.At(i))) == string(types.AppendDatum(nil, y.Type, y.At(j)))
}
