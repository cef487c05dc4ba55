package expr

import (
	"runnel/types"
)

// datetimeFunctions take times apart, round, shift and subtract them.
func datetimeFunctions() []Function {
	fs := []Function{
		{Name: "EXTRACT", Doc: "EXTRACT(unit FROM time): a field of a date, time, timestamp or interval.", safe: true,
			forms: "'EXTRACT(<DATETIME_INTERVAL> FROM <DATETIME_INTERVAL>)'", bind: bindExtract, kernel: extractKernel},
		{Name: "TIMESTAMPADD", Doc: "TIMESTAMPADD(unit, n, time): the time n units later.", safe: true,
			forms: "'TIMESTAMPADD(<ANY>, <INTEGER>, <DATETIME>)'", bind: bindTimestampAdd, kernel: timestampAddKernel},
		{Name: "TIMESTAMPDIFF", Doc: "TIMESTAMPDIFF(unit, a, b): the whole units from a to b.", safe: true,
			forms: "'TIMESTAMPDIFF(<ANY>, <DATETIME>, <DATETIME>)'", bind: bindTimestampDiff, kernel: timestampDiffKernel},
		{Name: "MINUS_DATE", Doc: "(a - b) unit: the interval from b to a.", Operator: true, safe: true, bind: bindMinusDate,
			kernel: minusDateKernel},
		{Name: "OVERLAPS", Doc: "(a, b) OVERLAPS (c, d): whether two periods, each a start with an end or a length, overlap.",
			Operator: true, safe: true, form: asInfix, bind: bindOverlaps, rewrite: rewriteOverlaps},
	}
	for _, f := range [...]struct {
		name string
		unit types.Unit
		doc  string
	}{
		{"YEAR", types.Year, "the year"}, {"QUARTER", types.Quarter, "the quarter, 1 to 4"}, {"MONTH", types.Month, "the month"},
		{"WEEK", types.Week, "the ISO week"}, {"DAYOFYEAR", types.DOY, "the day of the year"},
		{"DAYOFMONTH", types.Day, "the day of the month"}, {"DAYOFWEEK", types.DOW, "the day of the week, Sunday being 1"},
		{"HOUR", types.Hour, "the hour"}, {"MINUTE", types.Minute, "the minute"}, {"SECOND", types.Second, "the whole second"},
	} {
		unit := f.unit
		fs = append(fs, Function{Name: f.name, Doc: f.name + "(time): " + f.doc + ".", safe: true, kernel: extractKernel,
			bind: func(b *binding) (types.Type, error) {
				if len(b.args) != 1 {
					return types.Type{}, b.wrongCount(1)
				}
				b.args = []Expr{NewSymbol(unit.String()), b.args[0]}
				return bindExtract(b)
			}})
	}
	return fs
}

// unitOf reads the time unit that stands as a symbol among the arguments.
func unitOf(e Expr) types.Unit {
	word, _ := symbol(e)
	return types.ParseUnit(word)
}

func bindExtract(b *binding) (types.Type, error) {
	if len(b.args) != 2 {
		return types.Type{}, b.wrongCount(2)
	}
	u, t := unitOf(b.args[0]), b.args[1].Type()
	problem := func() error {
		return b.errorf("Cannot apply 'EXTRACT' to arguments of type 'EXTRACT(<INTERVAL %s> FROM <%s>)'. "+
			"Supported form(s): 'EXTRACT(<DATETIME_INTERVAL> FROM <DATETIME_INTERVAL>)'", u, typeWord(t))
	}
	calendar := u >= types.Week
	switch {
	case u == types.NoUnit, t.Kind == types.Null:
		return types.Type{}, problem()
	case t.Kind == types.Time && (u < types.Millisecond || u > types.Hour):
		if u < types.Millisecond {
			return types.Type{}, b.errorf("unit %s can not be applied to %s variable", u, t)
		}
		return types.Type{}, b.errorf("unit %s can not be applied to time variable", u)
	case t.Kind == types.Date && u < types.Millisecond:
		return types.Type{}, b.errorf("unit %s can not be applied to %s variable", u, t)
	case t.Kind == types.IntervalMonths && (u < types.Month || u > types.Millennium):
		return types.Type{}, problem()
	case t.Kind == types.IntervalMillis && u < types.Millisecond:
		return types.Type{}, b.errorf("unit %s can not be applied to %s variable", u, t)
	case t.Kind == types.IntervalMillis && calendar:
		return types.Type{}, problem()
	case !t.IsTemporal() && !t.IsInterval():
		return types.Type{}, problem()
	}
	return types.Of(types.BigInt).Nullable(!t.NotNull), nil
}

