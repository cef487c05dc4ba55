package state

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
)

// OpenBadgerStore opens the store in a directory, which is made if it does not exist: the state backend badger. Every
// attempt of a job has a database of its own below it: Badger frees space by one time stamp per database, which a job
// that keeps an old checkpoint would hold back for all others, and a database goes in one piece.
func OpenBadgerStore(dir string) (*Store, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err != nil {
		return nil, fmt.Errorf("checkpoint store: %w", err)
	}
	return &Store{files: badgerPlaces(dir), open: map[place]*openPlace{}}, nil
}

// badgerPlaces is the directory: below it one per job, below that one per attempt.
type badgerPlaces string

// readyFile stands in the directory of every database that was made to its end.
const readyFile = "READY"

// removing is the prefix of directories that are about to go.
const removing = ".removing-"

func (b badgerPlaces) dir() string { return string(b) }

func (b badgerPlaces) path(p place) string {
	return filepath.Join(string(b), url.PathEscape(p.job), fmt.Sprintf("attempt-%d", p.attempt))
}

func (b badgerPlaces) open(p place, create bool) (kv, error) {
	kv := &badgerKV{path: b.path(p), free: freeSpace, batches: map[int64]*badger.WriteBatch{}, values: newSegments(b.path(p))}
	if create {
		return kv, nil // opened with the first write
	}
	if _, err := os.Stat(filepath.Join(kv.path, readyFile)); err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil, ErrNoCheckpoint
		}
		return nil, err
	}
	_, err := kv.database()
	return kv, err
}

func (b badgerPlaces) list() ([]place, error) {
	var all []place
	jobs, err := os.ReadDir(string(b))
	if err != nil {
		return nil, err
	}
	for _, j := range jobs {
		job, err := url.PathUnescape(j.Name())
		if err != nil || !j.IsDir() {
			continue
		}
		attempts, err := os.ReadDir(filepath.Join(string(b), j.Name()))
		if err != nil {
			return nil, err
		}
		for _, a := range attempts {
			n, ok := strings.CutPrefix(a.Name(), "attempt-")
			if i, err := strconv.Atoi(n); ok && err == nil && a.IsDir() {
				all = append(all, place{job, i})
			}
		}
	}
	slices.SortFunc(all, comparePlaces)
	return all, nil
}

// remove renames before it deletes, so that half a database is never taken for a whole one. What an earlier removal
// left goes too.
func (b badgerPlaces) remove(p place) error {
	path := b.path(p)
	job := filepath.Dir(path)
	err := os.Rename(path, filepath.Join(job, removing+filepath.Base(path)))
	if errors.Is(err, os.ErrNotExist) {
		err = nil // nothing was ever written
	}
	rest, _ := filepath.Glob(filepath.Join(job, removing+"*"))
	for _, r := range rest {
		err = errors.Join(err, os.RemoveAll(r))
	}
	_ = os.Remove(job) // fails as long as there are other attempts
	return err
}

// badgerKV is one database: the index of the values, which lie in segments, and the marks of whole checkpoints. The version
// of an entry is its checkpoint.
type badgerKV struct {
	path   string
	values *segments
	free   func(dir string) (int64, error) // what the disk under a directory has left

	mu      sync.Mutex
	db      *badger.DB
	batches map[int64]*badger.WriteBatch
}

// badgerOptions are the settings that were measured to matter: small tables in memory, no caches, no conflict detection,
// one version, every write synced (Badger's Sync covers only the newest table in memory).
func badgerOptions(path string) badger.Options {
	return badger.DefaultOptions(path).WithLogger(nil).WithMetricsEnabled(false).WithDetectConflicts(false).
		WithNumVersionsToKeep(1).WithCompression(options.None).WithBlockCacheSize(0).WithNumCompactors(2).
		WithMemTableSize(1 << 20).WithNumMemtables(3).WithNumLevelZeroTables(3).WithValueLogFileSize(1 << 20).
		WithValueThreshold(64 << 10).WithBaseLevelSize(8 << 20).
		WithSyncWrites(true)
}

// database opens the database if it is not open yet.
func (k *badgerKV) database() (*badger.DB, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.db != nil {
		return k.db, nil
	}
	if err := os.MkdirAll(k.path, 0o755); err != nil {
		return nil, err
	}
	if err := k.room(0); err != nil {
		return nil, err
	}
	if err := removeEmptyLogs(k.path); err != nil {
		return nil, fmt.Errorf("opening %s: %w", k.path, err)
	}
	db, err := badger.OpenManaged(badgerOptions(k.path))
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", k.path, err)
	}
	if err := k.ready(); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	k.db = db
	return db, nil
}

