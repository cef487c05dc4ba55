package expr

import (
	"math"

	"runnel/types"
)

// Run is a number of rows on their way into accumulators: physical row Rows[k] of a batch goes into Accs[k], the words of
// a group's record, of which the accumulator's own begin at From. Several rows may have one group; they come in order.
type Run struct {
	Accs [][]uint64
	Rows []int32
	From int
	// Fresh[k] says that row k is the first of its group.
	Fresh []bool
	// Take[k] says that row k counts (FILTER, DISTINCT): a trace gives the results of the others too, which do not change.
	// nil: all count.
	Take []bool
	// Back[k] says that row k is taken back, see Accumulator.Retract. nil: none is.
	Back []bool
	// Outs is what a trace gives: two results for every row, before and after, but only one where the row is Fresh.
	Outs int
}

func (r *Run) takes(k int) bool { return r.Take == nil || r.Take[k] }

func (r *Run) back(k int) bool { return r.Back != nil && r.Back[k] }

// The accumulators below have run forms. Each is a type with the two steps of a row, add and value, and its own two loops
// over them: in a loop over a type parameter or a closure every step would be a call.

// countSteps are those of COUNT(*), with arg -1, and of COUNT over one column.
type countSteps struct{ arg int }

func (s countSteps) column(b *types.Batch) *types.Column {
	if s.arg < 0 {
		return &types.Column{}
	}
	return b.Cols[s.arg]
}

func (s countSteps) add(acc []uint64, c *types.Column, i int32) {
	if c.Valid == nil || c.Valid.Has(i) {
		acc[0]++
	}
}

func (s countSteps) fold(r *Run, b *types.Batch) {
	c := s.column(b)
	for k, acc := range r.Accs {
		s.add(acc[r.From:], c, r.Rows[k])
	}
}

func (s countSteps) trace(r *Run, b *types.Batch, out *types.Column) {
	c, dst, o, from := s.column(b), out.ExtendInt(r.Outs), 0, r.From
	for k, acc := range r.Accs {
		n := acc[from]
		if !r.Fresh[k] {
			dst[o] = int64(n)
			o++
		}
		// Whether a row counts is anybody's guess: no branch depends on it.
		one := uint64(1)
		if r.Take != nil {
			one = uint64(toInt(r.Take[k]))
		}
		if c.Valid != nil {
			i := r.Rows[k]
			one &= c.Valid[i>>6] >> (uint(i) & 63)
		}
		if r.back(k) {
			one = -one
		}
		n += one
		acc[from] = n
		dst[o] = int64(n)
		o++
	}
}

// sumIntSteps are those of SUM and AVG of integers.
type sumIntSteps struct {
	arg  int
	kind types.Kind
	zero bool // 0 instead of NULL
	mean bool
}

func (s sumIntSteps) add(acc []uint64, c *types.Column, i int32) {
	if !c.Null(i) {
		acc[0]++
		acc[1] += uint64(c.Int[i])
	}
}

func (s sumIntSteps) take(acc []uint64, c *types.Column, i int32) {
	if !c.Null(i) {
		acc[0]--
		acc[1] -= uint64(c.Int[i])
	}
}

func (s sumIntSteps) result(acc []uint64) (v int64, null bool) {
	v = int64(acc[1])
	if s.mean && acc[0] != 0 {
		v /= int64(acc[0])
	}
	return wrap(s.kind, v), acc[0] == 0 && !s.zero
}

func (s sumIntSteps) value(acc []uint64, out *types.Column) {
	v, null := s.result(acc)
	if null {
		out.AppendNull()
		return
	}
	out.AppendInt(v)
}

func (s sumIntSteps) fold(r *Run, b *types.Batch) {
	c := b.Cols[s.arg]
	for k, acc := range r.Accs {
		s.add(acc[r.From:], c, r.Rows[k])
	}
}

