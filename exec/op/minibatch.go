package op

import (
	"fmt"
	"time"

	"runnel/state"
	"runnel/types"
)

// MiniBatch bounds the bundles in which an operator combines changes (table.exec.mini-batch.*): what a bundle changes
// comes out once per key, when the bundle holds Size rows, after Latency of processing time, before a checkpoint and at
// the end of input. The zero value is none.
type MiniBatch struct {
	Size    int64
	Latency time.Duration
	Rowtime bool // bundles of aggregates end with a watermark too, the first one behind each Latency of event time
}

// enabled reports whether there are bundles.
func (m MiniBatch) enabled() bool { return m.Size > 0 }

// bundle counts the rows of the current bundle and keeps, per key, a word in order of the keys' first rows.
type bundle struct {
	MiniBatch
	ctx  *Context
	rows int64
	seen *state.Map
	held int64 // a watermark that came behind rows of the bundle, types.MinWatermark for none
	lag  int64 // ms that its ticks come behind the others
	next int64 // with Rowtime: the watermark that ends a bundle
}

func newBundle(ctx *Context, m MiniBatch, values []state.Value) bundle {
	return newLateBundle(ctx, m, values, 0)
}

// newLateBundle makes a bundle of what bundles of other operators give: it ends when those have ended, some time behind them.
func newLateBundle(ctx *Context, m MiniBatch, values []state.Value, lag time.Duration) bundle {
	b := bundle{MiniBatch: m, ctx: ctx, seen: state.NewMap(values), held: types.MinWatermark, lag: lag.Milliseconds()}
	if m.Latency > 0 {
		b.tick(ctx.Now().UnixMilli())
	}
	b.next = m.Latency.Milliseconds() - 1
	return b
}

// ends reports whether a watermark ends the bundle.
func (b *bundle) ends(ms int64) bool {
	if !b.Rowtime || ms < b.next {
		return false
	}
	if every := max(b.Latency.Milliseconds(), 1); ms < types.MaxWatermark {
		b.next = floorDiv(ms+1, every)*every + every - 1
	}
	return true
}

// full counts a row and reports whether the bundle is to be flushed.
func (b *bundle) full() bool {
	b.rows++
	return b.rows >= b.Size
}

// tick sets the next timer. All operators tick together, at multiples of the latency.
func (b *bundle) tick(ms int64) {
	every := max(b.Latency.Milliseconds(), 1)
	b.ctx.WakeAt((floorDiv(ms-b.lag, every)+1)*every + b.lag)
}

// key gives the key of a record of seen.
func (b *bundle) key(x state.Ref) state.Key {
	words := b.seen.Key(x)
	return state.Key{Words: words, Hash: types.HashKey(words), Group: b.seen.Group(x)}
}

// hold keeps a watermark until the bundle ends; false: no row is in front of it.
func (b *bundle) hold(ms int64) bool {
	if b.rows > 0 {
		b.held = ms
	}
	return b.rows > 0
}

// reset begins a new bundle and gives the watermark that waited for the last one.
func (b *bundle) reset() (held int64, ok bool) {
	held, b.held = b.held, types.MinWatermark
	b.rows = 0
	b.seen.Reset()
	return held, held != types.MinWatermark
}

// bundleAggregate is a GroupAggregate with mini-batches: rows are accumulated at once, and what was the result of a key
// before the bundle is remembered until its end.
type bundleAggregate struct {
	*GroupAggregate
	bundle
	merging *merging        // nil where rows come in
	ended   func() error    // called at the end of a bundle, may be nil
	was     []*types.Column // results before the bundle, one row per key that had one
}

// Values of a key in the bundle.
const (
	bundleHad = iota // 1: the key had a result before
	bundleAt         // where in was
	bundleValues
)

// mergeLag is how far the ticks of a global phase lie behind those of the local ones, at most: their rows are to be there.
const mergeLag = 50 * time.Millisecond

func newBundleAggregate(g *GroupAggregate) (*bundleAggregate, error) {
	lag := time.Duration(0)
	if g.spec.Merge {
		lag = min(g.spec.MiniBatch.Latency/10, mergeLag)
	}
	b := &bundleAggregate{GroupAggregate: g, bundle: newLateBundle(g.ctx, g.spec.MiniBatch, state.Words(bundleValues), lag)}
	for i := range g.news {
		b.was = append(b.was, types.NewColumn(g.news[i].Type, types.BatchRows))
	}
	if !g.spec.Merge {
		return b, nil
	}
	n := len(g.spec.Keys)
	g.keys.cols = firstColumns(n)
	var err error
	b.merging, err = newMerging(g.spec.Aggs, g.spec.In, g.spec.Retract, g.ctx.Env, n)
	return b, err
}

