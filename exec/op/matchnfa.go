package op

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"runnel/expr"
)

// matchState is a state of the automaton that a pattern is compiled to: its variable waits for a row. The last state is
// the final one and has no edges.
type matchState struct{ edges []matchEdge }

// matchEdge leads to another state: by taking the current row for a variable whose condition it fulfils, or, with variable
// -1, for nothing. It is open only if none of the conditions in nots holds: this is how greedy loops keep the row.
type matchEdge struct {
	to       int
	variable int
	nots     []int
}

// compileMatch builds the automaton from the last variable to the first. It gives the states, the final one first, and
// the number of the one that a match starts in. The order of edges is that of Flink's automaton: together with the queues
// below it decides which of several matches with one start is found first.
func compileMatch(vars []expr.MatchVariable) (states []matchState, start int) {
	c := matchCompiler{states: make([]matchState, 1)}
	for i := len(vars) - 1; i >= 0; i-- {
		start = c.variable(&vars[i], i, start)
	}
	return c.states, start
}

type matchCompiler struct{ states []matchState }

// variable puts the states of a variable in front of sink and gives the first of them.
func (c *matchCompiler) variable(v *expr.MatchVariable, n, sink int) int {
	from := max(v.Min, 1)
	last := sink
	switch {
	case v.Max < 0: // the state that loops
		last = c.add(matchEdge{to: sink, variable: -1})
		c.states[last].edges = append(c.states[last].edges, matchEdge{to: last, variable: n})
	case v.Max == from:
		return c.times(last, sink, n, from, v.Min == 0)
	}
	if !v.Reluctant {
		for i := range c.states[sink].edges {
			e := &c.states[sink].edges[i]
			e.nots = append(slices.Clone(e.nots), n)
		}
	}
	for i := from; i < v.Max; i++ {
		last = c.single(last, sink, n, true)
	}
	return c.times(last, sink, n, from, v.Min == 0)
}

// times puts states that take n rows in front of last; an optional variable may be left out as a whole.
func (c *matchCompiler) times(last, sink, n, rows int, optional bool) int {
	for range rows - 1 {
		last = c.single(last, sink, n, false)
	}
	return c.single(last, sink, n, optional)
}

func (c *matchCompiler) single(next, sink, n int, optional bool) int {
	edges := []matchEdge{{to: next, variable: n}}
	if optional {
		edges = append(edges, matchEdge{to: sink, variable: -1})
	}
	return c.add(edges...)
}

func (c *matchCompiler) add(edges ...matchEdge) int {
	c.states = append(c.states, matchState{edges})
	return len(c.states) - 1
}

// partial is a partial match, or a complete one. Rows follow one another without a gap and variables come in the order of
// the pattern, so the first row and the number of rows of each variable say which row is whose.
type partial struct {
	state  int
	start  uint64 // number of the first row; notStarted: none yet
	time   int64  // of the first row, in ms
	counts []uint32
}

const notStarted = uint64(math.MaxUint64)

// rows is how many rows the match has.
func (p *partial) rows() uint64 {
	n := uint64(0)
	for _, c := range p.counts {
		n += uint64(c)
	}
	return n
}

// queue is a priority queue of matches, the earliest start first. Those with one start come out in the order that a binary
// heap in an array gives them, and walking it visits the array: which match is found depends on it.
type queue []*partial

func (q *queue) add(p *partial) {
	s := append(*q, p)
	k := len(s) - 1
	for k > 0 {
		up := (k - 1) / 2
		if p.start >= s[up].start {
			break
		}
		s[k] = s[up]
		k = up
	}
	s[k] = p
	*q = s
}

func (q *queue) poll() *partial {
	s := *q
	first, last := s[0], s[len(s)-1]
	s = s[:len(s)-1]
	if len(s) > 0 {
		s.down(0, last)
	}
	*q = s
	return first
}

func (q queue) down(k int, p *partial) {
	for k < len(q)/2 {
		child := 2*k + 1
		if right := child + 1; right < len(q) && q[child].start > q[right].start {
			child = right
		}
		if p.start <= q[child].start {
			break
		}
		q[k] = q[child]
		k = child
	}
	q[k] = p
}

