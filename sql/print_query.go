package sql

import "strconv"

// paren prints a query in parentheses.
func (p *printer) paren(q *Query) {
	p.str("(")
	p.query(q)
	p.str(")")
}

// clause begins a clause of a query.
func (p *printer) clause(words string) { p.str(p.sep, words, " ") }

func (p *printer) query(q *Query) {
	if len(q.With) > 0 {
		p.str("WITH ")
		commas(p, q.With, p.cte)
		p.str(" ")
	}
	p.flag(p.flink && len(q.With) > 0, "(")
	p.body(q.Body)
	p.flag(p.flink && len(q.With) > 0, ")")
	if len(q.OrderBy) > 0 {
		p.clause("ORDER BY")
		commas(p, q.OrderBy, p.orderItem)
	}
	if q.Limit != nil && !p.flink {
		p.clause("LIMIT")
		p.expr(q.Limit)
	}
	if q.Offset != nil {
		p.clause("OFFSET")
		p.expr(q.Offset)
		p.str(" ROWS")
	}
	if q.Limit != nil && p.flink {
		p.clause("FETCH NEXT")
		p.expr(q.Limit)
		p.str(" ROWS ONLY")
	}
}

func (p *printer) cte(c *CTE) {
	p.ident(c.Name)
	if len(c.Columns) > 0 {
		p.str(" ")
		p.idents(c.Columns)
	}
	p.str(" AS ")
	p.paren(c.Query)
}

// body prints a body; a query with clauses of its own is in parentheses.
func (p *printer) body(b QueryBody) {
	switch b := b.(type) {
	case *Query:
		p.paren(b)
	case *Select:
		p.selectBody(b)
	case *SetOp:
		p.setOp(b)
	case *Values:
		p.str("VALUES ")
		for i, r := range b.Rows {
			if i > 0 {
				p.str(",", p.sep)
			}
			p.valuesRow(r)
		}
	case *TableQuery:
		p.str("TABLE ")
		p.name(b.Name)
	}
}

func (p *printer) valuesRow(x Expr) {
	c, ok := x.(*Constructor)
	switch {
	case ok && (c.Kind == RowImplicit || c.Kind == RowExplicit):
		p.expr(x)
	case p.flink:
		p.str("ROW(")
		p.expr(x)
		p.str(")")
	default:
		p.str("(")
		p.expr(x)
		p.str(")")
	}
}

var setOpNames = [...]string{Union: "UNION", Intersect: "INTERSECT", Except: "EXCEPT"}

// String returns the operator as it is written.
func (k SetOpKind) String() string { return setOpNames[k] }

func (s *SetOp) precedence() int {
	if s.Kind == Intersect {
		return 2
	}
	return 1
}

func (p *printer) setOp(s *SetOp) {
	chain := []*SetOp{s}
	for { // chains may be long
		l, ok := chain[len(chain)-1].L.(*SetOp)
		if !ok || l.precedence() != s.precedence() {
			break
		}
		chain = append(chain, l)
	}
	p.operand(chain[len(chain)-1].L, s.precedence())
	for i := len(chain) - 1; i >= 0; i-- {
		p.str(p.sep, chain[i].Kind.String())
		if chain[i].All {
			p.str(" ALL")
		}
		p.str(p.sep)
		p.operand(chain[i].R, s.precedence()+1)
	}
}

// operand prints an operand of a set operator, in parentheses when it binds less tightly than min.
func (p *printer) operand(b QueryBody, min int) {
	if s, ok := b.(*SetOp); ok && s.precedence() < min {
		p.str("(")
		p.setOp(s)
		p.str(")")
		return
	}
	p.body(b)
}

func (p *printer) selectBody(s *Select) {
	p.str("SELECT")
	if len(s.Hints) > 0 {
		p.hints(s.Hints)
		p.str(p.sep)
	} else {
		p.str(" ")
	}
	if s.Stream {
		p.str("STREAM ")
	}
	p.quantifier(s.Quantifier)
	commas(p, s.Items, p.selectItem)
	if s.From != nil {
		p.clause("FROM")
		p.tableRef(s.From)
	}
	if s.Where != nil {
		p.clause("WHERE")
		p.expr(s.Where)
	}
	if s.GroupBy != nil {
		p.str(p.sep)
		p.groupBy(s.GroupBy)
	}
	if s.Having != nil {
		p.clause("HAVING")
		p.expr(s.Having)
	}
	if len(s.Windows) > 0 {
		p.clause("WINDOW")
		commas(p, s.Windows, p.namedWindow)
	}
	if s.Qualify != nil {
		p.clause("QUALIFY")
		p.expr(s.Qualify)
	}
}

