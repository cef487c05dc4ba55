package expr

import (
	"math"
	"math/bits"

	"runnel/internal/javamath"
	"runnel/types"
)

// mathFunctions are the numeric functions.
func mathFunctions() []Function {
	fs := doubleFunctions()
	return append(fs, []Function{
		{Name: "ABS", Doc: "ABS(a): without its sign; the smallest integer stays negative.", safe: true,
			bind: takes("NUMERIC").to(giveFirst), kernel: absKernel},
		{Name: "SIGN", Doc: "SIGN(a): -1, 0 or 1 in the type of a.", safe: true, bind: takes("NUMERIC").to(giveFirst), kernel: signOf},
		{Name: "CEIL", Aliases: []string{"CEILING"}, Doc: "CEIL(a [TO unit]): the next whole number, or the next beginning of a unit of time.",
			bind: bindFloor, kernel: floorKernel(true)},
		{Name: "FLOOR", Doc: "FLOOR(a [TO unit]): the whole number below, or the beginning of the unit of time.",
			bind: bindFloor, kernel: floorKernel(false)},
		{Name: "ROUND", Doc: "ROUND(a [, digits]): rounded half away from zero; negative digits round in front of the point.",
			forms: "'ROUND(<NUMERIC>, <INTEGER>)'", bind: bindRound, kernel: roundKernel(true)},
		{Name: "TRUNCATE", Doc: "TRUNCATE(a [, digits]): the digits behind cut off.",
			forms: "'TRUNCATE(<NUMERIC>, <INTEGER>)'", bind: bindRound, kernel: roundKernel(false)},
		{Name: "PI", Doc: "PI(): the number pi.", safe: true, bind: takes("").toSure(giveKind(types.Double)), kernel: fixed(math.Pi)},
		{Name: "E", Doc: "E(): Euler's number.", safe: true, bind: takes("").toSure(giveKind(types.Double)), kernel: fixed(math.E)},
		{Name: "RAND", Doc: "RAND([seed]): a random number from 0 up to 1.", Nondeterministic: true, safe: true,
			forms: "'RAND()'", bind: takes("[INTEGER]").to(giveKind(types.Double)), kernel: randKernel},
		{Name: "RAND_INTEGER", Doc: "RAND_INTEGER([seed,] bound): a random whole number from 0 up to the bound.", Nondeterministic: true,
			forms: "'RAND_INTEGER(<NUMERIC>)'", bind: takes("INTEGER, [INTEGER]").to(giveKind(types.Int)), kernel: randKernel},
	}...)
}

// doubleFunctions work on DOUBLE alone.
func doubleFunctions() []Function {
	one := func(name, doc string, f func(float64) float64) Function {
		return Function{Name: name, Doc: name + "(a): " + doc, safe: true,
			bind: asDoubles(takes("NUMERIC").to(giveKind(types.Double))), kernel: pure1(f)}
	}
	two := func(name, doc string, f func(a, b float64) float64) Function {
		return Function{Name: name, Doc: doc, safe: true, bind: asDoubles(takes("NUMERIC, NUMERIC").to(giveKind(types.Double))),
			kernel: rows2(func(a, b float64) (float64, error) { return f(a, b), nil })}
	}
	return []Function{
		two("POWER", "POWER(a, b): a to the power of b.", javamath.Pow),
		two("ATAN2", "ATAN2(y, x): the angle of the point (x, y).", javamath.Atan2),
		one("SQRT", "the square root; NaN for a negative number.", javaSqrt),
		one("LN", "the natural logarithm.", javamath.Log),
		one("LOG10", "the logarithm to the base 10.", javamath.Log10),
		one("LOG2", "the logarithm to the base 2.", javaLog2),
		{Name: "LOG", Doc: "LOG([base,] a): the natural logarithm, or that to a base.", safe: true, forms: "'LOG(<NUMERIC>)'",
			bind: asDoubles(takes("NUMERIC, [NUMERIC]").to(giveKind(types.Double))), kernel: logKernel},
		one("EXP", "e to the power of a.", javamath.Exp),
		one("SIN", "the sine of an angle in radians.", javamath.Sin),
		one("COS", "the cosine of an angle in radians.", javamath.Cos),
		one("TAN", "the tangent of an angle in radians.", javamath.Tan),
		one("COT", "the cotangent of an angle in radians.", func(a float64) float64 { return 1 / javamath.Tan(a) }),
		one("ASIN", "the arc sine in radians.", javamath.Asin),
		one("ACOS", "the arc cosine in radians.", javamath.Acos),
		one("ATAN", "the arc tangent in radians.", javamath.Atan),
		one("SINH", "the hyperbolic sine.", javamath.Sinh),
		one("COSH", "the hyperbolic cosine.", javamath.Cosh),
		one("TANH", "the hyperbolic tangent.", javamath.Tanh),
		one("DEGREES", "radians in degrees.", func(a float64) float64 { return a * (180 / math.Pi) }),
		one("RADIANS", "degrees in radians.", func(a float64) float64 { return a / 180 * math.Pi }),
	}
}

