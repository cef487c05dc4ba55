package op

import (
	"fmt"
	"strings"
	"testing"

	"runnel/types"
)

// bounded is a rig for operators of batch mode, which have no snapshots.
func (r rig) runBounded(t *testing.T, trace string) {
	t.Helper()
	steps := parseTrace(t, trace)
	t.Run("single", func(t *testing.T) { r.play(t, steps, func(int) int { return 0 }, 1) })
	t.Run("batched", func(t *testing.T) { r.playBatched(t, steps) })
}

func TestSort(t *testing.T) {
	f := fieldsOf("k string, v int, d double")
	rows := `
		+I b 1 0.5
		+I a NULL 1
		+I c 3 NaN
		+I NULL 3 -1
		+I e 1 0
		+I f 1 -0
		`
	for _, c := range []struct{ keys, want string }{
		{"v", `end
			+I a NULL 1
			+I b 1 0.5
			+I e 1 0
			+I f 1 -0
			+I c 3 NaN
			+I NULL 3 -1
			watermark max`},
		{"v desc nulls last, k", `end
			+I NULL 3 -1
			+I c 3 NaN
			+I b 1 0.5
			+I e 1 0
			+I f 1 -0
			+I a NULL 1
			watermark max`},
		{"d desc", `end
			+I c 3 NaN
			+I a NULL 1
			+I b 1 0.5
			+I e 1 0
			+I f 1 -0
			+I NULL 3 -1
			watermark max`},
	} {
		t.Run(c.keys, func(t *testing.T) {
			r := rig{make: func() Operator { return NewSort(f, keysOf(f, c.keys)) }, in: [][]types.Field{f}, out: f}
			r.runBounded(t, rows+c.want)
		})
	}
}

// keysOf reads "v desc nulls last, k".
func keysOf(fields []types.Field, spec string) []SortKey {
	var keys []SortKey
	for part := range strings.SplitSeq(spec, ",") {
		w := strings.Fields(part)
		k := SortKey{NullsLast: strings.Contains(part, "nulls last"), Desc: strings.Contains(part, "desc")}
		for i, f := range fields {
			if f.Name == w[0] {
				k.Column = i
			}
		}
		keys = append(keys, k)
	}
	return keys
}

func TestSortLimit(t *testing.T) {
	f := fieldsOf("k string, v int")
	var in strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&in, "+I r%d %d\n", i, i%7)
	}
	in.WriteString(`end
	+I r7 0
	+I r14 0
	+I r21 0
	watermark max`)
	r := rig{
		make: func() Operator { return NewSortLimit(f, keysOf(f, "v"), 1, 3) }, in: [][]types.Field{f}, out: f,
	}
	steps := parseTrace(t, in.String())
	r.play(t, steps, func(int) int { return 0 }, 1)
}

func TestSortLimitBeyondTheEnd(t *testing.T) {
	f := fieldsOf("v int")
	r := rig{make: func() Operator { return NewSortLimit(f, keysOf(f, "v"), 1, 10) }, in: [][]types.Field{f}, out: f}
	r.runBounded(t, `
		+I 2
		+I 1
		end
			+I 2
			watermark max`)
	r.make = func() Operator { return NewSortLimit(f, keysOf(f, "v"), 5, 10) }
	r.runBounded(t, `
		+I 2
		end
			watermark max`)
}

// The prefix of a row never contradicts its order.
func TestSortPrefix(t *testing.T) {
	f := fieldsOf("s string, i bigint, w wide, d double")
	b := types.NewBatch(f)
	r := random(88172645463325252)
	texts := []string{"", "\x00", "a", "ab", "abcdefgh", "abcdefghi", "abcdefg\xff", "é", "\xff\xff"}
	for range 300 {
		if r.next(5) == 0 {
			for _, c := range b.Cols {
				c.AppendNull()
			}
		} else {
			n := r.next(1<<31) * (r.next(3) - 1) << r.next(33)
			b.Cols[0].AppendStr(texts[r.next(len(texts))])
			b.Cols[1].AppendInt(n)
			b.Cols[2].AppendWide(types.Int128{Hi: n, Lo: uint64(r.next(10))})
			b.Cols[3].AppendFloat(float64(n))
		}
		b.Push(types.Insert)
	}
	for _, key := range []string{"s", "i", "w", "d"} {
		for _, form := range []string{"", " desc", " nulls last", " desc nulls last"} {
			o := ordering(keysOf(f, key+form))
			for i := range int32(b.Len) {
				for j := range int32(b.Len) {
					if o.prefix(b.Cols, i) < o.prefix(b.Cols, j) && o.compare(b.Cols, i, b.Cols, j) >= 0 {
						t.Fatalf("%s%s: the prefix of row %d is smaller than that of %d, the row is not", key, form, i, j)
					}
				}
			}
		}
	}
}
