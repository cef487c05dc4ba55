package state

import (
	"encoding/binary"
	"slices"
)

// A log has two parts in a checkpoint. Rows never change: every chunk is written once, or in pieces while it fills. Side
// words and deletions are a chain of base and deltas like that of a table, the records named by row.
const (
	partRows   = 0 // as they were written before rows were packed
	partSide   = 1
	partPacked = 2

	maxPieces = 4 // a chunk of more pieces is written anew
)

// logSnap is what a log keeps for checkpoints.
type logSnap struct {
	lay    layout // only the marks and the last freeze
	rolled uint32
	unit   unit // of the side words
	off    bool // nothing is tracked: a restore is going on

	draining bool
	records  int64
	end      Row // rows from here on came after the freeze
	held     map[uint64]*chunk
	chunk    uint64 // the chunk being drained
	at       int    // and the row in it
	rowsDone bool
	refs     BlobRefs // of all chunks drained

	dirty []Row
	list  []Row
	base  bool
	side  int            // next of list
	walk  Row            // base: rows below were drained
	early map[Row]uint64 // records that were encoded early, and where in saved
	saved wordChunks
}

// chunkSave says where the rows of a chunk are stored.
type chunkSave struct {
	refs BlobRefs // known to be stored
	rows int      // that these hold, dead ones included
	// Of the checkpoint that was drained last.
	ckpt  int64
	open  BlobRefs
	upTo  int
	whole bool
}

// resolve settles what became of the checkpoint drained last.
func (s *chunkSave) resolve(done int64) {
	if s.ckpt != 0 && s.ckpt == done {
		if s.whole {
			s.refs = nil
		}
		s.refs = append(s.refs[:len(s.refs):len(s.refs)], s.open...)
		s.rows = s.upTo
	}
	s.ckpt, s.open = 0, nil
}

func (l *Log) frozen(Freeze) {
	s := &l.snap
	s.draining, s.records, s.end = true, int64(l.rows), l.nextRow()
	s.held, s.chunk, s.at, s.rowsDone, s.refs = nil, l.base, 0, false, nil
}

// nextRow is the name of the row that the open chunk takes next; without one, that of the first row of the next chunk.
func (l *Log) nextRow() Row {
	if l.last == nil {
		return Row((l.base+uint64(len(l.dir)))<<chunkBits) + 1
	}
	return Row(l.last.number<<chunkBits+uint64(l.last.n)) + 1
}

// arrange follows a freeze for the side words, at their first write or when the drain comes to them.
func (l *Log) arrange() {
	s := &l.snap
	if s.rolled == s.lay.freeze {
		return
	}
	s.rolled = s.lay.freeze
	s.unit.resolve(&s.lay)
	var left []Row
	if !s.unit.stored {
		left = s.list
	}
	if len(left) > 2*(l.rows+minDirty) {
		s.unit.lost = true // the next checkpoint writes everything
	}
	for _, r := range left {
		if rec := l.rec(r); rec != nil && rec[rowHead]&markMask == 0 {
			rec[rowHead] |= s.lay.closed
		}
	}
	s.list, s.dirty = append(left, s.dirty...), nil
	s.base = s.unit.asBase && (s.unit.wasLost || s.lay.full || len(s.unit.chain) > 0)
	s.side, s.walk, s.early, s.saved = 0, 0, nil, wordChunks{}
}

// touch notes that side words are about to be written, or a row to die.
func (l *Log) touch(r Row, c *chunk, rec []uint64) {
	s := &l.snap
	if rec[rowHead]&markMask == s.lay.cur || s.off {
		return
	}
	l.arrange()
	if s.draining {
		l.early(r, c, rec)
	}
	rec[rowHead] = rec[rowHead]&^markMask | s.lay.cur
	switch {
	case s.unit.lost:
	case len(s.dirty) >= l.rows+minDirty:
		s.unit.lost, s.dirty = true, nil
	default:
		s.dirty = append(s.dirty, r)
	}
}

// early encodes the side words of a row that is waiting to be drained, because they or the row are about to go.
func (l *Log) early(r Row, c *chunk, rec []uint64) {
	l.arrange()
	s := &l.snap
	mark := rec[rowHead] & markMask
	if s.base {
		if r < s.walk || r >= s.end || mark == s.lay.cur || !c.form.sided(rec) {
			return
		}
	} else if mark != s.lay.closed {
		return
	}
	if s.early == nil {
		s.early = map[Row]uint64{}
	}
	if _, ok := s.early[r]; !ok {
		l.scratch = l.encodeSide(l.scratch[:0], r, c, rec)
		s.early[r] = s.saved.put(l.scratch)
	}
	rec[rowHead] &^= markMask
}

// sided reports whether a row has something to say beside its columns.
func (f *rowForm) sided(rec []uint64) bool {
	if rec[rowHead]&deadFlag != 0 {
		return true
	}
	for _, w := range rec[f.side:f.stamp] {
		if w != 0 {
			return true
		}
	}
	return false
}

