package expr

import (
	"slices"

	"runnel/types"
)

// arrayFunctions work on arrays.
func arrayFunctions() []Function {
	array := func(name, doc string, nulls bool, bind func(*binding) (types.Type, error),
		f func(*Call) func([]types.Datum) (types.Datum, error)) Function {
		return Function{Name: name, Doc: doc, safe: true, bind: bind, kernel: boxed(nulls, f)}
	}
	return []Function{
		array("ARRAY_CONTAINS", "ARRAY_CONTAINS(array, a): whether a, which may be NULL, is an element.", true,
			bindWithElement(func(arr, elem types.Type) types.Type { return boolType(!arr.NotNull) }), arrayContains),
		array("ARRAY_POSITION", "ARRAY_POSITION(array, a): the position of the first element equal to a, 0 without one.", false,
			bindWithElement(func(arr, elem types.Type) types.Type {
				return types.Of(types.Int).Nullable(!arr.NotNull || !elem.NotNull)
			}), arrayPosition),
		array("ARRAY_REMOVE", "ARRAY_REMOVE(array, a): without the elements equal to a.", true,
			bindWithElement(func(arr, elem types.Type) types.Type { return arr }), arrayRemove),
		array("ARRAY_APPEND", "ARRAY_APPEND(array, a): with a at the end.", true, bindGrow, arrayGrow(false)),
		array("ARRAY_PREPEND", "ARRAY_PREPEND(array, a): with a at the beginning.", true, bindGrow, arrayGrow(true)),
		array("ARRAY_DISTINCT", "ARRAY_DISTINCT(array): the different elements.", false, takes("ARRAY").to(giveFirst), arrayDistinct),
		array("ARRAY_REVERSE", "ARRAY_REVERSE(array): from the last element to the first.", false, takes("ARRAY").to(giveFirst), arrayReverse),
		array("ARRAY_SLICE", "ARRAY_SLICE(array, from [, to]): the elements from one position to another; negative ones count from the end.", false,
			takes("ARRAY, INTEGER, [INTEGER]").to(giveFirst), arraySlice),
		array("ARRAY_CONCAT", "ARRAY_CONCAT(array, ...): the arrays joined.", false, bindUnionOf(types.Array), arrayConcat),
		array("ARRAY_UNION", "ARRAY_UNION(a, b): the different elements of both.", false, bindTwoArrays, arrayUnion),
		array("ARRAY_EXCEPT", "ARRAY_EXCEPT(a, b): the different elements of a that are not in b.", false, bindTwoArrays, arraySetOp(false)),
		array("ARRAY_INTERSECT", "ARRAY_INTERSECT(a, b): the different elements of a that are in b.", false, bindTwoArrays, arraySetOp(true)),
		array("ARRAY_SORT", "ARRAY_SORT(array [, ascending [, nulls first]]): the elements in order.", false, bindArraySort, arraySort),
		array("ARRAY_MAX", "ARRAY_MAX(array): the greatest element.", false, bindArrayExtreme, arrayExtreme(1)),
		array("ARRAY_MIN", "ARRAY_MIN(array): the smallest element.", false, bindArrayExtreme, arrayExtreme(-1)),
		array("ARRAY_JOIN", "ARRAY_JOIN(array, delimiter [, text for NULL]): the texts joined; NULL is left out or replaced.", false,
			bindArrayJoin, arrayJoin),
	}
}

// sameElem is equality of elements: as = has it for numbers, so that a NaN equals nothing; NULL equals NULL.
func sameElem(t types.Type, a, b types.Datum) bool {
	if t.Phys() == types.PhysFloat && !a.Null && !b.Null {
		return a.Float() == b.Float()
	}
	return equalDatum(t, a, b)
}

func indexElem(t types.Type, in []types.Datum, d types.Datum) int {
	return slices.IndexFunc(in, func(e types.Datum) bool { return sameElem(t, e, d) })
}

func elems(d types.Datum) []types.Datum { return d.A.(*types.List).Elems }

func listOf(es []types.Datum) (types.Datum, error) {
	return types.AnyDatum(&types.List{Elems: es}), nil
}

// invalidArguments is the message of functions that Flink defines itself.
func (b *binding) invalidArguments() error {
	return b.errorf("Invalid input arguments. Expected signatures are:\n%s(...), but the call is %s.", b.name, b.call())
}

