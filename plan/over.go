package plan

import (
	"slices"
	"strconv"
	"strings"

	"runnel/catalog"
	"runnel/expr"
	"runnel/sql"
	"runnel/types"
)

// overBase is where the columns that stand for OVER calls begin while a select list is bound.
const overBase = 1 << 18

// overing is the binding of the OVER calls of a SELECT.
type overing struct {
	b     *selecting
	inner *binder   // binds what stands inside the calls
	group *grouping // nil without GROUP BY
	calls []overCall
}

// overCall is one call with its window; its expressions are over the input, or over what the grouping gives.
type overCall struct {
	call   expr.AggCall
	args   []expr.Expr
	filter expr.Expr
	keys   []expr.Expr
	order  []orderExpr
	frame  Frame
	at     *sql.FuncCall
}

type orderExpr struct {
	expr expr.Expr
	desc bool
	last bool // NULLS LAST
}

// windowed binds a select list with OVER calls, and QUALIFY.
func (b *selecting) windowed(items []item, x *binder, g *grouping) (*selected, error) {
	o := &overing{b: b, group: g}
	inner := *x
	o.inner = &inner
	outer := *x
	outer.hook = o.hook
	out := &selected{bind: outer.expr}
	for _, it := range items {
		if g != nil {
			g.naming = ""
		}
		e, err := b.bindItem(it, &outer)
		if err != nil {
			return nil, err
		}
		out.exprs, out.names = append(out.exprs, e), append(out.names, it.name)
	}
	if b.stmt.Having != nil {
		b.after = g
		cond, err := g.condition(b.stmt.Having)
		if err != nil {
			return nil, err
		}
		o.group.having = cond
	}
	if b.stmt.Qualify != nil {
		q := outer
		q.clause = "QUALIFY clause"
		cond, err := q.condition(b.stmt.Qualify)
		if err != nil {
			return nil, err
		}
		out.cond = cond
	}
	out.seal = o.seal
	return out, nil
}

// hook registers OVER calls and leaves the rest to the binder below.
func (o *overing) hook(e sql.Expr) (expr.Expr, error) {
	if c, ok := e.(*sql.FuncCall); ok && c.Over != nil {
		return o.call(c)
	}
	if o.inner.hook != nil {
		return o.inner.hook(e)
	}
	return nil, nil
}

// call binds one OVER call and gives the column that stands for it.
func (o *overing) call(c *sql.FuncCall) (expr.Expr, error) {
	name := callName(c)
	f := expr.LookupAggregate(name)
	if f == nil {
		args, err := o.inner.exprs(plainArgs(c.Args))
		if err != nil {
			return nil, err
		}
		if expr.Lookup(name) != nil {
			return nil, refuse(nameError, c, "OVER must be applied to aggregate function")
		}
		return nil, o.b.p.unknownFunction(c, args)
	}
	spec, err := o.spec(c.Over)
	if err != nil {
		return nil, err
	}
	k := overCall{call: expr.AggCall{Func: f, Distinct: c.Quantifier == sql.Distinct, Filter: -1}, at: c}
	if len(c.Args) != 1 || !isStar(c.Args[0]) {
		if k.args, err = o.inner.exprs(c.Args); err != nil {
			return nil, err
		}
	}
	if c.Filter != nil {
		if k.filter, err = o.inner.condition(c.Filter); err != nil {
			return nil, err
		}
		if k.filter, err = newCall(c.Filter, "IS TRUE", k.filter); err != nil {
			return nil, err
		}
	}
	ts := make([]types.Type, len(k.args))
	for i, a := range k.args {
		ts[i] = a.Type()
	}
	if k.call.T, err = f.Result(ts); err != nil {
		return nil, typeError(err, c)
	}
	k.call.T = k.call.T.Plain()
	if k.filter != nil && !f.Sure {
		k.call.T = k.call.T.Optional()
	}
	if name == "COUNT" && len(ts) == 1 && ts[0].NotNull && !k.call.Distinct {
		k.args = nil
	}
	if err := o.window(&k, spec); err != nil {
		return nil, err
	}
	k.call.Name = "w0$o" + itoa(len(o.calls))
	o.calls = append(o.calls, k)
	return &expr.Col{Index: overBase + len(o.calls) - 1, Name: k.call.Name, T: k.call.T}, nil
}

