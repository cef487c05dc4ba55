package kafka

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"runnel/connectors"
	"runnel/connectors/format"
	"runnel/types"
)

// textFormat is a format for tests: fields between '|', \N for NULL, rows between ';' and, as changelog, a kind in front.
func textFormat(name string, mode types.ChangelogMode) connectors.Format {
	return connectors.Format{
		Name: name, Mode: mode,
		Decoder: func(r connectors.FormatRequest) (connectors.Decoder, error) {
			return textDecoder{r.Fields, mode != types.InsertOnly}, nil
		},
		Encoder: func(r connectors.FormatRequest) (connectors.Encoder, error) {
			return textEncoder{r.Fields, mode != types.InsertOnly}, nil
		},
	}
}

type textDecoder struct {
	fields []types.Field
	kinds  bool
}

func (d textDecoder) Decode(msg []byte, out *types.Batch) error {
	if msg == nil {
		return nil
	}
	for _, row := range strings.Split(string(msg), ";") {
		kind := types.Insert
		if d.kinds {
			k, rest, _ := strings.Cut(row, " ")
			kind = types.RowKind(slices.Index([]string{"+I", "-U", "+U", "-D"}, k))
			row = rest
		}
		parts := strings.Split(row, "|")
		at := out.Len
		for i, f := range d.fields {
			if i >= len(parts) {
				out.Truncate(at)
				return fmt.Errorf("%d fields instead of %d", len(parts), len(d.fields))
			}
			if err := appendText(out.Cols[i], f.Type, parts[i]); err != nil {
				out.Truncate(at)
				return err
			}
		}
		out.Push(kind)
	}
	return nil
}

func appendText(c *types.Column, t types.Type, text string) error {
	if text == `\N` {
		c.AppendNull()
		return nil
	}
	if t.Phys() == types.PhysStr {
		c.AppendStr(text)
		return nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return fmt.Errorf("number %q", text)
	}
	c.AppendInt(n)
	return nil
}

type textEncoder struct {
	fields []types.Field
	kinds  bool
}

func (e textEncoder) Encode(dst []byte, rows *types.Batch, i int32) ([]byte, error) {
	if e.kinds {
		dst = append(dst, rows.Kind(i).String()+" "...)
	}
	for j, c := range rows.Cols {
		if j > 0 {
			dst = append(dst, '|')
		}
		dst = append(dst, cell(c, i)...)
	}
	return dst, nil
}

// cell shows a value of a column.
func cell(c *types.Column, i int32) string {
	switch {
	case c.Null(i):
		return `\N`
	case c.Phys() == types.PhysStr:
		return c.Str[i]
	case c.Phys() == types.PhysInt:
		return strconv.FormatInt(c.Int[i], 10)
	case c.Phys() == types.PhysAny:
		m := c.Any[i].(*types.MapValue)
		var parts []string
		for j, k := range m.Keys {
			parts = append(parts, k.S+"="+m.Vals[j].S)
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	return "?"
}

func testFormats() []connectors.Format {
	formats := []connectors.Format{textFormat("text", types.InsertOnly), textFormat("changes", types.AllKinds)}
	for _, f := range format.Changelogs() {
		if f.Name == "debezium-json" {
			formats = append(formats, f)
		}
	}
	return append(formats, bytesFormat())
}

// rig is a Kafka side with a broker: the one of KAFKA_BOOTSTRAP, or an embedded one in a directory of the test.
type rig struct {
	t       *testing.T
	k       *Kafka
	servers string
	dir     string
	mu      sync.Mutex
	notices []string
}

var topicNumber atomic.Int64

func realBootstrap() string { return os.Getenv("KAFKA_BOOTSTRAP") }

func newRig(t *testing.T) *rig {
	r := &rig{t: t, dir: t.TempDir(), servers: "localhost:0"}
	if realBootstrap() != "" {
		r.servers = realBootstrap()
	}
	r.open()
	return r
}

func (r *rig) open() {
	r.k = New(Config{Formats: testFormats(), Dir: r.dir + "/broker", Embedded: EmbeddedAllowed, Addresses: []string{"localhost:0"}, Notice: func(s string) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.notices = append(r.notices, s)
	}})
	k := r.k
	r.t.Cleanup(func() { k.Close() })
}

func (r *rig) told(part string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, s := range r.notices {
		if strings.Contains(s, part) {
			n++
		}
	}
	return n
}

func (r *rig) ctx() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	r.t.Cleanup(cancel)
	return ctx
}

