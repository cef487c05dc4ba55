package op

import (
	"encoding/binary"
	"errors"
	"math"

	"runnel/types"
)

// Limit gives the rows Offset+1 to Offset+Limit of an append-only input by arrival. It runs as one subtask.
type Limit struct {
	single
	offset, limit int64
	seen          int64
	out           types.Batch
}

// NewLimit makes the operator; a negative limit is none.
func NewLimit(offset, limit int64) *Limit {
	if limit < 0 {
		limit = math.MaxInt64
	}
	return &Limit{offset: offset, limit: min(limit, math.MaxInt64-offset)}
}

// Done reports whether no further row can come out: a batch job need not read on.
func (l *Limit) Done() bool { return l.seen >= l.offset+l.limit }

// Process gives the rows whose turn it is.
func (l *Limit) Process(_ int, b *types.Batch) error {
	n := int64(b.Rows())
	from := min(max(l.offset-l.seen, 0), n)
	to := min(max(l.offset+l.limit-l.seen, from), n)
	l.seen += n
	if from == 0 && to == n {
		return l.ctx.Out.Emit(b)
	}
	sel := b.Sel
	if sel == nil {
		sel = types.All(b.Len)
	}
	return emitSelected(l.ctx.Out, &l.out, b, sel[from:to])
}

// Snapshot saves the number of rows seen.
func (l *Limit) Snapshot() ([]byte, error) {
	return binary.AppendUvarint([]byte{1}, uint64(l.seen)), nil
}

// Restore goes on counting.
func (l *Limit) Restore(snapshots [][]byte) error {
	for _, b := range snapshots {
		if len(b) == 0 || b[0] != 1 {
			return errors.New("snapshot of a limit: unknown form")
		}
		n, w := binary.Uvarint(b[1:])
		if w <= 0 {
			return errors.New("snapshot of a limit: cut short")
		}
		l.seen = max(l.seen, int64(n))
	}
	return nil
}
