package exec

import (
	"sync/atomic"
	"time"
)

// meter counts the real time a task spends blocked. Only the blocking path reads the clock, so a task that never blocks
// pays nothing. One goroutine writes, anybody reads.
type meter struct {
	ns    atomic.Int64
	since atomic.Int64 // start of the block now in progress in Unix ns, 0 for none
}

func (m *meter) begin() { m.since.Store(time.Now().UnixNano()) }

func (m *meter) end() {
	from := m.since.Swap(0)
	m.ns.Add(time.Now().UnixNano() - from)
}

// load gives the blocked time so far, a block in progress included.
func (m *meter) load() time.Duration {
	n := m.ns.Load()
	if from := m.since.Load(); from != 0 {
		n += max(0, time.Now().UnixNano()-from)
	}
	return time.Duration(n)
}
