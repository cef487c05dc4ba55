package op

import (
	"testing"

	"runnel/types"
)

func TestTemporalSort(t *testing.T) {
	f := fieldsOf("v int, ts rowtime")
	r := rig{
		make: func() Operator { return NewTemporalSort(f, keysOf(f, "ts, v desc nulls last")) }, in: [][]types.Field{f}, out: f, of: 1,
		check: Check{Mode: types.InsertOnly},
	}
	r.run(t, `
		+I 1 5000
		+I 2 3000
		+I 3 5000
		+I 1 5000
		watermark 4000
			+I 2 3000
			watermark 4000
		-- behind the watermark, but not behind the last row
		+I 9 3500
		+I 8 3000
		+I NULL 5000
		watermark 5000
			+I 9 3500
			+I 3 5000
			+I 1 5000
			+I 1 5000
			+I NULL 5000
			watermark 5000
		+I 7 5000
		+I 7 NULL
			error: RowTime field should not be null, please convert it to a non-null long value.; operator Op[1]; row v=7, ts=<NULL>
	`)
}

func TestTemporalSortProctime(t *testing.T) {
	f := fieldsOf("v int, ts proctime")
	r := rig{
		make: func() Operator { return NewTemporalSort(f, keysOf(f, "ts, v")) }, in: [][]types.Field{f}, out: f, of: 1,
	}
	r.run(t, `
		time 10
		+I 2 NULL
		+I 1 NULL
		watermark 3
			watermark 3
		time 11
			+I 1 NULL
			+I 2 NULL
		+I 3 NULL
		time 12
			+I 3 NULL
	`)
}
