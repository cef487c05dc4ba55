package exec

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"runnel/exec/op"
	"runnel/plan"
	"runnel/types"
)

// events collects what a cluster publishes.
type events struct {
	mu   sync.Mutex
	cond sync.Cond
	all  []Event
}

func listen(c *Cluster) *events {
	e := &events{}
	e.cond.L = &e.mu
	c.Subscribe(func(ev Event) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.all = append(e.all, ev)
		e.cond.Broadcast()
	})
	return e
}

// await waits for the n-th event of a state and gives it.
func (e *events) await(s JobState, n int) Event {
	e.mu.Lock()
	defer e.mu.Unlock()
	for {
		k := 0
		for _, ev := range e.all {
			if ev.State == JobFailed && s != JobFailed {
				panic("job failed: " + ev.Cause)
			}
			if ev.State == s {
				if k++; k == n {
					return ev
				}
			}
		}
		e.cond.Wait()
	}
}

var errDisk = errors.New("disk on fire")

// TestRestartFromCheckpoint: rows, a checkpoint, more rows, a failure; the job goes on from the checkpoint and every row
// counts once.
func TestRestartFromCheckpoint(t *testing.T) {
	clock := NewVirtualClock(time.Unix(1000, 0))
	c := testCluster(t, Options{Clock: clock})
	ev := listen(c)
	src := newMemSource(true).split("t-0", kvs(3000, 5)...)
	src.allow(1000)
	src.failAt["t-0/1500"] = errDisk
	sink := newMemSink(true)
	var k graphKit
	k.sink(k.count(k.exchange(k.scan("t", src, nil), plan.HashKeys, 0), "a"), "out", sink)
	j := submit(t, c, k.graph(), JobConfig{Parallelism: 2, Restart: Restart{Strategy: RestartFixedDelay, Attempts: 1}})
	ev.await(JobRunning, 1)
	for {
		if _, err := j.Checkpoint(within(t)); err != nil {
			t.Fatal(err)
		}
		if n := len(sink.sorted()); n == 1000 {
			break
		}
	}
	src.allow(1 << 60)
	if e := ev.await(JobRestarting, 1); e.Operator != "Source: t[1]" || !errors.Is(e.Err, errDisk) || e.Restart != time.Second {
		t.Errorf("event %+v", e)
	}
	clock.AwaitTimers(1)
	clock.Advance(time.Second)
	wait(t, j)
	if got := sink.sorted(); !slices.Equal(got, wantCounts(3000, 5)) {
		t.Errorf("%d rows", len(got))
	}
	if d := j.Details(); d.Restarts != 1 || len(d.Failures) != 1 || d.Failures[0].Task == "" {
		t.Errorf("details %+v", d)
	}
}

// TestPeriodicCheckpoints: the interval, the minimum pause and the statistics.
func TestPeriodicCheckpoints(t *testing.T) {
	clock := NewVirtualClock(time.Unix(1000, 0))
	c := testCluster(t, Options{Clock: clock})
	ev := listen(c)
	src := newMemSource(false).split("t-0", kvs(10, 5)...)
	sink := newMemSink(true)
	var k graphKit
	k.sink(k.scan("t", src, nil), "out", sink)
	j := submit(t, c, k.graph(), JobConfig{Parallelism: 1, Checkpoint: Checkpointing{Interval: 10 * time.Second}})
	ev.await(JobRunning, 1)
	for i := range 3 {
		clock.AwaitTimers(1)
		clock.Advance(10 * time.Second)
		for j.Checkpoints().Completed <= i {
			time.Sleep(time.Millisecond)
		}
	}
	h := j.Checkpoints()
	if h.Total != 3 || h.Latest.ID != 3 || h.Recent[0].ID != 3 || len(sink.sorted()) != 10 {
		t.Errorf("history %+v, %d rows", h, len(sink.sorted()))
	}
	if err := j.Cancel(within(t)); err != nil {
		t.Fatal(err)
	}
	if err := j.Wait(within(t)); !errors.Is(err, ErrCanceled) || j.State() != JobCanceled {
		t.Errorf("%v, %s", err, j.State())
	}
}

