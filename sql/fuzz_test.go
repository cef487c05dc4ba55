package sql

import (
	"reflect"
	"strings"
	"testing"
)

// seeds adds the statements of the corpus to a fuzz target.
func seeds(f *testing.F) {
	for _, file := range []string{"cases.txt", "client.txt"} {
		for _, s := range readCorpus(f, file) {
			f.Add(s.text)
		}
	}
	for _, s := range readCorpus(f, "plans.txt")[:40] {
		f.Add(s.text)
	}
	for _, r := range readRecorded(f) {
		f.Add(r.SQL)
	}
	for _, s := range []string{"SELECT ((((", "''", "`", "/*", "/*+ */", "U&'\\", "SET a=", "INTERVAL - '", "x'0", "\u00a0", "\xff", "SELECT 1e", "{fn ", "ROW<>", "a.b.*", "= ANY ("} {
		f.Add(s)
	}
}

// FuzzLexer checks that the tokens of a text follow each other, cover all of it but blanks and comments, and have true places.
func FuzzLexer(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		if invalidUTF8(text) >= 0 {
			return
		}
		last := int32(0)
		toks := tokenize(text)
		for i, k := range toks {
			if k.from.Offset < last || k.to.Offset < k.from.Offset {
				t.Fatalf("token %d at %d-%d behind %d", i, k.from.Offset, k.to.Offset, last)
			}
			if k.kind != tEOF && k.from.Offset == k.to.Offset {
				t.Fatalf("empty token %d at %d", i, k.from.Offset)
			}
			for _, p := range []Pos{k.from, k.to} {
				if want := placeOf(text, int(p.Offset)); want != p {
					t.Fatalf("token %d at %+v, want %+v", i, p, want)
				}
			}
			last = k.to.Offset
		}
		if int(last) != len(text) {
			t.Fatalf("tokens end at %d of %d", last, len(text))
		}
	})
}

// placeOf finds the place of an offset the slow way.
func placeOf(text string, off int) Pos {
	p := Pos{Offset: int32(off), Line: 1, Column: 1}
	for i, r := range text[:off] {
		switch {
		case r == '\n', r == '\r' && !strings.HasPrefix(text[i+1:], "\n"):
			p.Line++
			p.Column = 1
		case r > 0xffff:
			p.Column += 2
		default:
			p.Column++
		}
	}
	return p
}

// FuzzParse checks that no text breaks the parser, that errors have a message and a place inside of the text, and that what is
// printed of a tree parses to an equal tree.
func FuzzParse(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		tree, err := Parse(text)
		if err != nil {
			e := err.(*Error)
			if e.Msg == "" || e.Class == "" || int(e.Span.To.Offset) > len(text) || e.Span.From.Offset > e.Span.To.Offset {
				t.Fatalf("%+v", e)
			}
			e.Detail(text)
			return
		}
		printed := Format(tree)
		again, err := Parse(printed)
		if err != nil {
			t.Fatalf("%v\nin the printed %s", err, printed)
		}
		if second := Format(again); second != printed {
			t.Fatalf("printed\n%s\nthen\n%s", printed, second)
		}
		normalise(reflect.ValueOf(tree))
		normalise(reflect.ValueOf(again))
		if !reflect.DeepEqual(tree, again) {
			t.Fatalf("another tree after printing\n%s", printed)
		}
		FormatFlink(tree)
	})
}

// FuzzSplit checks that the statements of a script stand where they say, in order, and split to themselves.
func FuzzSplit(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		pieces, rest := Split(text)
		at := 0
		for _, p := range append(pieces, *orEmpty(rest)) {
			from := int(p.At.Offset)
			if p.Text == "" {
				continue
			}
			if from < at || !strings.HasPrefix(text[from:], p.Text) {
				t.Fatalf("%q is not at %d behind %d", p.Text, from, at)
			}
			at = from + len(p.Text)
		}
		for _, p := range pieces {
			again, rest := Split(p.Text + "\n;")
			if len(again) != 1 || rest != nil || again[0].Text != p.Text {
				t.Fatalf("%q splits to %q, rest %v", p.Text, again, rest)
			}
		}
	})
}

func orEmpty(p *Piece) *Piece {
	if p == nil {
		return &Piece{}
	}
	return p
}
