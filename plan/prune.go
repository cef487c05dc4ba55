package plan

import (
	"slices"

	"runnel/expr"
	"runnel/types"
)

// needs is a set of columns of a node that somebody above reads.
type needs []bool

func (s needs) add(cols ...int) {
	for _, c := range cols {
		if c >= 0 {
			s[c] = true
		}
	}
}

func (s needs) read(es ...expr.Expr) {
	for _, e := range es {
		if e != nil {
			s.add(expr.Refs(e)...)
		}
	}
}

func noNeeds(n Node) needs { return make(needs, len(fieldsIn(n))) }

func allNeeds(n Node) needs {
	s := noNeeds(n)
	for i := range s {
		s[i] = true
	}
	return s
}

// moves says where the columns of a node have gone: the new index of each, -1 for those that are gone.
type moves []int

func (m moves) at(i int) int { return m[i] }

func (m moves) all(cols []int) []int {
	out := make([]int, len(cols))
	for i, c := range cols {
		out[i] = m[c]
	}
	return out
}

func (m moves) expr(e expr.Expr) expr.Expr {
	if e == nil {
		return nil
	}
	return expr.MapColumns(e, m.at)
}

func (m moves) keys(keys []SortKey) []SortKey {
	out := slices.Clone(keys)
	for i := range out {
		out[i].Column = m[out[i].Column]
	}
	return out
}

// kept gives the moves for columns that stay in order.
func kept(s needs) moves {
	m, n := make(moves, len(s)), 0
	for i, k := range s {
		m[i] = -1
		if k {
			m[i], n = n, n+1
		}
	}
	return m
}

func identity(n int) moves {
	m := make(moves, n)
	for i := range m {
		m[i] = i
	}
	return m
}

// keep filters a slice by needs.
func keep[T any](xs []T, s needs) []T {
	var out []T
	for i, x := range xs {
		if s[i] {
			out = append(out, x)
		}
	}
	return out
}

// one makes sure that a node keeps at least one column: rows without any do not exist.
func (s needs) one() {
	if len(s) > 0 && !slices.Contains(s, true) {
		s[0] = true
	}
}

// prune drops the columns of n that are not needed, there and below. A node may keep more than is needed.
func prune(n Node, need needs) (Node, moves) {
	in := n.Base().Inputs
	switch n := n.(type) {
	case *Scan:
		return pruneScan(n, need)
	case *Values:
		need.one()
		for i := range n.Rows {
			n.Rows[i] = keep(n.Rows[i], need)
		}
		n.Fields = keep(n.Fields, need)
		return n, kept(need)
	case *Match: // as in Flink all columns stay
		below, _ := prune(in[0], allNeeds(in[0]))
		in[0] = below
		return n, identity(len(n.Fields))
	case *Calc:
		need.one()
		n.Exprs, n.Fields = keep(n.Exprs, need), keep(n.Fields, need)
		below := noNeeds(in[0])
		below.read(append(slices.Clone(n.Exprs), n.Cond)...)
		m := below.into(n, 0)
		for i := range n.Exprs {
			n.Exprs[i] = m.expr(n.Exprs[i])
		}
		n.Cond = m.expr(n.Cond)
		return n, kept(need)
	case *WatermarkAssigner:
		need.add(n.Mark.Column)
		need.read(n.Mark.Expr)
		m := need.into(n, 0)
		n.Fields = carried(n.Fields, fieldsIn(in[0]), m)
		w := *n.Mark
		w.Column, w.Expr = m[w.Column], m.expr(w.Expr)
		n.Mark = &w
		return n, m
	case *ChangelogNormalize:
		need.add(n.Keys...)
		m := need.into(n, 0)
		n.Fields, n.Keys = carried(n.Fields, fieldsIn(in[0]), m), m.all(n.Keys)
		return n, m
	case *Union:
		need.one()
		for i := range in {
			n.Inputs[i] = exactly(in[i], need)
		}
		n.Fields = keep(n.Fields, need)
		return n, kept(need)
	case *Expand:
		return pruneExpand(n, need)
	case *GroupAggregate:
		return pruneGroup(n, need)
	case *WindowAggregate:
		return pruneWindow(n, need)
	case *WindowTableFunction:
		return pruneAssigner(n, need)
	case *Sort:
		m := pruneSorted(n, need, n.Keys)
		n.Keys = m.keys(n.Keys)
		return n, m
	case *TemporalSort:
		m := pruneSorted(n, need, n.Keys)
		n.Keys = m.keys(n.Keys)
		return n, m
	case *SortLimit:
		m := pruneSorted(n, need, n.Keys)
		n.Keys = m.keys(n.Keys)
		return n, m
	case *Limit:
		return n, pruneSorted(n, need, nil)
	case *Sink, *Collect:
		n.Base().Inputs[0] = exactly(in[0], allNeeds(in[0]))
		return n, identity(len(fieldsIn(n)))
	}
	return pruneJoin(n, need)
}

