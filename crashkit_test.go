package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"runnel/connectors"
	"runnel/connectors/kafka"
	"runnel/connectors/kafka/kafkatest"
	"runnel/sql"
	"runnel/types"
)

// roleEnv makes the test binary something else than a test, in a process of its own that can be killed.
const (
	roleEnv     = "RUNNEL_TEST_ROLE"
	roleProgram = "program" // runnel itself
	roleBroker  = "broker"  // an embedded broker that lives until its standard input ends
)

func TestMain(m *testing.M) {
	switch os.Getenv(roleEnv) {
	case roleProgram:
		os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	case roleBroker:
		if err := serveBroker(os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	code := m.Run()
	sharedBroker.stop()
	os.Exit(code)
}

// serveBroker runs the embedded broker on a directory, says where it listens, and ends with standard input.
func serveBroker(dir string) error {
	const anyPort = "localhost:0"
	k := kafka.New(kafka.Config{Formats: formatTable, Dir: dir, Embedded: kafka.EmbeddedAllowed, Addresses: []string{anyPort}})
	t := &connectors.Table{Name: "t", Columns: []connectors.Column{{Name: "a", Type: types.String()}},
		Options: connectors.Options{"connector": "kafka", "topic": "t", "format": "raw", "properties.bootstrap.servers": anyPort}}
	src, err := k.Connector().Source(connectors.ScanRequest{Table: t, Columns: []int{0}})
	if err != nil {
		return err
	}
	if _, err := src.Identity(context.Background()); err != nil { // starts it
		return err
	}
	addr, err := brokerAddress(dir)
	if err != nil {
		return err
	}
	fmt.Println(addr)
	bufio.NewReader(os.Stdin).ReadByte()
	return k.Close()
}

// brokerAddress is where the embedded broker on a directory listens, or listened.
func brokerAddress(dir string) (string, error) {
	text, err := os.ReadFile(filepath.Join(dir, "address"))
	return strings.TrimSpace(string(text)), err
}

// broker is an embedded broker in a process of its own.
type broker struct {
	addr string
	in   io.Closer
	cmd  *exec.Cmd
}

func newBroker(dir string) (*broker, error) {
	cmd := exec.Command(os.Args[0], dir)
	cmd.Env = append(os.Environ(), roleEnv+"="+roleBroker)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		in.Close()
		return nil, errors.Join(fmt.Errorf("broker process: %w", err), cmd.Wait())
	}
	return &broker{addr: strings.TrimSpace(line), in: in, cmd: cmd}, nil
}

func (b *broker) stop() error {
	b.in.Close()
	return b.cmd.Wait()
}

// lazyBroker is the broker that all tests share, started by the first.
type lazyBroker struct {
	once sync.Once
	dir  string
	b    *broker
	err  error
}

var sharedBroker lazyBroker

func (l *lazyBroker) addr() (string, error) {
	l.once.Do(func() {
		if l.dir, l.err = os.MkdirTemp("", "runnel-broker-"); l.err == nil {
			l.b, l.err = newBroker(l.dir)
		}
	})
	if l.err != nil {
		return "", l.err
	}
	return l.b.addr, nil
}

func (l *lazyBroker) stop() {
	if l.b != nil {
		l.b.stop()
	}
	if l.dir != "" {
		os.RemoveAll(l.dir)
	}
}

// realBroker is a Kafka that the environment names, "" for none.
func realBroker() string { return os.Getenv("KAFKA_BOOTSTRAP") }

// place is what one crash test has to itself: a data directory, topics and scripts by names that nobody else uses.
type place struct {
	t     *testing.T
	addr  string // of the broker, as tables name it
	own   bool   // the program under test is the broker too, and is killed with it
	data  string // data directory of the program
	dir   string // scripts and savepoints
	tag   string // ends all names outside
	group string // distinguishes consumer groups of the join
	rand  *rand.Rand
	seed  uint64

	mu     sync.Mutex
	client *kafkatest.Client
	at     string // where client talks to
	runs   []*program
}

var placeNumber atomic.Int64

// ownAddress is never answered by anybody: the program's own broker stands for it.
const ownAddress = "broker.invalid:9092"

// newPlace makes a place on the broker of KAFKA_BOOTSTRAP, else on the shared embedded one; own has the broker in the
// program under test.
func newPlace(t *testing.T, own bool) *place {
	t.Helper()
	p := &place{t: t, own: own, data: t.TempDir(), dir: t.TempDir(), addr: ownAddress, seed: uint64(time.Now().UnixNano())}
	if keep := os.Getenv("RUNNEL_CRASH_KEEP"); keep != "" { // what is left of a failure is to be looked at
		name := strings.NewReplacer("/", "-", " ", "-").Replace(t.Name())
		p.data, p.dir = filepath.Join(keep, name, "data"), filepath.Join(keep, name)
		if err := os.MkdirAll(p.data, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if s := os.Getenv("RUNNEL_CRASH_SEED"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatalf("RUNNEL_CRASH_SEED: %v", err)
		}
		p.seed = n
	}
	p.rand = rand.New(rand.NewPCG(p.seed, 0))
	p.tag = fmt.Sprintf("%d-%d", time.Now().UnixNano(), placeNumber.Add(1))
	if !own {
		var err error
		if p.addr = realBroker(); p.addr == "" {
			if p.addr, err = sharedBroker.addr(); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("RUNNEL_CRASH_SEED=%d; the lives of the program:\n%s", p.seed, p.lives())
		}
		if p.client != nil {
			p.client.Close()
		}
	})
	return p
}

// killRounds is how often a test kills: the given number, or RUNNEL_CRASH_ROUNDS.
func killRounds(t *testing.T, usual int) int {
	if s := os.Getenv("RUNNEL_CRASH_ROUNDS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatalf("RUNNEL_CRASH_ROUNDS: %v", err)
		}
		return n
	}
	return usual
}

