package plan

import (
	"errors"
	"slices"
	"strings"
	"time"

	"runnel/catalog"
	"runnel/expr"
	"runnel/sql"
	"runnel/types"
)

// Results of an aggregation are bound before it is known how many there are (ORDER BY may add some), so columns stand for
// them that sealing renumbers: aggregate k is column aggBase+k, GROUPING's set
// number is column setColumn, property k of a group window is column propBase+k.
const (
	aggBase   = 1 << 16
	setColumn = 1<<17 - 1
	propBase  = 1<<17 + 1<<16
)

// grouping is the binding of GROUP BY and the aggregates over it.
type grouping struct {
	b        *selecting
	keys     []expr.Expr // over the input
	keyNames []string
	places   places  // of keys
	sets     [][]int // grouping sets over keys; nil for the one set of all
	aggs     []aggregate
	naming   string // the name for an aggregate that is a select item by itself
	legacy   *legacyWindow
	having   expr.Expr // of a SELECT with OVER calls, which come after it
	joins    []waitingJoin
	width    int // of the columns that joins add
}

// aggregate is a call before its arguments have become columns.
type aggregate struct {
	call   expr.AggCall // Args and Filter are not set
	args   []expr.Expr
	filter expr.Expr
	digest string
}

// grouped binds a SELECT that groups.
func (b *selecting) grouped(items []item) (*selected, error) {
	g := &grouping{b: b}
	if err := g.groupKeys(); err != nil {
		return nil, err
	}
	x := g.binder("")
	if b.overs(items) {
		x.scalar, x.inQuery, x.exists = nil, nil, nil
		return b.windowed(items, x, g)
	}
	b.after = g
	out := &selected{bind: x.expr}
	for _, it := range items {
		g.naming = ""
		if isAggregate(it.expr) {
			g.naming = it.name
		}
		e, err := b.bindItem(it, x)
		if err != nil {
			return nil, err
		}
		out.exprs, out.names = append(out.exprs, e), append(out.names, it.name)
	}
	g.naming = ""
	if b.stmt.Having != nil {
		cond, err := g.condition(b.stmt.Having)
		if err != nil {
			return nil, b.aliasNamed(err)
		}
		out.cond = cond
	}
	out.seal = g.seal
	return out, nil
}

// aliasNamed says of a column that is not there that it is an alias of the select list.
func (b *selecting) aliasNamed(err error) error {
	var e *catalog.Error
	if errors.As(err, &e) {
		for _, it := range b.stmt.Items {
			if it.Alias != nil && strings.HasPrefix(e.Msg, "Column '"+it.Alias.Name+"' not found") {
				e.Cure("%s is an alias of the select list, which GROUP BY and HAVING do not know: repeat the expression.", it.Alias.Name)
			}
		}
	}
	return err
}

// groupKeys binds the expressions of GROUP BY and works out the grouping sets.
func (g *grouping) groupKeys() error {
	if g.b.stmt.GroupBy == nil {
		return nil
	}
	sets := [][]int{nil}
	many := false
	for _, it := range g.b.stmt.GroupBy.Items {
		more, err := g.groupItem(it)
		if err != nil {
			return err
		}
		many = many || len(more) != 1
		var product [][]int
		for _, a := range sets {
			for _, m := range more {
				product = append(product, union(a, m))
			}
		}
		if sets = product; len(sets) > 4096 {
			return refuse(tableError, g.b.stmt.GroupBy, "GROUP BY makes more than 4096 grouping sets.")
		}
	}
	if many || len(sets) == 1 && len(sets[0]) != len(g.keys) {
		if len(g.keys) > 63 || len(g.keys) > 50 && equalSets(len(g.keys), sets) {
			return refuse(tableError, g.b.stmt.GroupBy, "group count must be less than 64.")
		}
		g.sets = sets
	}
	return nil
}

// union joins two ascending sets.
func union(a, b []int) []int {
	u := append(append([]int(nil), a...), b...)
	slices.Sort(u)
	return slices.Compact(u)
}

