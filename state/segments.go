package state

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// segments keeps the values of a place in plain files, one value behind the other, and leaves it to an index to know where
// each lies. Badger is that index: it maps every file that it writes, and a page that is touched first through a mapping
// costs six times as much as one that is written, once for its log and once for each table that the value is merged into.
// That values lie apart from their keys is the idea of WiscKey (Lu et al., FAST 2016).
//
// A file that is full is sealed. It goes when nothing in it is needed any more; one that is mostly dead is thinned out
// first, see thin. Files take at most twice the bytes of what is needed, and one file more.
type segments struct {
	dir string

	mu     sync.RWMutex // held for writing while a file goes
	files  map[uint32]*segment
	values map[string]extent // what this process wrote and did not remove
	now    *segment          // that is being filled
	out    directWriter      // to it
	last   uint32
	listed bool // the newest file is in the directory for good
}

// segment is a file that this process writes or wrote.
type segment struct {
	number uint32
	file   *os.File // nil when it is sealed and synced
	size   int64
	live   int64 // bytes of values that are needed
	dirty  bool  // there are bytes that were not synced
}

// extent is where a value lies.
type extent struct {
	segment    uint32
	offset     int64
	length     uint32
	checkpoint int64 // that put it
}

const (
	// segmentSize is how much is put into a file; only a single value can make it longer.
	segmentSize = 32 << 20
	extentSize  = 16
	maxValue    = 1 << 30
)

func newSegments(dir string) *segments {
	return &segments{dir: dir, files: map[uint32]*segment{}, values: map[string]extent{}}
}

// append writes the extent as the index keeps it.
func (e extent) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, e.segment)
	b = binary.LittleEndian.AppendUint32(b, e.length)
	return binary.LittleEndian.AppendUint64(b, uint64(e.offset))
}

func parseExtent(b []byte) (extent, error) {
	if len(b) != extentSize {
		return extent{}, fmt.Errorf("the place of a value has %d bytes, this program reads %d", len(b), extentSize)
	}
	e := extent{segment: binary.LittleEndian.Uint32(b), length: binary.LittleEndian.Uint32(b[4:]), offset: int64(binary.LittleEndian.Uint64(b[8:]))}
	if e.length > maxValue || e.offset < 0 {
		return extent{}, errors.New("the place of a value is damaged")
	}
	return e, nil
}

func (s *segments) path(number uint32) string {
	return filepath.Join(s.dir, fmt.Sprintf("%06d.values", number))
}

// put writes a value. It is durable behind the next sync.
func (s *segments) put(checkpoint int64, key, value []byte) (extent, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.write(checkpoint, string(key), value)
}

func (s *segments) write(checkpoint int64, key string, value []byte) (extent, error) {
	if len(value) > maxValue {
		return extent{}, fmt.Errorf("value of %d bytes is too large", len(value))
	}
	if s.now == nil || s.now.size > 0 && s.now.size+int64(len(value)) > segmentSize {
		if err := s.next(); err != nil {
			return extent{}, err
		}
	}
	g := s.now
	e := extent{g.number, g.size, uint32(len(value)), checkpoint}
	g.dirty = true
	err := s.out.append(value)
	g.size = s.out.size() // with what was appended before an error: nobody needs it
	if err != nil {
		return extent{}, err
	}
	g.live += int64(len(value))
	s.values[key] = e
	return e, nil
}

// next seals the file that is being filled and begins another one.
func (s *segments) next() error {
	if s.now != nil {
		if err := s.out.finish(); err != nil {
			return err
		}
	}
	f, err := s.out.open(s.path(s.last + 1))
	if err != nil {
		return err
	}
	s.last++
	s.now, s.listed = &segment{number: s.last, file: f}, false
	s.files[s.last] = s.now
	return nil
}

// sync makes everything that was put durable.
func (s *segments) sync() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now != nil && s.now.dirty {
		if err := s.out.flush(); err != nil {
			return err
		}
	}
	for _, g := range s.files {
		if !g.dirty {
			continue
		}
		if err := g.file.Sync(); err != nil {
			return err
		}
		g.dirty = false
		if g != s.now {
			if err := g.file.Close(); err != nil {
				return err
			}
			g.file = nil
		}
	}
	if s.listed || s.now == nil {
		return nil
	}
	s.listed = true
	return syncDir(s.dir)
}

// get reads a value. The caller holds mu.
func (s *segments) get(e extent) ([]byte, error) {
	f, err := os.Open(s.path(e.segment))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	size := info.Size()
	if s.now != nil && s.now.number == e.segment {
		size = s.now.size
	}
	if e.offset+int64(e.length) > size {
		return nil, fmt.Errorf("%s ends before its value at %d of %d bytes", s.path(e.segment), e.offset, e.length)
	}
	b := make([]byte, e.length)
	stored := len(b)
	if s.now != nil && s.now.number == e.segment {
		stored = s.out.tail(b, e.offset)
	}
	_, err = f.ReadAt(b[:stored], e.offset)
	return b, err
}

// forget notes that a value is not needed any more.
func (s *segments) forget(key []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := s.values[string(key)]; ok {
		delete(s.values, string(key))
		s.files[e.segment].live -= int64(e.length)
	}
}

// thin writes the values of files that are mostly dead once more, except values of checkpoints that are still open, and
// gives their new places for the index. The files may go when the index is durable, see purge.
func (s *segments) thin(open func(checkpoint int64) bool) (moved map[string]extent, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	poor := map[uint32]bool{}
	for n, g := range s.files {
		if g != s.now && g.live > 0 && g.live < g.size/2 {
			poor[n] = true
		}
	}
	if len(poor) == 0 {
		return nil, nil
	}
	moved = map[string]extent{}
	for _, e := range s.values {
		if open(e.checkpoint) {
			delete(poor, e.segment)
		}
	}
	for key, e := range s.values {
		if !poor[e.segment] {
			continue
		}
		b, err := s.get(e)
		if err != nil {
			return nil, err
		}
		to, err := s.write(e.checkpoint, key, b)
		if err != nil {
			return nil, err
		}
		s.files[e.segment].live -= int64(e.length)
		moved[key] = to
	}
	return moved, nil
}

// purge removes sealed files in which nothing is needed.
func (s *segments) purge() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n, g := range s.files {
		if g == s.now || g.live > 0 {
			continue
		}
		delete(s.files, n)
		var err error
		if g.file != nil {
			err = g.file.Close()
		}
		if err = errors.Join(err, os.Remove(s.path(n))); err != nil {
			return err
		}
	}
	return nil
}

func (s *segments) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	for _, g := range s.files {
		if g.file != nil {
			err = errors.Join(err, g.file.Close())
		}
	}
	return err
}
