package op

import (
	"slices"

	"runnel/types"
)

// joinBundle holds back the rows of a Join's inputs (mini-batch) and folds what takes each other back. Rows of a unique key
// leave what the key lost and what it has got at most; without one a row and its retraction vanish.
type joinBundle struct {
	bundle
	sides [2]foldedSide
}

// foldedSide are the rows of one input, in order of their keys' first appearance.
type foldedSide struct {
	fields []types.Field
	codec  *types.RowCodec
	key    []int // join key and unique key; nil: all columns
	names  *types.RowCodec
	at     map[string]int
	rows   []folded
	buf    []byte
}

// folded is what is left of the rows of one key. With a unique key: what it lost, then what it has got; else equal rows of
// one direction.
type folded []foldedRow

type foldedRow struct {
	kind types.RowKind
	row  string
}

func newJoinBundle(ctx *Context, m MiniBatch, sides ...JoinSide) *joinBundle {
	b := &joinBundle{bundle: newBundle(ctx, m, nil)}
	for i, s := range sides {
		f := foldedSide{fields: s.Fields, codec: newRowBytes(s.Fields).codec, at: map[string]int{}}
		if s.Unique != nil {
			f.key = slices.Concat(s.Keys, s.Unique)
			f.names = types.NewRowCodec(fieldTypes(s.Fields, f.key))
		}
		b.sides[i] = f
	}
	return b
}

// add folds row i of a batch in.
func (f *foldedSide) add(b *types.Batch, i int32) {
	f.buf = f.codec.Append(f.buf[:0], b.Cols, i)
	r := foldedRow{kind: b.Kind(i), row: string(f.buf)}
	name := r.row
	if f.key != nil {
		cols := make([]*types.Column, len(f.key))
		for k, c := range f.key {
			cols[k] = b.Cols[c]
		}
		f.buf = f.names.Append(f.buf[:0], cols, i)
		name = string(f.buf)
	}
	at, ok := f.at[name]
	if !ok {
		at = len(f.rows)
		f.at[name] = at
		f.rows = append(f.rows, nil)
	}
	rows := f.rows[at]
	if n := len(rows); n > 0 {
		was, is := rows[n-1].kind.Retract(), r.kind.Retract()
		switch {
		case was != is && (f.key == nil || is): // the row that came goes, or the one that went comes back
			f.rows[at] = rows[:n-1]
			return
		case was == is && f.key != nil:
			rows = rows[:n-1]
		}
	}
	f.rows[at] = append(rows, r)
}

func (f *foldedSide) reset() {
	clear(f.at)
	clear(f.rows)
	f.rows = f.rows[:0]
}

// bundled puts the rows of a batch into the bundle.
func (j *Join) bundled(input int, b *types.Batch) error {
	for _, i := range b.Live() {
		j.bundle.sides[input].add(b, i)
		if j.bundle.full() {
			if err := j.Flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// Flush joins the rows of the bundle: first the side whose rows may be partners of the other one's, so that less is padded
// and taken back.
func (j *Join) Flush() error {
	if j.bundle == nil || j.bundle.rows == 0 {
		return nil
	}
	j.sweep()
	order := [2]int{1, 0}
	if j.spec.Kind == Right {
		order = [2]int{0, 1}
	}
	for _, input := range order {
		if err := j.flushSide(input); err != nil {
			return err
		}
		j.bundle.sides[input].reset()
	}
	j.bundle.reset()
	return j.out.flush()
}

// OnTime ends a bundle.
func (j *Join) OnTime(ms int64) error {
	if j.bundle == nil {
		return nil
	}
	j.bundle.tick(ms)
	return j.Flush()
}

func (j *Join) flushSide(input int) error {
	f := &j.bundle.sides[input]
	my, other := j.sides[input], j.sides[1-input]
	b := types.NewBatch(f.fields)
	var pairs []bool // the row and the next one are what a key lost and has got
	give := func() error {
		if b.Len == 0 {
			return nil
		}
		err := j.applyFolded(my, other, b, pairs)
		b.Reset()
		pairs = pairs[:0]
		return err
	}
	for _, rows := range f.rows {
		if b.Len+len(rows) > types.BatchRows && b.Len > 0 {
			if err := give(); err != nil {
				return err
			}
		}
		for n, r := range rows {
			if _, err := f.codec.Decode([]byte(r.row), b.Cols); err != nil {
				return err
			}
			b.Push(r.kind)
			pairs = append(pairs, f.key != nil && n == 0 && len(rows) == 2)
		}
	}
	return give()
}

func (j *Join) applyFolded(my, other *regularSide, b *types.Batch, pairs []bool) error {
	j.stage(my, other, b)
	for i := int32(0); i < int32(b.Len); i++ {
		r := joinRow{b: b, i: i, kind: b.Kind(i), key: my.keys.at(int(i))}
		err := j.match(my, other, &r)
		switch {
		case err != nil:
		case pairs[i] && other.outer:
			i++
			err = j.swap(my, other, &r, &joinRow{b: b, i: i, kind: b.Kind(i), key: r.key})
		default:
			err = j.meet(my, other, &r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// swap joins a row that takes the place of another one: partners of both are not padded in between. j.rows are those of old.
func (j *Join) swap(my, other *regularSide, old, row *joinRow) error {
	before := slices.Clone(j.rows)
	j.forget(my, old)
	if len(before) == 0 && my.outer {
		if err := j.pad(my, old, types.Delete); err != nil {
			return err
		}
	}
	if err := j.pairs(my, other, old, types.Delete); err != nil {
		return err
	}
	if err := j.match(my, other, row); err != nil {
		return err
	}
	for _, x := range before {
		n := other.log.Touch(x)
		if n[0]--; n[0] == 0 && !slices.Contains(j.rows, x) {
			if err := j.padKept(other, x, types.Insert); err != nil {
				return err
			}
		}
	}
	if !row.nullKey || my.outer {
		j.keep(my, row, len(j.rows))
	}
	if len(j.rows) == 0 && my.outer {
		return j.pad(my, row, types.Insert)
	}
	for _, x := range j.rows {
		n := other.log.Touch(x)
		if n[0]++; n[0] == 1 && !slices.Contains(before, x) {
			if err := j.padKept(other, x, types.Delete); err != nil {
				return err
			}
		}
	}
	return j.pairs(my, other, row, types.Insert)
}
