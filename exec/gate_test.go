package exec

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"runnel/plan"
	"runnel/types"
)

// tape records what a gate tells.
type tape struct{ lines []string }

func (t *tape) say(format string, args ...any) {
	t.lines = append(t.lines, fmt.Sprintf(format, args...))
}

func (t *tape) process(input int, b *types.Batch) error {
	var rows []string
	marks := b.Marks
	for k := range b.Rows() {
		i := b.Row(k)
		for len(marks) > 0 && marks[0].Pos <= i {
			rows = append(rows, fmt.Sprintf("<%d>", marks[0].Time))
			marks = marks[1:]
		}
		rows = append(rows, fmt.Sprint(b.Cols[0].Int[i]))
	}
	for _, m := range marks {
		rows = append(rows, fmt.Sprintf("<%d>", m.Time))
	}
	t.say("%d: %s", input, strings.Join(rows, " "))
	return nil
}
func (t *tape) watermark(input int, ms int64) error { t.say("%d: wm %d", input, ms); return nil }
func (t *tape) idle(input int, idle bool) error     { t.say("%d: idle %t", input, idle); return nil }
func (t *tape) endInput(input int) error            { t.say("%d: end", input); return nil }

// gateOf makes a gate whose channels belong to the given inputs, and the edges into it.
func gateOf(inputs int, channels ...int) (*gate, []*edge) {
	g := newGate(inputs)
	var edges []*edge
	for _, in := range channels {
		e := &edge{ctx: context.Background(), gate: g, ch: g.connect(in), fields: kvFields[:1], wait: &meter{}}
		g.attach(e.ch, e)
		edges = append(edges, e)
	}
	g.makeQueue()
	for _, e := range edges {
		e.free = make(chan *types.Batch, edgeCredits(len(edges)))
	}
	return g, edges
}

