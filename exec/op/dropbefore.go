package op

import "runnel/types"

// DropUpdateBefore lets everything through but -U.
type DropUpdateBefore struct {
	single
	sel []int32
	out types.Batch
}

// NewDropUpdateBefore makes the operator.
func NewDropUpdateBefore() *DropUpdateBefore { return &DropUpdateBefore{} }

// Process drops the -U rows.
func (d *DropUpdateBefore) Process(_ int, b *types.Batch) error {
	if b.Kinds == nil {
		return d.ctx.Out.Emit(b)
	}
	d.sel = d.sel[:0]
	for k := range b.Rows() {
		if i := b.Row(k); b.Kinds[i] != types.UpdateBefore {
			d.sel = append(d.sel, i)
		}
	}
	return emitSelected(d.ctx.Out, &d.out, b, d.sel)
}

// emitSelected sends the rows sel of b with b's marks, by means of the batch out.
func emitSelected(to Out, out, b *types.Batch, sel []int32) error {
	if len(sel) == 0 {
		if len(b.Marks) == 0 {
			return nil
		}
		sel = types.All(0) // a nil selection would be all rows
	}
	*out = types.Batch{Len: b.Len, Sel: sel, Kinds: b.Kinds, Cols: b.Cols, Marks: b.Marks}
	return to.Emit(out)
}
