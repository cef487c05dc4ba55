package plan

import (
	"fmt"
	"strings"
	"time"

	"runnel/expr"
	"runnel/types"
)

// describe writes a node as EXPLAIN does, without its changelog mode.
func describe(n Node) string { return newDescriber(n, prefix).text() }

// describer collects the name=[value] parts of a node.
type describer struct {
	kind  string
	parts []string
	expr  func(expr.Expr) string // how expressions are written
	// columns are those that the expressions read.
	columns []types.Field
}

func newDescriber(n Node, write func(expr.Expr) string) *describer {
	d := &describer{kind: n.Base().Kind, columns: read(n)}
	d.expr = func(e expr.Expr) string { return write(renamedBy(e, d.columns)) }
	d.node(n)
	return d
}

func (d *describer) text() string { return d.kind + "(" + strings.Join(d.parts, ", ") + ")" }

func (d *describer) add(name, value string) { d.parts = append(d.parts, name+"=["+value+"]") }

func names(fields []types.Field) string { return strings.Join(fieldNames(fields), ", ") }

func (d *describer) node(n Node) {
	b := n.Base()
	var in []types.Field
	if len(b.Inputs) > 0 {
		in = fieldsIn(b.Inputs[0])
	}
	switch n := n.(type) {
	case *Scan:
		d.scan(n)
	case *Values:
		d.add("tuples", d.tuples(n.Rows))
	case *Calc:
		d.add("select", d.selectText(n.Exprs, n.Fields))
		if n.Cond != nil {
			d.add("where", d.expr(n.Cond))
		}
	case *WatermarkAssigner:
		d.add("rowtime", n.Fields[n.Mark.Column].Name)
		d.add("watermark", d.expr(n.Mark.Expr))
	case *MiniBatchAssigner:
		d.add("interval", fmt.Sprintf("%dms", n.Interval.Milliseconds()))
		d.add("mode", map[bool]string{true: "RowTime", false: "ProcTime"}[n.Rowtime])
	case *ChangelogNormalize:
		d.add("key", columnNames(in, n.Keys))
	case *Exchange:
		d.add("distribution", distribution(n, in))
	case *Union:
		d.add("all", "true")
		d.add("union", names(n.Fields))
	case *Expand:
		d.add("projects", d.expandText(n))
	case *GroupAggregate:
		d.group(in, n.Keys)
		if n.Part != "" {
			d.add("partialFinalType", n.Part)
		}
		if n.Merges() {
			d.add("select", n.globalText())
		} else {
			d.add("select", aggText(in, n.Keys, n.Aggs, nil))
		}
	case *LocalGroupAggregate:
		d.group(in, n.Keys)
		if n.Part != "" {
			d.add("partialFinalType", n.Part)
		}
		d.add("select", localText(n.Keys, n.Aggs, in, n.Retract, n.Retract))
	case *IncrementalGroupAggregate:
		d.add("partialAggGrouping", columnNames(n.Buckets, n.Keys))
		d.add("finalAggGrouping", columnNames(n.Buckets, n.FinalKeys))
		d.add("select", n.text())
	case *WindowTableFunction:
		d.add("window", windowText(n.Window, in, false, 0, 0))
	case *WindowAggregate:
		d.group(in, n.Keys)
		if l := n.Local(); l != nil {
			d.add("window", sliceWindowText(n.Window, l))
			d.add("select", n.globalText())
			return
		}
		d.add("window", windowText(n.Window, in, n.Attached, n.StartCol, n.EndCol))
		d.add("select", aggText(in, n.Keys, n.Aggs, propTexts(n)))
	case *LocalWindowAggregate:
		d.group(in, n.Keys)
		d.add("window", windowText(n.Window, in, n.Attached, n.StartCol, n.EndCol))
		d.add("select", n.text())
	case *Sort:
		d.add("orderBy", orderText(in, n.Keys))
	case *TemporalSort:
		d.add("orderBy", orderText(in, n.Keys))
	case *SortLimit:
		d.add("orderBy", orderText(in, n.Keys))
		d.limits(n.Offset, n.Limit)
		if n.Strategy != NoStrategy {
			d.add("strategy", strategyText(n.Strategy, n.Key))
		}
	case *Limit:
		d.limits(n.Offset, n.Limit)
	case *Sink:
		d.add("table", n.Table.Name)
		d.add("fields", names(in))
		if n.Materialize {
			d.add("upsertMaterialize", "true")
		}
	case *Collect:
		d.add("table", "*collect*")
		d.add("fields", names(n.Fields))
	default:
		d.join(n, in)
	}
}

