package expr

import (
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
)

func quickOf(t *testing.T, pattern string) *quickRegex {
	t.Helper()
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	tree = tree.Simplify()
	return newQuickRegex(tree, requiredLiteral(tree))
}

// sameMatch compares with Go's engine.
func sameMatch(t *testing.T, q *quickRegex, re *regexp.Regexp, s string) {
	t.Helper()
	loc, ok := q.find(s)
	if want := re.FindStringSubmatchIndex(s); ok && !slices.Equal(loc, want) {
		t.Errorf("%s in %q: %v, want %v", re, s, loc, want)
	}
}

func TestQuickRegex(t *testing.T) {
	tests := []struct {
		pattern string
		texts   []string
	}{
		{`(&|^)channel_id=([^&]*)`, []string{"https://x/item.htm?query=1&channel_id=77", "channel_id=5&a", "xchannel_id=1", "xchannel_id=1&channel_id=&z", "", "ächannel_id=1"}},
		{`([a-z]+)-([a-z]+)`, []string{"an-an", "1-a-b", "-", "ab-", "ab-c-d"}},
		{`a.*b`, []string{"xaxbxbx", "a\nb", "aä\U0001F600b", "a\xffb", "ab\xff"}},
		{`a.*?b`, []string{"xaxbxbx", "ab"}},
		{`^(\d+)(\.\d+)?`, []string{"12.5", "a12"}},
		{`^\d{2,4}$|^x?y+$`, []string{"123", "12345", "xyy", "y", "x"}},
		{`(ab|a)(bc|c)?`, []string{"abc", "abbc", "ac"}},
		{`(|a)b`, []string{"ab", "b"}},
		{`[^ä]+ö`, []string{"xyzö", "ääö", "aäbö"}},
	}
	for _, tt := range tests {
		re := regexp.MustCompile(tt.pattern)
		q := quickOf(t, tt.pattern)
		if q == nil {
			if !strings.ContainsAny(tt.pattern, "$?") {
				t.Errorf("%s is not taken", tt.pattern)
			}
			continue
		}
		for _, s := range tt.texts {
			if _, ok := q.find(s); !ok {
				t.Errorf("%s in %q: gave up", tt.pattern, s)
			}
			sameMatch(t, q, re, s)
		}
	}
	if q := quickOf(t, `x*x*x*x*[yz]`); q == nil {
		t.Error("repetitions are not taken")
	} else if _, ok := q.find(strings.Repeat("x", 500)); ok {
		t.Error("500 to the fourth steps were made")
	}
}

// TestQuickRegexRandom compares random patterns with Go's engine on random texts.
func TestQuickRegexRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	parts := []string{"a", "b", "ab", ".", "[ab]", "[^a]", "a*", "b+", "a?", "[^b]*", ".*?", "b??", "(a|b)", "(a*|b)", "(|ab)", "(.)", "^", `\z`, "(a(b|ä)*)", "(?:ab)+", "ä", "c"}
	taken := 0
	for range 3000 {
		var p strings.Builder
		for range 1 + r.IntN(5) {
			p.WriteString(parts[r.IntN(len(parts))])
			if r.IntN(8) == 0 {
				p.WriteByte('|')
			}
		}
		q := quickOf(t, p.String())
		if q == nil {
			continue
		}
		taken++
		re := regexp.MustCompile(p.String())
		for range 20 {
			var s strings.Builder
			for range r.IntN(8) {
				s.WriteString([]string{"a", "b", "ab", "ä", "\n", "c", "\xff"}[r.IntN(7)])
			}
			sameMatch(t, q, re, s.String())
		}
	}
	if taken < 1000 {
		t.Errorf("%d patterns of 3000 were taken", taken)
	}
}
