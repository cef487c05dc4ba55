package expr

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"runnel/types"
)

// FuzzLike compares the matcher with the pattern as a regular expression.
func FuzzLike(f *testing.F) {
	for _, s := range [][2]string{{"abc", "a%"}, {"abab", "%ab%ab%"}, {"a\nb", "a_b"}, {"", "%"}, {"日本語", "日_語"}, {"aab", "%a_b"}, {"x%", "x!%"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, s, pattern string) {
		s, pattern = strings.ToValidUTF8(s, "?"), strings.ToValidUTF8(pattern, "?")
		if len(s) > 200 || len(pattern) > 50 {
			return
		}
		for _, escape := range []rune{-1, '!'} {
			p, err := compileLike(pattern, escape)
			if err != nil {
				continue
			}
			var b strings.Builder
			escaped := false
			for _, r := range pattern {
				switch {
				case escaped:
					b.WriteString(regexp.QuoteMeta(string(r)))
					escaped = false
				case r == escape:
					escaped = true
				case r == '%':
					b.WriteString(`(?s:.*)`)
				case r == '_':
					b.WriteString(`[^\n\r\x{85}\x{2028}\x{2029}]`)
				default:
					b.WriteString(regexp.QuoteMeta(string(r)))
				}
			}
			want := regexp.MustCompile(`\A(?:` + b.String() + `)\z`).MatchString(s)
			if got := p.match(s); got != want {
				t.Errorf("%q LIKE %q (escape %c): %t, want %t", s, pattern, escape, got, want)
			}
		}
	})
}

// FuzzRegex makes sure that no pattern panics, and that what is accepted can be run.
func FuzzRegex(f *testing.F) {
	for _, p := range []string{`a++a`, `(?<n>[a-z])\d`, `[a-z&&[^b]]`, `\Qx\E`, `(?i)a(?-i)b`, `[]a]`, `(a)\1`, `x{2,3}?`, `\p{IsAlphabetic}`, `(?s).`, `a$`, `[^[ab]c]`} {
		f.Add(p, "a1b\n")
	}
	f.Fuzz(func(t *testing.T, pattern, s string) {
		if len(pattern) > 60 || len(s) > 60 {
			return
		}
		re, err := compileRegex(strings.ToValidUTF8(pattern, "?"))
		if err != nil {
			return
		}
		s = strings.ToValidUTF8(s, "?")
		n := 0
		if err := re.each(s, func(loc []int) {
			n++
			if loc[0] < 0 || loc[1] < loc[0] || loc[1] > len(s) || len(loc) < 2*(re.groups+1) {
				t.Fatalf("%q in %q: %v", pattern, s, loc)
			}
		}); err != nil {
			return // the time limit
		}
		if ok, err := re.found(s); err == nil && ok != (n > 0) {
			t.Errorf("%q in %q: found %t, %d matches", pattern, s, ok, n)
		}
	})
}

// plainSimilar is a SIMILAR TO pattern whose operators Go's regular expressions have too.
var plainSimilar = regexp.MustCompile(`^[a-z0-9 _%|()*+?]*$`)

// FuzzSimilar makes sure that translated patterns compile or are refused, and compares plain ones with regular expressions.
func FuzzSimilar(f *testing.F) {
	for _, p := range []string{"a%", "[[:ALPHA:]]+", "a(b|x)c", "[^b]", "a!%", "{", "[a", "(a|_)*%b?"} {
		f.Add(p, "abc")
	}
	f.Fuzz(func(t *testing.T, pattern, s string) {
		if len(pattern) > 60 || len(s) > 60 {
			return
		}
		text, err := similarToRegex(pattern, '!')
		if err != nil {
			return
		}
		re, err := compileRegex(`\A(?:` + text + `)\z`)
		s = strings.ToValidUTF8(s, "?")
		slow := strings.NewReplacer("_", `[^\n\r\x{85}\x{2028}\x{2029}]`, "%", `(?s:.*)`).Replace(pattern)
		want, slowErr := regexp.Compile(`\A(?:` + slow + `)\z`)
		if err != nil || slowErr != nil || !plainSimilar.MatchString(pattern) || strings.Contains(pattern, "(?") {
			return
		}
		if got, err := re.found(s); err == nil && got != want.MatchString(s) {
			t.Errorf("%q SIMILAR TO %q: %t", s, pattern, got)
		}
	})
}

