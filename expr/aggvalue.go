package expr

import (
	"errors"
	"math"

	"runnel/types"
)

// valueAggregates give one of the values.
func valueAggregates() []Aggregate {
	any1 := func(name string) func([]types.Type) (types.Type, error) {
		return func(args []types.Type) (types.Type, error) {
			if len(args) != 1 {
				return types.Type{}, aggCount(name, 1)
			}
			if args[0].Kind == types.Null {
				return types.Type{}, &TypeError{Msg: "Illegal use of 'NULL'"}
			}
			return args[0].Plain(), nil
		}
	}
	return []Aggregate{
		{Name: "FIRST_VALUE", Doc: "FIRST_VALUE(a): the first value that is not NULL, in the order of arrival.",
			Result: any1("FIRST_VALUE"), bind: func(b *aggBinding) (*Accumulator, error) { return bindEnd(b, true), nil }},
		{Name: "LAST_VALUE", Doc: "LAST_VALUE(a): the last value that is not NULL, in the order of arrival.",
			Result: any1("LAST_VALUE"), bind: func(b *aggBinding) (*Accumulator, error) { return bindEnd(b, false), nil }},
		{Name: "SINGLE_VALUE", Doc: "SINGLE_VALUE(a): the one value; more than one row is an error. Plans use it for scalar subqueries.",
			Result: any1("SINGLE_VALUE"), bind: func(b *aggBinding) (*Accumulator, error) { return bindSingle(b), nil }},
	}
}

func bindEnd(b *aggBinding, first bool) *Accumulator {
	if b.retract {
		return endOfAll(b.args[0], b.types[0], first)
	}
	arg, k := b.args[0], keeperOf(b.types[0])
	return &Accumulator{
		Slots: append([]Slot{{}}, k.slots...),
		Codec: 1,
		Add: func(acc []uint64, st Store, b *types.Batch, i int32) error {
			if c := b.Cols[arg]; !c.Null(i) && (!first || acc[0] == 0) {
				acc[0] = 1
				k.put(acc, st, c, i)
			}
			return nil
		},
		Merge: func(acc []uint64, st Store, from []uint64, fromStore Store) error {
			if from[0] != 0 && (!first || acc[0] == 0) {
				acc[0] = 1
				k.copy(acc, st, from, fromStore)
			}
			return nil
		},
		Value: func(acc []uint64, st Store, out *types.Column) error {
			if acc[0] == 0 {
				out.AppendNull()
				return nil
			}
			return k.get(acc, st, out)
		},
	}
}

// keeper keeps one value in the slots from 1 on; slot 0 is its user's.
type keeper struct {
	slots []Slot
	put   func(acc []uint64, st Store, c *types.Column, i int32)
	copy  func(acc []uint64, st Store, from []uint64, fromStore Store)
	get   func(acc []uint64, st Store, out *types.Column) error
}

func keeperOf(t types.Type) keeper {
	switch t.Phys() {
	case types.PhysInt:
		return keeper{words(1),
			func(acc []uint64, _ Store, c *types.Column, i int32) { acc[1] = uint64(c.Int[i]) },
			copyWords,
			func(acc []uint64, _ Store, out *types.Column) error { out.AppendInt(int64(acc[1])); return nil }}
	case types.PhysFloat:
		return keeper{words(1),
			func(acc []uint64, _ Store, c *types.Column, i int32) { acc[1] = math.Float64bits(c.Flt[i]) },
			copyWords,
			func(acc []uint64, _ Store, out *types.Column) error {
				out.AppendFloat(math.Float64frombits(acc[1]))
				return nil
			}}
	case types.PhysWide:
		return keeper{words(2),
			func(acc []uint64, _ Store, c *types.Column, i int32) {
				acc[1], acc[2] = uint64(c.Wide[i].Hi), c.Wide[i].Lo
			},
			copyWords,
			func(acc []uint64, _ Store, out *types.Column) error {
				out.AppendWide(types.Int128{Hi: int64(acc[1]), Lo: acc[2]})
				return nil
			}}
	}
	return bytesKeeper(t)
}

func copyWords(acc []uint64, _ Store, from []uint64, _ Store) { copy(acc[1:], from[1:]) }