// extractKernel is EXTRACT. Fields of a TIMESTAMP_LTZ are those of the session's clock.
func extractKernel(c *compiler, call *Call) (Eval, error) {
	arg, err := c.compile(call.Args[1])
	if err != nil {
		return nil, err
	}
	u, t := unitOf(call.Args[0]), call.Args[1].Type()
	switch t.Kind {
	case types.Date:
		if u < types.Day {
			return castSure(func(int64) int64 { return 0 }).eval(call.T, arg), nil
		}
		return castSure(func(day int64) int64 { return types.ExtractDay(u, day) }).eval(call.T, arg), nil
	case types.Time:
		return castSure(func(ms int64) int64 { return clockField(u, ms*1000) }).eval(call.T, arg), nil
	case types.IntervalMonths:
		return castSure(func(n int64) int64 { return monthsField(u, n) }).eval(call.T, arg), nil
	case types.IntervalMillis:
		return castSure(func(ms int64) int64 { return millisField(u, ms) }).eval(call.T, arg), nil
	}
	loc := c.env.Zone
	field := func(us int64) int64 { return timestampField(u, us) }
	switch {
	case u == types.Epoch:
		field = func(us int64) int64 { return floorDiv(us, types.MicrosPerSecond) }
	case t.Kind == types.TimestampLTZ:
		field = func(us int64) int64 { return timestampField(u, types.ToLocal(us, loc)) }
	}
	if t.Phys() == types.PhysInt {
		return castSure(field).eval(call.T, arg), nil
	}
	if u == types.Nanosecond {
		return castSure(func(v types.Int128) int64 { return floorMod(v.Hi, types.MicrosPerSecond)*1000 + int64(v.Lo) }).eval(call.T, arg), nil
	}
	return castSure(func(v types.Int128) int64 { return field(v.Hi) }).eval(call.T, arg), nil
}

func timestampField(u types.Unit, us int64) int64 {
	day, rest := types.SplitDay(us)
	if u >= types.Day {
		return types.ExtractDay(u, day)
	}
	return clockField(u, rest)
}

// clockField gives a field of the microseconds of a day; the ones below a second are the part behind the second.
func clockField(u types.Unit, us int64) int64 {
	switch u {
	case types.Hour:
		return us / 3_600_000_000
	case types.Minute:
		return us / 60_000_000 % 60
	case types.Second:
		return us / types.MicrosPerSecond % 60
	case types.Millisecond:
		return us / 1000 % 1000
	case types.Microsecond:
		return us % types.MicrosPerSecond
	}
	return us % types.MicrosPerSecond * 1000
}

// monthsField gives a field of a year-month interval; negative intervals have negative fields.
func monthsField(u types.Unit, n int64) int64 {
	switch u {
	case types.Month:
		return n % 12
	case types.Quarter:
		return n%12/3 + 1
	case types.Decade:
		return n / 120
	case types.Century:
		return n / 1200
	case types.Millennium:
		return n / 12000
	}
	return n / 12
}

// millisField gives a field of a day-time interval.
func millisField(u types.Unit, ms int64) int64 {
	switch u {
	case types.Day:
		return ms / types.MillisPerDay
	case types.Hour:
		return ms / 3_600_000 % 24
	case types.Minute:
		return ms / 60_000 % 60
	case types.Second:
		return ms / 1000 % 60
	}
	return ms % 1000
}

// bindFloorTo is FLOOR(t TO unit) and CEIL.
func bindFloorTo(b *binding) (types.Type, error) {
	t, u := b.args[0].Type(), unitOf(b.args[1])
	if !t.IsTemporal() {
		return types.Type{}, b.errorf("Cannot apply '%s' to arguments of type '%s(<%s> TO <INTERVAL %s>)'. "+
			"Supported form(s): '%s(<DATETIME_INTERVAL> TO <TIME_UNIT>)'", b.name, b.name, typeWord(t), u, b.name)
	}
	if u < types.Millisecond || u > types.Millennium {
		return types.Type{}, b.errorf("unit %s can not be applied to %s variable", u, t)
	}
	return t.Plain(), nil
}

