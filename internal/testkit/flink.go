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

	// Feed is the same rows in the order of the script, each with its table: for an engine that is given one after the other.
	Feed []ForeignRow `json:"feed"`
}

// ForeignRow is the text of a row, or of both halves of an update.
type ForeignRow struct {
	Table string `json:"table"`
	Text  string `json:"text"`
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
	for _, st := range t.Script.Steps[:t.At] {
		if st.Clock > 0 {
			return f, false, nil
		}
	}
	feed := NewFeed(t.Script.Steps[:t.At], true, s.Formats)
	known := catalog.New()
	ses := session.New(session.Options{
		Catalog: known, Config: catalog.NewConfig(), Formats: s.Formats,
		Connectors: append(append(feed.Connectors(), NewCapture().Connector()), s.Connectors...),
	})
	tables := map[string]*foreignTable{}
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
			table, err := newForeignTable(known, text, name)
			if err != nil {
				return f, false, err
			}
			tables[name] = table
			path := filepath.Join(dir, t.Script.Name+"-"+fmt.Sprint(t.At)+"-"+name)
			text = rowsConnector.ReplaceAllString(rowsOptions.ReplaceAllString(text, ""),
				fmt.Sprintf("'connector' = 'filesystem', 'path' = '%s', 'format' = '%s'", path, table.format))
		}
		f.Setup = append(f.Setup, text)
	}
	if f.Feed, err = foreignRows(t.Script.Steps[:t.At], tables); err != nil {
		return f, false, err
	}
	for name := range tables {
		if err := f.writeRows(name, filepath.Join(dir, t.Script.Name+"-"+fmt.Sprint(t.At)+"-"+name)); err != nil {
			return f, false, err
		}
	}
	return f, true, nil
}

var createdTable = regexp.MustCompile("(?i)create\\s+table\\s+`?(\\w+)`?")

// foreignTable is a table whose rows are JSON lines; Debezium's where rows are taken back.
type foreignTable struct {
	fields []types.Field
	format string
	before []byte // the first half of an update
}

func newForeignTable(known *catalog.Catalog, ddl, name string) (*foreignTable, error) {
	found, _ := known.Find(catalog.Path{Catalog: "default_catalog", Database: "default_database", Name: name})
	table, ok := found.(*catalog.Table)
	if !ok {
		return nil, fmt.Errorf("no table %s", name)
	}
	f := &foreignTable{format: "json"}
	for _, c := range table.Columns {
		if c.Kind == sql.PhysicalColumn {
			f.fields = append(f.fields, types.Field{Name: c.Name, Type: c.Type})
		}
	}
	if strings.Contains(ddl, "'changelog-mode'") {
		f.format = "debezium-json"
	}
	return f, nil
}

// text gives a row as a line; "" for the first half of an update, which comes with the second.
func (f *foreignTable) text(c Change) (string, error) {
	row := jsonRow(f.fields, c)
	before := f.before
	f.before = nil
	switch {
	case f.format == "json":
		return string(row) + "\n", nil
	case c.Kind == "-U":
		f.before = row
		return "", nil
	case c.Kind == "+I":
		return fmt.Sprintf(`{"before":null,"after":%s,"op":"c"}`, row) + "\n", nil
	case c.Kind == "-D":
		return fmt.Sprintf(`{"before":%s,"after":null,"op":"d"}`, row) + "\n", nil
	case before == nil:
		return "", fmt.Errorf("+U without -U")
	}
	return fmt.Sprintf(`{"before":%s,"after":%s,"op":"u"}`, before, row) + "\n", nil
}

// foreignRows gives the rows of the steps in their order.
func foreignRows(steps []Step, tables map[string]*foreignTable) ([]ForeignRow, error) {
	var all []ForeignRow
	for _, st := range steps {
		if st.Rows == nil || tables[st.Rows.Table] == nil {
			continue
		}
		for _, c := range st.Rows.Changes {
			text, err := tables[st.Rows.Table].text(c)
			if err != nil {
				return nil, fmt.Errorf("table %s, row %s: %w", st.Rows.Table, c, err)
			}
			if text != "" {
				all = append(all, ForeignRow{st.Rows.Table, text})
			}
		}
	}
	return all, nil
}

// writeRows writes all rows of a table into one file.
func (f *Foreign) writeRows(table, path string) error {
	var b strings.Builder
	for _, r := range f.Feed {
		if r.Table == table {
			b.WriteString(r.Text)
		}
	}
	if err := os.MkdirAll(path, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(path, "rows"), []byte(b.String()), 0o644)
}
