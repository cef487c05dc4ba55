package state

import "slices"

// Collection is the list, set or sorted set that a value of kind List, Set or Sorted holds, for every record of a Map:
// the first argument of its methods says whose. Elements are records of a map of their own, chained in the order of the
// collection; they have the owner's key group, go when the owner goes, and are found, added and removed in constant time
// (logarithmic for Sorted).
//
// Refs of elements are valid until the next Add to any collection of the same Map and value; those of owners stay.
type Collection struct {
	up    *Map
	elems *Map
	value int
	kind  ValueKind
}

// Collection gives the collections of a value.
func (m *Map) Collection(value int) Collection {
	i := m.lay.kidOf[value]
	if m.kids == nil || m.kids[i] == nil {
		m.newKid(i, value)
	}
	return Collection{m, m.kids[i], value, m.lay.values[value].Kind}
}

func (m *Map) newKid(i, value int) {
	if m.kids == nil {
		m.kids = make([]*Map, len(m.lay.kids))
	}
	kid := newMap(m.lay.kids[i])
	kid.owner, kid.value = m, value
	kid.freeze, kid.unit = kid.lay.freeze, kid.lay.shared
	if kid.unit == nil {
		kid.unit = &unit{freeze: kid.lay.freeze, spread: m.unitSpread()}
	}
	m.kids[i] = kid
}

// partOf gives the map itself (0), or the map of a collection's elements.
func (m *Map) partOf(part int) *Map {
	if part == 0 {
		return m
	}
	for value, kid := range m.lay.kidOf {
		if kid == part-1 {
			return m.Collection(value).elems
		}
	}
	return nil
}

// ends gives the owner's hidden words: first and last element, root of the tree and number of elements.
func (c Collection) ends(owner Ref) []uint64 {
	at := c.up.lay.links[c.value]
	return c.up.values(uint32(owner) - 1)[at : at+2]
}

// links gives an element's hidden words: previous and next, and next equal and last equal (List) or left and right
// (Sorted).
func (c Collection) links(e Ref) []uint64 {
	return c.elems.values(uint32(e) - 1)[c.elems.lay.vals:]
}

// Len is the number of elements.
func (c Collection) Len(owner Ref) int {
	if c.elems.lay.loose {
		n := 0
		for e := c.First(owner); e != 0; e = c.Next(e) {
			n++
		}
		return n
	}
	return int(low(c.ends(owner)[1]))
}

// First gives the first element, 0 if there is none.
func (c Collection) First(owner Ref) Ref {
	if c.elems.lay.loose {
		return c.looseFrom(c.elems.First(), c.up.Get(owner)[c.value])
	}
	return high(c.ends(owner)[0])
}

// Last gives the last element, 0 if there is none. Loose sets have none, and no Prev.
func (c Collection) Last(owner Ref) Ref { return low(c.ends(owner)[0]) }

// Next gives the element behind e, 0 at the end.
func (c Collection) Next(e Ref) Ref {
	if c.elems.lay.loose {
		return c.looseFrom(c.elems.Next(e), c.elems.Key(e)[0])
	}
	return low(c.links(e)[0])
}

// looseFrom gives the first element of the owner with the given number from e on.
func (c Collection) looseFrom(e Ref, id uint64) Ref {
	for e != 0 && c.elems.Key(e)[0] != id {
		e = c.elems.Next(e)
	}
	return e
}

// Prev gives the element before e, 0 at the front.
func (c Collection) Prev(e Ref) Ref { return high(c.links(e)[0]) }

// Elem gives the words of an element, to read, valid until the next Add.
func (c Collection) Elem(e Ref) []uint64 { return c.elems.Key(e)[c.prefix():] }

// prefix is the number of words before those of the element: the owner's number, and in lists the element's own.
func (c Collection) prefix() int {
	if c.kind == List {
		return 2
	}
	return 1
}

// Get, Touch, Bytes and PutBytes are those of Map for the values of an element.
func (c Collection) Get(e Ref) []uint64 { return c.elems.Get(e) }

// Touch gives the values of an element, to write.
func (c Collection) Touch(e Ref) []uint64 { return c.elems.Touch(e) }

// Bytes gives a byte string of an element.
func (c Collection) Bytes(e Ref, value int) (string, bool) { return c.elems.Bytes(e, value) }

// PutBytes sets a byte string of an element.
func (c Collection) PutBytes(e Ref, value int, s string) { c.elems.PutBytes(e, value, s) }

