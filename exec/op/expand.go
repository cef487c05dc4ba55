package op

import (
	"fmt"

	"runnel/expr"
	"runnel/types"
)

// Expand gives, for every row, one row for each of several lists of expressions, one after the other: the grouping sets of
// an aggregation. Row kinds pass on.
type Expand struct {
	single
	in    []types.Field
	out   output
	rows  [][]expr.Expr
	evals [][]expr.Eval
	cols  [][]*types.Column

	rowsOf func(*types.Batch) error
	markOf func(int64) error
}

// NewExpand makes the operator; out are the fields of its rows.
func NewExpand(in, out []types.Field, rows [][]expr.Expr) *Expand {
	return &Expand{in: in, rows: rows, out: output{Batch: types.NewBatch(out)}}
}

// Open compiles the expressions.
func (e *Expand) Open(ctx *Context) error {
	e.ctx, e.out.to = ctx, ctx.Out
	e.rowsOf, e.markOf = e.apply, func(ms int64) error { e.out.mark(ms); return nil }
	for _, row := range e.rows {
		evals := make([]expr.Eval, len(row))
		for i, x := range row {
			var err error
			if evals[i], err = expr.Compile(x, e.in, ctx.Env); err != nil {
				return fmt.Errorf("expression %s: %w", x, err)
			}
		}
		e.evals = append(e.evals, evals)
		e.cols = append(e.cols, make([]*types.Column, len(row)))
	}
	return nil
}

// Process gives the rows.
func (e *Expand) Process(_ int, b *types.Batch) error {
	if err := b.Segments(e.rowsOf, e.markOf); err != nil {
		return err
	}
	return e.out.flush()
}

func (e *Expand) apply(b *types.Batch) error {
	sel := b.Live()
	var failed *types.RowError
	for r, evals := range e.evals {
		for c, eval := range evals {
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
			e.cols[r][c] = col
		}
	}
	for _, i := range sel {
		for r := range e.evals {
			for c, col := range e.out.Cols {
				col.AppendFrom(e.cols[r][c], i)
			}
			if err := e.out.pushed(b.Kind(i)); err != nil {
				return err
			}
		}
	}
	if failed == nil {
		return nil
	}
	if err := e.out.flush(); err != nil {
		return err
	}
	return dataError(e.ctx, failed, e.in, b)
}
