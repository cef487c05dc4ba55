package kafka

import (
	"fmt"
	"testing"
)

// TestReaderMetrics: how far each partition has been read, and how many records wait.
func TestReaderMetrics(t *testing.T) {
	r := newRig(t)
	topic := r.newTopic(2)
	tab := r.table(topic, []string{"a INT"}, "scan.startup.mode", "earliest-offset")
	r.writeRows(r.at(topic, "sink.partitioner", "fixed"), "1|1000", "2|2000", "3|3000")
	s := r.scan(tab, all(tab))
	offset := func(partition int) int64 {
		g := s.gauges[fmt.Sprintf("KafkaSourceReader.topic.%s.partition.%d.currentOffset", topic, partition)]
		if g == nil {
			t.Fatalf("no gauge of partition %d in %v", partition, s.gauges)
		}
		return g()
	}
	if a, b := offset(0), offset(1); a != -1 || b != -1 {
		t.Errorf("before the first record: %d and %d", a, b)
	}
	s.mustRead(3)
	if a, b := offset(0), offset(1); a != 2 || b != -1 {
		t.Errorf("behind all records: %d and %d, want 2 and -1", a, b)
	}
	if n := s.gauges["pendingRecords"](); n != 0 {
		t.Errorf("%d records pending", n)
	}
}

// TestUpsertBounds: reading begins at the earliest record, whatever the group has committed, and ends where the options say.
func TestUpsertBounds(t *testing.T) {
	r := newRig(t)
	topic := r.newTopic(1)
	tab := r.upsertTable(topic, []string{"id INT", "v STRING"}, []string{"id"})
	r.writeRows(tab, "+I 1|a", "+I 2|b", "+U 1|c", "-D 2|b")
	c := r.client()
	defer c.close()
	if err := c.commitOffsets(r.ctx(), "g-"+topic, map[topicPartition]int64{{topic, 0}: 3}); err != nil {
		t.Fatal(err)
	}
	for _, m := range []struct {
		options []string
		want    []string
	}{
		{[]string{"scan.bounded.mode", "latest-offset"}, []string{"+U 1|a", "+U 2|b", "+U 1|c", `-D 2|\N`}},
		{[]string{"scan.bounded.mode", "specific-offsets", "scan.bounded.specific-offsets", "partition:0,offset:1"}, []string{"+U 1|a"}},
		{[]string{"scan.bounded.mode", "group-offsets", "properties.group.id", "g-" + topic}, []string{"+U 1|a", "+U 2|b", "+U 1|c"}},
		{[]string{"scan.bounded.mode", "timestamp", "scan.bounded.timestamp-millis", "5"}, nil},
	} {
		s := r.scan(r.upsertTable(topic, []string{"id INT", "v STRING"}, []string{"id"}, m.options...), []int{0, 1})
		r.want(s.mustRead(-1), m.want...)
		s.close()
	}
	for _, o := range r.k.Upsert().Options {
		if o.Key == "scan.startup.mode" {
			t.Error("upsert-kafka has a start-up mode")
		}
	}
}
