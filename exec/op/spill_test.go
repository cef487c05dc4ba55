package op

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"runnel/expr"
	"runnel/internal/cputime"
	"runnel/state"
	"runnel/types"
)

// gathered is an Out that keeps rows, encoded.
type gathered struct{ rows []string }

func (g *gathered) Emit(b *types.Batch) error {
	codec := newRunCodec(fieldsLike(b))
	for _, i := range b.Live() {
		g.rows = append(g.rows, string(codec.Append(nil, b.Cols, i)))
	}
	return nil
}
func (g *gathered) Watermark(int64) error { return nil }
func (g *gathered) Idle(bool) error       { return nil }

// spilling runs an operator over two inputs' batches with the given memory, and gives its rows and what went to disk.
func spilling(t testing.TB, o Operator, in [][]*types.Batch, memory int64) (rows []string, spilled int64) {
	t.Helper()
	out, count := &gathered{}, new(Counter)
	ctx := &Context{Ctx: context.Background(), Name: "Op[1]", Out: out, Of: 1, Env: &expr.Env{Zone: time.UTC, Now: time.Now, Batch: true},
		MaxParallelism: 128, Counter: func(string) *Counter { return count }, Now: time.Now, WakeAt: func(int64) {},
		State: state.NewKeyed(state.Config{Groups: state.RangeOf(0, 1, 128)})}
	dir := t.TempDir()
	if memory > 0 {
		ctx.Spill = Spill{Memory: memory, Create: func() (SpillFile, error) { return os.CreateTemp(dir, "") }}
	}
	if err := o.Open(ctx); err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	for i := range max(len(in[0]), len(in[len(in)-1])) {
		for input := range in {
			if i >= len(in[input]) {
				continue
			}
			lent := types.NewBatch(fieldsLike(in[input][i]))
			for _, row := range in[input][i].Live() {
				lent.AppendRow(in[input][i], row, types.Insert)
			}
			if err := o.Process(input, lent); err != nil {
				t.Fatal(err)
			}
			Spoil(lent)
		}
	}
	for input := range in {
		if err := o.(Ender).EndInput(input); err != nil {
			t.Fatal(err)
		}
		if err := o.Watermark(input, types.MaxWatermark); err != nil {
			t.Fatal(err)
		}
	}
	return out.rows, count.Load()
}

func fieldsLike(b *types.Batch) []types.Field {
	fs := make([]types.Field, len(b.Cols))
	for i, c := range b.Cols {
		fs[i].Type = c.Type
	}
	return fs
}

// randomRows makes batches of (k string, v int, w string), keys from 0 to keys-1, some of them NULL.
func randomRows(seed random, rows, keys int) []*types.Batch {
	var all []*types.Batch
	f := fieldsOf("k string, v int, w string")
	for at := 0; at < rows; at += types.BatchRows {
		b := types.NewBatch(f)
		for range min(types.BatchRows, rows-at) {
			if k := seed.next(keys); k == 7 {
				b.Cols[0].AppendNull()
			} else {
				b.Cols[0].AppendStr(fmt.Sprint("key-", k))
			}
			b.Cols[1].AppendInt(seed.next(500))
			b.Cols[2].AppendStr(strings.Repeat("x", int(seed.next(40))))
			b.Push(types.Insert)
		}
		all = append(all, b)
	}
	return all
}

func bagOf(rows []string) map[string]int {
	m := map[string]int{}
	for _, r := range rows {
		m[r]++
	}
	return m
}

