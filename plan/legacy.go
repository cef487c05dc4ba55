package plan

import (
	"slices"
	"strings"
	"time"

	"runnel/expr"
	"runnel/sql"
	"runnel/types"
)

// legacyWindow is a window in GROUP BY: TUMBLE(ts, size), HOP(ts, slide, size) or SESSION(ts, gap).
type legacyWindow struct {
	name   string
	window Window
	time   *expr.Col
	column int // of time, below the aggregate
	props  []WindowProp
}

func isLegacyWindow(c *sql.FuncCall) bool {
	switch callName(c) {
	case "TUMBLE", "HOP", "SESSION":
		return true
	}
	return false
}

// legacyKey binds the window of GROUP BY.
func (g *grouping) legacyKey(c *sql.FuncCall) error {
	if g.legacy != nil {
		return refuse(tableError, c, "Only a single window group function may be used in GROUP BY")
	}
	w, err := g.legacyWindow(c, callName(c))
	if err != nil {
		return err
	}
	t := w.time.T
	if t.Kind != types.Timestamp && t.Kind != types.TimestampLTZ {
		return refuse(nameError, c, "Cannot apply '$%s' to arguments of type '$%s(<%s>, <INTERVAL MINUTE>)'. Supported form(s): '$%s(<DATETIME>, <DATETIME_INTERVAL>)'",
			w.name, w.name, strings.ToUpper(t.Name()), w.name)
	}
	if !t.IsTimeAttr() && !g.b.p.batch {
		return refuse(tableError, c, "Window aggregate can only be defined over a time attribute column, but %s encountered.", t.Name())
	}
	w.window.Rowtime, w.window.Zoned = t.Attr != types.Proctime, t.Kind == types.TimestampLTZ
	g.legacy = w
	return nil
}

// legacyWindow reads the arguments of a group window or of one of its helper functions.
func (g *grouping) legacyWindow(c *sql.FuncCall, name string) (*legacyWindow, error) {
	want := map[string]int{"TUMBLE": 2, "HOP": 3, "SESSION": 2}[name]
	if len(c.Args) != want && len(c.Args) != want+1 {
		return nil, refuse(nameError, c, "Invalid number of arguments to function '%s'. Was expecting %d arguments", callName(c), want)
	}
	b := g.b.binder("GROUP BY clause")
	x, err := b.expr(c.Args[0])
	if err != nil {
		return nil, err
	}
	col, ok := x.(*expr.Col)
	if !ok {
		return nil, refuse(tableError, c.Args[0], "Window aggregate can only be defined over a time attribute column, but %s encountered.", x.Type().Name())
	}
	w := &legacyWindow{name: name, time: col}
	var sizes []int64
	for _, a := range c.Args[1:] {
		if k := kindOf(b, a); k == types.IntervalMonths {
			return nil, refuse(tableError, a, "Window aggregate only support SECOND, MINUTE, HOUR, DAY as the time unit. MONTH and YEAR time unit are not supported yet.")
		}
		n, err := g.b.p.constantMillis(a, "A group window")
		if err != nil {
			return nil, refuse(tableError, a, "Only constant window descriptors are supported.")
		}
		sizes = append(sizes, n)
	}
	switch name {
	case "TUMBLE":
		w.window = Window{Kind: Tumble, Size: sizes[0]}
	case "HOP":
		w.window = Window{Kind: Hop, Slide: sizes[0], Size: sizes[1]}
	case "SESSION":
		w.window = Window{Kind: Session, Size: sizes[0]}
	}
	if len(sizes) > want-1 {
		return nil, unsupported(c, "The offset of a group window is")
	}
	if w.window.Size <= 0 || name == "HOP" && w.window.Slide <= 0 {
		return nil, refuse(tableError, c, "%s must have positive sizes", name)
	}
	return w, nil
}

// kindOf gives the kind of an expression that may not bind.
func kindOf(b *binder, e sql.Expr) types.Kind {
	x, err := b.expr(e)
	if err != nil {
		return types.Null
	}
	return x.Type().Kind
}

