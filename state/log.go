package state

import (
	"slices"
	"time"

	"runnel/types"
)

// LogSpec is the form of a log's rows.
type LogSpec struct {
	Columns []types.Type
	// Key names the columns, if any, of which the keys are made, as far as these are integers: where the words of a key are
	// their values, rows do not keep the key.
	Key []int
	// Side is the number of mutable words beside every row: a matched flag, a count of associations.
	Side int
	// TTL is the time to live since the last write of a row (Append, Touch), in processing time; 0: for ever.
	TTL time.Duration
	// Timeless rows stay until they are deleted or expire: their time is 0, and takes no space.
	Timeless bool
	// Ordered logs give the rows that leave in the order of their times (Leave).
	Ordered bool
	// Unkeyed logs are not asked for the rows of a key (Newest, Prev): the key says where rows go when they are restored.
	Unkeyed bool
	// Span is the time, in ms, after which a chunk is closed though it is not full, so that sparse rows go in time; about
	// a quarter of how long rows are kept is good. 0: never.
	Span int64
}

// Row names a row of a Log for as long as it is there; 0 is none.
type Row uint64

// Log is a keyed state of rows that are only ever appended, each with a time, and found by key: newest first, by
// Newest and Prev. Beside its columns, which never change, a row has side words that do.
//
// Rows lie in chunks, one after the other. A chunk goes as a whole when its greatest time has passed (Clean); when most
// of its rows are gone before, what is left moves to a smaller one. The rows of a key are chained both ways.
type Log struct {
	desc    Descriptor
	spec    LogSpec
	form    *rowForm
	clock   *clock
	first   int32      // key group
	index   []rowIndex // by key group
	finder  logFinder
	dir     []*chunk
	base    uint64 // number of the first chunk in dir
	last    *chunk // being filled; nil: the next row opens one
	rows    int    // that are there
	next    int64  // no chunk has anything to do for Clean below this time
	free    [][]uint64
	leave   []Leaving
	scratch []uint64
	swept   uint64 // chunk and index where Sweep goes on
	snap    logSnap

	loading *logLoad
}

const (
	chunkBits = 12
	chunkRows = 1 << chunkBits
)

// Log registers a log, and restores it if the Keyed was made to restore.
func (k *Keyed) Log(d Descriptor, spec LogSpec) (*Log, error) {
	l := &Log{desc: d, spec: spec, clock: k.clock, form: newRowForm(spec), next: noTime,
		first: k.groups.First, index: make([]rowIndex, k.groups.Len())}
	l.desc.Kind, l.desc.Layout = "log", l.form.text()
	l.snap.lay.cur, l.snap.lay.closed = 1, 2
	if err := k.register(l); err != nil {
		return nil, err
	}
	return l, nil
}

// Len is the number of rows.
func (l *Log) Len() int { return l.rows }

// Append adds row i of cols, one column per column of the log, with its key and time (ms).
func (l *Log) Append(k Key, time int64, cols []*types.Column, i int32) Row {
	row, rec := l.lay(k, time, cols, i)
	if !l.spec.Unkeyed {
		l.link(k, rec, row)
	}
	return row
}

// link makes a row the newest of its key.
func (l *Log) link(k Key, rec []uint64, row Row) {
	x, slot, prev := l.find(k)
	if prev == 0 {
		x.put(tagOf(k.Hash), row)
	} else {
		l.chain(x, slot, rec, row, prev)
	}
}

// chain makes a row the newest of a key that has one.
func (l *Log) chain(x *rowIndex, slot uint32, rec []uint64, row, prev Row) {
	rec[rowLinks] = uint64(prev) << 32
	x.slots[slot] = slotOf(uint32(rec[rowHead]>>32), row)
	_, older := l.row(prev)
	older[rowLinks] = older[rowLinks]>>32<<32 | uint64(uint32(row))
}

// lay adds a row that is not found by its key yet. Its words move when another one comes.
func (l *Log) lay(k Key, time int64, cols []*types.Column, i int32) (row Row, rec []uint64) {
	f := l.form
	c, p, place := l.open(time, f.room(k.Words, cols, i))
	if c.n == 0 {
		c.setBase(cols, i)
	}
	c.took(f.pack(p, c.base, k.Words, cols, i))
	n, at := c.n, len(c.rows)
	c.rows = c.rows[:at+f.stride]
	rec = c.rows[at : at+f.stride]
	// The flags are 0: not written, as far as the side words go.
	rec[rowLinks], rec[rowHead] = 0, uint64(tagOf(k.Hash))<<32|place
	clear(rec[rowFixed:])
	if f.time >= 0 {
		rec[f.time] = uint64(time)
	}
	if l.spec.TTL > 0 {
		rec[f.stamp] = uint64(l.clock.now)
	}
	c.groups = append(c.groups, uint16(k.Group))
	c.n++
	l.rows++
	c.added(n, time, l.spec.Ordered)
	l.next = min(l.next, c.min)
	return c.name(n), rec
}

