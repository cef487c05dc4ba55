package expr

import (
	"slices"

	"runnel/types"
)

// conditionalFunctions choose between values.
func conditionalFunctions() []Function {
	return []Function{
		{Name: "IF", Doc: "IF(condition, a, b): a where the condition is TRUE, else b; only the chosen one is evaluated.", safe: true,
			forms: "'IF(<ANY_TYPE>, <NUMERIC_TYPE>, <NUMERIC_TYPE>)'", bind: bindIf, rewrite: func(b *binding, t types.Type) (Expr, error) {
				return &Case{Whens: []When{{b.args[0], b.args[1]}}, Else: b.args[2], T: t}, nil
			}},
		{Name: "COALESCE", Doc: "COALESCE(a, ...): the first that is not NULL; later ones are not evaluated.", safe: true,
			bind: bindCoalesce, kernel: coalesceKernel},
		{Name: "IFNULL", Doc: "IFNULL(a, b): a, or b where a is NULL.", safe: true, bind: bindIfNull, kernel: ifNullKernel},
		{Name: "NULLIF", Doc: "NULLIF(a, b): NULL where a equals b, else a.", safe: true, bind: bindNullIf,
			rewrite: func(b *binding, t types.Type) (Expr, error) {
				cond, err := NewCall("=", b.args, b.pos)
				if err != nil {
					return nil, err
				}
				null := &Const{Value: types.NullDatum(), T: t}
				return &Case{Whens: []When{{cond, null}}, Else: implicitCast(b.args[0], t, b.pos), T: t}, nil
			}},
		{Name: "GREATEST", Doc: "GREATEST(a, ...): the greatest value; NULL when one is NULL.", safe: true,
			bind: bindExtreme, kernel: func(c *compiler, call *Call) (Eval, error) { return c.extreme(call, gt) }},
		{Name: "LEAST", Doc: "LEAST(a, ...): the smallest value; NULL when one is NULL.", safe: true,
			bind: bindExtreme, kernel: func(c *compiler, call *Call) (Eval, error) { return c.extreme(call, lt) }},
	}
}

// bindIf gives the common type of the branches, but the first one's for two times or two floating types.
func bindIf(b *binding) (types.Type, error) {
	if len(b.args) != 3 {
		return types.Type{}, b.wrongCount(3)
	}
	cond, t, u := b.args[0].Type(), b.args[1].Type(), b.args[2].Type()
	if t.Kind == types.Null || u.Kind == types.Null || cond.Kind == types.Null {
		return types.Type{}, b.errorf("Illegal use of 'NULL'")
	}
	r, ok := common(t.Plain(), u.Plain())
	switch {
	case cond.Kind != types.Boolean, t.Kind == types.Map || t.Kind == types.Row:
		ok = false
	case t.Phys() == types.PhysFloat && u.Phys() == types.PhysFloat, timeRank(t) > 1 && timeRank(u) > 1:
		r = t.Plain()
	case timeRank(t) != timeRank(u), t.Phys() == types.PhysAny && !t.SameIgnoringNull(u):
		ok = false
	}
	if !ok {
		return types.Type{}, b.misfit()
	}
	b.cast(1, r)
	b.cast(2, r)
	return r.Nullable(anyNullable(b.args)), nil
}

// bindCommon casts all arguments to their common type. Here, unlike in CASE, DECIMAL and FLOAT meet in FLOAT.
func (b *binding) bindCommon() (types.Type, error) {
	t, ok := CommonType(b.types()...)
	if t.Kind == types.Double && !slices.ContainsFunc(b.args, func(a Expr) bool { return a.Type().Kind == types.Double }) {
		t.Kind = types.Float
	}
	if !ok || t.Kind == types.Null {
		return t, b.errorf("Invalid input arguments. Expected signatures are:\n%s(<COMMON>...)", b.fn.Name)
	}
	for _, a := range b.args {
		if a.Type().Kind == types.Date && t.Kind == types.Timestamp { // a TIMESTAMP is a DATE implicitly, not the other way
			t = types.Of(types.Date).Nullable(!t.NotNull)
		}
	}
	for i := range b.args {
		b.cast(i, t)
	}
	return t, nil
}

func bindCoalesce(b *binding) (types.Type, error) {
	if len(b.args) == 0 {
		return types.Type{}, b.wrongCount(1)
	}
	null := true
	for _, a := range b.args {
		null = null && !a.Type().NotNull
	}
	t, err := b.bindCommon()
	return t.Nullable(null), err
}

