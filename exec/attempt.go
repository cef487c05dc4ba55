package exec

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"runnel/connectors"
	"runnel/exec/op"
	"runnel/expr"
	"runnel/plan"
	"runnel/state"
	"runnel/types"
)

// attempt is one run of a job, from a restore (or from nothing) to an end or a failure. A restart is a new attempt.
type attempt struct {
	job      *Job
	number   int
	graph    *jobGraph
	cfg      *JobConfig
	clock    Clock
	log      *slog.Logger
	runID    string    // random: it names what this run leaves outside
	restored *snapshot // nil for an empty start
	started  time.Time

	ctx    context.Context
	cancel context.CancelCauseFunc

	tasks   []*task
	bySpec  map[*taskSpec][]*task
	dealers []*dealer
	sinks   []*sinkCommits
	stored  *state.Attempt // where its checkpoints are, nil before the first; guarded by mu
	coord   *coordinator
	storer  *storer

	mu      sync.Mutex
	groups  map[string]*alignGroup
	culprit *task // the task that failed first
}

func newAttempt(job *Job, number int, restored *snapshot) *attempt {
	a := &attempt{
		job: job, number: number, graph: job.graph, cfg: &job.cfg, clock: job.cluster.clock,
		log: job.log.With("attempt", number), runID: randomID(16), restored: restored,
		bySpec: map[*taskSpec][]*task{}, groups: map[string]*alignGroup{}, started: job.cluster.clock.Now(),
	}
	a.ctx, a.cancel = context.WithCancelCause(context.Background())
	a.coord = newCoordinator(a)
	a.storer = newStorer(a)
	return a
}

// randomID gives n random bytes in hexadecimal.
func randomID(n int) string {
	b := make([]byte, n)
	rand.Read(b) // never fails: crypto/rand ends the process itself if the system has no randomness
	return hex.EncodeToString(b)
}

// build makes the tasks with their operators and connects them.
func (a *attempt) build() error {
	for _, ts := range a.graph.tasks {
		for i := range ts.parallelism {
			t := &task{run: a, spec: ts, subtask: i, ctx: a.ctx, wakesAt: types.MaxWatermark, lastFlush: time.Now()}
			t.mail.init()
			for _, s := range ts.ops {
				o, err := a.operator(s, i)
				if err != nil {
					return err
				}
				n := newNode(t, s, o)
				t.nodes = append(t.nodes, n)
				switch o := o.(type) {
				case *sinkOp:
					t.sinks = append(t.sinks, n)
				case *collectOp:
					o.behind = &t.waitTime
				}
			}
			if head := ts.ops[0]; len(head.inputs) > 0 {
				t.gate = newGate(len(head.inputs))
				t.gate.spoil = a.job.cluster.opts.Check
			}
			a.tasks = append(a.tasks, t)
			a.bySpec[ts] = append(a.bySpec[ts], t)
			t.state.set(TaskCreated, a.clock.Now())
		}
	}
	var edges []*edge
	for _, t := range a.tasks {
		for _, n := range t.nodes {
			edges = append(edges, t.connect(n)...)
		}
	}
	for _, t := range a.tasks {
		if t.gate != nil {
			t.gate.makeQueue()
		}
	}
	for _, e := range edges {
		e.free = make(chan *types.Batch, edgeCredits(len(e.gate.chans)))
	}
	return a.buildSources()
}

// connect makes the links behind an operator, and gives the new edges.
func (t *task) connect(n *node) []*edge {
	var all []*edge
	for _, l := range n.spec.outputs {
		if l.direct {
			n.links = append(n.links, direct{to: t.nodes[l.to.index], input: l.input})
			continue
		}
		targets := t.run.bySpec[l.to.task]
		if l.forward() {
			targets = targets[t.subtask : t.subtask+1]
		}
		edges := make([]*edge, len(targets))
		for i, to := range targets {
			e := &edge{ctx: t.ctx, gate: to.gate, ch: to.gate.connect(l.input), fields: n.spec.fields, wait: &t.waitTime}
			to.gate.attach(e.ch, e)
			edges[i] = e
		}
		var route router
		if l.dist == plan.HashKeys {
			route = hashRouter(n.spec.fields, l.exchange.Keys, len(targets), t.run.graph.maxPar)
		}
		x := newExchange(edges, l.dist, route)
		t.outs = append(t.outs, x)
		n.links = append(n.links, x)
		all = append(all, edges...)
	}
	return all
}

