// Package blackhole is the sink that swallows every row, for trying and for measuring.
package blackhole

import (
	"context"
	"fmt"

	"runnel/connectors"
	"runnel/types"
)

// Connector gives the connector's table row.
func Connector() connectors.Connector {
	return connectors.Connector{
		Name: "blackhole",
		Doc:  "A sink that takes every change and forgets it.",
		Sink: func(r connectors.SinkRequest) (*connectors.Sink, error) {
			if r.Overwrite {
				return nil, fmt.Errorf("INSERT OVERWRITE requires that the underlying DynamicTableSink of table '%s' implements the SupportsOverwrite interface.", r.Table.Name)
			}
			return &connectors.Sink{
				Mode: r.Query,
				Open: func(context.Context, connectors.SinkEnv) (connectors.Writer, error) { return writer{}, nil },
			}, nil
		},
	}
}

type writer struct{}

func (writer) Write(context.Context, *types.Batch) error { return nil }
func (writer) Prepare(context.Context, int64) ([][]byte, []byte, error) {
	return nil, nil, nil
}
func (writer) Close() error { return nil }
