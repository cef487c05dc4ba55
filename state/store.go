package state

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"sync"
)

// Store keeps the checkpoints of jobs. Every attempt of a job (a start or a restart) writes to a place of its own, so
// that checkpoint numbers may come again after a restore to an older checkpoint. All methods are safe for concurrent use.
type Store struct {
	files places

	mu   sync.Mutex
	open map[place]*openPlace
}

// place names where one attempt keeps its checkpoints.
type place struct {
	job     string
	attempt int
}

// places makes, finds and removes the places of a kind of store.
type places interface {
	// open opens a place, which exists, or makes a new one.
	open(p place, create bool) (kv, error)
	list() ([]place, error)
	remove(p place) error
	dir() string
}

// kv is what a store has to do for one place: keep values by key, in the order of checkpoints. Keys are written once.
type kv interface {
	// put adds a value under a checkpoint; until commit it may not be there after a crash. Neither key nor value is kept.
	put(checkpoint int64, key, value []byte) error
	// abort gives up what was put under a checkpoint.
	abort(checkpoint int64, keys [][]byte) error
	// remove takes keys away that no retained checkpoint needs; at is no older than the checkpoints that put them.
	remove(at int64, keys [][]byte) error
	// commit makes everything that was put under a checkpoint durable, and then the checkpoint itself, with its metadata.
	commit(checkpoint int64, meta []byte) error
	// forget takes a committed checkpoint out; oldest is the oldest one that is still retained.
	forget(checkpoint, oldest int64) error
	get(key []byte) ([]byte, error)
	// committed gives the metadata of every committed checkpoint.
	committed() (map[int64][]byte, error)
	close() error
}

// openPlace is a place that somebody uses.
type openPlace struct {
	kv      kv
	users   int
	writing bool
	doomed  bool // to be removed when its last user leaves
}

// ErrNoCheckpoint is the error for a checkpoint that is not, or no longer, in a store.
var ErrNoCheckpoint = errors.New("there is no such checkpoint")

// Location says where in a store a checkpoint is.
type Location struct {
	Job        string `json:"job"`
	Attempt    int    `json:"attempt"`
	Checkpoint int64  `json:"checkpoint"`
}

// String prints the location for messages.
func (l Location) String() string {
	return fmt.Sprintf("checkpoint %d of job %s, attempt %d", l.Checkpoint, l.Job, l.Attempt)
}

// Dir is the directory of a store on disk, "" for one in memory.
func (s *Store) Dir() string { return s.files.dir() }

// acquire opens a place that exists, or joins those who have it open.
func (s *Store) acquire(p place) (*openPlace, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.open[p]
	if o == nil {
		kv, err := s.files.open(p, false)
		if err != nil {
			return nil, err
		}
		o = &openPlace{kv: kv}
		s.open[p] = o
	}
	o.users++
	return o, nil
}

func (s *Store) release(p place, o *openPlace) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o.users--; o.users > 0 {
		return nil
	}
	delete(s.open, p)
	err := o.kv.close()
	if o.doomed {
		err = errors.Join(err, s.files.remove(p))
	}
	return err
}

// Attempt makes a place for the checkpoints of a new attempt of a job. On disk nothing happens before the first
// checkpoint.
func (s *Store) Attempt(job string) (*Attempt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all, err := s.files.list()
	if err != nil {
		return nil, fmt.Errorf("checkpoint store: %w", err)
	}
	p := place{job, 1}
	for _, q := range append(all, slices.Collect(maps.Keys(s.open))...) {
		if q.job == job {
			p.attempt = max(p.attempt, q.attempt+1)
		}
	}
	kv, err := s.files.open(p, true)
	if err != nil {
		return nil, fmt.Errorf("checkpoint store: %w", err)
	}
	o := &openPlace{kv: kv, users: 1, writing: true}
	s.open[p] = o
	return &Attempt{store: s, place: p, open: o, begun: map[int64]*begun{}, done: map[int64][]blobKey{}, uses: map[blobKey]int{}}, nil
}

// Open opens a checkpoint for restoring.
func (s *Store) Open(at Location) (*Snapshot, error) {
	p := place{at.Job, at.Attempt}
	o, err := s.acquire(p)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	cp, err := readCheckpoint(o.kv, at.Checkpoint)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", at, err), s.release(p, o))
	}
	return &Snapshot{Checkpoint: cp, blobs: func(operator string, subtask int) BlobReader {
		return storeBlobs{o.kv, operatorSum(operator), uint16(subtask)}
	}, close: func() error { return s.release(p, o) }}, nil
}

func readCheckpoint(kv kv, id int64) (*Checkpoint, error) {
	all, err := kv.committed()
	if err != nil {
		return nil, err
	}
	meta, ok := all[id]
	if !ok {
		return nil, ErrNoCheckpoint
	}
	return parseCheckpoint(meta)
}

// checkpointVersion is the version of Checkpoint as JSON.
const checkpointVersion = 1

