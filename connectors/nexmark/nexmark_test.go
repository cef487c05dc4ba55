package nexmark

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"runnel/connectors"
	"runnel/internal/cputime"
	"runnel/types"
)

// table gives the benchmark's table with some options.
func table(options ...string) *connectors.Table {
	t := &connectors.Table{Name: "c.d.nexmark", Options: connectors.Options{"connector": "nexmark", "base-time": "1436918400000"}}
	for i := 0; i+1 < len(options); i += 2 {
		t.Options[options[i]] = options[i+1]
	}
	for _, c := range schema {
		t.Columns = append(t.Columns, connectors.Column{Name: c.name, Type: c.t})
	}
	return t
}

func planned(t testing.TB, tab *connectors.Table, columns ...int) *connectors.Source {
	t.Helper()
	s, err := Connector().Source(connectors.ScanRequest{Table: tab, Columns: columns})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// clock is a clock that tests set.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func env(of int) connectors.Env {
	return connectors.Env{Zone: time.UTC, Of: of, Now: (&clock{time.UnixMilli(1_700_000_000_000)}).now}
}

func discover(t testing.TB, s *connectors.Source, of int) []connectors.Split {
	t.Helper()
	e, err := s.Enumerate(env(of))
	if err != nil {
		t.Fatal(err)
	}
	splits, err := e.Discover(context.Background(), true)
	if err != nil {
		t.Fatal(err)
	}
	return splits
}

// readAll reads splits to their end, at most most rows a poll, and goes over to a new reader from a snapshot now and then.
func readAll(t testing.TB, s *connectors.Source, splits []connectors.Split, most, restore int) []string {
	t.Helper()
	e := env(1)
	e.MaxRows = most
	var rows []string
	for len(splits) > 0 {
		r, err := s.Read(e, func() {})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Assign(splits); err != nil {
			t.Fatal(err)
		}
		for polls := 0; restore == 0 || polls < restore; polls++ {
			p, err := r.Poll()
			if err != nil {
				t.Fatal(err)
			}
			if p.Rows != nil {
				for i := range int32(p.Rows.Len) {
					rows = append(rows, string(types.AppendPrintedRow(nil, p.Rows, i)))
				}
			}
			if !p.More {
				break
			}
		}
		if splits, err = r.Snapshot(); err != nil {
			t.Fatal(err)
		}
		r.Close()
	}
	return rows
}

func TestFirstEvents(t *testing.T) {
	s := planned(t, table("events.num", "53"), 0, 1, 2, 3)
	rows := readAll(t, s, discover(t, s, 1), 0, 0)
	if !s.Bounded || len(rows) != 53 {
		t.Fatalf("%d rows, bounded: %v", len(rows), s.Bounded)
	}
	for _, i := range []int{0, 1, 2, 3, 4, 48, 49, 50} {
		t.Log(rows[i])
	}
	// Events 1 to 3 are auctions, 4 to 49 bids, 50 is the second person.
	for i, want := range []string{"1, null, +I[1000,", "1, null, +I[1001,", "1, null, +I[1002,", "2, null, null, +I["} {
		if !strings.HasPrefix(rows[i], "+I["+want) {
			t.Errorf("event %d: %s", i+1, rows[i])
		}
	}
	if want := "+I[0, +I[1001,"; !strings.HasPrefix(rows[49], want) || !strings.Contains(rows[49], "2015-07-15T00:00:00.005") {
		t.Errorf("event 50: %s", rows[49])
	}
}

// TestSameEvents: neither the number of subtasks, nor the size of batches, nor restores, nor the columns that are read
// change an event.
func TestSameEvents(t *testing.T) {
	tab := table("events.num", "2500", "person.proportion", "3", "auction.proportion", "4", "bid.proportion", "10")
	s := planned(t, tab, 0, 1, 2, 3)
	want := readAll(t, s, discover(t, s, 1), 0, 0)
	if len(want) != 2500 {
		t.Fatalf("%d rows", len(want))
	}
	for _, c := range []struct{ of, most, restore int }{{1, 7, 3}, {3, 0, 0}, {4, 100, 1}, {7, 64, 2}} {
		got := readAll(t, s, discover(t, s, c.of), c.most, c.restore)
		slices.Sort(got)
		sorted := slices.Sorted(slices.Values(want))
		if !slices.Equal(got, sorted) {
			t.Errorf("%d splits by %d: %d rows differ from one split's", c.of, c.most, len(got))
		}
	}
	only := planned(t, tab, 3, 0)
	for i, row := range readAll(t, only, discover(t, only, 1), 0, 0) {
		kind := want[i][3:4]
		if !strings.HasSuffix(row, ", "+kind+"]") || kind == "2" && !strings.HasSuffix(want[i], strings.TrimSuffix(row[3:], ", 2]")+"]") {
			t.Fatalf("event %d: %s and %s", i+1, row, want[i])
		}
	}
}

