package state

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// eachStore runs a test over both kinds of store. reopen gives the store as a new process would find it, and the same
// store again for the one in memory.
func eachStore(t *testing.T, f func(t *testing.T, s *Store, reopen func() *Store)) {
	t.Run("memory", func(t *testing.T) {
		s := NewMemoryStore()
		f(t, s, func() *Store { return s })
	})
	t.Run("badger", func(t *testing.T) {
		dir := t.TempDir()
		s, err := OpenBadgerStore(dir)
		if err != nil {
			t.Fatal(err)
		}
		f(t, s, func() *Store {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s, err = OpenBadgerStore(dir)
			if err != nil {
				t.Fatal(err)
			}
			return s
		})
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

// job is a one-operator job under test: its state, its model, and where its checkpoints go.
type testJob struct {
	keyed *Keyed
	table *Table
	log   *Log
	model model
	rows  *logModel
	rnd   *rand.Rand
}

func newTestJob(t *testing.T, rnd *rand.Rand, from *Restored) *testJob {
	t.Helper()
	j := &testJob{rnd: rnd, model: model{}, rows: &logModel{}}
	j.keyed = NewKeyed(Config{Operator: "Test", Groups: all, Restore: from})
	var err error
	if j.table, err = j.keyed.Table(Descriptor{Format: 1, Name: "t"}, TableSpec{Values: testValues}); err != nil {
		t.Fatal(err)
	}
	if j.log, err = j.keyed.Log(Descriptor{Format: 1, Name: "l"}, logSpecs()["plain"]); err != nil {
		t.Fatal(err)
	}
	return j
}

func (j *testJob) run(n int) {
	for range n {
		step(j.rnd, j.table, j.model, 200)
		logStep(j.rnd, j.log, j.rows, false)
	}
}

// checkpoint freezes and drains into the sink, with work in between, and describes the result.
func (j *testJob) checkpoint(t *testing.T, f Freeze, sink Sink) (*Checkpoint, model, *logModel) {
	t.Helper()
	m, rows := j.model.clone(), j.rows.clone()
	j.keyed.Freeze(f)
	for done := false; !done; {
		var err error
		if done, err = j.keyed.Drain(200, sink); err != nil {
			t.Fatal(err)
		}
		j.run(20)
	}
	return &Checkpoint{ID: f.Checkpoint, JobID: "0123456789abcdef", JobName: "job", Created: time.Unix(f.Checkpoint, 0).UTC(),
		MaxParallelism: testGroups, Operators: []OperatorState{{ID: "op-1", Name: "Test", Parallelism: 1,
			Subtasks: []SubtaskState{{Groups: all, Operator: []byte("own"), States: j.keyed.Snapshot()}}}}}, m, rows
}

// checkSnapshot restores a snapshot and compares; the model is not changed.
func checkSnapshot(t *testing.T, s *Snapshot, m model, rows *logModel) {
	t.Helper()
	sub := s.Checkpoint.Operators[0].Subtasks[0]
	if string(sub.Operator) != "own" {
		t.Fatal("operator state is lost")
	}
	j := newTestJob(t, rand.New(rand.NewPCG(1, 1)), restoredFrom(RestoredSubtask{sub, s.Blobs("op-1", 0)}))
	checkTable(t, j.table, m)
	rows.check(t, j.log, all)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestStoreCheckpoints(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, reopen func() *Store) {
		j := newTestJob(t, newRand(t), nil)
		a, err := s.Attempt("job-1")
		if err != nil {
			t.Fatal(err)
		}
		type kept struct {
			at   Location
			m    model
			rows *logModel
		}
		var retained []kept
		var completed int64
		for id := int64(1); id <= 12; id++ {
			j.run(2000)
			if err := a.Begin(id, completed); err != nil {
				t.Fatal(err)
			}
			cp, m, rows := j.checkpoint(t, Freeze{Checkpoint: id, Completed: completed}, a.Sink(id, "op-1", 0))
			if id%4 == 0 {
				if err := a.Abort(id); err != nil {
					t.Fatal(err)
				}
				continue
			}
			if err := a.Complete(cp); err != nil {
				t.Fatal(err)
			}
			completed = id
			retained = append(retained, kept{a.Location(id), m, rows})
			if len(retained) > 2 {
				if err := a.Drop(retained[0].at.Checkpoint); err != nil {
					t.Fatal(err)
				}
				retained = retained[1:]
			}
			for _, k := range retained {
				snap, err := s.Open(k.at)
				if err != nil {
					t.Fatal(err)
				}
				checkSnapshot(t, snap, k.m, k.rows)
			}
		}
		if _, err := s.Open(a.Location(1)); !errors.Is(err, ErrNoCheckpoint) {
			t.Fatalf("a dropped checkpoint: %v", err)
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		s = reopen()
		list, err := s.List()
		if err != nil || len(list) != 2 || list[0] != retained[0].at || list[1] != retained[1].at {
			t.Fatal(list, err)
		}
		for _, k := range retained {
			snap, err := s.Open(k.at)
			if err != nil {
				t.Fatal(err)
			}
			checkSnapshot(t, snap, k.m, k.rows)
			if err := s.Drop(k.at); err != nil {
				t.Fatal(err)
			}
		}
		checkEmpty(t, s)
	})
}

// checkEmpty: a store holds no checkpoint and no place for one.
func checkEmpty(t *testing.T, s *Store) {
	t.Helper()
	if list, err := s.List(); err != nil || len(list) != 0 {
		t.Fatal(list, err)
	}
	if all, err := s.files.list(); err != nil || len(all) != 0 {
		t.Fatal(all, err)
	}
}

// TestStoreKeepsBase: what a begun checkpoint builds on stays until it is done, even if it is dropped.
func TestStoreKeepsBase(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, _ func() *Store) {
		j := newTestJob(t, newRand(t), nil)
		a, err := s.Attempt("job")
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		j.run(500)
		take := func(id, completed int64) *Checkpoint {
			if err := a.Begin(id, completed); err != nil {
				t.Fatal(err)
			}
			cp, _, _ := j.checkpoint(t, Freeze{Checkpoint: id, Completed: completed}, a.Sink(id, "op-1", 0))
			return cp
		}
		if err := a.Complete(take(1, 0)); err != nil {
			t.Fatal(err)
		}
		j.run(50)
		two := take(2, 1)
		j.run(50)
		want, rows := j.model.clone(), j.rows.clone()
		three := take(3, 1) // builds on 1 too
		if err := a.Complete(two); err != nil {
			t.Fatal(err)
		}
		if err := a.Drop(1); err != nil {
			t.Fatal(err)
		}
		if got := a.Retained(); !slices.Equal(got, []int64{2}) {
			t.Fatal(got)
		}
		if err := a.Complete(three); err != nil {
			t.Fatal(err)
		}
		if err := a.Drop(2); err != nil {
			t.Fatal(err)
		}
		snap, err := s.Open(a.Location(3))
		if err != nil {
			t.Fatal(err)
		}
		checkSnapshot(t, snap, want, rows)
		if err := a.Begin(3, 3); err == nil {
			t.Fatal("a number is used twice")
		}
	})
}

func TestStoreJobs(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, _ func() *Store) {
		var at []Location
		for _, job := range []string{"a", "a", "b/../x"} {
			a, err := s.Attempt(job)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(a.Begin(5, 0), a.Complete(&Checkpoint{ID: 5, JobID: job}), a.Close()); err != nil {
				t.Fatal(err)
			}
			at = append(at, a.Location(5))
		}
		empty, err := s.Attempt("c") // leaves nothing
		if err != nil {
			t.Fatal(err)
		}
		if err := empty.Close(); err != nil {
			t.Fatal(err)
		}
		if list, err := s.List(); err != nil || !slices.Equal(list, at) || at[1].Attempt != 2 {
			t.Fatal(list, err)
		}
		if err := s.Prune(at[1:]); err != nil {
			t.Fatal(err)
		}
		if list, err := s.List(); err != nil || !slices.Equal(list, at[1:]) {
			t.Fatal(list, err)
		}
		snap, err := s.Open(at[1])
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Remove("a"); err != nil {
			t.Fatal(err)
		}
		if err := snap.Close(); err != nil { // until here it was in use
			t.Fatal(err)
		}
		if list, err := s.List(); err != nil || !slices.Equal(list, at[2:]) {
			t.Fatal(list, err)
		}
	})
}

