package op

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"runnel/expr"
	"runnel/state"
	"runnel/types"
)

// rig tests an operator with traces. A trace has a line per thing that comes in, and below it, indented, what must go out:
//
//	+I a 1
//	    +I a 1 1
//	+I a 2
//	    -U a 1 1
//	    +U a 3 2
//	watermark 5000
//	    watermark 5000
//
// Things that come in: rows, "watermark ms", "idle", "active", "time ms" (the virtual clock goes there, timers fire),
// "flush" and "end" (end of input, then the last watermark). "R " in front names the second input, "3: " the third.
// "error: text" must come out when the line ends the job with an error that contains the text. Values are written as
// words: times in milliseconds, NULL, 'quoted text'.
//
// Every trace runs line by line, with as many rows as possible in a batch, with snapshot and restore behind every line,
// and at parallelism 2 with changes of parallelism on the way.
type rig struct {
	make  func() Operator
	also  func() Operator // another operator that gives the same, nil for none
	in    [][]types.Field
	out   []types.Field
	keys  [][]int // key columns per input, for parallelism; nil: all rows go to subtask 0
	of    int     // greatest parallelism to test, 0 for 2
	zone  *time.Location
	batch bool
	check Check
	bag   bool // rows of one line may come in any order

	counters map[string]*Counter // gets the operator's counters, nil when they do not matter
}

type step struct {
	line  string
	input int
	verb  string
	words []string
	want  []string
}

func (r rig) run(t *testing.T, trace string) {
	t.Helper()
	steps := parseTrace(t, trace)
	if r.also != nil {
		other := r
		other.make, other.also = r.also, nil
		t.Run("phases", func(t *testing.T) { other.run(t, trace) })
	}
	t.Run("single", func(t *testing.T) { r.play(t, steps, func(int) int { return 0 }, 1) })
	t.Run("batched", func(t *testing.T) { r.playBatched(t, steps) })
	t.Run("restored", func(t *testing.T) { r.play(t, steps, func(int) int { return 1 }, 1) })
	if r.of == 1 {
		return
	}
	t.Run("parallel", func(t *testing.T) { r.play(t, steps, func(int) int { return 0 }, 2) })
	t.Run("rescaled", func(t *testing.T) { r.play(t, steps, func(k int) int { return 1 + k%3 }, 2) })
}

func parseTrace(t *testing.T, trace string) []step {
	var steps []step
	indent := -1
	for line := range strings.SplitSeq(trace, "\n") {
		text := strings.TrimSpace(line)
		if text == "" || strings.HasPrefix(text, "--") {
			continue
		}
		depth := len(line) - len(strings.TrimLeft(line, "\t "))
		if indent < 0 {
			indent = depth
		}
		if depth > indent {
			if len(steps) == 0 {
				t.Fatalf("trace: output %q before any input", text)
			}
			s := &steps[len(steps)-1]
			if !strings.HasPrefix(text, "error: ") {
				text = strings.Join(words(text), " ")
			}
			s.want = append(s.want, text)
			continue
		}
		s := step{line: text}
		switch {
		case strings.HasPrefix(text, "L "):
			text = text[2:]
		case strings.HasPrefix(text, "R "):
			s.input, text = 1, text[2:]
		case len(text) > 2 && text[1] == ':':
			s.input, text = int(text[0]-'1'), text[2:]
		}
		w := words(text)
		s.verb, s.words = w[0], w[1:]
		steps = append(steps, s)
	}
	return steps
}

// words splits at blanks, but not inside quotes.
func words(s string) []string {
	var out []string
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		end := strings.IndexByte(s, ' ')
		if s[0] == '\'' {
			end = 1 + strings.IndexByte(s[1:], '\'') + 1
		}
		if end < 0 {
			end = len(s)
		}
		out = append(out, s[:end])
		s = s[end:]
	}
	return out
}

// player is one run of a trace.
type player struct {
	rig
	t    *testing.T
	ops  []*subtask
	now  int64
	out  []string
	dead string
	idle map[int]bool // the inputs that are idle
}

