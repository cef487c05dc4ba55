package expr

import (
	"runnel/types"
)

// listAggregates gather the values.
func listAggregates() []Aggregate {
	one := func(name string, rule func(types.Type) types.Type) func([]types.Type) (types.Type, error) {
		return func(args []types.Type) (types.Type, error) {
			if len(args) != 1 {
				return types.Type{}, aggCount(name, 1)
			}
			if args[0].Kind == types.Null {
				return types.Type{}, &TypeError{Msg: "Illegal use of 'NULL'"}
			}
			return rule(args[0].Plain()), nil
		}
	}
	return []Aggregate{
		{Name: "LISTAGG", Sure: true, Doc: "LISTAGG(text [, separator]): the texts that are not NULL, in the order of arrival, joined by commas or the separator.",
			Result: listaggType, bind: func(b *aggBinding) (*Accumulator, error) { return bindListagg(b), nil }},
		{Name: "ARRAY_AGG", Sure: true, Doc: "ARRAY_AGG(a [RESPECT NULLS | IGNORE NULLS]): the values in the order of arrival, NULL too unless it is to be ignored.",
			Result: one("ARRAY_AGG", func(t types.Type) types.Type { return types.ArrayOf(t).Nullable(!t.NotNull) }), bind: func(b *aggBinding) (*Accumulator, error) { return bindArrayAgg(b), nil }},
		{Name: "COLLECT", Sure: true, Doc: "COLLECT(a): a multiset of the values that are not NULL.",
			Result: one("COLLECT", func(t types.Type) types.Type { return types.MultisetOf(t).Required() }),
			bind:   func(b *aggBinding) (*Accumulator, error) { return bindCollect(b), nil }},
		{Name: "APPROX_COUNT_DISTINCT", Sure: true, BatchOnly: true, Doc: "APPROX_COUNT_DISTINCT(a): about how many different values there are; here the exact number.",
			Result: approxType, bind: func(b *aggBinding) (*Accumulator, error) { return bindApprox(b), nil }},
	}
}

func listaggType(args []types.Type) (types.Type, error) {
	if len(args) != 1 && len(args) != 2 {
		return types.Type{}, aggCount("LISTAGG", 1)
	}
	for _, t := range args {
		if !t.IsString() {
			forms := "'LISTAGG(<CHARACTER>)'"
			if len(args) == 2 {
				forms = "'LISTAGG(<CHARACTER>, <CHARACTER_LITERAL>)'"
			}
			return types.Type{}, aggMisfit("LISTAGG", args, forms)
		}
	}
	return args[0].Plain(), nil
}

// bindListagg keeps the list of texts and the separator, which is the same for all rows.
func bindListagg(b *aggBinding) *Accumulator {
	args := b.args
	code := newWordCode(b.types[0])
	var buf []byte
	var arena types.Arena
	key := func(b *types.Batch, i int32) []uint64 {
		if c := b.Cols[args[0]]; !c.Null(i) {
			return code.encode(c, i)
		}
		return nil
	}
	return withPartial(&Accumulator{
		Slots: []Slot{{Kind: ListSlot}, {Kind: BytesSlot}},
		Codec: 1,
		Add: func(_ []uint64, st Store, b *types.Batch, i int32) error {
			c := b.Cols[args[0]]
			if c.Null(i) {
				return nil
			}
			if len(args) == 2 {
				if _, ok := st.Bytes(1); !ok {
					st.PutBytes(1, b.Cols[args[1]].Str[i])
				}
			}
			st.Elems(0).Add(code.encode(c, i))
			return nil
		},
		Retract: func(_ []uint64, st Store, b *types.Batch, i int32) error {
			if c := b.Cols[args[0]]; !c.Null(i) {
				removeFirst(st.Elems(0), code.encode(c, i))
			}
			return nil
		},
		Merge: func(acc []uint64, st Store, from []uint64, fromStore Store) error {
			if sep, ok := fromStore.Bytes(1); ok {
				st.PutBytes(1, sep)
			}
			return mergeLists(0)(acc, st, from, fromStore)
		},
		Value: func(_ []uint64, st Store, out *types.Column) error {
			list := st.Elems(0)
			e := list.Next(0)
			if e == 0 {
				out.AppendNull()
				return nil
			}
			sep, ok := st.Bytes(1)
			if !ok {
				sep = ","
			}
			buf = buf[:0]
			for first := true; e != 0; e = list.Next(e) {
				if !first {
					buf = append(buf, sep...)
				}
				buf, first = appendWordText(buf, list.Words(e)), false
			}
			out.AppendStr(arena.Copy(buf))
			return nil
		},
	}, key)
}

// bindArrayAgg keeps the list of values.
func bindArrayAgg(b *aggBinding) *Accumulator {
	arg, t := b.args[0], b.types[0]
	code := newWordCode(t)
	code.nulls = b.nulls != NullsSkipped
	scratch := types.NewColumn(t.Optional(), 8)
	key := func(b *types.Batch, i int32) []uint64 {
		if c := b.Cols[arg]; code.nulls || !c.Null(i) {
			return code.encode(c, i)
		}
		return nil
	}
	return withPartial(&Accumulator{
		Slots: []Slot{{Kind: ListSlot}},
		Codec: 1,
		Add: func(_ []uint64, st Store, b *types.Batch, i int32) error {
			if c := b.Cols[arg]; code.nulls || !c.Null(i) {
				st.Elems(0).Add(code.encode(c, i))
			}
			return nil
		},
		Retract: func(_ []uint64, st Store, b *types.Batch, i int32) error {
			if c := b.Cols[arg]; code.nulls || !c.Null(i) {
				removeFirst(st.Elems(0), code.encode(c, i))
			}
			return nil
		},
		Merge: mergeLists(0),
		Value: func(_ []uint64, st Store, out *types.Column) error {
			list := st.Elems(0)
			scratch.Reset()
			for e := list.Next(0); e != 0; e = list.Next(e) {
				if err := code.decode(list.Words(e), scratch); err != nil {
					return err
				}
			}
			if scratch.Len() == 0 {
				out.AppendNull()
				return nil
			}
			out.AppendAny(&types.List{Elems: takeAll(scratch)})
			return nil
		},
	}, key)
}

