package kafka

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"runnel/connectors"
	"runnel/connectors/format"
	"runnel/types"
)

// upsertTable makes a table of upsert-kafka; its key is made of the given columns.
func (r *rig) upsertTable(topic string, columns []string, key []string, options ...string) *connectors.Table {
	t := r.table(topic, columns, append([]string{"connector", "upsert-kafka", "format", "", "key.format", "text", "value.format", "text",
		"scan.bounded.mode", "latest-offset"}, options...)...)
	t.PrimaryKey = key
	return t
}

// raw reads a topic as it is: key|value of each record.
func (r *rig) raw(topic string) []string {
	r.t.Helper()
	t := r.table(topic, []string{"k STRING", "v STRING"}, "format", "", "key.format", "bytes", "value.format", "bytes", "key.fields", "k",
		"value.fields-include", "EXCEPT_KEY", "scan.startup.mode", "earliest-offset", "scan.bounded.mode", "latest-offset", "properties.isolation.level", "read_committed")
	return r.scan(t, all(t)).mustRead(-1)
}

// bytesFormat takes messages as they are, null for NULL.
func bytesFormat() connectors.Format {
	f := format.Raw()
	f.Name = "bytes"
	return f
}

func TestUpsertValidation(t *testing.T) {
	k := New(Config{Formats: testFormats()})
	r := &rig{t: t, k: k, servers: "b:1"}
	const together = "'sink.buffer-flush.max-rows' and 'sink.buffer-flush.interval' must be set to be greater than zero together to enable sink buffer flushing."
	for _, c := range []struct {
		name    string
		columns string // "a INT,b INT" unless given
		key     string // "a" unless given
		options []string
		sink    bool
		err     string
	}{
		{name: "fine"},
		{name: "fine sink", sink: true},
		{name: "no key", key: "-", err: "'upsert-kafka' tables require to define a PRIMARY KEY constraint. The PRIMARY KEY specifies which columns should be read from or write to the Kafka message key. The PRIMARY KEY also defines records in the 'upsert-kafka' table should update or delete on which keys."},
		{name: "no key of a sink", key: "-", sink: true, err: "'upsert-kafka' tables require to define a PRIMARY KEY constraint. The PRIMARY KEY specifies which columns should be read from or write to the Kafka message key. The PRIMARY KEY also defines records in the 'upsert-kafka' table should update or delete on which keys."},
		{name: "key that changes", options: []string{"key.format", "changes"}, err: "'upsert-kafka' connector doesn't support 'changes' as key format, because 'changes' is not in insert-only mode."},
		{name: "value that changes", options: []string{"value.format", "changes"}, sink: true, err: "'upsert-kafka' connector doesn't support 'changes' as value format, because 'changes' is not in insert-only mode."},
		{name: "no topic", options: []string{"topic", ""}, err: "Either 'topic' or 'topic-pattern' must be set."},
		{name: "two topics in a sink", options: []string{"topic", "x;y"}, sink: true, err: "Flink Kafka sink currently only supports single topic, but got 'topic': [x, y]."},
		{name: "prefix", options: []string{"key.fields-prefix", "k_", "value.fields-include", "EXCEPT_KEY"}, err: "All fields in 'key.fields' must be prefixed with 'k_' when option 'key.fields-prefix' is set but field 'a' is not prefixed."},
		{name: "prefix with ALL", columns: "k_a INT,b INT", key: "k_a", options: []string{"key.fields-prefix", "k_"}, err: "A key prefix is not allowed when option 'value.fields-include' is set to 'ALL'. Set it to 'EXCEPT_KEY' instead to avoid field overlaps."},
		{name: "rows without interval", options: []string{"sink.buffer-flush.max-rows", "10"}, sink: true, err: together},
		{name: "interval without rows", options: []string{"sink.buffer-flush.interval", "1 s"}, sink: true, err: together},
		{name: "negative rows", options: []string{"sink.buffer-flush.max-rows", "-1"}, sink: true, err: together},
		{name: "no transaction prefix", options: []string{"sink.delivery-guarantee", "exactly-once"}, sink: true, err: "sink.transactional-id-prefix must be specified when using DeliveryGuarantee.EXACTLY_ONCE."},
		{name: "bound", options: []string{"scan.bounded.mode", "timestamp"}, err: "'scan.bounded.timestamp-millis' is required in 'timestamp' bounded mode but missing."},
	} {
		t.Run(c.name, func(t *testing.T) {
			columns := strings.Split("a INT,b INT", ",")
			if c.columns != "" {
				columns = strings.Split(c.columns, ",")
			}
			key := []string{"a"}
			switch c.key {
			case "":
			case "-":
				key = nil
			default:
				key = []string{c.key}
			}
			tab := r.upsertTable("x", columns, key, c.options...)
			var err error
			if c.sink {
				var s *connectors.Sink
				if s, err = k.Upsert().Sink(connectors.SinkRequest{Table: tab, Columns: all(tab), Query: types.AllKinds}); err == nil && s.Mode != types.Upsert {
					t.Errorf("sink takes %s", s.Mode)
				}
			} else {
				var s *connectors.Source
				if s, err = k.Upsert().Source(connectors.ScanRequest{Table: tab, Columns: all(tab)}); err == nil && s.Mode.String() != "UA,D" {
					t.Errorf("source gives %s", s.Mode)
				}
			}
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != c.err {
				t.Errorf("got  %s\nwant %s", got, c.err)
			}
		})
	}
}

