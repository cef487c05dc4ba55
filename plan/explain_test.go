package plan

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"runnel/sql"
)

func explained(t *testing.T, s *session, text string) string {
	t.Helper()
	stmt, err := sql.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.pl.Explain(stmt.(*sql.Explain))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// All details of a statement set: what two sinks share is drawn once in the execution plan, the JSON names every node that
// another one reads, each line of the physical plan has a cost.
func TestExplainDetails(t *testing.T) {
	s := newSession(t)
	s.must(moreDDL + "CREATE TABLE b (id BIGINT) WITH ('connector' = 'blackhole');")
	got := explained(t, s, `EXPLAIN ESTIMATED_COST, CHANGELOG_MODE, JSON_EXECUTION_PLAN, PLAN_ADVICE STATEMENT SET BEGIN
		INSERT INTO u SELECT cust, COUNT(*) FROM k GROUP BY cust;
		INSERT INTO b SELECT id FROM k WHERE id > 3; END`)
	var titles []string
	parts := map[string]string{}
	for part := range strings.SplitSeq("\n"+got, "\n== ") {
		title, body, ok := strings.Cut(part, " ==\n")
		if ok {
			titles = append(titles, title)
			parts[title] = body
		}
	}
	compare(t, "sections", strings.Join(titles, "\n"),
		"Abstract Syntax Tree\nOptimized Physical Plan With Advice\nOptimized Execution Plan\nPhysical Execution Plan\nState")
	if n := strings.Count(parts["Abstract Syntax Tree"], "LogicalSink"); n != 2 {
		t.Errorf("%d sinks", n)
	}
	line := regexp.MustCompile(`^[ :|+-]*\w+\(.*changelogMode=\[[\w,]+\]\): rowcount = [\d.E]+, cumulative cost = \{[\d.E]+ rows, [\d.E]+ cpu, [\d.E]+ io, [\d.E]+ network, [\d.E]+ memory\}$`)
	tree, advice, _ := strings.Cut(parts["Optimized Physical Plan With Advice"], "\nadvice[1]: [ADVICE] You might want to enable")
	for l := range strings.SplitSeq(strings.TrimSpace(tree), "\n") {
		if l != "" && !line.MatchString(l) {
			t.Errorf("line %q", l)
		}
	}
	if advice == "" || !strings.Contains(tree, "GroupAggregate(advice=[1], groupBy=[cust]") {
		t.Errorf("no advice in\n%s", parts["Optimized Physical Plan With Advice"])
	}
	if x := parts["Optimized Execution Plan"]; strings.Count(x, "(reuse_id=[1])") != 1 || strings.Count(x, "Reused(reference_id=[1])") != 2 {
		t.Errorf("the scan is not shared in\n%s", x)
	}
	if want := "] is bounded by nothing: one entry for each cust"; !strings.Contains(parts["State"], want) {
		t.Errorf("%s\nwithout %s", parts["State"], want)
	}
	var plan struct {
		Nodes []struct {
			ID                   int
			Type, Pact, Contents string
			Parallelism          int
			Predecessors         []struct {
				ID           int
				ShipStrategy string `json:"ship_strategy"`
				Side         string
			}
		}
	}
	if err := json.Unmarshal([]byte(parts["Physical Execution Plan"]), &plan); err != nil {
		t.Fatal(err)
	}
	seen, sinks := map[int]bool{}, 0
	for _, n := range plan.Nodes {
		if n.Pact == "Data Source" != (len(n.Predecessors) == 0) || n.Parallelism != 1 || n.Contents == "" {
			t.Errorf("node %+v", n)
		}
		if n.Pact == "Data Sink" {
			sinks++
		}
		for _, p := range n.Predecessors {
			if !seen[p.ID] || p.Side != "second" || p.ShipStrategy == "HASH" != strings.HasPrefix(n.Type, "GroupAggregate") {
				t.Errorf("node %d comes from %+v", n.ID, p)
			}
		}
		seen[n.ID] = true
	}
	if sinks != 2 {
		t.Errorf("%d sinks in JSON", sinks)
	}
}

// In batch mode there are neither changelog modes nor state that anything bounds, and OFFSET alone limits nothing.
func TestExplainBatch(t *testing.T) {
	s := newSession(t)
	s.must(`CREATE TABLE f (id BIGINT, cust BIGINT) WITH ('connector' = 'filesystem', 'path' = 'x', 'format' = 'json');
		SET 'execution.runtime-mode' = 'batch';`)
	got := explained(t, s, "EXPLAIN ESTIMATED_COST, CHANGELOG_MODE SELECT cust, COUNT(*) FROM f GROUP BY cust ORDER BY cust OFFSET 3")
	for _, bad := range []string{"changelogMode", "== State ==", "rowcount = -"} {
		if strings.Contains(got, bad) {
			t.Errorf("%s in\n%s", bad, got)
		}
	}
	stmt, err := sql.Parse("EXPLAIN PLAN_ADVICE SELECT * FROM f")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.pl.Explain(stmt.(*sql.Explain)); err == nil || !strings.Contains(err.Error(), "EXPLAIN PLAN_ADVICE is not supported under batch mode.") {
		t.Errorf("error %v", err)
	}
}
