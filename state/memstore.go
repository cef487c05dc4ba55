package state

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
)

// NewMemoryStore makes a store that lives as long as the process: the state backend hashmap.
func NewMemoryStore() *Store {
	return &Store{files: &memPlaces{all: map[place]*memKV{}}, open: map[place]*openPlace{}}
}

type memPlaces struct {
	mu  sync.Mutex
	all map[place]*memKV
}

func (m *memPlaces) open(p place, create bool) (kv, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	kv := m.all[p]
	switch {
	case create && kv != nil:
		return nil, fmt.Errorf("attempt %d of job %s exists already", p.attempt, p.job)
	case create:
		kv = &memKV{values: map[string][]byte{}, metas: map[int64][]byte{}}
		m.all[p] = kv
	case kv == nil:
		return nil, ErrNoCheckpoint
	}
	return kv, nil
}

func (m *memPlaces) list() ([]place, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.SortedFunc(maps.Keys(m.all), comparePlaces), nil
}

func comparePlaces(a, b place) int {
	return cmp.Or(cmp.Compare(a.job, b.job), cmp.Compare(a.attempt, b.attempt))
}

func (m *memPlaces) remove(p place) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.all, p)
	return nil
}

func (m *memPlaces) dir() string { return "" }

// memKV keeps a place in maps.
type memKV struct {
	mu     sync.RWMutex
	values map[string][]byte
	metas  map[int64][]byte
}

func (m *memKV) put(_ int64, key, value []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.values[string(key)] = bytes.Clone(value)
	return nil
}

func (m *memKV) abort(checkpoint int64, keys [][]byte) error { return m.remove(checkpoint, keys) }

func (m *memKV) remove(_ int64, keys [][]byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, k := range keys {
		delete(m.values, string(k))
	}
	return nil
}

func (m *memKV) commit(checkpoint int64, meta []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.metas[checkpoint] = bytes.Clone(meta)
	return nil
}

func (m *memKV) forget(checkpoint, _ int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.metas, checkpoint)
	return nil
}

func (m *memKV) get(key []byte) ([]byte, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	v, ok := m.values[string(key)]
	if !ok {
		return nil, fmt.Errorf("blob is not in the store")
	}
	return v, nil
}

func (m *memKV) committed() (map[int64][]byte, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return maps.Clone(m.metas), nil
}

func (m *memKV) close() error { return nil }
