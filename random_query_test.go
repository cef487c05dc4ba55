package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// A random query is a tree of relations. Each prints itself as a SELECT whose columns are c0, c1, .., and evaluates itself
// over the rows that the tables have in the end.

// kind is the type of a column.
type kind byte

const (
	number kind = 'i' // BIGINT
	text   kind = 's' // STRING
	truth  kind = 'b' // BOOLEAN
	moment kind = 't' // TIMESTAMP(3), in ms; never part of a condition, since times in conditions choose other operators
)

// relation is a node of a random query.
type relation interface {
	columns() []kind
	sql(p *printer) string
	rows(d *database) []tuple
	inputs() []relation
	// simpler gives the node with less in it, and with other inputs in the places of its own.
	simpler() []relation
	with(inputs []relation) relation
}

// printer numbers the aliases of a query.
type printer struct{ aliases int }

func (p *printer) alias() string { p.aliases++; return fmt.Sprintf("q%d", p.aliases) }

// named prints columns c0, c1, .. of an alias with their names.
func named(alias string, from, n int) string {
	var b []string
	for i := range n {
		b = append(b, fmt.Sprintf("%s.c%d AS c%d", alias, i, from+i))
	}
	return strings.Join(b, ", ")
}

// ---- tables ----

type scan struct{ table *table }

func (s *scan) columns() []kind             { return s.table.kinds }
func (s *scan) inputs() []relation          { return nil }
func (s *scan) simpler() []relation         { return nil }
func (s *scan) with(in []relation) relation { return s }
func (s *scan) rows(d *database) []tuple    { return s.table.final() }
func (s *scan) sql(p *printer) string {
	var b []string
	for i, c := range s.table.names {
		b = append(b, fmt.Sprintf("%s AS c%d", c, i))
	}
	return "SELECT " + strings.Join(b, ", ") + " FROM " + s.table.name
}

// ---- filter and projection ----

type filter struct {
	in   relation
	cond *formula
}

func (f *filter) columns() []kind             { return f.in.columns() }
func (f *filter) inputs() []relation          { return []relation{f.in} }
func (f *filter) with(in []relation) relation { return &filter{in[0], f.cond} }
func (f *filter) simpler() (all []relation) {
	for _, c := range f.cond.simpler() {
		all = append(all, &filter{f.in, c})
	}
	return all
}
func (f *filter) sql(p *printer) string {
	in, a := f.in.sql(p), p.alias()
	return fmt.Sprintf("SELECT %s FROM (%s) AS %s WHERE %s", named(a, 0, len(f.columns())), in, a, f.cond.sql(columnsOf(a)))
}

type project struct {
	in    relation
	exprs []*formula
}

func (f *project) columns() (all []kind) {
	for _, e := range f.exprs {
		all = append(all, e.kind)
	}
	return all
}
func (f *project) inputs() []relation          { return []relation{f.in} }
func (f *project) with(in []relation) relation { return &project{in[0], f.exprs} }
func (f *project) simpler() (all []relation) {
	for i, e := range f.exprs {
		for _, s := range e.simpler() {
			x := append([]*formula(nil), f.exprs...)
			x[i] = s
			all = append(all, &project{f.in, x})
		}
	}
	return all
}
func (f *project) sql(p *printer) string {
	in, a := f.in.sql(p), p.alias()
	var b []string
	for i, e := range f.exprs {
		b = append(b, fmt.Sprintf("%s AS c%d", e.sql(columnsOf(a)), i))
	}
	return fmt.Sprintf("SELECT %s FROM (%s) AS %s", strings.Join(b, ", "), in, a)
}

// ---- aggregates ----

type call struct {
	fn       string // COUNT(*) COUNT SUM MIN MAX AVG
	arg      int
	distinct bool
	where    *formula
	kind     kind
}

func (c call) sql(a string) string {
	text := c.fn
	if c.fn != "COUNT(*)" {
		d := ""
		if c.distinct {
			d = "DISTINCT "
		}
		text = fmt.Sprintf("%s(%s%s.c%d)", c.fn, d, a, c.arg)
	}
	if c.where != nil {
		text += " FILTER (WHERE " + c.where.sql(columnsOf(a)) + ")"
	}
	return text
}

