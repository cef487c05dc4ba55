package op

import (
	"testing"
	"time"

	"runnel/types"
)

// overRig makes an OVER window over (k, v, ts).
func overRig(t *testing.T, ts string, rows bool, before int64, calls ...string) (rig, *Overing) {
	t.Helper()
	s := &Overing{In: fieldsOf("k string, v int, ts " + ts), Keys: []int{0}, Time: 2, Rowtime: ts == "rowtime", Rows: rows, Before: before}
	s.Out = s.In[:3:3]
	for _, c := range calls {
		call := aggCall(t, s.In, c)
		s.Aggs = append(s.Aggs, call)
		s.Out = append(s.Out, types.Field{Name: c, Type: call.T})
	}
	return rig{
		make: func() Operator { return NewOver(*s) }, in: [][]types.Field{s.In}, out: s.Out, keys: [][]int{{0}},
		check: Check{Mode: types.InsertOnly}, bag: true,
	}, s
}

// Rows of one time share their result; RANK and ROW_NUMBER do not.
func TestOverRangeUnbounded(t *testing.T) {
	r, _ := overRig(t, "rowtime", false, -1, "COUNT", "SUM v", "ROW_NUMBER", "RANK", "DENSE_RANK")
	r.run(t, `
		+I a 5 5000
		+I a 1 1000
		+I a 2 2000
		+I b 9 2000
		+I a 3 2000
		watermark 999
			watermark 999
		watermark 4000
			+I a 1 1000 1 1 1 1 1
			+I a 2 2000 3 6 2 2 2
			+I a 3 2000 3 6 3 2 2
			+I b 9 2000 1 9 1 1 1
			watermark 4000
		-- behind the watermark
		+I a 7 4000
		+I a 8 5000
		watermark 5000
			+I a 5 5000 5 19 4 4 3
			+I a 8 5000 5 19 5 4 3
			watermark 5000
		+I a 1 NULL
			error: RowTime field should not be null
	`)
}

func TestOverRowsUnbounded(t *testing.T) {
	r, _ := overRig(t, "rowtime", true, -1, "COUNT", "MAX v")
	r.run(t, `
		+I a 1 1000
		+I a 5 2000
		+I a 3 2000
		watermark 2000
			+I a 1 1000 1 1
			+I a 5 2000 2 5
			+I a 3 2000 3 5
			watermark 2000
	`)
}

func TestOverRowsBounded(t *testing.T) {
	r, _ := overRig(t, "rowtime", true, 1, "COUNT", "SUM v", "MAX v")
	r.run(t, `
		+I a 9 1000
		+I a 2 2000
		+I a 3 2000
		watermark 3000
			+I a 9 1000 1 9 9
			+I a 2 2000 2 11 9
			+I a 3 2000 2 5 3
			watermark 3000
		-- behind the watermark, but not behind the last row of its key
		+I a 4 2500
		+I a 7 2000
		watermark 5000
			+I a 4 2500 2 7 4
			watermark 5000
	`)
}

func TestOverRangeBounded(t *testing.T) {
	r, _ := overRig(t, "rowtime", false, 1000, "COUNT", "SUM v")
	r.run(t, `
		+I a 1 1000
		+I a 2 2000
		+I a 3 2001
		+I a 4 2001
		watermark 2001
			+I a 1 1000 1 1
			+I a 2 2000 2 3
			+I a 3 2001 3 9
			+I a 4 2001 3 9
			watermark 2001
		+I a 9 2001
		-- nothing of the key is left: the late row counts as the first
		watermark 9000
			watermark 9000
		+I a 5 2000
		watermark 9001
			+I a 5 2000 1 5
			watermark 9001
	`)
}

func TestOverProctime(t *testing.T) {
	r, s := overRig(t, "proctime", true, 1, "SUM v", "COUNT")
	s.TTL = 10 * time.Second
	r.run(t, `
		+I a 1 NULL
			+I a 1 NULL 1 1
		+I a 2 NULL
			+I a 2 NULL 3 2
		+I b 7 NULL
			+I b 7 NULL 7 1
		watermark 4
			watermark 4
		+I a 3 NULL
			+I a 3 NULL 5 2
	`)
	r, _ = overRig(t, "proctime", false, 1000, "SUM v")
	r.run(t, `
		time 500
		+I a 1 NULL
		+I a 2 NULL
		time 501
			+I a 1 NULL 3
			+I a 2 NULL 3
		time 1500
		+I a 4 NULL
		time 1501
			+I a 4 NULL 7
		+I a 5 NULL
		time 2000
			+I a 5 NULL 9
	`)
}

func TestOverLag(t *testing.T) {
	r, s := overRig(t, "rowtime", false, -1, "LAG v", "COUNT")
	s.In = append(s.In, fieldsOf("two int, zero int")...)
	lag := aggCall(t, s.In, "LAG v two zero")
	s.Aggs = append(s.Aggs, lag)
	s.Out = append(s.In[:5:5], types.Field{Name: "lag", Type: s.Aggs[0].T}, types.Field{Name: "n", Type: s.Aggs[1].T},
		types.Field{Name: "lag2", Type: lag.T})
	r.in, r.out = [][]types.Field{s.In}, s.Out
	r.run(t, `
		+I a 1 1000 2 0
		+I a NULL 2000 2 0
		watermark 2500
			+I a 1 1000 2 0 NULL 1 0
			+I a NULL 2000 2 0 1 2 0
			watermark 2500
		+I a 3 3000 2 0
		+I a 4 4000 2 0
		+I a 5 5000 2 0
		watermark max
			+I a 3 3000 2 0 NULL 3 1
			+I a 4 4000 2 0 3 4 NULL
			+I a 5 5000 2 0 4 5 3
			watermark max
	`)
}

// With a TTL a key goes one and a half times as long behind the row that set its timer; a row sets it anew when less than the
// TTL is left.
func TestOverRetention(t *testing.T) {
	r, s := overRig(t, "proctime", true, 1, "SUM v", "COUNT")
	s.TTL = 10 * time.Second
	r.run(t, `
		+I a 1 NULL
			+I a 1 NULL 1 1
		+I b 7 NULL
			+I b 7 NULL 7 1
		time 5000
		+I a 4 NULL
			+I a 4 NULL 5 2
		time 14999
		+I b 1 NULL
			+I b 1 NULL 8 2
		time 15000
		+I a 5 NULL
			+I a 5 NULL 5 1
		+I b 2 NULL
			+I b 2 NULL 3 2
		time 29999
		+I b 3 NULL
			+I b 3 NULL 3 1
	`)
	// By event time a key whose rows wait stays; then the accumulators of all its rows go, and what is late is told anew.
	r, s = overRig(t, "rowtime", true, 1, "SUM v")
	s.TTL = 10 * time.Second
	r.run(t, `
		+I a 1 1000
		+I b 1 1000
		watermark 1000
			+I a 1 1000 1
			+I b 1 1000 1
			watermark 1000
		+I a 2 2000
		+I b 5 500
		time 15000
		watermark 3000
			+I a 2 2000 3
			watermark 3000
		+I b 6 500
		watermark 4000
			+I b 6 500 6
			watermark 4000
		time 29999
		+I a 3 5000
		watermark 5000
			+I a 3 5000 5
			watermark 5000
	`)
}