// hashRouter sends a row to the subtask that owns the key group of its key.
func hashRouter(fields []types.Field, keys []int, subtasks, maxPar int) router {
	ts := make([]types.Type, len(keys))
	for i, k := range keys {
		ts[i] = fields[k].Type
	}
	codec := types.NewKeyCodec(ts)
	owners := make([]int32, maxPar)
	for g := range owners {
		owners[g] = int32(types.SubtaskOf(g, subtasks, maxPar))
	}
	var k types.Keys
	return func(b *types.Batch, dst []int32) {
		codec.Encode(b, keys, &k)
		types.KeyGroups(dst[:0], k.Hash, maxPar)
		for i, g := range dst {
			dst[i] = owners[g]
		}
	}
}

// operator makes the operator of one subtask. Sources, sinks and results are the engine's own.
func (a *attempt) operator(s *opSpec, subtask int) (op.Operator, error) {
	switch n := s.node.(type) {
	case *plan.Scan, *plan.Values:
		return scanOp{}, nil
	case *plan.Collect:
		if s.stage == stageWhole {
			return &collectOp{result: a.job.result}, nil
		}
	case *plan.Sink:
		if s.stage == stageWriter {
			return &sinkOp{sink: n.Sink}, nil
		}
	}
	return a.job.cluster.operators(s)
}

// buildSources makes the loops, dealers and sink commits.
func (a *attempt) buildSources() error {
	for _, s := range a.graph.ops {
		tasks := a.bySpec[s.task]
		switch n := s.node.(type) {
		case *plan.Scan:
			a.addSource(s, n.Source, n.Mark, tasks)
		case *plan.Values:
			src, err := valuesSource(n, a)
			if err != nil {
				return err
			}
			a.addSource(s, src, nil, tasks)
		case *plan.Sink:
			if s.stage == stageWriter {
				a.sinks = append(a.sinks, newSinkCommits(a, s, n.Sink))
			}
		}
	}
	return nil
}

func (a *attempt) addSource(s *opSpec, src *connectors.Source, mark *plan.Watermark, tasks []*task) {
	for _, t := range tasks {
		t.source = newSource(t, t.nodes[0], src, mark)
	}
	a.dealers = append(a.dealers, newDealer(a, s, src, tasks))
}

// operatorContext is what all instances of an operator see.
func (a *attempt) operatorContext(n *node) *op.Context {
	return &op.Context{
		Name: n.spec.name, Out: n, Env: a.exprEnv(n), Of: 1, Log: a.log, MaxParallelism: a.graph.maxPar, Now: a.clock.Now,
		Counter: n.metrics.counter, Gauge: n.metrics.gauge,
	}
}

// exprEnv is what compiled expressions of an operator instance see.
func (a *attempt) exprEnv(n *node) *expr.Env {
	return &expr.Env{
		Zone: a.zone(), Now: a.clock.Now, QueryStart: a.job.started, Batch: a.graph.plan.Batch, LegacyCast: a.cfg.LegacyCast,
		Watermark: n.currentWatermark,
	}
}

func (a *attempt) zone() *time.Location {
	if a.cfg.Zone == nil {
		return time.UTC
	}
	return a.cfg.Zone
}

// connectorEnv is what connectors see.
func (a *attempt) connectorEnv(s *opSpec, subtask, of int, gauge func(string, func() int64)) connectors.Env {
	c := a.job.cluster
	return connectors.Env{MaxRows: a.job.cluster.opts.PollRows,
		Zone: a.zone(), Dir: c.connectorDir(a.job, s), Now: a.clock.Now,
		Log:     a.log.With("operator", s.name, "subtask", subtask),
		Subtask: subtask, Of: of, Metrics: gauge, Stdout: c.stdout, Stderr: c.stderr,
	}
}

// alignment gives the watermark alignment group of the job with that name.
func (a *attempt) alignment(name string) *alignGroup {
	a.mu.Lock()
	defer a.mu.Unlock()
	g := a.groups[name]
	if g == nil {
		g = &alignGroup{marks: map[*watermarks]int64{}}
		a.groups[name] = g
	}
	return g
}

func (a *attempt) running(t *task) { a.coord.running(t) }

func (a *attempt) ended(t *task) { a.coord.sourceEnded(t) }

