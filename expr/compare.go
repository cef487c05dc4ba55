package expr

import (
	"cmp"

	"runnel/types"
)

// comparison is one of the six operators.
type comparison uint8

const (
	eq comparison = iota
	ne
	lt
	le
	gt
	ge
)

var comparisons = map[string]comparison{"=": eq, "<>": ne, "<": lt, "<=": le, ">": gt, ">=": ge}

// flip gives the operator for exchanged operands.
func (o comparison) flip() comparison { return [...]comparison{eq, ne, gt, ge, lt, le}[o] }

// holds says whether the operator holds for the outcome of a three-way comparison.
func (o comparison) holds(c int) bool {
	switch o {
	case eq:
		return c == 0
	case ne:
		return c != 0
	case lt:
		return c < 0
	case le:
		return c <= 0
	case gt:
		return c > 0
	default:
		return c >= 0
	}
}

func comparisonFunctions() []Function {
	var fs []Function
	for _, n := range []string{"=", "<>", "<", "<=", ">", ">="} {
		fs = append(fs, Function{Name: n, Doc: "a " + n + " b: NULL when a or b is.", Operator: true, safe: true, form: asInfix,
			forms: "'<COMPARABLE_TYPE> " + n + " <COMPARABLE_TYPE>'", bind: bindCompare, kernel: compareKernel, rewrite: rewriteCompare})
	}
	for _, n := range []string{"IS DISTINCT FROM", "IS NOT DISTINCT FROM"} {
		fs = append(fs, Function{Name: n, Doc: "a " + n + " b: compares as if NULL were a value.", Operator: true, safe: true,
			form: asInfix, forms: "'<COMPARABLE_TYPE> " + n + " <COMPARABLE_TYPE>'", bind: bindDistinct, kernel: distinctKernel,
			rewrite: rewriteCompare})
	}
	return fs
}

// bindCompare brings both sides to one type.
func bindCompare(b *binding) (types.Type, error) {
	if len(b.args) != 2 {
		return types.Type{}, b.wrongCount(2)
	}
	null := anyNullable(b.args)
	if err := b.comparable(0, 1); err != nil {
		return types.Type{}, err
	}
	return boolType(null), nil
}

func bindDistinct(b *binding) (types.Type, error) {
	_, err := bindCompare(b)
	return boolType(false), err
}

// comparable casts arguments i and j so that they can be compared (types.md 5).
func (b *binding) comparable(i, j int) error {
	t, u := b.args[i].Type(), b.args[j].Type()
	both := func(c types.Type) error { b.cast(i, c); b.cast(j, c); return nil }
	switch {
	case t.Kind == types.Null && u.Kind != types.Row:
		b.cast(i, u)
		return nil
	case u.Kind == types.Null:
		b.cast(j, t)
		return nil
	case t.IsNumeric() && u.IsNumeric():
		return both(commonNumeric(t, u))
	case t.IsString() && u.IsString(), t.IsBinary() && u.IsBinary(), t.Kind == types.Boolean && u.Kind == types.Boolean:
		return nil
	case t.IsNumeric() && u.IsString() || t.IsString() && u.IsNumeric():
		return b.numberWithText(i, j)
	case t.IsTemporal() && u.IsString():
		b.args[j] = b.timeOfText(b.args[j], t)
		return nil
	case t.IsString() && u.IsTemporal():
		b.args[i] = b.timeOfText(b.args[i], u)
		return nil
	case t.IsString() && u.Kind == types.Boolean && !b.equality():
		b.cast(i, u)
		return nil
	case t.Kind == types.Boolean && u.IsString() && !b.equality():
		b.cast(j, t)
		return nil
	case neverEqual(t, u) && b.equality():
		return nil
	case t.IsString() && u.IsInterval():
		return b.errorf("%s", castProblem(t, u))
	case t.IsInterval() && u.IsString():
		return b.errorf("%s", castProblem(u, t))
	case t.Kind == u.Kind, timeRank(t) > 1 && timeRank(u) > 1:
		if t.Phys() == types.PhysAny && !b.equality() {
			return b.errorf("Comparable type expected, but was '%s'.", t)
		}
		if c, ok := common(t.Plain(), u.Plain()); ok {
			return both(c)
		}
	}
	return b.misfit()
}

