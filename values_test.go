package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"runnel/catalog"
	"runnel/exec"
	"runnel/internal/recorded"
	"runnel/internal/testkit"
	"runnel/session"
	"runnel/sql"
	"runnel/types"
)

// expression is a line of functions.tsv, of aggregates.tsv, or of asked.tsv, where answers to later questions stand.
type expression struct {
	id, group, setup, table, text, typ, value, err, note string
}

func loadExpressions(t *testing.T, name string) []expression {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(oracleDir, name))
	if err != nil {
		t.Fatal(err)
	}
	var list []expression
	for i, line := range strings.Split(strings.TrimSuffix(string(b), "\n"), "\n") {
		if i == 0 {
			continue
		}
		c := strings.Split(line, "\t")
		for len(c) < 9 {
			c = append(c, "")
		}
		for k := range c {
			if k != 6 { // the value is undone when it is compared: \N is no text
				c[k] = recorded.Unescape(c[k])
			}
		}
		list = append(list, expression{c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8]})
	}
	return list
}

// query is the statement that asks for an expression.
func (e expression) query() string {
	q := "SELECT " + e.text + " AS c__0"
	switch {
	case strings.HasPrefix(e.table, "SELECT"):
		q += " FROM (" + e.table + ")"
	case e.table != "":
		q += " FROM " + e.table
	}
	return q
}

// asker evaluates expressions in a session of its own.
type asker struct {
	session *session.Session
	config  *catalog.Config
	catalog *catalog.Catalog
	rows    *testkit.Given
	columns int // expressions whose literals were put into columns
}

// newAsker makes one; unfolded leaves constants to the run time and gives the tables' rows, and literals that are columns
// of a subquery, under selection vectors, among NULLs.
func newAsker(t *testing.T, unfolded bool) *asker {
	t.Helper()
	c := exec.New(exec.Options{Slots: 8, Dir: t.TempDir()}) // unchecked: NULLs in columns that are NOT NULL are part of the recording
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		c.Close(ctx)
	})
	s := setting(t)
	a := &asker{config: catalog.NewConfig(), catalog: catalog.New(), rows: testkit.NewGiven()}
	a.rows.Sparse = unfolded
	a.session = session.New(session.Options{Catalog: a.catalog, Config: a.config, Connectors: append(s.Connectors, a.rows.Connector()),
		Formats: s.Formats, Cluster: func() (*exec.Cluster, error) { return c, nil }, Unfolded: unfolded})
	a.settle()
	if err := a.loadTables(); err != nil {
		t.Fatal(err)
	}
	return a
}

// flinksConstants are values of the input tables that Flink's folding changed before they were recorded (functions.md,
// "Input tables").
var flinksConstants = strings.NewReplacer("'-0.0'", "'0.0'", "3.4028235E38", "3.402823E38")

// loadTables makes the input tables: rows that were evaluated once, in UTC, as in the recording.
func (a *asker) loadTables() error {
	text, err := os.ReadFile(filepath.Join(oracleDir, "tables.sql"))
	if err != nil {
		return err
	}
	ctx := context.Background()
	for _, p := range sql.SplitAll(flinksConstants.Replace(string(text))) {
		if _, err := a.session.Execute(ctx, p.Text); err != nil {
			return fmt.Errorf("tables.sql: %w", err)
		}
	}
	for _, name := range []string{"t", "strs", "nums", "times", "docs", "g"} {
		fields, rows, err := a.run(ctx, "SELECT * FROM "+name)
		if err != nil {
			return fmt.Errorf("table %s: %w", name, err)
		}
		if _, err := a.session.Execute(ctx, "DROP TEMPORARY VIEW "+name); err != nil {
			return err
		}
		if err := a.catalog.Add(a.rows.Table(name, fields, rows), false); err != nil {
			return err
		}
	}
	return nil
}

// settle sets the options under which the recording was made.
func (a *asker) settle() {
	a.config.Set("execution.runtime-mode", "batch")
	a.config.Set("table.local-time-zone", "UTC")
}

// setup sets the options of an expression until undo is called.
func (a *asker) setup(e expression) (undo func(), err error) {
	var keys []string
	undo = func() {
		for _, k := range keys {
			a.config.Reset(k)
		}
		a.settle()
	}
	for _, kv := range strings.Split(e.setup, ";") {
		if k, v, ok := strings.Cut(kv, "="); ok {
			keys = append(keys, k)
			if _, err := a.config.Set(k, v); err != nil {
				return undo, err
			}
		}
	}
	return undo, nil
}

