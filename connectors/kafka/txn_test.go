package kafka

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"runnel/connectors"
	"runnel/types"
)

// job drives an exactly-once sink as an engine does: writers, a committer, and snapshots that hold committables and runs.
type job struct {
	r       *rig
	t       *connectors.Table
	sink    *connectors.Sink
	dir     string
	run     string
	last    snapshot // the newest durable one
	writers []connectors.Writer
	commits connectors.Committer
}

// snapshot is what a durable checkpoint holds of the sink.
type snapshot struct {
	id           int64
	committables [][]byte
	runs         []string
}

func (r *rig) job(t *connectors.Table) *job {
	r.t.Helper()
	sink, err := r.connector(t).Sink(connectors.SinkRequest{Table: t, Columns: all(t), Query: types.InsertOnly})
	if err != nil {
		r.t.Fatal(err)
	}
	return &job{r: r, t: t, sink: sink, dir: r.t.TempDir()}
}

func (j *job) env(subtask, of int) connectors.SinkEnv {
	env := connectors.SinkEnv{Env: testEnv(j.r.t), Run: j.run, PriorRuns: j.last.runs, Sink: "sink", Checkpoint: j.last.id}
	env.Dir, env.Subtask, env.Of = j.dir, subtask, of
	return env
}

// start restores a snapshot under a new run: recovery first, then the writers.
func (j *job) start(from snapshot, parallelism int) error {
	j.last = from
	j.run = fmt.Sprintf("r%x", time.Now().UnixNano())
	var err error
	if j.commits, err = j.sink.Committer(j.env(0, parallelism)); err != nil {
		return err
	}
	if err := j.commits.Recover(j.r.ctx(), from.committables); err != nil {
		return err
	}
	j.writers = nil
	for i := range parallelism {
		w, err := j.sink.Open(j.r.ctx(), j.env(i, parallelism))
		if err != nil {
			return err
		}
		j.writers = append(j.writers, w)
	}
	return nil
}

func (j *job) mustStart(from snapshot, parallelism int) {
	j.r.t.Helper()
	if err := j.start(from, parallelism); err != nil {
		j.r.t.Fatal(err)
	}
}

func (j *job) write(subtask int, rows ...string) {
	j.r.t.Helper()
	if err := j.writers[subtask].Write(j.r.ctx(), rowsOf(j.t, all(j.t), rows...)); err != nil {
		j.r.t.Fatal(err)
	}
	if err := j.writers[subtask].(connectors.Flusher).Flush(j.r.ctx()); err != nil {
		j.r.t.Fatal(err)
	}
}

// prepare is the barrier: what it gives becomes durable when the caller keeps it as j.last.
func (j *job) prepare(id int64) snapshot {
	j.r.t.Helper()
	s := snapshot{id: id, runs: append(slices.Clone(j.last.runs), j.run)}
	for _, w := range j.writers {
		cs, _, err := w.Prepare(j.r.ctx(), id)
		if err != nil {
			j.r.t.Fatal(err)
		}
		s.committables = append(s.committables, cs...)
	}
	return s
}

func (j *job) commit(s snapshot) {
	j.r.t.Helper()
	j.last = s
	if err := j.commits.Commit(j.r.ctx(), s.id, s.committables); err != nil {
		j.r.t.Fatal(err)
	}
	for _, w := range j.writers {
		w.(connectors.CommitListener).Committed(s.id)
	}
}

func (j *job) checkpoint(id int64) { j.r.t.Helper(); j.commit(j.prepare(id)) }

// crash leaves everything as it is, as a killed process does: connections are cut and nothing is closed.
func (j *job) crash() {
	for _, w := range j.writers {
		t := w.(*txnWriter)
		t.p.close()
		t.c.close()
	}
	m := j.commits.(*committer)
	j.r.k.endRun(m.names.run(m.env.Run))
	if m.c != nil {
		m.c.close()
	}
	j.writers, j.commits = nil, nil
}

