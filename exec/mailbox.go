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
	shut bool
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

// post adds a message. It reports false when the owner is gone.
func (m *mailbox[T]) post(msg T) bool {
	m.mu.Lock()
	if m.shut {
		m.mu.Unlock()
		return false
	}
	m.in = append(m.in, msg)
	m.some.Store(true)
	m.mu.Unlock()
	m.poke()
	return true
}

// close gives the last messages; no more are taken.
func (m *mailbox[T]) close() []T {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.shut = true
	in := m.in
	m.in = nil
	return in
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
