package repl

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
)

// Ctrl-C at the prompt of a terminal that knows no codes gives up what was typed; the line that is read meanwhile is not lost.
func TestPlainEditorIsInterrupted(t *testing.T) {
	in, typing := io.Pipe()
	defer typing.Close()
	var out bytes.Buffer
	interrupts := make(chan os.Signal, 1)
	e := NewPlainEditor(in, &out, true, interrupts)
	whole := func(s string) bool { return strings.Contains(s, ";") }
	interrupts <- os.Interrupt
	if text, err := e.Read(context.Background(), whole); text != "" || !errors.Is(err, errInterrupted) {
		t.Fatalf("%q, %v", text, err)
	}
	go io.WriteString(typing, "SELECT\n1;\n")
	if text, err := e.Read(context.Background(), whole); text != "SELECT\n1;\n" || err != nil {
		t.Fatalf("%q, %v", text, err)
	}
	if want := promptText + "\n" + promptText + promptMore; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
