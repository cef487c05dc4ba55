package repl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/sys/unix"

	"runnel/session"
)

// lineEditor edits statements of several lines on a terminal.
type lineEditor struct {
	keys     *keyReader
	out      io.Writer
	term     *Terminal
	history  *history
	complete func(text string) (int, []session.Word)
	option   func(key string) string

	mu     sync.Mutex // of what is below: lines of other goroutines are drawn above the prompt
	buf    buffer
	screen drawn
	below  []string
	at     int    // entry of the history that shows, len(entries) for the draft
	draft  string // what was typed before the history was looked at
	search *search
}

// search is an incremental search through the history.
type search struct {
	query  string
	by     int // -1 to older entries
	at     int
	before string // the text at its beginning
	failed bool
}

// NewLineEditor makes the editor of the terminal tty, which is stdin. historyFile keeps former statements; complete gives the
// words that can stand at the end of a text, and option the value of a session option.
func NewLineEditor(tty *os.File, term *Terminal, historyFile string, complete func(text string) (int, []session.Word), option func(key string) string) (Editor, error) {
	h, err := openHistory(historyFile)
	if err != nil {
		return nil, err
	}
	return &lineEditor{keys: newKeyReader(tty), out: os.Stdout, term: term, history: h, complete: complete, option: option}, nil
}

// Read edits until Enter finds the text whole.
func (e *lineEditor) Read(ctx context.Context, whole func(string) bool) (string, error) {
	if err := e.keys.begin(); err != nil {
		return "", err
	}
	defer e.keys.end()
	e.mu.Lock()
	e.buf.set("")
	e.buf.undo, e.below, e.search, e.screen = nil, nil, nil, drawn{}
	e.at = len(e.history.entries)
	io.WriteString(e.out, "\x1b[?2004h")
	e.draw()
	e.mu.Unlock()
	e.term.prompt(above{e})
	text, err := e.edit(ctx, whole)
	e.term.prompt(nil)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.below, e.search = nil, nil
	e.buf.pos = len(e.buf.text)
	e.draw()
	io.WriteString(e.out, "\r\n\x1b[?2004l")
	return text, err
}

func (e *lineEditor) edit(ctx context.Context, whole func(string) bool) (string, error) {
	for {
		key, err := e.keys.next(ctx)
		if err != nil {
			return "", err
		}
		text := ""
		if key == keyPaste { // before the lock: lines of others appear meanwhile
			if text, err = e.keys.paste(ctx); err != nil {
				return "", err
			}
		}
		e.mu.Lock()
		done, err := e.key(key, text, whole)
		if err == nil && !done {
			e.draw()
		}
		text = e.buf.String()
		e.mu.Unlock()
		if errors.Is(err, errSuspend) {
			if err = e.suspend(); err == nil {
				continue
			}
		}
		if err != nil || done {
			return text, err
		}
	}
}

// errSuspend asks for Ctrl-Z.
var errSuspend = errors.New("suspend")

// suspend stops the process as the terminal would in its usual mode, and goes on when it is continued.
func (e *lineEditor) suspend() error {
	e.term.prompt(nil)
	io.WriteString(e.out, "\r\n\x1b[?2004l")
	e.keys.end()
	if err := unix.Kill(0, unix.SIGTSTP); err != nil {
		return fmt.Errorf("suspending: %w", err)
	}
	if err := e.keys.begin(); err != nil {
		return err
	}
	e.mu.Lock()
	e.screen = drawn{}
	io.WriteString(e.out, "\x1b[?2004h")
	e.draw()
	e.mu.Unlock()
	e.term.prompt(above{e})
	return nil
}

// Remember adds a statement to the history.
func (e *lineEditor) Remember(statement string) error { return e.history.add(statement) }

// Close has nothing to close: the terminal is in its usual mode between statements.
func (e *lineEditor) Close() error { return nil }

// above writes whole lines above the text under edit.
type above struct{ e *lineEditor }

