package plan

import (
	"strconv"
	"time"

	"runnel/expr"
	"runnel/sql"
	"runnel/types"
)

// around is what surrounds a query: the scopes of outer queries, the names of WITH, and, inside a view, where its names
// are found from.
type around struct {
	outer             *scope
	with              *withName
	catalog, database string
	ttl               map[string]time.Duration // STATE_TTL of the SELECT around
	lookups           map[string]*lookupHint   // LOOKUP of the SELECT around
	// whole is set for the query of a statement: its columns get names that differ. nulls is set where a bare NULL may be
	// a column, because an INSERT says what it is.
	whole, nulls bool
}

// withName is a name of a WITH clause; later ones see earlier ones.
type withName struct {
	next *withName
	def  *sql.CTE
	env  *around
}

// result is a bound query.
type result struct{ node Node }

// query binds a query expression. env is nil for one that stands alone.
func (p *planning) query(q *sql.Query, env *around) (*result, error) {
	if env == nil {
		env = &around{whole: true}
	}
	top := *env
	top.nulls = top.nulls && len(q.OrderBy) == 0 && q.Limit == nil && q.Offset == nil
	if top.whole {
		inner := *env
		inner.whole, inner.nulls = false, false
		env = &inner
	}
	if p.depth++; p.depth > maxDepth {
		return nil, refuse(tableError, q, "Queries and views are nested more than %d deep.", maxDepth)
	}
	defer func() { p.depth-- }()
	if p.queries++; p.queries > maxQueries {
		return nil, refuse(tableError, q, "The statement has more than %d queries, those of its views and WITH queries counted wherever they are read.", maxQueries).
			Cure("Write a part of it to a table, or split the statement.")
	}
	if q.Recursive {
		return nil, unsupported(q, "WITH RECURSIVE is")
	}
	for _, c := range q.With {
		inner := *env
		env = &around{outer: env.outer, catalog: env.catalog, database: env.database,
			with: &withName{next: env.with, def: c, env: &inner}}
	}
	body, err := p.body(q.Body, env, top.nulls)
	if err != nil {
		return nil, err
	}
	if top.whole {
		body.nameApart()
	}
	n, err := p.ordered(q, body)
	if err != nil {
		return nil, err
	}
	return &result{n}, nil
}

// selected is the body of a query before its ORDER BY: what a Calc still has to compute from in.
type selected struct {
	in    Node
	exprs []expr.Expr
	names []string
	cond  expr.Expr
	// bind binds an expression over in; nil where ORDER BY may name columns of the result only.
	bind func(e sql.Expr) (expr.Expr, error)
	// seal, if set, builds in and puts exprs and cond over it. It is called once, when everything is bound: ORDER BY may
	// still add aggregates to a GROUP BY.
	seal func(s *selected) error
}

// node computes the select list.
func (s *selected) node() (Node, error) {
	if s.exprs == nil {
		return s.in, nil
	}
	if s.seal != nil {
		if err := s.seal(s); err != nil {
			return nil, err
		}
		s.seal = nil
	}
	return newCalc(s.in, s.exprs, s.names, s.cond), nil
}

// whole is a body of which nothing is left to compute.
func whole(n Node) *selected { return &selected{in: n} }

// nameApart gives columns of the same name different ones: a second id becomes id0.
func (s *selected) nameApart() {
	if s.exprs == nil {
		s.in = renamed(s.in, fieldNames(unique(fieldsIn(s.in))))
		return
	}
	used := map[string]bool{}
	for i, name := range s.names {
		s.names[i] = unused(name, used)
	}
}

func (p *planning) body(b sql.QueryBody, env *around, nulls bool) (*selected, error) {
	switch b := b.(type) {
	case *sql.Select:
		return p.selectBody(b, env, nulls)
	case *sql.SetOp:
		n, err := p.setOp(b, env)
		return whole(n), err
	case *sql.Values:
		n, err := p.values(b, env, nulls)
		return whole(n), err
	case *sql.TableQuery:
		n, err := p.tableName(&sql.TableName{Span: b.Span, Name: b.Name}, env)
		if err != nil {
			return nil, err
		}
		return whole(n.node), nil
	case *sql.Query:
		r, err := p.query(b, env)
		if err != nil {
			return nil, err
		}
		return whole(r.node), nil
	}
	return nil, unsupported(b, "This kind of query is")
}

