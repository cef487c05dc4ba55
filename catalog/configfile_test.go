package catalog

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLoadFile(t *testing.T) {
	const text = `
# Flink's format: nested, flat, or both
parallelism:
  default: 3
execution.checkpointing.interval: 10 s
state:
  backend:
    type: rocksdb
sql-client:
  execution:
    result-mode: tableau
table.exec.state.ttl: 1 h
pipeline:
  global-job-parameters:
    a: 1
    b: two
restart-strategy:
  type: fixed-delay
  fixed-delay: {attempts: 5, delay: 2 s}
`
	c := NewConfig()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	notes, err := c.LoadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range map[string]string{
		"parallelism.default": "3", "execution.checkpointing.interval": "10 s", "state.backend.type": "badger",
		"sql-client.execution.result-mode": "TABLEAU", "table.exec.state.ttl": "1 h", "pipeline.global-job-parameters": "a:1,b:two",
		"restart-strategy.type": "fixed-delay", "restart-strategy.fixed-delay.attempts": "5", "restart-strategy.fixed-delay.delay": "2 s",
	} {
		if got := c.Get(k); got != want {
			t.Errorf("%s = %q, want %q", k, got, want)
		}
	}
	if s := strings.Join(notes, "\n"); !strings.Contains(s, "'rocksdb' is 'badger'") {
		t.Errorf("notes: %s", s)
	}
	c.ResetAll()
	if c.Int("parallelism.default") != 3 {
		t.Error("RESET took a value of the file")
	}
}

func TestLoadFileErrors(t *testing.T) {
	for text, want := range map[string]string{
		"parallelism.default: many": "line 1: parallelism.default",
		"- a\n- b":                  "keys and values expected",
		"a: [":                      "reading x.yaml",
		"parallelism.default: 1\nparallelism:\n  default: 2\n": "there twice",
	} {
		if _, err := NewConfig().load("x.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestLike(t *testing.T) {
	for _, tt := range []struct {
		name, pattern string
		want          bool
	}{
		{"orders", "o%", true}, {"orders", "%s", true}, {"orders", "%d%", true}, {"orders", "o_ders", true}, {"orders", "O%", false},
		{"a_b", `a\_b`, true}, {"axb", `a\_b`, false}, {"", "%", true}, {"abc", "ab", false}, {"aab", "%ab", true}, {"x%", `x\%`, true},
	} {
		if got := Like(tt.name, tt.pattern); got != tt.want {
			t.Errorf("Like(%q, %q) = %t", tt.name, tt.pattern, got)
		}
	}
}