// bindWithElement is for functions of an array and a value that is cast to the type of its elements.
func bindWithElement(rule func(arr, elem types.Type) types.Type) func(*binding) (types.Type, error) {
	return func(b *binding) (types.Type, error) {
		if len(b.args) != 2 {
			return types.Type{}, b.wrongCount(2)
		}
		arr, elem := b.args[0].Type(), b.args[1].Type()
		if arr.Kind != types.Array || !ImplicitCast(elem, *arr.Elem) {
			return types.Type{}, b.invalidArguments()
		}
		b.cast(1, *arr.Elem)
		return rule(arr.Plain(), elem), nil
	}
}

// bindGrow makes the elements nullable when the new one is, and then the array too, as Flink does.
func bindGrow(b *binding) (types.Type, error) {
	return bindWithElement(func(arr, elem types.Type) types.Type {
		if elem.NotNull {
			return arr
		}
		return types.ArrayOf(arr.Elem.Optional())
	})(b)
}

func arrayContains(call *Call) func([]types.Datum) (types.Datum, error) {
	t := *call.Args[0].Type().Elem
	return func(row []types.Datum) (types.Datum, error) {
		if row[0].Null {
			return row[0], nil
		}
		return types.BoolDatum(indexElem(t, elems(row[0]), row[1]) >= 0), nil
	}
}

func arrayPosition(call *Call) func([]types.Datum) (types.Datum, error) {
	t := *call.Args[0].Type().Elem
	return func(row []types.Datum) (types.Datum, error) {
		return types.IntDatum(int64(indexElem(t, elems(row[0]), row[1]) + 1)), nil
	}
}

func arrayRemove(call *Call) func([]types.Datum) (types.Datum, error) {
	t := *call.T.Elem
	return func(row []types.Datum) (types.Datum, error) {
		if row[0].Null {
			return row[0], nil
		}
		var out []types.Datum
		for _, e := range elems(row[0]) {
			if !sameElem(t, e, row[1]) {
				out = append(out, e)
			}
		}
		return listOf(out)
	}
}

func arrayGrow(front bool) func(*Call) func([]types.Datum) (types.Datum, error) {
	return func(*Call) func([]types.Datum) (types.Datum, error) {
		return func(row []types.Datum) (types.Datum, error) {
			if row[0].Null {
				return row[0], nil
			}
			es := elems(row[0])
			out := make([]types.Datum, 0, len(es)+1)
			if front {
				out = append(out, row[1])
			}
			out = append(out, es...)
			if !front {
				out = append(out, row[1])
			}
			return listOf(out)
		}
	}
}

// appendNew appends the elements that out does not have yet.
func appendNew(t types.Type, out, es []types.Datum) []types.Datum {
	for _, e := range es {
		if indexElem(t, out, e) < 0 {
			out = append(out, e)
		}
	}
	return out
}

func arrayDistinct(call *Call) func([]types.Datum) (types.Datum, error) {
	t := *call.T.Elem
	return func(row []types.Datum) (types.Datum, error) { return listOf(appendNew(t, nil, elems(row[0]))) }
}

func arrayReverse(*Call) func([]types.Datum) (types.Datum, error) {
	return func(row []types.Datum) (types.Datum, error) {
		out := slices.Clone(elems(row[0]))
		slices.Reverse(out)
		return listOf(out)
	}
}

func arraySlice(*Call) func([]types.Datum) (types.Datum, error) {
	return func(row []types.Datum) (types.Datum, error) {
		es := elems(row[0])
		n := int64(len(es))
		from, to := row[1].I, n
		if len(row) == 3 {
			to = row[2].I
		}
		place := func(p int64) int64 { // positions from 1; 0 is 1, negative ones count from the end
			if p < 0 {
				p += n + 1
				return max(p, 0)
			}
			return max(p, 1)
		}
		from, to = place(from), min(place(to), n)
		from = max(from, 1)
		if n == 0 || from > to {
			return listOf(nil)
		}
		return listOf(es[from-1 : to])
	}
}

func arrayConcat(*Call) func([]types.Datum) (types.Datum, error) {
	return func(row []types.Datum) (types.Datum, error) {
		var out []types.Datum
		for _, d := range row {
			out = append(out, elems(d)...)
		}
		return listOf(out)
	}
}

func bindTwoArrays(b *binding) (types.Type, error) {
	if len(b.args) != 2 {
		return types.Type{}, b.wrongCount(2)
	}
	return bindUnionOf(types.Array)(b)
}

