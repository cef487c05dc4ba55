package main

import (
	"time"

	"runnel/exec"
	"runnel/types"
)

// jobSummary is what the status line says of a job.
type jobSummary struct {
	in, out    int64         // rows that sources gave and that sinks took
	lag        time.Duration // how far the lowest watermark of the sources is behind the clock; 0 when there is none
	checkpoint int64         // the newest completed one, 0 for none
}

func summarize(j *exec.Job) jobSummary {
	var s jobSummary
	d := j.Details()
	feeds := map[string]bool{} // vertices that others read
	for _, v := range d.Vertices {
		for _, in := range v.Inputs {
			feeds[in.Vertex] = true
		}
	}
	lowest := types.MaxWatermark
	for _, v := range d.Vertices {
		for _, t := range v.Subtasks {
			ops := t.Metrics.Operators
			if len(ops) == 0 {
				continue
			}
			if t.Metrics.IsSource {
				s.in += ops[0].RecordsOut
				lowest = min(lowest, t.Metrics.OutputWatermark)
			}
			if !feeds[v.ID] {
				s.out += ops[len(ops)-1].RecordsIn
			}
		}
	}
	if lowest != types.MinWatermark && lowest != types.MaxWatermark {
		s.lag = d.Now.Sub(time.UnixMilli(lowest))
	}
	if c := j.Checkpoints().Latest; c != nil {
		s.checkpoint = c.ID
	}
	return s
}
