package state

import (
	"slices"
	"unsafe"
)

// In checkpoints every record of a slice has the slice's time in front. A slice that was dropped is one record: its
// time, and a header word with nothing but the flag.
const dropFlag = 0x40

const mapOverhead = unsafe.Sizeof(Map{})

// slicesSnap is what Slices keeps for checkpoints. The blobs of a part hold first the drops, then the slices that were
// dropped before the drain came to them, then the open ones.
type slicesSnap struct {
	draining bool
	records  int64
	drops    []int64 // slices dropped in the open epoch of which something was given to a checkpoint
	closed   []int64 // of the closed epoch, and of checkpoints that did not complete
	rolled   uint32
	gone     []goneSlice // dropped while the drain ran; nobody writes to them any more
	walk     []int64     // times of the slices to drain
	part     int
	dropped  int // how many of closed were drained, in this part
	gonePast int // and of gone
	at       int // and of walk
}

type goneSlice struct {
	time int64
	m    *Map
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
	n.drops, n.gone = nil, nil
	n.walk = slices.Clone(s.Times())
	n.part, n.dropped, n.gonePast, n.at = 0, 0, 0, 0
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

// forget notes that a slice goes. needed: a running drain has not come to it, and takes it as it is.
func (s *Slices) forget(time int64, m *Map) (needed bool) {
	if s.lay.freeze == 0 {
		return false // no checkpoint so far
	}
	s.arrange()
	n := &s.snap
	for part := 0; n.draining && part <= len(s.lay.kids); part++ {
		p := m.existing(part)
		if p == nil {
			continue
		}
		if p.freeze != p.lay.freeze {
			p.roll()
		}
		needed = needed || p.snap != nil && p.snap.draining
	}
	if needed {
		m.given = true
		n.gone = append(n.gone, goneSlice{time, m})
	}
	if m.given {
		n.drops = append(n.drops, time)
	}
	return needed
}

func (s *Slices) drain(w *blobWriter, budget int) (left int, done bool, err error) {
	s.arrange()
	n := &s.snap
	name := nameSum(s.desc.Name)
	for ; n.part <= len(s.lay.kids); n.part, n.dropped, n.gonePast, n.at = n.part+1, 0, 0, 0 {
		if !w.begun() {
			w.begin(name, uint8(n.part), 0, s.unitOf(n.part).add, BlobLimit/4)
		}
		if budget, err = s.drainDrops(w, budget); err != nil || budget <= 0 {
			return 0, false, err
		}
		for n.at < len(n.walk) && budget > 0 {
			time, more := n.walk[n.at], false
			if m := s.open[time]; m != nil {
				if budget, more, err = s.drainSlice(w, budget, time, m); err != nil {
					return 0, false, err
				}
			}
			if !more {
				n.at++
				budget--
			}
		}
		for n.gonePast < len(n.gone) && budget > 0 { // last, as slices of walk may still go
			g, more := n.gone[n.gonePast], false
			if budget, more, err = s.drainSlice(w, budget, g.time, g.m); err != nil {
				return 0, false, err
			}
			if !more {
				n.gonePast++
			}
		}
		if budget <= 0 {
			return 0, false, nil
		}
		if err := w.end(); err != nil {
			return 0, false, err
		}
	}
	n.draining, n.gone, n.walk = false, nil, nil
	return budget, true, nil
}

// drainDrops drains the slices that were dropped.
func (s *Slices) drainDrops(w *blobWriter, budget int) (int, error) {
	n := &s.snap
	if s.unitOf(n.part).asBase {
		return budget, nil
	}
	for ; budget > 0 && n.dropped < len(n.closed); budget-- {
		if err := w.recordAll([]uint64{uint64(n.closed[n.dropped]), dropFlag}); err != nil {
			return 0, err
		}
		n.dropped++
	}
	return budget, nil
}

// drainSlice drains up to budget records of one part of a slice; more: there are others.
func (s *Slices) drainSlice(w *blobWriter, budget int, time int64, m *Map) (left int, more bool, err error) {
	p := m.existing(s.snap.part)
	if p == nil {
		return budget, false, nil
	}
	if p.freeze != p.lay.freeze {
		p.roll()
	}
	if p.snap == nil || !p.snap.draining {
		return budget, false, nil
	}
	m.given = true
	for budget > 0 {
		w.words, more = p.nextDrained(w.words[:0])
		if !more {
			p.drained()
			return budget, false, nil
		}
		if err := w.sliceRecord(time, w.words); err != nil {
			return 0, false, err
		}
		budget -= cost(w.words)
	}
	return 0, true, nil
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
	n.draining, n.gone, n.walk = false, nil, nil
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
		if slot, o, ok := p.lookup(p.Key(r), p.tag(uint32(r)-1)); ok {
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
