package state

import (
	"encoding/binary"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"runnel/types"
)

// sample makes a Keyed with states of every kind and some content, and drains it.
func sample(tb testing.TB, rnd *rand.Rand) ([]StateHandle, *blobs) {
	tb.Helper()
	k := NewKeyed(Config{Operator: "Sample", Groups: all, Clock: func() int64 { return 1000 }})
	s := registerSample(tb, k)
	m, rows, sl := model{}, &logModel{}, slicesModel{}
	var at int64
	var age int
	for i := range 300 {
		step(rnd, s.table, m, 60)
		logStep(rnd, s.log, rows, false)
		slicesStep(rnd, s.slices, sl, &at, &age)
		s.timers.Add(int64(rnd.IntN(1000)), testKey(uint64(i%20)))
		key := testKey(uint64(i % 17))
		r, _ := s.ttl.Of(key.Group).Upsert(key)
		s.ttl.Of(key.Group).Touch(r)[0]++
	}
	sink := newBlobs()
	k.Freeze(Freeze{Checkpoint: 1})
	if done, err := k.Drain(1<<30, sink); err != nil || !done {
		tb.Fatal(done, err)
	}
	for range 300 {
		step(rnd, s.table, m, 60)
		logStep(rnd, s.log, rows, false)
		slicesStep(rnd, s.slices, sl, &at, &age)
	}
	k.Freeze(Freeze{Checkpoint: 2, Completed: 1})
	if done, err := k.Drain(1<<30, sink); err != nil || !done {
		tb.Fatal(done, err)
	}
	return k.Snapshot(), sink
}

type sampleStates struct {
	table, ttl *Table
	log        *Log
	slices     *Slices
	timers     *Timers
	err        error
}

// registerSample registers the states of sample; errors are kept, as damaged input may cause them.
func registerSample(tb testing.TB, k *Keyed) sampleStates {
	tb.Helper()
	var s sampleStates
	keep := func(err error) {
		if s.err == nil {
			s.err = err
		}
	}
	var err error
	s.table, err = k.Table(Descriptor{Format: 1, Name: "table"}, TableSpec{Values: testValues})
	keep(err)
	s.ttl, err = k.Table(Descriptor{Format: 1, Name: "ttl"}, TableSpec{Values: Words(1), TTL: time.Hour})
	keep(err)
	s.log, err = k.Log(Descriptor{Format: 1, Name: "log"}, logSpecs()["plain"])
	keep(err)
	s.slices, err = k.Slices(Descriptor{Format: 1, Name: "slices"}, SlicesSpec{Values: sliceValues})
	keep(err)
	s.timers, err = k.Timers(Descriptor{Format: 1, Name: "timers"})
	keep(err)
	return s
}

// damaged gives other bytes for some blobs.
type damaged struct {
	*blobs
	change func(ref BlobRef, data []byte) []byte
}

func (d damaged) Blob(ref BlobRef) ([]byte, error) {
	data, err := d.blobs.Blob(ref)
	if err != nil {
		return nil, err
	}
	return d.change(ref, slices.Clone(data)), nil
}

// reseal gives a damaged blob a header that fits it, so that the damage gets past the checks.
func reseal(b []byte) []byte {
	if len(b) >= blobHeader {
		binary.LittleEndian.PutUint32(b[16:], uint32(len(b)-blobHeader))
		binary.LittleEndian.PutUint32(b[28:], blobSum(b))
	}
	return b
}

