package plan

import (
	"slices"
	"strings"

	"runnel/catalog"
	"runnel/expr"
	"runnel/sql"
	"runnel/types"
)

// windowForms are the table functions of windows: how messages write them, and their parameters by name.
var windowForms = map[string]struct {
	kind   WindowKind
	form   string
	params []string // behind DATA and TIMECOL
}{
	"TUMBLE":   {Tumble, "TUMBLE(TABLE table_name, DESCRIPTOR(timecol), datetime interval[, datetime interval])", []string{"SIZE", "OFFSET"}},
	"HOP":      {Hop, "HOP(TABLE table_name, DESCRIPTOR(timecol), datetime interval, datetime interval[, datetime interval])", []string{"SLIDE", "SIZE", "OFFSET"}},
	"CUMULATE": {Cumulate, "CUMULATE(TABLE table_name, DESCRIPTOR(timecol), datetime interval, datetime interval[, datetime interval])", []string{"STEP", "SIZE", "OFFSET"}},
	"SESSION":  {Session, "SESSION(TABLE table_name [PARTITION BY (keycols, ...)] [ORDER BY (orderkeycols, ...)], DESCRIPTOR(timecol), datetime interval)", []string{"GAP"}},
}

// windowFunction binds TABLE(TUMBLE(..)) and the like.
func (p *planning) windowFunction(f *sql.TableFunc, env *around) (*refs, error) {
	name := callName(f.Call)
	form := windowForms[name]
	args, err := windowArgs(f.Call, form.params)
	if err != nil {
		return nil, err
	}
	data, err := p.windowData(args["DATA"], f.Call, env)
	if err != nil {
		return nil, err
	}
	fields := fieldsIn(data.node)
	w := Window{Kind: form.kind}
	if w.Column, err = p.timeColumn(args["TIMECOL"], f.Call, form.form, fields); err != nil {
		return nil, err
	}
	if err := p.windowTypes(f.Call, args, form.params, form.form, fields); err != nil {
		return nil, err
	}
	if err := p.windowSizes(&w, name, args, f.Call); err != nil {
		return nil, err
	}
	if data.partition != nil {
		if form.kind != Session {
			return nil, refuse(validation, f.Call, "PARTITION BY in the argument of a window function is for SESSION only")
		}
		for _, e := range data.partition {
			x, err := p.binder(tableScope(fields)).expr(e)
			if err != nil {
				return nil, err
			}
			c, ok := x.(*expr.Col)
			if !ok {
				return nil, refuse(validation, e, "PARTITION BY of SESSION wants columns")
			}
			w.Partition = append(w.Partition, c.Index)
		}
	}
	if p.batch && form.kind == Session {
		return nil, refuse(tableError, f.Call, "Unaligned windows like session are not supported in batch mode yet.")
	}
	t := fields[w.Column].Type
	w.Rowtime = t.Attr != types.Proctime
	w.Zoned = t.Kind == types.TimestampLTZ
	n := &WindowTableFunction{Window: w}
	n.Kind, n.Inputs, n.Pos = "WindowTableFunction", []Node{data.node}, pos(f.Call)
	n.Fields = slices.Clone(fields)
	bound := types.TimestampOf(3).Required()
	end := t.Required()
	end.Precision = 3
	n.Fields = append(n.Fields, types.Field{Name: "window_start", Type: bound}, types.Field{Name: "window_end", Type: bound},
		types.Field{Name: "window_time", Type: end})
	return p.aliased(n, f.Alias, nil, f)
}