// pruneAssigner prunes a window table function: its three columns stay.
func pruneAssigner(n *WindowTableFunction, need needs) (Node, moves) {
	below := slices.Clone(need[:len(need)-3])
	below.add(n.Window.Column)
	below.add(n.Window.Partition...)
	m := below.into(n, 0)
	in := fieldsIn(n.Inputs[0])
	w := len(in)
	m = append(m, w, w+1, w+2)
	n.Fields = carried(n.Fields, append(slices.Clone(in), n.Fields[len(n.Fields)-3:]...), m)
	n.Window.Column, n.Window.Partition = m[n.Window.Column], m.all(n.Window.Partition)
	return n, m
}

// into prunes input i of n.
func (s needs) into(n Node, i int) moves {
	m, moved := prune(n.Base().Inputs[i], s)
	n.Base().Inputs[i] = m
	return moved
}

// carried gives the fields of a node whose columns are those of its input, after the input's have moved.
func carried(old, in []types.Field, m moves) []types.Field {
	out := slices.Clone(in)
	for i, f := range old {
		if m[i] >= 0 {
			out[m[i]] = f
		}
	}
	return out
}

// exactly prunes a node to just the needed columns, in order.
func exactly(n Node, need needs) Node {
	want := slices.Clone(need) // prune may need more, which is no matter of the caller's
	n, m := prune(n, slices.Clone(need))
	f := fieldsIn(n)
	var exprs []expr.Expr
	var names []string
	same := true
	for i, w := range want {
		if w {
			same = same && m[i] == len(exprs)
			exprs, names = append(exprs, expr.NewCol(f, m[i])), append(names, f[m[i]].Name)
		}
	}
	if len(exprs) == 0 {
		exprs, names = append(exprs, expr.NewCol(f, 0)), append(names, f[0].Name)
	}
	if same && len(exprs) == len(f) {
		return n
	}
	return mergeCalcs(newCalc(n, exprs, names, nil))
}

// narrowed is exactly for a caller that can live with moved columns: it gives them.
func narrowed(n Node, need needs) (Node, moves) {
	want := slices.Clone(need)
	want.one()
	return exactly(n, slices.Clone(want)), kept(want)
}

func pruneScan(n *Scan, need needs) (Node, moves) {
	if n.Mark != nil {
		need.add(n.Mark.Column)
		need.read(n.Mark.Expr)
	}
	need.one()
	m := kept(need)
	n.Columns, n.Fields = keep(n.Columns, need), keep(n.Fields, need)
	if n.Mark != nil {
		w := *n.Mark
		if w.Column >= 0 {
			w.Column = m[w.Column]
		}
		w.Expr = m.expr(w.Expr)
		n.Mark = &w
	}
	return n, m
}

