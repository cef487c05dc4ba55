package exec

import (
	"sync"
	"time"
)

// CheckpointStatus is the state of a checkpoint.
type CheckpointStatus uint8

const (
	CheckpointInProgress CheckpointStatus = iota
	CheckpointCompleted
	CheckpointFailed
)

// String gives Flink's name.
func (s CheckpointStatus) String() string {
	return [...]string{"IN_PROGRESS", "COMPLETED", "FAILED"}[s]
}

// CheckpointStats describes one checkpoint or savepoint. Durations of tasks are real time, the rest is the job's clock.
type CheckpointStats struct {
	ID        int64
	Status    CheckpointStatus
	Type      string // CHECKPOINT, SAVEPOINT, SYNC_SAVEPOINT
	Savepoint bool
	Trigger   time.Time
	LatestAck time.Time // zero before the first
	Failed    time.Time
	Failure   string
	Path      string // where it can be restored from
	Discarded bool   // no longer restorable: subsumed by newer ones
	Size      int64  // bytes written for this checkpoint
	FullSize  int64  // bytes of the state it stands for
	Vertices  []VertexCheckpoint

	tasks map[*task][]int // for acknowledge: where the parts of a task's vertices are
}

// VertexCheckpoint is a vertex's part of a checkpoint.
type VertexCheckpoint struct {
	Vertex   string // its id
	Subtasks []SubtaskCheckpoint
}

// SubtaskCheckpoint is a subtask's part of a checkpoint.
type SubtaskCheckpoint struct {
	Acked      time.Time // zero: not yet
	Sync       time.Duration
	Async      time.Duration
	Hold       time.Duration // the longest time that rows waited for a part of Async
	Alignment  time.Duration
	StartDelay time.Duration
	Size       int64
	FullSize   int64
}

// Acked counts the subtasks that have acknowledged, of all.
func (v *VertexCheckpoint) Acked() (acked, all int) {
	for i := range v.Subtasks {
		if !v.Subtasks[i].Acked.IsZero() {
			acked++
		}
	}
	return acked, len(v.Subtasks)
}

// Duration is the end-to-end duration: trigger to the last acknowledgement so far.
func (c *CheckpointStats) Duration() time.Duration {
	if c.LatestAck.IsZero() {
		return 0
	}
	return c.LatestAck.Sub(c.Trigger)
}

// CheckpointHistory is what a job remembers of its checkpoints.
type CheckpointHistory struct {
	Restored, Total, InProgress, Completed, Failed int

	Latest          *CheckpointStats // completed
	LatestSavepoint *CheckpointStats
	LatestFailed    *CheckpointStats
	LatestRestored  *RestoreStats
	Recent          []CheckpointStats // newest first
}

// RestoreStats describes a restore.
type RestoreStats struct {
	ID        int64
	At        time.Time
	Savepoint bool
	Path      string
}

// checkpointLog collects the statistics of a job's checkpoints. It is safe for use by several goroutines.
type checkpointLog struct {
	mu      sync.Mutex
	keep    int
	history CheckpointHistory
	recent  []*CheckpointStats // oldest first
}

const defaultCheckpointHistory = 10

func (l *checkpointLog) begin(a *attempt, b *barrier) *CheckpointStats {
	s := &CheckpointStats{ID: b.id, Type: b.kind.String(), Savepoint: b.kind.isSavepoint(), Trigger: b.trigger, tasks: map[*task][]int{}}
	for i, v := range a.graph.vertices {
		s.Vertices = append(s.Vertices, VertexCheckpoint{Vertex: v.id, Subtasks: make([]SubtaskCheckpoint, v.parallelism)})
		for _, t := range a.bySpec[v.task] {
			s.tasks[t] = append(s.tasks[t], i)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.history.Total++
	l.history.InProgress++
	l.recent = append(l.recent, s)
	keep := l.keep
	if keep <= 0 {
		keep = defaultCheckpointHistory
	}
	if n := len(l.recent) - keep; n > 0 {
		l.recent = append(l.recent[:0:0], l.recent[n:]...)
	}
	return s
}

func (l *checkpointLog) acknowledge(s *CheckpointStats, k *ack) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.LatestAck = k.at
	for n, i := range s.tasks[k.task] {
		p := &s.Vertices[i].Subtasks[k.task.subtask]
		p.Acked, p.Sync, p.Alignment, p.StartDelay = k.at, k.sync, k.alignment, k.startDelay
		p.Async, p.Hold = k.async, k.hold
		if n == 0 { // a fused task counts once
			p.Size, p.FullSize = k.size, k.fullSize
		}
	}
	s.Size += k.size
	s.FullSize += k.fullSize
}

func (l *checkpointLog) complete(s *CheckpointStats, path string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.Status, s.Path, s.tasks = CheckpointCompleted, path, nil
	l.history.InProgress--
	l.history.Completed++
	if s.Savepoint {
		l.history.LatestSavepoint = s
	} else {
		l.history.Latest = s
	}
}

func (l *checkpointLog) fail(s *CheckpointStats, why error, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.Status != CheckpointInProgress {
		return
	}
	s.Status, s.Failed, s.Failure, s.tasks = CheckpointFailed, at, why.Error(), nil
	l.history.InProgress--
	l.history.Failed++
	l.history.LatestFailed = s
}

func (l *checkpointLog) restored(r RestoreStats) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.history.Restored++
	l.history.LatestRestored = &r
}

// discarded notes that a checkpoint can no longer be restored.
func (l *checkpointLog) discarded(id int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.recent {
		if s.ID == id {
			s.Discarded = true
		}
	}
}

// read gives a copy.
func (l *checkpointLog) read() CheckpointHistory {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.history
	h.Latest, h.LatestSavepoint, h.LatestFailed = h.Latest.clone(), h.LatestSavepoint.clone(), h.LatestFailed.clone()
	for i := len(l.recent) - 1; i >= 0; i-- {
		h.Recent = append(h.Recent, *l.recent[i].clone())
	}
	return h
}

func (c *CheckpointStats) clone() *CheckpointStats {
	if c == nil {
		return nil
	}
	d := *c
	d.tasks = nil
	d.Vertices = make([]VertexCheckpoint, len(c.Vertices))
	for i, v := range c.Vertices {
		d.Vertices[i] = VertexCheckpoint{Vertex: v.Vertex, Subtasks: append([]SubtaskCheckpoint(nil), v.Subtasks...)}
	}
	return &d
}
