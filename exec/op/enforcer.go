package op

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"runnel/types"
)

// Enforcement is what a sink does to rows before its writer.
type Enforcement struct {
	NotNull []int // columns that must not be NULL
	Drop    bool  // rows that break NotNull are dropped; else the job fails
	Length  []int // columns cut, and CHAR and BINARY padded, to their type's length
}

// ConstraintEnforcer holds the rows of a sink to the NOT NULL constraints and the lengths of its columns
// (table.exec.sink.not-null-enforcer and type-length-enforcer).
type ConstraintEnforcer struct {
	single
	fields []types.Field
	rules  Enforcement
	cols   map[int]*types.Column // columns that lengths change
	sel    []int32
	out    types.Batch
}

// NewConstraintEnforcer makes the operator; fields are the sink's columns.
func NewConstraintEnforcer(fields []types.Field, rules Enforcement) *ConstraintEnforcer {
	c := &ConstraintEnforcer{fields: fields, rules: rules, cols: map[int]*types.Column{}}
	for _, i := range rules.Length {
		c.cols[i] = types.NewColumn(fields[i].Type, types.BatchRows)
	}
	return c
}

// Process checks and changes rows.
func (c *ConstraintEnforcer) Process(_ int, b *types.Batch) error {
	sel := b.Sel
	if sel == nil {
		sel = types.All(b.Len)
	}
	sel, failed := c.notNull(b, sel)
	c.out = types.Batch{Len: b.Len, Kinds: b.Kinds, Marks: b.Marks, Cols: append(c.out.Cols[:0], b.Cols...)}
	if len(sel) != b.Len {
		c.out.Sel = sel
	}
	for i, col := range c.cols {
		fit(col, b.Cols[i], c.fields[i].Type, sel)
		c.out.Cols[i] = col
	}
	if failed != nil {
		c.out.Marks = splitMarks(b.Marks, failed.Row)
	}
	if err := emitSelected(c.ctx.Out, &c.out, &c.out, sel); err != nil {
		return err
	}
	if failed != nil {
		return dataError(c.ctx, failed, c.fields, b)
	}
	return nil
}

// notNull gives the rows without a NULL where none may be, up to the first that fails the job.
func (c *ConstraintEnforcer) notNull(b *types.Batch, sel []int32) ([]int32, *types.RowError) {
	var guarded []int
	for _, j := range c.rules.NotNull {
		if b.Cols[j].Valid != nil {
			guarded = append(guarded, j)
		}
	}
	if len(guarded) == 0 {
		return sel, nil
	}
	c.sel = c.sel[:0]
next:
	for _, i := range sel {
		for _, j := range guarded {
			if !b.Cols[j].Null(i) {
				continue
			}
			if c.rules.Drop {
				continue next
			}
			return c.sel, &types.RowError{Row: i, Err: fmt.Errorf("Column '%s' is NOT NULL, however, a null value is being "+
				"written into it. You can set job configuration 'table.exec.sink.not-null-enforcer'='DROP' to suppress "+
				"this exception and drop such records silently.", c.fields[j].Name)}
		}
		c.sel = append(c.sel, i)
	}
	return c.sel, nil
}

// fit copies the rows sel of src to the same places in dst, cut and padded to the length of t.
func fit(dst, src *types.Column, t types.Type, sel []int32) {
	dst.Resize(src.Len())
	for _, i := range sel {
		if src.Null(i) {
			dst.SetNull(i)
			continue
		}
		s := src.Str[i]
		if t.IsBinary() {
			if len(s) > t.Precision {
				s = s[:t.Precision]
			}
			if t.Kind == types.Binary && len(s) < t.Precision {
				s += strings.Repeat("\x00", t.Precision-len(s))
			}
		} else {
			s = fitText(s, t)
		}
		dst.Str[i] = s
	}
}

func fitText(s string, t types.Type) string {
	if len(s) > t.Precision {
		n := 0
		for at := range s {
			if n == t.Precision {
				return s[:at]
			}
			n++
		}
	}
	if t.Kind == types.Char {
		if n := utf8.RuneCountInString(s); n < t.Precision {
			return s + strings.Repeat(" ", t.Precision-n)
		}
	}
	return s
}