// windowArgs puts the arguments, by position or by name, under the names of the parameters.
func windowArgs(c *sql.FuncCall, params []string) (map[string]sql.Expr, error) {
	all := append([]string{"DATA", "TIMECOL"}, params...)
	args := map[string]sql.Expr{}
	for i, a := range c.Args {
		named, ok := a.(*sql.NamedArg)
		if !ok {
			if i >= len(all) {
				return nil, wrongCount(a, c, all).Cure("It has %s, and OFFSET where it is wanted.", strings.Join(all[:len(all)-1], ", "))
			}
			args[all[i]] = a
			continue
		}
		name := strings.ToUpper(named.Name.Name)
		if !slices.Contains(all, name) {
			e := refuse(nameError, a, "Param '%s' not found in function '%s'", named.Name.Name, callName(c))
			if e.Hint = catalog.DidYouMean(name, all); e.Hint == "" {
				e.Hint = "It has " + strings.Join(all, ", ") + "."
			}
			return nil, e
		}
		args[name] = named.Value
	}
	for _, n := range all {
		if _, ok := args[n]; !ok && n != "OFFSET" {
			return nil, wrongCount(c, c, all).Cure("%s is missing.", n)
		}
	}
	return args, nil
}

// wrongCount refuses a call by the number of its arguments, of which OFFSET is none that has to be there.
func wrongCount(at sql.Node, c *sql.FuncCall, params []string) *catalog.Error {
	n := len(params)
	if slices.Contains(params, "OFFSET") {
		n--
	}
	return refuse(nameError, at, "Invalid number of arguments to function '%s'. Was expecting %d arguments", callName(c), n)
}

// tableArg is the data argument of a window function.
type tableArg struct {
	node      Node
	partition []sql.Expr
}

func (p *planning) windowData(a sql.Expr, at sql.Node, env *around) (*tableArg, error) {
	switch a := a.(type) {
	case *sql.TableArg:
		if len(a.OrderBy) > 0 {
			return nil, refuse(catalog.ArgumentError, a, "SESSION table function does not support order keys.")
		}
		if a.Query != nil {
			r, err := p.query(a.Query, env)
			if err != nil {
				return nil, err
			}
			return &tableArg{r.node, a.PartitionBy}, nil
		}
		r, err := p.tableName(&sql.TableName{Span: a.Table.Span, Name: a.Table, Hints: a.Hints}, env)
		if err != nil {
			return nil, err
		}
		return &tableArg{r.node, a.PartitionBy}, nil
	case *sql.Subquery:
		r, err := p.query(a.Query, env)
		if err != nil {
			return nil, err
		}
		return &tableArg{node: r.node}, nil
	case *sql.Name:
		return nil, refuse(nameError, a, "Column '%s' not found in any table", a.Dotted()).Cure("Write TABLE %s.", a.Dotted())
	}
	return nil, refuse(nameError, at, "The first argument of a window function is TABLE name or a query in parentheses")
}

// timeColumn finds the column of DESCRIPTOR.
func (p *planning) timeColumn(a sql.Expr, call *sql.FuncCall, form string, fields []types.Field) (int, error) {
	d, ok := a.(*sql.Descriptor)
	if n, is := a.(*sql.Name); is {
		return 0, refuse(nameError, a, "Column '%s' not found in any table", n.Dotted()).Cure("The time column is written DESCRIPTOR(%s).", n.Dotted())
	}
	if !ok || len(d.Columns) != 1 {
		return 0, refuse(nameError, a, "The time column of %s is written DESCRIPTOR(column)", callName(call))
	}
	name := d.Columns[0].Last()
	i := slices.IndexFunc(fields, func(f types.Field) bool { return f.Name == name })
	if i < 0 {
		e := refuse(nameError, d.Columns[0], "Unknown identifier '%s'", name)
		e.Hint = catalog.DidYouMean(name, fieldNames(fields))
		return 0, e
	}
	t := fields[i].Type
	if t.Kind != types.Timestamp && t.Kind != types.TimestampLTZ {
		return 0, refuse(validation, d, "The window function %s requires the timecol to be TIMESTAMP or TIMESTAMP_LTZ, but is %s.\n"+
			"Besides, the timecol must be a time attribute type in streaming mode.", form, expr.TypeWord(t))
	}
	if !p.batch && !t.IsTimeAttr() {
		return 0, refuse(validation, d, "The window function requires the timecol is a time attribute type, but is %s.", t.Name()).
			Cure("A time attribute is a column with a WATERMARK, or PROCTIME(), that no expression, join or aggregate has touched.")
	}
	return i, nil
}

