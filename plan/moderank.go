package plan

import (
	"runnel/types"
)

// givesMore is gives for the operators over ranks, time and windows; ok is false for the others.
func (m *modes) givesMore(n Node, in []changes) (given changes, ok bool) {
	switch n := n.(type) {
	case *Rank:
		if m.p.batch {
			return inserts, true
		}
		return allChanges, true
	case *GroupWindowAggregate:
		if n.Early != nil || n.Late != nil {
			return inserts | updates, true
		}
		return inserts, true
	case *TemporalJoin:
		return in[0], true
	case *Deduplicate:
		if !n.Rowtime && !n.Last {
			return inserts, true
		}
		return allChanges, true
	}
	return 0, false
}

// encodeMore is encode for the same operators.
func (m *modes) encodeMore(n Node, want encoding) (*choice, bool) {
	switch n := n.(type) {
	case *Union:
		return m.encodeUnion(n, want), true
	case *Rank:
		return m.encodeRank(n, want), true
	case *GroupWindowAggregate:
		return m.with(n, want, beforeAndAfter), true
	case *TemporalJoin:
		left := m.encode(n.Inputs[0], want)
		if left == nil {
			return nil, true
		}
		right := m.encode(n.Inputs[1], onlyAfter)
		if right == nil {
			right = m.encode(n.Inputs[1], beforeAndAfter)
		}
		if right == nil {
			return nil, true
		}
		return &choice{node: n, enc: left.enc, in: []*choice{left, right}}, true
	}
	return nil, false
}

// encodeUnion asks the updating inputs for one encoding.
func (m *modes) encodeUnion(n *Union, want encoding) *choice {
	c := &choice{node: n, enc: want}
	for _, i := range n.Inputs {
		in := m.encode(i, want)
		if in == nil {
			return nil
		}
		c.in = append(c.in, in)
	}
	return c
}

// encodeRank tries the strategies of a top-N in order of their cost.
func (m *modes) encodeRank(n Node, want encoding) *choice {
	if m.p.batch {
		return m.with(n, noUpdates, noUpdates)
	}
	if m.got[n.Base().Inputs[0]] == inserts {
		c := m.with(n, want, noUpdates)
		if c != nil {
			c.strategy = AppendFast
		}
		return c
	}
	if key := m.updateFastKey(n); key != nil {
		if c := m.with(n, want, onlyAfter); c != nil {
			c.strategy, c.key = UpdateFast, key
			return c
		}
	}
	c := m.with(n, want, beforeAndAfter)
	if c != nil {
		c.strategy = Retract
	}
	return c
}

// strategy writes the strategy of a choice into its node.
func (m *modes) strategy(c *choice) {
	switch n := c.node.(type) {
	case *SortLimit:
		n.Strategy, n.Key = c.strategy, c.key
	case *Rank:
		n.Strategy, n.Key = c.strategy, c.key
	}
}

// updateFastKey gives the upsert key by which a top-N may replace rows in place: it contains the partition key, and every
// update moves its row towards the first rank or leaves it there. nil when there is none.
func (m *modes) updateFastKey(n Node) []int {
	var order []SortKey
	var partition []int
	switch n := n.(type) {
	case *SortLimit:
		order = n.Keys
	case *Rank:
		order, partition = n.Order, n.Keys
	}
	in := n.Base().Inputs[0]
	trends := m.trendsOf(in)
	if trends == nil || len(order) == 0 {
		return nil
	}
	for _, k := range order {
		t := trends[k.Column]
		if !(t == steady || t == rising && k.Desc || t == falling && !k.Desc) {
			return nil
		}
	}
	// The exchange in front hands on the keys that contain what it distributes by.
	keys := containing(m.keys.upsert(skipExchange(in)), partition)
	var best []int
	for _, k := range keys {
		if len(k) > 0 && (best == nil || len(k) < len(best)) {
			best = k
		}
	}
	return best
}

func skipExchange(n Node) Node {
	if e, ok := n.(*Exchange); ok {
		return e.Inputs[0]
	}
	return n
}

// insertsOnly reports whether a node's changes are inserts.
func insertsOnly(n Node) bool { return n.Base().Mode == types.InsertOnly }
