package expr

import (
	"runnel/types"
)

// castTime converts between DATE, TIME, TIMESTAMP and TIMESTAMP_LTZ; wall clock and instant meet in the session's zone.
func (c *compiler) castTime(from, to types.Type) rowCast {
	loc := c.env.Zone
	fromLTZ, toLTZ := from.Kind == types.TimestampLTZ, to.Kind == types.TimestampLTZ
	switch from.Kind {
	case types.Date:
		return toMicros(to, func(day int64) int64 {
			us := day * types.MicrosPerDay
			if toLTZ {
				us = types.FromLocal(us, loc)
			}
			return us
		})
	case types.Time:
		return toMicros(to, func(ms int64) int64 {
			us := ms * 1000
			if toLTZ {
				us = types.FromLocal(us, loc)
			}
			return us
		})
	}
	switch to.Kind {
	case types.Date:
		return fromMicros(from, func(us int64) int64 {
			if fromLTZ {
				us = types.ToLocal(us, loc)
			}
			day, _ := types.SplitDay(us)
			return day
		})
	case types.Time:
		return fromMicros(from, func(us int64) int64 {
			if fromLTZ {
				us = types.ToLocal(us, loc)
			}
			_, rest := types.SplitDay(us)
			return rest / 1000
		})
	}
	return c.castTimestamp(from, to)
}

// toMicros is a cast from DATE or TIME to a timestamp.
func toMicros(to types.Type, f func(int64) int64) rowCast {
	if to.Phys() == types.PhysWide {
		return castSure(func(v int64) types.Int128 { return types.Int128{Hi: f(v)} })
	}
	return castSure(f)
}

// fromMicros is a cast from a timestamp to DATE or TIME.
func fromMicros(from types.Type, f func(us int64) int64) rowCast {
	if from.Phys() == types.PhysWide {
		return castSure(func(v types.Int128) int64 { return f(v.Hi) })
	}
	return castSure(f)
}

// castTimestamp is between timestamps: it moves to the other clock and cuts the fraction to the target's precision.
func (c *compiler) castTimestamp(from, to types.Type) rowCast {
	loc := c.env.Zone
	shift := func(us int64) int64 { return us }
	switch {
	case from.Kind == types.Timestamp && to.Kind == types.TimestampLTZ:
		shift = func(us int64) int64 { return types.FromLocal(us, loc) }
	case from.Kind == types.TimestampLTZ && to.Kind == types.Timestamp:
		shift = func(us int64) int64 { return types.ToLocal(us, loc) }
	case to.Precision >= from.Precision && from.Phys() == to.Phys():
		return castSame()
	}
	unit, unitNs := int64(1), uint64(1)
	if to.Precision < from.Precision {
		unit, unitNs = pow10(6-to.Precision), uint64(pow10(9-to.Precision))
	}
	cut := func(us int64) int64 {
		if unit == 1 {
			return us
		}
		return floorDiv(us, unit) * unit
	}
	switch {
	case from.Phys() == types.PhysInt && to.Phys() == types.PhysInt:
		return castSure(func(us int64) int64 { return cut(shift(us)) })
	case from.Phys() == types.PhysInt:
		return castSure(func(us int64) types.Int128 { return types.Int128{Hi: cut(shift(us))} })
	case to.Phys() == types.PhysInt:
		return castSure(func(v types.Int128) int64 { return cut(shift(v.Hi)) })
	}
	return castSure(func(v types.Int128) types.Int128 {
		return types.Int128{Hi: shift(v.Hi), Lo: v.Lo / unitNs * unitNs}
	})
}
