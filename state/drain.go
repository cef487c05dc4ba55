package state

// An encoded record is the header word (without marks), the words of the key behind it (their number first if it does
// not fit the header), and, unless the record is dead, the values and the stamp. In the place of a Bytes value stands
// its length plus one, 0 for none; the bytes follow the values, padded to words.

// encode appends the encoded record at o.
func (m *Map) encode(dst []uint64, o uint32) []uint64 {
	rec := m.recs.at(o)
	at, n := keyIn(rec)
	head := rec[0] &^ (markMask | keepFlag)
	dst = append(dst, head)
	dst = append(dst, rec[1:at+n]...)
	if head&deadFlag != 0 {
		return dst
	}
	values := rec[at+n : at+n+uint32(m.lay.vals)]
	first := len(dst)
	dst = append(dst, values...)
	for _, i := range m.lay.bytes {
		if ref := values[i]; ref != 0 {
			s := m.text.get(ref)
			dst[first+i] = uint64(len(s)) + 1
			dst = appendPadded(dst, s)
		}
	}
	return dst
}

// nextDrained appends the next record of the drain, encoded; more is false at the end, and nothing is appended.
func (m *Map) nextDrained(dst []uint64) (_ []uint64, more bool) {
	s := m.snap
	switch {
	case s.gathered:
		if s.at >= len(s.buf) {
			return dst, false
		}
		n := encodedSize(m.lay, s.buf[s.at:])
		dst = append(dst, s.buf[s.at:s.at+n]...)
		s.at += n
		return dst, true
	case s.base:
		return m.nextBase(dst)
	}
	for s.at < len(s.list) {
		o := s.list[s.at]
		s.at++
		switch m.recs.at(o)[0] & markMask {
		case m.lay.closed:
			m.clean(o)
			return m.encode(dst, o), true
		case m.lay.cur:
			if out, ok := m.takeEarly(dst, o); ok {
				return out, true
			}
		}
	}
	return dst, false
}

// nextBase is nextDrained over all records that were alive at the freeze.
func (m *Map) nextBase(dst []uint64) (_ []uint64, more bool) {
	s := m.snap
	for s.at < s.end {
		o := uint32(s.at)
		s.at = int(m.next(o))
		h := m.recs.at(o)[0]
		if h&markMask == m.lay.cur {
			if out, ok := m.takeEarly(dst, o); ok {
				return out, true
			}
			continue
		}
		m.clean(o)
		if h&deadFlag == 0 {
			return m.encode(dst, o), true
		}
	}
	return dst, false
}

// takeEarly appends the early copy of a record, if there is one.
func (m *Map) takeEarly(dst []uint64, o uint32) ([]uint64, bool) {
	rec := m.snap.early.take(o)
	return append(dst, rec...), rec != nil
}

// encodedSize is the number of words of the encoded record at the front of rec, which this package wrote.
func encodedSize(l *layout, rec []uint64) int {
	n := 1 + int(rec[0]>>wordsShift&0xFF)
	if rec[0]>>wordsShift&0xFF == longKey {
		n = 2 + int(rec[1])
	}
	if rec[0]&deadFlag != 0 {
		return n
	}
	v := n
	n += l.vals
	for _, i := range l.bytes {
		if w := rec[v+i]; w != 0 {
			n += int(w-1+7) / 8
		}
	}
	return n
}

// drain gives the map's part of the checkpoint to w, up to budget records.
func (m *Map) drain(w *blobWriter, budget int, part uint8, name uint32) (left int, done bool, err error) {
	if m.freeze != m.lay.freeze {
		m.roll()
	}
	s := m.snap
	if s == nil || !s.draining {
		return budget, true, nil
	}
	if !w.begun() {
		w.begin(name, part, m.flags(), m.unit.add, m.toDrain())
	}
	for budget > 0 {
		rec, more := m.nextDrained(w.words[:0])
		w.words = rec
		if !more {
			m.drained()
			return budget, true, w.end()
		}
		if err := w.record(int32(rec[0]>>groupShift&0xFFFF), rec); err != nil {
			return budget, false, err
		}
		budget -= cost(rec) + len(m.lay.bytes) // a text lies elsewhere: it is a miss of the cache of its own
	}
	return 0, false, nil
}

// cost is what a record takes from a budget of records: long ones count for several.
func cost(rec []uint64) int { return 1 + len(rec)/64 }

// toDrain is about how many bytes the drain will give.
func (m *Map) toDrain() int {
	bytes, n := 8*m.snap.end, m.n
	if !m.snap.base {
		if n = len(m.snap.list); n == 0 {
			return 0
		}
		bytes = 8 * n * int(m.size(m.snap.list[0]))
	}
	if m.text != nil {
		bytes += m.text.live / max(m.n, 1) * n
	}
	return bytes
}

// drained ends the drain. The list stays until the checkpoint is known to have completed.
func (m *Map) drained() {
	s := m.snap
	s.draining, s.early, s.buf = false, earlyRecords{}, nil
	if len(s.list) == 0 {
		m.snap = nil
	}
}

func (m *Map) flags() uint8 {
	if m.lay.ttl > 0 {
		return flagStamped
	}
	return 0
}

// tableWalk is where the drain of a table stands.
type tableWalk struct {
	group, part int
	records     int64 // at the freeze
}

func (t *Table) drain(w *blobWriter, budget int) (left int, done bool, err error) {
	name := nameSum(t.desc.Name)
	for ; t.walk.group < len(t.groups); t.walk.group, t.walk.part = t.walk.group+1, 0 {
		m := t.groups[t.walk.group]
		if m == nil {
			continue
		}
		for ; t.walk.part <= len(m.kids); t.walk.part++ {
			part := m
			if t.walk.part > 0 {
				part = m.kids[t.walk.part-1]
			}
			if part == nil {
				continue
			}
			budget, done, err = part.drain(w, budget-1, uint8(t.walk.part), name)
			if !done || err != nil {
				return budget, false, err
			}
		}
	}
	return budget, true, nil
}

func (t *Table) abort() {
	for _, m := range t.groups {
		if m == nil {
			continue
		}
		m.giveUp()
		for _, kid := range m.kids {
			if kid != nil {
				kid.giveUp()
			}
		}
	}
}

func (t *Table) handle() StateHandle {
	h := StateHandle{Descriptor: t.desc, Records: t.walk.records}
	for _, m := range t.groups {
		if m == nil {
			continue
		}
		h.Blobs = m.unit.refs(h.Blobs)
		for _, kid := range m.kids {
			if kid != nil {
				h.Blobs = kid.unit.refs(h.Blobs)
			}
		}
	}
	return h
}
