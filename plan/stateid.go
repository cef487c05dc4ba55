package plan

import "strings"

// stateIDs names the state of every operator that keeps some. A name is made of the sink's table, the kind of operator and
// its place among the stateful ones on the way from the sink: calcs, exchanges and the like do not enter it, so that a
// savepoint survives an added filter. Where the way forks, the number of the input goes with it.
func stateIDs(g *Graph) {
	used := map[string]int{}
	for _, s := range g.Sinks {
		name := "select"
		if sink, ok := s.(*Sink); ok {
			name = sink.Table.Name
		}
		if used[name]++; used[name] > 1 {
			name += "#" + itoa(used[name])
		}
		nameStates(s, name, 0, "")
	}
}

// nameStates names the states of n and below. depth counts the stateful operators above, fork the inputs taken on the way.
func nameStates(n Node, sink string, depth int, fork string) {
	b := n.Base()
	if b.StateID != "" {
		return // shared: it has the name of its first sink
	}
	if word, counts := stateWord(n); word != "" {
		place := depth
		if counts {
			depth++
			place = depth
		}
		b.StateID = sink + "/" + word + "-" + itoa(place) + fork
	}
	for i, in := range b.Inputs {
		f := fork
		if len(b.Inputs) > 1 {
			f += "." + itoa(i)
		}
		nameStates(in, sink, depth, f)
	}
}

// stateWord gives the word for a node's kind, "" for a stateless one; counts tells whether it counts as a place on the way.
func stateWord(n Node) (word string, counts bool) {
	switch n := n.(type) {
	case *Sink:
		return "Sink", false
	case *Collect, *Calc, *Exchange, *Union, *Expand, *DropUpdateBefore, *Values, *Correlate, *MiniBatchAssigner, *LocalGroupAggregate, *LocalWindowAggregate:
		return "", false
	case *GroupAggregate, *IncrementalGroupAggregate: // in any number of phases
		return "GroupAggregate", true
	case *WindowAggregate:
		return "WindowAggregate", true
	case *Scan:
		table := n.Table.Name
		return "Source(" + table[strings.LastIndexByte(table, '.')+1:] + ")", false
	case *WatermarkAssigner:
		return "WatermarkAssigner", false
	case *LookupJoin:
		if n.Async == nil && !n.Materialize {
			return "", false
		}
	case *WindowTableFunction:
		if n.Window.Kind != Session {
			return "", false
		}
	}
	return n.Base().Kind, true
}
