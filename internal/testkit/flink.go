package testkit

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"runnel/catalog"
	"runnel/session"
	"runnel/sql"
	"runnel/types"
)

// Foreign is a logic test in words that another Flink SQL engine understands: the rows lie in files, and queries read
// those. Statement sets and inserts write to print sinks.
type Foreign struct {
	Name  string   `json:"name"`
	Setup []string `json:"setup"`
	Query string   `json:"query"`
	Batch bool     `json:"batch"` // the query gives the same rows in batch mode
	Error bool     `json:"error"` // it is refused
}

var rowsConnector = regexp.MustCompile(`'connector'\s*=\s*'rows'`)
var rowsOptions = regexp.MustCompile(`,?\s*'(changelog-mode|splits|split-by)'\s*=\s*'[^']*'`)

var upsertRows = regexp.MustCompile(`'changelog-mode'\s*=\s*'I,UA,D'`)

// Interleaved reports whether the test says in which order the rows of several tables come.
func (t Test) Interleaved() bool {
	tables := map[string]bool{}
	for _, st := range t.Script.Steps[:t.At] {
		if st.Rows != nil {
			tables[st.Rows.Table] = true
		}
	}
	return len(tables) > 1
}

// ForFlink gives a test for another engine, with the rows in files below dir. Rows of several tables are read beside each
// other there. ok is false for tests that write to sinks, that have watermarks of splits, and for those in which time
// passes.
func ForFlink(t Test, dir string, s Setting) (f Foreign, ok bool, err error) {
	if _, query := parseQuery(t.Step().SQL); !query {
		return f, false, nil
	}
	f = Foreign{
		Name: t.Name(), Query: t.Step().SQL, Error: t.Step().Refused != nil,
		Batch: t.Runs(Variant{Backend: "hashmap", Parallelism: 1, Batch: true}),
	}
	rows := map[string][]Change{}
	for _, st := range t.Script.Steps[:t.At] {
		if st.Clock > 0 {
			return f, false, nil
		}
		if st.Rows != nil {
			rows[st.Rows.Table] = append(rows[st.Rows.Table], st.Rows.Changes...)
		}
	}
	feed := NewFeed(t.Script.Steps[:t.At], true, s.Formats)
	known := catalog.New()
	ses := session.New(session.Options{
		Catalog: known, Config: catalog.NewConfig(), Formats: s.Formats,
		Connectors: append(append(feed.Connectors(), NewCapture().Connector()), s.Connectors...),
	})
	for _, st := range t.Script.Steps[:t.At] {
		if st.SQL == "" || len(st.Wants) > 0 || st.Refused != nil {
			continue
		}
		if _, err := ses.Execute(context.Background(), st.SQL); err != nil {
			return f, false, fmt.Errorf("line %d: %w", st.Line, err)
		}
		text := st.SQL
		if strings.Contains(text, "'rows-per-split'") {
			return f, false, nil
		}
		if rowsConnector.MatchString(text) {
			name := createdTable.FindStringSubmatch(text)[1]
			if upsertRows.MatchString(text) { // no format of files has them
				if regexp.MustCompile(`\b` + name + `\b`).MatchString(t.Step().SQL) {
					return f, false, nil
				}
				continue
			}
			if text, err = foreignTable(known, text, name, rows[name], filepath.Join(dir, t.Script.Name+"-"+fmt.Sprint(t.At)+"-"+name)); err != nil {
				return f, false, err
			}
		}
		f.Setup = append(f.Setup, text)
	}
	return f, true, nil
}

var createdTable = regexp.MustCompile("(?i)create\\s+table\\s+`?(\\w+)`?")

// foreignTable writes the rows of a table as JSON lines, as Debezium's where rows are taken back, and gives its DDL.
func foreignTable(known *catalog.Catalog, ddl, name string, rows []Change, path string) (string, error) {
	found, _ := known.Find(catalog.Path{Catalog: "default_catalog", Database: "default_database", Name: name})
	table, ok := found.(*catalog.Table)
	if !ok {
		return "", fmt.Errorf("no table %s", name)
	}
	var fields []types.Field
	for _, c := range table.Columns {
		if c.Kind == sql.PhysicalColumn {
			fields = append(fields, types.Field{Name: c.Name, Type: c.Type})
		}
	}
	format := "json"
	for _, c := range rows {
		if c.Kind != "+I" {
			format = "debezium-json"
		}
	}
	if strings.Contains(ddl, "'changelog-mode'") {
		format = "debezium-json"
	}
	var b strings.Builder
	var before []byte
	for _, c := range rows {
		row := jsonRow(fields, c)
		switch {
		case format == "json":
			b.Write(row)
		case c.Kind == "-U":
			before = row
			continue
		case c.Kind == "+I":
			fmt.Fprintf(&b, `{"before":null,"after":%s,"op":"c"}`, row)
		case c.Kind == "-D":
			fmt.Fprintf(&b, `{"before":%s,"after":null,"op":"d"}`, row)
		default:
			if before == nil {
				return "", fmt.Errorf("table %s: +U without -U", name)
			}
			fmt.Fprintf(&b, `{"before":%s,"after":%s,"op":"u"}`, before, row)
			before = nil
		}
		b.WriteByte('\n')
	}
	if err := os.MkdirAll(path, 0o755); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(path, "rows"), []byte(b.String()), 0o644); err != nil {
		return "", err
	}
	ddl = rowsOptions.ReplaceAllString(ddl, "")
	return rowsConnector.ReplaceAllString(ddl, fmt.Sprintf("'connector' = 'filesystem', 'path' = '%s', 'format' = '%s'", path, format)), nil
}
