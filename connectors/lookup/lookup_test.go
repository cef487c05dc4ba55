package lookup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"time"

	"runnel/connectors"
	"runnel/types"
)

// table is an outside table k INT, v STRING that counts how it is asked.
type table struct {
	rows   map[int64][]string
	misses int // questions that find nothing
	asked  []string
	scans  int
	broken error
}

func (t *table) Lookup(_ context.Context, keys *types.Batch) (*types.Batch, []int32, error) {
	out := types.NewBatch(columns)
	var of []int32
	var names []string
	for n := range keys.Rows() {
		k := keys.Cols[0].Int[keys.Row(n)]
		names = append(names, fmt.Sprint(k))
		for _, v := range t.rows[k] {
			if t.misses > 0 {
				break
			}
			out.Cols[0].AppendStr(v)
			out.Push(types.Insert)
			of = append(of, int32(n))
		}
	}
	t.misses--
	t.asked = append(t.asked, strings.Join(names, " "))
	return out, of, nil
}

func (t *table) Scan(_ context.Context, rows func(*types.Batch) error) error {
	t.scans++
	if t.broken != nil {
		return t.broken
	}
	b := types.NewBatch(append(append([]types.Field(nil), columns...), keys...))
	for k, vs := range t.rows {
		for _, v := range vs {
			b.Cols[0].AppendStr(v)
			b.Cols[1].AppendInt(k)
			b.Push(types.Insert)
		}
	}
	return rows(b)
}

func (t *table) Close() error { return nil }

var (
	columns = []types.Field{{Name: "v", Type: types.String()}}
	keys    = []types.Field{{Name: "k", Type: types.Of(types.Int)}}
)

// bench is a table with a clock.
type bench struct {
	*table
	t    *testing.T
	now  time.Time
	asks *Table
}

