package plan

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
	keys := containing(m.keys.within(in), partition)
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