// groupItem gives the alternatives of one element of GROUP BY, each a set of keys.
func (g *grouping) groupItem(e sql.Expr) ([][]int, error) {
	gs, ok := e.(*sql.GroupingSet)
	if !ok {
		set, err := g.keySet(e)
		return [][]int{set}, err
	}
	if gs.Kind == sql.EmptyGroup {
		return [][]int{nil}, nil
	}
	if gs.Kind == sql.GroupingSets {
		var all [][]int
		for _, it := range gs.Items {
			sets, err := g.groupItem(it)
			if err != nil {
				return nil, err
			}
			all = append(all, sets...)
		}
		return all, nil
	}
	var parts [][]int
	for _, it := range gs.Items {
		set, err := g.keySet(it)
		if err != nil {
			return nil, err
		}
		parts = append(parts, set)
	}
	var all [][]int
	if gs.Kind == sql.Rollup {
		for n := len(parts); n >= 0; n-- {
			all = append(all, joinSets(parts[:n], ^uint(0)))
		}
		return all, nil
	}
	if len(parts) > 12 {
		return nil, refuse(tableError, gs, "CUBE of more than 12 elements is not supported.")
	}
	for mask := 1<<len(parts) - 1; mask >= 0; mask-- {
		// The first element is the highest bit, so that the sets come in Flink's order.
		bits := uint(0)
		for i := range parts {
			if mask&(1<<(len(parts)-1-i)) != 0 {
				bits |= 1 << i
			}
		}
		all = append(all, joinSets(parts, bits))
	}
	return all, nil
}

func joinSets(parts [][]int, bits uint) []int {
	var set []int
	for i, p := range parts {
		if bits&(1<<i) != 0 {
			set = union(set, p)
		}
	}
	return set
}

// keySet gives the keys of one expression, or of several in parentheses.
func (g *grouping) keySet(e sql.Expr) ([]int, error) {
	if c, ok := e.(*sql.Constructor); ok && c.Kind == sql.RowImplicit {
		var set []int
		for _, it := range c.Items {
			s, err := g.keySet(it)
			if err != nil {
				return nil, err
			}
			set = union(set, s)
		}
		return set, nil
	}
	if c, ok := e.(*sql.FuncCall); ok && isLegacyWindow(c) {
		return nil, g.legacyKey(c)
	}
	if contains(e, isAggregate) {
		return nil, refuse(nameError, e, "Aggregate expression is illegal in GROUP BY clause")
	}
	x, err := g.b.binder("GROUP BY clause").expr(e)
	if err != nil {
		return nil, g.b.aliasNamed(err)
	}
	if i := g.places.of(x, g.keys); i >= 0 {
		return []int{i}, nil
	}
	name := "$f" + itoa(len(g.keys))
	if n, ok := e.(*sql.Name); ok {
		name = n.Last()
	}
	g.keys, g.keyNames = append(g.keys, x), append(g.keyNames, name)
	return []int{len(g.keys) - 1}, nil
}

// hook gives the columns that stand for keys and aggregates.
func (g *grouping) hook(e sql.Expr) (expr.Expr, error) {
	if c, ok := e.(*sql.FuncCall); ok {
		if isAggregate(c) {
			return g.aggregate(c)
		}
		if x, err := g.auxiliary(c); x != nil || err != nil {
			return x, err
		}
		if name := callName(c); c.Over == nil && expr.Lookup(name) == nil && expr.LookupAggregate(name) == nil && name != "PROCTIME" {
			args, err := g.b.binder("").exprs(plainArgs(c.Args))
			if err != nil {
				return nil, err
			}
			return nil, g.b.p.unknownFunction(c, args)
		}
	}
	switch e.(type) {
	case *sql.Literal, *sql.IntervalLit, *sql.Symbol, *sql.Star:
		return nil, nil
	}
	if contains(e, isAggregate) || contains(e, isOver) || contains(e, isQuery) {
		return nil, nil
	}
	b := g.b.binder("")
	b.scalar, b.inQuery, b.exists = nil, nil, nil
	x, err := b.expr(e)
	n, isName := e.(*sql.Name)
	if err != nil {
		if isName {
			return nil, err
		}
		return nil, nil // the binder meets the error again, at its place
	}
	if k := g.key(x); k != nil {
		return k, nil
	}
	if c, ok := x.(*expr.Col); ok && isName {
		if c.Index >= outerBase {
			return c, nil
		}
		return g.column(c, n)
	}
	return nil, nil
}

// key gives the column of the key that x is, nil if it is none.
func (g *grouping) key(x expr.Expr) expr.Expr {
	i := g.places.of(x, g.keys)
	if i < 0 {
		return nil
	}
	t := g.keys[i].Type()
	if !inAllSets(g.sets, i) {
		t = t.Optional()
	}
	return &expr.Col{Index: i, Name: g.keyNames[i], T: t}
}

