package state

import "math/bits"

// Ref names a record of a Map. It stays valid until the next Upsert (or Collection.Add) on the same Map; 0 is none.
// Delete moves nothing. Only records that follow deleted ones are ever moved: as long as nothing is deleted from a Map
// (by a TTL either), Refs stay valid over Upserts too.
type Ref uint32

// The header word of a record: tag (32 bits), key group (16), words of the key (8), flags (8).
const (
	markMask   = 3 // the epoch of the last write: clean, or one of the two alternating marks
	deadFlag   = 4
	keepFlag   = 8    // set on dead records that a compaction must keep
	longKey    = 0xFF // the number of key words stands in the word behind the header
	groupShift = 16
	wordsShift = 8
)

// Map is a hash table from keys to records: the part of a Table that belongs to one key group, one open slice of
// Slices, or the elements of all collections of such a part.
//
// Slots of eight bytes hold tag and offset; the record, key included, lies in one arena in the order of insertion. The
// home slot is made of the tag's high bits, so that neither growing nor deleting looks at records.
type Map struct {
	slots  []uint64 // what lookups need comes first
	recs   recArena
	shift  uint8
	lay    *layout
	text   *byteArena
	kids   []*Map
	owner  *Map   // the map whose records own these elements; nil unless this is a kid
	value  int    // which value of the owner
	n      int    // live records
	dead   int    // words of dead records
	full   int    // words from which on it may pay to compact
	moves  uint32 // counts compactions
	nextID uint64
	given  bool // some record was given to a checkpoint

	// What checkpoints need to know, see touch.go.
	freeze uint32 // the freeze that dirty and closed were last arranged for
	dirty  []uint32
	snap   *mapSnap
	unit   *unit
}

func newMap(l *layout) *Map { return &Map{lay: l} }

// NewMap makes a map that is no part of any checkpoint, for scratch work such as merging slices or mini-batches.
func NewMap(values []Value) *Map { return newMap(newLayout(values, 0, &clock{}, false)) }

func (m *Map) unitSpread() int {
	if m.unit == nil {
		return 0
	}
	return m.unit.spread
}

// Len is the number of live records. Records that have expired but were not looked at since still count.
func (m *Map) Len() int { return m.n }

// keyIn gives the place of the key in a record, and the number of its words.
func keyIn(rec []uint64) (at, n uint32) {
	n = uint32(rec[0]>>wordsShift) & 0xFF
	if n == longKey {
		return 2, uint32(rec[1])
	}
	return 1, n
}

// key gives the key of the record at o.
func (m *Map) key(o uint32) []uint64 {
	rec := m.recs.at(o)
	at, n := keyIn(rec)
	return rec[at : at+n : at+n]
}

// size is the number of words of the record at o.
func (m *Map) size(o uint32) uint32 {
	at, n := keyIn(m.recs.at(o))
	return at + n + uint32(m.lay.vals+m.lay.hidden)
}

// next is the offset behind the record at o.
func (m *Map) next(o uint32) uint32 { return m.recs.next(o, m.size(o)) }

// values gives the values of the record at o, its stamp and its hidden words.
func (m *Map) values(o uint32) []uint64 {
	rec := m.recs.at(o)
	at, n := keyIn(rec)
	return rec[at+n : at+n+uint32(m.lay.vals+m.lay.hidden)]
}

func (m *Map) same(o uint32, key []uint64) bool {
	rec := m.recs.at(o)
	at, n := keyIn(rec)
	if int(n) != len(key) {
		return false
	}
	for i, w := range rec[at : at+n] {
		if w != key[i] {
			return false
		}
	}
	return true
}

// lookup gives the slot and the offset of a key's record.
func (m *Map) lookup(key []uint64, tag uint32) (slot uint32, o uint32, ok bool) {
	if len(key) == 1 {
		return m.lookupWord(key[0], tag)
	}
	return m.lookupWords(key, tag)
}

func (m *Map) lookupWords(key []uint64, tag uint32) (slot uint32, o uint32, ok bool) {
	if len(m.slots) == 0 {
		return 0, 0, false
	}
	mask := uint32(len(m.slots) - 1)
	for p := tag >> m.shift; ; p = (p + 1) & mask {
		s := m.slots[p]
		if s == 0 {
			return p, 0, false
		}
		if uint32(s>>32) == tag {
			if o := uint32(s) - 1; m.same(o, key) {
				return p, o, true
			}
		}
	}
}

// lookupWord is lookup for the commonest keys, those of one word.
func (m *Map) lookupWord(key uint64, tag uint32) (slot uint32, o uint32, ok bool) {
	slots := m.slots
	if len(slots) == 0 {
		return 0, 0, false
	}
	mask := uint32(len(slots) - 1)
	for p := tag >> (m.shift & 31); ; p++ {
		p &= mask
		s := slots[p]
		if s == 0 {
			return p, 0, false
		}
		if uint32(s>>32) != tag {
			continue
		}
		o := uint32(s) - 1
		if m.isWord(o, key) {
			return p, o, true
		}
	}
}

