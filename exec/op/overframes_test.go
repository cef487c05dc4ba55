package op

import (
	"context"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"runnel/expr"
	"runnel/state"
	"runnel/types"
)

// overSpec makes the description of a BatchOver over (k string, v int, w string).
func overSpec(t *testing.T, s BatchOvering, order string, calls ...string) BatchOvering {
	t.Helper()
	s.In = fieldsOf("k string, v int, w string")
	if order != "" {
		s.Order = keysOf(s.In, order)
	}
	s.BeforeBy, s.AfterBy = Distance{Unscaled: types.Int128Of(max(s.Before, 0))}, Distance{Unscaled: types.Int128Of(max(s.After, 0))}
	s.Out = s.In[:3:3]
	for _, c := range calls {
		call := aggCall(t, s.In, c)
		s.Aggs, s.Out = append(s.Aggs, call), append(s.Out, types.Field{Type: call.T})
	}
	return s
}

// A key that is many times as large as the memory gives the same rows, for every kind of frame and function.
func TestBatchOverLargeKey(t *testing.T) {
	numbers := []string{"ROW_NUMBER", "RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST", "LAG v", "LEAD w", "LEAD w v", "LAG v v"}
	sums := []string{"COUNT", "SUM v", "AVG v"}
	values := append(sums, "MIN v", "MAX v", "COUNT DISTINCT v")
	one := randomRows(6, 12000, 1)
	several := slices.Concat(randomRows(7, 3000, 60), one, randomRows(8, 3000, 3))
	for name, c := range map[string]BatchOvering{
		"numbers":                        overSpec(t, BatchOvering{Rows: true, Before: -1}, "v", numbers...),
		"rows to current":                overSpec(t, BatchOvering{Rows: true, Before: -1}, "v,w", append(values, "FIRST_VALUE w", "LAST_VALUE w")...),
		"range to current":               overSpec(t, BatchOvering{Before: -1}, "v desc", values...),
		"whole":                          overSpec(t, BatchOvering{Before: -1, After: -1}, "", values...),
		"rows on both sides":             overSpec(t, BatchOvering{Rows: true, Before: 900, After: 700}, "v,w", values...),
		"few rows on both sides":         overSpec(t, BatchOvering{Rows: true, Before: 2, After: 1}, "v,w", append(values, "FIRST_VALUE w", "LAST_VALUE w", "LISTAGG w")...),
		"rows ahead":                     overSpec(t, BatchOvering{Rows: true, Before: 3, After: 2000, Ahead: true}, "w", values...),
		"rows behind":                    overSpec(t, BatchOvering{Rows: true, Before: 2000, After: 3, Short: true}, "w", values...),
		"rows to the end":                overSpec(t, BatchOvering{Rows: true, After: -1}, "v", values...),
		"rows from the beginning, ahead": overSpec(t, BatchOvering{Rows: true, Before: -1, After: 10}, "v", values...),
		"range on both sides":            overSpec(t, BatchOvering{Before: 3, After: 5}, "v", values...),
		"range ahead":                    overSpec(t, BatchOvering{Before: 3, After: 50, Ahead: true}, "v", sums...),
		"range behind, descending":       overSpec(t, BatchOvering{Before: 50, After: 3, Short: true}, "v desc", sums...),
		"range to the end":               overSpec(t, BatchOvering{Before: 7, After: -1}, "v", sums...),
		"range of equal rows":            overSpec(t, BatchOvering{}, "v", sums...),
	} {
		for _, keys := range [][]int{nil, {0}} {
			c.Keys = keys
			want, _ := spilling(t, NewBatchOver(c), [][]*types.Batch{several}, 0)
			got, spilled := spilling(t, NewBatchOver(c), [][]*types.Batch{several}, 384<<10)
			if len(want) != 18000 || !slices.Equal(got, want) {
				t.Errorf("%s, keys %v: %d rows with disk, %d without, not the same", name, keys, len(got), len(want))
			}
			if spilled < 700_000 { // sorting alone writes less
				t.Errorf("%s, keys %v: only %d bytes went to disk", name, keys, spilled)
			}
		}
	}
}

