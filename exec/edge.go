package exec

import (
	"context"

	"runnel/types"
)

// elementKind says what travels on an edge.
type elementKind uint8

const (
	elemBatch     elementKind = iota
	elemWatermark             // n: ms
	elemIdle                  // the channel no longer takes part in the watermark
	elemActive                // it does again
	elemBarrier               // barrier: everything before it belongs to the checkpoint
	elemEnd                   // no more data; a last watermark is implied; barriers may still follow
	elemStop                  // nothing follows
)

// element is one thing on an edge, in order with all others of its channel.
type element struct {
	kind    elementKind
	ch      int32 // the channel at the gate
	n       int64
	batch   *types.Batch // owned by the edge; the gate gives it back through recycle
	barrier *barrier
}

// edge is the way from one subtask to one channel of a gate. It belongs to the sending task, but for free, through which
// the receiver gives batches back. The free list is the credit: who finds it empty waits, and that is the backpressure.
type edge struct {
	ctx    context.Context
	gate   *gate
	ch     int32
	fields []types.Field
	free   chan *types.Batch
	made   int // batches made so far, at most cap(free)
	open   *types.Batch
	wait   *meter // time without credit
}

// credits of an edge, by the number of channels of its gate: many channels need fewer batches each.
func edgeCredits(channels int) int {
	if channels <= 4 {
		return 4
	}
	return 2
}

// take gives the batch to append to, waiting for credit if need be.
func (e *edge) take() (*types.Batch, error) {
	if e.open != nil {
		return e.open, nil
	}
	select {
	case e.open = <-e.free:
		return e.open, nil
	default:
	}
	if e.made < cap(e.free) {
		e.made++
		e.open = types.NewBatch(e.fields)
		return e.open, nil
	}
	e.wait.begin()
	defer e.wait.end()
	select {
	case e.open = <-e.free:
		return e.open, nil
	case <-e.ctx.Done():
		return nil, context.Cause(e.ctx)
	}
}

// send puts an element on the edge. The gate's queue has room for all credits and some control elements; beyond that it
// waits.
func (e *edge) send(el element) error {
	el.ch = e.ch
	select {
	case e.gate.in <- el:
		return nil
	default:
	}
	e.wait.begin()
	defer e.wait.end()
	select {
	case e.gate.in <- el:
		return nil
	case <-e.ctx.Done():
		return context.Cause(e.ctx)
	}
}

// flush sends the open batch. Marks behind which no row came travel as a plain watermark.
func (e *edge) flush() error {
	b := e.open
	if b == nil {
		return nil
	}
	if b.Len == 0 {
		if len(b.Marks) == 0 {
			return nil
		}
		ms := b.Marks[len(b.Marks)-1].Time
		b.Marks = b.Marks[:0]
		return e.send(element{kind: elemWatermark, n: ms})
	}
	e.open = nil
	return e.send(element{kind: elemBatch, batch: b})
}

// control sends an element after everything that was appended.
func (e *edge) control(el element) error {
	if err := e.flush(); err != nil {
		return err
	}
	return e.send(el)
}

// append adds the rows of b that sel names (nil: all) and the marks between them; marks are positions within sel.
func (e *edge) append(b *types.Batch, sel []int32, marks []types.Mark) error {
	rows := b.Len
	if sel != nil {
		rows = len(sel)
	}
	at := 0
	for {
		d, err := e.take()
		if err != nil {
			return err
		}
		n := min(rows-at, types.BatchRows-d.Len)
		base := int32(d.Len - at)
		if n > 0 {
			appendRows(d, b, sel, at, n)
			at += n
		}
		for len(marks) > 0 && int(marks[0].Pos) <= at {
			addMark(d, marks[0].Pos+base, marks[0].Time)
			marks = marks[1:]
		}
		if d.Full() {
			if err := e.flush(); err != nil {
				return err
			}
		}
		if at == rows {
			return nil
		}
	}
}

// appendRows copies n rows of src, from the at-th of sel on (nil: of all), to the end of dst.
func appendRows(dst, src *types.Batch, sel []int32, at, n int) {
	if sel == nil && at == 0 && n == src.Len {
		for i, c := range dst.Cols {
			c.Gather(src.Cols[i], nil, n)
		}
	} else {
		if sel == nil {
			sel = types.All(src.Len)
		}
		for i, c := range dst.Cols {
			c.Gather(src.Cols[i], sel[at:at+n], n)
		}
	}
	if src.Kinds == nil && dst.Kinds == nil {
		dst.Len += n
		return
	}
	for k := at; k < at+n; k++ {
		i := int32(k)
		if sel != nil {
			i = sel[k]
		}
		dst.Push(src.Kind(i))
	}
}

// addMark adds a mark at the end of a batch's marks. Of marks with no row between them the last one counts.
func addMark(b *types.Batch, pos int32, ms int64) {
	if n := len(b.Marks); n > 0 && b.Marks[n-1].Pos == pos {
		b.Marks[n-1].Time = ms
		return
	}
	b.Marks = append(b.Marks, types.Mark{Pos: pos, Time: ms})
}
