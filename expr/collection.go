package expr

import (
	"errors"
	"slices"
	"strconv"

	"runnel/types"
)

// collectionFunctions make rows, arrays and maps, and look into them.
func collectionFunctions() []Function {
	return []Function{
		{Name: "ROW", Doc: "ROW(a, ...) or (a, b, ...): a row of the values.", safe: true, bind: bindRow, kernel: boxed(true, makeRow)},
		{Name: "ARRAY", Doc: "ARRAY[a, ...]: an array of the values.", Operator: true, safe: true, bind: bindArray, kernel: boxed(true, makeArray)},
		{Name: "MAP", Doc: "MAP[key, value, ...]: a map; of equal keys the last counts.", Operator: true, safe: true, bind: bindMap, kernel: boxed(true, makeMap)},
		{Name: "ITEM", Doc: "array[n] or map[key]: the n-th element, from 1, or the value of a key; NULL when there is none.", Operator: true,
			forms: "<ARRAY>[<INTEGER>]", bind: bindItem, kernel: itemKernel},
		{Name: "CARDINALITY", Doc: "CARDINALITY(a): the number of elements of an array, map or multiset.", safe: true,
			forms: "'CARDINALITY(<MULTISET>)'", bind: bindCardinality, kernel: pure1(cardinality)},
		{Name: "ELEMENT", Doc: "ELEMENT(array): the only element; NULL for an empty array, an error for more.",
			forms: "'ELEMENT(<MULTISET>)'", bind: bindElement, kernel: boxed(false, elementOf)},
		{Name: "MAP_KEYS", Doc: "MAP_KEYS(map): its keys.", safe: true, bind: takes("MAP").to(func(b *binding) types.Type {
			return types.ArrayOf(*b.args[0].Type().Key)
		}), kernel: pure1(func(v any) any { return &types.List{Elems: v.(*types.MapValue).Keys} })},
		{Name: "MAP_VALUES", Doc: "MAP_VALUES(map): its values.", safe: true, bind: takes("MAP").to(func(b *binding) types.Type {
			return types.ArrayOf(*b.args[0].Type().Elem)
		}), kernel: pure1(func(v any) any { return &types.List{Elems: v.(*types.MapValue).Vals} })},
		{Name: "MAP_ENTRIES", Doc: "MAP_ENTRIES(map): an array of rows of key and value.", safe: true, bind: takes("MAP").to(entriesType),
			kernel: pure1(mapEntries)},
		{Name: "MAP_FROM_ARRAYS", Doc: "MAP_FROM_ARRAYS(keys, values): a map of two arrays of one length.", bind: bindMapFromArrays,
			kernel: rows2(mapFromArrays)},
		{Name: "MAP_UNION", Doc: "MAP_UNION(map, ...): the entries of all; of equal keys the last counts.", safe: true,
			bind: bindUnionOf(types.Map), kernel: boxed(false, mapUnion)},
	}
}

func makeRow(*Call) func([]types.Datum) (types.Datum, error) {
	var values datumSlab
	var tuples []types.Tuple
	return func(row []types.Datum) (types.Datum, error) {
		if len(tuples) == 0 {
			tuples = make([]types.Tuple, slabRows)
		}
		t := &tuples[0]
		tuples = tuples[1:]
		t.Fields = values.keep(row)
		return types.AnyDatum(t), nil
	}
}

func makeArray(*Call) func([]types.Datum) (types.Datum, error) {
	var values datumSlab
	var lists []types.List
	return func(row []types.Datum) (types.Datum, error) {
		if len(lists) == 0 {
			lists = make([]types.List, slabRows)
		}
		l := &lists[0]
		lists = lists[1:]
		l.Elems = values.keep(row)
		return types.AnyDatum(l), nil
	}
}

// slabRows is how many nested values share an allocation, and live as long as one of them does.
const slabRows = 32

// datumSlab copies rows of values into slices that share an array.
type datumSlab struct{ free []types.Datum }

func (s *datumSlab) keep(row []types.Datum) []types.Datum {
	n := len(row)
	if len(s.free) < n {
		s.free = make([]types.Datum, n*slabRows)
	}
	kept := s.free[:n:n]
	s.free = s.free[n:]
	copy(kept, row)
	return kept
}

// bindRow names the fields as Flink does: EXPR$0, EXPR$1.
func bindRow(b *binding) (types.Type, error) {
	t := types.Type{Kind: types.Row, NotNull: true}
	for i, a := range b.args {
		t.Fields = append(t.Fields, types.Field{Name: "EXPR$" + strconv.Itoa(i), Type: a.Type().Plain()})
	}
	return t, nil
}

