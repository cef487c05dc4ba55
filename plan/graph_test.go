package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"runnel/sql"
)

const moreDDL = ordersDDL + `
CREATE TABLE k (id BIGINT, cust BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
	WITH ('connector' = 'kafka', 'topic' = 'k', 'properties.bootstrap.servers' = 'x', 'format' = 'json');
CREATE TABLE cu (id BIGINT, name STRING, PRIMARY KEY (id) NOT ENFORCED)
	WITH ('connector' = 'upsert-kafka', 'topic' = 'c', 'properties.bootstrap.servers' = 'x', 'key.format' = 'json', 'value.format' = 'json');
CREATE TABLE u (id BIGINT, n BIGINT, PRIMARY KEY (id) NOT ENFORCED)
	WITH ('connector' = 'upsert-kafka', 'topic' = 'u', 'properties.bootstrap.servers' = 'x', 'key.format' = 'json', 'value.format' = 'json');
CREATE TABLE u4 WITH ('sink.parallelism' = '4') LIKE u (OVERWRITING OPTIONS);
`

// list writes what f gives for the nodes of a graph, a line for each that has something.
func list(g *Graph, f func(Node) string) string {
	var lines []string
	for _, n := range g.Nodes {
		if s := f(n); s != "" {
			lines = append(lines, s)
		}
	}
	return strings.Join(lines, "\n")
}

func compare(t *testing.T, text, got, want string) {
	t.Helper()
	if want = strings.TrimSpace(want); got != want {
		t.Errorf("%s\n got:\n%s\nwant:\n%s", text, got, want)
	}
}

// short is the name of a state without the catalog and the database.
func short(n Node) string {
	return strings.ReplaceAll(n.Base().StateID, "default_catalog.default_database.", "")
}

func TestStateIDs(t *testing.T) {
	tests := []struct{ sql, want string }{
		{`INSERT INTO p SELECT cust, COUNT(*) FROM k GROUP BY cust`, "p/Source(k)-1\np/GroupAggregate-1\np/Sink-0"},
		// A filter more, other columns of the source: the names stay.
		{`INSERT INTO p SELECT cust + 0, c FROM (SELECT cust, COUNT(*) AS c FROM k WHERE id > 3 GROUP BY cust) WHERE c > 1`,
			"p/Source(k)-1\np/GroupAggregate-1\np/Sink-0"},
		{`INSERT INTO p SELECT k.id, COUNT(*) FROM k JOIN cu ON k.cust = cu.id GROUP BY k.id`,
			"p/Source(k)-2.0\np/Source(cu)-3.1\np/ChangelogNormalize-3.1\np/Join-2\np/GroupAggregate-1\np/Sink-0"},
		{`SELECT MAX(id) FROM k`, "select/Source(k)-1\nselect/GroupAggregate-1"},
	}
	for _, tt := range tests {
		s := newSession(t)
		s.must(moreDDL)
		compare(t, tt.sql, list(s.must(tt.sql), short), tt.want)
	}
}

// TestSharing: the sinks of a set read a table once, and share what they compute alike.
func TestSharing(t *testing.T) {
	s := newSession(t)
	s.must(moreDDL)
	set := func(from string) string {
		return strings.ReplaceAll(`EXECUTE STATEMENT SET BEGIN
			INSERT INTO p SELECT cust, COUNT(*) FROM t GROUP BY cust;
			INSERT INTO p SELECT cust, COUNT(*) * 2 FROM t GROUP BY cust;
			INSERT INTO p SELECT id, MAX(cust) FROM t GROUP BY id;
		END`, "t ", from+" ")
	}
	kinds := func(g *Graph) string {
		return list(g, func(n Node) string {
			var from []string
			for _, in := range n.Base().Inputs {
				from = append(from, itoa(in.Base().ID))
			}
			return fmt.Sprintf("%d %s %s", n.Base().ID, n.Base().Kind, strings.Join(from, ","))
		})
	}
	g := s.must(set("k"))
	compare(t, "one source", kinds(g), `
1 TableSourceScan 
2 Calc 1
3 Exchange 2
4 GroupAggregate 3
5 Sink 4
6 Calc 4
7 Sink 6
8 Calc 1
9 Exchange 8
10 GroupAggregate 9
11 Sink 10`)
	if got := names(fieldsIn(g.Nodes[0])); got != "id, cust, ts" {
		t.Error("the scan reads", got)
	}
	compare(t, "names of states", list(g, short), "p/Source(k)-1\np/GroupAggregate-1\np/Sink-0\np#2/Sink-0\np#3/GroupAggregate-1\np#3/Sink-0")
	if want := "insert-into_default_catalog.default_database.p,default_catalog.default_database.p_1,default_catalog.default_database.p_2"; g.JobName != want {
		t.Error("job name", g.JobName)
	}

	g = s.must(set("orders")) // its watermarks are made behind the source
	if got := list(g, func(n Node) string { return map[bool]string{true: n.Base().Desc}[n.Base().Kind == "WatermarkAssigner"] }); strings.Count(got, "\n") > 0 {
		t.Error("several assigners:\n" + got)
	}

	s.must("SET 'table.optimizer.reuse-source-enabled' = 'false'")
	if got := kinds(s.must(set("k"))); strings.Count(got, "TableSourceScan") != 3 {
		t.Error("sources are shared:\n" + got)
	}
}

