package repl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"runnel/session"
	"runnel/types"
)

func rowsText(v *viewRows) string {
	rows, _, _ := v.page(1, 1000)
	var all []string
	for _, r := range rows {
		all = append(all, strings.Join(r, ","))
	}
	return strings.Join(all, " ")
}

func TestViewRowsKeepTheState(t *testing.T) {
	v := newViewRows(false, 3)
	for _, c := range [...]struct {
		kind types.RowKind
		row  string
		want string
	}{
		{types.Insert, "a", "a"},
		{types.Insert, "b", "a b"},
		{types.Insert, "a", "a b a"},
		{types.UpdateBefore, "a", "a b"}, // the newest of equal rows goes
		{types.UpdateAfter, "c", "a b c"},
		{types.Delete, "unknown", "a b c"},
		{types.Insert, "d", "b c d"}, // the oldest leaves
		{types.Delete, "a", "b c d"},
		{types.Delete, "c", "b d"},
	} {
		v.change(c.kind, []string{c.row})
		if got := rowsText(v); got != c.want {
			t.Fatalf("%s %s: %q, want %q", c.kind, c.row, got, c.want)
		}
	}
}

func TestViewRowsUnderManyUpdates(t *testing.T) {
	v := newViewRows(false, 0)
	for i := range 5000 {
		k := i % 50
		if i >= 50 {
			v.change(types.UpdateBefore, []string{fmt.Sprint(k), fmt.Sprint(i/50 - 1)})
		}
		v.change(types.UpdateAfter, []string{fmt.Sprint(k), fmt.Sprint(i / 50)})
	}
	rows, at, of := v.page(0, 20)
	if len(rows) != 10 || at != 3 || of != 3 || rows[9][0] != "49" || rows[9][1] != "99" {
		t.Errorf("page %d of %d: %v", at, of, rows)
	}
	if len(v.rows) > 50+2*64 || len(v.index) != 50 {
		t.Errorf("%d entries, %d indexed", len(v.rows), len(v.index))
	}
}

// oneBatch gives a batch and then err.
type oneBatch struct {
	b   *types.Batch
	err error
}

func (o *oneBatch) Next(context.Context) (*types.Batch, error) {
	if b := o.b; b != nil {
		o.b = nil
		return b, nil
	}
	return nil, o.err
}
func (o *oneBatch) Close() error { return nil }

func testResult(rows int, err error) *session.Result {
	fields := []types.Field{{Name: "id", Type: types.Of(types.Int)}, {Name: "name", Type: types.String()}}
	b := types.NewBatch(fields)
	for i := range rows {
		b.Cols[0].Append(types.IntDatum(int64(i)))
		name := types.StrDatum(fmt.Sprintf("n%d\n\x1b[2J", i))
		if i == 1 {
			name = types.NullDatum()
		}
		b.Cols[1].Append(name)
		b.Push(types.Insert)
	}
	return &session.Result{Kind: session.Query, Fields: fields, Rows: &oneBatch{b, err}}
}

var styles = regexp.MustCompile(`\x1b\[[0-9;]*[mKHJ]`)

func screen(v *view) []string {
	return strings.Split(strings.ReplaceAll(styles.ReplaceAllString(v.frame(), ""), "\r", ""), "\n")
}

func TestViewObeysKeys(t *testing.T) {
	r := testResult(10, io.EOF)
	v := newView(r, false, 100, 30)
	v.width, v.height = 60, 10
	if err := v.fetch(context.Background(), r, newCells(r.Fields, nullText, nil)); err != nil {
		t.Fatal(err)
	}
	v.update()
	for _, c := range [...]struct {
		keys string
		line int
		want string
	}{
		{"", 0, "                  SQL Query Result (Table)"},
		{"", 2, ""},
		{"", 3, "          id                           name"},
		{"", 4, "           8                        n8  [2J"},
		{"p", 4, "           4                        n4  [2J"},
		{"p", 5, "           1                         <NULL>"},
		{"s s d", 5, "                         <NULL>"},
		{"enter", 0, "                        Row Summary"},
		{"", 5, " name (STRING):"},
		{"", 6, " <NULL>"},
		{"q a g", 3, " Enter page number: [1 to 3]"},
		{"9 enter", 6, " The input is invalid please check it again."},
		{"3 enter", 4, "           8 "},
		{"up up", 4, "           4 "},
		{"l", 1, " Refresh: 1 s"},
		{"", 8, "Q Quit     + Inc Refresh G Goto Page N Next Page O Open Row"},
		{"", 9, "R Refresh  - Dec Refresh L Last Page P Prev Page"},
		{"+ +", 1, " Refresh: 10 s"},
		{"- - - - - - - -", 1, " Refresh: 100 ms"},
		{"g", 3, " Enter page number: [1 to 3]"},
		{"alt-l", 1, " Refresh: 100 ms"},
	} {
		for _, k := range strings.Fields(c.keys) {
			if v.key(k) {
				t.Fatalf("%s leaves", k)
			}
		}
		got := screen(v)
		if len(got) != v.height {
			t.Fatalf("keys %q: %d lines", c.keys, len(got))
		}
		if !strings.HasPrefix(got[c.line], strings.TrimRight(c.want, " ")) {
			t.Errorf("keys %q, line %d: %q, want %q", c.keys, c.line, got[c.line], c.want)
		}
		for i, l := range got {
			if onScreen.of(l) > v.width || strings.Contains(l, "\x1b") {
				t.Errorf("keys %q, line %d: %q", c.keys, i, l)
			}
		}
	}
	for _, k := range []string{"q", keyEsc, keyCtrlC} {
		if !v.key(k) {
			t.Errorf("%s does not leave", k)
		}
	}
}

