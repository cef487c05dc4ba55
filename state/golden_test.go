package state

import (
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var updateGolden = flag.Bool("update", false, "TestGolden writes the files of the current version")

// goldenJob makes the content of the golden savepoint: always the same.
func goldenJob(t *testing.T) (*testJob, *Slices, slicesModel, *Timers) {
	j := newTestJob(t, rand.New(rand.NewPCG(11, 12)), nil)
	s, err := j.keyed.Slices(Descriptor{Format: 1, Name: "s"}, SlicesSpec{Values: sliceValues})
	if err != nil {
		t.Fatal(err)
	}
	tm, err := j.keyed.Timers(Descriptor{Format: 1, Name: "timers"})
	if err != nil {
		t.Fatal(err)
	}
	m := slicesModel{}
	var at int64
	var age int
	for i := range 40 {
		step(j.rnd, j.table, j.model, 12)
		logStep(j.rnd, j.log, j.rows, false)
		slicesStep(j.rnd, s, m, &at, &age)
		tm.Add(int64(i*100), testKey(uint64(i%5)))
	}
	return j, s, m, tm
}

const goldenDir = "testdata/savepoint-v1"

// TestGolden reads a savepoint as version 1 wrote it. A change of the bytes needs a new version, and this test for the
// old one.
func TestGolden(t *testing.T) {
	if *updateGolden {
		writeGolden(t)
	}
	want, _, slices, timers := goldenJob(t)
	snap, err := NewMemoryStore().OpenPath(goldenDir)
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	if cp := snap.Checkpoint; cp.JobName != "golden" || cp.SQL != "INSERT INTO t SELECT 1" || !cp.Stopped || cp.Identities["source"] != "cluster-1" {
		t.Errorf("metadata: %+v", cp)
	}
	op := snap.Checkpoint.Operators[0]
	for p := range 2 {
		g := RangeOf(p, 2, testGroups)
		var subs []RestoredSubtask
		for _, sub := range op.Subtasks {
			subs = append(subs, RestoredSubtask{sub, snap.Blobs(op.ID, sub.Subtask)})
		}
		j := &testJob{keyed: NewKeyed(Config{Operator: "Test", Groups: g, Restore: restoredFrom(subs...)})}
		table, err := j.keyed.Table(Descriptor{Format: 1, Name: "t"}, TableSpec{Values: testValues})
		if err != nil {
			t.Fatal(err)
		}
		part := model{}
		for k, e := range want.model {
			if g.Has(textKey(k).Group) {
				part[k] = e
			}
		}
		checkTable(t, table, part)
		log, err := j.keyed.Log(Descriptor{Format: 1, Name: "l"}, logSpecs()["plain"])
		if err != nil {
			t.Fatal(err)
		}
		want.rows.check(t, log, g)
		s, err := j.keyed.Slices(Descriptor{Format: 1, Name: "s"}, SlicesSpec{Values: sliceValues})
		if err != nil {
			t.Fatal(err)
		}
		checkSlices(t, s, slices, g)
		tm, err := j.keyed.Timers(Descriptor{Format: 1, Name: "timers"})
		if err != nil {
			t.Fatal(err)
		}
		m := timersModel{}
		for i := range 40 {
			m[testTimer{int64(i * 100), uint64(i % 5)}] = true
		}
		popAll(t, tm, m, NoTimer-1, g)
	}
	if timers.Len() != 40 {
		t.Error(timers.Len())
	}
}

func writeGolden(t *testing.T) {
	j, _, _, _ := goldenJob(t)
	dir := t.TempDir()
	sp, err := CreateSavepoint(dir, "golden")
	if err != nil {
		t.Fatal(err)
	}
	j.keyed.Freeze(Freeze{Checkpoint: 5, Savepoint: true})
	if done, err := j.keyed.Drain(1<<30, sp.Sink("group-aggregate-1", 0, all)); err != nil || !done {
		t.Fatal(done, err)
	}
	err = sp.Complete(&Checkpoint{ID: 5, Stopped: true, JobID: "golden", JobName: "golden", SQL: "INSERT INTO t SELECT 1",
		Created: time.Unix(1700000000, 0).UTC(), MaxParallelism: testGroups, Identities: map[string]string{"source": "cluster-1"},
		Operators: []OperatorState{{ID: "group-aggregate-1", Name: "GroupAggregate", Parallelism: 1,
			Subtasks: []SubtaskState{{Groups: all, States: j.keyed.Snapshot()}}}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(goldenDir); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(goldenDir, os.DirFS(sp.Path())); err != nil {
		t.Fatal(err)
	}
}

// TestGoldenReadable: people can read what is in a savepoint.
func TestGoldenReadable(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(goldenDir, MetadataFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"format": "savepoint"`, `"version": 1`, `"jobName": "golden"`, `"sql": "INSERT INTO t SELECT 1"`,
		`"name": "GroupAggregate"`, `"kind": "slices"`, `"layout": "word,bytes,list,set(word),word,sorted(bytes)"`, `"records": 40`, `"crc32c": `} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is not in it", want)
		}
	}
}
