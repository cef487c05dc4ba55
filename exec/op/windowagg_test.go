package op

import (
	"testing"
	"time"

	"runnel/types"
)

// windowRig makes a rig for a window aggregate over columns in, the last of which is the time. Keys are the first ones.
func windowRig(t testing.TB, in string, keys int, w Window, calls ...string) (rig, *Windowing) {
	t.Helper()
	s := &Windowing{In: fieldsOf(in), Window: w, Props: []WindowProp{WindowStart, WindowEnd}}
	ts := s.In[len(s.In)-1].Type
	s.Window.Column = len(s.In) - 1
	s.Window.Rowtime, s.Window.Zoned = ts.Attr == types.Rowtime, ts.Kind == types.TimestampLTZ
	s.Out = append(s.Out, s.In[:keys]...)
	for i := range keys {
		s.Keys = append(s.Keys, i)
	}
	for _, c := range calls {
		call := aggCall(t, s.In, c)
		s.Aggs = append(s.Aggs, call)
		s.Out = append(s.Out, types.Field{Name: c, Type: call.T})
	}
	s.Out = append(s.Out, fieldsOf("window_start ts!, window_end ts!")...)
	r := rig{
		make: func() Operator { return NewWindowAggregate(*s) }, in: [][]types.Field{s.In}, out: s.Out,
		keys: [][]int{s.Keys}, check: Check{Mode: types.InsertOnly}, bag: true,
	}
	r.also = func() Operator {
		if !s.Window.Rowtime || s.Window.Kind == Session && !s.Attached {
			return r.make()
		}
		return newPhasedWindow(*s, 1000)
	}
	return r, s
}

func TestTumbleAggregate(t *testing.T) {
	r, _ := windowRig(t, "k string, v int, ts rowtime", 1, Window{Kind: Tumble, Size: 10_000}, "COUNT", "SUM v")
	r.run(t, `
		+I a 1 1000
		+I a 2 9999
		watermark 7000
			watermark 7000
		+I b 5 12000
		watermark 9998
			watermark 9998
		+I a 4 3000
		watermark 9999
			+I a 3 7 0 10000
			watermark 9999
		+I a 9 3000
		+I a 8 11000
		+I NULL 1 25000
		watermark 40000
			+I b 1 5 10000 20000
			+I a 1 8 10000 20000
			+I NULL 1 1 20000 30000
			watermark 40000
		watermark max
			watermark max
	`)
}

// The trace T10 of the semantics: the watermark comes after each row.
func TestTumbleAggregateLate(t *testing.T) {
	r, _ := windowRig(t, "ts rowtime", 0, Window{Kind: Tumble, Size: 10_000}, "COUNT")
	r.of = 1
	r.run(t, `
		+I 1000
		+I 9000
		watermark 7000
			watermark 7000
		+I 12000
		watermark 10000
			+I 2 0 10000
			watermark 10000
		+I 3000
		+I 11000
		watermark max
			+I 2 10000 20000
			watermark max
	`)
}

func TestHopAggregate(t *testing.T) {
	r, s := windowRig(t, "k string, v string, ts rowtime", 1, Window{Kind: Hop, Size: 10_000, Slide: 5000},
		"COUNT", "COUNT DISTINCT v", "MAX v")
	trace := `
		+I a x 1000
		+I a y 6000
		watermark 4999
			+I a 1 1 x -5000 5000
			watermark 4999
		+I b z 8000
		watermark 10000
			+I a 2 2 y 0 10000
			+I b 1 1 z 0 10000
			watermark 10000
		+I a x 7000
		+I a x 4999
		watermark 14999
			+I a 2 2 y 5000 15000
			+I b 1 1 z 5000 15000
			watermark 14999
		+I a x 7000
		+I a q 31000
		watermark max
			+I a 1 1 q 25000 35000
			+I a 1 1 q 30000 40000
			watermark max
	`
	r.run(t, trace)
	t.Run("unshared", func(t *testing.T) {
		r.make = func() Operator { return &unshared{newWindowAggregate(*s)} }
		r.run(t, trace)
	})
}

// unshared makes every window a slice of its own, as for aggregates that cannot be merged.
type unshared struct{ *WindowAggregate }

func (u *unshared) Open(ctx *Context) error {
	u.separate = true
	return u.WindowAggregate.Open(ctx)
}

