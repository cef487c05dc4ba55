package expr

import (
	"time"

	"runnel/types"
)

// nowFunctions read the clock. In batch mode most of them give the time at which the query began.
func nowFunctions() []Function {
	now := func(name, doc string, t types.Type, f func(c *compiler) func(time.Time) int64) Function {
		return Function{Name: name, Doc: doc, Dynamic: true, safe: true, bind: takes("").toSure(give(t)),
			kernel: func(c *compiler, call *Call) (Eval, error) {
				if c.env.Batch && call.Func.Dynamic {
					return constant(&Const{Value: types.IntDatum(f(c)(c.env.QueryStart)), T: call.T}), nil
				}
				return c.clock(call.T, f(c)), nil
			}}
	}
	instant := func(*compiler) func(time.Time) int64 { return func(t time.Time) int64 { return t.UnixMilli() * 1000 } }
	local := func(c *compiler) func(time.Time) int64 {
		return func(t time.Time) int64 { return types.ToLocal(t.UnixMilli()*1000, c.env.Zone) }
	}
	clock := func(c *compiler) func(time.Time) int64 {
		return func(t time.Time) int64 {
			_, rest := types.SplitDay(local(c)(t))
			return rest / types.MicrosPerSecond * 1000
		}
	}
	date := func(c *compiler) func(time.Time) int64 {
		return func(t time.Time) int64 { day, _ := types.SplitDay(local(c)(t)); return day }
	}
	ltz := types.TimestampLTZOf(3)
	timeOfDay := types.Type{Kind: types.Time}
	fs := []Function{
		now("LOCALTIME", "LOCALTIME: the time of the day in the session's zone.", timeOfDay, clock),
		now("CURRENT_TIME", "CURRENT_TIME: the time of the day in the session's zone.", timeOfDay, clock),
		now("LOCALTIMESTAMP", "LOCALTIMESTAMP: the date and time in the session's zone.", types.TimestampOf(3), local),
		now("CURRENT_DATE", "CURRENT_DATE: the date in the session's zone.", types.Of(types.Date), date),
		now("CURRENT_TIMESTAMP", "CURRENT_TIMESTAMP: the current instant.", ltz, instant),
		now("NOW", "NOW(): the current instant.", ltz, instant),
	}
	row := now("CURRENT_ROW_TIMESTAMP", "CURRENT_ROW_TIMESTAMP(): the current instant, in batch mode too.", ltz, instant)
	row.Dynamic, row.Nondeterministic = false, true
	proc := row
	proc.Name, proc.Doc = "PROCTIME", "PROCTIME(): the processing time, a time attribute."
	proc.bind = func(b *binding) (types.Type, error) {
		t, err := takes("").toSure(give(ltz))(b)
		t.Attr = types.Proctime
		return t, err
	}
	materialize := row
	materialize.Name, materialize.Operator = "PROCTIME_MATERIALIZE", true
	materialize.Doc = "PROCTIME_MATERIALIZE(a): the processing time where the attribute a becomes a plain timestamp."
	materialize.bind = takes("TIMESTAMP").toSure(give(ltz))
	database := Function{Name: "CURRENT_DATABASE", Doc: "CURRENT_DATABASE(): the session's database.", safe: true,
		bind: takes("").toSure(giveText), kernel: func(c *compiler, call *Call) (Eval, error) {
			return constant(&Const{Value: types.StrDatum(c.env.Database), T: call.T}), nil
		}}
	return append(fs, row, proc, materialize, database, Function{Name: "CURRENT_WATERMARK", Nondeterministic: true, safe: true,
		Doc:  "CURRENT_WATERMARK(rowtime): the watermark of the operator; NULL before the first one.",
		bind: bindWatermark, kernel: watermarkKernel})
}

// now gives the time of the job's clock.
func (c *compiler) now() time.Time {
	if c.env.Now == nil {
		return time.Now()
	}
	return c.env.Now()
}

// clock makes a column of one reading of the clock per batch.
func (c *compiler) clock(t types.Type, f func(time.Time) int64) Eval {
	out := newOutput(t)
	return func(b *types.Batch, sel []int32) (*types.Column, error) {
		out.start(b.Len)
		v := f(c.now())
		for _, i := range sel {
			out.Int[i] = v
		}
		return out.Column, nil
	}
}

func bindWatermark(b *binding) (types.Type, error) {
	if len(b.args) != 1 {
		return types.Type{}, b.wrongCount(1)
	}
	t := b.args[0].Type()
	if t.Attr != types.Rowtime {
		return types.Type{}, b.errorf("CURRENT_WATERMARK() must be called with a single rowtime attribute argument, but '%s' cannot be a time attribute.", t)
	}
	r := types.TimestampOf(3)
	if t.Kind == types.TimestampLTZ {
		r = types.TimestampLTZOf(3)
	}
	return r, nil
}

func watermarkKernel(c *compiler, call *Call) (Eval, error) {
	out := newOutput(call.T)
	return func(b *types.Batch, sel []int32) (*types.Column, error) {
		out.start(b.Len)
		w := int64(types.MinWatermark)
		if c.env.Watermark != nil {
			w = c.env.Watermark()
		}
		marks := b.Marks
		for _, i := range sel {
			for len(marks) > 0 && marks[0].Pos <= i { // it lies before this row
				w, marks = max(w, marks[0].Time), marks[1:]
			}
			if w == types.MinWatermark {
				out.null(i)
			} else {
				out.Int[i] = max(min(w, maxInstant), minInstant) * 1000
			}
		}
		return out.Column, nil
	}, nil
}
