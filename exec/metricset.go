package exec

import (
	"sort"
	"sync"

	"runnel/exec/op"
)

// metricSet is the operator's own metrics, by name. Operators and connectors register from their goroutine, REST reads.
type metricSet struct {
	mu     sync.Mutex
	values map[string]func() int64
}

func (s *metricSet) counter(name string) *op.Counter {
	c := new(op.Counter)
	s.gauge(name, c.Load)
	return c
}

func (s *metricSet) gauge(name string, f func() int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.values == nil {
		s.values = map[string]func() int64{}
	}
	s.values[name] = f
}

// drop forgets a metric.
func (s *metricSet) drop(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.values, name)
}

// freeze keeps the present values and lets go of whoever gave them.
func (s *metricSet) freeze() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, f := range s.values {
		v := f()
		s.values[name] = func() int64 { return v }
	}
}

// read gives all values, sorted by name.
func (s *metricSet) read() []Metric {
	s.mu.Lock()
	out := make([]Metric, 0, len(s.values))
	for name, f := range s.values {
		out = append(out, Metric{Name: name, Value: f()})
	}
	s.mu.Unlock()
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

// Metric is a number with a name.
type Metric struct {
	Name  string
	Value int64
}