// newTopic makes a topic of its own name.
func (r *rig) newTopic(partitions int32) string {
	r.t.Helper()
	name := fmt.Sprintf("t%d-%d", time.Now().UnixNano(), topicNumber.Add(1))
	c := r.client()
	defer c.close()
	brokers, err := c.allBrokers()
	if err != nil {
		r.t.Fatal(err)
	}
	made := false
	for _, b := range brokers { // one of them is the controller
		resp, err := b.CreateTopics(&sarama.CreateTopicsRequest{Version: 4, Timeout: 10 * time.Second,
			TopicDetails: map[string]*sarama.TopicDetail{name: {NumPartitions: partitions, ReplicationFactor: 1}}})
		if err != nil {
			r.t.Fatal(err)
		}
		made = made || resp.TopicErrors[name] == nil || resp.TopicErrors[name].Err == sarama.ErrNoError
		b.Close()
	}
	if !made {
		r.t.Fatalf("no broker makes topic %s", name)
	}
	if err := repeat(r.ctx(), time.Minute, func() error {
		if err := c.RefreshMetadata(name); err != nil {
			return err
		}
		ps, err := c.Partitions(name)
		if err == nil && len(ps) < int(partitions) {
			return sarama.ErrLeaderNotAvailable
		}
		return err
	}); err != nil {
		r.t.Fatal(err)
	}
	return name
}

func (r *rig) client() *client {
	r.t.Helper()
	c, err := r.k.connect(r.ctx(), properties{"bootstrap.servers": r.servers}, false)
	if err != nil {
		r.t.Fatal(err)
	}
	return c
}

// table makes a table; columns are "name TYPE" or "name TYPE METADATA key".
func (r *rig) table(topic string, columns []string, options ...string) *connectors.Table {
	t := &connectors.Table{Name: "c.d.t", Options: connectors.Options{"properties.bootstrap.servers": r.servers, "topic": topic, "format": "text"}}
	for i := 0; i+1 < len(options); i += 2 {
		t.Options[options[i]] = options[i+1]
		if options[i+1] == "" {
			delete(t.Options, options[i])
		}
	}
	kinds := map[string]types.Type{
		"INT": types.Of(types.Int), "BIGINT": types.Of(types.BigInt), "STRING": types.String(), "LTZ": types.TimestampLTZOf(3),
		"TS": types.TimestampOf(3), "HEADERS": types.MapOf(types.String(), types.Bytes()),
	}
	for _, c := range columns {
		w := strings.Fields(c)
		col := connectors.Column{Name: w[0], Type: kinds[w[1]]}
		if len(w) > 3 {
			col.Metadata = w[3]
		}
		t.Columns = append(t.Columns, col)
	}
	return t
}

// connector gives the connector of a table: upsert-kafka for one whose options say so.
func (r *rig) connector(t *connectors.Table) connectors.Connector {
	if t.Options["connector"] == "upsert-kafka" {
		return r.k.Upsert()
	}
	return r.k.Connector()
}

func all(t *connectors.Table) []int {
	cs := make([]int, len(t.Columns))
	for i := range cs {
		cs[i] = i
	}
	return cs
}

// rowsOf makes a batch out of text rows "a|b", with an optional kind in front.
func rowsOf(t *connectors.Table, columns []int, rows ...string) *types.Batch {
	b := types.NewBatch(connectors.ScanRequest{Table: t, Columns: columns}.Fields())
	for _, row := range rows {
		kind := types.Insert
		if i := slices.Index([]string{"+I", "-U", "+U", "-D"}, row[:min(2, len(row))]); i >= 0 {
			kind, row = types.RowKind(i), row[3:]
		}
		for j, part := range strings.Split(row, "|") {
			c := b.Cols[j]
			if c.Phys() == types.PhysAny && part != `\N` {
				m := &types.MapValue{}
				for _, kv := range strings.Split(part, ",") {
					k, v, _ := strings.Cut(kv, "=")
					m.Keys, m.Vals = append(m.Keys, types.StrDatum(k)), append(m.Vals, types.StrDatum(v))
				}
				c.AppendAny(m)
				continue
			}
			if err := appendText(c, c.Type, part); err != nil {
				panic(err)
			}
		}
		b.Push(kind)
	}
	return b
}

func testEnv(t *testing.T) connectors.Env {
	return connectors.Env{Zone: time.UTC, Dir: t.TempDir(), Now: time.Now, Of: 1}
}

