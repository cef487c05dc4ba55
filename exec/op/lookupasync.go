package op

import (
	"time"

	"runnel/connectors/lookup"
	"runnel/types"
)

// AsyncLookup is how an AsyncLookupJoin asks.
type AsyncLookup struct {
	Capacity  int           // rows on their way at most
	Timeout   time.Duration // for an answer
	Unordered bool          // rows between two watermarks come out as their answers come
}

// AsyncLookupJoin is a LookupJoin that goes on while it waits for answers. Rows whose answers are not there yet are part of a
// snapshot, and are asked for again by who is restored from it. Watermarks never overtake rows, nor rows watermarks.
type AsyncLookupJoin struct {
	lookupWork
	ctx      *Context
	asking   *lookup.Asking
	queue    []waiting
	rows     int // in the queue
	pending  map[int64]*asked
	next     int64
	held     heldRows
	restored [][]byte

	rowsOf func(*types.Batch) error
	markOf func(int64) error
}

// asked are rows that were asked for together.
type asked struct {
	lookupQuestion
	left    *types.Batch
	answers []lookup.Answer
	have    []bool
	open    int // answers that are missing
}

// waiting is a row, a watermark or a change of idleness that waits for what is in front of it.
type waiting struct {
	of   *asked // nil for no row
	row  int    // of of.rows
	mark int64
	idle *bool
}

func (x *waiting) done() bool {
	return x.of.key[x.row] < 0 || x.of.have[x.of.key[x.row]]
}

// Open opens the table and asks again for the rows of the snapshot.
func (j *AsyncLookupJoin) Open(ctx *Context) error {
	j.ctx, j.pending = ctx, map[int64]*asked{}
	j.rowsOf, j.markOf = j.enqueue, j.enqueueMark
	if err := j.open(ctx); err != nil {
		return err
	}
	held, err := newHeldRows(ctx, j.spec.In, j.restored)
	if err != nil {
		return err
	}
	j.held = held
	j.asking = j.asks.Ask(ctx.Ctx, j.spec.Async.Timeout, ctx.Wake)
	if held.Len == 0 {
		return nil
	}
	err = j.submit(j.held.take())
	ctx.Wake() // rows without a key are ready
	return err
}

// Restore keeps the rows for Open.
func (j *AsyncLookupJoin) Restore(snapshots [][]byte) error { j.restored = snapshots; return nil }

// Snapshot saves the rows on their way.
func (j *AsyncLookupJoin) Snapshot() ([]byte, error) {
	h := heldRows{fields: j.held.fields, codec: j.held.codec, Batch: types.NewBatch(j.held.fields)}
	for _, x := range j.queue {
		if x.of != nil {
			i := x.of.rows[x.row]
			h.AppendRow(x.of.left, i, x.of.left.Kind(i))
		}
	}
	return h.encode()
}

// Process asks for the rows of a batch.
func (j *AsyncLookupJoin) Process(_ int, b *types.Batch) error {
	if err := b.Segments(j.rowsOf, j.markOf); err != nil {
		return err
	}
	return j.OnWake()
}

// OnWake gives what is ready.
func (j *AsyncLookupJoin) OnWake() error {
	if err := j.settle(); err != nil {
		return err
	}
	return j.out.flush()
}

// Watermark queues behind the rows.
func (j *AsyncLookupJoin) Watermark(_ int, ms int64) error {
	if len(j.queue) == 0 {
		return j.ctx.Out.Watermark(ms)
	}
	return j.enqueueMark(ms)
}

// Idle queues behind the rows.
func (j *AsyncLookupJoin) Idle(_ int, idle bool) error {
	if len(j.queue) == 0 {
		return j.ctx.Out.Idle(idle)
	}
	j.queue = append(j.queue, waiting{idle: &idle})
	return nil
}

// EndInput waits for the rows on their way.
func (j *AsyncLookupJoin) EndInput(int) error {
	j.asking.Hurry()
	return j.until(func() bool { return len(j.queue) == 0 })
}

