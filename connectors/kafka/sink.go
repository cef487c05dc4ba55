package kafka

import (
	"context"
	"fmt"
	"time"

	"runnel/connectors"
	"runnel/types"
)

// sinkSpec is a planned sink.
type sinkSpec struct {
	*spec
	k           *Kafka
	req         connectors.SinkRequest
	guarantee   string // exactly-once, at-least-once, none
	prefix      string // of transactional ids
	partitioner string // default, fixed
	rowLog      string // auto, true, false
	limits      limits
}

const exactlyOnce = "exactly-once"

// sink plans a sink.
func (k *Kafka) sink(req connectors.SinkRequest) (*connectors.Sink, error) {
	s, err := k.parseTable(req.Table, "sink", "SerializationFormatFactory")
	if err != nil {
		return nil, err
	}
	out := &sinkSpec{spec: s, k: k, req: req}
	if err := out.parse(); err != nil {
		return nil, err
	}
	if err := s.finish(); err != nil {
		return nil, err
	}
	return out.plan(s.value.format.Mode)
}

// plan makes the sink for rows of the given kinds.
func (s *sinkSpec) plan(mode types.ChangelogMode) (*connectors.Sink, error) {
	parallelism, err := positive(s.table.Options, optSinkParallel)
	if err != nil {
		return nil, err
	}
	if _, err := newRowEncoder(s, time.UTC); err != nil {
		return nil, err
	}
	sink := &connectors.Sink{Mode: mode, Parallelism: parallelism, Identity: s.k.identity(s.props), Open: s.open}
	if s.guarantee == exactlyOnce {
		sink.Open, sink.Committer = s.openTxn, s.committer
	}
	return sink, nil
}

// parse reads the options of a sink alone.
func (s *sinkSpec) parse() (err error) {
	o := s.table.Options
	if s.req.Overwrite {
		return fmt.Errorf("INSERT OVERWRITE requires that the underlying DynamicTableSink of table '%s' implements the SupportsOverwrite interface.", s.table.Name)
	}
	if len(s.req.Static) > 0 {
		return fmt.Errorf("Table '%s' is not a partitioned table.", s.table.Name)
	}
	if (s.pattern != nil || len(s.topics) > 1) && s.topicColumn() < 0 {
		if s.pattern != nil {
			return fmt.Errorf("Flink Kafka sink currently only supports single topic, but got 'topic-pattern': %s.", o.Get(optPattern))
		}
		return fmt.Errorf("Flink Kafka sink currently only supports single topic, but got 'topic': %s.", bracketed(s.topics))
	}
	switch p := o.Get(optPartitioner); p {
	case "default", "fixed":
		s.partitioner = p
	case "round-robin":
		if len(o.List(optKeyFields)) > 0 {
			return fmt.Errorf("Currently 'round-robin' partitioner only works when option 'key.fields' is not specified.")
		}
		s.partitioner = "default"
	default:
		return fmt.Errorf("Could not find and instantiate partitioner class '%s': 'default', 'fixed' and 'round-robin' are supported.", p)
	}
	if s.guarantee, err = o.Enum(optGuarantee); err != nil {
		return err
	}
	if _, err = o.Enum(optNaming); err != nil {
		return err
	}
	if s.rowLog, err = o.Enum(optRowLog); err != nil {
		return err
	}
	s.prefix = o.Get(optTxnPrefix)
	if s.guarantee == exactlyOnce && s.prefix == "" {
		return fmt.Errorf("%s must be specified when using DeliveryGuarantee.EXACTLY_ONCE.", optTxnPrefix.Key)
	}
	if len(s.prefix) > maxPrefix {
		return fmt.Errorf("Invalid value for option '%s': it must not be longer than %d bytes.", optTxnPrefix.Key, maxPrefix)
	}
	s.limits, err = s.props.limits()
	return err
}

// maxPrefix bounds transactional ids: Kafka's protocol holds strings of up to 32767 bytes.
const maxPrefix = 32000

func bracketed(ss []string) string {
	t := "["
	for i, s := range ss {
		if i > 0 {
			t += ", "
		}
		t += s
	}
	return t + "]"
}

// topicColumn is the position of the written topic column among the columns of the request, -1 for none.
func (s *sinkSpec) topicColumn() int {
	for i, c := range s.req.Columns {
		if s.table.Columns[c].Metadata == metaTopic {
			return i
		}
	}
	return -1
}

// rowEncoder turns rows into keys, values, headers and so on. It borrows the columns of the batch at hand.
type rowEncoder struct {
	key, value         connectors.Encoder
	nullKey, null      connectors.NullEncoder // nil for formats without null messages
	keyView, valueView types.Batch
	keyAt, valueAt     []int // positions among the columns of the request
	topic, headers, at int   // likewise of metadata columns, -1 for none
	zone               *time.Location
}

