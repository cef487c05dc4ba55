package expr

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"runnel/types"
)

// castToText renders a value and makes it fit CHAR(n) or VARCHAR(n).
func (c *compiler) castToText(from, to types.Type) rowCast {
	legacy := c.env.LegacyCast
	if from.IsString() {
		if legacy || to.Kind == types.Varchar && (to.Precision == types.MaxLength ||
			from.Precision <= to.Precision && from.Kind == types.Varchar) {
			return castSame()
		}
		if to.Kind == types.Varchar {
			n := to.Precision
			return castSure(func(s string) string { return cutRunes(s, n) })
		}
	}
	arena, fit := &types.Arena{}, fitter(to, legacy)
	loc := c.env.Zone
	switch {
	case from.IsString():
		return castSure(func(s string) string { return fit(arena, append(arena.Buf(), s...)) })
	case from.IsBinary():
		return castSure(func(s string) string { return fit(arena, types.AppendUTF8(arena.Buf(), s)) })
	case from.IsInteger():
		return castSure(func(v int64) string { return fit(arena, strconv.AppendInt(arena.Buf(), v, 10)) })
	case from.Kind == types.Boolean:
		return castSure(func(v int64) string { return boolText(v, legacy, to) })
	case from.Kind == types.Double:
		return castSure(func(v float64) string { return fit(arena, types.AppendDouble(arena.Buf(), v)) })
	case from.Kind == types.Float:
		return castSure(func(v float64) string { return fit(arena, types.AppendFloat(arena.Buf(), v)) })
	}
	t, write := from, types.AppendText
	if legacy {
		write = types.AppendLegacyText
	}
	text := func(d types.Datum) string { return fit(arena, write(arena.Buf(), &t, d, loc)) }
	switch from.Phys() {
	case types.PhysInt:
		return castSure(func(v int64) string { return text(types.IntDatum(v)) })
	case types.PhysWide:
		return castSure(func(v types.Int128) string { return text(types.WideDatum(v)) })
	case types.PhysStr:
		return castSure(func(v string) string { return text(types.StrDatum(v)) })
	}
	return castSure(func(v any) string { return text(types.AnyDatum(v)) })
}

func boolText(v int64, legacy bool, to types.Type) string {
	s := "FALSE"
	if v != 0 {
		s = "TRUE"
	}
	if legacy {
		return strings.ToLower(s)
	}
	s = cutRunes(s, to.Precision)
	if to.Kind == types.Char && len(s) < to.Precision {
		s += strings.Repeat(" ", to.Precision-len(s))
	}
	return s
}

// fitter gives the function that cuts the text in buf to n characters and, for CHAR, fills it up with blanks.
func fitter(t types.Type, legacy bool) func(*types.Arena, []byte) string {
	n, pad := t.Precision, t.Kind == types.Char
	if legacy || n == types.MaxLength && !pad {
		return (*types.Arena).Take
	}
	return func(a *types.Arena, buf []byte) string {
		have := 0
		for i, c := range buf {
			if c&0xC0 == 0x80 {
				continue
			}
			if have == n {
				return a.Take(buf[:i])
			}
			have++
		}
		for pad && have < n {
			buf = append(buf, ' ')
			have++
		}
		return a.Take(buf)
	}
}

func cutRunes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:offset(s, n)]
}

// castToBytes is from text or binary to BINARY(n), filled up with zeros, or VARBINARY(n).
func (c *compiler) castToBytes(from, to types.Type) rowCast {
	n, pad := to.Precision, to.Kind == types.Binary
	if c.env.LegacyCast || n == types.MaxLength && !pad {
		return castSame()
	}
	if !pad && from.IsBinary() && from.Precision <= n {
		return castSame()
	}
	return castSure(func(s string) string {
		if len(s) > n {
			return s[:n]
		}
		if pad && len(s) < n {
			return s + strings.Repeat("\x00", n-len(s))
		}
		return s
	})
}

