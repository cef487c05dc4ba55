package state

import (
	"math"
	"slices"
	"strings"

	"runnel/types"
)

// The words of a row in a chunk: these two, the key, the time unless the log is timeless, NULL bits, the columns, the side
// words, the TTL stamp. The head word is the key's tag (32 bits), NULL bits of up to 24 columns, and flags (8 bits) as in a
// table's records.
const (
	rowLinks = iota // the low halves of the rows of the same key before and after it
	rowHead
	rowKey // as many words as the form says, or one that tells where they are
)

const (
	headNulls = 24
	nullShift = 8
	longRow   = 0xFFFF // in snapshots: the number of key words stands in the next word
	noTime    = math.MaxInt64
	goneFlag  = 16            // only while a chunk is thinned out: the row stays behind
	textPhys  = types.PhysStr // this and what is behind it is text to a chunk

	unknownKey = -1 // the number of key words while there is no row
	manyKeys   = -2 // keys differ in length: they lie in the chunk's keys
)

// chunk is a run of rows. A row's number is made of the chunk's and its position when it was appended; a chunk that was
// thinned out keeps the positions in nums.
type chunk struct {
	rows   []uint64
	nums   []uint16 // nil: row i has position i
	stride int      // of form
	form   *rowForm
	number uint64
	n      int
	dead   int // rows among them that are dead
	groups []uint16
	keys   []uint64 // words of keys that differ in length
	text   byteArena
	min    int64 // times; of rows that may be dead
	max    int64
	look   int64    // the time from which on it may pay to thin it out; noTime: never
	known  bool     // look is known
	order  []uint16 // ordered logs: indexes of rows by time, those that have left first
	left   int      // how many have left
	saved  chunkSave
}

// name gives the name of the row at index i.
func (c *chunk) name(i int) Row {
	if c.nums != nil {
		i = int(c.nums[i])
	}
	return Row(c.number<<chunkBits|uint64(i)) + 1
}

// sparse gives the words of the row with the given position in a chunk that was thinned out, nil if it is not there.
func (c *chunk) sparse(pos uint64) []uint64 {
	if i, ok := slices.BinarySearch(c.nums, uint16(pos)); ok {
		return c.nth(i)
	}
	return nil
}

// sameKey compares the key of a row.
func (c *chunk) sameKey(rec, key []uint64) bool {
	if len(key) == 1 && c.form.key == 1 {
		return rec[rowKey] == key[0]
	}
	return slices.Equal(c.key(rec), key)
}

// key gives the words of a row's key.
func (c *chunk) key(rec []uint64) []uint64 {
	if c.form.key != manyKeys {
		return rec[rowKey : rowKey+c.form.key]
	}
	o, n := rec[rowKey]>>32, rec[rowKey]&(1<<32-1)
	return c.keys[o : o+n]
}

// indexFrom gives the index of the first row with at least the given position; 0 for a chunk that is gone.
func (c *chunk) indexFrom(pos uint64) int {
	if c == nil {
		return 0
	}
	if c.nums == nil {
		return int(pos)
	}
	i, _ := slices.BinarySearch(c.nums, uint16(pos))
	return i
}

// nth gives the words of the row at index i.
func (c *chunk) nth(i int) []uint64 { return c.rows[i*c.stride : (i+1)*c.stride] }

// added notes the time of a new row.
func (c *chunk) added(i int, time int64, ordered bool) {
	if i == 0 {
		c.min, c.max = time, time
	}
	c.min, c.max = min(c.min, time), max(c.max, time)
	c.known = false
	if !ordered {
		return
	}
	at := len(c.order)
	for at > c.left && c.form.timeOf(c.nth(int(c.order[at-1]))) > time {
		at--
	}
	c.order = slices.Insert(c.order, at, uint16(i))
}

func (c *chunk) memory() int64 {
	return int64(8*(cap(c.rows)+cap(c.keys))+c.text.size()+2*(cap(c.nums)+cap(c.order)+cap(c.groups))) + 320
}

// rowForm says how the words of a row lie.
type rowForm struct {
	types  []types.Type
	phys   []types.Phys
	at     []int // first word of the column
	key    int   // words of the key, or one of the above
	time   int   // the word of the time, -1 without
	nulls  int   // words of NULL bits; 0: they are in the head
	nullAt int
	cols   int // first word of the columns
	side   int // first side word
	stamp  int
	stride int
	buf    []byte // scratch for nested values
}

