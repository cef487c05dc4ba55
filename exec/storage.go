package exec

import (
	"errors"
	"path/filepath"
	"sync"

	"runnel/state"
)

// stores are the places where a cluster's jobs keep their checkpoints, opened when first needed.
type stores struct {
	dir string // of the badger backend; "" has none

	mu     sync.Mutex
	memory *state.Store
	badger *state.Store
}

// get gives the store of a state backend.
func (s *stores) get(inMemory bool) (*state.Store, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if inMemory || s.dir == "" {
		if s.memory == nil {
			s.memory = state.NewMemoryStore()
		}
		return s.memory, nil
	}
	if s.badger == nil {
		b, err := state.OpenBadgerStore(s.dir)
		if err != nil {
			return nil, err
		}
		s.badger = b
	}
	return s.badger, nil
}

func (s *stores) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	for _, st := range []*state.Store{s.memory, s.badger} {
		if st != nil {
			err = errors.Join(err, st.Close())
		}
	}
	s.memory, s.badger = nil, nil
	return err
}

// publishRoot is where completed checkpoints get a path: execution.checkpointing.dir, or the cluster's default; "" for
// nowhere.
func (c *Cluster) publishRoot(cfg *JobConfig) string {
	switch {
	case cfg.Checkpoint.InMemory || c.opts.Dir == "":
		return ""
	case cfg.Checkpoint.Dir != "":
		return cfg.Checkpoint.Dir
	}
	return filepath.Join(c.opts.Dir, "checkpoints")
}

// restorePoint is what an attempt starts from: a path, or a checkpoint in the job's own store.
type restorePoint struct {
	path string
	at   state.Location
}

// openPoint opens a restore point.
func (j *Job) openPoint(p restorePoint) (*snapshot, error) {
	store, err := j.cluster.stores.get(j.cfg.Checkpoint.InMemory)
	if err != nil {
		return nil, err
	}
	var src *state.Snapshot
	name := p.path
	if name != "" {
		src, err = store.OpenPath(name)
	} else {
		name = p.at.String()
		src, err = store.Open(p.at)
	}
	if err != nil {
		return nil, err
	}
	s, err := openSnapshot(src, name)
	if err != nil {
		return nil, errors.Join(err, src.Close())
	}
	return s, nil
}

// kept is a checkpoint that a job retains.
type kept struct {
	at      state.Location
	path    string         // where it is published, "" if it is not
	attempt *state.Attempt // the one that wrote it, for as long as that writes
}

// retained is the checkpoints of a job, oldest first.
type retained struct {
	job *Job

	mu  sync.Mutex
	all []kept
}

// add takes in a checkpoint that is complete, and drops the oldest ones beyond the number to retain.
func (r *retained) add(k kept) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, k)
	for len(r.all) > r.job.cfg.Checkpoint.retained() {
		r.drop(r.all[0])
		r.all = r.all[1:]
	}
}

// drop removes a checkpoint: first its public name, then what is behind it.
func (r *retained) drop(k kept) {
	err := r.remove(k)
	if err != nil {
		r.job.log.Warn("dropping a checkpoint", "checkpoint", k.at.Checkpoint, "error", err)
	}
	if k.at.Job == r.job.id {
		r.job.checkpoints.discarded(k.at.Checkpoint)
	}
}

func (r *retained) remove(k kept) error {
	if k.path != "" {
		if err := state.Unpublish(k.path); err != nil {
			return err
		}
	}
	if k.attempt != nil {
		return k.attempt.Drop(k.at.Checkpoint)
	}
	store, err := r.job.cluster.stores.get(r.job.cfg.Checkpoint.InMemory)
	if err != nil {
		return err
	}
	return store.Drop(k.at)
}

// ended notes that an attempt writes no more.
func (r *retained) ended(a *state.Attempt) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.all {
		if r.all[i].attempt == a {
			r.all[i].attempt = nil
		}
	}
}

// clear drops everything.
func (r *retained) clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, k := range r.all {
		r.drop(k)
	}
	r.all = nil
}

