package state

import (
	"cmp"
	"slices"
)

// Leaving is a row that is about to leave an ordered log, with its time in ms.
type Leaving struct {
	Time int64
	Row  Row
}

// Clean drops what is at or below the time bound as far as that is cheap: whole chunks, and chunks of which little is
// left above. Rows that it leaves behind are still found: probes test the time themselves. Rows of an ordered log go by
// Leave instead.
func (l *Log) Clean(bound int64) {
	if bound < l.next {
		return
	}
	next := int64(noTime)
	for i, c := range l.dir {
		if c == nil {
			continue
		}
		switch {
		case c.max <= bound:
			l.drop(i)
			continue
		case c != l.last && c.min <= bound && c.worthThinning(bound):
			l.thin(c, func(rec []uint64) bool { return c.form.timeOf(rec) > bound && rec[rowHead]&deadFlag == 0 })
			if c = l.dir[i]; c == nil {
				continue
			}
		}
		next = min(next, c.max)
		if c != l.last {
			if c.known {
				next = min(next, c.look)
			} else {
				next = min(next, c.min)
			}
		}
	}
	l.next = next
	l.trim()
}

// worthThinning reports whether few rows lie far above the rest, and the rest is at or below the bound: such a chunk
// would wait long for its end. (One row dated 2099 must not pin 4095.)
func (c *chunk) worthThinning(bound int64) bool {
	if !c.known {
		c.known, c.look = true, noTime
		if q := c.quantile(); c.max-q > 2*(q-c.min)+1 {
			c.look = q
		}
	}
	return bound >= c.look
}

// quantile gives the time that about seven of eight rows do not exceed, from a sample.
func (c *chunk) quantile() int64 {
	var times [64]int64
	n := min(c.n, len(times))
	for i := range n {
		times[i] = c.form.timeOf(c.nth(i * c.n / n))
	}
	slices.Sort(times[:n])
	return times[(n*7-1)/8]
}

// Next is the least bound for which Clean or Leave may have something to do, the greatest int64 if there is none.
func (l *Log) Next() int64 { return l.next }

// drop gives up the chunk at dir[i] with all its rows.
func (l *Log) drop(i int) {
	c := l.dir[i]
	front := true
	for j := 0; j < i && front; j++ {
		front = l.dir[j] == nil
	}
	for j := range c.n {
		rec := c.nth(j)
		if l.snap.draining {
			l.early(c.name(j), c, rec)
		}
		if rec[rowHead]&deadFlag != 0 {
			continue
		}
		l.rows--
		switch {
		case !front:
			l.unchain(c.name(j), c, rec)
		case uint32(rec[rowLinks]) == 0 && !l.spec.Unkeyed: // with nothing older left, the key has no row
			l.renew(c, rec, j, c.name(j), 0)
		}
	}
	l.replaced(c)
	l.dir[i] = nil
	if c == l.last {
		l.last = nil
	}
	if l.snap.held[c.number] != c {
		if len(l.free) == 4 {
			l.free = slices.Delete(l.free, 0, 1)
		}
		l.free = append(l.free, c.rows)
	}
}

// trim shortens the directory by the chunks that are gone at its front.
func (l *Log) trim() {
	n := 0
	for n < len(l.dir) && l.dir[n] == nil {
		n++
	}
	if n == 0 {
		return
	}
	l.base += uint64(n)
	l.dir = l.dir[n:]
	if cap(l.dir) > 4*len(l.dir)+64 {
		l.dir = slices.Clone(l.dir)
	}
}

