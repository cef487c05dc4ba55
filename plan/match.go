package plan

import (
	"fmt"
	"slices"
	"strings"

	"runnel/catalog"
	"runnel/expr"
	"runnel/sql"
	"runnel/types"
)

// Match finds the rows of an append-only input that match a pattern, per key, in the order of time. It gives the keys and
// the measures.
type Match struct {
	Info
	Keys      []int
	Order     []SortKey // the first is the time
	Variables []expr.MatchVariable
	Columns   []expr.MatchColumn // what conditions and measures are expressions over
	Measures  []expr.Expr
	Skip      expr.MatchSkip
	SkipTo    []int // the variables that SkipToFirst and SkipToLast mean
	SkipName  string
	Within    int64 // ms, 0 for no bound

	pattern, subsets string // as plans show them
}

// The classes of what Flink finds out only when it writes code or builds the automaton.
const (
	codeError        = "org.apache.flink.table.planner.codegen.CodeGenException"
	malformedPattern = "org.apache.flink.cep.pattern.MalformedPatternException"
)

// matching binds a MATCH_RECOGNIZE clause.
type matching struct {
	p    *planning
	node *Match
	in   []types.Field
	sets map[string][]int // the variables that a name means, "*" for all
	sc   *scope
	own  int  // the variable whose condition is being bound, -1 in MEASURES
	nav  *nav // inside FIRST and LAST
}

// nav is what FIRST or LAST say of the columns in their argument.
type nav struct {
	first  bool
	offset int
	of     string // the variable, once one has been seen
}

// matchRecognize binds MATCH_RECOGNIZE.
func (p *planning) matchRecognize(t *sql.MatchRecognize, env *around) (*refs, error) {
	input, err := p.tableRef(t.Input, env)
	if err != nil {
		return nil, err
	}
	n := &Match{}
	n.Kind, n.Inputs, n.Pos = "Match", []Node{input.node}, pos(t)
	m := &matching{p: p, node: n, in: fieldsIn(input.node), sets: map[string][]int{}, own: -1}
	if err := m.variables(t); err != nil {
		return nil, err
	}
	b := p.binder(m.sc)
	b.hook = m.hook
	for _, bind := range []func(*binder, *sql.MatchRecognize) error{m.keys, m.order, m.define, m.measures, m.mode} {
		if err := bind(b, t); err != nil {
			return nil, err
		}
	}
	return p.aliased(n, t.Alias, nil, t)
}

// variables reads PATTERN and SUBSET.
func (m *matching) variables(t *sql.MatchRecognize) error {
	if t.AnchorStart || t.AnchorEnd {
		return unsupported(t.Pattern, "An anchor, ^ or $, in a pattern is")
	}
	if err := m.pattern(t.Pattern); err != nil {
		return err
	}
	n, last := m.node, m.node.Variables[len(m.node.Variables)-1]
	if !slices.ContainsFunc(n.Variables, func(v expr.MatchVariable) bool { return v.Min > 0 }) {
		return refuse(tableError, t.Pattern, "Patterns that can produce empty matches are not supported. There must be at least one non-optional state.")
	}
	if greedy(last) {
		return refuse(tableError, t.Pattern, "Greedy quantifiers are not allowed as the last element of a Pattern yet. "+
			"Finish your pattern with either a simple variable or reluctant quantifier.")
	}
	n.pattern = patternText(t.Pattern)
	all := make([]int, len(n.Variables))
	for i, v := range n.Variables {
		all[i] = i
		m.sets[v.Name] = all[i : i+1 : i+1]
	}
	m.sets["*"] = all
	for _, s := range t.Subsets {
		if err := m.subset(s); err != nil {
			return err
		}
	}
	m.sc = &scope{fields: m.in}
	for name := range m.sets {
		m.sc.tables = append(m.sc.tables, scopeTable{alias: name, n: len(m.in)})
	}
	for _, d := range t.Defines { // one that the pattern does not use matches no row
		if m.sets[d.Var.Name] == nil {
			m.sc.tables = append(m.sc.tables, scopeTable{alias: d.Var.Name, n: len(m.in)})
		}
	}
	return m.skip(t)
}

