package op

import (
	"slices"
	"time"

	"runnel/state"
	"runnel/types"
)

// Ranking is what a TopN does. Its rows are those of the input, with the rank (BIGINT) behind them if Numbered.
type Ranking struct {
	In           []types.Field
	Partition    []int
	Order        []SortKey
	From, To     int64 // the ranks to give, from 1, both inclusive
	ToColumn     int   // the column that holds To, read from the first row of each partition; -1 for none
	Numbered     bool
	Retract      bool  // the input may take rows back
	Key          []int // the input replaces the row of this key, by one that ranks no lower; nil: it does not
	UpdateBefore bool  // -U is wanted in front of +U
	TTL          time.Duration
}

// TopN keeps, per partition, the rows of the first ranks of an ordering (ROW_NUMBER), and gives the changes of the ranks
// From to To. Rows with equal sort keys rank by arrival. Over an input that takes rows back it keeps all rows, as the next
// may move up; else it keeps To of them.
//
// With the rank in the output, or From above 1, every rank whose row changes gives -U and +U, and the new last rank +I.
// Without, a row that is pushed out gives -D, then the new one +I, and a row that replaces that of its key gives -U and +U.
// The first rank alone, over an append-only input, is replaced by -U and +U.
type TopN struct {
	single
	spec    Ranking
	order   ordering
	keys    batchKeys
	rows    rowBytes
	table   *state.Table
	key     rowBytes // of Key
	invalid *Counter
	words   []uint64 // sort keys of the row
	was     []string // scratch of update
	out     output

	rowsOf func(*types.Batch) error
	markOf func(int64) error
}

// Values of a partition's record: the rows in their order, each with its bytes and those of its key; the number of
// arrivals; the last rank, if a column tells it.
const (
	topnRows = iota
	topnArrivals
	topnTo
)

const (
	topnRow = iota
	topnKey
)

// NewTopN makes the operator.
func NewTopN(spec Ranking) *TopN { return &TopN{spec: spec, order: spec.Order} }

// Open registers the state.
func (t *TopN) Open(ctx *Context) error {
	t.ctx = ctx
	t.keys = newBatchKeys(t.spec.In, t.spec.Partition, ctx.MaxParallelism)
	t.rows = newRowBytes(t.spec.In)
	t.key = newRowBytes(pick(t.spec.In, t.spec.Key))
	t.invalid = ctx.Counter("topn.invalidTopSize")
	d := state.Descriptor{Format: types.RowCodecVersion, Name: "rows", Key: keyColumns(t.spec.In, t.spec.Partition), Values: rowInfos(t.spec.In)}
	for _, k := range t.spec.Order {
		d.Bounds += sortKeyText(t.spec.In, k) + "; "
	}
	var err error
	t.table, err = ctx.State.Table(d, state.TableSpec{TTL: t.spec.TTL, Values: []state.Value{
		topnRows:     {Kind: state.Sorted, Elem: []state.Value{topnRow: {Kind: state.Bytes}, topnKey: {Kind: state.Bytes}}},
		topnArrivals: {},
		topnTo:       {},
	}})
	fields := t.spec.In
	if t.spec.Numbered {
		fields = append(fields[:len(fields):len(fields)], types.Field{Name: "rank", Type: types.Of(types.BigInt).Required()})
	}
	t.out = newOutput(ctx.Out, fields)
	t.rowsOf, t.markOf = t.apply, t.mark
	return err
}

func sortKeyText(fields []types.Field, k SortKey) string {
	s := fields[k.Column].Source()
	if k.Desc {
		s += " DESC"
	}
	if k.NullsLast {
		s += " NULLS LAST"
	}
	return s
}

// Process applies the rows one by one.
func (t *TopN) Process(_ int, b *types.Batch) error {
	if t.spec.TTL > 0 {
		t.ctx.State.StartBatch()
		t.table.Sweep(sweepRows)
	}
	if err := b.Segments(t.rowsOf, t.markOf); err != nil {
		return err
	}
	return t.out.flush()
}

func (t *TopN) mark(ms int64) error {
	t.out.mark(ms)
	return nil
}

