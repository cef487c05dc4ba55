package types

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestTypeNames(t *testing.T) {
	for _, c := range []struct {
		t    Type
		want string
	}{
		{Of(Int), "INT"}, {Of(Int).Required(), "INT NOT NULL"}, {DecimalOf(10, 2), "DECIMAL(10, 2)"}, {String(), "STRING"},
		{VarcharOf(7), "VARCHAR(7)"}, {Bytes().Required(), "BYTES NOT NULL"}, {Of(Binary), "BINARY(1)"}, {Of(Time), "TIME(0)"},
		{Of(Timestamp), "TIMESTAMP(6)"}, {TimestampLTZOf(3), "TIMESTAMP_LTZ(3)"}, {ArrayOf(Of(Int).Required()), "ARRAY<INT NOT NULL>"},
		{MapOf(String(), ArrayOf(Of(Date))), "MAP<STRING, ARRAY<DATE>>"}, {MultisetOf(CharOf(2)), "MULTISET<CHAR(2)>"},
		{RowOf(Field{Name: "a`b", Type: Of(Int), Comment: "it's"}, Field{Name: "c", Type: String()}).Required(), "ROW<`a``b` INT 'it''s', `c` STRING> NOT NULL"},
		{Type{Kind: Null, NotNull: true}, "NULL"}, {Type{Kind: IntervalMillis, Unit: "DAY(3) TO SECOND(6)"}, "INTERVAL DAY(3) TO SECOND(6)"},
		{Of(IntervalMonths), "INTERVAL MONTH"}, {Type{Kind: Raw, Class: "c.X"}, "RAW('c.X', ?)"},
		{Type{Kind: Timestamp, Precision: 3, Attr: Rowtime}, "TIMESTAMP(3)"},
	} {
		if got := c.t.String(); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
	a := RowOf(Field{Name: "x", Type: Of(Int)})
	if a.Equal(RowOf(Field{Name: "y", Type: Of(Int)})) || a.Equal(a.Required()) || !a.SameIgnoringNull(a.Required()) ||
		a.Equal(RowOf(Field{Name: "x", Type: Of(Int).Required()})) || MapOf(String(), Of(Int)).Equal(MapOf(String(), Of(BigInt))) {
		t.Error("equality of types")
	}
	attr := Type{Kind: Timestamp, Precision: 3, Attr: Rowtime}
	if !attr.Equal(attr.Plain()) || attr.Plain().IsTimeAttr() || !attr.IsTimeAttr() {
		t.Error("time attributes are no part of equality")
	}
}

// TestColumnAgainstSlice plays random changes on a column and on a plain slice.
func TestColumnAgainstSlice(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, typ := range allTypes() {
		col, other := NewColumn(typ, 0), randomBatch(r, 200, typ).Cols[0]
		var want []Datum
		for range 400 {
			switch k := r.IntN(12); {
			case k < 5:
				d := randomDatum(r, typ)
				col.Append(d)
				want = append(want, d)
			case k < 7:
				i := int32(r.IntN(200))
				col.AppendFrom(other, i)
				want = append(want, other.At(i))
			case k < 8:
				col.AppendNull()
				want = append(want, NullDatum())
			case k < 9:
				sel := []int32{int32(r.IntN(200)), int32(r.IntN(200)), int32(r.IntN(200))}
				col.Gather(other, sel, 200)
				for _, i := range sel {
					want = append(want, other.At(i))
				}
			case k < 10:
				n := r.IntN(5)
				col.Gather(other, nil, n)
				for i := range int32(n) {
					want = append(want, other.At(i))
				}
			case k < 11 && len(want) > 0:
				i := int32(r.IntN(len(want)))
				col.SetNull(i)
				want[i] = NullDatum()
			case r.IntN(6) == 0:
				n := r.IntN(len(want) + 1)
				col.Truncate(n)
				want = want[:n]
			}
			if col.Len() != len(want) {
				t.Fatalf("%v: %d rows, want %d", typ, col.Len(), len(want))
			}
		}
		for i := range want {
			if got := col.At(int32(i)); got.Null != want[i].Null || !got.Null && !Equal(&typ, &got, &want[i]) {
				t.Fatalf("%v, row %d: %+v, want %+v", typ, i, got, want[i])
			}
		}
		col.Resize(3)
		if col.Len() != 3 || col.Null(0) || col.Null(2) {
			t.Fatalf("%v: resized to %d rows, NULLs %v", typ, col.Len(), col.Valid)
		}
	}
}

func TestBatchKinds(t *testing.T) {
	b := NewBatch([]Field{{Name: "a", Type: Of(Int)}})
	push := func(v int64, k RowKind) {
		b.Cols[0].AppendInt(v)
		b.Push(k)
	}
	push(1, Insert)
	push(2, Insert)
	if b.Kinds != nil {
		t.Error("inserts alone need no kinds")
	}
	push(3, UpdateBefore)
	push(4, Delete)
	var got []string
	for i := range int32(b.Len) {
		got = append(got, b.Kind(i).String())
	}
	if s := strings.Join(got, " "); s != "+I +I -U -D" {
		t.Errorf("kinds: %s", s)
	}
	b.Truncate(3)
	if b.Len != 3 || b.Cols[0].Len() != 3 || len(b.Kinds) != 3 {
		t.Error("truncated unevenly")
	}
	c := NewBatch([]Field{{Name: "a", Type: Of(Int)}})
	c.AppendRow(b, 2, UpdateAfter)
	b.Reset()
	if b.Len != 0 || b.Kinds != nil || b.Rows() != 0 || c.Kind(0) != UpdateAfter || c.Cols[0].Int[0] != 3 {
		t.Error("reset or append")
	}
	if allocs := testing.AllocsPerRun(20, func() {
		b.Reset()
		for range 100 {
			b.Cols[0].AppendNull()
			b.Push(Delete)
		}
	}); allocs > 0 {
		t.Errorf("a refilled batch allocates %v times", allocs)
	}
}

func TestSegments(t *testing.T) {
	b := NewBatch([]Field{{Name: "a", Type: Of(Int)}})
	for i := range 6 {
		b.Cols[0].AppendInt(int64(i))
		b.Push(Insert)
	}
	walk := func() string {
		var out []string
		err := b.Segments(func(s *Batch) error {
			out = append(out, fmt.Sprint(s.Sel))
			if s.Sel == nil {
				out = append(out, fmt.Sprint("all ", s.Len))
			}
			return nil
		}, func(ms int64) error {
			out = append(out, fmt.Sprint("wm ", ms))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(out, " ")
	}
	if got := walk(); got != "[] all 6" {
		t.Errorf("without marks: %s", got)
	}
	b.Marks = []Mark{{0, 1}, {2, 5}, {2, 6}, {6, 9}}
	if got, want := walk(), "wm 1 [0 1] wm 5 wm 6 [2 3 4 5] wm 9"; got != want {
		t.Errorf("with marks: %s, want %s", got, want)
	}
	b.Sel = []int32{1, 4}
	if got, want := walk(), "wm 1 [1] wm 5 wm 6 [4] wm 9"; got != want {
		t.Errorf("with a selection: %s, want %s", got, want)
	}
	stop := errors.New("stop")
	if err := b.Segments(func(*Batch) error { return stop }, func(int64) error { return nil }); err != stop {
		t.Errorf("error: %v", err)
	}
	if n := len(All(3 * BatchRows)); n != 3*BatchRows || !slices.Equal(All(3), []int32{0, 1, 2}) {
		t.Errorf("All gives %d", n)
	}
}

func TestChangelogMode(t *testing.T) {
	if s := AllKinds.String() + " " + Upsert.String() + " " + InsertOnly.String(); s != "I,UB,UA,D I,UA,D I" {
		t.Error(s)
	}
	if m := ModeOf(Insert, Delete); !m.Has(Delete) || m.Has(UpdateAfter) || !UpdateBefore.Retract() || UpdateAfter.Retract() {
		t.Error("modes")
	}
}

func TestDataError(t *testing.T) {
	cause := errors.New("no number")
	err := &DataError{Operator: "Calc[2]", Place: "line 3, column 8", Row: "x", Err: cause}
	if got, want := err.Error(), "no number; operator Calc[2]; at line 3, column 8; row x"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if !errors.Is(fmt.Errorf("job: %w", err), cause) || !errors.Is(&RowError{Row: 1, Err: cause}, cause) {
		t.Error("the cause is lost")
	}
}