func arrayUnion(call *Call) func([]types.Datum) (types.Datum, error) {
	t := *call.T.Elem
	return func(row []types.Datum) (types.Datum, error) {
		return listOf(appendNew(t, appendNew(t, nil, elems(row[0])), elems(row[1])))
	}
}

// arraySetOp keeps the different elements of the first array that the second has, or has not.
func arraySetOp(both bool) func(*Call) func([]types.Datum) (types.Datum, error) {
	return func(call *Call) func([]types.Datum) (types.Datum, error) {
		t := *call.T.Elem
		return func(row []types.Datum) (types.Datum, error) {
			var out []types.Datum
			for _, e := range elems(row[0]) {
				if (indexElem(t, elems(row[1]), e) >= 0) == both && indexElem(t, out, e) < 0 {
					out = append(out, e)
				}
			}
			return listOf(out)
		}
	}
}

// sortable reports whether values have an order.
func sortable(t types.Type) bool { return t.Phys() != types.PhysAny && t.Kind != types.Raw }

func bindArraySort(b *binding) (types.Type, error) {
	if len(b.args) < 1 || len(b.args) > 3 {
		return types.Type{}, b.wrongCount(1)
	}
	t := b.args[0].Type()
	if t.Kind != types.Array || !sortable(*t.Elem) || t.Elem.Kind == types.Boolean {
		return types.Type{}, b.invalidArguments()
	}
	for _, a := range b.args[1:] {
		if a.Type().Kind != types.Boolean {
			return types.Type{}, b.invalidArguments()
		}
	}
	return t.Plain().Nullable(anyNullable(b.args)), nil
}

func arraySort(call *Call) func([]types.Datum) (types.Datum, error) {
	t := *call.T.Elem
	return func(row []types.Datum) (types.Datum, error) {
		sign, nulls := 1, -1
		if len(row) > 1 && !row[1].Bool() {
			sign, nulls = -1, 1
		}
		if len(row) > 2 {
			nulls = 1
			if row[2].Bool() {
				nulls = -1
			}
		}
		out := slices.Clone(elems(row[0]))
		slices.SortStableFunc(out, func(a, b types.Datum) int {
			switch {
			case a.Null && b.Null:
				return 0
			case a.Null:
				return nulls
			case b.Null:
				return -nulls
			}
			return sign * compareDatum(t, a, b)
		})
		return listOf(out)
	}
}

func bindArrayExtreme(b *binding) (types.Type, error) {
	if len(b.args) != 1 {
		return types.Type{}, b.wrongCount(1)
	}
	t := b.args[0].Type()
	if t.Kind != types.Array || !sortable(*t.Elem) || t.Elem.Kind == types.Boolean {
		return types.Type{}, b.invalidArguments()
	}
	return t.Elem.Optional(), nil
}

func arrayExtreme(sign int) func(*Call) func([]types.Datum) (types.Datum, error) {
	return func(call *Call) func([]types.Datum) (types.Datum, error) {
		t := call.T
		return func(row []types.Datum) (types.Datum, error) {
			best := types.NullDatum()
			for _, e := range elems(row[0]) {
				if !e.Null && (best.Null || compareDatum(t, e, best)*sign > 0) {
					best = e
				}
			}
			return best, nil
		}
	}
}

func bindArrayJoin(b *binding) (types.Type, error) {
	if len(b.args) != 2 && len(b.args) != 3 {
		return types.Type{}, b.wrongCount(2)
	}
	t := b.args[0].Type()
	if t.Kind != types.Array || !t.Elem.IsString() {
		return types.Type{}, b.invalidArguments()
	}
	for _, a := range b.args[1:] {
		if !a.Type().IsString() {
			return types.Type{}, b.invalidArguments()
		}
	}
	return types.String().Nullable(anyNullable(b.args)), nil
}

func arrayJoin(*Call) func([]types.Datum) (types.Datum, error) {
	var buf []byte
	return func(row []types.Datum) (types.Datum, error) {
		buf = buf[:0]
		first := true
		for _, e := range elems(row[0]) {
			if e.Null && len(row) == 2 {
				continue
			}
			if !first {
				buf = append(buf, row[1].S...)
			}
			first = false
			if e.Null {
				buf = append(buf, row[2].S...)
			} else {
				buf = append(buf, e.S...)
			}
		}
		return types.StrDatum(string(buf)), nil
	}
}
