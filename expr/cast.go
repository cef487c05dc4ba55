package expr

import (
	"errors"
	"fmt"
	"math"

	"runnel/types"
)

// rowCast is one conversion in two forms: a kernel over columns, and a function of a boxed value for the elements of
// nested ones. Neither is called for NULL.
type rowCast struct {
	eval  func(t types.Type, arg Eval) Eval
	datum func(types.Datum) (types.Datum, error)
	// same says that the values are the same in both types.
	same bool
	// sure says that it cannot fail.
	sure bool
}

// castBy makes both forms of a conversion that may fail or give NULL (errNull).
func castBy[A, R any](f func(A) (R, error)) rowCast {
	return rowCast{
		eval:  func(t types.Type, arg Eval) Eval { return unary(t, arg, f) },
		datum: func(d types.Datum) (types.Datum, error) { r, err := f(unbox[A](d)); return box(r), err },
	}
}

// castSure makes both forms of a conversion that always succeeds.
func castSure[A, R any](f func(A) R) rowCast {
	c := castBy(func(a A) (R, error) { return f(a), nil })
	c.eval = func(t types.Type, arg Eval) Eval {
		out := newOutput(t)
		return func(b *types.Batch, sel []int32) (*types.Column, error) {
			var fail error
			x, sel := run(arg, b, sel, &fail)
			out.start(b.Len)
			out.nulls(x)
			xs, rs := values[A](x), values[R](out.Column)
			if x.Valid == nil {
				for _, i := range sel {
					rs[i] = f(xs[i])
				}
				return out.Column, fail
			}
			for _, i := range sel {
				if x.Valid.Has(i) {
					rs[i] = f(xs[i])
				}
			}
			return out.Column, fail
		}
	}
	c.sure = true
	return c
}

// castSame is a conversion that changes no value.
func castSame() rowCast {
	return rowCast{
		eval:  retyped,
		datum: func(d types.Datum) (types.Datum, error) { return d, nil },
		same:  true,
		sure:  true,
	}
}

// retyped gives the columns of arg under another type with the same values.
func retyped(t types.Type, arg Eval) Eval {
	out := types.NewColumn(t, 0)
	return func(b *types.Batch, sel []int32) (*types.Column, error) {
		x, err := arg(b, sel)
		if x != nil {
			out.Int, out.Flt, out.Wide, out.Str, out.Any, out.Valid = x.Int, x.Flt, x.Wide, x.Str, x.Any, x.Valid
		}
		return out, err
	}
}

// unbox reads a Datum as int64, float64, types.Int128, string or any.
func unbox[A any](d types.Datum) (a A) {
	switch p := any(&a).(type) {
	case *int64:
		*p = d.I
	case *float64:
		*p = d.Float()
	case *types.Int128:
		*p = d.Wide()
	case *string:
		*p = d.S
	case *any:
		*p = d.A
	}
	return a
}

// box is the opposite of unbox.
func box[A any](a A) types.Datum {
	switch v := any(a).(type) {
	case int64:
		return types.IntDatum(v)
	case float64:
		return types.FloatDatum(v)
	case types.Int128:
		return types.WideDatum(v)
	case string:
		return types.StrDatum(v)
	}
	return types.AnyDatum(a)
}

// try turns failures into NULL.
func (r rowCast) try() rowCast {
	if r.sure {
		return r
	}
	datum := r.datum
	return rowCast{datum: func(d types.Datum) (types.Datum, error) {
		v, err := datum(d)
		if err != nil {
			return v, errNull
		}
		return v, nil
	}}
}

