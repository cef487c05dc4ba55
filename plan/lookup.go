package plan

import (
	"slices"
	"strings"

	"runnel/connectors"
	"runnel/connectors/lookup"
	"runnel/expr"
	"runnel/types"
)

// lookupJoin makes a lookup join of a join with an outside table by processing time.
func (p *planning) lookupJoin(j *Join) (Node, error) {
	t := j.temporal
	scan, exprs, cond := lookupTable(j.Inputs[1])
	if scan == nil || scan.source.Lookup == nil {
		return nil, refuse(tableError, t.at, "Processing-time temporal join is not supported yet.").
			Cure("The table on the right is no table that can be looked up by key.")
	}
	nl := len(fieldsIn(j.Inputs[0]))
	n := &LookupJoin{Info: j.Info, Join: j.Join, Table: scan.Table, Columns: scan.Columns, lookup: scan.source.Lookup}
	n.Kind, n.Inputs = "LookupJoin", j.Inputs[:1]
	n.Fields = joinFields(j.Join, fieldsIn(j.Inputs[0]), plainFields(scan.Fields))
	over := func(e expr.Expr) expr.Expr { // an expression of the scan's columns, over the join's
		return expr.MapColumns(e, func(i int) int { return nl + i })
	}
	all := columnExprs(n.Fields)[:nl]
	for _, e := range exprs {
		all = append(all, over(e))
	}
	var terms []expr.Expr
	for i, lk := range j.LeftKeys {
		c, ok := exprs[j.RightKeys[i]].(*expr.Col)
		if ok && (j.NullSafe == nil || !j.NullSafe[i]) {
			n.key(scan.Columns[c.Index], lk, types.Datum{})
			continue
		}
		eq, err := expr.NewCall("=", []expr.Expr{all[lk], all[nl+j.RightKeys[i]]}, expr.Pos{})
		if err != nil {
			return nil, err
		}
		terms = append(terms, eq)
	}
	if len(n.Keys) == 0 {
		return nil, refuse(tableError, t.at, "Temporal table join requires an equality condition on fields of table [%s].", scan.Table.Name)
	}
	for _, c := range expr.Conjuncts(cond) {
		terms = append(terms, over(c))
	}
	if j.Cond != nil {
		terms = append(terms, expr.Conjuncts(expr.ReplaceColumns(j.Cond, all))...)
	}
	terms = slices.DeleteFunc(terms, func(e expr.Expr) bool { return n.constKey(e, nl) })
	n.Cond = expr.NewAnd(terms...)
	if err := p.lookupWays(n, j, scan.source); err != nil {
		return nil, err
	}
	return unhidden(p.lookedUp(n, j, all), j.hidden), nil
}

// key adds a key.
func (n *LookupJoin) key(column, left int, value types.Datum) {
	n.Keys, n.LeftKeys, n.Consts = append(n.Keys, column), append(n.LeftKeys, left), append(n.Consts, value)
}

// constKey makes a key of a condition that a column of the table equals a constant, if the column is none yet.
func (n *LookupJoin) constKey(e expr.Expr, nl int) bool {
	call, ok := e.(*expr.Call)
	if !ok || call.Func.Name != "=" {
		return false
	}
	col, isCol := call.Args[0].(*expr.Col)
	c, isConst := call.Args[1].(*expr.Const)
	if !isCol {
		col, isCol = call.Args[1].(*expr.Col)
		c, isConst = call.Args[0].(*expr.Const)
	}
	if !isCol || !isConst || col.Index < nl || c.Value.Null || slices.Contains(n.Keys, n.Columns[col.Index-nl]) {
		return false
	}
	if !c.T.Optional().SameIgnoringNull(col.Type().Optional()) && !sameKey(c.T, col.Type()) {
		return false
	}
	n.key(n.Columns[col.Index-nl], -1, c.Value)
	return true
}

// lookupWays settles how the table is asked: by hint, else by the session's options, and what is kept in memory.
func (p *planning) lookupWays(n *LookupJoin, j *Join, source *connectors.Connector) error {
	hint := j.lookup
	if hint == nil {
		hint = &lookupHint{}
	}
	var err error
	if n.Cache, err = lookup.CacheOf(n.Table.Options); err != nil {
		return refuse(validation, j.temporal.at, "Unable to create a source for reading table '%s'.\n%s", n.Table.Name, err)
	}
	n.Retry = hint.retry
	if async := hint.async; async != nil && !*async || async == nil && !source.AsyncLookup || p.batch {
		return nil
	}
	n.Async = &AsyncLookup{
		Capacity: p.Config.Int("table.exec.async-lookup.buffer-capacity"), Timeout: p.Config.Duration("table.exec.async-lookup.timeout"),
		Unordered: p.Config.Get("table.exec.async-lookup.output-mode") == "ALLOW_UNORDERED",
	}
	if hint.capacity > 0 {
		n.Async.Capacity = hint.capacity
	}
	if hint.timeout > 0 {
		n.Async.Timeout = hint.timeout
	}
	if hint.unordered != nil {
		n.Async.Unordered = *hint.unordered
	}
	return nil
}