// Frames that are found by moving on are those that are found by looking at every row.
func TestBatchOverFramesByHand(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		s := overSpec(t, BatchOvering{Rows: r.IntN(2) == 0, Before: r.Int64N(5) - 1, After: r.Int64N(5) - 1},
			[]string{"v", "v desc"}[r.IntN(2)], "COUNT", "SUM v")
		s.Ahead = s.Before > 0 && s.After > s.Before && r.IntN(2) == 0
		s.Short = !s.Ahead && s.After > 0 && r.IntN(2) == 0
		in := types.NewBatch(s.In)
		for range 1 + r.IntN(12) {
			in.Cols[0].AppendStr("a")
			if v := r.Int64N(8); v == 0 {
				in.Cols[1].AppendNull()
			} else {
				in.Cols[1].AppendInt(v)
			}
			in.Cols[2].AppendStr("")
			in.Push(types.Insert)
		}
		rows := collected{cols: in.Cols, n: in.Len}
		perm := rows.sorted(s.Order)
		codec := newRunCodec(s.Out)
		var want []string
		for i := range perm {
			out := types.NewBatch(s.Out)
			for c := range in.Cols {
				out.Cols[c].AppendFrom(in.Cols[c], perm[i])
			}
			n, sum, some := 0, int64(0), false
			for j := range perm {
				if !inFrame(&s, in.Cols[1], perm, i, j) {
					continue
				}
				n++
				if !in.Cols[1].Null(perm[j]) {
					sum, some = sum+in.Cols[1].Int[perm[j]], true
				}
			}
			out.Cols[3].AppendInt(int64(n))
			if some {
				out.Cols[4].AppendInt(sum)
			} else {
				out.Cols[4].AppendNull()
			}
			want = append(want, string(codec.Append(nil, out.Cols, 0)))
		}
		if got, _ := spilling(t, NewBatchOver(s), [][]*types.Batch{{in}}, 0); !slices.Equal(got, want) {
			t.Fatalf("rows %v, before %d ahead %v, after %d short %v, order %v: wrong frames", s.Rows, s.Before, s.Ahead, s.After, s.Short, s.Order)
		}
	}
}

// inFrame reports whether row j of an order is in the frame of row i, by the definition of frames.
func inFrame(s *BatchOvering, c *types.Column, perm []int32, i, j int) bool {
	before, after := s.Before, s.After
	if s.Ahead {
		before = -before
	}
	if s.Short {
		after = -after
	}
	d := int64(j - i)
	if !s.Rows {
		x, y := perm[i], perm[j]
		switch xn, yn := c.Null(x), c.Null(y); {
		case xn && yn:
			return !s.Ahead && !s.Short // at no distance from each other
		case xn || yn:
			return j < i && s.Before < 0 || j > i && s.After < 0
		}
		if d = c.Int[y] - c.Int[x]; s.Order[0].Desc {
			d = -d
		}
	}
	return (s.Before < 0 || d >= -before) && (s.After < 0 || d <= after)
}

// A distance is exact: in units of the column, or a part of one more or less.
func TestOverReach(t *testing.T) {
	of := func(v int64, scale int) Distance { return Distance{types.Int128Of(v), scale} }
	whole, cents, wide := types.Of(types.Int), types.DecimalOf(8, 2), types.DecimalOf(30, 4)
	for _, c := range []struct {
		by   Distance
		t    types.Type
		less bool
		want int64
	}{
		{of(25, 1), whole, false, 2}, {of(25, 1), whole, true, 3}, {of(20, 1), whole, true, 2},
		{of(125, 3), cents, false, 12}, {of(125, 3), cents, true, 13}, {of(1, 0), wide, false, 10000},
	} {
		if r := newOverReach(1, c.by, c.t, c.less); r.wide != types.Int128Of(c.want) {
			t.Errorf("%v over %s, less %v: %v, want %d", c.by, c.t, c.less, r.wide, c.want)
		}
	}
}

// Values of a frame that do not fit into memory are refused, with the option that helps.
func TestBatchOverValuesTooLarge(t *testing.T) {
	s := overSpec(t, BatchOvering{Rows: true, Before: 60000}, "v", "LISTAGG w")
	o := NewBatchOver(s)
	dir := t.TempDir()
	ctx := &Context{Ctx: context.Background(), Name: "OverAggregate[3]", Out: &gathered{}, Of: 1,
		Env:     &expr.Env{Zone: time.UTC, Now: time.Now, Batch: true},
		Counter: func(string) *Counter { return new(Counter) }, Now: time.Now, State: state.NewKeyed(state.Config{Groups: state.RangeOf(0, 1, 128)}),
		Spill: Spill{Memory: 64 << 10, Create: func() (SpillFile, error) { return os.CreateTemp(dir, "") }}}
	if err := o.Open(ctx); err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	for _, b := range randomRows(9, 60000, 1) {
		if err := o.Process(0, b); err != nil {
			t.Fatal(err)
		}
	}
	err := o.EndInput(0)
	if err == nil || !strings.Contains(err.Error(), "OverAggregate[3]: the frame of one key takes") || !strings.Contains(err.Error(), "taskmanager.memory.managed.size") {
		t.Error(err)
	}
}
