package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestStopJob stops jobs by statements: with a savepoint, without, and what is no job.
func TestStopJob(t *testing.T) {
	s := recordingSession(t)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	dir := t.TempDir()
	one := func(text string) (cells []string, jobID string) {
		t.Helper()
		res, err := s.Execute(ctx, text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if res.Rows != nil {
			defer res.Rows.Close()
			rows, err := readRows(ctx, res)
			if err != nil || len(rows) == 0 {
				t.Fatalf("%s: %v, %v", text, rows, err)
			}
			cells = rows[0]
		}
		return cells, res.JobID
	}
	one("CREATE TABLE src (id BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '10')")
	one("CREATE TABLE snk (n BIGINT) WITH ('connector' = 'blackhole')")
	one("SET 'execution.checkpointing.savepoint-dir' = '" + dir + "'")
	_, first := one("INSERT INTO snk SELECT COUNT(*) FROM src")
	if job, _ := one("DESCRIBE JOB '" + first + "'"); job[0] != first || job[1] != "insert-into_default_catalog.default_database.snk" {
		t.Errorf("described as %q", job)
	}
	for job, _ := one("DESCRIBE JOB '" + first + "'"); job[2] != "RUNNING"; job, _ = one("DESCRIBE JOB '" + first + "'") {
		time.Sleep(5 * time.Millisecond) // until then there is nothing to save
	}
	path, _ := one("STOP JOB '" + first + "' WITH SAVEPOINT WITH DRAIN")
	if !strings.HasPrefix(path[0], dir) && !strings.HasPrefix(path[0], "file:"+dir) {
		t.Errorf("the savepoint went to %s", path)
	}
	if _, err := os.Stat(filepath.Join(strings.TrimPrefix(path[0], "file:"), "_metadata")); err != nil {
		t.Error(err)
	}
	_, second := one("INSERT INTO snk SELECT COUNT(*) FROM src")
	one("STOP JOB '" + second + "'")
	if job, _ := one("DESCRIBE JOB '" + second + "'"); job[2] != "CANCELED" {
		t.Errorf("described as %q", job)
	}
	for text, want := range map[string]string{
		"STOP JOB '00000000000000000000000000000000'": "org.apache.flink.runtime.messages.FlinkJobNotFoundException: Could not find Flink job (00000000000000000000000000000000)",
		"STOP JOB 'zz' WITH SAVEPOINT":                `java.lang.NumberFormatException: For input string: "zz" under radix 16`,
	} {
		if _, err := s.Execute(ctx, text); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
