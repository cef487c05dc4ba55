package op

import (
	"context"
	"slices"
	"testing"
	"time"

	"runnel/connectors/lookup"
	"runnel/expr"
	"runnel/types"
)

// feed is what BenchmarkOperators gives to an operator: columns (k, v, ts, s, e), where s and e are the window of a second that
// ts is in, 102,400 rows for a second of event time, with a watermark behind each batch.
type feed struct {
	keys   int
	inputs int  // batches go to them in turn; 0 for 1
	undo   bool // every second time the rows are taken back, so that state stays as it is
}

const feedFields = "k bigint!, v bigint!, ts rowtime!, s ts!, e ts!"

// feedBatches is how many batches there are: ten seconds.
const feedBatches = 1000

func (f feed) batches() ([]*types.Batch, []int64) {
	fields := fieldsOf(feedFields)
	bs, wms := timedBatches(fields[:3], f.keys, feedBatches, 102.4, 0)
	for i, b := range bs {
		wide := types.NewBatch(fields)
		copy(wide.Cols, b.Cols)
		for _, us := range b.Cols[2].Int {
			s := (us/1e6 - 3) * 1e6 // the first rows are up to 2 s before 1970
			if us >= 0 {
				s = us / 1e6 * 1e6
			}
			wide.Cols[3].AppendInt(s)
			wide.Cols[4].AppendInt(s + 1e6)
			wide.Push(types.Insert)
		}
		bs[i] = wide
	}
	return bs, wms
}

// run feeds an operator with b.N rows.
func (f feed) run(b *testing.B, op Operator) {
	if err := op.Open(benchContext(b)); err != nil {
		b.Fatal(err)
	}
	bs, wms := f.batches()
	inputs := max(f.inputs, 1)
	perRow(b, func(n int) error {
		n /= types.BatchRows
		k, pass := n%feedBatches, n/feedBatches
		if pass > 0 {
			f.again(bs[k], pass)
		}
		if err := op.Process(k%inputs, bs[k]); err != nil {
			return err
		}
		for input := range inputs {
			if err := op.Watermark(input, wms[k]+int64(pass)*10_000); err != nil {
				return err
			}
		}
		return nil
	})
}

// again makes a batch ready for another pass: ten seconds later, or to be taken back.
func (f feed) again(b *types.Batch, pass int) {
	if !f.undo {
		for _, c := range b.Cols[2:] {
			shiftTimes(c, 10_000)
		}
		return
	}
	kind := types.Insert
	if pass%2 == 1 {
		kind = types.Delete
	}
	b.Kinds = slices.Repeat([]types.RowKind{kind}, b.Len)
}

// numbers is a table for lookups: every key has one row, the key itself.
type numbers struct{}

func (numbers) Lookup(_ context.Context, keys *types.Batch) (*types.Batch, []int32, error) {
	out := types.NewBatch(fieldsOf("w bigint"))
	of := make([]int32, keys.Rows())
	for n := range of {
		out.Cols[0].AppendInt(keys.Cols[0].Int[keys.Row(n)])
		out.Push(types.Insert)
		of[n] = int32(n)
	}
	return out, of, nil
}

func (numbers) Close() error { return nil }

