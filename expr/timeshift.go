package expr

import (
	"runnel/types"
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
		f = func(v, by int64) int64 { return floorMod(v+by, types.MillisPerDay) }
	case t.Kind == types.Date && months:
		f = types.AddMonths
	case t.Kind == types.Date:
		f = func(v, by int64) int64 { return v + by/types.MillisPerDay }
	case months:
		f = types.AddMonthsMicros
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
