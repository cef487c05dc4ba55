package op

import (
	"testing"

	"runnel/expr"
	"runnel/types"
)

// call builds a call of a function or operator; ints among args stand for literals, strings for columns of fields.
func call(t testing.TB, fields []types.Field, name string, args ...any) expr.Expr {
	t.Helper()
	var es []expr.Expr
	for _, a := range args {
		switch a := a.(type) {
		case int:
			es = append(es, expr.NewInt(int64(a)))
		case string:
			es = append(es, column(t, fields, a))
		case expr.Expr:
			es = append(es, a)
		}
	}
	e, err := expr.NewCall(name, es, expr.Pos{Line: 2, Column: 8})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func column(t testing.TB, fields []types.Field, name string) expr.Expr {
	t.Helper()
	for i, f := range fields {
		if f.Name == name {
			return expr.NewCol(fields, i)
		}
	}
	t.Fatalf("no column %s", name)
	return nil
}

func TestCalc(t *testing.T) {
	f := fieldsOf("k string, v int")
	r := rig{in: [][]types.Field{f}, out: fieldsOf("w int, k string")}
	r.make = func() Operator {
		return NewCalc(f, []expr.Expr{call(t, f, "*", "v", 2), column(t, f, "k")}, call(t, f, ">", "v", 10))
	}
	r.run(t, `
		+I a 20
			+I 40 a
		watermark 5
			watermark 5
		-U a 10
		+U a 11
			+U 22 a
		-D b NULL
		watermark 9
			watermark 9
		-D NULL 30
			-D 60 NULL
		idle
			idle
	`)
}

func TestCalcProjectsOnly(t *testing.T) {
	f := fieldsOf("k string, v int")
	r := rig{in: [][]types.Field{f}, out: fieldsOf("k string, k2 string")}
	r.make = func() Operator { return NewCalc(f, []expr.Expr{column(t, f, "k"), column(t, f, "k")}, nil) }
	r.run(t, `
		+I a 20
			+I a a
		-U NULL 3
			-U NULL NULL
	`)
}

// A failing row cuts the batch: what is before it goes out, watermarks too, then the job fails with the row's place.
func TestCalcFailingRow(t *testing.T) {
	f := fieldsOf("k string, v int")
	r := rig{in: [][]types.Field{f}, out: fieldsOf("q int, k string")}
	r.make = func() Operator {
		return NewCalc(f, []expr.Expr{call(t, f, "/", 100, "v"), column(t, f, "k")}, call(t, f, "<>", "v", 7))
	}
	r.run(t, `
		+I a 20
			+I 5 a
		+I b 7
		watermark 5
			watermark 5
		+I c 0
			error: / by zero; operator Op[1]
		+I d 10
	`)
}

func TestCalcFailingCondition(t *testing.T) {
	f := fieldsOf("k string, v int")
	r := rig{in: [][]types.Field{f}, out: fieldsOf("k string")}
	cond := call(t, f, ">", call(t, f, "/", 100, "v"), 3)
	r.make = func() Operator { return NewCalc(f, []expr.Expr{column(t, f, "k")}, cond) }
	r.run(t, `
		+I a 20
			+I a
		+I b 50
		+I c 0
			error: / by zero; operator Op[1]
	`)
}
