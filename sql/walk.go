package sql

// Walk calls f for n and then, as long as f returns true, for the nodes below it in the order of the text. Names are nodes, their
// segments are not visited on their own.
func Walk(n Node, f func(Node) bool) {
	w := walker{f}
	w.node(n)
}

// Inspect returns the nodes of type T that are n or below it, in the order of the text, those inside of subqueries included.
func Inspect[T Node](n Node) []T {
	var found []T
	Walk(n, func(n Node) bool {
		if t, ok := n.(T); ok {
			found = append(found, t)
		}
		return true
	})
	return found
}

type walker struct{ f func(Node) bool }

// node visits n and what is below it. It may be called with an interface that holds nil, not with a typed nil.
func (w walker) node(n Node) {
	if n == nil || !w.f(n) {
		return
	}
	switch n := n.(type) {
	case Expr:
		w.expr(n)
	case *Query:
		w.query(n)
	case QueryBody:
		w.body(n)
	case TableRef:
		w.tableRef(n)
	case Pattern:
		w.pattern(n)
	case Stmt:
		w.stmt(n)
	case TableElement:
		w.tableElement(n)
	case AlterAction:
		w.alterAction(n)
	default:
		w.part(n)
	}
}

// each visits a list.
func each[T Node](w walker, ns []T) {
	for _, n := range ns {
		w.node(n)
	}
}

// opt visits a pointer that may be nil.
func opt[T any, P interface {
	*T
	Node
}](w walker, p P) {
	if p != nil {
		w.node(p)
	}
}

func (w walker) expr(x Expr) {
	switch x := x.(type) {
	case *IntervalExpr:
		w.node(x.Amount)
	case *TimeDiff:
		w.node(x.L)
		w.node(x.R)
	case *Star:
		opt(w, x.Qualifier)
	case *Unary:
		w.node(x.X)
	case *Binary:
		w.binary(x)
	case *Is:
		w.node(x.X)
	case *Between:
		w.node(x.X)
		w.node(x.Low)
		w.node(x.High)
	case *In:
		w.node(x.X)
		each(w, x.List)
		opt(w, x.Query)
	case *LikeExpr:
		w.node(x.X)
		w.node(x.Pattern)
		w.node(x.Escape)
	case *Quantified:
		w.node(x.X)
		each(w, x.List)
		opt(w, x.Query)
	case *Exists:
		w.node(x.Query)
	case *UniqueExpr:
		w.node(x.Query)
	case *Subquery:
		w.node(x.Query)
	case *Case:
		w.node(x.Operand)
		each(w, x.Whens)
		w.node(x.Else)
	case *Cast:
		w.node(x.X)
		w.node(x.Type)
	case *Constructor:
		each(w, x.Items)
		opt(w, x.Query)
	case *Index:
		w.node(x.X)
		w.node(x.Index)
	case *Field:
		w.node(x.X)
	case *FuncCall:
		w.call(x)
	case *NamedArg:
		w.node(x.Value)
	case *TableArg:
		opt(w, x.Table)
		each(w, x.Hints)
		opt(w, x.Query)
		each(w, x.PartitionBy)
		each(w, x.OrderBy)
	case *Descriptor:
		each(w, x.Columns)
		for _, t := range x.Types {
			opt(w, t)
		}
	case *ModelArg:
		w.node(x.Model)
	case *PatternMode:
		w.node(x.X)
	case *GroupingSet:
		each(w, x.Items)
	}
}

// binary visits the operands of a chain of operators, its left sides in a loop, since chains may be long.
func (w walker) binary(x *Binary) {
	chain := []*Binary{x}
	for {
		l, ok := chain[len(chain)-1].L.(*Binary)
		if !ok {
			w.node(chain[len(chain)-1].L)
			break
		}
		if !w.f(l) {
			break
		}
		chain = append(chain, l)
	}
	for i := len(chain) - 1; i >= 0; i-- {
		w.node(chain[i].R)
	}
}

func (w walker) call(c *FuncCall) {
	w.node(c.Name)
	each(w, c.Args)
	each(w, c.OrderBy)
	if j := c.JSON; j != nil {
		opt(w, j.Returning)
		w.node(j.OnEmpty.Default)
		w.node(j.OnError.Default)
	}
	each(w, c.WithinGroup)
	w.node(c.Filter)
	opt(w, c.Over)
}

