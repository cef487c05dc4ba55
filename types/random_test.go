package types

import (
	"math"
	"math/rand/v2"
)

// scalarTypes has every logical type that holds values and is not nested.
var scalarTypes = []Type{
	Of(Boolean), Of(TinyInt), Of(SmallInt), Of(Int), Of(BigInt), Of(Float), Of(Double), DecimalOf(9, 2), DecimalOf(18, 0),
	DecimalOf(19, 4), DecimalOf(38, 18), CharOf(3), VarcharOf(20), String(), Of(Binary), Bytes(), Of(Date), Of(Time),
	TimestampOf(0), TimestampOf(3), TimestampOf(6), TimestampOf(9), TimestampLTZOf(3), TimestampLTZOf(9),
	Of(IntervalMonths), Of(IntervalMillis), {Kind: Raw, Class: "x"},
}

// nestedTypes has every constructor, some within others.
var nestedTypes = []Type{
	ArrayOf(Of(Int)), ArrayOf(String()), MapOf(String(), Of(Int)), MultisetOf(String()), MapOf(Of(BigInt), ArrayOf(Of(Double))),
	RowOf(Field{Name: "a", Type: Of(Int)}, Field{Name: "b", Type: String().Required()}),
	ArrayOf(RowOf(Field{Name: "m", Type: MapOf(String(), DecimalOf(30, 2))}, Field{Name: "t", Type: TimestampOf(9)})), RowOf(),
}

func allTypes() []Type {
	ts := append([]Type{{Kind: Null}}, scalarTypes...)
	return append(ts, nestedTypes...)
}

// randomDatum makes a value of type t, NULL now and then if the type allows it.
func randomDatum(r *rand.Rand, t Type) Datum {
	if t.Kind == Null || !t.NotNull && r.IntN(5) == 0 {
		return NullDatum()
	}
	pick := func(n int64) int64 { return []int64{0, 1, -1, n, -n, r.Int64N(2*n+1) - n}[r.IntN(6)] }
	switch t.Kind {
	case Boolean:
		return BoolDatum(r.IntN(2) == 0)
	case TinyInt:
		return IntDatum(pick(127))
	case SmallInt:
		return IntDatum(pick(32767))
	case Int, IntervalMonths:
		return IntDatum(pick(math.MaxInt32))
	case BigInt, IntervalMillis:
		return IntDatum([]int64{0, 7, math.MinInt64, math.MaxInt64, int64(r.Uint64())}[r.IntN(5)])
	case Float:
		return FloatDatum(float64(float32([]float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), 1.1, r.NormFloat64()}[r.IntN(6)])))
	case Double:
		return FloatDatum([]float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(-1), 1e300, r.NormFloat64()}[r.IntN(6)])
	case Decimal:
		v := randomInt128(r)
		for !v.Fits(t.Precision) {
			v = randomInt128(r)
		}
		if t.Phys() == PhysInt {
			return IntDatum(int64(v.Lo))
		}
		return WideDatum(v)
	case Date:
		return IntDatum(pick(2932896))
	case Time:
		return IntDatum(r.Int64N(86400000))
	case Timestamp, TimestampLTZ:
		us := pick(253402300799999999)
		if t.Phys() == PhysWide {
			return WideDatum(Int128{Hi: us, Lo: uint64(r.IntN(1000))})
		}
		return IntDatum(us)
	}
	if t.Phys() == PhysStr {
		return StrDatum([]string{"", "a", "é😀", "exactly8", "longer than one word", string(make([]byte, 9))}[r.IntN(6)])
	}
	return randomNested(r, t)
}

func randomNested(r *rand.Rand, t Type) Datum {
	many := func(n int, t Type) []Datum {
		ds := make([]Datum, n)
		for i := range ds {
			ds[i] = randomDatum(r, t)
		}
		return ds
	}
	n := r.IntN(5)
	switch t.Kind {
	case Array:
		return AnyDatum(&List{Elems: many(n, *t.Elem)})
	case Row:
		tuple := &Tuple{Fields: []Datum{}}
		for _, f := range t.Fields {
			tuple.Fields = append(tuple.Fields, randomDatum(r, f.Type))
		}
		return AnyDatum(tuple)
	}
	key, val := mapTypes(&t)
	m := &MapValue{Keys: []Datum{}, Vals: []Datum{}}
	seen := map[string]bool{}
	for _, k := range many(n, *key) {
		text := string(appendMany(nil, []Datum{k}, func(int) *Type { return key }, true))
		if !seen[text] {
			seen[text] = true
			m.Keys = append(m.Keys, k)
			m.Vals = append(m.Vals, randomDatum(r, *val))
		}
	}
	return AnyDatum(m)
}

// randomBatch makes a batch of the given columns.
func randomBatch(r *rand.Rand, rows int, ts ...Type) *Batch {
	fields := make([]Field, len(ts))
	for i, t := range ts {
		fields[i] = Field{Name: "c", Type: t}
	}
	b := NewBatch(fields)
	for range rows {
		for i, t := range ts {
			b.Cols[i].Append(randomDatum(r, t))
		}
		b.Push(Insert)
	}
	return b
}
