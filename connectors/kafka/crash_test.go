package kafka

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"runnel/connectors"
	"runnel/types"
)

// crashRounds is how often the copying job is killed; RUNNEL_CRASH_ROUNDS asks for more.
const crashRounds = 20

const crashEnv = "RUNNEL_KAFKA_CRASH_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(brokerEnv); dir != "" {
		if err := benchBroker(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if spec := os.Getenv(crashEnv); spec != "" {
		if err := crashChild(spec); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// crashSpec is what the child is told.
type crashSpec struct {
	Dir, Servers, In, Out string
	Rows                  int
}

// crashState is the child's durable snapshot.
type crashState struct {
	ID           int64
	Splits       []connectors.Split
	Committables [][]byte
	Runs         []string
	Given        int // rows that went into the sink
}

// TestKill copies 1..N from one topic to another exactly once, in a process that is killed at random moments and
// restored from its last durable checkpoint. With the embedded broker that process is the broker too.
func TestKill(t *testing.T) {
	for _, partitions := range []int32{1, 3} {
		t.Run(fmt.Sprintf("%d partitions", partitions), func(t *testing.T) {
			r := newRig(t)
			rounds := crashRounds
			if n, err := strconv.Atoi(os.Getenv("RUNNEL_CRASH_ROUNDS")); err == nil {
				rounds = n
			}
			spec := crashSpec{Dir: t.TempDir(), Servers: r.servers, In: r.newTopic(partitions), Out: r.newTopic(partitions), Rows: 6000 * rounds}
			in := r.table(spec.In, []string{"a INT"})
			r.writeRows(in, series(1, spec.Rows)...)
			killed := 0
			for round := 0; ; round++ {
				if err := r.k.Close(); err != nil {
					t.Fatal(err)
				}
				done, err := runCrashChild(r, spec, round < rounds)
				if err != nil {
					t.Fatalf("round %d: %v", round, err)
				}
				if done {
					break
				}
				killed++
			}
			if killed < rounds/2 {
				t.Errorf("killed only %d times", killed)
			}
			r.open()
			r.wantRows(spec.Out, 1, spec.Rows)
		})
	}
}

// runCrashChild runs the child and kills it after a random time; done says that it came to its end.
func runCrashChild(r *rig, spec crashSpec, kill bool) (done bool, err error) {
	spec.Dir = filepath.Join(spec.Dir, "job")
	text, err := json.Marshal(map[string]any{"spec": spec, "broker": r.dir + "/broker", "slow": kill})
	if err != nil {
		return false, err
	}
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), crashEnv+"="+string(text))
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return false, err
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	limit := 50 * time.Second
	if kill {
		limit = time.Duration(50+rand.IntN(400)) * time.Millisecond
	}
	select {
	case err := <-exited:
		if kill && cmd.ProcessState.ExitCode() < 0 { // it killed itself
			return false, nil
		}
		return true, err
	case <-time.After(limit):
		cmd.Process.Kill()
		<-exited
		if !kill {
			return false, errors.New("the job does not end")
		}
		return false, nil
	}
}

// crashChild is the copying job: it restores its snapshot, copies, and takes a checkpoint every few batches.
func crashChild(text string) error {
	var told struct {
		Spec   crashSpec
		Broker string
		Slow   bool
	}
	if err := json.Unmarshal([]byte(text), &told); err != nil {
		return err
	}
	spec := told.Spec
	ctx := context.Background()
	k := New(Config{Formats: testFormats(), Dir: told.Broker, Embedded: EmbeddedAllowed, Addresses: []string{"localhost:0"}})
	defer k.Close()
	r := &rig{k: k, servers: spec.Servers}
	in := r.table(spec.In, []string{"a INT"}, "scan.startup.mode", "earliest-offset", "scan.bounded.mode", "latest-offset", "properties.isolation.level", "read_committed")
	out := r.table(spec.Out, []string{"a INT"}, "sink.delivery-guarantee", "exactly-once", "sink.transactional-id-prefix", spec.Out, "properties.transaction.timeout.ms", "60000")
	src, err := k.Connector().Source(connectors.ScanRequest{Table: in, Columns: all(in)})
	if err != nil {
		return err
	}
	sink, err := k.Connector().Sink(connectors.SinkRequest{Table: out, Columns: all(out), Query: types.InsertOnly})
	if err != nil {
		return err
	}
	j := &copying{dir: spec.Dir, src: src, sink: sink, wake: make(chan struct{}, 1), slow: told.Slow}
	if err := j.restore(ctx); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	return j.run(ctx)
}