// TestNested: fields that are read alone are those of the rows.
func TestNested(t *testing.T) {
	tab := table("events.num", "1200")
	whole := planned(t, tab, 1, 2, 3)
	r := connectors.ScanRequest{Table: tab}
	for c, col := range schema[1:] {
		for k := range col.leaves {
			r.Columns, r.Paths = append(r.Columns, c+1), append(r.Paths, k)
		}
	}
	fields, err := Connector().Source(r)
	if err != nil {
		t.Fatal(err)
	}
	strip := strings.NewReplacer("+I[", "", "]", "", "null, ", "", ", null", "")
	alone := readAll(t, fields, discover(t, fields, 2), 0, 0)
	for i, row := range readAll(t, whole, discover(t, whole, 2), 0, 0) {
		if strip.Replace(row) != strip.Replace(alone[i]) {
			t.Fatalf("row %d: %s, field by field %s", i, row, alone[i])
		}
	}
}

// TestOrder: a reader of several splits makes their events in order, but for the rows of a batch.
func TestOrder(t *testing.T) {
	s := planned(t, table("events.num", "4000"), 0)
	r, err := s.Read(env(1), func() {})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	r.(*reader).most = 10
	if err := r.Assign(discover(t, s, 4)); err != nil {
		t.Fatal(err)
	}
	last := map[string]int64{}
	made, most := 0, int64(0)
	for len(r.(*reader).splits) > 0 {
		p, err := r.Poll()
		if err != nil {
			t.Fatal(err)
		}
		if p.Rows == nil {
			continue
		}
		made += p.Rows.Len
		first := r.(*reader).gen.events[0]
		if first <= last[p.Split] || first < most-2*10*4 {
			t.Fatalf("event %d of split %s behind %d", first, p.Split, most)
		}
		last[p.Split], most = first, max(most, first)
	}
	if made != 4000 {
		t.Errorf("%d events", made)
	}
}

func TestRates(t *testing.T) {
	const base = 1436918400000
	for _, c := range []struct {
		name    string
		options []string
		event   int64
		millis  int64
	}{
		{"one rate", nil, 123456, 12345},
		{"odd rate", []string{"first-event.rate", "3", "next-event.rate", "3"}, 2, 666},
		{"square, first half", []string{"first-event.rate", "100", "next-event.rate", "10", "rate.period", "20 s"}, 500, 5000},
		{"square, second half", []string{"first-event.rate", "100", "next-event.rate", "10", "rate.period", "20 s"}, 1050, 15000},
		{"square, second period", []string{"first-event.rate", "100", "next-event.rate", "10", "rate.period", "20 s"}, 1200, 21000},
		{"sine, period", []string{"first-event.rate", "100", "next-event.rate", "10", "rate.period", "20 s", "rate.shape", "sine"}, 2200, 40000},
		{"sine, first step", []string{"first-event.rate", "100", "next-event.rate", "10", "rate.period", "20 s", "rate.shape", "sine"}, 150, 1500},
	} {
		cfg, err := readConfig(table(c.options...).Options)
		if err != nil {
			t.Fatal(err)
		}
		if got := cfg.millis(c.event); got != c.millis {
			t.Errorf("%s: event %d at %d ms, not %d", c.name, c.event, got, c.millis)
		}
		g := newGenerator(&cfg, nil)
		g.begin(c.event, 1, base, 1)
		if g.times[0] != base+c.millis {
			t.Errorf("%s: laid out at %d", c.name, g.times[0]-base)
		}
	}
	// Time never goes back at the seams.
	cfg, err := readConfig(table("first-event.rate", "77", "next-event.rate", "13", "rate.period", "7 s", "rate.shape", "SINE").Options)
	if err != nil {
		t.Fatal(err)
	}
	for e := int64(1); e < 20000; e++ {
		if a, b := cfg.millis(e-1), cfg.millis(e); b < a || b > a+100 {
			t.Fatalf("event %d at %d, %d at %d", e-1, a, e, b)
		}
	}
}

