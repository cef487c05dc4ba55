package plan

import (
	"slices"

	"runnel/expr"
	"runnel/sql"
	"runnel/types"
)

// temporal is what FOR SYSTEM_TIME AS OF says of a join.
type temporal struct {
	time     int // the left column
	proctime bool
	at       sql.Node
}

// snapshotJoin binds a join with FOR SYSTEM_TIME AS OF on its right side.
func (p *planning) snapshotJoin(j *sql.Join, left *refs, t *sql.TableName, env *around) (*refs, error) {
	lf := fieldsIn(left.node)
	x, err := p.binder(&scope{parent: env.outer, fields: lf, tables: left.tables}).expr(t.AsOf)
	if err != nil {
		return nil, err
	}
	col, ok := x.(*expr.Col)
	if !ok && len(expr.Refs(x)) == 0 {
		return nil, refuse(validation, t.AsOf, "Unsupported time travel expression: %s for the expression can not be reduced to a constant by Flink.", sql.Format(t.AsOf)).
			Cure("Write FOR SYSTEM_TIME AS OF with a time attribute of the left table.")
	}
	if !ok || !lf[col.Index].Type.IsTimeAttr() {
		return nil, refuse(validation, t.AsOf, "Temporal table join currently only supports 'FOR SYSTEM_TIME AS OF' left table's time attribute field")
	}
	plain := *t
	plain.AsOf = nil
	right, err := p.tableName(&plain, env)
	if err != nil {
		return nil, err
	}
	out, err := p.joined(j, left, right, env)
	if err != nil {
		return nil, err
	}
	join := out.node.(*Join)
	join.temporal = &temporal{time: col.Index, proctime: lf[col.Index].Type.Attr == types.Proctime, at: t}
	return out, nil
}

var joinWords = [...]string{Inner: "INNER", Left: "LEFT", Right: "RIGHT", Full: "FULL", Semi: "SEMI", Anti: "ANTI"}

// temporalJoin makes a lookup join or an event-time temporal join (semantics.md 6.10, 6.11).
func (p *planning) temporalJoin(j *Join) (Node, error) {
	t := j.temporal
	if j.Join != Inner && j.Join != Left {
		return nil, refuse("java.lang.IllegalStateException", t.at, "Unknown join type %s", joinWords[j.Join]).
			Cure("FOR SYSTEM_TIME AS OF goes with JOIN and LEFT JOIN.")
	}
	if t.proctime {
		return p.lookupJoin(j)
	}
	if p.batch {
		return nil, refuse(tableError, t.at, "Event-time temporal join is not supported in batch mode.")
	}
	right := j.Inputs[1]
	rf := fieldsIn(right)
	keys := newKeyTable().unique(right)
	if !containsKey(keys, j.RightKeys) {
		e := refuse(validation, t.at, "Temporal Table Join requires primary key in versioned table, but no primary key can be found. The physical plan is:\n%s", treeText(j))
		e.Hint = "Declare PRIMARY KEY (..) NOT ENFORCED on the versioned table, and name all of its columns in equalities of ON."
		if len(keys) > 0 {
			e.Hint = "The key of the versioned table is (" + columnNames(rf, keys[0]) + "): all of it has to stand in equalities of ON."
		}
		return nil, e
	}
	time := slices.IndexFunc(rf, func(f types.Field) bool { return f.Type.Attr == types.Rowtime })
	if time < 0 {
		return nil, refuse(validation, t.at, "Event-Time Temporal Table Join requires both primary key and row time attribute in versioned table, "+
			"but no row time attribute can be found.").Cure("Add a WATERMARK to the versioned table.")
	}
	lt, rt := fieldsIn(j.Inputs[0])[t.time].Type, rf[time].Type
	if lt.Kind != rt.Kind || lt.Precision != rt.Precision {
		return nil, refuse(validation, t.at, "Event-Time Temporal Table Join requires same rowtime type in left table and versioned table, but the rowtime types are %s and %s.",
			attrName(lt), attrName(rt))
	}
	n := &TemporalJoin{Info: j.Info, Join: j.Join, LeftKeys: j.LeftKeys, RightKeys: j.RightKeys, LeftTime: t.time, RightTime: time, Cond: j.Cond}
	n.Kind = "TemporalJoin"
	for i := len(fieldsIn(j.Inputs[0])); i < len(n.Fields); i++ {
		n.Fields[i].Type = n.Fields[i].Type.Plain()
	}
	return unhidden(n, j.hidden), nil
}

// lookupJoin makes a lookup join of a join with an outside table by processing time.
func (p *planning) lookupJoin(j *Join) (Node, error) {
	t := j.temporal
	scan, exprs, cond := lookupTable(j.Inputs[1])
	if scan == nil || scan.lookup == nil {
		return nil, refuse(tableError, t.at, "Processing-time temporal join is not supported yet.").
			Cure("The table on the right is no table that can be looked up by key.")
	}
	nl := len(fieldsIn(j.Inputs[0]))
	n := &LookupJoin{Info: j.Info, Join: j.Join, Table: scan.Table, Columns: scan.Columns, lookup: scan.lookup}
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
			n.Keys, n.LeftKeys = append(n.Keys, scan.Columns[c.Index]), append(n.LeftKeys, lk)
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
		terms = append(terms, expr.ReplaceColumns(j.Cond, all))
	}
	n.Cond = expr.NewAnd(terms...)
	return unhidden(p.lookedUp(n, j, all), j.hidden), nil
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
