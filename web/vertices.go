package web

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"runnel/exec"
)

func (s *Server) vertexDetail(_ *http.Request, v *exec.VertexDetails) (int, any, error) {
	now := time.Now()
	subtasks := []object{}
	for i := range v.Subtasks {
		subtasks = append(subtasks, subtaskObject(&v.Subtasks[i], now))
	}
	return http.StatusOK, object{"id": v.ID, "name": v.Name, "parallelism": v.Parallelism, "maxParallelism": 128, "now": ms(now),
		"subtasks": subtasks, "aggregated": object{"metrics": object{}, "status-duration": object{}}}, nil
}

func subtaskObject(t *exec.SubtaskDetails, now time.Time) object {
	spent := object{}
	for st, d := range t.Spent {
		spent[st.String()] = d.Milliseconds()
	}
	return object{
		"subtask": t.Subtask, "status": t.State.String(), "attempt": t.Attempt, "host": "localhost", "endpoint": "localhost",
		"start-time": ms(t.Start), "end-time": ms(t.End), "duration": duration(t.Start, t.End, now),
		"metrics": ioMetrics(&t.Metrics), "taskmanager-id": managerID, "status-duration": spent, "start_time": ms(t.Start),
	}
}

// level names a share of backpressured time.
func level(ratio float64) string {
	switch {
	case ratio <= 0.10:
		return "ok"
	case ratio <= 0.5:
		return "low"
	}
	return "high"
}

func (s *Server) backpressure(_ *http.Request, v *exec.VertexDetails) (int, any, error) {
	worst := 0.0
	subtasks := []object{}
	for _, t := range v.Subtasks {
		r := t.Metrics.BackpressuredMS / 1000
		worst = max(worst, r)
		subtasks = append(subtasks, object{"subtask": t.Subtask, "backpressureLevel": level(r), "backpressure-level": level(r),
			"ratio": r, "idleRatio": t.Metrics.IdleMS / 1000, "busyRatio": t.Metrics.BusyMS / 1000})
	}
	return http.StatusOK, object{"status": "ok", "backpressureLevel": level(worst), "backpressure-level": level(worst),
		"end-timestamp": ms(time.Now()), "subtasks": subtasks}, nil
}

func (s *Server) watermarks(_ *http.Request, v *exec.VertexDetails) (int, any, error) {
	list := []object{}
	for _, t := range v.Subtasks {
		if !t.Metrics.IsSource {
			list = append(list, object{"id": fmt.Sprintf("%d.currentInputWatermark", t.Subtask), "value": strconv.FormatInt(t.Metrics.InputWatermark, 10)})
		}
	}
	return http.StatusOK, list, nil
}

// subtask answers a call about one subtask.
func (s *Server) subtask(h func(*http.Request, *exec.SubtaskDetails) (int, any, error)) handler {
	return s.vertex(func(r *http.Request, v *exec.VertexDetails) (int, any, error) {
		n, err := strconv.Atoi(r.PathValue("subtask"))
		if err != nil {
			return 0, nil, badRequest("Bad request, could not parse parameters: Cannot resolve path parameter (subtaskindex) from value %q.", r.PathValue("subtask"))
		}
		if n < 0 || n >= len(v.Subtasks) {
			return 0, nil, notFound("Invalid subtask index %d: vertex %s has %d.", n, v.ID, len(v.Subtasks))
		}
		t := &v.Subtasks[n]
		if a := r.PathValue("attempt"); a != "" && a != strconv.Itoa(t.Attempt) {
			return 0, nil, notFound("Attempt %s of subtask %d is not there any more: the present one is %d.", a, n, t.Attempt)
		}
		return h(r, t)
	})
}

func (s *Server) subtaskDetail(_ *http.Request, t *exec.SubtaskDetails) (int, any, error) {
	return http.StatusOK, subtaskObject(t, time.Now()), nil
}

// subtaskTimes says when each subtask entered its states.
func (s *Server) subtaskTimes(_ *http.Request, v *exec.VertexDetails) (int, any, error) {
	now := time.Now()
	subtasks := []object{}
	for i := range v.Subtasks {
		t := &v.Subtasks[i]
		at := object{}
		for _, st := range taskStates {
			at[st.String()] = max(0, ms(t.Times[st]))
		}
		subtasks = append(subtasks, object{"subtask": t.Subtask, "host": "localhost", "endpoint": "localhost",
			"duration": duration(t.Start, t.End, now), "timestamps": at})
	}
	return http.StatusOK, object{"id": v.ID, "name": v.Name, "now": ms(now), "subtasks": subtasks}, nil
}

// vertexManagers sums a vertex up for the one task manager.
func (s *Server) vertexManagers(_ *http.Request, v *exec.VertexDetails) (int, any, error) {
	now := time.Now()
	o := vertexObject(v, 0, now)
	all := object{"host": "localhost", "endpoint": "localhost", "taskmanager-id": managerID, "status-counts": o["tasks"],
		"aggregated": object{"metrics": object{}, "status-duration": object{}}}
	for _, k := range [...]string{"status", "start-time", "end-time", "duration", "metrics"} {
		all[k] = o[k]
	}
	return http.StatusOK, object{"id": v.ID, "name": v.Name, "now": ms(now), "taskmanagers": []object{all}}, nil
}

func (s *Server) vertexAccumulators(_ *http.Request, v *exec.VertexDetails) (int, any, error) {
	return http.StatusOK, object{"id": v.ID, "user-accumulators": []object{}}, nil
}

func (s *Server) subtasksAccumulators(_ *http.Request, v *exec.VertexDetails) (int, any, error) {
	list := []object{}
	for i := range v.Subtasks {
		list = append(list, accumulators(&v.Subtasks[i]))
	}
	return http.StatusOK, object{"id": v.ID, "parallelism": v.Parallelism, "subtasks": list}, nil
}

func (s *Server) subtaskAccumulators(_ *http.Request, t *exec.SubtaskDetails) (int, any, error) {
	return http.StatusOK, accumulators(t), nil
}

// accumulators of a subtask: statements of SQL have none.
func accumulators(t *exec.SubtaskDetails) object {
	return object{"subtask": t.Subtask, "attempt": t.Attempt, "host": "localhost", "endpoint": "localhost", "user-accumulators": []object{}}
}

// flamegraph says what Flink says when it is off, as it is by default.
func (s *Server) flamegraph(*http.Request, *exec.VertexDetails) (int, any, error) {
	return http.StatusOK, object{"endTimestamp": -2}, nil
}
