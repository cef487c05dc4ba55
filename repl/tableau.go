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

// width knows which characters are wide.
var width = &runewidth.Condition{}

// measure is how many columns a character takes: flinkColumns where the output has to be Flink's, runeColumns on a terminal.
type measure func(rune) int

// of is how many columns text takes.
func (m measure) of(s string) int {
	n := 0
	for _, r := range s {
		n += m(r)
	}
	return n
}

// flinkColumns measures as Flink does: a unit of UTF-16 counts one, also of what a terminal draws over the character before, and
// East-Asian wide and fullwidth characters count one more.
func flinkColumns(r rune) int {
	n := 1
	if r > 0xffff {
		n = 2
	}
	if r >= 0x1100 && width.RuneWidth(r) == 2 {
		n++
	}
	return n
}

// measure is that of the output.
func (s *Shell) measure() measure {
	if s.Term.TTY() {
		return runeColumns
	}
	return flinkColumns
}

// tableau is the table that grows with a streaming query: fixed column widths, a row per change.
type tableau struct {
	out    *bufio.Writer
	fields []types.Field
	widths []int
	by     measure
	rows   int64
	whole  []bool // by column, nil for none: its values are never cut, even where the column was made narrower than they are
}

// newTableau fixes the widths by the columns' types; wide is the width of columns without one of their own.
func newTableau(out io.Writer, fields []types.Field, wide int, by measure) *tableau {
	t := &tableau{out: bufio.NewWriterSize(out, 64<<10), fields: fields, by: by}
	for _, f := range fields {
		t.widths = append(t.widths, max(typeWidth(f.Type, wide), by.of(f.Name), len(nullText)))
	}
	return t
}

// fitTo makes columns narrower until a row fits into a terminal, first the texts, then the numbers, the widest first. Columns that do not fit even so are left out, from
// the right; it gives their names.
func (t *tableau) fitTo(screen int) (out []string) {
	least, room := make([]int, len(t.widths)), screen-len("| op |")
	t.whole = make([]bool, len(t.widths))
	n := 0
	for i, f := range t.fields {
		least[i], t.whole[i] = leastWidth(f.Type)
		if room -= min(least[i], t.widths[i]) + 3; n == i && (room >= 0 || i == 0) {
			n++
		}
	}
	if n == 1 {
		least[0] = len(nullText)
	}
	for _, f := range t.fields[n:] {
		out = append(out, f.Name)
	}
	t.fields, t.widths = t.fields[:n], t.widths[:n]
	total := len("| op |")
	for _, w := range t.widths {
		total += w + 3
	}
	for _, numbers := range [...]bool{false, true} {
		for ; total > screen; total-- {
			widest := -1
			for i, w := range t.widths {
				if t.whole[i] == numbers && w > least[i] && (widest < 0 || w > t.widths[widest]) {
					widest = i
				}
			}
			if widest < 0 {
				break
			}
			t.widths[widest]--
		}
	}
	return out
}

// leastWidth is how narrow a column may become on a terminal, and whether its values show whole whatever its width: half a number is
// a wrong one.
func leastWidth(t types.Type) (columns int, whole bool) {
	switch t.Kind {
	case types.Int, types.BigInt, types.Decimal, types.Float, types.Double:
		return min(typeWidth(t, 12), 12), true
	}
	if w := typeWidth(t, 0); w > 0 {
		return max(w, len(nullText)), true
	}
	return 10, false
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
	for i, c := range cells[:len(t.widths)] {
		w := t.widths[i]
		if t.whole != nil && t.whole[i] {
			w = max(w, t.by.of(c))
		}
		t.cell(c, w)
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

func (t *tableau) cell(s string, w int) { writeCell(t.out, s, w, t.by) }

func writeBorder(out *bufio.Writer, widths []int) {
	out.WriteByte('+')
	for _, w := range widths {
		out.WriteString(strings.Repeat("-", w+2))
		out.WriteByte('+')
	}
	out.WriteByte('\n')
}

// writeCell prints a right-aligned cell, cut to its width.
func writeCell(out *bufio.Writer, s string, w int, by measure) {
	s, n := fit(s, w, by)
	out.WriteByte(' ')
	for range w - n {
		out.WriteByte(' ')
	}
	out.WriteString(s)
	out.WriteString(" |")
}

// fit cuts text that is too wide so that it and "..." fill the width.
func fit(s string, w int, by measure) (string, int) {
	n := by.of(s)
	if n <= w {
		return s, n
	}
	room, used, end := w-3, 0, 0
	for i, r := range s {
		if used+by(r) > room {
			break
		}
		used += by(r)
		end = i + utf8.RuneLen(r)
	}
	return s[:end] + "...", used + 3
}

// table is a bounded answer: widths by content.
type table struct {
	names []string
	rows  [][]string
	most  int // greatest width of a column, 0 for none
	by    measure
	// narrow is the width of the terminal that the borders of texts of several lines keep to, 0 for borders as wide as the
	// whole text, which Flink draws.
	narrow int
}

// room is the width that a cell wants.
func (t *table) room(cell string) int {
	if t.narrow == 0 || !strings.Contains(cell, "\n") {
		return t.by.of(cell)
	}
	widest := 0
	for line := range strings.Lines(cell) {
		widest = max(widest, t.by.of(strings.TrimRight(line, "\n")))
	}
	return min(widest, t.narrow-4)
}

func (t *table) write(w io.Writer) error {
	out := bufio.NewWriter(w)
	widths := make([]int, len(t.names))
	for i, n := range t.names {
		widths[i] = t.by.of(n)
	}
	for _, r := range t.rows {
		for i, c := range r {
			widths[i] = max(widths[i], t.room(c))
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
			if t.narrow > 0 && t.most == 0 && strings.Contains(c, "\n") {
				out.WriteString(" " + c + " |")
				continue
			}
			writeCell(out, c, widths[i], t.by)
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
