package plan

import (
	"strings"
	"testing"
)

const ordersDDL = `CREATE TABLE orders (id BIGINT, cust BIGINT, item STRING, qty INT, price DECIMAL(10, 2), ts TIMESTAMP(3),
	WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'datagen');
CREATE TABLE p (k BIGINT, c BIGINT) WITH ('connector' = 'print');`

// plain draws the operators of a graph without their texts.
func plain(n Node) string {
	var b strings.Builder
	drawTree(&b, n, "", "", func(n Node) string { return n.Base().Kind + " " + n.Base().Mode.String() })
	return b.String()
}

func TestFirstPath(t *testing.T) {
	tests := []struct{ sql, want, job string }{
		{"SELECT id, item,\n qty * 2 AS q2 FROM orders WHERE qty > 3;", `Sink I
+- Calc I
   +- WatermarkAssigner I
      +- TableSourceScan I
`, "SELECT id, item, qty * 2 AS q2 FROM orders WHERE qty > 3"},
		{"INSERT INTO p SELECT cust, COUNT(*) FROM orders GROUP BY cust", `Sink I,UB,UA
+- GroupAggregate I,UB,UA
   +- Exchange I
      +- Calc I
         +- WatermarkAssigner I
            +- TableSourceScan I
`, "insert-into_default_catalog.default_database.p"},
		{"SELECT * FROM (VALUES (1, 'a'), (2, 'bb')) AS v(n, s) WHERE n > 1", "Sink I\n+- Calc I\n   +- Values I\n",
			"SELECT * FROM (VALUES (1, 'a'), (2, 'bb')) AS v(n, s) WHERE n > 1"},
	}
	for _, tt := range tests {
		s := newSession(t)
		s.must(ordersDDL)
		g, err := s.run(tt.sql)
		if err != nil {
			t.Errorf("%s: %v", tt.sql, err)
			continue
		}
		if got := plain(g.Sinks[0]); got != tt.want {
			t.Errorf("%s:\n%swant\n%s", tt.sql, got, tt.want)
		}
		if g.JobName != tt.job {
			t.Errorf("job name %q, want %q", g.JobName, tt.job)
		}
	}
}
