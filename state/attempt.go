package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
)

// Attempt writes the checkpoints of one attempt of a job:
//
//	a.Begin(id, completed)                     // when the checkpoint is triggered
//	a.Sink(id, operator, subtask)              // for the Drain of every subtask
//	a.Complete(checkpoint) or a.Abort(id)
//	a.Drop(older)                              // when retained checkpoints become too many
//
// It is safe for concurrent use.
type Attempt struct {
	store *Store
	place place
	open  *openPlace
	spare buffers

	mu       sync.Mutex
	begun    map[int64]*begun
	done     map[int64][]blobKey // completed and not dropped: the blobs they need
	uses     map[blobKey]int     // how many of those need a blob
	dropped  []int64             // waiting for a begun checkpoint that builds on them
	newest   int64
	finished bool
}

// begun is a checkpoint that neither completed nor was aborted.
type begun struct {
	base    int64 // the completed checkpoint that it builds on
	put     []blobKey
	putting sync.WaitGroup // what is on its way to the store
}

// Location says where a checkpoint of this attempt is.
func (a *Attempt) Location(checkpoint int64) Location {
	return Location{a.place.job, a.place.attempt, checkpoint}
}

// Begin announces a checkpoint. completed is the newest completed one, as Freeze.Completed; it is kept until this one
// completed or was aborted, even if it is dropped.
func (a *Attempt) Begin(checkpoint, completed int64) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.begun[checkpoint] != nil || a.done[checkpoint] != nil || checkpoint <= a.newest {
		return fmt.Errorf("checkpoint %d of job %s: the number was used before", checkpoint, a.place.job)
	}
	a.begun[checkpoint] = &begun{base: completed}
	return nil
}

// Sink takes the blobs of one subtask of an operator for a checkpoint that has begun. Put gives an error once the
// checkpoint has been aborted.
func (a *Attempt) Sink(checkpoint int64, operator string, subtask int) Sink {
	return attemptSink{a, checkpoint, operatorSum(operator), uint16(subtask)}
}

type attemptSink struct {
	a          *Attempt
	checkpoint int64
	operator   uint64
	subtask    uint16
}

func (s attemptSink) Buffer(size int) []byte { return s.a.spare.get(size) }

func (s attemptSink) Put(ref BlobRef, data []byte) error {
	key := blobKey{s.operator, s.subtask, ref.Checkpoint, ref.Seq}
	s.a.mu.Lock()
	b := s.a.begun[s.checkpoint]
	if b != nil {
		b.put = append(b.put, key)
		b.putting.Add(1)
		defer b.putting.Done()
	}
	s.a.mu.Unlock()
	if b == nil || ref.Checkpoint != s.checkpoint {
		return fmt.Errorf("checkpoint %d of job %s: it has not begun or was aborted", s.checkpoint, s.a.place.job)
	}
	err := s.a.open.kv.put(s.checkpoint, key.bytes(), data)
	s.a.spare.put(data)
	return err
}

// Complete makes a checkpoint durable: first its blobs, then its metadata, then the mark that it is whole. After an
// error it is still to be aborted.
func (a *Attempt) Complete(cp *Checkpoint) error {
	cp.Version = checkpointVersion
	keys := keysOf(cp)
	if err := a.complete(cp, keys); err != nil {
		return fmt.Errorf("completing checkpoint %d of job %s: %w", cp.ID, a.place.job, err)
	}
	return nil
}

func (a *Attempt) complete(cp *Checkpoint, keys []blobKey) error {
	a.mu.Lock()
	b := a.begun[cp.ID]
	var missing int
	if b != nil {
		put := make(map[blobKey]bool, len(b.put))
		for _, k := range b.put {
			put[k] = true
		}
		for _, k := range keys {
			if !put[k] && a.uses[k] == 0 {
				missing++
			}
		}
	}
	a.mu.Unlock()
	if b == nil {
		return errors.New("it has not begun or was aborted")
	}
	if missing > 0 {
		return fmt.Errorf("it needs %d blobs that are not in the store", missing)
	}
	meta, err := json.Marshal(cp)
	if err != nil {
		return err
	}
	if err := a.open.kv.commit(cp.ID, meta); err != nil {
		return err
	}
	a.mu.Lock()
	delete(a.begun, cp.ID)
	a.done[cp.ID] = keys
	for _, k := range keys {
		a.uses[k]++
	}
	a.newest = max(a.newest, cp.ID)
	a.mu.Unlock()
	return a.dropWaiting()
}

