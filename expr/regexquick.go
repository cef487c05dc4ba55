package expr

import (
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// quickRegex matches the patterns that most queries use: literals, classes, repeated classes, groups and alternatives, with
// nothing repeated that is longer than a character. It tries alternatives one after the other, which finds the match that
// Java and Perl find, and gives up when that takes too many steps; Go's engine, which has no such cases but a start-up cost of
// hundreds of nanoseconds, does the rest.
type quickRegex struct {
	first   *quickNode
	literal string // every match contains it, within lead bytes of its start
	lead    int    // -1: anywhere
	groups  int
	loc     []int
	steps   int
}

type quickOp uint8

const (
	quickLiteral quickOp = iota
	quickClass           // min to max runes of a class, max < 0 for no end
	quickMark            // a group begins or ends
	quickAlternate
	quickBegin
	quickEnd
	quickDone
)

type quickNode struct {
	op       quickOp
	text     string
	ascii    [2]uint64 // of a class
	ranges   []rune    // of a class: pairs, as syntax.Regexp has them
	min, max int
	lazy     bool
	mark     int          // place in loc
	branches []*quickNode // of alternatives; all of them lead on to next
	next     *quickNode
}

// newQuickRegex gives nil for patterns that it does not take.
func newQuickRegex(tree *syntax.Regexp, literal string) *quickRegex {
	q := &quickRegex{literal: literal, lead: -1, groups: tree.MaxCap()}
	first, ok := quickNodes(tree, &quickNode{op: quickDone})
	if !ok {
		return nil
	}
	q.first, q.loc = first, make([]int, 2*q.groups+2)
	if literal != "" {
		if lead, found := leadBytes(tree, literal); found {
			q.lead = lead
		}
	}
	return q
}

// quickNodes puts a pattern in front of next.
func quickNodes(re *syntax.Regexp, next *quickNode) (*quickNode, bool) {
	if n, ok := quickRune(re); ok {
		n.min, n.max, n.next = 1, 1, next
		return n, true
	}
	switch re.Op {
	case syntax.OpEmptyMatch:
		return next, true
	case syntax.OpLiteral:
		return &quickNode{op: quickLiteral, text: string(re.Rune), next: next}, re.Flags&syntax.FoldCase == 0
	case syntax.OpBeginText:
		return &quickNode{op: quickBegin, next: next}, true
	case syntax.OpEndText:
		return &quickNode{op: quickEnd, next: next}, re.Flags&syntax.WasDollar == 0
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest:
		n, ok := quickRune(re.Sub[0])
		if !ok {
			return nil, false
		}
		n.max, n.lazy, n.next = -1, re.Flags&syntax.NonGreedy != 0, next
		if re.Op == syntax.OpPlus {
			n.min = 1
		}
		if re.Op == syntax.OpQuest {
			n.max = 1
		}
		return n, true
	case syntax.OpCapture:
		end := &quickNode{op: quickMark, mark: 2*re.Cap + 1, next: next}
		in, ok := quickNodes(re.Sub[0], end)
		return &quickNode{op: quickMark, mark: 2 * re.Cap, next: in}, ok
	case syntax.OpConcat:
		for i := len(re.Sub) - 1; i >= 0; i-- {
			var ok bool
			if next, ok = quickNodes(re.Sub[i], next); !ok {
				return nil, false
			}
		}
		return next, true
	case syntax.OpAlternate:
		n := &quickNode{op: quickAlternate}
		for _, s := range re.Sub {
			b, ok := quickNodes(s, next)
			if !ok {
				return nil, false
			}
			n.branches = append(n.branches, b)
		}
		return n, true
	}
	return nil, false
}

// quickRune makes the node of a pattern that is one character.
func quickRune(re *syntax.Regexp) (*quickNode, bool) {
	n := &quickNode{op: quickClass}
	switch re.Op {
	case syntax.OpCharClass:
		n.ranges = re.Rune
	case syntax.OpAnyChar:
		n.ranges = []rune{0, utf8.MaxRune}
	case syntax.OpAnyCharNotNL:
		n.ranges = []rune{0, '\n' - 1, '\n' + 1, utf8.MaxRune}
	case syntax.OpLiteral:
		if len(re.Rune) != 1 || re.Flags&syntax.FoldCase != 0 {
			return nil, false
		}
		n.ranges = []rune{re.Rune[0], re.Rune[0]}
	default:
		return nil, false
	}
	for i := 0; i+1 < len(n.ranges); i += 2 {
		for c := n.ranges[i]; c <= min(n.ranges[i+1], utf8.RuneSelf-1); c++ {
			n.ascii[c>>6] |= 1 << (c & 63)
		}
	}
	return n, true
}

// leadBytes is the greatest number of bytes in front of a literal that stands in a sequence.
func leadBytes(re *syntax.Regexp, literal string) (n int, found bool) {
	switch re.Op {
	case syntax.OpLiteral:
		return 0, string(re.Rune) == literal
	case syntax.OpCapture:
		return leadBytes(re.Sub[0], literal)
	case syntax.OpConcat:
		for _, s := range re.Sub {
			if k, ok := leadBytes(s, literal); ok {
				return n + k, true
			}
			k, ok := mostBytes(s)
			if !ok {
				return 0, false
			}
			n += k
		}
	}
	return 0, false
}

// mostBytes is the length of the longest text that a pattern matches.
func mostBytes(re *syntax.Regexp) (n int, bounded bool) {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginText, syntax.OpEndText:
		return 0, true
	case syntax.OpLiteral:
		return len(string(re.Rune)), true
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return utf8.UTFMax, true
	case syntax.OpCapture, syntax.OpQuest:
		return mostBytes(re.Sub[0])
	case syntax.OpConcat, syntax.OpAlternate:
		for _, s := range re.Sub {
			k, ok := mostBytes(s)
			if !ok {
				return 0, false
			}
			if re.Op == syntax.OpConcat {
				n += k
			} else {
				n = max(n, k)
			}
		}
		return n, true
	}
	return 0, false
}