func (w walker) query(q *Query) {
	each(w, q.With)
	w.node(q.Body)
	each(w, q.OrderBy)
	w.node(q.Limit)
	w.node(q.Offset)
}

func (w walker) body(b QueryBody) {
	switch b := b.(type) {
	case *Select:
		each(w, b.Hints)
		each(w, b.Items)
		w.node(b.From)
		w.node(b.Where)
		opt(w, b.GroupBy)
		w.node(b.Having)
		each(w, b.Windows)
		w.node(b.Qualify)
	case *SetOp:
		w.node(b.L)
		w.node(b.R)
	case *Values:
		each(w, b.Rows)
	case *TableQuery:
		w.node(b.Name)
	}
}

func (w walker) tableRef(r TableRef) {
	switch r := r.(type) {
	case *TableName:
		w.node(r.Name)
		each(w, r.Hints)
		w.node(r.AsOf)
		w.tableTail(r.Alias, r.Sample)
	case *DerivedTable:
		w.node(r.Query)
		w.tableTail(r.Alias, r.Sample)
	case *Unnest:
		each(w, r.Exprs)
		w.tableTail(r.Alias, r.Sample)
	case *TableFunc:
		w.node(r.Call)
		w.tableTail(r.Alias, r.Sample)
	case *Join:
		w.node(r.L)
		w.node(r.R)
		w.node(r.On)
	case *MatchRecognize:
		w.match(r)
	case *Pivot:
		w.node(r.Input)
		each(w, r.Aggs)
		each(w, r.Axes)
		each(w, r.In)
		w.tableTail(r.Alias, nil)
	case *Unpivot:
		w.node(r.Input)
		each(w, r.In)
		w.tableTail(r.Alias, nil)
	}
}

func (w walker) tableTail(a *TableAlias, s *Sample) {
	opt(w, a)
	opt(w, s)
}

func (w walker) match(m *MatchRecognize) {
	w.node(m.Input)
	each(w, m.PartitionBy)
	each(w, m.OrderBy)
	each(w, m.Measures)
	w.node(m.Pattern)
	w.node(m.Within)
	each(w, m.Subsets)
	each(w, m.Defines)
	w.tableTail(m.Alias, m.Sample)
}

func (w walker) pattern(x Pattern) {
	switch x := x.(type) {
	case *PatternSeq:
		each(w, x.Items)
	case *PatternAlt:
		each(w, x.Items)
	case *PatternRepeat:
		w.node(x.Item)
	case *PatternExclude:
		w.node(x.Item)
	case *PatternPermute:
		each(w, x.Items)
	}
}

// part visits what is below the nodes that stand nowhere alone.
func (w walker) part(n Node) {
	switch n := n.(type) {
	case *When:
		each(w, n.Conds)
		w.node(n.Then)
	case *TypeName:
		opt(w, n.User)
		each(w, n.Elems)
		each(w, n.Fields)
	case *TypeField:
		w.node(n.Type)
		opt(w, n.Comment)
	case *OrderItem:
		w.node(n.Expr)
	case *SelectItem:
		w.node(n.Expr)
	case *GroupBy:
		each(w, n.Items)
	case *NamedWindow:
		w.node(n.Spec)
	case *WindowSpec:
		each(w, n.PartitionBy)
		each(w, n.OrderBy)
		opt(w, n.Frame)
	case *Frame:
		w.node(n.Lower)
		opt(w, n.Upper)
	case *FrameBound:
		w.node(n.Expr)
	case *CTE:
		w.node(n.Query)
	case *Hint:
		each(w, n.Args)
	case *HintArg:
		w.node(n.Key)
		w.node(n.Value)
	case *Sample:
		w.node(n.Arg)
		w.node(n.Repeatable)
	case *PatternDefine:
		w.node(n.Cond)
	case *UnpivotItem:
		each(w, n.Columns)
		w.node(n.As)
	case *Property:
		w.node(n.Key)
		w.node(n.Value)
	case *Properties:
		each(w, n.List)
	case *PartitionSpec:
		each(w, n.Items)
	case *PartitionItem:
		w.node(n.Value)
	case *PartitionDef:
		w.node(n.Spec)
		opt(w, n.With)
	case *Assignment:
		w.node(n.Column)
		w.node(n.Value)
	case *LikeClause:
		w.node(n.Table)
		each(w, n.Options)
	case *ColumnPosition:
		opt(w, n.After)
	case *FunctionResource:
		w.node(n.Path)
	}
}
