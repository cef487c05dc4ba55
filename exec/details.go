package exec

import (
	"sync"
	"time"

	"runnel/plan"
	"runnel/types"
)

// JobDetails is all that is known about a job at a moment. It is a copy.
type JobDetails struct {
	ID, Name       string
	State          JobState
	Batch          bool
	SQL            string
	Start, End     time.Time // End is zero while the job lives
	Now            time.Time // of the job's clock
	Times          map[JobState]time.Time
	Parallelism    int
	MaxParallelism int
	Restarts       int
	Slots          int    // needed
	Waiting        string // why the job has no slots, while it waits for them
	Err            error  // why it failed
	Failures       []Failure
	Config         JobConfig
	Vertices       []VertexDetails // inputs before consumers
}

// VertexDetails describes a vertex: a chain of operators between exchanges.
type VertexDetails struct {
	ID, Name    string
	Description string // the operators as EXPLAIN prints them, one line each
	Parallelism int
	State       TaskState
	Start, End  time.Time
	Inputs      []VertexInput
	Subtasks    []SubtaskDetails
}

// VertexInput is an edge of the job graph.
type VertexInput struct {
	Vertex string // id
	Ship   string // FORWARD, HASH, REBALANCE, BROADCAST, GLOBAL
}

// SubtaskDetails describes one subtask of a vertex.
type SubtaskDetails struct {
	Subtask    int
	Attempt    int // from 0
	State      TaskState
	Start, End time.Time
	Times      map[TaskState]time.Time
	Spent      map[TaskState]time.Duration
	Metrics    SubtaskMetrics
}

// SubtaskMetrics are the numbers of a subtask. Vertices that run fused in one goroutine share the three times.
type SubtaskMetrics struct {
	RecordsIn, RecordsOut           int64 // over the exchanges of the vertex
	RecordsInRate, RecordsOutRate   float64
	Idle, Backpressured, Busy       time.Duration // accumulated, real time
	IdleMS, BackpressuredMS, BusyMS float64       // per second of late; together 1000
	InputWatermark                  int64         // lowest of the inputs; types.MinWatermark for none
	OutputWatermark                 int64
	IsSource                        bool
	Operators                       []OperatorMetrics
}

// OperatorMetrics are the numbers of one operator of a subtask.
type OperatorMetrics struct {
	Name                  string
	RecordsIn, RecordsOut int64
	InputWatermarks       []int64 // one per input; none for sources
	OutputWatermark       int64
	Own                   []Metric // by name: what operator and connector count
}

// Details describes the job.
func (j *Job) Details() JobDetails {
	now := j.cluster.clock.Now()
	j.mu.Lock()
	d := JobDetails{
		ID: j.id, Name: j.name, State: j.state, Batch: j.graph.plan.Batch, SQL: j.graph.plan.SQL, Start: j.started, Now: now,
		Times: map[JobState]time.Time{}, Parallelism: j.graph.parallelism, MaxParallelism: j.graph.maxPar,
		Restarts: max(0, j.attempts-1), Slots: j.graph.parallelism, Err: j.err, Failures: append([]Failure(nil), j.failures...), Config: j.cfg,
	}
	for s, t := range j.times {
		d.Times[s] = t
	}
	a := j.current
	j.mu.Unlock()
	if d.State.Terminal() {
		d.End = d.Times[d.State]
	}
	_, d.Waiting = j.Slots()
	for _, v := range j.graph.vertices {
		d.Vertices = append(d.Vertices, v.details(a, now))
	}
	return d
}

// Checkpoints gives the job's checkpoint statistics.
func (j *Job) Checkpoints() CheckpointHistory { return j.checkpoints.read() }

func (v *vertex) details(a *attempt, now time.Time) VertexDetails {
	d := VertexDetails{ID: v.id, Name: v.name, Parallelism: v.parallelism}
	for _, s := range v.ops {
		if text := s.node.Base().Desc; text != "" {
			if d.Description != "" {
				d.Description += "\n"
			}
			d.Description += text
		}
		for _, in := range s.inputs {
			for _, l := range in.links {
				if l.from.vertex != v {
					d.Inputs = append(d.Inputs, VertexInput{Vertex: l.from.vertex.id, Ship: l.ship()})
				}
			}
		}
	}
	counts := map[TaskState]int{}
	for i := range v.parallelism {
		st := SubtaskDetails{Subtask: i, State: TaskScheduled, Metrics: SubtaskMetrics{
			InputWatermark: types.MinWatermark, OutputWatermark: types.MinWatermark, IsSource: len(v.ops[0].inputs) == 0}}
		if a != nil && len(a.bySpec[v.task]) > i {
			st = a.bySpec[v.task][i].details(v, now)
			st.Attempt = a.number - 1
		}
		counts[st.State]++
		if !st.Start.IsZero() && (d.Start.IsZero() || st.Start.Before(d.Start)) {
			d.Start = st.Start
		}
		if st.End.After(d.End) {
			d.End = st.End
		}
		d.Subtasks = append(d.Subtasks, st)
	}
	d.State = vertexState(counts, v.parallelism)
	if !d.State.Terminal() {
		d.End = time.Time{}
	}
	return d
}