func fixed(v float64) func(*compiler, *Call) (Eval, error) {
	return func(_ *compiler, call *Call) (Eval, error) {
		return constant(&Const{Value: types.FloatDatum(v), T: call.T}), nil
	}
}

// javaSqrt is Math.pow(a, 0.5), which differs from the root for -0.0 and -Infinity.
func javaSqrt(a float64) float64 {
	if a == 0 {
		return 0
	}
	if math.IsInf(a, -1) {
		return math.Inf(1)
	}
	return math.Sqrt(a)
}

func javaLog2(a float64) float64 { return javamath.Log(a) / math.Ln2 }

func logKernel(c *compiler, call *Call) (Eval, error) {
	if len(call.Args) == 1 {
		return pure1(javamath.Log)(c, call)
	}
	return rows2(func(base, a float64) (float64, error) { return javamath.Log(a) / javamath.Log(base), nil })(c, call)
}

func absKernel(c *compiler, call *Call) (Eval, error) {
	kind := call.T.Kind
	switch call.T.Phys() {
	case types.PhysFloat:
		return pure1(math.Abs)(c, call)
	case types.PhysWide:
		return pure1(func(v types.Int128) types.Int128 {
			if v.Hi < 0 {
				return v.Neg()
			}
			return v
		})(c, call)
	}
	return pure1(func(v int64) int64 {
		if v < 0 {
			return wrap(kind, -v)
		}
		return v
	})(c, call)
}

func signOf(c *compiler, call *Call) (Eval, error) {
	one := types.Pow10(call.T.Scale)
	switch call.T.Phys() {
	case types.PhysFloat:
		return pure1(func(v float64) float64 {
			switch {
			case v > 0:
				return 1
			case v < 0:
				return -1
			}
			return v
		})(c, call)
	case types.PhysWide:
		return pure1(func(v types.Int128) types.Int128 {
			switch v.Sign() {
			case 1:
				return one
			case -1:
				return one.Neg()
			}
			return v
		})(c, call)
	}
	unit := int64(one.Lo)
	return pure1(func(v int64) int64 {
		switch {
		case v > 0:
			return unit
		case v < 0:
			return -unit
		}
		return 0
	})(c, call)
}

// bindFloor is FLOOR and CEIL, of a number or of a time with a unit.
func bindFloor(b *binding) (types.Type, error) {
	if len(b.args) == 2 {
		return bindFloorTo(b)
	}
	return takes("NUMERIC").to(func(b *binding) types.Type {
		t := b.args[0].Type().Plain()
		if t.Kind == types.Decimal {
			t.Scale = 0
		}
		return t
	})(b)
}

