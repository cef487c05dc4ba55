package state

import (
	"math"

	"runnel/types"
)

// Timers holds the timers of one kind (event time or processing time) of an operator: pairs of time and key, each at
// most once, given out in order of time.
type Timers struct {
	tab     *Table
	heaps   [][]timer // by key group: a binary heap by time, then age
	first   []int64   // a tree over the groups: each node the earliest time below it; leaves begin at leaf
	leaf    int
	scratch []uint64
}

// timer names a record. Records that were deleted stay in the heap until they come to its top.
type timer struct {
	time int64
	ref  Ref
}

func (t timer) before(o timer) bool { return t.time < o.time || t.time == o.time && t.ref < o.ref }

// NoTimer is the time of Next when there is none.
const NoTimer int64 = math.MaxInt64

// Timers registers timers, and restores them if the Keyed was made to restore.
func (k *Keyed) Timers(d Descriptor) (*Timers, error) {
	t := &Timers{tab: k.newTable(d, TableSpec{})} // a record is nothing but a key: the time, then the words of the timer's key
	t.tab.desc.Kind = "timers"
	n := len(t.tab.groups)
	t.heaps = make([][]timer, n)
	for t.leaf = 1; t.leaf < n; t.leaf *= 2 {
	}
	t.first = make([]int64, 2*t.leaf)
	for i := range t.first {
		t.first[i] = NoTimer
	}
	t.tab.lay.onMove = func(m *Map, _ func(Ref) Ref) { _ = t.rebuild(m) }
	t.tab.onLoad = t.rebuild
	if err := k.register(t.tab); err != nil {
		return nil, err
	}
	return t, nil
}

func (t *Timers) record(time int64, k Key) Key {
	t.scratch = append(append(t.scratch[:0], uint64(time)), k.Words...)
	return Key{t.scratch, hashElem(uint64(time), k.Words), k.Group}
}

// Add registers a timer; false: it was registered before.
func (t *Timers) Add(time int64, k Key) bool {
	m := t.tab.Of(k.Group)
	r, inserted := m.Upsert(t.record(time, k))
	if !inserted {
		return false
	}
	t.push(int(k.Group-t.tab.first), timer{time, r})
	return true
}

// Delete takes a timer back; false: there is no such timer.
func (t *Timers) Delete(time int64, k Key) bool {
	m := t.tab.Of(k.Group)
	r := m.Find(t.record(time, k))
	if r == 0 {
		return false
	}
	m.Delete(r)
	t.tidy(int(k.Group - t.tab.first))
	return true
}

// Next is the earliest time of all timers, NoTimer if there is none.
func (t *Timers) Next() int64 { return t.first[1] }

// Pop takes out the earliest timer if its time is at most to. Timers of equal time come by key group, then by age. The
// key's words are valid until the next call.
func (t *Timers) Pop(to int64) (time int64, k Key, ok bool) {
	if t.first[1] > to || t.first[1] == NoTimer {
		return 0, Key{}, false
	}
	i := 1
	for i < t.leaf {
		i *= 2
		if t.first[i] != t.first[i/2] {
			i++
		}
	}
	g := i - t.leaf
	m, top := t.tab.groups[g], t.heaps[g][0]
	t.scratch = append(t.scratch[:0], m.Key(top.ref)[1:]...)
	k = Key{t.scratch, types.HashKey(t.scratch), m.Group(top.ref)}
	m.Delete(top.ref)
	t.tidy(g)
	return top.time, k, true
}

func (t *Timers) push(g int, x timer) {
	h := append(t.heaps[g], x)
	for i := len(h) - 1; i > 0 && h[i].before(h[(i-1)/2]); i = (i - 1) / 2 {
		h[i], h[(i-1)/2] = h[(i-1)/2], h[i]
	}
	t.heaps[g] = h
	t.lead(g)
}

func sink(h []timer, i int) {
	for {
		c := 2*i + 1
		if c >= len(h) {
			return
		}
		if c+1 < len(h) && h[c+1].before(h[c]) {
			c++
		}
		if !h[c].before(h[i]) {
			return
		}
		h[i], h[c] = h[c], h[i]
		i = c
	}
}

// tidy removes deleted timers from the top of a group's heap.
func (t *Timers) tidy(g int) {
	h, m := t.heaps[g], t.tab.groups[g]
	for len(h) > 0 && !m.alive(uint32(h[0].ref)-1) {
		last := len(h) - 1
		h[0] = h[last]
		h = h[:last]
		sink(h, 0)
	}
	t.heaps[g] = h
	t.lead(g)
}

// lead tells the tree a group's earliest time.
func (t *Timers) lead(g int) {
	time := NoTimer
	if h := t.heaps[g]; len(h) > 0 {
		time = h[0].time
	}
	i := t.leaf + g
	for t.first[i] != time {
		t.first[i] = time
		if i == 1 {
			return
		}
		i /= 2
		time = min(t.first[2*i], t.first[2*i+1])
	}
}

// Len is the number of timers.
func (t *Timers) Len() int { return t.tab.Len() }

// rebuild makes a group's heap anew from its records, after these have moved or were restored.
func (t *Timers) rebuild(m *Map) error {
	if !m.recs.has(0) {
		return nil
	}
	g := int(m.group(0) - t.tab.first)
	h := t.heaps[g][:0]
	for r := m.First(); r != 0; r = m.Next(r) {
		key := m.Key(r)
		if len(key) == 0 {
			return errRecord
		}
		h = append(h, timer{int64(key[0]), r})
	}
	for i := len(h)/2 - 1; i >= 0; i-- {
		sink(h, i)
	}
	t.heaps[g] = h
	t.lead(g)
	return nil
}
