package exec

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	"runnel/connectors"
	"runnel/exec/op"
	"runnel/plan"
	"runnel/types"
)

// task is one subtask of a fused group of vertices: one goroutine that owns its operators, edges and gate. Others talk to
// it through its mailbox only.
type task struct {
	run     *attempt
	spec    *taskSpec
	subtask int
	ctx     context.Context

	source *sourceLoop // a task has either a source
	gate   *gate       // or a gate
	nodes  []*node     // in topological order; nodes[0] is fed by source or gate
	outs   []*exchange
	sinks  []*node // those of nodes that are writers
	at     *node   // the operator at work

	mail  mailbox[letter]
	state taskState
	gone  atomic.Bool // its goroutine has ended

	idleTime meter        // waiting for input
	waitTime meter        // waiting for credit: backpressured
	began    atomic.Int64 // real time in Unix ns at which the task was running
	finished atomic.Int64 // and at which it ended
	rates    rateMeter

	wakesAt   int64       // processing time in ms for which the clock's timer is set
	stopTimer func()      // ends that timer
	rang      atomic.Bool // it has fired
	lastFlush time.Time

	drain       *drain    // the snapshot whose keyed state is still being copied out
	alignedFrom time.Time // when the first channel delivered the barrier being aligned
}

// letter is a message to a task, worked on between batches by the task's goroutine.
type letter func(t *task) error

// errStopped ends a task's loop in good order.
var errStopped = errors.New("task stopped")

// main is the task's goroutine. A panic becomes the failure of the operator that was at work.
func (t *task) main() (err error) {
	defer func() {
		if p := recover(); p != nil {
			name := t.spec.name()
			if t.at != nil {
				name = t.at.spec.name
			}
			err = &OperatorError{Operator: name, Err: &PanicError{Value: p, Stack: debug.Stack()}}
		}
		if cerr := t.close(); cerr != nil && err == nil {
			err = cerr
		}
	}()
	t.state.set(TaskInitializing, t.run.clock.Now())
	if err := t.open(); err != nil {
		return err
	}
	t.state.set(TaskRunning, t.run.clock.Now())
	t.began.Store(time.Now().UnixNano())
	defer func() { t.finished.Store(time.Now().UnixNano()) }()
	t.run.running(t)
	if t.source != nil {
		err = t.source.loop()
	} else {
		err = t.gateLoop()
	}
	if errors.Is(err, errStopped) {
		return nil
	}
	return err
}

// PanicError is a panic of an operator or connector: a bug, kept from taking the process down.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// open opens the operators from the end of the chain to its head, so that nobody is handed rows before it is open.
func (t *task) open() error {
	for i := len(t.nodes) - 1; i >= 0; i-- {
		n := t.nodes[i]
		t.at = n
		if err := t.run.restoreNode(n); err != nil {
			return &onceError{n.fail(err)}
		}
		n.opened = true
		if err := n.op.Open(t.context(n)); err != nil {
			if n.keyed != nil && t.run.restored != nil {
				return &onceError{n.fail(err)} // what does not fit or is damaged stays so
			}
			return n.fail(err)
		}
	}
	t.at = nil
	for _, n := range t.nodes {
		n.checkLimit()
	}
	if t.source != nil {
		return t.source.open()
	}
	return nil
}

// close closes the operators and waits for whatever they started.
func (t *task) close() error {
	var first error
	if t.source != nil {
		first = t.source.close()
	}
	for _, n := range t.nodes {
		if err := n.closeOp(); err != nil && first == nil {
			first = err
		}
	}
	if t.stopTimer != nil {
		t.stopTimer()
	}
	return first
}

// context makes what an operator sees of the engine.
func (t *task) context(n *node) *op.Context {
	c := t.run.operatorContext(n)
	c.Ctx, c.Subtask, c.Of, c.State = t.ctx, t.subtask, t.spec.parallelism, n.keyed
	c.Spill = t.run.spill(n.spec, t.subtask)
	c.Log = t.run.log.With("operator", n.spec.name, "subtask", t.subtask)
	c.WakeAt, c.Wake = n.wakeAt, n.wake
	if t.run.job.cluster.opts.Check {
		c.Out = op.NewChecker(n, op.Check{Fields: n.spec.fields, Mode: n.spec.node.Base().Mode, Pairs: pairs(n.spec.node)})
	}
	return c
}

// pairs reports whether an operator gives every -U with its +U right behind it.
func pairs(n plan.Node) bool {
	switch n := n.(type) {
	case *plan.GroupAggregate, *plan.ChangelogNormalize:
		return true
	case *plan.Deduplicate:
		return n.Last
	case *plan.Rank:
		return n.Number
	}
	return false
}

