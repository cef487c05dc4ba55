package state

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
	"sync"
)

// A blob is a header of 32 bytes and a payload:
//
//	 0  magic "RNLB"
//	 4  version (2 bytes)
//	 6  part
//	 7  flags
//	 8  first and last key group (2 bytes each)
//	12  records
//	16  length of the payload in bytes
//	20  CRC-32C of the state's name
//	24  0
//	28  CRC-32C of everything else
//
// Numbers are little-endian, four bytes unless stated.
const (
	blobMagic   = "RNLB"
	blobVersion = 1
	blobHeader  = 32

	// BlobLimit is the size up to which a blob is filled. Only a single record can make it larger.
	BlobLimit = 256 << 10
)

// Flags of a blob.
const (
	flagStamped  = 1 // records carry a TTL stamp
	flagTimeless = 2 // rows of a log carry no time
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func nameSum(name string) uint32 { return crc32.Checksum([]byte(name), castagnoli) }

// blob is a blob that was read and checked.
type blob struct {
	part    uint8
	flags   uint8
	groups  Range
	records int
	name    uint32
	payload []byte
	subtask int   // the former subtask, by position
	from    Range // its key groups
}

// openBlob checks and splits a blob. Whatever the bytes are, it gives an error or a sound header.
func openBlob(b []byte) (blob, error) {
	if len(b) < blobHeader {
		return blob{}, fmt.Errorf("blob of %d bytes is shorter than its header", len(b))
	}
	if string(b[:4]) != blobMagic {
		return blob{}, fmt.Errorf("blob begins with %q, not %q", b[:4], blobMagic)
	}
	if v := binary.LittleEndian.Uint16(b[4:]); v != blobVersion {
		return blob{}, fmt.Errorf("blob has version %d, this program reads version %d", v, blobVersion)
	}
	if n := binary.LittleEndian.Uint32(b[16:]); int(n) != len(b)-blobHeader {
		return blob{}, fmt.Errorf("blob has %d bytes of payload, its header says %d", len(b)-blobHeader, n)
	}
	if sum := binary.LittleEndian.Uint32(b[28:]); sum != blobSum(b) {
		return blob{}, fmt.Errorf("blob is damaged: checksum %08x, its header says %08x", blobSum(b), sum)
	}
	return blob{part: b[6], flags: b[7],
		groups:  Range{int32(binary.LittleEndian.Uint16(b[8:])), int32(binary.LittleEndian.Uint16(b[10:]))},
		records: int(binary.LittleEndian.Uint32(b[12:])),
		name:    binary.LittleEndian.Uint32(b[20:]),
		payload: b[blobHeader:]}, nil
}

func blobSum(b []byte) uint32 {
	return crc32.Update(crc32.Checksum(b[:28], castagnoli), castagnoli, b[blobHeader:])
}

// buffers hands out buffers for blobs, above all those that are done with: a page of new memory costs more than what is
// written to it. Safe for concurrent use.
type buffers struct{ used sync.Pool }

// get gives an empty buffer with room for so many bytes, never less than a header.
func (p *buffers) get(size int) []byte {
	if size < BlobLimit/8 {
		return make([]byte, 0, max(size, blobHeader))
	}
	if b, ok := p.used.Get().(*[]byte); ok {
		return (*b)[:0]
	}
	return make([]byte, 0, blobHeader+BlobLimit)
}

// put takes a buffer back.
func (p *buffers) put(b []byte) {
	if cap(b) == blobHeader+BlobLimit {
		p.used.Put(&b)
	}
}

// blobWriter fills the blobs of one checkpoint of one subtask.
type blobWriter struct {
	sink  Sink
	ckpt  int64
	owned Range // the key groups of the subtask
	seq   uint32
	words []uint64 // scratch for one record

	// The blob being filled; buf is empty between units.
	buf     []byte
	add     func(BlobRef) // told of every blob written
	name    uint32
	part    uint8
	flags   uint8
	left    int // bytes to come after this blob, roughly
	first   int32
	last    int32
	records uint32
}

// begin starts the blobs of a part of a state, of which about so many bytes are to come.
func (w *blobWriter) begin(name uint32, part, flags uint8, add func(BlobRef), bytes int) {
	w.name, w.part, w.flags, w.add, w.left = name, part, flags, add, bytes
	w.open()
}

func (w *blobWriter) open() {
	if w.buf == nil {
		w.buf = w.sink.Buffer(blobHeader + max(64, min(w.left, BlobLimit)))[:blobHeader]
		clear(w.buf)
		w.left -= BlobLimit
	}
	w.first, w.last, w.records = maxGroups, -1, 0
}

// begun reports whether a part is being written.
func (w *blobWriter) begun() bool { return w.buf != nil }

// record adds a record of a key group.
func (w *blobWriter) record(group int32, words []uint64) error {
	if err := w.fit(8 * len(words)); err != nil {
		return err
	}
	w.buf = appendWords(w.buf, words)
	return w.count(group)
}

// fit goes on with a new blob if a record of so many bytes would make this one too large.
func (w *blobWriter) fit(size int) error {
	if w.records == 0 || len(w.buf)+size <= BlobLimit {
		return nil
	}
	if err := w.seal(); err != nil {
		return err
	}
	w.open()
	return nil
}

// sliceRecord adds a record of a slice: its time and the encoded record.
func (w *blobWriter) sliceRecord(time int64, rec []uint64) error {
	if err := w.fit(8*len(rec) + 8); err != nil {
		return err
	}
	w.buf = binary.LittleEndian.AppendUint64(w.buf, uint64(time))
	w.buf = appendWords(w.buf, rec)
	return w.count(int32(rec[0] >> groupShift & 0xFFFF))
}

// recordAll adds a record that every key group must see.
func (w *blobWriter) recordAll(words []uint64) error {
	if err := w.record(w.owned.First, words); err != nil {
		return err
	}
	w.first, w.last = 0, maxGroups-1
	return nil
}

func appendWords(b []byte, words []uint64) []byte {
	n := len(b)
	b = slices.Grow(b, 8*len(words))[:n+8*len(words)]
	for i, v := range words {
		binary.LittleEndian.PutUint64(b[n+8*i:], v)
	}
	return b
}

// count notes that a record of the group was added to buf. A group of another subtask means that an operator computes keys
// otherwise than the exchange in front of it: a restore at another parallelism would not find the record.
func (w *blobWriter) count(group int32) error {
	if !w.owned.Has(group) {
		return fmt.Errorf("a record is in key group %d, its subtask owns %d to %d", group, w.owned.First, w.owned.Last)
	}
	w.first, w.last = min(w.first, group), max(w.last, group)
	w.records++
	return nil
}

// end finishes the part.
func (w *blobWriter) end() error {
	if w.records == 0 {
		w.buf = nil
		return nil
	}
	return w.seal()
}

// seal finishes the blob and hands it to the sink.
func (w *blobWriter) seal() error {
	b := w.buf
	w.buf = nil
	copy(b, blobMagic)
	binary.LittleEndian.PutUint16(b[4:], blobVersion)
	b[6], b[7] = w.part, w.flags
	binary.LittleEndian.PutUint16(b[8:], uint16(w.first))
	binary.LittleEndian.PutUint16(b[10:], uint16(w.last))
	binary.LittleEndian.PutUint32(b[12:], w.records)
	binary.LittleEndian.PutUint32(b[16:], uint32(len(b)-blobHeader))
	binary.LittleEndian.PutUint32(b[20:], w.name)
	binary.LittleEndian.PutUint32(b[28:], blobSum(b))
	ref := BlobRef{Checkpoint: w.ckpt, Seq: w.seq, First: uint16(w.first), Last: uint16(w.last), Part: w.part, Bytes: uint32(len(b))}
	w.seq++
	if err := w.sink.Put(ref, b); err != nil {
		return err
	}
	w.add(ref)
	return nil
}
