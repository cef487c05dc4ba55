package web

import (
	"fmt"
	"net/http"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"time"

	"runnel/exec"
)

// metric is a number with the name that Flink's clients ask for. Whole numbers are shown as such.
type metric struct {
	name  string
	value float64
	exact int64 // for whole numbers, which a float64 may not hold
	real  bool
}

func whole(name string, n int64) metric { return metric{name: name, value: float64(n), exact: n} }

func fraction(name string, x float64) metric { return metric{name: name, value: x, real: true} }

func (m metric) text() string {
	if m.real {
		return strconv.FormatFloat(m.value, 'f', -1, 64)
	}
	return strconv.FormatInt(m.exact, 10)
}

// metricList answers a call for metrics: their names, or with get= the values of some. Unknown names are left out.
func metricList(r *http.Request, all []metric) (int, any, error) {
	list := []object{}
	get := r.URL.Query().Get("get")
	if get == "" {
		for _, m := range all {
			list = append(list, object{"id": m.name})
		}
		return http.StatusOK, list, nil
	}
	byName := map[string]metric{}
	for _, m := range all {
		byName[m.name] = m
	}
	for _, n := range strings.Split(get, ",") {
		if m, ok := byName[n]; ok {
			list = append(list, object{"id": n, "value": m.text()})
		}
	}
	return http.StatusOK, list, nil
}

// aggregates are the ways to make one number of many.
var aggregates = []string{"min", "max", "avg", "sum", "skew"}

// aggregated answers a call for metrics of several things: names, or with get= one number of each kind in agg= over them.
func aggregated(r *http.Request, things [][]metric) (int, any, error) {
	q := r.URL.Query()
	list := []object{}
	if q.Get("get") == "" {
		seen := map[string]bool{}
		for _, all := range things {
			for _, m := range all {
				if !seen[m.name] {
					seen[m.name] = true
					list = append(list, object{"id": m.name})
				}
			}
		}
		return http.StatusOK, list, nil
	}
	kinds := aggregates
	if a := q.Get("agg"); a != "" {
		kinds = strings.Split(a, ",")
		for _, k := range kinds {
			if !slices.Contains(aggregates, k) {
				return 0, nil, badRequest("Bad request, could not parse parameters: %q is none of %s.", k, strings.Join(aggregates, ", "))
			}
		}
	}
	for _, name := range strings.Split(q.Get("get"), ",") {
		var values []float64
		for _, all := range things {
			for _, m := range all {
				if m.name == name {
					values = append(values, m.value)
				}
			}
		}
		if len(values) == 0 {
			continue
		}
		o := object{"id": name}
		for _, k := range kinds {
			o[k] = aggregate(k, values)
		}
		list = append(list, o)
	}
	return http.StatusOK, list, nil
}

func aggregate(kind string, values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	avg := sum / float64(len(values))
	switch kind {
	case "min":
		return slices.Min(values)
	case "max":
		return slices.Max(values)
	case "sum":
		return sum
	case "avg":
		return avg
	}
	// skew: how far the values lie from their average, in percent of it
	if avg == 0 {
		return 0
	}
	off := 0.0
	for _, v := range values {
		off += max(v-avg, avg-v)
	}
	return off / float64(len(values)) / avg * 100
}

// picked gives the numbers that a filter such as 0,2-4 names, of n; all without one.
func picked(text string, n int) (map[int]bool, error) {
	in := map[int]bool{}
	for i := range n {
		in[i] = text == ""
	}
	if text == "" {
		return in, nil
	}
	for _, part := range strings.Split(text, ",") {
		from, to, ok := strings.Cut(part, "-")
		if !ok {
			to = from
		}
		a, err1 := strconv.Atoi(from)
		b, err2 := strconv.Atoi(to)
		if err1 != nil || err2 != nil {
			return nil, badRequest("Bad request, could not parse parameters: %q is no number or range of subtasks.", part)
		}
		for i := max(a, 0); i <= min(b, n-1); i++ {
			in[i] = true
		}
	}
	return in, nil
}

// subtaskMetrics are those of a subtask and of its operators.
func subtaskMetrics(t *exec.SubtaskDetails) []metric {
	m := &t.Metrics
	late := int64(0)
	var ops []metric
	for _, o := range m.Operators {
		op := strings.ReplaceAll(o.Name, " ", "_") + "."
		ops = append(ops, whole(op+"numRecordsIn", o.RecordsIn), whole(op+"numRecordsOut", o.RecordsOut))
		for i, wm := range o.InputWatermarks {
			if i == 0 {
				ops = append(ops, whole(op+"currentInputWatermark", slices.Min(o.InputWatermarks)))
			}
			if len(o.InputWatermarks) > 1 {
				ops = append(ops, whole(fmt.Sprintf("%scurrentInput%dWatermark", op, i+1), wm))
			}
		}
		ops = append(ops, whole(op+"currentOutputWatermark", o.OutputWatermark))
		for _, own := range o.Own {
			ops = append(ops, whole(op+own.Name, own.Value))
			if strings.HasSuffix(strings.ToLower(own.Name), "numlaterecordsdropped") {
				late += own.Value
			}
		}
	}
	all := []metric{
		whole("numRecordsIn", m.RecordsIn), whole("numRecordsOut", m.RecordsOut),
		fraction("numRecordsInPerSecond", m.RecordsInRate), fraction("numRecordsOutPerSecond", m.RecordsOutRate),
		fraction("busyTimeMsPerSecond", m.BusyMS), fraction("idleTimeMsPerSecond", m.IdleMS),
		fraction("backPressuredTimeMsPerSecond", m.BackpressuredMS),
		whole("accumulateBusyTimeMs", m.Busy.Milliseconds()), whole("accumulateIdleTimeMs", m.Idle.Milliseconds()),
		whole("accumulateBackPressuredTimeMs", m.Backpressured.Milliseconds()),
		whole("currentInputWatermark", m.InputWatermark), whole("currentOutputWatermark", m.OutputWatermark),
		whole("numLateRecordsDropped", late),
	}
	return append(all, ops...)
}

