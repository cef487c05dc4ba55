package exec

import (
	"context"
	"fmt"
	"hash/fnv"
	"sort"
	"strconv"
	"sync"

	"runnel/connectors"
	"runnel/types"
)

// SplitState is a split in a snapshot: the reader's position and the split's watermark.
type SplitState struct {
	ID        string `json:"id"`
	State     []byte `json:"state,omitempty"`
	Watermark int64  `json:"watermark"`
}

// SourceState is what a snapshot holds of a source: what the enumerator has found, and the splits in reading.
type SourceState struct {
	Known      []string     `json:"known,omitempty"` // all splits ever found, ended ones included
	First      bool         `json:"first"`           // the first discovery is finished
	Splits     []SplitState `json:"splits,omitempty"`
	Discovered bool         `json:"discovered,omitempty"` // the last discovery of a bounded source is finished
}

// dealer runs the enumerator of one source and deals the splits it finds to the subtasks. Its goroutine ends with the
// attempt.
type dealer struct {
	run   *attempt
	spec  *opSpec
	scan  *connectors.Source
	tasks []*task // by subtask

	mu    sync.Mutex // held while splits are posted to tasks, and while a barrier is: so a split is in one place only
	known map[string]bool
	first bool // a discovery has succeeded in the life of the job
	last  bool // it was the only one there will be
}

func newDealer(run *attempt, spec *opSpec, scan *connectors.Source, tasks []*task) *dealer {
	return &dealer{run: run, spec: spec, scan: scan, tasks: tasks, known: map[string]bool{}}
}

// owner gives the subtask that reads a split: a hash of the ID, in which a trailing number counts as a number, so that
// neighbouring partitions go to neighbouring subtasks.
func owner(id string, subtasks int) int {
	end := len(id)
	for end > 0 && id[end-1] >= '0' && id[end-1] <= '9' && len(id)-end < 9 {
		end--
	}
	h := fnv.New32a()
	h.Write([]byte(id[:end]))
	n := uint64(h.Sum32())
	if k, err := strconv.ParseUint(id[end:], 10, 32); err == nil {
		n += k
	}
	return int(n % uint64(subtasks))
}

// restore takes over what a snapshot knows. The splits in reading are dealt anew.
func (d *dealer) restore(s *SourceState) {
	for _, id := range s.Known {
		d.known[id] = true
	}
	d.first, d.last = s.First, s.Discovered && d.scan.Bounded
	d.deal(s.Splits)
}

// loop discovers now and at every interval.
func (d *dealer) loop(ctx context.Context) (err error) {
	if d.last && d.scan.Bounded {
		return nil
	}
	e, err := d.scan.Enumerate(d.run.connectorEnv(d.spec, 0, d.spec.parallelism, func(string, func() int64) {}))
	if err != nil {
		return d.fail("opening the enumerator", err)
	}
	defer func() {
		if cerr := e.Close(); cerr != nil && err == nil {
			err = d.fail("closing the enumerator", cerr)
		}
	}()
	interval := e.Interval()
	tick := make(chan struct{}, 1)
	for {
		found, err := e.Discover(ctx, !d.first)
		if err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return d.fail("discovering splits", err)
		}
		d.found(found, interval == 0)
		if interval == 0 {
			return nil
		}
		stop := d.run.clock.AfterFunc(interval, func() { tick <- struct{}{} })
		select {
		case <-tick:
		case <-ctx.Done():
			stop()
			return context.Cause(ctx)
		}
	}
}

func (d *dealer) fail(what string, err error) error {
	return &OperatorError{Operator: d.spec.name, Err: fmt.Errorf("%s: %w", what, err)}
}

// found deals the splits that are new.
func (d *dealer) found(splits []connectors.Split, last bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var fresh []SplitState
	for _, sp := range splits {
		if !d.known[sp.ID] {
			d.known[sp.ID] = true
			fresh = append(fresh, SplitState{ID: sp.ID, State: sp.State, Watermark: types.MinWatermark})
		}
	}
	if len(fresh) == 0 && d.first && !last {
		return
	}
	d.first, d.last = true, last
	d.deal(fresh)
}

// deal posts splits to their subtasks. After a discovery every subtask hears of it, also one that gets nothing: it is
// idle from then on.
func (d *dealer) deal(splits []SplitState) {
	mine := make([][]connectors.Split, len(d.tasks))
	wms := make([][]int64, len(d.tasks))
	for _, sp := range splits {
		t := owner(sp.ID, len(d.tasks))
		mine[t] = append(mine[t], connectors.Split{ID: sp.ID, State: sp.State})
		wms[t] = append(wms[t], sp.Watermark)
	}
	known, final := d.first, d.last
	for i, t := range d.tasks {
		if len(mine[i]) == 0 && !known {
			continue
		}
		t.mail.post(func(t *task) error { return t.source.assign(mine[i], wms[i], known, final) })
	}
}

// barrier posts a barrier to all subtasks and gives the enumerator's part of the snapshot as of that moment.
func (d *dealer) barrier(b *barrier) *SourceState {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := &SourceState{First: d.first, Discovered: d.last}
	for id := range d.known {
		s.Known = append(s.Known, id)
	}
	sort.Strings(s.Known)
	for _, t := range d.tasks {
		t.mail.post(func(t *task) error { return t.source.onBarrier(b) })
	}
	return s
}

// committed tells the connector which positions a completed checkpoint holds.
func (d *dealer) committed(ctx context.Context, s *SourceState) error {
	if d.scan.Committed == nil || s == nil {
		return nil
	}
	splits := make([]connectors.Split, len(s.Splits))
	for i, sp := range s.Splits {
		splits[i] = connectors.Split{ID: sp.ID, State: sp.State}
	}
	return d.scan.Committed(ctx, splits)
}
