package exec

import (
	"fmt"
	"time"

	"runnel/connectors/lookup"
	"runnel/exec/op"
	"runnel/plan"
	"runnel/types"
)

// newOperator turns a node of the plan into its operator. Sources, exchanges and the writers of sinks are made elsewhere:
// they have goroutines or connections of their own.
func newOperator(s *opSpec) (op.Operator, error) {
	in := func() *plan.Info { return s.node.Base().Inputs[0].Base() }
	switch n := s.node.(type) {
	case *plan.Collect:
		return enforcer(n.Fields, n.Enforcer), nil
	case *plan.Sink:
		if s.stage == stageEnforcer {
			return enforcer(n.Fields, n.Enforcer), nil
		}
		if s.stage == stageMaterialize {
			return op.NewUpsertMaterializer(n.Fields, n.PrimaryKey, n.InputKey, n.TTL), nil
		}
	case *plan.ChangelogNormalize:
		return op.NewChangelogNormalize(n.Fields, n.Keys, n.Mode.Has(types.UpdateBefore), n.TTL, op.MiniBatch(n.MiniBatch)), nil
	case *plan.Deduplicate:
		return op.NewDeduplicate(op.Deduplication{
			In: n.Fields, Keys: n.Keys, Time: n.Time, Rowtime: n.Rowtime, Last: n.Last, UpdateBefore: n.Mode.Has(types.UpdateBefore),
			TTL: n.TTL, MiniBatch: op.MiniBatch(n.MiniBatch), Compact: n.Compact,
		}), nil
	case *plan.Calc:
		return op.NewCalc(in().Fields, n.Exprs, n.Cond), nil
	case *plan.DropUpdateBefore:
		return op.NewDropUpdateBefore(), nil
	case *plan.WatermarkAssigner:
		return op.NewWatermarkAssigner(n.Fields, watermarkSpec(n.Mark)), nil
	case *plan.WindowTableFunction:
		if n.Window.Kind == plan.Session {
			return op.NewSessionWindowFunction(in().Fields, n.Fields, n.Window.Partition, window(n.Window)), nil
		}
		return op.NewWindowTableFunction(n.Fields, window(n.Window)), nil
	case *plan.GroupAggregate:
		over, keys, retract := n.Over()
		return op.NewGroupAggregate(op.Grouping{
			In: over, Out: n.Fields, Keys: keys, Aggs: n.Aggs, Retract: retract, Merge: n.Merges(),
			UpdateBefore: n.Mode.Has(types.UpdateBefore), TTL: n.TTL, MiniBatch: op.MiniBatch(n.MiniBatch),
		}), nil
	case *plan.LocalGroupAggregate:
		return op.NewLocalAggregate(op.LocalGrouping{
			In: in().Fields, Out: n.Fields, Keys: n.Keys, Aggs: n.Aggs, Retract: n.Retract, MiniBatch: op.MiniBatch(n.MiniBatch),
		}), nil
	case *plan.IncrementalGroupAggregate:
		over, keys := n.Over()
		return op.NewIncrementalAggregate(op.Grouping{
			In: over, Out: n.Buckets, Keys: keys, Aggs: n.Aggs, Retract: n.Retract, TTL: n.TTL, MiniBatch: op.MiniBatch(n.MiniBatch),
		}, op.LocalGrouping{Out: n.Fields, Keys: n.FinalKeys, Aggs: n.FinalAggs}), nil
	case *plan.WindowAggregate:
		over, keys, retract := n.Over()
		return op.NewWindowAggregate(op.Windowing{
			In: over, Out: n.Fields, Window: window(n.Window), Keys: keys, Aggs: n.Aggs, Props: windowProps(n.Props),
			Retract: retract, Attached: n.Attached, StartCol: n.StartCol, EndCol: n.EndCol, Merge: n.Local() != nil && !s.whole,
		}), nil
	case *plan.LocalWindowAggregate:
		return op.NewLocalWindowAggregate(op.Windowing{
			In: in().Fields, Out: n.Fields, Window: window(n.Window), Keys: n.Keys, Aggs: n.Aggs, Retract: n.Retract,
			Attached: n.Attached, StartCol: n.StartCol, EndCol: n.EndCol,
		}), nil
	case *plan.GroupWindowAggregate:
		spec := op.Windowing{
			In: in().Fields, Out: n.Fields, Window: window(n.Window), Keys: n.Keys, Aggs: n.Aggs, Props: windowProps(n.Props),
			Retract: updates(in()),
		}
		if n.Early == nil && n.Late == nil { // each result once, at its window's end
			return inTime(s, func() op.Operator { return op.NewWindowAggregate(spec) }, n.Keys, n.Window.Column, n.Window.Rowtime), nil
		}
		return op.NewFiringAggregate(spec, op.Firing{
			Early: n.Early, Late: n.Late, Lateness: n.Lateness, UpdateBefore: n.Mode.Has(types.UpdateBefore),
		}), nil
	case *plan.Join:
		spec := op.Joining{
			Kind: op.JoinKind(n.Join), NullSafe: n.NullSafe, Cond: n.Cond, MiniBatch: op.MiniBatch(n.MiniBatch),
			Left:  joinSide(in(), n.LeftKeys, n.LeftKey, n.LeftTTL),
			Right: joinSide(n.Inputs[1].Base(), n.RightKeys, n.RightKey, n.RightTTL),
		}
		if s.batch {
			return op.NewBatchJoin(spec), nil
		}
		return op.NewJoin(spec), nil
	case *plan.WindowJoin:
		return op.NewWindowJoin(op.WindowJoining{
			Kind: op.JoinKind(n.Join), Zoned: n.Window.Zoned, Cond: n.Cond, NullSafe: n.NullSafe,
			Left:  op.WindowSide{Fields: in().Fields, Keys: n.LeftKeys, StartCol: n.LeftStart, EndCol: n.LeftEnd},
			Right: op.WindowSide{Fields: n.Inputs[1].Base().Fields, Keys: n.RightKeys, StartCol: n.RightStart, EndCol: n.RightEnd},
		}), nil
	case *plan.WindowRank:
		return op.NewWindowRank(op.WindowRanking{
			In: in().Fields, StartCol: n.StartCol, EndCol: n.EndCol, Keys: n.Keys, Zoned: n.Window.Zoned, Order: sortKeys(n.Order),
			From: n.From, To: n.To, Numbered: n.Number,
		}), nil
	case *plan.WindowDeduplicate:
		return op.NewWindowRank(op.WindowRanking{
			In: in().Fields, StartCol: n.StartCol, EndCol: n.EndCol, Keys: n.Keys, Zoned: n.Window.Zoned, From: 1, To: 1,
			Order: []op.SortKey{{Column: n.Time, Desc: n.Last, NullsLast: n.Last}}, LastOfEqual: n.Last,
		}), nil
	case *plan.Expand:
		return op.NewExpand(in().Fields, n.Fields, n.Rows), nil
	case *plan.Correlate:
		return op.NewCorrelate(op.Correlation{
			In: in().Fields, Out: n.Fields, Outer: n.Join == plan.Left, Func: op.RowFunc(n.Func), Args: n.Args,
			Ordinality: n.Ordinality, Cond: n.Cond,
		}), nil
	case *plan.Match:
		rowtime := in().Fields[n.Order[0].Column].Type.Attr != types.Proctime
		spec := op.Matching{
			In: in().Fields, Out: n.Fields, Keys: n.Keys, Order: sortKeys(n.Order), Variables: n.Variables, Columns: n.Columns,
			Rowtime:  rowtime,
			Measures: n.Measures, Skip: n.Skip, SkipTo: n.SkipTo, SkipName: n.SkipName, Within: n.Within,
		}
		return inTime(s, func() op.Operator { return op.NewMatch(spec) }, n.Keys, n.Order[0].Column, rowtime), nil
	case *plan.TemporalSort:
		return op.NewTemporalSort(in().Fields, sortKeys(n.Keys)), nil
	case *plan.OverAggregate:
		if !s.batch {
			t := n.Order[0].Column
			return op.NewOver(op.Overing{
				In: in().Fields, Out: n.Fields, Keys: n.Keys, Time: t, Rowtime: in().Fields[t].Type.Attr == types.Rowtime,
				Rows: n.Frame.Rows, Before: n.Frame.Before, Aggs: n.Aggs, TTL: n.TTL,
			}), nil
		}
		return op.NewBatchOver(op.BatchOvering{
			In: in().Fields, Out: n.Fields, Keys: n.Keys, Order: sortKeys(n.Order), Rows: n.Frame.Rows, Before: n.Frame.Before,
			After: n.Frame.After, BeforeBy: op.Distance(n.Frame.BeforeBy), AfterBy: op.Distance(n.Frame.AfterBy),
			Ahead: n.Frame.Ahead, Short: n.Frame.Short, Aggs: n.Aggs,
		}), nil
	case *plan.TemporalJoin:
		return op.NewTemporalJoin(op.TemporalJoining{
			Outer: n.Join == plan.Left, Left: in().Fields, Right: n.Inputs[1].Base().Fields, LeftKeys: n.LeftKeys,
			RightKeys: n.RightKeys, LeftTime: n.LeftTime, RightTime: n.RightTime, Cond: n.Cond,
			TTL: n.TTL,
		}), nil
	case *plan.LookupJoin:
		return op.NewLookupJoin(lookupJoin(n)), nil
	case *plan.IntervalJoin:
		l, r := in().Fields, n.Inputs[1].Base().Fields
		return op.NewIntervalJoin(op.IntervalJoining{
			Kind: op.JoinKind(n.Join), Left: l, Right: r, LeftKeys: n.LeftKeys, RightKeys: n.RightKeys, LeftTime: n.LeftTime,
			RightTime: n.RightTime, Lower: n.Lower, Upper: n.Upper, Rowtime: n.Rowtime, Cond: n.Cond, NullSafe: n.NullSafe,
		}), nil
	case *plan.Sort:
		return op.NewSort(n.Fields, sortKeys(n.Keys)), nil
	case *plan.SortLimit:
		if n.Strategy != plan.NoStrategy {
			return op.NewTopN(op.Ranking{
				In: in().Fields, Order: sortKeys(n.Keys), From: n.Offset + 1, To: n.Offset + n.Limit, ToColumn: -1,
				Retract: n.Strategy == plan.Retract, Key: rankKey(n.Strategy, n.Key), UpdateBefore: n.Mode.Has(types.UpdateBefore), TTL: n.TTL,
			}), nil
		}
		return op.NewSortLimit(n.Fields, sortKeys(n.Keys), n.Offset, n.Limit), nil
	case *plan.Rank:
		if s.batch {
			return op.NewBatchRank(op.BatchRanking{
				In: in().Fields, Func: op.RankFunc(n.Func), Keys: n.Keys, Order: sortKeys(n.Order), From: n.From, To: n.To,
				ToColumn: n.ToColumn, Numbered: n.Number,
			}), nil
		}
		if n.Func == plan.RowNumber {
			return op.NewTopN(op.Ranking{
				In: in().Fields, Partition: n.Keys, Order: sortKeys(n.Order), From: n.From, To: n.To, ToColumn: n.ToColumn,
				Numbered: n.Number, Retract: n.Strategy == plan.Retract, Key: rankKey(n.Strategy, n.Key),
				UpdateBefore: n.Mode.Has(types.UpdateBefore), TTL: n.TTL,
			}), nil
		}
	case *plan.Limit:
		if updates(in()) {
			return op.NewTopN(op.Ranking{
				In: in().Fields, From: n.Offset + 1, To: n.Offset + n.Limit, ToColumn: -1, Retract: true,
				UpdateBefore: n.Mode.Has(types.UpdateBefore), TTL: n.TTL,
			}), nil
		}
		return op.NewLimit(n.Offset, n.Limit), nil
	}
	return nil, fmt.Errorf("%s is not supported yet", construct(s.node))
}

