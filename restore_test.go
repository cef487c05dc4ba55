package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"runnel/connectors/kafka/kafkatest"
	"runnel/state"
)

// joinRecords is how many records the join of a savepoint holds.
func joinRecords(t *testing.T, path string) int64 {
	t.Helper()
	m, err := state.ReadMetadata(path)
	if err != nil {
		t.Fatal(err)
	}
	var n int64
	found := false
	for _, o := range m.Savepoint.Operators {
		if !strings.HasPrefix(o.Name, "IntervalJoin") {
			continue
		}
		found = true
		for _, sub := range o.Subtasks {
			for _, h := range sub.States {
				n += h.Records
			}
		}
	}
	if !found {
		t.Fatalf("%s holds no join", path)
	}
	return n
}

// TestExactlyOnceFutureRow has one row dated far in the future on either side: it waits for its partner for as long as it
// takes, and holds nobody else back.
func TestExactlyOnceFutureRow(t *testing.T) {
	t.Parallel()
	const (
		n      = 5000
		future = n + 1
		early  = 100 // rows before it
		date   = "2099-01-01 00:00:00"
		// An order waits until both watermarks, 5 s behind, have passed its minute: at one row a second 65 rows of each side,
		// and their like in what has been read of one side and not yet of the other.
		limit = 600
	)
	e := expected(future)
	rows := map[string][]byte{
		"orders":   fmt.Appendf(nil, `{"order_id":%d,"user_id":%d,"amount":%d,"ts":"%s"}`, future, e.User, e.Amount, date),
		"payments": fmt.Appendf(nil, `{"order_id":%d,"method":"%s","ts":"%s"}`, future, e.Method, date),
	}
	for side, other := range map[string]string{"orders": "payments", "payments": "orders"} {
		t.Run(side, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, false)
			p.fillWith(1, n, map[string]inserted{side: {early, rows[side]}})
			script := p.file("join.sql", p.joinScript(false))
			r := p.start("-f", script, "-D", "parallelism.default=2")
			r.untilEnd()
			path := r.savepoint("stop")
			r.wait(exitOK)
			records := joinRecords(t, path)
			t.Logf("%d records of %d rows", records, 2*n+1)
			if records > limit || records < 1 {
				t.Errorf("the join holds %d records, more than %d", records, limit)
			}
			p.wantOnce(n)

			p.while(func(c *kafkatest.Client) error { return c.Produce(p.name(other), [][]byte{rows[other]}) })
			r = p.start("-f", script, "-D", "execution.savepoint.path="+path)
			r.untilEnd()
			r.interrupt()
			p.wantOnce(n + 1)
		})
	}
}

// TestCrashRestoreRefused changes what a savepoint was made by: what does not fit is refused before anything starts, with
// the reason, and what does fit goes on.
func TestCrashRestoreRefused(t *testing.T) {
	t.Parallel()
	const n = 200
	p := newPlace(t, false)
	p.fill(1, n)
	script := p.joinScript(false)
	r := p.start("-f", p.file("join.sql", script))
	r.untilEnd()
	path := r.savepoint("stop")
	r.wait(exitOK)

	newer := filepath.Join(p.dir, "newer")
	if err := os.CopyFS(newer, os.DirFS(path)); err != nil {
		t.Fatal(err)
	}
	meta := filepath.Join(newer, "_metadata")
	text, err := os.ReadFile(meta)
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`"version": \d+`)
	if err := os.WriteFile(meta, version.ReplaceAll(text, []byte(`"version": 1234`)), 0o600); err != nil {
		t.Fatal(err)
	}

	elsewhere := newPlace(t, true)
	elsewhere.tag = p.tag
	elsewhere.fill(1, n)

	for _, c := range []struct {
		name   string
		place  *place
		script string
		path   string
		want   []string // in what is printed
	}{
		{"changed join key", p, strings.Replace(script, "o.order_id = p.order_id", "o.user_id = p.order_id", 1), path,
			[]string{"IntervalJoin", "does not fit", "user_id"}},
		{"another key of the same name", p, strings.Replace(script, "FROM orders o", "FROM (SELECT user_id AS order_id, user_id, amount, ts FROM orders) o", 1), path,
			[]string{"IntervalJoin", "does not fit", "orders.user_id"}},
		{"changed interval", p, strings.Replace(script, "INTERVAL '1' MINUTE AND", "INTERVAL '2' MINUTE AND", 1), path,
			[]string{"IntervalJoin", "does not fit"}},
		{"unknown version", p, script, newer, []string{"version 1234"}},
		{"another cluster", elsewhere, elsewhere.joinScript(false), path, []string{"whose data it does not know"}},
		{"no savepoint", p, script, filepath.Join(p.dir, "nowhere"), []string{"neither savepoint nor checkpoint"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.script == "" || c.name != "another cluster" && c.script == script && c.path == path {
				t.Fatal("nothing is changed")
			}
			r := c.place.start("-f", c.place.file("changed.sql", c.script), "-D", "execution.savepoint.path="+c.path)
			r.wait(exitFailed)
			for _, w := range c.want {
				if !strings.Contains(r.out.String(), w) {
					t.Errorf("not printed: %s", w)
				}
			}
			if t.Failed() {
				t.Log(r.out.String())
			}
		})
	}
	t.Run("added filter and alias", func(t *testing.T) {
		more := 20
		p.group = "filtered"
		p.while(func(c *kafkatest.Client) error {
			var orders, payments [][]byte
			for i := n + 1; i <= n+more; i++ {
				orders, payments = append(orders, orderRow(i)), append(payments, paymentRow(i))
			}
			if err := c.Produce(p.name("orders"), orders); err != nil {
				return err
			}
			return c.Produce(p.name("payments"), payments)
		})
		filtered := strings.Replace(p.joinScript(false), "INTERVAL '1' MINUTE;", fmt.Sprintf("INTERVAL '1' MINUTE WHERE o.amount <> %d;", expected(n+1).Amount), 1)
		filtered = strings.Replace(filtered, "o.order_id = p.order_id", "o.order_id = p.o", 1)
		filtered = strings.Replace(filtered, "JOIN payments p", "JOIN (SELECT order_id AS o, `method`, ts FROM payments) p", 1)
		r := p.start("-f", p.file("changed.sql", filtered), "-D", "execution.savepoint.path="+path)
		r.untilEnd()
		r.interrupt()
		r.check()
		wantTimes(t, p.orders(), n+more, func(o int) int {
			if o == n+1 {
				return 0
			}
			return 1
		})
	})
}
