package op

import (
	"testing"
	"time"

	"runnel/types"
)

func firingRig(t testing.TB, in string, w Window, f Firing, calls ...string) (rig, *Windowing) {
	r, s := windowRig(t, in, 1, w, calls...)
	f.UpdateBefore = true
	r.make = func() Operator { return NewFiringAggregate(*s, f) }
	r.check.Mode, r.also = types.AllKinds, nil
	return r, s
}

func after(d time.Duration) *time.Duration { return &d }

func TestEarlyFire(t *testing.T) {
	r, _ := firingRig(t, "k string, v int, ts rowtime", Window{Kind: Tumble, Size: 10_000}, Firing{Early: after(0)}, "COUNT", "MAX v")
	r.run(t, `
		+I a 1 1000
			+I a 1 1 0 10000
		+I a 1 4000
			-U a 1 1 0 10000
			+U a 2 1 0 10000
		watermark 9999
			watermark 9999
		+I a 7 3000
		+I a 7 12000
			+I a 1 7 10000 20000
		watermark max
			watermark max
	`)
}

// Where nobody wants to know what was there before, +U comes alone.
func TestEarlyFireUpserts(t *testing.T) {
	r, s := firingRig(t, "k string, v int, ts rowtime", Window{Kind: Tumble, Size: 10_000}, Firing{}, "COUNT")
	r.make = func() Operator { return NewFiringAggregate(*s, Firing{Early: after(0)}) }
	r.check.Mode = types.Upsert
	r.run(t, `
		+I a 1 1000
			+I a 1 0 10000
		+I a 1 4000
			+U a 2 0 10000
	`)
}

// A row fires its windows the latest first; one whose values stay as they were gives nothing.
func TestEarlyFireHop(t *testing.T) {
	r, _ := firingRig(t, "k string, v int, ts rowtime", Window{Kind: Hop, Size: 10_000, Slide: 5000}, Firing{Early: after(0)}, "MAX v")
	r.bag = false
	r.run(t, `
		+I a 3 6000
			+I a 3 5000 15000
			+I a 3 0 10000
		+I a 9 11000
			+I a 9 10000 20000
			-U a 3 5000 15000
			+U a 9 5000 15000
		+I a 2 12000
		watermark 9999
			watermark 9999
		+I a 8 7000
		+I a 10 8000
			-U a 9 5000 15000
			+U a 10 5000 15000
	`)
}

// Behind the end a row fires at once, also one that makes its window; what lateness is over for is dropped.
func TestLateFire(t *testing.T) {
	r, _ := firingRig(t, "k string, v int, ts rowtime", Window{Kind: Tumble, Size: 10_000},
		Firing{Late: after(0), Lateness: 20 * time.Second}, "COUNT")
	r.run(t, `
		+I a 1 1000
		+I a 1 4000
		watermark 9999
			+I a 2 0 10000
			watermark 9999
		+I a 1 2000
			-U a 2 0 10000
			+U a 3 0 10000
		+I b 1 3000
			+I b 1 0 10000
		+I b 1 3000
			-U b 1 0 10000
			+U b 2 0 10000
		watermark 29998
			watermark 29998
		+I b 1 3000
			-U b 2 0 10000
			+U b 3 0 10000
		watermark 29999
			watermark 29999
		+I b 1 3000
		+I c 1 9000
		watermark max
			watermark max
	`)
}

// Rows that are taken back: the last one gives -D, the next +I.
func TestFireRetract(t *testing.T) {
	r, s := firingRig(t, "k string, v int, ts rowtime", Window{Kind: Tumble, Size: 10_000}, Firing{Early: after(0)}, "COUNT", "SUM v")
	s.Retract = true
	r.run(t, `
		+I a 1 1000
			+I a 1 1 0 10000
		-D a 1 1000
			-D a 1 1 0 10000
		+U a 2 1000
			+I a 1 2 0 10000
		-U a 2 1000
			-D a 1 2 0 10000
		watermark max
			watermark max
	`)
}

// A delayed result comes so long after the first row and then as often, if there is something new; the end comes between.
func TestEarlyFireDelayed(t *testing.T) {
	r, _ := firingRig(t, "k string, v int, ts rowtime", Window{Kind: Tumble, Size: 10_000}, Firing{Early: after(5 * time.Second)}, "COUNT")
	r.run(t, `
		time 1000
		+I a 1 1000
		time 3000
		+I a 1 1000
		time 5999
		time 6000
			+I a 2 0 10000
		time 7000
		+I a 1 1000
		time 10999
		time 11000
			-U a 2 0 10000
			+U a 3 0 10000
		time 36500
		+I a 1 1000
		time 40999
		time 41000
			-U a 3 0 10000
			+U a 4 0 10000
		+I a 1 1000
		watermark 9999
			-U a 4 0 10000
			+U a 5 0 10000
			watermark 9999
		+I a 1 1000
		+I a 1 15000
		time 60000
			+I a 1 10000 20000
		time 90000
	`)
}

// Behind the end the delay of late results counts, from the first late row on. A window that a late row makes does not wait.
func TestLateFireDelayed(t *testing.T) {
	r, _ := firingRig(t, "k string, v int, ts rowtime", Window{Kind: Tumble, Size: 10_000},
		Firing{Early: after(5 * time.Second), Late: after(2 * time.Second), Lateness: 20 * time.Second}, "COUNT")
	r.run(t, `
		time 1000
		+I a 1 1000
		watermark 9999
			+I a 1 0 10000
			watermark 9999
		time 1500
		+I a 1 1000
		+I b 1 1000
			+I b 1 0 10000
		+I b 1 1000
			-U b 1 0 10000
			+U b 2 0 10000
		time 3499
		time 3500
			-U a 1 0 10000
			+U a 2 0 10000
		+I a 1 1000
		time 5400
		time 5500
			-U a 2 0 10000
			+U a 3 0 10000
		+I a 1 1000
		watermark 29999
			watermark 29999
		time 100000
	`)
}

func TestEarlyFireProctime(t *testing.T) {
	r, s := firingRig(t, "k string, v int, ts ltz", Window{Kind: Tumble, Size: 10_000}, Firing{Early: after(0)}, "COUNT")
	s.Window.Rowtime = false
	r.run(t, `
		time 1000
		+I a 1 0
			+I a 1 0 10000
		+I a 1 0
			-U a 1 0 10000
			+U a 2 0 10000
		time 10000
		+I a 1 0
			+I a 1 10000 20000
	`)
}
