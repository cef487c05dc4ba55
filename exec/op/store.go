package op

import (
	"runnel/expr"
	"runnel/state"
)

// slotValues gives the values of a record for the slots of an accumulator.
func slotValues(slots []expr.Slot) []state.Value {
	vs := make([]state.Value, len(slots))
	for i, s := range slots {
		vs[i] = state.Value{Kind: valueKind(s.Kind)}
		for _, k := range s.Elem {
			vs[i].Elem = append(vs[i].Elem, state.Value{Kind: valueKind(k)})
		}
	}
	return vs
}

func valueKind(k expr.SlotKind) state.ValueKind {
	switch k {
	case expr.BytesSlot:
		return state.Bytes
	case expr.ListSlot:
		return state.List
	case expr.SetSlot:
		return state.Set
	case expr.SortedSlot:
		return state.Sorted
	}
	return state.Word
}

// store gives the accumulator of one aggregate call the values of its record that are not words.
type store struct {
	m       *state.Map
	ref     state.Ref
	from    int     // the call's first value
	slots   []elems // by value, to be handed out without allocating
	reading bool    // elements are only looked at: they need not be noted as changed
}

// of moves the store to a call of a group; nil for accumulators that need none.
func (st *store) of(g *group, s *aggSlot) expr.Store {
	if !s.acc.Stored {
		return nil
	}
	st.m, st.ref, st.from = g.m, g.ref, s.from
	return st
}

func (st *store) Bytes(slot int) (string, bool) { return st.m.Bytes(st.ref, st.from+slot) }

func (st *store) PutBytes(slot int, s string) { st.m.PutBytes(st.ref, st.from+slot, s) }

func (st *store) Elems(slot int) expr.Elems {
	e := &st.slots[st.from+slot]
	*e = elems{c: st.m.Collection(st.from + slot), owner: st.ref, reading: st.reading}
	return e
}

// elems is a collection of one record.
type elems struct {
	c       state.Collection
	owner   state.Ref
	reading bool
}

func (e *elems) Find(words []uint64) expr.Elem { return expr.Elem(e.c.Find(e.owner, words)) }

func (e *elems) Add(words []uint64) (expr.Elem, bool) {
	x, inserted := e.c.Add(e.owner, words)
	return expr.Elem(x), inserted
}

func (e *elems) Remove(x expr.Elem) { e.c.Remove(e.owner, state.Ref(x)) }

func (e *elems) Next(x expr.Elem) expr.Elem {
	if x == 0 {
		return expr.Elem(e.c.First(e.owner))
	}
	return expr.Elem(e.c.Next(state.Ref(x)))
}

func (e *elems) Prev(x expr.Elem) expr.Elem {
	if x == 0 {
		return expr.Elem(e.c.Last(e.owner))
	}
	return expr.Elem(e.c.Prev(state.Ref(x)))
}

func (e *elems) Words(x expr.Elem) []uint64 { return e.c.Elem(state.Ref(x)) }

func (e *elems) Values(x expr.Elem) []uint64 {
	if e.reading {
		return e.c.Get(state.Ref(x))
	}
	return e.c.Touch(state.Ref(x))
}

func (e *elems) Bytes(x expr.Elem, value int) (string, bool) { return e.c.Bytes(state.Ref(x), value) }

func (e *elems) PutBytes(x expr.Elem, value int, s string) { e.c.PutBytes(state.Ref(x), value, s) }
