package datagen

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"testing"
	"time"

	"runnel/connectors"
	"runnel/types"
)

func table(options connectors.Options, cols ...connectors.Column) connectors.ScanRequest {
	options["connector"] = "datagen"
	r := connectors.ScanRequest{Table: &connectors.Table{Name: "c.d.t", Columns: cols, Options: options}}
	for i := range cols {
		r.Columns = append(r.Columns, i)
	}
	return r
}

func col(name string, t types.Type) connectors.Column { return connectors.Column{Name: name, Type: t} }

// readers opens one reader over the given splits.
func open(t *testing.T, src *connectors.Source, splits []connectors.Split) connectors.Reader {
	t.Helper()
	wake := make(chan struct{}, 1)
	r, err := src.Read(connectors.Env{Now: time.Now, Of: 1}, func() {
		select {
		case wake <- struct{}{}:
		default:
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Assign(splits); err != nil {
		t.Fatal(err)
	}
	return waiting{r, wake}
}

// waiting polls until something is there.
type waiting struct {
	connectors.Reader
	wake chan struct{}
}

func (w waiting) Poll() (connectors.Polled, error) {
	for {
		p, err := w.Reader.Poll()
		if err != nil || p.Rows != nil || p.Ended {
			return p, err
		}
		<-w.wake
	}
}

// drain reads ints of column 0 until all splits have ended, or, with limit > 0, at least limit rows.
func drain(t *testing.T, r connectors.Reader, splits, limit int) []int64 {
	t.Helper()
	var got []int64
	for splits > 0 && (limit == 0 || len(got) < limit) {
		p, err := r.Poll()
		if err != nil {
			t.Fatal(err)
		}
		if p.Ended {
			splits--
		}
		if p.Rows != nil {
			got = append(got, p.Rows.Cols[0].Int[:p.Rows.Len]...)
		}
	}
	return got
}

func TestSequenceIsFiniteAndSplits(t *testing.T) {
	for _, of := range []int{1, 3} {
		src, err := plan(table(connectors.Options{"rows-per-second": "1000000", "fields.id.kind": "sequence", "fields.id.start": "5", "fields.id.end": "5004"}, col("id", types.Of(types.Int))))
		if err != nil {
			t.Fatal(err)
		}
		if !src.Bounded {
			t.Fatal("a sequence is bounded")
		}
		en, _ := src.Enumerate(connectors.Env{Of: of})
		splits, err := en.Discover(context.Background(), true)
		if err != nil || len(splits) != of {
			t.Fatalf("%d splits, %v", len(splits), err)
		}
		// Stop in the middle, go on from the snapshot with another reader.
		r := open(t, src, splits)
		got := drain(t, r, of, 1500)
		rest, err := r.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		got = append(got, drain(t, open(t, src, rest), len(rest), 0)...)
		sort.Slice(got, func(i, j int) bool { return got[i] < got[j] })
		if len(got) != 5000 {
			t.Fatalf("%d rows", len(got))
		}
		for i, v := range got {
			if v != int64(i+5) {
				t.Fatalf("row %d is %d", i, v)
			}
		}
	}
}

func TestShortestSequenceOrRowCountEnds(t *testing.T) {
	src, err := plan(table(connectors.Options{"rows-per-second": "1000000", "number-of-rows": "70",
		"fields.a.kind": "sequence", "fields.a.start": "1", "fields.a.end": "100",
		"fields.b.kind": "sequence", "fields.b.start": "1", "fields.b.end": "40"},
		col("a", types.Of(types.BigInt)), col("b", types.String())))
	if err != nil {
		t.Fatal(err)
	}
	en, _ := src.Enumerate(connectors.Env{Of: 1})
	splits, _ := en.Discover(context.Background(), true)
	if got := drain(t, open(t, src, splits), 1, 0); len(got) != 40 {
		t.Fatalf("%d rows, want 40", len(got))
	}
}

func TestRandomStaysInBounds(t *testing.T) {
	row := types.RowOf(types.Field{Name: "x", Type: types.Of(types.Int)}, types.Field{Name: "s", Type: types.VarcharOf(4)})
	r := table(connectors.Options{"rows-per-second": "1000000", "number-of-rows": "3000",
		"fields.i.min": "-3", "fields.i.max": "4", "fields.s.length": "7", "fields.v.length": "9", "fields.v.var-len": "true",
		"fields.d.min": "1", "fields.d.max": "2", "fields.n.null-rate": "1", "fields.r.x.min": "7", "fields.r.x.max": "7",
		"fields.w.min": "-1.5", "fields.w.max": "1.5"},
		col("i", types.Of(types.Int)), col("s", types.String()), col("v", types.String()), col("d", types.DecimalOf(10, 2)),
		col("n", types.Of(types.BigInt)), col("r", row), col("a", types.ArrayOf(types.Of(types.Boolean))), col("w", types.DecimalOf(30, 4)))
	src, err := plan(r)
	if err != nil {
		t.Fatal(err)
	}
	en, _ := src.Enumerate(connectors.Env{Of: 1})
	splits, _ := en.Discover(context.Background(), true)
	rd := open(t, src, splits)
	seen := map[int64]bool{}
	for {
		p, err := rd.Poll()
		if err != nil {
			t.Fatal(err)
		}
		if p.Ended {
			break
		}
		c := p.Rows.Cols
		for i := range int32(p.Rows.Len) {
			seen[c[0].Int[i]] = true
			if n := len(c[1].Str[i]); n != 7 {
				t.Fatalf("text of %d", n)
			}
			if n := len(c[2].Str[i]); n < 1 || n > 9 {
				t.Fatalf("variable text of %d", n)
			}
			if d := c[3].Int[i]; d < 100 || d > 200 {
				t.Fatalf("decimal %d", d)
			}
			if !c[4].Null(i) {
				t.Fatal("null-rate 1 gave a value")
			}
			if x := c[5].Any[i].(*types.Tuple).Fields[0].I; x != 7 {
				t.Fatalf("nested %d", x)
			}
			if n := len(c[6].Any[i].(*types.List).Elems); n != 3 {
				t.Fatalf("array of %d", n)
			}
			if w := c[7].Wide[i]; w.Hi != 0 && w.Hi != -1 {
				t.Fatalf("wide decimal %v", w)
			}
		}
	}
	if len(seen) != 8 {
		t.Fatalf("values %v, want the 8 of -3..4", seen)
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		options string
		t       types.Type
		want    string
	}{
		{"fields.f.kind=zz", types.Of(types.Int), "Unsupported generator kind: zz"},
		{"fields.f.kind=sequence", types.Of(types.Int), "Could not find required property 'fields.f.start' for sequence generator."},
		{"fields.f.length=3", types.CharOf(5), "Custom length for fixed-length type (CHAR/BINARY) field 'f' is not supported."},
		{"fields.f.min=x", types.Of(types.Int), "For input string"},
		{"fields.f.min=300", types.Of(types.TinyInt), "'300'"},
		{"rows-per-second=0", types.Of(types.Int), "rows-per-second"},
		{"fields.f.kind=sequence;fields.f.start=1;fields.f.end=2", types.Of(types.Date), "a sequence of DATE"},
	} {
		o := connectors.Options{}
		for _, kv := range strings.Split(c.options, ";") {
			k, v, _ := strings.Cut(kv, "=")
			o[k] = v
		}
		if _, err := plan(table(o, col("f", c.t))); err == nil || !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%s: %v, want %q", c.options, err, c.want)
		}
	}
}

func TestDamagedSplits(t *testing.T) {
	good := position{1, 2, 300}.split()
	for n := range good.State {
		if _, err := parsePosition(connectors.Split{ID: "x", State: good.State[:n]}); err == nil {
			t.Errorf("%d of %d bytes were taken", n, len(good.State))
		}
	}
	if p, err := parsePosition(good); err != nil || p != (position{1, 2, 300}) {
		t.Fatal(p, err)
	}
}

func BenchmarkRows(b *testing.B) {
	src, err := plan(table(connectors.Options{"rows-per-second": "2000000000"}, col("a", types.Of(types.Int)), col("b", types.Of(types.BigInt)), col("c", types.Of(types.Double))))
	if err != nil {
		b.Fatal(err)
	}
	r, _ := src.Read(connectors.Env{Now: time.Now}, func() {})
	r.Assign([]connectors.Split{position{0, 1, 0}.split()})
	n := 0
	for b.Loop() {
		p, err := r.Poll()
		if err != nil {
			b.Fatal(err)
		}
		if p.Rows != nil {
			n += p.Rows.Len
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(max(n, 1)), "ns/row")
}
