package exec

import (
	"sync"
	"time"

	"runnel/types"
)

// alignGroup lets the sources of a watermark alignment group know how far the slowest of them is
// (scan.watermark.alignment.*). It is shared by the source tasks of a job.
type alignGroup struct {
	mu    sync.Mutex
	marks map[*watermarks]int64
}

// report notes a member's lowest watermark, MaxWatermark when it has no active split, and gives the watermark that no
// split of the group may pass.
func (g *alignGroup) report(who *watermarks, ms int64, drift time.Duration) (limit int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.marks[who] = ms
	low := types.MaxWatermark
	for _, m := range g.marks {
		if m != types.MinWatermark { // who has seen no row yet holds nobody
			low = min(low, m)
		}
	}
	if low > types.MaxWatermark-drift.Milliseconds() {
		return types.MaxWatermark
	}
	return low + drift.Milliseconds()
}

func (g *alignGroup) leave(who *watermarks) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.marks, who)
}