// plainArgs leaves out arguments that are no expressions.
func plainArgs(args []sql.Expr) []sql.Expr {
	return slices.DeleteFunc(slices.Clone(args), func(a sql.Expr) bool { _, star := a.(*sql.Star); return star })
}

// spec finds the window that an OVER clause means, with what a window that it builds on gives.
func (o *overing) spec(w *sql.WindowSpec) (*sql.WindowSpec, error) {
	for depth := 0; w.Ref != nil; depth++ {
		i := slices.IndexFunc(o.b.stmt.Windows, func(n *sql.NamedWindow) bool { return n.Name.Name == w.Ref.Name })
		if i < 0 || depth > 20 {
			e := refuse(nameError, w.Ref, "Window '%s' not found", w.Ref.Name)
			var names []string
			for _, n := range o.b.stmt.Windows {
				names = append(names, n.Name.Name)
			}
			e.Hint = catalog.DidYouMean(w.Ref.Name, names)
			return nil, e
		}
		base := o.b.stmt.Windows[i].Spec
		if w.Bare {
			w = base
			continue
		}
		merged := *base
		if len(w.PartitionBy) > 0 {
			merged.PartitionBy = w.PartitionBy
		}
		if len(w.OrderBy) > 0 {
			merged.OrderBy = w.OrderBy
		}
		if w.Frame != nil {
			merged.Frame = w.Frame
		}
		w = &merged
	}
	return w, nil
}

// window binds partition, order and frame of a call.
func (o *overing) window(k *overCall, w *sql.WindowSpec) error {
	var err error
	if k.keys, err = o.inner.exprs(w.PartitionBy); err != nil {
		return err
	}
	for _, it := range w.OrderBy {
		x, err := o.inner.expr(it.Expr)
		if err != nil {
			return err
		}
		oe := orderExpr{expr: x, desc: it.Desc, last: it.Desc}
		if it.Nulls != sql.NullsDefault {
			oe.last = it.Nulls == sql.NullsLast
		}
		k.order = append(k.order, oe)
	}
	k.frame = Frame{Before: -1}
	switch k.call.Func.Name {
	case "ROW_NUMBER", "RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST", "NTILE", "LAG", "LEAD":
		k.frame.Rows = o.b.p.batch || k.call.Func.Name == "ROW_NUMBER"
		if w.Frame != nil {
			return refuse(nameError, w.Frame, "ROW/RANGE not allowed with RANK, DENSE_RANK or ROW_NUMBER functions")
		}
		if len(w.OrderBy) == 0 && k.call.Func.Name != "ROW_NUMBER" {
			return refuse(nameError, w, "RANK or DENSE_RANK functions require ORDER BY clause in window specification")
		}
		return nil
	}
	if w.Frame == nil {
		if len(w.OrderBy) == 0 {
			k.frame.After = -1
		}
		return nil
	}
	return o.frame(k, w.Frame)
}

func (o *overing) frame(k *overCall, f *sql.Frame) error {
	k.frame.Rows = !f.Range
	var err error
	if k.frame.Before, k.frame.BeforeBy, k.frame.Ahead, err = o.bound(k, f.Lower, true); err != nil {
		return err
	}
	k.frame.After = 0
	if f.Upper == nil {
		return nil
	}
	upper, lower := f.Upper.Kind, f.Lower.Kind
	switch {
	case lower == sql.CurrentRow && upper == sql.Preceding:
		return refuse(nameError, f.Upper, "Upper frame boundary cannot be PRECEDING when lower boundary is CURRENT ROW")
	case lower == sql.Following && upper == sql.CurrentRow:
		return refuse(nameError, f.Upper, "Upper frame boundary cannot be CURRENT ROW when lower boundary is FOLLOWING")
	case lower == sql.Following && upper == sql.Preceding:
		return refuse(nameError, f.Upper, "Upper frame boundary cannot be PRECEDING when lower boundary is FOLLOWING")
	}
	k.frame.After, k.frame.AfterBy, k.frame.Short, err = o.bound(k, f.Upper, false)
	return err
}

