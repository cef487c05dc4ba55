package types

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestCompareAgrees: order, equality, hash and key words of every type tell the same story.
func TestCompareAgrees(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, typ := range allTypes() {
		b := randomBatch(r, 120, typ)
		col := b.Cols[0]
		codec := NewKeyCodec([]Type{typ})
		for i := range int32(b.Len) {
			j := int32(r.IntN(b.Len))
			x, y := col.At(i), col.At(j)
			order, equal := CompareCells(col, i, col, j), EqualCells(col, i, col, j)
			if order != Compare(&typ, &x, &y) || equal != Equal(&typ, &x, &y) || order != -CompareCells(col, j, col, i) {
				t.Fatalf("%v: cells and single values differ: %+v %+v", typ, x, y)
			}
			if equal && (order != 0 || HashDatum(&typ, &x) != HashDatum(&typ, &y)) {
				t.Fatalf("%v: equal but not the same: %+v %+v", typ, x, y)
			}
			words := slices.Equal(codec.Append(nil, b.Cols, []int{0}, i), codec.Append(nil, b.Cols, []int{0}, j))
			if typ.Kind != Null && words != equal {
				t.Fatalf("%v: equality and key words differ: %+v %+v", typ, x, y)
			}
		}
	}
}

func TestCompareOrder(t *testing.T) {
	row := RowOf(Field{Name: "a", Type: Of(Int)}, Field{Name: "b", Type: String()})
	tuple := func(a int64, b string) Datum { return AnyDatum(&Tuple{[]Datum{IntDatum(a), StrDatum(b)}}) }
	for _, c := range []struct {
		t    Type
		less []Datum // ascending
	}{
		{Of(Int), []Datum{NullDatum(), IntDatum(-1), IntDatum(0), IntDatum(5)}},
		{Of(Boolean), []Datum{NullDatum(), BoolDatum(false), BoolDatum(true)}},
		{Of(Double), []Datum{NullDatum(), FloatDatum(math.Inf(-1)), FloatDatum(-1), FloatDatum(2), FloatDatum(math.Inf(1)), FloatDatum(math.NaN())}},
		{String(), []Datum{NullDatum(), StrDatum(""), StrDatum("Z"), StrDatum("a"), StrDatum("a "), StrDatum("é"), StrDatum("😀")}},
		{Bytes(), []Datum{NullDatum(), StrDatum("\x0b"), StrDatum("\x0c"), StrDatum("\xff")}},
		{DecimalOf(38, 0), []Datum{WideDatum(Pow10(37).Neg()), WideDatum(Int128Of(-1)), WideDatum(Int128Of(1)), WideDatum(Pow10(20))}},
		{TimestampOf(9), []Datum{WideDatum(Int128{-1, 999}), WideDatum(Int128{0, 0}), WideDatum(Int128{0, 1})}},
		{ArrayOf(Of(Int)), []Datum{NullDatum(), AnyDatum(&List{}), AnyDatum(&List{[]Datum{IntDatum(1)}}), AnyDatum(&List{[]Datum{IntDatum(1), NullDatum()}})}},
		{row, []Datum{NullDatum(), tuple(1, "b"), tuple(2, "a"), tuple(2, "b")}},
	} {
		for i := range c.less {
			for j := range c.less {
				want := min(max(i-j, -1), 1)
				if got := Compare(&c.t, &c.less[i], &c.less[j]); got != want {
					t.Errorf("%v: %+v against %+v: %d, want %d", c.t, c.less[i], c.less[j], got, want)
				}
			}
		}
	}
	d := Of(Double)
	pos, neg := FloatDatum(0), FloatDatum(math.Copysign(0, -1))
	if Compare(&d, &pos, &neg) != 0 || Equal(&d, &pos, &neg) {
		t.Error("the two zeros are one in order and two as keys")
	}
}
