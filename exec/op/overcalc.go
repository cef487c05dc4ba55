package op

import (
	"errors"

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
	base  int // the first value of a record that is not the aggregates'
	one   *types.Batch
	vals  []*types.Column // the ordinary aggregates among the output columns
	rows  rowBytes
	old   *types.Batch // one row that LAG looks back at
	words []uint64
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

// Own values of a record, behind those of the aggregates: the rows of the frame, or those that LAG reaches back to, by time
// and number; rows so far; the number of the first row of the current time; the number of different times; the last of
// them; how many rows LAG reaches back.
const (
	overFrame = iota
	overCount
	overRank
	overDense
	overTime
	overDepth
	overNumbered // rows put into the frame so far
	overValues
)

func newOverCalc(ctx *Context, spec *Overing) (*overCalc, error) {
	c := &overCalc{spec: spec, one: types.NewBatch(spec.In), old: types.NewBatch(spec.In), rows: newRowBytes(spec.In)}
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
		default:
			c.plain = append(c.plain, i)
			calls = append(calls, a)
		}
	}
	if len(c.lags) > 0 && spec.Before >= 0 {
		return nil, errors.New("LAG over a bounded window is not supported")
	}
	var err error
	if c.aggs, err = newAggregates(calls, spec.In, spec.Before >= 0, ctx.Env); err != nil {
		return nil, err
	}
	c.base = len(c.aggs.values)
	values := append(c.aggs.values[:c.base:c.base], make([]state.Value, overValues)...)
	values[c.base+overFrame] = state.Value{Kind: state.Sorted, Elem: []state.Value{{Kind: state.Bytes}}}
	c.aggs.st.slots = make([]elems, len(values))
	d := state.Descriptor{
		Format: types.RowCodecVersion, Name: "accumulators", Key: keyColumns(spec.In, spec.Keys), Values: c.aggs.infos(), Bounds: spec.text(),
	}
	c.table, err = ctx.State.Table(d, state.TableSpec{Values: values})
	return c, err
}

// group gives the rows of one key and time, in order of arrival.
func (c *overCalc) group(key state.Key, rows []string, t int64, out *output, codec *rowBytes) error {
	g := group{m: c.table.Of(key.Group)}
	g.ref, _ = g.m.Upsert(key)
	g.words = g.m.Touch(g.ref)
	own := g.words[c.base:]
	if own[overCount] == 0 || int64(own[overTime]) != t {
		own[overRank], own[overTime] = own[overCount]+1, uint64(t)
		own[overDense]++
	}
	if !c.spec.Rows && c.spec.Before >= 0 {
		if err := c.leave(&g, func(e state.Collection, x state.Ref) bool { return state.IntOf(e.Elem(x)[0]) < t-c.spec.Before }); err != nil {
			return err
		}
	}
	shared := !c.spec.Rows && len(rows) > 1
	if shared { // rows of one time have one result
		for _, row := range rows {
			if err := c.enter(&g, row, t); err != nil {
				return err
			}
		}
	}
	for _, row := range rows {
		if !shared {
			if err := c.enter(&g, row, t); err != nil {
				return err
			}
		}
		own[overCount]++
		if c.spec.Rows && c.spec.Before >= 0 {
			if err := c.leave(&g, func(e state.Collection, _ state.Ref) bool { return int64(e.Len(g.ref)) > c.spec.Before+1 }); err != nil {
				return err
			}
		}
		if err := c.give(&g, row, t, out, codec); err != nil {
			return err
		}
	}
	return nil
}

// enter accumulates a row and keeps it as long as the frame reaches.
func (c *overCalc) enter(g *group, row string, t int64) error {
	if err := c.load(row); err != nil {
		return err
	}
	if err := c.aggs.add(g, c.one, 0, 0); err != nil {
		return err
	}
	if c.spec.Before < 0 {
		return nil
	}
	c.remember(g, row, t)
	return nil
}

// remember puts a row into the frame.
func (c *overCalc) remember(g *group, row string, t int64) {
	frame := g.m.Collection(c.base + overFrame)
	own := g.words[c.base:]
	own[overNumbered]++
	c.words = append(c.words[:0], state.OrderedInt(t), own[overNumbered])
	e, _ := frame.Add(g.ref, c.words)
	frame.PutBytes(e, 0, row)
}

// leave takes rows out of the frame, oldest first, as long as out says so.
func (c *overCalc) leave(g *group, out func(state.Collection, state.Ref) bool) error {
	frame := g.m.Collection(c.base + overFrame)
	for e := frame.First(g.ref); e != 0 && out(frame, e); e = frame.First(g.ref) {
		row, _ := frame.Bytes(e, 0)
		if err := c.load(row); err != nil {
			return err
		}
		if err := c.aggs.take(g, c.one, 0, 0); err != nil {
			return err
		}
		frame.Remove(g.ref, e)
	}
	return nil
}

// load makes c.one the batch of one row.
func (c *overCalc) load(row string) error {
	c.one.Reset()
	if err := c.rows.decode(row, c.one.Cols); err != nil {
		return err
	}
	c.one.Push(types.Insert)
	c.aggs.begin(c.one)
	return nil
}

// give puts a row out with the results.
func (c *overCalc) give(g *group, row string, t int64, out *output, codec *rowBytes) error {
	n := len(c.spec.In)
	if err := codec.decode(row, out.Cols[:n]); err != nil {
		return err
	}
	c.vals = c.vals[:0]
	for _, i := range c.plain {
		c.vals = append(c.vals, out.Cols[n+i])
	}
	if err := c.aggs.value(g, c.vals); err != nil {
		return err
	}
	for _, f := range c.nums {
		out.Cols[n+f.at].AppendInt(int64(g.words[c.base+f.word]))
	}
	if len(c.lags) > 0 {
		if err := c.look(g, row, t, out.Cols[n:]); err != nil {
			return err
		}
	}
	return out.pushed(types.Insert)
}

// look appends what LAG finds before a row, and remembers the row for those behind it.
func (c *overCalc) look(g *group, row string, t int64, cols []*types.Column) error {
	if err := c.load(row); err != nil {
		return err
	}
	frame, own := g.m.Collection(c.base+overFrame), g.words[c.base:]
	for _, l := range c.lags {
		n := int64(1)
		if l.offset >= 0 && !c.one.Cols[l.offset].Null(0) {
			n = max(c.one.Cols[l.offset].Int[0], 0)
		}
		own[overDepth] = max(own[overDepth], uint64(n))
		switch {
		case n == 0:
			cols[l.at].AppendFrom(c.one.Cols[l.arg], 0)
		case n <= int64(frame.Len(g.ref)):
			e := frame.Last(g.ref)
			for ; n > 1; n-- {
				e = frame.Prev(e)
			}
			kept, _ := frame.Bytes(e, 0)
			c.old.Reset()
			if err := c.rows.decode(kept, c.old.Cols); err != nil {
				return err
			}
			cols[l.at].AppendFrom(c.old.Cols[l.arg], 0)
		case l.missing >= 0:
			cols[l.at].AppendFrom(c.one.Cols[l.missing], 0)
		default:
			cols[l.at].AppendNull()
		}
	}
	c.remember(g, row, t)
	for frame.Len(g.ref) > int(own[overDepth]) {
		frame.Remove(g.ref, frame.First(g.ref))
	}
	return nil
}

// drop forgets a key.
func (c *overCalc) drop(key state.Key) {
	m := c.table.Of(key.Group)
	if r := m.Find(key); r != 0 {
		m.Delete(r)
	}
}
