package op

import (
	"testing"

	"runnel/types"
)

func windowRankRig(spec WindowRanking, order string) rig {
	spec.In = fieldsOf("k string, v int, s ts, e ts")
	spec.StartCol, spec.EndCol, spec.Keys, spec.Order = 2, 3, []int{0}, keysOf(spec.In, order)
	out := spec.In
	if spec.Numbered {
		out = append(out[:4:4], fieldsOf("rank bigint!")...)
	}
	return rig{
		make: func() Operator { return NewWindowRank(spec) }, in: [][]types.Field{spec.In}, out: out, keys: [][]int{{0}},
		check: Check{Mode: types.InsertOnly},
	}
}

func TestWindowRank(t *testing.T) {
	windowRankRig(WindowRanking{From: 1, To: 2, Numbered: true}, "v desc").run(t, `
		+I a 1 0 10000
		+I a 3 0 10000
		+I a 3 0 10000
		+I a 5 10000 20000
		+I b NULL 0 10000
		watermark 9998
			watermark 9998
		watermark 9999
			+I a 3 0 10000 1
			+I a 3 0 10000 2
			+I b NULL 0 10000 1
			watermark 9999
		+I a 9 0 10000
		watermark max
			+I a 5 10000 20000 1
			watermark max
	`)
	windowRankRig(WindowRanking{From: 2, To: 3}, "v").run(t, `
		+I a 4 0 10000
		+I a 3 0 10000
		+I a 2 0 10000
		+I a 1 0 10000
		watermark 9999
			+I a 2 0 10000
			+I a 3 0 10000
			watermark 9999
	`)
}

// Deduplication within windows is a rank of one.
func TestWindowRankDeduplicates(t *testing.T) {
	f := fieldsOf("k string, v int, s ts, e ts, ts rowtime")
	spec := WindowRanking{
		In: f, StartCol: 2, EndCol: 3, Keys: []int{0}, Order: keysOf(f, "ts desc"), From: 1, To: 1, LastOfEqual: true,
	}
	r := rig{make: func() Operator { return NewWindowRank(spec) }, in: [][]types.Field{f}, out: f, keys: [][]int{{0}}}
	trace := `
		+I a 1 0 10000 5000
		+I a 2 0 10000 6000
		+I a 3 0 10000 6000
		+I a 4 0 10000 5000
		watermark 9999
	`
	r.run(t, trace+`
			+I a 3 0 10000 6000
			watermark 9999
	`)
	spec.Order, spec.LastOfEqual = keysOf(f, "ts"), false
	r.run(t, trace+`
			+I a 1 0 10000 5000
			watermark 9999
	`)
}
