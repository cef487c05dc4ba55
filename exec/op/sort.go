package op

import (
	"math"
	"slices"

	"runnel/types"
)

// Sort gives the rows of a bounded input in order when it ends, or the rows Offset+1 to Offset+Limit of that order. Rows
// with equal keys keep the order of their arrival. It holds rows in memory: all, or about twice Offset+Limit of them.
type Sort struct {
	single
	fields []types.Field
	order  ordering
	offset int64
	limit  int64 // offset included: the number of rows to keep

	rows  []*types.Column // everything held, in order of arrival among equals
	n     int
	perm  []int32
	spare []*types.Column
	out   output
}

// NewSort makes a sort of rows of the given fields.
func NewSort(fields []types.Field, keys []SortKey) *Sort {
	return NewSortLimit(fields, keys, 0, math.MaxInt64)
}

// NewSortLimit makes a sort that gives only the rows offset+1 to offset+limit; a negative limit is none.
func NewSortLimit(fields []types.Field, keys []SortKey, offset, limit int64) *Sort {
	if limit < 0 {
		limit = math.MaxInt64
	}
	s := &Sort{fields: fields, order: keys, offset: offset, limit: min(limit, math.MaxInt64-offset) + offset}
	s.rows, s.spare = make([]*types.Column, len(fields)), make([]*types.Column, len(fields))
	for i, f := range fields {
		s.rows[i], s.spare[i] = types.NewColumn(f.Type, 0), types.NewColumn(f.Type, 0)
	}
	return s
}

// Process keeps the rows.
func (s *Sort) Process(_ int, b *types.Batch) error {
	for i, c := range s.rows {
		c.Gather(b.Cols[i], b.Sel, b.Len)
	}
	s.n += b.Rows()
	// From time to time keep only the rows that can still come out.
	if s.limit < math.MaxInt32/4 && int64(s.n) >= 2*s.limit+types.BatchRows {
		s.prune()
	}
	return nil
}

// sorted gives the row numbers in order.
func (s *Sort) sorted() []int32 {
	s.perm = s.perm[:0]
	for i := range s.n {
		s.perm = append(s.perm, int32(i))
	}
	slices.SortFunc(s.perm, func(a, b int32) int {
		if c := s.order.compare(s.rows, a, s.rows, b); c != 0 {
			return c
		}
		return int(a) - int(b)
	})
	return s.perm
}

func (s *Sort) prune() {
	keep := s.sorted()[:s.limit]
	slices.Sort(keep) // back to order of arrival
	for i, c := range s.spare {
		c.Reset()
		c.Gather(s.rows[i], keep, s.n)
	}
	s.rows, s.spare = s.spare, s.rows
	s.n = len(keep)
}

// EndInput gives the rows.
func (s *Sort) EndInput(int) error {
	perm := s.sorted()
	perm = perm[min(s.offset, int64(len(perm))):min(s.limit, int64(len(perm)))]
	s.out = newOutput(s.ctx.Out, s.fields)
	for len(perm) > 0 {
		part := perm[:min(len(perm), types.BatchRows)]
		perm = perm[len(part):]
		for i, c := range s.out.Cols {
			c.Gather(s.rows[i], part, s.n)
		}
		s.out.Len = len(part)
		if err := s.out.flush(); err != nil {
			return err
		}
	}
	s.rows, s.spare, s.perm, s.n = nil, nil, nil, 0
	return nil
}
