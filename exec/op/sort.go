package op

import (
	"math"

	"runnel/types"
)

// Sort gives the rows of a bounded input in order when it ends, or the rows Offset+1 to Offset+Limit of that order. Rows
// with equal keys keep the order of their arrival. What does not fit into memory is on disk; with a limit about twice
// Offset+Limit rows are kept.
type Sort struct {
	single
	fields []types.Field
	order  ordering
	offset int64
	limit  int64 // offset included: the number of rows to keep
	rows   *sorter
	out    types.Batch
}

// NewSort makes a sort of rows of the given fields.
func NewSort(fields []types.Field, keys []SortKey) *Sort {
	return NewSortLimit(fields, keys, 0, -1)
}

// NewSortLimit makes a sort that gives only the rows offset+1 to offset+limit; a negative limit is none.
func NewSortLimit(fields []types.Field, keys []SortKey, offset, limit int64) *Sort {
	if limit < 0 {
		limit = math.MaxInt64
	}
	return &Sort{fields: fields, order: keys, offset: offset, limit: min(limit, math.MaxInt64-offset) + offset}
}

// Open makes room for the rows.
func (s *Sort) Open(ctx *Context) error {
	s.ctx, s.rows = ctx, newSorter(ctx, s.fields, s.order, s.limit)
	return nil
}

// Process keeps the rows.
func (s *Sort) Process(_ int, b *types.Batch) error { return s.rows.add(b) }

// EndInput gives the rows.
func (s *Sort) EndInput(int) error {
	skip := s.offset
	err := s.rows.each(func(b *types.Batch) error {
		n := min(skip, int64(b.Len))
		if skip -= n; n == 0 {
			return s.ctx.Out.Emit(b)
		}
		if int(n) == b.Len {
			return nil
		}
		return emitSelected(s.ctx.Out, &s.out, b, types.All(b.Len)[n:])
	})
	s.rows.rows = collected{}
	return err
}

// Close removes what is on disk.
func (s *Sort) Close() error { return s.rows.close() }
