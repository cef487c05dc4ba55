package plan

import (
	"slices"
	"strings"
	"time"

	"runnel/expr"
	"runnel/types"
)

// An aggregation in two phases (table.optimizer.agg-phase-strategy): a local one in front of the exchange aggregates what a
// subtask has seen of a key since it last gave something, and gives accumulators; behind the exchange the aggregation merges
// them into its own. So a frequent key costs the network little, and no subtask is busy with it alone.

// LocalGroupAggregate is the local phase of a GroupAggregate. Rows: the keys, then one column with the accumulators of a bundle.
type LocalGroupAggregate struct {
	Info
	Keys    []int
	Aggs    []expr.AggCall
	Part    string // that of the GroupAggregate
	Retract bool   // the input may take rows back
}

// IncrementalGroupAggregate is, in one operator, what of a split DISTINCT stands between its two exchanges: the aggregation by
// buckets, which merges accumulators, and the local phase of the one that adds them up.
type IncrementalGroupAggregate struct {
	Info
	Keys    []int          // of the input: group and bucket
	Aggs    []expr.AggCall // over the input of the local phase
	Buckets []types.Field  // what the aggregation by buckets gives
	Retract bool           // rows may be taken back

	FinalKeys []int          // of Buckets
	FinalAggs []expr.AggCall // over Buckets

	ttl time.Duration // STATE_TTL
}

// unmerged are the aggregates whose accumulators Flink cannot merge: an aggregation with any of them has one phase.
var unmerged = map[string]bool{"FIRST_VALUE": true, "LAST_VALUE": true, "JSON_ARRAYAGG": true}

// inPhases reports whether aggregates may be computed in two phases.
func (p *planning) inPhases(aggs []expr.AggCall) bool {
	return !p.batch && p.Config.Get("table.optimizer.agg-phase-strategy") != "ONE_PHASE" &&
		!slices.ContainsFunc(aggs, func(c expr.AggCall) bool { return unmerged[c.Func.Name] })
}

// groupPhases puts the local phase in front of the exchange of a GroupAggregate. Changelog modes have been settled.
func (p *planning) groupPhases(n Node) Node {
	g, ok := n.(*GroupAggregate)
	if !ok || !p.inPhases(g.Aggs) || !p.Config.Bool("table.exec.mini-batch.enabled") {
		return n
	}
	x, ok := g.Inputs[0].(*Exchange)
	if !ok {
		return n
	}
	in := x.Inputs[0]
	keys, fields := g.Keys, fieldsIn(in)
	part, _ := in.(*GroupAggregate)
	if g.Part == "FINAL" && part != nil && part.local() != nil && p.Config.Bool("table.optimizer.incremental-agg-enabled") {
		inc := &IncrementalGroupAggregate{
			Keys: part.Keys, Aggs: part.Aggs, Buckets: part.Fields, Retract: part.local().Retract, FinalKeys: keys, FinalAggs: g.Aggs, ttl: part.ttl,
		}
		inc.Kind, inc.Inputs, inc.Pos = "IncrementalGroupAggregate", part.Inputs, g.Pos
		x.Inputs[0] = inc
	} else {
		l := &LocalGroupAggregate{Keys: keys, Aggs: g.Aggs, Part: g.Part, Retract: in.Base().Mode != types.InsertOnly}
		l.Kind, l.Inputs, l.Pos = "LocalGroupAggregate", []Node{in}, g.Pos
		x.Inputs[0] = l
	}
	out := x.Inputs[0].Base()
	for _, k := range keys {
		out.Fields = append(out.Fields, fields[k])
	}
	out.Fields = append(out.Fields, types.Field{Name: "accumulators", Type: types.Bytes().Required()})
	x.Fields, x.Mode, out.Mode = out.Fields, types.InsertOnly, types.InsertOnly
	g.Kind, g.Keys = "GlobalGroupAggregate", identity(len(keys))
	if len(x.Keys) > 0 {
		x.Keys = g.Keys
	}
	return g
}

// below gives what is behind the exchange in front of a node.
func below(n Node) Node {
	x, ok := n.Base().Inputs[0].(*Exchange)
	if !ok {
		return nil
	}
	return x.Inputs[0]
}

// local gives the local phase of an aggregation, nil for none.
func (n *GroupAggregate) local() *LocalGroupAggregate {
	l, _ := below(n).(*LocalGroupAggregate)
	return l
}

// Merges reports whether the rows of the input are keys and accumulators.
func (n *GroupAggregate) Merges() bool { return n.Kind == "GlobalGroupAggregate" }

// Over gives the columns over which the calls stand, the keys among them, and whether rows may be taken back: those of the input,
// or, where that holds accumulators, those of the input of the local phase.
func (n *GroupAggregate) Over() (fields []types.Field, keys []int, retract bool) {
	if n.Merges() {
		switch b := below(n).(type) {
		case *LocalGroupAggregate:
			return fieldsIn(b.Inputs[0]), b.Keys, b.Retract
		case *IncrementalGroupAggregate: // whose results replace each other
			return b.Buckets, b.FinalKeys, true
		}
	}
	in := n.Inputs[0].Base()
	return in.Fields, n.Keys, in.Mode&^types.InsertOnly != 0
}

