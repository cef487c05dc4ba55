package plan

// moreKeys derives the keys of the operators over ranks, time and windows.
func moreKeys(n Node, of func(int) [][]int, ordered bool) [][]int {
	return nil
}
