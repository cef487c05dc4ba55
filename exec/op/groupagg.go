package op

import (
	"time"

	"runnel/expr"
	"runnel/state"
	"runnel/types"
)

// Grouping is what a GroupAggregate does.
type Grouping struct {
	In           []types.Field
	Out          []types.Field // keys, then aggregates
	Keys         []int
	Aggs         []expr.AggCall // none: DISTINCT
	Retract      bool           // the input may take rows back
	UpdateBefore bool           // -U is wanted in front of +U
	TTL          time.Duration  // of the state, 0 for ever
	MiniBatch    MiniBatch
	// Merge: what comes in are the keys and the accumulators of a LocalAggregate, whose input has the columns In.
	Merge bool
}

// GroupAggregate keeps one accumulator record per key and gives, for every row and in input order, what the row changes:
// +I for the first row of a key, -U and +U when a result changes, -D when the last row is taken back, nothing when the
// result stays as it was. With a TTL an unchanged result is given again, so that the state behind lives on. A retraction
// for an unknown key is ignored. In batch mode it is a BatchAggregate.
type GroupAggregate struct {
	single
	spec  Grouping
	batch *BatchAggregate // nil in streaming mode
	aggs  *aggregates

	keys  batchKeys
	table *state.Table
	rows  []int32         // of the current batch, one per output row
	prev  []*types.Column // the previous result, when -U is not wanted
	news  []*types.Column // the aggregate columns of out
	out   output
	runs  *groupRuns       // nil where rows are applied one by one
	mini  *bundleAggregate // nil without mini-batches
	sel   []int32

	rowsOf func(*types.Batch) error
	markOf func(int64) error
}

// NewGroupAggregate makes the operator.
func NewGroupAggregate(spec Grouping) *GroupAggregate { return &GroupAggregate{spec: spec} }

// Open compiles the aggregates.
func (g *GroupAggregate) Open(ctx *Context) error {
	g.ctx = ctx
	if ctx.Env.Batch {
		g.batch = NewBatchAggregate(g.spec)
		return g.batch.Open(ctx)
	}
	var err error
	if g.aggs, err = newAggregates(g.spec.Aggs, g.spec.In, g.spec.Retract, ctx.Env); err != nil {
		return err
	}
	if g.spec.TTL == 0 && !g.spec.Retract { // groups stay for ever, and what they have seen with them
		g.aggs.loosen()
	}
	g.out = newOutput(ctx.Out, g.spec.Out)
	n := len(g.spec.Keys)
	g.keys = newBatchKeys(g.spec.In, g.spec.Keys, ctx.MaxParallelism)
	if g.table, err = ctx.State.Table(g.descriptor(), state.TableSpec{Values: g.aggs.values, TTL: g.spec.TTL}); err != nil {
		return err
	}
	g.news = g.out.Cols[n:]
	for i := range g.news {
		g.prev = append(g.prev, types.NewColumn(g.spec.Out[n+i].Type, 1))
	}
	g.rowsOf, g.markOf = g.apply, g.mark
	if g.spec.MiniBatch.enabled() {
		if g.mini, err = newBundleAggregate(g); err != nil {
			return err
		}
		g.rowsOf = g.mini.apply
	} else if g.runnable() {
		g.runs = new(groupRuns)
		g.rowsOf = g.applyRuns
	}
	return nil
}

// descriptor says what the state means.
func (g *GroupAggregate) descriptor() state.Descriptor {
	return state.Descriptor{Format: 1, Name: "accumulators", Key: keyColumns(g.spec.In, g.spec.Keys), Values: g.aggs.infos()}
}

// Process applies the rows one by one.
func (g *GroupAggregate) Process(_ int, b *types.Batch) error {
	if g.batch != nil {
		return g.batch.Process(0, b)
	}
	if g.spec.TTL > 0 {
		g.ctx.State.StartBatch()
		g.table.Sweep(sweepRows)
	}
	if err := b.Segments(g.rowsOf, g.markOf); err != nil {
		return err
	}
	if g.mini != nil {
		return g.out.flush()
	}
	return g.flush(b)
}

// EndInput gives the results of batch mode.
func (g *GroupAggregate) EndInput(int) error {
	if g.batch == nil {
		return nil
	}
	return g.batch.EndInput(0)
}

// Close lets go of what batch mode has on disk.
func (g *GroupAggregate) Close() error {
	if g.batch == nil {
		return nil
	}
	return g.batch.Close()
}

// Flush gives what the bundle has changed.
func (g *GroupAggregate) Flush() error {
	if g.mini == nil {
		return nil
	}
	return g.mini.flush()
}