func newRowForm(spec LogSpec, key int) *rowForm {
	f := &rowForm{types: spec.Columns, phys: make([]types.Phys, len(spec.Columns)), at: make([]int, len(spec.Columns)), key: key}
	if len(spec.Columns) > headNulls {
		f.nulls = (len(spec.Columns) + 63) / 64
	}
	f.nullAt, f.time = rowKey+key, -1
	if key < 0 {
		f.nullAt = rowKey + 1
	}
	if !spec.Timeless {
		f.time = f.nullAt
		f.nullAt++
	}
	f.cols = f.nullAt + f.nulls
	at := f.cols
	for i, t := range spec.Columns {
		f.phys[i], f.at[i] = t.Phys(), at
		at++
		if f.phys[i] == types.PhysWide {
			at++
		}
	}
	f.side, f.stamp = at, at+spec.Side
	f.stride = f.stamp
	if spec.TTL > 0 {
		f.stride++
	}
	return f
}

// timeOf gives the time of a row, in ms; 0 in a timeless log.
func (f *rowForm) timeOf(rec []uint64) int64 {
	if f.time < 0 {
		return 0
	}
	return int64(rec[f.time])
}

// text describes the form for Descriptor.Layout.
func (f *rowForm) text() string {
	var b strings.Builder
	for i, t := range f.types {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString(t.Name())
	}
	b.WriteString(strings.Repeat(",side", f.stamp-f.side))
	return b.String()
}

func (f *rowForm) null(rec []uint64, col int) bool {
	if f.nulls == 0 {
		return rec[rowHead]>>(nullShift+col)&1 != 0
	}
	return rec[f.nullAt+col/64]>>(col%64)&1 != 0
}

func (f *rowForm) setNull(rec []uint64, col int) {
	if f.nulls == 0 {
		rec[rowHead] |= 1 << (nullShift + col)
	} else {
		rec[f.nullAt+col/64] |= 1 << (col % 64)
	}
}

// store writes row i of cols into rec.
func (f *rowForm) store(c *chunk, rec []uint64, cols []*types.Column, i int32) {
	clear(rec[f.nullAt:f.cols])
	for j, p := range f.phys {
		col, at := cols[j], f.at[j]
		if col.Null(i) {
			f.setNull(rec, j)
			rec[at] = 0
			if p == types.PhysWide {
				rec[at+1] = 0
			}
			continue
		}
		switch p {
		case types.PhysInt:
			rec[at] = uint64(col.Int[i])
		case types.PhysFloat:
			rec[at] = math.Float64bits(col.Flt[i])
		case types.PhysWide:
			rec[at], rec[at+1] = uint64(col.Wide[i].Hi), col.Wide[i].Lo
		case types.PhysStr:
			rec[at] = c.text.put(col.Str[i])
		default:
			f.buf = types.AppendDatum(f.buf[:0], f.types[j], types.AnyDatum(col.Any[i]))
			rec[at] = c.text.put(string(f.buf))
		}
	}
}

// emit appends the row's values to cols.
func (f *rowForm) emit(c *chunk, rec []uint64, cols []*types.Column) {
	for j, p := range f.phys {
		col, at := cols[j], f.at[j]
		if f.null(rec, j) {
			col.AppendNull()
			continue
		}
		switch p {
		case types.PhysInt:
			col.AppendInt(int64(rec[at]))
		case types.PhysFloat:
			col.AppendFloat(math.Float64frombits(rec[at]))
		case types.PhysWide:
			col.AppendWide(types.Int128{Hi: int64(rec[at]), Lo: rec[at+1]})
		case types.PhysStr:
			col.AppendStr(c.text.get(rec[at]))
		default:
			col.AppendAny(f.nestedAt(c, rec, j))
		}
	}
}

// nestedAt decodes a nested value, which this package encoded or checked when it was restored.
func (f *rowForm) nestedAt(c *chunk, rec []uint64, j int) any {
	d, _, err := types.DecodeDatum([]byte(c.text.get(rec[f.at[j]])), f.types[j])
	if err != nil {
		panic("state: nested value in a log: " + err.Error())
	}
	return d.A
}

// equal compares the row with row i of cols.
func (f *rowForm) equal(c *chunk, rec []uint64, cols []*types.Column, i int32) bool {
	for j := range f.phys {
		if !f.equalAt(c, rec, j, cols[j], i) {
			return false
		}
	}
	return true
}

// equalAt compares column j of the row with row i of col.
func (f *rowForm) equalAt(c *chunk, rec []uint64, j int, col *types.Column, i int32) bool {
	at := f.at[j]
	if null := f.null(rec, j); null || col.Null(i) {
		return null && col.Null(i)
	}
	switch f.phys[j] {
	case types.PhysInt:
		return rec[at] == uint64(col.Int[i])
	case types.PhysFloat:
		return rec[at] == math.Float64bits(col.Flt[i])
	case types.PhysWide:
		return rec[at] == uint64(col.Wide[i].Hi) && rec[at+1] == col.Wide[i].Lo
	case types.PhysStr:
		return c.text.get(rec[at]) == col.Str[i]
	}
	f.buf = types.AppendDatum(f.buf[:0], f.types[j], types.AnyDatum(col.Any[i]))
	return c.text.get(rec[at]) == string(f.buf)
}
