package plan

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
	case *Correlate:
		return nil // a row may come several times
	case *Expand, *WindowTableFunction, *WindowAggregate:
		return nil
	}
	return nil
}
