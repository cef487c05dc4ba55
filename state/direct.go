package state

import (
	"errors"
	"os"
	"syscall"
	"unsafe"
)

const (
	// directBlock is what memory, offset and length of a direct write are multiples of: no common disk has larger blocks.
	directBlock = 4 << 10
	// directPiece is how much is written at once: a call costs as much as half a megabyte.
	directPiece = 1 << 20
)

// directWriter appends to a file past the page cache: pages of the cache are dear to fill, and checkpoints are read only
// after a failure. What is not written yet lies in memory. Where a file system refuses direct writes they go through the cache.
type directWriter struct {
	file   *os.File
	direct bool
	buf    []byte // what is behind base in the file; its memory begins at a block
	base   int64  // a multiple of blocks; everything before it is written
}

// open makes a file, which must not exist, the one that is appended to. What was appended to the last one must have been
// flushed; closing it is the caller's.
func (w *directWriter) open(path string) (*os.File, error) {
	const flags = os.O_CREATE | os.O_EXCL | os.O_RDWR
	f, err := os.OpenFile(path, flags|directFlag, 0o644)
	direct := err == nil && directFlag != 0
	if errors.Is(err, syscall.EINVAL) { // the file may have been made, by then
		f, err = os.OpenFile(path, flags&^os.O_EXCL|os.O_TRUNC, 0o644)
	}
	if err != nil {
		return nil, err
	}
	if w.buf == nil {
		w.buf = alignedBytes(directPiece)
	}
	w.file, w.direct, w.buf, w.base = f, direct, w.buf[:0], 0
	return f, nil
}

// alignedBytes gives an empty slice of n bytes of memory that begins at a block.
func alignedBytes(n int) []byte {
	b := make([]byte, n+directBlock)
	from := -int(uintptr(unsafe.Pointer(&b[0]))) & (directBlock - 1)
	return b[from : from : from+n]
}

// size is how many bytes were appended.
func (w *directWriter) size() int64 { return w.base + int64(len(w.buf)) }

// append appends p. After an error a part of it may have been, and what is still in memory is written with the next call.
func (w *directWriter) append(p []byte) error {
	for len(p) > 0 {
		if len(w.buf) == cap(w.buf) {
			if err := w.flush(); err != nil {
				return err
			}
		}
		n := copy(w.buf[len(w.buf):cap(w.buf)], p)
		w.buf, p = w.buf[:len(w.buf)+n], p[n:]
	}
	return nil
}

// flush writes what is in memory, the last block filled up with zeros. It stays in memory until it is full, to be written over with
// what follows: the same bytes in front, so that a write that is torn does no harm.
func (w *directWriter) flush() error {
	whole := len(w.buf) &^ (directBlock - 1)
	padded := w.buf[:(len(w.buf)+directBlock-1)&^(directBlock-1)]
	clear(padded[len(w.buf):])
	if err := w.write(padded); err != nil {
		return err
	}
	w.base += int64(whole)
	w.buf = w.buf[:copy(w.buf, w.buf[whole:])]
	return nil
}

// write writes at base. A file system may find out only here that it has no direct writes.
func (w *directWriter) write(p []byte) error {
	_, err := w.file.WriteAt(p, w.base)
	if !w.direct || !errors.Is(err, syscall.EINVAL) {
		return err
	}
	if err := undirect(w.file); err != nil {
		return err
	}
	w.direct = false
	_, err = w.file.WriteAt(p, w.base)
	return err
}

// finish writes what is in memory and gives the file its length.
func (w *directWriter) finish() error {
	if err := w.flush(); err != nil {
		return err
	}
	return w.file.Truncate(w.size())
}

// tail copies what is still in memory of the bytes from an offset on to their place in b, and gives how many bytes of b
// come before: these are in the file.
func (w *directWriter) tail(b []byte, offset int64) (before int) {
	before = int(min(max(w.base-offset, 0), int64(len(b))))
	if before < len(b) {
		copy(b[before:], w.buf[offset+int64(before)-w.base:])
	}
	return before
}
