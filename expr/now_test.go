package expr

import (
	"testing"
	"time"

	"runnel/types"
)

// TestClocks: in batch mode the functions of the current time give the start of the query, CURRENT_ROW_TIMESTAMP and the
// functions of streaming the clock.
func TestClocks(t *testing.T) {
	start := time.UnixMilli(1_718_000_000_000)
	now := start
	for _, batch := range []bool{false, true} {
		env := &Env{Zone: time.UTC, Now: func() time.Time { return now }, QueryStart: start, Batch: batch}
		for _, name := range []string{"CURRENT_TIMESTAMP", "NOW", "LOCALTIMESTAMP", "CURRENT_ROW_TIMESTAMP"} {
			eval, err := Compile(must(NewCall(name, nil, Pos{})), nil, env)
			if err != nil {
				t.Fatal(err)
			}
			for later := range 3 {
				now = start.Add(time.Duration(later) * time.Hour)
				want := now
				if batch && name != "CURRENT_ROW_TIMESTAMP" {
					want = start
				}
				col, err := eval(&types.Batch{Len: 2}, []int32{0, 1})
				if err != nil || col.Int[1] != want.UnixMicro() {
					t.Errorf("%s, batch %t, %d hours later: %d (%v), want %d", name, batch, later, col.Int[1], err, want.UnixMicro())
				}
			}
		}
	}
}
