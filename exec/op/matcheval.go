package op

import (
	"fmt"
	"slices"

	"runnel/expr"
	"runnel/state"
	"runnel/types"
)

// view is a partial match as a condition sees it: with the current row mapped to a variable, or, with current -1, without.
type view struct {
	p       *partial
	current int
	row     uint64 // number of the current row
}

// count is how many rows a set of variables has without the current one.
func (v *view) count(vars []int) int {
	n := 0
	if v.p.start != notStarted {
		for _, i := range vars {
			n += int(v.p.counts[i])
		}
	}
	return n
}

// len is how many rows a set of variables has.
func (v *view) len(vars []int) int {
	n := v.count(vars)
	if slices.Contains(vars, v.current) {
		n++
	}
	return n
}

// at gives the number of the k-th row of a set of variables.
func (v *view) at(vars []int, k int) (uint64, bool) {
	if k < 0 || k >= v.len(vars) {
		return 0, false
	}
	if k == v.count(vars) {
		return v.row, true
	}
	first := v.p.start
	for i, n := range v.p.counts {
		if slices.Contains(vars, i) {
			if k < int(n) {
				return first + uint64(k), true
			}
			k -= int(n)
		}
		first += uint64(n)
	}
	return 0, false
}

// matchRows holds the rows of a key that have been asked for.
type matchRows struct {
	batch *types.Batch
	at    map[uint64]int32
	load  func(row uint64, cols []*types.Column) error
}

// get gives the place of a row in the batch.
func (r *matchRows) get(row uint64) (int32, error) {
	if i, ok := r.at[row]; ok {
		return i, nil
	}
	if err := r.load(row, r.batch.Cols); err != nil {
		return 0, err
	}
	i := int32(r.batch.Len)
	r.batch.Push(types.Insert)
	r.at[row] = i
	return i, nil
}

func (r *matchRows) reset() {
	r.batch.Reset()
	clear(r.at)
}

// matchExpr is a condition or a measure: an expression over values that are read from a match.
type matchExpr struct {
	values []*matchValue
	one    *types.Batch // a row of them
	eval   expr.Eval
	filter expr.Filter
	local  bool // a condition that depends on the current row alone
}

// matchValue is one of these values, see expr.MatchColumn.
type matchValue struct {
	expr.MatchColumn
	aggs *aggregates
	args []expr.Eval
	view types.Batch // the arguments
	acc  *state.Map
	rows []int32
	sel  []int32
}

// matchTimes are the times that values are read with.
type matchTimes struct {
	event int64
	now   int64
}

// newMatchExpr compiles an expression over columns; own is the variable whose condition it is, -1 for a measure.
func newMatchExpr(e expr.Expr, columns []expr.MatchColumn, in []types.Field, own int, env *expr.Env) (*matchExpr, error) {
	x := &matchExpr{local: own >= 0}
	var fields []types.Field
	refs := expr.Refs(e)
	for _, i := range refs {
		c := columns[i]
		v := &matchValue{MatchColumn: c}
		x.local = x.local && c.Kind == expr.MatchField && !c.First && c.Offset == 0 && slices.Contains(c.Of, own)
		x.values = append(x.values, v)
		fields = append(fields, types.Field{Name: fmt.Sprintf("v%d", i), Type: c.Type})
		if c.Kind == expr.MatchAggregate {
			if err := v.compile(in, env); err != nil {
				return nil, err
			}
		}
	}
	x.one = types.NewBatch(fields)
	e = expr.MapColumns(e, func(i int) int { return slices.Index(refs, i) })
	var err error
	if own >= 0 {
		x.filter, err = expr.CompileFilter(e, fields, env)
	} else {
		x.eval, err = expr.Compile(e, fields, env)
	}
	return x, err
}

func (v *matchValue) compile(in []types.Field, env *expr.Env) error {
	var fields []types.Field
	call := v.Agg
	call.Args, call.Filter = nil, -1
	for i, a := range v.Args {
		eval, err := expr.Compile(a, in, env)
		if err != nil {
			return err
		}
		v.args = append(v.args, eval)
		fields = append(fields, types.Field{Name: fmt.Sprintf("a%d", i), Type: a.Type()})
		call.Args = append(call.Args, i)
	}
	var err error
	if v.aggs, err = newAggregates([]expr.AggCall{call}, fields, false, env); err != nil {
		return err
	}
	v.acc = state.NewMap(v.aggs.values)
	v.view.Cols = make([]*types.Column, len(v.args))
	return nil
}

// read makes x.one the row of values of a view.
func (x *matchExpr) read(w *view, rows *matchRows, t matchTimes) error {
	x.one.Reset()
	for i, v := range x.values {
		if err := v.read(w, rows, t, x.one.Cols[i]); err != nil {
			return err
		}
	}
	x.one.Push(types.Insert)
	return nil
}

func (v *matchValue) read(w *view, rows *matchRows, t matchTimes, to *types.Column) error {
	switch v.Kind {
	case expr.MatchAggregate:
		return v.aggregate(w, rows, to)
	case expr.MatchRowtime:
		to.AppendInt(t.event * 1000)
		return nil
	case expr.MatchProctime:
		to.AppendInt(t.now * 1000)
		return nil
	}
	k := v.Offset
	if !v.First {
		k = w.len(v.Of) - 1 - v.Offset
	}
	row, ok := w.at(v.Of, k)
	if !ok {
		to.AppendNull()
		return nil
	}
	i, err := rows.get(row)
	if err == nil {
		to.AppendFrom(rows.batch.Cols[v.Column], i)
	}
	return err
}

// aggregate accumulates the rows of the variables.
func (v *matchValue) aggregate(w *view, rows *matchRows, to *types.Column) error {
	v.rows = v.rows[:0]
	for k := range w.len(v.Of) {
		row, _ := w.at(v.Of, k)
		i, err := rows.get(row)
		if err != nil {
			return err
		}
		v.rows = append(v.rows, i)
	}
	v.sel = append(v.sel[:0], v.rows...)
	slices.Sort(v.sel)
	v.acc.Reset()
	g := group{m: v.acc}
	g.ref, _ = v.acc.Upsert(state.Key{Hash: types.HashKey(nil)})
	g.words = v.acc.Touch(g.ref)
	if len(v.sel) > 0 {
		for i, eval := range v.args {
			col, err := eval(rows.batch, v.sel)
			if err != nil {
				return err
			}
			v.view.Cols[i] = col
		}
		v.view.Len = rows.batch.Len
		for _, i := range v.rows {
			if err := v.aggs.add(&g, &v.view, 0, i); err != nil {
				return err
			}
		}
	}
	return v.aggs.value(&g, []*types.Column{to})
}
