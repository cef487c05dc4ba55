package op

import (
	"slices"

	"runnel/expr"
	"runnel/state"
	"runnel/types"
)

// runRows is the number of rows that groupRuns takes at once: few enough that their records stay in a first-level cache.
// Each may give two output rows.
const runRows = 128

// groupRuns is how a GroupAggregate works where it can: first all groups of a run are looked up, and the elements of its
// DISTINCT sets, then each accumulator goes through all rows, column by column. What comes out is the same, row for row. A run
// ends with a row that takes the last one of its group back.
type groupRuns struct {
	maps     [runRows]*state.Map
	refs     [runRows]state.Ref
	accs     [runRows][]uint64
	fresh    [runRows]bool
	take     [runRows]bool
	back     [runRows]bool
	vanishes bool // the last row of the run takes away its group
	distinct runElems
	same     [types.BatchRows]bool // output rows that say nothing new
	find     state.Finder
	run      expr.Run
	fail     error // of the row behind the last one of run, which the accumulators have cut short
	dropped  bool  // there are such output rows
}

// runElems are the elements of one DISTINCT set that the rows of a run have, for those rows that have one.
type runElems struct {
	n     int
	at    [runRows]int32 // which row of the run
	maps  [runRows]*state.Map
	refs  [runRows]state.Ref
	which [runRows]int32
	found [runRows]uint64 // bits of filters that the row passes, then those that its element had not yet
	marks [runRows]uint64 // the same by row of the run
}

// maxFilters is the number of filters of one DISTINCT set with which the operator can work in runs: a bit each.
const maxFilters = 64

// runnable reports whether the operator can work in runs. Nothing may be deleted from the state meanwhile, by a TTL either:
// records must stay where they are while a run is under way. Nor may elements of a DISTINCT set.
func (g *GroupAggregate) runnable() bool {
	many := slices.ContainsFunc(g.aggs.sets, func(d distinctSet) bool { return len(d.filters) > maxFilters })
	return g.spec.TTL == 0 && len(g.aggs.slots) > 0 && !many && (!g.aggs.retract || len(g.aggs.sets) == 0)
}

// foldable reports whether every accumulator has a form for whole runs and nothing stands in the way of using it.
func (a *aggregates) foldable() bool {
	if a.retract || len(a.sets) > 0 {
		return false
	}
	for i := range a.slots {
		if s := &a.slots[i]; s.acc.Fold == nil || s.acc.Stored || s.filter >= 0 {
			return false
		}
	}
	return true
}

// applyRuns applies the rows of a batch.
func (g *GroupAggregate) applyRuns(b *types.Batch) error {
	g.keys.encode(b)
	g.aggs.begin(b)
	live := b.Live()
	for at := 0; at < len(live); {
		n := min(len(live)-at, (types.BatchRows-g.out.Len)/2, runRows)
		if n == 0 {
			if err := g.flush(b); err != nil {
				return err
			}
			continue
		}
		end := at + n
		at += g.applyRun(b, live[at:end], at)
		if r := g.runs; r.fail != nil {
			err := r.fail
			r.fail = nil
			return g.failed(b, live[at], err)
		}
		for ; at < end; at++ { // behind the end of a run that came early
			if err := g.row(b, at, live[at]); err != nil {
				return g.failed(b, live[at], err)
			}
		}
	}
	return nil
}

// applyRun applies a run, whose first row is the at-th live one of b, and gives its length: it may end early, or before a row
// that fails.
func (g *GroupAggregate) applyRun(b *types.Batch, rows []int32, at int) int {
	r, n := g.runs, len(rows)
	maps := r.maps[:n]
	for k, group := range g.keys.group[at : at+n] {
		maps[k] = g.table.Of(group)
	}
	r.find.Find(maps, &g.keys.Keys, types.All(at + n)[at:], r.refs[:n])
	r.run = expr.Run{}
	if g.aggs.retract {
		if n = g.countRows(b, rows, at); n == 0 {
			return 0
		}
	} else {
		g.insertFresh(n, at)
	}
	r.begin(rows[:n])
	g.traceAll(b, at)
	g.giveRun(n)
	return len(r.run.Rows)
}

// insertFresh makes records for the groups of a run that have none.
func (g *GroupAggregate) insertFresh(n, at int) {
	r := g.runs
	for k, ref := range r.refs[:n] {
		r.fresh[k] = false
		if ref == 0 {
			r.refs[k], r.fresh[k] = r.maps[k].Upsert(g.keys.at(at + k))
		}
	}
}