func pruneExpand(n *Expand, need needs) (Node, moves) {
	need.one()
	below := noNeeds(n.Inputs[0])
	for i := range n.Rows {
		n.Rows[i] = keep(n.Rows[i], need)
		below.read(n.Rows[i]...)
	}
	n.Fields = keep(n.Fields, need)
	m := below.into(n, 0)
	for i := range n.Rows {
		n.Rows[i] = slices.Clone(n.Rows[i])
		for k := range n.Rows[i] {
			n.Rows[i][k] = m.expr(n.Rows[i][k])
		}
	}
	return n, kept(need)
}

// readAggs adds what aggregates read.
func (s needs) readAggs(keys []int, aggs []expr.AggCall) {
	s.add(keys...)
	for _, a := range aggs {
		s.add(a.Args...)
		s.add(a.Filter)
	}
}

func (m moves) aggs(aggs []expr.AggCall) []expr.AggCall {
	out := slices.Clone(aggs)
	for i := range out {
		out[i].Args = m.all(out[i].Args)
		if out[i].Filter >= 0 {
			out[i].Filter = m[out[i].Filter]
		}
	}
	return out
}

func pruneGroup(n *GroupAggregate, need needs) (Node, moves) {
	for i := range n.Keys {
		need[i] = true
	}
	n.Aggs = keep(n.Aggs, need[len(n.Keys):])
	n.Fields = keep(n.Fields, need)
	below := noNeeds(n.Inputs[0])
	below.readAggs(n.Keys, n.Aggs)
	m := below.into(n, 0)
	n.Keys, n.Aggs = m.all(n.Keys), m.aggs(n.Aggs)
	return n, kept(need)
}

func pruneWindow(n *WindowAggregate, need needs) (Node, moves) {
	nk, na := len(n.Keys), len(n.Aggs)
	for i := range n.Keys {
		need[i] = true
	}
	need.one()
	n.Fields = keep(n.Fields, need)
	n.Aggs, n.Props = keep(n.Aggs, need[nk:nk+na]), keep(n.Props, need[nk+na:])
	below := noNeeds(n.Inputs[0])
	below.readAggs(n.Keys, n.Aggs)
	if n.Attached {
		below.add(n.StartCol, n.EndCol)
		n.Window.Partition = nil // of the table function below
	} else {
		below.add(n.Window.Column)
	}
	m := below.into(n, 0)
	n.Keys, n.Aggs, n.Window.Partition = m.all(n.Keys), m.aggs(n.Aggs), m.all(n.Window.Partition)
	if n.Attached {
		n.StartCol, n.EndCol = m[n.StartCol], m[n.EndCol]
	} else {
		n.Window.Column = m[n.Window.Column]
	}
	return n, kept(need)
}

func pruneGroupWindow(n *GroupWindowAggregate, need needs) (Node, moves) {
	nk, na := len(n.Keys), len(n.Aggs)
	for i := range n.Keys {
		need[i] = true
	}
	need.one()
	n.Fields = keep(n.Fields, need)
	n.Aggs, n.Props = keep(n.Aggs, need[nk:nk+na]), keep(n.Props, need[nk+na:])
	below := noNeeds(n.Inputs[0])
	below.readAggs(n.Keys, n.Aggs)
	below.add(n.Window.Column)
	m := below.into(n, 0)
	n.Keys, n.Aggs, n.Window.Column = m.all(n.Keys), m.aggs(n.Aggs), m[n.Window.Column]
	return n, kept(need)
}

// pruneSorted prunes a node that passes its input's columns on.
func pruneSorted(n Node, need needs, keys []SortKey) moves {
	for _, k := range keys {
		need.add(k.Column)
	}
	m := need.into(n, 0)
	b := n.Base()
	b.Fields = carried(b.Fields, fieldsIn(b.Inputs[0]), m)
	return m
}

