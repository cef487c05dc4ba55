package filesystem

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"runnel/connectors"
	"runnel/types"
)

// words is a format of one STRING column a line; the line "bad" cannot be decoded, and x*3 gives the rows x0, x1 and x2.
var words = connectors.Format{
	Name: "words", Mode: types.InsertOnly,
	Decoder: func(connectors.FormatRequest) (connectors.Decoder, error) { return wordDecoder{}, nil },
	Encoder: func(connectors.FormatRequest) (connectors.Encoder, error) { return wordEncoder{}, nil },
}

type wordDecoder struct{}

func (wordDecoder) Decode(msg []byte, out *types.Batch) error {
	if string(msg) == "bad" {
		return errors.New("a bad word")
	}
	if word, count, ok := strings.Cut(string(msg), "*"); ok {
		n, err := strconv.Atoi(count)
		for i := range n {
			out.Cols[0].AppendStr(word + strconv.Itoa(i))
			out.Push(types.Delete)
		}
		return err
	}
	out.Cols[0].AppendStr(string(msg))
	out.Push(types.Insert)
	return nil
}

type wordEncoder struct{}

func (wordEncoder) Encode(dst []byte, b *types.Batch, i int32) ([]byte, error) {
	return append(dst, b.Cols[0].Str[i]...), nil
}

func testTable(dir string, cols ...connectors.Column) *connectors.Table {
	cols = append([]connectors.Column{{Name: "w", Type: types.String()}}, cols...)
	return &connectors.Table{Name: "c.d.t", Columns: cols, Options: connectors.Options{"connector": "filesystem", "path": dir, "format": "words"}}
}

