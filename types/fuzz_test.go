package types

import (
	"math/big"
	"regexp"
	"testing"
)

var wholeNumber = regexp.MustCompile(`^ *([+-]?)([0-9]*)(\.[0-9]*)? *$`)

// slowInt is ParseInt by way of a pattern and math/big.
func slowInt(s string, lo, hi int64) (int64, bool) {
	m := wholeNumber.FindStringSubmatch(s)
	if m == nil || m[2] == "" && m[3] == "" {
		return 0, false
	}
	n, ok := new(big.Int).SetString(m[1]+"0"+m[2], 10)
	if !ok || n.Cmp(big.NewInt(lo)) < 0 || n.Cmp(big.NewInt(hi)) > 0 {
		return 0, false
	}
	return n.Int64(), true
}

func FuzzParseInt(f *testing.F) {
	for _, s := range []string{" 12 ", "-128", "+.5", "-", ".", "9223372036854775808", "-9223372036854775808", "1e3", "1.2.3", "\t1", "00000000000000000000001"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, k := range []Kind{TinyInt, SmallInt, Int, BigInt} {
			lo, hi := IntRange(k)
			got, ok := ParseInt(s, lo, hi)
			want, fits := slowInt(s, lo, hi)
			if ok != fits || ok && got != want {
				t.Fatalf("%q as %v: %d, %v; want %d, %v", s, k, got, ok, want, fits)
			}
		}
	})
}

func FuzzDecimalArithmetic(f *testing.F) {
	f.Add("99999999999999999999999999999999999999", "-7", uint8(2), uint8(5), uint8(6))
	f.Add("-5", "3", uint8(0), uint8(38), uint8(0))
	f.Fuzz(func(t *testing.T, a, b string, sa, sb, s uint8) {
		x, st := ParseDecimal(a, MaxDecimal, 0)
		y, st2 := ParseDecimal(b, MaxDecimal, 0)
		if st != DecimalOK || st2 != DecimalOK || sa > MaxDecimal || sb > MaxDecimal || s > max(sa, sb) {
			return
		}
		m := int(max(sa, sb))
		scaledX := new(big.Int).Mul(x.Big(), bigPow10(m-int(sa)))
		scaledY := new(big.Int).Mul(y.Big(), bigPow10(m-int(sb)))
		sum, ok := DecimalAdd(x, int(sa), y, int(sb), int(s), MaxDecimal)
		checkDecimal(t, "add", sum, ok, bigRound(new(big.Int).Add(scaledX, scaledY), bigPow10(m-int(s))), MaxDecimal)
		product, ok := DecimalMul(x, y, int(s), MaxDecimal)
		checkDecimal(t, "mul", product, ok, bigRound(new(big.Int).Mul(x.Big(), y.Big()), bigPow10(int(s))), MaxDecimal)
		if y.Sign() != 0 {
			rest := new(big.Int).Rem(scaledX, scaledY)
			if got := DecimalMod(x, int(sa), y, int(sb)); got.Big().Cmp(rest) != 0 {
				t.Fatalf("%s %% %s: %v, want %v", a, b, got.Big(), rest)
			}
		}
	})
}