// skipWatermark looks through a WatermarkAssigner: there is no time in a table that is looked up.
func skipWatermark(n Node) Node {
	if a, ok := n.(*WatermarkAssigner); ok {
		return a.Inputs[0]
	}
	return n
}

// lookedUp puts the columns of the table, computed ones too, on a lookup join. What is computed for a row that found
// nothing is NULL.
func (p *planning) lookedUp(n *LookupJoin, j *Join, all []expr.Expr) Node {
	nl := len(fieldsIn(n.Inputs[0]))
	key := nl + slices.Index(n.Columns, n.Keys[0])
	out := slices.Clone(all)
	for i := nl; i < len(out); i++ {
		if _, ok := out[i].(*expr.Col); ok || n.Join == Inner {
			continue
		}
		null, err := expr.NewCall("IS NULL", []expr.Expr{expr.NewCol(n.Fields, key)}, expr.Pos{})
		if err != nil {
			continue
		}
		none := expr.NewConst(types.NullDatum(), out[i].Type())
		if c, err := expr.NewCase([]expr.When{{Cond: null, Then: none}}, out[i], expr.Pos{}); err == nil {
			out[i] = c
		}
	}
	return newCalc(n, out, fieldNames(j.Fields), nil)
}

// lookupTable finds the scan of a table to look up, with what a Calc above it computes and filters.
func lookupTable(n Node) (*Scan, []expr.Expr, expr.Expr) {
	switch n := n.(type) {
	case *Scan:
		return n, columnExprs(n.Fields), nil
	case *WatermarkAssigner:
		return lookupTable(n.Inputs[0])
	case *Calc:
		if s, ok := skipWatermark(n.Inputs[0]).(*Scan); ok {
			return s, n.Exprs, n.Cond
		}
	}
	return nil, nil, nil
}

// settleLookup settles what depends on the changes of a lookup join's input: they keep their order, and where updates are to
// be taken back as they were (TRY_RESOLVE) the join remembers what it found, by a key of the input.
func (p *planning) settleLookup(n *LookupJoin, keys *keyTable) {
	in := n.Inputs[0]
	if in.Base().Mode == types.InsertOnly {
		return
	}
	if n.Async != nil {
		n.Async.Unordered = false
	}
	found := slices.ContainsFunc(n.Columns, func(c int) bool { return !slices.Contains(n.Keys, c) })
	if !p.resolves() || !found || !n.Mode.Has(types.UpdateBefore) {
		return
	}
	n.Materialize, n.Async = true, nil
	if upsert := keys.upsert(in); len(upsert) > 0 {
		n.InputKey = upsert[0]
	} else {
		for i := range fieldsIn(in) {
			n.InputKey = append(n.InputKey, i)
		}
	}
	x := hashed(in, n.InputKey).(*Exchange)
	x.hidden = true
	x.Base().Mode = in.Base().Mode
	p.parallelism(x)
	x.Base().UpsertKeys = keys.upsert(x)
	n.Inputs[0] = x
}

// resolves reports whether updates through what may give other values each time are to be made right, or refused.
func (p *planning) resolves() bool {
	return !p.batch && p.Config.Get("table.optimizer.non-deterministic-update.strategy") == "TRY_RESOLVE"
}

// determined refuses, under TRY_RESOLVE, a Calc through which a row and its retraction may come out different.
func (p *planning) determined(g *Graph) error {
	if !p.resolves() {
		return nil
	}
	for _, n := range g.Nodes {
		c, ok := n.(*Calc)
		if !ok || !c.Mode.Has(types.UpdateBefore) && (c.Cond == nil || c.Mode == types.InsertOnly) {
			continue
		}
		if f := undetermined(c.Cond); f != "" {
			return refuseAt(n, "There exists non deterministic function: '%s' in condition: '%s' which may cause wrong result in update pipeline.\n\n"+
				"related rel plan:\n%s", f, c.Cond, treeText(n))
		}
		var names []string
		for i, e := range c.Exprs {
			if f := undetermined(e); f != "" {
				names = append(names, c.Fields[i].Name+"(generated by non-deterministic function: "+f+" )")
			}
		}
		if len(names) > 0 {
			return refuseAt(n, "The column(s): %s can not satisfy the determinism requirement for correctly processing update message('UB'/'UA'/'D' in "+
				"changelogMode, not 'I' only), this usually happens when input node has no upsertKey(upsertKeys=[{}]) or current node outputs "+
				"non-deterministic update messages. Please consider removing these non-deterministic columns or making them deterministic by "+
				"using deterministic functions.\n\nrelated rel plan:\n%s", strings.Join(names, ","), treeText(n))
		}
	}
	return nil
}

// undetermined names a function in e that may give another value each time, "" if there is none.
func undetermined(e expr.Expr) (name string) {
	if e == nil {
		return ""
	}
	expr.Walk(e, func(e expr.Expr) bool {
		if c, ok := e.(*expr.Call); ok && (c.Func.Nondeterministic || c.Func.Dynamic) {
			name = c.Func.Name
		}
		return name == ""
	})
	return name
}