func TestTimeToLive(t *testing.T) {
	tests := []struct {
		sql                string
		ttl, left, right   time.Duration
		kind, bound, setup string
	}{
		{sql: "SELECT cust, COUNT(*) FROM k GROUP BY cust", kind: "GroupAggregate",
			bound: "nothing: one entry for each cust, kept for ever; SET 'table.exec.state.ttl' = '1 d' bounds it"},
		{setup: "SET 'table.exec.state.ttl' = '90 min'", sql: "SELECT cust, COUNT(*) FROM k GROUP BY cust", kind: "GroupAggregate", ttl: 90 * time.Minute,
			bound: "one entry for each cust, dropped after 90 min without a change (state TTL)"},
		{setup: "SET 'table.exec.state.ttl' = '90 min'", sql: "SELECT /*+ STATE_TTL('k' = '1 d') */ cust, COUNT(*) FROM k GROUP BY cust", kind: "GroupAggregate",
			ttl: 24 * time.Hour, bound: "one entry for each cust, dropped after 1 d without a change (state TTL)"},
		{setup: "SET 'table.exec.state.ttl' = '1 h'", sql: "SELECT /*+ STATE_TTL('a' = '0 s') */ a.id FROM k a JOIN cu ON a.cust = cu.id", kind: "Join",
			ttl: time.Hour, left: 0, right: time.Hour, bound: "the sides: left rows for ever, right rows for 1 h"},
		{sql: "SELECT /*+ STATE_TTL('a' = '1 d', 'cu' = '2 h') */ a.id FROM k a JOIN cu ON a.cust = cu.id", kind: "Join",
			left: 24 * time.Hour, right: 2 * time.Hour, bound: "the sides: left rows for 1 d, right rows for 2 h"},
		{sql: "SELECT a.id FROM k a JOIN k b ON a.id = b.id AND a.ts BETWEEN b.ts - INTERVAL '1' MINUTE AND b.ts + INTERVAL '10' SECOND", kind: "IntervalJoin",
			bound: "the interval: a left row until the watermark is 1 min past it, a right row until it is 10 s past it"},
		{sql: "SELECT window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE k, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start, window_end",
			kind: "GlobalWindowAggregate", bound: "the windows that are open: dropped when the watermark passes their end"},
		{sql: "SELECT COUNT(*) FROM k", kind: "GroupAggregate", bound: "one row"},
		{sql: "SELECT COUNT(DISTINCT cust) FROM k", kind: "GroupAggregate",
			bound: "nothing: the values of the whole input, kept for ever; SET 'table.exec.state.ttl' = '1 d' bounds it"},
		{sql: "SELECT cust, LISTAGG(CAST(id AS STRING)) FROM k GROUP BY cust", kind: "GroupAggregate",
			bound: "nothing: the values of each cust, kept for ever; SET 'table.exec.state.ttl' = '1 d' bounds it"},
		{sql: "SELECT MAX(id) FROM k", kind: "GroupAggregate", bound: "one row"},
		{setup: "SET 'table.exec.state.ttl' = '1 h'", sql: "SELECT MAX(n) FROM u", kind: "GroupAggregate", ttl: time.Hour,
			bound: "the values of the whole input, dropped after 1 h without a change (state TTL)"},
		{sql: "SELECT DISTINCT cust FROM k", kind: "GroupAggregate",
			bound: "nothing: one entry for each cust, kept for ever; SET 'table.exec.state.ttl' = '1 d' bounds it"},
		{sql: "SELECT id FROM k UNION SELECT cust FROM k", kind: "GroupAggregate",
			bound: "nothing: one entry for each id, kept for ever; SET 'table.exec.state.ttl' = '1 d' bounds it"},
		{sql: "SELECT id FROM k INTERSECT SELECT cust FROM k", kind: "Join",
			bound: "nothing: every row of both sides, kept for ever; SET 'table.exec.state.ttl' = '1 d' bounds it"},
		{sql: "SELECT id FROM k EXCEPT ALL SELECT cust FROM k", kind: "GroupAggregate",
			bound: "nothing: one entry for each id, kept for ever; SET 'table.exec.state.ttl' = '1 d' bounds it"},
		{setup: "SET 'table.exec.state.ttl' = '2 h'", sql: "SELECT * FROM cu", kind: "ChangelogNormalize", ttl: 2 * time.Hour,
			bound: "one row for each id, dropped after 2 h without a change (state TTL)"},
		{sql: "SELECT id, PROCTIME() AS p FROM k LIMIT 5", kind: "Limit", bound: "5 rows"},
		{sql: "SELECT id FROM k ORDER BY id LIMIT 5 OFFSET 2", kind: "SortLimit", bound: "7 rows"},
		{sql: "SELECT n FROM u ORDER BY n LIMIT 5", kind: "SortLimit",
			bound: "nothing: every row, kept for ever; SET 'table.exec.state.ttl' = '1 d' bounds it"},
		{sql: "SELECT id FROM k ORDER BY ts", kind: "TemporalSort", bound: "the rows ahead of the watermark"},
		{sql: "SELECT id, SUM(cust) OVER (PARTITION BY id ORDER BY ts RANGE BETWEEN INTERVAL '1' MINUTE PRECEDING AND CURRENT ROW) FROM k", kind: "OverAggregate",
			bound: "the frame: rows until they are 1 min old"},
		{sql: "SELECT id, SUM(cust) OVER (ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM k", kind: "OverAggregate", bound: "3 rows"},
		{sql: "SELECT id, SUM(cust) OVER (PARTITION BY id ORDER BY ts) FROM k", kind: "OverAggregate",
			bound: "nothing: one entry for each id, kept for ever; SET 'table.exec.state.ttl' = '1 d' bounds it"},
		{sql: "SELECT id, SUM(cust) OVER (ORDER BY ts) FROM k", kind: "OverAggregate", bound: "one row"},
		{sql: "SELECT id, COUNT(DISTINCT cust) OVER (ORDER BY ts) FROM k", kind: "OverAggregate",
			bound: "nothing: the values of the whole input, kept for ever; SET 'table.exec.state.ttl' = '1 d' bounds it"},
		{sql: "SELECT id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY cust ORDER BY ts DESC) AS r FROM k) WHERE r = 1", kind: "Deduplicate",
			bound: "nothing: one row for each cust, kept for ever; SET 'table.exec.state.ttl' = '1 d' bounds it"},
		{sql: "SELECT TUMBLE_START(p, INTERVAL '1' HOUR), COUNT(*) FROM (SELECT *, PROCTIME() AS p FROM k) GROUP BY TUMBLE(p, INTERVAL '1' HOUR)",
			kind: "GroupWindowAggregate", bound: "the windows that are open: dropped at their end"},
		{sql: "SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY id) AS r FROM TABLE(TUMBLE(TABLE k, DESCRIPTOR(ts), INTERVAL '1' HOUR))) WHERE r <= 3",
			kind: "WindowRank", bound: "the windows that are open: dropped when the watermark passes their end"},
		{sql: "SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY cust ORDER BY id) AS r FROM k) WHERE r <= 3", kind: "Rank",
			bound: "nothing: 3 rows for each cust, kept for ever; SET 'table.exec.state.ttl' = '1 d' bounds it"},
	}
	for _, tt := range tests {
		s := newSession(t)
		s.must(moreDDL)
		if tt.setup != "" {
			s.must(tt.setup)
		}
		g := s.must(tt.sql)
		i := slices.IndexFunc(g.Nodes, func(n Node) bool { return n.Base().Kind == tt.kind })
		if i < 0 {
			t.Errorf("%s: no %s", tt.sql, tt.kind)
			continue
		}
		b := g.Nodes[i].Base()
		compare(t, tt.sql, b.Bound, tt.bound)
		if b.TTL != tt.ttl {
			t.Errorf("%s: TTL %v, want %v", tt.sql, b.TTL, tt.ttl)
		}
		if j, ok := g.Nodes[i].(*Join); ok && (j.LeftTTL != tt.left || j.RightTTL != tt.right) {
			t.Errorf("%s: TTLs %v and %v, want %v and %v", tt.sql, j.LeftTTL, j.RightTTL, tt.left, tt.right)
		}
	}
}