// open gives the chunk that takes the next row, and where it has so many bytes for it.
func (l *Log) open(time int64, room int) (c *chunk, p []byte, place uint64) {
	was := l.last
	fits := was != nil && was.n < chunkRows &&
		(l.spec.Span == 0 || was.n < 64 || max(was.max, time)-min(was.min, time) <= l.spec.Span)
	if fits {
		p, place, fits = was.place(room, fewPages)
	}
	if c = was; !fits {
		if n := l.base + uint64(len(l.dir)); uint32(n<<chunkBits+chunkRows) == 0 {
			l.dir = append(l.dir, nil) // the low half of its last row would be 0, see rowIndex
		}
		c = &chunk{number: l.base + uint64(len(l.dir)), form: l.form, stride: l.form.stride}
		if was != nil { // it will be like the one before
			c.expect, c.usual = was.n, was.packed/was.n+1
		}
		l.roomFor(c, c.expect)
		p, place, _ = c.place(room, fewPages)
		l.dir = append(l.dir, c)
		l.last = c
	}
	if len(c.rows)+c.stride > cap(c.rows) {
		l.roomFor(c, 2*c.n)
	}
	return c, p, place
}

// roomFor gives a chunk room for at least 16 rows.
func (l *Log) roomFor(c *chunk, rows int) {
	want := min(max(rows, 16), chunkRows) * c.stride
	var words []uint64
	if i := slices.IndexFunc(l.free, func(w []uint64) bool { return cap(w) >= want && cap(w) <= 2*want }); i >= 0 {
		words = l.free[i]
		l.free = slices.Delete(l.free, i, i+1)
	} else {
		words = allocWords(want)
	}
	c.rows = append(words[:0], c.rows...)
	c.groups = append(make([]uint16, 0, cap(words)/c.stride), c.groups...)
}

// row gives the chunk and the words of a row that is there, nil if it is not.
func (l *Log) row(r Row) (*chunk, []uint64) {
	n := uint64(r-1)>>chunkBits - l.base
	if n >= uint64(len(l.dir)) {
		return nil, nil
	}
	c := l.dir[n]
	if c == nil {
		return nil, nil
	}
	pos := uint64(r-1) & (chunkRows - 1)
	if c.nums != nil {
		return c, c.sparse(pos)
	}
	o := int(pos) * c.stride
	if o >= len(c.rows) {
		return c, nil
	}
	return c, c.rows[o : o+c.stride]
}

// prev gives the row of the same key before a row, 0 if there is none. It may be gone already.
func (l *Log) prev(rec []uint64) Row { return l.whole(uint32(rec[rowLinks] >> 32)) }

// newer gives the row of the same key after a row, 0 if there is none.
func (l *Log) newer(rec []uint64) Row { return l.whole(uint32(rec[rowLinks])) }

// rec gives the words of a row that is there, nil if it is not.
func (l *Log) rec(r Row) []uint64 {
	_, rec := l.row(r)
	return rec
}

// Newest gives the row of a key that was appended last, 0 if there is none.
func (l *Log) Newest(k Key) Row {
	_, _, r := l.find(k)
	return l.alive(r)
}

// Prev gives the row of the same key that was appended before r, 0 if there is none.
func (l *Log) Prev(r Row) Row {
	_, rec := l.row(r)
	if rec == nil {
		return 0
	}
	return l.alive(l.prev(rec))
}

// alive gives r or the first row behind it in its chain that is there and has not expired.
func (l *Log) alive(r Row) Row {
	if l.spec.TTL > 0 {
		for r != 0 {
			c, rec := l.row(r)
			if rec == nil {
				return 0 // every older chunk is gone as well
			}
			if !l.expired(c, rec) {
				return r
			}
			r = l.prev(rec)
		}
		return 0
	}
	// The row is there if its chunk is: one that was taken out of a chunk left its chain.
	if n := uint64(r-1)>>chunkBits - l.base; n >= uint64(len(l.dir)) || l.dir[n] == nil {
		return 0
	}
	return r
}

