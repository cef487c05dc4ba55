package repl

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func wide() int { return 80 }

func TestPipesKeepResultsAndNewsApart(t *testing.T) {
	var out, errOut bytes.Buffer
	term := NewTerminal(&out, &errOut, nil, "unused")
	w := term.Lines()
	fmt.Fprint(w, "+I[1]\n+I[")
	term.Message("[INFO] done")
	term.Notice("[ERROR] job failed")
	fmt.Fprint(w, "2]\n")
	fmt.Fprint(term, "| table |\n")
	term.Status("1 in, 2 out")
	if got, want := out.String(), "+I[1]\n+I[2]\n| table |\n"; got != want {
		t.Errorf("stdout %q, want %q", got, want)
	}
	if got, want := errOut.String(), "[INFO] done\n[ERROR] job failed\n"; got != want {
		t.Errorf("stderr %q, want %q", got, want)
	}
}

func TestForeignLinesAboveAPromptAreLimited(t *testing.T) {
	file := filepath.Join(t.TempDir(), "overflow")
	var out, above bytes.Buffer
	term := NewTerminal(&out, &out, wide, file)
	w := term.Lines()
	fmt.Fprint(w, "before\n")
	term.prompt(&above)
	for i := range linesPerSecond + 30 {
		fmt.Fprintf(w, "+I[%d]\n", i)
	}
	term.prompt(nil)
	lines := strings.Split(strings.TrimSpace(above.String()), "\n")
	if len(lines) != linesPerSecond+1 || lines[0] != "+I[0]" || lines[linesPerSecond] != ".. 30 more lines, see "+file {
		t.Errorf("%d lines, last %q", len(lines), lines[len(lines)-1])
	}
	hidden, err := os.ReadFile(file)
	if err != nil || !strings.HasPrefix(string(hidden), "+I[200]\n") || strings.Count(string(hidden), "\n") != 30 {
		t.Errorf("overflow file %q, %v", hidden, err)
	}
	if out.String() != "before\n" {
		t.Errorf("stdout %q", out.String())
	}
	term.Close()
}

func TestLinesWaitForAView(t *testing.T) {
	var out bytes.Buffer
	term := NewTerminal(&out, &out, wide, filepath.Join(t.TempDir(), "overflow"))
	w := term.Lines()
	v := term.openView()
	fmt.Fprint(v, "[view]")
	fmt.Fprint(w, "+I[1]\n")
	term.Notice("news")
	if out.String() != "[view]" {
		t.Fatalf("lines came into the view: %q", out.String())
	}
	big := strings.Repeat("x", queuedBytes)
	fmt.Fprintln(w, big)
	term.closeView()
	if got := out.String(); !strings.HasPrefix(got, "[view]+I[1]\nnews\n.. 1 more lines, see ") {
		t.Errorf("got %q", got[:min(len(got), 80)])
	}
	term.Close()
}

func TestStatusLineGivesWay(t *testing.T) {
	var out bytes.Buffer
	term := NewTerminal(&out, &out, wide, "unused")
	term.Status("10 in")
	fmt.Fprint(term.Lines(), "+I[1]\n")
	if got, want := out.String(), "\r10 in\x1b[K\r\x1b[K+I[1]\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestMessagesAreColouredByLevel(t *testing.T) {
	for _, c := range []struct {
		tty, colourless bool
		line, want      string
	}{
		{true, false, "[NOTE] x", "\x1b[33;1m[NOTE]\x1b[0m x\n"},
		{true, false, "[ERROR] x\ny", "\x1b[31;1m[ERROR] x\ny\x1b[0m\n"},
		{true, false, "plain [NOTE]", "plain [NOTE]\n"},
		{true, true, "[NOTE] x", "[NOTE] x\n"},
		{false, false, "[ERROR] x", "[ERROR] x\n"},
	} {
		var out bytes.Buffer
		term := &Terminal{out: &out, err: &out, tty: c.tty, colourless: c.colourless, width: wide}
		term.Message(c.line)
		term.Notice(c.line)
		if got := out.String(); got != c.want+c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