// TestParallelism: exchanges that EXPLAIN does not show keep the changes of a key in order.
func TestParallelism(t *testing.T) {
	tests := []struct{ sql, want string }{
		{"SELECT COUNT(*) FROM k", "TableSourceScan 0, Calc 0, Exchange 1, GroupAggregate 1, Sink 1"},
		{"SELECT id FROM k", "TableSourceScan 0, Calc 0, Exchange 1 hidden, Sink 1"},
		{"INSERT INTO u SELECT cust, COUNT(*) FROM k GROUP BY cust", "TableSourceScan 0, Calc 0, Exchange 0, GroupAggregate 0, Sink 0"},
		{"INSERT INTO u4 SELECT cust, COUNT(*) FROM k GROUP BY cust", "TableSourceScan 0, Calc 0, Exchange 0, GroupAggregate 0, Exchange 4 hidden, Sink 4"},
		{"INSERT INTO p VALUES (1, 2)", "Values 1, Calc 1, Sink 1"},
	}
	for _, tt := range tests {
		s := newSession(t)
		s.must(moreDDL)
		got := list(s.must(tt.sql), func(n Node) string {
			x, ok := n.(*Exchange)
			return fmt.Sprint(n.Base().Kind, " ", n.Base().Parallelism, map[bool]string{true: " hidden"}[ok && x.hidden])
		})
		compare(t, tt.sql, strings.ReplaceAll(got, "\n", ", "), tt.want)
	}
}

