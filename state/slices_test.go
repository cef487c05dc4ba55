package state

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// slicesModel holds per slice a model of its records, and the order of their first rows.
type slicesModel map[int64]map[string]*sliceEntry

type sliceEntry struct {
	sum  uint64
	age  int
	list []string
}

func (m slicesModel) clone() slicesModel {
	c := slicesModel{}
	for t, s := range m {
		c[t] = map[string]*sliceEntry{}
		for k, e := range s {
			n := *e
			n.list = slices.Clone(e.list)
			c[t][k] = &n
		}
	}
	return c
}

var sliceValues = []Value{{}, {Kind: List}}

func slicesStep(rnd *rand.Rand, s *Slices, m slicesModel, at *int64, age *int) {
	*age++
	if rnd.IntN(40) == 0 { // fire and drop what is old
		*at += int64(rnd.IntN(4))
		for _, t := range slices.Clone(s.Times()) {
			if t < *at {
				s.Drop(t)
				delete(m, t)
			}
		}
	}
	t := *at + int64(rnd.IntN(12))
	if rnd.IntN(300) == 0 {
		t = *at - 3 // comes back after it was dropped
	}
	name := fmt.Sprintf("key-%d", rnd.IntN(30))
	k := textKey(name)
	sl := s.Open(t)
	if m[t] == nil {
		m[t] = map[string]*sliceEntry{}
	}
	if rnd.IntN(15) == 0 {
		if r := sl.Find(k); r != 0 {
			sl.Delete(r)
		}
		delete(m[t], name)
		return
	}
	r, inserted := sl.Upsert(k)
	e := m[t][name]
	if e == nil {
		e = &sliceEntry{age: *age}
		m[t][name] = e
	}
	if inserted {
		e.age = *age
	}
	sl.Touch(r)[0]++
	e.sum++
	if rnd.IntN(3) == 0 {
		item := fmt.Sprint(rnd.IntN(5))
		sl.Collection(1).Add(r, AppendBytes(nil, item))
		e.list = append(e.list, item)
	}
}

func checkSlices(t *testing.T, s *Slices, want slicesModel, keep Range) {
	t.Helper()
	for _, time := range slices.Sorted(maps.Keys(want)) {
		var names []string
		for k := range want[time] {
			if keep.Has(textKey(k).Group) {
				names = append(names, k)
			}
		}
		byAge := func(a, b string) int { return want[time][a].age - want[time][b].age }
		byGroup := func(a, b string) int { return int(textKey(a).Group - textKey(b).Group) }
		slices.SortFunc(names, byAge)
		slices.SortStableFunc(names, byGroup)
		var lines []string
		for _, k := range names {
			e := want[time][k]
			lines = append(lines, fmt.Sprintf("%s %d %q", k, e.sum, e.list))
		}
		var got []string
		lineOf := map[string]string{}
		if sl := s.Of(time); sl != nil {
			for r := sl.First(); r != 0; r = sl.Next(r) {
				k, _ := BytesOf(nil, sl.Key(r))
				var list []string
				c := sl.Collection(1)
				for e := c.First(r); e != 0; e = c.Next(e) {
					x, _ := BytesOf(nil, c.Elem(e))
					list = append(list, string(x))
				}
				got = append(got, string(k))
				lineOf[string(k)] = fmt.Sprintf("%s %d %q", k, sl.Get(r)[0], list)
				if !slices.Contains(s.Times(), time) {
					t.Fatalf("slice %d is not among the open ones", time)
				}
			}
		}
		slices.SortStableFunc(got, byGroup) // the order says something within a key group only
		for i, k := range got {
			got[i] = lineOf[k]
		}
		if !slices.Equal(got, lines) {
			t.Fatalf("slice %d:\n got %s\nwant %s", time, strings.Join(got, "\n     "), strings.Join(lines, "\n     "))
		}
	}
	for _, time := range s.Times() {
		if want[time] == nil {
			t.Fatalf("slice %d should not be open", time)
		}
	}
	if !slices.IsSorted(s.Times()) {
		t.Fatal("times are not sorted")
	}
}

