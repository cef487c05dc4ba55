package plan

import (
	"slices"

	"runnel/expr"
	"runnel/types"
)

// recognizeJoin finds out what kind of join a condition asks for, and takes its equalities apart.
func (p *planning) recognizeJoin(j *Join) (Node, error) {
	if j.LeftKeys != nil {
		return j, nil
	}
	if err := p.equalities(j); err != nil {
		return nil, err
	}
	if j.temporal != nil {
		return p.temporalJoin(j)
	}
	if !p.batch {
		if w, err := p.windowJoin(j); w != nil || err != nil {
			return w, err
		}
		ij, err := p.intervalJoin(j)
		if err != nil {
			return nil, err
		}
		if ij != nil {
			return unhidden(ij, j.hidden), nil
		}
	}
	return p.regularJoin(j)
}

// equalities splits a join's condition into keys and the rest. A key that is no plain column becomes one in a Calc below.
func (p *planning) equalities(j *Join) error {
	nl := len(fieldsIn(j.Inputs[0]))
	var rest []expr.Expr
	left, right := &inputColumns{in: j.Inputs[0]}, &inputColumns{in: j.Inputs[1]}
	for _, c := range expr.Conjuncts(j.Cond) {
		l, r, safe, ok := equality(c, nl)
		if !ok {
			rest = append(rest, c)
			continue
		}
		lk, rk := left.column(l), right.column(r)
		if i := keyPair(j.LeftKeys, j.RightKeys, lk, rk); i >= 0 {
			j.NullSafe[i] = j.NullSafe[i] && safe
			continue
		}
		j.LeftKeys, j.RightKeys, j.NullSafe = append(j.LeftKeys, lk), append(j.RightKeys, rk), append(j.NullSafe, safe)
	}
	j.Cond = expr.NewAnd(rest...)
	if j.LeftKeys == nil {
		j.LeftKeys, j.RightKeys = []int{}, []int{}
	}
	if !slices.Contains(j.NullSafe, true) {
		j.NullSafe = nil
	}
	j.widen(left, right)
	return nil
}

// keyPair finds a pair of key columns, -1 if it is none.
func keyPair(left, right []int, l, r int) int {
	for i := range left {
		if left[i] == l && right[i] == r {
			return i
		}
	}
	return -1
}

// equality takes a condition left = right apart; right is over the right input's columns.
func equality(c expr.Expr, nl int) (left, right expr.Expr, nullSafe, ok bool) {
	call, isCall := c.(*expr.Call)
	if !isCall || len(call.Args) != 2 || call.Func.Name != "=" && call.Func.Name != "IS NOT DISTINCT FROM" {
		return nil, nil, false, false
	}
	a, b := call.Args[0], call.Args[1]
	if sideOf(a, nl) == rightSide && sideOf(b, nl) == leftSide {
		a, b = b, a
	}
	if sideOf(a, nl) != leftSide || sideOf(b, nl) != rightSide || !a.Type().Optional().SameIgnoringNull(b.Type().Optional()) && !sameKey(a.Type(), b.Type()) {
		return nil, nil, false, false
	}
	if !expr.Deterministic(a) || !expr.Deterministic(b) {
		return nil, nil, false, false
	}
	return a, expr.MapColumns(b, func(i int) int { return i - nl }), call.Func.Name != "=", true
}

// sameKey reports whether equal values of the two types have equal bytes as keys.
func sameKey(t, u types.Type) bool {
	return t.Kind == types.Varchar && u.Kind == types.Varchar || t.Kind == types.Varbinary && u.Kind == types.Varbinary ||
		t.IsString() && u.IsString()
}

// inputColumns finds columns of a join's input for expressions, computing them in a Calc on top of it where they are none.
type inputColumns struct {
	in    Node
	extra []expr.Expr
}

func (c *inputColumns) column(e expr.Expr) int {
	if col, ok := e.(*expr.Col); ok {
		return col.Index
	}
	n := len(fieldsIn(c.in))
	for i, x := range c.extra {
		if expr.Equal(x, e) {
			return n + i
		}
	}
	c.extra = append(c.extra, e)
	return n + len(c.extra) - 1
}

