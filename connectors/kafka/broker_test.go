package kafka

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"runnel/connectors"
)

func embeddedConfig(dir string, policy Policy, notices *[]string) Config {
	return Config{Formats: testFormats(), Dir: dir, Embedded: policy, HowToAsk: "start with --embedded-kafka", Addresses: []string{"kafka.invalid:9092", "localhost:0"},
		Notice: func(s string) { *notices = append(*notices, s) }}
}

// TestTwoHolders: the second user of a directory reaches the broker of the first through TCP, and becomes the broker when
// the first ends, in the middle of its work.
func TestTwoHolders(t *testing.T) {
	dir := t.TempDir()
	var notes []string
	one, two := New(embeddedConfig(dir, EmbeddedAllowed, &notes)), New(embeddedConfig(dir, EmbeddedAllowed, &notes))
	defer two.Close()
	r := &rig{t: t, k: one, servers: "kafka.invalid:9092"}
	tab := r.table("shared", []string{"a INT"}, "scan.startup.mode", "earliest-offset")
	r.writeRows(tab, "1", "2")
	id, err := one.identity(properties{"bootstrap.servers": r.servers})(r.ctx())
	if err != nil || !strings.HasPrefix(id, "runnel-") {
		t.Fatalf("cluster id %q, %v", id, err)
	}

	second := &rig{t: t, k: two, servers: r.servers}
	s := second.scan(tab, all(tab))
	r.want(s.mustRead(2), "+I 1", "+I 2")
	if two.host.cluster != nil {
		t.Fatal("two brokers on one directory")
	}
	second.writeRows(tab, "3")
	r.want(s.mustRead(1), "+I 3")

	if err := one.Close(); err != nil {
		t.Fatal(err)
	}
	second.writeRows(tab, "4")
	r.want(s.mustRead(1), "+I 4")
	if two.host.cluster == nil {
		t.Fatal("nobody is the broker")
	}
	if again, err := two.identity(properties{"bootstrap.servers": r.servers})(r.ctx()); err != nil || again != id {
		t.Errorf("cluster id %q instead of %q, %v", again, id, err)
	}
}

// TestChoice: the choice is made once, told, and outlives broker and process.
func TestChoice(t *testing.T) {
	dir := t.TempDir()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	there := ln.Addr().String()
	var notes []string
	cfg := embeddedConfig(dir, EmbeddedAllowed, &notes)
	cfg.Addresses = []string{there, "localhost:0"}
	k := New(cfg)
	r := &rig{t: t, k: k}
	for addr, want := range map[string]bool{there: false, "localhost:0": true} {
		if got, err := k.choose(r.ctx(), properties{"bootstrap.servers": addr}); err != nil || got.embedded() != want {
			t.Errorf("%s: %+v, %v", addr, got, err)
		}
	}
	if len(notes) != 2 {
		t.Errorf("notices %q", notes)
	}
	k.Close()
	ln.Close()
	k = New(cfg)
	defer k.Close()
	if got, err := k.choose(r.ctx(), properties{"bootstrap.servers": there}); err != nil || got.embedded() {
		t.Errorf("the real broker was replaced, %v", err)
	}
	if got, err := k.choose(r.ctx(), properties{"bootstrap.servers": "elsewhere:9092"}); err != nil || got.embedded() {
		t.Errorf("an address that is not its own: %+v, %v", got, err)
	}
}

