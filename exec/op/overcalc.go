package op

import (
	"errors"
	"slices"

	"runnel/expr"
	"runnel/state"
	"runnel/types"
)

// overCalc computes the functions of an Over for rows in their order. It keeps, per key, the accumulators and the rows
// that a bounded frame or a LAG reaches back to.
type overCalc struct {
	spec  *Overing
	aggs  *aggregates
	plain []int // positions in Aggs of the ordinary aggregates
	nums  []overNumber
	lags  []overLag
	table *state.Table
	base  int             // the first value of a record that is not the aggregates'
	vals  []*types.Column // the ordinary aggregates among the output columns
	kept  []int           // the columns of rows that are kept
	rows  rowBytes        // of these
	part  types.Batch     // scratch: these columns
	one   *types.Batch    // scratch: one row; only these columns have values
	time  []uint64        // scratch
}

// overNumber is a ROW_NUMBER, RANK or DENSE_RANK.
type overNumber struct {
	at   int // position in Aggs
	word int // of the three below
}

// overLag is a LAG.
type overLag struct {
	at      int
	arg     int
	offset  int // a column, -1 for 1
	missing int // a column with the value where there is no row, -1 for NULL
}

// Own values of a record, behind those of the aggregates: the rows of the frame, or those that LAG reaches back to, in their
// order; rows so far; the number of the first row of the current time; the number of different times; the last of them; how
// many rows LAG reaches back; rows that wait for their time, where somebody has to know; the time at which the record goes.
const (
	overFrame = iota
	overCount
	overRank
	overDense
	overTime
	overDepth
	overWaiting
	overClean
	overValues
)

func newOverCalc(ctx *Context, spec *Overing) (*overCalc, error) {
	c := &overCalc{spec: spec, one: types.NewBatch(spec.In)}
	var calls []expr.AggCall
	for i, a := range spec.Aggs {
		switch a.Func.Name {
		case "ROW_NUMBER":
			c.nums = append(c.nums, overNumber{i, overCount})
		case "RANK":
			c.nums = append(c.nums, overNumber{i, overRank})
		case "DENSE_RANK":
			c.nums = append(c.nums, overNumber{i, overDense})
		case "LAG":
			l := overLag{at: i, arg: a.Args[0], offset: -1, missing: -1}
			if len(a.Args) > 1 {
				l.offset = a.Args[1]
			}
			if len(a.Args) > 2 {
				l.missing = a.Args[2]
			}
			c.lags = append(c.lags, l)
			c.kept = append(c.kept, l.arg)
		default:
			c.plain = append(c.plain, i)
			calls = append(calls, a)
			c.kept = append(c.kept, a.Args...)
			if a.Filter >= 0 {
				c.kept = append(c.kept, a.Filter)
			}
		}
	}
	if len(c.lags) > 0 && spec.Before >= 0 {
		return nil, errors.New("LAG over a bounded window is not supported")
	}
	slices.Sort(c.kept)
	c.kept = slices.Compact(c.kept)
	c.rows = newRowBytes(pick(spec.In, c.kept))
	var err error
	if c.aggs, err = newAggregates(calls, spec.In, spec.Before >= 0, ctx.Env); err != nil {
		return nil, err
	}
	c.base = len(c.aggs.values)
	values := append(c.aggs.values[:c.base:c.base], make([]state.Value, overValues)...)
	values[c.base+overFrame] = state.Value{Kind: state.List, Short: true, Elem: []state.Value{{Kind: state.Bytes}}}
	c.aggs.st.slots = make([]elems, len(values))
	d := state.Descriptor{
		Format: types.RowCodecVersion, Name: "accumulators", Key: keyColumns(spec.In, spec.Keys), Values: c.aggs.infos(), Bounds: spec.text(),
	}
	c.table, err = ctx.State.Table(d, state.TableSpec{Values: values})
	return c, err
}

// record gives the record of a key, 0 if there is none.
func (c *overCalc) record(key state.Key) (*state.Map, state.Ref) {
	m := c.table.Of(key.Group)
	return m, m.Find(key)
}

// given reports whether a row of time t or later was given out for the key of a record.
func (c *overCalc) given(m *state.Map, r state.Ref, t int64) bool {
	if r == 0 {
		return false
	}
	own := m.Get(r)[c.base:]
	return own[overCount] > 0 && t <= int64(own[overTime])
}

// begin makes ready for the rows of b.
func (c *overCalc) begin(b *types.Batch, keys *batchKeys) {
	c.aggs.begin(b)
	c.table.Stage(keys.Hash, keys.group)
}