func (j *job) close() {
	for _, w := range j.writers {
		w.Close()
	}
	j.commits.Close()
}

// committed reads the topic as read_committed readers see it now.
func (r *rig) committed(topic string) []string {
	r.t.Helper()
	t := r.table(topic, []string{"a INT"}, "scan.startup.mode", "earliest-offset", "scan.bounded.mode", "latest-offset", "properties.isolation.level", "read_committed")
	s := r.scan(t, all(t))
	defer s.close()
	return s.mustRead(-1)
}

func (r *rig) wantRows(topic string, from, to int) {
	r.t.Helper()
	var want []string
	for i := from; i <= to; i++ {
		want = append(want, fmt.Sprintf("+I %d", i))
	}
	r.want(r.committed(topic), want...)
}

func (r *rig) txnTable(partitions int32, options ...string) *connectors.Table {
	topic := r.newTopic(partitions)
	return r.table(topic, []string{"a INT"}, append([]string{"sink.delivery-guarantee", "exactly-once", "sink.transactional-id-prefix", topic,
		"properties.transaction.timeout.ms", "60000"}, options...)...)
}

func series(from, to int) []string {
	var rows []string
	for i := from; i <= to; i++ {
		rows = append(rows, fmt.Sprint(i))
	}
	return rows
}

func TestExactlyOnce(t *testing.T) {
	r := newRig(t)
	tab := r.txnTable(3)
	j := r.job(tab)
	j.mustStart(snapshot{}, 1)
	topic := tab.Options["topic"]
	for c := 1; c <= 5; c++ {
		j.write(0, series(c*10, c*10+4)...)
		j.write(0, series(c*10+5, c*10+9)...)
		if got := len(r.committed(topic)); got != (c-1)*10 {
			t.Fatalf("%d rows before the commit of checkpoint %d", got, c)
		}
		j.checkpoint(int64(c))
	}
	j.checkpoint(6) // without rows
	if n := len(j.last.committables); n != 0 {
		t.Errorf("%d committables of an empty epoch", n)
	}
	j.write(0, "99") // given up by Close
	if n := len(j.writers[0].(*txnWriter).slots); n > 2 {
		t.Errorf("%d slots", n)
	}
	j.close()
	r.wantRows(topic, 10, 59)
	if left, _ := filepath.Glob(filepath.Join(j.dir, "*", "*")); len(left) > 0 {
		t.Errorf("files left: %v", left)
	}
}

// TestCrash kills a job at each point of its protocol and restores it; a source would give again what came after the
// snapshot.
func TestCrash(t *testing.T) {
	points := []struct {
		name    string
		crash   func(j *job) (from snapshot, again bool) // writes 11..20 as checkpoint 2; again: the rows must be written again
		restart int
	}{
		{"in the epoch", func(j *job) (snapshot, bool) { return j.last, true }, 1},
		{"before the checkpoint is durable", func(j *job) (snapshot, bool) { j.prepare(2); return j.last, true }, 1},
		{"before the commit", func(j *job) (snapshot, bool) { return j.prepare(2), false }, 1},
		{"before the commit, next epoch open", func(j *job) (snapshot, bool) { s := j.prepare(2); j.write(0, "77"); return s, false }, 1},
		{"after the commit", func(j *job) (snapshot, bool) { s := j.prepare(2); j.commit(s); return s, false }, 1},
		{"after the commit, next epoch open", func(j *job) (snapshot, bool) { s := j.prepare(2); j.commit(s); j.write(0, "77"); return s, false }, 1},
		{"after the next epoch is prepared", func(j *job) (snapshot, bool) {
			s := j.prepare(2)
			j.write(0, "77")
			j.prepare(3)
			return s, false
		}, 1},
		{"more subtasks after", func(j *job) (snapshot, bool) { return j.prepare(2), false }, 3},
	}
	r := newRig(t)
	for _, p := range points {
		t.Run(p.name, func(t *testing.T) {
			tab := r.txnTable(2)
			j := r.job(tab)
			j.mustStart(snapshot{}, 1)
			j.write(0, series(1, 10)...)
			j.checkpoint(1)
			j.write(0, series(11, 20)...)
			from, again := p.crash(j)
			j.crash()
			for range 2 { // the second restart finds everything done
				j.mustStart(from, p.restart)
				j.crash()
			}
			j.mustStart(from, p.restart)
			if again {
				j.write(0, series(11, 20)...)
			}
			j.checkpoint(4)
			j.write(p.restart-1, series(21, 30)...)
			j.checkpoint(5)
			j.close()
			r.wantRows(tab.Options["topic"], 1, 30)
		})
	}
}