// isWord reports whether the record at o has the key of one word.
func (m *Map) isWord(o uint32, key uint64) bool {
	c, i := m.recs.chunk(o)
	return i+1 < len(c) && c[i+1] == key && c[i]>>wordsShift&0xFF == 1
}

// Find gives the record of a key, 0 if there is none. An expired record is deleted and not found.
func (m *Map) Find(k Key) Ref {
	slot, o, ok := m.lookup(k.Words, tagOf(k.Hash))
	if !ok {
		return 0
	}
	if m.lay.ttl > 0 && m.expired(o) {
		m.remove(slot, o)
		return 0
	}
	return Ref(o + 1)
}

func (m *Map) expired(o uint32) bool {
	stamp := m.values(o)[len(m.lay.values)]
	return int64(stamp)+m.lay.ttl <= m.lay.clock.now
}

// Upsert gives the record of a key and makes one with zero values if there is none. A new record counts as written.
func (m *Map) Upsert(k Key) (r Ref, inserted bool) {
	tag := tagOf(k.Hash)
	slot, o, ok := m.lookup(k.Words, tag)
	if ok {
		if m.lay.ttl == 0 || !m.expired(o) {
			return Ref(o + 1), false
		}
		m.remove(slot, o)
	}
	return Ref(m.insert(k.Words, tag, k.Group) + 1), true
}

// insert appends a record and its slot; the key is known to be absent.
func (m *Map) insert(key []uint64, tag uint32, group int32) uint32 {
	m.reserve()
	o := m.appendRecord(key, tag, group)
	m.fillSlot(tag, o)
	m.n++
	m.lay.live++
	return o
}

// fillSlot gives the record at o a slot.
func (m *Map) fillSlot(tag, o uint32) {
	mask := uint32(len(m.slots) - 1)
	p := tag >> m.shift
	for m.slots[p] != 0 {
		p = (p + 1) & mask
	}
	m.slots[p] = uint64(tag)<<32 | uint64(o+1)
}

// reserve makes room for one more record.
func (m *Map) reserve() {
	if m.Cramped() {
		m.compact()
	}
	if m.text != nil && m.text.wasteful() {
		m.compactText()
	}
	if m.n*4 >= len(m.slots)*3 && (!m.lay.short || m.lay.loads) {
		m.grow()
	}
}

// Cramped reports whether the next insertion of a record moves others.
func (m *Map) Cramped() bool {
	return m.dead > minCompact && m.dead > m.recs.words/2+m.relinkCost() && m.recs.words >= m.full
}

// Moves changes whenever records of the map are moved: a Ref is valid as long as it stays the same and the record is there.
func (m *Map) Moves() uint32 { return m.moves }

// minCompact is the number of dead words below which a map is not compacted.
const minCompact = 128

// relinkCost is the part of a compaction's work that does not depend on the map's own size, in words.
func (m *Map) relinkCost() int {
	if m.owner == nil {
		return 0
	}
	return m.owner.recs.words / 4
}

func (m *Map) grow() {
	n := max(16, 2*len(m.slots))
	slots := allocWords(n)
	shift := uint8(32 - bits.Len(uint(n-1)))
	mask := uint32(n - 1)
	for _, s := range m.slots {
		if s == 0 {
			continue
		}
		p := uint32(s>>32) >> shift
		for slots[p] != 0 {
			p = (p + 1) & mask
		}
		slots[p] = s
	}
	m.slots, m.shift = slots, shift
}

// appendRecord adds a zeroed record to the arena and marks it as written.
func (m *Map) appendRecord(key []uint64, tag uint32, group int32) uint32 {
	l := m.lay
	n := 1 + len(key) + l.vals + l.hidden
	kw := uint64(len(key))
	if len(key) >= longKey {
		kw, n = longKey, n+1
	}
	o, rec := m.recs.add(n)
	rec[0] = uint64(tag)<<32 | uint64(uint16(group))<<groupShift | kw<<wordsShift
	at := 1
	if kw == longKey {
		rec[1] = uint64(len(key))
		at = 2
	}
	copy(rec[at:], key)
	clear(rec[at+len(key):])
	if l.ttl > 0 {
		rec[at+len(key)+len(l.values)] = uint64(l.clock.now)
	}
	m.born(o)
	return o
}

// Get gives the values of a record, to read. The slice is valid until the next Upsert.
func (m *Map) Get(r Ref) []uint64 {
	return m.values(uint32(r) - 1)[:len(m.lay.values)]
}

// Touch gives the values of a record, to write, and renews its TTL stamp. Every change goes through it.
func (m *Map) Touch(r Ref) []uint64 {
	o := uint32(r) - 1
	c, i := m.recs.chunk(o)
	h := c[i]
	if h&markMask != m.lay.cur {
		m.touch(o)
	}
	v, n := i+1+int(h>>wordsShift&0xFF), len(m.lay.values)
	if h>>wordsShift&0xFF == longKey {
		v = i + 2 + int(c[i+1])
	}
	if m.lay.ttl > 0 {
		c[v+n] = uint64(m.lay.clock.now)
	}
	return c[v : v+n : v+n]
}

// Key gives the words of a record's key, valid until the next Upsert.
func (m *Map) Key(r Ref) []uint64 { return m.key(uint32(r) - 1) }