// What goes to disk changes no result.
func TestSpill(t *testing.T) {
	f := fieldsOf("k string, v int, w string")
	few, many := randomRows(1, 9000, 300), randomRows(2, 20000, 5000)
	over := BatchOvering{In: f, Keys: []int{0}, Order: keysOf(f, "v,w"), Before: -1, After: 0,
		Aggs: []expr.AggCall{aggCall(t, f, "ROW_NUMBER"), aggCall(t, f, "SUM v"), aggCall(t, f, "LAG v")}}
	over.Out = f[:3:3]
	for _, a := range over.Aggs {
		over.Out = append(over.Out, types.Field{Type: a.T})
	}
	agg := func(keys int, calls ...string) func() Operator {
		g := Grouping{In: f, Out: f[:keys:keys], Keys: []int{0, 1}[:keys]}
		for _, c := range calls {
			call := aggCall(t, f, c)
			g.Aggs, g.Out = append(g.Aggs, call), append(g.Out, types.Field{Type: call.T})
		}
		return func() Operator { return NewGroupAggregate(g) }
	}
	join := func(kind JoinKind, keys int, cond string) func() Operator {
		s := Joining{Kind: kind, Left: JoinSide{Fields: f, Keys: []int{0}[:keys]}, Right: JoinSide{Fields: f, Keys: []int{0}[:keys]}}
		if cond != "" {
			s.Cond = call(t, append(f[:3:3], fieldsOf("k2 string, v2 int, w2 string")...), cond, "v", "v2")
		}
		return func() Operator { return NewBatchJoin(s) }
	}
	tiny, small := randomRows(3, 300, 40), randomRows(4, 500, 40)
	for _, c := range []struct {
		name    string
		make    func() Operator
		in      [][]*types.Batch
		memory  int64
		ordered bool
	}{
		{"sort", func() Operator { return NewSort(f, keysOf(f, "v desc, k")) }, [][]*types.Batch{many}, 64 << 10, true},
		{"sort in several passes", func() Operator { return NewSort(f, keysOf(f, "v")) }, [][]*types.Batch{many}, 4 << 10, true},
		{"sort with limit", func() Operator { return NewSortLimit(f, keysOf(f, "v,k"), 3000, 5000) }, [][]*types.Batch{many}, 64 << 10, true},
		{"rank", func() Operator {
			return NewBatchRank(BatchRanking{In: f, Func: DenseRank, Keys: []int{0}, Order: keysOf(f, "v"), From: 1, To: 3, ToColumn: -1, Numbered: true})
		}, [][]*types.Batch{many}, 32 << 10, true},
		{"over", func() Operator { return NewBatchOver(over) }, [][]*types.Batch{many}, 32 << 10, true},
		{"aggregate", agg(1, "SUM v", "COUNT", "MAX w", "FIRST_VALUE v"), [][]*types.Batch{many}, 48 << 10, false},
		{"distinct", agg(2), [][]*types.Batch{many}, 32 << 10, false},
		{"aggregate of distinct values", agg(1, "COUNT DISTINCT v", "SUM DISTINCT v", "COUNT DISTINCT w", "COUNT"), [][]*types.Batch{many}, 64 << 10, false},
		{"global aggregate of distinct values", agg(0, "COUNT DISTINCT k", "COUNT DISTINCT w", "COUNT"), [][]*types.Batch{many}, 16 << 10, true},
		{"inner join", join(Inner, 1, ""), [][]*types.Batch{few, many}, 64 << 10, false},
		{"inner join in blocks", join(Inner, 1, ""), [][]*types.Batch{few, many}, 2 << 10, false},
		{"left join", join(Left, 1, "<"), [][]*types.Batch{many, few}, 2 << 10, false},
		{"right join", join(Right, 1, "<"), [][]*types.Batch{many, few}, 2 << 10, false},
		{"full join", join(Full, 1, "<"), [][]*types.Batch{few, many}, 2 << 10, false},
		{"semi join", join(Semi, 1, "<"), [][]*types.Batch{many, few}, 2 << 10, false},
		{"semi join of few", join(Semi, 1, "<"), [][]*types.Batch{few, many}, 2 << 10, false},
		{"anti join", join(Anti, 1, "<"), [][]*types.Batch{many, few}, 2 << 10, false},
		{"anti join of few", join(Anti, 1, "<"), [][]*types.Batch{few, many}, 2 << 10, false},
		{"cross join", join(Full, 0, ""), [][]*types.Batch{small, tiny}, 2 << 10, false},
		{"join without equality", join(Full, 0, "<"), [][]*types.Batch{tiny, small}, 2 << 10, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			want, none := spilling(t, c.make(), c.in, 0)
			got, spilled := spilling(t, c.make(), c.in, c.memory)
			if none != 0 || spilled == 0 {
				t.Errorf("%d bytes on disk without a bound, %d with one", none, spilled)
			}
			if len(want) == 0 {
				t.Error("no rows")
			}
			if c.ordered && !slices.Equal(got, want) || !maps.Equal(bagOf(got), bagOf(want)) {
				t.Errorf("%d rows with disk, %d without, not the same", len(got), len(want))
			}
		})
	}
}

