package kafka

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kmsg"

	"runnel/connectors"
	"runnel/types"
)

// at makes a table whose written rows carry their time in milliseconds: "value|time".
func (r *rig) at(topic string, options ...string) *connectors.Table {
	return r.table(topic, []string{"a INT", "ts LTZ METADATA timestamp"}, options...)
}

func TestStartModes(t *testing.T) {
	r := newRig(t)
	topic := r.newTopic(2)
	write := r.at(topic, "sink.partitioner", "fixed") // everything in partition 0
	r.writeRows(write, "1|1000000", "2|2000000", "3|3000000")
	c := r.client()
	defer c.close()
	if err := c.commitOffsets(r.ctx(), "g-"+topic, map[topicPartition]int64{{topic, 0}: 2, {topic, 1}: 0}); err != nil {
		t.Fatal(err)
	}
	for _, m := range []struct {
		name    string
		options []string
		want    []string
	}{
		{"earliest", []string{"scan.startup.mode", "earliest-offset"}, []string{"+I 1", "+I 2", "+I 3", "+I 4"}},
		{"latest", []string{"scan.startup.mode", "latest-offset"}, []string{"+I 4"}},
		{"timestamp", []string{"scan.startup.mode", "timestamp", "scan.startup.timestamp-millis", "1500"}, []string{"+I 2", "+I 3", "+I 4"}},
		{"timestamp behind the end", []string{"scan.startup.mode", "timestamp", "scan.startup.timestamp-millis", "9000"}, []string{"+I 4"}},
		{"specific", []string{"scan.startup.mode", "specific-offsets", "scan.startup.specific-offsets", "partition:0,offset:1"}, []string{"+I 2", "+I 3", "+I 4"}},
		{"group", []string{"properties.group.id", "g-" + topic}, []string{"+I 3", "+I 4"}},
		{"group without offsets", []string{"properties.group.id", "none-" + topic, "properties.auto.offset.reset", "earliest"}, []string{"+I 1", "+I 2", "+I 3", "+I 4"}},
	} {
		t.Run(m.name, func(t *testing.T) {
			// A topic of its own, filled as the first, so that row 4 can follow the start.
			own := r.newTopic(2)
			r.writeRows(r.at(own, "sink.partitioner", "fixed"), "1|1000000", "2|2000000", "3|3000000")
			if err := c.commitOffsets(r.ctx(), "g-"+topic, map[topicPartition]int64{{own, 0}: 2, {own, 1}: 0}); err != nil {
				t.Fatal(err)
			}
			tab := r.table(own, []string{"a INT"}, m.options...)
			s := r.scan(tab, all(tab))
			defer s.close()
			if s.err != nil {
				t.Fatal(s.err)
			}
			r.writeRows(r.at(own, "sink.partitioner", "fixed"), "4|4000000")
			r.want(s.mustRead(len(m.want)), m.want...)
		})
	}
	t.Run("group without anything", func(t *testing.T) {
		tab := r.table(topic, []string{"a INT"}, "properties.group.id", "none-"+topic)
		if s := r.scan(tab, all(tab)); s.err == nil || !strings.Contains(s.err.Error(), "no committed offset for partition 0") {
			t.Errorf("error %v", s.err)
		}
	})
}

// TestSmallFetches reads with answers that hold one batch each, as large as what one poll gives: all partitions get their
// turn.
func TestSmallFetches(t *testing.T) {
	r := newRig(t)
	const batches = 5
	topics := []string{r.newTopic(1), r.newTopic(1), r.newTopic(1)}
	for i := range batches {
		for _, topic := range topics {
			r.writeRows(r.table(topic, []string{"a INT"}), slices.Repeat([]string{fmt.Sprint(i)}, types.BatchRows)...)
		}
	}
	tab := r.table(strings.Join(topics, ";"), []string{"a INT"}, "scan.startup.mode", "earliest-offset",
		"properties.fetch.max.bytes", "1", "properties.fetch.min.bytes", "1000000", "properties.fetch.max.wait.ms", "5")
	rows := r.scan(tab, all(tab)).mustRead(len(topics) * batches * types.BatchRows)
	var order []int // of the batches
	for i := 0; i < len(rows); i += types.BatchRows {
		order = append(order, int(rows[i][len(rows[i])-1]-'0'))
	}
	for i, n := range order {
		if n < i/len(topics)-1 || n > i/len(topics)+1 {
			t.Fatalf("one partition runs ahead of the others: %v", order)
		}
	}
}

