package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"runnel/connectors"
	"runnel/connectors/filesystem"
	"runnel/connectors/nexmark"
	"runnel/internal/testkit"
	"runnel/types"
)

// nexmarkOptions are the events of the tests: a base shortly before midnight, and rates at which every event has a
// millisecond of its own, so that no query has to choose between equal times.
func nexmarkOptions(events, rate int) map[string]string {
	return map[string]string{"events.num": strconv.Itoa(events), "first-event.rate": strconv.Itoa(rate), "next-event.rate": strconv.Itoa(rate),
		"base-time": "1436918385000"}
}

// nexmarkText is the script of a query over the given events.
func nexmarkText(tb testing.TB, query string, options map[string]string) string {
	tb.Helper()
	var sets []string
	for k, v := range options {
		sets = append(sets, fmt.Sprintf("'%s' = '%s'", k, v))
	}
	text := ""
	for _, name := range []string{"tables", query} {
		b, err := os.ReadFile(filepath.Join("testdata", "nexmark", name+".sql"))
		if err != nil {
			tb.Fatal(err)
		}
		text += string(b)
		if name == "tables" {
			text += "ALTER TABLE nexmark SET (" + strings.Join(sets, ", ") + ");\n"
		}
	}
	return text
}

type nexmarkPerson struct {
	id                             int64
	name, email, card, city, state string
	at                             int64 // milliseconds, as all times here
	extra                          string
}

type nexmarkAuction struct {
	id                int64
	item, description string
	initial, reserve  int64
	at, expires       int64
	seller, category  int64
	extra             string
}

type nexmarkBid struct {
	auction, bidder, price int64
	channel, url           string
	at                     int64
	extra                  string
}

// nexmarkEvents are the events in order, by kind.
type nexmarkEvents struct {
	persons  []nexmarkPerson
	auctions []nexmarkAuction
	bids     []nexmarkBid
	rows     map[string]bool // of the bids; made when it is first wanted
}

// readNexmark takes the events from the generator.
func readNexmark(t testing.TB, options map[string]string) *nexmarkEvents {
	t.Helper()
	row := func(fields ...types.Field) types.Type { return types.RowOf(fields...) }
	f := func(name string, t types.Type) types.Field { return types.Field{Name: name, Type: t} }
	long, text, stamp := types.Of(types.BigInt), types.String(), types.TimestampOf(3)
	table := &connectors.Table{Name: "c.d.nexmark", Options: options, Columns: []connectors.Column{
		{Name: "event_type", Type: types.Of(types.Int)},
		{Name: "person", Type: row(f("id", long), f("name", text), f("emailAddress", text), f("creditCard", text), f("city", text), f("state", text),
			f("dateTime", stamp), f("extra", text))},
		{Name: "auction", Type: row(f("id", long), f("itemName", text), f("description", text), f("initialBid", long), f("reserve", long),
			f("dateTime", stamp), f("expires", stamp), f("seller", long), f("category", long), f("extra", text))},
		{Name: "bid", Type: row(f("auction", long), f("bidder", long), f("price", long), f("channel", text), f("url", text), f("dateTime", stamp),
			f("extra", text))},
	}}
	source, err := nexmark.Connector().Source(connectors.ScanRequest{Table: table, Columns: []int{0, 1, 2, 3}})
	if err != nil {
		t.Fatal(err)
	}
	env := connectors.Env{Zone: time.UTC, Of: 1, Now: time.Now}
	enum, err := source.Enumerate(env)
	if err != nil {
		t.Fatal(err)
	}
	splits, err := enum.Discover(context.Background(), true)
	if err != nil {
		t.Fatal(err)
	}
	r, err := source.Read(env, func() {})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.Assign(splits); err != nil {
		t.Fatal(err)
	}
	e := &nexmarkEvents{}
	for {
		p, err := r.Poll()
		if err != nil {
			t.Fatal(err)
		}
		if p.Rows == nil {
			return e
		}
		for i := range p.Rows.Len {
			kind := p.Rows.Cols[0].Int[i]
			e.add(kind, p.Rows.Cols[1+kind].Any[i].(*types.Tuple).Fields)
		}
	}
}