// bound gives how far a bound of a frame lies before (or after) the current row, as Frame has it; -1 for unbounded. other:
// it lies on the other side.
func (o *overing) bound(k *overCall, b *sql.FrameBound, before bool) (n int64, by Distance, other bool, err error) {
	switch b.Kind {
	case sql.CurrentRow:
		return 0, by, false, nil
	case sql.UnboundedPreceding, sql.UnboundedFollowing:
		switch {
		case (b.Kind == sql.UnboundedPreceding) == before:
			return -1, by, false, nil
		case before:
			return 0, by, false, refuse(nameError, b, "UNBOUNDED FOLLOWING cannot be specified for the lower frame boundary")
		}
		return 0, by, false, refuse(nameError, b, "UNBOUNDED PRECEDING cannot be specified for the upper frame boundary")
	}
	if n, by, err = o.offset(k, b); err != nil {
		return 0, by, false, err
	}
	other = (b.Kind == sql.Preceding) != before && n > 0
	if other && !o.b.p.batch {
		return 0, by, false, refuse(tableError, b, "OVER RANGE FOLLOWING windows are not supported yet.")
	}
	return n, by, other, nil
}

// offset reads the amount of a bound: a number of rows, a distance between numbers or between times.
func (o *overing) offset(k *overCall, b *sql.FrameBound) (int64, Distance, error) {
	lit, ok := b.Expr.(*sql.Literal)
	number := ok && lit.Kind >= sql.IntegerLit && lit.Kind <= sql.DoubleLit
	switch {
	case k.frame.Rows:
		if number && lit.Kind == sql.IntegerLit {
			if n, err := strconv.ParseInt(lit.Text, 10, 64); err == nil {
				return n, Distance{}, nil
			}
		}
		return 0, Distance{}, refuse(nameError, b, "ROWS value must be a non-negative integral constant")
	case len(k.order) == 0:
		return 0, Distance{}, refuse(nameError, b, "Window specification must contain an ORDER BY clause")
	case len(k.order) > 1:
		return 0, Distance{}, refuse(nameError, b, "RANGE clause cannot be used with compound ORDER BY clause")
	}
	switch t := k.order[0].expr.Type(); {
	case t.IsNumeric() != number && (t.IsNumeric() || t.IsTemporal()):
		return 0, Distance{}, refuse(nameError, b, "Data Type mismatch between ORDER BY and RANGE clause")
	case t.IsTemporal():
		n, err := o.b.p.constantMillis(b.Expr, "RANGE")
		return n, Distance{}, err
	case !t.IsNumeric():
		return 0, Distance{}, refuse(nameError, b, "Data type of ORDER BY prohibits use of RANGE clause")
	}
	k.frame.Number = true
	by := Distance{Scale: digitsBehind(lit.Text)}
	var status types.DecimalStatus
	if by.Unscaled, status = types.ParseDecimal(lit.Text, types.MaxDecimal, by.Scale); status != types.DecimalOK {
		return 0, by, refuse(nameError, b, "%s has more than %d digits", lit.Text, types.MaxDecimal)
	}
	if by.Unscaled.Sign() == 0 {
		return 0, Distance{}, nil
	}
	return 1, by, nil
}

// digitsBehind counts the digits that a number has behind its point, without the zeros at its end.
func digitsBehind(text string) int {
	digits, exponent, _ := strings.Cut(strings.ToUpper(text), "E")
	_, fraction, _ := strings.Cut(digits, ".")
	shift, _ := strconv.Atoi(exponent)
	return min(max(len(strings.TrimRight(fraction, "0"))-shift, 0), types.MaxDecimal)
}

