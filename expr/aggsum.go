package expr

import (
	"math"
	"math/bits"

	"runnel/types"
)

// sumAggregates are COUNT, SUM and AVG.
func sumAggregates() []Aggregate {
	return []Aggregate{
		{Name: "COUNT", Sure: true, Doc: "COUNT(*) or COUNT(a, ...): the number of rows, or of rows where no argument is NULL.",
			Result: func([]types.Type) (types.Type, error) { return types.Of(types.BigInt).Required(), nil }, bind: bindCount},
		{Name: "SUM", Doc: "SUM(a): the sum of the values that are not NULL; NULL when there is none. Integers wrap around.",
			Result: numeric("SUM", types.SumType), bind: bindSum},
		{Name: "$SUM0", Sure: true, Doc: "SUM that is 0 when there is no value; plans use it to add up counts.",
			Result: numeric("$SUM0", func(t types.Type) types.Type { return types.SumType(t).Required() }), bind: bindSum},
		{Name: "AVG", Doc: "AVG(a): the mean of the values that are not NULL, in the type of a: integers are truncated.",
			Result: numeric("AVG", types.AvgType), bind: bindAvg},
	}
}

// numeric is the result rule of aggregates over one number.
func numeric(name string, rule func(types.Type) types.Type) func([]types.Type) (types.Type, error) {
	return func(args []types.Type) (types.Type, error) {
		if len(args) != 1 {
			return types.Type{}, aggCount(name, 1)
		}
		if !args[0].IsNumeric() {
			return types.Type{}, aggMisfit(name, args, "'"+name+"(<NUMERIC>)'")
		}
		return rule(args[0]), nil
	}
}

func aggCount(name string, want int) error {
	b := &binding{fn: &Function{}, name: name}
	return b.wrongCount(want)
}

func aggMisfit(name string, args []types.Type, forms string) error {
	b := &binding{fn: &Function{forms: forms}, name: name}
	for _, t := range args {
		b.args = append(b.args, &Col{T: t})
	}
	return b.misfit()
}

// bindCount keeps one word, the count. Without an argument every row counts.
func bindCount(b *aggBinding) (*Accumulator, error) {
	args := b.args
	counts := func(batch *types.Batch, i int32) uint64 {
		for _, a := range args {
			if batch.Cols[a].Null(i) {
				return 0
			}
		}
		return 1
	}
	count := &Accumulator{
		Slots: words(1),
		Codec: 1,
		Add: func(acc []uint64, _ Store, batch *types.Batch, i int32) error {
			acc[0] += counts(batch, i)
			return nil
		},
		Retract: func(acc []uint64, _ Store, batch *types.Batch, i int32) error {
			acc[0] -= counts(batch, i)
			return nil
		},
		Merge: func(acc []uint64, _ Store, from []uint64, _ Store) error {
			acc[0] += from[0]
			return nil
		},
		Value: func(acc []uint64, _ Store, out *types.Column) error {
			out.AppendInt(int64(acc[0]))
			return nil
		},
	}
	switch len(args) {
	case 0:
		return withRuns(count, countSteps{-1}), nil
	case 1:
		return withRuns(count, countSteps{args[0]}), nil
	}
	return count, nil
}

// bindSum keeps the count of values in word 0 and the sum behind it.
func bindSum(b *aggBinding) (*Accumulator, error) {
	t := b.types[0]
	zero := b.fn.Name == "$SUM0"
	switch {
	case t.Kind == types.Decimal:
		return sumDecimal(b.args[0], t, zero, sumValue), nil
	case t.Phys() == types.PhysFloat:
		sum := sumFloat(b.args[0], t.Kind == types.Float, func(acc []uint64, out *types.Column) {
			sumFloatSteps{zero: zero}.value(acc, out)
		})
		if t.Kind == types.Float {
			return sum, nil
		}
		return withRuns(sum, sumFloatSteps{arg: b.args[0], zero: zero}), nil
	}
	steps := sumIntSteps{arg: b.args[0], kind: t.Kind, zero: zero}
	return withRuns(sumInt(b.args[0], steps.value), steps), nil
}

// bindAvg keeps what bindSum keeps.
func bindAvg(b *aggBinding) (*Accumulator, error) {
	t := b.types[0]
	single := t.Kind == types.Float
	switch {
	case t.Kind == types.Decimal:
		return sumDecimal(b.args[0], t, false, avgValue), nil
	case t.Phys() == types.PhysFloat:
		mean := sumFloat(b.args[0], false, func(acc []uint64, out *types.Column) {
			if acc[0] == 0 {
				out.AppendNull()
				return
			}
			v := math.Float64frombits(acc[1]) / float64(int64(acc[0]))
			if single {
				v = float64(float32(v))
			}
			out.AppendFloat(v)
		})
		if single {
			return mean, nil
		}
		return withRuns(mean, sumFloatSteps{arg: b.args[0], mean: true}), nil
	}
	steps := sumIntSteps{arg: b.args[0], kind: t.Kind, mean: true}
	return withRuns(sumInt(b.args[0], steps.value), steps), nil
}

