package expr

import (
	"math"

	"runnel/types"
)

// varianceAggregates are the variances and standard deviations. As in Flink they are computed from the sums of the values
// and of their squares in the arithmetic of the argument's type: over integers everything is truncated and may wrap.
func varianceAggregates() []Aggregate {
	row := func(name, doc string, sample, root bool, aliases ...string) Aggregate {
		of := types.AvgType
		if sample {
			of = func(t types.Type) types.Type { return types.AvgType(t).Optional() }
		}
		return Aggregate{Name: name, Aliases: aliases, Doc: name + "(a): " + doc + ", in the type of a.",
			Result: numeric(name, of),
			bind:   func(b *aggBinding) (*Accumulator, error) { return bindVariance(b, sample, root), nil }}
	}
	return []Aggregate{
		row("VAR_POP", "the variance of all values", false, false),
		row("VAR_SAMP", "the variance of a sample; NULL for a single value", true, false, "VARIANCE"),
		row("STDDEV_POP", "the standard deviation of all values", false, true),
		row("STDDEV_SAMP", "the standard deviation of a sample; NULL for a single value", true, true, "STDDEV"),
	}
}

func bindVariance(b *aggBinding, sample, root bool) *Accumulator {
	t := b.types[0]
	switch {
	case t.Kind == types.Decimal:
		return varianceDecimal(b.args[0], t, sample, root)
	case t.Phys() == types.PhysFloat:
		return varianceFloat(b.args[0], t.Kind == types.Float, sample, root)
	}
	return varianceInt(b.args[0], t.Kind, sample, root)
}

// divisor gives what the squared differences are divided by; false when the result is NULL.
func divisor(count uint64, sample bool) (int64, bool) {
	n := int64(count)
	if sample {
		n--
	}
	return n, n > 0
}

// varianceInt keeps count, sum and sum of squares.
func varianceInt(arg int, kind types.Kind, sample, root bool) *Accumulator {
	change := func(acc []uint64, b *types.Batch, i int32, by int64) {
		if c := b.Cols[arg]; !c.Null(i) {
			v := c.Int[i]
			acc[0] += uint64(by)
			acc[1] = uint64(wrap(kind, int64(acc[1])+by*v))
			acc[2] = uint64(wrap(kind, int64(acc[2])+by*wrap(kind, v*v)))
		}
	}
	a := variance(3, func(acc, from []uint64) {
		acc[0] += from[0]
		acc[1] = uint64(wrap(kind, int64(acc[1]+from[1])))
		acc[2] = uint64(wrap(kind, int64(acc[2]+from[2])))
	}, change)
	a.Value = func(acc []uint64, _ Store, out *types.Column) error {
		n, ok := divisor(acc[0], sample)
		if !ok {
			out.AppendNull()
			return nil
		}
		sum := int64(acc[1])
		v := (int64(acc[2]) - wrap(kind, sum*sum)/int64(acc[0])) / n
		if root {
			v = floatToInt(javaSqrt(float64(v)), kind)
		}
		out.AppendInt(wrap(kind, v))
		return nil
	}
	return a
}

// variance makes the parts that all three kinds share.
func variance(n int, merge func(acc, from []uint64), change func(acc []uint64, b *types.Batch, i int32, by int64)) *Accumulator {
	return &Accumulator{
		Slots: words(n),
		Codec: 1,
		Add: func(acc []uint64, _ Store, b *types.Batch, i int32) error {
			change(acc, b, i, 1)
			return nil
		},
		Retract: func(acc []uint64, _ Store, b *types.Batch, i int32) error {
			change(acc, b, i, -1)
			return nil
		},
		Merge: func(acc []uint64, _ Store, from []uint64, _ Store) error {
			merge(acc, from)
			return nil
		},
	}
}

