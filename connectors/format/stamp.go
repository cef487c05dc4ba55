package format

import (
	"strconv"

	"runnel/types"
)

// stampForm names the form of timestamps for errors.
func stampForm(iso, zoned bool) string {
	form := "yyyy-MM-dd HH:mm:ss[.f]"
	if iso {
		form = "yyyy-MM-ddTHH:mm[:ss[.f]]"
	}
	if zoned {
		form += "Z"
	}
	return form
}

// parseStamp reads a timestamp of the formats json and csv. SQL: yyyy-MM-dd HH:mm:ss with up to nine digits behind a
// point; ISO-8601: T between date and time, seconds optional. A zoned one ends with Z. A day that a short month does not
// have is clamped and 24:00:00 is the next day, except in ISO-8601 without zone. No digit is cut off.
func parseStamp(s string, iso, zoned bool) (us int64, ns int, ok bool) {
	if us, ok := plainStamp(s, iso, zoned); ok {
		return us, 0, true
	}
	c := reader{s: s}
	y := c.year()
	c.expect('-')
	m := c.two()
	c.expect('-')
	d := c.two()
	if iso {
		if c.at < len(s) && s[c.at]|0x20 == 't' {
			c.at++
		} else {
			c.bad = true
		}
	} else {
		c.expect(' ')
	}
	h := c.two()
	c.expect(':')
	mi := c.two()
	sec, nano := 0, 0
	if !iso || c.at < len(s) && s[c.at] == ':' {
		c.expect(':')
		sec = c.two()
		nano = c.fraction(iso && !zoned)
	}
	if zoned {
		c.expect('Z')
	}
	strict := iso && !zoned
	next := h == 24 && mi == 0 && sec == 0 && nano == 0 && !strict
	if c.bad || c.at < len(s) || m < 1 || m > 12 || d < 1 || d > 31 || h > 23 && !next || mi > 59 || sec > 59 {
		return 0, 0, false
	}
	if last := types.DaysIn(y, m); d > last {
		if strict {
			return 0, 0, false
		}
		d = last
	}
	us = types.DayOf(y, m, d)*types.MicrosPerDay + int64(h*3600+mi*60+sec)*types.MicrosPerSecond + int64(nano/1000)
	return us, nano % 1000, true
}

// plainStamp reads the usual forms, with all parts in their places and up to six digits behind the point.
func plainStamp(s string, iso, zoned bool) (int64, bool) {
	if zoned {
		if len(s) == 0 || s[len(s)-1] != 'Z' {
			return 0, false
		}
		s = s[:len(s)-1]
	}
	mid := byte(' ')
	if iso {
		mid = 'T'
	}
	if len(s) < 19 || len(s) > 26 || s[4] != '-' || s[7] != '-' || s[10] != mid || s[13] != ':' || s[16] != ':' {
		return 0, false
	}
	bad := byte(0)
	two := func(at int) int {
		a, b := s[at]-'0', s[at+1]-'0'
		if a > 9 || b > 9 {
			bad = 1
		}
		return int(a)*10 + int(b)
	}
	y, m, d := int64(two(0)*100+two(2)), two(5), two(8)
	h, mi, sec := two(11), two(14), two(17)
	micro := int64(0)
	if len(s) > 19 {
		if s[19] != '.' || len(s) == 20 {
			return 0, false
		}
		for i := 20; i < len(s); i++ {
			c := s[i] - '0'
			if c > 9 {
				return 0, false
			}
			micro = micro*10 + int64(c)
		}
		for range 26 - len(s) {
			micro *= 10
		}
	}
	if bad != 0 || m-1 > 11 || m == 0 || d == 0 || d > 28 && d > types.DaysIn(y, m) || h > 23 || mi > 59 || sec > 59 {
		return 0, false
	}
	return types.DayOf(y, m, d)*types.MicrosPerDay + int64(h*3600+mi*60+sec)*types.MicrosPerSecond + micro, true
}

// parseISODate reads yyyy-MM-dd; a year of more digits has a sign. The day must exist.
func parseISODate(s string) (int64, bool) {
	c := reader{s: s}
	y := c.year()
	c.expect('-')
	m := c.two()
	c.expect('-')
	d := c.two()
	if c.bad || c.at < len(s) || m < 1 || m > 12 || d < 1 || d > types.DaysIn(y, m) {
		return 0, false
	}
	return types.DayOf(y, m, d), true
}

// parseJSONTime reads HH:mm:ss and drops a fraction; 24:00:00 is midnight.
func parseJSONTime(s string) (int64, bool) {
	c := reader{s: s}
	h := c.two()
	c.expect(':')
	m := c.two()
	c.expect(':')
	sec := c.two()
	nano := c.fraction(false)
	if h == 24 && m == 0 && sec == 0 && nano == 0 {
		h = 0
	}
	return int64((h*60+m)*60+sec) * 1000, !c.bad && c.at == len(s) && h < 24 && m < 60 && sec < 60
}

