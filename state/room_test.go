package state

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/dgraph-io/badger/v4"
)

// A disk that fills up refuses the next write before Badger touches it, and what was there stays whole.
func TestDiskFull(t *testing.T) {
	free := int64(1 << 30)
	dir := t.TempDir()
	kv := &badgerKV{path: dir, free: func(string) (int64, error) { return free, nil }, batches: map[int64]*badger.WriteBatch{}, values: newSegments(dir)}
	if err := kv.put(1, []byte("a"), []byte("one")); err != nil {
		t.Fatal(err)
	}
	if err := kv.commit(1, []byte("meta")); err != nil {
		t.Fatal(err)
	}
	free = spareSpace + 2
	err := kv.put(2, []byte("a"), []byte("two"))
	var full *ErrDiskFull
	if !errors.As(err, &full) || !strings.Contains(err.Error(), kv.path) {
		t.Fatalf("got %v", err)
	}
	if err := kv.commit(2, []byte("meta")); !errors.As(err, &full) {
		t.Fatalf("commit on a full disk: %v", err)
	}
	if v, err := kv.get([]byte("a")); err != nil || string(v) != "one" {
		t.Fatalf("%q, %v", v, err)
	}
	free++
	if err := kv.put(2, []byte("a"), []byte("two")); err != nil {
		t.Fatalf("with space again: %v", err)
	}
	if err := kv.commit(2, nil); err != nil {
		t.Fatal(err)
	}
	if err := kv.close(); err != nil {
		t.Fatal(err)
	}
}

// A database that is not there yet is not made on a full disk.
func TestDiskFullAtFirst(t *testing.T) {
	dir := t.TempDir()
	kv := &badgerKV{path: dir, free: func(string) (int64, error) { return 3 << 20, nil }, batches: map[int64]*badger.WriteBatch{}, values: newSegments(dir)}
	if err := kv.put(1, []byte("a"), nil); err == nil {
		t.Fatal("was made")
	}
	if files, err := os.ReadDir(kv.path); err != nil || len(files) != 0 {
		t.Fatalf("%v %v", files, err)
	}
	if free, err := freeSpace(kv.path); err != nil || free <= 0 {
		t.Fatalf("free space %d, %v", free, err)
	}
}
