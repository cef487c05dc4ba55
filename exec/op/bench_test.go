package op

import (
	"context"
	"fmt"
	"testing"
	"time"

	"runnel/expr"
	"runnel/internal/cputime"
	"runnel/state"
	"runnel/types"
)

// perRow runs feed, which processes a batch, b.N rows long and reports CPU time per row.
func perRow(b *testing.B, feed func(n int) error) {
	b.ReportAllocs()
	b.ResetTimer()
	start := cputime.Process()
	for done := 0; done < b.N; done += types.BatchRows {
		if err := feed(done); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(cputime.Process()-start)/float64((b.N+types.BatchRows-1)/types.BatchRows*types.BatchRows), "cpu-ns/row")
}

// nowhere is an Out that counts.
type nowhere struct{ rows int }

func (n *nowhere) Emit(b *types.Batch) error { n.rows += b.Rows(); return nil }
func (n *nowhere) Watermark(int64) error     { return nil }
func (n *nowhere) Idle(bool) error           { return nil }

func benchContext(b *testing.B) *Context {
	return &Context{
		Ctx: context.Background(), Name: b.Name(), Of: 1, Out: &nowhere{}, Now: time.Now, WakeAt: func(int64) {},
		Counter: func(string) *Counter { return new(Counter) }, Gauge: func(string, func() int64) {},
		Env:   &expr.Env{Zone: time.UTC, Now: time.Now},
		State: state.NewKeyed(state.Config{Groups: state.RangeOf(0, 1, 128)}), MaxParallelism: 128,
	}
}

// random is a generator of pseudo-random numbers that costs next to nothing (xorshift, Marsaglia 2003).
type random uint64

func (r *random) next(n int) int64 {
	x := uint64(*r)
	x ^= x << 13
	x ^= x >> 7
	x ^= x << 17
	*r = random(x)
	return int64(x>>32) * int64(n) >> 32
}

func BenchmarkCalc(b *testing.B) {
	f := fieldsOf("k int!, v int!, w int!")
	c := NewCalc(f, []expr.Expr{column(b, f, "k"), call(b, f, "*", "v", 2), column(b, f, "w")}, call(b, f, ">", "v", 100))
	if err := c.Open(benchContext(b)); err != nil {
		b.Fatal(err)
	}
	in := types.NewBatch(f)
	r := random(88172645463325252)
	for range types.BatchRows {
		in.Cols[0].AppendInt(r.next(1000))
		in.Cols[1].AppendInt(r.next(1000))
		in.Cols[2].AppendInt(r.next(1000))
		in.Push(types.Insert)
	}
	perRow(b, func(int) error { return c.Process(0, in) })
}

// keyedBatches makes batches of (k, v) with uniformly random keys.
func keyedBatches(fields []types.Field, keys, n int) []*types.Batch {
	r := random(88172645463325252)
	bs := make([]*types.Batch, n)
	for i := range bs {
		in := types.NewBatch(fields)
		for range types.BatchRows {
			in.Cols[0].AppendInt(r.next(keys))
			in.Cols[1].AppendInt(r.next(1000))
			in.Push(types.Insert)
		}
		bs[i] = in
	}
	return bs
}

func BenchmarkGroupAggregate(b *testing.B) {
	for _, keys := range []int{1e3, 1e5, 1e6} {
		b.Run(fmt.Sprintf("keys=%d", keys), func(b *testing.B) {
			_, g := aggRig(b, "k bigint!, v bigint!", 1, "COUNT", "SUM v")
			op := NewGroupAggregate(*g)
			if err := op.Open(benchContext(b)); err != nil {
				b.Fatal(err)
			}
			bs := keyedBatches(g.In, keys, 2000)
			for _, in := range bs { // every key is there before the clock starts
				if err := op.Process(0, in); err != nil {
					b.Fatal(err)
				}
			}
			perRow(b, func(n int) error { return op.Process(0, bs[n/types.BatchRows%len(bs)]) })
		})
	}
}

