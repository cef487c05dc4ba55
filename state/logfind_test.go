package state

import (
	"fmt"
	"slices"
	"testing"

	"runnel/types"
)

// TestLogAppendAll: blocks of rows leave the same as rows that come one by one, whatever keys they share, and Newests finds them.
func TestLogAppendAll(t *testing.T) {
	for _, c := range []struct {
		keys   int
		hashes uint64 // bits of the hashes that differ
	}{{5, ^uint64(0)}, {300, ^uint64(0)}, {100_000, ^uint64(0)}, {40, 7 << 40}, {40, 0}} {
		t.Run(fmt.Sprintf("%d %x", c.keys, c.hashes), func(t *testing.T) {
			rnd := newRand(t)
			k := NewKeyed(Config{Operator: "Test", Groups: all})
			var logs [2]*Log
			for i := range logs {
				var err error
				spec := LogSpec{Columns: logColumns[:2], Key: []int{0}}
				if logs[i], err = k.Log(Descriptor{Format: 1, Name: fmt.Sprint(i)}, spec); err != nil {
					t.Fatal(err)
				}
			}
			seen := map[uint64]Key{}
			for range rounds(300) {
				cols := []*types.Column{types.NewColumn(logColumns[0], 0), types.NewColumn(logColumns[1], 0)}
				var keys types.Keys
				var groups, live []int32
				n := rnd.IntN(FindRows + 1)
				skip, times := make([]bool, n), make([]int64, n)
				for i := range n {
					v := rnd.IntN(c.keys)
					key := testKey(uint64(v))
					keys.Words, keys.Off, keys.Hash = append(keys.Words, key.Words...), append(keys.Off, uint32(i)), append(keys.Hash, key.Hash&c.hashes)
					groups, live = append(groups, key.Group), append(live, int32(2*i+1))
					for range 2 { // only the second is live
						cols[0].AppendInt(int64(v))
						cols[1].AppendStr(fmt.Sprint("row ", rnd.IntN(1000)))
					}
					skip[i], times[i] = rnd.IntN(9) == 0, int64(rnd.IntN(1000))
				}
				keys.Off = append(keys.Off, uint32(n))
				from := rnd.IntN(n + 1)
				logs[0].AppendAll(&keys, groups, from, live[from:], times[from:], cols, skip[from:])
				for i := from; i < n; i++ {
					key := KeyAt(&keys, groups, i)
					seen[key.Words[0]] = Key{slices.Clone(key.Words), key.Hash, key.Group}
					if !skip[i] {
						logs[1].Append(key, times[i], cols, live[i])
					}
				}
				newest := make([]Row, n)
				logs[0].Newests(&keys, groups, 0, newest)
				for i, r := range newest {
					if want := logs[1].Newest(KeyAt(&keys, groups, i)); r != want {
						t.Fatalf("the newest row of key %d is %d, want %d", keys.Words[i], r, want)
					}
				}
			}
			for _, key := range seen {
				a, b := chainText(logs[0], key), chainText(logs[1], key)
				if !slices.Equal(a, b) {
					t.Fatalf("key %d:\n got %q\nwant %q", key.Words, a, b)
				}
			}
			if logs[0].Len() != logs[1].Len() {
				t.Fatalf("%d rows, want %d", logs[0].Len(), logs[1].Len())
			}
		})
	}
}

// chainText prints the rows of a key, newest first.
func chainText(l *Log, key Key) (rows []string) {
	for r := l.Newest(key); r != 0; r = l.Prev(r) {
		cols := []*types.Column{types.NewColumn(logColumns[0], 1), types.NewColumn(logColumns[1], 1)}
		l.Emit(r, cols)
		rows = append(rows, fmt.Sprint(r, l.Time(r), cols[0].Int[0], cols[1].Str[0]))
	}
	return rows
}
