package plan

import (
	"fmt"
	"strings"
	"testing"
)

const sinksDDL = moreDDL + `
CREATE TABLE dbz (k BIGINT, v BIGINT) WITH ('connector' = 'kafka', 'topic' = 'd', 'properties.bootstrap.servers' = 'x', 'format' = 'debezium-json');
CREATE TABLE meta (a BIGINT, c AS a + 1, m TIMESTAMP_LTZ(3) METADATA FROM 'timestamp', o BIGINT METADATA FROM 'offset' VIRTUAL)
	WITH ('connector' = 'kafka', 'topic' = 'm', 'properties.bootstrap.servers' = 'x', 'format' = 'json');
CREATE TABLE par WITH ('sink.parallelism' = '0') LIKE p (OVERWRITING OPTIONS);
CREATE TABLE negative WITH ('sink.parallelism' = '-2') LIKE p (OVERWRITING OPTIONS);
CREATE TABLE word WITH ('sink.parallelism' = 'two') LIKE p (OVERWRITING OPTIONS);
CREATE TABLE b (k BIGINT, n BIGINT) WITH ('connector' = 'blackhole');
CREATE TABLE p2 WITH ('sink.parallelism' = '2') LIKE p (OVERWRITING OPTIONS);`

// TestSinkRefusals: bad degrees, and columns that a sink does not take.
func TestSinkRefusals(t *testing.T) {
	for _, tt := range []struct{ sql, want string }{
		{"INSERT INTO par VALUES (1, 2)", "Invalid configured parallelism 0 for table 'default_catalog.default_database.par'."},
		{"INSERT INTO negative VALUES (1, 2)", "Invalid configured parallelism -2 for table 'default_catalog.default_database.negative'."},
		{"INSERT INTO word VALUES (1, 2)", `For input string: "two"`},
		{"INSERT INTO p2 SELECT cust, COUNT(*) FROM k GROUP BY cust", "a primary key is required but could not be found."},
		{"INSERT INTO meta SELECT 1", "Query schema: [EXPR$0: INT NOT NULL]\nSink schema:  [a: BIGINT, m: TIMESTAMP_LTZ(3)]"},
		{"INSERT INTO meta (a, c) SELECT 1, 2", "Unknown target column 'c'"},
		{"INSERT INTO meta (a, o) SELECT 1, 2", "Unknown target column 'o'"},
	} {
		s := newSession(t)
		s.must(sinksDDL)
		if _, err := s.run(tt.sql); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.sql, err, tt.want)
		}
	}
}

// TestSinkColumns: computed columns and virtual metadata are no part of what a sink takes.
func TestSinkColumns(t *testing.T) {
	s := newSession(t)
	s.must(sinksDDL)
	g := s.must("INSERT INTO meta SELECT cust, CURRENT_TIMESTAMP FROM k")
	sink := g.Sinks[0].(*Sink)
	compare(t, "meta", names(sink.request.Fields()), "a, m")
}

// TestKeyedShuffle: when rows go to the subtasks of a sink by its key, as 'table.exec.sink.keyed-shuffle' says.
func TestKeyedShuffle(t *testing.T) {
	const updates, appends = " SELECT n, cust FROM (SELECT cust, COUNT(*) AS n FROM k GROUP BY cust)", " SELECT id, cust FROM k"
	for _, tt := range []struct {
		how, sql string
		want     bool
	}{
		{"AUTO", "INSERT INTO u" + updates, false},
		{"AUTO", "INSERT INTO u4" + updates, true},
		{"AUTO", "INSERT INTO u4" + appends, true},
		{"FORCE", "INSERT INTO u" + updates, true},
		{"FORCE", "INSERT INTO u4" + appends, true},
		{"FORCE", "INSERT INTO p" + appends, false}, // no key
		{"NONE", "INSERT INTO u4" + updates, false},
	} {
		s := newSession(t)
		s.must(sinksDDL)
		g := s.must("SET 'table.exec.sink.upsert-materialize' = 'NONE'; SET 'table.exec.sink.keyed-shuffle' = '" + tt.how + "'; " + tt.sql)
		x, ok := g.Sinks[0].Base().Inputs[0].(*Exchange)
		if byKey := ok && x.Dist == HashKeys && fmt.Sprint(x.Keys) == "[0]"; byKey != tt.want {
			t.Errorf("%s: %s: by key %t, want %t", tt.how, tt.sql, byKey, tt.want)
		}
	}
}

// TestUnionModes: where one input cannot do without the old rows, the union asks all of them for these.
func TestUnionModes(t *testing.T) {
	const counts = "SELECT cust, COUNT(*) FROM k GROUP BY cust"
	for _, tt := range []struct{ other, want string }{
		{"SELECT k, COUNT(*) FROM dbz GROUP BY k", "Union I,UA,D; GroupAggregate I,UA; GroupAggregate I,UA,D"},
		{"SELECT k, COUNT(*) AS n FROM dbz GROUP BY k HAVING COUNT(*) > 1", "Union I,UB,UA,D; GroupAggregate I,UB,UA; GroupAggregate I,UB,UA,D"},
	} {
		s := newSession(t)
		s.must(sinksDDL)
		g := s.must("INSERT INTO b " + counts + " UNION ALL " + tt.other)
		var got []string
		for _, n := range g.Nodes {
			if b := n.Base(); b.Kind == "Union" {
				got = append([]string{"Union " + b.Mode.String()}, got...)
			} else if b.Kind == "GroupAggregate" {
				got = append(got, "GroupAggregate "+b.Mode.String())
			}
		}
		compare(t, tt.other, strings.Join(got, "; "), tt.want)
	}
}