// prune takes out the matches for which gone holds.
func (q *queue) prune(gone func(*partial) bool) {
	s := slices.DeleteFunc(*q, gone)
	if len(s) == len(*q) {
		return
	}
	*q = s
	for i := len(s)/2 - 1; i >= 0; i-- {
		s.down(i, s[i])
	}
}

// automaton runs the pattern over the rows of one key.
type automaton struct {
	spec     *Matching
	states   []matchState
	start    int
	holds    func(variable int, p *partial) (bool, error) // whether the current row fulfils a condition, after p
	give     func(p *partial, time int64) error           // a match has been found
	partials queue
	complete queue // matches that wait for partial ones with an earlier start

	stack []int
	takes []matchEdge
	next  []*partial
}

// reset begins with no row.
func (a *automaton) reset() {
	a.partials, a.complete = append(a.partials[:0], a.fresh()), a.complete[:0]
}

func (a *automaton) fresh() *partial { return &partial{state: a.start, start: notStarted} }

// row feeds a row. started tells whether a partial match begins with it.
func (a *automaton) row(row uint64, time int64) (started bool, err error) {
	partials, matches := make(queue, 0, len(a.partials)+1), queue(nil)
	for _, p := range a.partials {
		if err := a.step(p, row, time); err != nil {
			return false, err
		}
		for _, n := range a.next {
			started = started || n.start == row
			if n.state == 0 {
				matches.add(n)
			} else {
				partials.add(n)
			}
		}
	}
	a.partials = partials
	return started, a.release(matches, time)
}

// step finds what becomes of a partial match with the current row.
func (a *automaton) step(p *partial, row uint64, time int64) error {
	a.next, a.takes = a.next[:0], a.takes[:0]
	a.stack = append(a.stack[:0], p.state)
	for len(a.stack) > 0 {
		s := a.stack[len(a.stack)-1]
		a.stack = a.stack[:len(a.stack)-1]
		for _, e := range a.states[s].edges {
			ok, err := a.open(e, p)
			switch {
			case err != nil:
				return err
			case ok && e.variable < 0:
				a.stack = append(a.stack, e.to)
			case ok:
				a.takes = append(a.takes, e)
			}
		}
	}
	begins := p.start == notStarted
	for k, e := range a.takes {
		ends, err := a.ends(e.to, p)
		if err != nil {
			return err
		}
		n := p // the last one goes on in its place
		if begins || k < len(a.takes)-1 {
			n = a.copyOf(p)
		}
		n.state = e.to
		n.counts[e.variable]++
		if begins {
			n.start, n.time = row, time
		}
		a.next = append(a.next, n)
		if ends {
			done := a.copyOf(n)
			done.state = 0
			a.next = append(a.next, done)
		}
	}
	if begins {
		a.next = append(a.next, p)
	}
	return nil
}

func (a *automaton) copyOf(p *partial) *partial {
	n := *p
	n.counts = make([]uint32, len(a.spec.Variables))
	copy(n.counts, p.counts)
	return &n
}

func (a *automaton) open(e matchEdge, p *partial) (bool, error) {
	if e.variable >= 0 {
		if ok, err := a.holds(e.variable, p); !ok || err != nil {
			return false, err
		}
	}
	for _, n := range e.nots {
		if held, err := a.holds(n, p); held || err != nil {
			return false, err
		}
	}
	return true, nil
}

// ends tells whether the final state is reached from a state without another row.
func (a *automaton) ends(state int, p *partial) (bool, error) {
	a.stack = append(a.stack[:0], state)
	for len(a.stack) > 0 {
		s := a.stack[len(a.stack)-1]
		a.stack = a.stack[:len(a.stack)-1]
		for _, e := range a.states[s].edges {
			if e.variable >= 0 {
				continue
			}
			ok, err := a.open(e, p)
			if err != nil {
				return false, err
			}
			if ok && e.to == 0 {
				return true, nil
			}
			if ok {
				a.stack = append(a.stack, e.to)
			}
		}
	}
	return false, nil
}

