package types

import "math"

// Datum is one value of any type: a constant, an element of a nested value, or a row taken out of a batch. The zero
// Datum is the integer 0 (also FALSE and ”). It is too wide for the data path, where columns are used.
type Datum struct {
	Null bool
	I    int64  // PhysInt; the bits of PhysFloat; Hi of PhysWide
	Lo   uint64 // Lo of PhysWide
	S    string // PhysStr
	A    any    // PhysAny: *List, *MapValue or *Tuple
}

// List is the value of an ARRAY. It is immutable once it is in a column.
type List struct{ Elems []Datum }

// MapValue is the value of a MAP, or of a MULTISET, whose values are INT counts. Entries keep their order. It is
// immutable once it is in a column.
type MapValue struct{ Keys, Vals []Datum }

// Tuple is the value of a ROW. It is immutable once it is in a column.
type Tuple struct{ Fields []Datum }

// NullDatum is NULL.
func NullDatum() Datum { return Datum{Null: true} }

// IntDatum is a PhysInt value.
func IntDatum(v int64) Datum { return Datum{I: v} }

// BoolDatum is a BOOLEAN.
func BoolDatum(v bool) Datum {
	if v {
		return Datum{I: 1}
	}
	return Datum{}
}

// FloatDatum is a PhysFloat value.
func FloatDatum(v float64) Datum { return Datum{I: int64(math.Float64bits(v))} }

// WideDatum is a PhysWide value.
func WideDatum(v Int128) Datum { return Datum{I: v.Hi, Lo: v.Lo} }

// StrDatum is a PhysStr value.
func StrDatum(s string) Datum { return Datum{S: s} }

// AnyDatum is a PhysAny value.
func AnyDatum(v any) Datum { return Datum{A: v} }

// Float gives a PhysFloat value.
func (d Datum) Float() float64 { return math.Float64frombits(uint64(d.I)) }

// Wide gives a PhysWide value.
func (d Datum) Wide() Int128 { return Int128{Hi: d.I, Lo: d.Lo} }

// Bool gives a BOOLEAN.
func (d Datum) Bool() bool { return d.I != 0 }

// At gives row i of the column.
func (c *Column) At(i int32) Datum {
	if c.Null(i) {
		return Datum{Null: true}
	}
	switch c.phys {
	case PhysInt:
		return Datum{I: c.Int[i]}
	case PhysFloat:
		return FloatDatum(c.Flt[i])
	case PhysWide:
		return WideDatum(c.Wide[i])
	case PhysStr:
		return Datum{S: c.Str[i]}
	default:
		return Datum{A: c.Any[i]}
	}
}

// Append appends a value of the column's type.
func (c *Column) Append(d Datum) {
	if d.Null {
		c.AppendNull()
		return
	}
	switch c.phys {
	case PhysInt:
		c.AppendInt(d.I)
	case PhysFloat:
		c.AppendFloat(d.Float())
	case PhysWide:
		c.AppendWide(d.Wide())
	case PhysStr:
		c.AppendStr(d.S)
	case PhysAny:
		c.AppendAny(d.A)
	}
}
