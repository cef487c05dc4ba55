package kafka

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/IBM/sarama"
)

// rowLog keeps the records of one open transaction in a local file, so that they can be written again when the broker has
// lost the transaction. The file is the magic and then one frame for each record batch: length and CRC-32C of the body,
// four bytes each, little endian; the body is topic, partition, number of records, and for each record its timestamp,
// key, value and headers (lengths plus one, 0 for null).
type rowLog struct {
	name  string
	f     *os.File
	w     *bufio.Writer
	bytes int64
	rows  int64
	frame []byte
}

const (
	rowLogMagic = "RNLROWS1"
	openSuffix  = ".open" // of a log whose transaction is not prepared yet: no snapshot can speak of it
)

func createRowLog(dir, name string) (*rowLog, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("directory of the row log: %w", err)
	}
	f, err := os.Create(filepath.Join(dir, name+openSuffix))
	if err != nil {
		return nil, fmt.Errorf("row log: %w", err)
	}
	l := &rowLog{name: name, f: f, w: bufio.NewWriterSize(f, 256<<10), bytes: int64(len(rowLogMagic))}
	l.w.WriteString(rowLogMagic)
	return l, nil
}

// add appends a sealed batch.
func (l *rowLog) add(part *outPart, b *outBatch) error {
	f := append(l.frame[:0], make([]byte, 8)...)
	f = appendString(f, part.topic)
	f = binary.AppendVarint(f, int64(part.partition))
	f = binary.AppendVarint(f, int64(len(b.recs)))
	for i := range b.recs {
		r := &b.recs[i]
		f = binary.AppendVarint(f, b.millis+r.TimestampDelta.Milliseconds())
		f = appendNullable(f, r.Key)
		f = appendNullable(f, r.Value)
		f = binary.AppendVarint(f, int64(len(r.Headers)))
		for _, h := range r.Headers {
			f = appendNullable(f, h.Key)
			f = appendNullable(f, h.Value)
		}
	}
	binary.LittleEndian.PutUint32(f, uint32(len(f)-8))
	binary.LittleEndian.PutUint32(f[4:], crc32.Checksum(f[8:], castagnoli))
	l.frame = f
	l.bytes += int64(len(f))
	l.rows += int64(len(b.recs))
	if _, err := l.w.Write(f); err != nil {
		return fmt.Errorf("row log: %w", err)
	}
	return nil
}

func appendNullable(f, b []byte) []byte {
	if b == nil {
		return append(f, 0)
	}
	return append(binary.AppendUvarint(f, uint64(len(b))+1), b...)
}

// finish makes the log durable, closes it and gives it its name.
func (l *rowLog) finish() error {
	err := l.w.Flush()
	if err == nil {
		err = l.f.Sync()
	}
	if e := l.f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(l.f.Name(), strings.TrimSuffix(l.f.Name(), openSuffix))
	}
	if err != nil {
		return fmt.Errorf("row log: %w", err)
	}
	return nil
}

// drop closes the log and removes it.
func (l *rowLog) drop() {
	l.f.Close()
	os.Remove(l.f.Name())
}

// readRowLog gives the batches of a finished log of the given size, one at a time, in order.
func readRowLog(path string, size int64, each func(tp topicPartition, b *outBatch) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	r := bufio.NewReaderSize(io.LimitReader(f, size), 256<<10)
	magic := make([]byte, len(rowLogMagic))
	if _, err := io.ReadFull(r, magic); err != nil || string(magic) != rowLogMagic {
		return fmt.Errorf("row log %s: %w", path, errDamaged)
	}
	left := size - int64(len(magic))
	for left > 0 {
		var head [8]byte
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return fmt.Errorf("row log %s: cut short: %w", path, err)
		}
		n := int64(binary.LittleEndian.Uint32(head[:]))
		if left -= 8 + n; left < 0 {
			return fmt.Errorf("row log %s: %w", path, errDamaged)
		}
		body := make([]byte, n)
		if _, err := io.ReadFull(r, body); err != nil {
			return fmt.Errorf("row log %s: cut short: %w", path, err)
		}
		if crc32.Checksum(body, castagnoli) != binary.LittleEndian.Uint32(head[4:]) {
			return fmt.Errorf("row log %s: wrong checksum", path)
		}
		tp, b, err := readFrame(body)
		if err != nil {
			return fmt.Errorf("row log %s: %w", path, err)
		}
		if err := each(tp, b); err != nil {
			return err
		}
	}
	return nil
}

func readFrame(body []byte) (topicPartition, *outBatch, error) {
	d := bytesReader{rest: body}
	tp := topicPartition{d.string(), int32(d.int())}
	b := &outBatch{}
	for i := range d.count() {
		millis := d.int()
		if i == 0 {
			b.millis, b.latest = millis, millis
		}
		b.latest = max(b.latest, millis)
		rec := &sarama.Record{OffsetDelta: int64(i), TimestampDelta: time.Duration(millis-b.millis) * time.Millisecond}
		rec.Key, rec.Value = d.nullable(), d.nullable()
		for range d.count() {
			rec.Headers = append(rec.Headers, &sarama.RecordHeader{Key: d.nullable(), Value: d.nullable()})
		}
		b.ptrs = append(b.ptrs, rec)
	}
	if d.bad || len(d.rest) > 0 || len(b.ptrs) == 0 {
		return tp, nil, errDamaged
	}
	return tp, b, nil
}

func (r *bytesReader) nullable() []byte {
	l, n := binary.Uvarint(r.rest)
	if n <= 0 || l > uint64(len(r.rest)-n)+1 {
		r.bad = true
		return nil
	}
	r.rest = r.rest[n:]
	if l == 0 {
		return nil
	}
	b := r.rest[: l-1 : l-1]
	r.rest = r.rest[l-1:]
	return b
}

// errNoLog says that there is no row log for a transaction.
var errNoLog = errors.New("its rows were not kept")
