package op

import (
	"testing"

	"runnel/types"
)

// Rows come out when their session has ended; one that joins two sessions brings their rows together.
func TestSessionWindowFunction(t *testing.T) {
	in := fieldsOf("k string, v int, ts rowtime")
	out := append(in[:3:3], fieldsOf("s bigint, e bigint, w bigint")...)
	for i := range 3 {
		out[3+i].Type = types.TimestampOf(3)
	}
	r := rig{
		make: func() Operator {
			return NewSessionWindowFunction(in, out, []int{0}, Window{Kind: Session, Size: 5000, Column: 2, Rowtime: true})
		},
		in: [][]types.Field{in}, out: out, keys: [][]int{{0}}, check: Check{Mode: types.AllKinds}, bag: true,
	}
	r.run(t, `
		+I a 1 0
		+I a 2 8000
		+I b 3 4000
		+I a 4 4000
		-D b 3 4000
		watermark 8999
			+I b 3 4000 4000 9000 8999
			-D b 3 4000 4000 9000 8999
			watermark 8999
		-- alone it would be late, but its session is open
		+I a 5 3000
		+I b 6 3000
		watermark 12999
			+I a 1 0 0 13000 12999
			+I a 2 8000 0 13000 12999
			+I a 4 4000 0 13000 12999
			+I a 5 3000 0 13000 12999
			watermark 12999
		+I a 7 NULL
			error: RowTime field should not be null
	`)
}
