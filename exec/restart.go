package exec

import (
	"errors"
	"math/rand/v2"
	"time"

	"runnel/connectors"
	"runnel/types"
)

// restarter decides after a failure whether and when a job runs again (semantics.md 10). It belongs to the job's
// goroutine.
type restarter struct {
	cfg      Restart
	strategy RestartStrategy
	attempts int         // restarts granted; for exponential-delay since the last quiet time
	failures []time.Time // failure-rate
	backoff  time.Duration
	last     time.Time // exponential-delay: when the last restart was due
}

func newRestarter(cfg Restart, checkpointing bool) *restarter {
	r := &restarter{cfg: cfg, strategy: cfg.Strategy}
	if r.strategy == RestartDefault {
		if r.strategy = RestartNone; checkpointing {
			r.strategy = RestartExponentialDelay
		}
	}
	return r
}

func orDefault[T int | float64 | time.Duration](v, d T) T {
	if v == 0 {
		return d
	}
	return v
}

// next gives the delay before the next run. again is false when there is none.
func (r *restarter) next(now time.Time) (delay time.Duration, again bool) {
	switch r.strategy {
	case RestartFixedDelay:
		if r.attempts++; r.attempts > orDefault(r.cfg.Attempts, 1) {
			return 0, false
		}
		return orDefault(r.cfg.Delay, time.Second), true
	case RestartFailureRate:
		from := now.Add(-orDefault(r.cfg.Interval, time.Minute))
		kept := r.failures[:0]
		for _, t := range r.failures {
			if t.After(from) {
				kept = append(kept, t)
			}
		}
		r.failures = append(kept, now)
		if len(r.failures) > orDefault(r.cfg.MaxFailures, 1) {
			return 0, false
		}
		return orDefault(r.cfg.Delay, time.Second), true
	case RestartExponentialDelay:
		return r.exponential(now)
	}
	return 0, false
}

func (r *restarter) exponential(now time.Time) (time.Duration, bool) {
	initial := orDefault(r.cfg.Initial, time.Second)
	if !r.last.IsZero() && now.Sub(r.last) >= orDefault(r.cfg.Reset, time.Hour) {
		r.attempts, r.backoff = 0, 0
	}
	if r.attempts++; r.cfg.Attempts > 0 && r.attempts > r.cfg.Attempts {
		return 0, false
	}
	if r.backoff == 0 {
		r.backoff = initial
	} else {
		r.backoff = time.Duration(float64(r.backoff) * orDefault(r.cfg.Multiplier, 1.5))
	}
	r.backoff = min(r.backoff, orDefault(r.cfg.Max, time.Minute))
	delay := r.backoff
	if jitter := orDefault(r.cfg.Jitter, 0.1); jitter > 0 {
		delay += time.Duration((2*rand.Float64() - 1) * jitter * float64(delay))
	}
	r.last = now.Add(delay)
	return delay, true
}

// fatal reports whether a failure ends the job whatever the strategy says, and why.
func (j *Job) fatal(err error) (why string, yes bool) {
	var data *types.DataError
	var stuck *stuckError
	var once *onceError
	var permanent *connectors.PermanentError
	switch {
	case errors.As(err, &data) && !j.cfg.RestartOnDataError:
		return "an error of the data would come again", true
	case errors.As(err, &stuck):
		return "tasks of the failed run are still there", true
	case errors.As(err, &permanent):
		return "another try would not mend it", true
	case errors.As(err, &once):
		return "the start was refused", true
	}
	return "", false
}

// onceError is a failure that no restart can mend, e.g. a snapshot that does not fit.
type onceError struct{ err error }

func (e *onceError) Error() string { return e.err.Error() }

// Unwrap gives the cause.
func (e *onceError) Unwrap() error { return e.err }
