package plan

import (
	"path/filepath"
	"strings"
	"testing"

	"runnel/sql"
)

// testdata/split has what EXPLAIN CHANGELOG_MODE of a real Flink shows of aggregates that are split.
func TestSplitDistinctPlans(t *testing.T) {
	files, err := filepath.Glob("testdata/split/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatal("no plans", err)
	}
	for _, f := range files {
		s := newSession(t)
		s.must("CREATE TABLE t (k STRING, v INT, ts TIMESTAMP(3), pt AS PROCTIME(), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND) WITH ('connector' = 'filesystem', 'path' = 'x', 'format' = 'json')")
		pieces := sql.SplitAll(readFile(t, f))
		for _, p := range pieces[:len(pieces)-1] {
			s.must(p.Text)
		}
		stmt, err := sql.Parse(pieces[len(pieces)-1].Text)
		if err != nil {
			t.Fatal(err)
		}
		x := &explanation{}
		if err := x.plan(s.pl, stmt); err != nil {
			t.Fatal(err)
		}
		want := readFile(t, strings.TrimSuffix(f, ".sql")+".txt")
		if got, want := canonicalText(withModes(x.graph), false), canonicalText(want, false); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", f, got, want)
		}
	}
}

// An aggregate that cannot be put together from parts, or has no bucket to be spread by, stays whole.
func TestSplitDistinctKeepsWhole(t *testing.T) {
	s := newSession(t)
	s.must("CREATE TABLE t (k STRING, v INT, w INT NOT NULL) WITH ('connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'b', 'format' = 'json'); " +
		"SET 'table.optimizer.distinct-agg.split.enabled' = 'true'")
	for _, q := range []string{
		"SELECT k, COUNT(DISTINCT v), AVG(v) FROM t GROUP BY k", "SELECT k, COUNT(DISTINCT v), LAST_VALUE(v) FROM t GROUP BY k",
		"SELECT k, COUNT(DISTINCT k) FROM t GROUP BY k", "SELECT k, COUNT(v) FROM t GROUP BY k", "SELECT DISTINCT k FROM t",
		"SELECT k, COUNT(DISTINCT v), COUNT(DISTINCT w), SUM(w) FROM t GROUP BY k", "SELECT k, COUNT(DISTINCT v), MIN(w) FROM t GROUP BY k",
	} {
		if text := withModes(s.must(q)); strings.Contains(text, "partialFinalType") {
			t.Errorf("%s is split:\n%s", q, text)
		}
	}
}
