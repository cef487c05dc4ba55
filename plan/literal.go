package plan

import (
	"encoding/hex"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"runnel/expr"
	"runnel/sql"
	"runnel/types"
)

// literal binds a constant. A sign has been put in front of the text of a number.
func (p *planning) literal(l *sql.Literal) (expr.Expr, error) {
	switch l.Kind {
	case sql.IntegerLit, sql.DecimalLit:
		return exactNumber(l)
	case sql.DoubleLit:
		f, err := strconv.ParseFloat(l.Text, 64)
		if err != nil && !math.IsInf(f, 0) {
			return nil, refuse(nameError, l, "Numeric literal '%s' out of range", l.Text)
		}
		if f == 0 { // a number in the text has no negative zero
			f = 0
		}
		return expr.NewConst(types.FloatDatum(f), types.Of(types.Double)), nil
	case sql.StringLit:
		return expr.NewString(l.Text), nil
	case sql.BinaryLit:
		b, err := hex.DecodeString(l.Text)
		if err != nil {
			msg := "Binary literal string must contain only characters '0' - '9', 'A' - 'F'"
			if len(l.Text)%2 != 0 {
				msg = "Binary literal string must contain an even number of hexits"
			}
			return nil, refuse(nameError, l, "%s", msg)
		}
		return expr.NewConst(types.StrDatum(string(b)), types.Type{Kind: types.Binary, Precision: len(b)}), nil
	case sql.TrueLit, sql.FalseLit:
		return expr.NewBool(l.Kind == sql.TrueLit), nil
	case sql.UnknownLit:
		return expr.NewConst(types.NullDatum(), types.Of(types.Boolean)), nil
	case sql.NullLit:
		return expr.NewNull(), nil
	}
	return p.temporal(l)
}

// exactNumber binds a number without exponent: INT, BIGINT, or a DECIMAL of just the digits written.
func exactNumber(l *sql.Literal) (expr.Expr, error) {
	digits := strings.TrimPrefix(l.Text, "-")
	whole, fraction, _ := strings.Cut(digits, ".")
	outOfRange := refuse(nameError, l, "Numeric literal '%s' out of range", l.Text).
		Cure("Write CAST('%s' AS DECIMAL(38, %d)).", l.Text, len(fraction))
	unscaled := whole + fraction
	if _, err := strconv.ParseInt(sign(l.Text)+unscaled, 10, 64); err != nil {
		return nil, outOfRange
	}
	if fraction == "" {
		n, err := strconv.ParseInt(sign(l.Text)+whole, 10, 64)
		if err != nil {
			return nil, outOfRange
		}
		return expr.NewInt(n), nil
	}
	precision := len(unscaled)
	if whole == "" || precision == 0 {
		precision = len(fraction)
	}
	if precision > 38 {
		return nil, outOfRange
	}
	t := types.DecimalOf(precision, len(fraction))
	v, status := types.ParseDecimal(l.Text, t.Precision, t.Scale)
	if status != types.DecimalOK {
		return nil, outOfRange
	}
	if t.Phys() == types.PhysInt {
		return expr.NewConst(types.IntDatum(int64(v.Lo)), t), nil
	}
	return expr.NewConst(types.WideDatum(v), t), nil
}

func sign(s string) string {
	if strings.HasPrefix(s, "-") {
		return "-"
	}
	return ""
}

var (
	dateForm      = regexp.MustCompile(`^\d{4}-\d{1,2}-\d{1,2}$`)
	timeForm      = regexp.MustCompile(`^\d{1,2}:\d{1,2}:\d{1,2}(\.\d+)?$`)
	timestampForm = regexp.MustCompile(`^(\d{4}-\d{1,2}-\d{1,2})(?: (\d{1,2}:\d{1,2}:\d{1,2})(?:\.(\d+))?)?$`)
)

// aDate reports whether a literal of the right form is a day of the calendar: from the year 1, and without the ten days
// that the Gregorian reform left out.
func aDate(s string) bool {
	var y, m, d int
	fmt.Sscanf(s, "%d-%d-%d", &y, &m, &d)
	if y == 1582 && m == 10 && d > 4 && d < 15 {
		return false
	}
	t := time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC)
	return y > 0 && t.Year() == y && int(t.Month()) == m && t.Day() == d
}

