package types

import (
	"fmt"
	"strconv"
	"strings"
)

// DatePattern is a compiled pattern of java.time.format.DateTimeFormatter in the locale en_US with the resolver style
// SMART, as DATE_FORMAT and TO_TIMESTAMP use it. It is safe for concurrent use.
type DatePattern struct{ elems []patternElem }

// patternElem is one printer and parser of a pattern.
type patternElem struct {
	op       patternOp
	field    dateField
	min, max int // widths of numbers and fractions
	sign     signStyle
	follow   int    // width of the numbers that follow without a delimiter
	style    int    // text: letters of the pattern (3 short, 4 full, 5 narrow); zones: the letter count
	literal  string // opLiteral; the letter of opZone
	pad      int    // opPad: width of the next element
	end      int    // opOptional: index behind the matching end
}

type patternOp uint8

const (
	opLiteral patternOp = iota
	opNumber
	opReduced // the last two digits of a year from 2000 on
	opText
	opFraction
	opZone
	opPad
	opOptional
	opEnd
)

// signStyle is java.time.format.SignStyle.
type signStyle uint8

const (
	signNormal signStyle = iota
	signNotNegative
	signExceedsPad
)

type dateField uint8

const (
	fieldEra dateField = iota
	fieldYear
	fieldYearOfEra
	fieldQuarter
	fieldMonth
	fieldDayOfYear
	fieldDayOfMonth
	fieldDayInMonthWeek // aligned-day-of-week-in-month, the letter F
	fieldDayOfWeek      // Monday is 1
	fieldLocalDay       // Sunday is 1
	fieldWeekYear
	fieldWeek
	fieldWeekOfMonth
	fieldAMPM
	fieldDayPeriod
	fieldHour
	fieldClockHour // 1..24
	fieldHourAMPM  // 0..11
	fieldClockHourAMPM
	fieldMinute
	fieldSecond
	fieldNano
	fieldMilliOfDay
	fieldNanoOfDay
	fieldJulian // modified julian day
	fieldCount
)

var patternFields = map[byte]dateField{
	'G': fieldEra, 'u': fieldYear, 'y': fieldYearOfEra, 'Q': fieldQuarter, 'q': fieldQuarter, 'M': fieldMonth, 'L': fieldMonth,
	'D': fieldDayOfYear, 'd': fieldDayOfMonth, 'F': fieldDayInMonthWeek, 'E': fieldDayOfWeek, 'e': fieldLocalDay, 'c': fieldLocalDay,
	'Y': fieldWeekYear, 'w': fieldWeek, 'W': fieldWeekOfMonth, 'a': fieldAMPM, 'B': fieldDayPeriod, 'H': fieldHour, 'k': fieldClockHour,
	'K': fieldHourAMPM, 'h': fieldClockHourAMPM, 'm': fieldMinute, 's': fieldSecond, 'S': fieldNano, 'n': fieldNano, 'A': fieldMilliOfDay,
	'N': fieldNanoOfDay, 'g': fieldJulian,
}

// ParseDatePattern compiles a pattern; the errors are Java's.
func ParseDatePattern(pattern string) (*DatePattern, error) {
	c := patternCompiler{pattern: pattern, active: -1}
	if err := c.compile(); err != nil {
		return nil, err
	}
	for i, e := range c.elems { // optional sections that are never closed end with the pattern
		if e.op == opOptional && e.end == 0 {
			c.elems[i].end = len(c.elems)
		}
	}
	return &DatePattern{elems: c.elems}, nil
}

// patternCompiler follows DateTimeFormatterBuilder.appendPattern.
type patternCompiler struct {
	pattern string
	elems   []patternElem
	open    []int // indexes of open optional sections
	active  int   // the number that adjacent numbers take their width from, -1 for none
}

func (c *patternCompiler) compile() error {
	p := c.pattern
	for i := 0; i < len(p); {
		b := p[i]
		switch {
		case isLetter(b):
			n := runLength(p, i)
			i += n
			if b == 'p' {
				if i >= len(p) || !isLetter(p[i]) {
					return fmt.Errorf("Pad letter 'p' must be followed by valid pad pattern: %s", p)
				}
				c.add(patternElem{op: opPad, pad: n})
				b, n = p[i], runLength(p, i)
				i += n
			}
			if err := c.letter(b, n); err != nil {
				return err
			}
		case b == '\'':
			text, end, ok := quotedLiteral(p, i)
			if !ok {
				return fmt.Errorf("Pattern ends with an incomplete string literal: %s", p)
			}
			c.add(patternElem{op: opLiteral, literal: text})
			i = end
		case b == '[':
			c.open = append(c.open, len(c.elems))
			c.add(patternElem{op: opOptional})
			i++
		case b == ']':
			if len(c.open) == 0 {
				return fmt.Errorf("Pattern invalid as it contains ] without previous [")
			}
			c.add(patternElem{op: opEnd})
			c.elems[c.open[len(c.open)-1]].end = len(c.elems)
			c.open = c.open[:len(c.open)-1]
			i++
		case b == '{' || b == '}' || b == '#':
			return fmt.Errorf("Pattern includes reserved character: '%c'", b)
		default:
			end := i + 1
			for end < len(p) && p[end] >= 0x80 {
				end++
			}
			c.add(patternElem{op: opLiteral, literal: p[i:end]})
			i = end
		}
	}
	return nil
}

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

