package op

import "runnel/types"

// rankedRows is the output of a ranking, where one row often leaves a rank and enters another: its columns are made once,
// and copied to where the row is given when the batch goes out.
type rankedRows struct {
	output
	rows     rowBytes
	numbered bool
	made     []*types.Column // the rows since the last flush, each once
	count    int32
	from     []int32 // for each output row, which of them it is
	round    int32   // counts flushes
}

// rankedRow is a row to be given, perhaps more than once.
type rankedRow struct {
	bytes string // in the form of state
	at    int32  // in made, if round is the current one
	round int32  // 0: nowhere
}

func newRankedRows(to Out, in []types.Field, numbered bool) rankedRows {
	fields := in
	if numbered {
		fields = append(in[:len(in):len(in)], types.Field{Name: "rank", Type: types.Of(types.BigInt).Required()})
	}
	return rankedRows{output: newOutput(to, fields), rows: newRowBytes(in), numbered: numbered, made: types.NewBatch(in).Cols, round: 1}
}

// take gives row i of b as one that can be given until the next flush; once its bytes are part of state, after it too.
func (o *rankedRows) take(b *types.Batch, i int32) rankedRow {
	for j, c := range o.made {
		c.AppendFrom(b.Cols[j], i)
	}
	o.count++
	return rankedRow{at: o.count - 1, round: o.round}
}

// give puts a row out, with its rank if rows are numbered.
func (o *rankedRows) give(kind types.RowKind, row *rankedRow, rank int64) error {
	if row.round != o.round {
		if err := o.rows.decode(row.bytes, o.made); err != nil {
			return err
		}
		row.at, row.round = o.count, o.round
		o.count++
	}
	o.from = append(o.from, row.at)
	if o.numbered {
		o.Cols[len(o.made)].AppendInt(rank)
	}
	o.Push(kind)
	if o.Full() {
		return o.flush()
	}
	return nil
}

// flush sends what is there.
func (o *rankedRows) flush() error {
	for j, c := range o.made {
		if len(o.from) > 0 { // Gather takes nil for all rows
			o.Cols[j].Gather(c, o.from, int(o.count))
		}
		c.Reset()
	}
	o.from, o.count = o.from[:0], 0
	o.round++
	return o.output.flush()
}
