package testkit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"runnel/catalog"
	"runnel/exec"
	"runnel/session"
	"runnel/types"
)

// Break is what happens to a job in the middle of its input.
type Break uint8

const (
	// Straight: nothing.
	Straight Break = iota
	// Crashed: a checkpoint is taken, some more rows are read, then the source fails and the job restarts from the checkpoint.
	Crashed
	// Rescaled: the job ends, from memory with a savepoint, with badger by being cancelled behind a checkpoint, and a new
	// one starts from there at another parallelism.
	Rescaled
)

// Variant is a way to run a test.
type Variant struct {
	Backend     string // hashmap, badger
	Parallelism int
	Break       Break
	Then        int // parallelism behind Rescaled
	Batch       bool
}

// Matrix is every variant of a streaming test, the plain one, whose changelog is compared as it is, first.
func Matrix() []Variant {
	var all []Variant
	for _, backend := range []string{"hashmap", "badger"} {
		for par := 1; par <= 2; par++ {
			all = append(all,
				Variant{Backend: backend, Parallelism: par},
				Variant{Backend: backend, Parallelism: par, Break: Crashed},
				Variant{Backend: backend, Parallelism: par, Break: Rescaled, Then: 3 - par})
		}
	}
	return all
}

// Plain reports whether results are compared at the level that the test names, not just the rows they leave.
func (v Variant) Plain() bool {
	return v.Backend == "hashmap" && v.Parallelism == 1 && v.Break == Straight && !v.Batch
}

// String describes the variant.
func (v Variant) String() string {
	how := [...]string{"straight", "restarted", "rescaled"}[v.Break]
	switch {
	case v.Batch:
		return fmt.Sprintf("batch, parallelism %d", v.Parallelism)
	case v.Break == Rescaled:
		how = fmt.Sprintf("rescaled to %d", v.Then)
	}
	return fmt.Sprintf("%s, parallelism %d, %s", v.Backend, v.Parallelism, how)
}

// excepted says why a test does not run so, "" if it does.
func (t Test) excepted(v Variant) string {
	e := t.Step().Except
	switch {
	case v.Batch && e["batch"] != "":
		return e["batch"]
	case v.Parallelism > 1 || v.Then > 1:
		return e["parallel"]
	case v.Break != Straight:
		return e["restore"]
	}
	return ""
}

// Runs says whether the variant makes sense for the test.
func (t Test) Runs(v Variant) bool {
	if t.excepted(v) != "" || t.Step().Refused != nil && (v.Break != Straight || v.Backend != "hashmap" || v.Batch) {
		return false
	}
	rows := 0
	for _, st := range t.Script.Steps[:t.At] {
		if st.Rows == nil {
			continue
		}
		rows += len(st.Rows.Changes)
		for _, c := range st.Rows.Changes {
			if v.Batch && c.Kind != "+I" {
				return false // batch mode reads rows only
			}
		}
	}
	return v.Break == Straight || rows > 1
}

// Logs is what a test gave: a changelog for each sink ("" for a query), and how the statement failed.
type Logs struct {
	Changes map[string][]Change
	Keys    map[string][]int // of sinks that take no -U: the key by which a row replaces another
	Err     error
	Read    bool // the job has read rows
	Broken  bool // it was in fact interrupted
}

// Table gives the rows that a sink holds in the end.
func (l *Logs) Table(sink string) (map[string]int, string) {
	if key, ok := l.Keys[sink]; ok {
		return ApplyUpserts(l.Changes[sink], key)
	}
	return Apply(l.Changes[sink])
}

// player runs one test in one variant.
type player struct {
	test    Test
	v       Variant
	dir     string
	feed    *Feed
	clock   *testClock
	cluster *exec.Cluster
	config  *catalog.Config
	session *session.Session
	capture *Capture
	events  *eventLog
	out     lockedBuffer
	logs    Logs
}

