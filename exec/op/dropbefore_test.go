package op

import (
	"testing"

	"runnel/types"
)

func TestDropUpdateBefore(t *testing.T) {
	f := fieldsOf("k string, v int")
	r := rig{
		make: func() Operator { return NewDropUpdateBefore() }, in: [][]types.Field{f}, out: f,
		check: Check{Mode: types.Upsert},
	}
	r.run(t, `
		-U a 1
		watermark 5
			watermark 5
		+I a 1
			+I a 1
		-U a 1
		+U a 2
			+U a 2
		watermark 7
			watermark 7
		-D a 2
			-D a 2
		idle
			idle
	`)
}
