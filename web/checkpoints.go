package web

import (
	"net/http"
	"sort"
	"strconv"
	"strings"
	"time"

	"runnel/exec"
)

func (s *Server) checkpoints(_ *http.Request, j *exec.Job) (int, any, error) {
	h := j.Checkpoints()
	history := []object{}
	for i := range h.Recent {
		history = append(history, checkpointObject(&h.Recent[i]))
	}
	latest := object{"completed": orNil(h.Latest), "savepoint": orNil(h.LatestSavepoint), "failed": orNil(h.LatestFailed), "restored": nil}
	if r := h.LatestRestored; r != nil {
		latest["restored"] = object{"id": r.ID, "restore_timestamp": ms(r.At), "is_savepoint": r.Savepoint, "external_path": r.Path}
	}
	return http.StatusOK, object{
		"counts":  object{"restored": h.Restored, "total": h.Total, "in_progress": h.InProgress, "completed": h.Completed, "failed": h.Failed},
		"summary": summary(h.Recent), "latest": latest, "history": history,
	}, nil
}

func orNil(c *exec.CheckpointStats) any {
	if c == nil {
		return nil
	}
	return checkpointObject(c)
}

func checkpointObject(c *exec.CheckpointStats) object {
	acked, all := 0, 0
	for i := range c.Vertices {
		a, n := c.Vertices[i].Acked()
		acked, all = acked+a, all+n
	}
	o := object{
		"className": strings.ToLower(c.Status.String()), "id": c.ID, "status": c.Status.String(), "is_savepoint": c.Savepoint,
		"savepointFormat": nil, "trigger_timestamp": ms(c.Trigger), "latest_ack_timestamp": ms(c.LatestAck),
		"checkpointed_size": c.Size, "state_size": c.FullSize, "end_to_end_duration": c.Duration().Milliseconds(),
		"alignment_buffered": 0, "processed_data": 0, "persisted_data": 0, "num_subtasks": all, "num_acknowledged_subtasks": acked,
		"checkpoint_type": c.Type, "tasks": object{},
	}
	if c.Savepoint {
		o["savepointFormat"] = "CANONICAL"
	}
	switch c.Status {
	case exec.CheckpointCompleted:
		o["external_path"], o["discarded"] = c.Path, c.Discarded
	case exec.CheckpointFailed:
		o["failure_timestamp"], o["failure_message"] = ms(c.Failed), c.Failure
	}
	return o
}

// summary gives the spread of each number over the completed checkpoints.
func summary(recent []exec.CheckpointStats) object {
	values := map[string][]int64{}
	for i := range recent {
		c := &recent[i]
		if c.Status != exec.CheckpointCompleted {
			continue
		}
		values["checkpointed_size"] = append(values["checkpointed_size"], c.Size)
		values["state_size"] = append(values["state_size"], c.FullSize)
		values["end_to_end_duration"] = append(values["end_to_end_duration"], c.Duration().Milliseconds())
	}
	o := object{}
	for _, name := range [...]string{"checkpointed_size", "state_size", "end_to_end_duration", "alignment_buffered", "processed_data", "persisted_data"} {
		o[name] = spread(values[name])
	}
	return o
}

func spread(v []int64) object {
	if len(v) == 0 {
		return object{"min": 0, "max": 0, "avg": 0, "p50": "NaN", "p90": "NaN", "p95": "NaN", "p99": "NaN", "p999": "NaN"}
	}
	sort.Slice(v, func(i, j int) bool { return v[i] < v[j] })
	sum := int64(0)
	for _, x := range v {
		sum += x
	}
	at := func(q float64) int64 { return v[min(len(v)-1, int(q*float64(len(v))))] }
	return object{"min": v[0], "max": v[len(v)-1], "avg": sum / int64(len(v)),
		"p50": at(.5), "p90": at(.9), "p95": at(.95), "p99": at(.99), "p999": at(.999)}
}

func (s *Server) checkpointConfig(_ *http.Request, j *exec.Job) (int, any, error) {
	d := j.Details()
	c := d.Config.Checkpoint
	backend, storage := "BadgerStateBackend", "BadgerCheckpointStorage"
	if c.InMemory {
		backend, storage = "HashMapStateBackend", "JobManagerCheckpointStorage"
	}
	timeout := c.Timeout
	if timeout <= 0 {
		timeout = 10 * time.Minute
	}
	return http.StatusOK, object{
		"mode": "exactly_once", "interval": c.Interval.Milliseconds(), "timeout": timeout.Milliseconds(), "min_pause": c.MinPause.Milliseconds(),
		"max_concurrent":  1,
		"externalization": object{"enabled": c.Retention != exec.RetainNone, "delete_on_cancellation": c.Retention != exec.RetainOnCancel},
		"state_backend":   backend, "checkpoint_storage": storage, "unaligned_checkpoints": false,
		"tolerable_failed_checkpoints": c.Tolerable, "aligned_checkpoint_timeout": 0, "checkpoints_after_tasks_finish": true,
		"state_changelog_enabled": false, "changelog_periodic_materialization_interval": 600000, "changelog_storage": "memory",
	}, nil
}

