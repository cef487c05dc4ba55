package op

import (
	"slices"
	"testing"
	"time"

	"runnel/expr"
	"runnel/types"
)

func temporalRig(outer bool) (rig, *TemporalJoining) {
	s := &TemporalJoining{
		Outer: outer, Left: fieldsOf("k int, v int, ts rowtime"), Right: fieldsOf("k int, w int, ts rowtime"),
		LeftKeys: []int{0}, RightKeys: []int{0}, LeftTime: 2, RightTime: 2,
	}
	return rig{
		make: func() Operator { return NewTemporalJoin(*s) }, in: [][]types.Field{s.Left, s.Right},
		out: slices.Concat(s.Left, s.Right), keys: [][]int{{0}, {0}}, bag: true,
	}, s
}

func TestTemporalJoin(t *testing.T) {
	r, _ := temporalRig(false)
	r.run(t, `
		R +I 1 1 10
		R +U 1 2 20
		L +I 1 15 15
		L +I 1 25 25
		L +I 2 5 5
		L watermark 18
		R watermark 18
			+I 1 15 15 1 1 10
			watermark 18
		-- a late version counts for rows that wait
		R +U 1 3 16
		R +U 1 4 24
		L +I 1 12 12
		L watermark 30
		R watermark 30
			+I 1 25 25 1 4 24
			+I 1 12 12 1 1 10
			watermark 30
		R -D 1 4 40
		L -U 1 50 50
		L +U 1 39 39
		L watermark 60
		R watermark 60
			+U 1 39 39 1 4 24
			watermark 60
		L +I 1 70 NULL
			error: RowTime field should not be null
	`)
}

func TestTemporalJoinLeft(t *testing.T) {
	r, s := temporalRig(true)
	fields := slices.Concat(s.Left, s.Right)
	cond, err := expr.NewCall(">", []expr.Expr{expr.NewCol(fields, 4), expr.NewCol(fields, 1)}, expr.Pos{})
	if err != nil {
		t.Fatal(err)
	}
	s.Cond = cond
	r.run(t, `
		R +I 1 10 10
		R +I NULL 10 10
		L +I 1 5 15
		L +I 1 11 15
		L +I 1 1 5
		L +I NULL 1 15
		-- of two versions of one time the later arrival wins
		R -U 1 10 10
		R +U 1 12 10
		L watermark max
		R watermark max
			+I 1 5 15 1 12 10
			+I 1 11 15 1 12 10
			+I 1 1 5 NULL NULL NULL
			+I NULL 1 15 NULL NULL NULL
			watermark max
	`)
}

// With a TTL a key that neither side names for so long, and up to half as long again, loses its versions and the rows that
// wait; rows of either side keep them, and so does a watermark that reaches them.
func TestTemporalJoinTTL(t *testing.T) {
	r, s := temporalRig(true)
	s.TTL = time.Second
	r.run(t, `
		R +I 1 1 10
		R +I 2 2 10
		time 900
		L +I 1 15 15
		L watermark 18
		R watermark 18
			+I 1 15 15 1 1 10
			watermark 18
		time 1300
		L +I 1 19 19
		time 1500
		L +I 2 20 20
		time 2400
		L +I 1 21 21
		L watermark 28
		R watermark 28
			+I 2 20 20 2 2 10
			+I 1 21 21 NULL NULL NULL
			watermark 28
	`)
}
