package state

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"runnel/types"
)

// model is what a table should hold: per key two words, a text, a list, a set with counts, a sorted set.
type model map[string]*entry

type entry struct {
	a, b   uint64
	text   string
	has    bool
	list   []string
	set    map[string]uint64
	setSeq []string
	sorted map[int64]string
}

func (m model) clone() model {
	c := model{}
	for k, e := range m {
		n := *e
		n.list, n.set, n.setSeq, n.sorted = slices.Clone(e.list), maps.Clone(e.set), slices.Clone(e.setSeq), maps.Clone(e.sorted)
		c[k] = &n
	}
	return c
}

var testValues = []Value{
	{}, {Kind: Bytes, Reuse: true}, {Kind: List}, {Kind: Set, Elem: Words(1)}, {}, {Kind: Sorted, Elem: []Value{{Kind: Bytes}}},
}

// show prints an entry of the model, showRecord one of the table; they must be equal.
func (e *entry) show() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %d %v %q %q", e.a, e.b, e.has, e.text, e.list)
	for _, k := range e.setSeq {
		fmt.Fprintf(&b, " %q:%d", k, e.set[k])
	}
	for _, k := range slices.Sorted(maps.Keys(e.sorted)) {
		fmt.Fprintf(&b, " %d=%q", k, e.sorted[k])
	}
	return b.String()
}

func showRecord(m *Map, r Ref) string {
	var b strings.Builder
	v := m.Get(r)
	text, has := m.Bytes(r, 1)
	var list []string
	l := m.Collection(2)
	for e := l.First(r); e != 0; e = l.Next(e) {
		s, _ := BytesOf(nil, l.Elem(e))
		list = append(list, string(s))
	}
	fmt.Fprintf(&b, "%d %d %v %q %q", v[0], v[4], has, text, list)
	s := m.Collection(3)
	for e := s.First(r); e != 0; e = s.Next(e) {
		k, _ := BytesOf(nil, s.Elem(e))
		fmt.Fprintf(&b, " %q:%d", k, s.Get(e)[0])
	}
	o := m.Collection(5)
	for e := o.First(r); e != 0; e = o.Next(e) {
		t, _ := o.Bytes(e, 0)
		fmt.Fprintf(&b, " %d=%q", IntOf(o.Elem(e)[0]), t)
	}
	return b.String()
}

func checkTable(t *testing.T, tab *Table, want model) {
	t.Helper()
	n := 0
	tab.Each(func(g int32, m *Map) {
		for r := m.First(); r != 0; r = m.Next(r) {
			k, _ := BytesOf(nil, m.Key(r))
			e := want[string(k)]
			if e == nil {
				t.Fatalf("key %q should not be there", k)
			}
			if got := showRecord(m, r); got != e.show() {
				t.Fatalf("key %q:\n got %s\nwant %s", k, got, e.show())
			}
			n++
		}
	})
	if n != len(want) || tab.Len() != n {
		t.Fatalf("%d records, Len %d, want %d", n, tab.Len(), len(want))
	}
	for k := range want {
		if kk := textKey(k); tab.groups[kk.Group-tab.first] == nil || tab.Of(kk.Group).Find(kk) == 0 {
			t.Fatalf("key %q is not found", k)
		}
	}
}

// step does one random operation on table and model.
func step(rnd *rand.Rand, tab *Table, want model, keys int) {
	name := fmt.Sprintf("key-%d", rnd.IntN(keys))
	k := textKey(name)
	m := tab.Of(k.Group)
	if rnd.IntN(12) == 0 {
		if r := m.Find(k); r != 0 {
			m.Delete(r)
		}
		delete(want, name)
		return
	}
	r, inserted := m.Upsert(k)
	e := want[name]
	if inserted != (e == nil) {
		panic("inserted")
	}
	if e == nil {
		e = &entry{set: map[string]uint64{}, sorted: map[int64]string{}}
		want[name] = e
	}
	switch rnd.IntN(10) {
	case 0, 1:
		v := m.Touch(r)
		v[0]++
		v[4] = rnd.Uint64()
		e.a, e.b = e.a+1, v[4]
	case 2:
		e.text, e.has = strings.Repeat("x", rnd.IntN(40))+name, true
		m.PutBytes(r, 1, e.text)
	case 3:
		e.text, e.has = "", false
		m.FreeBytes(r, 1)
	default:
		stepElement(rnd, m, r, e)
	}
}