// retire deals with the checkpoints of a job that has ended, as its retention says. A finished job needs none, but for a
// last one that is held; one that ends with its process keeps them for a resume.
func (j *Job) retire(end JobState) {
	keep := false
	switch end {
	case JobSuspended:
		keep = true
	case JobFinished:
		if keep = j.drained.Load() && j.cluster.opts.HoldFinished; keep {
			j.cluster.mu.Lock()
			j.cluster.held = append(j.cluster.held, j)
			j.cluster.mu.Unlock()
		}
	case JobFailed:
		keep = j.cfg.Checkpoint.Retention != RetainNone
	case JobCanceled:
		keep = j.cfg.Checkpoint.Retention == RetainOnCancel
	}
	if !keep {
		j.kept.clear()
	}
}

// storage gives the place for this attempt's checkpoints, made when first needed.
func (a *attempt) storage() (*state.Attempt, *state.Store, error) {
	store, err := a.job.cluster.stores.get(a.cfg.Checkpoint.InMemory)
	if err != nil {
		return nil, nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.stored == nil {
		if a.stored, err = store.Attempt(a.job.id); err != nil {
			return nil, nil, err
		}
	}
	return a.stored, store, nil
}

// closeStorage ends the use of stores.
func (a *attempt) closeStorage() {
	a.closeRestored()
	if a.stored == nil {
		return
	}
	a.job.kept.ended(a.stored)
	if err := a.stored.Close(); err != nil {
		a.log.Warn("closing the checkpoint store", "error", err)
	}
}

// closeRestored lets go of the snapshot that the attempt was restored from.
func (a *attempt) closeRestored() {
	if a.restored == nil {
		return
	}
	if err := a.restored.close(); err != nil {
		a.log.Warn("closing the restored snapshot", "error", err)
	}
}

// blobs prepares the place for the keyed state of a checkpoint.
func (a *attempt) begin(p *pending) error {
	b := p.barrier
	if !b.keep {
		return nil
	}
	if b.kind.isSavepoint() {
		s, err := state.CreateSavepoint(p.req.dir, a.job.id)
		if err != nil {
			return err
		}
		p.save, b.sink = s, s.Sink
		return nil
	}
	at, _, err := a.storage()
	if err != nil {
		return err
	}
	if err := at.Begin(b.id, b.completed); err != nil {
		return err
	}
	p.begun = at
	b.sink = func(operator string, subtask int, _ state.Range) state.Sink { return at.Sink(b.id, operator, subtask) }
	return nil
}

// abort forgets what a checkpoint that failed has written.
func (p *pending) abort() error {
	switch {
	case p.save != nil:
		return p.save.Abort()
	case p.begun != nil:
		return p.begun.Abort(p.barrier.id)
	}
	return nil
}

// persist makes a completed checkpoint durable and gives the path from which it can be restored.
func (a *attempt) persist(p *pending, cp *state.Checkpoint) (path string, err error) {
	if !p.barrier.keep {
		return "", nil
	}
	if cp.Identities, err = a.job.identify(a.ctx); err != nil {
		return "", err
	}
	if p.save != nil {
		if err := p.save.Complete(cp); err != nil {
			return "", err
		}
		if p.barrier.kind == stopSavepoint {
			a.job.restoreFrom(restorePoint{path: p.save.Path()}, cp.ID)
		}
		return p.save.Path(), nil
	}
	at, store, err := a.storage()
	if err != nil {
		return "", err
	}
	if err := at.Complete(cp); err != nil {
		return "", err
	}
	loc := at.Location(cp.ID)
	if root := a.job.cluster.publishRoot(a.cfg); root != "" {
		// What a new process cannot find must not be committed: it would restore an older checkpoint and write it again.
		if path, err = store.Publish(root, cp, loc); err != nil {
			p.begun = nil
			return "", errors.Join(err, at.Drop(cp.ID))
		}
	}
	a.job.restoreFrom(restorePoint{at: loc}, cp.ID)
	a.job.kept.add(kept{at: loc, path: path, attempt: at})
	return path, nil
}

// restoreFrom notes what the next attempt starts from.
func (j *Job) restoreFrom(p restorePoint, id int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.from, j.lastCompleted = &p, id
}
