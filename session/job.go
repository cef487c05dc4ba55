package session

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"runnel/catalog"
	"runnel/exec"
	"runnel/plan"
	"runnel/sql"
	"runnel/types"
)

// query starts a SELECT; its rows come from the job.
func (s *Session) query(ctx context.Context, q *sql.Query, text string) (*Result, error) {
	g, err := s.planner().Query(q, text)
	if err != nil {
		return nil, err
	}
	if s.opts.CheckOnly {
		return s.checked(g)
	}
	job, notices, err := s.submit(ctx, g)
	if err != nil {
		return nil, err
	}
	res := job.Result()
	return &Result{
		Kind: Query, Fields: res.Fields(), Rows: &queryRows{job, res}, JobID: job.ID(), JobName: job.Name(),
		Batch: g.Batch, Notices: notices,
	}, nil
}

// insert starts the INSERTs as one job, and waits for it under table.dml-sync.
func (s *Session) insert(ctx context.Context, inserts []*sql.Insert, text string) (*Result, error) {
	g, err := s.planner().StatementSet(inserts, text)
	if err != nil {
		return nil, err
	}
	return s.start(ctx, g)
}

// start submits the job of a statement, and waits for it where table.dml-sync says so.
func (s *Session) start(ctx context.Context, g *plan.Graph) (*Result, error) {
	if s.opts.CheckOnly {
		return s.checked(g)
	}
	job, notices, err := s.submit(ctx, g)
	if err != nil {
		return nil, err
	}
	r := &Result{Kind: Submitted, JobID: job.ID(), JobName: job.Name(), Notices: notices}
	if !s.opts.Config.Bool("table.dml-sync") {
		return r, nil
	}
	if err := job.Wait(ctx); err != nil {
		if ctx.Err() != nil {
			job.Cancel(context.WithoutCancel(ctx))
		}
		return nil, err
	}
	r.Kind = Completed
	return r, nil
}

func (s *Session) checked(g *plan.Graph) (*Result, error) {
	return &Result{Kind: Checked, Notices: []string{fmt.Sprintf("checked: %s plans to %d operators", g.JobName, len(g.Nodes))}}, nil
}

// submit hands a graph to the cluster. A restore path is for one job only.
func (s *Session) submit(ctx context.Context, g *plan.Graph) (*exec.Job, []string, error) {
	c, err := s.opts.Cluster()
	if err != nil {
		return nil, nil, err
	}
	cfg := jobConfig(s.opts.Config)
	var notices []string
	const restorePath = "execution.state-recovery.path"
	if _, set := s.opts.Config.Lookup(restorePath); set && cfg.Restore.Path != "" && !isQuery(g) {
		s.opts.Config.Clear(restorePath)
		notices = append(notices, fmt.Sprintf("'%s' was for this job and is cleared now.", restorePath))
	} else if isQuery(g) {
		cfg.Restore = exec.Restore{}
	}
	if s.opts.Resume && cfg.Restore.Path == "" && !isQuery(g) {
		cfg.Restore.Path = "latest"
	}
	g.SQL = catalog.MaskSecrets(g.SQL)
	job, err := c.Submit(ctx, g, cfg)
	if err != nil {
		return nil, nil, err
	}
	notices = append(notices, restored(job)...)
	if _, waiting := job.Slots(); waiting != "" {
		notices = append(notices, fmt.Sprintf("job %s waits for slots: %s", job.Name(), waiting))
	}
	return job, notices, nil
}

// restored says what a job continues from and what became of its operators' state.
func restored(job *exec.Job) []string {
	r := job.Restore()
	var lines []string
	switch {
	case r.Path != "":
		what := "checkpoint"
		if r.Savepoint {
			what = "savepoint"
		}
		lines = append(lines, fmt.Sprintf("job %s continues from %s %d: %s", job.Name(), what, r.Checkpoint, r.Path))
	case r.Latest:
		lines = append(lines, fmt.Sprintf("job %s: there is no checkpoint or savepoint of it: it starts empty", job.Name()))
	}
	for _, o := range r.Operators {
		lines = append(lines, "  "+o.String())
	}
	return append(lines, r.Notes...)
}

func isQuery(g *plan.Graph) bool {
	for _, n := range g.Sinks {
		if _, ok := n.(*plan.Collect); ok {
			return true
		}
	}
	return false
}

// queryRows is the changelog of a running query.
type queryRows struct {
	job    *exec.Job
	result *exec.Result
}

