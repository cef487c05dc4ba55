package op

import (
	"fmt"

	"runnel/state"
	"runnel/types"
)

// BatchAggregate is a GroupAggregate of batch mode: it gives each group's final result when the bounded input ends, in
// the order of the groups' first rows. A global aggregate over no row gives one.
//
// Once the groups fill the memory, rows of further groups go to disk, dealt by a hash of their keys, and are aggregated
// when the groups before them have been given: so each part of them begins with empty memory. Values of DISTINCT that are
// new to a group go there too, dealt by a hash of key and value, and are counted part by part.
type BatchAggregate struct {
	single
	spec   Grouping
	aggs   *aggregates
	keys   batchKeys
	groups *state.Map
	out    output
	space  *spillSpace
	full   bool
	rows   *partitioned   // of groups that are not in memory
	values []*partitioned // rows with values that are not in memory, for each DISTINCT set
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
	a.out = newOutput(ctx.Out, a.spec.Out)
	a.space = newSpillSpace(ctx)
	a.begin(0)
	return nil
}

// begin empties the memory, to aggregate rows that were dealt level times.
func (a *BatchAggregate) begin(level int) {
	a.groups, a.full = state.NewMap(a.aggs.values), false
	a.rows = &partitioned{space: a.space, codec: newRunCodec(a.spec.In), level: level}
	a.values = nil
	for range a.aggs.sets {
		a.values = append(a.values, &partitioned{space: a.space, codec: a.rows.codec})
	}
}

// Process accumulates rows.
func (a *BatchAggregate) Process(_ int, b *types.Batch) error {
	a.keys.encode(b)
	a.aggs.begin(b)
	g := group{m: a.groups}
	for k, i := range b.Live() {
		key := a.keys.at(k)
		if a.full && a.rows.level < spreadLevels {
			if g.ref = a.groups.Find(key); g.ref == 0 {
				if err := a.rows.add(key.Hash, b.Cols, i); err != nil {
					return err
				}
				continue
			}
		} else {
			g.ref, _ = a.groups.Upsert(key)
		}
		g.words = a.groups.Touch(g.ref)
		if err := a.add(&g, b, k, i); err != nil {
			return err
		}
	}
	a.full = a.full || a.space.over(int64(a.groups.Memory()))
	return nil
}

// add accumulates a row of a group that is in memory.
func (a *BatchAggregate) add(g *group, b *types.Batch, k int, i int32) error {
	if err := a.aggs.addPlain(g, b, i); err != nil {
		return a.fail(err, b, i)
	}
	for n := range a.aggs.sets {
		d := &a.aggs.sets[n]
		if a.full && g.m.Collection(d.value).Find(g.ref, d.keys.Key(k)) == 0 {
			if err := a.values[n].add(a.keys.Hash[k]*31^d.keys.Hash[k], b.Cols, i); err != nil {
				return err
			}
			continue
		}
		if err := a.aggs.addDistinct(g, n, b, k, i); err != nil {
			return a.fail(err, b, i)
		}
	}
	return nil
}

func (a *BatchAggregate) fail(err error, b *types.Batch, i int32) error {
	return dataError(a.ctx, &types.RowError{Row: i, Err: err}, a.spec.In, b)
}

// EndInput gives the results.
func (a *BatchAggregate) EndInput(int) error {
	if len(a.spec.Keys) == 0 && a.groups.Len() == 0 {
		a.groups.Upsert(state.Key{Hash: types.HashKey(nil)})
	}
	if err := a.give(); err != nil {
		return err
	}
	a.groups = nil
	return a.out.flush()
}

// give gives the groups in memory, then those on disk.
func (a *BatchAggregate) give() error {
	for n, p := range a.values {
		for _, run := range p.runs {
			if err := a.addValues(n, run); err != nil {
				return err
			}
		}
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
	rows := a.rows
	for _, run := range rows.runs {
		if run == nil {
			continue
		}
		a.begin(rows.level + 1)
		if err := run.each(a.spec.In, func(b *types.Batch) error { return a.Process(0, b) }); err != nil {
			return err
		}
		run.drop()
		if err := a.give(); err != nil {
			return err
		}
	}
	return nil
}

// addValues counts a part of the values of a DISTINCT set that are not in memory. No other part has one of them.
func (a *BatchAggregate) addValues(set int, run *rowRun) error {
	if run == nil {
		return nil
	}
	elems := a.groups.Collection(a.aggs.sets[set].value)
	for ref := a.groups.First(); ref != 0; ref = a.groups.Next(ref) {
		elems.Clear(ref)
	}
	err := run.each(a.spec.In, func(b *types.Batch) error {
		a.keys.encode(b)
		a.aggs.begin(b)
		g := group{m: a.groups}
		for k, i := range b.Live() {
			g.ref = a.groups.Find(a.keys.at(k))
			g.words = a.groups.Touch(g.ref)
			if err := a.aggs.addDistinct(&g, set, b, k, i); err != nil {
				return a.fail(err, b, i)
			}
		}
		return nil
	})
	run.drop()
	return err
}

// Close removes what is on disk.
func (a *BatchAggregate) Close() error { return a.space.close() }