// writeRows writes rows through the table's sink and waits until they are acknowledged.
func (r *rig) writeRows(t *connectors.Table, rows ...string) {
	r.t.Helper()
	sink, err := r.connector(t).Sink(connectors.SinkRequest{Table: t, Columns: all(t), Query: types.AllKinds})
	if err != nil {
		r.t.Fatal(err)
	}
	w, err := sink.Open(r.ctx(), connectors.SinkEnv{Env: testEnv(r.t), Run: "run", Sink: "sink"})
	if err != nil {
		r.t.Fatal(err)
	}
	defer w.Close()
	for part := range slices.Chunk(rows, types.BatchRows) {
		if err := w.Write(r.ctx(), rowsOf(t, all(t), part...)); err != nil {
			r.t.Fatal(err)
		}
	}
	if _, _, err := w.Prepare(r.ctx(), 1); err != nil {
		r.t.Fatal(err)
	}
}

// scan is a source that is being read by one subtask.
type scan struct {
	r      *rig
	src    *connectors.Source
	enum   connectors.Enumerator
	reader connectors.Reader
	wake   chan struct{}
	live   map[string]bool
	gauges map[string]func() int64
	err    error
}

// scan starts reading a table. restored splits are read in place of a discovery.
func (r *rig) scan(t *connectors.Table, columns []int, restored ...connectors.Split) *scan {
	r.t.Helper()
	src, err := r.connector(t).Source(connectors.ScanRequest{Table: t, Columns: columns})
	if err != nil {
		r.t.Fatal(err)
	}
	s := &scan{r: r, src: src, wake: make(chan struct{}, 1), live: map[string]bool{}, gauges: map[string]func() int64{}}
	if s.enum, err = src.Enumerate(testEnv(r.t)); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { s.close() })
	env := testEnv(r.t)
	env.Metrics = func(name string, value func() int64) { s.gauges[name] = value }
	if s.reader, err = src.Read(env, func() {
		select {
		case s.wake <- struct{}{}:
		default:
		}
	}); err != nil {
		r.t.Fatal(err)
	}
	if restored == nil {
		if restored, err = s.enum.Discover(r.ctx(), true); err != nil {
			s.err = err
			return s
		}
	}
	s.assign(restored)
	return s
}

func (s *scan) assign(splits []connectors.Split) {
	s.r.t.Helper()
	for _, sp := range splits {
		s.live[sp.ID] = true
	}
	if err := s.reader.Assign(splits); err != nil {
		s.r.t.Fatal(err)
	}
}

// read polls until n rows came, all splits ended (n < 0) or an error; rows are shown as "kind a|b".
func (s *scan) read(n int) ([]string, error) {
	if s.err != nil {
		return nil, s.err
	}
	var rows []string
	deadline := time.After(40 * time.Second)
	for n < 0 && len(s.live) > 0 || len(rows) < n {
		p, err := s.reader.Poll()
		if err != nil {
			return rows, err
		}
		if p.Ended {
			delete(s.live, p.Split)
		}
		if p.Rows != nil {
			for k := range p.Rows.Rows() {
				i := p.Rows.Row(k)
				var cells []string
				for _, c := range p.Rows.Cols {
					cells = append(cells, cell(c, i))
				}
				rows = append(rows, p.Rows.Kind(i).String()+" "+strings.Join(cells, "|"))
			}
			if len(p.Times) != p.Rows.Len {
				return rows, fmt.Errorf("%d times for %d rows", len(p.Times), p.Rows.Len)
			}
		}
		if p.More {
			continue
		}
		select {
		case <-s.wake:
		case <-deadline:
			return rows, errors.New("no more rows")
		}
	}
	return rows, nil
}

func (s *scan) close() {
	s.reader.Close()
	s.enum.Close()
}

// mustRead is read without an error.
func (s *scan) mustRead(n int) []string {
	s.r.t.Helper()
	rows, err := s.read(n)
	if err != nil {
		s.r.t.Fatalf("after %d rows (%v): %v", len(rows), rows[max(0, len(rows)-3):], err)
	}
	return rows
}

// want compares rows, in any order.
func (r *rig) want(got []string, want ...string) {
	r.t.Helper()
	got, want = slices.Clone(got), slices.Clone(want)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		r.t.Errorf("rows:\n  %s\nwant:\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

func contextIn(d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), d)
}
