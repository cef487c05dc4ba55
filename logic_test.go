package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"runnel/connectors/kafka"
	"runnel/internal/testkit"
	"runnel/session"
)

var (
	foreignDir = flag.String("flink", "", "write the tests of testdata/logic into this directory, for a Flink to run, see testdata/logic/README.md")
	recordings = flag.String("recorded", "", "compare the tests of testdata/logic with what a Flink gave, a file of scripts/record-logic.py")
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
		if !test.Runs(v) || t.Failed() && testing.Short() {
			continue
		}
		s.Dir = scratch(t)
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

// scratch is a directory in memory where there is a file system for that: what is tested here is no durability.
func scratch(t *testing.T) string {
	if dir, err := os.MkdirTemp("/dev/shm", "runnel"); err == nil {
		t.Cleanup(func() { os.RemoveAll(dir) })
		return dir
	}
	return t.TempDir()
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
	if v.Break != testkit.Straight && logs.Read && !logs.Broken && !test.Step().Short() {
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

// recording is what a Flink gave for a test.
type recording struct {
	Name    string            `json:"name"`
	Error   string            `json:"error"`
	Paced   bool              `json:"paced"` // rows came one by one, in the order of the script
	Changes []testkit.Change  `json:"changes"`
	Batch   *[]testkit.Change `json:"batch"`
}

// TestLogicForFlink writes the tests for a Flink to run, or compares them with what it gave.
func TestLogicForFlink(t *testing.T) {
	files, _ := filepath.Glob("testdata/logic/*.test")
	recorded := map[string]recording{}
	switch {
	case *recordings != "":
		b, err := os.ReadFile(*recordings)
		if err != nil {
			t.Fatal(err)
		}
		var list []recording
		if err := json.Unmarshal(b, &list); err != nil {
			t.Fatal(err)
		}
		for _, r := range list {
			recorded[r.Name] = r
		}
	case *foreignDir == "":
		t.Skip("runs with -flink or -recorded only")
	}
	var all []testkit.Foreign
	for _, file := range files {
		s, err := testkit.LoadScript(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, test := range s.Tests() {
			if r, ok := recorded[test.Name()]; ok {
				if why := unlike(test, r); why != "" {
					t.Errorf("%s: %s", test.Name(), why)
				}
				continue
			}
			if *foreignDir == "" {
				continue
			}
			f, ok, err := testkit.ForFlink(test, *foreignDir, testkit.Setting{Formats: formatTable})
			if err != nil {
				t.Fatal(test.Name(), err)
			}
			if ok {
				all = append(all, f)
			}
		}
	}
	if *foreignDir == "" {
		return
	}
	b, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(*foreignDir, "tests.json"), b, 0o644); err != nil {
		t.Fatal(err)
	}
}

// unlike says how a test differs from a recording.
func unlike(test testkit.Test, r recording) string {
	if want := test.Step().Refused; want != nil {
		for _, line := range want.Lines {
			if !strings.Contains(r.Error, line) {
				return fmt.Sprintf("Flink's error is %q", r.Error)
			}
		}
		return ""
	}
	if r.Error != "" {
		return "Flink refuses: " + r.Error
	}
	w := test.Step().Wants[0]
	level := w.Level
	if test.Interleaved() && !r.Paced {
		level = testkit.Final
	}
	if why := testkit.Compare(level, r.Changes, w.Changes); why != "" {
		return why
	}
	if r.Batch != nil {
		if why := testkit.Compare(testkit.Final, *r.Batch, w.Changes); why != "" {
			return "in batch mode: " + why
		}
	}
	return ""
}