type subtask struct {
	op    Operator
	keyed *state.Keyed
	wake  int64
	ctx   *Context
}

// kitGroups is the number of key groups in tests; not a power of two, and less than a byte.
const kitGroups = 12

// blobs keeps in memory what a snapshot stores.
type blobs map[state.BlobRef][]byte

func (b blobs) Buffer(size int) []byte { return make([]byte, 0, size) }

func (b blobs) Put(ref state.BlobRef, data []byte) error { b[ref] = data; return nil }

func (b blobs) Blob(ref state.BlobRef) ([]byte, error) {
	data, ok := b[ref]
	if !ok {
		return nil, fmt.Errorf("no blob %v", ref)
	}
	return data, nil
}

const never = int64(math.MaxInt64)

func newPlayer(t *testing.T, r rig, of int) *player {
	p := &player{rig: r, t: t, idle: map[int]bool{}}
	p.start(of, nil, nil)
	return p
}

// record plays a trace and notes what comes out of each step: what another form of the operator has to give.
func (r rig) record(t *testing.T, steps []step) {
	t.Helper()
	p := newPlayer(t, r, 1)
	for k := range steps {
		p.take(steps[k])
		steps[k].want, p.out = p.out, nil
	}
	if p.dead != "" {
		t.Fatal(p.dead)
	}
}

// start starts subtasks, from the snapshots of former ones.
func (p *player) start(of int, snaps [][]byte, from *state.Restored) {
	p.ops = nil
	for i := range of {
		s := &subtask{op: p.make(), wake: never}
		s.keyed = state.NewKeyed(state.Config{
			Operator: "Op[1]", Groups: state.RangeOf(i, of, kitGroups), Restore: from,
			Clock: func() int64 { return p.now },
		})
		s.ctx = &Context{
			Ctx: context.Background(), Name: "Op[1]", Subtask: i, Of: of, State: s.keyed, MaxParallelism: kitGroups,
			Log:     slog.New(slog.NewTextHandler(io.Discard, nil)),
			Now:     func() time.Time { return time.UnixMilli(p.now) },
			WakeAt:  func(ms int64) { s.wake = min(s.wake, ms) },
			Wake:    func() {},
			Counter: p.metric,
			Gauge:   func(string, func() int64) {},
			Env:     p.env(),
		}
		check := p.check
		check.Fields = p.rig.out
		s.ctx.Out = NewChecker(recorder{p}, check)
		p.ops = append(p.ops, s)
		if sn, ok := s.op.(Snapshotter); ok && from != nil {
			if err := sn.Restore(snaps); err != nil {
				p.t.Fatal(err)
			}
		}
		if err := s.op.Open(s.ctx); err != nil {
			p.t.Fatal(err)
		}
	}
}

// metric makes a counter, which the rig may ask for.
func (p *player) metric(name string) *Counter {
	c := new(Counter)
	if p.counters != nil {
		p.counters[name] = c
	}
	return c
}

func (p *player) env() *expr.Env {
	zone := p.zone
	if zone == nil {
		zone = time.UTC
	}
	return &expr.Env{Zone: zone, Now: func() time.Time { return time.UnixMilli(p.now) }, Batch: p.batch}
}

