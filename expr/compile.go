package expr

import (
	"errors"
	"fmt"

	"runnel/types"
)

// compiler turns trees into kernels. What it hands out is for one operator instance.
type compiler struct {
	env    *Env
	input  []types.Field
	shared *Shared // nil where parts are not shared
}

// Compile makes an expression's kernel for rows with the given columns. One Eval serves one operator instance: it owns
// scratch memory and must not be called by two goroutines.
func Compile(e Expr, input []types.Field, env *Env) (Eval, error) {
	return newCompiler(input, env).compile(e)
}

// CompileFilter makes a condition's kernel, as Compile does.
func CompileFilter(e Expr, input []types.Field, env *Env) (Filter, error) {
	return newCompiler(input, env).filter(e)
}

func newCompiler(input []types.Field, env *Env) *compiler {
	if env == nil {
		env = &Env{}
	}
	return &compiler{env: env, input: input}
}

func (c *compiler) compile(e Expr) (Eval, error) {
	if c.shared != nil {
		if eval, err := c.shared.compile(e); eval != nil || err != nil {
			return eval, err
		}
	}
	return c.kernel(e)
}

func (c *compiler) kernel(e Expr) (Eval, error) {
	switch e := e.(type) {
	case *Col:
		if e.Index < 0 || e.Index >= len(c.input) {
			return nil, fmt.Errorf("column %d (%s) of %d", e.Index, e.Name, len(c.input))
		}
		i := e.Index
		return func(b *types.Batch, _ []int32) (*types.Column, error) { return b.Cols[i], nil }, nil
	case *Const:
		return constant(e), nil
	case *Call:
		if e.Func.kernel == nil {
			return nil, fmt.Errorf("%s cannot be evaluated here", e.Func.Name)
		}
		return e.Func.kernel(c, e)
	case *Cast:
		return c.cast(e)
	case *Case:
		return c.caseOf(e)
	case *Field:
		return c.field(e)
	}
	return nil, fmt.Errorf("expression node %T", e)
}

// args compiles the operands of a call.
func (c *compiler) args(call *Call) ([]Eval, error) {
	es := make([]Eval, len(call.Args))
	for i, a := range call.Args {
		e, err := c.compile(a)
		if err != nil {
			return nil, err
		}
		es[i] = e
	}
	return es, nil
}

// constant gives a column that holds the value in every row.
func constant(k *Const) Eval {
	full := types.NewColumn(k.T, types.BatchRows)
	fill := func(n int) {
		for full.Len() < n {
			full.Append(k.Value)
		}
	}
	fill(types.BatchRows)
	out := types.NewColumn(k.T, 0)
	return func(b *types.Batch, _ []int32) (*types.Column, error) {
		n := b.Len
		fill(n)
		switch full.Phys() {
		case types.PhysInt:
			out.Int = full.Int[:n]
		case types.PhysFloat:
			out.Flt = full.Flt[:n]
		case types.PhysWide:
			out.Wide = full.Wide[:n]
		case types.PhysStr:
			out.Str = full.Str[:n]
		case types.PhysAny:
			out.Any = full.Any[:n]
		}
		out.Valid = full.Valid
		return out, nil
	}
}

// constOf gives the value of a constant operand.
func constOf(e Expr) (types.Datum, bool) {
	k, ok := e.(*Const)
	if !ok {
		return types.Datum{}, false
	}
	return k.Value, true
}

// dense reports whether sel names all n rows.
func dense(sel []int32, n int) bool { return len(sel) == n }

// run evaluates an operand. When it fails at some row, sel is cut there and fail remembers the error: the caller goes on
// with the rows before and gives fail back in the end. A later operand can only cut earlier, so the last error is that
// of the first failing row.
func run(e Eval, b *types.Batch, sel []int32, fail *error) (*types.Column, []int32) {
	col, err := e(b, sel)
	if err == nil {
		return col, sel
	}
	*fail = err
	return col, before(sel, err)
}

// before gives the rows of sel in front of the failing one.
func before(sel []int32, err error) []int32 {
	var re *types.RowError
	if !errors.As(err, &re) {
		return sel[:0]
	}
	return sel[:lowerBound(sel, re.Row)]
}

// lowerBound is the number of rows of sel below row.
func lowerBound(sel []int32, row int32) int {
	lo, hi := 0, len(sel)
	for lo < hi {
		if m := (lo + hi) / 2; sel[m] < row {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo
}

// output is the column of a kernel, with memory for its bitmap that outlives Resize.
type output struct {
	*types.Column
	bits types.Bitmap
}

func newOutput(t types.Type) *output {
	return &output{Column: types.NewColumn(t, types.BatchRows), bits: make(types.Bitmap, types.BatchRows/64)}
}

// start gives the column n rows, all valid.
func (o *output) start(n int) { o.Resize(n) }

// null makes row i NULL, without allocating.
func (o *output) null(i int32) {
	if o.Valid == nil {
		o.ownBits()
		for k := range o.bits {
			o.bits[k] = ^uint64(0)
		}
		o.Valid = o.bits
	}
	o.Valid.Clear(i)
}

func (o *output) ownBits() {
	words := (o.Len() + 63) >> 6
	for len(o.bits) < words {
		o.bits = append(o.bits, 0)
	}
	o.bits = o.bits[:max(words, len(o.bits))]
}

// nulls makes the rows NULL that are NULL in one of the operands, a word at a time.
func (o *output) nulls(cols ...*types.Column) {
	words := (o.Len() + 63) >> 6
	first := true
	for _, c := range cols {
		if c.Valid == nil {
			continue
		}
		v := c.Valid[:words]
		if first {
			o.ownBits()
			copy(o.bits, v)
			first = false
			continue
		}
		for k := range v {
			o.bits[k] &= v[k]
		}
	}
	if !first {
		o.Valid = o.bits
	}
}
