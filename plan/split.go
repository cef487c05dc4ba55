package plan

import (
	"slices"

	"runnel/expr"
	"runnel/types"
)

// finalCall says how the results of a call over parts of a group become that of the whole group. Calls that are not here
// are not split: AVG would round and wrap otherwise, and those that go by the order of rows would lose it.
var finalCall = map[string]string{"COUNT": "$SUM0", "SUM": "SUM", "$SUM0": "$SUM0", "MIN": "MIN", "MAX": "MAX"}

// splitDistinct cuts an aggregation with DISTINCT in two (table.optimizer.distinct-agg.split.enabled): one by the keys and a
// bucket of the DISTINCT values, so that a key with many rows is spread, and one that adds up the buckets.
func (p *planning) splitDistinct(n Node) Node {
	a, ok := n.(*GroupAggregate)
	if !ok || !slices.ContainsFunc(a.Aggs, func(c expr.AggCall) bool { return c.Distinct }) ||
		slices.ContainsFunc(a.Aggs, func(c expr.AggCall) bool { return finalCall[c.Func.Name] == "" }) {
		return n
	}
	s := splitting{agg: a}
	if !s.buckets(int64(p.Config.Int("table.optimizer.distinct-agg.split.bucket-num"))) {
		return n
	}
	if split := s.final(s.partial()); !s.failed {
		return split
	}
	return n
}

// splitting is an aggregation that is cut in two.
type splitting struct {
	agg    *GroupAggregate
	in     *Calc
	full   []int   // the columns that the first aggregation groups by
	sets   [][]int // the different ones of them that calls need
	set    []int   // by call: which of sets
	spread []bool  // by set: a call that is split needs it
	failed bool
}

// buckets puts the buckets of the arguments behind the input's columns; false: there are none, or the aggregation must not be
// cut.
func (s *splitting) buckets(n int64) bool {
	f := fieldsIn(s.agg.Inputs[0])
	var cols []int
	for i := range s.agg.Aggs {
		if c := &s.agg.Aggs[i]; bucketed(c) {
			cols = union(cols, slices.DeleteFunc(slices.Clone(c.Args), func(a int) bool { return slices.Contains(s.agg.Keys, a) }))
		}
	}
	if len(cols) == 0 {
		return false
	}
	slices.Sort(cols)
	exprs, names, bucket := columnExprs(f), fieldNames(f), map[int]int{}
	for _, c := range cols {
		bucket[c] = len(exprs)
		hash := s.call("HASH_CODE", expr.NewCol(f, c))
		names = append(names, "$f"+itoa(len(exprs)))
		exprs = append(exprs, s.call("MOD", hash, expr.NewConst(types.IntDatum(n), types.Of(types.Int).Required())))
	}
	s.in = newCalc(s.agg.Inputs[0], exprs, names, nil)
	s.in.Pos = s.agg.Pos
	s.full = slices.Clone(s.agg.Keys)
	for i := range s.agg.Aggs {
		c, set := &s.agg.Aggs[i], slices.Clone(s.agg.Keys)
		if bucketed(c) {
			for _, arg := range c.Args {
				if b, ok := bucket[arg]; ok {
					set = append(set, b)
				}
			}
		}
		s.add(set, c.Distinct || len(set) > len(s.agg.Keys))
	}
	return !s.expanded() || !slices.ContainsFunc(s.agg.Aggs, func(c expr.AggCall) bool { return c.T.NotNull && !c.Func.Sure })
}

// expanded reports whether calls want different buckets. Then every row comes once for each of them, and until all have come, a
// result may be NULL that never is for the whole row.
func (s *splitting) expanded() bool {
	more := slices.Index(s.spread, true) + 1
	return slices.Contains(s.spread[more:], true)
}

// bucketed reports whether a call is split by its arguments: MIN and MAX are too, since they keep all values of a group when
// rows are taken back.
func bucketed(c *expr.AggCall) bool {
	return c.Distinct || c.Func.Name == "MIN" || c.Func.Name == "MAX"
}