func floorKernel(up bool) func(*compiler, *Call) (Eval, error) {
	return func(c *compiler, call *Call) (Eval, error) {
		if len(call.Args) == 2 {
			return floorToKernel(c, call, up)
		}
		t := call.Args[0].Type()
		switch {
		case t.IsInteger():
			return c.compile(call.Args[0])
		case t.Phys() == types.PhysFloat && up:
			return pure1(math.Ceil)(c, call)
		case t.Phys() == types.PhysFloat:
			return pure1(math.Floor)(c, call)
		}
		arg, err := c.compile(call.Args[0])
		if err != nil {
			return nil, err
		}
		s := t.Scale
		return decimalUnary(call.T, arg, func(v types.Int128) (types.Int128, bool) {
			q := cutDigits(v, s)
			exact, _ := q.Mul(types.Pow10(s))
			if c := v.Cmp(exact); c > 0 && up {
				q, _ = q.Add(types.Int128Of(1))
			} else if c < 0 && !up {
				q, _ = q.Add(types.Int128Of(-1))
			}
			return q, q.Fits(call.T.Precision)
		}), nil
	}
}

// decimalUnary makes a kernel of a function of a DECIMAL; false gives NULL.
func decimalUnary(t types.Type, arg Eval, f func(types.Int128) (types.Int128, bool)) Eval {
	out := newOutput(t)
	return func(b *types.Batch, sel []int32) (*types.Column, error) {
		var fail error
		x, sel := run(arg, b, sel, &fail)
		out.start(b.Len)
		out.nulls(x)
		for _, i := range sel {
			if x.Null(i) {
				continue
			}
			v, ok := f(wideAt(x, i))
			if !ok {
				out.null(i)
				continue
			}
			putDecimal(out.Column, i, v)
		}
		return out.Column, fail
	}
}

// cutDigits drops the last n decimal digits, towards zero.
func cutDigits(v types.Int128, n int) types.Int128 {
	for ; n > 0; n -= 18 {
		v = divWord(v, uint64(pow10(min(n, 18))))
	}
	return v
}

// divWord is v/d towards zero for a positive d.
func divWord(v types.Int128, d uint64) types.Int128 {
	neg := v.Hi < 0
	if neg {
		v = v.Neg()
	}
	hi := uint64(v.Hi)
	lo, _ := bits.Div64(hi%d, v.Lo, d)
	v = types.Int128{Hi: int64(hi / d), Lo: lo}
	if neg {
		return v.Neg()
	}
	return v
}

// bindRound gives the type of ROUND and TRUNCATE: for a DECIMAL it depends on a constant number of digits.
func bindRound(b *binding) (types.Type, error) {
	if len(b.args) == 2 && b.args[1].Type().Kind == types.BigInt {
		return types.Type{}, b.errorf("Unsupported call: %s(%s, %s)", b.name, b.args[0].Type(), b.args[1].Type())
	}
	return takes("NUMERIC, [INTEGER]").to(func(b *binding) types.Type {
		t := b.args[0].Type().Plain()
		if t.Kind != types.Decimal {
			return t
		}
		digits := int64(0)
		if len(b.args) == 2 {
			d, ok := constOf(b.args[1])
			if !ok || d.Null {
				return t
			}
			digits = d.I
		}
		switch p, s := int64(t.Precision), int64(t.Scale); {
		case digits >= s:
		case digits < 0:
			t.Precision, t.Scale = int(min(types.MaxDecimal, 1+p-s)), 0
		default:
			t.Precision, t.Scale = int(min(types.MaxDecimal, 1+p-s+digits)), int(digits)
		}
		return t
	})(b)
}

// roundKernel is ROUND (half away from zero) or TRUNCATE.
func roundKernel(round bool) func(*compiler, *Call) (Eval, error) {
	return func(c *compiler, call *Call) (Eval, error) {
		args, err := c.args(call)
		if err != nil {
			return nil, err
		}
		if len(args) == 1 {
			args = append(args, constant(NewInt(0)))
		}
		t, from := call.T, call.Args[0].Type()
		switch {
		case from.Kind == types.Decimal && from.Phys() == types.PhysInt && t.Phys() == types.PhysInt:
			return roundNarrow(t, from.Scale, args, round), nil
		case from.Kind == types.Decimal:
			return roundDecimal(t, from.Scale, args, round), nil
		case t.Phys() == types.PhysFloat:
			single := t.Kind == types.Float
			return binaryRow(t, args, func(v float64, d int64) (float64, error) { return roundFloat(v, d, round, single) }), nil
		}
		kind := t.Kind
		return binaryRow(t, args, func(v, d int64) (int64, error) { return wrap(kind, roundInt(v, d, round)), nil }), nil
	}
}