// restart takes a checkpoint, goes on with the old subtasks (what they do then must not get into the checkpoint), and
// starts new ones from it.
func (p *player) restart(of int, goOn func()) {
	now := p.now
	var snaps [][]byte
	for _, s := range p.ops {
		if f, ok := s.op.(Flusher); ok {
			p.fail(f.Flush())
		}
		if sn, ok := s.op.(Snapshotter); ok {
			b, err := sn.Snapshot()
			if err != nil {
				p.t.Fatal(err)
			}
			snaps = append(snaps, b)
		}
		s.keyed.Freeze(state.Freeze{Checkpoint: 1})
	}
	goOn()
	restored := &state.Restored{}
	for i, s := range p.ops {
		store := blobs{}
		for done := false; !done; {
			var err error
			if done, err = s.keyed.Drain(3, store); err != nil {
				p.t.Fatal(err)
			}
		}
		restored.Subtasks = append(restored.Subtasks, state.RestoredSubtask{
			SubtaskState: state.SubtaskState{Subtask: i, Groups: s.keyed.Groups(), States: s.keyed.Snapshot()}, Blobs: store,
		})
		if err := s.op.Close(); err != nil && p.dead == "" {
			p.t.Error(err)
		}
	}
	p.now, p.dead, p.out = now, "", nil
	p.start(of, snaps, restored)
	for input := range p.idle { // the engine says it again; what comes of it has been said before
		for _, s := range p.ops {
			p.fail(s.op.Idle(input, true))
		}
	}
	p.out = nil
}

func (p *player) fail(err error) {
	if err != nil && p.dead == "" {
		p.dead = err.Error()
	}
}

type recorder struct{ p *player }

func (r recorder) Emit(b *types.Batch) error {
	return b.Segments(func(seg *types.Batch) error {
		for k := range seg.Rows() {
			i := seg.Row(k)
			r.p.out = append(r.p.out, seg.Kind(i).String()+rowWords(seg, i))
		}
		return nil
	}, r.Watermark)
}

func (r recorder) Watermark(ms int64) error {
	r.p.out = append(r.p.out, "watermark "+msText(ms))
	return nil
}

func (r recorder) Idle(idle bool) error {
	r.p.out = append(r.p.out, map[bool]string{true: "idle", false: "active"}[idle])
	return nil
}

func msText(ms int64) string {
	if ms == types.MaxWatermark {
		return "max"
	}
	return strconv.FormatInt(ms, 10)
}

func rowWords(b *types.Batch, i int32) string {
	var s strings.Builder
	for _, c := range b.Cols {
		s.WriteByte(' ')
		switch {
		case c.Null(i):
			s.WriteString("NULL")
		case c.Type.Kind == types.Boolean:
			fmt.Fprint(&s, c.Int[i] != 0)
		case c.Type.Kind == types.Timestamp, c.Type.Kind == types.TimestampLTZ:
			fmt.Fprint(&s, c.Int[i]/1000)
		case c.Phys() == types.PhysInt:
			fmt.Fprint(&s, c.Int[i])
		case c.Phys() == types.PhysFloat:
			fmt.Fprint(&s, c.Flt[i])
		case c.Phys() == types.PhysWide:
			fmt.Fprint(&s, int64(c.Wide[i].Lo))
		case c.Phys() == types.PhysStr:
			if text := c.Str[i]; text == "" || text == "NULL" || strings.Contains(text, " ") {
				s.WriteString("'" + text + "'")
			} else {
				s.WriteString(text)
			}
		default:
			fmt.Fprintf(&s, "%v", c.Any[i])
		}
	}
	return s.String()
}

