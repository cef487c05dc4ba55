package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"testing"
	"time"

	"runnel/catalog"
	"runnel/exec"
	"runnel/session"
	"runnel/sql"
	"runnel/types"
)

// expression is a line of functions.tsv or aggregates.tsv.
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
			if k != 6 {
				c[k] = unescape(c[k])
			}
		}
		list = append(list, expression{c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8]})
	}
	return list
}

var escapes = strings.NewReplacer(`\t`, "\t", `\n`, "\n", `\r`, "\r", `\\`, `\`)
var unicodeEscape = regexp.MustCompile(`\\u[0-9a-f]{4}`)

func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	s = unicodeEscape.ReplaceAllStringFunc(s, func(u string) string {
		var n rune
		fmt.Sscanf(u[2:], "%x", &n)
		return string(n)
	})
	return escapes.Replace(s)
}

// asker evaluates expressions in a session of its own.
type asker struct {
	session *session.Session
	config  *catalog.Config
}

func newAsker(t *testing.T) *asker {
	t.Helper()
	c := exec.New(exec.Options{Slots: 8, Dir: t.TempDir()})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		c.Close(ctx)
	})
	s := setting(t)
	a := &asker{config: catalog.NewConfig()}
	a.session = session.New(session.Options{Catalog: catalog.New(), Config: a.config, Connectors: s.Connectors, Formats: s.Formats,
		Cluster: func() (*exec.Cluster, error) { return c, nil }})
	a.config.Set("execution.runtime-mode", "batch")
	a.config.Set("table.local-time-zone", "UTC")
	text, err := os.ReadFile(filepath.Join(oracleDir, "tables.sql"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range sql.SplitAll(string(text)) {
		if _, err := a.session.Execute(context.Background(), p.Text); err != nil {
			t.Fatalf("tables.sql: %v\n%.200s", err, p.Text)
		}
	}
	return a
}

// ask gives the type and the values of an expression, one per row.
func (a *asker) ask(e expression) (typ string, rows []*string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	for _, kv := range strings.Split(e.setup, ";") {
		if k, v, ok := strings.Cut(kv, "="); ok {
			if _, err := a.config.Set(k, v); err != nil {
				return "", nil, err
			}
			defer func() {
				a.config.Reset(k)
				a.config.Set("execution.runtime-mode", "batch")
				a.config.Set("table.local-time-zone", "UTC")
			}()
		}
	}
	q := "SELECT " + e.text + " AS c__0"
	switch {
	case strings.HasPrefix(e.table, "SELECT"):
		q += " FROM (" + e.table + ")"
	case e.table != "":
		q += " FROM " + e.table
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	res, err := a.session.Execute(ctx, q)
	if err != nil {
		return "", nil, err
	}
	defer res.Rows.Close()
	typ = res.Fields[0].Type.String()
	for {
		b, err := res.Rows.Next(ctx)
		if errors.Is(err, io.EOF) {
			return typ, rows, nil
		}
		if err != nil {
			return typ, rows, err
		}
		for k := range b.Rows() {
			i := b.Row(k)
			if b.Cols[0].Null(i) {
				rows = append(rows, nil)
				continue
			}
			s := string(types.AppendShown(nil, b.Cols[0], i, a.config.Zone()))
			rows = append(rows, &s)
		}
	}
}

// judge says how an answer differs from the recorded one, "" when it agrees.
func (a *asker) judge(e expression) string {
	typ, rows, err := a.ask(e)
	if e.err != "" {
		if err == nil {
			return fmt.Sprintf("no error, want %s", e.err)
		}
		return ""
	}
	if strings.HasPrefix(e.value, "[") && e.table != "" && !strings.HasPrefix(e.table, "SELECT") && !strings.Contains(e.table, " ") {
		return a.judgeRows(e, typ, rows, err)
	}
	if err != nil {
		return "error: " + firstLine(err.Error())
	}
	if typ != e.typ {
		return fmt.Sprintf("type %s, want %s", typ, e.typ)
	}
	if e.value == "*" {
		return ""
	}
	if len(rows) != 1 {
		return fmt.Sprintf("%d rows", len(rows))
	}
	return differs(e, rows[0], e.value)
}

func differs(e expression, got *string, want string) string {
	switch {
	case want == `\N` && got == nil:
		return ""
	case got == nil:
		return fmt.Sprintf("NULL, want %s", want)
	case want == `\N`:
		return fmt.Sprintf("%q, want NULL", *got)
	}
	if w := unescape(want); *got != w && sorted(e.typ, *got) != sorted(e.typ, w) {
		return fmt.Sprintf("%q, want %q", *got, w)
	}
	return ""
}

// sorted brings the entries of a map or multiset into one order, since Flink's is that of its hash map.
func sorted(typ, s string) string {
	if !strings.HasPrefix(typ, "MAP") && !strings.HasPrefix(typ, "MULTISET") || len(s) < 2 {
		return s
	}
	parts := strings.Split(s[1:len(s)-1], ", ")
	sort.Strings(parts)
	return strings.Join(parts, ", ")
}

// judgeRows compares the rows of a table; some of them may fail on their own.
func (a *asker) judgeRows(e expression, typ string, rows []*string, err error) string {
	var want []json.RawMessage
	if jerr := json.Unmarshal([]byte(unescape(e.value)), &want); jerr != nil {
		return "recorded value: " + jerr.Error()
	}
	failing := strings.Contains(e.value, `{"error"`)
	if failing {
		if err == nil {
			return "no row failed"
		}
		return ""
	}
	if err != nil {
		return "error: " + firstLine(err.Error())
	}
	if typ != e.typ {
		return fmt.Sprintf("type %s, want %s", typ, e.typ)
	}
	if len(rows) != len(want) {
		return fmt.Sprintf("%d rows, want %d", len(rows), len(want))
	}
	for i, w := range want {
		var s *string
		if jerr := json.Unmarshal(w, &s); jerr != nil {
			return "recorded value: " + jerr.Error()
		}
		switch {
		case s == nil && rows[i] == nil:
		case s == nil:
			return fmt.Sprintf("row %d: %q, want NULL", i+1, *rows[i])
		case rows[i] == nil:
			return fmt.Sprintf("row %d: NULL, want %q", i+1, *s)
		case *s != *rows[i] && sorted(e.typ, *s) != sorted(e.typ, *rows[i]):
			return fmt.Sprintf("row %d: %q, want %q", i+1, *rows[i], *s)
		}
	}
	return ""
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

// TestRecordedValues asks every recorded expression. Those that do not agree yet are counted by group in
// values.pending.txt, so that no group gets worse unseen. RUNNEL_VALUES_OUT names a file for the details, RUNNEL_UPDATE
// writes the counts anew.
func TestRecordedValues(t *testing.T) {
	pending := map[string]int{}
	for k, v := range listFile(t, "values.pending.txt") {
		var n int
		fmt.Sscan(v, &n)
		pending[k] = n
	}
	var out io.Writer = io.Discard
	if name := os.Getenv("RUNNEL_VALUES_OUT"); name != "" {
		f, err := os.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		out = f
	}
	a := newAsker(t)
	var agree, total [2]int
	wrong := map[string]int{}
	for _, file := range []string{"functions.tsv", "aggregates.tsv"} {
		for _, e := range loadExpressions(t, file) {
			k := 0
			if e.err != "" {
				k = 1
			}
			total[k]++
			why := a.judge(e)
			if why == "" {
				agree[k]++
				continue
			}
			g := strings.ReplaceAll(e.group, " ", "_")
			wrong[g]++
			fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\n", e.id, e.group, oneLine(e.table), oneLine(e.text), why)
		}
	}
	fmt.Printf("recorded expressions: %d of %d values and %d of %d errors agree\n", agree[0], total[0], agree[1], total[1])
	if os.Getenv("RUNNEL_UPDATE") != "" {
		writePending(t, wrong)
		return
	}
	for g, n := range wrong {
		if n != pending[g] {
			t.Errorf("group %s: %d disagree, values.pending.txt says %d", g, n, pending[g])
		}
	}
	for g, n := range pending {
		if wrong[g] == 0 {
			t.Errorf("group %s: all agree, values.pending.txt says %d", g, n)
		}
	}
}

// writePending records how many expressions of each group disagree.
func writePending(t *testing.T, wrong map[string]int) {
	t.Helper()
	var lines []string
	for g, n := range wrong {
		lines = append(lines, fmt.Sprintf("%s %d\n", g, n))
	}
	sort.Strings(lines)
	if err := os.WriteFile(filepath.Join(oracleDir, "values.pending.txt"), []byte(strings.Join(lines, "")), 0o644); err != nil {
		t.Fatal(err)
	}
}
