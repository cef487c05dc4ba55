package web

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"runnel/exec"
)

// flinkVersion is the version of Flink whose interface this is.
const flinkVersion = "1.20.5"

func (s *Server) config(*http.Request) (int, any, error) {
	name, offset := time.Now().Zone()
	return http.StatusOK, object{
		"refresh-interval": s.opts.Config.Int("web.refresh-interval"), "timezone-name": name, "timezone-offset": offset * 1000,
		"flink-version": flinkVersion, "flink-revision": "runnel " + s.opts.Version,
		"features": object{"web-submit": false, "web-cancel": s.opts.Config.Bool("web.cancel.enable"), "web-rescale": false, "web-history": false},
	}, nil
}

func (s *Server) overview(*http.Request) (int, any, error) {
	free, total := s.opts.Cluster.Slots()
	n := map[exec.JobState]int{}
	for _, j := range s.opts.Cluster.Jobs() {
		n[j.State()]++
	}
	running := 0
	for st, c := range n {
		if !st.Terminal() {
			running += c
		}
	}
	return http.StatusOK, object{
		"taskmanagers": 1, "slots-total": total, "slots-available": free, "jobs-running": running,
		"jobs-finished": n[exec.JobFinished], "jobs-cancelled": n[exec.JobCanceled], "jobs-failed": n[exec.JobFailed],
		"flink-version": flinkVersion, "flink-commit": "runnel",
	}, nil
}

func (s *Server) processConfig(*http.Request) (int, any, error) {
	list := []object{}
	for _, o := range s.opts.Config.List() {
		list = append(list, object{"key": o.Key, "value": o.Masked()})
	}
	return http.StatusOK, list, nil
}

func (s *Server) jobs(*http.Request) (int, any, error) {
	list := []object{}
	for _, j := range s.opts.Cluster.Jobs() {
		list = append(list, object{"id": j.ID(), "status": j.State().String()})
	}
	return http.StatusOK, object{"jobs": list}, nil
}

func (s *Server) jobsOverview(*http.Request) (int, any, error) {
	list := []object{}
	for _, j := range s.opts.Cluster.Jobs() {
		d := j.Details()
		tasks := object{"total": 0}
		for _, st := range taskStates {
			tasks[strings.ToLower(st.String())] = 0
		}
		for _, v := range d.Vertices {
			for _, t := range v.Subtasks {
				key := strings.ToLower(t.State.String())
				tasks[key] = tasks[key].(int) + 1
				tasks["total"] = tasks["total"].(int) + 1
			}
		}
		last := d.Start
		for _, at := range d.Times {
			if at.After(last) {
				last = at
			}
		}
		list = append(list, object{
			"jid": d.ID, "name": d.Name, "start-time": ms(d.Start), "end-time": ms(d.End), "duration": duration(d.Start, d.End, d.Now),
			"state": d.State.String(), "last-modification": ms(last), "tasks": tasks,
		})
	}
	return http.StatusOK, object{"jobs": list}, nil
}

var taskStates = [...]exec.TaskState{
	exec.TaskCreated, exec.TaskScheduled, exec.TaskDeploying, exec.TaskInitializing, exec.TaskRunning, exec.TaskFinished,
	exec.TaskCanceling, exec.TaskCanceled, exec.TaskFailed, exec.TaskReconciling,
}

var jobStates = [...]exec.JobState{
	exec.JobInitializing, exec.JobCreated, exec.JobRunning, exec.JobFailing, exec.JobFailed, exec.JobCancelling,
	exec.JobCanceled, exec.JobFinished, exec.JobRestarting, exec.JobSuspended, exec.JobReconciling,
}

// ms gives epoch milliseconds, -1 for a time that has not come.
func ms(t time.Time) int64 {
	if t.IsZero() {
		return -1
	}
	return t.UnixMilli()
}

func duration(start, end, now time.Time) int64 {
	switch {
	case start.IsZero():
		return -1
	case end.IsZero():
		return now.Sub(start).Milliseconds()
	}
	return end.Sub(start).Milliseconds()
}

func jobType(d *exec.JobDetails) string {
	if d.Batch {
		return "BATCH"
	}
	return "STREAMING"
}

