package op

import (
	"testing"

	"runnel/types"
)

func TestNotNullEnforcer(t *testing.T) {
	f := fieldsOf("id int, name string")
	r := rig{in: [][]types.Field{f}, out: fieldsOf("id int, name string!")}
	r.make = func() Operator { return NewConstraintEnforcer(f, Enforcement{NotNull: []int{1}, Drop: true}) }
	r.run(t, `
		+I 1 a
			+I 1 a
		+I 2 NULL
		watermark 5
			watermark 5
		+I NULL b
			+I NULL b
	`)
	r.make = func() Operator { return NewConstraintEnforcer(f, Enforcement{NotNull: []int{1}}) }
	r.run(t, `
		+I 1 a
			+I 1 a
		watermark 5
			watermark 5
		+I 2 NULL
			error: Column 'name' is NOT NULL, however, a null value is being written into it. You can set job configuration 'table.exec.sink.not-null-enforcer'='DROP' to suppress this exception and drop such records silently.; operator Op[1]; row id=2, name=<NULL>
		+I 3 c
	`)
}

func TestLengthEnforcer(t *testing.T) {
	f := fieldsOf("c char5, v varchar3, s string")
	r := rig{in: [][]types.Field{f}, out: f}
	r.make = func() Operator { return NewConstraintEnforcer(f, Enforcement{Length: []int{0, 1}}) }
	r.run(t, `
		+I ab abcd abcd
			+I 'ab   ' abc abcd
		-D abcdef ab abcdef
			-D abcde ab abcdef
		+I äöüßéà äöüß äöüß
			+I äöüßé äöü äöüß
		+I NULL NULL NULL
			+I NULL NULL NULL
	`)
}
