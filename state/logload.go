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
}

func (l *Log) load(b blob, keep Range) error {
	if l.loading == nil {
		l.loading = &logLoad{names: map[int][]loadedRow{}}
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

// loadRow appends one row.
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
	bits := f.nulls
	if bits == 0 {
		bits = 1
	}
	nulls, err := r.take(uint64(bits))
	if err != nil {
		return err
	}
	vals, err := r.take(uint64(f.side - f.cols))
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
	group := int32(head[1] >> 16 & 0xFFFF)
	if !keep.Has(group) {
		return nil
	}
	row := l.Append(Key{words, head[1] &^ (1<<32 - 1), group}, int64(time), cols, 0)
	if l.spec.TTL > 0 && r.stamped {
		c, rec := l.row(row)
		rec[c.form.stamp] = stamp
	}
	l.loading.names[subtask] = append(l.loading.names[subtask], loadedRow{Row(head[0]), row})
	return nil
}

// loadColumns makes one-row columns of a record's values.
func (l *Log) loadColumns(r *recordReader, nulls, vals []uint64) ([]*types.Column, error) {
	f := l.form
	cols := make([]*types.Column, len(f.types))
	for j, p := range f.phys {
		col := types.NewColumn(f.types[j].Optional(), 1)
		cols[j] = col
		w := vals[f.at[j]-f.cols:]
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
