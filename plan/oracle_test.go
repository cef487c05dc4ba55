package plan

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"testing"

	"runnel/sql"
)

// testdata/plans holds the plans that a real Flink 1.20.5 makes: NNN.txt what EXPLAIN CHANGELOG_MODE shows of the physical
// plan, or the refusal; NNN.run.txt, if it is there, the plan that runs, with upsert keys. They are compared node by node on what has to agree: the operators
// and how they hang together, changelog modes, upsert keys, and the attributes below. Calcs are left out, since merging
// them differently changes nothing; so are the local phases of batch mode.

// ordered are the cases in which operators stand in another order, with the reason.
var ordered = map[string]string{
	"112": "Flink counts below the cross join",
}

// runs are the cases that Flink refuses and that run here (docs/differences.md).
var runs = map[string]string{
	"146": "the end of the rank in a column that no one else reads",
}

// worded are the cases in which the select lists of the phases of an aggregate differ, with the reason.
var worded = map[string]string{
	"026": splitNames, "171": "AVG is a sum and a count there", "178": "the name of JSON_OBJECTAGG", "183": "AVG is a sum and a count there",
	"190": "a maximum of what only grows", "197": splitNames, "198": splitNames, "199": splitNames, "200": splitNames, "201": splitNames,
	"202": splitNames, "206": "a maximum of what only grows", "208": "the name of JSON_OBJECTAGG",
	"237": "a maximum of what only grows",
}

const splitNames = "names of the columns of a split aggregate"

// batchKinds are the operators of Flink's batch mode, and what they are called here.
var batchKinds = map[string]string{"HashJoin": "Join"}

// compared are the attributes that have to agree, by operator.
var compared = map[string][]string{
	"ChangelogNormalize": {"key"}, "Exchange": {"distribution"}, "Sink": {"table", "upsertMaterialize"}, "Deduplicate": {"keep", "key", "order"},
	"Rank": {"strategy", "rankType", "rankRange", "partitionBy"}, "SortLimit": {"strategy", "offset", "fetch"}, "Limit": {"offset", "fetch"},
	"IntervalJoin": {"joinType"}, "TemporalJoin": {"joinType"}, "LookupJoin": {"table", "joinType"}, "WindowJoin": {"joinType", "leftWindow", "rightWindow"},
	"Join": {"joinType", "leftInputSpec", "rightInputSpec"}, "GroupAggregate": {"groupBy", "partialFinalType"},
	"LocalGroupAggregate": {"groupBy", "partialFinalType", "select"}, "GlobalGroupAggregate": {"groupBy", "partialFinalType", "select"},
	"IncrementalGroupAggregate": {"partialAggGrouping", "finalAggGrouping", "select"},
	"WindowAggregate":           {"groupBy", "window"}, "GroupWindowAggregate": {"groupBy", "window", "emit"},
	"WindowTableFunction": {"window"}, "WindowRank": {"rankType", "rankRange", "partitionBy"}, "WindowDeduplicate": {"keep", "partitionKeys", "order"},
	"OverAggregate": {"partitionBy", "window"}, "MiniBatchAssigner": {"mode"}, "Correlate": {"joinType"}, "Union": {"all"},
}

// drawn is a node read back from a plan's text.
type drawn struct {
	kind  string
	attrs map[string]string
	in    []*drawn
}

var marks = regexp.MustCompile(`^(?:[ :]  )*(?:[+:]- )?`)

// readPlan reads the trees of a plan's text.
func readPlan(text string) []*drawn {
	var roots []*drawn
	stack := map[int]*drawn{}
	for _, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		mark := marks.FindString(line)
		depth := len(mark) / 3
		n := readNode(line[len(mark):])
		if depth == 0 {
			roots = append(roots, n)
		} else {
			stack[depth-1].in = append(stack[depth-1].in, n)
		}
		stack[depth] = n
	}
	return roots
}

// readNode reads Kind(name=[value], ..).
func readNode(s string) *drawn {
	open := strings.IndexByte(s, '(')
	n := &drawn{kind: s[:open], attrs: map[string]string{}}
	if kind := batchKinds[n.kind]; kind != "" {
		n.kind = kind
	}
	rest := s[open+1:]
	for {
		eq := strings.Index(rest, "=[")
		if eq < 0 {
			return n
		}
		name := strings.TrimLeft(rest[:eq], ", ")
		level, end := 0, len(rest)
		for i := eq + 1; i < len(rest); i++ {
			if rest[i] == '[' {
				level++
			}
			if rest[i] == ']' {
				if level--; level == 0 {
					end = i
					break
				}
			}
		}
		n.attrs[name] = rest[eq+2 : end]
		rest = rest[min(end+1, len(rest)):]
	}
}

