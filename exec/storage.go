package exec

import (
	"fmt"
	"sync"

	"runnel/state"
)

// checkpointStore keeps the checkpoints of one attempt of a job. sink and reader are called by tasks, the rest by the
// goroutine that completes checkpoints.
type checkpointStore interface {
	// sink takes the keyed state of one subtask.
	sink(b *barrier, operator string, subtask int) state.Sink
	// complete makes a checkpoint durable: from then on it can be restored. What is no longer retained goes.
	complete(s *snapshot) (path string, err error)
	// abort forgets what a checkpoint that failed has written.
	abort(checkpoint int64)
}

// memoryBlobs is the checkpointStore of the hashmap backend: checkpoints live as long as the process.
type memoryBlobs struct {
	job *Job

	mu    sync.Mutex
	blobs map[blobKey][]byte
}

type blobKey struct {
	operator   string
	subtask    int
	checkpoint int64
	seq        uint32
}

func newMemoryBlobs(j *Job) *memoryBlobs { return &memoryBlobs{job: j, blobs: map[blobKey][]byte{}} }

// memoryPart is the blobs of one subtask.
type memoryPart struct {
	m        *memoryBlobs
	operator string
	subtask  int
}

// Put keeps a blob.
func (p memoryPart) Put(ref state.BlobRef, data []byte) error {
	p.m.mu.Lock()
	defer p.m.mu.Unlock()
	p.m.blobs[blobKey{p.operator, p.subtask, ref.Checkpoint, ref.Seq}] = data
	return nil
}

// Blob gives one back.
func (p memoryPart) Blob(ref state.BlobRef) ([]byte, error) {
	p.m.mu.Lock()
	defer p.m.mu.Unlock()
	b, ok := p.m.blobs[blobKey{p.operator, p.subtask, ref.Checkpoint, ref.Seq}]
	if !ok {
		return nil, fmt.Errorf("blob %d/%d of %s, subtask %d: not in memory", ref.Checkpoint, ref.Seq, p.operator, p.subtask)
	}
	return b, nil
}

func (m *memoryBlobs) sink(_ *barrier, operator string, subtask int) state.Sink {
	return memoryPart{m, operator, subtask}
}

// complete keeps the blobs that the checkpoint refers to and those written since.
func (m *memoryBlobs) complete(s *snapshot) (string, error) {
	s.blobs = func(operator string, subtask int) state.BlobReader { return memoryPart{m, operator, subtask} }
	if s.cp.Savepoint {
		return "", nil
	}
	used := map[blobKey]bool{}
	for _, o := range s.cp.Operators {
		for _, sub := range o.Subtasks {
			for _, h := range sub.States {
				for _, r := range h.Blobs {
					used[blobKey{o.ID, sub.Subtask, r.Checkpoint, r.Seq}] = true
				}
			}
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for k := range m.blobs {
		if k.checkpoint <= s.cp.ID && !used[k] {
			delete(m.blobs, k)
		}
	}
	return "", nil
}

func (m *memoryBlobs) abort(checkpoint int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for k := range m.blobs {
		if k.checkpoint == checkpoint {
			delete(m.blobs, k)
		}
	}
}