// countRows is insertFresh where rows may be taken back, and counts the rows of each group. It gives the length of the run:
// no record may move or go in it, so it ends behind a row that takes a group away, and before a row that takes
// back what is not there or moves records.
func (g *GroupAggregate) countRows(b *types.Batch, rows []int32, at int) int {
	r := g.runs
	r.vanishes = false
	for k, i := range rows {
		m, back := r.maps[k], b.Kind(i).Retract()
		r.fresh[k], r.back[k] = false, back
		if r.refs[k] == 0 {
			key := g.keys.at(at + k)
			if r.refs[k] = m.Find(key); r.refs[k] == 0 {
				if back || m.Cramped() {
					return k
				}
				r.refs[k], r.fresh[k] = m.Upsert(key)
			}
		}
		count := &m.Touch(r.refs[k])[0]
		if !back {
			*count++
			continue
		}
		r.run.Back = r.back[:]
		if *count--; *count == 0 {
			r.vanishes = true
			return k + 1
		}
	}
	return len(rows)
}

// begin makes the run one of the given rows, whose groups are known.
func (r *groupRuns) begin(rows []int32) {
	n := len(rows)
	for k, m := range r.maps[:n] { // no record is made any more: what Touch gives stays
		r.accs[k] = m.Touch(r.refs[k])
	}
	r.run.Accs, r.run.Rows, r.run.Fresh, r.run.Outs = r.accs[:n], rows, r.fresh[:n], 2*n
	for _, first := range r.run.Fresh {
		if first {
			r.run.Outs--
		}
	}
}

// traceAll lets all accumulators go through the run, whose first row is the at-th live one of b.
func (g *GroupAggregate) traceAll(b *types.Batch, at int) {
	r := g.runs
	for i := range g.aggs.slots {
		if s := &g.aggs.slots[i]; s.set < 0 {
			r.run.Take = r.passing(b, s.filter)
			g.trace(i, b)
		}
	}
	for i := range g.aggs.sets {
		g.traceDistinct(i, b, at)
	}
}

// giveRun counts the output rows of a run of n rows, which is shorter now if a row failed.
func (g *GroupAggregate) giveRun(n int) {
	r, from := g.runs, g.out.Len
	rows, outs := r.run.Rows, r.run.Outs
	vanishes := r.vanishes && len(rows) == n
	if vanishes { // what comes after it is of no interest
		outs--
	}
	if r.fail != nil || vanishes {
		for _, c := range g.news {
			c.Truncate(from + outs)
		}
	}
	pairs := outs == 2*len(rows)
	switch {
	case pairs:
		g.out.PushChanges(len(rows))
		for _, i := range rows {
			g.rows = append(g.rows, i, i)
		}
	case vanishes:
		last := len(rows) - 1
		g.giveFresh(rows[:last])
		g.give(rows[last], types.Delete)
	default:
		g.giveFresh(rows)
	}
	g.compare(from, pairs)
	if vanishes {
		r.maps[n-1].Delete(r.refs[n-1])
	}
}

// passing gives the rows of the run for which a filter is TRUE, nil for all.
func (r *groupRuns) passing(b *types.Batch, filter int) []bool {
	if filter < 0 {
		return nil
	}
	c, take := b.Cols[filter], r.take[:len(r.run.Rows)]
	for k, i := range r.run.Rows {
		take[k] = isTrue(c, i)
	}
	return take
}

// trace lets an accumulator go through the run.
func (g *GroupAggregate) trace(slot int, b *types.Batch) {
	r, s, out := g.runs, &g.aggs.slots[slot], g.news[slot]
	r.run.From = s.from
	if s.acc.Trace != nil {
		s.acc.Trace(&r.run, b, out)
		return
	}
	for k, i := range r.run.Rows {
		if err := g.traceRow(s, b, k, i, out); err != nil {
			r.cut(k, err)
			return
		}
	}
}

// traceRow is a step of trace, for accumulators that have no form for runs.
func (g *GroupAggregate) traceRow(s *aggSlot, b *types.Batch, k int, i int32, out *types.Column) error {
	r, st := g.runs, &g.aggs.st
	x := group{r.maps[k], r.refs[k], r.accs[k]}
	words := x.words[s.from:s.to]
	if !r.fresh[k] {
		st.reading = true
		if err := s.acc.Value(words, st.of(&x, s), out); err != nil {
			return err
		}
	}
	if r.run.Take == nil || r.run.Take[k] {
		st.reading = false
		apply := s.acc.Add
		if r.run.Back != nil && r.run.Back[k] {
			apply = s.acc.Retract
		}
		if err := apply(words, st.of(&x, s), b, i); err != nil {
			return err
		}
	}
	st.reading = true
	return s.acc.Value(words, st.of(&x, s), out)
}

