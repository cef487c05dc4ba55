package expr

import (
	"errors"
	"time"

	"runnel/types"
)

// usualPattern is the pattern where none is given.
const usualPattern = "yyyy-MM-dd HH:mm:ss"

// dateTextFunctions read and write dates and times as text. Two dialects of patterns are in use: that of
// java.time.format.DateTimeFormatter, and the lenient one of java.text.SimpleDateFormat (package types has both).
func dateTextFunctions() []Function {
	ts3 := give(types.TimestampOf(3))
	return []Function{
		{Name: "TO_TIMESTAMP", Doc: "TO_TIMESTAMP(text [, pattern]): the timestamp that a text names; NULL when it names none.", safe: true,
			bind: takes("CHARACTER, [CHARACTER]").toMaybe(ts3), kernel: toTimestampKernel},
		{Name: "TO_DATE", Doc: "TO_DATE(text [, pattern]): the date that a text names; NULL when it names none.",
			bind: takes("CHARACTER, [CHARACTER]").toMaybe(giveKind(types.Date)), kernel: toDateKernel},
		{Name: "TO_TIMESTAMP_LTZ", Doc: "TO_TIMESTAMP_LTZ(n, precision): the instant n seconds (0) or milliseconds (3) after 1970.",
			forms: "'TO_TIMESTAMP_LTZ(<NUMERIC>, <INTEGER>)'", bind: bindToLTZ, kernel: toLTZKernel},
		{Name: "DATE_FORMAT", Doc: "DATE_FORMAT(timestamp or text, pattern): the time as text.",
			forms: "'DATE_FORMAT(<TIMESTAMP>, <CHARACTER>)'", bind: bindDateFormat, kernel: dateFormatKernel},
		{Name: "FROM_UNIXTIME", Doc: "FROM_UNIXTIME(seconds [, pattern]): the time so many seconds after 1970 as text, in the session's zone.",
			forms: "'FROM_UNIXTIME(<INTEGER>)'", bind: takes("INTEGER, [CHARACTER]").toMaybe(giveText), kernel: fromUnixtimeKernel},
		{Name: "UNIX_TIMESTAMP", Doc: "UNIX_TIMESTAMP([text [, pattern]]): seconds after 1970, of now or of the time that a text names.",
			forms: "'UNIX_TIMESTAMP()'", bind: takes("[CHARACTER], [CHARACTER]").to(giveKind(types.BigInt)), kernel: unixTimestampKernel},
		{Name: "CONVERT_TZ", Doc: "CONVERT_TZ(text, from, to): the time yyyy-MM-dd HH:mm:ss of one zone as that of another.", safe: true,
			bind: takes("CHARACTER, CHARACTER, CHARACTER").toMaybe(giveText), kernel: convertTZKernel},
	}
}

// patternCache compiles patterns and keeps the last one, with its error.
type patternCache[P any] struct {
	pattern string
	p       P
	err     error
	ok      bool
	parse   func(string) (P, error)
}

func (c *patternCache[P]) get(pattern string) (P, error) {
	if !c.ok || c.pattern != pattern {
		c.p, c.err = c.parse(pattern)
		c.pattern, c.ok = pattern, true
	}
	return c.p, c.err
}

func (c *compiler) legacyPatterns() *patternCache[legacyFormat] {
	return &patternCache[legacyFormat]{parse: c.parseLegacyFormat}
}

func datePatterns() *patternCache[formatPattern] {
	return &patternCache[formatPattern]{parse: parseFormat}
}

func toTimestampKernel(c *compiler, call *Call) (Eval, error) {
	args, err := c.args(call)
	if err != nil {
		return nil, err
	}
	if len(args) == 1 {
		return unary(call.T, args[0], func(s string) (int64, error) {
			us, _, ok := types.ParseTimestamp(s, 3)
			return orNull(us, ok)
		}), nil
	}
	cache := datePatterns()
	return binaryRow(call.T, args, func(s, pattern string) (int64, error) {
		p, err := cache.get(pattern)
		if err != nil {
			return 0, errNull
		}
		if p.plain != nil {
			if us, ok := p.plain.parse(s); ok {
				return floorDiv(us, 1000) * 1000, nil
			}
		}
		if us, _, ok := p.Parse(s); ok {
			return floorDiv(us, 1000) * 1000, nil
		}
		// Flink's second try, whatever the pattern was.
		us, _, ok := types.ParseLegacyTimestamp(s)
		return orNull(floorDiv(us, 1000)*1000, ok)
	}), nil
}

