package repl

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
)

// pager shows an answer that does not fit on the screen: a part of its lines, below the head that always shows.
type pager struct {
	head, lines   []string
	width, height int // of the terminal
	top, left     int // first line and column that show
}

// page shows an answer of lines, the first fixed of which stay where they are, until the user leaves it. What showed last stays
// on the terminal.
func (s *Shell) page(ctx context.Context, text string, fixed int) error {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	p := &pager{head: lines[:fixed], lines: lines[fixed:]}
	k := newKeyReader(s.Keys)
	if err := k.begin(); err != nil {
		return err
	}
	defer func() {
		k.end()
		s.ahead += k.pending
	}()
	out := s.Term.openView()
	defer s.Term.closeView()
	io.WriteString(out, "\x1b[?1049h\x1b[?25l")
	defer func() {
		io.WriteString(out, "\x1b[0m\x1b[?25h\x1b[?1049l"+strings.Join(p.shown(), "\r\n")+"\r\n")
	}()
	for {
		p.width, p.height = k.size()
		io.WriteString(out, p.frame())
		key, err := k.next(ctx)
		if err != nil || p.key(key) {
			return nil
		}
	}
}

func (p *pager) body() int { return max(p.height-1-len(p.head), 1) }

// key obeys a key and reports whether it leaves.
func (p *pager) key(k string) (leave bool) {
	switch k {
	case "q", "Q", keyEsc, keyCtrlC, "ctrl-d":
		return true
	case keyDown, keyEnter, "j", "s":
		p.top++
	case keyUp, "k", "w":
		p.top--
	case keyNext, " ", "f", "n":
		p.top += p.body()
	case keyPrev, "b", "p":
		p.top -= p.body()
	case keyHome, "g":
		p.top = 0
	case keyEnd, "G":
		p.top = len(p.lines)
	case keyRight, "l", "d":
		p.left += p.width / 2
	case keyLeft, "h", "a":
		p.left -= p.width / 2
	}
	p.top = max(min(p.top, len(p.lines)-p.body()), 0)
	widest := 0
	for _, l := range append(p.head, p.lines[p.top:min(p.top+p.body(), len(p.lines))]...) {
		widest = max(widest, onScreen.of(l))
	}
	p.left = max(min(p.left, widest-p.width), 0)
	return false
}

// shown gives the lines on the screen.
func (p *pager) shown() []string {
	lines := slices.Concat(p.head, p.lines[p.top:min(p.top+p.body(), len(p.lines))])
	for i, l := range lines {
		lines[i] = clip(shown(skip(l, p.left)), p.width)
	}
	return lines
}

// frame draws the screen.
func (p *pager) frame() string {
	var b strings.Builder
	b.WriteString("\x1b[H")
	for _, l := range p.shown() {
		b.WriteString(l + "\x1b[K\r\n")
	}
	b.WriteString("\x1b[J")
	help := fmt.Sprintf(" Lines %d to %d of %d   Space Next Page   B Prev Page   Arrows Scroll   Q Quit ", p.top+1, min(p.top+p.body(), len(p.lines)), len(p.lines))
	fmt.Fprintf(&b, "\x1b[%d;1H%s%s%s", p.height, inverse, clip(help, p.width), plain)
	return b.String()
}

// skip cuts columns off the beginning of a line.
func skip(s string, columns int) string {
	used := 0
	for i, r := range s {
		if used >= columns {
			return s[i:]
		}
		used += runeColumns(r)
	}
	return ""
}

// fits reports whether an answer can be shown without a pager: when there is none, or the screen holds it.
func (s *Shell) fits(text []byte) bool {
	if s.Keys == nil || s.watching || strings.EqualFold(s.Exec.Option("sql-client.display.pager"), "false") {
		return true
	}
	w, h := newKeyReader(s.Keys).size()
	if bytes.Count(text, []byte("\n")) > h-3 {
		return false
	}
	for line := range bytes.Lines(text) {
		if len(line) > w && onScreen.of(strings.TrimRight(string(line), "\n")) > w {
			return false
		}
	}
	return true
}
