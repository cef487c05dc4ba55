package plan

import (
	"slices"

	"runnel/expr"
	"runnel/types"
)

// keyTable finds the keys of nodes (semantics.md 3): unique keys name at most one live row; upsert keys are those whose
// changes also keep their order across exchanges.
type keyTable struct {
	uniques, upserts map[Node][][]int
	shown            bool // as Flink shows them, also where they are none
	bound            bool // as they are before ranks are recognised, through no cast
}

func newKeyTable() *keyTable {
	return &keyTable{uniques: map[Node][][]int{}, upserts: map[Node][][]int{}}
}

// newShownKeys makes a table of keys for plans to show.
func newShownKeys() *keyTable {
	t := newKeyTable()
	t.shown = true
	return t
}

// newBoundKeys makes a table of the keys that are known before ranks are recognised.
func newBoundKeys() *keyTable { return &keyTable{uniques: map[Node][][]int{}, bound: true} }

func (t *keyTable) unique(n Node) [][]int { return t.find(n, t.uniques, false) }

func (t *keyTable) upsert(n Node) [][]int { return t.find(n, t.upserts, true) }

// within gives the upsert keys of an operator's input: those that hold among the rows of one key that an exchange distributes by. A
// change of one of them may come to a subtask behind the change that follows it, if the rows went through several before.
func (t *keyTable) within(in Node) [][]int { return t.upsert(skipExchange(in)) }

// copy gives a node the keys of another one with the same columns.
func (t *keyTable) copy(to, from Node) {
	t.uniques[to], t.upserts[to] = t.unique(from), t.upsert(from)
}

func (t *keyTable) find(n Node, memo map[Node][][]int, ordered bool) [][]int {
	if keys, ok := memo[n]; ok {
		return keys
	}
	of := func(i int) [][]int { return t.find(n.Base().Inputs[i], memo, ordered) }
	keys := t.keysOf(n, of, ordered)
	if !t.shown {
		keys = firmKeys(n, keys)
	}
	memo[n] = keys
	return keys
}

// firmKeys mends the keys that plans show for ranks and that are none. A row that moves up has its new rank before it loses
// the old one, so that the keys of the input hold no longer; and a rank in a window is one of that window.
func firmKeys(n Node, keys [][]int) [][]int {
	switch n := n.(type) {
	case *Rank:
		if n.Number {
			return keys[len(keys)-1:]
		}
	case *WindowRank:
		if n.Number {
			return [][]int{append([]int{n.StartCol, n.EndCol}, keys[0]...)}
		}
	}
	return keys
}

// keysOf is the function of this name, but for a table of bound keys.
func (t *keyTable) keysOf(n Node, of func(i int) [][]int, ordered bool) [][]int {
	if !t.bound {
		return keysOf(n, of, ordered)
	}
	switch n := n.(type) {
	case *Calc:
		return calcKeys(n, of(0), func(from, to types.Type) bool { return false })
	case *Rank:
		if !n.Number {
			return of(0)
		}
	case *Deduplicate:
		return of(0)
	case *Expand:
		return expandKeys(n, of(0))
	case *WindowAggregate:
		key := identity(len(n.Fields))
		return [][]int{slices.Concat(key[:len(n.Keys)], key[len(n.Keys)+len(n.Aggs):])}
	}
	return keysOf(n, of, ordered)
}

// expandKeys are the keys that all sets have, with the number of the set.
func expandKeys(n *Expand, in [][]int) [][]int {
	var keys [][]int
	for _, k := range in {
		if !slices.ContainsFunc(k, func(c int) bool {
			return slices.ContainsFunc(n.Rows, func(row []expr.Expr) bool { col, ok := row[c].(*expr.Col); return !ok || col.Index != c })
		}) {
			keys = append(keys, append(slices.Clone(k), len(n.Fields)-1))
		}
	}
	return keys
}

