package exec

import (
	"fmt"
	"sort"
	"strings"
	"sync"
)

// slotPool is the cluster's slots. A job takes all the slots that it needs or none; the widest vertex says how many.
// Waiting jobs are served in the order of their submission, but one that fits is not held up by one that does not.
type slotPool struct {
	mu      sync.Mutex
	total   int
	held    map[*Job]int
	waiting []*slotWait
}

type slotWait struct {
	job   *Job
	need  int
	ready chan struct{}
}

func newSlotPool(total int) *slotPool { return &slotPool{total: total, held: map[*Job]int{}} }

// request asks for slots. ready is closed once the job has them.
func (p *slotPool) request(j *Job, need int) (ready <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := &slotWait{job: j, need: need, ready: make(chan struct{})}
	p.waiting = append(p.waiting, w)
	p.serve()
	return w.ready
}

// release gives back what a job holds or waits for.
func (p *slotPool) release(j *Job) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.held, j)
	for i, w := range p.waiting {
		if w.job == j {
			p.waiting = append(p.waiting[:i], p.waiting[i+1:]...)
			break
		}
	}
	p.serve()
}

// resize sets the number of slots. Jobs that run keep theirs.
func (p *slotPool) resize(total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total = total
	p.serve()
}

func (p *slotPool) serve() {
	free := p.free()
	kept := p.waiting[:0]
	for _, w := range p.waiting {
		if w.need > free {
			kept = append(kept, w)
			continue
		}
		free -= w.need
		p.held[w.job] = w.need
		close(w.ready)
	}
	p.waiting = kept
}

func (p *slotPool) free() int {
	n := p.total
	for _, k := range p.held {
		n -= k
	}
	return n
}

func (p *slotPool) counts() (free, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.free(), p.total
}

// why says what a waiting job waits for: the arithmetic, and who holds the slots.
func (p *slotPool) why(j *Job, need int) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	free := p.free()
	var b strings.Builder
	fmt.Fprintf(&b, "needs %d %s, free %d of %d", need, plural(need, "slot"), max(0, free), p.total)
	if len(p.held) > 0 {
		holders := make([]string, 0, len(p.held))
		for h, n := range p.held {
			holders = append(holders, fmt.Sprintf("%s (%s) holds %d", h.name, h.id, n))
		}
		sort.Strings(holders)
		b.WriteString("; " + strings.Join(holders, ", "))
	}
	if need > p.total {
		fmt.Fprintf(&b, "; it can never start with %d: raise 'taskmanager.numberOfTaskSlots' or lower 'parallelism.default'", p.total)
	} else {
		b.WriteString("; it starts by itself when slots come free")
	}
	return b.String()
}

func plural(n int, s string) string {
	if n == 1 {
		return s
	}
	return s + "s"
}
