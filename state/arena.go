package state

import (
	"encoding/binary"
	"unsafe"
)

// Every arena of the package comes from these two functions, so that one place decides where state memory lives.
func allocWords(n int) []uint64 { return make([]uint64, n) }

func allocBytes(n int) []byte { return make([]byte, 0, n) }

const (
	minByteChunk = 256
	maxByteChunk = 256 << 10
	// A reference is chunk number (24 bits), offset (24 bits), length (16 bits). Lengths from longRef on are written in
	// front of the bytes. Chunk numbers start at 1, so 0 is no reference.
	longRef = 0xFFFF
)

// byteArena holds byte strings behind references of one word. Bytes are written once: a string that was handed out
// stays as it is for as long as somebody holds it, also when it is replaced, freed or moved. Unless reuse is set: then room
// that was freed is used again, and nobody may hold a string longer than until something is put or freed.
type byteArena struct {
	chunks [][]byte // nil: a number to be used again
	freed  []int    // by chunk: bytes that were freed
	last   int      // the number of the chunk that is filled, counted from 1; 0: the next text opens one
	unused []int    // numbers of chunks that are nil
	live   int      // bytes that are referenced
	dead   int      // bytes that were freed
	enough int      // as long as fewer are dead, it does not pay to look for them again
	reuse  bool
	spare  []uint64 // with reuse, by size in units of spareUnit: the room to be used next, 0: none; in it stands the one after
}

// With reuse a string takes a multiple of spareUnit bytes, and room of up to maxSpare units is used again.
const (
	spareUnit = 8
	maxSpare  = 256
)

// units is the room that n bytes take with reuse.
func units(n int) int { return (n + spareUnit - 1) / spareUnit }

// put copies s into the arena.
func (a *byteArena) put(s string) uint64 {
	if u := units(len(s)); a.reuse && u < len(a.spare) && a.spare[u] != 0 {
		return a.fill(u, s)
	}
	return a.append(s)
}

// fill copies s into room of u units that was freed.
func (a *byteArena) fill(u int, s string) uint64 {
	ref := a.spare[u]
	c, o := ref>>40-1, int(ref>>16&0xFFFFFF)
	b := a.chunks[c][o : o+u*spareUnit]
	a.spare[u] = binary.LittleEndian.Uint64(b)
	copy(b, s)
	a.live += len(b)
	a.dead -= len(b)
	a.freed[c] -= len(b)
	return ref | uint64(len(s))
}

// append copies s to the end of the arena.
func (a *byteArena) append(s string) uint64 {
	need := a.room(len(s))
	c := a.last - 1
	if c < 0 || cap(a.chunks[c])-len(a.chunks[c]) < need {
		c = a.open(need)
	}
	b := a.chunks[c]
	ref := uint64(c+1)<<40 | uint64(len(b))<<16
	if len(s) >= longRef {
		n := uint64(len(s))
		b = append(b, byte(n), byte(n>>8), byte(n>>16), byte(n>>24), byte(n>>32), byte(n>>40), byte(n>>48), byte(n>>56))
		ref |= longRef
	} else {
		ref |= uint64(len(s))
	}
	a.chunks[c] = append(b, s...)[:int(ref>>16&0xFFFFFF)+need]
	a.live += need
	return ref
}

// open makes a chunk with room for need bytes the one that is filled.
func (a *byteArena) open(need int) int {
	// A sixteenth more each time: an arena that fills no further wastes little.
	b := allocBytes(max(min(max((a.live+a.dead)/16, minByteChunk), maxByteChunk), need))
	c := len(a.chunks)
	if n := len(a.unused); n > 0 {
		c, a.unused = a.unused[n-1], a.unused[:n-1]
		a.chunks[c] = b
	} else {
		a.chunks, a.freed = append(a.chunks, b), append(a.freed, 0)
	}
	a.last = c + 1
	return c
}

// get gives the bytes behind a reference; they never change.
func (a *byteArena) get(ref uint64) string {
	if ref == 0 {
		return ""
	}
	b := a.chunks[ref>>40-1]
	o, n := int(ref>>16&0xFFFFFF), int(ref&0xFFFF)
	if n == longRef {
		n = 0
		for i := 7; i >= 0; i-- {
			n = n<<8 | int(b[o+i])
		}
		o += 8
	}
	if n == 0 {
		return ""
	}
	return unsafe.String(&b[o], n)
}

// room is the number of bytes that a string of n bytes takes.
func (a *byteArena) room(n int) int {
	if n >= longRef {
		n += 8
	}
	if a.reuse {
		n = units(n) * spareUnit
	}
	return n
}

// free gives up the bytes behind a reference.
func (a *byteArena) free(ref uint64) {
	if ref == 0 {
		return
	}
	n := a.bury(ref)
	if u := n / spareUnit; a.reuse && 0 < u && u <= maxSpare {
		for len(a.spare) <= u {
			a.spare = append(a.spare, 0)
		}
		binary.LittleEndian.PutUint64(a.chunks[ref>>40-1][ref>>16&0xFFFFFF:], a.spare[u])
		a.spare[u] = ref &^ longRef
	}
}

// bury counts the bytes behind a reference as dead.
func (a *byteArena) bury(ref uint64) int {
	n := int(ref & longRef)
	if n == longRef {
		n = len(a.get(ref))
	}
	n = a.room(n)
	a.live -= n
	a.dead += n
	a.freed[ref>>40-1] += n
	return n
}

// move copies the bytes behind a reference to the end of the arena.
func (a *byteArena) move(ref uint64) uint64 {
	to := a.append(a.get(ref))
	a.bury(ref)
	return to
}

