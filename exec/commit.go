package exec

import (
	"context"
	"errors"
	"fmt"

	"runnel/connectors"
)

// sinkCommits is the committing side of one sink, for all its subtasks: it keeps what writers have prepared until a
// checkpoint that holds it is durable, and commits it then. pending belongs to the coordinator.
type sinkCommits struct {
	a         *attempt
	spec      *opSpec
	sink      *connectors.Sink
	committer connectors.Committer
	pending   []Committable
}

func newSinkCommits(a *attempt, s *opSpec, sink *connectors.Sink) *sinkCommits {
	return &sinkCommits{a: a, spec: s, sink: sink}
}

// sinkEnv is what the writer of a subtask, or the committer (subtask 0), gets at its start.
func (a *attempt) sinkEnv(s *opSpec, env connectors.Env) connectors.SinkEnv {
	e := connectors.SinkEnv{Env: env, Run: a.runID, PriorRuns: a.job.priorRuns(a), Sink: stateID(s), Bounded: a.bounded()}
	if a.restored != nil {
		e.Checkpoint = a.restored.cp.ID
		for i, w := range a.restored.of(stateID(s)).Writers {
			if i%env.Of == env.Subtask {
				e.Restored = append(e.Restored, w)
			}
		}
	}
	return e
}

// recoverSinks finishes what the restored snapshot had prepared, before any writer starts.
func (a *attempt) recoverSinks() error {
	for _, s := range a.sinks {
		if s.sink.Committer == nil {
			continue
		}
		env := a.sinkEnv(s.spec, a.connectorEnv(s.spec, 0, s.spec.parallelism, func(string, func() int64) {}))
		c, err := s.sink.Committer(env)
		if err != nil {
			return s.fail("opening the committer", err)
		}
		s.committer = c
		var prepared [][]byte
		for _, p := range a.restored.of(stateID(s.spec)).Committables {
			prepared = append(prepared, p.Data)
		}
		err = guard(s.spec.name+": Committer", func() error { return c.Recover(a.ctx, prepared) })
		if err != nil {
			return s.fail("recovering committables", err)
		}
	}
	return nil
}

// commits reports whether any sink commits: then the final checkpoint is made durable first, so that a crash between two
// commits can be mended. Without, there is nothing to mend.
func (a *attempt) commits() bool {
	for _, s := range a.sinks {
		if s.committer != nil {
			return true
		}
	}
	return false
}

// closeSinks closes the committers.
func (a *attempt) closeSinks() {
	for _, s := range a.sinks {
		if s.committer == nil {
			continue
		}
		if err := s.committer.Close(); err != nil {
			a.log.Warn("closing a committer", "operator", s.spec.name, "error", err)
		}
	}
}

func (s *sinkCommits) fail(what string, err error) error {
	var named *OperatorError
	if errors.As(err, &named) {
		return err
	}
	return &OperatorError{Operator: s.spec.name + ": Committer", Err: fmt.Errorf("%s: %w", what, err)}
}

// prepared keeps committables until they are committed.
func (s *sinkCommits) prepared(checkpoint int64, data [][]byte) {
	for _, d := range data {
		s.pending = append(s.pending, Committable{Checkpoint: checkpoint, Data: d})
	}
}

// due gives what a checkpoint that is durable commits.
func (s *sinkCommits) due(checkpoint int64) [][]byte {
	var data [][]byte
	for _, p := range s.pending {
		if p.Checkpoint <= checkpoint {
			data = append(data, p.Data)
		}
	}
	return data
}

// done forgets what has been committed with a checkpoint.
func (s *sinkCommits) done(checkpoint int64) {
	later := s.pending[:0]
	for _, p := range s.pending {
		if p.Checkpoint > checkpoint {
			later = append(later, p)
		}
	}
	clear(s.pending[len(later):])
	s.pending = later
}

// commit makes committables visible outside.
func (s *sinkCommits) commit(ctx context.Context, checkpoint int64, data [][]byte) error {
	if s.committer == nil {
		return nil
	}
	err := guard(s.spec.name+": Committer", func() error { return s.committer.Commit(ctx, checkpoint, data) })
	if err != nil {
		return s.fail(fmt.Sprintf("committing checkpoint %d", checkpoint), err)
	}
	return nil
}
