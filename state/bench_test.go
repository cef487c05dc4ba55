package state

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"runnel/internal/cputime"
	"runnel/types"
)

// perItem reports the CPU time since start per item.
func perItem(b *testing.B, start time.Duration, items int) {
	b.ReportMetric(float64(cputime.Process()-start)/float64(items), "cpu-ns/item")
}

// benchKeys makes batches of random keys of one word.
func benchKeys(n, keys int) []types.Keys {
	rnd := rand.New(rand.NewPCG(1, 2))
	batches := make([]types.Keys, n)
	for i := range batches {
		k := &batches[i]
		k.Off = append(k.Off, 0)
		for range types.BatchRows {
			w := rnd.Uint64N(uint64(keys))
			k.Words = append(k.Words, w)
			k.Off = append(k.Off, uint32(len(k.Words)))
			k.Hash = append(k.Hash, types.HashWord(w))
		}
	}
	return batches
}

func benchTable(b *testing.B, values []Value) (*Keyed, *Table) {
	k := NewKeyed(Config{Operator: "Bench", Groups: all})
	t, err := k.Table(Descriptor{Name: "t"}, TableSpec{Values: values})
	if err != nil {
		b.Fatal(err)
	}
	return k, t
}

// update adds one to three words of every key's record, as COUNT, SUM and MAX would.
func update(t *Table, k *types.Keys, groups []int32) []int32 {
	groups = types.KeyGroups(groups[:0], k.Hash, testGroups)
	t.Stage(k.Hash, groups)
	for i, g := range groups {
		m := t.Of(g)
		r, _ := m.Upsert(Key{k.Words[i : i+1 : i+1], k.Hash[i], g})
		v := m.Touch(r)
		v[0]++
		v[1] += k.Words[i]
		v[2] = max(v[2], k.Hash[i])
	}
	return groups
}

func BenchmarkTableUpdate(b *testing.B) {
	for _, keys := range []int{1e3, 1e6} {
		b.Run(fmt.Sprint("keys=", keys), func(b *testing.B) {
			_, t := benchTable(b, Words(3))
			batches := benchKeys(2000, keys)
			var groups []int32
			for i := range batches {
				groups = update(t, &batches[i], groups)
			}
			b.ResetTimer()
			start := cputime.Process()
			for i := range b.N {
				groups = update(t, &batches[i%len(batches)], groups)
			}
			perItem(b, start, b.N*types.BatchRows)
		})
	}
}

func BenchmarkTableInsert(b *testing.B) {
	batches := benchKeys(1000, 1e9)
	b.ResetTimer()
	start := cputime.Process()
	for range b.N {
		_, t := benchTable(b, Words(3))
		var groups []int32
		for i := range batches {
			groups = update(t, &batches[i], groups)
		}
	}
	perItem(b, start, b.N*len(batches)*types.BatchRows)
}

// count is a sink that only counts.
type count struct{ bytes int }

func (c *count) Buffer(size int) []byte           { return make([]byte, 0, size) }
func (c *count) Put(_ BlobRef, data []byte) error { c.bytes += len(data); return nil }