func toDateKernel(c *compiler, call *Call) (Eval, error) {
	args, err := c.args(call)
	if err != nil {
		return nil, err
	}
	if len(args) == 1 {
		return unary(call.T, args[0], func(s string) (int64, error) { return orNull(types.ParseDate(s)) }), nil
	}
	cache := c.legacyPatterns()
	return binaryRow(call.T, args, func(s, pattern string) (int64, error) {
		p, err := cache.get(pattern)
		if err != nil {
			return 0, err
		}
		ms, ok := p.Parse(s, time.UTC)
		return orNull(floorDiv(ms, types.MillisPerDay), ok)
	}), nil
}

// bindToLTZ is TO_TIMESTAMP_LTZ(number, precision), and the form over text of later versions.
func bindToLTZ(b *binding) (types.Type, error) {
	if len(b.args) == 0 || len(b.args) > 3 {
		return types.Type{}, b.wrongCount(2)
	}
	ltz := types.TimestampLTZOf(3)
	t := b.args[0].Type()
	switch {
	case len(b.args) == 1 && !t.IsNumeric() && !t.IsString():
		return types.Type{}, b.misfit()
	case len(b.args) == 1:
		return types.Type{}, b.wrongCount(2)
	case len(b.args) == 2 && t.IsNumeric():
		if u := b.args[1].Type(); !u.IsInteger() {
			return types.Type{}, b.misfit()
		}
		if t.Kind == types.Decimal {
			b.cast(0, types.Of(types.BigInt))
		} else if t.Kind == types.Float {
			b.cast(0, types.Of(types.Double))
		}
		return ltz, nil
	}
	return types.Type{}, b.misfit()
}

func toLTZKernel(c *compiler, call *Call) (Eval, error) {
	args, err := c.args(call)
	if err != nil {
		return nil, err
	}
	if call.Args[0].Type().Phys() == types.PhysFloat {
		return binaryRow(call.T, args, func(v float64, p int64) (int64, error) {
			if p == 0 {
				v *= 1000
			}
			return instantOf(floatToInt(v, types.BigInt), p, 1)
		}), nil
	}
	return binaryRow(call.T, args, func(v, p int64) (int64, error) {
		scale := int64(1)
		if p == 0 {
			scale = 1000
		}
		return instantOf(v, p, scale)
	}), nil
}

var errLTZPrecision = errors.New("The precision for function TO_TIMESTAMP_LTZ(numeric, precision) is unsupported, " +
	"the supported value is '0' for second or '3' for millisecond.")

// The instants of the years 0000 to 9999 in milliseconds.
const (
	minInstant = -62167219200000
	maxInstant = 253402300799999
)

// instantOf gives v*scale milliseconds in microseconds; NULL outside of the years 0000 to 9999.
func instantOf(v, p, scale int64) (int64, error) {
	if p != 0 && p != 3 {
		return 0, errLTZPrecision
	}
	if v > maxInstant/scale || v < minInstant/scale-1 {
		return 0, errNull
	}
	ms := v * scale
	if ms < minInstant || ms > maxInstant {
		return 0, errNull
	}
	return ms * 1000, nil
}

func bindDateFormat(b *binding) (types.Type, error) {
	if len(b.args) != 2 {
		return types.Type{}, b.wrongCount(2)
	}
	t, p := b.args[0].Type(), b.args[1].Type()
	if t.Kind != types.Timestamp && t.Kind != types.TimestampLTZ && !t.IsString() || !p.IsString() {
		return types.Type{}, b.misfit()
	}
	return types.String(), nil
}

