package expr

import (
	"errors"

	"runnel/types"
)

// arithmeticFunctions are + - * / % and the signs.
func arithmeticFunctions() []Function {
	op := func(name, doc, forms string, bind func(*binding) (types.Type, error)) Function {
		return Function{Name: name, Doc: doc, Operator: true, form: asInfix, forms: forms, bind: bind, kernel: arithKernel,
			safe: name == "+" || name == "-" || name == "*"}
	}
	mod := op("%", "a % b: the remainder, with the sign of a; its type is that of b.", "'<EXACT_NUMERIC> % <EXACT_NUMERIC>'", bindMod)
	named := mod
	named.Name, named.Operator, named.form, named.forms = "MOD", false, asFunction, "'MOD(<EXACT_NUMERIC>, <EXACT_NUMERIC>)'"
	named.Doc = "MOD(a, b): the remainder of a by b, with the sign of a; its type is that of b."
	return []Function{
		op("+", "a + b: integers wrap around; also time + interval.", "'<NUMERIC> + <NUMERIC>'", bindPlus),
		op("-", "a - b or -a: integers wrap around; also time - interval.", "'<NUMERIC> - <NUMERIC>'", bindPlus),
		op("*", "a * b: integers wrap around; also interval * integer.", "'<NUMERIC> * <NUMERIC>'", bindTimes),
		op("/", "a / b: integers are divided towards zero; an integer or DECIMAL divisor of 0 is an error.", "'<NUMERIC> / <NUMERIC>'", bindTimes),
		mod, named,
	}
}

var (
	errByZero    = errors.New("/ by zero")        // integers
	errDivByZero = errors.New("Division by zero") // decimals
)

// bindPlus is for + and -, with one or two operands.
func bindPlus(b *binding) (types.Type, error) {
	if len(b.args) == 1 {
		return bindSign(b)
	}
	if len(b.args) != 2 {
		return types.Type{}, b.wrongCount(2)
	}
	b.untypedNulls()
	t, u := b.args[0].Type(), b.args[1].Type()
	switch {
	case t.IsTemporal() && u.IsInterval():
		return t.Plain().Nullable(anyNullable(b.args)), nil
	case t.IsInterval() && u.IsTemporal() && b.fn.Name == "+":
		b.args[0], b.args[1] = b.args[1], b.args[0]
		return u.Plain().Nullable(anyNullable(b.args)), nil
	case t.IsInterval() && u.Kind == t.Kind:
		return t.Nullable(anyNullable(b.args)), nil
	}
	return b.bindNumbers(types.AddType)
}

func bindTimes(b *binding) (types.Type, error) {
	if len(b.args) != 2 {
		return types.Type{}, b.wrongCount(2)
	}
	b.untypedNulls()
	t, u := b.args[0].Type(), b.args[1].Type()
	if b.fn.Name == "*" {
		if t.IsInteger() && u.IsInterval() {
			b.args[0], b.args[1] = b.args[1], b.args[0]
			t, u = u, t
		}
		if t.IsInterval() && u.IsInteger() {
			return t.Nullable(anyNullable(b.args)), nil
		}
		return b.bindNumbers(types.MulType)
	}
	return b.bindNumbers(types.DivType)
}

// untypedNulls gives a bare NULL the type of its partner.
func (b *binding) untypedNulls() {
	t, u := b.args[0].Type(), b.args[1].Type()
	switch {
	case t.Kind == types.Null && u.Kind == types.Null:
		b.cast(0, types.Of(types.Int))
		b.cast(1, types.Of(types.Int))
	case t.Kind == types.Null:
		b.cast(0, u)
	case u.Kind == types.Null:
		b.cast(1, t)
	}
}

// bindNumbers gives the type of an operator on two numbers; dec is the rule for exact numbers.
func (b *binding) bindNumbers(dec func(t, u types.Type) types.Type) (types.Type, error) {
	t, u := b.args[0].Type(), b.args[1].Type()
	if !t.IsNumeric() || !u.IsNumeric() {
		return types.Type{}, b.misfit()
	}
	null := anyNullable(b.args)
	float := func(v types.Type) bool { return v.Kind == types.Float || v.Kind == types.Double }
	var r types.Type
	switch {
	case t.IsInteger() && u.IsInteger():
		return commonNumeric(t, u).Nullable(null), nil
	case float(t) && float(u):
		r = types.Of(t.Kind)
	case float(t) || float(u):
		r = commonNumeric(t, u)
	default:
		return dec(t, u), nil
	}
	b.cast(0, r)
	b.cast(1, r)
	return r.Nullable(null), nil
}

