package op

import (
	"fmt"

	"runnel/state"
	"runnel/types"
)

// BatchAggregate is a GroupAggregate of batch mode: it gives each group's final result when the bounded input ends, in
// the order of the groups' first rows. A global aggregate over no row gives one. It holds all groups in memory.
type BatchAggregate struct {
	single
	spec   Grouping
	aggs   *aggregates
	keys   batchKeys
	groups *state.Map
	out    output
}

// NewBatchAggregate makes the operator; the input is append-only.
func NewBatchAggregate(spec Grouping) *BatchAggregate { return &BatchAggregate{spec: spec} }

// Open compiles the aggregates.
func (a *BatchAggregate) Open(ctx *Context) error {
	a.ctx = ctx
	var err error
	if a.aggs, err = newAggregates(a.spec.Aggs, a.spec.In, false, ctx.Env); err != nil {
		return err
	}
	a.keys = newBatchKeys(a.spec.In, a.spec.Keys, 1)
	a.groups = state.NewMap(a.aggs.values)
	a.out = newOutput(ctx.Out, a.spec.Out)
	return nil
}

// Process accumulates rows.
func (a *BatchAggregate) Process(_ int, b *types.Batch) error {
	a.keys.encode(b)
	a.aggs.begin(b)
	g := group{m: a.groups}
	for k, i := range b.Live() {
		g.ref, _ = a.groups.Upsert(a.keys.at(k))
		g.words = a.groups.Touch(g.ref)
		if err := a.aggs.add(&g, b, k, i); err != nil {
			return dataError(a.ctx, &types.RowError{Row: i, Err: err}, a.spec.In, b)
		}
	}
	return nil
}

// EndInput gives the results.
func (a *BatchAggregate) EndInput(int) error {
	if len(a.spec.Keys) == 0 && a.groups.Len() == 0 {
		a.groups.Upsert(state.Key{Hash: types.HashKey(nil)})
	}
	n := len(a.spec.Keys)
	g := group{m: a.groups}
	for g.ref = a.groups.First(); g.ref != 0; g.ref = a.groups.Next(g.ref) {
		g.words = a.groups.Get(g.ref)
		if err := a.keys.codec.Decode(a.groups.Key(g.ref), a.out.Cols[:n]); err != nil {
			return fmt.Errorf("%s: %w", a.ctx.Name, err)
		}
		if err := a.aggs.value(&g, a.out.Cols[n:]); err != nil {
			return err
		}
		if err := a.out.pushed(types.Insert); err != nil {
			return err
		}
	}
	a.groups = state.NewMap(a.aggs.values)
	return a.out.flush()
}