// vertexMetrics are those of all subtasks, each with the number of its subtask in front.
func (s *Server) vertexMetrics(r *http.Request, v *exec.VertexDetails) (int, any, error) {
	var all []metric
	for i := range v.Subtasks {
		for _, m := range subtaskMetrics(&v.Subtasks[i]) {
			m.name = strconv.Itoa(v.Subtasks[i].Subtask) + "." + m.name
			all = append(all, m)
		}
	}
	return metricList(r, all)
}

func (s *Server) subtaskMetrics(r *http.Request, t *exec.SubtaskDetails) (int, any, error) {
	return metricList(r, subtaskMetrics(t))
}

func (s *Server) subtasksMetrics(r *http.Request, v *exec.VertexDetails) (int, any, error) {
	in, err := picked(r.URL.Query().Get("subtasks"), len(v.Subtasks))
	if err != nil {
		return 0, nil, err
	}
	var things [][]metric
	for i := range v.Subtasks {
		if in[i] {
			things = append(things, subtaskMetrics(&v.Subtasks[i]))
		}
	}
	return aggregated(r, things)
}

// jobMetrics are those of a job as a whole.
func jobMetrics(j *exec.Job) []metric {
	d, h := j.Details(), j.Checkpoints()
	up, down := int64(-1), int64(-1)
	if !d.State.Terminal() {
		up, down = 0, 0
		if since := d.Times[d.State]; d.State == exec.JobRunning {
			up = d.Now.Sub(since).Milliseconds()
		} else if d.State == exec.JobFailing || d.State == exec.JobRestarting {
			down = d.Now.Sub(since).Milliseconds()
		}
	}
	all := []metric{whole("uptime", up), whole("downtime", down), whole("numRestarts", int64(d.Restarts)), whole("fullRestarts", int64(d.Restarts)),
		whole("numberOfCompletedCheckpoints", int64(h.Completed)), whole("numberOfFailedCheckpoints", int64(h.Failed)),
		whole("numberOfInProgressCheckpoints", int64(h.InProgress)), whole("totalNumberOfCheckpoints", int64(h.Total))}
	last := exec.CheckpointStats{ID: -1, Size: -1, FullSize: -1}
	took := int64(-1)
	if h.Latest != nil {
		last, took = *h.Latest, h.Latest.Duration().Milliseconds()
	}
	all = append(all, whole("lastCompletedCheckpointId", last.ID), whole("lastCheckpointDuration", took), whole("lastCheckpointSize", last.Size), whole("lastCheckpointFullSize", last.FullSize))
	restored := int64(-1)
	if h.LatestRestored != nil {
		restored = ms(h.LatestRestored.At)
	}
	all = append(all, whole("lastCheckpointRestoreTimestamp", restored))
	for _, st := range [...]exec.JobState{exec.JobInitializing, exec.JobCreated, exec.JobRunning, exec.JobRestarting, exec.JobFailing, exec.JobCancelling} {
		n := int64(0)
		if d.State == st {
			n = d.Now.Sub(d.Times[st]).Milliseconds()
		}
		all = append(all, whole(strings.ToLower(st.String())+"Time", n))
	}
	return all
}

func (s *Server) jobMetrics(r *http.Request, j *exec.Job) (int, any, error) {
	return metricList(r, jobMetrics(j))
}

func (s *Server) jobsMetrics(r *http.Request) (int, any, error) {
	only := r.URL.Query().Get("jobs")
	var things [][]metric
	for _, j := range s.opts.Cluster.Jobs() {
		if only == "" || slices.Contains(strings.Split(only, ","), j.ID()) {
			things = append(things, jobMetrics(j))
		}
	}
	return aggregated(r, things)
}

// processMetrics are those of the process, which is job manager and task manager in one.
func (s *Server) processMetrics() []metric {
	free, total := s.opts.Cluster.Slots()
	running := int64(0)
	for _, j := range s.opts.Cluster.Jobs() {
		if !j.State().Terminal() {
			running++
		}
	}
	mem := memory()
	return []metric{
		whole("taskSlotsTotal", int64(total)), whole("taskSlotsAvailable", int64(free)), whole("numRegisteredTaskManagers", 1), whole("numRunningJobs", running),
		whole("Status.JVM.Memory.Heap.Used", mem.heap), whole("Status.JVM.Memory.Heap.Committed", mem.total), whole("Status.JVM.Memory.Heap.Max", -1),
		whole("Status.JVM.Threads.Count", mem.goroutines), whole("uptime", time.Since(s.began).Milliseconds()),
	}
}

func (s *Server) managerMetrics(r *http.Request) (int, any, error) {
	return metricList(r, s.processMetrics())
}

func (s *Server) managersMetrics(r *http.Request) (int, any, error) {
	return aggregated(r, [][]metric{s.processMetrics()})
}

// usage is what the process has of memory and goroutines.
type usage struct{ heap, total, goroutines, collections int64 }

func memory() usage {
	read := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/total:bytes"},
		{Name: "/sched/goroutines:goroutines"}, {Name: "/gc/cycles/total:gc-cycles"}}
	metrics.Read(read)
	n := func(i int) int64 {
		if read[i].Value.Kind() != metrics.KindUint64 {
			return 0
		}
		return int64(read[i].Value.Uint64())
	}
	return usage{n(0), n(1), n(2), n(3)}
}