func bindMod(b *binding) (types.Type, error) {
	if len(b.args) != 2 {
		return types.Type{}, b.wrongCount(2)
	}
	b.untypedNulls()
	t, u := b.args[0].Type(), b.args[1].Type()
	_, _, exact := t.AsDecimal()
	_, _, exact2 := u.AsDecimal()
	if !exact || !exact2 {
		return types.Type{}, b.misfit()
	}
	return types.ModType(t, u), nil
}

func bindSign(b *binding) (types.Type, error) {
	t := b.args[0].Type()
	if t.Kind == types.Null {
		b.cast(0, types.Of(types.Int))
		return types.Of(types.Int), nil
	}
	if !t.IsNumeric() && !t.IsInterval() {
		return types.Type{}, b.misfit()
	}
	return t.Plain(), nil
}

// arithKernel compiles an operator by the type of its result and operands.
func arithKernel(c *compiler, call *Call) (Eval, error) {
	if len(call.Args) == 1 {
		return signKernel(c, call)
	}
	t, u := call.Args[0].Type(), call.Args[1].Type()
	switch {
	case t.IsTemporal():
		return timeShiftKernel(c, call)
	case t.Kind == types.Decimal || u.Kind == types.Decimal:
		if call.T.Phys() == types.PhysFloat {
			break
		}
		return decimalKernel(c, call)
	}
	args, err := c.args(call)
	if err != nil {
		return nil, err
	}
	k, isConst := constOf(call.Args[1])
	isConst = isConst && !k.Null
	if call.T.Phys() == types.PhysFloat {
		return binaryLoop(call.T, args, floatLoop(call.Func.Name, call.T.Kind == types.Float)), nil
	}
	name := call.Func.Name
	if name == "/" || name == "%" || name == "MOD" {
		return divKernel(call, args, name == "/"), nil
	}
	var loop intLoop
	switch call.T.Kind {
	case types.TinyInt:
		loop = intLoopOf[int8](name, k.I, isConst)
	case types.SmallInt:
		loop = intLoopOf[int16](name, k.I, isConst)
	case types.Int, types.IntervalMonths:
		loop = intLoopOf[int32](name, k.I, isConst)
	default:
		loop = intLoopOf[int64](name, k.I, isConst)
	}
	return binaryLoop(call.T, args, func(out, x, y *types.Column, sel []int32) { loop(out.Int, x.Int, y.Int, sel) }), nil
}

// binaryLoop runs a loop that cannot fail over two operands. The loop gets nil for all rows; NULL rows get any value.
func binaryLoop(t types.Type, args []Eval, loop func(out, x, y *types.Column, sel []int32)) Eval {
	out := newOutput(t)
	return func(b *types.Batch, sel []int32) (*types.Column, error) {
		var fail error
		x, sel := run(args[0], b, sel, &fail)
		y, sel := run(args[1], b, sel, &fail)
		out.start(b.Len)
		if dense(sel, b.Len) {
			sel = nil
		}
		loop(out.Column, x, y, sel)
		out.nulls(x, y)
		return out.Column, fail
	}
}

// integer is the width to which a result wraps.
type integer interface{ int8 | int16 | int32 | int64 }

type intLoop func(d, x, y []int64, sel []int32)

// intLoopOf picks + - * with results that wrap to T, over a constant where the second operand is one.
func intLoopOf[T integer](op string, k int64, isConst bool) intLoop {
	switch {
	case op == "+" && isConst:
		return func(d, x, _ []int64, sel []int32) { addConst[T](d, x, k, sel) }
	case op == "-" && isConst:
		return func(d, x, _ []int64, sel []int32) { addConst[T](d, x, -k, sel) }
	case op == "*" && isConst:
		return func(d, x, _ []int64, sel []int32) { mulConst[T](d, x, k, sel) }
	case op == "+":
		return addInts[T]
	case op == "-":
		return subInts[T]
	default:
		return mulInts[T]
	}
}

func addConst[T integer](d, x []int64, k int64, sel []int32) {
	if sel == nil {
		x = x[:len(d)]
		for i := range d {
			d[i] = int64(T(x[i] + k))
		}
		return
	}
	for _, i := range sel {
		d[i] = int64(T(x[i] + k))
	}
}

func mulConst[T integer](d, x []int64, k int64, sel []int32) {
	if sel == nil {
		x = x[:len(d)]
		for i := range d {
			d[i] = int64(T(x[i] * k))
		}
		return
	}
	for _, i := range sel {
		d[i] = int64(T(x[i] * k))
	}
}

func addInts[T integer](d, x, y []int64, sel []int32) {
	if sel == nil {
		x, y = x[:len(d)], y[:len(d)]
		for i := range d {
			d[i] = int64(T(x[i] + y[i]))
		}
		return
	}
	for _, i := range sel {
		d[i] = int64(T(x[i] + y[i]))
	}
}

