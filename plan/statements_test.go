package plan

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"runnel/catalog"
	"runnel/sql"
)

// testdata/statements holds statements and what a real Flink 1.20.5 answered: rows, or class and message of the error. A
// file is one session. What has to agree: whether a statement fails, class and first line of the error, and the rows of
// SHOW and DESCRIBE.

// otherwise lists the statements that we answer differently on purpose, or not yet, with the reason.
var otherwise = map[string]string{
	"SHOW VIEWS FROM default_database":   "taken, as in Flink 2",
	"SHOW CATALOGS LIKE 'x'":             "taken, as in Flink 2",
	"DESCRIBE DATABASE default_database": "parsed; session refuses it",
	"DESCRIBE FUNCTION abs":              "parsed; session answers it, as in Flink 2",

	"EXPLAIN SELECT * FROM TUMBLE(TABLE o, DESCRIPTOR(ts), INTERVAL '1' MINUTE)":           "taken, as in Flink 2",
	"EXPLAIN SELECT id FROM o QUALIFY ROW_NUMBER() OVER (PARTITION BY id ORDER BY ts) = 1": "taken, as in Flink 2",
	"EXPLAIN SELECT id, k FROM o CROSS JOIN UNNEST(arr) WITH ORDINALITY AS t(k, n)":        "taken, as in Flink 2",
	"EXPLAIN SELECT COUNT(id, qty) FROM o":                                                 "taken: counts the rows without a null",
	"SELECT 1":                                                                             "inside BEGIN STATEMENT SET, of which session knows",
	"SET 'a'='b'":                                                                          "inside BEGIN STATEMENT SET, of which session knows",
	"SHOW TABLES":                                                                          "inside BEGIN STATEMENT SET, of which session knows",
	"CREATE TABLE q (a INT) WITH ('connector'='print')":                                    "inside BEGIN STATEMENT SET, of which session knows",
}

type recorded struct {
	SQL   string  `json:"sql"`
	Error string  `json:"error"`
	Rows  [][]any `json:"rows"`
}

func readRecorded(t *testing.T, name string) []recorded {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []recorded
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<22)
	for lines.Scan() {
		var r recorded
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

// answer runs any statement that catalog and plan can answer; ok is false for the others.
func (s *session) answer(text string) (rows [][]any, err error, ok bool) {
	stmt, err := sql.Parse(text)
	if err != nil {
		return nil, err, true
	}
	c := s.pl.Catalog
	if handled, err := c.Apply(stmt, s.pl); handled {
		return nil, err, true
	}
	one := func(v string, err error) ([][]any, error, bool) { return [][]any{{v}}, err, true }
	list := func(vs []string, err error) ([][]any, error, bool) {
		for _, v := range vs {
			rows = append(rows, []any{v})
		}
		return rows, err, true
	}
	switch stmt := stmt.(type) {
	case *sql.Query:
		_, err = s.pl.Query(stmt, text)
		return nil, err, true
	case *sql.Insert:
		_, err = s.pl.Insert(stmt, text)
		return nil, err, true
	case *sql.Explain:
		_, err = s.pl.Explain(stmt)
		return nil, err, true
	case *sql.Set:
		_, err = s.pl.Config.Set(stmt.Key, stmt.Value)
		return nil, err, true
	case *sql.Reset:
		s.pl.Config.Reset(stmt.Key)
		return nil, nil, true
	case *sql.Show:
		switch stmt.Kind {
		case sql.ShowCatalogs:
			return list(c.Catalogs(), nil)
		case sql.ShowDatabases:
			name := ""
			if stmt.In != nil {
				name = stmt.In.Last()
			}
			return list(c.Databases(name))
		case sql.ShowCurrentDatabase:
			_, db := c.Current()
			return one(db, nil)
		case sql.ShowTables:
			return list(c.Tables(stmt.In, false))
		case sql.ShowViews:
			return list(c.Tables(nil, true))
		case sql.ShowCreateTable:
			return one(c.ShowCreateTable(stmt.In))
		case sql.ShowCreateView:
			return one(c.ShowCreateView(stmt.In))
		case sql.ShowCreateCatalog:
			return one(c.ShowCreateCatalog(stmt.In))
		case sql.ShowPartitions:
			return list(c.Partitions(stmt.In))
		case sql.ShowColumns:
			return s.describe(stmt.In)
		}
	case *sql.Describe:
		if stmt.Object == sql.ObjectCatalog {
			rows, err := c.DescribeCatalog(stmt.Name, stmt.Extended)
			var out [][]any
			for _, o := range rows {
				out = append(out, []any{o.Key, o.Value})
			}
			return out, err, true
		}
		return s.describe(stmt.Name)
	}
	return nil, nil, false
}

func (s *session) describe(n *sql.Name) ([][]any, error, bool) {
	infos, comments, err := s.pl.Catalog.Describe(n)
	var rows [][]any
	null := func(v string) any {
		if v == "" {
			return nil
		}
		return v
	}
	for _, i := range infos {
		row := []any{i.Name, i.Type, i.Null, null(i.Key), null(i.Extras), null(i.Watermark)}
		if comments {
			row = append(row, null(i.Comment))
		}
		rows = append(rows, row)
	}
	return rows, err, true
}

// classOf gives class and first line of an error.
func classOf(err error) (class, line string) {
	var c *catalog.Error
	var p *sql.Error
	msg := err.Error()
	switch {
	case errors.As(err, &c):
		class, msg = c.Class, c.Msg
	case errors.As(err, &p):
		class, msg = p.Class, p.Msg
	}
	line, _, _ = strings.Cut(msg, "\n")
	return class, strings.TrimSpace(line)
}

func TestRecordedStatements(t *testing.T) {
	for _, file := range []string{"create-errors", "alter", "catalogs", "dropview", "queries", "dml-and-sets"} {
		s := newSession(t)
		for _, r := range readRecorded(t, "testdata/statements/"+file+".jsonl") {
			rows, err, ok := s.answer(r.SQL)
			if !ok {
				continue
			}
			problem := compareAnswer(r, rows, err)
			reason, listed := otherwise[r.SQL]
			if listed {
				if problem == "" && file == "queries" {
					t.Errorf("%s: %s: agrees now: take it off the list (%s)", file, r.SQL, reason)
				}
			} else if problem != "" {
				t.Errorf("%s: %s: %s", file, r.SQL, problem)
			}
		}
	}
}

func compareAnswer(r recorded, rows [][]any, err error) string {
	if r.Error != "" {
		class, msg, _ := strings.Cut(r.Error, ": ")
		first, _, _ := strings.Cut(msg, "\n")
		first = strings.TrimSpace(first)
		if err == nil {
			return "accepted, but Flink says: " + r.Error
		}
		gotClass, got := classOf(err)
		if gotClass != class || got != first {
			return fmt.Sprintf("\n got %s: %s\nwant %s: %s", gotClass, got, class, first)
		}
		return ""
	}
	if err != nil {
		return "refused: " + err.Error()
	}
	if len(rows) == 0 || len(r.Rows) == 0 || strings.HasPrefix(r.SQL, "EXPLAIN") {
		return ""
	}
	got, _ := json.Marshal(rows)
	want, _ := json.Marshal(r.Rows)
	if string(got) != string(want) {
		return fmt.Sprintf("\n got %s\nwant %s", got, want)
	}
	return ""
}
