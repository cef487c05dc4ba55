package types

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// LegacyPattern is a compiled pattern of java.text.SimpleDateFormat in the locale en_US, lenient, as FROM_UNIXTIME,
// UNIX_TIMESTAMP, TO_DATE and DATE_FORMAT of text use it. Its calendar is Julian before 1582-10-15. It is safe for
// concurrent use.
type LegacyPattern struct {
	elems   []legacyElem
	century int64 // two digits of a year mean one of the hundred years from here on
}

// legacyElem is a literal, or count times a letter.
type legacyElem struct {
	letter  byte // 0 for a literal
	count   int
	literal string
}

// ParseLegacyPattern compiles a pattern; the errors are Java's. year is the current one: two-digit years lie within 80
// years before and 20 after it.
func ParseLegacyPattern(pattern string, year int) (*LegacyPattern, error) {
	p := &LegacyPattern{century: int64(year) - 80}
	literal := func(s string) {
		if n := len(p.elems); n > 0 && p.elems[n-1].letter == 0 {
			p.elems[n-1].literal += s
		} else {
			p.elems = append(p.elems, legacyElem{literal: s})
		}
	}
	for i := 0; i < len(pattern); {
		b := pattern[i]
		switch {
		case b == '\'':
			text, end, ok := quotedLiteral(pattern, i)
			if !ok {
				return nil, fmt.Errorf("Unterminated quote")
			}
			literal(text)
			i = end
		case isLetter(b):
			n := runLength(pattern, i)
			if strings.IndexByte("GyMdkHmsSEDFwWahKzZYuXL", b) < 0 {
				return nil, fmt.Errorf("Illegal pattern character '%c'", b)
			}
			if b == 'X' && n > 3 {
				return nil, fmt.Errorf("invalid ISO 8601 format: length=%d", n)
			}
			p.elems = append(p.elems, legacyElem{letter: b, count: n})
			i += n
		default:
			_, n := utf8.DecodeRuneInString(pattern[i:])
			literal(pattern[i : i+n])
			i += n
		}
	}
	return p, nil
}

// cutover is 1582-10-15, the first day of the Gregorian calendar.
const cutover = -141427

// legacyCivil is Civil with Julian dates before the cutover.
func legacyCivil(day int64) (year int64, month, dom int) {
	if day >= cutover {
		return Civil(day)
	}
	// The Julian calendar in years that begin in March, counted from March 1 of the year 0 (day 719470 before 1970).
	z := day + 719470
	era := floorDiv(z, 1461)
	doe := z - era*1461
	yoe := (doe - doe/1460) / 365
	doy := doe - 365*yoe
	mp := (5*doy + 2) / 153
	dom = int(doy-(153*mp+2)/5) + 1
	month = int(mp) + 3
	year = era*4 + yoe
	if month > 12 {
		month -= 12
		year++
	}
	return year, month, dom
}

// legacyDay is DayOf for dates that are Julian before the cutover.
func legacyDay(year int64, month, dom int) int64 {
	if day := DayOf(year, month, dom); day >= cutover {
		return day
	}
	m := int64(month) - 1
	year += floorDiv(m, 12)
	m -= floorDiv(m, 12) * 12
	m -= 2
	if m < 0 {
		m += 12
		year--
	}
	era := floorDiv(year, 4)
	yoe := year - era*4
	return era*1461 + yoe*365 + (153*m+2)/5 + int64(dom) - 1 - 719470
}

// legacyEpoch is 1900-01-01 in UTC: java.util.TimeZone knows no change of a zone's offset before it.
const legacyEpoch = -2_208_988_800_000

// standardTime gives the name and the offset in seconds that java.util.TimeZone has for all times before legacyEpoch: those
// of the present day, without summer time.
func standardTime(loc *time.Location) (name string, off int) {
	off = 24 * 60 * 60
	for month := range 12 {
		n, o := time.Date(2025, time.Month(month+1), 1, 0, 0, 0, 0, time.UTC).In(loc).Zone()
		if o < off {
			name, off = n, o
		}
	}
	return name, off
}