func TestUpsert(t *testing.T) {
	r := newRig(t)
	topic := r.newTopic(1)
	tab := r.upsertTable(topic, []string{"b STRING", "id INT", "c STRING", "o BIGINT METADATA offset"}, []string{"c", "id"})
	tab.Columns[3].Virtual = true
	write := r.upsertTable(topic, []string{"b STRING", "id INT", "c STRING"}, []string{"c", "id"})
	r.writeRows(write, "+I one|1|x", "+U two|1|x", "+I three|3|y", "-D two|1|x", "-U three|3|y", `+U \N|3|y`)
	r.want(r.raw(topic), "+I x|1|one|1|x", "+I x|1|two|1|x", "+I y|3|three|3|y", `+I x|1|\N`, `+I y|3|\N`, `+I y|3|\N|3|y`)
	got := r.scan(tab, all(tab)).mustRead(-1)
	want := []string{"+U one|1|x|0", "+U two|1|x|1", "+U three|3|y|2", `-D \N|1|x|3`, `-D \N|3|y|4`, `+U \N|3|y|5`}
	if !slices.Equal(got, want) {
		t.Errorf("rows %q\nwant %q", got, want)
	}
	// In another order, without the metadata.
	if got := r.scan(tab, []int{2, 0, 1}).mustRead(-1); !slices.Equal(got[2:4], []string{"+U y|three|3", `-D x|\N|1`}) {
		t.Errorf("rows %q", got)
	}
}

func TestUpsertWithoutKeyInValue(t *testing.T) {
	r := newRig(t)
	topic := r.newTopic(1)
	tab := r.upsertTable(topic, []string{"k_id INT", "v STRING"}, []string{"k_id"}, "key.fields-prefix", "k_", "value.fields-include", "EXCEPT_KEY")
	r.writeRows(tab, "+I 1|a", "+U 1|b", "-D 1|b")
	r.want(r.raw(topic), "+I 1|a", "+I 1|b", `+I 1|\N`)
	if got := r.scan(tab, all(tab)).mustRead(-1); !slices.Equal(got, []string{"+U 1|a", "+U 1|b", `-D 1|\N`}) {
		t.Errorf("rows %q", got)
	}
}