// BenchmarkDrain takes a checkpoint of a million dirty keys while batches go on, and reports the longest pause.
func BenchmarkDrain(b *testing.B) {
	k, t := benchTable(b, Words(3))
	batches := benchKeys(2000, 1e6)
	var groups []int32
	for i := range batches {
		groups = update(t, &batches[i], groups)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var pause, spent time.Duration
	records := 0
	b.ResetTimer()
	for n := range b.N {
		var c count
		k.Freeze(Freeze{Checkpoint: int64(n + 1), Completed: int64(n)})
		records += t.Len()
		for done, i := false, 0; !done; i++ {
			from := cputime.Thread()
			var err error
			if done, err = k.Drain(2048, &c); err != nil {
				b.Fatal(err)
			}
			took := cputime.Thread() - from
			spent += took
			pause = max(pause, took)
			if took > time.Millisecond {
				b.Log(i, took, k.w.seq)
			}
			groups = update(t, &batches[i%len(batches)], groups)
		}
		for i := range batches {
			groups = update(t, &batches[i], groups)
		}
	}
	b.ReportMetric(float64(spent)/float64(records), "cpu-ns/item")
	b.ReportMetric(float64(pause.Microseconds())/1000, "longest-pause-ms")
}

func BenchmarkRestore(b *testing.B) {
	k, t := benchTable(b, Words(3))
	batches := benchKeys(2000, 1e6)
	var groups []int32
	for i := range batches {
		groups = update(t, &batches[i], groups)
	}
	sink := newBlobs()
	k.Freeze(Freeze{Checkpoint: 1})
	if _, err := k.Drain(1<<30, sink); err != nil {
		b.Fatal(err)
	}
	from := restoredFrom(RestoredSubtask{SubtaskState{Groups: all, States: k.Snapshot()}, sink})
	b.ResetTimer()
	start := cputime.Process()
	for range b.N {
		k := NewKeyed(Config{Groups: all, Restore: from})
		if _, err := k.Table(Descriptor{Name: "t"}, TableSpec{Values: Words(3)}); err != nil {
			b.Fatal(err)
		}
	}
	perItem(b, start, b.N*t.Len())
}

// BenchmarkStore writes checkpoints of 33 MB, all of it new, to Badger.
func BenchmarkStore(b *testing.B) {
	s, err := OpenBadgerStore(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	a, err := s.Attempt("job")
	if err != nil {
		b.Fatal(err)
	}
	const blobs, size = 132, 256 << 10
	b.SetBytes(blobs * size)
	start := cputime.Process()
	for id := int64(1); id <= int64(b.N); id++ {
		if err := a.Begin(id, id-1); err != nil {
			b.Fatal(err)
		}
		sink := a.Sink(id, "op", 0)
		var refs BlobRefs
		for i := range blobs {
			data := make([]byte, size)
			for j := 0; j < size; j += 64 {
				data[j] = byte(i * j)
			}
			refs = append(refs, BlobRef{Checkpoint: id, Seq: uint32(i)})
			if err := sink.Put(refs[i], data); err != nil {
				b.Fatal(err)
			}
		}
		if err := a.Complete(&Checkpoint{ID: id, Operators: []OperatorState{{ID: "op", Subtasks: []SubtaskState{{States: []StateHandle{{Blobs: refs}}}}}}}); err != nil {
			b.Fatal(err)
		}
		if id > 1 {
			if err := a.Drop(id - 1); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(cputime.Process()-start)/float64(b.N)/1e6, "cpu-ms/checkpoint")
	if err := a.Close(); err != nil {
		b.Fatal(err)
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkLog is one side of an interval join: every row probes the other side and is stored; rows leave after a
// minute.
func BenchmarkLog(b *testing.B) {
	for _, live := range []int{68_000, 650_000} {
		b.Run(fmt.Sprint("live=", live), func(b *testing.B) {
			k := NewKeyed(Config{Operator: "Bench", Groups: all})
			cols := []types.Type{types.Of(types.Int), types.Of(types.Int), types.Of(types.Int), types.TimestampOf(3)}
			var sides [2]*Log
			for i := range sides {
				var err error
				if sides[i], err = k.Log(Descriptor{Name: fmt.Sprint(i)}, LogSpec{Columns: cols, Span: 15_000}); err != nil {
					b.Fatal(err)
				}
			}
			batches := benchKeys(1000, live/2)
			out := make([]*types.Column, len(cols))
			in := make([]*types.Column, len(cols))
			for i, c := range cols {
				out[i], in[i] = types.NewColumn(c, types.BatchRows), types.NewColumn(c, types.BatchRows)
				in[i].Resize(types.BatchRows)
			}
			rate := float64(live) / 60_000 // rows per ms
			rows, matches := 0, 0
			var groups []int32
			run := func(n int) {
				for i := range n {
					own, other := sides[i&1], sides[1-i&1]
					keys := &batches[i%len(batches)]
					groups = types.KeyGroups(groups[:0], keys.Hash, testGroups)
					own.Stage(keys.Hash, groups)
					other.Stage(keys.Hash, groups)
					for j, g := range groups {
						rows++
						at := int64(float64(rows) / 2 / rate)
						key := Key{keys.Words[j : j+1 : j+1], keys.Hash[j], g}
						for r := other.Newest(key); r != 0; r = other.Prev(r) {
							if t := other.Time(r); t >= at-60_000 && t <= at+60_000 {
								other.Emit(r, out)
								matches++
							}
						}
						own.Append(key, at, in, int32(j))
						if out[0].Len() >= types.BatchRows {
							for _, c := range out {
								c.Reset()
							}
						}
					}
					own.Clean(int64(float64(rows)/2/rate) - 60_000)
				}
			}
			run(4 * live / types.BatchRows)
			rows0, matches0 := rows, matches
			b.ResetTimer()
			start := cputime.Process()
			run(b.N)
			perItem(b, start, rows-rows0)
			b.ReportMetric(float64(matches-matches0)/float64(rows-rows0), "matches/row")
			b.ReportMetric(float64(k.Size())/float64(sides[0].Len()+sides[1].Len()), "B/row")
		})
	}
}

// BenchmarkSlices is a tumbling count, sum and maximum over 10 s at 100,000 rows per second of event time.
func BenchmarkSlices(b *testing.B) {
	for _, keys := range []int{1e3, 1e5, 1e6} {
		b.Run(fmt.Sprint("keys=", keys), func(b *testing.B) {
			k := NewKeyed(Config{Operator: "Bench", Groups: all})
			s, err := k.Slices(Descriptor{Name: "s"}, SlicesSpec{Values: Words(3)})
			if err != nil {
				b.Fatal(err)
			}
			batches := benchKeys(2000, keys)
			var groups []int32
			rows, fired := 0, 0
			run := func(n int) {
				for i := range n {
					keys := &batches[i%len(batches)]
					groups = types.KeyGroups(groups[:0], keys.Hash, testGroups)
					for j, g := range groups {
						rows++
						at := int64(rows) / 100
						m := s.Open(at - at%10_000)
						r, _ := m.Upsert(Key{keys.Words[j : j+1 : j+1], keys.Hash[j], g})
						v := m.Touch(r)
						v[0]++
						v[1] += keys.Words[j]
						v[2] = max(v[2], keys.Hash[j])
					}
					for wm := int64(rows)/100 - 1000; len(s.Times()) > 0 && s.Times()[0]+10_000 <= wm; {
						m := s.Of(s.Times()[0])
						for r := m.First(); r != 0; r = m.Next(r) {
							fired += int(m.Get(r)[0])
						}
						s.Drop(s.Times()[0])
					}
				}
			}
			run(4000)
			b.ResetTimer()
			start := cputime.Process()
			run(b.N)
			perItem(b, start, b.N*types.BatchRows)
			if fired == 0 {
				b.Fatal("no window fired")
			}
		})
	}
}

// BenchmarkFirstWrites is what a batch costs whose records are the first to be written behind a barrier: the mean and the
// worst of the first 16, beside that of one in between checkpoints. Records own sets of one element.
func BenchmarkFirstWrites(b *testing.B) {
	k, t := benchTable(b, []Value{{}, {Kind: Set, Elem: Words(1)}})
	batches := benchKeys(2000, 1e6)
	var groups []int32
	run := func(keys *types.Keys) time.Duration {
		from := cputime.Thread()
		groups = types.KeyGroups(groups[:0], keys.Hash, testGroups)
		t.Stage(keys.Hash, groups)
		for i, g := range groups {
			m := t.Of(g)
			r, _ := m.Upsert(Key{keys.Words[i : i+1 : i+1], keys.Hash[i], g})
			m.Touch(r)[0]++
			set := m.Collection(1)
			e, _ := set.Add(r, keys.Words[i:i+1])
			set.Touch(e)[0]++
		}
		return cputime.Thread() - from
	}
	for i := range batches {
		run(&batches[i])
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var quiet, first, worst time.Duration
	b.ResetTimer()
	for n := range b.N {
		for i := range batches {
			quiet += run(&batches[i])
		}
		k.Freeze(Freeze{Checkpoint: int64(n + 1), Completed: int64(n)})
		for i := range 16 {
			d := run(&batches[(n*16+i)%len(batches)])
			first += d
			worst = max(worst, d)
		}
		if _, err := k.Drain(1<<40, &count{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(quiet)/float64(b.N*len(batches)*types.BatchRows), "quiet-ns/row")
	b.ReportMetric(float64(first)/float64(b.N*16*types.BatchRows), "first-ns/row")
	b.ReportMetric(float64(worst.Microseconds())/1000, "worst-ms")
}

// BenchmarkValues writes values of checkpoints: 128 MB in blobs, then a sync, like a checkpoint of much state.
func BenchmarkValues(b *testing.B) {
	const blobs = 512
	blob := make([]byte, BlobLimit)
	for i := range blob {
		blob[i] = byte(i * 7)
	}
	var cpu, wall time.Duration
	for range b.N {
		s := newSegments(b.TempDir())
		start, began := cputime.Process(), time.Now()
		for i := range blobs {
			if _, err := s.put(1, []byte{byte(i), byte(i >> 8)}, blob); err != nil {
				b.Fatal(err)
			}
		}
		if err := s.sync(); err != nil {
			b.Fatal(err)
		}
		cpu += cputime.Process() - start
		wall += time.Since(began)
		if err := s.close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(cpu)/float64(b.N*blobs*BlobLimit), "cpu-ns/byte")
	b.ReportMetric(float64(wall)/float64(b.N*blobs*BlobLimit), "wall-ns/byte")
}
