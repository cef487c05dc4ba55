//go:build unix

package nexmark

import (
	"syscall"
	"testing"
	"time"
)

// cpu runs a benchmark's loop and reports CPU time per operation, which a busy machine leaves alone.
func cpu(b *testing.B, loop func()) {
	b.Helper()
	start := used()
	loop()
	b.ReportMetric(float64(used()-start)/float64(b.N), "cpu-ns/op")
}

func used() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
