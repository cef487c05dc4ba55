package plan

import (
	"fmt"
	"slices"
	"strings"

	"runnel/catalog"
	"runnel/connectors"
	"runnel/expr"
	"runnel/sql"
	"runnel/types"
)

// target is the table of an INSERT with the columns that rows are written to.
type target struct {
	use     *use
	columns []int // of use.spec.Columns: physical and writable metadata columns
	fields  []types.Field
	static  map[string]string
}

// insert binds an INSERT: the query, brought to the columns of the table, and the sink.
func (p *planning) insert(s *sql.Insert) (Node, error) {
	if s.Upsert {
		return nil, refuse(validation, s, "UPSERT INTO statement is not supported. Please use INSERT INTO instead.")
	}
	if s.OnConflict != "" {
		return nil, unsupported(s, "ON CONFLICT is")
	}
	t, err := p.target(s)
	if err != nil {
		return nil, err
	}
	return p.fill(t, s)
}

// fill binds the query of an INSERT into its target.
func (p *planning) fill(t *target, s *sql.Insert) (Node, error) {
	r, err := p.query(s.Query, &around{whole: true, nulls: true})
	if err != nil {
		return nil, err
	}
	in, err := t.arrange(p, s, r.node)
	if err != nil {
		return nil, err
	}
	return p.sink(s, t, in), nil
}

// target finds the table of an INSERT.
func (p *planning) target(s *sql.Insert) (*target, error) {
	path, err := p.Catalog.Resolve(s.Table)
	if err != nil {
		return nil, err
	}
	o, ok := p.Catalog.Find(path)
	if !ok {
		e := refuse(tableError, s.Table, "Cannot find table '%s' in any of the catalogs [%s], nor as a temporary table.", path.Quoted(),
			strings.Join(catalog.HashOrder(p.Catalog.Catalogs()), ", "))
		e.Hint = catalog.DidYouMean(path.Name, p.Catalog.Names(path.Catalog, path.Database))
		return nil, e
	}
	tab, ok := o.(*catalog.Table)
	if !ok {
		return nil, refuse(tableError, s.Table, "Sink '%s' does not exists", path).Cure("It is a view; INSERT wants a table.")
	}
	return p.targetOf(tab, s)
}

// targetOf takes a table as the target of an INSERT.
func (p *planning) targetOf(tab *catalog.Table, s *sql.Insert) (*target, error) {
	hints, err := p.optionHints(s.Hints)
	if err != nil {
		return nil, err
	}
	u, err := p.use(tab, hints, s.Table, "sink")
	if err != nil {
		return nil, err
	}
	if tab.Distribution != nil {
		return nil, refuse(tableError, s.Table, "Table '%s' is distributed into buckets, but the underlying DynamicTableSink doesn't implement the SupportsBucketing interface.",
			tab.Path).Cure("No connector here writes buckets: ALTER TABLE %s DROP DISTRIBUTION.", tab.Path.Name)
	}
	t := &target{use: u, static: map[string]string{}}
	for i, c := range u.spec.Columns {
		if c.Metadata != "" && c.Virtual {
			continue
		}
		t.columns = append(t.columns, i)
		t.fields = append(t.fields, types.Field{Name: c.Name, Type: c.Type})
	}
	return t, nil
}

// arrange brings the rows of the query to the columns of the table: in order, with NULL where none is named, cast where an
// implicit cast does it.
func (t *target) arrange(p *planning, s *sql.Insert, in Node) (Node, error) {
	from := fieldsIn(in)
	exprs := columnExprs(from)
	static, err := t.partition(p, s)
	if err != nil {
		return nil, err
	}
	if len(s.Columns) > 0 || len(static) > 0 {
		if exprs, err = t.byName(s, exprs, static); err != nil {
			return nil, err
		}
		if len(exprs) == len(t.fields) {
			from = make([]types.Field, len(exprs))
			for i, e := range exprs {
				from[i] = types.Field{Name: t.fields[i].Name, Type: e.Type()}
				if c, ok := e.(*expr.Col); ok {
					from[i].Name = c.Name
				}
			}
		}
	}
	if len(exprs) != len(t.fields) {
		return nil, t.mismatch(s, "Different number of columns.", from)
	}
	names := make([]string, len(exprs))
	same := len(exprs) == len(fieldsIn(in))
	for i, e := range exprs {
		ft, tt := e.Type().Plain(), t.fields[i].Type
		if c, ok := e.(*expr.Col); ok && ft.Kind == types.Null {
			ft = tt.Nullable(true)
			typeNulls(in, c.Index, ft)
			e = expr.NewCol(fieldsIn(in), c.Index)
			exprs[i] = e
		}
		if ft.Kind != types.Null && !expr.ImplicitCast(ft, tt) {
			return nil, t.mismatch(s, fmt.Sprintf("Incompatible types for sink column '%s' at position %d.", t.fields[i].Name, i), from)
		}
		names[i] = from[i].Name
		if !ft.SameIgnoringNull(tt) {
			exprs[i] = castTo(e, tt)
			names[i], same = t.fields[i].Name, false
		}
		c, ok := exprs[i].(*expr.Col)
		same = same && ok && c.Index == i
	}
	if same {
		return in, nil
	}
	return newCalc(in, exprs, names, nil), nil
}

