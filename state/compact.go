package state

// compact moves the live records together, in order, and drops the dead ones. Refs change.
func (m *Map) compact() {
	m.settle()
	live := 0
	for o := uint32(0); int(o) < len(m.recs); {
		n := m.size(o)
		if m.kept(o) {
			live += int(n)
		}
		o += n
	}
	old, recs := m.recs, allocWords(max(live+live/4, 16))[:0]
	m.dead = 0
	for o := uint32(0); int(o) < len(old); {
		n := m.size(o)
		if m.kept(o) {
			to := len(recs)
			recs = append(recs, old[o:o+n]...)
			recs[to] &^= keepFlag
			if recs[to]&deadFlag != 0 {
				m.dead += int(n)
			}
			old[o] = uint64(to) // the forwarding address
		}
		o += n
	}
	m.recs, m.full = recs, 2*len(recs) // dead records that had to be kept are no reason to do it again at once
	moved := func(r Ref) Ref {
		if r == 0 {
			return 0
		}
		return Ref(old[r-1] + 1)
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
func (m *Map) kept(o uint32) bool { return m.recs[o]&(deadFlag|keepFlag) != deadFlag }

// relink renews the links among elements and those of their owners.
func (m *Map) relink(moved func(Ref) Ref) {
	both := func(w *uint64) { *w = pair(moved(high(*w)), moved(low(*w))) }
	links := uint32(m.lay.hidden)
	for o := uint32(0); int(o) < len(m.recs); {
		n := m.size(o)
		if m.recs[o]&deadFlag == 0 {
			for i := o + n - links; i < o+n; i++ {
				both(&m.recs[i])
			}
		}
		o += n
	}
	up := m.owner
	if m.lay.loose {
		return
	}
	at := uint32(up.lay.links[m.value])
	for o := uint32(0); int(o) < len(up.recs); o += up.size(o) {
		if up.recs[o]&deadFlag == 0 {
			v := up.valuesAt(o) + at
			both(&up.recs[v])
			up.recs[v+1] = pair(moved(high(up.recs[v+1])), low(up.recs[v+1]))
		}
	}
}

// compactText moves byte strings out of chunks of which much is dead, and gives these up.
func (m *Map) compactText() {
	a := m.text
	sparse := a.sparse()
	for o := uint32(0); int(o) < len(m.recs); o += m.size(o) {
		if m.recs[o]&deadFlag != 0 {
			continue
		}
		v := m.valuesAt(o)
		for _, i := range m.lay.bytes {
			w := &m.recs[v+uint32(i)]
			if *w == 0 || !sparse[*w>>40-1] {
				continue
			}
			ref := *w
			*w = a.put(a.get(ref))
			a.free(ref)
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
