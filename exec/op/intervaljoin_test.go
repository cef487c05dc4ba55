package op

import (
	"slices"
	"testing"

	"runnel/expr"
	"runnel/types"
)

// intervalRig joins (k, v, ts) with (k, w, ts) on k within bounds.
func intervalRig(kind JoinKind, lower, upper int64) (rig, *IntervalJoining) {
	s := &IntervalJoining{
		Kind: kind, Left: fieldsOf("k int, v string, ts rowtime"), Right: fieldsOf("k int, w string, ts rowtime"),
		LeftKeys: []int{0}, RightKeys: []int{0}, LeftTime: 2, RightTime: 2, Lower: lower, Upper: upper, Rowtime: true,
	}
	r := rig{
		make: func() Operator { return NewIntervalJoin(*s) }, in: [][]types.Field{s.Left, s.Right},
		out: slices.Concat(s.Left, s.Right), keys: [][]int{{0}, {0}}, check: Check{Mode: types.InsertOnly},
	}
	return r, s
}

func TestIntervalJoinInner(t *testing.T) {
	r, _ := intervalRig(Inner, -1000, 2000)
	r.run(t, `
		L +I 1 a 10000
		R +I 1 x 9000
			+I 1 a 10000 1 x 9000
		R +I 1 y 8999
		R +I 1 z 12000
			+I 1 a 10000 1 z 12000
		R +I 2 z 12000
		L +I 1 b 10000
			+I 1 b 10000 1 x 9000
			+I 1 b 10000 1 z 12000
		L +I NULL c 10000
		R +I NULL c 10000
		L watermark 12000
		R watermark 12000
			watermark 10000
		-- behind the watermark: it joins, but is not kept
		R +I 1 q 11000
			+I 1 a 10000 1 q 11000
			+I 1 b 10000 1 q 11000
		L watermark 12001
		R watermark 12001
			watermark 10001
		R +I 1 late 11500
		L +I 1 d 12000
			+I 1 d 12000 1 z 12000
			+I 1 d 12000 1 late 11500
		L watermark max
		R watermark max
			watermark max
	`)
}

func TestIntervalJoinLeft(t *testing.T) {
	r, _ := intervalRig(Left, -60000, 60000)
	r.run(t, `
		L +I 1 a 100000
		L +I 2 b 90000
		L +I NULL n 95000
		R +I 1 x 100000
			+I 1 a 100000 1 x 100000
		R +I NULL x 100000
		L watermark 150000
		R watermark 150000
			watermark 90000
		L watermark 150001
		R watermark 150001
			+I 2 b 90000 NULL NULL NULL
			watermark 90001
		L watermark 170000
		R watermark 170000
			+I NULL n 95000 NULL NULL NULL
			watermark 110000
		-- a late row is padded at once
		L +I 1 c 100000
			+I 1 c 100000 NULL NULL NULL
		-- unless it finds what is still there
		R +I 1 y 150000
		L +I 1 d 110000
			+I 1 d 110000 1 y 150000
		L +I 1 e 200000
			+I 1 e 200000 1 y 150000
		L +I 3 f 200000
		L +I 3 g 199999
		L watermark max
		R watermark max
			+I 3 g 199999 NULL NULL NULL
			+I 3 f 200000 NULL NULL NULL
			watermark max
	`)
}

func TestIntervalJoinFull(t *testing.T) {
	r, _ := intervalRig(Full, 0, 5000)
	r.run(t, `
		L +I 1 a 10000
		R +I 2 x 10000
		R +I 1 y 14000
			+I 1 a 10000 1 y 14000
		R +I 1 z 9999
		L watermark 10000
		R watermark 10000
			+I NULL NULL NULL 1 z 9999
			watermark 5000
		R +I 2 w 9000
			+I NULL NULL NULL 2 w 9000
		L watermark 10001
		R watermark 10001
			+I NULL NULL NULL 2 x 10000
			watermark 5001
		L +I 2 b 10001
		L watermark 15002
		R watermark 15002
			+I 2 b 10001 NULL NULL NULL
			watermark 10002
	`)
}

func TestIntervalJoinRight(t *testing.T) {
	r, s := intervalRig(Right, 0, 5000)
	s.NullSafe = []bool{true}
	r.run(t, `
		L +I NULL a 10000
		R +I NULL x 10000
			+I NULL a 10000 NULL x 10000
		R +I 4 y 10000
		L watermark 20000
		R watermark 20000
			+I NULL NULL NULL 4 y 10000
			watermark 15000
	`)
}