// add notes the columns that a call's part of a group has in common.
func (s *splitting) add(set []int, spread bool) {
	slices.Sort(set[len(s.agg.Keys):])
	at := slices.IndexFunc(s.sets, func(o []int) bool { return slices.Equal(o, set) })
	if at < 0 {
		at = len(s.sets)
		s.sets, s.spread = append(s.sets, set), append(s.spread, false)
	}
	s.spread[at] = s.spread[at] || spread
	s.set = append(s.set, at)
	s.full = union(s.full, set)
	slices.Sort(s.full[len(s.agg.Keys):])
}

// call calls a function. Where one does not take its arguments, the aggregation is left as it is.
func (s *splitting) call(name string, args ...expr.Expr) expr.Expr {
	x, err := expr.NewCall(name, args, expr.Pos{})
	if err != nil {
		s.failed = true
		return args[0]
	}
	return x
}

// partial aggregates by keys and buckets. Where calls want other buckets, every row comes once for each, and a call sees
// those that are meant for it.
func (s *splitting) partial() *GroupAggregate {
	var in Node = s.in
	calls := slices.Clone(s.agg.Aggs)
	if s.expanded() {
		in = s.expand(calls)
	}
	part := &GroupAggregate{Keys: s.full, Aggs: calls, Part: "PARTIAL", ttl: s.agg.ttl}
	part.Kind, part.Inputs, part.Pos = "GroupAggregate", []Node{in}, s.agg.Pos
	for _, k := range s.full {
		f := fieldsIn(in)[k]
		f.Type = f.Type.Plain()
		part.Fields = append(part.Fields, f)
	}
	for i := range calls {
		c := &calls[i]
		if !c.Func.Sure {
			c.T = c.T.Optional() // a part may have no value although the group has one
		}
		c.Name = "$p" + itoa(i)
		part.Fields = append(part.Fields, types.Field{Name: c.Name, Type: c.T})
	}
	return part
}

// expand repeats the rows for the sets and gives the calls their filters.
func (s *splitting) expand(calls []expr.AggCall) Node {
	places := make([][]int, len(s.sets)) // among full
	for i, set := range s.sets {
		for _, c := range set {
			places[i] = append(places[i], slices.Index(s.full, c))
		}
	}
	x, _ := expand(s.in, s.full, places)
	f := fieldsIn(x)
	e := len(f) - 1
	exprs, names := columnExprs(f)[:e], fieldNames(f)[:e]
	filters := map[[2]int]int{} // by set and filter of the call
	for i := range calls {
		c := &calls[i]
		key := [2]int{s.set[i], c.Filter}
		at, ok := filters[key]
		if !ok {
			id := x.(*Expand).Rows[s.set[i]][e].(*expr.Const)
			cond := s.call("=", expr.NewCol(f, e), id)
			if c.Filter >= 0 {
				cond = expr.NewAnd(cond, expr.NewCol(f, c.Filter))
			}
			at = len(exprs)
			filters[key] = at
			exprs, names = append(exprs, cond), append(names, "$g_"+itoa(int(id.Value.I)))
		}
		c.Filter = at
	}
	calc := newCalc(x, exprs, names, nil)
	calc.Pos = s.agg.Pos
	return calc
}

// final adds up the parts.
func (s *splitting) final(part *GroupAggregate) Node {
	a := &GroupAggregate{Part: "FINAL", ttl: s.agg.ttl}
	a.Kind, a.Inputs, a.Pos, a.Fields = "GroupAggregate", []Node{part}, s.agg.Pos, s.agg.Fields
	for i := range s.agg.Keys {
		a.Keys = append(a.Keys, i)
	}
	for i, c := range s.agg.Aggs {
		a.Aggs = append(a.Aggs, expr.AggCall{
			Func: expr.LookupAggregate(finalCall[c.Func.Name]), Args: []int{len(s.full) + i}, Filter: -1, Name: c.Name, T: c.T,
		})
	}
	return a
}
