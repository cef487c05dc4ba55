package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"runnel/internal/testkit"
)

// goldenQueries has a query for each form of state.
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
	{"top-retract", "SELECT id, v, n FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY v DESC) AS n FROM c) WHERE n <= 2"},
	{"top-update", "SELECT k, n, r FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY n DESC) AS r FROM (SELECT k, COUNT(*) AS n FROM t GROUP BY k)) WHERE r <= 2"},
	{"first-row", "SELECT k, v, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS n FROM w) WHERE n = 1"},
	{"last-row", "SELECT k, v, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS n FROM w) WHERE n = 1"},
	{"first-row-proctime", "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY pt) AS n FROM tp) WHERE n = 1"},
	{"last-row-proctime", "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY pt DESC) AS n FROM tp) WHERE n = 1"},
	{"sort", "SELECT k, v, ts FROM w ORDER BY ts"},
	{"limit", "SELECT k, v FROM t LIMIT 8"},
	{"except-all", "SELECT k FROM t EXCEPT ALL SELECT k FROM c"},
}

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
			steps := append(tables.Steps[:len(tables.Steps):len(tables.Steps)], testkit.Step{SQL: q.sql})
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
			if want := contents(t, file); b.String() != want {
				t.Errorf("behind the restore came\n%s\nwant\n%s", b.String(), want)
			}
		})
	}
}
