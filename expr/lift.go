package expr

import (
	"runnel/types"
)

// values gives the slice of a column as []T; T is int64, float64, types.Int128, string or any, by the column's Phys.
func values[T any](c *types.Column) []T {
	var p any
	switch c.Phys() {
	case types.PhysInt:
		p = &c.Int
	case types.PhysFloat:
		p = &c.Flt
	case types.PhysWide:
		p = &c.Wide
	case types.PhysStr:
		p = &c.Str
	default:
		p = &c.Any
	}
	return *p.(*[]T)
}

// unary makes a kernel of a function of one value. NULL gives NULL without a call; errNull from f is a NULL too.
func unary[A, R any](t types.Type, arg Eval, f func(A) (R, error)) Eval {
	out := newOutput(t)
	return func(b *types.Batch, sel []int32) (*types.Column, error) {
		var fail error
		x, sel := run(arg, b, sel, &fail)
		out.start(b.Len)
		out.nulls(x)
		xs, rs := values[A](x), values[R](out.Column)
		for _, i := range sel {
			if x.Null(i) {
				continue
			}
			r, err := f(xs[i])
			if err != nil {
				if err == errNull {
					out.null(i)
					continue
				}
				return out.Column, at(i, err)
			}
			rs[i] = r
		}
		return out.Column, fail
	}
}

// binaryRow makes a kernel of a function of two values, as unary does.
func binaryRow[A, B, R any](t types.Type, args []Eval, f func(A, B) (R, error)) Eval {
	out := newOutput(t)
	return func(b *types.Batch, sel []int32) (*types.Column, error) {
		var fail error
		x, sel := run(args[0], b, sel, &fail)
		y, sel := run(args[1], b, sel, &fail)
		out.start(b.Len)
		out.nulls(x, y)
		xs, ys, rs := values[A](x), values[B](y), values[R](out.Column)
		for _, i := range sel {
			if x.Null(i) || y.Null(i) {
				continue
			}
			r, err := f(xs[i], ys[i])
			if err != nil {
				if err == errNull {
					out.null(i)
					continue
				}
				return out.Column, at(i, err)
			}
			rs[i] = r
		}
		return out.Column, fail
	}
}

// ternaryRow makes a kernel of a function of three values, as unary does.
func ternaryRow[A, B, C, R any](t types.Type, args []Eval, f func(A, B, C) (R, error)) Eval {
	out := newOutput(t)
	return func(b *types.Batch, sel []int32) (*types.Column, error) {
		var fail error
		x, sel := run(args[0], b, sel, &fail)
		y, sel := run(args[1], b, sel, &fail)
		z, sel := run(args[2], b, sel, &fail)
		out.start(b.Len)
		out.nulls(x, y, z)
		xs, ys, zs, rs := values[A](x), values[B](y), values[C](z), values[R](out.Column)
		for _, i := range sel {
			if x.Null(i) || y.Null(i) || z.Null(i) {
				continue
			}
			r, err := f(xs[i], ys[i], zs[i])
			if err != nil {
				if err == errNull {
					out.null(i)
					continue
				}
				return out.Column, at(i, err)
			}
			rs[i] = r
		}
		return out.Column, fail
	}
}

// datums makes a kernel of a function of any number of values in their boxed form: for functions of nested values, where
// boxing costs nothing beside the rest. f sees NULLs; its arguments are valid until it returns.
func datums(t types.Type, args []Eval, f func([]types.Datum) (types.Datum, error)) Eval {
	out := newOutput(t)
	cols := make([]*types.Column, len(args))
	row := make([]types.Datum, len(args))
	return func(b *types.Batch, sel []int32) (*types.Column, error) {
		var fail error
		for k, a := range args {
			cols[k], sel = run(a, b, sel, &fail)
		}
		out.start(b.Len)
		for _, i := range sel {
			for k, c := range cols {
				row[k] = c.At(i)
			}
			d, err := f(row)
			if err != nil && err != errNull {
				return out.Column, at(i, err)
			}
			if err != nil || d.Null {
				out.null(i)
				continue
			}
			put(out.Column, i, d)
		}
		return out.Column, fail
	}
}

// put stores a value that is not NULL.
func put(c *types.Column, i int32, d types.Datum) {
	switch c.Phys() {
	case types.PhysInt:
		c.Int[i] = d.I
	case types.PhysFloat:
		c.Flt[i] = d.Float()
	case types.PhysWide:
		c.Wide[i] = d.Wide()
	case types.PhysStr:
		c.Str[i] = d.S
	default:
		c.Any[i] = d.A
	}
}

// move copies the rows of sel, NULLs too, into out.
func move(out *output, from *types.Column, sel []int32) {
	switch out.Phys() {
	case types.PhysInt:
		for _, i := range sel {
			out.Int[i] = from.Int[i]
		}
	case types.PhysFloat:
		for _, i := range sel {
			out.Flt[i] = from.Flt[i]
		}
	case types.PhysWide:
		for _, i := range sel {
			out.Wide[i] = from.Wide[i]
		}
	case types.PhysStr:
		for _, i := range sel {
			out.Str[i] = from.Str[i]
		}
	default:
		for _, i := range sel {
			out.Any[i] = from.Any[i]
		}
	}
	if from.Valid == nil {
		return
	}
	for _, i := range sel {
		if !from.Valid.Has(i) {
			out.null(i)
		}
	}
}