// canonical leaves out what need not agree.
func canonical(n *drawn, selects bool) *drawn {
	for n.kind == "Calc" {
		n = n.in[0]
	}
	if n.kind == "HashAggregate" { // and the local half below the exchange
		n.kind = "GroupAggregate"
		if x := n.in[0]; x.in[0].kind == "LocalHashAggregate" {
			x.in = x.in[0].in
		}
	}
	out := &drawn{kind: n.kind, attrs: map[string]string{}}
	for _, a := range compared[n.kind] {
		if a == "select" && !selects {
			continue
		}
		if v, ok := n.attrs[a]; ok && (n.attrs["changelogMode"] != "" || !strings.HasSuffix(a, "InputSpec")) { // batch joins keep no state
			out.attrs[a] = v
		}
	}
	if n.kind != "Sink" {
		out.attrs["changelogMode"] = n.attrs["changelogMode"]
	}
	for _, i := range n.in {
		out.in = append(out.in, canonical(i, selects))
	}
	return out
}

func (n *drawn) String() string {
	var b strings.Builder
	var draw func(n *drawn, indent string)
	draw = func(n *drawn, indent string) {
		var parts []string
		for _, a := range append(compared[n.kind], "changelogMode", "upsertKeys") {
			if v, ok := n.attrs[a]; ok {
				parts = append(parts, a+"="+v)
			}
		}
		fmt.Fprintf(&b, "%s%s(%s)\n", indent, n.kind, strings.Join(parts, ", "))
		for _, i := range n.in {
			draw(i, indent+"  ")
		}
	}
	draw(n, "")
	return b.String()
}

// canonicalText draws a plan canonically. selects: with the select lists that are compared.
func canonicalText(text string, selects bool) string {
	var b strings.Builder
	for _, r := range readPlan(text) {
		b.WriteString(canonical(r, selects).String())
	}
	return b.String()
}

