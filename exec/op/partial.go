package op

import (
	"encoding/binary"
	"errors"

	"runnel/expr"
	"runnel/state"
	"runnel/types"
)

// partials turns the accumulators of a local phase into bytes and back. Aggregates of the form of newPartials say what there is:
// the count of rows, what calls without DISTINCT hold, and the DISTINCT sets.
type partials struct {
	aggs    *aggregates
	carried []int // the values of a record that are written
	plain   bool  // all of them are words

	group group      // the last one that was read
	m     *state.Map // which holds it, unless plain
	elem  []uint64
	key   state.Key // of the only record of m
	buf   []byte
	arena types.Arena
}

// newPartialCodec makes the codec of the first calls.
func newPartialCodec(aggs *aggregates, calls int) *partials {
	p := &partials{aggs: aggs, plain: true}
	if aggs.counted {
		p.carried = append(p.carried, 0)
	}
	for i := range aggs.slots[:calls] {
		if s := &aggs.slots[i]; s.set < 0 {
			for v := s.from; v < s.to; v++ {
				p.carried = append(p.carried, v)
			}
		}
	}
	for i := range aggs.sets {
		p.carried = append(p.carried, aggs.sets[i].value)
	}
	for _, v := range p.carried {
		p.plain = p.plain && aggs.values[v].Kind == state.Word
	}
	if p.plain {
		p.group.words = make([]uint64, len(aggs.values))
	} else {
		p.m = state.NewMap(aggs.values)
	}
	return p
}

// write gives the bytes of a record.
func (p *partials) write(g *group) string {
	p.buf = p.arena.Buf()
	for _, v := range p.carried {
		switch p.aggs.values[v].Kind {
		case state.Word:
			p.buf = binary.AppendVarint(p.buf, int64(g.words[v]))
		case state.Bytes:
			s, ok := g.m.Bytes(g.ref, v)
			p.text(s, ok)
		default:
			p.collection(g, v)
		}
	}
	return p.arena.Take(p.buf)
}

// text writes a byte string that may be none.
func (p *partials) text(s string, ok bool) {
	if !ok {
		p.buf = append(p.buf, 0)
		return
	}
	p.buf = append(binary.AppendUvarint(p.buf, uint64(len(s))+1), s...)
}

func (p *partials) collection(g *group, value int) {
	c := g.m.Collection(value)
	p.buf = binary.AppendUvarint(p.buf, uint64(c.Len(g.ref)))
	for e := c.First(g.ref); e != 0; e = c.Next(e) {
		words := c.Elem(e)
		p.buf = binary.AppendUvarint(p.buf, uint64(len(words)))
		for _, w := range words {
			p.buf = binary.AppendVarint(p.buf, int64(w))
		}
		vals := c.Get(e)
		for i, v := range p.aggs.values[value].Elem {
			if v.Kind == state.Word {
				p.buf = binary.AppendVarint(p.buf, int64(vals[i]))
				continue
			}
			s, ok := c.Bytes(e, i)
			p.text(s, ok)
		}
	}
}

var errPartial = errors.New("the accumulators of the local phase cannot be read")

// partialReader reads what write has written.
type partialReader struct {
	rest string
	bad  bool
}

func (r *partialReader) number() uint64 {
	var n uint64
	for shift := uint(0); ; shift += 7 {
		if len(r.rest) == 0 || shift > 63 {
			r.bad = true
			return 0
		}
		b := r.rest[0]
		r.rest = r.rest[1:]
		n |= uint64(b&0x7F) << shift
		if b < 0x80 {
			return n
		}
	}
}

func (r *partialReader) word() uint64 {
	n := r.number()
	return n>>1 ^ -(n & 1)
}

func (r *partialReader) text() (s string, ok bool) {
	n := r.number()
	if n == 0 {
		return "", false
	}
	if n--; n > uint64(len(r.rest)) {
		r.bad = true
		return "", false
	}
	s, r.rest = r.rest[:n], r.rest[n:]
	return s, true
}

// read gives the record that the bytes stand for, valid until the next read.
func (p *partials) read(s string) (*group, error) {
	r := partialReader{rest: s}
	g := &p.group
	if !p.plain {
		p.m.Reset()
		g.m = p.m
		g.ref, _ = p.m.Upsert(p.key)
		g.words = p.m.Touch(g.ref)
	}
	for _, v := range p.carried {
		switch p.aggs.values[v].Kind {
		case state.Word:
			g.words[v] = r.word()
		case state.Bytes:
			if s, ok := r.text(); ok {
				p.m.PutBytes(g.ref, v, s)
			}
		default:
			p.readCollection(&r, g, v)
		}
	}
	if r.bad || r.rest != "" {
		return nil, errPartial
	}
	return g, nil
}

func (p *partials) readCollection(r *partialReader, g *group, value int) {
	c := g.m.Collection(value)
	for n := r.number(); n > 0 && !r.bad; n-- {
		p.elem = p.elem[:0]
		for w := r.number(); w > 0 && !r.bad; w-- {
			p.elem = append(p.elem, r.word())
		}
		e, _ := c.Add(g.ref, p.elem)
		for i, v := range p.aggs.values[value].Elem {
			if v.Kind == state.Word {
				c.Touch(e)[i] = r.word()
			} else if s, ok := r.text(); ok {
				c.PutBytes(e, i, s)
			}
		}
	}
}

// merging is how an aggregation takes in what local phases give.
type merging struct {
	codec  *partials
	column int // of the input: the accumulators
}

func newMerging(calls []expr.AggCall, in []types.Field, retract bool, env *expr.Env, column int) (*merging, error) {
	part, err := newPartials(calls, in, retract, env)
	if err != nil {
		return nil, err
	}
	return &merging{codec: newPartialCodec(part, len(calls)), column: column}, nil
}

// merge adds what row i holds to a record.
func (m *merging) merge(a *aggregates, dst *group, b *types.Batch, i int32) error {
	src, err := m.codec.read(b.Cols[m.column].Str[i])
	if err != nil {
		return err
	}
	return a.mergePartial(dst, src, m.codec.aggs)
}

// mergePartial adds accumulators of the form of newPartials.
func (a *aggregates) mergePartial(dst, src *group, part *aggregates) error {
	a.st.reading, part.st.reading = false, true
	if a.counted {
		dst.words[0] += src.words[0]
	}
	for n := range a.slots {
		s, p := &a.slots[n], &part.slots[n]
		if s.set >= 0 {
			continue
		}
		merge := s.acc.Merge
		if s.acc.MergePartial != nil {
			merge = s.acc.MergePartial
		}
		if err := merge(dst.words[s.from:s.to], a.st.of(dst, s), src.words[p.from:p.to], part.st.of(src, p)); err != nil {
			return err
		}
	}
	for n := range a.sets {
		if err := a.mergeSet(dst, src, n, part.sets[n].value); err != nil {
			return err
		}
	}
	return nil
}
