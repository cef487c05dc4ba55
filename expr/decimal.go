package expr

import (
	"runnel/types"
)

// decimalKernel is + - * / % on exact numbers of which one is a DECIMAL. A result that has too many digits is NULL.
func decimalKernel(c *compiler, call *Call) (Eval, error) {
	args, err := c.args(call)
	if err != nil {
		return nil, err
	}
	p1, s1, _ := call.Args[0].Type().AsDecimal()
	p2, s2, _ := call.Args[1].Type().AsDecimal()
	if loop := narrowDecimal(call, p1, s1, p2, s2); loop != nil {
		return binaryLoop(call.T, args, loop), nil
	}
	return wideDecimal(call, args, s1, s2), nil
}

// narrowDecimal is the loop for results of at most 18 digits, which int64 arithmetic cannot overflow; nil for others.
func narrowDecimal(call *Call, p1, s1, p2, s2 int) func(out, x, y *types.Column, sel []int32) {
	r := call.T
	if r.Kind != types.Decimal || r.Phys() != types.PhysInt || p1 > 18 || p2 > 18 {
		return nil
	}
	a, b := pow10(r.Scale-s1), pow10(r.Scale-s2)
	switch call.Func.Name {
	case "+":
		if s1 == s2 {
			return func(out, x, y *types.Column, sel []int32) { addInts[int64](out.Int, x.Int, y.Int, sel) }
		}
		return func(out, x, y *types.Column, sel []int32) {
			each(sel, len(out.Int), func(i int32) { out.Int[i] = x.Int[i]*a + y.Int[i]*b })
		}
	case "-":
		return func(out, x, y *types.Column, sel []int32) {
			each(sel, len(out.Int), func(i int32) { out.Int[i] = x.Int[i]*a - y.Int[i]*b })
		}
	case "*":
		return func(out, x, y *types.Column, sel []int32) { mulInts[int64](out.Int, x.Int, y.Int, sel) }
	}
	return nil
}

// pow10 is 10^n for n from 0 to 18, and 1 for others.
func pow10(n int) int64 {
	p := int64(1)
	for ; n > 0 && n <= 18; n-- {
		p *= 10
	}
	return p
}

// wideDecimal is the general case, over 128 bits.
func wideDecimal(call *Call, args []Eval, s1, s2 int) Eval {
	r := call.T
	p, s := r.Precision, r.Scale
	if r.Kind != types.Decimal { // the remainder by an integer has its type
		p, s, _ = r.AsDecimal()
	}
	var f func(a, b types.Int128) (types.Int128, bool)
	div := false
	switch call.Func.Name {
	case "+":
		f = func(a, b types.Int128) (types.Int128, bool) { return types.DecimalAdd(a, s1, b, s2, s, p) }
	case "-":
		f = func(a, b types.Int128) (types.Int128, bool) { return types.DecimalSub(a, s1, b, s2, s, p) }
	case "*":
		f = func(a, b types.Int128) (types.Int128, bool) { return types.DecimalMul(a, b, s1+s2-s, p) }
	case "/":
		div = true
		f = func(a, b types.Int128) (types.Int128, bool) { return types.DecimalDiv(a, s1, b, s2, s, p) }
	default:
		div = true
		m := max(s1, s2)
		f = func(a, b types.Int128) (types.Int128, bool) {
			return types.DecimalMod(a, s1, b, s2).Rescale(m, s, p)
		}
	}
	out := newOutput(r)
	return func(b *types.Batch, sel []int32) (*types.Column, error) {
		var fail error
		x, sel := run(args[0], b, sel, &fail)
		y, sel := run(args[1], b, sel, &fail)
		out.start(b.Len)
		out.nulls(x, y)
		for _, i := range sel {
			if out.Column.Null(i) {
				continue
			}
			d := wideAt(y, i)
			if div && d.Sign() == 0 {
				return out.Column, at(i, errDivByZero)
			}
			v, ok := f(wideAt(x, i), d)
			if !ok {
				out.null(i)
				continue
			}
			putDecimal(out.Column, i, v)
		}
		return out.Column, fail
	}
}

// wideAt reads an exact number as 128 bits.
func wideAt(c *types.Column, i int32) types.Int128 {
	if c.Phys() == types.PhysWide {
		return c.Wide[i]
	}
	return types.Int128Of(c.Int[i])
}

// putDecimal stores an exact number that fits the column.
func putDecimal(c *types.Column, i int32, v types.Int128) {
	if c.Phys() == types.PhysWide {
		c.Wide[i] = v
	} else {
		c.Int[i] = int64(v.Lo)
	}
}