// Append appends an instant, in milliseconds, as the clocks of a zone show it.
func (p *LegacyPattern) Append(dst []byte, ms int64, loc *time.Location) []byte {
	local := LocalMillis(ms, loc)
	if ms < legacyEpoch && !isUTC(loc) {
		_, off := standardTime(loc)
		local = ms + int64(off)*1000
	}
	day := floorDiv(local, MillisPerDay)
	rest := local - day*MillisPerDay
	w := wallClock{day: day, sec: int(rest / 1000), nano: int(rest%1000) * 1_000_000}
	w.year, w.month, w.dom = legacyCivil(day)
	for i := range p.elems {
		if e := &p.elems[i]; e.letter == 0 {
			dst = append(dst, e.literal...)
		} else {
			dst = e.print(dst, &w, ms, loc)
		}
	}
	return dst
}

func (e *legacyElem) print(dst []byte, w *wallClock, ms int64, loc *time.Location) []byte {
	name := func(full string) []byte {
		if e.count < 4 {
			full = full[:3]
		}
		return append(dst, full...)
	}
	pad := func(v int64) []byte {
		if v < 0 {
			return padNumber(append(dst, '-'), uint64(-v), e.count)
		}
		return padNumber(dst, uint64(v), e.count)
	}
	switch e.letter {
	case 'G':
		if w.year > 0 {
			return append(dst, "AD"...)
		}
		return append(dst, "BC"...)
	case 'y', 'Y':
		y := w.field(fieldYearOfEra)
		if e.letter == 'Y' {
			y = w.field(fieldWeekYear)
		}
		if e.count == 2 {
			return append2(dst, int(y%100))
		}
		return pad(y)
	case 'M', 'L':
		if e.count >= 3 {
			return name(monthNames[w.month-1])
		}
		return pad(int64(w.month))
	case 'E':
		return name(dayNames[weekday(w.day)-1])
	case 'a':
		return append(dst, [...]string{"AM", "PM"}[w.field(fieldAMPM)]...)
	case 'F':
		return pad(int64(w.dom-1)/7 + 1)
	case 'S':
		return pad(int64(w.nano / 1_000_000))
	case 'D':
		return pad(w.day - legacyDay(w.year, 1, 1) + 1)
	case 'z', 'Z', 'X':
		return e.printZone(dst, ms, loc)
	}
	return pad(w.field(legacyFields[e.letter]))
}

// legacyFields are the letters that print a number as DatePattern has it.
var legacyFields = map[byte]dateField{'d': fieldDayOfMonth, 'k': fieldClockHour, 'H': fieldHour, 'm': fieldMinute, 's': fieldSecond,
	'w': fieldWeek, 'W': fieldWeekOfMonth, 'h': fieldClockHourAMPM, 'K': fieldHourAMPM, 'u': fieldDayOfWeek}

func (e *legacyElem) printZone(dst []byte, ms int64, loc *time.Location) []byte {
	if loc == nil {
		loc = time.UTC
	}
	abbreviation, off := time.UnixMilli(ms).In(loc).Zone()
	if ms < legacyEpoch {
		abbreviation, off = standardTime(loc)
	}
	if e.letter == 'z' {
		switch {
		case e.count >= 4 && loc == time.UTC:
			return append(dst, "Coordinated Universal Time"...)
		case isLetter(abbreviation[0]):
			return append(dst, abbreviation...)
		}
		return appendOffset(append(dst, "GMT"...), off, ":")
	}
	if e.letter == 'X' && off == 0 {
		return append(dst, 'Z')
	}
	sep := ""
	if e.letter == 'X' && e.count == 3 {
		sep = ":"
	}
	dst = appendOffset(dst, off, sep)
	if e.letter == 'X' && e.count == 1 {
		dst = dst[:len(dst)-2]
	}
	return dst
}

// appendOffset appends an offset in seconds as +hhmm with sep in the middle.
func appendOffset(dst []byte, off int, sep string) []byte {
	sign := byte('+')
	if off < 0 {
		sign, off = '-', -off
	}
	dst = append2(append(dst, sign), off/3600)
	return append2(append(dst, sep...), off/60%60)
}

// legacyParse holds what has been read.
type legacyParse struct {
	val    [128]int64 // by letter; E is in 'u', Monday is 1
	at     [128]int   // when it was set; 0: never
	clock  int
	zoned  bool
	offset int // seconds, if zoned
}

func (r *legacyParse) set(letter byte, v int64) {
	r.clock++
	r.val[letter], r.at[letter] = v, r.clock
}

func (r *legacyParse) get(letter byte, missing int64) int64 {
	if r.at[letter] == 0 {
		return missing
	}
	return r.val[letter]
}