// cut ends the run before row k, which failed: accumulators to come see no more than the rows before it.
func (r *groupRuns) cut(k int, err error) {
	r.fail = err
	r.run.Accs, r.run.Rows, r.run.Fresh = r.run.Accs[:k], r.run.Rows[:k], r.run.Fresh[:k]
	r.run.Outs = 2 * k
	for _, first := range r.run.Fresh {
		if first {
			r.run.Outs--
		}
	}
}

// traceDistinct lets the accumulators over a DISTINCT set go through the run.
func (g *GroupAggregate) traceDistinct(set int, b *types.Batch, at int) {
	r, d := g.runs, &g.aggs.sets[set]
	r.markElems(d, b, at)
	for bit := range d.filters {
		take := r.take[:len(r.run.Rows)]
		for k := range take {
			take[k] = r.distinct.marks[k]>>bit&1 != 0
		}
		for i := range g.aggs.slots {
			if s := &g.aggs.slots[i]; s.set == set && s.bit == bit {
				r.run.Take = take[:len(r.run.Rows)]
				g.trace(i, b)
			}
		}
	}
}

// markElems adds the values of the rows that pass a filter to a DISTINCT set. Of each row it finds the bits of the filters
// that its value passes for the first time.
func (r *groupRuns) markElems(d *distinctSet, b *types.Batch, at int) {
	e := &r.distinct
	marks := e.marks[:len(r.run.Rows)]
	clear(marks)
	for bit, filter := range d.filters {
		if filter < 0 {
			for k := range marks {
				marks[k] |= 1 << bit
			}
			continue
		}
		c := b.Cols[filter]
		for k, i := range r.run.Rows { // whether a row passes is anybody's guess: no branch depends on it
			pass := uint64(c.Int[i]) & 1
			if c.Valid != nil {
				pass &= c.Valid[i>>6] >> (i & 63)
			}
			marks[k] |= pass << bit
		}
	}
	e.n = 0
	for k, m := range marks {
		if m != 0 {
			e.at[e.n], e.maps[e.n], e.refs[e.n], e.which[e.n], e.found[e.n] = int32(k), r.maps[k], r.refs[k], int32(at+k), m
			e.n++
		}
	}
	r.find.MarkElems(d.value, e.maps[:e.n], e.refs[:e.n], &d.keys, e.which[:e.n], e.found[:e.n])
	for n, k := range e.at[:e.n] {
		marks[k] = e.found[n]
	}
}

// giveFresh counts the output rows of a run some of whose rows are the first of their groups.
func (g *GroupAggregate) giveFresh(rows []int32) {
	for k, i := range rows {
		if g.runs.fresh[k] {
			g.give(i, types.Insert)
			continue
		}
		g.give(i, types.UpdateBefore)
		g.give(i, types.UpdateAfter)
	}
}

// compare finds the pairs of output rows, from the given one on, that did not change. Without UpdateBefore the first half
// of a pair is of no further use.
func (g *GroupAggregate) compare(from int, pairs bool) {
	if pairs && g.spec.UpdateBefore && g.allChanged(from) {
		return
	}
	r, to, kinds := g.runs, g.out.Len, g.out.Kinds
	for k := from; k < to; k++ {
		if kinds == nil || kinds[k] == types.Insert || kinds[k] == types.Delete {
			continue
		}
		same := types.EqualRows(g.news, int32(k), g.news, int32(k+1))
		r.same[k], r.same[k+1] = same || !g.spec.UpdateBefore, same
		r.dropped = r.dropped || r.same[k]
		k++
	}
}

// allChanged reports whether one column shows that all pairs of output rows, from the given one on, changed.
func (g *GroupAggregate) allChanged(from int) bool {
	return slices.ContainsFunc(g.news, func(c *types.Column) bool {
		if c.Valid != nil || c.Phys() != types.PhysInt {
			return false
		}
		v := c.Int[from:]
		for k := 1; k < len(v); k += 2 {
			if v[k] == v[k-1] {
				return false
			}
		}
		return true
	})
}

// selectChanged leaves only the rows in the output batch that say something new.
func (g *GroupAggregate) selectChanged() {
	r := g.runs
	if !r.dropped {
		return
	}
	r.dropped = false
	g.sel = g.sel[:0]
	for i := range r.same[:g.out.Len] {
		if !r.same[i] {
			g.sel = append(g.sel, int32(i))
		}
		r.same[i] = false
	}
	g.out.Sel = g.sel
	if len(g.sel) == 0 {
		g.out.Sel = types.All(0)
	}
}
