package types

// Batch is up to BatchRows rows in columns, with a kind per row and the watermarks that lie between them.
//
// Borrowing: a batch handed to somebody is valid until the call returns, and the callee must not change it. Who keeps
// something copies it (a string may be kept as it is). An operator owns its output batch and refills it on every call;
// columns that pass through unchanged are shared pointers.
type Batch struct {
	Len   int       // physical rows in every column
	Sel   []int32   // the live rows in ascending order; nil: all
	Kinds []RowKind // one per physical row; nil: all +I
	Cols  []*Column
	Marks []Mark // ascending in Pos and Time

	kinds []RowKind // spare memory for Kinds, so that Reset loses none
}

// Mark is a watermark that lies inside a batch: it comes after the physical rows below Pos and before the others. A batch
// behaves as if it were cut at its marks.
type Mark struct {
	Pos  int32
	Time int64 // milliseconds since 1970-01-01, as every watermark
}

// MinWatermark means that no watermark has been seen; MaxWatermark is sent at the end of bounded input.
const (
	MinWatermark int64 = -1 << 63
	MaxWatermark int64 = 1<<63 - 1
)

// NewBatch makes an empty batch with columns of the given types and room for BatchRows rows.
func NewBatch(fields []Field) *Batch {
	b := &Batch{Cols: make([]*Column, len(fields))}
	for i, f := range fields {
		b.Cols[i] = NewColumn(f.Type, BatchRows)
	}
	return b
}

// Reset empties the batch and keeps its memory. Only the owner of all columns and of Kinds may call it.
func (b *Batch) Reset() {
	if b.Kinds != nil {
		b.kinds = b.Kinds[:0]
	}
	b.Len, b.Sel, b.Kinds, b.Marks = 0, nil, nil, b.Marks[:0]
	for _, c := range b.Cols {
		c.Reset()
	}
}

// Rows is the number of live rows.
func (b *Batch) Rows() int {
	if b.Sel != nil {
		return len(b.Sel)
	}
	return b.Len
}

// Row gives the physical number of the k-th live row.
func (b *Batch) Row(k int) int32 {
	if b.Sel != nil {
		return b.Sel[k]
	}
	return int32(k)
}

// Kind gives the kind of physical row i.
func (b *Batch) Kind(i int32) RowKind {
	if b.Kinds == nil {
		return Insert
	}
	return b.Kinds[i]
}

// Push counts a row that was just appended to every column. kind is kept; a batch of +I alone stays without Kinds.
func (b *Batch) Push(kind RowKind) {
	if b.Kinds != nil {
		b.Kinds = append(b.Kinds, kind)
	} else if kind != Insert {
		if b.kinds == nil {
			b.kinds = make([]RowKind, 0, BatchRows)
		}
		b.Kinds = b.kinds[:0]
		for range b.Len {
			b.Kinds = append(b.Kinds, Insert)
		}
		b.Kinds = append(b.Kinds, kind)
	}
	b.Len++
}

// PushChanges counts n pairs of rows, -U and +U, that were just appended to every column.
func (b *Batch) PushChanges(n int) {
	for range min(n, 1) { // makes Kinds
		b.Push(UpdateBefore)
		b.Push(UpdateAfter)
	}
	for left := 2*n - 2; left > 0; {
		k := min(left, len(changes))
		b.Kinds = append(b.Kinds, changes[:k]...)
		b.Len += k
		left -= k
	}
}

// changes is a table of -U, +U, -U, +U, ..
var changes = func() (c [256]RowKind) {
	for i := 0; i < len(c); i += 2 {
		c[i], c[i+1] = UpdateBefore, UpdateAfter
	}
	return c
}()

// Truncate drops the physical rows from n on; the owner of all columns uses it to take back a row that failed half way.
func (b *Batch) Truncate(n int) {
	for _, c := range b.Cols {
		if c.Len() > n {
			c.Truncate(n)
		}
	}
	b.Len = n
	if b.Kinds != nil {
		b.Kinds = b.Kinds[:n]
	}
}

// Full reports whether the batch has no room for another row.
func (b *Batch) Full() bool { return b.Len >= BatchRows }

// AppendRow appends physical row i of src, which has the same columns, with the given kind.
func (b *Batch) AppendRow(src *Batch, i int32, kind RowKind) {
	for j, c := range b.Cols {
		c.AppendFrom(src.Cols[j], i)
	}
	b.Push(kind)
}

// Segments cuts the batch at its marks. rows gets the live rows of a segment (a batch that borrows b's columns, without
// marks, never empty); mark gets the watermark behind it. The first error ends the walk.
func (b *Batch) Segments(rows func(*Batch) error, mark func(ms int64) error) error {
	if len(b.Marks) == 0 {
		if b.Rows() == 0 {
			return nil
		}
		return rows(b)
	}
	seg := Batch{Len: b.Len, Kinds: b.Kinds, Cols: b.Cols}
	sel := b.Live()
	from := 0
	next := func(end int) error {
		if end == from {
			return nil
		}
		seg.Sel = sel[from:end]
		from = end
		return rows(&seg)
	}
	for _, m := range b.Marks {
		end := from
		for end < len(sel) && sel[end] < m.Pos {
			end++
		}
		if err := next(end); err != nil {
			return err
		}
		if err := mark(m.Time); err != nil {
			return err
		}
	}
	return next(len(sel))
}

// Live gives the live rows as a selection also when Sel is nil; callers must not change it.
func (b *Batch) Live() []int32 {
	if b.Sel != nil {
		return b.Sel
	}
	return All(b.Len)
}

// All gives the selection that names the first n rows; callers must not change it.
func All(n int) []int32 {
	if n <= len(identity) {
		return identity[:n:n]
	}
	s := make([]int32, n) // a message of very many rows, see connectors.Decoder
	for i := range s {
		s[i] = int32(i)
	}
	return s
}

// identity is a table of 0, 1, 2, ..
var identity = func() []int32 {
	s := make([]int32, 2*BatchRows)
	for i := range s {
		s[i] = int32(i)
	}
	return s
}()
