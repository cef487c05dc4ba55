package types

import "testing"

// TestNoKeys encodes batches without rows.
func TestNoKeys(t *testing.T) {
	for _, ts := range [][]Type{{Of(Int)}, {Of(Int), Of(BigInt)}, {Of(Double), Of(Date), Of(Int)}, {String(), Of(Int)}} {
		var k Keys
		fields, cols := make([]Field, len(ts)), make([]int, len(ts))
		for i := range ts {
			fields[i].Type, cols[i] = ts[i], i
		}
		NewKeyCodec(ts).Encode(NewBatch(fields), cols, &k)
		if k.Len() != 0 || len(k.Off) != 1 {
			t.Errorf("%v: %d keys, %d offsets", ts, k.Len(), len(k.Off))
		}
	}
}
