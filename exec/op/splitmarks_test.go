package op

import (
	"slices"
	"strings"
	"testing"
	"time"

	"runnel/types"
)

// splits plays lines: "split: ts ts .." rows, "add/remove split", "complete", "time ms". Out come rows and watermarks.
func playSplits(t *testing.T, spec Watermarks, script, want string) {
	t.Helper()
	f := fieldsOf("ts rowtime")
	spec.Column, spec.Expr = 0, delayed(t, f, 0)
	p := &player{rig: rig{out: f}, t: t, idle: map[int]bool{}}
	s := NewSplitWatermarks(f, spec)
	ctx := &Context{
		Name: "Source[1]", Env: p.env(), Out: NewChecker(recorder{p}, Check{Fields: f}),
		Now: func() time.Time { return time.UnixMilli(p.now) }, WakeAt: func(int64) {},
	}
	if err := s.Open(ctx); err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(strings.TrimSpace(script), "\n") {
		w := strings.Fields(line)
		switch w[0] {
		case "add":
			p.fail(s.Add(w[1], types.MinWatermark))
		case "remove":
			p.fail(s.Remove(w[1]))
		case "complete":
			p.fail(s.Complete(true))
		case "time":
			d, err := time.ParseDuration(w[1] + "ms")
			if err != nil {
				t.Fatal(err)
			}
			p.now = d.Milliseconds()
			p.fail(s.OnTime(p.now))
		default:
			b := types.NewBatch(f)
			for _, ts := range w[1:] {
				appendWords(t, b, types.Insert, []string{ts})
			}
			out, err := s.Rows(strings.TrimSuffix(w[0], ":"), b)
			p.fail(err)
			p.fail(ctx.Out.Emit(out))
		}
	}
	var lines []string
	for l := range strings.SplitSeq(strings.TrimSpace(want), "\n") {
		lines = append(lines, strings.TrimSpace(l))
	}
	if p.dead != "" || !slices.Equal(p.out, lines) {
		t.Errorf("got:\n%s\nerror: %s", strings.Join(p.out, "\n"), p.dead)
	}
}

func TestSplitWatermarksPeriodic(t *testing.T) {
	playSplits(t, Watermarks{Interval: 200 * time.Millisecond}, `
		add a
		add b
		a: 100 NULL 50
		time 200
		b: 30
		time 400
		b: 300
		time 600
		remove a
		complete
		remove b
	`, `
		+I 100
		+I NULL
		+I 50
		+I 30
		watermark 30
		+I 300
		watermark 100
		watermark 300
		idle
	`)
}

func TestSplitWatermarksOnEvent(t *testing.T) {
	playSplits(t, Watermarks{OnEvent: true, Gap: 2}, `
		add a
		a: 100 200 150 400
		add b
		a: 500 600
		b: 450 300 700
	`, `
		+I 100
		+I 200
		watermark 200
		+I 150
		+I 400
		watermark 400
		+I 500
		+I 600
		+I 450
		+I 300
		watermark 450
		+I 700
	`)
}

func TestSplitWatermarksIdle(t *testing.T) {
	playSplits(t, Watermarks{Interval: 100 * time.Millisecond, Idle: time.Second}, `
		complete
		add a
		add b
		a: 100
		time 100
		time 1000
		time 1050
		a: 200
		time 1100
		time 3000
		b: 150
		time 3100
		a: 250
		time 3200
	`, `
		idle
		active
		+I 100
		idle
		active
		+I 200
		watermark 200
		idle
		active
		+I 150
		+I 250
	`)
}

// A subtask without a split is idle only when the enumerator has none left for it.
func TestSplitWatermarksWithoutSplits(t *testing.T) {
	playSplits(t, Watermarks{Interval: 100 * time.Millisecond}, `
		time 100
		complete
	`, `
		idle
	`)
}