func newRowEncoder(s *sinkSpec, zone *time.Location) (*rowEncoder, error) {
	e := &rowEncoder{topic: -1, headers: -1, at: -1, zone: zone}
	at := map[int]int{}
	for i, c := range s.req.Columns {
		at[c] = i
		switch s.table.Columns[c].Metadata {
		case metaTopic:
			e.topic = i
		case metaHeaders:
			e.headers = i
		case metaTime:
			e.at = i
		}
	}
	here := func(c int) bool { _, ok := at[c]; return ok }
	pick := func(d side) (ps []int) {
		for _, c := range d.columns {
			if here(c) {
				ps = append(ps, at[c])
			}
		}
		return ps
	}
	if s.value.format.Encoder == nil {
		return nil, fmt.Errorf("format '%s' of table '%s' can only be read.", s.value.format.Name, s.table.Name)
	}
	var err error
	e.valueAt = pick(s.value)
	if e.value, err = s.value.format.Encoder(s.request(s.value, here, nil, zone)); err != nil {
		return nil, err
	}
	e.null, _ = e.value.(connectors.NullEncoder)
	if s.key.format == nil {
		return e, nil
	}
	if s.key.format.Encoder == nil {
		return nil, fmt.Errorf("format '%s' of table '%s' can only be read.", s.key.format.Name, s.table.Name)
	}
	e.keyAt = pick(s.key)
	if e.key, err = s.key.format.Encoder(s.request(s.key, here, nil, zone)); err != nil {
		return nil, err
	}
	e.nullKey, _ = e.key.(connectors.NullEncoder)
	return e, nil
}

// begin points the views at a batch.
func (e *rowEncoder) begin(rows *types.Batch) {
	point := func(v *types.Batch, at []int) {
		v.Len, v.Kinds, v.Cols = rows.Len, rows.Kinds, v.Cols[:0]
		for _, i := range at {
			v.Cols = append(v.Cols, rows.Cols[i])
		}
	}
	point(&e.valueView, e.valueAt)
	point(&e.keyView, e.keyAt)
}

// rowtime finds the one time attribute among the columns, -1 when there is none or more than one.
func rowtime(rows *types.Batch) int {
	found := -1
	for i, c := range rows.Cols {
		if c.Type.Attr == types.Rowtime {
			if found >= 0 {
				return -1
			}
			found = i
		}
	}
	return found
}

// writer is the writer without transactions: Prepare returns when all rows are acknowledged.
type writer struct {
	s   *sinkSpec
	env connectors.SinkEnv
	c   *client
	enc *rowEncoder
	p   *producer
	key []byte
}

func (s *sinkSpec) open(ctx context.Context, env connectors.SinkEnv) (connectors.Writer, error) {
	return s.openWriter(ctx, env)
}

func (s *sinkSpec) openWriter(ctx context.Context, env connectors.SinkEnv) (*writer, error) {
	enc, err := newRowEncoder(s, env.Zone)
	if err != nil {
		return nil, err
	}
	c, err := s.k.connect(ctx, s.props, true)
	if err != nil {
		return nil, err
	}
	w := &writer{s: s, env: env, c: c, enc: enc, p: newProducer(c, s.limits)}
	defer c.during(ctx)()
	if s.guarantee != exactlyOnce && s.limits.idempotent {
		if err := w.p.identify(ctx); err != nil {
			w.Close()
			return nil, fmt.Errorf("producer id for %s: %w", s.table.Name, err)
		}
	}
	return w, nil
}

// Write implements connectors.Writer.
func (w *writer) Write(ctx context.Context, rows *types.Batch) error {
	defer w.c.during(ctx)()
	if err := w.write(ctx, rows); err != nil {
		return fmt.Errorf("writing %s: %w", w.s.table.Name, err)
	}
	return nil
}

func (w *writer) write(ctx context.Context, rows *types.Batch) error {
	e := w.enc
	e.begin(rows)
	var topic *outTopic
	var err error
	if e.topic < 0 {
		if topic, err = w.p.topic(ctx, w.s.topics[0]); err != nil {
			return err
		}
	}
	at := e.at
	if at < 0 {
		at = rowtime(rows)
	}
	now := w.env.Now().UnixMilli()
	for k := range rows.Rows() {
		i := rows.Row(k)
		if e.topic >= 0 {
			if topic, err = w.rowTopic(ctx, rows.Cols[e.topic], i); err != nil {
				return err
			}
		}
		key, err := w.keyOf(i)
		if err != nil {
			return rowError("key", err)
		}
		part, err := w.p.room(ctx, w.pick(topic, key))
		if err != nil {
			return err
		}
		millis := now
		if at >= 0 && !rows.Cols[at].Null(i) {
			if millis = w.millis(rows.Cols[at], i); millis < 0 {
				return &types.DataError{Place: "column of the record timestamp", Row: time.UnixMilli(millis).UTC().String(), Err: fmt.Errorf("Kafka has no timestamps before 1970")}
			}
		}
		b := part.open
		b.begin(key, key != nil)
		null := w.s.upsert && rows.Kind(i).Retract() || e.null != nil && e.null.Null(&e.valueView, i)
		if !null {
			if b.buf, err = e.value.Encode(b.buf, &e.valueView, i); err != nil {
				b.undo()
				return rowError("value", err)
			}
		}
		b.end(millis, null)
		if e.headers >= 0 {
			b.headers(rows.Cols[e.headers], i)
		}
		if b.full(w.s.limits.batch) {
			if err := w.p.send(ctx, part); err != nil {
				return err
			}
		}
	}
	return nil
}

