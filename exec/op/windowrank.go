package op

import (
	"slices"

	"runnel/state"
	"runnel/types"
)

// WindowRanking is what a WindowRank does: rows carry their window in columns. Its own rows are those of the input, with
// the rank (BIGINT) behind them if Numbered.
type WindowRanking struct {
	In       []types.Field
	StartCol int
	EndCol   int
	Keys     []int // without the window's columns
	Zoned    bool  // the window's columns show the wall clock of the session's zone
	Order    []SortKey
	From, To int64 // ranks, from 1, both inclusive
	Numbered bool
	// LastOfEqual: among rows with equal sort keys the latest ranks first (keep-last deduplication).
	LastOfEqual bool
}

// WindowRank gives the rows of the ranks From to To of each window and key, all at once when the watermark passes the
// window's end. Rows of a window that has passed are dropped and counted (numLateRecordsDropped).
type WindowRank struct {
	timed
	spec    WindowRanking
	order   ordering
	wall    wall
	keys    batchKeys
	rows    rowBytes
	windows *state.Slices // by end on the wall clock
	late    *Counter
	words   []uint64
	out     output

	rowsOf func(*types.Batch) error
	markOf func(int64) error
}

// NewWindowRank makes the operator.
func NewWindowRank(spec WindowRanking) *WindowRank {
	return &WindowRank{timed: timed{clock: NewClock(1)}, spec: spec, order: spec.Order}
}

// Open registers the state.
func (w *WindowRank) Open(ctx *Context) error {
	w.ctx = ctx
	if w.spec.Zoned {
		w.wall = newWall(ctx.Env.Zone)
	}
	w.keys = newOwnedKeys(w.spec.In, w.spec.Keys, ctx.MaxParallelism, w.spec.StartCol)
	w.rows = newRowBytes(w.spec.In)
	w.late = ctx.Counter("numLateRecordsDropped")
	fields := w.spec.In
	if w.spec.Numbered {
		fields = append(fields[:len(fields):len(fields)], types.Field{Name: "rank", Type: types.Of(types.BigInt).Required()})
	}
	w.out = newOutput(ctx.Out, fields)
	w.rowsOf, w.markOf = w.apply, w.advance
	d := state.Descriptor{Format: types.RowCodecVersion, Name: "rows", Key: keyColumns(w.spec.In, w.keys.cols), Values: rowInfos(w.spec.In)}
	for _, k := range w.spec.Order {
		d.Bounds += sortKeyText(w.spec.In, k) + "; "
	}
	if w.wall.loc != nil {
		d.Zone = w.wall.loc.String()
	}
	var err error
	w.windows, err = ctx.State.Slices(d, state.SlicesSpec{Values: []state.Value{
		topnRows:     {Kind: state.Sorted, Elem: []state.Value{{Kind: state.Bytes}}},
		topnArrivals: {},
	}})
	return err
}

// Process keeps rows that may be among the first of their window.
func (w *WindowRank) Process(_ int, b *types.Batch) error {
	if err := b.Segments(w.rowsOf, w.markOf); err != nil {
		return err
	}
	return w.out.flush()
}

func (w *WindowRank) apply(b *types.Batch) error {
	w.keys.encode(b)
	ends := b.Cols[w.spec.EndCol]
	for k, i := range b.Live() {
		end := millis(ends, i)
		if w.wall.timer(end-1) <= w.clock.Now() {
			w.late.Add(1)
			continue
		}
		w.insert(w.windows.Open(end), k, b, i)
	}
	return nil
}

func (w *WindowRank) insert(m *state.Map, k int, b *types.Batch, i int32) {
	owner, _ := m.Upsert(w.keys.at(k))
	rows := m.Collection(topnRows)
	w.words = w.order.words(w.words[:0], b.Cols, i)
	full := int64(rows.Len(owner)) >= w.spec.To
	if full {
		c := slices.Compare(w.words, sortWords(rows.Elem(rows.Last(owner))))
		if c > 0 || c == 0 && !w.spec.LastOfEqual {
			return
		}
	}
	values := m.Touch(owner)
	values[topnArrivals]++
	n := values[topnArrivals]
	if w.spec.LastOfEqual {
		n = ^n
	}
	w.words = append(w.words, n)
	e, _ := rows.Add(owner, w.words)
	rows.PutBytes(e, 0, w.rows.of(b, i))
	if full {
		rows.Remove(owner, rows.Last(owner))
	}
}

// Watermark gives the rows of windows.
func (w *WindowRank) Watermark(_ int, ms int64) error {
	if err := w.advance(ms); err != nil {
		return err
	}
	return w.out.flush()
}

// Idle passes idleness on.
func (w *WindowRank) Idle(_ int, idle bool) error {
	w.clock.Idle(0, idle)
	return w.ctx.Out.Idle(idle)
}

func (w *WindowRank) advance(ms int64) error {
	if !w.clock.Watermark(0, ms) {
		return nil
	}
	for t := w.windows.Times(); len(t) > 0 && w.wall.timer(t[0]-1) <= ms; t = w.windows.Times() {
		if err := w.fire(w.windows.Of(t[0])); err != nil {
			return err
		}
		w.windows.Drop(t[0])
	}
	w.out.mark(ms)
	return nil
}

func (w *WindowRank) fire(m *state.Map) error {
	rows := m.Collection(topnRows)
	n := len(w.spec.In)
	for owner := m.First(); owner != 0; owner = m.Next(owner) {
		rank := int64(0)
		for e := rows.First(owner); e != 0; e = rows.Next(e) {
			if rank++; rank < w.spec.From {
				continue
			}
			row, _ := rows.Bytes(e, 0)
			if err := w.rows.decode(row, w.out.Cols[:n]); err != nil {
				return err
			}
			if w.spec.Numbered {
				w.out.Cols[n].AppendInt(rank)
			}
			if err := w.out.pushed(types.Insert); err != nil {
				return err
			}
		}
	}
	return nil
}
