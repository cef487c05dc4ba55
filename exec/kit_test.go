package exec

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"runnel/connectors"
	"runnel/exec/op"
	"runnel/expr"
	"runnel/plan"
	"runnel/state"
	"runnel/types"
)

// ---- rows ----

var kvFields = []types.Field{{Name: "k", Type: types.Of(types.BigInt)}, {Name: "v", Type: types.Of(types.BigInt)}, {Name: "ts", Type: types.Type{Kind: types.TimestampLTZ, Precision: 3, Attr: types.Rowtime}}}

type kv struct{ k, v, ts int64 } // ts in ms

// ---- source ----

// memSource is a source of splits held in memory. Rows are given out only as far as the test allows.
type memSource struct {
	mu       sync.Mutex
	splits   map[string][]kv
	order    []string
	allowed  int // rows that may be read, per split
	bounded  bool
	interval time.Duration
	batch    int
	failAt   map[string]error // "split/row" -> error given there, once
	readers  map[*memReader]bool
	finished [][]connectors.Split // what Committed was told
	pausable bool
	dry      sync.Cond // a reader was asked and had nothing
	polls    int       // how often that was
}

func newMemSource(bounded bool) *memSource {
	s := &memSource{splits: map[string][]kv{}, bounded: bounded, allowed: 1 << 60, batch: 3, readers: map[*memReader]bool{}, failAt: map[string]error{}}
	s.dry.L = &s.mu
	return s
}

// settle waits until the task of the only reader has done all that rows and the clock have given it to do so far. A task
// looks at its timers before each poll; the poll that is under way may have come from before them, the next one has not.
func (s *memSource) settle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for until := s.polls + 2; s.polls < until; s.dry.Wait() {
		for r := range s.readers {
			r.wake()
		}
	}
}

func (s *memSource) split(id string, rows ...kv) *memSource {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.splits[id] == nil {
		s.order = append(s.order, id)
	}
	s.splits[id] = append(s.splits[id], rows...)
	if s.splits[id] == nil {
		s.splits[id] = []kv{}
	}
	for r := range s.readers {
		r.wake()
	}
	return s
}

func (s *memSource) allow(n int) {
	s.mu.Lock()
	s.allowed = n
	rs := make([]*memReader, 0, len(s.readers))
	for r := range s.readers {
		rs = append(rs, r)
	}
	s.mu.Unlock()
	for _, r := range rs {
		r.wake()
	}
}

func (s *memSource) source() *connectors.Source {
	return &connectors.Source{
		Mode: types.InsertOnly, Bounded: s.bounded,
		Enumerate: func(connectors.Env) (connectors.Enumerator, error) { return memEnum{s}, nil },
		Read: func(env connectors.Env, wake func()) (connectors.Reader, error) {
			r := &memReader{s: s, wake: wake, out: types.NewBatch(kvFields)}
			s.mu.Lock()
			s.readers[r] = true
			s.mu.Unlock()
			if s.pausable {
				return &pausingReader{memReader: r}, nil
			}
			return r, nil
		},
		Committed: func(_ context.Context, splits []connectors.Split) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.finished = append(s.finished, splits)
			return nil
		},
	}
}

type memEnum struct{ s *memSource }

func (e memEnum) Discover(context.Context, bool) ([]connectors.Split, error) {
	e.s.mu.Lock()
	defer e.s.mu.Unlock()
	var out []connectors.Split
	for _, id := range e.s.order {
		out = append(out, connectors.Split{ID: id})
	}
	return out, nil
}
func (e memEnum) Interval() time.Duration { return e.s.interval }
func (e memEnum) Close() error            { return nil }

type memReader struct {
	s      *memSource
	wake   func()
	splits []*memPos
	turn   int
	out    *types.Batch
	paused map[string]bool
}

type memPos struct {
	id string
	at int
}

// pausingReader can leave single splits unread.
type pausingReader struct{ *memReader }

func (r *pausingReader) Pause(ids []string) error {
	r.paused = map[string]bool{}
	for _, id := range ids {
		r.paused[id] = true
	}
	return nil
}

