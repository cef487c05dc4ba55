package types

import "strings"

// Units of time in the granularity of columns: DATE counts days, TIME milliseconds, TIMESTAMP microseconds.
const (
	MillisPerDay    = 86_400_000
	MicrosPerSecond = 1_000_000
	MicrosPerDay    = 86_400_000_000
)

// Civil gives the proleptic Gregorian date of a day number (days since 1970-01-01), as in "chrono-Compatible Low-Level
// Date Algorithms" (Hinnant): years begin in March, so that the leap day is the last one.
func Civil(day int64) (year int64, month, dom int) {
	z := day + 719468
	era := floorDiv(z, 146097)
	doe := z - era*146097
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	dom = int(doy-(153*mp+2)/5) + 1
	month = int(mp) + 3
	year = yoe + era*400
	if month > 12 {
		month -= 12
		year++
	}
	return year, month, dom
}

// DayOf gives the day number of a date. A month beyond 1..12 and a day beyond the month count on.
func DayOf(year int64, month, dom int) int64 {
	m := int64(month) - 1
	year += floorDiv(m, 12)
	m -= floorDiv(m, 12) * 12
	m -= 2
	if m < 0 {
		m += 12
		year--
	}
	era := floorDiv(year, 400)
	yoe := year - era*400
	doe := yoe*365 + yoe/4 - yoe/100 + (153*m+2)/5
	return era*146097 + doe + int64(dom) - 1 - 719468
}

// Leap reports whether the year has a 29th of February.
func Leap(year int64) bool { return year&3 == 0 && (year%100 != 0 || year%400 == 0) }

// DaysIn is the number of days of a month, 1..12.
func DaysIn(year int64, month int) int {
	if month == 2 && Leap(year) {
		return 29
	}
	return int(monthDays[month])
}

var monthDays = [13]int8{0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}

// AddMonths adds n months to a day number; the day of the month is clamped to the last one of the new month.
func AddMonths(day, n int64) int64 {
	y, m, d := Civil(day)
	total := y*12 + int64(m-1) + n
	y = floorDiv(total, 12)
	m = int(total-y*12) + 1
	return DayOf(y, m, min(d, DaysIn(y, m)))
}

// AddMonthsMicros adds n months to a timestamp; the time of the day stays.
func AddMonthsMicros(us, n int64) int64 {
	day, rest := SplitDay(us)
	return AddMonths(day, n)*MicrosPerDay + rest
}

// MonthsBetween is the number of whole months from day a to day b, as TIMESTAMPDIFF(MONTH) counts them; tod is b's time of
// day less a's, in any unit. Months from a later to an earlier day count from the earlier one.
func MonthsBetween(a, b, tod int64) int64 {
	n := wholeMonths(a, b)
	if AddMonths(a, n) == b && tod < 0 {
		n--
	}
	return n
}

func wholeMonths(a, b int64) int64 {
	if b < a {
		return -wholeMonths(b, a)
	}
	ya, ma, _ := Civil(a)
	yb, mb, _ := Civil(b)
	n := (yb-ya)*12 + int64(mb-ma)
	if AddMonths(a, n) > b {
		n--
	}
	return n
}

// SplitDay splits microseconds into the day number and the microseconds of that day.
func SplitDay(us int64) (day, rest int64) {
	day = floorDiv(us, MicrosPerDay)
	return day, us - day*MicrosPerDay
}

// floorDiv is a/b rounded down, for b > 0.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// Unit is a unit of time as EXTRACT, FLOOR, TIMESTAMPADD and intervals name it.
type Unit uint8

// The units.
const (
	NoUnit Unit = iota
	Nanosecond
	Microsecond
	Millisecond
	Second
	Minute
	Hour
	Day
	Week
	Month
	Quarter
	Year
	Decade
	Century
	Millennium
	Epoch   // seconds since 1970
	DOW     // day of the week, Sunday is 1
	ISODOW  // day of the week, Monday is 1
	DOY     // day of the year
	ISOYear // year that the ISO week belongs to
)

var unitNames = [...]string{
	"", "NANOSECOND", "MICROSECOND", "MILLISECOND", "SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR",
	"DECADE", "CENTURY", "MILLENNIUM", "EPOCH", "DOW", "ISODOW", "DOY", "ISOYEAR",
}

// String is the unit's name in upper case.
func (u Unit) String() string { return unitNames[u] }

// ParseUnit reads a unit's name in any letter case; NoUnit if there is none such.
func ParseUnit(name string) Unit {
	for i, n := range unitNames[1:] {
		if strings.EqualFold(n, name) {
			return Unit(i + 1)
		}
	}
	return NoUnit
}

