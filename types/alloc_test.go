package types

import (
	"math/rand/v2"
	"testing"
)

// TestNoAllocations: what runs per row allocates nothing once its buffers have grown.
func TestNoAllocations(t *testing.T) {
	berlin := LegacyZone("Europe/Berlin")
	ts := append([]Type{}, scalarTypes...)
	in := randomBatch(rand.New(rand.NewPCG(1, 1)), 64, ts...)
	rows, keys := NewRowCodec(ts), NewKeyCodec(ts)
	cols := make([]int, len(ts))
	for i := range cols {
		cols[i] = i
	}
	pattern, err := ParseDatePattern("yyyy-MM-dd'T'HH:mm:ss.SSS")
	if err != nil {
		t.Fatal(err)
	}
	var buf []byte
	var k Keys
	var groups []int32
	for name, f := range map[string]func(){
		"text": func() {
			for _, c := range in.Cols {
				for i := range int32(in.Len) {
					buf = AppendCell(buf[:0], c, i, berlin)
					buf = AppendPrinted(buf[:0], c, i)
				}
			}
		},
		"row codec": func() { buf = rows.Append(buf[:0], in.Cols, 3) },
		"keys": func() {
			keys.Encode(in, cols, &k)
			groups = KeyGroups(groups[:0], k.Hash, 128)
		},
		"parsers": func() {
			for _, s := range []string{"12", "-1.5", "2024-02-29", "12:34:56.789", "2024-02-29 12:34:56.789", "true", "nonsense"} {
				for i := range ts {
					castText(ts[i], s)
				}
			}
		},
		"decimals": func() {
			a, b := Int128Of(12345678901234), Int128Of(-987654321)
			DecimalAdd(a, 4, b, 2, 4, 38)
			DecimalMul(a, b, 3, 38)
			DecimalDiv(a, 4, b, 2, 10, 38)
			DecimalMod(a, 4, b, 2)
			DecimalOfFloat(1234.5678, 18, 3)
			DecimalToFloat(a, 38, 5)
		},
		"times": func() {
			FromLocal(ToLocal(1_700_000_000_000_000, berlin), berlin)
			AddMonthsMicros(FloorMicros(Month, 1_700_000_000_000_000), 3)
			buf, _ = pattern.Append(buf[:0], 1_700_000_000_123_456, 0)
			pattern.Parse("2024-02-29T12:34:56.789")
		},
		"comparison": func() {
			for i, c := range in.Cols {
				CompareCells(c, 1, c, 2)
				EqualCells(c, 1, c, 2)
				d := c.At(3)
				HashDatum(&ts[i], &d)
			}
		},
	} {
		f()
		if n := testing.AllocsPerRun(20, f); n > 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
