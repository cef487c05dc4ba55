package op

import (
	"testing"

	"runnel/expr"
	"runnel/types"
)

func TestExpand(t *testing.T) {
	f := fieldsOf("k string, v int")
	out := fieldsOf("k string, q int, e int!")
	rows := [][]expr.Expr{
		{column(t, f, "k"), call(t, f, "/", 12, "v"), expr.NewInt(0)},
		{expr.NewConst(types.NullDatum(), types.String()), column(t, f, "v"), expr.NewInt(1)},
	}
	r := rig{make: func() Operator { return NewExpand(f, out, rows) }, in: [][]types.Field{f}, out: out}
	r.run(t, `
		+I a 4
			+I a 3 0
			+I NULL 4 1
		watermark 5
			watermark 5
		-D NULL 2
			-D NULL 6 0
			-D NULL 2 1
		+I x 0
			error: / by zero; operator Op[1]
		+I y 1
	`)
}