func bindArray(b *binding) (types.Type, error) {
	if len(b.args) == 0 {
		return types.Type{}, b.errorf("Require at least 1 argument")
	}
	t, ok := LeastRestrictive(b.types()...)
	if !ok || t.Kind == types.Null {
		return types.Type{}, b.errorf("Parameters must be of the same type")
	}
	if t.Kind == types.Row && slices.ContainsFunc(b.args, func(a Expr) bool { return a.Type().Kind == types.Null }) {
		t.Fields = slices.Clone(t.Fields) // a row beside a bare NULL has fields that may be NULL
		for i := range t.Fields {
			t.Fields[i].Type = t.Fields[i].Type.Optional()
		}
	}
	for i := range b.args {
		b.cast(i, t)
	}
	return types.ArrayOf(t).Required(), nil
}

func bindMap(b *binding) (types.Type, error) {
	if len(b.args) == 0 || len(b.args)%2 != 0 {
		return types.Type{}, b.errorf("Map requires an even number of arguments")
	}
	var sides [2]types.Type
	for side := range sides {
		var ts []types.Type
		untyped := false
		for i := side; i < len(b.args); i += 2 {
			ts = append(ts, b.args[i].Type())
			untyped = untyped || b.args[i].Type().Kind == types.Null
		}
		t, ok := LeastRestrictive(ts...)
		if !ok || untyped {
			return types.Type{}, b.errorf("Parameters must be of the same type")
		}
		for i := side; i < len(b.args); i += 2 {
			b.cast(i, t)
		}
		sides[side] = t
	}
	return types.MapOf(sides[0], sides[1]).Required(), nil
}

func makeMap(call *Call) func([]types.Datum) (types.Datum, error) {
	kt := keyType(call.T)
	return func(row []types.Datum) (types.Datum, error) {
		m := &types.MapValue{}
		for i := 0; i < len(row); i += 2 {
			m = putEntry(m, kt, row[i], row[i+1])
		}
		return types.AnyDatum(m), nil
	}
}

// putEntry sets the value of a key in a map that nobody else has yet.
func putEntry(m *types.MapValue, kt types.Type, k, v types.Datum) *types.MapValue {
	if i := findDatum(kt, m.Keys, k); i >= 0 {
		m.Vals[i] = v
	} else {
		m.Keys, m.Vals = append(m.Keys, k), append(m.Vals, v)
	}
	return m
}

func bindItem(b *binding) (types.Type, error) {
	if len(b.args) != 2 {
		return types.Type{}, b.wrongCount(2)
	}
	t, k := b.args[0].Type(), b.args[1].Type()
	switch {
	case t.Kind == types.Array && k.IsInteger() && k.Kind != types.Int:
		return types.Type{}, b.errorf("Integer expression type expected.")
	case t.Kind == types.Array && (k.Kind == types.Int || k.Kind == types.Null):
		if c, ok := constOf(b.args[1]); ok && !c.Null && c.I < 1 && !isNullConst(b.args[0]) {
			return types.Type{}, b.errorf("Array element access needs an index starting at 1 but was %d.", c.I)
		}
		if k.Kind == types.Null {
			b.cast(1, types.Of(types.Int))
		}
		return t.Elem.Optional(), nil
	case t.Kind == types.Map:
		common, ok := common(t.Key.Plain(), k.Plain())
		if !ok {
			return types.Type{}, b.misfit()
		}
		if !common.SameIgnoringNull(*t.Key) {
			b.cast(0, types.MapOf(common, *t.Elem))
		}
		b.cast(1, common)
		return t.Elem.Optional(), nil
	case t.Kind == types.Row:
		if c, ok := constOf(b.args[1]); ok && c.I >= 1 && c.I <= int64(len(t.Fields)) {
			return t.Fields[c.I-1].Type.Optional(), nil
		}
	}
	return types.Type{}, b.misfit()
}

func isNullConst(e Expr) bool {
	for {
		switch n := e.(type) {
		case *Const:
			return n.Value.Null
		case *Cast:
			e = n.Arg
		default:
			return false
		}
	}
}

func itemKernel(c *compiler, call *Call) (Eval, error) {
	args, err := c.args(call)
	if err != nil {
		return nil, err
	}
	t := call.Args[0].Type()
	return datums(call.T, args, func(row []types.Datum) (types.Datum, error) {
		if row[0].Null || row[1].Null && t.Kind != types.Map {
			return types.NullDatum(), nil
		}
		switch v := row[0].A.(type) {
		case *types.List:
			if i := row[1].I; i >= 1 && i <= int64(len(v.Elems)) {
				return v.Elems[i-1], nil
			}
		case *types.MapValue:
			if row[1].Null {
				return types.NullDatum(), nil
			}
			if i := findDatum(keyType(t), v.Keys, row[1]); i >= 0 {
				return v.Vals[i], nil
			}
		case *types.Tuple:
			return v.Fields[row[1].I-1], nil
		}
		return types.NullDatum(), nil
	}), nil
}

