package exec

import (
	"runnel/exec/op"
	"runnel/types"
)

// gate merges the channels of a task: it aligns barriers, combines watermarks and idleness per operator input, and
// chooses what comes next. All its methods are called by the task that owns it; senders only see the queue in.
//
// Elements are taken out of the queue as they come and kept per channel, at most as many batches as the channel has
// credits. So a channel that has delivered its barrier is simply not chosen until the others have delivered theirs.
type gate struct {
	in     chan element
	chans  []channel
	inputs []gateInput
	queued int // elements in the queues of channels
	turn   int // where the search for the next element starts among equals

	aligning *barrier // the barrier that some channels have delivered; nil when none
	arrived  int      // channels that have
	live     int      // channels that have not stopped
	spoil    bool     // overwrite batches before they are used again
}

// channel is the receiving end of one edge.
type channel struct {
	edge    *edge
	input   int
	queue   []element
	head    int
	wm      int64
	idle    bool
	ended   bool
	stopped bool
	blocked bool // has delivered the barrier that is being aligned
}

// gateInput is the state of one input of the head operator.
type gateInput struct {
	chans []int
	wm    int64 // the last watermark told
	idle  bool
	ended bool
}

// gateSink is what a gate tells about an input of the head operator.
type gateSink interface {
	process(input int, b *types.Batch) error
	watermark(input int, ms int64) error
	idle(input int, idle bool) error
	endInput(input int) error
}

func newGate(inputs int) *gate { return &gate{inputs: newInputs(inputs)} }

func newInputs(n int) []gateInput {
	in := make([]gateInput, n)
	for i := range in {
		in[i].wm = types.MinWatermark
	}
	return in
}

// connect adds a channel for an edge and gives its number. All channels are added before the job starts; then open makes
// the queue.
func (g *gate) connect(input int) int32 {
	n := len(g.chans)
	g.chans = append(g.chans, channel{input: input, wm: types.MinWatermark})
	g.inputs[input].chans = append(g.inputs[input].chans, n)
	g.live++
	return int32(n)
}

// attach tells the gate the edge of a channel, to give batches back.
func (g *gate) attach(ch int32, e *edge) { g.chans[ch].edge = e }

// makeQueue sizes the queue: every credit of every channel and some control elements.
func (g *gate) makeQueue() {
	n := len(g.chans)
	g.in = make(chan element, n*(edgeCredits(n)+4))
}

// next gives the next element to work on, false when there is none. It never waits.
func (g *gate) next() (element, bool) {
	if g.queued == 0 && len(g.inputs) == 1 && g.aligning == nil {
		select {
		case el := <-g.in:
			return el, true
		default:
			return element{}, false
		}
	}
	g.drain()
	return g.choose()
}

// drain moves what has arrived into the queues of the channels.
func (g *gate) drain() {
	for {
		select {
		case el := <-g.in:
			g.keep(el)
		default:
			return
		}
	}
}

// keep puts an element into its channel's queue. A watermark behind a watermark replaces it, so that the queue of a
// blocked channel stays bounded by its credits.
func (g *gate) keep(el element) {
	c := &g.chans[el.ch]
	if n := len(c.queue); el.kind == elemWatermark && n > c.head && c.queue[n-1].kind == elemWatermark {
		c.queue[n-1].n = el.n
		return
	}
	if c.head > 0 && c.head == len(c.queue) {
		c.queue, c.head = c.queue[:0], 0
	}
	c.queue = append(c.queue, el)
	g.queued++
}

