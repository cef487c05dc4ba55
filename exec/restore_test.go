package exec

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"runnel/connectors"
	"runnel/exec/op"
	"runnel/plan"
)

// counting is source -> hash -> count -> sink, with stable ids.
func counting(src *memSource, sink *memSink) *plan.Graph {
	var k graphKit
	k.sink(k.count(k.exchange(k.scan("t", src, onEvent(1)), plan.HashKeys, 0), "a"), "out", sink)
	return k.graph()
}

func threeSplits(rows []kv) *memSource {
	src := newMemSource(true)
	for i := range 3 {
		src.split(fmt.Sprintf("t-%d", i), rows[len(rows)*i/3:len(rows)*(i+1)/3]...)
	}
	return src
}

// TestStopAndResume stops a job in the middle with a savepoint and resumes it at other widths; and the same from a
// retained checkpoint after a cancellation. Every row counts once, on both backends.
func TestStopAndResume(t *testing.T) {
	for _, inMemory := range []bool{false, true} {
		for _, how := range []string{"stop", "cancel", "suspend"} {
			if inMemory && how != "stop" {
				continue // what is in memory only cannot be resumed by path
			}
			for _, widths := range [][]int{{1, 1}, {2, 4}, {4, 1}} {
				t.Run(fmt.Sprintf("memory=%t/%s/%v", inMemory, how, widths), func(t *testing.T) {
					dir := t.TempDir()
					src, sink := threeSplits(kvs(6000, 11)), newMemSink(true)
					src.allow(900)
					cfg := JobConfig{Parallelism: widths[0], Checkpoint: Checkpointing{SavepointDir: filepath.Join(dir, "sp"),
						InMemory: inMemory, Retention: RetainOnCancel}}
					c := testCluster(t, Options{Dir: dir})
					ev := listen(c)
					j := submit(t, c, counting(src, sink), cfg)
					ev.await(JobRunning, 1)
					for len(sink.sorted()) < 2700 {
						if _, err := j.Checkpoint(within(t)); err != nil {
							t.Fatal(err)
						}
					}
					switch how {
					case "stop":
						path, err := j.Stop(within(t), "", false)
						if err != nil || j.State() != JobFinished {
							t.Fatalf("%v, %s", err, j.State())
						}
						if !strings.HasPrefix(path, filepath.Join(dir, "sp", "savepoint-"+j.ID()[:6])) {
							t.Errorf("path %s", path)
						}
						cfg.Restore.Path = path
					case "cancel":
						if err := j.Cancel(within(t)); err != nil {
							t.Fatal(err)
						}
						cfg.Restore.Path = j.Checkpoints().Latest.Path
					case "suspend":
						if err := c.Close(within(t)); err != nil || j.State() != JobSuspended {
							t.Fatalf("%v, %s", err, j.State())
						}
						cfg.Restore.Path = Latest
						c = testCluster(t, Options{Dir: dir})
					}
					src.allow(1 << 60)
					cfg.Parallelism = widths[1]
					k := submit(t, c, counting(src, sink), cfg)
					if r := k.Restore(); r.Path == "" || len(r.Operators) < 2 || r.Operators[1].Fit != Kept || r.Operators[1].Why != "11 records" {
						t.Errorf("report %+v", r)
					}
					wait(t, k)
					if got := sink.sorted(); !slices.Equal(got, wantCounts(6000, 11)) {
						t.Errorf("%d rows, want 6000", len(got))
					}
					if ids := k.Checkpoints().Latest; ids != nil && ids.ID <= j.Checkpoints().Recent[0].ID {
						t.Errorf("checkpoint ids start again at %d", ids.ID)
					}
				})
			}
		}
	}
}

