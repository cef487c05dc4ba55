package op

import (
	"testing"
	"time"

	"runnel/expr"
	"runnel/types"
)

// aggCall builds an aggregate call over columns of fields: "SUM v", "COUNT", "COUNT DISTINCT k FILTER f".
func aggCall(t testing.TB, fields []types.Field, text string) expr.AggCall {
	t.Helper()
	w := words(text)
	call := expr.AggCall{Func: expr.LookupAggregate(w[0]), Filter: -1, Name: text, Text: text}
	if call.Func == nil {
		t.Fatalf("no aggregate %s", w[0])
	}
	index := func(name string) int {
		for i, f := range fields {
			if f.Name == name {
				return i
			}
		}
		t.Fatalf("no column %s", name)
		return -1
	}
	var args []types.Type
	for i := 1; i < len(w); i++ {
		switch w[i] {
		case "DISTINCT":
			call.Distinct = true
		case "FILTER":
			i++
			call.Filter = index(w[i])
		default:
			call.Args = append(call.Args, index(w[i]))
			args = append(args, fields[index(w[i])].Type)
		}
	}
	var err error
	if call.T, err = call.Func.Result(args); err != nil {
		t.Fatal(err)
	}
	return call
}

// aggRig makes a rig for a grouping by the first columns of in.
func aggRig(t testing.TB, in string, keys int, calls ...string) (rig, *Grouping) {
	t.Helper()
	g := &Grouping{In: fieldsOf(in), UpdateBefore: true}
	g.Out = append(g.Out, g.In[:keys]...)
	for i := range keys {
		g.Keys = append(g.Keys, i)
	}
	for _, c := range calls {
		call := aggCall(t, g.In, c)
		g.Aggs = append(g.Aggs, call)
		g.Out = append(g.Out, types.Field{Name: c, Type: call.T})
	}
	r := rig{
		make: func() Operator { return NewGroupAggregate(*g) }, in: [][]types.Field{g.In}, out: g.Out,
		keys: [][]int{g.Keys}, check: Check{Mode: types.AllKinds, Pairs: true},
	}
	return r, g
}

func TestGroupAggregate(t *testing.T) {
	r, _ := aggRig(t, "k string, v int", 1, "SUM v", "COUNT")
	r.run(t, `
		+I a 1
			+I a 1 1
		+I a 2
			-U a 1 1
			+U a 3 2
		+I b 0
			+I b 0 1
		watermark 100
			watermark 100
		+I a 0
			-U a 3 2
			+U a 3 3
		+I NULL 7
			+I NULL 7 1
		+I NULL NULL
			-U NULL 7 1
			+U NULL 7 2
	`)
}

// A row that changes no result makes no output.
func TestGroupAggregateUnchanged(t *testing.T) {
	r, _ := aggRig(t, "k string, v int", 1, "SUM v", "MAX v")
	r.run(t, `
		+I a 1
			+I a 1 1
		+I a 0
		+I a NULL
		+I a 2
			-U a 1 1
			+U a 3 2
		+I b NULL
			+I b NULL NULL
		+I b NULL
		+I b 0
			-U b NULL NULL
			+U b 0 0
	`)
}

func TestGroupAggregateWithoutBefore(t *testing.T) {
	r, g := aggRig(t, "k string, v int", 1, "SUM v", "COUNT")
	g.UpdateBefore, g.Retract = false, true
	r.check = Check{Mode: types.Upsert}
	r.run(t, `
		+I a 1
			+I a 1 1
		+I a 2
			+U a 3 2
		-U a 1
			+U a 2 1
		+U a 1
			+U a 3 2
		-D a 1
			+U a 2 1
		-D a 2
			-D a 2 1
	`)
}

func TestGroupAggregateRetract(t *testing.T) {
	r, g := aggRig(t, "k string, v int", 1, "SUM v", "COUNT", "MIN v", "MAX v", "AVG v")
	g.Retract = true
	r.run(t, `
		-D z 9
		+I a 1
			+I a 1 1 1 1 1
		+I a 2
			-U a 1 1 1 1 1
			+U a 3 2 1 2 1
		-U a 2
			-U a 3 2 1 2 1
			+U a 1 1 1 1 1
		+U a 5
			-U a 1 1 1 1 1
			+U a 6 2 1 5 3
		-D a 1
			-U a 6 2 1 5 3
			+U a 5 1 5 5 5
		-D x 9
		-D a 5
			-D a 5 1 5 5 5
		-D a 5
		+I a 9
			+I a 9 1 9 9 9
	`)
}