// Close gives up what is on its way.
func (j *AsyncLookupJoin) Close() error {
	if j.asking != nil {
		j.asking.Close()
	}
	return j.close()
}

// until waits for answers until something has come about.
func (j *AsyncLookupJoin) until(done func() bool) error {
	for {
		if err := j.OnWake(); err != nil || done() {
			return err
		}
		if err := j.asking.Await(); err != nil {
			return err
		}
	}
}

func (j *AsyncLookupJoin) enqueueMark(ms int64) error {
	if n := len(j.queue); n > 0 && j.queue[n-1].of == nil && j.queue[n-1].idle == nil {
		j.queue[n-1].mark = ms
		return nil
	}
	j.queue = append(j.queue, waiting{mark: ms})
	return nil
}

// enqueue asks for the live rows of b, as many at once as there is room for.
func (j *AsyncLookupJoin) enqueue(b *types.Batch) error {
	sel := b.Live()
	for len(sel) > 0 {
		if err := j.until(func() bool { return j.rows < j.spec.Async.Capacity }); err != nil {
			return err
		}
		n := min(len(sel), j.spec.Async.Capacity-j.rows)
		left := &types.Batch{Len: n, Cols: make([]*types.Column, len(b.Cols))}
		for k, col := range b.Cols {
			left.Cols[k] = types.NewColumn(col.Type, n)
			left.Cols[k].Gather(col, sel[:n], b.Len)
		}
		if b.Kinds != nil {
			for _, i := range sel[:n] {
				left.Kinds = append(left.Kinds, b.Kinds[i])
			}
		}
		if err := j.submit(left); err != nil {
			return err
		}
		sel = sel[n:]
	}
	return nil
}

// submit asks for rows that are the operator's own.
func (j *AsyncLookupJoin) submit(left *types.Batch) error {
	q, err := j.ask(left)
	if err != nil {
		return err
	}
	a := &asked{lookupQuestion: q, left: left, answers: make([]lookup.Answer, q.keys.Len), have: make([]bool, q.keys.Len), open: q.keys.Len}
	for n := range q.rows {
		j.queue = append(j.queue, waiting{of: a, row: n})
	}
	j.rows += len(q.rows)
	if a.open > 0 {
		j.pending[j.next] = a
		j.asking.Ask(j.next, q.keys)
		j.next++
	}
	if q.failed == nil {
		return nil
	}
	if err := j.until(func() bool { return len(j.queue) == 0 }); err != nil { // the rows in front of the one that failed
		return err
	}
	return j.failed(q, left)
}

// settle takes the answers that have come and gives the rows that are ready.
func (j *AsyncLookupJoin) settle() error {
	for _, x := range j.asking.Take() {
		if x.Err != nil {
			return x.Err
		}
		a := j.pending[x.Ask]
		a.answers[x.Key], a.have[x.Key] = x.Answer, true
		if a.open--; a.open == 0 {
			delete(j.pending, x.Ask)
		}
	}
	kept := 0
	fenced := false // a watermark waits in front: nothing overtakes it
	for _, x := range j.queue {
		free := kept == 0 || x.of != nil && j.spec.Async.Unordered && !fenced
		if !free || x.of != nil && !x.done() {
			fenced = fenced || x.of == nil
			j.queue[kept] = x
			kept++
			continue
		}
		if err := j.release(x); err != nil {
			return err
		}
	}
	clear(j.queue[kept:])
	j.queue = j.queue[:kept]
	return nil
}

func (j *AsyncLookupJoin) release(x waiting) error {
	switch {
	case x.idle != nil:
		if err := j.out.flush(); err != nil {
			return err
		}
		return j.ctx.Out.Idle(*x.idle)
	case x.of == nil:
		j.out.mark(x.mark)
		return nil
	}
	j.rows--
	var a lookup.Answer
	if k := x.of.key[x.row]; k >= 0 {
		a = x.of.answers[k]
	}
	i := x.of.rows[x.row]
	return j.give(x.of.left, i, x.of.left.Kind(i), a)
}