// Parse reads a text that begins with a date of the pattern; what follows is not looked at. The result is the instant, in
// milliseconds, at which the clocks of the zone show it (the later one of two), unless the text names an offset or zone.
func (p *LegacyPattern) Parse(s string, loc *time.Location) (ms int64, ok bool) {
	var r legacyParse
	at := 0
	for i := range p.elems {
		e := &p.elems[i]
		if e.letter == 0 {
			if !strings.HasPrefix(s[at:], e.literal) {
				return 0, false
			}
			at += len(e.literal)
			continue
		}
		limit := len(s)
		if i+1 < len(p.elems) && p.elems[i+1].obeysCount() { // digits that touch are told apart by the letters' count
			limit = at + e.count
		}
		if at = p.field(e, s, at, limit, &r); at < 0 {
			return 0, false
		}
	}
	return r.instant(loc), at > 0 // a pattern that reads nothing finds no date
}

// obeysCount reports whether the element is a number that limits the one before it.
func (e *legacyElem) obeysCount() bool {
	switch e.letter {
	case 'M', 'L':
		return e.count <= 2
	case 'y', 'd', 'k', 'H', 'm', 's', 'S', 'D', 'F', 'w', 'W', 'h', 'K', 'Y', 'u':
		return true
	}
	return false
}

// field reads one field and gives the place behind it, -1 when there is none.
func (p *LegacyPattern) field(e *legacyElem, s string, at, limit int, r *legacyParse) int {
	for at < len(s) && (s[at] == ' ' || s[at] == '\t') {
		at++
	}
	if at == len(s) {
		return -1
	}
	switch e.letter {
	case 'G':
		return matchName(s, at, []string{"BC", "AD"}, func(k int) { r.set('G', int64(k)) })
	case 'E':
		return matchName(s, at, dayNames[:], func(k int) { r.set('u', int64(k+1)) })
	case 'a':
		return matchName(s, at, []string{"AM", "PM"}, func(k int) { r.set('a', int64(k)) })
	case 'M', 'L':
		if e.count >= 3 {
			return matchName(s, at, monthNames[:], func(k int) { r.set('M', int64(k)) })
		}
	case 'z', 'Z', 'X':
		return e.parseZone(s, at, r)
	}
	if limit > len(s) {
		return -1
	}
	s = s[:limit]
	v, end := parseLegacyNumber(s, at)
	if end < 0 {
		return -1
	}
	switch e.letter {
	case 'y', 'Y':
		if e.count <= 2 && end-at == 2 && s[at]-'0' <= 9 && s[at+1]-'0' <= 9 {
			v += p.century / 100 * 100
			if v < p.century {
				v += 100
			}
		}
	case 'M', 'L':
		r.set('M', v-1)
		return end
	case 'k':
		if v == 24 {
			v = 0
		}
		r.set('H', v)
		return end
	case 'h':
		if v == 12 {
			v = 0
		}
		r.set('K', v)
		return end
	}
	r.set(e.letter, v)
	return end
}

// parseLegacyNumber reads a number with a sign perhaps; digits may be of any script. The value is cut to 32 bits.
func parseLegacyNumber(s string, at int) (v int64, end int) {
	neg := at < len(s) && s[at] == '-'
	if neg {
		at++
	}
	from := at
	for at < len(s) {
		if c := s[at]; c-'0' <= 9 {
			v = v*10 + int64(c-'0')
			at++
		} else {
			r, n := utf8.DecodeRuneInString(s[at:])
			d, ok := digitValue(r)
			if !ok {
				break
			}
			v = v*10 + int64(d)
			at += n
		}
		v = min(v, 1<<53)
	}
	if at == from {
		return 0, -1
	}
	if neg {
		v = -v
	}
	return int64(int32(min(max(v, -1<<31), 1<<31-1))), at
}

// matchName finds the longest of the names, or of their first three letters, at the place; letter case does not count.
func matchName(s string, at int, names []string, found func(k int)) int {
	best, which := 0, -1
	for k, name := range names {
		for _, n := range []string{name, name[:min(3, len(name))]} {
			if len(n) > best && len(s)-at >= len(n) && strings.EqualFold(s[at:at+len(n)], n) {
				best, which = len(n), k
			}
		}
	}
	if which < 0 {
		return -1
	}
	found(which)
	return at + best
}

