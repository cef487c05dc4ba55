package catalog

import "strings"

// Nearest gives the candidate that word most likely misspells: the one with the least edit distance, if that is at most
// a third of the word's length (at least one, two from five letters on). Case does not count. ok is false when none is near.
func Nearest(word string, candidates []string) (best string, ok bool) {
	limit := len(word) / 3
	if len(word) >= 5 {
		limit = max(limit, 2)
	}
	limit = max(limit, 1)
	lower := strings.ToLower(word)
	for _, c := range candidates {
		if d := distance(lower, strings.ToLower(c), limit); d <= limit {
			if d == limit && best != "" {
				continue
			}
			best, ok = c, true
			if limit = d; d == 0 {
				break
			}
		}
	}
	return best, ok
}

// DidYouMean gives "Did you mean 'x'?", or "" when no candidate is near.
func DidYouMean(word string, candidates []string) string {
	if best, ok := Nearest(word, candidates); ok && best != word {
		return "Did you mean '" + best + "'?"
	}
	return ""
}

// distance is the number of insertions, deletions, replacements and swaps of neighbours that turn a into b; anything
// above limit comes out as limit+1.
func distance(a, b string, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
			least = min(least, row[j])
		}
		if least > limit {
			return limit + 1
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
