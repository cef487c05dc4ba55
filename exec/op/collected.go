package op

import (
	"cmp"
	"slices"

	"runnel/types"
)

// collected are rows in memory.
type collected struct {
	cols []*types.Column
	n    int
	text int64 // bytes behind strings and boxed values
	buf  []byte
}

func newCollected(fields []types.Field) collected {
	c := collected{cols: make([]*types.Column, len(fields))}
	for i, f := range fields {
		c.cols[i] = types.NewColumn(f.Type, 0)
	}
	return c
}

func (c *collected) add(b *types.Batch) {
	for i, col := range c.cols {
		from := col.Len()
		col.Gather(b.Cols[i], b.Sel, b.Len)
		switch col.Phys() {
		case types.PhysStr:
			for _, s := range col.Str[from:] {
				c.text += int64(len(s))
			}
		case types.PhysAny:
			for k := from; k < col.Len(); k++ {
				if !col.Null(int32(k)) {
					c.buf = types.AppendDatum(c.buf[:0], col.Type, col.At(int32(k)))
					c.text += boxedFactor * int64(len(c.buf))
				}
			}
		}
	}
	c.n += b.Rows()
}

// boxedFactor is about how much larger a boxed value is in memory than encoded.
const boxedFactor = 4

// memory is about the number of bytes of the rows.
func (c *collected) memory() int64 {
	width := int64(16 + 4) // its place while it is sorted
	for _, col := range c.cols {
		switch col.Phys() {
		case types.PhysInt, types.PhysFloat:
			width += 8
		default:
			width += 16
		}
	}
	return width*int64(c.n) + c.text
}

// reset takes the rows out.
func (c *collected) reset() {
	for _, col := range c.cols {
		col.Reset()
	}
	c.n, c.text = 0, 0
}

// sorted gives the row numbers in an order; rows with equal keys keep the order of their arrival.
func (c *collected) sorted(by ordering) []int32 {
	type place struct {
		prefix uint64
		row    int32
	}
	places := make([]place, c.n)
	for i := range places {
		places[i] = place{by.prefix(c.cols, int32(i)), int32(i)}
	}
	slices.SortFunc(places, func(a, b place) int {
		if a.prefix != b.prefix {
			return cmp.Compare(a.prefix, b.prefix)
		}
		if d := by.compare(c.cols, a.row, c.cols, b.row); d != 0 {
			return d
		}
		return cmp.Compare(a.row, b.row)
	})
	perm := make([]int32, c.n)
	for i, p := range places {
		perm[i] = p.row
	}
	return perm
}

// each calls f with the rows that perm names, as batches, which are borrowed.
func (c *collected) each(fields []types.Field, perm []int32, f func(*types.Batch) error) error {
	b := types.NewBatch(fields)
	for at := 0; at < len(perm); at += types.BatchRows {
		part := perm[at:min(at+types.BatchRows, len(perm))]
		for i, col := range c.cols {
			b.Cols[i].Gather(col, part, c.n)
		}
		b.Len = len(part)
		if err := f(b); err != nil {
			return err
		}
		b.Reset()
	}
	return nil
}
