package main

import (
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"runnel/connectors/kafka"
	"runnel/internal/testkit"
	"runnel/session"
)

var update = flag.Bool("update", false, "rewrite the expected changelogs of testdata/logic from what comes out")

// TestLogic runs every test of testdata/logic in every variant.
func TestLogic(t *testing.T) {
	files, err := filepath.Glob("testdata/logic/*.test")
	if err != nil || len(files) == 0 {
		t.Fatal("no tests", err)
	}
	k := kafka.New(kafka.Config{Formats: formatTable, Dir: t.TempDir()})
	defer k.Close()
	setting := testkit.Setting{Connectors: connectorTable(k), Formats: formatTable}
	for _, f := range files {
		s, err := testkit.LoadScript(f)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(s.Name, func(t *testing.T) {
			if *update {
				updateScript(t, s, setting)
				return
			}
			for _, test := range s.Tests() {
				t.Run(fmt.Sprintf("line-%d", test.Step().Line), func(t *testing.T) {
					t.Parallel()
					runLogic(t, test, setting)
				})
			}
		})
	}
}

// runLogic runs one test in every variant. The plain one gives the table that all others are compared with.
func runLogic(t *testing.T, test testkit.Test, s testkit.Setting) {
	variants := append(testkit.Matrix(), testkit.Variant{Backend: "hashmap", Parallelism: 1, Batch: true},
		testkit.Variant{Backend: "hashmap", Parallelism: 2, Batch: true})
	for _, v := range variants {
		if !test.Runs(v) {
			continue
		}
		s.Dir = t.TempDir()
		logs, err := testkit.Play(test, v, s)
		if err != nil {
			t.Errorf("%s: %v", v, err)
			continue
		}
		if why := disagree(test, v, logs); why != "" {
			t.Errorf("%s: %s", v, why)
		}
	}
}

// disagree says how a run differs from what the test wants, "" if it does not.
func disagree(test testkit.Test, v testkit.Variant, logs testkit.Logs) string {
	if r := test.Step().Refused; r != nil {
		if logs.Err == nil {
			return "no error was reported"
		}
		for _, want := range r.Lines {
			if text := errorText(logs.Err); !strings.Contains(text, want) {
				return fmt.Sprintf("the error is\n%s\nwant: %s", text, want)
			}
		}
		return ""
	}
	if logs.Err != nil {
		return "the statement failed: " + errorText(logs.Err)
	}
	if v.Break != testkit.Straight && !logs.Broken && !test.Step().Short() {
		return "the job was not interrupted: it ended before the middle of its input"
	}
	for _, w := range test.Step().Wants {
		if v.Plain() {
			if why := testkit.Compare(w.Level, w.Changes, logs.Changes[w.Sink]); why != "" {
				return why
			}
			continue
		}
		if why := logs.Differ(w); why != "" {
			return why
		}
		if v.Batch {
			for _, c := range logs.Changes[w.Sink] {
				if c.Kind != "+I" {
					return fmt.Sprintf("batch mode gives %s", c)
				}
			}
		}
	}
	return ""
}

func errorText(err error) string {
	text := err.Error()
	var e *session.Error
	if errors.As(err, &e) {
		text += "\n" + strings.Join(e.Detail, "\n")
	}
	return text
}

// updateScript writes the changelogs of the plain variant into the file.
func updateScript(t *testing.T, s *testkit.Script, setting testkit.Setting) {
	logs, refusals := map[int]map[string][]testkit.Change{}, map[int]string{}
	for _, test := range s.Tests() {
		setting.Dir = t.TempDir()
		got, err := testkit.Play(test, testkit.Matrix()[0], setting)
		switch {
		case err != nil:
			t.Errorf("%s: %v", test.Name(), err)
		case got.Err != nil && test.Step().Refused == nil:
			t.Errorf("%s: %s", test.Name(), errorText(got.Err))
		case got.Err != nil:
			refusals[test.At], _, _ = strings.Cut(got.Err.Error(), "\n")
		default:
			logs[test.At] = got.Changes
		}
	}
	if err := s.Update(logs, refusals); err != nil {
		t.Error(err)
	}
}