func TestBoundedModes(t *testing.T) {
	r := newRig(t)
	topic := r.newTopic(2)
	r.writeRows(r.at(topic, "sink.partitioner", "fixed"), "1|1000000", "2|2000000", "3|3000000")
	c := r.client()
	defer c.close()
	if err := c.commitOffsets(r.ctx(), "g-"+topic, map[topicPartition]int64{{topic, 0}: 2, {topic, 1}: 0}); err != nil {
		t.Fatal(err)
	}
	for _, m := range []struct {
		name    string
		options []string
		want    []string
	}{
		{"latest", []string{"scan.bounded.mode", "latest-offset"}, []string{"+I 1", "+I 2", "+I 3"}},
		{"timestamp", []string{"scan.bounded.mode", "timestamp", "scan.bounded.timestamp-millis", "2000"}, []string{"+I 1"}},
		{"specific", []string{"scan.bounded.mode", "specific-offsets", "scan.bounded.specific-offsets", "partition:0,offset:2;partition:1,offset:0"}, []string{"+I 1", "+I 2"}},
		{"group", []string{"scan.bounded.mode", "group-offsets", "properties.group.id", "g-" + topic}, []string{"+I 1", "+I 2"}},
		{"nothing", []string{"scan.bounded.mode", "timestamp", "scan.bounded.timestamp-millis", "5"}, nil},
	} {
		t.Run(m.name, func(t *testing.T) {
			tab := r.table(topic, []string{"a INT"}, append(m.options, "scan.startup.mode", "earliest-offset")...)
			s := r.scan(tab, all(tab))
			defer s.close()
			r.want(s.mustRead(-1), m.want...)
		})
	}
}

func TestTopicsAndPattern(t *testing.T) {
	r := newRig(t)
	a, b := r.newTopic(1), r.newTopic(1)
	r.writeRows(r.table(a, []string{"a INT"}), "1")
	r.writeRows(r.table(b, []string{"a INT"}), "2")
	both := r.table(a+";"+b, []string{"a INT", "t STRING METADATA topic"}, "scan.startup.mode", "earliest-offset", "scan.bounded.mode", "latest-offset")
	r.want(r.scan(both, all(both)).mustRead(-1), "+I 1|"+a, "+I 2|"+b)

	pattern := r.table("", []string{"a INT"}, "topic", "", "topic-pattern", "("+a+"|no)", "scan.startup.mode", "earliest-offset", "scan.bounded.mode", "latest-offset")
	r.want(r.scan(pattern, all(pattern)).mustRead(-1), "+I 1")
}

func TestDiscovery(t *testing.T) {
	r := newRig(t)
	a := r.newTopic(1)
	tab := r.table("", []string{"a INT"}, "topic", "", "topic-pattern", a+".*", "scan.startup.mode", "latest-offset", "scan.topic-partition-discovery.interval", "1 s")
	r.writeRows(r.table(a, []string{"a INT"}), "1")
	s := r.scan(tab, all(tab))
	if s.enum.Interval() != time.Second {
		t.Errorf("interval %v", s.enum.Interval())
	}
	known := len(s.live)
	later := r.table(a+"-later", []string{"a INT"})
	r.writeRows(later, "2", "3") // before it is found
	var found []connectors.Split
	for {
		splits, err := s.enum.Discover(r.ctx(), false)
		if err != nil {
			t.Fatal(err)
		}
		found = slices.DeleteFunc(splits, func(sp connectors.Split) bool { return s.live[sp.ID] })
		if len(found) > 0 {
			break
		}
	}
	if known != 1 || len(found) != 1 {
		t.Fatalf("%d known, %d found", known, len(found))
	}
	s.assign(found)
	r.want(s.mustRead(2), "+I 2", "+I 3")
}