// floorToKernel rounds to a unit; a TIMESTAMP_LTZ on the session's clock.
func floorToKernel(c *compiler, call *Call, up bool) (Eval, error) {
	arg, err := c.compile(call.Args[0])
	if err != nil {
		return nil, err
	}
	t, u, loc := call.T, unitOf(call.Args[1]), c.env.Zone
	switch t.Kind {
	case types.Date:
		return castSure(func(day int64) int64 {
			if up {
				return types.CeilDay(u, day)
			}
			return types.FloorDay(u, day)
		}).eval(t, arg), nil
	case types.Time:
		return castSure(func(ms int64) int64 { return roundClock(u, ms, up) }).eval(t, arg), nil
	}
	round := func(us int64) int64 {
		if up {
			return types.CeilMicros(u, us)
		}
		return types.FloorMicros(u, us)
	}
	if t.Kind == types.TimestampLTZ {
		plain := round
		round = func(us int64) int64 { return types.FromLocal(plain(types.ToLocal(us, loc)), loc) }
	}
	if t.Phys() == types.PhysWide {
		return castSure(func(v types.Int128) types.Int128 { return types.Int128{Hi: round(v.Hi)} }).eval(t, arg), nil
	}
	return castSure(round).eval(t, arg), nil
}

// roundClock rounds milliseconds of a day, up to 24:00:00; a day and coarser units leave them.
func roundClock(u types.Unit, ms int64, up bool) int64 {
	var n int64
	switch u {
	case types.Hour:
		n = 3_600_000
	case types.Minute:
		n = 60_000
	case types.Second:
		n = 1000
	case types.Millisecond:
		n = 1
	default:
		return ms
	}
	if up {
		ms += n - 1
	}
	return ms / n * n
}

// unitLength gives the months or milliseconds of a unit.
func unitLength(u types.Unit) (n int64, months bool) {
	switch u {
	case types.Year:
		return 12, true
	case types.Quarter:
		return 3, true
	case types.Month:
		return 1, true
	case types.Week:
		return 7 * types.MillisPerDay, false
	case types.Day:
		return types.MillisPerDay, false
	case types.Hour:
		return 3_600_000, false
	case types.Minute:
		return 60_000, false
	case types.Second:
		return 1000, false
	}
	return 0, false
}

func bindTimestampAdd(b *binding) (types.Type, error) {
	if len(b.args) != 3 {
		return types.Type{}, b.wrongCount(3)
	}
	u, n, t := unitOf(b.args[0]), b.args[1].Type(), b.args[2].Type()
	if !n.IsInteger() || !t.IsTemporal() {
		return types.Type{}, b.misfit()
	}
	length, months := unitLength(u)
	if length == 0 {
		return types.Type{}, b.errorf("Unsupported unit %s in TIMESTAMPADD", u)
	}
	null := anyNullable(b.args[1:])
	if t.Kind == types.Date && !months && length < types.MillisPerDay {
		t = types.TimestampOf(6)
		b.cast(2, t)
	}
	return t.Plain().Nullable(null), nil
}

func timestampAddKernel(c *compiler, call *Call) (Eval, error) {
	n, months := unitLength(unitOf(call.Args[0]))
	by := types.Type{Kind: types.IntervalMillis, NotNull: true}
	if months {
		by.Kind = types.IntervalMonths
	}
	count := &Call{Func: Lookup("*"), Args: []Expr{implicitCast(call.Args[1], types.Of(types.BigInt), call.Pos),
		&Const{Value: types.IntDatum(n), T: types.Of(types.BigInt).Required()}}, T: by.Nullable(!call.Args[1].Type().NotNull), Pos: call.Pos}
	return c.compile(&Call{Func: Lookup("+"), Args: []Expr{call.Args[2], count}, T: call.T, Pos: call.Pos})
}

func bindTimestampDiff(b *binding) (types.Type, error) {
	if len(b.args) != 3 {
		return types.Type{}, b.wrongCount(3)
	}
	u := unitOf(b.args[0])
	if err := b.bindDifference(1, 2); err != nil {
		return types.Type{}, err
	}
	if n, _ := unitLength(u); n == 0 && u != types.Nanosecond {
		return types.Type{}, b.errorf("Unsupported unit %s in TIMESTAMPDIFF", u)
	}
	k := types.Int
	if u == types.Nanosecond {
		k = types.BigInt
	}
	return types.Of(k).Nullable(anyNullable(b.args[1:])), nil
}

// bindDifference brings two times to one type. An instant has no difference to a wall clock reading.
func (b *binding) bindDifference(i, j int) error {
	t, u := b.args[i].Type(), b.args[j].Type()
	switch {
	case t.Kind == types.Null && u.IsTemporal():
		b.cast(i, u)
	case u.Kind == types.Null && t.IsTemporal():
		b.cast(j, t)
	case !t.IsTemporal() || !u.IsTemporal():
		return b.misfit()
	case (t.Kind == types.TimestampLTZ) != (u.Kind == types.TimestampLTZ):
		return b.errorf("TIMESTAMP_LTZ only supports diff between the same type.")
	case t.Kind == types.Time && u.Kind == types.Time:
	default:
		p := max(t.Precision, u.Precision)
		c := types.TimestampOf(p)
		if t.Kind == types.TimestampLTZ {
			c = types.TimestampLTZOf(p)
		}
		b.cast(i, c)
		b.cast(j, c)
	}
	return nil
}

