package plan

import (
	"strings"

	"runnel/catalog"
	"runnel/expr"
	"runnel/sql"
	"runnel/types"
)

// selecting is the binding of one SELECT.
type selecting struct {
	p    *planning
	env  *around
	stmt *sql.Select
	sc   *scope // of the FROM clause
	in   Node   // what has been bound so far; its columns begin with those of sc
	// nulls allows a bare NULL in the select list.
	nulls bool
	// after is the aggregation whose result is being read, nil in front of one.
	after *grouping
}

// selectBody binds a SELECT up to its select list.
func (p *planning) selectBody(s *sql.Select, env *around, nulls bool) (*selected, error) {
	hints, err := p.queryHints(s.Hints)
	if err != nil {
		return nil, err
	}
	own := *env
	own.ttl, own.lookups = hints.ttl, hints.lookups
	b := &selecting{p: p, env: &own, stmt: s, nulls: nulls && s.Quantifier != sql.Distinct && s.GroupBy == nil}
	if s.Stream {
		return nil, unsupported(s, "SELECT STREAM is")
	}
	if err := b.from(); err != nil {
		return nil, err
	}
	if err := hints.check(b.sc.tables); err != nil {
		return nil, err
	}
	if err := b.where(); err != nil {
		return nil, err
	}
	items, err := b.expandItems()
	if err != nil {
		return nil, err
	}
	out, err := b.project(items)
	if err != nil || s.Quantifier != sql.Distinct {
		return out, err
	}
	n, err := out.node()
	if err != nil {
		return nil, err
	}
	return whole(distinct(n)), nil
}

// from binds the FROM clause; without one there is a single row without columns that matter.
func (b *selecting) from() error {
	if b.stmt.From == nil {
		b.in, b.sc = oneValue(), &scope{parent: b.env.outer}
		return nil
	}
	r, err := b.p.tableRef(b.stmt.From, b.env)
	if err != nil {
		return err
	}
	b.in = r.node
	b.sc = &scope{parent: b.env.outer, fields: fieldsIn(r.node), tables: r.tables, star: r.star, shared: r.shared}
	return nil
}

// oneValue is one row, for a query that reads no table.
func oneValue() Node {
	v := &Values{Rows: [][]expr.Expr{{expr.NewInt(0)}}}
	v.Kind, v.Fields = "Values", []types.Field{{Name: "ZERO", Type: types.Of(types.Int).Required()}}
	return v
}

// where binds the condition; conjuncts that hold queries become joins.
func (b *selecting) where() error {
	var plain []expr.Expr
	all := conjuncts(b.stmt.Where)
	for i, c := range all {
		if contains(c, isQuery) {
			x, err := b.queryCondition(c, "WHERE clause")
			if err != nil {
				return err
			}
			if x != nil {
				plain = append(plain, x)
			}
			continue
		}
		x, err := b.binder("WHERE clause").conjunct(c, i, len(all))
		if err != nil {
			return err
		}
		plain = append(plain, x)
	}
	b.in = newFilter(b.in, expr.NewAnd(plain...))
	return nil
}

// binder binds expressions over the FROM clause.
func (b *selecting) binder(clause string) *binder {
	x := b.p.binder(b.sc)
	x.clause = clause
	x.scalar, x.inQuery, x.exists = b.scalarQuery, b.inValue, b.existsValue
	return x
}

// item is an entry of the select list after * has been expanded.
type item struct {
	expr sql.Expr
	name string
	col  int // the column of *, -1 for an expression
	// field is the field of a row that r.* has given, nil for anything else.
	field expr.Expr
}

// expandItems expands * and names the columns as Flink does.
func (b *selecting) expandItems() ([]item, error) {
	var items []item
	used := map[string]bool{}
	for _, it := range b.stmt.Items {
		star, ok := it.Expr.(*sql.Star)
		if !ok {
			name := itemName(it, len(items))
			used[name] = true
			items = append(items, item{expr: it.Expr, name: name, col: -1})
			continue
		}
		fields, err := b.rowStar(star)
		if err != nil {
			return nil, err
		}
		if fields != nil {
			items = append(items, fields...)
			continue
		}
		cols, err := b.starColumns(star)
		if err != nil {
			return nil, err
		}
		for _, c := range cols {
			items = append(items, item{name: unused(b.sc.fields[c].Name, used), col: c})
		}
	}
	return items, nil
}

// rowStar expands r.* where r is a column with fields; nil when it is none.
func (b *selecting) rowStar(s *sql.Star) ([]item, error) {
	if s.Qualifier == nil {
		return nil, nil
	}
	if t, used := b.sc.table(append(s.Qualifier.Parts[:len(s.Qualifier.Parts):len(s.Qualifier.Parts)], sql.Ident{})); t != nil && used == len(s.Qualifier.Parts) {
		return nil, nil
	}
	x, err := b.sc.resolve(s.Qualifier)
	if err != nil || x.Type().Kind != types.Row {
		return nil, nil // starColumns words the refusal
	}
	var items []item
	for i, f := range x.Type().Fields {
		e, err := expr.NewField(x, i)
		if err != nil {
			return nil, err
		}
		items = append(items, item{name: f.Name, col: -1, field: e})
	}
	return items, nil
}

