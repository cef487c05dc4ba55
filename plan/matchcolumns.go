package plan

import (
	"fmt"
	"slices"
	"strings"

	"runnel/expr"
	"runnel/sql"
	"runnel/types"
)

// hook binds what means something else inside MATCH_RECOGNIZE: columns, FIRST and LAST, aggregates, RUNNING and FINAL.
func (m *matching) hook(e sql.Expr) (expr.Expr, error) {
	switch e := e.(type) {
	case *sql.Name:
		return m.name(e)
	case *sql.PatternMode:
		return m.patternMode(e)
	case *sql.FuncCall:
		return m.call(e)
	}
	return nil, nil
}

// shown writes an expression as Flink's messages do: with the offset of FIRST, LAST, PREV and NEXT.
func (m *matching) shown(e sql.Expr) string {
	if p, ok := e.(*sql.PatternMode); ok {
		return map[bool]string{true: "FINAL ", false: "RUNNING "}[p.Final] + m.shown(p.X)
	}
	c, ok := e.(*sql.FuncCall)
	if !ok {
		return sql.FormatFlink(e)
	}
	call := *c
	switch callName(c) {
	case "FIRST", "LAST", "PREV", "NEXT":
		if len(c.Args) == 1 {
			offset := map[bool]string{true: "1", false: "0"}[callName(c) == "PREV" || callName(c) == "NEXT"]
			call.Args = []sql.Expr{c.Args[0], &sql.Literal{Kind: sql.IntegerLit, Text: offset}}
		}
	}
	return sql.FormatFlink(&call)
}

// name binds a column of a variable's last row, or of the row that FIRST or LAST mean.
func (m *matching) name(e *sql.Name) (expr.Expr, error) {
	x, err := m.sc.resolve(e)
	if err != nil {
		return nil, err
	}
	of := "*"
	if m.sc.tableOf(e) != nil {
		of = e.Parts[0].Name
	}
	if m.nav != nil {
		if m.nav.of != "" && m.nav.of != of {
			m.nav.of = "?"
		} else {
			m.nav.of = of
		}
	}
	return expr.Rewrite(x, func(x expr.Expr) expr.Expr {
		if c, ok := x.(*expr.Col); ok {
			return m.field(c, of)
		}
		return x
	}), nil
}

// field gives the column for a field of a variable's row.
func (m *matching) field(c *expr.Col, of string) expr.Expr {
	k := expr.MatchColumn{Column: c.Index, Of: m.sets[of], Type: c.T}
	name := of + "." + c.Name
	if m.own >= 0 {
		name = fmt.Sprintf("%s.$%d", of, c.Index)
	}
	own := len(k.Of) == 1 && k.Of[0] == m.own
	switch {
	case m.nav != nil:
		k.First, k.Offset = m.nav.first, m.nav.offset
		name = fmt.Sprintf("%s(%s, %d)", navWord(k.First), name, k.Offset)
	case own:
		name = "PREV(" + name + ", 0)"
	case m.own >= 0:
		name = "LAST(" + name + ", 0)"
	}
	if !m.present(k) {
		k.Type = k.Type.Optional()
	}
	return m.add(k, name)
}

func navWord(first bool) string {
	if first {
		return "FIRST"
	}
	return "LAST"
}

// present tells whether the row of a field is there whenever it is asked for.
func (m *matching) present(k expr.MatchColumn) bool {
	if k.Offset > 0 {
		return false
	}
	return slices.ContainsFunc(k.Of, func(i int) bool {
		return i == m.own || m.node.Variables[i].Min > 0 && (m.own < 0 || i < m.own)
	})
}

// add gives the column with these properties.
func (m *matching) add(k expr.MatchColumn, name string) expr.Expr {
	n := m.node
	at := slices.IndexFunc(n.Columns, func(o expr.MatchColumn) bool {
		return k.Kind != expr.MatchAggregate && o.Kind == k.Kind && o.Column == k.Column && o.First == k.First && o.Offset == k.Offset &&
			slices.Equal(o.Of, k.Of) && o.Type.NotNull == k.Type.NotNull
	})
	if at < 0 {
		at = len(n.Columns)
		n.Columns = append(n.Columns, k)
	}
	return &expr.Col{Index: at, Name: name, T: k.Type}
}

func (m *matching) patternMode(e *sql.PatternMode) (expr.Expr, error) {
	b := m.binder()
	switch {
	case m.own >= 0:
		return nil, refuse(nameError, e, "Cannot use RUNNING/FINAL in DEFINE '%s'", m.shown(e))
	case !e.Final:
		return nil, refuse(codeError, e, "Unsupported call: RUNNING").Cure("A measure is about the whole match: leave RUNNING out.")
	}
	return b.expr(e.X)
}

func (m *matching) binder() *binder {
	b := m.p.binder(m.sc)
	b.hook, b.clause = m.hook, "MEASURES clause"
	if m.own >= 0 {
		b.clause = "DEFINE clause"
	}
	return b
}

func (m *matching) call(c *sql.FuncCall) (expr.Expr, error) {
	name := callName(c)
	switch name {
	case "FIRST", "LAST":
		return m.navigate(c, name == "FIRST")
	case "PREV", "NEXT":
		return m.physical(c)
	case "CLASSIFIER":
		return nil, refuse(codeError, c, "Unsupported call: CLASSIFIER()")
	case "MATCH_NUMBER":
		return nil, refuse(nameError, c, "No match found for function signature MATCH_NUMBER ().")
	case "MATCH_ROWTIME", "MATCH_PROCTIME":
		return m.matchTime(c, name)
	}
	if isAggregate(c) {
		return m.aggregate(c, name)
	}
	return nil, nil
}

