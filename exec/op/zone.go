package op

import (
	"time"

	"runnel/types"
)

// wall converts between epoch milliseconds and the wall clock of a zone, the latter as if it were UTC. Windows over
// TIMESTAMP_LTZ are laid on the wall clock. The zero value is UTC. It keeps the offset of the last instant, which holds
// for months.
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

// local gives the wall-clock time of an instant.
func (w *wall) local(ms int64) int64 {
	if w.loc == nil || ms >= w.from && ms < w.to {
		return ms + w.off
	}
	local := types.LocalMillis(ms, w.loc)
	w.off, w.from, w.to = local-ms, -1<<62, 1<<62
	from, to := time.UnixMilli(ms).In(w.loc).ZoneBounds()
	if !from.IsZero() {
		w.from = from.UnixMilli()
	}
	if !to.IsZero() {
		w.to = to.UnixMilli()
	}
	return local
}

// epoch gives the instant of a wall-clock time: in the repeated hour of autumn the earlier one, in the skipped hour of
// spring as much later as the clock jumps.
func (w *wall) epoch(local int64) int64 {
	if w.loc == nil {
		return local
	}
	return types.EpochMillis(local, w.loc)
}

// timer gives the instant at which a window whose last wall-clock millisecond is local may fire: in the repeated hour the
// later one, so that both hours fall into one window; in the skipped hour its end.
func (w *wall) timer(local int64) int64 {
	if w.loc == nil {
		return local
	}
	return types.TimerMillis(local, w.loc)
}
