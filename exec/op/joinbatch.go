package op

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"runnel/expr"
	"runnel/state"
	"runnel/types"
)

// BatchJoin is a Join of batch mode: it keeps the rows of both inputs until they have ended, makes a hash table of the
// smaller one and gives the rows of the other one with their partners, all +I. Rows without partner come last but for
// those whose key is NULL.
//
// When the rows fill the memory, they are dealt by a hash of their keys and go to disk, and the parts are joined one
// after the other. A part whose smaller side does not fit into memory is joined block by block.
type BatchJoin struct {
	timed
	spec    Joining
	sides   [2]*batchSide
	space   *spillSpace
	fields  []types.Field // of a pair
	cond    expr.Filter
	pairs   *types.Batch
	passed  []int32
	out     output
	ended   int
	matched types.Bitmap // probe rows of the part that have found partners
}

// batchSide is one input.
type batchSide struct {
	JoinSide
	first  int // its first column in a pair
	keys   batchKeys
	strict []int // key columns in which NULL equals nothing
	alone  bool  // rows without partner come out
	one    *rowRun
	parts  *partitioned // nil: all rows are in one
	codec  *types.RowCodec
	picked []int32 // rows of this side in the pairs being made
}

// run gives the rows of a part, nil for none.
func (s *batchSide) run(part int) *rowRun {
	if s.parts == nil {
		return s.one
	}
	if s.parts.runs == nil {
		return nil
	}
	return s.parts.runs[part]
}

// NewBatchJoin makes the operator; the inputs are append-only.
func NewBatchJoin(spec Joining) *BatchJoin {
	return &BatchJoin{timed: timed{clock: NewClock(2)}, spec: spec}
}

// Open compiles the condition.
func (j *BatchJoin) Open(ctx *Context) error {
	j.ctx, j.space = ctx, newSpillSpace(ctx)
	j.space.Memory /= 2 // the other half is for the hash table
	k := j.spec.Kind
	j.sides[0] = &batchSide{JoinSide: j.spec.Left, alone: k == Left || k == Full || k == Anti}
	j.sides[1] = &batchSide{JoinSide: j.spec.Right, alone: k == Right || k == Full, first: len(j.spec.Left.Fields)}
	for _, s := range j.sides {
		s.keys = newBatchKeys(s.Fields, s.Keys, 1)
		s.codec = newRunCodec(s.Fields)
		s.one = j.space.newRun(s.codec)
		for n, c := range s.Keys {
			if j.spec.NullSafe == nil || !j.spec.NullSafe[n] {
				s.strict = append(s.strict, c)
			}
		}
	}
	j.fields = slices.Concat(j.spec.Left.Fields, j.spec.Right.Fields)
	j.pairs = types.NewBatch(j.fields)
	if j.spec.Cond != nil {
		var err error
		if j.cond, err = expr.CompileFilter(j.spec.Cond, j.fields, ctx.Env); err != nil {
			return fmt.Errorf("join condition %s: %w", j.spec.Cond, err)
		}
	}
	out := j.fields
	if k == Semi || k == Anti {
		out = j.spec.Left.Fields
	}
	j.out = newOutput(ctx.Out, out)
	return nil
}

// Close removes what is on disk.
func (j *BatchJoin) Close() error { return j.space.close() }

// Watermark passes the smaller of both watermarks on.
func (j *BatchJoin) Watermark(input int, ms int64) error {
	if !j.clock.Watermark(input, ms) {
		return nil
	}
	return j.ctx.Out.Watermark(j.clock.Now())
}

// Idle passes on that both inputs are idle, or no longer are.
func (j *BatchJoin) Idle(input int, idle bool) error {
	moved, changed := j.clock.Idle(input, idle)
	return tellTime(j.ctx.Out, j.clock, moved, changed)
}