// TestLimited: under a limited rate events come as the clock goes on, and a wake-up is set when none is due.
func TestLimited(t *testing.T) {
	for _, options := range [][]string{{"rate.limited", "true"}, {"max-emit-speed", "false"}} {
		s := planned(t, table(append(options, "first-event.rate", "10", "next-event.rate", "10", "events.num", "100")...), 0)
		c := &clock{time.UnixMilli(5_000)}
		woken := make(chan bool, 10)
		r, err := s.Read(connectors.Env{Now: c.now}, func() { woken <- true })
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Assign(discover(t, s, 1)); err != nil {
			t.Fatal(err)
		}
		poll := func() int {
			t.Helper()
			p, err := r.Poll()
			if err != nil {
				t.Fatal(err)
			}
			if p.Rows == nil {
				return 0
			}
			return p.Rows.Len
		}
		if n := poll(); n != 1 {
			t.Errorf("%d events at once", n)
		}
		if n := poll(); n != 0 {
			t.Errorf("%d events too early", n)
		}
		<-woken
		c.at = c.at.Add(350 * time.Millisecond)
		if n := poll(); n != 3 {
			t.Errorf("%d events after 350 ms", n)
		}
		c.at = c.at.Add(time.Hour)
		if n := poll(); n != 96 {
			t.Errorf("%d events left", n)
		}
		r.Close()
	}
}

func TestEnds(t *testing.T) {
	s := planned(t, table("stop-at", "1436918400100"), 0) // 10 events a millisecond
	if got := len(readAll(t, s, discover(t, s, 3), 0, 0)); got != 999 || !s.Bounded {
		t.Errorf("%d events before stop-at", got)
	}
	s = planned(t, table("events.num", "10", "keep-alive", "true"), 0)
	r, err := s.Read(env(1), func() {})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.Assign(discover(t, s, 2)); err != nil {
		t.Fatal(err)
	}
	n := 0
	for more := true; more; {
		p, err := r.Poll()
		if err != nil || p.Ended {
			t.Fatal("ended", err)
		}
		if more = p.More; p.Rows != nil {
			n += p.Rows.Len
		}
	}
	if splits, _ := r.Snapshot(); n != 10 || len(splits) != 2 || s.Bounded {
		t.Errorf("%d events, %d splits left, bounded: %v", n, len(splits), s.Bounded)
	}
}

