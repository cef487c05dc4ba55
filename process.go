package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/term"

	"runnel/catalog"
	"runnel/connectors/kafka"
	"runnel/exec"
	"runnel/repl"
	"runnel/session"
	"runnel/web"
)

// process is one run of the program: its data directory, terminal, session and cluster. What costs time is opened when
// it is first needed.
type process struct {
	flags *flags
	dir   *dataDir
	// demoBroker is the address that the demo uses in place of kafka:9092, "" for none.
	demoBroker string
	broker     string // directory of the embedded broker: of the usual data directory even when another process holds that
	logFile    *os.File
	log        *slog.Logger
	term       *repl.Terminal
	config     *catalog.Config
	kafka      *kafka.Kafka
	session    *session.Session
	shell      *repl.Shell

	once       sync.Once
	cluster    *exec.Cluster
	clusterErr error
	jobFailed  atomic.Bool // some job that is no query; the cluster forgets old jobs
	server     *web.Server
	address    string // of the REST port, "" for none
}

// shellDefaults are set in a fresh process under whatever config.yaml and -D say: without checkpoints an exactly-once
// sink would never commit, and what a failed job had reached should be there for --resume.
var shellDefaults = [...][2]string{
	{"execution.checkpointing.interval", "10 s"},
	{"execution.checkpointing.externalized-checkpoint-retention", "DELETE_ON_CANCELLATION"},
	{"state.backend.type", "badger"},
}

func newProcess(f *flags, out, errOut *os.File) (_ *process, err error) {
	p := &process{flags: f, config: catalog.NewConfig()}
	notices, err := p.openDir()
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			p.dir.Close()
		}
	}()
	if p.logFile, err = os.OpenFile(p.dir.file("runnel.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
		return nil, fmt.Errorf("log file: %w", err)
	}
	p.log = slog.New(slog.NewTextHandler(p.logFile, nil))
	p.term = repl.NewTerminal(out, errOut, columns(out), p.dir.file("output.log"))
	more, err := p.configure()
	if err != nil {
		return nil, err
	}
	for _, n := range append(notices, more...) {
		p.term.Message("[NOTE] " + n)
	}
	p.kafka = kafka.New(p.kafkaConfig())
	p.session = session.New(session.Options{
		Catalog: catalog.New(), Config: p.config, Connectors: connectorTable(p.kafka), Formats: formatTable,
		Cluster: p.openCluster, CheckOnly: f.check, Resume: f.resume,
	})
	p.shell = &repl.Shell{Exec: p.session, Term: p.term, Echo: f.echo, Why: p.why, Progress: func() string {
		if _, err := p.openCluster(); err != nil {
			return ""
		}
		return p.statusLine()
	}}
	return p, nil
}

// why says why a query has given nothing so far.
func (p *process) why(job string) string {
	c, err := p.openCluster()
	if err != nil {
		return ""
	}
	j, ok := c.Job(job)
	if !ok {
		return ""
	}
	return whyNothing(j.Details())
}

// columns gives the width of a terminal, nil when f is none.
func columns(f *os.File) func() int {
	if !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return func() int {
		w, _, err := term.GetSize(int(f.Fd()))
		if err != nil {
			return 80
		}
		return w
	}
}

// openDir opens the data directory. An interactive process goes on with a temporary one when another has it.
func (p *process) openDir() (notices []string, err error) {
	if p.flags.ephemeral || (p.flags.demo && p.flags.data == "") {
		p.dir, err = temporaryDataDir()
		return nil, err
	}
	path := p.flags.data
	if path == "" {
		if path, err = defaultDataDir(); err != nil {
			return nil, err
		}
	}
	p.dir, err = openDataDir(path)
	var held *errHeld
	if errors.As(err, &held) && len(p.flags.files) == 0 && !p.flags.demo {
		p.broker = filepath.Join(held.path, "kafka")
		p.dir, err = temporaryDataDir()
		return []string{fmt.Sprintf("Data directory %s is in use by %s: the state of this shell goes to %s and is removed at the end.", held.path, held.holder, p.dir.path)}, err
	}
	return nil, err
}

