package session

import (
	"strconv"

	"runnel/catalog"
	"runnel/exec"
)

// jobConfig parses what a job keeps of the session's options.
func jobConfig(c *catalog.Config) exec.JobConfig {
	cfg := exec.JobConfig{
		Name:               c.Get("pipeline.name"),
		Parallelism:        c.Int("parallelism.default"),
		MaxParallelism:     max(0, c.Int("pipeline.max-parallelism")),
		NoChaining:         !c.Bool("pipeline.operator-chaining.enabled"),
		BufferTimeout:      c.Duration("execution.buffer-timeout.interval"),
		Zone:               c.Zone(),
		LegacyCast:         c.Get("table.exec.legacy-cast-behaviour") == "ENABLED",
		RestartOnDataError: c.Get("restart-strategy.on-data-error") == "restart",
		Memory:             c.Memory("taskmanager.memory.managed.size"),
		TempDirs:           c.Get("io.tmp.dirs"),
		Properties:         map[string]string{},
		Checkpoint: exec.Checkpointing{
			Interval:     c.Duration("execution.checkpointing.interval"),
			MinPause:     c.Duration("execution.checkpointing.min-pause"),
			Timeout:      c.Duration("execution.checkpointing.timeout"),
			Tolerable:    c.Int("execution.checkpointing.tolerable-failed-checkpoints"),
			Retained:     c.Int("execution.checkpointing.num-retained"),
			SavepointDir: c.Get("execution.checkpointing.savepoint-dir"),
			Dir:          c.Get("execution.checkpointing.dir"),
			InMemory:     c.Get("state.backend.type") == "hashmap",
		},
		Restart: restart(c),
		Restore: exec.Restore{
			Path:           c.Get("execution.state-recovery.path"),
			AllowUnclaimed: c.Bool("execution.state-recovery.ignore-unclaimed-state"),
		},
	}
	switch c.Get("execution.checkpointing.externalized-checkpoint-retention") {
	case "DELETE_ON_CANCELLATION":
		cfg.Checkpoint.Retention = exec.RetainOnFailure
	case "RETAIN_ON_CANCELLATION":
		cfg.Checkpoint.Retention = exec.RetainOnCancel
	}
	if _, set := c.Lookup("slot.request.timeout"); set {
		cfg.SlotTimeout = c.Duration("slot.request.timeout")
	}
	if !c.Bool("execution.buffer-timeout.enabled") {
		cfg.BufferTimeout = -1
	}
	if n := c.Int("table.exec.resource.default-parallelism"); n > 0 {
		cfg.Parallelism = n
	}
	for _, o := range c.List() {
		cfg.Properties[o.Key] = o.Masked()
	}
	return cfg
}

func restart(c *catalog.Config) exec.Restart {
	r := exec.Restart{
		Initial:    c.Duration("restart-strategy.exponential-delay.initial-backoff"),
		Max:        c.Duration("restart-strategy.exponential-delay.max-backoff"),
		Multiplier: c.Float("restart-strategy.exponential-delay.backoff-multiplier"),
		Jitter:     c.Float("restart-strategy.exponential-delay.jitter-factor"),
		Reset:      c.Duration("restart-strategy.exponential-delay.reset-backoff-threshold"),
	}
	if r.Jitter == 0 {
		r.Jitter = -1
	}
	switch c.Get("restart-strategy.type") {
	case "none", "off", "disable":
		r.Strategy = exec.RestartNone
	case "fixed-delay", "fixeddelay":
		r.Strategy = exec.RestartFixedDelay
		r.Attempts = c.Int("restart-strategy.fixed-delay.attempts")
		r.Delay = c.Duration("restart-strategy.fixed-delay.delay")
	case "failure-rate", "failurerate":
		r.Strategy = exec.RestartFailureRate
		r.MaxFailures = c.Int("restart-strategy.failure-rate.max-failures-per-interval")
		r.Interval = c.Duration("restart-strategy.failure-rate.failure-rate-interval")
		r.Delay = c.Duration("restart-strategy.failure-rate.delay")
	case "exponential-delay", "exponentialdelay":
		r.Strategy = exec.RestartExponentialDelay
		if n, err := strconv.Atoi(c.Get("restart-strategy.exponential-delay.attempts-before-reset-backoff")); err == nil {
			r.Attempts = n
		}
	}
	return r
}
