package state

import "runnel/types"

// findRows is the number of keys that are looked up together: what they load fits into a first-level cache.
const findRows = 128

// minStage is the number of keys below which they are better looked up one by one.
const minStage = 4

// Finder looks up the keys of a batch, a block of them at a time: first all slots, then all records. The loads of a block
// do not wait for each other, so cache misses overlap. The zero value is ready.
type Finder struct {
	slots [findRows]uint64
	none  uint64 // stays 0
	warm  uint64
}

// Find gives the record of key which[i] of k in maps[i], for every i, and 0 in refs[i] if there is none. Expired records
// are found too.
func (f *Finder) Find(maps []*Map, k *types.Keys, which []int32, refs []Ref) {
	for len(which) > 0 {
		n := min(len(which), findRows)
		if n < minStage {
			for i, w := range which {
				refs[i] = maps[i].find(k.Key(int(w)), k.Hash[w])
			}
			return
		}
		f.stage(maps[:n], k.Hash, which[:n])
		f.verify(maps[:n], k, which[:n], refs[:n])
		maps, which, refs = maps[n:], which[n:], refs[n:]
	}
}

// stage loads what a block of lookups will need, and leaves the slots that have the right tags. Addresses are gathered
// first: the shorter a loop that only loads, the more of its cache misses overlap.
func (f *Finder) stage(maps []*Map, hashes []uint64, which []int32) {
	var at, end [findRows]*uint64 // on the stack: they hold nothing alive
	slots := f.slots[:len(which)]
	maps = maps[:len(which)]
	for i, w := range which {
		at[i&(findRows-1)] = &f.none
		if m := maps[i]; m != nil && len(m.slots) > 0 {
			at[i&(findRows-1)] = &m.slots[tagOf(hashes[w])>>(m.shift&31)]
		}
	}
	for i := range slots {
		slots[i] = *at[i&(findRows-1)]
	}
	for i, w := range which {
		s := slots[i]
		at[i&(findRows-1)], end[i&(findRows-1)] = &f.none, &f.none
		if s == 0 {
			continue
		}
		m, tag := maps[i], tagOf(hashes[w])
		if uint32(s>>32) != tag {
			s = m.probe(tag)
			slots[i] = s
		}
		// A record may lie across two cache lines.
		if o := uint32(s); o != 0 {
			c, first := m.recs.chunk(o - 1)
			at[i&(findRows-1)] = &c[first]
			if last := first + 1 + m.lay.vals; last < len(c) {
				end[i&(findRows-1)] = &c[last]
			}
		}
	}
	var sum uint64
	for i := range slots {
		sum += *at[i&(findRows-1)] + *end[i&(findRows-1)]
	}
	f.warm += sum // so that the loads are not optimised away
}

// probe gives the first slot with the given tag, 0 if there is none.
func (m *Map) probe(tag uint32) uint64 {
	mask := uint32(len(m.slots) - 1)
	for p := tag >> (m.shift & 31); ; p++ {
		s := m.slots[p&mask]
		if s == 0 || uint32(s>>32) == tag {
			return s
		}
	}
}

// verify compares the keys of the records that stage found.
func (f *Finder) verify(maps []*Map, k *types.Keys, which []int32, refs []Ref) {
	slots := f.slots[:len(which)]
	refs, maps = refs[:len(which)], maps[:len(which)]
	for i, w := range which {
		o := uint32(slots[i])
		if o == 0 {
			refs[i] = 0
			continue
		}
		m := maps[i]
		key := k.Words[k.Off[w]:k.Off[w+1]]
		same := false
		if len(key) == 1 {
			same = m.isWord(o-1, key[0])
		} else {
			same = m.same(o-1, key)
		}
		if same {
			refs[i] = Ref(o)
			continue
		}
		refs[i] = m.find(key, k.Hash[w])
	}
}

// find is Find, but gives expired records as well.
func (m *Map) find(key []uint64, hash uint64) Ref {
	if _, o, ok := m.lookup(key, tagOf(hash)); ok {
		return Ref(o + 1)
	}
	return 0
}

// MarkElems sets, for every i, the bits marks[i] in the first value of the element with the words of key which[i] of k, in
// the Loose set that the value of owners[i] in maps[i] holds, and makes the element if there is none: one row after the
// other, with cache misses that overlap. It leaves in marks[i] those bits that were not set before. Nothing may ever be
// taken out of these sets.
func (f *Finder) MarkElems(value int, maps []*Map, owners []Ref, k *types.Keys, which []int32, marks []uint64) {
	for len(which) > 0 {
		n := min(len(which), findRows)
		f.markElems(value, maps[:n], owners[:n], k, which[:n], marks[:n])
		maps, owners, which, marks = maps[n:], owners[n:], which[n:], marks[n:]
	}
}

