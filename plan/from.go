package plan

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"runnel/catalog"
	"runnel/expr"
	"runnel/sql"
	"runnel/types"
)

// refs is a bound item of a FROM clause: its rows and the names of its parts.
type refs struct {
	node   Node
	tables []scopeTable
	star   []int // the columns of *, nil for all
	shared map[string]expr.Expr
}

// sampleOf gives the TABLESAMPLE of an item of FROM, nil for none.
func sampleOf(t sql.TableRef) *sql.Sample {
	switch t := t.(type) {
	case *sql.TableName:
		return t.Sample
	case *sql.DerivedTable:
		return t.Sample
	case *sql.TableFunc:
		return t.Sample
	case *sql.Unnest:
		return t.Sample
	case *sql.MatchRecognize:
		return t.Sample
	}
	return nil
}

// sampled refuses TABLESAMPLE, as Flink's planner does, but for SUBSTITUTE, which it ignores, and a sample of all rows.
func sampled(s *sql.Sample) error {
	if s.Method == "SUBSTITUTE" {
		return nil
	}
	if l, ok := s.Arg.(*sql.Literal); ok {
		switch v, err := strconv.ParseFloat(l.Text, 64); {
		case err != nil || v < 0 || v > 100:
			return refuse("org.apache.calcite.runtime.CalciteException", s.Arg, "TABLESAMPLE percentage must be between 0 and 100, inclusive")
		case v == 100:
			return nil
		}
	}
	return refuse("org.apache.calcite.plan.RelOptPlanner$CannotPlanException", s, "There are not enough rules to produce a node with desired properties: "+
		"convention=LOGICAL, FlinkRelDistributionTraitDef=any, MiniBatchIntervalTraitDef=None: 0, ModifyKindSetTraitDef=[NONE], UpdateKindTraitDef=[NONE].\n"+
		"Missing conversion is Sample[convention: NONE -> LOGICAL]").Cure("TABLESAMPLE is not supported: WHERE RAND() < 0.1 keeps about a tenth of the rows.")
}

// tableRef binds an item of FROM.
func (p *planning) tableRef(t sql.TableRef, env *around) (*refs, error) {
	if s := sampleOf(t); s != nil {
		if err := sampled(s); err != nil {
			return nil, err
		}
	}
	switch t := t.(type) {
	case *sql.TableName:
		if t.AsOf != nil {
			return nil, refuse(catalog.UnsupportedOp, t, "getTable(ObjectPath, long) is not implemented for class org.apache.flink.table.catalog.GenericInMemoryCatalog.").
				Cure("Tables have no history here: FOR SYSTEM_TIME AS OF is supported on the right side of a join only.")
		}
		return p.tableName(t, env)
	case *sql.DerivedTable:
		inner := *env
		if !t.Lateral {
			inner.outer = env.outer
		}
		r, err := p.query(t.Query, &inner)
		if err != nil {
			return nil, err
		}
		return p.aliased(r.node, t.Alias, nil, t)
	case *sql.TableFunc:
		if _, ok := windowForms[callName(t.Call)]; ok {
			return p.windowFunction(t, env)
		}
		return nil, p.unknownTableFunction(t.Call, &scope{parent: env.outer})
	case *sql.Join:
		return p.join(t, env)
	case *sql.Unnest:
		return p.unnest(nil, &refs{node: oneValue()}, t, env)
	case *sql.MatchRecognize:
		return p.matchRecognize(t, env)
	case *sql.Pivot:
		return p.pivot(t, env)
	case *sql.Unpivot:
		return p.unpivot(t, env)
	}
	return nil, unsupported(t, "This kind of table is")
}

// unknownTableFunction refuses TABLE(f(..)); its arguments are over sc.
func (p *planning) unknownTableFunction(c *sql.FuncCall, sc *scope) error {
	var args []expr.Expr
	var err error
	if !slices.ContainsFunc(c.Args, func(a sql.Expr) bool { _, table := a.(*sql.TableArg); return table }) {
		if args, err = p.binder(sc).exprs(plainArgs(c.Args)); err != nil {
			return err
		}
	}
	err = p.unknownFunction(c, args)
	var e *catalog.Error
	if errors.As(err, &e) && e.Class == nameError {
		e.Cure("%s", strings.TrimSpace(catalog.DidYouMean(callName(c), []string{"TUMBLE", "HOP", "CUMULATE", "SESSION"})+" Table functions are TUMBLE, HOP, CUMULATE and SESSION."))
	}
	return err
}

