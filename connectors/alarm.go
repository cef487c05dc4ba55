package connectors

import "time"

// Alarm wakes the engine when a reader that waits for the clock has something again. It belongs to the task's goroutine.
type Alarm struct {
	wake  func()
	timer *time.Timer
}

// NewAlarm makes one; wake is what the reader was given.
func NewAlarm(wake func()) *Alarm { return &Alarm{wake: wake} }

// After sets the alarm, instead of an earlier one.
func (a *Alarm) After(pause time.Duration) {
	a.Stop()
	a.timer = time.AfterFunc(pause, a.wake)
}

// Stop ends a reader's waiting. A wake that is under way may still come.
func (a *Alarm) Stop() {
	if a.timer != nil {
		a.timer.Stop()
	}
}
