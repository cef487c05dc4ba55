package op

import (
	"fmt"
	"slices"

	"runnel/expr"
	"runnel/state"
	"runnel/types"
)

// aggregates is the list of an operator's compiled aggregate calls, and the form of the record that holds their
// accumulators: a count of rows if the input retracts, the words of each call, and a set for every DISTINCT argument.
type aggregates struct {
	in      []types.Field
	slots   []aggSlot
	sets    []distinctSet
	values  []state.Value // of a record
	counted bool          // word 0 counts the group's rows
	retract bool
	partial bool // to be merged into others: see newPartials
	calls   []expr.AggCall
	st      store // of the record being worked on
	other   store // of the record that is merged into it
	find    state.Finder
}

// aggSlot is one aggregate call.
type aggSlot struct {
	acc    *expr.Accumulator
	from   int // its words in the record
	to     int
	filter int // -1 for none
	set    int // of its DISTINCT arguments, -1 for none
	bit    int // the word of the set's elements that belongs to its filter
}

// distinctSet is the set of values that DISTINCT calls have seen. Calls with the same arguments share it. For each
// different FILTER among them an element carries a bit that a row has passed, or the count of such rows where rows may be
// taken back.
type distinctSet struct {
	args    []int
	filters []int
	value   int // of the record
	codec   *types.KeyCodec
	keys    types.Keys  // of the current batch
	row     types.Batch // one row, see load
	cols    []*types.Column
}

// newAggregates compiles calls over rows of the fields in.
func newAggregates(calls []expr.AggCall, in []types.Field, retract bool, env *expr.Env) (*aggregates, error) {
	return compileAggregates(calls, in, retract, false, env)
}

// newPartials compiles calls whose accumulators are merged into those of newAggregates. Rows may be taken back that only the
// latter have seen. Of calls with DISTINCT there is nothing but the set: what is new in it the others know.
func newPartials(calls []expr.AggCall, in []types.Field, retract bool, env *expr.Env) (*aggregates, error) {
	return compileAggregates(calls, in, retract, true, env)
}

func compileAggregates(calls []expr.AggCall, in []types.Field, retract, partial bool, env *expr.Env) (*aggregates, error) {
	a := &aggregates{in: in, counted: retract, retract: retract, partial: partial, calls: calls}
	if a.counted {
		a.values = append(a.values, state.Value{})
	}
	for _, call := range calls {
		acc, err := expr.Bind(call, in, retract, env)
		if err != nil {
			return nil, fmt.Errorf("aggregate %s: %w", call.Text, err)
		}
		if partial && acc.Partial != nil {
			acc = acc.Partial
		}
		s := aggSlot{acc: acc, from: len(a.values), filter: call.Filter, set: -1}
		a.values = append(a.values, slotValues(acc.Slots)...)
		s.to = len(a.values)
		if call.Distinct {
			s.set, s.bit = a.distinct(call)
		}
		a.slots = append(a.slots, s)
	}
	for i := range a.sets {
		d := &a.sets[i]
		d.value = len(a.values)
		words := len(d.filters)
		if !retract {
			words = (words + 63) / 64
		}
		a.values = append(a.values, state.Value{Kind: state.Set, Elem: state.Words(words)})
	}
	a.st.slots, a.other.slots = make([]elems, len(a.values)), make([]elems, len(a.values))
	return a, nil
}

// distinct finds or makes the set for a call's arguments, and the place of its filter in it.
func (a *aggregates) distinct(call expr.AggCall) (set, bit int) {
	set = slices.IndexFunc(a.sets, func(d distinctSet) bool { return slices.Equal(d.args, call.Args) })
	if set < 0 {
		set = len(a.sets)
		ts := make([]types.Type, len(call.Args))
		for i, c := range call.Args {
			ts[i] = a.in[c].Type
		}
		a.sets = append(a.sets, distinctSet{args: call.Args, codec: types.NewKeyCodec(ts)})
	}
	d := &a.sets[set]
	if bit = slices.Index(d.filters, call.Filter); bit < 0 {
		bit = len(d.filters)
		d.filters = append(d.filters, call.Filter)
	}
	return set, bit
}

// loosen is called where no group is ever taken away: its DISTINCT sets only grow.
func (a *aggregates) loosen() {
	for i := range a.sets {
		a.values[a.sets[i].value].Loose = true
	}
}

// infos describes the accumulators in the state's descriptor.
func (a *aggregates) infos() []state.ValueInfo {
	var infos []state.ValueInfo
	if a.counted {
		infos = append(infos, state.ValueInfo{Call: "rows", Codec: 1})
	}
	for i, s := range a.slots {
		infos = append(infos, state.ValueInfo{Call: a.calls[i].Origin(a.in), Type: s.acc.Type.String(), Codec: s.acc.Codec})
	}
	return infos
}

// begin prepares for the rows of a batch.
func (a *aggregates) begin(b *types.Batch) {
	for i := range a.sets {
		d := &a.sets[i]
		d.codec.Encode(b, d.args, &d.keys)
	}
}