// TestColumnNames: columns of one name get different ones, as in Flink.
func TestColumnNames(t *testing.T) {
	tests := []struct{ sql, want string }{
		{"SELECT a.id, b.id, a.id FROM k a JOIN k b ON a.id = b.id", "id, id0, id1"},
		{"SELECT * FROM cu a, cu b", "id, name, id0, name0"},
		{"SELECT id0 FROM (SELECT * FROM cu a, cu b)", "id0"},
		{"SELECT DISTINCT a.id, b.id FROM cu a, cu b", "id, id0"},
		{"SELECT 1, 'a', 2 AS c, UPPER('x')", "EXPR$0, EXPR$1, c, EXPR$3"},
	}
	for _, tt := range tests {
		s := newSession(t)
		s.must(moreDDL)
		compare(t, tt.sql, names(fieldsIn(s.must(tt.sql).Sinks[0])), tt.want)
	}
}

// TestBareNulls: an INSERT says what a NULL is.
func TestBareNulls(t *testing.T) {
	tests := []struct{ sql, want string }{
		{"INSERT INTO p VALUES (1, NULL)", "Values(tuples=[[{ 1, null:BIGINT }]])"},
		{"INSERT INTO p VALUES (1, NULL), (NULL, 2)", "Values(tuples=[[{ 1, null:INT }, { null:INT, 2 }]])"},
		{"INSERT INTO p (c, k) SELECT NULL, id FROM k", "Calc(select=[id, null:BIGINT AS EXPR$0])"},
		{"INSERT INTO p SELECT * FROM (VALUES (1, NULL))", "Illegal use of 'NULL'"},
		{"SELECT NULL", "Illegal use of 'NULL'"},
	}
	for _, tt := range tests {
		s := newSession(t)
		s.must(moreDDL)
		g, err := s.run(tt.sql)
		if err != nil {
			first, _, _ := strings.Cut(err.Error(), "\n")
			compare(t, tt.sql, first, tt.want)
			continue
		}
		if got := list(g, func(n Node) string { return n.Base().Desc }); !strings.Contains(got, tt.want) {
			t.Errorf("%s\n%s\nwithout %s", tt.sql, got, tt.want)
		}
	}
}

