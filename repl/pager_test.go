package repl

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"runnel/session"
	"runnel/types"
)

func TestPagerObeysKeys(t *testing.T) {
	p := &pager{head: []string{"+--+", "|n |", "+--+"}, width: 10, height: 8}
	for i := range 10 {
		p.lines = append(p.lines, fmt.Sprintf("|%d|%s", i, strings.Repeat("x", 15)))
	}
	for _, c := range []struct {
		keys      string
		top, left int
	}{
		{keyDown, 1, 0}, {keyUp, 0, 0}, {keyUp, 0, 0}, {" ", 4, 0}, {"b", 0, 0}, {"G", 6, 0}, {" ", 6, 0}, {"g", 0, 0},
		{keyRight, 0, 5}, {keyRight, 0, 8}, {keyLeft, 0, 3}, {keyLeft, 0, 0}, {keyResize, 0, 0},
	} {
		if p.key(c.keys) || p.top != c.top || p.left != c.left {
			t.Errorf("%q: at %d, %d, want %d, %d", c.keys, p.top, p.left, c.top, c.left)
		}
	}
	p.left, p.top = 3, 1
	rows := strings.Split(styles.ReplaceAllString(p.frame(), ""), "\r\n")
	if rows[0] != "+" || rows[3] != strings.Repeat("x", 10) || !strings.Contains(rows[len(rows)-1], "Lines 2") {
		t.Errorf("%q", rows)
	}
	for _, k := range []string{"q", keyEsc, keyCtrlC} {
		if !p.key(k) {
			t.Errorf("%s does not leave", k)
		}
	}
}

func TestTextsOfSeveralLinesOnATerminal(t *testing.T) {
	var out bytes.Buffer
	tab := table{names: []string{"result"}, rows: [][]string{{"one\nthree\n"}}, by: runeColumns, narrow: 80}
	if err := tab.write(&out); err != nil {
		t.Fatal(err)
	}
	if want := "+--------+\n| result |\n+--------+\n| one\nthree\n |\n+--------+\n"; out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

func TestCombiningCharactersOnATerminal(t *testing.T) {
	for by, want := range map[string]string{"terminal": " e\u0301e\u0301e\u0301 |", "flink": " ... |"} {
		var out bytes.Buffer
		m := measure(flinkColumns)
		if by == "terminal" {
			m = runeColumns
		}
		tab := newTableau(&out, nil, 3, m)
		tab.cell("e\u0301e\u0301e\u0301", 3)
		if tab.out.Flush(); out.String() != want {
			t.Errorf("%s: %q, want %q", by, out.String(), want)
		}
	}
}

// counted counts the statements that it executes and interrupts the third.
type counted struct {
	modeOnly
	n         int
	interrupt chan os.Signal
}

func (c *counted) Execute(ctx context.Context, text string) (*session.Result, error) {
	if c.n++; c.n == 3 {
		c.interrupt <- os.Interrupt
		<-ctx.Done()
	}
	return &session.Result{Kind: session.Done}, nil
}

func TestWatch(t *testing.T) {
	var out bytes.Buffer
	e := &counted{interrupt: make(chan os.Signal, 1)}
	s := &Shell{Exec: e, Term: NewTerminal(&out, &out, nil, "unused"), Interrupts: e.interrupt}
	in := "\\watch\n\\what\nSELECT 1;\n\\watch 0.1\n"
	if err := s.Interactive(context.Background(), NewPlainEditor(strings.NewReader(in), io.Discard, false, nil)); err != nil {
		t.Fatal(err)
	}
	if e.n != 3 || strings.Count(out.String(), "Every 100ms: SELECT 1") != 2 ||
		!strings.Contains(out.String(), "no statement to repeat") || !strings.Contains(out.String(), "Unknown command") {
		t.Errorf("%d statements\n%s", e.n, out.String())
	}
}

func TestControlCharactersStayOffATerminal(t *testing.T) {
	b := types.NewBatch([]types.Field{{Name: "v", Type: types.String()}})
	b.Cols[0].Append(types.StrDatum("a\x1b[2Jb\nc"))
	b.Push(types.Insert)
	c := newCells([]types.Field{{Name: "v", Type: types.String()}}, "", nil)
	c.clean = true
	if got := c.of(b, 0)[0]; got != "a [2Jb c" {
		t.Errorf("%q", got)
	}
}
