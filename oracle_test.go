package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"runnel/connectors/kafka"
	"runnel/internal/testkit"
	"runnel/session"
)

const oracleDir = "testdata/oracle"

// listFile reads "name  reason" lines.
func listFile(t *testing.T, name string) map[string]string {
	t.Helper()
	f, err := os.Open(filepath.Join(oracleDir, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m := map[string]string{}
	for sc := bufio.NewScanner(f); sc.Scan(); {
		line := strings.TrimSpace(sc.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		k, v, _ := strings.Cut(line, " ")
		m[k] = strings.TrimSpace(v)
		if m[k] == "" {
			t.Errorf("%s: %s has no reason", name, k)
		}
	}
	return m
}

func loadCases(t *testing.T) []*testkit.Case {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(oracleDir, "cases", "*"))
	if err != nil || len(dirs) == 0 {
		t.Fatal("no cases", err)
	}
	var cases []*testkit.Case
	for _, d := range dirs {
		c, err := testkit.LoadCase(d, filepath.Join(oracleDir, "prelude.sql"))
		if err != nil {
			t.Fatal(err)
		}
		cases = append(cases, c)
	}
	return cases
}

// setting is how cases are run by default.
func setting(t *testing.T) testkit.Setting {
	k := kafka.New(kafka.Config{Formats: formatTable, Dir: t.TempDir()})
	t.Cleanup(func() { k.Close() })
	return testkit.Setting{Connectors: connectorTable(k), Formats: formatTable, Dir: t.TempDir()}
}

// TestOracle runs every recorded case at parallelism 1. Cases whose constructs do not exist yet are listed by name in
// pending.txt; one that agrees must leave the list.
func TestOracle(t *testing.T) {
	pending, otherWords := listFile(t, "pending.txt"), listFile(t, "otherwords.txt")
	values, errs, waiting := 0, 0, 0
	for _, c := range loadCases(t) {
		t.Run(c.Name, func(t *testing.T) {
			why := agree(t, c, setting(t), c.Level, otherWords)
			if reason, listed := pending[c.Name]; listed {
				if why == "" {
					t.Errorf("agrees: take it off pending.txt")
				}
				waiting++
				t.Skipf("pending: %s", reason)
			}
			if why != "" {
				t.Fatal(why)
			}
			if c.Error != nil {
				errs++
			} else {
				values++
			}
		})
	}
	fmt.Printf("oracle cases: %d value cases and %d error cases agree, %d pending\n", values, errs, waiting)
}

// agree runs a case and says how it differs from what Flink gave.
func agree(t *testing.T, c *testkit.Case, s testkit.Setting, level testkit.Level, otherWords map[string]string) string {
	t.Helper()
	got, err := testkit.Run(s, c.Text)
	if err != nil {
		return err.Error()
	}
	if c.Error != nil {
		return refused(c, got.Err, otherWords)
	}
	if got.Err != nil {
		return "refused: " + got.Err.Error()
	}
	if c.Query {
		if why := testkit.Compare(level, c.Select, got.Select); why != "" {
			return why
		}
	}
	for id, want := range c.Print {
		if why := testkit.Compare(level, want, got.Print[id]); why != "" {
			return fmt.Sprintf("sink %q: %s", id, why)
		}
	}
	for id := range got.Print {
		if _, ok := c.Print[id]; !ok {
			return fmt.Sprintf("rows from a sink %q that prints nothing on Flink", id)
		}
	}
	return ""
}

var (
	blanks     = regexp.MustCompile("[\\s'\"`]+")
	exceptions = regexp.MustCompile(`[\w.$]+(exception|error): `)
)

func squeeze(s string) string {
	return strings.ToLower(strings.TrimSpace(blanks.ReplaceAllString(s, " ")))
}

// refused checks that a case failed with the words that people search for.
func refused(c *testkit.Case, err error, otherWords map[string]string) string {
	if err == nil {
		return "no error was reported"
	}
	text := err.Error()
	var e *session.Error
	if errors.As(err, &e) {
		text += "\n" + strings.Join(e.Detail, "\n")
	}
	first, _, _ := strings.Cut(c.Error.Text, "\n")
	want := exceptions.ReplaceAllString(squeeze(first), "")
	want = want[:min(len(want), 100)]
	if strings.Contains(squeeze(text), want) {
		return ""
	}
	if _, ok := otherWords[c.Name]; ok {
		return ""
	}
	return fmt.Sprintf("refused in other words: %s\nwant: %s", text, want)
}

// TestOracleBatch runs the recorded cases in batch mode: the rows must be those that are left when the recorded changelog is
// applied. Cases that batch mode refuses, or in which a stream means something else, are listed in batch.txt; one that
// agrees must leave the list.
func TestOracleBatch(t *testing.T) {
	pending, except := listFile(t, "pending.txt"), listFile(t, "batch.txt")
	agreed := 0
	for _, c := range loadCases(t) {
		if c.Error != nil || pending[c.Name] != "" {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			s := setting(t)
			s.Dir = scratch(t)
			s.Set = [][2]string{{"execution.runtime-mode", "batch"}}
			why := agree(t, c, s, testkit.Final, nil)
			if why == "" {
				s.Set = append(s.Set, [2]string{"taskmanager.memory.managed.size", "1 kb"}) // most goes to disk
				if why := agree(t, c, s, testkit.Final, nil); why != "" {
					t.Errorf("with little memory: %s", why)
				}
			}
			switch reason, listed := except[c.Name]; {
			case listed && why == "":
				t.Error("agrees: take it off batch.txt")
			case listed && !strings.Contains(why, strings.TrimPrefix(reason, "refused: ")) && !strings.HasPrefix(why, "missing"):
				t.Errorf("%s\nbatch.txt: %s", why, reason)
			case listed:
				return
			case why != "":
				t.Error(why)
			}
			agreed++
		})
	}
	fmt.Printf("oracle cases: %d agree in batch mode, %d are not for it\n", agreed, len(except))
}

// TestOracleParallel runs the recorded cases at other parallelisms, and with a stop in the middle and a start from the
// savepoint at another parallelism. What is left when the changelog is applied must be the same. Cases in which the order
// of arrival from several subtasks decides are listed in order.txt.
func TestOracleParallel(t *testing.T) {
	pending, order := listFile(t, "pending.txt"), listFile(t, "order.txt")
	if len(order) > 10 {
		t.Errorf("%d cases in order.txt, at most 10 are left out", len(order))
	}
	variants := []struct {
		name     string
		s        testkit.Setting
		parallel bool
	}{
		{"parallelism 2", testkit.Setting{Parallelism: 2, PollRows: 3}, true},
		{"parallelism 4", testkit.Setting{Parallelism: 4, PollRows: 1}, true},
		{"stopped, 1 to 1", testkit.Setting{Parallelism: 1, StopAfter: 4, Then: 1, PollRows: 1}, false},
		{"stopped, 1 to 4", testkit.Setting{Parallelism: 1, StopAfter: 3, Then: 4, PollRows: 1}, true},
		{"stopped, 2 to 1", testkit.Setting{Parallelism: 2, StopAfter: 2, Then: 1, PollRows: 1}, true},
	}
	for _, c := range loadCases(t) {
		if c.Error != nil || pending[c.Name] != "" {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			for _, v := range variants {
				if v.parallel && order[c.Name] != "" {
					continue
				}
				s := setting(t)
				s.Dir = scratch(t)
				v.s.Connectors, v.s.Formats, v.s.Dir = s.Connectors, s.Formats, s.Dir
				v.s.Set = [][2]string{{"state.backend.type", "hashmap"}}
				if why := agree(t, c, v.s, testkit.Final, nil); why != "" {
					t.Errorf("%s: %s", v.name, why)
				}
			}
		})
	}
}
