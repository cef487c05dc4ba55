package types

import "math/big"

// MaxDecimal is the greatest precision of DECIMAL.
const MaxDecimal = 38

// Pow10 is 10^n for n in 0..38.
func Pow10(n int) Int128 {
	u := wide10[n]
	return Int128{Hi: int64(u.hi), Lo: u.lo}
}

// Fits reports whether a has at most p decimal digits, p in 0..38.
func (a Int128) Fits(p int) bool {
	u, _ := a.abs()
	return u.cmp(wide10[p]) < 0
}

// FitsInt reports whether v has at most p decimal digits.
func FitsInt(v int64, p int) bool {
	u := uint64(v)
	if v < 0 {
		u = -u
	}
	return p > 19 || u < pow10[p]
}

// Rescale turns an unscaled value of scale from into one of scale to, rounding half up (away from zero), and reports
// whether the result has at most p digits. It is the one rounding rule of DECIMAL.
func (a Int128) Rescale(from, to, p int) (Int128, bool) {
	if from == to {
		return a, a.Fits(p)
	}
	u, neg := a.abs()
	if to > from {
		if to-from > MaxDecimal {
			return Int128{}, u == uint128{}
		}
		return fit(u.mul(wide10[to-from]), neg, p)
	}
	if from-to > 2*MaxDecimal {
		return Int128{}, true
	}
	return fit(u.wide().roundShift(from-to), neg, p)
}

// RescaleInt is Rescale for values and results of at most 18 digits.
func RescaleInt(v int64, from, to, p int) (int64, bool) {
	switch {
	case from == to:
	case from > to:
		if from-to > 18 {
			return 0, true
		}
		d := int64(pow10[from-to])
		q, r := v/d, v%d
		if r >= d-r {
			q++
		} else if -r >= d+r {
			q--
		}
		v = q
	default:
		r, ok := Int128Of(v).Rescale(from, to, p)
		return int64(r.Lo), ok
	}
	return v, FitsInt(v, p)
}

// fit gives w with its sign when it has at most p digits.
func fit(w uint256, neg bool, p int) (Int128, bool) {
	u := uint128{w[1], w[0]}
	if w[2]|w[3] != 0 || u.cmp(wide10[p]) >= 0 {
		return Int128{}, false
	}
	r := Int128{Hi: int64(u.hi), Lo: u.lo}
	if neg {
		r = r.Neg()
	}
	return r, true
}

// DecimalAdd is a (scale sa) + b (scale sb), exact and then rounded to scale s; false when it has more than p digits.
func DecimalAdd(a Int128, sa int, b Int128, sb, s, p int) (Int128, bool) {
	if sa == sb && s == sa {
		r, ok := a.Add(b)
		return r, ok && r.Fits(p)
	}
	au, an := a.abs()
	bu, bn := b.abs()
	m := max(sa, sb)
	aw, bw := au.mul(wide10[m-sa]), bu.mul(wide10[m-sb])
	var sum uint256
	neg := an
	switch {
	case an == bn:
		sum = aw.add(bw)
	case aw.cmp(bw) >= 0:
		sum = aw.sub(bw)
	default:
		sum, neg = bw.sub(aw), bn
	}
	if s >= m {
		for range s - m {
			sum = sum.mulWord(10)
		}
		return fit(sum, neg, p)
	}
	return fit(sum.roundShift(m-s), neg, p)
}

// DecimalSub is a - b, otherwise as DecimalAdd.
func DecimalSub(a Int128, sa int, b Int128, sb, s, p int) (Int128, bool) {
	return DecimalAdd(a, sa, b.Neg(), sb, s, p)
}

// DecimalMul is a*b, exact with a 256-bit product, then without its last drop digits, rounded half up; false when the
// result has more than p digits. drop is the scales of a and b less the scale of the result.
func DecimalMul(a, b Int128, drop, p int) (Int128, bool) {
	au, an := a.abs()
	bu, bn := b.abs()
	w := au.mul(bu)
	if drop > 0 {
		w = w.roundShift(drop)
	}
	return fit(w, an != bn, p)
}