// execute runs the attempt to its end. nil means that every task ended in good order.
func (a *attempt) execute() error {
	defer a.cancel(errStopped)
	defer a.closeStorage()
	if err := a.recoverSinks(); err != nil {
		return err
	}
	defer a.closeSinks()
	a.job.settledRuns(a)
	var wg sync.WaitGroup
	for _, d := range a.dealers {
		if st := a.restored.of(stateID(d.spec)).Source; st != nil {
			d.restore(st)
		}
	}
	for _, t := range a.tasks {
		t.state.set(TaskDeploying, a.clock.Now())
		wg.Go(func() { a.runTask(t) })
	}
	tasksDone := make(chan struct{})
	go func() { wg.Wait(); close(tasksDone) }()

	helpers, stop := context.WithCancelCause(a.ctx)
	var hg sync.WaitGroup
	for _, d := range a.dealers {
		hg.Go(func() { a.helper(guard(d.spec.name, func() error { return d.loop(helpers) })) })
	}
	hg.Go(func() { a.helper(a.coord.loop(helpers)) })
	hg.Go(func() { a.helper(a.storer.loop(helpers)) })

	err := a.waitFor(tasksDone)
	stop(errStopped)
	hg.Wait()
	if err != nil {
		return err
	}
	a.strip()
	return a.failure()
}

// strip lets go of everything but the numbers, which stay for the dashboard. All goroutines have ended.
func (a *attempt) strip() {
	for _, t := range a.tasks {
		t.gate, t.outs, t.source, t.sinks, t.drain = nil, nil, nil, nil, nil
		for _, n := range t.nodes {
			n.metrics.freeze()
			n.op, n.timed, n.flusher, n.ender, n.snap, n.keyed, n.links = nil, nil, nil, nil, nil, nil, nil
		}
	}
	a.dealers, a.sinks = nil, nil
}

// runTask runs one task and notes how it ended.
func (a *attempt) runTask(t *task) {
	err := t.main()
	t.gone.Store(true)
	now := a.clock.Now()
	switch {
	case err == nil:
		t.state.set(TaskFinished, now)
	case a.ctx.Err() != nil:
		t.state.set(TaskCanceled, now)
	default:
		t.state.set(TaskFailed, now)
		a.mu.Lock()
		a.culprit = t
		a.mu.Unlock()
		a.cancel(err)
	}
}

// guard turns a panic in code of a connector into the failure of its operator.
func guard(operator string, f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &OperatorError{Operator: operator, Err: &PanicError{Value: p, Stack: debug.Stack()}}
		}
	}()
	return f()
}

// helper notes the failure of a goroutine beside the tasks.
func (a *attempt) helper(err error) {
	if err != nil && !errors.Is(err, errStopped) && a.ctx.Err() == nil {
		a.cancel(err)
	}
}

// failure gives what ended the attempt, nil if nothing did.
func (a *attempt) failure() error {
	if a.ctx.Err() == nil {
		return nil
	}
	return context.Cause(a.ctx)
}

// How long cancelled tasks are waited for, in real time: after the first they are named in the log, after the second the
// job is given up.
const (
	cancelPatience = time.Second
	cancelLimit    = 30 * time.Second
)

// waitFor waits for the tasks. Once the attempt is cancelled they have a second; who takes longer is named in the log.
func (a *attempt) waitFor(done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-a.ctx.Done():
	}
	now := a.clock.Now()
	for _, t := range a.tasks {
		t.state.set(TaskCanceling, now)
	}
	for _, wait := range []time.Duration{cancelPatience, cancelLimit} {
		timer := time.NewTimer(wait)
		select {
		case <-done:
			timer.Stop()
			return nil
		case <-timer.C:
		}
		for _, t := range a.tasks {
			if !t.gone.Load() {
				a.log.Warn("task does not end after cancellation", "task", t.spec.name(), "subtask", t.subtask, "waited", wait)
			}
		}
	}
	return &stuckError{cause: context.Cause(a.ctx)}
}

// stuckError ends a job whose goroutines cannot be stopped: it must not run again beside them.
type stuckError struct{ cause error }

func (e *stuckError) Error() string {
	return fmt.Sprintf("tasks did not end within %s of their cancellation: %v", cancelLimit, e.cause)
}

func (e *stuckError) Unwrap() error { return e.cause }
