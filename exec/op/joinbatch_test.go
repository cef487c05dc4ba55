package op

import (
	"testing"

	"runnel/types"
)

// In batch mode nothing is taken back: what has no partner comes out behind the end of both inputs.
func TestJoinBatch(t *testing.T) {
	for _, c := range []struct {
		name string
		kind JoinKind
		null string // what a left row with a NULL key gives
		x, y string // what the right rows 1 x and 1 y give
		end  string
	}{
		{"inner", Inner, "", "+I 1 A 1 x", "+I 1 A 1 y", ""},
		{"left", Left, "+I NULL n NULL NULL", "+I 1 A 1 x", "+I 1 A 1 y", "+I 2 B NULL NULL"},
		{"right", Right, "", "+I 1 A 1 x", "+I 1 A 1 y", "+I NULL NULL 3 z"},
		{"full", Full, "+I NULL n NULL NULL", "+I 1 A 1 x", "+I 1 A 1 y", "+I 2 B NULL NULL\n\t\t+I NULL NULL 3 z"},
		{"semi", Semi, "", "+I 1 A", "", ""},
		{"anti", Anti, "+I NULL n", "", "", "+I 2 B"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, _ := joinRig(c.kind)
			r.batch, r.check = true, Check{Mode: types.InsertOnly}
			r.runBounded(t, "\tL +I 1 A\n\tL +I 2 B\n\tR +I 3 z\n\tL +I NULL n\n\t\t"+c.null+
				"\n\tR +I 1 x\n\t\t"+c.x+"\n\tR +I 1 y\n\t\t"+c.y+"\n\tL end\n\tR end\n\t\t"+c.end+"\n\t\twatermark max\n")
		})
	}
}