// OnTime ends a bundle.
func (g *GroupAggregate) OnTime(ms int64) error {
	if g.mini == nil {
		return nil
	}
	g.mini.tick(ms)
	return g.mini.flush()
}

// sweepRows is the number of records that a batch looks at in search of expired ones.
const sweepRows = 64

func (g *GroupAggregate) mark(ms int64) error {
	if g.mini != nil && g.mini.ends(ms) {
		if err := g.mini.flush(); err != nil {
			return err
		}
	}
	g.out.mark(ms)
	return nil
}

// Watermark passes the watermark on, behind the bundle that it ends.
func (g *GroupAggregate) Watermark(_ int, ms int64) error {
	if g.mini == nil {
		return g.single.Watermark(0, ms)
	}
	if err := g.mark(ms); err != nil {
		return err
	}
	return g.out.flush()
}

func (g *GroupAggregate) apply(b *types.Batch) error {
	g.keys.encode(b)
	g.table.Stage(g.keys.Hash, g.keys.group)
	g.aggs.begin(b)
	for k, i := range b.Live() {
		if err := g.row(b, k, i); err != nil {
			return g.failed(b, i, err)
		}
		if g.out.Len > types.BatchRows-2 {
			if err := g.flush(b); err != nil {
				return err
			}
		}
	}
	return nil
}

// failed sends what the rows before row i give, and gives its error.
func (g *GroupAggregate) failed(b *types.Batch, i int32, err error) error {
	for _, c := range g.news {
		c.Truncate(g.out.Len)
	}
	if err := g.flush(b); err != nil {
		return err
	}
	return dataError(g.ctx, &types.RowError{Row: i, Err: err}, g.spec.In, b)
}

// row applies one row.
func (g *GroupAggregate) row(b *types.Batch, k int, i int32) error {
	retract := b.Kind(i).Retract()
	var r group
	key := g.keys.at(k)
	r.m = g.table.Of(key.Group)
	first := false
	if retract {
		if r.ref = r.m.Find(key); r.ref == 0 {
			return nil
		}
	} else {
		r.ref, first = r.m.Upsert(key)
	}
	r.words = r.m.Touch(r.ref)
	if first {
		if err := g.aggs.add(&r, b, k, i); err != nil {
			return err
		}
		if err := g.aggs.value(&r, g.news); err != nil {
			return err
		}
		g.give(i, types.Insert)
		return nil
	}
	prev := g.prev
	if g.spec.UpdateBefore {
		prev = g.news
	} else {
		for _, c := range prev {
			c.Reset()
		}
	}
	if err := g.aggs.value(&r, prev); err != nil {
		return err
	}
	if !retract {
		if err := g.aggs.add(&r, b, k, i); err != nil {
			return err
		}
	} else if err := g.aggs.take(&r, b, k, i); err != nil {
		return err
	}
	if g.aggs.counted && r.words[0] == 0 {
		return g.vanish(&r, i)
	}
	return g.change(&r, i, prev)
}

// change gives the new result after the previous one, if it is another.
func (g *GroupAggregate) change(r *group, i int32, prev []*types.Column) error {
	if err := g.aggs.value(r, g.news); err != nil {
		return err
	}
	at := int32(g.out.Len)
	old := int32(0)
	if g.spec.UpdateBefore {
		old = at
		at++
	}
	if g.spec.TTL == 0 && types.EqualRows(prev, old, g.news, at) {
		for _, c := range g.news {
			c.Truncate(g.out.Len)
		}
		return nil
	}
	if g.spec.UpdateBefore {
		g.give(i, types.UpdateBefore)
	}
	g.give(i, types.UpdateAfter)
	return nil
}

// vanish removes a group whose last row was taken back.
func (g *GroupAggregate) vanish(r *group, i int32) error {
	if !g.spec.UpdateBefore {
		for n, c := range g.news {
			c.AppendFrom(g.prev[n], 0)
		}
	}
	g.give(i, types.Delete)
	r.m.Delete(r.ref)
	return nil
}

// give counts an output row whose aggregate columns are filled; its keys are those of row i.
func (g *GroupAggregate) give(i int32, kind types.RowKind) {
	g.rows = append(g.rows, i)
	g.out.Push(kind)
}

// flush sends the output rows, with their keys from b.
func (g *GroupAggregate) flush(b *types.Batch) error {
	if len(g.rows) > 0 { // Gather takes nil for all rows
		for j, c := range g.spec.Keys {
			g.out.Cols[j].Gather(b.Cols[c], g.rows, b.Len)
		}
	}
	g.rows = g.rows[:0]
	if g.runs != nil {
		g.selectChanged()
	}
	return g.out.flush()
}