// copying is a job of one source and one sink.
type copying struct {
	dir     string
	src     *connectors.Source
	sink    *connectors.Sink
	wake    chan struct{}
	slow    bool
	state   crashState
	reader  connectors.Reader
	writer  connectors.Writer
	commits connectors.Committer
	live    int
	runID   string
}

func (j *copying) restore(ctx context.Context) error {
	j.runID = fmt.Sprintf("r%x", time.Now().UnixNano())
	fresh := true
	if text, err := os.ReadFile(filepath.Join(j.dir, "snapshot")); err == nil {
		fresh = false
		if err := json.Unmarshal(text, &j.state); err != nil {
			return err
		}
	}
	env := connectors.SinkEnv{Env: connectors.Env{Zone: time.UTC, Dir: filepath.Join(j.dir, "sink"), Now: time.Now, Of: 1},
		Run: j.runID, PriorRuns: j.state.Runs, Sink: "copy", Checkpoint: j.state.ID}
	var err error
	if j.commits, err = j.sink.Committer(env); err != nil {
		return err
	}
	if err := j.commits.Recover(ctx, j.state.Committables); err != nil {
		return err
	}
	if j.writer, err = j.sink.Open(ctx, env); err != nil {
		return err
	}
	if j.reader, err = j.src.Read(env.Env, func() {
		select {
		case j.wake <- struct{}{}:
		default:
		}
	}); err != nil {
		return err
	}
	if fresh {
		enum, err := j.src.Enumerate(env.Env)
		if err != nil {
			return err
		}
		defer enum.Close()
		if j.state.Splits, err = enum.Discover(ctx, true); err != nil {
			return err
		}
	}
	j.live = len(j.state.Splits)
	return j.reader.Assign(j.state.Splits)
}

func (j *copying) run(ctx context.Context) error {
	for batches := 0; j.live > 0; {
		p, err := j.reader.Poll()
		if err != nil {
			return err
		}
		if p.Ended {
			j.live--
		}
		if p.Rows != nil {
			if j.slow { // leaves time to be killed in
				time.Sleep(20 * time.Millisecond)
			}
			if err := j.writer.Write(ctx, p.Rows); err != nil {
				return err
			}
			j.state.Given += p.Rows.Rows()
			if batches++; batches%2 == 0 {
				if err := j.checkpoint(ctx); err != nil {
					return err
				}
			}
		}
		if !p.More && j.live > 0 {
			<-j.wake
		}
	}
	if err := j.checkpoint(ctx); err != nil {
		return err
	}
	j.reader.Close()
	j.writer.Close()
	return j.commits.Close()
}

func (j *copying) checkpoint(ctx context.Context) error {
	next := crashState{ID: j.state.ID + 1, Given: j.state.Given, Runs: j.state.Runs}
	if len(next.Runs) == 0 || next.Runs[len(next.Runs)-1] != j.runID {
		next.Runs = append(next.Runs, j.runID)
	}
	var err error
	if next.Splits, err = j.reader.Snapshot(); err != nil {
		return err
	}
	if next.Committables, _, err = j.writer.Prepare(ctx, next.ID); err != nil {
		return err
	}
	text, err := json.Marshal(next)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(j.dir, 0o755); err != nil {
		return err
	}
	j.mayDie()
	if err := writeFile(filepath.Join(j.dir, "snapshot"), text); err != nil {
		return err
	}
	j.mayDie()
	j.state = next
	if err := j.commits.Commit(ctx, next.ID, next.Committables); err != nil {
		return err
	}
	j.mayDie()
	j.writer.(connectors.CommitListener).Committed(next.ID)
	return nil
}

// mayDie kills the process now and then, between two steps of a checkpoint: moments too short for the parent to hit.
func (j *copying) mayDie() {
	if j.slow && rand.IntN(15) == 0 {
		p, _ := os.FindProcess(os.Getpid())
		p.Kill()
		select {}
	}
}
