package op

import (
	"testing"
	"time"

	"runnel/types"
)

// A bundle ends with its third row, with its latency or with the input; restarts end it too, so only runs without one are
// compared.
func TestGroupAggregateMiniBatch(t *testing.T) {
	r, g := aggRig(t, "k string, v int", 1, "COUNT", "SUM v")
	g.MiniBatch, g.Retract = MiniBatch{Size: 3, Latency: time.Second}, true
	r.runBounded(t, `
		+I b 1
		+I a 2
		+I a 3
			+I b 1 1
			+I a 2 5
		watermark 5
			watermark 5
		-U a 3
		+U a 4
		-D b 1
			-U a 2 5
			+U a 2 6
			-D b 1 1
		+I c 1
		-D c 1
		-D unknown 1
		+I a 0
		time 999
		time 1000
			-U a 2 6
			+U a 3 6
		+I a 1
		flush
			-U a 3 6
			+U a 4 7
		flush
		-U a 1
		+U a 1
		flush
	`)
}

func TestDistinctMiniBatch(t *testing.T) {
	r, g := aggRig(t, "k string", 1)
	g.MiniBatch, g.Retract = MiniBatch{Size: 2}, true
	r.runBounded(t, `
		+I a
		+I a
			+I a
		-D a
		+I b
			+I b
		-D a
		+I b
			-D a
	`)
}

func TestDeduplicateMiniBatch(t *testing.T) {
	r := dedupRig(Deduplication{Last: true, UpdateBefore: true, MiniBatch: MiniBatch{Size: 3, Latency: time.Second}})
	r.check = Check{Mode: types.AllKinds, Pairs: true}
	r.runBounded(t, `
		+I a 1 1
		+I b 1 1
		+I a 2 1
			+I a 2 1
			+I b 1 1
		+I b 2 1
		+I b 1 1
		+I a 3 1
			-U a 2 1
			+U a 3 1
		+I c 1 1
		time 1000
			+I c 1 1
		+I c 2 1
		flush
			-U c 1 1
			+U c 2 1
	`)
}

// What waits in a bundle when a checkpoint comes is given before it.
func TestMiniBatchCheckpoint(t *testing.T) {
	r, g := aggRig(t, "k string, v int", 1, "SUM v")
	g.MiniBatch = MiniBatch{Size: 100}
	p := newPlayer(t, r, 1)
	add := func(v string) {
		b := types.NewBatch(r.in[0])
		appendWords(t, b, types.Insert, []string{"a", v})
		p.feed(0, 0, b)
	}
	add("1")
	p.do(step{verb: "flush"})
	p.restart(1, func() {})
	add("2")
	p.do(step{verb: "flush"})
	if p.verdict("restart", []string{"-U a 1", "+U a 3"}, false) || p.dead != "" {
		t.Error(p.dead)
	}
}

// By event time a bundle gives, where changes are compacted, what it has changed in all. A watermark waits for the rows in
// front of it.
func TestDeduplicateCompact(t *testing.T) {
	r := dedupRig(Deduplication{Rowtime: true, Last: true, UpdateBefore: true, Compact: true, MiniBatch: MiniBatch{Size: 4, Latency: time.Second}})
	r.check = Check{Mode: types.AllKinds, Pairs: true}
	r.runBounded(t, `
		watermark 500
			watermark 500
		+I a 1 1000
		+I b 2 2000
		+I a 3 3000
		watermark 2500
		+I a 9 2000
			+I a 3 3000
			+I b 2 2000
			watermark 2500
		+I a 4 3000
		+I b 5 1999
		flush
			-U a 3 3000
			+U a 4 3000
		watermark 3000
			watermark 3000
		+I b 6 1000
		watermark 4000
		flush
			watermark 4000
	`)
	r = dedupRig(Deduplication{Rowtime: true, Compact: true, MiniBatch: MiniBatch{Size: 100, Latency: time.Second}})
	r.check = Check{Mode: types.Upsert}
	r.runBounded(t, `
		+I a 5 5000
		+I a 3 3000
		+I a 4 3000
		flush
			+I a 3 3000
		+I a 6 3000
		+I a 2 2000
		flush
			+U a 2 2000
		+I a 1 NULL
			error: RowTime field should not be null
	`)
}