// aliased names a bound table; path is its full name where it has one.
func (p *planning) aliased(n Node, a *sql.TableAlias, path []string, at sql.Node) (*refs, error) {
	t := scopeTable{n: len(fieldsIn(n)), path: path}
	if len(path) > 0 {
		t.alias = path[len(path)-1]
	}
	if a != nil {
		t.alias, t.path = a.Name.Name, nil
		if len(a.Columns) > 0 {
			if len(a.Columns) != len(fieldsIn(n)) {
				return nil, refuse(nameError, a, "List of column aliases must have same degree as table; table has %d columns (%s), whereas alias list has %d columns",
					len(fieldsIn(n)), quotedNames(fieldsIn(n)), len(a.Columns))
			}
			names := make([]string, len(a.Columns))
			for i, c := range a.Columns {
				names[i] = c.Name
			}
			n = renamed(n, names)
		}
	}
	return &refs{node: n, tables: []scopeTable{t}}, nil
}

func quotedNames(fields []types.Field) string {
	s := ""
	for i, f := range fields {
		if i > 0 {
			s += ", "
		}
		s += "'" + f.Name + "'"
	}
	return s
}

// tableName binds a table, a view or a name of WITH.
func (p *planning) tableName(t *sql.TableName, env *around) (*refs, error) {
	if len(t.Name.Parts) == 1 {
		for w := env.with; w != nil; w = w.next {
			if w.def.Name.Name == t.Name.Last() {
				return p.withTable(w, t)
			}
		}
	}
	o, err := p.Catalog.Lookup(t.Name, env.catalog, env.database)
	if err != nil {
		return nil, err
	}
	hints, err := p.optionHints(t.Hints)
	if err != nil {
		return nil, err
	}
	path := o.ObjectPath()
	names := []string{path.Catalog, path.Database, path.Name}
	if len(p.views) == 0 {
		p.full.table(t.Name, names)
	}
	if v, ok := o.(*catalog.View); ok {
		if len(hints) > 0 {
			return nil, refuse(validation, t, "View '%s' cannot be enriched with new options. Hints can only be applied to tables.", path.Quoted())
		}
		n, err := p.view(v, t)
		if err != nil {
			return nil, err
		}
		return p.aliased(n, t.Alias, names, t)
	}
	n, err := p.scan(o.(*catalog.Table), hints, t)
	if err != nil {
		return nil, err
	}
	r, err := p.aliased(n, t.Alias, names, t)
	if err == nil {
		r.star = p.starOf(o.(*catalog.Table))
	}
	return r, err
}

// starOf gives the columns of * where table.column-expansion-strategy leaves some out.
func (p *planning) starOf(t *catalog.Table) []int {
	how := catalogList(p.Config.Get("table.column-expansion-strategy"))
	if len(how) == 0 {
		return nil
	}
	var star []int
	for i, c := range t.Columns {
		hidden := c.Kind == sql.MetadataColumn && c.Virtual &&
			(c.FromKey && slices.Contains(how, "EXCLUDE_ALIASED_VIRTUAL_METADATA_COLUMNS") ||
				!c.FromKey && slices.Contains(how, "EXCLUDE_DEFAULT_VIRTUAL_METADATA_COLUMNS"))
		if !hidden {
			star = append(star, i)
		}
	}
	return star
}

// withTable binds a use of a name of WITH; every use is bound anew.
func (p *planning) withTable(w *withName, t *sql.TableName) (*refs, error) {
	env := *w.env
	r, err := p.query(w.def.Query, &env)
	if err != nil {
		return nil, err
	}
	n := r.node
	if len(w.def.Columns) > 0 {
		if len(w.def.Columns) != len(fieldsIn(n)) {
			return nil, refuse(nameError, &w.def.Name, "Number of columns must match number of query columns")
		}
		names := make([]string, len(w.def.Columns))
		for i, c := range w.def.Columns {
			names[i] = c.Name
		}
		n = renamed(n, names)
	}
	return p.aliased(n, t.Alias, []string{w.def.Name.Name}, t)
}

// view expands a view.
func (p *planning) view(v *catalog.View, at sql.Node) (Node, error) {
	if slices.Contains(p.views, v.Path) {
		return nil, refuse(validation, at, "The view '%s' is defined over itself.", v.Path)
	}
	p.views = append(p.views, v.Path)
	defer func() { p.views = p.views[:len(p.views)-1] }()
	r, err := p.query(v.Query, &around{catalog: v.Catalog, database: v.Database})
	if err != nil {
		return nil, moved(err, at, "view '"+v.Path.String()+"'")
	}
	if len(v.Fields) != len(fieldsIn(r.node)) {
		return nil, refuse(validation, at, "The query of view '%s' has %d columns now, it had %d when the view was made.", v.Path,
			len(fieldsIn(r.node)), len(v.Fields))
	}
	return renamed(r.node, fieldNames(v.Fields)), nil
}

