package exec

import (
	"sync"
	"sync/atomic"
)

// mailbox is an unbounded queue with a wake-up, for messages that must never make their sender wait. What is sent is
// bounded by nature: barriers, splits, acknowledgements.
type mailbox[T any] struct {
	some atomic.Bool
	mu   sync.Mutex
	in   []T
	wake chan struct{} // holds one token when there is something to look at
}

func (m *mailbox[T]) init() { m.wake = make(chan struct{}, 1) }

// poke makes the owner look round although no message is there.
func (m *mailbox[T]) poke() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

func (m *mailbox[T]) post(msg T) {
	m.mu.Lock()
	m.in = append(m.in, msg)
	m.some.Store(true)
	m.mu.Unlock()
	m.poke()
}

// take gives all messages in order; an atomic load when there is none.
func (m *mailbox[T]) take() []T {
	if !m.some.Load() {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	in := m.in
	m.in = nil
	m.some.Store(false)
	return in
}