// timeOfText casts a text to the time that it is compared with. A literal must be one; of a column that holds something
// else, the order is an error and equality unknown.
func (b *binding) timeOfText(e Expr, t types.Type) Expr {
	_, literal := e.(*Const)
	strict := literal || !b.equality()
	return &Cast{Arg: e, T: t.Plain().Nullable(!strict || !e.Type().NotNull), Try: !strict, Implicit: true, Pos: b.pos}
}

// neverEqual reports whether t and u are text and BOOLEAN or an interval, which may be compared and are never equal.
func neverEqual(t, u types.Type) bool {
	other := func(v types.Type) bool { return v.Kind == types.Boolean || v.IsInterval() }
	return t.IsString() && other(u) || u.IsString() && other(t)
}

// equality reports whether the operator asks for equality alone.
func (b *binding) equality() bool {
	switch b.fn.Name {
	case "<", "<=", ">", ">=":
		return false
	}
	return true
}

// rewriteCompare replaces comparisons that need no kernel of their own: of values that are never equal, and of texts
// with times, neither of which is NULL, where a text that is no time is unequal to all.
func rewriteCompare(b *binding, t types.Type) (Expr, error) {
	call := &Call{Func: b.fn, Args: b.args, T: t, Pos: b.pos}
	l, r := b.args[0].Type(), b.args[1].Type()
	if x, y := rowItems(b.args[0]), rowItems(b.args[1]); len(x) > 0 && len(x) == len(y) && (b.fn.Name == "=" || b.fn.Name == "<>") {
		return compareRows(b, x, y)
	}
	if neverEqual(l, r) && b.equality() {
		return differ(b, t)
	}
	if t.NotNull && (!l.NotNull || !r.NotNull) && (b.fn.Name == "=" || b.fn.Name == "<>") {
		return NewCall("IS TRUE", []Expr{call}, b.pos)
	}
	return call, nil
}

// rowItems gives the items of a row constructor, nil for anything else.
func rowItems(e Expr) []Expr {
	if c, ok := e.(*Cast); ok && c.Implicit {
		e = c.Arg
	}
	if c, ok := e.(*Call); ok && c.Func.Name == "ROW" {
		return c.Args
	}
	return nil
}

// compareRows compares (a, b) with (c, d) item by item, so that NULL items make the outcome unknown.
func compareRows(b *binding, x, y []Expr) (Expr, error) {
	parts := make([]Expr, len(x))
	for i := range x {
		var err error
		if parts[i], err = NewCall(b.fn.Name, []Expr{x[i], y[i]}, b.pos); err != nil {
			return nil, err
		}
	}
	if b.fn.Name == "=" {
		return NewAnd(parts...), nil
	}
	return NewOr(parts...), nil
}

// differ is the outcome of comparing two values that are never equal.
func differ(b *binding, t types.Type) (Expr, error) {
	var nulls [2]Expr
	for i, a := range b.args {
		var err error
		if nulls[i], err = NewCall("IS NULL", []Expr{a}, b.pos); err != nil {
			return nil, err
		}
	}
	outcome := NewBool(b.fn.Name == "<>" || b.fn.Name == "IS DISTINCT FROM")
	switch b.fn.Name {
	case "=", "<>":
		null := &Const{Value: types.NullDatum(), T: boolType(true)}
		return retype(&Case{Whens: []When{{NewOr(nulls[0], nulls[1]), null}}, Else: outcome, T: t}, t), nil
	}
	both := NewBool(b.fn.Name == "IS NOT DISTINCT FROM")
	return &Case{Whens: []When{{NewAnd(nulls[0], nulls[1]), both}}, Else: outcome, T: t}, nil
}

// numberWithText refuses = and <>, as Flink does; the others cast the text to the number's type.
func (b *binding) numberWithText(i, j int) error {
	t, u := b.args[i].Type(), b.args[j].Type()
	switch b.fn.Name {
	case "<", "<=", ">", ">=", "IN", "NOT IN":
		if t.IsString() {
			b.cast(i, u)
		} else {
			b.cast(j, t)
		}
		return nil
	}
	return b.errorf("implicit type conversion between %s and %s is not supported now", rootWord(t), rootWord(u))
}

