package op

import (
	"fmt"
	"math"

	"runnel/expr"
	"runnel/state"
	"runnel/types"
)

// LocalWindowAggregate is the first phase of a WindowAggregate by event time: it aggregates rows by slice and key, and gives for
// each a row with the accumulators, which a WindowAggregate behind an exchange merges. A slice goes out before the watermark that
// passes its end; everything does before a checkpoint, when the input is idle, and when there are more entries than a limit. So
// there is no state. Which rows are late is for the other phase to say.
type LocalWindowAggregate struct {
	w     *WindowAggregate // for the way of rows into slices; nothing ever fires in it
	limit int
	codec *partials
	rows  int // the word of a record that counts its rows
}

// localEntries is the number of groups and elements of their collections that a local phase may hold: some 40 MB of numbers.
const localEntries = 1 << 19

// NewLocalWindowAggregate makes the operator. spec.Out is what it gives: the keys, with Attached windows their start, the end of the
// slice, the number of rows, the accumulators.
func NewLocalWindowAggregate(spec Windowing) *LocalWindowAggregate {
	l := &LocalWindowAggregate{w: newWindowAggregate(spec), limit: localEntries}
	l.w.partial = true
	return l
}

// Open compiles the aggregates.
func (l *LocalWindowAggregate) Open(ctx *Context) error {
	inner := *ctx
	inner.State = state.NewKeyed(state.Config{Operator: ctx.Name, Groups: state.RangeOf(0, 1, ctx.MaxParallelism)}) // of no checkpoint
	inner.Counter = func(string) *Counter { return new(Counter) }
	calls := len(l.w.spec.Aggs)
	l.w.spec.Aggs = append(l.w.spec.Aggs[:calls:calls], expr.AggCall{Func: expr.LookupAggregate("COUNT"), Filter: -1, T: types.Of(types.BigInt).Required()})
	if err := l.w.Open(&inner); err != nil {
		return err
	}
	l.codec = newPartialCodec(l.w.aggs, calls)
	l.rows = l.w.aggs.slots[calls].from
	l.w.markOf = l.advance
	return nil
}

// Process adds rows to their slices.
func (l *LocalWindowAggregate) Process(_ int, b *types.Batch) error {
	if err := l.w.Process(0, b); err != nil {
		return err
	}
	if l.w.slices.Elements() > l.limit {
		return l.Flush()
	}
	return nil
}

// Watermark gives the slices that it passes.
func (l *LocalWindowAggregate) Watermark(_ int, ms int64) error {
	if err := l.advance(ms); err != nil {
		return err
	}
	return l.w.out.flush()
}

// Idle gives everything before the input no longer counts.
func (l *LocalWindowAggregate) Idle(_ int, idle bool) error {
	if idle {
		if err := l.Flush(); err != nil {
			return err
		}
	}
	return l.w.Idle(0, idle)
}

// Flush gives everything.
func (l *LocalWindowAggregate) Flush() error {
	if err := l.give(math.MaxInt64); err != nil {
		return err
	}
	return l.w.out.flush()
}

// Close has nothing to release.
func (l *LocalWindowAggregate) Close() error { return nil }

func (l *LocalWindowAggregate) advance(ms int64) error {
	if !l.w.clock.Watermark(0, ms) {
		return nil
	}
	if err := l.give(ms); err != nil {
		return err
	}
	l.w.out.mark(ms)
	return nil
}

// give puts out the slices whose last millisecond is at or before a time.
func (l *LocalWindowAggregate) give(ms int64) error {
	w := l.w
	if times := w.slices.Times(); len(times) == 0 || ms != math.MaxInt64 && w.wall.timer(times[0]-1) > ms {
		return nil
	}
	if w.run != nil {
		w.run.fold(w)
	}
	for times := w.slices.Times(); len(times) > 0; times = w.slices.Times() {
		end := times[0]
		if ms != math.MaxInt64 && w.wall.timer(end-1) > ms {
			break
		}
		if err := l.emit(w.slices.Of(end), end); err != nil {
			return err
		}
		w.slices.Drop(end)
	}
	w.cur = openSlice{}
	return nil
}

// emit gives a row for every group of a slice.
func (l *LocalWindowAggregate) emit(m *state.Map, end int64) error {
	out := &l.w.out
	n := len(l.w.keys.cols)
	g := group{m: m}
	for g.ref = m.First(); g.ref != 0; g.ref = m.Next(g.ref) {
		g.words = m.Get(g.ref)
		if err := l.w.keys.codec.Decode(m.Key(g.ref), out.Cols[:n]); err != nil {
			return fmt.Errorf("%s: %w", l.w.ctx.Name, err)
		}
		out.Cols[n].AppendInt(end)
		out.Cols[n+1].AppendInt(int64(g.words[l.rows]))
		out.Cols[n+2].AppendStr(l.codec.write(&g))
		if err := out.pushed(types.Insert); err != nil {
			return err
		}
	}
	return nil
}

// mergeRun merges rows whose records have been looked up.
func (w *WindowAggregate) mergeRun(maps []*state.Map, refs []state.Ref, accs [][]uint64, rows []int32) error {
	for k, i := range rows {
		dst := group{m: maps[k], ref: refs[k], words: accs[k]}
		if err := w.merging.merge(w.aggs, &dst, &w.run.batch, i); err != nil {
			return err
		}
	}
	return nil
}

// mergePartials takes in rows of a LocalWindowAggregate.
func (w *WindowAggregate) mergePartials(b *types.Batch) error {
	n := len(w.keys.cols)
	ends, rows := b.Cols[n], b.Cols[n+1]
	for _, i := range b.Live() {
		k, local := w.seen, ends.Int[i]-1
		w.seen++
		if local < w.cur.from || local >= w.cur.to {
			w.locate(local)
		}
		if w.cur.late {
			w.late.Add(max(rows.Int[i], 1))
			continue
		}
		if w.run != nil {
			w.run.take(w, k, i)
			continue
		}
		g := group{m: w.cur.m}
		g.ref, _ = g.m.Upsert(w.keys.at(k))
		g.words = g.m.Touch(g.ref)
		if err := w.merging.merge(w.aggs, &g, b, i); err != nil {
			return w.fail(err, b, i)
		}
	}
	return nil
}