func newBench(t *testing.T, options map[string]string, retry *Retry) *bench {
	t.Helper()
	b := &bench{t: t, now: time.Date(2024, 6, 3, 10, 0, 0, 0, time.UTC), table: &table{rows: map[int64][]string{1: {"a", "b"}, 2: {"c"}, 3: {"d"}}}}
	c, err := CacheOf(connectors.Options(options))
	if err != nil {
		t.Fatal(err)
	}
	b.asks, err = New(b.table, Spec{Name: "t", Keys: keys, Columns: columns, Cache: c, Retry: retry, Now: func() time.Time { return b.now },
		Zone: time.UTC, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func keyBatch(ks ...int64) *types.Batch {
	b := types.NewBatch(keys)
	for _, k := range ks {
		b.Cols[0].AppendInt(k)
		b.Push(types.Insert)
	}
	return b
}

func text(a Answer) string {
	var vs []string
	for i := a.From; i < a.To; i++ {
		vs = append(vs, a.Rows.Cols[0].Str[i])
	}
	return strings.Join(vs, "+")
}

// want asks, and compares the answers and the questions that came through.
func (b *bench) want(answers string, asked []string, ks ...int64) {
	b.t.Helper()
	b.asked = nil
	as, err := b.asks.Lookup(context.Background(), keyBatch(ks...))
	if err != nil {
		b.t.Fatal(err)
	}
	var got []string
	for _, a := range as {
		got = append(got, text(a))
	}
	if g := strings.Join(got, " "); g != answers || !reflect.DeepEqual(b.asked, asked) {
		b.t.Errorf("keys %v: %q, asked %q; want %q, asked %q", ks, g, b.asked, answers, asked)
	}
}

func TestPartialCache(t *testing.T) {
	b := newBench(t, map[string]string{"lookup.cache": "PARTIAL", "lookup.partial-cache.max-rows": "2", "lookup.partial-cache.expire-after-write": "10 min",
		"lookup.partial-cache.expire-after-access": "4 min"}, nil)
	b.want("a+b c", []string{"1 2"}, 1, 2)
	b.want("a+b d", []string{"3"}, 1, 3) // 3 pushes out 2
	b.want("a+b c", []string{"2"}, 1, 2)
	b.want(" c", []string{"7"}, 7, 2)
	b.want(" c", nil, 7, 2) // that there is nothing is known too
	for range 3 {
		b.now = b.now.Add(3 * time.Minute)
		b.want(" c", nil, 7, 2)
	}
	b.now = b.now.Add(time.Minute)
	b.want(" c", []string{"7 2"}, 7, 2) // written 10 minutes ago
	b.now = b.now.Add(4 * time.Minute)
	b.want("", []string{"7"}, 7) // not asked for in 4 minutes
	b = newBench(t, map[string]string{"lookup.cache": "partial", "lookup.partial-cache.cache-missing-key": "false"}, nil)
	b.want("", []string{"7"}, 7)
	b.want("", []string{"7"}, 7)
}

func TestRetry(t *testing.T) {
	b := newBench(t, map[string]string{"lookup.cache": "PARTIAL"}, &Retry{Delay: time.Microsecond, Attempts: 2})
	b.misses = 1
	b.want("a+b  c", []string{"1 9 2", "1 9 2", "9"}, 1, 9, 2)
	b.want("a+b ", nil, 1, 9)
	b = newBench(t, nil, &Retry{Delay: time.Microsecond, Attempts: 1})
	b.misses = 2
	b.want("", []string{"1", "1"}, 1)
}

func TestAsking(t *testing.T) {
	b := newBench(t, map[string]string{"lookup.cache": "PARTIAL"}, &Retry{Delay: time.Hour, Attempts: 5})
	a := b.asks.Ask(context.Background(), time.Minute, func() {})
	got := map[string]string{}
	take := func(n int) {
		for len(got) < n {
			for _, x := range a.Take() {
				if x.Err != nil {
					t.Fatal(x.Err)
				}
				got[fmt.Sprint(x.Ask, ".", x.Key)] = text(x.Answer)
			}
			if len(got) < n {
				if err := a.Await(); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	a.Ask(1, keyBatch(1, 9))
	take(1) // what is found does not wait for what is not
	a.Ask(2, keyBatch(1))
	take(2)
	a.Hurry()
	take(3)
	if want := map[string]string{"1.0": "a+b", "1.1": "", "2.0": "a+b"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	a.Close()
	if err := a.Await(); !errors.Is(err, context.Canceled) && err != nil {
		t.Error(err)
	}
}

func TestAskingCancelled(t *testing.T) {
	b := newBench(t, nil, &Retry{Delay: time.Hour, Attempts: 5})
	a := b.asks.Ask(context.Background(), time.Minute, func() {})
	a.Ask(1, keyBatch(9))
	a.Close() // returns although an hour is left
}

func TestFullCache(t *testing.T) {
	b := newBench(t, map[string]string{"lookup.cache": "FULL", "lookup.full-cache.periodic-reload.interval": "1 h"}, nil)
	b.want("a+b  d", nil, 1, 9, 3)
	b.rows[9] = []string{"new"}
	b.now = b.now.Add(59 * time.Minute)
	b.want("", nil, 9)
	b.now = b.now.Add(time.Minute)
	b.want("new", nil, 9)
	delete(b.rows, 9)
	b.broken = errors.New("gone")
	b.now = b.now.Add(time.Hour)
	b.want("new", nil, 9) // a failed load leaves the rows as they are
	if b.scans != 3 {
		t.Errorf("%d loads", b.scans)
	}
	b = newBench(t, map[string]string{"lookup.cache": "FULL", "lookup.full-cache.periodic-reload.interval": "1 h"}, nil)
	b.broken = errors.New("gone")
	if _, err := b.asks.Lookup(context.Background(), keyBatch(1)); err == nil || !strings.Contains(err.Error(), "loading the cache of table t: gone") {
		t.Errorf("got %v", err)
	}
}

func TestReloadTimes(t *testing.T) {
	for _, tt := range []struct {
		options map[string]string
		now     string // of the first load
		next    []string
	}{
		{map[string]string{"lookup.full-cache.reload-strategy": "TIMED", "lookup.full-cache.timed-reload.iso-time": "12:15"}, "2024-06-03T10:00:00Z", []string{"2024-06-03T12:15:00Z", "2024-06-04T12:15:00Z"}},
		{map[string]string{"lookup.full-cache.reload-strategy": "TIMED", "lookup.full-cache.timed-reload.iso-time": "10:00", "lookup.full-cache.timed-reload.interval-in-days": "3"}, "2024-06-03T10:00:00Z", []string{"2024-06-04T10:00:00Z", "2024-06-07T10:00:00Z"}},
		{map[string]string{"lookup.full-cache.reload-strategy": "TIMED", "lookup.full-cache.timed-reload.iso-time": "01:30:10+02:00"}, "2024-06-03T10:00:00Z", []string{"2024-06-03T23:30:10Z"}},
		{map[string]string{"lookup.full-cache.periodic-reload.interval": "10 min", "lookup.full-cache.periodic-reload.schedule-mode": "FIXED_RATE"}, "2024-06-03T10:00:00Z", []string{"2024-06-03T10:10:00Z", "2024-06-03T10:20:00Z"}},
	} {
		tt.options["lookup.cache"] = "FULL"
		b := newBench(t, tt.options, nil)
		b.now, _ = time.Parse(time.RFC3339, tt.now)
		b.want("c", nil, 2)
		for _, want := range tt.next {
			if got := b.asks.full.due.UTC().Format(time.RFC3339); got != want {
				t.Errorf("%v: next load at %s, want %s", tt.options, got, want)
			}
			b.now = b.asks.full.due
			b.want("c", nil, 2)
		}
	}
}

func TestOptions(t *testing.T) {
	for want, o := range map[string]map[string]string{
		"lookup.full-cache.periodic-reload.interval":  {"lookup.cache": "FULL"},
		"lookup.full-cache.timed-reload.iso-time":     {"lookup.cache": "FULL", "lookup.full-cache.reload-strategy": "TIMED"},
		`"25:00" is no time of day`:                   {"lookup.cache": "FULL", "lookup.full-cache.reload-strategy": "TIMED", "lookup.full-cache.timed-reload.iso-time": "25:00"},
		"lookup.partial-cache.max-rows":               {"lookup.cache": "PARTIAL", "lookup.partial-cache.max-rows": "0"},
		"Expected one of: [[NONE, PARTIAL, FULL]]":    {"lookup.cache": "some"},
		"lookup.full-cache.timed-reload.interval-in-": {"lookup.cache": "FULL", "lookup.full-cache.reload-strategy": "TIMED", "lookup.full-cache.timed-reload.iso-time": "10:00", "lookup.full-cache.timed-reload.interval-in-days": "0"},
	} {
		if _, err := CacheOf(connectors.Options(o)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s", o, err, want)
		}
	}
	if _, err := New(unscanned{}, Spec{Name: "t", Cache: Cache{Kind: Full}}); err == nil || !strings.Contains(err.Error(), "does not support lookup.cache = FULL") {
		t.Errorf("got %v", err)
	}
}

type unscanned struct{}

func (unscanned) Lookup(context.Context, *types.Batch) (*types.Batch, []int32, error) {
	return nil, nil, nil
}
func (unscanned) Close() error { return nil }
