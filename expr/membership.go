package expr

import (
	"runnel/types"
)

// membershipFunctions are BETWEEN and IN with their opposites.
func membershipFunctions() []Function {
	between := func(name, doc string, rewrite func(*binding, types.Type) (Expr, error)) Function {
		return Function{Name: name, Doc: doc, Operator: true, safe: true, bind: bindBetween, rewrite: rewrite}
	}
	return []Function{
		between("BETWEEN", "a BETWEEN b AND c: whether a is neither below b nor above c.", rewriteBetween(false, false)),
		between("NOT BETWEEN", "the opposite of BETWEEN.", rewriteBetween(true, false)),
		between("BETWEEN SYMMETRIC", "a BETWEEN SYMMETRIC b AND c: BETWEEN with the bounds in either order.", rewriteBetween(false, true)),
		between("NOT BETWEEN SYMMETRIC", "the opposite of BETWEEN SYMMETRIC.", rewriteBetween(true, true)),
		{Name: "IN", Doc: "a IN (b, ...): whether a equals one of the values; NULL when it equals none and one is NULL.",
			Operator: true, safe: true, form: asInfix, forms: "'<COMPARABLE_TYPE> = <COMPARABLE_TYPE>'", bind: bindIn, kernel: inKernel,
			rewrite: rewriteIn},
		{Name: "NOT IN", Doc: "the opposite of IN.", Operator: true, safe: true, form: asInfix,
			forms: "'<COMPARABLE_TYPE> = <COMPARABLE_TYPE>'", bind: bindIn, rewrite: func(b *binding, t types.Type) (Expr, error) {
				in, err := NewCall("IN", b.args, b.pos)
				if err != nil {
					return nil, err
				}
				return NewNot(in), nil
			}},
	}
}

func bindBetween(b *binding) (types.Type, error) {
	if len(b.args) != 3 {
		return types.Type{}, b.wrongCount(3)
	}
	return boolType(anyNullable(b.args)), nil
}

// rewriteBetween makes two comparisons of it, or four when the bounds may stand in either order.
func rewriteBetween(not, symmetric bool) func(*binding, types.Type) (Expr, error) {
	return func(b *binding, _ types.Type) (Expr, error) {
		within := func(lo, hi Expr) (Expr, error) {
			l, err := NewCall(">=", []Expr{b.args[0], lo}, b.pos)
			if err != nil {
				return nil, err
			}
			r, err := NewCall("<=", []Expr{b.args[0], hi}, b.pos)
			if err != nil {
				return nil, err
			}
			return NewAnd(l, r), nil
		}
		e, err := within(b.args[1], b.args[2])
		if err != nil {
			return nil, err
		}
		if symmetric {
			other, err := within(b.args[2], b.args[1])
			if err != nil {
				return nil, err
			}
			e = NewOr(e, other)
		}
		if not {
			e = NewNot(e)
		}
		return e, nil
	}
}

func bindIn(b *binding) (types.Type, error) {
	if len(b.args) < 2 {
		return types.Type{}, b.wrongCount(2)
	}
	return boolType(anyNullable(b.args)), nil
}

// rewriteIn compares with each value on its own terms. Where that gives one type and constants only, IN stays one call.
func rewriteIn(b *binding, t types.Type) (Expr, error) {
	equal := Lookup("=")
	var parts []Expr
	same := true
	for _, v := range b.args[1:] {
		if neverEqual(b.args[0].Type(), v.Type()) {
			e, err := NewCall("=", []Expr{b.args[0], v}, b.pos)
			if err != nil {
				return nil, err
			}
			parts, same = append(parts, e), false
			continue
		}
		pair := &binding{fn: b.fn, name: "=", args: []Expr{b.args[0], v}, pos: b.pos}
		null := anyNullable(pair.args)
		if err := pair.comparable(0, 1); err != nil {
			return nil, err
		}
		call := &Call{Func: equal, Args: pair.args, T: boolType(null), Pos: b.pos}
		if _, ok := constOf(v); !ok || same && len(parts) > 0 && !Equal(pair.args[0], parts[0].(*Call).Args[0]) {
			same = false
		}
		parts = append(parts, call)
	}
	if !same || len(parts) == 1 {
		return NewOr(parts...), nil
	}
	args := []Expr{parts[0].(*Call).Args[0]}
	for _, p := range parts {
		args = append(args, p.(*Call).Args[1])
	}
	return &Call{Func: b.fn, Args: args, T: t, Pos: b.pos}, nil
}

// inKernel looks values up in a set.
func inKernel(c *compiler, call *Call) (Eval, error) {
	arg, err := c.compile(call.Args[0])
	if err != nil {
		return nil, err
	}
	t := call.Args[0].Type()
	var members []types.Datum
	null := false
	for _, a := range call.Args[1:] {
		d, err := Evaluate(a, c.env)
		if err != nil {
			return nil, err
		}
		if d.Null {
			null = true
		} else {
			members = append(members, d)
		}
	}
	in := memberTest(t, members)
	out := newOutput(call.T)
	return func(b *types.Batch, sel []int32) (*types.Column, error) {
		var fail error
		x, sel := run(arg, b, sel, &fail)
		out.start(b.Len)
		out.nulls(x)
		for _, i := range sel {
			if x.Null(i) {
				continue
			}
			hit := in(x, i)
			if !hit && null {
				out.null(i)
				continue
			}
			out.Int[i] = toInt(hit)
		}
		return out.Column, fail
	}, nil
}

// memberTest gives the test whether a value, not NULL, is among the members.
func memberTest(t types.Type, members []types.Datum) func(c *types.Column, i int32) bool {
	switch t.Phys() {
	case types.PhysInt:
		set := map[int64]struct{}{}
		for _, d := range members {
			set[d.I] = struct{}{}
		}
		return func(c *types.Column, i int32) bool { _, ok := set[c.Int[i]]; return ok }
	case types.PhysStr:
		set := map[string]struct{}{}
		for _, d := range members {
			set[d.S] = struct{}{}
		}
		return func(c *types.Column, i int32) bool { _, ok := set[c.Str[i]]; return ok }
	case types.PhysFloat:
		set := map[float64]struct{}{}
		for _, d := range members {
			set[d.Float()] = struct{}{}
		}
		return func(c *types.Column, i int32) bool { _, ok := set[c.Flt[i]]; return ok }
	}
	return func(c *types.Column, i int32) bool { return findDatum(t, members, c.At(i)) >= 0 }
}
