package types

import (
	"strconv"
	"strings"
)

// The parsers here read text as CAST does over columns; false is what CAST reports as an error and TRY_CAST as NULL. They
// allocate nothing.

// ParseBoolean reads t, true, y, yes, 1 and f, false, n, no, 0 in any letter case, without blanks.
func ParseBoolean(s string) (v, ok bool) {
	switch len(s) {
	case 1:
		switch s[0] | 0x20 {
		case 't', 'y':
			return true, true
		case 'f', 'n':
			return false, true
		}
		return s[0] == '1', s[0] == '1' || s[0] == '0'
	case 2:
		return false, strings.EqualFold(s, "no")
	case 3:
		return true, strings.EqualFold(s, "yes")
	case 4:
		return true, strings.EqualFold(s, "true")
	case 5:
		return false, strings.EqualFold(s, "false")
	}
	return false, false
}

// ParseInt reads a whole number between lo and hi: blanks around it, a sign, digits; a point and digits behind it are
// checked and dropped.
func ParseInt(s string, lo, hi int64) (int64, bool) {
	s = strings.Trim(s, " ")
	i := 0
	neg := false
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		neg = s[i] == '-'
		i++
	}
	if i == len(s) {
		return 0, false
	}
	v := int64(0) // negated, so that the smallest number fits
	for ; i < len(s) && s[i] != '.'; i++ {
		c := s[i] - '0'
		if c > 9 || v < -922337203685477580 {
			return 0, false
		}
		if v = v*10 - int64(c); v > 0 {
			return 0, false
		}
	}
	for i++; i < len(s); i++ {
		if s[i]-'0' > 9 {
			return 0, false
		}
	}
	if !neg {
		if v = -v; v < 0 {
			return 0, false
		}
	}
	return v, v >= lo && v <= hi
}

// IntRange gives the bounds of an integer type.
func IntRange(k Kind) (lo, hi int64) {
	switch k {
	case TinyInt:
		return -1 << 7, 1<<7 - 1
	case SmallInt:
		return -1 << 15, 1<<15 - 1
	case Int:
		return -1 << 31, 1<<31 - 1
	default:
		return -1 << 63, 1<<63 - 1
	}
}

// ParseDouble reads a number as Java's Double.parseDouble: control characters and blanks around it, NaN, Infinity, a
// decimal or hexadecimal number, perhaps with a suffix d or f. Too large a number is infinite.
func ParseDouble(s string) (float64, bool) { return parseJavaFloat(s, 64) }

// ParseFloat is ParseDouble, rounded to a FLOAT at once.
func ParseFloat(s string) (float64, bool) { return parseJavaFloat(s, 32) }

func parseJavaFloat(s string, bits int) (float64, bool) {
	for len(s) > 0 && s[0] <= ' ' {
		s = s[1:]
	}
	for len(s) > 0 && s[len(s)-1] <= ' ' {
		s = s[:len(s)-1]
	}
	body := s
	if len(body) > 0 && (body[0] == '-' || body[0] == '+') {
		body = body[1:]
	}
	if body == "NaN" || body == "Infinity" {
		f, err := strconv.ParseFloat(s[len(s)-len(body):], 64)
		if s[0] == '-' {
			f = -f
		}
		return f, err == nil
	}
	hex := len(body) > 1 && body[0] == '0' && body[1]|0x20 == 'x'
	if n := len(s); n > 0 && (s[n-1]|0x20 == 'd' || s[n-1]|0x20 == 'f') {
		s, body = s[:n-1], strings.TrimSuffix(body, body[len(body)-1:])
	}
	if !floatSyntax(body, hex) {
		return 0, false
	}
	f, err := strconv.ParseFloat(s, bits)
	if err != nil && err.(*strconv.NumError).Err != strconv.ErrRange {
		return 0, false
	}
	return f, true
}

// floatSyntax checks digits with a point perhaps and an exponent (which hexadecimal numbers must have): strconv takes more
// than Java does.
func floatSyntax(s string, hex bool) bool {
	mark := byte('e')
	if hex {
		s, mark = s[2:], 'p'
	}
	digits, points := 0, 0
	i := 0
	for ; i < len(s) && s[i]|0x20 != mark; i++ {
		switch c := s[i]; {
		case c == '.':
			points++
		case c-'0' <= 9 || hex && (c|0x20)-'a' <= 5:
			digits++
		default:
			return false
		}
	}
	if digits == 0 || points > 1 || i == len(s) && hex {
		return false
	}
	if i == len(s) {
		return true
	}
	if i++; i < len(s) && (s[i] == '+' || s[i] == '-') {
		i++
	}
	from := i
	for i < len(s) && s[i]-'0' <= 9 {
		i++
	}
	return i == len(s) && i > from
}

