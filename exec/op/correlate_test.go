package op

import (
	"strings"
	"testing"

	"runnel/expr"
	"runnel/types"
)

// arrayOf is an array of columns: the kit has no words for arrays.
func arrayOf(t *testing.T, f []types.Field, names ...string) expr.Expr {
	t.Helper()
	var es []expr.Expr
	for _, n := range names {
		es = append(es, column(t, f, n))
	}
	e, err := expr.NewCall("ARRAY", es, expr.Pos{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestCorrelateUnnest(t *testing.T) {
	f := fieldsOf("a int, b int")
	spec := Correlation{In: f, Out: fieldsOf("a int, b int, e int, n int"), Args: []expr.Expr{arrayOf(t, f, "a", "b", "a")}, Ordinality: true}
	r := rig{make: func() Operator { return NewCorrelate(spec) }, in: [][]types.Field{f}, out: spec.Out}
	r.run(t, `
		+I 1 NULL
			+I 1 NULL 1 1
			+I 1 NULL NULL 2
			+I 1 NULL 1 3
		watermark 4
			watermark 4
		-U 2 3
			-U 2 3 2 1
			-U 2 3 3 2
			-U 2 3 2 3
	`)
	spec.Ordinality, spec.Outer = false, true
	spec.Out = spec.Out[:3]
	spec.Cond = call(t, spec.Out, ">", "e", 5)
	r.out = spec.Out
	r.run(t, `
		+I 1 7
			+I 1 7 7
		-D 1 NULL
			-D 1 NULL NULL
	`)
}

func TestCorrelateReplicate(t *testing.T) {
	f := fieldsOf("n bigint, k string")
	spec := Correlation{In: f, Out: fieldsOf("n bigint, k string, k2 string"), Func: ReplicateRows,
		Args: []expr.Expr{column(t, f, "n"), column(t, f, "k")}}
	r := rig{make: func() Operator { return NewCorrelate(spec) }, in: [][]types.Field{f}, out: spec.Out}
	r.run(t, `
		+I 2 a
			+I 2 a a
			+I 2 a a
		+I 0 b
		+I NULL c
		+I -3 d
	`)
}

func TestCorrelateCollections(t *testing.T) {
	f := []types.Field{{Name: "c", Type: types.MapOf(types.String(), types.Of(types.Int))}}
	pairs := &types.MapValue{Keys: []types.Datum{types.StrDatum("x"), types.StrDatum("y")}, Vals: []types.Datum{types.IntDatum(2), types.IntDatum(1)}}
	row := types.RowOf(fieldsOf("p int, q string")...)
	tuple := &types.Tuple{Fields: []types.Datum{types.IntDatum(7), types.NullDatum()}}
	for name, c := range map[string]struct {
		t    types.Type
		v    any
		out  string
		want string
	}{
		"map":      {f[0].Type, pairs, "k string, v int", "+I x 2|+I y 1"},
		"multiset": {types.MultisetOf(types.String()), pairs, "e string", "+I x|+I x|+I y"},
		"rows": {types.ArrayOf(row), &types.List{Elems: []types.Datum{types.AnyDatum(tuple), types.NullDatum()}},
			"p int, q string", "+I 7 NULL|+I NULL NULL"},
	} {
		in := []types.Field{{Name: "c", Type: c.t}}
		out := fieldsOf(c.out)
		p := newPlayer(t, rig{
			make: func() Operator {
				return NewCorrelate(Correlation{In: in, Out: append(in[:1:1], out...), Args: []expr.Expr{expr.NewCol(in, 0)}})
			},
			in: [][]types.Field{in}, out: append(in[:1:1], out...),
		}, 1)
		b := types.NewBatch(in)
		b.Cols[0].AppendAny(c.v)
		b.Push(types.Insert)
		p.feed(0, 0, b)
		var got []string
		for _, l := range p.out { // without the collection itself
			w := words(l)
			got = append(got, "+I "+strings.Join(w[len(w)-len(out):], " "))
		}
		if s := strings.Join(got, "|"); s != c.want || p.dead != "" {
			t.Errorf("%s: %s, error %q", name, s, p.dead)
		}
	}
}
