package state

import (
	"slices"
	"unsafe"
)

// In checkpoints every record of a slice has the slice's time in front. A slice that was dropped is one record: its
// time, and a header word with nothing but the flag.
const dropFlag = 0x40

const mapOverhead = unsafe.Sizeof(Map{})

// slicesSnap is what Slices keeps for checkpoints. The blobs of a checkpoint hold first the drops, then what was
// gathered from slices that were dropped while the drain ran, then the open slices.
type slicesSnap struct {
	draining bool
	records  int64
	drops    []int64 // slices dropped in the open epoch of which something was given to a checkpoint
	closed   []int64 // of the closed epoch, and of checkpoints that did not complete
	rolled   uint32
	dropped  int          // how many of closed were drained, in this part
	gathered [][]gathered // by part
	next     []int        // how many of gathered were drained, by part
	walk     []int64      // times to drain
	at       int
	part     int
}

type gathered struct {
	time int64
	rec  []uint64
}

// arrange is roll for what belongs to no single slice.
func (s *Slices) arrange() {
	n := &s.snap
	if n.rolled == s.lay.freeze {
		return
	}
	n.rolled = s.lay.freeze
	s.lay.each(func(l *layout) { l.shared.resolve(l) })
	if s.lay.shared.stored {
		n.closed = nil
	}
	n.closed = append(n.closed, n.drops...)
	n.drops, n.dropped = nil, 0
	n.gathered = make([][]gathered, 1+len(s.lay.kids))
	n.next = make([]int, 1+len(s.lay.kids))
	n.walk = slices.Clone(s.Times())
	n.at, n.part = 0, 0
}

func (s *Slices) frozen(Freeze) {
	s.snap.draining = true
	s.snap.records = int64(s.Len())
}

// unitOf gives the unit of a part: of the records, or of a collection's elements.
func (s *Slices) unitOf(part int) *unit {
	if part == 0 {
		return s.lay.shared
	}
	return s.lay.kids[part-1].shared
}

// existing gives the map of a slice's records (0) or of a collection's elements, nil if there is none yet.
func (m *Map) existing(part int) *Map {
	if part == 0 {
		return m
	}
	if m.kids == nil {
		return nil
	}
	return m.kids[part-1]
}

// forget notes that a slice goes: what a running drain still needs of it is gathered.
func (s *Slices) forget(time int64, m *Map) {
	if s.lay.freeze == 0 {
		return // no checkpoint so far
	}
	s.arrange()
	n := &s.snap
	if n.draining {
		for part := range n.gathered {
			p := m.existing(part)
			if p == nil {
				continue
			}
			if p.freeze != p.lay.freeze {
				p.roll()
			}
			if p.snap == nil || !p.snap.draining {
				continue
			}
			m.given = true
			for {
				rec, more := p.nextDrained(nil)
				if !more {
					break
				}
				n.gathered[part] = append(n.gathered[part], gathered{time, rec})
			}
		}
	}
	if m.given {
		n.drops = append(n.drops, time)
	}
}

func (s *Slices) drain(w *blobWriter, budget int) (left int, done bool, err error) {
	s.arrange()
	n := &s.snap
	name := nameSum(s.desc.Name)
	for ; n.part < len(n.gathered); n.part, n.at, n.dropped = n.part+1, 0, 0 {
		if !w.begun() {
			w.begin(name, uint8(n.part), 0, s.unitOf(n.part).add)
		}
		if budget, err = s.drainDropped(w, budget); err != nil || budget <= 0 {
			return 0, false, err
		}
		if budget, err = s.drainOpen(w, budget); err != nil || budget <= 0 {
			return 0, false, err
		}
		if err := w.end(); err != nil {
			return 0, false, err
		}
	}
	n.draining, n.gathered, n.walk = false, nil, nil
	return budget, true, nil
}

// drainDropped drains the drops and the records of slices dropped during this drain.
func (s *Slices) drainDropped(w *blobWriter, budget int) (int, error) {
	n := &s.snap
	if !s.unitOf(n.part).asBase {
		for ; budget > 0 && n.dropped < len(n.closed); budget-- {
			if err := w.recordAll([]uint64{uint64(n.closed[n.dropped]), dropFlag}); err != nil {
				return 0, err
			}
			n.dropped++
		}
	}
	list := n.gathered[n.part]
	for ; budget > 0 && n.next[n.part] < len(list); budget-- {
		g := list[n.next[n.part]]
		if err := w.sliceRecord(g.time, g.rec); err != nil {
			return 0, err
		}
		n.next[n.part]++
	}
	return budget, nil
}

// drainOpen drains the slices that are open.
func (s *Slices) drainOpen(w *blobWriter, budget int) (int, error) {
	n := &s.snap
	for n.at < len(n.walk) && budget > 0 {
		time := n.walk[n.at]
		budget--
		var p *Map
		m := s.open[time]
		if m != nil {
			p = m.existing(n.part)
		}
		if p == nil {
			n.at++
			continue
		}
		if p.freeze != p.lay.freeze {
			p.roll()
		}
		if p.snap == nil || !p.snap.draining {
			n.at++
			continue
		}
		m.given = true
		for more := true; budget > 0; budget-- {
			w.words, more = p.nextDrained(w.words[:0])
			if !more {
				p.drained()
				n.at++
				break
			}
			if err := w.sliceRecord(time, w.words); err != nil {
				return 0, err
			}
		}
	}
	return budget, nil
}

func (s *Slices) abort() {
	s.arrange()
	n := &s.snap
	for _, m := range s.open {
		for part := range 1 + len(s.lay.kids) {
			if p := m.existing(part); p != nil {
				p.giveUp()
			}
		}
	}
	n.draining, n.gathered, n.walk = false, nil, nil
}

func (s *Slices) handle() StateHandle {
	h := StateHandle{Descriptor: s.desc, Records: s.snap.records}
	s.lay.each(func(l *layout) { h.Blobs = l.shared.refs(h.Blobs) })
	return h
}

// dropRestored forgets what former subtasks with the given groups had saved of a slice before it was dropped.
func (s *Slices) dropRestored(time int64, part int, groups Range) {
	m := s.Of(time)
	if m == nil {
		return
	}
	p := m.partOf(part)
	for r := p.First(); r != 0; r = p.Next(r) {
		if !groups.Has(p.Group(r)) {
			continue
		}
		if slot, o, ok := p.lookup(p.Key(r), uint32(p.recs[r-1]>>32)); ok {
			p.unslot(slot)
			p.kill(o)
		}
	}
	if part == 0 && m.n == 0 {
		s.Drop(time)
	}
}

func (s *Slices) loaded() error {
	s.lay.each(func(l *layout) { l.loading(true) })
	defer s.lay.each(func(l *layout) { l.loading(false) })
	for _, t := range slices.Clone(s.Times()) {
		if s.open[t].n == 0 {
			s.Drop(t)
			continue
		}
		if err := s.open[t].link(); err != nil {
			return err
		}
	}
	return nil
}
