package op

import (
	"fmt"

	"runnel/expr"
	"runnel/types"
)

// RowFunc is a function that gives rows for a row.
type RowFunc uint8

const (
	// UnnestRows gives the elements of its argument: the fields of rows, keys and values of maps, the elements of a multiset
	// as often as they count.
	UnnestRows RowFunc = iota
	// ReplicateRows gives the row of its further arguments as often as the first one says.
	ReplicateRows
)

// Correlation is what a Correlate does. Its rows are the input's columns, the function's, and with Ordinality the number
// of the function's row, an INT from 1.
type Correlation struct {
	In, Out    []types.Field
	Outer      bool // a row for which the function gives none comes out padded with NULLs
	Func       RowFunc
	Args       []expr.Expr
	Ordinality bool
	Cond       expr.Expr // over the operator's own columns; with Outer, a row of which none fulfils it is padded
}

// Correlate joins every row with the rows that a function gives for it; they have the row's kind.
type Correlate struct {
	single
	spec  Correlation
	args  []expr.Eval
	cols  []*types.Column
	cond  expr.Filter
	cand  *types.Batch // what one row gives, waiting for the condition
	sel   []int32
	count int // rows of the current input row that came out
	out   output

	rowsOf func(*types.Batch) error
	markOf func(int64) error
}

// NewCorrelate makes the operator.
func NewCorrelate(spec Correlation) *Correlate { return &Correlate{spec: spec} }

// Open compiles the arguments.
func (c *Correlate) Open(ctx *Context) error {
	c.ctx = ctx
	c.out = newOutput(ctx.Out, c.spec.Out)
	c.rowsOf, c.markOf = c.apply, func(ms int64) error { c.out.mark(ms); return nil }
	for _, a := range c.spec.Args {
		eval, err := expr.Compile(a, c.spec.In, ctx.Env)
		if err != nil {
			return fmt.Errorf("expression %s: %w", a, err)
		}
		c.args = append(c.args, eval)
	}
	c.cols = make([]*types.Column, len(c.args))
	if c.spec.Cond == nil {
		return nil
	}
	c.cand = types.NewBatch(c.spec.Out)
	var err error
	if c.cond, err = expr.CompileFilter(c.spec.Cond, c.spec.Out, ctx.Env); err != nil {
		return fmt.Errorf("condition %s: %w", c.spec.Cond, err)
	}
	return nil
}

// Process gives the joined rows.
func (c *Correlate) Process(_ int, b *types.Batch) error {
	if err := b.Segments(c.rowsOf, c.markOf); err != nil {
		return err
	}
	return c.out.flush()
}

func (c *Correlate) apply(b *types.Batch) error {
	sel := b.Live()
	var failed *types.RowError
	for n, eval := range c.args {
		if len(sel) == 0 {
			break
		}
		col, err := eval(b, sel)
		if err != nil {
			if failed, err = rowError(err); err != nil {
				return err
			}
			sel = before(sel, failed.Row)
		}
		c.cols[n] = col
	}
	for _, i := range sel {
		c.count = 0
		err := c.row(b, i)
		if err == nil && c.cond != nil {
			err = c.settle(b.Kind(i))
		}
		if err == nil && c.count == 0 && c.spec.Outer {
			err = c.pad(b, i)
		}
		if err != nil {
			return err
		}
	}
	if failed == nil {
		return nil
	}
	if err := c.out.flush(); err != nil {
		return err
	}
	return dataError(c.ctx, failed, c.spec.In, b)
}

// row gives what the function gives for a row.
func (c *Correlate) row(b *types.Batch, i int32) error {
	if c.spec.Func == ReplicateRows {
		if c.cols[0].Null(i) {
			return nil
		}
		for n := range c.cols[0].Int[i] {
			if err := c.give(b, i, int(n), func(cols []*types.Column) {
				for k, col := range cols {
					col.AppendFrom(c.cols[1+k], i)
				}
			}); err != nil {
				return err
			}
		}
		return nil
	}
	col := c.cols[0]
	if col.Null(i) {
		return nil
	}
	switch v := col.Any[i].(type) {
	case *types.List:
		for n := range v.Elems {
			if err := c.give(b, i, n, func(cols []*types.Column) { appendElem(cols, &v.Elems[n], col.Type.Elem) }); err != nil {
				return err
			}
		}
	case *types.MapValue:
		return c.entries(b, i, v, col.Type)
	}
	return nil
}

// entries gives the entries of a map, or the elements of a multiset.
func (c *Correlate) entries(b *types.Batch, i int32, v *types.MapValue, t types.Type) error {
	n := 0
	for k := range v.Keys {
		times, fill := int64(1), func(cols []*types.Column) {
			cols[0].Append(v.Keys[k])
			cols[1].Append(v.Vals[k])
		}
		if t.Kind == types.Multiset {
			times, fill = v.Vals[k].I, func(cols []*types.Column) { appendElem(cols, &v.Keys[k], t.Elem) }
		}
		for range times {
			if err := c.give(b, i, n, fill); err != nil {
				return err
			}
			n++
		}
	}
	return nil
}

// appendElem appends an element of a collection: a row spreads over its fields.
func appendElem(cols []*types.Column, d *types.Datum, t *types.Type) {
	if t.Kind != types.Row {
		cols[0].Append(*d)
		return
	}
	for f := range t.Fields {
		if d.Null {
			cols[f].AppendNull()
		} else {
			cols[f].Append(d.A.(*types.Tuple).Fields[f])
		}
	}
}

// give puts the n-th row of the function out, whose columns fill appends.
func (c *Correlate) give(b *types.Batch, i int32, n int, fill func([]*types.Column)) error {
	dst := c.out.Batch
	if c.cond != nil {
		dst = c.cand
	}
	own := dst.Cols[len(b.Cols):]
	for k, col := range b.Cols {
		dst.Cols[k].AppendFrom(col, i)
	}
	if c.spec.Ordinality {
		own[len(own)-1].AppendInt(int64(n) + 1)
		own = own[:len(own)-1]
	}
	fill(own)
	if c.cond == nil {
		c.count++
		return c.out.pushed(b.Kind(i))
	}
	if dst.Push(types.Insert); dst.Full() {
		return c.settle(b.Kind(i))
	}
	return nil
}

// settle puts what waits to the condition.
func (c *Correlate) settle(kind types.RowKind) error {
	if c.cand.Len == 0 {
		return nil
	}
	var err error
	if c.sel, err = c.cond(c.cand, types.All(c.cand.Len), c.sel[:0]); err != nil {
		failed, other := rowError(err)
		if other != nil {
			return other
		}
		if err := c.out.flush(); err != nil {
			return err
		}
		return dataError(c.ctx, failed, c.spec.Out, c.cand)
	}
	for _, i := range c.sel {
		for k, col := range c.out.Cols {
			col.AppendFrom(c.cand.Cols[k], i)
		}
		c.count++
		if err := c.out.pushed(kind); err != nil {
			return err
		}
	}
	c.cand.Reset()
	return nil
}

// pad gives a row with NULLs for the function's columns.
func (c *Correlate) pad(b *types.Batch, i int32) error {
	for k, col := range c.out.Cols {
		if k < len(b.Cols) {
			col.AppendFrom(b.Cols[k], i)
		} else {
			col.AppendNull()
		}
	}
	return c.out.pushed(b.Kind(i))
}
