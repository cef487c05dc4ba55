package exec

import (
	"errors"
	"strings"
	"testing"
	"time"

	"runnel/plan"
)

// pipeline is a job over an unbounded source that never ends by itself.
func pipeline(src *memSource, sink *memSink) *plan.Graph {
	var k graphKit
	k.sink(k.scan("t", src, nil), "out", sink)
	return k.graph()
}

// TestSlots: a job that does not fit takes none and waits in CREATED, says why, and starts by itself.
func TestSlots(t *testing.T) {
	c := testCluster(t, Options{Slots: 4})
	ev := listen(c)
	src := newMemSource(false).split("a", kvs(5, 5)...)
	one := submit(t, c, pipeline(src, newMemSink(false)), JobConfig{Name: "one", Parallelism: 3})
	ev.await(JobRunning, 1)
	sink := newMemSink(false)
	two := submit(t, c, pipeline(src, sink), JobConfig{Name: "two", Parallelism: 2})
	e := ev.await(JobCreated, 1)
	if !strings.Contains(e.Slots, "needs 2 slots, free 1 of 4; one ("+one.ID()+") holds 3") {
		t.Errorf("slots: %s", e.Slots)
	}
	// One that fits is not held up by one that does not.
	three := submit(t, c, pipeline(src, newMemSink(false)), JobConfig{Name: "three", Parallelism: 1})
	ev.await(JobRunning, 2)
	if free, total := c.Slots(); free != 0 || total != 4 || two.State() != JobCreated || three.State() != JobRunning {
		t.Errorf("free %d of %d, %s, %s", free, total, two.State(), three.State())
	}
	if _, err := two.Stop(within(t), t.TempDir(), false); err == nil || !strings.Contains(err.Error(), "is CREATED") || !strings.Contains(err.Error(), "cancel it instead") {
		t.Errorf("stop of a waiting job: %v", err)
	}
	if err := one.Cancel(within(t)); err != nil {
		t.Fatal(err)
	}
	ev.await(JobRunning, 3)
	sink.await(5)
	if _, why := two.Slots(); why != "" {
		t.Errorf("still waits: %s", why)
	}
}

func TestSlotsNeverEnough(t *testing.T) {
	clock := NewVirtualClock(time.Unix(0, 0))
	c := testCluster(t, Options{Slots: 2, Clock: clock})
	j := submit(t, c, pipeline(newMemSource(false), newMemSink(false)), JobConfig{Parallelism: 5, SlotTimeout: time.Minute})
	clock.AwaitTimers(1)
	if _, why := j.Slots(); !strings.Contains(why, "can never start with 2") {
		t.Errorf("slots: %s", why)
	}
	clock.Advance(time.Minute)
	if err := j.Wait(within(t)); err == nil || !strings.Contains(err.Error(), "slot.request.timeout") || j.State() != JobFailed {
		t.Errorf("%v, %s", err, j.State())
	}
}

func TestCancelWhileWaiting(t *testing.T) {
	c := testCluster(t, Options{Slots: 1})
	j := submit(t, c, pipeline(newMemSource(false), newMemSink(false)), JobConfig{Parallelism: 2})
	if err := j.Cancel(within(t)); err != nil {
		t.Fatal(err)
	}
	if err := j.Wait(within(t)); !errors.Is(err, ErrCanceled) || j.State() != JobCanceled {
		t.Errorf("%v, %s", err, j.State())
	}
	if free, _ := c.Slots(); free != 1 {
		t.Errorf("%d slots free", free)
	}
}