// timestampDiffKernel counts whole units from the first time to the second, towards zero.
func timestampDiffKernel(c *compiler, call *Call) (Eval, error) {
	u := unitOf(call.Args[0])
	n, months := unitLength(u)
	return c.difference(call, call.Args[1], call.Args[2], func(a, b, ns int64) int64 {
		switch {
		case u == types.Nanosecond:
			return (b-a)*1000 + ns
		case months:
			return wrap(types.Int, monthsBetween(a, b)/n)
		}
		return wrap(types.Int, (b-a)/(n*1000))
	})
}

func monthsBetween(a, b int64) int64 {
	dayA, todA := types.SplitDay(a)
	dayB, todB := types.SplitDay(b)
	return types.MonthsBetween(dayA, dayB, todB-todA)
}

// difference compiles f over two times of one type: both in microseconds, and the difference of the nanoseconds beyond.
func (c *compiler) difference(call *Call, from, to Expr, f func(a, b, ns int64) int64) (Eval, error) {
	x, err := c.compile(from)
	if err != nil {
		return nil, err
	}
	y, err := c.compile(to)
	if err != nil {
		return nil, err
	}
	args := []Eval{x, y}
	switch t := from.Type(); {
	case t.Phys() == types.PhysWide:
		return binaryRow(call.T, args, func(a, b types.Int128) (int64, error) {
			return f(a.Hi, b.Hi, int64(b.Lo)-int64(a.Lo)), nil
		}), nil
	case t.Kind == types.Time:
		return binaryRow(call.T, args, func(a, b int64) (int64, error) { return f(a*1000, b*1000, 0), nil }), nil
	}
	return binaryRow(call.T, args, func(a, b int64) (int64, error) { return f(a, b, 0), nil }), nil
}

// bindMinusDate is (a - b) unit: args a, b and the unit.
func bindMinusDate(b *binding) (types.Type, error) {
	if len(b.args) != 3 {
		return types.Type{}, b.wrongCount(3)
	}
	u := unitOf(b.args[2])
	n, months := unitLength(u)
	if n == 0 || u == types.Week || u == types.Quarter {
		return types.Type{}, b.errorf("An interval has no unit %s", u)
	}
	if k, l := b.args[0].Type().Kind, b.args[1].Type().Kind; k != l && timeRank(b.args[0].Type())+timeRank(b.args[1].Type()) != 5 {
		return types.Type{}, b.errorf("Parameters must be of the same type")
	}
	if err := b.bindDifference(0, 1); err != nil {
		return types.Type{}, err
	}
	t := types.Type{Kind: types.IntervalMillis}
	if months {
		t.Kind = types.IntervalMonths
	}
	return t.Nullable(anyNullable(b.args[:2])), nil
}

func minusDateKernel(c *compiler, call *Call) (Eval, error) {
	_, months := unitLength(unitOf(call.Args[2]))
	return c.difference(call, call.Args[1], call.Args[0], func(a, b, _ int64) int64 {
		if months {
			return monthsBetween(a, b)
		}
		return floorDiv(b, 1000) - floorDiv(a, 1000)
	})
}

// bindOverlaps takes four arguments: start and end, or length, of each period.
func bindOverlaps(b *binding) (types.Type, error) {
	if len(b.args) != 4 {
		return types.Type{}, b.wrongCount(4)
	}
	for i := 0; i < 4; i += 2 {
		if b.args[i+1].Type().IsInterval() {
			end, err := NewCall("+", b.args[i:i+2], b.pos)
			if err != nil {
				return types.Type{}, err
			}
			b.args[i+1] = end
		}
	}
	return boolType(anyNullable(b.args)), nil
}

// rewriteOverlaps orders each period and asks whether each begins before the other ends.
func rewriteOverlaps(b *binding, _ types.Type) (Expr, error) {
	var ends [4]Expr // start, end, start, end
	for i := 0; i < 4; i += 2 {
		ordered, err := NewCall("<=", []Expr{b.args[i], b.args[i+1]}, b.pos)
		if err != nil {
			return nil, err
		}
		for k := range 2 {
			if ends[i+k], err = NewCase([]When{{ordered, b.args[i+k]}}, b.args[i+1-k], b.pos); err != nil {
				return nil, err
			}
		}
	}
	l, err := NewCall(">=", []Expr{ends[1], ends[2]}, b.pos)
	if err != nil {
		return nil, err
	}
	r, err := NewCall(">=", []Expr{ends[3], ends[0]}, b.pos)
	if err != nil {
		return nil, err
	}
	return NewAnd(l, r), nil
}
