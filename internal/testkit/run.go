package testkit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"runnel/catalog"
	"runnel/connectors"
	"runnel/exec"
	"runnel/session"
	"runnel/sql"
	"runnel/types"
)

// patience is how long a case may take before it counts as hanging.
const patience = 30 * time.Second

// Setting is how a case is run.
type Setting struct {
	Connectors  []connectors.Connector
	Formats     []connectors.Format
	Dir         string // data directory
	Parallelism int    // 0: as the case says
	Set         [][2]string
	// StopAfter stops each job with a savepoint when its sources have given so many rows, and starts it again from there
	// at parallelism Then. 0 runs straight through.
	StopAfter int
	Then      int
	PollRows  int
}

// Outcome is what a case gave.
type Outcome struct {
	Select  []Change
	Fields  []types.Field // of the last query
	Print   map[string][]Change
	Err     error // of the first statement that failed
	Restart bool  // the job was in fact stopped and started again
}

// runner runs one case.
type runner struct {
	s       Setting
	session *session.Session
	cluster *exec.Cluster
	config  *catalog.Config
	pause   *Pause
	events  *eventLog
	capture *Capture
	out     lockedBuffer
	outcome Outcome
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// Run executes the statements of a text. The last query's rows are in Select.
func Run(s Setting, text string) (o Outcome, err error) {
	ctx, cancel := context.WithTimeoutCause(context.Background(), patience, errors.New("the case hangs"))
	defer cancel()
	r := &runner{s: s, capture: NewCapture(), config: catalog.NewConfig(), events: newEventLog()}
	r.cluster = exec.New(exec.Options{Slots: 8, Dir: s.Dir, Clock: newTestClock(), Stdout: &r.out, Stderr: &r.out, PollRows: s.PollRows, Check: true})
	defer func() {
		if cerr := r.cluster.Close(ctx); err == nil && cerr != nil {
			err = cerr
		}
	}()
	r.cluster.Subscribe(r.events.add)
	list := []connectors.Connector{r.capture.Connector()}
	for _, c := range s.Connectors {
		if c.Source != nil {
			plan := c.Source
			// The pause of the moment: a job that starts again does not rest.
			c.Source = func(q connectors.ScanRequest) (*connectors.Source, error) {
				w := c
				w.Source = plan
				return r.pause.Wrap(w).Source(q)
			}
		}
		list = append(list, c)
	}
	r.session = session.New(session.Options{
		Catalog: catalog.New(), Config: r.config, Connectors: list, Formats: s.Formats,
		Cluster: func() (*exec.Cluster, error) { return r.cluster, nil },
	})
	if err := r.statements(ctx, text); err != nil {
		r.outcome.Err = err
	}
	r.outcome.Print = ParsePrinted(r.out.String())
	if ctx.Err() != nil {
		return r.outcome, context.Cause(ctx)
	}
	return r.outcome, nil
}

func (r *runner) statements(ctx context.Context, text string) error {
	for _, p := range sql.SplitAll(text) {
		if err := r.statement(ctx, p.Text); err != nil {
			return err
		}
	}
	return nil
}

func (r *runner) statement(ctx context.Context, text string) error {
	if r.s.StopAfter > 0 {
		if q, ok := parseQuery(text); ok {
			return r.captured(ctx, q)
		}
	}
	if r.s.Parallelism > 0 {
		r.config.Set("parallelism.default", fmt.Sprint(r.s.Parallelism))
	}
	for _, kv := range r.s.Set {
		if _, err := r.config.Set(kv[0], kv[1]); err != nil {
			return err
		}
	}
	after := -1
	if r.s.StopAfter > 0 && resumable(text) {
		after = r.s.StopAfter
	}
	r.pause = NewPause(after, !r.config.Batch() && r.config.Int("parallelism.default") > 1)
	res, err := r.session.Execute(ctx, text)
	if err != nil {
		return err
	}
	switch res.Kind {
	case session.Query:
		defer res.Rows.Close()
		r.outcome.Select, r.outcome.Fields = nil, res.Fields
		if err := r.begin(ctx, res.JobID); err != nil {
			return err
		}
		return r.collect(ctx, res)
	case session.Submitted:
		return r.job(ctx, res.JobID, text)
	}
	return nil
}

// resumable reports whether a statement can be said again to go on with its job.
func resumable(text string) bool {
	s, err := sql.Parse(text)
	if err != nil {
		return false
	}
	switch s.(type) {
	case *sql.Insert, *sql.StatementSet:
		return true
	}
	return false
}

// begin lets the sources of a job give rows, once those of its subtasks that have no splits have said so everywhere.
func (r *runner) begin(ctx context.Context, id string) error {
	j, ok := r.cluster.Job(id)
	if !ok || !r.pause.held() {
		return nil
	}
	if err := r.events.running(ctx, j); err != nil {
		return err
	}
	if !r.outcome.Restart {
		if err := r.pause.Dealt(ctx, j.Done()); err != nil {
			return err
		}
	}
	if _, err := j.Checkpoint(ctx); err != nil && !over(j, err) {
		return err
	}
	r.pause.Open()
	return nil
}

func (r *runner) collect(ctx context.Context, res *session.Result) error {
	for {
		b, err := res.Rows.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		for k := range b.Rows() {
			r.outcome.Select = append(r.outcome.Select, changeOf(b, b.Row(k), r.config.Zone()))
		}
	}
}

func parseQuery(text string) (string, bool) {
	s, err := sql.Parse(text)
	if err != nil {
		return "", false
	}
	_, ok := s.(*sql.Query)
	return text, ok
}

// captured runs a query into a capturing sink, so that it can be stopped and started again.
func (r *runner) captured(ctx context.Context, query string) error {
	fields, err := r.session.Fields(query)
	if err != nil {
		return err
	}
	ddl, insert := captureInto(fields, query)
	if err := r.statement(ctx, ddl); err != nil {
		return err
	}
	err = r.statement(ctx, insert)
	r.outcome.Select = r.capture.Changes()
	return err
}

// captureInto gives the DDL of a capturing table and an INSERT into it of a query with the given fields. What no table
// can hold is cast to text. A sink takes at most one time attribute: where there may be several, none is kept.
func captureInto(fields []types.Field, query string) (ddl, insert string) {
	times := 0
	for _, f := range fields {
		if f.Type.Kind == types.Timestamp || f.Type.Kind == types.TimestampLTZ {
			times++
		}
	}
	var cols, names, exprs []string
	plain := true
	for i, f := range fields {
		name := fmt.Sprintf("`c%d`", i)
		t := f.Type.Plain().Optional()
		expr := name
		switch {
		case t.IsInterval():
			t = types.String()
			expr, plain = "CAST("+name+" AS STRING)", false
		case times > 1 && (t.Kind == types.Timestamp || t.Kind == types.TimestampLTZ):
			expr, plain = fmt.Sprintf("CAST(%s AS %s)", name, t), false
		}
		cols, names, exprs = append(cols, name+" "+t.String()), append(names, name), append(exprs, expr)
	}
	ddl = fmt.Sprintf("CREATE TABLE %s (%s) WITH ('connector' = 'capture')", unnamed, strings.Join(cols, ", "))
	if plain {
		return ddl, "INSERT INTO " + unnamed + " " + query
	}
	return ddl, fmt.Sprintf("INSERT INTO %s SELECT %s FROM (%s) AS q (%s)", unnamed, strings.Join(exprs, ", "), query, strings.Join(names, ", "))
}

// job waits for a job's end, stopping and starting it again on the way if the setting says so.
func (r *runner) job(ctx context.Context, id, text string) error {
	j, ok := r.cluster.Job(id)
	if !ok {
		return fmt.Errorf("job %s is gone", id)
	}
	if err := r.begin(ctx, id); err != nil {
		return err
	}
	if r.s.StopAfter <= 0 || !resumable(text) {
		return j.Wait(ctx)
	}
	select {
	case <-j.Done():
		return j.Wait(ctx)
	case <-r.pause.Reached():
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	path, err := j.Stop(ctx, r.s.Dir, false)
	if err != nil && over(j, err) {
		return j.Wait(ctx)
	}
	if err != nil {
		return fmt.Errorf("stopping with a savepoint: %w", err)
	}
	r.outcome.Restart = true
	r.pause = NewPause(-1, r.s.Then > 1)
	for _, kv := range [...][2]string{
		{"execution.state-recovery.path", path}, {"parallelism.default", fmt.Sprint(max(1, r.s.Then))},
	} {
		if _, err := r.config.Set(kv[0], kv[1]); err != nil {
			return err
		}
	}
	res, err := r.session.Execute(ctx, text)
	if err != nil {
		return fmt.Errorf("starting again: %w", err)
	}
	if err := r.begin(ctx, res.JobID); err != nil {
		return err
	}
	if j, ok = r.cluster.Job(res.JobID); !ok {
		return fmt.Errorf("job %s is gone", res.JobID)
	}
	return j.Wait(ctx)
}
