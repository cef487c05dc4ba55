package op

import (
	"fmt"

	"runnel/expr"
	"runnel/types"
)

// LocalGrouping is what a LocalAggregate does.
type LocalGrouping struct {
	In        []types.Field
	Out       []types.Field // keys, accumulators
	Keys      []int
	Aggs      []expr.AggCall
	Retract   bool // the input may take rows back
	MiniBatch MiniBatch
}

// LocalAggregate is the first phase of an aggregation: it aggregates the rows of a bundle by key, and gives for each key one row
// with the accumulators, which a GroupAggregate behind an exchange merges. Rows that were given in earlier bundles may be taken
// back: accumulators here may be less than nothing. A bundle ends before a checkpoint, so there is no state.
type LocalAggregate struct {
	single
	bundle
	spec  LocalGrouping
	aggs  *aggregates
	keys  batchKeys
	codec *partials
	out   output

	rowsOf func(*types.Batch) error
	markOf func(int64) error
}

// NewLocalAggregate makes the operator.
func NewLocalAggregate(spec LocalGrouping) *LocalAggregate { return &LocalAggregate{spec: spec} }

// Open compiles the aggregates.
func (l *LocalAggregate) Open(ctx *Context) error {
	l.single.ctx = ctx
	var err error
	if l.aggs, err = newPartials(l.spec.Aggs, l.spec.In, l.spec.Retract, ctx.Env); err != nil {
		return err
	}
	l.bundle = newBundle(ctx, l.spec.MiniBatch, l.aggs.values)
	l.codec = newPartialCodec(l.aggs, len(l.spec.Aggs))
	l.keys = newBatchKeys(l.spec.In, l.spec.Keys, ctx.MaxParallelism)
	l.out = newOutput(ctx.Out, l.spec.Out)
	l.rowsOf, l.markOf = l.apply, l.mark
	return nil
}

// Process accumulates rows.
func (l *LocalAggregate) Process(_ int, b *types.Batch) error {
	if err := b.Segments(l.rowsOf, l.markOf); err != nil {
		return err
	}
	return l.out.flush()
}

func (l *LocalAggregate) mark(ms int64) error {
	if l.ends(ms) {
		if err := l.give(); err != nil {
			return err
		}
	}
	l.out.mark(ms)
	return nil
}

// Watermark passes the watermark on, behind the bundle that it ends.
func (l *LocalAggregate) Watermark(_ int, ms int64) error {
	if err := l.mark(ms); err != nil {
		return err
	}
	return l.out.flush()
}

func (l *LocalAggregate) apply(b *types.Batch) error {
	l.keys.encode(b)
	l.aggs.begin(b)
	for k, i := range b.Live() {
		if err := l.row(b, k, i); err != nil {
			if err := l.give(); err != nil {
				return err
			}
			return dataError(l.single.ctx, &types.RowError{Row: i, Err: err}, l.spec.In, b)
		}
		if l.full() {
			if err := l.give(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *LocalAggregate) row(b *types.Batch, k int, i int32) error {
	g := group{m: l.seen}
	g.ref, _ = g.m.Upsert(l.keys.at(k))
	g.words = g.m.Touch(g.ref)
	if b.Kind(i).Retract() {
		return l.aggs.take(&g, b, k, i)
	}
	return l.aggs.add(&g, b, k, i)
}

// Flush gives the bundle.
func (l *LocalAggregate) Flush() error {
	if err := l.give(); err != nil {
		return err
	}
	return l.out.flush()
}

// OnTime ends a bundle.
func (l *LocalAggregate) OnTime(ms int64) error {
	l.tick(ms)
	return l.Flush()
}

// give puts out the accumulators of every key of the bundle, and begins a new one.
func (l *LocalAggregate) give() error {
	n := len(l.spec.Keys)
	g := group{m: l.seen}
	for g.ref = g.m.First(); g.ref != 0; g.ref = g.m.Next(g.ref) {
		g.words = g.m.Get(g.ref)
		if err := l.keys.codec.Decode(g.m.Key(g.ref), l.out.Cols[:n]); err != nil {
			return fmt.Errorf("%s: %w", l.single.ctx.Name, err)
		}
		l.out.Cols[n].AppendStr(l.codec.write(&g))
		if err := l.out.pushed(types.Insert); err != nil {
			return err
		}
	}
	l.reset()
	return nil
}