// A low terminal shows rows and no help for keys; a query without rows shows what it waits for.
func TestViewOfLittle(t *testing.T) {
	r := testResult(10, io.EOF)
	v := newView(r, false, 100, 30)
	v.why = func() string { return "no row has come from orders yet" }
	v.width, v.height = 30, 5
	v.update()
	want := []string{"   SQL Query Result (Table)", " Refresh: 1 sUpdated: ", "          id", "", " No row yet: no row has come"}
	for i, l := range screen(v) {
		if !strings.HasPrefix(l, want[i]) {
			t.Errorf("line %d: %q, want %q", i, l, want[i])
		}
	}
	if err := v.fetch(context.Background(), r, newCells(r.Fields, nullText, nil)); err != nil {
		t.Fatal(err)
	}
	v.update()
	if got := screen(v); len(got) != 5 || !strings.HasPrefix(got[3], "           8") || !strings.HasPrefix(got[4], "           9") {
		t.Errorf("%q", got)
	}
}

func TestViewFitsAnyScreen(t *testing.T) {
	r := testResult(10, io.EOF)
	for _, log := range []bool{false, true} {
		v := newView(r, log, 100, 30)
		for i := range 20 {
			v.rows.change(types.Insert, []string{fmt.Sprint(i), "宽字符\x1b[31m" + strings.Repeat("宽", i)})
		}
		for w := range 45 {
			v.width, v.height = w+1, w%13+1
			for _, keys := range []string{"", "s", "enter", "q g 1", "esc d", "d d a a a"} {
				v.update()
				for _, k := range strings.Fields(keys) {
					v.key(k)
				}
				for _, l := range screen(v) {
					if onScreen.of(l) > v.width {
						t.Errorf("%dx%d, keys %q: %q", v.width, v.height, keys, l)
					}
				}
			}
		}
	}
}

func TestViewEndsWithItsQuery(t *testing.T) {
	size := func() (int, int) { return 80, 24 }
	v := newView(testResult(1, io.EOF), true, 0, 30)
	ended := make(chan error, 1)
	broken := errors.New("/ by zero")
	ended <- broken
	if err := v.run(context.Background(), io.Discard, make(chan string), ended, size); !errors.Is(err, broken) {
		t.Errorf("a failed query: %v", err)
	}
	ended <- nil
	keys := make(chan string, 1)
	keys <- "q"
	if err := v.run(context.Background(), io.Discard, keys, ended, size); err != nil {
		t.Errorf("q: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := v.run(ctx, io.Discard, make(chan string), nil, size); err != nil {
		t.Errorf("cancelled: %v", err)
	}
}

type modeOnly struct{ mode string }

func (modeOnly) Execute(context.Context, string) (*session.Result, error) { return nil, io.EOF }
func (m modeOnly) Option(key string) string {
	switch key {
	case "sql-client.execution.result-mode":
		return m.mode
	case "sql-client.display.print-time-cost":
		return "false"
	}
	return ""
}

func TestMachineReadableModes(t *testing.T) {
	for mode, want := range map[string]string{
		"csv":  "op,id,name\n+I,0,\"n0\n\x1b[2J\"\n+I,1,\n",
		"json": `{"op":"+I","id":0,"name":"n0\n\u001b[2J"}` + "\n" + `{"op":"+I","id":1,"name":null}` + "\n",
		"none": "Received a total of 2 rows\n",
	} {
		var out bytes.Buffer
		s := &Shell{Exec: modeOnly{mode}, Term: NewTerminal(&out, io.Discard, nil, "unused")}
		r := testResult(2, io.EOF)
		if err := s.show(context.Background(), r, time.Now(), &progress{}); err != nil {
			t.Fatal(err)
		}
		if out.String() != want {
			t.Errorf("%s: %q, want %q", mode, out.String(), want)
		}
	}
}
