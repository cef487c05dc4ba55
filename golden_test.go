package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"runnel/internal/testkit"
	"runnel/sql"
)

// goldenQueries has a query for each form of state, behind the settings that it needs.
var goldenQueries = []struct{ name, sql string }{
	{"aggregate", "SELECT k, SUM(v), COUNT(*), MIN(v), AVG(x), COUNT(DISTINCT x), FIRST_VALUE(v) FROM t GROUP BY k"},
	{"aggregate-retract", "SELECT k, SUM(v), COUNT(*), MIN(v), LAST_VALUE(id), LISTAGG(CAST(id AS STRING)), COUNT(DISTINCT v) FROM c GROUP BY k"},
	{"distinct", "SELECT DISTINCT k, v FROM c"},
	{"normalize", "SELECT * FROM u"},
	{"join", "SELECT t.k, t.v, c.v FROM t JOIN c ON t.k = c.k"},
	{"join-keys", "SELECT c.id, c.v, u.v FROM c JOIN u ON c.id = u.id"},
	{"join-full", "SELECT t.k, t.v, c.id, c.v FROM t FULL JOIN c ON t.k = c.k"},
	{"semi", "SELECT k, v FROM c WHERE k IN (SELECT k FROM t)"},
	{"anti", "SELECT k, v FROM t WHERE NOT EXISTS (SELECT 1 FROM c WHERE c.k = t.k)"},
	{"interval-join", "SELECT w.k, w.v, o.v FROM w FULL JOIN o ON w.k = o.k AND o.ts BETWEEN w.ts AND w.ts + INTERVAL '5' SECOND"},
	{"temporal-join", "SELECT w.k, w.v, m.v FROM w LEFT JOIN m FOR SYSTEM_TIME AS OF w.ts ON w.k = m.k"},
	{"tumble", "SELECT k, window_start, SUM(v), COUNT(DISTINCT v) FROM TABLE(TUMBLE(TABLE w, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end"},
	{"hop", "SELECT window_start, MAX(v), COUNT(*) FROM TABLE(HOP(TABLE w, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND)) GROUP BY window_start, window_end"},
	{"cumulate", "SELECT k, window_end, SUM(v) FROM TABLE(CUMULATE(TABLE w, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '20' SECOND)) GROUP BY k, window_start, window_end"},
	{"session", "SELECT k, window_start, window_end, SUM(v) FROM TABLE(SESSION(TABLE w PARTITION BY k, DESCRIPTOR(ts), INTERVAL '4' SECOND)) GROUP BY k, window_start, window_end"},
	{"window-join", "SELECT l.k, l.v, r.v FROM (SELECT * FROM TABLE(TUMBLE(TABLE w, DESCRIPTOR(ts), INTERVAL '10' SECOND))) AS l " +
		"FULL JOIN (SELECT * FROM TABLE(TUMBLE(TABLE o, DESCRIPTOR(ts), INTERVAL '10' SECOND))) AS r " +
		"ON l.k = r.k AND l.window_start = r.window_start AND l.window_end = r.window_end"},
	{"window-rank", "SELECT k, v, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY v DESC) AS n FROM " +
		"TABLE(TUMBLE(TABLE w, DESCRIPTOR(ts), INTERVAL '10' SECOND))) WHERE n <= 2"},
	{"over-range", "SELECT k, v, SUM(v) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '10' SECOND PRECEDING AND CURRENT ROW) FROM w"},
	{"over-rows", "SELECT k, v, COUNT(*) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) FROM w"},
	{"top-append", "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC) AS n FROM t) WHERE n <= 2"},
	{"top-first", "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC) AS n FROM t) WHERE n = 1"},
	{"top-retract", "SELECT id, v, n FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY v DESC) AS n FROM c) WHERE n <= 2"},
	{"top-update", "SELECT k, n, r FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY n DESC) AS r FROM (SELECT k, COUNT(*) AS n FROM t GROUP BY k)) WHERE r <= 2"},
	{"first-row", "SELECT k, v, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS n FROM w) WHERE n = 1"},
	{"last-row", "SELECT k, v, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS n FROM w) WHERE n = 1"},
	{"first-row-proctime", "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY pt) AS n FROM tp) WHERE n = 1"},
	{"last-row-proctime", "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY pt DESC) AS n FROM tp) WHERE n = 1"},
	{"sort", "SELECT k, v, ts FROM w ORDER BY ts"},
	{"limit", "SELECT k, v FROM t LIMIT 8"},
	{"except-all", "SELECT k FROM t EXCEPT ALL SELECT k FROM c"},
	{"match", "SELECT * FROM w MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.v AS av, SUM(B.v) AS bs, LAST(C.ts) AS ct " +
		"AFTER MATCH SKIP TO NEXT ROW PATTERN (A B{1,2} C) WITHIN INTERVAL '30' SECOND DEFINE B AS B.v > A.v AND B.v < 8, C AS C.v > LAST(B.v) + 1)"},
	{"session-rows", "SELECT k, v, window_start, window_end FROM TABLE(SESSION(TABLE w PARTITION BY k, DESCRIPTOR(ts), INTERVAL '4' SECOND))"},
	{"tumble-legacy", "SELECT k, TUMBLE_START(ts, INTERVAL '10' SECOND), SUM(v) FROM w GROUP BY k, TUMBLE(ts, INTERVAL '10' SECOND)"},
	{"session-legacy", "SELECT k, SESSION_END(ts, INTERVAL '4' SECOND), SUM(v) FROM w GROUP BY k, SESSION(ts, INTERVAL '4' SECOND)"},
	{"window-last-row", "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, k ORDER BY ts DESC) AS n FROM " +
		"TABLE(TUMBLE(TABLE w, DESCRIPTOR(ts), INTERVAL '10' SECOND))) WHERE n = 1"},
	{"grouping-sets", "SELECT k, v, COUNT(*) FROM c GROUP BY GROUPING SETS ((k), (v))"},
	{"materialize", "INSERT INTO by_k SELECT k, id, v FROM c"},
	{"lookup-keyed", "SET 'table.optimizer.non-deterministic-update.strategy' = 'TRY_RESOLVE'; " +
		"SELECT x.id, d.v FROM (SELECT id, k, PROCTIME() AS pt FROM u) AS x LEFT JOIN t FOR SYSTEM_TIME AS OF x.pt AS d ON x.k = d.k"},
	{"mini-batch-aggregate", miniBatch + "SELECT k, SUM(v), COUNT(DISTINCT v) FROM c GROUP BY k"},
	{"mini-batch-local", miniBatch + "SET 'table.optimizer.agg-phase-strategy' = 'TWO_PHASE'; SELECT k, SUM(v), COUNT(*), MAX(v) FROM t GROUP BY k"},
	{"mini-batch-split", miniBatch + "SET 'table.optimizer.distinct-agg.split.enabled' = 'true'; SELECT k, COUNT(DISTINCT v) FROM t GROUP BY k"},
	{"mini-batch-join", miniBatch + "SELECT t.k, t.v, c.id, c.v FROM t LEFT JOIN c ON t.k = c.k"},
	{"mini-batch-last-row", miniBatch + "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY pt DESC) AS n FROM tp) WHERE n = 1"},
	{"tumble-early", "SET 'table.exec.emit.early-fire.enabled' = 'true'; SET 'table.exec.emit.early-fire.delay' = '0 s'; " +
		"SET 'table.exec.emit.late-fire.enabled' = 'true'; SET 'table.exec.emit.late-fire.delay' = '0 s'; SET 'table.exec.emit.allow-lateness' = '10 s'; " +
		"SELECT k, TUMBLE_END(ts, INTERVAL '10' SECOND), SUM(v) FROM w GROUP BY k, TUMBLE(ts, INTERVAL '10' SECOND)"},
	{"over-ttl", "SET 'table.exec.state.ttl' = '1 d'; SELECT k, v, SUM(v) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) FROM w"},
	{"temporal-join-ttl", "SET 'table.exec.state.ttl' = '1 d'; SELECT w.k, w.v, m.v FROM w LEFT JOIN m FOR SYSTEM_TIME AS OF w.ts ON w.k = m.k"},
	{"mini-batch-normalize", miniBatch + "SELECT * FROM u"},
}

