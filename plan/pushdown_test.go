package plan

import (
	"strings"
	"testing"

	"runnel/types"
)

const pushDDL = ordersDDL + `
CREATE TABLE g (a INT, b STRING) WITH ('connector' = 'datagen');
CREATE TABLE files (a INT) WITH ('connector' = 'filesystem', 'path' = '/x', 'format' = 'csv');
CREATE TABLE days (a INT, dt STRING, h INT) PARTITIONED BY (dt, h) WITH ('connector' = 'filesystem', 'path' = '/x', 'format' = 'csv');`

// TestPushDown: what scans are told of a LIMIT and of conditions over partitions, as EXPLAIN shows it.
func TestPushDown(t *testing.T) {
	for _, c := range []struct{ sql, want string }{
		{"SELECT * FROM g LIMIT 3", "g, limit=[3]"},
		{"SELECT * FROM g LIMIT 3 OFFSET 2", "g, limit=[5]"},
		{"SELECT * FROM files LIMIT 1", "files, limit=[1]"},
		{"SELECT * FROM days LIMIT 3", "days"},
		{"SELECT * FROM g WHERE a > 3 LIMIT 3", "g"},
		{"SELECT * FROM g WHERE a > 3", "g"},
		{"SELECT * FROM orders LIMIT 3", "orders"}, // its watermark is in between
		{"SELECT * FROM g ORDER BY a LIMIT 3", "g"},
		{"SELECT * FROM days WHERE dt = '2024-01-02'", "days, filter=[=(dt, '2024-01-02')]"},
		{"SELECT a FROM days WHERE dt > '2024-01-01' AND a > 1 AND h + 1 < 5", "days, filter=[AND(>(dt, '2024-01-01'), <(+(h, 1), 5))]"},
		{"SELECT a FROM days WHERE dt = 'x' OR a = 1", "days"},
		{"SELECT a FROM days WHERE h > RAND_INTEGER(5)", "days"},
		{"SELECT a FROM days WHERE dt = CAST(CURRENT_DATE AS STRING)", "days"},
	} {
		s := newSession(t)
		s.must(pushDDL)
		for _, n := range s.must(c.sql).Nodes {
			if scan, ok := n.(*Scan); ok {
				table, _, _ := strings.Cut(strings.TrimPrefix(scan.Desc, "TableSourceScan(table=[[default_catalog, default_database, "), "]], fields")
				compare(t, c.sql, table, c.want)
			}
		}
	}
}

// TestPushedFilter: which partitions are read; where the condition fails, the rows must fail, so they are.
func TestPushedFilter(t *testing.T) {
	for _, c := range []struct {
		where string
		dt    string
		h     int64
		want  bool
	}{
		{"dt = '2024-01-02'", "2024-01-02", 5, true},
		{"dt = '2024-01-02'", "2024-01-03", 5, false},
		{"dt >= '2024-01-02' AND h < 5 AND a > 7", "2024-01-03", 4, true},
		{"dt >= '2024-01-02' AND h < 5 AND a > 7", "2024-01-03", 5, false},
		{"h IS NULL", "2024-01-03", 5, false},
		{"CAST(dt AS INT) = 5", "2024-01-03", 5, true},
	} {
		s := newSession(t)
		s.must(pushDDL)
		for _, n := range s.must("SELECT a FROM days WHERE " + c.where).Nodes {
			scan, ok := n.(*Scan)
			if !ok {
				continue
			}
			req, err := scan.request((&planning{Planner: s.pl}).env())
			if err != nil {
				t.Fatal(err)
			}
			got := req.Keep(func(col int) (types.Datum, bool) {
				switch scan.Table.Columns[col].Name {
				case "dt":
					return types.StrDatum(c.dt), true
				case "h":
					return types.IntDatum(c.h), true
				}
				return types.Datum{}, false
			})
			if got != c.want {
				t.Errorf("%s: dt=%s, h=%d: %t, want %t", c.where, c.dt, c.h, got, c.want)
			}
		}
	}
}