// tvf is the TVF over which an aggregate is made, nil for an ordinary one.
type tvf struct {
	fn                 string // TUMBLE HOP CUMULATE SESSION, the last by the first column
	step, size, offset int64  // seconds; the size of a session is its gap
	zone               int64  // of the session's clock, for a table with times of the earth: seconds east
}

// interval prints seconds in their largest unit.
func interval(s int64) string {
	switch {
	case s != 0 && s%3600 == 0:
		return fmt.Sprintf("INTERVAL '%d' HOUR", s/3600)
	case s != 0 && s%60 == 0:
		return fmt.Sprintf("INTERVAL '%d' MINUTE(3)", s/60)
	}
	return fmt.Sprintf("INTERVAL '%d' SECOND", s)
}

// sql prints the call.
func (w *tvf) sql(table string) string {
	by, args := "", []string{interval(w.size)}
	switch w.fn {
	case "HOP", "CUMULATE":
		args = append([]string{interval(w.step)}, args...)
	case "SESSION":
		by = " PARTITION BY k"
	}
	if w.offset != 0 {
		args = append(args, interval(w.offset))
	}
	return fmt.Sprintf("TABLE(%s(TABLE %s%s, DESCRIPTOR(ts), %s))", w.fn, table, by, strings.Join(args, ", "))
}

type aggregate struct {
	in     relation
	keys   []int
	sets   [][]int // GROUPING SETS, each of indices of keys; nil for none. The GROUPING_ID of the keys is a column then
	calls  []call
	having *formula // over the output
	win    *tvf     // in is a scan then
}

func (g *aggregate) columns() (all []kind) {
	in := g.in.columns()
	for _, k := range g.keys {
		all = append(all, in[k])
	}
	if g.win != nil {
		all = append(all, moment, moment)
	}
	if g.sets != nil {
		all = append(all, number)
	}
	for _, c := range g.calls {
		all = append(all, c.kind)
	}
	return all
}
func (g *aggregate) inputs() []relation {
	if g.win != nil {
		return nil
	}
	return []relation{g.in}
}
func (g *aggregate) with(in []relation) relation {
	n := *g
	if len(in) > 0 {
		n.in = in[0]
	}
	return &n
}
func (g *aggregate) simpler() (all []relation) {
	if g.having != nil {
		n := *g
		n.having = nil
		all = append(all, &n)
	}
	for i, c := range g.calls {
		if c.where != nil || c.distinct {
			n := *g
			n.calls = append([]call(nil), g.calls...)
			n.calls[i].where, n.calls[i].distinct = nil, false
			all = append(all, &n)
		}
	}
	if len(g.sets) > 1 { // the last one has all keys
		for i := range g.sets[1:] {
			n := *g
			n.sets = append(append([][]int(nil), g.sets[:i]...), g.sets[i+1:]...)
			all = append(all, &n)
		}
	}
	if g.having == nil && len(g.calls) > 1 {
		for i := range g.calls {
			n := *g
			n.calls = append(append([]call(nil), g.calls[:i]...), g.calls[i+1:]...)
			all = append(all, &n)
		}
	}
	return all
}
func (g *aggregate) sql(p *printer) string {
	var from, a string
	if g.win != nil {
		t := g.in.(*scan).table
		a = p.alias()
		var b []string
		for i, c := range t.names {
			b = append(b, fmt.Sprintf("%s AS c%d", c, i))
		}
		from = fmt.Sprintf("(SELECT %s, window_start, window_end FROM %s) AS %s", strings.Join(b, ", "), g.win.sql(t.name), a)
	} else {
		in := g.in.sql(p)
		a = p.alias()
		from = fmt.Sprintf("(%s) AS %s", in, a)
	}
	var out, keys []string
	add := func(s string) { out = append(out, fmt.Sprintf("%s AS c%d", s, len(out))) }
	for _, k := range g.keys {
		keys = append(keys, fmt.Sprintf("%s.c%d", a, k))
		add(keys[len(keys)-1])
	}
	if g.win != nil {
		for _, k := range []string{"window_start", "window_end"} {
			keys = append(keys, a+"."+k)
			add(a + "." + k)
		}
	}
	if g.sets != nil {
		add("GROUPING_ID(" + strings.Join(keys[:len(g.keys)], ", ") + ")")
		var sets []string
		for _, set := range g.sets {
			var of []string
			for _, k := range set {
				of = append(of, keys[k])
			}
			sets = append(sets, "("+strings.Join(append(of, keys[len(g.keys):]...), ", ")+")")
		}
		keys = []string{"GROUPING SETS (" + strings.Join(sets, ", ") + ")"}
	}
	for _, c := range g.calls {
		add(c.sql(a))
	}
	text := fmt.Sprintf("SELECT %s FROM %s", strings.Join(out, ", "), from)
	if len(keys) > 0 {
		text += " GROUP BY " + strings.Join(keys, ", ")
	}
	if g.having == nil {
		return text
	}
	return text + " HAVING " + g.having.sql(func(c int) string { s, _, _ := strings.Cut(out[c], " AS c"); return s })
}

