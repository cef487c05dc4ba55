package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"runnel/connectors/kafka/kafkatest"
)

// TestExactlyOnceScenario stops the join with a savepoint in the middle and goes on at another parallelism.
func TestExactlyOnceScenario(t *testing.T) {
	t.Parallel()
	for _, partitions := range []int{3, 1} {
		t.Run(fmt.Sprintf("%d partitions", partitions), func(t *testing.T) {
			t.Parallel()
			const n = 6000
			p := newPlace(t, false)
			p.fill(partitions, n)
			slow, fast := p.file("slow.sql", p.joinScript(true)), p.file("fast.sql", p.joinScript(false))

			r := p.start("-f", slow, "-D", "parallelism.default=2")
			r.until("three checkpoints are completed and something is committed", func() (bool, error) {
				c, err := r.checkpoints()
				if err != nil {
					return false, err
				}
				done, left, err := p.progress()
				if err == nil && left == 0 {
					t.Fatal("the input has ended before the stop")
				}
				return c >= 3 && done > 0, err
			})
			path := r.savepoint("stop")
			r.wait(exitOK)
			before := len(p.orders())
			if before == 0 || before == n {
				t.Errorf("%d of %d orders at the savepoint", before, n)
			}

			from := []string{"-D", "execution.savepoint.path=" + path}
			if partitions == 1 { // the other way to say it
				from = []string{"--resume", "-D", "state.savepoints.dir=" + filepath.Dir(path)}
			}
			r = p.start(append(from, "-f", fast, "-D", "parallelism.default=4")...)
			r.untilEnd()
			if want := "continues from savepoint"; !strings.Contains(r.out.String(), want) {
				t.Errorf("not printed: %s\n%s", want, r.out.String())
			}
			r.interrupt()
			r.check()
			p.wantOnce(n)
			t.Logf("%d orders at the savepoint, %d in all", before, n)
		})
	}
}

// TestCrashJoin kills the join at random moments and resumes it each time. The broker is another process.
func TestCrashJoin(t *testing.T) {
	t.Parallel()
	for _, partitions := range []int{3, 1} {
		t.Run(fmt.Sprintf("%d partitions", partitions), func(t *testing.T) {
			t.Parallel()
			crashJoin(t, newPlace(t, false), partitions)
		})
	}
}

// TestCrashJoinWithBroker kills a process that is join and broker in one. The embedded broker forgets the transactions
// that are open then, and their rows come from the sink's row log.
func TestCrashJoinWithBroker(t *testing.T) {
	t.Parallel()
	crashJoin(t, newPlace(t, true), 1)
}

func crashJoin(t *testing.T, p *place, partitions int) {
	rounds := killRounds(t, 20)
	n := (150 + 150*partitions) * rounds
	p.fill(partitions, n)
	slow, fast := p.file("slow.sql", p.joinScript(true)), p.file("fast.sql", p.joinScript(false))
	k := killer{progress: p.progress}
	for range rounds {
		if r := p.start("-f", slow, "--resume", "-D", "parallelism.default=2"); !k.kill(r) {
			t.Fatalf("the join has ended by itself: %v\n%s", r.err, r.tail())
		}
	}
	p.while(func(*kafkatest.Client) error {
		done, left, err := p.progress()
		t.Logf("the kills came over the first %d %% of the input", 100*done/max(1, done+left))
		return err
	})
	r := p.start("-f", fast, "--resume", "-D", "parallelism.default=2")
	r.untilEnd()
	k.note(r, k.committed)
	r.kill()
	p.wantOnce(n)
	k.report(t)
}

// TestCrashFeeders kills generators that write both topics exactly once. Whenever one looks, a read_committed reader
// finds a beginning of the sequence: no gap, no double.
func TestCrashFeeders(t *testing.T) {
	t.Parallel()
	for name, own := range map[string]bool{"broker apart": false, "broker within": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			crashFeeders(t, newPlace(t, own))
		})
	}
}

