package op

import (
	"runnel/state"
	"runnel/types"
)

// batchKeys encodes the key columns of a batch as state wants them.
type batchKeys struct {
	types.Keys
	codec  *types.KeyCodec
	cols   []int
	groups int // number of key groups
	group  []int32
	owner  *batchKeys // the part of the key that the key group comes from; nil for all of it
}

func newBatchKeys(fields []types.Field, cols []int, groups int) batchKeys {
	return batchKeys{codec: types.NewKeyCodec(fieldTypes(fields, cols)), cols: cols, groups: groups}
}

// newOwnedKeys makes keys of cols and further columns, whose key group is that of cols alone: the exchange in front of the
// operator distributes by these, and a restored key must be found where its rows go.
func newOwnedKeys(fields []types.Field, cols []int, groups int, further ...int) batchKeys {
	owner := newBatchKeys(fields, cols, groups)
	k := newBatchKeys(fields, append(cols[:len(cols):len(cols)], further...), groups)
	k.owner = &owner
	return k
}

// encode encodes the keys of the live rows of b.
func (k *batchKeys) encode(b *types.Batch) {
	k.codec.Encode(b, k.cols, &k.Keys)
	if k.owner != nil {
		k.owner.encode(b)
		k.group = k.owner.group
		return
	}
	k.group = types.KeyGroups(k.group[:0], k.Hash, k.groups)
}

// at gives the key of the i-th live row.
func (k *batchKeys) at(i int) state.Key { return state.KeyAt(&k.Keys, k.group, i) }

// keyBlock is a block of up to runRows rows whose records are looked up together. Records must stay where they are until all of
// the block has been worked on: nothing may be deleted.
type keyBlock struct {
	find state.Finder
	maps [runRows]*state.Map
	refs [runRows]state.Ref // 0 for keys without a record
}

// lookUp finds the records of the keys from, .., to-1.
func (x *keyBlock) lookUp(t *state.Table, keys *batchKeys, from, to int) {
	for k := range to - from {
		x.maps[k] = t.Of(keys.group[from+k])
	}
	x.find.Find(x.maps[:to-from], &keys.Keys, types.All(to)[from:], x.refs[:to-from])
}

// firstColumns gives the numbers of the first n columns.
func firstColumns(n int) []int {
	cols := make([]int, n)
	for i := range cols {
		cols[i] = i
	}
	return cols
}

// allTypes gives the types of all fields.
func allTypes(fields []types.Field) []types.Type {
	return fieldTypes(fields, firstColumns(len(fields)))
}

// fieldTypes gives the types of some fields.
func fieldTypes(fields []types.Field, of []int) []types.Type {
	ts := make([]types.Type, len(of))
	for i, f := range of {
		ts[i] = fields[f].Type
	}
	return ts
}

// keyColumns describes key columns in a state's descriptor.
func keyColumns(fields []types.Field, of []int) []state.KeyColumn {
	ks := make([]state.KeyColumn, len(of))
	for i, f := range of {
		ks[i] = state.KeyColumn{Name: fields[f].Name, Origin: fields[f].Origin, Type: fields[f].Type.Plain().String()}
	}
	return ks
}

// pick gives some of the fields.
func pick(fields []types.Field, of []int) []types.Field {
	fs := make([]types.Field, len(of))
	for i, f := range of {
		fs[i] = fields[f]
	}
	return fs
}