// castFromText parses.
func (c *compiler) castFromText(to types.Type) (rowCast, error) {
	switch {
	case to.Kind == types.Boolean:
		return castBy(func(s string) (int64, error) {
			v, ok := types.ParseBoolean(s)
			if !ok {
				return 0, fmt.Errorf("Cannot parse '%s' as BOOLEAN.", s)
			}
			return toInt(v), nil
		}), nil
	case to.IsInteger():
		lo, hi := types.IntRange(to.Kind)
		return castBy(func(s string) (int64, error) {
			v, ok := types.ParseInt(s, lo, hi)
			if !ok {
				return 0, badInteger(s)
			}
			return v, nil
		}), nil
	case to.Kind == types.Double:
		return castBy(func(s string) (float64, error) { return floatOr(types.ParseDouble(s))(s) }), nil
	case to.Kind == types.Float:
		return castBy(func(s string) (float64, error) { return floatOr(types.ParseFloat(s))(s) }), nil
	case to.Kind == types.Decimal:
		return castTextToDecimal(to), nil
	case to.IsTemporal():
		return c.castTextToTime(to), nil
	}
	return rowCast{}, fmt.Errorf("unsupported cast from STRING to %s", to)
}

func floatOr(v float64, ok bool) func(string) (float64, error) {
	return func(s string) (float64, error) {
		if ok {
			return v, nil
		}
		if strings.TrimSpace(s) == "" {
			return 0, errors.New("empty String")
		}
		return 0, fmt.Errorf("For input string: %q", strings.TrimSpace(s))
	}
}

// badInteger says what is wrong with a text that is no integer, in Flink's words.
func badInteger(s string) error {
	reason := "Overflow."
	switch t := strings.Trim(s, " "); {
	case t == "":
		reason = "Input is empty."
	case strings.Trim(strings.TrimLeft(t, "+-"), "0123456789.") != "" || strings.Trim(t, "+-") == "" || strings.Count(t, ".") > 1:
		reason = "Invalid character found."
	}
	return fmt.Errorf("For input string: '%s'. %s", s, reason)
}

func castTextToDecimal(to types.Type) rowCast {
	p, s := to.Precision, to.Scale
	parse := func(text string) (types.Int128, error) {
		v, ok := types.CastDecimal(text, p, s)
		if !ok {
			return v, fmt.Errorf("'%s' is no number that fits %s", text, to.Name())
		}
		return v, nil
	}
	if to.Phys() == types.PhysWide {
		return castBy(parse)
	}
	return castBy(func(text string) (int64, error) { v, err := parse(text); return int64(v.Lo), err })
}

func (c *compiler) castTextToTime(to types.Type) rowCast {
	switch to.Kind {
	case types.Date:
		return castBy(func(s string) (int64, error) {
			d, ok := types.ParseDate(s)
			if !ok {
				return 0, fmt.Errorf("For input string: '%s'.", s)
			}
			return d, nil
		})
	case types.Time:
		return castBy(func(s string) (int64, error) {
			ms, ok := types.ParseTime(s)
			if !ok {
				return 0, fmt.Errorf("For input string: '%s'.", s)
			}
			return ms, nil
		})
	}
	p, loc, local := to.Precision, c.env.Zone, to.Kind == types.TimestampLTZ
	parse := func(s string) (types.Int128, error) {
		us, ns, ok := types.ParseTimestamp(s, p)
		if !ok {
			return types.Int128{}, fmt.Errorf("Text '%s' could not be parsed as a timestamp yyyy-MM-dd[ HH:mm:ss[.fraction]]", s)
		}
		if local {
			us = types.FromLocal(us, loc)
		}
		return types.Int128{Hi: us, Lo: uint64(ns)}, nil
	}
	if to.Phys() == types.PhysWide {
		return castBy(parse)
	}
	return castBy(func(s string) (int64, error) { v, err := parse(s); return v.Hi, err })
}