// advance drops the partial matches that have lasted too long at a time.
func (a *automaton) advance(time int64) error {
	if a.spec.Within > 0 {
		var left queue
		for _, p := range a.partials {
			if p.start == notStarted || time < add(p.time, a.spec.Within) {
				left.add(p)
			}
		}
		a.partials = left
	}
	return a.release(nil, time)
}

// release gives the matches that wait for no partial match with an earlier start, and goes on after each as AFTER MATCH
// SKIP wants.
func (a *automaton) release(matches queue, time int64) error {
	for _, m := range matches {
		a.complete.add(m)
	}
	for len(a.complete) > 0 && (len(a.partials) == 0 || a.complete[0].start <= a.partials[0].start) {
		m := a.complete.poll()
		to, err := a.skipTo(m)
		if err != nil {
			return err
		}
		gone := func(p *partial) bool { return p.start < to && p.start != notStarted }
		a.partials.prune(gone)
		a.complete.prune(gone)
		if err := a.give(m, time); err != nil {
			return err
		}
	}
	return nil
}

var errSkipToFirst = errors.New("Could not skip to first element of a match.")

// skipTo gives the number of the first row that another match may start with.
func (a *automaton) skipTo(m *partial) (uint64, error) {
	switch a.spec.Skip {
	case expr.SkipToNextRow:
		return m.start + 1, nil
	case expr.SkipPastLastRow:
		return m.start + m.rows(), nil
	}
	v := view{p: m, current: -1}
	k := 0
	if a.spec.Skip == expr.SkipToLast {
		k = v.len(a.spec.SkipTo) - 1
	}
	at, ok := v.at(a.spec.SkipTo, k)
	switch {
	case !ok:
		return 0, fmt.Errorf("Could not skip to %s. No such element in the found match.", a.spec.SkipName)
	case at == m.start:
		return 0, errSkipToFirst
	}
	return at, nil
}

// oldest is the number of the first row that is still needed, next if none is.
func (a *automaton) oldest(next uint64) uint64 {
	for _, q := range []queue{a.partials, a.complete} {
		for _, p := range q {
			next = min(next, p.start)
		}
	}
	return next
}

// idle tells whether nothing but the beginning is left.
func (a *automaton) idle() bool { return len(a.partials) == 1 && len(a.complete) == 0 }

// encode appends both queues: their lengths, then state, start (0: none, else one more), time and counts of each match, as
// varints.
func (a *automaton) encode(b []byte) []byte {
	for _, q := range []queue{a.partials, a.complete} {
		b = binary.AppendUvarint(b, uint64(len(q)))
		for _, p := range q {
			b = binary.AppendUvarint(b, uint64(p.state))
			b = binary.AppendUvarint(b, p.start+1)
			if p.start == notStarted {
				continue
			}
			b = binary.AppendVarint(b, p.time)
			for _, c := range p.counts {
				b = binary.AppendUvarint(b, uint64(c))
			}
		}
	}
	return b
}

var errMatchState = errors.New("partial matches of a snapshot: unknown form")

// decode reads what encode wrote.
func (a *automaton) decode(s string) error {
	b, bad := []byte(s), false
	number := func() uint64 {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			bad = true
			return 0
		}
		b = b[n:]
		return v
	}
	for _, q := range []*queue{&a.partials, &a.complete} {
		*q = (*q)[:0]
		for n := number(); n > 0 && !bad; n-- {
			p := &partial{state: int(number()), start: number() - 1}
			if p.start != notStarted {
				t, n := binary.Varint(b)
				if n <= 0 {
					return errMatchState
				}
				b, p.time, p.counts = b[n:], t, make([]uint32, len(a.spec.Variables))
				for i := range p.counts {
					p.counts[i] = uint32(number())
				}
			}
			*q = append(*q, p)
		}
	}
	if bad || len(a.partials) == 0 {
		return errMatchState
	}
	return nil
}