func (e *nexmarkEvents) add(kind int64, f []types.Datum) {
	switch kind {
	case 0:
		e.persons = append(e.persons, nexmarkPerson{f[0].I, f[1].S, f[2].S, f[3].S, f[4].S, f[5].S, f[6].I / 1000, f[7].S})
	case 1:
		e.auctions = append(e.auctions, nexmarkAuction{f[0].I, f[1].S, f[2].S, f[3].I, f[4].I, f[5].I / 1000, f[6].I / 1000, f[7].I, f[8].I, f[9].S})
	case 2:
		e.bids = append(e.bids, nexmarkBid{f[0].I, f[1].I, f[2].I, f[3].S, f[4].S, f[5].I / 1000, f[6].S})
	}
}

// cells joins values as the client shows them; times are given as text already.
func cells(vs ...any) string {
	parts := make([]string, len(vs))
	for i, v := range vs {
		parts[i] = fmt.Sprint(v)
	}
	return strings.Join(parts, "|")
}

func nexmarkTime(ms int64, layout string) string { return time.UnixMilli(ms).UTC().Format(layout) }

func shownTime(ms int64) string { return nexmarkTime(ms, "2006-01-02 15:04:05.000") }

// nexmarkCase is a query with what its final table must hold. rate is that of its events, events per second of event time.
type nexmarkCase struct {
	query string
	rate  int
	rows  func(*nexmarkEvents) []string
	// shape maps the cells of a result row to what is compared; nil compares all of them.
	shape func(e *nexmarkEvents, cells []string) string
}

// TestNexmark runs the queries of the benchmark and compares the tables that they end with to those of plain loops.
func TestNexmark(t *testing.T) {
	const events = 20_000
	for _, c := range nexmarkCases {
		t.Run(c.query, func(t *testing.T) {
			t.Parallel()
			options := nexmarkOptions(events, c.rate)
			e := readNexmark(t, options)
			want := c.rows(e)
			if len(want) == 0 {
				t.Fatal("the query is to give no row")
			}
			slices.Sort(want)
			for _, batch := range []bool{false, true} {
				for _, parallelism := range []int{1, 2} {
					t.Run(fmt.Sprintf("batch=%t/parallelism=%d", batch, parallelism), func(t *testing.T) {
						compareRows(t, runNexmark(t, c, e, options, batch, parallelism), want)
					})
				}
			}
		})
	}
}

// runNexmark runs a query and gives the rows that its result ends with, sorted.
func runNexmark(t *testing.T, c nexmarkCase, e *nexmarkEvents, options map[string]string, batch bool, parallelism int) []string {
	dir := scratch(t)
	capture := testkit.NewCapture()
	sink := capture.Connector()
	sink.Name = "blackhole"
	setting := testkit.Setting{Connectors: []connectors.Connector{sink, nexmark.Connector(), filesystem.Connector(findFormat)}, Formats: formatTable,
		Dir: filepath.Join(dir, "data"), Parallelism: parallelism}
	if batch {
		setting.Set = append(setting.Set, [2]string{"execution.runtime-mode", "batch"})
	}
	writeSideInput(t, dir)
	text := strings.ReplaceAll(nexmarkText(t, c.query, options), "/tmp/nexmark-", dir+"/")
	o, err := testkit.Run(setting, text)
	if err == nil {
		err = o.Err
	}
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, ch := range capture.All()[c.query] {
		row := strings.Join(ch.Cells, "|")
		if c.shape != nil {
			row = c.shape(e, ch.Cells)
		}
		switch ch.Kind {
		case "+I", "+U":
			count[row]++
		default:
			count[row]--
		}
	}
	if c.query == "q10" {
		count = readPartitions(t, filepath.Join(dir, "q10"))
	}
	var rows []string
	for row, n := range count {
		if n < 0 {
			t.Errorf("row %s was taken back %d times too often", row, -n)
		}
		for range n {
			rows = append(rows, row)
		}
	}
	slices.Sort(rows)
	return rows
}

// writeSideInput writes the file that q13 looks up: a line for each remainder of an auction's id, every third one left out.
func writeSideInput(tb testing.TB, dir string) {
	tb.Helper()
	var lines strings.Builder
	for key := range 10_000 {
		if key%3 != 0 {
			fmt.Fprintf(&lines, "%d,side %d\n", key, key)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "side-input"), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "side-input", "side_input.csv"), []byte(lines.String()), 0o644); err != nil {
		tb.Fatal(err)
	}
}