// incomparable gives the first two types that have no order between them.
func (b *binding) incomparable() (x, y types.Type, ok bool) {
	for _, a := range b.args[1:] {
		x, y = b.args[0].Type(), a.Type()
		if _, same := CommonType(x.Plain(), y.Plain()); !same {
			return x, y, true
		}
	}
	return x, y, false
}

func bindIfNull(b *binding) (types.Type, error) {
	if len(b.args) != 2 {
		return types.Type{}, b.wrongCount(2)
	}
	a, r := b.args[0].Type(), b.args[1].Type()
	null := !r.NotNull
	if r.Kind == types.Null {
		null = !a.NotNull
	}
	first := b.args[0]
	t, err := b.bindCommon()
	if err == nil && a.NotNull && differInLength(a, t) { // then it stays as it is
		b.args[0] = first
		return a.Plain(), nil
	}
	return t.Nullable(null), err
}

// differInLength reports whether two types are equal but for the lengths of texts and bytes in them.
func differInLength(t, u types.Type) bool {
	switch {
	case t.IsString() && u.IsString(), t.IsBinary() && u.IsBinary():
		return true
	case t.Kind == types.Array && u.Kind == types.Array:
		return differInLength(*t.Elem, *u.Elem)
	}
	return false
}

func bindNullIf(b *binding) (types.Type, error) {
	if len(b.args) != 2 {
		return types.Type{}, b.wrongCount(2)
	}
	if b.args[0].Type().Kind == types.Null {
		return types.Type{}, b.errorf("ELSE clause or at least one THEN clause must be non-NULL")
	}
	return b.args[0].Type().Plain().Optional(), nil
}

func bindExtreme(b *binding) (types.Type, error) {
	if len(b.args) == 0 {
		return types.Type{}, b.wrongCount(1)
	}
	null := anyNullable(b.args)
	for i, a := range b.args {
		if a.Type().Kind != types.Null {
			continue
		}
		t, _ := CommonType(b.types()...)
		if t.Kind == types.Null {
			return t, b.invalidArguments()
		}
		if t = b.args[(i+1)%len(b.args)].Type(); t.Phys() == types.PhysAny {
			return t, b.errorf("Comparable type expected, but was '%s'.", t)
		}
		return t, b.errorf("Unsupported casting from NULL to %s.", t.Name())
	}
	if x, y, ok := b.incomparable(); ok {
		return types.Type{}, b.errorf("All types in a comparison should support both 'EQUALS' and 'ORDER' comparison with each other. Can not compare %s with %s", x, y)
	}
	for _, a := range b.args {
		if (a.Type().Kind == types.Date) != (b.args[0].Type().Kind == types.Date) { // no DATE is comparable with other types
			return types.Type{}, b.invalidArguments()
		}
	}
	t, err := b.bindCommon()
	return t.Nullable(null), err
}

// caseOf evaluates each condition for the rows that no earlier one took, and each branch for its own rows.
func (c *compiler) caseOf(e *Case) (Eval, error) {
	n := len(e.Whens)
	conds, thens := make([]Filter, n), make([]Eval, n+1)
	var err error
	for k, w := range e.Whens {
		if conds[k], err = c.filter(w.Cond); err != nil {
			return nil, err
		}
		if thens[k], err = c.compile(w.Then); err != nil {
			return nil, err
		}
	}
	if thens[n], err = c.compile(e.Else); err != nil {
		return nil, err
	}
	out := newOutput(e.T)
	rest := make([]int32, 0, types.BatchRows)
	hits := make([]int32, 0, types.BatchRows)
	var taken types.Bitmap
	return func(b *types.Batch, sel []int32) (*types.Column, error) {
		var fail error
		out.start(b.Len)
		rest = append(rest[:0], sel...)
		for k, cond := range conds {
			if len(rest) == 0 {
				return out.Column, fail
			}
			var err error
			if hits, err = cond(b, rest, hits[:0]); err != nil {
				fail = err
				rest = before(rest, err)
			}
			if len(hits) == 0 {
				continue
			}
			rest = without(rest, hits, &taken, b.Len)
			col, ok := run(thens[k], b, hits, &fail)
			move(out, col, ok)
			if len(ok) < len(hits) {
				rest = before(rest, fail)
			}
		}
		if len(rest) > 0 {
			col, ok := run(thens[n], b, rest, &fail)
			move(out, col, ok)
		}
		return out.Column, fail
	}, nil
}