// apply accumulates the rows of a batch.
func (a *bundleAggregate) apply(b *types.Batch) error {
	a.keys.encode(b)
	a.table.Stage(a.keys.Hash, a.keys.group)
	if a.merging == nil {
		a.aggs.begin(b)
	}
	for k, i := range b.Live() {
		if err := a.row(b, k, i); err != nil {
			if err := a.flush(); err != nil {
				return err
			}
			in := a.spec.In
			if a.merging != nil {
				in = pick(in, a.spec.Keys)
			}
			return dataError(a.GroupAggregate.ctx, &types.RowError{Row: i, Err: err}, in, b)
		}
		if a.full() {
			if err := a.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *bundleAggregate) row(b *types.Batch, k int, i int32) error {
	key := a.keys.at(k)
	r := group{m: a.table.Of(key.Group)}
	retract := b.Kind(i).Retract()
	first := false
	if retract {
		if r.ref = r.m.Find(key); r.ref == 0 {
			return nil
		}
	} else {
		r.ref, first = r.m.Upsert(key)
	}
	r.words = r.m.Touch(r.ref)
	if x, fresh := a.seen.Upsert(key); fresh && !first {
		v := a.seen.Touch(x)
		v[bundleHad], v[bundleAt] = 1, uint64(a.remembered())
		if err := a.aggs.value(&r, a.was); err != nil {
			return err
		}
	}
	switch {
	case a.merging != nil:
		return a.merging.merge(a.aggs, &r, b, i)
	case retract:
		return a.aggs.take(&r, b, k, i)
	}
	return a.aggs.add(&r, b, k, i)
}

// remembered is the number of results remembered.
func (a *bundleAggregate) remembered() int {
	if len(a.was) == 0 {
		return 0
	}
	return a.was[0].Len()
}

// flush gives what the bundle has changed.
func (a *bundleAggregate) flush() error {
	for x := a.seen.First(); x != 0; x = a.seen.Next(x) {
		key, v := a.key(x), a.seen.Get(x)
		if err := a.change(key, v[bundleHad] != 0, int32(v[bundleAt])); err != nil {
			return err
		}
	}
	a.reset()
	for _, c := range a.was {
		c.Reset()
	}
	if err := a.out.flush(); err != nil || a.ended == nil {
		return err
	}
	return a.ended()
}

// change gives the change of one key.
func (a *bundleAggregate) change(key state.Key, had bool, at int32) error {
	r := group{m: a.table.Of(key.Group)}
	if r.ref = r.m.Find(key); r.ref == 0 {
		return nil
	}
	r.words = r.m.Get(r.ref)
	if a.aggs.counted && r.words[0] == 0 {
		r.m.Delete(r.ref)
		if !had {
			return nil
		}
		return a.giveWas(key, at, types.Delete)
	}
	n := len(a.spec.Keys)
	if !had {
		return a.giveNow(key, &r, types.Insert)
	}
	if a.spec.TTL == 0 {
		if err := a.aggs.value(&r, a.out.Cols[n:]); err != nil {
			return err
		}
		same := types.EqualRows(a.was, at, a.out.Cols[n:], int32(a.out.Len))
		for _, c := range a.out.Cols[n:] {
			c.Truncate(a.out.Len)
		}
		if same {
			return nil
		}
	}
	if a.spec.UpdateBefore {
		if err := a.giveWas(key, at, types.UpdateBefore); err != nil {
			return err
		}
	}
	return a.giveNow(key, &r, types.UpdateAfter)
}

func (a *bundleAggregate) giveKey(key state.Key) error {
	if err := a.keys.codec.Decode(key.Words, a.out.Cols[:len(a.spec.Keys)]); err != nil {
		return fmt.Errorf("%s: %w", a.GroupAggregate.ctx.Name, err)
	}
	return nil
}

// giveWas gives a key's result before the bundle.
func (a *bundleAggregate) giveWas(key state.Key, at int32, kind types.RowKind) error {
	if err := a.giveKey(key); err != nil {
		return err
	}
	for i, c := range a.out.Cols[len(a.spec.Keys):] {
		c.AppendFrom(a.was[i], at)
	}
	return a.out.pushed(kind)
}

// giveNow gives a key's result.
func (a *bundleAggregate) giveNow(key state.Key, r *group, kind types.RowKind) error {
	if err := a.giveKey(key); err != nil {
		return err
	}
	if err := a.aggs.value(r, a.out.Cols[len(a.spec.Keys):]); err != nil {
		return err
	}
	return a.out.pushed(kind)
}