func (d *describer) group(in []types.Field, keys []int) {
	if len(keys) > 0 {
		d.add("groupBy", columnNames(in, keys))
	}
}

func (d *describer) limits(offset, limit int64) {
	d.add("offset", itoa(int(offset)))
	if limit >= 0 {
		d.add("fetch", itoa(int(limit)))
	} else {
		d.add("fetch", "unlimited")
	}
}

func (d *describer) scan(n *Scan) {
	table := "[" + strings.ReplaceAll(n.Table.Name, ".", ", ")
	if n.Mark != nil {
		table += ", watermark=[" + d.expr(n.Mark.Expr) + "]"
		emit := "on-periodic"
		if n.Mark.OnEvent {
			emit = "on-event"
		}
		if n.Mark.Idle > 0 {
			table += ", idletimeout=[" + itoa(int(n.Mark.Idle.Milliseconds())) + "]"
		}
		table += ", watermarkEmitStrategy=[" + emit + "]"
	}
	if n.filter != nil {
		table += ", filter=[" + d.expr(n.filter) + "]"
	}
	if n.limit > 0 {
		table += ", limit=[" + itoa(int(n.limit)) + "]"
	}
	d.add("table", table+"]")
	d.add("fields", names(n.Fields))
	if len(n.hints) > 0 {
		var opts []string
		for _, o := range n.hints {
			opts = append(opts, o.Key+"="+o.Masked())
		}
		d.add("hints", "[[OPTIONS options:{"+strings.Join(opts, ", ")+"}]]")
	}
}

func (d *describer) tuples(rows [][]expr.Expr) string {
	const shown = 10
	var out []string
	for i, r := range rows {
		if i == shown {
			out = append(out, fmt.Sprintf(".. %d more", len(rows)-shown))
			break
		}
		vals := make([]string, len(r))
		for k, e := range r {
			vals[k] = d.expr(e)
		}
		out = append(out, "{ "+strings.Join(vals, ", ")+" }")
	}
	return "[" + strings.Join(out, ", ") + "]"
}

func (d *describer) selectText(exprs []expr.Expr, fields []types.Field) string {
	out := make([]string, len(exprs))
	for i, e := range exprs {
		out[i] = d.expr(e)
		if c, ok := e.(*expr.Col); !ok || c.Index >= len(d.columns) || d.columns[c.Index].Name != fields[i].Name {
			out[i] += " AS " + fields[i].Name
		}
	}
	return strings.Join(out, ", ")
}

func distribution(n *Exchange, in []types.Field) string {
	switch n.Dist {
	case HashKeys:
		return "hash[" + columnNames(in, n.Keys) + "]"
	case Singleton:
		return "single"
	case Broadcast:
		return "broadcast"
	}
	return "rebalance"
}

func (d *describer) expandText(n *Expand) string {
	out := make([]string, len(n.Rows))
	for i, r := range n.Rows {
		out[i] = "{" + d.selectText(r, n.Fields) + "}"
	}
	return strings.Join(out, ", ")
}

func aggText(in []types.Field, keys []int, aggs []expr.AggCall, props []string) string {
	var out []string
	for _, k := range keys {
		out = append(out, in[k].Name)
	}
	for _, a := range aggs {
		out = append(out, a.Text+" AS "+a.Name)
	}
	return strings.Join(append(out, props...), ", ")
}

func propTexts(n *WindowAggregate) []string {
	words := map[WindowProp]string{WindowStart: "start('w$)", WindowEnd: "end('w$)", WindowTime: "rowtime('w$)"}
	if !n.Window.Rowtime {
		words[WindowTime] = "proctime('w$)"
	}
	var out []string
	for i, p := range n.Props {
		out = append(out, words[p]+" AS "+n.Fields[len(n.Keys)+len(n.Aggs)+i].Name)
	}
	return out
}

var windowNames = [...]string{Tumble: "TUMBLE", Hop: "HOP", Cumulate: "CUMULATE", Session: "SESSION"}

func windowText(w Window, in []types.Field, attached bool, start, end int) string {
	if attached {
		return windowCall(w, in, "win_start=["+in[start].Name+"]", "win_end=["+in[end].Name+"]")
	}
	return windowCall(w, in, "time_col=["+in[w.Column].Name+"]")
}