// Process keeps the rows of an input.
func (j *BatchJoin) Process(input int, b *types.Batch) error {
	s := j.sides[input]
	if s.parts != nil {
		s.keys.encode(b)
	}
	for k, i := range b.Live() {
		if slices.ContainsFunc(s.strict, func(c int) bool { return b.Cols[c].Null(i) }) {
			if s.alone {
				if err := j.lone(s, b.Cols, i); err != nil {
					return err
				}
			}
			continue
		}
		var err error
		if s.parts == nil {
			err = s.one.add(b.Cols, i)
		} else {
			err = s.parts.add(s.keys.Hash[k], b.Cols, i)
		}
		if err != nil {
			return err
		}
	}
	if s.parts == nil && j.space.over(j.sides[0].one.bytes+j.sides[1].one.bytes) {
		if err := j.deal(); err != nil {
			return err
		}
	}
	return j.out.flush()
}

// deal deals the rows that were kept so far.
func (j *BatchJoin) deal() error {
	for _, s := range j.sides {
		s.parts = &partitioned{space: j.space, codec: s.codec}
		err := s.one.each(s.Fields, func(b *types.Batch) error {
			s.keys.encode(b)
			for k, i := range b.Live() {
				if err := s.parts.add(s.keys.Hash[k], b.Cols, i); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		s.one.drop()
	}
	return nil
}

// EndInput joins when both inputs have ended.
func (j *BatchJoin) EndInput(int) error {
	if j.ended++; j.ended < 2 {
		return nil
	}
	parts := 1
	if j.sides[0].parts != nil {
		parts = 1 << spreadBits
	}
	for p := range parts {
		if err := j.part(j.sides[0].run(p), j.sides[1].run(p)); err != nil {
			return err
		}
	}
	return j.out.flush()
}

// part joins the rows of one part of the keys.
func (j *BatchJoin) part(left, right *rowRun) error {
	build, probe := j.sides[1], j.sides[0]
	built, probed := right, left
	if left != nil && (right == nil || left.bytes < right.bytes) {
		build, probe, built, probed = probe, build, left, right
	}
	for _, r := range []*rowRun{built, probed} {
		if r != nil && r.rows > math.MaxInt32 {
			return fmt.Errorf("%s: %d rows that may have one key are more than a join can number", j.ctx.Name, r.rows)
		}
	}
	j.matched = j.matched[:0]
	var in runReader
	if built != nil {
		in.run = built
	}
	for last := false; !last; {
		t := newJoinTable(build)
		var err error
		if last, err = t.fill(&in, j.space); err != nil {
			return err
		}
		if probed != nil {
			if err := j.probe(t, probe, probed, last); err != nil {
				return err
			}
		}
		if err := j.unmatched(build, t); err != nil {
			return err
		}
	}
	for _, r := range []*rowRun{built, probed} {
		if r != nil {
			r.drop()
		}
	}
	return nil
}

// probe gives the pairs of all probe rows with the table, and behind the last block of the build side the probe rows that
// come out alone.
func (j *BatchJoin) probe(t *joinTable, probe *batchSide, rows *rowRun, last bool) error {
	base := int32(0)
	return rows.each(probe.Fields, func(b *types.Batch) error {
		for need := (int(base) + b.Len + 63) / 64; len(j.matched) < need; {
			j.matched = append(j.matched, 0)
		}
		probe.keys.encode(b)
		probe.picked, t.side.picked = probe.picked[:0], t.side.picked[:0]
		for i := range int32(b.Len) {
			ref := t.heads.Find(probe.keys.at(int(i)))
			if ref == 0 {
				continue
			}
			for x := int32(t.heads.Get(ref)[0]); x >= 0; x = t.next[x] {
				probe.picked, t.side.picked = append(probe.picked, i), append(t.side.picked, x)
				if len(probe.picked) == types.BatchRows {
					if err := j.match(t, probe, b, base); err != nil {
						return err
					}
				}
			}
		}
		if err := j.match(t, probe, b, base); err != nil {
			return err
		}
		if last {
			if err := j.settle(probe, b, base); err != nil {
				return err
			}
		}
		base += int32(b.Len)
		return j.out.flush()
	})
}

// settle gives the probe rows of a batch that come out once, now that all partners are known.
func (j *BatchJoin) settle(probe *batchSide, b *types.Batch, base int32) error {
	semi := j.spec.Kind == Semi && probe == j.sides[0]
	if !semi && !probe.alone {
		return nil
	}
	for i := range int32(b.Len) {
		if j.matched.Has(base+i) != semi {
			continue
		}
		if err := j.lone(probe, b.Cols, i); err != nil {
			return err
		}
	}
	return nil
}

// unmatched gives the build rows of a block that come out once.
func (j *BatchJoin) unmatched(build *batchSide, t *joinTable) error {
	semi := j.spec.Kind == Semi && build == j.sides[0]
	if !semi && !build.alone {
		return nil
	}
	for i := range int32(t.rows.n) {
		if t.matched.Has(i) != semi {
			continue
		}
		if err := j.lone(build, t.rows.cols, i); err != nil {
			return err
		}
	}
	return nil
}

// match gives the picked pairs that fulfil the condition.
func (j *BatchJoin) match(t *joinTable, probe *batchSide, b *types.Batch, base int32) error {
	n := len(probe.picked)
	if n == 0 {
		return nil
	}
	for c, col := range b.Cols {
		j.pairs.Cols[probe.first+c].Gather(col, probe.picked, b.Len)
	}
	for c, col := range t.rows.cols {
		j.pairs.Cols[t.side.first+c].Gather(col, t.side.picked, t.rows.n)
	}
	j.pairs.Len = n
	passed := types.All(n)
	if j.cond != nil {
		var err error
		if passed, err = j.cond(j.pairs, passed, j.passed[:0]); err != nil {
			failed, err := rowError(err)
			if err == nil {
				err = dataError(j.ctx, failed, j.fields, j.pairs)
			}
			return errors.Join(j.out.flush(), err)
		}
		j.passed = passed
	}
	for _, k := range passed {
		j.matched.Set(base + probe.picked[k])
		t.matched.Set(t.side.picked[k])
	}
	var err error
	if j.spec.Kind != Semi && j.spec.Kind != Anti && len(passed) > 0 {
		if err = j.out.flush(); err == nil {
			j.pairs.Sel = passed
			err = j.ctx.Out.Emit(j.pairs)
		}
	}
	j.pairs.Reset()
	probe.picked, t.side.picked = probe.picked[:0], t.side.picked[:0]
	return err
}

// lone gives a row without partner: padded with NULLs, or as it is.
func (j *BatchJoin) lone(s *batchSide, cols []*types.Column, i int32) error {
	for c, col := range j.out.Cols {
		if c < s.first || c >= s.first+len(s.Fields) {
			col.AppendNull()
		} else {
			col.AppendFrom(cols[c-s.first], i)
		}
	}
	return j.out.pushed(types.Insert)
}

// joinTable is a block of the build side, found by key. Rows of a key are chained in the order of their arrival.
type joinTable struct {
	side    *batchSide
	rows    collected
	heads   *state.Map // first and last row of each key
	next    []int32
	matched types.Bitmap
}

func newJoinTable(s *batchSide) *joinTable {
	return &joinTable{side: s, rows: newCollected(s.Fields), heads: state.NewMap(state.Words(2))}
}

// fill reads rows as far as they fit into memory, and reports whether these were the last ones.
func (t *joinTable) fill(in *runReader, space *spillSpace) (last bool, err error) {
	if in.run == nil {
		return true, nil
	}
	const step = 128 // rows after which the memory is looked at
	b := types.NewBatch(t.side.Fields)
	for {
		if b.Len, err = in.read(b.Cols, step); err != nil || b.Len == 0 {
			return true, err
		}
		t.add(b)
		b.Reset()
		if space.over(t.rows.memory() + int64(t.heads.Memory())) {
			return in.ended(), nil
		}
	}
}

func (t *joinTable) add(b *types.Batch) {
	t.side.keys.encode(b)
	for k := range b.Len {
		x := int32(t.rows.n + k)
		t.next = append(t.next, -1)
		ref, fresh := t.heads.Upsert(t.side.keys.at(k))
		ends := t.heads.Touch(ref)
		if fresh {
			ends[0] = uint64(x)
		} else {
			t.next[ends[1]] = x
		}
		ends[1] = uint64(x)
	}
	t.rows.add(b)
	for need := (t.rows.n + 63) / 64; len(t.matched) < need; {
		t.matched = append(t.matched, 0)
	}
}
