package expr

import "runnel/types"

// withPartial gives an accumulator that keeps its values in the collection of slot 0, and cannot hold less than nothing, a
// partial form: it also lists what is taken back and was not found. key gives the element of a row, nil for none.
func withPartial(a *Accumulator, key func(b *types.Batch, i int32) []uint64) *Accumulator {
	owed := len(a.Slots)
	p := *a
	p.Slots = append(a.Slots[:owed:owed], Slot{Kind: ListSlot})
	p.Stored = true
	p.Retract = func(_ []uint64, st Store, b *types.Batch, i int32) error {
		words := key(b, i)
		if words == nil {
			return nil
		}
		if all := st.Elems(0); all.Find(words) != 0 {
			removeFirst(all, words)
		} else {
			st.Elems(owed).Add(words)
		}
		return nil
	}
	merge := a.Merge
	a.Partial = &p
	a.MergePartial = func(acc []uint64, st Store, from []uint64, fromStore Store) error {
		all, taken := st.Elems(0), fromStore.Elems(owed)
		for e := taken.Next(0); e != 0; e = taken.Next(e) {
			removeFirst(all, taken.Words(e))
		}
		return merge(acc, st, from, fromStore)
	}
	return a
}