// TestUpsertOddRecords reads records that no upsert-kafka table writes.
func TestUpsertOddRecords(t *testing.T) {
	r := newRig(t)
	topic := r.newTopic(1)
	c := r.client()
	defer c.close()
	r.produce(c, topic, nil, []byte("1|a"))              // without a key: no row
	r.produce(c, topic, nil, nil)                        // likewise
	r.produce(c, topic, []byte("2"), []byte("3|b"))      // a column of both comes from the value
	r.produce(c, topic, []byte("4;5"), nil)              // two keys
	r.produce(c, topic, []byte("6"), []byte("6|c;7|d"))  // two rows
	r.produce(c, topic, []byte("seven"), []byte("7|no")) // not a number
	tab := r.upsertTable(topic, []string{"id INT", "v STRING"}, []string{"id"})
	got, err := r.scan(tab, all(tab)).read(-1)
	want := []string{"+U 3|b", `-D 4|\N`, `-D 5|\N`, "+U 6|c", "+U 7|d"}
	if !slices.Equal(got, want) || err == nil || !strings.Contains(err.Error(), "offset 5 (key)") {
		t.Errorf("rows %q, %v", got, err)
	}
}

// TestGathered: of each key only the last row of a group of rows is written.
func TestGathered(t *testing.T) {
	r := newRig(t)
	topic := r.newTopic(1)
	tab := r.upsertTable(topic, []string{"id INT", "v STRING"}, []string{"id"}, "sink.buffer-flush.max-rows", "4", "sink.buffer-flush.interval", "1 h")
	sink, err := r.k.Upsert().Sink(connectors.SinkRequest{Table: tab, Columns: all(tab), Query: types.AllKinds})
	if err != nil {
		t.Fatal(err)
	}
	w, err := sink.Open(r.ctx(), connectors.SinkEnv{Env: testEnv(t)})
	if err != nil {
		t.Fatal(err)
	}
	write := func(rows ...string) {
		t.Helper()
		if err := w.Write(r.ctx(), rowsOf(tab, all(tab), rows...)); err != nil {
			t.Fatal(err)
		}
		if err := w.(connectors.Flusher).Flush(r.ctx()); err != nil {
			t.Fatal(err)
		}
	}
	write("+I 1|a", "+I 2|b", "+U 1|c")
	if got := r.raw(topic); len(got) > 0 {
		t.Errorf("written too early: %q", got)
	}
	write("-D 3|z", "+I 4|d") // the fourth row and one more
	r.wantWithin(topic, "+I 2|2|b", "+I 1|1|c", `+I 3|\N`)
	if _, _, err := w.Prepare(r.ctx(), 1); err != nil {
		t.Fatal(err)
	}
	want := []string{"+I 2|2|b", "+I 1|1|c", `+I 3|\N`, "+I 4|4|d"}
	if got := r.raw(topic); !slices.Equal(got, want) {
		t.Errorf("written %q", got)
	}
	write("+I 5|e") // given up by Close
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got := r.raw(topic); !slices.Equal(got, want) {
		t.Errorf("written %q", got)
	}
}

// wantWithin waits until the topic holds the records.
func (r *rig) wantWithin(topic string, want ...string) {
	r.t.Helper()
	var got []string
	if err := repeatUntil(r, func() bool { got = r.raw(topic); return slices.Equal(got, want) }); err != nil {
		r.t.Errorf("written %q, want %q", got, want)
	}
}