// Over gives the columns over which the calls by buckets stand, and the keys among them.
func (n *IncrementalGroupAggregate) Over() (fields []types.Field, keys []int) {
	l := below(n).(*LocalGroupAggregate)
	return fieldsIn(l.Inputs[0]), l.Keys
}

// phaseTexts are the aggregates of the phases as plans show them.
type phaseTexts struct {
	local  []string // COUNT(distinct$0 a) AS count$0
	merged []string // COUNT(distinct$0 count$0), without a name
	names  []string // count$0, (sum$1, count$2)
	sets   []string // DISTINCT(a) AS distinct$0
	rows   string   // COUNT_RETRACT(*) AS count1$3, where rows are counted beside the calls
	count  string   // count1$3
}

// accumulators names the accumulators of an aggregate.
func accumulators(c expr.AggCall, retract bool) []string {
	switch name := c.Func.Name; {
	case name == "COUNT" && len(c.Args) == 0:
		return []string{"count1"}
	case name == "AVG", name == "SUM" && retract:
		return []string{"sum", "count"}
	case name == "$SUM0":
		return []string{"sum"}
	case name == "LISTAGG" && !retract:
		return []string{"accDelimiter", "concatAcc"}
	case name == "SINGLE_VALUE":
		return []string{"value", "count"}
	default:
		return []string{strings.ToLower(name)}
	}
}

// newPhaseTexts writes the aggregates of a local phase over some columns. counts: rows are counted, by a COUNT(*) among the calls
// or beside them.
func newPhaseTexts(aggs []expr.AggCall, fields []types.Field, retract, counts bool) phaseTexts {
	var t phaseTexts
	var sets [][]int
	n := 0
	counted := false
	for _, c := range aggs {
		var names []string
		for _, a := range accumulators(c, retract) {
			names = append(names, a+"$"+itoa(n))
			n++
		}
		name := strings.Join(names, ", ")
		if len(names) > 1 {
			name = "(" + name + ")"
		}
		text := callText(c, fields, retract)
		call, args, _ := strings.Cut(text, "(")
		set := ""
		if c.Distinct {
			at := slices.IndexFunc(sets, func(s []int) bool { return slices.Equal(s, c.Args) })
			if at < 0 {
				at, sets = len(sets), append(sets, c.Args)
			}
			set = "distinct$" + itoa(at) + " "
			args = set + strings.TrimPrefix(args, "DISTINCT ")
		}
		t.local = append(t.local, call+"("+args+" AS "+name)
		t.merged = append(t.merged, call+"("+set+name+")")
		t.names = append(t.names, name)
		counted = counted || c.Func.Name == "COUNT" && len(c.Args) == 0 && c.Filter < 0 && !c.Distinct
	}
	if counts && !counted {
		t.count = "count1$" + itoa(n)
		t.rows = callText(expr.AggCall{Func: expr.LookupAggregate("COUNT"), Filter: -1}, fields, retract) + " AS " + t.count
	}
	for i, s := range sets {
		t.sets = append(t.sets, "DISTINCT("+columnNames(fields, s)+") AS distinct$"+itoa(i))
	}
	return t
}

// localText is the select list of a local phase.
func localText(keys []int, aggs []expr.AggCall, fields []types.Field, retract, counts bool, more ...string) string {
	t := newPhaseTexts(aggs, fields, retract, counts)
	out := keyTexts(fields, keys)
	out = append(out, t.local...)
	if t.rows != "" {
		out = append(out, t.rows)
	}
	return strings.Join(slices.Concat(out, t.sets, more), ", ")
}

func keyTexts(fields []types.Field, keys []int) []string {
	var out []string
	for _, k := range keys {
		out = append(out, fields[k].Name)
	}
	return out
}

// globalText is the select list of a GroupAggregate that merges.
func (n *GroupAggregate) globalText() string {
	fields, keys, retract := n.Over()
	t := newPhaseTexts(n.Aggs, fields, retract, false)
	if inc, ok := below(n).(*IncrementalGroupAggregate); ok { // accumulators keep their names
		bucketed, _ := inc.Over()
		names := newPhaseTexts(inc.Aggs, bucketed, inc.Retract, false).names
		t = newPhaseTexts(n.Aggs, inc.Buckets, inc.Retract, false)
		for i := range t.merged {
			call, _, _ := strings.Cut(t.merged[i], "(")
			t.merged[i] = call + "(" + names[i] + ")"
		}
	}
	return strings.Join(t.results(fields, keys, n.Aggs), ", ")
}

// results are the keys and the merged aggregates under their names.
func (t *phaseTexts) results(fields []types.Field, keys []int, aggs []expr.AggCall) []string {
	out := keyTexts(fields, keys)
	for i, a := range aggs {
		out = append(out, t.merged[i]+" AS "+a.Name)
	}
	return out
}

// text is the select list of an IncrementalGroupAggregate.
func (n *IncrementalGroupAggregate) text() string {
	fields, _ := n.Over()
	t := newPhaseTexts(n.Aggs, fields, n.Retract, n.Retract)
	out := keyTexts(n.Buckets, n.FinalKeys)
	for i := range n.Aggs {
		out = append(out, t.merged[i]+" AS "+t.names[i])
	}
	if t.count != "" {
		out = append(out, "COUNT_RETRACT("+t.count+") AS "+t.count)
	}
	return strings.Join(out, ", ")
}
