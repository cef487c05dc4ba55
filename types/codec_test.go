package types

import (
	"bytes"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"runnel/internal/cputime"
)

func emptyLike(ts []Type) []*Column {
	cols := make([]*Column, len(ts))
	for i, t := range ts {
		cols[i] = NewColumn(t, 0)
	}
	return cols
}

// sameBits compares values bit by bit, so that NaN equals itself and -0.0 differs from 0.0.
func sameBits(a, b Datum) bool { return reflect.DeepEqual(a, b) }

func TestRowCodecRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	ts := allTypes()
	for _, share := range []bool{false, true} {
		in := randomBatch(r, 300, ts...)
		c := NewRowCodec(ts)
		c.Share = share
		var buf []byte
		for i := range int32(in.Len) {
			buf = c.Append(buf, in.Cols, i)
		}
		out := emptyLike(ts)
		rest := buf
		for len(rest) > 0 {
			var err error
			if rest, err = c.Decode(rest, out); err != nil {
				t.Fatal(err)
			}
		}
		for j, col := range out {
			for i := range int32(in.Len) {
				if !sameBits(in.Cols[j].At(i), col.At(i)) {
					t.Fatalf("share %v, %s, row %d: %+v became %+v", share, ts[j], i, in.Cols[j].At(i), col.At(i))
				}
			}
		}
	}
}

func TestRowCodecGolden(t *testing.T) {
	ts := []Type{Of(Int), String(), ArrayOf(Of(SmallInt)), TimestampOf(9)}
	cols := emptyLike(ts)
	cols[0].AppendInt(-2)
	cols[1].AppendStr("ab")
	cols[2].AppendAny(&List{Elems: []Datum{IntDatum(1), NullDatum()}})
	cols[3].AppendNull()
	got := NewRowCodec(ts).Append(nil, cols, 0)
	want := []byte{8, 0x01, 3, 2, 'a', 'b', 2, 2, 1, 0}
	if !bytes.Equal(got, want) {
		t.Errorf("version %d changed: % x, want % x", RowCodecVersion, got, want)
	}
}

// TestRowCodecDamage cuts and flips: decoding must give rows or an error and leave the columns even.
func TestRowCodecDamage(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	ts := allTypes()
	c := NewRowCodec(ts)
	in := randomBatch(r, 50, ts...)
	for i := range int32(in.Len) {
		whole := c.Append(nil, in.Cols, i)
		for range 100 {
			b := slices.Clone(whole)
			for range r.IntN(4) {
				b[r.IntN(len(b))] ^= 1 << r.IntN(8)
			}
			b = b[:r.IntN(len(b)+1)]
			out := emptyLike(ts)
			_, err := c.Decode(b, out)
			want := 1
			if err != nil {
				want = 0
			}
			for j, col := range out {
				if col.Len() != want {
					t.Fatalf("%s: %d rows after %v", ts[j], col.Len(), err)
				}
			}
		}
	}
}

func TestKeyCodecRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	var sets [][]Type
	for _, typ := range append(slices.Clone(scalarTypes), nestedTypes...) {
		sets = append(sets, []Type{typ}, []Type{typ.Required()}, []Type{String(), typ}, []Type{typ, Of(BigInt), typ.Required()})
	}
	for _, ts := range sets {
		in := randomBatch(r, 60, ts...)
		in.Sel = []int32{}
		for i := range int32(in.Len) {
			if i%3 != 0 {
				in.Sel = append(in.Sel, i)
			}
		}
		cols := []int{0, 1, 2}[:len(ts)]
		c := NewKeyCodec(ts)
		var k Keys
		c.Encode(in, cols, &k)
		c.Encode(in, cols, &k) // reused
		if k.Len() != len(in.Sel) {
			t.Fatalf("%v: %d keys", ts, k.Len())
		}
		out := emptyLike(ts)
		for n, i := range in.Sel {
			key := c.Append(nil, in.Cols, cols, i)
			if !slices.Equal(key, k.Key(n)) || k.Hash[n] != HashKey(key) || c.Width() > 0 && len(key) != c.Width() {
				t.Fatalf("%v: batch and row form differ: %x %x", ts, k.Key(n), key)
			}
			if err := c.Decode(key, out); err != nil {
				t.Fatal(err)
			}
			for j := range ts {
				again := c.Append(nil, out, cols, int32(n))
				if !slices.Equal(again, key) {
					t.Fatalf("%v: %+v became %+v", ts[j], in.Cols[j].At(i), out[j].At(int32(n)))
				}
				if ts[j].Phys() != PhysAny && !sameBits(in.Cols[j].At(i), out[j].At(int32(n))) {
					t.Fatalf("%v: %+v became %+v", ts[j], in.Cols[j].At(i), out[j].At(int32(n)))
				}
			}
			bad := slices.Clone(key)
			bad[r.IntN(len(bad))] ^= 1 << r.IntN(64)
			_ = c.Decode(bad[:r.IntN(len(bad)+1)], emptyLike(ts))
			if err := c.Decode(append(key, 0), out); err == nil {
				t.Fatalf("%v: a word too many went unseen", ts)
			}
		}
	}
}

// TestKeysWithoutNullability checks that both sides of a join agree, whatever they know about NULLs.
func TestKeysWithoutNullability(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for _, typ := range append(slices.Clone(scalarTypes), nestedTypes...) {
		in := randomBatch(r, 50, typ, Of(BigInt))
		a := NewKeyCodec([]Type{typ, Of(BigInt)})
		b := NewKeyCodec([]Type{typ.Required(), Of(BigInt).Required()})
		for i := range int32(in.Len) {
			if x, y := a.Append(nil, in.Cols, []int{0, 1}, i), b.Append(nil, in.Cols, []int{0, 1}, i); !slices.Equal(x, y) {
				t.Fatalf("%s: %x and %x", typ, x, y)
			}
		}
	}
}

// TestKeyEquality checks that words are equal just when the values are.
func TestKeyEquality(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for _, typ := range append(slices.Clone(scalarTypes), nestedTypes...) {
		ts := []Type{typ, typ}
		in := randomBatch(r, 200, ts...)
		a, b := NewKeyCodec(ts[:1]), NewKeyCodec(ts[1:])
		for i := range int32(in.Len) {
			same := slices.Equal(a.Append(nil, in.Cols, []int{0}, i), b.Append(nil, in.Cols, []int{1}, i))
			if want := sameBits(in.Cols[0].At(i), in.Cols[1].At(i)); same != want && typ.Kind != Map && typ.Kind != Multiset {
				t.Fatalf("%s: %+v and %+v: equal keys %v", typ, in.Cols[0].At(i), in.Cols[1].At(i), same)
			}
		}
	}
	m := MapOf(String(), Of(Int))
	cols := emptyLike([]Type{m})
	cols[0].AppendAny(&MapValue{Keys: []Datum{StrDatum("a"), NullDatum(), StrDatum("b")}, Vals: []Datum{IntDatum(1), IntDatum(2), NullDatum()}})
	cols[0].AppendAny(&MapValue{Keys: []Datum{StrDatum("b"), StrDatum("a"), NullDatum()}, Vals: []Datum{NullDatum(), IntDatum(1), IntDatum(2)}})
	cols[0].AppendAny(&MapValue{Keys: []Datum{StrDatum("b"), StrDatum("a"), NullDatum()}, Vals: []Datum{IntDatum(1), NullDatum(), IntDatum(2)}})
	c := NewKeyCodec([]Type{m})
	k0, k1, k2 := c.Append(nil, cols, []int{0}, 0), c.Append(nil, cols, []int{0}, 1), c.Append(nil, cols, []int{0}, 2)
	if !slices.Equal(k0, k1) || slices.Equal(k0, k2) {
		t.Errorf("maps: %x %x %x", k0, k1, k2)
	}
}

