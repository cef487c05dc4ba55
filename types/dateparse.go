package types

import "strings"

// parsedDate holds the fields that a text gave.
type parsedDate struct {
	val [fieldCount]int64
	has uint32
}

func (d *parsedDate) is(f dateField) bool { return d.has&(1<<f) != 0 }

// set reports whether the field had no other value before.
func (d *parsedDate) set(f dateField, v int64) bool {
	if d.is(f) && d.val[f] != v {
		return false
	}
	d.has |= 1 << f
	d.val[f] = v
	return true
}

// Parse reads a whole text by the pattern. Fields that the pattern lacks are those of 1970-01-01 00:00:00; offsets and
// zones are read and ignored. The results are microseconds of the wall clock and the nanoseconds of that microsecond.
func (p *DatePattern) Parse(s string) (us int64, ns int, ok bool) {
	var d parsedDate
	at, ok := p.parse(s, 0, 0, len(p.elems), &d)
	if !ok || at != len(s) {
		return 0, 0, false
	}
	return d.resolve()
}

// parse reads elements i..end from at on and gives the place behind them.
func (p *DatePattern) parse(s string, at, i, end int, d *parsedDate) (int, bool) {
	for i < end {
		e := &p.elems[i]
		switch e.op {
		case opOptional:
			saved := *d
			if next, ok := p.parse(s, at, i+1, e.end, d); ok {
				at = next
			} else {
				*d = saved
			}
			i = e.end
			continue
		case opPad:
			if at+e.pad > len(s) {
				return at, false
			}
			from := at
			for at < from+e.pad && s[at] == ' ' {
				at++
			}
			next, ok := p.parse(s[:from+e.pad], at, i+1, i+2, d)
			if !ok || next != from+e.pad {
				return at, false
			}
			at, i = next, i+2
			continue
		}
		next, ok := e.parse(s, at, d)
		if !ok {
			return at, false
		}
		at = next
		i++
	}
	return at, true
}

func (e *patternElem) parse(s string, at int, d *parsedDate) (int, bool) {
	switch e.op {
	case opLiteral:
		return at + len(e.literal), strings.HasPrefix(s[at:], e.literal)
	case opNumber, opReduced:
		return e.parseNumber(s, at, d)
	case opFraction:
		v := int64(0)
		for k := range e.max {
			if at+k >= len(s) || s[at+k]-'0' > 9 {
				return at, false
			}
			v = v*10 + int64(s[at+k]-'0')
		}
		return at + e.max, d.set(e.field, v*int64(pow10[9-e.max]))
	case opText:
		return e.parseText(s, at, d)
	case opZone:
		return e.parseZone(s, at)
	}
	return at, true
}

// parseNumber follows NumberPrinterParser in strict mode.
func (e *patternElem) parseNumber(s string, at int, d *parsedDate) (int, bool) {
	if at == len(s) {
		return at, false
	}
	neg, pos := s[at] == '-', s[at] == '+'
	if neg && e.sign == signNotNegative || pos && e.sign != signExceedsPad {
		return at, false
	}
	if neg || pos {
		at++
	}
	digits := 0
	for digits < e.max+e.follow && at+digits < len(s) && s[at+digits]-'0' <= 9 {
		digits++
	}
	if e.follow > 0 {
		digits = max(e.min, digits-e.follow)
	}
	if digits < e.min || at+digits > len(s) {
		return at, false
	}
	v := int64(0)
	for _, c := range []byte(s[at : at+digits]) {
		if c-'0' > 9 || v > 1<<58 {
			return at, false
		}
		v = v*10 + int64(c-'0')
	}
	switch {
	case neg && v == 0, pos && digits <= e.min:
		return at, false
	case neg:
		v = -v
	case e.sign == signExceedsPad && !pos && digits > e.min:
		return at, false
	}
	if e.op == opReduced {
		v += 2000
	}
	return at + digits, d.set(e.field, v)
}

// parseText finds the longest name of the field's style at the place; letter case counts.
func (e *patternElem) parseText(s string, at int, d *parsedDate) (int, bool) {
	lo, hi := int64(1), int64(12)
	switch e.field {
	case fieldDayOfWeek:
		hi = 7
	case fieldQuarter:
		hi = 4
	case fieldAMPM, fieldEra:
		lo, hi = 0, 1
	case fieldDayPeriod:
		return at, false
	}
	best, value := "", int64(0)
	for v := lo; v <= hi; v++ {
		if name := e.text(v, nil); len(name) > len(best) && strings.HasPrefix(s[at:], name) {
			best, value = name, v
		}
	}
	return at + len(best), best != "" && d.set(e.field, value)
}