func (m *matching) subset(s *sql.PatternSubset) error {
	var set []int
	names := make([]string, len(s.Vars))
	for i := range s.Vars {
		v := &s.Vars[i]
		of := m.sets[v.Name]
		if of == nil {
			return refuse(nameError, v, "Unknown pattern '%s'", v.Name)
		}
		set, names[i] = union(set, of), v.Name
	}
	if m.sets[s.Name.Name] != nil {
		return refuse(nameError, &s.Name, "Pattern variable '%s' has already been defined", s.Name.Name)
	}
	m.sets[s.Name.Name] = set
	if m.node.subsets != "" {
		m.node.subsets += ", "
	}
	m.node.subsets += s.Name.Name + " = (" + strings.Join(names, ", ") + ")"
	return nil
}

func (m *matching) skip(t *sql.MatchRecognize) error {
	switch t.Skip {
	case sql.SkipPastLastRow:
		m.node.Skip = expr.SkipPastLastRow
	case sql.SkipToFirst:
		m.node.Skip = expr.SkipToFirst
	case sql.SkipToLast, sql.SkipToVar:
		m.node.Skip = expr.SkipToLast
	}
	if t.SkipVar == nil {
		return nil
	}
	m.node.SkipName = t.SkipVar.Name
	if m.node.SkipTo = m.sets[t.SkipVar.Name]; m.node.SkipTo == nil {
		return refuse(nameError, t.SkipVar, "Unknown pattern '%s'", t.SkipVar.Name)
	}
	return nil
}

// pattern reads a row pattern into a list of variables, which is all that there can be.
func (m *matching) pattern(x sql.Pattern) error {
	refused := func(more string) error {
		return refuse(tableError, x, "Expression not supported: %s%s", patternText(x), more)
	}
	switch x := x.(type) {
	case *sql.PatternVar:
		if slices.ContainsFunc(m.node.Variables, func(v expr.MatchVariable) bool { return v.Name == x.Name.Name }) {
			return refuse(tableError, x, "Pattern variables must be unique. That might change in the future.")
		}
		m.node.Variables = append(m.node.Variables, expr.MatchVariable{Name: x.Name.Name, Min: 1, Max: 1})
	case *sql.PatternSeq:
		for _, it := range x.Items {
			if err := m.pattern(it); err != nil {
				return err
			}
		}
	case *sql.PatternAlt:
		return refused(". Currently, CEP doesn't support branching patterns.")
	case *sql.PatternPermute:
		return refused(". Currently, CEP doesn't support PERMUTE patterns.")
	case *sql.PatternExclude:
		return refused(". Currently, CEP doesn't support '{-' '-}' patterns.")
	case *sql.PatternRepeat:
		return m.repeat(x)
	}
	return nil
}

func (m *matching) repeat(x *sql.PatternRepeat) error {
	if _, ok := x.Item.(*sql.PatternVar); !ok {
		return refuse(tableError, x, "Expression not supported: %s Group patterns are not supported yet.", patternText(x.Item))
	}
	if err := m.pattern(x.Item); err != nil {
		return err
	}
	last := len(m.node.Variables) - 1
	v := &m.node.Variables[last]
	v.Min, v.Max, v.Reluctant = int(x.Min), int(x.Max), x.Reluctant
	switch {
	case x.Reluctant && v.Min == 0 && v.Max == 1:
		return refuse(tableError, x, "Reluctant optional variables are not supported yet.")
	case v.Max >= 0 && v.Max < max(v.Min, 1):
		e := refuse(tableError, x, "The to should be a number greater than or equal to from: %d.", max(v.Min, 1))
		e.Class = catalog.ArgumentError
		return e
	case last > 0 && v.Min == 0 && (v.Max == 1 || v.Max < 0) && greedy(m.node.Variables[last-1]):
		return refuse(malformedPattern, x, "Optional pattern cannot be preceded by greedy pattern").
			Cure("%s{0,n} may follow, or make the quantifier in front reluctant.", v.Name)
	case max(v.Min, v.Max) > maxRepeat:
		return refuse(tableError, x, "A quantifier of more than %d is not supported.", maxRepeat)
	}
	return nil
}