// Moves is that of Map for Refs of elements.
func (c Collection) Moves() uint32 { return c.elems.moves }

// Find gives the element with these words, in a list the first such one, 0 if there is none.
func (c Collection) Find(owner Ref, elem []uint64) Ref {
	id := c.up.Get(owner)[c.value]
	if id == 0 {
		return 0
	}
	if c.elems.lay.short {
		return c.findShort(owner, elem)
	}
	_, o, ok := c.lookup(id, elem, tagOf(hashElem(id, elem)))
	if !ok {
		return 0
	}
	return Ref(o + 1)
}

// lookup is Map.lookup, but skips the number of a list's element.
func (c Collection) lookup(id uint64, elem []uint64, tag uint32) (slot, o uint32, ok bool) {
	m := c.elems
	if len(m.slots) == 0 {
		return 0, 0, false
	}
	mask, skip := uint32(len(m.slots)-1), c.prefix()
	for p := tag >> m.shift; ; p = (p + 1) & mask {
		s := m.slots[p]
		if s == 0 {
			return p, 0, false
		}
		if uint32(s>>32) != tag {
			continue
		}
		o := uint32(s) - 1
		if key := m.key(o); key[0] == id && slices.Equal(key[skip:], elem) {
			return p, o, true
		}
	}
}

// Add gives the element with these words and makes one if there is none; in a list it always appends a new one.
func (c Collection) Add(owner Ref, elem []uint64) (e Ref, inserted bool) {
	id := c.number(owner)
	return c.add(owner, id, elem, tagOf(hashElem(id, elem)))
}

// number gives the owner's number in the keys of its elements; the first element makes it.
func (c Collection) number(owner Ref) uint64 {
	id := c.up.values(uint32(owner) - 1)[c.value]
	if id == 0 {
		c.up.nextID++
		// A slice may come from several subtasks, which count for themselves: so the key group is part of it.
		id = c.up.nextID<<groupShift | uint64(c.up.group(uint32(owner)-1))
		c.up.Touch(owner)[c.value] = id
	}
	return id
}

// add is Add with the owner's number and the tag of the element.
func (c Collection) add(owner Ref, id uint64, elem []uint64, tag uint32) (e Ref, inserted bool) {
	if c.elems.lay.short {
		return c.addShort(owner, id, elem, tag)
	}
	key := append(c.elems.lay.scratch[:0], id)
	if c.kind == List {
		c.up.nextID++
		key = append(key, c.up.nextID)
	} else if _, o, ok := c.lookup(id, elem, tag); ok {
		return Ref(o + 1), false
	}
	key = append(key, elem...)
	c.elems.lay.scratch = key
	return c.insert(owner, key, tag, c.up.group(uint32(owner)-1)), true
}

// addLoose is add for Loose sets.
func (c *Collection) addLoose(owner Ref, id uint64, elem []uint64, tag uint32) Ref {
	m := c.elems
	m.reserve()
	slot, o, ok := c.lookup(id, elem, tag)
	if ok {
		return Ref(o + 1)
	}
	group := c.up.group(uint32(owner) - 1)
	if len(elem) == 1 {
		o = m.appendRecord([]uint64{id, elem[0]}, tag, group)
	} else {
		m.lay.scratch = append(append(m.lay.scratch[:0], id), elem...)
		o = m.appendRecord(m.lay.scratch, tag, group)
	}
	m.slots[slot] = uint64(tag)<<32 | uint64(o+1)
	m.n++
	m.lay.live++
	return Ref(o + 1)
}

// addShort is add for collections without an index.
func (c Collection) addShort(owner Ref, id uint64, elem []uint64, tag uint32) (e Ref, inserted bool) {
	m := c.elems
	m.reserve() // which may move elements
	key, before := append(m.lay.scratch[:0], id), Ref(0)
	if c.kind == List {
		c.up.nextID++
		key, before = append(key, c.up.nextID), c.Last(owner)
	} else if e, before = c.behind(owner, elem); e != 0 {
		return e, false
	}
	key = append(key, elem...)
	m.lay.scratch = key
	e = Ref(m.appendRecord(key, tag, c.up.group(uint32(owner)-1)) + 1)
	m.n++
	m.lay.live++
	c.chain(owner, before, e)
	return e, true
}