// bytesKeeper keeps text as it is and nested values encoded.
func bytesKeeper(t types.Type) keeper {
	var arena types.Arena
	var buf []byte
	k := keeper{slots: []Slot{{Kind: BytesSlot}}, copy: func(_ []uint64, st Store, _ []uint64, fromStore Store) {
		s, _ := fromStore.Bytes(1)
		st.PutBytes(1, s)
	}}
	if t.Phys() == types.PhysStr {
		k.put = func(_ []uint64, st Store, c *types.Column, i int32) { st.PutBytes(1, c.Str[i]) }
		k.get = func(_ []uint64, st Store, out *types.Column) error {
			s, _ := st.Bytes(1)
			out.AppendStr(arena.Take(append(arena.Buf(), s...)))
			return nil
		}
		return k
	}
	k.put = func(_ []uint64, st Store, c *types.Column, i int32) {
		buf = types.AppendDatum(buf[:0], t, c.At(i))
		st.PutBytes(1, string(buf))
	}
	k.get = func(_ []uint64, st Store, out *types.Column) error {
		s, _ := st.Bytes(1)
		d, _, err := types.DecodeDatum([]byte(s), t)
		if err == nil {
			out.Append(d)
		}
		return err
	}
	return k
}

// endOfAll keeps all values in the order of arrival; taking one back removes the oldest of its equals.
func endOfAll(arg int, t types.Type, first bool) *Accumulator {
	code := newWordCode(t)
	step := Elems.Prev
	if first {
		step = Elems.Next
	}
	return &Accumulator{
		Slots: []Slot{{Kind: ListSlot}},
		Codec: 1,
		Add: func(_ []uint64, st Store, b *types.Batch, i int32) error {
			if c := b.Cols[arg]; !c.Null(i) {
				st.Elems(0).Add(code.encode(c, i))
			}
			return nil
		},
		Retract: func(_ []uint64, st Store, b *types.Batch, i int32) error {
			if c := b.Cols[arg]; !c.Null(i) {
				removeFirst(st.Elems(0), code.encode(c, i))
			}
			return nil
		},
		Merge: mergeLists(0),
		Value: func(_ []uint64, st Store, out *types.Column) error {
			list := st.Elems(0)
			e := step(list, 0)
			if e == 0 {
				out.AppendNull()
				return nil
			}
			return code.decode(list.Words(e), out)
		},
	}
}

// removeFirst takes the first element with these words out of a list; one that is not there is not missed.
func removeFirst(list Elems, words []uint64) {
	if e := list.Find(words); e != 0 {
		list.Remove(e)
	}
}

// mergeLists appends the other list.
func mergeLists(slot int) func([]uint64, Store, []uint64, Store) error {
	return func(_ []uint64, st Store, _ []uint64, fromStore Store) error {
		list, from := st.Elems(slot), fromStore.Elems(slot)
		for e := from.Next(0); e != 0; e = from.Next(e) {
			list.Add(from.Words(e))
		}
		return nil
	}
}

var errSingle = errors.New("SingleValueAggFunction received more than one element.")

// bindSingle keeps the number of rows, which may be above one for a moment: an update takes the old row back first or
// last. Slot 1 tells whether the value is NULL, the keeper's slots follow.
func bindSingle(b *aggBinding) *Accumulator {
	arg, k := b.args[0], keeperOf(b.types[0])
	count := len(k.slots) + 1
	return &Accumulator{
		Slots: append(append([]Slot{{}}, k.slots...), Slot{}),
		Codec: 1,
		Add: func(acc []uint64, st Store, b *types.Batch, i int32) error {
			if acc[count]++; int64(acc[count]) > 1 {
				return errSingle
			}
			acc[0] = 0
			if c := b.Cols[arg]; !c.Null(i) {
				acc[0] = 1
				k.put(acc, st, c, i)
			}
			return nil
		},
		Retract: func(acc []uint64, _ Store, _ *types.Batch, _ int32) error {
			acc[count]--
			acc[0] = 0
			return nil
		},
		Merge: func(acc []uint64, st Store, from []uint64, fromStore Store) error {
			if acc[count] += from[count]; int64(acc[count]) > 1 {
				return errSingle
			}
			if from[0] != 0 {
				acc[0] = 1
				k.copy(acc, st, from, fromStore)
			}
			return nil
		},
		Value: func(acc []uint64, st Store, out *types.Column) error {
			if acc[0] == 0 {
				out.AppendNull()
				return nil
			}
			return k.get(acc, st, out)
		},
	}
}
