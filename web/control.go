package web

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net/http"

	"runnel/exec"
)

func newID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

type object = map[string]any

func (s *Server) cancel(r *http.Request, j *exec.Job) (int, any, error) {
	switch mode := r.URL.Query().Get("mode"); mode {
	case "", "cancel":
	case "stop":
		return 0, nil, &httpError{http.StatusPermanentRedirect, "org.apache.flink.runtime.rest.handler.RestHandlerException",
			"The termination mode \"stop\" has been removed. For an ungraceful shutdown, please use \"cancel\" instead. For a graceful shutdown, please use \"jobs/:jobId/stop\" instead."}
	default:
		return 0, nil, badRequest("Bad request, could not parse parameters: unknown mode %q", mode)
	}
	if st := j.State(); st.Terminal() && st != exec.JobCanceled {
		return 0, nil, &httpError{http.StatusConflict, "org.apache.flink.runtime.rest.handler.RestHandlerException",
			"Job cancellation failed because the job has already reached another terminal state (" + st.String() + ")."}
	}
	if err := j.Cancel(r.Context()); err != nil {
		return 0, nil, err
	}
	return http.StatusAccepted, object{}, nil
}

func (s *Server) triggerCheckpoint(r *http.Request, j *exec.Job) (int, any, error) {
	return s.ops.begin(j.ID(), func(ctx context.Context, op *operation) (err error) {
		op.id, err = j.Checkpoint(ctx)
		return err
	})
}

func (s *Server) triggerSavepoint(r *http.Request, j *exec.Job) (int, any, error) {
	var req struct {
		Target string `json:"target-directory"`
		Cancel bool   `json:"cancel-job"`
	}
	if err := read(r, &req); err != nil {
		return 0, nil, err
	}
	dir, err := s.savepointDir(req.Target)
	if err != nil {
		return 0, nil, err
	}
	return s.ops.begin(j.ID(), func(ctx context.Context, op *operation) (err error) {
		if req.Cancel {
			op.path, err = j.Stop(ctx, dir, false)
		} else {
			op.path, err = j.Savepoint(ctx, dir)
		}
		return err
	})
}

func (s *Server) triggerStop(r *http.Request, j *exec.Job) (int, any, error) {
	var req struct {
		Target string `json:"targetDirectory"`
		Drain  bool   `json:"drain"`
	}
	if err := read(r, &req); err != nil {
		return 0, nil, err
	}
	dir, err := s.savepointDir(req.Target)
	if err != nil {
		return 0, nil, err
	}
	return s.ops.begin(j.ID(), func(ctx context.Context, op *operation) (err error) {
		op.path, err = j.Stop(ctx, dir, req.Drain)
		return err
	})
}

// disposals is where operations of dispose stand in place of a job's.
const disposals = "savepoint-disposal"

// dispose removes a savepoint.
func (s *Server) dispose(r *http.Request) (int, any, error) {
	var req struct {
		Path string `json:"savepoint-path"`
	}
	if err := read(r, &req); err != nil {
		return 0, nil, err
	}
	if req.Path == "" {
		return 0, nil, badRequest("Field savepoint-path must not be omitted.")
	}
	status, body, err := s.ops.begin(disposals, func(context.Context, *operation) error { return exec.DisposeSavepoint(req.Path) })
	if err == nil {
		status = http.StatusOK // 202 for all others
	}
	return status, body, err
}

func (s *Server) pollDisposal(r *http.Request) (int, any, error) {
	op, ok := s.ops.find(disposals, r.PathValue("trigger"))
	if !ok {
		return 0, nil, notFound("There is no savepoint disposal with triggerId=%s.", r.PathValue("trigger"))
	}
	return http.StatusOK, pollAnswer(op, object{}), nil
}

func (s *Server) savepointDir(given string) (string, error) {
	if given != "" {
		return given, nil
	}
	const key = "execution.checkpointing.savepoint-dir"
	if dir := s.opts.Config.Get(key); dir != "" {
		return dir, nil
	}
	return "", badRequest("Config key [%s] is not set. Property [target-directory] must be provided.", key)
}

func (s *Server) pollSavepoint(r *http.Request, j *exec.Job) (int, any, error) {
	op, ok := s.ops.find(j.ID(), r.PathValue("trigger"))
	if !ok {
		return 0, nil, notFound("There is no savepoint operation with triggerId=%s for job %s.", r.PathValue("trigger"), j.ID())
	}
	return http.StatusOK, pollAnswer(op, object{"location": op.path}), nil
}

func (s *Server) pollCheckpoint(r *http.Request, j *exec.Job) (int, any, error) {
	op, ok := s.ops.find(j.ID(), r.PathValue("trigger"))
	if !ok {
		return 0, nil, notFound("There is no checkpoint operation with triggerId=%s for job %s.", r.PathValue("trigger"), j.ID())
	}
	return http.StatusOK, pollAnswer(op, object{"checkpointId": op.id}), nil
}

func pollAnswer(op operation, result object) object {
	switch {
	case !op.done:
		return object{"status": object{"id": "IN_PROGRESS"}, "operation": nil}
	case op.err != nil:
		return object{"status": object{"id": "COMPLETED"}, "operation": object{"failure-cause": failureObject(op.err)}}
	}
	return object{"status": object{"id": "COMPLETED"}, "operation": result}
}