func runLength(p string, i int) int {
	n := 1
	for i+n < len(p) && p[i+n] == p[i] {
		n++
	}
	return n
}

// quotedLiteral reads a literal in single quotes at i; two of them are one quote, within a literal or alone.
func quotedLiteral(p string, i int) (text string, end int, ok bool) {
	var b strings.Builder
	for j := i + 1; j < len(p); j++ {
		if p[j] != '\'' {
			b.WriteByte(p[j])
			continue
		}
		if j+1 < len(p) && p[j+1] == '\'' {
			b.WriteByte('\'')
			j++
			continue
		}
		if b.Len() == 0 {
			return "'", j + 1, true
		}
		return b.String(), j + 1, true
	}
	return "", 0, false
}

// add adds an element that ends a run of adjacent numbers.
func (c *patternCompiler) add(e patternElem) {
	c.elems = append(c.elems, e)
	c.active = -1
}

// number adds a number. Numbers of a fixed width that follow one without a delimiter take their digits from its end.
func (c *patternCompiler) number(e patternElem) {
	at := len(c.elems)
	fixed := e.min == e.max && e.sign == signNotNegative
	c.elems = append(c.elems, e)
	if c.active >= 0 && fixed {
		c.elems[c.active].follow += e.max
		return
	}
	c.active = at
}

func (c *patternCompiler) value(f dateField, lo, hi int, sign signStyle) {
	c.number(patternElem{op: opNumber, field: f, min: lo, max: hi, sign: sign})
}

func (c *patternCompiler) letter(b byte, n int) error {
	tooMany := fmt.Errorf("Too many pattern letters: %c", b)
	f, ok := patternFields[b]
	if !ok {
		return c.zone(b, n, tooMany)
	}
	switch b {
	case 'u', 'y', 'Y':
		switch {
		case n == 2:
			c.number(patternElem{op: opReduced, field: f, min: 2, max: 2, sign: signNotNegative})
		case n < 4:
			c.value(f, n, 19, signNormal)
		default:
			c.value(f, n, 19, signExceedsPad)
		}
	case 'M', 'L', 'Q', 'q', 'E', 'e', 'c':
		return c.textOrNumber(b, n, f, tooMany)
	case 'a', 'B', 'G':
		style := n
		if b == 'G' && n < 4 || n == 1 {
			style = 3
		}
		if b == 'a' && n > 1 || b == 'G' && n > 5 {
			return tooMany
		}
		if b == 'B' && n != 1 && n != 4 && n != 5 {
			return fmt.Errorf("Wrong number of pattern letters: %c", b)
		}
		c.add(patternElem{op: opText, field: f, style: style})
	case 'S':
		if n > 9 {
			return fmt.Errorf("Minimum width must be from 0 to 9 inclusive but was %d", n)
		}
		c.number(patternElem{op: opFraction, field: f, min: n, max: n, sign: signNotNegative})
	case 'D':
		switch {
		case n == 1:
			c.value(f, 1, 19, signNormal)
		case n > 3:
			return tooMany
		default:
			c.value(f, n, 3, signNotNegative)
		}
	case 'w':
		if n > 2 {
			return tooMany
		}
		c.value(f, n, 2, signNotNegative)
	case 'W', 'F':
		if n > 1 {
			return tooMany
		}
		c.value(f, 1, 19, signNormal)
	case 'g':
		c.value(f, n, 19, signNormal)
	case 'A', 'n', 'N':
		c.value(f, n, 19, signNotNegative)
	default: // d h H k K m s
		switch n {
		case 1:
			c.value(f, 1, 19, signNormal)
		case 2:
			c.value(f, 2, 2, signNotNegative)
		default:
			return tooMany
		}
	}
	return nil
}

// textOrNumber adds months, quarters and days of the week: numbers up to two letters (names for E), then names.
func (c *patternCompiler) textOrNumber(b byte, n int, f dateField, tooMany error) error {
	switch {
	case n > 5:
		return tooMany
	case b == 'c' && n == 2:
		return fmt.Errorf("Invalid pattern \"cc\"")
	case n >= 3 || b == 'E':
		if f == fieldLocalDay {
			f = fieldDayOfWeek
		}
		c.add(patternElem{op: opText, field: f, style: max(n, 3)})
	case f == fieldLocalDay:
		c.value(f, n, n, signNotNegative)
	case n == 1:
		c.value(f, 1, 19, signNormal)
	default:
		c.value(f, 2, 2, signNotNegative)
	}
	return nil
}