// BenchmarkMiniBatch is BenchmarkGroupAggregate with bundles, in one phase and in two.
func BenchmarkMiniBatch(b *testing.B) {
	for _, phases := range []int{1, 2} {
		for _, keys := range []int{100, 1e3, 1e6} {
			b.Run(fmt.Sprintf("phases=%d/keys=%d", phases, keys), func(b *testing.B) {
				_, g := aggRig(b, "k bigint!, v bigint!", 1, "COUNT", "SUM v")
				g.MiniBatch = MiniBatch{Size: 5000}
				var op Operator = NewGroupAggregate(*g)
				if phases == 2 {
					op = newPhased(*g, 1, g.MiniBatch.Size)
				}
				if err := op.Open(benchContext(b)); err != nil {
					b.Fatal(err)
				}
				bs := keyedBatches(g.In, keys, 2000)
				perRow(b, func(n int) error { return op.Process(0, bs[n/types.BatchRows%len(bs)]) })
			})
		}
	}
}

// BenchmarkGroupRetract is COUNT, SUM and AVG over a changelog: each row of a key is replaced by another.
func BenchmarkGroupRetract(b *testing.B) {
	for _, keys := range []int{10, 1e3, 1e6} {
		b.Run(fmt.Sprintf("keys=%d", keys), func(b *testing.B) {
			_, g := aggRig(b, "k bigint!, v bigint!", 1, "COUNT", "SUM v", "AVG v")
			g.Retract = true
			op := NewGroupAggregate(*g)
			if err := op.Open(benchContext(b)); err != nil {
				b.Fatal(err)
			}
			bs := keyedBatches(g.In, keys, 2000)
			for _, in := range bs { // every key is there before the clock starts
				if err := op.Process(0, in); err != nil {
					b.Fatal(err)
				}
				in.Kinds = make([]types.RowKind, in.Len)
				for i := range in.Kinds {
					in.Kinds[i] = types.UpdateBefore
					if i&1 == 1 {
						in.Kinds[i], in.Cols[0].Int[i] = types.UpdateAfter, in.Cols[0].Int[i-1]
					}
				}
			}
			perRow(b, func(n int) error { return op.Process(0, bs[n/types.BatchRows%len(bs)]) })
		})
	}
}

// timedBatches makes batches of (k, v, ts) with uniformly random keys and times that grow by perMs rows per millisecond,
// up to 2 s out of order, and the watermark of each.
func timedBatches(fields []types.Field, keys, n int, perMs float64, from int) ([]*types.Batch, []int64) {
	r := random(88172645463325252)
	bs, wms := make([]*types.Batch, n), make([]int64, n)
	for i := range bs {
		in := types.NewBatch(fields)
		var base int64
		for j := range types.BatchRows {
			base = int64(float64(from+i*types.BatchRows+j) / perMs)
			in.Cols[0].AppendInt(r.next(keys))
			in.Cols[1].AppendInt(r.next(1000))
			in.Cols[2].AppendInt((base - r.next(2000)) * 1000)
			in.Push(types.Insert)
		}
		bs[i], wms[i] = in, base-4000
	}
	return bs, wms
}

// shiftTimes moves the rows of a batch on by ms, to use it again.
func shiftTimes(c *types.Column, ms int64) {
	for i := range c.Int {
		c.Int[i] += ms * 1000
	}
}

var benchRates = []struct {
	name  string
	perMs float64
}{{"100k-per-s", 100}, {"1-per-s", 0.001}}

func BenchmarkTumbleAggregate(b *testing.B) {
	benchTumble(b, NewWindowAggregate)
}

// Both phases, the exchange between them left out.
func BenchmarkTumbleAggregatePhases(b *testing.B) {
	benchTumble(b, func(s Windowing) Operator { return newPhasedWindow(s, localEntries) })
}

func benchTumble(b *testing.B, make func(Windowing) Operator) {
	for _, rate := range benchRates {
		b.Run(rate.name, func(b *testing.B) {
			_, s := windowRig(b, "k bigint!, v bigint!, ts rowtime!", 1, Window{Kind: Tumble, Size: 10_000}, "COUNT")
			op := make(*s)
			if err := op.Open(benchContext(b)); err != nil {
				b.Fatal(err)
			}
			const n = 2000
			bs, wms := timedBatches(s.In, 1e5, n, rate.perMs, 0)
			span := int64(float64(n*types.BatchRows) / rate.perMs)
			feed := func(i int) error {
				k := i / types.BatchRows % n
				if i >= n*types.BatchRows {
					shiftTimes(bs[k].Cols[2], span)
				}
				if rate.perMs < 1 { // a watermark behind every row
					bs[k].Marks = bs[k].Marks[:0]
					for j, us := range bs[k].Cols[2].Int {
						bs[k].Marks = append(bs[k].Marks, types.Mark{Pos: int32(j + 1), Time: us/1000 - 4000})
					}
				}
				if err := op.Process(0, bs[k]); err != nil {
					return err
				}
				return op.Watermark(0, wms[k]+int64(i/types.BatchRows/n)*span)
			}
			perRow(b, feed)
		})
	}
}

