package plan

import (
	"strings"
	"testing"
)

// Frames that do not hold the current row, in batch mode; a stream has none.
func TestFramesAside(t *testing.T) {
	s := newSession(t)
	s.must("CREATE TABLE f (k INT, v INT, d DECIMAL(30, 2), ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'path' = 'x', 'format' = 'json')")
	query := func(order, frame string) (string, error) {
		g, err := s.script("SELECT COUNT(*) OVER (PARTITION BY k ORDER BY " + order + " " + frame + ") FROM f")
		if err != nil {
			return "", err
		}
		text := withModes(g)
		_, text, _ = strings.Cut(text, "window=[")
		text, _, _ = strings.Cut(text, "]")
		return text, nil
	}
	if _, err := query("ts", "ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING"); err == nil || !strings.Contains(err.Error(), "OVER RANGE FOLLOWING windows are not supported yet.") {
		t.Errorf("in a stream: %v", err)
	}
	s.must("SET 'execution.runtime-mode' = 'batch'")
	for _, c := range [][3]string{
		{"ts", "ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING", " ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING"},
		{"ts", "ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING", " ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING"},
		{"v", "RANGE BETWEEN 3 PRECEDING AND 1 PRECEDING", " RANG BETWEEN 3 PRECEDING AND 1 PRECEDING"},
		{"ts", "RANGE BETWEEN INTERVAL '2' SECOND FOLLOWING AND INTERVAL '5' SECOND FOLLOWING", " RANG BETWEEN 2 s FOLLOWING AND 5 s FOLLOWING"},
		{"ts", "ROWS BETWEEN 0 FOLLOWING AND 0 PRECEDING", "Upper frame boundary cannot be PRECEDING when lower boundary is FOLLOWING"},
		{"ts", "ROWS BETWEEN 1 FOLLOWING AND CURRENT ROW", "Upper frame boundary cannot be CURRENT ROW when lower boundary is FOLLOWING"},
		{"ts", "ROWS BETWEEN CURRENT ROW AND 1 PRECEDING", "Upper frame boundary cannot be PRECEDING when lower boundary is CURRENT ROW"},
		{"ts", "ROWS BETWEEN 1 PRECEDING AND UNBOUNDED PRECEDING", "UNBOUNDED PRECEDING cannot be specified for the upper frame boundary"},
		{"v", "RANGE BETWEEN 1.5 PRECEDING AND CURRENT ROW", " RANG BETWEEN 1.5 PRECEDING AND CURRENT ROW"},
		{"d", "RANGE BETWEEN 0.250 PRECEDING AND 2.0 FOLLOWING", " RANG BETWEEN 0.25 PRECEDING AND 2 FOLLOWING"},
		{"d", "RANGE BETWEEN 0.0 PRECEDING AND 25E-1 FOLLOWING", " RANG BETWEEN CURRENT ROW AND 2.5 FOLLOWING"},
		{"d", "RANGE BETWEEN INTERVAL '1' DAY PRECEDING AND CURRENT ROW", "Data Type mismatch between ORDER BY and RANGE clause"},
		{"v", "ROWS BETWEEN v PRECEDING AND CURRENT ROW", "ROWS value must be a non-negative integral constant"},
		{"v", "ROWS BETWEEN 1.5 PRECEDING AND CURRENT ROW", "ROWS value must be a non-negative integral constant"},
	} {
		text, err := query(c[0], c[1])
		if err != nil {
			text = err.Error()
		}
		if !strings.Contains(text, c[2]) {
			t.Errorf("%s %s: %s, want %s", c[0], c[1], text, c[2])
		}
	}
}