// aTime reports whether a literal of the right form is a time of the day.
func aTime(s string) bool {
	var h, m, sec int
	fmt.Sscanf(s, "%d:%d:%d", &h, &m, &sec)
	return h < 24 && m < 60 && sec < 60
}

// temporal binds DATE '..', TIME '..' and TIMESTAMP '..': a cast of the text that is evaluated at once.
func (p *planning) temporal(l *sql.Literal) (expr.Expr, error) {
	var t types.Type
	word, form, ok := "", "", false
	switch l.Kind {
	case sql.DateLit:
		word, form, t, ok = "DATE", "yyyy-MM-dd", types.Of(types.Date), dateForm.MatchString(l.Text) && aDate(l.Text)
	case sql.TimeLit:
		word, form, t, ok = "TIME", "HH:mm:ss", types.Of(types.Time), timeForm.MatchString(l.Text) && aTime(l.Text)
	case sql.TimestampLit:
		word, form = "TIMESTAMP", "yyyy-MM-dd HH:mm:ss"
		m := timestampForm.FindStringSubmatch(l.Text)
		if ok = m != nil && aDate(m[1]) && aTime(m[2]); ok {
			t = types.TimestampOf(min(len(m[3]), 9))
		}
	}
	bad := refuse("org.apache.calcite.runtime.CalciteException", l, "Illegal %s literal '%s': not in format '%s'", word, l.Text, form)
	if !ok {
		return nil, bad
	}
	cast, err := expr.NewCast(expr.NewString(l.Text), t, false, pos(l))
	if err != nil {
		return nil, typeError(err, l)
	}
	v, err := p.evaluate(cast)
	if err != nil || v.Null {
		return nil, bad
	}
	return expr.NewConst(v, t), nil
}

// evaluate gives the value of an expression without columns.
func (p *planning) evaluate(e expr.Expr) (types.Datum, error) {
	eval, err := expr.Compile(e, nil, p.env())
	if err != nil {
		return types.Datum{}, err
	}
	col, err := eval(&types.Batch{Len: 1}, []int32{0})
	if err != nil {
		return types.Datum{}, err
	}
	return col.At(0), nil
}

func (p *planning) env() *expr.Env {
	now := p.now()
	return &expr.Env{Zone: p.zone, Now: p.now, QueryStart: now, Batch: p.batch,
		LegacyCast: p.Config.Get("table.exec.legacy-cast-behaviour") == "ENABLED", Watermark: func() int64 { return types.MinWatermark }}
}

// unitMillis are the lengths of the day-time units.
var unitMillis = map[sql.TimeUnit]int64{
	"WEEK": 7 * 86400000, "DAY": 86400000, "HOUR": 3600000, "MINUTE": 60000, "SECOND": 1000,
}

// unitMonths are the lengths of the year-month units.
var unitMonths = map[sql.TimeUnit]int64{"YEAR": 12, "QUARTER": 3, "MONTH": 1}

// fieldMost are the greatest values of fields that stand behind another one.
var fieldMost = map[sql.TimeUnit]int64{"MONTH": 11, "HOUR": 23, "MINUTE": 59, "SECOND": 59}

// unitOrder is the order of the fields of an interval's text.
var unitOrder = []sql.TimeUnit{"YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"}

var intervalForm = regexp.MustCompile(`^\s*([+-]?)\s*(\d+)(?:([- :])(\d+))?(?:([:])(\d+))?(?:([:])(\d+))?(?:\.(\d+))?\s*$`)

