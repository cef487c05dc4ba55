package expr

import (
	"strings"

	"runnel/types"
)

// CommonType gives the type that holds the values of all ts, arguments of a function: the table of types.md 6. It is
// nullable when one of them is, or when one is the type of a bare NULL. False when there is none.
func CommonType(ts ...types.Type) (types.Type, bool) { return joinTypes(common, ts) }

// LeastRestrictive is CommonType for CASE, UNION, VALUES, ARRAY[..] and MAP[..], which join the time types otherwise.
func LeastRestrictive(ts ...types.Type) (types.Type, bool) { return joinTypes(leastRestrictive, ts) }

func joinTypes(join func(t, u types.Type) (types.Type, bool), ts []types.Type) (types.Type, bool) {
	if len(ts) == 0 {
		return types.Type{}, false
	}
	t := ts[0].Plain()
	for _, u := range ts[1:] {
		var ok bool
		if t, ok = join(t, u.Plain()); !ok {
			return types.Type{}, false
		}
	}
	return t, true
}

// leastRestrictive knows no type for DATE with others; of TIMESTAMP and TIMESTAMP_LTZ the first one stays where the
// precisions are equal, else the second one wins.
func leastRestrictive(t, u types.Type) (types.Type, bool) {
	a, b := timeRank(t), timeRank(u)
	if a == 0 || b == 0 || a == b {
		return common(t, u)
	}
	r := t
	if t.Precision != u.Precision {
		r = u
		r.Precision = max(t.Precision, u.Precision)
	}
	return r.Nullable(!t.NotNull || !u.NotNull), a > 1 && b > 1
}

func common(t, u types.Type) (types.Type, bool) {
	null := !t.NotNull || !u.NotNull
	give := func(r types.Type) (types.Type, bool) { return r.Nullable(null), true }
	switch {
	case t.Kind == types.Null:
		return u.Optional(), true
	case u.Kind == types.Null:
		return t.Optional(), true
	case t.SameIgnoringNull(u):
		return give(t)
	case t.IsNumeric() && u.IsNumeric():
		return give(commonNumeric(t, u))
	case t.IsString() && u.IsString():
		return give(types.VarcharOf(max(t.Precision, u.Precision)))
	case t.IsBinary() && u.IsBinary():
		return give(types.Type{Kind: types.Varbinary, Precision: max(t.Precision, u.Precision)})
	case t.Kind == u.Kind:
		r, ok := commonSameKind(t, u)
		return r.Nullable(null), ok
	}
	// The time types: TIMESTAMP with LTZ is LTZ, DATE with TIMESTAMP the timestamp. A DATE is no instant.
	if a, b := timeRank(t), timeRank(u); a > 0 && b > 0 && a+b != 4 {
		r := t
		if b > a {
			r = u
		}
		if a > 1 && b > 1 {
			r.Precision = max(t.Precision, u.Precision)
		}
		return give(r)
	}
	return types.Type{}, false
}

func timeRank(t types.Type) int {
	switch t.Kind {
	case types.Date:
		return 1
	case types.Timestamp:
		return 2
	case types.TimestampLTZ:
		return 3
	}
	return 0
}

func commonNumeric(t, u types.Type) types.Type {
	float := func(v types.Type) bool { return v.Kind == types.Float || v.Kind == types.Double }
	switch {
	case t.IsInteger() && u.IsInteger():
		if u.Kind > t.Kind {
			return u
		}
		return t
	case float(t) || float(u):
		if t.Kind == types.Double || u.Kind == types.Double || t.Kind == types.Decimal || u.Kind == types.Decimal {
			return types.Of(types.Double)
		}
		return types.Of(types.Float)
	}
	return types.CommonDecimal(t, u)
}

// commonSameKind joins two types that differ in their parameters only.
func commonSameKind(t, u types.Type) (types.Type, bool) {
	r := t
	switch t.Kind {
	case types.Time, types.Timestamp, types.TimestampLTZ:
		r.Precision = max(t.Precision, u.Precision)
		return r, true
	case types.IntervalMonths, types.IntervalMillis:
		return r, true
	case types.Array, types.Multiset:
		e, ok := common(*t.Elem, *u.Elem)
		r.Elem = &e
		return r, ok
	case types.Map:
		k, ok := common(*t.Key, *u.Key)
		v, ok2 := common(*t.Elem, *u.Elem)
		r.Key, r.Elem = &k, &v
		return r, ok && ok2
	case types.Row:
		if len(t.Fields) != len(u.Fields) {
			return r, false
		}
		r.Fields = make([]types.Field, len(t.Fields))
		for i, f := range t.Fields {
			c, ok := common(f.Type, u.Fields[i].Type)
			if !ok {
				return r, false
			}
			r.Fields[i] = types.Field{Name: f.Name, Type: c, Comment: f.Comment}
		}
		return r, true
	}
	return r, false
}

