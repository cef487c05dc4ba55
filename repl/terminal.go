package repl

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

const (
	// linesPerSecond is how many foreign lines appear above a live prompt in a second.
	linesPerSecond = 200
	// queuedBytes bounds what waits while a full-screen view is open.
	queuedBytes = 1 << 20
)

// Terminal is the only writer to stdout and stderr. Results and messages of the shell, lines of print sinks and news of
// jobs all go through it, each from its own goroutine, and come out as whole lines.
//
// On a terminal, foreign lines (print sinks, news) appear above a live prompt, at most linesPerSecond of them; the others
// go to the overflow file and are counted in a line that names it. While a full-screen view is open they wait, bounded
// likewise. When stdout is no terminal, print sinks and results go to stdout and everything else to stderr, unlimited.
type Terminal struct {
	out, err   io.Writer
	tty        bool
	colourless bool   // NO_COLOR is set
	dumb       bool   // a terminal that knows no control sequences
	together   bool   // messages go to stdout even if it is no terminal
	overflow   string // path of the file for lines that are not shown
	width      func() int

	mu      sync.Mutex
	live    io.Writer // draws above the prompt; nil when none is shown
	view    bool
	queue   [][]byte
	queued  int
	second  time.Time
	shown   int
	hidden  int
	file    *os.File
	fileErr error
	status  string // the status line on screen, "" for none
}

// NewTerminal makes the owner of out and err. width gives the columns of the terminal that out is, and is nil when it is
// none. Lines that are not shown are appended to the file overflow.
func NewTerminal(out, err io.Writer, width func() int, overflow string) *Terminal {
	return &Terminal{out: out, err: err, tty: width != nil, dumb: os.Getenv("TERM") == "dumb", colourless: os.Getenv("NO_COLOR") != "", width: width, overflow: overflow}
}

// Together sends messages of the shell to stdout, among the results, as Flink's client does.
func (t *Terminal) Together() { t.together = true }

// TTY reports whether stdout is a terminal.
func (t *Terminal) TTY() bool { return t.tty }

// Codes reports whether stdout is a terminal that knows control sequences.
func (t *Terminal) Codes() bool { return t.tty && !t.dumb }

// Colours reports whether to colour: on a terminal that can, unless the user wants none (NO_COLOR).
func (t *Terminal) Colours() bool { return t.Codes() && !t.colourless }

// levels are how a line's first word is coloured, and whether the rest of the line is too.
var levels = [...]struct {
	word, colour string
	all          bool
}{{"[ERROR]", "\x1b[31;1m", true}, {"[NOTE]", "\x1b[33;1m", false}, {"[INFO]", "\x1b[34;1m", false}}

// paint colours a message by its level.
func (t *Terminal) paint(line string) string {
	if !t.Colours() {
		return line
	}
	for _, l := range levels {
		if rest, ok := strings.CutPrefix(line, l.word); ok {
			if l.all {
				return l.colour + line + plain
			}
			return l.colour + l.word + plain + rest
		}
	}
	return line
}

// Width is the number of columns, 0 when stdout is no terminal.
func (t *Terminal) Width() int {
	if !t.tty {
		return 0
	}
	return t.width()
}

// Write writes results and answers to stdout.
func (t *Terminal) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clearStatus()
	return t.out.Write(p)
}

// Message writes a line of the shell: to stdout on a terminal, else to stderr.
func (t *Terminal) Message(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clearStatus()
	w := t.err
	if t.tty || t.together {
		w = t.out
		if t.live != nil {
			w = t.live
		}
	}
	fmt.Fprintln(w, t.paint(line))
}

// Notice shows a line of news from a background goroutine, with the limits of foreign lines.
func (t *Terminal) Notice(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.tty {
		fmt.Fprintln(t.err, line)
		return
	}
	t.foreign([]byte(t.paint(line) + "\n"))
}

// Lines gives a writer for print sinks: complete lines come out whole whatever else is written.
func (t *Terminal) Lines() io.Writer { return &lineWriter{t: t} }

// Errors gives a writer for print sinks that write to standard error.
func (t *Terminal) Errors() io.Writer { return &lineWriter{t: t, toErr: true} }

