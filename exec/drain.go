package exec

import (
	"time"

	"runnel/state"
)

// Between two batches records of keyed state are copied out, a step at a time, until drainTime has passed. What a step takes
// depends on how its records lie in memory: a twentieth of a millisecond, or ten times that.
const (
	drainStep = 512
	drainTime = time.Millisecond
)

// drain is a snapshot whose keyed state is still being copied out, between batches. The barrier has long gone on.
type drain struct {
	ack  *ack
	next int // the node to drain
	busy time.Duration
}

// freeze closes the epoch of every keyed state of the task. It reports whether there is any.
func (t *task) freeze(b *barrier, k *ack) (any bool) {
	k.sinks = make([]state.Sink, len(t.nodes))
	for i, n := range t.nodes {
		if n.keyed != nil {
			n.keyed.Freeze(state.Freeze{Checkpoint: b.id, Completed: b.completed, Savepoint: b.kind.isSavepoint()})
			k.sinks[i] = queuedSink{t.run.storer, t, k, b.sink(stateID(n.spec), t.subtask, n.keyed.Groups())}
			any = true
		}
	}
	return any
}

// spent notes a time in which rows waited.
func (d *drain) spent(took time.Duration) {
	d.busy += took
	d.ack.hold = max(d.ack.hold, took)
}

// drainSome copies out some steps, and acknowledges the checkpoint when everything is copied. It does nothing while the store
// is behind. What fails here is the checkpoint, not the task.
func (t *task) drainSome() {
	if !t.run.storer.room() {
		return
	}
	d := t.drain
	began := time.Now()
	for d.next < len(t.nodes) {
		n := t.nodes[d.next]
		if n.keyed == nil {
			d.next++
			continue
		}
		done, err := n.keyed.Drain(drainStep, d.ack.sinks[d.next])
		if err != nil {
			t.abandon(d.ack.barrier)
			t.run.coord.decline(d.ack.barrier, n.fail(err))
			return
		}
		if !done {
			if took := time.Since(began); took > drainTime || !t.run.storer.room() {
				d.spent(took)
				return
			}
			continue
		}
		o := &d.ack.ops[d.next]
		o.states = n.keyed.Snapshot()
		for _, h := range o.states {
			d.ack.size += h.NewBytes
			d.ack.fullSize += h.Bytes
		}
		d.next++
	}
	d.spent(time.Since(began))
	d.ack.async = d.busy
	t.drain = nil
	// Behind the last blob. An error means that the task is being cancelled.
	_ = t.run.storer.push(t.ctx, stored{ack: d.ack})
}

// abandon is the letter that gives up a checkpoint.
func (t *task) abandon(b *barrier) {
	if t.drain == nil || t.drain.ack.barrier != b {
		return
	}
	t.drain = nil
	for _, n := range t.nodes {
		if n.keyed != nil {
			n.keyed.Abort()
		}
	}
}
