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

	rows, spare collected
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
	return &Sort{
		fields: fields, order: keys, offset: offset, limit: min(limit, math.MaxInt64-offset) + offset,
		rows: newCollected(fields), spare: newCollected(fields),
	}
}

// Process keeps the rows.
func (s *Sort) Process(_ int, b *types.Batch) error {
	s.rows.add(b)
	// From time to time keep only the rows that can still come out.
	if s.limit < math.MaxInt32/4 && int64(s.rows.n) >= 2*s.limit+types.BatchRows {
		s.prune()
	}
	return nil
}

func (s *Sort) prune() {
	keep := s.rows.sorted(s.order)[:s.limit]
	slices.Sort(keep) // back to order of arrival
	for i, c := range s.spare.cols {
		c.Reset()
		c.Gather(s.rows.cols[i], keep, s.rows.n)
	}
	s.spare.n = len(keep)
	s.rows, s.spare = s.spare, s.rows
}

// EndInput gives the rows.
func (s *Sort) EndInput(int) error {
	perm := s.rows.sorted(s.order)
	perm = perm[min(s.offset, int64(len(perm))):min(s.limit, int64(len(perm)))]
	out := newOutput(s.ctx.Out, s.fields)
	err := s.rows.give(&out, perm, nil)
	s.rows, s.spare = collected{}, collected{}
	return err
}