type distinct struct{ in relation }

func (d *distinct) columns() []kind             { return d.in.columns() }
func (d *distinct) inputs() []relation          { return []relation{d.in} }
func (d *distinct) with(in []relation) relation { return &distinct{in[0]} }
func (d *distinct) simpler() []relation         { return nil }
func (d *distinct) sql(p *printer) string {
	in, a := d.in.sql(p), p.alias()
	return fmt.Sprintf("SELECT DISTINCT %s FROM (%s) AS %s", named(a, 0, len(d.columns())), in, a)
}

// ---- joins ----

type join struct {
	how  string // JOIN, LEFT JOIN, RIGHT JOIN, FULL JOIN
	l, r relation
	on   [][2]int // equal columns
	safe bool     // IS NOT DISTINCT FROM
	cond *formula // over the columns of both, may be nil
	// near bounds the time of both tables (of c2), in seconds, in an interval join; nil otherwise.
	near *[2]int64
}

func (j *join) columns() []kind {
	return append(append([]kind(nil), j.l.columns()...), j.r.columns()...)
}
func (j *join) inputs() []relation {
	if j.near != nil {
		return nil
	}
	return []relation{j.l, j.r}
}
func (j *join) with(in []relation) relation {
	n := *j
	if len(in) > 0 {
		n.l, n.r = in[0], in[1]
	}
	return &n
}
func (j *join) simpler() (all []relation) {
	if j.cond != nil {
		n := *j
		n.cond = nil
		if len(j.on) > 0 || j.near != nil {
			all = append(all, &n)
		}
		for _, c := range j.cond.simpler() {
			n := *j
			n.cond = c
			all = append(all, &n)
		}
	}
	if j.how != "JOIN" {
		n := *j
		n.how = "JOIN"
		all = append(all, &n)
	}
	if len(j.on) > 1 {
		n := *j
		n.on = j.on[1:]
		all = append(all, &n)
	}
	return all
}
func (j *join) sql(p *printer) string {
	l, r := j.l.sql(p), j.r.sql(p)
	a, b := p.alias(), p.alias()
	nl := len(j.l.columns())
	var on []string
	for _, e := range j.on {
		op := "="
		if j.safe {
			op = "IS NOT DISTINCT FROM"
		}
		on = append(on, fmt.Sprintf("%s.c%d %s %s.c%d", a, e[0], op, b, e[1]))
	}
	if j.near != nil {
		on = append(on, fmt.Sprintf("%s.c2 BETWEEN %s.c2 + INTERVAL '%d' SECOND AND %s.c2 + INTERVAL '%d' SECOND", b, a, j.near[0], a, j.near[1]))
	}
	if j.cond != nil {
		on = append(on, j.cond.sql(func(c int) string {
			if c < nl {
				return fmt.Sprintf("%s.c%d", a, c)
			}
			return fmt.Sprintf("%s.c%d", b, c-nl)
		}))
	}
	return fmt.Sprintf("SELECT %s, %s FROM (%s) AS %s %s (%s) AS %s ON %s", named(a, 0, nl), named(b, nl, len(j.r.columns())), l, a, j.how, r, b, strings.Join(on, " AND "))
}