// rootWord names the root of a type.
func rootWord(t types.Type) string {
	switch t.Kind {
	case types.Int:
		return "INTEGER"
	case types.Char:
		return "CHAR"
	case types.Varchar:
		return "VARCHAR"
	case types.Decimal:
		return "DECIMAL"
	}
	return t.Name()
}

// compareKernel compiles one of the six operators.
func compareKernel(c *compiler, call *Call) (Eval, error) {
	op := comparisons[call.Func.Name]
	l, r := call.Args[0], call.Args[1]
	if _, ok := constOf(l); ok {
		if _, ok := constOf(r); !ok {
			l, r, op = r, l, op.flip()
		}
	}
	x, err := c.compile(l)
	if err != nil {
		return nil, err
	}
	y, err := c.compile(r)
	if err != nil {
		return nil, err
	}
	k, isConst := constOf(r)
	if isConst && k.Null {
		isConst = false
	}
	cmpInto := comparer(l.Type(), op, k, isConst)
	if l.Type().Phys() == types.PhysFloat && Deterministic(l) && Equal(l, r) {
		same := toInt(op.holds(0)) // a value equals itself, even NaN
		cmpInto = func(out, _, _ *types.Column, sel []int32) {
			each(sel, out.Len(), func(i int32) { out.Int[i] = same })
		}
	}
	out := newOutput(call.T)
	return func(b *types.Batch, sel []int32) (*types.Column, error) {
		var fail error
		xc, sel := run(x, b, sel, &fail)
		yc, sel := run(y, b, sel, &fail)
		out.start(b.Len)
		some := sel
		if dense(sel, b.Len) {
			some = nil
		}
		out.nulls(xc, yc)
		cmpInto(out.Column, xc, yc, some)
		return out.Column, fail
	}, nil
}

// comparer gives the loop that writes the outcome of x op y. sel is nil for all rows. NULL rows get any value.
func comparer(t types.Type, op comparison, k types.Datum, isConst bool) func(out, x, y *types.Column, sel []int32) {
	switch t.Phys() {
	case types.PhysInt:
		if isConst {
			return func(out, x, _ *types.Column, sel []int32) { compareConst(op, out.Int, x.Int, k.I, sel) }
		}
		return func(out, x, y *types.Column, sel []int32) { compareAll(op, out.Int, x.Int, y.Int, sel) }
	case types.PhysFloat:
		if isConst {
			f := k.Float()
			return func(out, x, _ *types.Column, sel []int32) { compareConst(op, out.Int, x.Flt, f, sel) }
		}
		return func(out, x, y *types.Column, sel []int32) { compareAll(op, out.Int, x.Flt, y.Flt, sel) }
	case types.PhysStr:
		if isConst {
			return func(out, x, _ *types.Column, sel []int32) { compareConst(op, out.Int, x.Str, k.S, sel) }
		}
		return func(out, x, y *types.Column, sel []int32) { compareAll(op, out.Int, x.Str, y.Str, sel) }
	case types.PhysWide:
		return func(out, x, y *types.Column, sel []int32) {
			each(sel, out.Len(), func(i int32) { out.Int[i] = toInt(op.holds(x.Wide[i].Cmp(y.Wide[i]))) })
		}
	default:
		return func(out, x, y *types.Column, sel []int32) {
			each(sel, out.Len(), func(i int32) {
				if !out.Null(i) {
					out.Int[i] = toInt(op.holds(compareDatum(t, x.At(i), y.At(i))))
				}
			})
		}
	}
}

// each calls f for the rows of sel, or for all n rows when sel is nil.
func each(sel []int32, n int, f func(int32)) {
	if sel == nil {
		for i := range int32(n) {
			f(i)
		}
		return
	}
	for _, i := range sel {
		f(i)
	}
}

