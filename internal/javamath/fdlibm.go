package javamath

import "math"

// The pairs are numbers in two parts; all constants are those of fdlibm.
const (
	halfPiHi, halfPiLo = 1.57079632679489655800e+00, 6.12323399573676603587e-17
	quarterPiHi        = 7.85398163397448278999e-01
	piLo               = 1.2246467991473531772e-16
	ln2Hi, ln2Lo       = 6.93147180369123816490e-01, 1.90821492927058770002e-10
	largestHyperbolic  = 710.4758600739439
)

// arcs are the coefficients of asin and acos: a rational function of the square.
func arcs(t float64) float64 {
	p := t * (1.66666666666666657415e-01 + t*(-3.25565818622400915405e-01+t*(2.01212532134862925881e-01+
		t*(-4.00555345006794114027e-02+t*(7.91534994289814532176e-04+t*3.47933107596021167570e-05)))))
	q := 1 + t*(-2.40339491173441421878e+00+t*(2.02094576023350569471e+00+
		t*(-6.88283971605453293030e-01+t*7.70381505559019352791e-02)))
	return p / q
}

// topWord gives the sign, the exponent and 20 digits of x without its sign, by which fdlibm tells ranges apart.
func topWord(x float64) uint32 { return uint32(math.Float64bits(x)>>32) & 0x7fffffff }

// topHalf is x without the lower 32 digits.
func topHalf(x float64) float64 { return math.Float64frombits(math.Float64bits(x) &^ (1<<32 - 1)) }

// Asin is the arc sine in radians.
func Asin(x float64) float64 {
	a := math.Abs(x)
	switch {
	case !(a <= 1):
		return math.NaN()
	case a == 1:
		return x*halfPiHi + x*halfPiLo
	case a < 0.5:
		if topWord(x) < 0x3e400000 {
			return x
		}
		return x + x*arcs(x*x)
	}
	t := (1 - a) * 0.5
	w := arcs(t)
	s := math.Sqrt(t)
	var r float64
	if topWord(x) >= 0x3fef3333 {
		r = halfPiHi - (2*(s+s*w) - halfPiLo)
	} else {
		h := topHalf(s)
		c := (t - h*h) / (s + h)
		p := 2*s*w - (halfPiLo - 2*c)
		q := quarterPiHi - 2*h
		r = quarterPiHi - (p - q)
	}
	return math.Copysign(r, x)
}

// Acos is the arc cosine in radians.
func Acos(x float64) float64 {
	switch {
	case !(math.Abs(x) <= 1):
		return math.NaN()
	case x == 1:
		return 0
	case x == -1:
		return math.Pi
	case math.Abs(x) < 0.5:
		if topWord(x) <= 0x3c600000 {
			return halfPiHi + halfPiLo
		}
		return halfPiHi - (x - (halfPiLo - x*arcs(x*x)))
	case x < 0:
		z := (1 + x) * 0.5
		s := math.Sqrt(z)
		w := arcs(z)*s - halfPiLo
		return math.Pi - 2*(s+w)
	}
	z := (1 - x) * 0.5
	s := math.Sqrt(z)
	h := topHalf(s)
	c := (z - h*h) / (s + h)
	return 2 * (h + (arcs(z)*s + c))
}

// arctangents are those of 0.5, 1, 1.5 and infinity.
var arctangents = [4]double2{
	{4.63647609000806093515e-01, 2.26987774529616870924e-17}, {7.85398163397448278999e-01, 3.06161699786838301793e-17},
	{9.82793723247329054082e-01, 1.39033110312309984516e-17}, {1.57079632679489655800e+00, 6.12323399573676603587e-17},
}