// thin replaces a chunk by one with only those live rows that keep names; the others leave their chains.
func (l *Log) thin(c *chunk, keep func(rec []uint64) bool) {
	i := c.number - l.base
	n := &chunk{number: c.number, form: c.form, stride: c.stride, base: c.base, usual: c.packed / c.n}
	for j := range c.n {
		rec := c.nth(j)
		if l.snap.draining {
			l.early(c.name(j), c, rec)
		}
		if rec[rowHead]&deadFlag == 0 && !keep(rec) {
			l.rows--
			l.unchain(c.name(j), c, rec)
			rec[rowHead] |= goneFlag
		}
	}
	for j := range c.n {
		if c.nth(j)[rowHead]&(deadFlag|goneFlag) == 0 {
			n.expect++
		}
	}
	n.rows, n.groups = allocWords(n.expect * n.stride)[:0], make([]uint16, 0, n.expect)
	n.nums = make([]uint16, 0, n.expect)
	for j := range c.n { // all links are settled now
		if rec := c.nth(j); rec[rowHead]&(deadFlag|goneFlag) == 0 {
			l.copyRow(n, c, j)
		}
	}
	l.replaced(c)
	if c == l.last {
		l.last = nil
	}
	if n.n == 0 {
		l.dir[i] = nil
		return
	}
	n.unsorted = l.spec.Ordered
	l.dir[i] = n
}

// copyRow appends row j of c to n, links, flags and side words included.
func (l *Log) copyRow(n, c *chunk, j int) {
	rec := c.nth(j)
	n.nums = append(n.nums, uint16(c.name(j)-1)&(chunkRows-1))
	n.groups = append(n.groups, c.groups[j])
	at, f := len(n.rows), c.form
	n.rows = append(n.rows, rec...)
	to := n.rows[at : at+f.stride]
	was := c.packedRow(rec)
	size := f.end(was)
	p, place, _ := n.place(size+packedSlack, maxPages)
	n.took(copy(p, was[:size]))
	to[rowHead] = rec[rowHead]&^(1<<32-1<<placeShift) | place
	time := f.timeOf(rec)
	if n.n == 0 {
		n.min, n.max = time, time
	}
	n.min, n.max = min(n.min, time), max(n.max, time)
	if l.spec.Ordered {
		n.order = append(n.order, uint16(n.n))
	}
	n.n++
}

// Leave takes the rows of an ordered log out whose time is at or below the bound, in order of time, then of age. f sees
// each while it is still there.
func (l *Log) Leave(bound int64, f func(Row)) {
	l.LeaveTogether(bound, func(rows []Leaving) {
		for _, x := range rows {
			f(x.Row)
		}
	})
}

// LeaveTogether is Leave with all of the rows at once, which f may put into another order.
func (l *Log) LeaveTogether(bound int64, f func(rows []Leaving)) {
	if bound < l.next {
		return
	}
	l.leave = l.leave[:0]
	for _, c := range l.dir {
		if c == nil || c.min > bound {
			continue
		}
		c.sort()
		for ; c.left < len(c.order); c.left++ {
			i := int(c.order[c.left])
			rec := c.nth(i)
			if c.form.timeOf(rec) > bound {
				break
			}
			if rec[rowHead]&deadFlag == 0 {
				l.leave = append(l.leave, Leaving{c.form.timeOf(rec), c.name(i)})
			}
		}
	}
	slices.SortFunc(l.leave, func(a, b Leaving) int { return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(a.Row, b.Row)) })
	f(l.leave)
	for _, x := range l.leave {
		l.Delete(x.Row)
	}
	l.afterLeave(bound)
}

// afterLeave drops the chunks that are empty now and finds the next time at which a row leaves.
func (l *Log) afterLeave(bound int64) {
	l.next = noTime
	for i, c := range l.dir {
		if c == nil {
			continue
		}
		if c.n == c.dead {
			if c != l.last || c.max <= bound {
				l.drop(i)
				continue
			}
		}
		switch {
		case c.unsorted: // nothing of it was at or below the bound
			l.next = min(l.next, c.min)
		case c.left < len(c.order):
			c.min = c.form.timeOf(c.nth(int(c.order[c.left])))
			l.next = min(l.next, c.min)
		}
	}
	l.trim()
}