func TestSlicesSnapshots(t *testing.T) {
	rnd := newRand(t)
	k := NewKeyed(Config{Operator: "Test", Groups: all})
	s, err := k.Slices(Descriptor{Format: 1, Name: "s"}, SlicesSpec{Values: sliceValues})
	if err != nil {
		t.Fatal(err)
	}
	m, sink := slicesModel{}, newBlobs()
	var at, completed int64
	var age int
	for id := int64(1); id <= int64(rounds(80)); id++ {
		for range rnd.IntN(600) {
			slicesStep(rnd, s, m, &at, &age)
		}
		checkSlices(t, s, m, all)
		frozen := m.clone()
		save := rnd.IntN(5) == 0
		k.Freeze(Freeze{Checkpoint: id, Completed: completed, Savepoint: save})
		stop := rnd.IntN(4) == 0
		for done := false; !done; {
			if done, err = k.Drain(1+rnd.IntN(40), sink); err != nil {
				t.Fatal(err)
			}
			for range rnd.IntN(30) {
				slicesStep(rnd, s, m, &at, &age)
			}
			if stop && rnd.IntN(8) == 0 {
				break
			}
		}
		if stop {
			k.Abort()
			continue
		}
		checkSlicesRestored(t, k.Snapshot(), sink, frozen)
		if !save && rnd.IntN(4) > 0 {
			completed = id
		}
	}
}

func checkSlicesRestored(t *testing.T, handles []StateHandle, from BlobReader, want slicesModel) {
	t.Helper()
	subs := []RestoredSubtask{{SubtaskState{Groups: all, States: handles}, from}}
	for _, p := range []int{3, 2, 1} {
		var next []RestoredSubtask
		for i := range p {
			g := RangeOf(i, p, testGroups)
			k := NewKeyed(Config{Operator: "Test", Groups: g, Restore: restoredFrom(subs...)})
			s, err := k.Slices(Descriptor{Format: 1, Name: "s"}, SlicesSpec{Values: sliceValues})
			if err != nil {
				t.Fatal(err)
			}
			checkSlices(t, s, want, g)
			sink := newBlobs()
			k.Freeze(Freeze{Checkpoint: 1})
			if done, err := k.Drain(1<<30, sink); err != nil || !done {
				t.Fatal(done, err)
			}
			next = append(next, RestoredSubtask{SubtaskState{Subtask: i, Groups: g, States: k.Snapshot()}, sink})
		}
		subs = next
	}
}

// TestSlicesMemory: many open slices of one row are cheap.
func TestSlicesMemory(t *testing.T) {
	k := NewKeyed(Config{Operator: "Test", Groups: all})
	s, err := k.Slices(Descriptor{Format: 1, Name: "s"}, SlicesSpec{Values: Words(3)})
	if err != nil {
		t.Fatal(err)
	}
	const n = 100_000
	for i := range int64(n) {
		sl := s.Open(i * 10_000)
		r, _ := sl.Upsert(testKey(uint64(i)))
		sl.Touch(r)[0] = uint64(i)
	}
	if size := k.Size(); size > 64<<20 {
		t.Errorf("%d slices take %d bytes, %d each", n, size, size/n)
	}
	for i := range int64(n) {
		sl := s.Of(i * 10_000)
		if r := sl.Find(testKey(uint64(i))); r == 0 || sl.Get(r)[0] != uint64(i) {
			t.Fatal("slice", i)
		}
		s.Drop(i * 10_000)
	}
	if size := k.Size(); len(s.Times()) != 0 || size > 2<<20 {
		t.Errorf("%d bytes are held in the end", size)
	}
}

// A record whose key group belongs to another subtask would be lost at the next change of parallelism: it ends the
// checkpoint.
func TestForeignKeyGroup(t *testing.T) {
	k := NewKeyed(Config{Operator: "Op[1]", Groups: Range{0, 3}})
	s, err := k.Slices(Descriptor{Format: 1, Name: "s"}, SlicesSpec{Values: []Value{{}}})
	if err != nil {
		t.Fatal(err)
	}
	s.Open(1).Upsert(Key{Words: []uint64{7}, Hash: 7, Group: 4})
	k.Freeze(Freeze{Checkpoint: 1})
	if _, err := k.Drain(10, discard{}); err == nil || !strings.Contains(err.Error(), "key group 4, its subtask owns 0 to 3") {
		t.Error(err)
	}
}

type discard struct{}

func (discard) Buffer(size int) []byte    { return make([]byte, 0, size) }
func (discard) Put(BlobRef, []byte) error { return nil }