// inTime puts the rows of batch mode in order in front of an operator that works by event time.
func inTime(s *opSpec, make func() op.Operator, keys []int, column int, rowtime bool) op.Operator {
	if !s.batch || !rowtime {
		return make()
	}
	return op.NewInTime(make, s.node.Base().Inputs[0].Base().Fields, keys, column)
}

// Runs tells why a node cannot be run, nil if it can. The planner refuses plans with such nodes.
func Runs(n plan.Node, batch bool) error {
	switch n.(type) {
	case *plan.Scan, *plan.Values, *plan.Collect, *plan.Exchange, *plan.Union, *plan.MiniBatchAssigner:
		return nil
	}
	for _, st := range stages(n) {
		if st == stageWriter {
			continue
		}
		if _, err := newOperator(&opSpec{node: n, stage: st, fields: n.Base().Fields, batch: batch}); err != nil {
			return err
		}
	}
	return nil
}

// construct is what of SQL a node that cannot be run stands for.
func construct(n plan.Node) string {
	switch n := n.(type) {
	case *plan.WindowTableFunction:
		return "SESSION without an aggregation by window_start and window_end"
	default:
		return n.Base().Kind
	}
}

func lookupJoin(n *plan.LookupJoin) op.LookupJoining {
	in := n.Inputs[0].Base().Fields
	l := op.LookupJoining{In: in, Out: n.Fields, Outer: n.Join == plan.Left, Cond: n.Cond, TTL: n.TTL}
	var keys []types.Field
	for i, k := range n.Keys {
		c := n.Table.Columns[k]
		keys = append(keys, types.Field{Name: c.Name, Type: c.Type.Optional()})
		l.Keys = append(l.Keys, op.LookupKey{Field: keys[i], Left: n.LeftKeys[i], Const: n.Consts[i]})
	}
	if a := n.Async; a != nil {
		l.Async = &op.AsyncLookup{Capacity: a.Capacity, Timeout: a.Timeout, Unordered: a.Unordered}
	}
	if n.Materialize {
		l.Upsert = &op.UpsertKey{Columns: n.InputKey}
	}
	l.Table = func(ctx *op.Context) (*lookup.Table, error) {
		ask, err := n.Open()
		if err != nil {
			return nil, err
		}
		return lookup.New(ask, lookup.Spec{
			Name: n.Table.Name, Keys: keys, Columns: n.Fields[len(in):], Cache: n.Cache, Retry: n.Retry, Now: ctx.Now, Zone: ctx.Env.Zone, Log: ctx.Log,
		})
	}
	return l
}