// send puts a script on an edge: numbers are rows, w7 a watermark, m7 a mark within the open batch, | sends the batch,
// idle, active, end, b3 a barrier.
func send(t *testing.T, e *edge, script string) {
	t.Helper()
	for _, w := range strings.Fields(script) {
		var n int64
		fmt.Sscanf(strings.TrimLeft(w, "wmb"), "%d", &n)
		var err error
		switch {
		case w == "|":
			err = e.flush()
		case w == "idle":
			err = e.control(element{kind: elemIdle})
		case w == "active":
			err = e.control(element{kind: elemActive})
		case w == "end":
			err = e.control(element{kind: elemEnd})
		case w[0] == 'w':
			err = e.control(element{kind: elemWatermark, n: n})
		case w[0] == 'b':
			err = e.control(element{kind: elemBarrier, barrier: &barrier{id: n}})
		case w[0] == 'm':
			err = e.append(&types.Batch{}, nil, []types.Mark{{Time: n}})
		default:
			b := types.NewBatch(kvFields[:1])
			b.Cols[0].AppendInt(n)
			b.Push(types.Insert)
			err = e.append(b, nil, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := e.flush(); err != nil {
		t.Fatal(err)
	}
}

// drainGate takes everything that can be taken.
func drainGate(t *testing.T, g *gate, to *tape) {
	t.Helper()
	for {
		el, ok := g.next()
		if !ok {
			return
		}
		if el.kind == elemBarrier {
			if g.arrive(el) {
				to.say("checkpoint %d", el.barrier.id)
				g.release()
			}
			continue
		}
		if err := g.deliver(el, to); err != nil {
			t.Fatal(err)
		}
	}
}

func TestGate(t *testing.T) {
	for _, c := range []struct {
		name     string
		inputs   int
		channels []int
		scripts  []string // one per channel; "/" cuts them into rounds
		want     string
	}{
		{"one channel passes all", 1, []int{0}, []string{"1 2 w5 3 end"}, "0: 1 2; 0: wm 5; 0: 3; 0: end"},
		{"lowest watermark of two channels", 1, []int{0, 0}, []string{"w5 / w9", "w3 / w7"}, "0: wm 3; 0: wm 7"},
		{"an idle channel holds nobody", 1, []int{0, 0}, []string{"w5 / w9", "idle / active w7"}, "0: wm 5; 0: wm 9"},
		{"all idle: the greatest counts", 1, []int{0, 0}, []string{"w5 / idle", "w9 idle / "}, "0: wm 5; 0: wm 9; 0: idle true"},
		{"active again", 1, []int{0}, []string{"idle / active 1 w3"}, "0: idle true; 0: idle false; 0: 1; 0: wm 3"},
		{"an ended channel holds nobody", 1, []int{0, 0}, []string{"w5 / ", "1 end /"}, "0: 1; 0: wm 5"},
		{"marks are combined", 1, []int{0, 0}, []string{"w4", "/ 1 m2 2 m3 3 m7 4 m8 5"}, "0: 1 <2> 2 <3> 3 <4> 4 5"},
		{"inputs are apart", 2, []int{0, 1}, []string{"w5 1", "w3 2"}, "0: wm 5; 1: wm 3; 1: 2; 0: 1"},
		{"barrier blocks its channel", 1, []int{0, 0}, []string{"1 b1 2 / ", "3 / 4 b1 5"}, "0: 1; 0: 3; 0: 4; checkpoint 1; 0: 2; 0: 5"},
		{"barrier of a joined input", 2, []int{0, 1}, []string{"1 b1 2 end", "/ 3 b1 end"}, "0: 1; 1: 3; checkpoint 1; 0: 2; 1: end; 0: end"},
		{"two barriers", 1, []int{0, 0}, []string{"b1 1 b2 2 /", "/ b1 b2"}, "checkpoint 1; 0: 1; checkpoint 2; 0: 2"},
		{"watermarks of a blocked channel fold", 1, []int{0, 0}, []string{"b1 w1 w2 w3 /", "w9 / b1"}, "checkpoint 1; 0: wm 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, edges := gateOf(c.inputs, c.channels...)
			var got tape
			for round := range 3 {
				for i, e := range edges {
					if parts := strings.Split(c.scripts[i], "/"); round < len(parts) {
						send(t, e, parts[round])
					}
				}
				drainGate(t, g, &got)
			}
			if s := strings.Join(got.lines, "; "); s != c.want {
				t.Errorf("got  %s\nwant %s", s, c.want)
			}
		})
	}
}

// TestGatePrefersLowerWatermark: while both inputs have data, the one behind in event time is read.
func TestGatePrefersLowerWatermark(t *testing.T) {
	g, edges := gateOf(2, 0, 1)
	send(t, edges[0], "w100 | 1 | 2 | 3")
	send(t, edges[1], "w10 | 11 | 12 w200")
	var got tape
	drainGate(t, g, &got)
	want := []string{"0: wm 100", "1: wm 10", "1: 11", "1: 12", "1: wm 200", "0: 1", "0: 2", "0: 3"}
	if !slices.Equal(got.lines, want) {
		t.Errorf("%q", got.lines)
	}
}

// TestExchange: every distribution, with marks, selections and row kinds.
func TestExchange(t *testing.T) {
	in := types.NewBatch(kvFields[:1])
	for i := range 6 {
		in.Cols[0].AppendInt(int64(i))
		in.Push([]types.RowKind{types.Insert, types.UpdateBefore, types.UpdateAfter, types.Delete}[i%4])
	}
	in.Marks = []types.Mark{{Pos: 2, Time: 20}, {Pos: 2, Time: 21}, {Pos: 6, Time: 60}}
	oddEven := func(b *types.Batch, dst []int32) {
		for k := range dst {
			dst[k] = int32(b.Cols[0].Int[b.Row(k)] % 2)
		}
	}
	for _, c := range []struct {
		name string
		dist plan.Distribution
		sel  []int32
		want string
	}{
		{"hash", plan.HashKeys, nil, "0 <21> 2 4 <60> | 1 <21> 3 5 <60>"},
		{"hash of a selection", plan.HashKeys, []int32{0, 1, 4}, "0 <21> 4 <60> | 1 <60>"},
		{"hash to one side", plan.HashKeys, []int32{0, 4}, "0 <21> 4 <60> | <60>"},
		{"rebalance", plan.Rebalance, nil, "0 <21> 2 4 <60> | 1 <21> 3 5 <60>"},
		{"broadcast", plan.Broadcast, []int32{1, 2}, "1 <21> 2 <60> | 1 <21> 2 <60>"},
		{"singleton", plan.Singleton, []int32{3, 5}, "<21> 3 5 <60> | <60>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var gates []*gate
			var edges []*edge
			for range 2 {
				g, es := gateOf(1, 0)
				gates, edges = append(gates, g), append(edges, es...)
			}
			x := newExchange(edges, c.dist, oddEven)
			b := *in
			b.Sel = c.sel
			if err := x.emit(&b); err != nil {
				t.Fatal(err)
			}
			if err := x.flush(); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, g := range gates {
				var tp tape
				el, _ := g.next()
				if el.kind == elemWatermark {
					tp.say("0: <%d>", el.n)
				} else {
					for k := range el.batch.Rows() {
						if want := in.Kind(int32(el.batch.Cols[0].Int[k])); el.batch.Kind(int32(k)) != want {
							t.Errorf("row %d has kind %s, want %s", k, el.batch.Kind(int32(k)), want)
						}
					}
					tp.process(0, el.batch)
				}
				got = append(got, strings.TrimPrefix(tp.lines[0], "0: "))
			}
			if s := strings.Join(got, " | "); s != c.want {
				t.Errorf("got %s, want %s", s, c.want)
			}
		})
	}
}

// TestEdgeFillsBatches: many rows and marks cross the bounds of the edge's batches without loss.
func TestEdgeFillsBatches(t *testing.T) {
	g, edges := gateOf(1, 0)
	in := types.NewBatch(kvFields[:1])
	for i := range types.BatchRows {
		in.Cols[0].AppendInt(int64(i))
		in.Push(types.Insert)
		if i%100 == 99 {
			in.Marks = append(in.Marks, types.Mark{Pos: int32(i + 1), Time: int64(i)})
		}
	}
	short := types.All(700)
	for range 3 {
		if err := edges[0].append(in, short, in.Marks[:7]); err != nil {
			t.Fatal(err)
		}
	}
	if err := edges[0].flush(); err != nil {
		t.Fatal(err)
	}
	var next, marks int64
	for {
		el, ok := g.next()
		if !ok {
			break
		}
		m := el.batch.Marks
		for k, v := range el.batch.Cols[0].Int {
			for len(m) > 0 && int(m[0].Pos) <= k {
				if m[0].Time != (next-1)%700 {
					t.Fatalf("mark %d before row %d", m[0].Time, v)
				}
				m = m[1:]
				marks++
			}
			if v != next%700 {
				t.Fatalf("row %d, want %d", v, next%700)
			}
			next++
		}
		marks += int64(len(m))
	}
	if next != 2100 || marks < 21 {
		t.Errorf("%d rows, %d marks", next, marks)
	}
}
