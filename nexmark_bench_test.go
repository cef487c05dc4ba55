package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"

	"runnel/catalog"
	"runnel/connectors"
	"runnel/connectors/blackhole"
	"runnel/connectors/filesystem"
	"runnel/connectors/nexmark"
	"runnel/exec"
	"runnel/internal/cputime"
	"runnel/session"
	"runnel/sql"
)

// nexmarkLimit is what a query may cost: CPU nanoseconds per event without what the generator takes; 0 is no limit. unbounded
// says that no bound holds its state.
type nexmarkLimit struct {
	query     string
	ns        float64
	unbounded bool
}

var nexmarkLimits = []nexmarkLimit{
	{query: "q0", ns: 60}, {query: "q1", ns: 60}, {query: "q2", ns: 60}, {"q3", 150, true}, {"q4", 400, true}, {query: "q5", ns: 150}, {query: "q6", unbounded: true},
	{"q7", 350, true}, {query: "q8", ns: 120}, {"q9", 600, true}, {query: "q10"}, {query: "q11", ns: 200}, {query: "q12", ns: 150},
	{query: "q13"}, {query: "q14", ns: 120}, {"q15", 450, true}, {"q16", 700, true}, {"q17", 400, true}, {"q18", 900, true}, {"q19", 700, true}, {"q20", 800, true},
	{query: "q21", ns: 650}, {query: "q22", ns: 200},
}

// nexmarkCheckpoint is the number of events between two checkpoints.
const nexmarkCheckpoint = 1_000_000

// BenchmarkNexmark runs each query of the benchmark once over NEXMARK_EVENTS events (1,000,000 if not set; "full" takes
// 30,000,000, and 10,000,000 where state grows without bound) and prints a table of what they cost.
func BenchmarkNexmark(b *testing.B) {
	debug.SetGCPercent(gcPercent)
	cold := os.Getenv("NEXMARK_COLD") != ""
	if !cold {
		pretouch(b)
	}
	var done []nexmarkCost
	for _, l := range nexmarkLimits {
		b.Run(l.query, func(b *testing.B) {
			for range b.N {
				c := measureNexmark(b, l, nexmarkCount(b, l), 0)
				if cold {
					debug.FreeOSMemory()
				}
				b.ReportMetric(c.net(), "cpu-ns/event")
				b.ReportMetric(c.generator, "generator-ns/event")
				if len(done) == 0 || done[len(done)-1].query != l.query {
					done = append(done, c)
				}
			}
		})
	}
	printCosts(done)
}

// pretouch makes the process's memory its own before anything is measured: half of what the machine has to give, at most 8 GB.
// The runtime gives unused memory back; with GODEBUG=madvdontneed=0, as in the Makefile, the pages stay until others need them.
func pretouch(b *testing.B) {
	if !strings.Contains(os.Getenv("GODEBUG"), "madvdontneed=0") {
		b.Log("without GODEBUG=madvdontneed=0 memory that was touched is soon cold again")
	}
	var free syscall.Sysinfo_t
	if err := syscall.Sysinfo(&free); err != nil {
		b.Fatal(err)
	}
	const piece = 16 << 20
	var all [][]byte
	for left := min(int64(free.Freeram)*int64(free.Unit)/2, 8<<30); left > 0; left -= piece {
		p := make([]byte, piece)
		for i := 0; i < len(p); i += 4096 {
			p[i] = 1
		}
		all = append(all, p)
	}
	runtime.KeepAlive(all)
	all = nil
	runtime.GC()
}

// nexmarkCost is what a run took.
type nexmarkCost struct {
	nexmarkLimit
	events    int64
	cpu       time.Duration // of the process
	generator float64       // ns an event that the generator takes alone, for the fields that the query reads
	state     int64         // bytes in the largest of the last checkpoints
	live      int64         // bytes of the heap in use after nine tenths of the events
	early     int64         // and after the first ones, if that is asked for
}

func (c nexmarkCost) net() float64 {
	return float64(c.cpu.Nanoseconds())/float64(c.events) - c.generator
}

func printCosts(costs []nexmarkCost) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "query\tevents\tCPU s\tgenerator ns/event\tCPU ns/event\tevents/s per core\tlimit ns\tholds\tstate MB\theap MB\t")
	for _, c := range costs {
		limit, holds := "", ""
		if c.ns > 0 {
			limit, holds = fmt.Sprintf("%.0f", c.ns), "yes"
			if c.net() > c.ns {
				holds = fmt.Sprintf("%.1f times", c.net()/c.ns)
			}
		}
		fmt.Fprintf(w, "%s\t%d\t%.1f\t%.0f\t%.0f\t%.0f\t%s\t%s\t%.1f\t%.1f\t\n", c.query, c.events, c.cpu.Seconds(), c.generator, c.net(),
			1e9/c.net(), limit, holds, float64(c.state)/1e6, float64(c.live)/1e6)
	}
	w.Flush()
}

// nexmarkCount is the number of events to run a query over.
func nexmarkCount(b *testing.B, l nexmarkLimit) int64 {
	switch v := os.Getenv("NEXMARK_EVENTS"); v {
	case "":
		return 1_000_000
	case "full":
		if l.unbounded {
			return 10_000_000
		}
		return 30_000_000
	default:
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil || n < 1 {
			b.Fatalf("NEXMARK_EVENTS is %q: a number or 'full' is wanted", v)
		}
		return n
	}
}