// TestFailedCheckpoint prepares a checkpoint that never completes; the next one carries its rows.
func TestFailedCheckpoint(t *testing.T) {
	r := newRig(t)
	tab := r.txnTable(1)
	j := r.job(tab)
	j.mustStart(snapshot{}, 1)
	j.write(0, series(1, 5)...)
	j.prepare(1)
	j.write(0, series(6, 9)...)
	j.checkpoint(2)
	j.write(0, "10")
	j.checkpoint(3)
	j.close()
	r.wantRows(tab.Options["topic"], 1, 10)
}

// TestTwoSubtasks commits what two writers prepared after the job went down to one.
func TestTwoSubtasks(t *testing.T) {
	r := newRig(t)
	tab := r.txnTable(1)
	j := r.job(tab)
	j.mustStart(snapshot{}, 2)
	j.write(0, series(1, 5)...)
	j.write(1, series(6, 9)...)
	s := j.prepare(1)
	j.write(1, "77")
	j.crash()
	j.mustStart(s, 1)
	j.write(0, "10")
	j.checkpoint(2)
	j.close()
	r.wantRows(tab.Options["topic"], 1, 10)
}

// TestSavepointTwice resumes one savepoint two times; the first resumed run dies before its first commit.
func TestSavepointTwice(t *testing.T) {
	r := newRig(t)
	tab := r.txnTable(1)
	j := r.job(tab)
	j.mustStart(snapshot{}, 1)
	j.write(0, series(1, 5)...)
	save := j.prepare(1)
	j.commit(save)
	j.close()
	j.mustStart(save, 1)
	j.write(0, series(6, 9)...)
	j.crash()
	j.mustStart(save, 1)
	j.write(0, series(6, 9)...)
	j.checkpoint(2)
	j.close()
	r.wantRows(tab.Options["topic"], 1, 9)
}

// fence takes the transactional ids of a snapshot away, so that its commit is refused.
func (j *job) fence(s snapshot) {
	j.r.t.Helper()
	cs, err := decodeCommittables(s.committables)
	if err != nil {
		j.r.t.Fatal(err)
	}
	c := j.r.client()
	defer c.close()
	for _, x := range cs {
		if _, err := c.initTxn(j.r.ctx(), x.who.txn, time.Minute, time.Minute); err != nil {
			j.r.t.Fatal(err)
		}
	}
}

