package types

import (
	"cmp"
	"math"
	"strings"
)

// CompareCells orders row i of a and row j of b, two columns of one type, as ORDER BY does: NULL is the smallest, FALSE
// before TRUE, text and bytes by unsigned bytes, NaN above every number and equal to itself. Nested values, which SQL
// does not order, are ordered element by element so that a sort is the same on every run.
func CompareCells(a *Column, i int32, b *Column, j int32) int {
	if an, bn := a.Null(i), b.Null(j); an || bn {
		return compareNulls(an, bn)
	}
	switch a.phys {
	case PhysInt:
		return cmp.Compare(a.Int[i], b.Int[j])
	case PhysFloat:
		return compareFloats(a.Flt[i], b.Flt[j])
	case PhysWide:
		return a.Wide[i].Cmp(b.Wide[j])
	case PhysStr:
		return strings.Compare(a.Str[i], b.Str[j])
	default:
		return compareNested(&a.Type, a.Any[i], b.Any[j])
	}
}

// Compare is CompareCells for single values of type t.
func Compare(t *Type, a, b *Datum) int {
	if a.Null || b.Null {
		return compareNulls(a.Null, b.Null)
	}
	switch t.Phys() {
	case PhysInt:
		return cmp.Compare(a.I, b.I)
	case PhysFloat:
		return compareFloats(a.Float(), b.Float())
	case PhysWide:
		return a.Wide().Cmp(b.Wide())
	case PhysStr:
		return strings.Compare(a.S, b.S)
	default:
		return compareNested(t, a.A, b.A)
	}
}

func compareNulls(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	default:
		return 1
	}
}

func compareFloats(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case a == b:
		return 0
	}
	return compareNulls(a == a, b == b) // the number before NaN
}

func compareNested(t *Type, a, b any) int {
	switch x := a.(type) {
	case *List:
		return compareMany(func(int) *Type { return t.Elem }, x.Elems, b.(*List).Elems)
	case *Tuple:
		return compareMany(func(i int) *Type { return &t.Fields[i].Type }, x.Fields, b.(*Tuple).Fields)
	}
	return strings.Compare(view(appendNested(nil, t, a, true)), view(appendNested(nil, t, b, true)))
}

func compareMany(typ func(int) *Type, a, b []Datum) int {
	for i := range min(len(a), len(b)) {
		if c := Compare(typ(i), &a[i], &b[i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

// EqualCells reports whether row i of a and row j of b, two columns of one type, are one value to GROUP BY, DISTINCT and
// a changelog: NULL equals NULL, floating values are compared bit by bit, maps whatever the order of their entries.
func EqualCells(a *Column, i int32, b *Column, j int32) bool {
	if an, bn := a.Null(i), b.Null(j); an || bn {
		return an && bn
	}
	switch a.phys {
	case PhysInt:
		return a.Int[i] == b.Int[j]
	case PhysFloat:
		return math.Float64bits(a.Flt[i]) == math.Float64bits(b.Flt[j])
	case PhysWide:
		return a.Wide[i] == b.Wide[j]
	case PhysStr:
		return a.Str[i] == b.Str[j]
	default:
		return equalNested(&a.Type, a.Any[i], b.Any[j])
	}
}

// Equal is EqualCells for single values of type t.
func Equal(t *Type, a, b *Datum) bool {
	if a.Null || b.Null {
		return a.Null && b.Null
	}
	switch t.Phys() {
	case PhysInt, PhysFloat:
		return a.I == b.I
	case PhysWide:
		return a.I == b.I && a.Lo == b.Lo
	case PhysStr:
		return a.S == b.S
	default:
		return equalNested(t, a.A, b.A)
	}
}

func equalNested(t *Type, a, b any) bool {
	switch x := a.(type) {
	case *List:
		y := b.(*List)
		if len(x.Elems) != len(y.Elems) {
			return false
		}
		for i := range x.Elems {
			if !Equal(t.Elem, &x.Elems[i], &y.Elems[i]) {
				return false
			}
		}
		return true
	case *Tuple:
		y := b.(*Tuple)
		for i := range x.Fields {
			if !Equal(&t.Fields[i].Type, &x.Fields[i], &y.Fields[i]) {
				return false
			}
		}
		return true
	}
	if len(a.(*MapValue).Keys) != len(b.(*MapValue).Keys) {
		return false
	}
	return string(appendNested(nil, t, a, true)) == string(appendNested(nil, t, b, true))
}

// EqualRows reports whether row i of a and row j of b, of the same schema, have equal cells. Kinds are not compared.
func EqualRows(a []*Column, i int32, b []*Column, j int32) bool {
	for k := range a {
		if !EqualCells(a[k], i, b[k], j) {
			return false
		}
	}
	return true
}

// HashDatum is a hash of a value of type t that agrees with Equal. It serves sets in memory; what is stored uses HashKey.
func HashDatum(t *Type, d *Datum) uint64 {
	if d.Null {
		return 0x6c62272e07bb0142
	}
	switch t.Phys() {
	case PhysInt, PhysFloat:
		return HashWord(uint64(d.I))
	case PhysWide:
		return HashWord(HashWord(uint64(d.I)) ^ d.Lo)
	case PhysStr:
		return hashText(d.S)
	default:
		return hashText(view(appendNested(nil, t, d.A, true)))
	}
}

func hashText(s string) uint64 {
	h := uint64(len(s))
	for len(s) >= 8 {
		h = HashWord(h ^ (uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
			uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56))
		s = s[8:]
	}
	var w uint64
	for k := len(s) - 1; k >= 0; k-- {
		w = w<<8 | uint64(s[k])
	}
	return HashWord(h ^ w)
}
