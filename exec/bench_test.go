package exec

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"runnel/connectors"
	"runnel/exec/op"
	"runnel/expr"
	"runnel/internal/cputime"
	"runnel/plan"
	"runnel/types"
)

// benchFields are those of benchSource.
var benchFields = append(kvFields[:len(kvFields):len(kvFields)], types.Field{Name: "s", Type: types.String()})

// benchSource gives the same batches again and again until it has given n rows.
func benchSource(n int64, keys int64, splits int, gap *gapMeter) *connectors.Source {
	return &connectors.Source{
		Mode: types.InsertOnly, Bounded: true,
		Enumerate: func(connectors.Env) (connectors.Enumerator, error) { return benchEnum(splits), nil },
		Read: func(connectors.Env, func()) (connectors.Reader, error) {
			r := &benchReader{gap: gap}
			seed := uint64(1)
			for range 1024 {
				b := types.NewBatch(benchFields)
				for range types.BatchRows {
					seed = seed*6364136223846793005 + 1442695040888963407
					b.Cols[0].AppendInt(int64(seed>>33) % keys)
					b.Cols[1].AppendInt(int64(seed>>40) % 1000)
					b.Cols[2].AppendInt(int64(b.Len) * 1000)
					b.Cols[3].AppendStr("some text")
					b.Push(types.Insert)
				}
				r.batches = append(r.batches, b)
			}
			r.left = n / int64(splits)
			return r, nil
		},
	}
}

type benchEnum int

func (e benchEnum) Discover(context.Context, bool) (out []connectors.Split, _ error) {
	for i := range int(e) {
		out = append(out, connectors.Split{ID: fmt.Sprintf("b-%d", i)})
	}
	return out, nil
}
func (benchEnum) Interval() time.Duration { return 0 }
func (benchEnum) Close() error            { return nil }

type benchReader struct {
	gap     *gapMeter // may be nil
	batches []*types.Batch
	split   string
	at      int
	left    int64
}

func (r *benchReader) Assign(s []connectors.Split) error { r.split = s[0].ID; return nil }
func (r *benchReader) Poll() (connectors.Polled, error) {
	if r.split == "" {
		return connectors.Polled{}, nil
	}
	b := r.batches[r.at%len(r.batches)]
	r.at++
	r.left -= int64(b.Len)
	if r.gap != nil {
		r.gap.tick()
		r.gap.rows.Add(int64(b.Len))
	}
	return connectors.Polled{Split: r.split, Rows: b, Ended: r.left <= 0, More: r.left > 0}, nil
}
func (r *benchReader) Snapshot() ([]connectors.Split, error) {
	return []connectors.Split{{ID: r.split}}, nil
}
func (r *benchReader) Close() error { return nil }

// gapMeter finds the most processor time between two polls: the longest that the pipeline was held up, without what other
// processes took. One goroutine ticks; it is bound to its thread.
type gapMeter struct {
	rows atomic.Int64 // given out
	last time.Duration
	max  atomic.Int64
}

func (g *gapMeter) tick() {
	if g.last == 0 {
		runtime.LockOSThread()
	}
	now := cputime.Thread()
	if d := int64(now - g.last); g.last != 0 && d > g.max.Load() {
		g.max.Store(d)
	}
	g.last = now
}

type nullWriter struct{}

func (nullWriter) Write(context.Context, *types.Batch) error                { return nil }
func (nullWriter) Prepare(context.Context, int64) ([][]byte, []byte, error) { return nil, nil, nil }
func (nullWriter) Close() error                                             { return nil }

func benchSink(k *graphKit, in plan.Node) {
	s := &connectors.Sink{Mode: types.AllKinds, Open: func(context.Context, connectors.SinkEnv) (connectors.Writer, error) { return nullWriter{}, nil }}
	k.add(&plan.Sink{Info: k.info("Sink", "sink/null", in.Base().Fields, in), Table: &connectors.Table{Name: "c.d.null"}, Sink: s, RowtimeColumn: -1})
}

