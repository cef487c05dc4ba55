package sql

import (
	"strconv"
	"strings"
)

// Format prints a node in one line. What it prints of a statement, a query, an expression or a type parses to an equal tree. Names
// are in back-ticks only where they need them, so that two expressions that mean the same by their names print the same.
func Format(n Node) string {
	p := &printer{sep: " "}
	p.node(n)
	return p.b.String()
}

// FormatFlink prints a node as Flink shows it in SHOW CREATE VIEW and in names of jobs: all names in back-ticks, a line for each
// clause of a query and each table, FETCH in place of LIMIT, ROW(..) for every row, searched CASE only. A function that is not in
// back-ticks is taken for a built-in one, whose name is in upper case.
func FormatFlink(n Node) string {
	p := &printer{sep: "\n", flink: true}
	p.node(n)
	return p.b.String()
}

// printer prints nodes into b.
type printer struct {
	b     strings.Builder
	sep   string // between the clauses of a query
	flink bool
}

func (p *printer) str(ss ...string) {
	for _, s := range ss {
		p.b.WriteString(s)
	}
}

// node prints any node.
func (p *printer) node(n Node) {
	switch n := n.(type) {
	case Expr:
		p.expr(n)
	case *Query:
		p.query(n)
	case QueryBody:
		p.body(n)
	case TableRef:
		p.tableRef(n)
	case Pattern:
		p.pattern(n)
	case TableElement:
		p.tableElement(n)
	case AlterAction:
		p.alterAction(n)
	case Stmt:
		p.stmt(n)
	default:
		p.part(n)
	}
}

// part prints the nodes that stand nowhere alone.
func (p *printer) part(n Node) {
	switch n := n.(type) {
	case Ident:
		p.ident(n)
	case *Ident:
		p.ident(*n)
	case *TypeName:
		p.typeName(n)
	case *TypeField:
		p.typeField(n)
	case *IntervalQualifier:
		p.qualifier(*n)
	case *When:
		p.when(n)
	case *OrderItem:
		p.orderItem(n)
	case *SelectItem:
		p.selectItem(n)
	case *GroupBy:
		p.groupBy(n)
	case *NamedWindow:
		p.namedWindow(n)
	case *WindowSpec:
		p.windowSpec(n)
	case *Frame:
		p.frame(n)
	case *FrameBound:
		p.bound(n)
	case *CTE:
		p.cte(n)
	case *TableAlias:
		p.alias(n)
	case *Hint:
		p.hint(n)
	case *HintArg:
		p.hintArg(n)
	case *Sample:
		p.sample(n)
	case *PatternSubset:
		p.ident(n.Name)
		p.str(" = ")
		p.idents(n.Vars)
	case *PatternDefine:
		p.ident(n.Var)
		p.str(" AS ")
		p.expr(n.Cond)
	case *UnpivotItem:
		p.unpivotItem(n)
	case *Property:
		p.property(n)
	case *Properties:
		p.properties(n)
	case *PartitionSpec:
		p.partition(n)
	case *PartitionItem:
		p.partitionItem(n)
	case *PartitionDef:
		p.partition(n.Spec)
		p.with(n.With)
	case *Assignment:
		p.assignment(n)
	case *LikeClause:
		p.like(n)
	case *LikeOption:
		p.likeOption(n)
	case *ColumnPosition:
		p.position(n)
	case *FunctionResource:
		p.resource(n)
	}
}

// commas prints xs with commas between.
func commas[T any](p *printer, xs []T, print func(T)) {
	for i, x := range xs {
		if i > 0 {
			p.str(", ")
		}
		print(x)
	}
}

// ident prints one name.
func (p *printer) ident(id Ident) {
	if p.flink {
		p.str(Quote(id.Name))
		return
	}
	p.str(QuoteIfNeeded(id.Name))
}

// idents prints names in parentheses.
func (p *printer) idents(ids []Ident) {
	p.str("(")
	commas(p, ids, p.ident)
	p.str(")")
}

// name prints a dotted name.
func (p *printer) name(n *Name) {
	for i, id := range n.Parts {
		if i > 0 {
			p.str(".")
		}
		p.ident(id)
	}
}

// names prints dotted names in parentheses.
func (p *printer) names(ns []*Name) {
	p.str("(")
	commas(p, ns, p.name)
	p.str(")")
}

