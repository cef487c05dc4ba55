package op

import (
	"time"

	"runnel/state"
	"runnel/types"
)

// keyedRows is what the operators share that keep rows by key and give rows of their input's schema: keys, the bytes of
// rows, one table, the output. The operator calls its apply for every live row of a batch. A watermark waits for the rows of
// a bundle that came before it.
type keyedRows struct {
	single
	in    []types.Field
	key   []int
	ttl   time.Duration
	keys  batchKeys
	rows  keptRows
	table *state.Table
	out   output
	apply func(b *types.Batch, k int, i int32) error
	block *keyBlock // nil if records may go away

	bundle *bundle // nil without mini-batches

	rowsOf func(*types.Batch) error
	markOf func(int64) error
}

// keptRow is a value that holds a kept row.
var keptRow = state.Value{Kind: state.Bytes, Reuse: true}

// open registers the table, whose records have the given values.
func (o *keyedRows) open(ctx *Context, values []state.Value, apply func(*types.Batch, int, int32) error) error {
	o.ctx, o.apply = ctx, apply
	o.keys = newBatchKeys(o.in, o.key, ctx.MaxParallelism)
	o.rows = newKeptRows(o.in, o.key, o.keys.codec)
	o.out = newOutput(ctx.Out, o.in)
	o.rowsOf, o.markOf = o.segment, o.mark
	d := state.Descriptor{Format: types.RowCodecVersion, Name: "rows", Key: keyColumns(o.in, o.key), Values: rowInfos(pick(o.in, o.rows.cols))}
	var err error
	o.table, err = ctx.State.Table(d, state.TableSpec{TTL: o.ttl, Values: values})
	return err
}

// rowInfos describes the columns of kept rows in a state's descriptor.
func rowInfos(fields []types.Field) []state.ValueInfo {
	infos := make([]state.ValueInfo, len(fields))
	for i, f := range fields {
		infos[i] = state.ValueInfo{Call: f.Source(), Type: f.Type.Plain().Optional().String(), Codec: types.ValueCodecVersion}
	}
	return infos
}

// Process applies the rows one by one.
func (o *keyedRows) Process(_ int, b *types.Batch) error {
	if o.ttl > 0 {
		o.ctx.State.StartBatch()
		o.table.Sweep(sweepRows)
	}
	if err := b.Segments(o.rowsOf, o.markOf); err != nil {
		return err
	}
	return o.out.flush()
}

func (o *keyedRows) segment(b *types.Batch) error {
	o.keys.encode(b)
	if o.block == nil {
		o.table.Stage(o.keys.Hash, o.keys.group)
	}
	for k, i := range b.Live() {
		if o.block != nil && k%runRows == 0 {
			o.block.lookUp(o.table, &o.keys, k, min(k+runRows, b.Rows()))
		}
		if err := o.apply(b, k, i); err != nil {
			return err
		}
	}
	return nil
}

// record gives the record of the k-th live row, which is made if there is none.
func (o *keyedRows) record(k int) (m *state.Map, r state.Ref, fresh bool) {
	m = o.table.Of(o.keys.group[k])
	if o.block != nil {
		if r = o.block.refs[k%runRows]; r != 0 {
			return m, r, false
		}
	}
	r, fresh = m.Upsert(o.keys.at(k))
	return m, r, fresh
}

func (o *keyedRows) mark(ms int64) error {
	if o.bundle == nil || !o.bundle.hold(ms) {
		o.out.mark(ms)
	}
	return nil
}

// Watermark passes the watermark on, behind the rows in front of it.
func (o *keyedRows) Watermark(_ int, ms int64) error {
	if o.bundle != nil && o.bundle.hold(ms) {
		return nil
	}
	return o.ctx.Out.Watermark(ms)
}

// bundled sends the rows of a bundle, and the watermark that waited for them.
func (o *keyedRows) bundled() error {
	if ms, ok := o.bundle.reset(); ok {
		o.out.mark(ms)
	}
	return o.out.flush()
}

// give puts row i of b out.
func (o *keyedRows) give(b *types.Batch, i int32, kind types.RowKind) error {
	for j, c := range o.out.Cols {
		c.AppendFrom(b.Cols[j], i)
	}
	return o.out.pushed(kind)
}

// giveKept puts a kept row of a key out, whose texts are copied.
func (o *keyedRows) giveKept(key []uint64, row string, kind types.RowKind) error {
	if err := o.rows.decode(key, row, o.out.Cols); err != nil {
		return err
	}
	return o.out.pushed(kind)
}
