package op

import (
	"testing"
	"time"

	"runnel/types"
)

func TestChangelogNormalize(t *testing.T) {
	f := fieldsOf("k string, v int")
	var before bool
	r := rig{
		make: func() Operator { return NewChangelogNormalize(f, []int{0}, before, 0, MiniBatch{}) }, in: [][]types.Field{f}, out: f,
		keys: [][]int{{0}},
	}
	r.check = Check{Mode: types.Upsert}
	r.run(t, `
		+U k 1
			+I k 1
		+U k 2
			+U k 2
		-D k NULL
			-D k 2
		-D z NULL
		+I k 3
			+I k 3
	`)
	before = true
	r.check = Check{Mode: types.AllKinds, Pairs: true}
	r.run(t, `
		+I k 1
			+I k 1
		+I k 1
		watermark 7
			watermark 7
		+U k 2
			-U k 1
			+U k 2
		+U k 2
			-U k 2
			+U k 2
		+I k 2
		-U k 9
			-D k 2
		+I NULL 1
			+I NULL 1
	`)
}

func TestChangelogNormalizeTTL(t *testing.T) {
	f := fieldsOf("k string, v int")
	r := rig{
		make: func() Operator { return NewChangelogNormalize(f, []int{0}, true, time.Second, MiniBatch{}) }, in: [][]types.Field{f}, out: f,
		keys: [][]int{{0}},
	}
	r.run(t, `
		+I k 1
			+I k 1
		time 999
		+I k 1
			-U k 1
			+U k 1
		time 1998
		+I k 1
			-U k 1
			+U k 1
		time 2998
		-D k 1
	`)
}

// A bundle gives the last change of each key only.
func TestChangelogNormalizeMiniBatch(t *testing.T) {
	f := fieldsOf("k int, v string")
	r := rig{make: func() Operator {
		return NewChangelogNormalize(f, []int{0}, true, 0, MiniBatch{Size: 4, Latency: time.Second})
	},
		in: [][]types.Field{f}, out: f, keys: [][]int{{0}}}
	r.runBounded(t, `
		+I 1 a
		+U 1 b
		+I 2 c
		-D 2 c
			+I 1 b
		+U 1 c
		+U 1 d
		time 1000
			-U 1 b
			+U 1 d
		-D 1 NULL
		+I 1 d
		flush
		-D 1 NULL
		flush
			-D 1 d
	`)
}
