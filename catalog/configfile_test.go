package catalog

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLoadFile(t *testing.T) {
	dir := t.TempDir()
	write := func(text string) string {
		p := filepath.Join(dir, "config.yaml")
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	c := NewConfig()
	notes, err := c.LoadFile(write(`
parallelism.default: 3
execution:
  checkpointing:
    interval: 5 s
    num-retained: 2
table:
  local-time-zone: Europe/Berlin
no.such.key: [a, b]
`))
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range map[string]string{
		"parallelism.default": "3", "execution.checkpointing.interval": "5 s",
		"execution.checkpointing.num-retained": "2", "table.local-time-zone": "Europe/Berlin", "no.such.key": "a;b",
	} {
		if got := c.Get(k); got != want {
			t.Errorf("%s is %q, want %q", k, got, want)
		}
	}
	if len(notes) != 1 || !strings.Contains(notes[0], "no.such.key") {
		t.Errorf("notes %q", notes)
	}
	c.Set("parallelism.default", "9")
	c.Reset("parallelism.default")
	if got := c.Get("parallelism.default"); got != "3" {
		t.Errorf("after RESET %q", got)
	}
	for text, want := range map[string]string{
		"a: [": "config.yaml", "parallelism: {default: x}": "parallelism.default", "- list": "config.yaml",
	} {
		if _, err := NewConfig().LoadFile(write(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
