package plan

import (
	"slices"

	"runnel/expr"
	"runnel/sql"
	"runnel/types"
)

// unnest binds UNNEST of columns of the tables to its left. j is nil for one that stands alone in FROM.
func (p *planning) unnest(j *sql.Join, left *refs, t *sql.Unnest, env *around) (*refs, error) {
	if len(t.Exprs) != 1 {
		return nil, unsupported(t, "UNNEST of several collections is")
	}
	if t.Sample != nil {
		return nil, unsupported(t.Sample, "TABLESAMPLE is")
	}
	c := &Correlate{Join: Inner, Func: UnnestRows, Ordinality: t.Ordinality}
	if j != nil && j.Kind != sql.CrossJoin && j.Kind != sql.CommaJoin && j.Kind != sql.InnerJoin {
		if c.Join = joinKinds[j.Kind]; c.Join != Left {
			return nil, unsupported(j, "RIGHT or FULL JOIN of UNNEST is")
		}
	}
	in := fieldsIn(left.node)
	b := p.binder(&scope{parent: env.outer, fields: in, tables: left.tables})
	x, err := b.expr(t.Exprs[0])
	if err != nil {
		return nil, err
	}
	rows, ok := elementFields(x.Type())
	if !ok {
		return nil, refuse(nameError, t, "Cannot apply 'UNNEST' to arguments of type 'UNNEST(<%s>)'. Supported form(s): 'UNNEST(<MULTISET>)' 'UNNEST(<ARRAY>)' 'UNNEST(<MAP>)'", x.Type().Name())
	}
	if t.Ordinality {
		rows = append(rows, types.Field{Name: "ORDINALITY", Type: types.Of(types.Int).Required()})
	}
	if rows, err = aliasFields(rows, t.Alias); err != nil {
		return nil, err
	}
	c.Args = []expr.Expr{x}
	c.Kind, c.Inputs, c.Pos = "Correlate", []Node{left.node}, pos(t)
	c.Fields = joinFields(c.Join, in, rows)
	if j == nil {
		n := newCalc(c, columnExprs(c.Fields)[len(in):], fieldNames(rows), nil)
		return p.aliased(n, aliasName(t.Alias), nil, t)
	}
	right := &refs{node: &Values{Info: Info{Fields: rows}}, tables: []scopeTable{{n: len(rows)}}}
	if t.Alias != nil {
		right.tables[0].alias = t.Alias.Name.Name
	}
	out := concat(left, right)
	if left.star != nil {
		out.star = append(slices.Clone(left.star), shifted(starColumns(right), len(in))...)
	}
	out.node = c
	if j.On == nil {
		return out, nil
	}
	on := p.binder(&scope{parent: env.outer, fields: c.Fields, tables: out.tables})
	on.clause = "ON clause"
	cond, err := on.condition(j.On)
	if err != nil {
		return nil, err
	}
	if k, ok := cond.(*expr.Const); ok && !k.Value.Null && k.Value.Bool() {
		return out, nil
	}
	if c.Join == Inner {
		out.node = newFilter(c, cond)
		return out, nil
	}
	c.Cond = cond
	return out, nil
}

// aliasName is an alias without its column list, which has been applied.
func aliasName(a *sql.TableAlias) *sql.TableAlias {
	if a == nil {
		return nil
	}
	return &sql.TableAlias{Span: a.Span, Name: a.Name}
}

// elementFields are the columns of an unnested collection.
func elementFields(t types.Type) ([]types.Field, bool) {
	switch t.Kind {
	case types.Array, types.Multiset:
		if t.Elem.Kind == types.Row {
			fields := slices.Clone(t.Elem.Fields)
			for i := range fields {
				if !t.Elem.NotNull {
					fields[i].Type = fields[i].Type.Optional()
				}
			}
			return fields, true
		}
		return []types.Field{{Name: "EXPR$0", Type: *t.Elem}}, true
	case types.Map:
		return []types.Field{{Name: "KEY", Type: *t.Key}, {Name: "VALUE", Type: *t.Elem}}, true
	}
	return nil, false
}

func aliasFields(fields []types.Field, a *sql.TableAlias) ([]types.Field, error) {
	if a == nil || len(a.Columns) == 0 {
		return fields, nil
	}
	if len(a.Columns) != len(fields) {
		return nil, refuse(nameError, a, "List of column aliases must have same degree as table; table has %d columns (%s), whereas alias list has %d columns",
			len(fields), quotedNames(fields), len(a.Columns))
	}
	out := slices.Clone(fields)
	for i, c := range a.Columns {
		out[i].Name = c.Name
	}
	return out, nil
}

// lateral binds LATERAL (query): a query that may read the tables to its left.
func (p *planning) lateral(j *sql.Join, left *refs, t *sql.DerivedTable, env *around) (*refs, error) {
	sc := &scope{parent: env.outer, fields: fieldsIn(left.node), tables: left.tables}
	inner := *env
	inner.outer = sc
	r, err := p.query(t.Query, &inner)
	if err != nil {
		return nil, err
	}
	kind := joinKinds[j.Kind]
	if kind != Inner && kind != Left {
		return nil, unsupported(j, "RIGHT or FULL JOIN LATERAL is")
	}
	width := len(fieldsIn(r.node))
	// An aggregate without GROUP BY gives no row where nothing correlates: recorded, though SQL says it gives one.
	n, conds, ok := correlatedAggregate(r.node)
	if !ok || !correlated(r.node) {
		if n, conds, err = pullUp(r.node, t); err != nil {
			return nil, err
		}
	}
	right, err := p.aliased(newCalc(n, columnExprs(fieldsIn(n)), fieldNames(fieldsIn(n)), nil), nil, nil, t)
	if err != nil {
		return nil, err
	}
	named := &Values{Info: Info{Fields: fieldsIn(n)[:width]}}
	alias, err := p.aliased(named, t.Alias, nil, t)
	if err != nil {
		return nil, err
	}
	visible := fieldsIn(alias.node)
	right.tables = alias.tables
	nl := len(fieldsIn(left.node))
	out := concat(left, right)
	terms := joinTerms(conds, nl)
	if j.On != nil {
		fields := append(slices.Clone(fieldsIn(left.node)), visible...)
		b := p.binder(&scope{parent: env.outer, fields: fields, tables: out.tables})
		b.clause = "ON clause"
		x, err := b.condition(j.On)
		if err != nil {
			return nil, err
		}
		terms = append(terms, x)
	}
	join := newJoin(kind, left.node, right.node, expr.NewAnd(terms...), j)
	exprs := columnExprs(join.Fields)[:nl+width]
	names := append(fieldNames(fieldsIn(left.node)), fieldNames(visible)...)
	out.node = newCalc(join, exprs, names, nil)
	return out, nil
}
