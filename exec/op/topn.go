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
// The first rank alone, over an append-only input, is replaced by -U and +U, see topFirst.
type TopN struct {
	single
	spec    Ranking
	order   ordering
	keys    batchKeys
	rows    rowBytes
	table   *state.Table
	key     rowBytes // of Key
	invalid *Counter
	words   []uint64    // sort keys of the row
	was     []rankedRow // scratch of update
	out     rankedRows
	stable  bool // records of partitions stay where they are
	block   topnBlock
	first   *topFirst // nil if more than the first rank is to be kept

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
func NewTopN(spec Ranking) *TopN {
	return &TopN{spec: spec, order: spec.Order, first: newTopFirst(spec)}
}

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
	t.out = newRankedRows(ctx.Out, t.spec.In, t.spec.Numbered)
	t.stable = !t.spec.Retract && t.spec.TTL == 0
	t.rowsOf, t.markOf = t.apply, t.mark
	values := t.values()
	if t.first != nil {
		t.rowsOf, values = t.applyFirst, t.first.values()
		t.out.rows.codec.Share = false // the room of the row is used again
	}
	var err error
	t.table, err = ctx.State.Table(d, state.TableSpec{TTL: t.spec.TTL, Values: values})
	return err
}

// values gives the form of the records of partitions.
func (t *TopN) values() []state.Value {
	elem := []state.Value{topnRow: {Kind: state.Bytes}}
	if t.spec.Key != nil {
		elem = append(elem, state.Value{Kind: state.Bytes}) // topnKey
	}
	return []state.Value{
		topnRows:     {Kind: state.Sorted, Elem: elem, Short: t.short()},
		topnArrivals: {},
		topnTo:       {},
	}
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

// topnShort is the greatest last rank up to which the rows of a partition are found by walking through them.
const topnShort = 100

// short reports whether partitions have few rows.
func (t *TopN) short() bool { return !t.spec.Retract && t.spec.ToColumn < 0 && t.spec.To <= topnShort }

// topnBlock is a block of rows on their way to their partitions, which are looked up together.
type topnBlock struct {
	keyBlock
	words []uint64           // sort keys of all rows
	from  [runRows + 1]int32 // where those of a row begin
}

func (t *TopN) apply(b *types.Batch) error {
	t.keys.encode(b)
	live := b.Live()
	for at := 0; at < len(live); at += runRows {
		rows := live[at:min(at+runRows, len(live))]
		t.lookUp(b, rows, at)
		for k, i := range rows {
			t.words = append(t.words[:0], t.block.words[t.block.from[k]:t.block.from[k+1]]...)
			if err := t.applyRow(b, k, at+k, i); err != nil {
				return err
			}
		}
	}
	return nil
}

// lookUp finds the partitions of a block of rows, the first of which is the at-th live one, and their sort keys.
func (t *TopN) lookUp(b *types.Batch, rows []int32, at int) {
	x, n := &t.block, len(rows)
	x.keyBlock.lookUp(t.table, &t.keys, at, at+n)
	x.words = x.words[:0]
	for k, i := range rows {
		x.words = t.order.words(x.words, b.Cols, i)
		x.from[k+1] = int32(len(x.words))
	}
	if t.stable && t.short() {
		x.find.WarmEnds(topnRows, x.maps[:n], x.refs[:n], x.words, x.from[:n+1])
	}
}

// applyRow applies a row: the k-th of the block, the live-th live one, and the i-th physical one of b.
func (t *TopN) applyRow(b *types.Batch, k, live int, i int32) error {
	p := partition{m: t.block.maps[k], to: t.spec.To}
	p.rows = p.m.Collection(topnRows)
	if b.Kind(i).Retract() {
		if t.spec.Key != nil {
			return nil // The row that replaces it follows, or has come: UpdateFast inputs never take a row away for good.
		}
		if p.owner = p.m.Find(t.keys.at(live)); p.owner == 0 {
			return nil
		}
		t.limit(&p, b, i, false)
		return t.remove(&p, t.rows.of(b, i))
	}
	fresh := false
	if p.owner = t.block.refs[k]; p.owner == 0 || !t.stable {
		p.owner, fresh = p.m.Upsert(t.keys.at(live))
	}
	t.limit(&p, b, i, fresh)
	if t.spec.Key != nil {
		return t.update(&p, b, i)
	}
	return t.insert(&p, b, i)
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

// rankOf gives the rank of a row if it is at most to, else one above.
func (t *TopN) rankOf(p *partition, e state.Ref) int64 {
	if t.short() { // the rows behind will be looked at anyway
		rank := int64(p.rows.Len(p.owner))
		for x := p.rows.Next(e); x != 0; x = p.rows.Next(x) {
			rank--
		}
		return rank
	}
	rank := int64(1)
	for x := p.rows.First(p.owner); x != e && rank <= p.to; x = p.rows.Next(x) {
		rank++
	}
	return rank
}

// insert adds a row, whose sort keys are in words.
func (t *TopN) insert(p *partition, b *types.Batch, i int32) error {
	if t.outranked(p) {
		return nil // most rows are, and are not written down
	}
	n := int64(p.rows.Len(p.owner))
	e := t.add(p, b, i)
	rank := t.rankOf(p, e)
	if rank > p.to {
		return nil
	}
	row := t.out.take(b, i)
	row.bytes = p.row(e)
	if err := t.entered(p, e, row, rank); err != nil {
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
	return !t.spec.Retract && n >= p.to && (n == 0 || state.CompareWords(t.words, sortWords(p.rows.Elem(p.rows.Last(p.owner)))) >= 0)
}

func (t *TopN) add(p *partition, b *types.Batch, i int32) state.Ref {
	words := p.m.Touch(p.owner)
	words[topnArrivals]++
	t.words = append(t.words, words[topnArrivals])
	e, _ := p.rows.Add(p.owner, t.words)
	p.rows.PutBytes(e, topnRow, t.rows.of(b, i))
	if t.spec.Key != nil {
		p.rows.PutBytes(e, topnKey, t.keyOf(b, i))
	}
	return e
}

// sortWords are the words of an element without the number of its arrival.
func sortWords(elem []uint64) []uint64 { return elem[:len(elem)-1] }

// entered gives the changes that row e, now at the given rank, makes.
func (t *TopN) entered(p *partition, e state.Ref, row rankedRow, rank int64) error {
	if !t.ranked() {
		pushed := p.at(p.to + 1) // the row that was the last one before
		if pushed == 0 {
			return t.give(types.Insert, &row, rank)
		}
		before, after := types.Delete, types.Insert
		if t.spec.To == 1 && !t.spec.Retract {
			before, after = types.UpdateBefore, types.UpdateAfter
		}
		if err := t.give(before, &rankedRow{bytes: p.row(pushed)}, p.to); err != nil {
			return err
		}
		return t.give(after, &row, rank)
	}
	for now := e; rank <= p.to; rank++ {
		was := p.rows.Next(now) // the row that was at this rank
		if was == 0 {
			if rank < t.spec.From {
				return nil
			}
			return t.give(types.Insert, &row, rank)
		}
		wasRow := rankedRow{bytes: p.row(was)}
		if err := t.replace(&wasRow, &row, rank); err != nil {
			return err
		}
		now, row = was, wasRow
	}
	return nil
}

// ranked reports whether ranks change one by one.
func (t *TopN) ranked() bool { return t.spec.Numbered || t.spec.From > 1 }

// update puts a row in the place of that with the same key.
func (t *TopN) update(p *partition, b *types.Batch, i int32) error {
	key := t.keyOf(b, i)
	old, was := p.rows.First(p.owner), int64(1)
	for ; old != 0; old = p.rows.Next(old) {
		if s, _ := p.rows.Bytes(old, topnKey); s == key {
			break
		}
		was++
	}
	if old == 0 {
		return t.insert(p, b, i)
	}
	before := rankedRow{bytes: p.row(old)}
	t.was = t.was[:0]
	if t.ranked() {
		for e := p.rows.First(p.owner); e != 0; e = p.rows.Next(e) {
			t.was = append(t.was, rankedRow{bytes: p.row(e)})
		}
	}
	p.rows.Remove(p.owner, old)
	e := t.add(p, b, i)
	if !t.ranked() {
		after := t.out.take(b, i)
		after.bytes = p.row(e)
		return t.replace(&before, &after, was)
	}
	now := t.rankOf(p, e)
	at := p.at(min(was, now))
	for rank := min(was, now); rank <= max(was, now) && rank <= p.to; rank++ {
		if err := t.replace(&t.was[rank-1], &rankedRow{bytes: p.row(at)}, rank); err != nil {
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
	if err := t.leaves(p, e, t.rankOf(p, e)); err != nil {
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
	row := rankedRow{bytes: p.row(e)}
	if !t.ranked() {
		promoted := p.at(p.to + 1)
		if err := t.give(types.Delete, &row, rank); err != nil || promoted == 0 {
			return err
		}
		return t.give(types.Insert, &rankedRow{bytes: p.row(promoted)}, p.to)
	}
	for was := e; rank <= p.to; rank++ {
		now := p.rows.Next(was)
		if now == 0 {
			if rank < t.spec.From {
				return nil
			}
			return t.give(types.Delete, &row, rank)
		}
		nowRow := rankedRow{bytes: p.row(now)}
		if err := t.replace(&row, &nowRow, rank); err != nil {
			return err
		}
		was, row = now, nowRow
	}
	return nil
}

// replace gives a rank's row in place of another, if the rank is one to give.
func (t *TopN) replace(was, now *rankedRow, rank int64) error {
	if rank < t.spec.From {
		return nil
	}
	if err := t.give(types.UpdateBefore, was, rank); err != nil {
		return err
	}
	return t.give(types.UpdateAfter, now, rank)
}

// give puts a row out.
func (t *TopN) give(kind types.RowKind, row *rankedRow, rank int64) error {
	if kind == types.UpdateBefore && !t.spec.UpdateBefore {
		return nil
	}
	return t.out.give(kind, row, rank)
}
