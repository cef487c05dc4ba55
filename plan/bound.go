package plan

import (
	"fmt"
	"time"

	"runnel/expr"
	"runnel/types"
)

// state settles the time to live of a stateful node and says what bounds its state.
func (p *planning) state(n Node) {
	b := n.Base()
	ttl := p.Config.Duration("table.exec.state.ttl")
	if g, ok := n.(*GroupAggregate); ok {
		ttl = hinted(g.ttl, ttl)
	}
	keep := func(what string) {
		b.TTL = ttl
		b.Bound = what + ", dropped after " + spanText(ttl) + " without a change (state TTL)"
		if ttl == 0 {
			b.Bound = "nothing: " + what + ", kept for ever; SET 'table.exec.state.ttl' = '1 d' bounds it"
		}
	}
	if p.batch {
		return
	}
	switch n := n.(type) {
	case *GroupAggregate:
		switch {
		case growing(n.Aggs, retracts(n)):
			keep("the values of " + eachName(b.Inputs[0], n.Keys))
		case len(n.Keys) == 0:
			b.Bound, b.TTL = "one row", ttl
		default:
			keep("one entry for each " + keyNames(b.Inputs[0], n.Keys))
		}
	case *IncrementalGroupAggregate:
		ttl = hinted(n.ttl, ttl)
		keep("the values of each " + columnNames(n.Buckets, n.Keys))
	case *ChangelogNormalize:
		keep("one row for each " + keyNames(b.Inputs[0], n.Keys))
	case *WindowAggregate:
		b.Bound = windowBound(n.Window)
	case *IntervalJoin:
		b.Bound = intervalBound(n)
	case *Join:
		n.LeftTTL, n.RightTTL = hinted(n.LeftTTL, ttl), hinted(n.RightTTL, ttl)
		keep("every row of both sides")
		if n.LeftTTL != n.RightTTL {
			b.Bound = "the sides: left rows " + keptText(n.LeftTTL) + ", right rows " + keptText(n.RightTTL)
		}
	case *SortLimit:
		if n.Strategy == Retract {
			keep("every row")
			return
		}
		b.Bound, b.TTL = fmt.Sprintf("%d rows", n.Offset+n.Limit), ttl
	case *Limit:
		b.Bound, b.TTL = fmt.Sprintf("%d rows", n.Offset+n.Limit), ttl
		if b.Inputs[0].Base().Mode != types.InsertOnly {
			keep("every row")
		}
	case *LookupJoin:
		switch {
		case n.Materialize:
			keep("what was found for each " + keyNames(b.Inputs[0], n.InputKey))
		case n.Async != nil:
			b.Bound = fmt.Sprintf("%d rows that wait for answers", n.Async.Capacity)
		}
	case *TemporalSort:
		b.Bound = "the rows ahead of the watermark"
		if fieldsIn(b.Inputs[0])[n.Keys[0].Column].Type.Attr == types.Proctime {
			b.Bound = "the rows of one moment of the clock"
		}
	case *Sink:
		if n.Materialize {
			keep("the rows of each " + columnNames(n.names, n.PrimaryKey))
		}
	default:
		p.rankState(n, ttl, keep)
	}
}