// pruneJoin prunes joins, and leaves the rest to pruneRanks.
func pruneJoin(n Node, need needs) (Node, moves) {
	switch n := n.(type) {
	case *Join:
		need.readJoin(n, n.Cond, n.LeftKeys, n.RightKeys)
		lm, rm, all := need.intoJoin(n)
		n.LeftKeys, n.RightKeys, n.Cond = lm.all(n.LeftKeys), rm.all(n.RightKeys), joinMoves(n, lm, rm).expr(n.Cond)
		return n, all
	case *IntervalJoin:
		need.readJoin(n, n.Cond, append(slices.Clone(n.LeftKeys), n.LeftTime), append(slices.Clone(n.RightKeys), n.RightTime))
		lm, rm, all := need.intoJoin(n)
		n.LeftKeys, n.RightKeys, n.Cond = lm.all(n.LeftKeys), rm.all(n.RightKeys), joinMoves(n, lm, rm).expr(n.Cond)
		n.LeftTime, n.RightTime = lm[n.LeftTime], rm[n.RightTime]
		return n, all
	case *TemporalJoin:
		need.readJoin(n, n.Cond, append(slices.Clone(n.LeftKeys), n.LeftTime), append(slices.Clone(n.RightKeys), n.RightTime))
		lm, rm, all := need.intoJoin(n)
		n.LeftKeys, n.RightKeys, n.Cond = lm.all(n.LeftKeys), rm.all(n.RightKeys), joinMoves(n, lm, rm).expr(n.Cond)
		n.LeftTime, n.RightTime = lm[n.LeftTime], rm[n.RightTime]
		return n, all
	case *WindowJoin:
		need.readJoin(n, n.Cond, append(slices.Clone(n.LeftKeys), n.LeftStart, n.LeftEnd), append(slices.Clone(n.RightKeys), n.RightStart, n.RightEnd))
		lm, rm, all := need.intoJoin(n)
		n.LeftKeys, n.RightKeys, n.Cond = lm.all(n.LeftKeys), rm.all(n.RightKeys), joinMoves(n, lm, rm).expr(n.Cond)
		n.LeftStart, n.LeftEnd, n.RightStart, n.RightEnd = lm[n.LeftStart], lm[n.LeftEnd], rm[n.RightStart], rm[n.RightEnd]
		return n, all
	case *LookupJoin:
		return pruneLookup(n, need)
	}
	return pruneRanks(n, need)
}

// pruneRanks prunes what keeps its input's columns and may put some behind them.
func pruneRanks(n Node, need needs) (Node, moves) {
	if g, ok := n.(*GroupWindowAggregate); ok {
		return pruneGroupWindow(g, need)
	}
	b := n.Base()
	k := len(fieldsIn(b.Inputs[0]))
	below := slices.Clone(need[:k])
	switch n := n.(type) {
	case *Rank:
		below.add(n.Keys...)
		below.add(sortColumns(n.Order)...)
		below.add(n.ToColumn)
		m := below.into(n, 0)
		n.Keys, n.Order = m.all(n.Keys), m.keys(n.Order)
		if n.ToColumn >= 0 {
			n.ToColumn = m[n.ToColumn]
		}
		n.Number = n.Number && need[k]
		return n, behind(b, m, need[k:])
	case *WindowRank:
		below.add(n.Keys...)
		below.add(sortColumns(n.Order)...)
		below.add(n.StartCol, n.EndCol)
		m := below.into(n, 0)
		n.Keys, n.Order, n.StartCol, n.EndCol = m.all(n.Keys), m.keys(n.Order), m[n.StartCol], m[n.EndCol]
		n.Number = n.Number && need[k]
		return n, behind(b, m, need[k:])
	case *Deduplicate:
		below.add(n.Keys...)
		below.add(n.Time)
		m := below.into(n, 0)
		n.Keys, n.Time = m.all(n.Keys), m[n.Time]
		return n, behind(b, m, nil)
	case *WindowDeduplicate:
		below.add(n.Keys...)
		below.add(n.Time, n.StartCol, n.EndCol)
		m := below.into(n, 0)
		n.Keys, n.Time, n.StartCol, n.EndCol = m.all(n.Keys), m[n.Time], m[n.StartCol], m[n.EndCol]
		return n, behind(b, m, nil)
	case *Correlate:
		below.read(n.Args...)
		if n.Cond != nil {
			below.add(slices.DeleteFunc(expr.Refs(n.Cond), func(i int) bool { return i >= k })...)
		}
		m := below.into(n, 0)
		for i := range n.Args {
			n.Args[i] = m.expr(n.Args[i])
		}
		all := make(needs, len(need)-k)
		for i := range all {
			all[i] = true
		}
		m = behind(b, m, all)
		n.Cond = m.expr(n.Cond)
		return n, m
	case *OverAggregate:
		if n.Aggs = keep(n.Aggs, need[k:]); len(n.Aggs) == 0 { // nobody reads what it adds
			in, m := prune(b.Inputs[0], below)
			for range need[k:] {
				m = append(m, -1)
			}
			return in, m
		}
		below.readAggs(n.Keys, n.Aggs)
		below.add(sortColumns(n.Order)...)
		m := below.into(n, 0)
		n.Keys, n.Order, n.Aggs = m.all(n.Keys), m.keys(n.Order), m.aggs(n.Aggs)
		return n, behind(b, m, need[k:])
	}
	panic("plan: a node that prune does not know")
}