// without drops the rows of hits, a subset, from rest.
func without(rest, hits []int32, taken *types.Bitmap, n int) []int32 {
	for words := (n + 63) >> 6; len(*taken) < words; {
		*taken = append(*taken, 0)
	}
	t := *taken
	clear(t)
	for _, i := range hits {
		t.Set(i)
	}
	k := 0
	for _, i := range rest {
		rest[k] = i
		k += int(^t[i>>6] >> (uint(i) & 63) & 1)
	}
	return rest[:k]
}

// coalesceKernel evaluates each argument for the rows where all earlier ones are NULL.
func coalesceKernel(c *compiler, call *Call) (Eval, error) {
	args, err := c.args(call)
	if err != nil {
		return nil, err
	}
	out := newOutput(call.T)
	rest := make([]int32, 0, types.BatchRows)
	return func(b *types.Batch, sel []int32) (*types.Column, error) {
		var fail error
		x, ok := run(args[0], b, sel, &fail)
		if x.Valid == nil || len(args) == 1 {
			return x, fail
		}
		out.start(b.Len)
		open := rest[:0]
		for k := range args {
			if k > 0 {
				x, ok = run(args[k], b, open, &fail)
			}
			move(out, x, ok)
			open = open[:0]
			for _, i := range ok {
				if x.Null(i) {
					open = append(open, i)
				} else if out.Valid != nil {
					out.Valid.Set(i)
				}
			}
		}
		return out.Column, fail
	}, nil
}

// ifNullKernel evaluates both arguments for every row, as Flink does.
func ifNullKernel(c *compiler, call *Call) (Eval, error) {
	args, err := c.args(call)
	if err != nil {
		return nil, err
	}
	out := newOutput(call.T)
	var open, kept []int32
	return func(b *types.Batch, sel []int32) (*types.Column, error) {
		var fail error
		x, sel := run(args[0], b, sel, &fail)
		y, sel := run(args[1], b, sel, &fail)
		out.start(b.Len)
		open, kept = open[:0], kept[:0]
		for _, i := range sel {
			if x.Null(i) {
				open = append(open, i)
			} else {
				kept = append(kept, i)
			}
		}
		move(out, x, kept)
		move(out, y, open)
		return out.Column, fail
	}, nil
}

// extreme keeps the operand that is greater (gt) or smaller (lt) than the ones before; NaN is the greatest.
func (c *compiler) extreme(call *Call, op comparison) (Eval, error) {
	args, err := c.args(call)
	if err != nil {
		return nil, err
	}
	t := call.T
	sign := 1
	if op == lt {
		sign = -1
	}
	switch t.Phys() {
	case types.PhysInt:
		return extremeLoop(t, args, func(c *types.Column) []int64 { return c.Int }, func(v, best int64) bool { return (v > best) == (sign > 0) }), nil
	case types.PhysFloat:
		return extremeLoop(t, args, func(c *types.Column) []float64 { return c.Flt },
			func(v, best float64) bool { return compareFloat(v, best)*sign > 0 }), nil
	}
	return datums(t, args, func(row []types.Datum) (types.Datum, error) {
		if slices.ContainsFunc(row, func(d types.Datum) bool { return d.Null }) {
			return types.NullDatum(), nil
		}
		best := row[0]
		for _, d := range row[1:] {
			if compareDatum(t, d, best)*sign > 0 {
				best = d
			}
		}
		return best, nil
	}), nil
}

// extremeLoop keeps, column by column, what beats the best so far.
func extremeLoop[T any](t types.Type, args []Eval, slice func(*types.Column) []T, beats func(v, best T) bool) Eval {
	out := newOutput(t)
	cols := make([]*types.Column, len(args))
	return func(b *types.Batch, sel []int32) (*types.Column, error) {
		var fail error
		for k, a := range args {
			cols[k], sel = run(a, b, sel, &fail)
		}
		out.start(b.Len)
		best := slice(out.Column)
		for k, c := range cols {
			vs := slice(c)
			for _, i := range sel {
				if v := vs[i]; k == 0 || beats(v, best[i]) {
					best[i] = v
				}
			}
		}
		out.nulls(cols...)
		return out.Column, fail
	}
}

// field reads a field of a row; NULL rows give NULL.
func (c *compiler) field(e *Field) (Eval, error) {
	arg, err := c.compile(e.Arg)
	if err != nil {
		return nil, err
	}
	index := e.Index
	return datums(e.T, []Eval{arg}, func(row []types.Datum) (types.Datum, error) {
		if row[0].Null {
			return row[0], nil
		}
		return row[0].A.(*types.Tuple).Fields[index], nil
	}), nil
}