// TestDamagedBlobs: any change of a bit is noticed; and even damage with a checksum that fits gives an error or some
// state, but no panic.
func TestDamagedBlobs(t *testing.T) {
	rnd := newRand(t)
	handles, good := sample(t, rnd)
	restore := func(change func(BlobRef, []byte) []byte) error {
		from := restoredFrom(RestoredSubtask{SubtaskState{Groups: all, States: handles}, damaged{good, change}})
		k := NewKeyed(Config{Operator: "Sample", Groups: all, Restore: from})
		return registerSample(t, k).err
	}
	if err := restore(func(_ BlobRef, b []byte) []byte { return b }); err != nil {
		t.Fatal(err)
	}
	var refs BlobRefs
	for _, h := range handles {
		refs = append(refs, h.Blobs...)
	}
	for range rounds(200) {
		victim := refs[rnd.IntN(len(refs))]
		cut := rnd.IntN(3) == 0
		err := restore(func(ref BlobRef, b []byte) []byte {
			switch {
			case ref != victim:
			case cut:
				b = b[:rnd.IntN(len(b))]
			default:
				b[rnd.IntN(len(b))] ^= 1 << rnd.IntN(8)
			}
			return b
		})
		if err == nil {
			t.Fatalf("damage of %v was not noticed", victim)
		}
	}
	for range rounds(500) {
		victim := refs[rnd.IntN(len(refs))]
		_ = restore(func(ref BlobRef, b []byte) []byte {
			if ref != victim {
				return b
			}
			for n := 1 + rnd.IntN(4); n > 0 && len(b) > 0; n-- {
				switch rnd.IntN(4) {
				case 0:
					b = b[:rnd.IntN(len(b))]
				case 1:
					b[rnd.IntN(len(b))] = byte(rnd.Uint32())
				case 2:
					if at := blobHeader + 8*rnd.IntN(len(b)/8+1); at+8 <= len(b) {
						binary.LittleEndian.PutUint64(b[at:], rnd.Uint64()>>rnd.IntN(64))
					}
				default:
					b = append(b, b[rnd.IntN(len(b)):]...)
				}
			}
			return reseal(b)
		})
	}
}

func FuzzLoad(f *testing.F) {
	handles, good := sample(f, rand.New(rand.NewPCG(1, 1)))
	for i, h := range handles {
		for _, ref := range h.Blobs[:min(3, len(h.Blobs))] {
			b, _ := good.Blob(ref)
			f.Add(uint8(i), ref.Part, b[blobHeader:])
		}
	}
	f.Fuzz(func(t *testing.T, which, part uint8, payload []byte) {
		h := handles[int(which)%len(handles)]
		h.Blobs = BlobRefs{{Checkpoint: 1, Last: testGroups - 1}}
		b := make([]byte, blobHeader, blobHeader+len(payload))
		copy(b, blobMagic)
		binary.LittleEndian.PutUint16(b[4:], blobVersion)
		b[6] = part
		binary.LittleEndian.PutUint32(b[20:], nameSum(h.Descriptor.Name))
		from := restoredFrom(RestoredSubtask{SubtaskState{Groups: all, States: []StateHandle{h}},
			damaged{&blobs{data: map[BlobRef][]byte{h.Blobs[0]: reseal(append(b, payload...))}}, func(_ BlobRef, b []byte) []byte { return b }}})
		registerSample(t, NewKeyed(Config{Operator: "Sample", Groups: all, Restore: from}))
	})
}

func FuzzBlobRefs(f *testing.F) {
	f.Add([]byte(`"AAA"`))
	text, _ := json.Marshal(BlobRefs{{Checkpoint: 5, Seq: 1, First: 2, Last: 3, Part: 1, Bytes: 99}, {Checkpoint: 3}})
	f.Add(text)
	f.Fuzz(func(t *testing.T, text []byte) {
		var r BlobRefs
		if json.Unmarshal(text, &r) != nil {
			return
		}
		again, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var r2 BlobRefs
		if err := json.Unmarshal(again, &r2); err != nil || !slices.Equal(r, r2) {
			t.Fatal(r, r2, err)
		}
	})
}

// TestVersions: what a later program wrote is refused by number.
func TestVersions(t *testing.T) {
	handles, good := sample(t, newRand(t))
	from := restoredFrom(RestoredSubtask{SubtaskState{Groups: all, States: handles}, damaged{good, func(_ BlobRef, b []byte) []byte {
		b[4] = 7
		return reseal(b)
	}}})
	err := registerSample(t, NewKeyed(Config{Operator: "Sample", Groups: all, Restore: from})).err
	if err == nil || !strings.Contains(err.Error(), "version 7") || !strings.Contains(err.Error(), `state "table" of Sample`) {
		t.Fatal(err)
	}
	if _, err := parseCheckpoint([]byte(`{"version": 3}`)); err == nil || !strings.Contains(err.Error(), "version 3") {
		t.Fatal(err)
	}
}