// TestRefused restores snapshots whose transactions can no longer be committed.
func TestRefused(t *testing.T) {
	for _, p := range []struct {
		name      string
		rowLog    string
		committed bool
		expire    bool
		fails     string
	}{
		{name: "committed before", rowLog: "false", committed: true},
		{name: "fenced, rows kept", rowLog: "true"},
		{name: "expired, rows kept", rowLog: "true", expire: true},
		{name: "fenced, rows not kept", rowLog: "false", fails: "5 rows of checkpoint 2"},
	} {
		t.Run(p.name, func(t *testing.T) {
			r := newRig(t)
			timeout := "60000"
			if p.expire {
				timeout = "1000"
			}
			tab := r.txnTable(2, "sink.row-log", p.rowLog, "properties.transaction.timeout.ms", timeout)
			j := r.job(tab)
			j.mustStart(snapshot{}, 1)
			j.write(0, series(1, 5)...)
			j.checkpoint(1)
			j.write(0, series(6, 10)...)
			s := j.prepare(2)
			if p.committed {
				j.commit(s)
			}
			if p.expire {
				j.waitClosed(s)
			} else {
				j.fence(s)
			}
			j.crash()
			err := j.start(s, 1)
			if p.fails != "" {
				if err == nil || !strings.Contains(err.Error(), p.fails) {
					t.Fatalf("error %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			j.crash()
			j.mustStart(s, 1) // the repetition is not repeated
			j.write(0, "11")
			j.checkpoint(3)
			j.close()
			r.wantRows(tab.Options["topic"], 1, 11)
		})
	}
}

// waitClosed waits until the broker has given up the transactions of a snapshot.
func (j *job) waitClosed(s snapshot) {
	j.r.t.Helper()
	cs, _ := decodeCommittables(s.committables)
	c := j.r.client()
	defer c.close()
	for {
		ids, err := c.openTxns(j.r.ctx())
		if err != nil {
			j.r.t.Fatal(err)
		}
		if !slices.ContainsFunc(cs, func(x *committable) bool { return slices.Contains(ids, x.who.txn) }) {
			return
		}
		if err := pause(j.r.ctx(), 50*time.Millisecond); err != nil {
			j.r.t.Fatal(err)
		}
	}
}

// TestRefusedWhileRunning loses a transaction between barrier and commit.
func TestRefusedWhileRunning(t *testing.T) {
	r := newRig(t)
	tab := r.txnTable(1, "sink.row-log", "true")
	j := r.job(tab)
	j.mustStart(snapshot{}, 1)
	j.write(0, series(1, 5)...)
	s := j.prepare(1)
	j.write(0, series(6, 7)...)
	j.fence(s)
	j.commit(s)
	j.checkpoint(2)
	j.close()
	r.wantRows(tab.Options["topic"], 1, 7)
	if r.told("written again") != 1 {
		t.Errorf("notices %q", r.notices)
	}
}

// TestForeignMarker: the marker of another run does not count as ours, even with a greater offset.
func TestForeignMarker(t *testing.T) {
	r := newRig(t)
	tab := r.txnTable(1, "sink.row-log", "true")
	j := r.job(tab)
	j.mustStart(snapshot{}, 1)
	j.write(0, series(1, 5)...)
	s := j.prepare(1)
	j.crash()
	// Another run goes on from before the snapshot and marks the same group.
	mine := j.last
	j.mustStart(snapshot{id: 0, runs: nil}, 1)
	j.write(0, "6")
	j.checkpoint(7)
	j.close()
	j.fence(s)
	j.last = mine
	j.mustStart(s, 1)
	j.close()
	r.wantRows(tab.Options["topic"], 1, 6)
}

// TestStrays aborts open transactions of prior runs only.
func TestStrays(t *testing.T) {
	r := newRig(t)
	tab := r.txnTable(1)
	j := r.job(tab)
	j.mustStart(snapshot{}, 1)
	j.write(0, "1")
	j.checkpoint(1)
	j.write(0, "77")
	j.crash()

	other := r.txnTable(1, "sink.transactional-id-prefix", tab.Options["sink.transactional-id-prefix"]+"2")
	k := r.job(other)
	k.mustStart(snapshot{}, 1)
	k.write(0, "5")

	j.mustStart(j.last, 1)
	c := r.client()
	defer c.close()
	ids, err := c.openTxns(r.ctx())
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		if strings.HasPrefix(id, tab.Options["sink.transactional-id-prefix"]+"-") {
			t.Errorf("stray %s is open", id)
		}
	}
	k.checkpoint(1)
	k.close()
	j.close()
	r.wantRows(other.Options["topic"], 5, 5)
}

// TestDeadFirstRun: a run that died before its first checkpoint is in no snapshot, and its transaction is aborted.
func TestDeadFirstRun(t *testing.T) {
	r := newRig(t)
	tab := r.txnTable(1)
	j := r.job(tab)
	j.mustStart(snapshot{}, 1)
	j.write(0, "77")
	j.crash()
	j.mustStart(snapshot{}, 1)
	j.write(0, "1")
	j.checkpoint(1)
	j.close()
	r.wantRows(tab.Options["topic"], 1, 1)
}

func TestTransactionTimeout(t *testing.T) {
	r := newRig(t)
	tab := r.txnTable(1, "properties.transaction.timeout.ms", "2000000000")
	err := r.job(tab).start(snapshot{}, 1)
	if err == nil || !strings.Contains(err.Error(), "transaction.max.timeout.ms is") {
		t.Fatalf("error %v", err)
	}
}

func TestCommittableCodec(t *testing.T) {
	c := &committable{who: identity{"t", 1 << 40, 7}, mark: marker{"g", "topic", "run", 12}, rows: 3, log: "l", logBytes: 99,
		partitions: []txnPartition{{topicPartition{"topic", 0}, 17}, {topicPartition{"other", 3}, -1}}}
	b := c.encode()
	d, err := decodeCommittable(b)
	if err != nil || fmt.Sprint(*d) != fmt.Sprint(*c) {
		t.Fatalf("%v: %+v instead of %+v", err, d, c)
	}
	for i := range b {
		broken := slices.Clone(b)
		broken[i] ^= 1
		if _, err := decodeCommittable(broken); err == nil {
			t.Errorf("byte %d changed and not noticed", i)
		}
		if _, err := decodeCommittable(b[:i]); err == nil {
			t.Errorf("cut at %d and not noticed", i)
		}
	}
}

func TestRowLog(t *testing.T) {
	dir := t.TempDir()
	l, err := createRowLog(dir, "x")
	if err != nil {
		t.Fatal(err)
	}
	part := &outPart{topicPartition: topicPartition{"t", 2}}
	b := &outBatch{}
	b.begin(nil, false)
	b.buf = append(b.buf, "v1"...)
	b.end(1000, false)
	b.begin([]byte("k"), true)
	b.end(900, false)
	b.recs[1].Headers = []*sarama.RecordHeader{{Key: []byte("h"), Value: nil}}
	b.seal()
	if err := l.add(part, b); err != nil {
		t.Fatal(err)
	}
	if err := l.finish(); err != nil {
		t.Fatal(err)
	}
	n := 0
	err = readRowLog(filepath.Join(dir, "x"), l.bytes, func(tp topicPartition, got *outBatch) error {
		n++
		if tp != part.topicPartition || len(got.ptrs) != 2 || string(got.ptrs[0].Value) != "v1" || got.ptrs[0].Key != nil ||
			string(got.ptrs[1].Key) != "k" || got.millis != 1000 || got.latest != 1000 || got.ptrs[1].TimestampDelta != -100*time.Millisecond ||
			string(got.ptrs[1].Headers[0].Key) != "h" || got.ptrs[1].Headers[0].Value != nil {
			t.Errorf("frame %+v", got)
		}
		return nil
	})
	if err != nil || n != 1 {
		t.Fatalf("%d frames, %v", n, err)
	}
	text, _ := os.ReadFile(filepath.Join(dir, "x"))
	for i := range text {
		broken := slices.Clone(text)
		broken[i] ^= 1
		os.WriteFile(filepath.Join(dir, "y"), broken, 0o600)
		if err := readRowLog(filepath.Join(dir, "y"), l.bytes, func(topicPartition, *outBatch) error { return nil }); err == nil {
			t.Errorf("byte %d changed and not noticed", i)
		}
	}
}
