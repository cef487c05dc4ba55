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

// Rows is a connector of bounded tables whose rows a test gives: nothing about them is known while a query is planned.
type Rows struct {
	mu     sync.Mutex
	tables map[string]*types.Batch
}

// NewRows makes a connector without tables.
func NewRows() *Rows { return &Rows{tables: map[string]*types.Batch{}} }

// Table gives the catalog's entry of a table with the given rows; of the same name there is one.
func (r *Rows) Table(name string, fields []types.Field, rows *types.Batch) *catalog.Table {
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

var rowsName = connectors.Option{Key: "name", Kind: connectors.StringOption, Required: true, Doc: "The table."}

// Connector gives the connector's table row, named 'rows'.
func (r *Rows) Connector() connectors.Connector {
	return connectors.Connector{Name: "rows", Doc: "Rows of a test.", Options: []connectors.Option{rowsName},
		Source: func(q connectors.ScanRequest) (*connectors.Source, error) {
			r.mu.Lock()
			defer r.mu.Unlock()
			all := r.tables[q.Table.Options.Get(rowsName)]
			if all == nil {
				return nil, fmt.Errorf("no table %s", q.Table.Options.Get(rowsName))
			}
			return &connectors.Source{
				Mode: types.InsertOnly, Bounded: true,
				Enumerate: func(connectors.Env) (connectors.Enumerator, error) { return oneSplit{}, nil },
				Read: func(connectors.Env, func()) (connectors.Reader, error) {
					b := types.NewBatch(q.Fields())
					for i := range all.Len {
						for k, c := range q.Columns {
							b.Cols[k].AppendFrom(all.Cols[c], int32(i))
						}
						b.Push(types.Insert)
					}
					return &rowsReader{rows: b}, nil
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

type rowsReader struct {
	rows   *types.Batch
	splits []connectors.Split
}

func (r *rowsReader) Assign(s []connectors.Split) error {
	r.splits = append(r.splits, s...)
	return nil
}

func (r *rowsReader) Poll() (connectors.Polled, error) {
	if len(r.splits) == 0 {
		return connectors.Polled{}, nil
	}
	id := r.splits[0].ID
	r.splits = r.splits[1:]
	return connectors.Polled{Split: id, Rows: r.rows, Ended: true}, nil
}

func (r *rowsReader) Snapshot() ([]connectors.Split, error) { return r.splits, nil }
func (r *rowsReader) Close() error                          { return nil }
