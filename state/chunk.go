package state

import (
	"math"
	"slices"
	"strings"

	"runnel/types"
)

// The words of a row in a chunk: these four, NULL bits, the columns, the side words, the TTL stamp. The head word is
// where the key lies in the chunk's keys (32 bits), 24 NULL bits, and flags (8 bits) as in a table's records.
const (
	rowTime = iota
	rowPrev // row of the same key before it
	rowNext // and after it
	rowHead
	rowNulls // words of NULL bits, if the head has no room for them
)

const (
	headNulls = 24
	nullShift = 8
	longRow   = 0xFFFF // the number of key words stands in the next word
	noTime    = math.MaxInt64
	goneFlag  = 16            // only while a chunk is thinned out: the row stays behind
	textPhys  = types.PhysStr // this and what is behind it is text to a chunk
)

// chunk is a run of rows. Row numbers are the chunk's number and the row's position when it was appended; a chunk that
// was thinned out keeps them in nums.
type chunk struct {
	number uint64
	stride int
	n      int
	dead   int // rows among them that are dead
	rows   []uint64
	keys   []uint64 // tag, group, number of words; then the words
	text   byteArena
	nums   []uint16 // nil: row i has position i
	min    int64    // times; of rows that may be dead
	max    int64
	look   int64    // the time from which on it may pay to thin it out; noTime: not known
	known  bool     // look is known
	order  []uint16 // ordered logs: indexes of rows by time, those that have left first
	left   int      // how many have left
	saved  chunkSave
}

// row gives the name of the row at index i.
func (c *chunk) row(i int) Row {
	if c.nums != nil {
		i = int(c.nums[i])
	}
	return Row(c.number<<chunkBits|uint64(i)) + 1
}

// at gives the words of the row with the given position, nil if it is not there.
func (c *chunk) at(pos uint64) []uint64 {
	i := int(pos)
	if c.nums != nil {
		j, ok := slices.BinarySearch(c.nums, uint16(pos))
		if !ok {
			return nil
		}
		i = j
	}
	o := i * c.stride
	if o >= len(c.rows) {
		return nil
	}
	return c.rows[o : o+c.stride]
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

// key gives a row's key, tag and key group.
func (c *chunk) key(rec []uint64) (key []uint64, tag uint32, group int32) {
	o := rec[rowHead] >> 32
	h := c.keys[o]
	n := h & longRow
	o++
	if n == longRow {
		n = c.keys[o]
		o++
	}
	return c.keys[o : o+n], uint32(h >> 32), int32(h >> 16 & 0xFFFF)
}

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
	for at > c.left && int64(c.nth(int(c.order[at-1]))[rowTime]) > time {
		at--
	}
	c.order = slices.Insert(c.order, at, uint16(i))
}

func (c *chunk) memory() int64 {
	return int64(8*(cap(c.rows)+cap(c.keys))+c.text.size()+2*(cap(c.nums)+cap(c.order))) + 256
}

// rowForm says how the columns of a row lie in its words.
type rowForm struct {
	types  []types.Type
	phys   []types.Phys
	at     []int // first word of the column
	nulls  int   // words of NULL bits; 0: they are in the head
	side   int   // first side word
	stamp  int
	stride int
	codec  nested
}

// nested is scratch for values that are not a word or a text.
type nested struct{ buf []byte }

func newRowForm(spec LogSpec) rowForm {
	f := rowForm{types: spec.Columns, phys: make([]types.Phys, len(spec.Columns)), at: make([]int, len(spec.Columns))}
	if len(spec.Columns) > headNulls {
		f.nulls = (len(spec.Columns) + 63) / 64
	}
	at := rowNulls + f.nulls
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

func (f *rowForm) text(spec LogSpec) string {
	var b strings.Builder
	for i, t := range f.types {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString(t.Name())
	}
	if spec.Side > 0 {
		b.WriteString(strings.Repeat(",side", spec.Side))
	}
	return b.String()
}

func (f *rowForm) null(rec []uint64, col int) bool {
	if f.nulls == 0 {
		return rec[rowHead]>>(nullShift+col)&1 != 0
	}
	return rec[rowNulls+col/64]>>(col%64)&1 != 0
}

func (f *rowForm) setNull(rec []uint64, col int) {
	if f.nulls == 0 {
		rec[rowHead] |= 1 << (nullShift + col)
	} else {
		rec[rowNulls+col/64] |= 1 << (col % 64)
	}
}

// store writes row i of cols into rec.
func (f *rowForm) store(c *chunk, rec []uint64, cols []*types.Column, i int32) {
	clear(rec[rowNulls : rowNulls+f.nulls])
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
			f.codec.buf = types.AppendDatum(f.codec.buf[:0], f.types[j], types.AnyDatum(col.Any[i]))
			rec[at] = c.text.put(string(f.codec.buf))
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
	for j, p := range f.phys {
		col, at := cols[j], f.at[j]
		if null := f.null(rec, j); null || col.Null(i) {
			if null && col.Null(i) {
				continue
			}
			return false
		}
		var same bool
		switch p {
		case types.PhysInt:
			same = rec[at] == uint64(col.Int[i])
		case types.PhysFloat:
			same = rec[at] == math.Float64bits(col.Flt[i])
		case types.PhysWide:
			same = rec[at] == uint64(col.Wide[i].Hi) && rec[at+1] == col.Wide[i].Lo
		case types.PhysStr:
			same = c.text.get(rec[at]) == col.Str[i]
		default:
			f.codec.buf = types.AppendDatum(f.codec.buf[:0], f.types[j], types.AnyDatum(col.Any[i]))
			same = c.text.get(rec[at]) == string(f.codec.buf)
		}
		if !same {
			return false
		}
	}
	return true
}