// withModes draws a graph as EXPLAIN CHANGELOG_MODE does.
func withModes(g *Graph) string {
	x := &explanation{graph: g, details: []sql.ExplainDetail{sql.ChangelogMode}, batch: g.Batch}
	var b strings.Builder
	x.trees(&b, x.physical)
	return b.String()
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestOraclePlans(t *testing.T) {
	files, err := filepath.Glob("testdata/plans/[0-9]*.sql")
	if err != nil || len(files) == 0 {
		t.Fatal("no plans", err)
	}
	ddl := readFile(t, "testdata/plans/ddl.sql")
	for _, f := range files {
		id := strings.TrimSuffix(filepath.Base(f), ".sql")
		t.Run(id, func(t *testing.T) {
			msg := oracleCase(t, ddl, strings.TrimSuffix(f, ".sql"))
			if reason := ordered[id] + runs[id]; reason != "" {
				if msg == "" {
					t.Errorf("agrees now: take it off the list (%s)", reason)
				}
				if _, ok := runs[id]; ok && !strings.HasPrefix(msg, "planned, but Flink refuses: ") {
					t.Error(msg)
				}
				return
			}
			if msg != "" {
				t.Error(msg)
			}
		})
	}
}

// oracleCase compares one case; it gives "" when all agrees.
func oracleCase(t *testing.T, ddl, base string) string {
	text, want := readFile(t, base+".sql"), readFile(t, base+".txt")
	s := newSession(t)
	for _, p := range sql.SplitAll(ddl) {
		s.run(p.Text) //nolint
	}
	pieces := sql.SplitAll(text)
	for _, p := range pieces[:len(pieces)-1] {
		s.must(p.Text)
	}
	last := pieces[len(pieces)-1].Text
	stmt, err := sql.Parse(last)
	if err != nil {
		return err.Error()
	}
	if e, ok := stmt.(*sql.Explain); ok {
		stmt = e.Stmt
	}
	x := &explanation{batch: s.pl.Config.Batch()}
	err = x.plan(s.pl, stmt)
	if refusal, ok := strings.CutPrefix(want, "ERROR "); ok {
		_, msg, _ := strings.Cut(refusal, ": ")
		first, _, _ := strings.Cut(msg, "\n")
		if err == nil {
			return "planned, but Flink refuses: " + first
		}
		got, _, _ := strings.Cut(err.Error(), "\n")
		if cut(got) != cut(first) {
			return fmt.Sprintf("refused with\n%s\nwant\n%s", got, first)
		}
		return ""
	}
	if err != nil {
		return fmt.Sprintf("%s\n%v", last, err)
	}
	selects := worded[filepath.Base(base)] == ""
	if got, want := canonicalText(withModes(x.graph), selects), canonicalText(want, selects); got != want {
		return fmt.Sprintf("%s\ngot\n%s\nwant\n%s", last, got, want)
	}
	if _, err := os.Stat(base + ".run.txt"); err != nil {
		return ""
	}
	return oracleRun(t, s, stmt, base)
}

// cut gives the beginning of a message, which is what people search for.
func cut(s string) string { return s[:min(len(s), 100)] }

// oracleRun compares the plan that runs.
func oracleRun(t *testing.T, s *session, stmt sql.Stmt, base string) string {
	var g *Graph
	var err error
	switch stmt := stmt.(type) {
	case *sql.Query:
		g, err = s.pl.Query(stmt, "")
	case *sql.Insert:
		g, err = s.pl.Insert(stmt, "")
	case *sql.StatementSet:
		g, err = s.pl.StatementSet(stmt.Stmts, "")
	}
	if err != nil {
		return "run: " + err.Error()
	}
	want := readFile(t, base+".run.txt")
	if got, want := canonicalText(withModes(g), false), canonicalText(want, false); got != want {
		return fmt.Sprintf("run: got\n%s\nwant\n%s", got, want)
	}
	if g.Batch { // which has no keys to upsert by
		return ""
	}
	return oracleKeys(g, want)
}

// oracleKeys compares the upsert keys, by the names of their columns. A node without any shows none; several keys are
// compared as a set, and those of helper columns that only Flink's plan keeps are left out.
func oracleKeys(g *Graph, want string) string {
	var got, wanted []string
	for _, s := range g.Sinks {
		var visit func(n Node)
		visit = func(n Node) {
			n = shown(n)
			switch n.(type) {
			case *Calc, *Sink, *Collect, *Scan, *MiniBatchAssigner: // a scan here reads fewer columns
			default:
				got = append(got, n.Base().Kind+" "+keySet(keyColumns(n)))
			}
			for _, i := range n.Base().Inputs {
				visit(i)
			}
		}
		visit(s)
	}
	for _, r := range readPlan(want) {
		var visit func(n *drawn)
		visit = func(n *drawn) {
			if n.kind != "Calc" && n.kind != "Sink" && n.kind != "TableSourceScan" && n.kind != "MiniBatchAssigner" {
				wanted = append(wanted, n.kind+" "+keySet(strings.Split(n.attrs["upsertKeys"], "], [")))
			}
			for _, i := range n.in {
				visit(i)
			}
		}
		visit(r)
	}
	if len(got) != len(wanted) {
		return fmt.Sprintf("upsert keys of %d nodes, want %d", len(got), len(wanted))
	}
	for i := range got {
		if got[i] != wanted[i] {
			return fmt.Sprintf("upsert keys: got %s, want %s", got[i], wanted[i])
		}
	}
	return ""
}

func keyColumns(n Node) []string {
	var keys []string
	for _, k := range n.Base().UpsertKeys {
		keys = append(keys, columnNames(n.Base().Fields, k))
	}
	if len(n.Base().UpsertKeys) == 1 && len(n.Base().UpsertKeys[0]) == 0 {
		return []string{"[[]]"}
	}
	return keys
}

func keySet(keys []string) string {
	var out []string
	for _, k := range keys {
		parts := strings.Split(strings.Trim(k, "[]"), ", ")
		sort.Strings(parts)
		text := strings.Join(parts, ",")
		if !strings.Contains(text, "w$") && (text != "" || strings.Contains(k, "[]")) {
			out = append(out, text)
		}
	}
	sort.Strings(out)
	return fmt.Sprintf("%q", out)
}
