package state

import (
	"fmt"
	"testing"

	"runnel/types"
)

// TestRowFormWidths: rows of any number of columns, with NULLs anywhere, come back as they were; where the nibbles of 16 words are
// full, those of the next begin.
func TestRowFormWidths(t *testing.T) {
	rnd := newRand(t)
	kinds := []types.Type{types.Of(types.BigInt), types.DecimalOf(30, 2), types.String(), types.Of(types.Double)}
	for width := 1; width < 70; width++ {
		spec := LogSpec{Key: []int{0}}
		for j := range width {
			typ := kinds[0]
			if j > 0 {
				typ = kinds[rnd.IntN(len(kinds))]
			}
			spec.Columns = append(spec.Columns, typ.Optional())
		}
		f := newRowForm(spec)
		in, out := make([]*types.Column, width), make([]*types.Column, width)
		for j, typ := range spec.Columns {
			in[j], out[j] = types.NewColumn(typ, 1), types.NewColumn(typ, 1)
			if rnd.IntN(4) == 0 {
				in[j].AppendNull()
				continue
			}
			v := int64(rnd.Uint64() >> rnd.IntN(64))
			switch in[j].Phys() {
			case types.PhysInt:
				in[j].AppendInt(v)
			case types.PhysWide:
				in[j].AppendWide(types.Int128{Hi: v, Lo: rnd.Uint64()})
			case types.PhysStr:
				in[j].AppendStr("text"[:rnd.IntN(5)])
			default:
				in[j].AppendFloat(float64(v))
			}
		}
		key, base := []uint64{7}, make([]int64, width)
		if rnd.IntN(2) == 0 && !in[0].Null(0) {
			key[0] = uint64(in[0].Int[0])
		}
		p := make([]byte, f.room(key, in, 0))
		for i := range p {
			p[i] = byte(rnd.Uint32())
		}
		size := f.pack(p, base, key, in, 0)
		if !f.sound(p, size) || f.end(p) != size || size+packedSlack > len(p) {
			t.Fatalf("%d columns: %d of %d bytes, ends at %d, sound: %v", width, size, len(p), f.end(p), f.sound(p, size))
		}
		if !f.sameKey(p, base, key) || f.sameKey(p, base, []uint64{key[0] + 1}) || f.keyOf(nil, p, base)[0] != key[0] {
			t.Fatalf("%d columns: the key is %d, want %d", width, f.keyOf(nil, p, base), key)
		}
		if f.emit(p, base, out); !f.equal(p, base, nil, in, 0) || !f.equal(p, base, nil, out, 0) {
			t.Fatalf("%d columns: the row is not itself", width)
		}
		for j := range width {
			if got, want := out[j].At(0), in[j].At(0); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("column %d of %d: %v, want %v", j, width, got, want)
			}
		}
	}
}
