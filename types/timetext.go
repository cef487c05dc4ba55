package types

import "strconv"

// append2 appends two digits of n, of which Flink shows the last two.
func append2(dst []byte, n int) []byte { return append(dst, byte('0'+n/10%10), byte('0'+n%10)) }

// pairs holds the two digits of 00..99.
const pairs = "0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849" +
	"5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899"

func put2(b []byte, n int) {
	b[0], b[1] = pairs[2*n], pairs[2*n+1]
}

// AppendDateTime appends the whole seconds of a timestamp as yyyy-MM-dd, sep, HH:mm:ss.
func AppendDateTime(dst []byte, us int64, sep byte) []byte {
	day, rest := SplitDay(us)
	y, m, d := Civil(day)
	sec := int(rest / MicrosPerSecond)
	if y < 0 || y > 9999 {
		return AppendClock(append(AppendDate(dst, day), sep), sec)
	}
	var b [19]byte
	put2(b[0:2], int(y)/100)
	put2(b[2:4], int(y)%100)
	b[4] = '-'
	put2(b[5:7], m)
	b[7] = '-'
	put2(b[8:10], d)
	b[10] = sep
	put2(b[11:13], sec/3600)
	b[13] = ':'
	put2(b[14:16], sec/60%60)
	b[16] = ':'
	put2(b[17:19], sec%60)
	return append(dst, b[:]...)
}

// AppendDate appends a day number as yyyy-MM-dd, with the last four digits of the year. As in Flink, digits of years
// before 0 come out as the characters below '0'.
func AppendDate(dst []byte, day int64) []byte {
	y, m, d := Civil(day)
	n := int(y)
	dst = append(dst, byte('0'+n/1000%10), byte('0'+n/100%10), byte('0'+n/10%10), byte('0'+n%10), '-')
	return append2(append(append2(dst, m), '-'), d)
}

// AppendClock appends a number of seconds as HH:mm:ss.
func AppendClock(dst []byte, sec int) []byte {
	dst = append(append2(dst, sec/3600), ':')
	dst = append(append2(dst, sec/60%60), ':')
	return append2(dst, sec%60)
}

// AppendTime appends the milliseconds of a day as TIME(p): HH:mm:ss and, for p > 0, a point and digits until the rest is
// zero, one at least and p at most. Hours are not cut to a day.
func AppendTime(dst []byte, ms int64, p int) []byte {
	if ms < 0 {
		ms = mod(ms, MillisPerDay)
	}
	dst = AppendClock(dst, int(ms/1000))
	if p == 0 {
		return dst
	}
	dst = append(dst, '.')
	rest := ms % 1000
	for ; p > 0; p-- {
		dst = append(dst, byte('0'+rest/100))
		if rest = rest % 100 * 10; rest == 0 {
			break
		}
	}
	return dst
}

// AppendTimestamp appends a timestamp of precision p in SQL's form. ns are the nanoseconds of the microsecond. Digits
// beyond p are printed as long as they are not all zero, as Flink 1.20 does.
func AppendTimestamp(dst []byte, us int64, ns, p int) []byte {
	return appendFraction(AppendDateTime(dst, us, ' '), int(mod(us, MicrosPerSecond))*1000+ns, p)
}

// appendFraction appends a point and the digits of ns, nine less the zeros behind the least-th; nothing if none is left.
func appendFraction(dst []byte, ns, least int) []byte {
	if ns == 0 && least == 0 {
		return dst
	}
	at := len(dst)
	dst = append(dst, ".000000000"...)
	for i := at + 9; ns > 0; i-- {
		dst[i] = byte('0' + ns%10)
		ns /= 10
	}
	n := 9
	for n > least && dst[at+n] == '0' {
		n--
	}
	return dst[:at+n+1]
}

// AppendIntervalMonths appends a year-month interval: +1-02.
func AppendIntervalMonths(dst []byte, months int64) []byte {
	dst, n := appendSign(dst, months)
	dst = strconv.AppendUint(dst, n/12, 10)
	return append2(append(dst, '-'), int(n%12))
}

// AppendIntervalMillis appends a day-time interval: +1 02:03:04.567.
func AppendIntervalMillis(dst []byte, ms int64) []byte {
	dst, n := appendSign(dst, ms)
	dst = strconv.AppendUint(dst, n/MillisPerDay, 10)
	dst = AppendClock(append(dst, ' '), int(n%MillisPerDay/1000))
	dst = append(dst, '.', byte('0'+n%1000/100))
	return append2(dst, int(n%100))
}

func appendSign(dst []byte, v int64) ([]byte, uint64) {
	if v < 0 {
		return append(dst, '-'), -uint64(v)
	}
	return append(dst, '+'), uint64(v)
}

// isoDate appends a date as java.time does: years beyond four digits with a sign.
func isoDate(dst []byte, day int64) []byte {
	y, m, d := Civil(day)
	a := y
	if a < 0 {
		dst = append(dst, '-')
		a = -a
	} else if a > 9999 {
		dst = append(dst, '+')
	}
	for k := int64(1000); k > 1 && a < k; k /= 10 {
		dst = append(dst, '0')
	}
	dst = strconv.AppendInt(dst, a, 10)
	return append2(append(append2(append(dst, '-'), m), '-'), d)
}

// isoClock appends a time of day as java.time does: no seconds when they are zero (unless always), a fraction of 3, 6 or
// 9 digits.
func isoClock(dst []byte, sec, ns int, always bool) []byte {
	dst = append2(append(append2(dst, sec/3600), ':'), sec/60%60)
	if !always && sec%60 == 0 && ns == 0 {
		return dst
	}
	dst = append2(append(dst, ':'), sec%60)
	switch {
	case ns == 0:
		return dst
	case ns%1_000_000 == 0:
		return appendFraction(dst, ns, 3)
	case ns%1_000 == 0:
		return appendFraction(dst, ns, 6)
	default:
		return appendFraction(dst, ns, 9)
	}
}

// isoTimestamp appends a timestamp as LocalDateTime (or, with zulu, Instant) prints it.
func isoTimestamp(dst []byte, us int64, ns int, zulu bool) []byte {
	day, rest := SplitDay(us)
	dst = append(isoDate(dst, day), 'T')
	dst = isoClock(dst, int(rest/MicrosPerSecond), int(rest%MicrosPerSecond)*1000+ns, zulu)
	if zulu {
		dst = append(dst, 'Z')
	}
	return dst
}
