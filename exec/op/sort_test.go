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
