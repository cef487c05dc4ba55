package testkit

import (
	"context"
	"math"
	"sync"

	"runnel/connectors"
)

// Pause makes the sources of a job rest, so that a test can act there: before their first row until Open is called, and
// after a number of rows each.
type Pause struct {
	mu      sync.Mutex
	open    bool
	after   int // rows per reader
	reached chan struct{}
	waiting int // readers with splits that have not come to rest or to their end
	once    sync.Once
	wakes   []func()
	sources []*pausedSource
	changed chan struct{} // closed and made anew when a source has dealt its splits
}

// pausedSource is a scan of the job.
type pausedSource struct{ read, dealt bool }

// NewPause makes readers rest after the given number of rows, negative for never, and before the first one if held.
func NewPause(after int, held bool) *Pause {
	if after < 0 {
		after = math.MaxInt
	}
	return &Pause{after: after, open: !held, reached: make(chan struct{}), changed: make(chan struct{})}
}

// Reached is closed when every reader that has got a split by then rests or has ended.
func (p *Pause) Reached() <-chan struct{} { return p.reached }

// Open lets readers begin.
func (p *Pause) Open() {
	p.mu.Lock()
	p.open = true
	wakes := p.wakes
	p.mu.Unlock()
	for _, w := range wakes {
		w()
	}
}

func (p *Pause) held() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.open
}

// Wrap gives a connector whose readers rest.
func (p *Pause) Wrap(c connectors.Connector) connectors.Connector {
	if c.Source == nil {
		return c
	}
	plan := c.Source
	c.Source = func(r connectors.ScanRequest) (*connectors.Source, error) {
		s, err := plan(r)
		if err != nil {
			return nil, err
		}
		scan := &pausedSource{}
		p.mu.Lock()
		p.sources = append(p.sources, scan)
		p.mu.Unlock()
		enumerate := s.Enumerate
		s.Enumerate = func(env connectors.Env) (connectors.Enumerator, error) {
			e, err := enumerate(env)
			return &pausedEnumerator{e, p, scan}, err
		}
		read := s.Read
		s.Read = func(env connectors.Env, wake func()) (connectors.Reader, error) {
			r, err := read(env, wake)
			if err != nil {
				return r, err
			}
			p.mu.Lock()
			scan.read = true
			p.wakes = append(p.wakes, wake)
			p.mu.Unlock()
			return &resting{Reader: r, p: p, left: p.after}, nil
		}
		return s, nil
	}
	return c
}

// Dealt waits until every source of a running job that is new has dealt its splits, so that a barrier stands behind them.
// The sources must be such that look for splits once: their enumerators are closed behind that.
func (p *Pause) Dealt(ctx context.Context, done <-chan struct{}) error {
	for {
		p.mu.Lock()
		waiting, changed := false, p.changed
		for _, s := range p.sources {
			waiting = waiting || s.read && !s.dealt
		}
		p.mu.Unlock()
		if !waiting {
			return nil
		}
		select {
		case <-changed:
		case <-done:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// pausedEnumerator tells when the engine has dealt what it found.
type pausedEnumerator struct {
	connectors.Enumerator
	p    *Pause
	scan *pausedSource
}

func (e *pausedEnumerator) Close() error {
	e.p.mu.Lock()
	e.scan.dealt = true
	close(e.p.changed)
	e.p.changed = make(chan struct{})
	e.p.mu.Unlock()
	return e.Enumerator.Close()
}

func (p *Pause) rest() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waiting--; p.waiting == 0 {
		p.once.Do(func() { close(p.reached) })
	}
}

// resting is a reader that gives so many rows, a whole batch more at most, and then nothing.
type resting struct {
	connectors.Reader
	p      *Pause
	left   int
	splits int
	done   bool
}

// Assign counts the reader among those that are waited for.
func (r *resting) Assign(splits []connectors.Split) error {
	if r.splits == 0 && !r.done {
		r.p.mu.Lock()
		r.p.waiting++
		r.p.mu.Unlock()
	}
	r.splits += len(splits)
	return r.Reader.Assign(splits)
}

// Poll gives whole batches until enough rows have been given.
func (r *resting) Poll() (connectors.Polled, error) {
	if r.done || r.p.held() {
		return connectors.Polled{}, nil
	}
	if r.left <= 0 {
		r.stop()
		return connectors.Polled{}, nil
	}
	p, err := r.Reader.Poll()
	if p.Rows != nil {
		r.left -= p.Rows.Rows()
	}
	if p.Ended {
		if r.splits--; r.splits == 0 {
			r.stop()
		}
	}
	return p, err
}

func (r *resting) stop() {
	if !r.done {
		r.done = true
		r.p.rest()
	}
}