func (p *printer) quantifier(q Quantifier) {
	switch q {
	case Distinct:
		p.str("DISTINCT ")
	case All:
		p.str("ALL ")
	}
}

func (p *printer) selectItem(it *SelectItem) {
	p.expr(it.Expr)
	if it.Alias != nil {
		p.str(" AS ")
		p.ident(*it.Alias)
	}
}

func (p *printer) groupBy(g *GroupBy) {
	p.str("GROUP BY ")
	p.quantifier(g.Quantifier)
	commas(p, g.Items, p.expr)
}

func (p *printer) orderItem(o *OrderItem) {
	p.expr(o.Expr)
	if o.Desc {
		p.str(" DESC")
	}
	switch o.Nulls {
	case NullsFirst:
		p.str(" NULLS FIRST")
	case NullsLast:
		p.str(" NULLS LAST")
	}
}

func (p *printer) namedWindow(w *NamedWindow) {
	p.ident(w.Name)
	p.str(" AS ")
	p.windowSpec(w.Spec)
}

func (p *printer) windowSpec(w *WindowSpec) {
	if w.Bare {
		p.ident(*w.Ref)
		return
	}
	p.str("(")
	sep := ""
	begin := func(words string) {
		p.str(sep, words)
		sep = " "
	}
	if w.Ref != nil {
		begin("")
		p.ident(*w.Ref)
	}
	if w.PartitionBy != nil {
		begin("PARTITION BY ")
		commas(p, w.PartitionBy, p.expr)
	}
	if w.OrderBy != nil {
		begin("ORDER BY ")
		commas(p, w.OrderBy, p.orderItem)
	}
	if w.Frame != nil {
		begin("")
		p.frame(w.Frame)
	}
	p.str(")")
}

func (p *printer) frame(f *Frame) {
	if f.Range {
		p.str("RANGE ")
	} else {
		p.str("ROWS ")
	}
	if f.Upper == nil {
		p.bound(f.Lower)
		return
	}
	p.str("BETWEEN ")
	p.bound(f.Lower)
	p.str(" AND ")
	p.bound(f.Upper)
}

func (p *printer) bound(b *FrameBound) {
	switch b.Kind {
	case CurrentRow:
		p.str("CURRENT ROW")
	case UnboundedPreceding:
		p.str("UNBOUNDED PRECEDING")
	case UnboundedFollowing:
		p.str("UNBOUNDED FOLLOWING")
	case Preceding, Following:
		p.above(b.Expr, precBetween)
		if b.Kind == Preceding {
			p.str(" PRECEDING")
		} else {
			p.str(" FOLLOWING")
		}
	}
}

// hints prints a block of hints behind a table.
func (p *printer) hints(hs []*Hint) {
	if len(hs) == 0 {
		return
	}
	p.str(p.sep, "/*+ ")
	commas(p, hs, p.hint)
	p.str(" */")
}

func (p *printer) hint(h *Hint) {
	if name := h.Name.Name; isPlainIdent(name) && !IsReserved(name) && !p.flink {
		p.str(name)
	} else {
		p.str(Quote(name))
	}
	if len(h.Args) > 0 {
		p.str("(")
		commas(p, h.Args, p.hintArg)
		p.str(")")
	}
}

func (p *printer) hintArg(a *HintArg) {
	if a.Key != nil {
		p.expr(a.Key)
		p.str(" = ")
	}
	p.expr(a.Value)
}