var legacyProps = map[string]WindowProp{"_START": WindowStart, "_END": WindowEnd, "_ROWTIME": WindowTime, "_PROCTIME": WindowProctime}

// auxiliary binds the helper functions of group windows, and GROUPING; nil for any other call.
func (g *grouping) auxiliary(c *sql.FuncCall) (expr.Expr, error) {
	name := callName(c)
	if name == "GROUPING" || name == "GROUPING_ID" || name == "GROUP_ID" {
		return g.groupingID(c, name)
	}
	for suffix, prop := range legacyProps {
		base, ok := strings.CutSuffix(name, suffix)
		if !ok || base != "TUMBLE" && base != "HOP" && base != "SESSION" {
			continue
		}
		w, err := g.legacyWindow(c, base)
		if err != nil {
			return nil, err
		}
		if g.legacy == nil || g.legacy.name != base || !sameSizes(g.legacy.window, w.window) || g.legacy.time.Index != w.time.Index {
			return nil, refuse(nameError, c, "Call to auxiliary group function '%s' must have matching call to group function '$%s' in GROUP BY clause", name, base)
		}
		return g.legacy.prop(prop), nil
	}
	return nil, nil
}

func sameSizes(a, b Window) bool { return a.Kind == b.Kind && a.Size == b.Size && a.Slide == b.Slide }

// prop gives the column that stands for a property of the window.
func (w *legacyWindow) prop(p WindowProp) expr.Expr {
	i := slices.Index(w.props, p)
	if i < 0 {
		i = len(w.props)
		w.props = append(w.props, p)
	}
	return &expr.Col{Index: propBase + i, Name: propNames[p], T: w.propType(p)}
}

var propNames = [...]string{WindowStart: "w$start", WindowEnd: "w$end", WindowTime: "w$rowtime", WindowProctime: "w$proctime"}

func (w *legacyWindow) propType(p WindowProp) types.Type {
	switch p {
	case WindowTime:
		t := w.time.T.Plain().Optional()
		t.Precision = 3
		if w.window.Rowtime {
			t.Attr = types.Rowtime
		}
		return t
	case WindowProctime:
		t := types.TimestampLTZOf(3).Required()
		t.Attr = types.Proctime
		return t
	}
	return types.TimestampOf(3).Required()
}

// legacyAggregate aggregates per group window.
func (g *grouping) legacyAggregate(in *Calc, keys []int, calls []expr.AggCall) (Node, func(expr.Expr) expr.Expr, error) {
	w := g.legacy
	a := &GroupWindowAggregate{Window: w.window, Keys: keys, Aggs: calls, Props: w.props}
	a.Kind, a.Inputs, a.Base().Pos = "GroupWindowAggregate", []Node{in}, pos(g.b.stmt)
	a.Window.Column = w.column
	if g.sets != nil {
		return nil, nil, unsupported(g.b.stmt, "GROUPING SETS with a group window are")
	}
	if err := g.b.p.emit(a, g.b.stmt); err != nil {
		return nil, nil, err
	}
	for _, k := range keys {
		f := in.Fields[k]
		f.Type = f.Type.Plain()
		a.Fields = append(a.Fields, f)
	}
	for _, c := range calls {
		a.Fields = append(a.Fields, types.Field{Name: c.Name, Type: c.T})
	}
	for _, p := range w.props {
		a.Fields = append(a.Fields, types.Field{Name: propNames[p], Type: w.propType(p)})
	}
	nk, na := len(keys), len(calls)
	return a, func(e expr.Expr) expr.Expr {
		return renumber(e, a.Fields, func(i int) int {
			switch {
			case i >= propBase:
				return nk + na + i - propBase
			case i >= aggBase:
				return nk + i - aggBase
			}
			return i
		})
	}, nil
}