// FuzzDateFormats compares the direct way of plain date patterns with the general one, in both dialects.
func FuzzDateFormats(f *testing.F) {
	for _, p := range []string{"yyyy-MM-dd HH:mm:ss.SSS", "yyyyMMdd", "dd/MM/yyyy", "HH:mm", "ss.S", "MM-dd"} {
		f.Add(p, "2024-02-29 12:34:56.789", int64(1709210096789000))
		f.Add(p, "20240229", int64(-1))
	}
	berlin, err := types.ParseZone("Europe/Berlin")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, pattern, s string, us int64) {
		if len(pattern) > 40 || len(s) > 80 || us > 400_000_000_000_000_000 || us < -100_000_000_000_000_000 {
			return
		}
		if p, err := parseFormat(pattern); err == nil && p.plain != nil {
			want, err := p.Append(nil, us, 0)
			if got, ok := p.plain.append(nil, us); ok && (err != nil || string(got) != string(want)) {
				t.Fatalf("%s of %d: %s, want %s (%v)", pattern, us, got, want, err)
			}
			for _, s := range []string{s, string(want)} {
				w, _, is := p.Parse(s)
				if v, ok := p.plain.parse(s); ok && (!is || v != w) {
					t.Fatalf("%s reads %q as %d, want %d (%t)", pattern, s, v, w, is)
				}
			}
		}
		p, err := newCompiler(nil, nil).parseLegacyFormat(pattern)
		if err != nil || p.plain == nil {
			return
		}
		ms := us / 1000
		want := p.LegacyPattern.Append(nil, ms, berlin)
		if got := p.Append(nil, ms, berlin); string(got) != string(want) {
			t.Fatalf("legacy %s of %d: %s, want %s", pattern, ms, got, want)
		}
		for _, s := range []string{s, string(want), string(want) + s} {
			v, ok := p.Parse(s, berlin)
			if w, is := p.LegacyPattern.Parse(s, berlin); v != w || ok != is {
				t.Fatalf("legacy %s reads %q as %d (%t), want %d (%t)", pattern, s, v, ok, w, is)
			}
		}
	})
}

// FuzzKernels compares kernels with the evaluation of single rows: the input seeds an expression and a batch.
func FuzzKernels(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed, seed*7)
	}
	fields, env := testFields(), testEnv(f)
	f.Fuzz(func(t *testing.T, a, b uint64) {
		r := rand.New(rand.NewPCG(a, b))
		e := newMaker(r, fields).expr(4)
		if e == nil || isSymbol(e.Type()) {
			return
		}
		batch := randomBatch(r, fields, 1+r.IntN(70), r.IntN(3) > 0)
		eval, err := Compile(e, fields, env)
		if err != nil {
			return // e.g. a pattern in a constant that is none
		}
		for _, sel := range [][]int32{types.All(batch.Len), randomSelection(r, batch.Len)} {
			checkRows(t, e, eval, batch, sel, env)
		}
	})
}

// FuzzJSON compares the reader with encoding/json, and the way through the text with the way through the tree.
func FuzzJSON(f *testing.F) {
	for _, d := range []string{`{"a":1,"b":"x","c":null,"d":[1,2.50,"s",null,true,{"e":"f"}]}`, `[1,[2]]`, `"a\u00e9\ud83d\ude00"`, `1e3`, `-0`, `{"a":1,"a":2}`, `{bad`} {
		f.Add(d, "$.d[5].e")
		f.Add(d, "lax $..a")
	}
	f.Fuzz(func(t *testing.T, doc, path string) {
		if len(doc) > 300 || len(path) > 40 {
			return
		}
		n, err := parseJSON(doc)
		if json.Valid([]byte(doc)) && err != nil && len(doc) < 900 {
			t.Fatalf("%q: %v", doc, err)
		}
		if err == nil {
			text := appendNode(nil, n)
			if again, err := parseJSON(string(text)); err != nil || string(appendNode(nil, again)) != string(text) {
				t.Fatalf("%q is written as %s, which does not come back (%v)", doc, text, err)
			}
		}
		skipper := jsonScanner{s: doc}
		if serr := skipper.skip(); (serr == nil) != (err == nil) {
			t.Fatalf("%q: %v when read, %v when skipped", doc, err, serr)
		}
		p, perr := compileJSONPath(path)
		if perr != nil || err != nil || n.kind == jsonNull {
			return
		}
		want, werr := p.find(n)
		if !p.simple {
			return
		}
		var span jsonSpan
		serr := p.scan(doc, &span)
		if (werr == nil) != (serr == nil) {
			t.Fatalf("%s in %q: %v in the tree, %v in the text", path, doc, werr, serr)
		}
		if serr == nil {
			got, err := span.node(doc)
			if err != nil || string(appendNode(nil, got)) != string(appendNode(nil, want)) {
				t.Fatalf("%s in %q: %s, want %s (%v)", path, doc, appendNode(nil, got), appendNode(nil, want), err)
			}
			if span.scalar() {
				return
			}
			s := jsonScanner{s: doc, at: span.start}
			var keys []string
			if text, ok := s.appendCompact(nil, &keys); ok && string(text) != string(appendNode(nil, want)) {
				t.Fatalf("%s in %q: written as %s, want %s", path, doc, text, appendNode(nil, want))
			}
		}
	})
}

// TestPlainNumber holds the short way of JSON numbers against the digits that Java prints.
func TestPlainNumber(t *testing.T) {
	plain := 0
	for scale := 1; scale <= 6; scale++ {
		for v := 0; v < 10_000_000; v += 997 {
			s := fmt.Sprintf("%0*d", scale+1, v)
			s = s[:len(s)-scale] + "." + s[len(s)-scale:]
			f, _ := strconv.ParseFloat(s, 64)
			want := string(types.AppendDouble(nil, f))
			if plainNumber(s) {
				plain++
				if s != want {
					t.Fatalf("%s is written as %s", s, want)
				}
			}
		}
	}
	if plain < 30000 || plainNumber("1e5") || plainNumber("1.5E5") || plainNumber("1.50") || plainNumber("0.0001") {
		t.Errorf("%d are plain", plain)
	}
}