func (a above) Write(p []byte) (int, error) {
	a.e.mu.Lock()
	defer a.e.mu.Unlock()
	if _, err := io.WriteString(a.e.out, a.e.screen.clear()+strings.ReplaceAll(string(p), "\n", "\r\n")); err != nil {
		return 0, err
	}
	a.e.draw()
	return len(p), nil
}

// prompt is the prompt of a line.
func (e *lineEditor) prompt(line int) string {
	switch {
	case line == 0 && !e.term.Colours():
		return promptText
	case line == 0:
		return "\x1b[32mFlink SQL\x1b[0m> "
	case strings.EqualFold(e.option("sql-client.display.show-line-numbers"), "true"):
		return strconv.Itoa(line) + promptMore
	}
	return promptMore
}

func (e *lineEditor) layOut() screenText {
	scheme := e.option("sql-client.display.color-schema")
	if !e.term.Colours() {
		scheme = "DEFAULT"
	}
	return layOut(e.buf.text, e.buf.pos, highlight(e.buf.text, scheme), e.prompt, e.keys.w)
}

func (e *lineEditor) draw() {
	s := e.layOut()
	below := e.below
	if e.search != nil {
		below = []string{clip(e.search.line(), e.keys.w-1)}
	}
	below = below[:min(len(below), max(e.keys.h-2, 0))]
	s.window(max(e.keys.h-1-len(below), 1))
	io.WriteString(e.out, e.screen.draw(s, below))
}

// resized finds out where the cursor is after the terminal has broken the lines anew.
func (e *lineEditor) resized() {
	s := e.layOut()
	if len(s.rows) >= e.keys.h-1 {
		io.WriteString(e.out, "\x1b[H\x1b[2J")
		s.row = 0
	}
	e.screen.row = s.row
}

// key obeys a key, with the text that was pasted; done says that the text is whole.
func (e *lineEditor) key(key, paste string, whole func(string) bool) (done bool, err error) {
	e.below = nil
	if e.search != nil && e.searchKey(key) {
		return false, nil
	}
	b := &e.buf
	switch key {
	case keyEnter:
		if whole(b.String()) {
			return true, nil
		}
		b.insert("\n")
	case "alt-enter":
		b.insert("\n")
	case keyCtrlC:
		return false, errInterrupted
	case "ctrl-d":
		if len(b.text) == 0 {
			return false, io.EOF
		}
		b.cut(b.pos, b.step(1), false)
	case "ctrl-z":
		return false, errSuspend
	case keyPaste:
		b.insert(pasted(paste))
	case keyResize:
		e.resized()
	case keyTab:
		e.completeWord()
	case "ctrl-l":
		io.WriteString(e.out, "\x1b[H\x1b[2J")
		e.screen.row = 0
	case "ctrl-r":
		e.beginSearch(-1)
	case "ctrl-s":
		e.beginSearch(1)
	default:
		e.editKey(key)
	}
	if len(string(b.text)) > maxBuffered {
		return false, errTooLong
	}
	return false, nil
}

// editKey obeys the keys that move the cursor and change the text.
func (e *lineEditor) editKey(key string) {
	b := &e.buf
	switch key {
	case keyLeft, "ctrl-b":
		b.pos = b.step(-1)
	case keyRight, "ctrl-f":
		b.pos = b.step(1)
	case keyHome, "ctrl-a":
		b.pos = b.lineStart()
	case keyEnd, "ctrl-e":
		b.pos = b.lineEnd()
	case keyWordLeft, "alt-b":
		b.pos = b.wordLeft()
	case keyWordRight, "alt-f":
		b.pos = b.wordRight()
	case keyUp:
		if !b.vertical(-1) {
			e.turn(-1, "")
		}
	case keyDown:
		if !b.vertical(1) {
			e.turn(1, "")
		}
	case "ctrl-p":
		e.turn(-1, "")
	case "ctrl-n":
		e.turn(1, "")
	case "alt-p", keyPrev:
		e.turn(-1, string(b.text[:b.pos]))
	case "alt-n", keyNext:
		e.turn(1, string(b.text[:b.pos]))
	case "alt-<":
		b.pos = 0
	case "alt->":
		b.pos = len(b.text)
	default:
		e.changeKey(key)
	}
}