// encodeSide appends the key group, which is not part of the record, and the record: the row, the dead flag or 0, and
// the side words and the stamp of a row that is alive.
func (l *Log) encodeSide(dst []uint64, r Row, c *chunk, rec []uint64) []uint64 {
	group := c.groups[c.indexFrom(uint64(r-1)&(chunkRows-1))]
	dst = append(dst, uint64(group), uint64(r), rec[rowHead]&deadFlag)
	if rec[rowHead]&deadFlag != 0 {
		return dst
	}
	return append(dst, rec[c.form.side:]...)
}

// replaced keeps a chunk that is about to be replaced or dropped as it is for the drain.
func (l *Log) replaced(c *chunk) {
	s := &l.snap
	if !s.draining || Row(c.number<<chunkBits)+1 >= s.end || s.rowsDone || c.number < s.chunk {
		return
	}
	if s.held == nil {
		s.held = map[uint64]*chunk{}
	}
	if s.held[c.number] == nil {
		s.held[c.number] = c
	}
}

func (l *Log) drain(w *blobWriter, budget int) (left int, done bool, err error) {
	s := &l.snap
	l.arrange()
	for !s.rowsDone && budget > 0 {
		if budget, err = l.drainChunk(w, budget-1); err != nil {
			return 0, false, err
		}
	}
	if !s.rowsDone || budget <= 0 {
		return 0, false, nil
	}
	if !w.begun() {
		w.begin(nameSum(l.desc.Name), partSide, l.flags(), s.unit.add, 8*len(s.list)*(3+l.form.stride-l.form.side))
	}
	for ; budget > 0; budget-- {
		rec, more := l.nextSide(w.words[:0])
		w.words = rec
		if !more {
			s.draining, s.early, s.saved = false, nil, wordChunks{}
			return budget, true, w.end()
		}
		if err := w.record(int32(rec[0]), rec[1:]); err != nil {
			return 0, false, err
		}
	}
	return 0, false, nil
}

func (l *Log) flags() (flags uint8) {
	if l.spec.TTL > 0 {
		flags |= flagStamped
	}
	if l.spec.Timeless {
		flags |= flagTimeless
	}
	return flags
}

// frozenChunk gives a chunk as it was at the freeze, and how many of its rows existed; nil if it was gone.
func (l *Log) frozenChunk(number uint64) (*chunk, int) {
	s := &l.snap
	c := s.held[number]
	if c == nil {
		if number < l.base || number-l.base >= uint64(len(l.dir)) {
			return nil, 0
		}
		c = l.dir[number-l.base]
	}
	if c == nil {
		return nil, 0
	}
	n := c.n
	if c.name(max(n, 1)-1) >= s.end && c.nums == nil {
		n = int(uint64(s.end-1) - number<<chunkBits)
	}
	return c, n
}

// drainChunk drains up to budget rows of the chunk whose turn it is.
func (l *Log) drainChunk(w *blobWriter, budget int) (int, error) {
	s := &l.snap
	if Row(s.chunk<<chunkBits)+1 >= s.end {
		s.rowsDone, s.held = true, nil
		return budget, nil
	}
	c, n := l.frozenChunk(s.chunk)
	if c == nil {
		s.chunk++
		return budget, nil
	}
	if !w.begun() {
		s.at = l.beginChunk(w, c, n)
	}
	for ; s.at < n && budget > 0; s.at++ {
		rec := c.nth(s.at)
		if h := rec[rowHead]; h&deadFlag != 0 && (h&markMask != s.lay.cur) {
			continue // dead at the freeze
		}
		if w.records == 0 {
			w.words = c.encodeBase(w.words[:0])
			if err := w.recordAll(w.words); err != nil {
				return 0, err
			}
		}
		packed := c.packedNth(s.at)
		w.words = l.encodeHead(w.words[:0], c, s.at, len(packed))
		budget -= cost(w.words) + len(packed)/8
		if err := w.packedRecord(int32(c.groups[s.at]), w.words, packed); err != nil {
			return 0, err
		}
	}
	if s.at < n {
		return min(budget, 0), nil
	}
	if err := w.end(); err != nil {
		return 0, err
	}
	if !c.saved.whole {
		s.refs = append(s.refs, c.saved.refs...)
	}
	s.refs = append(s.refs, c.saved.open...)
	s.chunk++
	return budget, nil
}

// beginChunk decides which rows of a chunk are to be written and gives the first.
func (l *Log) beginChunk(w *blobWriter, c *chunk, n int) (from int) {
	s, save := &l.snap, &c.saved
	save.resolve(s.lay.done)
	save.ckpt, save.upTo, save.whole = s.lay.ckpt, n, s.lay.full || len(save.refs) >= maxPieces && save.rows < n
	if s.lay.full {
		save.ckpt = 0
	}
	if !save.whole {
		from = save.rows
	}
	w.begin(nameSum(l.desc.Name), partPacked, l.flags(), func(r BlobRef) { save.open = append(save.open, r) },
		(8*(c.stride+1)+c.packed/c.n)*(n-from))
	return from
}

