package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// nexmarkCases are the queries of the benchmark.
var nexmarkCases = []nexmarkCase{
	{query: "q0", rate: 1000, rows: eachBid(func(b nexmarkBid) string { return cells(b.auction, b.bidder, b.price, shownTime(b.at), b.extra) })},
	{query: "q1", rate: 1000, rows: eachBid(func(b nexmarkBid) string {
		return cells(b.auction, b.bidder, euros(b.price), shownTime(b.at), b.extra)
	})},
	{query: "q2", rate: 1000, rows: eachBid(func(b nexmarkBid) string {
		if b.auction%123 != 0 {
			return ""
		}
		return cells(b.auction, b.price)
	})},
	{query: "q3", rate: 1000, rows: localItems},
	{query: "q4", rate: 1000, rows: categoryPrices},
	{query: "q5", rate: 1000, rows: hotItems},
	{query: "q6", rate: 1000, rows: sellerPrices},
	{query: "q7", rate: 1000, rows: highestBids},
	{query: "q8", rate: 1000, rows: newUsers},
	{query: "q9", rate: 1000, rows: winningBids},
	{query: "q10", rate: 10, rows: eachBid(func(b nexmarkBid) string {
		at := nexmarkTime(b.at, "2006-01-02 15:04:05.999") // csv leaves zeros at the end out
		return cells(b.auction, b.bidder, b.price, at, b.extra, nexmarkTime(b.at, "2006-01-02"), nexmarkTime(b.at, "15:04"))
	})},
	{query: "q11", rate: 300, rows: userSessions},
	{query: "q13", rate: 1000, rows: eachBid(func(b nexmarkBid) string {
		if b.auction%10000%3 == 0 {
			return ""
		}
		return cells(b.auction, b.bidder, b.price, shownTime(b.at), fmt.Sprint("side ", b.auction%10000))
	})},
	{query: "q14", rate: 1, rows: eachBid(calculation)},
	{query: "q15", rate: 1000, rows: statistics(func(b nexmarkBid) string { return nexmarkTime(b.at, "2006-01-02") }, false)},
	{query: "q16", rate: 100, rows: statistics(func(b nexmarkBid) string { return cells(b.channel, nexmarkTime(b.at, "2006-01-02")) }, true)},
	{query: "q17", rate: 1000, rows: auctionStatistics},
	{query: "q18", rate: 1000, rows: lastBids},
	{query: "q19", rate: 1000, rows: topBids, shape: rankedBid},
	{query: "q20", rate: 1000, rows: bidsWithAuctions},
	{query: "q21", rate: 1000, rows: eachBid(channelID)},
	{query: "q22", rate: 1000, rows: eachBid(func(b nexmarkBid) string {
		p := strings.Split(b.url, "/")
		return cells(b.auction, b.bidder, b.price, b.channel, p[3], p[4], p[5])
	})},
}

// eachBid gives the rows of a query that looks at one bid at a time; "" is no row.
func eachBid(row func(nexmarkBid) string) func(*nexmarkEvents) []string {
	return func(e *nexmarkEvents) []string {
		var rows []string
		for _, b := range e.bids {
			if r := row(b); r != "" {
				rows = append(rows, r)
			}
		}
		return rows
	}
}

// euros is 0.908 times a price.
func euros(price int64) string { return fmt.Sprintf("%d.%03d", price*908/1000, price*908%1000) }

// window is the start of the 10 seconds that hold a time.
func window(at int64) int64 { return at - at%10_000 }

func localItems(e *nexmarkEvents) []string {
	var rows []string
	for _, a := range e.auctions {
		for _, p := range e.persons {
			if p.id == a.seller && a.category == 10 && (p.state == "OR" || p.state == "ID" || p.state == "CA") {
				rows = append(rows, cells(p.name, p.city, p.state, a.id))
			}
		}
	}
	return rows
}

// winners gives the highest valid bid of each auction that has one, by the auction's place among the events.
func winners(e *nexmarkEvents) map[int]nexmarkBid {
	at := map[int64]int{}
	for i, a := range e.auctions {
		at[a.id] = i
	}
	best := map[int]nexmarkBid{}
	for _, b := range e.bids {
		i, ok := at[b.auction]
		if !ok || b.at < e.auctions[i].at || b.at > e.auctions[i].expires {
			continue
		}
		if old, ok := best[i]; !ok || b.price > old.price {
			best[i] = b
		}
	}
	return best
}