// column gives what stands for a column of the input: the key that it is.
func (g *grouping) column(c *expr.Col, at sql.Node) (expr.Expr, error) {
	if k := g.key(c); k != nil {
		return k, nil
	}
	name := c.Name
	if n, ok := at.(*sql.Name); ok {
		name = n.Dotted()
	}
	return nil, refuse(nameError, at, "Expression '%s' is not being grouped", name).
		Cure("Add it to GROUP BY, or put it into an aggregate such as MAX(%s).", name)
}

// aggregate registers a call and gives the column that stands for it.
func (g *grouping) aggregate(c *sql.FuncCall) (expr.Expr, error) {
	name := callName(c)
	switch {
	case len(c.OrderBy) > 0 && name == "LISTAGG":
		return nil, refuse(nameError, c.OrderBy[0], "ORDER BY unexpected").Cure("Flink's syntax has none here.")
	case c.Nulls != sql.NoNullTreatment && name != "ARRAY_AGG":
		return nil, refuse(nameError, c, "Cannot specify IGNORE NULLS or RESPECT NULLS following '%s'", name)
	case len(c.WithinGroup) > 0 || len(c.OrderBy) > 0:
		return nil, unsupported(c, "ORDER BY inside the aggregate "+name+" is")
	}
	b := g.b.binder(aggregateArgument)
	defer func(after *grouping) { g.b.after = after }(g.b.after)
	g.b.after = nil // arguments, and queries in them, are in front of the aggregation
	a := aggregate{call: expr.AggCall{Func: expr.LookupAggregate(name), Distinct: c.Quantifier == sql.Distinct, Filter: -1}}
	if a.call.Func.BatchOnly && !g.b.p.batch {
		return nil, unsupported(c, name+" in streaming mode is")
	}
	var err error
	if len(c.Args) != 1 || !isStar(c.Args[0]) {
		if a.args, err = b.exprs(c.Args); err != nil {
			return nil, err
		}
	} else if name != "COUNT" {
		return nil, refuse(nameError, c, "Unknown identifier '*'").Cure("Only COUNT takes *: it counts rows.")
	}
	if c.Filter != nil {
		if a.filter, err = b.condition(c.Filter); err != nil {
			return nil, err
		}
		if a.filter, err = newCall(c.Filter, "IS TRUE", a.filter); err != nil {
			return nil, err
		}
	}
	if len(a.args) == 2 && name == "LISTAGG" {
		if _, literal := a.args[1].(*expr.Const); !literal {
			return nil, refuse(nameError, c.Args[1], "Cannot apply 'LISTAGG' to arguments of type 'LISTAGG(<%s>, <%s>)'. "+
				"Supported form(s): 'LISTAGG(<CHARACTER>, <CHARACTER_LITERAL>)'", a.args[0].Type(), a.args[1].Type())
		}
	}
	return g.register(c, name, a)
}

func isStar(e sql.Expr) bool {
	s, ok := e.(*sql.Star)
	return ok && s.Qualifier == nil
}

// register types an aggregate and shares equal ones.
func (g *grouping) register(c *sql.FuncCall, name string, a aggregate) (expr.Expr, error) {
	ts := make([]types.Type, len(a.args))
	for i, x := range a.args {
		ts[i] = x.Type()
	}
	t, err := a.call.Func.Result(ts)
	if err != nil {
		return nil, typeError(err, c)
	}
	if name == "COUNT" && len(c.Args) == 0 {
		return nil, refuse(nameError, c, "Invalid number of arguments to function 'COUNT'. Was expecting 1 arguments").Cure("COUNT(*) counts rows.")
	}
	switch {
	case name == "COUNT" && !a.call.Distinct && len(ts) == 1 && ts[0].NotNull:
		a.args = nil // no value is ever left out
	case name == "MIN" || name == "MAX":
		a.call.Distinct = false
	}
	if !a.call.Func.Sure && (len(g.keys) == 0 && g.legacy == nil || a.filter != nil) {
		t = t.Optional()
	}
	switch c.Nulls {
	case sql.RespectNulls:
		a.call.Nulls = expr.NullsKept
	case sql.IgnoreNulls:
		a.call.Nulls = expr.NullsSkipped
	}
	if c.JSON != nil {
		a.call.Nulls = jsonNulls(c.JSON)
	}
	if strings.HasPrefix(name, "JSON_") {
		a.call.JSON = expr.MadeJSON(a.args[len(a.args)-1])
	}
	a.call.T = t.Plain()
	a.digest = a.key()
	for i, have := range g.aggs {
		if have.digest == a.digest {
			return &expr.Col{Index: aggBase + i, Name: have.call.Name, T: have.call.T}, nil
		}
	}
	a.call.Name = g.naming
	if a.call.Name == "" {
		a.call.Name = "$f" + itoa(len(g.keys)+len(g.aggs))
	}
	g.aggs = append(g.aggs, a)
	return &expr.Col{Index: aggBase + len(g.aggs) - 1, Name: a.call.Name, T: a.call.T}, nil
}

