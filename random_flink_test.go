package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"runnel/internal/testkit"
	"runnel/session"
	"runnel/types"
)

// TestRandomFlink runs random queries of a wide grammar here and on a real Flink, and compares the changelogs at the level
// that Flink itself keeps from run to run, and the names and types of the columns. RUNNEL_FLINK is the address of a SQL
// gateway (http://localhost:8083), which must read the same files; RUNNEL_RANDOM_PIPELINES the number of queries,
// RUNNEL_RANDOM_SEED the first seed, RUNNEL_FLINK_DIR where rows, queries and answers are kept: a query that was answered
// before is not asked again. RUNNEL_FLINK_SCRIPT is a script to run in both places instead.
func TestRandomFlink(t *testing.T) {
	base := os.Getenv("RUNNEL_FLINK")
	if base == "" {
		t.Skip("runs with RUNNEL_FLINK only")
	}
	dir := os.Getenv("RUNNEL_FLINK_DIR")
	if dir == "" {
		dir = t.TempDir()
	}
	f := &flink{base: base + "/v2"}
	if path := os.Getenv("RUNNEL_FLINK_SCRIPT"); path != "" {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		q := scriptQuery(string(text))
		theirs, ours := f.run(q), runHere(t, q)
		t.Logf("Flink\n%s\nhere\n%s\n%s", theirs, ours, ours.unlike(theirs, testkit.Sequence))
		return
	}
	number := func(name string, n int) int {
		if v := os.Getenv(name); v != "" {
			var err error
			if n, err = strconv.Atoi(v); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		return n
	}
	seed := number("RUNNEL_RANDOM_SEED", 1)
	var mu sync.Mutex
	kinds, results := map[string]int{}, map[string]int{}
	t.Run("queries", func(t *testing.T) {
		for i := range number("RUNNEL_RANDOM_PIPELINES", 100) {
			t.Run(fmt.Sprint("seed-", seed+i), func(t *testing.T) {
				t.Parallel()
				q, err := newWideQuery(seed+i, filepath.Join(dir, fmt.Sprint(seed+i)))
				if err != nil {
					t.Fatal(err)
				}
				theirs, ours := f.answered(t, q), runHere(t, q)
				why, how := ours.unlike(theirs, q.level), "same rows"
				switch {
				case ours.Error == "" && flinkLimits.MatchString(theirs.Error):
					how = "Flink's limit"
				case why != "":
					how = "other"
					t.Errorf("%s\n%sFlink\n%s\nhere\n%s", why, q.script(), theirs, ours)
				case theirs.Error != "":
					how = "both refuse"
					t.Logf("refused\nFlink: %s\nhere:  %s\n%s", firstLine(theirs.Error), firstLine(ours.Error), q.query)
				case len(theirs.Rows) == 0:
					how = "both empty"
				}
				mu.Lock()
				defer mu.Unlock()
				results[how]++
				for k := range q.kinds {
					if how == "same rows" {
						kinds[k]++
					}
				}
			})
		}
	})
	fmt.Printf("random queries on Flink: %v\nkinds with the same rows: %v\n", results, kinds)
}

// flinkLimits are refusals, and failures, of queries that have a meaning.
var flinkLimits = regexp.MustCompile("implementation method 'merge'|unexpected correlate variable|Field names must be unique|" +
	"Equality join predicate on incompatible types|can not be empty|Type mismatch:|IndexOutOfBounds|Table '[A-Z]' not found|" +
	"TimeoutException|it did not end|timed out")

// ---- tables ----

type wideTable struct {
	name, columns, format string
	cols                  []wideColumn
}

var wideTables = map[string]*wideTable{
	"t": {"t", "id INT, k STRING, n INT, d DECIMAL(10, 2), f DOUBLE, z BOOLEAN, ts TIMESTAMP(3)", "json", []wideColumn{{"id", whole}, {"k", word}, {"n", whole}, {"d", exact}, {"f", float}, {"z", boolean}, {"ts", instant}}},
	"s": {"s", "id INT, k STRING, n INT, d DECIMAL(10, 2), ts TIMESTAMP(3)", "json", []wideColumn{{"id", whole}, {"k", word}, {"n", whole}, {"d", exact}, {"ts", instant}}},
	"o": {"o", "k STRING, n BIGINT, f DOUBLE, ts TIMESTAMP(3)", "json", []wideColumn{{"k", word}, {"n", whole}, {"f", float}, {"ts", instant}}},
	"a": {"a", "id INT, k STRING, tags ARRAY<STRING>, m MAP<STRING, INT>, ts TIMESTAMP(3)", "json", nil},
	"c": {"c", "id INT, k STRING, n INT, d DECIMAL(10, 2), PRIMARY KEY (id) NOT ENFORCED", "debezium-json", []wideColumn{{"id", whole}, {"k", word}, {"n", whole}, {"d", exact}}},
	"b": {"b", "k STRING, n BIGINT, f DOUBLE", "debezium-json", []wideColumn{{"k", word}, {"n", whole}, {"f", float}}},
	"x": {"x", "id BIGINT, k STRING, n INT, z BOOLEAN, PRIMARY KEY (id) NOT ENFORCED", "canal-json", []wideColumn{{"id", whole}, {"k", word}, {"n", whole}, {"z", boolean}}},
	"p": {"p", "id INT, k STRING, n INT, d DECIMAL(10, 2), ts TIMESTAMP(3), PRIMARY KEY (id) NOT ENFORCED", "debezium-json", []wideColumn{{"id", whole}, {"k", word}, {"n", whole}, {"d", exact}, {"ts", instant}}},
}

// cell makes a JSON value of a column.
func (m *wideMaker) cell(c wideColumn) any {
	switch {
	case m.one(8):
		return nil
	case c.class == whole:
		return m.IntN(7) - 1
	case c.class == word:
		return m.pick("a", "b", "c", "ab")
	case c.class == exact:
		return json.Number(fmt.Sprintf("%d.%02d", m.IntN(5), m.IntN(4)*25))
	case c.class == float:
		return float64(m.IntN(20)) / 4
	}
	return m.one(2)
}

// fill makes the lines of a table.
func (m *wideMaker) fill(t *wideTable, late int) string {
	var b strings.Builder
	line := func(v any) { j, _ := json.Marshal(v); b.Write(j); b.WriteByte('\n') }
	now := time.Date(2024, 6, 3, 7, 0, 0, 0, time.UTC)
	stamp := func() string {
		now = now.Add(time.Duration(m.IntN(9)) * 500 * time.Millisecond)
		at := now
		if late > 0 && m.one(4) {
			at = at.Add(-time.Duration(m.IntN(late)) * 500 * time.Millisecond)
		}
		return at.Format("2006-01-02 15:04:05.000")
	}
	row := func(id int) map[string]any {
		r := map[string]any{}
		for _, c := range t.cols {
			r[c.name] = m.cell(c)
			switch {
			case c.name == "id" && t.format != "json":
				r[c.name] = id
			case c.class == instant:
				r[c.name] = stamp()
			}
		}
		if t.name == "a" {
			r = map[string]any{"id": m.IntN(5), "k": m.pick("a", "b"), "ts": stamp()}
			tags := []any{}
			for range m.IntN(4) {
				tags = append(tags, m.cell(wideColumn{"", word}))
			}
			if r["tags"] = tags; m.one(6) {
				r["tags"] = nil
			}
			mp := map[string]any{}
			for range m.IntN(3) {
				mp[m.pick("a", "b", "c")] = m.cell(wideColumn{"", whole})
			}
			r["m"] = mp
		}
		return r
	}
	there := map[int][]map[string]any{}
	for range m.IntN(15) {
		id := m.IntN(5)
		switch old := there[id]; {
		case t.format == "json":
			line(row(0))
		case len(old) == 0 || t.name == "b" && m.one(2):
			r := row(id)
			there[id] = append(old, r)
			line(message(t, nil, r))
		case m.one(3):
			last := old[len(old)-1]
			if there[id] = old[:len(old)-1]; t.name == "p" {
				last["ts"] = stamp()
			}
			line(message(t, last, nil))
		default:
			r := row(id)
			if m.one(4) {
				for _, c := range t.cols { // only one column changes
					if c.name != "n" && c.class != instant {
						r[c.name] = old[len(old)-1][c.name]
					}
				}
			}
			line(message(t, old[len(old)-1], r))
			old[len(old)-1] = r
		}
	}
	return b.String()
}

// message is one of Debezium or Canal.
func message(t *wideTable, before, after map[string]any) any {
	op, kind := "u", "UPDATE"
	if before == nil {
		op, kind = "c", "INSERT"
	} else if after == nil {
		op, kind = "d", "DELETE"
	}
	if t.format == "debezium-json" {
		return map[string]any{"before": before, "after": after, "op": op}
	}
	msg := map[string]any{"type": kind, "data": []any{after}, "old": nil}
	if after == nil {
		msg["data"] = []any{before}
	} else if before != nil {
		old := map[string]any{}
		for k, v := range before {
			if v != after[k] {
				old[k] = v
			}
		}
		msg["old"] = []any{old}
	}
	return msg
}

// wideQuery is a random query with all that it needs.
type wideQuery struct {
	dir   string
	set   [][2]string
	setup []string
	query string
	level testkit.Level
	kinds map[string]bool
}

// newWideQuery makes the query of a seed and writes its rows.
func newWideQuery(seed int, dir string) (*wideQuery, error) {
	m := &wideMaker{Rand: rand.New(rand.NewPCG(uint64(seed), 9)), kinds: map[string]bool{}}
	m.two = m.one(2)
	w := m.relation(1 + m.IntN(4))
	q := &wideQuery{dir: dir, query: w.text, level: w.level, kinds: m.kinds}
	if m.one(7) {
		m.note("mini-batch")
		q.set = append(q.set, [2]string{"table.exec.mini-batch.enabled", "true"}, [2]string{"table.exec.mini-batch.allow-latency", "100 s"}, [2]string{"table.exec.mini-batch.size", fmt.Sprint(1 + m.IntN(9))})
		q.level = testkit.Final
	}
	if m.one(10) {
		q.set = append(q.set, [2]string{"table.exec.source.cdc-events-duplicate", "true"})
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	names := []string{}
	for n := range wideTables {
		names = append(names, n)
	}
	slices.Sort(names)
	all := strings.Join(append(slices.Clone(m.views), w.text), "\n")
	for _, n := range names {
		t := wideTables[n]
		late, delay := 0, m.IntN(4)
		if m.one(2) {
			late = 2 * delay
		}
		if n == "t" && !m.two && m.one(2) {
			late = 12
		}
		rows := m.fill(t, late)
		if !regexp.MustCompile(`\b(FROM|JOIN) ` + n + `\b`).MatchString(all) {
			continue
		}
		path := filepath.Join(dir, n)
		if err := os.WriteFile(path, []byte(rows), 0o644); err != nil {
			return nil, err
		}
		cols := t.columns
		if strings.Contains(cols, "ts TIMESTAMP") {
			cols += fmt.Sprintf(", WATERMARK FOR ts AS ts - INTERVAL '%d' SECOND", delay)
		}
		q.setup = append(q.setup, fmt.Sprintf("CREATE TABLE %s (%s) WITH ('connector' = 'filesystem', 'path' = '%s', 'format' = '%s')", n, cols, path, t.format))
	}
	q.setup = append(q.setup, m.views...)
	return q, os.WriteFile(filepath.Join(dir, "query.sql"), []byte(q.script()), 0o644)
}

var setStatement = regexp.MustCompile(`(?s)^\s*SET\s+'([^']*)'\s*=\s*'([^']*)'\s*$`)

// scriptQuery reads a script; statements end at a semicolon at the end of a line.
func scriptQuery(text string) *wideQuery {
	q := &wideQuery{}
	for s := range strings.SplitSeq(strings.TrimSpace(text), ";\n") {
		if s = strings.TrimSuffix(strings.TrimSpace(s), ";"); s == "" {
			continue
		}
		if kv := setStatement.FindStringSubmatch(s); kv != nil {
			q.set = append(q.set, [2]string{kv[1], kv[2]})
			continue
		}
		if q.query != "" {
			q.setup = append(q.setup, q.query)
		}
		q.query = s
	}
	return q
}

func (q *wideQuery) script() string {
	var b strings.Builder
	for _, kv := range q.set {
		fmt.Fprintf(&b, "SET '%s' = '%s';\n", kv[0], kv[1])
	}
	for _, s := range append(slices.Clone(q.setup), q.query) {
		b.WriteString(s + ";\n")
	}
	return b.String()
}

// ---- running ----

// answer is what a query gives.
type answer struct {
	Header []string // name and type of each column
	Rows   []testkit.Change
	Error  string
}

// String prints the answer.
func (a answer) String() string {
	if a.Error != "" {
		return "error: " + a.Error[:min(len(a.Error), 600)]
	}
	b := strings.Join(a.Header, ", ")
	for _, c := range a.Rows {
		b += "\n  " + c.String()
	}
	return b
}

// unlike says how an answer differs from Flink's, "" when it does not.
func (a answer) unlike(flink answer, level testkit.Level) string {
	switch {
	case flink.Error != "" && a.Error != "":
		return ""
	case flink.Error != "":
		return "Flink refuses: " + firstLine(flink.Error)
	case a.Error != "":
		return "refused here: " + firstLine(a.Error)
	}
	if why := testkit.Compare(level, flink.Rows, a.Rows); why != "" {
		return why
	}
	if f, h := strings.Join(flink.Header, ", "), strings.Join(a.Header, ", "); f != h {
		return fmt.Sprintf("header %s, Flink's: %s", h, f)
	}
	return ""
}

func runHere(t *testing.T, q *wideQuery) (a answer) {
	s := setting(t)
	s.Dir = scratch(t)
	s.Set = append(s.Set, q.set...)
	text := "SET 'parallelism.default' = '1';\nSET 'table.local-time-zone' = 'UTC';\n" + q.script()
	got, err := testkit.Run(s, text)
	if err == nil {
		err = got.Err
	}
	if err != nil {
		a.Error = errorText(err)
		var e *session.Error
		if errors.As(err, &e) {
			a.Error = e.Error()
		}
	}
	for _, f := range got.Fields {
		a.Header = append(a.Header, f.Name+" "+f.Type.String())
	}
	a.Rows = got.Select
	return a
}

// flink talks to a SQL gateway.
type flink struct{ base string }

func (f *flink) call(method, path string, body, into any) error {
	var b bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&b).Encode(body); err != nil {
			return err
		}
	}
	req, err := http.NewRequest(method, f.base+path, &b)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 300 {
		var e struct{ Errors []string }
		if err := json.NewDecoder(resp.Body).Decode(&e); err != nil {
			return err
		}
		return errors.New(rootCause(strings.Join(e.Errors, "\n")))
	}
	return json.NewDecoder(resp.Body).Decode(into)
}

