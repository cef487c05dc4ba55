package types

import (
	"math"
	"math/bits"
	"strconv"
)

// Flink prints DOUBLE and FLOAT with Java 17's Double.toString and Float.toString. They are not the shortest text that
// reads back as the same number (2.0E23 prints 1.9999999999999998E23), so that strconv cannot be used. The digits are
// generated as in "How to Print Floating-Point Numbers Accurately" (Steele, White 1990) with fixed-point arithmetic and
// the JDK's stopping rule: a symmetric interval of one unit in the last place around the number, halved for powers of two.

// AppendDouble appends f as Java prints a double.
func AppendDouble(dst []byte, f float64) []byte {
	b := math.Float64bits(f)
	exp, frac := int(b>>52&0x7ff), b&(1<<52-1)
	return appendJava(dst, b>>63 != 0, exp, frac, 52, 0x7ff)
}

// AppendFloat appends f, a FLOAT, as Java prints a float.
func AppendFloat(dst []byte, f float64) []byte {
	b := math.Float32bits(float32(f))
	exp, frac := int(b>>23&0xff), uint64(b&(1<<23-1))
	return appendJava(dst, b>>31 != 0, exp, frac, 23, 0xff)
}

// appendJava prints a number with the given fields; shift is the number of fraction bits.
func appendJava(dst []byte, neg bool, exp int, frac uint64, shift, maxExp int) []byte {
	if exp == maxExp && frac != 0 {
		return append(dst, "NaN"...)
	}
	if neg {
		dst = append(dst, '-')
	}
	switch {
	case exp == maxExp:
		return append(dst, "Infinity"...)
	case exp == 0 && frac == 0:
		return append(dst, "0.0"...)
	}
	significant := shift + 1
	if exp == 0 { // subnormal: normalise
		n := bits.LeadingZeros64(frac) - (63 - shift)
		frac <<= n
		exp = 1 - n
		significant = shift + 1 - n
	} else {
		frac |= 1 << shift
	}
	var digits [24]byte
	n, point := javaDigits(&digits, exp-maxExp>>1, frac<<(52-shift), significant)
	return layoutJava(dst, digits[:n], point)
}

// layoutJava writes digits with the decimal point behind the first point of them (before them if negative).
func layoutJava(dst, digits []byte, point int) []byte {
	switch {
	case point > 0 && point < 8: // 1e-3 <= number < 1e7
		if len(digits) <= point {
			dst = append(dst, digits...)
			for range point - len(digits) {
				dst = append(dst, '0')
			}
			return append(dst, '.', '0')
		}
		dst = append(append(dst, digits[:point]...), '.')
		return append(dst, digits[point:]...)
	case point <= 0 && point > -3:
		dst = append(dst, '0', '.')
		for range -point {
			dst = append(dst, '0')
		}
		return append(dst, digits...)
	}
	dst = append(dst, digits[0], '.')
	if len(digits) > 1 {
		dst = append(dst, digits[1:]...)
	} else {
		dst = append(dst, '0')
	}
	return strconv.AppendInt(append(dst, 'E'), int64(point-1), 10)
}

// pow5Bits is the number of bits of 5^n.
func pow5Bits(n int) int {
	if n < len(pow5) {
		return bits.Len64(pow5[n])
	}
	return 3 * n
}

// pow5 holds the powers of five that fit in a word.
var pow5 = func() (t [28]uint64) {
	p := uint64(1)
	for i := range t {
		t[i] = p
		p *= 5
	}
	return t
}()

// javaDigits generates the digits of frac * 2^(exp-52), with significant bits that count, and the place of the point.
func javaDigits(digits *[24]byte, exp int, frac uint64, significant int) (n, point int) {
	zeros := bits.TrailingZeros64(frac)
	width := 53 - zeros
	tiny := max(0, width-exp-1) // bits behind the binary point
	if tiny == 0 && exp <= 62 {
		return javaInteger(digits, exp, frac, significant)
	}
	// The number is B/S * 10^dec with 1 <= B/S < 10; M is half a unit in the last place on B's scale. Each is a power of
	// two times a power of five (B also times the significant bits).
	dec := estimateExponent(frac, exp)
	b5, s5 := max(0, -dec), max(0, dec)
	b2, s2 := b5+tiny+exp, s5+tiny
	m2 := b2 - significant
	frac >>= zeros
	b2 -= width - 1
	common := min(b2, s2)
	b2, s2, m2 = b2-common, s2-common, m2-common
	if width == 1 { // a power of two: the number below is only half as far away
		m2--
	}
	if m2 < 0 {
		b2, s2, m2 = b2-m2, s2-m2, 0
	}
	if width+b2+pow5Bits(b5) < 64 && s2+1+pow5Bits(s5+1) < 64 {
		return javaWords(digits, frac*pow5[b5]<<b2, pow5[s5]<<s2, pow5[b5]<<m2, dec)
	}
	var b, s, m wideNat
	b.set(frac, b5, b2)
	s.set(1, s5, s2)
	m.set(1, b5, m2)
	return javaWide(digits, &b, &s, &m, dec)
}

// estimateExponent is the decimal exponent of the number, at most one too high: the JDK's line through log10.
func estimateExponent(frac uint64, exp int) int {
	m := math.Float64frombits(1023<<52 | frac&(1<<52-1))
	// Conversions keep the compiler from fusing the multiplications with the additions.
	return int(math.Floor(float64((m-1.5)*0.289529654) + 0.176091259 + float64(float64(exp)*0.301029995663981)))
}