// Group gives the key group of a record.
func (m *Map) Group(r Ref) int32 { return m.group(uint32(r) - 1) }

// tag is the tag of the record at o.
func (m *Map) tag(o uint32) uint32 { return uint32(m.recs.at(o)[0] >> 32) }

// alive reports whether the record at o was not deleted.
func (m *Map) alive(o uint32) bool { return m.recs.at(o)[0]&deadFlag == 0 }

func (m *Map) group(o uint32) int32 { return int32(m.recs.at(o)[0] >> groupShift & 0xFFFF) }

// Delete removes a record with everything that hangs off it.
func (m *Map) Delete(r Ref) {
	o := uint32(r) - 1
	tag := m.tag(o)
	mask := uint32(len(m.slots) - 1)
	for p := tag >> m.shift; ; p = (p + 1) & mask {
		if uint32(m.slots[p]) == uint32(r) {
			m.remove(p, o)
			return
		}
		if m.slots[p] == 0 {
			return
		}
	}
}

// remove takes the record at o out of its slot and marks it dead.
func (m *Map) remove(slot, o uint32) {
	for i, kid := range m.lay.kidOf {
		if kid >= 0 {
			m.Collection(i).Clear(Ref(o + 1))
		}
	}
	m.unslot(slot)
	m.kill(o)
}

// unslot empties a slot and shifts the ones behind it back towards their homes.
func (m *Map) unslot(p uint32) {
	mask := uint32(len(m.slots) - 1)
	for q := (p + 1) & mask; ; q = (q + 1) & mask {
		s := m.slots[q]
		if s == 0 {
			break
		}
		home := uint32(s>>32) >> m.shift
		if (q-home)&mask >= (q-p)&mask {
			m.slots[p] = s
			p = q
		}
	}
	m.slots[p] = 0
}

// kill marks a record that no slot names any more as dead.
func (m *Map) kill(o uint32) {
	head := &m.recs.at(o)[0]
	if *head&markMask != m.lay.cur {
		m.touch(o)
	}
	if m.text != nil {
		values := m.values(o)
		for _, i := range m.lay.bytes {
			m.text.free(values[i])
			values[i] = 0
		}
	}
	*head |= deadFlag
	m.n--
	m.lay.live--
	m.dead += int(m.size(o))
}

// First gives the oldest live record, 0 if there is none; Next the one inserted after r. Records come in the order of
// insertion. Deleting records on the way is allowed, inserting is not.
func (m *Map) First() Ref { return m.liveFrom(0) }

// Next gives the live record after r, 0 at the end.
func (m *Map) Next(r Ref) Ref { return m.liveFrom(m.next(uint32(r) - 1)) }

func (m *Map) liveFrom(o uint32) Ref {
	for ; m.recs.has(o); o = m.next(o) {
		if m.alive(o) && (m.lay.ttl == 0 || !m.expired(o)) {
			return Ref(o + 1)
		}
	}
	return 0
}

// Bytes gives the byte string of a value, without copying; it never changes, unless the value says Reuse. ok is false if none
// was put.
func (m *Map) Bytes(r Ref, value int) (s string, ok bool) {
	ref := m.values(uint32(r) - 1)[value]
	if ref == 0 {
		return "", false
	}
	return m.text.get(ref), true
}

// PutBytes sets the byte string of a value to a copy of s.
func (m *Map) PutBytes(r Ref, value int, s string) {
	m.needText()
	w := &m.Touch(r)[value]
	m.text.free(*w)
	*w = m.text.put(s)
	if m.text.wasteful() {
		m.compactText()
	}
}

// needText makes the arena of byte strings if there is none.
func (m *Map) needText() {
	if m.text == nil {
		m.text = &byteArena{reuse: m.lay.reuse}
	}
}

// FreeBytes takes the byte string of a value away.
func (m *Map) FreeBytes(r Ref, value int) {
	if w := &m.Touch(r)[value]; *w != 0 {
		m.text.free(*w)
		*w = 0
	}
}

// Reset empties the map. Memory of moderate size is kept for its next use.
func (m *Map) Reset() {
	clear(m.slots)
	m.lay.live -= m.n
	m.recs.reset()
	m.text = nil // strings that were handed out keep the old bytes
	m.n, m.dead, m.full, m.nextID = 0, 0, 0, 0
	m.dirty, m.snap, m.given = m.dirty[:0], nil, false
	for _, k := range m.kids {
		if k != nil {
			k.Reset()
		}
	}
}

// uncount takes the map's records out of the count, as the map is about to be given up.
func (m *Map) uncount() {
	m.lay.live -= m.n
	for _, k := range m.kids {
		if k != nil {
			k.uncount()
		}
	}
}

// Memory is what the map holds, in bytes.
func (m *Map) Memory() int {
	n := 8*cap(m.slots) + m.recs.size() + 4*cap(m.dirty)
	if m.snap != nil {
		n += 4 * cap(m.snap.list)
	}
	if m.text != nil {
		n += m.text.size()
	}
	for _, k := range m.kids {
		if k != nil {
			n += k.Memory()
		}
	}
	return n
}
