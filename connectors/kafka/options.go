package kafka

import "runnel/connectors"

const propertyPrefix = "properties."

// The options of a table, but for properties.* and those of its formats.
var (
	optTopic        = connectors.Option{Key: "topic", Kind: connectors.ListOption, Doc: "Topic, or topics separated by ';'."}
	optPattern      = connectors.Option{Key: "topic-pattern", Doc: "Regular expression that the whole name of a topic must match, in place of topic."}
	optServers      = connectors.Option{Key: "properties.bootstrap.servers", Required: true, Doc: "Broker addresses, host:port, separated by ','."}
	optGroup        = connectors.Option{Key: "properties.group.id", Doc: "Consumer group whose committed offsets are read and, after each checkpoint, written."}
	optFormat       = connectors.Option{Key: "format", Doc: "Format of the record value; the same as value.format."}
	optValueFormat  = connectors.Option{Key: "value.format", Doc: "Format of the record value."}
	optKeyFormat    = connectors.Option{Key: "key.format", Doc: "Format of the record key; without it keys are neither read nor written."}
	optKeyFields    = connectors.Option{Key: "key.fields", Kind: connectors.ListOption, Doc: "Columns that make up the record key."}
	optKeyPrefix    = connectors.Option{Key: "key.fields-prefix", Doc: "Prefix of the key columns' names that the key format does not see."}
	optValueInclude = connectors.Option{Key: "value.fields-include", Kind: connectors.EnumOption, Default: "ALL", Values: []string{"ALL", "EXCEPT_KEY"}, Enum: "org.apache.flink.streaming.connectors.kafka.table.KafkaConnectorOptions$ValueFieldsStrategy", Doc: "Whether the key columns are part of the record value too."}
	optStartup      = connectors.Option{Key: "scan.startup.mode", Kind: connectors.EnumOption, Default: "group-offsets", Values: []string{"earliest-offset", "latest-offset", "group-offsets", "timestamp", "specific-offsets"}, Enum: "org.apache.flink.streaming.connectors.kafka.table.KafkaConnectorOptions$ScanStartupMode", Doc: "Where reading starts; a restored job goes on where it was."}
	optStartupOffs  = connectors.Option{Key: "scan.startup.specific-offsets", Doc: "Offsets of the start-up mode specific-offsets: partition:0,offset:42;partition:1,offset:300."}
	optStartupTime  = connectors.Option{Key: "scan.startup.timestamp-millis", Kind: connectors.LongOption, Doc: "Record time in milliseconds of the start-up mode timestamp."}
	optBounded      = connectors.Option{Key: "scan.bounded.mode", Kind: connectors.EnumOption, Default: "unbounded", Values: []string{"unbounded", "latest-offset", "group-offsets", "timestamp", "specific-offsets"}, Enum: "org.apache.flink.streaming.connectors.kafka.table.KafkaConnectorOptions$ScanBoundedMode", Doc: "Where reading ends."}
	optBoundedOffs  = connectors.Option{Key: "scan.bounded.specific-offsets", Doc: "Offsets of the bounded mode specific-offsets, exclusive."}
	optBoundedTime  = connectors.Option{Key: "scan.bounded.timestamp-millis", Kind: connectors.LongOption, Doc: "Record time in milliseconds of the bounded mode timestamp."}
	optDiscovery    = connectors.Option{Key: "scan.topic-partition-discovery.interval", Kind: connectors.DurationOption, Default: "5 min", Doc: "Time between looks for new topics and partitions; 0 for none."}
	optScanParallel = connectors.Option{Key: "scan.parallelism", Kind: connectors.IntOption, Doc: "Parallelism of the source."}
	optPartitioner  = connectors.Option{Key: "sink.partitioner", Default: "default", Doc: "default (by key, else in turn), fixed (one partition for each subtask) or round-robin."}
	optGuarantee    = connectors.Option{Key: "sink.delivery-guarantee", Kind: connectors.EnumOption, Default: "at-least-once", Values: []string{"exactly-once", "at-least-once", "none"}, Enum: "org.apache.flink.connector.base.DeliveryGuarantee", Old: []string{"sink.semantic"}, Doc: "exactly-once writes in transactions that commit with checkpoints."}
	optTxnPrefix    = connectors.Option{Key: "sink.transactional-id-prefix", Doc: "Beginning of the transactional ids; required with exactly-once."}
	optNaming       = connectors.Option{Key: "sink.transaction-naming-strategy", Kind: connectors.EnumOption, Default: "INCREMENTING", Values: []string{"INCREMENTING", "POOLING"}, Enum: "org.apache.flink.connector.kafka.sink.TransactionNamingStrategy", Doc: "Accepted; transactional ids are always pooled by run, subtask and slot."}
	optSinkParallel = connectors.Option{Key: "sink.parallelism", Kind: connectors.IntOption, Doc: "Parallelism of the sink."}
	optRowLog       = connectors.Option{Key: "sink.row-log", Kind: connectors.EnumOption, Default: "auto", Values: []string{"auto", "true", "false"}, Doc: "Keep the rows of open transactions on local disk, so that a transaction that the broker lost or timed out can be written again; auto: with the embedded broker only."}
)

func options() []connectors.Option {
	return []connectors.Option{
		optTopic, optPattern, optServers, optGroup, optFormat, optValueFormat, optKeyFormat, optKeyFields, optKeyPrefix, optValueInclude,
		optStartup, optStartupOffs, optStartupTime, optBounded, optBoundedOffs, optBoundedTime, optDiscovery, optScanParallel,
		optPartitioner, optGuarantee, optTxnPrefix, optNaming, optSinkParallel, optRowLog,
	}
}
