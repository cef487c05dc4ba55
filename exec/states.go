package exec

import (
	"sync"
	"time"
)

// JobState is the state of a job, with Flink's names (semantics.md 13).
type JobState uint8

const (
	JobInitializing JobState = iota
	JobCreated               // waits for slots
	JobRunning
	JobFailing
	JobFailed
	JobCancelling
	JobCanceled
	JobFinished
	JobRestarting
	JobSuspended
	JobReconciling
)

// JobStates lists all job states in Flink's order.
var JobStates = []JobState{JobInitializing, JobCreated, JobRunning, JobFailing, JobFailed, JobCancelling, JobCanceled,
	JobFinished, JobRestarting, JobSuspended, JobReconciling}

// String gives Flink's name.
func (s JobState) String() string {
	return [...]string{"INITIALIZING", "CREATED", "RUNNING", "FAILING", "FAILED", "CANCELLING", "CANCELED", "FINISHED",
		"RESTARTING", "SUSPENDED", "RECONCILING"}[s]
}

// Terminal reports whether the job has ended. A SUSPENDED one ended with its cluster, and can be resumed.
func (s JobState) Terminal() bool {
	return s == JobFailed || s == JobCanceled || s == JobFinished || s == JobSuspended
}

// TaskState is the state of a subtask, with Flink's names.
type TaskState uint8

const (
	TaskCreated TaskState = iota
	TaskScheduled
	TaskDeploying
	TaskInitializing // restoring state, opening operators
	TaskRunning
	TaskFinished
	TaskCanceling
	TaskCanceled
	TaskFailed
	TaskReconciling
)

// TaskStates lists all task states.
var TaskStates = []TaskState{TaskCreated, TaskScheduled, TaskDeploying, TaskInitializing, TaskRunning, TaskFinished,
	TaskCanceling, TaskCanceled, TaskFailed, TaskReconciling}

// String gives Flink's name.
func (s TaskState) String() string {
	return [...]string{"CREATED", "SCHEDULED", "DEPLOYING", "INITIALIZING", "RUNNING", "FINISHED", "CANCELING", "CANCELED",
		"FAILED", "RECONCILING"}[s]
}

// Terminal reports whether the subtask has ended.
func (s TaskState) Terminal() bool { return s == TaskFinished || s == TaskCanceled || s == TaskFailed }

// vertexState is the state of a vertex from those of its subtasks: the first that matches (semantics.md 13).
func vertexState(counts map[TaskState]int, total int) TaskState {
	for _, s := range [...]TaskState{TaskFailed, TaskCanceling, TaskCanceled, TaskInitializing, TaskRunning} {
		if counts[s] > 0 {
			return s
		}
	}
	switch counts[TaskFinished] {
	case 0:
		return TaskCreated
	case total:
		return TaskFinished
	}
	return TaskRunning
}

// taskState is the state of a subtask with the times at which it was entered.
type taskState struct {
	mu    sync.Mutex
	now   TaskState
	times [10]time.Time
	spent [10]time.Duration
}

// set enters a state, unless the subtask has ended.
func (s *taskState) set(to TaskState, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == to && !s.times[to].IsZero() || s.now.Terminal() {
		return
	}
	if from := s.times[s.now]; !from.IsZero() {
		s.spent[s.now] += at.Sub(from)
	}
	s.now = to
	s.times[to] = at
}

// history gives the times at which states were entered and the time spent in each, up to at.
func (s *taskState) history(at time.Time) (now TaskState, times map[TaskState]time.Time, spent map[TaskState]time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	times, spent = map[TaskState]time.Time{}, map[TaskState]time.Duration{}
	for i, t := range s.times {
		if t.IsZero() {
			continue
		}
		st := TaskState(i)
		times[st] = t
		spent[st] = s.spent[i]
		if st == s.now && !st.Terminal() {
			spent[st] += at.Sub(t)
		}
	}
	return s.now, times, spent
}