// add accumulates a row, the k-th live and i-th physical one of b, in record r.
func (a *aggregates) add(g *group, b *types.Batch, k int, i int32) error {
	if err := a.addPlain(g, b, i); err != nil {
		return err
	}
	for n := range a.sets {
		if a.partial && a.retract {
			a.countPartial(g, n, b, k, i, 1)
		} else if err := a.addDistinct(g, n, b, k, i); err != nil {
			return err
		}
	}
	return nil
}

// countPartial counts a row for an element of a DISTINCT set, which may come to less than nothing.
func (a *aggregates) countPartial(g *group, set int, b *types.Batch, k int, i int32, by uint64) {
	d := &a.sets[set]
	elems := g.m.Collection(d.value)
	e, _ := elems.Add(g.ref, d.keys.Key(k))
	counts := elems.Touch(e)
	for bit, filter := range d.filters {
		if filter < 0 || isTrue(b.Cols[filter], i) {
			counts[bit] += by
		}
	}
	dropUncounted(elems, g.ref, e, counts)
}

// dropUncounted takes an element out that no row has any more.
func dropUncounted(elems state.Collection, owner, e state.Ref, counts []uint64) {
	if !slices.ContainsFunc(counts, func(n uint64) bool { return n != 0 }) {
		elems.Remove(owner, e)
	}
}

// addPlain accumulates a row in the calls without DISTINCT.
func (a *aggregates) addPlain(g *group, b *types.Batch, i int32) error {
	a.st.reading = false
	if a.counted {
		g.words[0]++
	}
	for n := range a.slots {
		s := &a.slots[n]
		if s.filter >= 0 && !isTrue(b.Cols[s.filter], i) || s.set >= 0 {
			continue
		}
		if err := s.acc.Add(g.words[s.from:s.to], a.st.of(g, s), b, i); err != nil {
			return err
		}
	}
	return nil
}