// rankState is state for ranks and what depends on time.
func (p *planning) rankState(n Node, ttl time.Duration, keep func(what string)) {
	b := n.Base()
	switch n := n.(type) {
	case *Rank:
		switch {
		case n.Strategy == Retract:
			keep("every row of " + eachName(b.Inputs[0], n.Keys))
		case n.ToColumn >= 0:
			keep("the first rows of " + eachName(b.Inputs[0], n.Keys))
		case len(n.Keys) == 0:
			b.Bound, b.TTL = fmt.Sprintf("%d rows", n.To), ttl
		default:
			keep(fmt.Sprintf("%d rows for each %s", n.To, keyNames(b.Inputs[0], n.Keys)))
		}
	case *Deduplicate:
		if len(n.Keys) == 0 {
			b.Bound, b.TTL = "one row", ttl
			return
		}
		keep("one row for each " + keyNames(b.Inputs[0], n.Keys))
	case *OverAggregate:
		switch {
		case n.Frame.Before < 0 && growing(n.Aggs, false):
			keep("the values of " + eachName(b.Inputs[0], n.Keys))
		case n.Frame.Before < 0 && len(n.Keys) == 0:
			b.Bound, b.TTL = "one row", ttl
		case n.Frame.Before < 0:
			keep("one entry for each " + keyNames(b.Inputs[0], n.Keys))
		case n.Frame.Rows && len(n.Keys) == 0:
			b.Bound, b.TTL = fmt.Sprintf("%d rows", n.Frame.Before+1), ttl
		case n.Frame.Rows:
			keep(fmt.Sprintf("%d rows for each %s", n.Frame.Before+1, keyNames(b.Inputs[0], n.Keys)))
		default:
			b.Bound = "the frame: rows until they are " + spanText(millis(n.Frame.Before)) + " old"
		}
	case *GroupWindowAggregate:
		b.Bound = windowBound(n.Window)
		if n.Lateness > 0 {
			b.Bound += " by " + spanText(n.Lateness)
		}
	case *TemporalJoin:
		b.TTL = ttl
		b.Bound = "the versions: the newest one of each " + keyNames(b.Inputs[1], n.RightKeys) + " and those ahead of the watermark"
		if ttl > 0 {
			b.Bound += ", of a key without a row of either side for " + spanText(ttl) + " none (state TTL)"
		}
	case *Match:
		b.Bound = "nothing: the rows of partial matches, kept until these end; WITHIN INTERVAL .. behind the pattern bounds it"
		if n.Within > 0 {
			b.Bound = "WITHIN: the rows of partial matches, until these are " + spanText(millis(n.Within)) + " old"
		}
	case *WindowTableFunction:
		if n.Window.Kind == Session {
			b.Bound = "the rows of sessions that are open: given out at their end"
		}
	case *WindowRank:
		b.Bound = windowBound(n.Window)
	case *WindowDeduplicate:
		b.Bound = windowBound(n.Window)
	case *WindowJoin:
		b.Bound = windowBound(n.Window)
	}
}

func windowBound(w Window) string {
	if w.Rowtime {
		return "the windows that are open: dropped when the watermark passes their end"
	}
	return "the windows that are open: dropped at their end"
}

// hinted is the time to live of a hint, or without one the configured one.
func hinted(hint, config time.Duration) time.Duration {
	switch hint {
	case 0:
		return config
	case forever:
		return 0
	}
	return hint
}

func keptText(ttl time.Duration) string {
	if ttl == 0 {
		return "for ever"
	}
	return "for " + spanText(ttl)
}

// growing reports whether the state of one group grows with its rows, which may be taken back.
func growing(aggs []expr.AggCall, retract bool) bool {
	for _, a := range aggs {
		if a.Distinct {
			return true
		}
		switch a.Func.Name {
		case "LISTAGG", "COLLECT", "ARRAY_AGG", "JSON_ARRAYAGG", "JSON_OBJECTAGG":
			return true
		case "MIN", "MAX", "FIRST_VALUE", "LAST_VALUE":
			if retract {
				return true // the next best one is needed
			}
		}
	}
	return false
}

// retracts reports whether rows of an aggregation may be taken back.
func retracts(n *GroupAggregate) bool {
	_, _, retract := n.Over()
	return retract
}

func keyNames(n Node, keys []int) string { return columnNames(fieldsIn(n), keys) }

// eachName names what has the same keys; without keys that is all.
func eachName(n Node, keys []int) string {
	if len(keys) == 0 {
		return "the whole input"
	}
	return "each " + keyNames(n, keys)
}

func intervalBound(n *IntervalJoin) string {
	word := "the watermark"
	if !n.Rowtime {
		word = "the clock"
	}
	left, right := max(n.Upper, 0), max(-n.Lower, 0)
	return fmt.Sprintf("the interval: a left row until %s is %s past it, a right row until it is %s past it", word,
		spanText(time.Duration(left)*time.Millisecond), spanText(time.Duration(right)*time.Millisecond))
}

func millis(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// spanText prints a duration in its greatest whole unit, as plans do: 10 min.
func spanText(d time.Duration) string {
	for _, u := range []struct {
		unit time.Duration
		name string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "min"}, {time.Second, "s"}} {
		if d != 0 && d%u.unit == 0 {
			return fmt.Sprintf("%d %s", d/u.unit, u.name)
		}
	}
	return fmt.Sprintf("%d ms", d.Milliseconds())
}