// choose takes the head of the channel whose input has the lowest watermark, in turn among equals: so two inputs advance
// together in event time, and none is waited for while another has data.
func (g *gate) choose() (element, bool) {
	if g.queued == 0 {
		return element{}, false
	}
	best := -1
	n := len(g.chans)
	for k := range n {
		i := g.turn + k
		if i >= n {
			i -= n
		}
		c := &g.chans[i]
		if c.blocked || c.head == len(c.queue) {
			continue
		}
		if best < 0 || g.inputs[c.input].wm < g.inputs[g.chans[best].input].wm {
			best = i
		}
	}
	if best < 0 {
		return element{}, false
	}
	if g.turn = best + 1; g.turn == n {
		g.turn = 0
	}
	c := &g.chans[best]
	el := c.queue[c.head]
	c.queue[c.head] = element{}
	c.head++
	g.queued--
	return el, true
}

// deliver works on an element that is no barrier.
func (g *gate) deliver(el element, to gateSink) error {
	c := &g.chans[el.ch]
	switch el.kind {
	case elemBatch:
		g.combineMarks(c, el.batch)
		err := to.process(c.input, el.batch)
		if g.spoil {
			op.Spoil(el.batch)
		}
		el.batch.Reset()
		c.edge.free <- el.batch // never blocks: there are no more batches than room
		return err
	case elemWatermark:
		c.wm = max(c.wm, el.n)
	case elemIdle:
		c.idle = true
	case elemActive:
		c.idle = false
	case elemEnd:
		c.ended = true
	case elemStop:
		if c.stopped = true; !c.ended {
			c.ended = true // no last watermark: the job is stopped without drain
			c.idle = true
		}
		g.live--
		return nil
	}
	return g.tell(c.input, to)
}

// tell passes on what has changed for an input: its watermark, its idleness, its end.
func (g *gate) tell(input int, to gateSink) error {
	in := &g.inputs[input]
	if in.ended {
		return nil
	}
	low, top := types.MaxWatermark, types.MinWatermark
	active, ended := 0, 0
	for _, i := range in.chans {
		c := &g.chans[i]
		switch {
		case c.ended:
			ended++
		case c.idle:
			top = max(top, c.wm)
		default:
			active++
			low = min(low, c.wm)
		}
	}
	if ended == len(in.chans) {
		in.ended = true
		return to.endInput(input)
	}
	if active == 0 {
		// All idle: the greatest watermark counts, as nobody holds it back.
		low = top
	}
	if active > 0 && in.idle {
		in.idle = false
		if err := to.idle(input, false); err != nil {
			return err
		}
	}
	if low > in.wm {
		in.wm = low
		if err := to.watermark(input, low); err != nil {
			return err
		}
	}
	if active == 0 && !in.idle {
		in.idle = true
		return to.idle(input, true)
	}
	return nil
}

// combineMarks turns the marks of a channel into marks of the input: those that do not advance the lowest watermark of
// all channels go away.
func (g *gate) combineMarks(c *channel, b *types.Batch) {
	if len(b.Marks) == 0 {
		return
	}
	in := &g.inputs[c.input]
	others := types.MaxWatermark
	for _, i := range in.chans {
		o := &g.chans[i]
		if o != c && !o.idle && !o.ended {
			others = min(others, o.wm)
		}
	}
	kept := b.Marks[:0]
	for _, m := range b.Marks {
		c.wm = max(c.wm, m.Time)
		if low := min(c.wm, others); low > in.wm {
			in.wm = low
			kept = append(kept, types.Mark{Pos: m.Pos, Time: low})
		}
	}
	b.Marks = kept
}

// arrive notes that a channel has delivered a barrier and blocks it. It reports whether all live channels have: then the
// task snapshots, and calls release. An older barrier that is still being aligned was given up by the coordinator.
func (g *gate) arrive(el element) (aligned bool) {
	if g.aligning == nil || el.barrier.id > g.aligning.id {
		g.release()
		g.aligning = el.barrier
	} else if el.barrier.id < g.aligning.id {
		return false
	}
	g.chans[el.ch].blocked = true
	g.arrived++
	return g.arrived == g.live
}

// release lets all channels go on.
func (g *gate) release() {
	for i := range g.chans {
		g.chans[i].blocked = false
	}
	g.aligning, g.arrived = nil, 0
}