// stepElement does one random operation on a collection.
func stepElement(rnd *rand.Rand, m *Map, r Ref, e *entry) {
	item := fmt.Sprint("item ", rnd.IntN(6))
	elem := AppendBytes(nil, item)
	switch rnd.IntN(6) {
	case 0, 1:
		m.Collection(2).Add(r, elem)
		e.list = append(e.list, item)
	case 2:
		l := m.Collection(2)
		i := slices.Index(e.list, item)
		x := l.Find(r, elem)
		if (x == 0) != (i < 0) {
			panic("find in list")
		}
		if x != 0 {
			l.Remove(r, x)
			e.list = slices.Delete(e.list, i, i+1)
		}
	case 3:
		s := m.Collection(3)
		x, fresh := s.Add(r, elem)
		if _, ok := e.set[item]; ok == fresh {
			panic("set")
		}
		if fresh {
			e.setSeq = append(e.setSeq, item)
		}
		s.Touch(x)[0]++
		e.set[item]++
		if rnd.IntN(3) == 0 {
			s.Remove(r, x)
			delete(e.set, item)
			i := slices.Index(e.setSeq, item)
			e.setSeq = slices.Delete(e.setSeq, i, i+1)
		}
	default:
		o := m.Collection(5)
		n := int64(rnd.IntN(20) - 10)
		if x := o.Seek(r, []uint64{OrderedInt(n)}); (x != 0 && IntOf(o.Elem(x)[0]) == n) != (o.Find(r, []uint64{OrderedInt(n)}) != 0) {
			panic("seek in a sorted set")
		}
		if rnd.IntN(3) == 0 {
			x := o.Find(r, []uint64{OrderedInt(n)})
			if x != 0 {
				o.Remove(r, x)
			}
			delete(e.sorted, n)
			return
		}
		x, _ := o.Add(r, []uint64{OrderedInt(n)})
		o.PutBytes(x, 0, item)
		e.sorted[n] = item
	}
}

// bothSets runs a test with sets of the usual form, and with those that give something up.
func bothSets(t *testing.T, test func(*testing.T, []Value)) {
	t.Run("usual", func(t *testing.T) { test(t, testValues) })
	plain := slices.Clone(testValues)
	plain[2].Short, plain[3].Loose, plain[5].Short = true, true, true
	t.Run("plain", func(t *testing.T) { test(t, plain) })
}

func TestTableAgainstMap(t *testing.T) { bothSets(t, tableAgainstMap) }

func tableAgainstMap(t *testing.T, values []Value) {
	rnd := newRand(t)
	k := NewKeyed(Config{Operator: "Test", Groups: all})
	tab, err := k.Table(Descriptor{Format: 1, Name: "t"}, TableSpec{Values: values})
	if err != nil {
		t.Fatal(err)
	}
	want := model{}
	for i := range rounds(60000) {
		step(rnd, tab, want, 300)
		if i%5000 == 0 {
			checkTable(t, tab, want)
		}
	}
	checkTable(t, tab, want)
}

// TestTableSnapshots takes checkpoints in the middle of random operations, aborts some, and restores each at other
// ranges of key groups.
func TestTableSnapshots(t *testing.T) { bothSets(t, tableSnapshots) }

