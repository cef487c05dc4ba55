package kafka

import (
	"fmt"
	"slices"

	"runnel/connectors"
	"runnel/types"
)

// upsert-kafka reads and writes a topic as a table with a primary key: the record key is the primary key, a record
// replaces the row of its key, and a record without a value (a tombstone) deletes it.

// Options that only upsert-kafka has.
var (
	optFlushRows = connectors.Option{Key: "sink.buffer-flush.max-rows", Kind: connectors.IntOption, Default: "0",
		Doc: "Rows that are gathered before they are written, the last of each key only; 0 for no gathering. Goes with sink.buffer-flush.interval."}
	optFlushInterval = connectors.Option{Key: "sink.buffer-flush.interval", Kind: connectors.DurationOption, Default: "0 s",
		Doc: "Longest time that rows are gathered for; 0 for no gathering. Goes with sink.buffer-flush.max-rows."}
)

// upsertSource are the kinds that records make: the old row is not in them, and an insert is not told from an update.
var upsertSource = types.ModeOf(types.UpdateAfter, types.Delete)

// Upsert gives the row of the connector table for upsert-kafka.
func (k *Kafka) Upsert() connectors.Connector {
	required := func(o connectors.Option) connectors.Option { o.Required = true; return o }
	return connectors.Connector{
		Name:        "upsert-kafka",
		SourceClass: "org.apache.flink.streaming.connectors.kafka.table.KafkaDynamicSource",
		SinkClass:   "org.apache.flink.streaming.connectors.kafka.table.KafkaDynamicSink",
		Doc:         "Topics of Apache Kafka as tables with a primary key: the newest record of a key is its row, one without a value deletes it.",
		Options: []connectors.Option{
			optTopic, optPattern, optServers, optGroup, required(optKeyFormat), required(optValueFormat), optKeyPrefix, optValueInclude,
			optBounded, optBoundedOffs, optBoundedTime, optDiscovery, optScanParallel,
			optFlushRows, optFlushInterval, optGuarantee, optTxnPrefix, optNaming, optSinkParallel, optRowLog,
		},
		Prefixes:          []string{propertyPrefix},
		Formats:           []string{optValueFormat.Key, optKeyFormat.Key},
		WatermarkPushdown: true,
		Metadata:          k.metadata,
		Source:            k.upsertSource,
		Sink:              k.upsertSink,
	}
}

// checkUpsert checks what upsert-kafka asks of a table and deals its columns: those of the primary key are the record key.
func (s *spec) checkUpsert() error {
	for _, side := range []struct {
		what   string
		format *connectors.Format
	}{{"key", s.key.format}, {"value", s.value.format}} {
		if f := side.format; f != nil && f.Mode != types.InsertOnly {
			return fmt.Errorf("'upsert-kafka' connector doesn't support '%s' as %s format, because '%s' is not in insert-only mode.", f.Name, side.what, f.Name)
		}
	}
	if len(s.table.PrimaryKey) == 0 {
		return fmt.Errorf("'upsert-kafka' tables require to define a PRIMARY KEY constraint. The PRIMARY KEY specifies which columns should be read from " +
			"or write to the Kafka message key. The PRIMARY KEY also defines records in the 'upsert-kafka' table should update or delete on which keys.")
	}
	s.upsert = true
	return s.sides(s.table.PrimaryKey)
}

func (k *Kafka) upsertSource(req connectors.ScanRequest) (*connectors.Source, error) {
	s, err := k.parseTable(req.Table, "scan", "DeserializationFormatFactory")
	if err != nil {
		return nil, err
	}
	src := &sourceSpec{spec: s, k: k, req: req, startup: bound{mode: fromEarliest}}
	if err := src.parse(); err != nil {
		return nil, err
	}
	if err := s.checkUpsert(); err != nil {
		return nil, err
	}
	return src.plan(upsertSource)
}

func (k *Kafka) upsertSink(req connectors.SinkRequest) (*connectors.Sink, error) {
	s, err := k.parseTable(req.Table, "sink", "SerializationFormatFactory")
	if err != nil {
		return nil, err
	}
	out := &sinkSpec{spec: s, k: k, req: req}
	if err := s.checkUpsert(); err != nil {
		return nil, err
	}
	if err := out.parse(); err != nil {
		return nil, err
	}
	rows, err := req.Table.Options.Int(optFlushRows)
	if err != nil {
		return nil, err
	}
	interval, err := req.Table.Options.Duration(optFlushInterval)
	if err != nil {
		return nil, err
	}
	if (rows > 0) != (interval > 0) || rows < 0 || interval < 0 {
		return nil, fmt.Errorf("'%s' and '%s' must be set to be greater than zero together to enable sink buffer flushing.", optFlushRows.Key, optFlushInterval.Key)
	}
	sink, err := out.plan(types.Upsert)
	if err == nil && rows > 0 {
		sink.Open = gathering(out, sink.Open, int(rows), interval)
	}
	return sink, err
}

// updates makes the rows of a record, appended from before on, updates: whether its key is new is not known here.
func (d *decoding) updates(before, n int) {
	d.view.Len = before
	if d.view.Kinds != nil {
		d.view.Kinds = d.view.Kinds[:before]
	}
	for range n {
		d.view.Push(types.UpdateAfter)
	}
}

// tombstone appends a row for each row of the key that deletes it: the columns of the key are there, the others NULL.
func (d *decoding) tombstone(keyRows int) int {
	for i := range keyRows {
		for _, k := range d.deleted {
			k.dest.AppendFrom(d.keys.Cols[k.col], int32(i))
		}
		for _, c := range d.absent {
			c.AppendNull()
		}
		for _, c := range d.raw {
			c.AppendNull()
		}
		d.view.Push(types.Delete)
	}
	return keyRows
}

// distinct gives the positions that at holds, ascending.
func distinct(at map[string]int32) []int32 {
	sel := make([]int32, 0, len(at))
	for _, i := range at {
		sel = append(sel, i)
	}
	slices.Sort(sel)
	return sel
}
