package lookup

import (
	"fmt"
	"strings"
	"time"

	"runnel/connectors"
)

// CacheKind is a value of lookup.cache.
type CacheKind uint8

const (
	NoCache CacheKind = iota
	Partial           // what was asked for lately
	Full              // the whole table
)

// Cache is what the lookup.* options of a table ask for.
type Cache struct {
	Kind CacheKind
	// MaxRows bounds the keys of a partial cache; 0 for no bound.
	MaxRows int64
	// AfterAccess and AfterWrite expire entries of a partial cache; 0 for never.
	AfterAccess, AfterWrite time.Duration
	// Missing: a partial cache also keeps that a key found nothing.
	Missing bool
	// Interval is the time between two loads of a full cache, counted from the end of a load or, at FixedRate, from the time at
	// which it was due. 0: At says when.
	Interval  time.Duration
	FixedRate bool
	At        time.Duration  // since midnight
	Zone      *time.Location // of At; nil for the session's
	Days      int64          // between two loads at At
}

var (
	optCache       = connectors.Option{Key: "lookup.cache", Kind: connectors.EnumOption, Default: "NONE", Values: []string{"NONE", "PARTIAL", "FULL"}, Enum: "org.apache.flink.table.connector.source.lookup.LookupOptions$LookupCacheType", Doc: "What a lookup join keeps in memory: nothing, the keys asked for lately, or the whole table."}
	optMaxRows     = connectors.Option{Key: "lookup.partial-cache.max-rows", Kind: connectors.LongOption, Doc: "Keys in a partial cache; the one that was used longest ago goes."}
	optAfterWrite  = connectors.Option{Key: "lookup.partial-cache.expire-after-write", Kind: connectors.DurationOption, Doc: "How long an entry of a partial cache counts."}
	optAfterAccess = connectors.Option{Key: "lookup.partial-cache.expire-after-access", Kind: connectors.DurationOption, Doc: "How long an entry of a partial cache is kept that nobody asks for."}
	optMissing     = connectors.Option{Key: "lookup.partial-cache.cache-missing-key", Kind: connectors.BoolOption, Default: "true", Doc: "Whether a partial cache keeps that a key found nothing."}
	optStrategy    = connectors.Option{Key: "lookup.full-cache.reload-strategy", Kind: connectors.EnumOption, Default: "PERIODIC", Values: []string{"PERIODIC", "TIMED"}, Enum: "org.apache.flink.table.connector.source.lookup.LookupOptions$ReloadStrategy", Doc: "Whether a full cache is loaded again after a time or at a time of day."}
	optInterval    = connectors.Option{Key: "lookup.full-cache.periodic-reload.interval", Kind: connectors.DurationOption, Doc: "The time between two loads of a full cache."}
	optSchedule    = connectors.Option{Key: "lookup.full-cache.periodic-reload.schedule-mode", Kind: connectors.EnumOption, Default: "FIXED_DELAY", Values: []string{"FIXED_DELAY", "FIXED_RATE"}, Enum: "org.apache.flink.table.connector.source.lookup.cache.trigger.PeriodicCacheReloadTrigger$ScheduleMode", Doc: "Whether the interval counts from the end of a load or from its beginning."}
	optTime        = connectors.Option{Key: "lookup.full-cache.timed-reload.iso-time", Doc: "The time of day of a load, 10:15 or 10:15:30+02:00."}
	optDays        = connectors.Option{Key: "lookup.full-cache.timed-reload.interval-in-days", Kind: connectors.IntOption, Default: "1", Doc: "Days between two loads at that time."}
)

// Options are the table options of the caches, for connectors that can be looked up.
var Options = []connectors.Option{optCache, optMaxRows, optAfterWrite, optAfterAccess, optMissing, optStrategy, optInterval, optSchedule, optTime, optDays}

// CacheOf reads the options of a table.
func CacheOf(o connectors.Options) (c Cache, err error) {
	kind, err := o.Enum(optCache)
	if err != nil {
		return c, err
	}
	switch kind {
	case "PARTIAL":
		c.Kind = Partial
		err = c.partial(o)
	case "FULL":
		c.Kind = Full
		err = c.full(o)
	}
	return c, err
}

func (c *Cache) partial(o connectors.Options) (err error) {
	if c.MaxRows, err = o.Int(optMaxRows); err != nil {
		return err
	}
	if c.AfterWrite, err = o.Duration(optAfterWrite); err != nil {
		return err
	}
	if c.AfterAccess, err = o.Duration(optAfterAccess); err != nil {
		return err
	}
	if c.Missing, err = o.Bool(optMissing); err != nil {
		return err
	}
	if _, set := o.Lookup(optMaxRows); set && c.MaxRows <= 0 {
		return fmt.Errorf("option '%s' is %d, it has to be positive", optMaxRows.Key, c.MaxRows)
	}
	return nil
}

func (c *Cache) full(o connectors.Options) error {
	strategy, err := o.Enum(optStrategy)
	if err != nil {
		return err
	}
	if strategy == "PERIODIC" {
		mode, err := o.Enum(optSchedule)
		if err != nil {
			return err
		}
		c.FixedRate = mode == "FIXED_RATE"
		if c.Interval, err = o.Duration(optInterval); err != nil {
			return err
		}
		if c.Interval <= 0 {
			return fmt.Errorf("missing '%s': a full cache that is loaded PERIODIC needs it", optInterval.Key)
		}
		return nil
	}
	text, ok := o.Lookup(optTime)
	if !ok {
		return fmt.Errorf("missing '%s': a full cache that is loaded TIMED needs it", optTime.Key)
	}
	if c.At, c.Zone, err = timeOfDay(text); err != nil {
		return fmt.Errorf("option '%s': %w", optTime.Key, err)
	}
	if c.Days, err = o.Int(optDays); err != nil {
		return err
	}
	if c.Days < 1 {
		return fmt.Errorf("option '%s' is %d, it has to be positive", optDays.Key, c.Days)
	}
	return nil
}

// timeOfDay reads an ISO time with or without an offset.
func timeOfDay(text string) (since time.Duration, zone *time.Location, err error) {
	for _, layout := range []string{"15:04", "15:04:05", "15:04Z07:00", "15:04:05Z07:00"} {
		t, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		if strings.Contains(layout, "Z") {
			zone = t.Location()
		}
		return t.Sub(time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, t.Location())), zone, nil
	}
	return 0, nil, fmt.Errorf("%q is no time of day such as 10:15 or 10:15:30+02:00", text)
}