// windowTypes refuses sizes that are no intervals: in Flink's words, which list the types of all arguments, then by name.
func (p *planning) windowTypes(c *sql.FuncCall, args map[string]sql.Expr, params []string, form string, fields []types.Field) error {
	words := []string{"<" + strings.ToUpper(rowWord("RecordType", fields)) + ">",
		"<RECORDTYPE:PEEK_NO_EXPAND(UNKNOWN " + strings.ToUpper(args["TIMECOL"].(*sql.Descriptor).Columns[0].Last()) + ")>"}
	wrong := ""
	var at sql.Node
	for _, name := range params {
		a, ok := args[name]
		if !ok {
			continue
		}
		x, err := p.binder(&scope{}).expr(a)
		if err != nil {
			return err
		}
		t := x.Type()
		if wrong == "" && t.Kind != types.IntervalMillis && t.Kind != types.IntervalMonths {
			wrong, at = name, a
		}
		words = append(words, "<"+expr.TypeWord(t)+">")
	}
	if wrong == "" {
		return nil
	}
	return refuse(nameError, at, "Cannot apply '%s' to arguments of type '%s(%s)'. Supported form(s): %s", callName(c), callName(c), strings.Join(words, ", "), form).
		Cure("%s wants an interval of days to seconds, such as INTERVAL '1' MINUTE.", wrong)
}

// rowWord writes the type of a row as messages about window functions do.
func rowWord(word string, fields []types.Field) string {
	list := make([]string, len(fields))
	for i, f := range fields {
		switch {
		case f.Type.Attr == types.Proctime:
			list[i] = "TIMESTAMP_LTZ(3) *PROCTIME*"
		case f.Type.Kind == types.Row:
			list[i] = rowWord("RecordType:peek_no_expand", f.Type.Fields)
		default:
			list[i] = expr.TypeWord(f.Type)
		}
		list[i] += " " + f.Name
	}
	return word + "(" + strings.Join(list, ", ") + ")"
}

// windowSizes reads size, slide, step, gap and offset.
func (p *planning) windowSizes(w *Window, name string, args map[string]sql.Expr, at sql.Node) error {
	millis := func(param string) (int64, error) {
		a, ok := args[param]
		if !ok {
			return 0, nil
		}
		return p.constantMillis(a, param)
	}
	var err error
	size := "SIZE"
	switch w.Kind {
	case Session:
		size = "GAP"
	case Hop:
		w.Slide, err = millis("SLIDE")
	case Cumulate:
		w.Slide, err = millis("STEP")
	}
	if err != nil {
		return err
	}
	if w.Size, err = millis(size); err != nil {
		return err
	}
	if w.Offset, err = millis("OFFSET"); err != nil {
		return err
	}
	if w.Size <= 0 || (w.Kind == Hop || w.Kind == Cumulate) && w.Slide <= 0 {
		return refuse(validation, at, "%s table function must have positive sizes", name)
	}
	if w.Kind == Tumble && (w.Offset >= w.Size || w.Offset <= -w.Size) {
		return refuse(validation, at, "TUMBLE table function parameters must satisfy abs(offset) < size, but got size %d ms and offset %d ms.", w.Size, w.Offset)
	}
	return nil
}

// constantMillis evaluates a constant day-time interval.
func (p *planning) constantMillis(e sql.Expr, what string) (int64, error) {
	x, err := p.binder(&scope{}).expr(e)
	if err != nil {
		return 0, err
	}
	if x.Type().Kind == types.IntervalMonths {
		return 0, refuse(tableError, e, "Window aggregate only support SECOND, MINUTE, HOUR, DAY as the time unit. MONTH and YEAR time unit are not supported yet.")
	}
	if x.Type().Kind != types.IntervalMillis {
		return 0, refuse(validation, e, "%s wants an interval of days to seconds, not %s", what, x.Type().Name())
	}
	if c, ok := x.(*expr.Const); ok {
		return c.Value.I, nil
	}
	v, err := p.evaluate(x)
	if err != nil || v.Null {
		return 0, refuse(validation, e, "%s wants a constant interval", what)
	}
	return v.I, nil
}