// wasteful reports whether texts should be moved out of chunks of which much is dead.
func (a *byteArena) wasteful() bool { return a.dead > a.live/4+4*minByteChunk && a.dead > a.enough }

// sparse says of each chunk whether so much of it is dead that its texts are to be moved. Of a wasteful arena some are. The
// next text opens a chunk. Room that was freed is not used again before that.
func (a *byteArena) sparse() []bool {
	a.spare = a.spare[:0]
	s := make([]bool, len(a.chunks))
	for c, b := range a.chunks {
		s[c] = b != nil && 5*a.freed[c] >= len(b)
	}
	if a.last > 0 && s[a.last-1] {
		a.last = 0
	}
	return s
}

// drop gives up the sparse chunks, whose texts have been moved.
func (a *byteArena) drop(sparse []bool) {
	for c, gone := range sparse {
		if gone {
			a.dead -= a.freed[c]
			a.chunks[c], a.freed[c] = nil, 0
			a.unused = append(a.unused, c)
		}
	}
	a.enough = a.dead + a.live/8
}

// size is the memory held, in bytes.
func (a *byteArena) size() int {
	n := 0
	for _, c := range a.chunks {
		n += cap(c)
	}
	return n
}

// recArena is the arena of a map's records. It grows by chunks that never move, so that no insertion takes long and little
// is held that is not used; only the first chunk starts small. A record lies in one chunk, and its offset is made of the
// chunk's number and the place in it; a record that is longer than a chunk has one of its own.
type recArena struct {
	chunks [][]uint64 // behind its length: chunks to be used again
	words  int        // in use
}

const (
	recBits  = 12
	recChunk = 1 << recBits // words
	minRecs  = 16
)

// at gives the words from an offset to the end of the chunk.
func (a *recArena) at(o uint32) []uint64 { return a.chunks[o>>recBits][o&(recChunk-1):] }

// chunk gives the chunk of an offset, and the place in it: what at gives, without making a slice.
func (a *recArena) chunk(o uint32) ([]uint64, int) {
	return a.chunks[o>>recBits], int(o & (recChunk - 1))
}

// has reports whether the offset of a record, or the next one behind it, is that of a record.
func (a *recArena) has(o uint32) bool { return int(o>>recBits) < len(a.chunks) }

// next gives the offset behind a record of n words.
func (a *recArena) next(o, n uint32) uint32 {
	i := o >> recBits
	if int(o&(recChunk-1)+n) < len(a.chunks[i]) {
		return o + n
	}
	return (i + 1) << recBits
}

// end is an offset that all records have below them, and no later one.
func (a *recArena) end() uint32 {
	i := len(a.chunks) - 1
	if i < 0 {
		return 0
	}
	return uint32(i<<recBits + min(len(a.chunks[i]), recChunk))
}

// add makes a record of n words, which are not cleared.
func (a *recArena) add(n int) (o uint32, rec []uint64) {
	i := len(a.chunks) - 1
	if i < 0 || len(a.chunks[i])+n > cap(a.chunks[i]) {
		i = a.open(n)
	}
	at := len(a.chunks[i])
	a.chunks[i] = a.chunks[i][:at+n]
	a.words += n
	return uint32(i<<recBits + at), a.chunks[i][at:]
}

// open makes room for a record of n words in a new chunk, or in the first one while that is small.
func (a *recArena) open(n int) int {
	i := len(a.chunks)
	if i == 1 && len(a.chunks[0])+n <= recChunk {
		c := allocWords(min(max(2*cap(a.chunks[0]), len(a.chunks[0])+n), recChunk))
		a.chunks[0] = c[:copy(c, a.chunks[0])]
		return 0
	}
	size := recChunk
	if i == 0 {
		size = minRecs
	}
	size = max(size, n)
	if i < cap(a.chunks) {
		if c := a.chunks[:i+1][i]; cap(c) >= size && cap(c) <= recChunk {
			a.chunks = append(a.chunks, c[:0])
			return i
		}
	}
	a.chunks = append(a.chunks, allocWords(size)[:0])
	return i
}

// reset empties the arena and keeps its memory.
func (a *recArena) reset() { a.chunks, a.words = a.chunks[:0], 0 }

// size is the memory held, in bytes.
func (a *recArena) size() int {
	n := 0
	for _, c := range a.chunks[:cap(a.chunks)] {
		n += 8*cap(c) + int(unsafe.Sizeof(c))
	}
	return n
}

// wordChunks keeps records of words. It grows without moving what it holds, so that no single put takes long.
type wordChunks struct{ chunks [][]uint64 }

const (
	placeBits    = 12
	maxWordChunk = 1 << placeBits
)

// put copies a record and gives its place: chunk number (20 bits), offset (12 bits; that of a longer record is 0).
func (w *wordChunks) put(rec []uint64) uint64 {
	c := len(w.chunks) - 1
	if c < 0 || cap(w.chunks[c])-len(w.chunks[c]) < len(rec)+1 {
		size := 128
		if c >= 0 {
			size = min(2*cap(w.chunks[c]), maxWordChunk)
		}
		w.chunks = append(w.chunks, allocWords(max(size, len(rec)+1))[:0])
		c++
	}
	at := len(w.chunks[c])
	w.chunks[c] = append(append(w.chunks[c], uint64(len(rec))), rec...)
	return uint64(c)<<placeBits | uint64(at)
}

// get gives the record at a place.
func (w *wordChunks) get(place uint64) []uint64 {
	c, at := w.chunks[place>>placeBits], place&(maxWordChunk-1)
	return c[at+1 : at+1+c[at]]
}
