//go:build unix

// Package cputime reads the clocks of processor time for benchmarks: on a busy machine wall time says little.
package cputime

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Process is the processor time that this process has used, user and system.
func Process() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		panic("getrusage: " + err.Error())
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Thread is the processor time of the calling thread: what a pause would be on a machine of its own. Process may be as
// old as a tick of the scheduler, Thread is not.
func Thread() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
		panic("clock_gettime: " + err.Error())
	}
	return time.Duration(ts.Nano())
}

// PerOp runs the loop of a benchmark and reports the processor time of one of its b.N rounds.
func PerOp(b *testing.B, loop func()) {
	b.Helper()
	start := Process()
	loop()
	b.ReportMetric(float64(Process()-start)/float64(b.N), "cpu-ns/op")
}
