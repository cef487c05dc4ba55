package op

import (
	"math"

	"runnel/state"
	"runnel/types"
)

// InTime stands in front of an operator of batch mode that works by key and event time. It gives the rows key by key, in the
// order of their times, so that no more than what is open of one key is in memory: the rows themselves go to disk where they
// do not fit.
//
// Keys that are complete go to an operator together, as many as fit into memory, and when it has given all of their results
// a new one takes its place, with empty state. The rows of a key that does not fit follow each other with watermarks in
// between.
type InTime struct {
	single
	make   func() Operator
	fields []types.Field
	time   int
	keys   ordering
	sorted *sorter
	space  *spillSpace
	rows   collected // keys that are complete, and the beginning of the last one
	start  int       // where that begins
	last   *types.Batch
	cur    Operator
	state  *state.Keyed
	inner  Context
	long   bool // the last key goes to the operator in pieces
}

// NewInTime makes the operator over rows of the given fields, whose time and keys are in columns. make makes the operator
// that gets the rows.
func NewInTime(make func() Operator, fields []types.Field, keys []int, time int) *InTime {
	return &InTime{make: make, fields: fields, keys: keyOrder(keys), time: time}
}

// rowsOnly passes rows on, and no time.
type rowsOnly struct{ Out }

func (o rowsOnly) Emit(b *types.Batch) error {
	b.Marks = b.Marks[:0]
	return o.Out.Emit(b)
}
func (rowsOnly) Watermark(int64) error { return nil }
func (rowsOnly) Idle(bool) error       { return nil }

// Open makes room for the rows.
func (t *InTime) Open(ctx *Context) error {
	t.ctx, t.inner = ctx, *ctx
	t.inner.Out, t.inner.MaxParallelism, t.inner.WakeAt = rowsOnly{ctx.Out}, 1, func(int64) {}
	counters := map[string]*Counter{}
	t.inner.Counter = func(name string) *Counter {
		if counters[name] == nil {
			counters[name] = ctx.Counter(name)
		}
		return counters[name]
	}
	t.rows, t.last = newCollected(t.fields), types.NewBatch(t.fields)
	// A third is for the rows in order, one for those of the next keys, one for the state of the operator.
	t.sorted = newSorter(ctx, t.fields, append(t.keys[:len(t.keys):len(t.keys)], SortKey{Column: t.time}), math.MaxInt64)
	t.sorted.space.Memory /= 3
	t.space = newSpillSpace(ctx)
	t.space.Memory /= 3
	return t.begin()
}

// begin makes a new operator.
func (t *InTime) begin() error {
	t.cur = t.make()
	t.state = state.NewKeyed(state.Config{Operator: t.ctx.Name, Groups: state.RangeOf(0, 1, 1)})
	t.inner.State = t.state
	return t.cur.Open(&t.inner)
}

// end lets the operator give what is left.
func (t *InTime) end() error {
	if err := t.cur.Watermark(0, types.MaxWatermark); err != nil {
		return err
	}
	o := t.cur
	t.cur = nil
	return o.Close()
}

// Process keeps the rows.
func (t *InTime) Process(_ int, b *types.Batch) error { return t.sorted.add(b) }

// Watermark passes the last one on: those before it say nothing while the rows are being gathered.
func (t *InTime) Watermark(_ int, ms int64) error {
	if ms < types.MaxWatermark {
		return nil
	}
	return t.ctx.Out.Watermark(ms)
}

// EndInput gives the rows to the operator.
func (t *InTime) EndInput(int) error {
	if err := t.sorted.each(t.take); err != nil {
		return err
	}
	t.sorted.rows = collected{}
	if t.rows.n > 0 {
		if err := t.feed(t.rows.n); err != nil {
			return err
		}
	}
	return t.end()
}

// take takes the next rows of the order.
func (t *InTime) take(b *types.Batch) error {
	from := t.rows.n
	if t.long {
		n := int32(0)
		for int(n) < b.Len && t.keys.compare(t.last.Cols, 0, b.Cols, n) == 0 {
			n++
		}
		if err := t.piece(&types.Batch{Len: b.Len, Cols: b.Cols, Sel: types.All(b.Len)[:n]}); err != nil || int(n) == b.Len {
			return err
		}
		if err := t.again(); err != nil {
			return err
		}
		t.long, b.Sel = false, types.All(b.Len)[n:]
		defer func() { b.Sel = nil }()
	}
	t.rows.add(b)
	for i := max(from, 1); i < t.rows.n; i++ {
		if t.keys.compare(t.rows.cols, int32(i-1), t.rows.cols, int32(i)) != 0 {
			t.start = i
		}
	}
	if !t.space.over(t.rows.memory()) && t.rows.n < math.MaxInt32/2 {
		return nil
	}
	if t.start > 0 {
		if err := t.feed(t.start); err != nil {
			return err
		}
		return t.again()
	}
	t.long = true
	t.last.Reset()
	t.last.AppendRow(&types.Batch{Len: t.rows.n, Cols: t.rows.cols}, 0, types.Insert)
	rows := t.rows
	t.rows = newCollected(t.fields)
	return rows.each(t.fields, types.All(rows.n), t.piece)
}

// again ends the operator and begins with a new one.
func (t *InTime) again() error {
	if err := t.end(); err != nil {
		return err
	}
	return t.begin()
}

// feed gives the first n rows in memory, whose keys are complete, to the operator.
func (t *InTime) feed(n int) error {
	all := types.All(t.rows.n)
	err := t.rows.each(t.fields, all[:n], func(b *types.Batch) error { return t.cur.Process(0, b) })
	if err != nil {
		return err
	}
	rest := newCollected(t.fields)
	rest.add(&types.Batch{Len: t.rows.n, Cols: t.rows.cols, Sel: all[n:]})
	t.rows, t.start = rest, 0
	return nil
}

// piece gives some rows of a key that does not fit into memory to the operator, with a watermark behind them.
func (t *InTime) piece(b *types.Batch) error {
	if b.Rows() == 0 {
		return nil
	}
	if err := t.cur.Process(0, b); err != nil {
		return err
	}
	live := b.Live()
	ms := millis(b.Cols[t.time], live[len(live)-1])
	if err := t.cur.Watermark(0, ms-1); err != nil { // the next rows may be of the same time
		return err
	}
	return t.space.tooLarge("what is open of one key", t.state.Size())
}

// Close removes what is on disk.
func (t *InTime) Close() error {
	err := t.sorted.close()
	if t.cur != nil {
		if e := t.cur.Close(); err == nil {
			err = e
		}
	}
	return err
}