func (c *patternCompiler) zone(b byte, n int, tooMany error) error {
	most := map[byte]int{'z': 4, 'V': 2, 'v': 4, 'Z': 5, 'O': 4, 'X': 5, 'x': 5}[b]
	switch {
	case most == 0:
		return fmt.Errorf("Unknown pattern letter: %c", b)
	case b == 'V' && n != 2:
		return fmt.Errorf("Pattern letter count must be 2: %c", b)
	case (b == 'v' || b == 'O') && n != 1 && n != 4:
		return fmt.Errorf("Wrong number of pattern letters: %c", b)
	case n > most:
		return tooMany
	}
	c.add(patternElem{op: opZone, literal: string(b), style: n})
	return nil
}

// wallClock holds the fields of a timestamp.
type wallClock struct {
	day        int64
	year       int64
	month, dom int
	sec, nano  int // of the day; of the second
}

func newWallClock(us int64, ns int) (w wallClock) {
	var rest int64
	w.day, rest = SplitDay(us)
	w.year, w.month, w.dom = Civil(w.day)
	w.sec = int(rest / MicrosPerSecond)
	w.nano = int(rest%MicrosPerSecond)*1000 + ns
	return w
}

func (w *wallClock) field(f dateField) int64 {
	hour := int64(w.sec / 3600)
	switch f {
	case fieldEra:
		if w.year > 0 {
			return 1
		}
		return 0
	case fieldYear:
		return w.year
	case fieldYearOfEra:
		if w.year > 0 {
			return w.year
		}
		return 1 - w.year
	case fieldQuarter:
		return int64(w.month+2) / 3
	case fieldMonth:
		return int64(w.month)
	case fieldDayOfYear:
		return w.day - DayOf(w.year, 1, 1) + 1
	case fieldDayOfMonth:
		return int64(w.dom)
	case fieldDayInMonthWeek:
		return int64(w.dom-1)%7 + 1
	case fieldDayOfWeek:
		return weekday(w.day)
	case fieldLocalDay:
		return weekday(w.day)%7 + 1
	case fieldWeekYear:
		y, _ := sundayWeek(w.day)
		return y
	case fieldWeek:
		_, n := sundayWeek(w.day)
		return n
	case fieldWeekOfMonth:
		return weekOf(int64(w.dom), w.day)
	case fieldAMPM:
		return hour / 12
	case fieldHour, fieldDayPeriod:
		return hour
	case fieldClockHour:
		return (hour+23)%24 + 1
	case fieldHourAMPM:
		return hour % 12
	case fieldClockHourAMPM:
		return (hour+11)%12 + 1
	case fieldMinute:
		return int64(w.sec / 60 % 60)
	case fieldSecond:
		return int64(w.sec % 60)
	case fieldNano:
		return int64(w.nano)
	case fieldMilliOfDay:
		return int64(w.sec)*1000 + int64(w.nano/1_000_000)
	case fieldNanoOfDay:
		return int64(w.sec)*1_000_000_000 + int64(w.nano)
	default:
		return w.day + 40587 // modified julian day
	}
}

// weekOf gives the week, from 1 on, of the n-th day of a span; weeks begin on Sunday and the first may be short.
func weekOf(n, day int64) int64 {
	first := weekday(day-n+1) % 7 // days of the first week before the span
	return (n-1+first)/7 + 1
}

// sundayWeek gives the week-based year and week by the rules of the United States: weeks begin on Sunday, the first is the
// one with January 1.
func sundayWeek(day int64) (year, week int64) {
	sunday := day - weekday(day)%7
	year, _, _ = Civil(sunday + 6)
	jan1 := DayOf(year, 1, 1)
	return year, (sunday-(jan1-weekday(jan1)%7))/7 + 1
}

// Append appends a timestamp (a wall clock reading in microseconds, and the nanoseconds of that microsecond). Zones and
// offsets are errors: the reading has none.
func (p *DatePattern) Append(dst []byte, us int64, ns int) ([]byte, error) {
	w := newWallClock(us, ns)
	out, _, err := p.print(dst, &w, 0, len(p.elems))
	return out, err
}

