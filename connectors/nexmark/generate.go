package nexmark

import (
	"runnel/types"
)

// generator makes a run of events of one split into columns.
type generator struct {
	*config
	*texts
	base  int64 // event time of event 0
	arena types.Arena

	// By row of the run: the number of the event, its round and its place in it, its time in milliseconds.
	events, rounds, places, times []int64
	rows                          [3][]int32 // the rows of each kind
	kinds                         []int64
	valid                         [3]types.Bitmap
}

func newGenerator(c *config, t *texts) *generator {
	g := &generator{config: c, texts: t}
	for _, s := range []*[]int64{&g.events, &g.rounds, &g.places, &g.times, &g.kinds} {
		*s = make([]int64, types.BatchRows)
	}
	return g
}

// begin lays out n events from first on, by of apart. base is the event time of event 0 in milliseconds.
func (g *generator) begin(first, of, base int64, n int) {
	g.base = base
	event, round, place := first, first/g.round, first%g.round
	rounds, places := of/g.round, of%g.round
	for i := range n {
		g.events[i], g.rounds[i], g.places[i] = event, round, place
		event += of
		round += rounds
		if place += places; place >= g.round {
			place -= g.round
			round++
		}
	}
	if delay := g.steps[0].delay; len(g.steps) == 1 {
		for i, e := range g.events[:n] {
			g.times[i] = base + int64(float64(e)*delay)/1000
		}
		return
	}
	for i, e := range g.events[:n] {
		g.times[i] = base + g.millis(e)
	}
}

// sort finds out the kinds of the first n events.
func (g *generator) sort(n int) {
	for k := range g.rows {
		g.rows[k] = g.rows[k][:0]
		g.valid[k] = g.valid[k][:0]
		for range (n + 63) / 64 {
			g.valid[k] = append(g.valid[k], 0)
		}
	}
	for i, place := range g.places[:n] {
		k := bid
		switch {
		case place < g.people:
			k = person
		case place < g.people+g.auctions:
			k = auction
		}
		g.kinds[i] = int64(k)
		g.rows[k] = append(g.rows[k], int32(i))
		g.valid[k].Set(int32(i))
	}
}

// lastPerson is the number of the last person up to the event of a row, from 0.
func (g *generator) lastPerson(r int32) int64 {
	return g.rounds[r]*g.people + min(g.places[r], g.people-1)
}

// lastAuction is the number of the last auction up to the event of a row, from 0; -1 before the first.
func (g *generator) lastAuction(r int32) int64 {
	place := g.places[r] - g.people
	switch {
	case place < 0:
		return g.rounds[r]*g.auctions - 1
	case place >= g.auctions:
		return g.rounds[r]*g.auctions + g.auctions - 1
	}
	return g.rounds[r]*g.auctions + place
}

// anyPerson picks one of the active persons, or one that comes soon.
func (g *generator) anyPerson(r int32, h uint64) int64 {
	people := g.lastPerson(r) + 1
	active := min(people, activePeople)
	return people - active + below(h, active+idLead)
}

// anyAuction picks one of the auctions in flight, or one that comes soon.
func (g *generator) anyAuction(r int32, h uint64) int64 {
	last := g.lastAuction(r)
	from := max(last-inFlight, 0)
	return from + below(h, last-from+1+idLead)
}

func (g *generator) time(c *types.Column, rows []int32) {
	for _, r := range rows {
		c.Int[r] = g.times[r] * 1000
	}
}

func (g *generator) bidAuction(c *types.Column, rows []int32) {
	for _, r := range rows {
		h := draw(g.events[r], forAuction)
		id := int64(0)
		if below(h, g.hotAuction) > 0 {
			id = g.lastAuction(r) / hotSpan * hotSpan
		} else {
			id = g.anyAuction(r, mix(h))
		}
		c.Int[r] = firstID + id
	}
}

func (g *generator) bidder(c *types.Column, rows []int32) {
	for _, r := range rows {
		h := draw(g.events[r], forBidder)
		id := int64(0)
		if below(h, g.hotBidder) > 0 {
			id = g.lastPerson(r)/hotSpan*hotSpan + 1
		} else {
			id = g.anyPerson(r, mix(h))
		}
		c.Int[r] = firstID + id
	}
}

func (g *generator) price(c *types.Column, rows []int32) {
	for _, r := range rows {
		c.Int[r] = g.texts.price(draw(g.events[r], forPrice))
	}
}

// channelOf picks a channel: half of the bids come by one of the hot ones.
func (g *generator) channelOf(r int32) (hot bool, at int64) {
	h := draw(g.events[r], forChannel)
	if h&1 != 0 {
		return true, int64(h >> 1 & 3)
	}
	return false, below(h, numChannels)
}

func (g *generator) channel(c *types.Column, rows []int32) {
	for _, r := range rows {
		if hot, at := g.channelOf(r); hot {
			c.Str[r] = g.hot[at]
		} else {
			c.Str[r] = g.channels[at]
		}
	}
}

func (g *generator) url(c *types.Column, rows []int32) {
	for _, r := range rows {
		if hot, at := g.channelOf(r); hot {
			c.Str[r] = g.hotURLs[at]
		} else {
			c.Str[r] = g.urls[at]
		}
	}
}

