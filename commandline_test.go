package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// ranProgram is one run of the program to its end.
type ranProgram struct {
	code        int
	out, errOut string
}

// commandLine runs the program with its own data directory, as a script of a build server does.
type commandLine struct {
	t        *testing.T
	bin, dir string
}

func (c commandLine) command(args ...string) *exec.Cmd {
	cmd := exec.Command(c.bin, append(args, "--data", filepath.Join(c.dir, "data"))...)
	cmd.Dir = c.dir
	return cmd
}

func (c commandLine) run(stdin string, args ...string) ranProgram {
	c.t.Helper()
	var out, errOut bytes.Buffer
	cmd := c.command(args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errOut
	err := cmd.Run()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		c.t.Fatal(err)
	}
	return ranProgram{cmd.ProcessState.ExitCode(), out.String(), errOut.String()}
}

func (c commandLine) file(name, text string) {
	c.t.Helper()
	if err := os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

const commandLineDDL = `SET 'execution.checkpointing.interval' = '100 ms';
CREATE TABLE s (a INT) WITH ('connector' = 'datagen', 'rows-per-second' = '50', 'fields.a.kind' = 'sequence', 'fields.a.start' = '1', 'fields.a.end' = '100000');
CREATE TABLE p (c BIGINT, a BIGINT) WITH ('connector' = 'print');
`

func TestCommandLine(t *testing.T) {
	c := commandLine{t, buildProgram(t), t.TempDir()}
	c.file("bad.sql", "-- a comment\nSELECT 1; SELECT a,\n   nope FROM (VALUES (1)) AS t (a);\n")
	c.file("fine.sql", commandLineDDL+"SELECT 41 + 1 AS x;\nINSERT INTO p SELECT COUNT(*), SUM(a) FROM s;\n")
	c.file("file", "")
	for _, x := range []struct {
		name, stdin string
		args        []string
		code        int
		out, errOut string // parts, "!" in front of what must not be there
	}{
		{"standard input", "SELECT 41 + 1 AS x", []string{"-f", "-"}, exitOK, "42", ""},
		{"place of an error", "", []string{"-f", "bad.sql"}, exitFailed, "EXPR$0", "at bad.sql:3:4"},
		{"place in the first line", "SELECT 1; SELECT nope;", []string{"-f", "-"}, exitFailed, "EXPR$0", "at -:1:18"},
		{"the second file is missing", "", []string{"-f", "fine.sql", "-f", "nope.sql"}, exitUsage, "!42", "nope.sql: no such file"},
		{"check", "", []string{"--check", "-D", "rest.port=0", "-f", "fine.sql"}, exitOK, "!42", "checked: insert-into_default_catalog.default_database.p plans to"},
		{"commands without a semicolon", "help\nquit\nSELECT 42;\n", nil, exitOK, "!42", "!ERROR"},
		{"no process", "", []string{"list"}, exitFailed, "", "no runnel is running on data directory"},
	} {
		got := c.run(x.stdin, x.args...)
		if got.code != x.code || !holds(got.out, x.out) || !holds(got.errOut, x.errOut) {
			t.Errorf("%s: exit code %d\n%s\nstderr:\n%s", x.name, got.code, got.out, got.errOut)
		}
	}
	c.dir = filepath.Join(c.dir, "file")
	if got, err := exec.Command(c.bin, "--data", c.dir).CombinedOutput(); err == nil || !strings.Contains(string(got), otherDir) {
		t.Errorf("a file as data directory: %s, %v", got, err)
	}
}

func TestCheckRunsNothing(t *testing.T) {
	c := commandLine{t, buildProgram(t), t.TempDir()}
	c.file("fine.sql", commandLineDDL+"SELECT 1;\nINSERT INTO p SELECT COUNT(*), SUM(a) FROM s;\n")
	if got := c.run("", "--check", "-f", "fine.sql"); strings.Count(got.errOut, "succeeded") != 3 {
		t.Errorf("only SET and CREATE TABLE succeed under --check:\n%s", got.errOut)
	}
}

func holds(text, part string) bool {
	if not, ok := strings.CutPrefix(part, "!"); ok {
		return !strings.Contains(text, not)
	}
	return strings.Contains(text, part)
}

// TestOperator speaks to a running process from a second terminal, kills it, damages what it left, and goes on.
func TestOperator(t *testing.T) {
	c := commandLine{t, buildProgram(t), t.TempDir()}
	c.file("job.sql", commandLineDDL+"INSERT INTO p SELECT COUNT(*), SUM(a) FROM s;\n")
	start := func(args ...string) (*exec.Cmd, func(published string)) {
		cmd := c.command(append([]string{"-D", "rest.port=0", "-f", "job.sql"}, args...)...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd, func(pattern string) {
			for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
				if found, _ := filepath.Glob(filepath.Join(c.dir, pattern)); len(found) > 0 {
					return
				}
				if time.Now().After(end) {
					t.Fatalf("no %s", pattern)
				}
			}
		}
	}
	const published = "data/checkpoints/*/chk-*/_metadata"
	cmd, wait := start()
	wait(published)
	for _, x := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"list"}, exitOK, "default_database.p (RUNNING)"},
		{[]string{"cancel", "q"}, exitFailed, "no job 'q'; these are running:"},
		{[]string{"savepoint", "p"}, exitFailed, "no directory for savepoints is set: name one"},
		{[]string{"savepoint", "p", "sp"}, exitOK, "Savepoint completed"},
	} {
		if got := c.run("", x.args...); got.code != x.code || !strings.Contains(got.out+got.errOut, x.want) || strings.Contains(got.errOut, "Exception") {
			t.Errorf("%q: exit code %d\n%s%s", x.args, got.code, got.out, got.errOut)
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	if got := c.run("", "list"); got.code != exitFailed || !strings.Contains(got.errOut, "no runnel is running") {
		t.Errorf("after a kill: %d %s%s", got.code, got.out, got.errOut)
	}
	left, _ := filepath.Glob(filepath.Join(c.dir, published))
	for _, f := range left {
		if err := os.Truncate(f, 10); err != nil {
			t.Fatal(err)
		}
	}
	got := c.run("", "-D", "rest.port=0", "-f", "job.sql", "--resume")
	if got.code != exitFailed || !strings.Contains(got.errOut, "no checkpoint or savepoint of the job can be read") || !strings.Contains(got.errOut, filepath.Dir(left[0])) {
		t.Errorf("resumed from damaged checkpoints: %d\n%s", got.code, got.errOut)
	}
	for _, f := range left {
		if err := os.RemoveAll(filepath.Dir(f)); err != nil {
			t.Fatal(err)
		}
	}
	cmd, wait = start("--resume")
	wait(published)
	if got := c.run("", "stop", "--savepoint", "stopped", "p"); got.code != exitOK || !strings.Contains(got.out, "Savepoint completed") {
		t.Errorf("stop by name: %d %s%s", got.code, got.out, got.errOut)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("after the stop: %v", err)
	}
}