func (r *memReader) Assign(splits []connectors.Split) error {
	for _, sp := range splits {
		p := &memPos{id: sp.ID}
		if len(sp.State) > 0 {
			n, _ := binary.Uvarint(sp.State)
			p.at = int(n)
		}
		r.splits = append(r.splits, p)
	}
	return nil
}

func (r *memReader) Poll() (connectors.Polled, error) {
	s := r.s
	s.mu.Lock()
	defer s.mu.Unlock()
	r.out.Reset()
	for range r.splits {
		r.turn = (r.turn + 1) % len(r.splits)
		p := r.splits[r.turn]
		if r.paused[p.id] {
			continue
		}
		rows := s.splits[p.id]
		end := min(len(rows), s.allowed, p.at+s.batch)
		for ; p.at < end; p.at++ {
			key := fmt.Sprintf("%s/%d", p.id, p.at)
			if err := s.failAt[key]; err != nil {
				if r.out.Len > 0 {
					break
				}
				delete(s.failAt, key)
				return connectors.Polled{}, err
			}
			x := rows[p.at]
			r.out.Cols[0].AppendInt(x.k)
			r.out.Cols[1].AppendInt(x.v)
			r.out.Cols[2].AppendInt(x.ts * 1000)
			r.out.Push(types.Insert)
		}
		ended := s.bounded && p.at == len(rows)
		if r.out.Len == 0 && !ended {
			continue
		}
		if ended {
			r.splits = slices.DeleteFunc(slices.Clone(r.splits), func(q *memPos) bool { return q == p })
			r.turn = 0
		}
		return connectors.Polled{Split: p.id, Rows: r.out, Ended: ended, More: true}, nil
	}
	s.polls++
	s.dry.Broadcast()
	return connectors.Polled{}, nil
}

func (r *memReader) Snapshot() ([]connectors.Split, error) {
	var out []connectors.Split
	for _, p := range r.splits {
		out = append(out, connectors.Split{ID: p.id, State: binary.AppendUvarint(nil, uint64(p.at))})
	}
	return out, nil
}

func (r *memReader) Close() error {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	delete(r.s.readers, r)
	return nil
}

// ---- sink ----

// memSink keeps rows as text. With two phases rows count once they are committed.
type memSink struct {
	mu        sync.Mutex
	cond      sync.Cond
	rows      []string
	done      map[string]bool // committables that were committed
	commits   int
	twoPhase  bool
	fail      func(row string) error
	onPrepare func(subtask int, checkpoint int64) error
	onCommit  func() error
	recovered int
}

func newMemSink(twoPhase bool) *memSink {
	s := &memSink{twoPhase: twoPhase, done: map[string]bool{}}
	s.cond.L = &s.mu
	return s
}

type memCommittable struct {
	Run        string
	Subtask    int
	Checkpoint int64
	Rows       []string
}

func (s *memSink) sink() *connectors.Sink {
	k := &connectors.Sink{
		Mode: types.AllKinds,
		Open: func(_ context.Context, env connectors.SinkEnv) (connectors.Writer, error) {
			return &memWriter{s: s, env: env}, nil
		},
	}
	if s.twoPhase {
		k.Committer = func(env connectors.SinkEnv) (connectors.Committer, error) { return &memCommitter{s: s}, nil }
	}
	return k
}

type memWriter struct {
	s    *memSink
	env  connectors.SinkEnv
	open []string
}

func (w *memWriter) Write(_ context.Context, b *types.Batch) error {
	for k := range b.Rows() {
		i := b.Row(k)
		cols := make([]string, 0, len(b.Cols))
		for _, c := range b.Cols {
			if c.Null(i) {
				cols = append(cols, "NULL")
			} else if c.Phys() == types.PhysInt {
				cols = append(cols, fmt.Sprint(c.Int[i]))
			} else {
				cols = append(cols, c.Str[i])
			}
		}
		row := fmt.Sprintf("%s %s", b.Kind(i), strings.Join(cols, " "))
		if w.s.fail != nil {
			if err := w.s.fail(row); err != nil {
				return err
			}
		}
		if w.s.twoPhase {
			w.open = append(w.open, row)
			continue
		}
		w.s.add(row)
	}
	return nil
}