// miniBatch is in front of queries whose operators bundle rows.
const miniBatch = "SET 'table.exec.mini-batch.enabled' = 'true'; SET 'table.exec.mini-batch.allow-latency' = '1 h'; SET 'table.exec.mini-batch.size' = '2'; "

// TestGoldenState restores savepoints that lie in testdata/golden and goes on from them: what comes out behind the restore
// must be what came out when they were written. A change of a codec, of a descriptor or of the names by which state is found
// shows here; RUNNEL_UPDATE=1 writes the savepoints anew, after which older ones no longer restore.
func TestGoldenState(t *testing.T) {
	tables, err := testkit.LoadScript("testdata/golden/tables.test")
	if err != nil {
		t.Fatal(err)
	}
	write := os.Getenv("RUNNEL_UPDATE") != ""
	for _, q := range goldenQueries {
		t.Run(q.name, func(t *testing.T) {
			steps := slices.Clone(tables.Steps)
			for _, piece := range sql.SplitAll(q.sql) {
				steps = append(steps, testkit.Step{SQL: piece.Text})
			}
			test := testkit.Test{Script: &testkit.Script{Name: q.name, Steps: steps}, At: len(steps) - 1}
			dir := filepath.Join("testdata/golden", q.name)
			got, err := testkit.Continue(test, testkit.Setting{Dir: scratch(t), Formats: formatTable}, dir, write)
			if err != nil {
				t.Fatal(errorText(err))
			}
			var b strings.Builder
			for _, c := range got {
				b.WriteString(c.Line() + "\n")
			}
			file := dir + ".txt"
			if write {
				if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			came, want := b.String(), contents(t, file)
			if strings.Contains(q.sql, " JOIN ") { // which of two inputs ends first is open
				came, want = sortedLines(came), sortedLines(want)
			}
			if came != want {
				t.Errorf("behind the restore came\n%s\nwant\n%s", came, want)
			}
		})
	}
}

func sortedLines(text string) string {
	return strings.Join(slices.Sorted(strings.Lines(text)), "")
}

// TestRestoreNullability restores state of columns that were NOT NULL into the same query over columns that may be NULL; the
// other way is refused.
func TestRestoreNullability(t *testing.T) {
	load := func(null string) *testkit.Script {
		path := filepath.Join(t.TempDir(), "tables.test")
		text := strings.ReplaceAll(nullability, " NOT NULL", null)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		s, err := testkit.LoadScript(path)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	run := func(null, query, dir string, write bool) (string, error) {
		s := load(null)
		s.Steps = append(s.Steps, testkit.Step{SQL: query})
		got, err := testkit.Continue(testkit.Test{Script: s, At: len(s.Steps) - 1}, testkit.Setting{Dir: scratch(t), Formats: formatTable}, dir, write)
		var b strings.Builder
		for _, c := range got {
			b.WriteString(c.Line() + "\n")
		}
		return b.String(), err
	}
	for _, query := range []string{
		"SELECT k, SUM(v), MAX(v), COUNT(DISTINCT v), LISTAGG(k), ARRAY_AGG(v) FROM c GROUP BY k",
		"SELECT c.k, c.v, d.w FROM c LEFT JOIN d ON c.k = d.k",
		"SELECT k, v, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC) AS n FROM c) WHERE n <= 2",
		"SELECT DISTINCT k, r FROM c",
	} {
		dir := filepath.Join(t.TempDir(), "savepoint")
		want, err := run(" NOT NULL", query, dir, true)
		if err != nil || want == "" {
			t.Fatalf("%s: %q, %v", query, want, err)
		}
		if got, err := run("", query, dir, false); err != nil || got != want {
			t.Errorf("%s: with NULLs comes\n%s, %v\nwant\n%s", query, got, err, want)
		}
		if _, err := run("", query, dir, true); err != nil {
			t.Fatal(query, err)
		}
		if _, err := run(" NOT NULL", query, dir, false); err == nil || !strings.Contains(errorText(err), "does not fit") {
			t.Errorf("%s: state that may hold NULLs restores as NOT NULL: %v", query, err)
		}
	}
}

// nullability are the tables of TestRestoreNullability.
const nullability = `
CREATE TABLE c (k STRING NOT NULL, v INT NOT NULL, r ROW<x INT NOT NULL> NOT NULL) WITH ('connector' = 'rows', 'splits' = '1', 'changelog-mode' = 'I,UB,UA,D');

CREATE TABLE d (k STRING NOT NULL, w INT NOT NULL) WITH ('connector' = 'rows', 'splits' = '1');

rows d
+I a 1
+I b 2

rows c
+I a 1 '{"x":1}'
+I b 2 '{"x":2}'
+I a 3 '{"x":1}'

rows c
-D a 1 '{"x":1}'
-U b 2 '{"x":2}'
+U a 2 '{"x":3}'
+I b 5 '{"x":2}'

rows d
+I b 3
`