// ship names how rows travel, as the dashboard does.
func (l *linkSpec) ship() string {
	if l.forward() {
		return "FORWARD"
	}
	switch l.dist {
	case plan.HashKeys:
		return "HASH"
	case plan.Broadcast:
		return "BROADCAST"
	case plan.Singleton:
		return "GLOBAL"
	}
	return "REBALANCE"
}

func (t *task) details(v *vertex, now time.Time) SubtaskDetails {
	d := SubtaskDetails{Subtask: t.subtask}
	d.State, d.Times, d.Spent = t.state.history(now)
	d.Start = d.Times[TaskDeploying]
	if d.State.Terminal() {
		d.End = d.Times[d.State]
	}
	m := &d.Metrics
	m.Idle, m.Backpressured, m.Busy = t.usage()
	for i, s := range v.ops {
		n := t.nodes[s.index]
		o := OperatorMetrics{Name: metricsName(s), RecordsIn: n.recordsIn.Load(), RecordsOut: n.recordsOut.Load(),
			OutputWatermark: n.outputWM.Load(), Own: n.metrics.read()}
		if len(s.inputs) > 0 {
			for k := range n.inputWM {
				o.InputWatermarks = append(o.InputWatermarks, n.inputWM[k].Load())
			}
		}
		if len(s.outputs) == 0 {
			o.OutputWatermark = n.currentWatermark() // nothing passes it on
		}
		m.Operators = append(m.Operators, o)
		if i == 0 {
			m.IsSource = len(s.inputs) == 0
			m.InputWatermark = n.currentWatermark()
			if !m.IsSource {
				m.RecordsIn = o.RecordsIn
			}
		}
		for _, l := range s.outputs {
			if l.to.vertex != v {
				m.RecordsOut += o.RecordsOut
			}
		}
		m.OutputWatermark = o.OutputWatermark
	}
	var began time.Time
	if ns := t.began.Load(); ns != 0 {
		began = time.Unix(0, ns)
	}
	t.rates.update(v, m, began, time.Now())
	return d
}

// usage gives how the task's real time went so far: waiting for input, waiting for credit, and the rest.
func (t *task) usage() (idle, backpressured, busy time.Duration) {
	from := t.began.Load()
	if from == 0 {
		return 0, 0, 0
	}
	to := t.finished.Load()
	if to == 0 {
		to = time.Now().UnixNano()
	}
	idle, backpressured = t.idleTime.load(), t.waitTime.load()
	return idle, backpressured, max(0, time.Duration(to-from)-idle-backpressured)
}

// rateWindow is the span over which records per second are counted; busy, idle and backpressured look at the last
// rateRecent of it.
const (
	rateWindow = time.Minute
	rateRecent = time.Second
)

// rateMeter makes rates out of counters that are read now and then: it remembers a reading per second for a minute.
type rateMeter struct {
	mu       sync.Mutex
	readings map[*vertex][]reading
}

type reading struct {
	at             time.Time
	in, out        int64
	idle, bp, busy time.Duration
}

// update notes a reading and fills the rates of m. began is when the task started, zero before.
func (r *rateMeter) update(v *vertex, m *SubtaskMetrics, began, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.readings == nil {
		r.readings = map[*vertex][]reading{}
	}
	cur := reading{now, m.RecordsIn, m.RecordsOut, m.Idle, m.Backpressured, m.Busy}
	all := r.readings[v]
	if len(all) == 0 && !began.IsZero() {
		all = append(all, reading{at: began})
	}
	for len(all) > 1 && now.Sub(all[1].at) >= rateWindow {
		all = all[1:]
	}
	if len(all) > 0 {
		first := all[0]
		if s := now.Sub(first.at).Seconds(); s > 0 {
			m.RecordsInRate = float64(cur.in-first.in) / s
			m.RecordsOutRate = float64(cur.out-first.out) / s
		}
		recent := first
		for _, x := range all {
			if now.Sub(x.at) >= rateRecent {
				recent = x
			}
		}
		if d := (cur.idle - recent.idle) + (cur.bp - recent.bp) + (cur.busy - recent.busy); d > 0 {
			m.IdleMS = 1000 * float64(cur.idle-recent.idle) / float64(d)
			m.BackpressuredMS = 1000 * float64(cur.bp-recent.bp) / float64(d)
			m.BusyMS = 1000 * float64(cur.busy-recent.busy) / float64(d)
		}
	}
	if n := len(all); n > 0 && now.Sub(all[n-1].at) >= rateRecent {
		all = append(all, cur)
	}
	r.readings[v] = all
}
