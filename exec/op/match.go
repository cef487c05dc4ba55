package op

import (
	"fmt"
	"strings"

	"runnel/expr"
	"runnel/state"
	"runnel/types"
)

// Matching is what a Match does. Its rows are the keys with the measures behind them.
type Matching struct {
	In, Out   []types.Field
	Keys      []int
	Order     []SortKey // the first is the time
	Rowtime   bool
	Variables []expr.MatchVariable // in the order of the pattern
	Columns   []expr.MatchColumn   // what conditions and measures are expressions over
	Measures  []expr.Expr
	Skip      expr.MatchSkip
	SkipTo    []int // the variables that SkipToFirst and SkipToLast mean
	SkipName  string
	Within    int64 // ms; 0 for no bound
}

// Match finds the rows of an append-only input that match a pattern, per key, in the order of time. By event time rows wait
// for the watermark; late ones are dropped and counted (numLateRecordsDropped). Matches are found, chosen and ordered as
// Flink's automaton does it.
type Match struct {
	timed
	spec     Matching
	keys     batchKeys
	rows     rowBytes
	table    *state.Table
	timers   *state.Timers
	late     *Counter
	conds    []*matchExpr
	known    []int8 // of the current row: 1 a local condition holds, -1 it does not
	measures []*matchExpr
	run      automaton
	read     matchRows
	out      output

	// of the key that is being worked on
	m       *state.Map
	owner   state.Ref
	key     state.Key
	next    uint64 // number of the next row
	stored  uint64 // rows from here on are in fresh
	fresh   []matchRow
	words   []uint64
	popped  []uint64
	encoded []byte

	rowsOf func(*types.Batch) error
	markOf func(int64) error
}

// matchRow is a row that is not in the state yet.
type matchRow struct {
	bytes string
	time  int64
}

// Values of a key's record: rows that wait for their time, in their order; arrivals; rows of partial matches by number; the
// number of the next row; the partial matches.
const (
	matchPending = iota
	matchArrivals
	matchKept
	matchNext
	matchPartials
)

// NewMatch makes the operator.
func NewMatch(spec Matching) *Match { return &Match{timed: timed{clock: NewClock(1)}, spec: spec} }

// waits tells whether rows are put in order before they are looked at.
func (o *Match) waits() bool { return o.spec.Rowtime || len(o.spec.Order) > 1 }

// Open compiles conditions and measures.
func (o *Match) Open(ctx *Context) error {
	o.ctx = ctx
	o.keys = newBatchKeys(o.spec.In, o.spec.Keys, ctx.MaxParallelism)
	o.rows = newRowBytes(o.spec.In)
	o.late = ctx.Counter("numLateRecordsDropped")
	o.out = newOutput(ctx.Out, o.spec.Out)
	o.rowsOf, o.markOf = o.apply, o.advance
	o.read = matchRows{batch: types.NewBatch(o.spec.In), at: map[uint64]int32{}, load: o.load}
	if err := o.compile(); err != nil {
		return err
	}
	d := state.Descriptor{
		Format: types.RowCodecVersion, Name: "matches", Key: keyColumns(o.spec.In, o.spec.Keys), Values: rowInfos(o.spec.In),
		Bounds: o.spec.text(),
	}
	var err error
	if o.table, err = ctx.State.Table(d, state.TableSpec{Values: []state.Value{
		matchPending:  {Kind: state.Sorted, Elem: []state.Value{{Kind: state.Bytes}}},
		matchArrivals: {},
		matchKept:     {Kind: state.Sorted, Elem: []state.Value{{Kind: state.Bytes}}},
		matchNext:     {},
		matchPartials: {Kind: state.Bytes},
	}}); err != nil {
		return err
	}
	if o.timers, err = ctx.State.Timers(state.Descriptor{Format: 1, Name: "timers", Key: d.Key}); err != nil {
		return err
	}
	o.wake()
	return nil
}

func (o *Match) compile() error {
	s := &o.spec
	o.run = automaton{spec: s, holds: o.holds, give: o.give}
	o.run.states, o.run.start = compileMatch(s.Variables)
	o.known = make([]int8, len(s.Variables))
	o.conds = make([]*matchExpr, len(s.Variables))
	for i, v := range s.Variables {
		if v.Cond == nil {
			continue
		}
		var err error
		if o.conds[i], err = newMatchExpr(v.Cond, s.Columns, s.In, i, o.ctx.Env); err != nil {
			return fmt.Errorf("condition of %s: %w", v.Name, err)
		}
	}
	for i, e := range s.Measures {
		x, err := newMatchExpr(e, s.Columns, s.In, -1, o.ctx.Env)
		if err != nil {
			return fmt.Errorf("measure %s: %w", s.Out[len(s.Keys)+i].Name, err)
		}
		o.measures = append(o.measures, x)
	}
	return nil
}