// Windows and patterns of batch mode see the rows of each key in the order of their times, on disk or not, and keys that are
// many times as large as the memory.
func TestInTimeSpill(t *testing.T) {
	_, w := windowRig(t, "k string, v int, ts rowtime", 1, Window{Kind: Hop, Size: 10_000, Slide: 5000}, "COUNT", "SUM v", "COUNT DISTINCT v")
	_, m := matchRig(t, "rowtime", 0, matchVar(t, "LOW", 1, 1, 0, 250), matchVar(t, "HIGH", 1, -1, 250, 500), matchVar(t, "END", 1, 1, 0, 250))
	session := *w
	session.Window = Window{Kind: Session, Column: 2, Size: 3000, Rowtime: true}
	for _, c := range []struct {
		name string
		make func() Operator
	}{
		{"window", func() Operator { return NewWindowAggregate(*w) }},
		{"session", func() Operator { return NewWindowAggregate(session) }},
		{"match", func() Operator { return NewMatch(*m) }},
	} {
		for _, keys := range []int{2000, 2} {
			t.Run(fmt.Sprint(c.name, " of ", keys, " keys"), func(t *testing.T) {
				var in []*types.Batch
				seed := random(5)
				for range 64 {
					b := types.NewBatch(w.In)
					for range types.BatchRows {
						words := []string{fmt.Sprint("key-", seed.next(keys)), fmt.Sprint(seed.next(500)), fmt.Sprint(seed.next(1 << 26))}
						appendWords(t, b, types.Insert, words)
					}
					in = append(in, b)
				}
				inTime := func() Operator { return NewInTime(c.make, w.In, []int{0}, 2) }
				want, none := spilling(t, atEnd{c.make()}, [][]*types.Batch{in}, 0)
				kept, _ := spilling(t, inTime(), [][]*types.Batch{in}, 0)
				got, spilled := spilling(t, inTime(), [][]*types.Batch{in}, 1800<<10)
				if none != 0 || spilled == 0 || len(want) < 1000 {
					t.Errorf("%d late rows, %d bytes on disk, %d rows", none, spilled, len(want))
				}
				if !maps.Equal(bagOf(got), bagOf(want)) || !maps.Equal(bagOf(kept), bagOf(want)) {
					t.Errorf("%d rows with disk, %d without, %d in another order, not the same", len(got), len(kept), len(want))
				}
			})
		}
	}
}

// What is open of one key and does not fit into memory is refused, with the option that helps.
func TestInTimeTooLarge(t *testing.T) {
	_, w := windowRig(t, "k string, v int, ts rowtime", 1, Window{Kind: Tumble, Size: 1 << 30}, "COUNT DISTINCT v")
	dir := t.TempDir()
	ctx := &Context{Ctx: context.Background(), Name: "GroupWindowAggregate[3]", Out: &gathered{}, Of: 1,
		Env: &expr.Env{Zone: time.UTC, Now: time.Now, Batch: true}, MaxParallelism: 128,
		Counter: func(string) *Counter { return new(Counter) }, Now: time.Now, WakeAt: func(int64) {},
		Spill: Spill{Memory: 96 << 10, Create: func() (SpillFile, error) { return os.CreateTemp(dir, "") }}}
	o := NewInTime(func() Operator { return NewWindowAggregate(*w) }, w.In, []int{0}, 2)
	if err := o.Open(ctx); err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	b := types.NewBatch(w.In)
	for at := range 60 {
		for i := range types.BatchRows {
			appendWords(t, b, types.Insert, []string{"a", fmt.Sprint(at*types.BatchRows + i), "1000"})
		}
		if err := o.Process(0, b); err != nil {
			t.Fatal(err)
		}
		b.Reset()
	}
	err := o.EndInput(0)
	if err == nil || !strings.Contains(err.Error(), "GroupWindowAggregate[3]: what is open of one key") {
		t.Error(err)
	}
}

