package sql

import (
	"strings"
	"testing"
)

// megabyte returns at least 1 MB of the recorded statements, over and over.
func megabyte(b *testing.B) (script string, pieces []Piece) {
	var sb strings.Builder
	for _, file := range []string{"cases.txt", "plans.txt"} {
		for _, s := range readCorpus(b, file) {
			if refusedCases[s.name] == "" {
				sb.WriteString(s.text + "\n")
			}
		}
	}
	one := sb.String()
	script = strings.Repeat(one, 1<<20/len(one)+1)
	return script, SplitAll(script)
}

// BenchmarkParse parses 1 MB of statements.
func BenchmarkParse(b *testing.B) {
	script, pieces := megabyte(b)
	b.SetBytes(int64(len(script)))
	b.ReportAllocs()
	for b.Loop() {
		for _, p := range pieces {
			if _, err := Parse(p.Text); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkParseOne parses 1 MB in a single statement.
func BenchmarkParseOne(b *testing.B) {
	var sb strings.Builder
	sb.WriteString("SELECT a FROM t WHERE a IN (0")
	for sb.Len() < 1<<20 {
		sb.WriteString(", CASE WHEN o.price > 10.5 AND o.item LIKE 'x%' THEN UPPER(o.item) ELSE 'none' END")
	}
	sb.WriteString(")")
	text := sb.String()
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSplit(b *testing.B) {
	script, _ := megabyte(b)
	b.SetBytes(int64(len(script)))
	for b.Loop() {
		Split(script)
	}
}

func BenchmarkFormat(b *testing.B) {
	script, pieces := megabyte(b)
	var trees []Stmt
	for _, p := range pieces {
		s, err := Parse(p.Text)
		if err != nil {
			b.Fatal(err)
		}
		trees = append(trees, s)
	}
	b.SetBytes(int64(len(script)))
	for b.Loop() {
		for _, s := range trees {
			Format(s)
		}
	}
}
