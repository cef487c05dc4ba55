package op

import (
	"runnel/expr"
	"runnel/state"
	"runnel/types"
)

// windowRun gathers the rows of a batch that go into open slices until a window fires, so that their groups are looked up
// together and each accumulator then goes through all of them. No slice is dropped while a run is under way.
type windowRun struct {
	n     int
	maps  [types.BatchRows]*state.Map
	refs  [types.BatchRows]state.Ref
	accs  [types.BatchRows][]uint64
	live  [types.BatchRows]int32
	rows  [types.BatchRows]int32
	batch types.Batch // borrowed: only its columns count
	find  state.Finder
	run   expr.Run
	err   error // of merging accumulators
}

// begin starts with a batch.
func (r *windowRun) begin(b *types.Batch) { r.n, r.batch.Cols = 0, b.Cols }

// take adds a row, the k-th live and i-th physical one, to the current slice.
func (r *windowRun) take(w *WindowAggregate, k int, i int32) {
	if r.n == len(r.rows) {
		r.fold(w)
	}
	r.maps[r.n], r.live[r.n], r.rows[r.n] = w.cur.m, int32(k), i
	r.n++
}

// fold accumulates the rows.
func (r *windowRun) fold(w *WindowAggregate) {
	for from := 0; from < r.n; from += runRows {
		r.foldSome(w, from, min(from+runRows, r.n))
	}
	r.n = 0
}

// foldSome accumulates some of the rows.
func (r *windowRun) foldSome(w *WindowAggregate, from, to int) {
	maps, refs, live, accs := r.maps[from:to], r.refs[from:to], r.live[from:to], r.accs[from:to]
	r.find.Find(maps, &w.keys.Keys, live, refs)
	for k, ref := range refs {
		if ref == 0 {
			refs[k], _ = maps[k].Upsert(w.keys.at(int(live[k])))
		}
	}
	for k, m := range maps {
		accs[k] = m.Touch(refs[k])
	}
	if w.merging != nil {
		if err := w.mergeRun(maps, refs, accs, r.rows[from:to]); err != nil && r.err == nil {
			r.err = err
		}
		return
	}
	r.run = expr.Run{Accs: accs, Rows: r.rows[from:to]}
	for i := range w.aggs.slots {
		s := &w.aggs.slots[i]
		r.run.From = s.from
		s.acc.Fold(&r.run, &r.batch)
	}
}
