package op

import (
	"math"

	"runnel/types"
)

// IncrementalAggregate merges the accumulators of a LocalAggregate into its own, as a GroupAggregate does, and gives what a bundle
// has changed not as rows but aggregated again, by other keys: rows of keys and accumulators for the next GroupAggregate.
type IncrementalAggregate struct {
	*GroupAggregate
	final *LocalAggregate
}

// NewIncrementalAggregate makes the operator. final aggregates what merge gives.
func NewIncrementalAggregate(merge Grouping, final LocalGrouping) *IncrementalAggregate {
	merge.Merge, merge.UpdateBefore = true, true
	final.In, final.Retract = merge.Out, true
	final.MiniBatch = MiniBatch{Size: math.MaxInt64} // it gives what it has when a bundle of the other ends
	return &IncrementalAggregate{NewGroupAggregate(merge), NewLocalAggregate(final)}
}

// Open opens both.
func (a *IncrementalAggregate) Open(ctx *Context) error {
	if err := a.final.Open(ctx); err != nil {
		return err
	}
	inner := *ctx
	inner.Out = intoLocal{a.final}
	if err := a.GroupAggregate.Open(&inner); err != nil {
		return err
	}
	a.mini.ended = a.final.Flush
	return nil
}

// intoLocal lets a LocalAggregate take what an operator gives.
type intoLocal struct{ to *LocalAggregate }

func (o intoLocal) Emit(b *types.Batch) error { return o.to.Process(0, b) }

func (o intoLocal) Watermark(ms int64) error { return o.to.Watermark(0, ms) }

func (o intoLocal) Idle(idle bool) error { return o.to.Idle(0, idle) }
