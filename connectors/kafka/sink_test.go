package kafka

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"runnel/connectors"
	"runnel/types"
)

// newCluster is a cluster of three brokers whose answers a test can change. It counts as a real one.
func newCluster(t *testing.T) (*rig, *kfake.Cluster) {
	t.Helper()
	c, err := kfake.NewCluster(kfake.NumBrokers(3), kfake.DataDir(t.TempDir()), kfake.AllowAutoTopicCreation(), kfake.DefaultNumPartitions(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	r := &rig{t: t, dir: t.TempDir(), servers: strings.Join(c.ListenAddrs(), ",")}
	r.open()
	return r, c
}

func TestPartitioners(t *testing.T) {
	r := newRig(t)
	read := func(topic string) map[string][]string { // partition -> values
		tab := r.table(topic, []string{"a INT", "p INT METADATA partition"}, "scan.startup.mode", "earliest-offset", "scan.bounded.mode", "latest-offset")
		m := map[string][]string{}
		for _, row := range r.scan(tab, all(tab)).mustRead(-1) {
			a, p, _ := strings.Cut(row[3:], "|")
			m[p] = append(m[p], a)
		}
		return m
	}
	fixed := r.newTopic(3)
	r.writeRows(r.table(fixed, []string{"a INT"}, "sink.partitioner", "fixed"), series(1, 20)...)
	if m := read(fixed); len(m) != 1 || len(m["0"]) != 20 {
		t.Errorf("fixed: %v", m)
	}
	keyed := r.newTopic(3)
	tab := r.table(keyed, []string{"a INT"}, "format", "", "value.format", "text", "key.format", "text", "key.fields", "a")
	r.writeRows(tab, "21", "21", "12")
	m := read(keyed)
	if p := fmt.Sprint(int(murmur2([]byte("21"))&0x7fffffff) % 3); len(m[p]) < 2 {
		t.Errorf("keyed: %v, 21 belongs to %s", m, p)
	}
	turns := r.newTopic(2)
	for i := range 6 {
		r.writeRows(r.table(turns, []string{"a INT"}, "sink.partitioner", "round-robin"), fmt.Sprint(i))
	}
	if m := read(turns); len(m["0"])+len(m["1"]) != 6 {
		t.Errorf("in turn: %v", m)
	}
}

// TestMurmur2 compares with values of Kafka's own function.
func TestMurmur2(t *testing.T) {
	for text, want := range map[string]int32{
		"21": -973932308, "foobar": -790332482, "a-little-bit-long-string": -985981536, "a-little-bit-longer-string": -1486304829,
		"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971, "abc": 479470107,
	} {
		if got := int32(murmur2([]byte(text))); got != want {
			t.Errorf("%s: %d instead of %d", text, got, want)
		}
	}
}

func TestTopicColumn(t *testing.T) {
	r := newRig(t)
	a, b := r.newTopic(1), r.newTopic(1)
	tab := r.table(a+";"+b, []string{"a INT", "t STRING METADATA topic"}, "scan.startup.mode", "earliest-offset", "scan.bounded.mode", "latest-offset")
	r.writeRows(tab, "1|"+a, "2|"+b, "3|"+a)
	r.want(r.scan(tab, all(tab)).mustRead(-1), "+I 1|"+a, "+I 2|"+b, "+I 3|"+a)
	sink, err := r.k.Connector().Sink(connectors.SinkRequest{Table: tab, Columns: all(tab)})
	if err != nil {
		t.Fatal(err)
	}
	w, err := sink.Open(r.ctx(), connectors.SinkEnv{Env: testEnv(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	var data *types.DataError
	if err := w.Write(r.ctx(), rowsOf(tab, all(tab), "4|elsewhere")); !errors.As(err, &data) {
		t.Errorf("error %v", err)
	}
}

func TestRowtimeStamps(t *testing.T) {
	r := newRig(t)
	topic := r.newTopic(1)
	tab := r.table(topic, []string{"a INT", "ts TS"})
	tab.Columns[1].Type.Attr = types.Rowtime
	r.writeRows(tab, "1|5000000", "2|4000000")
	read := r.at(topic, "scan.startup.mode", "earliest-offset", "scan.bounded.mode", "latest-offset")
	r.want(r.scan(read, all(read)).mustRead(-1), "+I 1|5000000", "+I 2|4000000")
	before := r.at(topic)
	sink, err := r.k.Connector().Sink(connectors.SinkRequest{Table: before, Columns: all(before)})
	if err != nil {
		t.Fatal(err)
	}
	w, err := sink.Open(r.ctx(), connectors.SinkEnv{Env: testEnv(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := w.Write(r.ctx(), rowsOf(before, all(before), "1|-5000000")); err == nil || !strings.Contains(err.Error(), "no timestamps before 1970") {
		t.Errorf("error %v", err)
	}
}

// TestCompression writes and reads with each codec.
func TestCompression(t *testing.T) {
	r := newRig(t)
	for _, codec := range []string{"gzip", "snappy", "lz4", "zstd"} {
		tab := r.table(r.newTopic(1), []string{"a INT"}, "properties.compression.type", codec, "scan.startup.mode", "earliest-offset", "scan.bounded.mode", "latest-offset")
		r.writeRows(tab, series(1, 2000)...)
		if n := len(r.scan(tab, all(tab)).mustRead(-1)); n != 2000 {
			t.Errorf("%s: %d rows", codec, n)
		}
	}
}

// TestProduceFaults lets produce requests fail in ways that pass; order is kept and nothing doubles.
func TestProduceFaults(t *testing.T) {
	for _, guarantee := range []string{"at-least-once", exactlyOnce} {
		for name, fault := range map[string]func(n int, req *kmsg.ProduceRequest) (kmsg.Response, error, bool){
			"not the leader": func(n int, req *kmsg.ProduceRequest) (kmsg.Response, error, bool) {
				return produceError(req, int16(sarama.ErrNotLeaderForPartition)), nil, n%4 == 1
			},
			"answer lost": func(n int, req *kmsg.ProduceRequest) (kmsg.Response, error, bool) {
				return nil, errors.New("cut"), n == 2 || n == 5
			},
			"too few replicas": func(n int, req *kmsg.ProduceRequest) (kmsg.Response, error, bool) {
				return produceError(req, int16(sarama.ErrNotEnoughReplicas)), nil, n > 1 && n < 5
			},
		} {
			t.Run(guarantee+"/"+name, func(t *testing.T) {
				r, c := newCluster(t)
				topic := r.newTopic(1)
				n := 0
				c.ControlKey(int16(kmsg.Produce), func(req kmsg.Request) (kmsg.Response, error, bool) {
					c.KeepControl()
					n++
					return fault(n, req.(*kmsg.ProduceRequest))
				})
				tab := r.table(topic, []string{"a INT"}, "sink.delivery-guarantee", guarantee, "sink.transactional-id-prefix", "p", "properties.transaction.timeout.ms", "60000")
				j := r.job(tab)
				if guarantee == exactlyOnce {
					j.mustStart(snapshot{}, 1)
				} else {
					w, err := j.sink.Open(r.ctx(), j.env(0, 1))
					if err != nil {
						t.Fatal(err)
					}
					j.writers = []connectors.Writer{w}
				}
				for i := range 10 {
					j.write(0, series(i*10, i*10+9)...)
				}
				s := j.prepare(1)
				if guarantee == exactlyOnce {
					j.commit(s)
					j.commits.Close()
				}
				j.writers[0].Close()
				var want []string
				for _, v := range series(0, 99) {
					want = append(want, "+I "+v)
				}
				if got := r.committed(topic); !slices.Equal(got, want) {
					t.Errorf("%d rows: %v", len(got), got)
				}
			})
		}
	}
}

// produceError answers every partition of a request with an error.
func produceError(req *kmsg.ProduceRequest, code int16) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.ProduceResponse)
	for _, t := range req.Topics {
		rt := kmsg.NewProduceResponseTopic()
		rt.Topic, rt.TopicID = t.Topic, t.TopicID
		for _, p := range t.Partitions {
			rp := kmsg.NewProduceResponseTopicPartition()
			rp.Partition, rp.ErrorCode = p.Partition, code
			rt.Partitions = append(rt.Partitions, rp)
		}
		resp.Topics = append(resp.Topics, rt)
	}
	return resp
}

// TestGivesUp: a write that never succeeds ends in an error that says what and where.
func TestGivesUp(t *testing.T) {
	r, c := newCluster(t)
	topic := r.newTopic(1)
	c.ControlKey(int16(kmsg.Produce), func(req kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		return produceError(req.(*kmsg.ProduceRequest), int16(sarama.ErrNotEnoughReplicas)), nil, true
	})
	tab := r.table(topic, []string{"a INT"}, "properties.delivery.timeout.ms", "300")
	sink, err := r.k.Connector().Sink(connectors.SinkRequest{Table: tab, Columns: all(tab)})
	if err != nil {
		t.Fatal(err)
	}
	w, err := sink.Open(r.ctx(), connectors.SinkEnv{Env: testEnv(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := w.Write(r.ctx(), rowsOf(tab, all(tab), "1")); err != nil {
		t.Fatal(err)
	}
	_, _, err = w.Prepare(r.ctx(), 1)
	if err == nil || !strings.Contains(err.Error(), "writing c.d.t: batch of 1 records for topic "+topic+", partition 0") {
		t.Errorf("error %v", err)
	}
}

// TestMoves moves leaders and coordinators between the brokers while a job reads and writes.
func TestMoves(t *testing.T) {
	r, c := newCluster(t)
	in, out := r.newTopic(1), r.newTopic(1)
	src := r.table(in, []string{"a INT"}, "scan.startup.mode", "earliest-offset")
	s := r.scan(src, all(src))
	tab := r.table(out, []string{"a INT"}, "sink.delivery-guarantee", exactlyOnce, "sink.transactional-id-prefix", "p", "properties.transaction.timeout.ms", "60000")
	j := r.job(tab)
	j.mustStart(snapshot{}, 1)
	for i := range 6 {
		r.writeRows(src, fmt.Sprint(i))
		got := s.mustRead(1)
		j.write(0, got[0][3:])
		for _, topic := range []string{in, out} {
			if err := c.MoveTopicPartition(topic, 0, int32(i%3)); err != nil {
				t.Fatal(err)
			}
		}
		c.RehashCoordinators()
		p := j.prepare(int64(i + 1))
		c.RehashCoordinators()
		j.commit(p)
	}
	j.close()
	r.wantRows(out, 0, 5)
}

// TestTransactionalRetries lets transactional requests be answered with "not yet" first, as real brokers do.
func TestTransactionalRetries(t *testing.T) {
	r, c := newCluster(t)
	topic := r.newTopic(1)
	seen := map[int16]int{}
	for _, key := range []kmsg.Key{kmsg.InitProducerID, kmsg.AddPartitionsToTxn, kmsg.AddOffsetsToTxn, kmsg.TxnOffsetCommit, kmsg.EndTxn} {
		c.ControlKey(int16(key), func(req kmsg.Request) (kmsg.Response, error, bool) {
			c.KeepControl()
			codes := []int16{51, 14, 15, 16}
			n := seen[req.Key()]
			seen[req.Key()]++
			if n >= len(codes) {
				return nil, nil, false
			}
			return txnError(req, codes[n]), nil, true
		})
	}
	tab := r.table(topic, []string{"a INT"}, "sink.delivery-guarantee", exactlyOnce, "sink.transactional-id-prefix", "p", "properties.transaction.timeout.ms", "60000")
	j := r.job(tab)
	j.mustStart(snapshot{}, 1)
	j.write(0, "1", "2")
	j.checkpoint(1)
	j.close()
	r.wantRows(topic, 1, 2)
	for key, n := range seen {
		if n < 5 {
			t.Errorf("request %d was sent %d times", key, n)
		}
	}
}

func txnError(req kmsg.Request, code int16) kmsg.Response {
	switch q := req.(type) {
	case *kmsg.InitProducerIDRequest:
		p := q.ResponseKind().(*kmsg.InitProducerIDResponse)
		p.ErrorCode = code
		return p
	case *kmsg.AddPartitionsToTxnRequest:
		p := q.ResponseKind().(*kmsg.AddPartitionsToTxnResponse)
		for _, t := range q.Topics {
			rt := kmsg.NewAddPartitionsToTxnResponseTopic()
			rt.Topic = t.Topic
			for _, n := range t.Partitions {
				rp := kmsg.NewAddPartitionsToTxnResponseTopicPartition()
				rp.Partition, rp.ErrorCode = n, code
				rt.Partitions = append(rt.Partitions, rp)
			}
			p.Topics = append(p.Topics, rt)
		}
		return p
	case *kmsg.AddOffsetsToTxnRequest:
		p := q.ResponseKind().(*kmsg.AddOffsetsToTxnResponse)
		p.ErrorCode = code
		return p
	case *kmsg.TxnOffsetCommitRequest:
		p := q.ResponseKind().(*kmsg.TxnOffsetCommitResponse)
		for _, t := range q.Topics {
			rt := kmsg.NewTxnOffsetCommitResponseTopic()
			rt.Topic = t.Topic
			for _, n := range t.Partitions {
				rp := kmsg.NewTxnOffsetCommitResponseTopicPartition()
				rp.Partition, rp.ErrorCode = n.Partition, code
				rt.Partitions = append(rt.Partitions, rp)
			}
			p.Topics = append(p.Topics, rt)
		}
		return p
	case *kmsg.EndTxnRequest:
		p := q.ResponseKind().(*kmsg.EndTxnResponse)
		p.ErrorCode = code
		return p
	}
	return nil
}

// TestCancel ends a write that waits for a broker as soon as its context ends.
func TestCancel(t *testing.T) {
	r, c := newCluster(t)
	topic := r.newTopic(1)
	stuck := make(chan struct{})
	c.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		c.SleepControl(func() { <-stuck })
		return nil, errors.New("cut"), true
	})
	defer close(stuck)
	tab := r.table(topic, []string{"a INT"})
	sink, err := r.k.Connector().Sink(connectors.SinkRequest{Table: tab, Columns: all(tab)})
	if err != nil {
		t.Fatal(err)
	}
	w, err := sink.Open(r.ctx(), connectors.SinkEnv{Env: testEnv(t)})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(r.ctx(), rowsOf(tab, all(tab), "1")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := contextIn(100 * time.Millisecond)
	defer cancel()
	start := time.Now()
	if _, _, err := w.Prepare(ctx, 1); err == nil {
		t.Error("prepared without an answer")
	}
	w.Close()
	if d := time.Since(start); d > time.Second {
		t.Errorf("it took %v", d)
	}
}