// ParseDate reads y, y-m or y-m-d in front of a blank: short numbers are fine, the year is 0..9999, the day must exist.
func ParseDate(s string) (int64, bool) {
	if i := strings.IndexByte(s, ' '); i > 0 {
		s = s[:i]
	}
	ys, rest, more := strings.Cut(s, "-")
	m, d := 1, 1
	y, ok := trimmedInt(ys)
	if more && ok {
		ms, ds, more := strings.Cut(rest, "-")
		m, ok = trimmedInt(ms)
		if more && ok {
			d, ok = trimmedInt(ds)
		}
	}
	if !ok || y > 9999 || m < 1 || m > 12 || d < 1 || d > DaysIn(int64(y), m) {
		return 0, false
	}
	return DayOf(int64(y), m, d), true
}

// trimmedInt reads digits with blanks or control characters around them, up to the greatest INT.
func trimmedInt(s string) (int, bool) {
	for len(s) > 0 && s[0] <= ' ' {
		s = s[1:]
	}
	for len(s) > 0 && s[len(s)-1] <= ' ' {
		s = s[:len(s)-1]
	}
	if s == "" {
		return 0, false
	}
	n := 0
	for i := range len(s) {
		if s[i]-'0' > 9 {
			return 0, false
		}
		if n = n*10 + int(s[i]-'0'); n > 1<<31-1 {
			return 0, false
		}
	}
	return n, true
}

// ParseTime reads h, h:m or h:m:s with a fraction, rounded to milliseconds, and perhaps a zone offset, which is added. The
// fields are not checked against their ranges: the result, milliseconds, may lie outside a day, and wraps at 32 bits.
func ParseTime(s string) (int64, bool) {
	var zh, zm int
	if i := strings.IndexAny(s, "+-"); i >= 0 {
		if j := strings.IndexByte(s, '+'); j >= 0 {
			i = j
		}
		hs, ms, both := strings.Cut(s[i+1:], ":")
		var ok bool
		if zh, ok = trimmedInt(hs); !ok {
			return 0, false
		}
		if both {
			if zm, ok = trimmedInt(ms); !ok {
				return 0, false
			}
		}
		if s[i] == '-' {
			zh, zm = -zh, -zm
		}
		s = s[:i]
	}
	hs, rest, more := strings.Cut(s, ":")
	var m, sec, milli int
	h, ok := trimmedInt(hs)
	if more && ok {
		ms, ss, more := strings.Cut(rest, ":")
		m, ok = trimmedInt(ms)
		if more && ok {
			whole, frac, point := strings.Cut(ss, ".")
			sec, ok = trimmedInt(whole)
			if point {
				milli = millis(frac)
			}
		}
	}
	if !ok {
		return 0, false
	}
	return int64(int32((h+zh)*3_600_000 + (m+zm)*60_000 + sec*1000 + milli)), true
}

// millis rounds the digits of a fraction to milliseconds; anything but a digit counts as 0.
func millis(s string) int {
	for len(s) > 0 && s[0] <= ' ' {
		s = s[1:]
	}
	n, unit := 0, 100
	for i := 0; i < len(s) && unit > 0; i++ {
		if c := s[i] - '0'; c <= 9 {
			n += unit * int(c)
		}
		if unit == 1 && i+1 < len(s) && s[i+1] >= '5' {
			n++
		}
		unit /= 10
	}
	return n
}

// ParseTimestamp reads yyyy-M-d, perhaps with H:m:s and a fraction of up to nine digits behind one blank, and cuts it to
// precision p. A day beyond a short month is clamped, 24:00:00 is the next day. The results are microseconds and the
// nanoseconds of that microsecond.
func ParseTimestamp(s string, p int) (us int64, ns int, ok bool) {
	sc := scanner{s: s}
	y := sc.number(4, 4)
	sc.literal('-')
	m := sc.optional(2, 1)
	sc.literal('-')
	d := sc.optional(2, 1)
	var h, mi, sec, nano int
	if sc.at < len(s) && !sc.bad {
		sc.literal(' ')
		h = sc.optional(2, 0)
		sc.literal(':')
		mi = sc.optional(2, 0)
		sc.literal(':')
		sec = sc.optional(2, 0)
		nano = sc.fraction()
	}
	if sc.bad || sc.at < len(s) {
		return 0, 0, false
	}
	next := h == 24 && mi == 0 && sec == 0 && nano == 0
	if y < 1 || m < 1 || m > 12 || d < 1 || d > 31 || h > 23 && !next || mi > 59 || sec > 59 {
		return 0, 0, false
	}
	day := DayOf(int64(y), m, min(d, DaysIn(int64(y), m)))
	if p < 9 {
		nano -= nano % int(pow10[9-p])
	}
	return day*MicrosPerDay + int64(h*3600+mi*60+sec)*MicrosPerSecond + int64(nano/1000), nano % 1000, true
}

