package op

import (
	"runnel/expr"
	"runnel/state"
	"runnel/types"
)

// joinAhead holds the partners of several rows of an input, found with one evaluation of the condition over pairs that have
// only the columns which it reads.
type joinAhead struct {
	pairs  *types.Batch    // nil without a condition
	cols   []*types.Column // of pairs; nil: the condition does not read it
	newest [state.FindRows]state.Row
	rows   []state.Row // of all rows, one after the other
	ends   []int       // by row, where its partners end
	mine   []int32     // by partner: the row in the input batch
	skip   []bool      // by row: it is not kept
}

func newJoinAhead(cond expr.Expr, fields []types.Field) joinAhead {
	if cond == nil {
		return joinAhead{}
	}
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

// lookAhead finds the partners of some rows of a batch, from live row from on, and says of how many; newest has the newest row
// of the other side for each. It gives false if they are to be looked for one by one: there are many for the first row, or the
// condition fails, which must not be seen before its turn.
func (j *Join) lookAhead(my, other *regularSide, b *types.Batch, from int, newest []state.Row) (n int, known bool) {
	a := &j.ahead
	a.rows, a.ends, a.mine, a.skip = a.rows[:0], a.ends[:0], a.mine[:0], a.skip[:0]
	live := b.Live()[from:]
	for k, x := range newest {
		at, null := len(a.rows), my.nullKey(b, live[k])
		if !null && x != 0 {
			a.rows = other.chain(a.rows, x)
		}
		if len(a.rows) > types.BatchRows {
			if k == 0 {
				return 1, false
			}
			a.rows = a.rows[:at]
			break
		}
		a.ends, a.skip = append(a.ends, len(a.rows)), append(a.skip, null)
		for range len(a.rows) - at {
			a.mine = append(a.mine, live[k])
		}
	}
	n = len(a.ends)
	if len(a.rows) == 0 || j.cond == nil {
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
			a.rows[kept], a.mine[kept] = a.rows[passed[p]], a.mine[passed[p]]
			kept++
			p++
		}
		a.ends[row] = kept
	}
	a.rows, a.mine = a.rows[:kept], a.mine[:kept]
}

// joinAll joins the n rows that were looked at, from live row from on: nobody is padded, and no row goes.
func (j *Join) joinAll(my, other *regularSide, b *types.Batch, from, n int) error {
	a := &j.ahead
	my.log.AppendAll(&my.keys.Keys, my.keys.group, from, b.Live()[from:from+n], nil, b.Cols, a.skip)
	for rows, mine := a.rows, a.mine; len(rows) > 0; {
		some := min(len(rows), types.BatchRows-j.out.Len)
		for c, col := range b.Cols {
			j.out.Cols[my.first+c].Gather(col, mine[:some], some)
		}
		theirs := j.out.Cols[other.first : other.first+len(other.Fields)]
		for k, x := range rows[:some] {
			other.log.Emit(x, theirs)
			j.out.Push(b.Kind(mine[k]))
		}
		if j.out.Full() {
			if err := j.out.flush(); err != nil {
				return err
			}
		}
		rows, mine = rows[some:], mine[some:]
	}
	return nil
}