// semi is EXISTS or IN, and their opposites.
type semi struct {
	l, r relation
	in   bool // a.on[0] IN (SELECT b.on[1])
	not  bool
	on   [2]int
	cond *formula // over the columns of both, of EXISTS; may be nil
}

func (j *semi) columns() []kind    { return j.l.columns() }
func (j *semi) inputs() []relation { return []relation{j.l, j.r} }
func (j *semi) with(in []relation) relation {
	n := *j
	n.l, n.r = in[0], in[1]
	return &n
}
func (j *semi) simpler() (all []relation) {
	if j.cond != nil {
		n := *j
		n.cond = nil
		all = append(all, &n)
	}
	return all
}
func (j *semi) sql(p *printer) string {
	l, r := j.l.sql(p), j.r.sql(p)
	a, b := p.alias(), p.alias()
	nl, not := len(j.l.columns()), ""
	if j.not {
		not = "NOT "
	}
	head := fmt.Sprintf("SELECT %s FROM (%s) AS %s WHERE ", named(a, 0, nl), l, a)
	if j.in {
		return head + fmt.Sprintf("%s.c%d %sIN (SELECT %s.c%d FROM (%s) AS %s)", a, j.on[0], not, b, j.on[1], r, b)
	}
	cond := fmt.Sprintf("%s.c%d = %s.c%d", a, j.on[0], b, j.on[1])
	if j.cond != nil {
		cond += " AND " + j.cond.sql(func(c int) string {
			if c < nl {
				return fmt.Sprintf("%s.c%d", a, c)
			}
			return fmt.Sprintf("%s.c%d", b, c-nl)
		})
	}
	return head + fmt.Sprintf("%sEXISTS (SELECT 1 FROM (%s) AS %s WHERE %s)", not, r, b, cond)
}

// scalar compares a column with an aggregate of another relation.
type scalar struct {
	l, r relation
	col  int
	op   string
	of   call
}

func (s *scalar) columns() []kind             { return s.l.columns() }
func (s *scalar) inputs() []relation          { return []relation{s.l, s.r} }
func (s *scalar) with(in []relation) relation { n := *s; n.l, n.r = in[0], in[1]; return &n }
func (s *scalar) simpler() []relation         { return nil }
func (s *scalar) sql(p *printer) string {
	l, r := s.l.sql(p), s.r.sql(p)
	a, b := p.alias(), p.alias()
	return fmt.Sprintf("SELECT %s FROM (%s) AS %s WHERE %s.c%d %s (SELECT %s FROM (%s) AS %s)", named(a, 0, len(s.columns())), l, a, a, s.col, s.op, s.of.sql(b), r, b)
}

// ---- set operations, top-N, OVER ----

type setop struct {
	op   string // UNION, UNION ALL, INTERSECT, ..
	l, r relation
}

func (s *setop) columns() []kind             { return s.l.columns() }
func (s *setop) inputs() []relation          { return []relation{s.l, s.r} }
func (s *setop) with(in []relation) relation { return &setop{s.op, in[0], in[1]} }
func (s *setop) simpler() []relation {
	if s.op != "UNION ALL" {
		return []relation{&setop{"UNION ALL", s.l, s.r}}
	}
	return nil
}
func (s *setop) sql(p *printer) string {
	l, r := s.l.sql(p), s.r.sql(p)
	a := p.alias()
	return fmt.Sprintf("SELECT %s FROM ((%s) %s (%s)) AS %s", named(a, 0, len(s.columns())), l, s.op, r, a)
}

