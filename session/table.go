package session

import (
	"context"
	"io"

	"runnel/types"
)

// bounded is a small answer that is all there.
type bounded struct {
	fields []types.Field
	rows   [][]types.Datum
	batch  *types.Batch
}

// Next gives up to a batch of rows.
func (b *bounded) Next(context.Context) (*types.Batch, error) {
	if len(b.rows) == 0 {
		return nil, io.EOF
	}
	if b.batch == nil {
		b.batch = types.NewBatch(b.fields)
	}
	b.batch.Reset()
	for len(b.rows) > 0 && !b.batch.Full() {
		for j, v := range b.rows[0] {
			b.batch.Cols[j].Append(v)
		}
		b.batch.Push(types.Insert)
		b.rows = b.rows[1:]
	}
	return b.batch, nil
}

// Close does nothing.
func (b *bounded) Close() error { return nil }

// answer makes a Table result.
func answer(fields []types.Field, rows [][]types.Datum) *Result {
	return &Result{Kind: Table, Fields: fields, Rows: &bounded{fields: fields, rows: rows}}
}

// textTable makes a Table result of STRING columns.
func textTable(rows [][]string, names ...string) *Result {
	fields := make([]types.Field, len(names))
	for i, n := range names {
		fields[i] = types.Field{Name: n, Type: types.String()}
	}
	out := make([][]types.Datum, len(rows))
	for i, r := range rows {
		for _, v := range r {
			out[i] = append(out[i], types.StrDatum(v))
		}
	}
	return answer(fields, out)
}