// emit reads the options of early and late results.
func (p *planning) emit(a *GroupWindowAggregate, at sql.Node) error {
	if p.batch {
		return nil
	}
	fire := func(which, word string) (*time.Duration, error) {
		key := "table.exec.emit." + which + "-fire."
		if !p.Config.Bool(key + "enabled") {
			return nil, nil
		}
		if _, ok := p.Config.Lookup(key + "delay"); !ok {
			return nil, refuse(tableError, at, "%s-fire delay should not be null or negative value whenenable %s-fire emit strategy.", word, which).
				Cure("SET '%sdelay' = '10 s';", key)
		}
		d := p.Config.Duration(key + "delay")
		return &d, nil
	}
	var err error
	if a.Early, err = fire("early", "Early"); err != nil {
		return err
	}
	if a.Late, err = fire("late", "Late"); err != nil {
		return err
	}
	if (a.Early != nil || a.Late != nil) && a.Window.Kind == Session {
		return refuse(tableError, at, "Session window doesn't support EMIT strategy currently.")
	}
	if a.Late != nil {
		a.Lateness = p.Config.Duration("table.exec.emit.allow-lateness")
		if _, ok := p.Config.Lookup("table.exec.emit.allow-lateness"); !ok {
			a.Lateness = p.Config.Duration("table.exec.state.ttl")
		}
		if a.Lateness <= 0 {
			return refuse(tableError, at, "The 'AFTER WATERMARK' emit strategy requires set 'allow-lateness' or 'minIdleStateRetentionTime' in table config.").
				Cure("SET 'table.exec.emit.allow-lateness' = '1 h';")
		}
		if a.Lateness < *a.Late {
			return refuse(tableError, at, "Allow-lateness [%dms] should not be smaller than Late-fire delay [%dms] when enable late-fire emit strategy.",
				a.Lateness.Milliseconds(), a.Late.Milliseconds()).Cure("SET 'table.exec.emit.allow-lateness' = '%s';", *a.Late)
		}
	}
	return nil
}

// groupingID binds GROUPING(a, ..), a bit for each argument that the row's grouping set leaves out, and GROUP_ID(), which
// counts equal grouping sets. Without grouping sets both are 0.
func (g *grouping) groupingID(c *sql.FuncCall, name string) (expr.Expr, error) {
	zero := expr.NewConst(types.IntDatum(0), types.Of(types.BigInt))
	if name != "GROUP_ID" && len(c.Args) == 0 {
		return nil, refuse(nameError, c, "Invalid number of arguments to function '%s'", name)
	}
	b := g.b.binder("")
	var bits []int
	for _, a := range c.Args {
		x, err := b.expr(a)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(g.keys, func(k expr.Expr) bool { return expr.Equal(k, x) })
		if i < 0 {
			return nil, refuse(nameError, a, "Argument to operator '%s' must be a grouped expression", name)
		}
		bits = append(bits, i)
	}
	if g.sets == nil || name == "GROUP_ID" && !equalSets(len(g.keys), g.sets) {
		return zero, nil
	}
	// One CASE branch per set.
	set := &expr.Col{Index: setColumn, Name: "$e", T: types.Of(types.BigInt).Required()}
	var whens []expr.When
	for i, id := range setNumbers(len(g.keys), g.sets) {
		value := id >> len(g.keys)
		if name != "GROUP_ID" {
			value = 0
		}
		for _, k := range bits {
			value <<= 1
			if !slices.Contains(g.sets[i], k) {
				value |= 1
			}
		}
		eq, err := newCall(c, "=", set, expr.NewConst(types.IntDatum(id), types.Of(types.BigInt)))
		if err != nil {
			return nil, err
		}
		whens = append(whens, expr.When{Cond: eq, Then: expr.NewConst(types.IntDatum(value), types.Of(types.BigInt))})
	}
	last := whens[len(whens)-1].Then
	if len(whens) == 1 {
		return last, nil
	}
	x, err := expr.NewCase(whens[:len(whens)-1], last, pos(c))
	if err != nil {
		return nil, typeError(err, c)
	}
	return x, nil
}