// keysOf derives the keys of a node from those of its inputs.
func keysOf(n Node, of func(i int) [][]int, ordered bool) [][]int {
	switch n := n.(type) {
	case *Scan:
		return scanKeys(n)
	case *Calc:
		return calcKeys(n, of(0), keepsApart)
	case *Exchange:
		if ordered && n.Dist == HashKeys {
			return containing(of(0), n.Keys)
		}
		return of(0)
	case *WatermarkAssigner, *MiniBatchAssigner, *DropUpdateBefore, *Sink, *Collect:
		return of(0)
	case *ChangelogNormalize:
		return [][]int{n.Keys}
	case *GroupAggregate:
		key := make([]int, len(n.Keys))
		for i := range key {
			key[i] = i
		}
		return [][]int{key}
	case *Limit:
		return of(0)
	case *Sort, *TemporalSort:
		return of(0)
	case *SortLimit:
		return containing(of(0), sortColumns(n.Keys))
	case *Join:
		return joinKeys(n.Join, of, n.LeftKeys, n.RightKeys, len(fieldsIn(n.Inputs[0])), ordered)
	}
	return rankKeys(n, of, ordered)
}

func scanKeys(n *Scan) [][]int {
	if len(n.Table.PrimaryKey) == 0 {
		return nil
	}
	var key []int
	for _, name := range n.Table.PrimaryKey {
		i := slices.IndexFunc(n.Fields, func(f types.Field) bool { return f.Name == name })
		if i < 0 {
			return nil
		}
		key = append(key, i)
	}
	slices.Sort(key)
	return [][]int{key}
}

// keepsApart reports whether a cast gives different values for different ones. These are those of Flink's implicit casts
// (LogicalTypeCasts) that lose nothing: wider numbers, longer texts.
func keepsApart(from, to types.Type) bool {
	switch {
	case to.SameIgnoringNull(from):
		return true
	case from.Kind == types.Decimal || from.IsInteger():
		if to.IsInteger() {
			return from.IsInteger() && from.Kind <= to.Kind
		}
		p, s, _ := from.AsDecimal()
		switch to.Kind {
		case types.Decimal:
			return to.Scale >= s && to.Precision-to.Scale >= p-s
		case types.Double:
			return from.IsInteger() && from.Kind != types.BigInt
		case types.Float:
			return from.Kind == types.TinyInt || from.Kind == types.SmallInt
		}
	case from.Kind == types.Float:
		return to.Kind == types.Double
	case from.Kind == types.Varchar && to.Kind == types.Varchar, from.Kind == types.Varbinary && to.Kind == types.Varbinary,
		from.Kind == types.Timestamp && to.Kind == types.Timestamp, from.Kind == types.TimestampLTZ && to.Kind == types.TimestampLTZ:
		return to.Precision >= from.Precision
	}
	return false
}

// calcKeys follows keys through a projection: plain columns, and casts that keep their values apart.
func calcKeys(n *Calc, in [][]int, apart func(from, to types.Type) bool) [][]int {
	at := map[int][]int{}
	for i, e := range n.Exprs {
		if c, ok := e.(*expr.Cast); ok && apart(c.Arg.Type(), c.T) {
			e = c.Arg
		}
		if c, ok := e.(*expr.Col); ok {
			at[c.Index] = append(at[c.Index], i)
		}
	}
	var keys [][]int
	for _, k := range in {
		variants := [][]int{nil}
		for _, c := range k {
			var next [][]int
			for _, v := range variants {
				for _, to := range at[c] {
					if len(next) < 16 {
						next = append(next, append(slices.Clone(v), to))
					}
				}
			}
			variants = next
		}
		for _, v := range variants {
			slices.Sort(v)
			keys = append(keys, v)
		}
	}
	return distinctKeys(keys)
}

// distinctKeys drops repeated keys.
func distinctKeys(keys [][]int) [][]int {
	var out [][]int
	for _, k := range keys {
		if !hasKey(out, k) {
			out = append(out, k)
		}
	}
	return out
}

// containing keeps the keys that hold all of cols.
func containing(keys [][]int, cols []int) [][]int {
	var out [][]int
	for _, k := range keys {
		if subset(cols, k) {
			out = append(out, k)
		}
	}
	return out
}