func TestGlobalAggregate(t *testing.T) {
	r, g := aggRig(t, "v int", 0, "SUM v", "COUNT")
	g.Retract = true
	r.of = 1
	r.run(t, `
		watermark 4
			watermark 4
		+I 3
			+I 3 1
		+I 4
			-U 3 1
			+U 7 2
		-D 3
			-U 7 2
			+U 4 1
		-D 4
			-D 4 1
		+I 1
			+I 1 1
	`)
}

func TestGroupAggregateDistinct(t *testing.T) {
	r, g := aggRig(t, "k int, v string, w int, even bool", 1,
		"COUNT DISTINCT v", "COUNT DISTINCT v FILTER even", "SUM DISTINCT w", "COUNT FILTER even", "SUM w")
	trace := `
		+I 1 a 10 true
			+I 1 1 1 10 1 10
		+I 1 a 10 false
			-U 1 1 1 10 1 10
			+U 1 1 1 10 1 20
		+I 1 b 5 false
			-U 1 1 1 10 1 20
			+U 1 2 1 15 1 25
		+I 1 b 0 true
			-U 1 2 1 15 1 25
			+U 1 2 2 15 2 25
		+I 1 NULL 0 NULL
	`
	t.Run("append", func(t *testing.T) { r.run(t, trace) })
	g.Retract = true
	t.Run("retract", func(t *testing.T) {
		r.run(t, trace+`
		-D 1 a 10 true
			-U 1 2 2 15 2 25
			+U 1 2 1 15 1 15
		-D 1 a 10 false
			-U 1 2 1 15 1 15
			+U 1 1 1 5 1 5
		-D 1 zz 10 false
			-U 1 1 1 5 1 5
			+U 1 1 1 5 1 -5
		`)
	})
}

// DISTINCT is an aggregate without functions.
func TestDistinct(t *testing.T) {
	r, g := aggRig(t, "k string, v int", 2)
	r.run(t, `
		+I a 1
			+I a 1
		+I a 1
		+I a NULL
			+I a NULL
		+I a NULL
	`)
	g.Retract = true
	r.run(t, `
		+I a 1
			+I a 1
		+I a 1
		-U a 1
		+U a 2
			+I a 2
		-D a 1
			-D a 1
	`)
}

// With a TTL an unchanged result is given again, and a key that is silent for too long begins anew.
func TestGroupAggregateTTL(t *testing.T) {
	r, g := aggRig(t, "k string, v int", 1, "MAX v")
	g.TTL = time.Second
	r.run(t, `
		+I a 1
			+I a 1
		time 900
		+I a 0
			-U a 1
			+U a 1
		time 1800
		+I a 2
			-U a 1
			+U a 2
		time 2800
		+I a 1
			+I a 1
	`)
	g.Retract = true
	r.run(t, `
		+I a 1
			+I a 1
		time 1000
		-D a 1
	`)
}

// MAX of text keeps its bytes outside the record.
func TestGroupAggregateBlocks(t *testing.T) {
	r, g := aggRig(t, "k int, v string", 1, "MAX v", "MIN v")
	trace := `
		+I 1 beta
			+I 1 beta beta
		+I 1 'gamma of some length that needs a bigger block'
			-U 1 beta beta
			+U 1 'gamma of some length that needs a bigger block' beta
		+I 2 x
			+I 2 x x
		+I 1 alpha
			-U 1 'gamma of some length that needs a bigger block' beta
			+U 1 'gamma of some length that needs a bigger block' alpha
	`
	t.Run("append", func(t *testing.T) { r.run(t, trace) })
	g.Retract = true
	t.Run("retract", func(t *testing.T) {
		r.run(t, trace+`
		-D 1 'gamma of some length that needs a bigger block'
			-U 1 'gamma of some length that needs a bigger block' alpha
			+U 1 beta alpha
		-D 1 beta
			-U 1 beta alpha
			+U 1 alpha alpha
		-D 1 alpha
			-D 1 alpha alpha
		+I 1 z
			+I 1 z z
		`)
	})
}