// topn orders by every column that is no key, so that only equal rows are interchangeable.
type topn struct {
	in       relation
	keys     []int
	order    []int
	down     []bool
	from, to int
	ranked   bool
}

func (t *topn) columns() []kind {
	if t.ranked {
		return append(append([]kind(nil), t.in.columns()...), number)
	}
	return t.in.columns()
}
func (t *topn) inputs() []relation          { return []relation{t.in} }
func (t *topn) with(in []relation) relation { n := *t; n.in = in[0]; return &n }
func (t *topn) simpler() []relation         { return nil }
func (t *topn) sql(p *printer) string {
	in, a, b := t.in.sql(p), p.alias(), p.alias()
	var keys, order []string
	for _, k := range t.keys {
		keys = append(keys, fmt.Sprintf("%s.c%d", a, k))
	}
	for i, k := range t.order {
		s := fmt.Sprintf("%s.c%d", a, k)
		if t.down[i] {
			s += " DESC"
		}
		order = append(order, s)
	}
	over := "ORDER BY " + strings.Join(order, ", ")
	if len(keys) > 0 {
		over = "PARTITION BY " + strings.Join(keys, ", ") + " " + over
	}
	n := len(t.in.columns())
	out, cond := named(b, 0, n), fmt.Sprintf("%s.rn <= %d", b, t.to)
	if t.ranked {
		out += fmt.Sprintf(", %s.rn AS c%d", b, n)
	}
	if t.from > 1 {
		cond += fmt.Sprintf(" AND %s.rn >= %d", b, t.from)
	}
	return fmt.Sprintf("SELECT %s FROM (SELECT %s, ROW_NUMBER() OVER (%s) AS rn FROM (%s) AS %s) AS %s WHERE %s", out, named(a, 0, n), over, in, a, b, cond)
}

// over is an aggregate over the rows of the same key before each row in time, of equal times included.
type over struct {
	in     *scan
	keyed  bool  // by c0
	before int64 // seconds, negative: all
	of     call
}

func (o *over) columns() []kind             { return append(append([]kind(nil), o.in.columns()...), o.of.kind) }
func (o *over) inputs() []relation          { return nil }
func (o *over) with(in []relation) relation { return o }
func (o *over) simpler() []relation         { return nil }
func (o *over) sql(p *printer) string {
	in, a := o.in.sql(p), p.alias()
	frame := "UNBOUNDED"
	if o.before >= 0 {
		frame = fmt.Sprintf("INTERVAL '%d' SECOND", o.before)
	}
	by := ""
	if o.keyed {
		by = "PARTITION BY " + a + ".c0 "
	}
	n := len(o.in.columns())
	return fmt.Sprintf("SELECT %s, %s OVER (%sORDER BY %s.c2 RANGE BETWEEN %s PRECEDING AND CURRENT ROW) AS c%d FROM (%s) AS %s", named(a, 0, n), o.of.sql(a), by, a, frame, n, in, a)
}

// ---- formulas ----

// formula is a scalar expression. Everything is BIGINT, STRING or BOOLEAN.
type formula struct {
	op   string
	kind kind
	args []*formula
	col  int
	val  any
}

func columnsOf(alias string) func(int) string {
	return func(c int) string { return fmt.Sprintf("%s.c%d", alias, c) }
}

func (f *formula) sql(name func(int) string) string {
	a := make([]string, len(f.args))
	for i, x := range f.args {
		a[i] = x.sql(name)
	}
	switch f.op {
	case "col":
		return name(f.col)
	case "val":
		switch v := f.val.(type) {
		case nil:
			return "CAST(NULL AS " + map[kind]string{number: "BIGINT", text: "STRING"}[f.kind] + ")"
		case int64:
			return fmt.Sprintf("CAST(%d AS BIGINT)", v)
		default:
			return fmt.Sprintf("CAST('%s' AS STRING)", v)
		}
	case "NOT", "-":
		if len(a) == 1 {
			return "(" + f.op + " " + a[0] + ")"
		}
	case "IS NULL", "IS NOT NULL", "IS TRUE":
		return "(" + a[0] + " " + f.op + ")"
	case "CASE":
		return "(CASE WHEN " + a[0] + " THEN " + a[1] + " ELSE " + a[2] + " END)"
	case "COALESCE", "UPPER", "ABS":
		return f.op + "(" + strings.Join(a, ", ") + ")"
	case "CHAR_LENGTH", "MOD":
		return "CAST(" + f.op + "(" + strings.Join(a, ", ") + ") AS BIGINT)"
	case "IN":
		return "(" + a[0] + " IN (" + strings.Join(a[1:], ", ") + "))"
	}
	return "(" + a[0] + " " + f.op + " " + a[1] + ")"
}

