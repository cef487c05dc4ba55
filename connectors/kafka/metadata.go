package kafka

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"runnel/connectors"
	"runnel/expr"
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

// formatMetadata gives the value format's metadata of that key, if it is one.
func (s *spec) formatMetadata(key string) (connectors.Metadata, bool) {
	key, ok := strings.CutPrefix(key, valuePrefix)
	i := slices.IndexFunc(s.value.format.Metadata, func(m connectors.Metadata) bool { return m.Key == key })
	if !ok || i < 0 {
		return connectors.Metadata{}, false
	}
	return s.value.format.Metadata[i], true
}

// metaColumn fills one metadata column: add appends n times what a record says of itself.
type metaColumn struct {
	dest *types.Column
	add  func(rec *record, p *partition, n int) error
}

// metaSource is what a metadata key of a record gives, in its own type.
type metaSource struct {
	is  types.Type
	put func(c *types.Column, rec *record, p *partition)
}

func metaSources() map[string]metaSource {
	text := types.String().Required()
	return map[string]metaSource{
		metaTopic:     {text, func(c *types.Column, _ *record, p *partition) { c.AppendStr(p.topic) }},
		metaTimeType:  {text, func(c *types.Column, rec *record, _ *partition) { c.AppendStr(rec.timeType()) }},
		metaPartition: {types.Of(types.Int).Required(), func(c *types.Column, _ *record, p *partition) { c.AppendInt(int64(p.partition)) }},
		metaOffset:    {types.Of(types.BigInt).Required(), func(c *types.Column, rec *record, _ *partition) { c.AppendInt(rec.offset) }},
		metaEpoch: {types.Of(types.Int), func(c *types.Column, rec *record, _ *partition) {
			if epoch := rec.batch.PartitionLeaderEpoch; epoch >= 0 {
				c.AppendInt(int64(epoch))
			} else {
				c.AppendNull()
			}
		}},
		metaTime: {types.TimestampLTZOf(3).Required(), func(c *types.Column, rec *record, _ *partition) { appendMillis(c, rec.millis(), false, nil) }},
		metaHeaders: {types.MapOf(types.String().Required(), types.Bytes().Required()).Required(),
			func(c *types.Column, rec *record, _ *partition) { c.AppendAny(headerMap(rec)) }},
	}
}

// newMetaColumn makes the filler of a column, which may be declared with another type that the key's type casts to.
func newMetaColumn(s *spec, col connectors.Column, dest *types.Column, zone *time.Location) (metaColumn, error) {
	src, ok := metaSources()[col.Metadata]
	if !ok {
		return metaColumn{}, fmt.Errorf("Invalid metadata key '%s' in column '%s' of table '%s'.", col.Metadata, col.Name, s.table.Name)
	}
	put := src.put
	if col.Metadata == metaTime && col.Type.Kind == types.Timestamp {
		put = func(c *types.Column, rec *record, _ *partition) { appendMillis(c, rec.millis(), true, zone) }
	} else if !holds(col.Type, src.is) {
		c, err := newMetaCast(s, col, src.is, zone)
		if err != nil {
			return metaColumn{}, err
		}
		return metaColumn{dest, func(rec *record, p *partition, n int) error {
			c.in.Reset()
			put(c.in.Cols[0], rec, p)
			c.in.Push(types.Insert)
			return c.fill(dest, n)
		}}, nil
	}
	return metaColumn{dest, func(rec *record, p *partition, n int) error {
		for range n {
			put(dest, rec, p)
		}
		return nil
	}}, nil
}

// holds says whether values of the type is are also values of t as they are.
func holds(t, is types.Type) bool {
	switch is.Kind {
	case types.Int, types.BigInt:
		return t.IsInteger() && t.Kind >= is.Kind
	case types.TimestampLTZ:
		return t.Kind == types.TimestampLTZ && t.Precision >= is.Precision && t.Phys() == is.Phys()
	case types.Map:
		return t.Kind == types.Map && holds(*t.Key, *is.Key) && holds(*t.Elem, *is.Elem)
	case types.Array:
		return t.Kind == types.Array && holds(*t.Elem, *is.Elem)
	}
	return t.SameIgnoringNull(is)
}

// metaCast brings a metadata value to the type that its column was declared with.
type metaCast struct {
	in   *types.Batch // one row, one column
	eval expr.Eval
}

func newMetaCast(s *spec, col connectors.Column, is types.Type, zone *time.Location) (*metaCast, error) {
	fields := []types.Field{{Name: col.Name, Type: is}}
	cast, err := expr.NewCast(expr.NewCol(fields, 0), col.Type, false, expr.Pos{})
	if err != nil {
		return nil, fmt.Errorf("Invalid data type for metadata column '%s' of table '%s'. The column cannot be declared as '%s' because the type must be castable from metadata type '%s'.",
			col.Name, s.table.Name, col.Type, is)
	}
	c := &metaCast{in: types.NewBatch(fields)}
	c.eval, err = expr.Compile(cast, fields, &expr.Env{Zone: zone})
	return c, err
}

// fill appends the cast value of the row of c.in, n times.
func (c *metaCast) fill(dest *types.Column, n int) error {
	if n == 0 {
		return nil
	}
	out, err := c.eval(c.in, types.All(1))
	if err != nil {
		return err
	}
	for range n {
		dest.AppendFrom(out, 0)
	}
	return nil
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
