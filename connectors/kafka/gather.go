package kafka

import (
	"context"
	"fmt"
	"sync"
	"time"

	"runnel/connectors"
	"runnel/types"
)

// gatherer is an upsert-kafka writer that gathers rows and writes, of each key, the last one only: when there are as many
// as the option says, when the interval has passed, and at a checkpoint. A goroutine of its own looks at the interval.
type gatherer struct {
	out      connectors.Writer
	keys     *rowEncoder
	most     int
	interval time.Duration
	table    string

	cancel context.CancelFunc
	wait   sync.WaitGroup

	mu     sync.Mutex
	rows   *types.Batch
	last   map[string]int32 // record key -> its newest row
	key    []byte
	failed error // of the goroutine
}

type openWriter = func(context.Context, connectors.SinkEnv) (connectors.Writer, error)

// gathering puts a gatherer in front of the writers that open makes.
func gathering(s *sinkSpec, open openWriter, most int, interval time.Duration) openWriter {
	return func(ctx context.Context, env connectors.SinkEnv) (connectors.Writer, error) {
		keys, err := newRowEncoder(s, env.Zone)
		if err != nil {
			return nil, err
		}
		out, err := open(ctx, env)
		if err != nil {
			return nil, err
		}
		g := &gatherer{out: out, keys: keys, most: most, interval: interval, table: s.table.Name, rows: types.NewBatch(s.req.Fields()), last: map[string]int32{}}
		var own context.Context
		own, g.cancel = context.WithCancel(context.Background())
		g.wait.Add(1)
		go g.tick(own)
		return g, nil
	}
}

// tick writes what was gathered each time the interval has passed.
func (g *gatherer) tick(ctx context.Context) {
	defer g.wait.Done()
	t := time.NewTicker(g.interval)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		g.mu.Lock()
		err := g.write(ctx)
		if f, ok := g.out.(connectors.Flusher); ok && err == nil {
			err = f.Flush(ctx)
		}
		if err != nil && g.failed == nil {
			g.failed = err
		}
		g.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// lock waits for the goroutine, which the end of ctx breaks off, and gives what ends the wait.
func (g *gatherer) lock(ctx context.Context) (unlock func()) {
	stop := context.AfterFunc(ctx, g.cancel)
	g.mu.Lock()
	return func() {
		g.mu.Unlock()
		stop()
	}
}

// Write implements connectors.Writer.
func (g *gatherer) Write(ctx context.Context, rows *types.Batch) error {
	defer g.lock(ctx)()
	if g.failed != nil {
		return g.failed
	}
	g.keys.begin(rows)
	for j, c := range g.rows.Cols { // a column may be a time attribute, which matters to the writer
		c.Type = rows.Cols[j].Type
	}
	for k := range rows.Rows() {
		i := rows.Row(k)
		var err error
		if g.key, err = g.keys.key.Encode(g.key[:0], &g.keys.keyView, i); err != nil {
			return fmt.Errorf("writing %s: %w", g.table, rowError("key", err))
		}
		g.last[string(g.key)] = int32(g.rows.Len)
		g.rows.AppendRow(rows, i, rows.Kind(i))
		if g.rows.Len >= g.most {
			if err := g.write(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// write gives the gathered rows on, the last of each key in the order in which they came. mu is held.
func (g *gatherer) write(ctx context.Context) error {
	if g.rows.Len == 0 {
		return nil
	}
	g.rows.Sel = distinct(g.last)
	err := g.out.Write(ctx, g.rows)
	g.rows.Reset()
	clear(g.last)
	return err
}

// Flush sends what has been given on; gathered rows wait for their time.
func (g *gatherer) Flush(ctx context.Context) error {
	defer g.lock(ctx)()
	if g.failed != nil {
		return g.failed
	}
	if f, ok := g.out.(connectors.Flusher); ok {
		return f.Flush(ctx)
	}
	return nil
}

// Prepare writes what was gathered and prepares the writer behind.
func (g *gatherer) Prepare(ctx context.Context, checkpoint int64) ([][]byte, []byte, error) {
	defer g.lock(ctx)()
	if g.failed != nil {
		return nil, nil, g.failed
	}
	if err := g.write(ctx); err != nil {
		return nil, nil, err
	}
	return g.out.Prepare(ctx, checkpoint)
}

// Committed passes the news on.
func (g *gatherer) Committed(checkpoint int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if l, ok := g.out.(connectors.CommitListener); ok {
		l.Committed(checkpoint)
	}
}

// Close gives the gathered rows up.
func (g *gatherer) Close() error {
	g.cancel()
	g.wait.Wait()
	return g.out.Close()
}
