package expr

import (
	"cmp"
	"strings"

	"runnel/types"
)

// compareDatum orders two values of type t that are not NULL, as ORDER BY does: -1, 0 or 1. NaN is above everything and
// equal to itself, -0.0 below 0.0. Nested values are ordered by their elements, NULL first, shorter first.
func compareDatum(t types.Type, a, b types.Datum) int {
	switch t.Phys() {
	case types.PhysInt:
		return cmp.Compare(a.I, b.I)
	case types.PhysFloat:
		return compareFloat(a.Float(), b.Float())
	case types.PhysWide:
		return a.Wide().Cmp(b.Wide())
	case types.PhysStr:
		return strings.Compare(a.S, b.S)
	}
	return compareNested(t, a.A, b.A)
}

// compareFloat orders as java.lang.Double.compare does.
func compareFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case a == b:
		x, y := types.FloatDatum(a).I, types.FloatDatum(b).I
		return cmp.Compare(x, y) // 0.0 and -0.0 differ in the sign bit
	case a != a && b != b:
		return 0
	case a != a:
		return 1
	}
	return -1
}

// compareNull orders two values of which each may be NULL; NULL is first.
func compareNull(t types.Type, a, b types.Datum) int {
	switch {
	case a.Null && b.Null:
		return 0
	case a.Null:
		return -1
	case b.Null:
		return 1
	}
	return compareDatum(t, a, b)
}

func compareNested(t types.Type, a, b any) int {
	switch x := a.(type) {
	case *types.List:
		return compareLists(*t.Elem, x.Elems, b.(*types.List).Elems)
	case *types.Tuple:
		y := b.(*types.Tuple)
		for i, f := range t.Fields {
			if c := compareNull(f.Type, x.Fields[i], y.Fields[i]); c != 0 {
				return c
			}
		}
		return 0
	case *types.MapValue:
		y := b.(*types.MapValue)
		if equalMaps(t, x, y) {
			return 0
		}
		if c := compareLists(keyType(t), x.Keys, y.Keys); c != 0 {
			return c
		}
		if c := compareLists(valueType(t), x.Vals, y.Vals); c != 0 {
			return c
		}
		return 1
	}
	return 0
}

func compareLists(t types.Type, a, b []types.Datum) int {
	for i := range min(len(a), len(b)) {
		if c := compareNull(t, a[i], b[i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

// keyType is the type of the keys of a MAP or MULTISET.
func keyType(t types.Type) types.Type {
	if t.Kind == types.Multiset {
		return *t.Elem
	}
	return *t.Key
}

// valueType is the type of the values of a MAP or MULTISET.
func valueType(t types.Type) types.Type {
	if t.Kind == types.Multiset {
		return types.Of(types.Int).Required()
	}
	return *t.Elem
}

// equalMaps compares without regard to the order of entries.
func equalMaps(t types.Type, a, b *types.MapValue) bool {
	if len(a.Keys) != len(b.Keys) {
		return false
	}
	kt, vt := keyType(t), valueType(t)
	for i, k := range a.Keys {
		j := findDatum(kt, b.Keys, k)
		if j < 0 || compareNull(vt, a.Vals[i], b.Vals[j]) != 0 {
			return false
		}
	}
	return true
}

// findDatum gives the position of the last element equal to d, NULL being equal to NULL; -1 for none.
func findDatum(t types.Type, in []types.Datum, d types.Datum) int {
	for i := len(in) - 1; i >= 0; i-- {
		if equalDatum(t, in[i], d) {
			return i
		}
	}
	return -1
}

// equalDatum compares for equality, NULL being equal to NULL.
func equalDatum(t types.Type, a, b types.Datum) bool { return compareNull(t, a, b) == 0 }