// tableRef prints one table of a FROM clause, or a join of several.
func (p *printer) tableRef(r TableRef) {
	switch r := r.(type) {
	case *TableName:
		p.name(r.Name)
		p.hints(r.Hints)
		if r.AsOf != nil {
			p.str(" FOR SYSTEM_TIME AS OF ")
			p.expr(r.AsOf)
		}
		p.tableTail(r.Alias, r.Sample)
	case *DerivedTable:
		p.flag(r.Lateral, "LATERAL")
		p.flag(r.Lateral && !p.flink, " ")
		p.paren(r.Query)
		p.tableTail(r.Alias, r.Sample)
	case *Unnest:
		p.flag(r.Lateral, "LATERAL ")
		p.str("UNNEST")
		p.exprs(r.Exprs)
		if r.Ordinality {
			p.str(" WITH ORDINALITY")
		}
		p.tableTail(r.Alias, r.Sample)
	case *TableFunc:
		p.flag(r.Lateral, "LATERAL ")
		if r.Wrapped {
			p.str("TABLE(")
			p.call(r.Call)
			p.str(")")
		} else {
			p.call(r.Call)
		}
		p.tableTail(r.Alias, r.Sample)
	case *Join:
		p.join(r)
	case *MatchRecognize:
		p.match(r)
	case *Pivot:
		p.pivot(r)
	case *Unpivot:
		p.unpivot(r)
	}
}

// tableTail prints what follows a table.
func (p *printer) tableTail(a *TableAlias, s *Sample) {
	if a != nil {
		p.str(" AS ")
		p.alias(a)
	}
	if s != nil {
		p.str(" ")
		p.sample(s)
	}
}

func (p *printer) alias(a *TableAlias) {
	p.ident(a.Name)
	if len(a.Columns) > 0 {
		p.str(" ")
		p.idents(a.Columns)
	}
}

func (p *printer) sample(s *Sample) {
	p.str("TABLESAMPLE ", s.Method, "(")
	p.expr(s.Arg)
	p.str(")")
	if s.Repeatable != nil {
		p.str(" REPEATABLE (")
		p.expr(s.Repeatable)
		p.str(")")
	}
}

var joinNames = [...]string{InnerJoin: "INNER JOIN", LeftJoin: "LEFT JOIN", RightJoin: "RIGHT JOIN", FullJoin: "FULL JOIN", CrossJoin: "CROSS JOIN", CommaJoin: ","}

// String returns the words of the join.
func (k JoinKind) String() string { return joinNames[k] }

// join prints a join; its left side in a loop, since chains may be long.
func (p *printer) join(j *Join) {
	chain := []*Join{j}
	for {
		last := chain[len(chain)-1]
		l, ok := last.L.(*Join)
		if !ok || l.Kind == CommaJoin && last.Kind != CommaJoin {
			break
		}
		chain = append(chain, l)
	}
	p.side(chain[len(chain)-1].L, false)
	for i := len(chain) - 1; i >= 0; i-- {
		j := chain[i]
		if j.Kind == CommaJoin {
			p.str(",", p.sep)
			p.side(j.R, true)
			continue
		}
		p.str(p.sep)
		if j.Natural {
			p.str("NATURAL ")
		}
		p.str(j.Kind.String(), " ")
		p.side(j.R, false)
		if j.On != nil {
			p.str(" ON ")
			p.expr(j.On)
		}
		if j.Using != nil {
			p.str(" USING ")
			p.idents(j.Using)
		}
	}
}

// side prints a side of a join, in parentheses when it is a join itself; behind a comma a join other than by comma needs none.
func (p *printer) side(r TableRef, behindComma bool) {
	if j, ok := r.(*Join); ok && (!behindComma || j.Kind == CommaJoin) {
		sep := p.sep
		p.sep = " "
		p.str("(")
		p.join(j)
		p.str(")")
		p.sep = sep
		return
	}
	p.tableRef(r)
}

func (p *printer) match(m *MatchRecognize) {
	p.side(m.Input, false)
	p.str(" MATCH_RECOGNIZE")
	p.flag(!p.flink, " ")
	p.str("(")
	p.flag(p.flink, "\n")
	if m.PartitionBy != nil {
		p.str("PARTITION BY ")
		commas(p, m.PartitionBy, p.expr)
		p.str(p.sep)
	}
	if m.OrderBy != nil {
		p.str("ORDER BY ")
		commas(p, m.OrderBy, p.orderItem)
		p.str(p.sep)
	}
	if m.Measures != nil {
		p.str("MEASURES ")
		commas(p, m.Measures, p.selectItem)
		p.str(p.sep)
	}
	switch m.Rows {
	case OneRow:
		p.str("ONE ROW PER MATCH", p.sep)
	case AllRows:
		p.str("ALL ROWS PER MATCH", p.sep)
	}
	p.skip(m)
	p.str("PATTERN (")
	p.flag(m.AnchorStart, "^ ")
	p.pattern(m.Pattern)
	p.flag(m.AnchorEnd, " $")
	p.str(")")
	if m.Within != nil {
		p.str(" WITHIN ")
		p.expr(m.Within)
	}
	if m.Subsets != nil {
		p.clause("SUBSET")
		commas(p, m.Subsets, func(s *PatternSubset) { p.part(s) })
	}
	p.clause("DEFINE")
	commas(p, m.Defines, func(d *PatternDefine) { p.part(d) })
	p.str(")")
	p.tableTail(m.Alias, m.Sample)
}

