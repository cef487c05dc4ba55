package op

import (
	"runnel/expr"
	"runnel/state"
	"runnel/types"
)

// runRows is the number of rows that groupRuns takes at once: each may give two output rows.
const runRows = types.BatchRows / 2

// groupRuns is how a GroupAggregate works when rows are never taken back and every accumulator has a form for whole runs:
// first all groups are looked up, then each accumulator goes through all rows, column by column. What comes out is the
// same, row for row.
type groupRuns struct {
	maps    [runRows]*state.Map
	refs    [runRows]state.Ref
	accs    [runRows][]uint64
	fresh   [runRows]bool
	changed [types.BatchRows]bool // of the output rows
	run     expr.Run
	dropped bool // some rows of the output batch did not change
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
	g.table.Stage(g.keys.Hash, g.keys.group)
	live := b.Live()
	for at := 0; at < len(live); {
		n := min(len(live)-at, (types.BatchRows-g.out.Len)/2)
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
	for k := range rows {
		m := g.table.Of(g.keys.group[at+k])
		r.maps[k] = m
		r.refs[k], r.fresh[k] = m.Upsert(g.keys.at(at + k))
	}
	for k := range rows {
		r.accs[k] = r.maps[k].Touch(r.refs[k])
	}
	r.run = expr.Run{Accs: r.accs[:n], Rows: rows, Fresh: r.fresh[:n]}
	from := g.out.Len
	for i := range g.aggs.slots {
		s := &g.aggs.slots[i]
		r.run.From = s.from
		s.acc.Trace(&r.run, b, g.news[i])
	}
	for k, i := range rows {
		if r.fresh[k] {
			g.give(i, types.Insert)
			continue
		}
		g.give(i, types.UpdateBefore)
		g.give(i, types.UpdateAfter)
	}
	g.compare(from)
}

// compare finds the pairs of output rows, from the given one on, that did not change. Without UpdateBefore the first half
// of a pair is of no further use.
func (g *GroupAggregate) compare(from int) {
	r, to := g.runs, g.out.Len
	changed := r.changed[from:to]
	clear(changed)
	for _, c := range g.news {
		markChanged(changed, c, from)
	}
	for k := 0; k < len(changed); k++ {
		if g.out.Kind(int32(from+k)) == types.Insert {
			changed[k] = true
			continue
		}
		now := changed[k+1]
		changed[k] = now && g.spec.UpdateBefore
		r.dropped = r.dropped || !changed[k] || !now
		k++
	}
}

// markChanged sets changed[k] where the value in row from+k is not that of the row before it.
func markChanged(changed []bool, c *types.Column, from int) {
	if c.Valid == nil && c.Phys() == types.PhysInt {
		v := c.Int[from:]
		for k := 1; k < len(changed); k++ {
			if v[k] != v[k-1] {
				changed[k] = true
			}
		}
		return
	}
	for k := 1; k < len(changed); k++ {
		if !changed[k] && !types.EqualCells(c, int32(from+k), c, int32(from+k-1)) {
			changed[k] = true
		}
	}
}

// selectChanged leaves only the changed rows in the output batch.
func (g *GroupAggregate) selectChanged() {
	r := g.runs
	if !r.dropped {
		return
	}
	r.dropped = false
	g.sel = g.sel[:0]
	for i, c := range r.changed[:g.out.Len] {
		if c {
			g.sel = append(g.sel, int32(i))
		}
	}
	g.out.Sel = g.sel
	if len(g.sel) == 0 {
		g.out.Sel = types.All(0)
	}
}
