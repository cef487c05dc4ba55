package kafka

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
)

// committable describes a transaction that waits for its checkpoint: all that anybody needs to commit it, to find out
// whether it was committed, and to write its rows again.
//
// Its encoding is version 1: the version byte; the strings txn, group, topic, run and log (length and bytes); the varints
// producer id, epoch, checkpoint, rows and log bytes; the number of partitions and for each topic, partition and first
// offset; and the CRC-32C of all that, four bytes, little endian.
type committable struct {
	who        identity
	mark       marker
	rows       int64
	log        string // file name of the row log, "" for none
	logBytes   int64
	partitions []txnPartition
}

// txnPartition is a partition that a transaction has written to.
type txnPartition struct {
	topicPartition
	first int64 // offset of the transaction's first record in it, -1 when unknown
}

const committableVersion = 1

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func (c *committable) encode() []byte {
	b := []byte{committableVersion}
	for _, s := range []string{c.who.txn, c.mark.group, c.mark.topic, c.mark.run, c.log} {
		b = appendString(b, s)
	}
	for _, v := range []int64{c.who.id, int64(c.who.epoch), c.mark.checkpoint, c.rows, c.logBytes, int64(len(c.partitions))} {
		b = binary.AppendVarint(b, v)
	}
	for _, p := range c.partitions {
		b = appendString(b, p.topic)
		b = binary.AppendVarint(b, int64(p.partition))
		b = binary.AppendVarint(b, p.first)
	}
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

var errDamaged = errors.New("damaged")

func decodeCommittable(b []byte) (*committable, error) {
	if len(b) < 5 || b[0] != committableVersion {
		return nil, fmt.Errorf("Kafka committable of %d bytes: unknown version", len(b))
	}
	body, sum := b[:len(b)-4], binary.LittleEndian.Uint32(b[len(b)-4:])
	if crc32.Checksum(body, castagnoli) != sum {
		return nil, fmt.Errorf("Kafka committable of %d bytes: wrong checksum", len(b))
	}
	d := bytesReader{rest: body[1:]}
	c := &committable{}
	for _, s := range []*string{&c.who.txn, &c.mark.group, &c.mark.topic, &c.mark.run, &c.log} {
		*s = d.string()
	}
	c.who.id, c.who.epoch, c.mark.checkpoint, c.rows, c.logBytes = d.int(), int16(d.int()), d.int(), d.int(), d.int()
	for range d.count() {
		c.partitions = append(c.partitions, txnPartition{topicPartition{d.string(), int32(d.int())}, d.int()})
	}
	if d.bad || len(d.rest) > 0 {
		return nil, fmt.Errorf("Kafka committable of %d bytes: %w", len(b), errDamaged)
	}
	return c, nil
}

// decodeCommittables gives them in the order of their checkpoints, each once.
func decodeCommittables(raw [][]byte) ([]*committable, error) {
	cs := make([]*committable, 0, len(raw))
	seen := map[identity]bool{}
	for _, b := range raw {
		c, err := decodeCommittable(b)
		if err != nil {
			return nil, err
		}
		if !seen[c.who] {
			seen[c.who] = true
			cs = append(cs, c)
		}
	}
	slices.SortStableFunc(cs, func(a, b *committable) int { return int(min(max(a.mark.checkpoint-b.mark.checkpoint, -1), 1)) })
	return cs, nil
}

// bytesReader takes an encoding apart; bad is set at the first thing that does not fit.
type bytesReader struct {
	rest []byte
	bad  bool
}

func (r *bytesReader) int() int64 {
	v, n := binary.Varint(r.rest)
	if n <= 0 {
		r.bad = true
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

func (r *bytesReader) bytes() []byte {
	l, n := binary.Uvarint(r.rest)
	if n <= 0 || l > uint64(len(r.rest)-n) {
		r.bad = true
		return nil
	}
	b := r.rest[n : n+int(l)]
	r.rest = r.rest[n+int(l):]
	return b
}

func (r *bytesReader) string() string { return string(r.bytes()) }

// count reads a number of elements, each of which takes at least a byte.
func (r *bytesReader) count() int {
	n := r.int()
	if n < 0 || n > int64(len(r.rest)) {
		r.bad = true
		return 0
	}
	return int(n)
}