func (s *memSink) add(rows ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rows = append(s.rows, rows...)
	s.cond.Broadcast()
}

// await waits until n rows are there.
func (s *memSink) await(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.rows) < n {
		s.cond.Wait()
	}
}

func (s *memSink) sorted() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := slices.Clone(s.rows)
	sort.Strings(out)
	return out
}

func (w *memWriter) Prepare(_ context.Context, checkpoint int64) ([][]byte, []byte, error) {
	if f := w.s.onPrepare; f != nil {
		if err := f(w.env.Subtask, checkpoint); err != nil {
			return nil, nil, err
		}
	}
	if !w.s.twoPhase || len(w.open) == 0 {
		return nil, nil, nil
	}
	b, err := json.Marshal(memCommittable{w.env.Run, w.env.Subtask, checkpoint, w.open})
	w.open = nil
	return [][]byte{b}, nil, err
}

func (w *memWriter) Close() error { return nil }

type memCommitter struct{ s *memSink }

func (c *memCommitter) Recover(ctx context.Context, data [][]byte) error {
	c.s.mu.Lock()
	c.s.recovered += len(data)
	c.s.mu.Unlock()
	return c.commit(data)
}

func (c *memCommitter) Commit(ctx context.Context, _ int64, data [][]byte) error {
	if f := c.s.onCommit; f != nil {
		if err := f(); err != nil {
			return err
		}
	}
	return c.commit(data)
}

func (c *memCommitter) commit(data [][]byte) error {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.commits++
	for _, d := range data {
		var m memCommittable
		if err := json.Unmarshal(d, &m); err != nil {
			return err
		}
		key := fmt.Sprintf("%s/%d/%d", m.Run, m.Subtask, m.Checkpoint)
		if !c.s.done[key] {
			c.s.done[key] = true
			c.s.rows = append(c.s.rows, m.Rows...)
		}
	}
	c.s.cond.Broadcast()
	return nil
}
func (c *memCommitter) Close() error { return nil }

// ---- plan nodes ----

type graphKit struct {
	g  plan.Graph
	id int
}

func (k *graphKit) info(kind, state string, fields []types.Field, inputs ...plan.Node) plan.Info {
	k.id++
	return plan.Info{ID: k.id, Kind: kind, Inputs: inputs, Fields: fields, Mode: types.AllKinds, StateID: state}
}

func (k *graphKit) add(n plan.Node) plan.Node {
	k.g.Nodes = append(k.g.Nodes, n)
	return n
}

func (k *graphKit) scan(name string, s *memSource, mark *plan.Watermark) plan.Node {
	return k.add(&plan.Scan{Info: k.info("TableSourceScan", "src/"+name, kvFields), Table: &connectors.Table{Name: "c.d." + name}, Source: s.source(), Mark: mark})
}

func (k *graphKit) exchange(in plan.Node, d plan.Distribution, keys ...int) plan.Node {
	return k.add(&plan.Exchange{Info: k.info("Exchange", "", in.Base().Fields, in), Dist: d, Keys: keys})
}

func (k *graphKit) count(in plan.Node, name string) plan.Node {
	return k.add(&plan.GroupAggregate{Info: k.info("GroupAggregate", "agg/"+name, kvFields[:2], in), Keys: []int{0}})
}

// windows aggregates in two phases.
func (k *graphKit) windows(in plan.Node, d plan.Distribution) plan.Node {
	l := k.add(&plan.LocalWindowAggregate{Info: k.info("LocalWindowAggregate", "", kvFields[:1], in)})
	w := &plan.WindowAggregate{Info: k.info("GlobalWindowAggregate", "windows", kvFields, k.exchange(l, d, 0))}
	if d == plan.Singleton {
		w.Parallelism = 1
	}
	return k.add(w)
}