// windowProps says which columns of a node bound the windows that its rows belong to.
type windowProps struct {
	window           Window
	start, end, time int // -1 where the column is gone
	// tvf is the table function itself when only Calcs that leave its columns alone lie above it.
	tvf *WindowTableFunction
}

// propsOf finds the windows of a node's rows, nil for none.
func propsOf(n Node) *windowProps {
	switch n := n.(type) {
	case *WindowTableFunction:
		k := len(n.Fields)
		return &windowProps{window: n.Window, start: k - 3, end: k - 2, time: k - 1, tvf: n}
	case *Calc:
		w := propsOf(n.Inputs[0])
		if w == nil {
			return nil
		}
		return w.through(n)
	case *Exchange:
		return propsOf(n.Inputs[0])
	case *WindowAggregate:
		w := &windowProps{window: n.Window, start: -1, end: -1, time: -1}
		for i, p := range n.Props {
			col := len(n.Keys) + len(n.Aggs) + i
			switch p {
			case WindowStart:
				w.start = col
			case WindowEnd:
				w.end = col
			case WindowTime:
				w.time = col
			}
		}
		return w
	case *WindowJoin:
		return n.props()
	case *WindowRank, *WindowDeduplicate:
		w := propsOf(n.Base().Inputs[0])
		if w != nil {
			w = &windowProps{window: w.window, start: w.start, end: w.end, time: w.time} // no table function directly below
		}
		return w
	}
	return nil
}

// through follows the columns through a Calc.
func (w *windowProps) through(c *Calc) *windowProps {
	out := &windowProps{window: w.window, start: -1, end: -1, time: -1, tvf: w.tvf}
	bounds := []int{w.start, w.end, w.time}
	for i, e := range c.Exprs {
		col, ok := e.(*expr.Col)
		switch {
		case ok && col.Index == w.start && out.start < 0:
			out.start = i
		case ok && col.Index == w.end && out.end < 0:
			out.end = i
		case ok && col.Index == w.time && out.time < 0:
			out.time = i
		case !ok && slices.ContainsFunc(expr.Refs(e), func(r int) bool { return slices.Contains(bounds, r) }):
			out.tvf = nil
		}
	}
	if c.Cond != nil && slices.ContainsFunc(expr.Refs(c.Cond), func(r int) bool { return slices.Contains(bounds, r) }) {
		out.tvf = nil
	}
	if out.start < 0 && out.end < 0 && out.time < 0 {
		return nil
	}
	return out
}

// window reports whether the aggregation groups by both ends of a window.
func (g *grouping) window(in Node, keys []int) *windowProps {
	w := propsOf(in)
	if !w.groups(keys) {
		return nil
	}
	if g.sets != nil { // both ends must be in every set
		for _, set := range g.sets {
			cols := make([]int, len(set))
			for i, k := range set {
				cols[i] = keys[k]
			}
			if !slices.Contains(cols, w.start) || !slices.Contains(cols, w.end) {
				return nil
			}
		}
	}
	if w.window.Kind == Session && !g.sessions(w, in, groupColumns(keys, w)) {
		return nil
	}
	return w
}

// groups reports whether keys hold both ends of a window that is still open for more rows. What an aggregate by processing time
// gives is behind its window: grouped by its ends, it is grouped like other rows.
func (w *windowProps) groups(keys []int) bool {
	return w != nil && w.start >= 0 && w.end >= 0 && slices.Contains(keys, w.start) && slices.Contains(keys, w.end) && (w.window.Rowtime || w.tvf != nil)
}

// sessions reports whether the sessions of w are those of the grouping: with other keys its rows close with none of them.
func (g *grouping) sessions(w *windowProps, in Node, keys []int) bool {
	if w.tvf == nil {
		return len(keys) == len(w.window.Partition)
	}
	return g.sets == nil && sessionsOf(w.tvf, in, keys)
}

