package op

import (
	"slices"

	"runnel/types"
)

// collected are the rows of a bounded input, in memory.
type collected struct {
	cols []*types.Column
	n    int
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
		col.Gather(b.Cols[i], b.Sel, b.Len)
	}
	c.n += b.Rows()
}

// sorted gives the row numbers in an order; rows with equal keys keep the order of their arrival.
func (c *collected) sorted(by ordering) []int32 {
	perm := make([]int32, c.n)
	for i := range perm {
		perm[i] = int32(i)
	}
	slices.SortStableFunc(perm, func(a, b int32) int { return by.compare(c.cols, a, c.cols, b) })
	return perm
}

// give puts out the rows that perm names, with the columns more behind them, which are in the order of perm.
func (c *collected) give(out *output, perm []int32, more []*types.Column) error {
	places := make([]int32, 0, types.BatchRows)
	for at := 0; at < len(perm); at += types.BatchRows {
		part := perm[at:min(at+types.BatchRows, len(perm))]
		places = places[:0]
		for k := range part {
			places = append(places, int32(at+k))
		}
		for i, col := range c.cols {
			out.Cols[i].Gather(col, part, c.n)
		}
		for i, col := range more {
			out.Cols[len(c.cols)+i].Gather(col, places, len(perm))
		}
		out.Len = len(part)
		if err := out.flush(); err != nil {
			return err
		}
	}
	return nil
}