func (k *graphKit) sink(in plan.Node, name string, s *memSink) plan.Node {
	n := &plan.Sink{Info: k.info("Sink", "sink/"+name, in.Base().Fields, in), Table: &connectors.Table{Name: "c.d." + name}, Sink: s.sink(), RowtimeColumn: -1}
	k.g.Sinks = append(k.g.Sinks, n)
	return k.add(n)
}

func (k *graphKit) collect(in plan.Node) plan.Node {
	n := &plan.Collect{Info: k.info("Collect", "", in.Base().Fields, in)}
	k.g.Sinks = append(k.g.Sinks, n)
	return k.add(n)
}

// counting3 is source -> hash -> count -> sink without watermarks; the count is operator 3.
func counting3(src *memSource, sink *memSink) *plan.Graph {
	var k graphKit
	k.sink(k.count(k.exchange(k.scan("t", src, nil), plan.HashKeys, 0), "a"), "out", sink)
	return k.graph()
}

func (k *graphKit) graph() *plan.Graph {
	k.g.JobName = "test"
	return &k.g
}

// delayed is WATERMARK FOR ts AS ts.
func onEvent(gap int) *plan.Watermark {
	return &plan.Watermark{Column: 2, Expr: expr.NewCol(kvFields, 2), OnEvent: true, Gap: gap}
}

// ---- operators of the tests ----

// countOp counts rows per key and emits key and count.
type countOp struct {
	ctx    *op.Context
	table  *state.Table
	codec  *types.KeyCodec
	keys   types.Keys
	groups []int32
	out    *types.Batch
	maxPar int
	fail   func(k, n int64) error
	origin string // of the key, for its descriptor
}

func (c *countOp) Open(ctx *op.Context) (err error) {
	c.ctx = ctx
	c.out = types.NewBatch(kvFields[:2])
	c.codec = types.NewKeyCodec([]types.Type{kvFields[0].Type})
	d := state.Descriptor{Format: 1, Name: "counts", Key: []state.KeyColumn{{Name: "k", Type: "BIGINT", Origin: c.origin}}}
	c.table, err = ctx.State.Table(d, state.TableSpec{Values: state.Words(1)})
	return err
}

func (c *countOp) Process(_ int, b *types.Batch) error {
	c.codec.Encode(b, []int{0}, &c.keys)
	c.groups = types.KeyGroups(c.groups[:0], c.keys.Hash, c.maxPar)
	c.out.Reset()
	for i := range b.Rows() {
		k := b.Cols[0].Int[b.Row(i)]
		m := c.table.Of(c.groups[i])
		r, _ := m.Upsert(state.KeyAt(&c.keys, c.groups, i))
		w := m.Touch(r)
		w[0]++
		if c.fail != nil {
			if err := c.fail(k, int64(w[0])); err != nil {
				return err
			}
		}
		c.out.Cols[0].AppendInt(k)
		c.out.Cols[1].AppendInt(int64(w[0]))
		c.out.Push(types.Insert)
	}
	return c.ctx.Out.Emit(c.out)
}
func (c *countOp) Watermark(_ int, ms int64) error { return c.ctx.Out.Watermark(ms) }
func (c *countOp) Idle(_ int, idle bool) error     { return c.ctx.Out.Idle(idle) }
func (c *countOp) Close() error                    { return nil }

// probeOp writes down what reaches it and passes it on. Batches are written as their rows with the marks between them.
type probeOp struct {
	ctx *op.Context
	log *probeLog
}

type probeLog struct {
	mu    sync.Mutex
	cond  sync.Cond
	lines []string // "subtask: what"
}

func newProbeLog() *probeLog {
	l := &probeLog{}
	l.cond.L = &l.mu
	return l
}

func (l *probeLog) say(subtask int, format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, fmt.Sprintf("%d: ", subtask)+fmt.Sprintf(format, args...))
	l.cond.Broadcast()
}