// extra fills an event of size bytes up to about its average size.
func (g *generator) extra(event, size, average int64) string {
	if size > average {
		return ""
	}
	want := average - size
	spread := (want + 2) / 5
	n := want - spread
	h := draw(event, forExtra)
	if spread > 0 {
		n += below(h, 2*spread)
	}
	return cut(g.letters, mix(h), n)
}

// cut takes n bytes out of a long text.
func cut(text string, h uint64, n int64) string {
	at := below(h, int64(len(text))-n)
	return text[at : at+n]
}

func (g *generator) bidExtra(c *types.Column, rows []int32) {
	for _, r := range rows {
		c.Str[r] = g.extra(g.events[r], 4*8, g.size[bid])
	}
}

func (g *generator) auctionID(c *types.Column, rows []int32) {
	for _, r := range rows {
		c.Int[r] = firstID + g.lastAuction(r)
	}
}

// wordsOf gives an event 3 to most-1 bytes of words.
func (g *generator) wordsOf(event int64, purpose uint64, most int64) string {
	h := draw(event, purpose)
	return cut(g.words, mix(h), 3+below(h, most-3))
}

const (
	nameBytes        = 20
	descriptionBytes = 100
)

func (g *generator) itemName(c *types.Column, rows []int32) {
	for _, r := range rows {
		c.Str[r] = g.wordsOf(g.events[r], forItemName, nameBytes)
	}
}

func (g *generator) description(c *types.Column, rows []int32) {
	for _, r := range rows {
		c.Str[r] = g.wordsOf(g.events[r], forDescription, descriptionBytes)
	}
}

func (g *generator) initialBid(c *types.Column, rows []int32) {
	g.price(c, rows)
}

func (g *generator) reserve(c *types.Column, rows []int32) {
	for _, r := range rows {
		e := g.events[r]
		c.Int[r] = g.texts.price(draw(e, forPrice)) + g.texts.price(draw(e, forReserve))
	}
}

// expires lets an auction live for up to twice the time in which as many auctions as are in flight come.
func (g *generator) expires(c *types.Column, rows []int32) {
	for _, r := range rows {
		e := g.events[r]
		horizon := g.base + g.millis(e+inFlight*g.round/g.auctions) - g.times[r]
		c.Int[r] = (g.times[r] + 1 + below(draw(e, forExpires), max(2*horizon, 1))) * 1000
	}
}

func (g *generator) seller(c *types.Column, rows []int32) {
	for _, r := range rows {
		h := draw(g.events[r], forSeller)
		id := int64(0)
		if below(h, g.hotSeller) > 0 {
			id = g.lastPerson(r) / hotSpan * hotSpan
		} else {
			id = g.anyPerson(r, mix(h))
		}
		c.Int[r] = firstID + id
	}
}

func (g *generator) category(c *types.Column, rows []int32) {
	for _, r := range rows {
		c.Int[r] = firstCategory + below(draw(g.events[r], forCategory), categories)
	}
}

func (g *generator) auctionExtra(c *types.Column, rows []int32) {
	for _, r := range rows {
		e := g.events[r]
		size := len(g.wordsOf(e, forItemName, nameBytes)) + len(g.wordsOf(e, forDescription, descriptionBytes))
		c.Str[r] = g.extra(e, int64(size)+6*8, g.size[auction])
	}
}

func (g *generator) personID(c *types.Column, rows []int32) {
	for _, r := range rows {
		c.Int[r] = firstID + g.lastPerson(r)
	}
}

func pick(list []string, event int64, purpose uint64) string {
	return list[below(draw(event, purpose), int64(len(list)))]
}

func (g *generator) personName(c *types.Column, rows []int32) {
	for _, r := range rows {
		c.Str[r] = pick(g.names, g.events[r], forPersonName)
	}
}

// emailParts gives the two parts of an address.
func (g *generator) emailParts(event int64) (user, host string) {
	h := draw(event, forEmail)
	h2 := mix(h)
	return cut(g.letters, h2, 3+below(h, 5)), cut(g.letters, mix(h2), 3+int64(h&1))
}

func (g *generator) email(c *types.Column, rows []int32) {
	for _, r := range rows {
		user, host := g.emailParts(g.events[r])
		b := append(g.arena.Buf(), user...)
		b = append(append(append(b, '@'), host...), ".com"...)
		c.Str[r] = g.arena.Take(b)
	}
}

const cardBytes = 19

func (g *generator) card(c *types.Column, rows []int32) {
	for _, r := range rows {
		h := draw(g.events[r], forCard)
		b := g.arena.Buf()
		for i := range cardBytes {
			if i%5 == 4 {
				b = append(b, ' ')
				continue
			}
			b = append(b, byte('0'+h%10))
			h /= 10
		}
		c.Str[r] = g.arena.Take(b)
	}
}

func (g *generator) city(c *types.Column, rows []int32) {
	for _, r := range rows {
		c.Str[r] = pick(usCities, g.events[r], forCity)
	}
}

func (g *generator) state(c *types.Column, rows []int32) {
	for _, r := range rows {
		c.Str[r] = pick(usStates, g.events[r], forState)
	}
}

func (g *generator) personExtra(c *types.Column, rows []int32) {
	for _, r := range rows {
		e := g.events[r]
		user, host := g.emailParts(e)
		size := 8 + len(pick(g.names, e, forPersonName)) + len(user) + 1 + len(host) + len(".com") + cardBytes + len(pick(usCities, e, forCity)) + 2
		c.Str[r] = g.extra(e, int64(size), g.size[person])
	}
}