func compareRows(t *testing.T, got, want []string) {
	t.Helper()
	if slices.Equal(got, want) {
		return
	}
	t.Errorf("%d rows, want %d", len(got), len(want))
	for i, j, shown := 0, 0, 0; shown < 5 && (i < len(got) || j < len(want)); {
		switch {
		case j == len(want) || i < len(got) && got[i] < want[j]:
			t.Errorf("not wanted: %s", got[i])
			i, shown = i+1, shown+1
		case i == len(got) || want[j] < got[i]:
			t.Errorf("missing: %s", want[j])
			j, shown = j+1, shown+1
		default:
			i, j = i+1, j+1
		}
	}
}

// readPartitions reads the lines of a folder of part files in dt=../hm=.., with the partition's values behind them.
func readPartitions(t *testing.T, dir string) map[string]int {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "dt=*", "hm=*", "part-*"))
	if err != nil || len(files) == 0 {
		t.Fatal("no part files", err)
	}
	count := map[string]int{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		hm := filepath.Base(filepath.Dir(f))
		dt := filepath.Base(filepath.Dir(filepath.Dir(f)))
		for line := range strings.Lines(string(b)) {
			line = strings.NewReplacer(",", "|", `"`, "").Replace(strings.TrimSpace(line))
			count[cells(line, strings.TrimPrefix(dt, "dt="), strings.ReplaceAll(strings.TrimPrefix(hm, "hm="), "%3A", ":"))]++
		}
	}
	return count
}

// fastClock is a clock that goes a thousand times as fast as it should.
type fastClock struct{ start time.Time }

func (c fastClock) Now() time.Time { return c.start.Add(time.Since(c.start) * 1000) }

func (c fastClock) AfterFunc(d time.Duration, f func()) (stop func()) {
	t := time.AfterFunc(d/1000, f)
	return func() { t.Stop() }
}

// TestNexmarkProcessingTime: q12 asks for windows of the clock, of which only the sum over all is certain. The source stays
// alive, since windows that are open at the end of the input give nothing.
func TestNexmarkProcessingTime(t *testing.T) {
	for _, parallelism := range []int{1, 2} {
		options := nexmarkOptions(20_000, 1000)
		want := map[int64]int64{}
		for _, b := range readNexmark(t, options).bids {
			want[b.bidder]++
		}
		options["keep-alive"] = "true"
		rows := make(chan [4]int64, 1000)
		run := newNexmarkRunAt(t, fastClock{time.Now()}, t.TempDir(), nexmark.Connector(), channelSink(rows))
		job := run.execute(t, fmt.Sprintf("SET 'parallelism.default' = '%d';\n", parallelism)+nexmarkText(t, "q12", options))
		for len(want) > 0 {
			select {
			case r := <-rows:
				if want[r[0]] -= r[1]; want[r[0]] < 0 || r[1] < 1 || r[3]-r[2] != 10_000_000 || r[2]%10_000_000 != 0 {
					t.Fatalf("row %v", r)
				}
				if want[r[0]] == 0 {
					delete(want, r[0])
				}
			case <-job.Done():
				t.Fatal("the job ended: ", job.Wait(t.Context()))
			}
		}
		if err := run.cluster.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// channelSink is a blackhole whose rows of four whole numbers come out of a channel.
func channelSink(rows chan<- [4]int64) connectors.Connector {
	return connectors.Connector{Name: "blackhole", Sink: func(r connectors.SinkRequest) (*connectors.Sink, error) {
		return &connectors.Sink{Mode: r.Query, Open: func(context.Context, connectors.SinkEnv) (connectors.Writer, error) { return channelWriter(rows), nil }}, nil
	}}
}

type channelWriter chan<- [4]int64

func (w channelWriter) Write(ctx context.Context, b *types.Batch) error {
	for k := range b.Rows() {
		var row [4]int64
		for i := range row {
			row[i] = b.Cols[i].Int[b.Row(k)]
		}
		select {
		case w <- row:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (w channelWriter) Prepare(context.Context, int64) ([][]byte, []byte, error) {
	return nil, nil, nil
}

func (w channelWriter) Close() error { return nil }
