package state

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// A savepoint is a directory: _metadata, which is a Checkpoint as JSON to read, and one data file per subtask of an
// operator that has keyed state. A data file is the magic "RNLS", its version (2 bytes), two zero bytes; then blobs, each
// behind its number in the savepoint and its length (4 bytes each, little-endian). It needs nothing outside itself.
const (
	saveMagic   = "RNLS"
	saveVersion = 1
	saveHeader  = 8
	saveFrame   = 8

	// MetadataFile is the name of the file that describes a savepoint, or points to a checkpoint.
	MetadataFile = "_metadata"
)

// Savepoint writes one savepoint. The directory appears under its name when it is whole; until then, and after a crash,
// there is only one whose name ends in .inprogress. It is safe for concurrent use.
type Savepoint struct {
	final string
	temp  string

	spare buffers

	mu    sync.Mutex
	files []*saveFile
}

// saveFile is a data file being written.
type saveFile struct {
	mu       sync.Mutex
	name     string
	operator string
	subtask  int
	f        *os.File
	w        *bufio.Writer
	sum      hash.Hash32
	bytes    int64
}

// CreateSavepoint begins a savepoint of a job in a directory of its own below target.
func CreateSavepoint(target, job string) (*Savepoint, error) {
	target, err := filepath.Abs(target)
	if err != nil {
		return nil, fmt.Errorf("savepoint: %w", err)
	}
	var random [6]byte
	if _, err := rand.Read(random[:]); err != nil {
		return nil, fmt.Errorf("savepoint: %w", err)
	}
	final := filepath.Join(target, fmt.Sprintf("savepoint-%.6s-%s", job, hex.EncodeToString(random[:])))
	s := &Savepoint{final: final, temp: final + ".inprogress"}
	if err := os.MkdirAll(s.temp, 0o755); err != nil {
		return nil, fmt.Errorf("savepoint: %w", err)
	}
	return s, nil
}

// Path is the directory of the savepoint once it is whole.
func (s *Savepoint) Path() string { return s.final }

// Sink takes the blobs of one subtask of an operator, which must come from a Freeze that asked for a savepoint.
func (s *Savepoint) Sink(operator string, subtask int, groups Range) Sink {
	return &saveSink{s: s, operator: operator, subtask: subtask, groups: groups}
}

type saveSink struct {
	s        *Savepoint
	operator string
	subtask  int
	groups   Range
	file     *saveFile
}

func (k *saveSink) Buffer(size int) []byte { return k.s.spare.get(size) }

func (k *saveSink) Put(ref BlobRef, data []byte) error {
	defer k.s.spare.put(data)
	if k.file == nil {
		f, err := k.s.create(k.operator, k.subtask, k.groups)
		if err != nil {
			return fmt.Errorf("savepoint: %w", err)
		}
		k.file = f
	}
	var frame [saveFrame]byte
	binary.LittleEndian.PutUint32(frame[:], ref.Seq)
	binary.LittleEndian.PutUint32(frame[4:], uint32(len(data)))
	if err := k.file.write(frame[:], data); err != nil {
		return fmt.Errorf("savepoint: %w", err)
	}
	return nil
}

// create makes a data file. Names are for people; _metadata tells which is which.
func (s *Savepoint) create(operator string, subtask int, groups Range) (*saveFile, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	clean := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, operator)
	name := fmt.Sprintf("%03d-%.60s-%d-%s.data", len(s.files)+1, clean, subtask, groups)
	f, err := os.OpenFile(filepath.Join(s.temp, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	d := &saveFile{name: name, operator: operator, subtask: subtask, f: f, w: bufio.NewWriterSize(f, 1<<20), sum: crc32.New(castagnoli)}
	s.files = append(s.files, d)
	return d, d.write(binary.LittleEndian.AppendUint16([]byte(saveMagic), saveVersion), []byte{0, 0})
}

func (d *saveFile) write(parts ...[]byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range parts {
		d.sum.Write(p)
		d.bytes += int64(len(p))
		if _, err := d.w.Write(p); err != nil {
			return err
		}
	}
	return nil
}

func (d *saveFile) finish() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return errors.Join(d.w.Flush(), d.f.Sync(), d.f.Close())
}

// Complete writes the metadata and gives the savepoint its name; then it is durable. After an error it is still to be
// aborted.
func (s *Savepoint) Complete(cp *Checkpoint) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	cp.Format, cp.Version, cp.Savepoint, cp.Files = "savepoint", checkpointVersion, true, nil
	for _, d := range s.files {
		if err := d.finish(); err != nil {
			return fmt.Errorf("savepoint: %w", err)
		}
		d.f = nil
		cp.Files = append(cp.Files, File{Name: d.name, Operator: d.operator, Subtask: d.subtask, Bytes: d.bytes, CRC: d.sum.Sum32()})
	}
	if err := writeMetadata(s.temp, cp); err != nil {
		return fmt.Errorf("savepoint: %w", err)
	}
	if err := os.Rename(s.temp, s.final); err != nil {
		return fmt.Errorf("savepoint: %w", err)
	}
	if err := syncDir(filepath.Dir(s.final)); err != nil {
		return fmt.Errorf("savepoint: %w", err)
	}
	return nil
}

