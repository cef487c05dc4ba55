package op

import (
	"testing"

	"runnel/types"
)

func TestBatchAggregate(t *testing.T) {
	r, _ := aggRig(t, "k string, v int", 1, "SUM v", "COUNT", "COUNT DISTINCT v", "MAX k")
	r.batch = true
	r.check = Check{Mode: types.InsertOnly}
	r.runBounded(t, `
		+I b 1
		+I a 2
		+I NULL 3
		+I a 2
		+I a 5
		end
			+I b 1 1 1 b
			+I a 9 3 2 a
			+I NULL 3 1 1 NULL
			watermark max
	`)
}

func TestBatchGlobalAggregate(t *testing.T) {
	r, _ := aggRig(t, "v int", 0, "SUM v", "COUNT", "COUNT DISTINCT v")
	r.batch = true
	r.runBounded(t, `
		end
			+I NULL 0 0
			watermark max
	`)
	r.runBounded(t, `
		+I 4
		+I NULL
		+I 4
		end
			+I 8 3 1
			watermark max
	`)
}

func TestBatchDistinct(t *testing.T) {
	r, _ := aggRig(t, "k string, v int", 2)
	r.batch = true
	r.runBounded(t, `
		end
			watermark max
	`)
	r.runBounded(t, `
		+I a 1
		+I a 2
		+I a 1
		end
			+I a 1
			+I a 2
			watermark max
	`)
}
