package op

import (
	"testing"

	"runnel/types"
)

func TestUnion(t *testing.T) {
	f := fieldsOf("k string, v int")
	r := rig{make: func() Operator { return NewUnion(2) }, in: [][]types.Field{f, f}, out: f}
	r.run(t, `
		L +I a 1
			+I a 1
		R -U b 2
			-U b 2
		L watermark 10
		R watermark 4
			watermark 4
		R +U b 3
			+U b 3
		R watermark 20
			watermark 10
		L idle
			watermark 20
		R idle
			idle
		L active
			active
		L +I NULL NULL
			+I NULL NULL
		L watermark 15
		L watermark 30
			watermark 30
		R active
		R watermark 25
		L watermark max
		R watermark max
			watermark max
	`)
}
