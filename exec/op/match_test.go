package op

import (
	"fmt"
	"testing"

	"runnel/expr"
	"runnel/types"
)

// matchRig makes a Match over (k, v, ts) partitioned by k that gives v of the first row, v of the last and SUM(v) of all.
// variables have conditions of the form v >= at and v < below.
func matchRig(t *testing.T, ts string, within int64, variables ...expr.MatchVariable) (rig, *Matching) {
	t.Helper()
	s := &Matching{
		In: fieldsOf("k string, v int, ts " + ts), Out: fieldsOf("k string, f int, l int, s int"), Keys: []int{0}, Order: []SortKey{{Column: 2}},
		Rowtime: ts == "rowtime", Variables: variables, Within: within,
	}
	var all []int
	for i := range variables {
		all = append(all, i)
	}
	v := types.Of(types.Int)
	s.Columns = append(s.Columns,
		expr.MatchColumn{Of: all, Column: 1, First: true, Type: v},
		expr.MatchColumn{Of: all, Column: 1, Type: v},
		expr.MatchColumn{Kind: expr.MatchAggregate, Of: all, Agg: aggCall(t, s.In, "SUM v"), Args: []expr.Expr{expr.NewCol(s.In, 1)}, Type: v},
	)
	for i := range s.Columns {
		s.Measures = append(s.Measures, &expr.Col{Index: i, T: v})
	}
	return rig{
		make: func() Operator { return NewMatch(*s) }, in: [][]types.Field{s.In}, out: s.Out, keys: [][]int{{0}},
		check: Check{Mode: types.InsertOnly}, bag: true,
	}, s
}

