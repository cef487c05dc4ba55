package op

import "runnel/types"

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
// It holds all rows in memory.
type BatchRank struct {
	single
	spec BatchRanking
	rows collected
}

// NewBatchRank makes the operator.
func NewBatchRank(spec BatchRanking) *BatchRank {
	return &BatchRank{spec: spec, rows: newCollected(spec.In)}
}

// Process keeps the rows.
func (r *BatchRank) Process(_ int, b *types.Batch) error {
	r.rows.add(b)
	return nil
}

// EndInput gives the rows.
func (r *BatchRank) EndInput(int) error {
	keys := keyOrder(r.spec.Keys)
	order := ordering(r.spec.Order)
	perm := r.rows.sorted(append(keys, order...))
	fields := r.spec.In
	var ranks []*types.Column
	if r.spec.Numbered {
		f := types.Field{Name: "rank", Type: types.Of(types.BigInt).Required()}
		fields = append(fields[:len(fields):len(fields)], f)
		ranks = []*types.Column{types.NewColumn(f.Type, 0)}
	}
	var kept []int32
	var number, gaps, dense, to int64
	for k, row := range perm {
		if k == 0 || keys.compare(r.rows.cols, perm[k-1], r.rows.cols, row) != 0 {
			number, gaps, dense, to = 0, 0, 0, r.last(row)
		}
		if number++; number == 1 || order.compare(r.rows.cols, perm[k-1], r.rows.cols, row) != 0 {
			gaps = number
			dense++
		}
		rank := [...]int64{RowNumber: number, RankWithGaps: gaps, DenseRank: dense}[r.spec.Func]
		if rank < r.spec.From || rank > to {
			continue
		}
		kept = append(kept, row)
		if ranks != nil {
			ranks[0].AppendInt(rank)
		}
	}
	out := newOutput(r.ctx.Out, fields)
	err := r.rows.give(&out, kept, ranks)
	r.rows = collected{}
	return err
}

// last gives the last rank of the key whose first row is given.
func (r *BatchRank) last(row int32) int64 {
	if r.spec.ToColumn < 0 {
		return r.spec.To
	}
	c := r.rows.cols[r.spec.ToColumn]
	if c.Null(row) {
		return 0
	}
	return c.Int[row]
}
