package op

import (
	"testing"
	"time"

	"runnel/expr"
	"runnel/types"
)

// delayed is the watermark expression ts - delay.
func delayed(t testing.TB, fields []types.Field, delay time.Duration) expr.Expr {
	return call(t, fields, "-", "ts", expr.NewConst(types.IntDatum(delay.Milliseconds()), types.Of(types.IntervalMillis)))
}

func assignerRig(t *testing.T, spec Watermarks) rig {
	f := fieldsOf("k string, ts rowtime")
	spec.Column, spec.Expr = 1, delayed(t, f, 5*time.Second)
	return rig{make: func() Operator { return NewWatermarkAssigner(f, spec) }, in: [][]types.Field{f}, out: f, of: 1}
}

func TestWatermarkAssigner(t *testing.T) {
	assignerRig(t, Watermarks{Interval: 200 * time.Millisecond}).run(t, `
		+I a 4000
			+I a 4000
		+I a 5200
			+I a 5200
		+I a 5201
			+I a 5201
			watermark 201
		+I a 5401
			+I a 5401
		time 200
			watermark 401
		+I a 3000
			+I a 3000
		watermark 900
		+I a 60000
			+I a 60000
			watermark 55000
		time 400
		watermark max
			watermark max
	`)
}

func TestWatermarkAssignerNullRowtime(t *testing.T) {
	assignerRig(t, Watermarks{Interval: 200 * time.Millisecond}).run(t, `
		+I a 6000
			+I a 6000
			watermark 1000
		+I b NULL
			error: RowTime field should not be null, please convert it to a non-null long value.; operator Op[1]; row k=b, ts=<NULL>
		+I c 9000
	`)
}

func TestWatermarkAssignerIdle(t *testing.T) {
	r := assignerRig(t, Watermarks{Interval: 200 * time.Millisecond, Idle: time.Second})
	steps := parseTrace(t, `
		+I a 6000
			+I a 6000
			watermark 1000
		time 1000
		time 1200
			idle
		+I a 7000
			active
			+I a 7000
			watermark 2000
		idle
			idle
		active
			active
		time 5000
			idle
		watermark max
			active
			watermark max
	`)
	r.play(t, steps, func(int) int { return 0 }, 1)
	r.playBatched(t, steps)
}

func TestWatermarkAssignerRestoresTheSmallest(t *testing.T) {
	r := assignerRig(t, Watermarks{Interval: 0})
	p := newPlayer(t, r, 2)
	for sub, ts := range []string{"8000", "6000"} {
		b := types.NewBatch(r.in[0])
		appendWords(t, b, types.Insert, []string{"a", ts})
		p.feed(sub, 0, b)
	}
	p.restart(1, func() {})
	b := types.NewBatch(r.in[0])
	appendWords(t, b, types.Insert, []string{"a", "7000"})
	p.feed(0, 0, b)
	if n := len(p.out); n != 2 || p.out[1] != "watermark 2000" {
		t.Errorf("got %v", p.out)
	}
}