// text describes pattern and order in a state's descriptor: the partial matches of another pattern are of no use.
func (s *Matching) text() string {
	var b strings.Builder
	for _, v := range s.Variables {
		fmt.Fprintf(&b, "%s{%d,%d", v.Name, v.Min, v.Max)
		if v.Reluctant {
			b.WriteString(",reluctant")
		}
		b.WriteString("} ")
	}
	for _, k := range s.Order {
		b.WriteString("; " + sortKeyText(s.In, k))
	}
	return b.String()
}

// Process takes rows in.
func (o *Match) Process(_ int, b *types.Batch) error {
	if err := b.Segments(o.rowsOf, o.markOf); err != nil {
		return err
	}
	return o.out.flush()
}

func (o *Match) apply(b *types.Batch) error {
	o.keys.encode(b)
	now := o.ctx.Now().UnixMilli()
	column := o.spec.Order[0].Column
	for k, i := range b.Live() {
		t := now
		if o.spec.Rowtime {
			if b.Cols[column].Null(i) {
				return o.fail(errNullRowtime, b, i)
			}
			if t = millis(b.Cols[column], i); t <= o.clock.Now() {
				o.late.Add(1)
				continue
			}
		}
		o.find(o.keys.at(k), true)
		if !o.waits() {
			if err := o.direct(t, b, i); err != nil {
				return o.fail(err, b, i)
			}
			continue
		}
		v := o.m.Touch(o.owner)
		v[matchArrivals]++
		o.words = ordering(o.spec.Order[1:]).words(append(o.words[:0], state.OrderedInt(t)), b.Cols, i)
		o.words = append(o.words, v[matchArrivals])
		pending := o.m.Collection(matchPending)
		e, _ := pending.Add(o.owner, o.words)
		pending.PutBytes(e, 0, o.rows.of(b, i))
		o.timers.Add(t, o.key)
	}
	o.wake()
	return nil
}

func (o *Match) fail(err error, b *types.Batch, i int32) error {
	if e := o.out.flush(); e != nil {
		return e
	}
	return dataError(o.ctx, &types.RowError{Row: i, Err: err}, o.spec.In, b)
}

// find goes to the record of a key.
func (o *Match) find(key state.Key, create bool) bool {
	o.m, o.key = o.table.Of(key.Group), key
	if create {
		o.owner, _ = o.m.Upsert(key)
	} else {
		o.owner = o.m.Find(key)
	}
	return o.owner != 0
}

// direct feeds a row that waits for nothing.
func (o *Match) direct(t int64, b *types.Batch, i int32) error {
	if err := o.enter(); err != nil {
		return err
	}
	if err := o.feed(strings.Clone(o.rows.of(b, i)), t); err != nil {
		return err
	}
	o.leave()
	return nil
}

// Watermark looks at the rows that it has reached.
func (o *Match) Watermark(_ int, ms int64) error {
	if err := o.advance(ms); err != nil {
		return err
	}
	return o.out.flush()
}

// Idle passes idleness on.
func (o *Match) Idle(_ int, idle bool) error {
	o.clock.Idle(0, idle)
	return o.ctx.Out.Idle(idle)
}

func (o *Match) advance(ms int64) error {
	if !o.clock.Watermark(0, ms) {
		return nil
	}
	if o.spec.Rowtime {
		if err := o.fire(ms, ms); err != nil {
			return err
		}
	}
	o.out.mark(ms)
	return nil
}

// OnTime looks at the rows of past milliseconds of processing time.
func (o *Match) OnTime(ms int64) error {
	if o.spec.Rowtime {
		return nil
	}
	if err := o.fire(ms-1, ms); err != nil {
		return err
	}
	o.wake()
	return o.out.flush()
}

func (o *Match) wake() {
	if o.spec.Rowtime {
		return
	}
	if t := o.timers.Next(); t != state.NoTimer {
		o.ctx.WakeAt(t + 1)
	}
}

// fire works on the keys with timers at or before to: their rows up to it, then what is too old at the time now.
func (o *Match) fire(to, now int64) error {
	for {
		_, key, ok := o.timers.Pop(to)
		if !ok {
			return nil
		}
		o.popped = append(o.popped[:0], key.Words...) // the timers' own words live until the next call
		key.Words = o.popped
		if !o.find(key, false) {
			continue
		}
		if err := o.fireKey(to, now); err != nil {
			return o.located(err)
		}
	}
}

// located makes an error that a row caused one that ends the job for good: it would come again.
func (o *Match) located(err error) error {
	if re, _ := rowError(err); re != nil {
		err = re.Err
	}
	if e := o.out.flush(); e != nil {
		return e
	}
	return &types.DataError{Operator: o.ctx.Name, Err: err}
}

