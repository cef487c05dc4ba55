package expr

import (
	"runnel/types"
)

// logicFunctions are AND, OR, NOT and the IS tests.
func logicFunctions() []Function {
	op := func(name, doc string, form callForm, forms string, bind func(*binding) (types.Type, error),
		kernel func(*compiler, *Call) (Eval, error)) Function {
		return Function{Name: name, Doc: doc, Operator: true, safe: true, form: form, forms: forms, bind: bind, kernel: kernel}
	}
	test := func(name, doc string, result [3]bool) Function {
		return op(name, doc, asPostfix, "'<BOOLEAN> "+name+"'", bindTest, func(c *compiler, call *Call) (Eval, error) {
			return c.truthTest(call, result)
		})
	}
	return []Function{
		op("AND", "a AND b: TRUE when both are; the right side is not evaluated where the left one is FALSE.",
			asInfix, "'<BOOLEAN> AND <BOOLEAN>'", bindJunction, func(c *compiler, call *Call) (Eval, error) {
				return c.junction(call, 0)
			}),
		op("OR", "a OR b: TRUE when one is; the right side is not evaluated where the left one is TRUE.",
			asInfix, "'<BOOLEAN> OR <BOOLEAN>'", bindJunction, func(c *compiler, call *Call) (Eval, error) {
				return c.junction(call, 1)
			}),
		op("NOT", "NOT a: the opposite; NULL stays NULL.", asPrefix, "'NOT<BOOLEAN>'", bindNot, notKernel),
		op("IS NULL", "a IS NULL: never NULL itself.", asPostfix, "'<ANY> IS NULL'", bindIsNull,
			func(c *compiler, call *Call) (Eval, error) { return c.nullTest(call, 1) }),
		op("IS NOT NULL", "a IS NOT NULL: never NULL itself.", asPostfix, "'<ANY> IS NOT NULL'", bindIsNull,
			func(c *compiler, call *Call) (Eval, error) { return c.nullTest(call, 0) }),
		// The three results are for FALSE, TRUE and NULL.
		test("IS TRUE", "a IS TRUE: FALSE for NULL.", [3]bool{false, true, false}),
		test("IS NOT TRUE", "a IS NOT TRUE: TRUE for NULL.", [3]bool{true, false, true}),
		test("IS FALSE", "a IS FALSE: FALSE for NULL.", [3]bool{true, false, false}),
		test("IS NOT FALSE", "a IS NOT FALSE: TRUE for NULL.", [3]bool{false, true, true}),
		test("IS UNKNOWN", "a IS UNKNOWN: TRUE for NULL.", [3]bool{false, false, true}),
		test("IS NOT UNKNOWN", "a IS NOT UNKNOWN: FALSE for NULL.", [3]bool{true, true, false}),
	}
}

func boolType(null bool) types.Type { return types.Of(types.Boolean).Nullable(null) }

func anyNullable(args []Expr) bool {
	for _, a := range args {
		if t := a.Type(); !t.NotNull {
			return true
		}
	}
	return false
}

// bindJunction takes two or more conditions. A bare NULL is a condition.
func bindJunction(b *binding) (types.Type, error) {
	if len(b.args) < 2 {
		return types.Type{}, b.wrongCount(2)
	}
	if err := b.conditions(); err != nil {
		return types.Type{}, err
	}
	return boolType(anyNullable(b.args)), nil
}

func (b *binding) conditions() error {
	for i, a := range b.args {
		switch a.Type().Kind {
		case types.Boolean:
		case types.Null:
			b.cast(i, types.Of(types.Boolean))
		default:
			return b.misfit()
		}
	}
	return nil
}

func bindNot(b *binding) (types.Type, error) {
	if len(b.args) != 1 {
		return types.Type{}, b.wrongCount(1)
	}
	if err := b.conditions(); err != nil {
		return types.Type{}, err
	}
	return boolType(anyNullable(b.args)), nil
}

func bindTest(b *binding) (types.Type, error) {
	_, err := bindNot(b)
	return boolType(false), err
}

func bindIsNull(b *binding) (types.Type, error) {
	if len(b.args) != 1 {
		return types.Type{}, b.wrongCount(1)
	}
	return boolType(false), nil
}