// Play runs a test. dir is an empty directory of its own.
func Play(t Test, v Variant, s Setting) (logs Logs, err error) {
	ctx, cancel := context.WithTimeoutCause(context.Background(), patience, errors.New("the test hangs"))
	defer cancel()
	p, done := open(t, v, s)
	defer func() {
		if cerr := done(ctx); err == nil && cerr != nil {
			err = cerr
		}
	}()
	if err := p.setUp(ctx); err != nil {
		return p.logs, err
	}
	p.logs.Err = p.subject(ctx)
	p.logs.Changes, p.logs.Keys, p.logs.Read = p.capture.All(), p.capture.Keys(), p.feed.Read()
	if ctx.Err() != nil {
		return p.logs, context.Cause(ctx)
	}
	return p.logs, nil
}

// open makes a cluster and a session for a test; done closes them.
func open(t Test, v Variant, s Setting) (p *player, done func(context.Context) error) {
	p = &player{
		test: t, v: v, dir: s.Dir, capture: NewCapture(), config: catalog.NewConfig(), clock: newTestClock(), events: newEventLog(),
		feed: NewFeed(t.Script.Steps[:t.At], v.Parallelism == 1 && v.Break == Straight, s.Formats),
	}
	poll := 3
	if v.Plain() || v.Batch {
		poll = 0
	}
	p.cluster = exec.New(exec.Options{Slots: 8, Dir: filepath.Join(p.dir, "data"), Clock: p.clock, Stdout: &p.out, Stderr: &p.out, PollRows: poll, Check: true})
	p.cluster.Subscribe(p.events.add)
	p.session = session.New(session.Options{
		Catalog: catalog.New(), Config: p.config, Formats: s.Formats,
		Connectors: append(append(p.feed.Connectors(), p.capture.Connector()), s.Connectors...),
		Cluster:    func() (*exec.Cluster, error) { return p.cluster, nil },
	})
	return p, p.cluster.Close
}

// setUp executes the statements before the test, those aside that are tests themselves.
func (p *player) setUp(ctx context.Context) error {
	if err := p.set("parallelism.default", fmt.Sprint(p.v.Parallelism)); err != nil {
		return err
	}
	for _, kv := range [...][2]string{
		{"state.backend.type", p.v.Backend}, {"execution.checkpointing.dir", filepath.Join(p.dir, "checkpoints")},
		{"execution.checkpointing.externalized-checkpoint-retention", "RETAIN_ON_CANCELLATION"},
		{"restart-strategy.type", "fixed-delay"}, {"restart-strategy.fixed-delay.delay", "1 ms"}, {"table.local-time-zone", "UTC"},
	} {
		if err := p.set(kv[0], kv[1]); err != nil {
			return err
		}
	}
	for _, st := range p.test.Script.Steps[:p.test.At] {
		if st.SQL == "" || len(st.Wants) > 0 || st.Refused != nil {
			continue
		}
		if _, err := p.session.Execute(ctx, st.SQL); err != nil {
			return fmt.Errorf("line %d: %w", st.Line, err)
		}
	}
	if p.v.Batch {
		return p.set("execution.runtime-mode", "batch")
	}
	return nil
}

func (p *player) set(key, value string) error {
	_, err := p.config.Set(key, value)
	return err
}

// subject runs the statement of the test. A query runs as such where it is compared row for row and in batch mode; else
// it goes into a sink, since only such jobs restart.
func (p *player) subject(ctx context.Context) error {
	text := p.test.Step().SQL
	if _, ok := parseQuery(text); ok && (p.v.Plain() || p.v.Batch || p.test.Step().Refused != nil) {
		return p.query(ctx, text)
	} else if ok {
		into, err := p.captured(ctx, text)
		if err != nil {
			return err
		}
		text = into
	}
	res, err := p.session.Execute(ctx, text)
	if err != nil || res.JobID == "" {
		return err
	}
	return p.drive(ctx, res.JobID, text)
}

