package plan

import (
	"fmt"
	"strings"
	"time"

	"runnel/expr"
	"runnel/types"
)

// join describes what brings rows together.
func (d *describer) join(n Node, in []types.Field) {
	switch n := n.(type) {
	case *Join:
		d.add("joinType", joinNames[n.Join])
		d.add("where", d.joinCondition(n, n.LeftKeys, n.RightKeys, n.NullSafe, n.Cond))
		d.add("select", names(n.Fields))
		d.add("leftInputSpec", inputSpec(n.LeftKey, n.LeftUnique))
		d.add("rightInputSpec", inputSpec(n.RightKey, n.RightUnique))
		if n.MiniBatch.Size > 0 {
			d.add("miniBatch", "true")
		}
	case *IntervalJoin:
		d.add("joinType", joinNames[n.Join])
		d.add("windowBounds", fmt.Sprintf("isRowTime=%t, leftLowerBound=%d, leftUpperBound=%d, leftTimeIndex=%d, rightTimeIndex=%d",
			n.Rowtime, -n.Upper, -n.Lower, n.LeftTime, n.RightTime))
		d.add("where", d.joinCondition(n, n.LeftKeys, n.RightKeys, n.NullSafe, n.Cond))
		d.add("select", names(n.Fields))
	case *TemporalJoin:
		d.add("joinType", joinNames[n.Join])
		d.add("where", d.joinCondition(n, n.LeftKeys, n.RightKeys, nil, n.Cond))
		right := fieldsIn(n.Inputs[1])
		d.add("time", in[n.LeftTime].Name+" of "+right[n.RightTime].Name)
		d.add("select", names(n.Fields))
	case *LookupJoin:
		d.lookup(n, in)
	case *WindowJoin:
		d.add("leftWindow", windowText(n.Window, in, true, n.LeftStart, n.LeftEnd))
		d.add("rightWindow", windowText(n.Window, fieldsIn(n.Inputs[1]), true, n.RightStart, n.RightEnd))
		d.add("joinType", joinNames[n.Join])
		d.add("where", d.joinCondition(n, n.LeftKeys, n.RightKeys, n.NullSafe, n.Cond))
		d.add("select", names(n.Fields))
	case *Correlate:
		fn := [...]string{UnnestRows: "$UNNEST_ROWS$1", ReplicateRows: "$REPLICATE_ROWS$1"}[n.Func]
		args := make([]string, len(n.Args))
		for i, a := range n.Args {
			args[i] = d.expr(a)
		}
		d.add("invocation", fn+"("+strings.Join(args, ", ")+")")
		d.add("select", names(n.Fields))
		d.add("joinType", [...]string{Inner: "INNER", Left: "LEFT"}[n.Join])
		if n.Cond != nil {
			d.add("condition", d.expr(n.Cond))
		}
	default:
		d.rank(n, in)
	}
}

func (d *describer) lookup(n *LookupJoin, in []types.Field) {
	d.add("table", n.Table.Name)
	d.add("joinType", joinNames[n.Join])
	if a := n.Async; a != nil {
		d.add("async", fmt.Sprintf("%s, %dms, %d", map[bool]string{true: "UNORDERED", false: "ORDERED"}[a.Unordered], a.Timeout.Milliseconds(), a.Capacity))
	}
	var keys []string
	for i, k := range n.Keys {
		c := n.Table.Columns[k]
		if n.LeftKeys[i] >= 0 {
			keys = append(keys, c.Name+"="+in[n.LeftKeys[i]].Name)
		} else {
			keys = append(keys, c.Name+"="+d.expr(expr.NewConst(n.Consts[i], c.Type)))
		}
	}
	d.add("lookup", strings.Join(keys, ", "))
	var where, both []expr.Expr // of the table alone, and the rest
	for _, c := range expr.Conjuncts(n.Cond) {
		if sideOf(c, len(in)) == rightSide {
			where = append(where, c)
		} else {
			both = append(both, c)
		}
	}
	if where != nil {
		d.add("where", d.expr(expr.NewAnd(where...)))
	}
	if both != nil {
		d.add("joinCondition", d.expr(expr.NewAnd(both...)))
	}
	d.add("select", names(n.Fields))
	if n.Materialize {
		d.add("upsertMaterialize", "true")
	}
	if r := n.Retry; r != nil {
		d.add("retry", fmt.Sprintf("lookup_miss, FIXED_DELAY, %dms, %d", r.Delay.Milliseconds(), r.Attempts))
	}
}