func TestPolicy(t *testing.T) {
	dir := t.TempDir()
	var notes []string
	for _, p := range []struct {
		policy Policy
		err    string
	}{
		{EmbeddedNever, "no broker answers at localhost:0"},
		{EmbeddedAsk, "no broker answers at localhost:0; for an embedded broker, start with --embedded-kafka"},
	} {
		k := New(embeddedConfig(dir, p.policy, &notes))
		r := &rig{t: t, k: k}
		start := time.Now()
		_, err := k.choose(r.ctx(), properties{"bootstrap.servers": "localhost:0"})
		if err == nil || err.Error() != p.err {
			t.Errorf("policy %d: %v", p.policy, err)
		}
		if d := time.Since(start); d > 2*time.Second {
			t.Errorf("the probe took %v", d)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("files left: %v", left)
	}
	// A name that does not resolve is given up as fast.
	start := time.Now()
	if a := probe(t.Context(), []string{"kafka.invalid:9092"}); a != "" {
		t.Errorf("%s answers", a)
	}
	if d := time.Since(start); d > time.Second {
		t.Errorf("the probe took %v", d)
	}
	// Without leave to start one, a running one is used and a sleeping one is not woken.
	owner := New(embeddedConfig(dir, EmbeddedAllowed, &notes))
	r := &rig{t: t, k: owner, servers: "localhost:0"}
	r.writeRows(r.table("x", []string{"a INT"}), "1")
	guest := New(embeddedConfig(dir, EmbeddedAsk, &notes))
	r.k = guest
	tab := r.table("x", []string{"a INT"}, "scan.startup.mode", "earliest-offset", "scan.bounded.mode", "latest-offset")
	r.want(r.scan(tab, all(tab)).mustRead(-1), "+I 1")
	owner.Close()
	late := New(embeddedConfig(dir, EmbeddedAsk, &notes))
	if _, err := late.choose(r.ctx(), properties{"bootstrap.servers": "localhost:0"}); err == nil || !strings.Contains(err.Error(), "is not running; for an embedded broker, start with") {
		t.Errorf("error %v", err)
	}
}

// TestNeighbour: a process with another directory finds the running embedded broker at an address that answers.
func TestNeighbour(t *testing.T) {
	var notes []string
	one := New(embeddedConfig(t.TempDir(), EmbeddedAllowed, &notes))
	defer one.Close()
	r := &rig{t: t, k: one, servers: "kafka.invalid:9092"}
	tab := r.table("shared", []string{"a INT"}, "scan.startup.mode", "earliest-offset", "scan.bounded.mode", "latest-offset")
	r.writeRows(tab, "1")
	cfg := embeddedConfig(t.TempDir(), EmbeddedAsk, &notes)
	cfg.Addresses = []string{"kafka.invalid:9092", one.host.addr}
	for range 2 { // and once more from the stored choice
		two := New(cfg)
		r.k = two
		r.want(r.scan(tab, all(tab)).mustRead(-1), "+I 1")
		if two.host.cluster != nil {
			t.Error("it became a broker itself")
		}
		two.Close()
	}
}

// TestOwnOtherName: the directory's own broker is known under a name that is used for the first time while it runs.
func TestOwnOtherName(t *testing.T) {
	var notes []string
	dir := t.TempDir()
	k := New(embeddedConfig(dir, EmbeddedAllowed, &notes))
	r := &rig{t: t, k: k, servers: "kafka.invalid:9092"}
	r.writeRows(r.table("x", []string{"a INT"}), "1")
	addr := k.host.addr
	k.Close()
	cfg := embeddedConfig(dir, EmbeddedAllowed, &notes)
	cfg.Addresses = append(cfg.Addresses, addr)
	k = New(cfg)
	defer k.Close()
	r.k = k
	tab := r.table("x", []string{"a INT"}, "scan.startup.mode", "earliest-offset", "scan.bounded.mode", "latest-offset")
	r.want(r.scan(tab, all(tab)).mustRead(-1), "+I 1")
	if c, err := k.choose(r.ctx(), properties{"bootstrap.servers": addr}); err != nil || c.Broker != embeddedBroker {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestReopen keeps topics, offsets and the port over a restart, and gives up a port that somebody else has taken.
func TestReopen(t *testing.T) {
	dir := t.TempDir()
	var notes []string
	k := New(embeddedConfig(dir, EmbeddedAllowed, &notes))
	r := &rig{t: t, k: k, servers: "localhost:0"}
	tab := r.table("kept", []string{"a INT"}, "scan.startup.mode", "earliest-offset", "scan.bounded.mode", "latest-offset")
	r.writeRows(tab, "1", "2")
	before := k.host.addr
	k.Close()

	k = New(embeddedConfig(dir, EmbeddedAllowed, &notes))
	r.k = k
	r.want(r.scan(tab, all(tab)).mustRead(-1), "+I 1", "+I 2")
	if k.host.addr != before {
		t.Errorf("it moved from %s to %s", before, k.host.addr)
	}
	k.Close()

	ln, err := net.Listen("tcp", before)
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	k = New(embeddedConfig(dir, EmbeddedAllowed, &notes))
	defer k.Close()
	r.k = k
	r.want(r.scan(tab, all(tab)).mustRead(-1), "+I 1", "+I 2")
}

// TestRetention keeps a topic small.
func TestRetention(t *testing.T) {
	var notes []string
	cfg := embeddedConfig(t.TempDir(), EmbeddedAllowed, &notes)
	cfg.Retention = 2 << 20
	k := New(cfg)
	defer k.Close()
	r := &rig{t: t, k: k, servers: "localhost:0"}
	tab := r.table("big", []string{"a STRING"})
	row := strings.Repeat("x", 10000)
	for range 8 {
		var rows []string
		for range 100 {
			rows = append(rows, row)
		}
		r.writeRows(tab, rows...)
	}
	size := func() (n int64) {
		filepath.WalkDir(filepath.Join(cfg.Dir, "data"), func(path string, d os.DirEntry, err error) error {
			if st, e := d.Info(); e == nil && !d.IsDir() {
				n += st.Size()
			}
			return nil
		})
		return n
	}
	before := size()
	k.host.cluster.ApplyRetention()
	if after := size(); before < 8_000_000 || after > 5<<20 {
		t.Errorf("%d bytes, then %d", before, after)
	}
}

// TestForeignLock: another process that holds the directory and does not answer ends in an error, not in a second broker.
func TestForeignLock(t *testing.T) {
	if _, err := exec.LookPath("flock"); err != nil {
		t.Skip("no flock command here: ", err)
	}
	dir := t.TempDir()
	cmd := exec.Command("flock", filepath.Join(dir, "lock"), "sh", "-c", "echo held; exec sleep 60")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	if _, err := out.Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	var notes []string
	k := New(embeddedConfig(dir, EmbeddedAllowed, &notes))
	defer k.Close()
	short, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if a, err := k.host.address(short, true); err == nil || !strings.Contains(err.Error(), "another process holds it") {
		t.Errorf("address %q, %v", a, err)
	}
}

func TestFormatsOfOptions(t *testing.T) {
	k := New(Config{})
	c := k.Connector()
	keys := map[string]bool{}
	for _, o := range c.Options {
		if keys[o.Key] || o.Doc == "" {
			t.Errorf("option %s is there twice or says nothing", o.Key)
		}
		keys[o.Key] = true
		if o.Kind == connectors.EnumOption && len(o.Values) == 0 {
			t.Errorf("option %s has no values", o.Key)
		}
	}
	for _, f := range c.Formats {
		if !keys[f] {
			t.Errorf("format key %s is no option", f)
		}
	}
	if fmt.Sprint(DefaultAddresses()) != "[kafka:9092 localhost:9092 127.0.0.1:9092]" {
		t.Errorf("addresses %v", DefaultAddresses())
	}
}