// javaInteger is for whole numbers below 2^63: the integer's digits, without those behind the number's precision.
func javaInteger(digits *[24]byte, exp int, frac uint64, significant int) (n, point int) {
	v := frac
	if exp >= 52 {
		v <<= exp - 52
	} else {
		v >>= 52 - exp
	}
	drop := 0
	if exp > significant {
		if p := exp - significant - 1; p > 1 {
			drop = len(strconv.AppendUint(digits[:0], 1<<p, 10)) - 1 // the digits that 2^p spoils
		}
	}
	if drop > 0 {
		r := v % pow10[drop]
		v /= pow10[drop]
		if r >= pow10[drop]/2 {
			v++
		}
	}
	text := strconv.AppendUint(digits[:0], v, 10)
	point = len(text) + drop
	for len(text) > 1 && text[len(text)-1] == '0' {
		text = text[:len(text)-1]
	}
	return len(text), point
}

// javaWords generates digits of b/s while everything fits in a word.
func javaWords(digits *[24]byte, b, s, m uint64, dec int) (n, point int) {
	tens := s * 10
	q := b / s
	b = 10 * (b % s)
	m *= 10
	low, high := b < m, b+m > tens
	if q == 0 && !high {
		dec-- // the estimate was one too high
	} else {
		digits[n] = byte('0' + q)
		n++
	}
	if dec < -3 || dec >= 8 { // the form with an exponent wants two digits
		low, high = false, false
	}
	for !low && !high {
		q = b / s
		b = 10 * (b % s)
		m *= 10
		if int64(m) > 0 {
			low, high = b < m, b+m > tens
		} else { // m has left the word, so it is greater than b
			low, high = true, true
		}
		digits[n] = byte('0' + q)
		n++
	}
	return roundLast(digits, n, dec+1, low, high, cmpWord(b<<1, tens))
}

func cmpWord(a, b uint64) int {
	switch d := int64(a - b); {
	case d < 0:
		return -1
	case d > 0:
		return 1
	default:
		return 0
	}
}

// javaWide is javaWords with long numbers.
func javaWide(digits *[24]byte, b, s, m *wideNat, dec int) (n, point int) {
	q := b.digit(s)
	m.mul(10, 0)
	tens := *s
	tens.mul(10, 0)
	low, high := b.cmp(m) < 0, sumReaches(b, m, &tens)
	if q == 0 && !high {
		dec--
	} else {
		digits[n] = byte('0' + q)
		n++
	}
	if dec < -3 || dec >= 8 {
		low, high = false, false
	}
	for !low && !high {
		q = b.digit(s)
		m.mul(10, 0)
		low, high = b.cmp(m) < 0, sumReaches(b, m, &tens)
		digits[n] = byte('0' + q)
		n++
	}
	if low && high {
		b.mul(2, 0)
	}
	return roundLast(digits, n, dec+1, low, high, b.cmp(&tens))
}

// roundLast rounds the last digit by why the generation stopped; half compares the rest with a half.
func roundLast(digits *[24]byte, n, point int, low, high bool, half int) (int, int) {
	if !high || low && (half < 0 || half == 0 && digits[n-1]&1 == 0) {
		return n, point
	}
	i := n - 1
	for i > 0 && digits[i] == '9' {
		digits[i] = '0'
		i--
	}
	if digits[i] == '9' {
		digits[i] = '1'
		return n, point + 1
	}
	digits[i]++
	return n, point
}

// wideNat is a natural number of up to 1,280 bits, enough for every double scaled to digits.
type wideNat struct {
	w [20]uint64
	n int // words in use
}

// set gives v * 5^p5 * 2^p2.
func (x *wideNat) set(v uint64, p5, p2 int) {
	x.w[0], x.n = v, 1
	for p5 > 0 {
		k := min(p5, len(pow5)-1)
		x.mul(pow5[k], 0)
		p5 -= k
	}
	words, rest := p2/64, uint(p2%64)
	if words > 0 {
		copy(x.w[words:], x.w[:x.n])
		clear(x.w[:words])
		x.n += words
	}
	if rest > 0 {
		x.mul(1<<rest, 0)
	}
}

// mul multiplies by m and adds a.
func (x *wideNat) mul(m, a uint64) {
	for i := range x.n {
		hi, lo := bits.Mul64(x.w[i], m)
		var c uint64
		x.w[i], c = bits.Add64(lo, a, 0)
		a = hi + c
	}
	if a != 0 {
		x.w[x.n] = a
		x.n++
	}
}

func (x *wideNat) cmp(y *wideNat) int {
	if x.n != y.n {
		if x.n < y.n {
			return -1
		}
		return 1
	}
	for i := x.n - 1; i >= 0; i-- {
		if x.w[i] != y.w[i] {
			if x.w[i] < y.w[i] {
				return -1
			}
			return 1
		}
	}
	return 0
}

// digit takes s out of x as often as it goes (less than ten times), multiplies the rest by ten and gives the count.
func (x *wideNat) digit(s *wideNat) (q uint64) {
	for x.cmp(s) >= 0 {
		var borrow uint64
		for i := range x.n {
			var y uint64
			if i < s.n {
				y = s.w[i]
			}
			x.w[i], borrow = bits.Sub64(x.w[i], y, borrow)
		}
		for x.n > 0 && x.w[x.n-1] == 0 {
			x.n--
		}
		q++
	}
	x.mul(10, 0)
	return q
}

// sumReaches reports whether a+b >= c.
func sumReaches(a, b, c *wideNat) bool {
	var sum wideNat
	var carry uint64
	sum.n = max(a.n, b.n)
	for i := range sum.n {
		var x, y uint64
		if i < a.n {
			x = a.w[i]
		}
		if i < b.n {
			y = b.w[i]
		}
		sum.w[i], carry = bits.Add64(x, y, carry)
	}
	if carry != 0 {
		sum.w[sum.n] = carry
		sum.n++
	}
	return sum.cmp(c) >= 0
}