func BenchmarkIntervalJoin(b *testing.B) {
	for _, rate := range benchRates {
		b.Run(rate.name, func(b *testing.B) {
			f := fieldsOf("k int!, v int!, ts rowtime!")
			op := NewIntervalJoin(IntervalJoining{
				Left: f, Right: f, LeftKeys: []int{0}, RightKeys: []int{0}, LeftTime: 2, RightTime: 2,
				Lower: -60_000, Upper: 60_000, Rowtime: true,
			})
			if err := op.Open(benchContext(b)); err != nil {
				b.Fatal(err)
			}
			// At 100,000 rows a second a minute on both sides is 12 million rows a side; orders come for 1e7 keys.
			const n = 1000
			keys := 10_000_000
			if rate.perMs < 1 {
				keys = 1000
			}
			bs, wms := timedBatches(f, keys, n, rate.perMs, 0)
			span := int64(float64(n*types.BatchRows) / rate.perMs)
			perRow(b, func(i int) error {
				k := i / types.BatchRows % n
				if i >= n*types.BatchRows {
					shiftTimes(bs[k].Cols[2], span)
				}
				if rate.perMs < 1 { // a watermark behind every row
					bs[k].Marks = bs[k].Marks[:0]
					for j, us := range bs[k].Cols[2].Int {
						bs[k].Marks = append(bs[k].Marks, types.Mark{Pos: int32(j + 1), Time: us/1000 - 4000})
					}
				}
				input := k & 1
				if err := op.Process(input, bs[k]); err != nil {
					return err
				}
				for input := range 2 {
					if err := op.Watermark(input, wms[k]+int64(i/types.BatchRows/n)*span); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
}

// A pattern of three variables over 1,000 keys: each row is looked at once, a third of them end a match.
func BenchmarkMatch(b *testing.B) {
	v := &expr.Col{Index: 0, T: types.Of(types.BigInt)}
	cond := func(op string, n int64) expr.Expr {
		x, err := expr.NewCall(op, []expr.Expr{v, expr.NewConst(types.IntDatum(n), types.Of(types.BigInt))}, expr.Pos{})
		if err != nil {
			b.Fatal(err)
		}
		return x
	}
	f := fieldsOf("k bigint!, v bigint!, ts rowtime!")
	op := NewMatch(Matching{
		In: f, Out: fieldsOf("k bigint!, last bigint"), Keys: []int{0}, Order: []SortKey{{Column: 2}}, Rowtime: true,
		Variables: []expr.MatchVariable{{Name: "A", Min: 1, Max: 1, Cond: cond("<", 50)}, {Name: "B", Min: 0, Max: -1, Cond: cond(">=", 50)}, {Name: "C", Min: 1, Max: 1, Cond: cond("<", 50)}},
		Columns:   []expr.MatchColumn{{Of: []int{2}, Column: 1, Type: v.T}}, Measures: []expr.Expr{v},
		Skip: expr.SkipPastLastRow,
	})
	if err := op.Open(benchContext(b)); err != nil {
		b.Fatal(err)
	}
	const n = 200
	bs, wms := timedBatches(f, 1000, n, 100, 0)
	seed := random(9)
	for _, batch := range bs {
		for i := range batch.Cols[1].Int {
			batch.Cols[1].Int[i] = seed.next(100)
		}
	}
	span := int64(n * types.BatchRows / 100)
	perRow(b, func(i int) error {
		k := i / types.BatchRows % n
		if i >= n*types.BatchRows {
			shiftTimes(bs[k].Cols[2], span)
		}
		if err := op.Process(0, bs[k]); err != nil {
			return err
		}
		return op.Watermark(0, wms[k]+int64(i/types.BatchRows/n)*span)
	})
}
