package op

import (
	"time"

	"runnel/types"
)

// wall converts between epoch milliseconds and the wall clock of a zone, the latter as if it were UTC. Windows over
// TIMESTAMP_LTZ are laid on the wall clock. The zero value is UTC.
type wall struct {
	loc      *time.Location // nil: UTC
	from, to int64          // the instants for which off holds, in ms
	off      int64
}

const hour = int64(time.Hour / time.Millisecond)

func newWall(loc *time.Location) wall {
	if loc == nil || loc == time.UTC || loc.String() == "UTC" {
		return wall{}
	}
	return wall{loc: loc}
}

// offset is the zone's offset from UTC at an instant.
func (w *wall) offset(ms int64) int64 {
	if ms >= w.from && ms < w.to {
		return w.off
	}
	t := time.UnixMilli(ms).In(w.loc)
	_, sec := t.Zone()
	from, to := t.ZoneBounds()
	w.off, w.from, w.to = int64(sec)*1000, -1<<62, 1<<62
	if !from.IsZero() {
		w.from = from.UnixMilli()
	}
	if !to.IsZero() {
		w.to = to.UnixMilli()
	}
	return w.off
}

// local gives the wall-clock time of an instant.
func (w *wall) local(ms int64) int64 {
	if w.loc == nil {
		return ms
	}
	return ms + w.offset(ms)
}

// epoch gives the instant of a wall-clock time as Java does: in the repeated hour of autumn the earlier one, in the
// skipped hour of spring as much later as the clock jumps.
func (w *wall) epoch(local int64) int64 {
	if w.loc == nil || local == types.MaxWatermark {
		return local
	}
	// Offsets are between -15 and +15 hours, so these two instants enclose the wanted one.
	early, late := w.offset(local-15*hour), w.offset(local+15*hour)
	if at := local - early; early == late || w.offset(at) == early {
		return at
	}
	if at := local - late; w.offset(at) == late {
		return at
	}
	return local - early
}

// timer gives the instant at which a window whose last wall-clock millisecond is local may fire: in the repeated hour the
// later one, so that both hours fall into one window; in the skipped hour its beginning (the rule of Flink's windows).
func (w *wall) timer(local int64) int64 {
	if w.loc == nil || local == types.MaxWatermark {
		return local
	}
	first, next := w.epoch(local), w.epoch(local+hour)
	switch {
	case first == next:
		return first - first%hour
	case next-first > hour:
		return first + hour
	}
	return first
}
