package op

import (
	"context"
	"syscall"
	"testing"
	"time"

	"runnel/expr"
	"runnel/types"
)

// cpu is the CPU time of the process so far: on a busy machine wall time says little.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// perRow runs feed, which processes a batch, b.N rows long and reports CPU time per row.
func perRow(b *testing.B, feed func(n int) error) {
	b.ReportAllocs()
	b.ResetTimer()
	start := cpu()
	for done := 0; done < b.N; done += types.BatchRows {
		if err := feed(done); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(cpu()-start)/float64((b.N+types.BatchRows-1)/types.BatchRows*types.BatchRows), "cpu-ns/row")
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
		Env: &expr.Env{Zone: time.UTC, Now: time.Now},
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
