package op

import (
	"math"

	"runnel/expr"
	"runnel/types"
)

// BatchOvering is what a BatchOver does. Its rows are those of the input with the functions behind them.
type BatchOvering struct {
	In, Out []types.Field
	Keys    []int
	Order   []SortKey
	Rows    bool // the frame counts rows, else by the distance of the order's column
	// Before and After are how far the frame reaches: rows, or ms of a time; -1 for all. For an order by a number BeforeBy
	// and AfterBy tell, and these are 0 or 1 with them.
	Before, After     int64
	BeforeBy, AfterBy Distance
	// Ahead: the frame begins behind the current row, by Before. Short: it ends in front of it, by After.
	Ahead, Short bool
	Aggs         []expr.AggCall
}

// Distance is how far numbers may lie apart: Unscaled * 10^-Scale, not negative.
type Distance struct {
	Unscaled types.Int128
	Scale    int
}

// BatchOver computes window functions over a bounded input when it ends: all of SQL's, over any order and frame. It gives
// the rows in the order of keys and sort keys. Rows are sorted on disk where they do not fit into memory, and so are those
// of one key that do not, while they are worked on. What stays in memory are the accumulators of one key: those of a frame
// whose rows leave again may have to hold its values, and a key for which they do not fit is refused.
type BatchOver struct {
	single
	spec   BatchOvering
	keys   ordering
	sorted *sorter
	rows   collected // a part of the order, in memory
	start  int       // where the last key of rows begins
	space  *spillSpace
	codec  *types.RowCodec
	run    *rowRun      // the first rows of the last key, which did not fit into memory; nil for none
	last   *types.Batch // one row of that key
	frames *overFrames
}

// overPart is the number of rows from which on the keys that are complete are worked on.
const overPart = 4 * types.BatchRows

// NewBatchOver makes the operator.
func NewBatchOver(spec BatchOvering) *BatchOver { return &BatchOver{spec: spec} }

// Open compiles the aggregates.
func (o *BatchOver) Open(ctx *Context) error {
	o.ctx = ctx
	o.keys = keyOrder(o.spec.Keys)
	o.rows, o.last = newCollected(o.spec.In), types.NewBatch(o.spec.In)
	// Rows are in two places at once, in order and as those of a key, so each may have half of the memory.
	o.sorted = newSorter(ctx, o.spec.In, append(keyOrder(o.spec.Keys), o.spec.Order...), math.MaxInt64)
	o.sorted.space.Memory /= 2
	o.space, o.codec = newSpillSpace(ctx), newRunCodec(o.spec.In)
	o.space.Memory /= 2
	var err error
	o.frames, err = newOverFrames(ctx, &o.spec, o.space)
	return err
}

// Process keeps the rows.
func (o *BatchOver) Process(_ int, b *types.Batch) error { return o.sorted.add(b) }

// Close removes what is on disk.
func (o *BatchOver) Close() error {
	err := o.sorted.close()
	if e := o.space.close(); err == nil {
		err = e
	}
	return err
}

// EndInput computes and gives the rows.
func (o *BatchOver) EndInput(int) error {
	if err := o.sorted.each(o.take); err != nil {
		return err
	}
	o.sorted.rows = collected{}
	if err := o.spilled(); err != nil {
		return err
	}
	if err := o.work(o.rows.n); err != nil {
		return err
	}
	return o.frames.out.flush()
}

// take takes the next rows of the order, and works on keys that are complete.
func (o *BatchOver) take(b *types.Batch) error {
	if o.run != nil {
		n := int32(0)
		for ; int(n) < b.Len && o.keys.compare(o.last.Cols, 0, b.Cols, n) == 0; n++ {
			if err := o.run.add(b.Cols, n); err != nil {
				return err
			}
		}
		if int(n) == b.Len {
			return nil
		}
		if err := o.spilled(); err != nil {
			return err
		}
		b.Sel = types.All(b.Len)[n:]
		defer func() { b.Sel = nil }()
	}
	from := o.rows.n
	o.rows.add(b)
	for i := max(from, 1); i < o.rows.n; i++ {
		if o.keys.compare(o.rows.cols, int32(i-1), o.rows.cols, int32(i)) != 0 {
			o.start = i
		}
	}
	full := o.space.over(o.rows.memory())
	if o.start >= overPart || full && o.start > 0 {
		if err := o.work(o.start); err != nil {
			return err
		}
		full = o.space.over(o.rows.memory())
	}
	if !full {
		return nil
	}
	return o.spill()
}

// work computes the functions for the first n rows, whose keys are complete, and gives them.
func (o *BatchOver) work(n int) error {
	for from := 0; from < n; {
		to := from + 1
		for to < n && o.keys.compare(o.rows.cols, int32(from), o.rows.cols, int32(to)) == 0 {
			to++
		}
		if err := o.frames.give(&overKey{n: to - from, cols: o.rows.cols, from: from, all: o.rows.n}); err != nil {
			return err
		}
		from = to
	}
	rest := newCollected(o.spec.In)
	rest.add(&types.Batch{Len: o.rows.n, Cols: o.rows.cols, Sel: types.All(o.rows.n)[n:]})
	o.rows, o.start = rest, 0
	return nil
}

// spill moves the rows in memory, which have one key, to a run that takes what is to come of the key.
func (o *BatchOver) spill() error {
	o.run = o.space.newRun(o.codec)
	for i := range int32(o.rows.n) {
		if err := o.run.add(o.rows.cols, i); err != nil {
			return err
		}
	}
	o.last.Reset()
	o.last.AppendRow(&types.Batch{Len: o.rows.n, Cols: o.rows.cols}, 0, types.Insert)
	o.rows, o.start = newCollected(o.spec.In), 0
	return nil
}

// spilled computes and gives the rows of the key that did not fit into memory, if there is one.
func (o *BatchOver) spilled() error {
	if o.run == nil {
		return nil
	}
	run := o.run
	o.run = nil
	if err := run.finish(); err != nil {
		return err
	}
	if err := o.frames.give(&overKey{n: run.rows, run: run}); err != nil {
		return err
	}
	run.drop()
	return nil
}

// keyOrder orders rows by key columns.
func keyOrder(keys []int) ordering {
	o := make(ordering, len(keys))
	for i, k := range keys {
		o[i].Column = k
	}
	return o
}
