package op

import (
	"testing"

	"runnel/types"
)

func batchOverRig(t *testing.T, rows bool, before, after int64, order string, calls ...string) rig {
	t.Helper()
	s := BatchOvering{In: fieldsOf("k string, v int, n int"), Keys: []int{0}, Rows: rows, Before: before, After: after}
	if order != "" {
		s.Order = keysOf(s.In, order)
	}
	s.Out = s.In[:3:3]
	for _, c := range calls {
		call := aggCall(t, s.In, c)
		s.Aggs = append(s.Aggs, call)
		s.Out = append(s.Out, types.Field{Name: c, Type: call.T})
	}
	return rig{make: func() Operator { return NewBatchOver(s) }, in: [][]types.Field{s.In}, out: s.Out, check: Check{Mode: types.InsertOnly}}
}

const overRowsIn = `
		+I b 7 2
		+I a 3 2
		+I a 1 2
		+I a 3 2
		+I a NULL 2
		+I a 9 2
		end
`

func TestBatchOverNumbers(t *testing.T) {
	batchOverRig(t, false, -1, 0, "v", "ROW_NUMBER", "RANK", "DENSE_RANK", "NTILE n", "LAG v", "LEAD v n").runBounded(t, overRowsIn+`
			+I a NULL 2 1 1 1 1 NULL 3
			+I a 1 2 2 2 2 1 NULL 3
			+I a 3 2 3 3 3 1 1 9
			+I a 3 2 4 3 3 2 3 NULL
			+I a 9 2 5 5 4 2 3 NULL
			+I b 7 2 1 1 1 1 NULL NULL
			watermark max
	`)
	batchOverRig(t, false, -1, 0, "v", "PERCENT_RANK", "CUME_DIST").runBounded(t, overRowsIn+`
			+I a NULL 2 0 0.2
			+I a 1 2 0.25 0.4
			+I a 3 2 0.5 0.8
			+I a 3 2 0.5 0.8
			+I a 9 2 1 1
			+I b 7 2 0 1
			watermark max
	`)
}

func TestBatchOverFrames(t *testing.T) {
	for name, c := range map[string]struct {
		r    rig
		want string
	}{
		"range to current": {batchOverRig(t, false, -1, 0, "v", "SUM v", "COUNT"), `
			+I a NULL 2 NULL 1
			+I a 1 2 1 2
			+I a 3 2 7 4
			+I a 3 2 7 4
			+I a 9 2 16 5
			+I b 7 2 7 1`},
		"whole": {batchOverRig(t, false, -1, -1, "", "SUM v", "MAX v"), `
			+I a 3 2 16 9
			+I a 1 2 16 9
			+I a 3 2 16 9
			+I a NULL 2 16 9
			+I a 9 2 16 9
			+I b 7 2 7 7`},
		"one row on both sides": {batchOverRig(t, true, 1, 1, "v", "SUM v", "COUNT DISTINCT v"), `
			+I a NULL 2 1 1
			+I a 1 2 4 2
			+I a 3 2 7 2
			+I a 3 2 15 2
			+I a 9 2 12 2
			+I b 7 2 7 1`},
		"distance": {batchOverRig(t, false, 2, 6, "v", "SUM v", "MIN v"), `
			+I a NULL 2 NULL NULL
			+I a 1 2 7 1
			+I a 3 2 16 1
			+I a 3 2 16 1
			+I a 9 2 9 9
			+I b 7 2 7 7`},
		"what follows": {batchOverRig(t, true, 0, -1, "v", "COUNT v", "MAX v"), `
			+I a NULL 2 4 9
			+I a 1 2 4 9
			+I a 3 2 3 9
			+I a 3 2 2 9
			+I a 9 2 1 9
			+I b 7 2 1 7`},
	} {
		t.Run(name, func(t *testing.T) { c.r.runBounded(t, overRowsIn+c.want+"\n\t\t\twatermark max\n") })
	}
}

func TestBatchOverNtileRefuses(t *testing.T) {
	batchOverRig(t, false, -1, 0, "v", "NTILE n").runBounded(t, `
		+I a 1 0
		end
			error: the number of NTILE's parts must be positive; operator Op[1]; row k=a, v=1, n=0
	`)
}

func TestNtile(t *testing.T) {
	for _, c := range []struct{ n, parts, want int64 }{{10, 3, 4}, {2, 5, 1}, {6, 3, 2}} {
		count := map[int64]int64{}
		for i := range c.n {
			count[ntile(i, c.n, c.parts)]++
		}
		if count[1] != c.want {
			t.Errorf("%d rows in %d parts: %v", c.n, c.parts, count)
		}
	}
}

func TestBatchRank(t *testing.T) {
	f := fieldsOf("k string, v int, n int")
	s := BatchRanking{In: f, Keys: []int{0}, Order: keysOf(f, "v desc nulls last"), From: 1, To: 2, ToColumn: -1, Numbered: true}
	out := append(f[:3:3], fieldsOf("rank bigint!")...)
	r := rig{make: func() Operator { return NewBatchRank(s) }, in: [][]types.Field{f}, out: out}
	r.runBounded(t, overRowsIn+`
			+I a 9 2 1
			+I a 3 2 2
			+I b 7 2 1
			watermark max
	`)
	s.Func = RankWithGaps
	r.runBounded(t, overRowsIn+`
			+I a 9 2 1
			+I a 3 2 2
			+I a 3 2 2
			+I b 7 2 1
			watermark max
	`)
	s.Func, s.From, s.ToColumn = DenseRank, 2, 2
	r.runBounded(t, overRowsIn+`
			+I a 3 2 2
			+I a 3 2 2
			watermark max
	`)
}