func bindCardinality(b *binding) (types.Type, error) {
	if len(b.args) != 1 {
		return types.Type{}, b.wrongCount(1)
	}
	t := b.args[0].Type()
	switch t.Kind {
	case types.Array, types.Map, types.Multiset:
		return types.Of(types.Int).Nullable(!t.NotNull), nil
	}
	return types.Type{}, b.misfit()
}

func cardinality(v any) int64 {
	if m, ok := v.(*types.MapValue); ok {
		return int64(len(m.Keys))
	}
	return int64(len(v.(*types.List).Elems))
}

func bindElement(b *binding) (types.Type, error) {
	if len(b.args) != 1 {
		return types.Type{}, b.wrongCount(1)
	}
	t := b.args[0].Type()
	if t.Kind != types.Array && t.Kind != types.Multiset {
		return types.Type{}, b.misfit()
	}
	return t.Elem.Nullable(!t.NotNull || !t.Elem.NotNull), nil
}

var errElements = errors.New("Array has more than one element.")

func elementOf(*Call) func([]types.Datum) (types.Datum, error) {
	return func(row []types.Datum) (types.Datum, error) {
		var elems []types.Datum
		switch v := row[0].A.(type) {
		case *types.List:
			elems = v.Elems
		case *types.MapValue:
			elems = v.Keys
		}
		switch len(elems) {
		case 0:
			return types.NullDatum(), nil
		case 1:
			return elems[0], nil
		}
		return types.Datum{}, errElements
	}
}

func entriesType(b *binding) types.Type {
	t := b.args[0].Type()
	return types.ArrayOf(types.RowOf(types.Field{Name: "key", Type: *t.Key}, types.Field{Name: "value", Type: *t.Elem}))
}

func mapEntries(v any) any {
	m := v.(*types.MapValue)
	list := &types.List{Elems: make([]types.Datum, len(m.Keys))}
	for i := range m.Keys {
		list.Elems[i] = types.AnyDatum(&types.Tuple{Fields: []types.Datum{m.Keys[i], m.Vals[i]}})
	}
	return list
}

func bindMapFromArrays(b *binding) (types.Type, error) {
	return takes("ARRAY, ARRAY").to(func(b *binding) types.Type {
		return types.MapOf(*b.args[0].Type().Elem, *b.args[1].Type().Elem)
	})(b)
}

func mapFromArrays(k, v any) (any, error) {
	keys, vals := k.(*types.List).Elems, v.(*types.List).Elems
	if len(keys) != len(vals) {
		return nil, errors.New("Invalid function MAP_FROM_ARRAYS call:\nThe length of the keys array " +
			strconv.Itoa(len(keys)) + " is not equal to the length of the values array " + strconv.Itoa(len(vals)))
	}
	return &types.MapValue{Keys: keys, Vals: vals}, nil
}

// bindUnionOf takes one or more arrays or maps and casts them to their common type.
func bindUnionOf(kind types.Kind) func(*binding) (types.Type, error) {
	return func(b *binding) (types.Type, error) {
		if len(b.args) == 0 {
			return types.Type{}, b.wrongCount(1)
		}
		word := "ARRAY"
		if kind == types.Map {
			word = "MAP"
		}
		for _, a := range b.args {
			if a.Type().Kind != kind {
				return types.Type{}, b.errorf("All arguments requires to be a %s type", word)
			}
		}
		null := anyNullable(b.args)
		t, ok := CommonType(b.types()...)
		if !ok {
			return types.Type{}, b.errorf("Invalid input arguments. The arguments of %s have no common type.", b.name)
		}
		for i := range b.args {
			b.cast(i, t)
		}
		return t.Nullable(null), nil
	}
}

// mapUnion puts the entries of later maps first, as Flink does.
func mapUnion(call *Call) func([]types.Datum) (types.Datum, error) {
	kt := keyType(call.T)
	return func(row []types.Datum) (types.Datum, error) {
		m := &types.MapValue{}
		for i := len(row) - 1; i >= 0; i-- {
			v := row[i].A.(*types.MapValue)
			for j, k := range v.Keys {
				if findDatum(kt, m.Keys, k) < 0 {
					m.Keys, m.Vals = append(m.Keys, k), append(m.Vals, v.Vals[j])
				}
			}
		}
		return types.AnyDatum(m), nil
	}
}