// Atan is the arc tangent in radians.
func Atan(x float64) float64 {
	if math.IsNaN(x) {
		return x
	}
	top, a, base := topWord(x), math.Abs(x), -1
	switch {
	case top >= 0x44100000:
		return math.Copysign(halfPiHi+halfPiLo, x)
	case top < 0x3e200000:
		return x
	case top < 0x3fdc0000:
		a = x
	case top < 0x3fe60000:
		base, a = 0, (2*a-1)/(2+a)
	case top < 0x3ff30000:
		base, a = 1, (a-1)/(a+1)
	case top < 0x40038000:
		base, a = 2, (a-1.5)/(1+1.5*a)
	default:
		base, a = 3, -1/a
	}
	z := a * a
	w := z * z
	odd := z * (3.33333333333329318027e-01 + w*(1.42857142725034663711e-01+w*(9.09088713343650656196e-02+
		w*(6.66107313738753120669e-02+w*(4.97687799461593236017e-02+w*1.62858201153657823623e-02)))))
	even := w * (-1.99999999998764832476e-01 + w*(-1.11111104054623557880e-01+w*(-7.69187620504482999495e-02+
		w*(-5.83357013379057348645e-02+w*-3.65315727442169155270e-02))))
	if base < 0 {
		return a - a*(odd+even)
	}
	r := arctangents[base].hi - ((a*(odd+even) - arctangents[base].lo) - a)
	return math.Copysign(r, x)
}

// Atan2 is the angle of the point (x, y).
func Atan2(y, x float64) float64 {
	switch {
	case math.IsNaN(x), math.IsNaN(y), y == 0, x == 0, math.IsInf(x, 0), math.IsInf(y, 0):
		return math.Atan2(y, x)
	case x == 1:
		return Atan(y)
	}
	var z float64
	switch k := (int(topWord(y)) - int(topWord(x))) >> 20; {
	case k > 60:
		z = halfPiHi + 0.5*piLo
	case x < 0 && k < -60:
		z = 0
	default:
		z = Atan(math.Abs(y / x))
	}
	if x < 0 {
		z = math.Pi - (z - piLo)
	}
	return math.Copysign(z, y)
}

// Sinh is the hyperbolic sine.
func Sinh(x float64) float64 {
	a, h := math.Abs(x), math.Copysign(0.5, x)
	switch top := topWord(x); {
	case math.IsNaN(x), math.IsInf(x, 0):
		return x
	case a < 22:
		if top < 0x3e300000 {
			return x
		}
		t := math.Expm1(a)
		if a < 1 {
			return h * (2*t - t*t/(t+1))
		}
		return h * (t + t/(t+1))
	case top < 0x40862e42:
		return h * exp(a)
	case a <= largestHyperbolic:
		w := exp(0.5 * a)
		return h * w * w
	}
	return x * math.Inf(1)
}

// Cosh is the hyperbolic cosine.
func Cosh(x float64) float64 {
	a := math.Abs(x)
	switch top := topWord(x); {
	case math.IsNaN(x), math.IsInf(x, 0):
		return a
	case top < 0x3fd62e43:
		t := math.Expm1(a)
		w := 1 + t
		if top < 0x3c800000 {
			return w
		}
		return 1 + t*t/(w+w)
	case a < 22:
		t := exp(a)
		return 0.5*t + 0.5/t
	case top < 0x40862e42:
		return 0.5 * exp(a)
	case a <= largestHyperbolic:
		w := exp(0.5 * a)
		return 0.5 * w * w
	}
	return math.Inf(1)
}

// Tanh is the hyperbolic tangent.
func Tanh(x float64) float64 {
	a := math.Abs(x)
	z := 1.0
	switch {
	case math.IsNaN(x):
		return x
	case topWord(x) < 0x3c800000:
		return x
	case a < 1:
		t := math.Expm1(-2 * a)
		z = -t / (t + 2)
	case a < 22:
		t := math.Expm1(2 * a)
		z = 1 - 2/(t+2)
	}
	return math.Copysign(z, x)
}

// exp is fdlibm's exponential function, on which the hyperbolic ones rest, for x from 0.3 to 709.8.
func exp(x float64) float64 {
	hi, lo, k := x, 0.0, 0
	switch top := topWord(x); {
	case top > 0x3fd62e42 && top < 0x3ff0a2b2:
		hi, lo, k = x-ln2Hi, ln2Lo, 1
	case top > 0x3fd62e42:
		k = int(1.44269504088896338700e+00*x + 0.5)
		hi, lo = x-float64(k)*ln2Hi, float64(k)*ln2Lo
	}
	r := hi - lo
	t := r * r
	c := r - t*(1.66666666666666019037e-01+t*(-2.77777777770155933842e-03+t*(6.61375632143793436117e-05+
		t*(-1.65339022054652515390e-06+t*4.13813679705723846039e-08))))
	if k == 0 {
		return 1 - ((r*c)/(c-2) - r)
	}
	return math.Ldexp(1-((lo-(r*c)/(2-c))-hi), k)
}