// parseZone reads an offset, GMT with or without one, or the name of a zone.
func (e *legacyElem) parseZone(s string, at int, r *legacyParse) int {
	if e.letter == 'X' {
		if s[at] == 'Z' {
			r.zoned = true
			return at + 1
		}
		return numericZone(s, at, e.count, e.count == 3, r)
	}
	if s[at] == '+' || s[at] == '-' {
		return numericZone(s, at, 2, false, r)
	}
	if len(s)-at >= 3 && strings.EqualFold(s[at:at+3], "GMT") {
		r.zoned = true
		if at += 3; at < len(s) && (s[at] == '+' || s[at] == '-') {
			return numericZone(s, at, 2, true, r)
		}
		return at
	}
	n := at
	for n < len(s) && (isLetter(s[n]) || strings.IndexByte("/_", s[n]) >= 0) {
		n++
	}
	off, ok := zoneAbbreviations[strings.ToUpper(s[at:n])]
	if !ok {
		return -1
	}
	r.zoned, r.offset = true, off
	return n
}

// numericZone reads a sign and hh, hhmm or hh:mm.
func numericZone(s string, at, count int, colon bool, r *legacyParse) int {
	sign := 1
	switch {
	case s[at] == '-':
		sign = -1
	case s[at] != '+':
		return -1
	}
	c := scanner{s: s, at: at + 1}
	h := c.number(1, 2)
	if count == 1 {
		r.zoned, r.offset = true, sign*h*3600
		if c.bad || h > 23 {
			return -1
		}
		return c.at
	}
	if colon {
		c.literal(':')
	}
	m := c.number(2, 2)
	if c.bad || h > 23 || m > 59 {
		return -1
	}
	r.zoned, r.offset = true, sign*(h*60+m)*60
	return c.at
}

// instant computes the lenient calendar's time: fields beyond their ranges count on.
func (r *legacyParse) instant(loc *time.Location) int64 {
	var hour int64
	switch half := max(r.at['K'], r.at['a']); {
	case half > r.at['H']:
		hour = r.get('K', 0) + 12*r.get('a', 0)
	default:
		hour = r.get('H', 0)
	}
	ms := r.day()*MillisPerDay + ((hour*60+r.get('m', 0))*60+r.get('s', 0))*1000 + r.get('S', 0)
	if r.zoned {
		return ms - int64(r.offset)*1000
	}
	if isUTC(loc) {
		return ms
	}
	if t := floorDiv(FromLocalLate(ms*1000, loc), 1000); t >= legacyEpoch {
		return t
	}
	_, off := standardTime(loc)
	return ms - int64(off)*1000
}

// day finds the day by the field that was set last of: day of the month, of the year, week of the year or the month.
func (r *legacyParse) day() int64 {
	year := r.get('y', 1970)
	if r.at['G'] != 0 && r.val['G'] == 0 {
		year = 1 - year
	}
	month := r.get('M', 0) + 1
	first := legacyDay(year, int(month), 1)
	dow := r.get('u', 7) % 7 // days after Sunday, where a week begins
	both := func(letter byte) int {
		if r.at[letter] == 0 || r.at['u'] == 0 {
			return 0
		}
		return max(r.at[letter], r.at['u'])
	}
	weekYear := r.at['Y'] > r.at['y']
	best, kind := r.at['d'], byte('d')
	for _, c := range []struct {
		letter byte
		at     int
	}{{'W', both('W')}, {'F', both('F')}, {'D', r.at['D']}, {'w', both('w')}} {
		if c.at > best {
			best, kind = c.at, c.letter
		}
	}
	if best == 0 {
		for _, letter := range []byte{'W', 'w'} {
			if r.at[letter] > best {
				best, kind = r.at[letter], letter
			}
		}
	}
	if weekYear && (kind == 'w' || best == 0) {
		kind, year = 'w', r.val['Y']
	}
	switch kind {
	case 'D':
		return legacyDay(year, 1, 1) + r.val['D'] - 1
	case 'w':
		jan1 := legacyDay(year, 1, 1)
		return jan1 - weekday(jan1)%7 + (r.get('w', 1)-1)*7 + dow
	case 'W':
		return first - weekday(first)%7 + (r.val['W']-1)*7 + dow
	case 'F':
		return first + mod(dow-weekday(first)%7, 7) + (r.val['F']-1)*7
	}
	return legacyDay(year, int(month), int(r.get('d', 1)))
}
