package state

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// onFileSystems runs a test on the file system of temporary files, on one in memory if there is one, and with memory that no
// disk takes directly.
func onFileSystems(t *testing.T, f func(t *testing.T, s *segments)) {
	t.Run("disk", func(t *testing.T) { f(t, newSegments(t.TempDir())) })
	t.Run("memory", func(t *testing.T) {
		dir, err := os.MkdirTemp("/dev/shm", "runnel-test-")
		if err != nil {
			t.Skip(err)
		}
		defer os.RemoveAll(dir)
		f(t, newSegments(dir))
	})
	t.Run("refused", func(t *testing.T) {
		s := newSegments(t.TempDir())
		s.out.buf = alignedBytes(directPiece + directBlock)[1 : 1 : directPiece+1]
		f(t, s)
		if s.out.direct {
			t.Log("the file system took a direct write from odd memory")
		}
	})
}

// oddBytes makes a value of a size around what the writer has limits at.
func oddBytes(rnd *rand.Rand) []byte {
	n := []int{0, 1, rnd.IntN(200), directBlock, rnd.IntN(3 * directBlock), BlobLimit, directPiece, directPiece + rnd.IntN(2*directPiece)}[rnd.IntN(8)]
	n = max(0, n+rnd.IntN(3)-1)
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rnd.Uint32() | 1) // never what a block is filled up with
	}
	return b
}

// readBack reads all values and compares them.
func readBack(t *testing.T, s *segments, want map[string][]byte, at map[string]extent) {
	t.Helper()
	for k, v := range want {
		if got, err := s.get(at[k]); err != nil || !bytes.Equal(got, v) {
			t.Fatalf("value %s of %d bytes at %v: %d bytes, %v", k, len(v), at[k], len(got), err)
		}
	}
}

// TestValues: what was put is read at once, behind any sync, and by a process that comes after.
func TestValues(t *testing.T) {
	onFileSystems(t, func(t *testing.T, s *segments) {
		rnd := newRand(t)
		want, at := map[string][]byte{}, map[string]extent{}
		for i := range 150 {
			k, v := fmt.Sprint(i), oddBytes(rnd)
			e, err := s.put(1, []byte(k), v)
			if err != nil {
				t.Fatal(err)
			}
			want[k], at[k] = v, e
			readBack(t, s, map[string][]byte{k: v}, at)
			if rnd.IntN(4) == 0 {
				if err := s.sync(); err != nil {
					t.Fatal(err)
				}
				readBack(t, newSegments(s.dir), map[string][]byte{k: v}, at)
			}
		}
		readBack(t, s, want, at)
		if s.last < 2 {
			t.Fatal("one file only")
		}
		for n, g := range s.files {
			if info, err := os.Stat(s.path(n)); err != nil || g != s.now && info.Size() != g.size {
				t.Errorf("file %d of %d bytes: %v %v", n, g.size, info.Size(), err)
			}
		}
		if err := s.close(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestValuesKilled: what was synced is whole whatever was written behind it since, a part of it over the same block.
func TestValuesKilled(t *testing.T) {
	onFileSystems(t, func(t *testing.T, s *segments) {
		rnd := newRand(t)
		want, at := map[string][]byte{}, map[string]extent{}
		for i := range 40 {
			k, v := fmt.Sprint(i), oddBytes(rnd)
			var err error
			if at[k], err = s.put(1, []byte(k), v); err != nil {
				t.Fatal(err)
			}
			want[k] = v
			if err := s.sync(); err != nil {
				t.Fatal(err)
			}
			if _, err := s.put(2, []byte("open"), oddBytes(rnd)); err != nil {
				t.Fatal(err)
			}
			if rnd.IntN(2) == 0 {
				if err := s.out.flush(); err != nil { // as when the buffer is full
					t.Fatal(err)
				}
			}
			readBack(t, newSegments(s.dir), map[string][]byte{k: v}, at) // the other one is as good as dead
		}
		readBack(t, newSegments(s.dir), want, at)
		if err := s.close(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestValuesAfterError: a write that fails takes nothing with it; what was put before is written with the next one.
func TestValuesAfterError(t *testing.T) {
	onFileSystems(t, func(t *testing.T, s *segments) {
		first, second := bytes.Repeat([]byte("first"), 1000), bytes.Repeat([]byte("2"), 3*directPiece)
		e1, err := s.put(1, []byte("1"), first)
		if err != nil {
			t.Fatal(err)
		}
		good := s.out.file
		if s.out.file, err = os.Open(s.path(1)); err != nil { // not for writing
			t.Fatal(err)
		}
		if _, err := s.put(1, []byte("2"), second); err == nil {
			t.Fatal("no error")
		}
		if err := s.sync(); err == nil {
			t.Fatal("no error of sync")
		}
		if err := s.out.file.Close(); err != nil {
			t.Fatal(err)
		}
		s.out.file = good
		e2, err := s.put(1, []byte("2"), second)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.sync(); err != nil {
			t.Fatal(err)
		}
		readBack(t, newSegments(s.dir), map[string][]byte{"1": first, "2": second}, map[string]extent{"1": e1, "2": e2})
		if g := s.files[1]; g.live != int64(len(first)+len(second)) {
			t.Errorf("%d bytes are live", g.live)
		}
		if err := s.close(); err != nil {
			t.Fatal(err)
		}
	})
}

// A file that cannot be made leaves the last one as it was.
func TestValuesWithoutNext(t *testing.T) {
	s := newSegments(filepath.Join(t.TempDir(), "missing"))
	for range 2 {
		if _, err := s.put(1, []byte("a"), []byte("a")); !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(s.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	big := make([]byte, segmentSize-1)
	e1, err := s.put(1, []byte("a"), big)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.path(2), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := s.put(1, []byte("b"), []byte("two")); !os.IsExist(err) {
			t.Fatal(err)
		}
	}
	e3, err := s.put(1, []byte("c"), []byte("c"))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.sync(); err != nil {
		t.Fatal(err)
	}
	readBack(t, newSegments(s.dir), map[string][]byte{"a": big, "c": []byte("c")}, map[string]extent{"a": e1, "c": e3})
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
}