func subInts[T integer](d, x, y []int64, sel []int32) {
	if sel == nil {
		x, y = x[:len(d)], y[:len(d)]
		for i := range d {
			d[i] = int64(T(x[i] - y[i]))
		}
		return
	}
	for _, i := range sel {
		d[i] = int64(T(x[i] - y[i]))
	}
}

func mulInts[T integer](d, x, y []int64, sel []int32) {
	if sel == nil {
		x, y = x[:len(d)], y[:len(d)]
		for i := range d {
			d[i] = int64(T(x[i] * y[i]))
		}
		return
	}
	for _, i := range sel {
		d[i] = int64(T(x[i] * y[i]))
	}
}

// wrap gives v in the width of an integer type.
func wrap(k types.Kind, v int64) int64 {
	switch k {
	case types.TinyInt:
		return int64(int8(v))
	case types.SmallInt:
		return int64(int16(v))
	case types.Int:
		return int64(int32(v))
	}
	return v
}

// divKernel is / or % of integers. A divisor of 0 is an error, but for rows that are NULL anyway.
func divKernel(call *Call, args []Eval, quotient bool) Eval {
	out := newOutput(call.T)
	kind := call.T.Kind
	return func(b *types.Batch, sel []int32) (*types.Column, error) {
		var fail error
		x, sel := run(args[0], b, sel, &fail)
		y, sel := run(args[1], b, sel, &fail)
		out.start(b.Len)
		out.nulls(x, y)
		for _, i := range sel {
			d := y.Int[i]
			if d == 0 {
				if out.Column.Null(i) {
					continue
				}
				return out.Column, at(i, errByZero)
			}
			n := x.Int[i]
			var r int64
			if uint64(n)|uint64(d) <= 1<<32-1 { // a narrow division is much cheaper
				if quotient {
					r = int64(uint32(n) / uint32(d))
				} else {
					r = int64(uint32(n) % uint32(d))
				}
			} else if quotient {
				r = n / d
			} else {
				r = n % d
			}
			out.Int[i] = wrap(kind, r)
		}
		return out.Column, fail
	}
}

// floatLoop picks + - * / on FLOAT (single) or DOUBLE.
func floatLoop(op string, single bool) func(out, x, y *types.Column, sel []int32) {
	var f func(d, x, y []float64, sel []int32)
	switch op {
	case "+":
		f = addFloats
	case "-":
		f = subFloats
	case "*":
		f = mulFloats
	default:
		f = divFloats
	}
	return func(out, x, y *types.Column, sel []int32) {
		f(out.Flt, x.Flt, y.Flt, sel)
		if single { // rounding the exact double once more gives the same as arithmetic on float32
			each(sel, len(out.Flt), func(i int32) { out.Flt[i] = float64(float32(out.Flt[i])) })
		}
	}
}

func addFloats(d, x, y []float64, sel []int32) {
	if sel == nil {
		x, y = x[:len(d)], y[:len(d)]
		for i := range d {
			d[i] = x[i] + y[i]
		}
		return
	}
	for _, i := range sel {
		d[i] = x[i] + y[i]
	}
}

func subFloats(d, x, y []float64, sel []int32) {
	if sel == nil {
		x, y = x[:len(d)], y[:len(d)]
		for i := range d {
			d[i] = x[i] - y[i]
		}
		return
	}
	for _, i := range sel {
		d[i] = x[i] - y[i]
	}
}

func mulFloats(d, x, y []float64, sel []int32) {
	if sel == nil {
		x, y = x[:len(d)], y[:len(d)]
		for i := range d {
			d[i] = x[i] * y[i]
		}
		return
	}
	for _, i := range sel {
		d[i] = x[i] * y[i]
	}
}

func divFloats(d, x, y []float64, sel []int32) {
	if sel == nil {
		x, y = x[:len(d)], y[:len(d)]
		for i := range d {
			d[i] = x[i] / y[i]
		}
		return
	}
	for _, i := range sel {
		d[i] = x[i] / y[i]
	}
}

// signKernel is -a, and +a, which changes nothing.
func signKernel(c *compiler, call *Call) (Eval, error) {
	arg, err := c.compile(call.Args[0])
	if err != nil || call.Func.Name == "+" {
		return arg, err
	}
	out := newOutput(call.T)
	kind := call.T.Kind
	return func(b *types.Batch, sel []int32) (*types.Column, error) {
		var fail error
		x, sel := run(arg, b, sel, &fail)
		out.start(b.Len)
		switch out.Phys() {
		case types.PhysInt:
			for _, i := range sel {
				out.Int[i] = wrap(kind, -x.Int[i])
			}
		case types.PhysFloat:
			for _, i := range sel {
				out.Flt[i] = -x.Flt[i]
			}
		default:
			for _, i := range sel {
				out.Wide[i] = x.Wide[i].Neg()
			}
		}
		out.nulls(x)
		return out.Column, fail
	}, nil
}