// TestSavepointResumedTwice: a savepoint resumed twice, the second run killed before its first commit, loses nothing.
func TestSavepointResumedTwice(t *testing.T) {
	dir := t.TempDir()
	src, sink := threeSplits(kvs(3000, 11)), newMemSink(true)
	src.allow(500)
	c := testCluster(t, Options{Dir: dir})
	ev := listen(c)
	j := submit(t, c, counting(src, sink), JobConfig{Parallelism: 2})
	ev.await(JobRunning, 1)
	path, err := j.Stop(within(t), filepath.Join(dir, "sp"), false)
	if err != nil {
		t.Fatal(err)
	}
	stopped := len(sink.sorted())
	cfg := JobConfig{Parallelism: 2, Restore: Restore{Path: path}}
	src.allow(1 << 60)
	sink.onPrepare = func(int, int64) error { return errDisk }
	if err := submit(t, c, counting(src, sink), cfg).Wait(within(t)); !errors.Is(err, errDisk) {
		t.Fatal(err)
	}
	if n := len(sink.sorted()); n != stopped {
		t.Errorf("%d rows after the failed run, %d before", n, stopped)
	}
	sink.onPrepare = nil
	wait(t, submit(t, c, counting(src, sink), cfg))
	if got := sink.sorted(); !slices.Equal(got, wantCounts(3000, 11)) {
		t.Errorf("%d rows", len(got))
	}
}

// TestUnpublishedIsNotCommitted: a checkpoint that got no path fails and is not committed, since a new process would not
// find it and would write its rows again.
func TestUnpublishedIsNotCommitted(t *testing.T) {
	dir := t.TempDir()
	blocked := filepath.Join(dir, "checkpoints-here")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil { // a file where a directory is to be made
		t.Fatal(err)
	}
	c := testCluster(t, Options{Dir: dir})
	ev := listen(c)
	src, sink := newMemSource(false).split("t-0", kvs(50, 5)...), newMemSink(true)
	j := submit(t, c, counting(src, sink), JobConfig{Checkpoint: Checkpointing{Dir: blocked, Tolerable: 10}})
	ev.await(JobRunning, 1)
	awaitRecords(j, "out[4]: Writer", 50)
	if _, err := j.Checkpoint(within(t)); err == nil || !strings.Contains(err.Error(), "publishing") {
		t.Errorf("checkpoint: %v", err)
	}
	if n := len(sink.sorted()); n != 0 {
		t.Errorf("%d rows are committed", n)
	}
	if err := os.Remove(blocked); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Checkpoint(within(t)); err != nil {
		t.Fatal(err)
	}
	if n := len(sink.sorted()); n != 50 {
		t.Errorf("%d rows are committed", n)
	}
}