// judge gives the client by which the outside is looked at. With an own broker it fails while none runs.
func (p *place) judge() (*kafkatest.Client, error) {
	addr := p.addr
	if p.own {
		var err error
		if addr, err = brokerAddress(filepath.Join(p.data, "kafka")); err != nil {
			return nil, err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.client != nil && p.at != addr {
		p.client.Close()
		p.client = nil
	}
	if p.client == nil {
		c, err := kafkatest.Dial(addr)
		if err != nil {
			return nil, err
		}
		p.client, p.at = c, addr
	}
	return p.client, nil
}

// while does something with the client, with a broker running.
func (p *place) while(do func(*kafkatest.Client) error) {
	p.t.Helper()
	if p.own {
		b, err := newBroker(filepath.Join(p.data, "kafka"))
		if err != nil {
			p.t.Fatal(err)
		}
		defer b.stop()
	}
	c, err := p.judge()
	if err == nil {
		err = do(c)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// name makes a name of this place.
func (p *place) name(what string) string { return what + "-" + p.tag }

// statements gives those statements of a script that begin with the given words.
func statements(script, begin string) []string {
	var found []string
	for _, s := range sql.SplitAll(script) {
		if strings.HasPrefix(s.Text, begin) {
			found = append(found, s.Text+";\n")
		}
	}
	return found
}

// here puts the place's names into a script of scripts/. options are added to each source that starts at the earliest
// offset.
func (p *place) here(script string, options ...string) string {
	start := "'scan.startup.mode' = 'earliest-offset',"
	r := strings.NewReplacer("'kafka:9092'", "'"+p.addr+"'", "'orders'", "'"+p.name("orders")+"'",
		"'payments'", "'"+p.name("payments")+"'", "'orders-enriched'", "'"+p.name("enriched")+"'",
		"'enriched-tx'", "'"+p.name("tx")+"'", start, start+"\n  "+strings.Join(options, "\n  "))
	return r.Replace(script)
}

// joinScript is scripts/join.sql with the tables that it reads, which commit their offsets to a consumer group. slow reads
// about a batch of kafkatest every 20 ms and subtask, so that the run lasts.
func (p *place) joinScript(slow bool) string {
	options := []string{"'properties.group.id' = '" + p.name("join"+p.group) + "',"}
	if slow {
		// A broker answers such a fetch when the wait is over, with one batch of one partition. The embedded one does so with
		// a small answer; Apache Kafka, which waits for no more than fits into the answer, with a small partition.
		options = append(options, "'properties.fetch.min.bytes' = '1000000000',", "'properties.fetch.max.wait.ms' = '20',")
		if realBroker() == "" || p.own {
			options = append(options, "'properties.fetch.max.bytes' = '1',", "'properties.max.partition.fetch.bytes' = '1000000000',")
		} else {
			options = append(options, "'properties.fetch.max.bytes' = '1000000000',", "'properties.max.partition.fetch.bytes' = '1',")
		}
	}
	return p.here(strings.Join(statements(feedersSQL, "CREATE TABLE orders ("), "")+
		strings.Join(statements(feedersSQL, "CREATE TABLE payments ("), "")+joinSQL, options...)
}

// file writes a script and gives its name.
func (p *place) file(name, text string) string {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
	return path
}

// enrichedRow is a row of the output.
type enrichedRow struct {
	Order  int    `json:"order_id"`
	User   int    `json:"user_id"`
	Amount int    `json:"amount"`
	Method string `json:"method"`
}

var methods = [...]string{"card", "cash", "transfer"}

// expected is the one row that the join makes of an order.
func expected(order int) enrichedRow {
	return enrichedRow{order, order % 100, order * 3, methods[order%3]}
}

// at is the event time of an order: one a second.
func at(order int) string {
	return time.Date(2024, 5, 1, 0, 0, order, 0, time.UTC).Format("2006-01-02 15:04:05.000")
}

func orderRow(order int) []byte {
	e := expected(order)
	return fmt.Appendf(nil, `{"order_id":%d,"user_id":%d,"amount":%d,"ts":"%s"}`, order, e.User, e.Amount, at(order))
}

func paymentRow(order int) []byte {
	return fmt.Appendf(nil, `{"order_id":%d,"method":"%s","ts":"%s"}`, order, expected(order).Method, at(order))
}

// inserted is a row more, behind so many others.
type inserted struct {
	behind int
	row    []byte
}

// fill makes both topics with orders 1 to n and their payments. Payments are a little out of order.
func (p *place) fill(partitions, n int) { p.t.Helper(); p.fillWith(partitions, n, nil) }

func (p *place) fillWith(partitions, n int, more map[string]inserted) {
	p.t.Helper()
	rows := map[string][][]byte{}
	for i := 1; i <= n; i++ {
		paid := (i - 1) ^ 3 + 1 // the other way round in each group of four
		if paid > n {
			paid = i
		}
		rows["orders"] = append(rows["orders"], orderRow(i))
		rows["payments"] = append(rows["payments"], paymentRow(paid))
	}
	for topic, m := range more {
		rows[topic] = slices.Insert(rows[topic], m.behind, m.row)
	}
	p.while(func(c *kafkatest.Client) error {
		for name, values := range rows {
			if err := c.CreateTopic(p.name(name), partitions); err != nil {
				return err
			}
			if err := c.Produce(p.name(name), values); err != nil {
				return err
			}
		}
		return c.CreateTopic(p.name("enriched"), partitions)
	})
}

// progress is the sum of the offsets that the join has committed, and left how many rows are behind them.
func (p *place) progress() (done, left int64, err error) {
	c, err := p.judge()
	if err != nil {
		return 0, 0, err
	}
	for _, topic := range []string{p.name("orders"), p.name("payments")} {
		offsets, err := c.Offsets(p.name("join"+p.group), topic)
		if err != nil {
			return 0, 0, err
		}
		ends, err := c.Ends(topic, false)
		if err != nil {
			return 0, 0, err
		}
		if len(ends) == 0 || len(offsets) != len(ends) {
			return 0, 0, fmt.Errorf("topic %s is not there", topic)
		}
		for i := range ends {
			done += max(0, offsets[i])
			left += ends[i] - max(0, offsets[i])
		}
	}
	return done, left, nil
}

// readOrders gives the number of times that each order is in the output, read_committed, having checked the rows.
func (p *place) readOrders(c *kafkatest.Client) (map[int]int, error) {
	values, err := c.Committed(p.name("enriched"))
	if err != nil {
		return nil, err
	}
	times := map[int]int{}
	for _, v := range values {
		var row enrichedRow
		if err := json.Unmarshal(v, &row); err != nil {
			return nil, fmt.Errorf("row %q: %w", v, err)
		}
		if row != expected(row.Order) {
			return nil, fmt.Errorf("row %+v instead of %+v", row, expected(row.Order))
		}
		times[row.Order]++
	}
	return times, nil
}

// wantTimes compares how often each order from 1 to n is there.
func wantTimes(t *testing.T, times map[int]int, n int, want func(order int) int) {
	t.Helper()
	var wrong []string
	orders := make([]int, 0, n)
	for i := 1; i <= n; i++ {
		orders = append(orders, i)
	}
	for o := range times {
		if o < 1 || o > n {
			orders = append(orders, o)
		}
	}
	slices.Sort(orders)
	for _, o := range orders {
		w := 0
		if o >= 1 && o <= n {
			w = want(o)
		}
		if times[o] != w {
			wrong = append(wrong, fmt.Sprintf("%d: %d times instead of %d", o, times[o], w))
		}
	}
	if len(wrong) > 0 {
		const show = 10
		t.Errorf("%d of %d orders are wrong:\n  %s", len(wrong), n, strings.Join(wrong[:min(show, len(wrong))], "\n  "))
	}
}

func once(int) int { return 1 }

// orders reads how often each order is in the output.
func (p *place) orders() (times map[int]int) {
	p.t.Helper()
	p.while(func(c *kafkatest.Client) (err error) {
		times, err = p.readOrders(c)
		return err
	})
	return times
}

// wantOnce reads the output and demands every order from 1 to n once.
func (p *place) wantOnce(n int) {
	p.t.Helper()
	wantTimes(p.t, p.orders(), n, once)
}

// program is runnel in a process of its own.
type program struct {
	p      *place
	cmd    *exec.Cmd
	out    outputBuffer
	ended  chan struct{}
	err    error // of Wait, once ended is closed
	killed bool
}

// outputBuffer takes what a process prints, on whichever stream.
type outputBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *outputBuffer) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(b)
}

func (o *outputBuffer) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// start starts the program on the place's data directory.
func (p *place) start(args ...string) *program {
	p.t.Helper()
	base := []string{"--data", p.data, "-D", "execution.checkpointing.interval=200ms", "-D", "table.local-time-zone=UTC",
		"-D", "rest.port=0"}
	if p.own {
		base = append(base, "--embedded-kafka="+ownAddress)
	}
	r := &program{p: p, ended: make(chan struct{})}
	r.cmd = exec.Command(os.Args[0], append(base, args...)...)
	r.cmd.Env = append(os.Environ(), roleEnv+"="+roleProgram)
	r.cmd.Stdout, r.cmd.Stderr = &r.out, &r.out
	if err := r.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.runs = append(p.runs, r)
	go func() { r.err = r.cmd.Wait(); close(r.ended) }()
	p.t.Cleanup(func() { r.cmd.Process.Kill(); <-r.ended })
	return r
}

// kill ends the program with SIGKILL. It says false when the program had ended before.
func (r *program) kill() bool {
	r.p.t.Helper()
	r.cmd.Process.Kill()
	<-r.ended
	r.killed = !r.cmd.ProcessState.Exited()
	r.check()
	return r.killed
}

// check looks for what must never be printed.
func (r *program) check() {
	r.p.t.Helper()
	text := r.out.String()
	for _, bad := range []string{"DATA RACE", "panic:", "fatal error:", "[ERROR]", " restarts in "} {
		if strings.Contains(text, bad) {
			r.p.t.Fatalf("%s is printed:\n%s", bad, text)
		}
	}
}

// lives tells what the last programs printed.
func (p *place) lives() string {
	var b strings.Builder
	const show = 30
	for i, r := range p.runs {
		if i >= len(p.runs)-show {
			fmt.Fprintf(&b, "-- %d, killed: %t\n%s\n", i+1, r.killed, r.out.String())
		}
	}
	return b.String()
}

// tail is the end of what the program printed and logged.
func (r *program) tail() string {
	log, _ := os.ReadFile(filepath.Join(r.p.data, "runnel.log"))
	return last(r.out.String(), 4000) + "\n-- log:\n" + last(string(log), 4000)
}

func last(s string, n int) string { return s[max(0, len(s)-n):] }

// interrupt stops the program in good order and waits for its end.
func (r *program) interrupt() {
	r.p.t.Helper()
	r.cmd.Process.Signal(syscall.SIGTERM)
	r.wait(exitInterrupted)
}

// wait waits until the program ends by itself, with the given exit code.
func (r *program) wait(code int) {
	r.p.t.Helper()
	select {
	case <-r.ended:
	case <-time.After(patience):
		r.p.t.Fatalf("the program does not end:\n%s", r.tail())
	}
	if got := r.cmd.ProcessState.ExitCode(); got != code {
		r.p.t.Fatalf("exit code %d instead of %d:\n%s", got, code, r.tail())
	}
}

// running says whether the program still runs.
func (r *program) running() bool {
	select {
	case <-r.ended:
		return false
	default:
		return true
	}
}

// patience bounds every wait: far beyond what is usual, since machines may be busy.
const patience = 60 * time.Second

// until polls until ok is true, as long as the program runs.
func (r *program) until(what string, ok func() (bool, error)) {
	r.p.t.Helper()
	deadline := time.Now().Add(patience)
	var last error
	for {
		yes, err := ok()
		if err == nil && yes {
			return
		}
		last = err
		if !r.running() {
			r.p.t.Fatalf("waiting until %s: the program has ended: %v\n%s", what, r.err, r.tail())
		}
		if time.Now().After(deadline) {
			r.p.t.Fatalf("%s: not within %s (%v)\n%s", what, patience, last, r.tail())
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// untilEnd waits until the join has committed the end of both topics.
func (r *program) untilEnd() {
	r.p.t.Helper()
	r.until("the join has committed the end of both topics", func() (bool, error) {
		_, left, err := r.p.progress()
		return left == 0, err
	})
}

// rest calls the program's REST port.
func (r *program) rest(path string, into any) error {
	c := &remote{out: io.Discard}
	if _, err := c.parse("", []string{"--data", r.p.data}, nil, 0); err != nil {
		return err
	}
	c.client.Timeout = patience
	return c.call("GET", path, struct{}{}, into)
}

// job gives the id of the program's one job.
func (r *program) job() (string, error) {
	var jobs struct {
		Jobs []struct {
			ID string `json:"jid"`
		}
	}
	if err := r.rest("/jobs/overview", &jobs); err != nil {
		return "", err
	}
	if len(jobs.Jobs) != 1 {
		return "", fmt.Errorf("%d jobs", len(jobs.Jobs))
	}
	return jobs.Jobs[0].ID, nil
}

// checkpoints is how many checkpoints the program's job has completed since it started.
func (r *program) checkpoints() (int, error) {
	id, err := r.job()
	if err != nil {
		return 0, err
	}
	var h struct {
		Counts struct{ Completed int }
	}
	err = r.rest("/jobs/"+id+"/checkpoints", &h)
	return h.Counts.Completed, err
}

// command runs a subcommand against the program, and gives what it printed.
func (r *program) command(words ...string) string {
	r.p.t.Helper()
	var out, errs bytes.Buffer
	if code := runRemote(words[0], append(words[1:], "--data", r.p.data), &out, &errs); code != exitOK {
		r.p.t.Fatalf("%s: exit code %d: %s\n%s", strings.Join(words, " "), code, &errs, r.tail())
	}
	return out.String()
}

// savepoint writes a savepoint by a subcommand, stop or savepoint, and gives its path.
func (r *program) savepoint(command string) string {
	r.p.t.Helper()
	id, err := r.job()
	if err != nil {
		r.p.t.Fatal(err)
	}
	words := []string{"savepoint", id, filepath.Join(r.p.dir, "savepoints")}
	if command == "stop" {
		words = []string{"stop", "--savepoint", filepath.Join(r.p.dir, "savepoints"), id}
	}
	_, path, ok := strings.Cut(r.command(words...), "Savepoint completed. Path: ")
	if !ok {
		r.p.t.Fatal("no path of the savepoint was printed")
	}
	path, _, _ = strings.Cut(path, "\n")
	return path
}