// behind gives the fields and moves of a node that puts columns behind those of its input; extra says which of them stay.
func behind(b *Info, m moves, extra needs) moves {
	old := b.Fields
	in := fieldsIn(b.Inputs[0])
	k := len(old) - len(extra)
	b.Fields = carried(old[:k], in, m)
	m = slices.Clone(m)
	for i, keep := range extra {
		if !keep {
			m = append(m, -1)
			continue
		}
		m = append(m, len(b.Fields))
		b.Fields = append(b.Fields, old[k+i])
	}
	return m
}

func pruneLookup(n *LookupJoin, need needs) (Node, moves) {
	k := len(fieldsIn(n.Inputs[0]))
	need.read(n.Cond)
	below := slices.Clone(need[:k])
	for _, l := range n.LeftKeys {
		if l >= 0 {
			below.add(l)
		}
	}
	extra := need[k:]
	extra.one()
	n.Columns = keep(n.Columns, extra)
	m := below.into(n, 0)
	n.LeftKeys = slices.Clone(n.LeftKeys)
	for i, l := range n.LeftKeys {
		if l >= 0 {
			n.LeftKeys[i] = m[l]
		}
	}
	m = behind(n.Base(), m, extra)
	n.Cond = m.expr(n.Cond)
	return n, m
}

// readJoin adds what a join reads. Columns of need are those of the join's result, which for a semi join are the left ones.
func (s *needs) readJoin(n Node, cond expr.Expr, left, right []int) {
	in := n.Base().Inputs
	nl, nr := len(fieldsIn(in[0])), len(fieldsIn(in[1]))
	for len(*s) < nl+nr {
		*s = append(*s, false)
	}
	s.read(cond)
	s.add(left...)
	for _, k := range right {
		(*s)[nl+k] = true
	}
}

// intoJoin prunes both inputs of a join; all are the moves of the join's own columns.
func (s needs) intoJoin(n Node) (left, right, all moves) {
	b := n.Base()
	nl := len(fieldsIn(b.Inputs[0]))
	out := len(b.Fields)
	old := b.Fields
	b.Inputs[0], left = narrowed(b.Inputs[0], s[:nl:nl])
	b.Inputs[1], right = narrowed(b.Inputs[1], s[nl:])
	var fields []types.Field
	all = make(moves, out)
	for i := range all {
		all[i] = -1
		switch {
		case i < nl && left[i] >= 0, i >= nl && right[i-nl] >= 0:
			all[i] = len(fields)
			fields = append(fields, old[i])
		}
	}
	b.Fields = fields
	return left, right, all
}

// joinMoves are the moves of left columns followed by right ones.
func joinMoves(n Node, left, right moves) moves {
	nl := len(fieldsIn(n.Base().Inputs[0]))
	m := slices.Clone(left)
	for _, r := range right {
		if r >= 0 {
			r += nl
		}
		m = append(m, r)
	}
	return m
}