// group gives rows of one key and time, by their places among the live ones of b, in order of arrival.
func (c *overCalc) group(key state.Key, b *types.Batch, rows []int32, t int64, out *output) error {
	g := group{m: c.table.Of(key.Group)}
	g.ref, _ = g.m.Upsert(key)
	g.words = g.m.Touch(g.ref)
	own := g.words[c.base:]
	if own[overCount] == 0 || int64(own[overTime]) != t {
		own[overRank], own[overTime] = own[overCount]+1, uint64(t)
		own[overDense]++
	}
	own[overWaiting] -= min(own[overWaiting], uint64(len(rows)))
	if !c.spec.Rows && c.spec.Before >= 0 {
		if err := c.leave(&g, func(e state.Collection, x state.Ref) bool { return int64(e.Elem(x)[0]) < t-c.spec.Before }); err != nil {
			return err
		}
	}
	shared := !c.spec.Rows && len(rows) > 1
	if shared { // rows of one time have one result
		for _, k := range rows {
			if err := c.enter(&g, b, k, t); err != nil {
				return err
			}
		}
	}
	for _, k := range rows {
		if !shared {
			if err := c.enter(&g, b, k, t); err != nil {
				return err
			}
		}
		own[overCount]++
		if c.spec.Rows && c.spec.Before >= 0 {
			if err := c.leave(&g, func(e state.Collection, _ state.Ref) bool { return int64(e.Len(g.ref)) > c.spec.Before+1 }); err != nil {
				return err
			}
		}
		if err := c.give(&g, b, b.Row(int(k)), out); err != nil {
			return err
		}
	}
	return nil
}

// enter accumulates a row and keeps it as long as the frame reaches.
func (c *overCalc) enter(g *group, b *types.Batch, k int32, t int64) error {
	i := b.Row(int(k))
	if len(c.aggs.sets) > 0 && c.spec.Before >= 0 { // what has left has put its values in the place of those of b
		c.one.Reset()
		for _, n := range c.kept {
			c.one.Cols[n].AppendFrom(b.Cols[n], i)
		}
		c.one.Push(types.Insert)
		c.aggs.begin(c.one)
		if err := c.aggs.add(g, c.one, 0, 0); err != nil {
			return err
		}
	} else if err := c.aggs.add(g, b, int(k), i); err != nil {
		return err
	}
	if c.spec.Before >= 0 {
		c.remember(g, b, i, t)
	}
	return nil
}

// remember puts a row into the frame.
func (c *overCalc) remember(g *group, b *types.Batch, i int32, t int64) {
	frame := g.m.Collection(c.base + overFrame)
	c.time = append(c.time[:0], uint64(t))
	if c.spec.Rows || c.spec.Before < 0 {
		c.time = c.time[:0]
	}
	e, _ := frame.Add(g.ref, c.time)
	c.part.Cols = some(c.part.Cols[:0], b.Cols, c.kept)
	frame.PutBytes(e, 0, c.rows.of(&c.part, i))
}

// leave takes rows out of the frame, oldest first, as long as out says so.
func (c *overCalc) leave(g *group, out func(state.Collection, state.Ref) bool) error {
	frame := g.m.Collection(c.base + overFrame)
	for e := frame.First(g.ref); e != 0 && out(frame, e); e = frame.First(g.ref) {
		if err := c.load(frame, e); err != nil {
			return err
		}
		c.aggs.begin(c.one)
		if err := c.aggs.take(g, c.one, 0, 0); err != nil {
			return err
		}
		frame.Remove(g.ref, e)
	}
	return nil
}

// load makes c.one the batch of a row of the frame.
func (c *overCalc) load(frame state.Collection, e state.Ref) error {
	row, _ := frame.Bytes(e, 0)
	c.one.Reset()
	c.part.Cols = some(c.part.Cols[:0], c.one.Cols, c.kept)
	if err := c.rows.decode(row, c.part.Cols); err != nil {
		return err
	}
	c.one.Push(types.Insert)
	return nil
}

// give puts row i of b out with the results.
func (c *overCalc) give(g *group, b *types.Batch, i int32, out *output) error {
	n := len(c.spec.In)
	for j, col := range b.Cols {
		out.Cols[j].AppendFrom(col, i)
	}
	c.vals = c.vals[:0]
	for _, j := range c.plain {
		c.vals = append(c.vals, out.Cols[n+j])
	}
	if err := c.aggs.value(g, c.vals); err != nil {
		return err
	}
	for _, f := range c.nums {
		out.Cols[n+f.at].AppendInt(int64(g.words[c.base+f.word]))
	}
	if len(c.lags) > 0 {
		if err := c.look(g, b, i, out.Cols[n:]); err != nil {
			return err
		}
	}
	return out.pushed(types.Insert)
}

// look appends what LAG finds before a row, and remembers the row for those behind it.
func (c *overCalc) look(g *group, b *types.Batch, i int32, cols []*types.Column) error {
	frame, own := g.m.Collection(c.base+overFrame), g.words[c.base:]
	for _, l := range c.lags {
		n := int64(1)
		if l.offset >= 0 && !b.Cols[l.offset].Null(i) {
			n = max(b.Cols[l.offset].Int[i], 0)
		}
		own[overDepth] = max(own[overDepth], uint64(n))
		switch {
		case n == 0:
			cols[l.at].AppendFrom(b.Cols[l.arg], i)
		case n <= int64(frame.Len(g.ref)):
			e := frame.Last(g.ref)
			for ; n > 1; n-- {
				e = frame.Prev(e)
			}
			if err := c.load(frame, e); err != nil {
				return err
			}
			cols[l.at].AppendFrom(c.one.Cols[l.arg], 0)
		case l.missing >= 0:
			cols[l.at].AppendFrom(b.Cols[l.missing], i)
		default:
			cols[l.at].AppendNull()
		}
	}
	c.remember(g, b, i, 0)
	for frame.Len(g.ref) > int(own[overDepth]) {
		frame.Remove(g.ref, frame.First(g.ref))
	}
	return nil
}
