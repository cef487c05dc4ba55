package main

import (
	"context"
	"errors"
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"runnel/session"
)

var updateMistakes = flag.Bool("update-mistakes", false, "write what is said of mistakes into testdata/mistakes.txt")

// TestMistakes makes the mistakes of testdata/mistakes.txt in one session and compares what is said of them: the first line with
// Flink's, and all with what was said before.
func TestMistakes(t *testing.T) {
	const file = "testdata/mistakes.txt"
	s := recordingSession(t)
	var out strings.Builder
	mistakes, helped := 0, 0
	for block := range strings.SplitSeq(strings.TrimSuffix(contents(t, file), "\n"), "\n\n") {
		m := readMistake(block)
		if m.sql == "" {
			out.WriteString(block + "\n\n")
			continue
		}
		said := sayOf(s, m.sql)
		first, rest, _ := strings.Cut(said, "\n")
		same := first == m.flink
		switch {
		case !same && m.why == "":
			t.Errorf("%s\n got %s\nwant %s", m.sql, first, m.flink)
		case same && m.why != "":
			t.Errorf("%s\nis said as Flink says it: take out \"~ %s\"", m.sql, m.why)
		}
		if said != "OK" {
			mistakes++
			if strings.Contains(rest, "^") {
				helped++
			}
		}
		if said != m.said && !*updateMistakes {
			t.Errorf("%s\n got\n%s\nwant\n%s", m.sql, said, m.said)
		}
		out.WriteString(m.sql + "\n= " + m.flink + "\n")
		if m.why != "" {
			out.WriteString("~ " + m.why + "\n")
		}
		out.WriteString("| " + strings.ReplaceAll(said, "\n", "\n| ") + "\n\n")
	}
	if mistakes < 100 || helped < mistakes*9/10 {
		t.Errorf("%d mistakes, of which %d are shown their place", mistakes, helped)
	}
	if *updateMistakes {
		if err := os.WriteFile(file, []byte(strings.TrimSuffix(out.String(), "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// mistake is a block of the file.
type mistake struct{ sql, flink, why, said string }

func readMistake(block string) mistake {
	var m mistake
	add := func(to *string, line string) {
		if *to != "" {
			*to += "\n"
		}
		*to += line
	}
	for line := range strings.SplitSeq(block, "\n") {
		mark, rest := line[:min(2, len(line))], line[min(2, len(line)):]
		switch {
		case strings.HasPrefix(line, "#"):
		case mark == "= ":
			m.flink = rest
		case mark == "~ ":
			m.why = rest
		case mark == "| " || line == "|":
			add(&m.said, rest)
		default:
			add(&m.sql, line)
		}
	}
	return m
}

// sayOf runs a statement and gives what the shell shows of its failure.
func sayOf(s *session.Session, text string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	res, err := s.Execute(ctx, text)
	if err == nil && res.Rows != nil {
		_, err = readRows(ctx, res)
		res.Rows.Close()
	}
	if err == nil {
		return "OK"
	}
	said := err.Error()
	var e *session.Error
	if errors.As(err, &e) && len(e.Detail) > 0 {
		said += "\n" + strings.Join(e.Detail, "\n")
	}
	lines := strings.Split(said, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}
