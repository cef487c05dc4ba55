package op

import (
	"testing"
	"time"

	"runnel/types"
)

func dedupRig(spec Deduplication) rig {
	spec.In, spec.Keys, spec.Time = fieldsOf("k string, v int, ts rowtime"), []int{0}, 2
	return rig{
		make: func() Operator { return NewDeduplicate(spec) }, in: [][]types.Field{spec.In}, out: spec.In, keys: [][]int{{0}},
	}
}

func TestDeduplicateRowtimeLast(t *testing.T) {
	r := dedupRig(Deduplication{Rowtime: true, Last: true, UpdateBefore: true})
	r.check = Check{Mode: types.AllKinds, Pairs: true}
	r.run(t, `
		+I k 5 5000
			+I k 5 5000
		+I k 3 3000
		+I k 6 5000
			-U k 5 5000
			+U k 6 5000
		watermark 9000
			watermark 9000
		+I k 9 9000
			-U k 6 5000
			+U k 9 9000
		+I k 9 9000
			-U k 9 9000
			+U k 9 9000
		+I z 1 NULL
			error: RowTime field should not be null, please convert it to a non-null long value.; operator Op[1]; row k=z, v=1, ts=<NULL>
	`)
}

func TestDeduplicateRowtimeFirst(t *testing.T) {
	r := dedupRig(Deduplication{Rowtime: true})
	r.check = Check{Mode: types.Upsert}
	r.run(t, `
		+I k 5 5000
			+I k 5 5000
		+I k 6 5000
		+I k 3 3000
			+U k 3 3000
		+I k 4 4000
	`)
}

func TestDeduplicateProctime(t *testing.T) {
	r := dedupRig(Deduplication{})
	r.check = Check{Mode: types.InsertOnly}
	r.run(t, `
		+I k 5 5000
			+I k 5 5000
		+I k 3 3000
		+I NULL 1 NULL
			+I NULL 1 NULL
	`)
	r = dedupRig(Deduplication{Last: true, UpdateBefore: true})
	r.run(t, `
		+I k 5 5000
			+I k 5 5000
		+I k 5 5000
		+I k 3 3000
			-U k 5 5000
			+U k 3 3000
	`)
	r = dedupRig(Deduplication{TTL: time.Second})
	r.run(t, `
		+I k 5 5000
			+I k 5 5000
		time 999
		+I k 3 3000
		time 1000
		+I k 4 3000
			+I k 4 3000
	`)
}
