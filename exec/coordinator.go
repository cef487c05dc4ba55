package exec

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// coordinator decides when barriers run through an attempt, collects what the tasks acknowledge, and ends the job when
// its input has ended or it is stopped. One goroutine; others post to its mailbox. One checkpoint is in flight at a time.
type coordinator struct {
	a    *attempt
	mail mailbox[func() error]

	tasksUp   int
	sourcesUp int // source tasks that still read
	current   *pending
	queue     []*request
	failures  int   // consecutive, of periodic checkpoints
	completed int64 // the newest complete checkpoint of this attempt, savepoints aside
	lastEnd   time.Time
	stopTick  func()
	late      bool             // a tick came while a checkpoint was in flight
	finishing bool             // the tasks have been told to end
	finalDue  bool             // all input has ended; the final checkpoint is queued or done
	done      map[*opSpec]bool // operators that give nothing more
	work      sync.WaitGroup
}

// request asks for a checkpoint.
type request struct {
	kind  checkpointKind
	dir   string // target of a savepoint
	drain bool
	reply func(id int64, path string, err error) // called once; nil for nobody
}

func (r *request) answer(id int64, path string, err error) {
	if r.reply != nil {
		r.reply(id, path, err)
		r.reply = nil
	}
}

func newCoordinator(a *attempt) *coordinator {
	c := &coordinator{a: a, done: map[*opSpec]bool{}}
	c.mail.init()
	return c
}

func (c *coordinator) running(*task) {
	c.mail.post(func() error {
		if c.tasksUp++; c.tasksUp == len(c.a.tasks) {
			c.a.closeRestored()
			c.a.job.up(c.a)
			c.tick(c.a.cfg.Checkpoint.Interval)
		}
		return nil
	})
}

func (c *coordinator) sourceEnded(*task) {
	c.mail.post(func() error {
		c.sourcesUp--
		return nil
	})
}

// satisfied hears that an operator will give nothing more, a LIMIT that is reached. When no sink is left that could still
// get a row, the sources end, as if their input had.
func (c *coordinator) satisfied(s *opSpec) {
	c.mail.post(func() error {
		c.done[s] = true
		for _, o := range c.a.graph.ops {
			if len(o.outputs) == 0 && !c.starved(o) {
				return nil
			}
		}
		for _, d := range c.a.dealers {
			for _, t := range d.tasks {
				t.mail.post(func(t *task) error { return t.source.end() })
			}
		}
		return nil
	})
}

// starved reports whether every way from a source to the operator leads through one that is done.
func (c *coordinator) starved(s *opSpec) bool {
	if c.done[s] {
		return true
	}
	for _, in := range s.inputs {
		for _, l := range in.links {
			if !c.starved(l.from) {
				return false
			}
		}
	}
	return len(s.inputs) > 0
}

// request queues a checkpoint.
func (c *coordinator) request(r *request) {
	there := c.mail.post(func() error {
		if c.finishing || c.finalDue && r.kind != finalCheckpoint {
			r.answer(0, "", errors.New("the job is about to finish: its input has ended"))
			return nil
		}
		c.queue = append(c.queue, r)
		return nil
	})
	if !there {
		r.answer(0, "", errEnded)
	}
}

// errEnded answers requests that come too late.
var errEnded = errors.New("the job has just ended or failed")

