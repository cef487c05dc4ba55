package state

// Sorted collections are treaps: search trees by the elements' words, heaps by their tags. The tag is a hash of the
// element, so the depth is logarithmic whatever the order of insertion (Seidel and Aragon, Randomized Search Trees,
// 1996). Neighbours are chained as well, so that walking needs no tree.

// prio decides who stands above whom.
func (c Collection) prio(e Ref) uint32 { return c.elems.tag(uint32(e) - 1) }

func (c Collection) less(a, b Ref) bool { return CompareWords(c.Elem(a), c.Elem(b)) < 0 }

// Seek gives the first element of a sorted set that is not below the given words, 0 if there is none.
func (c Collection) Seek(owner Ref, elem []uint64) Ref {
	if c.elems.lay.short {
		e := c.First(owner)
		for e != 0 && CompareWords(c.Elem(e), elem) < 0 {
			e = c.Next(e)
		}
		return e
	}
	at, best := high(c.ends(owner)[1]), Ref(0)
	for at != 0 {
		if CompareWords(c.Elem(at), elem) < 0 {
			at = low(c.links(at)[1])
		} else {
			best = at
			at = high(c.links(at)[1])
		}
	}
	return best
}

// behind walks through a short set from its end: to the element with the given words, 0 if there is none, and to the last
// one below them.
func (c Collection) behind(owner Ref, elem []uint64) (same, before Ref) {
	for e := c.Last(owner); e != 0; e = c.Prev(e) {
		switch order := CompareWords(c.Elem(e), elem); {
		case order == 0:
			return e, c.Prev(e)
		case order < 0:
			return 0, e
		}
	}
	return 0, 0
}

// plant puts e into the tree and gives the element just below it.
func (c Collection) plant(owner, e Ref) (before Ref) {
	root := high(c.ends(owner)[1])
	for at := root; at != 0; {
		if c.less(at, e) {
			before = at
			at = low(c.links(at)[1])
		} else {
			at = high(c.links(at)[1])
		}
	}
	// Go down to the first element that e stands above, and split what is below it around e.
	p := e
	link, right := c.ends(owner), false // where the subtree hangs: high half of link[1], or low half if right
	at := root
	for at != 0 && c.prio(at) >= c.prio(p) {
		link, right = c.links(at), c.less(at, e)
		if right {
			at = low(link[1])
		} else {
			at = high(link[1])
		}
	}
	l, r := c.split(at, e)
	c.links(e)[1] = pair(l, r)
	if right {
		setLow(&link[1], e)
	} else {
		setHigh(&link[1], e)
	}
	return before
}

// split cuts the tree below at into what is below e and what is above it.
func (c Collection) split(at, e Ref) (l, r Ref) {
	var lword, rword *uint64 // where the next left and right parts go
	for at != 0 {
		w := &c.links(at)[1]
		if c.less(at, e) {
			if lword == nil {
				l = at
			} else {
				setLow(lword, at)
			}
			lword, at = w, low(*w)
		} else {
			if rword == nil {
				r = at
			} else {
				setHigh(rword, at)
			}
			rword, at = w, high(*w)
		}
	}
	if lword != nil {
		setLow(lword, 0)
	}
	if rword != nil {
		setHigh(rword, 0)
	}
	return l, r
}

// uproot takes e out of the tree.
func (c Collection) uproot(owner, e Ref) {
	link, right := c.ends(owner), false
	for at := high(link[1]); at != e; {
		link, right = c.links(at), c.less(at, e)
		if right {
			at = low(link[1])
		} else {
			at = high(link[1])
		}
	}
	w := c.links(e)[1]
	l, r := high(w), low(w)
	for l != 0 || r != 0 { // merge the two parts from the top down
		up := l
		if l == 0 || r != 0 && c.prio(r) > c.prio(l) {
			up = r
		}
		if right {
			setLow(&link[1], up)
		} else {
			setHigh(&link[1], up)
		}
		link = c.links(up)
		if up == l {
			l, right = low(link[1]), true
		} else {
			r, right = high(link[1]), false
		}
	}
	if right {
		setLow(&link[1], 0)
	} else {
		setHigh(&link[1], 0)
	}
	c.links(e)[1] = 0
}
