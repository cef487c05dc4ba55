package kafka

import (
	"strings"
	"testing"

	"runnel/connectors"
	"runnel/types"
)

// TestValidation compares with the messages that Flink gives for the same tables.
func TestValidation(t *testing.T) {
	const specific = "Invalid properties 'scan.startup.specific-offsets' should follow the format 'partition:0,offset:42;partition:1,offset:300', but is '"
	for _, c := range []struct {
		name    string
		columns string // "a INT" unless given
		options []string
		sink    bool
		err     string
	}{
		{name: "fine"},
		{name: "no topic", options: []string{"topic", ""}, err: "Either 'topic' or 'topic-pattern' must be set."},
		{name: "topic and pattern", options: []string{"topic-pattern", "y"}, err: "Option 'topic' and 'topic-pattern' shouldn't be set together."},
		{name: "no servers", options: []string{"properties.bootstrap.servers", ""}, err: "One or more required options are missing.\n\nMissing required options are:\n\nproperties.bootstrap.servers"},
		{name: "no format", options: []string{"format", ""}, err: "Could not find required scan format 'value.format'."},
		{name: "no format for a sink", options: []string{"format", ""}, sink: true, err: "Could not find required sink format 'value.format'."},
		{name: "unknown format", options: []string{"format", "jsonn"}, err: "Could not find any factory for identifier 'jsonn' that implements 'org.apache.flink.table.factories.DeserializationFormatFactory' in the classpath.\n\nAvailable factory identifiers are:\n\nbytes\nchanges\ndebezium-json\ntext"},
		{name: "start-up mode", options: []string{"scan.startup.mode", "sometime"}, err: "Could not parse value for enum class org.apache.flink.streaming.connectors.kafka.table.KafkaConnectorOptions$ScanStartupMode. Expected one of: [[earliest-offset, latest-offset, group-offsets, timestamp, specific-offsets]]"},
		{name: "no timestamp", options: []string{"scan.startup.mode", "timestamp"}, err: "'scan.startup.timestamp-millis' is required in 'timestamp' startup mode but missing."},
		{name: "no bound", options: []string{"scan.bounded.mode", "specific-offsets"}, err: "'scan.bounded.specific-offsets' is required in 'specific-offsets' bounded mode but missing."},
		{name: "no group", options: []string{"scan.bounded.mode", "group-offsets"}, err: "'properties.group.id' is required in 'group-offsets' bounded mode but missing."},
		{name: "offsets", options: []string{"scan.startup.mode", "specific-offsets", "scan.startup.specific-offsets", "0:1"}, err: specific + "0:1'."},
		{name: "negative offset", options: []string{"scan.startup.mode", "specific-offsets", "scan.startup.specific-offsets", "partition:0,offset:-1"}, err: specific + "partition:0,offset:-1'."},
		{name: "offsets of two topics", options: []string{"topic", "x;y", "scan.startup.mode", "specific-offsets", "scan.startup.specific-offsets", "partition:0,offset:1"}, err: "Currently Kafka source only supports specific offset for single topic."},
		{name: "sink of two topics", options: []string{"topic", "x;y"}, sink: true, err: "Flink Kafka sink currently only supports single topic, but got 'topic': [x, y]."},
		{name: "no prefix", options: []string{"sink.delivery-guarantee", "exactly-once"}, sink: true, err: "sink.transactional-id-prefix must be specified when using DeliveryGuarantee.EXACTLY_ONCE."},
		{name: "guarantee", options: []string{"sink.delivery-guarantee", "twice"}, sink: true, err: "Could not parse value for enum class org.apache.flink.connector.base.DeliveryGuarantee. Expected one of: [[exactly-once, at-least-once, none]]"},
		{name: "old name of the guarantee", options: []string{"sink.semantic", "exactly-once"}, sink: true, err: "sink.transactional-id-prefix must be specified when using DeliveryGuarantee.EXACTLY_ONCE."},
		{name: "key fields without format", options: []string{"key.fields", "a"}, err: "The option 'key.fields' can only be declared if a key format is defined using 'key.format'."},
		{name: "key format without fields", options: []string{"key.format", "text"}, err: "A key format 'key.format' requires the declaration of one or more of key fields using 'key.fields'."},
		{name: "unknown key field", options: []string{"key.format", "text", "key.fields", "zz"}, err: "Could not find the field 'zz' in the table schema for usage in the key format. A key field must be a regular, physical column. The following columns can be selected in the 'key.fields' option:\n[a]"},
		{name: "field without prefix", options: []string{"key.format", "text", "key.fields", "a", "key.fields-prefix", "k_", "value.fields-include", "EXCEPT_KEY"}, err: "All fields in 'key.fields' must be prefixed with 'k_' when option 'key.fields-prefix' is set but field 'a' is not prefixed."},
		{name: "prefix with ALL", columns: "k_a INT", options: []string{"key.format", "text", "key.fields", "k_a", "key.fields-prefix", "k_"}, err: "A key prefix is not allowed when option 'value.fields-include' is set to 'ALL'. Set it to 'EXCEPT_KEY' instead to avoid field overlaps."},
		{name: "round robin with key", options: []string{"key.format", "text", "key.fields", "a", "sink.partitioner", "round-robin"}, sink: true, err: "Currently 'round-robin' partitioner only works when option 'key.fields' is not specified."},
		{name: "partitioner class", options: []string{"sink.partitioner", "org.acme.Mine"}, sink: true, err: "Could not find and instantiate partitioner class 'org.acme.Mine'"},
		{name: "key that changes", options: []string{"key.format", "changes", "key.fields", "a"}, err: "A key format should only deal with INSERT-only rows. But 'changes' has a changelog mode of [I,UB,UA,D]."},
		{name: "metadata type", columns: "a INT METADATA timestamp", err: "Invalid data type for metadata column 'a' of table 'c.d.t'. The column cannot be declared as 'INT' because the type must be castable from metadata type 'TIMESTAMP_LTZ(3) NOT NULL'."},
		{name: "parallelism", options: []string{"sink.parallelism", "0"}, sink: true, err: "Invalid value for option 'sink.parallelism': it must be at least 1, but is 0."},
		{name: "parallelism that is no number", options: []string{"scan.parallelism", "x"}, err: `For input string: "x"`},
		{name: "address", options: []string{"properties.bootstrap.servers", "kafka"}, err: "Invalid broker address 'kafka' in 'properties.bootstrap.servers': host:port is expected."},
		{name: "isolation", options: []string{"properties.isolation.level", "serializable"}, err: "Could not parse value 'serializable' for key 'properties.isolation.level'.: one of read_committed, read_uncommitted is expected"},
		{name: "fetch size", options: []string{"properties.max.partition.fetch.bytes", "0"}, err: "Could not parse value '0' for key 'properties.max.partition.fetch.bytes'.: a whole number from 1 to 2147483647 is expected"},
		{name: "key store", options: []string{"properties.security.protocol", "SSL", "properties.ssl.truststore.type", "JKS"}, err: "'properties.ssl.truststore.type' = 'JKS' is not supported: convert the store to PEM."},
		{name: "no password", options: []string{"properties.security.protocol", "SASL_SSL", "properties.sasl.mechanism", "PLAIN"}, err: "'properties.sasl.jaas.config' must name a login module"},
		{name: "pattern", options: []string{"topic", "", "topic-pattern", "a("}, err: "Could not parse value 'a(' for key 'topic-pattern'."},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := New(Config{Formats: testFormats()})
			r := &rig{t: t, k: k, servers: "b:1"}
			columns := "a INT"
			if c.columns != "" {
				columns = c.columns
			}
			tab := r.table("x", []string{columns}, c.options...)
			for i := 0; i+1 < len(c.options); i += 2 {
				if c.options[i+1] == "" {
					delete(tab.Options, c.options[i])
				}
			}
			var err error
			if c.sink {
				_, err = k.Connector().Sink(connectors.SinkRequest{Table: tab, Columns: all(tab)})
			} else {
				_, err = k.Connector().Source(connectors.ScanRequest{Table: tab, Columns: all(tab)})
			}
			switch {
			case c.err == "" && err != nil:
				t.Error(err)
			case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
				t.Errorf("error %v\ninstead of %s", err, c.err)
			}
		})
	}
}

