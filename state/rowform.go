package state

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"strings"
	"unsafe"

	"runnel/types"
)

// The fixed words of a row in a chunk: these two, the time unless the log is timeless, the side words, the TTL stamp. The
// head word is the key's tag (32 bits), where the packed values are (page 8 bits, offset 16 bits), and flags (8 bits) as in a
// table's records.
const (
	rowLinks = iota // the low halves of the rows of the same key before and after it
	rowHead
	rowFixed

	placeShift = 8
	goneFlag   = 16            // only while a chunk is thinned out: the row stays behind
	textPhys   = types.PhysStr // this and what is behind it is text to a chunk
)

// The values of a row are packed:
//
//	nibbles  4 bits for every word that follows: its bytes without leading zeros, or nullNibble. Rounded up to bytes
//	key      a word: 0 if the key is the values of the key columns, else its length plus one; then its words, 8 bytes each
//	columns  a word each, key columns first, then numbers, then texts
//
// An integer is the difference from the chunk's base for the column, zigzag; a floating value has its bytes turned round;
// PhysWide has two words, Hi zigzag; a text is its length and its bytes, also what is nested as the row codec writes it. Reads and
// writes of a word go over 8 bytes, so packedSlack bytes behind a row may be read.
const (
	nullNibble  = 15
	packedSlack = 8
)

// rowForm says how the values of a row are packed and where its fixed words are.
type rowForm struct {
	types  []types.Type
	phys   []types.Phys
	key    []int // the columns whose values are the words of most keys
	order  []int // columns as they are packed
	texts  int   // where texts begin in order
	words  int   // nibbles
	header int   // bytes of them
	time   int   // the word of the time, -1 without
	side   int   // first side word
	stamp  int
	stride int
	buf    []byte // nested values of the row being packed
	ends   []int
}

