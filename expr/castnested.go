package expr

import (
	"strings"

	"runnel/types"
)

// castNested converts the elements of ARRAY, MULTISET, MAP and ROW; NULL elements stay NULL.
func (c *compiler) castNested(from, to types.Type) (rowCast, error) {
	var f func(any) (any, error)
	switch from.Kind {
	case types.Array:
		elem, err := c.castElements(*from.Elem, *to.Elem)
		if err != nil {
			return rowCast{}, err
		}
		f = func(v any) (any, error) {
			es, err := elem(v.(*types.List).Elems)
			return &types.List{Elems: es}, err
		}
	case types.Map, types.Multiset:
		key, err := c.castElements(keyType(from), keyType(to))
		if err != nil {
			return rowCast{}, err
		}
		val, err := c.castElements(valueType(from), valueType(to))
		if err != nil {
			return rowCast{}, err
		}
		f = func(v any) (any, error) {
			m := v.(*types.MapValue)
			ks, err := key(m.Keys)
			if err != nil {
				return nil, err
			}
			vs, err := val(m.Vals)
			return &types.MapValue{Keys: ks, Vals: vs}, err
		}
	default:
		fields := make([]func([]types.Datum) ([]types.Datum, error), len(from.Fields))
		for i := range fields {
			var err error
			if fields[i], err = c.castElements(from.Fields[i].Type, to.Fields[i].Type); err != nil {
				return rowCast{}, err
			}
		}
		f = func(v any) (any, error) { return castFields(v.(*types.Tuple), fields) }
	}
	return castBy(f), nil
}

func castFields(t *types.Tuple, fields []func([]types.Datum) ([]types.Datum, error)) (any, error) {
	r := &types.Tuple{Fields: make([]types.Datum, len(t.Fields))}
	for i := range t.Fields {
		v, err := fields[i](t.Fields[i : i+1])
		if err != nil {
			return nil, err
		}
		r.Fields[i] = v[0]
	}
	return r, nil
}

// castElements gives the conversion of a list of values.
func (c *compiler) castElements(from, to types.Type) (func([]types.Datum) ([]types.Datum, error), error) {
	rc := castSame()
	if from.Kind != types.Null {
		var err error
		if rc, err = c.castOf(from, to); err != nil {
			return nil, err
		}
	}
	return func(in []types.Datum) ([]types.Datum, error) {
		if rc.same {
			return in, nil
		}
		out := make([]types.Datum, len(in))
		for i, d := range in {
			if d.Null {
				out[i] = d
				continue
			}
			v, err := rc.datum(d)
			if err == errNull {
				v = types.NullDatum()
			} else if err != nil {
				return nil, err
			}
			out[i] = v
		}
		return out, nil
	}, nil
}

// intervalUnit is the number of months or milliseconds in the one unit that an interval type names.
func intervalUnit(t types.Type) int64 {
	unit, _, _ := strings.Cut(t.Unit, "(")
	switch unit {
	case "YEAR":
		return 12
	case "DAY":
		return types.MillisPerDay
	case "HOUR":
		return 3_600_000
	case "MINUTE":
		return 60_000
	}
	if t.Kind == types.IntervalMillis {
		return 1000
	}
	return 1
}
