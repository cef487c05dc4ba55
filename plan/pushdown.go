package plan

import (
	"slices"

	"runnel/connectors"
	"runnel/expr"
	"runnel/types"
)

// pushDown tells scans what they need not read: how many rows a LIMIT right above takes, and conditions over columns that
// are the same for all rows of a split, such as partition columns. Both stay where they are, too: the scan may give more.
func (p *planning) pushDown(n Node) (Node, error) {
	if len(n.Base().Inputs) != 1 {
		return n, nil
	}
	s, ok := n.Base().Inputs[0].(*Scan)
	if !ok || s.plan == nil || s.Mark != nil {
		return n, nil
	}
	with := *s
	switch n := n.(type) {
	case *Limit:
		if n.Limit < 0 || s.source.Limits == nil || !s.source.Limits(s.Table) {
			return n, nil
		}
		with.limit = n.Offset + n.Limit
	case *Calc:
		if with.filter = s.constant(n.Cond); with.filter == nil {
			return n, nil
		}
	default:
		return n, nil
	}
	n.Base().Inputs[0] = &with
	return n, nil
}

// constant gives the parts of a condition that are the same for all rows of a split, nil if there are none.
func (n *Scan) constant(cond expr.Expr) expr.Expr {
	if cond == nil || n.source.Constant == nil {
		return nil
	}
	of := n.source.Constant(n.Table)
	var kept []expr.Expr
	for _, c := range expr.Conjuncts(cond) {
		refs := expr.Refs(c)
		if len(refs) > 0 && expr.Deterministic(c) && !slices.ContainsFunc(refs, func(r int) bool { return n.path(r) != connectors.Whole || !slices.Contains(of, n.Columns[r]) }) {
			kept = append(kept, c)
		}
	}
	if len(kept) == 0 {
		return nil
	}
	return expr.NewAnd(kept...)
}

func (n *Scan) path(i int) int { return connectors.ScanRequest{Paths: n.Paths}.Path(i) }

// request asks the connector for what is left to read.
func (n *Scan) request(env *expr.Env) (connectors.ScanRequest, error) {
	r := connectors.ScanRequest{Table: n.Table, Columns: n.Columns, Paths: n.Paths, Limit: n.limit}
	if n.filter == nil {
		return r, nil
	}
	keep, err := expr.CompileFilter(n.filter, n.Fields, env)
	if err != nil {
		return r, err
	}
	r.Keep = func(constant func(column int) (types.Datum, bool)) bool {
		row := types.NewBatch(n.Fields)
		for i, c := range row.Cols {
			if v, ok := constant(n.Columns[i]); ok {
				c.Append(v)
			} else {
				c.AppendNull() // not read by the filter
			}
		}
		row.Push(types.Insert)
		sel, err := keep(row, types.All(1), nil)
		return err != nil || len(sel) == 1 // where it fails, it fails for a row
	}
	return r, nil
}