func (o *Match) fireKey(to, now int64) error {
	if err := o.enter(); err != nil {
		return err
	}
	pending := o.m.Collection(matchPending)
	for e := pending.First(o.owner); e != 0; e = pending.First(o.owner) {
		t := state.IntOf(pending.Elem(e)[0])
		if t > to {
			break
		}
		row, _ := pending.Bytes(e, 0)
		pending.Remove(o.owner, e)
		if err := o.feed(row, t); err != nil {
			return err
		}
	}
	if err := o.run.advance(now); err != nil {
		return err
	}
	o.leave()
	return nil
}

// enter loads the partial matches of the key.
func (o *Match) enter() error {
	o.read.reset()
	o.fresh = o.fresh[:0]
	o.next = o.m.Get(o.owner)[matchNext]
	o.stored = o.next
	s, ok := o.m.Bytes(o.owner, matchPartials)
	if !ok {
		o.run.reset()
		return nil
	}
	return o.run.decode(s)
}

// feed gives the automaton the next row.
func (o *Match) feed(row string, t int64) error {
	if err := o.run.advance(t); err != nil {
		return err
	}
	n := o.next
	o.next++
	o.fresh = append(o.fresh, matchRow{row, t})
	clear(o.known)
	started, err := o.run.row(n, t)
	if err == nil && started && o.spec.Within > 0 {
		o.timers.Add(add(t, o.spec.Within), o.key)
	}
	return err
}

// leave stores what is left of the key, or forgets it.
func (o *Match) leave() {
	if o.run.idle() && o.m.Collection(matchPending).Len(o.owner) == 0 {
		o.m.Delete(o.owner)
		return
	}
	v := o.m.Touch(o.owner)
	v[matchNext] = o.next
	kept, oldest := o.m.Collection(matchKept), o.run.oldest(o.next)
	for e := kept.First(o.owner); e != 0 && kept.Elem(e)[0] < oldest; e = kept.First(o.owner) {
		kept.Remove(o.owner, e)
	}
	for i, r := range o.fresh {
		n := o.stored + uint64(i)
		if n < oldest {
			continue
		}
		o.words = append(o.words[:0], n)
		e, _ := kept.Add(o.owner, o.words)
		kept.PutBytes(e, 0, r.bytes)
	}
	o.encoded = o.run.encode(o.encoded[:0])
	o.m.PutBytes(o.owner, matchPartials, string(o.encoded))
}

// load decodes a row of the key.
func (o *Match) load(row uint64, cols []*types.Column) error {
	if row >= o.stored {
		return o.rows.decode(o.fresh[row-o.stored].bytes, cols)
	}
	kept := o.m.Collection(matchKept)
	o.words = append(o.words[:0], row)
	e := kept.Find(o.owner, o.words)
	if e == 0 {
		return fmt.Errorf("row %d of a partial match is not in the state", row)
	}
	s, _ := kept.Bytes(e, 0)
	return o.rows.decode(s, cols)
}

// holds tells whether the current row fulfils the condition of a variable behind a partial match.
func (o *Match) holds(variable int, p *partial) (bool, error) {
	x := o.conds[variable]
	if x == nil {
		return true, nil
	}
	if o.known[variable] != 0 {
		return o.known[variable] > 0, nil
	}
	row := o.next - 1
	w := view{p: p, current: variable, row: row}
	if err := x.read(&w, &o.read, o.times(o.fresh[row-o.stored].time)); err != nil {
		return false, err
	}
	var sel [1]int32
	got, err := x.filter(x.one, types.All(1), sel[:0])
	if x.local && err == nil {
		o.known[variable] = -1
		if len(got) > 0 {
			o.known[variable] = 1
		}
	}
	return len(got) > 0, err
}

func (o *Match) times(event int64) matchTimes {
	return matchTimes{event: event, now: o.ctx.Now().UnixMilli()}
}

// give puts a match out.
func (o *Match) give(p *partial, time int64) error {
	w := view{p: p, current: -1}
	n := len(o.spec.Keys)
	first, err := o.read.get(p.start)
	if err != nil {
		return err
	}
	for i, c := range o.spec.Keys {
		o.out.Cols[i].AppendFrom(o.read.batch.Cols[c], first)
	}
	for i, x := range o.measures {
		err := x.read(&w, &o.read, o.times(time))
		if err == nil {
			var col *types.Column
			if col, err = x.eval(x.one, types.All(1)); err == nil {
				o.out.Cols[n+i].AppendFrom(col, 0)
			}
		}
		if err != nil {
			for _, c := range o.out.Cols {
				c.Truncate(o.out.Len)
			}
			return err
		}
	}
	return o.out.pushed(types.Insert)
}
