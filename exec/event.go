package exec

import (
	"errors"
	"time"

	"runnel/types"
)

// Event is a change in the life of a job that somebody may want to tell the user.
type Event struct {
	Job   string // id
	Name  string
	State JobState
	At    time.Time
	// For failures: the operator that failed ("" when it was none), the cause and what to do about it.
	Operator, Cause, Cure string
	Err                   error
	// Restart is the delay after which the job runs again, when State is JobRestarting.
	Restart time.Duration
	// Slots says what a job waits for, when State is JobCreated.
	Slots string
}

// failureEvent describes a failure.
func failureEvent(e Event, err error) Event {
	e.Err = err
	e.Cause = err.Error()
	var named *OperatorError
	var data *types.DataError
	switch {
	case errors.As(err, &data):
		e.Operator = data.Operator
	case errors.As(err, &named):
		e.Operator, e.Cause = named.Operator, named.Err.Error()
	}
	e.Cure = Cure(err)
	return e
}

// Cure says what to do about the failure of a job, "" where nothing is known.
func Cure(err error) string {
	var cure interface{ Cure() string }
	if errors.As(err, &cure) {
		return cure.Cure()
	}
	var data *types.DataError
	if errors.As(err, &data) {
		return "the row would fail again, so the job is not restarted: make the query tolerate it (TRY_CAST, a filter, the " +
			"format's ignore-parse-errors), or correct the data"
	}
	return ""
}

// Failure is an entry of a job's exception history.
type Failure struct {
	At      time.Time
	Task    string // "" when no task failed
	Subtask int
	Err     error
	Stack   string // of a panic
}

func newFailure(at time.Time, t *task, err error) Failure {
	f := Failure{At: at, Err: err}
	if t != nil {
		f.Task, f.Subtask = t.spec.name(), t.subtask
	}
	var p *PanicError
	if errors.As(err, &p) {
		f.Stack = string(p.Stack)
	}
	return f
}
