package state

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"runnel/types"
)

// blobs is a sink and a reader in one: the blobs of one subtask.
type blobs struct {
	mu   sync.Mutex
	data map[BlobRef][]byte
}

func newBlobs() *blobs { return &blobs{data: map[BlobRef][]byte{}} }

func (b *blobs) Buffer(size int) []byte { return make([]byte, 0, size) }

func (b *blobs) Put(ref BlobRef, data []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, ok := b.data[ref]; ok {
		return fmt.Errorf("blob %v written twice", ref)
	}
	b.data[ref] = data
	return nil
}

func (b *blobs) Blob(ref BlobRef) ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if d, ok := b.data[ref]; ok {
		return d, nil
	}
	return nil, fmt.Errorf("no blob %v", ref)
}

const testGroups = 128

// testKey makes a key of the given words in the usual way.
func testKey(words ...uint64) Key {
	h := types.HashKey(words)
	return Key{words, h, int32(types.KeyGroup(h, testGroups))}
}

func textKey(s string) Key { return testKey(AppendBytes(nil, s)...) }

// all is the range of all key groups.
var all = Range{0, testGroups - 1}

// restoredFrom makes what a Keyed restores from out of snapshots.
func restoredFrom(subs ...RestoredSubtask) *Restored { return &Restored{Subtasks: subs} }

// rounds is n, or less in short runs (the race detector).
func rounds(n int) int {
	if testing.Short() {
		return max(2, n/6)
	}
	return n
}

func newRand(t *testing.T) *rand.Rand {
	seed := uint64(1)
	for _, c := range t.Name() {
		seed = seed*31 + uint64(c)
	}
	return rand.New(rand.NewPCG(seed, 7))
}