// ordered puts ORDER BY and the limits on a body.
func (p *planning) ordered(q *sql.Query, s *selected) (Node, error) {
	limit, err := p.count(q.Limit, "LIMIT")
	if err != nil {
		return nil, err
	}
	offset, err := p.count(q.Offset, "OFFSET")
	if err != nil {
		return nil, err
	}
	if q.Offset == nil {
		offset = 0
	}
	if len(q.OrderBy) == 0 {
		n, err := s.node()
		if err != nil {
			return nil, err
		}
		if q.Limit == nil && q.Offset == nil {
			return n, nil
		}
		return p.limited(n, nil, offset, limit, q)
	}
	n, keys, hidden, err := p.orderKeys(q.OrderBy, s)
	if err != nil {
		return nil, err
	}
	if n, err = p.limited(n, keys, offset, limit, q); err != nil {
		return nil, err
	}
	if hidden > 0 {
		f := fieldsIn(n)
		keep := f[:len(f)-hidden]
		n = newCalc(n, columnExprs(f)[:len(keep)], fieldNames(keep), nil)
	}
	return n, nil
}

// count evaluates the count of LIMIT or OFFSET; -1 when there is none.
func (p *planning) count(e sql.Expr, word string) (int64, error) {
	if e == nil {
		return -1, nil
	}
	lit, ok := e.(*sql.Literal)
	if ok && lit.Kind == sql.IntegerLit {
		if n, err := strconv.ParseInt(lit.Text, 10, 64); err == nil {
			return n, nil
		}
	}
	return 0, refuse(nameError, e, "%s wants a whole number", word)
}

// orderKeys computes the select list together with what ORDER BY needs besides; hidden counts the columns that are not
// part of the result.
func (p *planning) orderKeys(items []*sql.OrderItem, s *selected) (n Node, keys []SortKey, hidden int, err error) {
	names := s.names
	if s.exprs == nil {
		names = fieldNames(fieldsIn(s.in))
	}
	exprs, visible := s.exprs, len(names)
	for _, it := range items {
		col := -1
		if lit, ok := it.Expr.(*sql.Literal); ok && lit.Kind == sql.IntegerLit {
			k, convErr := strconv.Atoi(lit.Text)
			if convErr != nil || k < 1 || k > visible {
				return nil, nil, 0, refuse(nameError, it.Expr, "Ordinal out of range")
			}
			col = k - 1
		} else if col, exprs, names, err = p.orderKey(it.Expr, s, exprs, names, visible); err != nil {
			return nil, nil, 0, err
		}
		key := SortKey{Column: col, Desc: it.Desc, NullsLast: it.Desc}
		if it.Nulls != sql.NullsDefault {
			key.NullsLast = it.Nulls == sql.NullsLast
		}
		keys = append(keys, key)
	}
	if s.exprs == nil {
		return s.in, keys, 0, nil
	}
	s.exprs, s.names = exprs, names
	n, err = s.node()
	return n, keys, len(names) - visible, err
}

// orderKey finds the column of one ORDER BY expression: a name of the select list, an expression of it, or a new, hidden
// column.
func (p *planning) orderKey(e sql.Expr, s *selected, exprs []expr.Expr, names []string, visible int) (int, []expr.Expr, []string, error) {
	if n, ok := e.(*sql.Name); ok && len(n.Parts) == 1 {
		for i, name := range names[:visible] {
			if name == n.Parts[0].Name {
				return i, exprs, names, nil
			}
		}
	}
	if s.exprs == nil || s.bind == nil {
		f := fieldsIn(s.in)
		x, err := p.binder(tableScope(f)).expr(e)
		if err != nil {
			return 0, nil, nil, err
		}
		if c, ok := x.(*expr.Col); ok {
			return c.Index, exprs, names, nil
		}
		return 0, nil, nil, unsupported(e, "ORDER BY an expression over this kind of query is")
	}
	x, err := s.bind(e)
	if err != nil {
		return 0, nil, nil, err
	}
	for i, have := range exprs {
		if expr.Equal(have, x) {
			return i, exprs, names, nil
		}
	}
	exprs = append(exprs[:len(exprs):len(exprs)], x)
	return len(exprs) - 1, exprs, append(names[:len(names):len(names)], "EXPR$"+itoa(len(names))), nil
}

