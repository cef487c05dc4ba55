package op

import (
	"slices"

	"runnel/expr"
	"runnel/state"
	"runnel/types"
)

// maxOpenSessions is the number of sessions that are remembered: few enough to stay in a second-level cache.
const maxOpenSessions = 1024

// openSessions remembers where rows of some keys went last: the next ones mostly go there too, and need no lookup then. Nothing
// in it is state.
type openSessions [maxOpenSessions]openSession

// openSession is a session of a key.
type openSession struct {
	key        []uint64
	start, end int64
	before     int64     // the start of the key's session behind it
	elem       state.Ref // the session among those of the key; 0: nothing is remembered
	acc        state.Ref // its accumulators, 0: not known
	moves      uint32    // of the elements, when elem was found
	accMoves   uint32
	number     uint64
}

// of gives the place for a key, which others share.
func (o *openSessions) of(key state.Key) *openSession { return &o[key.Hash>>16%maxOpenSessions] }

// is reports whether a session of the key is remembered.
func (o *openSession) is(key state.Key) bool { return o.elem != 0 && slices.Equal(o.key, key.Words) }

// close forgets the session of a key.
func (o *openSession) close(key state.Key) {
	if o.is(key) {
		o.elem = 0
	}
}

// set remembers a session.
func (o *openSession) set(key state.Key, set state.Collection, e state.Ref, before int64, number uint64) {
	o.key = append(o.key[:0], key.Words...)
	o.start, o.end, o.before = state.IntOf(set.Elem(e)[0]), int64(set.Get(e)[sessionEnd]), before
	o.elem, o.moves, o.number, o.acc = e, set.Moves(), number, 0
}

// sessionRuns are rows that wait for the accumulators of their sessions, where every accumulator has a form for runs. They
// are folded before anything else looks at accumulators, or moves them.
type sessionRuns struct {
	n    int
	maps [runRows]*state.Map
	refs [runRows]state.Ref
	accs [runRows][]uint64
	rows [runRows]int32
	run  expr.Run
}

// take adds row i of b.
func (r *sessionRuns) take(s *SessionAggregate, m *state.Map, acc state.Ref, b *types.Batch, i int32) {
	if r.n == runRows {
		r.fold(s, b)
	}
	r.maps[r.n], r.refs[r.n], r.rows[r.n] = m, acc, i
	r.n++
}

// fold accumulates the rows that wait, all of them of b.
func (r *sessionRuns) fold(s *SessionAggregate, b *types.Batch) {
	accs := r.accs[:r.n]
	for k, m := range r.maps[:r.n] {
		accs[k] = m.Touch(r.refs[k])
	}
	r.run = expr.Run{Accs: accs, Rows: r.rows[:r.n]}
	for i := range s.aggs.slots {
		x := &s.aggs.slots[i]
		r.run.From = x.from
		x.acc.Fold(&r.run, b)
	}
	r.n = 0
}
