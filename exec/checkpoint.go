package exec

import (
	"slices"
	"time"

	"runnel/plan"
	"runnel/state"
)

// checkpoint is what a task does when a barrier has reached it on all channels: held rows go out, every operator is
// snapshotted, the barrier goes on, and the coordinator hears of it. Nothing else runs in the task meanwhile.
func (t *task) checkpoint(b *barrier) error {
	began := time.Now()
	arrived := t.run.clock.Now()
	k := &ack{task: t, barrier: b, at: arrived, ops: make([]opAck, len(t.nodes))}
	if t.gate != nil {
		k.alignment = arrived.Sub(t.alignedFrom)
		k.startDelay = t.alignedFrom.Sub(b.trigger)
	} else {
		k.startDelay = arrived.Sub(b.trigger)
	}
	k.ended = true
	for _, n := range t.nodes {
		k.ended = k.ended && n.ended
	}
	for _, n := range t.nodes {
		if n.flusher == nil {
			continue
		}
		before := n.enter()
		if err := n.flusher.Flush(); err != nil {
			return n.fail(err)
		}
		t.at = before
	}
	for i, n := range t.nodes {
		t.at = n
		size, err := t.snapshot(n, b, &k.ops[i])
		if err != nil {
			return n.fail(err)
		}
		k.size += size
		k.fullSize += size
	}
	t.at = nil
	keyed := b.keep && t.freeze(b, k)
	for _, x := range t.outs {
		if err := x.control(element{kind: elemBarrier, barrier: b}); err != nil {
			return err
		}
	}
	k.sync = time.Since(began)
	if keyed {
		t.drain = &drain{ack: k}
	} else {
		t.run.coord.acknowledge(k)
	}
	return nil
}

// snapshot takes one operator's part, but for its keyed state, and gives its size in bytes.
func (t *task) snapshot(n *node, b *barrier, o *opAck) (size int64, err error) {
	o.spec = n.spec
	if t.source != nil && n == t.nodes[0] {
		if o.splits, err = t.source.snapshot(); err != nil {
			return 0, err
		}
		for _, s := range o.splits {
			size += int64(len(s.ID) + len(s.State))
		}
	}
	if n.snap != nil {
		p, err := n.snap.Snapshot()
		if err != nil {
			return 0, err
		}
		o.plain = slices.Clone(p)
	}
	if s, ok := n.op.(*sinkOp); ok {
		committables, state, err := s.prepare(b.id)
		if err != nil {
			return 0, err
		}
		o.writer = slices.Clone(state)
		for i, c := range committables {
			committables[i] = slices.Clone(c)
			size += int64(len(c))
		}
		if len(committables) > 0 {
			t.run.coord.prepared(n.spec, b.id, committables)
		}
	}
	return size + int64(len(o.plain)+len(o.writer)), nil
}

// hasKeyedState reports whether an operator may keep keyed state: those with a stable id, but for the ends of the graph.
func hasKeyedState(s *opSpec) bool {
	switch s.node.(type) {
	case *plan.Scan, *plan.Values, *plan.Collect:
		return false
	case *plan.Sink:
		return s.stage == stageMaterialize
	}
	return s.node.Base().StateID != ""
}

// restoreNode gives an operator what the snapshot holds for it, before it is opened.
func (a *attempt) restoreNode(n *node) error {
	if s, ok := n.op.(*sinkOp); ok {
		s.env = a.sinkEnv(n.spec, n.task.env(n))
	}
	if hasKeyedState(n.spec) {
		n.keyed = state.NewKeyed(state.Config{
			Operator: n.spec.name, Groups: state.RangeOf(n.task.subtask, n.spec.parallelism, a.graph.maxPar),
			Clock: func() int64 { return a.clock.Now().UnixMilli() }, Restore: a.restored.keyed(stateID(n.spec)),
		})
	}
	if n.snap != nil {
		if plain := a.restored.plain(stateID(n.spec)); plain != nil {
			return n.snap.Restore(plain)
		}
	}
	return nil
}
