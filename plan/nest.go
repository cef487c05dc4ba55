package plan

import (
	"maps"
	"slices"

	"runnel/connectors"
	"runnel/expr"
	"runnel/types"
)

// nestScans lets scans deliver single fields of ROW columns of which nobody reads the whole, where their connectors can.
// All scans of a table deliver the same ones, so that it is still read once.
func nestScans(roots []Node) {
	read := map[string]fieldsRead{}
	for _, r := range roots {
		pure(r, func(n Node) Node {
			for _, in := range n.Base().Inputs {
				if s, ok := in.(*Scan); ok && s.nested {
					key := s.identity()
					if read[key] == nil {
						read[key] = fieldsRead{}
					}
					read[key].scan(s, n)
				}
			}
			return n
		})
	}
	for _, r := range roots {
		pure(r, func(n Node) Node {
			if c, ok := n.(*Calc); ok {
				if s, ok := c.Inputs[0].(*Scan); ok && s.nested {
					s.nest(c, read[s.identity()])
				}
			}
			return n
		})
	}
}

// fieldsRead are the fields of the ROW columns of a table that are read, by the index into Table.Columns; connectors.Whole
// among them says that somebody reads the whole column.
type fieldsRead map[int]map[int]bool

func (f fieldsRead) add(column, field int) {
	if f[column] == nil {
		f[column] = map[int]bool{}
	}
	f[column][field] = true
}

// scan adds what the node on a scan and the scan's watermark read.
func (f fieldsRead) scan(s *Scan, above Node) {
	c, ok := above.(*Calc)
	if !ok {
		for _, col := range s.Columns {
			f.add(col, connectors.Whole)
		}
		return
	}
	es := append(slices.Clone(c.Exprs), c.Cond)
	if s.Mark != nil {
		es = append(es, s.Mark.Expr)
	}
	for _, e := range es {
		if e == nil {
			continue
		}
		expr.Walk(e, func(e expr.Expr) bool {
			switch e := e.(type) {
			case *expr.Field:
				if col, ok := e.Arg.(*expr.Col); ok {
					f.add(s.Columns[col.Index], e.Index)
					return false
				}
			case *expr.Col:
				f.add(s.Columns[e.Index], connectors.Whole)
			}
			return true
		})
	}
}

// nest makes a scan deliver the fields that are read in place of ROW columns, and c above it read them.
func (n *Scan) nest(c *Calc, read fieldsRead) {
	at := map[[2]int]int{} // the new place of a column, or of a field of it
	used := map[string]bool{}
	for _, f := range n.Fields {
		used[f.Name] = true
	}
	var columns, paths []int
	var fields []types.Field
	for i, col := range n.Columns {
		of := read[col]
		if len(of) == 0 || of[connectors.Whole] || n.Fields[i].Type.Kind != types.Row {
			at[[2]int{i, connectors.Whole}] = len(fields)
			columns, paths, fields = append(columns, col), append(paths, connectors.Whole), append(fields, n.Fields[i])
			continue
		}
		whole := n.Fields[i]
		for _, k := range slices.Sorted(maps.Keys(of)) {
			field := connectors.FieldOf(whole, k)
			field.Name = unused(field.Name, used)
			at[[2]int{i, k}] = len(fields)
			columns, paths, fields = append(columns, col), append(paths, k), append(fields, field)
		}
	}
	if len(at) == len(n.Columns) && !slices.ContainsFunc(paths, func(k int) bool { return k != connectors.Whole }) {
		return
	}
	n.Columns, n.Paths, n.Fields = columns, paths, fields
	move := func(e expr.Expr) expr.Expr {
		if e == nil {
			return nil
		}
		return flattened(e, fields, at)
	}
	c.Exprs, c.Cond = slices.Clone(c.Exprs), move(c.Cond)
	for i := range c.Exprs {
		c.Exprs[i] = move(c.Exprs[i])
	}
	if n.Mark != nil {
		m := *n.Mark
		if m.Column >= 0 {
			m.Column = at[[2]int{m.Column, connectors.Whole}]
		}
		m.Expr = move(m.Expr)
		n.Mark = &m
	}
}

// flattened makes an expression read columns in their new places and fields that are columns now.
func flattened(e expr.Expr, fields []types.Field, at map[[2]int]int) expr.Expr {
	moved := map[*expr.Col]bool{}
	return expr.Rewrite(e, func(e expr.Expr) expr.Expr {
		switch e := e.(type) {
		case *expr.Col:
			if i, ok := at[[2]int{e.Index, connectors.Whole}]; ok {
				c := &expr.Col{Index: i, Name: e.Name, T: e.T}
				moved[c] = true
				return c
			}
		case *expr.Field:
			if col, ok := e.Arg.(*expr.Col); ok && !moved[col] {
				i := at[[2]int{col.Index, e.Index}]
				c := &expr.Col{Index: i, Name: fields[i].Name, T: e.T}
				moved[c] = true
				return c
			}
		}
		return e
	})
}
