package op

import (
	"encoding/binary"
	"errors"

	"runnel/types"
)

// Clock combines the watermarks of an operator's inputs into the operator's own: the smallest of the inputs that are not
// idle. It never goes back, so an input that wakes up behind it holds it where it is. When all inputs are idle it
// stands still, and AllIdle says so.
type Clock struct {
	inputs []inputClock
	now    int64
	idle   bool
}

type inputClock struct {
	at   int64
	idle bool
}

// NewClock makes a clock for n inputs, none of which has had a watermark.
func NewClock(n int) *Clock {
	c := &Clock{inputs: make([]inputClock, n), now: types.MinWatermark}
	for i := range c.inputs {
		c.inputs[i].at = types.MinWatermark
	}
	return c
}

// Now is the combined watermark in milliseconds, types.MinWatermark before there was one.
func (c *Clock) Now() int64 { return c.now }

// Input is the watermark of one input.
func (c *Clock) Input(i int) int64 { return c.inputs[i].at }

// AllIdle reports whether every input is idle.
func (c *Clock) AllIdle() bool { return c.idle }

// Watermark notes the watermark of an input and reports whether the combined one has moved.
func (c *Clock) Watermark(input int, ms int64) (moved bool) {
	in := &c.inputs[input]
	in.at = max(in.at, ms)
	return c.combine()
}

// Idle notes that an input is idle, or active again. It reports whether the combined watermark has moved (an idle input
// no longer holds it back) and whether AllIdle has changed.
func (c *Clock) Idle(input int, idle bool) (moved, changed bool) {
	was := c.idle
	c.inputs[input].idle = idle
	moved = c.combine()
	return moved, c.idle != was
}

func (c *Clock) combine() (moved bool) {
	low, idle := types.MaxWatermark, true
	for i := range c.inputs {
		if in := &c.inputs[i]; !in.idle {
			idle = false
			low = min(low, in.at)
		}
	}
	c.idle = idle && len(c.inputs) > 0
	if idle || low <= c.now {
		return false
	}
	c.now = low
	return true
}

const clockVersion = 1

// Snapshot encodes the watermarks: a version byte, the number of inputs, the combined watermark, one per input (varints).
// Idleness is not kept: who is idle after a restore says so again.
func (c *Clock) Snapshot() []byte {
	b := []byte{clockVersion}
	b = binary.AppendUvarint(b, uint64(len(c.inputs)))
	b = binary.AppendVarint(b, c.now)
	for i := range c.inputs {
		b = binary.AppendVarint(b, c.inputs[i].at)
	}
	return b
}

var errClockSnapshot = errors.New("snapshot of watermarks: unknown form")

// Restore takes the watermarks of all former subtasks; the smallest counts. With none the clock starts anew.
func (c *Clock) Restore(snapshots [][]byte) error {
	for k, b := range snapshots {
		if len(b) == 0 || b[0] != clockVersion {
			return errClockSnapshot
		}
		b = b[1:]
		n, w := binary.Uvarint(b)
		if w <= 0 || n != uint64(len(c.inputs)) {
			return errClockSnapshot
		}
		b = b[w:]
		for i := -1; i < len(c.inputs); i++ {
			v, w := binary.Varint(b)
			if w <= 0 {
				return errClockSnapshot
			}
			b = b[w:]
			at := &c.now
			if i >= 0 {
				at = &c.inputs[i].at
			}
			if k == 0 || v < *at {
				*at = v
			}
		}
	}
	return nil
}