// rank describes ranks and what depends on time.
func (d *describer) rank(n Node, in []types.Field) {
	switch n := n.(type) {
	case *Rank:
		d.add("strategy", strategyText(n.Strategy, n.Key))
		d.add("rankType", rankNames[n.Func])
		end := fmt.Sprint(n.To)
		if n.ToColumn >= 0 {
			d.add("rankRange", "rankEnd="+in[n.ToColumn].Name)
		} else {
			d.add("rankRange", fmt.Sprintf("rankStart=%d, rankEnd=%s", n.From, end))
		}
		d.add("partitionBy", columnNames(in, n.Keys))
		d.add("orderBy", orderText(in, n.Order))
		d.add("select", names(n.Fields))
	case *Deduplicate:
		d.add("keep", keepText(n.Last))
		d.add("key", columnNames(in, n.Keys))
		d.add("order", timeText(n.Rowtime))
	case *OverAggregate:
		if len(n.Keys) > 0 {
			d.add("partitionBy", columnNames(in, n.Keys))
		}
		d.add("orderBy", orderText(in, n.Order))
		d.add("window", frameText(n.Frame))
		d.add("select", names(in)+", "+aggText(in, nil, n.Aggs, nil))
	case *WindowRank:
		d.add("window", windowText(n.Window, in, true, n.StartCol, n.EndCol))
		d.add("rankType", "ROW_NUMBER")
		d.add("rankRange", fmt.Sprintf("rankStart=%d, rankEnd=%d", n.From, n.To))
		d.add("partitionBy", columnNames(in, n.Keys))
		d.add("orderBy", orderText(in, n.Order))
		d.add("select", names(n.Fields))
	case *WindowDeduplicate:
		d.add("window", windowText(n.Window, in, true, n.StartCol, n.EndCol))
		d.add("keep", keepText(n.Last))
		d.add("partitionKeys", columnNames(in, n.Keys))
		d.add("orderKey", in[n.Time].Name)
		d.add("order", "ROWTIME")
	case *Match:
		d.match(n, in)
	case *GroupWindowAggregate:
		d.group(in, n.Keys)
		d.add("window", groupWindowText(n, in))
		var props []string
		for _, p := range n.Props {
			props = append(props, [...]string{WindowStart: "start", WindowEnd: "end", WindowTime: "rowtime", WindowProctime: "proctime"}[p]+"('w$) AS "+propNames[p])
		}
		d.add("select", aggText(in, n.Keys, n.Aggs, props))
		if text := emitText(n); text != "" {
			d.add("emit", text)
		}
	default:
		d.add("select", names(n.Base().Fields))
	}
}

func groupWindowText(n *GroupWindowAggregate, in []types.Field) string {
	column := in[n.Window.Column].Name
	switch n.Window.Kind {
	case Hop:
		return fmt.Sprintf("SlidingGroupWindow('w$, %s, %d, %d)", column, n.Window.Size, n.Window.Slide)
	case Session:
		return fmt.Sprintf("SessionGroupWindow('w$, %s, %d)", column, n.Window.Size)
	}
	return fmt.Sprintf("TumblingGroupWindow('w$, %s, %d)", column, n.Window.Size)
}

func emitText(n *GroupWindowAggregate) string {
	var parts []string
	for _, f := range []struct {
		word  string
		delay *time.Duration
	}{{"early", n.Early}, {"late", n.Late}} {
		switch {
		case f.delay == nil:
		case *f.delay == 0:
			parts = append(parts, f.word+" no delay")
		default:
			parts = append(parts, fmt.Sprintf("%s delay %d millisecond", f.word, f.delay.Milliseconds()))
		}
	}
	return strings.Join(parts, ", ")
}

var rankNames = [...]string{RowNumber: "ROW_NUMBER", RankWithGaps: "RANK", DenseRank: "DENSE_RANK"}

func keepText(last bool) string {
	if last {
		return "LastRow"
	}
	return "FirstRow"
}

func timeText(rowtime bool) string {
	if rowtime {
		return "ROWTIME"
	}
	return "PROCTIME"
}

func frameText(f Frame) string {
	word, bound := " RANG", func(n int64, _ Distance) string { return spanText(millis(n)) }
	if f.Rows {
		word = " ROWS"
	}
	switch {
	case f.Rows:
		bound = func(n int64, _ Distance) string { return fmt.Sprint(n) }
	case f.Number:
		bound = func(_ int64, by Distance) string { return string(types.AppendDecimal(nil, by.Unscaled, by.Scale)) }
	}
	lower, upper := "CURRENT ROW", "CURRENT ROW"
	switch {
	case f.Before < 0:
		lower = "UNBOUNDED PRECEDING"
	case f.Ahead:
		lower = bound(f.Before, f.BeforeBy) + " FOLLOWING"
	case f.Before > 0:
		lower = bound(f.Before, f.BeforeBy) + " PRECEDING"
	}
	switch {
	case f.After < 0:
		upper = "UNBOUNDED FOLLOWING"
	case f.Short:
		upper = bound(f.After, f.AfterBy) + " PRECEDING"
	case f.After > 0:
		upper = bound(f.After, f.AfterBy) + " FOLLOWING"
	}
	return word + " BETWEEN " + lower + " AND " + upper
}