// BenchmarkOperators has a line for every operator without a benchmark of its own: CPU time per row that comes in. Operators that
// wait for the watermark are paid when it comes.
func BenchmarkOperators(b *testing.B) {
	f := fieldsOf(feedFields)
	wide := func(more string) []types.Field { return slices.Concat(f, fieldsOf(more)) }
	side := func(unique ...int) JoinSide { return JoinSide{Fields: f, Keys: []int{0}, Unique: unique} }
	join := func(kind JoinKind, unique ...int) func(b *testing.B) Operator {
		return func(*testing.B) Operator { return NewJoin(Joining{Kind: kind, Left: side(), Right: side(unique...)}) }
	}
	windowSide := WindowSide{Fields: f, Keys: []int{0}, StartCol: 3, EndCol: 4}
	windowJoin := func(kind JoinKind) func(b *testing.B) Operator {
		return func(*testing.B) Operator {
			return NewWindowJoin(WindowJoining{Kind: kind, Left: windowSide, Right: windowSide})
		}
	}
	rank := func(to int64, numbered, retract bool, key ...int) func(b *testing.B) Operator {
		return func(*testing.B) Operator {
			return NewTopN(Ranking{In: f, Partition: []int{0}, Order: keysOf(f, "v desc"), From: 1, To: to, ToColumn: -1,
				Numbered: numbered, Retract: retract, Key: key, UpdateBefore: true})
		}
	}
	dedup := func(last bool) func(b *testing.B) Operator {
		return func(*testing.B) Operator {
			return NewDeduplicate(Deduplication{In: f, Keys: []int{0}, Time: 2, Rowtime: true, Last: last, UpdateBefore: true})
		}
	}
	over := func(rows bool, before int64, calls ...string) func(b *testing.B) Operator {
		return func(b *testing.B) Operator {
			s := Overing{In: f, Out: f, Keys: []int{0}, Time: 2, Rowtime: true, Rows: rows, Before: before}
			for _, c := range calls {
				call := aggCall(b, f, c)
				s.Aggs = append(s.Aggs, call)
				s.Out = append(s.Out[:len(s.Out):len(s.Out)], types.Field{Name: c, Type: call.T})
			}
			return NewOver(s)
		}
	}
	window := func(w Window) func(b *testing.B) Operator {
		return func(b *testing.B) Operator {
			_, s := windowRig(b, "k bigint!, v bigint!, ts rowtime!", 1, w, "COUNT", "MAX v")
			s.In = f
			return NewWindowAggregate(*s)
		}
	}
	group := func(mini MiniBatch, calls ...string) func(b *testing.B) Operator {
		return func(b *testing.B) Operator {
			_, g := aggRig(b, feedFields, 1, calls...)
			g.Retract, g.MiniBatch = true, mini
			return NewGroupAggregate(*g)
		}
	}
	bundled := MiniBatch{Size: 5000, Latency: time.Hour}
	for _, c := range []struct {
		name string
		feed feed
		make func(b *testing.B) Operator
	}{
		{"join/inner", feed{keys: 1e5, inputs: 2, undo: true}, join(Inner)},
		{"join/inner-unique", feed{keys: 1e6, inputs: 2, undo: true}, join(Inner, 0)},
		{"join/left", feed{keys: 1e5, inputs: 2, undo: true}, join(Left)},
		{"join/full", feed{keys: 1e5, inputs: 2, undo: true}, join(Full)},
		{"join/semi", feed{keys: 1e5, inputs: 2, undo: true}, join(Semi)},
		{"join/anti", feed{keys: 1e5, inputs: 2, undo: true}, join(Anti)},
		{"join/mini-batch", feed{keys: 1e5, inputs: 2, undo: true}, func(*testing.B) Operator {
			return NewJoin(Joining{Left: side(), Right: side(), MiniBatch: bundled})
		}},
		{"temporal-join", feed{keys: 1e4, inputs: 2}, func(*testing.B) Operator {
			return NewTemporalJoin(TemporalJoining{Left: f, Right: f, LeftKeys: []int{0}, RightKeys: []int{0}, LeftTime: 2, RightTime: 2})
		}},
		{"lookup-join", feed{keys: 1e6}, func(*testing.B) Operator {
			key := types.Field{Name: "k", Type: f[0].Type}
			return NewLookupJoin(LookupJoining{In: f, Out: wide("w bigint"), Keys: []LookupKey{{Field: key}},
				Table: func(ctx *Context) (*lookup.Table, error) {
					return lookup.New(numbers{}, lookup.Spec{Name: "t", Keys: []types.Field{key}, Columns: fieldsOf("w bigint"), Now: ctx.Now})
				}})
		}},
		{"window-join/inner", feed{keys: 1e5, inputs: 2}, windowJoin(Inner)},
		{"window-join/anti", feed{keys: 1e5, inputs: 2}, windowJoin(Anti)},
		{"top-n/append", feed{keys: 1e4}, rank(10, true, false)},
		{"top-n/append-unnumbered", feed{keys: 1e4}, rank(10, false, false)},
		{"top-n/first", feed{keys: 1e4}, rank(1, false, false)},
		{"top-n/update", feed{keys: 1e4}, rank(10, true, false, 1)},
		{"top-n/retract", feed{keys: 1e4, undo: true}, rank(10, true, true)},
		{"window-rank", feed{keys: 1e4}, func(*testing.B) Operator {
			return NewWindowRank(WindowRanking{In: f, StartCol: 3, EndCol: 4, Keys: []int{0}, Order: keysOf(f, "v desc"), From: 1, To: 3, Numbered: true})
		}},
		{"deduplicate/first", feed{keys: 1e5}, dedup(false)},
		{"deduplicate/last", feed{keys: 1e5}, dedup(true)},
		{"changelog-normalize", feed{keys: 1e5}, func(*testing.B) Operator { return NewChangelogNormalize(f, []int{0}, true, 0, MiniBatch{}) }},
		{"upsert-materializer", feed{keys: 1e5, undo: true}, func(*testing.B) Operator { return NewUpsertMaterializer(f, []int{0}, nil, 0) }},
		{"over/rows", feed{keys: 1e4}, over(true, 10, "COUNT", "SUM v")},
		{"over/range", feed{keys: 1e4}, over(false, 500, "COUNT", "SUM v")},
		{"over/unbounded", feed{keys: 1e4}, over(false, -1, "COUNT", "SUM v", "MAX v")},
		{"window/hop", feed{keys: 1e5}, window(Window{Kind: Hop, Size: 2000, Slide: 500})},
		{"window/cumulate", feed{keys: 1e5}, window(Window{Kind: Cumulate, Size: 2000, Slide: 500})},
		{"window/session", feed{keys: 1e5}, window(Window{Kind: Session, Size: 1000})},
		{"window/function", feed{keys: 1e5}, func(*testing.B) Operator {
			return NewWindowTableFunction(wide("ws ts!, we ts!, wt rowtime!"), Window{Kind: Hop, Size: 2000, Slide: 500, Column: 2, Rowtime: true})
		}},
		{"window/session-function", feed{keys: 1e5}, func(*testing.B) Operator {
			return NewSessionWindowFunction(f, wide("ws ts!, we ts!, wt rowtime!"), []int{0}, Window{Kind: Session, Size: 1000, Column: 2, Rowtime: true})
		}},
		{"aggregate/distinct", feed{keys: 1e4, undo: true}, group(MiniBatch{}, "COUNT DISTINCT v", "SUM DISTINCT v")},
		{"aggregate/extremes", feed{keys: 1e4, undo: true}, group(MiniBatch{}, "MIN v", "MAX v")},
		{"aggregate/mini-batch", feed{keys: 1e4, undo: true}, group(bundled, "COUNT", "SUM v")},
		{"temporal-sort", feed{keys: 1e5}, func(*testing.B) Operator { return NewTemporalSort(f, keysOf(f, "ts, v")) }},
		{"watermark-assigner", feed{keys: 1e5}, func(b *testing.B) Operator {
			return NewWatermarkAssigner(f, Watermarks{Column: 2, Expr: delayed(b, f, 5*time.Second), Interval: 200 * time.Millisecond})
		}},
		{"constraint-enforcer", feed{keys: 1e5}, func(*testing.B) Operator {
			return NewConstraintEnforcer(f, Enforcement{NotNull: []int{0, 1}, Drop: true})
		}},
		{"drop-update-before", feed{keys: 1e5}, func(*testing.B) Operator { return NewDropUpdateBefore() }},
		{"limit", feed{keys: 1e5}, func(*testing.B) Operator { return NewLimit(10, 1<<60) }},
		{"expand", feed{keys: 1e5}, func(b *testing.B) Operator {
			row := func(n int64) []expr.Expr { return []expr.Expr{column(b, f, "k"), column(b, f, "v"), expr.NewInt(n)} }
			return NewExpand(f, fieldsOf("k bigint!, v bigint!, e int!"), [][]expr.Expr{row(0), row(1), row(2)})
		}},
		{"unnest", feed{keys: 1e5}, func(b *testing.B) Operator {
			return NewCorrelate(Correlation{In: f, Out: wide("w bigint"), Args: []expr.Expr{call(b, f, "ARRAY", "k", "v")}})
		}},
	} {
		b.Run(c.name, func(b *testing.B) { c.feed.run(b, c.make(b)) })
	}
}