// keysOf lists the blobs that a checkpoint needs.
func keysOf(cp *Checkpoint) []blobKey {
	var keys []blobKey
	for _, op := range cp.Operators {
		sum := operatorSum(op.ID)
		for _, sub := range op.Subtasks {
			for _, h := range sub.States {
				for _, r := range h.Blobs {
					keys = append(keys, blobKey{sum, uint16(sub.Subtask), r.Checkpoint, r.Seq})
				}
			}
		}
	}
	return keys
}

// Abort gives up a checkpoint that has begun, and what was put for it.
func (a *Attempt) Abort(checkpoint int64) error {
	a.mu.Lock()
	b := a.begun[checkpoint]
	delete(a.begun, checkpoint)
	var keys [][]byte
	if b != nil {
		for _, k := range b.put {
			if a.uses[k] == 0 {
				keys = append(keys, k.bytes())
			}
		}
	}
	a.mu.Unlock()
	if b != nil {
		b.putting.Wait() // what came behind would stay for ever
	}
	err := a.open.kv.abort(checkpoint, keys)
	if err = errors.Join(err, a.dropWaiting()); err != nil {
		return fmt.Errorf("aborting checkpoint %d of job %s: %w", checkpoint, a.place.job, err)
	}
	return nil
}

// Drop gives up a completed checkpoint, with every blob that no other one needs.
func (a *Attempt) Drop(checkpoint int64) error {
	a.mu.Lock()
	_, ok := a.done[checkpoint]
	if ok && !slices.Contains(a.dropped, checkpoint) {
		a.dropped = append(a.dropped, checkpoint)
	}
	a.mu.Unlock()
	if !ok {
		return fmt.Errorf("dropping %s: %w", a.Location(checkpoint), ErrNoCheckpoint)
	}
	if err := a.dropWaiting(); err != nil {
		return fmt.Errorf("dropping %s: %w", a.Location(checkpoint), err)
	}
	return nil
}

// dropWaiting drops what was to be dropped and that no begun checkpoint builds on any more.
func (a *Attempt) dropWaiting() error {
	a.mu.Lock()
	var ready []int64
	a.dropped = slices.DeleteFunc(a.dropped, func(id int64) bool {
		for _, b := range a.begun {
			if b.base == id {
				return false
			}
		}
		ready = append(ready, id)
		return true
	})
	var keys [][]byte
	for _, id := range ready {
		for _, k := range a.done[id] {
			if a.uses[k]--; a.uses[k] == 0 {
				delete(a.uses, k)
				keys = append(keys, k.bytes())
			}
		}
		delete(a.done, id)
	}
	oldest := a.newest
	if len(a.done) > 0 {
		oldest = slices.Min(slices.Collect(maps.Keys(a.done)))
	}
	newest := a.newest
	a.mu.Unlock()
	var err error
	for _, id := range ready {
		err = errors.Join(err, a.open.kv.forget(id, oldest))
	}
	if len(keys) > 0 {
		err = errors.Join(err, a.open.kv.remove(newest, keys))
	}
	return err
}

// Retained gives the completed checkpoints that were not dropped, ascending.
func (a *Attempt) Retained() []int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	ids := slices.DeleteFunc(slices.Sorted(maps.Keys(a.done)), func(id int64) bool { return slices.Contains(a.dropped, id) })
	return ids
}

// Close ends the attempt. Checkpoints that have completed stay; an attempt without any leaves nothing behind.
func (a *Attempt) Close() error {
	a.mu.Lock()
	twice := a.finished
	a.finished = true
	empty := len(a.done) == 0
	clear(a.begun)
	a.mu.Unlock()
	if twice {
		return nil
	}
	a.store.mu.Lock()
	a.open.writing = false
	a.open.doomed = a.open.doomed || empty
	a.store.mu.Unlock()
	return a.store.release(a.place, a.open)
}
