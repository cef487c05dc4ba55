package repl

import (
	"fmt"
	"strings"
)

// runeColumns is how many columns a character takes on a terminal: none for combining ones. Tables measure otherwise, see
// runeWidth.
func runeColumns(r rune) int {
	switch {
	case r >= ' ' && r < 0x7f:
		return 1
	case r == 0x200d || r >= 0xfe00 && r <= 0xfe0f:
		return 0
	}
	return width.RuneWidth(r)
}

// onScreen measures what a terminal draws.
var onScreen measure = runeColumns

// screenText is a statement laid out on the rows of a terminal.
type screenText struct {
	rows     []string // with colours, and with \r\n where a line of the text ends
	row, col int      // of the cursor
}

// layOut breaks a text with its prompts into rows. prompt gives the prompt of a line of the text, counted from 0, and may
// hold colours; colours are those of the characters, nil for none.
func layOut(text []rune, pos int, colours []string, prompt func(line int) string, width int) screenText {
	var s screenText
	var row strings.Builder
	used, line, colour := 0, 0, ""
	begin := func() {
		p := prompt(line)
		row.WriteString(p)
		used = onScreen.of(stripColours(p))
	}
	paint := func(c string) {
		if c == colour {
			return
		}
		colour = c
		row.WriteString(plain)
		if c != "" {
			row.WriteString("\x1b[" + c + "m")
		}
	}
	end := func(mark string) {
		s.rows = append(s.rows, row.String()+mark)
		row.Reset()
		used = 0
	}
	begin()
	for i, r := range text {
		w := runeColumns(r)
		if r != '\n' && used+w > width {
			end("")
		}
		if i == pos {
			s.row, s.col = len(s.rows), used
		}
		if r == '\n' {
			paint("")
			end("\r\n")
			line++
			begin()
			continue
		}
		if colours != nil {
			paint(colours[i])
		}
		row.WriteRune(r)
		used += w
	}
	paint("")
	if pos == len(text) {
		s.row, s.col = len(s.rows), used
	}
	end("")
	s.col = min(s.col, width-1)
	return s
}

// window cuts the rows to a height around the cursor.
func (s *screenText) window(height int) {
	if len(s.rows) <= height {
		return
	}
	from := min(max(s.row-height/2, 0), len(s.rows)-height)
	s.rows = s.rows[from : from+height]
	s.row -= from
	last := &s.rows[height-1]
	*last = strings.TrimSuffix(*last, "\r\n")
}

// stripColours takes out SGR sequences.
func stripColours(s string) string {
	for {
		at := strings.Index(s, "\x1b[")
		if at < 0 {
			return s
		}
		n := strings.IndexByte(s[at:], 'm')
		if n < 0 {
			return s
		}
		s = s[:at] + s[at+n+1:]
	}
}

// drawn remembers where the cursor is in what an editor has drawn, so that it can be drawn over.
type drawn struct{ row int }

// clear gives the sequence that takes away what was drawn.
func (d *drawn) clear() string {
	s := "\r"
	if d.row > 0 {
		s += fmt.Sprintf("\x1b[%dA", d.row)
	}
	d.row = 0
	return s + "\x1b[J"
}

// draw gives the sequence that replaces what was drawn by text and lines below it.
func (d *drawn) draw(s screenText, below []string) string {
	var b strings.Builder
	b.WriteString("\x1b[?25l" + d.clear())
	for _, r := range s.rows {
		b.WriteString(r)
	}
	for _, l := range below {
		b.WriteString("\r\n" + l)
	}
	if up := len(s.rows) + len(below) - 1 - s.row; up > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", up)
	}
	b.WriteByte('\r')
	if s.col > 0 {
		fmt.Fprintf(&b, "\x1b[%dC", s.col)
	}
	b.WriteString("\x1b[?25h")
	d.row = s.row
	return b.String()
}

// listed arranges words in columns below each other, at most height lines of them.
func listed(words []string, width, height int) []string {
	widest := 0
	for _, w := range words {
		widest = max(widest, onScreen.of(w)+2)
	}
	columns := max(1, (width-1)/max(widest, 1))
	rows := (len(words) + columns - 1) / columns
	hidden := 0
	if rows > height {
		rows = max(height-1, 1)
		hidden = len(words) - rows*columns
		words = words[:rows*columns]
	}
	lines := make([]string, rows)
	for i, w := range words {
		at := i % rows
		lines[at] += w + strings.Repeat(" ", widest-onScreen.of(w))
	}
	for i, l := range lines {
		lines[i] = clip(strings.TrimRight(l, " "), width-1)
	}
	if hidden > 0 && height > 1 {
		lines = append(lines, fmt.Sprintf(".. %d more", hidden))
	}
	return lines
}
