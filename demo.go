package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net"
	"os"
	"regexp"
	"strings"
	"time"

	"runnel/connectors/kafka"
	"runnel/exec"
	"runnel/session"
	"runnel/sql"
)

//go:embed scripts/feeders.sql
var feedersSQL string

//go:embed scripts/join.sql
var joinSQL string

const (
	// demoOrders is how many orders the generators of the demo make: finite, so that the count at the end is exact.
	demoOrders = 3000
	// demoRate is orders per second.
	demoRate = 200
	// demoTime bounds the whole demo.
	demoTime = 60 * time.Second
)

// demoConfig shortens the checkpoint interval: an exactly-once sink shows its rows when one has completed.
var demoConfig = [...]string{
	"SET 'execution.checkpointing.interval' = '2 s'",
	"SET 'table.local-time-zone' = 'UTC'",
	"SET 'parallelism.default' = '2'",
}

// demo plays the main scenario. It gives exit code 0 when every order is in the output once.
func (p *process) demo(ctx context.Context) int {
	signals, stop := interrupts()
	defer stop()
	ctx, cancel := context.WithTimeoutCause(ctx, demoTime, fmt.Errorf("the demo took longer than %s", demoTime))
	defer cancel()
	interrupted := make(chan struct{})
	go func() {
		select {
		case <-signals:
			close(interrupted)
			cancel()
		case <-ctx.Done():
		}
	}()
	d := &showing{process: p, ctx: ctx}
	err := d.play()
	select {
	case <-interrupted:
		return exitInterrupted
	default:
	}
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		p.term.Message("\nThe demo failed: " + err.Error())
		return exitFailed
	}
	return exitOK
}

// showing is the state of one run of the demo.
type showing struct {
	*process
	ctx     context.Context
	feeders *exec.Job
	join    *exec.Job
	insert  string // the INSERT of the join, which runs twice
	create  string // the CREATE TABLE of its sink
}