// limited sorts and cuts: what that means depends on the mode (semantics.md 6.17).
func (p *planning) limited(in Node, keys []SortKey, offset, limit int64, q *sql.Query) (Node, error) {
	info := Info{Inputs: []Node{in}, Fields: fieldsIn(in), Pos: pos(q)}
	switch {
	case len(keys) == 0 && (p.batch || q.Limit != nil):
		n := &Limit{Info: info, Offset: offset, Limit: limit}
		n.Kind = "Limit"
		return n, nil
	case q.Limit == nil && q.Offset != nil && !p.batch:
		return nil, refuse(tableError, q.Offset, "FETCH is missed, which on streaming table is not supported currently.").
			Cure("Add LIMIT n.")
	case q.Limit != nil || q.Offset != nil:
		n := &SortLimit{Info: info, Keys: keys, Offset: offset, Limit: limit}
		n.Kind = "SortLimit"
		return n, nil
	case p.batch:
		n := &Sort{Info: info, Keys: keys}
		n.Kind = "Sort"
		return n, nil
	}
	first := keys[0]
	if !info.Fields[first.Column].Type.IsTimeAttr() || first.Desc {
		return nil, refuse(tableError, q.OrderBy[0], "Sort on a non-time-attribute field is not supported.").
			Cure("A stream never ends, so it can be sorted by its time attribute, ascending, only; or add LIMIT n, or SET 'execution.runtime-mode' = 'batch'.")
	}
	n := &TemporalSort{Info: info, Keys: keys}
	n.Kind = "TemporalSort"
	return n, nil
}

// values binds VALUES: constant rows, or, where a row holds a call, expressions that are evaluated when the job starts.
func (p *planning) values(v *sql.Values, env *around, nulls bool) (Node, error) {
	b := p.binder(&scope{parent: env.outer})
	var rows [][]expr.Expr
	for _, r := range v.Rows {
		items := []sql.Expr{r}
		if c, ok := r.(*sql.Constructor); ok && (c.Kind == sql.RowImplicit || c.Kind == sql.RowExplicit) {
			items = c.Items
		}
		row, err := b.exprs(items)
		if err != nil {
			return nil, err
		}
		if len(rows) > 0 && len(row) != len(rows[0]) {
			return nil, refuse(nameError, r, "Values passed to VALUES operator must have compatible types").
				Cure("The row has %d values, the first one has %d.", len(row), len(rows[0]))
		}
		rows = append(rows, row)
	}
	n := &Values{Rows: rows}
	n.Kind, n.Pos = "Values", pos(v)
	for c := range rows[0] {
		column := make([]expr.Expr, len(rows))
		for i := range rows {
			column[i] = rows[i][c]
		}
		t, ok := commonType(column)
		if !ok {
			return nil, refuse(nameError, v.Rows[0], "Values passed to VALUES operator must have compatible types")
		}
		if t.Kind == types.Null && !nulls {
			return nil, refuse(nameError, v.Rows[0], "Illegal use of 'NULL'").Cure("Give it a type: CAST(NULL AS INT).")
		}
		for i := range rows {
			rows[i][c] = castTo(rows[i][c], t)
		}
		n.Fields = append(n.Fields, types.Field{Name: "EXPR$" + itoa(c), Type: t})
	}
	return n, nil
}

// commonType gives the type that all of es can be brought to.
func commonType(es []expr.Expr) (types.Type, bool) {
	ts := make([]types.Type, len(es))
	null := false
	for i, e := range es {
		ts[i] = e.Type().Plain()
		null = null || !ts[i].NotNull
	}
	t, ok := expr.LeastRestrictive(ts...)
	return t.Nullable(null || !t.NotNull), ok
}

// castTo brings e to type t, folding literals so that plans show them plainly.
func castTo(e expr.Expr, t types.Type) expr.Expr {
	from := e.Type()
	if from.SameIgnoringNull(t) {
		return e
	}
	if c, ok := e.(*expr.Const); ok && from.IsString() && t.Kind == types.Varchar && t.Precision >= from.Precision {
		return &expr.Const{Value: c.Value, T: t.Nullable(c.Value.Null)}
	}
	return expr.ImplicitCastTo(e, t)
}
