package op

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"runnel/types"
)

func topnRig(from, to int64, numbered bool) (rig, *Ranking) {
	f := fieldsOf("p string, v int, s string")
	s := &Ranking{In: f, Partition: []int{0}, Order: keysOf(f, "v desc nulls last"), From: from, To: to, Numbered: numbered, UpdateBefore: true, ToColumn: -1}
	out := f
	if numbered {
		out = append(f[:3:3], fieldsOf("rank bigint!")...)
	}
	return rig{make: func() Operator { return NewTopN(*s) }, in: [][]types.Field{f}, out: out, keys: [][]int{{0}}}, s
}

func TestTopN(t *testing.T) {
	r, _ := topnRig(1, 2, false)
	r.run(t, `
		+I a 10 x
			+I a 10 x
		+I a 20 x
			+I a 20 x
		watermark 5
			watermark 5
		+I a 30 x
			-D a 10 x
			+I a 30 x
		+I b NULL x
			+I b NULL x
		+I a 5 x
		+I a 20 y
		+I b 1 x
			+I b 1 x
		+I b 0 x
			-D b NULL x
			+I b 0 x
	`)
}

func TestTopNNumbered(t *testing.T) {
	r, _ := topnRig(1, 2, true)
	r.run(t, `
		+I a 10 x
			+I a 10 x 1
		+I a 20 x
			-U a 10 x 1
			+U a 20 x 1
			+I a 10 x 2
		+I a 30 x
			-U a 20 x 1
			+U a 30 x 1
			-U a 10 x 2
			+U a 20 x 2
		+I a 20 y
		+I a 25 x
			-U a 20 x 2
			+U a 25 x 2
	`)
}

// Ranks 2 to 3 only: what drops out is replaced in its place.
func TestTopNMiddle(t *testing.T) {
	r, s := topnRig(2, 3, false)
	r.run(t, `
		+I a 10 x
		+I a 20 x
			+I a 10 x
		+I a 30 x
			-U a 10 x
			+U a 20 x
			+I a 10 x
		+I a 5 x
		+I a 15 x
			-U a 10 x
			+U a 15 x
	`)
	s.UpdateBefore = false
	r.run(t, `
		+I a 10 x
		+I a 20 x
			+I a 10 x
		+I a 30 x
			+U a 20 x
			+I a 10 x
	`)
}

func TestTopOne(t *testing.T) {
	r, _ := topnRig(1, 1, false)
	r.run(t, `
		+I a 10 x
			+I a 10 x
		+I a 10 y
		+I a 20 x
			-U a 10 x
			+U a 20 x
		+I a 15 x
	`)
}

func TestTopNRetract(t *testing.T) {
	r, s := topnRig(1, 2, false)
	s.Retract = true
	r.run(t, `
		+I a 10 x
			+I a 10 x
		+I a 20 x
			+I a 20 x
		+I a 30 x
			-D a 10 x
			+I a 30 x
		+I a 30 y
			-D a 20 x
			+I a 30 y
		-D a 10 x
		-U a 30 x
			-D a 30 x
			+I a 20 x
		+U a 5 x
		-D a 99 x
		-D a 30 y
			-D a 30 y
			+I a 5 x
		-D a 20 x
			-D a 20 x
		-D a 5 x
			-D a 5 x
		-D a 5 x
		+I a 1 x
			+I a 1 x
	`)
}

func TestTopNRetractNumbered(t *testing.T) {
	r, s := topnRig(1, 2, true)
	s.Retract = true
	r.run(t, `
		+I a 10 x
			+I a 10 x 1
		+I a 20 x
			-U a 10 x 1
			+U a 20 x 1
			+I a 10 x 2
		+I a 5 x
		-D a 20 x
			-U a 20 x 1
			+U a 10 x 1
			-U a 10 x 2
			+U a 5 x 2
		-D a 10 x
			-U a 10 x 1
			+U a 5 x 1
			-D a 5 x 2
		-D a 5 x
			-D a 5 x 1
	`)
}

func TestTopNTTL(t *testing.T) {
	r, s := topnRig(1, 1, false)
	s.TTL = time.Second
	r.run(t, `
		+I a 10 x
			+I a 10 x
		time 999
		+I a 5 x
		time 1000
		+I a 5 x
			+I a 5 x
	`)
}

// Updates replace the row of their key and only improve it (a top-N over counts).
func TestTopNUpdate(t *testing.T) {
	r, s := topnRig(1, 2, false)
	s.Key = []int{0, 2}
	r.run(t, `
		+I a 10 x
			+I a 10 x
		+I a 9 y
			+I a 9 y
		-U a 10 x
		+U a 12 x
			-U a 10 x
			+U a 12 x
		+I a 8 z
		+U a 11 z
			-D a 9 y
			+I a 11 z
		+U a 20 z
			-U a 11 z
			+U a 20 z
		+U a 12 y
		+U a 13 y
			-D a 12 x
			+I a 13 y
	`)
	r, s = topnRig(1, 3, true)
	s.Key = []int{0, 2}
	r.run(t, `
		+I a 10 x
			+I a 10 x 1
		+I a 9 y
			+I a 9 y 2
		+I a 8 z
			+I a 8 z 3
		+U a 11 z
			-U a 10 x 1
			+U a 11 z 1
			-U a 9 y 2
			+U a 10 x 2
			-U a 8 z 3
			+U a 9 y 3
		+U a 12 z
			-U a 11 z 1
			+U a 12 z 1
		+I a 5 q
	`)
}

// The last rank may come from a column: the first row of each partition tells it.
func TestTopNVariable(t *testing.T) {
	f := fieldsOf("p string, v int, n int")
	s := Ranking{In: f, Partition: []int{0}, Order: keysOf(f, "v"), From: 1, To: -1, ToColumn: 2, UpdateBefore: true}
	r := rig{make: func() Operator { return NewTopN(s) }, in: [][]types.Field{f}, out: f, keys: [][]int{{0}}}
	r.run(t, `
		+I a 10 2
			+I a 10 2
		+I a 9 2
			+I a 9 2
		+I a 8 5
			-D a 10 2
			+I a 8 5
		+I b 1 0
		+I c 1 NULL
	`)
}

// TestTopNBatches compares an append-only TopN over long batches, which looks partitions up in blocks and walks through those
// that are short, with one that may take rows back and gets them one by one: the changes are the same.
func TestTopNBatches(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	var lines []string
	for k := range 4000 {
		p := rnd.IntN(40)
		if p > 20 {
			p = k / 100 // a partition that is new and busy for a while
		}
		lines = append(lines, fmt.Sprintf("+I p%d %d s%d", p, rnd.IntN(1000)-k/10, rnd.IntN(100)))
		if rnd.IntN(100) == 0 {
			lines = append(lines, fmt.Sprintf("watermark %d", k))
		}
	}
	for _, c := range []struct {
		from, to int64
		numbered bool
	}{{1, 1, true}, {1, 3, true}, {2, 5, false}, {1, 4, false}, {3, 40, true}, {1, 1000, true}, {1, 1000, false}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			r, spec := topnRig(c.from, c.to, c.numbered)
			steps := parseTrace(t, strings.Join(lines, "\n"))
			spec.Retract = true
			r.record(t, steps)
			spec.Retract = false
			r.playBatched(t, steps)
			r.play(t, steps[:200], func(k int) int { return (k % 9) / 8 }, 1)
		})
	}
}
