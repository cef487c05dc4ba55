package op

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"runnel/types"
)

// TestGroupRuns compares runs with rows that are applied one by one, as a GroupAggregate does whose input may take rows
// back: the results are the same as long as it does not. Batches are longer than a run and than an output batch.
func TestGroupRuns(t *testing.T) {
	for _, before := range []bool{true, false} {
		r, g := aggRig(t, "k int, v string, w int, x bigint, f double, even bool, few bool", 1,
			"COUNT", "COUNT FILTER even", "COUNT v FILTER few", "SUM w FILTER even", "SUM x", "AVG x FILTER few", "SUM f FILTER even", "MIN w FILTER few",
			"MAX v", "MAX v FILTER even", "LISTAGG v FILTER few", "COUNT DISTINCT v", "COUNT DISTINCT v FILTER even", "COUNT DISTINCT v FILTER few",
			"SUM DISTINCT x FILTER even", "AVG DISTINCT x FILTER few", "LISTAGG DISTINCT v FILTER few", "COUNT DISTINCT x w")
		g.UpdateBefore = before
		if !before {
			r.check = Check{Mode: types.Upsert}
		}
		rnd := rand.New(rand.NewPCG(3, 4))
		var lines []string
		for range 3000 {
			v := func(n int) string {
				if n = rnd.IntN(n + 1); n == 0 {
					return "NULL"
				}
				return fmt.Sprint(n)
			}
			lines = append(lines, fmt.Sprintf("+I %s %s %s %s %s.5 %t %t", v(1+rnd.IntN(60)), v(9), v(5), v(30), strings.Replace(v(9), "NULL", "0", 1),
				rnd.IntN(2) == 0, rnd.IntN(9) == 0))
		}
		steps := parseTrace(t, strings.Join(lines, "\n"))
		g.Retract = true
		r.record(t, steps)
		g.Retract = false
		r.playBatched(t, steps)
		r.play(t, steps[:300], func(k int) int { return (k % 7) / 6 }, 1)
	}
}

// TestGroupRunsFilters has more filters over one DISTINCT set than there are bits for a run, and then as many.
func TestGroupRunsFilters(t *testing.T) {
	for _, n := range []int{maxFilters, maxFilters + 1} {
		in, calls := "k int, v int", []string{"COUNT DISTINCT v"}
		for i := range n - 1 {
			in += fmt.Sprintf(", b%d bool", i)
			calls = append(calls, fmt.Sprintf("COUNT DISTINCT v FILTER b%d", i))
		}
		r, g := aggRig(t, in, 1, calls...)
		rnd := rand.New(rand.NewPCG(7, 8))
		var lines []string
		for range 500 {
			line := fmt.Sprintf("+I %d %d", rnd.IntN(5), rnd.IntN(30))
			for range n - 1 {
				line += fmt.Sprintf(" %t", rnd.IntN(4) == 0)
			}
			lines = append(lines, line)
		}
		steps := parseTrace(t, strings.Join(lines, "\n"))
		g.Retract = true
		r.record(t, steps)
		g.Retract = false
		r.playBatched(t, steps)
		r.play(t, steps[:100], func(k int) int { return (k % 7) / 6 }, 1)
	}
}

// A row that fails in the middle of a run ends the job behind what the rows before it give, whatever accumulators stand
// before and behind the one that fails.
func TestGroupRunsError(t *testing.T) {
	r, _ := aggRig(t, "k int, v int, even bool", 1, "COUNT", "SINGLE_VALUE v FILTER even", "SUM v", "COUNT DISTINCT v")
	r.run(t, `
		+I 1 7 true
			+I 1 1 7 7 1
		+I 2 8 true
			+I 2 1 8 8 1
		+I 1 5 false
			-U 1 1 7 7 1
			+U 1 2 7 12 2
		+I 2 9 true
			error: more than one element
	`)
}

// byRow is a GroupAggregate that applies rows one by one.
type byRow struct{ *GroupAggregate }

func (g byRow) Open(ctx *Context) error {
	err := g.GroupAggregate.Open(ctx)
	g.runs, g.rowsOf = nil, g.apply
	return err
}

// TestGroupRunsRetract compares runs over a changelog with rows that are applied one by one. Groups come and go, some for
// ever, so that records are moved; some rows take back what never came.
func TestGroupRunsRetract(t *testing.T) {
	for _, before := range []bool{true, false} {
		r, g := aggRig(t, "k int, v string, w int, x bigint, f double, even bool", 1,
			"COUNT", "COUNT FILTER even", "COUNT v", "SUM w FILTER even", "SUM x", "AVG x FILTER even", "AVG x", "SUM f FILTER even", "AVG f",
			"MIN w", "MAX v FILTER even", "LISTAGG v FILTER even", "FIRST_VALUE w", "LAST_VALUE v")
		g.UpdateBefore, g.Retract = before, true
		if !before {
			r.check = Check{Mode: types.Upsert}
		}
		rnd := rand.New(rand.NewPCG(5, 6))
		var lines, there []string
		for i := range 6000 {
			v := func(n int) string {
				if n = rnd.IntN(n + 1); n == 0 {
					return "NULL"
				}
				return fmt.Sprint(n)
			}
			keys := []int{5, 400, 60}[i/2000]
			row := fmt.Sprintf("%d %s %s %s %s.5 %t", rnd.IntN(keys), v(9), v(5), v(30), strings.Replace(v(9), "NULL", "0", 1), rnd.IntN(2) == 0)
			switch n := len(there); {
			case rnd.IntN(50) == 0:
				lines = append(lines, "-D 1"+row)
			case n > 0 && rnd.IntN(20) < i%1000/55: // ever more of them
				k := rnd.IntN(n)
				lines = append(lines, "-U "+there[k])
				there[k] = there[n-1]
				there = there[:n-1]
			default:
				lines = append(lines, "+U "+row)
				there = append(there, row)
			}
		}
		steps := parseTrace(t, strings.Join(lines, "\n"))
		runs := r.make
		r.make = func() Operator { return byRow{NewGroupAggregate(*g)} }
		r.record(t, steps)
		r.make = runs
		r.playBatched(t, steps)
		r.play(t, steps[:600], func(k int) int { return (k % 7) / 6 }, 1)
	}
}
