package exec

import (
	"context"
	"errors"
	"fmt"
)

// StateError says that a job is in no state to do what was asked.
type StateError struct {
	Job    string
	State  JobState
	What   string // what was asked: "stop with savepoint"
	Advice string
}

func (e *StateError) Error() string {
	return fmt.Sprintf("%s: job %s is %s; %s", e.What, e.Job, e.State, e.Advice)
}

// Cure is what to do instead.
func (e *StateError) Cure() string { return e.Advice }

// coordinating gives the coordinator of a running job, or says why there is none.
func (j *Job) coordinating(what string) (*coordinator, error) {
	j.mu.Lock()
	state, a, id := j.state, j.current, j.lastCompleted
	j.mu.Unlock()
	if state == JobRunning && a != nil {
		return a.coord, nil
	}
	e := &StateError{Job: j.id, State: state, What: what}
	switch state {
	case JobInitializing, JobCreated:
		e.Advice = "it has not started yet and has nothing to save: cancel it instead"
		if _, waiting := j.Slots(); waiting != "" {
			e.Advice = waiting + "; it has nothing to save yet: cancel it instead"
		}
	case JobFailing, JobRestarting:
		e.Advice = "wait until it is RUNNING again, or cancel it; it has no checkpoint yet"
		if id > 0 {
			e.Advice = fmt.Sprintf("wait until it is RUNNING again, or cancel it: it can be resumed from its checkpoint %d", id)
		}
	default:
		e.Advice = "there is nothing left to do"
	}
	return nil, e
}

type reply struct {
	id   int64
	path string
	err  error
}

// ask sends a request to the coordinator and waits for the answer.
func (j *Job) ask(ctx context.Context, what string, r *request) (reply, error) {
	c, err := j.coordinating(what)
	if err != nil {
		return reply{}, err
	}
	answer := make(chan reply, 1)
	r.reply = func(id int64, path string, err error) { answer <- reply{id, path, err} }
	c.request(r)
	select {
	case a := <-answer:
		if a.err != nil {
			return a, fmt.Errorf("%s of job %s: %w", what, j.id, a.err)
		}
		return a, nil
	case <-ctx.Done():
		return reply{}, fmt.Errorf("%s of job %s: %w", what, j.id, context.Cause(ctx))
	}
}

// Checkpoint takes a checkpoint now and gives its id, once it is complete.
func (j *Job) Checkpoint(ctx context.Context) (id int64, err error) {
	a, err := j.ask(ctx, "checkpoint", &request{kind: manualCheckpoint})
	return a.id, err
}

// Savepoint writes a savepoint into a new directory below dir ("": execution.checkpointing.savepoint-dir) and gives its
// path. The job goes on. A savepoint commits nothing and is not used for recovery.
func (j *Job) Savepoint(ctx context.Context, dir string) (path string, err error) {
	target, err := j.savepointTarget(dir)
	if err != nil {
		return "", err
	}
	a, err := j.ask(ctx, "savepoint", &request{kind: savepoint, dir: target})
	return a.path, err
}

// Stop ends the job with a savepoint, as Savepoint writes it. It returns when sinks have committed and the job has ended.
// With drain event time ends first: all windows fire, and the savepoint is not meant to be resumed. When the savepoint
// fails the job goes on.
func (j *Job) Stop(ctx context.Context, dir string, drain bool) (path string, err error) {
	target, err := j.savepointTarget(dir)
	if err != nil {
		return "", err
	}
	a, err := j.ask(ctx, "stop with savepoint", &request{kind: stopSavepoint, dir: target, drain: drain})
	if err != nil {
		return "", err
	}
	select {
	case <-j.done:
		return a.path, nil
	case <-ctx.Done():
		return a.path, fmt.Errorf("job %s has its savepoint and still ends: %w", j.id, context.Cause(ctx))
	}
}

// savepointTarget gives the directory below which a savepoint is made.
func (j *Job) savepointTarget(dir string) (string, error) {
	if dir == "" {
		dir = j.cfg.Checkpoint.SavepointDir
	}
	if dir == "" {
		return "", errors.New("no directory for the savepoint: name one, or SET 'execution.checkpointing.savepoint-dir'")
	}
	return dir, nil
}
