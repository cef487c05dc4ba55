package plan

import (
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"runnel/expr"
	"runnel/types"
)

// origins says of every column of the graph where its values come from: a column of a table, or an expression over such.
// State is recognised by it after a restart (design.md 4): another name for the same column makes no difference, and
// another column under the same name does. The nodes stand below those that read them.
func origins(g *Graph) {
	for _, n := range g.Nodes {
		b := n.Base()
		in := originsIn(n)
		b.Fields = slices.Clone(b.Fields)
		for i := range b.Fields {
			b.Fields[i].Origin = shortOrigin(sourceOf(n, i, in))
		}
	}
}

// originsIn gives the columns over which the expressions and calls of a node stand.
func originsIn(n Node) []types.Field {
	switch n := n.(type) {
	case *GroupAggregate:
		over, _, _ := n.Over()
		return byOrigin(over)
	case *WindowAggregate:
		over, _, _ := n.Over()
		return byOrigin(over)
	case *IncrementalGroupAggregate:
		n.bucketOrigins()
		return byOrigin(n.Buckets)
	}
	var in []types.Field
	for _, c := range n.Base().Inputs {
		in = append(in, byOrigin(c.Base().Fields)...)
	}
	return in
}

// byOrigin gives fields as expressions over them are written.
func byOrigin(fields []types.Field) []types.Field {
	out := slices.Clone(fields)
	for i := range out {
		out[i].Name = out[i].Origin
	}
	return out
}

// bucketOrigins gives the columns of the aggregation by buckets their origins.
func (n *IncrementalGroupAggregate) bucketOrigins() {
	over, keys := n.Over()
	in := byOrigin(over)
	n.Buckets = slices.Clone(n.Buckets)
	for i := range n.Buckets {
		n.Buckets[i].Origin = shortOrigin(groupOrigin(n, keys, n.Aggs, i, in))
	}
}

// sourceOf gives the origin of the i-th column of n, which reads the columns in, those of all its inputs.
func sourceOf(n Node, i int, in []types.Field) string {
	f := n.Base().Fields[i]
	switch n := n.(type) {
	case *Scan:
		return n.Table.Name + "." + f.Name
	case *Calc:
		return renamedBy(n.Exprs[i], in).String()
	case *Union:
		return unionOrigin(n, i)
	case *GroupAggregate:
		_, keys, _ := n.Over()
		return groupOrigin(n, keys, n.Aggs, i, in)
	case *LocalGroupAggregate:
		return groupOrigin(n, n.Keys, nil, i, in)
	case *IncrementalGroupAggregate:
		return groupOrigin(n, n.FinalKeys, nil, i, in)
	case *WindowAggregate:
		_, keys, _ := n.Over()
		return groupOrigin(n, keys, n.Aggs, i, in)
	case *LocalWindowAggregate:
		return groupOrigin(n, n.Keys, nil, i, in)
	case *GroupWindowAggregate:
		return groupOrigin(n, n.Keys, n.Aggs, i, in)
	case *Match:
		return groupOrigin(n, n.Keys, nil, i, in)
	case *LookupJoin:
		if i >= len(in) {
			return n.Table.Name + "." + f.Name
		}
		return in[i].Origin
	case *Expand, *Values:
	default: // the columns of the inputs, and new ones behind them
		if i < len(in) {
			return in[i].Origin
		}
	}
	return n.Base().Kind + "." + f.Name
}

// groupOrigin is the origin of the i-th column of an aggregation: a key, a call, or one of the window.
func groupOrigin(n Node, keys []int, aggs []expr.AggCall, i int, in []types.Field) string {
	switch {
	case i < len(keys):
		return in[keys[i]].Origin
	case i < len(keys)+len(aggs):
		return aggs[i-len(keys)].Origin(in)
	}
	return strings.TrimPrefix(n.Base().Kind, "Global") + "." + n.Base().Fields[i].Name
}

// unionOrigin is that of all inputs, or the list of theirs.
func unionOrigin(n *Union, i int) string {
	var all []string
	for _, in := range n.Inputs {
		if o := in.Base().Fields[i].Origin; !slices.Contains(all, o) {
			all = append(all, o)
		}
	}
	return strings.Join(all, " | ")
}

const maxOrigin = 160 // bytes of an origin's text

// shortOrigin keeps origins from growing with every expression over an expression: a long one ends in a hash of all of it.
func shortOrigin(s string) string {
	if len(s) <= maxOrigin {
		return s
	}
	h := fnv.New64a()
	h.Write([]byte(s))
	return strings.ToValidUTF8(s[:maxOrigin-20], "") + ".." + strconv.FormatUint(h.Sum64(), 16)
}
