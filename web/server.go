package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"runnel/catalog"
	"runnel/exec"
)

// maxBody is the greatest size of a request's body.
const maxBody = 1 << 20

// Options are what a Server is made of.
type Options struct {
	Cluster *exec.Cluster
	Config  *catalog.Config
	Log     *slog.Logger
	Version string
	Logs    []string // files that can be read as logs
}

// Server answers REST calls. Every path may have the prefix /v1.
type Server struct {
	opts  Options
	began time.Time
	http  http.Server
	ops   operations
	serve sync.WaitGroup
}

// New makes a server that does not listen yet.
func New(o Options) *Server {
	s := &Server{opts: o, began: time.Now()}
	s.ops.init()
	s.http = http.Server{Handler: s.routes(), ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(o.Log.Handler(), slog.LevelWarn)}
	return s
}

// Serve answers on l in the background until Close.
func (s *Server) Serve(l net.Listener) {
	s.serve.Go(func() {
		if err := s.http.Serve(l); err != nil && !errors.Is(err, http.ErrServerClosed) {
			s.opts.Log.Error("REST server ended", "cause", err)
		}
	})
}

// How long Close waits for clients, e.g. those that poll for the savepoint with which the last job was stopped.
const (
	settleTime = 2 * time.Second
	answerTime = 500 * time.Millisecond
)

// Close ends the server, running calls and running savepoint operations included. Operations that have just ended are
// served until their client knows how, at most two seconds.
func (s *Server) Close() error {
	s.ops.settle(settleTime)
	ctx, cancel := context.WithTimeout(context.Background(), answerTime)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = s.http.Close()
	}
	s.ops.close()
	s.serve.Wait()
	return err
}

// httpError is an answer with a status of its own.
type httpError struct {
	status int
	class  string
	msg    string
}

func (e *httpError) Error() string { return e.class + ": " + e.msg }

func notFound(format string, args ...any) error {
	return &httpError{http.StatusNotFound, "org.apache.flink.runtime.rest.NotFoundException", fmt.Sprintf(format, args...)}
}

func badRequest(format string, args ...any) error {
	return &httpError{http.StatusBadRequest, "org.apache.flink.runtime.rest.handler.RestHandlerException", fmt.Sprintf(format, args...)}
}

// handler answers one kind of call with a JSON value.
type handler func(r *http.Request) (status int, body any, err error)

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	for _, calls := range []map[string]handler{s.managerCalls(), s.jobCalls(), s.vertexCalls()} {
		for pattern, h := range calls {
			both(mux, pattern, s.wrap(h))
		}
	}
	for _, at := range [...]string{"/jobmanager", "/taskmanagers/" + managerID} {
		both(mux, "GET "+at+"/log", s.logFile)
		both(mux, "GET "+at+"/logs/{file}", s.logFile)
		both(mux, "GET "+at+"/stdout", s.stdout)
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if dashboard(w, r) {
			return
		}
		s.fail(w, notFound("Unable to load requested file %s.", r.URL.Path))
	})
	return mux
}

// both takes a pattern as it is, and with the version of the interface in front.
func both(mux *http.ServeMux, pattern string, h http.HandlerFunc) {
	method, path, _ := strings.Cut(pattern, " ")
	mux.HandleFunc(method+" "+path, h)
	mux.HandleFunc(method+" /v1"+path, h)
}

// managerCalls are about the process.
func (s *Server) managerCalls() map[string]handler {
	return map[string]handler{
		"GET /config":                             s.config,
		"GET /overview":                           s.overview,
		"GET /jobmanager/config":                  s.processConfig,
		"GET /jobmanager/environment":             s.environment,
		"GET /jobmanager/logs":                    s.logs,
		"GET /jobmanager/metrics":                 s.managerMetrics,
		"GET /jobmanager/thread-dump":             s.threadDump,
		"GET /taskmanagers":                       s.taskManagers,
		"GET /taskmanagers/metrics":               s.managersMetrics,
		"GET /taskmanagers/{manager}":             manager(s.taskManager),
		"GET /taskmanagers/{manager}/logs":        manager(s.logs),
		"GET /taskmanagers/{manager}/metrics":     manager(s.managerMetrics),
		"GET /taskmanagers/{manager}/thread-dump": manager(s.threadDump),
		"GET /jobs":                               s.jobs,
		"GET /jobs/overview":                      s.jobsOverview,
		"GET /jobs/metrics":                       s.jobsMetrics,
		"POST /savepoint-disposal":                s.dispose,
		"GET /savepoint-disposal/{trigger}":       s.pollDisposal,
	}
}

