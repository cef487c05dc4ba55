package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"runnel/exec"
	"runnel/types"
)

// waitsForTime are the operators that hold rows until event time has moved on.
var waitsForTime = []string{
	"WindowAggregate", "GlobalWindowAggregate", "LocalWindowAggregate", "GroupWindowAggregate", "WindowJoin", "WindowRank", "WindowDeduplicate", "IntervalJoin", "TemporalJoin",
	"OverAggregate", "Match", "TemporalSort",
}

// flow is what has gone through one operator of a job, over its subtasks.
type flow struct {
	name, kind string
	source     bool
	in, out    int64
	watermark  int64 // the lowest of its inputs
}

func flows(d exec.JobDetails) []flow {
	var all []flow
	for _, v := range d.Vertices {
		first := len(all)
		for _, t := range v.Subtasks {
			for i, o := range t.Metrics.Operators {
				if len(all) == first+i {
					name := strings.TrimPrefix(o.Name, "Source: ")
					kind, _, _ := strings.Cut(name, "[")
					all = append(all, flow{name: name, kind: kind, source: t.Metrics.IsSource && i == 0, watermark: types.MaxWatermark})
				}
				f := &all[first+i]
				f.in, f.out = f.in+o.RecordsIn, f.out+o.RecordsOut
				for _, w := range o.InputWatermarks {
					f.watermark = min(f.watermark, w)
				}
			}
		}
	}
	return all
}

// whyNothing says why a query has given no row so far, "" when nothing is known. The first part of it is the shortest.
func whyNothing(d exec.JobDetails) string {
	switch {
	case d.Waiting != "":
		return "waiting for slots: " + d.Waiting
	case d.State == exec.JobRestarting && len(d.Failures) > 0:
		return "restarting after: " + oneLine(d.Failures[len(d.Failures)-1].Err.Error())
	case d.State != exec.JobRunning:
		return ""
	}
	var read int64
	var silent []string
	all := flows(d)
	for _, f := range all {
		if !f.source {
			continue
		}
		if read += f.out; f.out == 0 {
			silent = append(silent, f.kind)
		}
	}
	if read == 0 {
		return "no row has come from " + strings.Join(silent, ", ") + " yet"
	}
	text := fmt.Sprintf("%d %s read", read, rowsWord(read))
	for _, f := range all {
		if f.source || f.in == 0 || f.out > 0 || f.kind == "Collect" {
			continue
		}
		text += "; " + f.holds(d.Now)
		break
	}
	if len(silent) > 0 {
		text += "; no row has come from " + strings.Join(silent, ", ") + " yet"
	}
	return text
}

// holds says what an operator does with the rows that went in and did not come out.
func (f flow) holds(now time.Time) string {
	switch {
	case !slices.Contains(waitsForTime, f.kind):
		return fmt.Sprintf("%s lets none of its %d %s through", f.name, f.in, rowsWord(f.in))
	case f.watermark == types.MinWatermark:
		return fmt.Sprintf("%s waits for a watermark and has none: each input must give one; 'table.exec.source.idle-timeout' leaves out inputs without rows", f.name)
	case f.watermark == types.MaxWatermark:
		return fmt.Sprintf("%s gives none", f.name)
	}
	at := time.UnixMilli(f.watermark).UTC()
	if behind := now.Sub(at); behind > 0 && behind < 24*time.Hour {
		return fmt.Sprintf("%s waits for event time: watermark %s, %s behind the clock", f.name, at.Format("15:04:05.000"), behind.Round(100*time.Millisecond))
	}
	return fmt.Sprintf("%s waits for event time: watermark %s", f.name, at.Format("2006-01-02 15:04:05.000"))
}

func rowsWord(n int64) string {
	if n == 1 {
		return "row"
	}
	return "rows"
}
