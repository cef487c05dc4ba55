package exec

import (
	"fmt"

	"runnel/connectors"
	"runnel/exec/op"
	"runnel/types"
)

// sinkOp is the operator at the end of a chain that hands rows to a connector's writer.
type sinkOp struct {
	sink   *connectors.Sink
	env    connectors.SinkEnv
	ctx    *op.Context
	writer connectors.Writer
	dirty  bool // rows were written since the last flush
}

// Open starts the writer.
func (s *sinkOp) Open(ctx *op.Context) error {
	s.ctx = ctx
	w, err := s.sink.Open(ctx.Ctx, s.env)
	if err != nil {
		return fmt.Errorf("opening the writer: %w", err)
	}
	s.writer = w
	return nil
}

// Process writes rows.
func (s *sinkOp) Process(_ int, b *types.Batch) error {
	if b.Rows() == 0 {
		return nil
	}
	s.dirty = true
	return s.writer.Write(s.ctx.Ctx, b)
}

// Watermark and Idle end here: sinks know no event time.
func (s *sinkOp) Watermark(int, int64) error { return nil }

// Idle ends here too.
func (s *sinkOp) Idle(int, bool) error { return nil }

// flush lets a buffering writer send what it holds.
func (s *sinkOp) flush() error {
	if !s.dirty {
		return nil
	}
	s.dirty = false
	if f, ok := s.writer.(connectors.Flusher); ok {
		return f.Flush(s.ctx.Ctx)
	}
	return nil
}

// prepare is the writer's part of a checkpoint.
func (s *sinkOp) prepare(checkpoint int64) (committables [][]byte, state []byte, err error) {
	s.dirty = false
	committables, state, err = s.writer.Prepare(s.ctx.Ctx, checkpoint)
	if err != nil {
		return nil, nil, fmt.Errorf("preparing checkpoint %d: %w", checkpoint, err)
	}
	return committables, state, nil
}

// committed tells the writer that a checkpoint's committables are visible outside.
func (s *sinkOp) committed(checkpoint int64) {
	if l, ok := s.writer.(connectors.CommitListener); ok {
		l.Committed(checkpoint)
	}
}

// Close gives up what was written since the last prepare.
func (s *sinkOp) Close() error {
	if s.writer == nil {
		return nil
	}
	if err := s.writer.Close(); err != nil {
		return fmt.Errorf("closing the writer: %w", err)
	}
	return nil
}

// collectOp hands the rows of a SELECT to its Result.
type collectOp struct {
	result *Result
	behind *meter // time that the client lets the job wait
	ctx    *op.Context
}

// Open keeps the context, to wait within.
func (c *collectOp) Open(ctx *op.Context) error {
	c.ctx = ctx
	return nil
}

// Process hands a copy of the rows over, waiting while the client is behind.
func (c *collectOp) Process(_ int, b *types.Batch) error { return c.result.put(c.ctx.Ctx, b, c.behind) }

// Watermark ends here.
func (c *collectOp) Watermark(int, int64) error { return nil }

// Idle ends here.
func (c *collectOp) Idle(int, bool) error { return nil }

// Close leaves the Result open: the job ends it.
func (c *collectOp) Close() error { return nil }
