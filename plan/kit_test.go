package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"runnel/catalog"
	"runnel/connectors"
	"runnel/sql"
	"runnel/types"
)

// Connectors that read and write nothing: they say of themselves what the real ones do.

var jsonOptions = []connectors.Option{{Key: "ignore-parse-errors", Kind: connectors.BoolOption}, {Key: "fail-on-missing-field", Kind: connectors.BoolOption}}

var testFormats = []connectors.Format{
	{Name: "json", Mode: types.InsertOnly, Options: jsonOptions},
	{Name: "csv", Mode: types.InsertOnly},
	{Name: "debezium-json", Mode: types.AllKinds, Options: jsonOptions},
}

func opts(keys ...string) []connectors.Option {
	out := make([]connectors.Option, len(keys))
	for i, k := range keys {
		required := strings.HasSuffix(k, "!")
		out[i] = connectors.Option{Key: strings.TrimSuffix(k, "!"), Required: required}
	}
	return out
}

func source(mode types.ChangelogMode, bounded bool) (*connectors.Source, error) {
	return &connectors.Source{Mode: mode, Bounded: bounded}, nil
}

// echo takes what the query gives; upsert takes it without -U.
func echo(r connectors.SinkRequest) (*connectors.Sink, error) {
	if r.Overwrite {
		return nil, noOverwrite(r)
	}
	return &connectors.Sink{Mode: r.Query}, nil
}

func noOverwrite(r connectors.SinkRequest) error {
	return fmt.Errorf("INSERT OVERWRITE requires that the underlying DynamicTableSink of table '%s' implements the SupportsOverwrite interface.", r.Table.Name)
}

func upsert(r connectors.SinkRequest) (*connectors.Sink, error) {
	if r.Overwrite {
		return nil, noOverwrite(r)
	}
	return &connectors.Sink{Mode: r.Query &^ types.ModeOf(types.UpdateBefore)}, nil
}

func testConnectors() []connectors.Connector {
	number := connectors.Option{Key: "number-of-rows", Kind: connectors.LongOption}
	kafka := append(opts("topic", "topic-pattern", "properties.bootstrap.servers!", "properties.group.id", "scan.startup.mode", "format", "value.format", "key.format"),
		connectors.Option{Key: "sink.parallelism", Kind: connectors.IntOption})
	return []connectors.Connector{
		{Name: "datagen", Options: append(opts("rows-per-second"), number), Limits: func(*connectors.Table) bool { return true }, Source: func(r connectors.ScanRequest) (*connectors.Source, error) {
			return source(types.InsertOnly, r.Table.Options["number-of-rows"] != "")
		}},
		{Name: "kafka", Options: kafka, Prefixes: []string{"properties."}, Formats: []string{"format", "value.format", "key.format"}, WatermarkPushdown: true,
			Metadata: func(*connectors.Table) []connectors.Metadata {
				return []connectors.Metadata{{Key: "timestamp", Type: types.TimestampLTZOf(3), Readable: true, Writable: true},
					{Key: "offset", Type: types.Of(types.BigInt), Readable: true}}
			},
			Source: func(r connectors.ScanRequest) (*connectors.Source, error) {
				mode := types.InsertOnly
				if r.Table.Options["format"] == "debezium-json" {
					mode = types.AllKinds
				}
				return source(mode, false)
			},
			Sink: func(r connectors.SinkRequest) (*connectors.Sink, error) {
				if r.Overwrite {
					return nil, noOverwrite(r)
				}
				if r.Table.Options["format"] == "debezium-json" {
					return &connectors.Sink{Mode: types.AllKinds}, nil
				}
				return &connectors.Sink{Mode: types.InsertOnly}, nil
			}},
		{Name: "upsert-kafka", Options: kafka, Prefixes: []string{"properties."}, Formats: []string{"value.format", "key.format"}, WatermarkPushdown: true,
			Source: func(connectors.ScanRequest) (*connectors.Source, error) {
				return source(types.ModeOf(types.UpdateAfter, types.Delete), false)
			}, Sink: upsert},
		{Name: "jdbc", Options: opts("url!", "table-name!"), Sink: func(r connectors.SinkRequest) (*connectors.Sink, error) {
			if len(r.Table.PrimaryKey) == 0 && r.Query != types.InsertOnly {
				return nil, errors.New("please declare primary key for sink table when query contains update/delete record.")
			}
			return upsert(r)
		},
			Source: func(connectors.ScanRequest) (*connectors.Source, error) { return source(types.InsertOnly, true) },
			Lookup: func(connectors.LookupRequest) (connectors.Lookup, error) { return nil, errors.New("not in a test") }},
		{Name: "filesystem", Options: opts("path!", "format"), Formats: []string{"format"},
			Limits: func(t *connectors.Table) bool { return len(t.Partition) == 0 },
			Constant: func(t *connectors.Table) (cols []int) {
				for i, c := range t.Columns {
					if slices.Contains(t.Partition, c.Name) {
						cols = append(cols, i)
					}
				}
				return cols
			},
			Source: func(connectors.ScanRequest) (*connectors.Source, error) { return source(types.InsertOnly, true) },
			Sink: func(connectors.SinkRequest) (*connectors.Sink, error) {
				return &connectors.Sink{Mode: types.InsertOnly}, nil
			}},
		{Name: "print", Options: append(opts("print-identifier", "standard-error"), connectors.Option{Key: "sink.parallelism", Kind: connectors.IntOption}), Sink: echo},
		{Name: "blackhole", Sink: upsert},
	}
}

// session runs DDL and SET and plans the rest.
type session struct {
	t  testing.TB
	pl *Planner
}

func newSession(t testing.TB) *session {
	c := catalog.NewConfig()
	if _, err := c.Set("table.local-time-zone", "UTC"); err != nil {
		t.Fatal(err)
	}
	return &session{t, &Planner{Catalog: catalog.New(), Config: c, Connectors: testConnectors(), Formats: testFormats,
		Now: func() time.Time { return time.Date(2024, 6, 3, 10, 0, 0, 0, time.UTC) }}}
}

// run gives the graph of a statement that has one.
func (s *session) run(text string) (*Graph, error) {
	stmt, err := sql.Parse(text)
	if err != nil {
		return nil, err
	}
	switch stmt := stmt.(type) {
	case *sql.CreateTable:
		return nil, s.pl.Catalog.CreateTable(stmt, s.pl)
	case *sql.CreateView:
		return nil, s.pl.Catalog.CreateView(stmt, s.pl)
	case *sql.Set:
		_, err := s.pl.Config.Set(stmt.Key, stmt.Value)
		return nil, err
	case *sql.Query:
		return s.pl.Query(stmt, text)
	case *sql.Insert:
		return s.pl.Insert(stmt, text)
	case *sql.StatementSet:
		return s.pl.StatementSet(stmt.Stmts, text)
	}
	s.t.Fatalf("the kit does not know %T", stmt)
	return nil, nil
}

// script runs the statements of a script and gives the last one's graph.
func (s *session) script(text string) (g *Graph, err error) {
	for _, piece := range sql.SplitAll(text) {
		if g, err = s.run(piece.Text); err != nil {
			return nil, err
		}
	}
	return g, nil
}

func (s *session) must(text string) *Graph {
	s.t.Helper()
	g, err := s.script(text)
	if err != nil {
		s.t.Fatalf("%v\nin %s", err, text)
	}
	return g
}

func (s *session) tableAs(text string) (*catalog.Table, *Graph, error) {
	stmt, err := sql.Parse(text)
	if err != nil {
		return nil, nil, err
	}
	return s.pl.CreateTableAs(stmt.(*sql.CreateTable), text)
}