// parseCSVTime reads HH:mm[:ss[.f]] and keeps milliseconds.
func parseCSVTime(s string) (int64, bool) {
	c := reader{s: s}
	h := c.two()
	c.expect(':')
	m := c.two()
	sec, nano := 0, 0
	if c.at < len(s) {
		c.expect(':')
		sec = c.two()
		nano = c.fraction(true)
	}
	return int64((h*60+m)*60+sec)*1000 + int64(nano/1_000_000), !c.bad && c.at == len(s) && h < 24 && m < 60 && sec < 60
}

// reader reads a text from the left; bad is set by the first thing that does not fit and stays.
type reader struct {
	s   string
	at  int
	bad bool
}

func (c *reader) expect(b byte) {
	if c.at < len(c.s) && c.s[c.at] == b {
		c.at++
	} else {
		c.bad = true
	}
}

func (c *reader) two() int { return int(c.digits(2, 2)) }

// digits reads lo to hi digits.
func (c *reader) digits(lo, hi int) int64 {
	n, k := int64(0), 0
	for ; k < hi && c.at < len(c.s) && c.s[c.at]-'0' <= 9; k++ {
		n = n*10 + int64(c.s[c.at]-'0')
		c.at++
	}
	if k < lo {
		c.bad = true
	}
	return n
}

// year reads four digits, or a sign and 4 to 9 digits; a plus stands only before more than four.
func (c *reader) year() int64 {
	if c.at < len(c.s) && (c.s[c.at] == '-' || c.s[c.at] == '+') {
		sign := c.s[c.at]
		c.at++
		from := c.at
		y := c.digits(4, 9)
		if sign == '-' {
			c.bad = c.bad || y == 0
			return -y
		}
		c.bad = c.bad || c.at-from == 4
		return y
	}
	return c.digits(4, 4)
}

// fraction reads a point and up to nine digits as nanoseconds; without a point there is none.
func (c *reader) fraction(need bool) int {
	if c.at >= len(c.s) || c.s[c.at] != '.' {
		return 0
	}
	c.at++
	from := c.at
	n := c.digits(0, 9)
	if need && c.at == from {
		c.bad = true
	}
	for range 9 - (c.at - from) {
		n *= 10
	}
	return int(n)
}

// appendStamp appends a timestamp with just the digits that it needs. As a LocalDateTime does, ISO-8601 without zone
// keeps the seconds here even when they are zero.
func appendStamp(dst []byte, us int64, ns int, iso, zoned bool) []byte {
	sep := byte(' ')
	if iso {
		sep = 'T'
	}
	day, rest := types.SplitDay(us)
	if day >= firstDay && day <= lastDay {
		dst = types.AppendDateTime(dst, us, sep)
	} else {
		dst = append(appendYearDate(dst, day), sep)
		dst = types.AppendClock(dst, int(rest/types.MicrosPerSecond))
	}
	dst = appendNanos(dst, int(rest%types.MicrosPerSecond)*1000+ns)
	if zoned {
		dst = append(dst, 'Z')
	}
	return dst
}

// firstDay and lastDay bound the years of four digits.
var firstDay, lastDay = types.DayOf(0, 1, 1), types.DayOf(9999, 12, 31)

// appendNanos appends a point and the digits of a fraction without trailing zeros; nothing for 0.
func appendNanos(dst []byte, ns int) []byte {
	if ns == 0 {
		return dst
	}
	at := len(dst)
	dst = append(dst, ".000000000"...)
	for i := at + 9; ns > 0; i-- {
		dst[i] = byte('0' + ns%10)
		ns /= 10
	}
	for dst[len(dst)-1] == '0' {
		dst = dst[:len(dst)-1]
	}
	return dst
}

// appendYearDate appends yyyy-MM-dd; years beyond four digits have a sign.
func appendYearDate(dst []byte, day int64) []byte {
	y, m, d := types.Civil(day)
	if y >= 0 && y <= 9999 {
		return types.AppendDate(dst, day)
	}
	a := y
	if y < 0 {
		dst = append(dst, '-')
		a = -y
	} else {
		dst = append(dst, '+')
	}
	for k := int64(1000); k > 1 && a < k; k /= 10 {
		dst = append(dst, '0')
	}
	dst = strconv.AppendInt(dst, a, 10)
	return append(dst, '-', byte('0'+m/10), byte('0'+m%10), '-', byte('0'+d/10), byte('0'+d%10))
}
