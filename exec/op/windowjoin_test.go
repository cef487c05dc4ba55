package op

import (
	"fmt"
	"slices"
	"strings"
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

// intCondition sets a condition over the columns v of the left side and w of the right one, both INT.
func intCondition(t *testing.T, s *WindowJoining, of func(v, w expr.Expr) (expr.Expr, error)) {
	t.Helper()
	s.Left.Fields, s.Right.Fields = fieldsOf("k int, v int, s ts, e ts"), fieldsOf("k int, w int, s ts, e ts")
	fields := slices.Concat(s.Left.Fields, s.Right.Fields)
	cond, err := of(expr.NewCol(fields, 1), expr.NewCol(fields, 5))
	if err != nil {
		t.Fatal(err)
	}
	s.Cond = cond
}

// Pairs meet the condition a batch at a time; they come out left row by left row, each with its partners in order.
func TestWindowJoinManyPairs(t *testing.T) {
	for _, kind := range []JoinKind{Inner, Left, Full, Semi, Anti} {
		r, s := windowJoinRig(kind)
		intCondition(t, s, func(v, w expr.Expr) (expr.Expr, error) { return expr.NewCall("<", []expr.Expr{v, w}, expr.Pos{}) })
		r.in, r.of, r.bag = [][]types.Field{s.Left.Fields, s.Right.Fields}, 1, false
		r.out = slices.Concat(s.Left.Fields, s.Right.Fields)
		if kind == Semi || kind == Anti {
			r.out = s.Left.Fields
		}
		var in, out strings.Builder
		for w := range 40 {
			fmt.Fprintf(&in, "R +I 1 %d 0 10000\n", w)
		}
		for v := range 70 {
			fmt.Fprintf(&in, "L +I 1 %d 0 10000\n", v)
			alone := v >= 39
			for w := v + 1; w < 40 && kind != Semi && kind != Anti; w++ {
				fmt.Fprintf(&out, "\t+I 1 %d 0 10000 1 %d 0 10000\n", v, w)
			}
			switch {
			case kind == Semi && !alone, kind == Anti && alone:
				fmt.Fprintf(&out, "\t+I 1 %d 0 10000\n", v)
			case alone && (kind == Left || kind == Full):
				fmt.Fprintf(&out, "\t+I 1 %d 0 10000 NULL NULL NULL NULL\n", v)
			}
		}
		if kind == Full {
			out.WriteString("\t+I NULL NULL NULL NULL 1 0 0 10000\n")
		}
		r.run(t, in.String()+"L watermark 10000\nR watermark 10000\n"+out.String()+"\twatermark 10000\n")
	}
}

// A condition that fails ends the job behind what the left rows before give.
func TestWindowJoinConditionFails(t *testing.T) {
	r, s := windowJoinRig(Left)
	intCondition(t, s, func(v, w expr.Expr) (expr.Expr, error) {
		share, err := expr.NewCall("/", []expr.Expr{w, v}, expr.Pos{})
		if err != nil {
			return nil, err
		}
		return expr.NewCall(">", []expr.Expr{share, v}, expr.Pos{})
	})
	r.in, r.of, r.bag = [][]types.Field{s.Left.Fields, s.Right.Fields}, 1, false
	r.out = slices.Concat(s.Left.Fields, s.Right.Fields)
	r.run(t, `
		L +I 1 2 0 10000
		L +I 1 9 0 10000
		L +I 1 0 0 10000
		R +I 1 1 0 10000
		R +I 1 7 0 10000
		L watermark 10000
		R watermark 10000
			+I 1 2 0 10000 1 7 0 10000
			+I 1 9 0 10000 NULL NULL NULL NULL
			error: / by zero
	`)
}