// subset reports whether all of a are in b.
func subset(a, b []int) bool {
	for _, x := range a {
		if !slices.Contains(b, x) {
			return false
		}
	}
	return true
}

// hasKey reports whether a set of columns is one of the keys.
func hasKey(keys [][]int, cols []int) bool {
	return slices.ContainsFunc(keys, func(k []int) bool { return subset(k, cols) && subset(cols, k) })
}

// containsKey reports whether cols contain one of the keys.
func containsKey(keys [][]int, cols []int) bool {
	return slices.ContainsFunc(keys, func(k []int) bool { return subset(k, cols) })
}

func sortColumns(keys []SortKey) []int {
	cols := make([]int, len(keys))
	for i, k := range keys {
		cols[i] = k.Column
	}
	return cols
}

// joinKeys derives the keys of a join.
func joinKeys(kind JoinKind, of func(int) [][]int, lk, rk []int, nl int, ordered bool) [][]int {
	left := of(0)
	if kind == Semi || kind == Anti {
		if ordered {
			return containing(left, lk)
		}
		return left
	}
	right := of(1)
	leftOne, rightOne := containsKey(left, lk), containsKey(right, rk)
	if len(lk) == 0 {
		leftOne, rightOne = hasKey(left, nil), hasKey(right, nil)
	}
	var keys [][]int
	if rightOne && kind != Right && kind != Full {
		keys = append(keys, left...)
	}
	moved := make([][]int, len(right))
	for i, k := range right {
		moved[i] = shifted(k, nl)
	}
	if leftOne && kind != Left && kind != Full {
		keys = append(keys, moved...)
	}
	for _, l := range left {
		for _, r := range moved {
			keys = append(keys, append(slices.Clone(l), r...))
		}
	}
	if ordered {
		both := shifted(rk, nl)
		keys = slices.DeleteFunc(keys, func(k []int) bool { return !subset(lk, k) && !subset(both, k) })
	}
	return distinctKeys(keys)
}

// rankKeys derives the keys of ranks and of what depends on time.
func rankKeys(n Node, of func(int) [][]int, ordered bool) [][]int {
	switch n := n.(type) {
	case *Rank:
		if n.From == 1 && n.To == 1 && !n.Number {
			return [][]int{n.Keys}
		}
		keys := containing(of(0), n.Keys)
		if !ordered {
			keys = of(0)
		}
		if n.Number {
			keys = append(keys[:len(keys):len(keys)], append(append([]int(nil), n.Keys...), len(n.Fields)-1))
		}
		return distinctKeys(keys)
	case *Deduplicate:
		return [][]int{n.Keys}
	case *OverAggregate:
		if ordered {
			return containing(of(0), n.Keys)
		}
		return of(0)
	case *WindowRank:
		// As in plans of Flink 1.20 the window itself is left out of the key; firmKeys puts it in.
		if n.Number {
			return [][]int{append(append([]int(nil), n.Keys...), len(n.Fields)-1)}
		}
	case *GroupWindowAggregate:
		var keys [][]int
		for i := range n.Props {
			key := make([]int, len(n.Keys), len(n.Keys)+1)
			for k := range key {
				key[k] = k
			}
			keys = append(keys, append(key, len(n.Keys)+len(n.Aggs)+i))
		}
		return keys
	case *TemporalJoin:
		if ordered {
			return containing(of(0), n.LeftKeys)
		}
		return of(0)
	case *LookupJoin:
		for _, k := range n.Table.PrimaryKey {
			if !slices.ContainsFunc(n.Keys, func(c int) bool { return n.Table.Columns[c].Name == k }) {
				return nil
			}
		}
		if len(n.Table.PrimaryKey) == 0 {
			return nil
		}
		return of(0)
	case *Correlate:
		return nil // a row may come several times
	case *Expand, *WindowTableFunction, *WindowAggregate:
		return nil
	}
	return nil
}