// Records of packed rows. In front of those of a chunk stands what they are packed against:
//
//	word     the number of words that follow
//	chunk    its number
//	keys     how many key columns are packed first
//	columns  two words for each, as they are packed: its number, and the base
//
// A row is a word, its time if the log has times, its stamp if rows have a time to live, and the packed values, padded. The word is
// the low half of the row's name, the key group (16 bits), and the length of what is packed (16 bits, never 0; longRow:
// it stands in the next word).

// encodeBase appends the record in front of the rows of a chunk.
func (c *chunk) encodeBase(dst []uint64) []uint64 {
	f := c.form
	dst = append(dst, uint64(2+2*len(f.order)), c.number, uint64(len(f.key)))
	for _, j := range f.order {
		dst = append(dst, uint64(j), uint64(c.base[j]))
	}
	return dst
}

// encodeHead appends what stands in front of the packed values of the row at index i.
func (l *Log) encodeHead(dst []uint64, c *chunk, i, size int) []uint64 {
	rec, f := c.nth(i), c.form
	dst = append(dst, uint64(uint32(c.name(i)))|uint64(c.groups[i])<<32|uint64(min(size, longRow))<<48)
	if size >= longRow {
		dst = append(dst, uint64(size))
	}
	if f.time >= 0 {
		dst = append(dst, rec[f.time])
	}
	if l.spec.TTL > 0 {
		dst = append(dst, rec[f.stamp])
	}
	return dst
}

// packedRecord adds the record of a packed row.
func (w *blobWriter) packedRecord(group int32, head []uint64, row []byte) error {
	padded := (len(row) + 7) &^ 7
	if err := w.fit(8*len(head) + padded); err != nil {
		return err
	}
	w.buf = appendWords(w.buf, head)
	n := len(w.buf)
	w.buf = slices.Grow(w.buf, padded)[:n+padded]
	if padded > 0 {
		binary.LittleEndian.PutUint64(w.buf[n+padded-8:], 0)
	}
	copy(w.buf[n:], row)
	return w.count(group)
}

// nextSide appends the next record of side words with its key group in front.
func (l *Log) nextSide(dst []uint64) (_ []uint64, more bool) {
	s := &l.snap
	if s.base {
		if dst, more = l.nextWalked(dst); more {
			return dst, true
		}
	}
	for !s.base && s.side < len(s.list) {
		r := s.list[s.side]
		s.side++
		if out, ok := l.takeEarly(dst, r); ok {
			return out, true
		}
		if c, rec := l.row(r); rec != nil && rec[rowHead]&markMask == s.lay.closed {
			rec[rowHead] &^= markMask
			return l.encodeSide(dst, r, c, rec), true
		}
	}
	for r := range s.early { // of rows that are gone
		return l.takeEarly(dst, r)
	}
	return dst, false
}

func (l *Log) takeEarly(dst []uint64, r Row) ([]uint64, bool) {
	s := &l.snap
	i, ok := s.early[r]
	if !ok {
		return dst, false
	}
	delete(s.early, r)
	return append(dst, s.saved.get(i)...), true
}

// nextWalked is nextSide over all rows.
func (l *Log) nextWalked(dst []uint64) ([]uint64, bool) {
	s := &l.snap
	if s.walk == 0 {
		s.walk = Row(l.base<<chunkBits) + 1
	}
	for s.walk < s.end {
		number := uint64(s.walk-1) >> chunkBits
		var c *chunk
		if number >= l.base && number-l.base < uint64(len(l.dir)) {
			c = l.dir[number-l.base]
		}
		i := c.indexFrom(uint64(s.walk-1) & (chunkRows - 1))
		if c == nil || i >= c.n {
			s.walk = Row((number+1)<<chunkBits) + 1
			continue
		}
		r, rec := c.name(i), c.nth(i)
		s.walk = r + 1
		if r >= s.end {
			break
		}
		if out, ok := l.takeEarly(dst, r); ok {
			return out, true
		}
		if rec[rowHead]&markMask == s.lay.cur {
			continue
		}
		rec[rowHead] &^= markMask
		if c.form.sided(rec) {
			return l.encodeSide(dst, r, c, rec), true
		}
	}
	return dst, false
}

func (l *Log) abort() {
	s := &l.snap
	if !s.draining {
		return
	}
	l.arrange()
	s.draining, s.early, s.saved, s.held = false, nil, wordChunks{}, nil
	clean := func(rec []uint64) {
		if rec != nil && rec[rowHead]&markMask == s.lay.closed {
			rec[rowHead] &^= markMask
		}
	}
	for _, r := range s.list {
		clean(l.rec(r))
	}
	if s.unit.wasLost {
		for _, c := range l.dir {
			for i := 0; c != nil && i < c.n; i++ {
				clean(c.nth(i))
			}
		}
	}
}

func (l *Log) handle() StateHandle {
	s := &l.snap
	return StateHandle{Descriptor: l.desc, Records: s.records, Blobs: s.unit.refs(append(BlobRefs(nil), s.refs...))}
}