// configure reads config.yaml and -D over the defaults of the shell.
func (p *process) configure() (notices []string, err error) {
	set := func(k, v string) error {
		notes, err := p.config.SetBase(k, v)
		notices = append(notices, notes...)
		return err
	}
	for _, kv := range shellDefaults {
		if err := set(kv[0], kv[1]); err != nil {
			return nil, err
		}
	}
	if p.flags.config != "" {
		notes, err := p.config.LoadFile(p.flags.config)
		if err != nil {
			return nil, fmt.Errorf("%w: %v", errUsage, err)
		}
		notices = append(notices, notes...)
	}
	for _, kv := range p.flags.set {
		k, v, _ := strings.Cut(kv, "=")
		if err := set(k, v); err != nil {
			return nil, fmt.Errorf("%w: -D %s: %v", errUsage, kv, err)
		}
	}
	return notices, nil
}

func (p *process) kafkaConfig() kafka.Config {
	c := kafka.Config{
		Formats: formatTable, Dir: p.broker, HowToAsk: "start with --embedded-kafka",
		Notice: func(line string) { p.term.Notice("[NOTE] " + line) }, Log: p.log, Embedded: kafka.EmbeddedAllowed,
	}
	if c.Dir == "" {
		c.Dir = p.dir.file("kafka")
	}
	if len(p.flags.files) > 0 && !p.flags.brokerSet {
		c.Embedded = kafka.EmbeddedAsk
	}
	if p.flags.demo {
		p.demoBroker = demoAddress()
		if p.demoBroker != "" {
			c.Addresses = []string{p.demoBroker}
		}
		return c
	}
	for _, a := range strings.Split(p.flags.broker, ",") {
		if a = strings.TrimSpace(a); a != "" {
			c.Addresses = append(c.Addresses, a)
		}
	}
	return c
}

// openCluster makes the mini-cluster and its REST port at the first job.
func (p *process) openCluster() (*exec.Cluster, error) {
	p.once.Do(func() {
		p.cluster = exec.New(exec.Options{
			Slots: p.config.Int("taskmanager.numberOfTaskSlots"), Dir: p.dir.path, Log: p.log,
			Stdout: p.term.Lines(), Stderr: p.term.Errors(), HoldFinished: len(p.flags.files) > 0,
			CheckpointHistory: p.config.Int("web.checkpoints.history"), ExceptionHistory: p.config.Int("web.exception-history-size"),
		})
		p.cluster.Subscribe(p.announce)
		p.clusterErr = p.openREST()
	})
	return p.cluster, p.clusterErr
}

// openREST listens on the first of its ports that is free, or on any when all are taken; a busy port fails no script.
func (p *process) openREST() error {
	host := p.config.Get("rest.bind-address")
	if host == "" {
		host = "localhost"
	}
	var l net.Listener
	var err error
	for _, port := range append(restPorts(p.config), 0) {
		if l, err = net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port))); err == nil {
			break
		}
		p.log.Info("REST port is taken", "cause", err)
	}
	if err != nil {
		p.term.Notice("[NOTE] no REST port: " + err.Error())
		return nil
	}
	p.server = web.New(web.Options{Cluster: p.cluster, Config: p.config, Log: p.log, Version: version,
		Logs: []string{p.dir.file("runnel.log"), p.dir.file("output.log")}})
	p.server.Serve(l)
	p.address = l.Addr().String()
	b, err := json.Marshal(map[string]any{"address": l.Addr().String(), "pid": os.Getpid()})
	if err != nil {
		return err
	}
	if err := writeFile(p.dir.file(restFile), b); err != nil {
		p.term.Notice("[NOTE] runnel list, savepoint, stop and cancel will not find this process: " + err.Error())
	}
	return nil
}

// restPorts gives the ports of rest.bind-port, e.g. 8081,50100-50200, else rest.port.
func restPorts(c *catalog.Config) []int {
	text, set := c.Lookup("rest.bind-port")
	if !set {
		return []int{c.Int("rest.port")}
	}
	var ports []int
	for _, part := range strings.Split(text, ",") {
		from, to, ok := strings.Cut(strings.TrimSpace(part), "-")
		if !ok {
			to = from
		}
		a, err1 := strconv.ParseUint(from, 10, 16)
		b, err2 := strconv.ParseUint(to, 10, 16)
		if err1 != nil || err2 != nil {
			continue // refused when it was set
		}
		for n := a; n <= b; n++ {
			ports = append(ports, int(n))
		}
	}
	return ports
}

