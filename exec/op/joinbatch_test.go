package op

import (
	"strings"
	"testing"

	"runnel/types"
)

// In batch mode nothing is taken back: all comes out behind the end of both inputs, but for rows whose key is NULL.
func TestJoinBatch(t *testing.T) {
	for _, c := range []struct {
		name string
		kind JoinKind
		null string // what a left row with a NULL key gives
		end  string
	}{
		{"inner", Inner, "", "+I 1 A 1 x\n+I 1 A 1 y"},
		{"left", Left, "+I NULL n NULL NULL", "+I 1 A 1 x\n+I 1 A 1 y\n+I 2 B NULL NULL"},
		{"right", Right, "", "+I 1 A 1 x\n+I 1 A 1 y\n+I NULL NULL 3 z"},
		{"full", Full, "+I NULL n NULL NULL", "+I 1 A 1 x\n+I 1 A 1 y\n+I NULL NULL 3 z\n+I 2 B NULL NULL"},
		{"semi", Semi, "", "+I 1 A"},
		{"anti", Anti, "+I NULL n", "+I 2 B"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, spec := joinRig(c.kind)
			r.make = func() Operator { return NewBatchJoin(*spec) }
			r.batch, r.check = true, Check{Mode: types.InsertOnly}
			r.runBounded(t, "\tL +I 1 A\n\tL +I 2 B\n\tR +I 3 z\n\tL +I NULL n\n\t\t"+c.null+
				"\n\tR +I 1 x\n\tR +I 1 y\n\tL end\n\tR end\n\t\t"+strings.ReplaceAll(c.end, "\n", "\n\t\t")+"\n\t\twatermark max\n")
		})
	}
}