func (s *Server) jobDetail(_ *http.Request, j *exec.Job) (int, any, error) {
	d := j.Details()
	timestamps, counts := object{}, object{}
	for _, st := range jobStates {
		timestamps[st.String()] = max(0, ms(d.Times[st]))
	}
	for _, st := range taskStates {
		counts[st.String()] = 0
	}
	vertices := []object{}
	for i := range d.Vertices {
		v := &d.Vertices[i]
		counts[v.State.String()] = counts[v.State.String()].(int) + 1
		vertices = append(vertices, vertexObject(v, d.MaxParallelism, d.Now))
	}
	o := object{
		"jid": d.ID, "name": d.Name, "isStoppable": false, "state": d.State.String(), "job-type": jobType(&d),
		"start-time": ms(d.Start), "end-time": ms(d.End), "duration": duration(d.Start, d.End, d.Now),
		"maxParallelism": d.MaxParallelism, "now": ms(d.Now), "timestamps": timestamps, "vertices": vertices,
		"status-counts": counts, "plan": planObject(&d),
		// For the page; Flink's own answer has no such fields.
		"sql": d.SQL, "restarts": d.Restarts, "waiting": d.Waiting,
	}
	err := d.Err
	if n := len(d.Failures); n > 0 {
		err = d.Failures[n-1].Err
	}
	if err != nil && d.State != exec.JobFinished && d.State != exec.JobCanceled {
		o["failure"], o["cure"] = err.Error(), exec.Cure(err)
	}
	return http.StatusOK, o, nil
}

func vertexObject(v *exec.VertexDetails, maxParallelism int, now time.Time) object {
	tasks := object{}
	for _, st := range taskStates {
		tasks[st.String()] = 0
	}
	var m exec.SubtaskMetrics
	for _, t := range v.Subtasks {
		tasks[t.State.String()] = tasks[t.State.String()].(int) + 1
		m.RecordsIn += t.Metrics.RecordsIn
		m.RecordsOut += t.Metrics.RecordsOut
		m.Idle += t.Metrics.Idle
		m.Backpressured += t.Metrics.Backpressured
		m.Busy += t.Metrics.Busy
	}
	return object{
		"id": v.ID, "slotSharingGroupId": "default", "name": v.Name, "maxParallelism": maxParallelism, "parallelism": v.Parallelism,
		"status": v.State.String(), "start-time": ms(v.Start), "end-time": ms(v.End), "duration": duration(v.Start, v.End, now),
		"tasks": tasks, "metrics": ioMetrics(&m), "load": load(v),
	}
}

func ioMetrics(m *exec.SubtaskMetrics) object {
	return object{
		"read-bytes": 0, "read-bytes-complete": true, "write-bytes": 0, "write-bytes-complete": true,
		"read-records": m.RecordsIn, "read-records-complete": true, "write-records": m.RecordsOut, "write-records-complete": true,
		"accumulated-backpressured-time": m.Backpressured.Milliseconds(), "accumulated-idle-time": m.Idle.Milliseconds(),
		"accumulated-busy-time": m.Busy.Milliseconds(),
	}
}

func (s *Server) jobPlan(_ *http.Request, j *exec.Job) (int, any, error) {
	d := j.Details()
	return http.StatusOK, object{"plan": planObject(&d)}, nil
}

// planObject lists the vertices, downstream first.
func planObject(d *exec.JobDetails) object {
	nodes := []object{}
	for i := len(d.Vertices) - 1; i >= 0; i-- {
		v := &d.Vertices[i]
		n := object{"id": v.ID, "parallelism": v.Parallelism, "operator": "", "operator_strategy": "",
			"description": strings.ReplaceAll(v.Description, "\n", "<br/>"), "optimizer_properties": object{}}
		var inputs []object
		for k, in := range v.Inputs {
			inputs = append(inputs, object{"num": k, "id": in.Vertex, "ship_strategy": in.Ship, "exchange": "pipelined_bounded"})
		}
		if inputs != nil {
			n["inputs"] = inputs
		}
		nodes = append(nodes, n)
	}
	return object{"jid": d.ID, "name": d.Name, "type": jobType(d), "nodes": nodes}
}