// compareAll writes x op y, row by row.
func compareAll[T cmp.Ordered](op comparison, d []int64, x, y []T, sel []int32) {
	switch op {
	case gt, ge:
		x, y, op = y, x, op.flip()
	}
	if sel == nil {
		x, y = x[:len(d)], y[:len(d)]
		switch op {
		case eq:
			for i := range d {
				d[i] = toInt(x[i] == y[i])
			}
		case ne:
			for i := range d {
				d[i] = toInt(x[i] != y[i])
			}
		case lt:
			for i := range d {
				d[i] = toInt(x[i] < y[i])
			}
		default:
			for i := range d {
				d[i] = toInt(x[i] <= y[i])
			}
		}
		return
	}
	switch op {
	case eq:
		for _, i := range sel {
			d[i] = toInt(x[i] == y[i])
		}
	case ne:
		for _, i := range sel {
			d[i] = toInt(x[i] != y[i])
		}
	case lt:
		for _, i := range sel {
			d[i] = toInt(x[i] < y[i])
		}
	default:
		for _, i := range sel {
			d[i] = toInt(x[i] <= y[i])
		}
	}
}

// compareConst writes x op k, row by row.
func compareConst[T cmp.Ordered](op comparison, d []int64, x []T, k T, sel []int32) {
	if sel != nil {
		compareConstSel(op, d, x, k, sel)
		return
	}
	x = x[:len(d)]
	switch op {
	case eq:
		for i := range d {
			d[i] = toInt(x[i] == k)
		}
	case ne:
		for i := range d {
			d[i] = toInt(x[i] != k)
		}
	case lt:
		for i := range d {
			d[i] = toInt(x[i] < k)
		}
	case le:
		for i := range d {
			d[i] = toInt(x[i] <= k)
		}
	case gt:
		for i := range d {
			d[i] = toInt(x[i] > k)
		}
	default:
		for i := range d {
			d[i] = toInt(x[i] >= k)
		}
	}
}

func compareConstSel[T cmp.Ordered](op comparison, d []int64, x []T, k T, sel []int32) {
	switch op {
	case eq:
		for _, i := range sel {
			d[i] = toInt(x[i] == k)
		}
	case ne:
		for _, i := range sel {
			d[i] = toInt(x[i] != k)
		}
	case lt:
		for _, i := range sel {
			d[i] = toInt(x[i] < k)
		}
	case le:
		for _, i := range sel {
			d[i] = toInt(x[i] <= k)
		}
	case gt:
		for _, i := range sel {
			d[i] = toInt(x[i] > k)
		}
	default:
		for _, i := range sel {
			d[i] = toInt(x[i] >= k)
		}
	}
}

// filterCompare selects by a comparison with a constant or of two columns; nil when it is another kind.
func (c *compiler) filterCompare(call *Call) (Filter, error) {
	op := comparisons[call.Func.Name]
	l, r := call.Args[0], call.Args[1]
	if _, ok := constOf(l); ok {
		l, r, op = r, l, op.flip()
	}
	k, ok := constOf(r)
	if !ok {
		return c.filterPair(op, l, r)
	}
	if k.Null {
		return nil, nil
	}
	var pick func(x *types.Column, sel, dst []int32) int
	switch l.Type().Phys() {
	case types.PhysInt:
		pick = func(x *types.Column, sel, dst []int32) int { return selectConst(op, x.Int, k.I, sel, dst) }
	case types.PhysFloat:
		f := k.Float()
		pick = func(x *types.Column, sel, dst []int32) int { return selectConst(op, x.Flt, f, sel, dst) }
	case types.PhysStr:
		pick = func(x *types.Column, sel, dst []int32) int { return selectConst(op, x.Str, k.S, sel, dst) }
	default:
		return nil, nil
	}
	arg, err := c.compile(l)
	if err != nil {
		return nil, err
	}
	return func(b *types.Batch, sel, dst []int32) ([]int32, error) {
		var fail error
		x, sel := run(arg, b, sel, &fail)
		from := len(dst)
		dst = room(dst, len(sel))
		n := pick(x, sel, dst[from:])
		return valid(x, dst[:from+n], from), fail
	}, nil
}

