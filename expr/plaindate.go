package expr

import (
	"time"

	"runnel/types"
)

// plainPattern is a date pattern of the most usual form, e.g. yyyy-MM-dd HH:mm:ss.SSS: fields of fixed width for year,
// month, day, hour, minute, second and fraction, each at most once, with other characters between them. Text of that
// form is written and read directly; whatever else there is goes to types.DatePattern, whose results are the same.
type plainPattern struct {
	parts []plainPart
	size  int
	unit  int64 // microseconds in which no field changes, counted from 1970

	from int64 // of the text made last, which all times of the unit have
	text string
}

// plainPart is a field with its width, or a character.
type plainPart struct {
	field byte // y, M, d, H, m, s, S; 0 for a character
	width int
	char  byte
}

// plainPatternOf reads a pattern; nil when it is of another form.
func plainPatternOf(pattern string) *plainPattern {
	p := &plainPattern{unit: types.MicrosPerDay}
	var seen [256]bool
	for i := 0; i < len(pattern); {
		c := pattern[i]
		n := 1
		for i+n < len(pattern) && pattern[i+n] == c {
			n++
		}
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		switch {
		case digit(c) && afterField(p.parts): // it would touch the number in front of it
			return nil
		case !letter && (c >= 0x80 || c == '\'' || c == '[' || c == ']' || c == '{' || c == '}' || c == '#'):
			return nil
		case !letter:
			for range n {
				p.parts = append(p.parts, plainPart{char: c, width: 1})
			}
		case seen[c], c == 'y' && n != 4, c == 'S' && n > 6:
			return nil
		case c == 'y', c == 'S', n == 2 && (c == 'M' || c == 'd' || c == 'H' || c == 'm' || c == 's'):
			seen[c] = true
			p.parts = append(p.parts, plainPart{field: c, width: n})
			p.unit = min(p.unit, plainUnit(c, n))
		default:
			return nil
		}
		p.size += n
		i += n
	}
	return p
}

// plainUnit is how long a field stays the same at least.
func plainUnit(field byte, width int) int64 {
	switch field {
	case 'H':
		return 3600 * types.MicrosPerSecond
	case 'm':
		return 60 * types.MicrosPerSecond
	case 's':
		return types.MicrosPerSecond
	case 'S':
		return pow10(6 - width)
	}
	return types.MicrosPerDay
}

// format gives the text of a timestamp; false for a year that does not have four digits. Neighbouring rows often have one
// text, which is then made once.
func (p *plainPattern) format(arena *types.Arena, us int64) (string, bool) {
	if us-p.from < p.unit && us >= p.from && p.text != "" {
		return p.text, true
	}
	buf, ok := p.append(arena.Buf(), us)
	if !ok {
		return "", false
	}
	p.from, p.text = floorDiv(us, p.unit)*p.unit, arena.Take(buf)
	return p.text, true
}

// afterField reports whether a field stands at the end.
func afterField(parts []plainPart) bool { return len(parts) > 0 && parts[len(parts)-1].field != 0 }

// append writes a timestamp; false for a year that does not have four digits.
func (p *plainPattern) append(dst []byte, us int64) ([]byte, bool) {
	day, rest := types.SplitDay(us)
	year, month, dom := types.Civil(day)
	if year < 1 || year > 9999 {
		return dst, false
	}
	sec, micros := rest/types.MicrosPerSecond, rest%types.MicrosPerSecond
	for _, part := range p.parts {
		var v int64
		switch part.field {
		case 0:
			dst = append(dst, part.char)
			continue
		case 'y':
			v = year
		case 'M':
			v = int64(month)
		case 'd':
			v = int64(dom)
		case 'H':
			v = sec / 3600
		case 'm':
			v = sec / 60 % 60
		case 's':
			v = sec % 60
		default:
			v = micros / pow10(6-part.width)
		}
		switch part.width {
		case 2:
			dst = append(dst, byte('0'+v/10), byte('0'+v%10))
		case 4:
			dst = append(dst, byte('0'+v/1000), byte('0'+v/100%10), byte('0'+v/10%10), byte('0'+v%10))
		default:
			for k := part.width - 1; k >= 0; k-- {
				dst = append(dst, byte('0'+v/pow10(k)%10))
			}
		}
	}
	return dst, true
}