// cast compiles a Cast node.
func (c *compiler) cast(e *Cast) (Eval, error) {
	from := e.Arg.Type()
	if from.Kind == types.Null {
		return constant(&Const{Value: types.NullDatum(), T: e.T}), nil
	}
	arg, err := c.compile(e.Arg)
	if err != nil {
		return nil, err
	}
	rc, err := c.castOf(from, e.T)
	if err != nil {
		return nil, err
	}
	if rc.same && from.Equal(e.T) {
		return arg, nil
	}
	if e.Try || c.env.LegacyCast {
		rc = rc.try()
	}
	if rc.eval != nil {
		return rc.eval(e.T, arg), nil
	}
	f := rc.datum
	return datums(e.T, []Eval{arg}, func(row []types.Datum) (types.Datum, error) {
		if row[0].Null {
			return row[0], nil
		}
		return f(row[0])
	}), nil
}

// castFails reports whether a cast may give an error for some value.
func castFails(e *Cast) bool {
	from := e.Arg.Type()
	if e.Try || from.Kind == types.Null {
		return false
	}
	rc, err := newCompiler(nil, nil).castOf(from, e.T)
	return err != nil || !rc.sure
}

// castOf gives the conversion between two types (types.md 8).
func (c *compiler) castOf(from, to types.Type) (rowCast, error) {
	switch {
	case from.SameIgnoringNull(to):
		return castSame(), nil
	case (to.Kind == types.Char || to.Kind == types.Binary) && to.Precision > maxText:
		return rowCast{}, fmt.Errorf("CAST to %s would fill every value up to that length; at most %d can be filled up: use STRING or BYTES", to, maxText)
	case from.IsNumeric() && to.IsNumeric():
		return castNumber(from, to), nil
	case from.Kind == types.Boolean && to.IsNumeric():
		return castNumber(types.Of(types.TinyInt), to), nil
	case from.IsNumeric() && to.Kind == types.Boolean:
		return castToBool(from), nil
	case from.IsInterval() && from.Kind == to.Kind:
		return castSame(), nil
	case from.IsInteger() && to.IsInterval():
		n := intervalUnit(to)
		return castSure(func(v int64) int64 { return v * n }), nil
	case from.IsInterval() && to.IsInteger():
		n, k := intervalUnit(from), to.Kind
		return castSure(func(v int64) int64 { return wrap(k, v/n) }), nil
	case to.IsString():
		return c.castToText(from, to), nil
	case to.IsBinary():
		return c.castToBytes(from, to), nil
	case from.IsString():
		return c.castFromText(to)
	case from.IsTemporal() && to.IsTemporal():
		return c.castTime(from, to), nil
	case from.Kind == to.Kind && from.Phys() == types.PhysAny:
		return c.castNested(from, to)
	}
	return rowCast{}, fmt.Errorf("unsupported cast from %s to %s", from, to)
}

var errNotFinite = errors.New("Infinite or NaN")

// castNumber converts between numbers: integers wrap, floats saturate, decimals that do not fit are NULL.
func castNumber(from, to types.Type) rowCast {
	switch {
	case from.IsInteger() && to.IsInteger():
		if to.Kind >= from.Kind {
			return castSame()
		}
		k := to.Kind
		return castSure(func(v int64) int64 { return wrap(k, v) })
	case from.IsInteger() && to.Kind == types.Float:
		return castSure(func(v int64) float64 { return float64(float32(v)) })
	case from.IsInteger() && to.Kind == types.Double:
		return castSure(func(v int64) float64 { return float64(v) })
	case from.Kind == types.Float && to.Kind == types.Double:
		return castSame()
	case from.Kind == types.Double && to.Kind == types.Float:
		return castSure(func(v float64) float64 { return float64(float32(v)) })
	case from.Phys() == types.PhysFloat && to.IsInteger():
		k := to.Kind
		return castSure(func(v float64) int64 { return floatToInt(v, k) })
	case from.Phys() == types.PhysFloat:
		return castFloatToDecimal(from, to)
	case from.Kind == types.Decimal && to.Phys() == types.PhysFloat:
		return castDecimalToFloat(from, to)
	case from.Kind == types.Decimal && to.IsInteger():
		return castDecimalToInt(from, to)
	}
	return castToDecimal(from, to)
}