// seal builds what the calls stand on and puts the select list over it.
func (o *overing) seal(s *selected) error {
	node, remap := o.b.in, func(e expr.Expr) expr.Expr { return e }
	if o.group != nil {
		var err error
		if node, remap, err = o.group.build(); err != nil {
			return err
		}
		node, remap = o.group.join(node, remap)
		if o.group.having != nil {
			node = newFilter(node, remap(o.group.having))
		}
	}
	f := fieldsIn(node)
	pre := &columns{exprs: columnExprs(f), names: fieldNames(f)}
	var groups []*OverAggregate
	place := make([][2]int, len(o.calls)) // group and position of each call
	for i := range o.calls {
		g, at := o.join(&groups, &o.calls[i], pre, remap)
		place[i] = [2]int{g, at}
	}
	node = newCalc(node, pre.exprs, pre.names, nil)
	width := len(pre.exprs)
	first := make([]int, len(groups))
	for i, g := range groups {
		first[i] = width
		g.Inputs = []Node{node}
		g.Fields = slices.Clone(fieldsIn(node))
		for k := range g.Aggs {
			g.Aggs[k].Text = callText(g.Aggs[k], g.Fields, false)
			g.Fields = append(g.Fields, types.Field{Name: g.Aggs[k].Name, Type: g.Aggs[k].T})
		}
		width += len(g.Aggs)
		node = g
	}
	if !o.b.p.batch && len(groups) > 1 {
		return refuse(tableError, o.calls[len(o.calls)-1].at, "Over Agg: Unsupported use of OVER windows. All aggregates must be computed on the same window. "+
			"please re-check the over window statement.")
	}
	over := func(e expr.Expr) expr.Expr {
		return expr.Rewrite(remap(e), func(x expr.Expr) expr.Expr {
			c, ok := x.(*expr.Col)
			if !ok || c.Index < overBase || c.Index >= outerBase {
				return x
			}
			p := place[c.Index-overBase]
			i := first[p[0]] + p[1]
			return &expr.Col{Index: i, Name: fieldsIn(node)[i].Name, T: c.T}
		})
	}
	s.in = node
	for i := range s.exprs {
		s.exprs[i] = over(s.exprs[i])
	}
	if s.cond != nil {
		s.cond = over(s.cond)
	}
	return nil
}

// join puts a call to the others of the same window.
func (o *overing) join(groups *[]*OverAggregate, k *overCall, pre *columns, remap func(expr.Expr) expr.Expr) (group, at int) {
	a := &OverAggregate{Frame: k.frame}
	a.Kind, a.Base().Pos = "OverAggregate", pos(k.at)
	for _, e := range k.keys {
		a.Keys = append(a.Keys, pre.add(remap(e), ""))
	}
	for _, e := range k.order {
		a.Order = append(a.Order, SortKey{Column: pre.add(remap(e.expr), ""), Desc: e.desc, NullsLast: e.last})
	}
	c := k.call
	for _, e := range k.args {
		c.Args = append(c.Args, pre.add(remap(e), ""))
	}
	if k.filter != nil {
		c.Filter = pre.add(remap(k.filter), "")
	}
	for i, g := range *groups {
		if slices.Equal(g.Keys, a.Keys) && slices.Equal(g.Order, a.Order) && g.Frame == a.Frame {
			g.Aggs = append(g.Aggs, c)
			return i, len(g.Aggs) - 1
		}
	}
	a.Aggs = []expr.AggCall{c}
	*groups = append(*groups, a)
	return len(*groups) - 1, 0
}

// checkOver refuses OVER windows that a stream cannot have (semantics.md 6.7).
func (p *planning) checkOver(n *OverAggregate) error {
	if p.batch {
		return nil
	}
	in := fieldsIn(n.Inputs[0])
	for _, a := range n.Aggs {
		switch a.Func.Name {
		case "LEAD", "NTILE", "PERCENT_RANK", "CUME_DIST":
			return refuseAt(n, "%s Function is not supported in stream mode.", a.Func.Name)
		}
	}
	switch {
	case len(n.Order) != 1:
		return refuseAt(n, "The window can only be ordered by a single time column.")
	case n.Order[0].Desc:
		return refuseAt(n, "The window can only be ordered in ASCENDING mode.")
	case n.Frame.After != 0:
		return refuseAt(n, "OVER RANGE FOLLOWING windows are not supported yet.")
	case !in[n.Order[0].Column].Type.IsTimeAttr():
		return refuseAt(n, "OVER windows' ordering in stream mode must be defined on a time attribute.").
			Cure("For the first rows by another order put the ROW_NUMBER() into a sub-query and ask for rn <= n outside.")
	}
	return nil
}
