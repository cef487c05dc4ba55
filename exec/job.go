package exec

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"runnel/plan"
)

// Job is a submitted job. It is safe for use by several goroutines.
type Job struct {
	cluster *Cluster
	id      string
	name    string
	graph   *jobGraph
	cfg     JobConfig
	log     *slog.Logger
	result  *Result // of a SELECT, else nil
	started time.Time

	checkpoints checkpointLog
	kept        retained
	suspend     atomic.Bool     // it ends because the cluster does
	drained     atomic.Bool     // the end of all input is in a checkpoint
	ready       <-chan struct{} // closed when the job has its slots
	quit        chan struct{}   // closed when the job is to be cancelled
	quitOnce    sync.Once
	done        chan struct{} // closed when it has ended
	restart     *restarter    // of the job's goroutine

	report RestoreReport // of the submission; constant afterwards

	idMu       sync.Mutex
	identities map[string]string // operator id -> the outside system it speaks to; nil until asked

	mu            sync.Mutex
	state         JobState
	times         map[JobState]time.Time
	err           error
	current       *attempt // the running one, or the last
	attempts      int
	runs          []string      // run ids of this job and of those it was restored from
	lastID        int64         // the last checkpoint id given out
	lastCompleted int64         // the last one that the job can be restored from, 0 for none
	from          *restorePoint // what the next attempt starts from
	failures      []Failure     // newest last
}

// ErrCanceled is what waiting for a cancelled job gives.
var ErrCanceled = errors.New("the job was cancelled")

func newJob(c *Cluster, g *plan.Graph, cfg JobConfig) (*Job, error) {
	jg, err := cut(g, &cfg)
	if err != nil {
		return nil, err
	}
	if g.Batch {
		cfg.Checkpoint.Interval = 0 // a batch job is run again from its beginning
	}
	j := &Job{
		cluster: c, id: randomID(16), name: cfg.Name, graph: jg, cfg: cfg, started: c.clock.Now(),
		quit: make(chan struct{}), done: make(chan struct{}), times: map[JobState]time.Time{},
		restart: newRestarter(cfg.Restart, cfg.Checkpoint.Interval > 0),
	}
	if j.name == "" {
		j.name = g.JobName
	}
	j.log = c.log.With("job", j.id)
	j.kept.job = j
	j.checkpoints.keep = c.opts.CheckpointHistory
	j.set(JobInitializing)
	for _, s := range jg.ops {
		if n, ok := s.node.(*plan.Collect); ok && s.stage == stageWhole {
			j.result = newResult(n.Fields)
		}
	}
	return j, nil
}

// ID is the job's id: 32 hexadecimal digits.
func (j *Job) ID() string { return j.id }

// Name is the job's name, one line.
func (j *Job) Name() string { return j.name }

// Result is the changelog of a SELECT, nil for other jobs.
func (j *Job) Result() *Result { return j.result }

// State is the job's present state.
func (j *Job) State() JobState {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.state
}

// Slots says how many slots the job needs and, while it waits for them, why it does not have them.
func (j *Job) Slots() (need int, waiting string) {
	select {
	case <-j.ready:
	default:
		if !j.State().Terminal() {
			waiting = j.cluster.slots.why(j, j.graph.parallelism)
		}
	}
	return j.graph.parallelism, waiting
}