func connector() connectors.Connector {
	return Connector(func(name string) (connectors.Format, bool) { return words, name == "words" })
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// scanAll reads a table to its end, going over to a new reader from a snapshot after every batch.
func scanAll(t *testing.T, tab *connectors.Table) ([]string, error) {
	t.Helper()
	req := connectors.ScanRequest{Table: tab}
	for i := range tab.Columns {
		req.Columns = append(req.Columns, i)
	}
	src, err := connector().Source(req)
	if err != nil {
		return nil, err
	}
	en, _ := src.Enumerate(connectors.Env{})
	splits, err := en.Discover(context.Background(), true)
	if err != nil {
		return nil, err
	}
	var rows []string
	for len(splits) > 0 {
		r, err := src.Read(connectors.Env{}, func() {})
		if err != nil {
			return nil, err
		}
		if err := r.Assign(splits); err != nil {
			return nil, err
		}
		p, err := r.Poll()
		if err != nil {
			return rows, err
		}
		if p.Rows != nil {
			for i := range int32(p.Rows.Len) {
				rows = append(rows, string(types.AppendPrintedRow(nil, p.Rows, i)))
			}
		}
		if splits, err = r.Snapshot(); err != nil {
			return nil, err
		}
		r.Close()
	}
	return rows, nil
}

func TestLinesOfAFolder(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/a.txt", "one\r\ntwo\n")
	write(t, dir+"/sub/b.txt", "three") // no line end
	write(t, dir+"/.hidden", "no\n")
	write(t, dir+"/_meta", "no\n")
	var gz bytes.Buffer
	z := gzip.NewWriter(&gz)
	z.Write([]byte("four\nfive\n"))
	z.Close()
	write(t, dir+"/z.gz", gz.String())
	got, err := scanAll(t, testTable(dir, connectors.Column{Name: "f", Type: types.String(), Metadata: "file.name"}))
	if err != nil {
		t.Fatal(err)
	}
	want := "[+I[one, a.txt] +I[two, a.txt] +I[three, b.txt] +I[four, z.gz] +I[five, z.gz]]"
	if fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

func TestManyLinesAcrossSnapshots(t *testing.T) {
	dir := t.TempDir()
	var b strings.Builder
	for i := range 5000 {
		fmt.Fprintln(&b, i)
	}
	write(t, dir+"/n", b.String())
	got, err := scanAll(t, testTable(dir))
	if err != nil || len(got) != 5000 || got[4999] != "+I[4999]" {
		t.Fatalf("%d rows, %v", len(got), err)
	}
}

// TestLinesOfManyRows: a line may give more rows than fit behind those before it, or into a batch at all.
func TestLinesOfManyRows(t *testing.T) {
	dir := t.TempDir()
	var text strings.Builder
	var want []string
	for i, n := range []int{1, 1000, 23, 1, 1024, 2, 3000, 1, 5000, 0, 1, 1025} {
		fmt.Fprintf(&text, "w%d-*%d\n", i, n)
		for k := range n {
			want = append(want, fmt.Sprintf("-D[w%d-%d]", i, k))
		}
	}
	write(t, dir+"/a.txt", text.String())
	tab := testTable(dir)
	got, err := scanAll(t, tab)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%d rows instead of %d, %v", len(got), len(want), err)
	}
	if got, err = readAll(t, tab, 0); err != nil || !slices.Equal(got, want) {
		t.Errorf("%d rows instead of %d, %v", len(got), len(want), err)
	}
	if got, err = readAll(t, tab, 7); err != nil || !slices.Equal(got, want) {
		t.Errorf("%d rows instead of %d, %v", len(got), len(want), err)
	}
}

// readAll reads a table of one column to its end by one reader.
func readAll(t *testing.T, tab *connectors.Table, most int) ([]string, error) {
	t.Helper()
	src, err := connector().Source(connectors.ScanRequest{Table: tab, Columns: []int{0}})
	if err != nil {
		return nil, err
	}
	en, _ := src.Enumerate(connectors.Env{})
	splits, err := en.Discover(context.Background(), true)
	if err != nil {
		return nil, err
	}
	r, err := src.Read(connectors.Env{MaxRows: most}, func() {})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if err := r.Assign(splits); err != nil {
		return nil, err
	}
	var rows []string
	for {
		p, err := r.Poll()
		if err != nil || p.Ended && p.Rows == nil {
			return rows, err
		}
		if p.Rows != nil {
			if p.Rows.Len > types.BatchRows {
				t.Fatalf("a batch of %d rows", p.Rows.Len)
			}
			for i := range int32(p.Rows.Len) {
				rows = append(rows, string(types.AppendPrintedRow(nil, p.Rows, i)))
			}
		}
		if p.Ended {
			return rows, nil
		}
	}
}

func TestBadLineNamesItsPlace(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/n", "good\nbad\n")
	rows, err := scanAll(t, testTable(dir))
	var d *types.DataError
	if !errors.As(err, &d) || d.Place != "file "+dir+"/n, line 2" || len(rows) != 1 {
		t.Fatalf("rows %v, error %v", rows, err)
	}
}

// TestReadsOnlyWhatIsWanted: files whose constant columns a filter rules out are not opened, and a limit ends the reading.
func TestReadsOnlyWhatIsWanted(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/k=a/1.txt", "one\ntwo\n")
	write(t, dir+"/k=b/2.txt", "three\nfour\n")
	write(t, dir+"/k=c/no.txt", "five\nsix\n")
	tab := testTable(dir, connectors.Column{Name: "k", Type: types.String()}, connectors.Column{Name: "f", Type: types.String(), Metadata: "file.name"})
	tab.Partition = []string{"k"}
	if got := fmt.Sprint(constantColumns(tab)); got != "[1 2]" {
		t.Errorf("constant columns %s", got)
	}
	request := func(limit int64, keep func(k, f string) bool) connectors.ScanRequest {
		r := connectors.ScanRequest{Table: tab, Columns: []int{0}, Limit: limit}
		if keep != nil {
			r.Keep = func(constant func(int) (types.Datum, bool)) bool {
				k, _ := constant(1)
				f, _ := constant(2)
				if _, ok := constant(0); ok {
					t.Error("the line is no constant")
				}
				return keep(k.S, f.S)
			}
		}
		return r
	}
	for _, c := range []struct {
		r    connectors.ScanRequest
		want string
	}{
		{request(0, func(k, f string) bool { return k != "b" }), "[one two five six]"},
		{request(0, func(k, f string) bool { return f == "2.txt" }), "[three four]"},
		{request(0, func(k, f string) bool { return false }), "[]"},
		{request(3, nil), "[one two three]"},
		{request(2, nil), "[one two]"},
		{request(9, nil), "[one two three four five six]"},
	} {
		src, err := connector().Source(c.r)
		if err != nil {
			t.Fatal(err)
		}
		e, err := src.Enumerate(connectors.Env{})
		if err != nil {
			t.Fatal(err)
		}
		splits, err := e.Discover(context.Background(), true)
		if err != nil {
			t.Fatal(err)
		}
		r, err := src.Read(connectors.Env{}, func() {})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Assign(splits); err != nil {
			t.Fatal(err)
		}
		got := []string{}
		for left := len(splits); left > 0; {
			p, err := r.Poll()
			if err != nil || p.Split == "" {
				t.Fatalf("%v, %+v", err, p)
			}
			if p.Rows != nil {
				got = append(got, p.Rows.Cols[0].Str[:p.Rows.Len]...)
			}
			if p.Ended {
				left--
			}
		}
		r.Close()
		if fmt.Sprint(got) != c.want {
			t.Errorf("got %v, want %s", got, c.want)
		}
	}
}

func TestPartitionsRoundTrip(t *testing.T) {
	dir := t.TempDir()
	tab := testTable(dir, connectors.Column{Name: "day", Type: types.Of(types.Date)}, connectors.Column{Name: "k", Type: types.String()})
	tab.Partition = []string{"day", "k"}
	sink, err := connector().Sink(connectors.SinkRequest{Table: tab, Columns: []int{0, 1, 2}, Query: types.InsertOnly})
	if err != nil {
		t.Fatal(err)
	}
	env := connectors.SinkEnv{Run: "r1"}
	w, err := sink.Open(context.Background(), env)
	if err != nil {
		t.Fatal(err)
	}
	b := types.NewBatch(connectors.SinkRequest{Table: tab, Columns: []int{0, 1, 2}}.Fields())
	for i, k := range []string{"a/b=c", "", "a/b=c"} {
		b.Cols[0].AppendStr(fmt.Sprint("w", i))
		b.Cols[1].AppendInt(19000 + int64(i%2))
		if k == "" {
			b.Cols[2].AppendNull()
		} else {
			b.Cols[2].AppendStr(k)
		}
		b.Push(types.Insert)
	}
	if err := w.Write(context.Background(), b); err != nil {
		t.Fatal(err)
	}
	coms, _, err := w.Prepare(context.Background(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if rows, _ := scanAll(t, tab); len(rows) != 0 {
		t.Fatalf("visible before the commit: %v", rows)
	}
	c, _ := sink.Committer(env)
	for range 2 { // a repeated commit changes nothing
		if err := c.Commit(context.Background(), 1, coms); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := scanAll(t, tab)
	sort.Strings(rows)
	if want := "[+I[w0, 2022-01-08, a/b=c] +I[w1, 2022-01-09, null] +I[w2, 2022-01-08, a/b=c]]"; err != nil || fmt.Sprint(rows) != want {
		t.Errorf("got %v (%v), want %s", rows, err, want)
	}
}

func TestRecoveryRemovesWhatACrashLeft(t *testing.T) {
	dir := t.TempDir()
	tab := testTable(dir)
	sink, err := connector().Sink(connectors.SinkRequest{Table: tab, Columns: []int{0}, Query: types.InsertOnly})
	if err != nil {
		t.Fatal(err)
	}
	open := func(run string) connectors.Writer {
		w, err := sink.Open(context.Background(), connectors.SinkEnv{Run: run})
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	put := func(w connectors.Writer, s string) {
		b := types.NewBatch([]types.Field{{Name: "w", Type: types.String()}})
		b.Cols[0].AppendStr(s)
		b.Push(types.Insert)
		if err := w.Write(context.Background(), b); err != nil {
			t.Fatal(err)
		}
	}
	w := open("r1")
	put(w, "kept")
	coms, _, err := w.Prepare(context.Background(), 1)
	if err != nil {
		t.Fatal(err)
	}
	put(w, "lost")           // in progress when the process dies
	put(open("r9"), "other") // another job's
	c, _ := sink.Committer(connectors.SinkEnv{Run: "r2", PriorRuns: []string{"r1"}})
	if err := c.Recover(context.Background(), coms); err != nil {
		t.Fatal(err)
	}
	if rows, err := scanAll(t, tab); err != nil || fmt.Sprint(rows) != "[+I[kept]]" {
		t.Errorf("rows %v, %v", rows, err)
	}
	var left []string
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if fmt.Sprint(left) != "[.part-r9-0-0.inprogress part-r1-0-0]" {
		t.Errorf("files %v", left)
	}
}

func TestWatchedFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "later")
	tab := testTable(dir)
	tab.Options["source.monitor-interval"] = "1 s"
	src, err := connector().Source(connectors.ScanRequest{Table: tab, Columns: []int{0}})
	if err != nil || src.Bounded {
		t.Fatal(err, "bounded")
	}
	en, _ := src.Enumerate(connectors.Env{})
	if en.Interval() != time.Second {
		t.Fatal(en.Interval())
	}
	for step, want := range []int{0, 1, 0, 1} {
		if want > 0 {
			write(t, fmt.Sprintf("%s/f%d", dir, step), "x\n")
		}
		splits, err := en.Discover(context.Background(), step == 0)
		if err != nil || len(splits) != want {
			t.Fatalf("step %d: %d splits, %v", step, len(splits), err)
		}
	}
}