func dateFormatKernel(c *compiler, call *Call) (Eval, error) {
	args, err := c.args(call)
	if err != nil {
		return nil, err
	}
	arena := &types.Arena{}
	t, loc := call.Args[0].Type(), c.env.Zone
	if t.IsString() {
		in, _ := c.parseLegacyFormat(usualPattern)
		cache := c.legacyPatterns()
		return binaryRow(call.T, args, func(s, pattern string) (string, error) {
			p, err := cache.get(pattern)
			if err != nil {
				return "", err
			}
			ms, ok := in.Parse(s, time.UTC)
			if !ok {
				return "", errNull
			}
			return arena.Take(p.Append(arena.Buf(), ms, time.UTC)), nil
		}), nil
	}
	cache := datePatterns()
	format := func(us int64, ns int, pattern string) (string, error) {
		p, err := cache.get(pattern)
		if err != nil {
			return "", err
		}
		if t.Kind == types.TimestampLTZ {
			us = types.ToLocal(us, loc)
		}
		if p.plain != nil {
			if s, ok := p.plain.format(arena, us); ok {
				return s, nil
			}
		}
		buf, err := p.Append(arena.Buf(), us, ns)
		if err != nil {
			return "", err
		}
		return arena.Take(buf), nil
	}
	if t.Phys() == types.PhysWide {
		return binaryRow(call.T, args, func(v types.Int128, pattern string) (string, error) {
			return format(v.Hi, int(v.Lo), pattern)
		}), nil
	}
	return binaryRow(call.T, args, func(us int64, pattern string) (string, error) { return format(us, 0, pattern) }), nil
}

func fromUnixtimeKernel(c *compiler, call *Call) (Eval, error) {
	sec, err := c.compile(implicitCast(call.Args[0], types.Of(types.BigInt), call.Pos))
	if err != nil {
		return nil, err
	}
	pattern := constant(NewString(usualPattern))
	if len(call.Args) == 2 {
		if pattern, err = c.compile(call.Args[1]); err != nil {
			return nil, err
		}
	}
	arena, cache, loc := &types.Arena{}, c.legacyPatterns(), c.env.Zone
	return binaryRow(call.T, []Eval{sec, pattern}, func(sec int64, pattern string) (string, error) {
		p, err := cache.get(pattern)
		if err != nil {
			return "", err
		}
		return arena.Take(p.Append(arena.Buf(), sec*1000, loc)), nil
	}), nil
}

// noTime is what UNIX_TIMESTAMP gives for a text that names no time, as in Flink.
const noTime = -1 << 63

func unixTimestampKernel(c *compiler, call *Call) (Eval, error) {
	if len(call.Args) == 0 {
		return c.clock(call.T, func(now time.Time) int64 { return now.Unix() }), nil
	}
	s, err := c.compile(call.Args[0])
	if err != nil {
		return nil, err
	}
	pattern := constant(NewString(usualPattern))
	if len(call.Args) == 2 {
		if pattern, err = c.compile(call.Args[1]); err != nil {
			return nil, err
		}
	}
	cache, loc := c.legacyPatterns(), c.env.Zone
	return binaryRow(call.T, []Eval{s, pattern}, func(s, pattern string) (int64, error) {
		p, err := cache.get(pattern)
		if err != nil {
			return 0, err
		}
		ms, ok := p.Parse(s, loc)
		if !ok {
			return noTime, nil
		}
		return ms / 1000, nil
	}), nil
}

func convertTZKernel(c *compiler, call *Call) (Eval, error) {
	p, err := c.parseLegacyFormat(usualPattern)
	if err != nil {
		return nil, err
	}
	arena := &types.Arena{}
	zone := func() *patternCache[*time.Location] {
		return &patternCache[*time.Location]{parse: func(id string) (*time.Location, error) { return types.LegacyZone(id), nil }}
	}
	from, to := zone(), zone()
	return rows3(func(s, fromID, toID string) (string, error) {
		f, _ := from.get(fromID)
		t, _ := to.get(toID)
		ms, ok := p.Parse(s, f)
		if !ok {
			return "", errNull
		}
		return arena.Take(p.Append(arena.Buf(), ms, t)), nil
	})(c, call)
}