// addDistinct counts a row in a DISTINCT set, and accumulates it in the calls for which its value is new.
func (a *aggregates) addDistinct(g *group, set int, b *types.Batch, k int, i int32) error {
	d := &a.sets[set]
	elems := g.m.Collection(d.value)
	e := state.Ref(0)
	for bit, filter := range d.filters {
		if filter >= 0 && !isTrue(b.Cols[filter], i) {
			continue
		}
		if e == 0 {
			e, _ = elems.Add(g.ref, d.keys.Key(k))
		}
		if !a.count(elems, e, bit) || a.partial {
			continue
		}
		for n := range a.slots {
			if s := &a.slots[n]; s.set == set && s.bit == bit {
				if err := s.acc.Add(g.words[s.from:s.to], a.st.of(g, s), b, i); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// count counts a row that has passed the filter of a bit for an element, and reports whether it is the first one.
func (a *aggregates) count(elems state.Collection, e state.Ref, bit int) bool {
	if a.retract {
		counts := elems.Touch(e)
		counts[bit]++
		return counts[bit] == 1
	}
	if passed(elems.Get(e), bit) {
		return false // and nobody takes it back: nothing to write
	}
	elems.Touch(e)[bit>>6] |= 1 << (bit & 63)
	return true
}

// passed reports whether an element's bit is set.
func passed(bits []uint64, bit int) bool { return bits[bit>>6]>>(bit&63)&1 != 0 }

// take takes a row back.
func (a *aggregates) take(g *group, b *types.Batch, k int, i int32) error {
	a.st.reading = false
	if a.counted {
		g.words[0]--
	}
	for n := range a.slots {
		s := &a.slots[n]
		if s.filter >= 0 && !isTrue(b.Cols[s.filter], i) || s.set >= 0 {
			continue
		}
		if err := s.acc.Retract(g.words[s.from:s.to], a.st.of(g, s), b, i); err != nil {
			return err
		}
	}
	for n := range a.sets {
		if a.partial {
			a.countPartial(g, n, b, k, i, ^uint64(0))
		} else if err := a.takeDistinct(g, n, b, k, i); err != nil {
			return err
		}
	}
	return nil
}

func (a *aggregates) takeDistinct(g *group, set int, b *types.Batch, k int, i int32) error {
	d := &a.sets[set]
	elems := g.m.Collection(d.value)
	e := elems.Find(g.ref, d.keys.Key(k))
	if e == 0 {
		return nil // a value that was never added
	}
	counts := elems.Touch(e)
	for bit, filter := range d.filters {
		if filter >= 0 && !isTrue(b.Cols[filter], i) || counts[bit] == 0 {
			continue
		}
		counts[bit]--
		if counts[bit] != 0 {
			continue
		}
		for n := range a.slots {
			if s := &a.slots[n]; s.set == set && s.bit == bit {
				if err := s.acc.Retract(g.words[s.from:s.to], a.st.of(g, s), b, i); err != nil {
					return err
				}
			}
		}
	}
	dropUncounted(elems, g.ref, e, counts)
	return nil
}

// value appends the results to cols.
func (a *aggregates) value(g *group, cols []*types.Column) error {
	a.st.reading = true
	for n := range a.slots {
		s := &a.slots[n]
		if err := s.acc.Value(g.words[s.from:s.to], a.st.of(g, s), cols[n]); err != nil {
			return err
		}
	}
	return nil
}

// group is the record of one group while a row is applied to it.
type group struct {
	m     *state.Map
	ref   state.Ref
	words []uint64 // from Touch
}

// isTrue reports whether a BOOLEAN is TRUE.
func isTrue(c *types.Column, i int32) bool { return !c.Null(i) && c.Int[i] != 0 }

// mergeable reports whether accumulators of two slices can become one.
func (a *aggregates) mergeable() bool {
	for i := range a.slots {
		if s := &a.slots[i]; s.set < 0 && s.acc.Merge == nil {
			return false
		}
	}
	return true
}

// mergeAll adds every group of from to the group of the same key in to. No group is ever deleted from either.
func (a *aggregates) mergeAll(to, from *state.Map) error {
	var refs, into [runRows]state.Ref
	dst, src := group{m: to}, group{m: from}
	for next := from.First(); next != 0; {
		n := 0
		for ; n < len(refs) && next != 0; n++ {
			refs[n] = next
			next = from.Next(next)
		}
		a.find.UpsertFrom(to, from, refs[:n], into[:n])
		for i, ref := range refs[:n] {
			dst.ref, src.ref = into[i], ref
			dst.words, src.words = to.Touch(dst.ref), from.Get(src.ref)
			if err := a.merge(&dst, &src); err != nil {
				return err
			}
		}
	}
	return nil
}

// merge adds the accumulators of src to those of dst, a record of another map.
func (a *aggregates) merge(dst, src *group) error {
	a.st.reading, a.other.reading = false, true
	if a.counted {
		dst.words[0] += src.words[0]
	}
	for n := range a.slots {
		s := &a.slots[n]
		if s.set >= 0 {
			continue
		}
		if err := s.acc.Merge(dst.words[s.from:s.to], a.st.of(dst, s), src.words[s.from:s.to], a.other.of(src, s)); err != nil {
			return err
		}
	}
	for n := range a.sets {
		if err := a.mergeSet(dst, src, n, a.sets[n].value); err != nil {
			return err
		}
	}
	return nil
}

// mergeSet adds a DISTINCT set, a value of src, to another; values that are new there are accumulated, and those that
// no row has any more are taken back.
func (a *aggregates) mergeSet(dst, src *group, set, value int) error {
	d := &a.sets[set]
	from, to := src.m.Collection(value), dst.m.Collection(d.value)
	for e := from.First(src.ref); e != 0; e = from.Next(e) {
		x, _ := to.Add(dst.ref, from.Elem(e))
		loaded := false
		for bit := range d.filters {
			turn := a.mergeCount(to, x, from.Get(e), bit)
			if turn == 0 {
				continue
			}
			if !loaded {
				loaded = true
				if err := d.load(a.in, from.Elem(e)); err != nil {
					return err
				}
			}
			if err := a.turned(dst, set, bit, turn); err != nil {
				return err
			}
		}
		if a.retract {
			dropUncounted(to, dst.ref, x, to.Get(x))
		}
	}
	return nil
}

// turned lets the calls over a DISTINCT set know that the loaded value came (1) or went (-1) for a filter.
func (a *aggregates) turned(g *group, set, bit, turn int) error {
	for n := range a.slots {
		s := &a.slots[n]
		if s.set != set || s.bit != bit {
			continue
		}
		apply := s.acc.Add
		if turn < 0 {
			apply = s.acc.Retract
		}
		if err := apply(g.words[s.from:s.to], a.st.of(g, s), &a.sets[set].row, 0); err != nil {
			return err
		}
	}
	return nil
}

// mergeCount adds what an element of another set says for a bit. It gives 1 when rows pass the filter only now, -1 when none
// does any more, else 0.
func (a *aggregates) mergeCount(to state.Collection, x state.Ref, from []uint64, bit int) int {
	if !a.retract {
		if passed(from, bit) && a.count(to, x, bit) {
			return 1
		}
		return 0
	}
	if from[bit] == 0 {
		return 0
	}
	counts := to.Touch(x)
	was := int64(counts[bit]) > 0
	counts[bit] += from[bit]
	switch is := int64(counts[bit]) > 0; {
	case is == was:
		return 0
	case is:
		return 1
	}
	return -1
}

// load makes d.row a batch of one row that has the values of an element in the argument columns.
func (d *distinctSet) load(in []types.Field, elem []uint64) error {
	if d.row.Cols == nil {
		d.row = types.Batch{Len: 1, Cols: make([]*types.Column, len(in))}
		for _, c := range d.args {
			d.row.Cols[c] = types.NewColumn(in[c].Type, 1)
			d.cols = append(d.cols, d.row.Cols[c])
		}
	}
	for _, c := range d.cols {
		c.Reset()
	}
	return d.codec.Decode(elem, d.cols)
}
