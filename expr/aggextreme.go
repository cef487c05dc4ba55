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
			return types.Type{}, &TypeError{Msg: word + " aggregate function does not support type: ''" + strings.SplitN(t.Name(), "<", 2)[0] +
				"''.\nPlease re-check the data type."}
		}
		return t.Plain().Optional(), nil
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
	return extremeInt(b.args[0], sign)
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
		Words: 2,
		Codec: 1,
		Add: func(acc []uint64, _ Heap, b *types.Batch, i int32) error {
			if c := b.Cols[arg]; !c.Null(i) {
				offer(acc, c.Int[i])
			}
			return nil
		},
		Merge: func(acc []uint64, _ Heap, from []uint64, _ Heap) error {
			if from[0] != 0 {
				offer(acc, int64(from[1]))
			}
			return nil
		},
		Value: func(acc []uint64, _ Heap, out *types.Column) error {
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
		Words: 2,
		Codec: 1,
		Add: func(acc []uint64, _ Heap, b *types.Batch, i int32) error {
			if c := b.Cols[arg]; !c.Null(i) {
				offer(acc, c.Flt[i])
			}
			return nil
		},
		Merge: func(acc []uint64, _ Heap, from []uint64, _ Heap) error {
			if from[0] != 0 {
				offer(acc, math.Float64frombits(from[1]))
			}
			return nil
		},
		Value: func(acc []uint64, _ Heap, out *types.Column) error {
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
		Words: 3,
		Codec: 1,
		Add: func(acc []uint64, _ Heap, b *types.Batch, i int32) error {
			if c := b.Cols[arg]; !c.Null(i) {
				offer(acc, c.Wide[i])
			}
			return nil
		},
		Merge: func(acc []uint64, _ Heap, from []uint64, _ Heap) error {
			if from[0] != 0 {
				offer(acc, types.Int128{Hi: int64(from[1]), Lo: from[2]})
			}
			return nil
		},
		Value: func(acc []uint64, _ Heap, out *types.Column) error {
			if acc[0] == 0 {
				out.AppendNull()
			} else {
				out.AppendWide(types.Int128{Hi: int64(acc[1]), Lo: acc[2]})
			}
			return nil
		},
	}
}

// extremeText keeps a reference to the best text so far.
func extremeText(arg, sign int) *Accumulator {
	var arena types.Arena
	var buf []byte
	offer := func(acc []uint64, h Heap, s string) {
		if acc[0] == 0 || compareText(h, acc[0], s)*sign < 0 {
			acc[0] = setText(h, acc[0], s)
		}
	}
	return &Accumulator{
		Words:  1,
		Codec:  1,
		Blocks: true,
		Add: func(acc []uint64, h Heap, b *types.Batch, i int32) error {
			if c := b.Cols[arg]; !c.Null(i) {
				offer(acc, h, c.Str[i])
			}
			return nil
		},
		Merge: func(acc []uint64, h Heap, from []uint64, fh Heap) error {
			if from[0] != 0 {
				buf = appendText(buf[:0], fh, from[0])
				offer(acc, h, string(buf))
			}
			return nil
		},
		Value: func(acc []uint64, h Heap, out *types.Column) error {
			if acc[0] == 0 {
				out.AppendNull()
				return nil
			}
			out.AppendStr(arena.Take(appendText(arena.Buf(), h, acc[0])))
			return nil
		},
		Free: func(acc []uint64, h Heap) { freeText(h, acc[0]) },
	}
}

// extremeOfAll keeps a bag of all values, so that the best one left is known when one is taken back.
func extremeOfAll(arg int, t types.Type, sign int) *Accumulator {
	side := nodeRight
	if sign < 0 {
		side = nodeLeft
	}
	var key []byte
	change := func(acc []uint64, h Heap, b *types.Batch, i int32, delta int64) error {
		if c := b.Cols[arg]; !c.Null(i) {
			key = appendSortable(key[:0], t, c.At(i))
			bagAdd(h, &acc[0], key, delta)
		}
		return nil
	}
	return &Accumulator{
		Words:  1,
		Codec:  1,
		Blocks: true,
		Add: func(acc []uint64, h Heap, b *types.Batch, i int32) error {
			return change(acc, h, b, i, 1)
		},
		Retract: func(acc []uint64, h Heap, b *types.Batch, i int32) error {
			return change(acc, h, b, i, -1)
		},
		Merge: func(acc []uint64, h Heap, from []uint64, fh Heap) error {
			return bagWalk(fh, from[0], func(ref uint64) error {
				key = appendKey(key[:0], fh, ref)
				bagAdd(h, &acc[0], key, int64(child(fh, ref, nodeCount)))
				return nil
			})
		},
		Value: func(acc []uint64, h Heap, out *types.Column) error {
			ref := bagEnd(h, acc[0], side)
			if ref == 0 {
				out.AppendNull()
				return nil
			}
			key = appendKey(key[:0], h, ref)
			d, err := decodeSortable(key, t)
			if err != nil {
				return err
			}
			out.Append(d)
			return nil
		},
		Free: func(acc []uint64, h Heap) { bagFree(h, acc[0]) },
	}
}
