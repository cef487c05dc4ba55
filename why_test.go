package main

import (
	"errors"
	"testing"
	"time"

	"runnel/exec"
	"runnel/types"
)

func TestWhyNothing(t *testing.T) {
	now := time.Date(2024, 5, 1, 10, 0, 5, 0, time.UTC)
	job := func(ops ...exec.OperatorMetrics) exec.JobDetails {
		d := exec.JobDetails{State: exec.JobRunning, Now: now}
		for _, o := range ops {
			m := exec.SubtaskMetrics{IsSource: o.InputWatermarks == nil, Operators: []exec.OperatorMetrics{o}}
			d.Vertices = append(d.Vertices, exec.VertexDetails{Subtasks: []exec.SubtaskDetails{{Metrics: m}}})
		}
		return d
	}
	source := func(name string, out int64) exec.OperatorMetrics {
		return exec.OperatorMetrics{Name: "Source: " + name, RecordsOut: out}
	}
	op := func(name string, in, out int64, watermarks ...int64) exec.OperatorMetrics {
		return exec.OperatorMetrics{Name: name, RecordsIn: in, RecordsOut: out, InputWatermarks: watermarks}
	}
	const none = types.MinWatermark
	at := now.Add(-5100 * time.Millisecond).UnixMilli()
	for _, c := range []struct {
		d    exec.JobDetails
		want string
	}{
		{job(source("a[1]", 0), source("b[2]", 0), op("Join[3]", 0, 0, none, none)), "no row has come from a, b yet"},
		{job(source("a[1]", 3), source("b[2]", 0), op("Join[3]", 3, 0, none, none)), "3 rows read; Join[3] lets none of its 3 rows through; no row has come from b yet"},
		{job(source("a[1]", 1), op("Calc[2]", 1, 0, none)), "1 row read; Calc[2] lets none of its 1 row through"},
		{job(source("a[1]", 9), op("Calc[2]", 9, 9, at), op("WindowAggregate[4]", 9, 0, at)),
			"9 rows read; WindowAggregate[4] waits for event time: watermark 09:59:59.900, 5.1s behind the clock"},
		{job(source("a[1]", 9), op("WindowAggregate[4]", 9, 0, 1000)), "9 rows read; WindowAggregate[4] waits for event time: watermark 1970-01-01 00:00:01.000"},
		{job(source("a[1]", 9), source("b[2]", 9), op("IntervalJoin[4]", 18, 0, at, none)),
			"18 rows read; IntervalJoin[4] waits for a watermark and has none: each input must give one; 'table.exec.source.idle-timeout' leaves out inputs without rows"},
		{job(source("a[1]", 9), op("Calc[2]", 9, 9, at), op("Collect[3]", 9, 0, at)), "9 rows read"},
		{exec.JobDetails{State: exec.JobRestarting, Failures: []exec.Failure{{Err: errors.New("no broker\nanswers")}}}, "restarting after: no broker answers"},
		{exec.JobDetails{State: exec.JobCreated, Waiting: "2 of 8 are free"}, "waiting for slots: 2 of 8 are free"},
		{exec.JobDetails{State: exec.JobFinished}, ""},
	} {
		if got := whyNothing(c.d); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}