type lineWriter struct {
	t     *Terminal
	toErr bool
	mu    sync.Mutex
	part  []byte
}

func (w *lineWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	end := bytes.LastIndexByte(p, '\n') + 1
	if end == 0 {
		w.part = append(w.part, p...)
		return len(p), nil
	}
	whole := p[:end]
	if len(w.part) > 0 {
		whole = append(w.part, whole...)
		w.part = nil
	}
	w.part = append(w.part, p[end:]...)
	return len(p), w.t.lines(whole, w.toErr)
}

func (t *Terminal) lines(whole []byte, toErr bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clearStatus()
	if toErr && (!t.tty || t.live == nil) {
		_, err := t.err.Write(whole)
		return err
	}
	if !t.tty || (t.live == nil && !t.view) {
		_, err := t.out.Write(whole)
		return err
	}
	for len(whole) > 0 {
		end := bytes.IndexByte(whole, '\n') + 1
		t.foreign(whole[:end])
		whole = whole[end:]
	}
	return nil
}

// foreign shows, queues or hides one whole line.
func (t *Terminal) foreign(line []byte) {
	t.clearStatus()
	if t.view {
		if t.queued+len(line) > queuedBytes {
			t.hide(line)
			return
		}
		t.queue = append(t.queue, bytes.Clone(line))
		t.queued += len(line)
		return
	}
	if t.live == nil {
		t.out.Write(line)
		return
	}
	if now := time.Now(); now.Sub(t.second) >= time.Second {
		t.tell()
		t.second, t.shown = now, 0
	}
	if t.shown >= linesPerSecond {
		t.hide(line)
		return
	}
	t.shown++
	t.live.Write(line)
}

// hide puts a line into the overflow file.
func (t *Terminal) hide(line []byte) {
	if t.hidden == 0 && !t.view {
		// The count comes when the second is over, even if no further line does.
		time.AfterFunc(time.Second, func() {
			t.mu.Lock()
			defer t.mu.Unlock()
			if !t.view {
				t.tell()
			}
		})
	}
	t.hidden++
	if t.file == nil && t.fileErr == nil {
		t.file, t.fileErr = os.OpenFile(t.overflow, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	}
	if t.file != nil {
		t.file.Write(line)
	}
}

// tell says how many lines were hidden.
func (t *Terminal) tell() {
	if t.hidden == 0 {
		return
	}
	where := "see " + t.overflow
	if t.fileErr != nil {
		where = "lost: " + t.fileErr.Error()
	}
	w := t.live
	if w == nil {
		w = t.out
	}
	fmt.Fprintf(w, ".. %d more lines, %s\n", t.hidden, where)
	t.hidden = 0
}

// prompt says that a prompt is on screen and how to draw above it; nil says that it is gone.
func (t *Terminal) prompt(above io.Writer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if above == nil {
		t.tell()
	}
	t.live = above
}

// openView begins a full-screen view, which writes to the terminal itself until closeView.
func (t *Terminal) openView() io.Writer {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clearStatus()
	t.view = true
	return t.out
}

// closeView ends a full-screen view and shows what has waited.
func (t *Terminal) closeView() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.view = false
	for _, line := range t.queue {
		t.out.Write(line)
	}
	t.queue, t.queued = nil, 0
	t.tell()
}

// Status replaces the status line at the bottom of a terminal; "" removes it. Without a terminal it does nothing.
func (t *Terminal) Status(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.Codes() || t.live != nil || t.view {
		return
	}
	t.clearStatus()
	if line != "" {
		line, _ = fit(line, max(t.width()-1, 10), runeColumns) // a line that wraps could not be taken away
		fmt.Fprintf(t.out, "\r%s\x1b[K", line)
		t.status = line
	}
}

// clearStatus removes the status line before something else is written.
func (t *Terminal) clearStatus() {
	if t.status != "" {
		io.WriteString(t.out, "\r\x1b[K")
		t.status = ""
	}
}

// Close closes the overflow file.
func (t *Terminal) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clearStatus()
	t.tell()
	if t.file != nil {
		return t.file.Close()
	}
	return nil
}