// run gives all rows of a query, those before an error too.
func (a *asker) run(ctx context.Context, query string) (fields []types.Field, rows *types.Batch, err error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	res, err := a.session.Execute(ctx, query)
	if err != nil {
		return nil, nil, err
	}
	defer res.Rows.Close()
	rows = types.NewBatch(res.Fields)
	for {
		b, err := res.Rows.Next(ctx)
		if errors.Is(err, io.EOF) {
			return res.Fields, rows, nil
		}
		if err != nil {
			return res.Fields, rows, err
		}
		for k := range b.Rows() {
			rows.AppendRow(b, b.Row(k), types.Insert)
		}
	}
}

// literalsTable is the table for the literals of an expression.
const literalsTable = "c__literals"

// inColumns puts the literals of an expression over "SELECT literal AS a1, .." into a table whose rows come under selection
// vectors. It gives false where they cannot be columns of a table: an untyped NULL, and literals that fail.
func (a *asker) inColumns(e *expression) bool {
	fields, rows, err := a.run(context.Background(), e.table)
	if err != nil {
		return false
	}
	for _, f := range fields {
		if f.Type.Kind == types.Null || f.Type.Attr != types.NoAttr {
			return false
		}
	}
	if err := a.catalog.Add(a.rows.Table(literalsTable, fields, rows), false); err != nil {
		return false
	}
	e.table = literalsTable
	return true
}

// ask gives the type and the values of an expression, one per row.
func (a *asker) ask(e expression) (typ string, values []*string, err error) {
	undo, err := a.setup(e)
	defer undo()
	if err != nil {
		return "", nil, err
	}
	if a.rows.Sparse && strings.HasPrefix(e.table, "SELECT ") && !strings.Contains(e.table, " FROM ") && a.inColumns(&e) {
		a.columns++
		defer a.session.Execute(context.Background(), "DROP TEMPORARY TABLE "+literalsTable)
	}
	fields, rows, err := a.run(context.Background(), e.query())
	if rows == nil {
		return "", nil, err
	}
	return summary(fields[0].Type), a.shown(rows), err
}

// summary writes a type as Flink's schemas do.
func summary(t types.Type) string {
	return t.String() + map[types.TimeAttr]string{types.Rowtime: " *ROWTIME*", types.Proctime: " *PROCTIME*"}[t.Attr]
}

// shown writes the first column as the client does, NULL as nil.
func (a *asker) shown(rows *types.Batch) []*string {
	list := make([]*string, rows.Len)
	for i := range list {
		if c := rows.Cols[0]; !c.Null(int32(i)) {
			s := string(types.AppendShown(nil, c, int32(i), a.config.Zone()))
			list[i] = &s
		}
	}
	return list
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

// difference is a line of values.differences.tsv: an expression that we answer otherwise on purpose, the group of
// docs/differences.md (a row of its table "Values") that says why, and our answer.
type difference struct{ group, ours string }

const differencesFile = "values.differences.tsv"

func loadDifferences(t *testing.T) map[string]difference {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(oracleDir, differencesFile))
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]difference{}
	for line := range strings.Lines(string(b)) {
		c := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 3)
		if len(c) != 3 {
			t.Fatalf("%s: %q", differencesFile, line)
		}
		m[c[0]] = difference{c[1], c[2]}
	}
	return m
}

// verdict is the outcome of one expression.
type verdict struct {
	expression
	why  string // "" when it agrees
	ours string
}

// askAll asks every expression of a file, with as many askers as there are processors; columns counts those whose literals
// were put into columns.
func askAll(t *testing.T, file string, unfolded bool) (out []verdict, columns int) {
	t.Helper()
	list := loadExpressions(t, file)
	overColumns := map[string]expression{}
	for _, e := range list {
		if id, ok := strings.CutSuffix(e.id, "c"); ok {
			overColumns[id] = e
		}
	}
	if only := os.Getenv("RUNNEL_VALUES_ONLY"); only != "" {
		re := regexp.MustCompile(only)
		var few []expression
		for _, e := range list {
			if re.MatchString(e.id) {
				few = append(few, e)
			}
		}
		list = few
	}
	out = make([]verdict, len(list))
	askers := make([]*asker, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for k := range askers {
		a := newAsker(t, unfolded)
		askers[k] = a
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := k; i < len(list); i += len(askers) {
				why, ours := a.judge(list[i])
				if o, ok := overColumns[list[i].id]; why != "" && unfolded && ok { // Flink's answer at run time, if it has another
					o.text, o.table = list[i].text, list[i].table
					if w, _ := a.judge(o); w == "" {
						why = ""
					}
				}
				out[i] = verdict{list[i], why, ours}
			}
		}()
	}
	wg.Wait()
	for _, a := range askers {
		columns += a.columns
	}
	return out, columns
}