// ExtractDay gives a calendar unit (DAY and coarser, DOW .. ISOYEAR, EPOCH) of a day number.
func ExtractDay(u Unit, day int64) int64 {
	switch u {
	case Epoch:
		return day * 86400
	case DOW:
		return weekday(day)%7 + 1
	case ISODOW:
		return weekday(day)
	}
	y, m, d := Civil(day)
	switch u {
	case Day:
		return int64(d)
	case Week:
		_, w := ISOWeek(day)
		return int64(w)
	case ISOYear:
		y, _ := ISOWeek(day)
		return y
	case Month:
		return int64(m)
	case Quarter:
		return int64(m+2) / 3
	case DOY:
		return day - DayOf(y, 1, 1) + 1
	case Decade:
		return floorDiv(y, 10)
	case Century:
		return ceilYears(y, 100)
	case Millennium:
		return ceilYears(y, 1000)
	default:
		return y
	}
}

// ceilYears counts spans of n years, the first of which begins with the year 1 (and, before it, ends with the year 0).
func ceilYears(y, n int64) int64 {
	if y > 0 {
		return (y + n - 1) / n
	}
	return -((n - 1 - y) / n)
}

// weekday is 1 for Monday .. 7 for Sunday.
func weekday(day int64) int64 { return day + 3 - floorDiv(day+3, 7)*7 + 1 }

// ISOWeek gives the year and the week, 1..53, that a day belongs to by ISO 8601.
func ISOWeek(day int64) (year int64, week int) {
	thursday := day - weekday(day) + 4
	year, _, _ = Civil(thursday)
	return year, int(thursday-DayOf(year, 1, 1))/7 + 1
}

// FloorDay rounds a day number down to the beginning of a unit; DAY and finer leave it. Weeks begin on Sunday.
func FloorDay(u Unit, day int64) int64 {
	y, m, _ := Civil(day)
	switch u {
	case Week:
		return day - weekday(day)%7
	case Month:
		return DayOf(y, m, 1)
	case Quarter:
		return DayOf(y, (m-1)/3*3+1, 1)
	case Year:
		return DayOf(y, 1, 1)
	case Decade:
		return DayOf(floorDiv(y, 10)*10, 1, 1)
	case Century:
		return DayOf(floorDiv(y-1, 100)*100+1, 1, 1)
	case Millennium:
		return DayOf(floorDiv(y-1, 1000)*1000+1, 1, 1)
	default:
		return day
	}
}

// CeilDay is Flink's CEIL of a DATE. It has its ways: DAY always goes to the next day; DECADE and coarser always move on;
// QUARTER stays on the first of January only.
func CeilDay(u Unit, day int64) int64 {
	y, m, d := Civil(day)
	switch u {
	case Day:
		return day + 1
	case Week:
		return day + (7-weekday(day)%7)%7
	case Month:
		if d > 1 {
			m++
		}
		return DayOf(y, m, 1)
	case Quarter:
		if m == 1 && d == 1 {
			return day
		}
		return DayOf(y, (m-1)/3*3+4, 1)
	case Year:
		if m > 1 || d > 1 {
			y++
		}
		return DayOf(y, 1, 1)
	case Decade:
		return DayOf(floorDiv(y, 10)*10+10, 1, 1)
	case Century:
		return DayOf(floorDiv(y-1, 100)*100+101, 1, 1)
	case Millennium:
		return DayOf(floorDiv(y-1, 1000)*1000+1001, 1, 1)
	default:
		return day
	}
}

// unitMicros is the length of the units that have one.
var unitMicros = [...]int64{
	Microsecond: 1, Millisecond: 1000, Second: MicrosPerSecond, Minute: 60 * MicrosPerSecond, Hour: 3600 * MicrosPerSecond,
	Day: MicrosPerDay,
}

// FloorMicros is Flink's FLOOR of a timestamp, which works on milliseconds: DAY and finer round down; of the coarser units
// the day is counted towards 1970, so that 1969-12-31 23:59 is in 1970.
func FloorMicros(u Unit, us int64) int64 {
	us = floorDiv(us, 1000) * 1000
	if u <= Day {
		n := unitMicros[u]
		return floorDiv(us, n) * n
	}
	return FloorDay(u, us/MicrosPerDay) * MicrosPerDay
}

// CeilMicros is Flink's CEIL of a timestamp, with the days of FloorMicros and the ways of CeilDay for WEEK and coarser. Of
// a fraction below milliseconds only MILLISECOND takes notice.
func CeilMicros(u Unit, us int64) int64 {
	if u != Millisecond {
		us = floorDiv(us, 1000) * 1000
	}
	if u <= Day {
		n := unitMicros[u]
		return -floorDiv(-us, n) * n
	}
	return CeilDay(u, us/MicrosPerDay) * MicrosPerDay
}

// WindowStart gives the start of the window of the given size that holds t; windows begin at offset + k*size. All in one
// unit, usually milliseconds.
func WindowStart(t, offset, size int64) int64 { return t - mod(t-offset, size) }

func mod(a, b int64) int64 {
	r := a % b
	if r < 0 {
		r += b
	}
	return r
}