func (l *Log) expired(c *chunk, rec []uint64) bool {
	return int64(rec[c.form.stamp])+l.spec.TTL.Milliseconds() <= l.clock.now
}

// Time gives the time of a row, in ms.
func (l *Log) Time(r Row) int64 {
	c, rec := l.row(r)
	return c.form.timeOf(rec)
}

// Emit appends the columns of a row to as many columns of a batch, which the caller then counts with Push. Text is not
// copied; it never changes. Columns that are nil are left out.
func (l *Log) Emit(r Row, cols []*types.Column) {
	c, rec := l.row(r)
	c.form.emit(c.packedRow(rec), c.base, cols)
}

// Equal reports whether the columns of a row are those of row i of cols: NULL equals NULL, floating values are equal
// bit by bit.
func (l *Log) Equal(r Row, cols []*types.Column, i int32) bool {
	return l.EqualIn(r, nil, cols, i)
}

// EqualIn is Equal for some of the columns; nil stands for all.
func (l *Log) EqualIn(r Row, of []int, cols []*types.Column, i int32) bool {
	c, rec := l.row(r)
	return c.form.equal(c.packedRow(rec), c.base, of, cols, i)
}

// Side gives the side words of a row, to read.
func (l *Log) Side(r Row) []uint64 {
	c, rec := l.row(r)
	return rec[c.form.side:c.form.stamp]
}

// Touch gives the side words of a row, to write, and renews its TTL stamp.
func (l *Log) Touch(r Row) []uint64 {
	c, rec := l.row(r)
	l.touch(r, c, rec)
	if l.spec.TTL > 0 {
		rec[c.form.stamp] = uint64(l.clock.now)
	}
	return rec[c.form.side:c.form.stamp]
}

// Delete takes a row out.
func (l *Log) Delete(r Row) {
	c, rec := l.row(r)
	if rec == nil || rec[rowHead]&deadFlag != 0 {
		return
	}
	l.touch(r, c, rec)
	l.unchain(r, c, rec)
	rec[rowHead] |= deadFlag
	l.rows--
	if c.dead++; c != l.last && 2*c.dead > c.n {
		l.thin(c, func(rec []uint64) bool { return rec[rowHead]&deadFlag == 0 })
	}
}

// unchain takes a row out of the chain of its key.
func (l *Log) unchain(r Row, c *chunk, rec []uint64) {
	if l.spec.Unkeyed {
		return
	}
	prev, next := l.prev(rec), l.newer(rec)
	if older := l.rec(prev); older != nil {
		older[rowLinks] = older[rowLinks]>>32<<32 | uint64(uint32(next))
	} else {
		prev = 0
	}
	if newer := l.rec(next); newer != nil {
		newer[rowLinks] = newer[rowLinks]&(1<<32-1) | uint64(prev)<<32
		return
	}
	l.renew(c, rec, c.indexFrom(uint64(r-1)&(chunkRows-1)), r, prev)
}

// Sweep looks at up to max rows of a log with a TTL and takes out those that have expired. Operators call it now and
// then so that rows of keys that never come again go away.
func (l *Log) Sweep(max int) {
	if l.spec.TTL == 0 || len(l.dir) == 0 {
		return
	}
	for ; max > 0; max-- {
		i := l.swept>>chunkBits - l.base
		if l.swept>>chunkBits < l.base || i >= uint64(len(l.dir)) {
			l.swept, i = l.base<<chunkBits, 0
		}
		c, pos := l.dir[i], int(l.swept&(chunkRows-1))
		if c == nil || pos >= c.n {
			l.swept = (l.base + i + 1) << chunkBits
			continue
		}
		l.swept++
		if rec := c.nth(pos); rec[rowHead]&deadFlag == 0 && l.expired(c, rec) {
			l.Delete(c.name(pos))
		}
		if c.n == c.dead && c != l.last {
			l.drop(int(i))
			l.trim()
			if len(l.dir) == 0 {
				return
			}
		}
	}
}

func (l *Log) descriptor() *Descriptor { return &l.desc }
func (l *Log) layouts(f func(*layout)) { f(&l.snap.lay) }
func (l *Log) size() int64 {
	n := int64(8 * (cap(l.dir) + cap(l.snap.dirty) + cap(l.snap.list)))
	for i := range l.index {
		n += int64(8*cap(l.index[i].slots)) + 40
	}
	for _, c := range l.dir {
		if c != nil {
			n += c.memory()
		}
	}
	for _, f := range l.free {
		n += int64(8 * cap(f))
	}
	return n
}
