package plan

import (
	"slices"
	"strings"

	"runnel/expr"
	"runnel/sql"
	"runnel/types"
)

// pivot binds PIVOT as the aggregation that it is: the columns that it does not name group, and each value of IN is the filter
// of its aggregates.
func (p *planning) pivot(t *sql.Pivot, env *around) (*refs, error) {
	r, err := p.tableRef(t.Input, env)
	if err != nil {
		return nil, err
	}
	stmt := &sql.Select{Span: t.Span, From: t.Input}
	b := &selecting{p: p, env: env, stmt: stmt, in: r.node}
	b.sc = &scope{parent: env.outer, fields: fieldsIn(r.node), tables: r.tables, star: r.star, shared: r.shared}
	named, err := b.pivotColumns(t)
	if err != nil {
		return nil, err
	}
	var items []item
	group := &sql.GroupBy{Span: t.Span}
	for _, i := range starColumns(r) {
		if name := b.sc.fields[i].Name; !slices.Contains(named, i) {
			group.Items = append(group.Items, &sql.Name{Span: t.Span, Parts: []sql.Ident{{Span: t.Span, Name: name}}})
			items = append(items, item{name: name, col: i})
		}
	}
	if len(items) > 0 {
		stmt.GroupBy = group
	}
	for _, v := range t.In {
		more, err := b.pivotItems(t, v)
		if err != nil {
			return nil, err
		}
		items = append(items, more...)
	}
	for i := range items {
		if slices.ContainsFunc(items[:i], func(o item) bool { return o.name == items[i].name }) {
			return nil, refuse(nameError, t, "Column '%s' is ambiguous", items[i].name).
				Cure("The columns are named by value and aggregate: give each aggregate an alias, and equal values different ones.")
		}
	}
	s, err := b.grouped(items)
	if err != nil {
		return nil, err
	}
	n, err := s.node()
	if err != nil {
		return nil, err
	}
	return p.aliased(n, t.Alias, nil, t)
}

// pivotColumns gives the columns that the aggregates and FOR name.
func (b *selecting) pivotColumns(t *sql.Pivot) ([]int, error) {
	var named []int
	for _, a := range t.Aggs {
		c, ok := a.Expr.(*sql.FuncCall)
		if !ok || !isAggregate(c) || c.Filter != nil {
			return nil, refuse(nameError, a, "Measure expression in PIVOT must use aggregate function").
				Cure("PIVOT (SUM(value) FOR column IN ('a', 'b')): aggregates only, without FILTER.")
		}
		args, err := b.binder(aggregateArgument).exprs(plainArgs(c.Args))
		if err != nil {
			return nil, err
		}
		for _, x := range args {
			named = append(named, expr.Refs(x)...)
		}
	}
	for _, n := range t.Axes {
		x, err := b.binder("PIVOT").expr(n)
		if err != nil {
			return nil, err
		}
		named = append(named, expr.Refs(x)...)
	}
	return named, nil
}

// pivotItems gives the columns of one value of IN.
func (b *selecting) pivotItems(t *sql.Pivot, v *sql.SelectItem) ([]item, error) {
	values := tuple(v.Expr)
	if len(values) != len(t.Axes) {
		return nil, refuse(nameError, v, "Value count in PIVOT (%d) must match number of FOR columns (%d)", len(values), len(t.Axes))
	}
	var cond sql.Expr
	var names []string
	for i, x := range values {
		if contains(x, func(e sql.Expr) bool { _, is := e.(*sql.Name); return is }) {
			e := refuse(nameError, x, "Column '%s' not found in any table", x)
			if len(b.sc.tables) == 1 && b.sc.tables[0].alias != "" { // the name has got its table by now, as in Flink
				e = refuse(nameError, x, "Table '%s' not found", b.sc.tables[0].alias)
			}
			return nil, e.Cure("IN lists the values that become columns: literals, or expressions of such.")
		}
		var eq sql.Expr = &sql.Binary{Span: sql.Span{From: x.Pos(), To: x.End()}, Op: sql.OpEq, L: t.Axes[i], R: x}
		if cond != nil {
			eq = &sql.Binary{Span: v.Span, Op: sql.OpAnd, L: cond, R: eq}
		}
		cond = eq
		names = append(names, sql.FormatFlink(x))
	}
	name := strings.Join(names, "_")
	if v.Alias != nil {
		name = v.Alias.Name
	}
	var items []item
	for _, a := range t.Aggs {
		c := *a.Expr.(*sql.FuncCall)
		c.Filter = cond
		full := name
		if a.Alias != nil {
			full += "_" + a.Alias.Name
		}
		items = append(items, item{expr: &c, name: full, col: -1})
	}
	return items, nil
}

// tuple gives the items of (a, b), or a value by itself.
func tuple(e sql.Expr) []sql.Expr {
	if c, ok := e.(*sql.Constructor); ok && c.Kind == sql.RowImplicit {
		return c.Items
	}
	return []sql.Expr{e}
}

