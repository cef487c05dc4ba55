package op

import "sync/atomic"

// Counter is a count that the operator's goroutine writes and anybody reads.
type Counter struct{ n atomic.Int64 }

// Add adds n.
func (c *Counter) Add(n int64) { c.n.Add(n) }

// Load reads the count.
func (c *Counter) Load() int64 { return c.n.Load() }
