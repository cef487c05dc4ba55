package nexmark

import (
	"fmt"
	"math"
	"time"

	"runnel/connectors"
)

// Constants of the benchmark.
const (
	firstID       = 1000 // of persons and auctions
	firstCategory = 10
	categories    = 5
	inFlight      = 100  // auctions that bids are for, the hot one aside
	activePeople  = 1000 // that bid and sell, the hot one aside
	idLead        = 10   // how far ids may run ahead of the persons and auctions made so far
	hotSpan       = 100  // persons or auctions that share a hot one
	sineSteps     = 10
)

// config is what the options say of the events.
type config struct {
	people, auctions, bids, round int64 // events of each kind in a round
	hotAuction, hotBidder         int64
	hotSeller                     int64
	size                          [3]int64 // average, by kind
	num                           int64    // events to make, 0 for no end
	stop                          int64    // event time to end at, in milliseconds; negative for none

	steps  []step
	events float64 // in a period of all steps
	period float64 // in microseconds
}

// step is a part of a period with one rate.
type step struct {
	delay  float64 // microseconds from event to event
	events float64 // of the period before it
	start  float64 // microseconds of the period before it
}

func readConfig(o connectors.Options) (config, error) {
	var c config
	positive := func(opt connectors.Option, to *int64) error {
		n, err := o.Int(opt)
		if err == nil && n < 1 {
			err = fmt.Errorf("Invalid value for option '%s': it must be at least 1, but is %d.", opt.Key, n)
		}
		*to = n
		return err
	}
	var first, next int64
	for _, p := range []struct {
		opt connectors.Option
		to  *int64
	}{{firstRate, &first}, {nextRate, &next}, {personPart, &c.people}, {auctionPart, &c.auctions}, {bidPart, &c.bids},
		{hotAuctions, &c.hotAuction}, {hotBidders, &c.hotBidder}, {hotSellers, &c.hotSeller}} {
		if err := positive(p.opt, p.to); err != nil {
			return c, err
		}
	}
	c.round = c.people + c.auctions + c.bids
	for kind, opt := range []connectors.Option{personSize, auctionSize, bidSize} {
		n, err := o.Memory(opt)
		if err != nil {
			return c, err
		}
		if n > maxSize {
			return c, fmt.Errorf("Invalid value for option '%s': it must not be greater than %d bytes.", opt.Key, maxSize)
		}
		c.size[kind] = n
	}
	var err error
	if c.num, err = o.Int(eventsNum); err != nil {
		return c, err
	}
	if c.num < 0 {
		return c, fmt.Errorf("Invalid value for option '%s': it must not be negative, but is %d.", eventsNum.Key, c.num)
	}
	if c.stop, err = o.Int(stopAt); err != nil {
		return c, err
	}
	shape, err := o.Enum(rateShape)
	if err != nil {
		return c, err
	}
	period, err := o.Duration(ratePeriod)
	if err != nil {
		return c, err
	}
	if period < time.Second {
		return c, fmt.Errorf("Invalid value for option '%s': it must be at least a second.", ratePeriod.Key)
	}
	c.rates(shape, float64(first), float64(next), period)
	return c, nil
}

// rates divides the period into steps of one rate each.
func (c *config) rates(shape string, first, next float64, period time.Duration) {
	rates := []float64{first, next}
	if shape == "SINE" {
		rates = nil
		for i := range sineSteps {
			rates = append(rates, (first+next)/2+(first-next)/2*math.Cos(2*math.Pi*float64(i)/sineSteps))
		}
	}
	if first == next {
		rates = rates[:1]
	}
	length := float64(period.Microseconds()) / float64(len(rates))
	for _, r := range rates {
		c.steps = append(c.steps, step{delay: 1e6 / r, events: c.events, start: c.period})
		c.events += r * length / 1e6
		c.period += length
	}
}

// ends says whether there is a last event.
func (c *config) ends() bool { return c.num > 0 || c.stop >= 0 }

// millis gives the event time of an event in milliseconds since that of event 0.
func (c *config) millis(event int64) int64 {
	n := float64(event)
	if len(c.steps) == 1 {
		return int64(n*c.steps[0].delay) / 1000
	}
	rounds := math.Floor(n / c.events)
	n -= rounds * c.events
	at := len(c.steps) - 1
	for at > 0 && c.steps[at].events > n {
		at--
	}
	s := &c.steps[at]
	return int64(rounds*c.period+s.start+(n-s.events)*s.delay) / 1000
}
