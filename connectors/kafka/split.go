package kafka

import (
	"encoding/binary"
	"fmt"

	"runnel/connectors"
)

// noStop is the stop of a partition that is read for ever.
const noStop = int64(-1)

// fromStart is the position of a partition that is read from whatever is its earliest offset by then.
const fromStart = int64(-2)

// split is the state of one partition of a source. Its encoding is version 1: the version byte, then topic (length and
// bytes), partition, next offset, rows of the message at that offset that were given already, and stop, all as varints.
type split struct {
	topicPartition
	offset int64 // next to read, or fromStart
	skip   int64 // rows of the message at offset that were given already
	stop   int64 // first offset not to read, or noStop
}

const splitVersion = 1

func (s split) id() string { return s.String() }

func (s split) encode() connectors.Split {
	b := []byte{splitVersion}
	b = binary.AppendUvarint(b, uint64(len(s.topic)))
	b = append(b, s.topic...)
	for _, v := range []int64{int64(s.partition), s.offset, s.skip, s.stop} {
		b = binary.AppendVarint(b, v)
	}
	return connectors.Split{ID: s.id(), State: b}
}

func decodeSplit(c connectors.Split) (split, error) {
	bad := func(what string) (split, error) {
		return split{}, fmt.Errorf("state of Kafka partition %s: %s", c.ID, what)
	}
	b := c.State
	if len(b) == 0 || b[0] != splitVersion {
		return bad("unknown version")
	}
	n, w := binary.Uvarint(b[1:])
	if w <= 0 || n > uint64(len(b)-1-w) {
		return bad("cut short")
	}
	b = b[1+w:]
	s := split{}
	s.topic, b = string(b[:n]), b[n:]
	var part int64
	for _, v := range []*int64{&part, &s.offset, &s.skip, &s.stop} {
		x, w := binary.Varint(b)
		if w <= 0 {
			return bad("cut short")
		}
		*v, b = x, b[w:]
	}
	s.partition = int32(part)
	if len(b) > 0 || part < 0 || int64(s.partition) != part || s.offset < fromStart || s.skip < 0 || s.stop < noStop {
		return bad("damaged")
	}
	return s, nil
}
