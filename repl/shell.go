package repl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"runnel/catalog"
	"runnel/session"
	"runnel/sql"
)

// Executor executes statements. session.Session is one; a client of a remote gateway can be another.
type Executor interface {
	// Execute runs one statement, without its semicolon. ctx cancels the submission, not a job that was submitted.
	Execute(ctx context.Context, statement string) (*session.Result, error)
	// Option gives the effective value of a session option.
	Option(key string) string
}

// Shell runs statements and shows what they give.
type Shell struct {
	Exec Executor
	Term *Terminal
	// Interrupts delivers Ctrl-C. It is read only while a statement runs.
	Interrupts <-chan os.Signal
	// Echo prints prompts and statements of scripts as Flink's client does.
	Echo bool
	// Keys is the terminal from which full-screen views read their keys, nil when there is none: then TABLE and CHANGELOG
	// are shown as TABLEAU.
	Keys *os.File
	// Progress says in a few words how what runs is doing, nil for nothing.
	Progress func() string
	// Why says in some words why the query of a job has given no row so far, nil or "" for nothing.
	Why func(job string) string
	// AfterJob is told of each job that a script submitted, nil for nobody.
	AfterJob func(id string)

	last     string // the statement that \watch repeats
	watching bool   // \watch runs: nothing fills the screen

	ahead string // typed while a view or the pager was leaving, for the prompt

	interrupted int // how often Ctrl-C has ended something
}

const (
	promptText = "Flink SQL> "
	promptMore = "> "
	bold       = "\x1b[1m"
	plain      = "\x1b[0m"
)

// maxBuffered is the longest statement that is read from a terminal or pipe.
const maxBuffered = 16 << 20

// ErrStatement means that a statement failed and that its error has been shown.
var ErrStatement = errors.New("a statement failed")

// Interactive reads statements until QUIT or the end of input. Errors of statements are shown and the loop goes on; at the end
// of a pipe they are ErrStatement.
func (s *Shell) Interactive(ctx context.Context, ed Editor) error {
	defer ed.Close()
	whole := func(text string) bool {
		_, rest := sql.Split(text)
		return rest == nil || isWatch(text) || isCommand(command(text))
	}
	failed := false
	for ctx.Err() == nil {
		if e, ok := ed.(*lineEditor); ok {
			e.keys.pending, s.ahead = e.keys.pending+s.ahead, ""
		}
		text, err := ed.Read(ctx, whole)
		switch {
		case errors.Is(err, errInterrupted):
			s.space()
			continue
		case errors.Is(err, errTooLong):
			s.Term.Message("[ERROR] " + err.Error())
			continue
		case errors.Is(err, io.EOF) && failed && !s.Term.TTY():
			return ErrStatement
		case errors.Is(err, io.EOF), err != nil && ctx.Err() != nil:
			return nil
		case err != nil:
			return fmt.Errorf("reading of the terminal: %w", err)
		}
		if isWatch(text) {
			s.watch(ctx, strings.TrimSpace(text))
			s.space()
			continue
		}
		quit, err := s.statements(ctx, ed, sql.SplitAll(text))
		if quit {
			return nil
		}
		if failed = failed || err != nil; err != nil && !errors.Is(err, ErrStatement) {
			return err
		}
	}
	return ctx.Err()
}

// space puts an empty line in front of the next prompt of a terminal.
func (s *Shell) space() {
	if s.Term.TTY() {
		fmt.Fprintln(s.Term)
	}
}

// statements runs what was typed and puts it into the history.
func (s *Shell) statements(ctx context.Context, ed Editor, parts []sql.Piece) (quit bool, err error) {
	for i, p := range parts {
		if err := ed.Remember(catalog.MaskSecrets(p.Text) + ";"); err != nil {
			s.Term.Notice("[NOTE] " + err.Error())
		}
		quit, err := s.one(ctx, p.Text, place{})
		if quit {
			return true, nil
		}
		if left := len(parts) - 1 - i; err != nil && left > 0 {
			s.Term.Message("[NOTE] " + fmt.Sprintf("Not run: %d more %s of this input.", left, plural("statement", left > 1)))
		}
		s.space()
		if err != nil {
			return false, err
		}
	}
	return false, nil
}

