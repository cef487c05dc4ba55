package expr

import (
	"slices"
	"testing"
)

// memStore is a Store in ordinary memory that checks its use.
type memStore struct {
	t     testing.TB
	slots []Slot
	bytes []*string
	elems []*memElems
}

func newStore(t testing.TB, slots []Slot) *memStore {
	s := &memStore{t: t, slots: slots, bytes: make([]*string, len(slots)), elems: make([]*memElems, len(slots))}
	for i, slot := range slots {
		if slot.Kind >= ListSlot {
			s.elems[i] = &memElems{t: t, slot: slot}
		}
	}
	return s
}

func (s *memStore) Bytes(slot int) (string, bool) {
	if s.slots[slot].Kind != BytesSlot {
		s.t.Fatalf("slot %d holds no bytes", slot)
	}
	if s.bytes[slot] == nil {
		return "", false
	}
	return *s.bytes[slot], true
}

func (s *memStore) PutBytes(slot int, v string) {
	s.Bytes(slot)
	s.bytes[slot] = &v
}

func (s *memStore) Elems(slot int) Elems {
	if s.elems[slot] == nil {
		s.t.Fatalf("slot %d is no collection", slot)
	}
	return s.elems[slot]
}

// memElems keeps elements in their order; an Elem is an id, never reused.
type memElems struct {
	t     testing.TB
	slot  Slot
	list  []*memElem
	nextE Elem
}

type memElem struct {
	id     Elem
	words  []uint64
	values []uint64
	bytes  []string
}

func (m *memElems) at(e Elem) int {
	i := slices.IndexFunc(m.list, func(x *memElem) bool { return x.id == e })
	if i < 0 {
		m.t.Fatalf("element %d does not exist", e)
	}
	return i
}

func (m *memElems) Find(words []uint64) Elem {
	for _, x := range m.list {
		if slices.Equal(x.words, words) {
			return x.id
		}
	}
	return 0
}

func (m *memElems) Add(words []uint64) (Elem, bool) {
	if e := m.Find(words); e != 0 && m.slot.Kind != ListSlot {
		return e, false
	}
	m.nextE++
	x := &memElem{m.nextE, slices.Clone(words), make([]uint64, len(m.slot.Elem)), make([]string, len(m.slot.Elem))}
	at := len(m.list)
	if m.slot.Kind == SortedSlot {
		for at = 0; at < len(m.list) && slices.Compare(m.list[at].words, words) < 0; at++ {
		}
	}
	m.list = slices.Insert(m.list, at, x)
	return x.id, true
}

func (m *memElems) Remove(e Elem) { m.list = slices.Delete(m.list, m.at(e), m.at(e)+1) }

func (m *memElems) Next(e Elem) Elem {
	i := 0
	if e != 0 {
		i = m.at(e) + 1
	}
	if i == len(m.list) {
		return 0
	}
	return m.list[i].id
}

func (m *memElems) Prev(e Elem) Elem {
	i := len(m.list) - 1
	if e != 0 {
		i = m.at(e) - 1
	}
	if i < 0 {
		return 0
	}
	return m.list[i].id
}

func (m *memElems) Words(e Elem) []uint64  { return m.list[m.at(e)].words }
func (m *memElems) Values(e Elem) []uint64 { return m.list[m.at(e)].values }

func (m *memElems) Bytes(e Elem, value int) (string, bool) { return m.list[m.at(e)].bytes[value], true }
func (m *memElems) PutBytes(e Elem, value int, s string)   { m.list[m.at(e)].bytes[value] = s }