// scanner reads a text from the left; bad is set by the first thing that does not fit and stays.
type scanner struct {
	s   string
	at  int
	bad bool
}

func (c *scanner) literal(b byte) {
	if c.at < len(c.s) && c.s[c.at] == b {
		c.at++
	} else {
		c.bad = true
	}
}

// number reads lo to hi digits.
func (c *scanner) number(lo, hi int) int {
	n, k := 0, 0
	for ; k < hi && c.at < len(c.s) && c.s[c.at]-'0' <= 9; k++ {
		n = n*10 + int(c.s[c.at]-'0')
		c.at++
	}
	if k < lo {
		c.bad = true
	}
	return n
}

// optional reads up to hi digits; without any it is missing. A negative number fits nowhere.
func (c *scanner) optional(hi, missing int) int {
	rest := c.s[c.at:]
	if len(rest) > 1 && rest[0] == '-' && rest[1]-'0' <= 9 {
		c.bad = true
	}
	if rest == "" || rest[0]-'0' > 9 {
		return missing
	}
	return c.number(1, hi)
}

// fraction reads a point and up to nine digits, both optional, as nanoseconds.
func (c *scanner) fraction() int {
	if c.at >= len(c.s) || c.s[c.at] != '.' {
		return 0
	}
	c.at++
	n, k := 0, 0
	for ; k < 9 && c.at < len(c.s) && c.s[c.at]-'0' <= 9; k++ {
		n = n*10 + int(c.s[c.at]-'0')
		c.at++
	}
	return n * int(pow10[9-k])
}

// ParseLegacyDate reads y-M-d as java.sql.Date does: four digits of a year, one or two of month and day; a day beyond the
// month goes into the next. Before 1582-10-15 the calendar is the Julian one, whose days keep their names, and the ten
// days that the reform skipped count on from it.
func ParseLegacyDate(s string) (int64, bool) {
	c := scanner{s: s}
	y := int64(c.number(4, 4))
	c.literal('-')
	m := c.number(1, 2)
	c.literal('-')
	d := c.number(1, 2)
	if c.bad || c.at < len(s) || m < 1 || m > 12 || d < 1 || d > 31 {
		return 0, false
	}
	if y > 1582 || y == 1582 && (m > 10 || m == 10 && d > 14) {
		return DayOf(y, m, d), true
	}
	if y == 1582 && m == 10 && d > 4 {
		d += 10
	}
	last := DaysIn(y, m)
	if m == 2 && y%4 == 0 {
		last = 29
	}
	if d > last {
		m, d = m+1, d-last
	}
	y = max(y, 1)
	return DayOf(y, m, d), d <= DaysIn(y, m)
}

// ParseLegacyTimestamp reads y-M-d H:m:s with up to nine digits of a fraction as java.sql.Timestamp does, or a date alone as
// ParseLegacyDate: the second try of TO_TIMESTAMP with a pattern.
func ParseLegacyTimestamp(s string) (us int64, ns int, ok bool) {
	for len(s) > 0 && s[0] <= ' ' {
		s = s[1:]
	}
	for len(s) > 0 && s[len(s)-1] <= ' ' {
		s = s[:len(s)-1]
	}
	date, clock, both := strings.Cut(s, " ")
	day, ok := ParseLegacyDate(date)
	if !ok || !both {
		return day * MicrosPerDay, 0, ok
	}
	c := scanner{s: clock}
	h := c.number(1, 9)
	c.literal(':')
	m := c.number(1, 9)
	c.literal(':')
	sec := c.number(1, 9)
	nano, from := 0, c.at
	if from < len(clock) {
		nano = c.fraction()
		c.bad = c.bad || c.at < from+2
	}
	if c.bad || c.at < len(clock) {
		return 0, 0, false
	}
	us = day*MicrosPerDay + (int64(h)*3600+int64(m)*60+int64(sec))*MicrosPerSecond + int64(nano/1000)
	return us, nano % 1000, true
}