func TestExplain(t *testing.T) {
	tests := []struct{ sql, want string }{
		{"EXPLAIN CHANGELOG_MODE INSERT INTO u SELECT k.cust, COUNT(*) FROM k JOIN cu ON k.cust = cu.id AND k.id > 3 GROUP BY k.cust",
			`== Abstract Syntax Tree ==
LogicalSink(table=[default_catalog.default_database.u], fields=[cust, EXPR$1])
+- LogicalAggregate(group=[{0}], EXPR$1=[COUNT()])
   +- LogicalProject(cust=[$1])
      +- LogicalJoin(condition=[AND(=($1, $3), >($0, 3))], joinType=[inner])
         :- LogicalTableScan(table=[[default_catalog, default_database, k, watermark=[-($2, 5000:INTERVAL SECOND(3))], watermarkEmitStrategy=[on-periodic]]])
         +- LogicalTableScan(table=[[default_catalog, default_database, cu]])

== Optimized Physical Plan ==
Sink(table=[default_catalog.default_database.u], fields=[cust, EXPR$1], changelogMode=[NONE])
+- GroupAggregate(groupBy=[cust], select=[cust, COUNT_RETRACT(*) AS EXPR$1], changelogMode=[I,UA,D])
   +- Exchange(distribution=[hash[cust]], changelogMode=[I,UB,UA,D])
      +- Calc(select=[cust], changelogMode=[I,UB,UA,D])
         +- Join(joinType=[InnerJoin], where=[=(cust, id)], select=[cust, id], leftInputSpec=[NoUniqueKey], rightInputSpec=[JoinKeyContainsUniqueKey], changelogMode=[I,UB,UA,D])
            :- Exchange(distribution=[hash[cust]], changelogMode=[I])
            :  +- Calc(select=[cust], where=[>(id, 3)], changelogMode=[I])
            :     +- TableSourceScan(table=[[default_catalog, default_database, k, watermark=[-(ts, 5000:INTERVAL SECOND(3))], watermarkEmitStrategy=[on-periodic]]], fields=[id, cust, ts], changelogMode=[I])
            +- Exchange(distribution=[hash[id]], changelogMode=[I,UB,UA,D])
               +- ChangelogNormalize(key=[id], changelogMode=[I,UB,UA,D])
                  +- Exchange(distribution=[hash[id]], changelogMode=[UA,D])
                     +- TableSourceScan(table=[[default_catalog, default_database, cu]], fields=[id], changelogMode=[UA,D])

== Optimized Execution Plan ==
Sink(table=[default_catalog.default_database.u], fields=[cust, EXPR$1])
+- GroupAggregate(groupBy=[cust], select=[cust, COUNT_RETRACT(*) AS EXPR$1])
   +- Exchange(distribution=[hash[cust]])
      +- Calc(select=[cust])
         +- Join(joinType=[InnerJoin], where=[(cust = id)], select=[cust, id], leftInputSpec=[NoUniqueKey], rightInputSpec=[JoinKeyContainsUniqueKey])
            :- Exchange(distribution=[hash[cust]])
            :  +- Calc(select=[cust], where=[(id > 3)])
            :     +- TableSourceScan(table=[[default_catalog, default_database, k, watermark=[(ts - 5000:INTERVAL SECOND(3))], watermarkEmitStrategy=[on-periodic]]], fields=[id, cust, ts])
            +- Exchange(distribution=[hash[id]])
               +- ChangelogNormalize(key=[id])
                  +- Exchange(distribution=[hash[id]])
                     +- TableSourceScan(table=[[default_catalog, default_database, cu]], fields=[id])

== State ==
ChangelogNormalize[6] is bounded by nothing: one row for each id, kept for ever; SET 'table.exec.state.ttl' = '1 d' bounds it
Join[8] is bounded by nothing: every row of both sides, kept for ever; SET 'table.exec.state.ttl' = '1 d' bounds it
GroupAggregate[11] is bounded by nothing: one entry for each cust, kept for ever; SET 'table.exec.state.ttl' = '1 d' bounds it
`},
	}
	for _, tt := range tests {
		s := newSession(t)
		s.must(moreDDL)
		stmt, err := sql.Parse(tt.sql)
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.pl.Explain(stmt.(*sql.Explain))
		if err != nil {
			t.Fatal(err)
		}
		compare(t, tt.sql, strings.TrimSpace(got), tt.want)
	}
}