// typeNulls gives the bare NULLs of a column a type.
func typeNulls(in Node, col int, t types.Type) {
	null := expr.NewConst(types.NullDatum(), t)
	switch n := in.(type) {
	case *Values:
		for _, r := range n.Rows {
			r[col] = null
		}
	case *Calc:
		n.Exprs[col] = null
	}
	fieldsIn(in)[col].Type = t
}

// byName puts the expressions of an INSERT with a column list, or with static partition columns, in the table's order.
func (t *target) byName(s *sql.Insert, exprs []expr.Expr, static map[int]expr.Expr) ([]expr.Expr, error) {
	out := make([]expr.Expr, len(t.fields))
	for c, e := range static {
		out[c] = e
	}
	if len(s.Columns) == 0 { // the query gives the other columns in order
		next := 0
		for c := range out {
			if out[c] == nil && next < len(exprs) {
				out[c] = exprs[next]
				next++
			} else if out[c] == nil {
				return exprs, nil
			}
		}
		if next != len(exprs) {
			return exprs, nil
		}
		return out, nil
	}
	if len(exprs) != len(s.Columns) {
		return nil, refuse(nameError, s.Query, "Number of columns must match number of query columns").
			Cure("INSERT names %d columns, the query has %d.", len(s.Columns), len(exprs))
	}
	for i, n := range s.Columns {
		if len(n.Parts) > 1 {
			return nil, unsupported(n, "A field of a row as the target of INSERT is")
		}
		c := slices.IndexFunc(t.fields, func(f types.Field) bool { return f.Name == n.Last() })
		if c < 0 {
			e := refuse(nameError, n, "Unknown target column '%s'", n.Last())
			e.Hint = catalog.DidYouMean(n.Last(), fieldNames(t.fields))
			return nil, e
		}
		if out[c] != nil {
			return nil, refuse(nameError, n, "Target column '%s' is assigned more than once", n.Last())
		}
		out[c] = exprs[i]
	}
	for c := range out {
		if out[c] == nil {
			if t.fields[c].Type.NotNull {
				return nil, refuse(nameError, s.Columns[0], "Column '%s' has no default value and does not allow NULLs", t.fields[c].Name)
			}
			out[c] = expr.NewConst(types.NullDatum(), t.fields[c].Type)
		}
	}
	return out, nil
}

// partition binds PARTITION (k = v).
func (t *target) partition(p *planning, s *sql.Insert) (map[int]expr.Expr, error) {
	if s.Partition == nil {
		return nil, nil
	}
	keys := t.use.table.Partition
	out := map[int]expr.Expr{}
	for _, it := range s.Partition.Items {
		name := it.Column.Name
		c := slices.IndexFunc(t.fields, func(f types.Field) bool { return f.Name == name })
		if c < 0 {
			e := refuse(nameError, &it.Column, "Unknown target column '%s'", name)
			e.Hint = catalog.DidYouMean(name, keys)
			return nil, e
		}
		if !slices.Contains(keys, name) {
			return nil, refuse(validation, &it.Column, "Static partition column '%s' should be in the partition keys list [%s] for table '%s'.",
				name, strings.Join(keys, ", "), t.use.table.Path)
		}
		if it.Value == nil {
			continue
		}
		x, err := p.binder(&scope{}).expr(it.Value)
		if err != nil {
			return nil, err
		}
		out[c] = x
		text, err := p.evaluate(expr.ImplicitCastTo(x, types.String()))
		if err != nil {
			return nil, refuse(validation, it.Value, "static partition value: %s", err)
		}
		t.static[name] = text.S
	}
	return out, nil
}

