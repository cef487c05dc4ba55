package javamath

import (
	"math"
	"math/bits"
)

// pi/2 in parts that a count of 23 bits multiplies exactly, but for the last one.
const (
	quarter1 = 1.570796325802803
	quarter2 = 9.920935791635221e-10
	quarter3 = 5.17018297889025e-19
	quarter4 = 2.9038559739793605e-28
)

var halfPi = double2{1.5707963267948966, 6.123233995736766e-17}

// reduce gives the angle that is left of a finite x without quarters of a turn, and how many they are modulo 4.
func reduce(x float64) (double2, int) {
	if math.Abs(x) > 1<<22 {
		return reduceLarge(x)
	}
	k := math.RoundToEven(x * (2 / math.Pi))
	if k == 0 {
		return double2{x, 0}, 0
	}
	r := twoSum(x-k*quarter1, -k*quarter2).plus(twoSum(-k*quarter3, -k*quarter4))
	return r, int(k) & 3
}

// reduceLarge multiplies with 2/pi exactly enough: only the digits of the product around the point are computed.
func reduceLarge(x float64) (double2, int) {
	b := math.Float64bits(math.Abs(x))
	mantissa := b&(1<<52-1) | 1<<52
	exp := int(b>>52) - 1075 // |x| is mantissa * 2^exp
	// The first digits of 2/pi give multiples of 4 and are left out.
	first := max(exp-2, 0)
	word, shift := first/64, uint(first%64)
	var digit [4]uint64
	for i := range digit {
		digit[i] = twoOverPi[word+i] << shift
		if shift > 0 {
			digit[i] |= twoOverPi[word+i+1] >> (64 - shift)
		}
	}
	var product [4]uint64
	carry := uint64(0)
	for i := 3; i >= 0; i-- {
		hi, lo := bits.Mul64(mantissa, digit[i])
		var c uint64
		product[i], c = bits.Add64(lo, carry, 0)
		carry = hi + c
	}
	// The point comes to stand behind the second bit.
	if back := uint(2 - exp + first); back > 0 {
		for i := 3; i > 0; i-- {
			product[i] = product[i]>>back | product[i-1]<<(64-back)
		}
		product[0] = product[0]>>back | carry<<(64-back)
	}
	quarters := int(product[0] >> 62)
	var fraction [3]uint64
	for i := range fraction {
		fraction[i] = product[i]<<2 | product[i+1]>>62
	}
	over := fraction[0]>>63 != 0
	if over { // the next quarter is nearer
		quarters++
		for i := range fraction {
			fraction[i] = ^fraction[i]
		}
	}
	part := func(digits uint64, exp int) float64 { return math.Ldexp(float64(digits), exp) }
	r := twoSum(part(fraction[0]>>11, -53), part(fraction[0]&(1<<11-1)<<42|fraction[1]>>22, -106)).
		plusSmall(part(fraction[1]&(1<<22-1)<<31|fraction[2]>>33, -159)).times(halfPi)
	if over != (x < 0) {
		r = r.negative()
	}
	if x < 0 {
		quarters = -quarters
	}
	return r, quarters & 3
}

// sinCos gives sine and cosine of an angle of at most a bit more than an eighth of a turn.
func sinCos(r double2) (sin, cos double2) {
	flip := r.hi < 0
	if flip {
		r = r.negative()
	}
	j := int(r.hi*64 + 0.5)
	d := r.plusSmall(float64(-j) / 64)
	s, c := sines[j], cosines[j]
	h := d.hi
	square := twoProduct(h, h)
	half := double2{square.hi / 2, square.lo/2 + h*d.lo} // 1 - cos(d), but for what follows
	q := square.hi
	sinTail := h * q * (-1./6 + q*(1./120-q*(1./5040)))
	cosTail := q * q * (1./24 - q*(1./720))
	sin = s.plus(c.times(d)).plus(s.times(half).negative()).plusSmall(c.hi*sinTail + s.hi*cosTail)
	cos = c.plus(s.times(d).negative()).plus(c.times(half).negative()).plusSmall(c.hi*cosTail - s.hi*sinTail)
	if flip {
		sin = sin.negative()
	}
	return sin, cos
}

// turn gives sine and cosine of any finite angle.
func turn(x float64) (sin, cos double2) {
	r, quarters := reduce(x)
	sin, cos = sinCos(r)
	switch quarters {
	case 1:
		sin, cos = cos, sin.negative()
	case 2:
		sin, cos = sin.negative(), cos.negative()
	case 3:
		sin, cos = cos.negative(), sin
	}
	return sin, cos
}

// tiny is where the terms behind the first one do not count.
func tiny(x float64) bool { return math.Abs(x) < 1./(1<<27) }

// Sin is the sine of an angle in radians.
func Sin(x float64) float64 {
	if tiny(x) || math.IsNaN(x) {
		return x
	}
	if math.IsInf(x, 0) {
		return math.NaN()
	}
	s, _ := turn(x)
	return s.hi + s.lo
}

// Cos is the cosine of an angle in radians.
func Cos(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return math.NaN()
	}
	_, c := turn(x)
	return c.hi + c.lo
}

// Tan is the tangent of an angle in radians.
func Tan(x float64) float64 {
	if tiny(x) || math.IsNaN(x) {
		return x
	}
	if math.IsInf(x, 0) {
		return math.NaN()
	}
	s, c := turn(x)
	t := s.over(c)
	return t.hi + t.lo
}