// keyOf gives the key of a row, nil for none; it is valid until the next call.
func (w *writer) keyOf(i int32) (_ []byte, err error) {
	e := w.enc
	if e.key == nil || e.nullKey != nil && e.nullKey.Null(&e.keyView, i) {
		return nil, nil
	}
	if w.key, err = e.key.Encode(w.key[:0], &e.keyView, i); err != nil {
		return nil, err
	}
	if w.key == nil {
		w.key = []byte{}
	}
	return w.key, nil
}

func rowError(part string, err error) error {
	return &types.DataError{Place: "record " + part, Err: err}
}

// millis gives a time column's value in milliseconds; a TIMESTAMP is a wall time of the session's zone.
func (w *writer) millis(c *types.Column, i int32) int64 {
	micros := int64(0)
	if c.Phys() == types.PhysWide {
		micros = c.Wide[i].Hi
	} else {
		micros = c.Int[i]
	}
	ms := floorDiv(micros, 1000)
	if c.Type.Kind == types.Timestamp {
		if c.Type.Attr != types.Rowtime { // a rowtime attribute counts as UTC, as watermarks do
			t := time.UnixMilli(ms).UTC()
			ms = time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), w.enc.zone).UnixMilli()
		}
	}
	return ms
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// rowTopic gives the topic that the row names, which must be one of the table's.
func (w *writer) rowTopic(ctx context.Context, c *types.Column, i int32) (*outTopic, error) {
	name := ""
	if !c.Null(i) {
		name = c.Str[i]
	}
	if t, ok := w.p.topics[name]; ok {
		return t, nil
	}
	allowed := w.s.pattern != nil && w.s.pattern.MatchString(name)
	for _, t := range w.s.topics {
		allowed = allowed || t == name
	}
	if !allowed {
		return nil, &types.DataError{Place: "metadata column 'topic'", Row: name, Err: fmt.Errorf("The topic of the sink record is not valid. Expected topic to be one of the table's, but was: %s", name)}
	}
	return w.p.topic(ctx, name)
}

// pick chooses the partition of a row.
func (w *writer) pick(t *outTopic, key []byte) *outPart {
	switch {
	case w.s.partitioner == "fixed":
		return t.parts[w.env.Subtask%len(t.parts)]
	case key != nil:
		return t.parts[int(murmur2(key)&0x7fffffff)%len(t.parts)]
	}
	return t.parts[t.sticky%len(t.parts)]
}

// Flush sends what is buffered without waiting for the answer.
func (w *writer) Flush(ctx context.Context) error {
	defer w.c.during(ctx)()
	if err := w.p.flush(ctx); err != nil {
		return fmt.Errorf("writing %s: %w", w.s.table.Name, err)
	}
	return nil
}

// Prepare waits until everything is acknowledged.
func (w *writer) Prepare(ctx context.Context, _ int64) ([][]byte, []byte, error) {
	defer w.c.during(ctx)()
	if err := w.p.drain(ctx); err != nil {
		return nil, nil, fmt.Errorf("writing %s: %w", w.s.table.Name, err)
	}
	return nil, nil, nil
}

// Close ends the writer; what is not acknowledged is given up.
func (w *writer) Close() error {
	w.p.close()
	w.c.close()
	return nil
}

// murmur2 is the hash by which Kafka's own clients choose partitions: 32-bit MurmurHash2 with their seed.
func murmur2(data []byte) uint32 {
	const m = 0x5bd1e995
	h := uint32(0x9747b28c) ^ uint32(len(data))
	for ; len(data) >= 4; data = data[4:] {
		k := uint32(data[0]) | uint32(data[1])<<8 | uint32(data[2])<<16 | uint32(data[3])<<24
		k *= m
		k ^= k >> 24
		k *= m
		h = h*m ^ k
	}
	switch len(data) {
	case 3:
		h ^= uint32(data[2]) << 16
		fallthrough
	case 2:
		h ^= uint32(data[1]) << 8
		fallthrough
	case 1:
		h ^= uint32(data[0])
		h *= m
	}
	h ^= h >> 13
	h *= m
	return h ^ h>>15
}
