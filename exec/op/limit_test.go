package op

import (
	"testing"

	"runnel/types"
)

func TestLimit(t *testing.T) {
	f := fieldsOf("v int")
	r := rig{make: func() Operator { return NewLimit(1, 2) }, in: [][]types.Field{f}, out: f, of: 1}
	r.run(t, `
		+I 1
		+I 2
			+I 2
		watermark 5
			watermark 5
		+I 3
			+I 3
		+I 4
		watermark 9
			watermark 9
	`)
}