func TestKeyGolden(t *testing.T) {
	ts := []Type{Of(BigInt), String(), Of(Double).Required()}
	cols := emptyLike(ts)
	cols[0].AppendNull()
	cols[1].AppendStr("exactly8!")
	cols[2].AppendFloat(math.Copysign(0, -1))
	key := NewKeyCodec(ts).Append(nil, cols, []int{0, 1, 2}, 0)
	want := []uint64{0, 9, 0x38796c7463617865, '!', 1 << 63, 1}
	if !slices.Equal(key, want) {
		t.Errorf("version %d changed: %x, want %x", KeyCodecVersion, key, want)
	}
	for _, c := range []struct {
		key  []uint64
		hash uint64
	}{
		{nil, 0}, {[]uint64{0}, 0x113f103ac8420136}, {[]uint64{42}, 0x6f1597e76984ad2e}, {want, 0x783f791bb73d20e},
	} {
		if got := HashKey(c.key); got != c.hash {
			t.Errorf("the hash of %x is for ever %#x, got %#x", c.key, c.hash, got)
		}
	}
	if HashWord(42) != HashKey([]uint64{42}) {
		t.Error("HashWord differs from HashKey")
	}
}

// TestMurmur has Flink's values.
func TestMurmur(t *testing.T) {
	for _, c := range []struct{ in, hash, group int32 }{
		{0, 593689054, 94}, {1, 68075478, 86}, {2, 1085422463, 127}, {3, 847579505, 113}, {42, 1134849565, 29},
		{97, 1455541201, 81}, {1000, 3506311, 7}, {123456789, 1088346449, 81}, {-1, 1982413648, 80},
		{math.MinInt32, 1718298732, 108}, {math.MaxInt32, 1653689534, 62},
	} {
		if got := Murmur(c.in); got != c.hash || got%128 != c.group {
			t.Errorf("%d: %d in group %d, want %d in %d", c.in, got, got%128, c.hash, c.group)
		}
	}
	hashes := []uint64{0, 1, 1 << 40, ^uint64(0), 0xdeadbeef}
	for _, m := range []int{1, 100, 128, 32768} {
		for i, g := range KeyGroups(nil, hashes, m) {
			if int(g) != KeyGroup(hashes[i], m) || int(g) >= m {
				t.Errorf("group of %x at %d: %d", hashes[i], m, g)
			}
		}
	}
}

func TestKeyGroupRanges(t *testing.T) {
	for p, want := range map[int][]int{1: {127}, 2: {63, 127}, 3: {42, 85, 127}, 5: {25, 51, 76, 102, 127}, 7: nil, 12: {10, 21, 31, 42, 53, 63, 74, 85, 95, 106, 117, 127}} {
		next := 0
		for i := range p {
			first, last := KeyGroupRange(i, p, 128)
			if first != next || want != nil && last != want[i] {
				t.Errorf("parallelism %d, subtask %d: %d-%d", p, i, first, last)
			}
			for g := first; g <= last; g++ {
				if SubtaskOf(g, p, 128) != i {
					t.Errorf("parallelism %d: group %d is with %d, not %d", p, g, SubtaskOf(g, p, 128), i)
				}
			}
			next = last + 1
		}
		if next != 128 {
			t.Errorf("parallelism %d: groups end at %d", p, next)
		}
	}
	for p, want := range map[int]int{1: 128, 85: 128, 86: 256, 171: 256, 172: 512, 1000: 2048, 30000: 32768} {
		if got := DefaultMaxParallelism(p); got != want {
			t.Errorf("default for %d: %d, want %d", p, got, want)
		}
	}
}