// checkpoint finds the checkpoint that a call is about.
func (s *Server) checkpoint(h func(*http.Request, *exec.CheckpointStats) (int, any, error)) jobHandler {
	return func(r *http.Request, j *exec.Job) (int, any, error) {
		id, err := strconv.ParseInt(r.PathValue("checkpoint"), 10, 64)
		if err != nil {
			return 0, nil, badRequest("Bad request, could not parse parameters: Cannot resolve path parameter (checkpointid) from value %q.", r.PathValue("checkpoint"))
		}
		recent := j.Checkpoints().Recent
		for i := range recent {
			if recent[i].ID == id {
				return h(r, &recent[i])
			}
		}
		return 0, nil, notFound("Could not find checkpointing statistics for checkpoint %d.", id)
	}
}

func (s *Server) checkpointDetail(_ *http.Request, c *exec.CheckpointStats) (int, any, error) {
	o := checkpointObject(c)
	tasks := object{}
	for k := range c.Vertices {
		tasks[c.Vertices[k].Vertex] = vertexCheckpoint(c, &c.Vertices[k])
	}
	o["tasks"] = tasks
	return http.StatusOK, o, nil
}

// vertexCheckpoint is a vertex's part of a checkpoint.
func vertexCheckpoint(c *exec.CheckpointStats, v *exec.VertexCheckpoint) object {
	acked, all := v.Acked()
	var size, full int64
	var last time.Time
	for _, t := range v.Subtasks {
		size, full = size+t.Size, full+t.FullSize
		if t.Acked.After(last) {
			last = t.Acked
		}
	}
	return object{"id": c.ID, "status": c.Status.String(), "latest_ack_timestamp": ms(last), "checkpointed_size": size,
		"state_size": full, "end_to_end_duration": max(0, last.Sub(c.Trigger).Milliseconds()), "alignment_buffered": 0, "processed_data": 0,
		"persisted_data": 0, "num_subtasks": all, "num_acknowledged_subtasks": acked}
}

// checkpointSubtasks tells what the subtasks of a vertex did for a checkpoint.
func (s *Server) checkpointSubtasks(r *http.Request, c *exec.CheckpointStats) (int, any, error) {
	for k := range c.Vertices {
		v := &c.Vertices[k]
		if v.Vertex != r.PathValue("vertex") {
			continue
		}
		o := vertexCheckpoint(c, v)
		values := map[string][]int64{}
		list := []object{}
		for i, t := range v.Subtasks {
			if t.Acked.IsZero() {
				list = append(list, object{"className": "pending", "index": i, "status": "pending_or_failed"})
				continue
			}
			took := max(0, t.Acked.Sub(c.Trigger).Milliseconds())
			for name, n := range map[string]int64{"checkpointed_size": t.Size, "state_size": t.FullSize, "end_to_end_duration": took,
				"sync": t.Sync.Milliseconds(), "async": t.Async.Milliseconds(), "alignment": t.Alignment.Milliseconds(), "start_delay": t.StartDelay.Milliseconds()} {
				values[name] = append(values[name], n)
			}
			list = append(list, object{"className": "completed", "index": i, "status": "completed", "ack_timestamp": ms(t.Acked),
				"end_to_end_duration": took, "checkpointed_size": t.Size, "state_size": t.FullSize,
				"checkpoint":  object{"sync": t.Sync.Milliseconds(), "async": t.Async.Milliseconds()},
				"alignment":   object{"buffered": 0, "processed": 0, "persisted": 0, "duration": t.Alignment.Milliseconds()},
				"start_delay": t.StartDelay.Milliseconds(), "unaligned_checkpoint": false, "aborted": false})
		}
		none := spread(nil)
		o["summary"] = object{"checkpointed_size": spread(values["checkpointed_size"]), "state_size": spread(values["state_size"]),
			"end_to_end_duration": spread(values["end_to_end_duration"]),
			"checkpoint_duration": object{"sync": spread(values["sync"]), "async": spread(values["async"])},
			"alignment":           object{"buffered": none, "processed": none, "persisted": none, "duration": spread(values["alignment"])},
			"start_delay":         spread(values["start_delay"])}
		o["subtasks"] = list
		return http.StatusOK, o, nil
	}
	return 0, nil, notFound("JobVertex %s not found", r.PathValue("vertex"))
}
