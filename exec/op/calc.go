package op

import (
	"fmt"
	"slices"

	"runnel/expr"
	"runnel/types"
)

// Calc lets the rows through for which a condition is TRUE and computes expressions over them. Row kinds and marks pass
// on. A row that fails cuts its batch: the rows before it go through, then the job fails with a *types.DataError.
type Calc struct {
	single
	in    []types.Field
	exprs []expr.Expr
	cond  expr.Expr

	cols   []int // per output: the input column that it is, -1 when computed
	evals  []expr.Eval
	filter expr.Filter
	shared *expr.Shared
	sel    []int32
	out    types.Batch
}

// NewCalc makes a Calc over rows of the fields in; cond may be nil.
func NewCalc(in []types.Field, exprs []expr.Expr, cond expr.Expr) *Calc {
	return &Calc{in: in, exprs: exprs, cond: cond}
}

// Open compiles the expressions.
func (c *Calc) Open(ctx *Context) error {
	c.ctx = ctx
	c.cols = make([]int, len(c.exprs))
	c.evals = make([]expr.Eval, len(c.exprs))
	exprs := slices.Clone(c.exprs)
	if c.cond != nil {
		for i, e := range exprs {
			exprs[i] = expr.Assume(e, c.cond, ctx.Env)
		}
	}
	c.shared = expr.NewShared(c.in, ctx.Env, append(slices.Clone(exprs), c.cond)...)
	for i, e := range exprs {
		if col, ok := e.(*expr.Col); ok {
			c.cols[i] = col.Index
			continue
		}
		c.cols[i] = -1
		var err error
		if c.evals[i], err = c.shared.Compile(e); err != nil {
			return fmt.Errorf("expression %s: %w", e, err)
		}
	}
	if c.cond != nil {
		var err error
		if c.filter, err = c.shared.CompileFilter(c.cond); err != nil {
			return fmt.Errorf("condition %s: %w", c.cond, err)
		}
	}
	c.out.Cols = make([]*types.Column, len(c.exprs))
	c.sel = make([]int32, 0, types.BatchRows)
	return nil
}

// Process filters and computes.
func (c *Calc) Process(_ int, b *types.Batch) error {
	sel := b.Sel
	if sel == nil {
		sel = types.All(b.Len)
	}
	c.shared.Begin()
	var failed *types.RowError
	if c.filter != nil {
		var err error
		if c.sel, err = c.filter(b, sel, c.sel[:0]); err != nil {
			if failed, err = rowError(err); err != nil {
				return err
			}
		}
		sel = c.sel
	}
	for i, eval := range c.evals {
		if eval == nil {
			c.out.Cols[i] = b.Cols[c.cols[i]]
			continue
		}
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
		c.out.Cols[i] = col
	}
	if failed == nil {
		return c.emit(b, sel, b.Marks)
	}
	marks := splitMarks(b.Marks, failed.Row)
	if err := c.emit(b, sel, marks); err != nil {
		return err
	}
	return dataError(c.ctx, failed, c.in, b)
}

func (c *Calc) emit(b *types.Batch, sel []int32, marks []types.Mark) error {
	switch len(sel) {
	case 0:
		if len(marks) == 0 {
			return nil
		}
		return c.ctx.Out.Watermark(marks[len(marks)-1].Time)
	case b.Len:
		sel = nil
	}
	c.out.Len, c.out.Sel, c.out.Kinds, c.out.Marks = b.Len, sel, b.Kinds, marks
	return c.ctx.Out.Emit(&c.out)
}
