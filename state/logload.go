package state

import (
	"fmt"
	"math"
	"slices"

	"runnel/types"
)

// loadedRow tells the new name of a restored row.
type loadedRow struct{ was, is Row }

// logLoad is what a log keeps while it is restored: by former subtask, the names of rows, ascending.
type logLoad struct {
	names map[int][]loadedRow
	sided bool

	bases map[loadedChunk]loadedBase
	cols  []*types.Column // of one row
	buf   []byte
	key   []uint64
}

// loadedChunk names a chunk of a former subtask by the low bits of its number, loadedBase has its whole number and what its
// rows are packed against.
type loadedChunk struct {
	subtask int
	low     uint32
}

type loadedBase struct {
	number uint64
	base   []int64
}

func (l *Log) load(b blob, keep Range) error {
	if l.loading == nil {
		l.loading = &logLoad{names: map[int][]loadedRow{}, bases: map[loadedChunk]loadedBase{}}
		for _, t := range l.form.types {
			l.loading.cols = append(l.loading.cols, types.NewColumn(t.Optional(), 1))
		}
	}
	l.snap.off = true
	r, err := newRecordReader(b, &layout{})
	if err != nil {
		return err
	}
	for r.more() {
		switch b.part {
		case partRows:
			err = l.loadRow(r, b.subtask, keep)
		case partPacked:
			err = l.loadPacked(r, b.subtask, keep)
		case partSide:
			err = l.loadSide(r, b.subtask)
		default:
			err = fmt.Errorf("there is no part %d", b.part)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// loadPacked appends one row, or takes up what the rows of a chunk are packed against.
func (l *Log) loadPacked(r *recordReader, subtask int, keep Range) error {
	f, load := l.form, l.loading
	head, err := r.word()
	if err != nil {
		return err
	}
	size := head >> 48
	switch size {
	case 0:
		return l.loadBase(r, subtask, head)
	case longRow:
		if size, err = r.word(); err != nil {
			return err
		}
	}
	var time, stamp uint64
	if !r.timeless {
		if time, err = r.word(); err != nil {
			return err
		}
	}
	if r.stamped {
		if stamp, err = r.word(); err != nil {
			return err
		}
	}
	if size > uint64(8*len(r.words)) {
		return errRecord
	}
	words, err := r.take((size + 7) / 8)
	if err != nil {
		return err
	}
	load.buf = append(appendWords(load.buf[:0], words), make([]byte, packedSlack)...)
	from, ok := load.bases[loadedChunk{subtask, (uint32(head) - 1) >> chunkBits}]
	if !ok || !f.sound(load.buf, int(size)) {
		return errRecord
	}
	group := int32(head >> 32 & 0xFFFF)
	if !keep.Has(group) {
		return nil
	}
	for _, col := range load.cols {
		col.Reset()
	}
	f.emit(load.buf, from.base, load.cols)
	load.key = f.keyOf(load.key[:0], load.buf, from.base)
	l.loadedRow(Key{load.key, types.HashKey(load.key), group}, int64(time), load.cols, r.stamped, stamp, subtask,
		Row(from.number<<chunkBits|uint64(uint32(head)-1)&(chunkRows-1))+1)
	return nil
}

// loadBase takes up what the rows of a chunk are packed against.
func (l *Log) loadBase(r *recordReader, subtask int, n uint64) error {
	f := l.form
	words, err := r.take(n)
	if err != nil {
		return err
	}
	if len(words) != 2+2*len(f.order) || words[1] != uint64(len(f.key)) {
		return errRecord
	}
	from := loadedBase{number: words[0], base: make([]int64, len(f.order))}
	for i, j := range f.order {
		if words[2+2*i] != uint64(j) {
			return errRecord
		}
		from.base[j] = int64(words[3+2*i])
	}
	l.loading.bases[loadedChunk{subtask, uint32(from.number) & (1<<(32-chunkBits) - 1)}] = from
	return nil
}

// loadedRow appends a row that was restored and notes what it was called.
func (l *Log) loadedRow(k Key, time int64, cols []*types.Column, stamped bool, stamp uint64, subtask int, was Row) {
	row := l.Append(k, time, cols, 0)
	if l.spec.TTL > 0 && stamped {
		c, rec := l.row(row)
		rec[c.form.stamp] = stamp
	}
	l.loading.names[subtask] = append(l.loading.names[subtask], loadedRow{was, row})
}

// loadRow appends one row as rows were written before they were packed: its name, a word of the key's tag, the key group and the
// length of the key (16 bits each; longRow: in the next word), the key, the time if there is one, NULL bits (a word for every 64
// columns), the words of the columns with length plus one in the place of a text, the stamp, and the texts, padded.
func (l *Log) loadRow(r *recordReader, subtask int, keep Range) error {
	f := l.form
	head, err := r.take(2)
	if err != nil {
		return err
	}
	n := head[1] & longRow
	if n == longRow {
		if n, err = r.word(); err != nil {
			return err
		}
	}
	words, err := r.take(n)
	if err != nil {
		return err
	}
	var time uint64
	if !r.timeless {
		if time, err = r.word(); err != nil {
			return err
		}
	}
	nulls, err := r.take(uint64(max(1, (len(f.types)+63)/64)))
	if err != nil {
		return err
	}
	vals, err := r.take(uint64(f.words - 1))
	if err != nil {
		return err
	}
	var stamp uint64
	if r.stamped {
		if stamp, err = r.word(); err != nil {
			return err
		}
	}
	cols, err := l.loadColumns(r, nulls, vals)
	if err != nil {
		return err
	}
	if group := int32(head[1] >> 16 & 0xFFFF); keep.Has(group) {
		l.loadedRow(Key{words, head[1] &^ (1<<32 - 1), group}, int64(time), cols, r.stamped, stamp, subtask, Row(head[0]))
	}
	return nil
}

// loadColumns makes one-row columns of a record's values.
func (l *Log) loadColumns(r *recordReader, nulls, vals []uint64) ([]*types.Column, error) {
	f := l.form
	cols := make([]*types.Column, len(f.types))
	for j, p := range f.phys {
		col, w := types.NewColumn(f.types[j].Optional(), 1), vals
		cols[j], vals = col, vals[1:]
		if p == types.PhysWide {
			vals = vals[1:]
		}
		if nulls[j/64]>>(j%64)&1 != 0 {
			col.AppendNull()
			continue
		}
		var text string
		if p >= textPhys {
			var err error
			if text, err = r.text(w[0]); err != nil {
				return nil, err
			}
		}
		switch p {
		case types.PhysInt:
			col.AppendInt(int64(w[0]))
		case types.PhysFloat:
			col.AppendFloat(math.Float64frombits(w[0]))
		case types.PhysWide:
			col.AppendWide(types.Int128{Hi: int64(w[0]), Lo: w[1]})
		case types.PhysStr:
			col.AppendStr(text)
		default:
			d, rest, err := types.DecodeDatum([]byte(text), f.types[j])
			if err != nil || len(rest) > 0 {
				return nil, errRecord
			}
			col.AppendAny(d.A)
		}
	}
	return cols, nil
}

// loadSide sets the side words of one row that was restored, or takes it out.
func (l *Log) loadSide(r *recordReader, subtask int) error {
	head, err := r.take(2)
	if err != nil {
		return err
	}
	dead := head[1]&deadFlag != 0
	var side []uint64
	var stamp uint64
	if !dead {
		if side, err = r.take(uint64(l.spec.Side)); err != nil {
			return err
		}
		if r.stamped {
			if stamp, err = r.word(); err != nil {
				return err
			}
		}
	}
	names := l.loading.names[subtask]
	i, ok := slices.BinarySearchFunc(names, Row(head[0]), func(n loadedRow, r Row) int {
		switch {
		case n.was < r:
			return -1
		case n.was > r:
			return 1
		}
		return 0
	})
	if !ok {
		return nil
	}
	c, rec := l.row(names[i].is)
	switch {
	case rec == nil:
	case dead:
		l.Delete(names[i].is)
	default:
		copy(rec[c.form.side:c.form.stamp], side)
		l.loading.sided = true
		if l.spec.TTL > 0 && r.stamped {
			rec[c.form.stamp] = stamp
		}
	}
	return nil
}

func (l *Log) loaded() error {
	l.snap.off = false
	if l.loading != nil {
		l.snap.unit.lost = l.loading.sided
	}
	l.loading = nil
	return nil
}
