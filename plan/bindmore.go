package plan

import (
	"runnel/expr"
	"runnel/sql"
	"runnel/types"
)

// castUnits binds a cast between a whole number and an interval: the number counts the one unit that the interval names.
// Only a literal still knows its unit, any other interval is a span of several.
func (b *binder) castUnits(e *sql.Cast, x expr.Expr, to types.Type) (expr.Expr, error) {
	qualifier, literal := e.Type.Interval, e.X
	if u, ok := literal.(*sql.Unary); ok {
		literal = u.X
	}
	if l, ok := literal.(*sql.IntervalLit); ok {
		qualifier = &l.Qualifier
	}
	refused := func(from, to string) error {
		return refuse(nameError, e, "Cast function cannot convert value of type %s to type %s", from, to).
			Cure("Numbers and intervals convert where the interval has a single unit: INTERVAL MONTH, INTERVAL SECOND.")
	}
	if to.IsInterval() {
		if qualifier.Last != "" {
			return nil, refused(castWord(x.Type()), "INTERVAL "+qualifierText(*qualifier))
		}
		unit := intervalConst(*qualifier, unitMonths[qualifier.First], unitMillis[qualifier.First])
		r, err := newCall(e, "*", x, unit)
		if err == nil && e.Try {
			return expr.NewCast(r, to, true, pos(e))
		}
		return r, err
	}
	k, ok := x.(*expr.Const)
	if qualifier == nil || qualifier.Last != "" || !ok {
		word := map[types.Kind]string{types.IntervalMonths: "INTERVAL YEAR TO MONTH", types.IntervalMillis: "INTERVAL DAY TO SECOND(3)"}
		return nil, refused(word[x.Type().Kind], castWord(to))
	}
	unit := max(unitMonths[qualifier.First], unitMillis[qualifier.First])
	count := expr.NewConst(types.IntDatum(k.Value.I/unit), types.Of(types.BigInt).Nullable(!x.Type().NotNull))
	return expr.NewCast(count, to, e.Try, pos(e))
}

// castWord writes a type of whole numbers as messages about casts do.
func castWord(t types.Type) string {
	if t.Kind == types.Int {
		return "INTEGER"
	}
	return t.Name()
}

// timeDiff binds (l - r) unit.
func (b *binder) timeDiff(e *sql.TimeDiff) (expr.Expr, error) {
	xs, err := b.exprs([]sql.Expr{e.L, e.R})
	if err != nil {
		return nil, err
	}
	unit := e.Qualifier.Last // of DAY TO SECOND the finer one: months stay months, the rest is exact anyway
	if unit == "" {
		unit = e.Qualifier.First
	}
	return newCall(e, "MINUS_DATE", xs[0], xs[1], expr.NewSymbol(string(unit)))
}

// quantified binds x op SOME (list) and x op ALL (list): one comparison for each value. Over a query it is a join: the
// query binder takes it before it comes here.
func (b *binder) quantified(e *sql.Quantified) (expr.Expr, error) {
	if e.Query != nil {
		return nil, unsupported(e, nodeWord(e))
	}
	xs, err := b.exprs(append([]sql.Expr{e.X}, e.List...))
	if err != nil {
		return nil, err
	}
	var parts []expr.Expr
	for _, v := range xs[1:] {
		part, err := newCall(e, binaryNames[e.Op], xs[0], v)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	if e.All {
		return expr.NewAnd(parts...), nil
	}
	return expr.NewOr(parts...), nil
}
