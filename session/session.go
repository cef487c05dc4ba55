package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"runnel/catalog"
	"runnel/connectors"
	"runnel/exec"
	"runnel/plan"
	"runnel/sql"
)

// Options are what a session is made of.
type Options struct {
	Catalog    *catalog.Catalog
	Config     *catalog.Config
	Connectors []connectors.Connector
	Formats    []connectors.Format
	// Cluster gives the cluster that runs jobs; it is called when the first one is submitted.
	Cluster func() (*exec.Cluster, error)
	// CheckOnly plans every statement that would start a job and runs none.
	CheckOnly bool
	// Unfolded leaves constants to the run time; see plan.Planner.
	Unfolded bool
	// Resume starts each job from its newest retained checkpoint or stop-savepoint, if there is one.
	Resume bool
}

// Session executes the statements of one client, one after the other. It is safe for use by several goroutines.
type Session struct {
	opts Options

	mu  sync.Mutex
	set *statementSet // between BEGIN STATEMENT SET and END
}

type statementSet struct {
	inserts []*sql.Insert
	text    []string
}

// New makes a session.
func New(o Options) *Session { return &Session{opts: o} }

// Option gives the effective value of an option.
func (s *Session) Option(key string) string { return s.opts.Config.Get(key) }

// Execute runs one statement, given without or with its semicolon. Failures are *Error. ctx cancels the statement; a job
// that was submitted goes on, except a query's, which its Rows end.
func (s *Session) Execute(ctx context.Context, text string) (res *Result, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer contain(&err)
	stmt, err := sql.Parse(text)
	if err != nil {
		return nil, explain(err, text)
	}
	if res, err = s.dispatch(ctx, stmt, text); err != nil {
		return nil, explain(err, text)
	}
	return res, nil
}

// Configure runs a statement of an init script: one that sets options or changes the catalog, and starts no job.
func (s *Session) Configure(ctx context.Context, text string) (res *Result, err error) {
	defer contain(&err)
	stmt, err := sql.Parse(text)
	if err != nil {
		return nil, explain(err, text)
	}
	switch st := stmt.(type) {
	case *sql.Query, *sql.Execute, *sql.Insert, *sql.StatementSet, *sql.BeginStatementSet, *sql.EndStatementSet, *sql.Explain,
		*sql.Show, *sql.Describe, *sql.StopJob, *sql.Update, *sql.Delete, *sql.Analyze, *sql.Call:
		return nil, notConfiguring(stmt, text)
	case *sql.CreateTable:
		if st.As != nil {
			return nil, notConfiguring(stmt, text)
		}
	}
	return s.Execute(ctx, text)
}

func notConfiguring(stmt sql.Stmt, text string) error {
	return explain(catalog.Errorf(catalog.UnsupportedOp, "Unsupported statement for configuring session:%s", strings.TrimSpace(text)).
		Node(stmt).Cure("An init script sets options, creates, alters and drops objects, and chooses catalogs, databases and modules; put the rest into the -f script."), text)
}

// dispatch chooses by the family of the statement.
func (s *Session) dispatch(ctx context.Context, stmt sql.Stmt, text string) (*Result, error) {
	if s.set != nil {
		return s.inSet(ctx, stmt, text)
	}
	switch st := stmt.(type) {
	case *sql.Query:
		return s.query(ctx, st, text)
	case *sql.Execute:
		return s.query(ctx, st.Query, text)
	case *sql.Insert:
		return s.insert(ctx, []*sql.Insert{st}, text)
	case *sql.StatementSet:
		return s.insert(ctx, st.Stmts, text)
	case *sql.BeginStatementSet:
		s.set = &statementSet{}
		return &Result{Kind: Done}, nil
	case *sql.EndStatementSet:
		return nil, gatewayError("No Statement Set to submit. 'END' statement should be used after 'BEGIN STATEMENT SET'.")
	case *sql.Explain:
		text, err := s.planner().Explain(st)
		if err != nil {
			return nil, err
		}
		return textTable([][]string{{text}}, "result"), nil
	case *sql.Set:
		return s.setOption(st)
	case *sql.Reset:
		return s.resetOption(st)
	case *sql.Show:
		return s.show(st)
	case *sql.Describe:
		return s.describe(st)
	case *sql.StopJob:
		return s.stopJob(ctx, st)
	}
	return s.ddl(ctx, stmt, text)
}

// inSet takes statements between BEGIN STATEMENT SET and END.
func (s *Session) inSet(ctx context.Context, stmt sql.Stmt, text string) (*Result, error) {
	switch st := stmt.(type) {
	case *sql.Insert:
		s.set.inserts = append(s.set.inserts, st)
		s.set.text = append(s.set.text, strings.TrimRight(text, "; \n\t"))
		return &Result{Kind: Done}, nil
	case *sql.EndStatementSet:
		set := s.set
		s.set = nil
		if len(set.inserts) == 0 {
			return &Result{Kind: Done}, nil
		}
		return s.insert(ctx, set.inserts, strings.Join(set.text, ";\n"))
	}
	return nil, gatewayError("Only 'INSERT/CREATE TABLE AS' statement is allowed in Statement Set or use 'END' statement to submit Statement Set.")
}

// planner makes the planner of one statement.
func (s *Session) planner() *plan.Planner {
	return &plan.Planner{
		Catalog: s.opts.Catalog, Config: s.opts.Config, Connectors: s.opts.Connectors, Formats: s.opts.Formats,
		Env: os.LookupEnv, Runs: exec.Runs, Now: time.Now, Unfolded: s.opts.Unfolded,
	}
}

func (s *Session) setOption(st *sql.Set) (*Result, error) {
	if !st.HasKey {
		rows := [][]string{}
		for _, o := range s.opts.Config.List() {
			rows = append(rows, []string{o.Key, o.Masked()})
		}
		return textTable(rows, "key", "value"), nil
	}
	notes, err := s.opts.Config.Set(st.Key, st.Value)
	if err != nil {
		return nil, err
	}
	return &Result{Kind: Done, Notices: notes}, nil
}

func (s *Session) resetOption(st *sql.Reset) (*Result, error) {
	if st.HasKey {
		s.opts.Config.Reset(st.Key)
	} else {
		s.opts.Config.ResetAll()
	}
	return &Result{Kind: Done}, nil
}

const gatewayClass = "org.apache.flink.table.gateway.service.utils.SqlExecutionException"

func gatewayError(format string, args ...any) error {
	return &Error{Class: gatewayClass, Msg: fmt.Sprintf(format, args...)}
}

// explain gives an error the shape in which clients show it.
func explain(err error, text string) error {
	var done *Error
	if errors.As(err, &done) {
		return done
	}
	var syntax *sql.Error
	if errors.As(err, &syntax) {
		return cured(&Error{Class: syntax.Class, Msg: syntax.Msg, Detail: syntax.Detail(text), At: syntax.Span.From, Err: err})
	}
	var refused *catalog.Error
	if errors.As(err, &refused) {
		e := &Error{Class: refused.Class, Msg: refused.Msg, Err: err, At: refused.At.From, Detail: sql.Caret(text, refused.At)}
		if refused.Hint != "" {
			for _, line := range strings.Split(refused.Hint, "\n") {
				e.Detail = append(e.Detail, "  "+line)
			}
		}
		return cured(e)
	}
	e := &Error{Msg: err.Error(), Err: err}
	var cure interface{ Cure() string }
	if errors.As(err, &cure) && cure.Cure() != "" {
		e.Detail = append(e.Detail, "  "+cure.Cure())
	}
	return e
}