// parseZone reads an offset or the name of a zone.
func (e *patternElem) parseZone(s string, at int) (int, bool) {
	rest := s[at:]
	switch e.literal {
	case "X", "Z", "x":
		if strings.HasPrefix(rest, "Z") && (e.literal == "X" || e.literal == "Z" && e.style == 5) {
			return at + 1, true
		}
		n := e.offsetLength(rest)
		return at + n, n > 0
	case "O":
		if !strings.HasPrefix(rest, "GMT") {
			return at, false
		}
		n := 3
		for n < len(rest) && strings.IndexByte("+-:0123456789", rest[n]) >= 0 {
			n++
		}
		return at + n, true
	}
	n := 0
	for n < len(rest) && (isLetter(rest[n]) || strings.IndexByte("/_+-:0123456789", rest[n]) >= 0) {
		n++
	}
	for ; n > 0; n-- { // the longest name that is one
		if knownZone(rest[:n]) {
			return at + n, true
		}
	}
	return at, false
}

// offsetLength is the length of the offset at the start of s in the element's form, 0 if there is none.
func (e *patternElem) offsetLength(s string) int {
	if s == "" || s[0] != '+' && s[0] != '-' {
		return 0
	}
	digits := func(from, n int) bool {
		for k := from; k < from+n; k++ {
			if k >= len(s) || s[k]-'0' > 9 {
				return false
			}
		}
		return true
	}
	n := e.style
	if e.literal == "Z" && n < 4 {
		n = 2
	} else if e.literal == "Z" {
		n = 3
	}
	switch {
	case !digits(1, 2):
		return 0
	case n == 1 && digits(3, 2):
		return 5
	case n == 1:
		return 3
	case n%2 == 0 && digits(3, 2):
		return 5
	case n%2 == 1 && len(s) > 3 && s[3] == ':' && digits(4, 2):
		return 6
	}
	return 0
}

func knownZone(name string) bool {
	if _, ok := shortZones[name]; ok {
		return true
	}
	if _, ok := zoneAbbreviations[strings.ToUpper(name)]; ok {
		return true
	}
	_, ok := gmtZone(name)
	return ok || namedZone(name) != nil
}

// resolve makes a timestamp of the fields, as the resolver style SMART does.
func (d *parsedDate) resolve() (us int64, ns int, ok bool) {
	if !d.resolveYear() || !d.resolveTime() {
		return 0, 0, false
	}
	day, whole, ok := d.resolveDay()
	if !ok {
		return 0, 0, false
	}
	get := func(f dateField, missing int64) int64 {
		if d.is(f) {
			return d.val[f]
		}
		return missing
	}
	h, m, s, nano := get(fieldHour, 0), get(fieldMinute, 0), get(fieldSecond, 0), get(fieldNano, 0)
	next := h == 24 && m == 0 && s == 0 && nano == 0
	if h < 0 || h > 23 && !next || m < 0 || m > 59 || s < 0 || s > 59 || nano < 0 {
		return 0, 0, false
	}
	if next {
		h = 0
		if whole {
			day++
		}
	}
	if d.is(fieldDayOfWeek) && whole && weekday(day) != d.val[fieldDayOfWeek] {
		return 0, 0, false
	}
	return day*MicrosPerDay + (h*3600+m*60+s)*MicrosPerSecond + nano/1000, int(nano % 1000), true
}

func (d *parsedDate) resolveYear() bool {
	if d.is(fieldYearOfEra) {
		y := d.val[fieldYearOfEra]
		if y < 1 || y > 999_999_999 {
			return false
		}
		if d.is(fieldEra) && d.val[fieldEra] == 0 {
			y = 1 - y
		}
		return d.set(fieldYear, y)
	}
	return !d.is(fieldYear) || d.val[fieldYear] >= -999_999_999 && d.val[fieldYear] <= 999_999_999
}

