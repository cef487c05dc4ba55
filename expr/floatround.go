package expr

import (
	"strconv"
)

// roundText rounds v at d decimal places in decimal: its shortest digits are cut, half away from zero when round is
// set. The digits are those that CAST to STRING would show.
func roundText(v float64, d int, round, single bool) float64 {
	size := 64
	if single {
		size = 32
	}
	var store [40]byte
	text := strconv.AppendFloat(store[:0], v, 'e', -1, size) // -d.ddde±xx
	sign := ""
	if text[0] == '-' {
		sign, text = "-", text[1:]
	}
	e := len(text) - 1
	for text[e] != 'e' {
		e--
	}
	exp, _ := strconv.Atoi(string(text[e+1:]))
	digits := text[:1:1]
	if e > 2 {
		digits = append(digits, text[2:e]...)
	}
	// The value is 0.digits * 10^(exp+1); keep digits with a place of at least -d.
	keep := exp + 1 + d
	if keep >= len(digits) {
		return v
	}
	up := false
	if keep < 0 {
		digits = digits[:0]
	} else {
		up = round && digits[keep] >= '5'
		digits = digits[:keep]
	}
	if up {
		digits, exp = increment(digits, exp)
	}
	if len(digits) == 0 {
		return 0
	}
	r, err := strconv.ParseFloat(sign+"0."+string(digits)+"e"+strconv.Itoa(exp+1), size)
	if err != nil {
		return v // too large a number rounds to infinity, which no digits can mean here
	}
	return r
}

// increment adds one in the last place.
func increment(digits []byte, exp int) ([]byte, int) {
	for i := len(digits) - 1; i >= 0; i-- {
		if digits[i] < '9' {
			digits[i]++
			return digits, exp
		}
		digits[i] = '0'
	}
	return append([]byte{'1'}, digits...), exp + 1
}