func (e *lineEditor) changeKey(key string) {
	b := &e.buf
	switch key {
	case keyErase:
		b.cut(b.step(-1), b.pos, false)
	case keyDelete:
		b.cut(b.pos, b.step(1), false)
	case "ctrl-k":
		end := b.lineEnd()
		if end == b.pos {
			end = min(end+1, len(b.text)) // an empty rest takes the line break
		}
		b.cut(b.pos, end, true)
	case "ctrl-u":
		b.cut(0, len(b.text), true)
	case "ctrl-w":
		b.cut(b.blankLeft(), b.pos, true)
	case "alt-erase":
		b.cut(b.wordLeft(), b.pos, true)
	case "alt-d":
		b.cut(b.pos, b.wordRight(), true)
	case "ctrl-y":
		b.yank()
	case "ctrl-_":
		b.takeBack()
	case "ctrl-t":
		b.swap()
	case "alt-t":
		b.swapWords()
	case "alt-c":
		b.recase(unicode.ToUpper, unicode.ToLower)
	case "alt-l":
		b.recase(unicode.ToLower, unicode.ToLower)
	case "alt-u":
		b.recase(unicode.ToUpper, unicode.ToUpper)
	default:
		if r := []rune(key); len(r) == 1 {
			b.insert(key)
		}
	}
}

// turn shows an older (-1) or newer (1) statement of the history: the next one that begins with prefix.
func (e *lineEditor) turn(by int, prefix string) {
	if e.at == len(e.history.entries) {
		e.draft = e.buf.String()
	}
	at := e.history.find(e.at+by, by, func(s string) bool { return strings.HasPrefix(s, prefix) })
	switch {
	case at >= 0:
		e.at = at
		e.buf.set(e.history.entries[at])
	case by > 0 && e.at < len(e.history.entries):
		e.at = len(e.history.entries)
		e.buf.set(e.draft)
	default:
		return
	}
	e.buf.undo = nil
	if prefix != "" {
		e.buf.pos = min(len([]rune(prefix)), len(e.buf.text))
	}
}

func (e *lineEditor) beginSearch(by int) {
	e.search = &search{by: by, at: e.at, before: e.buf.String()}
}

func (s *search) line() string {
	name := map[int]string{-1: "reverse-search", 1: "forward-search"}[s.by]
	if s.failed {
		name = "failing " + name
	}
	return fmt.Sprintf("(%s)'%s'", name, s.query)
}

// searchKey obeys a key during a search; false says that the search has ended and the key is for the text.
func (e *lineEditor) searchKey(key string) bool {
	s := e.search
	switch key {
	case keyResize:
		e.resized()
		return true
	case "ctrl-r", "ctrl-s":
		s.by = -1
		if key == "ctrl-s" {
			s.by = 1
		}
		e.seek(s.at + s.by)
	case keyErase:
		r := []rune(s.query)
		s.query = string(r[:max(len(r)-1, 0)])
		e.seek(len(e.history.entries) - 1)
	case "ctrl-g", keyEsc:
		e.buf.set(s.before)
		e.search = nil
	default:
		if len([]rune(key)) != 1 {
			e.search = nil
			return false
		}
		s.query += key
		e.seek(min(s.at, len(e.history.entries)-1))
	}
	return true
}

// seek shows the next entry from at on that holds what is searched for.
func (e *lineEditor) seek(at int) {
	s := e.search
	query := strings.ToLower(s.query)
	found := e.history.find(at, s.by, func(entry string) bool { return strings.Contains(strings.ToLower(entry), query) })
	if s.failed = found < 0 && query != ""; found < 0 || query == "" {
		return
	}
	s.at, e.at = found, found
	e.buf.set(e.history.entries[found])
	e.buf.pos = len([]rune(e.buf.String()[:strings.Index(strings.ToLower(e.buf.String()), query)]))
}