func parseCheckpoint(meta []byte) (*Checkpoint, error) {
	var v struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(meta, &v); err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	if v.Version != checkpointVersion {
		return nil, fmt.Errorf("metadata has version %d, this program reads version %d", v.Version, checkpointVersion)
	}
	cp := &Checkpoint{}
	if err := json.Unmarshal(meta, cp); err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	return cp, nil
}

// Drop gives up a checkpoint of an attempt that has ended (for a running one see Attempt.Drop). The last one of an
// attempt takes the attempt's place with it.
func (s *Store) Drop(at Location) error {
	p := place{at.Job, at.Attempt}
	o, err := s.acquire(p)
	if err != nil {
		return fmt.Errorf("dropping %s: %w", at, err)
	}
	all, err := o.kv.committed()
	if err == nil {
		if _, ok := all[at.Checkpoint]; !ok {
			err = ErrNoCheckpoint
		}
	}
	if err != nil {
		return errors.Join(fmt.Errorf("dropping %s: %w", at, err), s.release(p, o))
	}
	delete(all, at.Checkpoint)
	s.mu.Lock()
	if len(all) == 0 && !o.writing {
		o.doomed = true
	}
	s.mu.Unlock()
	if len(all) > 0 {
		err = o.kv.forget(at.Checkpoint, slices.Min(slices.Collect(maps.Keys(all))))
	}
	return errors.Join(err, s.release(p, o))
}

// Remove deletes everything that a store holds of a job, as soon as nobody uses it any more.
func (s *Store) Remove(job string) error {
	return s.removeWhere(func(p place) bool { return p.job == job })
}

// Prune deletes everything that nobody uses and that holds none of the given checkpoints: what crashed processes left.
func (s *Store) Prune(keep []Location) error {
	kept := map[place]bool{}
	for _, l := range keep {
		kept[place{l.Job, l.Attempt}] = true
	}
	s.mu.Lock()
	for p := range s.open {
		kept[p] = true
	}
	s.mu.Unlock()
	return s.removeWhere(func(p place) bool { return !kept[p] })
}

func (s *Store) removeWhere(gone func(place) bool) error {
	all, err := s.files.list()
	if err != nil {
		return fmt.Errorf("checkpoint store: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range all {
		if !gone(p) {
			continue
		}
		if o := s.open[p]; o != nil {
			o.doomed = true
			continue
		}
		err = errors.Join(err, s.files.remove(p))
	}
	return err
}

// List gives every checkpoint in the store. Places in use by other processes are an error.
func (s *Store) List() ([]Location, error) {
	all, err := s.files.list()
	if err != nil {
		return nil, fmt.Errorf("checkpoint store: %w", err)
	}
	var list []Location
	for _, p := range all {
		o, err := s.acquire(p)
		if errors.Is(err, ErrNoCheckpoint) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("checkpoint store: %w", err)
		}
		cps, err := o.kv.committed()
		if err = errors.Join(err, s.release(p, o)); err != nil {
			return nil, fmt.Errorf("checkpoint store: %w", err)
		}
		for _, id := range slices.Sorted(maps.Keys(cps)) {
			list = append(list, Location{p.job, p.attempt, id})
		}
	}
	return list, nil
}

// Close closes the store. Attempts and snapshots must have been closed before.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	for p, o := range s.open {
		err = errors.Join(err, fmt.Errorf("attempt %d of job %s is still in use", p.attempt, p.job), o.kv.close())
	}
	clear(s.open)
	return err
}

// Snapshot is a checkpoint or savepoint that is open for restoring.
type Snapshot struct {
	Checkpoint *Checkpoint
	blobs      func(operator string, subtask int) BlobReader
	close      func() error
}

// Blobs gives the blobs of a subtask of an operator of the snapshot.
func (s *Snapshot) Blobs(operator string, subtask int) BlobReader { return s.blobs(operator, subtask) }

// Close ends the use of the snapshot.
func (s *Snapshot) Close() error { return s.close() }

// blobKey names a blob within a place.
type blobKey struct {
	operator   uint64
	subtask    uint16
	checkpoint int64
	seq        uint32
}

func (k blobKey) bytes() []byte {
	b := make([]byte, 0, 23)
	b = append(b, 'b')
	b = binary.BigEndian.AppendUint64(b, k.operator)
	b = binary.BigEndian.AppendUint16(b, k.subtask)
	b = binary.BigEndian.AppendUint64(b, uint64(k.checkpoint))
	return binary.BigEndian.AppendUint32(b, k.seq)
}

// operatorSum stands for an operator's id in keys.
func operatorSum(id string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(id))
	return h.Sum64()
}

// storeBlobs reads the blobs of one subtask.
type storeBlobs struct {
	kv       kv
	operator uint64
	subtask  uint16
}

func (b storeBlobs) Blob(ref BlobRef) ([]byte, error) {
	return b.kv.get(blobKey{b.operator, b.subtask, ref.Checkpoint, ref.Seq}.bytes())
}
