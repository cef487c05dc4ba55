package types

import "slices"

// BatchRows is the greatest number of rows in a batch.
const BatchRows = 1024

// Int128 is a two-word value: a signed 128-bit integer (unscaled DECIMAL over 18 digits), or a TIMESTAMP(7..9) with
// microseconds in Hi and nanoseconds of the microsecond in Lo. The ordering of both is (Hi signed, Lo unsigned).
type Int128 struct {
	Hi int64
	Lo uint64
}

// Bitmap is a set of row numbers. As the validity of a column a set bit means "not NULL".
type Bitmap []uint64

// Has reports whether bit i is set.
func (m Bitmap) Has(i int32) bool { return m[i>>6]&(1<<(uint(i)&63)) != 0 }

// Set sets bit i, which must be within the bitmap.
func (m Bitmap) Set(i int32) { m[i>>6] |= 1 << (uint(i) & 63) }

// Clear clears bit i, which must be within the bitmap.
func (m Bitmap) Clear(i int32) { m[i>>6] &^= 1 << (uint(i) & 63) }

// Column is one column of a batch. Exactly one value slice is in use, given by Type.Phys(); its length is the number of
// physical rows. The value at a NULL position is arbitrary. Bytes behind Str are written once and never again, so a
// string may be kept by anyone.
type Column struct {
	Type  Type
	Int   []int64
	Flt   []float64
	Wide  []Int128
	Str   []string
	Any   []any  // *List, *MapValue (MAP and MULTISET) or *Tuple
	Valid Bitmap // nil: no NULLs
	phys  Phys
	own   Bitmap // the memory of Valid, kept while there are no NULLs
}

// NewColumn makes an empty column with room for n rows.
func NewColumn(t Type, n int) *Column {
	c := &Column{Type: t, phys: t.Phys()}
	switch c.phys {
	case PhysInt:
		c.Int = make([]int64, 0, n)
	case PhysFloat:
		c.Flt = make([]float64, 0, n)
	case PhysWide:
		c.Wide = make([]Int128, 0, n)
	case PhysStr:
		c.Str = make([]string, 0, n)
	case PhysAny:
		c.Any = make([]any, 0, n)
	}
	return c
}

// Phys gives the slice in use. Columns must come from NewColumn.
func (c *Column) Phys() Phys { return c.phys }

// Len is the number of physical rows.
func (c *Column) Len() int {
	switch c.phys {
	case PhysInt:
		return len(c.Int)
	case PhysFloat:
		return len(c.Flt)
	case PhysWide:
		return len(c.Wide)
	case PhysStr:
		return len(c.Str)
	default:
		return len(c.Any)
	}
}

// Null reports whether row i is NULL.
func (c *Column) Null(i int32) bool { return c.Valid != nil && !c.Valid.Has(i) }

// Reset empties the column and keeps its memory.
func (c *Column) Reset() { c.Truncate(0) }

// Truncate drops all rows from n on.
func (c *Column) Truncate(n int) {
	switch c.phys {
	case PhysInt:
		c.Int = c.Int[:n]
	case PhysFloat:
		c.Flt = c.Flt[:n]
	case PhysWide:
		c.Wide = c.Wide[:n]
	case PhysStr:
		c.Str = c.Str[:n]
	case PhysAny:
		clear(c.Any[n:])
		c.Any = c.Any[:n]
	}
	if n == 0 {
		c.Valid = nil
	}
}

// Resize sets the number of rows to n; new values are arbitrary and valid unless SetNull says otherwise. All rows become
// valid. It is for kernels that fill the value slice by index.
func (c *Column) Resize(n int) {
	c.Valid = nil
	switch c.phys {
	case PhysInt:
		c.Int = grow(c.Int, n)
	case PhysFloat:
		c.Flt = grow(c.Flt, n)
	case PhysWide:
		c.Wide = grow(c.Wide, n)
	case PhysStr:
		c.Str = grow(c.Str, n)
	case PhysAny:
		c.Any = grow(c.Any, n)
	}
}

func grow[T any](s []T, n int) []T {
	if cap(s) >= n {
		return s[:n]
	}
	t := make([]T, n, max(n, BatchRows))
	copy(t, s)
	return t
}

// SetNull makes row i NULL.
func (c *Column) SetNull(i int32) {
	c.needValid(max(c.Len(), int(i)+1))
	c.Valid.Clear(i)
}

// needValid makes sure that the bitmap exists and covers n rows.
func (c *Column) needValid(n int) {
	words := (n + 63) >> 6
	if len(c.Valid) >= words {
		return
	}
	fresh := c.Valid == nil
	if fresh {
		if c.own == nil {
			c.own = make(Bitmap, 0, max(words, BatchRows/64))
		}
		c.Valid = c.own[:0]
	}
	for len(c.Valid) < words {
		c.Valid = append(c.Valid, ^uint64(0))
	}
	if fresh {
		c.own = c.Valid[:0]
	}
}