// sessionsOf reports whether the sessions of a table function are just those of the keys.
func sessionsOf(tvf *WindowTableFunction, in Node, keys []int) bool {
	var partition []int
	for _, k := range keys {
		partition = append(partition, origin(in, k, tvf))
	}
	return subset(partition, tvf.Window.Partition) && subset(tvf.Window.Partition, partition)
}

// windowAggregate aggregates per window. Its rows are the keys that are no window columns, the aggregates, and the window
// columns; remap undoes the reordering.
func (g *grouping) windowAggregate(in *Calc, keys []int, calls []expr.AggCall, w *windowProps) (Node, func(expr.Expr) expr.Expr, error) {
	p := g.b.p
	if w.window.Kind == Hop && w.window.Size%w.window.Slide != 0 {
		return nil, nil, refuse(tableError, g.b.stmt.GroupBy, "HOP table function based aggregate requires size must be an integral multiple of slide, "+
			"but got size %d ms and slide %d ms", w.window.Size, w.window.Slide)
	}
	if w.window.Kind == Cumulate && w.window.Size%w.window.Slide != 0 {
		return nil, nil, refuse(tableError, g.b.stmt.GroupBy, "CUMULATE table function based aggregate requires maxSize must be an integral multiple of step, "+
			"but got maxSize %d ms and step %d ms", w.window.Size, w.window.Slide)
	}
	if !p.batch && (p.Config.Bool("table.exec.emit.early-fire.enabled") || p.Config.Bool("table.exec.emit.late-fire.enabled")) {
		return nil, nil, refuse(tableError, g.b.stmt, "Currently, window table function based aggregate doesn't support early-fire and late-fire configuration "+
			"'table.exec.emit.early-fire.enabled' and 'table.exec.emit.late-fire.enabled'.")
	}
	var node Node = in
	if g.sets != nil {
		node, keys = expand(in, keys, g.sets)
	}
	a, place := newWindowAggregate(node, keys, calls, w)
	a.Pos = pos(g.b.stmt)
	nk := len(a.Keys)
	return a, func(e expr.Expr) expr.Expr {
		return renumber(e, a.Fields, func(i int) int {
			switch {
			case i == setColumn:
				return place[len(place)-1]
			case i >= aggBase:
				return nk + i - aggBase
			}
			return place[i]
		})
	}, nil
}

// newWindowAggregate makes the aggregate; place says where each of the keys stands in it.
func newWindowAggregate(node Node, keys []int, calls []expr.AggCall, w *windowProps) (a *WindowAggregate, place []int) {
	in := fieldsIn(node)
	a = &WindowAggregate{Window: w.window, Aggs: calls, StartCol: -1, EndCol: -1}
	a.Kind = "WindowAggregate"
	a.Attached, a.StartCol, a.EndCol = true, w.start, w.end
	if tvf := w.tvf; tvf != nil && a.pull(tvf, &node, groupColumns(keys, w)) {
		a.Attached, a.StartCol, a.EndCol = false, -1, -1
	}
	a.Inputs = []Node{node}
	prop := map[int]WindowProp{w.start: WindowStart, w.end: WindowEnd, w.time: WindowTime}
	place = make([]int, len(keys))
	for i, k := range keys {
		if _, ok := prop[k]; !ok {
			place[i] = len(a.Keys)
			a.Keys = append(a.Keys, k)
			f := in[k]
			f.Type = f.Type.Plain()
			a.Fields = append(a.Fields, f)
		}
	}
	for _, c := range calls {
		a.Fields = append(a.Fields, types.Field{Name: c.Name, Type: c.T})
	}
	nk, na := len(a.Keys), len(calls)
	seen := map[WindowProp]int{}
	for i, k := range keys {
		wp, ok := prop[k]
		if !ok {
			continue
		}
		if _, ok := seen[wp]; !ok {
			seen[wp] = nk + na + len(a.Props)
			a.Props = append(a.Props, wp)
			a.Fields = append(a.Fields, in[k])
		}
		place[i] = seen[wp]
	}
	return a, place
}