func (s *Server) jobStatus(_ *http.Request, j *exec.Job) (int, any, error) {
	return http.StatusOK, object{"status": j.State().String()}, nil
}

func (s *Server) jobConfig(_ *http.Request, j *exec.Job) (int, any, error) {
	d := j.Details()
	return http.StatusOK, object{"jid": d.ID, "name": d.Name, "execution-config": object{
		"execution-mode": "PIPELINED", "restart-strategy": "Cluster level default restart strategy",
		"job-parallelism": d.Parallelism, "object-reuse-mode": false, "user-config": d.Config.Properties,
	}}, nil
}

// jobAccumulators: statements of SQL have none.
func (s *Server) jobAccumulators(*http.Request, *exec.Job) (int, any, error) {
	return http.StatusOK, object{"job-accumulators": []object{}, "user-task-accumulators": []object{}, "serialized-user-task-accumulators": object{}}, nil
}

// executionResult says how a job has ended.
func (s *Server) executionResult(_ *http.Request, j *exec.Job) (int, any, error) {
	d := j.Details()
	if !d.State.Terminal() {
		return http.StatusOK, object{"status": object{"id": "IN_PROGRESS"}}, nil
	}
	status := map[exec.JobState]string{exec.JobFinished: "SUCCEEDED", exec.JobFailed: "FAILED", exec.JobCanceled: "CANCELED"}[d.State]
	if status == "" {
		status = "UNKNOWN"
	}
	result := object{"id": d.ID, "application-status": status, "accumulator-results": object{}, "net-runtime": d.End.Sub(d.Start).Milliseconds()}
	if d.State == exec.JobFailed && d.Err != nil {
		result["failure-cause"] = failureObject(d.Err)
	}
	return http.StatusOK, object{"status": object{"id": "COMPLETED"}, "job-execution-result": result}, nil
}

func failureObject(err error) object {
	return object{"class": "java.util.concurrent.CompletionException", "stack-trace": err.Error() + "\n\tat runnel", "serialized-throwable": ""}
}

// resources lists the parallelism of the vertices, which does not change while a job runs.
func (s *Server) resources(_ *http.Request, j *exec.Job) (int, any, error) {
	o := object{}
	for _, v := range j.Details().Vertices {
		o[v.ID] = object{"parallelism": object{"lowerBound": v.Parallelism, "upperBound": v.Parallelism}}
	}
	return http.StatusOK, o, nil
}

func (s *Server) rescale(*http.Request, *exec.Job) (int, any, error) {
	return 0, nil, &httpError{http.StatusServiceUnavailable, "org.apache.flink.runtime.rest.handler.RestHandlerException",
		"The parallelism of a running job cannot be changed. Stop it with a savepoint, set parallelism.default and execution.state-recovery.path, and start it again."}
}

func (s *Server) jobExceptions(r *http.Request, j *exec.Job) (int, any, error) {
	d := j.Details()
	entries, all := []object{}, []object{}
	var root, at any
	most := len(d.Failures)
	if text := r.URL.Query().Get("maxExceptions"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return 0, nil, badRequest("Bad request, could not parse parameters: maxExceptions is %q, want a number.", text)
		}
		most = min(most, n)
	}
	for i := len(d.Failures) - 1; i >= len(d.Failures)-most; i-- {
		f := d.Failures[i]
		text := f.Err.Error()
		if f.Stack != "" {
			text += "\n" + f.Stack
		}
		task := f.Task
		if task != "" {
			task = fmt.Sprintf("%s (%d)", f.Task, f.Subtask+1)
		}
		if root == nil {
			root, at = text, ms(f.At)
		}
		entries = append(entries, object{"exceptionName": fmt.Sprintf("%T", f.Err), "stacktrace": text, "timestamp": ms(f.At),
			"failureLabels": object{}, "taskName": task, "concurrentExceptions": []object{}})
		all = append(all, object{"exception": text, "task": task, "location": "(unassigned)", "endpoint": "(unassigned)", "timestamp": ms(f.At), "taskManagerId": managerID})
	}
	return http.StatusOK, object{"root-exception": root, "timestamp": at, "all-exceptions": all, "truncated": most < len(d.Failures),
		"exceptionHistory": object{"entries": entries, "truncated": most < len(d.Failures)}}, nil
}
