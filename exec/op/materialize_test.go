package op

import (
	"testing"

	"runnel/types"
)

func TestUpsertMaterializer(t *testing.T) {
	f := fieldsOf("p string, v string, id int")
	r := rig{in: [][]types.Field{f}, out: f, keys: [][]int{{0}}, check: Check{Mode: types.Upsert}}
	r.make = func() Operator { return NewUpsertMaterializer(f, []int{0}, nil, 0) }
	r.run(t, `
		+I p x 1
			+I p x 1
		+I p y 2
			+U p y 2
		-D p x 1
		-D p y 2
			-D p y 2
		+I p x 1
			+I p x 1
		+I p y 2
			+U p y 2
		-U p y 2
			+U p x 1
		-D p zz 9
		-D p x 1
			-D p x 1
		-D p x 1
		+I p x 1
			+I p x 1
		+I p x 1
			+U p x 1
		-D p x 1
		-D p x 1
			-D p x 1
	`)
	r.make = func() Operator { return NewUpsertMaterializer(f, []int{0}, []int{2}, 0) }
	r.run(t, `
		+I p x 1
			+I p x 1
		+I p y 2
			+U p y 2
		+U p z 1
			+U p z 1
		-D p y 2
			+U p z 1
		-U p other 1
			-D p other 1
	`)
}