var skipNames = [...]string{
	SkipPastLastRow: "PAST LAST ROW", SkipToNextRow: "TO NEXT ROW", SkipToFirst: "TO FIRST ", SkipToLast: "TO LAST ", SkipToVar: "TO ",
}

// skip prints AFTER MATCH SKIP.
func (p *printer) skip(m *MatchRecognize) {
	if m.Skip == SkipUnspecified {
		return
	}
	p.str("AFTER MATCH SKIP ", skipNames[m.Skip])
	p.flag(p.flink && m.Skip == SkipToVar, "LAST ")
	if m.SkipVar != nil {
		p.ident(*m.SkipVar)
	}
	p.str(p.sep)
}

// pattern prints a row pattern.
func (p *printer) pattern(x Pattern) {
	switch x := x.(type) {
	case *PatternVar:
		p.ident(x.Name)
	case *PatternSeq:
		for i, it := range x.Items {
			if i > 0 {
				p.str(" ")
			}
			p.factor(it)
		}
	case *PatternAlt:
		for i, it := range x.Items {
			if i > 0 {
				p.str(" | ")
			}
			if _, ok := it.(*PatternAlt); ok {
				p.factor(it)
			} else {
				p.pattern(it)
			}
		}
	case *PatternRepeat:
		if _, ok := x.Item.(*PatternRepeat); ok {
			p.str("(")
			p.pattern(x.Item)
			p.str(")")
		} else {
			p.factor(x.Item)
		}
		p.flag(p.flink, " ")
		p.str(patternQuantifier(x))
	case *PatternExclude:
		p.str("{- ")
		p.pattern(x.Item)
		p.str(" -}")
	case *PatternPermute:
		p.str("PERMUTE(")
		commas(p, x.Items, p.pattern)
		p.str(")")
	}
}

// factor prints a part of a sequence, in parentheses when it has several parts.
func (p *printer) factor(x Pattern) {
	switch x.(type) {
	case *PatternSeq, *PatternAlt:
		p.str("(")
		p.pattern(x)
		p.str(")")
	default:
		p.pattern(x)
	}
}

// patternQuantifier returns the quantifier of a repeated item.
func patternQuantifier(x *PatternRepeat) string {
	var s string
	switch {
	case x.Min == 0 && x.Max == -1:
		s = "*"
	case x.Min == 1 && x.Max == -1:
		s = "+"
	case x.Min == 0 && x.Max == 1:
		s = "?"
	case x.Min == x.Max:
		s = "{" + strconv.Itoa(x.Min) + "}"
	case x.Max == -1:
		s = "{" + strconv.Itoa(x.Min) + ",}"
	default:
		s = "{" + strconv.Itoa(x.Min) + "," + strconv.Itoa(x.Max) + "}"
	}
	if x.Reluctant {
		s += "?"
	}
	return s
}

func (p *printer) pivot(v *Pivot) {
	p.side(v.Input, false)
	p.str(" PIVOT (")
	commas(p, v.Aggs, p.selectItem)
	p.str(" FOR ")
	p.names(v.Axes)
	p.str(" IN (")
	commas(p, v.In, p.selectItem)
	p.str("))")
	p.tableTail(v.Alias, nil)
}

func (p *printer) unpivot(v *Unpivot) {
	p.side(v.Input, false)
	p.str(" UNPIVOT ")
	if v.IncludeNulls {
		p.str("INCLUDE NULLS ")
	}
	p.str("(")
	p.idents(v.Measures)
	p.str(" FOR ")
	p.idents(v.Axes)
	p.str(" IN (")
	commas(p, v.In, p.unpivotItem)
	p.str("))")
	p.tableTail(v.Alias, nil)
}

func (p *printer) unpivotItem(it *UnpivotItem) {
	p.names(it.Columns)
	if it.As != nil {
		p.str(" AS ")
		p.expr(it.As)
	}
}
