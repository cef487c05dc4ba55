package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"runnel/session"
	"runnel/types"
)

// TestRecordedBatch runs queries that a real Flink 1.20.5 ran in batch mode over the same files (testdata/batch): the rows must
// be the same, in the same order where the query fixes it, and what Flink refuses is refused in its words. Those that we answer
// otherwise are in differences.txt with the group that docs/differences.md explains.
func TestRecordedBatch(t *testing.T) {
	s := recordingSession(t)
	tables, err := os.ReadFile("testdata/batch/tables.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range strings.SplitAfter(strings.TrimSpace(string(tables)), ";\n") {
		if _, err := s.Execute(context.Background(), text); err != nil {
			t.Fatal(text, err)
		}
	}
	recorded, err := os.ReadFile("testdata/batch/recorded.txt")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/batch/differences.txt")
	if err != nil {
		t.Fatal(err)
	}
	differences := map[string]string{}
	for line := range strings.Lines(string(text)) {
		query, group, _ := strings.Cut(strings.TrimSpace(line), "\t")
		differences[query] = group
	}
	met := 0
	for _, block := range strings.Split(strings.TrimSpace(string(recorded)), "\n\n") {
		lines := strings.Split(block, "\n")
		query, want := lines[0], lines[1:]
		why := unlikeRecorded(s, query, want)
		reason, listed := differences[query]
		switch {
		case listed && why == "":
			t.Errorf("%s\nagrees: take it off differences.txt (%s)", query, reason)
		case listed:
			met++
		case why != "":
			t.Errorf("%s\n%s", query, why)
		}
	}
	if met != len(differences) {
		t.Errorf("%d of %d listed differences were met", met, len(differences))
	}
}

// unlikeRecorded says how our answer to a query differs from the recorded rows or error, "" if it does not.
func unlikeRecorded(s *session.Session, query string, want []string) string {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var got []string
	res, err := s.Execute(ctx, query)
	if err == nil {
		defer res.Rows.Close()
		got, err = shownRows(ctx, res)
	}
	if len(want) == 1 && strings.HasPrefix(want[0], "error: ") {
		_, message, _ := strings.Cut(strings.TrimPrefix(want[0], "error: "), ": ")
		if err == nil {
			return "no error, want: " + message
		}
		if !strings.Contains(err.Error(), message) {
			return fmt.Sprintf(" got: %s\nwant: %s", err, message)
		}
		return ""
	}
	if err != nil {
		return err.Error()
	}
	if !strings.Contains(query[strings.LastIndex(query, ")")+1:], "ORDER BY") {
		want = slices.Clone(want)
		slices.Sort(got)
		slices.Sort(want)
	}
	if !slices.Equal(got, want) {
		return fmt.Sprintf(" got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	return ""
}

// shownRows gives the rows as Flink's client shows them, cells separated by tabs.
func shownRows(ctx context.Context, res *session.Result) ([]string, error) {
	var rows []string
	for {
		b, err := res.Rows.Next(ctx)
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		for k := range b.Rows() {
			var cells []string
			for _, c := range b.Cols {
				if i := b.Row(k); c.Null(i) {
					cells = append(cells, "<NULL>")
				} else {
					cells = append(cells, string(types.AppendShown(nil, c, i, time.UTC)))
				}
			}
			rows = append(rows, strings.Join(cells, "\t"))
		}
	}
}
