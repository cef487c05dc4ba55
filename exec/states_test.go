package exec

import (
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"runnel/exec/op"
	"runnel/types"
)

// statesOf lists the states that were entered, in the order of their times.
func statesOf[S interface {
	comparable
	String() string
}](order []S, times map[S]time.Time) string {
	var in []S
	for _, s := range order {
		if _, ok := times[s]; ok {
			in = append(in, s)
		}
	}
	sort.SliceStable(in, func(i, k int) bool { return times[in[i]].Before(times[in[k]]) })
	var names []string
	for _, s := range in {
		names = append(names, s.String())
	}
	return strings.Join(names, " ")
}

// TestJobStates: the states of a job that runs to its end, of one that fails, and of one that restarts and is cancelled.
func TestJobStates(t *testing.T) {
	broken := func() *memSource {
		s := newMemSource(false).split("a", kvs(9, 3)...)
		s.failAt["a/5"] = errDisk
		return s
	}
	order := []JobState{JobInitializing, JobCreated, JobRunning, JobFailing, JobRestarting, JobCancelling, JobCanceled, JobFailed, JobFinished}

	clock := NewVirtualClock(time.Unix(0, 0))
	c := testCluster(t, Options{Clock: clock})
	done := submit(t, c, pipeline(newMemSource(true).split("a", kvs(3, 1)...), newMemSink(false)), JobConfig{})
	wait(t, done)
	if got := statesOf(order, done.Details().Times); got != "INITIALIZING CREATED RUNNING FINISHED" {
		t.Errorf("to the end: %s", got)
	}

	failed := submit(t, c, pipeline(broken(), newMemSink(false)), JobConfig{})
	<-failed.Done()
	if got := statesOf(order, failed.Details().Times); got != "INITIALIZING CREATED RUNNING FAILING FAILED" {
		t.Errorf("failed: %s", got)
	}

	ev := listen(c)
	again := submit(t, c, pipeline(broken(), newMemSink(false)), JobConfig{Restart: Restart{Strategy: RestartFixedDelay}})
	ev.await(JobRestarting, 1)
	if s := again.State(); s != JobRestarting {
		t.Errorf("state %s", s)
	}
	clock.AwaitTimers(1)
	clock.Advance(time.Second)
	ev.await(JobRunning, 2)
	clock.Advance(time.Second)
	if err := again.Cancel(within(t)); err != nil {
		t.Fatal(err)
	}
	if got := statesOf(order, again.Details().Times); got != "INITIALIZING CREATED FAILING RESTARTING RUNNING CANCELLING CANCELED" {
		t.Errorf("cancelled: %s", got)
	}
}

// slowOpen is an operator that takes its time to open.
type slowOpen struct {
	countOp
	entered, release chan struct{}
}

func (o *slowOpen) Open(ctx *op.Context) error {
	o.entered <- struct{}{}
	<-o.release
	return o.countOp.Open(ctx)
}

// TestTaskStates: a subtask whose operators open is INITIALIZING, and its vertex too.
func TestTaskStates(t *testing.T) {
	c := testCluster(t, Options{})
	o := &slowOpen{countOp: countOp{maxPar: 128}, entered: make(chan struct{}), release: make(chan struct{})}
	c.operators = func(*opSpec) (op.Operator, error) { return o, nil }
	j := submit(t, c, counting3(newMemSource(true).split("a", kvs(3, 1)...), newMemSink(false)), JobConfig{})
	<-o.entered
	d := j.Details()
	last := d.Vertices[len(d.Vertices)-1]
	if last.State != TaskInitializing || last.Subtasks[0].State != TaskInitializing {
		t.Errorf("%s, %s", last.State, last.Subtasks[0].State)
	}
	close(o.release)
	wait(t, j)
	for _, v := range j.Details().Vertices {
		want := []TaskState{TaskCreated, TaskDeploying, TaskInitializing, TaskRunning, TaskFinished}
		if got := statesOf(want, v.Subtasks[0].Times); got != "CREATED DEPLOYING INITIALIZING RUNNING FINISHED" {
			t.Errorf("%s: %s", v.Name, got)
		}
	}
}

// TestVertexState: what a vertex is when its subtasks differ.
func TestVertexState(t *testing.T) {
	for _, c := range []struct {
		want     TaskState
		subtasks []TaskState
	}{
		{TaskCreated, []TaskState{TaskCreated, TaskCreated}},
		{TaskCreated, []TaskState{TaskScheduled, TaskDeploying}},
		{TaskInitializing, []TaskState{TaskRunning, TaskInitializing, TaskFinished}},
		{TaskRunning, []TaskState{TaskDeploying, TaskRunning}},
		{TaskRunning, []TaskState{TaskFinished, TaskScheduled}},
		{TaskFinished, []TaskState{TaskFinished, TaskFinished}},
		{TaskCanceled, []TaskState{TaskCanceled, TaskFinished}},
		{TaskCanceling, []TaskState{TaskCanceled, TaskCanceling}},
		{TaskFailed, []TaskState{TaskCanceling, TaskFailed, TaskRunning}},
	} {
		counts := map[TaskState]int{}
		for _, s := range c.subtasks {
			counts[s]++
		}
		if got := vertexState(counts, len(c.subtasks)); got != c.want {
			t.Errorf("%v: %s, want %s", c.subtasks, got, c.want)
		}
	}
}

// slowOp passes rows on and lets processing time go by meanwhile.
type slowOp struct {
	probeOp
	clock *VirtualClock
	takes time.Duration
}

func (o *slowOp) Process(input int, b *types.Batch) error {
	o.clock.Advance(o.takes)
	return o.probeOp.Process(input, b)
}

// TestIdleWithoutBackpressure: a split is not idle because the rows of another one took long downstream.
func TestIdleWithoutBackpressure(t *testing.T) {
	clock := NewVirtualClock(time.Unix(1000, 0))
	log := newProbeLog()
	c := testCluster(t, Options{Clock: clock})
	c.operators = func(*opSpec) (op.Operator, error) {
		return &slowOp{probeOp: probeOp{log: log}, clock: clock, takes: time.Minute}, nil
	}
	src := newMemSource(false).split("a-0", at(10)...).split("a-1", at(20)...)
	submit(t, c, probed(src, periodic(200*time.Millisecond, time.Second)), JobConfig{})
	log.await("0: 10")
	log.await("0: 20")
	src.split("a-1", at(90)...)
	log.await("0: 90")
	src.settle()
	clock.Advance(200 * time.Millisecond)
	src.settle()
	// a-0 has been silent for minutes, but the source could not have read it: it holds the watermark at 10.
	if got := log.of(0); strings.Contains(got, "idle") || slices.ContainsFunc(strings.Split(got, "; "), func(s string) bool { return strings.HasPrefix(s, "wm ") && s != "wm 10" }) {
		t.Errorf("got %s", got)
	}
	clock.Advance(time.Second)
	src.settle()
	if got := log.of(0); !strings.Contains(got, "wm 90") {
		t.Errorf("got %s", got)
	}
}
