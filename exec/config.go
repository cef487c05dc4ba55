package exec

import (
	"time"
)

// JobConfig is what a job keeps of the session's configuration, parsed. It is copied at submission and never changes.
// The comments name the keys; zero values are the defaults unless said otherwise.
type JobConfig struct {
	Name           string            // pipeline.name; "" takes the plan's
	Parallelism    int               // parallelism.default
	MaxParallelism int               // pipeline.max-parallelism; 0 derives it, or takes the restored job's
	NoChaining     bool              // pipeline.operator-chaining.enabled = false
	BufferTimeout  time.Duration     // execution.buffer-timeout.interval; 0 after every batch, negative only full batches
	Zone           *time.Location    // table.local-time-zone; nil is UTC
	LegacyCast     bool              // table.exec.legacy-cast-behaviour
	Properties     map[string]string // the effective configuration as text, for the dashboard

	Checkpoint Checkpointing
	Restart    Restart
	// RestartOnDataError lets the restart strategy decide about data errors too (restart-strategy.on-data-error).
	RestartOnDataError bool
	// Memory is taskmanager.memory.managed.size: the bytes of rows that the operators of a batch job hold together before
	// they put rows on disk; 0: 256 MB.
	Memory int64
	// TempDirs is io.tmp.dirs, where these files are; "": in the data directory.
	TempDirs string
	// SlotTimeout is slot.request.timeout when the user has set it: a job that waits longer for its slots fails. 0 waits
	// until slots come free.
	SlotTimeout time.Duration
	Restore     Restore
}

// Checkpointing is execution.checkpointing.*.
type Checkpointing struct {
	Interval     time.Duration // 0: off
	MinPause     time.Duration
	Timeout      time.Duration // 0: 10 minutes
	Tolerable    int           // consecutive failed checkpoints that do not fail the job
	Retained     int           // num-retained; 0 means 1
	Retention    Retention
	SavepointDir string // default target of savepoints; "" is none
	Dir          string // where chk-N/_metadata is published; "" is the cluster's
	InMemory     bool   // state.backend.type = hashmap: checkpoints do not outlive the process
}

// Retention says what becomes of a job's checkpoints when it ends.
type Retention uint8

const (
	// RetainNone deletes them however the job ends (NO_EXTERNALIZED_CHECKPOINTS).
	RetainNone Retention = iota
	// RetainOnFailure keeps them when the job fails (DELETE_ON_CANCELLATION).
	RetainOnFailure
	// RetainOnCancel keeps them when the job fails or is cancelled (RETAIN_ON_CANCELLATION).
	RetainOnCancel
)

// Restart is restart-strategy.*.
type Restart struct {
	Strategy RestartStrategy
	Attempts int           // fixed-delay.attempts, 0: 1; exponential-delay.attempts-before-reset-backoff, 0: no end
	Delay    time.Duration // fixed-delay and failure-rate; 0: 1 s

	MaxFailures int           // failure-rate; 0: 1
	Interval    time.Duration // failure-rate; 0: 1 minute

	Initial    time.Duration // exponential-delay.initial-backoff, 0: 1 s
	Max        time.Duration // .max-backoff, 0: 1 minute
	Multiplier float64       // .backoff-multiplier, 0: 1.5
	Jitter     float64       // .jitter-factor, 0: 0.1; negative: none
	Reset      time.Duration // .reset-backoff-threshold, 0: 1 hour
}

// RestartStrategy is restart-strategy.type.
type RestartStrategy uint8

const (
	// RestartDefault is exponential-delay with checkpointing, none without.
	RestartDefault RestartStrategy = iota
	RestartNone
	RestartFixedDelay
	RestartFailureRate
	RestartExponentialDelay
)

// Restore says what a job starts from.
type Restore struct {
	// Path is a savepoint, a published checkpoint, or their _metadata file (execution.state-recovery.path); "latest" is the
	// newest retained checkpoint or stop-savepoint of the same job name; "" starts empty.
	Path string
	// AllowUnclaimed lets state go that no operator of the job takes (ignore-unclaimed-state).
	AllowUnclaimed bool
}

func (c *Checkpointing) timeout() time.Duration {
	if c.Timeout <= 0 {
		return 10 * time.Minute
	}
	return c.Timeout
}

func (c *Checkpointing) retained() int { return max(1, c.Retained) }