// measureNexmark runs a query over so many events; the heap is looked at after nine tenths of them, and after the first ones if
// early is not 0.
func measureNexmark(b *testing.B, l nexmarkLimit, events, early int64) nexmarkCost {
	c := nexmarkCost{nexmarkLimit: l, events: events}
	dir := b.TempDir()
	text := strings.ReplaceAll(nexmarkText(b, l.query, map[string]string{"events.num": strconv.FormatInt(c.events, 10)}), "/tmp/nexmark-", dir+"/")
	writeSideInput(b, dir)
	count := &countedSource{events: c.events, early: early}
	run := newNexmarkRun(b, dir, count.connector(nexmark.Connector()), blackhole.Connector())
	defer run.cluster.Close(context.Background())
	runtime.GC()
	start := cputime.Process()
	job := run.execute(b, text)
	stop := count.checkpoints(job)
	if err := job.Wait(context.Background()); err != nil {
		b.Fatal(err)
	}
	stop()
	c.cpu = cputime.Process() - start
	for _, k := range job.Checkpoints().Recent { // the very last holds what is left at the end of the input
		c.state = max(c.state, k.FullSize)
	}
	c.live, c.early = count.live, count.earlyLive
	c.generator = count.alone(b)
	return c
}

// nexmarkRun is a cluster with a session that knows the tables of the benchmark.
type nexmarkRun struct {
	cluster *exec.Cluster
	session *session.Session
}

func newNexmarkRun(tb testing.TB, dir string, source, sink connectors.Connector) nexmarkRun {
	return newNexmarkRunAt(tb, exec.SystemClock{}, dir, source, sink)
}

func newNexmarkRunAt(tb testing.TB, clock exec.Clock, dir string, source, sink connectors.Connector) nexmarkRun {
	tb.Helper()
	cluster := exec.New(exec.Options{Slots: 4, Dir: filepath.Join(dir, "data"), Clock: clock})
	return nexmarkRun{cluster, session.New(session.Options{
		Catalog: catalog.New(), Config: catalog.NewConfig(), Formats: formatTable,
		Connectors: []connectors.Connector{source, sink, filesystem.Connector(findFormat)},
		Cluster:    func() (*exec.Cluster, error) { return cluster, nil },
	})}
}

// execute runs the statements of a text and gives the job of the last one.
func (r nexmarkRun) execute(tb testing.TB, text string) *exec.Job {
	tb.Helper()
	id := ""
	for _, p := range sql.SplitAll(text) {
		res, err := r.session.Execute(context.Background(), p.Text)
		if err != nil {
			tb.Fatalf("%s: %v", p.Text, err)
		}
		id = res.JobID
	}
	job, ok := r.cluster.Job(id)
	if !ok {
		tb.Fatal("the script starts no job")
	}
	return job
}

// countedSource counts the events of a source and can read them once more.
type countedSource struct {
	source    *connectors.Source // of the last plan
	events    int64              // that it makes
	made      atomic.Int64
	live      int64
	earlyLive int64
	early     int64 // events after which the heap is looked at for the first time; 0: it is not
	tick      chan struct{}
}

// connector gives the connector with its rows counted.
func (s *countedSource) connector(c connectors.Connector) connectors.Connector {
	plan := c.Source
	s.tick = make(chan struct{}, 1)
	c.Source = func(r connectors.ScanRequest) (*connectors.Source, error) {
		source, err := plan(r)
		if err != nil {
			return nil, err
		}
		s.source = source
		counted := *source
		counted.Read = func(env connectors.Env, wake func()) (connectors.Reader, error) {
			r, err := source.Read(env, wake)
			return countedReader{r, s}, err
		}
		return &counted, nil
	}
	return c
}

type countedReader struct {
	connectors.Reader
	s *countedSource
}

func (r countedReader) Poll() (connectors.Polled, error) {
	p, err := r.Reader.Poll()
	if p.Rows != nil {
		n := int64(p.Rows.Len)
		passes := func(events int64) bool { return r.s.made.Load() < events && r.s.made.Load()+n >= events }
		if passes(r.s.early) {
			r.s.earlyLive = liveHeap()
		}
		if passes(r.s.events / 10 * 9) {
			r.s.live = liveHeap()
		}
		if made := r.s.made.Add(n); made < r.s.events && made/nexmarkCheckpoint > (made-n)/nexmarkCheckpoint {
			select {
			case r.s.tick <- struct{}{}:
			default:
			}
		}
	}
	return p, err
}

func liveHeap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// checkpoints lets a job take one after every so many events until the returned function is called.
func (s *countedSource) checkpoints(job *exec.Job) (stop func()) {
	var ended sync.WaitGroup
	quit := make(chan struct{})
	ended.Add(1)
	go func() {
		defer ended.Done()
		for {
			select {
			case <-s.tick:
				job.Checkpoint(context.Background()) // refused once the input has ended; a failed one fails the job
			case <-quit:
				return
			}
		}
	}()
	return func() {
		close(quit)
		ended.Wait()
	}
}

// alone measures the CPU time that the source takes for an event when nobody works on it.
func (s *countedSource) alone(b *testing.B) float64 {
	env := connectors.Env{Zone: time.UTC, Of: 1, Now: time.Now}
	enum, err := s.source.Enumerate(env)
	if err != nil {
		b.Fatal(err)
	}
	splits, err := enum.Discover(context.Background(), true)
	if err != nil {
		b.Fatal(err)
	}
	r, err := s.source.Read(env, func() {})
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	if err := r.Assign(splits); err != nil {
		b.Fatal(err)
	}
	events := min(s.events, 5_000_000)
	start, made := cputime.Process(), int64(0)
	for made < events {
		p, err := r.Poll()
		if err != nil || p.Rows == nil {
			b.Fatal("the source ended early", err)
		}
		made += int64(p.Rows.Len)
	}
	return float64((cputime.Process() - start).Nanoseconds()) / float64(made)
}
