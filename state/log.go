package state

import (
	"time"

	"runnel/types"
)

// LogSpec is the form of a log's rows.
type LogSpec struct {
	Columns []types.Type
	// Side is the number of mutable words beside every row: a matched flag, a count of associations.
	Side int
	// TTL is the time to live since the last write of a row (Append, Touch), in processing time; 0: for ever.
	TTL time.Duration
	// Ordered logs give the rows that leave in the order of their times (Leave).
	Ordered bool
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
	desc  Descriptor
	spec  LogSpec
	form  rowForm
	clock *clock
	index *Table // key -> newest row
	dir   []*chunk
	base  uint64 // number of the first chunk in dir
	last  *chunk // being filled; nil: the next row opens one
	rows  int    // that are there
	next  int64  // no chunk has anything to do for Clean below this time
	free  [][]uint64
	leave []leaving
	swept uint64 // chunk and index where Sweep goes on
	snap  logSnap

	loading *logLoad
}

const (
	chunkBits = 12
	chunkRows = 1 << chunkBits
)

// Log registers a log, and restores it if the Keyed was made to restore.
func (k *Keyed) Log(d Descriptor, spec LogSpec) (*Log, error) {
	l := &Log{desc: d, spec: spec, clock: k.clock, form: newRowForm(spec), next: noTime}
	l.index = &Table{lay: newLayout(Words(1), 0, k.clock, false), first: k.groups.First, groups: make([]*Map, k.groups.Len())}
	l.desc.Kind, l.desc.Layout = "log", l.form.text(spec)
	l.snap.lay.cur, l.snap.lay.closed = 1, 2
	if err := k.register(l); err != nil {
		return nil, err
	}
	return l, nil
}

// Len is the number of rows.
func (l *Log) Len() int { return l.rows }

// Stage loads what Newest of a batch of keys will need, see Table.Stage.
func (l *Log) Stage(hashes []uint64, groups []int32) { l.index.Stage(hashes, groups) }

// Append adds row i of cols, one column per column of the log, with its key and time (ms).
func (l *Log) Append(k Key, time int64, cols []*types.Column, i int32) Row {
	c := l.open(time)
	n := c.n
	at := len(c.rows)
	c.rows = c.rows[:at+l.form.stride]
	rec := c.rows[at : at+l.form.stride]
	row := c.row(n)
	rec[rowTime], rec[rowNext] = uint64(time), 0
	rec[rowHead] = uint64(len(c.keys)) << 32 // not written, as far as the side words go
	c.keys = append(c.keys, uint64(tagOf(k.Hash))<<32|uint64(uint16(k.Group))<<16|min(uint64(len(k.Words)), longRow))
	if len(k.Words) >= longRow {
		c.keys = append(c.keys, uint64(len(k.Words)))
	}
	c.keys = append(c.keys, k.Words...)
	l.form.store(c, rec, cols, i)
	l.settleSide(rec)
	rec[rowPrev] = uint64(l.chainNewest(k, row))
	c.n++
	l.rows++
	c.added(n, time, l.spec.Ordered)
	l.next = min(l.next, c.min)
	return row
}

// settleSide sets the side words of a new row.
func (l *Log) settleSide(rec []uint64) {
	clear(rec[l.form.side:])
	if l.spec.TTL > 0 {
		rec[l.form.stamp] = uint64(l.clock.now)
	}
}

// chainNewest makes row the newest of its key and gives the one that was.
func (l *Log) chainNewest(k Key, row Row) Row {
	m := l.index.Of(k.Group)
	r, inserted := m.Upsert(k)
	w := &m.Touch(r)[0]
	prev := Row(*w)
	*w = uint64(row)
	if inserted {
		return 0
	}
	if p := l.rec(prev); p != nil {
		p[rowNext] = uint64(row)
	}
	return prev
}

// open gives the chunk that takes the next row.
func (l *Log) open(time int64) *chunk {
	c := l.last
	if c != nil && c.n > 0 && l.spec.Span > 0 && c.n >= 64 && max(c.max, time)-min(c.min, time) > l.spec.Span {
		c = nil
	}
	if c == nil || c.n == chunkRows {
		c = &chunk{number: l.base + uint64(len(l.dir)), stride: l.form.stride}
		l.dir = append(l.dir, c)
		l.last = c
	}
	if len(c.rows)+l.form.stride > cap(c.rows) {
		l.grow(c)
	}
	return c
}

// grow gives a chunk room for more rows.
func (l *Log) grow(c *chunk) {
	full := chunkRows * l.form.stride
	want := min(max(2*cap(c.rows), 16*l.form.stride), full)
	var rows []uint64
	if n := len(l.free); want == full && n > 0 {
		rows, l.free = l.free[n-1], l.free[:n-1]
	} else {
		rows = allocWords(want)
	}
	rows = rows[:len(c.rows)]
	copy(rows, c.rows)
	c.rows = rows
}

