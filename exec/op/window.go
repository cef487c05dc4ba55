package op

import "runnel/types"

// WindowKind is the kind of a window.
type WindowKind uint8

const (
	Tumble WindowKind = iota
	Hop
	Cumulate
	Session
)

// Window is a window specification. Durations are in milliseconds.
type Window struct {
	Kind    WindowKind
	Column  int   // the time column
	Size    int64 // the greatest size of CUMULATE, the gap of SESSION
	Slide   int64 // HOP; the step of CUMULATE
	Offset  int64
	Rowtime bool // else processing time
	Zoned   bool // the column is TIMESTAMP_LTZ: windows lie on the wall clock of the session's zone
}

// assign appends the windows that hold the wall-clock time ms as pairs of start and end, in Flink's order: of HOP the
// latest first, of CUMULATE the shortest first.
func (w *Window) assign(ms int64, dst []int64) []int64 {
	switch w.Kind {
	case Hop:
		for start := types.WindowStart(ms, w.Offset, w.Slide); start > ms-w.Size; start -= w.Slide {
			dst = append(dst, start, start+w.Size)
		}
	case Cumulate:
		start := types.WindowStart(ms, w.Offset, w.Size)
		for end := types.WindowStart(ms, w.Offset, w.Slide) + w.Slide; end <= start+w.Size; end += w.Slide {
			dst = append(dst, start, end)
		}
	default:
		start := types.WindowStart(ms, w.Offset, w.Size)
		dst = append(dst, start, start+w.Size)
	}
	return dst
}

// millis gives the time of row i in milliseconds, from a TIMESTAMP column of any precision.
func millis(c *types.Column, i int32) int64 {
	if c.Phys() == types.PhysWide {
		return floorDiv(c.Wide[i].Hi, 1000)
	}
	return floorDiv(c.Int[i], 1000)
}

// floorDiv divides rounding toward negative infinity; d is positive.
func floorDiv(v, d int64) int64 {
	q := v / d
	if v%d < 0 {
		q--
	}
	return q
}