// optionHints reads OPTIONS hints behind a table.
func (p *planning) optionHints(hints []*sql.Hint) ([]catalog.Option, error) {
	var opts []catalog.Option
	for _, h := range hints {
		if !equalFold(h.Name.Name, "OPTIONS") {
			continue // other hints behind a table mean nothing, as in Flink
		}
		if !p.Config.Bool("table.dynamic-table-options.enabled") {
			return nil, refuse(validation, h, "The 'OPTIONS' hint is allowed only when the config option 'table.dynamic-table-options.enabled' is set to true.")
		}
		for _, a := range h.Args {
			k, v := hintText(a.Key), hintText(a.Value)
			if a.Key == nil {
				return nil, refuse(validation, a, "The OPTIONS hint wants 'key' = 'value' pairs.")
			}
			opts = append(opts, catalog.Option{Key: k, Value: v})
		}
	}
	return opts, nil
}

// join binds a JOIN or a comma.
func (p *planning) join(j *sql.Join, env *around) (*refs, error) {
	left, err := p.tableRef(j.L, env)
	if err != nil {
		return nil, err
	}
	if _, plain := j.R.(*sql.TableName); !plain {
		if err := conditional(j); err != nil {
			return nil, err
		}
	}
	switch r := j.R.(type) {
	case *sql.TableName:
		if r.AsOf != nil {
			return p.snapshotJoin(j, left, r, env)
		}
	case *sql.Unnest:
		return p.unnest(j, left, r, env)
	case *sql.DerivedTable:
		if r.Lateral {
			return p.lateral(j, left, r, env)
		}
	case *sql.TableFunc:
		if _, ok := windowForms[callName(r.Call)]; !ok {
			return nil, p.unknownTableFunction(r.Call, &scope{parent: env.outer, fields: fieldsIn(left.node), tables: left.tables, shared: left.shared})
		}
	}
	right, err := p.tableRef(j.R, env)
	if err != nil {
		return nil, err
	}
	return p.joined(j, left, right, env)
}

// conditional refuses a join without a condition that wants one.
func conditional(j *sql.Join) error {
	if j.Kind == sql.CrossJoin || j.Kind == sql.CommaJoin || j.On != nil || len(j.Using) > 0 || j.Natural {
		return nil
	}
	return refuse(nameError, j, "INNER, LEFT, RIGHT or FULL join requires a condition (NATURAL keyword or ON or USING clause)").
		Cure("ON TRUE, or CROSS JOIN, joins every row with every other.")
}

// joined joins two bound tables.
func (p *planning) joined(j *sql.Join, left, right *refs, env *around) (*refs, error) {
	out := concat(left, right)
	for _, r := range right.tables {
		if r.alias != "" && slices.ContainsFunc(left.tables, func(l scopeTable) bool { return l.alias == r.alias }) {
			return nil, refuse(nameError, j.R, "Duplicate relation name '%s' in FROM clause", r.alias).Cure("Give one of them another alias: AS name.")
		}
	}
	if err := conditional(j); err != nil {
		return nil, err
	}
	nl := len(fieldsIn(left.node))
	fields := append(slices.Clone(fieldsIn(left.node)), fieldsIn(right.node)...)
	var cond expr.Expr
	switch {
	case j.On != nil:
		b := p.binder(&scope{parent: env.outer, fields: fields, tables: out.tables, shared: left.shared})
		b.clause = "ON clause"
		var terms []expr.Expr
		all := conjuncts(j.On)
		for i, c := range all {
			x, err := b.conjunct(c, i, len(all))
			if err != nil {
				return nil, err
			}
			terms = append(terms, x)
		}
		cond = expr.NewAnd(terms...)
	case j.Natural || len(j.Using) > 0:
		var err error
		if cond, out.star, err = p.using(j, left, right); err != nil {
			return nil, err
		}
		p.share(j, left, out, fields)
	}
	join := newJoin(joinKinds[j.Kind], left.node, right.node, cond, j)
	join.LeftTTL, join.RightTTL, join.lookup = env.ttlOf(left), env.ttlOf(right), env.lookupOf(right)
	out.node = join
	if out.star == nil && (left.star != nil || right.star != nil) {
		out.star = append(starColumns(left), shifted(starColumns(right), nl)...)
	}
	return out, nil
}

var joinKinds = map[sql.JoinKind]JoinKind{
	sql.InnerJoin: Inner, sql.CrossJoin: Inner, sql.CommaJoin: Inner, sql.LeftJoin: Left, sql.RightJoin: Right, sql.FullJoin: Full,
}