func (d *showing) play() error {
	for _, step := range []func() error{d.fill, d.start, d.stop, d.twice, d.resume, d.finish, d.count} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (d *showing) say(format string, args ...any) { fmt.Fprintf(d.term, "\n"+format+"\n", args...) }

// run shows a statement, executes it and shows what it did.
func (d *showing) run(text string) (*session.Result, error) {
	fmt.Fprintf(d.term, "\n  %s;\n", strings.ReplaceAll(text, "\n", "\n  "))
	res, err := d.session.Execute(d.ctx, text)
	if err != nil {
		return nil, err
	}
	for _, n := range res.Notices {
		fmt.Fprintf(d.term, "  -> %s\n", n)
	}
	switch res.Kind {
	case session.Submitted:
		fmt.Fprintf(d.term, "  -> runs as job %s\n", res.JobID)
	case session.Done:
		fmt.Fprintf(d.term, "  -> ok\n")
	}
	return res, nil
}

func (d *showing) job(text string) (*exec.Job, error) {
	res, err := d.run(text)
	if err != nil {
		return nil, err
	}
	j, ok := d.cluster.Job(res.JobID)
	if !ok {
		return nil, fmt.Errorf("job %s is gone", res.JobID)
	}
	return j, nil
}

var (
	endOption  = regexp.MustCompile(`('fields\.order_id\.end' = )'\d+'`)
	rateOption = regexp.MustCompile(`('rows-per-second' = )'\d+'`)
)

// demoAddress gives an address of the demo's own when a broker answers where its scripts point to: topics of somebody else
// would spoil the count. It is "" when nothing answers.
func demoAddress() string {
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	answered := false
	for _, a := range kafka.DefaultAddresses() {
		c, err := new(net.Dialer).DialContext(ctx, "tcp", a)
		if err == nil {
			c.Close()
			answered = true
		}
	}
	if !answered {
		return ""
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return ""
	}
	defer l.Close()
	return l.Addr().String()
}

// script gives one of the demo's scripts with the address of its broker.
func (d *showing) script(text string) string {
	if d.demoBroker == "" {
		return text
	}
	return strings.ReplaceAll(text, "kafka:9092", d.demoBroker)
}

// fill creates the tables of scripts/feeders.sql with short generators, and starts them.
func (d *showing) fill() error {
	d.say("1. Two Kafka topics and generators that fill them: %d orders and their payments, %d a second.", demoOrders, demoRate)
	for _, s := range demoConfig {
		if _, err := d.run(s); err != nil {
			return err
		}
	}
	if d.demoBroker != "" {
		d.say("   (A broker answers at localhost:9092 already: the demo has its own at %s in place of kafka:9092.)", d.demoBroker)
	}
	text := endOption.ReplaceAllString(d.script(feedersSQL), fmt.Sprintf("$1'%d'", demoOrders))
	text = rateOption.ReplaceAllString(text, fmt.Sprintf("$1'%d'", demoRate))
	for _, s := range sql.SplitAll(text) {
		if !strings.HasPrefix(s.Text, "EXECUTE") {
			if _, err := d.run(s.Text); err != nil {
				return err
			}
			continue
		}
		var err error
		if d.feeders, err = d.job(s.Text); err != nil {
			return err
		}
	}
	return nil
}

// start runs scripts/join.sql.
func (d *showing) start() (err error) {
	d.say("2. Orders joined with their payments, at most a minute apart, written exactly once:")
	parts := sql.SplitAll(d.script(joinSQL))
	d.create, d.insert = parts[0].Text, parts[1].Text
	if _, err := d.run(d.create); err != nil {
		return err
	}
	if d.join, err = d.job(d.insert); err != nil {
		return err
	}
	return d.checkpoints(3)
}

// checkpoints waits until the join has completed n checkpoints, and tells of each.
func (d *showing) checkpoints(n int) error {
	for told := 0; told < n; {
		if err := d.pause(100 * time.Millisecond); err != nil {
			return err
		}
		h := d.join.Checkpoints()
		if h.Completed > told {
			told = h.Completed
			fmt.Fprintf(d.term, "  -> checkpoint %d completed in %d ms, %d rows read; the rows up to it are visible now\n",
				h.Latest.ID, h.Latest.Duration().Milliseconds(), summarize(d.join).in)
		}
	}
	return nil
}

// pause waits, and fails when a job has failed or the time is over.
func (d *showing) pause(t time.Duration) error {
	for _, j := range []*exec.Job{d.feeders, d.join} {
		if j != nil && j.State() == exec.JobFailed {
			return fmt.Errorf("job %s: %w", j.Name(), j.Wait(d.ctx))
		}
	}
	select {
	case <-time.After(t):
		return nil
	case <-d.ctx.Done():
		return context.Cause(d.ctx)
	}
}

// stop ends the join with a savepoint.
func (d *showing) stop() error {
	d.say("3. The join is stopped with a savepoint, in the middle of the stream:")
	dir := d.dir.file("savepoints")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if _, err := d.run(fmt.Sprintf("SET 'state.savepoints.dir' = '%s'", dir)); err != nil {
		return err
	}
	res, err := d.run(fmt.Sprintf("STOP JOB '%s' WITH SAVEPOINT", d.join.ID()))
	if err != nil {
		return err
	}
	b, err := res.Rows.Next(d.ctx)
	if err != nil {
		return err
	}
	path := b.Cols[0].Str[0]
	fmt.Fprintf(d.term, "  -> savepoint: %s\n", path)
	d.join = nil
	_, err = d.run(fmt.Sprintf("SET 'execution.savepoint.path' = '%s'", path))
	return err
}

// twice shows that a table cannot be created again.
func (d *showing) twice() error {
	d.say("4. The table is still there; creating it again is an error:")
	_, err := d.run(d.create)
	var e *session.Error
	if err == nil || !errors.As(err, &e) || !strings.Contains(e.Msg, "already exists") {
		return fmt.Errorf("the second CREATE TABLE should have been refused as existing, but gave: %v", err)
	}
	fmt.Fprintf(d.term, "  -> %s\n", e.Msg)
	return nil
}

// resume starts the join again from the savepoint, at another parallelism.
func (d *showing) resume() (err error) {
	d.say("5. The same INSERT goes on from the savepoint, at parallelism 4:")
	if _, err := d.run("SET 'parallelism.default' = '4'"); err != nil {
		return err
	}
	d.join, err = d.job(d.insert)
	return err
}

// finish waits until the join has read, and committed, the end of both topics.
func (d *showing) finish() error {
	for {
		if err := d.pause(100 * time.Millisecond); err != nil {
			return err
		}
		if d.feeders.State() == exec.JobFinished && pending(d.join) == 0 {
			break
		}
	}
	d.say("6. The generators have ended and the join has read both topics to their end. A last checkpoint commits what it wrote:")
	id, err := d.join.Checkpoint(d.ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(d.term, "  -> checkpoint %d completed\n", id)
	return nil
}

// count counts the orders in the output.
func (d *showing) count() error {
	d.say("7. What a read_committed reader finds in orders-enriched:")
	for _, s := range []string{"SET 'execution.runtime-mode' = 'batch'", "SET 'parallelism.default' = '1'"} {
		if _, err := d.run(s); err != nil {
			return err
		}
	}
	res, err := d.run(`SELECT COUNT(*) AS written, COUNT(DISTINCT order_id) AS orders, MIN(order_id) AS lowest, MAX(order_id) AS highest
FROM enriched /*+ OPTIONS('scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset', 'properties.isolation.level' = 'read_committed') */`)
	if err != nil {
		return err
	}
	defer res.Rows.Close()
	b, err := res.Rows.Next(d.ctx)
	if err != nil {
		return err
	}
	var n [4]int64
	for i := range n {
		n[i] = b.Cols[i].Int[0]
	}
	fmt.Fprintf(d.term, "  -> %d rows, %d different orders, from %d to %d\n", n[0], n[1], n[2], n[3])
	if n != [4]int64{demoOrders, demoOrders, 1, demoOrders} {
		return fmt.Errorf("%d rows of the orders 1 to %d once each were expected", demoOrders, demoOrders)
	}
	d.say("Every order from 1 to %d is there once: no gap, no double, across a stop and a change of parallelism.", demoOrders)
	return nil
}

// pending is how many records of their topics the sources of a job have not read; -1 as long as one does not know.
func pending(j *exec.Job) int64 {
	var sum int64
	known, sources := 0, 0
	for _, v := range j.Details().Vertices {
		for _, t := range v.Subtasks {
			if !t.Metrics.IsSource {
				continue
			}
			sources++
			for _, o := range t.Metrics.Operators {
				for _, m := range o.Own {
					if m.Name == "pendingRecords" {
						sum += max(0, m.Value)
						known++
					}
				}
			}
		}
	}
	if known < sources {
		return -1
	}
	return sum
}