// rec gives the words of a row that is there, nil if it is not.
func (l *Log) rec(r Row) []uint64 {
	if r == 0 {
		return nil
	}
	n := uint64(r-1)>>chunkBits - l.base
	if n >= uint64(len(l.dir)) || l.dir[n] == nil {
		return nil
	}
	return l.dir[n].at(uint64(r-1) & (chunkRows - 1))
}

// Newest gives the row of a key that was appended last, 0 if there is none.
func (l *Log) Newest(k Key) Row {
	m := l.index.groups[k.Group-l.index.first]
	if m == nil {
		return 0
	}
	r := m.Find(k)
	if r == 0 {
		return 0
	}
	return l.alive(Row(m.Get(r)[0]))
}

// Prev gives the row of the same key that was appended before r, 0 if there is none.
func (l *Log) Prev(r Row) Row {
	rec := l.rec(r)
	if rec == nil {
		return 0
	}
	return l.alive(Row(rec[rowPrev]))
}

// alive gives r or the first row behind it in its chain that has not expired.
func (l *Log) alive(r Row) Row {
	for r != 0 {
		rec := l.rec(r)
		if rec == nil {
			return 0 // every older chunk is gone as well
		}
		if l.spec.TTL == 0 || !l.expired(rec) {
			return r
		}
		r = Row(rec[rowPrev])
	}
	return 0
}

func (l *Log) expired(rec []uint64) bool {
	return int64(rec[l.form.stamp])+l.spec.TTL.Milliseconds() <= l.clock.now
}

// Time gives the time of a row, in ms.
func (l *Log) Time(r Row) int64 { return int64(l.rec(r)[rowTime]) }

// Emit appends the columns of a row to as many columns of a batch, which the caller then counts with Push. Text is not
// copied; it never changes.
func (l *Log) Emit(r Row, cols []*types.Column) {
	c := l.dir[uint64(r-1)>>chunkBits-l.base]
	l.form.emit(c, c.at(uint64(r-1)&(chunkRows-1)), cols)
}

// Equal reports whether the columns of a row are those of row i of cols: NULL equals NULL, floating values are equal
// bit by bit.
func (l *Log) Equal(r Row, cols []*types.Column, i int32) bool {
	c := l.dir[uint64(r-1)>>chunkBits-l.base]
	return l.form.equal(c, c.at(uint64(r-1)&(chunkRows-1)), cols, i)
}

// Side gives the side words of a row, to read.
func (l *Log) Side(r Row) []uint64 {
	rec := l.rec(r)
	return rec[l.form.side : l.form.side+l.spec.Side]
}

// Touch gives the side words of a row, to write, and renews its TTL stamp.
func (l *Log) Touch(r Row) []uint64 {
	rec := l.rec(r)
	l.touch(r, rec)
	if l.spec.TTL > 0 {
		rec[l.form.stamp] = uint64(l.clock.now)
	}
	return rec[l.form.side : l.form.side+l.spec.Side]
}

// Delete takes a row out.
func (l *Log) Delete(r Row) {
	rec := l.rec(r)
	if rec == nil || rec[rowHead]&deadFlag != 0 {
		return
	}
	l.touch(r, rec)
	l.unchain(r, rec)
	l.bury(l.dir[uint64(r-1)>>chunkBits-l.base], rec)
}

// bury marks a row, already out of its chain, as dead.
func (l *Log) bury(c *chunk, rec []uint64) {
	rec[rowHead] |= deadFlag
	l.rows--
	if c.dead++; c != l.last && 2*c.dead > c.n {
		l.thin(c, func(rec []uint64) bool { return rec[rowHead]&deadFlag == 0 })
	}
}

// unchain takes a row out of the chain of its key.
func (l *Log) unchain(r Row, rec []uint64) {
	prev, next := Row(rec[rowPrev]), Row(rec[rowNext])
	older := l.rec(prev)
	if older != nil {
		older[rowNext] = uint64(next)
	} else {
		prev = 0
	}
	if newer := l.rec(next); newer != nil {
		newer[rowPrev] = uint64(prev)
		return
	}
	c := l.dir[uint64(r-1)>>chunkBits-l.base]
	if prev == 0 {
		l.unindex(c, rec)
		return
	}
	key, tag, group := c.key(rec)
	m := l.index.Of(group)
	if _, o, ok := m.lookup(key, tag); ok {
		m.recs[m.valuesAt(o)] = uint64(prev)
	}
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
		if rec := c.nth(pos); rec[rowHead]&deadFlag == 0 && l.expired(rec) {
			l.Delete(c.row(pos))
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
	n := l.index.size() + int64(8*cap(l.dir))
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
