package expr

import (
	"runnel/types"
)

// filter compiles a condition for selecting rows: AND narrows, OR widens, comparisons write row numbers directly.
func (c *compiler) filter(e Expr) (Filter, error) {
	if call, ok := e.(*Call); ok {
		switch call.Func.Name {
		case "AND":
			if f, err := c.filterAnd(call); f != nil || err != nil {
				return f, err
			}
		case "OR":
			return c.filterOr(call)
		case "=", "<>", "<", "<=", ">", ">=":
			if f, err := c.filterCompare(call); f != nil || err != nil {
				return f, err
			}
		}
	}
	if k, ok := constOf(e); ok {
		return constFilter(!k.Null && k.I != 0), nil
	}
	eval, err := c.compile(e)
	if err != nil {
		return nil, err
	}
	return filterOf(eval), nil
}

func constFilter(pass bool) Filter {
	return func(_ *types.Batch, sel, dst []int32) ([]int32, error) {
		if pass {
			dst = append(dst, sel...)
		}
		return dst, nil
	}
}

// filterOf selects the rows for which a BOOLEAN expression is TRUE.
func filterOf(eval Eval) Filter {
	return func(b *types.Batch, sel, dst []int32) ([]int32, error) {
		var fail error
		x, sel := run(eval, b, sel, &fail)
		n := len(dst)
		dst = room(dst, len(sel))
		if x.Valid == nil {
			for _, i := range sel {
				dst[n] = i
				n += int(x.Int[i] & 1)
			}
		} else {
			for _, i := range sel {
				dst[n] = i
				n += int(x.Int[i] & 1 & int64(x.Valid[i>>6]>>(uint(i)&63)))
			}
		}
		return dst[:n], fail
	}
}

// room makes dst longer by n.
func room(dst []int32, n int) []int32 {
	if need := len(dst) + n; need <= cap(dst) {
		return dst[:need]
	}
	grown := make([]int32, len(dst)+n, len(dst)+max(n, types.BatchRows))
	copy(grown, dst)
	return grown
}

// valid drops the rows of dst[from:] at which col is NULL.
func valid(col *types.Column, dst []int32, from int) []int32 {
	if col.Valid == nil {
		return dst
	}
	n := from
	for _, i := range dst[from:] {
		dst[n] = i
		n += int(col.Valid[i>>6] >> (uint(i) & 63) & 1)
	}
	return dst[:n]
}

// filterAnd narrows from operand to operand. Rows for which a condition is NULL are dropped there and then, so it is
// used only when the later operands cannot fail: SQL evaluates them for such rows too.
func (c *compiler) filterAnd(call *Call) (Filter, error) {
	for _, a := range call.Args[1:] {
		if canFail(a) {
			return nil, nil
		}
	}
	fs := make([]Filter, len(call.Args))
	for k, a := range call.Args {
		f, err := c.filter(a)
		if err != nil {
			return nil, err
		}
		fs[k] = f
	}
	var scratch [2][]int32
	for k := range scratch {
		scratch[k] = make([]int32, 0, types.BatchRows)
	}
	return func(b *types.Batch, sel, dst []int32) ([]int32, error) {
		var fail error
		for k, f := range fs {
			to := scratch[k&1][:0]
			if k == len(fs)-1 {
				to = dst
			}
			out, err := f(b, sel, to)
			if err != nil {
				fail = err
			}
			if k < len(fs)-1 {
				scratch[k&1] = out
			}
			sel = out
		}
		return sel, fail
	}, nil
}

// filterOr tries each operand on the rows that no earlier one has taken.
func (c *compiler) filterOr(call *Call) (Filter, error) {
	fs := make([]Filter, len(call.Args))
	for k, a := range call.Args {
		f, err := c.filter(a)
		if err != nil {
			return nil, err
		}
		fs[k] = f
	}
	var taken types.Bitmap
	rest := make([]int32, 0, types.BatchRows)
	hits := make([]int32, 0, types.BatchRows)
	return func(b *types.Batch, sel, dst []int32) ([]int32, error) {
		var fail error
		for words := (b.Len + 63) >> 6; len(taken) < words; {
			taken = append(taken, 0)
		}
		clear(taken)
		rest = append(rest[:0], sel...)
		for _, f := range fs {
			var err error
			hits, err = f(b, rest, hits[:0])
			if err != nil {
				fail = err
				rest = before(rest, err)
				sel = before(sel, err)
			}
			for _, i := range hits {
				taken.Set(i)
			}
			n := 0
			for _, i := range rest {
				rest[n] = i
				n += int(^taken[i>>6] >> (uint(i) & 63) & 1)
			}
			rest = rest[:n]
		}
		for _, i := range sel {
			if taken.Has(i) {
				dst = append(dst, i)
			}
		}
		return dst, fail
	}, nil
}

// canFail reports whether evaluating e may give an error for some row.
func canFail(e Expr) bool {
	fails := false
	Walk(e, func(e Expr) bool {
		switch e := e.(type) {
		case *Call:
			fails = fails || !e.Func.safe && !safeCall(e)
		case *Cast:
			fails = fails || castFails(e)
		}
		return !fails
	})
	return fails
}

// safeCall knows the calls that are safe for some types or constants only.
func safeCall(call *Call) bool {
	switch call.Func.Name {
	case "/", "%", "MOD":
		if k, ok := constOf(call.Args[len(call.Args)-1]); ok && call.T.Kind != types.Decimal {
			return call.T.Phys() == types.PhysFloat || k.I != 0 || k.Null
		}
		return call.T.Phys() == types.PhysFloat
	}
	return false
}
