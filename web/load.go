package web

import (
	"fmt"
	"math"

	"runnel/exec"
	"runnel/types"
)

// rgb is a colour.
type rgb [3]float64

// The colours of the page: a vertex is blue while it waits for rows, the redder the busier it is, and the darker the more it
// is held up by those behind it.
var (
	idleColour = rgb{93, 177, 255}
	busyColour = rgb{238, 100, 100}
	heldColour = rgb{0, 0, 0}
	restColour = rgb{216, 220, 226} // of what does not run
)

// mix gives the colour that lies between two, at the share part of the second.
func (c rgb) mix(other rgb, part float64) rgb {
	part = min(max(part, 0), 1)
	for i := range c {
		c[i] += (other[i] - c[i]) * part
	}
	return c
}

func (c rgb) String() string {
	return fmt.Sprintf("#%02x%02x%02x", int(math.Round(c[0])), int(math.Round(c[1])), int(math.Round(c[2])))
}

// ink is the colour of text on a colour.
func (c rgb) ink() string {
	if 0.299*c[0]+0.587*c[1]+0.114*c[2] < 130 {
		return "#ffffff"
	}
	return "#1f2430"
}

// load sums up how busy and how held up a vertex is, for the page: the greatest of its running subtasks counts. Without
// any there is nothing to tell.
func load(v *exec.VertexDetails) object {
	busy, held, in, out, low := -1.0, -1.0, 0.0, 0.0, types.MaxWatermark
	source := len(v.Inputs) == 0
	for _, t := range v.Subtasks {
		if t.State != exec.TaskRunning {
			continue
		}
		m := &t.Metrics
		busy, held = max(busy, m.BusyMS/1000), max(held, m.BackpressuredMS/1000)
		in, out = in+m.RecordsInRate, out+m.RecordsOutRate
		low = min(low, m.InputWatermark)
	}
	o := object{"busy": percent(busy), "backpressured": percent(held), "level": level(max(held, 0)), "records-in": in, "records-out": out, "source": source}
	if low != types.MinWatermark && low != types.MaxWatermark && !source {
		o["watermark"] = low
	}
	colour := restColour
	if busy >= 0 {
		colour = idleColour.mix(busyColour, busy).mix(heldColour, held)
	}
	o["colour"], o["ink"] = colour.String(), colour.ink()
	return o
}

// percent writes a share, N/A for one that is not known.
func percent(share float64) string {
	if share < 0 {
		return "N/A"
	}
	return fmt.Sprintf("%d%%", int(math.Round(min(share, 1)*100)))
}