func (f *Finder) markElems(value int, maps []*Map, owners []Ref, k *types.Keys, which []int32, marks []uint64) {
	var of [findRows]Collection
	var ids [findRows]uint64
	var tags [findRows]uint32
	var at, end [findRows]*uint64 // on the stack: they hold nothing alive
	for i, w := range which {
		c := maps[i].Collection(value)
		id := c.number(owners[i])
		tag := tagOf(hashElem(id, k.Words[k.Off[w]:k.Off[w+1]]))
		of[i&(findRows-1)], ids[i&(findRows-1)], tags[i&(findRows-1)], at[i&(findRows-1)] = c, id, tag, &f.none
		if m := c.elems; len(m.slots) > 0 {
			at[i&(findRows-1)] = &m.slots[tag>>(m.shift&31)]
		}
	}
	slots := f.slots[:len(which)]
	for i := range slots {
		slots[i] = *at[i&(findRows-1)]
	}
	for i, s := range slots {
		at[i&(findRows-1)], end[i&(findRows-1)] = &f.none, &f.none
		if s == 0 {
			continue
		}
		m := of[i&(findRows-1)].elems
		if tag := tags[i&(findRows-1)]; uint32(s>>32) != tag {
			s = m.probe(tag)
			slots[i] = s
		}
		if o := uint32(s); o != 0 {
			c, first := m.recs.chunk(o - 1)
			at[i&(findRows-1)] = &c[first]
			if last := first + 2 + m.lay.vals; last < len(c) {
				end[i&(findRows-1)] = &c[last]
			}
		}
	}
	var sum uint64
	for i := range slots {
		sum += *at[i&(findRows-1)] + *end[i&(findRows-1)]
	}
	f.warm += sum // so that the loads are not optimised away
	for i, w := range which {
		c, id, elem := &of[i&(findRows-1)], ids[i&(findRows-1)], k.Words[k.Off[w]:k.Off[w+1]]
		e := Ref(uint32(slots[i]))
		if e == 0 || len(elem) != 1 || !c.elems.isPair(uint32(e)-1, id, elem[0]) {
			e = c.addLoose(owners[i], id, elem, tags[i&(findRows-1)])
		}
		marks[i] &^= c.elems.Get(e)[0]
		if marks[i] != 0 {
			c.elems.Touch(e)[0] |= marks[i]
		}
	}
}

// isPair reports whether the record at o has the key of two words.
func (m *Map) isPair(o uint32, a, b uint64) bool {
	c, i := m.recs.chunk(o)
	return i+2 < len(c) && c[i+1] == a && c[i+2] == b && c[i]>>wordsShift&0xFF == 2
}

// WarmEnds loads what an Add of the words from[i] to from[i+1] to the short set of owners[i] in maps[i] will look at: the
// elements from the last one on down to the place where it goes.
func (f *Finder) WarmEnds(value int, maps []*Map, owners []Ref, words []uint64, from []int32) {
	for len(owners) > 0 {
		n := min(len(owners), findRows)
		f.warmEnds(value, maps[:n], owners[:n], words, from[:n+1])
		maps, owners, from = maps[n:], owners[n:], from[n:]
	}
}

func (f *Finder) warmEnds(value int, maps []*Map, owners []Ref, words []uint64, from []int32) {
	var at [findRows]Ref
	var row [findRows]int32
	n := 0
	for i, owner := range owners {
		if owner == 0 {
			continue
		}
		if e := maps[i].Collection(value).Last(owner); e != 0 {
			at[n&(findRows-1)], row[n&(findRows-1)] = e, int32(i)
			n++
		}
	}
	var sum uint64
	for n > 0 {
		for k, i := range row[:n] {
			sum += maps[i].kids[maps[i].lay.kidOf[value]].recs.at(uint32(at[k]) - 1)[0]
		}
		left := 0
		for k, i := range row[:n] {
			c, e := maps[i].Collection(value), at[k&(findRows-1)]
			if CompareWords(c.Elem(e), words[from[i]:from[i+1]]) < 0 {
				continue
			}
			if e = c.Prev(e); e != 0 {
				at[left&(findRows-1)], row[left&(findRows-1)] = e, i
				left++
			}
		}
		n = left
	}
	f.warm += sum // so that the loads are not optimised away
}

// UpsertFrom gives in refs, for every record of another map, that of the same key, and makes it if there is none. Nothing
// may ever have been deleted from the map, or Refs do not stay valid.
func (f *Finder) UpsertFrom(m, from *Map, records, refs []Ref) {
	var maps [findRows]*Map
	var hashes [findRows]uint64
	for len(records) > 0 {
		n := min(len(records), findRows)
		for i, r := range records[:n] {
			maps[i], hashes[i] = m, uint64(from.tag(uint32(r)-1))<<32 // a tag is the part of the hash that matters
		}
		f.stage(maps[:n], hashes[:n], types.All(n))
		for i, r := range records[:n] {
			key, tag := from.Key(r), tagOf(hashes[i])
			if _, o, ok := m.lookup(key, tag); ok {
				refs[i] = Ref(o + 1)
				continue
			}
			refs[i] = Ref(m.insert(key, tag, from.Group(r)) + 1)
		}
		records, refs = records[n:], refs[n:]
	}
}