func TestPrimaryKey(t *testing.T) {
	k := New(Config{Formats: testFormats()})
	r := &rig{t: t, k: k, servers: "b:1"}
	tab := r.table("x", []string{"a INT"})
	tab.PrimaryKey = []string{"a"}
	_, err := k.Connector().Source(connectors.ScanRequest{Table: tab, Columns: all(tab)})
	if err == nil || err.Error() != "The Kafka table 'c.d.t' with 'text' format doesn't support defining PRIMARY KEY constraint on the table, because it can't guarantee the semantic of primary key." {
		t.Errorf("error %v", err)
	}
	tab.Options["format"] = "changes"
	src, err := k.Connector().Source(connectors.ScanRequest{Table: tab, Columns: all(tab)})
	if err != nil || src.Mode != types.AllKinds {
		t.Errorf("%v", err)
	}
}

func TestMetadataList(t *testing.T) {
	k := New(Config{Formats: testFormats()})
	list := func(topic string) (read, write []string) {
		for _, m := range k.metadata(&connectors.Table{Options: connectors.Options{"topic": topic, "format": "text"}}) {
			if m.Readable {
				read = append(read, m.Key)
			}
			if m.Writable {
				write = append(write, m.Key)
			}
		}
		return read, write
	}
	read, write := list("x")
	if strings.Join(read, " ") != "topic partition headers leader-epoch offset timestamp timestamp-type" || strings.Join(write, " ") != "headers timestamp" {
		t.Errorf("read %v, write %v", read, write)
	}
	if _, write = list("x;y"); strings.Join(write, " ") != "topic headers timestamp" {
		t.Errorf("write %v", write)
	}
}