// await waits for a line.
func (l *probeLog) await(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for !slices.Contains(l.lines, line) {
		l.cond.Wait()
	}
}

// awaitSuffix waits until the last line of every subtask, of n, ends with one of the given texts.
func (l *probeLog) awaitSuffix(t *testing.T, n int, texts ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		good := 0
		for i := range n {
			last := ""
			for _, x := range l.lines {
				if s, ok := strings.CutPrefix(x, fmt.Sprintf("%d: ", i)); ok {
					last = s
				}
			}
			for _, x := range texts {
				if strings.HasSuffix(last, x) {
					good++
					break
				}
			}
		}
		if good == n {
			return
		}
		l.cond.Wait()
	}
}

func contains(s, part string) bool { return strings.Contains(s, part) }

// of gives the lines of one subtask, joined.
func (l *probeLog) of(subtask int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []string
	for _, x := range l.lines {
		if s, ok := strings.CutPrefix(x, fmt.Sprintf("%d: ", subtask)); ok {
			out = append(out, s)
		}
	}
	return strings.Join(out, "; ")
}

func (p *probeOp) Open(ctx *op.Context) error { p.ctx = ctx; return nil }
func (p *probeOp) Process(_ int, b *types.Batch) error {
	var t tape
	t.process(0, b)
	p.log.say(p.ctx.Subtask, "%s", strings.TrimPrefix(t.lines[0], "0: "))
	return p.ctx.Out.Emit(b)
}
func (p *probeOp) Watermark(_ int, ms int64) error {
	if ms == types.MaxWatermark {
		p.log.say(p.ctx.Subtask, "wm max")
	} else {
		p.log.say(p.ctx.Subtask, "wm %d", ms)
	}
	return p.ctx.Out.Watermark(ms)
}
func (p *probeOp) Idle(_ int, idle bool) error {
	p.log.say(p.ctx.Subtask, "idle %t", idle)
	return p.ctx.Out.Idle(idle)
}
func (p *probeOp) EndInput(int) error { p.log.say(p.ctx.Subtask, "end"); return nil }
func (p *probeOp) Close() error       { return nil }

// probe puts a probe behind a node.
func (k *graphKit) probe(in plan.Node) plan.Node {
	return k.add(&plan.Calc{Info: k.info("Calc", "", in.Base().Fields, in)})
}

// ---- cluster ----

func testCluster(t *testing.T, o Options) *Cluster {
	t.Helper()
	return probedCluster(t, o, newProbeLog())
}

// probedCluster makes a cluster in which Calc nodes are probes that write to log.
func probedCluster(t *testing.T, o Options, log *probeLog) *Cluster {
	t.Helper()
	if o.Slots == 0 {
		o.Slots = 8
	}
	o.Check = true
	c := New(o)
	c.Subscribe(func(e Event) {
		if e.State == JobFailed || e.State == JobRestarting {
			t.Logf("job %s: %s", e.State, e.Cause)
		}
	})
	c.operators = func(s *opSpec) (op.Operator, error) {
		switch s.node.(type) {
		case *plan.GroupAggregate:
			return &countOp{maxPar: 128}, nil
		case *plan.Calc:
			return &probeOp{log: log}, nil
		}
		return newOperator(s)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := c.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return c
}

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func submit(t *testing.T, c *Cluster, g *plan.Graph, cfg JobConfig) *Job {
	t.Helper()
	j, err := c.Submit(within(t), g, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func wait(t *testing.T, j *Job) {
	t.Helper()
	if err := j.Wait(within(t)); err != nil {
		t.Fatalf("job: %v", err)
	}
}

func readAll(t *testing.T, r *Result) ([]string, error) {
	t.Helper()
	var rows []string
	for {
		b, err := r.Next(within(t))
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		for k := range b.Rows() {
			i := b.Row(k)
			s := b.Kind(i).String()
			for _, c := range b.Cols {
				s += fmt.Sprint(" ", c.At(i).I)
			}
			rows = append(rows, s)
		}
	}
}
