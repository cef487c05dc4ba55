package plan

import (
	"time"

	"runnel/types"
)

// MiniBatchAssigner stands where Flink makes the ticks that end mini-batches: behind every source. Here operators end their
// bundles by their own clock, and aggregates by watermarks where Rowtime says so; it does nothing but show.
type MiniBatchAssigner struct {
	Info
	Interval time.Duration
	Rowtime  bool // somebody above works by event time: watermarks are thinned out, no ticks are made
}

// ticks says what an operator wants of the ticks of mini-batches below it.
type ticks uint8

const (
	noTicks ticks = iota
	procTicks
	rowTicks
)

// assigners puts MiniBatchAssigners behind the sources below n (semantics.md 6.2).
func (p *planning) assigners(n Node, want ticks) Node {
	b := n.Base()
	switch n := n.(type) {
	case *Scan, *WatermarkAssigner:
		if want == noTicks {
			return n
		}
		a := &MiniBatchAssigner{Interval: p.Config.Duration("table.exec.mini-batch.allow-latency"), Rowtime: want == rowTicks}
		a.Kind, a.Inputs, a.Fields, a.Pos = "MiniBatchAssigner", []Node{n}, b.Fields, b.Pos
		return a
	case *GroupWindowAggregate:
		want = noTicks
	case *WindowAggregate, *WindowTableFunction, *WindowRank, *WindowDeduplicate, *WindowJoin, *IntervalJoin, *TemporalJoin, *OverAggregate,
		*TemporalSort, *Match:
		if want != noTicks && byRowtime(n) {
			want = rowTicks
		}
	case *Deduplicate:
		if want != noTicks && n.Rowtime {
			want = rowTicks
		}
	}
	for i, in := range b.Inputs {
		b.Inputs[i] = p.assigners(in, want)
	}
	return n
}

// byRowtime reports whether an operator works by event time.
func byRowtime(n Node) bool {
	in := fieldsIn(n.Base().Inputs[0])
	switch n := n.(type) {
	case *WindowAggregate:
		return n.Attached || n.Window.Rowtime
	case *WindowTableFunction:
		return n.Window.Rowtime
	case *IntervalJoin:
		return n.Rowtime
	case *OverAggregate:
		return in[n.Order[0].Column].Type.Attr == types.Rowtime
	case *TemporalSort:
		return in[n.Keys[0].Column].Type.Attr == types.Rowtime
	}
	return true
}
