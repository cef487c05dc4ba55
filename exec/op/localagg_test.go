package op

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"runnel/types"
)

// phased is an aggregation in two phases: rows go to a local one of several, as if from as many subtasks.
type phased struct {
	single
	local  []*LocalAggregate
	global Operator
	column int      // rows with one value of it go one way
	wakes  [2]int64 // of the local phases, of the global one
}

// newPhased makes the two phases of a grouping, with bundles of their own.
func newPhased(g Grouping, locals int, size int64) *phased {
	p := &phased{column: 1}
	l := LocalGrouping{In: g.In, Keys: g.Keys, Aggs: g.Aggs, Retract: g.Retract, MiniBatch: MiniBatch{Size: size, Latency: g.MiniBatch.Latency, Rowtime: g.MiniBatch.Rowtime}}
	l.Out = append(pick(g.In, g.Keys), types.Field{Name: "accumulators", Type: types.Bytes()})
	for range locals {
		p.local = append(p.local, NewLocalAggregate(l))
	}
	g.Merge = true
	p.global = NewGroupAggregate(g)
	return p
}

func (p *phased) Open(ctx *Context) error {
	p.ctx = ctx
	inner := *ctx
	inner.Out, inner.State = into{p.global}, nil
	p.wakes = [2]int64{never, never}
	wake := func(c *Context, phase int) {
		at := ctx.WakeAt
		c.WakeAt = func(ms int64) {
			p.wakes[phase] = min(p.wakes[phase], ms)
			at(ms)
		}
	}
	wake(&inner, 0)
	for _, l := range p.local {
		if err := l.Open(&inner); err != nil {
			return err
		}
	}
	outer := *ctx
	wake(&outer, 1)
	return p.global.Open(&outer)
}

// into lets an operator take what another one gives.
type into struct{ to Operator }

func (o into) Emit(b *types.Batch) error { return o.to.Process(0, b) }

func (o into) Watermark(ms int64) error { return o.to.Watermark(0, ms) }

func (o into) Idle(idle bool) error { return o.to.Idle(0, idle) }

func (p *phased) Process(_ int, b *types.Batch) error {
	if len(p.local) == 1 {
		return p.local[0].Process(0, b)
	}
	for _, i := range b.Live() {
		part := *b
		part.Sel = []int32{i}
		if err := p.local[int(b.Cols[p.column].Int[i])%len(p.local)].Process(0, &part); err != nil {
			return err
		}
	}
	return nil
}

func (p *phased) Watermark(_ int, ms int64) error { return p.local[0].Watermark(0, ms) }

func (p *phased) Flush() error {
	for _, l := range p.local {
		if err := l.Flush(); err != nil {
			return err
		}
	}
	return p.global.(Flusher).Flush()
}

func (p *phased) OnTime(ms int64) error {
	due := p.wakes
	for phase, at := range due {
		if at > ms {
			p.ctx.WakeAt(at)
			continue
		}
		p.wakes[phase] = never
		if phase == 1 {
			return p.global.(Timed).OnTime(ms)
		}
		for _, l := range p.local {
			if err := l.OnTime(ms); err != nil {
				return err
			}
		}
	}
	return nil
}

// The local phase gives what it has with its second row, the global one with the second key of such bundles; both do when their
// latency has passed, the global one a little later, and at the end.
func TestAggregatePhases(t *testing.T) {
	r, g := aggRig(t, "k string, v int", 1, "COUNT", "SUM v")
	g.MiniBatch, g.Retract = MiniBatch{Size: 2, Latency: time.Second}, true
	r.make = func() Operator { return newPhased(*g, 1, 2) }
	r.runBounded(t, `
		+I a 1
		+I a 2
		watermark 5
			watermark 5
		+I a 3
		+I b 4
			+I a 3 6
		-D b 4
		time 50
			+I b 1 4
		time 1000
		+I c 1
		-D c 1
			-D b 1 4
		+I a 1
		-U a 2
		time 1049
		time 1050
			-U a 3 6
			+U a 3 5
		-D unknown 1
		+I a 1
			+I unknown -1 -1
			-U a 3 5
			+U a 4 6
		+I d 1
		time 2000
		time 2049
		time 2050
			+I d 1 1
		-U a 1
		flush
			-U a 4 6
			+U a 3 5
		flush
	`)
}

