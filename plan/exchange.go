package plan

import (
	"runnel/types"
)

// exchange moves rows between subtasks in front of a node.
func exchange(in Node, dist Distribution, keys []int) Node {
	b := in.Base()
	e := &Exchange{Dist: dist, Keys: keys}
	e.Kind, e.Inputs, e.Fields, e.Pos = "Exchange", []Node{in}, b.Fields, b.Pos
	return e
}

// hashed distributes by keys; without any, all rows go to one subtask.
func hashed(in Node, keys []int) Node {
	if len(keys) == 0 {
		return exchange(in, Singleton, nil)
	}
	return exchange(in, HashKeys, keys)
}

// exchanges puts in front of a node what its state needs: all rows of a key in one place.
func (p *planning) exchanges(n Node) Node {
	in := n.Base().Inputs
	switch n.(type) {
	case *Sort, *TemporalSort, *SortLimit, *Limit:
		in[0] = exchange(in[0], Singleton, nil)
		return n
	}
	if keys, ok := partition(n); ok {
		in[0] = hashed(in[0], keys)
	} else if left, right, ok := sides(n); ok {
		in[0], in[1] = hashed(in[0], left), hashed(in[1], right)
	}
	return n
}

// partition gives the columns by which an operator divides its rows.
func partition(n Node) (keys []int, ok bool) {
	switch n := n.(type) {
	case *ChangelogNormalize:
		return n.Keys, true
	case *GroupAggregate:
		return n.Keys, true
	case *WindowAggregate:
		return n.Keys, true
	case *GroupWindowAggregate:
		return n.Keys, true
	case *Rank:
		return n.Keys, true
	case *Deduplicate:
		return n.Keys, true
	case *WindowRank:
		return n.Keys, true
	case *WindowDeduplicate:
		return n.Keys, true
	case *OverAggregate:
		return n.Keys, true
	case *Match:
		return n.Keys, true
	case *WindowTableFunction:
		return n.Window.Partition, n.Window.Kind == Session
	}
	return nil, false
}

// sides gives the columns that a join compares.
func sides(n Node) (left, right []int, ok bool) {
	switch n := n.(type) {
	case *Join:
		return n.LeftKeys, n.RightKeys, true
	case *IntervalJoin:
		return n.LeftKeys, n.RightKeys, true
	case *TemporalJoin:
		return n.LeftKeys, n.RightKeys, true
	case *WindowJoin:
		return n.LeftKeys, n.RightKeys, true
	}
	return nil, nil, false
}

// parallelism settles how many subtasks a node has: what a singleton exchange gives goes to one, and so does everything
// above it up to the next exchange. Where two parallelisms meet without an exchange, one is put in.
func (p *planning) parallelism(n Node) {
	b := n.Base()
	switch n := n.(type) {
	case *Scan:
		return
	case *Values:
		b.Parallelism = 1
		return
	case *Exchange:
		b.Parallelism = 0
		if n.Dist == Singleton {
			b.Parallelism = 1
		}
		return
	case *Collect:
		b.Parallelism = 1
	case *Sink:
		if b.Parallelism == 0 {
			b.Parallelism = b.Inputs[0].Base().Parallelism
		}
	case *Union:
		b.Parallelism = unionParallelism(n)
	default:
		b.Parallelism = b.Inputs[0].Base().Parallelism
		if s, ok := b.Inputs[0].(*Scan); ok && s.Parallelism > 1 && b.Kind != "MiniBatchAssigner" {
			b.Parallelism = 0 // the source's own parallelism is its own
		}
	}
	for i, in := range b.Inputs {
		ib := in.Base()
		if _, ok := in.(*Exchange); ok {
			ib.Parallelism = b.Parallelism
			continue
		}
		if ib.Parallelism == b.Parallelism {
			continue
		}
		var x Node
		switch {
		case b.Parallelism == 1:
			x = exchange(in, Singleton, nil)
		case ib.Mode == types.InsertOnly || len(ib.UpsertKeys) == 0:
			x = exchange(in, Rebalance, nil)
		default:
			x = exchange(in, HashKeys, ib.UpsertKeys[0])
		}
		x.(*Exchange).hidden = true
		xb := x.Base()
		xb.Mode, xb.Parallelism, xb.UpsertKeys = ib.Mode, b.Parallelism, ib.UpsertKeys
		xb.Desc = describe(x)
		b.Inputs[i] = x
	}
}

// unionParallelism is that of the inputs; where they differ, one subtask if the order of updates counts, else the default.
func unionParallelism(n *Union) int {
	first, same, inserts := n.Inputs[0].Base().Parallelism, true, true
	for _, in := range n.Inputs {
		same = same && in.Base().Parallelism == first
		inserts = inserts && in.Base().Mode == types.InsertOnly
	}
	switch {
	case same:
		return first
	case inserts:
		return 0
	}
	return 1
}
