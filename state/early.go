package state

// earlyRecords are the records of a map that were encoded before the drain came to them, by their offsets: a hash table
// in one piece, as a batch behind a barrier fills many at once.
type earlyRecords struct {
	slots []uint64 // offset plus 1 (32 bits), place (32 bits)
	n     int
	saved wordChunks
}

// takenPlace stands for a record that the drain has taken.
const takenPlace = 1<<32 - 1

func (e *earlyRecords) slot(o uint32) *uint64 {
	mask := uint32(len(e.slots) - 1)
	for p := o * 0x9E3779B1 >> 7; ; p++ {
		if s := &e.slots[p&mask]; *s == 0 || uint32(*s>>32) == o+1 {
			return s
		}
	}
}

// put keeps the encoded record of an offset that has none yet.
func (e *earlyRecords) put(o uint32, rec []uint64) {
	if 4*e.n >= 3*len(e.slots) {
		old := e.slots
		e.slots = allocWords(max(64, 4*len(old)))
		for _, s := range old {
			if s != 0 {
				*e.slot(uint32(s>>32) - 1) = s
			}
		}
	}
	*e.slot(o) = uint64(o+1)<<32 | uint64(e.saved.put(rec))
	e.n++
}

// take gives the record of an offset once; nil if there is none.
func (e *earlyRecords) take(o uint32) []uint64 {
	if e.n == 0 {
		return nil
	}
	s := e.slot(o)
	if *s == 0 || uint32(*s) == takenPlace {
		return nil
	}
	rec := e.saved.get(uint64(uint32(*s)))
	*s |= takenPlace
	return rec
}
