package types

import (
	"math/big"
	"math/bits"
)

// Int128Of widens v.
func Int128Of(v int64) Int128 { return Int128{Hi: v >> 63, Lo: uint64(v)} }

// Int64 gives the value and whether it fits in 64 bits; if not, the value is its low 64 bits.
func (a Int128) Int64() (int64, bool) { return int64(a.Lo), a.Hi == int64(a.Lo)>>63 }

// Sign is -1, 0 or 1.
func (a Int128) Sign() int {
	switch {
	case a.Hi < 0:
		return -1
	case a.Hi == 0 && a.Lo == 0:
		return 0
	default:
		return 1
	}
}

// Cmp is -1, 0 or 1 as a is less than, equal to or greater than b. It also orders the Wide values of TIMESTAMP(7..9).
func (a Int128) Cmp(b Int128) int {
	switch {
	case a.Hi < b.Hi:
		return -1
	case a.Hi > b.Hi:
		return 1
	case a.Lo < b.Lo:
		return -1
	case a.Lo > b.Lo:
		return 1
	default:
		return 0
	}
}

// Neg is -a; the smallest value stays as it is.
func (a Int128) Neg() Int128 {
	lo, borrow := bits.Sub64(0, a.Lo, 0)
	hi, _ := bits.Sub64(0, uint64(a.Hi), borrow)
	return Int128{Hi: int64(hi), Lo: lo}
}

// Add is a+b; false when it overflows 128 bits.
func (a Int128) Add(b Int128) (Int128, bool) {
	lo, carry := bits.Add64(a.Lo, b.Lo, 0)
	hi, _ := bits.Add64(uint64(a.Hi), uint64(b.Hi), carry)
	r := Int128{Hi: int64(hi), Lo: lo}
	return r, (a.Hi^r.Hi)&(b.Hi^r.Hi) >= 0
}

// Sub is a-b; false when it overflows 128 bits.
func (a Int128) Sub(b Int128) (Int128, bool) {
	lo, borrow := bits.Sub64(a.Lo, b.Lo, 0)
	hi, _ := bits.Sub64(uint64(a.Hi), uint64(b.Hi), borrow)
	r := Int128{Hi: int64(hi), Lo: lo}
	return r, (a.Hi^b.Hi)&(a.Hi^r.Hi) >= 0
}

// Mul is a*b; false when it overflows 128 bits.
func (a Int128) Mul(b Int128) (Int128, bool) {
	au, an := a.abs()
	bu, bn := b.abs()
	return au.mul(bu).signed(an != bn)
}

// Big gives a as a big integer.
func (a Int128) Big() *big.Int {
	u, neg := a.abs()
	r := new(big.Int).SetUint64(u.hi)
	r.Lsh(r, 64).Or(r, new(big.Int).SetUint64(u.lo))
	if neg {
		r.Neg(r)
	}
	return r
}

// Int128FromBig gives x; false when it does not fit in 128 bits.
func Int128FromBig(x *big.Int) (Int128, bool) {
	if x.BitLen() > 127 {
		return Int128{}, false
	}
	var m, word big.Int
	m.Abs(x)
	word.SetUint64(^uint64(0))
	u := uint128{lo: word.And(&word, &m).Uint64(), hi: m.Rsh(&m, 64).Uint64()}
	return u.wide().signed(x.Sign() < 0)
}

// uint128 is a magnitude.
type uint128 struct{ hi, lo uint64 }

// uint256 is the magnitude of a product, least significant word first.
type uint256 [4]uint64

func (a Int128) abs() (u uint128, neg bool) {
	if a.Hi < 0 {
		n := a.Neg()
		return uint128{uint64(n.Hi), n.Lo}, true
	}
	return uint128{uint64(a.Hi), a.Lo}, false
}

func (u uint128) wide() uint256 { return uint256{u.lo, u.hi} }

func (u uint128) cmp(v uint128) int {
	switch {
	case u == v:
		return 0
	case u.hi < v.hi, u.hi == v.hi && u.lo < v.lo:
		return -1
	default:
		return 1
	}
}

