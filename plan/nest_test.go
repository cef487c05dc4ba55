package plan

import (
	"strings"
	"testing"
)

// TestNestedFields: what a scan reads of ROW columns, where its connector can read single fields.
func TestNestedFields(t *testing.T) {
	const ddl = `CREATE TABLE ev (kind INT, a ROW<x INT, y ROW<z INT, w INT>, tm TIMESTAMP(3)>, b ROW<x INT>, b_x INT, ts AS a.tm,
	WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'x', 'topic' = 't', 'format' = 'json')`
	tests := []struct{ sql, fields string }{
		{"SELECT kind, ev.a.x FROM ev", "kind, a_x, a_tm"},
		{"SELECT ev.a.x, ev.a.x + 1 FROM ev WHERE ev.b.x > 1", "a_x, a_tm, b_x"},
		{"SELECT ev.a.y.z FROM ev", "a_y, a_tm"},
		{"SELECT ev.b.x, b_x FROM ev", "a_tm, b_x0, b_x"},
		{"SELECT ev.b.x, b FROM ev", "a_tm, b"},
		{"SELECT COUNT(*) FROM ev WHERE b IS NULL", "a_tm, b"},
		{"SELECT ev.b.x FROM ev UNION ALL SELECT ev.a.x FROM ev", "a_x, a_tm, b_x"},
		{"SELECT ev.b.x FROM ev UNION ALL SELECT o.b.x FROM ev AS o WHERE o.b IS NOT NULL", "a_tm, b"},
	}
	for _, nested := range []bool{true, false} {
		for _, tt := range tests {
			s := newSession(t)
			for i := range s.pl.Connectors {
				s.pl.Connectors[i].Nested = nested
			}
			s.must(ddl)
			g := s.must(tt.sql)
			scans := 0
			for _, n := range g.Nodes {
				scan, ok := n.(*Scan)
				if !ok {
					continue
				}
				scans++
				if got := names(scan.Fields); nested && got != tt.fields {
					t.Errorf("%s: reads %s, want %s", tt.sql, got, tt.fields)
				} else if !nested && strings.Contains(got, "a_") {
					t.Errorf("%s: reads %s of a connector that has no such fields", tt.sql, got)
				}
			}
			if scans != 1 {
				t.Errorf("%s: %d scans", tt.sql, scans)
			}
		}
	}
}

// TestRowtimesOfSink: time attributes count where they are left, which is not behind a regular join.
func TestRowtimesOfSink(t *testing.T) {
	const sink = "CREATE TABLE s (id BIGINT, t1 TIMESTAMP(3), t2 TIMESTAMP(3)) WITH ('connector' = 'print');"
	for sql, ok := range map[string]bool{
		"INSERT INTO s SELECT a.id, a.ts, b.ts FROM orders a JOIN orders b ON a.id = b.id":                                                                            true,
		"INSERT INTO s SELECT a.id, a.ts, b.ts FROM orders a JOIN orders b ON a.id = b.id AND a.ts BETWEEN b.ts - INTERVAL '1' SECOND AND b.ts":                       false,
		"INSERT INTO s SELECT a.id, a.ts, CAST(b.ts AS TIMESTAMP(3)) FROM orders a JOIN orders b ON a.id = b.id AND a.ts BETWEEN b.ts - INTERVAL '1' SECOND AND b.ts": true,
	} {
		_, err := newSession(t).script(ordersDDL + sink + sql)
		if ok != (err == nil) || err != nil && !strings.Contains(err.Error(), "more than one rowtime attribute column [ts, ts0]") {
			t.Errorf("%s: %v", sql, err)
		}
	}
}