// sumInt adds up modulo 2^64, which wraps right in every narrower type.
func sumInt(arg int, value func(acc []uint64, out *types.Column)) *Accumulator {
	return &Accumulator{
		Slots: words(2),
		Codec: 1,
		Add: func(acc []uint64, _ Store, b *types.Batch, i int32) error {
			if c := b.Cols[arg]; !c.Null(i) {
				acc[0]++
				acc[1] += uint64(c.Int[i])
			}
			return nil
		},
		Retract: func(acc []uint64, _ Store, b *types.Batch, i int32) error {
			if c := b.Cols[arg]; !c.Null(i) {
				acc[0]--
				acc[1] -= uint64(c.Int[i])
			}
			return nil
		},
		Merge: func(acc []uint64, _ Store, from []uint64, _ Store) error {
			acc[0] += from[0]
			acc[1] += from[1]
			return nil
		},
		Value: func(acc []uint64, _ Store, out *types.Column) error { value(acc, out); return nil },
	}
}

// sumFloat adds up in DOUBLE, or in FLOAT when single.
func sumFloat(arg int, single bool, value func(acc []uint64, out *types.Column)) *Accumulator {
	add := func(acc []uint64, v float64) {
		s := math.Float64frombits(acc[1]) + v
		if single {
			s = float64(float32(s))
		}
		acc[1] = math.Float64bits(s)
	}
	return &Accumulator{
		Slots: words(2),
		Codec: 1,
		Add: func(acc []uint64, _ Store, b *types.Batch, i int32) error {
			if c := b.Cols[arg]; !c.Null(i) {
				acc[0]++
				add(acc, c.Flt[i])
			}
			return nil
		},
		Retract: func(acc []uint64, _ Store, b *types.Batch, i int32) error {
			if c := b.Cols[arg]; !c.Null(i) {
				acc[0]--
				add(acc, -c.Flt[i])
			}
			return nil
		},
		Merge: func(acc []uint64, _ Store, from []uint64, _ Store) error {
			acc[0] += from[0]
			add(acc, math.Float64frombits(from[1]))
			return nil
		},
		Value: func(acc []uint64, _ Store, out *types.Column) error { value(acc, out); return nil },
	}
}

// sumDecimal adds up in 192 bits, so that order does not matter and a sum that no longer fits DECIMAL(38, s) comes back
// when values are taken back. Words: count, the words of the sum from the highest.
func sumDecimal(arg int, t types.Type, zero bool, value func(acc []uint64, s int, zero bool, out *types.Column)) *Accumulator {
	s := t.Scale
	add := func(acc []uint64, high uint64, v types.Int128) {
		var carry uint64
		acc[3], carry = bits.Add64(acc[3], v.Lo, 0)
		acc[2], carry = bits.Add64(acc[2], uint64(v.Hi), carry)
		acc[1], _ = bits.Add64(acc[1], high, carry)
	}
	addOne := func(acc []uint64, v types.Int128) { add(acc, uint64(v.Hi>>63), v) }
	return &Accumulator{
		Slots: words(4),
		Codec: 2,
		Add: func(acc []uint64, _ Store, b *types.Batch, i int32) error {
			if c := b.Cols[arg]; !c.Null(i) {
				acc[0]++
				addOne(acc, wideAt(c, i))
			}
			return nil
		},
		Retract: func(acc []uint64, _ Store, b *types.Batch, i int32) error {
			if c := b.Cols[arg]; !c.Null(i) {
				acc[0]--
				addOne(acc, wideAt(c, i).Neg())
			}
			return nil
		},
		Merge: func(acc []uint64, _ Store, from []uint64, _ Store) error {
			acc[0] += from[0]
			add(acc, from[1], types.Int128{Hi: int64(from[2]), Lo: from[3]})
			return nil
		},
		Value: func(acc []uint64, _ Store, out *types.Column) error { value(acc, s, zero, out); return nil },
	}
}

// wideSum gives the sum of sumDecimal; false when it does not fit 38 digits.
func wideSum(acc []uint64) (types.Int128, bool) {
	v := types.Int128{Hi: int64(acc[2]), Lo: acc[3]}
	return v, acc[1] == uint64(v.Hi>>63) && v.Fits(types.MaxDecimal)
}

func sumValue(acc []uint64, _ int, zero bool, out *types.Column) {
	v, ok := wideSum(acc)
	if acc[0] == 0 && !zero || !ok {
		out.AppendNull()
		return
	}
	out.AppendWide(v)
}

func avgValue(acc []uint64, s int, _ bool, out *types.Column) {
	sum, ok := wideSum(acc)
	if acc[0] == 0 || !ok {
		out.AppendNull()
		return
	}
	v, ok := types.DecimalDiv(sum, s, types.Int128Of(int64(acc[0])), 0, max(s, 6), types.MaxDecimal)
	if !ok {
		out.AppendNull()
		return
	}
	out.AppendWide(v)
}
