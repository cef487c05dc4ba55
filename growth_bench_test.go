package main

import (
	"fmt"
	"os"
	"testing"
	"text/tabwriter"
)

// growthCase is a query whose state nothing bounds, with the bytes of the rows and keys that it has to keep: eight for a
// number or time, those of texts.
type growthCase struct {
	query string
	kept  func(*nexmarkEvents) int64
}

var growthCases = []growthCase{
	{"q7", func(e *nexmarkEvents) int64 { // bids without channel and url, and the key of the join; the windows are few
		n := int64(0)
		for _, b := range e.bids {
			n += keptBytes(5, b.extra)
		}
		return n
	}},
	{"q9", func(e *nexmarkEvents) int64 { // both sides of the join with their keys, and the winners
		n := keptAuctions(e, func(nexmarkAuction) bool { return true })
		for _, b := range e.bids {
			n += keptBytes(5, b.extra)
		}
		for i, b := range winners(e) {
			n += keptBytes(1) + e.auctions[i].kept() + keptBytes(4, b.extra)
		}
		return n
	}},
	{"q18", func(e *nexmarkEvents) int64 {
		last, n := map[[2]int64]int64{}, int64(0)
		for _, b := range e.bids {
			last[[2]int64{b.bidder, b.auction}] = keptBytes(2) + b.kept()
		}
		for _, bytes := range last {
			n += bytes
		}
		return n
	}},
	{"q19", func(e *nexmarkEvents) int64 {
		best, n := map[int64][]nexmarkBid{}, int64(0)
		for _, b := range e.bids {
			top := best[b.auction]
			at := len(top)
			for at > 0 && top[at-1].price < b.price {
				at--
			}
			if at < 10 {
				best[b.auction] = append(append(append(make([]nexmarkBid, 0, 10), top[:at]...), b), top[at:min(len(top), 9)]...)
			}
		}
		for _, top := range best {
			n += keptBytes(1)
			for _, b := range top {
				n += b.kept()
			}
		}
		return n
	}},
	{"q20", func(e *nexmarkEvents) int64 { // both sides of the join with their keys
		n := keptAuctions(e, func(a nexmarkAuction) bool { return a.category == 10 })
		for _, b := range e.bids {
			n += keptBytes(1) + b.kept()
		}
		return n
	}},
}

func keptBytes(numbers int64, texts ...string) int64 {
	n := 8 * numbers
	for _, s := range texts {
		n += int64(len(s))
	}
	return n
}

func (b nexmarkBid) kept() int64 { return keptBytes(4, b.channel, b.url, b.extra) }

func (a nexmarkAuction) kept() int64 { return keptBytes(7, a.item, a.description, a.extra) }

// keptAuctions is for auctions with their key.
func keptAuctions(e *nexmarkEvents, which func(nexmarkAuction) bool) int64 {
	n := int64(0)
	for _, a := range e.auctions {
		if which(a) {
			n += keptBytes(1) + a.kept()
		}
	}
	return n
}

// BenchmarkStateGrowth runs the queries over 1,000,000 events without a checkpoint and prints by how much the heap in use grows,
// from a tenth of the events to nine tenths, for every byte of rows and keys that comes in between.
func BenchmarkStateGrowth(b *testing.B) {
	const events = 1_000_000
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "query\trows and keys MB\theap MB\tgrowth of heap MB\ttimes\t")
	options := map[string]string{"first-event.rate": "100000", "next-event.rate": "100000", "base-time": "1436918400000"}
	keptAt := func(g growthCase, events int) float64 {
		options["events.num"] = fmt.Sprint(events)
		return float64(g.kept(readNexmark(b, options)))
	}
	for _, g := range growthCases {
		b.Run(g.query, func(b *testing.B) {
			c := measureNexmark(b, nexmarkLimit{query: g.query}, events, events/10)
			kept := keptAt(g, events/10*9) - keptAt(g, events/10)
			grown := float64(c.live - c.early)
			b.ReportMetric(grown/kept, "times")
			fmt.Fprintf(w, "%s\t%.1f\t%.1f\t%.1f\t%.2f\t\n", g.query, kept/1e6, float64(c.live)/1e6, grown/1e6, grown/kept)
		})
	}
	w.Flush()
}