func categoryPrices(e *nexmarkEvents) []string {
	sum, n := map[int64]int64{}, map[int64]int64{}
	for i, b := range winners(e) {
		sum[e.auctions[i].category] += b.price
		n[e.auctions[i].category]++
	}
	var rows []string
	for c := range sum {
		rows = append(rows, cells(c, sum[c]/n[c]))
	}
	return rows
}

func hotItems(e *nexmarkEvents) []string {
	counts := map[int64]map[int64]int{}
	for _, b := range e.bids {
		for start := b.at - b.at%2000; start > b.at-10_000; start -= 2000 {
			if counts[start] == nil {
				counts[start] = map[int64]int{}
			}
			counts[start][b.auction]++
		}
	}
	var rows []string
	for _, of := range counts {
		most := 0
		for _, n := range of {
			most = max(most, n)
		}
		for a, n := range of {
			if n == most {
				rows = append(rows, cells(a, n))
			}
		}
	}
	return rows
}

func sellerPrices(e *nexmarkEvents) []string {
	type sale struct{ at, id, price int64 }
	sales := map[int64][]sale{}
	for i, b := range winners(e) {
		a := e.auctions[i]
		sales[a.seller] = append(sales[a.seller], sale{b.at, a.id, b.price})
	}
	var rows []string
	for seller, ss := range sales {
		slices.SortFunc(ss, func(x, y sale) int { return cmp.Or(cmp.Compare(y.at, x.at), cmp.Compare(y.id, x.id)) })
		ss = ss[:min(len(ss), 10)]
		sum := int64(0)
		for _, s := range ss {
			sum += s.price
		}
		rows = append(rows, cells(seller, sum/int64(len(ss))))
	}
	return rows
}

func highestBids(e *nexmarkEvents) []string {
	highest := map[int64]int64{} // by the window's end
	for _, b := range e.bids {
		end := window(b.at) + 10_000
		highest[end] = max(highest[end], b.price)
	}
	var rows []string
	for _, b := range e.bids {
		for end, price := range highest {
			if b.price == price && b.at >= end-10_000 && b.at <= end {
				rows = append(rows, cells(b.auction, b.bidder, b.price, shownTime(b.at), b.extra))
			}
		}
	}
	return rows
}

func newUsers(e *nexmarkEvents) []string {
	type key struct{ id, window int64 }
	sellers := map[key]bool{}
	for _, a := range e.auctions {
		sellers[key{a.seller, window(a.at)}] = true
	}
	var rows []string
	for _, p := range e.persons {
		if w := window(p.at); sellers[key{p.id, w}] {
			rows = append(rows, cells(p.id, p.name, shownTime(w)))
		}
	}
	return rows
}

func winningBids(e *nexmarkEvents) []string {
	var rows []string
	for i, b := range winners(e) {
		a := e.auctions[i]
		rows = append(rows, cells(a.id, a.item, a.description, a.initial, a.reserve, shownTime(a.at), shownTime(a.expires), a.seller, a.category, a.extra,
			b.auction, b.bidder, b.price, shownTime(b.at), b.extra))
	}
	return rows
}

func userSessions(e *nexmarkEvents) []string {
	type session struct{ n, from, last int64 }
	open := map[int64]*session{}
	var rows []string
	end := func(bidder int64, s *session) {
		rows = append(rows, cells(bidder, s.n, shownTime(s.from), shownTime(s.last+10_000)))
	}
	for _, b := range e.bids {
		s := open[b.bidder]
		if s != nil && b.at >= s.last+10_000 {
			end(b.bidder, s)
			s = nil
		}
		if s == nil {
			s = &session{from: b.at}
			open[b.bidder] = s
		}
		s.n++
		s.last = b.at
	}
	for bidder, s := range open {
		end(bidder, s)
	}
	return rows
}

func calculation(b nexmarkBid) string {
	if b.price*908 <= 1_000_000_000 || b.price*908 >= 50_000_000_000 {
		return ""
	}
	part := "otherTime"
	switch hour := b.at / 3_600_000 % 24; {
	case hour >= 8 && hour <= 18:
		part = "dayTime"
	case hour <= 6 || hour >= 20:
		part = "nightTime"
	}
	return cells(b.auction, b.bidder, euros(b.price), part, shownTime(b.at), b.extra, strings.Count(b.extra, "c"))
}

// rank gives the class of a price, 1 to 3.
func rank(price int64) int {
	switch {
	case price < 10_000:
		return 1
	case price < 1_000_000:
		return 2
	}
	return 3
}

