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

// phasedWindow is a window aggregation in two phases.
type phasedWindow struct {
	*WindowAggregate
	local *LocalWindowAggregate
}

func newPhasedWindow(s Windowing, limit int) *phasedWindow {
	l := s
	l.Out = pick(s.In, s.Keys)
	if s.Attached {
		l.Out = append(l.Out, s.In[s.StartCol])
	}
	l.Out = append(l.Out, fieldsOf("end bigint!, rows bigint!")...)
	l.Out = append(l.Out, types.Field{Name: "accumulators", Type: types.Bytes()})
	s.Merge = true
	p := &phasedWindow{newWindowAggregate(s), NewLocalWindowAggregate(l)}
	p.local.limit = limit
	return p
}

func (p *phasedWindow) Open(ctx *Context) error {
	inner := *ctx
	inner.Out, inner.State = into{p.WindowAggregate}, nil
	if err := p.local.Open(&inner); err != nil {
		return err
	}
	return p.WindowAggregate.Open(ctx)
}

func (p *phasedWindow) Process(_ int, b *types.Batch) error { return p.local.Process(0, b) }

func (p *phasedWindow) Watermark(_ int, ms int64) error { return p.local.Watermark(0, ms) }

func (p *phasedWindow) Idle(_ int, idle bool) error { return p.local.Idle(0, idle) }

func (p *phasedWindow) Flush() error { return p.local.Flush() }

// What goes from one phase to the other: a slice before the watermark that passes it, all before a checkpoint or while the input
// is idle, or when there are too many entries.
func TestLocalWindowAggregate(t *testing.T) {
	_, s := windowRig(t, "k string, v int, ts rowtime", 1, Window{Kind: Hop, Size: 10_000, Slide: 5000}, "MAX v")
	r := rig{in: [][]types.Field{s.In}, keys: [][]int{s.Keys}, bag: true}
	r.out = append(pick(s.In, s.Keys), fieldsOf("end bigint!, rows bigint!")...)
	r.out = append(r.out, types.Field{Name: "accumulators", Type: types.String()}) // bytes: a flag, and twice the value
	s.Out = r.out
	r.make = func() Operator {
		l := NewLocalWindowAggregate(*s)
		l.limit = 3
		return l
	}
	r.runBounded(t, `
		+I a 33 1000
		+I a 34 4999
		+I a 35 5000
		watermark 4998
			watermark 4998
		watermark 4999
			+I a 5000 2 `+"\x02D"+`
			watermark 4999
		+I a 36 1000
		flush
			+I a 5000 1 `+"\x02H"+`
			+I a 10000 1 `+"\x02F"+`
		+I a 38 1000
		idle
			+I a 5000 1 `+"\x02L"+`
			idle
		active
			active
		+I a 38 6000
		+I b 39 6000
		+I c 40 6000
		+I d 41 6000
			+I a 10000 1 `+"\x02L"+`
			+I b 10000 1 `+"\x02N"+`
			+I c 10000 1 `+"\x02P"+`
			+I d 10000 1 `+"\x02R"+`
	`)
}

// Two phases give what one gives, for all kinds of windows and aggregates, in zones, with rows taken back, and with checkpoints and
// limits anywhere.
func TestWindowPhasesRandom(t *testing.T) {
	windows := []Window{
		{Kind: Tumble, Size: 10_000}, {Kind: Tumble, Size: 10_000, Offset: 3000}, {Kind: Hop, Size: 20_000, Slide: 5000}, {Kind: Cumulate, Size: 30_000, Slide: 10_000, Offset: -2000},
	}
	calls := []string{"COUNT", "SUM v", "MAX s", "COUNT DISTINCT s", "LISTAGG s FILTER even", "AVG v", "SUM DISTINCT v FILTER even"}
	newYork, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	for _, few := range []int{2, len(calls)} { // the first ones are folded
		for seed := range uint64(24) {
			rnd := rand.New(rand.NewPCG(seed, 11))
			kind := []string{"rowtime", "rowtime_ltz"}[rnd.IntN(2)]
			retract, calls := rnd.IntN(3) == 0, slices.Clone(calls[:few])
			if retract && few > 2 {
				calls[4] = "MIN v FILTER even" // lists may lose another one of equal elements
			}
			r, s := windowRig(t, "k int, v int, s string, even bool, ts "+kind, 1, windows[int(seed)%len(windows)], calls...)
			r.zone, s.Retract = newYork, retract
			steps := parseTrace(t, strings.Join(randomTimes(rnd, s.Retract), "\n"))
			counters := map[string]*Counter{}
			r.counters = counters
			want := playRestarted(t, r, steps, 0)
			late := counters["numLateRecordsDropped"].Load()
			limit := 1 + rnd.IntN(40)
			r.make = func() Operator { return newPhasedWindow(*s, limit) }
			if got := playRestarted(t, r, steps, 0); got != want || counters["numLateRecordsDropped"].Load() != late && !s.Retract {
				t.Fatalf("seed %d: got %d late and\n%s\nwant %d and\n%s", seed, counters["numLateRecordsDropped"].Load(), got, late, want)
			}
			r.counters = nil
			if got := playRestarted(t, r, steps, 1+rnd.IntN(50)); got != want {
				t.Fatalf("seed %d, restored: got\n%s\nwant\n%s", seed, got, want)
			}
		}
	}
}

// randomTimes makes rows and watermarks.
func randomTimes(rnd *rand.Rand, retract bool) []string {
	var lines, there []string
	at := int64(1_710_000_000_000) // summer time begins in New York on that day
	for range 400 {
		at += rnd.Int64N(1500)
		if rnd.IntN(6) == 0 {
			lines = append(lines, fmt.Sprintf("watermark %d", at-4000))
			continue
		}
		if n := len(there); retract && n > 0 && rnd.IntN(3) == 0 {
			lines = append(lines, "-D "+there[n-1])
			there = there[:n-1]
			continue
		}
		row := fmt.Sprintf("%d %d s%d %t %d", rnd.IntN(4), rnd.IntN(9)-4, rnd.IntN(3), rnd.IntN(2) == 0, at-rnd.Int64N(12_000))
		lines, there = append(lines, "+I "+row), append(there, row)
	}
	return append(lines, "watermark max")
}

// playRestarted plays steps, with restarts from checkpoints every so many steps (0: none), and gives what comes out; which key of a
// window comes first is open.
func playRestarted(t *testing.T, r rig, steps []step, every int) string {
	t.Helper()
	p := newPlayer(t, r, 1)
	var out []string
	for k := range steps {
		p.take(steps[k])
		slices.Sort(p.out)
		out, p.out = append(out, p.out...), nil
		if every > 0 && k%every == every-1 {
			p.restart(1, func() {})
		}
	}
	if p.dead != "" {
		t.Fatal(p.dead)
	}
	return strings.Join(out, "\n")
}
