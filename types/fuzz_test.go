package types

import (
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
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
			num, den := new(big.Int).Mul(scaledX, bigPow10(int(s))), scaledY
			if den.Sign() < 0 {
				num, den = num.Neg(num), new(big.Int).Neg(den)
			}
			quotient, ok := DecimalDiv(x, int(sa), y, int(sb), int(s), MaxDecimal)
			checkDecimal(t, "div", quotient, ok, slowQuotient(num, den), MaxDecimal)
			rest := new(big.Int).Rem(scaledX, scaledY)
			if got := DecimalMod(x, int(sa), y, int(sb)); got.Big().Cmp(rest) != 0 {
				t.Fatalf("%s %% %s: %v, want %v", a, b, got.Big(), rest)
			}
		}
	})
}

// slowQuotient is num/den to 38 digits and then to a whole number, both rounded half away from zero.
func slowQuotient(num, den *big.Int) *big.Int {
	places := 0 // digits behind the point that 38 digits leave
	for whole := new(big.Int).Quo(num, den); len(whole.Text(10)) < 80 && places < 200; places++ {
		scaled := new(big.Int).Quo(new(big.Int).Mul(num, bigPow10(places+1)), den)
		if len(strings.TrimPrefix(scaled.Text(10), "-")) > MaxDecimal {
			break
		}
	}
	digits := bigRound(new(big.Int).Mul(num, bigPow10(places)), den)
	return bigRound(digits, bigPow10(places))
}

// trim is Java's trim: control characters count as blanks.
func trim(s string) string {
	return strings.TrimFunc(s, func(r rune) bool { return r <= ' ' })
}

var (
	javaDecimal = regexp.MustCompile(`^[+-]?(?:([0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE]([+-]?[0-9]+))?)[fFdD]?$`)
	javaHex     = regexp.MustCompile(`^[+-]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+[fFdD]?$`)
	javaWord    = regexp.MustCompile(`^[+-]?(NaN|Infinity)$`)
)

// FuzzParseFloat compares with Java's grammar of numbers and with exact rounding of fractions.
func FuzzParseFloat(f *testing.F) {
	for _, s := range []string{"1.5", " -0.0d ", "1e400", "0x1.8p3f", "NaN", "-Infinity", "\t.5e-3F", "1.", ".", "0x1p", "infinity", "1_0", "16777217", "1e-46", "+1e23"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		double, ok := ParseDouble(s)
		single, ok2 := ParseFloat(s)
		body := trim(s)
		m := javaDecimal.FindStringSubmatch(body)
		if want := m != nil || javaHex.MatchString(body) || javaWord.MatchString(body); ok != want || ok2 != want {
			t.Fatalf("%q: %t and %t, want %t", s, ok, ok2, want)
		}
		if m == nil {
			return
		}
		if exp, err := strconv.Atoi(m[2]); m[2] != "" && (err != nil || exp > 500 || exp < -500) || len(s) > 400 {
			return
		}
		exact, _ := new(big.Rat).SetString(strings.TrimRight(body, "fFdD"))
		want, _ := exact.Float64()
		want32, _ := exact.Float32()
		if body[0] == '-' { // a fraction has no -0
			want, want32 = math.Copysign(want, -1), float32(math.Copysign(float64(want32), -1))
		}
		if math.Float64bits(double) != math.Float64bits(want) || math.Float64bits(single) != math.Float64bits(float64(want32)) {
			t.Fatalf("%q: %v and %v, want %v and %v", s, double, single, want, want32)
		}
	})
}

// field reads digits with blanks around them, a number of Java's int.
func field(s string) (int64, bool) {
	s = trim(s)
	if !regexp.MustCompile(`^[0-9]+$`).MatchString(s) {
		return 0, false
	}
	n, ok := new(big.Int).SetString(s, 10)
	return n.Int64(), ok && n.Cmp(big.NewInt(math.MaxInt32)) <= 0
}

// slowDate is ParseDate by way of package time.
func slowDate(s string) (int64, bool) {
	if i := strings.Index(s, " "); i > 0 {
		s = s[:i]
	}
	v := [3]int64{0, 1, 1}
	for i, part := range strings.SplitN(s, "-", 3) {
		n, ok := field(part)
		if !ok {
			return 0, false
		}
		v[i] = n
	}
	if v[0] > 9999 || v[1] < 1 || v[1] > 12 || v[2] < 1 || v[2] > 31 {
		return 0, false
	}
	date := time.Date(int(v[0]), time.Month(v[1]), int(v[2]), 0, 0, 0, 0, time.UTC)
	return date.Unix() / 86400, date.Day() == int(v[2])
}