func (t *TopN) apply(b *types.Batch) error {
	t.keys.encode(b)
	for k, i := range b.Live() {
		p := partition{m: t.table.Of(t.keys.group[k]), to: t.spec.To}
		p.rows = p.m.Collection(topnRows)
		t.words = t.order.words(t.words[:0], b.Cols, i)
		var err error
		switch retract := b.Kind(i).Retract(); {
		case t.spec.Key != nil && retract:
			// The row that replaces it follows, or has come: UpdateFast inputs never take a row away for good.
		case retract:
			if p.owner = p.m.Find(t.keys.at(k)); p.owner != 0 {
				t.limit(&p, b, i, false)
				err = t.remove(&p, t.rows.of(b, i))
			}
		default:
			var fresh bool
			p.owner, fresh = p.m.Upsert(t.keys.at(k))
			t.limit(&p, b, i, fresh)
			if t.spec.Key != nil {
				err = t.update(&p, t.rows.of(b, i), t.keyOf(b, i))
			} else if !t.outranked(&p) { // most rows are, and are not written down
				err = t.insert(&p, t.rows.of(b, i), "")
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// limit finds out the last rank of the partition, if a column tells it.
func (t *TopN) limit(p *partition, b *types.Batch, i int32, fresh bool) {
	if t.spec.ToColumn < 0 {
		return
	}
	c := b.Cols[t.spec.ToColumn]
	var to int64
	if !c.Null(i) {
		to = max(c.Int[i], 0)
	}
	if fresh {
		p.m.Touch(p.owner)[topnTo] = uint64(to)
	}
	if p.to = int64(p.m.Get(p.owner)[topnTo]); p.to != to {
		t.invalid.Add(1)
	}
}

// keyOf gives the bytes of the key by which rows replace each other.
func (t *TopN) keyOf(b *types.Batch, i int32) string {
	k := types.Batch{Cols: make([]*types.Column, len(t.spec.Key))}
	for n, c := range t.spec.Key {
		k.Cols[n] = b.Cols[c]
	}
	return t.key.of(&k, i)
}

// partition is the record of one partition while a row is applied.
type partition struct {
	m     *state.Map
	owner state.Ref
	rows  state.Collection
	to    int64 // the last rank
}

// row gives the bytes of a row.
func (p *partition) row(e state.Ref) string {
	s, _ := p.rows.Bytes(e, topnRow)
	return s
}

// at gives the row of a rank, 0 if there is none.
func (p *partition) at(rank int64) state.Ref {
	n := int64(p.rows.Len(p.owner))
	if rank > n {
		return 0
	}
	if rank > n/2 {
		e := p.rows.Last(p.owner)
		for ; n > rank; n-- {
			e = p.rows.Prev(e)
		}
		return e
	}
	e := p.rows.First(p.owner)
	for ; rank > 1; rank-- {
		e = p.rows.Next(e)
	}
	return e
}

// rankOf gives the rank of a row if it is at most to, else to+1.
func (p *partition) rankOf(e state.Ref) int64 {
	rank := int64(1)
	for x := p.rows.First(p.owner); x != e && rank <= p.to; x = p.rows.Next(x) {
		rank++
	}
	return rank
}

// insert adds a row, whose sort keys are in words.
func (t *TopN) insert(p *partition, row, key string) error {
	if t.outranked(p) {
		return nil
	}
	n := int64(p.rows.Len(p.owner))
	e := t.add(p, row, key)
	rank := p.rankOf(e)
	if rank > p.to {
		return nil
	}
	if err := t.entered(p, e, rank); err != nil {
		return err
	}
	if !t.spec.Retract && n >= p.to {
		p.rows.Remove(p.owner, p.rows.Last(p.owner))
	}
	return nil
}

// outranked reports whether the row whose sort keys are in words can never have a rank that is given: only one that is
// better than the last gets in; among equals the earlier stays.
func (t *TopN) outranked(p *partition) bool {
	n := int64(p.rows.Len(p.owner))
	return !t.spec.Retract && n >= p.to && (n == 0 || slices.Compare(t.words, sortWords(p.rows.Elem(p.rows.Last(p.owner)))) >= 0)
}

func (t *TopN) add(p *partition, row, key string) state.Ref {
	words := p.m.Touch(p.owner)
	words[topnArrivals]++
	t.words = append(t.words, words[topnArrivals])
	e, _ := p.rows.Add(p.owner, t.words)
	p.rows.PutBytes(e, topnRow, row)
	if t.spec.Key != nil {
		p.rows.PutBytes(e, topnKey, key)
	}
	return e
}

// sortWords are the words of an element without the number of its arrival.
func sortWords(elem []uint64) []uint64 { return elem[:len(elem)-1] }

// entered gives the changes that row e, now at the given rank, makes.
func (t *TopN) entered(p *partition, e state.Ref, rank int64) error {
	if !t.ranked() {
		pushed := p.at(p.to + 1) // the row that was the last one before
		if pushed == 0 {
			return t.give(types.Insert, p.row(e), rank)
		}
		before, after := types.Delete, types.Insert
		if t.spec.To == 1 && !t.spec.Retract {
			before, after = types.UpdateBefore, types.UpdateAfter
		}
		if err := t.give(before, p.row(pushed), p.to); err != nil {
			return err
		}
		return t.give(after, p.row(e), rank)
	}
	for now := e; rank <= p.to; rank++ {
		was := p.rows.Next(now) // the row that was at this rank
		if was == 0 {
			if rank < t.spec.From {
				return nil
			}
			return t.give(types.Insert, p.row(now), rank)
		}
		if err := t.replace(p.row(was), p.row(now), rank); err != nil {
			return err
		}
		now = was
	}
	return nil
}

// ranked reports whether ranks change one by one.
func (t *TopN) ranked() bool { return t.spec.Numbered || t.spec.From > 1 }

// update puts a row in the place of that with the same key.
func (t *TopN) update(p *partition, row, key string) error {
	old, was := p.rows.First(p.owner), int64(1)
	for ; old != 0; old = p.rows.Next(old) {
		if s, _ := p.rows.Bytes(old, topnKey); s == key {
			break
		}
		was++
	}
	if old == 0 {
		return t.insert(p, row, key)
	}
	before := p.row(old)
	t.was = t.was[:0]
	if t.ranked() {
		for e := p.rows.First(p.owner); e != 0; e = p.rows.Next(e) {
			t.was = append(t.was, p.row(e))
		}
	}
	p.rows.Remove(p.owner, old)
	e := t.add(p, row, key)
	if !t.ranked() {
		return t.replace(before, p.row(e), was)
	}
	now := p.rankOf(e)
	at := p.at(min(was, now))
	for rank := min(was, now); rank <= max(was, now) && rank <= p.to; rank++ {
		if err := t.replace(t.was[rank-1], p.row(at), rank); err != nil {
			return err
		}
		at = p.rows.Next(at)
	}
	return nil
}

// remove takes a row out, whose sort keys are in words. A row that is not there is ignored: it has expired.
func (t *TopN) remove(p *partition, row string) error {
	e := p.rows.Seek(p.owner, t.words)
	for ; e != 0; e = p.rows.Next(e) {
		if !slices.Equal(sortWords(p.rows.Elem(e)), t.words) {
			return nil
		}
		if p.row(e) == row {
			break
		}
	}
	if e == 0 {
		return nil
	}
	if err := t.leaves(p, e, p.rankOf(e)); err != nil {
		return err
	}
	p.rows.Remove(p.owner, e)
	p.m.Touch(p.owner)
	if p.rows.Len(p.owner) == 0 {
		p.m.Delete(p.owner)
	}
	return nil
}

// leaves gives the changes that the loss of row e at the given rank makes.
func (t *TopN) leaves(p *partition, e state.Ref, rank int64) error {
	if rank > p.to {
		return nil
	}
	if !t.ranked() {
		promoted := p.at(p.to + 1)
		if err := t.give(types.Delete, p.row(e), rank); err != nil || promoted == 0 {
			return err
		}
		return t.give(types.Insert, p.row(promoted), p.to)
	}
	for was := e; rank <= p.to; rank++ {
		now := p.rows.Next(was)
		if now == 0 {
			if rank < t.spec.From {
				return nil
			}
			return t.give(types.Delete, p.row(was), rank)
		}
		if err := t.replace(p.row(was), p.row(now), rank); err != nil {
			return err
		}
		was = now
	}
	return nil
}

// replace gives a rank's row in place of another, if the rank is one to give.
func (t *TopN) replace(was, now string, rank int64) error {
	if rank < t.spec.From {
		return nil
	}
	if err := t.give(types.UpdateBefore, was, rank); err != nil {
		return err
	}
	return t.give(types.UpdateAfter, now, rank)
}

// give puts a row out.
func (t *TopN) give(kind types.RowKind, row string, rank int64) error {
	if kind == types.UpdateBefore && !t.spec.UpdateBefore {
		return nil
	}
	n := len(t.spec.In)
	if err := t.rows.decode(row, t.out.Cols[:n]); err != nil {
		return err
	}
	if t.spec.Numbered {
		t.out.Cols[n].AppendInt(rank)
	}
	return t.out.pushed(kind)
}
