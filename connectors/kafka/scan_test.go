package kafka

import (
	"encoding/binary"
	"io"
	"net"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// writeMarker commits a transaction in one partition only, as a broker that dies within a commit does.
func (r *rig) writeMarker(addr string, who identity, topic string, partition int32) {
	r.t.Helper()
	req := kmsg.NewPtrWriteTxnMarkersRequest()
	m := kmsg.NewWriteTxnMarkersRequestMarker()
	m.ProducerID, m.ProducerEpoch, m.Committed = who.id, who.epoch, true
	t := kmsg.NewWriteTxnMarkersRequestMarkerTopic()
	t.Topic, t.Partitions = topic, []int32{partition}
	m.Topics = append(m.Topics, t)
	req.Markers = append(req.Markers, m)
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		r.t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write(kmsg.NewRequestFormatter().AppendRequest(nil, req, 1)); err != nil {
		r.t.Fatal(err)
	}
	size := make([]byte, 4)
	if _, err := io.ReadFull(conn, size); err != nil {
		r.t.Fatal(err)
	}
	if _, err := io.CopyN(io.Discard, conn, int64(binary.BigEndian.Uint32(size))); err != nil {
		r.t.Fatal(err)
	}
}

// TestHalfCommit: the embedded broker dies after it has committed one of two partitions. Only the other is written again.
func TestHalfCommit(t *testing.T) {
	if realBootstrap() != "" {
		t.Skip("a real broker finishes the commit by itself")
	}
	r := newRig(t)
	tab := r.txnTable(2)
	topic := tab.Options["topic"]
	j := r.job(tab)
	j.mustStart(snapshot{}, 1)
	j.write(0, series(1, 5)...)
	j.write(0, series(6, 10)...) // the other partition's turn
	s := j.prepare(1)
	cs, err := decodeCommittables(s.committables)
	if err != nil || len(cs) != 1 || len(cs[0].partitions) != 2 {
		t.Fatalf("%+v, %v", cs, err)
	}
	r.writeMarker(r.k.host.addr, cs[0].who, topic, 0)
	j.fence(s)
	j.crash()
	r.wantRows(topic, 1, 5)
	for range 2 {
		j.mustStart(s, 1)
		j.crash()
	}
	j.mustStart(s, 1)
	j.close()
	r.wantRows(topic, 1, 10)
}
