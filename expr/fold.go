package expr

import (
	"slices"

	"runnel/types"
)

// Fold replaces the constant parts of e by their values. A part whose evaluation fails stays as it is below CASE, AND,
// OR, COALESCE, where it may never be reached; anywhere else its error is the result. The error is a *types.DataError
// with the place in the SQL text when that is known.
func Fold(e Expr, env *Env) (Expr, error) {
	f := folder{env: env}
	out := f.fold(e, false)
	if f.err != nil {
		return nil, f.err
	}
	return out, nil
}

type folder struct {
	env *Env
	err error
}

// fold works from the bottom up; lazy says that e may never be evaluated.
func (f *folder) fold(e Expr, lazy bool) Expr {
	if f.err != nil {
		return e
	}
	switch n := e.(type) {
	case *Col, *Const:
		return e
	case *Case:
		return f.foldCase(n, lazy)
	case *Call:
		if n.Func.Name == "AND" || n.Func.Name == "OR" {
			return f.foldJunction(n, lazy)
		}
		args, changed := make([]Expr, len(n.Args)), false
		for i, a := range n.Args {
			args[i] = f.fold(a, lazy || i > 0 && lazyCall(n))
			changed = changed || args[i] != a
		}
		if lazyCall(n) {
			if k, ok := constOf(args[0]); ok && !k.Null {
				return retype(args[0], n.T)
			}
		}
		if changed {
			c := *n
			c.Args = args
			e = &c
		}
		if n.Func.Nondeterministic || n.Func.Dynamic || n.Func.kernel == nil {
			return e
		}
	case *Cast:
		if a := f.fold(n.Arg, lazy); a != n.Arg {
			c := *n
			c.Arg = a
			e = &c
		}
	case *Field:
		if a := f.fold(n.Arg, lazy); a != n.Arg {
			c := *n
			c.Arg = a
			e = &c
		}
	}
	for _, c := range Children(e) {
		if _, ok := c.(*Const); !ok {
			return e
		}
	}
	v, err := Evaluate(e, f.env)
	if err == nil {
		return &Const{Value: v, T: e.Type()}
	}
	if !lazy {
		f.err = err
	}
	return e
}

// lazyCall reports whether operands after the first may stay unevaluated.
func lazyCall(c *Call) bool {
	return c.Func.Name == "COALESCE"
}

// foldJunction leaves out operands that decide nothing. One that decides makes the others unnecessary, failing ones
// too.
func (f *folder) foldJunction(n *Call, lazy bool) Expr {
	decides := toInt(n.Func.Name == "OR")
	var args []Expr
	for _, a := range n.Args {
		a = f.fold(a, true)
		if v, ok := constOf(a); ok && !v.Null {
			if v.I == decides {
				return &Const{Value: v, T: n.T}
			}
			continue
		}
		args = append(args, a)
	}
	switch len(args) {
	case 0:
		return &Const{Value: types.IntDatum(1 - decides), T: n.T}
	case 1:
		return retype(f.fold(args[0], lazy), n.T)
	}
	if !slices.ContainsFunc(args, func(a Expr) bool { _, ok := constOf(a); return !ok }) {
		return &Const{Value: types.NullDatum(), T: n.T}
	}
	args[0] = f.fold(args[0], lazy) // an operand that is always evaluated and always fails
	c := *n
	c.Args = args
	return &c
}

// foldCase drops branches that can never be taken and gives the branch that is always taken.
func (f *folder) foldCase(n *Case, lazy bool) Expr {
	c := Case{T: n.T}
	changed := false
	for i, w := range n.Whens {
		cond := f.fold(w.Cond, lazy || i > 0)
		if v, ok := constOf(cond); ok {
			changed = true
			if v.Null || v.I == 0 {
				continue
			}
			then := f.fold(w.Then, lazy || len(c.Whens) > 0)
			if len(c.Whens) == 0 {
				return retype(then, n.T)
			}
			c.Else = then
			return &c
		}
		then := f.fold(w.Then, true)
		changed = changed || cond != w.Cond || then != w.Then
		c.Whens = append(c.Whens, When{cond, then})
	}
	c.Else = f.fold(n.Else, lazy || len(c.Whens) > 0)
	if len(c.Whens) == 0 {
		return retype(c.Else, n.T)
	}
	if !changed && c.Else == n.Else {
		return n
	}
	return &c
}

// retype keeps the nullability of the expression that e replaces, so that folding changes no schema.
func retype(e Expr, t types.Type) Expr {
	if e.Type().Equal(t) {
		return e
	}
	if k, ok := e.(*Const); ok {
		return &Const{Value: k.Value, T: t}
	}
	return &Cast{Arg: e, T: t, Implicit: true}
}

// Evaluate gives the value of an expression that reads no column. The error is a *types.DataError.
func Evaluate(e Expr, env *Env) (types.Datum, error) {
	eval, err := Compile(e, nil, env)
	if err != nil {
		return types.Datum{}, err
	}
	b := &types.Batch{Len: 1}
	col, err := eval(b, types.All(1))
	if err != nil {
		return types.Datum{}, DataError(e, err)
	}
	return col.At(0), nil
}
