package state

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// load restores a state from all former subtasks that had key groups of this one.
func (k *Keyed) load(s registered, d *Descriptor) error {
	k.claimed[d.Name] = true
	name := nameSum(d.Name)
	for i, sub := range k.restore.Subtasks {
		for _, h := range sub.States {
			if h.Descriptor.Name != d.Name {
				continue
			}
			if diff := d.Diff(h.Descriptor); len(diff) > 0 {
				return fmt.Errorf("what was saved does not fit: %s", strings.Join(diff, "; "))
			}
			for _, ref := range h.Blobs {
				if !k.groups.Overlaps(ref.groups()) {
					continue
				}
				if err := k.loadBlob(s, i, ref, name); err != nil {
					return fmt.Errorf("blob %d/%d of subtask %d: %w", ref.Checkpoint, ref.Seq, sub.Subtask, err)
				}
			}
		}
	}
	return s.loaded()
}

func (k *Keyed) loadBlob(s registered, subtask int, ref BlobRef, name uint32) error {
	sub := k.restore.Subtasks[subtask]
	data, err := sub.Blobs.Blob(ref)
	if err != nil {
		return err
	}
	b, err := openBlob(data)
	if err != nil {
		return err
	}
	if b.name != name {
		return errors.New("it belongs to another state")
	}
	b.subtask, b.from = subtask, sub.Groups
	return s.load(b, k.groups)
}

var errRecord = errors.New("record is damaged")

// encodedRecord is a record as it stands in a blob.
type encodedRecord struct {
	head  uint64
	key   []uint64
	vals  []uint64 // values and stamp; nil if the record is dead
	texts []string // by value; only those of kind Bytes are set
}

// recordReader walks over the words of a payload.
type recordReader struct {
	words    []uint64
	lay      *layout
	stamped  bool
	timeless bool // of rows of a log
	texts    []string
	buf      []byte
}

func newRecordReader(b blob, l *layout) (*recordReader, error) {
	if len(b.payload)%8 != 0 {
		return nil, errRecord
	}
	r := &recordReader{lay: l, stamped: b.flags&flagStamped != 0, timeless: b.flags&flagTimeless != 0,
		words: make([]uint64, len(b.payload)/8), texts: make([]string, len(l.values))}
	for i := range r.words {
		r.words[i] = binary.LittleEndian.Uint64(b.payload[8*i:])
	}
	return r, nil
}

func (r *recordReader) more() bool { return len(r.words) > 0 }

// word takes one word.
func (r *recordReader) word() (uint64, error) {
	if len(r.words) == 0 {
		return 0, errRecord
	}
	w := r.words[0]
	r.words = r.words[1:]
	return w, nil
}

// take takes n words.
func (r *recordReader) take(n uint64) ([]uint64, error) {
	if n > uint64(len(r.words)) {
		return nil, errRecord
	}
	w := r.words[:n]
	r.words = r.words[n:]
	return w, nil
}

// record takes one record. Nothing of it may be kept.
func (r *recordReader) record() (rec encodedRecord, err error) {
	if rec.head, err = r.word(); err != nil {
		return rec, err
	}
	n := rec.head >> wordsShift & 0xFF
	if n == longKey {
		if n, err = r.word(); err != nil {
			return rec, err
		}
	}
	if rec.key, err = r.take(n); err != nil || rec.head&deadFlag != 0 {
		return rec, err
	}
	vals := uint64(len(r.lay.values))
	if r.stamped {
		vals++
	}
	if rec.vals, err = r.take(vals); err != nil {
		return rec, err
	}
	rec.texts = r.texts
	for _, i := range r.lay.bytes {
		r.texts[i] = ""
		if rec.vals[i] != 0 {
			if r.texts[i], err = r.text(rec.vals[i]); err != nil {
				return rec, err
			}
		}
	}
	return rec, nil
}

// text takes a text; w is its length plus one.
func (r *recordReader) text(w uint64) (string, error) {
	n := w - 1
	if w == 0 {
		return "", errRecord
	}
	words, err := r.take(n/8 + (n%8+7)/8)
	if err != nil {
		return "", err
	}
	r.buf = appendWords(r.buf[:0], words)
	return string(r.buf[:n]), nil
}

// loading switches the tracking of changes off while a state is restored, and on again.
func (l *layout) loading(on bool) {
	l.track, l.loads, l.cur = !on, on, 1
	if on {
		l.cur = 0
	}
}