// ImplicitCast reports whether a value of type from may go where a value of type to is wanted without an explicit CAST:
// columns of an INSERT, arguments of functions (types.md 7). Nullability at the top does not count.
func ImplicitCast(from, to types.Type) bool {
	switch to.Kind {
	case types.Varchar:
		return from.IsString() || from.Kind == types.Null
	case types.Varbinary:
		return from.IsBinary() || from.Kind == types.Null
	case types.TinyInt, types.SmallInt, types.Int, types.BigInt:
		return from.IsInteger() && from.Kind <= to.Kind || from.Kind == types.Null
	case types.Float:
		return from.IsNumeric() && from.Kind != types.Double || from.Kind == types.Null
	case types.Double, types.Decimal:
		return from.IsNumeric() || from.Kind == types.Null
	}
	switch {
	case from.Kind == types.Null:
		return true
	case from.Kind == types.Timestamp || from.Kind == types.TimestampLTZ:
		return to.Kind == from.Kind || to.Kind == types.Timestamp || to.Kind == types.TimestampLTZ ||
			from.Kind == types.Timestamp && (to.Kind == types.Date || to.Kind == types.Time)
	case from.Kind != to.Kind:
		return false
	}
	switch to.Kind {
	case types.Array, types.Multiset:
		return implicitElem(from.Elem, to.Elem)
	case types.Map:
		return implicitElem(from.Key, to.Key) && implicitElem(from.Elem, to.Elem)
	case types.Row:
		if len(from.Fields) != len(to.Fields) {
			return false
		}
		for i := range from.Fields {
			if !ImplicitCast(from.Fields[i].Type, to.Fields[i].Type) {
				return false
			}
		}
		return true
	case types.Raw:
		return from.Class == to.Class
	}
	return true
}

func implicitElem(from, to *types.Type) bool { return ImplicitCast(*from, *to) }

// CanCast reports whether CAST(x AS to) is allowed for x of type from: the matrix of types.md 8. Whether a value can be
// converted is another matter.
func CanCast(from, to types.Type) bool { return castProblem(from, to) == "" }

// castProblem says in Flink's words why there is no cast; "" when there is one.
func castProblem(from, to types.Type) string {
	if castable(from, to) {
		return ""
	}
	numeric := func(t types.Type) bool { return t.IsNumeric() }
	switch {
	case numeric(from) && to.Kind == types.Timestamp:
		return "The cast from NUMERIC type to TIMESTAMP type is not allowed. It's recommended to use " +
			"TO_TIMESTAMP(FROM_UNIXTIME(numeric_col)) instead, note the numeric is in seconds."
	case numeric(from) && to.Kind == types.TimestampLTZ:
		return "The cast from NUMERIC type to TIMESTAMP_LTZ type is not allowed. It's recommended to use " +
			"TO_TIMESTAMP_LTZ(numeric_col, precision) instead."
	case from.Kind == types.Timestamp && numeric(to):
		return "The cast from TIMESTAMP type to NUMERIC type is not allowed. It's recommended to use " +
			"UNIX_TIMESTAMP(CAST(timestamp_col AS STRING)) instead."
	case from.Kind == types.TimestampLTZ && numeric(to):
		return "The cast from TIMESTAMP_LTZ type to NUMERIC type is not allowed."
	case from.IsString() && to.IsInterval(), from.IsBinary() && to.IsTemporal():
		return "Unsupported cast from '" + from.String() + "' to '" + to.String() + "'."
	}
	return "Cast function cannot convert value of type " + typeWord(from) + " to type " + typeWord(to)
}

func castable(from, to types.Type) bool {
	switch {
	case from.Kind == types.Null:
		return true
	case to.Kind == types.Null || isSymbol(from):
		return false
	case to.IsString():
		return true
	case from.IsString():
		return to.IsBinary() || to.Kind == types.Boolean || to.IsNumeric() || to.IsTemporal()
	case from.IsBinary() || from.Kind == types.Raw:
		return to.IsBinary() || from.Kind == types.Raw && to.Kind == types.Raw && from.Class == to.Class
	case from.Kind == types.Boolean:
		return to.Kind == types.Boolean || to.IsNumeric()
	case from.IsNumeric():
		return to.IsNumeric() || to.Kind == types.Boolean || from.IsInteger() && to.IsInterval() && singleUnit(to)
	case from.IsInterval():
		return from.Kind == to.Kind || to.IsInteger() && singleUnit(from)
	case from.IsTemporal():
		return castableTime(from.Kind, to.Kind)
	}
	return castableNested(from, to)
}

func castableTime(from, to types.Kind) bool {
	switch from {
	case types.Date:
		return to == types.Date || to == types.Timestamp || to == types.TimestampLTZ
	case types.Time:
		return to == types.Time || to == types.Timestamp || to == types.TimestampLTZ
	}
	return to >= types.Date && to <= types.TimestampLTZ
}

func castableNested(from, to types.Type) bool {
	if from.Kind != to.Kind {
		return false
	}
	switch from.Kind {
	case types.Array, types.Multiset:
		return castable(*from.Elem, *to.Elem)
	case types.Map:
		return castable(*from.Key, *to.Key) && castable(*from.Elem, *to.Elem)
	case types.Row:
		if len(from.Fields) != len(to.Fields) {
			return false
		}
		for i := range from.Fields {
			if !castable(from.Fields[i].Type, to.Fields[i].Type) {
				return false
			}
		}
		return true
	}
	return false
}

// singleUnit reports whether an interval type names one unit; only those convert to and from numbers.
func singleUnit(t types.Type) bool { return !strings.Contains(t.Unit, " TO ") }
