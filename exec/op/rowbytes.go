package op

import (
	"slices"
	"unsafe"

	"runnel/types"
)

// rowBytes turns rows into byte strings for state, and back.
type rowBytes struct {
	codec *types.RowCodec
	buf   []byte
}

func newRowBytes(fields []types.Field) rowBytes {
	c := types.NewRowCodec(allTypes(fields))
	c.Share = true // state never changes the bytes that it hands out
	return rowBytes{codec: c}
}

// of gives the bytes of row i, valid until the next call; state copies what it keeps.
func (r *rowBytes) of(b *types.Batch, i int32) string {
	r.buf = r.codec.Append(r.buf[:0], b.Cols, i)
	return unsafe.String(unsafe.SliceData(r.buf), len(r.buf))
}

// decode appends the row to cols. s must never change.
func (r *rowBytes) decode(s string, cols []*types.Column) error {
	_, err := r.codec.Decode(unsafe.Slice(unsafe.StringData(s), len(s)), cols)
	return err
}

// keptRows turns rows into byte strings for state, and back. The columns of the key are left out, as the record has them.
type keptRows struct {
	bytes rowBytes
	cols  []int // that are in the bytes
	key   []int // and that come from the key
	codec *types.KeyCodec
	part  types.Batch // scratch: the columns of a row that are in the bytes
	keys  []*types.Column
}

func newKeptRows(fields []types.Field, key []int, codec *types.KeyCodec) keptRows {
	r := keptRows{key: key, codec: codec}
	for i, k := range key { // equal maps may differ in the order of their entries
		if fields[k].Type.Phys() == types.PhysAny || slices.Contains(key[:i], k) {
			r.key = nil
			break
		}
	}
	for c := range fields {
		if !slices.Contains(r.key, c) {
			r.cols = append(r.cols, c)
		}
	}
	r.bytes = newRowBytes(pick(fields, r.cols))
	r.bytes.codec.Share = false // the room of kept rows is used again
	return r
}

// of gives the bytes of row i, valid until the next call.
func (r *keptRows) of(b *types.Batch, i int32) string {
	r.part.Cols = some(r.part.Cols[:0], b.Cols, r.cols)
	return r.bytes.of(&r.part, i)
}

// decode appends the row of a key to cols.
func (r *keptRows) decode(key []uint64, row string, cols []*types.Column) error {
	r.part.Cols = some(r.part.Cols[:0], cols, r.cols)
	if err := r.bytes.decode(row, r.part.Cols); err != nil || len(r.key) == 0 {
		return err
	}
	r.keys = some(r.keys[:0], cols, r.key)
	return r.codec.Decode(key, r.keys)
}

// some appends some of the columns.
func some(dst, cols []*types.Column, which []int) []*types.Column {
	for _, c := range which {
		dst = append(dst, cols[c])
	}
	return dst
}
