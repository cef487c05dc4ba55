package plan

// givesMore is gives for the operators over ranks, time and windows; ok is false for the others.
func (m *modes) givesMore(n Node, in []changes) (given changes, ok bool) {
	return 0, false
}

// encodeMore is encode for the same operators.
func (m *modes) encodeMore(n Node, want encoding) (*choice, bool) {
	switch n := n.(type) {
	case *Union:
		return m.encodeUnion(n, want), true
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
	if keys := m.updateFastKey(n); keys != nil {
		if c := m.with(n, want, onlyAfter); c != nil {
			c.strategy = UpdateFast
			m.setKey(n, keys)
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
	if n, ok := c.node.(*SortLimit); ok {
		n.Strategy = c.strategy
	}
}

// updateFastKey gives the upsert key by which a top-N may replace rows in place: it contains the partition key, and the
// order improves with every update. nil when there is none.
func (m *modes) updateFastKey(n Node) []int { return nil }

func (m *modes) setKey(n Node, key []int) {}