// What the phases give, applied, is what one phase gives, for all aggregates that are merged, whatever the bundles, and with rows
// taken back in a later bundle than they came.
func TestAggregatePhasesRandom(t *testing.T) {
	in := "k int, v int, s string, x bigint, f double, d decimal, even bool"
	calls := []string{
		"COUNT", "COUNT FILTER even", "COUNT v", "SUM x", "SUM d", "AVG d FILTER even", "AVG f", "MIN s", "MAX s FILTER even", "MIN x", "MAX d", "MIN f",
		"VAR_POP x", "COUNT DISTINCT s", "COUNT DISTINCT s FILTER even", "SUM DISTINCT x", "LISTAGG s", "ARRAY_AGG v", "LISTAGG DISTINCT s FILTER even",
		"COUNT DISTINCT v s",
	}
	for _, retract := range []bool{false, true} {
		for seed := range uint64(6) {
			rnd := rand.New(rand.NewPCG(seed, 3))
			steps := parseTrace(t, strings.Join(randomChanges(rnd, 800, retract), "\n"))
			r, g := aggRig(t, in, 1, calls...)
			g.Retract = retract
			g.MiniBatch = MiniBatch{Size: 1 + rnd.Int64N(20)}
			want := lastRows(t, r, steps)
			size := 1 + rnd.Int64N(30)
			for _, locals := range []int{1, 3} {
				r.make = func() Operator { return newPhased(*g, locals, size) }
				r.check = Check{Mode: types.AllKinds}
				if got := lastRows(t, r, steps); got != want {
					t.Fatalf("retract %t, seed %d, %d locals: got\n%s\nwant\n%s", retract, seed, locals, got, want)
				}
			}
		}
	}
}

// randomChanges makes rows for the columns of TestAggregatePhasesRandom.
func randomChanges(rnd *rand.Rand, n int, retract bool) []string {
	var lines, there []string
	for range n {
		if at := rnd.IntN(len(there) + 1); retract && at < len(there) && rnd.IntN(2) == 0 {
			lines = append(lines, "-D "+there[at])
			there = append(there[:at], there[at+1:]...)
			continue
		}
		v := rnd.IntN(4)
		s := fmt.Sprintf("t%d", rnd.IntN(5))
		if rnd.IntN(6) == 0 {
			s = "NULL"
		}
		// The order of arrival counts for lists: one way for a group keeps it.
		row := fmt.Sprintf("%d %d %s %d %d.5 %d25 %t", v+4*rnd.IntN(3), v, s, rnd.IntN(9)-4, rnd.IntN(8), rnd.IntN(9), rnd.IntN(2) == 0)
		lines, there = append(lines, "+I "+row), append(there, row)
	}
	return lines
}

// lastRows plays steps, with a restart on the way, and applies what comes out; lists that lost elements in the middle of a bundle
// may have another order.
func lastRows(t *testing.T, r rig, steps []step) string {
	t.Helper()
	return lastRowsOf(t, r, steps, true)
}

func lastRowsOf(t *testing.T, r rig, steps []step, restart bool) string {
	t.Helper()
	p := newPlayer(t, r, 1)
	var out []string
	for k := range steps {
		p.take(steps[k])
		if out, p.out = append(out, p.out...), nil; restart && k == len(steps)/2 {
			p.take(step{line: "flush", verb: "flush"})
			out, p.out = append(out, p.out...), nil
			p.restart(1, func() {})
		}
	}
	p.take(step{line: "flush", verb: "flush"})
	if p.dead != "" {
		t.Fatal(p.dead)
	}
	count := map[string]int{}
	for _, line := range append(out, p.out...) {
		kind, row, _ := strings.Cut(sortedLists(line), " ")
		if kind == "+I" || kind == "+U" {
			count[row]++
		} else if count[row]--; count[row] < 0 {
			t.Fatalf("%s was not there", line)
		}
	}
	var rows []string
	for row, n := range count {
		if n != 0 {
			rows = append(rows, row)
		}
	}
	slices.Sort(rows)
	return strings.Join(rows, "\n")
}

// sortedLists brings the elements of the lists in a line in order.
func sortedLists(line string) string {
	w := strings.Split(line, " ")
	for i := range w {
		elems := strings.Split(w[i], ",")
		slices.Sort(elems)
		w[i] = strings.Join(elems, ",")
	}
	return strings.Join(w, " ")
}

// A key that a local phase takes back goes before it comes again.
func TestAggregatePhasesObject(t *testing.T) {
	r, g := aggRig(t, "k string, name string, v int", 1, "JSON_OBJECTAGG name v")
	g.MiniBatch, g.Retract = MiniBatch{Size: 100}, true
	r.make = func() Operator { return newPhased(*g, 1, 100) }
	r.runBounded(t, `
		+I a x 1
		+I a y 2
		flush
			+I a {"x":1,"y":2}
		-U a x 1
		+U a x 3
		-D a y 2
		+I b z 1
		-D b z 1
		flush
			-U a {"x":1,"y":2}
			+U a {"x":3}
	`)
}

// By event time bundles end with the first watermark behind each latency, in one phase and in two.
func TestMiniBatchRowtime(t *testing.T) {
	r, g := aggRig(t, "k string, v int", 1, "SUM v")
	g.MiniBatch = MiniBatch{Size: 100, Latency: 10 * time.Second, Rowtime: true}
	trace := `
		+I a 1
		watermark 9998
			watermark 9998
		+I a 2
		+I b 5
		watermark 9999
			+I a 3
			+I b 5
			watermark 9999
		+I a 1
		watermark 15000
			watermark 15000
		watermark 20000
			-U a 3
			+U a 4
			watermark 20000
		+I a 1
		watermark 29998
			watermark 29998
		watermark max
			-U a 4
			+U a 5
			watermark max
	`
	r.runBounded(t, trace)
	r.make = func() Operator { return newPhased(*g, 1, 100) }
	r.runBounded(t, trace)
}