func TestRestoredSplits(t *testing.T) {
	r := newRig(t)
	topic := r.newTopic(1)
	tab := r.table(topic, []string{"a INT"}, "scan.startup.mode", "latest-offset")
	s := r.scan(tab, all(tab))
	before, err := s.reader.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	r.writeRows(tab, series(1, 3000)...)
	first := s.mustRead(1)
	after, err := s.reader.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	s.close()
	if n := len(r.scan(tab, all(tab), before...).mustRead(3000)); n != 3000 {
		t.Errorf("%d rows from before the first", n)
	}
	rest := r.scan(tab, all(tab), after...).mustRead(3000 - len(first))
	if rest[0] != fmt.Sprintf("+I %d", len(first)+1) {
		t.Errorf("goes on at %s after %d", rest[0], len(first))
	}
}

// TestSeveralRows reads messages of several rows: one that fits, one that does not, one larger than a batch.
func TestSeveralRows(t *testing.T) {
	r := newRig(t)
	topic := r.newTopic(1)
	raw := r.table(topic, []string{"a STRING"})
	r.writeRows(raw, strings.Join(series(1, 1000), ";"), strings.Join(series(1001, 1100), ";"), strings.Join(series(1101, 4100), ";"), "4101")
	tab := r.table(topic, []string{"a INT", "o BIGINT METADATA offset"}, "scan.startup.mode", "earliest-offset", "scan.bounded.mode", "latest-offset")
	s := r.scan(tab, all(tab))
	var got []string
	var snaps [][]connectors.Split
	var at []int
	for len(s.live) > 0 {
		p, err := s.reader.Poll()
		if err != nil {
			t.Fatal(err)
		}
		if p.Ended {
			delete(s.live, p.Split)
		}
		if p.Rows != nil {
			if p.Rows.Len > types.BatchRows {
				t.Errorf("batch of %d rows", p.Rows.Len)
			}
			for i := range p.Rows.Len {
				got = append(got, cell(p.Rows.Cols[0], int32(i))+"|"+cell(p.Rows.Cols[1], int32(i)))
			}
			snap, err := s.reader.Snapshot()
			if err != nil {
				t.Fatal(err)
			}
			snaps, at = append(snaps, snap), append(at, len(got))
		}
		if !p.More && len(s.live) > 0 {
			<-s.wake
		}
	}
	if len(got) != 4101 || got[0] != "1|0" || got[1000] != "1001|1" || got[4099] != "4100|2" || got[4100] != "4101|3" {
		t.Errorf("%d rows, %v .. %v", len(got), got[:2], got[len(got)-2:])
	}
	for i, snap := range snaps {
		if len(snap) == 0 {
			continue
		}
		rest := r.scan(tab, all(tab), snap...).mustRead(-1)
		if want := len(got) - at[i]; len(rest) != want || want > 0 && rest[0] != "+I "+got[at[i]] {
			t.Errorf("restored after %d rows: %d rows instead of %d", at[i], len(rest), want)
		}
	}
}

func TestKeyAndValue(t *testing.T) {
	r := newRig(t)
	topic := r.newTopic(1)
	cols := []string{"k_id INT", "v STRING", "h HEADERS METADATA headers", "ts LTZ METADATA timestamp"}
	opts := []string{"format", "", "value.format", "text", "key.format", "text", "key.fields", "k_id", "key.fields-prefix", "k_", "value.fields-include", "EXCEPT_KEY",
		"scan.startup.mode", "earliest-offset", "scan.bounded.mode", "latest-offset"}
	tab := r.table(topic, cols, opts...)
	r.writeRows(tab, "1|one|a=b,c=d|5000000", `2|two|\N|6000000`)
	read := r.table(topic, append(cols, "o BIGINT METADATA offset", "p INT METADATA partition", "t STRING METADATA topic", "y STRING METADATA timestamp-type", "w TS METADATA timestamp"), opts...)
	r.want(r.scan(read, all(read)).mustRead(-1), "+I 1|one|{a=b,c=d}|5000000|0|0|"+topic+"|CreateTime|5000000", "+I 2|two|{}|6000000|1|0|"+topic+"|CreateTime|6000000")
	// A projection, in another order, without the key.
	r.want(r.scan(read, []int{4, 1}).mustRead(-1), "+I 0|one", "+I 1|two")
	r.want(r.scan(read, nil).mustRead(-1), "+I ", "+I ")
	// Key and value rows multiply, the key inside; a null key gives none.
	many := r.newTopic(1)
	c := r.client()
	defer c.close()
	r.produce(c, many, []byte("1;2"), []byte("a;b"))
	r.produce(c, many, nil, []byte("c"))
	r.produce(c, many, []byte("3"), nil)
	r.produce(c, many, []byte("4"), []byte("d"))
	mt := r.table(many, []string{"k_id INT", "v STRING"}, opts...)
	got := r.scan(mt, all(mt)).mustRead(-1)
	if !slices.Equal(got, []string{"+I 1|a", "+I 2|a", "+I 1|b", "+I 2|b", "+I 4|d"}) {
		t.Errorf("rows %q", got)
	}
}