// floatToInt cuts the fraction off and saturates as Java's conversions do: TINYINT and SMALLINT go by way of INT.
func floatToInt(v float64, k types.Kind) int64 {
	if v != v {
		return 0
	}
	if k == types.BigInt {
		switch {
		case v >= math.MaxInt64:
			return math.MaxInt64
		case v <= math.MinInt64:
			return math.MinInt64
		}
		return int64(v)
	}
	return wrap(k, int64(min(max(v, math.MinInt32), math.MaxInt32)))
}

func castFloatToDecimal(from, to types.Type) rowCast {
	p, s := to.Precision, to.Scale
	of := func(v float64) (types.Int128, error) {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return types.Int128{}, errNotFinite
		}
		d, ok := types.DecimalOfFloat(v, p, s)
		if !ok {
			return d, errNull
		}
		return d, nil
	}
	if to.Phys() == types.PhysWide {
		return castBy(of)
	}
	return castBy(func(v float64) (int64, error) { d, err := of(v); return int64(d.Lo), err })
}

func castDecimalToFloat(from, to types.Type) rowCast {
	p, s, single := from.Precision, from.Scale, to.Kind == types.Float
	round := func(f float64) float64 {
		if single {
			return float64(float32(f))
		}
		return f
	}
	if from.Phys() == types.PhysWide {
		return castSure(func(v types.Int128) float64 { return round(types.DecimalToFloat(v, p, s)) })
	}
	return castSure(func(v int64) float64 { return round(types.DecimalToFloat(types.Int128Of(v), p, s)) })
}

func castDecimalToInt(from, to types.Type) rowCast {
	s, k := from.Scale, to.Kind
	if from.Phys() == types.PhysWide {
		return castSure(func(v types.Int128) int64 { return wrap(k, types.DecimalToInt64(v, s)) })
	}
	d := pow10(s)
	return castSure(func(v int64) int64 { return wrap(k, v/d) })
}

// castToDecimal converts an integer or a DECIMAL.
func castToDecimal(from, to types.Type) rowCast {
	_, fs, _ := from.AsDecimal()
	p, s := to.Precision, to.Scale
	fp, _, _ := from.AsDecimal()
	fits := fp-fs <= p-s && fs <= s // no value can be too large or be rounded
	if from.Phys() == types.PhysInt && to.Phys() == types.PhysInt {
		if fits {
			if fs == s {
				return castSame()
			}
			m := pow10(s - fs)
			return castSure(func(v int64) int64 { return v * m })
		}
		return castMaybe(func(v int64) (int64, error) { return orNull(types.RescaleInt(v, fs, s, p)) })
	}
	if from.Phys() == types.PhysInt {
		return castMaybe(func(v int64) (types.Int128, error) { return orNull(types.Int128Of(v).Rescale(fs, s, p)) })
	}
	if to.Phys() == types.PhysInt {
		return castMaybe(func(v types.Int128) (int64, error) {
			d, err := orNull(v.Rescale(fs, s, p))
			return int64(d.Lo), err
		})
	}
	return castMaybe(func(v types.Int128) (types.Int128, error) { return orNull(v.Rescale(fs, s, p)) })
}

// castMaybe is castBy for conversions that give NULL but never an error.
func castMaybe[A, R any](f func(A) (R, error)) rowCast {
	c := castBy(f)
	c.sure = true
	return c
}

func orNull[R any](r R, ok bool) (R, error) {
	if !ok {
		return r, errNull
	}
	return r, nil
}

func castToBool(from types.Type) rowCast {
	switch from.Phys() {
	case types.PhysFloat:
		return castSure(func(v float64) int64 { return toInt(v != 0) })
	case types.PhysWide:
		return castSure(func(v types.Int128) int64 { return toInt(v.Sign() != 0) })
	}
	return castSure(func(v int64) int64 { return toInt(v != 0) })
}