func newRowForm(spec LogSpec) *rowForm {
	f := &rowForm{types: spec.Columns, phys: make([]types.Phys, len(spec.Columns)), time: -1, side: rowFixed, words: 1}
	for i, t := range spec.Columns {
		f.phys[i] = t.Phys()
		f.words++
		if f.phys[i] == types.PhysWide {
			f.words++
		}
	}
	f.header = (f.words + 1) / 2
	for i, j := range spec.Key {
		if f.phys[j] != types.PhysInt || slices.Contains(spec.Key[:i], j) {
			f.key = nil
			break
		}
		f.key = append(f.key, j)
	}
	f.order = slices.Clone(f.key)
	for _, text := range []bool{false, true} {
		f.texts = len(f.order)
		for j, p := range f.phys {
			if p >= textPhys == text && !slices.Contains(f.key, j) {
				f.order = append(f.order, j)
			}
		}
	}
	if !spec.Timeless {
		f.time = f.side
		f.side++
	}
	f.stamp = f.side + spec.Side
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

// derives reports whether the values of the key columns are the words of the key.
func (f *rowForm) derives(key []uint64, cols []*types.Column, i int32) bool {
	if len(key) != len(f.key) {
		return false
	}
	for n, j := range f.key {
		if cols[j].Null(i) || uint64(cols[j].Int[i]) != key[n] {
			return false
		}
	}
	return true
}

// room encodes the nested values of row i of cols and gives the bytes that the row takes at most, slack included.
func (f *rowForm) room(key []uint64, cols []*types.Column, i int32) int {
	n := f.header + 8*(f.words+len(key)) + packedSlack
	f.buf, f.ends = f.buf[:0], f.ends[:0]
	for _, j := range f.order[f.texts:] {
		col := cols[j]
		switch {
		case col.Null(i):
		case f.phys[j] == types.PhysStr:
			n += len(col.Str[i])
		default:
			f.buf = types.AppendDatum(f.buf, f.types[j], types.AnyDatum(col.Any[i]))
			f.ends = append(f.ends, len(f.buf))
		}
	}
	return n + len(f.buf)
}

// packer writes the words of a row behind each other. It is passed by value, so that it stays in registers.
type packer struct {
	at   int
	slot int
	bits uint64 // nibbles that wait to be written, those of 16 slots at most
}

func (w packer) word(p []byte, v uint64) packer {
	n := (bits.Len64(v) + 7) / 8
	binary.LittleEndian.PutUint64(p[w.at:], v)
	w.at += n
	return w.nibble(p, uint64(n))
}

func (w packer) nibble(p []byte, n uint64) packer {
	w.bits |= n << (w.slot & 15 * 4)
	if w.slot++; w.slot&15 == 0 {
		binary.LittleEndian.PutUint64(p[w.slot>>1-8:], w.bits)
		w.bits = 0
	}
	return w
}

// end writes the nibbles that wait.
func (w packer) end(p []byte) {
	bits := w.bits
	for at := w.slot &^ 15 >> 1; at < (w.slot+1)>>1; at++ {
		p[at] = byte(bits)
		bits >>= 8
	}
}

// pack writes row i of cols to p, which has the room, and gives the bytes it took.
func (f *rowForm) pack(p []byte, base []int64, key []uint64, cols []*types.Column, i int32) int {
	w := packer{at: f.header}
	if f.derives(key, cols, i) {
		w = w.nibble(p, 0)
	} else {
		w = w.word(p, uint64(len(key))+1)
		for _, k := range key {
			binary.LittleEndian.PutUint64(p[w.at:], k)
			w.at += 8
		}
	}
	for _, j := range f.order[:f.texts] {
		col := cols[j]
		switch phys := f.phys[j]; {
		case col.Null(i):
			w = w.nibble(p, nullNibble)
			if phys == types.PhysWide {
				w = w.nibble(p, 0)
			}
		case phys == types.PhysInt:
			w = w.word(p, zigzag(col.Int[i]-base[j]))
		case phys == types.PhysFloat:
			w = w.word(p, bits.ReverseBytes64(math.Float64bits(col.Flt[i])))
		default:
			w = w.word(p, zigzag(col.Wide[i].Hi))
			w = w.word(p, col.Wide[i].Lo)
		}
	}
	from, ends := 0, f.ends
	for _, j := range f.order[f.texts:] {
		col := cols[j]
		switch {
		case col.Null(i):
			w = w.nibble(p, nullNibble)
		case f.phys[j] == types.PhysStr:
			text := col.Str[i]
			w = w.word(p, uint64(len(text)))
			w.at += copy(p[w.at:], text)
		default:
			w = w.word(p, uint64(ends[0]-from))
			w.at += copy(p[w.at:], f.buf[from:ends[0]])
			from, ends = ends[0], ends[1:]
		}
	}
	w.end(p)
	return w.at
}

func zigzag(v int64) uint64   { return uint64(v)<<1 ^ uint64(v>>63) }
func unzigzag(w uint64) int64 { return int64(w>>1) ^ -int64(w&1) }

// unpacker reads the words of a row. It is passed by value, so that it stays in registers.
type unpacker struct {
	at   int
	slot int
	bits uint64 // nibbles from slot on, up to the next 16
}

// unpack gives a reader of what a packed row has behind its nibbles.
func (f *rowForm) unpack(p []byte) unpacker {
	return unpacker{at: f.header, bits: binary.LittleEndian.Uint64(p)}
}

// null reports whether the next word is NULL.
func (r unpacker) null() bool { return r.bits&15 == nullNibble }

// pass goes on behind a word without bytes.
func (r unpacker) pass(p []byte) unpacker {
	r.bits >>= 4
	if r.slot++; r.slot&15 == 0 {
		r.bits = binary.LittleEndian.Uint64(p[r.slot>>1:])
	}
	return r
}

// word takes a word that is not NULL.
func (r unpacker) word(p []byte) (uint64, unpacker) {
	n := int(r.bits & 15)
	w := binary.LittleEndian.Uint64(p[r.at:]) & (1<<(8*n) - 1)
	r.at += n
	return w, r.pass(p)
}

// text takes a text that is not NULL. Its bytes never change.
func (r unpacker) text(p []byte) (string, unpacker) {
	n, r := r.word(p)
	b := p[r.at : r.at+int(n)]
	r.at += int(n)
	return unsafe.String(unsafe.SliceData(b), n), r
}

// columns gives a reader of the columns of a packed row.
func (f *rowForm) columns(p []byte) unpacker {
	n, r := f.unpack(p).word(p)
	if n > 1 {
		r.at += 8 * int(n-1)
	}
	return r
}

// end gives the bytes that a packed row takes.
func (f *rowForm) end(p []byte) int {
	r := f.columns(p)
	for _, j := range f.order {
		r = r.skip(p, f.phys[j])
	}
	return r.at
}

// skip passes a column.
func (r unpacker) skip(p []byte, phys types.Phys) unpacker {
	switch {
	case r.null():
		r = r.pass(p)
		if phys == types.PhysWide {
			r = r.pass(p)
		}
	case phys >= textPhys:
		var n uint64
		n, r = r.word(p)
		r.at += int(n)
	default:
		_, r = r.word(p)
		if phys == types.PhysWide {
			_, r = r.word(p)
		}
	}
	return r
}

// sound reports whether p, with slack behind it, is a packed row of so many bytes.
func (f *rowForm) sound(p []byte, size int) bool {
	if size < f.header {
		return false
	}
	r := f.unpack(p)
	fits := func() bool { // and takes the word
		n := int(r.bits & 15)
		return n <= 8 && n <= size-r.at
	}
	if !fits() {
		return false
	}
	w, r := r.word(p)
	if n := w; n > 1 {
		if n-1 > uint64(size-r.at)/8 {
			return false
		}
		r.at += 8 * int(n-1)
	}
	for _, j := range f.order {
		wide := f.phys[j] == types.PhysWide
		if r.null() {
			r = r.skip(p, f.phys[j])
			continue
		}
		if !fits() {
			return false
		}
		w, r = r.word(p)
		switch {
		case f.phys[j] >= textPhys:
			if w > uint64(size-r.at) {
				return false
			}
			text := p[r.at : r.at+int(w)]
			r.at += int(w)
			if f.phys[j] == types.PhysStr {
				break
			}
			if _, rest, err := types.DecodeDatum(text, f.types[j]); err != nil || len(rest) > 0 {
				return false
			}
		case wide:
			if !fits() {
				return false
			}
			_, r = r.word(p)
		}
	}
	return r.at == size
}

// keyOf appends the words of a packed row's key.
func (f *rowForm) keyOf(dst []uint64, p []byte, base []int64) []uint64 {
	n, r := f.unpack(p).word(p)
	if n == 0 {
		for _, j := range f.key {
			var w uint64
			w, r = r.word(p)
			dst = append(dst, uint64(unzigzag(w)+base[j]))
		}
		return dst
	}
	for ; n > 1; n-- {
		dst = append(dst, binary.LittleEndian.Uint64(p[r.at:]))
		r.at += 8
	}
	return dst
}

// sameKey compares the key of a packed row.
func (f *rowForm) sameKey(p []byte, base []int64, key []uint64) bool {
	n, r := f.unpack(p).word(p)
	if n == 0 {
		if len(key) != len(f.key) {
			return false
		}
		for i, j := range f.key {
			var w uint64
			w, r = r.word(p)
			if uint64(unzigzag(w)+base[j]) != key[i] {
				return false
			}
		}
		return true
	}
	if n-1 != uint64(len(key)) {
		return false
	}
	for _, k := range key {
		if binary.LittleEndian.Uint64(p[r.at:]) != k {
			return false
		}
		r.at += 8
	}
	return true
}

// emit appends the values of a packed row to cols; columns that are nil are left out.
func (f *rowForm) emit(p []byte, base []int64, cols []*types.Column) {
	order := f.order
	for len(order) > 0 && cols[order[len(order)-1]] == nil {
		order = order[:len(order)-1]
	}
	r := f.columns(p)
	for _, j := range order {
		col, phys := cols[j], f.phys[j]
		if col == nil {
			r = r.skip(p, phys)
			continue
		}
		if r.null() {
			r = r.skip(p, phys)
			col.AppendNull()
			continue
		}
		if phys >= textPhys {
			var text string
			if text, r = r.text(p); phys == types.PhysStr {
				col.AppendStr(text)
			} else {
				col.AppendAny(f.nested(text, j))
			}
			continue
		}
		var w uint64
		switch w, r = r.word(p); phys {
		case types.PhysInt:
			col.AppendInt(unzigzag(w) + base[j])
		case types.PhysFloat:
			col.AppendFloat(math.Float64frombits(bits.ReverseBytes64(w)))
		default:
			var lo uint64
			lo, r = r.word(p)
			col.AppendWide(types.Int128{Hi: unzigzag(w), Lo: lo})
		}
	}
}

// nested decodes a nested value, which this package encoded or checked when it was restored.
func (f *rowForm) nested(text string, j int) any {
	d, _, err := types.DecodeDatum([]byte(text), f.types[j])
	if err != nil {
		panic("state: nested value in a log: " + err.Error())
	}
	return d.A
}

// equal compares a packed row with row i of cols, in the given columns (nil: in all).
func (f *rowForm) equal(p []byte, base []int64, of []int, cols []*types.Column, i int32) bool {
	r := f.columns(p)
	for _, j := range f.order {
		if (of == nil || slices.Contains(of, j)) && !f.sameValue(p, r, base, j, cols[j], i) {
			return false
		}
		r = r.skip(p, f.phys[j])
	}
	return true
}

// sameValue compares column j, which is the next one, with row i of col.
func (f *rowForm) sameValue(p []byte, r unpacker, base []int64, j int, col *types.Column, i int32) bool {
	if r.null() || col.Null(i) {
		return r.null() == col.Null(i)
	}
	if f.phys[j] >= textPhys {
		text, _ := r.text(p)
		if f.phys[j] == types.PhysStr {
			return text == col.Str[i]
		}
		f.buf = types.AppendDatum(f.buf[:0], f.types[j], types.AnyDatum(col.Any[i]))
		return text == string(f.buf)
	}
	w, r := r.word(p)
	switch f.phys[j] {
	case types.PhysInt:
		return unzigzag(w)+base[j] == col.Int[i]
	case types.PhysFloat:
		return bits.ReverseBytes64(w) == math.Float64bits(col.Flt[i])
	}
	lo, _ := r.word(p)
	return unzigzag(w) == col.Wide[i].Hi && lo == col.Wide[i].Lo
}
