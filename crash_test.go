package main

import (
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
			var before int
			p.while(func(c *kafkatest.Client) error {
				times, err := p.readOrders(c)
				before = len(times)
				return err
			})
			if before == 0 || before == n {
				t.Errorf("%d of %d orders at the savepoint", before, n)
			}

			r = p.start("-f", fast, "-D", "parallelism.default=4", "-D", "execution.savepoint.path="+path)
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
	n := (300 + 300*partitions) * rounds
	p.fill(partitions, n)
	slow, fast := p.file("slow.sql", p.joinScript(true)), p.file("fast.sql", p.joinScript(false))
	var k killer
	for range rounds {
		r := p.start("-f", slow, "--resume", "-D", "parallelism.default=2")
		k.kill(r)
	}
	r := p.start("-f", fast, "--resume", "-D", "parallelism.default=2")
	r.untilEnd()
	k.note(r, k.committed)
	r.kill()
	p.wantOnce(n)
	k.report(t, p)
}

// killer kills programs at moments of several kinds, and counts what it saw.
type killer struct {
	kills     int
	inside    int // while there was input left
	resumed   int // lives that went on from a checkpoint
	repeated  int // transactions whose rows were written again
	committed int64
}

// kill kills the program at a random moment: soon after its start, after it has committed something, or as soon as it has
// made a checkpoint durable, when its commit is about to be sent.
func (k *killer) kill(r *program) {
	p := r.p
	p.t.Helper()
	began := k.committed
	var left int64 = -1
	switch p.rand.IntN(3) {
	case 0:
		time.Sleep(time.Duration(p.rand.IntN(800)) * time.Millisecond)
	case 1:
		r.until("the join has committed something", func() (done bool, err error) {
			var now int64
			now, left, err = p.progress()
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
	k.note(r, began)
	r.kill()
	k.kills++
	if left != 0 {
		k.inside++
	}
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

func (k *killer) report(t *testing.T, p *place) {
	t.Logf("%d kills, %d of them before the end of the input was known to be committed; %d lives went on from a checkpoint, %d transactions were written again",
		k.kills, k.inside, k.resumed, k.repeated)
	if k.resumed == 0 {
		t.Error("no life went on from a checkpoint")
	}
}

// untilPublished waits until n more checkpoints have got their _metadata, which is just before they are committed.
func (r *program) untilPublished(n int) {
	r.p.t.Helper()
	newest := ""
	deadline := time.Now().Add(patience)
	for seen := -1; seen < n && r.running(); time.Sleep(200 * time.Microsecond) {
		if found := newestCheckpoint(r.p.data); found != newest || seen < 0 {
			newest = found
			seen++
		}
		if time.Now().After(deadline) {
			r.p.t.Fatalf("no checkpoint within %s:\n%s", patience, r.tail())
		}
	}
}

// newestCheckpoint gives the path of the checkpoint with the highest number, "" for none.
func newestCheckpoint(data string) string {
	paths, _ := filepath.Glob(filepath.Join(data, "checkpoints", "*", "chk-*", "_metadata"))
	best, path := -1, ""
	for _, f := range paths {
		var n int
		if _, err := fmt.Sscanf(filepath.Base(filepath.Dir(f)), "chk-%d", &n); err == nil && n > best {
			if _, err := os.Stat(f); err == nil {
				best, path = n, f
			}
		}
	}
	return path
}