func (p *player) query(ctx context.Context, text string) error {
	res, err := p.session.Execute(ctx, text)
	if err != nil {
		return err
	}
	defer res.Rows.Close()
	var wg sync.WaitGroup
	var failed error
	wg.Go(func() {
		for {
			b, err := res.Rows.Next(ctx)
			if err != nil {
				if !errors.Is(err, io.EOF) {
					failed = err
				}
				return
			}
			p.capture.add("", rendered(b, p.config.Zone()))
		}
	})
	err = p.drive(ctx, res.JobID, text)
	wg.Wait()
	if failed != nil {
		return failed
	}
	return err
}

// captured makes an INSERT into a capturing table of a query.
func (p *player) captured(ctx context.Context, query string) (string, error) {
	fields, err := p.session.Fields(query)
	if err != nil {
		return "", err
	}
	ddl, insert := captureInto(fields, query)
	_, err = p.session.Execute(ctx, ddl)
	return insert, err
}

// stage is a stretch of the script: rows up to a limit, or time that passes.
type stage struct {
	limit int
	clock time.Duration
	cut   bool // the middle of the input
}

// stages cuts the script where a block of rows ends, where time passes, and in the middle.
func (p *player) stages() []stage {
	cut := p.feed.total / 2
	if p.v.Break == Straight || p.feed.total < 2 {
		cut = -1
	}
	var all []stage
	if p.v.Parallelism > 1 || p.v.Then > 1 {
		all = append(all, stage{}) // subtasks without splits say that they are idle before the first row
	}
	at := 0
	for _, st := range p.test.Script.Steps[:p.test.At] {
		switch {
		case st.Clock > 0:
			all = append(all, stage{limit: at, clock: st.Clock})
		case st.Rows != nil:
			end := at + len(st.Rows.Changes)
			if at < cut && cut < end {
				all = append(all, stage{limit: cut, cut: true})
			}
			all = append(all, stage{limit: end, cut: end == cut})
			at = end
		}
	}
	return all
}

// drive moves the job's input on, stage by stage: at the end of each one every operator has seen it.
func (p *player) drive(ctx context.Context, id, text string) error {
	j, ok := p.cluster.Job(id)
	if !ok {
		return fmt.Errorf("job %s is gone", id)
	}
	stages := p.stages()
	if p.v.Batch {
		stages = nil
	}
	for i, s := range stages {
		if i == len(stages)-1 && s.clock == 0 && !s.cut {
			break
		}
		if err := p.events.running(ctx, j); err != nil {
			return err
		}
		p.feed.Release(s.limit)
		if err := p.settle(ctx, j); err != nil {
			return err
		}
		if s.clock > 0 {
			p.clock.Advance(s.clock)
			if err := p.settle(ctx, j); err != nil {
				return err
			}
		}
		if s.cut {
			next := p.feed.total
			if i+1 < len(stages) {
				next = stages[i+1].limit
			}
			var err error
			if j, err = p.interrupt(ctx, j, text, s.limit, next); err != nil {
				return err
			}
		}
		if ended(j) {
			break
		}
	}
	p.feed.Finish()
	return j.Wait(ctx)
}

func ended(j *exec.Job) bool {
	select {
	case <-j.Done():
		return true
	default:
		return false
	}
}

// settle waits until all that was released has run through the job: a checkpoint behind it is complete.
func (p *player) settle(ctx context.Context, j *exec.Job) error {
	if err := p.feed.Await(ctx, j.Done()); err != nil {
		return err
	}
	if _, err := j.Checkpoint(ctx); err != nil && !over(j, err) {
		return err
	}
	return nil
}

// over reports whether a job took no checkpoint because it had what it needs, a LIMIT, and ends. Its last attempt ends a moment
// before the job does.
func over(j *exec.Job, err error) bool {
	if ended(j) || strings.Contains(err.Error(), "about to finish") {
		return true
	}
	if !strings.Contains(err.Error(), "has just ended") {
		return false
	}
	select {
	case <-j.Done():
		return true
	case <-time.After(time.Second):
		return false
	}
}