// Wait waits for the end of the job: nil when it finished, ErrCanceled, or the failure.
func (j *Job) Wait(ctx context.Context) error {
	select {
	case <-j.done:
		j.mu.Lock()
		defer j.mu.Unlock()
		return j.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Done is closed when the job has ended.
func (j *Job) Done() <-chan struct{} { return j.done }

// Cancel ends the job without a savepoint and waits until it has ended. Cancelling an ended job does nothing.
func (j *Job) Cancel(ctx context.Context) error {
	j.cancelNow()
	select {
	case <-j.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("cancelling job %s: %w", j.id, context.Cause(ctx))
	}
}

func (j *Job) cancelNow() {
	j.quitOnce.Do(func() { close(j.quit) })
	j.mu.Lock()
	a := j.current
	if j.state == JobRunning && !j.suspend.Load() {
		j.enter(JobCancelling) // before the tasks have ended, which may take a while
	}
	j.mu.Unlock()
	if a != nil {
		a.cancel(ErrCanceled)
	}
}

func (j *Job) quitting() bool {
	select {
	case <-j.quit:
		return true
	default:
		return false
	}
}

// set enters a state.
func (j *Job) set(s JobState) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.enter(s)
}

// enter enters a state; j.mu is held.
func (j *Job) enter(s JobState) {
	j.state = s
	j.times[s] = j.cluster.clock.Now()
}

// event describes the job in its present state.
func (j *Job) event() Event {
	return Event{Job: j.id, Name: j.name, State: j.State(), At: j.cluster.clock.Now()}
}

// life is the job's goroutine: from waiting for slots to the end.
func (j *Job) life() {
	err := j.runToEnd()
	state := JobFailed
	switch {
	case err == nil:
		state = JobFinished
	case errors.Is(err, ErrCanceled) && j.suspend.Load():
		state = JobSuspended
	case errors.Is(err, ErrCanceled):
		state = JobCanceled
	}
	j.retire(state)
	j.mu.Lock()
	j.err = err
	j.mu.Unlock()
	j.set(state)
	j.cluster.slots.release(j)
	if j.result != nil {
		j.result.end(err)
	}
	e := j.event()
	if state == JobFailed {
		e = failureEvent(e, err)
		j.log.Error("job failed", "name", j.name, "error", err)
	}
	close(j.done)
	j.cluster.publish(e)
}

// runToEnd runs attempts until one of them ends the job.
func (j *Job) runToEnd() error {
	if err := j.awaitSlots(); err != nil {
		return err
	}
	for {
		err := j.attempt()
		if j.quitting() {
			return ErrCanceled
		}
		if err == nil {
			return nil
		}
		j.set(JobFailing)
		delay, again := j.again(err)
		if !again {
			return err
		}
		if err := j.pause(delay, err); err != nil {
			return err
		}
	}
}

// awaitSlots takes the job's slots, waiting for them in CREATED.
func (j *Job) awaitSlots() error {
	ready := j.ready
	select {
	case <-ready:
		return nil
	default:
	}
	e := j.event()
	_, e.Slots = j.Slots()
	j.cluster.publish(e)
	timeout := make(chan struct{})
	if d := j.cfg.SlotTimeout; d > 0 {
		stop := j.cluster.clock.AfterFunc(d, func() { close(timeout) })
		defer stop()
	}
	select {
	case <-ready:
		return nil
	case <-j.quit:
		return ErrCanceled
	case <-timeout:
		return fmt.Errorf("no slots within slot.request.timeout (%s): %s", j.cfg.SlotTimeout, j.cluster.slots.why(j, j.graph.parallelism))
	}
}

// attempt runs the job once.
func (j *Job) attempt() error {
	j.mu.Lock()
	j.attempts++
	number, from := j.attempts, j.from
	j.mu.Unlock()
	var restored *snapshot
	if from != nil {
		var err error
		if restored, err = j.openPoint(*from); err != nil {
			return fmt.Errorf("opening the state to start from: %w", err)
		}
	}
	a := newAttempt(j, number, restored)
	if err := a.build(); err != nil {
		a.closeStorage()
		a.cancel(err)
		return &onceError{err}
	}
	j.mu.Lock()
	j.current = a
	j.runs = append(j.runs, a.runID)
	j.mu.Unlock()
	if j.quitting() {
		a.closeStorage()
		a.cancel(ErrCanceled)
		return ErrCanceled
	}
	if restored != nil {
		j.checkpoints.restored(RestoreStats{ID: restored.cp.ID, At: j.cluster.clock.Now(), Savepoint: restored.cp.Savepoint, Path: restored.name})
	}
	j.set(JobRunning)
	if j.quitting() {
		j.cancelNow() // asked for just before
	}
	err := a.execute()
	if err != nil && !j.quitting() {
		j.note(newFailure(j.cluster.clock.Now(), a.culprit, err))
	}
	return err
}

// up is told when all tasks of an attempt run.
func (j *Job) up(a *attempt) {
	j.log.Info("job is running", "name", j.name, "attempt", a.number, "tasks", len(a.tasks))
	j.cluster.publish(j.event())
}

func (j *Job) note(f Failure) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.failures = append(j.failures, f)
	if n := len(j.failures) - orDefault(j.cluster.opts.ExceptionHistory, 16); n > 0 {
		j.failures = slices.Delete(j.failures, 0, n)
	}
}

// again asks the restart strategy.
func (j *Job) again(err error) (time.Duration, bool) {
	if why, yes := j.fatal(err); yes {
		j.log.Warn("job is not restarted", "why", why, "error", err)
		return 0, false
	}
	delay, again := j.restart.next(j.cluster.clock.Now())
	if !again {
		return 0, false
	}
	if j.result != nil && !j.result.restart() {
		j.log.Warn("job is not restarted", "why", "rows of the query have been shown", "error", err)
		return 0, false
	}
	return delay, true
}

// pause waits for the next attempt.
func (j *Job) pause(delay time.Duration, err error) error {
	j.set(JobRestarting)
	e := failureEvent(j.event(), err)
	e.Restart = delay
	j.cluster.publish(e)
	j.log.Warn("job restarts", "delay", delay, "error", err)
	due := make(chan struct{})
	stop := j.cluster.clock.AfterFunc(delay, func() { close(due) })
	defer stop()
	select {
	case <-due:
		return nil
	case <-j.quit:
		return ErrCanceled
	}
}

// nextCheckpoint gives out a checkpoint id. Ids go up over all attempts and over restores.
func (j *Job) nextCheckpoint() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lastID++
	return j.lastID
}

// allRuns gives the run ids that may have left something outside.
func (j *Job) allRuns() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.runs)
}

// settledRuns forgets the runs before an attempt: its sinks have cleared away what they left.
func (j *Job) settledRuns(a *attempt) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.runs = []string{a.runID}
}

// priorRuns gives those before an attempt.
func (j *Job) priorRuns(a *attempt) []string {
	runs := j.allRuns()
	return slices.DeleteFunc(runs, func(r string) bool { return r == a.runID })
}
