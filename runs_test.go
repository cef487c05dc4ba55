package main

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"runnel/catalog"
	"runnel/connectors/blackhole"
	"runnel/exec"
	"runnel/internal/testkit"
	"runnel/plan"
	"runnel/session"
	"runnel/sql"
)

const runsDDL = `
CREATE TABLE t (k INT, v INT, s STRING, a ARRAY<INT>, ts TIMESTAMP(3), pt AS PROCTIME(), WATERMARK FOR ts AS ts) WITH ('connector' = 'rows');
CREATE TABLE u (k INT, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'rows', 'changelog-mode' = 'I,UB,UA,D');
CREATE TABLE up (k INT, v INT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'rows', 'changelog-mode' = 'I,UA,D');
CREATE TABLE snk (k INT, c BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'blackhole');
CREATE VIEW w AS SELECT * FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND))`

// runsCases has, for every kind of node, statements that are planned with it: in both modes, unless the mode cannot have it.
var runsCases = map[string][]string{
	"Scan": {"SELECT * FROM t"}, "Collect": {"SELECT * FROM t"}, "Calc": {"SELECT k + 1 FROM t WHERE v > 1"}, "Values": {"VALUES (1, 2)"},
	"Sink":               {"INSERT INTO snk SELECT k, COUNT(*) FROM t GROUP BY k", "INSERT INTO snk SELECT CAST(COUNT(*) AS INT), k FROM t GROUP BY k"},
	"WatermarkAssigner":  {"SELECT ts FROM t"},
	"DropUpdateBefore":   {"streaming SELECT * FROM t LEFT JOIN u FOR SYSTEM_TIME AS OF t.ts ON t.k = u.k"},
	"ChangelogNormalize": {"streaming SELECT * FROM up"},
	"Exchange":           {"SELECT k, COUNT(*) FROM t GROUP BY k"}, "GroupAggregate": {"SELECT k, COUNT(DISTINCT v) FROM t GROUP BY k"},
	"Union":               {"SELECT k FROM t UNION ALL SELECT v FROM t"},
	"Expand":              {"SELECT k, v, COUNT(*) FROM t GROUP BY CUBE (k, v)"},
	"WindowTableFunction": {"SELECT * FROM w", "streaming SELECT * FROM TABLE(SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL '1' SECOND))"},
	"WindowAggregate": {"SELECT k, COUNT(*) FROM w GROUP BY k, window_start, window_end",
		"streaming SELECT k, COUNT(*) FROM TABLE(SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL '1' SECOND)) GROUP BY k, window_start, window_end",
		"streaming SELECT COUNT(*) FROM TABLE(HOP(TABLE t, DESCRIPTOR(pt), INTERVAL '1' SECOND, INTERVAL '5' SECOND)) GROUP BY window_start, window_end"},
	"GroupWindowAggregate": {"SELECT k, COUNT(*) FROM t GROUP BY k, TUMBLE(ts, INTERVAL '1' SECOND)",
		"emit SELECT k, COUNT(*) FROM t GROUP BY k, HOP(ts, INTERVAL '1' SECOND, INTERVAL '2' SECOND)"},
	"Join": {"SELECT * FROM t JOIN t AS x ON t.k = x.k", "SELECT * FROM t FULL JOIN t AS x ON t.k = x.k AND t.v > x.v",
		"SELECT * FROM t WHERE k IN (SELECT v FROM t)", "SELECT * FROM t, t AS x"},
	"IntervalJoin": {"SELECT * FROM t JOIN t AS x ON t.k = x.k AND t.ts BETWEEN x.ts AND x.ts + INTERVAL '1' SECOND",
		"streaming SELECT * FROM t LEFT JOIN t AS x ON t.k = x.k AND t.pt BETWEEN x.pt AND x.pt + INTERVAL '1' SECOND"},
	"TemporalJoin": {"streaming SELECT * FROM t LEFT JOIN u FOR SYSTEM_TIME AS OF t.ts ON t.k = u.k"},
	"LookupJoin":   {"SELECT * FROM t LEFT JOIN t FOR SYSTEM_TIME AS OF t.pt AS d ON t.k = d.k", "SELECT /*+ LOOKUP('table'='d', 'async'='true') */ * FROM t JOIN t FOR SYSTEM_TIME AS OF t.pt AS d ON t.k = d.k"},
	"WindowJoin":   {"SELECT * FROM w JOIN w AS x ON w.k = x.k AND w.window_start = x.window_start AND w.window_end = x.window_end"},
	"Correlate":    {"SELECT k, e FROM t CROSS JOIN UNNEST(a) AS x (e)"},
	"OverAggregate": {"SELECT SUM(v) OVER (PARTITION BY k ORDER BY ts) FROM t", "streaming SELECT LAG(v) OVER (PARTITION BY k ORDER BY pt), COUNT(v) OVER (PARTITION BY k ORDER BY pt ROWS UNBOUNDED PRECEDING) FROM t",
		"SELECT RANK() OVER (PARTITION BY k ORDER BY ts) FROM t", "SELECT NTILE(2) OVER (PARTITION BY k ORDER BY ts) FROM t",
		"batch SELECT SUM(v) OVER (PARTITION BY k ORDER BY v RANGE BETWEEN 3 PRECEDING AND 1 PRECEDING) FROM t"},
	"Rank":              {"SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v) AS n FROM t) WHERE n < 3", "SELECT * FROM (SELECT *, RANK() OVER (PARTITION BY k ORDER BY v) AS n FROM t) WHERE n < 3"},
	"Deduplicate":       {"streaming SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS n FROM t) WHERE n = 1", "streaming SELECT k FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY pt) AS n FROM t) WHERE n = 1"},
	"WindowRank":        {"streaming SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY v) AS n FROM w) WHERE n < 3"},
	"WindowDeduplicate": {"streaming SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY ts DESC) AS n FROM w) WHERE n = 1"},
	"LocalWindowAggregate": {
		"streaming SELECT k, COUNT(*) FROM TABLE(HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '1' SECOND, INTERVAL '3' SECOND)) GROUP BY k, window_start, window_end",
	},
	"LocalGroupAggregate":       {"mini SELECT k, COUNT(*), MAX(v) FROM t GROUP BY k", "mini SELECT COUNT(DISTINCT v) FROM u"},
	"IncrementalGroupAggregate": {"split SELECT k, COUNT(DISTINCT v) FROM t GROUP BY k"},
	"MiniBatchAssigner":         {"mini SELECT * FROM t WHERE v > 1", "mini SELECT k, COUNT(*) FROM t GROUP BY k", "mini SELECT * FROM t FULL JOIN u ON t.k = u.k"},
	"Match":                     {"SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.v AS av AFTER MATCH SKIP PAST LAST ROW PATTERN (A B) DEFINE A AS A.v > 1)"},
	"Sort":                      {"batch SELECT * FROM t ORDER BY v"},
	"TemporalSort":              {"streaming SELECT * FROM t ORDER BY ts"},
	"SortLimit":                 {"SELECT * FROM t ORDER BY v LIMIT 2", "streaming SELECT * FROM u ORDER BY v LIMIT 2 OFFSET 1"},
	"Limit":                     {"SELECT * FROM t LIMIT 2", "streaming SELECT * FROM u LIMIT 2"},
}