// env makes what a connector sees of the engine.
func (t *task) env(n *node) connectors.Env {
	return t.run.connectorEnv(n.spec, t.subtask, t.spec.parallelism, n.metrics.gauge)
}

func (n *node) wakeAt(ms int64) {
	n.wakes = min(n.wakes, ms)
	n.task.wakeAt(ms)
}

// wakeAt sets the clock's timer so that the task looks at its timers at the given processing time.
func (t *task) wakeAt(ms int64) {
	if ms >= t.wakesAt {
		return
	}
	if t.stopTimer != nil {
		t.stopTimer()
	}
	t.wakesAt = ms
	d := time.UnixMilli(ms).Sub(t.run.clock.Now())
	t.stopTimer = t.run.clock.AfterFunc(max(0, d), func() {
		t.rang.Store(true)
		t.mail.poke()
	})
}

// timers calls the operators whose time has come.
func (t *task) timers() error {
	if t.wakesAt == types.MaxWatermark {
		return nil
	}
	now := t.run.clock.Now().UnixMilli()
	at := t.wakesAt
	if now < at && !t.rang.Load() {
		return nil
	}
	t.rang.Store(false)
	t.wakesAt = types.MaxWatermark
	if now < at {
		t.wakeAt(at) // the clock was set back
		return nil
	}
	next := types.MaxWatermark
	for _, n := range t.nodes {
		if n.wakes <= now {
			n.wakes = types.MaxWatermark
			if n.timed != nil {
				before := n.enter()
				if err := n.timed.OnTime(now); err != nil {
					return n.fail(err)
				}
				t.at = before
			}
		}
		next = min(next, n.wakes)
	}
	if t.source != nil {
		if err := t.source.onTime(now); err != nil {
			return err
		}
	}
	if next < t.wakesAt {
		t.wakeAt(next)
	}
	return nil
}

// between does what may happen between two batches: letters, timers, draining of frozen state, the buffer timeout.
func (t *task) between() error {
	if t.ctx.Err() != nil {
		return context.Cause(t.ctx)
	}
	for _, l := range t.mail.take() {
		if err := l(t); err != nil {
			return err
		}
	}
	if err := t.timers(); err != nil {
		return err
	}
	if t.drain != nil {
		t.drainSome()
	}
	if timeout := t.run.cfg.BufferTimeout; timeout >= 0 {
		if now := time.Now(); now.Sub(t.lastFlush) >= timeout {
			t.lastFlush = now
			return t.flush()
		}
	}
	return nil
}

// dry is called when the input has nothing more: what was gathered goes out, and frozen state is drained to its end.
// again reports that there is more to do before waiting.
func (t *task) dry() (again bool, err error) {
	if err := t.flush(); err != nil {
		return false, err
	}
	return t.drain != nil && t.run.storer.room(), nil
}

// flush hands on what edges and writers have gathered.
func (t *task) flush() error {
	for _, x := range t.outs {
		if err := x.flush(); err != nil {
			return err
		}
	}
	for _, n := range t.sinks {
		if err := n.op.(*sinkOp).flush(); err != nil {
			return n.fail(err)
		}
	}
	return nil
}

// gateLoop is the life of a task that is fed by other tasks.
func (t *task) gateLoop() error {
	g := t.gate
	for g.live > 0 {
		if err := t.between(); err != nil {
			return err
		}
		el, ok := g.next()
		if !ok {
			again, err := t.dry()
			if err != nil {
				return err
			}
			if again {
				continue
			}
			t.await()
			continue
		}
		if el.kind != elemBarrier {
			if err := g.deliver(el, t.nodes[0]); err != nil {
				return err
			}
			continue
		}
		if t.gate.aligning == nil {
			t.alignedFrom = t.run.clock.Now()
		}
		if g.arrive(el) {
			if err := t.checkpoint(el.barrier); err != nil {
				return err
			}
			g.release()
		}
	}
	return t.stop()
}

// await blocks until an element, a poke or the end of the task. A received element is put into its channel's queue.
func (t *task) await() {
	t.idleTime.begin()
	defer t.idleTime.end()
	select {
	case el := <-t.gate.in:
		t.gate.keep(el)
	case <-t.mail.wake:
	case <-t.ctx.Done():
	}
}

// stop tells everybody downstream that nothing follows.
func (t *task) stop() error {
	for _, x := range t.outs {
		if err := x.control(element{kind: elemStop}); err != nil {
			return err
		}
	}
	return errStopped
}
