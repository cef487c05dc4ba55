package expr

import (
	"runnel/types"
)

const (
	msPerDay  = 86_400_000
	usPerDay  = 86_400_000_000
	msPerSec  = 1000
	usPerSec  = 1_000_000
	nsPerUs   = 1000
	secPerDay = 86400
)

// timeShiftKernel is time + interval and time - interval (types.md 4, date and time arithmetic).
func timeShiftKernel(c *compiler, call *Call) (Eval, error) {
	args, err := c.args(call)
	if err != nil {
		return nil, err
	}
	sign := int64(1)
	if call.Func.Name == "-" {
		sign = -1
	}
	t, months := call.T, call.Args[1].Type().Kind == types.IntervalMonths
	var f func(v, by int64) int64
	switch {
	case t.Kind == types.Time && months:
		f = func(v, _ int64) int64 { return v }
	case t.Kind == types.Time:
		f = func(v, by int64) int64 { return floorMod(v+by, msPerDay) }
	case t.Kind == types.Date && months:
		f = addMonths
	case t.Kind == types.Date:
		f = func(v, by int64) int64 { return v + by/msPerDay }
	case months:
		f = func(v, by int64) int64 {
			day := floorDiv(v, usPerDay)
			return addMonths(day, by)*usPerDay + (v - day*usPerDay)
		}
	default:
		return binaryLoop(t, args, func(out, x, y *types.Column, sel []int32) {
			if out.Phys() == types.PhysWide {
				each(sel, out.Len(), func(i int32) {
					out.Wide[i] = types.Int128{Hi: x.Wide[i].Hi + sign*y.Int[i]*1000, Lo: x.Wide[i].Lo}
				})
				return
			}
			each(sel, out.Len(), func(i int32) { out.Int[i] = x.Int[i] + sign*y.Int[i]*1000 })
		}), nil
	}
	return binaryLoop(t, args, func(out, x, y *types.Column, sel []int32) {
		if out.Phys() == types.PhysWide {
			each(sel, out.Len(), func(i int32) {
				out.Wide[i] = types.Int128{Hi: f(x.Wide[i].Hi, sign*y.Int[i]), Lo: x.Wide[i].Lo}
			})
			return
		}
		each(sel, out.Len(), func(i int32) { out.Int[i] = f(x.Int[i], sign*y.Int[i]) })
	}), nil
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func floorMod(a, b int64) int64 {
	m := a % b
	if m < 0 {
		m += b
	}
	return m
}

// addMonths moves a day number by months; a day that the month does not have becomes its last.
func addMonths(day, months int64) int64 {
	y, m, d := civil(day)
	n := y*12 + int64(m) - 1 + months
	y, m = floorDiv(n, 12), int(floorMod(n, 12))+1
	return dayNumber(y, m, min(d, monthDays(y, m)))
}

// civil splits a day number since 1970-01-01 into year, month and day of the proleptic Gregorian calendar. The year
// begins in March here, so that the leap day is its last.
func civil(day int64) (y int64, m, d int) {
	z := day + 719468
	era := floorDiv(z, 146097)
	doe := z - era*146097
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	y = yoe + era*400
	d = int(doy - (153*mp+2)/5 + 1)
	m = int(mp) + 3
	if m > 12 {
		m -= 12
		y++
	}
	return y, m, d
}

// dayNumber is the opposite of civil.
func dayNumber(y int64, m, d int) int64 {
	if m <= 2 {
		y--
		m += 12
	}
	era := floorDiv(y, 400)
	yoe := y - era*400
	doy := int64((153*(m-3)+2)/5 + d - 1)
	return era*146097 + yoe*365 + yoe/4 - yoe/100 + doy - 719468
}

func leap(y int64) bool { return y%4 == 0 && (y%100 != 0 || y%400 == 0) }

func monthDays(y int64, m int) int {
	switch m {
	case 2:
		if leap(y) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}
