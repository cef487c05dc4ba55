package kafka

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"runnel/connectors"
)

// Policy says whether this process may be the broker itself.
type Policy uint8

const (
	// EmbeddedNever: only brokers that are there are used.
	EmbeddedNever Policy = iota
	// EmbeddedAsk: none is started, and the error for a broker that is not there says how to ask for one (Config.HowToAsk).
	EmbeddedAsk
	// EmbeddedAllowed: one is started at the first use of an address of Config.Addresses that nobody answers.
	EmbeddedAllowed
)

// Config is what a process gives to its Kafka connector.
type Config struct {
	// Formats are the formats that tables may name.
	Formats []connectors.Format
	// Dir is where the embedded broker keeps its topics and where the choice between it and a real broker is stored.
	Dir string
	// Embedded is the policy for the embedded broker.
	Embedded Policy
	// HowToAsk is how a user asks for the embedded broker, e.g. "start with --embedded-kafka".
	HowToAsk string
	// Addresses are those that the embedded broker stands in for; DefaultAddresses when empty.
	Addresses []string
	// Retention is the greatest size of an embedded topic's partition in bytes; DefaultRetention when 0.
	Retention int64
	// Notice gets one line for the user, e.g. which broker was chosen. May be called from any goroutine; nil: dropped.
	Notice func(string)
	// Log gets what matters to whoever looks for a fault; nil: dropped.
	Log *slog.Logger
}

// DefaultAddresses are the addresses that the embedded broker serves unless told otherwise.
func DefaultAddresses() []string { return []string{"kafka:9092", "localhost:9092", "127.0.0.1:9092"} }

// DefaultRetention is the greatest size of an embedded topic's partition: opening the broker takes about 3 s a GB.
const DefaultRetention = 256 << 20

// Kafka is the Kafka side of one process: its connector and, once needed, the embedded broker.
type Kafka struct {
	cfg  Config
	host host

	mu      sync.Mutex
	chosen  map[string]choice // by bootstrap address, as read from or written to the choice file
	noticed map[string]bool   // notices that are given once
	live    map[string]bool   // transaction runs whose writers are open in this process
}

// New makes the Kafka side of a process. Nothing is opened before the first use.
func New(cfg Config) *Kafka {
	if len(cfg.Addresses) == 0 {
		cfg.Addresses = DefaultAddresses()
	}
	if cfg.Retention == 0 {
		cfg.Retention = DefaultRetention
	}
	if cfg.Notice == nil {
		cfg.Notice = func(string) {}
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	k := &Kafka{cfg: cfg, chosen: map[string]choice{}, noticed: map[string]bool{}, live: map[string]bool{}}
	k.host = host{dir: cfg.Dir, addresses: cfg.Addresses, retention: cfg.Retention, log: cfg.Log}
	return k
}

// Close stops the embedded broker if this process runs it. Jobs must have ended before.
func (k *Kafka) Close() error { return k.host.close() }

// Connector gives the row of the connector table.
func (k *Kafka) Connector() connectors.Connector {
	return connectors.Connector{
		Name:              "kafka",
		SourceClass:       "org.apache.flink.streaming.connectors.kafka.table.KafkaDynamicSource",
		SinkClass:         "org.apache.flink.streaming.connectors.kafka.table.KafkaDynamicSink",
		Doc:               "Topics of Apache Kafka, as a scan source and as a sink with any delivery guarantee.",
		Options:           options(),
		Prefixes:          []string{propertyPrefix},
		Formats:           []string{optFormat.Key, optValueFormat.Key, optKeyFormat.Key},
		WatermarkPushdown: true,
		Metadata:          k.metadata,
		Source:            k.source,
		Sink:              k.sink,
	}
}

// once gives the notice unless the same one was given before.
func (k *Kafka) once(text string) {
	k.mu.Lock()
	told := k.noticed[text]
	k.noticed[text] = true
	k.mu.Unlock()
	if !told {
		k.cfg.Notice(text)
	}
}

// identity gives the cluster id of the table's brokers.
func (k *Kafka) identity(props properties) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		c, err := k.connect(ctx, props, false)
		if err != nil {
			return "", err
		}
		defer c.close()
		defer c.during(ctx)()
		id, err := c.clusterID()
		if err != nil {
			return "", fmt.Errorf("cluster id of %s: %w", props.servers(), err)
		}
		return id, nil
	}
}
