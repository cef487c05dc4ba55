package plan

import (
	"strings"
	"testing"
)

// TestNullableResults holds the types of columns that a real Flink 1.20.5 gave: an aggregate of a column that is NOT NULL
// is so too where every group has a row that counts.
func TestNullableResults(t *testing.T) {
	const tables = `CREATE TABLE t (k STRING NOT NULL, n INT NOT NULL, s STRING NOT NULL, d DECIMAL(10, 2) NOT NULL, o INT, ts TIMESTAMP(3) NOT NULL, WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen');
CREATE TABLE c (id BIGINT, n INT) WITH ('connector' = 'datagen');
`
	for _, q := range []struct{ query, want string }{
		{"SELECT SUM(n), MIN(n), AVG(n), FIRST_VALUE(n), LAST_VALUE(s), STDDEV_POP(n), SUM(DISTINCT n), SUM(d), AVG(d), MAX(o) FROM t GROUP BY k",
			"INT NOT NULL, INT NOT NULL, INT NOT NULL, INT NOT NULL, STRING NOT NULL, INT NOT NULL, INT NOT NULL, DECIMAL(38, 2) NOT NULL, DECIMAL(38, 6) NOT NULL, INT"},
		{"SELECT SUM(n), MIN(s), AVG(d), COUNT(n) FROM t", "INT, STRING, DECIMAL(38, 6), BIGINT NOT NULL"},
		{"SELECT SUM(n) FILTER (WHERE k = 'a'), LAST_VALUE(s) FILTER (WHERE k = 'a') FROM t GROUP BY k", "INT, STRING"},
		{"SELECT k, n, SUM(n) FROM t GROUP BY GROUPING SETS ((k, n), (k))", "STRING NOT NULL, INT, INT NOT NULL"},
		{"SELECT window_start, k, MAX(n) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '5' SECOND)) GROUP BY window_start, window_end, CUBE (k)",
			"TIMESTAMP(3) NOT NULL, STRING, INT NOT NULL"},
		{"SELECT TUMBLE_END(ts, INTERVAL '5' SECOND), TUMBLE_ROWTIME(ts, INTERVAL '5' SECOND), MAX(n) FROM t GROUP BY TUMBLE(ts, INTERVAL '5' SECOND)",
			"TIMESTAMP(3) NOT NULL, TIMESTAMP(3), INT NOT NULL"},
		{"SELECT SUM(n) OVER (ORDER BY ts), MAX(s) OVER (ORDER BY ts), SUM(o) OVER (ORDER BY ts) FROM t", "INT NOT NULL, STRING NOT NULL, INT"},
		{"SELECT n FROM t INTERSECT SELECT n FROM c", "INT"},
		{"SELECT n FROM t EXCEPT SELECT o FROM t", "INT"},
	} {
		var types []string
		for _, f := range newSession(t).must(tables + q.query).Sinks[0].Base().Fields {
			types = append(types, f.Type.Plain().String())
		}
		if got := strings.Join(types, ", "); got != q.want {
			t.Errorf("%s\n%s\nwant %s", q.query, got, q.want)
		}
	}
}