func TestBaseTime(t *testing.T) {
	s := planned(t, table("base-time", "-1", "events.num", "1"), 2)
	if rows := readAll(t, s, discover(t, s, 1), 0, 0); !strings.Contains(rows[0], "2023-11-14T22:13:20") {
		t.Errorf("the clock's time is not in %s", rows[0])
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct{ key, value, err string }{
		{"first-event.rate", "0", "Invalid value for option 'first-event.rate': it must be at least 1, but is 0."},
		{"bid.proportion", "-1", "Invalid value for option 'bid.proportion': it must be at least 1, but is -1."},
		{"bid.hot-ratio.auctions", "0", "Invalid value for option 'bid.hot-ratio.auctions': it must be at least 1, but is 0."},
		{"events.num", "-5", "Invalid value for option 'events.num': it must not be negative, but is -5."},
		{"rate.period", "10 ms", "Invalid value for option 'rate.period': it must be at least a second."},
		{"bid.avg-size", "1gb", "Invalid value for option 'bid.avg-size': it must not be greater than 65536 bytes."},
		{"base-time", "999999999999999", "Invalid value for option 'base-time': it must not be greater than 253402300799999."},
	} {
		_, err := Connector().Source(connectors.ScanRequest{Table: table(c.key, c.value)})
		if err == nil || err.Error() != c.err {
			t.Errorf("%s = %s: %v", c.key, c.value, err)
		}
	}
	tab := table()
	tab.Columns[3].Type = types.RowOf(types.Field{Name: "auction", Type: types.Of(types.BigInt)})
	_, err := Connector().Source(connectors.ScanRequest{Table: tab})
	if err == nil || !strings.HasSuffix(err.Error(), "but column 'bid' is declared as 'ROW<`auction` BIGINT>'.") {
		t.Errorf("another schema: %v", err)
	}
}

func TestPositionCodec(t *testing.T) {
	p := position{index: 2, of: 5, made: 12345, base: 1436918400000}
	got, err := parsePosition(p.split())
	if err != nil || got != p {
		t.Errorf("%v %v", got, err)
	}
	state := p.split().State
	for _, bad := range [][]byte{nil, {9}, state[:3], position{index: 5, of: 5}.split().State, position{of: 1, made: 1 << 62, base: 1 << 60}.split().State} {
		if _, err := parsePosition(connectors.Split{ID: "x", State: bad}); err == nil {
			t.Errorf("state %v was taken", bad)
		}
	}
}

// TestDistribution checks what the queries rely on.
func TestDistribution(t *testing.T) {
	cfg, err := readConfig(table().Options)
	if err != nil {
		t.Fatal(err)
	}
	g := newGenerator(&cfg, newTexts())
	ints := func(fill func(*generator, *types.Column, []int32), k kind) []int64 {
		c := types.NewColumn(types.Of(types.BigInt), types.BatchRows)
		c.Resize(types.BatchRows)
		fill(g, c, g.rows[k])
		var vs []int64
		for _, r := range g.rows[k] {
			vs = append(vs, c.Int[r])
		}
		return vs
	}
	strs := func(fill func(*generator, *types.Column, []int32), k kind) []string {
		c := types.NewColumn(types.String(), types.BatchRows)
		c.Resize(types.BatchRows)
		fill(g, c, g.rows[k])
		var vs []string
		for _, r := range g.rows[k] {
			vs = append(vs, c.Str[r])
		}
		return vs
	}
	hot, bids, google, ids, bytes := 0, 0, 0, 0, 0
	low, high := int64(1)<<62, int64(0)
	for first := int64(1_000_001); first < 1_100_000; first += types.BatchRows {
		g.begin(first, 1, 0, types.BatchRows)
		g.sort(types.BatchRows)
		last := firstID + g.lastAuction(types.BatchRows-1)
		for i, a := range ints((*generator).bidAuction, bid) {
			bids++
			if a%hotSpan == 0 && last-a <= hotSpan+70 {
				hot++
			}
			if a > last+idLead || a < last-inFlight-100 {
				t.Fatalf("bid %d of auction %d near %d", i, a, last)
			}
		}
		for _, p := range ints((*generator).price, bid) {
			low, high = min(low, p), max(high, p)
		}
		for i, c := range strs((*generator).channel, bid) {
			if c == "Google" {
				google++
			}
			if i == 0 && c == "" {
				t.Fatal("no channel")
			}
		}
		for _, u := range strs((*generator).url, bid) {
			if strings.Count(u, "/") != 6 {
				t.Fatalf("url %s", u)
			}
			if strings.Contains(u, "channel_id=") {
				ids++
			}
		}
		for _, x := range strs((*generator).bidExtra, bid) {
			bytes += len(x)
		}
	}
	share := func(n int) string { return fmt.Sprintf("%.2f", float64(n)/float64(bids)) }
	if share(hot) != "0.50" && share(hot) != "0.51" || share(google) != "0.12" && share(google) != "0.13" || share(ids) != "0.45" {
		t.Errorf("hot %s, google %s, with channel id %s", share(hot), share(google), share(ids))
	}
	if low > 200 || high < 99_000_000 || high > 100_000_000 || bytes/bids < 65 || bytes/bids > 71 {
		t.Errorf("prices %d to %d, %d bytes extra", low, high, bytes/bids)
	}
}

func BenchmarkEvents(b *testing.B) {
	for name, columns := range map[string][]int{"all columns": {0, 1, 2, 3}, "bids": {0, 3}, "kinds": {0}} {
		b.Run(name, func(b *testing.B) {
			s := planned(b, table(), columns...)
			r, err := s.Read(env(1), func() {})
			if err != nil {
				b.Fatal(err)
			}
			if err := r.Assign(discover(b, s, 1)); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			b.ResetTimer()
			cputime.PerOp(b, func() {
				for n := 0; n < b.N; n += types.BatchRows {
					if _, err := r.Poll(); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
	}
}
