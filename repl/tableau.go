package repl

import (
	"bufio"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"

	"runnel/types"
)

// nullText is how a NULL shows at the top level of a query's result.
const nullText = "<NULL>"

// width measures as Flink does: East-Asian wide and fullwidth characters count two, all others one.
var width = &runewidth.Condition{}

func displayWidth(s string) int {
	n := 0
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

func runeWidth(r rune) int {
	if r < 0x1100 {
		return 1
	}
	return max(width.RuneWidth(r), 1)
}

// tableau is the table that grows with a streaming query: fixed column widths, a row per change.
type tableau struct {
	out    *bufio.Writer
	fields []types.Field
	widths []int
	rows   int64
	begun  bool
}

// newTableau fixes the widths by the columns' types; wide is the width of columns without one of their own.
func newTableau(out io.Writer, fields []types.Field, wide int) *tableau {
	t := &tableau{out: bufio.NewWriterSize(out, 64<<10), fields: fields}
	for _, f := range fields {
		t.widths = append(t.widths, max(typeWidth(f.Type, wide), displayWidth(f.Name), len(nullText)))
	}
	return t
}

// typeWidth is the room that values of a type need (client.md 6.1).
func typeWidth(t types.Type, wide int) int {
	switch t.Kind {
	case types.TinyInt:
		return 4
	case types.SmallInt:
		return 6
	case types.Int:
		return 11
	case types.BigInt:
		return 20
	case types.Decimal:
		return t.Precision + 2
	case types.Boolean:
		return 5
	case types.Date:
		return 10
	case types.Time:
		if t.Precision == 0 {
			return 8
		}
		return t.Precision + 9
	case types.Timestamp, types.TimestampLTZ:
		return [...]int{19, 23, 23, 23, 26, 26, 26, 29, 29, 29}[min(t.Precision, 9)]
	}
	return wide
}

// begin prints the header, before any row has come.
func (t *tableau) begin() error {
	t.begun = true
	t.border()
	t.out.WriteString("| op |")
	for i, f := range t.fields {
		t.cell(f.Name, t.widths[i])
	}
	t.out.WriteByte('\n')
	t.border()
	return t.out.Flush()
}

// row prints one change.
func (t *tableau) row(kind types.RowKind, cells []string) {
	t.rows++
	t.out.WriteString("| ")
	t.out.WriteString(kind.String())
	t.out.WriteString(" |")
	for i, c := range cells {
		t.cell(c, t.widths[i])
	}
	t.out.WriteByte('\n')
}

// end closes the table if it has rows.
func (t *tableau) end() error {
	if t.rows > 0 {
		t.border()
	}
	return t.out.Flush()
}

func (t *tableau) border() { writeBorder(t.out, append([]int{2}, t.widths...)) }

func (t *tableau) cell(s string, w int) { writeCell(t.out, s, w) }

func writeBorder(out *bufio.Writer, widths []int) {
	out.WriteByte('+')
	for _, w := range widths {
		out.WriteString(strings.Repeat("-", w+2))
		out.WriteByte('+')
	}
	out.WriteByte('\n')
}

// writeCell prints a right-aligned cell, cut to its width.
func writeCell(out *bufio.Writer, s string, w int) {
	s, n := fit(s, w)
	out.WriteByte(' ')
	for range w - n {
		out.WriteByte(' ')
	}
	out.WriteString(s)
	out.WriteString(" |")
}

// fit cuts text that is too wide so that it and "..." fill the width.
func fit(s string, w int) (string, int) {
	if len(s) <= w {
		if n := displayWidth(s); n <= w {
			return s, n
		}
	}
	n := displayWidth(s)
	if n <= w {
		return s, n
	}
	room, used, end := w-3, 0, 0
	for i, r := range s {
		rw := runeWidth(r)
		if used+rw > room {
			break
		}
		used += rw
		end = i + utf8.RuneLen(r)
	}
	return s[:end] + "...", used + 3
}

// table is a bounded answer: widths by content.
type table struct {
	names []string
	rows  [][]string
	most  int // greatest width of a column, 0 for none
}

func (t *table) write(w io.Writer) error {
	out := bufio.NewWriter(w)
	widths := make([]int, len(t.names))
	for i, n := range t.names {
		widths[i] = displayWidth(n)
	}
	for _, r := range t.rows {
		for i, c := range r {
			widths[i] = max(widths[i], displayWidth(c))
		}
	}
	if t.most > 0 {
		for i := range widths {
			widths[i] = min(widths[i], t.most)
		}
	}
	line := func(cells []string) {
		out.WriteByte('|')
		for i, c := range cells {
			writeCell(out, c, widths[i])
		}
		out.WriteByte('\n')
	}
	writeBorder(out, widths)
	line(t.names)
	writeBorder(out, widths)
	for _, r := range t.rows {
		line(r)
	}
	writeBorder(out, widths)
	return out.Flush()
}