func TestCumulateAggregate(t *testing.T) {
	r, s := windowRig(t, "k string, v string, ts rowtime", 1, Window{Kind: Cumulate, Size: 15_000, Slide: 5000},
		"COUNT", "COUNT DISTINCT v")
	trace := `
		+I a x 1000
		+I a y 12000
		watermark 5000
			+I a 1 1 0 5000
			watermark 5000
		+I a x 2000
		watermark 9999
			+I a 2 1 0 10000
			watermark 9999
		+I b z 3000
		watermark 15000
			+I a 3 2 0 15000
			+I b 1 1 0 15000
			watermark 15000
		+I a x 14000
		+I c x 29000
		watermark max
			+I c 1 1 15000 30000
			watermark max
	`
	r.run(t, trace)
	t.Run("unshared", func(t *testing.T) {
		r.make = func() Operator { return &unshared{newWindowAggregate(*s)} }
		r.run(t, trace)
	})
}

func TestWindowAggregateRetract(t *testing.T) {
	r, s := windowRig(t, "k string, v int, ts rowtime", 1, Window{Kind: Hop, Size: 10_000, Slide: 5000}, "COUNT", "SUM v", "MAX v")
	s.Retract = true
	r.run(t, `
		+I a 1 1000
		+I a 2 1000
		-U a 1 1000
		+U a 3 1000
		+I b 1 1000
		-D b 1 1000
		watermark 4999
			+I a 2 5 3 -5000 5000
			watermark 4999
		-D a 3 1000
		watermark 9999
			+I a 1 2 2 0 10000
			watermark 9999
	`)
}

func TestWindowAggregateNullRowtime(t *testing.T) {
	r, _ := windowRig(t, "k string, ts rowtime", 1, Window{Kind: Tumble, Size: 10_000}, "COUNT")
	r.run(t, `
		+I a 1000
		watermark 9999
			+I a 1 0 10000
			watermark 9999
		+I a NULL
			error: RowTime field should not be null, please convert it to a non-null long value.; operator Op[1]; row k=a, ts=<NULL>
	`)
}

// In the repeated hour of Europe/Berlin (2024-10-27 02:00..03:00 local, 00:00Z..02:00Z) an hour window gets the rows of
// both real hours and fires after the second.
func TestZonedTumbleAggregate(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	r, s := windowRig(t, "k string, ts rowtime_ltz", 1, Window{Kind: Tumble, Size: hour}, "COUNT")
	s.Props = append(s.Props, WindowTime)
	s.Out = append(s.Out, fieldsOf("window_time rowtime_ltz!")...)
	r.out, r.zone = s.Out, berlin
	r.run(t, `
		+I a 1729989000000
		watermark 1729990800000
			watermark 1729990800000
		+I a 1729992600000
		watermark 1729994399998
			watermark 1729994399998
		watermark 1729994399999
			+I a 2 1729994400000 1729998000000 1729990799999
			watermark 1729994399999
	`)
	// The skipped hour of spring (2024-03-31 02:00..03:00 local) has no window; the one before ends when it begins.
	r.run(t, `
		+I a 1711843200000
		+I a 1711846800000
		watermark 1711846799999
			+I a 1 1711846800000 1711850400000 1711846799999
			watermark 1711846799999
		watermark max
			+I a 1 1711854000000 1711857600000 1711850399999
			watermark max
	`)
}

func TestProctimeTumbleAggregate(t *testing.T) {
	r, _ := windowRig(t, "k string, ts proctime", 1, Window{Kind: Tumble, Size: 10_000}, "COUNT")
	r.run(t, `
		time 3000
		+I a NULL
		watermark 5000
			watermark 5000
		time 9999
		+I a NULL
		time 10000
			+I a 2 0 10000
		+I b NULL
		time 35000
			+I b 1 10000 20000
		+I b NULL
		watermark max
			watermark max
	`)
}

// An aggregate over the output of another window operator takes the window from its columns.
func TestAttachedWindowAggregate(t *testing.T) {
	s := &Windowing{
		In: fieldsOf("k string, v int, s ts, e ts"), Window: Window{Rowtime: true}, Keys: []int{0}, Attached: true, StartCol: 2,
		EndCol: 3, Props: []WindowProp{WindowStart, WindowEnd},
	}
	s.Aggs = append(s.Aggs, aggCall(t, s.In, "SUM v"))
	s.Out = append(s.Out, s.In[0], types.Field{Name: "sum", Type: s.Aggs[0].T})
	s.Out = append(s.Out, fieldsOf("window_start ts!, window_end ts!")...)
	r := rig{
		make: func() Operator { return NewWindowAggregate(*s) }, in: [][]types.Field{s.In}, out: s.Out,
		keys: [][]int{s.Keys}, bag: true,
	}
	r.run(t, `
		+I a 1 0 10000
		+I a 2 5000 10000
		+I a 4 0 10000
		+I a 8 10000 20000
		watermark 9999
			+I a 5 0 10000
			+I a 2 5000 10000
			watermark 9999
		+I a 9 0 10000
		watermark max
			+I a 8 10000 20000
			watermark max
	`)
}
