package op

import (
	"runnel/state"
	"runnel/types"
)

// topFirst is how a TopN gives the first rank of rows that are never taken back: a partition's record holds the row and its
// sort keys, and most rows are turned away by these.
type topFirst struct {
	widths []int // of the sort keys, in words
	words  int
}

// Values of a partition's record: the row, then its sort keys.
const (
	firstRow = iota
	firstWords
)

// newTopFirst gives nil if a TopN is no such one, or has sort keys of no fixed width.
func newTopFirst(spec Ranking) *topFirst {
	if spec.Retract || spec.To != 1 || spec.ToColumn >= 0 || spec.Key != nil {
		return nil
	}
	f := &topFirst{widths: make([]int, len(spec.Order))}
	for i, k := range spec.Order {
		switch spec.In[k.Column].Type.Phys() {
		case types.PhysInt, types.PhysFloat:
			f.widths[i] = 2
		case types.PhysWide:
			f.widths[i] = 3
		default:
			return nil
		}
		f.words += f.widths[i]
	}
	return f
}

// values gives the form of the records.
func (f *topFirst) values() []state.Value {
	return append([]state.Value{firstRow: keptRow}, state.Words(f.words)...)
}

// sortKeys appends the sort keys of a row, a NULL with as many words as a value.
func (f *topFirst) sortKeys(dst []uint64, order ordering, cols []*types.Column, i int32) []uint64 {
	for k, width := range f.widths {
		at := len(dst)
		for dst = order[k:k+1].words(dst, cols, i); len(dst) < at+width; {
			dst = append(dst, 0)
		}
	}
	return dst
}

// applyFirst applies the rows of a batch.
func (t *TopN) applyFirst(b *types.Batch) error {
	t.keys.encode(b)
	for k, i := range b.Live() {
		if k%runRows == 0 && t.stable {
			t.block.lookUp(t.table, &t.keys, k, min(k+runRows, b.Rows()))
		}
		m, r := t.table.Of(t.keys.group[k]), state.Ref(0)
		if t.stable {
			r = t.block.refs[k%runRows]
		}
		fresh := false
		if r == 0 {
			r, fresh = m.Upsert(t.keys.at(k))
		}
		t.words = t.first.sortKeys(t.words[:0], t.order, b.Cols, i)
		if !fresh && state.CompareWords(t.words, m.Get(r)[firstWords:]) >= 0 {
			continue // among equals the earlier stays
		}
		if err := t.lead(m, r, fresh, b, i); err != nil {
			return err
		}
	}
	return nil
}

// lead makes row i of b, whose sort keys are in words, the first one of a partition.
func (t *TopN) lead(m *state.Map, r state.Ref, fresh bool, b *types.Batch, i int32) error {
	kind := types.Insert
	if !fresh {
		kind = types.UpdateAfter
		kept, _ := m.Bytes(r, firstRow)
		if err := t.give(types.UpdateBefore, &rankedRow{bytes: kept}, 1); err != nil {
			return err
		}
	}
	copy(m.Touch(r)[firstWords:], t.words)
	m.PutBytes(r, firstRow, t.rows.of(b, i))
	row := t.out.take(b, i)
	return t.give(kind, &row, 1)
}