// unpivoting is the binding of one UNPIVOT: a row for each entry of IN, by an Expand.
type unpivoting struct {
	p      *planning
	t      *sql.Unpivot
	sc     *scope
	used   []int         // columns that IN lists
	values [][]expr.Expr // by entry: the values of the axes
	cells  [][]expr.Expr // by entry: the columns of the measures
}

// unpivot binds UNPIVOT.
func (p *planning) unpivot(t *sql.Unpivot, env *around) (*refs, error) {
	r, err := p.tableRef(t.Input, env)
	if err != nil {
		return nil, err
	}
	u := &unpivoting{p: p, t: t, sc: &scope{parent: env.outer, fields: fieldsIn(r.node), tables: r.tables, star: r.star, shared: r.shared}}
	for _, it := range t.In {
		if err := u.item(it); err != nil {
			return nil, err
		}
	}
	if err := u.align(t.Axes, u.values, "axis"); err != nil {
		return nil, err
	}
	if err := u.align(t.Measures, u.cells, "measure"); err != nil {
		return nil, err
	}
	n, err := u.node(r)
	if err != nil {
		return nil, err
	}
	return p.aliased(n, t.Alias, nil, t)
}

// item binds an entry of IN: (column, ..) [AS value].
func (u *unpivoting) item(it *sql.UnpivotItem) error {
	if len(it.Columns) != len(u.t.Measures) {
		return refuse(nameError, it, "Column count in UNPIVOT (%d) must match number of measures (%d)", len(it.Columns), len(u.t.Measures))
	}
	b := u.p.binder(u.sc)
	var cells, values []expr.Expr
	var names []string
	for _, c := range it.Columns {
		x, err := b.expr(c)
		if err != nil {
			return err
		}
		u.used = append(u.used, expr.Refs(x)...)
		cells, names = append(cells, x), append(names, c.Last())
	}
	if it.As == nil {
		for range u.t.Axes {
			values = append(values, expr.NewString(strings.Join(names, "_")))
		}
	} else {
		if as := tuple(it.As); len(as) != len(u.t.Axes) {
			return refuse(nameError, it, "Value count in UNPIVOT (%d) must match number of FOR columns (%d)", len(as), len(u.t.Axes))
		}
		var err error
		if values, err = u.p.binder(&scope{}).exprs(tuple(it.As)); err != nil {
			return err
		}
	}
	u.cells, u.values = append(u.cells, cells), append(u.values, values)
	return nil
}

// align gives what stands under one name in all entries a common type.
func (u *unpivoting) align(names []sql.Ident, entries [][]expr.Expr, what string) error {
	for i := range names {
		column := make([]expr.Expr, len(entries))
		for k := range entries {
			column[k] = entries[k][i]
		}
		t, ok := commonType(column)
		if !ok {
			return refuse(nameError, &names[i], "In UNPIVOT, cannot derive type for %s '%s' because source columns have different data types",
				what, names[i].Name).Cure("CAST the columns to one type in a query inside of FROM.")
		}
		for k := range entries {
			entries[k][i] = castTo(entries[k][i], t)
		}
	}
	return nil
}

// node makes the rows: the columns that IN does not list, the axes, the measures.
func (u *unpivoting) node(r *refs) (Node, error) {
	x := &Expand{}
	x.Kind, x.Inputs, x.Pos = "Expand", []Node{r.node}, pos(u.t)
	var keep []expr.Expr
	for _, i := range starColumns(r) {
		if !slices.Contains(u.used, i) {
			keep = append(keep, expr.NewCol(u.sc.fields, i))
			x.Fields = append(x.Fields, u.sc.fields[i])
		}
	}
	names := append(slices.Clone(u.t.Axes), u.t.Measures...)
	for i := range names {
		first := append(slices.Clone(u.values[0]), u.cells[0]...)
		t := first[i].Type()
		for k := range u.values {
			row := append(slices.Clone(u.values[k]), u.cells[k]...)
			t = t.Nullable(!t.NotNull || !row[i].Type().NotNull)
		}
		if slices.ContainsFunc(x.Fields, func(f types.Field) bool { return f.Name == names[i].Name }) {
			return nil, refuse(nameError, &names[i], "Duplicate column name '%s' in UNPIVOT", names[i].Name)
		}
		x.Fields = append(x.Fields, types.Field{Name: names[i].Name, Type: t})
	}
	for k := range u.values {
		x.Rows = append(x.Rows, slices.Concat(keep, u.values[k], u.cells[k]))
	}
	if u.t.IncludeNulls {
		return x, nil
	}
	var some []expr.Expr
	for i := len(x.Fields) - len(u.t.Measures); i < len(x.Fields); i++ {
		c, err := newCall(u.t, "IS NOT NULL", expr.NewCol(x.Fields, i))
		if err != nil {
			return nil, err
		}
		some = append(some, c)
	}
	return newFilter(x, expr.NewOr(some...)), nil
}
