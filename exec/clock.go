package exec

import (
	"container/heap"
	"sync"
	"time"
)

// Clock is a job's processing time: timers, checkpoint intervals, restart delays and PROCTIME() read it. How long a
// task was busy, and how long a cancelled goroutine is waited for, is real time always.
type Clock interface {
	Now() time.Time
	// AfterFunc calls f once, d from now, on a goroutine of the clock; f must not block. stop ends the timer if it has not
	// fired.
	AfterFunc(d time.Duration, f func()) (stop func())
}

// SystemClock is the real time.
type SystemClock struct{}

// Now gives the time of day.
func (SystemClock) Now() time.Time { return time.Now() }

// AfterFunc starts a timer of package time.
func (SystemClock) AfterFunc(d time.Duration, f func()) (stop func()) {
	t := time.AfterFunc(d, f)
	return func() { t.Stop() }
}

// VirtualClock moves only when told to. It serves tests: Advance runs every timer that comes due, in order of time, on
// the caller's goroutine.
type VirtualClock struct {
	mu     sync.Mutex
	now    time.Time
	seq    int
	timers timerHeap
	set    sync.Cond
}

// NewVirtualClock starts at the given time.
func NewVirtualClock(now time.Time) *VirtualClock {
	c := &VirtualClock{now: now}
	c.set.L = &c.mu
	return c
}

// Now gives the time that Advance has reached.
func (c *VirtualClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// AfterFunc registers f for Advance.
func (c *VirtualClock) AfterFunc(d time.Duration, f func()) (stop func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seq++
	t := &virtualTimer{at: c.now.Add(d), seq: c.seq, f: f}
	heap.Push(&c.timers, t)
	c.set.Broadcast()
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if t.index >= 0 {
			heap.Remove(&c.timers, t.index)
		}
	}
}

// Advance moves the time by d and fires what comes due, timers set by fired ones included.
func (c *VirtualClock) Advance(d time.Duration) {
	c.mu.Lock()
	end := c.now.Add(d)
	for len(c.timers) > 0 && !c.timers[0].at.After(end) {
		t := heap.Pop(&c.timers).(*virtualTimer)
		if t.at.After(c.now) {
			c.now = t.at
		}
		c.mu.Unlock()
		t.f()
		c.mu.Lock()
	}
	c.now = end
	c.mu.Unlock()
}

// AwaitTimers returns once at least n timers are set: a test waits with it until the engine has come to rest before it
// advances the clock.
func (c *VirtualClock) AwaitTimers(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.timers) < n {
		c.set.Wait()
	}
}

type virtualTimer struct {
	at    time.Time
	seq   int
	index int
	f     func()
}

type timerHeap []*virtualTimer

func (h timerHeap) Len() int { return len(h) }
func (h timerHeap) Less(i, j int) bool {
	if !h[i].at.Equal(h[j].at) {
		return h[i].at.Before(h[j].at)
	}
	return h[i].seq < h[j].seq
}
func (h timerHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

// Push and Pop make a heap.Interface.
func (h *timerHeap) Push(x any) {
	t := x.(*virtualTimer)
	t.index = len(*h)
	*h = append(*h, t)
}

// Pop removes the last element.
func (h *timerHeap) Pop() any {
	old := *h
	t := old[len(old)-1]
	t.index = -1
	*h = old[:len(old)-1]
	return t
}
