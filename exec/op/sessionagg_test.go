package op

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestSessionAggregate(t *testing.T) {
	r, _ := windowRig(t, "k string, v string, ts rowtime", 1, Window{Kind: Session, Size: 5000}, "COUNT", "COUNT DISTINCT v", "MAX v")
	r.run(t, `
		+I a x 1000
		-- touching is enough
		+I a y 6000
		+I b z 1000
		+I a x 20000
		watermark 5998
			watermark 5998
		watermark 5999
			+I b 1 1 z 1000 6000
			watermark 5999
		-- late for itself, but it touches an open window
		+I a q 500
		+I b late 999
		watermark 10999
			+I a 3 3 y 500 11000
			watermark 10999
		-- two windows become one
		+I a r 26000
		+I a s 23000
		watermark 30998
			watermark 30998
		watermark 40000
			+I a 3 3 x 20000 31000
			watermark 40000
		+I a t 35000
		watermark max
			watermark max
	`)
}

// A window whose rows have all been taken back gives nothing.
func TestSessionAggregateRetract(t *testing.T) {
	r, s := windowRig(t, "k string, v int, ts rowtime", 1, Window{Kind: Session, Size: 5000}, "COUNT", "SUM v")
	s.Retract = true
	r.run(t, `
		+I a 1 1000
		+I b 1 1000
		-D a 1 1000
		-U b 1 1000
		+U b 2 4000
		watermark max
			+I b 1 2 1000 9000
			watermark max
	`)
}

func TestSessionAggregateGlobal(t *testing.T) {
	r, _ := windowRig(t, "ts rowtime", 0, Window{Kind: Session, Size: 5000}, "COUNT")
	r.of = 1
	r.run(t, `
		+I 1000
		+I 12000
		+I 3000
		watermark 8000
			+I 2 1000 8000
			watermark 8000
		+I NULL
			error: RowTime field should not be null
	`)
}

func TestSessionAggregateProctime(t *testing.T) {
	r, _ := windowRig(t, "k string, ts proctime", 1, Window{Kind: Session, Size: 5000}, "COUNT")
	r.run(t, `
		time 1000
		+I a NULL
		time 4000
		+I a NULL
		+I b NULL
		time 8999
		time 9000
			+I a 2 1000 9000
			+I b 1 4000 9000
		+I a NULL
		time 20000
			+I a 1 9000 14000
	`)
}

// TestSessionAggregateBatches compares rows in batches with rows one by one. Time goes to and fro, so that windows close up,
// come late and end; keys come and go, so that records are moved.
func TestSessionAggregateBatches(t *testing.T) {
	bridge := []string{"+I 1 0 0", "+I 1 0 15", "+I 1 0 2", "+I 1 0 8", "watermark 1000"}
	for _, calls := range [][]string{{"COUNT", "SUM v"}, {"COUNT", "LISTAGG v"}} {
		in := "k int, v int, ts rowtime"
		if calls[1] == "LISTAGG v" {
			in = "k int, v string, ts rowtime"
		}
		r, _ := windowRig(t, in, 1, Window{Kind: Session, Size: 10}, calls...)
		rnd := rand.New(rand.NewPCG(7, 8))
		lines := bridge
		for i := range 5000 {
			keys := []int{2, 40, 400}[i/200%3]
			lines = append(lines, fmt.Sprintf("+I %d %d %d", rnd.IntN(keys)*rnd.IntN(2), rnd.IntN(9), 1000+i/4+rnd.IntN(60)))
			if i%17 == 0 {
				lines = append(lines, fmt.Sprintf("watermark %d", 1000+i/4))
			}
		}
		steps := parseTrace(t, strings.Join(append(lines, "watermark max"), "\n"))
		r.record(t, steps)
		r.playBatched(t, steps)
		r.play(t, steps[:600], func(k int) int { return (k % 7) / 6 }, 1)
	}
}
