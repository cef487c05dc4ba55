package repl

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// errInterrupted is what an Editor gives for Ctrl-C at the prompt.
var errInterrupted = errors.New("interrupted")

// errTooLong is what an Editor gives for a statement that is longer than maxBuffered; it has been passed over.
var errTooLong = fmt.Errorf("the statement is longer than %d bytes; run it from a file with -f", maxBuffered)

// Editor reads what a user types.
type Editor interface {
	// Read gives the next text that whole takes, or the rest of the input; io.EOF when there is no more and errInterrupted
	// for Ctrl-C.
	Read(ctx context.Context, whole func(text string) bool) (string, error)
	// Remember adds a whole statement to the history.
	Remember(statement string) error
	Close() error
}

// plainEditor reads a pipe or a dumb terminal.
type plainEditor struct {
	in   *bufio.Reader
	out  io.Writer
	echo bool // show prompts
}

// NewPlainEditor reads lines from in. Prompts are written to out if echo is set.
func NewPlainEditor(in io.Reader, out io.Writer, echo bool) Editor {
	return &plainEditor{bufio.NewReader(in), out, echo}
}

func (e *plainEditor) Read(_ context.Context, whole func(string) bool) (string, error) {
	var text strings.Builder
	prompt := promptText
	for {
		if e.echo {
			io.WriteString(e.out, prompt)
		}
		line, err := e.in.ReadString('\n')
		if err != nil && line == "" {
			if text.Len() > 0 && errors.Is(err, io.EOF) {
				return text.String(), nil
			}
			return "", err
		}
		text.WriteString(strings.TrimRight(line, "\r\n") + "\n")
		if text.Len() > maxBuffered {
			return "", errTooLong
		}
		if whole(text.String()) {
			return text.String(), nil
		}
		prompt = promptMore
	}
}

func (*plainEditor) Remember(string) error { return nil }
func (*plainEditor) Close() error          { return nil }