func (u uint128) mul(v uint128) uint256 {
	h0, l0 := bits.Mul64(u.lo, v.lo)
	if u.hi|v.hi == 0 {
		return uint256{l0, h0}
	}
	h1, l1 := bits.Mul64(u.hi, v.lo)
	h2, l2 := bits.Mul64(u.lo, v.hi)
	h3, l3 := bits.Mul64(u.hi, v.hi)
	var w uint256
	var c, c2 uint64
	w[0] = l0
	w[1], c = bits.Add64(h0, l1, 0)
	w[2], c = bits.Add64(h1, l3, c)
	w[3] = h3 + c
	w[1], c2 = bits.Add64(w[1], l2, 0)
	w[2], c2 = bits.Add64(w[2], h2, c2)
	w[3] += c2
	return w
}

// divmod is u/v and u%v for v > 0.
func (u uint128) divmod(v uint128) (q, r uint128) {
	if v.hi == 0 {
		q.hi = u.hi / v.lo
		q.lo, r.lo = bits.Div64(u.hi%v.lo, u.lo, v.lo)
		return q, r
	}
	if u.cmp(v) < 0 {
		return uint128{}, u
	}
	// The quotient fits in one word. Estimate it with the divisor's top 64 bits: never too small, at most one too large.
	n := uint(bits.LeadingZeros64(v.hi))
	top := v.hi<<n | v.lo>>(64-n)
	half := uint128{u.hi >> 1, u.hi<<63 | u.lo>>1}
	est, _ := bits.Div64(half.hi, half.lo, top)
	est >>= 63 - n
	if est > 0 {
		est--
	}
	p := v.mul(uint128{lo: est})
	lo, borrow := bits.Sub64(u.lo, p[0], 0)
	hi, _ := bits.Sub64(u.hi, p[1], borrow)
	r = uint128{hi, lo}
	for r.cmp(v) >= 0 {
		est++
		lo, borrow = bits.Sub64(r.lo, v.lo, 0)
		hi, _ = bits.Sub64(r.hi, v.hi, borrow)
		r = uint128{hi, lo}
	}
	return uint128{lo: est}, r
}

// signed gives the value with its sign; false when it does not fit in 128 bits.
func (w uint256) signed(neg bool) (Int128, bool) {
	r := Int128{Hi: int64(w[1]), Lo: w[0]}
	if w[2]|w[3] != 0 || r.Hi < 0 {
		return r, neg && w == uint256{0, 1 << 63} // the smallest value is its own negative
	}
	if neg {
		r = r.Neg()
	}
	return r, true
}

func (w uint256) add(v uint256) uint256 {
	var c uint64
	for i := range w {
		w[i], c = bits.Add64(w[i], v[i], c)
	}
	return w
}

func (w uint256) sub(v uint256) uint256 {
	var c uint64
	for i := range w {
		w[i], c = bits.Sub64(w[i], v[i], c)
	}
	return w
}

func (w uint256) cmp(v uint256) int {
	for i := 3; i >= 0; i-- {
		if w[i] != v[i] {
			if w[i] < v[i] {
				return -1
			}
			return 1
		}
	}
	return 0
}

// mulWord is w*x modulo 2^256.
func (w uint256) mulWord(x uint64) uint256 {
	var carry uint64
	for i := range w {
		hi, lo := bits.Mul64(w[i], x)
		var c uint64
		w[i], c = bits.Add64(lo, carry, 0)
		carry = hi + c
	}
	return w
}

// divWord is w/x and w%x for x > 0.
func (w uint256) divWord(x uint64) (uint256, uint64) {
	var r uint64
	for i := 3; i >= 0; i-- {
		if r|w[i] != 0 {
			w[i], r = bits.Div64(r, w[i], x)
		}
	}
	return w, r
}

// roundShift is w/10^n, rounded half up, for n in 0..76.
func (w uint256) roundShift(n int) uint256 {
	if n == 0 {
		return w
	}
	w = w.add(halfPow10(n))
	for n > 0 {
		s := min(n, 19)
		w, _ = w.divWord(pow10[s])
		n -= s
	}
	return w
}

// halfPow10 is 10^n / 2 for n in 1..76.
func halfPow10(n int) uint256 {
	h := uint256{5}
	for n--; n > 0; {
		s := min(n, 19)
		h = h.mulWord(pow10[s])
		n -= s
	}
	return h
}

// pow10 holds the powers of ten that fit in a word.
var pow10 = func() (t [20]uint64) {
	p := uint64(1)
	for i := range t {
		t[i] = p
		p *= 10
	}
	return t
}()

// wide10 holds 10^0 .. 10^38.
var wide10 = func() (t [39]uint128) {
	w := uint256{1}
	for i := range t {
		t[i] = uint128{w[1], w[0]}
		w = w.mulWord(10)
	}
	return t
}()
