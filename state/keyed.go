package state

import (
	"fmt"
	"slices"
)

// Config is what a Keyed needs to know.
type Config struct {
	Operator string       // the operator's name, for error messages
	Groups   Range        // the subtask's key groups
	Clock    func() int64 // processing time in ms, for TTL; nil: always 0
	Restore  *Restored    // nil: start empty
}

// Keyed is the keyed state of one operator subtask. States are registered once, when the operator opens, and are
// restored in that moment; afterwards come batches, and for every checkpoint Freeze, Drain until done, Snapshot:
//
//	k.Freeze(Freeze{Checkpoint: id, Completed: last})  // at the barrier
//	for done := false; !done; { done, err = k.Drain(2048, sink); processNextBatch() }
//	handles := k.Snapshot()
//
// A checkpoint that fails is followed by Abort, before or after its Drain is done. What it would have stored is stored
// by the next one.
type Keyed struct {
	operator string
	groups   Range
	clock    *clock
	now      func() int64
	restore  *Restored
	states   []registered
	claimed  map[string]bool

	frozen Freeze
	count  uint32 // freezes so far
	open   bool   // frozen and not drained
	at     int    // the state being drained
	w      blobWriter
}

// Freeze says which checkpoint a barrier belongs to.
type Freeze struct {
	Checkpoint int64
	// Completed is the newest checkpoint that was known to be complete when this one was triggered, 0 for none. It
	// travels with the barrier: what this checkpoint stores builds on the blobs of that one and on no other.
	Completed int64
	// Savepoint asks for all records. What changed since Completed stays to be stored by the next checkpoint.
	Savepoint bool
}

// registered is a state as Keyed sees it.
type registered interface {
	descriptor() *Descriptor
	layouts(func(*layout))
	frozen(Freeze)
	// drain encodes up to budget records and gives what is left of the budget; done: nothing is left to do.
	drain(w *blobWriter, budget int) (left int, done bool, err error)
	abort()
	handle() StateHandle
	load(b blob, keep Range) error
	loaded() error
	size() int64
}

// NewKeyed makes the state of a subtask.
func NewKeyed(c Config) *Keyed {
	k := &Keyed{operator: c.Operator, groups: c.Groups, clock: &clock{}, now: c.Clock, restore: c.Restore, claimed: map[string]bool{}}
	k.StartBatch()
	return k
}

// Groups gives the subtask's key groups.
func (k *Keyed) Groups() Range { return k.groups }

// StartBatch reads the clock; TTL stamps of what follows carry this time. Operators with a TTL call it per batch.
func (k *Keyed) StartBatch() {
	if k.now != nil {
		k.clock.now = k.now()
	}
}

// Size is the memory held by all states, in bytes.
func (k *Keyed) Size() int64 {
	var n int64
	for _, s := range k.states {
		n += s.size()
	}
	return n
}

// register adds a state and loads what was saved of it.
func (k *Keyed) register(s registered) error {
	d := s.descriptor()
	for _, o := range k.states {
		if o.descriptor().Name == d.Name {
			return fmt.Errorf("state %q of %s: registered twice", d.Name, k.operator)
		}
	}
	k.states = append(k.states, s)
	s.layouts(func(l *layout) { l.freeze = k.count })
	if k.restore == nil {
		return nil
	}
	if err := k.load(s, d); err != nil {
		return fmt.Errorf("restoring state %q of %s: %w", d.Name, k.operator, err)
	}
	return nil
}

// Unclaimed gives the names of restored states that no registration took, in order.
func (k *Keyed) Unclaimed() []string {
	if k.restore == nil {
		return nil
	}
	var names []string
	for _, sub := range k.restore.Subtasks {
		for _, h := range sub.States {
			if n := h.Descriptor.Name; !k.claimed[n] && !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	slices.Sort(names)
	return names
}

// Freeze closes the epoch: everything written so far belongs to the checkpoint, everything written from now on does
// not. It only counts. A checkpoint whose Drain is not done is aborted.
func (k *Keyed) Freeze(f Freeze) {
	if k.open {
		k.Abort()
	}
	k.frozen, k.open, k.at = f, true, 0
	k.count++
	k.w = blobWriter{ckpt: f.Checkpoint, owned: k.groups}
	for _, s := range k.states {
		s.layouts(func(l *layout) {
			l.cur, l.closed = l.closed, l.cur
			l.freeze, l.full, l.done, l.ckpt = k.count, f.Savepoint, f.Completed, f.Checkpoint
		})
		s.frozen(f)
	}
}

// Drain gives up to max changed records of the frozen epoch to the sink, in blobs. It is called between batches until
// it is done. After an error the checkpoint must be aborted.
func (k *Keyed) Drain(max int, sink Sink) (done bool, err error) {
	if !k.open {
		return true, nil
	}
	k.w.sink = sink
	for left := max; k.at < len(k.states); {
		s := k.states[k.at]
		if left <= 0 {
			return false, nil
		}
		var ready bool
		left, ready, err = s.drain(&k.w, left)
		if err != nil {
			return false, fmt.Errorf("checkpoint %d, state %q of %s: %w", k.frozen.Checkpoint, s.descriptor().Name, k.operator, err)
		}
		if ready {
			k.at++
		}
	}
	k.open = false
	k.w.buf = nil
	return true, nil
}

// Snapshot tells, after Drain is done and before the next Freeze, what makes up the states at the barrier.
func (k *Keyed) Snapshot() []StateHandle {
	hs := make([]StateHandle, len(k.states))
	for i, s := range k.states {
		h := s.handle()
		for _, b := range h.Blobs {
			h.Bytes += int64(b.Bytes)
			if b.Checkpoint == k.frozen.Checkpoint {
				h.NewBytes += int64(b.Bytes)
			}
		}
		hs[i] = h
	}
	return hs
}

// Abort gives up a checkpoint whose Drain is not done; afterwards it does nothing, as the next Freeze tells which
// checkpoint completed.
func (k *Keyed) Abort() {
	if !k.open {
		return
	}
	k.open = false
	k.w.buf = nil
	for _, s := range k.states {
		s.abort()
	}
}
