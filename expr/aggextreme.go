package expr

import (
	"math"
	"strings"

	"runnel/types"
)

// extremeAggregates are MIN and MAX.
func extremeAggregates() []Aggregate {
	return []Aggregate{
		{Name: "MIN", Doc: "MIN(a): the smallest value that is not NULL; NULL when there is none.",
			Result: ordered("MIN"), bind: func(b *aggBinding) (*Accumulator, error) { return bindExtremeAgg(b, -1), nil }},
		{Name: "MAX", Doc: "MAX(a): the greatest value that is not NULL; NULL when there is none.",
			Result: ordered("MAX"), bind: func(b *aggBinding) (*Accumulator, error) { return bindExtremeAgg(b, 1), nil }},
	}
}

// ordered is the result rule of MIN and MAX.
func ordered(name string) func([]types.Type) (types.Type, error) {
	return func(args []types.Type) (types.Type, error) {
		if len(args) != 1 {
			return types.Type{}, aggCount(name, 1)
		}
		t := args[0]
		if !t.IsNumeric() && !t.IsString() && !t.IsTemporal() && t.Kind != types.Boolean {
			word := strings.ToUpper(name[:1]) + strings.ToLower(name[1:])
			return types.Type{}, &TypeError{Msg: word + " aggregate function does not support type: ''" + rootName(t) +
				"''.\nPlease re-check the data type."}
		}
		return t.Plain(), nil
	}
}

// bindExtremeAgg keeps the best value so far, or, when rows may be taken back, all values.
func bindExtremeAgg(b *aggBinding, sign int) *Accumulator {
	t := b.types[0]
	if b.retract {
		return extremeOfAll(b.args[0], t, sign)
	}
	switch t.Phys() {
	case types.PhysFloat:
		return extremeFloat(b.args[0], sign)
	case types.PhysWide:
		return extremeWide(b.args[0], sign)
	case types.PhysStr:
		return extremeText(b.args[0], sign)
	}
	return withRuns(extremeInt(b.args[0], sign), extremeIntSteps{b.args[0], sign})
}

// extremeInt keeps a flag that there is a value, and the value.
func extremeInt(arg, sign int) *Accumulator {
	s := int64(sign)
	offer := func(acc []uint64, v int64) {
		if acc[0] == 0 || s > 0 && v > int64(acc[1]) || s < 0 && v < int64(acc[1]) {
			acc[0], acc[1] = 1, uint64(v)
		}
	}
	return &Accumulator{
		Slots: words(2),
		Codec: 1,
		Add: func(acc []uint64, _ Store, b *types.Batch, i int32) error {
			if c := b.Cols[arg]; !c.Null(i) {
				offer(acc, c.Int[i])
			}
			return nil
		},
		Merge: func(acc []uint64, _ Store, from []uint64, _ Store) error {
			if from[0] != 0 {
				offer(acc, int64(from[1]))
			}
			return nil
		},
		Value: func(acc []uint64, _ Store, out *types.Column) error {
			if acc[0] == 0 {
				out.AppendNull()
			} else {
				out.AppendInt(int64(acc[1]))
			}
			return nil
		},
	}
}

// extremeFloat is extremeInt for FLOAT and DOUBLE. A later NaN never replaces a value, as in Flink.
func extremeFloat(arg, sign int) *Accumulator {
	s := float64(sign)
	offer := func(acc []uint64, v float64) {
		if acc[0] == 0 || v*s > math.Float64frombits(acc[1])*s {
			acc[0], acc[1] = 1, math.Float64bits(v)
		}
	}
	return &Accumulator{
		Slots: words(2),
		Codec: 1,
		Add: func(acc []uint64, _ Store, b *types.Batch, i int32) error {
			if c := b.Cols[arg]; !c.Null(i) {
				offer(acc, c.Flt[i])
			}
			return nil
		},
		Merge: func(acc []uint64, _ Store, from []uint64, _ Store) error {
			if from[0] != 0 {
				offer(acc, math.Float64frombits(from[1]))
			}
			return nil
		},
		Value: func(acc []uint64, _ Store, out *types.Column) error {
			if acc[0] == 0 {
				out.AppendNull()
			} else {
				out.AppendFloat(math.Float64frombits(acc[1]))
			}
			return nil
		},
	}
}

