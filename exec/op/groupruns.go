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

// groupRuns is how a GroupAggregate works when rows are never taken back and every accumulator has a form for whole runs:
// first all groups are looked up, then each accumulator goes through all rows, column by column. What comes out is the
// same, row for row.
type groupRuns struct {
	maps    [runRows]*state.Map
	refs    [runRows]state.Ref
	accs    [runRows][]uint64
	fresh   [runRows]bool
	same    [types.BatchRows]bool // output rows that say nothing new
	find    state.Finder
	run     expr.Run
	dropped bool // there are such rows
}

// runnable reports whether the operator can work in runs. Nothing may be deleted from the state meanwhile, by a TTL either:
// records must stay where they are while a run is under way.
func (g *GroupAggregate) runnable() bool {
	return g.spec.TTL == 0 && len(g.aggs.slots) > 0 && g.aggs.foldable()
}

// foldable reports whether every accumulator has a form for whole runs and nothing stands in the way of using it.
func (a *aggregates) foldable() bool {
	if a.retract || len(a.sets) > 0 {
		return false
	}
	for i := range a.slots {
		if s := &a.slots[i]; s.acc.Fold == nil || s.acc.Trace == nil || s.acc.Stored || s.filter >= 0 {
			return false
		}
	}
	return true
}

// applyRuns applies the rows of a batch.
func (g *GroupAggregate) applyRuns(b *types.Batch) error {
	g.keys.encode(b)
	live := b.Live()
	for at := 0; at < len(live); {
		n := min(len(live)-at, (types.BatchRows-g.out.Len)/2, runRows)
		if n == 0 {
			if err := g.flush(b); err != nil {
				return err
			}
			continue
		}
		g.applyRun(b, live[at:at+n], at)
		at += n
	}
	return nil
}

// applyRun applies a run, whose first row is the at-th live one of b.
func (g *GroupAggregate) applyRun(b *types.Batch, rows []int32, at int) {
	r, n := g.runs, len(rows)
	maps, refs, fresh, accs := r.maps[:n], r.refs[:n], r.fresh[:n], r.accs[:n]
	for k, group := range g.keys.group[at : at+n] {
		maps[k] = g.table.Of(group)
	}
	r.find.Find(maps, &g.keys.Keys, types.All(at + n)[at:], refs)
	outs := 2 * n
	for k, ref := range refs {
		fresh[k] = false
		if ref != 0 {
			continue
		}
		if refs[k], fresh[k] = maps[k].Upsert(g.keys.at(at + k)); fresh[k] {
			outs--
		}
	}
	for k, m := range maps {
		accs[k] = m.Touch(refs[k])
	}
	r.run = expr.Run{Accs: accs, Rows: rows, Fresh: fresh, Outs: outs}
	from := g.out.Len
	for i := range g.aggs.slots {
		s := &g.aggs.slots[i]
		r.run.From = s.from
		s.acc.Trace(&r.run, b, g.news[i])
	}
	if outs == 2*n {
		g.out.PushChanges(n)
		for _, i := range rows {
			g.rows = append(g.rows, i, i)
		}
	} else {
		g.giveFresh(rows)
	}
	g.compare(from, outs == 2*n)
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
		if kinds == nil || kinds[k] == types.Insert {
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