func repeatUntil(r *rig, ok func() bool) error {
	ctx, cancel := contextIn(20 * time.Second)
	defer cancel()
	for !ok() {
		if err := pause(ctx, 5*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// TestGatheredInterval: rows come out when their time is over although nothing follows them.
func TestGatheredInterval(t *testing.T) {
	r := newRig(t)
	topic := r.newTopic(1)
	tab := r.upsertTable(topic, []string{"id INT", "v STRING"}, []string{"id"}, "sink.buffer-flush.max-rows", "1000", "sink.buffer-flush.interval", "20 ms")
	sink, err := r.k.Upsert().Sink(connectors.SinkRequest{Table: tab, Columns: all(tab), Query: types.AllKinds})
	if err != nil {
		t.Fatal(err)
	}
	w, err := sink.Open(r.ctx(), connectors.SinkEnv{Env: testEnv(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := w.Write(r.ctx(), rowsOf(tab, all(tab), "+I 1|a", "+U 1|b")); err != nil {
		t.Fatal(err)
	}
	r.wantWithin(topic, "+I 1|1|b")
}

// TestGatheredExactlyOnce: what was gathered is part of the checkpoint's transaction, tombstones and the row log too.
func TestGatheredExactlyOnce(t *testing.T) {
	r := newRig(t)
	topic := r.newTopic(2)
	tab := r.upsertTable(topic, []string{"id INT", "v STRING"}, []string{"id"}, "sink.buffer-flush.max-rows", "1000", "sink.buffer-flush.interval", "1 h",
		"sink.delivery-guarantee", "exactly-once", "sink.transactional-id-prefix", topic, "properties.transaction.timeout.ms", "60000")
	j := r.job(tab)
	j.mustStart(snapshot{}, 1)
	for c := 1; c <= 3; c++ {
		j.write(0, fmt.Sprintf("+I 1|%d", c), fmt.Sprintf("+U 1|%d!", c), fmt.Sprintf("-D %d|x", c+1))
		p := j.prepare(int64(c))
		if got := len(r.raw(topic)); got != 2*(c-1) {
			t.Errorf("%d records before the commit of checkpoint %d", got, c)
		}
		j.commit(p)
	}
	j.close()
	r.want(r.raw(topic), "+I 1|1|1!", "+I 1|1|2!", "+I 1|1|3!", `+I 2|\N`, `+I 3|\N`, `+I 4|\N`)
}

// TestNullMessages writes NULL by a format that has null messages.
func TestNullMessages(t *testing.T) {
	r := newRig(t)
	topic := r.newTopic(1)
	tab := r.table(topic, []string{"k STRING", "v STRING"}, "format", "", "key.format", "bytes", "value.format", "bytes", "key.fields", "k", "value.fields-include", "EXCEPT_KEY")
	r.writeRows(tab, "a|1", `b|\N`, `\N|2`, "|")
	r.want(r.raw(topic), "+I a|1", `+I b|\N`, `+I \N|2`, "+I |")
}

// TestMetadataTypes reads metadata into columns of other types than they have.
func TestMetadataTypes(t *testing.T) {
	r := newRig(t)
	topic := r.newTopic(1)
	c := r.client()
	defer c.close()
	r.produce(c, topic, nil, []byte(`{"before":{"a":1},"after":{"a":2},"op":"u","ts_ms":5000,"source":{"db":"7"}}`))
	r.produce(c, topic, nil, []byte(`{"after":{"a":3},"op":"c","source":{"db":"x"}}`))
	tab := r.table(topic, []string{"a INT", "o STRING METADATA offset", "p BIGINT METADATA partition", "ts TS METADATA value.ingestion-timestamp", "db INT METADATA value.source.database"},
		"format", "debezium-json", "scan.startup.mode", "earliest-offset", "scan.bounded.mode", "latest-offset")
	got, err := r.scan(tab, all(tab)).read(-1)
	if !slices.Equal(got, []string{"-U 1|0|0|5000000|7", "+U 2|0|0|5000000|7"}) || err == nil || !strings.Contains(err.Error(), "offset 1 (metadata)") {
		t.Errorf("rows %q, %v", got, err)
	}
	tab.Columns[4].Type = types.Of(types.Date)
	tab.Columns[4].Metadata = "partition"
	if _, err := r.k.Connector().Source(connectors.ScanRequest{Table: tab, Columns: all(tab)}); err == nil || !strings.Contains(err.Error(), "must be castable from metadata type 'INT NOT NULL'") {
		t.Errorf("error %v", err)
	}
}