// atEnd is an operator that does nothing of its own at the end of input.
type atEnd struct{ Operator }

func (atEnd) EndInput(int) error { return nil }

// brokenFile is a file on a disk that is full.
type brokenFile struct{ SpillFile }

var errFull = errors.New("no space left on device")

func (brokenFile) WriteAt([]byte, int64) (int, error) { return 0, errFull }
func (brokenFile) Close() error                       { return nil }

func TestSpillDiskFull(t *testing.T) {
	f := fieldsOf("k string, v int, w string")
	o := NewSort(f, keysOf(f, "v"))
	ctx := &Context{Ctx: context.Background(), Name: "Sort[3]", Out: &gathered{}, Spill: Spill{Memory: 1024, Create: func() (SpillFile, error) { return brokenFile{}, nil }}}
	if err := o.Open(ctx); err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	err := o.Process(0, randomRows(1, 1000, 10)[0])
	if !errors.Is(err, errFull) {
		t.Fatalf("error %v", err)
	}
	for _, want := range []string{"Sort[3]", "taskmanager.memory.managed.size", "io.tmp.dirs"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not name %s", err, want)
		}
	}
}

func benchmarkSpill(b *testing.B, memory int64, o func() Operator, inputs int) {
	in := [][]*types.Batch{randomRows(1, 1<<17, 1<<15), randomRows(2, 1<<17, 1<<15)}[:inputs]
	dir := b.TempDir()
	b.ResetTimer()
	start := cputime.Process()
	for b.Loop() {
		ctx := benchContext(b)
		ctx.Env.Batch = true
		ctx.Spill = Spill{Memory: memory, Create: func() (SpillFile, error) { return os.CreateTemp(dir, "") }}
		op := o()
		if err := op.Open(ctx); err != nil {
			b.Fatal(err)
		}
		for input := range in {
			for _, rows := range in[input] {
				if err := op.Process(input, rows); err != nil {
					b.Fatal(err)
				}
			}
		}
		for input := range in {
			if err := op.(Ender).EndInput(input); err != nil {
				b.Fatal(err)
			}
		}
		if err := op.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(cputime.Process()-start)/float64(b.N*inputs)/(1<<17), "cpu-ns/row")
}

// The same rows in memory and with a tenth of it.
func BenchmarkSpill(b *testing.B) {
	f := fieldsOf("k string, v int, w string")
	sum := aggCall(b, f, "SUM v")
	side := JoinSide{Fields: f, Keys: []int{0}}
	for _, c := range []struct {
		name   string
		make   func() Operator
		inputs int
	}{
		{"sort", func() Operator { return NewSort(f, keysOf(f, "v,k")) }, 1},
		{"aggregate", func() Operator {
			return NewGroupAggregate(Grouping{In: f, Out: []types.Field{f[0], {Type: sum.T}}, Keys: []int{0}, Aggs: []expr.AggCall{sum}})
		}, 1},
		{"join", func() Operator { return NewBatchJoin(Joining{Left: side, Right: side}) }, 2},
	} {
		b.Run(c.name+"/memory", func(b *testing.B) { benchmarkSpill(b, 1<<30, c.make, c.inputs) })
		b.Run(c.name+"/disk", func(b *testing.B) { benchmarkSpill(b, 1<<20, c.make, c.inputs) })
	}
}
