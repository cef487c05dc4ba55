package repl

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/chzyer/readline"
)

// errInterrupted is what an Editor gives for Ctrl-C at the prompt.
var errInterrupted = errors.New("interrupted")

// Editor reads lines. Line gives io.EOF when there are no more and errInterrupted for Ctrl-C.
type Editor interface {
	Line(prompt string) (string, error)
	// Remember adds a whole statement to the history.
	Remember(statement string)
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

func (e *plainEditor) Line(prompt string) (string, error) {
	if e.echo {
		io.WriteString(e.out, prompt)
	}
	line, err := e.in.ReadString('\n')
	if line == "" && err != nil {
		return "", err
	}
	return strings.TrimRight(line, "\r\n"), nil
}

func (*plainEditor) Remember(string) {}
func (*plainEditor) Close() error    { return nil }

// lineEditor is the editor of a real terminal.
type lineEditor struct {
	rl   *readline.Instance
	term *Terminal
}

// NewLineEditor makes the editor of the terminal on stdin. history is the file of former statements; complete gives the
// candidates for the word before the cursor of an incomplete statement.
func NewLineEditor(term *Terminal, history string, complete func(text string) []string) (Editor, error) {
	if err := os.MkdirAll(filepath.Dir(history), 0o700); err != nil {
		return nil, fmt.Errorf("history folder: %w", err)
	}
	in := &pasteFilter{in: os.Stdin}
	rl, err := readline.NewEx(&readline.Config{
		HistoryFile:            history,
		HistoryLimit:           5000,
		DisableAutoSaveHistory: true,
		InterruptPrompt:        "^C",
		Stdin:                  readline.NewCancelableStdin(in),
		Stdout:                 os.Stdout,
		AutoComplete:           completer{complete, in},
	})
	if err != nil {
		return nil, fmt.Errorf("line editor: %w", err)
	}
	os.Chmod(history, 0o600)
	io.WriteString(os.Stdout, "\x1b[?2004h")
	return &lineEditor{rl, term}, nil
}

func (e *lineEditor) Line(prompt string) (string, error) {
	e.rl.SetPrompt(prompt)
	e.term.prompt(e.rl.Stdout())
	line, err := e.rl.Readline()
	e.term.prompt(nil)
	if errors.Is(err, readline.ErrInterrupt) {
		return "", errInterrupted
	}
	return line, err
}

// Remember keeps one line per statement: line comments become block comments, so that the joined text means the same.
func (e *lineEditor) Remember(statement string) { e.rl.SaveHistory(oneLine(statement)) }

func (e *lineEditor) Close() error {
	io.WriteString(os.Stdout, "\x1b[?2004l")
	return e.rl.Close()
}

// pasteFilter strips the marks of a bracketed paste and turns tabs inside it into blanks, which would otherwise complete.
type pasteFilter struct {
	in    io.Reader
	rest  []byte // read, not yet given
	paste bool
}

const pasteBegin, pasteEnd = "\x1b[200~", "\x1b[201~"

func (f *pasteFilter) Read(p []byte) (int, error) {
	buf := make([]byte, len(p))
	n, err := f.in.Read(buf)
	data := append(f.rest, buf[:n]...)
	f.rest = nil
	out := p[:0]
	for len(data) > 0 {
		mark := pasteBegin
		if f.paste {
			mark = pasteEnd
		}
		// A lone escape outside a paste is the key; a mark comes in one piece, or is cut behind its first characters.
		if data[0] == '\x1b' && (f.paste || len(data) > 1) && strings.HasPrefix(mark, string(data[:min(len(data), len(mark))])) {
			if len(data) < len(mark) {
				f.rest = data
				break
			}
			f.paste = !f.paste
			data = data[len(mark):]
			continue
		}
		c := data[0]
		if f.paste && c == '\t' {
			c = ' '
		}
		if len(out) == cap(out) {
			f.rest = data
			break
		}
		out = append(out, c)
		data = data[1:]
	}
	return len(out), err
}

func (f *pasteFilter) Close() error { return nil }

// completer adapts candidates to the line editor: it can only append, so the case of what was typed stays.
type completer struct {
	candidates func(string) []string
	in         *pasteFilter
}

func (c completer) Do(line []rune, pos int) ([][]rune, int) {
	text := string(line[:pos])
	word := text[strings.LastIndexAny(text, " \t\n(),.;=<>'+-*/")+1:]
	if word == "" || c.candidates == nil || c.in.paste {
		return nil, 0
	}
	end := " "
	if strings.Count(text, "'")%2 == 1 {
		end = "" // inside quotes, which only the user can close
	}
	var out [][]rune
	for _, w := range c.candidates(text) {
		if len(w) > len(word) && strings.EqualFold(w[:len(word)], word) {
			out = append(out, []rune(w[len(word):]+end))
		}
	}
	return out, len([]rune(word))
}