// itemName is the name of a select item: its alias, the column or field it names, or EXPR$n.
func itemName(it *sql.SelectItem, n int) string {
	if it.Alias != nil {
		return it.Alias.Name
	}
	switch e := it.Expr.(type) {
	case *sql.Name:
		return e.Last()
	case *sql.Field:
		return e.Name.Name
	}
	return "EXPR$" + itoa(n)
}

func (b *selecting) starColumns(s *sql.Star) ([]int, error) {
	first, n := 0, len(b.sc.fields)
	if s.Qualifier != nil {
		t, used := b.sc.table(append(s.Qualifier.Parts[:len(s.Qualifier.Parts):len(s.Qualifier.Parts)], sql.Ident{}))
		if t == nil || used != len(s.Qualifier.Parts) {
			e := refuse(nameError, s, "Unknown identifier '%s'", s.Qualifier.Dotted())
			var aliases []string
			for _, t := range b.sc.tables {
				aliases = append(aliases, t.alias)
			}
			if e.Hint = catalog.DidYouMean(s.Qualifier.Dotted(), aliases); e.Hint == "" {
				e.Hint = "FROM has " + strings.Join(aliases, ", ") + "."
			}
			return nil, e
		}
		first, n = t.first, t.n
	} else if b.stmt.From == nil {
		return nil, refuse(nameError, s, "Unknown identifier '*'").Cure("There is no FROM clause.")
	} else if b.sc.star != nil {
		return b.sc.star, nil
	}
	cols := make([]int, n)
	for i := range cols {
		cols[i] = first + i
	}
	return cols, nil
}

// project binds the select list, with GROUP BY, HAVING and OVER windows where there are some.
func (b *selecting) project(items []item) (*selected, error) {
	if b.aggregates(items) {
		return b.grouped(items)
	}
	x := b.binder("SELECT clause")
	if b.overs(items) {
		return b.windowed(items, x, nil)
	}
	return b.bindItems(items, x)
}

// bindItems binds the select list with a binder.
func (b *selecting) bindItems(items []item, x *binder) (*selected, error) {
	out := &selected{bind: x.expr}
	for _, it := range items {
		e, err := b.bindItem(it, x)
		if err != nil {
			return nil, err
		}
		out.exprs = append(out.exprs, e)
		out.names = append(out.names, it.name)
	}
	out.in = b.in
	return out, nil
}

func (b *selecting) bindItem(it item, x *binder) (expr.Expr, error) {
	if it.field != nil {
		if x.column != nil {
			return nil, refuse(nameError, b.stmt, "Expression '%s' is not being grouped", it.name)
		}
		return it.field, nil
	}
	if it.col >= 0 {
		c := expr.NewCol(b.sc.fields, it.col)
		if x.column != nil {
			return x.column(c, b.stmt)
		}
		return c, nil
	}
	e, err := x.expr(it.expr)
	if err != nil {
		return nil, err
	}
	if untyped(e.Type()) && !b.nulls {
		return nil, refuse(nameError, it.expr, "Illegal use of 'NULL'").Cure("Give it a type: CAST(NULL AS INT).")
	}
	return e, nil
}

// untyped reports whether a value, or a part of it, is a NULL without a type.
func untyped(t types.Type) bool {
	switch t.Kind {
	case types.Null:
		return true
	case types.Row:
		for _, f := range t.Fields {
			if untyped(f.Type) {
				return true
			}
		}
	case types.Array, types.Multiset:
		return untyped(*t.Elem)
	case types.Map:
		return untyped(*t.Key) || untyped(*t.Elem)
	}
	return false
}

// aggregates reports whether the SELECT groups.
func (b *selecting) aggregates(items []item) bool {
	if b.stmt.GroupBy != nil || b.stmt.Having != nil {
		return true
	}
	for _, it := range items {
		if it.expr != nil && contains(it.expr, isAggregate) {
			return true
		}
	}
	return false
}

func (b *selecting) overs(items []item) bool {
	for _, it := range items {
		if it.expr != nil && contains(it.expr, isOver) {
			return true
		}
	}
	return b.stmt.Qualify != nil
}

// distinct keeps one of equal rows.
func distinct(in Node) Node {
	g := &GroupAggregate{}
	g.Kind, g.Inputs, g.Fields = "GroupAggregate", []Node{in}, plainFields(fieldsIn(in))
	for i := range g.Fields {
		g.Keys = append(g.Keys, i)
	}
	return g
}

// plainFields gives the fields without time attributes: what an ordinary aggregate or join gives.
func plainFields(fields []types.Field) []types.Field {
	out := make([]types.Field, len(fields))
	for i, f := range fields {
		f.Type = f.Type.Plain()
		out[i] = f
	}
	return out
}
