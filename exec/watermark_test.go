package exec

import (
	"testing"
	"time"

	"runnel/expr"
	"runnel/plan"
)

func at(ts ...int64) []kv {
	rows := make([]kv, len(ts))
	for i, t := range ts {
		rows[i] = kv{k: t, ts: t}
	}
	return rows
}

func probed(src *memSource, mark *plan.Watermark) *plan.Graph {
	var k graphKit
	k.sink(k.probe(k.scan("t", src, mark)), "out", newMemSink(false))
	return k.graph()
}

func periodic(interval, idle time.Duration) *plan.Watermark {
	return &plan.Watermark{Column: 2, Expr: expr.NewCol(kvFields, 2), Interval: interval, Idle: idle}
}

// TestOnEventWatermarks: a mark behind each row that advances the time; the end follows everything.
func TestOnEventWatermarks(t *testing.T) {
	for _, c := range []struct {
		name string
		gap  int
		rows []kv
		want string
	}{
		{"every row", 1, at(5, 3, 7, 7), "5 <5> 3 7 <7>; 7; end; wm max"},
		{"gap of two", 2, at(5, 6, 7, 8, 9), "5 6 <6> 7; 8 <8> 9; end; wm max"},
		{"before the epoch", 1, at(-1), "-1 <-1>; end; wm max"},
	} {
		t.Run(c.name, func(t *testing.T) {
			log := newProbeLog()
			cl := probedCluster(t, Options{}, log)
			wait(t, submit(t, cl, probed(newMemSource(true).split("a", c.rows...), onEvent(c.gap)), JobConfig{}))
			if got := log.of(0); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestPeriodicWatermarks: per interval, the lowest of the splits; a silent split is left out after the timeout.
func TestPeriodicWatermarks(t *testing.T) {
	clock := NewVirtualClock(time.Unix(1000, 0))
	log := newProbeLog()
	c := probedCluster(t, Options{Clock: clock}, log)
	src := newMemSource(false).split("a-0", at(10)...).split("a-1", at(20)...)
	j := submit(t, c, probed(src, periodic(200*time.Millisecond, time.Second)), JobConfig{})
	log.await("0: 10")
	log.await("0: 20")
	src.settle()
	seen := log.of(0)
	after := func(d time.Duration, want string) {
		t.Helper()
		clock.Advance(d - time.Millisecond)
		src.settle()
		if got := log.of(0); got != seen {
			t.Fatalf("%v too early: %s", time.Millisecond, got)
		}
		clock.Advance(time.Millisecond)
		src.settle()
		if seen += want; log.of(0) != seen {
			t.Fatalf("got  %s\nwant %s", log.of(0), seen)
		}
	}
	give := func(split string, ts int64, want string) {
		t.Helper()
		src.split(split, at(ts)...)
		src.settle()
		if seen += want; log.of(0) != seen {
			t.Fatalf("got  %s\nwant %s", log.of(0), seen)
		}
	}
	after(200*time.Millisecond, "; wm 10")
	give("a-1", 30, "; 30")
	after(800*time.Millisecond, "; wm 30") // a-0 has been silent for a second
	after(200*time.Millisecond, "; idle true")
	give("a-0", 40, "; idle false; 40")
	after(200*time.Millisecond, "; wm 40")
	own := map[string]int64{}
	for _, m := range j.Details().Vertices[0].Subtasks[0].Metrics.Operators[0].Own {
		own[m.Name] = m.Value
	}
	if own["split.a-0.watermark.currentWatermark"] != 40 || own["split.a-1.watermark.currentWatermark"] != 30 {
		t.Errorf("watermarks of the splits: %v", own)
	}
}

// TestSubtaskWithoutSplitIsIdle: with one partition and four subtasks the watermark still moves, at once.
func TestSubtaskWithoutSplitIsIdle(t *testing.T) {
	log := newProbeLog()
	c := probedCluster(t, Options{}, log)
	src := newMemSource(false).split("t-0", at(1, 2, 3)...)
	src.interval = time.Hour
	var k graphKit
	k.sink(k.probe(k.exchange(k.scan("t", src, onEvent(1)), plan.HashKeys, 0)), "out", newMemSink(false))
	submit(t, c, k.graph(), JobConfig{Parallelism: 4})
	log.awaitSuffix(t, 4, "<3>", "wm 3")
}

// TestNewSplits: a discovery finds another split later; its reader takes part in the watermark from then on.
func TestNewSplits(t *testing.T) {
	clock := NewVirtualClock(time.Unix(1000, 0))
	log := newProbeLog()
	c := probedCluster(t, Options{Clock: clock}, log)
	src := newMemSource(false).split("t-0", at(10)...)
	src.interval = time.Minute
	submit(t, c, probed(src, onEvent(1)), JobConfig{})
	log.await("0: 10 <10>")
	src.split("t-1", at(5)...)
	clock.AwaitTimers(1)
	clock.Advance(time.Minute)
	log.await("0: 5")
	src.split("t-0", at(20)...)
	log.await("0: 20") // held by t-1, which is at 5
	src.split("t-1", at(30)...)
	log.await("0: 30 <20>")
}

// TestAlignment: a split that runs ahead of its group rests until the others have come near.
func TestAlignment(t *testing.T) {
	for _, pausable := range []bool{true, false} {
		clock := NewVirtualClock(time.Unix(1000, 0))
		log := newProbeLog()
		c := probedCluster(t, Options{Clock: clock}, log)
		mark := onEvent(1)
		mark.Alignment = &plan.Alignment{Group: "g", MaxDrift: 10 * time.Millisecond, Interval: time.Second}
		fast, slow := newMemSource(false).split("f-0", at(100)...), newMemSource(false).split("s-0", at(1)...)
		fast.pausable, slow.pausable = pausable, pausable
		var k graphKit
		k.sink(k.probe(k.scan("fast", fast, mark)), "out1", newMemSink(false))
		k.sink(k.probe(k.scan("slow", slow, mark)), "out2", newMemSink(false))
		submit(t, c, k.graph(), JobConfig{})
		log.await("0: 100 <100>")
		log.await("0: 1 <1>")
		clock.AwaitTimers(2)
		clock.Advance(time.Second)
		clock.AwaitTimers(2)
		clock.Advance(time.Second) // by now the group knows both and fast rests
		clock.AwaitTimers(2)
		fast.split("f-0", at(101)...)
		slow.split("s-0", at(95)...)
		log.await("0: 95 <95>")
		if got := log.of(0); contains(got, "101") {
			t.Errorf("pausable %t: the fast split did not rest: %s", pausable, got)
		}
		clock.Advance(time.Second)
		clock.AwaitTimers(2)
		clock.Advance(time.Second)
		log.await("0: 101 <101>")
	}
}