var causes = regexp.MustCompile(`(?s)Caused by: (.*?)(?:\n\tat |\n\nEnd|$)`)

func rootCause(trace string) string {
	if all := causes.FindAllStringSubmatch(trace, -1); len(all) > 0 {
		return all[len(all)-1][1]
	}
	return trace
}

// answered gives Flink's answer, that of an earlier run if there is one.
func (f *flink) answered(t *testing.T, q *wideQuery) (a answer) {
	path := filepath.Join(q.dir, "flink.json")
	type kept struct {
		Script string
		Answer answer
	}
	var k kept
	if b, err := os.ReadFile(path); err == nil && json.Unmarshal(b, &k) == nil && k.Script == q.script() {
		return k.Answer
	}
	k = kept{q.script(), f.run(q)}
	if b, err := json.Marshal(k); err != nil {
		t.Fatal(err)
	} else if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return k.Answer
}

// run executes a query in a session of its own.
func (f *flink) run(q *wideQuery) (a answer) {
	props := map[string]string{"parallelism.default": "1", "table.local-time-zone": "UTC"}
	for _, kv := range q.set {
		props[kv[0]] = kv[1]
	}
	var opened struct{ SessionHandle string }
	if err := f.call("POST", "/sessions", map[string]any{"properties": props}, &opened); err != nil {
		return answer{Error: err.Error()}
	}
	at := "/sessions/" + opened.SessionHandle
	defer f.call("DELETE", at, nil, &struct{}{})
	for _, s := range q.setup {
		if a = f.statement(at, s); a.Error != "" {
			return a
		}
	}
	return f.statement(at, q.query)
}