// filterPair selects by a comparison of two columns; nil when they are not held as integers.
func (c *compiler) filterPair(op comparison, l, r Expr) (Filter, error) {
	if l.Type().Phys() != types.PhysInt {
		return nil, nil
	}
	left, err := c.compile(l)
	if err != nil {
		return nil, err
	}
	right, err := c.compile(r)
	if err != nil {
		return nil, err
	}
	return func(b *types.Batch, sel, dst []int32) ([]int32, error) {
		var fail error
		x, sel := run(left, b, sel, &fail)
		y, sel := run(right, b, sel, &fail)
		from := len(dst)
		dst = room(dst, len(sel))
		n := selectPairs(op, x.Int, y.Int, sel, dst[from:])
		return valid(y, valid(x, dst[:from+n], from), from), fail
	}, nil
}

// selectPairs writes the rows of sel with x op y to dst and gives their number.
func selectPairs(op comparison, x, y []int64, sel, dst []int32) int {
	if op == gt || op == ge {
		x, y, op = y, x, op.flip()
	}
	n := 0
	dst = dst[:len(sel)]
	switch op {
	case eq:
		for _, i := range sel {
			dst[n] = i
			n += int(toInt(x[i] == y[i]))
		}
	case ne:
		for _, i := range sel {
			dst[n] = i
			n += int(toInt(x[i] != y[i]))
		}
	case lt:
		for _, i := range sel {
			dst[n] = i
			n += int(toInt(x[i] < y[i]))
		}
	default:
		for _, i := range sel {
			dst[n] = i
			n += int(toInt(x[i] <= y[i]))
		}
	}
	return n
}

// selectConst writes the rows of sel with x op k to dst and gives their number. It has no branch that depends on data.
func selectConst[T cmp.Ordered](op comparison, x []T, k T, sel, dst []int32) int {
	n := 0
	dst = dst[:len(sel)]
	switch op {
	case eq:
		for _, i := range sel {
			dst[n] = i
			n += int(toInt(x[i] == k))
		}
	case ne:
		for _, i := range sel {
			dst[n] = i
			n += int(toInt(x[i] != k))
		}
	case lt:
		for _, i := range sel {
			dst[n] = i
			n += int(toInt(x[i] < k))
		}
	case le:
		for _, i := range sel {
			dst[n] = i
			n += int(toInt(x[i] <= k))
		}
	case gt:
		for _, i := range sel {
			dst[n] = i
			n += int(toInt(x[i] > k))
		}
	default:
		for _, i := range sel {
			dst[n] = i
			n += int(toInt(x[i] >= k))
		}
	}
	return n
}

// distinctKernel is IS [NOT] DISTINCT FROM.
func distinctKernel(c *compiler, call *Call) (Eval, error) {
	args, err := c.args(call)
	if err != nil {
		return nil, err
	}
	op, nulls := ne, int64(1) // of one NULL
	if call.Func.Name == "IS NOT DISTINCT FROM" {
		op, nulls = eq, 0
	}
	cmpInto := comparer(call.Args[0].Type(), op, types.Datum{}, false)
	if call.Args[0].Type().Phys() == types.PhysFloat {
		cmpInto = func(out, x, y *types.Column, sel []int32) { // one NaN is as good as another
			each(sel, out.Len(), func(i int32) {
				a, b := x.Flt[i], y.Flt[i]
				out.Int[i] = toInt((a == b || a != a && b != b) == (op == eq))
			})
		}
	}
	out := newOutput(call.T)
	return func(b *types.Batch, sel []int32) (*types.Column, error) {
		var fail error
		x, sel := run(args[0], b, sel, &fail)
		y, sel := run(args[1], b, sel, &fail)
		out.start(b.Len)
		some := sel
		if dense(sel, b.Len) {
			some = nil
		}
		out.nulls(x, y)
		cmpInto(out.Column, x, y, some)
		if out.Valid != nil {
			for _, i := range sel {
				if n := x.Null(i); n && y.Null(i) {
					out.Int[i] = 1 - nulls
				} else if n || y.Null(i) {
					out.Int[i] = nulls
				}
			}
			out.Valid = nil
		}
		return out.Column, fail
	}, nil
}
