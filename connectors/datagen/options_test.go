package datagen

import (
	"context"
	"testing"
	"time"

	"runnel/connectors"
	"runnel/types"
)

// made gives the first rows of a table.
func made(t *testing.T, now time.Time, options connectors.Options, cols ...connectors.Column) *types.Batch {
	t.Helper()
	options["rows-per-second"], options["number-of-rows"] = "1000000", "500"
	src, err := plan(table(options, cols...))
	if err != nil {
		t.Fatal(err)
	}
	en, _ := src.Enumerate(connectors.Env{Of: 1})
	splits, err := en.Discover(context.Background(), true)
	if err != nil {
		t.Fatal(err)
	}
	wake := make(chan struct{}, 1)
	r, err := src.Read(connectors.Env{Now: func() time.Time { return now }, Of: 1}, func() {
		select {
		case wake <- struct{}{}:
		default:
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	if err := r.Assign(splits); err != nil {
		t.Fatal(err)
	}
	all := types.NewBatch((&connectors.Table{Columns: cols}).Physical())
	for {
		p, err := waiting{r, wake}.Poll()
		if err != nil {
			t.Fatal(err)
		}
		if p.Ended {
			return all
		}
		for i := range int32(p.Rows.Len) {
			all.AppendRow(p.Rows, i, types.Insert)
		}
	}
}

// TestMaxPast: timestamps lie between now and the given time before it, on both sides of the middle.
func TestMaxPast(t *testing.T) {
	now := time.Date(2024, 6, 3, 10, 0, 0, 0, time.UTC)
	b := made(t, now, connectors.Options{"fields.p.max-past": "1 h", "fields.z.max-past": "1 h"},
		col("p", types.TimestampOf(3)), col("z", types.TimestampLTZOf(3)), col("exact", types.TimestampOf(3)))
	for n, c := range b.Cols[:2] {
		early, late := 0, 0
		for i := range b.Len {
			switch age := now.Sub(time.UnixMicro(c.Int[i])); {
			case age < 0 || age > time.Hour:
				t.Fatalf("column %d: %s in the past", n, age)
			case age > 30*time.Minute:
				early++
			default:
				late++
			}
		}
		if early < b.Len/4 || late < b.Len/4 {
			t.Errorf("column %d: %d in the first half, %d in the second", n, early, late)
		}
	}
	if got := time.UnixMicro(b.Cols[2].Int[b.Len-1]); !got.Equal(now) {
		t.Errorf("without max-past: %s", got)
	}
}

// TestNullRateAndVarLen: the share of NULLs, and lengths up to the given one.
func TestNullRateAndVarLen(t *testing.T) {
	b := made(t, time.Now(), connectors.Options{"fields.n.null-rate": "0.3", "fields.v.var-len": "true", "fields.v.length": "5", "fields.x.var-len": "true", "fields.x.length": "3"},
		col("n", types.Of(types.Int)), col("v", types.String()), col("x", types.Bytes()))
	nulls, lengths, short := 0, map[int]int{}, map[int]int{}
	for i := range int32(b.Len) {
		if b.Cols[0].Null(i) {
			nulls++
		}
		lengths[len(b.Cols[1].Str[i])]++
		short[len(b.Cols[2].Str[i])]++
	}
	if nulls < 100 || nulls > 200 {
		t.Errorf("%d of 500 are NULL, want about 150", nulls)
	}
	for n := 1; n <= 5; n++ {
		if lengths[n] == 0 {
			t.Errorf("no text of length %d: %v", n, lengths)
		}
	}
	if len(lengths) > 5 || len(short) > 3 || len(short) < 2 {
		t.Errorf("lengths of text %v, of bytes %v", lengths, short)
	}
}

// TestCollections: arrays, maps, multisets and rows of what the options of their parts say, to any depth.
func TestCollections(t *testing.T) {
	inner := types.RowOf(types.Field{Name: "x", Type: types.Of(types.Int)}, types.Field{Name: "tags", Type: types.ArrayOf(types.VarcharOf(9))})
	b := made(t, time.Now(), connectors.Options{
		"fields.a.length": "4", "fields.a.element.min": "1", "fields.a.element.max": "3",
		"fields.m.length": "2", "fields.m.key.min": "0", "fields.m.key.max": "1000000", "fields.m.value.length": "6",
		"fields.s.length": "5", "fields.s.element.min": "0", "fields.s.element.max": "1",
		"fields.r.x.min": "-5", "fields.r.x.max": "-5", "fields.r.tags.length": "2", "fields.r.tags.element.length": "1",
	}, col("a", types.ArrayOf(types.Of(types.Int))), col("m", types.MapOf(types.Of(types.Int), types.String())),
		col("s", types.MultisetOf(types.Of(types.Int))), col("r", inner))
	for i := range b.Len {
		a := b.Cols[0].Any[i].(*types.List)
		if len(a.Elems) != 4 {
			t.Fatalf("array of %d", len(a.Elems))
		}
		for _, e := range a.Elems {
			if e.I < 1 || e.I > 3 {
				t.Fatalf("element %d", e.I)
			}
		}
		m := b.Cols[1].Any[i].(*types.MapValue)
		if len(m.Keys) < 1 || len(m.Keys) > 2 || len(m.Vals[0].S) != 6 {
			t.Fatalf("map %+v", m)
		}
		s := b.Cols[2].Any[i].(*types.MapValue)
		if len(s.Keys) < 1 || len(s.Keys) > 2 {
			t.Fatalf("multiset of 0 and 1: %+v", s)
		}
		r := b.Cols[3].Any[i].(*types.Tuple)
		if tags := r.Fields[1].A.(*types.List); r.Fields[0].I != -5 || len(tags.Elems) != 2 || len(tags.Elems[0].S) != 1 {
			t.Fatalf("row %+v", r)
		}
	}
}

// TestRateIsShared: each of the subtasks makes its part of the rows of a second.
func TestRateIsShared(t *testing.T) {
	for _, c := range []struct {
		rate, of, lo, hi int64
	}{{100, 1, 200, 210}, {100, 4, 50, 53}, {1, 4, 0, 1}} {
		r := &reader{source: &source{rate: c.rate}}
		s := &running{pos: position{0, c.of, 0}, limit: -1, begin: time.Now().Add(-2 * time.Second)}
		if n := r.due(s); n < c.lo || n > c.hi {
			t.Errorf("%d rows a second for %d subtasks: %d are due after 2 s, want %d", c.rate, c.of, n, c.lo)
		}
	}
}