// TestRuns: for every kind of node and both modes, what EXPLAIN takes runs, and what cannot run is refused by EXPLAIN and by
// running alike, at its place.
func TestRuns(t *testing.T) {
	declared := nodeKinds(t)
	for kind := range runsCases {
		if !declared[kind] {
			t.Errorf("%s is no kind of node", kind)
		}
	}
	for kind := range declared {
		if len(runsCases[kind]) == 0 {
			t.Errorf("no statement for nodes of kind %s", kind)
		}
	}
	cluster := exec.New(exec.Options{Slots: 4, Dir: t.TempDir(), Stdout: io.Discard, Stderr: io.Discard, Check: true})
	defer cluster.Close(context.Background())
	for kind, list := range runsCases {
		for _, text := range list {
			mode, stmt := "", text
			for _, m := range []string{"streaming", "batch", "emit", "mini", "split"} {
				if rest, ok := strings.CutPrefix(text, m+" "); ok {
					mode, stmt = m, rest
				}
			}
			if mode != "batch" {
				t.Run(kind+"/streaming/"+stmt, func(t *testing.T) {
					runsCase(t, cluster, kind, stmt, map[string]string{"table.exec.emit.early-fire.enabled": yes(mode == "emit"), "table.exec.emit.early-fire.delay": "0 s",
						"table.optimizer.distinct-agg.split.enabled": yes(mode == "split"),
						"table.exec.mini-batch.enabled":              yes(mode == "mini" || mode == "split"), "table.exec.mini-batch.size": "2", "table.exec.mini-batch.allow-latency": "1 h"})
				})
			}
			if mode == "" || mode == "batch" {
				t.Run(kind+"/batch/"+stmt, func(t *testing.T) {
					runsCase(t, cluster, kind, stmt, map[string]string{"execution.runtime-mode": "batch"})
				})
			}
		}
	}
}