// roundInt rounds in front of the point; d digits behind it change nothing.
func roundInt(v, d int64, round bool) int64 {
	if d >= 0 {
		return v
	}
	if d < -19 {
		return 0
	}
	w := types.Int128Of(v)
	r, _ := roundAt(w, int(-d), round)
	return int64(r.Lo)
}

// roundAt rounds away, or cuts, n decimal digits and puts zeros in their place.
func roundAt(v types.Int128, n int, round bool) (types.Int128, bool) {
	if n > types.MaxDecimal {
		return types.Int128{}, true
	}
	q := cutDigits(v, n)
	if round {
		var ok bool
		if q, ok = v.Rescale(n, 0, types.MaxDecimal); !ok {
			return q, false
		}
	}
	return q.Mul(types.Pow10(n))
}

// roundFast rounds by multiplying where that cannot differ from rounding the decimal text: not near a tie or a whole
// number, and with whole numbers that a DOUBLE holds exactly.
func roundFast(v float64, d int64, round bool) (float64, bool) {
	if d < 0 || d > 15 {
		return 0, false
	}
	p := float64(pow10(int(d)))
	x := math.Abs(v) * p
	whole := math.Floor(x)
	f := x - whole
	if x >= 1<<50 || f < 1e-3 || f > 1-1e-3 || math.Abs(f-0.5) < 1e-3 {
		return 0, false
	}
	if round && f > 0.5 {
		whole++
	}
	if v < 0 && whole > 0 {
		return -whole / p, true
	}
	return whole / p, true
}

// roundDecimal rounds a DECIMAL of scale s to the number of digits in the second argument, in the type t.
func roundDecimal(t types.Type, s int, args []Eval, round bool) Eval {
	return decimalBinary(t, args, func(v types.Int128, d int64) (types.Int128, bool) {
		digits := int(max(min(d, 100), -100))
		if digits < s {
			var ok bool
			if v, ok = roundAt(v, s-digits, round); !ok {
				return v, false
			}
		}
		return v.Rescale(s, t.Scale, t.Precision)
	})
}

// roundNarrow is roundDecimal for values of at most 18 digits.
func roundNarrow(t types.Type, s int, args []Eval, round bool) Eval {
	return binaryRow(t, args, func(v, d int64) (int64, error) {
		drop := int64(s) - d
		if drop > 18 {
			return 0, nil
		}
		if drop > 0 {
			unit := pow10(int(drop))
			rest := v % unit
			v -= rest
			if round && rest >= unit-rest {
				v += unit
			} else if round && -rest >= unit+rest {
				v -= unit
			}
		}
		return orNull(types.RescaleInt(v, s, t.Scale, t.Precision))
	})
}

// decimalBinary is decimalUnary with a number beside the DECIMAL.
func decimalBinary(t types.Type, args []Eval, f func(types.Int128, int64) (types.Int128, bool)) Eval {
	out := newOutput(t)
	return func(b *types.Batch, sel []int32) (*types.Column, error) {
		var fail error
		x, sel := run(args[0], b, sel, &fail)
		y, sel := run(args[1], b, sel, &fail)
		out.start(b.Len)
		out.nulls(x, y)
		for _, i := range sel {
			if out.Null(i) {
				continue
			}
			v, ok := f(wideAt(x, i), y.Int[i])
			if !ok {
				out.null(i)
				continue
			}
			putDecimal(out.Column, i, v)
		}
		return out.Column, fail
	}
}

// roundFloat rounds the decimal text of a floating number, as Flink does by way of BigDecimal.
func roundFloat(v float64, d int64, round, single bool) (float64, error) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, errNotFinite
	}
	if r, ok := roundFast(v, d, round); ok && !single {
		return r, nil
	}
	r := roundText(v, int(max(min(d, 400), -400)), round, single)
	if single {
		r = float64(float32(r))
	}
	return r, nil
}
