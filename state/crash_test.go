package state

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

var allCrashes = flag.Bool("state.allcrashes", false, "TestCrash kills at every write instead of at some")

const (
	crashDir  = "RUNNEL_STATE_CRASH_DIR" // set: this process is the one to be killed
	crashAt   = "RUNNEL_STATE_CRASH_AT"  // at this operation of the store
	crashJobs = 9                        // checkpoints
	never     = 1 << 40
)

// killKV kills its own process at one operation: before it, or after it for odd numbers.
type killKV struct {
	kv
	n *int
}

func (k killKV) op(f func() error) error {
	at, before := *k.n/2, *k.n%2 == 0
	*k.n -= 2
	if at == 0 && before {
		kill()
	}
	err := f()
	if at == 0 {
		kill()
	}
	return err
}

func kill() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

func (k killKV) put(c int64, key, value []byte) error {
	return k.op(func() error { return k.kv.put(c, key, value) })
}
func (k killKV) commit(c int64, meta []byte) error {
	return k.op(func() error { return k.kv.commit(c, meta) })
}
func (k killKV) remove(at int64, keys [][]byte) error {
	return k.op(func() error { return k.kv.remove(at, keys) })
}
func (k killKV) forget(c, oldest int64) error {
	return k.op(func() error { return k.kv.forget(c, oldest) })
}

type killPlaces struct {
	places
	n *int
}

func (p killPlaces) open(at place, create bool) (kv, error) {
	kv, err := p.places.open(at, create)
	return killKV{kv, p.n}, err
}

// crashRun runs the job that is to be killed. done is told of every checkpoint that has completed.
func crashRun(t *testing.T, s *Store, done func(id int64, m model, rows *logModel)) {
	j := newTestJob(t, rand.New(rand.NewPCG(3, 3)), nil)
	a, err := s.Attempt("job")
	if err != nil {
		t.Fatal(err)
	}
	var completed int64
	for id := int64(1); id <= crashJobs; id++ {
		j.run(300)
		if err := a.Begin(id, completed); err != nil {
			t.Fatal(err)
		}
		cp, m, rows := j.checkpoint(t, Freeze{Checkpoint: id, Completed: completed}, a.Sink(id, "op-1", 0))
		if id == 5 {
			if err := a.Abort(id); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := a.Complete(cp); err != nil {
			t.Fatal(err)
		}
		done(id, m, rows)
		if completed > 0 {
			if err := a.Drop(completed); err != nil {
				t.Fatal(err)
			}
		}
		completed = id
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestCrashChild is the process that TestCrash kills.
func TestCrashChild(t *testing.T) {
	dir := os.Getenv(crashDir)
	if dir == "" {
		t.Skip("runs only as the child of TestCrash")
	}
	s, err := OpenBadgerStore(dir)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(os.Getenv(crashAt))
	if err != nil {
		t.Fatal(err)
	}
	s.files = killPlaces{s.files, &n}
	crashRun(t, s, func(id int64, _ model, _ *logModel) { fmt.Printf("completed %d\n", id) })
	fmt.Println("finished")
}

// TestCrash kills a process at its writes to the store, and at random moments: what it had reported as completed and
// not yet dropped is there, and everything that is there is whole.
func TestCrash(t *testing.T) {
	models, rows := map[int64]model{}, map[int64]*logModel{}
	mem := NewMemoryStore()
	n := never
	mem.files = killPlaces{mem.files, &n}
	crashRun(t, mem, func(id int64, m model, r *logModel) { models[id], rows[id] = m, r })
	ops := (never - n) / 2
	rnd := newRand(t)
	var points []int
	for at := 0; at < 2*ops; at++ {
		if *allCrashes || rnd.IntN(2*ops) < 6 {
			points = append(points, at)
		}
	}
	t.Logf("%d writes, %d of them end with a kill", ops, len(points))
	for _, at := range points {
		t.Run(fmt.Sprint("write ", at/2, at%2), func(t *testing.T) { crashOnce(t, at, 0, models, rows) })
	}
	for i := range 4 {
		t.Run(fmt.Sprint("moment ", i), func(t *testing.T) {
			crashOnce(t, never, time.Duration(rnd.IntN(600))*time.Millisecond, models, rows)
		})
	}
}

func crashOnce(t *testing.T, at int, after time.Duration, models map[int64]model, rows map[int64]*logModel) {
	dir := t.TempDir()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run", "^TestCrashChild$", "-test.v")
	cmd.Env = append(os.Environ(), crashDir+"="+dir, crashAt+"="+strconv.Itoa(at))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if after > 0 {
		time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
	}
	var reported int64
	finished := false
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if id, ok := strings.CutPrefix(lines.Text(), "completed "); ok {
			reported, _ = strconv.ParseInt(id, 10, 64)
		}
		finished = finished || lines.Text() == "finished"
	}
	// A kill may also come between the child's last word and its end.
	if err := cmd.Wait(); err == nil != finished && !(after > 0 && finished) {
		t.Fatalf("the child ends with %v", err)
	}
	s, err := OpenBadgerStore(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	list, err := s.List()
	if err != nil {
		t.Fatal(err)
	}
	found := map[int64]bool{}
	for _, l := range list {
		found[l.Checkpoint] = true
		snap, err := s.Open(l)
		if err != nil {
			t.Fatal(err)
		}
		checkSnapshot(t, snap, models[l.Checkpoint], rows[l.Checkpoint])
	}
	if reported > 0 && !found[reported] || len(list) > 3 {
		t.Fatalf("checkpoint %d was reported, there are %v", reported, list)
	}
	if err := errors.Join(s.Prune(nil)); err != nil {
		t.Fatal(err)
	}
	if all, err := s.files.list(); err != nil || len(all) > 0 {
		t.Fatal(all, err)
	}
}

// TestEmptyLogs opens a database whose process was killed when Badger had made, or emptied, a log file and no more.
func TestEmptyLogs(t *testing.T) {
	dir := t.TempDir()
	s, err := OpenBadgerStore(dir)
	if err != nil {
		t.Fatal(err)
	}
	models, rows := map[int64]model{}, map[int64]*logModel{}
	crashRun(t, s, func(id int64, m model, r *logModel) { models[id], rows[id] = m, r })
	list, err := s.List()
	if err != nil || len(list) == 0 {
		t.Fatal(list, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	at := s.files.(badgerPlaces).path(place{list[0].Job, list[0].Attempt})
	for _, name := range []string{"00001.mem", "00042.mem", "000003.vlog", "000042.vlog"} {
		f, err := os.OpenFile(filepath.Join(at, name), os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			continue // a file that is in use
		}
		f.Close()
	}
	if s, err = OpenBadgerStore(dir); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, l := range list {
		snap, err := s.Open(l)
		if err != nil {
			t.Fatal(err)
		}
		checkSnapshot(t, snap, models[l.Checkpoint], rows[l.Checkpoint])
	}
}