// markValid sets the bit of row i, which was just appended.
func (c *Column) markValid(i int) {
	if c.Valid != nil {
		c.needValid(i + 1)
		c.Valid.Set(int32(i))
	}
}

// AppendNull appends a NULL.
func (c *Column) AppendNull() {
	n := c.Len()
	switch c.phys {
	case PhysInt:
		c.Int = append(c.Int, 0)
	case PhysFloat:
		c.Flt = append(c.Flt, 0)
	case PhysWide:
		c.Wide = append(c.Wide, Int128{})
	case PhysStr:
		c.Str = append(c.Str, "")
	case PhysAny:
		c.Any = append(c.Any, nil)
	}
	c.needValid(n + 1)
	c.Valid.Clear(int32(n))
}

// AppendInt appends to a PhysInt column.
func (c *Column) AppendInt(v int64) {
	c.Int = append(c.Int, v)
	if c.Valid != nil {
		c.markValid(len(c.Int) - 1)
	}
}

// ExtendInt appends n arbitrary values, none of them NULL, to a PhysInt column and gives them to be filled in.
func (c *Column) ExtendInt(n int) []int64 {
	at := len(c.Int)
	c.Int = slices.Grow(c.Int, n)[:at+n]
	if c.Valid != nil {
		for i := at; i < at+n; i++ {
			c.markValid(i)
		}
	}
	return c.Int[at:]
}

// AppendBool appends to a BOOLEAN column.
func (c *Column) AppendBool(v bool) {
	n := int64(0)
	if v {
		n = 1
	}
	c.AppendInt(n)
}

// AppendFloat appends to a PhysFloat column.
func (c *Column) AppendFloat(v float64) {
	c.Flt = append(c.Flt, v)
	if c.Valid != nil {
		c.markValid(len(c.Flt) - 1)
	}
}

// AppendWide appends to a PhysWide column.
func (c *Column) AppendWide(v Int128) {
	c.Wide = append(c.Wide, v)
	if c.Valid != nil {
		c.markValid(len(c.Wide) - 1)
	}
}

// AppendStr appends to a PhysStr column. The bytes of s must never change.
func (c *Column) AppendStr(s string) {
	c.Str = append(c.Str, s)
	if c.Valid != nil {
		c.markValid(len(c.Str) - 1)
	}
}

// AppendAny appends to a PhysAny column; v is *List, *MapValue or *Tuple and must never change.
func (c *Column) AppendAny(v any) {
	c.Any = append(c.Any, v)
	if c.Valid != nil {
		c.markValid(len(c.Any) - 1)
	}
}

// AppendFrom appends row i of src, a column of the same physical form.
func (c *Column) AppendFrom(src *Column, i int32) {
	if src.Null(i) {
		c.AppendNull()
		return
	}
	switch c.phys {
	case PhysInt:
		c.AppendInt(src.Int[i])
	case PhysFloat:
		c.AppendFloat(src.Flt[i])
	case PhysWide:
		c.AppendWide(src.Wide[i])
	case PhysStr:
		c.AppendStr(src.Str[i])
	case PhysAny:
		c.AppendAny(src.Any[i])
	}
}

// Gather appends the rows of src named by sel (nil: all n rows), column at a time.
func (c *Column) Gather(src *Column, sel []int32, n int) {
	at := c.Len()
	rows := n
	if sel != nil {
		rows = len(sel)
	}
	switch c.phys {
	case PhysInt:
		c.Int = gather(c.Int, src.Int, sel, n)
	case PhysFloat:
		c.Flt = gather(c.Flt, src.Flt, sel, n)
	case PhysWide:
		c.Wide = gather(c.Wide, src.Wide, sel, n)
	case PhysStr:
		c.Str = gather(c.Str, src.Str, sel, n)
	case PhysAny:
		c.Any = gather(c.Any, src.Any, sel, n)
	}
	if src.Valid == nil {
		if c.Valid != nil {
			for i := at; i < at+rows; i++ {
				c.markValid(i)
			}
		}
		return
	}
	c.needValid(at + rows)
	for k := range rows {
		i := int32(k)
		if sel != nil {
			i = sel[k]
		}
		if src.Valid.Has(i) {
			c.Valid.Set(int32(at + k))
		} else {
			c.Valid.Clear(int32(at + k))
		}
	}
}

func gather[T any](dst, src []T, sel []int32, n int) []T {
	if sel == nil {
		return append(dst, src[:n]...)
	}
	at := len(dst)
	for cap(dst) < at+len(sel) {
		dst = append(dst[:cap(dst)], *new(T))
	}
	dst = dst[:at+len(sel)]
	d := dst[at:]
	for k, i := range sel {
		d[k] = src[i]
	}
	return dst
}