// varianceFloat keeps count, sum and sum of squares.
func varianceFloat(arg int, single, sample, root bool) *Accumulator {
	round := func(f float64) float64 {
		if single {
			return float64(float32(f))
		}
		return f
	}
	add := func(w uint64, v float64) uint64 { return math.Float64bits(round(math.Float64frombits(w) + v)) }
	a := variance(3, func(acc, from []uint64) {
		acc[0] += from[0]
		acc[1] = add(acc[1], math.Float64frombits(from[1]))
		acc[2] = add(acc[2], math.Float64frombits(from[2]))
	}, func(acc []uint64, b *types.Batch, i int32, by int64) {
		if c := b.Cols[arg]; !c.Null(i) {
			v := c.Flt[i]
			acc[0] += uint64(by)
			acc[1] = add(acc[1], float64(by)*v)
			acc[2] = add(acc[2], float64(by)*round(v*v))
		}
	})
	a.Value = func(acc []uint64, _ Store, out *types.Column) error {
		n, ok := divisor(acc[0], sample)
		if !ok {
			out.AppendNull()
			return nil
		}
		sum, squares := math.Float64frombits(acc[1]), math.Float64frombits(acc[2])
		v := round(round(squares-round(round(sum*sum)/float64(acc[0]))) / float64(n))
		if root {
			v = round(javaSqrt(v))
		}
		out.AppendFloat(v)
		return nil
	}
	return a
}

// varianceDecimal keeps count, a flag for an overflow, sum and sum of squares. The types of the steps are those of the
// decimal operators.
func varianceDecimal(arg int, t types.Type, sample, root bool) *Accumulator {
	x := types.AvgType(t)
	square := types.MulType(x, x)
	ratio := types.DivType(square, types.Of(types.BigInt))
	diff := types.AddType(square, ratio)
	final := types.DivType(diff, types.Of(types.BigInt))
	add := func(acc []uint64, at int, v types.Int128, ok bool, scale int) {
		r, fits := types.DecimalAdd(types.Int128{Hi: int64(acc[at]), Lo: acc[at+1]}, scale, v, scale, scale, types.MaxDecimal)
		if !ok || !fits {
			acc[1] = 1
			return
		}
		acc[at], acc[at+1] = uint64(r.Hi), r.Lo
	}
	a := variance(6, func(acc, from []uint64) {
		acc[0] += from[0]
		acc[1] |= from[1]
		add(acc, 2, types.Int128{Hi: int64(from[2]), Lo: from[3]}, true, x.Scale)
		add(acc, 4, types.Int128{Hi: int64(from[4]), Lo: from[5]}, true, square.Scale)
	}, func(acc []uint64, b *types.Batch, i int32, by int64) {
		c := b.Cols[arg]
		if c.Null(i) {
			return
		}
		acc[0] += uint64(by)
		v, ok := wideAt(c, i).Rescale(t.Scale, x.Scale, x.Precision)
		sq, ok2 := types.DecimalMul(v, v, 2*x.Scale-square.Scale, square.Precision)
		if by < 0 {
			v, sq = v.Neg(), sq.Neg()
		}
		add(acc, 2, v, ok, x.Scale)
		add(acc, 4, sq, ok && ok2, square.Scale)
	})
	a.Value = func(acc []uint64, _ Store, out *types.Column) error {
		n, ok := divisor(acc[0], sample)
		if !ok || acc[1] != 0 {
			out.AppendNull()
			return nil
		}
		sum := types.Int128{Hi: int64(acc[2]), Lo: acc[3]}
		sums, ok1 := types.DecimalMul(sum, sum, 2*x.Scale-square.Scale, square.Precision)
		mean, ok2 := types.DecimalDiv(sums, square.Scale, types.Int128Of(int64(acc[0])), 0, ratio.Scale, ratio.Precision)
		d, ok3 := types.DecimalSub(types.Int128{Hi: int64(acc[4]), Lo: acc[5]}, square.Scale, mean, ratio.Scale, diff.Scale, diff.Precision)
		v, ok4 := types.DecimalDiv(d, diff.Scale, types.Int128Of(n), 0, final.Scale, final.Precision)
		if root && ok4 {
			v, ok4 = types.DecimalOfFloat(javaSqrt(types.DecimalToFloat(v, final.Precision, final.Scale)), x.Precision, x.Scale)
		} else if ok4 {
			v, ok4 = v.Rescale(final.Scale, x.Scale, x.Precision)
		}
		if !ok1 || !ok2 || !ok3 || !ok4 {
			out.AppendNull()
			return nil
		}
		out.AppendWide(v)
		return nil
	}
	return a
}