// greedy tells whether the rows that fit a variable are kept from the one behind it.
func greedy(v expr.MatchVariable) bool { return !v.Reluctant && v.Max != max(v.Min, 1) }

// maxRepeat bounds the numbers of a quantifier: each makes a state of the automaton.
const maxRepeat = 10000

// patternText writes a pattern as Flink's plans do.
func patternText(x sql.Pattern) string {
	list := func(op string, items []sql.Pattern) string {
		texts := make([]string, len(items))
		for i, it := range items {
			texts[i] = patternText(it)
		}
		return op + "(" + strings.Join(texts, ", ") + ")"
	}
	switch x := x.(type) {
	case *sql.PatternVar:
		return "_UTF-16LE'" + x.Name.Name + "'"
	case *sql.PatternSeq:
		text := patternText(x.Items[0])
		for _, it := range x.Items[1:] {
			text = "(" + text + ", " + patternText(it) + ")"
		}
		return text
	case *sql.PatternAlt:
		text := patternText(x.Items[0])
		for _, it := range x.Items[1:] {
			text = "|(" + text + ", " + patternText(it) + ")"
		}
		return text
	case *sql.PatternRepeat:
		return fmt.Sprintf("PATTERN_QUANTIFIER(%s, %d, %d, %t)", patternText(x.Item), x.Min, x.Max, x.Reluctant)
	case *sql.PatternPermute:
		return list("PATTERN_PERMUTE", x.Items)
	case *sql.PatternExclude:
		return "PATTERN_EXCLUDE(" + patternText(x.Item) + ")"
	}
	return ""
}

// keys reads PARTITION BY, and gives the node the key columns.
func (m *matching) keys(_ *binder, t *sql.MatchRecognize) error {
	for _, e := range t.PartitionBy {
		i, err := m.column(e, "PARTITION BY")
		if err != nil {
			return err
		}
		m.node.Keys = append(m.node.Keys, i)
		m.node.Fields = append(m.node.Fields, m.in[i])
	}
	return nil
}

// column binds a column of the input.
func (m *matching) column(e sql.Expr, clause string) (int, error) {
	x, err := m.p.binder(tableScope(m.in)).expr(e)
	if err != nil {
		return 0, err
	}
	c, ok := x.(*expr.Col)
	if !ok {
		return 0, refuse(nameError, e, "%s of MATCH_RECOGNIZE wants columns, this is an expression", clause).
			Cure("Compute it in a sub-query or view below MATCH_RECOGNIZE.")
	}
	return c.Index, nil
}

func (m *matching) order(_ *binder, t *sql.MatchRecognize) error {
	for i, it := range t.OrderBy {
		col, err := m.column(it.Expr, "ORDER BY")
		if err != nil {
			return err
		}
		k := SortKey{Column: col, Desc: it.Desc, NullsLast: it.Desc}
		if it.Nulls != sql.NullsDefault {
			k.NullsLast = it.Nulls == sql.NullsLast
		}
		if i == 0 {
			k.NullsLast = k.Desc // a time is never NULL
		}
		m.node.Order = append(m.node.Order, k)
	}
	return nil
}

// define binds the conditions.
func (m *matching) define(b *binder, t *sql.MatchRecognize) error {
	b.clause = "DEFINE clause"
	defer func() { m.own = -1 }()
	for i, d := range t.Defines {
		if slices.ContainsFunc(t.Defines[:i], func(o *sql.PatternDefine) bool { return o.Var.Name == d.Var.Name }) {
			return refuse(nameError, d, "Pattern variable '%s' has already been defined", d.Var.Name)
		}
		m.own = slices.IndexFunc(m.node.Variables, func(v expr.MatchVariable) bool { return v.Name == d.Var.Name })
		if m.own < 0 {
			m.own = len(m.node.Variables)
		}
		x, err := b.condition(d.Cond)
		if err != nil {
			return err
		}
		if m.own < len(m.node.Variables) {
			m.node.Variables[m.own].Cond = x
		}
	}
	return nil
}

