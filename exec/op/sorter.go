package op

import (
	"math"

	"runnel/types"
)

// sorter sorts the rows of a bounded input: in memory, or by merging sorted runs on disk. Rows with equal keys keep the
// order of their arrival.
type sorter struct {
	space  *spillSpace
	fields []types.Field
	order  ordering
	limit  int64 // no more rows than these, the first ones, come out
	codec  *types.RowCodec
	rows   collected
	spare  collected
	runs   []*rowRun // in order of arrival
}

func newSorter(ctx *Context, fields []types.Field, order ordering, limit int64) *sorter {
	return &sorter{space: newSpillSpace(ctx), fields: fields, order: order, limit: limit, codec: newRunCodec(fields),
		rows: newCollected(fields), spare: newCollected(fields)}
}

// add takes rows.
func (s *sorter) add(b *types.Batch) error {
	s.rows.add(b)
	// From time to time keep only the rows that can still come out.
	if s.limit < math.MaxInt32/4 && int64(s.rows.n) >= 2*s.limit+types.BatchRows {
		s.prune()
	}
	if s.space.over(s.rows.memory()) || s.rows.n > math.MaxInt32/2 {
		return s.cut()
	}
	return nil
}

func (s *sorter) prune() {
	keep := s.first()
	s.spare.reset()
	for i, c := range s.spare.cols {
		c.Gather(s.rows.cols[i], keep, s.rows.n)
	}
	s.spare.n, s.spare.text = len(keep), s.rows.text*int64(len(keep))/int64(max(1, s.rows.n))
	s.rows, s.spare = s.spare, s.rows
}

// first gives the rows in memory that can come out, in order.
func (s *sorter) first() []int32 {
	perm := s.rows.sorted(s.order)
	return perm[:min(s.limit, int64(len(perm)))]
}

// cut makes a sorted run of the rows in memory.
func (s *sorter) cut() error {
	run := s.space.newRun(s.codec)
	for _, i := range s.first() {
		if err := run.add(s.rows.cols, i); err != nil {
			return err
		}
	}
	s.rows, s.spare = newCollected(s.fields), newCollected(s.fields)
	s.runs = append(s.runs, run)
	return run.finish()
}

// finish moves a run that is complete to the file.
func (r *rowRun) finish() error {
	if err := r.cut(); err != nil {
		return err
	}
	r.space.used = 0
	return r.space.evict()
}

// each calls f with the rows in order, as batches, which are borrowed.
func (s *sorter) each(f func(*types.Batch) error) error {
	if len(s.runs) == 0 {
		return s.rows.each(s.fields, s.first(), f)
	}
	if s.rows.n > 0 {
		if err := s.cut(); err != nil {
			return err
		}
	}
	// A block of each run is in memory while runs are merged.
	for wide := int(max(s.space.Memory/int64(s.space.blockSize()), 2)); len(s.runs) > wide; {
		var merged []*rowRun
		for at := 0; at < len(s.runs); at += wide {
			run := s.space.newRun(s.codec)
			part := s.runs[at:min(at+wide, len(s.runs))]
			err := s.merge(part, func(b *types.Batch) error {
				for i := range b.Len {
					if err := run.add(b.Cols, int32(i)); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
			if err := run.finish(); err != nil {
				return err
			}
			for _, r := range part {
				r.drop()
			}
			merged = append(merged, run)
		}
		s.runs = merged
	}
	return s.merge(s.runs, f)
}

// mergeHead is the row of a run whose turn it is.
type mergeHead struct {
	in   runReader
	rows collected
	at   int32
	age  int // place of the run in order of arrival
}

// fill reads the next rows of the run.
func (h *mergeHead) fill(max int) (more bool, err error) {
	h.rows.reset()
	h.rows.n, err = h.in.read(h.rows.cols, max)
	h.at = 0
	return h.rows.n > 0, err
}

// merge gives the rows of sorted runs in order.
func (s *sorter) merge(runs []*rowRun, f func(*types.Batch) error) error {
	rows := max(1, types.BatchRows/len(runs))
	heads := make([]*mergeHead, 0, len(runs)) // a heap
	for age, r := range runs {
		h := &mergeHead{in: runReader{run: r}, rows: newCollected(s.fields), age: age}
		more, err := h.fill(rows)
		if err != nil {
			return err
		}
		if more {
			heads = append(heads, h)
		}
	}
	for i := len(heads)/2 - 1; i >= 0; i-- {
		s.sink(heads, i)
	}
	out := types.NewBatch(s.fields)
	for left := s.limit; len(heads) > 0 && left > 0; left-- {
		h := heads[0]
		for j, c := range out.Cols {
			c.AppendFrom(h.rows.cols[j], h.at)
		}
		if out.Push(types.Insert); out.Full() {
			if err := f(out); err != nil {
				return err
			}
			out.Reset()
		}
		if h.at++; int(h.at) == h.rows.n {
			more, err := h.fill(rows)
			if err != nil {
				return err
			}
			if !more {
				heads[0] = heads[len(heads)-1]
				heads = heads[:len(heads)-1]
			}
		}
		s.sink(heads, 0)
	}
	if out.Len == 0 {
		return nil
	}
	return f(out)
}

// sink moves a head down to its place in the heap.
func (s *sorter) sink(heads []*mergeHead, i int) {
	for {
		least := i
		for c := 2*i + 1; c <= 2*i+2 && c < len(heads); c++ {
			if s.before(heads[c], heads[least]) {
				least = c
			}
		}
		if least == i {
			return
		}
		heads[i], heads[least] = heads[least], heads[i]
		i = least
	}
}

func (s *sorter) before(a, b *mergeHead) bool {
	if c := s.order.compare(a.rows.cols, a.at, b.rows.cols, b.at); c != 0 {
		return c < 0
	}
	return a.age < b.age
}

// close removes what is on disk.
func (s *sorter) close() error {
	if s == nil {
		return nil
	}
	return s.space.close()
}
