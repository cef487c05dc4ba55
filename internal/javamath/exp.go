package javamath

import "math"

// ln(2)/64 in parts that a count of 21 bits multiplies exactly.
const (
	step1 = 0.01083042469326756
	step2 = 2.9815858263172973e-12
	step3 = 6.679961858980702e-22
)

var perLn10 = double2{0.4342944819032518, 1.098319650216765e-17}

// exponential gives e^x as a number near 1 and a power of two; x is between -750 and 750.
func exponential(x double2) (double2, int) {
	k := math.RoundToEven(x.hi * (64 / math.Ln2))
	r := twoSum(x.hi-k*step1, -k*step2).plusSmall(x.lo - k*step3)
	h := r.hi
	// e^r - 1: the square counts for more digits than the other terms.
	tail := h * h * h * (1./6 + h*(1./24+h*(1./120+h*(1./720+h*(1./5040)))))
	square := twoProduct(h, h)
	e := r.plus(double2{square.hi / 2, square.lo/2 + h*r.lo}).plusSmall(tail)
	t := powersOfTwo[int(k)&63]
	return t.plus(t.times(e)), int(k) >> 6
}

// Exp is e to the power of x.
func Exp(x float64) float64 {
	return rounded(double2{x, 0})
}

// rounded is e^x for any x.
func rounded(x double2) float64 {
	switch {
	case x.hi > 710:
		return math.Inf(1)
	case x.hi < -746:
		return 0
	case math.IsNaN(x.hi):
		return x.hi
	}
	e, n := exponential(x)
	return math.Ldexp(e.hi+e.lo, n)
}

// logarithm gives ln(x) of a positive finite x.
func logarithm(x float64) double2 {
	if d := x - 1; math.Abs(d) < 1./(1<<20) {
		square := twoProduct(d, d)
		return double2{d, 0}.plus(double2{-square.hi / 2, -square.lo / 2}).plusSmall(d * d * d * (1./3 - d*(1./4-d/5)))
	}
	n := 0
	if x < 1e-290 || x > 1e290 {
		x, n = math.Frexp(x)
	}
	y := math.Log(x)
	e, k := exponential(double2{-y, 0})
	// What y lacks is the logarithm of x/e^y.
	z := e.scaled(math.Ldexp(x, k)).plusSmall(-1)
	r := twoSum(y, z.hi).plusSmall(z.lo - z.hi*z.hi/2)
	if n != 0 {
		r = r.plus(twoProduct(float64(n)*64, step1)).plus(twoProduct(float64(n)*64, step2)).plusSmall(float64(n) * 64 * step3)
	}
	return r
}

// Log is the natural logarithm.
func Log(x float64) float64 {
	if !(x > 0) || math.IsInf(x, 1) {
		return math.Log(x)
	}
	y := logarithm(x)
	return y.hi + y.lo
}

// Log10 is the logarithm to the base 10.
func Log10(x float64) float64 {
	if !(x > 0) || math.IsInf(x, 1) {
		return math.Log(x)
	}
	y := logarithm(x).times(perLn10)
	return y.hi + y.lo
}

// Pow is x to the power of y. 1 or -1 to an infinite or undefined power is NaN.
func Pow(x, y float64) float64 {
	switch {
	case y == 0:
		return 1
	case y == 1:
		return x
	case y == 2:
		return x * x
	case math.IsNaN(x), math.IsNaN(y), math.Abs(x) == 1 && math.IsInf(y, 0):
		return math.NaN()
	case x == 0, math.IsInf(x, 0), math.IsInf(y, 0):
		return math.Pow(x, y)
	}
	whole := math.Trunc(y) == y
	if x < 0 {
		if !whole {
			return math.NaN()
		}
		r := Pow(-x, y)
		if math.Mod(y, 2) != 0 {
			r = -r
		}
		return r
	}
	if r, ok := exactPow(x, y, whole); ok {
		return r
	}
	l := logarithm(x)
	if math.Abs(l.hi*y) > 800 {
		return rounded(double2{l.hi * y, 0})
	}
	return rounded(l.scaled(y))
}

// exactPow multiplies where the power is small and whole, or small and a half and x a square: there a result can lie in
// the middle between two numbers.
func exactPow(x, y float64, whole bool) (float64, bool) {
	if y < 0 || y > 64 {
		return 0, false
	}
	if !whole {
		root := math.Sqrt(x)
		if y*2 != math.Trunc(y*2) || math.FMA(root, root, -x) != 0 {
			return 0, false
		}
		x, y = root, y*2
	}
	if e := math.Abs(float64(math.Ilogb(x))+1) * y; e > 900 {
		return 0, false
	}
	r, b := double2{1, 0}, double2{x, 0}
	for n := int(y); ; {
		if n&1 != 0 {
			r = r.times(b)
		}
		if n >>= 1; n == 0 {
			return r.hi + r.lo, true
		}
		b = b.times(b)
	}
}
