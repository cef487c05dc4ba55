package op

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"runnel/expr"
	"runnel/state"
	"runnel/types"
)

// newSplit makes the operators of a split aggregation: a local phase by key and bucket, an IncrementalAggregate, and a global one.
// in is k, bucket and the argument.
func newSplit(t testing.TB, in string, retract bool, sizes [3]int64, finals map[string]string, calls ...string) (rig, func() Operator) {
	t.Helper()
	fields := fieldsOf(in)
	bytes := types.Field{Name: "accumulators", Type: types.Bytes()}
	part := Grouping{In: fields, Keys: []int{0, 1}, Out: fields[:2:2], Retract: retract, MiniBatch: MiniBatch{Size: sizes[1]}}
	final := Grouping{Keys: []int{0}, Out: fields[:1:1], Retract: true, UpdateBefore: true, Merge: true, MiniBatch: MiniBatch{Size: sizes[2]}}
	for _, c := range calls {
		call := aggCall(t, fields, c)
		part.Aggs, part.Out = append(part.Aggs, call), append(part.Out, types.Field{Name: c, Type: call.T})
	}
	for i, c := range part.Aggs {
		call := expr.AggCall{Func: expr.LookupAggregate(finals[c.Func.Name]), Args: []int{2 + i}, Filter: -1, Name: c.Name, T: c.T}
		final.Aggs, final.Out = append(final.Aggs, call), append(final.Out, types.Field{Name: c.Name, Type: c.T})
	}
	final.In = part.Out
	local := LocalGrouping{In: fields, Keys: part.Keys, Aggs: part.Aggs, Retract: retract, MiniBatch: MiniBatch{Size: sizes[0]}}
	local.Out = append(fields[:2:2], bytes)
	last := LocalGrouping{Out: append(fields[:1:1], bytes), Keys: []int{0}, Aggs: final.Aggs}
	r := rig{in: [][]types.Field{fields}, out: final.Out, keys: [][]int{{0}}, check: Check{Mode: types.AllKinds}}
	return r, func() Operator {
		return &phased{column: 1, local: []*LocalAggregate{NewLocalAggregate(local)}, global: &chained{NewIncrementalAggregate(part, last), NewGroupAggregate(final)}}
	}
}

// chained is an operator behind another one, which has a state of its own that no restart keeps.
type chained struct{ first, second Operator }

func (c *chained) Open(ctx *Context) error {
	inner := *ctx
	inner.Out = into{c.second}
	if err := c.first.Open(&inner); err != nil {
		return err
	}
	second := *ctx
	second.State = state.NewKeyed(state.Config{Groups: state.RangeOf(ctx.Subtask, ctx.Of, kitGroups)})
	return c.second.Open(&second)
}

func (c *chained) Process(_ int, b *types.Batch) error { return c.first.Process(0, b) }

func (c *chained) Watermark(_ int, ms int64) error { return c.first.Watermark(0, ms) }

func (c *chained) Idle(_ int, idle bool) error { return c.first.Idle(0, idle) }

func (c *chained) Close() error { return nil }

func (c *chained) Flush() error {
	if err := c.first.(Flusher).Flush(); err != nil {
		return err
	}
	return c.second.(Flusher).Flush()
}

var splitFinals = map[string]string{"COUNT": "$SUM0", "SUM": "SUM", "MIN": "MIN", "MAX": "MAX"}

// A bundle of the operator by buckets goes out as what it has changed of each group.
func TestIncrementalAggregate(t *testing.T) {
	r, make := newSplit(t, "k string, bucket int, v int", false, [3]int64{1, 3, math.MaxInt64}, splitFinals, "COUNT DISTINCT v", "SUM v", "MAX v")
	r.make = make
	r.runBounded(t, `
		+I a 1 5
		+I a 2 7
		+I b 1 5
		+I a 1 5
		watermark 7
			watermark 7
		flush
			+I a 2 17 7
			+I b 1 5 5
		+I a 1 6
		+I a 1 9
		flush
			-U a 2 17 7
			+U a 4 32 9
		+I b 1 5
		flush
			-U b 1 5 5
			+U b 1 10 5
		flush
	`)
}

// What comes out of a split aggregation, applied, is what one aggregation gives.
func TestIncrementalAggregateRandom(t *testing.T) {
	in := "k int, bucket int, s string, x bigint"
	calls := []string{"COUNT DISTINCT s", "SUM x", "MIN x", "MAX s", "COUNT"}
	for _, retract := range []bool{false, true} {
		for seed := range uint64(8) {
			rnd := rand.New(rand.NewPCG(seed, 5))
			var lines, there []string
			for range 600 {
				if at := rnd.IntN(len(there) + 1); retract && at < len(there) && rnd.IntN(2) == 0 {
					lines = append(lines, "-D "+there[at])
					there = append(there[:at], there[at+1:]...)
					continue
				}
				v := rnd.IntN(9)
				row := fmt.Sprintf("%d %d t%d %d", rnd.IntN(4), v%3, v, rnd.IntN(50)-9)
				lines, there = append(lines, "+I "+row), append(there, row)
			}
			steps := parseTrace(t, strings.Join(lines, "\n"))
			one, g := aggRig(t, in, 1, calls...)
			g.Retract = retract
			want := lastRowsOf(t, one, steps, false)
			sizes := [3]int64{1 + rnd.Int64N(9), 1 + rnd.Int64N(9), 1 + rnd.Int64N(9)}
			r, make := newSplit(t, in, retract, sizes, splitFinals, calls...)
			r.make = make
			if got := lastRowsOf(t, r, steps, false); got != want {
				t.Fatalf("retract %t, seed %d, sizes %d: got\n%s\nwant\n%s", retract, seed, sizes, got, want)
			}
		}
	}
}