func crashFeeders(t *testing.T, p *place) {
	rounds := killRounds(t, 20)
	n := 400 * rounds
	p.while(func(c *kafkatest.Client) error {
		return errors.Join(c.CreateTopic(p.name("orders"), 1), c.CreateTopic(p.name("payments"), 1))
	})
	slow, fast := p.file("slow.sql", p.feedersScript(n, 1000)), p.file("fast.sql", p.feedersScript(n, 1000000))
	k := killer{progress: func() (int64, int64, error) {
		c, err := p.judge()
		if err != nil {
			return 0, 0, err
		}
		// Not the end offset: rows of aborted transactions count there too.
		values, err := c.Committed(p.name("orders"))
		return int64(len(values)), 1, err
	}}
	seen := 0
	for range rounds {
		if r := p.start("-f", slow, "--resume"); !k.kill(r) {
			r.wait(exitOK)
		}
		// A job that is finished has no checkpoint any more, and would begin anew.
		if seen = p.wantBeginning(n); seen == n {
			break
		}
	}
	if seen < n {
		r := p.start("-f", fast, "--resume")
		k.note(r, k.committed)
		r.wait(exitOK)
		if seen = p.wantBeginning(n); seen < n {
			t.Errorf("the feeders have finished with %d of %d rows", seen, n)
		}
	}
	k.report(t)
}

// feedersScript is scripts/feeders.sql with sinks that write exactly once.
func (p *place) feedersScript(n, perSecond int) string {
	text := endOption.ReplaceAllString(feedersSQL, fmt.Sprintf("$1'%d'", n))
	text = rateOption.ReplaceAllString(text, fmt.Sprintf("$1'%d'", perSecond))
	return p.here(text, "'sink.delivery-guarantee' = 'exactly-once',", "'sink.transactional-id-prefix' = '"+p.name("tx")+"',")
}

// wantBeginning demands that both topics hold a beginning of 1 to n, in order, and gives the length of the shorter.
func (p *place) wantBeginning(n int) int {
	p.t.Helper()
	shortest := n
	p.while(func(c *kafkatest.Client) error {
		for _, topic := range []string{p.name("orders"), p.name("payments")} {
			values, err := c.Committed(topic)
			if err != nil {
				return err
			}
			for i, v := range values {
				var row enrichedRow
				if err := json.Unmarshal(v, &row); err != nil {
					return fmt.Errorf("row %q: %w", v, err)
				}
				if row.Order != i+1 || i >= n {
					return fmt.Errorf("topic %s: row %d of %d is %s", topic, i+1, len(values), v)
				}
			}
			shortest = min(shortest, len(values))
		}
		return nil
	})
	return shortest
}

// TestCrashSavepointResumedTwice resumes a savepoint more than once.
//
// A run that is killed before its first commit leaves nothing: whoever resumes the same savepoint once more writes every
// row behind it, once. A run that has committed is another matter. A savepoint is a point in the past, and whoever resumes
// it again writes again what came after it, so those rows are there twice, and no row is there less often than that,
// wherever the second run is killed: the first run's commits must not be taken for its own.
func TestCrashSavepointResumedTwice(t *testing.T) {
	t.Parallel()
	for name, own := range map[string]bool{"broker apart": false, "broker within": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resumeTwice(t, newPlace(t, own))
		})
	}
}

func resumeTwice(t *testing.T, p *place) {
	const n = 4000
	p.fill(1, n)
	slow, fast := p.file("slow.sql", p.joinScript(true)), p.file("fast.sql", p.joinScript(false))
	r := p.start("-f", slow, "-D", "parallelism.default=2")
	r.until("something is committed", func() (bool, error) {
		done, _, err := p.progress()
		return done > 0, err
	})
	path := "execution.savepoint.path=" + r.savepoint("stop")
	r.wait(exitOK)
	before := p.orders()
	wantTimes(t, before, n, func(o int) int { return min(1, before[o]) })

	r = p.start("-f", fast, "-D", path, "-D", "execution.checkpointing.interval=1h")
	r.until("rows are written that are not committed", func() (bool, error) {
		c, err := p.judge()
		if err != nil {
			return false, err
		}
		all, err := c.Ends(p.name("enriched"), false)
		if err != nil || len(all) == 0 {
			return false, err
		}
		committed, err := c.Ends(p.name("enriched"), true)
		return err == nil && len(committed) > 0 && all[0] > committed[0], err
	})
	r.kill()
	wantTimes(t, p.orders(), n, func(o int) int { return before[o] })

	r = p.start("-f", fast, "-D", path, "-D", "parallelism.default=2")
	r.untilEnd()
	r.interrupt()
	r.check()
	p.wantOnce(n)

	p.group = "again"
	slow, fast = p.file("slow.sql", p.joinScript(true)), p.file("fast.sql", p.joinScript(false))
	r = p.start("-f", slow, "-D", path, "-D", "parallelism.default=2")
	r.untilPublished(1)
	r.kill()
	rows := 0
	for _, times := range p.orders() {
		rows += times
	}
	t.Logf("%d of %d orders at the savepoint; the run that resumed it again was killed when %d rows of its own were committed", len(before), n, rows-n)
	r = p.start("-f", fast, "--resume")
	r.untilEnd()
	r.kill()
	wantTimes(t, p.orders(), n, func(o int) int { return 2 - before[o] })
}