// writeFile replaces a file in one step.
func writeFile(path string, b []byte) error {
	tmp := path + ".new"
	if err := os.WriteFile(tmp, b, 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}

// announce tells the user what happened to a job in the background.
func (p *process) announce(e exec.Event) {
	switch e.State {
	case exec.JobFailed:
		if j, ok := p.cluster.Job(e.Job); ok && j.Result() != nil {
			return // whoever reads the query's rows gets the error
		}
		p.jobFailed.Store(true)
		line := fmt.Sprintf("[ERROR] Job %s failed", e.Name)
		if e.Operator != "" {
			line += " in " + e.Operator
		}
		line += ": " + oneLine(e.Cause)
		if e.Cure != "" {
			line += " -- " + oneLine(e.Cure)
		}
		p.term.Notice(line)
	case exec.JobFinished:
		if j, ok := p.cluster.Job(e.Job); ok && j.Result() == nil && p.term.TTY() && len(p.flags.files) == 0 && !p.flags.demo {
			n := summarize(j).out
			p.term.Notice(fmt.Sprintf("[INFO] Job %s finished: %d %s written", e.Name, n, rowsWord(n)))
		}
	case exec.JobRestarting:
		p.term.Notice(fmt.Sprintf("[NOTE] Job %s restarts in %s: %s", e.Name, e.Restart.Round(100*time.Millisecond), oneLine(e.Cause)))
	}
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// close ends what was opened. Jobs have been stopped before.
func (p *process) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if p.server != nil {
		p.server.Close()
		os.Remove(p.dir.file(restFile))
	}
	if p.cluster != nil {
		if err := p.cluster.Close(ctx); err != nil {
			p.term.Message("[NOTE] " + err.Error())
		}
	}
	if err := p.kafka.Close(); err != nil {
		p.log.Error("closing of the embedded broker", "cause", err)
	}
	p.term.Close()
	p.logFile.Close()
	p.dir.Close()
}

// initSession runs the statements of an init script.
type initSession struct{ *session.Session }

func (s initSession) Execute(ctx context.Context, text string) (*session.Result, error) {
	return s.Configure(ctx, text)
}

// initScript runs the -i script, which prints nothing when all is well.
func (p *process) initScript(ctx context.Context) int {
	if p.flags.init == "" {
		return exitOK
	}
	text, err := os.ReadFile(p.flags.init)
	if err != nil {
		p.term.Message("[ERROR] " + err.Error())
		return exitUsage
	}
	abs, err := filepath.Abs(p.flags.init)
	if err != nil {
		abs = p.flags.init
	}
	var said bytes.Buffer
	quiet := &repl.Shell{Exec: initSession{p.session}, Term: repl.NewTerminal(&said, &said, nil, os.DevNull)}
	if err := quiet.Script(ctx, p.flags.init, string(text)); err != nil {
		p.term.Notice(strings.TrimRight(said.String(), "\n"))
		p.term.Message("Failed to initialize from sql script: file:" + abs + ". Please refer to the LOG for detailed error messages.")
		return exitFailed
	}
	p.term.Message("Successfully initialized from sql script: file:" + abs)
	return exitOK
}

// stopJobs stops what still runs: with a savepoint when a directory for them is set, else the last checkpoint stays.
// Another signal leaves at once.
func (p *process) stopJobs(again <-chan os.Signal) {
	if p.cluster == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, j := range p.cluster.Jobs() {
			if j.State().Terminal() || j.Result() != nil {
				continue
			}
			p.stopJob(ctx, j)
		}
	}()
	select {
	case <-done:
	case <-again:
		cancel()
	}
}

func (p *process) stopJob(ctx context.Context, j *exec.Job) {
	if dir := p.config.Get("execution.checkpointing.savepoint-dir"); dir != "" {
		path, err := j.Stop(ctx, dir, false)
		if err == nil {
			p.term.Message(fmt.Sprintf("[INFO] Job %s stopped. Savepoint: %s", j.Name(), path))
			return
		}
		p.term.Message(fmt.Sprintf("[NOTE] Job %s: no savepoint: %s", j.Name(), oneLine(err.Error())))
	}
	// Closing the cluster suspends the job: its newest checkpoint stays.
	if c := j.Checkpoints().Latest; c != nil {
		p.term.Message(fmt.Sprintf("[INFO] Job %s stops; its last checkpoint is kept: %s", j.Name(), c.Path))
		return
	}
	p.term.Message(fmt.Sprintf("[INFO] Job %s stops; it has no checkpoint.", j.Name()))
}

// interrupts delivers Ctrl-C and SIGTERM.
func interrupts() (c chan os.Signal, stop func()) {
	c = make(chan os.Signal, 4)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM)
	return c, func() { signal.Stop(c) }
}