// TestExactlyOnceUnderFailures lets everything fail at random while checkpoints run: reading, the operator (errors and
// panics), preparing, committing. In the end every row has counted once.
func TestExactlyOnceUnderFailures(t *testing.T) {
	for _, par := range []int{1, 3} {
		t.Run(fmt.Sprintf("p%d", par), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(uint64(par), 7))
			var mu sync.Mutex
			left := 25
			chance := func(n int) bool {
				mu.Lock()
				defer mu.Unlock()
				if left > 0 && rnd.IntN(n) == 0 {
					left--
					return true
				}
				return false
			}
			c := testCluster(t, Options{})
			plain := c.operators
			c.operators = func(s *opSpec) (op.Operator, error) {
				o, err := plain(s)
				if k, ok := o.(*countOp); ok {
					k.fail = func(_, _ int64) error {
						if chance(4000) {
							panic("operator fell over")
						}
						if chance(4000) {
							return errDisk
						}
						return nil
					}
				}
				return o, err
			}
			src := newMemSource(true)
			rows := kvs(20000, 11)
			for i := range 4 {
				src.split(fmt.Sprintf("t-%d", i), rows[len(rows)*i/4:len(rows)*(i+1)/4]...)
			}
			sink := newMemSink(true)
			sink.onPrepare = func(int, int64) error {
				if chance(10) {
					return errDisk
				}
				return nil
			}
			sink.onCommit = func() error {
				if chance(5) {
					return errDisk
				}
				return nil
			}
			var k graphKit
			k.sink(k.count(k.exchange(k.scan("t", src, nil), plan.HashKeys, 0), "a"), "out", sink)
			j := submit(t, c, k.graph(), JobConfig{Parallelism: par, Restart: Restart{Strategy: RestartFixedDelay, Attempts: 1000, Delay: time.Microsecond}})
			stop := make(chan struct{})
			var wg sync.WaitGroup
			wg.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
						j.Checkpoint(within(t)) // fails while the job restarts, and whenever it is meant to
					}
				}
			})
			wait(t, j)
			close(stop)
			wg.Wait()
			if got := sink.sorted(); !slices.Equal(got, wantCounts(20000, 11)) {
				t.Errorf("%d rows, want 20000", len(got))
			}
			if j.Details().Restarts == 0 {
				t.Error("nothing failed")
			}
		})
	}
}

// TestDataErrorIsFinal: an error of the data ends the job whatever the strategy says.
func TestDataErrorIsFinal(t *testing.T) {
	c := testCluster(t, Options{})
	ev := listen(c)
	src := newMemSource(true).split("a", kvs(100, 3)...)
	src.failAt["a/50"] = &types.DataError{Place: "split a, row 50", Row: "xyz", Err: errors.New("not a number")}
	sink := newMemSink(false)
	var k graphKit
	k.sink(k.scan("t", src, nil), "out", sink)
	j := submit(t, c, k.graph(), JobConfig{Parallelism: 1, Checkpoint: Checkpointing{Interval: time.Hour}})
	err := j.Wait(within(t))
	var data *types.DataError
	if !errors.As(err, &data) || data.Operator != "Source: t[1]" || j.State() != JobFailed {
		t.Errorf("%v, %s", err, j.State())
	}
	if n := len(sink.sorted()); n != 50 {
		t.Errorf("%d rows before the failing one, want 50", n)
	}
	if e := ev.await(JobFailed, 1); e.Cure == "" || e.Operator == "" {
		t.Errorf("event %+v", e)
	}
}

// TestMinPause: a checkpoint that would come too soon after the one before is put off.
func TestMinPause(t *testing.T) {
	clock := NewVirtualClock(time.Unix(0, 0))
	c := testCluster(t, Options{Clock: clock})
	ev := listen(c)
	j := submit(t, c, pipeline(newMemSource(false).split("a"), newMemSink(false)), JobConfig{
		Checkpoint: Checkpointing{Interval: 10 * time.Second, MinPause: 30 * time.Second}})
	ev.await(JobRunning, 1)
	var at []int64
	for range 3 {
		n := len(at) + 1
		for j.Checkpoints().Completed < n {
			clock.AwaitTimers(1)
			if j.Checkpoints().Total < n {
				clock.Advance(time.Second)
			}
			time.Sleep(100 * time.Microsecond)
		}
		at = append(at, j.Checkpoints().Latest.Trigger.Unix())
	}
	if at[0] < 10 || at[1]-at[0] < 30 || at[2]-at[1] < 30 {
		t.Errorf("checkpoints at %v", at)
	}
}