// sliceWindowText is windowText for windows over what a local phase gives.
func sliceWindowText(w Window, l *LocalWindowAggregate) string {
	end := "slice_end"
	if l.Attached {
		end = "win_end"
	}
	return windowCall(w, nil, end+"=["+l.sliceEnd()+"]")
}

func windowCall(w Window, in []types.Field, parts ...string) string {
	ms := func(n int64) string { return spanText(time.Duration(n) * time.Millisecond) }
	switch w.Kind {
	case Tumble:
		parts = append(parts, "size=["+ms(w.Size)+"]")
	case Hop:
		parts = append(parts, "size=["+ms(w.Size)+"]", "slide=["+ms(w.Slide)+"]")
	case Cumulate:
		parts = append(parts, "max_size=["+ms(w.Size)+"]", "step=["+ms(w.Slide)+"]")
	case Session:
		parts = append(parts, "gap=["+ms(w.Size)+"]")
		if len(w.Partition) > 0 {
			parts = append(parts, "partition keys=["+columnNames(in, w.Partition)+"]")
		}
	}
	if w.Offset != 0 {
		parts = append(parts, "offset=["+ms(w.Offset)+"]")
	}
	return windowNames[w.Kind] + "(" + strings.Join(parts, ", ") + ")"
}

func orderText(in []types.Field, keys []SortKey) string {
	out := make([]string, len(keys))
	for i, k := range keys {
		out[i] = in[k.Column].Name + " ASC"
		if k.Desc {
			out[i] = in[k.Column].Name + " DESC"
		}
		if k.NullsLast != k.Desc {
			out[i] += map[bool]string{true: " NULLS LAST", false: " NULLS FIRST"}[k.NullsLast]
		}
	}
	return strings.Join(out, ", ")
}

func strategyText(s RankStrategy, key []int) string {
	switch s {
	case AppendFast:
		return "AppendFastStrategy"
	case UpdateFast:
		cols := make([]string, len(key))
		for i, k := range key {
			cols[i] = itoa(k)
		}
		return "UpdateFastStrategy[" + strings.Join(cols, ",") + "]"
	case Retract:
		return "RetractStrategy"
	}
	return "UndefinedStrategy"
}

var joinNames = [...]string{Inner: "InnerJoin", Left: "LeftOuterJoin", Right: "RightOuterJoin", Full: "FullOuterJoin", Semi: "LeftSemiJoin", Anti: "LeftAntiJoin"}

// joinCondition writes the equalities and the rest of a join's condition.
func (d *describer) joinCondition(n Node, left, right []int, nullSafe []bool, cond expr.Expr) string {
	in := n.Base().Inputs
	lf, rf := fieldsIn(in[0]), fieldsIn(in[1])
	var terms []expr.Expr
	for i := range left {
		op := "="
		if i < len(nullSafe) && nullSafe[i] {
			op = "IS NOT DISTINCT FROM"
		}
		l, r := lf[left[i]], rf[right[i]]
		eq, err := expr.NewCall(op, []expr.Expr{&expr.Col{Index: left[i], T: l.Type.Plain()}, &expr.Col{Index: len(lf) + right[i], T: r.Type.Plain()}}, expr.Pos{})
		if err == nil {
			terms = append(terms, eq)
		}
	}
	terms = append(terms, expr.Conjuncts(cond)...)
	if len(terms) == 0 {
		return "true"
	}
	return d.expr(expr.NewAnd(terms...))
}

func inputSpec(key []int, one bool) string {
	switch {
	case one:
		return "JoinKeyContainsUniqueKey"
	case key != nil:
		return "HasUniqueKey"
	}
	return "NoUniqueKey"
}

// treeText draws a plan.
func treeText(n Node) string {
	var b strings.Builder
	drawTree(&b, n, "", "", func(n Node) string { return describe(n) })
	return b.String()
}

// drawTree draws a node and its inputs: +- before the last input, :- before the others.
func drawTree(b *strings.Builder, n Node, first, rest string, text func(Node) string) {
	n = shown(n)
	b.WriteString(first + text(n) + "\n")
	in := n.Base().Inputs
	for i, c := range in {
		if i == len(in)-1 {
			drawTree(b, c, rest+"+- ", rest+"   ", text)
		} else {
			drawTree(b, c, rest+":- ", rest+":  ", text)
		}
	}
}

// shown skips the exchanges that EXPLAIN leaves out.
func shown(n Node) Node {
	for {
		e, ok := n.(*Exchange)
		if !ok || !e.hidden {
			return n
		}
		n = e.Inputs[0]
	}
}