// produce sends one record as it is.
func (r *rig) produce(c *client, topic string, key, value []byte) {
	r.t.Helper()
	p := newProducer(c, limits{acks: sarama.WaitForAll, memory: 1 << 20, delivery: time.Minute})
	defer p.halt()
	t, err := p.topic(r.ctx(), topic)
	if err != nil {
		r.t.Fatal(err)
	}
	b := &outBatch{}
	b.begin(key, key != nil)
	b.buf = append(b.buf, value...)
	b.end(1000, value == nil)
	b.seal()
	if err := p.dispatch(t.parts[0], b); err != nil {
		r.t.Fatal(err)
	}
	if err := p.drain(r.ctx()); err != nil {
		r.t.Fatal(err)
	}
}

func TestChangelogFormat(t *testing.T) {
	r := newRig(t)
	tab := r.table(r.newTopic(1), []string{"a INT", "b STRING"}, "format", "changes", "scan.startup.mode", "earliest-offset", "scan.bounded.mode", "latest-offset")
	rows := []string{"+I 1|x", "-U 1|x", "+U 1|y", "-D 1|y"}
	r.writeRows(tab, rows...)
	if got := r.scan(tab, all(tab)).mustRead(-1); !slices.Equal(got, rows) {
		t.Errorf("rows %q", got)
	}
}

// TestBadRecord gives the rows before it, then an error that names the place, again and again.
func TestBadRecord(t *testing.T) {
	r := newRig(t)
	topic := r.newTopic(1)
	r.writeRows(r.table(topic, []string{"a STRING"}), "1", "2", "three"+strings.Repeat("!", 500), "4")
	tab := r.table(topic, []string{"a INT"}, "scan.startup.mode", "earliest-offset")
	s := r.scan(tab, all(tab))
	rows, err := s.read(4)
	r.want(rows, "+I 1", "+I 2")
	var data *types.DataError
	if !errors.As(err, &data) {
		t.Fatalf("error %v", err)
	}
	if want := "topic " + topic + ", partition 0, offset 2 (value)"; data.Place != want {
		t.Errorf("place %s", data.Place)
	}
	if !strings.HasPrefix(data.Row, `"three!!!`) || !strings.HasSuffix(data.Row, "and 385 bytes more") {
		t.Errorf("row %s", data.Row)
	}
	if _, again := s.reader.Poll(); again != err {
		t.Errorf("then %v", again)
	}
}

// TestAbortedRows leaves out rows of aborted and open transactions under read_committed, and tells once of open ones
// otherwise.
func TestAbortedRows(t *testing.T) {
	r := newRig(t)
	tab := r.txnTable(1)
	topic := tab.Options["topic"]
	plain := r.table(topic, []string{"a INT"})
	j := r.job(tab)
	j.mustStart(snapshot{}, 1)
	j.write(0, "1", "2")
	j.checkpoint(1)
	j.write(0, "70", "71")
	r.writeRows(plain, "3") // in between, without a transaction
	j.close()               // aborts 70 and 71
	r.writeRows(plain, "4")
	j.mustStart(j.last, 1)
	j.write(0, "80")
	r.writeRows(plain, "90") // behind the last stable offset
	r.want(r.committed(topic), "+I 1", "+I 2", "+I 3", "+I 4")

	open := r.table(topic, []string{"a INT"}, "scan.startup.mode", "earliest-offset", "scan.bounded.mode", "latest-offset")
	for range 2 {
		r.want(r.scan(open, all(open)).mustRead(-1), "+I 1", "+I 2", "+I 70", "+I 71", "+I 3", "+I 4", "+I 80", "+I 90")
	}
	if n := r.told("has open transactions"); n != 1 {
		t.Errorf("told %d times: %q", n, r.notices)
	}
	j.close()
	if _, err := r.scan(open, all(open)).read(-1); err != nil {
		t.Error(err)
	}
	live := r.table(topic, []string{"a INT"}, "scan.startup.mode", "earliest-offset", "properties.isolation.level", "read_committed")
	r.want(r.scan(live, all(live)).mustRead(5), "+I 1", "+I 2", "+I 3", "+I 4", "+I 90")
	live.Options["properties.fetch.max.bytes"] = "1"
	r.want(r.scan(live, all(live)).mustRead(5), "+I 1", "+I 2", "+I 3", "+I 4", "+I 90")
}