// takeAll gives the values of a column.
func takeAll(c *types.Column) []types.Datum {
	ds := make([]types.Datum, c.Len())
	for i := range ds {
		ds[i] = c.At(int32(i))
	}
	return ds
}

// bindCollect keeps the set of values with their counts.
func bindCollect(b *aggBinding) *Accumulator {
	arg, t := b.args[0], b.types[0]
	code := newWordCode(t)
	scratch := types.NewColumn(t, 8)
	change := func(set Elems, key []uint64, delta int64) {
		e, _ := set.Add(key)
		v := set.Values(e)
		if v[0] += uint64(delta); v[0] == 0 {
			set.Remove(e)
		}
	}
	return &Accumulator{
		Slots: []Slot{{Kind: SetSlot, Elem: []SlotKind{WordSlot}}},
		Codec: 1,
		Add: func(_ []uint64, st Store, b *types.Batch, i int32) error {
			if c := b.Cols[arg]; !c.Null(i) {
				change(st.Elems(0), code.encode(c, i), 1)
			}
			return nil
		},
		Retract: func(_ []uint64, st Store, b *types.Batch, i int32) error {
			if c := b.Cols[arg]; !c.Null(i) {
				change(st.Elems(0), code.encode(c, i), -1)
			}
			return nil
		},
		Merge: func(_ []uint64, st Store, _ []uint64, fromStore Store) error {
			set, from := st.Elems(0), fromStore.Elems(0)
			for e := from.Next(0); e != 0; e = from.Next(e) {
				change(set, from.Words(e), int64(from.Values(e)[0]))
			}
			return nil
		},
		Value: func(_ []uint64, st Store, out *types.Column) error {
			set := st.Elems(0)
			scratch.Reset()
			m := &types.MapValue{}
			for e := set.Next(0); e != 0; e = set.Next(e) {
				n := int64(set.Values(e)[0])
				if n <= 0 {
					continue
				}
				if err := code.decode(set.Words(e), scratch); err != nil {
					return err
				}
				m.Vals = append(m.Vals, types.IntDatum(n))
			}
			m.Keys = takeAll(scratch)
			out.AppendAny(m)
			return nil
		},
	}
}

func approxType(args []types.Type) (types.Type, error) {
	if len(args) != 1 {
		return types.Type{}, aggCount("APPROX_COUNT_DISTINCT", 1)
	}
	t := args[0]
	if !t.IsNumeric() && !t.IsString() && !t.IsTemporal() {
		return types.Type{}, &TypeError{Msg: "APPROX_COUNT_DISTINCT aggregate function does not support type: ''" + rootName(t) +
			"''.\nPlease re-check the data type."}
	}
	return types.Of(types.BigInt).Required(), nil
}

// bindApprox keeps the set of values and its size.
func bindApprox(b *aggBinding) *Accumulator {
	arg := b.args[0]
	code := newWordCode(b.types[0])
	return &Accumulator{
		Slots: []Slot{{}, {Kind: SetSlot}},
		Codec: 1,
		Add: func(acc []uint64, st Store, b *types.Batch, i int32) error {
			if c := b.Cols[arg]; !c.Null(i) {
				if _, inserted := st.Elems(1).Add(code.encode(c, i)); inserted {
					acc[0]++
				}
			}
			return nil
		},
		Merge: func(acc []uint64, st Store, _ []uint64, fromStore Store) error {
			set, from := st.Elems(1), fromStore.Elems(1)
			for e := from.Next(0); e != 0; e = from.Next(e) {
				if _, inserted := set.Add(from.Words(e)); inserted {
					acc[0]++
				}
			}
			return nil
		},
		Value: func(acc []uint64, _ Store, out *types.Column) error {
			out.AppendInt(int64(acc[0]))
			return nil
		},
	}
}

// rootName is the name of a type's root in Flink's messages about aggregates.
func rootName(t types.Type) string {
	switch t.Kind {
	case types.Varchar, types.Varbinary, types.Char, types.Binary, types.Decimal:
		return [...]string{types.Varchar: "VARCHAR", types.Varbinary: "VARBINARY", types.Char: "CHAR", types.Binary: "BINARY",
			types.Decimal: "DECIMAL"}[t.Kind]
	case types.Int:
		return "INTEGER"
	case types.Time:
		return "TIME_WITHOUT_TIME_ZONE"
	case types.Timestamp:
		return "TIMESTAMP_WITHOUT_TIME_ZONE"
	case types.TimestampLTZ:
		return "TIMESTAMP_WITH_LOCAL_TIME_ZONE"
	case types.IntervalMonths:
		return "INTERVAL_YEAR_MONTH"
	case types.IntervalMillis:
		return "INTERVAL_DAY_TIME"
	case types.Array:
		return "ARRAY"
	case types.Map:
		return "MAP"
	case types.Multiset:
		return "MULTISET"
	case types.Row:
		return "ROW"
	}
	return t.Name()
}