// slowTime is ParseTime: h[:m[:s[.f]]] in front of a + or else a - and h[:m] that are added.
func slowTime(s string) (int64, bool) {
	sign, zone := int64(1), "0"
	if before, after, ok := strings.Cut(s, "+"); ok {
		s, zone = before, after
	} else if before, after, ok := strings.Cut(s, "-"); ok {
		s, zone, sign = before, after, -1
	}
	fraction := ""
	var v [3]int64
	for i, part := range strings.SplitN(s, ":", 3) {
		if i == 2 {
			part, fraction, _ = strings.Cut(part, ".")
		}
		n, ok := field(part)
		if !ok {
			return 0, false
		}
		v[i] = n
	}
	for i, part := range strings.SplitN(zone, ":", 2) {
		n, ok := field(part)
		if !ok {
			return 0, false
		}
		v[i] += sign * n
	}
	fraction = strings.TrimLeftFunc(fraction, func(r rune) bool { return r <= ' ' })
	milli := int64(0)
	for i, weight := range []int64{100, 10, 1} {
		if i < len(fraction) && fraction[i] >= '0' && fraction[i] <= '9' {
			milli += weight * int64(fraction[i]-'0')
		}
	}
	if len(fraction) > 3 && fraction[3] >= '5' {
		milli++
	}
	return int64(int32(v[0]*3_600_000 + v[1]*60_000 + v[2]*1000 + milli)), true
}

var timestampText = regexp.MustCompile(`^([0-9]{4})-([0-9]{0,2})-([0-9]{0,2})(?: ([0-9]{0,2}):([0-9]{0,2}):([0-9]{0,2})(?:\.([0-9]{0,9}))?)?$`)

// slowTimestamp is ParseTimestamp by way of a pattern and package time.
func slowTimestamp(s string, p int) (us int64, ns int, ok bool) {
	m := timestampText.FindStringSubmatch(s)
	if m == nil || regexp.MustCompile(`--[0-9]`).MatchString(s) { // Java reads -1 for a month that is not there
		return 0, 0, false
	}
	number := func(i, missing int) int {
		if m[i] == "" {
			return missing
		}
		n, _ := strconv.Atoi(m[i])
		return n
	}
	nano, _ := strconv.Atoi((m[7] + "000000000")[:p] + strings.Repeat("0", 9-p))
	year, month, day, hour, minute, second := number(1, 0), number(2, 1), number(3, 1), number(4, 0), number(5, 0), number(6, 0)
	midnight := hour == 24 && minute == 0 && second == 0 && strings.Trim(m[7], "0") == ""
	if year == 0 || month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 && !midnight || minute > 59 || second > 59 {
		return 0, 0, false
	}
	for time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC).Day() != day {
		day--
	}
	at := time.Date(year, time.Month(month), day, hour, minute, second, nano, time.UTC)
	return at.Unix()*MicrosPerSecond + int64(nano/1000), nano % 1000, true
}

// FuzzParseTimes compares the readers of dates, times and timestamps with slow ones.
func FuzzParseTimes(f *testing.F) {
	for _, s := range []string{"2024-02-29", "2024-2", "0", " 7 -3-1 x", "12:34:56.7895", "1:2+3:4", "24:00:00", "99999:1", "12:3:.5", "1-2",
		"2024-02-30 24:00:00", "2024-12-31 23:59:59.999999999", "2024-- ::", "2024-1-1 1:1:1.", "0000-01-01", "1:1: 1 . 25", "3:2:1.-5"} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, s string, p int) {
		day, ok := ParseDate(s)
		if want, is := slowDate(s); ok != is || ok && day != want {
			t.Fatalf("%q as DATE: %d, %t; want %d, %t", s, day, ok, want, is)
		}
		milli, ok := ParseTime(s)
		if want, is := slowTime(s); ok != is || ok && milli != want {
			t.Fatalf("%q as TIME: %d, %t; want %d, %t", s, milli, ok, want, is)
		}
		if p < 0 || p > 9 {
			return
		}
		us, ns, ok := ParseTimestamp(s, p)
		if want, wantNs, is := slowTimestamp(s, p); ok != is || ok && (us != want || ns != wantNs) {
			t.Fatalf("%q as TIMESTAMP(%d): %d %d, %t; want %d %d, %t", s, p, us, ns, ok, want, wantNs, is)
		}
	})
}
