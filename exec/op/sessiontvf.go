package op

import (
	"runnel/state"
	"runnel/types"
)

// NewSessionWindowFunction makes the table function SESSION by itself: rows wait until the session that they are part of
// ends, and come out together, in the order of their arrival, with window_start, window_end and window_time behind their
// columns. fields are those of its input and output, keys the columns of PARTITION BY.
func NewSessionWindowFunction(in, out []types.Field, keys []int, w Window) *SessionAggregate {
	s := newSessionAggregate(Windowing{In: in, Out: out, Keys: keys, Window: w, Props: []WindowProp{WindowStart, WindowEnd, WindowTime}})
	s.rows = &sessionRows{rowBytes: newRowBytes(in)}
	return s
}

// sessionRows keeps the rows of sessions where an aggregate has its accumulators: a list, each element with the row's kind.
type sessionRows struct{ rowBytes }

func (r *sessionRows) values() []state.Value {
	return []state.Value{{Kind: state.List, Short: true, Elem: []state.Value{{Kind: state.Bytes}}}}
}

// add keeps a row.
func (r *sessionRows) add(g *group, b *types.Batch, i int32) {
	list := g.m.Collection(0)
	e, _ := list.Add(g.ref, []uint64{uint64(b.Kind(i))})
	list.PutBytes(e, 0, r.of(b, i))
}

// move puts the rows of one session behind those of another of the same map.
func (r *sessionRows) move(dst, src *group) {
	list := dst.m.Collection(0)
	for e := list.First(src.ref); e != 0; e = list.First(src.ref) {
		row, _ := list.Bytes(e, 0)
		kind := list.Elem(e)[0]
		list.Remove(src.ref, e)
		x, _ := list.Add(dst.ref, []uint64{kind})
		list.PutBytes(x, 0, row)
	}
}

// give puts the rows of a session out.
func (r *sessionRows) give(s *SessionAggregate, g *group, start, end int64) error {
	list, n := g.m.Collection(0), len(s.spec.In)
	for e := list.First(g.ref); e != 0; e = list.Next(e) {
		row, _ := list.Bytes(e, 0)
		if err := r.decode(row, s.out.Cols[:n]); err != nil {
			return err
		}
		appendProps(s.out.Cols[n:], s.spec.Props, start, end, &s.wall)
		if err := s.out.pushed(types.RowKind(list.Elem(e)[0])); err != nil {
			return err
		}
	}
	return nil
}