// key is the same for equal calls.
func (a *aggregate) key() string {
	var s strings.Builder
	s.WriteString(a.call.Func.Name)
	if a.call.Distinct {
		s.WriteString(" DISTINCT")
	}
	for _, x := range a.args {
		s.WriteString("," + expr.Digest(x))
	}
	if a.filter != nil {
		s.WriteString(" FILTER " + expr.Digest(a.filter))
	}
	s.WriteString(itoa(int(a.call.Nulls)))
	return s.String()
}

// seal builds the aggregation and puts the select list over its columns.
func (g *grouping) seal(s *selected) error {
	node, remap, err := g.build()
	if err != nil {
		return err
	}
	s.in, remap = g.join(node, remap)
	for i := range s.exprs {
		s.exprs[i] = remap(s.exprs[i])
	}
	if s.cond != nil {
		s.cond = remap(s.cond)
	}
	return nil
}

// build makes the Calc of keys and arguments and the aggregation on it. remap puts an expression that was bound by hook
// over its columns.
func (g *grouping) build() (Node, func(expr.Expr) expr.Expr, error) {
	pre := &columns{}
	keys := make([]int, len(g.keys))
	for i, k := range g.keys {
		keys[i] = pre.add(k, g.keyNames[i])
	}
	if g.legacy != nil {
		g.legacy.column = pre.add(g.legacy.time, g.legacy.time.Name)
	}
	if g.sets != nil {
		pre.at, pre.apart = places{}, len(pre.exprs) // arguments that are keys too must not get the nulls of the grouping sets
	}
	calls := make([]expr.AggCall, len(g.aggs))
	for i, a := range g.aggs {
		c := a.call
		for _, x := range a.args {
			c.Args = append(c.Args, pre.add(x, ""))
		}
		if a.filter != nil {
			c.Filter = pre.add(a.filter, "")
		}
		calls[i] = c
	}
	in := newCalc(g.b.in, pre.exprs, pre.names, nil)
	if len(pre.exprs) == 0 { // COUNT(*) alone: rows without columns do not exist, so one is kept
		in = newCalc(g.b.in, []expr.Expr{expr.NewInt(0)}, []string{"$f0"}, nil)
	}
	for i := range calls {
		calls[i].Text = callText(calls[i], in.Fields, false)
	}
	return g.place(in, keys, calls)
}

// columns collects the expressions of a Calc, equal ones once.
type columns struct {
	exprs []expr.Expr
	names []string
	apart int // the first columns, which are not shared
	at    places
	named map[string]bool
}

// places finds expressions of a growing list: a statement may have thousands.
type places struct {
	at map[string]int // by digest
	n  int            // of the list
}

// of gives the place of an expression in the list, of which it has seen the front before; -1 for none.
func (p *places) of(e expr.Expr, list []expr.Expr) int {
	if p.at == nil {
		p.at = map[string]int{}
	}
	for ; p.n < len(list); p.n++ {
		d := expr.Digest(list[p.n])
		if _, ok := p.at[d]; !ok {
			p.at[d] = p.n
		}
	}
	if i, ok := p.at[expr.Digest(e)]; ok {
		return i
	}
	return -1
}

// add gives the column of an expression.
func (c *columns) add(e expr.Expr, name string) int {
	if i := c.at.of(e, c.exprs[c.apart:]); i >= 0 {
		return c.apart + i
	}
	if c.named == nil {
		c.named = map[string]bool{}
		for _, n := range c.names {
			c.named[n] = true
		}
	}
	if name == "" {
		if col, ok := e.(*expr.Col); ok {
			name = col.Name
		} else {
			name = "$f" + itoa(len(c.exprs))
		}
	}
	if c.named[name] {
		name += itoa(len(c.exprs))
	}
	c.named[name] = true
	c.exprs, c.names = append(c.exprs, e), append(c.names, name)
	return len(c.exprs) - 1
}

// callText writes an aggregate as plans do.
func callText(c expr.AggCall, fields []types.Field, retract bool) string {
	var s strings.Builder
	s.WriteString(c.Func.Name)
	if retract {
		s.WriteString("_RETRACT")
	}
	s.WriteByte('(')
	if c.Distinct {
		s.WriteString("DISTINCT ")
	}
	if len(c.Args) == 0 {
		s.WriteByte('*')
	}
	for i, a := range c.Args {
		if i > 0 {
			s.WriteString(", ")
		}
		s.WriteString(fields[a].Name)
	}
	s.WriteByte(')')
	if c.Filter >= 0 {
		s.WriteString(" FILTER " + fields[c.Filter].Name)
	}
	return s.String()
}