// apply brings a record of a base or delta into the map. Links between records are made later.
func (m *Map) apply(rec encodedRecord, stamped bool) {
	tag := uint32(rec.head >> 32)
	slot, o, ok := m.lookup(rec.key, tag)
	if rec.head&deadFlag != 0 {
		if ok {
			m.unslot(slot)
			m.kill(o)
		}
		return
	}
	if !ok {
		o = m.insert(rec.key, tag, rec.group())
	}
	values := m.values(o)
	for i, val := range m.lay.values {
		if w := &values[i]; val.Kind == Bytes {
			m.applyText(w, rec.vals[i] != 0, rec.texts[i])
		} else {
			*w = rec.vals[i]
		}
	}
	if m.lay.ttl > 0 && stamped {
		values[len(m.lay.values)] = rec.vals[len(m.lay.values)]
	}
}

func (m *Map) applyText(w *uint64, set bool, text string) {
	m.needText()
	m.text.free(*w)
	*w = 0
	if set {
		*w = m.text.put(text)
	}
}

func (r encodedRecord) group() int32 { return int32(r.head >> groupShift & 0xFFFF) }

// link makes the links of all collections of a restored map, and the counter of their numbers.
func (m *Map) link() error {
	for value, kid := range m.lay.kidOf {
		if kid < 0 || m.kids == nil || m.kids[kid] == nil {
			continue
		}
		owners := map[uint64]Ref{}
		for o := uint32(0); m.recs.has(o); o = m.next(o) {
			if id := m.values(o)[value]; m.alive(o) && id != 0 {
				owners[id] = Ref(o + 1)
				m.nextID = max(m.nextID, id>>groupShift)
			}
		}
		if err := m.Collection(value).link(owners); err != nil {
			return err
		}
	}
	return nil
}

// link makes the links of all elements, which are there in their order.
func (c Collection) link(owners map[uint64]Ref) error {
	m := c.elems
	clear(m.slots)
	for e := m.First(); e != 0; e = m.Next(e) {
		key := m.Key(e)
		if len(key) < c.prefix() {
			return errRecord
		}
		if c.kind == List {
			c.up.nextID = max(c.up.nextID, key[1])
		}
		owner := owners[key[0]]
		if owner == 0 {
			return fmt.Errorf("an element of value %d belongs to no record", c.value+1)
		}
		c.place(owner, e)
	}
	if m.lay.short {
		m.slots = nil
	}
	return nil
}

// load brings one blob in.
func (t *Table) load(b blob, keep Range) error {
	if int(b.part) > len(t.lay.kids) {
		return fmt.Errorf("there is no part %d", b.part)
	}
	l := t.lay
	if b.part > 0 {
		l = t.lay.kids[b.part-1]
	}
	t.lay.each(func(l *layout) { l.loading(true) })
	defer t.lay.each(func(l *layout) { l.loading(false) })
	r, err := newRecordReader(b, l)
	if err != nil {
		return err
	}
	for r.more() {
		rec, err := r.record()
		if err != nil {
			return err
		}
		if g := rec.group(); keep.Has(g) {
			t.Of(g).partOf(int(b.part)).apply(rec, r.stamped)
		}
	}
	return nil
}

func (t *Table) loaded() error {
	t.lay.each(func(l *layout) { l.loading(true) })
	defer t.lay.each(func(l *layout) { l.loading(false) })
	for _, m := range t.groups {
		if m == nil {
			continue
		}
		if err := m.link(); err != nil {
			return err
		}
		if t.onLoad != nil {
			if err := t.onLoad(m); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Slices) load(b blob, keep Range) error {
	if int(b.part) > len(s.lay.kids) {
		return fmt.Errorf("there is no part %d", b.part)
	}
	l := s.lay
	if b.part > 0 {
		l = s.lay.kids[b.part-1]
	}
	s.lay.each(func(l *layout) { l.loading(true) })
	defer s.lay.each(func(l *layout) { l.loading(false) })
	r, err := newRecordReader(b, l)
	if err != nil {
		return err
	}
	for r.more() {
		time, err := r.word()
		if err != nil {
			return err
		}
		if len(r.words) > 0 && r.words[0] == dropFlag {
			r.words = r.words[1:]
			s.dropRestored(int64(time), int(b.part), b.from)
			continue
		}
		rec, err := r.record()
		if err != nil {
			return err
		}
		if keep.Has(rec.group()) {
			s.Open(int64(time)).partOf(int(b.part)).apply(rec, false)
		}
	}
	return nil
}