// pull takes the table function out from under the Calcs between it and the aggregate, which then makes the windows
// itself. The window columns that those Calcs pass on are replaced by nulls that nobody reads.
//
// Sessions are those of their own keys: the aggregate has just the same.
func (a *WindowAggregate) pull(tvf *WindowTableFunction, node *Node, keys []int) bool {
	if tvf.Window.Kind == Session {
		if !sessionsOf(tvf, *node, keys) {
			return false
		}
		a.Window.Partition = keys
	}
	in, col, ok := withoutWindow(*node, tvf)
	if !ok {
		return false
	}
	a.Window.Column = col
	*node = in
	return true
}

// groupColumns are the keys that are no window columns.
func groupColumns(keys []int, w *windowProps) []int {
	return slices.DeleteFunc(slices.Clone(keys), func(k int) bool { return k == w.start || k == w.end || k == w.time })
}

// origin follows a column down to the table function: its index there, -1 for a computed one.
func origin(n Node, col int, tvf *WindowTableFunction) int {
	switch n := n.(type) {
	case *WindowTableFunction:
		if n == tvf {
			return col
		}
	case *Calc:
		if c, ok := n.Exprs[col].(*expr.Col); ok {
			return origin(n.Inputs[0], c.Index, tvf)
		}
	}
	return -1
}

// withoutWindow rebuilds a chain of Calcs and Expands with its table function left out; col is the time column.
func withoutWindow(n Node, tvf *WindowTableFunction) (out Node, col int, ok bool) {
	switch n := n.(type) {
	case *WindowTableFunction:
		if n != tvf {
			return nil, 0, false
		}
		return n.Inputs[0], n.Window.Column, true
	case *Calc:
		in, time, ok := withoutWindow(n.Inputs[0], tvf)
		if !ok {
			return nil, 0, false
		}
		inner := fieldsIn(n.Inputs[0])
		_, onTVF := n.Inputs[0].(*WindowTableFunction)
		dropped := func(i int) bool { return onTVF && i >= len(inner)-3 }
		c := *n
		c.Inputs, c.Fields = []Node{in}, slices.Clone(n.Fields)
		c.Exprs = slices.Clone(n.Exprs)
		for i, e := range c.Exprs {
			if x, isCol := e.(*expr.Col); isCol && (dropped(x.Index) || isHole(in, x.Index)) {
				c.Exprs[i] = expr.NewConst(types.NullDatum(), x.T)
			}
		}
		for i, e := range c.Exprs {
			if x, isCol := e.(*expr.Col); isCol && x.Index == time {
				c.Fields[i].Type = fieldsIn(in)[time].Type
				return &c, i, true
			}
		}
		c.Exprs = append(c.Exprs, expr.NewCol(fieldsIn(in), time))
		c.Fields = append(c.Fields, fieldsIn(in)[time])
		return &c, len(c.Exprs) - 1, true
	case *Expand:
		in, time, ok := withoutWindow(n.Inputs[0], tvf)
		if !ok {
			return nil, 0, false
		}
		x := *n
		x.Inputs, x.Fields, x.Rows = []Node{in}, slices.Clone(n.Fields), slices.Clone(n.Rows)
		k := len(fieldsIn(n.Inputs[0]))
		kept := func(row []expr.Expr) bool { _, ok := row[time].(*expr.Col); return ok }
		if time < k && !slices.ContainsFunc(x.Rows, func(r []expr.Expr) bool { return !kept(r) }) {
			x.Fields[time].Type = fieldsIn(in)[time].Type
			return &x, time, true
		}
		for i := range x.Rows {
			x.Rows[i] = append(slices.Clone(x.Rows[i]), expr.NewCol(fieldsIn(in), time))
		}
		x.Fields = append(x.Fields, fieldsIn(in)[time])
		return &x, len(x.Fields) - 1, true
	}
	return nil, 0, false
}

// isHole reports whether a column is one of the nulls that withoutWindow has put in place of a window column.
func isHole(n Node, i int) bool {
	c, ok := n.(*Calc)
	if !ok || i >= len(c.Exprs) {
		return false
	}
	k, ok := c.Exprs[i].(*expr.Const)
	return ok && k.Value.Null && k.T.NotNull
}