// parse reads a text of exactly the pattern's form with fields in their ranges; false for anything else, which may be
// right all the same.
func (p *plainPattern) parse(s string) (us int64, ok bool) {
	if len(s) != p.size {
		return 0, false
	}
	year, month, dom, hour, minute, second, micros := int64(1970), 1, 1, 0, 0, 0, int64(0)
	at := 0
	for _, part := range p.parts {
		if part.field == 0 {
			if s[at] != part.char {
				return 0, false
			}
			at++
			continue
		}
		v := 0
		for _, c := range []byte(s[at : at+part.width]) {
			if c < '0' || c > '9' {
				return 0, false
			}
			v = v*10 + int(c-'0')
		}
		at += part.width
		switch part.field {
		case 'y':
			year = int64(v)
		case 'M':
			month = v
		case 'd':
			dom = v
		case 'H':
			hour = v
		case 'm':
			minute = v
		case 's':
			second = v
		default:
			micros = int64(v) * pow10(6-part.width)
		}
	}
	if year < 1 || month < 1 || month > 12 || dom < 1 || dom > types.DaysIn(year, month) || hour > 23 || minute > 59 || second > 59 {
		return 0, false
	}
	sec := int64(hour*3600 + minute*60 + second)
	return types.DayOf(year, month, dom)*types.MicrosPerDay + sec*types.MicrosPerSecond + micros, true
}

// formatPattern is a pattern with its plain form, if it has one.
type formatPattern struct {
	*types.DatePattern
	plain *plainPattern
}

func parseFormat(pattern string) (formatPattern, error) {
	p, err := types.ParseDatePattern(pattern)
	if err != nil {
		return formatPattern{}, err
	}
	return formatPattern{p, plainPatternOf(pattern)}, nil
}

// legacyFormat is a pattern of SimpleDateFormat with its plain form, if it has one. The plain form serves the years in
// which the two kinds of patterns mean the same: those of the Gregorian calendar, with offsets that zones have by law.
type legacyFormat struct {
	*types.LegacyPattern
	plain *plainPattern
}

const firstPlainDay = -24837 // 1902-01-01

func (c *compiler) parseLegacyFormat(pattern string) (legacyFormat, error) {
	p, err := types.ParseLegacyPattern(pattern, c.now().Year())
	if err != nil {
		return legacyFormat{}, err
	}
	f := legacyFormat{p, plainPatternOf(pattern)}
	if f.plain != nil {
		for _, part := range f.plain.parts {
			if part.field == 'S' && part.width != 3 { // S counts milliseconds here
				f.plain = nil
				break
			}
		}
	}
	return f, nil
}

// Append appends an instant, in milliseconds, as the clocks of a zone show it.
func (f *legacyFormat) Append(dst []byte, ms int64, loc *time.Location) []byte {
	if f.plain != nil && ms >= firstPlainDay*types.MillisPerDay && ms <= maxInstant {
		if dst, ok := f.plain.append(dst, types.ToLocal(ms*1000, loc)); ok {
			return dst
		}
	}
	return f.LegacyPattern.Append(dst, ms, loc)
}

// Parse reads a text that begins with a date of the pattern, in milliseconds.
func (f *legacyFormat) Parse(s string, loc *time.Location) (ms int64, ok bool) {
	if p := f.plain; p != nil && len(s) >= p.size && p.size > 0 && (len(s) == p.size || endsNumber(s[p.size])) {
		if us, ok := p.parse(s[:p.size]); ok && us >= firstPlainDay*types.MicrosPerDay {
			return floorDiv(types.FromLocalLate(us, loc), 1000), true
		}
	}
	return f.LegacyPattern.Parse(s, loc)
}

// endsNumber tells the bytes that cannot go on with a number; digits of other scripts can.
func endsNumber(c byte) bool { return c < 0x80 && !digit(c) }