// result is a page of an operation's result.
type result struct {
	ResultType    string
	NextResultURI string `json:"nextResultUri"`
	Results       struct {
		Columns []struct {
			Name        string
			LogicalType map[string]any
		}
		Data []struct {
			Kind   string
			Fields []*string
		}
	}
}

var rowKinds = map[string]string{"INSERT": "+I", "UPDATE_BEFORE": "-U", "UPDATE_AFTER": "+U", "DELETE": "-D"}

func (f *flink) statement(at, text string) (a answer) {
	var op struct{ OperationHandle string }
	if err := f.call("POST", at+"/statements", map[string]any{"statement": text}, &op); err != nil {
		return answer{Error: err.Error()}
	}
	path := at + "/operations/" + op.OperationHandle + "/result/0?rowFormat=PLAIN_TEXT"
	for end := time.Now().Add(time.Minute); path != ""; {
		if time.Now().After(end) {
			f.call("POST", at+"/operations/"+op.OperationHandle+"/cancel", nil, &struct{}{})
			return answer{Error: "it did not end"}
		}
		var r result
		if err := f.call("GET", path, nil, &r); err != nil {
			return answer{Error: err.Error()}
		}
		if len(r.Results.Data) == 0 && r.ResultType != "EOS" {
			time.Sleep(20 * time.Millisecond)
		}
		if r.ResultType == "NOT_READY" {
			continue
		}
		if a.Header == nil {
			for _, c := range r.Results.Columns {
				a.Header = append(a.Header, c.Name+" "+flinkType(c.LogicalType))
			}
		}
		for _, d := range r.Results.Data {
			c := testkit.Change{Kind: rowKinds[d.Kind]}
			for _, s := range d.Fields {
				if s == nil {
					c.Cells = append(c.Cells, "<NULL>")
				} else {
					c.Cells = append(c.Cells, *s)
				}
			}
			a.Rows = append(a.Rows, c)
		}
		path = r.NextResultURI
		path = path[max(0, strings.Index(path, "/sessions")):]
	}
	return a
}

// flinkType prints a type of the gateway as we do.
func flinkType(t map[string]any) string {
	s := fmt.Sprint(t["type"])
	switch {
	case s == "INTEGER":
		s = "INT"
	case s == "DECIMAL":
		s = fmt.Sprintf("DECIMAL(%v, %v)", t["precision"], t["scale"])
	case s == "VARCHAR" && t["length"] == float64(types.MaxLength):
		s = "STRING"
	case s == "VARCHAR" || s == "CHAR":
		s = fmt.Sprintf("%s(%v)", s, t["length"])
	case strings.HasPrefix(s, "TIMESTAMP_WITHOUT"):
		s = fmt.Sprintf("TIMESTAMP(%v)", t["precision"])
	}
	if t["nullable"] == false {
		s += " NOT NULL"
	}
	return s
}
