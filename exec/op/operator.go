package op

import (
	"context"
	"log/slog"
	"time"

	"runnel/expr"
	"runnel/state"
	"runnel/types"
)

// Operator is one operator instance (one subtask of one operator). Calls come from one goroutine, in this order: Open
// once; then Process, Watermark and Idle of its inputs in the order in which those things arrived, mixed with calls of
// the optional powers below; Close once, also after an error. Any error ends the task.
//
// What the operator has to say goes to its Context's Out, during any of these calls.
type Operator interface {
	Open(ctx *Context) error
	// Process takes rows of an input. The batch is borrowed (see types.Batch). An operator that uses time walks the
	// batch's Segments; a stateless one passes the marks on with the rows. Marks of one input have not been combined
	// with those of other inputs: that is the operator's work (see Clock).
	Process(input int, b *types.Batch) error
	// Watermark tells that an input's event time has reached ms. It never decreases per input.
	Watermark(input int, ms int64) error
	// Idle tells that an input no longer takes part in the watermark (true), or does again (false). Rows and watermarks
	// of an idle input are preceded by Idle(false).
	Idle(input int, idle bool) error
	Close() error
}

// Out is where an operator's results go: the next operator of the chain, an exchange, or several of them.
type Out interface {
	// Emit hands over a batch. It is valid again for its owner when the call returns.
	Emit(b *types.Batch) error
	Watermark(ms int64) error
	Idle(idle bool) error
}

// Context is what an operator instance gets from the engine.
type Context struct {
	Ctx     context.Context // ends when the task is cancelled
	Name    string          // as the dashboard shows it, e.g. GroupAggregate[4]
	Out     Out
	Env     *expr.Env
	Subtask int
	Of      int // parallelism
	Log     *slog.Logger
	// State is the keyed state of this subtask; an operator registers its states in Open. nil for operators without a
	// plan.Info.StateID.
	State *state.Keyed
	// MaxParallelism is the number of key groups of the job.
	MaxParallelism int
	// Now is the processing time of the job's clock.
	Now func() time.Time
	// WakeAt asks for a call of OnTime (see Timed) at or after the given processing time in ms. An earlier wish replaces
	// a later one.
	WakeAt func(ms int64)
	// Wake asks for a call of OnWake (see Waked). It may be called by any goroutine, also behind the operator's end.
	Wake func()
	// Counter makes a metric of the operator, e.g. numLateRecordsDropped. The operator adds to it from its own goroutine.
	Counter func(name string) *Counter
	// Spill bounds what an operator of batch mode holds in memory.
	Spill Spill
	// Gauge makes a metric that is asked for; f must be safe to call from another goroutine.
	Gauge func(name string, f func() int64)
}

// Timed is an operator with processing-time timers. OnTime comes between batches with the current processing time in ms.
type Timed interface{ OnTime(ms int64) error }

// Waked is an operator for which things happen outside: OnWake comes between batches after a call of Context.Wake.
type Waked interface{ OnWake() error }

// Flusher is an operator that holds rows back (mini-batch). Flush comes before a barrier's snapshot and at end of input.
type Flusher interface{ Flush() error }

// Ender is an operator that does something when a bounded input ends (sort, batch aggregation). EndInput comes after the
// input's last row; the watermark types.MaxWatermark follows it, unless the job is stopped without drain.
type Ender interface{ EndInput(input int) error }

// Snapshotter is an operator with state that belongs to no key, e.g. its watermark. Snapshot is called at the barrier and
// must be quick; Restore comes before Open with the snapshots of all former subtasks.
type Snapshotter interface {
	Snapshot() ([]byte, error)
	Restore(snapshots [][]byte) error
}
