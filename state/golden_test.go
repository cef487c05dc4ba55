package state

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var updateGolden = flag.Bool("update", false, "TestGolden writes the files of the current version")

const (
	goldenDir  = "testdata/savepoint-v1"
	goldenText = "testdata/savepoint-v1.txt"
)

// goldenStates registers the states of the golden savepoint.
func goldenStates(t *testing.T, k *Keyed) (table *Table, log *Log, s *Slices, tm *Timers) {
	t.Helper()
	var errs [4]error
	table, errs[0] = k.Table(Descriptor{Format: 1, Name: "t"}, TableSpec{Values: testValues})
	log, errs[1] = k.Log(Descriptor{Format: 1, Name: "l"}, LogSpec{Columns: logColumns, Side: 2})
	s, errs[2] = k.Slices(Descriptor{Format: 1, Name: "s"}, SlicesSpec{Values: sliceValues})
	tm, errs[3] = k.Timers(Descriptor{Format: 1, Name: "timers"})
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
	return table, log, s, tm
}

// dumpStates prints what states hold, a line per record, in an order of its own.
func dumpStates(table *Table, log *Log, s *Slices, tm *Timers) []string {
	var lines []string
	table.Each(func(g int32, m *Map) {
		for r := m.First(); r != 0; r = m.Next(r) {
			k, _ := BytesOf(nil, m.Key(r))
			lines = append(lines, fmt.Sprintf("table %s %s", k, showRecord(m, r)))
		}
	})
	for key := range uint64(logKeys) {
		k := testKey(key)
		if k.Group < log.first || k.Group >= log.first+int32(len(log.index)) {
			continue
		}
		n := 0
		for r := log.Newest(k); r != 0; r = log.Prev(r) {
			lines = append(lines, fmt.Sprintf("log %d-%d %s", key, n, rowString(log, key, r)))
			n++
		}
	}
	for _, time := range s.Times() {
		m := s.Of(time)
		for r := m.First(); r != 0; r = m.Next(r) {
			k, _ := BytesOf(nil, m.Key(r))
			line := fmt.Sprintf("slice %d %s %d", time, k, m.Get(r)[0])
			c := m.Collection(1)
			for e := c.First(r); e != 0; e = c.Next(e) {
				x, _ := BytesOf(nil, c.Elem(e))
				line += " " + string(x)
			}
			lines = append(lines, line)
		}
	}
	for {
		time, k, ok := tm.Pop(NoTimer - 1)
		if !ok {
			break
		}
		lines = append(lines, fmt.Sprintf("timer %d %d", time, k.Words[0]))
	}
	return lines
}

// TestGolden reads a savepoint as version 1 wrote it. A change of the bytes needs a new version, and this test for the
// old one.
func TestGolden(t *testing.T) {
	if *updateGolden {
		writeGolden(t)
	}
	snap, err := NewMemoryStore().OpenPath(goldenDir)
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	if cp := snap.Checkpoint; cp.JobName != "golden" || cp.SQL != "INSERT INTO t SELECT 1" || !cp.Stopped || cp.Identities["source"] != "cluster-1" {
		t.Errorf("metadata: %+v", cp)
	}
	op := snap.Checkpoint.Operators[0]
	var lines []string
	for p := range 2 {
		var subs []RestoredSubtask
		for _, sub := range op.Subtasks {
			subs = append(subs, RestoredSubtask{sub, snap.Blobs(op.ID, sub.Subtask)})
		}
		k := NewKeyed(Config{Operator: "Test", Groups: RangeOf(p, 2, testGroups), Restore: restoredFrom(subs...)})
		lines = append(lines, dumpStates(goldenStates(t, k))...)
	}
	slices.Sort(lines)
	got := strings.Join(lines, "\n") + "\n"
	want, err := os.ReadFile(goldenText)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// writeGolden makes the savepoint, and the text of what it holds.
func writeGolden(t *testing.T) {
	rnd := rand.New(rand.NewPCG(11, 12))
	k := NewKeyed(Config{Operator: "Test", Groups: all})
	table, log, s, tm := goldenStates(t, k)
	m, rows, sl := model{}, &logModel{}, slicesModel{}
	var at int64
	var age int
	for i := range 40 {
		step(rnd, table, m, 12)
		logStep(rnd, log, rows, false)
		slicesStep(rnd, s, sl, &at, &age)
		tm.Add(int64(i*100), testKey(uint64(i%5)))
	}
	sp, err := CreateSavepoint(t.TempDir(), "golden")
	if err != nil {
		t.Fatal(err)
	}
	k.Freeze(Freeze{Checkpoint: 5, Savepoint: true})
	if done, err := k.Drain(1<<30, sp.Sink("group-aggregate-1", 0, all)); err != nil || !done {
		t.Fatal(done, err)
	}
	err = sp.Complete(&Checkpoint{ID: 5, Stopped: true, JobID: "golden", JobName: "golden", SQL: "INSERT INTO t SELECT 1",
		Created: time.Unix(1700000000, 0).UTC(), MaxParallelism: testGroups, Identities: map[string]string{"source": "cluster-1"},
		Operators: []OperatorState{{ID: "group-aggregate-1", Name: "GroupAggregate", Parallelism: 1,
			Subtasks: []SubtaskState{{Groups: all, States: k.Snapshot()}}}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(goldenDir); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(goldenDir, os.DirFS(sp.Path())); err != nil {
		t.Fatal(err)
	}
	lines := dumpStates(table, log, s, tm)
	slices.Sort(lines)
	if err := os.WriteFile(goldenText, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
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
