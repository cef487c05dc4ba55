package plan

import "slices"

// moreKeys derives the keys of the operators over ranks, time and windows.
func moreKeys(n Node, of func(int) [][]int, ordered bool) [][]int {
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
		// As in Flink 1.20 the window itself is left out of the key.
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
