package op

import (
	"testing"
	"time"

	"runnel/types"
)

func tvfRig(w Window, column string) rig {
	in := fieldsOf("k string, ts " + column)
	w.Column, w.Rowtime = 1, column != "proctime"
	w.Zoned = column == "rowtime_ltz" || column == "proctime"
	out := append(in[:2:2], fieldsOf("window_start ts!, window_end ts!, window_time "+column+"!")...)
	return rig{make: func() Operator { return NewWindowTableFunction(out, w) }, in: [][]types.Field{in}, out: out}
}

func TestTumbleFunction(t *testing.T) {
	tvfRig(Window{Kind: Tumble, Size: 10_000}, "rowtime").run(t, `
		+I a 3000
			+I a 3000 0 10000 9999
		-U b 9999
			-U b 9999 0 10000 9999
		+I n NULL
		watermark 8000
			watermark 8000
		+U b 10000
			+U b 10000 10000 20000 19999
		+I c -1
			+I c -1 -10000 0 -1
	`)
	tvfRig(Window{Kind: Tumble, Size: 10_000, Offset: 3000}, "rowtime").run(t, `
		+I a 2999
			+I a 2999 -7000 3000 2999
		+I a 3000
			+I a 3000 3000 13000 12999
	`)
}

func TestHopFunction(t *testing.T) {
	tvfRig(Window{Kind: Hop, Size: 60_000, Slide: 30_000}, "rowtime").run(t, `
		+I a 11000
			+I a 11000 0 60000 59999
			+I a 11000 -30000 30000 29999
		watermark 7
			watermark 7
		+I n NULL
		-D b 30000
			-D b 30000 30000 90000 89999
			-D b 30000 0 60000 59999
	`)
	// The size need not be a multiple of the slide.
	tvfRig(Window{Kind: Hop, Size: 5000, Slide: 2000}, "rowtime").run(t, `
		+I a 4500
			+I a 4500 4000 9000 8999
			+I a 4500 2000 7000 6999
			+I a 4500 0 5000 4999
	`)
}

func TestCumulateFunction(t *testing.T) {
	tvfRig(Window{Kind: Cumulate, Size: 15_000, Slide: 5000}, "rowtime").run(t, `
		+I a 6000
			+I a 6000 0 10000 9999
			+I a 6000 0 15000 14999
		+I b 14999
			+I b 14999 0 15000 14999
	`)
}

// In the repeated hour of Europe/Berlin (2024-10-27 02:00..03:00) both real hours fall into one hour window, and days
// follow the wall clock. window_start and window_end are wall-clock times, window_time is an instant.
func TestZonedTumbleFunction(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	r := tvfRig(Window{Kind: Tumble, Size: hour}, "rowtime_ltz")
	r.zone = berlin
	// 00:30Z is 02:30 summer time, 01:30Z is 02:30 winter time.
	r.run(t, `
		+I a 1729989000000
			+I a 1729989000000 1729994400000 1729998000000 1729990799999
		+I b 1729992600000
			+I b 1729992600000 1729994400000 1729998000000 1729990799999
	`)
	r = tvfRig(Window{Kind: Tumble, Size: 24 * hour}, "rowtime_ltz")
	r.zone = berlin
	r.run(t, `
		+I a 1729989000000
			+I a 1729989000000 1729987200000 1730073600000 1730069999999
	`)
}

func TestProctimeTumbleFunction(t *testing.T) {
	tvfRig(Window{Kind: Tumble, Size: 10_000}, "proctime").run(t, `
		time 12000
		+I a NULL
			+I a NULL 10000 20000 19999
		time 20000
		+I b NULL
			+I b NULL 20000 30000 29999
	`)
}

func TestHopFunctionManyRows(t *testing.T) {
	r := tvfRig(Window{Kind: Hop, Size: 100_000, Slide: 1000}, "rowtime")
	p := newPlayer(t, r, 1)
	b := types.NewBatch(r.in[0])
	for range types.BatchRows {
		appendWords(t, b, types.Insert, []string{"a", "500"})
	}
	p.feed(0, 0, b)
	if p.dead != "" || len(p.out) != 100*types.BatchRows {
		t.Errorf("%d rows, error %q", len(p.out), p.dead)
	}
}