// removeEmptyLogs removes log files of length zero. Badger makes a log empty before it gives it a length, and empties it
// before it removes it; a kill in between leaves a file that holds nothing and that Badger refuses to open.
func removeEmptyLogs(dir string) error {
	for _, pattern := range []string{"*.mem", "*.vlog"} {
		files, err := filepath.Glob(filepath.Join(escapeGlob(dir), pattern))
		if err != nil {
			return err
		}
		for _, f := range files {
			if info, err := os.Stat(f); err != nil || info.Size() > 0 {
				continue
			}
			if err := os.Remove(f); err != nil {
				return err
			}
		}
	}
	return nil
}

// ready marks the database as made. One whose process was killed while Badger made it may not open again; it holds
// nothing.
func (k *badgerKV) ready() error {
	f, err := os.OpenFile(filepath.Join(k.path, readyFile), os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close(), syncDir(k.path), syncDir(filepath.Dir(k.path)))
}

// batch gives the batch of writes of a checkpoint.
func (k *badgerKV) batch(checkpoint int64) (*badger.WriteBatch, error) {
	db, err := k.database()
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	b := k.batches[checkpoint]
	if b == nil {
		b = db.NewWriteBatchAt(uint64(checkpoint))
		k.batches[checkpoint] = b
	}
	return b, nil
}

func (k *badgerKV) put(checkpoint int64, key, value []byte) error {
	b, err := k.batch(checkpoint)
	if err != nil {
		return err
	}
	if err := k.room(len(value)); err != nil {
		return err
	}
	e, err := k.values.put(checkpoint, key, value)
	if err != nil {
		return err
	}
	return b.SetEntryAt(badger.NewEntry(slices.Clone(key), e.append(nil)), uint64(checkpoint))
}

// abort gives up what was put under a checkpoint. Some of it may have been written already, even its mark.
func (k *badgerKV) abort(checkpoint int64, keys [][]byte) error {
	k.mu.Lock()
	b := k.batches[checkpoint]
	k.mu.Unlock()
	if b == nil {
		return nil // nothing was put
	}
	b.Cancel()
	k.settled(checkpoint)
	if err := k.unmark(checkpoint, uint64(checkpoint+1)); err != nil {
		return err
	}
	return k.remove(checkpoint+1, append(keys, metaKey(checkpoint)))
}

// settled notes that a checkpoint is not open any more.
func (k *badgerKV) settled(checkpoint int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.batches, checkpoint)
}

// unmark takes the mark of a checkpoint away, with a version that is no older.
func (k *badgerKV) unmark(checkpoint int64, at uint64) error {
	b := k.db.NewWriteBatchAt(at)
	defer b.Cancel()
	if err := b.DeleteAt(markKey(checkpoint), at); err != nil {
		return err
	}
	return b.Flush()
}

func (k *badgerKV) remove(at int64, keys [][]byte) error {
	db, err := k.database()
	if err != nil {
		return err
	}
	b := db.NewWriteBatchAt(uint64(at))
	defer b.Cancel()
	for _, key := range keys {
		k.values.forget(key)
		if err := b.DeleteAt(key, uint64(at)); err != nil {
			return err
		}
	}
	if err := b.Flush(); err != nil {
		return err
	}
	if err := k.thin(); err != nil {
		return err
	}
	return k.values.purge()
}

// thin moves the values of files that are mostly dead to a new place, which takes the place of the old one in the index:
// it has the same version.
func (k *badgerKV) thin() error {
	moved, err := k.values.thin(func(checkpoint int64) bool {
		k.mu.Lock()
		defer k.mu.Unlock()
		return k.batches[checkpoint] != nil
	})
	if err != nil || len(moved) == 0 {
		return err
	}
	if err := k.values.sync(); err != nil {
		return err
	}
	b := k.db.NewManagedWriteBatch()
	defer b.Cancel()
	for key, e := range moved {
		if err := b.SetEntryAt(badger.NewEntry([]byte(key), e.append(nil)), uint64(e.checkpoint)); err != nil {
			return err
		}
	}
	return errors.Join(b.Flush(), k.db.Sync())
}

func markKey(checkpoint int64) []byte {
	return binary.BigEndian.AppendUint64([]byte("m"), uint64(checkpoint))
}
func metaKey(checkpoint int64) []byte {
	return binary.BigEndian.AppendUint64([]byte("c"), uint64(checkpoint))
}