// TestHashSpread: keys as they occur must fill tags, slots and key groups evenly.
func TestHashSpread(t *testing.T) {
	for name, key := range map[string]func(i int) uint64{
		"sequence": func(i int) uint64 { return uint64(i) },
		"minutes":  func(i int) uint64 { return uint64(i) * 60_000_000 },
		"doubles":  func(i int) uint64 { return math.Float64bits(float64(i)) },
		"high":     func(i int) uint64 { return uint64(i) << 40 },
	} {
		const n = 1 << 16
		low, high, groups := map[uint64]int{}, map[uint64]int{}, map[int]int{}
		for i := range n {
			h := HashWord(key(i))
			low[h&0xfff]++
			high[h>>52]++
			groups[KeyGroup(h, 128)]++
		}
		for what, buckets := range map[string]map[uint64]int{"low": low, "high": high} {
			for b, c := range buckets {
				if c > 5*n/4096 {
					t.Errorf("%s: %s bucket %d has %d of %d", name, what, b, c, n)
				}
			}
			if len(buckets) < 3900 {
				t.Errorf("%s: only %d of 4096 %s buckets", name, len(buckets), what)
			}
		}
		for g, c := range groups {
			if c < n/128/2 || c > n/128*2 {
				t.Errorf("%s: group %d has %d", name, g, c)
			}
		}
	}
}

func TestArena(t *testing.T) {
	var a Arena
	r := rand.New(rand.NewPCG(5, 5))
	var got []string
	var want [][]byte
	for range 5000 {
		b := make([]byte, r.IntN(90))
		if r.IntN(100) == 0 {
			b = make([]byte, r.IntN(9000))
		}
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		want = append(want, slices.Clone(b))
		if r.IntN(2) == 0 {
			got = append(got, a.Copy(b))
			clear(b)
		} else {
			got = append(got, a.Take(append(a.Buf(), b...)))
		}
	}
	for i := range got {
		if got[i] != string(want[i]) {
			t.Fatalf("text %d changed", i)
		}
	}
}

func BenchmarkRowCodecAppend(b *testing.B) {
	ts := []Type{Of(Int), String(), TimestampOf(3), Of(BigInt), String()}
	in := randomBatch(rand.New(rand.NewPCG(1, 2)), BatchRows, ts...)
	c := NewRowCodec(ts)
	var buf []byte
	b.ReportAllocs()
	cputime.PerOp(b, func() {
		for n := 0; b.Loop(); n++ {
			buf = c.Append(buf[:0], in.Cols, int32(n&1023))
		}
	})
}

func BenchmarkRowCodecDecode(b *testing.B) {
	ts := []Type{Of(Int), String(), TimestampOf(3), Of(BigInt), String()}
	in := randomBatch(rand.New(rand.NewPCG(1, 2)), BatchRows, ts...)
	c := NewRowCodec(ts)
	var buf []byte
	for i := range int32(BatchRows) {
		buf = c.Append(buf, in.Cols, i)
	}
	out := emptyLike(ts)
	rest := buf
	b.ReportAllocs()
	cputime.PerOp(b, func() {
		for b.Loop() {
			if len(rest) == 0 {
				rest = buf
				for _, col := range out {
					col.Reset()
				}
			}
			rest, _ = c.Decode(rest, out)
		}
	})
}

func benchmarkKeys(b *testing.B, ts ...Type) {
	in := randomBatch(rand.New(rand.NewPCG(1, 2)), BatchRows, ts...)
	c := NewKeyCodec(ts)
	cols := []int{0, 1, 2}[:len(ts)]
	var k Keys
	var groups []int32
	b.ReportAllocs()
	cputime.PerOp(b, func() {
		for b.Loop() {
			c.Encode(in, cols, &k)
			groups = KeyGroups(groups[:0], k.Hash, 128)
		}
	})
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/BatchRows, "ns/row")
}

func BenchmarkKeysInt(b *testing.B)       { benchmarkKeys(b, Of(Int)) }
func BenchmarkKeysBigInt(b *testing.B)    { benchmarkKeys(b, Of(BigInt)) }
func BenchmarkKeysString(b *testing.B)    { benchmarkKeys(b, String()) }
func BenchmarkKeysIntString(b *testing.B) { benchmarkKeys(b, Of(Int), String()) }
