package exec

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestRestartStrategies(t *testing.T) {
	at := time.Unix(0, 0)
	second, minute := time.Second, time.Minute
	for _, c := range []struct {
		name          string
		cfg           Restart
		checkpointing bool
		gaps          []time.Duration // between the failures
		want          string
	}{
		{"default without checkpoints", Restart{}, false, []time.Duration{0}, "end"},
		{"default with checkpoints", Restart{Jitter: -1}, true, []time.Duration{0, 0, 0}, "1s 1.5s 2.25s"},
		{"none", Restart{Strategy: RestartNone}, true, []time.Duration{0}, "end"},
		{"fixed delay", Restart{Strategy: RestartFixedDelay, Attempts: 2, Delay: 3 * second}, true, []time.Duration{0, 0, 0}, "3s 3s end"},
		{"fixed delay defaults", Restart{Strategy: RestartFixedDelay}, true, []time.Duration{0, 0}, "1s end"},
		{"failure rate", Restart{Strategy: RestartFailureRate, MaxFailures: 2, Interval: minute}, true,
			[]time.Duration{0, 10 * second, 61 * second, second, second}, "1s 1s 1s 1s end"},
		{"exponential to its bound", Restart{Strategy: RestartExponentialDelay, Jitter: -1, Initial: second, Multiplier: 4, Max: 10 * second}, true,
			[]time.Duration{0, 0, 0, 0}, "1s 4s 10s 10s"},
		{"exponential forgets", Restart{Strategy: RestartExponentialDelay, Jitter: -1, Reset: time.Hour}, true,
			[]time.Duration{0, 0, 2 * time.Hour}, "1s 1.5s 1s"},
		{"exponential with an end", Restart{Strategy: RestartExponentialDelay, Jitter: -1, Attempts: 2}, true,
			[]time.Duration{0, 0, 0}, "1s 1.5s end"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRestarter(c.cfg, c.checkpointing)
			now := at
			var got []string
			for _, g := range c.gaps {
				now = now.Add(g)
				if d, again := r.next(now); again {
					got = append(got, fmt.Sprint(d))
				} else {
					got = append(got, "end")
				}
			}
			if s := strings.Join(got, " "); s != c.want {
				t.Errorf("got %s, want %s", s, c.want)
			}
		})
	}
}

func TestExponentialJitter(t *testing.T) {
	r := newRestarter(Restart{Strategy: RestartExponentialDelay, Initial: time.Second, Multiplier: 1}, true)
	for range 100 {
		if d, _ := r.next(time.Unix(0, 0)); d < 900*time.Millisecond || d > 1100*time.Millisecond {
			t.Fatalf("delay %s", d)
		}
	}
}
