package op

import (
	"runnel/expr"
	"runnel/state"
	"runnel/types"
)

// windowRun gathers the rows of a batch that go into open slices, so that their groups are looked up one after the other
// and each accumulator then goes through all of them. No slice is dropped while a run is under way.
type windowRun struct {
	n    int
	maps [types.BatchRows]*state.Map
	refs [types.BatchRows]state.Ref
	accs [types.BatchRows][]uint64
	rows [types.BatchRows]int32
	run  expr.Run
}

// take adds a row, the k-th live and i-th physical one, to the group in the current slice.
func (r *windowRun) take(w *WindowAggregate, k int, i int32) {
	m := w.cur.m
	r.maps[r.n], r.rows[r.n] = m, i
	r.refs[r.n], _ = m.Upsert(w.keys.at(k))
	r.n++
}

// fold accumulates the rows.
func (r *windowRun) fold(w *WindowAggregate, b *types.Batch) {
	for k := range r.n {
		r.accs[k] = r.maps[k].Touch(r.refs[k])
	}
	r.run = expr.Run{Accs: r.accs[:r.n], Rows: r.rows[:r.n]}
	for i := range w.aggs.slots {
		s := &w.aggs.slots[i]
		r.run.From = s.from
		s.acc.Fold(&r.run, b)
	}
	r.n = 0
}
