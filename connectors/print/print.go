// Package print is the sink that writes each change as a line of text to standard output or standard error.
package print

import (
	"context"
	"fmt"
	"io"
	"sort"
	"strings"

	"runnel/connectors"
	"runnel/types"
)

var (
	identifier  = connectors.Option{Key: "print-identifier", Doc: "Text in front of every line."}
	standardErr = connectors.Option{Key: "standard-error", Kind: connectors.BoolOption, Default: "false", Doc: "Write to standard error."}
	parallelism = connectors.Option{Key: "sink.parallelism", Kind: connectors.IntOption, Doc: "Parallelism of the sink."}
)

// Connector gives the connector's table row.
func Connector() connectors.Connector {
	return connectors.Connector{
		Name:    "print",
		Doc:     "A sink that prints every change as a line: +I[1, abc, null].",
		Options: []connectors.Option{identifier, standardErr, parallelism},
		Sink:    sink,
	}
}

func sink(r connectors.SinkRequest) (*connectors.Sink, error) {
	if r.Overwrite {
		return nil, fmt.Errorf("INSERT OVERWRITE requires that the underlying DynamicTableSink of table '%s' implements the SupportsOverwrite interface.", r.Table.Name)
	}
	toErr, err := r.Table.Options.Bool(standardErr)
	if err != nil {
		return nil, err
	}
	degree, err := r.Table.Options.Int(parallelism)
	if err != nil {
		return nil, err
	}
	id := r.Table.Options.Get(identifier)
	if len(r.Static) > 0 {
		var kv []string
		for k, v := range r.Static {
			kv = append(kv, k+"="+v)
		}
		sort.Strings(kv)
		id += ":" + strings.Join(kv, ",")
	}
	return &connectors.Sink{
		Mode:        r.Query,
		Parallelism: int(degree),
		Open: func(_ context.Context, env connectors.SinkEnv) (connectors.Writer, error) {
			w := &writer{out: env.Stdout, prefix: prefix(id, env.Subtask, env.Of)}
			if toErr {
				w.out = env.Stderr
			}
			return w, nil
		},
	}, nil
}

// prefix is what stands before each line.
func prefix(id string, subtask, of int) string {
	switch {
	case id == "" && of <= 1:
		return ""
	case id == "":
		return fmt.Sprintf("%d> ", subtask+1)
	case of <= 1:
		return id + "> "
	}
	return fmt.Sprintf("%s:%d> ", id, subtask+1)
}

type writer struct {
	out    io.Writer
	prefix string
	buf    []byte
}

// Write prints the rows of a batch with one call, so that lines of other writers come between batches only.
func (w *writer) Write(_ context.Context, b *types.Batch) error {
	w.buf = w.buf[:0]
	for k := range b.Rows() {
		w.buf = append(w.buf, w.prefix...)
		w.buf = types.AppendPrintedRow(w.buf, b, b.Row(k))
		w.buf = append(w.buf, '\n')
	}
	if _, err := w.out.Write(w.buf); err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	return nil
}

func (w *writer) Prepare(context.Context, int64) ([][]byte, []byte, error) { return nil, nil, nil }
func (w *writer) Close() error                                             { return nil }