// Script runs the statements of a script and stops at the first that fails, which gives ErrStatement. name is the script's
// file, for messages.
func (s *Shell) Script(ctx context.Context, name, text string) error {
	for _, p := range sql.SplitAll(text) {
		if s.Echo {
			fmt.Fprint(s.Term, promptText+echoed(p.Text))
		}
		quit, err := s.one(ctx, p.Text, place{name, p.At})
		if err != nil || quit {
			return err
		}
		if s.Echo {
			fmt.Fprintln(s.Term)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if s.Echo {
		fmt.Fprint(s.Term, promptText)
	}
	return nil
}

// Begin prints what Flink's client prints in front of a script that it echoes.
func (s *Shell) Begin(history string) {
	fmt.Fprintf(s.Term, "[INFO] Executing SQL from file.\n\nCommand history file path: %s\n", history)
}

// End prints what Flink's client prints behind it.
func (s *Shell) End() { fmt.Fprint(s.Term, "\nShutting down the session...\ndone.\n") }

// echoed is the part of a statement that Flink's client echoes: up to its last closing bracket.
func echoed(text string) string {
	return strings.ReplaceAll(text[:strings.LastIndexAny(text, ")]}")+1], "\n", "\n"+promptMore)
}

// place is where a statement stands in a script; the zero place is none.
type place struct {
	file string
	at   sql.Pos
}

// line says where an error is, as FILE:LINE:COLUMN if the error has a position in the statement.
func (p place) line(at sql.Pos) string {
	switch {
	case p.file == "":
		return ""
	case !at.IsValid():
		return fmt.Sprintf("\n  in the statement at %s:%d:%d", p.file, p.at.Line, p.at.Column)
	case at.Line == 1:
		at.Column += p.at.Column - 1
	}
	return fmt.Sprintf("\n  at %s:%d:%d", p.file, p.at.Line+at.Line-1, at.Column)
}

// one runs a statement or command and shows its result.
func (s *Shell) one(ctx context.Context, text string, in place) (quit bool, err error) {
	switch command(text) {
	case "QUIT", "EXIT":
		s.Term.Message("[INFO] " + "Exiting runnel...")
		return true, nil
	case "CLEAR":
		switch {
		case s.Term.Codes():
			fmt.Fprint(s.Term, "\x1b[H\x1b[2J\x1b[3J")
		case s.Echo || s.Term.TTY(): // as Flink's client clears a terminal that knows no codes
			fmt.Fprint(s.Term, strings.Repeat("\n", 200))
		}
		return false, nil
	case "HELP":
		return false, s.help()
	}
	run, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := s.onInterrupt(cancel)
	defer stop()
	s.last = text
	begin := time.Now()
	p, quiet := s.beginProgress(begin)
	defer quiet()
	res, err := s.Exec.Execute(run, text)
	if err != nil {
		s.showError(run, err, in)
		return false, ErrStatement
	}
	for _, n := range res.Notices {
		s.Term.Notice("[NOTE] " + n)
	}
	if err := s.show(run, res, begin, p); err != nil {
		s.showError(run, err, in)
		return false, ErrStatement
	}
	if res.Kind == session.Submitted && s.AfterJob != nil {
		s.AfterJob(res.JobID)
	}
	return false, nil
}

// onInterrupt calls cancel at the next Ctrl-C, until stop is called.
func (s *Shell) onInterrupt(cancel func()) (stop func()) {
	if s.Interrupts == nil {
		return func() {}
	}
	for pending := true; pending; { // one from before is not meant for this statement
		select {
		case <-s.Interrupts:
		default:
			pending = false
		}
	}
	done, left := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(left)
		select {
		case <-s.Interrupts:
			s.interrupted++
			cancel()
		case <-done:
		}
	}()
	return func() { close(done); <-left }
}

// isCommand tells the words that are no SQL and need no semicolon.
func isCommand(word string) bool {
	switch word {
	case "HELP", "QUIT", "EXIT", "CLEAR":
		return true
	}
	return false
}

// command gives the upper-case word of a one-word statement.
func command(text string) string {
	w := strings.ToUpper(strings.TrimSpace(text))
	if strings.ContainsAny(w, " \t\n'") {
		return ""
	}
	return w
}

func (s *Shell) showError(ctx context.Context, err error, in place) {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		s.Term.Message("[ERROR] " + "Interrupted: the statement was cancelled.")
		return
	}
	var b strings.Builder
	b.WriteString("[ERROR] Could not execute SQL statement. Reason:\n")
	b.WriteString(err.Error())
	var e *session.Error
	if errors.As(err, &e) {
		for _, line := range e.Detail {
			b.WriteString("\n" + line)
		}
	}
	if e == nil {
		e = &session.Error{}
	}
	b.WriteString(in.line(e.At))
	s.Term.Message(b.String())
}
