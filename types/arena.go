package types

import "unsafe"

// Arena makes the immutable text of PhysStr columns in chunks of up to 64 KB, so that a batch costs an allocation now and
// then instead of one per value. Chunks are never reused; the collector frees one when no text of it is left. The zero
// value is ready. It is not safe for concurrent use.
type Arena struct{ chunk []byte }

// arenaOwn is the length from which a text gets memory of its own: it would pin or waste too much of a chunk.
const arenaOwn = 4 << 10

// Copy gives a text with the bytes of b.
func (a *Arena) Copy(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if len(b) >= arenaOwn {
		return string(b)
	}
	if cap(a.chunk)-len(a.chunk) < len(b) {
		a.grow(len(b))
	}
	at := len(a.chunk)
	a.chunk = append(a.chunk, b...)
	return unsafe.String(&a.chunk[at], len(b))
}

// Buf gives an empty slice to append a text to; Take makes it one. Between the two nothing else of a may be called.
func (a *Arena) Buf() []byte {
	if cap(a.chunk)-len(a.chunk) < 64 {
		a.grow(64)
	}
	return a.chunk[len(a.chunk):]
}

// Take gives the text of b, which was appended to what Buf gave and must not be changed any more. Whether b still lies in
// the chunk or had to grow out of it makes no difference to the caller.
func (a *Arena) Take(b []byte) string {
	n := len(a.chunk)
	if len(b) == 0 {
		return ""
	}
	if n+len(b) <= cap(a.chunk) && &a.chunk[:n+1][n] == &b[0] {
		a.chunk = a.chunk[:n+len(b)]
		return unsafe.String(&b[0], len(b))
	}
	if cap(b) >= 2*len(b) && len(b) < arenaOwn {
		return a.Copy(b) // append left much spare room behind it
	}
	return unsafe.String(&b[0], len(b))
}

func (a *Arena) grow(n int) {
	a.chunk = make([]byte, 0, max(n, min(max(2*cap(a.chunk), 1<<10), 1<<16)))
}

// view gives b as a text that is used at once and not kept.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