// BenchmarkPipelines gives the processor time per row of whole jobs, source (about 0), exchange and operators included.
func BenchmarkPipelines(b *testing.B) {
	const rows = 1 << 22
	must := func(e expr.Expr, err error) expr.Expr {
		if err != nil {
			b.Fatal(err)
		}
		return e
	}
	for _, c := range []struct {
		name  string
		par   int
		graph func(k *graphKit, scan plan.Node) plan.Node
	}{
		{"scan", 1, func(k *graphKit, s plan.Node) plan.Node { return s }},
		{"filter+project", 1, func(k *graphKit, s plan.Node) plan.Node {
			v := expr.NewCol(kvFields, 1)
			return k.add(&plan.Calc{Info: k.info("Calc", "", kvFields[:2], s),
				Exprs: []expr.Expr{expr.NewCol(kvFields, 0), must(expr.NewCall("+", []expr.Expr{v, expr.NewInt(1)}, expr.Pos{}))},
				Cond:  must(expr.NewCall(">", []expr.Expr{v, expr.NewInt(500)}, expr.Pos{}))})
		}},
		{"rebalance", 2, func(k *graphKit, s plan.Node) plan.Node { return k.exchange(s, plan.Rebalance) }},
		{"hash", 2, func(k *graphKit, s plan.Node) plan.Node { return k.exchange(s, plan.HashKeys, 0) }},
		{"hash", 4, func(k *graphKit, s plan.Node) plan.Node { return k.exchange(s, plan.HashKeys, 0) }},
	} {
		b.Run(fmt.Sprintf("%s/p%d", c.name, c.par), func(b *testing.B) {
			var k graphKit
			scan := k.add(&plan.Scan{Info: k.info("TableSourceScan", "src", benchFields), Table: &connectors.Table{Name: "c.d.t"}, Source: benchSource(rows, 1e6, c.par, nil)})
			benchSink(&k, c.graph(&k, scan))
			before := cputime.Process()
			for b.Loop() {
				cl := New(Options{Slots: 8})
				j, err := cl.Submit(context.Background(), k.graph(), JobConfig{Parallelism: c.par, BufferTimeout: 100 * time.Millisecond})
				if err != nil {
					b.Fatal(err)
				}
				if err := j.Wait(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(cputime.Process()-before)/float64(b.N)/rows, "cpu-ns/row")
		})
	}
}

// BenchmarkCheckpointPause runs a keyed aggregate over a million keys and takes checkpoints in which all of them are
// dirty: how long is the pipeline held up between two batches, with and without one, and what does it cost.
func BenchmarkCheckpointPause(b *testing.B) {
	for _, c := range []struct {
		name string
		rows int64 // before the first checkpoint
		call expr.AggCall
	}{
		{"count", 4e6, expr.AggCall{Func: expr.LookupAggregate("COUNT"), T: types.Of(types.BigInt)}},
		{"distinct", 4e6, expr.AggCall{Func: expr.LookupAggregate("COUNT"), Args: []int{1}, Distinct: true, T: types.Of(types.BigInt)}},
		{"listagg", 2e6, expr.AggCall{Func: expr.LookupAggregate("LISTAGG"), Args: []int{3}, T: types.String().Optional()}},
	} {
		b.Run(c.name, func(b *testing.B) { benchPause(b, c.rows, c.call) })
	}
}

func benchPause(b *testing.B, rows int64, call expr.AggCall) {
	call.Filter, call.Text = -1, b.Name()
	gap := &gapMeter{}
	c := New(Options{Slots: 1, Dir: b.TempDir()})
	in := benchFields
	out := []types.Field{in[0], {Name: "a", Type: call.T}}
	c.operators = func(*opSpec) (op.Operator, error) {
		return op.NewGroupAggregate(op.Grouping{In: in, Out: out, Keys: []int{0}, Aggs: []expr.AggCall{call}, UpdateBefore: true}), nil
	}
	var k graphKit
	scan := k.add(&plan.Scan{Info: k.info("TableSourceScan", "src", in), Table: &connectors.Table{Name: "c.d.t"}, Source: benchSource(1<<60, 1e6, 1, gap)})
	agg := k.add(&plan.GroupAggregate{Info: k.info("GroupAggregate", "agg/a", out, k.exchange(scan, plan.HashKeys, 0)), Keys: []int{0}})
	benchSink(&k, agg)
	j, err := c.Submit(context.Background(), k.graph(), JobConfig{Parallelism: 1})
	if err != nil {
		b.Fatal(err)
	}
	await := func(n int64) {
		for to := gap.rows.Load() + n; gap.rows.Load() < to; {
			time.Sleep(5 * time.Millisecond)
		}
	}
	await(rows)
	gap.max.Store(0)
	await(1 << 20)
	quiet := gap.max.Load()
	var held int64
	for b.Loop() {
		gap.max.Store(0)
		if _, err := j.Checkpoint(context.Background()); err != nil {
			b.Fatal(err)
		}
		await(1 << 18) // the first writes behind it
		held = max(held, gap.max.Load())
		b.StopTimer()
		await(1 << 20) // every key is dirty again
		b.StartTimer()
	}
	h := j.Checkpoints().Recent[0]
	b.ReportMetric(float64(quiet)/1e6, "max-gap-without-cpu-ms")
	b.ReportMetric(float64(held)/1e6, "max-gap-cpu-ms")
	b.ReportMetric(float64(h.Vertices[0].Subtasks[0].Sync)/1e6, "sync-ms")
	b.ReportMetric(float64(h.Vertices[0].Subtasks[0].Async)/1e6, "drain-ms")
	b.ReportMetric(float64(h.Vertices[0].Subtasks[0].Hold)/1e6, "hold-ms")
	b.ReportMetric(float64(h.Size)/1e6, "MB")
	if err := c.Close(context.Background()); err != nil {
		b.Fatal(err)
	}
}