// DecimalDiv is a (scale sa) / b (scale sb), b not 0, to 38 significant digits and then to scale s, both rounded half up
// as Flink does; false when the result has more than p digits.
func DecimalDiv(a Int128, sa int, b Int128, sb, s, p int) (Int128, bool) {
	au, an := a.abs()
	bu, bn := b.abs()
	k := s - sa + sb // the result is a*10^k / b
	num, den := au.wide(), bu.wide()
	if k >= 0 && k <= MaxDecimal {
		num = au.mul(wide10[k])
	} else if k < 0 && -k <= MaxDecimal {
		den = bu.mul(wide10[-k])
	}
	// With a numerator of 36 digits the quotient's distance from a rounding tie is at least 1/(2*den), more than what the
	// first rounding moves it: one rounding gives the same.
	if n := (uint128{num[1], num[0]}); max(k, -k) <= MaxDecimal &&
		num[2]|num[3]|den[2]|den[3] == 0 && n.cmp(wide10[36]) < 0 && int64(den[1]) >= 0 {
		d := uint128{den[1], den[0]}
		q, r := n.divmod(d)
		lo, borrow := d.lo, uint64(0)
		if lo < r.lo {
			borrow = 1
		}
		if rest := (uint128{d.hi - r.hi - borrow, d.lo - r.lo}); r.cmp(rest) >= 0 {
			q.lo++
			if q.lo == 0 {
				q.hi++
			}
		}
		return fit(q.wide(), an != bn, p)
	}
	return wideDiv(a, sa, b, sb, s, p)
}

// wideDiv is DecimalDiv by big integers.
func wideDiv(a Int128, sa int, b Int128, sb, s, p int) (Int128, bool) {
	num, den := a.Big(), b.Big()
	neg := num.Sign()*den.Sign() < 0
	num.Abs(num)
	den.Abs(den)
	if num.Sign() == 0 {
		return Int128{}, true
	}
	ten := big.NewInt(10)
	shift := func(x *big.Int, n int) {
		x.Mul(x, new(big.Int).Exp(ten, big.NewInt(int64(n)), nil))
	}
	// Scale so that the integer quotient has 38 or 39 digits, then drop one if need be.
	q := new(big.Int)
	n := MaxDecimal - (digits(num) - digits(den))
	for {
		x, y := new(big.Int).Set(num), new(big.Int).Set(den)
		if n >= 0 {
			shift(x, n)
		} else {
			shift(y, -n)
		}
		q = halfUp(x, y)
		if digits(q) <= MaxDecimal {
			break
		}
		n--
	}
	scale := n + sa - sb
	if s >= scale {
		shift(q, s-scale)
	} else {
		d := big.NewInt(1)
		shift(d, scale-s)
		q = halfUp(q, d)
	}
	if neg {
		q.Neg(q)
	}
	r, ok := Int128FromBig(q)
	return r, ok && r.Fits(p)
}

// halfUp is x/y rounded half up, for x >= 0 and y > 0.
func halfUp(x, y *big.Int) *big.Int {
	q, r := new(big.Int).QuoRem(x, y, new(big.Int))
	if r.Lsh(r, 1).Cmp(y) >= 0 {
		q.Add(q, big.NewInt(1))
	}
	return q
}

func digits(x *big.Int) int { return len(x.Text(10)) }

// DecimalMod is the remainder of a (scale sa) by b (scale sb), b not 0, with the sign of a; its scale is max(sa, sb).
// The quotient is truncated towards zero.
func DecimalMod(a Int128, sa int, b Int128, sb int) Int128 {
	au, an := a.abs()
	bu, _ := b.abs()
	m := max(sa, sb)
	aw, bw := au.mul(wide10[m-sa]), bu.mul(wide10[m-sb])
	if aw[2]|aw[3]|bw[2]|bw[3] == 0 {
		_, r := uint128{aw[1], aw[0]}.divmod(uint128{bw[1], bw[0]})
		v, _ := r.wide().signed(an)
		return v
	}
	x := a.Big()
	x.Mul(x, Pow10(m-sa).Big())
	y := b.Big()
	y.Mul(y, Pow10(m-sb).Big())
	v, _ := Int128FromBig(x.Rem(x, y)) // smaller than the one of the two that was not scaled up
	return v
}