// node is the input with the computed columns behind its own.
func (c *inputColumns) node() Node {
	if len(c.extra) == 0 {
		return c.in
	}
	f := fieldsIn(c.in)
	names := fieldNames(f)
	for i := range c.extra {
		names = append(names, "$f"+itoa(len(f)+i))
	}
	return newCalc(c.in, append(columnExprs(f), c.extra...), names, nil)
}

// widen puts computed key columns under the join and a Calc on top of it that hides them again. The Calc is made by
// giving the join's own columns new places, so the join stays the node that it is.
func (j *Join) widen(left, right *inputColumns) {
	if len(left.extra)+len(right.extra) == 0 {
		return
	}
	nl := len(fieldsIn(j.Inputs[0]))
	j.Inputs[0], j.Inputs[1] = left.node(), right.node()
	by := len(left.extra)
	if j.Cond != nil {
		j.Cond = expr.MapColumns(j.Cond, func(i int) int {
			if i >= nl {
				return i + by
			}
			return i
		})
	}
	j.hidden = [3]int{nl, by, 0}
	if j.Join != Semi && j.Join != Anti {
		j.hidden[2] = len(right.extra)
	}
	j.Fields = joinFields(j.Join, fieldsIn(j.Inputs[0]), fieldsIn(j.Inputs[1]))
}

// unhidden gives the columns that a join had before widen.
func unhidden(n Node, hidden [3]int) Node {
	nl, by, back := hidden[0], hidden[1], hidden[2]
	if by+back == 0 {
		return n
	}
	f := fieldsIn(n)
	var exprs []expr.Expr
	var names []string
	for i := range f {
		if i >= nl && i < nl+by || i >= len(f)-back {
			continue
		}
		exprs, names = append(exprs, expr.NewCol(f, i)), append(names, f[i].Name)
	}
	return newCalc(n, exprs, names, nil)
}

// regularJoin settles a join that keeps its rows for ever: its inputs lose their time attributes.
func (p *planning) regularJoin(j *Join) (Node, error) {
	for i := range j.Fields {
		j.Fields[i].Type = j.Fields[i].Type.Plain()
	}
	return unhidden(j, j.hidden), nil
}

// joinSpecs finds the keys of a join's inputs by which it keeps their rows.
func (j *Join) joinSpecs(keys *keyTable) {
	j.LeftKey, j.LeftUnique = inputKey(keys.within(j.Inputs[0]), j.LeftKeys)
	j.RightKey, j.RightUnique = inputKey(keys.within(j.Inputs[1]), j.RightKeys)
}

// inputKey chooses a unique key of an input: one that the join's key contains, else the shortest.
func inputKey(keys [][]int, join []int) (key []int, within bool) {
	for _, k := range keys {
		if subset(k, join) {
			return k, true
		}
		if key == nil || len(k) < len(key) {
			key = k
		}
	}
	return key, false
}

// windowJoin recognises a join of rows of the same window: both sides have windows of one kind, and their starts and ends
// are among the keys.
func (p *planning) windowJoin(j *Join) (Node, error) {
	l, r := propsOf(j.Inputs[0]), propsOf(j.Inputs[1])
	if l == nil || r == nil || l.start < 0 || l.end < 0 || r.start < 0 || r.end < 0 || !sameWindows(l.window, r.window) {
		return nil, nil
	}
	pair := func(lc, rc int) int {
		for i := range j.LeftKeys {
			if j.LeftKeys[i] == lc && j.RightKeys[i] == rc {
				return i
			}
		}
		return -1
	}
	start, end := pair(l.start, r.start), pair(l.end, r.end)
	if start < 0 || end < 0 {
		return nil, nil
	}
	if !l.window.Rowtime {
		return nil, refuseAt(j, "Processing time Window Join is not supported yet.")
	}
	w := &WindowJoin{Info: j.Info, Join: j.Join, Window: l.window, Cond: j.Cond, LeftStart: l.start, LeftEnd: l.end, RightStart: r.start, RightEnd: r.end}
	w.Kind = "WindowJoin"
	for i := range j.LeftKeys {
		if i != start && i != end {
			w.LeftKeys, w.RightKeys = append(w.LeftKeys, j.LeftKeys[i]), append(w.RightKeys, j.RightKeys[i])
			if j.NullSafe != nil {
				w.NullSafe = append(w.NullSafe, j.NullSafe[i])
			}
		}
	}
	for i := range w.Fields {
		w.Fields[i].Type = w.Fields[i].Type.Plain()
	}
	return unhidden(w, j.hidden), nil
}