func (s sumIntSteps) trace(r *Run, b *types.Batch, out *types.Column) {
	c, at, o := b.Cols[s.arg], out.Len(), 0
	dst := out.ExtendInt(r.Outs)
	for k, acc := range r.Accs {
		acc = acc[r.From : r.From+2]
		null := false
		if !r.Fresh[k] {
			if dst[o], null = s.result(acc); null {
				out.SetNull(int32(at + o))
			}
			o++
		}
		switch {
		case !r.takes(k):
		case r.back(k):
			s.take(acc, c, r.Rows[k])
		default:
			s.add(acc, c, r.Rows[k])
		}
		if dst[o], null = s.result(acc); null {
			out.SetNull(int32(at + o))
		}
		o++
	}
}

// sumFloatSteps are those of SUM and AVG of DOUBLE.
type sumFloatSteps struct {
	arg        int
	zero, mean bool
}

func (s sumFloatSteps) add(acc []uint64, c *types.Column, i int32) {
	if !c.Null(i) {
		acc[0]++
		acc[1] = math.Float64bits(math.Float64frombits(acc[1]) + c.Flt[i])
	}
}

func (s sumFloatSteps) take(acc []uint64, c *types.Column, i int32) {
	if !c.Null(i) {
		acc[0]--
		acc[1] = math.Float64bits(math.Float64frombits(acc[1]) - c.Flt[i])
	}
}

func (s sumFloatSteps) value(acc []uint64, out *types.Column) {
	if acc[0] == 0 && !s.zero {
		out.AppendNull()
		return
	}
	v := math.Float64frombits(acc[1])
	if s.mean {
		v /= float64(int64(acc[0]))
	}
	out.AppendFloat(v)
}

func (s sumFloatSteps) fold(r *Run, b *types.Batch) {
	c := b.Cols[s.arg]
	for k, acc := range r.Accs {
		s.add(acc[r.From:], c, r.Rows[k])
	}
}

func (s sumFloatSteps) trace(r *Run, b *types.Batch, out *types.Column) {
	c := b.Cols[s.arg]
	for k, acc := range r.Accs {
		acc = acc[r.From : r.From+2]
		if !r.Fresh[k] {
			s.value(acc, out)
		}
		switch {
		case !r.takes(k):
		case r.back(k):
			s.take(acc, c, r.Rows[k])
		default:
			s.add(acc, c, r.Rows[k])
		}
		s.value(acc, out)
	}
}

// extremeIntSteps are those of MIN (sign -1) and MAX (1) of what is held as integers.
type extremeIntSteps struct {
	arg  int
	sign int
}

func (s extremeIntSteps) add(acc []uint64, c *types.Column, i int32) {
	if c.Null(i) {
		return
	}
	v, best := c.Int[i], int64(acc[1])
	if acc[0] == 0 || s.sign > 0 && v > best || s.sign < 0 && v < best {
		acc[0], acc[1] = 1, uint64(v)
	}
}

func (s extremeIntSteps) fold(r *Run, b *types.Batch) {
	c := b.Cols[s.arg]
	for k, acc := range r.Accs {
		s.add(acc[r.From:], c, r.Rows[k])
	}
}

func (s extremeIntSteps) trace(r *Run, b *types.Batch, out *types.Column) {
	c, at, o := b.Cols[s.arg], out.Len(), 0
	dst := out.ExtendInt(r.Outs)
	for k, acc := range r.Accs {
		acc = acc[r.From : r.From+2]
		if !r.Fresh[k] {
			if dst[o] = int64(acc[1]); acc[0] == 0 {
				out.SetNull(int32(at + o))
			}
			o++
		}
		if r.takes(k) {
			s.add(acc, c, r.Rows[k])
		}
		if dst[o] = int64(acc[1]); acc[0] == 0 {
			out.SetNull(int32(at + o))
		}
		o++
	}
}

// withRuns adds the run forms of an accumulator.
func withRuns(a *Accumulator, steps interface {
	fold(*Run, *types.Batch)
	trace(*Run, *types.Batch, *types.Column)
}) *Accumulator {
	a.Fold, a.Trace = steps.fold, steps.trace
	return a
}
