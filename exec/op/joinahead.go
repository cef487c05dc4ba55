package op

import (
	"runnel/expr"
	"runnel/state"
	"runnel/types"
)

// joinAhead holds the partners of several rows of an input, found with one evaluation of the condition over pairs that have
// only the columns which it reads. What the rows of a batch do changes nothing in the log of the other side but counts.
type joinAhead struct {
	pairs *types.Batch
	cols  []*types.Column // of pairs; nil: the condition does not read it
	rows  []state.Row     // of all rows, one after the other
	ends  []int           // by row, where its partners end
	mine  []int32         // by candidate: its row in the input batch
}

func newJoinAhead(cond expr.Expr, fields []types.Field) joinAhead {
	a := joinAhead{pairs: types.NewBatch(fields), cols: make([]*types.Column, len(fields))}
	for _, c := range expr.Refs(cond) {
		a.cols[c] = a.pairs.Cols[c]
	}
	return a
}

// of gives the partners of a row, oldest first.
func (a *joinAhead) of(row int) []state.Row {
	from := 0
	if row > 0 {
		from = a.ends[row-1]
	}
	return a.rows[from:a.ends[row]]
}

// lookAhead finds the partners of some rows of a batch, from live row from on, and says of how many; false if they are to be
// looked for one by one: there are many for the first row, or the condition fails, which must not be seen before its turn.
func (j *Join) lookAhead(my, other *regularSide, b *types.Batch, from int) (n int, known bool) {
	a := &j.ahead
	a.rows, a.ends, a.mine = a.rows[:0], a.ends[:0], a.mine[:0]
	for k, i := range b.Live()[from:] {
		at := len(a.rows)
		if !my.nullKey(b, i) {
			a.rows = other.candidates(a.rows, my.keys.at(from+k))
		}
		if len(a.rows) > types.BatchRows {
			if k == 0 {
				return 1, false
			}
			a.rows = a.rows[:at]
			break
		}
		a.ends = append(a.ends, len(a.rows))
		for range len(a.rows) - at {
			a.mine = append(a.mine, i)
		}
	}
	n = len(a.ends)
	if len(a.rows) == 0 {
		return n, true
	}
	a.fill(my, other, b)
	passed, err := j.cond(a.pairs, types.All(a.pairs.Len), j.passed[:0])
	if err != nil {
		return n, false
	}
	j.passed = passed
	a.keep(passed)
	return n, true
}

// fill makes the pairs.
func (a *joinAhead) fill(my, other *regularSide, b *types.Batch) {
	a.pairs.Reset()
	for c, col := range b.Cols {
		if dst := a.cols[my.first+c]; dst != nil {
			dst.Gather(col, a.mine, len(a.mine))
		}
	}
	theirs := a.cols[other.first : other.first+len(other.Fields)]
	for _, x := range a.rows {
		other.log.Emit(x, theirs)
		a.pairs.Push(types.Insert)
	}
}

// keep leaves the candidates that passed, named in ascending order.
func (a *joinAhead) keep(passed []int32) {
	kept, p := 0, 0
	for row, end := range a.ends {
		for p < len(passed) && int(passed[p]) < end {
			a.rows[kept] = a.rows[passed[p]]
			kept++
			p++
		}
		a.ends[row] = kept
	}
	a.rows = a.rows[:kept]
}