// sameWindows reports whether two windows are cut alike.
func sameWindows(a, b Window) bool {
	return a.Kind == b.Kind && a.Size == b.Size && a.Slide == b.Slide && a.Offset == b.Offset && a.Rowtime == b.Rowtime && a.Zoned == b.Zoned
}

// props are those of the left side.
func (w *WindowJoin) props() *windowProps {
	p := propsOf(w.Inputs[0])
	if p == nil || w.Join == Right || w.Join == Full {
		return nil
	}
	return &windowProps{window: w.Window, start: p.start, end: p.end, time: p.time}
}

// timeBound is a conjunct that compares the time attributes of the two sides: right time op left time + shift.
type timeBound struct {
	op    string
	shift int64
	left  int
	right int
}

// intervalJoin recognises a join whose condition bounds the difference of two time attributes on both sides (semantics.md
// 6.9). nil when it is none.
func (p *planning) intervalJoin(j *Join) (*IntervalJoin, error) {
	if j.Join == Semi || j.Join == Anti {
		return nil, nil
	}
	nl := len(fieldsIn(j.Inputs[0]))
	fields := append(slices.Clone(fieldsIn(j.Inputs[0])), fieldsIn(j.Inputs[1])...)
	lower, upper := int64(0), int64(0)
	hasLower, hasUpper := false, false
	var first *timeBound
	var rest []expr.Expr
	take := func(b *timeBound) bool {
		if first == nil {
			first = b
		}
		return first.left == b.left && first.right == b.right
	}
	for i := 0; i < len(j.LeftKeys); i++ { // an equality of times bounds both sides
		lk, rk := j.LeftKeys[i], j.RightKeys[i]
		b := &timeBound{left: lk, right: rk}
		if lk < nl && comparableTimes(fieldsIn(j.Inputs[0])[lk].Type, fieldsIn(j.Inputs[1])[rk].Type) && take(b) {
			hasLower, hasUpper = true, true
			j.timeKey = i + 1
		}
	}
	for _, c := range expr.Conjuncts(j.Cond) {
		b := timeBoundOf(c, fields, nl)
		if b == nil || !take(b) {
			rest = append(rest, c)
			continue
		}
		low, high := b.limits()
		if low != nil && (!hasLower || *low > lower) {
			lower, hasLower = *low, true
		}
		if high != nil && (!hasUpper || *high < upper) {
			upper, hasUpper = *high, true
		}
	}
	if !hasLower || !hasUpper {
		j.timeKey = 0
		return nil, p.mixedTimes(j, rest, fields, nl)
	}
	ij := &IntervalJoin{Info: j.Info, Join: j.Join, LeftTime: first.left, RightTime: first.right, Lower: lower, Upper: upper,
		Rowtime: fields[first.left].Type.Attr == types.Rowtime, Cond: expr.NewAnd(rest...),
		MinCleanup: p.Config.Duration("table.exec.interval-join.min-cleanup-interval")}
	ij.Kind = "IntervalJoin"
	for i := range j.LeftKeys {
		if i+1 == j.timeKey {
			continue
		}
		ij.LeftKeys, ij.RightKeys = append(ij.LeftKeys, j.LeftKeys[i]), append(ij.RightKeys, j.RightKeys[i])
		if j.NullSafe != nil {
			ij.NullSafe = append(ij.NullSafe, j.NullSafe[i])
		}
	}
	return ij, nil
}