// measures binds MEASURES, and gives the node their columns.
func (m *matching) measures(b *binder, t *sql.MatchRecognize) error {
	b.clause = "MEASURES clause"
	for _, it := range t.Measures {
		x, err := b.expr(it.Expr)
		if err != nil {
			return err
		}
		m.node.Measures = append(m.node.Measures, x)
		m.node.Fields = append(m.node.Fields, types.Field{Name: it.Alias.Name, Type: x.Type()})
	}
	if len(t.Measures) == 0 {
		return refuse(validation, t, "Columns ambiguously defined: {}").Cure("MATCH_RECOGNIZE needs MEASURES: they are what it gives.")
	}
	return nil
}

// mode checks what is said of the output and reads WITHIN.
func (m *matching) mode(_ *binder, t *sql.MatchRecognize) error {
	if t.Rows == sql.AllRows {
		return refuse(tableError, t, "All rows per match mode is not supported yet.").Cure("ONE ROW PER MATCH is the default.")
	}
	if t.Within == nil {
		return nil
	}
	x, err := m.p.binder(&scope{}).expr(t.Within)
	if err != nil {
		return err
	}
	if x.Type().Kind != types.IntervalMillis {
		return refuse(tableError, t.Within, "Only constant intervals with millisecond resolution are supported as time constraints of patterns.")
	}
	m.node.Within, err = m.p.constantMillis(t.Within, "WITHIN")
	return err
}

// checkMatch refuses orders that a stream cannot have, once it is known which columns are time attributes.
func (p *planning) checkMatch(n *Match) error {
	if len(n.Order) == 0 {
		return refuseAt(n, "You must specify either rowtime or proctime for order by.")
	}
	t := fieldsIn(n.Inputs[0])[n.Order[0].Column].Type
	switch {
	case !p.batch && !t.IsTimeAttr():
		return refuseAt(n, "You must specify either rowtime or proctime for order by as the first one.").
			Cure("A time attribute is a column with a WATERMARK, or PROCTIME(), that no expression, join or aggregate has touched.")
	case p.batch && t.Kind != types.Timestamp && t.Kind != types.TimestampLTZ:
		return refuseAt(n, "First column of ORDER BY must be of type TIMESTAMP")
	case n.Order[0].Desc:
		return refuseAt(n, "Primary sort order of a streaming table must be ascending on time.")
	}
	return nil
}

// match writes a Match as plans do.
func (d *describer) match(n *Match, in []types.Field) {
	if len(n.Keys) > 0 {
		d.add("partitionBy", columnNames(in, n.Keys))
	}
	if len(n.Order) > 0 {
		d.add("orderBy", orderText(in, n.Order))
	}
	measures := make([]string, len(n.Measures))
	for i, x := range n.Measures {
		measures[i] = "FINAL(" + prefix(x) + ") AS " + n.Fields[len(n.Keys)+i].Name
	}
	d.add("measures", strings.Join(measures, ", "))
	d.add("rowsPerMatch", "ONE ROW PER MATCH")
	after := [...]string{"SKIP TO NEXT ROW", "SKIP PAST LAST ROW", "SKIP TO FIRST ", "SKIP TO LAST "}[n.Skip]
	if n.SkipName != "" {
		after += "_UTF-16LE'" + n.SkipName + "'"
	}
	d.add("after", after)
	d.add("pattern", n.pattern)
	if n.subsets != "" {
		d.add("subset", n.subsets)
	}
	var define []string
	for _, v := range n.Variables {
		if v.Cond != nil {
			define = append(define, v.Name+"="+prefix(v.Cond))
		}
	}
	d.add("define", "{"+strings.Join(define, ", ")+"}")
}
