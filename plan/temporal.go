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
	time := slices.IndexFunc(rf, func(f types.Field) bool { return f.Type.Attr == types.Rowtime })
	if time < 0 {
		return nil, refuse(validation, t.at, "Event-Time Temporal Table Join requires both primary key and row time attribute in versioned table, "+
			"but no row time attribute can be found.").Cure("Add a WATERMARK to the versioned table, and PRIMARY KEY (..) NOT ENFORCED if it has none.")
	}
	keys := newKeyTable().unique(right)
	if !containsKey(keys, j.RightKeys) {
		e := refuse(validation, t.at, "Temporal Table Join requires primary key in versioned table, but no primary key can be found. The physical plan is:\n%s", treeText(j))
		e.Hint = "Declare PRIMARY KEY (..) NOT ENFORCED on the versioned table, and name all of its columns in equalities of ON."
		if len(keys) > 0 {
			e.Hint = "The key of the versioned table is (" + columnNames(rf, keys[0]) + "): all of it has to stand in equalities of ON."
		}
		return nil, e
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