func tableSnapshots(t *testing.T, values []Value) {
	rnd := newRand(t)
	var now int64
	k := NewKeyed(Config{Operator: "Test", Groups: all, Clock: func() int64 { return now }})
	tab, err := k.Table(Descriptor{Format: 1, Name: "t"}, TableSpec{Values: values})
	if err != nil {
		t.Fatal(err)
	}
	want, sink := model{}, newBlobs()
	var completed int64
	for id := int64(1); id <= int64(rounds(40)); id++ {
		for range rnd.IntN(1500) {
			step(rnd, tab, want, 400)
		}
		frozen := want.clone()
		save := rnd.IntN(5) == 0
		k.Freeze(Freeze{Checkpoint: id, Completed: completed, Savepoint: save})
		stop := rnd.IntN(4) == 0
		for done := false; !done; {
			if done, err = k.Drain(1+rnd.IntN(60), sink); err != nil {
				t.Fatal(err)
			}
			for range rnd.IntN(30) {
				step(rnd, tab, want, 400)
			}
			if stop && rnd.IntN(8) == 0 {
				break
			}
		}
		if stop {
			k.Abort()
			continue
		}
		handles := k.Snapshot()
		checkRestored(t, values, handles, sink, frozen)
		if !save && rnd.IntN(4) > 0 {
			completed = id
		}
	}
}

