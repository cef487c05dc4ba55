package filesystem

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"runnel/connectors"
	"runnel/types"
)

// sinkRig writes rows to a table partitioned by day, and commits.
type sinkRig struct {
	t    *testing.T
	tab  *connectors.Table
	sink *connectors.Sink
	now  time.Time
	n    int64
	com  connectors.Committer
	w    connectors.Writer
}

func newSinkRig(t *testing.T, partitioned bool, options ...string) *sinkRig {
	t.Helper()
	r := &sinkRig{t: t, now: time.Now()}
	r.tab = testTable(t.TempDir(), connectors.Column{Name: "day", Type: types.String()})
	if partitioned {
		r.tab.Partition = []string{"day"}
	}
	for i := 0; i < len(options); i += 2 {
		r.tab.Options[options[i]] = options[i+1]
	}
	var err error
	if r.sink, err = connector().Sink(connectors.SinkRequest{Table: r.tab, Columns: []int{0, 1}, Query: types.InsertOnly}); err != nil {
		t.Fatal(err)
	}
	return r
}

// start opens committer and writer of a run; prior are those that it was restored from.
func (r *sinkRig) start(run string, bounded bool, prior ...string) {
	r.t.Helper()
	env := connectors.SinkEnv{Env: connectors.Env{Now: func() time.Time { return r.now }, Of: 1}, Run: run, PriorRuns: prior, Bounded: bounded}
	var err error
	if r.com, err = r.sink.Committer(env); err != nil {
		r.t.Fatal(err)
	}
	if err := r.com.Recover(context.Background(), nil); err != nil {
		r.t.Fatal(err)
	}
	if r.w, err = r.sink.Open(context.Background(), env); err != nil {
		r.t.Fatal(err)
	}
}

func (r *sinkRig) put(days ...string) {
	r.t.Helper()
	b := types.NewBatch(r.tab.Physical())
	for _, d := range days {
		b.Cols[0].AppendStr("word")
		b.Cols[1].AppendStr(d)
		b.Push(types.Insert)
	}
	if err := r.w.Write(context.Background(), b); err != nil {
		r.t.Fatal(err)
	}
}

