package web

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"runnel/exec"
)

func (s *Server) vertexDetail(_ *http.Request, v *exec.VertexDetails) (int, any, error) {
	now := time.Now()
	subtasks := []object{}
	for _, t := range v.Subtasks {
		spent := object{}
		for st, d := range t.Spent {
			spent[st.String()] = d.Milliseconds()
		}
		subtasks = append(subtasks, object{
			"subtask": t.Subtask, "status": t.State.String(), "attempt": t.Attempt, "host": "localhost", "endpoint": "localhost",
			"start-time": ms(t.Start), "end-time": ms(t.End), "duration": duration(t.Start, t.End, now),
			"metrics": ioMetrics(&t.Metrics), "taskmanager-id": "local", "status-duration": spent, "start_time": ms(t.Start),
		})
	}
	return http.StatusOK, object{"id": v.ID, "name": v.Name, "parallelism": v.Parallelism, "maxParallelism": 128, "now": ms(now),
		"subtasks": subtasks, "aggregated": object{"metrics": object{}, "status-duration": object{}}}, nil
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

// vertexMetrics lists the names of metrics, or with get= their values.
func (s *Server) vertexMetrics(r *http.Request, v *exec.VertexDetails) (int, any, error) {
	values := map[string]string{}
	var names []string
	put := func(name string, val string) {
		if _, ok := values[name]; !ok {
			names = append(names, name)
		}
		values[name] = val
	}
	for _, t := range v.Subtasks {
		p, m := strconv.Itoa(t.Subtask)+".", t.Metrics
		num := func(name string, n int64) { put(p+name, strconv.FormatInt(n, 10)) }
		real := func(name string, x float64) { put(p+name, strconv.FormatFloat(x, 'f', -1, 64)) }
		num("numRecordsIn", m.RecordsIn)
		num("numRecordsOut", m.RecordsOut)
		real("numRecordsInPerSecond", m.RecordsInRate)
		real("numRecordsOutPerSecond", m.RecordsOutRate)
		real("busyTimeMsPerSecond", m.BusyMS)
		real("idleTimeMsPerSecond", m.IdleMS)
		real("backPressuredTimeMsPerSecond", m.BackpressuredMS)
		num("currentInputWatermark", m.InputWatermark)
		for _, o := range m.Operators {
			op := strings.ReplaceAll(o.Name, " ", "_") + "."
			num(op+"numRecordsIn", o.RecordsIn)
			num(op+"numRecordsOut", o.RecordsOut)
			num(op+"currentOutputWatermark", o.OutputWatermark)
			for _, own := range o.Own {
				num(op+own.Name, own.Value)
			}
		}
	}
	get := r.URL.Query().Get("get")
	list := []object{}
	if get == "" {
		for _, n := range names {
			list = append(list, object{"id": n})
		}
		return http.StatusOK, list, nil
	}
	for _, n := range strings.Split(get, ",") {
		if v, ok := values[n]; ok {
			list = append(list, object{"id": n, "value": v})
		}
	}
	return http.StatusOK, list, nil
}
