package testkit

import (
	"context"
	"encoding/binary"
	"errors"
	"sync"
	"time"

	"runnel/connectors"
	"runnel/types"
)

// Capture is a sink that keeps the changes that are committed. It takes every kind of change.
type Capture struct {
	mu      sync.Mutex
	changes []Change
	pending map[uint64][]Change
	next    uint64
}

// NewCapture makes an empty one.
func NewCapture() *Capture { return &Capture{pending: map[uint64][]Change{}} }

// Changes gives what has been committed so far.
func (c *Capture) Changes() []Change {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Change(nil), c.changes...)
}

// Connector gives the sink's table row, named 'capture'.
func (c *Capture) Connector() connectors.Connector {
	return connectors.Connector{Name: "capture", Doc: "A sink for tests.", Sink: func(r connectors.SinkRequest) (*connectors.Sink, error) {
		return &connectors.Sink{
			Mode: r.Query,
			Open: func(_ context.Context, env connectors.SinkEnv) (connectors.Writer, error) {
				return &captureWriter{c: c, zone: env.Zone}, nil
			},
			Committer: func(connectors.SinkEnv) (connectors.Committer, error) { return captureCommitter{c}, nil },
		}, nil
	}}
}

type captureWriter struct {
	c    *Capture
	zone *time.Location
	rows []Change
}

func (w *captureWriter) Write(_ context.Context, b *types.Batch) error {
	for k := range b.Rows() {
		w.rows = append(w.rows, changeOf(b, b.Row(k), w.zone))
	}
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
	w.c.pending[w.c.next] = w.rows
	w.rows = nil
	return [][]byte{binary.AppendUvarint(nil, w.c.next)}, nil, nil
}

func (w *captureWriter) Close() error { return nil }

type captureCommitter struct{ c *Capture }

func (k captureCommitter) Recover(ctx context.Context, committables [][]byte) error {
	return k.Commit(ctx, 0, committables)
}

func (k captureCommitter) Commit(_ context.Context, _ int64, committables [][]byte) error {
	k.c.mu.Lock()
	defer k.c.mu.Unlock()
	for _, b := range committables {
		n, w := binary.Uvarint(b)
		if w <= 0 {
			return errors.New("damaged committable")
		}
		k.c.changes = append(k.c.changes, k.c.pending[n]...)
		delete(k.c.pending, n)
	}
	return nil
}

func (captureCommitter) Close() error { return nil }