func yes(b bool) string {
	if b {
		return "true"
	}
	return "false"
}

func runsCase(t *testing.T, cluster *exec.Cluster, kind, stmt string, options map[string]string) {
	feed := testkit.NewFeed(nil, true, formatTable)
	feed.Finish()
	config := catalog.NewConfig()
	o := session.Options{
		Catalog: catalog.New(), Config: config, Formats: formatTable, Connectors: append(feed.Connectors(), blackhole.Connector()),
		Cluster: func() (*exec.Cluster, error) { return cluster, nil },
	}
	s := session.New(o)
	ctx := context.Background()
	for _, p := range sql.SplitAll(runsDDL) {
		if _, err := s.Execute(ctx, p.Text); err != nil {
			t.Fatal(err)
		}
	}
	for k, v := range options {
		if _, err := config.Set(k, v); err != nil {
			t.Fatal(err)
		}
	}
	_, explained := s.Execute(ctx, "EXPLAIN "+stmt)
	ran := runsToEnd(ctx, s, cluster, stmt)
	if (explained == nil) != (ran == nil) || ran != nil && explained.Error() != ran.Error() {
		t.Fatalf("EXPLAIN: %v\nrunning: %v", explained, ran)
	}
	if ran != nil {
		if e := new(session.Error); !errors.As(ran, &e) {
			t.Errorf("refused without a place: %v", ran)
		}
		t.Log("refused: ", ran)
		return
	}
	pl := &plan.Planner{Catalog: o.Catalog, Config: config, Connectors: o.Connectors, Formats: formatTable}
	if !plansKind(t, pl, stmt, kind) && options["execution.runtime-mode"] != "batch" {
		t.Errorf("planned without a node of kind %s", kind)
	}
}

// runsToEnd runs a statement over empty tables.
func runsToEnd(ctx context.Context, s *session.Session, cluster *exec.Cluster, stmt string) error {
	res, err := s.Execute(ctx, stmt)
	if err != nil {
		return err
	}
	if res.Rows != nil {
		defer res.Rows.Close()
		for err == nil {
			_, err = res.Rows.Next(ctx)
		}
		if !errors.Is(err, io.EOF) {
			return err
		}
	}
	if j, ok := cluster.Job(res.JobID); ok {
		return j.Wait(ctx)
	}
	return nil
}

func plansKind(t *testing.T, pl *plan.Planner, stmt, kind string) bool {
	st, err := sql.Parse(stmt)
	if err != nil {
		t.Fatal(err)
	}
	var g *plan.Graph
	switch st := st.(type) {
	case *sql.Query:
		g, err = pl.Query(st, stmt)
	case *sql.Insert:
		g, err = pl.Insert(st, stmt)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range g.Nodes {
		if strings.TrimPrefix(fmt.Sprintf("%T", n), "*plan.") == kind {
			return true
		}
	}
	return false
}

// nodeKinds are the types of package plan that embed Info.
func nodeKinds(t *testing.T) map[string]bool {
	files, _ := filepath.Glob("plan/*.go")
	kinds := map[string]bool{}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if s, ok := spec.Type.(*ast.StructType); ok {
				for _, field := range s.Fields.List {
					if id, ok := field.Type.(*ast.Ident); ok && len(field.Names) == 0 && id.Name == "Info" {
						kinds[spec.Name.Name] = true
					}
				}
			}
			return true
		})
	}
	return kinds
}
