package exec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"sort"
	"sync"

	"runnel/exec/op"
	"runnel/plan"
)

// Options are what a Cluster is made of.
type Options struct {
	Slots  int          // taskmanager.numberOfTaskSlots
	Dir    string       // data directory; files of connectors lie in it
	Clock  Clock        // nil: SystemClock
	Log    *slog.Logger // nil: nothing is logged
	Stdout io.Writer    // for the print connector; nil: discarded
	Stderr io.Writer
	// PollRows is the greatest number of rows that a source gives at once; 0: a whole batch. Tests make it small.
	PollRows int
	// Check verifies, in test builds, that operators keep what their plan nodes promise, and spoils batches that were
	// only lent.
	Check bool
	// HoldFinished keeps the last checkpoint of a job that has read all its input until Release: whoever resumes the job
	// before that finds that nothing is left to do.
	HoldFinished bool
	// History is how many ended jobs are remembered (jobstore.max-capacity); 0: 100.
	History int
	// CheckpointHistory is how many checkpoints a job remembers (web.checkpoints.history); 0: 10.
	CheckpointHistory int
	// ExceptionHistory is how many failures a job remembers (web.exception-history-size); 0: 16.
	ExceptionHistory int
}

// Cluster is an in-process mini-cluster: it has slots and runs jobs. It is safe for use by several goroutines.
type Cluster struct {
	opts   Options
	clock  Clock
	log    *slog.Logger
	stdout io.Writer
	stderr io.Writer
	slots  *slotPool
	stores stores
	sweep  sync.Once // of temporary files

	operators func(*opSpec) (op.Operator, error) // the switch; tests put their own in front

	mu     sync.Mutex
	jobs   map[string]*Job
	order  []*Job // by submission
	subs   map[int]func(Event)
	nextID int
	closed bool
	held   []*Job // finished ones whose last checkpoint waits for Release
	lives  sync.WaitGroup
}

// New makes a cluster. Nothing is started or opened before a job needs it.
func New(o Options) *Cluster {
	c := &Cluster{opts: o, clock: o.Clock, log: o.Log, stdout: o.Stdout, stderr: o.Stderr, slots: newSlotPool(max(1, o.Slots)),
		stores: stores{dir: storeDir(o.Dir)}, operators: newOperator, jobs: map[string]*Job{}, subs: map[int]func(Event){}}
	if c.clock == nil {
		c.clock = SystemClock{}
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	if c.stdout == nil {
		c.stdout = io.Discard
	}
	if c.stderr == nil {
		c.stderr = io.Discard
	}
	return c
}

// ErrClosed is given by a cluster that is shutting down.
var ErrClosed = errors.New("the cluster is closed")

// Submit takes a job. It returns once the job is accepted: the graph is checked, and what it restores from has been found
// and compared. The job then waits for its slots and runs; ctx bounds only the submission.
func (c *Cluster) Submit(ctx context.Context, g *plan.Graph, cfg JobConfig) (*Job, error) {
	j, err := newJob(c, g, cfg)
	if err != nil {
		return nil, err
	}
	if err := j.prepare(ctx); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, ErrClosed
	}
	c.jobs[j.id] = j
	c.order = append(c.order, j)
	c.forget()
	j.set(JobCreated)
	j.ready = c.slots.request(j, j.graph.parallelism)
	c.lives.Go(j.life)
	return j, nil
}

// forget drops the oldest ended jobs beyond the bound.
func (c *Cluster) forget() {
	ended := 0
	for _, j := range c.order {
		if j.State().Terminal() {
			ended++
		}
	}
	excess := ended - orDefault(c.opts.History, 100)
	kept := c.order[:0]
	for _, j := range c.order {
		if excess > 0 && j.State().Terminal() {
			excess--
			delete(c.jobs, j.id)
			continue
		}
		kept = append(kept, j)
	}
	clear(c.order[len(kept):])
	c.order = kept
}

// Job finds a job by its id.
func (c *Cluster) Job(id string) (*Job, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	j, ok := c.jobs[id]
	return j, ok
}

// Jobs gives all jobs that are remembered, oldest first.
func (c *Cluster) Jobs() []*Job {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]*Job(nil), c.order...)
}

// Slots gives the free slots and all of them.
func (c *Cluster) Slots() (free, total int) { return c.slots.counts() }

// SetSlots changes the number of slots; running jobs keep theirs.
func (c *Cluster) SetSlots(n int) { c.slots.resize(max(1, n)) }

// Subscribe has f called for every event, from the goroutine in which it happens: f must be quick. The function it gives
// ends the subscription.
func (c *Cluster) Subscribe(f func(Event)) (cancel func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	id := c.nextID
	c.nextID++
	c.subs[id] = f
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.subs, id)
	}
}

func (c *Cluster) publish(e Event) {
	c.mu.Lock()
	ids := make([]int, 0, len(c.subs))
	for id := range c.subs {
		ids = append(ids, id)
	}
	sort.Ints(ids)
	fs := make([]func(Event), len(ids))
	for i, id := range ids {
		fs[i] = c.subs[id]
	}
	c.mu.Unlock()
	for _, f := range fs {
		f(e)
	}
}

// Release drops the checkpoints that Options.HoldFinished kept: nobody will resume their jobs.
func (c *Cluster) Release() {
	c.mu.Lock()
	held := c.held
	c.held = nil
	c.mu.Unlock()
	for _, j := range held {
		j.kept.clear()
	}
}

// Close ends all jobs and waits for them, at most until ctx ends. Jobs that still run are SUSPENDED: their checkpoints
// stay, and they can be resumed from them.
func (c *Cluster) Close(ctx context.Context) error {
	c.mu.Lock()
	c.closed = true
	jobs := append([]*Job(nil), c.order...)
	c.mu.Unlock()
	for _, j := range jobs {
		j.suspend.Store(true)
		j.cancelNow()
	}
	done := make(chan struct{})
	go func() { c.lives.Wait(); close(done) }()
	select {
	case <-done:
		return c.stores.close()
	case <-ctx.Done():
		return fmt.Errorf("closing the cluster: jobs still end: %w", context.Cause(ctx))
	}
}

// storeDir is where the badger backend lies in a data directory.
func storeDir(dir string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "state")
}

// connectorDir is the private directory of an operator's connector; it outlives the job and is found again by the next
// job with the same operator id.
func (c *Cluster) connectorDir(j *Job, s *opSpec) string {
	if c.opts.Dir == "" {
		return ""
	}
	return filepath.Join(c.opts.Dir, "connectors", safeName(stateID(s)))
}

// safeName makes a file name of an operator id.
func safeName(id string) string {
	b := []byte(id)
	for i, ch := range b {
		switch {
		case ch >= 'a' && ch <= 'z', ch >= 'A' && ch <= 'Z', ch >= '0' && ch <= '9', ch == '-', ch == '_', ch == '.' && i > 0:
		default:
			b[i] = '_'
		}
	}
	return string(b)
}
