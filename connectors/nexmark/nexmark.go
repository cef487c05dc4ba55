// Package nexmark is the source of the Nexmark benchmark: persons, auctions and bids of an online auction house, as one
// stream of events.
//
// What an event holds is a function of its number and of the options alone. So the events are the same at every
// parallelism, after every restore, and whatever columns a query reads; only the start of event time is taken from the
// clock, unless an option fixes it.
package nexmark

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"runnel/connectors"
	"runnel/types"
)

const rateShapeClass = "com.github.nexmark.flink.utils.NexmarkUtils$RateShape"

var (
	rateShape = connectors.Option{Key: "rate.shape", Kind: connectors.EnumOption, Default: "SQUARE", Values: []string{"SQUARE", "SINE"}, Enum: rateShapeClass,
		Doc: "How the rate of event time goes between first-event.rate and next-event.rate: in two steps, or in ten as a sine."}
	ratePeriod  = connectors.Option{Key: "rate.period", Kind: connectors.DurationOption, Default: "600 s", Doc: "Time of one round through the rates."}
	rateLimited = connectors.Option{Key: "rate.limited", Kind: connectors.BoolOption, Default: "false", Doc: "Make events no faster than event time says."}
	firstRate   = connectors.Option{Key: "first-event.rate", Kind: connectors.IntOption, Default: "10000", Doc: "Events per second of event time at the start of a period."}
	nextRate    = connectors.Option{Key: "next-event.rate", Kind: connectors.IntOption, Default: "10000", Doc: "Events per second of event time in the other half of a period."}
	personSize  = connectors.Option{Key: "person.avg-size", Kind: connectors.MemoryOption, Default: "200b", Doc: "Average size of a person."}
	auctionSize = connectors.Option{Key: "auction.avg-size", Kind: connectors.MemoryOption, Default: "500b", Doc: "Average size of an auction."}
	bidSize     = connectors.Option{Key: "bid.avg-size", Kind: connectors.MemoryOption, Default: "100b", Doc: "Average size of a bid."}
	personPart  = connectors.Option{Key: "person.proportion", Kind: connectors.IntOption, Default: "1", Doc: "Persons in a round of events."}
	auctionPart = connectors.Option{Key: "auction.proportion", Kind: connectors.IntOption, Default: "3", Doc: "Auctions in a round of events."}
	bidPart     = connectors.Option{Key: "bid.proportion", Kind: connectors.IntOption, Default: "46", Doc: "Bids in a round of events."}
	hotAuctions = connectors.Option{Key: "bid.hot-ratio.auctions", Kind: connectors.IntOption, Default: "2", Doc: "One in so many bids is not for the hot auction."}
	hotBidders  = connectors.Option{Key: "bid.hot-ratio.bidders", Kind: connectors.IntOption, Default: "4", Doc: "One in so many bids is not by the hot bidder."}
	hotSellers  = connectors.Option{Key: "auction.hot-ratio.sellers", Kind: connectors.IntOption, Default: "4", Doc: "One in so many auctions is not by the hot seller."}
	eventsNum   = connectors.Option{Key: "events.num", Kind: connectors.LongOption, Default: "0", Doc: "Events to make; 0 for no end. With a number the source is bounded."}
	keepAlive   = connectors.Option{Key: "keep-alive", Kind: connectors.BoolOption, Default: "false", Doc: "Go on without events when all have been made; the source is unbounded then."}
	stopAt      = connectors.Option{Key: "stop-at", Kind: connectors.LongOption, Default: "-1", Doc: "Event time in milliseconds since 1970 at which events end; -1 for never."}
	emitSpeed   = connectors.Option{Key: "max-emit-speed", Kind: connectors.BoolOption, Default: "true", Doc: "Set to false, the same as rate.limited."}
	baseTime    = connectors.Option{Key: "base-time", Kind: connectors.LongOption, Default: "-1", Doc: "Event time of event 0 in milliseconds since 1970; -1 for the time of the job's start."}
)

// Connector gives the connector's table row.
func Connector() connectors.Connector {
	return connectors.Connector{
		Name: "nexmark",
		Doc:  "The events of the Nexmark benchmark: persons, auctions and bids.",
		Options: []connectors.Option{
			rateShape, ratePeriod, rateLimited, firstRate, nextRate, personSize, auctionSize, bidSize, personPart, auctionPart, bidPart,
			hotAuctions, hotBidders, hotSellers, eventsNum, keepAlive, stopAt, emitSpeed, baseTime,
		},
		WatermarkPushdown: true,
		Nested:            true,
		Source:            plan,
	}
}

// source is a planned scan.
type source struct {
	config
	columns []column
	fields  []types.Field
	base    int64 // option base-time
	limited bool
	keep    bool
	texts   func() *texts // made when it is first needed, for all readers
}

