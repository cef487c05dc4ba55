package repl

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"runnel/session"
	"runnel/sql"
)

func TestDecodeKeys(t *testing.T) {
	for in, want := range map[string]string{
		"q":                     "q",
		"\x1b":                  "esc",
		"\x1b[A\x1bOBx":         "up down x",
		"\x1b[15~\x1b[F\x03\r":  "f5 end ctrl-c enter",
		"\x1b[200~+\x1b[201~":   "paste + unknown",
		"é語\x00":                "é 語 unknown",
		"\x1bb\x1bU\x1b[1;5D":   "alt-b alt-u ctrl-left",
		"\x01\x15\t\x7f\x1b\r":  "ctrl-a ctrl-u tab erase alt-enter",
		"\x1b[99;99X\xff\x1b[1": "unknown unknown unknown",
	} {
		var keys []string
		for rest := in; rest != ""; {
			k, n := decodeKey(rest, true)
			keys, rest = append(keys, k), rest[n:]
		}
		if got := strings.Join(keys, " "); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	for _, in := range []string{"\x1b", "\x1b[", "\x1b[1;5", "\xe8\xaa"} {
		if k, n := decodeKey(in, false); n != 0 {
			t.Errorf("%q is taken as %q before the rest has come", in, k)
		}
	}
}

// typing is an editor that obeys keys without a terminal.
type typing struct {
	*lineEditor
	t       *testing.T
	out     bytes.Buffer
	options map[string]string
}

func newTyping(t *testing.T, history ...string) *typing {
	h, err := openHistory(filepath.Join(t.TempDir(), "history"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range history {
		if err := h.add(s); err != nil {
			t.Fatal(err)
		}
	}
	e := &typing{t: t, options: map[string]string{}}
	e.lineEditor = &lineEditor{
		keys: &keyReader{w: 40, h: 10}, out: &e.out, term: NewTerminal(&e.out, &e.out, wide, "unused"), history: h,
		option: func(k string) string { return e.options[k] },
		complete: func(text string) (int, []session.Word) {
			last := text[strings.LastIndexAny(text, " \n")+1:]
			var words []session.Word
			for _, w := range []session.Word{{Text: "SELECT", Behind: " "}, {Text: "SET", Behind: " "}, {Text: "orders", Exact: true}, {Text: "order_items", Exact: true}, {Text: "UPPER", Behind: "("}} {
				if strings.HasPrefix(strings.ToLower(w.Text), strings.ToLower(last)) {
					words = append(words, w)
				}
			}
			return len(last), words
		},
	}
	e.at = len(h.entries)
	return e
}

// press obeys the keys of in and gives how the last of them ended.
func (e *typing) press(in string) (done bool, err error) {
	e.keys.pending = in
	for e.keys.pending != "" && !done && err == nil {
		k, n := decodeKey(e.keys.pending, true)
		e.keys.pending = e.keys.pending[n:]
		paste := ""
		if k == keyPaste {
			paste, _ = e.keys.paste(context.Background())
		}
		done, err = e.key(k, paste, func(s string) bool { _, rest := sql.Split(s); return rest == nil })
		e.draw()
	}
	return done, err
}

// A paste whose end is lost ends with a pause or with Ctrl-C; one that has an end may hold a Ctrl-C.
func TestPasteWithoutEnd(t *testing.T) {
	for _, c := range []struct {
		writes        []string
		pause         time.Duration
		paste, behind string
	}{
		{[]string{"SELECT 1\x03", "+\x1b[201~x"}, time.Minute, "SELECT 1\x03+", "x"},
		{[]string{"SELECT 1", "\x03"}, time.Minute, "SELECT 1", "\x03"},
		{[]string{"SELECT 1;\n"}, time.Millisecond, "SELECT 1;\n", ""},
	} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		k := &keyReader{tty: r, pause: c.pause}
		if _, err := w.WriteString(c.writes[0]); err != nil {
			t.Fatal(err)
		}
		if _, err := k.more(time.Minute); err != nil {
			t.Fatal(err)
		}
		if len(c.writes) > 1 {
			if _, err := w.WriteString(c.writes[1]); err != nil {
				t.Fatal(err)
			}
		}
		got, err := k.paste(context.Background())
		if err != nil || got != c.paste || k.pending != c.behind {
			t.Errorf("%q: %q and behind it %q, %v", c.writes, got, k.pending, err)
		}
		r.Close()
		w.Close()
	}
}

// shows gives the text with the cursor as |.
func (e *typing) shows() string {
	return string(e.buf.text[:e.buf.pos]) + "|" + string(e.buf.text[e.buf.pos:])
}

func TestEditing(t *testing.T) {
	const alt = "\x1b"
	for _, c := range []struct{ keys, want string }{
		{"select 1\x01\x05,\x02\x02x", "select x|1,"},
		{"ab cd ef" + alt + "b" + alt + "bX" + alt + "f!", "ab Xcd!| ef"},
		{"ab cd\x17\x17", "|"},
		{"ab cd\x15\x19\x19", "ab cdab cd|"},
		{"ab cd\x01\x0b\x19!", "ab cd!|"},
		{"ab\ncd\x01\x0b\x1b[A\x05x", "abx|\n"},
		{"one two" + alt + "b" + alt + "u", "one TWO|"},
		{"ONE TWO\x01" + alt + "l" + alt + "c", "one Two|"},
		{"one two" + alt + "t", "two one|"},
		{"ab\x14", "ba|"},
		{"ab cd\x01" + alt + "d", "| cd"},
		{"日本\x7f語", "日語|"},
		{"e\u0301x\x02\x02", "|e\u0301x"},
		{"one two\x17\x1f", "one two|"},
		{"one\x04\x01\x04", "|ne"},
		{"a\nbcd\x1b[A\x1b[Bx", "a\nbx|cd"},
		{"\x1b[200~select\r\n\t1\x07;\x1b[201~", "select\n  1;|"},
		{"x\x1b[3~\x1b[H\x1b[3~", "|"},
	} {
		e := newTyping(t)
		if _, err := e.press(c.keys); err != nil || e.shows() != c.want {
			t.Errorf("%q: %q (%v), want %q", c.keys, e.shows(), err, c.want)
		}
	}
}

func TestLineNumbersOfPrompts(t *testing.T) {
	e := newTyping(t)
	e.options["sql-client.display.show-line-numbers"] = "true"
	for line, want := range []string{"\x1b[32mFlink SQL\x1b[0m> ", "1> ", "2> "} {
		if got := e.prompt(line); got != want {
			t.Errorf("line %d: %q, want %q", line, got, want)
		}
	}
	e.options["sql-client.display.show-line-numbers"] = "false"
	if got := e.prompt(2); got != "> " {
		t.Errorf("%q", got)
	}
}

func TestEnterEndsAWholeStatement(t *testing.T) {
	e := newTyping(t)
	if done, err := e.press("SELECT ';'\r"); done || err != nil || e.shows() != "SELECT ';'\n|" {
		t.Fatalf("%v %v %q", done, err, e.shows())
	}
	if done, err := e.press(", 1;\r"); !done || err != nil {
		t.Fatalf("%v %v %q", done, err, e.shows())
	}
	if _, err := e.press("\x03"); !errors.Is(err, errInterrupted) {
		t.Error(err)
	}
	e = newTyping(t)
	if _, err := e.press("\x04"); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

func TestHistoryKeys(t *testing.T) {
	for _, c := range []struct{ keys, want string }{
		{"\x10", "SELECT 2\nFROM b;|"},
		{"\x10\x10\x10\x10", "SET 'a' = 'b';|"},
		{"draft\x10\x0e", "draft|"},
		{"\x1b[A\x1b[A\x1b[A", "SELECT 1;|"},
		{"SEL\x1bp\x1bp", "SEL|ECT 1;"},
		{"SEL\x1bp\x1bp\x1bn", "SEL|ECT 2\nFROM b;"},
		{"SEL\x1bp\x1bn", "SEL|"},
		{"\x12from", "SELECT 2\n|FROM b;"},
		{"\x12select\x12", "|SELECT 1;"},
		{"\x12select\x12\x13", "|SELECT 2\nFROM b;"},
		{"\x12select\x12\x05!", "SELECT 1;!|"},
		{"old\x12nothing\x07", "old|"},
	} {
		e := newTyping(t, "SET 'a' = 'b';", "SELECT 1;", "SELECT 2\nFROM b;")
		if _, err := e.press(c.keys); err != nil || e.shows() != c.want {
			t.Errorf("%q: %q (%v), want %q", c.keys, e.shows(), err, c.want)
		}
	}
}

func TestHistoryFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dir", "history")
	h, err := openHistory(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"SELECT '\\n'\n-- c\n;", "SELECT 1;", "SELECT 1;"} {
		if err := h.add(s); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	again, err := openHistory(path)
	if err != nil || strings.Join(again.entries, "|") != "SELECT '\\n'\n-- c\n;|SELECT 1;" {
		t.Errorf("%q %v", again.entries, err)
	}
}

func TestCompletionKeepsTheCase(t *testing.T) {
	for _, c := range []struct{ keys, want, below string }{
		{"sel\t", "select |", ""},
		{"SEL\t", "SELECT |", ""},
		{"Sel\t", "Select |", ""},
		{"select ORD\t", "select order|", ""},
		{"select ord\t\t", "select order|", "orders       order_items"},
		{"select up\tx", "select upper(x|", ""},
		{"se\t", "se|", "select  set"},
		{"zz\t", "zz|", ""},
	} {
		e := newTyping(t)
		e.press(c.keys)
		if e.shows() != c.want || strings.Join(e.below, "\n") != c.below {
			t.Errorf("%q: %q %q, want %q %q", c.keys, e.shows(), e.below, c.want, c.below)
		}
	}
}

func TestLayOut(t *testing.T) {
	prompt := func(line int) string { return map[bool]string{true: "\x1b[32mSQL\x1b[0m> ", false: "> "}[line == 0] }
	for _, c := range []struct {
		text     string
		pos      int
		rows     string
		row, col int
	}{
		{"", 0, "SQL> ", 0, 5},
		{"abcde", 5, "SQL> abcde", 0, 9},
		{"abcdefg", 7, "SQL> abcde|fg", 1, 2},
		{"ab\ncd", 4, "SQL> ab\r\n|> cd", 1, 3},
		{"abcd日本", 5, "SQL> abcd|日本", 1, 2},
		{"e\u0301e\u0301", 4, "SQL> e\u0301e\u0301", 0, 7},
		{"abcde\n", 6, "SQL> abcde\r\n|> ", 1, 2},
	} {
		s := layOut([]rune(c.text), c.pos, nil, prompt, 10)
		if got := stripColours(strings.Join(s.rows, "|")); got != c.rows || s.row != c.row || s.col != c.col {
			t.Errorf("%q: %q at %d, %d, want %q at %d, %d", c.text, got, s.row, s.col, c.rows, c.row, c.col)
		}
	}
	s := layOut([]rune(strings.Repeat("x\n", 50)), 80, nil, prompt, 10)
	if s.window(8); len(s.rows) != 8 || s.row != 4 || strings.HasSuffix(s.rows[7], "\n") {
		t.Errorf("%d rows, cursor at %d", len(s.rows), s.row)
	}
}

func TestHighlight(t *testing.T) {
	text := []rune("Select 'a''b', `c d`, e1 /*+ h */ /* c */ -- x\n1")
	marks := map[string]string{"1;34": "k", "37": ".", "3;90": "c", "1;90": "h", "32": "q", "36": "i"}
	got := ""
	for _, c := range highlight(text, "dark") {
		got += marks[c]
	}
	if want := "kkkkkk.qqqqqq..iiiii.....hhhhhhhh.ccccccc.ccccc."; got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	if highlight(text, "default") != nil || highlight(text, "none such") != nil {
		t.Error("the default scheme colours")
	}
}

func TestLinesAboveThePrompt(t *testing.T) {
	e := newTyping(t)
	e.press("SELECT\r1")
	e.out.Reset()
	above{e.lineEditor}.Write([]byte("+I[1]\n"))
	if got := e.out.String(); !strings.HasPrefix(got, "\r\x1b[1A\x1b[J+I[1]\r\n") || !strings.Contains(got, "> SELECT\r\n> 1") {
		t.Errorf("%q", got)
	}
}