// simpler gives its parts of the same kind.
func (f *formula) simpler() (all []*formula) {
	for _, a := range f.args {
		if a.kind == f.kind {
			all = append(all, a)
		}
	}
	return all
}

// formulas makes random formulas over columns.
type formulas struct {
	r     *rand.Rand
	kinds []kind
}

func (g formulas) column(k kind) *formula {
	var of []int
	for i, x := range g.kinds {
		if x == k {
			of = append(of, i)
		}
	}
	if len(of) == 0 {
		return nil
	}
	return &formula{op: "col", kind: k, col: of[g.r.IntN(len(of))]}
}

func (g formulas) leaf(k kind) *formula {
	if c := g.column(k); c != nil && (k == truth || g.r.IntN(4) > 0) {
		return c
	}
	switch {
	case k == truth:
		return &formula{op: "IS NULL", kind: truth, args: []*formula{g.leaf(number)}}
	case g.r.IntN(12) == 0:
		return &formula{op: "val", kind: k}
	case k == number:
		return &formula{op: "val", kind: k, val: int64(g.r.IntN(6)) - 1}
	}
	return &formula{op: "val", kind: k, val: letters[g.r.IntN(len(letters))]}
}

func (g formulas) pick(ops ...string) string { return ops[g.r.IntN(len(ops))] }

func (g formulas) of(k kind, depth int) *formula {
	if depth == 0 {
		return g.leaf(k)
	}
	sub := func(k kind) *formula { return g.of(k, g.r.IntN(depth)) }
	f := &formula{kind: k}
	switch k {
	case number:
		switch f.op = g.pick("col", "+", "-", "*", "CASE", "COALESCE", "CHAR_LENGTH", "MOD", "ABS"); f.op {
		case "col":
			return g.leaf(k)
		case "CASE":
			f.args = []*formula{sub(truth), sub(k), sub(k)}
		case "CHAR_LENGTH":
			f.args = []*formula{sub(text)}
		case "ABS":
			f.args = []*formula{sub(k)}
		case "MOD":
			f.args = []*formula{sub(k), {op: "val", kind: k, val: int64(2 + g.r.IntN(2))}}
		default:
			f.args = []*formula{sub(k), sub(k)}
		}
	case text:
		switch f.op = g.pick("col", "||", "CASE", "COALESCE", "UPPER"); f.op {
		case "col":
			return g.leaf(k)
		case "CASE":
			f.args = []*formula{sub(truth), sub(k), sub(k)}
		case "UPPER":
			f.args = []*formula{sub(k)}
		default:
			f.args = []*formula{sub(k), sub(k)}
		}
	default:
		side := []kind{number, text}[g.r.IntN(2)]
		switch f.op = g.pick("=", "<>", "<", "<=", ">", ">=", "IS NULL", "IS NOT NULL", "AND", "OR", "NOT", "IN", "IS DISTINCT FROM", "IS TRUE"); f.op {
		case "AND", "OR":
			f.args = []*formula{sub(k), sub(k)}
		case "NOT", "IS TRUE":
			f.args = []*formula{sub(k)}
		case "IS NULL", "IS NOT NULL":
			f.args = []*formula{sub(side)}
		case "IN":
			f.args = []*formula{sub(side), sub(side), sub(side)}
		default:
			f.args = []*formula{sub(side), sub(side)}
		}
	}
	return f
}