// place chooses the kind of aggregation: over the windows of a table function, over legacy windows, or an ordinary one.
func (g *grouping) place(in *Calc, keys []int, calls []expr.AggCall) (Node, func(expr.Expr) expr.Expr, error) {
	if g.legacy != nil {
		return g.legacyAggregate(in, keys, calls)
	}
	// In batch mode a window's columns are keys like others.
	if w := g.window(in, keys); w != nil && !g.b.p.batch {
		return g.windowAggregate(in, keys, calls, w)
	}
	var node Node = in
	extra := 0
	if g.sets != nil {
		node, keys = expand(in, keys, g.sets)
		extra = 1
	}
	a := &GroupAggregate{Keys: keys, Aggs: calls, ttl: g.b.ttl()}
	a.Kind, a.Inputs, a.Pos = "GroupAggregate", []Node{node}, pos(g.b.stmt)
	for _, k := range keys {
		f := fieldsIn(node)[k]
		f.Type = f.Type.Plain()
		a.Fields = append(a.Fields, f)
	}
	for _, c := range calls {
		a.Fields = append(a.Fields, types.Field{Name: c.Name, Type: c.T})
	}
	n := len(g.keys)
	return a, func(e expr.Expr) expr.Expr {
		return renumber(e, a.Fields, func(i int) int {
			switch {
			case i == setColumn:
				return n
			case i >= aggBase:
				return n + extra + i - aggBase
			}
			return i
		})
	}, nil
}

// ttl is the hinted time to live of the one table of FROM.
func (b *selecting) ttl() time.Duration {
	if len(b.sc.tables) != 1 {
		return 0
	}
	return b.env.ttl[b.sc.tables[0].alias]
}

// renumber puts an expression over other columns and takes their names; columns of outer queries and OVER calls stay.
func renumber(e expr.Expr, fields []types.Field, f func(int) int) expr.Expr {
	return expr.Rewrite(e, func(x expr.Expr) expr.Expr {
		c, ok := x.(*expr.Col)
		if !ok || c.Index >= overBase {
			return x
		}
		i := f(c.Index)
		return &expr.Col{Index: i, Name: fields[i].Name, T: c.T}
	})
}

// expand repeats every row once per grouping set, with nulls for the keys that are not in the set, and its number.
func expand(in *Calc, keys []int, sets [][]int) (Node, []int) {
	x := &Expand{}
	x.Kind, x.Inputs, x.Pos = "Expand", []Node{in}, in.Pos
	n := len(in.Fields)
	x.Fields = append(slices.Clone(in.Fields), types.Field{Name: "$e", Type: types.Of(types.BigInt).Required()})
	for i := range x.Fields[:n] {
		if k := slices.Index(keys, i); k >= 0 && !inAllSets(sets, k) {
			x.Fields[i].Type = x.Fields[i].Type.Optional()
		}
	}
	for i, id := range setNumbers(len(keys), sets) {
		row := columnExprs(in.Fields)
		for k, col := range keys {
			if !slices.Contains(sets[i], k) {
				row[col] = expr.NewConst(types.NullDatum(), in.Fields[col].Type)
			}
		}
		x.Rows = append(x.Rows, append(row, expr.NewConst(types.IntDatum(id), types.Of(types.BigInt))))
	}
	return x, append(slices.Clone(keys), n)
}

// inAllSets reports whether key k is never left out.
func inAllSets(sets [][]int, k int) bool {
	return !slices.ContainsFunc(sets, func(set []int) bool { return !slices.Contains(set, k) })
}

// setNumbers gives each grouping set over n keys its number: a bit for each key that is left out, the first key in the
// highest, and above them how many equal sets come before it.
func setNumbers(n int, sets [][]int) []int64 {
	numbers, before := make([]int64, len(sets)), map[int64]int64{}
	for i, set := range sets {
		id := int64(0)
		for k := range n {
			if !slices.Contains(set, k) {
				id |= 1 << (n - 1 - k)
			}
		}
		numbers[i] = before[id]<<n | id
		before[id]++
	}
	return numbers
}

// equalSets reports whether two grouping sets over n keys are equal.
func equalSets(n int, sets [][]int) bool {
	return slices.ContainsFunc(setNumbers(n, sets), func(id int64) bool { return id>>n != 0 })
}