// interrupt breaks the job as the variant says, and gives the one that goes on. limit is what it has read, next the end
// of the following stage.
func (p *player) interrupt(ctx context.Context, j *exec.Job, text string, limit, next int) (*exec.Job, error) {
	if ended(j) {
		return j, nil
	}
	if p.v.Break == Crashed {
		p.logs.Broken = true
		p.feed.Release(limit + (next-limit+1)/2)
		if err := p.feed.Await(ctx, j.Done()); err != nil {
			return j, err
		}
		before := p.events.runs(j)
		p.feed.Release(limit)
		p.feed.Crash()
		if err := p.events.await(ctx, j, before+1); err != nil {
			return j, err
		}
		return j, p.settle(ctx, j)
	}
	var path string
	var err error
	if p.v.Backend == "hashmap" {
		path, err = j.Stop(ctx, filepath.Join(p.dir, "savepoints"), false)
	} else {
		var id int64
		if id, err = j.Checkpoint(ctx); err == nil {
			path = filepath.Join(p.dir, "checkpoints", j.ID(), fmt.Sprintf("chk-%d", id))
			err = j.Cancel(ctx)
		}
	}
	if err != nil && over(j, err) {
		return j, nil
	}
	if err != nil {
		return j, fmt.Errorf("interrupting the job: %w", err)
	}
	p.logs.Broken = true
	if err := p.set("execution.state-recovery.path", path); err != nil {
		return j, err
	}
	if err := p.set("parallelism.default", fmt.Sprint(p.v.Then)); err != nil {
		return j, err
	}
	res, err := p.session.Execute(ctx, text)
	if err != nil {
		return j, fmt.Errorf("starting again: %w", err)
	}
	again, ok := p.cluster.Job(res.JobID)
	if !ok {
		return j, fmt.Errorf("job %s is gone", res.JobID)
	}
	if err := p.events.running(ctx, again); err != nil {
		return again, err
	}
	return again, p.settle(ctx, again)
}

// eventLog counts how often jobs have come to run.
type eventLog struct {
	mu      sync.Mutex
	count   map[string]int
	changed chan struct{}
}

func newEventLog() *eventLog {
	return &eventLog{count: map[string]int{}, changed: make(chan struct{})}
}

func (l *eventLog) add(e exec.Event) {
	if e.State != exec.JobRunning {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count[e.Job]++
	close(l.changed)
	l.changed = make(chan struct{})
}

func (l *eventLog) runs(j *exec.Job) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.count[j.ID()]
}

// running waits until all tasks of a job run or it has ended.
func (l *eventLog) running(ctx context.Context, j *exec.Job) error { return l.await(ctx, j, 1) }

func (l *eventLog) await(ctx context.Context, j *exec.Job, n int) error {
	for {
		l.mu.Lock()
		count, changed := l.count[j.ID()], l.changed
		l.mu.Unlock()
		if count >= n {
			return nil
		}
		select {
		case <-changed:
		case <-j.Done():
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// testClock is a virtual clock that runs at once what is due now or within a millisecond, such as the delay of a restart.
type testClock struct{ *exec.VirtualClock }

func newTestClock() *testClock {
	return &testClock{exec.NewVirtualClock(time.Date(2024, 6, 3, 12, 0, 0, 0, time.UTC))}
}

func (c *testClock) AfterFunc(d time.Duration, f func()) (stop func()) {
	if d > time.Millisecond {
		return c.VirtualClock.AfterFunc(d, f)
	}
	go f()
	return func() {}
}

// rendered gives the rows of a batch as the client shows them.
func rendered(b *types.Batch, zone *time.Location) []Change {
	var out []Change
	for k := range b.Rows() {
		out = append(out, changeOf(b, b.Row(k), zone))
	}
	return out
}

// Differ says how the rows that a sink holds in the end differ from those that a changelog leaves, "" when they do not.
func (l *Logs) Differ(w Want) string {
	want := Logs{Changes: map[string][]Change{w.Sink: w.Changes}, Keys: l.Keys}
	wanted, unsound := want.Table(w.Sink)
	got, wrong := l.Table(w.Sink)
	if wrong != "" && unsound == "" {
		return wrong
	}
	return differ(wanted, got)
}