// appendWords appends a row written as words.
func appendWords(t testing.TB, b *types.Batch, kind types.RowKind, row []string) {
	if len(row) != len(b.Cols) {
		t.Fatalf("row %v has %d values, %d wanted", row, len(row), len(b.Cols))
	}
	for i, c := range b.Cols {
		w := row[i]
		if w == "NULL" {
			c.AppendNull()
			continue
		}
		w = strings.Trim(w, "'")
		var err error
		switch {
		case c.Type.Kind == types.Boolean:
			c.AppendBool(w == "true")
		case c.Phys() == types.PhysInt, c.Phys() == types.PhysWide:
			var v int64
			v, err = strconv.ParseInt(w, 10, 64)
			if k := c.Type.Kind; k == types.Timestamp || k == types.TimestampLTZ {
				v *= 1000
			}
			if c.Phys() == types.PhysWide {
				c.AppendWide(types.Int128{Hi: v >> 63, Lo: uint64(v)})
			} else {
				c.AppendInt(v)
			}
		case c.Phys() == types.PhysFloat:
			var v float64
			v, err = strconv.ParseFloat(w, 64)
			c.AppendFloat(v)
		case c.Phys() == types.PhysStr:
			c.AppendStr(w)
		default:
			err = fmt.Errorf("no words for %s", c.Type)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	b.Push(kind)
}

var rowKinds = map[string]types.RowKind{"+I": types.Insert, "-U": types.UpdateBefore, "+U": types.UpdateAfter, "-D": types.Delete}

// feed hands a batch over and spoils it afterwards.
func (p *player) feed(sub, input int, b *types.Batch) {
	p.fail(p.ops[sub].op.Process(input, b))
	Spoil(b)
}

// do carries out a step that is no row.
func (p *player) do(s step) {
	each := func(f func(Operator) error) {
		for _, o := range p.ops {
			p.fail(f(o.op))
		}
	}
	switch s.verb {
	case "watermark":
		ms := types.MaxWatermark
		if s.words[0] != "max" {
			ms, _ = strconv.ParseInt(s.words[0], 10, 64)
		}
		each(func(o Operator) error { return o.Watermark(s.input, ms) })
	case "idle", "active":
		if delete(p.idle, s.input); s.verb == "idle" {
			p.idle[s.input] = true
		}
		each(func(o Operator) error { return o.Idle(s.input, s.verb == "idle") })
	case "time":
		to, _ := strconv.ParseInt(s.words[0], 10, 64)
		p.advance(to)
	case "flush":
		each(func(o Operator) error {
			if f, ok := o.(Flusher); ok {
				return f.Flush()
			}
			return nil
		})
	case "end":
		each(func(o Operator) error {
			if e, ok := o.(Ender); ok {
				if err := e.EndInput(s.input); err != nil {
					return err
				}
			}
			return o.Watermark(s.input, types.MaxWatermark)
		})
	default:
		p.t.Fatalf("trace: %q", s.line)
	}
}

// advance moves the virtual clock and fires timers in order.
func (p *player) advance(to int64) {
	for {
		var next *subtask
		for _, s := range p.ops {
			if s.wake <= to && (next == nil || s.wake < next.wake) {
				next = s
			}
		}
		if next == nil {
			p.now = to
			return
		}
		p.now = max(p.now, next.wake)
		next.wake = never
		p.fail(next.op.(Timed).OnTime(p.now))
	}
}

func (p *player) batchOf(s step) *types.Batch {
	b := types.NewBatch(p.in[s.input])
	appendWords(p.t, b, rowKinds[s.verb], s.words)
	return b
}

// play runs line by line; before each line, restart gives the parallelism to restart at, 0 for no restart.
func (r rig) play(t *testing.T, steps []step, restart func(k int) int, of int) {
	p := newPlayer(t, r, of)
	for k, s := range steps {
		if n := restart(k); n > 0 {
			idle := maps.Clone(p.idle)
			p.restart(n, func() { p.take(s); p.idle = idle })
		}
		p.take(s)
		if p.verdict(s.line, s.want, len(p.ops) > 1) {
			return
		}
	}
	for _, s := range p.ops {
		if err := s.op.Close(); err != nil {
			t.Error(err)
		}
	}
}

// take carries out a step.
func (p *player) take(s step) {
	if _, row := rowKinds[s.verb]; row {
		b := p.batchOf(s)
		p.feed(p.route(s, b), s.input, b)
	} else {
		p.do(s)
	}
}

// playBatched runs with rows of one input in one batch as far as they follow each other, watermarks as marks among them.
func (r rig) playBatched(t *testing.T, steps []step) {
	p := newPlayer(t, r, 1)
	for k := 0; k < len(steps); {
		s := steps[k]
		_, row := rowKinds[s.verb]
		if !row {
			p.do(s)
			k++
			if p.verdict(s.line, s.want, false) {
				return
			}
			continue
		}
		b := types.NewBatch(p.in[s.input])
		var want []string
		for ; k < len(steps) && steps[k].input == s.input; k++ {
			n := steps[k]
			if kind, row := rowKinds[n.verb]; row {
				appendWords(t, b, kind, n.words)
			} else if n.verb == "watermark" && n.words[0] != "max" {
				ms, _ := strconv.ParseInt(n.words[0], 10, 64)
				b.Marks = append(b.Marks, types.Mark{Pos: int32(b.Len), Time: ms})
			} else {
				break
			}
			want = append(want, n.want...)
		}
		p.feed(0, s.input, b)
		if p.verdict("batch from "+s.line, want, false) {
			return
		}
	}
}

// route gives the subtask of a row. Any split by key will do as long as it is that of the state.
func (p *player) route(s step, b *types.Batch) int {
	if len(p.ops) == 1 || p.keys == nil {
		return 0
	}
	return keyTarget(b, p.in[s.input], p.keys[s.input], len(p.ops))
}

// verdict compares what came out since the last call. It reports whether the job has ended.
func (p *player) verdict(line string, want []string, loose bool) (ended bool) {
	p.t.Helper()
	got := p.out
	p.out = nil
	if p.dead != "" {
		got = append(got, "error: "+p.dead)
	}
	got, want = normalise(got, loose), normalise(want, loose)
	if loose || p.bag {
		slices.Sort(got)
		slices.Sort(want)
	}
	same := len(got) == len(want)
	for i := 0; same && i < len(got); i++ {
		same = got[i] == want[i] || strings.HasPrefix(want[i], "error: ") && strings.HasPrefix(got[i], "error: ") &&
			strings.Contains(got[i], strings.TrimPrefix(want[i], "error: "))
	}
	if !same {
		p.t.Errorf("after %s\n got:\n\t%s\nwant:\n\t%s", line, strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
		return true
	}
	return p.dead != ""
}

// normalise keeps of watermarks in a row only the last: no row lies between them. A loose comparison, of several
// subtasks, is about rows only.
func normalise(lines []string, loose bool) []string {
	var out []string
	for _, l := range lines {
		if !strings.HasPrefix(l, "watermark ") {
			if !loose || l != "idle" && l != "active" {
				out = append(out, l)
			}
			continue
		}
		if loose {
			continue
		}
		if n := len(out); n > 0 && strings.HasPrefix(out[n-1], "watermark ") {
			out = out[:n-1]
		}
		out = append(out, l)
	}
	return out
}

// fieldsOf makes fields from "name type" pairs: fieldsOf("k string, v int, ts rowtime").
func fieldsOf(spec string) []types.Field {
	var fs []types.Field
	for part := range strings.SplitSeq(spec, ",") {
		w := strings.Fields(part)
		t := map[string]types.Type{
			"string": types.String(), "int": types.Of(types.Int), "bigint": types.Of(types.BigInt),
			"bool": types.Of(types.Boolean), "double": types.Of(types.Double), "ts": types.TimestampOf(3),
			"ltz": types.TimestampLTZOf(3), "decimal": types.DecimalOf(10, 2), "wide": types.DecimalOf(38, 0),
			"char5": types.CharOf(5), "varchar3": types.VarcharOf(3),
		}
		name := strings.TrimSuffix(w[1], "!")
		ty := t[name]
		switch name {
		case "rowtime":
			ty = types.TimestampOf(3)
			ty.Attr = types.Rowtime
		case "rowtime_ltz":
			ty = types.TimestampLTZOf(3)
			ty.Attr = types.Rowtime
		case "proctime":
			ty = types.TimestampLTZOf(3)
			ty.Attr = types.Proctime
		}
		ty.NotNull = strings.HasSuffix(w[1], "!")
		fs = append(fs, types.Field{Name: w[0], Type: ty})
	}
	return fs
}

// keyTarget deals rows to subtasks as exchanges do, by the key group.
func keyTarget(b *types.Batch, fields []types.Field, keys []int, of int) int {
	k := newBatchKeys(fields, keys, kitGroups)
	k.encode(b)
	return types.SubtaskOf(int(k.group[0]), of, kitGroups)
}