// find gives the first match as regexp.FindStringSubmatchIndex does; it is valid until the next call. ok is false when that
// took too long.
func (q *quickRegex) find(s string) (loc []int, ok bool) {
	at := 0
	if q.literal != "" {
		i := strings.Index(s, q.literal)
		if i < 0 {
			return nil, true
		}
		if q.lead >= 0 {
			for at = max(i-q.lead, 0); at < i && !utf8.RuneStart(s[at]); at++ {
			}
		}
	}
	q.steps = 100 + 20*len(s)
	for at <= len(s) {
		for i := range q.loc {
			q.loc[i] = -1
		}
		if end := q.match(q.first, s, at); end >= 0 {
			q.loc[0], q.loc[1] = at, end
			return q.loc, true
		}
		if q.steps < 0 {
			return nil, false
		}
		_, size := utf8.DecodeRuneInString(s[at:])
		at += max(size, 1)
	}
	return nil, true
}

// match gives the end of the match of n and what follows it at a place, -1 for none.
func (q *quickRegex) match(n *quickNode, s string, at int) int {
	for {
		if q.steps--; q.steps < 0 {
			return -1
		}
		switch n.op {
		case quickDone:
			return at
		case quickLiteral:
			if !strings.HasPrefix(s[at:], n.text) {
				return -1
			}
			at += len(n.text)
		case quickBegin:
			if at != 0 {
				return -1
			}
		case quickEnd:
			if at != len(s) {
				return -1
			}
		case quickMark:
			old := q.loc[n.mark]
			q.loc[n.mark] = at
			end := q.match(n.next, s, at)
			if end < 0 {
				q.loc[n.mark] = old
			}
			return end
		case quickAlternate:
			for _, b := range n.branches {
				if end := q.match(b, s, at); end >= 0 {
					return end
				}
			}
			return -1
		case quickClass:
			if n.min != 1 || n.max != 1 {
				return q.repeat(n, s, at)
			}
			size := n.size(s, at)
			if size == 0 {
				return -1
			}
			at += size
		}
		n = n.next
	}
}

// repeat matches a class some times, as often as possible first, or as seldom if it is lazy.
func (q *quickRegex) repeat(n *quickNode, s string, at int) int {
	if n.lazy {
		for k := 0; ; k++ {
			if k >= n.min {
				if end := q.match(n.next, s, at); end >= 0 {
					return end
				}
			}
			size := n.size(s, at)
			if size == 0 || k == n.max || q.steps < 0 {
				return -1
			}
			at += size
		}
	}
	least, end, k := at, at, 0
	for k != n.max {
		size := n.size(s, end)
		if size == 0 {
			break
		}
		end += size
		if k++; k == n.min {
			least = end
		}
	}
	if k < n.min {
		return -1
	}
	q.steps -= k / 8
	for {
		if e := q.match(n.next, s, end); e >= 0 {
			return e
		}
		if end <= least || q.steps < 0 {
			return -1
		}
		_, size := utf8.DecodeLastRuneInString(s[at:end])
		end -= size
	}
}

// size is the number of bytes of the character at a place if it is of the class, else 0.
func (n *quickNode) size(s string, at int) int {
	if at >= len(s) {
		return 0
	}
	if c := s[at]; c < utf8.RuneSelf {
		return int(n.ascii[c>>6] >> (c & 63) & 1)
	}
	r, size := utf8.DecodeRuneInString(s[at:])
	for i := 0; i+1 < len(n.ranges); i += 2 {
		if r >= n.ranges[i] && r <= n.ranges[i+1] {
			return size
		}
	}
	return 0
}