// jobCalls are about a job.
func (s *Server) jobCalls() map[string]handler {
	calls := map[string]handler{}
	for pattern, h := range map[string]jobHandler{
		"GET /jobs/{job}":                                                    s.jobDetail,
		"PATCH /jobs/{job}":                                                  s.cancel,
		"GET /jobs/{job}/yarn-cancel":                                        s.cancel,
		"GET /jobs/{job}/plan":                                               s.jobPlan,
		"GET /jobs/{job}/status":                                             s.jobStatus,
		"GET /jobs/{job}/config":                                             s.jobConfig,
		"GET /jobs/{job}/exceptions":                                         s.jobExceptions,
		"GET /jobs/{job}/accumulators":                                       s.jobAccumulators,
		"GET /jobs/{job}/execution-result":                                   s.executionResult,
		"GET /jobs/{job}/metrics":                                            s.jobMetrics,
		"GET /jobs/{job}/resource-requirements":                              s.resources,
		"PUT /jobs/{job}/resource-requirements":                              s.rescale,
		"PATCH /jobs/{job}/rescaling":                                        s.rescale,
		"GET /jobs/{job}/checkpoints":                                        s.checkpoints,
		"GET /jobs/{job}/checkpoints/config":                                 s.checkpointConfig,
		"GET /jobs/{job}/checkpoints/details/{checkpoint}":                   s.checkpoint(s.checkpointDetail),
		"GET /jobs/{job}/checkpoints/details/{checkpoint}/subtasks/{vertex}": s.checkpoint(s.checkpointSubtasks),
		"GET /jobs/{job}/checkpoints/{trigger}":                              s.pollCheckpoint,
		"GET /jobs/{job}/savepoints/{trigger}":                               s.pollSavepoint,
		"POST /jobs/{job}/checkpoints":                                       s.triggerCheckpoint,
		"POST /jobs/{job}/savepoints":                                        s.triggerSavepoint,
		"POST /jobs/{job}/stop":                                              s.triggerStop,
	} {
		calls[pattern] = s.job(h)
	}
	return calls
}

// vertexCalls are about a vertex of a job, or about one of its subtasks.
func (s *Server) vertexCalls() map[string]handler {
	calls := map[string]handler{}
	for pattern, h := range map[string]vertexHandler{
		"":                       s.vertexDetail,
		"/subtasktimes":          s.subtaskTimes,
		"/taskmanagers":          s.vertexManagers,
		"/backpressure":          s.backpressure,
		"/watermarks":            s.watermarks,
		"/flamegraph":            s.flamegraph,
		"/accumulators":          s.vertexAccumulators,
		"/subtasks/accumulators": s.subtasksAccumulators,
		"/metrics":               s.vertexMetrics,
		"/subtasks/metrics":      s.subtasksMetrics,
	} {
		calls["GET /jobs/{job}/vertices/{vertex}"+pattern] = s.vertex(h)
	}
	for pattern, h := range map[string]func(*http.Request, *exec.SubtaskDetails) (int, any, error){
		"":                                 s.subtaskDetail,
		"/metrics":                         s.subtaskMetrics,
		"/attempts/{attempt}":              s.subtaskDetail,
		"/attempts/{attempt}/accumulators": s.subtaskAccumulators,
	} {
		calls["GET /jobs/{job}/vertices/{vertex}/subtasks/{subtask}"+pattern] = s.subtask(h)
	}
	return calls
}

func (s *Server) wrap(h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		status, body, err := h(r)
		if err != nil {
			s.fail(w, err)
			return
		}
		s.answer(w, status, body)
	}
}

func (s *Server) answer(w http.ResponseWriter, status int, body any) {
	b, err := json.Marshal(body)
	if err != nil {
		s.opts.Log.Error("REST answer", "cause", err)
		status, b = http.StatusInternalServerError, []byte(`{"errors":["Internal server error."]}`)
	}
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	if origin := s.opts.Config.Get("web.access-control-allow-origin"); origin != "" {
		w.Header().Set("Access-Control-Allow-Origin", origin)
	}
	w.WriteHeader(status)
	w.Write(b)
}

// fail answers with the one-element list of errors that Flink's clients expect: the text ends where a stack would begin.
func (s *Server) fail(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	var h *httpError
	if errors.As(err, &h) {
		status = h.status
	}
	s.answer(w, status, map[string]any{"errors": []string{err.Error() + "\n\tat runnel"}})
}

