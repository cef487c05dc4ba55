package expr

import (
	"math/rand/v2"
	"testing"

	"runnel/types"
)

// TestShared: expressions with parts in common give what each gives alone, over whatever rows they are asked for.
func TestShared(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	fields := testFields()
	m := newMaker(r, fields)
	env := testEnv(t)
	memos := 0
	for range 200 {
		var list []Expr
		for len(list) < 3 {
			if e := m.expr(3); e != nil && !isSymbol(e.Type()) {
				list = append(list, e)
			}
		}
		cond, err := NewCall("IS NULL", []Expr{list[0]}, Pos{})
		if err != nil {
			t.Fatal(err)
		}
		if e, err := NewCase([]When{{cond, list[1]}}, list[1], Pos{}); err == nil {
			list = append(list, e)
		}
		if e, err := NewCall("COALESCE", []Expr{list[2], list[2]}, Pos{}); err == nil {
			list = append(list, e)
		}
		list = append(list, cond, list[0])
		s := NewShared(fields, env, list...)
		memos += len(s.memos)
		b := randomBatch(r, fields, 1+r.IntN(100), true)
		evals := make([]Eval, len(list))
		for i, e := range list {
			if evals[i], err = s.Compile(e); err != nil {
				evals[i] = nil // e.g. a pattern in a constant that is none
			}
		}
		for range 3 {
			s.Begin()
			for k := range 2 * len(list) {
				if i := k % len(list); evals[i] != nil {
					checkRows(t, list[i], evals[i], b, randomSelection(r, b.Len), env)
				}
			}
			if t.Failed() {
				return
			}
		}
	}
	if memos < 60 {
		t.Errorf("%d parts were shared", memos)
	}
}

// TestAssume: a column that a condition fixes is its number.
func TestAssume(t *testing.T) {
	fields := []types.Field{{Name: "k", Type: types.Of(types.Int)}, {Name: "a", Type: types.Of(types.BigInt)}, {Name: "b", Type: types.Of(types.BigInt)}}
	k, a, b := NewCol(fields, 0), NewCol(fields, 1), NewCol(fields, 2)
	is := func(e Expr, n int64) Expr {
		c, err := NewCall("=", []Expr{e, NewInt(n)}, Pos{})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	pick, err := NewCase([]When{{is(k, 0), a}, {is(k, 1), b}}, k, Pos{})
	if err != nil {
		t.Fatal(err)
	}
	five, err := NewCall("=", []Expr{a, NewConst(types.IntDatum(5), types.Of(types.BigInt))}, Pos{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		e, cond Expr
		want    string
	}{
		{pick, is(k, 0), a.String()}, {pick, is(k, 1), b.String()}, {k, is(k, 1), k.String()},
		{pick, NewAnd(five, is(k, 0)), NewConst(types.IntDatum(5), types.Of(types.BigInt)).String()}, {pick, is(a, 5), ""}, {pick, NewOr(is(k, 0), is(k, 1)), pick.String()},
	} {
		got := Assume(tt.e, tt.cond, nil)
		if c, ok := got.(*Cast); ok {
			got = c.Arg
		}
		if tt.want != "" && got.String() != tt.want {
			t.Errorf("%s where %s is %s, want %s", tt.e, tt.cond, got, tt.want)
		}
	}
}