// resolveTime turns the other ways of giving a time of day into hour, minute, second and nanosecond.
func (d *parsedDate) resolveTime() bool {
	if d.is(fieldClockHour) {
		h := d.val[fieldClockHour]
		if h < 0 || h > 24 || !d.set(fieldHour, h%24) {
			return false
		}
	}
	if d.is(fieldClockHourAMPM) {
		h := d.val[fieldClockHourAMPM]
		if h < 0 || h > 12 || !d.set(fieldHourAMPM, h%12) {
			return false
		}
	}
	if d.is(fieldAMPM) && d.is(fieldHourAMPM) {
		h := d.val[fieldHourAMPM]
		if h < 0 || h > 11 || !d.set(fieldHour, d.val[fieldAMPM]*12+h) {
			return false
		}
	}
	nanos := int64(-1)
	if d.is(fieldMilliOfDay) {
		nanos = d.val[fieldMilliOfDay] * 1_000_000
	}
	if d.is(fieldNanoOfDay) {
		nanos = d.val[fieldNanoOfDay]
	}
	if nanos < 0 {
		return true
	}
	sec := nanos / 1_000_000_000
	return sec < 86400 && d.set(fieldHour, sec/3600) && d.set(fieldMinute, sec/60%60) && d.set(fieldSecond, sec%60) &&
		(d.is(fieldNano) || d.set(fieldNano, nanos%1_000_000_000))
}

// resolveDay finds the day; whole tells whether the fields named a day, or what is missing was filled in.
func (d *parsedDate) resolveDay() (day int64, whole, ok bool) {
	switch {
	case d.is(fieldJulian):
		return d.val[fieldJulian] - 40587, true, true
	case d.is(fieldYear) && d.is(fieldMonth) && d.is(fieldDayOfMonth):
		m, dom := d.val[fieldMonth], d.val[fieldDayOfMonth]
		if m < 1 || m > 12 || dom < 1 || dom > 31 {
			return 0, false, false
		}
		y := d.val[fieldYear]
		return DayOf(y, int(m), min(int(dom), DaysIn(y, int(m)))), true, true
	case d.is(fieldYear) && d.is(fieldDayOfYear):
		n := d.val[fieldDayOfYear]
		last := int64(365)
		if Leap(d.val[fieldYear]) {
			last = 366
		}
		return DayOf(d.val[fieldYear], 1, 1) + n - 1, true, n >= 1 && n <= last
	}
	dow := int64(0) // days after Sunday
	switch {
	case d.is(fieldLocalDay):
		dow = d.val[fieldLocalDay] - 1
	case d.is(fieldDayOfWeek):
		dow = d.val[fieldDayOfWeek] % 7
	}
	hasDay := d.is(fieldLocalDay) || d.is(fieldDayOfWeek)
	if dow < 0 || dow > 6 {
		return 0, false, false
	}
	if d.is(fieldWeekYear) && d.is(fieldWeek) && hasDay {
		jan1 := DayOf(d.val[fieldWeekYear], 1, 1)
		return jan1 - weekday(jan1)%7 + (d.val[fieldWeek]-1)*7 + dow, true, d.val[fieldWeek] >= 1 && d.val[fieldWeek] <= 53
	}
	if d.is(fieldYear) && d.is(fieldMonth) && d.is(fieldWeekOfMonth) && hasDay {
		first := DayOf(d.val[fieldYear], int(d.val[fieldMonth]), 1)
		return first - weekday(first)%7 + (d.val[fieldWeekOfMonth]-1)*7 + dow, true, true
	}
	return d.fillDay()
}

// fillDay takes what is missing from 1970-01-01.
func (d *parsedDate) fillDay() (day int64, whole, ok bool) {
	y, m, dom := int64(1970), int64(1), int64(1)
	if d.is(fieldYear) {
		y = d.val[fieldYear]
	}
	if d.is(fieldMonth) {
		m = d.val[fieldMonth]
	}
	if d.is(fieldDayOfMonth) {
		dom = d.val[fieldDayOfMonth]
	}
	if m < 1 || m > 12 || dom < 1 || dom > int64(DaysIn(y, int(m))) {
		return 0, false, false
	}
	return DayOf(y, int(m), int(dom)), false, true
}

// zoneAbbreviations are the names of zones in texts, with their offsets in seconds.
var zoneAbbreviations = map[string]int{
	"UTC": 0, "GMT": 0, "UT": 0, "Z": 0, "WET": 0, "WEST": 3600, "BST": 3600, "CET": 3600, "CEST": 7200, "EET": 7200, "EEST": 10800,
	"MSK": 10800, "IST": 19800, "CST": -21600, "CDT": -18000, "EST": -18000, "EDT": -14400, "MST": -25200, "MDT": -21600, "PST": -28800,
	"PDT": -25200, "AKST": -32400, "AKDT": -28800, "HST": -36000, "JST": 32400, "KST": 32400, "HKT": 28800, "SGT": 28800,
	"AEST": 36000, "AEDT": 39600, "NZST": 43200, "NZDT": 46800,
}
