package plan

import (
	"cmp"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// repeated joins n parts made by f.
func repeated(n int, sep string, f func(int) string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = f(i)
	}
	return strings.Join(parts, sep)
}

// large are queries of a size; the time to plan them must grow about as the size.
var large = map[string]func(n int) (setup []string, query string){
	"joins": func(n int) ([]string, string) {
		return repeatedTables(n + 1), fmt.Sprintf("SELECT t0.b, t%d.b FROM t0 ", n) + repeated(n, " ", func(i int) string {
			return fmt.Sprintf("JOIN t%d ON t%d.a = t%d.a", i+1, i, i+1)
		})
	},
	"left joins": func(n int) ([]string, string) {
		return repeatedTables(n + 1), "SELECT t0.b, t1.b FROM t0 " + repeated(n, " ", func(i int) string {
			return fmt.Sprintf("LEFT JOIN t%d ON t0.a = t%d.a AND t%d.b > t0.b", i+1, i+1, i+1)
		}) + " WHERE t0.b > 5"
	},
	"joins in WHERE": func(n int) ([]string, string) {
		return repeatedTables(n + 1), "SELECT t0.b FROM " + repeated(n+1, ", ", func(i int) string { return fmt.Sprintf("t%d", i) }) +
			" WHERE " + repeated(n, " AND ", func(i int) string { return fmt.Sprintf("t%d.a = t%d.a", i, i+1) })
	},
	"columns": func(n int) ([]string, string) {
		return []string{"CREATE TABLE w (" + repeated(n, ", ", func(i int) string { return fmt.Sprintf("c%d INT", i) }) + ") WITH ('connector' = 'datagen')"},
			"SELECT * FROM w WHERE c0 > 1"
	},
	"computed columns": func(n int) ([]string, string) {
		return []string{"CREATE TABLE w (" + repeated(n, ", ", func(i int) string { return fmt.Sprintf("c%d INT, d%d AS c%d + 1", i, i, i) }) + ") WITH ('connector' = 'datagen')"},
			"SELECT " + repeated(n, ", ", func(i int) string { return fmt.Sprintf("d%d * c%d", i, i) }) + " FROM w"
	},
	"wide aggregate": func(n int) ([]string, string) {
		return []string{"CREATE TABLE w (" + repeated(n, ", ", func(i int) string { return fmt.Sprintf("c%d INT", i) }) + ") WITH ('connector' = 'datagen')"},
			"SELECT c0, " + repeated(n, ", ", func(i int) string { return fmt.Sprintf("SUM(c%d)", i) }) + " FROM w GROUP BY c0"
	},
	"wide joins": func(n int) ([]string, string) {
		cols := repeated(n, ", ", func(i int) string { return fmt.Sprintf("c%d INT", i) })
		return []string{"CREATE TABLE w (" + cols + ") WITH ('connector' = 'datagen')"},
			"SELECT * FROM w x JOIN w y ON x.c0 = y.c1 LEFT JOIN w z ON z.c1 = y.c2 AND z.c3 > x.c4 WHERE x.c5 + z.c6 > 3"
	},
	"wide keys": func(n int) ([]string, string) {
		cols := repeated(n, ", ", func(i int) string { return fmt.Sprintf("c%d INT", i) })
		return []string{"CREATE TABLE w (" + cols + ") WITH ('connector' = 'datagen')"}, "SELECT DISTINCT * FROM w"
	},
	"wide top-N": func(n int) ([]string, string) {
		cols := repeated(n, ", ", func(i int) string { return fmt.Sprintf("c%d INT", i) })
		return []string{"CREATE TABLE w (" + cols + ") WITH ('connector' = 'datagen')"},
			"SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY c0 ORDER BY c1) AS rn FROM w) WHERE rn <= 3"
	},
	"CASE": func(n int) ([]string, string) {
		return repeatedTables(1), "SELECT CASE " + repeated(n, " ", func(i int) string { return fmt.Sprintf("WHEN a = %d THEN 'v%d'", i, i) }) + " END FROM t0"
	},
	"IN": func(n int) ([]string, string) {
		return repeatedTables(1), "SELECT a FROM t0 WHERE a IN (" + repeated(n, ", ", func(i int) string { return fmt.Sprint(i * 7) }) + ")"
	},
	"NOT IN of expressions": func(n int) ([]string, string) {
		return repeatedTables(1), "SELECT a FROM t0 WHERE a NOT IN (" + repeated(n, ", ", func(i int) string { return fmt.Sprintf("b + %d", i) }) + ")"
	},
	"OR": func(n int) ([]string, string) {
		return repeatedTables(1), "SELECT a FROM t0 WHERE " + repeated(n, " OR ", func(i int) string { return fmt.Sprintf("(a = %d AND b > %d)", i, i) })
	},
	"AND": func(n int) ([]string, string) {
		return repeatedTables(1), "SELECT a FROM t0 WHERE " + repeated(n, " AND ", func(i int) string { return fmt.Sprintf("(a <> %d OR b > %d)", i, i) })
	},
	"sum of terms": func(n int) ([]string, string) {
		return repeatedTables(1), "SELECT " + repeated(n, " + ", func(i int) string { return fmt.Sprintf("a * %d", i+1) }) + " FROM t0"
	},
	"subqueries": func(n int) ([]string, string) {
		return repeatedTables(1), repeated(n, "", func(int) string { return "SELECT a, b + 1 AS b FROM (" }) + "SELECT * FROM t0" +
			repeated(n, "", func(int) string { return ") WHERE b > 0" })
	},
	"aggregates of subqueries": func(n int) ([]string, string) {
		return repeatedTables(1), repeated(n, "", func(int) string { return "SELECT a, SUM(b) AS b FROM (" }) + "SELECT * FROM t0" +
			repeated(n, "", func(int) string { return ") GROUP BY a" })
	},
	"IN subqueries": func(n int) ([]string, string) {
		return repeatedTables(1), repeated(n, "", func(int) string { return "SELECT a FROM t0 WHERE a IN (" }) + "SELECT b FROM t0" + strings.Repeat(")", n)
	},
	"UNION ALL": func(n int) ([]string, string) {
		return repeatedTables(1), repeated(n+1, " UNION ALL ", func(i int) string { return fmt.Sprintf("SELECT a + %d FROM t0", i) })
	},
	"WITH": func(n int) ([]string, string) {
		return repeatedTables(1), "WITH q0 AS (SELECT a, b FROM t0), " + repeated(n, ", ", func(i int) string {
			return fmt.Sprintf("q%d AS (SELECT a, b + 1 AS b FROM q%d)", i+1, i)
		}) + fmt.Sprintf(" SELECT * FROM q%d", n)
	},
	"views": func(n int) ([]string, string) {
		setup := repeatedTables(1)
		for i := range n {
			from := fmt.Sprintf("v%d", i)
			if i == 0 {
				from = "t0"
			}
			setup = append(setup, fmt.Sprintf("CREATE VIEW v%d AS SELECT a, b + 1 AS b FROM %s", i+1, from))
		}
		return setup, fmt.Sprintf("SELECT * FROM v%d", n)
	},
	"statement set": func(n int) ([]string, string) {
		setup := append(repeatedTables(1), "CREATE TABLE k (a INT, b BIGINT) WITH ('connector' = 'blackhole')")
		return setup, "EXECUTE STATEMENT SET BEGIN " + repeated(n, " ", func(i int) string {
			return fmt.Sprintf("INSERT INTO k SELECT a, COUNT(*) FROM t0 WHERE b > %d GROUP BY a;", i)
		}) + " END"
	},
}

