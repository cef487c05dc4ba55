package kafka

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// mendTopics notes in topics.json the topics below dir that have partitions there but no note: kfake writes down what
// CreateTopics makes, and of a topic that the first metadata request makes only at its own orderly end. Without the note it
// would begin the topic anew, over the rows of the old one.
func mendTopics(dir string) error {
	parts, err := os.ReadDir(filepath.Join(dir, "partitions"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("partitions of the embedded broker: %w", err)
	}
	type topic struct {
		Name       string            `json:"name"`
		ID         []byte            `json:"id"`
		Partitions int               `json:"partitions"`
		Replicas   int               `json:"replicas"`
		Configs    map[string]string `json:"configs,omitempty"`
	}
	var notes struct {
		Version int     `json:"version"`
		Topics  []topic `json:"topics"`
	}
	path := filepath.Join(dir, "topics.json")
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &notes)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil // kfake has not got as far as to open the directory
	}
	if err != nil {
		return fmt.Errorf("topics of the embedded broker: %s: %w", path, err)
	}
	known := map[string]bool{}
	for _, t := range notes.Topics {
		known[t.Name] = true
	}
	lost := map[string]int{} // topic -> its partitions
	for _, p := range parts {
		i := strings.LastIndexByte(p.Name(), '-')
		name, err := url.PathUnescape(p.Name()[:max(i, 0)])
		number, err2 := strconv.Atoi(p.Name()[i+1:])
		if err == nil && err2 == nil && name != "" && !known[name] {
			lost[name] = max(lost[name], number+1)
		}
	}
	if len(lost) == 0 {
		return nil
	}
	for _, name := range sortedKeys(lost) {
		id := make([]byte, 16)
		rand.Read(id)
		notes.Topics = append(notes.Topics, topic{Name: name, ID: id, Partitions: lost[name], Replicas: 1})
	}
	if text, err = json.Marshal(notes); err == nil {
		err = writeFile(path, text)
	}
	if err != nil {
		return fmt.Errorf("topics of the embedded broker: %w", err)
	}
	return nil
}

// mendIndexes completes the index files of the embedded broker's partitions below dir. kfake writes a batch to N.dat and
// then an entry of 15 bytes to N.idx that says whether the batch belongs to an open transaction. A kill in between leaves
// a batch without an entry: kfake would take its rows for committed, and give it the next batch's entry later on.
//
// An entry is the version, the low byte of the CRC-32C of what follows it, the leader epoch (4 bytes), a time that kfake
// computes anew (8 bytes), and 1 for a batch of a transaction; little endian.
func mendIndexes(dir string) error {
	parts, err := os.ReadDir(filepath.Join(dir, "partitions"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("partitions of the embedded broker: %w", err)
	}
	for _, p := range parts {
		at := filepath.Join(dir, "partitions", p.Name())
		base, err := newestSegment(at)
		if err == nil && base >= 0 {
			err = mendIndex(filepath.Join(at, strconv.FormatInt(base, 10)))
		}
		if err != nil {
			return fmt.Errorf("index of partition %s of the embedded broker: %w", p.Name(), err)
		}
	}
	return nil
}

// newestSegment gives the base offset of the segment that is written to, the highest; -1 for none.
func newestSegment(dir string) (int64, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return -1, err
	}
	newest := int64(-1)
	for _, f := range files {
		if name, ok := strings.CutSuffix(f.Name(), ".dat"); ok {
			if base, err := strconv.ParseInt(name, 10, 64); err == nil {
				newest = max(newest, base)
			}
		}
	}
	return newest, nil
}

const (
	indexEntry   = 15
	batchHead    = 23 // of a record batch: up to its attributes
	indexVersion = 1
)

// mendIndex appends the entries that segment.idx lacks for the batches of segment.dat.
func mendIndex(segment string) error {
	dat, err := os.Open(segment + ".dat")
	if err != nil {
		return err
	}
	defer dat.Close()
	info, err := dat.Stat()
	if err != nil {
		return err
	}
	idx, err := os.OpenFile(segment+".idx", os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return err
	}
	defer idx.Close()
	have, err := idx.Stat()
	if err != nil {
		return err
	}
	whole := have.Size() / indexEntry
	missing, err := indexEntries(dat, info.Size(), whole)
	if err != nil || len(missing) == 0 {
		return err
	}
	if _, err := idx.WriteAt(missing, whole*indexEntry); err != nil {
		return err
	}
	return idx.Sync()
}

// indexEntries makes the entries of the batches behind the first skip ones. What is cut short at the end is none.
func indexEntries(dat io.ReaderAt, size, skip int64) ([]byte, error) {
	var entries bytes.Buffer
	var head [batchHead]byte
	for at := int64(0); at+batchHead <= size; skip-- {
		if _, err := dat.ReadAt(head[:], at); err != nil {
			return nil, err
		}
		length := int64(int32(binary.BigEndian.Uint32(head[8:])))
		if length < batchHead-12 || at+12+length > size {
			break
		}
		at += 12 + length
		if skip > 0 {
			continue
		}
		var e [indexEntry]byte
		e[0] = indexVersion
		copy(e[2:6], []byte{head[15], head[14], head[13], head[12]})
		const transactional, control = 1 << 4, 1 << 5
		if attributes := binary.BigEndian.Uint16(head[21:]); attributes&transactional != 0 && attributes&control == 0 {
			e[14] = 1
		}
		e[1] = byte(crc32.Checksum(e[2:], castagnoli))
		entries.Write(e[:])
	}
	return entries.Bytes(), nil
}
