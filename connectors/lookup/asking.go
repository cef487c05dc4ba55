package lookup

import (
	"context"
	"fmt"
	"sync"
	"time"

	"runnel/types"
)

// Asking asks a table while its caller goes on. Its methods are for one goroutine, the caller's.
type Asking struct {
	table   *Table
	ctx     context.Context
	cancel  context.CancelFunc
	timeout time.Duration
	wake    func()
	hurry   chan struct{}
	hurried bool
	running sync.WaitGroup

	mu      sync.Mutex
	answers []Answered
	some    chan struct{} // holds a token when there are answers
}

// Answered is the answer to one key of a call of Ask, or why there is none.
type Answered struct {
	Ask int64
	Key int
	Answer
	Err error
}

// Ask makes an Asking. wake is called, from any goroutine, when there are answers to Take; an answer that takes longer than
// timeout, retries included, is an error. It ends with ctx.
func (t *Table) Ask(ctx context.Context, timeout time.Duration, wake func()) *Asking {
	a := &Asking{table: t, timeout: timeout, wake: wake, hurry: make(chan struct{}), some: make(chan struct{}, 1)}
	a.ctx, a.cancel = context.WithCancel(ctx)
	return a
}

// Ask asks for distinct keys without NULLs; the batch is the Asking's from now on. Cached keys are answered at once.
func (a *Asking) Ask(id int64, keys *types.Batch) {
	got := func(k int, answer Answer) { a.post(Answered{Ask: id, Key: k, Answer: answer}) }
	rest, err := a.table.known(a.ctx, keys, got)
	if err != nil {
		a.post(Answered{Ask: id, Err: err})
		return
	}
	if len(rest.of) == 0 {
		return
	}
	a.running.Go(func() {
		late := fmt.Errorf("no answer within %s (table.exec.async-lookup.timeout)", a.timeout)
		ctx, cancel := context.WithTimeoutCause(a.ctx, a.timeout, late)
		defer cancel()
		if err := a.table.fetch(ctx, rest, a.hurry, got); err != nil {
			if cause := context.Cause(ctx); cause == late {
				err = fmt.Errorf("looking up %s: %w", a.table.spec.Name, late)
			}
			a.post(Answered{Ask: id, Err: err})
		}
	})
}

func (a *Asking) post(x Answered) {
	a.mu.Lock()
	a.answers = append(a.answers, x)
	a.mu.Unlock()
	select {
	case a.some <- struct{}{}:
	default:
	}
	a.wake()
}

// Take gives the answers that have come, without waiting.
func (a *Asking) Take() []Answered {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := a.answers
	a.answers = nil
	return all
}

// Await waits until there may be answers.
func (a *Asking) Await() error {
	select {
	case <-a.some:
		return nil
	case <-a.ctx.Done():
		return context.Cause(a.ctx)
	}
}

// Hurry ends the waiting between retries: keys that found nothing are asked for once more, now.
func (a *Asking) Hurry() {
	if !a.hurried {
		a.hurried = true
		close(a.hurry)
	}
}

// Close gives up what is under way and waits until it has ended. It does not close the table.
func (a *Asking) Close() {
	a.cancel()
	a.running.Wait()
}