func repeatedTables(n int) []string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf("CREATE TABLE t%d (a INT, b INT, c STRING) WITH ('connector' = 'datagen')", i))
	}
	return all
}

// sizeOf gives the size that must plan within a second.
func sizeOf(name string) int {
	sizes := map[string]int{"joins": 40, "left joins": 40, "joins in WHERE": 40, "columns": 2000, "computed columns": 2000,
		"wide aggregate": 2000, "wide joins": 2000, "wide keys": 2000, "wide top-N": 2000, "subqueries": 100,
		"aggregates of subqueries": 100, "IN subqueries": 50, "UNION ALL": 200, "WITH": 100, "views": 100, "statement set": 100}
	return cmp.Or(sizes[name], 500)
}

// planLarge plans a query of a size, and gives the bytes that this took: a measure of its steps that does not depend on
// the machine.
func planLarge(t testing.TB, name string, n int) (bytes uint64) {
	t.Helper()
	s := newSession(t)
	setup, query := large[name](n)
	for _, d := range setup {
		if _, err := s.run(d); err != nil {
			t.Fatal(err)
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	g, err := s.run(query)
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	if len(g.Nodes) < 2 {
		t.Fatalf("%d nodes", len(g.Nodes))
	}
	return after.TotalAlloc - before.TotalAlloc
}

// A query of twice the size takes about twice the steps, not four times as many.
func TestLargePlans(t *testing.T) {
	for name := range large {
		t.Run(name, func(t *testing.T) {
			n := sizeOf(name)
			small, whole := planLarge(t, name, n/2), planLarge(t, name, n)
			if f := float64(whole) / float64(small); f > 3 {
				t.Errorf("%d bytes for size %d, %d for %d: %.1f times as many", small, n/2, whole, n, f)
			}
		})
	}
}

func BenchmarkLargePlans(b *testing.B) {
	for _, name := range slices.Sorted(maps.Keys(large)) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				planLarge(b, name, sizeOf(name))
			}
		})
	}
}

// WITH queries that read the one before twice are refused before they fill the memory.
func TestTooManyQueries(t *testing.T) {
	s := newSession(t)
	s.must(repeatedTables(1)[0])
	text := "WITH q0 AS (SELECT a, b FROM t0), " + repeated(40, ", ", func(i int) string {
		return fmt.Sprintf("q%d AS (SELECT x.a, y.b FROM q%d x JOIN q%d y ON x.a = y.a)", i+1, i, i)
	}) + " SELECT * FROM q40"
	if _, err := s.run(text); err == nil || !strings.Contains(err.Error(), "more than 10000 queries") {
		t.Errorf("error %v", err)
	}
}

// What is nested too deep is refused, not planned for ever.
func TestNestedTooDeep(t *testing.T) {
	for _, name := range []string{"subqueries", "IN subqueries", "WITH", "views"} {
		s := newSession(t)
		setup, query := large[name](maxDepth + 1)
		var err error
		for _, d := range append(setup, query) {
			if _, err = s.run(d); err != nil {
				break
			}
		}
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("nested more than %d deep", maxDepth)) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
