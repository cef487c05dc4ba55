package op

import (
	"testing"

	"runnel/types"
)

func batchOverRig(t *testing.T, rows bool, before, after int64, order string, calls ...string) rig {
	t.Helper()
	s := BatchOvering{In: fieldsOf("k string, v int, n int"), Keys: []int{0}, Rows: rows, Before: before, After: after}
	s.BeforeBy, s.AfterBy = Distance{Unscaled: types.Int128Of(max(before, 0))}, Distance{Unscaled: types.Int128Of(max(after, 0))}
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

// Frames that end in front of the current row or begin behind it, as a real Flink gave them.
func TestBatchOverFramesAside(t *testing.T) {
	const in = `
		+I a 1 1
		+I b 5 2
		+I a 1 4
		+I a 3 11
		+I b 7 12
		+I a 4 9
		+I a 9 16
		+I a 2 3
		+I c 2 4
		+I c 3 5
		+I b 1 29
		+I a 6 1
		+I b 8 13
		+I a 1 48
		+I b 1 14
		end
	`
	for _, c := range []struct {
		name          string
		rows          bool
		before, after int64
		order         string
		calls         []string
		short         bool
		want          string
	}{
		{"rows in front", true, 2, 1, "n", []string{"COUNT", "SUM v", "FIRST_VALUE v", "LAST_VALUE v", "MAX v"}, true, `
			+I a 1 1 0 NULL NULL NULL NULL
			+I a 6 1 1 1 1 1 1
			+I a 2 3 2 7 1 6 6
			+I a 1 4 2 8 6 2 6
			+I a 4 9 2 3 2 1 2
			+I a 3 11 2 5 1 4 4
			+I a 9 16 2 7 4 3 4
			+I a 1 48 2 12 3 9 9
			+I b 5 2 0 NULL NULL NULL NULL
			+I b 7 12 1 5 5 5 5
			+I b 8 13 2 12 5 7 7
			+I b 1 14 2 15 7 8 8
			+I b 1 29 2 9 8 1 8
			+I c 2 4 0 NULL NULL NULL NULL
			+I c 3 5 1 2 2 2 2
		`},
		{"rows behind", true, 1, 2, "n", []string{"COUNT", "SUM v", "FIRST_VALUE v", "LAST_VALUE v", "MIN v"}, false, `
			+I a 1 1 2 8 6 2 2
			+I a 6 1 2 3 2 1 1
			+I a 2 3 2 5 1 4 1
			+I a 1 4 2 7 4 3 3
			+I a 4 9 2 12 3 9 3
			+I a 3 11 2 10 9 1 1
			+I a 9 16 1 1 1 1 1
			+I a 1 48 0 NULL NULL NULL NULL
			+I b 5 2 2 15 7 8 7
			+I b 7 12 2 9 8 1 1
			+I b 8 13 2 2 1 1 1
			+I b 1 14 1 1 1 1 1
			+I b 1 29 0 NULL NULL NULL NULL
			+I c 2 4 1 3 3 3 3
			+I c 3 5 0 NULL NULL NULL NULL
		`},
		{"range in front", false, 3, 1, "v", []string{"COUNT", "SUM v"}, true, `
			+I a 1 1 0 NULL
			+I a 1 4 0 NULL
			+I a 1 48 0 NULL
			+I a 2 3 3 3
			+I a 3 11 4 5
			+I a 4 9 5 8
			+I a 6 1 2 7
			+I a 9 16 1 6
			+I b 1 29 0 NULL
			+I b 1 14 0 NULL
			+I b 5 2 0 NULL
			+I b 7 12 1 5
			+I b 8 13 2 12
			+I c 2 4 0 NULL
			+I c 3 5 1 2
		`},
		{"range behind", false, 1, 3, "v", []string{"COUNT", "SUM v"}, false, `
			+I a 1 1 3 9
			+I a 1 4 3 9
			+I a 1 48 3 9
			+I a 2 3 2 7
			+I a 3 11 2 10
			+I a 4 9 1 6
			+I a 6 1 1 9
			+I a 9 16 0 NULL
			+I b 1 29 0 NULL
			+I b 1 14 0 NULL
			+I b 5 2 2 15
			+I b 7 12 1 8
			+I b 8 13 0 NULL
			+I c 2 4 1 3
			+I c 3 5 0 NULL
		`},
		{"all in front", true, -1, 1, "n", []string{"COUNT", "SUM v"}, true, `
			+I a 1 1 0 NULL
			+I a 6 1 1 1
			+I a 2 3 2 7
			+I a 1 4 3 9
			+I a 4 9 4 10
			+I a 3 11 5 14
			+I a 9 16 6 17
			+I a 1 48 7 26
			+I b 5 2 0 NULL
			+I b 7 12 1 5
			+I b 8 13 2 12
			+I b 1 14 3 20
			+I b 1 29 4 21
			+I c 2 4 0 NULL
			+I c 3 5 1 2
		`},
		{"all behind", true, 2, -1, "n", []string{"COUNT", "SUM v"}, false, `
			+I a 1 1 6 20
			+I a 6 1 5 18
			+I a 2 3 4 17
			+I a 1 4 3 13
			+I a 4 9 2 10
			+I a 3 11 1 1
			+I a 9 16 0 NULL
			+I a 1 48 0 NULL
			+I b 5 2 3 10
			+I b 7 12 2 2
			+I b 8 13 1 1
			+I b 1 14 0 NULL
			+I b 1 29 0 NULL
			+I c 2 4 0 NULL
			+I c 3 5 0 NULL
		`},
		{"range in front, descending", false, 3, 1, "v desc", []string{"COUNT", "SUM v"}, true, `
			+I a 9 16 0 NULL
			+I a 6 1 1 9
			+I a 4 9 1 6
			+I a 3 11 2 10
			+I a 2 3 2 7
			+I a 1 1 3 9
			+I a 1 4 3 9
			+I a 1 48 3 9
			+I b 8 13 0 NULL
			+I b 7 12 1 8
			+I b 5 2 2 15
			+I b 1 29 0 NULL
			+I b 1 14 0 NULL
			+I c 3 5 0 NULL
			+I c 2 4 1 3
		`},
		{"rows from one in front to two in front", true, 1, 2, "n", []string{"COUNT"}, true, `
			+I a 1 1 0
			+I a 6 1 0
			+I a 2 3 0
			+I a 1 4 0
			+I a 4 9 0
			+I a 3 11 0
			+I a 9 16 0
			+I a 1 48 0
			+I b 5 2 0
			+I b 7 12 0
			+I b 8 13 0
			+I b 1 14 0
			+I b 1 29 0
			+I c 2 4 0
			+I c 3 5 0
		`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := batchOverRig(t, c.rows, c.before, c.after, c.order, c.calls...)
			spec := r.make().(*BatchOver).spec
			spec.Short, spec.Ahead = c.short, !c.short
			r.make = func() Operator { return NewBatchOver(spec) }
			r.runBounded(t, in+c.want+"\t\t\twatermark max\n")
		})
	}
}