// matchVar is a variable whose rows have v in [at, below).
func matchVar(t *testing.T, name string, lo, hi int, at, below int64) expr.MatchVariable {
	t.Helper()
	v := &expr.Col{Index: 1, T: types.Of(types.Int)}
	compare := func(op string, n int64) expr.Expr {
		x, err := expr.NewCall(op, []expr.Expr{v, expr.NewInt(n)}, expr.Pos{})
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	return expr.MatchVariable{Name: name, Min: lo, Max: hi, Cond: expr.NewAnd(compare(">=", at), compare("<", below))}
}

// Rows are looked at in the order of their times, when the watermark has passed them; late ones are dropped.
func TestMatchRowtime(t *testing.T) {
	r, _ := matchRig(t, "rowtime", 0, matchVar(t, "LOW", 1, 1, 0, 10), matchVar(t, "HIGH", 1, -1, 10, 100), matchVar(t, "END", 1, 1, 0, 10))
	r.run(t, `
		+I a 1 1000
		+I a 11 3000
		+I b 2 1500
		+I a 12 2000
		watermark 2000
			watermark 2000
		+I a 99 2000
		+I a 5 4000
		+I b 20 2500
		watermark 3999
			watermark 3999
		watermark 4000
			+I a 1 5 29
			watermark 4000
		+I a 30 5000
		+I a 6 6000
		+I b 3 6000
		watermark 9000
			+I a 5 6 41
			+I b 2 3 25
			watermark 9000
		+I a 1 NULL
			error: RowTime field should not be null
	`)
}

func TestMatchSkipPastLastRow(t *testing.T) {
	r, s := matchRig(t, "rowtime", 0, matchVar(t, "A", 1, 1, 0, 100), matchVar(t, "B", 1, 1, 0, 100))
	s.Skip = expr.SkipPastLastRow
	r.run(t, `
		+I a 1 1000
		+I a 2 2000
		+I a 3 3000
		watermark 3000
			+I a 1 2 3
			watermark 3000
		+I a 4 4000
		watermark 4000
			+I a 3 4 7
			watermark 4000
	`)
}

// A later match waits for an earlier partial one, until that one is too old.
func TestMatchWithin(t *testing.T) {
	r, s := matchRig(t, "rowtime", 5000, matchVar(t, "A", 1, 1, 0, 100), matchVar(t, "B", 0, -1, 10, 100), expr.MatchVariable{Name: "C", Min: 1, Max: 1})
	s.Variables[1].Reluctant = true
	// C is a row that is 9 above the first one
	diff, err := expr.NewCall("-", []expr.Expr{&expr.Col{Index: 1, T: types.Of(types.Int)}, &expr.Col{Index: 0, T: types.Of(types.Int)}}, expr.Pos{})
	if err != nil {
		t.Fatal(err)
	}
	if s.Variables[2].Cond, err = expr.NewCall("=", []expr.Expr{diff, expr.NewInt(9)}, expr.Pos{}); err != nil {
		t.Fatal(err)
	}
	r.run(t, `
		+I a 10 1000
		+I a 20 2000
		+I a 29 3000
		watermark 3000
			watermark 3000
		watermark 5999
			watermark 5999
		watermark 6000
			+I a 20 29 49
			watermark 6000
	`)
}

// In processing time rows are looked at as they come; with further sort keys, when their millisecond is over.
func TestMatchProctime(t *testing.T) {
	vars := []expr.MatchVariable{matchVar(t, "A", 1, 1, 0, 10), matchVar(t, "B", 1, 1, 10, 100)}
	r, s := matchRig(t, "proctime", 1000, vars...)
	trace := `
		time 500
		+I a 1 NULL
		+I b 2 NULL
		time 1499
		+I a 11 NULL
			+I a 1 11 12
		time 1500
		+I b 12 NULL
	`
	r.run(t, trace)
	s.Order = append(s.Order, SortKey{Column: 1})
	r.run(t, `
		time 500
		+I a 11 NULL
		+I a 1 NULL
		time 501
			+I a 1 11 12
	`)
}

func TestMatchSkipErrors(t *testing.T) {
	r, s := matchRig(t, "rowtime", 0, matchVar(t, "A", 1, 1, 0, 10), matchVar(t, "B", 0, 1, 10, 20), matchVar(t, "C", 1, 1, 20, 30))
	s.Skip, s.SkipTo, s.SkipName = expr.SkipToFirst, []int{1}, "B"
	r.run(t, `
		+I a 1 1000
		+I a 11 2000
		+I a 20 3000
		+I a 1 4000
		watermark 4000
			+I a 1 20 32
			watermark 4000
		+I a 20 5000
		watermark 5000
			error: Could not skip to B. No such element in the found match.
	`)
	s.SkipTo, s.SkipName = []int{0}, "A"
	r.run(t, `
		+I a 1 1000
		+I a 20 2000
		watermark 2000
			error: Could not skip to first element of a match.
	`)
}

// A match may have more rows than a batch, and an aggregate more than its arguments as they are.
func TestMatchOfManyRows(t *testing.T) {
	r, s := matchRig(t, "rowtime", 0, matchVar(t, "A", 1, -1, 0, 10), matchVar(t, "B", 1, 1, 10, 20))
	s.Skip = expr.SkipPastLastRow
	s.Columns[2].Args[0] = call(t, s.In, "*", "v", 2)
	p := newPlayer(t, r, 1)
	const n = 2000
	for i := range n {
		p.take(parseTrace(t, fmt.Sprintf("+I a 1 %d", i))[0])
		if i == n/2 {
			p.restart(1, func() {})
		}
	}
	for _, s := range parseTrace(t, fmt.Sprintf("+I a 11 %d\nwatermark %d", n, n)) {
		p.take(s)
	}
	p.verdict("the last row", []string{fmt.Sprintf("+I a 1 11 %d", 2*(n+11)), fmt.Sprintf("watermark %d", n)}, false)
}

// The state of a key goes when nothing but the beginning is left.
func TestMatchForgets(t *testing.T) {
	r, _ := matchRig(t, "rowtime", 0, matchVar(t, "A", 1, 1, 0, 10), matchVar(t, "B", 1, 1, 10, 20))
	p := newPlayer(t, r, 1)
	for _, s := range parseTrace(t, "+I a 1 1000\nwatermark 1000\n+I a 11 2000\nwatermark 2000\n+I b 11 3000\nwatermark 3000") {
		p.take(s)
	}
	m := p.ops[0].op.(*Match)
	for g := range int32(kitGroups) {
		if n := m.table.Of(g).Len(); n > 0 {
			t.Errorf("key group %d holds %d keys", g, n)
		}
	}
}