// extremeWide is extremeInt for two-word values.
func extremeWide(arg, sign int) *Accumulator {
	offer := func(acc []uint64, v types.Int128) {
		if acc[0] == 0 || v.Cmp(types.Int128{Hi: int64(acc[1]), Lo: acc[2]})*sign > 0 {
			acc[0], acc[1], acc[2] = 1, uint64(v.Hi), v.Lo
		}
	}
	return &Accumulator{
		Slots: words(3),
		Codec: 1,
		Add: func(acc []uint64, _ Store, b *types.Batch, i int32) error {
			if c := b.Cols[arg]; !c.Null(i) {
				offer(acc, c.Wide[i])
			}
			return nil
		},
		Merge: func(acc []uint64, _ Store, from []uint64, _ Store) error {
			if from[0] != 0 {
				offer(acc, types.Int128{Hi: int64(from[1]), Lo: from[2]})
			}
			return nil
		},
		Value: func(acc []uint64, _ Store, out *types.Column) error {
			if acc[0] == 0 {
				out.AppendNull()
			} else {
				out.AppendWide(types.Int128{Hi: int64(acc[1]), Lo: acc[2]})
			}
			return nil
		},
	}
}

// extremeText keeps a flag that there is a value, and the value.
func extremeText(arg, sign int) *Accumulator {
	var arena types.Arena
	var given string // last: the next row often has the same
	offer := func(acc []uint64, st Store, s string) {
		if acc[0] != 0 {
			if best, _ := st.Bytes(1); strings.Compare(s, best)*sign <= 0 {
				return
			}
		}
		acc[0] = 1
		st.PutBytes(1, s)
	}
	return &Accumulator{
		Slots: []Slot{{}, {Kind: BytesSlot}},
		Codec: 1,
		Add: func(acc []uint64, st Store, b *types.Batch, i int32) error {
			if c := b.Cols[arg]; !c.Null(i) {
				offer(acc, st, c.Str[i])
			}
			return nil
		},
		Merge: func(acc []uint64, st Store, from []uint64, fromStore Store) error {
			if from[0] != 0 {
				s, _ := fromStore.Bytes(1)
				offer(acc, st, s)
			}
			return nil
		},
		Value: func(acc []uint64, st Store, out *types.Column) error {
			if acc[0] == 0 {
				out.AppendNull()
				return nil
			}
			if s, _ := st.Bytes(1); s != given {
				given = arena.Take(append(arena.Buf(), s...))
			}
			out.AppendStr(given)
			return nil
		},
	}
}

// extremeOfAll keeps all values with their counts, so that the best one left is known when one is taken back. A count
// may be negative: an out-of-order changelog takes a value back before it brings it.
func extremeOfAll(arg int, t types.Type, sign int) *Accumulator {
	code := newWordCode(t)
	count := func(set Elems, key []uint64, delta int64) {
		e, _ := set.Add(key)
		v := set.Values(e)
		if v[0] += uint64(delta); v[0] == 0 {
			set.Remove(e)
		}
	}
	change := func(st Store, b *types.Batch, i int32, delta int64) error {
		if c := b.Cols[arg]; !c.Null(i) {
			count(st.Elems(0), code.encode(c, i), delta)
		}
		return nil
	}
	step := Elems.Next
	if sign > 0 {
		step = Elems.Prev
	}
	return &Accumulator{
		Slots: []Slot{{Kind: SortedSlot, Elem: []SlotKind{WordSlot}}},
		Codec: 1,
		Add: func(_ []uint64, st Store, b *types.Batch, i int32) error {
			return change(st, b, i, 1)
		},
		Retract: func(_ []uint64, st Store, b *types.Batch, i int32) error {
			return change(st, b, i, -1)
		},
		Merge: func(_ []uint64, st Store, _ []uint64, fromStore Store) error {
			set, from := st.Elems(0), fromStore.Elems(0)
			for e := from.Next(0); e != 0; e = from.Next(e) {
				count(set, from.Words(e), int64(from.Values(e)[0]))
			}
			return nil
		},
		Value: func(_ []uint64, st Store, out *types.Column) error {
			set := st.Elems(0)
			for e := step(set, 0); e != 0; e = step(set, e) {
				if int64(set.Values(e)[0]) > 0 {
					return code.decode(set.Words(e), out)
				}
			}
			out.AppendNull()
			return nil
		},
	}
}
