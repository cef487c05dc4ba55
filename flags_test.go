package main

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
)

// TestFlags reads command lines; "" means that they are refused as wrong usage.
func TestFlags(t *testing.T) {
	for _, c := range []struct{ args, set string }{
		{"-D a.b=1 -Dc=2 -D d=x=y", "a.b=1 c=2 d=x=y"},
		{"-i init.sql -f a.sql --file b.sql -D a=1", "a=1"},
		{"-s my_session-1.a -D a=1", "a=1"},
		{"--session x -D a=1", "a=1"},
		{"-s a/b", ""},
		{"-D novalue", ""},
		{"-D =x", ""},
		{"--resume", ""},
		{"--ephemeral --data x", ""},
		{"stray", ""},
		{"--nope", ""},
	} {
		f, err := parseFlags(strings.Fields(c.args), io.Discard)
		if c.set == "" {
			if !errors.Is(err, errUsage) {
				t.Errorf("%s: %v", c.args, err)
			}
			continue
		}
		if err != nil || !slices.Equal(f.set, strings.Fields(c.set)) {
			t.Errorf("%s: %q, %v", c.args, f.set, err)
		}
	}
}

// TestHelpNamesEveryFlag holds the text of -h against the flags.
func TestHelpNamesEveryFlag(t *testing.T) {
	for _, name := range []string{"-f FILE", "-i FILE", "-s NAME", "-D KEY=VALUE", "--config", "--data", "--ephemeral", "--embedded-kafka", "--resume", "--check", "--echo", "--version", "Exit codes:"} {
		if !strings.Contains(usageText, "\n  "+name) && !strings.Contains(usageText, "\n"+name) {
			t.Errorf("no line for %s", name)
		}
	}
	for line := range strings.Lines(usageText) {
		if len(line) > 124 {
			t.Errorf("too long for a terminal: %s", line)
		}
	}
}