// concat puts the names of two items side by side.
func concat(left, right *refs) *refs {
	nl := len(fieldsIn(left.node))
	out := &refs{tables: slices.Clone(left.tables), shared: left.shared}
	for _, t := range right.tables {
		t.first += nl
		out.tables = append(out.tables, t)
	}
	return out
}

func starColumns(r *refs) []int {
	if r.star != nil {
		return r.star
	}
	cols := make([]int, len(fieldsIn(r.node)))
	for i := range cols {
		cols[i] = i
	}
	return cols
}

func shifted(cols []int, n int) []int {
	out := make([]int, len(cols))
	for i, c := range cols {
		out[i] = c + n
	}
	return out
}

// using gives the condition of USING or NATURAL, and the columns of *: the shared ones first, once.
func (p *planning) using(j *sql.Join, left, right *refs) (expr.Expr, []int, error) {
	lf, rf := fieldsIn(left.node), fieldsIn(right.node)
	var names []sql.Ident
	if j.Natural {
		for _, f := range lf {
			if slices.ContainsFunc(rf, func(g types.Field) bool { return g.Name == f.Name }) {
				names = append(names, sql.Ident{Span: j.Span, Name: f.Name})
			}
		}
	} else {
		names = j.Using
	}
	fields := append(slices.Clone(lf), rf...)
	var terms []expr.Expr
	var star, leftKeys, rightKeys []int
	for i := range names {
		n := &names[i]
		l, err := (&scope{fields: lf}).column(*n, 0, len(lf))
		if err != nil {
			return nil, nil, err
		}
		r, err := (&scope{fields: rf}).column(*n, 0, len(rf))
		if err != nil {
			return nil, nil, err
		}
		if l < 0 || r < 0 {
			e := refuse(nameError, n, "Column '%s' not found in any table", n.Name)
			return nil, nil, e.Cure("%s", strings.TrimSpace(catalog.DidYouMean(n.Name, append(fieldNames(lf), fieldNames(rf)...))+" USING wants columns of both tables."))
		}
		eq, err := newCall(n, "=", expr.NewCol(fields, l), expr.NewCol(fields, len(lf)+r))
		if err != nil {
			return nil, nil, err
		}
		terms = append(terms, eq)
		leftKeys, rightKeys = append(leftKeys, l), append(rightKeys, r)
		if j.Kind == sql.RightJoin {
			l = len(lf) + r
		}
		star = append(star, l)
	}
	for _, i := range starColumns(left) {
		if !slices.Contains(leftKeys, i) {
			star = append(star, i)
		}
	}
	for _, i := range starColumns(right) {
		if !slices.Contains(rightKeys, i) {
			star = append(star, len(lf)+i)
		}
	}
	return expr.NewAnd(terms...), star, nil
}

// share lets a bare name mean a column of USING: the one of the side that is never padded, or whichever is there.
func (p *planning) share(j *sql.Join, left, out *refs, fields []types.Field) {
	nl := len(fieldsIn(left.node))
	shared := map[string]expr.Expr{}
	for name, x := range left.shared {
		shared[name] = x
	}
	for _, id := range j.Using {
		l := slices.IndexFunc(fields[:nl], func(f types.Field) bool { return f.Name == id.Name })
		r := nl + slices.IndexFunc(fields[nl:], func(f types.Field) bool { return f.Name == id.Name })
		switch j.Kind {
		case sql.RightJoin:
			shared[id.Name] = expr.NewCol(fields, r)
		case sql.FullJoin:
			x, err := newCall(j, "COALESCE", expr.NewCol(fields, l), expr.NewCol(fields, r))
			if err == nil {
				shared[id.Name] = x
			}
		default:
			shared[id.Name] = expr.NewCol(fields, l)
		}
	}
	out.shared = shared
}

// newJoin makes a join whose kind the rules still have to find out.
func newJoin(kind JoinKind, left, right Node, cond expr.Expr, at sql.Node) *Join {
	j := &Join{Join: kind, Cond: cond}
	j.Kind, j.Inputs = "Join", []Node{left, right}
	if at != nil {
		j.Pos = pos(at)
	}
	j.Fields = joinFields(kind, fieldsIn(left), fieldsIn(right))
	return j
}

// joinFields are the columns of a join: those of the side that may be padded become nullable.
func joinFields(kind JoinKind, left, right []types.Field) []types.Field {
	out := make([]types.Field, 0, len(left)+len(right))
	for _, f := range left {
		if kind == Right || kind == Full {
			f.Type = f.Type.Optional()
		}
		out = append(out, f)
	}
	if kind == Semi || kind == Anti {
		return out
	}
	for _, f := range right {
		if kind == Left || kind == Full {
			f.Type = f.Type.Optional()
		}
		out = append(out, f)
	}
	return out
}
