package exec

import (
	"errors"
	"fmt"
	"sync/atomic"

	"runnel/exec/op"
	"runnel/state"
	"runnel/types"
)

// node is an operator instance within a task: the operator, what it counts, and where its results go. It is the op.Out
// of its operator.
type node struct {
	task *task
	spec *opSpec
	op   op.Operator
	// The optional powers of the operator, nil when it has none.
	timed   op.Timed
	waked   op.Waked
	flusher op.Flusher
	ender   op.Ender
	snap    op.Snapshotter
	limit   limiter // nil once it has been reached

	keyed *state.Keyed // nil for operators without keyed state
	links []link
	wakes int64       // processing time in ms of the next OnTime, types.MaxWatermark for none
	poked atomic.Bool // a letter is under way that calls OnWake

	recordsIn  atomic.Int64
	recordsOut atomic.Int64
	inputWM    []atomic.Int64
	outputWM   atomic.Int64
	open       int // inputs that have not ended
	opened     bool
	ended      bool
	metrics    metricSet
}

func newNode(t *task, spec *opSpec, o op.Operator) *node {
	inputs := max(1, len(spec.inputs))
	n := &node{task: t, spec: spec, op: o, wakes: types.MaxWatermark, open: inputs, inputWM: make([]atomic.Int64, inputs)}
	for i := range n.inputWM {
		n.inputWM[i].Store(types.MinWatermark)
	}
	n.outputWM.Store(types.MinWatermark)
	n.timed, _ = o.(op.Timed)
	n.waked, _ = o.(op.Waked)
	n.flusher, _ = o.(op.Flusher)
	n.ender, _ = o.(op.Ender)
	n.snap, _ = o.(op.Snapshotter)
	n.limit, _ = o.(limiter)
	return n
}

// limiter is an operator that may come to an end of its own: whatever else it gets, it gives nothing more.
type limiter interface{ Done() bool }

// OperatorError says which operator met a failure.
type OperatorError struct {
	Operator string
	Err      error
}

func (e *OperatorError) Error() string { return e.Operator + ": " + e.Err.Error() }

// Unwrap gives the cause.
func (e *OperatorError) Unwrap() error { return e.Err }

// fail puts the operator's name on an error, once.
func (n *node) fail(err error) error {
	if err == nil {
		return nil
	}
	var named *OperatorError
	var data *types.DataError
	switch {
	case errors.As(err, &named):
		return err
	case errors.As(err, &data):
		if data.Operator != "" {
			return err
		}
		c := *data
		c.Operator = n.spec.name
		if err == error(data) {
			return &c
		}
	}
	return &OperatorError{Operator: n.spec.name, Err: err}
}

// enter notes the operator that is at work, so that a panic can be put down to it; leave goes back to the caller's.
func (n *node) enter() (before *node) {
	before = n.task.at
	n.task.at = n
	return before
}

func (n *node) process(input int, b *types.Batch) error {
	n.recordsIn.Add(int64(b.Rows()))
	before := n.enter()
	if err := n.op.Process(input, b); err != nil {
		return n.fail(err)
	}
	n.task.at = before
	if m := len(b.Marks); m > 0 {
		n.inputWM[input].Store(b.Marks[m-1].Time)
	}
	n.checkLimit()
	return nil
}

// checkLimit says, once, when the operator has come to an end of its own.
func (n *node) checkLimit() {
	if n.limit != nil && n.limit.Done() {
		n.limit = nil
		n.task.run.coord.satisfied(n.spec)
	}
}

func (n *node) watermark(input int, ms int64) error {
	n.inputWM[input].Store(ms)
	before := n.enter()
	if err := n.op.Watermark(input, ms); err != nil {
		return n.fail(err)
	}
	n.task.at = before
	return nil
}

func (n *node) idle(input int, idle bool) error {
	before := n.enter()
	if err := n.op.Idle(input, idle); err != nil {
		return n.fail(err)
	}
	n.task.at = before
	return nil
}

// wake calls the operator's OnWake between two batches of the task. Any goroutine may call it.
func (n *node) wake() {
	if n.waked == nil || !n.poked.CompareAndSwap(false, true) {
		return
	}
	n.task.mail.post(func(t *task) error {
		n.poked.Store(false)
		if n.ended || !n.opened {
			return nil
		}
		before := n.enter()
		if err := n.waked.OnWake(); err != nil {
			return n.fail(err)
		}
		t.at = before
		return nil
	})
}

// endInput ends an input: held rows first, then EndInput, then the last watermark. When it was the last input, what
// follows in the chain ends too.
func (n *node) endInput(input int) error {
	before := n.enter()
	if n.flusher != nil {
		if err := n.flusher.Flush(); err != nil {
			return n.fail(err)
		}
	}
	if n.ender != nil {
		if err := n.ender.EndInput(input); err != nil {
			return n.fail(err)
		}
	}
	if err := n.watermark(input, types.MaxWatermark); err != nil {
		return err
	}
	n.task.at = before
	if n.open--; n.open > 0 {
		return nil
	}
	return n.endOutput()
}

func (n *node) endOutput() error {
	n.ended = true
	n.outputWM.Store(types.MaxWatermark)
	for _, l := range n.links {
		if err := l.end(); err != nil {
			return err
		}
	}
	return nil
}

// Emit hands a batch to all outlets.
func (n *node) Emit(b *types.Batch) error {
	n.recordsOut.Add(int64(b.Rows()))
	if m := len(b.Marks); m > 0 {
		n.outputWM.Store(b.Marks[m-1].Time)
	} else if b.Rows() == 0 {
		return nil
	}
	for _, l := range n.links {
		if err := l.emit(b); err != nil {
			return err
		}
	}
	return nil
}

// Watermark passes a watermark on. The last one is held back: it follows the end of the operator's output, see endInput.
func (n *node) Watermark(ms int64) error {
	if ms == types.MaxWatermark {
		return nil
	}
	n.outputWM.Store(ms)
	for _, l := range n.links {
		if err := l.watermark(ms); err != nil {
			return err
		}
	}
	return nil
}

// Idle passes idleness on.
func (n *node) Idle(idle bool) error {
	for _, l := range n.links {
		if err := l.idle(idle); err != nil {
			return err
		}
	}
	return nil
}

// currentWatermark is the lowest watermark of the inputs: CURRENT_WATERMARK in expressions.
func (n *node) currentWatermark() int64 {
	low := types.MaxWatermark
	for i := range n.inputWM {
		low = min(low, n.inputWM[i].Load())
	}
	return low
}

// direct is the link to the next operator of the chain: plain calls.
type direct struct {
	to    *node
	input int
}

func (d direct) emit(b *types.Batch) error { return d.to.process(d.input, b) }
func (d direct) watermark(ms int64) error  { return d.to.watermark(d.input, ms) }
func (d direct) idle(idle bool) error      { return d.to.idle(d.input, idle) }
func (d direct) end() error                { return d.to.endInput(d.input) }

// closeOp closes the operator, once, if it was opened.
func (n *node) closeOp() error {
	if !n.opened {
		return nil
	}
	n.opened = false
	if err := n.op.Close(); err != nil {
		return fmt.Errorf("closing %w", n.fail(err))
	}
	return nil
}