// A row of an outer side without a partner that passes the condition is padded.
func TestIntervalJoinCondition(t *testing.T) {
	r, s := intervalRig(Full, -1000, 1000)
	fields := slices.Concat(s.Left, s.Right)
	cond, err := expr.NewCall("<>", []expr.Expr{expr.NewCol(fields, 1), expr.NewCol(fields, 4)}, expr.Pos{})
	if err != nil {
		t.Fatal(err)
	}
	s.Cond = cond
	r.run(t, `
		L +I 1 a 10000
		L +I 1 b 10001
		R +I 1 a 10000
			+I 1 b 10001 1 a 10000
		R +I 1 c 9001
			+I 1 a 10000 1 c 9001
			+I 1 b 10001 1 c 9001
		L +I 2 q 10000
		R +I 2 q 10000
		L watermark 11001
		R watermark 11001
			+I 2 q 10000 NULL NULL NULL
			+I NULL NULL NULL 2 q 10000
			watermark 10001
		R +I 3 z 10002
		L +I 3 z 10001
			+I 3 z 10001 NULL NULL NULL
		R watermark 13000
		L watermark 13000
			+I NULL NULL NULL 3 z 10002
			watermark 12000
	`)
}

// Bounds that leave no time: nothing joins, rows of outer sides are padded at once.
func TestIntervalJoinEmpty(t *testing.T) {
	r, _ := intervalRig(Left, 1000, -1000)
	r.run(t, `
		L +I 1 a 10000
			+I 1 a 10000 NULL NULL NULL
		R +I 1 x 10000
		R watermark 5000
		L watermark 7000
			watermark 5000
	`)
}

// Without an equality all rows have one key.
func TestIntervalJoinWithoutKey(t *testing.T) {
	r, s := intervalRig(Inner, -1000, 1000)
	s.LeftKeys, s.RightKeys = nil, nil
	r.of = 1
	r.run(t, `
		L +I 1 a 10000
		R +I 2 x 10000
			+I 1 a 10000 2 x 10000
		R +I NULL x 12000
	`)
}

func TestIntervalJoinNullRowtime(t *testing.T) {
	r, _ := intervalRig(Inner, -1000, 1000)
	r.run(t, `
		L +I 1 a 10000
		R +I 1 x 10000
			+I 1 a 10000 1 x 10000
		R +I 1 y NULL
			error: RowTime field should not be null, please convert it to a non-null long value.; operator Op[1]; row k=1, w=y, ts=<NULL>
	`)
}

func TestIntervalJoinProctime(t *testing.T) {
	s := &IntervalJoining{
		Kind: Left, Left: fieldsOf("k int"), Right: fieldsOf("k int, w string"),
		LeftKeys: []int{0}, RightKeys: []int{0}, Lower: -1000, Upper: 2000,
	}
	r := rig{
		make: func() Operator { return NewIntervalJoin(*s) }, in: [][]types.Field{s.Left, s.Right},
		out: slices.Concat(s.Left, s.Right), keys: [][]int{{0}, {0}},
	}
	r.run(t, `
		time 1000
		L +I 1
		L +I 2
		time 2000
		R +I 1 x
			+I 1 1 x
		time 3000
		R +I 1 y
			+I 1 1 y
		L watermark 50
		R watermark 70
			watermark 50
		time 3001
			+I 2 NULL NULL
		R +I 1 z
		time 4000
		L +I 1
			+I 1 1 y
			+I 1 1 z
		time 4001
		L +I 1
			+I 1 1 z
		time 9000
	`)
}

// A row dated far in the future does not keep what is behind it.
func TestIntervalJoinFarFuture(t *testing.T) {
	r, _ := intervalRig(Inner, -60_000, 60_000)
	p := newPlayer(t, r, 1)
	for n := range 200 {
		for input := range 2 {
			b := types.NewBatch(r.in[input])
			for i := range types.BatchRows {
				ts := int64(n*types.BatchRows + i)
				if n == 10 && i == 5 {
					ts = 1 << 45
				}
				b.Cols[0].AppendInt(ts)
				b.Cols[1].AppendStr("text of a row")
				b.Cols[2].AppendInt(ts * 1000)
				b.Push(types.Insert)
			}
			p.feed(0, input, b)
			p.fail(p.ops[0].op.Watermark(input, int64(n*types.BatchRows)))
		}
		p.out = nil
	}
	// 60 s on both sides of the watermark are some 61,000 rows a side, of at most 200 bytes.
	if held := p.ops[0].keyed.Size(); p.dead != "" || held > 2*61_000*200 {
		t.Errorf("%d bytes held, error %q", held, p.dead)
	}
}
