package expr

import (
	"errors"
	"math/big"

	"runnel/types"
)

// EvalRow evaluates an expression for one row of boxed values, the plain way: it is what compiled kernels are compared
// with in tests, and a hundred times slower. Operators, CASE, AND, OR and COALESCE are written anew here; any other
// function is its kernel called for the one row, with its operands in columns even where they are constants.
func EvalRow(e Expr, row []types.Datum, env *Env) (types.Datum, error) {
	switch e := e.(type) {
	case *Col:
		return row[e.Index], nil
	case *Const:
		return e.Value, nil
	case *Case:
		for _, w := range e.Whens {
			cond, err := EvalRow(w.Cond, row, env)
			if err != nil {
				return cond, err
			}
			if !cond.Null && cond.Bool() {
				return EvalRow(w.Then, row, env)
			}
		}
		return EvalRow(e.Else, row, env)
	case *Field:
		d, err := EvalRow(e.Arg, row, env)
		if err != nil || d.Null {
			return types.NullDatum(), err
		}
		return d.A.(*types.Tuple).Fields[e.Index], nil
	case *Cast:
		d, err := EvalRow(e.Arg, row, env)
		if err != nil || d.Null {
			return types.NullDatum(), err
		}
		c := *e
		c.Arg = &Col{T: e.Arg.Type()}
		return evalOne(&c, []Expr{e.Arg}, []types.Datum{d}, env)
	case *Call:
		return evalCall(e, row, env)
	}
	return types.Datum{}, errors.New("unknown node")
}

func evalCall(c *Call, row []types.Datum, env *Env) (types.Datum, error) {
	switch c.Func.Name {
	case "AND":
		return evalJunction(c, row, env, false)
	case "OR":
		return evalJunction(c, row, env, true)
	case "COALESCE":
		for _, a := range c.Args {
			if d, err := EvalRow(a, row, env); err != nil || !d.Null {
				return d, err
			}
		}
		return types.NullDatum(), nil
	}
	vals := make([]types.Datum, len(c.Args))
	for i, a := range c.Args {
		var err error
		if vals[i], err = EvalRow(a, row, env); err != nil {
			return types.Datum{}, err
		}
	}
	if c.Func.Name == "IN" {
		return evalIn(c.Args[0].Type(), vals), nil
	}
	if d, ok, err := evalOperator(c, vals); ok {
		return d, err
	}
	call := *c
	call.Args = make([]Expr, len(c.Args))
	for i, a := range c.Args {
		call.Args[i] = &Col{Index: i, T: a.Type()}
		if k, ok := a.(*Const); ok && (k.T.Kind == types.Raw || c.Func.Name == "JSON_OBJECT") {
			call.Args[i] = a // symbols, clauses and keys are no values
		}
	}
	return evalOne(&call, c.Args, vals, env)
}

// evalOne compiles e, which reads columns with the types of args, and runs it over one row.
func evalOne(e Expr, args []Expr, vals []types.Datum, env *Env) (types.Datum, error) {
	b := &types.Batch{Len: 1}
	var fields []types.Field
	for i, a := range args {
		t := a.Type()
		fields = append(fields, types.Field{Type: t})
		col := types.NewColumn(t, 1)
		if t.Kind != types.Raw {
			col.Append(vals[i])
		}
		b.Cols = append(b.Cols, col)
	}
	eval, err := Compile(e, fields, env)
	if err != nil {
		return types.Datum{}, err
	}
	col, err := eval(b, types.All(1))
	if err != nil {
		var re *types.RowError
		if errors.As(err, &re) {
			err = re.Err
		}
		return types.Datum{}, err
	}
	return col.At(0), nil
}

func evalJunction(c *Call, row []types.Datum, env *Env, decides bool) (types.Datum, error) {
	null := false
	for _, a := range c.Args {
		d, err := EvalRow(a, row, env)
		if err != nil {
			return d, err
		}
		if d.Null {
			null = true
		} else if d.Bool() == decides {
			return types.BoolDatum(decides), nil
		}
	}
	if null {
		return types.NullDatum(), nil
	}
	return types.BoolDatum(!decides), nil
}

// evalIn compares with each value.
func evalIn(t types.Type, vals []types.Datum) types.Datum {
	if vals[0].Null {
		return vals[0]
	}
	null := false
	for _, v := range vals[1:] {
		switch {
		case v.Null:
			null = true
		case sameElem(t, vals[0], v):
			return types.BoolDatum(true)
		}
	}
	if null {
		return types.NullDatum()
	}
	return types.BoolDatum(false)
}

// evalOperator computes comparisons and arithmetic on exact numbers with big integers; false for anything else.
func evalOperator(c *Call, vals []types.Datum) (types.Datum, bool, error) {
	if len(vals) != 2 {
		return types.Datum{}, false, nil
	}
	t, u := c.Args[0].Type(), c.Args[1].Type()
	_, s1, ok := t.AsDecimal()
	_, s2, ok2 := u.AsDecimal()
	if !ok || !ok2 {
		return types.Datum{}, false, nil
	}
	op, isCompare := comparisons[c.Func.Name]
	if !isCompare && c.Func.Name != "+" && c.Func.Name != "-" && c.Func.Name != "*" {
		return types.Datum{}, false, nil
	}
	if vals[0].Null || vals[1].Null {
		return types.NullDatum(), true, nil
	}
	x, y := bigOf(t, vals[0]), bigOf(u, vals[1])
	if c.Func.Name == "*" {
		return bigResult(new(big.Int).Mul(x, y), s1+s2, c.T), true, nil
	}
	s := max(s1, s2)
	x, y = scaleUp(x, s-s1), scaleUp(y, s-s2)
	if isCompare {
		return types.BoolDatum(op.holds(x.Cmp(y))), true, nil
	}
	if c.Func.Name == "-" {
		y = y.Neg(y)
	}
	return bigResult(x.Add(x, y), s, c.T), true, nil
}

func bigOf(t types.Type, d types.Datum) *big.Int {
	if t.Phys() == types.PhysWide {
		return d.Wide().Big()
	}
	return big.NewInt(d.I)
}

func scaleUp(x *big.Int, n int) *big.Int {
	return x.Mul(x, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil))
}

// bigResult gives v, of scale s, as a value of an integer type, wrapped, or of a DECIMAL, rounded half up or NULL.
func bigResult(v *big.Int, s int, t types.Type) types.Datum {
	if t.Kind != types.Decimal {
		low := new(big.Int).And(v, new(big.Int).SetUint64(^uint64(0)))
		return types.IntDatum(wrap(t.Kind, int64(low.Uint64())))
	}
	if s > t.Scale {
		d := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(s-t.Scale)), nil)
		half := new(big.Int).Quo(d, big.NewInt(2))
		if v.Sign() < 0 {
			half.Neg(half)
		}
		v = v.Add(v, half).Quo(v, d)
	} else {
		v = scaleUp(v, t.Scale-s)
	}
	r, ok := types.Int128FromBig(v)
	if !ok || !r.Fits(t.Precision) {
		return types.NullDatum()
	}
	if t.Phys() == types.PhysWide {
		return types.WideDatum(r)
	}
	return types.IntDatum(int64(r.Lo))
}