func plan(r connectors.ScanRequest) (*connectors.Source, error) {
	o := r.Table.Options
	s := &source{fields: r.Fields(), texts: sync.OnceValue(newTexts)}
	var err error
	if s.config, err = readConfig(o); err != nil {
		return nil, err
	}
	var atOnce bool
	for _, f := range []struct {
		opt connectors.Option
		to  *bool
	}{{rateLimited, &s.limited}, {keepAlive, &s.keep}, {emitSpeed, &atOnce}} {
		if *f.to, err = o.Bool(f.opt); err != nil {
			return nil, err
		}
	}
	s.limited = s.limited || !atOnce
	if s.base, err = o.Int(baseTime); err != nil {
		return nil, err
	}
	if s.base > maxTime {
		return nil, fmt.Errorf("Invalid value for option '%s': it must not be greater than %d.", baseTime.Key, int64(maxTime))
	}
	if err := checkSchema(r.Table); err != nil {
		return nil, err
	}
	for i, c := range r.Columns {
		col := columnOf(r.Table.Columns[c].Name)
		col.path = r.Path(i)
		s.columns = append(s.columns, col)
	}
	return &connectors.Source{
		Mode:    types.InsertOnly,
		Bounded: s.ends() && !s.keep,
		Enumerate: func(env connectors.Env) (connectors.Enumerator, error) {
			return enumerator{of: int64(max(env.Of, 1)), base: s.base, now: env.Now}, nil
		},
		Read: s.read,
	}, nil
}

// maxTime is the end of the year 9999, in milliseconds.
const maxTime = 253402300799999

// checkSchema refuses tables with other columns than those of the benchmark; some may be left out.
func checkSchema(t *connectors.Table) error {
	for _, c := range t.Columns {
		col := columnOf(c.Name)
		if col.kind == noKind || c.Metadata != "" || !sameShape(c.Type, col.t) {
			var ddl []string
			for _, c := range schema {
				ddl = append(ddl, "`"+c.name+"` "+c.t.String())
			}
			return fmt.Errorf("The nexmark source must define schema of: (%s), but column '%s' is declared as '%s'.", strings.Join(ddl, ", "), c.Name, c.Type)
		}
	}
	return nil
}

// sameShape compares types but for their nullability.
func sameShape(a, b types.Type) bool {
	if a.Kind != types.Row || b.Kind != types.Row {
		return a.SameIgnoringNull(b)
	}
	if len(a.Fields) != len(b.Fields) {
		return false
	}
	for i, f := range a.Fields {
		if f.Name != b.Fields[i].Name || !sameShape(f.Type, b.Fields[i].Type) {
			return false
		}
	}
	return true
}

// enumerator gives one split for every subtask of the first run; a rescaled job deals the same splits anew.
type enumerator struct {
	of, base int64
	now      func() time.Time
}

func (e enumerator) Discover(_ context.Context, first bool) ([]connectors.Split, error) {
	if !first {
		return nil, nil
	}
	if e.base < 0 {
		e.base = e.now().UnixMilli()
	}
	splits := make([]connectors.Split, e.of)
	for i := range splits {
		splits[i] = position{index: int64(i), of: e.of, base: e.base}.split()
	}
	return splits, nil
}

func (enumerator) Interval() time.Duration { return 0 }
func (enumerator) Close() error            { return nil }

// position is the state of a split: it makes the events 1+index, 1+index+of, .. and has made the first of them. base is the
// event time of event 0 in milliseconds.
type position struct{ index, of, made, base int64 }

const positionVersion = 1

func (p position) split() connectors.Split {
	b := []byte{positionVersion}
	for _, v := range [...]int64{p.index, p.of, p.made, p.base} {
		b = binary.AppendUvarint(b, uint64(v))
	}
	return connectors.Split{ID: strconv.FormatInt(p.index, 10) + "/" + strconv.FormatInt(p.of, 10), State: b}
}

// next is the number of the next event.
func (p position) next() int64 { return 1 + p.index + p.made*p.of }

func parsePosition(s connectors.Split) (position, error) {
	bad := func(why string) (position, error) { return position{}, fmt.Errorf("nexmark split %s: %s", s.ID, why) }
	if len(s.State) == 0 {
		return bad("empty state")
	}
	if s.State[0] != positionVersion {
		return bad(fmt.Sprintf("unknown state version %d", s.State[0]))
	}
	var v [4]int64
	rest := s.State[1:]
	for i := range v {
		u, n := binary.Uvarint(rest)
		if n <= 0 || u > math.MaxInt64 {
			return bad("damaged state")
		}
		v[i], rest = int64(u), rest[n:]
	}
	if v[1] == 0 || v[0] >= v[1] || v[1] > math.MaxInt32 || v[2] > math.MaxInt64/v[1]-1 || v[3] > maxTime {
		return bad("damaged state")
	}
	return position{v[0], v[1], v[2], v[3]}, nil
}