func enforcer(fields []types.Field, e plan.Enforcer) op.Operator {
	return op.NewConstraintEnforcer(fields, op.Enforcement{NotNull: e.NotNull, Drop: e.Drop, Length: e.Length})
}

// joinSide describes an input of a join.
func joinSide(i *plan.Info, keys, unique []int, ttl time.Duration) op.JoinSide {
	return op.JoinSide{
		Fields: i.Fields, Keys: keys, Unique: unique, TTL: ttl,
		Replaces: i.Mode.Has(types.UpdateAfter) && !i.Mode.Has(types.UpdateBefore),
	}
}

// updates reports whether rows may be taken back.
func updates(i *plan.Info) bool { return i.Mode&^types.InsertOnly != 0 }

func windowProps(props []plan.WindowProp) []op.WindowProp {
	out := make([]op.WindowProp, len(props))
	for i, p := range props {
		out[i] = op.WindowProp(p)
	}
	return out
}

// rankKey gives the key by which the rows of a top-N replace each other, nil if they do not.
func rankKey(s plan.RankStrategy, key []int) []int {
	if s != plan.UpdateFast {
		return nil
	}
	return append([]int{}, key...)
}

func window(w plan.Window) op.Window {
	return op.Window{Kind: op.WindowKind(w.Kind), Column: w.Column, Size: w.Size, Slide: w.Slide, Offset: w.Offset, Rowtime: w.Rowtime, Zoned: w.Zoned}
}

func watermarkSpec(m *plan.Watermark) op.Watermarks {
	return op.Watermarks{Column: m.Column, Expr: m.Expr, Interval: m.Interval, Idle: m.Idle, OnEvent: m.OnEvent, Gap: m.Gap}
}

func sortKeys(keys []plan.SortKey) []op.SortKey {
	out := make([]op.SortKey, len(keys))
	for i, k := range keys {
		out[i] = op.SortKey{Column: k.Column, Desc: k.Desc, NullsLast: k.NullsLast}
	}
	return out
}