// junction is AND (decides = 0) or OR (decides = 1): an operand with the deciding value settles its row, and later
// operands are evaluated for the rows that are open.
func (c *compiler) junction(call *Call, decides int64) (Eval, error) {
	args, err := c.args(call)
	if err != nil {
		return nil, err
	}
	out := newOutput(call.T)
	open := make([]int32, 0, types.BatchRows)
	return func(b *types.Batch, sel []int32) (*types.Column, error) {
		var fail error
		out.start(b.Len)
		rest := sel
		for k, a := range args {
			col, ok := run(a, b, rest, &fail)
			dst := open[:0]
			if k == 0 {
				dst = joinFirst(out, col, ok, decides, dst)
			} else {
				dst = joinNext(out, col, ok, decides, dst)
			}
			rest = dst
		}
		return out.Column, fail
	}, nil
}

// joinFirst stores the first operand and gives the rows that it leaves open. dst may be the array behind nothing yet.
func joinFirst(out *output, col *types.Column, sel []int32, decides int64, dst []int32) []int32 {
	if col.Valid == nil {
		for _, i := range sel {
			v := col.Int[i]
			out.Int[i] = v
			if v != decides {
				dst = append(dst, i)
			}
		}
		return dst
	}
	for _, i := range sel {
		v := col.Int[i]
		if !col.Valid.Has(i) {
			out.Int[i] = 1 - decides
			out.null(i)
			dst = append(dst, i)
			continue
		}
		out.Int[i] = v
		if v != decides {
			dst = append(dst, i)
		}
	}
	return dst
}

// joinNext combines a later operand with what the rows have: a decision wins, else NULL wins. dst shares its array with
// sel and is written behind what is read.
func joinNext(out *output, col *types.Column, sel []int32, decides int64, dst []int32) []int32 {
	for _, i := range sel {
		switch {
		case col.Null(i):
			out.null(i)
			dst = append(dst, i)
		case col.Int[i] == decides:
			out.Int[i] = decides
			if out.Valid != nil {
				out.Valid.Set(i)
			}
		default:
			dst = append(dst, i)
		}
	}
	return dst
}

func notKernel(c *compiler, call *Call) (Eval, error) {
	arg, err := c.compile(call.Args[0])
	if err != nil {
		return nil, err
	}
	out := newOutput(call.T)
	return func(b *types.Batch, sel []int32) (*types.Column, error) {
		var fail error
		x, sel := run(arg, b, sel, &fail)
		out.start(b.Len)
		if dense(sel, b.Len) {
			v := x.Int[:len(out.Int)]
			for i := range out.Int {
				out.Int[i] = v[i] ^ 1
			}
		} else {
			for _, i := range sel {
				out.Int[i] = x.Int[i] ^ 1
			}
		}
		out.nulls(x)
		return out.Column, fail
	}, nil
}

// nullTest is IS NULL (want = 1) or IS NOT NULL (want = 0).
func (c *compiler) nullTest(call *Call, want int64) (Eval, error) {
	arg, err := c.compile(call.Args[0])
	if err != nil {
		return nil, err
	}
	out := newOutput(call.T)
	return func(b *types.Batch, sel []int32) (*types.Column, error) {
		var fail error
		x, sel := run(arg, b, sel, &fail)
		out.start(b.Len)
		if x.Valid == nil {
			for _, i := range sel {
				out.Int[i] = 1 - want
			}
			return out.Column, fail
		}
		for _, i := range sel {
			valid := int64(x.Valid[i>>6] >> (uint(i) & 63) & 1)
			out.Int[i] = valid ^ want
		}
		return out.Column, fail
	}, nil
}

// truthTest gives result[0], [1] or [2] for FALSE, TRUE or NULL.
func (c *compiler) truthTest(call *Call, result [3]bool) (Eval, error) {
	arg, err := c.compile(call.Args[0])
	if err != nil {
		return nil, err
	}
	r := [3]int64{toInt(result[0]), toInt(result[1]), toInt(result[2])}
	out := newOutput(call.T)
	return func(b *types.Batch, sel []int32) (*types.Column, error) {
		var fail error
		x, sel := run(arg, b, sel, &fail)
		out.start(b.Len)
		for _, i := range sel {
			if x.Null(i) {
				out.Int[i] = r[2]
			} else {
				out.Int[i] = r[x.Int[i]&1]
			}
		}
		return out.Column, fail
	}, nil
}

func toInt(v bool) int64 {
	if v {
		return 1
	}
	return 0
}