// navigate binds FIRST and LAST.
func (m *matching) navigate(c *sql.FuncCall, first bool) (expr.Expr, error) {
	if m.nav != nil {
		return nil, refuse(nameError, c, "Cannot nest PREV/NEXT under LAST/FIRST '%s'", m.shown(c))
	}
	if len(c.Args) < 1 || len(c.Args) > 2 {
		return nil, refuse(nameError, c, "Invalid number of arguments to function '%s'. Was expecting 1 or 2 arguments", callName(c))
	}
	m.nav = &nav{first: first}
	defer func() { m.nav = nil }()
	if len(c.Args) == 2 {
		lit, ok := c.Args[1].(*sql.Literal)
		n := -1
		if ok && lit.Kind == sql.IntegerLit {
			n, ok = atoi(lit.Text)
		}
		if !ok || n < 0 {
			return nil, refuse(nameError, c.Args[1], "%s wants a whole number of rows, not below 0", callName(c))
		}
		m.nav.offset = n
	}
	x, err := m.binder().expr(c.Args[0])
	if err == nil && m.nav.of == "?" {
		err = m.several(c)
	}
	return x, err
}

func (m *matching) several(c *sql.FuncCall) error {
	return refuse(nameError, c, "Multiple pattern variables in '%s'", m.shown(c))
}

// physical binds PREV and NEXT, of which there is only the current row.
func (m *matching) physical(c *sql.FuncCall) (expr.Expr, error) {
	if m.own < 0 {
		return nil, refuse(nameError, c, "Cannot use PREV/NEXT in MEASURE '%s'", m.shown(c)).
			Cure("LAST(x, n) reaches back within the rows of a variable.")
	}
	if m.nav != nil {
		return nil, refuse(nameError, c, "Cannot nest PREV/NEXT under LAST/FIRST '%s'", m.shown(c))
	}
	if len(c.Args) == 2 {
		if lit, ok := c.Args[1].(*sql.Literal); ok && lit.Text == "0" {
			return m.binder().expr(c.Args[0])
		}
	}
	return nil, refuse(tableError, c, "Flink does not support physical offsets within partition.").
		Cure("LAST(x, n) reaches back within the rows of a variable, LAST(column, n) without a variable within those of the match.")
}

func (m *matching) matchTime(c *sql.FuncCall, name string) (expr.Expr, error) {
	if name == "MATCH_PROCTIME" {
		x, err := procTime(c)
		if err != nil {
			return nil, err
		}
		return m.add(expr.MatchColumn{Kind: expr.MatchProctime, Type: x.Type()}, "MATCH_PROCTIME()"), nil
	}
	t := types.TimestampOf(3).Required()
	if len(m.node.Order) > 0 {
		if k := m.in[m.node.Order[0].Column].Type; k.Kind == types.TimestampLTZ {
			t = types.TimestampLTZOf(3).Required()
		}
	}
	if !m.p.batch {
		t.Attr = types.Rowtime
	}
	return m.add(expr.MatchColumn{Kind: expr.MatchRowtime, Type: t}, "MATCH_ROWTIME()"), nil
}

// aggregate binds an aggregate over the rows of one variable, or over all.
func (m *matching) aggregate(c *sql.FuncCall, name string) (expr.Expr, error) {
	switch {
	case c.Quantifier != sql.NoQuantifier:
		return nil, refuse(nameError, c, "DISTINCT/ALL not allowed with %s function", m.shown(c))
	case c.Filter != nil || len(c.WithinGroup) > 0 || len(c.OrderBy) > 0:
		return nil, unsupported(c, "FILTER or ORDER BY in an aggregate of MATCH_RECOGNIZE is")
	case m.nav != nil:
		return nil, refuse(nameError, c, "An aggregate inside FIRST or LAST has no meaning")
	}
	k := expr.MatchColumn{Kind: expr.MatchAggregate, Agg: expr.AggCall{Func: expr.LookupAggregate(name), Filter: -1}}
	of := ""
	b := m.p.binder(m.sc)
	b.clause = "an aggregate's argument"
	b.hook = func(e sql.Expr) (expr.Expr, error) {
		n, ok := e.(*sql.Name)
		if !ok {
			return nil, nil
		}
		v := "*"
		if m.sc.tableOf(n) != nil {
			v = n.Parts[0].Name
		}
		if of != "" && of != v {
			return nil, m.several(c)
		}
		of = v
		return m.sc.resolve(n)
	}
	var err error
	if len(c.Args) != 1 || !isStar(c.Args[0]) {
		if k.Args, err = b.exprs(c.Args); err != nil {
			return nil, err
		}
	} else if name != "COUNT" {
		return nil, refuse(nameError, c, "Unknown identifier '*'")
	}
	if of == "" {
		of = "*"
	}
	k.Of = m.sets[of]
	ts := make([]types.Type, len(k.Args))
	texts := make([]string, len(k.Args))
	for i, a := range k.Args {
		ts[i], texts[i] = a.Type(), m.argText(a, of)
	}
	if k.Type, err = k.Agg.Func.Result(ts); err != nil {
		return nil, typeError(err, c)
	}
	if name != "COUNT" {
		k.Type = k.Type.Optional()
	}
	k.Type = k.Type.Plain()
	k.Agg.T = k.Type
	return m.add(k, name+"("+strings.Join(texts, ", ")+")"), nil
}

// argText writes an argument of an aggregate as plans do.
func (m *matching) argText(a expr.Expr, of string) string {
	return prefix(expr.Rewrite(a, func(x expr.Expr) expr.Expr {
		c, ok := x.(*expr.Col)
		if !ok {
			return x
		}
		name := of + "." + c.Name
		if m.own >= 0 {
			name = fmt.Sprintf("%s.$%d", of, c.Index)
		}
		return &expr.Col{Index: c.Index, Name: name, T: c.T}
	}))
}