// checkRestored restores with 1, 2 and 3 subtasks, and once more from the snapshots of those.
func checkRestored(t *testing.T, values []Value, handles []StateHandle, from BlobReader, want model) {
	t.Helper()
	subs := []RestoredSubtask{{SubtaskState{Groups: all, States: handles}, from}}
	for _, p := range []int{2, 3, 1} {
		var next []RestoredSubtask
		seen := model{}
		for i := range p {
			g := RangeOf(i, p, testGroups)
			k := NewKeyed(Config{Operator: "Test", Groups: g, Restore: restoredFrom(subs...)})
			tab, err := k.Table(Descriptor{Format: 1, Name: "t"}, TableSpec{Values: values})
			if err != nil {
				t.Fatal(err)
			}
			part := model{}
			for key, e := range want {
				if g.Has(textKey(key).Group) {
					part[key] = e
					seen[key] = e
				}
			}
			checkTable(t, tab, part)
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

func TestTableTTL(t *testing.T) {
	var now int64
	clock := func() int64 { return now }
	k := NewKeyed(Config{Operator: "Test", Groups: all, Clock: clock})
	tab, err := k.Table(Descriptor{Format: 1, Name: "t"}, TableSpec{Values: Words(1), TTL: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	key := testKey(5)
	r, _ := tab.Of(key.Group).Upsert(key)
	tab.Of(key.Group).Touch(r)[0] = 7
	now = 9
	k.StartBatch()
	if r := tab.Of(key.Group).Find(key); r == 0 || tab.Of(key.Group).Get(r)[0] != 7 {
		t.Fatal("gone too early")
	}
	now = 10
	k.StartBatch()
	if tab.Of(key.Group).Find(key) != 0 {
		t.Fatal("still there")
	}
	if r, inserted := tab.Of(key.Group).Upsert(key); !inserted || tab.Of(key.Group).Get(r)[0] != 0 {
		t.Fatal("not made anew")
	}
	now = 15
	k.StartBatch()
	m := tab.Of(key.Group)
	m.Touch(m.Find(key))
	now = 24
	k.StartBatch()
	if m.Find(key) == 0 {
		t.Fatal("a write should renew the stamp")
	}
	now = 25
	k.StartBatch()
	tab.Sweep(1000)
	if tab.Len() != 0 {
		t.Fatal("sweep left it")
	}
}

// TestMarkElems compares a block of elements with one after the other.
func TestMarkElems(t *testing.T) {
	rnd := newRand(t)
	values := []Value{{}, {Kind: Set, Elem: Words(1), Loose: true}}
	staged, plain := NewMap(values), NewMap(values)
	var f Finder
	for range rounds(300) {
		n := 1 + rnd.IntN(300)
		var k types.Keys
		k.Off = append(k.Off, 0)
		maps, owners, which, marks := make([]*Map, n), make([]Ref, n), make([]int32, n), make([]uint64, n)
		for i := range n {
			maps[i], which[i], marks[i] = staged, int32(i), 1+rnd.Uint64N(7)
			owner := testKey(uint64(rnd.IntN(40)))
			owners[i], _ = staged.Upsert(owner)
			if r, _ := plain.Upsert(owner); r != owners[i] {
				t.Fatalf("owner %d, want %d", owners[i], r)
			}
			for range 1 + rnd.IntN(2) {
				k.Words = append(k.Words, uint64(rnd.IntN(200)))
			}
			k.Off = append(k.Off, uint32(len(k.Words)))
		}
		asked := slices.Clone(marks)
		f.MarkElems(1, maps, owners, &k, which, marks)
		c := plain.Collection(1)
		for i, m := range asked {
			e, _ := c.Add(owners[i], k.Words[k.Off[i]:k.Off[i+1]])
			had := c.Get(e)[0]
			if marks[i] != m&^had {
				t.Fatalf("%b was new, want %b", marks[i], m&^had)
			}
			c.Touch(e)[0] |= m
		}
		for e, x := plain.Collection(1).elems.First(), staged.Collection(1).elems.First(); e != x || e != 0; e, x = c.elems.Next(e), staged.Collection(1).elems.Next(x) {
			if e != x || c.Get(e)[0] != staged.Collection(1).Get(x)[0] {
				t.Fatalf("element %d, want %d", x, e)
			}
		}
	}
}

// TestRecordsOfAnyLength fills maps with keys from none to many chunks of words, walks through them and compacts them.
func TestRecordsOfAnyLength(t *testing.T) {
	rnd := newRand(t)
	for range rounds(40) {
		m := NewMap(Words(rnd.IntN(3)))
		type entry struct {
			key []uint64
			ref Ref
		}
		var all []entry
		longest := []int{3, 300, recChunk - 1, 3 * recChunk}[rnd.IntN(4)]
		check := func() {
			t.Helper()
			r, words := m.First(), 0
			for _, e := range all {
				if r == 0 || !slices.Equal(m.Key(r), e.key) {
					t.Fatalf("key of %d words: record %d is another", len(e.key), r)
				}
				if found := m.Find(testKey(e.key...)); found != r {
					t.Fatalf("found %d, want %d", found, r)
				}
				words += int(m.size(uint32(r) - 1))
				r = m.Next(r)
			}
			if r != 0 || m.Len() != len(all) {
				t.Fatalf("%d records, want %d", m.Len(), len(all))
			}
			if m.recs.words-m.dead != words {
				t.Fatalf("%d words in use, %d of them dead, want %d", m.recs.words, m.dead, words)
			}
		}
		for i := range 400 {
			key := make([]uint64, rnd.IntN(longest+1))
			for j := range key {
				key[j] = uint64(i)
			}
			r, inserted := m.Upsert(testKey(key...))
			if inserted {
				all = append(all, entry{key, r})
			}
			for _, w := range m.Touch(r) {
				if inserted && w != 0 {
					t.Fatal("a new record is not empty")
				}
			}
			for j := range m.Touch(r) {
				m.Touch(r)[j] = 1
			}
			if rnd.IntN(3) == 0 && len(all) > 0 {
				gone := rnd.IntN(len(all))
				m.Delete(m.Find(testKey(all[gone].key...)))
				all = slices.Delete(all, gone, gone+1)
			}
		}
		check()
		m.compact()
		check()
		m.Reset()
		all = nil
		for i := range uint64(2 * recChunk) {
			key := []uint64{i}
			r, _ := m.Upsert(testKey(key...))
			all = append(all, entry{key, r})
		}
		check()
	}
}