// mixedTimes refuses bounds between two rowtime attributes of different types, which would make an interval join.
func (p *planning) mixedTimes(j *Join, conds []expr.Expr, fields []types.Field, nl int) error {
	for _, c := range conds {
		call, ok := c.(*expr.Call)
		if !ok || len(call.Args) != 2 || mirrored[call.Func.Name] == "" || call.Func.Name == "=" {
			continue
		}
		a, _, aok := shiftedTime(timeOperand(call.Args[0]), fields)
		b, _, bok := shiftedTime(timeOperand(call.Args[1]), fields)
		if !aok || !bok || (a < nl) == (b < nl) {
			continue
		}
		t, u := fields[a].Type, fields[b].Type
		if t.Attr == types.Rowtime && u.Attr == types.Rowtime && t.Kind != u.Kind {
			e := refuseAt(j, "Interval join with rowtime attribute requires same rowtime types, but the types are %s and %s.", attrName(t), attrName(u))
			e.Class = validation
			return e
		}
	}
	return nil
}

// timeOperand looks through the cast that makes two kinds of timestamps comparable.
func timeOperand(e expr.Expr) expr.Expr {
	if c, ok := e.(*expr.Cast); ok && c.Implicit {
		return c.Arg
	}
	return e
}

// comparableTimes reports whether both are time attributes of one kind.
func comparableTimes(t, u types.Type) bool {
	return t.IsTimeAttr() && t.Attr == u.Attr && t.Kind == u.Kind
}

// timeBoundOf reads a conjunct as a bound between time attributes of both sides, nil when it is none.
func timeBoundOf(c expr.Expr, fields []types.Field, nl int) *timeBound {
	call, ok := c.(*expr.Call)
	if !ok || len(call.Args) != 2 {
		return nil
	}
	op := call.Func.Name
	if _, known := mirrored[op]; !known {
		return nil
	}
	a, ashift, aok := shiftedTime(call.Args[0], fields)
	b, bshift, bok := shiftedTime(call.Args[1], fields)
	if !aok || !bok || (a < nl) == (b < nl) || !comparableTimes(fields[a].Type, fields[b].Type) {
		return nil
	}
	// a + ashift op b + bshift
	if a < nl { // left op right: turn it round
		a, b, ashift, bshift, op = b, a, bshift, ashift, mirrored[op]
	}
	return &timeBound{op: op, shift: bshift - ashift, left: b, right: a - nl}
}

var mirrored = map[string]string{"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}

// shiftedTime reads an expression as a time attribute plus or minus constant intervals.
func shiftedTime(e expr.Expr, fields []types.Field) (col int, shift int64, ok bool) {
	switch e := e.(type) {
	case *expr.Col:
		return e.Index, 0, fields[e.Index].Type.IsTimeAttr()
	case *expr.Cast: // to another precision or nullability
		if k := e.T.Kind; e.Try || k != e.Arg.Type().Kind || k != types.Timestamp && k != types.TimestampLTZ {
			return 0, 0, false
		}
		return shiftedTime(e.Arg, fields)
	case *expr.Call:
		if len(e.Args) != 2 || e.Func.Name != "+" && e.Func.Name != "-" {
			return 0, 0, false
		}
		x, y := e.Args[0], e.Args[1]
		if _, isConst := x.(*expr.Const); isConst && e.Func.Name == "+" {
			x, y = y, x
		}
		c, isConst := y.(*expr.Const)
		if !isConst || c.Value.Null || c.T.Kind != types.IntervalMillis {
			return 0, 0, false
		}
		col, shift, ok = shiftedTime(x, fields)
		if e.Func.Name == "-" {
			return col, shift - c.Value.I, ok
		}
		return col, shift + c.Value.I, ok
	}
	return 0, 0, false
}

// limits gives the bounds of right time - left time; a strict comparison is one millisecond narrower.
func (b *timeBound) limits() (low, high *int64) {
	at := func(d int64) *int64 { v := b.shift + d; return &v }
	switch b.op {
	case ">":
		return at(1), nil
	case ">=":
		return at(0), nil
	case "<":
		return nil, at(-1)
	case "<=":
		return nil, at(0)
	}
	return at(0), at(0)
}
