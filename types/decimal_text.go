package types

import (
	"math"
	"math/bits"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// AppendDecimal appends the plain text of an unscaled value: always scale digits after the point, never an exponent.
func AppendDecimal(dst []byte, v Int128, scale int) []byte {
	u, neg := v.abs()
	if neg {
		dst = append(dst, '-')
	}
	var t [40]byte
	i := len(t)
	for u.hi != 0 {
		hi := u.hi / pow10[19]
		var r uint64
		u.lo, r = bits.Div64(u.hi%pow10[19], u.lo, pow10[19])
		u.hi = hi
		for range 19 {
			i--
			t[i] = byte('0' + r%10)
			r /= 10
		}
	}
	for u.lo != 0 {
		i--
		t[i] = byte('0' + u.lo%10)
		u.lo /= 10
	}
	for len(t)-i <= scale {
		i--
		t[i] = '0'
	}
	dst = append(dst, t[i:len(t)-scale]...)
	if scale > 0 {
		dst = append(append(dst, '.'), t[len(t)-scale:]...)
	}
	return dst
}

// DecimalStatus says what became of a decimal text.
type DecimalStatus uint8

const (
	DecimalOK       DecimalStatus = iota
	DecimalOverflow               // a number, but it has more digits than the type
	DecimalSyntax                 // no number
)

// ParseDecimal reads a number as Java's BigDecimal does: sign, digits (of any script), point, exponent, nothing around
// it. The value is rounded half up to scale s and must have at most p digits then.
func ParseDecimal(b string, p, s int) (Int128, DecimalStatus) {
	i := 0
	neg := false
	if i < len(b) && (b[i] == '-' || b[i] == '+') {
		neg = b[i] == '-'
		i++
	}
	start, point, sig, nonzero := i, -1, 0, false
	any := false
	for ; i < len(b); i++ {
		c := b[i]
		switch {
		case c-'0' < 10:
			any = true
			nonzero = nonzero || c != '0'
			if nonzero {
				sig++
			}
			continue
		case c == '.' && point < 0:
			point = i
			continue
		case c >= utf8.RuneSelf:
			return parseForeign(b, p, s)
		}
		break
	}
	end := i
	if !any {
		return Int128{}, DecimalSyntax
	}
	exp := 0
	if i < len(b) {
		var ok bool
		if exp, ok = parseExponent(b[i:]); !ok {
			return Int128{}, DecimalSyntax
		}
	}
	if !nonzero {
		return Int128{}, DecimalOK
	}
	if point >= 0 {
		exp -= end - point - 1
	}
	return roundDigits(b[start:end], sig, exp+s, neg, p)
}

// roundDigits gives the number that the text d of digits and perhaps a point stands for, with sig significant digits and
// the last of them worth 10^exp.
func roundDigits(d string, sig, exp int, neg bool, p int) (Int128, DecimalStatus) {
	keep := sig
	if exp < 0 {
		keep += exp
	}
	if keep < 0 {
		return Int128{}, DecimalOK
	}
	if keep > MaxDecimal || sig+exp > MaxDecimal {
		return Int128{}, DecimalOverflow
	}
	var u uint128
	var word uint64 // the digits read since u was last extended
	n, k := 0, 0    // their number, and that of all digits read
	for i := range len(d) {
		c := d[i]
		if c == '.' || c == '0' && k == 0 {
			continue
		}
		if k == keep {
			if c >= '5' {
				word++
			}
			break
		}
		word = word*10 + uint64(c-'0')
		k++
		if n++; n == 18 {
			u = u.shiftIn(word, n)
			word, n = 0, 0
		}
	}
	u = u.shiftIn(word, n)
	if exp > 0 {
		return decimalOf(u.mul(wide10[exp]), neg, p)
	}
	return decimalOf(u.wide(), neg, p)
}

func decimalOf(w uint256, neg bool, p int) (Int128, DecimalStatus) {
	r, ok := fit(w, neg, p)
	if !ok {
		return r, DecimalOverflow
	}
	return r, DecimalOK
}

// shiftIn is u*10^n + word.
func (u uint128) shiftIn(word uint64, n int) uint128 {
	w := u.mul(uint128{lo: pow10[n]})
	lo, c := bits.Add64(w[0], word, 0)
	return uint128{w[1] + c, lo}
}

// parseExponent reads an exponent to the end of the text: e, a sign, up to ten digits.
func parseExponent(b string) (int, bool) {
	if b[0]|0x20 != 'e' {
		return 0, false
	}
	i := 1
	neg := false
	if i < len(b) && (b[i] == '-' || b[i] == '+') {
		neg = b[i] == '-'
		i++
	}
	first := i
	v := 0
	for ; i < len(b) && i-first < 10 && b[i]-'0' < 10; i++ {
		v = v*10 + int(b[i]-'0')
	}
	if i == first || i < len(b) || v > math.MaxInt32 {
		return 0, false
	}
	if neg {
		v = -v
	}
	return v, true
}

// parseForeign is ParseDecimal for text with digits of another script.
func parseForeign(b string, p, s int) (Int128, DecimalStatus) {
	plain := make([]byte, 0, len(b))
	for _, r := range b {
		d, ok := digitValue(r)
		switch {
		case ok:
			plain = append(plain, '0'+d)
		case r < utf8.RuneSelf:
			plain = append(plain, byte(r))
		default:
			return Int128{}, DecimalSyntax
		}
	}
	return ParseDecimal(string(plain), p, s)
}

// digitValue gives the value of a decimal digit of any script. Unicode keeps the digits of a script in runs of ten.
func digitValue(r rune) (byte, bool) {
	if !unicode.IsDigit(r) {
		return 0, false
	}
	for _, t := range unicode.Nd.R16 {
		if r >= rune(t.Lo) && r <= rune(t.Hi) {
			return byte((r - rune(t.Lo)) % 10), true
		}
	}
	for _, t := range unicode.Nd.R32 {
		if r >= rune(t.Lo) && r <= rune(t.Hi) {
			return byte((r - rune(t.Lo)) % 10), true
		}
	}
	return 0, false
}

// CastDecimal reads a number as CAST of a string to DECIMAL(p, s) does; false where Flink reports an error. Blanks, tabs
// and line feeds around the number are skipped. Of a short text for a type of at most 18 digits Flink also skips the
// character that ends the number ('1L' and '1e' are 1), and a lone point is 0.
func CastDecimal(b string, p, s int) (Int128, bool) {
	short := p <= 18 && len(b) <= 18
	i, j := 0, len(b)
	for i < j && decimalBlank(b[i]) {
		i++
	}
	for j > i && decimalBlank(b[j-1]) {
		j--
	}
	if i == j || short && !ascii(b[i:j]) {
		return Int128{}, false
	}
	v, st := ParseDecimal(b[i:j], p, s)
	if st == DecimalSyntax && short {
		if j-i > 1 && b[j-1]-'0' >= 10 {
			v, st = ParseDecimal(b[i:j-1], p, s)
		} else if b[i] == '.' {
			return Int128{}, true
		}
	}
	return v, st == DecimalOK
}

func ascii(b string) bool {
	for i := range len(b) {
		if b[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func decimalBlank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' }

// DecimalOfFloat gives the decimal of f as its Java text reads, rounded half up to scale s; false when it is NaN or
// infinite or has more than p digits.
func DecimalOfFloat(f float64, p, s int) (Int128, bool) {
	var buf [32]byte
	v, st := ParseDecimal(view(AppendDouble(buf[:0], f)), p, s)
	return v, st == DecimalOK
}

// DecimalToFloat gives the nearest DOUBLE of a DECIMAL(p, s). Up to 18 digits of precision it is Flink's division, which
// may be off by one unit in the last place.
func DecimalToFloat(v Int128, p, s int) float64 {
	n, small := v.Int64()
	if p <= 18 {
		return float64(n) / float64(pow10[s])
	}
	if small && s < len(pow10) && -1<<53 <= n && n <= 1<<53 {
		return float64(n) / float64(pow10[s]) // both are exact
	}
	var buf [48]byte
	f, _ := strconv.ParseFloat(view(AppendDecimal(buf[:0], v, s)), 64)
	return f
}

// DecimalToInt64 cuts the fraction off and gives the low 64 bits, as CAST to BIGINT does.
func DecimalToInt64(v Int128, scale int) int64 {
	u, neg := v.abs()
	for scale > 0 {
		n := min(scale, 19)
		w, _ := u.wide().divWord(pow10[n])
		u = uint128{w[1], w[0]}
		scale -= n
	}
	if neg {
		return -int64(u.lo)
	}
	return int64(u.lo)
}