// loop works until the attempt ends.
func (c *coordinator) loop(ctx context.Context) (err error) {
	for _, d := range c.a.dealers {
		c.sourcesUp += len(d.tasks)
	}
	defer func() {
		why := err
		if why == nil || errors.Is(why, errStopped) {
			why = errEnded
		}
		c.giveUp(why)
	}()
	for {
		for _, msg := range c.mail.take() {
			if err := msg(); err != nil {
				return err
			}
		}
		if err := c.advance(); err != nil {
			return err
		}
		select {
		case <-c.mail.wake:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// giveUp answers everybody who waits.
func (c *coordinator) giveUp(why error) {
	c.work.Wait()
	if c.stopTick != nil {
		c.stopTick()
	}
	for _, msg := range c.mail.close() {
		msg()
	}
	if p := c.current; p != nil {
		p.stopTimer()
		if err := p.abort(); err != nil {
			c.a.log.Warn("removing a failed checkpoint", "checkpoint", p.barrier.id, "error", err)
		}
		c.a.job.checkpoints.fail(p.stats, why, c.a.clock.Now())
		p.req.answer(p.barrier.id, "", why)
	}
	for _, r := range c.queue {
		r.answer(0, "", why)
	}
	c.queue = nil
}

// advance starts the next checkpoint if nothing is in its way.
func (c *coordinator) advance() error {
	if c.tasksUp < len(c.a.tasks) || c.finishing {
		return nil
	}
	if c.sourcesUp == 0 && !c.finalDue && (c.current == nil || c.current.barrier.kind != stopSavepoint) {
		c.finalDue = true
		c.queue = append(c.queue, &request{kind: finalCheckpoint})
	}
	if c.current == nil && len(c.queue) > 0 {
		r := c.queue[0]
		c.queue = c.queue[1:]
		return c.start(r)
	}
	return nil
}

// tick sets the time of the next periodic checkpoint.
func (c *coordinator) tick(d time.Duration) {
	if c.a.cfg.Checkpoint.Interval <= 0 || c.finishing {
		return
	}
	c.stopTick = c.a.clock.AfterFunc(d, func() { c.mail.post(c.onTick) })
}

func (c *coordinator) onTick() error {
	if c.finalDue || c.finishing {
		return nil
	}
	if c.current != nil || len(c.queue) > 0 {
		c.late = true
		return nil
	}
	if wait := c.pause(); wait > 0 {
		c.tick(wait)
		return nil
	}
	c.queue = append(c.queue, &request{kind: periodicCheckpoint})
	c.tick(c.a.cfg.Checkpoint.Interval)
	return nil
}

// pause is what is left of the minimum pause between two checkpoints.
func (c *coordinator) pause() time.Duration {
	if c.lastEnd.IsZero() {
		return 0
	}
	return c.lastEnd.Add(c.a.cfg.Checkpoint.MinPause).Sub(c.a.clock.Now())
}

// start sends a barrier into all sources.
func (c *coordinator) start(r *request) error {
	a := c.a
	now := a.clock.Now()
	b := &barrier{
		id: a.job.nextCheckpoint(), kind: r.kind, drain: r.drain, trigger: now, completed: c.completed,
		keep: r.kind != finalCheckpoint || a.cfg.Checkpoint.Interval > 0 && (a.commits() || a.job.cluster.opts.HoldFinished),
	}
	p := newPending(a, b, r)
	c.current = p
	p.stopTimer = func() {}
	if err := a.begin(p); err != nil {
		return c.failed(p, err)
	}
	p.stopTimer = a.clock.AfterFunc(a.cfg.Checkpoint.timeout(), func() {
		c.mail.post(func() error {
			if c.current != p || p.finishing {
				return nil
			}
			return c.failed(p, fmt.Errorf("checkpoint %d expired after %s: %s", b.id, a.cfg.Checkpoint.timeout(), p.missing()))
		})
	})
	for _, d := range a.dealers {
		p.sources[d.spec] = d.barrier(b)
	}
	return nil
}

// prepared takes the committables of a task as soon as its writers have given them. They count whatever becomes of the
// checkpoint: their rows come before the next one.
func (c *coordinator) prepared(s *opSpec, checkpoint int64, committables [][]byte) {
	c.mail.post(func() error {
		c.sinkOf(s).prepared(checkpoint, committables)
		return nil
	})
}

// acknowledge takes what a task has snapshotted.
func (c *coordinator) acknowledge(k *ack) {
	c.mail.post(func() error {
		p := c.current
		if p == nil || p.barrier != k.barrier {
			return nil
		}
		p.add(c.a, k)
		return c.completeIfDone(p)
	})
}

// decline takes the news that a task cannot store its part.
func (c *coordinator) decline(b *barrier, why error) {
	c.mail.post(func() error {
		if p := c.current; p != nil && p.barrier == b {
			return c.failed(p, why)
		}
		return nil
	})
}

func (c *coordinator) sinkOf(s *opSpec) *sinkCommits {
	for _, k := range c.a.sinks {
		if k.spec == s {
			return k
		}
	}
	return nil
}

// completeIfDone hands a checkpoint that everybody has acknowledged to a goroutine that stores and commits it.
func (c *coordinator) completeIfDone(p *pending) error {
	if !p.complete() || p.finishing {
		return nil
	}
	p.finishing = true
	cp, err := p.snapshot(c.a)
	if err != nil {
		return err
	}
	due := make([][][]byte, len(c.a.sinks))
	for i, s := range c.a.sinks {
		due[i] = s.due(p.barrier.id)
	}
	c.work.Go(func() {
		path, err := c.a.persist(p, cp)
		if err != nil {
			c.mail.post(func() error { return c.failed(p, err) })
			return
		}
		if p.barrier.kind == savepoint {
			c.mail.post(func() error { return c.succeeded(p, path) })
			return
		}
		if err := c.commit(p, due); err != nil {
			c.mail.post(func() error { return err })
			return
		}
		c.mail.post(func() error {
			for _, s := range c.a.sinks {
				s.done(p.barrier.id)
			}
			return c.succeeded(p, path)
		})
	})
	return nil
}

// commit makes the outside see what the checkpoint holds, and tells readers and writers.
func (c *coordinator) commit(p *pending, due [][][]byte) error {
	for i, s := range c.a.sinks {
		if err := s.commit(c.a.ctx, p.barrier.id, due[i]); err != nil {
			return err
		}
	}
	for _, d := range c.a.dealers {
		if err := guard(d.spec.name, func() error { return d.committed(c.a.ctx, p.sources[d.spec]) }); err != nil {
			c.a.log.Warn("telling a source of a completed checkpoint", "operator", d.spec.name, "error", err)
		}
	}
	for _, t := range c.a.tasks {
		t.mail.post(func(t *task) error {
			for _, n := range t.sinks {
				n.op.(*sinkOp).committed(p.barrier.id)
			}
			return nil
		})
	}
	return nil
}

// succeeded ends a checkpoint that is durable and committed.
func (c *coordinator) succeeded(p *pending, path string) error {
	c.end(p)
	c.failures = 0
	if !p.barrier.kind.isSavepoint() {
		c.completed = p.barrier.id
		for t, k := range p.acks {
			if k.ended { // it goes on passing barriers, but what it had to give is committed
				t.state.set(TaskFinished, c.a.clock.Now())
			}
		}
	}
	c.a.job.checkpoints.complete(p.stats, path)
	p.req.answer(p.barrier.id, path, nil)
	if p.barrier.kind == finalCheckpoint {
		c.a.job.drained.Store(p.barrier.keep)
	}
	if p.barrier.kind == stopSavepoint || p.barrier.kind == finalCheckpoint {
		c.finish()
	}
	return nil
}

// failed ends a checkpoint that did not come about. The error returned fails the job.
func (c *coordinator) failed(p *pending, why error) error {
	c.end(p)
	for _, t := range c.a.tasks {
		t.mail.post(func(t *task) error { t.abandon(p.barrier); return nil })
	}
	if err := p.abort(); err != nil {
		c.a.log.Warn("removing a failed checkpoint", "checkpoint", p.barrier.id, "error", err)
	}
	c.a.job.checkpoints.fail(p.stats, why, c.a.clock.Now())
	c.a.log.Warn("checkpoint failed", "checkpoint", p.barrier.id, "type", p.barrier.kind, "error", why)
	p.req.answer(p.barrier.id, "", why)
	switch p.barrier.kind {
	case savepoint:
		return nil
	case stopSavepoint:
		if p.barrier.drain {
			return fmt.Errorf("stop with savepoint and drain: %w", why)
		}
		for _, d := range c.a.dealers {
			for _, t := range d.tasks {
				t.mail.post(func(t *task) error { t.source.held = false; return nil })
			}
		}
		return nil
	case finalCheckpoint:
		c.finalDue = false
	}
	if c.failures++; c.failures > c.a.cfg.Checkpoint.Tolerable {
		return fmt.Errorf("%d checkpoint %s in a row, execution.checkpointing.tolerable-failed-checkpoints is %d: %w",
			c.failures, plural(c.failures, "failure"), c.a.cfg.Checkpoint.Tolerable, why)
	}
	return nil
}

func (c *coordinator) end(p *pending) {
	p.stopTimer()
	c.current = nil
	c.lastEnd = c.a.clock.Now()
	if c.late {
		c.late = false
		c.tick(max(0, c.pause()))
	}
}

// finish lets the tasks end: the sources say so, and it runs down the edges.
func (c *coordinator) finish() {
	c.finishing = true
	if c.stopTick != nil {
		c.stopTick()
	}
	for _, d := range c.a.dealers {
		for _, t := range d.tasks {
			t.mail.post(func(t *task) error { return t.stop() })
		}
	}
}