// killer kills programs at moments of several kinds, and counts what it saw.
type killer struct {
	progress  func() (done, left int64, err error) // what is committed, and what is not yet
	kills     int
	resumed   int // lives that went on from a checkpoint
	repeated  int // transactions whose rows were written again
	committed int64
}

// kill kills the program at a random moment: soon after its start, after it has committed something, or as soon as it has
// made a checkpoint durable, when its commit is about to be sent.
//
// It says false when the program has come to its end before.
func (k *killer) kill(r *program) bool {
	p := r.p
	p.t.Helper()
	began := k.committed
	switch p.rand.IntN(3) {
	case 0:
		time.Sleep(time.Duration(p.rand.IntN(800)) * time.Millisecond)
	case 1:
		r.until("the job has committed something", func() (done bool, _ error) {
			if !r.running() {
				return true, nil
			}
			now, left, err := k.progress()
			done = err == nil && (now > k.committed || left == 0)
			if done {
				k.committed = now
			}
			return done, err
		})
		time.Sleep(time.Duration(p.rand.IntN(300)) * time.Millisecond)
	case 2:
		r.untilPublished(1 + p.rand.IntN(2))
	}
	if r.kill() {
		k.kills++
	}
	k.note(r, began)
	return r.killed
}

// note reads what a program printed that started when so much was committed.
func (k *killer) note(r *program, committed int64) {
	text := r.out.String()
	switch {
	case strings.Contains(text, "continues from checkpoint"):
		k.resumed++
	case strings.Contains(text, "none, starting empty") && committed > 0:
		r.p.t.Fatal("the program starts empty although a checkpoint had been committed")
	}
	k.repeated += strings.Count(text, "rows were written again")
}

func (k *killer) report(t *testing.T) {
	t.Logf("%d kills; %d lives went on from a checkpoint, %d transactions were written again", k.kills, k.resumed, k.repeated)
	if k.resumed == 0 {
		t.Error("no life went on from a checkpoint")
	}
}

// untilPublished waits until n more checkpoints have got their _metadata, which is just before they are committed. It
// returns at once then: the commit is a matter of less than a millisecond.
func (r *program) untilPublished(n int) {
	r.p.t.Helper()
	deadline := time.Now().Add(patience)
	known := checkpointDirs(r.p.data)
	for n > 0 && r.running() {
		if time.Now().After(deadline) {
			r.p.t.Fatalf("no checkpoint within %s:\n%s", patience, r.tail())
		}
		made := ""
		for dir := range checkpointDirs(r.p.data) {
			if !known[dir] {
				made, known[dir] = dir, true
				n--
			}
		}
		if made == "" {
			time.Sleep(500 * time.Microsecond)
			continue
		}
		for spin := time.Now(); n == 0 && time.Since(spin) < time.Second; {
			if _, err := os.Stat(filepath.Join(made, "_metadata")); err == nil {
				return
			}
		}
	}
}

// checkpointDirs gives the directories of published checkpoints, be they ready or not.
func checkpointDirs(data string) map[string]bool {
	paths, _ := filepath.Glob(filepath.Join(data, "checkpoints", "*", "chk-*"))
	dirs := map[string]bool{}
	for _, p := range paths {
		dirs[p] = true
	}
	return dirs
}