// jobHandler answers a call about a job.
type jobHandler func(r *http.Request, j *exec.Job) (int, any, error)

func (s *Server) job(h jobHandler) handler {
	return func(r *http.Request) (int, any, error) {
		id := r.PathValue("job")
		if !isID(id) {
			return 0, nil, badRequest("Bad request, could not parse parameters: Cannot resolve path parameter (jobid) from value %q.", id)
		}
		j, ok := s.opts.Cluster.Job(id)
		if !ok {
			return 0, nil, notFound("Job %s not found", id)
		}
		return h(r, j)
	}
}

// vertexHandler answers a call about a vertex.
type vertexHandler func(r *http.Request, v *exec.VertexDetails) (int, any, error)

func (s *Server) vertex(h vertexHandler) handler {
	return s.job(func(r *http.Request, j *exec.Job) (int, any, error) {
		d := j.Details()
		for i := range d.Vertices {
			if d.Vertices[i].ID == r.PathValue("vertex") {
				return h(r, &d.Vertices[i])
			}
		}
		return 0, nil, notFound("JobVertex %s not found", r.PathValue("vertex"))
	})
}

func isID(s string) bool {
	if len(s) != 32 {
		return false
	}
	for _, c := range s {
		if !strings.ContainsRune("0123456789abcdef", c) {
			return false
		}
	}
	return true
}

// read decodes a request's body into v; an empty one leaves v as it is.
func read(r *http.Request, v any) error {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return badRequest("Reading of the request: %v", err)
	}
	if len(strings.TrimSpace(string(b))) == 0 {
		return nil
	}
	if err := json.Unmarshal(b, v); err != nil {
		return badRequest("Request did not match expected format: %v", err)
	}
	return nil
}

// operations are savepoints and stops that run in the background and are polled.
type operations struct {
	ctx    context.Context
	cancel context.CancelFunc
	wait   sync.WaitGroup
	mu     sync.Mutex
	byID   map[string]*operation
	order  []string
	runs   int
}

const (
	keptOperations    = 1000 // how many can be polled before the oldest are forgotten
	runningOperations = 100  // how many may run at once
)

type operation struct {
	job  string
	done bool
	path string
	id   int64
	err  error

	ended time.Time
	seen  chan struct{} // closed when its end was answered
}

func (o *operations) init() {
	o.ctx, o.cancel = context.WithCancel(context.Background())
	o.byID = map[string]*operation{}
}

func (o *operations) close() {
	o.cancel()
	o.wait.Wait()
}

// begin runs f in the background and gives the id to poll with, as the answer to the call.
func (o *operations) begin(job string, f func(context.Context, *operation) error) (int, any, error) {
	id := newID()
	op := &operation{job: job, seen: make(chan struct{})}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.runs >= runningOperations {
		return 0, nil, &httpError{http.StatusServiceUnavailable, "org.apache.flink.runtime.rest.handler.RestHandlerException",
			fmt.Sprintf("%d operations are running already: poll them and try again when one has ended.", o.runs)}
	}
	o.runs++
	o.byID[id] = op
	o.order = append(o.order, id)
	if len(o.order) > keptOperations {
		delete(o.byID, o.order[0])
		o.order = o.order[1:]
	}
	o.wait.Go(func() {
		var result operation
		err := f(o.ctx, &result)
		o.mu.Lock()
		defer o.mu.Unlock()
		o.runs--
		op.path, op.id, op.err = result.path, result.id, err
		op.done, op.ended = true, time.Now()
	})
	return http.StatusAccepted, object{"request-id": id}, nil
}

// find gives a copy of an operation.
func (o *operations) find(job, id string) (operation, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	op, ok := o.byID[id]
	if !ok || op.job != job {
		return operation{}, false
	}
	if op.done && !closed(op.seen) {
		close(op.seen)
	}
	return *op, true
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// settle waits until the ends of all operations have been answered, each for at most d since its end. Those that run get
// the same time.
func (o *operations) settle(d time.Duration) {
	o.mu.Lock()
	var open []operation
	for _, op := range o.byID {
		if !op.done {
			op.ended = time.Now()
		}
		if !closed(op.seen) && time.Since(op.ended) < d {
			open = append(open, *op)
		}
	}
	o.mu.Unlock()
	for _, op := range open {
		select {
		case <-op.seen:
		case <-time.After(d - time.Since(op.ended)):
		}
	}
}