// TestSavepointDoesNotCommit: a plain savepoint commits nothing; the next checkpoint commits what it had prepared.
func TestSavepointDoesNotCommit(t *testing.T) {
	c := testCluster(t, Options{})
	ev := listen(c)
	src, sink := newMemSource(false).split("t-0", kvs(50, 5)...), newMemSink(true)
	j := submit(t, c, counting(src, sink), JobConfig{})
	ev.await(JobRunning, 1)
	awaitRecords(j, "out[4]: Writer", 50)
	path, err := j.Savepoint(within(t), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if n := len(sink.sorted()); n != 0 {
		t.Errorf("the savepoint committed %d rows", n)
	}
	if _, err := os.Stat(filepath.Join(path, "_metadata")); err != nil {
		t.Error(err)
	}
	if _, err := j.Checkpoint(within(t)); err != nil {
		t.Fatal(err)
	}
	if n := len(sink.sorted()); n != 50 {
		t.Errorf("%d rows after the checkpoint", n)
	}
	if h := j.Checkpoints(); h.LatestSavepoint == nil || h.LatestSavepoint.Path != path || h.Completed != 2 {
		t.Errorf("%+v", h)
	}
}

// awaitRecords waits until an operator has got n rows.
func awaitRecords(j *Job, operator string, n int64) {
	for {
		var got int64
		for _, v := range j.Details().Vertices {
			for _, s := range v.Subtasks {
				for _, o := range s.Metrics.Operators {
					if o.Name == operator {
						got += o.RecordsIn
					}
				}
			}
		}
		if got >= n {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// TestDrain: event time ends before the savepoint, without it it does not.
func TestDrain(t *testing.T) {
	for _, drain := range []bool{true, false} {
		log := newProbeLog()
		c := probedCluster(t, Options{}, log)
		src := newMemSource(false).split("a", at(1, 2)...)
		j := submit(t, c, probed(src, onEvent(1)), JobConfig{})
		log.await("0: 1 <1> 2 <2>")
		if _, err := j.Stop(within(t), t.TempDir(), drain); err != nil {
			t.Fatal(err)
		}
		want := "1 <1> 2 <2>"
		if drain {
			want += "; end; wm max"
		}
		if got := log.of(0); got != want {
			t.Errorf("drain %t: %s", drain, got)
		}
	}
}

// TestStopThatFails: the job goes on, and can be stopped later.
func TestStopThatFails(t *testing.T) {
	c := testCluster(t, Options{})
	ev := listen(c)
	src, sink := newMemSource(false).split("t-0", kvs(10, 5)...), newMemSink(false)
	j := submit(t, c, counting(src, sink), JobConfig{Parallelism: 2})
	ev.await(JobRunning, 1)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Stop(within(t), file, false); err == nil || j.State() != JobRunning {
		t.Fatalf("%v, %s", err, j.State())
	}
	src.split("t-0", kvs(20, 5)[10:]...)
	sink.await(20)
	if _, err := j.Stop(within(t), t.TempDir(), false); err != nil || j.State() != JobFinished {
		t.Fatalf("%v, %s", err, j.State())
	}
	_, err := j.Stop(within(t), t.TempDir(), false)
	var se *StateError
	if !errors.As(err, &se) || se.State != JobFinished {
		t.Errorf("%v", err)
	}
	if _, err := j.Savepoint(within(t), ""); err == nil || !strings.Contains(err.Error(), "savepoint-dir") {
		t.Errorf("%v", err)
	}
}

// TestRestoreRefusals: what does not fit is refused before anything starts, with the reason.
func TestRestoreRefusals(t *testing.T) {
	dir := t.TempDir()
	c := testCluster(t, Options{Dir: dir})
	ev := listen(c)
	src, sink := newMemSource(false).split("t-0", kvs(10, 5)...), newMemSink(true)
	g := counting(src, sink)
	g.Nodes[0].(*plan.Scan).Source.Identity = func(context.Context) (string, error) { return "cluster-1", nil }
	j := submit(t, c, g, JobConfig{Parallelism: 1})
	ev.await(JobRunning, 1)
	awaitRecords(j, "out[4]: Writer", 10)
	path, err := j.Stop(within(t), dir, false)
	if err != nil {
		t.Fatal(err)
	}
	origin := ""
	plain := c.operators
	c.operators = func(s *opSpec) (op.Operator, error) {
		o, err := plain(s)
		if k, ok := o.(*countOp); ok {
			k.origin = origin
		}
		return o, err
	}
	other := func() *plan.Graph {
		var k graphKit
		k.sink(k.scan("t", src, nil), "out", sink)
		return k.graph()
	}
	for _, tc := range []struct {
		name   string
		graph  *plan.Graph
		cfg    JobConfig
		origin string
		want   string
	}{
		{"key changed", counting(src, sink), JobConfig{}, "t.other", "GroupAggregate[3]: does not fit (state counts: key column 1 is k BIGINT of t.other, was k BIGINT)"},
		{"operator gone", other(), JobConfig{}, "", "GroupAggregate[3]: not claimed"},
		{"operator gone, allowed", other(), JobConfig{Restore: Restore{AllowUnclaimed: true}}, "", ""},
		{"key groups", counting(src, sink), JobConfig{MaxParallelism: 64}, "", "pipeline.max-parallelism is 64, the state was made with 128"},
		{"too wide", counting(src, sink), JobConfig{Parallelism: 129}, "", "parallelism 129 exceeds the maximum of 128"},
		{"other system", func() *plan.Graph {
			g := counting(src, sink)
			g.Nodes[0].(*plan.Scan).Source = &connectors.Source{Identity: func(context.Context) (string, error) { return "cluster-2", nil }}
			return g
		}(), JobConfig{}, "", "src/t spoke to cluster-1 and would now speak to cluster-2"},
		{"no such path", counting(src, sink), JobConfig{Restore: Restore{Path: filepath.Join(dir, "none")}}, "", "neither savepoint nor checkpoint"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			origin = tc.origin
			if tc.cfg.Restore.Path == "" {
				tc.cfg.Restore.Path = path
			}
			j, err := c.Submit(within(t), tc.graph, tc.cfg)
			switch {
			case tc.want == "" && err == nil:
				if r := j.Restore(); !slices.ContainsFunc(r.Operators, func(f OperatorFit) bool { return f.Fit == LetGo }) {
					t.Errorf("report %+v", r)
				}
				if err := j.Cancel(within(t)); err != nil {
					t.Fatal(err)
				}
			case err == nil || !strings.Contains(err.Error(), tc.want):
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}

// TestRetention: how many checkpoints stay while a job runs, and what stays when it ends.
func TestRetention(t *testing.T) {
	for _, tc := range []struct {
		retention Retention
		end       string
		want      int
	}{
		{RetainNone, "cancel", 0}, {RetainNone, "fail", 0}, {RetainNone, "suspend", 2},
		{RetainOnFailure, "cancel", 0}, {RetainOnFailure, "fail", 2},
		{RetainOnCancel, "cancel", 2}, {RetainOnCancel, "fail", 2}, {RetainOnCancel, "finish", 0},
	} {
		t.Run(fmt.Sprintf("%d/%s", tc.retention, tc.end), func(t *testing.T) {
			dir := t.TempDir()
			c := testCluster(t, Options{Dir: dir})
			ev := listen(c)
			src, sink := newMemSource(true).split("t-0", kvs(20, 5)...), newMemSink(true)
			src.allow(10)
			j := submit(t, c, counting(src, sink), JobConfig{Parallelism: 1, Checkpoint: Checkpointing{Retained: 2, Retention: tc.retention}})
			ev.await(JobRunning, 1)
			for range 4 {
				if _, err := j.Checkpoint(within(t)); err != nil {
					t.Fatal(err)
				}
			}
			published := func() int {
				m, err := filepath.Glob(filepath.Join(dir, "checkpoints", j.ID(), "chk-*", "_metadata"))
				if err != nil {
					t.Fatal(err)
				}
				return len(m)
			}
			if n := published(); n != 2 {
				t.Errorf("%d checkpoints while running, want 2", n)
			}
			switch tc.end {
			case "cancel":
				j.Cancel(within(t))
			case "fail":
				src.failAt["t-0/15"] = errDisk
				src.allow(20)
				j.Wait(within(t))
			case "finish":
				src.allow(20)
				wait(t, j)
			case "suspend":
				c.Close(within(t))
			}
			if n := published(); n != tc.want {
				t.Errorf("%d checkpoints left, want %d; %s", n, tc.want, j.State())
			}
		})
	}
}

// TestFinishedIsHeld: a job that had finished when its process was killed is not run again, until it is released.
func TestFinishedIsHeld(t *testing.T) {
	dir := t.TempDir()
	run := func(sink *memSink, release bool) *Job {
		src := threeSplits(kvs(300, 11))
		src.allow(1 << 60)
		c := testCluster(t, Options{Dir: dir, HoldFinished: true})
		cfg := JobConfig{Parallelism: 2, Checkpoint: Checkpointing{Interval: time.Hour}}
		cfg.Restore.Path = Latest
		j := submit(t, c, counting(src, sink), cfg)
		wait(t, j)
		if release {
			c.Release()
		}
		if err := c.Close(within(t)); err != nil {
			t.Fatal(err)
		}
		return j
	}
	sink := newMemSink(true)
	run(sink, false)
	if j := run(sink, true); j.Restore().Path == "" {
		t.Error("the finished job was forgotten")
	}
	if got := sink.sorted(); !slices.Equal(got, wantCounts(300, 11)) {
		t.Errorf("%d rows, want 300: the second run had nothing to do", len(got))
	}
	if j := run(newMemSink(true), true); j.Restore().Path != "" {
		t.Errorf("released, and yet there is %s", j.Restore().Path)
	}
}