func (p *DatePattern) print(dst []byte, w *wallClock, i, end int) ([]byte, int, error) {
	for i < end {
		e := &p.elems[i]
		switch e.op {
		case opOptional:
			at := len(dst)
			out, _, err := p.print(dst, w, i+1, e.end)
			if err != nil {
				out = out[:at] // a section that cannot be printed is left out
			}
			dst, i = out, e.end
			continue
		case opPad:
			at := len(dst)
			out, next, err := p.print(dst, w, i+1, i+2)
			if n := len(out) - at; err == nil && n > e.pad {
				err = fmt.Errorf("Cannot print as output of %d characters exceeds pad width of %d", n, e.pad)
			} else if err == nil {
				out = append(out, strings.Repeat(" ", e.pad-n)...)
				copy(out[at+e.pad-n:], out[at:at+n])
				for k := range e.pad - n {
					out[at+k] = ' '
				}
			}
			if err != nil {
				return out, i, err
			}
			dst, i = out, next
			continue
		}
		var err error
		if dst, err = e.print(dst, w); err != nil {
			return dst, i, err
		}
		i++
	}
	return dst, i, nil
}

func (e *patternElem) print(dst []byte, w *wallClock) ([]byte, error) {
	switch e.op {
	case opLiteral:
		return append(dst, e.literal...), nil
	case opNumber:
		return e.printNumber(dst, w.field(e.field))
	case opReduced:
		v := w.field(e.field)
		return append2(dst, int(max(v, -v)%100)), nil
	case opFraction:
		v := uint64(w.nano) / pow10[9-e.max]
		return padNumber(dst, v, e.max), nil
	case opText:
		return append(dst, e.text(w.field(e.field), w)...), nil
	case opZone:
		if e.literal == "O" || e.literal == "X" || e.literal == "x" || e.literal == "Z" {
			return dst, fmt.Errorf("Unsupported field: OffsetSeconds")
		}
		return dst, fmt.Errorf("Unable to extract ZoneId from temporal")
	}
	return dst, nil
}

func (e *patternElem) printNumber(dst []byte, v int64) ([]byte, error) {
	abs := uint64(v)
	if v < 0 {
		if e.sign == signNotNegative {
			return dst, fmt.Errorf("Field cannot be printed as the value %d cannot be negative according to the SignStyle", v)
		}
		abs = -abs
		dst = append(dst, '-')
	} else if e.sign == signExceedsPad && e.min < 19 && abs >= pow10[e.min] {
		dst = append(dst, '+')
	}
	if e.max < 19 && abs >= pow10[e.max] {
		return dst, fmt.Errorf("Field cannot be printed as the value %d exceeds the maximum print width of %d", v, e.max)
	}
	return padNumber(dst, abs, e.min), nil
}

// padNumber appends v with at least width digits.
func padNumber(dst []byte, v uint64, width int) []byte {
	for k := width - 1; k > 0 && (k >= len(pow10) || v < pow10[k]); k-- {
		dst = append(dst, '0')
	}
	return strconv.AppendUint(dst, v, 10)
}

var (
	monthNames = [...]string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
		"November", "December"}
	dayNames = [...]string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}
	quarters = [...]string{"1st quarter", "2nd quarter", "3rd quarter", "4th quarter"}
)

// text gives the name of a field's value. w is needed for day periods only and may be nil otherwise.
func (e *patternElem) text(v int64, w *wallClock) string {
	cut := func(name string) string {
		switch e.style {
		case 3:
			return name[:3]
		case 5:
			return name[:1]
		}
		return name
	}
	switch e.field {
	case fieldMonth:
		return cut(monthNames[v-1])
	case fieldDayOfWeek:
		return cut(dayNames[v-1])
	case fieldQuarter:
		switch e.style {
		case 3:
			return [...]string{"Q1", "Q2", "Q3", "Q4"}[v-1]
		case 5:
			return [...]string{"1", "2", "3", "4"}[v-1]
		}
		return quarters[v-1]
	case fieldAMPM:
		return [...]string{"AM", "PM"}[v]
	case fieldEra:
		switch e.style {
		case 4:
			return [...]string{"Before Christ", "Anno Domini"}[v]
		case 5:
			return [...]string{"B", "A"}[v]
		}
		return [...]string{"BC", "AD"}[v]
	}
	return e.dayPeriod(v, w)
}

// dayPeriod names the part of the day that an hour lies in, as English does.
func (e *patternElem) dayPeriod(hour int64, w *wallClock) string {
	exact := w != nil && w.sec%3600 == 0 && w.nano == 0
	switch {
	case exact && hour == 0 && e.style == 5:
		return "mi"
	case exact && hour == 0:
		return "midnight"
	case exact && hour == 12 && e.style == 5:
		return "n"
	case exact && hour == 12:
		return "noon"
	case hour < 6 || hour >= 21:
		return "at night"
	case hour < 12:
		return "in the morning"
	case hour < 18:
		return "in the afternoon"
	default:
		return "in the evening"
	}
}