func TestGroupCommit(t *testing.T) {
	r := newRig(t)
	topic := r.newTopic(2)
	tab := r.table(topic, []string{"a INT"}, "properties.group.id", "g"+topic, "properties.auto.offset.reset", "earliest")
	r.writeRows(tab, "1", "2", "3")
	s := r.scan(tab, all(tab))
	s.mustRead(3)
	splits, err := s.reader.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.src.Committed(r.ctx(), splits); err != nil {
		t.Fatal(err)
	}
	r.writeRows(tab, "4")
	r.want(r.scan(tab, all(tab)).mustRead(1), "+I 4")
	without := r.table(topic, []string{"a INT"}, "scan.startup.mode", "earliest-offset")
	if r.scan(without, all(without)).src.Committed != nil {
		t.Error("offsets are committed without a group")
	}
}

// TestOutOfRange reads from an offset that the broker has deleted.
func TestOutOfRange(t *testing.T) {
	r := newRig(t)
	topic := r.newTopic(1)
	r.writeRows(r.table(topic, []string{"a INT"}), series(1, 10)...)
	c := r.client()
	defer c.close()
	b, err := c.leader(topic, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.DeleteRecords(&sarama.DeleteRecordsRequest{Timeout: 10 * time.Second, Topics: map[string]*sarama.DeleteRecordsRequestTopic{
		topic: {PartitionOffsets: map[int32]int64{0: 6}}}}); err != nil {
		t.Fatal(err)
	}
	at := split{topicPartition: topicPartition{topic, 0}, offset: 2, stop: 10}.encode()
	for _, m := range []struct {
		options []string
		rows    []string
		err     string
	}{
		{[]string{"scan.startup.mode", "earliest-offset"}, []string{"+I 7", "+I 8", "+I 9", "+I 10"}, ""},
		{[]string{"scan.startup.mode", "earliest-offset", "properties.auto.offset.reset", "none"}, nil, "the broker has 6 to 10"},
		{[]string{"properties.group.id", "g"}, nil, "set 'properties.auto.offset.reset'"},
	} {
		tab := r.table(topic, []string{"a INT"}, m.options...)
		rows, err := r.scan(tab, all(tab), at).read(-1)
		r.want(rows, m.rows...)
		if (err == nil) != (m.err == "") || err != nil && !strings.Contains(err.Error(), m.err) {
			t.Errorf("error %v", err)
		}
	}
	if r.told("reading goes on at 6") != 1 {
		t.Errorf("notices %q", r.notices)
	}
}

func TestMissingTopic(t *testing.T) {
	r := newRig(t)
	if realBootstrap() == "" {
		// The embedded broker makes it.
		tab := r.table("made-by-reading", []string{"a INT"}, "scan.startup.mode", "earliest-offset", "scan.bounded.mode", "latest-offset")
		r.want(r.scan(tab, all(tab)).mustRead(-1))
		return
	}
	tab := r.table(fmt.Sprintf("missing-%d", time.Now().UnixNano()), []string{"a INT"}, "scan.startup.mode", "earliest-offset")
	if s := r.scan(tab, all(tab)); s.err == nil || !strings.Contains(s.err.Error(), "does not exist") {
		t.Errorf("error %v", s.err)
	}
}

// TestCloseWhileWaiting ends a reader whose fetch waits for data, and one that finds no broker.
func TestCloseWhileWaiting(t *testing.T) {
	r := newRig(t)
	tab := r.table(r.newTopic(1), []string{"a INT"}, "scan.startup.mode", "earliest-offset")
	s := r.scan(tab, all(tab))
	if p, err := s.reader.Poll(); err != nil || p.Rows != nil || p.More {
		t.Fatalf("%+v, %v", p, err)
	}
	start := time.Now()
	s.close()
	if d := time.Since(start); d > 2*time.Second {
		t.Errorf("close took %v", d)
	}
	away := r.table("x", []string{"a INT"}, "properties.bootstrap.servers", "127.0.0.1:1")
	s = r.scan(away, all(away), split{topicPartition: topicPartition{"x", 0}, stop: noStop}.encode())
	start = time.Now()
	s.close()
	if d := time.Since(start); d > 2*time.Second {
		t.Errorf("close without a broker took %v", d)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	src, err := r.k.Connector().Source(connectors.ScanRequest{Table: away, Columns: all(away)})
	if err != nil {
		t.Fatal(err)
	}
	e, err := src.Enumerate(testEnv(t))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	start = time.Now()
	if _, err := e.Discover(ctx, true); err == nil {
		t.Error("found partitions without a broker")
	}
	if d := time.Since(start); d > 3*time.Second {
		t.Errorf("discovery without a broker ended after %v", d)
	}
}

func TestSplitCodec(t *testing.T) {
	s := split{topicPartition: topicPartition{"töpic", 7}, offset: 1 << 40, skip: 3, stop: noStop}
	c := s.encode()
	d, err := decodeSplit(c)
	if err != nil || d != s {
		t.Fatalf("%+v, %v", d, err)
	}
	for i := range c.State {
		if _, err := decodeSplit(connectors.Split{ID: c.ID, State: c.State[:i]}); err == nil {
			t.Errorf("cut at %d and not noticed", i)
		}
	}
	if _, err := decodeSplit(connectors.Split{ID: c.ID, State: append([]byte{9}, c.State[1:]...)}); err == nil {
		t.Error("unknown version read")
	}
}

// TestEmptyBatches reads over batches that compaction has emptied, and stays where a broker only seems to have them.
func TestEmptyBatches(t *testing.T) {
	r, c := newCluster(t)
	topic := r.newTopic(1)
	r.writeRows(r.table(topic, []string{"a INT"}), series(1, 30)...)
	bare := 5 // answers without a byte, as under a quota or from slow storage
	c.ControlKey(int16(kmsg.Fetch), func(req kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		q := req.(*kmsg.FetchRequest)
		at := q.Topics[0].Partitions[0].FetchOffset
		if at >= 20 {
			return nil, nil, false
		}
		resp := q.ResponseKind().(*kmsg.FetchResponse)
		rt := kmsg.NewFetchResponseTopic()
		rt.Topic = topic
		rp := kmsg.NewFetchResponseTopicPartition()
		rp.HighWatermark, rp.LastStableOffset, rp.RecordBatches = 30, 30, []byte{}
		if bare--; bare < 0 {
			rp.RecordBatches = emptyBatch(at/10*10, 9)
		}
		rt.Partitions = append(rt.Partitions, rp)
		resp.Topics = append(resp.Topics, rt)
		return resp, nil, true
	})
	tab := r.table(topic, []string{"a INT"}, "scan.startup.mode", "specific-offsets", "scan.startup.specific-offsets", "partition:0,offset:0",
		"scan.bounded.mode", "specific-offsets", "scan.bounded.specific-offsets", "partition:0,offset:22")
	r.want(r.scan(tab, all(tab)).mustRead(-1), "+I 21", "+I 22")
	tab.Options["scan.bounded.specific-offsets"] = "partition:0,offset:15" // it ends among them
	r.want(r.scan(tab, all(tab)).mustRead(-1))
}

// emptyBatch is a record batch without records.
func emptyBatch(first int64, delta int32) []byte {
	b := kmsg.RecordBatch{FirstOffset: first, PartitionLeaderEpoch: -1, Magic: 2, LastOffsetDelta: delta, ProducerID: 7, ProducerEpoch: 0, FirstSequence: 0, Records: []byte{}}
	raw := b.AppendTo(nil)
	b.Length = int32(len(raw) - 12)
	b.CRC = int32(crc32.Checksum(raw[21:], castagnoli))
	return b.AppendTo(nil)
}
