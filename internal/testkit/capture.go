package testkit

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"runnel/connectors"
	"runnel/types"
)

// Capture is a sink that keeps the changes that are committed, by table.
type Capture struct {
	mu      sync.Mutex
	changes map[string][]Change
	keys    map[string][]int
	pending map[uint64]captured
	next    uint64
}

// unnamed is the table into which queries are captured; its changes count as those of sink "".
const unnamed = "captured_by_test"

type captured struct {
	table string
	rows  []Change
}

var captureMode = connectors.Option{Key: "changelog-mode", Doc: "The kinds of rows that the sink takes, e.g. I or I,UA,D; those of the query when not set."}

// NewCapture makes an empty one.
func NewCapture() *Capture {
	return &Capture{pending: map[uint64]captured{}, changes: map[string][]Change{}, keys: map[string][]int{}}
}

// Changes gives what has been committed of the captured query so far.
func (c *Capture) Changes() []Change {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.changes[""])
}

// All gives what has been committed by table.
func (c *Capture) All() map[string][]Change {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.changes)
}

// Keys gives the primary keys of the tables that take no -U.
func (c *Capture) Keys() map[string][]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.keys)
}

func (c *Capture) add(table string, rows []Change) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if table == unnamed {
		table = ""
	}
	c.changes[table] = append(c.changes[table], rows...)
}

// Connector gives the sink's table row, named 'capture'.
func (c *Capture) Connector() connectors.Connector {
	return connectors.Connector{Name: "capture", Doc: "A sink for tests.", Options: []connectors.Option{captureMode}, Sink: c.plan}
}

func (c *Capture) plan(r connectors.SinkRequest) (*connectors.Sink, error) {
	s := &connectors.Sink{
		Mode: r.Query,
		Open: func(_ context.Context, env connectors.SinkEnv) (connectors.Writer, error) {
			return &captureWriter{c: c, zone: env.Zone, table: tableName(r.Table)}, nil
		},
		Committer: func(connectors.SinkEnv) (connectors.Committer, error) { return captureCommitter{c}, nil },
	}
	text := r.Table.Options.Get(captureMode)
	if text == "" {
		return s, nil
	}
	var err error
	if s.Mode, err = parseMode(text); err != nil {
		return nil, err
	}
	if s.Mode.Has(types.UpdateAfter) && !s.Mode.Has(types.UpdateBefore) {
		var key []int
		for i, f := range r.Fields() {
			if slices.Contains(r.Table.PrimaryKey, f.Name) {
				key = append(key, i)
			}
		}
		if key == nil {
			return nil, fmt.Errorf("table %s takes upserts and needs a primary key", r.Table.Name)
		}
		c.mu.Lock()
		c.keys[tableName(r.Table)] = key
		c.mu.Unlock()
	}
	return s, nil
}

type captureWriter struct {
	c     *Capture
	zone  *time.Location
	table string
	rows  []Change
}

func (w *captureWriter) Write(_ context.Context, b *types.Batch) error {
	w.rows = append(w.rows, rendered(b, w.zone)...)
	return nil
}

// changeOf renders a row as the client shows it.
func changeOf(b *types.Batch, i int32, zone *time.Location) Change {
	c := Change{Kind: b.Kind(i).String()}
	for _, col := range b.Cols {
		c.Cells = append(c.Cells, string(types.AppendShown(nil, col, i, zone)))
	}
	return c
}

// Prepare keeps the rows under a number, which is the committable.
func (w *captureWriter) Prepare(context.Context, int64) ([][]byte, []byte, error) {
	if len(w.rows) == 0 {
		return nil, nil, nil
	}
	w.c.mu.Lock()
	defer w.c.mu.Unlock()
	w.c.next++
	w.c.pending[w.c.next] = captured{w.table, w.rows}
	w.rows = nil
	return [][]byte{binary.AppendUvarint(nil, w.c.next)}, nil, nil
}

func (w *captureWriter) Close() error { return nil }

type captureCommitter struct{ c *Capture }

func (k captureCommitter) Recover(ctx context.Context, committables [][]byte) error {
	return k.Commit(ctx, 0, committables)
}

// Commit adds what is pending; a number that was committed before adds nothing.
func (k captureCommitter) Commit(_ context.Context, _ int64, committables [][]byte) error {
	for _, b := range committables {
		n, w := binary.Uvarint(b)
		if w <= 0 {
			return errors.New("damaged committable")
		}
		k.c.mu.Lock()
		p := k.c.pending[n]
		delete(k.c.pending, n)
		k.c.mu.Unlock()
		k.c.add(p.table, p.rows)
	}
	return nil
}

func (captureCommitter) Close() error { return nil }