func (p *printer) literal(l *Literal) {
	switch l.Kind {
	case IntegerLit, DecimalLit, DoubleLit:
		if p.flink {
			p.number(l.Text)
		} else {
			p.str(l.Text)
		}
	case StringLit:
		switch l.Charset {
		case "":
		case "N":
			p.str("N")
		default:
			p.str("_", l.Charset)
		}
		p.str(QuoteString(l.Text))
	case BinaryLit:
		if p.flink {
			p.str("X'", strings.ToUpper(l.Text), "'")
		} else {
			p.str("X'", l.Text, "'")
		}
	case TrueLit:
		p.str("TRUE")
	case FalseLit:
		p.str("FALSE")
	case UnknownLit:
		p.str("UNKNOWN")
	case NullLit:
		p.str("NULL")
	case DateLit:
		p.str("DATE ", QuoteString(l.Text))
	case TimeLit:
		p.str("TIME ", QuoteString(l.Text))
	case TimestampLit:
		p.str("TIMESTAMP ", QuoteString(l.Text))
	}
}

// number prints a number as Flink does: with a digit before the point and a great E.
func (p *printer) number(s string) {
	if s[0] == '.' {
		p.str("0")
	}
	p.str(strings.ToUpper(s))
}

// comment prints COMMENT 'text' behind something.
func (p *printer) comment(l *Literal) {
	if l != nil {
		p.str(" COMMENT ")
		p.literal(l)
	}
}

// with prints WITH (..) behind something.
func (p *printer) with(ps *Properties) {
	if ps != nil {
		p.str(" WITH ")
		p.properties(ps)
	}
}

func (p *printer) properties(ps *Properties) {
	p.str("(")
	commas(p, ps.List, p.property)
	p.str(")")
}

func (p *printer) property(x *Property) {
	p.literal(x.Key)
	p.str(" = ")
	p.literal(x.Value)
}

func (p *printer) partition(s *PartitionSpec) {
	p.str("PARTITION (")
	commas(p, s.Items, p.partitionItem)
	p.str(")")
}

func (p *printer) partitionItem(it *PartitionItem) {
	p.ident(it.Column)
	if it.Value != nil {
		p.str(" = ")
		p.expr(it.Value)
	}
}

func (p *printer) assignment(a *Assignment) {
	p.name(a.Column)
	p.str(" = ")
	p.expr(a.Value)
}

// typeName prints a type in the spelling of CREATE TABLE.
func (p *printer) typeName(t *TypeName) {
	switch {
	case t.User != nil:
		p.name(t.User)
	case t.Interval != nil:
		p.str("INTERVAL ")
		p.qualifier(*t.Interval)
	case p.flink && len(t.Elems) == 1:
		p.typeName(t.Elems[0])
		p.str(" ", t.Name)
		p.nullability(t)
		return
	case t.Name == "INTEGER" && !p.flink:
		p.str("INT")
	default:
		p.str(t.Name)
	}
	if len(t.Params) > 0 {
		p.str("(")
		commas(p, t.Params, func(n int) { p.str(strconv.Itoa(n)) })
		p.str(")")
	}
	open, end := "<", ">"
	if p.flink {
		open, end = "< ", " >"
	}
	switch t.Name {
	case "ARRAY", "MULTISET", "MAP":
		p.str(open)
		commas(p, t.Elems, p.typeName)
		p.str(end)
	case "RAW":
		p.str("(")
		commas(p, t.Texts, func(s string) { p.str(QuoteString(s)) })
		p.str(")")
	case "ROW", "STRUCTURED":
		p.str(open)
		commas(p, t.Texts, func(s string) { p.str(QuoteString(s)) })
		if len(t.Texts) > 0 && len(t.Fields) > 0 {
			p.str(", ")
		}
		commas(p, t.Fields, p.typeField)
		p.str(end)
	}
	p.nullability(t)
}

// nullability prints what is written behind a type.
func (p *printer) nullability(t *TypeName) {
	switch t.Null {
	case Nullable:
		p.str(" NULL")
	case NotNull:
		p.str(" NOT NULL")
	}
}

func (p *printer) typeField(f *TypeField) {
	p.ident(f.Name)
	p.str(" ")
	p.typeName(f.Type)
	if f.Comment != nil {
		p.str(" ")
		p.literal(f.Comment)
	}
}

// qualifier prints the units of an interval.
func (p *printer) qualifier(q IntervalQualifier) {
	p.str(string(q.First))
	if q.Precision >= 0 {
		p.str("(", strconv.Itoa(q.Precision))
		if q.First == "SECOND" && q.Fraction >= 0 {
			p.str(", ", strconv.Itoa(q.Fraction))
		}
		p.str(")")
	}
	if q.Last != "" {
		p.str(" TO ", string(q.Last))
		if q.Fraction >= 0 {
			p.str("(", strconv.Itoa(q.Fraction), ")")
		}
	}
}
