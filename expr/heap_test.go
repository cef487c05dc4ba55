package expr

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// memHeap is a Heap in ordinary memory that checks its use.
type memHeap struct {
	t      testing.TB
	blocks map[uint64][]byte
	next   uint64
}

func newHeap(t testing.TB) *memHeap { return &memHeap{t: t, blocks: map[uint64][]byte{}} }

func (h *memHeap) Alloc(n int) uint64 {
	if n < 1 || n > MaxBlock {
		h.t.Fatalf("block of %d bytes", n)
	}
	h.next++
	h.blocks[h.next] = make([]byte, n)
	return h.next
}

func (h *memHeap) Bytes(ref uint64, write bool) []byte {
	b, ok := h.blocks[ref]
	if !ok {
		h.t.Fatalf("block %d does not exist", ref)
	}
	if write {
		// A new slice each time: who keeps an old one writes into nothing.
		b = bytes.Clone(b)
		h.blocks[ref] = b
	}
	return b
}

func (h *memHeap) Free(ref uint64) {
	if _, ok := h.blocks[ref]; !ok {
		h.t.Fatalf("block %d freed twice", ref)
	}
	delete(h.blocks, ref)
}

func TestText(t *testing.T) {
	h := newHeap(t)
	ref := uint64(0)
	for _, n := range []int{0, 5, 3, 100, MaxBlock - textHeader, MaxBlock, 3*MaxBlock + 7, 1, 0} {
		s := strings.Repeat("x", n)
		if n > 0 {
			s = s[:n-1] + "y"
		}
		ref = setText(h, ref, s)
		if got := string(appendText(nil, h, ref)); got != s {
			t.Fatalf("text of %d bytes came back with %d", n, len(got))
		}
		for _, other := range []string{"", "x", s, s + "a", "z", s[:n/2]} {
			if got, want := compareText(h, ref, other), strings.Compare(s, other); got != want {
				t.Fatalf("compare %d with %d bytes: %d, want %d", n, len(other), got, want)
			}
		}
	}
	freeText(h, ref)
	if len(h.blocks) != 0 {
		t.Fatalf("%d blocks left", len(h.blocks))
	}
}

func TestLog(t *testing.T) {
	h := newHeap(t)
	acc := make([]uint64, logWords)
	var want []byte
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		s := strings.Repeat(string(rune('a'+r.IntN(26))), r.IntN(300))
		appendLog(acc, h, s)
		want = append(want, s...)
	}
	if got := appendText(nil, h, acc[0]); !bytes.Equal(got, want) || int(acc[2]) != len(want) {
		t.Fatalf("log of %d bytes came back with %d", len(want), len(got))
	}
	freeText(h, acc[0])
	if len(h.blocks) != 0 {
		t.Fatalf("%d blocks left", len(h.blocks))
	}
}

// TestBag compares a bag with a map under random additions and removals, long keys and negative counts included.
func TestBag(t *testing.T) {
	h := newHeap(t)
	r := rand.New(rand.NewPCG(3, 4))
	var root uint64
	want := map[string]int64{}
	for step := range 5000 {
		key := strings.Repeat(string(rune('a'+r.IntN(20))), 1+r.IntN(3))
		if r.IntN(10) == 0 {
			key = strings.Repeat(key, 600)
		}
		delta := int64(r.IntN(5) - 2)
		if delta == 0 {
			continue
		}
		want[key] += delta
		ref := bagAdd(h, &root, []byte(key), delta)
		if want[key] == 0 {
			delete(want, key)
		}
		if _, there := want[key]; there != (ref != 0) {
			t.Fatalf("step %d: node %d for a count of %d", step, ref, want[key])
		}
		if step%100 == 0 {
			checkBag(t, h, root, want)
		}
	}
	bagFree(h, root)
	if len(h.blocks) != 0 {
		t.Fatalf("%d blocks left", len(h.blocks))
	}
}

func checkBag(t *testing.T, h Heap, root uint64, want map[string]int64) {
	t.Helper()
	var keys, positive []string
	for k, n := range want {
		keys = append(keys, k)
		if n > 0 {
			positive = append(positive, k)
		}
	}
	slices.Sort(keys)
	slices.Sort(positive)
	var got []string
	if err := bagWalk(h, root, func(ref uint64) error {
		k := string(appendKey(nil, h, ref))
		if n := int64(child(h, ref, nodeCount)); n != want[k] {
			t.Fatalf("count of %.20s is %d, want %d", k, n, want[k])
		}
		got = append(got, k)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, keys) {
		t.Fatalf("keys %d, want %d", len(got), len(keys))
	}
	for side, i := range map[int]int{nodeLeft: 0, nodeRight: len(positive) - 1} {
		ref := bagEnd(h, root, side)
		if len(positive) == 0 {
			if ref != 0 {
				t.Fatal("an end of nothing")
			}
			continue
		}
		if k := string(appendKey(nil, h, ref)); k != positive[i] {
			t.Fatalf("end %d is %.20s, want %.20s", side, k, positive[i])
		}
	}
}