// findShort is Find for collections without an index.
func (c Collection) findShort(owner Ref, elem []uint64) Ref {
	if c.kind == Sorted {
		e, _ := c.behind(owner, elem)
		return e
	}
	e := c.First(owner)
	for e != 0 && !slices.Equal(c.Elem(e), elem) {
		e = c.Next(e)
	}
	return e
}

// insert makes the element with the given whole key and links it. The key is known to be absent.
func (c Collection) insert(owner Ref, key []uint64, tag uint32, group int32) Ref {
	m := c.elems
	m.reserve()
	e := Ref(m.appendRecord(key, tag, group) + 1)
	m.n++
	m.lay.live++
	c.place(owner, e)
	return e
}

// place gives an element that has no links yet its slot, or its place behind an equal one, and its neighbours.
func (c Collection) place(owner, e Ref) {
	m := c.elems
	tag, key := m.tag(uint32(e)-1), m.Key(e)
	if m.lay.short {
		before := c.Last(owner)
		if c.kind == Sorted {
			_, before = c.behind(owner, c.Elem(e))
		}
		c.chain(owner, before, e)
		return
	}
	first, dup := uint32(0), false
	if c.kind == List {
		_, first, dup = c.lookup(key[0], key[2:], tag)
	}
	if dup {
		head := c.links(Ref(first + 1))
		if tail := low(head[1]); tail != 0 {
			setHigh(&c.links(tail)[1], e)
		} else {
			setHigh(&head[1], e)
		}
		setLow(&head[1], e)
	} else {
		m.fillSlot(tag, uint32(e)-1)
	}
	if m.lay.loose {
		return
	}
	before := c.Last(owner)
	if c.kind == Sorted {
		before = c.plant(owner, e)
	}
	c.chain(owner, before, e)
}

// chain puts e behind the element before (0: to the front).
func (c Collection) chain(owner, before, e Ref) {
	ends := c.ends(owner)
	after := high(ends[0])
	if before != 0 {
		after = c.Next(before)
		setLow(&c.links(before)[0], e)
	} else {
		setHigh(&ends[0], e)
	}
	if after != 0 {
		setHigh(&c.links(after)[0], e)
	} else {
		setLow(&ends[0], e)
	}
	c.links(e)[0] = pair(before, after)
	ends[1]++
}

// Remove takes an element out. Remove moves nothing: Refs of other elements stay valid.
func (c Collection) Remove(owner, e Ref) {
	if c.elems.lay.loose {
		c.drop(e)
		return
	}
	if c.kind == Sorted && !c.elems.lay.short {
		c.uproot(owner, e)
	}
	ends, before, after := c.ends(owner), c.Prev(e), c.Next(e)
	if before != 0 {
		setLow(&c.links(before)[0], after)
	} else {
		setHigh(&ends[0], after)
	}
	if after != 0 {
		setHigh(&c.links(after)[0], before)
	} else {
		setLow(&ends[0], before)
	}
	ends[1]--
	c.drop(e)
}

// drop takes an element out of its slot, or out of the chain of equal elements, and kills it.
func (c Collection) drop(e Ref) {
	m := c.elems
	if m.lay.short {
		m.kill(uint32(e) - 1)
		return
	}
	key := m.Key(e)
	slot, first, ok := c.lookup(key[0], key[c.prefix():], m.tag(uint32(e)-1))
	if !ok {
		return
	}
	switch head := Ref(first + 1); {
	case c.kind == List && head == e:
		next, tail := high(c.links(e)[1]), low(c.links(e)[1])
		if next == 0 {
			m.unslot(slot)
			break
		}
		if next == tail {
			tail = 0
		}
		setLow(&c.links(next)[1], tail)
		m.slots[slot] = m.slots[slot]&^0xFFFFFFFF | uint64(next)
	case c.kind == List:
		before := head
		for high(c.links(before)[1]) != e {
			before = high(c.links(before)[1])
		}
		next := high(c.links(e)[1])
		setHigh(&c.links(before)[1], next)
		if next == 0 {
			if before == head {
				before = 0
			}
			setLow(&c.links(head)[1], before)
		}
	default:
		m.unslot(slot)
	}
	m.kill(uint32(e) - 1)
}

// Clear takes all elements out.
func (c Collection) Clear(owner Ref) {
	for e := c.First(owner); e != 0; {
		next := c.Next(e)
		c.drop(e)
		e = next
	}
	if c.elems.lay.loose {
		return
	}
	ends := c.ends(owner)
	ends[0], ends[1] = 0, 0
}
