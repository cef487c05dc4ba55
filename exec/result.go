package exec

import (
	"context"
	"io"
	"sync"

	"runnel/types"
)

// resultBatches bounds what a client may be behind: so many batches wait for it, then the job waits.
const resultBatches = 4

// Result is the changelog that a SELECT gives, for one reader. Rows come as soon as the job has them; checkpoints do not
// hold them back.
type Result struct {
	fields []types.Field
	full   chan resultBatch
	free   chan *types.Batch
	last   *types.Batch // handed out by Next, given back at the following call

	mu    sync.Mutex
	shown bool // the client has got rows
	run   int  // counts the attempts; rows of an earlier one are dropped

	once sync.Once
	done chan struct{} // closed when the job has ended
	err  error         // set before done is closed
}

// resultBatch is rows with the attempt that made them.
type resultBatch struct {
	b   *types.Batch
	run int
}

func newResult(fields []types.Field) *Result {
	r := &Result{
		fields: fields, full: make(chan resultBatch, resultBatches), free: make(chan *types.Batch, resultBatches),
		done: make(chan struct{}),
	}
	for range cap(r.free) {
		r.free <- nil // made at first use
	}
	return r
}

// Fields is the schema of the rows.
func (r *Result) Fields() []types.Field { return r.fields }

// Next waits for rows. The batch is valid until the next call. At the end of the query the error is io.EOF; when the job
// failed or was cancelled, it is that error, after all rows that came before it.
func (r *Result) Next(ctx context.Context) (*types.Batch, error) {
	if r.last != nil {
		r.last.Reset()
		r.free <- r.last
		r.last = nil
	}
	for {
		select {
		case b := <-r.full:
			if r.hand(b) {
				return r.last, nil
			}
			continue
		default:
		}
		select {
		case b := <-r.full:
			if r.hand(b) {
				return r.last, nil
			}
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-r.done:
			if len(r.full) > 0 {
				continue
			}
			if r.err != nil {
				return nil, r.err
			}
			return nil, io.EOF
		}
	}
}

// hand takes a batch for the client, unless it comes from an attempt that was given up.
func (r *Result) hand(b resultBatch) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if b.run != r.run {
		b.b.Reset()
		r.free <- b.b
		return false
	}
	r.shown = true
	r.last = b.b
	return true
}

// put copies rows into a batch of the result's own. While the client is behind it waits, and counts that in behind.
func (r *Result) put(ctx context.Context, b *types.Batch, behind *meter) error {
	if b.Rows() == 0 {
		return nil
	}
	var to *types.Batch
	select {
	case to = <-r.free:
	default:
		behind.begin()
		defer behind.end()
		select {
		case to = <-r.free:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if to == nil {
		to = types.NewBatch(r.fields)
	}
	appendRows(to, b, b.Sel, 0, b.Rows())
	r.full <- resultBatch{to, r.run} // has room for every batch there is
	return nil
}

// restart says that the job is about to run again from an earlier state. It refuses once the client has seen a row;
// else what nobody has seen is dropped. No task of the job is running.
func (r *Result) restart() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.shown {
		return false
	}
	r.run++
	return true
}

// end ends the result; nil is the regular end.
func (r *Result) end(err error) {
	r.once.Do(func() {
		r.err = err
		close(r.done)
	})
}
