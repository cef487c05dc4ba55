package web

import (
	"testing"

	"runnel/exec"
	"runnel/types"
)

// TestLoad: the percentages of a vertex and its colour: of the busiest of its running subtasks, N/A without any.
func TestLoad(t *testing.T) {
	subtask := func(state exec.TaskState, busy, held float64) exec.SubtaskDetails {
		return exec.SubtaskDetails{State: state, Metrics: exec.SubtaskMetrics{BusyMS: busy, BackpressuredMS: held, InputWatermark: types.MinWatermark}}
	}
	for _, c := range []struct {
		name              string
		subtasks          []exec.SubtaskDetails
		busy, held, level string
		colour, ink       string
	}{
		{"created", []exec.SubtaskDetails{subtask(exec.TaskCreated, 0, 0)}, "N/A", "N/A", "ok", "#d8dce2", "#1f2430"},
		{"finished", []exec.SubtaskDetails{subtask(exec.TaskFinished, 700, 300)}, "N/A", "N/A", "ok", "#d8dce2", "#1f2430"},
		{"idle", []exec.SubtaskDetails{subtask(exec.TaskRunning, 0, 0)}, "0%", "0%", "ok", "#5db1ff", "#1f2430"},
		{"busy", []exec.SubtaskDetails{subtask(exec.TaskRunning, 1000, 0)}, "100%", "0%", "ok", "#ee6464", "#1f2430"},
		{"half busy", []exec.SubtaskDetails{subtask(exec.TaskRunning, 500, 0)}, "50%", "0%", "ok", "#a68bb2", "#1f2430"},
		{"held up", []exec.SubtaskDetails{subtask(exec.TaskRunning, 0, 1000)}, "0%", "100%", "high", "#000000", "#ffffff"},
		{"the worst counts", []exec.SubtaskDetails{subtask(exec.TaskRunning, 100, 0), subtask(exec.TaskRunning, 0, 250), subtask(exec.TaskFinished, 999, 999)},
			"10%", "25%", "low", "#517fb4", "#ffffff"},
		{"more than a second", []exec.SubtaskDetails{subtask(exec.TaskRunning, 1004, 0)}, "100%", "0%", "ok", "#ee6464", "#1f2430"},
	} {
		o := load(&exec.VertexDetails{Subtasks: c.subtasks})
		if o["busy"] != c.busy || o["backpressured"] != c.held || o["level"] != c.level || o["colour"] != c.colour || o["ink"] != c.ink {
			t.Errorf("%s: %v", c.name, o)
		}
	}
}
