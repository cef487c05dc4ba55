package state

// Dirty tracking. Every record carries the mark of the epoch in which it was last written: clean, or one of two marks
// that alternate. A freeze swaps the two in the layout (one assignment per state); what is then still marked with the
// older one belongs to the closed epoch and is waiting to be drained. A map notices the freeze at its first write or
// when the drain reaches it, whatever comes first (roll).
//
// A record of the closed epoch that is about to be written is encoded first, into the early buffer, and the drain picks
// it up from there: what leaves is the state at the barrier, in the order of the records.

// mapSnap is what a map keeps while something of it is waiting to be drained, or to be known as stored.
type mapSnap struct {
	draining bool
	base     bool     // the drain walks all records, not the list
	list     []uint32 // dirty records of the closed epoch, and those of checkpoints that did not complete
	at       int      // next index of list, or next offset when base
	end      int      // base: the end of the arena at the freeze
	early    earlyRecords
	gathered bool // buf holds all that is left, at is the next word of it
	buf      []uint64
}

// minDirty is the number of dirty records that are noted however few records there are.
const minDirty = 1024

// born marks a new record as written in the open epoch.
func (m *Map) born(o uint32) {
	if m.lay.track {
		if m.freeze != m.lay.freeze {
			m.roll()
		}
		m.note(o)
	}
	m.recs.at(o)[0] |= m.lay.cur
}

// note adds a record to the dirty ones. When these outnumber the live ones, writing all of the map is cheaper, and the
// list ends.
func (m *Map) note(o uint32) {
	if m.unit.lost {
		return
	}
	if len(m.dirty) >= m.n+minDirty {
		m.unit.lost = true
		m.dirty = nil
		return
	}
	m.dirty = append(m.dirty, o)
}

// touch is the first write of a record in the open epoch.
func (m *Map) touch(o uint32) {
	if m.freeze != m.lay.freeze {
		m.roll()
	}
	if s := m.snap; s != nil && s.draining && m.waits(o) {
		m.lay.scratch = m.encode(m.lay.scratch[:0], o)
		s.early.put(o, m.lay.scratch)
	}
	head := &m.recs.at(o)[0]
	*head = *head&^markMask | m.lay.cur
	m.note(o)
}

// waits reports whether the record at o, not yet written in the open epoch, is still to be drained.
func (m *Map) waits(o uint32) bool {
	s := m.snap
	if s.gathered {
		return false
	}
	if s.base {
		return int(o) >= s.at && int(o) < s.end && m.alive(o)
	}
	return m.recs.at(o)[0]&markMask == m.lay.closed
}

// roll arranges the lists for the freeze that has happened since the last write.
func (m *Map) roll() {
	m.freeze = m.lay.freeze
	u := m.unit
	u.resolve(m.lay)
	var left []uint32
	if s := m.snap; s != nil {
		m.snap = nil
		if !u.stored {
			left = s.list
		}
	}
	if len(left) > 2*(m.n+minDirty) {
		u.lost = true // the next checkpoint writes everything
	}
	if len(m.dirty) == 0 && left == nil && !(u.asBase && m.n > 0) {
		return
	}
	for _, o := range left {
		if head := &m.recs.at(o)[0]; *head&markMask == 0 {
			*head |= m.lay.closed
		}
	}
	s := &mapSnap{draining: true, base: u.asBase, list: m.dirty, end: int(m.recs.end())}
	if left != nil {
		s.list = append(left, m.dirty...)
	}
	m.snap, m.dirty = s, nil
}

// giveUp ends the drain of an aborted checkpoint; what was to be drained stays in the list.
func (m *Map) giveUp() {
	if m.freeze != m.lay.freeze {
		m.roll()
	}
	s := m.snap
	if s == nil || !s.draining {
		return
	}
	s.draining, s.early, s.buf = false, earlyRecords{}, nil
	if s.base && !s.gathered {
		for o := uint32(s.at); int(o) < s.end; o = m.next(o) {
			m.clean(o)
		}
	}
	for _, o := range s.list {
		m.clean(o)
	}
}

// clean takes the mark of the closed epoch from the record at o.
func (m *Map) clean(o uint32) {
	if head := &m.recs.at(o)[0]; *head&markMask == m.lay.closed {
		*head &^= markMask
	}
}

// settle prepares for a compaction: a drain that has begun is brought to its end in the early buffer, and dead records
// that a later checkpoint has to mention are marked.
func (m *Map) settle() {
	if !m.lay.track {
		return
	}
	if m.freeze != m.lay.freeze {
		m.roll()
	}
	if s := m.snap; s != nil {
		if s.draining && !s.gathered {
			m.gather()
		}
		for _, o := range s.list {
			m.recs.at(o)[0] |= keepFlag
		}
	}
	for _, o := range m.dirty {
		m.recs.at(o)[0] |= keepFlag
	}
}

// gather encodes everything that is left to be drained, and ends the walk over records.
func (m *Map) gather() {
	s := m.snap
	var buf []uint64
	for more := true; more; {
		buf, more = m.nextDrained(buf)
	}
	s.early, s.buf, s.gathered, s.at = earlyRecords{}, buf, true, 0
}

// moveDirty follows a compaction.
func (m *Map) moveDirty(moved func(Ref) Ref) {
	for i, o := range m.dirty {
		m.dirty[i] = uint32(moved(Ref(o+1)) - 1)
	}
	if s := m.snap; s != nil {
		for i, o := range s.list {
			s.list[i] = uint32(moved(Ref(o+1)) - 1)
		}
	}
}
