package exec

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"runnel/exec/op"
	"runnel/plan"
	"runnel/types"
)

func selecting(src *memSource) *graphKit {
	var k graphKit
	k.collect(k.scan("t", src, nil))
	return &k
}

// TestSelectRestarts: a query runs again after an I/O error as long as no row was shown; afterwards it fails with it.
func TestSelectRestarts(t *testing.T) {
	for _, shown := range []bool{false, true} {
		t.Run(fmt.Sprintf("shown=%t", shown), func(t *testing.T) {
			clock := NewVirtualClock(time.Unix(0, 0))
			c := testCluster(t, Options{Clock: clock})
			ev := listen(c)
			src := newMemSource(true).split("a", kvs(100, 3)...)
			src.allow(0)
			src.failAt["a/50"] = errDisk
			if !shown {
				src.batch = 50 // less than the result can hold: the failure comes before the first look
			}
			j := submit(t, c, selecting(src).graph(), JobConfig{Restart: Restart{Strategy: RestartFixedDelay}})
			if shown {
				src.allow(10)
				b, err := j.Result().Next(within(t))
				if err != nil || b.Rows() == 0 {
					t.Fatal(err)
				}
				src.allow(100)
				rows, err := readAll(t, j.Result())
				if !errors.Is(err, errDisk) || len(rows)+b.Rows() > 50 || j.Wait(within(t)) == nil {
					t.Errorf("%d rows, %v", len(rows), err)
				}
				return
			}
			src.allow(100)
			ev.await(JobRestarting, 1)
			clock.AwaitTimers(1)
			clock.Advance(time.Second)
			rows, err := readAll(t, j.Result())
			if err != nil || len(rows) != 100 {
				t.Errorf("%d rows, %v", len(rows), err)
			}
		})
	}
}

// TestSelectOfSlowClient: the job waits for its client, is back-pressured meanwhile, and can be cancelled.
func TestSelectOfSlowClient(t *testing.T) {
	c := testCluster(t, Options{})
	src := newMemSource(false).split("a", kvs(100000, 3)...)
	src.batch = 100
	j := submit(t, c, selecting(src).graph(), JobConfig{})
	if _, err := j.Result().Next(within(t)); err != nil {
		t.Fatal(err)
	}
	for {
		m := j.Details().Vertices[0].Subtasks[0].Metrics
		if m.Backpressured > 0 {
			if m.RecordsOut > 2000 {
				t.Errorf("%d rows are under way to a client that took one batch", m.RecordsOut)
			}
			break
		}
		time.Sleep(time.Millisecond)
	}
	if err := j.Cancel(within(t)); err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := j.Result().Next(within(t)); err != nil {
			if !errors.Is(err, ErrCanceled) {
				t.Error(err)
			}
			break
		}
	}
	if _, err := j.Result().Next(within(t)); errors.Is(err, io.EOF) || err == nil {
		t.Errorf("a cancelled query ended with %v", err)
	}
}

