package op

import (
	"slices"
	"testing"
	"time"

	"runnel/expr"
	"runnel/types"
)

func joinRig(kind JoinKind) (rig, *Joining) {
	s := &Joining{
		Kind:  kind,
		Left:  JoinSide{Fields: fieldsOf("k int, v string"), Keys: []int{0}},
		Right: JoinSide{Fields: fieldsOf("k int, w string"), Keys: []int{0}},
	}
	out := slices.Concat(s.Left.Fields, s.Right.Fields)
	if kind == Semi || kind == Anti {
		out = s.Left.Fields
	}
	return rig{
		make: func() Operator { return NewJoin(*s) }, in: [][]types.Field{s.Left.Fields, s.Right.Fields}, out: out,
		keys: [][]int{{0}, {0}},
	}, s
}

func TestJoinInner(t *testing.T) {
	r, _ := joinRig(Inner)
	r.run(t, `
		L +I 1 a
		R +I 1 x
			+I 1 a 1 x
		R +U 1 y
			+U 1 a 1 y
		L -U 1 a
			-U 1 a 1 x
			-U 1 a 1 y
		L +U 1 b
			+U 1 b 1 x
			+U 1 b 1 y
		R -D 1 x
			-D 1 b 1 x
		L +I NULL n
		R +I NULL n
		L watermark 5
		R watermark 3
			watermark 3
		-- equal rows are counted
		L +I 1 b
			+I 1 b 1 y
		R -D 1 y
			-D 1 b 1 y
			-D 1 b 1 y
		L -D 1 b
		R +I 1 z
			+I 1 b 1 z
	`)
}

func TestJoinLeft(t *testing.T) {
	r, _ := joinRig(Left)
	r.run(t, `
		L +I 1 A
			+I 1 A NULL NULL
		R +I 1 x
			-D 1 A NULL NULL
			+I 1 A 1 x
		R +I 1 y
			+I 1 A 1 y
		R -D 1 x
			-D 1 A 1 x
		R -D 1 y
			-D 1 A 1 y
			+I 1 A NULL NULL
		L -U 1 A
			-D 1 A NULL NULL
		L +U 1 B
			+I 1 B NULL NULL
		L +I NULL n
			+I NULL n NULL NULL
		R +I NULL n
		L -D NULL n
			-D NULL n NULL NULL
		R +I 2 q
		L +U 2 C
			+I 2 C 2 q
		L -U 2 C
			-D 2 C 2 q
	`)
}

func TestJoinFull(t *testing.T) {
	r, _ := joinRig(Full)
	r.run(t, `
		L +I 1 A
			+I 1 A NULL NULL
		R +I 2 x
			+I NULL NULL 2 x
		R +I 1 y
			-D 1 A NULL NULL
			+I 1 A 1 y
		L -D 1 A
			-D 1 A 1 y
			+I NULL NULL 1 y
		L +I 1 A
			-D NULL NULL 1 y
			+I 1 A 1 y
		L +I 1 B
			+I 1 B 1 y
		L -D 1 A
			-D 1 A 1 y
		L -D 1 B
			-D 1 B 1 y
			+I NULL NULL 1 y
	`)
}

func TestJoinRight(t *testing.T) {
	r, s := joinRig(Right)
	s.NullSafe = []bool{true}
	r.run(t, `
		R +I NULL x
			+I NULL NULL NULL x
		L +I NULL A
			-D NULL NULL NULL x
			+I NULL A NULL x
		L -D NULL A
			-D NULL A NULL x
			+I NULL NULL NULL x
	`)
}

func TestJoinSemi(t *testing.T) {
	r, _ := joinRig(Semi)
	r.run(t, `
		L +I 1 a
		R +I 1 x
			+I 1 a
		R +I 1 y
		R -D 1 x
		R -D 1 y
			-D 1 a
		R +U 1 z
			+U 1 a
		R -U 1 z
			-U 1 a
		L +I NULL a
		R +I NULL x
		R +I 1 q
			+I 1 a
		L -U 1 a
			-U 1 a
		L +U 1 b
			+U 1 b
		R -D 1 q
			-D 1 b
	`)
}

func TestJoinAnti(t *testing.T) {
	r, _ := joinRig(Anti)
	r.run(t, `
		L +I 1 a
			+I 1 a
		R +I 1 x
			-D 1 a
		R +I 1 y
		R -D 1 x
		R -D 1 y
			+I 1 a
		L +I NULL n
			+I NULL n
		R +I NULL n
		L -U 1 a
			-U 1 a
		L +U 2 a
			+U 2 a
	`)
}

func TestJoinCondition(t *testing.T) {
	r, s := joinRig(Left)
	fields := slices.Concat(s.Left.Fields, s.Right.Fields)
	cond, err := expr.NewCall("<>", []expr.Expr{expr.NewCol(fields, 1), expr.NewCol(fields, 3)}, expr.Pos{})
	if err != nil {
		t.Fatal(err)
	}
	s.Cond = cond
	r.run(t, `
		L +I 1 a
			+I 1 a NULL NULL
		R +I 1 a
		R +I 1 b
			-D 1 a NULL NULL
			+I 1 a 1 b
		R -D 1 a
		R -D 1 b
			-D 1 a 1 b
			+I 1 a NULL NULL
	`)
}

// Without an equality every row meets every other.
func TestJoinCross(t *testing.T) {
	r, s := joinRig(Inner)
	s.Left.Keys, s.Right.Keys = nil, nil
	r.of = 1
	r.run(t, `
		L +I 1 a
		R +I 2 x
			+I 1 a 2 x
		R +I NULL y
			+I 1 a NULL y
		L +I 3 b
			+I 3 b 2 x
			+I 3 b NULL y
	`)
}

// Upserts replace the row of their unique key without a -U.
func TestJoinUpserts(t *testing.T) {
	r, s := joinRig(Inner)
	s.Right.Unique, s.Right.Replaces = []int{0}, true
	r.run(t, `
		R +I 1 x
		R +U 1 y
		L +I 1 a
			+I 1 a 1 y
		R +U 1 z
			+U 1 a 1 z
		R -D 1 other
			-D 1 a 1 other
		L +I 1 b
	`)
}

func TestJoinTTL(t *testing.T) {
	r, s := joinRig(Inner)
	s.Left.TTL = time.Second
	r.run(t, `
		L +I 1 a
		R +I 1 x
			+I 1 a 1 x
		time 1000
		R +I 1 y
		L +I 1 b
			+I 1 b 1 x
			+I 1 b 1 y
	`)
}
