package state

import "slices"

// SlicesSpec is the form of the records of slices.
type SlicesSpec struct {
	Values []Value
}

// Slices is the state of windows: one Map per open time slice, for all key groups together. A slice is filled, read
// when its windows fire, and dropped as a whole; within a key group its records come in the order of their first row.
type Slices struct {
	desc  Descriptor
	lay   *layout
	open  map[int64]*Map
	times []int64 // of the open slices, ascending; the first head entries are gone
	head  int
	free  []*Map
	last  *Map // the slice asked for last
	at    int64
	snap  slicesSnap
}

// Slices registers the state of a window operator, and restores it if the Keyed was made to restore.
func (k *Keyed) Slices(d Descriptor, spec SlicesSpec) (*Slices, error) {
	s := &Slices{desc: d, lay: newLayout(spec.Values, 0, k.clock, true), open: map[int64]*Map{}}
	s.desc.Kind, s.desc.Layout = "slices", layoutText(spec.Values)
	s.lay.each(func(l *layout) { l.shared = &unit{} })
	if err := k.register(s); err != nil {
		return nil, err
	}
	return s, nil
}

// Of gives the map of an open slice, nil if it is not open. A slice is named by its time, usually its end in ms.
func (s *Slices) Of(time int64) *Map {
	if s.last != nil && s.at == time {
		return s.last
	}
	m := s.open[time]
	if m != nil {
		s.last, s.at = m, time
	}
	return m
}

// Open gives the map of a slice and opens it if need be.
func (s *Slices) Open(time int64) *Map {
	if m := s.Of(time); m != nil {
		return m
	}
	var m *Map
	if n := len(s.free); n > 0 {
		m, s.free = s.free[n-1], s.free[:n-1]
	} else {
		m = newMap(s.lay)
		m.unit = s.lay.shared
	}
	m.freeze = s.lay.freeze
	s.open[time] = m
	i, _ := slices.BinarySearch(s.times[s.head:], time)
	s.times = slices.Insert(s.times, s.head+i, time)
	s.last, s.at = m, time
	return m
}

// Times gives the times of the open slices, ascending. The slice is valid until the next Open or Drop.
func (s *Slices) Times() []int64 { return s.times[s.head:] }

// Len is the number of records in all open slices.
func (s *Slices) Len() int { return s.lay.live }

// Elements is the number of records and elements of collections in all open slices.
func (s *Slices) Elements() int {
	n := 0
	s.lay.each(func(l *layout) { n += l.live })
	return n
}

const (
	maxFreeSlices    = 64
	maxFreeSliceSize = 16 << 20 // bytes that a slice may hold to be kept for reuse
)

// Drop closes a slice and gives up its records.
func (s *Slices) Drop(time int64) {
	m := s.open[time]
	if m == nil {
		return
	}
	needed := s.forget(time, m)
	delete(s.open, time)
	if s.last == m {
		s.last = nil
	}
	i, _ := slices.BinarySearch(s.times[s.head:], time)
	if i == 0 {
		s.head++
		if s.head > 1024 && s.head > len(s.times)/2 {
			s.times = append(s.times[:0], s.times[s.head:]...)
			s.head = 0
		}
	} else {
		s.times = slices.Delete(s.times, s.head+i, s.head+i+1)
	}
	if !needed && len(s.free) < maxFreeSlices && m.Memory() <= maxFreeSliceSize {
		m.Reset()
		s.free = append(s.free, m)
		return
	}
	m.uncount()
}

func (s *Slices) descriptor() *Descriptor { return &s.desc }
func (s *Slices) layouts(f func(*layout)) { s.lay.each(f) }
func (s *Slices) size() int64 {
	n := int64(64*len(s.open) + 8*cap(s.times))
	for _, m := range s.open {
		n += int64(m.Memory()) + int64(mapOverhead)
	}
	for _, m := range s.free {
		n += int64(m.Memory()) + int64(mapOverhead)
	}
	return n
}