// interval binds INTERVAL '..' unit [TO unit].
func interval(l *sql.IntervalLit) (expr.Expr, error) {
	bad := refuse(nameError, l, "Illegal interval literal format '%s' for INTERVAL %s", l.Text, qualifierText(l.Qualifier))
	m := intervalForm.FindStringSubmatch(l.Text)
	if m == nil {
		return nil, bad
	}
	units, ok := intervalUnits(l.Qualifier)
	if !ok {
		return nil, bad
	}
	if l.Qualifier.Precision > 3 && unitMonths[l.Qualifier.First] == 0 {
		return nil, refuse(tableError, l, "DAY_INTERVAL_TYPES precision is not supported: %d", l.Qualifier.Precision).
			Cure("Three digits are the most; write a larger unit, or a product: INTERVAL '1' DAY * 5000.")
	}
	fields := []string{m[2]}
	separators := []string{}
	for i := 3; i <= 7; i += 2 {
		if m[i+1] != "" {
			fields, separators = append(fields, m[i+1]), append(separators, m[i])
		}
	}
	if len(fields) != len(units) || m[9] != "" && units[len(units)-1] != "SECOND" {
		return nil, bad
	}
	var months, millis int64
	for i, u := range units {
		if i > 0 && separators[i-1] != separatorBefore(u) {
			return nil, bad
		}
		n, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil || n > 1<<40 {
			return nil, refuse(nameError, l, "Interval field value %s exceeds precision of %s field", fields[i], u)
		}
		if i == 0 && len(strings.TrimLeft(fields[i], "0")) > leadingPrecision(l.Qualifier) {
			return nil, refuse(nameError, l, "Interval field value %s exceeds precision of %s(%d) field", groupDigits(n), u, leadingPrecision(l.Qualifier)).
				Cure("Write %s(%d).", u, len(fields[i]))
		}
		if most := fieldMost[u]; i > 0 && most > 0 && n > most {
			return nil, bad
		}
		months += n * unitMonths[u]
		millis += n * unitMillis[u]
	}
	if m[9] != "" {
		frac, _ := strconv.ParseInt((m[9] + "000")[:3], 10, 64)
		millis += frac
	}
	if (m[1] == "-") != l.Negative {
		months, millis = -months, -millis
	}
	return intervalConst(l.Qualifier, months, millis), nil
}

func intervalConst(q sql.IntervalQualifier, months, millis int64) expr.Expr {
	kind, v := types.IntervalMillis, millis
	if unitMonths[q.First] > 0 {
		kind, v = types.IntervalMonths, months
	}
	return expr.NewConst(types.IntDatum(v), types.Of(kind))
}

// groupDigits writes a number as Flink's messages do: 1,000.
func groupDigits(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func leadingPrecision(q sql.IntervalQualifier) int {
	if q.Precision >= 0 {
		return q.Precision
	}
	return 2
}

// separatorBefore is what stands in front of a field that is not the first.
func separatorBefore(u sql.TimeUnit) string {
	switch u {
	case "MONTH":
		return "-"
	case "HOUR":
		return " "
	}
	return ":"
}

// intervalUnits lists the fields that the text of an interval has.
func intervalUnits(q sql.IntervalQualifier) ([]sql.TimeUnit, bool) {
	if q.Last == "" || q.Last == q.First {
		return []sql.TimeUnit{q.First}, unitMonths[q.First] > 0 || unitMillis[q.First] > 0
	}
	var units []sql.TimeUnit
	for _, u := range unitOrder {
		if u == q.First || len(units) > 0 {
			units = append(units, u)
		}
		if u == q.Last {
			return units, len(units) > 0 && (unitMonths[q.First] > 0) == (unitMonths[q.Last] > 0)
		}
	}
	return nil, false
}

func qualifierText(q sql.IntervalQualifier) string {
	if q.Last == "" {
		return string(q.First)
	}
	return string(q.First) + " TO " + string(q.Last)
}

// intervalExpr binds INTERVAL n unit.
func (b *binder) intervalExpr(e *sql.IntervalExpr) (expr.Expr, error) {
	n, err := b.expr(e.Amount)
	if err != nil {
		return nil, err
	}
	unit := unitMillis[e.Qualifier.First]
	if m := unitMonths[e.Qualifier.First]; m > 0 {
		unit = m
	}
	if unit == 0 || e.Qualifier.Last != "" || !n.Type().IsInteger() {
		return nil, refuse(nameError, e, "An INTERVAL with a computed amount wants a whole number and one unit")
	}
	if c, ok := n.(*expr.Const); ok && !c.Value.Null {
		return intervalConst(e.Qualifier, c.Value.I*unit, c.Value.I*unit), nil
	}
	x, err := newCall(e, "*", n, intervalConst(e.Qualifier, unit, unit))
	if err != nil {
		return nil, err
	}
	return x, nil
}