// statistics counts bids, bidders and auctions by a key, each of all prices and of the three classes.
func statistics(key func(nexmarkBid) string, minutes bool) func(*nexmarkEvents) []string {
	type group struct {
		bids              [4]int
		bidders, auctions [4]map[int64]bool
		minute            string
	}
	return func(e *nexmarkEvents) []string {
		groups := map[string]*group{}
		for _, b := range e.bids {
			g := groups[key(b)]
			if g == nil {
				g = &group{}
				for i := range 4 {
					g.bidders[i], g.auctions[i] = map[int64]bool{}, map[int64]bool{}
				}
				groups[key(b)] = g
			}
			for _, i := range []int{0, rank(b.price)} {
				g.bids[i]++
				g.bidders[i][b.bidder], g.auctions[i][b.auction] = true, true
			}
			g.minute = max(g.minute, nexmarkTime(b.at, "15:04"))
		}
		var rows []string
		for k, g := range groups {
			if minutes {
				k = cells(k, g.minute)
			}
			for i := range 4 {
				k = cells(k, g.bids[i])
			}
			for i := range 4 {
				k = cells(k, len(g.bidders[i]))
			}
			for i := range 4 {
				k = cells(k, len(g.auctions[i]))
			}
			rows = append(rows, k)
		}
		return rows
	}
}

func auctionStatistics(e *nexmarkEvents) []string {
	type group struct {
		n              [4]int64
		low, high, sum int64
	}
	groups := map[string]*group{}
	for _, b := range e.bids {
		k := cells(b.auction, nexmarkTime(b.at, "2006-01-02"))
		g := groups[k]
		if g == nil {
			g = &group{low: b.price, high: b.price}
			groups[k] = g
		}
		g.n[0]++
		g.n[rank(b.price)]++
		g.low, g.high, g.sum = min(g.low, b.price), max(g.high, b.price), g.sum+b.price
	}
	var rows []string
	for k, g := range groups {
		rows = append(rows, cells(k, g.n[0], g.n[1], g.n[2], g.n[3], g.low, g.high, g.sum/g.n[0], g.sum))
	}
	return rows
}

func (b nexmarkBid) row() string {
	return cells(b.auction, b.bidder, b.price, b.channel, b.url, shownTime(b.at), b.extra)
}

func lastBids(e *nexmarkEvents) []string {
	last := map[[2]int64]nexmarkBid{}
	for _, b := range e.bids {
		last[[2]int64{b.bidder, b.auction}] = b
	}
	var rows []string
	for _, b := range last {
		rows = append(rows, b.row())
	}
	return rows
}

// topBids gives auction, price and rank: of bids of one price any may come first.
func topBids(e *nexmarkEvents) []string {
	prices := map[int64][]int64{}
	for _, b := range e.bids {
		prices[b.auction] = append(prices[b.auction], b.price)
	}
	var rows []string
	for a, ps := range prices {
		slices.Sort(ps)
		slices.Reverse(ps)
		for i, p := range ps[:min(len(ps), 10)] {
			rows = append(rows, cells(a, p, i+1))
		}
	}
	return rows
}

// rankedBid is what topBids tells of a bid, if there is such a bid.
func rankedBid(e *nexmarkEvents, row []string) string {
	if e.rows == nil {
		e.rows = map[string]bool{}
		for _, b := range e.bids {
			e.rows[b.row()] = true
		}
	}
	if whole := strings.Join(row[:7], "|"); !e.rows[whole] {
		return "no bid: " + whole
	}
	return cells(row[0], row[2], row[7])
}

func bidsWithAuctions(e *nexmarkEvents) []string {
	auctions := map[int64]nexmarkAuction{}
	for _, a := range e.auctions {
		auctions[a.id] = a
	}
	var rows []string
	for _, b := range e.bids {
		if a, ok := auctions[b.auction]; ok && a.category == 10 {
			rows = append(rows, cells(b.row(), a.item, a.description, a.initial, a.reserve, shownTime(a.at), shownTime(a.expires), a.seller, a.category, a.extra))
		}
	}
	return rows
}

func channelID(b nexmarkBid) string {
	id, ok := "", true
	switch b.channel {
	case "Apple":
		id = "0"
	case "Google":
		id = "1"
	case "Facebook":
		id = "2"
	case "Baidu":
		id = "3"
	default:
		_, id, ok = strings.Cut(b.url, "&channel_id=")
		id, _, _ = strings.Cut(id, "&")
	}
	if !ok {
		return ""
	}
	return cells(b.auction, b.bidder, b.price, b.channel, id)
}