// syncBuffer is a log that may be read while it is written.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// TestCancelNamesWhoDoesNotEnd: a writer that ignores its context holds the job up; after a second the log names the task.
func TestCancelNamesWhoDoesNotEnd(t *testing.T) {
	log := &syncBuffer{}
	c := testCluster(t, Options{Log: slog.New(slog.NewTextHandler(log, nil))})
	stuck, release := make(chan struct{}), make(chan struct{})
	sink := newMemSink(false)
	var once sync.Once
	sink.fail = func(string) error {
		once.Do(func() { close(stuck) })
		<-release
		return nil
	}
	j := submit(t, c, pipeline(newMemSource(false).split("a", kvs(1, 1)...), sink), JobConfig{})
	<-stuck
	done := make(chan error, 1)
	go func() { done <- j.Cancel(context.Background()) }()
	for !strings.Contains(log.String(), "task does not end after cancellation") {
		select {
		case err := <-done:
			t.Fatalf("cancelled although a task hangs: %v", err)
		case <-time.After(10 * time.Millisecond):
		}
	}
	if !strings.Contains(log.String(), "out[2]: Writer") || j.State() != JobCancelling {
		t.Errorf("%s; %s", j.State(), log.String())
	}
	close(release)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// tickOp emits what it holds on a timer of processing time.
type tickOp struct {
	ctx  *op.Context
	held *types.Batch
}

func (o *tickOp) Open(ctx *op.Context) error {
	o.ctx, o.held = ctx, types.NewBatch(kvFields[:2])
	return nil
}
func (o *tickOp) Process(_ int, b *types.Batch) error {
	appendRows(o.held, b, b.Sel, 0, b.Rows())
	o.ctx.WakeAt(o.ctx.Now().UnixMilli() + 5000)
	o.ctx.WakeAt(o.ctx.Now().UnixMilli() + 9000) // later: the earlier one stands
	return nil
}
func (o *tickOp) OnTime(int64) error {
	defer o.held.Reset()
	return o.ctx.Out.Emit(o.held)
}
func (o *tickOp) Watermark(_ int, ms int64) error { return o.ctx.Out.Watermark(ms) }
func (o *tickOp) Idle(_ int, idle bool) error     { return o.ctx.Out.Idle(idle) }
func (o *tickOp) Close() error                    { return nil }

// TestProcessingTimeTimers: at both places where an operator can be, behind a source and behind a gate.
func TestProcessingTimeTimers(t *testing.T) {
	for _, par := range []int{1, 2} {
		clock := NewVirtualClock(time.Unix(0, 0))
		c := testCluster(t, Options{Clock: clock})
		c.operators = func(*opSpec) (op.Operator, error) { return &tickOp{}, nil }
		src, sink := newMemSource(false).split("a", kvs(3, 1)...), newMemSink(false)
		j := submit(t, c, counting3(src, sink), JobConfig{Parallelism: par})
		awaitRecords(j, "GroupAggregate[3]", 3)
		clock.AwaitTimers(1)
		clock.Advance(4999 * time.Millisecond)
		if n := len(sink.sorted()); n != 0 {
			t.Errorf("%d rows before the time", n)
		}
		clock.Advance(time.Millisecond)
		sink.await(3)
	}
}

// TestCheckpointThatExpires: a sink that does not get ready; the job tolerates one failure and dies of the second.
func TestCheckpointThatExpires(t *testing.T) {
	clock := NewVirtualClock(time.Unix(0, 0))
	c := testCluster(t, Options{Clock: clock})
	ev := listen(c)
	entered, release := make(chan struct{}, 9), make(chan struct{}, 9)
	sink := newMemSink(true)
	sink.onPrepare = func(int, int64) error { entered <- struct{}{}; <-release; return nil }
	src := newMemSource(false).split("a", kvs(7, 1)...)
	j := submit(t, c, pipeline(src, sink), JobConfig{
		Checkpoint: Checkpointing{Interval: time.Minute, Timeout: 10 * time.Second, Tolerable: 1}, Restart: Restart{Strategy: RestartNone}})
	ev.await(JobRunning, 1)
	awaitRecords(j, "out[2]: Writer", 7)
	expire := func(n int) {
		<-entered
		clock.Advance(10 * time.Second)
		for j.Checkpoints().Failed < n {
			time.Sleep(time.Millisecond)
		}
		release <- struct{}{}
	}
	clock.AwaitTimers(1)
	clock.Advance(time.Minute)
	expire(1)
	if f := j.Checkpoints().LatestFailed; !strings.Contains(f.Failure, "expired after 10s: not acknowledged by Source: t[1] -> out[2]: Writer -> out[2]: Committer (1/1)") {
		t.Error(f.Failure)
	}
	// One that works in between forgives, and commits what the failed one had prepared.
	clock.Advance(50 * time.Second)
	<-entered
	release <- struct{}{}
	for j.Checkpoints().Completed < 1 {
		time.Sleep(time.Millisecond)
	}
	if n := len(sink.sorted()); n != 7 {
		t.Errorf("%d rows committed, want 7", n)
	}
	for n := range 2 {
		clock.AwaitTimers(1)
		clock.Advance(time.Minute)
		expire(2 + n)
	}
	if err := j.Wait(within(t)); err == nil || !strings.Contains(err.Error(), "tolerable-failed-checkpoints is 1") {
		t.Error(err)
	}
}

// TestPanicIsAFailureOfItsOperator: with its name and its stack in the history.
func TestPanicIsAFailureOfItsOperator(t *testing.T) {
	c := testCluster(t, Options{})
	c.operators = func(*opSpec) (op.Operator, error) {
		return &countOp{maxPar: 128, fail: func(int64, int64) error { panic("boom") }}, nil
	}
	j := submit(t, c, counting3(newMemSource(true).split("a", kvs(3, 1)...), newMemSink(false)), JobConfig{Parallelism: 2})
	err := j.Wait(within(t))
	var oe *OperatorError
	if !errors.As(err, &oe) || oe.Operator != "GroupAggregate[3]" || !strings.Contains(err.Error(), "panic: boom") {
		t.Error(err)
	}
	if f := j.Details().Failures; len(f) != 1 || !strings.Contains(f[0].Stack, "countOp") || f[0].Task == "" {
		t.Errorf("%+v", f)
	}
}

// TestCommitterThatPanics fails the job, not the process.
func TestCommitterThatPanics(t *testing.T) {
	c := testCluster(t, Options{})
	sink := newMemSink(true)
	sink.onCommit = func() error { panic("committer") }
	j := submit(t, c, pipeline(newMemSource(true).split("a", kvs(3, 1)...), sink), JobConfig{})
	if err := j.Wait(within(t)); err == nil || !strings.Contains(err.Error(), "out[2]: Committer: panic: committer") {
		t.Error(err)
	}
}

// TestDetails: the numbers of a job that has ended.
func TestDetails(t *testing.T) {
	c := testCluster(t, Options{})
	src := newMemSource(true).split("t-0", kvs(100, 7)...).split("t-1", kvs(50, 7)...)
	j := submit(t, c, counting3(src, newMemSink(false)), JobConfig{Parallelism: 2, Name: "named"})
	wait(t, j)
	d := j.Details()
	if d.Name != "named" || d.State != JobFinished || d.End.IsZero() || len(d.Vertices) != 2 || d.MaxParallelism != 128 {
		t.Errorf("%+v", d)
	}
	var out, in int64
	for _, s := range d.Vertices[0].Subtasks {
		out += s.Metrics.RecordsOut
		if s.State != TaskFinished || !s.Metrics.IsSource {
			t.Errorf("%+v", s)
		}
	}
	for _, s := range d.Vertices[1].Subtasks {
		in += s.Metrics.RecordsIn
		if s.Metrics.InputWatermark != types.MaxWatermark || s.Metrics.RecordsOut != 0 || len(s.Metrics.Operators) != 2 {
			t.Errorf("%+v", s)
		}
	}
	if out != 150 || in != 150 || d.Vertices[1].State != TaskFinished || d.Vertices[1].Inputs[0].Ship != "HASH" {
		t.Errorf("out %d, in %d, %+v", out, in, d.Vertices[1])
	}
	if _, ok := c.Job(j.ID()); !ok || len(c.Jobs()) != 1 {
		t.Error("the cluster has forgotten its job")
	}
}

// TestLimitEndsTheJob: a LIMIT that is reached ends an unbounded query, unless another sink still wants rows.
func TestLimitEndsTheJob(t *testing.T) {
	for _, par := range []int{1, 2} {
		for _, limit := range []int64{0, 5} {
			c := testCluster(t, Options{})
			src := newMemSource(false).split("a", kvs(100, 3)...)
			var k graphKit
			x := k.exchange(k.scan("t", src, nil), plan.Singleton)
			x.Base().Mode = types.InsertOnly
			k.collect(k.add(&plan.Limit{Info: k.info("Limit", "limit", kvFields, x), Limit: limit}))
			j := submit(t, c, k.graph(), JobConfig{Parallelism: par})
			rows, err := readAll(t, j.Result())
			if err != nil || len(rows) != int(limit) {
				t.Errorf("width %d, limit %d: %d rows, %v", par, limit, len(rows), err)
			}
			wait(t, j)
		}
	}
	c := testCluster(t, Options{})
	src, sink := newMemSource(false).split("a", kvs(100, 3)...), newMemSink(false)
	var k graphKit
	s := k.scan("t", src, nil)
	x := k.exchange(s, plan.Singleton)
	x.Base().Mode = types.InsertOnly
	k.sink(k.add(&plan.Limit{Info: k.info("Limit", "limit", kvFields, x), Limit: 5}), "few", newMemSink(false))
	k.sink(s, "all", sink)
	j := submit(t, c, k.graph(), JobConfig{})
	sink.await(100)
	src.split("a", kvs(50, 3)...)
	sink.await(150)
	if j.State() != JobRunning {
		t.Error(j.State())
	}
}

// TestEndedPartOfAJob: of two pipelines one ends; its rows are committed and its subtask is FINISHED at the next
// checkpoint, while the other goes on.
func TestEndedPartOfAJob(t *testing.T) {
	c := testCluster(t, Options{})
	few, many := newMemSink(true), newMemSink(true)
	var k graphKit
	k.sink(k.scan("few", newMemSource(true).split("a", kvs(5, 3)...), nil), "few", few)
	k.sink(k.scan("many", newMemSource(false).split("a", kvs(50, 3)...), nil), "many", many)
	j := submit(t, c, k.graph(), JobConfig{})
	awaitRecords(j, "few[2]: Writer", 5)
	awaitRecords(j, "many[4]: Writer", 50)
	for len(few.sorted()) < 5 || j.Details().Vertices[0].State != TaskFinished {
		if _, err := j.Checkpoint(within(t)); err != nil {
			t.Fatal(err)
		}
	}
	if d := j.Details(); d.State != JobRunning || d.Vertices[1].State != TaskRunning {
		t.Errorf("%s, %s", d.State, d.Vertices[1].State)
	}
	if _, err := j.Checkpoint(within(t)); err != nil {
		t.Fatal(err)
	}
}