// tally counts value rows and error rows apart.
type tally struct{ agree, listed, total [2]int }

func (c tally) String() string {
	word := func(k int) string {
		return fmt.Sprintf("%d of %d agree, %d differ as listed", c.agree[k], c.total[k], c.listed[k])
	}
	return "values: " + word(0) + "; errors: " + word(1)
}

// TestRecordedValues asks every recorded expression, with constants folded and with constants left to the run time. What
// does not agree is listed in values.differences.tsv with its group and our answer. RUNNEL_VALUES_ONLY is a pattern of
// ids to ask alone, RUNNEL_VALUES_OUT a file for what is wrong; RUNNEL_UPDATE writes our answers into the list anew.
func TestRecordedValues(t *testing.T) {
	listed := loadDifferences(t)
	var out io.Writer = io.Discard
	if name := os.Getenv("RUNNEL_VALUES_OUT"); name != "" {
		f, err := os.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		out = f
	}
	update := os.Getenv("RUNNEL_UPDATE") != ""
	checkGroups(t, listed)
	wrong, differ := 0, map[string]bool{}
	for _, run := range []struct {
		file, mode string
		unfolded   bool
	}{{"functions.tsv", "folded", false}, {"aggregates.tsv", "folded", false}, {"asked.tsv", "folded", false},
		{"functions.tsv", "at run time", true}} {
		var c tally
		verdicts, columns := askAll(t, run.file, run.unfolded)
		for _, v := range verdicts {
			k := 0
			if v.err != "" {
				k = 1
			}
			c.total[k]++
			d, is := listed[v.id]
			if v.why != "" {
				differ[v.id] = true
			}
			switch {
			case v.why == "":
				c.agree[k]++
				continue
			case is && d.ours == oneLine(v.ours):
				c.listed[k]++
				continue
			case is && update:
				listed[v.id] = difference{d.group, oneLine(v.ours)}
				continue
			case is:
				v.why = fmt.Sprintf("%s, listed as %s", v.ours, d.ours)
			}
			if wrong++; wrong <= 20 {
				t.Errorf("%s %s: %s: %s", v.id, run.mode, oneLine(v.query()), v.why)
			}
			fmt.Fprintln(out, strings.Join([]string{v.id, run.mode, v.group, oneLine(v.query()), oneLine(v.why), oneLine(v.ours), v.err, v.note}, "\t"))
		}
		fmt.Printf("%s %s: %s; %d with literals in columns under selection vectors\n", run.file, run.mode, c, columns)
		if run.unfolded && columns < 5000 && os.Getenv("RUNNEL_VALUES_ONLY") == "" {
			t.Errorf("only %d expressions had their literals in columns", columns)
		}
	}
	if wrong > 20 {
		t.Errorf("%d more", wrong-20)
	}
	for id := range listed {
		if !differ[id] && os.Getenv("RUNNEL_VALUES_ONLY") == "" {
			t.Errorf("%s agrees: take it off %s", id, differencesFile)
		}
	}
	if update {
		writeDifferences(t, listed)
	}
}

// checkGroups holds the list and the table "Values" of docs/differences.md together: every group of the one is in the other.
func checkGroups(t *testing.T, listed map[string]difference) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("docs", "differences.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(b), "\n## Values\n")
	text, _, _ = strings.Cut(text, "\n## ")
	used := map[string]int{}
	for _, d := range listed {
		used[d.group]++
	}
	described := map[string]bool{}
	for line := range strings.Lines(text) {
		if cells := strings.Split(line, " | "); len(cells) > 1 {
			described[strings.TrimPrefix(cells[0], "| ")] = true
		}
	}
	delete(described, "group")
	for g, n := range used {
		if !described[g] {
			t.Errorf("group %q of %d ids in %s is not described in docs/differences.md", g, n, differencesFile)
		}
	}
	for g := range described {
		if used[g] == 0 {
			t.Errorf("docs/differences.md describes the group %q, which no id of %s has", g, differencesFile)
		}
	}
}

func writeDifferences(t *testing.T, list map[string]difference) {
	t.Helper()
	var lines []string
	for id, d := range list {
		lines = append(lines, id+"\t"+d.group+"\t"+d.ours+"\n")
	}
	sort.Strings(lines)
	if err := os.WriteFile(filepath.Join(oracleDir, differencesFile), []byte(strings.Join(lines, "")), 0o644); err != nil {
		t.Fatal(err)
	}
}
