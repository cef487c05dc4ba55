package op

import "testing"

// TestLateRowsAreCounted: each operator that drops late rows counts them.
func TestLateRowsAreCounted(t *testing.T) {
	tumble, _ := windowRig(t, "ts rowtime", 0, Window{Kind: Tumble, Size: 10_000}, "COUNT")
	tumble.of = 1
	session, _ := windowRig(t, "k string, v string, ts rowtime", 1, Window{Kind: Session, Size: 5000}, "COUNT")
	over, _ := overRig(t, "rowtime", false, -1, "COUNT")
	match, _ := matchRig(t, "rowtime", 0, matchVar(t, "A", 1, 1, 0, 10))
	for _, c := range []struct {
		name, trace string
		rig         rig
		counter     string
		want        int64
	}{
		{"tumbling window", `
			+I 1000
			watermark 10000
				+I 1 0 10000
				watermark 10000
			+I 3000
			+I 9999
			+I 10001
		`, tumble, "numLateRecordsDropped", 2},
		{"session", `
			+I a x 1000
			watermark 10000
				+I a 1 1000 6000
				watermark 10000
			+I a x 2000
			+I a x 9000
		`, session, "numLateRecordsDropped", 1},
		{"over", `
			+I a 1 1000
			watermark 2000
				+I a 1 1000 1
				watermark 2000
			+I a 1 1500
			+I a 1 2000
			+I a 1 2001
		`, over, "numLateRecordsDropped", 2},
		{"match", `
			watermark 2000
				watermark 2000
			+I a 1 1500
			+I a 1 2000
			+I a 1 2500
		`, match, "numLateRecordsDropped", 2},
		{"window rank", `
			+I a 1 0 10000
			watermark 10000
				+I a 1 0 10000 1
				watermark 10000
			+I a 9 0 10000
			+I a 9 10000 20000
		`, windowRankRig(WindowRanking{From: 1, To: 2, Numbered: true}, "v desc"), "numLateRecordsDropped", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.rig.counters = map[string]*Counter{}
			c.rig.play(t, parseTrace(t, c.trace), func(int) int { return 0 }, 1)
			n := c.rig.counters[c.counter]
			if n == nil || n.Load() != c.want {
				t.Errorf("counters %v: %v, want %d", c.rig.counters, n, c.want)
			}
		})
	}
}
