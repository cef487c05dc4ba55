package kafka

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"runnel/connectors"
	"runnel/types"
)

// The metadata keys of a Kafka record.
const (
	metaTopic     = "topic"
	metaPartition = "partition"
	metaHeaders   = "headers"
	metaEpoch     = "leader-epoch"
	metaOffset    = "offset"
	metaTime      = "timestamp"
	metaTimeType  = "timestamp-type"
	valuePrefix   = "value."
)

// metadata lists what a table may declare. Metadata of the value format come first, as in Flink.
func (k *Kafka) metadata(t *connectors.Table) []connectors.Metadata {
	var ms []connectors.Metadata
	name := t.Options.Get(optFormat)
	if name == "" {
		name = t.Options.Get(optValueFormat)
	}
	if i := slices.IndexFunc(k.cfg.Formats, func(f connectors.Format) bool { return f.Name == name }); i >= 0 {
		for _, m := range k.cfg.Formats[i].Metadata {
			m.Key = valuePrefix + m.Key
			ms = append(ms, m)
		}
	}
	manyTopics := t.Options.Get(optPattern) != "" || len(t.Options.List(optTopic)) > 1
	headers := types.MapOf(types.String().Required(), types.Bytes().Required()).Required()
	return append(ms,
		connectors.Metadata{Key: metaTopic, Type: types.String().Required(), Readable: true, Writable: manyTopics},
		connectors.Metadata{Key: metaPartition, Type: types.Of(types.Int).Required(), Readable: true},
		connectors.Metadata{Key: metaHeaders, Type: headers, Readable: true, Writable: true},
		connectors.Metadata{Key: metaEpoch, Type: types.Of(types.Int), Readable: true},
		connectors.Metadata{Key: metaOffset, Type: types.Of(types.BigInt).Required(), Readable: true},
		connectors.Metadata{Key: metaTime, Type: types.TimestampLTZOf(3).Required(), Readable: true, Writable: true},
		connectors.Metadata{Key: metaTimeType, Type: types.String().Required(), Readable: true},
	)
}

// formatMetadata says whether the metadata key is one of the value format, and which.
func (s *spec) formatMetadata(key string) (string, bool) {
	key, ok := strings.CutPrefix(key, valuePrefix)
	return key, ok && slices.ContainsFunc(s.value.format.Metadata, func(m connectors.Metadata) bool { return m.Key == key })
}

// metaColumn fills one metadata column.
type metaColumn struct {
	dest *types.Column
	add  func(rec *record, p *partition, n int) // appends n times
}

// newMetaColumn makes the filler of a column, which may be declared with another type that the key's type casts to.
func newMetaColumn(s *spec, col connectors.Column, dest *types.Column, zone *time.Location) (metaColumn, error) {
	bad := func(is types.Type) (metaColumn, error) {
		return metaColumn{}, fmt.Errorf("Invalid data type for metadata column '%s' of table '%s'. The column cannot be declared as '%s' because the type must be castable from metadata type '%s'.",
			col.Name, s.table.Name, col.Type, is)
	}
	fill := func(one func(rec *record, p *partition)) (metaColumn, error) {
		return metaColumn{dest, func(rec *record, p *partition, n int) {
			for range n {
				one(rec, p)
			}
		}}, nil
	}
	number := func(is types.Type, value func(*record, *partition) (int64, bool)) (metaColumn, error) {
		switch {
		case col.Type.IsInteger():
			return fill(func(rec *record, p *partition) {
				if v, ok := value(rec, p); ok {
					dest.AppendInt(v)
				} else {
					dest.AppendNull()
				}
			})
		case col.Type.IsString():
			return fill(func(rec *record, p *partition) {
				if v, ok := value(rec, p); ok {
					dest.AppendStr(strconv.FormatInt(v, 10))
				} else {
					dest.AppendNull()
				}
			})
		}
		return bad(is)
	}
	switch col.Metadata {
	case metaTopic:
		if !col.Type.IsString() {
			return bad(types.String().Required())
		}
		return fill(func(_ *record, p *partition) { dest.AppendStr(p.topic) })
	case metaTimeType:
		if !col.Type.IsString() {
			return bad(types.String().Required())
		}
		return fill(func(rec *record, _ *partition) { dest.AppendStr(rec.timeType()) })
	case metaPartition:
		return number(types.Of(types.Int).Required(), func(_ *record, p *partition) (int64, bool) { return int64(p.partition), true })
	case metaOffset:
		return number(types.Of(types.BigInt).Required(), func(rec *record, _ *partition) (int64, bool) { return rec.offset, true })
	case metaEpoch:
		return number(types.Of(types.Int), func(rec *record, _ *partition) (int64, bool) {
			return int64(rec.batch.PartitionLeaderEpoch), rec.batch.PartitionLeaderEpoch >= 0
		})
	case metaTime:
		if col.Type.Kind != types.TimestampLTZ && col.Type.Kind != types.Timestamp {
			return bad(types.TimestampLTZOf(3).Required())
		}
		local := col.Type.Kind == types.Timestamp
		return fill(func(rec *record, _ *partition) { appendMillis(dest, rec.millis(), local, zone) })
	case metaHeaders:
		if col.Type.Kind != types.Map {
			return bad(types.MapOf(types.String(), types.Bytes()))
		}
		return fill(func(rec *record, _ *partition) { dest.AppendAny(headerMap(rec)) })
	}
	return metaColumn{}, fmt.Errorf("Invalid metadata key '%s' in column '%s' of table '%s'.", col.Metadata, col.Name, s.table.Name)
}

// timeType names what the record's timestamp is.
func (r *record) timeType() string {
	switch {
	case r.batch.LogAppendTime:
		return "LogAppendTime"
	case r.batch.FirstTimestamp.IsZero() || r.batch.FirstTimestamp.UnixMilli() < 0:
		return "NoTimestampType"
	}
	return "CreateTime"
}

// appendMillis appends a timestamp, local: as the wall time of the zone.
func appendMillis(dest *types.Column, ms int64, local bool, zone *time.Location) {
	if local {
		_, offset := time.UnixMilli(ms).In(zone).Zone()
		ms += int64(offset) * 1000
	}
	if dest.Phys() == types.PhysWide {
		dest.AppendWide(types.Int128{Hi: ms * 1000})
		return
	}
	dest.AppendInt(ms * 1000)
}

// headerMap makes the map of a record's headers; of equal keys the last counts.
func headerMap(rec *record) *types.MapValue {
	m := &types.MapValue{}
	for _, h := range rec.Headers {
		k, v := types.StrDatum(string(h.Key)), types.StrDatum(string(h.Value))
		if h.Value == nil {
			v = types.NullDatum()
		}
		if i := slices.IndexFunc(m.Keys, func(d types.Datum) bool { return d.S == k.S }); i >= 0 {
			m.Vals[i] = v
			continue
		}
		m.Keys, m.Vals = append(m.Keys, k), append(m.Vals, v)
	}
	return m
}
