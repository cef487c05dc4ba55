package op

import (
	"testing"

	"runnel/types"
)

func TestClockRestoreTakesTheSmallest(t *testing.T) {
	a, b := NewClock(2), NewClock(2)
	a.Watermark(0, 100)
	a.Watermark(1, 50)
	b.Watermark(0, 70)
	b.Watermark(1, 90)
	c := NewClock(2)
	if err := c.Restore([][]byte{a.Snapshot(), b.Snapshot()}); err != nil {
		t.Fatal(err)
	}
	if c.Now() != 50 || c.Input(0) != 70 || c.Input(1) != 50 {
		t.Errorf("restored %d, %d, %d", c.Now(), c.Input(0), c.Input(1))
	}
}

func TestClockRefusesForeignSnapshots(t *testing.T) {
	good := NewClock(2).Snapshot()
	for name, b := range map[string][]byte{
		"empty": {}, "other version": append([]byte{9}, good[1:]...), "cut": good[:len(good)-1],
		"other inputs": NewClock(3).Snapshot(),
	} {
		if err := NewClock(2).Restore([][]byte{b}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestClockNeverGoesBack(t *testing.T) {
	c := NewClock(2)
	c.Idle(1, true)
	c.Watermark(0, 100)
	if moved, _ := c.Idle(1, false); moved || c.Now() != 100 {
		t.Errorf("moved to %d", c.Now())
	}
	if c.Watermark(0, 200) || c.Watermark(1, 99) || c.Now() != 100 {
		t.Errorf("an input behind the clock moved it to %d", c.Now())
	}
	if !c.Watermark(1, types.MaxWatermark) || c.Now() != 200 {
		t.Errorf("now %d", c.Now())
	}
}