func TestDescriptorDiff(t *testing.T) {
	d := Descriptor{Format: 1, Name: "acc", Kind: "table", Layout: "word",
		Key:    []KeyColumn{{"order_id", "db.orders.order_id", "INT"}},
		Values: []ValueInfo{{"SUM(amount)", "INT", 1}, {"COUNT(*)", "BIGINT", 1}}, Window: "TUMBLE(ts, 10000 ms)"}
	if s, want := d.String(), "table acc v1 key(order_id INT of db.orders.order_id) values(SUM(amount) INT v1, COUNT(*) BIGINT v1) window(TUMBLE(ts, 10000 ms)) layout(word)"; s != want {
		t.Errorf("%s\nwant %s", s, want)
	}
	change := func(f func(*Descriptor)) Descriptor {
		n := d
		n.Key, n.Values = slices.Clone(d.Key), slices.Clone(d.Values)
		f(&n)
		return n
	}
	for _, c := range []struct {
		now  Descriptor
		want string
	}{
		{d, ""},
		{change(func(d *Descriptor) { d.Key[0].Name = "id" }), ""}, // an alias
		{change(func(d *Descriptor) { d.Key[0] = KeyColumn{"user_id", "db.orders.user_id", "INT"} }),
			"key column 1 is user_id INT of db.orders.user_id, was order_id INT of db.orders.order_id"},
		{change(func(d *Descriptor) { d.Key = append(d.Key, KeyColumn{}) }), "key has 2 columns, had 1"},
		{change(func(d *Descriptor) { d.Values = d.Values[:1] }), "value COUNT(*) BIGINT v1 is gone"},
		{change(func(d *Descriptor) { d.Values = append(d.Values, ValueInfo{"MAX(x)", "INT", 1}) }), "value MAX(x) INT v1 is new"},
		{change(func(d *Descriptor) { d.Values[0].Codec = 2 }), "value 1 is SUM(amount) INT v2, was SUM(amount) INT v1"},
		{change(func(d *Descriptor) { d.Window = "" }), "window is none, was TUMBLE(ts, 10000 ms)"},
		{change(func(d *Descriptor) { d.Format, d.Zone = 2, "UTC" }), "format version is 2, was 1; zone is UTC, was none"},
		{change(func(d *Descriptor) { d.Layout = "word,word" }), "layout is word,word, was word"},
	} {
		if got := strings.Join(c.now.Diff(d), "; "); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

func TestDescriptorNullability(t *testing.T) {
	for _, c := range []struct {
		now, was string
		fits     bool
	}{
		{"INT", "INT NOT NULL", true},
		{"INT NOT NULL", "INT", false},
		{"INT", "BIGINT NOT NULL", false},
		{"", "INT NOT NULL", false},
		{"INT", "", false},
		{"ROW<`a` INT, `b` ARRAY<INT NOT NULL>>", "ROW<`a` INT NOT NULL, `b` ARRAY<INT NOT NULL>> NOT NULL", true},
		{"ROW<`a` INT, `b` ARRAY<INT NOT NULL>>", "ROW<`a` INT NOT NULL, `b` ARRAY<INT>>", false},
		{"ROW<`a` INT>", "ROW<`a NOT NULL` INT>", false},
	} {
		now := Descriptor{Key: []KeyColumn{{Name: "k", Type: c.now}}, Values: []ValueInfo{{"SUM(v)", c.now, 1}}}
		was := Descriptor{Key: []KeyColumn{{Name: "k", Type: c.was}}, Values: []ValueInfo{{"SUM(v)", c.was, 1}}}
		if diff := now.Diff(was); (len(diff) == 0) != c.fits || !c.fits && len(diff) != 2 {
			t.Errorf("%s from %s: %q", c.now, c.was, diff)
		}
	}
}

// TestDescriptorRefused: a restore against another descriptor is refused and says what differs.
func TestDescriptorRefused(t *testing.T) {
	handles, good := sample(t, newRand(t))
	from := restoredFrom(RestoredSubtask{SubtaskState{Groups: all, States: handles}, good})
	k := NewKeyed(Config{Operator: "Join", Groups: all, Restore: from})
	_, err := k.Table(Descriptor{Format: 1, Name: "table", Key: []KeyColumn{{Name: "a", Type: "INT"}}}, TableSpec{Values: testValues})
	if err == nil || err.Error() != `restoring state "table" of Join: what was saved does not fit: key has 1 columns, had 0` {
		t.Fatal(err)
	}
	if got := k.Unclaimed(); !slices.Equal(got, []string{"log", "slices", "timers", "ttl"}) {
		t.Fatal(got)
	}
	if _, err := k.Table(Descriptor{Format: 1, Name: "new"}, TableSpec{}); err != nil {
		t.Fatal("a state that was not saved starts empty:", err)
	}
	if _, err := k.Table(Descriptor{Format: 1, Name: "new"}, TableSpec{}); err == nil {
		t.Fatal("a name is registered twice")
	}
}

func TestOrderedWords(t *testing.T) {
	rnd := newRand(t)
	text := func() string {
		b := make([]byte, rnd.IntN(20))
		for i := range b {
			b[i] = byte(rnd.IntN(3)) * 127
		}
		return string(b)
	}
	for range 20000 {
		a, b := text(), text()
		wa, wb := AppendOrdered(nil, a), AppendOrdered(nil, b)
		if got, want := slices.Compare(wa, wb), strings.Compare(a, b); got != want {
			t.Fatalf("%q %q: %d, want %d", a, b, got, want)
		}
		if s, rest := OrderedBytes(nil, append(wa, 1, 2)); string(s) != a || len(rest) != 2 {
			t.Fatalf("%q comes back as %q", a, s)
		}
		if s, rest := BytesOf(nil, append(AppendBytes(nil, a), 9)); string(s) != a || len(rest) != 1 {
			t.Fatalf("%q comes back as %q", a, s)
		}
		x, y := int64(rnd.Uint64()), int64(rnd.Uint64())
		if (OrderedInt(x) < OrderedInt(y)) != (x < y) || IntOf(OrderedInt(x)) != x {
			t.Fatal(x, y)
		}
		f, g := rnd.NormFloat64(), rnd.NormFloat64()
		if (OrderedFloat(f) < OrderedFloat(g)) != (f < g) || FloatOf(OrderedFloat(f)) != f {
			t.Fatal(f, g)
		}
	}
}

func TestLongKeysAndGroups(t *testing.T) {
	k := NewKeyed(Config{Operator: "Test", Groups: all})
	tab, err := k.Table(Descriptor{Format: 1, Name: "t"}, TableSpec{Values: Words(1)})
	if err != nil {
		t.Fatal(err)
	}
	l, err := k.Log(Descriptor{Format: 1, Name: "l"}, LogSpec{Columns: logColumns[:2]})
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"", "a", strings.Repeat("x", 3000), strings.Repeat("y", 600_000), strings.Repeat("z", 254*8), strings.Repeat("z", 255*8)}
	for i, n := range names {
		key := textKey(n)
		r, _ := tab.Of(key.Group).Upsert(key)
		tab.Of(key.Group).Touch(r)[0] = uint64(i)
		row := logRow{id: int64(i), text: n}
		l.Append(key, 0, row.columns()[:2], 0)
	}
	one := NewMap([]Value{{Kind: Set}}) // all in one arena, short ones in between
	owner, _ := one.Upsert(testKey(1))
	for range 3 {
		for i, n := range names {
			one.Collection(0).Add(owner, AppendBytes(nil, n))
			one.Upsert(textKey(n))
			one.Collection(0).Add(owner, []uint64{uint64(i)})
		}
	}
	if one.Len() != len(names)+1 || one.Collection(0).Len(owner) != 2*len(names)-1 { // the empty text is the word 0
		t.Fatal(one.Len(), one.Collection(0).Len(owner))
	}
	sink := newBlobs()
	k.Freeze(Freeze{Checkpoint: 1})
	if _, err := k.Drain(1<<30, sink); err != nil {
		t.Fatal(err)
	}
	k2 := NewKeyed(Config{Operator: "Test", Groups: all, Restore: restoredFrom(RestoredSubtask{SubtaskState{Groups: all, States: k.Snapshot()}, sink})})
	if tab, err = k2.Table(Descriptor{Format: 1, Name: "t"}, TableSpec{Values: Words(1)}); err != nil {
		t.Fatal(err)
	}
	if l, err = k2.Log(Descriptor{Format: 1, Name: "l"}, LogSpec{Columns: logColumns[:2]}); err != nil {
		t.Fatal(err)
	}
	for i, n := range names {
		key := textKey(n)
		r := tab.Of(key.Group).Find(key)
		if r == 0 || tab.Of(key.Group).Get(r)[0] != uint64(i) {
			t.Fatalf("key of %d bytes", len(n))
		}
		row := l.Newest(key)
		if row == 0 {
			t.Fatalf("row with a key of %d bytes", len(n))
		}
		cols := []*types.Column{types.NewColumn(logColumns[0], 1), types.NewColumn(logColumns[1], 1)}
		l.Emit(row, cols)
		if cols[0].Int[0] != int64(i) || cols[1].At(0).S != n {
			t.Fatalf("row of %d bytes", len(n))
		}
	}
}
