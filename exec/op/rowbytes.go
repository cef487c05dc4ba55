package op

import (
	"unsafe"

	"runnel/types"
)

// rowBytes turns rows into byte strings for state, and back.
type rowBytes struct {
	codec *types.RowCodec
	buf   []byte
}

func newRowBytes(fields []types.Field) rowBytes {
	ts := make([]types.Type, len(fields))
	for i, f := range fields {
		ts[i] = f.Type
	}
	c := types.NewRowCodec(ts)
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
