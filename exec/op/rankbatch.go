package op

import (
	"math"

	"runnel/types"
)

// RankFunc is the function that numbers the rows of a top-N.
type RankFunc uint8

const (
	RowNumber RankFunc = iota
	RankWithGaps
	DenseRank
)

// BatchRanking is what a BatchRank does. Its rows are those of the input, with the rank (BIGINT) behind them if Numbered.
type BatchRanking struct {
	In       []types.Field
	Func     RankFunc
	Keys     []int
	Order    []SortKey
	From, To int64 // ranks, from 1, both inclusive
	ToColumn int   // the column that holds To, read from the first row of each key; -1 for none
	Numbered bool
}

// BatchRank gives the rows of the ranks From to To of each key when a bounded input ends, in the order of keys and ranks.
// What does not fit into memory is on disk.
type BatchRank struct {
	single
	spec BatchRanking
	rows *sorter
	out  output

	keys, order ordering
	last        *types.Batch // the row before the current batch
	number      int64
	gaps, dense int64
	to          int64 // the last rank of the current key
}

// NewBatchRank makes the operator.
func NewBatchRank(spec BatchRanking) *BatchRank { return &BatchRank{spec: spec} }

// Open makes room for the rows.
func (r *BatchRank) Open(ctx *Context) error {
	r.ctx = ctx
	r.keys, r.order = keyOrder(r.spec.Keys), r.spec.Order
	r.rows = newSorter(ctx, r.spec.In, append(keyOrder(r.spec.Keys), r.order...), math.MaxInt64)
	fields := r.spec.In
	if r.spec.Numbered {
		f := types.Field{Name: "rank", Type: types.Of(types.BigInt).Required()}
		fields = append(fields[:len(fields):len(fields)], f)
	}
	r.out, r.last = newOutput(ctx.Out, fields), types.NewBatch(r.spec.In)
	return nil
}

// Process keeps the rows.
func (r *BatchRank) Process(_ int, b *types.Batch) error { return r.rows.add(b) }

// EndInput gives the rows.
func (r *BatchRank) EndInput(int) error {
	if err := r.rows.each(r.rank); err != nil {
		return err
	}
	r.rows.rows = collected{}
	return r.out.flush()
}

// Close removes what is on disk.
func (r *BatchRank) Close() error { return r.rows.close() }

// rank numbers rows that follow each other in the order.
func (r *BatchRank) rank(b *types.Batch) error {
	before, at := r.last, int32(0)
	for i := range int32(b.Len) {
		if before.Len == 0 || r.keys.compare(before.Cols, at, b.Cols, i) != 0 {
			r.number, r.gaps, r.dense, r.to = 0, 0, 0, r.end(b, i)
		}
		if r.number++; r.number == 1 || r.order.compare(before.Cols, at, b.Cols, i) != 0 {
			r.gaps = r.number
			r.dense++
		}
		before, at = b, i
		rank := [...]int64{RowNumber: r.number, RankWithGaps: r.gaps, DenseRank: r.dense}[r.spec.Func]
		if rank < r.spec.From || rank > r.to {
			continue
		}
		for j, c := range b.Cols {
			r.out.Cols[j].AppendFrom(c, i)
		}
		if r.spec.Numbered {
			r.out.Cols[len(b.Cols)].AppendInt(rank)
		}
		if err := r.out.pushed(types.Insert); err != nil {
			return err
		}
	}
	r.last.Reset()
	r.last.AppendRow(b, at, types.Insert)
	return nil
}

// end gives the last rank of the key whose first row is given.
func (r *BatchRank) end(b *types.Batch, row int32) int64 {
	if r.spec.ToColumn < 0 {
		return r.spec.To
	}
	c := b.Cols[r.spec.ToColumn]
	if c.Null(row) {
		return 0
	}
	return c.Int[row]
}