// mismatch words the refusal of a query that does not fit its sink.
func (t *target) mismatch(s *sql.Insert, cause string, from []types.Field) error {
	e := refuse(validation, s.Table, "Column types of query result and sink for '%s' do not match.\nCause: %s\n\nQuery schema: [%s]\nSink schema:  [%s]",
		t.use.table.Path, cause, schemaText(from), schemaText(nullable(t.fields)))
	e.Hint = "Name the columns that the query gives: INSERT INTO t (a, b) SELECT ..; the others become NULL."
	if strings.HasPrefix(cause, "Inc") {
		e.Hint = "CAST the column to the sink's type."
	}
	return e
}

// nullable gives the fields as Flink shows a sink's schema: without NOT NULL at the top.
func nullable(fields []types.Field) []types.Field {
	out := slices.Clone(fields)
	for i := range out {
		out[i].Type.NotNull = false
	}
	return out
}

func schemaText(fields []types.Field) string {
	parts := make([]string, len(fields))
	for i, f := range fields {
		parts[i] = f.Name + ": " + summary(f.Type)
	}
	return strings.Join(parts, ", ")
}

// summary prints a type as the schemas in messages do, time attributes included.
func summary(t types.Type) string {
	s := t.Name()
	switch t.Attr {
	case types.Rowtime:
		s += " *ROWTIME*"
	case types.Proctime:
		s += " *PROCTIME*"
	}
	if t.NotNull && t.Kind != types.Null {
		s += " NOT NULL"
	}
	return s
}

// sink makes the sink node; what it needs to know of the changelog comes later.
func (p *planning) sink(s *sql.Insert, t *target, in Node) Node {
	n := &Sink{Table: t.use.spec, Columns: t.columns, RowtimeColumn: -1, at: s.Table}
	n.Kind, n.Inputs, n.Pos = "Sink", []Node{in}, pos(s)
	n.Fields = fieldsIn(in)
	n.names = t.fields
	n.plan = t.use.connector.Sink
	n.request = connectors.SinkRequest{Table: t.use.spec, Columns: t.columns, Overwrite: s.Overwrite}
	if len(t.static) > 0 {
		n.request.Static = t.static
	}
	if k := t.use.table.PrimaryKey; k != nil {
		for _, name := range k.Columns {
			n.PrimaryKey = append(n.PrimaryKey, slices.IndexFunc(t.fields, func(f types.Field) bool { return f.Name == name }))
		}
	}
	p.enforcer(n)
	return n
}

// notNull guards the columns that must not be NULL.
func (p *planning) notNull(fields []types.Field) Enforcer {
	e := Enforcer{Drop: p.Config.Get("table.exec.sink.not-null-enforcer") == "DROP"}
	for i, f := range fields {
		if f.Type.NotNull {
			e.NotNull = append(e.NotNull, i)
		}
	}
	return e
}

// enforcer says what happens to rows before the writer.
func (p *planning) enforcer(n *Sink) {
	n.Enforcer = p.notNull(n.names)
	trim := p.Config.Get("table.exec.sink.type-length-enforcer") == "TRIM_PAD"
	for i, f := range n.names {
		if k := f.Type.Kind; trim && (k == types.Char || k == types.Binary || (k == types.Varchar || k == types.Varbinary) && f.Type.Precision < types.MaxLength) {
			n.Enforcer.Length = append(n.Enforcer.Length, i)
		}
	}
}

// stamp finds the column that stamps the records, once it is settled which are still time attributes.
func (p *planning) stamp(n *Sink) error {
	if p.Config.Get("table.exec.sink.rowtime-inserter") == "DISABLED" {
		return nil
	}
	var rowtimes []string
	for i, f := range fieldsIn(n.Inputs[0]) {
		if f.Type.Attr == types.Rowtime {
			rowtimes = append(rowtimes, n.Fields[i].Name)
			n.RowtimeColumn = i
		}
	}
	if len(rowtimes) > 1 {
		return refuse(tableError, n.at, "The query contains more than one rowtime attribute column [%s] for writing into table '%s'.\n"+
			"Please select the column that should be used as the event-time timestamp for the table sink by casting all other columns to regular TIMESTAMP or TIMESTAMP_LTZ.",
			strings.Join(rowtimes, ", "), n.Table.Name).Cure("Or SET 'table.exec.sink.rowtime-inserter' = 'DISABLED'.")
	}
	return nil
}
