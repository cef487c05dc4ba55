package types

import "unsafe"

// cacheLine is the number of bytes that a processor loads at once.
const cacheLine = 64

// Warmer loads bytes into the cache that are about to be copied row by row. Its loads do not wait for each other, so that
// cache misses overlap. The zero value is ready.
type Warmer struct{ sum uint64 }

// Texts loads the texts of some rows.
func (w *Warmer) Texts(cols []*Column, rows []int32) {
	for _, c := range cols {
		if c.phys != PhysStr {
			continue
		}
		for _, i := range rows {
			w.Text(c.Str[i])
		}
	}
}

// Text loads a text.
func (w *Warmer) Text(s string) {
	if len(s) == 0 {
		return
	}
	p := unsafe.Pointer(unsafe.StringData(s))
	sum := uint64(*(*byte)(unsafe.Add(p, len(s)-1))) // so that the loads are not optimised away
	for at := 0; at < len(s); at += cacheLine {
		sum += uint64(*(*byte)(unsafe.Add(p, at)))
	}
	w.sum += sum
}