func (r *sinkRig) checkpoint() {
	r.t.Helper()
	r.n++
	coms, _, err := r.w.Prepare(context.Background(), r.n)
	if err == nil {
		err = r.com.Commit(context.Background(), r.n, coms)
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// files lists the visible files below the table's folder, part files as "part".
func (r *sinkRig) files() string {
	var all []string
	filepath.WalkDir(r.tab.Options["path"], func(p string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !strings.HasPrefix(d.Name(), ".") {
			name, _ := filepath.Rel(r.tab.Options["path"], p)
			if strings.HasPrefix(d.Name(), "part-") {
				name = filepath.Join(filepath.Dir(name), "part")
			}
			all = append(all, name)
		}
		return nil
	})
	return strings.Join(all, " ")
}

func (r *sinkRig) want(files string) {
	r.t.Helper()
	if got := r.files(); got != files {
		r.t.Errorf("files %s, want %s", got, files)
	}
}

// TestSuccessFile: a partition gets its file with the checkpoint that makes its rows visible.
func TestSuccessFile(t *testing.T) {
	r := newSinkRig(t, true, "sink.partition-commit.policy.kind", "success-file", "sink.partition-commit.success-file.name", "_DONE")
	r.start("r1", false)
	r.put("a", "b", "a")
	r.want("")
	r.checkpoint()
	r.want("day=a/_DONE day=a/part day=b/_DONE day=b/part")
	if rows, err := scanAll(t, r.tab); err != nil || len(rows) != 3 {
		t.Errorf("the file is read: %v, %v", rows, err)
	}
	plain := newSinkRig(t, false, "sink.partition-commit.policy.kind", "success-file")
	plain.start("r1", false)
	plain.put("a")
	plain.checkpoint()
	plain.want("part") // nothing is partitioned
	without := newSinkRig(t, true)
	without.start("r1", false)
	without.put("a")
	without.checkpoint()
	without.want("day=a/part")
}

// TestSuccessFileDelay: the delay counts from the first row of a partition, over restarts too; late rows begin it anew; a
// bounded job does not wait.
func TestSuccessFileDelay(t *testing.T) {
	options := []string{"sink.partition-commit.policy.kind", "success-file", "sink.partition-commit.delay", "1 h"}
	r := newSinkRig(t, true, options...)
	r.start("r1", false)
	r.put("a")
	r.checkpoint()
	r.now = r.now.Add(30 * time.Minute)
	r.put("a", "b")
	r.checkpoint()
	r.want("day=a/part day=a/part day=b/part")
	late, _ := filepath.Glob(r.tab.Options["path"] + "/day=b/part-*")
	if err := os.Chtimes(late[0], r.now, r.now); err != nil { // the clock of the machine has not moved
		t.Fatal(err)
	}
	r.start("r2", false, "r1") // a restart
	r.now = r.now.Add(29 * time.Minute)
	r.checkpoint()
	r.want("day=a/part day=a/part day=b/part")
	r.now = r.now.Add(2 * time.Minute)
	r.checkpoint()
	r.want("day=a/_SUCCESS day=a/part day=a/part day=b/part")

	bounded := newSinkRig(t, true, options...)
	bounded.start("r1", true)
	bounded.put("a")
	bounded.checkpoint()
	bounded.want("day=a/_SUCCESS day=a/part")
}

// TestSinkOptions: what a sink refuses, and says so.
func TestSinkOptions(t *testing.T) {
	for _, c := range []struct{ key, value, want string }{
		{"sink.partition-commit.trigger", "partition-time", "'partition-time' is not supported, as sinks do not see the watermark: use process-time"},
		{"sink.partition-commit.trigger", "some-time", "Expected one of: [[process-time, partition-time]]"},
		{"sink.partition-commit.policy.kind", "metastore,success-file", "Can not configure a 'metastore' partition commit policy for a file system table."},
		{"sink.partition-commit.policy.kind", "custom", "no classes are loaded; success-file is there"},
		{"sink.partition-commit.success-file.name", "../x", ""},
		{"sink.rolling-policy.rollover-interval", "soon", "soon"},
		{"sink.rolling-policy.rollover-interval", "30 min", ""},
		{"sink.rolling-policy.check-interval", "1 min", ""},
		{"sink.rolling-policy.inactivity-interval", "1 min", ""},
	} {
		tab := testTable(t.TempDir())
		tab.Options[c.key] = c.value
		_, err := connector().Sink(connectors.SinkRequest{Table: tab, Columns: []int{0}, Query: types.InsertOnly})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s = %s: %v, want %q", c.key, c.value, err, c.want)
		}
	}
	tab := testTable(t.TempDir())
	tab.Options["sink.partition-commit.policy.kind"], tab.Options["sink.partition-commit.success-file.name"] = "success-file", "../x"
	if _, err := connector().Sink(connectors.SinkRequest{Table: tab, Columns: []int{0}, Query: types.InsertOnly}); err == nil || !strings.Contains(err.Error(), "is no file name") {
		t.Errorf("a path in place of a name: %v", err)
	}
}

// TestRolling: a part file that has reached its size is closed, and the next rows go to another.
func TestRolling(t *testing.T) {
	r := newSinkRig(t, true, "sink.rolling-policy.file-size", "12b")
	r.start("r1", false)
	for range 5 {
		r.put("a") // 5 bytes
	}
	r.put("b")
	r.checkpoint()
	r.want("day=a/part day=a/part day=b/part")
	if rows, err := scanAll(t, r.tab); err != nil || len(rows) != 6 {
		t.Errorf("rows %v, %v", rows, err)
	}
}
