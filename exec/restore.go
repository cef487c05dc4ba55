package exec

import (
	"context"

	"runnel/plan"
)

// prepare finds and compares what the job is to be restored from.
func (j *Job) prepare(ctx context.Context) error { return nil }

// bounded reports whether all input of the job ends.
func (a *attempt) bounded() bool {
	for _, s := range a.graph.ops {
		if n, ok := s.node.(*plan.Scan); ok && !n.Source.Bounded {
			return false
		}
	}
	return true
}

// persist makes a completed checkpoint durable and gives the path from which it can be restored.
func (a *attempt) persist(p *pending, s *snapshot) (path string, err error) {
	if !p.barrier.keep {
		return "", nil
	}
	if path, err = a.blobs.complete(s); err != nil {
		return "", err
	}
	if p.barrier.kind == savepoint {
		return path, nil
	}
	a.job.mu.Lock()
	defer a.job.mu.Unlock()
	a.job.from, a.job.lastCompleted = s, s.cp.ID
	return path, nil
}

// retire deals with the checkpoints of a job that has ended.
func (j *Job) retire(end JobState) {}