// commit flushes and syncs blobs and metadata, then writes the mark, and syncs again. A batch spans several
// transactions, so after a crash half of one may be there; what has no mark does not count.
func (k *badgerKV) commit(checkpoint int64, meta []byte) error {
	if err := k.flush(checkpoint, meta); err != nil {
		return err
	}
	if err := k.mark(checkpoint, crc32.Checksum(meta, castagnoli)); err != nil {
		return err
	}
	k.settled(checkpoint) // not before: it may still be aborted, and what is open is not thinned out
	return nil
}

// flush makes everything but the mark durable.
func (k *badgerKV) flush(checkpoint int64, meta []byte) error {
	if err := k.put(checkpoint, metaKey(checkpoint), meta); err != nil {
		return err
	}
	b, err := k.batch(checkpoint)
	if err != nil {
		return err
	}
	if err := k.values.sync(); err != nil {
		return err
	}
	if err := b.Flush(); err != nil {
		return err
	}
	return k.db.Sync()
}

func (k *badgerKV) mark(checkpoint int64, sum uint32) error {
	b := k.db.NewWriteBatchAt(uint64(checkpoint))
	defer b.Cancel()
	e := badger.NewEntry(markKey(checkpoint), binary.LittleEndian.AppendUint32(nil, sum))
	if err := b.SetEntryAt(e, uint64(checkpoint)); err != nil {
		return err
	}
	if err := b.Flush(); err != nil {
		return err
	}
	return k.db.Sync()
}

// forget takes the mark away first. Space is freed by compactions, of what no checkpoint from oldest on can see.
func (k *badgerKV) forget(checkpoint, oldest int64) error {
	db, err := k.database()
	if err != nil {
		return err
	}
	at := uint64(max(checkpoint, oldest))
	if err := k.unmark(checkpoint, at); err != nil {
		return err
	}
	if err := k.remove(int64(at), [][]byte{metaKey(checkpoint)}); err != nil {
		return err
	}
	db.SetDiscardTs(uint64(oldest))
	return nil
}

func (k *badgerKV) get(key []byte) ([]byte, error) {
	db, err := k.database()
	if err != nil {
		return nil, err
	}
	k.values.mu.RLock() // the file stays until it was read
	defer k.values.mu.RUnlock()
	txn := db.NewTransactionAt(math.MaxUint64, false)
	defer txn.Discard()
	item, err := txn.Get(key)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return nil, errors.New("value is not in the store")
	}
	if err != nil {
		return nil, err
	}
	var e extent
	if err := item.Value(func(v []byte) error { e, err = parseExtent(v); return err }); err != nil {
		return nil, err
	}
	return k.values.get(e)
}

func (k *badgerKV) committed() (map[int64][]byte, error) {
	if _, err := os.Stat(filepath.Join(k.path, readyFile)); errors.Is(err, os.ErrNotExist) {
		return map[int64][]byte{}, nil // a new attempt that has written nothing
	}
	db, err := k.database()
	if err != nil {
		return nil, err
	}
	marks, err := readMarks(db)
	if err != nil {
		return nil, err
	}
	all := map[int64][]byte{}
	for id, sum := range marks {
		meta, err := k.get(metaKey(id))
		if err != nil {
			return nil, fmt.Errorf("metadata of checkpoint %d: %w", id, err)
		}
		if got := crc32.Checksum(meta, castagnoli); got != sum {
			return nil, fmt.Errorf("metadata of checkpoint %d is damaged: checksum %08x, want %08x", id, got, sum)
		}
		all[id] = meta
	}
	return all, nil
}

// readMarks gives the checkpoints that are whole, with the checksum of their metadata.
func readMarks(db *badger.DB) (map[int64]uint32, error) {
	marks := map[int64]uint32{}
	txn := db.NewTransactionAt(math.MaxUint64, false)
	defer txn.Discard()
	it := txn.NewIterator(badger.IteratorOptions{Prefix: []byte("m")})
	defer it.Close()
	for it.Rewind(); it.Valid(); it.Next() {
		key := it.Item().Key()
		v, err := it.Item().ValueCopy(nil)
		if err != nil {
			return nil, err
		}
		if len(key) != 9 || len(v) != 4 {
			return nil, errors.New("a checkpoint's mark is damaged")
		}
		marks[int64(binary.BigEndian.Uint64(key[1:]))] = binary.LittleEndian.Uint32(v)
	}
	return marks, nil
}

func (k *badgerKV) close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.db == nil {
		return nil
	}
	for _, b := range k.batches {
		b.Cancel()
	}
	err := errors.Join(k.values.close(), k.db.Close())
	k.db = nil
	return err
}