// TestBadgerLargeValue: a value of megabytes comes back whole, in a blob and in metadata.
func TestBadgerLargeValue(t *testing.T) {
	s, err := OpenBadgerStore(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	a, err := s.Attempt("job")
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	data := []byte(strings.Repeat("0123456789abcdef", 200_000))
	ref := BlobRef{Checkpoint: 1, Seq: 7}
	if err := a.Begin(1, 0); err != nil {
		t.Fatal(err)
	}
	if err := a.Sink(1, "op", 0).Put(ref, data); err != nil {
		t.Fatal(err)
	}
	if err := a.Complete(&Checkpoint{ID: 1, SQL: string(data), Operators: []OperatorState{{ID: "op", Subtasks: []SubtaskState{{States: []StateHandle{{Blobs: BlobRefs{ref}}}}}}}}); err != nil {
		t.Fatal(err)
	}
	snap, err := s.Open(a.Location(1))
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	if got, err := snap.Blobs("op", 0).Blob(ref); err != nil || string(got) != string(data) || snap.Checkpoint.SQL != string(data) {
		t.Fatal("large value", len(got), err)
	}
}

// TestBadgerDisk: disk use stays within a small multiple of what is live, also with aborted checkpoints.
func TestBadgerDisk(t *testing.T) {
	dir := t.TempDir()
	s, err := OpenBadgerStore(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	a, err := s.Attempt("job")
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	const blobSize, perCheckpoint = 64 << 10, 64 // 4 MB each, one retained
	rnd := newRand(t)
	var done int64
	for id := int64(1); id <= 40; id++ {
		if err := a.Begin(id, done); err != nil {
			t.Fatal(err)
		}
		var refs BlobRefs
		sink := a.Sink(id, "op", 0)
		for i := range perCheckpoint {
			b := make([]byte, blobSize)
			for j := 0; j < len(b); j += 8 {
				b[j] = byte(rnd.Uint32())
			}
			ref := BlobRef{Checkpoint: id, Seq: uint32(i)}
			if err := sink.Put(ref, b); err != nil {
				t.Fatal(err)
			}
			refs = append(refs, ref)
		}
		if id%5 == 0 {
			if err := a.Abort(id); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := a.Complete(&Checkpoint{ID: id, Operators: []OperatorState{{ID: "op", Subtasks: []SubtaskState{{States: []StateHandle{{Blobs: refs}}}}}}}); err != nil {
			t.Fatal(err)
		}
		if done > 0 {
			if err := a.Drop(done); err != nil {
				t.Fatal(err)
			}
		}
		done = id
	}
	if size := diskUse(t, dir); size > 80<<20 {
		t.Errorf("%d MB on disk, %d MB live, %d MB written", size>>20, perCheckpoint*blobSize>>20, 40*perCheckpoint*blobSize>>20)
	}
}

// diskUse sums up what the files below a directory take on disk.
func diskUse(t *testing.T, dir string) (size int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			size += info.Sys().(*syscall.Stat_t).Blocks * 512
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return size
}

// TestBadgerThin keeps a few old blobs among many that come and go: they do not hold the space of the others, and are
// read from wherever they have moved to, also by a process that opens the store later.
func TestBadgerThin(t *testing.T) {
	dir := t.TempDir()
	s, err := OpenBadgerStore(dir)
	if err != nil {
		t.Fatal(err)
	}
	a, err := s.Attempt("job")
	if err != nil {
		t.Fatal(err)
	}
	const blobSize, fresh, rounds = 256 << 10, 64, 20 // 16 MB a checkpoint
	old := BlobRefs{}
	content := func(r BlobRef) []byte {
		return bytes.Repeat([]byte(fmt.Sprintf("%8d%8d", r.Checkpoint, r.Seq)), blobSize/16)
	}
	for id := int64(1); id <= rounds; id++ {
		if err := a.Begin(id, id-1); err != nil {
			t.Fatal(err)
		}
		refs := slices.Clone(old)
		for i := range uint32(fresh) {
			ref := BlobRef{Checkpoint: id, Seq: i, Bytes: blobSize}
			if err := a.Sink(id, "op", 0).Put(ref, content(ref)); err != nil {
				t.Fatal(err)
			}
			refs = append(refs, ref)
		}
		old = append(old, refs[len(refs)-1])
		if err := a.Complete(&Checkpoint{ID: id, Operators: []OperatorState{{ID: "op", Subtasks: []SubtaskState{{States: []StateHandle{{Blobs: refs}}}}}}}); err != nil {
			t.Fatal(err)
		}
		if id > 1 {
			if err := a.Drop(id - 1); err != nil {
				t.Fatal(err)
			}
		}
	}
	live := int64(fresh+rounds) * blobSize
	if size := diskUse(t, dir); size > 2*live+segmentSize+fresh*blobSize {
		t.Errorf("%d MB on disk, %d MB live", size>>20, live>>20)
	}
	at := a.Location(rounds)
	if err := errors.Join(a.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	if s, err = OpenBadgerStore(dir); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	snap, err := s.Open(at)
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	for _, r := range old {
		if got, err := snap.Blobs("op", 0).Blob(r); err != nil || !bytes.Equal(got, content(r)) {
			t.Fatalf("blob %v: %d bytes, %v", r, len(got), err)
		}
	}
}

// TestBadgerAbort: of a checkpoint that fails nothing stays, however far its commit got.
func TestBadgerAbort(t *testing.T) {
	value := bytes.Repeat([]byte("x"), 10_000)
	for name, commit := range map[string]func(kv *badgerKV) error{
		"put":     func(*badgerKV) error { return nil },
		"flushed": func(kv *badgerKV) error { return kv.flush(2, []byte("meta")) },
		"marked":  func(kv *badgerKV) error { return errors.Join(kv.flush(2, []byte("meta")), kv.mark(2, 1)) },
	} {
		t.Run(name, func(t *testing.T) {
			all := badgerPlaces(t.TempDir())
			at := place{"job", 1}
			opened, err := all.open(at, true)
			if err != nil {
				t.Fatal(err)
			}
			kv := opened.(*badgerKV)
			if err := errors.Join(kv.put(1, []byte("a"), value), kv.commit(1, []byte("one"))); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(kv.put(2, []byte("b"), value), commit(kv), kv.abort(2, [][]byte{[]byte("b")})); err != nil {
				t.Fatal(err)
			}
			if live := kv.values.files[1].live; live != int64(len(value)+len("one")) {
				t.Errorf("%d bytes are live", live)
			}
			if len(kv.batches) > 0 {
				t.Error("a checkpoint is open")
			}
			if err := kv.close(); err != nil {
				t.Fatal(err)
			}
			again, err := all.open(at, false)
			if err != nil {
				t.Fatal(err)
			}
			defer again.close()
			if metas, err := again.committed(); err != nil || len(metas) != 1 || string(metas[1]) != "one" {
				t.Error(metas, err)
			}
			if v, err := again.get([]byte("a")); err != nil || !bytes.Equal(v, value) {
				t.Errorf("%d bytes, %v", len(v), err)
			}
			if v, err := again.get([]byte("b")); err == nil {
				t.Errorf("%d bytes of what was aborted", len(v))
			}
		})
	}
}

func TestSavepoint(t *testing.T) {
	dir := t.TempDir()
	j := newTestJob(t, newRand(t), nil)
	j.run(5000)
	sp, err := CreateSavepoint(dir, "0123456789abcdef")
	if err != nil {
		t.Fatal(err)
	}
	cp, m, rows := j.checkpoint(t, Freeze{Checkpoint: 9, Savepoint: true}, sp.Sink("op-1", 0, all))
	cp.Stopped = true
	if found, _ := Find("", dir); len(found) != 0 {
		t.Fatal("a savepoint is found before it is whole")
	}
	if err := sp.Complete(cp); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(filepath.Base(sp.Path()), "savepoint-012345-") {
		t.Error(sp.Path())
	}
	s := NewMemoryStore()
	for _, path := range []string{sp.Path(), "file://" + sp.Path(), filepath.Join(sp.Path(), MetadataFile)} {
		snap, err := s.OpenPath(path)
		if err != nil {
			t.Fatal(err)
		}
		checkSnapshot(t, snap, m, rows)
	}
	latest, bad := Latest("", dir, "job")
	if latest == nil || latest.Savepoint.ID != 9 || len(bad) > 0 {
		t.Fatal(latest, bad)
	}
	if other, _ := Latest("", dir, "another job"); other != nil {
		t.Fatal("a savepoint of another job")
	}
	damageFiles(t, s, sp.Path())
	if err := DeleteSavepoint(sp.Path()); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Fatal(left)
	}
}

// damageFiles changes and cuts the files of a savepoint; every time opening must fail, with an error.
func damageFiles(t *testing.T, s *Store, dir string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	rnd := newRand(t)
	for _, f := range files {
		path := filepath.Join(dir, f.Name())
		good, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for range 30 {
			bad := slices.Clone(good)
			if f.Name() == MetadataFile || rnd.IntN(2) == 0 {
				bad = bad[:rnd.IntN(len(bad)-2)]
			} else {
				bad[rnd.IntN(len(bad))] ^= 1 << rnd.IntN(8)
			}
			if err := os.WriteFile(path, bad, 0o644); err != nil {
				t.Fatal(err)
			}
			if snap, err := s.OpenPath(dir); err == nil {
				snap.Close()
				t.Fatalf("%s: damage was not noticed", f.Name())
			}
		}
		if err := os.WriteFile(path, good, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPublish(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "checkpoints [1]")
	s, err := OpenBadgerStore(filepath.Join(root, "store"))
	if err != nil {
		t.Fatal(err)
	}
	j := newTestJob(t, newRand(t), nil)
	j.run(1000)
	a, err := s.Attempt("0123456789abcdef")
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Begin(3, 0); err != nil {
		t.Fatal(err)
	}
	cp, m, rows := j.checkpoint(t, Freeze{Checkpoint: 3}, a.Sink(3, "op-1", 0))
	if err := a.Complete(cp); err != nil {
		t.Fatal(err)
	}
	path, err := s.Publish(dir, cp, a.Location(3))
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(dir, "0123456789abcdef", "chk-3"); path != want {
		t.Fatalf("%s, want %s", path, want)
	}
	snap, err := s.OpenPath(path)
	if err != nil {
		t.Fatal(err)
	}
	checkSnapshot(t, snap, m, rows)
	if err := errors.Join(a.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	moved := filepath.Join(t.TempDir(), "moved")
	if err := os.Rename(root, moved); err != nil {
		t.Fatal(err)
	}
	latest, bad := Latest(filepath.Join(moved, "checkpoints [1]"), "", "job")
	if latest == nil || len(bad) > 0 {
		t.Fatal(latest, bad)
	}
	other := NewMemoryStore()
	snap, err = other.OpenPath(latest.Dir)
	if err != nil {
		t.Fatal(err)
	}
	checkSnapshot(t, snap, m, rows)
	if err := Unpublish(latest.Dir); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(filepath.Join(moved, "checkpoints [1]")); len(left) != 0 {
		t.Fatal(left)
	}
}

func TestLatest(t *testing.T) {
	dir := t.TempDir()
	for i, c := range []struct {
		job              string
		stopped, drained bool
	}{{"a", true, false}, {"a", false, false}, {"a", true, true}, {"b", true, false}} {
		sp, err := CreateSavepoint(dir, fmt.Sprint("job", i))
		if err != nil {
			t.Fatal(err)
		}
		if err := sp.Complete(&Checkpoint{ID: int64(i + 1), JobName: c.job, Stopped: c.stopped, Drained: c.drained,
			Created: time.Unix(int64(i), 0)}); err != nil {
			t.Fatal(err)
		}
	}
	m, _ := Latest(dir, dir, "a")
	if m == nil || m.Savepoint.ID != 1 {
		t.Fatal(m)
	}
	if m, _ := Latest(dir, dir, "c"); m != nil {
		t.Fatal(m)
	}
}
