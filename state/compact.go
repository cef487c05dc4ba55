package state

// compact moves the live records together, in order, and drops the dead ones. Refs change.
func (m *Map) compact() {
	m.settle()
	old, recs := m.recs, recArena{}
	m.dead = 0
	m.moves++
	for o := uint32(0); old.has(o); {
		n := m.size(o)
		if m.kept(o) {
			from := old.at(o)
			to, rec := recs.add(int(n))
			copy(rec, from[:n])
			rec[0] &^= keepFlag
			if rec[0]&deadFlag != 0 {
				m.dead += int(n)
			}
			from[0] = uint64(to) // the forwarding address
		}
		o = old.next(o, n)
	}
	m.recs, m.full = recs, 2*recs.words // dead records that had to be kept are no reason to do it again at once
	moved := func(r Ref) Ref {
		if r == 0 {
			return 0
		}
		return Ref(old.at(uint32(r) - 1)[0] + 1)
	}
	for i, s := range m.slots {
		if s != 0 {
			m.slots[i] = s&^0xFFFFFFFF | uint64(moved(Ref(s)))
		}
	}
	if m.owner != nil {
		m.relink(moved)
	}
	m.moveDirty(moved)
	if m.lay.onMove != nil {
		m.lay.onMove(m, moved)
	}
}

// kept reports whether a compaction keeps the record at o: it is alive, or a checkpoint has yet to say that it is gone.
func (m *Map) kept(o uint32) bool { return m.recs.at(o)[0]&(deadFlag|keepFlag) != deadFlag }

// relink renews the links among elements and those of their owners.
func (m *Map) relink(moved func(Ref) Ref) {
	both := func(w *uint64) { *w = pair(moved(high(*w)), moved(low(*w))) }
	for o := uint32(0); m.recs.has(o); o = m.next(o) {
		if m.alive(o) {
			links := m.values(o)[m.lay.vals:]
			for i := range links {
				both(&links[i])
			}
		}
	}
	up := m.owner
	if m.lay.loose {
		return
	}
	at := up.lay.links[m.value]
	for o := uint32(0); up.recs.has(o); o = up.next(o) {
		if up.alive(o) {
			ends := up.values(o)[at:]
			both(&ends[0])
			ends[1] = pair(moved(high(ends[1])), low(ends[1]))
		}
	}
}

// compactText moves byte strings out of chunks of which much is dead, and gives these up.
func (m *Map) compactText() {
	a := m.text
	sparse := a.sparse()
	for o := uint32(0); m.recs.has(o); o = m.next(o) {
		if !m.alive(o) {
			continue
		}
		values := m.values(o)
		for _, i := range m.lay.bytes {
			w := &values[i]
			if *w == 0 || !sparse[*w>>40-1] {
				continue
			}
			*w = a.move(*w)
		}
	}
	a.drop(sparse)
}

// A link word holds two Refs.
func pair(a, b Ref) uint64     { return uint64(a)<<32 | uint64(b) }
func high(w uint64) Ref        { return Ref(w >> 32) }
func low(w uint64) Ref         { return Ref(w) }
func setHigh(w *uint64, r Ref) { *w = pair(r, low(*w)) }
func setLow(w *uint64, r Ref)  { *w = pair(high(*w), r) }