func (r *queryRows) Next(ctx context.Context) (*types.Batch, error) {
	b, err := r.result.Next(ctx)
	if err != nil && ctx.Err() == nil {
		return nil, jobFailure(err)
	}
	return b, err
}

// Close cancels the job if it still runs.
func (r *queryRows) Close() error { return r.job.Cancel(context.Background()) }

// jobFailure shapes the error of a job, whose cause is what users look for.
func jobFailure(err error) error {
	var data *types.DataError
	if errors.As(err, &data) {
		e := &Error{Class: failureClass(data.Err.Error()), Msg: data.Err.Error(), Err: err}
		if data.Operator != "" {
			e.Detail = append(e.Detail, "  operator: "+data.Operator)
		}
		if data.Place != "" {
			e.Detail = append(e.Detail, "  at: "+data.Place)
		}
		if data.Row != "" {
			e.Detail = append(e.Detail, "  row: "+data.Row)
		}
		return e
	}
	return err
}

var jobFields = []types.Field{
	{Name: "job id", Type: types.String()}, {Name: "job name", Type: types.String()},
	{Name: "status", Type: types.String()}, {Name: "start time", Type: types.String()},
}

func jobRow(j *exec.Job) []types.Datum {
	start := j.Details().Start.UTC().Format("2006-01-02T15:04:05.000")
	return []types.Datum{types.StrDatum(j.ID()), types.StrDatum(j.Name()), types.StrDatum(j.State().String()), types.StrDatum(start)}
}

func (s *Session) showJobs() (*Result, error) {
	c, err := s.opts.Cluster()
	if err != nil {
		return nil, err
	}
	var rows [][]types.Datum
	var waits []string
	for _, j := range c.Jobs() {
		rows = append(rows, jobRow(j))
		if _, waiting := j.Slots(); waiting != "" {
			waits = append(waits, fmt.Sprintf("job %s waits for slots: %s", j.ID(), waiting))
		}
	}
	r := answer(jobFields, rows)
	r.Notices = waits
	return r, nil
}

// findJob finds a job by its id, or says which ones there are.
func (s *Session) findJob(id string, missing string) (*exec.Job, error) {
	c, err := s.opts.Cluster()
	if err != nil {
		return nil, err
	}
	if j, ok := c.Job(id); ok {
		return j, nil
	}
	e := &Error{Class: gatewayClass, Msg: fmt.Sprintf(missing, id)}
	for _, j := range c.Jobs() {
		e.Detail = append(e.Detail, fmt.Sprintf("  %s %s (%s)", j.ID(), j.Name(), j.State()))
	}
	if len(e.Detail) == 0 {
		e.Detail = []string{"  there are no jobs"}
	}
	return nil, e
}

func (s *Session) stopJob(ctx context.Context, st *sql.StopJob) (*Result, error) {
	id := strings.TrimSpace(st.Job.Text)
	if i := strings.IndexFunc(id, func(r rune) bool { return !strings.ContainsRune("0123456789abcdefABCDEF", r) }); i >= 0 {
		return nil, catalog.Errorf("java.lang.NumberFormatException", "For input string: \"%s\" under radix 16", id).Node(st.Job).Cure("SHOW JOBS lists the ids of jobs.")
	}
	j, err := s.findJob(id, "Could not find Flink job (%s)")
	if err != nil {
		var e *Error
		if errors.As(err, &e) {
			e.Class = "org.apache.flink.runtime.messages.FlinkJobNotFoundException"
		}
		return nil, err
	}
	if !st.Savepoint {
		if err := j.Cancel(ctx); err != nil {
			return nil, err
		}
		return &Result{Kind: Done}, nil
	}
	dir := s.opts.Config.Get("execution.checkpointing.savepoint-dir")
	path, err := j.Stop(ctx, dir, st.Drain)
	if err != nil {
		return nil, err
	}
	return textTable([][]string{{path}}, "savepoint path"), nil
}

// Fields plans a query and gives the schema of its rows.
func (s *Session) Fields(query string) ([]types.Field, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stmt, err := sql.Parse(query)
	if err != nil {
		return nil, explain(err, query)
	}
	q, ok := stmt.(*sql.Query)
	if !ok {
		return nil, &Error{Msg: "only a query has a schema of rows"}
	}
	g, err := s.planner().Query(q, query)
	if err != nil {
		return nil, explain(err, query)
	}
	return g.Sinks[0].Base().Fields, nil
}
