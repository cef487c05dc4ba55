package web

import "testing"

// TestLevel: where the levels of backpressure begin.
func TestLevel(t *testing.T) {
	for _, c := range []struct {
		ratio float64
		want  string
	}{{0, "ok"}, {0.10, "ok"}, {0.11, "low"}, {0.5, "low"}, {0.51, "high"}, {1, "high"}} {
		if got := level(c.ratio); got != c.want {
			t.Errorf("%g is %s, want %s", c.ratio, got, c.want)
		}
	}
}

// TestSkew: the mean distance from the average, in percent of it.
func TestSkew(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{{[]float64{5, 5, 5}, 0}, {[]float64{0, 10}, 100}, {[]float64{5, 15}, 50}, {[]float64{0, 0}, 0}} {
		if got := aggregate("skew", c.values); got != c.want {
			t.Errorf("skew of %v is %g, want %g", c.values, got, c.want)
		}
	}
}
