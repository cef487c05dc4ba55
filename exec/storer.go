package exec

import (
	"context"

	"runnel/state"
)

// storer writes the keyed state of an attempt's tasks to its store, so that no task waits for a disk. Its queue is
// bounded; a task that finds it full goes on with its rows and drains later.
type storer struct {
	a  *attempt
	in chan stored
}

// stored is one thing in the storer's queue: a blob, or the acknowledgement behind the last blob of a task.
type stored struct {
	ack  *ack
	sink state.Sink // nil: it is the acknowledgement
	ref  state.BlobRef
	data []byte
}

const (
	storerQueue = 64 // blobs of at most 256 KB
	storerSlack = 16 // that a step of a drain may add
)

func newStorer(a *attempt) *storer { return &storer{a: a, in: make(chan stored, storerQueue)} }

// room reports whether a step of a drain can go without waiting.
func (s *storer) room() bool { return len(s.in) <= storerQueue-storerSlack }

// loop works until the attempt ends. A store that fails is a failure of the checkpoint.
func (s *storer) loop(ctx context.Context) error {
	for {
		select {
		case x := <-s.in:
			s.store(x)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (s *storer) store(x stored) {
	if x.sink == nil {
		s.a.coord.acknowledge(x.ack)
	} else if err := x.sink.Put(x.ref, x.data); err != nil {
		s.a.coord.decline(x.ack.barrier, err)
	}
	if len(s.in) == storerQueue-storerSlack {
		for _, t := range s.a.tasks {
			t.mail.poke() // there is room again
		}
	}
}

// queuedSink is the storer as a task's drain sees it.
type queuedSink struct {
	s    *storer
	task *task
	ack  *ack
	to   state.Sink
}

// Buffer gives a buffer of the store's.
func (q queuedSink) Buffer(size int) []byte { return q.to.Buffer(size) }

// Put queues a blob.
func (q queuedSink) Put(ref state.BlobRef, data []byte) error {
	return q.s.push(q.task.ctx, stored{ack: q.ack, sink: q.to, ref: ref, data: data})
}

func (s *storer) push(ctx context.Context, x stored) error {
	select {
	case s.in <- x:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