// Abort gives the savepoint up and removes what was written.
func (s *Savepoint) Abort() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.files {
		if d.f != nil {
			d.f.Close()
			d.f = nil
		}
	}
	if err := os.RemoveAll(s.temp); err != nil {
		return fmt.Errorf("savepoint: %w", err)
	}
	return nil
}

// writeMetadata writes _metadata into a directory, under another name first.
func writeMetadata(dir string, v any) error {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	temp := filepath.Join(dir, MetadataFile+".inprogress")
	f, err := os.OpenFile(temp, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(text.Bytes())
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(temp, filepath.Join(dir, MetadataFile)); err != nil {
		return err
	}
	return syncDir(dir)
}

// syncDir makes a directory's entries durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// openSavepoint opens a savepoint for restoring: it checks every file's length and checksum.
func openSavepoint(dir string, cp *Checkpoint) (*Snapshot, error) {
	s := &savedFiles{readers: map[savedSubtask]*savedFile{}}
	for _, f := range cp.Files {
		r, err := openSaved(filepath.Join(dir, filepath.Base(f.Name)), f)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("savepoint %s, file %s: %w", dir, f.Name, err), s.close())
		}
		s.readers[savedSubtask{f.Operator, f.Subtask}] = r
	}
	return &Snapshot{Checkpoint: cp, close: s.close, blobs: func(operator string, subtask int) BlobReader {
		if r := s.readers[savedSubtask{operator, subtask}]; r != nil {
			return r
		}
		return &savedFile{} // without blobs
	}}, nil
}

type savedSubtask struct {
	operator string
	subtask  int
}

type savedFiles struct{ readers map[savedSubtask]*savedFile }

func (s *savedFiles) close() error {
	var err error
	for _, r := range s.readers {
		err = errors.Join(err, r.f.Close())
	}
	return err
}

// savedFile reads the blobs of a data file.
type savedFile struct {
	f     *os.File
	blobs map[uint32]span
}

type span struct {
	at  int64
	len int
}

func openSaved(path string, want File) (_ *savedFile, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() != want.Bytes {
		return nil, fmt.Errorf("it has %d bytes, should have %d", info.Size(), want.Bytes)
	}
	sum := crc32.New(castagnoli)
	r := &savedFile{f: f, blobs: map[uint32]span{}}
	if err := r.index(bufio.NewReaderSize(io.TeeReader(f, sum), 1<<20), want.Bytes); err != nil {
		return nil, err
	}
	if got := sum.Sum32(); got != want.CRC {
		return nil, fmt.Errorf("it is damaged: checksum %08x, should be %08x", got, want.CRC)
	}
	return r, nil
}

// index reads a data file from its beginning and notes where the blobs are.
func (r *savedFile) index(in *bufio.Reader, size int64) error {
	var head [saveHeader]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return fmt.Errorf("header: %w", err)
	}
	if string(head[:4]) != saveMagic {
		return fmt.Errorf("it begins with %q, not %q", head[:4], saveMagic)
	}
	if v := binary.LittleEndian.Uint16(head[4:]); v != saveVersion {
		return fmt.Errorf("it has version %d, this program reads version %d", v, saveVersion)
	}
	for at := int64(saveHeader); at < size; {
		var frame [saveFrame]byte
		if _, err := io.ReadFull(in, frame[:]); err != nil {
			return fmt.Errorf("blob at byte %d: %w", at, err)
		}
		n := binary.LittleEndian.Uint32(frame[4:])
		at += saveFrame
		if _, err := in.Discard(int(n)); err != nil {
			return fmt.Errorf("blob at byte %d: %w", at, err)
		}
		r.blobs[binary.LittleEndian.Uint32(frame[:])] = span{at, int(n)}
		at += int64(n)
	}
	return nil
}

func (r *savedFile) Blob(ref BlobRef) ([]byte, error) {
	s, ok := r.blobs[ref.Seq]
	if !ok {
		return nil, errors.New("blob is not in the savepoint")
	}
	b := make([]byte, s.len)
	if _, err := r.f.ReadAt(b, s.at); err != nil {
		return nil, err
	}
	return b, nil
}

// DeleteSavepoint removes a savepoint or a published checkpoint's metadata. Anything else is refused.
func DeleteSavepoint(path string) error {
	m, err := ReadMetadata(path)
	if err != nil {
		return err
	}
	names := []string{MetadataFile}
	if m.Savepoint != nil {
		for _, f := range m.Savepoint.Files {
			names = append(names, filepath.Base(f.Name))
		}
	}
	slices.Reverse(names) // _metadata last, so that an interrupted removal can be repeated
	for _, n := range names {
		if err := os.Remove(filepath.Join(m.Dir, n)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("removing %s: %w", m.Dir, err)
		}
	}
	if err := os.Remove(m.Dir); err != nil {
		return fmt.Errorf("removing %s: %w", m.Dir, err)
	}
	return nil
}
