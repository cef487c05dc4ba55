package testkit

import (
	"context"
	"fmt"
	"sync"
	"time"

	"runnel/catalog"
	"runnel/connectors"
	"runnel/sql"
	"runnel/types"
)

// Given is a connector of bounded tables whose rows a test gives: nothing about them is known while a query is planned.
type Given struct {
	// Sparse puts, in front of every row, one that is not selected: NULL where the column may be NULL. It is set before
	// the connector is used.
	Sparse bool

	mu     sync.Mutex
	tables map[string]*types.Batch
}

// NewGiven makes a connector without tables.
func NewGiven() *Given { return &Given{tables: map[string]*types.Batch{}} }

// Table gives the catalog's entry of a table with the given rows; of the same name there is one.
func (r *Given) Table(name string, fields []types.Field, rows *types.Batch) *catalog.Table {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tables[name] = rows
	t := &catalog.Table{
		Path: catalog.Path{Catalog: "default_catalog", Database: "default_database", Name: name}, Temporary: true,
		Options: []catalog.Option{{Key: "connector", Value: "rows"}, {Key: "name", Value: name}},
	}
	for _, f := range fields {
		t.Columns = append(t.Columns, catalog.Column{Name: f.Name, Kind: sql.PhysicalColumn, Type: f.Type.Plain()})
	}
	return t
}

var givenName = connectors.Option{Key: "name", Kind: connectors.StringOption, Required: true, Doc: "The table."}

// Connector gives the connector's table row, named 'rows'.
func (r *Given) Connector() connectors.Connector {
	return connectors.Connector{Name: "rows", Doc: "Rows of a test.", Options: []connectors.Option{givenName},
		Source: func(q connectors.ScanRequest) (*connectors.Source, error) {
			r.mu.Lock()
			defer r.mu.Unlock()
			all := r.tables[q.Table.Options.Get(givenName)]
			if all == nil {
				return nil, fmt.Errorf("no table %s", q.Table.Options.Get(givenName))
			}
			return &connectors.Source{
				Mode: types.InsertOnly, Bounded: true,
				Enumerate: func(connectors.Env) (connectors.Enumerator, error) { return oneSplit{}, nil },
				Read: func(connectors.Env, func()) (connectors.Reader, error) {
					b := types.NewBatch(q.Fields())
					for i := range all.Len {
						if r.Sparse {
							for k, c := range q.Columns {
								if all.Cols[c].Type.NotNull {
									b.Cols[k].AppendFrom(all.Cols[c], int32(i))
								} else {
									b.Cols[k].AppendNull()
								}
							}
							b.Push(types.Insert)
							b.Sel = append(b.Sel, int32(b.Len))
						}
						for k, c := range q.Columns {
							b.Cols[k].AppendFrom(all.Cols[c], int32(i))
						}
						b.Push(types.Insert)
					}
					return &givenReader{rows: b}, nil
				},
			}, nil
		}}
}

type oneSplit struct{}

func (oneSplit) Discover(context.Context, bool) ([]connectors.Split, error) {
	return []connectors.Split{{ID: "0", State: []byte{1}}}, nil
}
func (oneSplit) Interval() time.Duration { return 0 }
func (oneSplit) Close() error            { return nil }

type givenReader struct {
	rows   *types.Batch
	splits []connectors.Split
}

func (r *givenReader) Assign(s []connectors.Split) error {
	r.splits = append(r.splits, s...)
	return nil
}

func (r *givenReader) Poll() (connectors.Polled, error) {
	if len(r.splits) == 0 {
		return connectors.Polled{}, nil
	}
	id := r.splits[0].ID
	r.splits = r.splits[1:]
	return connectors.Polled{Split: id, Rows: r.rows, Ended: true}, nil
}

func (r *givenReader) Snapshot() ([]connectors.Split, error) { return r.splits, nil }
func (r *givenReader) Close() error                          { return nil }
