package session

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"runnel/catalog"
	"runnel/connectors"
	"runnel/connectors/blackhole"
	"runnel/connectors/datagen"
	"runnel/exec"
)

// TestStopJob: STOP JOB in all its forms, and what becomes of the job.
func TestStopJob(t *testing.T) {
	dir := t.TempDir()
	cluster := exec.New(exec.Options{Slots: 4, Dir: dir})
	t.Cleanup(func() {
		if err := cluster.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	s := New(Options{
		Catalog: catalog.New(), Config: catalog.NewConfig(), Connectors: []connectors.Connector{datagen.Connector(), blackhole.Connector()},
		Cluster: func() (*exec.Cluster, error) { return cluster, nil },
	})
	do := func(text string) (*Result, error) { return s.Execute(context.Background(), text) }
	must := func(text string) *Result {
		t.Helper()
		r, err := do(text)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	must("CREATE TABLE src (k INT) WITH ('connector' = 'datagen')")
	must("CREATE TABLE snk (k INT) WITH ('connector' = 'blackhole')")
	start := func() *exec.Job {
		t.Helper()
		j, ok := cluster.Job(must("INSERT INTO snk SELECT k FROM src").JobID)
		if !ok {
			t.Fatal("no job")
		}
		for j.Details().Vertices[0].State != exec.TaskRunning {
			time.Sleep(time.Millisecond)
		}
		return j
	}
	fails := func(text, want string) {
		t.Helper()
		if _, err := do(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}

	j := start()
	fails("STOP JOB '"+j.ID()+"' WITH SAVEPOINT", "savepoint-dir")
	must("SET 'execution.checkpointing.savepoint-dir' = '" + dir + "/sp'")
	for _, how := range []string{" WITH SAVEPOINT", " WITH SAVEPOINT WITH DRAIN"} {
		r := must("STOP JOB '" + j.ID() + "'" + how)
		path := text(t, r)
		if !strings.HasPrefix(path, filepath.Join(dir, "sp", "savepoint-")) || r.Fields[0].Name != "savepoint path" {
			t.Errorf("%s: %s", how, path)
		}
		if _, err := os.Stat(filepath.Join(path, "_metadata")); err != nil {
			t.Error(err)
		}
		if j.State() != exec.JobFinished {
			t.Errorf("%s: %s", how, j.State())
		}
		j = start()
	}
	must("STOP JOB '" + j.ID() + "'")
	if j.State() != exec.JobCanceled {
		t.Errorf("without a savepoint: %s", j.State())
	}
	fails("STOP JOB '"+j.ID()+"' WITH SAVEPOINT", "is CANCELED; there is nothing left to do")
	fails("STOP JOB '00000000000000000000000000000000'", "org.apache.flink.runtime.messages.FlinkJobNotFoundException: Could not find Flink job (00000000000000000000000000000000)")
	fails("STOP JOB 'zz' WITH SAVEPOINT", `java.lang.NumberFormatException: For input string: "zz" under radix 16`)
	fails("STOP JOB 'x' WITH DRAIN", "WITH DRAIN could only be used after WITH SAVEPOINT")
}

// text gives the one value of an answer.
func text(t *testing.T, r *Result) string {
	t.Helper()
	b, err := r.Rows.Next(context.Background())
	if err != nil || b.Rows() != 1 {
		t.Fatalf("%v, %v", b, err)
	}
	return b.Cols[0].Str[b.Row(0)]
}
