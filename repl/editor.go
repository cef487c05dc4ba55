package repl

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
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
	in         *bufio.Reader
	out        io.Writer
	echo       bool             // show prompts
	interrupts <-chan os.Signal // Ctrl-C at a prompt, nil for none
	lines      chan plainLine
	reading    bool // a line has been asked for and has not come
}

type plainLine struct {
	text string
	err  error
}

// NewPlainEditor reads lines from in. Prompts are written to out if echo is set; then Ctrl-C, which interrupts delivers, gives up what
// was typed.
func NewPlainEditor(in io.Reader, out io.Writer, echo bool, interrupts <-chan os.Signal) Editor {
	if !echo {
		interrupts = nil
	}
	return &plainEditor{in: bufio.NewReader(in), out: out, echo: echo, interrupts: interrupts, lines: make(chan plainLine, 1)}
}

// line reads a line. The read of an interrupted one goes on, for the next.
func (e *plainEditor) line() (string, error) {
	if !e.reading {
		e.reading = true
		go func() {
			text, err := e.in.ReadString('\n')
			e.lines <- plainLine{text, err}
		}()
	}
	select {
	case l := <-e.lines:
		e.reading = false
		return l.text, l.err
	case <-e.interrupts:
		io.WriteString(e.out, "\n")
		return "", errInterrupted
	}
}

func (e *plainEditor) Read(_ context.Context, whole func(string) bool) (string, error) {
	var text strings.Builder
	prompt := promptText
	for {
		if e.echo {
			io.WriteString(e.out, prompt)
		}
		line, err := e.line()
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
