package state

import "unsafe"

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
// stays as it is for as long as somebody holds it, also when it is replaced, freed or moved.
type byteArena struct {
	chunks [][]byte // nil: a number to be used again
	freed  []int    // by chunk: bytes that were freed
	last   int      // the number of the chunk that is filled, counted from 1; 0: the next text opens one
	unused []int    // numbers of chunks that are nil
	live   int      // bytes that are referenced
	dead   int      // bytes that were freed
	enough int      // as long as fewer are dead, it does not pay to look for them again
}

// put copies s into the arena.
func (a *byteArena) put(s string) uint64 {
	need := len(s)
	if need >= longRef {
		need += 8
	}
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
	a.chunks[c] = append(b, s...)
	a.live += need
	return ref
}

// open makes a chunk with room for need bytes the one that is filled.
func (a *byteArena) open(need int) int {
	// An eighth more each time: an arena that fills no further wastes little.
	b := allocBytes(max(min(max((a.live+a.dead)/8, minByteChunk), maxByteChunk), need))
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

// free gives up the bytes behind a reference.
func (a *byteArena) free(ref uint64) {
	if ref == 0 {
		return
	}
	n := a.span(ref)
	a.live -= n
	a.dead += n
	a.freed[ref>>40-1] += n
}

// span is the number of bytes that a reference takes.
func (a *byteArena) span(ref uint64) int {
	n := len(a.get(ref))
	if n >= longRef {
		n += 8
	}
	return n
}

// wasteful reports whether texts should be moved out of chunks of which much is dead.
func (a *byteArena) wasteful() bool { return a.dead > a.live/4+4*minByteChunk && a.dead > a.enough }

// sparse says of each chunk whether so much of it is dead that its texts are to be moved. Of a wasteful arena some are. The
// next text opens a chunk.
func (a *byteArena) sparse() []bool {
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
