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
	Numbered     bool
	Retract      bool // the input may take rows back
	UpdateBefore bool // -U is wanted in front of +U
	TTL          time.Duration
}

// TopN keeps, per partition, the rows of the first ranks of an ordering (ROW_NUMBER), and gives the changes of the ranks
// From to To. Rows with equal keys rank by arrival. Over an append-only input it keeps To rows; over one that takes rows
// back it keeps all, as the next may move up.
//
// With the rank in the output, or From above 1, every rank whose row changes gives -U and +U, and the new last rank +I.
// Without, a row that is pushed out gives -D, then the new one +I. The first rank alone, over an append-only input, is
// replaced by -U and +U.
type TopN struct {
	single
	spec  Ranking
	order ordering
	keys  batchKeys
	rows  rowBytes
	table *state.Table
	words []uint64 // sort keys and number of arrival
	out   output
	full  int // physical rows after which the output goes

	rowsOf func(*types.Batch) error
	markOf func(int64) error
}

// Values of a partition's record: the rows in their order (each with its bytes), and the number of arrivals.
const (
	topnRows = iota
	topnArrivals
)

// NewTopN makes the operator.
func NewTopN(spec Ranking) *TopN { return &TopN{spec: spec, order: spec.Order} }

// Open registers the state.
func (t *TopN) Open(ctx *Context) error {
	t.ctx = ctx
	t.keys = newBatchKeys(t.spec.In, t.spec.Partition, ctx.MaxParallelism)
	t.rows = newRowBytes(t.spec.In)
	d := state.Descriptor{Format: types.RowCodecVersion, Name: "rows", Key: keyColumns(t.spec.In, t.spec.Partition)}
	for _, f := range t.spec.In {
		d.Values = append(d.Values, state.ValueInfo{Call: f.Name, Type: f.Type.Plain().String(), Codec: types.RowCodecVersion})
	}
	for _, k := range t.spec.Order {
		d.Bounds += sortKeyText(t.spec.In, k) + "; "
	}
	var err error
	t.table, err = ctx.State.Table(d, state.TableSpec{TTL: t.spec.TTL, Values: []state.Value{
		topnRows:     {Kind: state.Sorted, Elem: []state.Value{{Kind: state.Bytes}}},
		topnArrivals: {},
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
	s := fields[k.Column].Name
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
		p := partition{m: t.table.Of(t.keys.group[k])}
		p.rows = p.m.Collection(topnRows)
		t.words = t.order.words(t.words[:0], b.Cols, i)
		var err error
		if b.Kind(i).Retract() {
			if p.owner = p.m.Find(t.keys.at(k)); p.owner != 0 {
				err = t.remove(&p, t.rows.of(b, i))
			}
		} else {
			p.owner, _ = p.m.Upsert(t.keys.at(k))
			err = t.insert(&p, t.rows.of(b, i))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// partition is the record of one partition while a row is applied.
type partition struct {
	m     *state.Map
	owner state.Ref
	rows  state.Collection
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

// rankUpTo gives the rank of a row if it is at most to, else to+1.
func (p *partition) rankUpTo(e state.Ref, to int64) int64 {
	rank := int64(1)
	for x := p.rows.First(p.owner); x != e && rank <= to; x = p.rows.Next(x) {
		rank++
	}
	return rank
}

// insert adds a row, whose sort keys are in words.
func (t *TopN) insert(p *partition, row string) error {
	if !t.spec.Retract && int64(p.rows.Len(p.owner)) >= t.spec.To {
		// Only a row that is better than the last one gets in; among equals the earlier stays.
		if slices.Compare(t.words, sortWords(p.rows.Elem(p.rows.Last(p.owner)))) >= 0 {
			return nil
		}
	}
	words := p.m.Touch(p.owner)
	words[topnArrivals]++
	e, _ := p.rows.Add(p.owner, append(t.words, words[topnArrivals]))
	p.rows.PutBytes(e, 0, row)
	rank := p.rankUpTo(e, t.spec.To)
	if rank > t.spec.To {
		return nil
	}
	if err := t.entered(p, e, rank); err != nil {
		return err
	}
	if last := p.rows.Last(p.owner); !t.spec.Retract && int64(p.rows.Len(p.owner)) > t.spec.To {
		p.rows.Remove(p.owner, last)
	}
	return nil
}

// sortWords are the words of an element without the number of its arrival.
func sortWords(elem []uint64) []uint64 { return elem[:len(elem)-1] }

// entered gives the changes that row e, now at the given rank, makes.
func (t *TopN) entered(p *partition, e state.Ref, rank int64) error {
	pushed := p.at(t.spec.To + 1) // the row that was the last one before
	if !t.ranked() {
		if pushed == 0 {
			return t.give(p, types.Insert, e, rank)
		}
		before, after := types.Delete, types.Insert
		if t.spec.To == 1 && !t.spec.Retract {
			before, after = types.UpdateBefore, types.UpdateAfter
		}
		if err := t.give(p, before, pushed, t.spec.To); err != nil {
			return err
		}
		return t.give(p, after, e, rank)
	}
	for now := e; rank <= t.spec.To; rank++ {
		was := p.rows.Next(now) // the row that was at this rank
		if rank >= t.spec.From {
			if was == 0 {
				return t.give(p, types.Insert, now, rank)
			}
			if err := t.replace(p, was, now, rank); err != nil {
				return err
			}
		} else if was == 0 {
			return nil
		}
		now = was
	}
	return nil
}

// ranked reports whether ranks change one by one.
func (t *TopN) ranked() bool { return t.spec.Numbered || t.spec.From > 1 }

// remove takes a row out, whose sort keys are in words. A row that is not there is ignored: it has expired.
func (t *TopN) remove(p *partition, row string) error {
	e := p.rows.Seek(p.owner, t.words)
	for ; e != 0; e = p.rows.Next(e) {
		if !slices.Equal(sortWords(p.rows.Elem(e)), t.words) {
			return nil
		}
		if s, _ := p.rows.Bytes(e, 0); s == row {
			break
		}
	}
	if e == 0 {
		return nil
	}
	rank := p.rankUpTo(e, t.spec.To)
	if err := t.leaves(p, e, rank); err != nil {
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
	if rank > t.spec.To {
		return nil
	}
	if !t.ranked() {
		promoted := p.at(t.spec.To + 1)
		if err := t.give(p, types.Delete, e, rank); err != nil || promoted == 0 {
			return err
		}
		return t.give(p, types.Insert, promoted, t.spec.To)
	}
	for was := e; rank <= t.spec.To; rank++ {
		now := p.rows.Next(was)
		if rank >= t.spec.From {
			if now == 0 {
				return t.give(p, types.Delete, was, rank)
			}
			if err := t.replace(p, was, now, rank); err != nil {
				return err
			}
		} else if now == 0 {
			return nil
		}
		was = now
	}
	return nil
}

// replace gives a rank's row in place of another.
func (t *TopN) replace(p *partition, was, now state.Ref, rank int64) error {
	if err := t.give(p, types.UpdateBefore, was, rank); err != nil {
		return err
	}
	return t.give(p, types.UpdateAfter, now, rank)
}

// give puts a row out.
func (t *TopN) give(p *partition, kind types.RowKind, e state.Ref, rank int64) error {
	if kind == types.UpdateBefore && !t.spec.UpdateBefore {
		return nil
	}
	s, _ := p.rows.Bytes(e, 0)
	n := len(t.spec.In)
	if err := t.rows.decode(s, t.out.Cols[:n]); err != nil {
		return err
	}
	if t.spec.Numbered {
		t.out.Cols[n].AppendInt(rank)
	}
	return t.out.pushed(kind)
}
