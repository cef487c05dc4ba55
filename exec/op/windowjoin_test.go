package op

import (
	"slices"
	"testing"

	"runnel/expr"
	"runnel/types"
)

func windowJoinRig(kind JoinKind) (rig, *WindowJoining) {
	side := func(v string) WindowSide {
		return WindowSide{Fields: fieldsOf("k int, " + v + " string, s ts, e ts"), Keys: []int{0}, StartCol: 2, EndCol: 3}
	}
	s := &WindowJoining{Kind: kind, Left: side("v"), Right: side("w")}
	out := slices.Concat(s.Left.Fields, s.Right.Fields)
	if kind == Semi || kind == Anti {
		out = s.Left.Fields
	}
	return rig{
		make: func() Operator { return NewWindowJoin(*s) }, in: [][]types.Field{s.Left.Fields, s.Right.Fields}, out: out,
		keys: [][]int{{0}, {0}}, check: Check{Mode: types.InsertOnly}, bag: true,
	}, s
}

const windowJoinInput = `
		L +I 1 a 0 10000
		R +I 1 x 0 10000
		R +I 1 y 0 10000
		L +I 1 b 10000 20000
		R +I 2 z 0 10000
		L +I NULL n 0 10000
		R +I NULL n 0 10000
		L watermark 9999
		R watermark 9998
			watermark 9998
		L +I 3 c 0 10000
		R watermark 9999
`

func TestWindowJoin(t *testing.T) {
	for kind, want := range map[JoinKind]string{
		Inner: `
			+I 1 a 0 10000 1 x 0 10000
			+I 1 a 0 10000 1 y 0 10000
			watermark 9999
		L +I 1 late 0 10000
		L watermark max
		R watermark max
			watermark max`,
		Left: `
			+I 1 a 0 10000 1 x 0 10000
			+I 1 a 0 10000 1 y 0 10000
			+I NULL n 0 10000 NULL NULL NULL NULL
			+I 3 c 0 10000 NULL NULL NULL NULL
			watermark 9999
		L watermark max
		R watermark max
			+I 1 b 10000 20000 NULL NULL NULL NULL
			watermark max`,
		Right: `
			+I 1 a 0 10000 1 x 0 10000
			+I 1 a 0 10000 1 y 0 10000
			+I NULL NULL NULL NULL NULL n 0 10000
			+I NULL NULL NULL NULL 2 z 0 10000
			watermark 9999`,
		Full: `
			+I 1 a 0 10000 1 x 0 10000
			+I 1 a 0 10000 1 y 0 10000
			+I NULL n 0 10000 NULL NULL NULL NULL
			+I 3 c 0 10000 NULL NULL NULL NULL
			+I NULL NULL NULL NULL NULL n 0 10000
			+I NULL NULL NULL NULL 2 z 0 10000
			watermark 9999`,
		Semi: `
			+I 1 a 0 10000
			watermark 9999`,
		Anti: `
			+I NULL n 0 10000
			+I 3 c 0 10000
			watermark 9999`,
	} {
		r, _ := windowJoinRig(kind)
		r.run(t, windowJoinInput+want)
	}
}

func TestWindowJoinCondition(t *testing.T) {
	r, s := windowJoinRig(Full)
	fields := slices.Concat(s.Left.Fields, s.Right.Fields)
	cond, err := expr.NewCall("<", []expr.Expr{expr.NewCol(fields, 1), expr.NewCol(fields, 5)}, expr.Pos{})
	if err != nil {
		t.Fatal(err)
	}
	s.Cond, s.NullSafe = cond, []bool{true}
	r.run(t, `
		L +I NULL a 0 10000
		L +I NULL c 0 10000
		R +I NULL a 0 10000
		R +I NULL b 0 10000
		L watermark 10000
		R watermark 10000
			+I NULL a 0 10000 NULL b 0 10000
			+I NULL c 0 10000 NULL NULL NULL NULL
			+I NULL NULL NULL NULL NULL a 0 10000
			watermark 10000
	`)
}
