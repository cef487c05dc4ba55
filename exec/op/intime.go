package op

import (
	"math"

	"runnel/types"
)

// InTime stands in front of an operator of batch mode that works by event time. It gives the rows in the order of their
// times with a watermark behind every batch, so that the operator holds what is open at one time only; the rows themselves
// go to disk where they do not fit into memory.
type InTime struct {
	Operator
	fields []types.Field
	time   int
	rows   *sorter
	ctx    *Context
}

// NewInTime makes the operator over rows of the given fields, whose time is in a column.
func NewInTime(o Operator, fields []types.Field, time int) *InTime {
	return &InTime{Operator: o, fields: fields, time: time}
}

// Open makes room for the rows.
func (t *InTime) Open(ctx *Context) error {
	t.ctx = ctx
	t.rows = newSorter(ctx, t.fields, ordering{{Column: t.time}}, math.MaxInt64)
	return t.Operator.Open(ctx)
}

// Process keeps the rows.
func (t *InTime) Process(_ int, b *types.Batch) error { return t.rows.add(b) }

// Watermark passes the last one on: those before it say nothing while the rows are being gathered.
func (t *InTime) Watermark(input int, ms int64) error {
	if ms < types.MaxWatermark {
		return nil
	}
	return t.Operator.Watermark(input, ms)
}

// EndInput gives the rows to the operator.
func (t *InTime) EndInput(int) error {
	err := t.rows.each(func(b *types.Batch) error {
		c, last := b.Cols[t.time], int32(b.Len-1)
		null := c.Null(last)
		ms := int64(0)
		if !null {
			ms = millis(c, last)
		}
		if err := t.Operator.Process(0, b); err != nil || null { // the operator refuses it
			return err
		}
		return t.Operator.Watermark(0, ms-1) // the next batch may have rows of the same time
	})
	t.rows.rows = collected{}
	return err
}

// Close removes what is on disk.
func (t *InTime) Close() error {
	err := t.rows.close()
	if e := t.Operator.Close(); err == nil {
		err = e
	}
	return err
}
